"""Why a distribution has no triple: the condition that leaves none, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.nnmf.law import ClusterLaw
from nnmfaug.core.arrays import Bools
from nnmfaug.graph.vocabulary import Vocabulary

NONE = "no triple of train, self-loops aside, has"
MAX_NAMES = 3
"""Up to this many names are listed one by one."""


def why_empty(law: ClusterLaw, names: Vocabulary) -> str:
    """Return the most basic reason for an empty support, as a sentence."""
    return f"no triple is possible: {_reason(law, names)}"


def _reason(law: ClusterLaw, names: Vocabulary) -> str:
    masks = {"relation": law.relations_allowed, "head": law.heads_allowed, "tail": law.tails_allowed}
    for kind, mask in masks.items():
        if not mask.any():
            return f"the conditions together leave no {kind}"
    heads = law.heads_allowed & (law.head_weights > 0)
    tails = law.tails_allowed & (law.tail_weights > 0)
    if not law.smooth:
        head_counts = law.counts.heads[:, np.flatnonzero(law.relations_allowed)]
        tail_counts = law.counts.tails[:, np.flatnonzero(law.relations_allowed)]
        unseen = _never_in_train(law, names, head_counts, tail_counts)
        if unseen:
            return f"{unseen}; smoothing above 0 makes any relation possible"
        heads = heads & (head_counts.sum(axis=1) > 0)
        tails = tails & (tail_counts.sum(axis=1) > 0)
    return _no_cluster(law, names, heads, tails)


def _never_in_train(law: ClusterLaw, names: Vocabulary, heads: csr_array, tails: csr_array) -> str | None:
    """Return which of relation, head, tail, or head with tail never occurs in train; None if all occur."""
    relation = _named("relation", law.relations_allowed, names.relations)
    if not heads.nnz:
        return f"{NONE} {relation}"
    used = []
    for kind, matrix, mask in (("head", heads, law.heads_allowed), ("tail", tails, law.tails_allowed)):
        used.append(np.asarray(matrix[mask].sum(axis=0)).ravel() > 0)
        if not used[-1].any():
            entity = _named(kind, mask, names.entities)
            return f"{NONE} {entity}" + ("" if law.relations_allowed.all() else f" and {relation}")
    if not (used[0] & used[1]).any():
        masks = (("head", law.heads_allowed), ("tail", law.tails_allowed))
        return "no relation occurs in train with " + " and with ".join(_named(*m, names.entities) for m in masks)
    return None


def _no_cluster(law: ClusterLaw, names: Vocabulary, heads: Bools, tails: Bools) -> str:
    for kind, mask in (("head", heads), ("tail", tails)):
        if not (law.labels[mask] >= 0).any():
            return f"{_named(kind, mask, names.entities)} is in no cluster"
    if heads.sum() == 1 and np.array_equal(heads, tails):
        return f"only {names.entities[int(heads.argmax())]!r} could be head and tail, and they must differ"
    head, tail = _named("head", heads, names.entities), _named("tail", tails, names.entities)
    same = "" if law.smooth or law.relations_allowed.sum() == 1 else " of the same relation"
    return f"no cluster holds both {head} and {tail}{same}; fewer clusters may"


def _named(kind: str, mask: Bools, names: Sequence[str]) -> str:
    """Spell out the names that a condition allows: ``head 'a' or 'b'``, ``one of 12 heads``, ``a head``.

    Examples
    --------
    >>> _named("head", np.array([True, False, True]), ("a", "b", "c"))
    "head 'a' or 'c'"
    """
    chosen = np.flatnonzero(mask)
    if mask.all():
        return f"a {kind}"
    if len(chosen) > MAX_NAMES:
        return f"one of {len(chosen):,} {kind}s"
    return f"{kind} " + " or ".join(repr(names[i]) for i in chosen.tolist())
