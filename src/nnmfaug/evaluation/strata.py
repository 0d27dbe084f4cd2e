"""Groups of test triples by what train contains about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from nnmfaug.core.arrays import Bools, Ids, Places
from nnmfaug.core.checks import check_argument, require
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits

By = Literal["relation", "degree", "seen"]
BANDS = ((0, "0"), (1, "1–2"), (3, "3–5"), (6, "6–10"), (11, "11–20"), (21, ">20"))
"""Lowest degree and name of each band."""
SEEN = (
    "head and tail seen with the relation",
    "only the head seen with the relation",
    "only the tail seen with the relation",
    "neither seen with the relation",
)
DERIVABLE = ("derivable by rules", "not derivable by rules")


@dataclass(frozen=True, eq=False)
class Strata:
    """Test triples in groups, each triple in one.

    Parameters
    ----------
    names
        Names of the groups.
    labels : ndarray of shape (n_triples,)
        The group of each test triple, as a position in ``names``.

    Examples
    --------
    >>> list(Strata(("easy", "hard"), np.array([1, 0, 1])).groups())
    [('easy', array([1])), ('hard', array([0, 2]))]
    """

    names: tuple[str, ...]
    labels: Ids

    def __post_init__(self) -> None:
        in_range = all(0 <= label < len(self.names) for label in np.unique(self.labels).tolist())
        require(in_range, f"labels: must be from 0 to below {len(self.names)}, the number of names")

    def __len__(self) -> int:
        return len(self.labels)

    def groups(self) -> Iterator[tuple[str, Places]]:
        """Yield the name of each group that is not empty, and the positions of its test triples."""
        for label in np.unique(self.labels).tolist():
            yield self.names[label], np.flatnonzero(self.labels == label)


def stratify(splits: Splits, by: By) -> Strata:
    """Return the groups of a kind: relations, bands of degrees, or what train contains with the relation.

    The degree is the number of train triples about the rarer of the two entities. A head was seen with its
    relation if train contains (h, r, ·) for some tail; a tail if train contains (·, r, t) for some head.

    Examples
    --------
    >>> train = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "knows", "c")])
    >>> test = KnowledgeGraph.from_labels([("a", "likes", "c"), ("c", "knows", "a")])
    >>> for name, places in stratify(Splits.merge("toy", train=train, test=test), "seen").groups():
    ...     print(name, places)
    only the head seen with the relation [0]
    neither seen with the relation [1]
    """
    check_argument("by", by, by in get_args(By), "'relation', 'degree', 'seen', or strata")
    if by == "relation":
        return Strata(splits.vocabulary.relations, splits.test.triples[:, 1].astype(np.int64))
    if by == "degree":
        lowest, names = zip(*BANDS, strict=True)
        return Strata(names, np.searchsorted(lowest, _rarer_degree(splits), side="right") - 1)
    return Strata(SEEN, 2 * ~_seen(splits, 0) + ~_seen(splits, 2))


def derivable_strata(derivable: Bools) -> Strata:
    """Return two groups: the test triples that rules mined from train conclude, and the others.

    Parameters
    ----------
    derivable : ndarray of shape (n_triples,)
        Whether some rule concludes each test triple.

    Examples
    --------
    >>> list(derivable_strata(np.array([True, False, True])).groups())
    [('derivable by rules', array([0, 2])), ('not derivable by rules', array([1]))]
    """
    return Strata(DERIVABLE, np.where(derivable, 0, 1))


def _rarer_degree(splits: Splits) -> Ids:
    """Number of train triples about the rarer entity of each test triple; a self-loop counts once."""
    heads, _, tails = splits.train.triples.T
    ends = np.concatenate([heads, tails[heads != tails]])
    degrees = np.bincount(ends, minlength=splits.train.n_entities)
    test_ends = splits.test.triples[:, [0, 2]]
    return np.asarray(degrees[test_ends].min(axis=1))


def _seen(splits: Splits, column: Literal[0, 2]) -> Bools:
    """Whether train contains the relation of each test triple with the same head (column 0), or tail (2)."""
    known = _pair_keys(splits.train, column)
    return np.isin(_pair_keys(splits.test, column), known)


def _pair_keys(graph: KnowledgeGraph, column: Literal[0, 2]) -> Ids:
    """A number for the relation and the head (column 0), or the tail (2), of each triple."""
    triples = graph.triples.astype(np.int64)
    keys: Ids = triples[:, column] * graph.n_relations + triples[:, 1]
    return keys
