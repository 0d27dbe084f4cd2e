"""Rules that conclude the same."""

from __future__ import annotations

import hashlib

import numpy as np

from nnmfaug.augmenters.rules.joins import pairs_of
from nnmfaug.augmenters.rules.path_rules import PathRules
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.core.arrays import Places
from nnmfaug.core.progress import report

Path = tuple[int, ...]


def equal_rules(rules: PathRules) -> Places:
    """Return for each rule the number of the first rule that concludes the same triples, often its own.

    The first is the one with the shortest body, of equally short ones that with the lowest number. Only rules of
    the same relation, support and size can be equal, so only their pairs are compared.

    Examples
    --------
    >>> import nnmfaug as na
    >>> rows = [(x, r, y) for x, y in ("ab", "ba", "cd", "dc") for r in ("likes", "knows")]
    >>> method = na.Rules(depth=1, min_support=1, constants=False)
    >>> rules = method.mine(na.KnowledgeGraph.from_labels(rows)).paths
    >>> equal_rules(rules).tolist(), len(rules)
    ([0, 0, 0, 3, 3, 3], 6)
    """
    table = rules.table
    counts = np.stack([table.heads, table.support, table.sizes], axis=1)
    _, group, n_alike = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    lengths = np.count_nonzero(table.bodies >= 0, axis=1)
    order = np.lexsort((np.arange(len(table)), lengths))
    candidates = order[n_alike[group[order]] > 1].tolist()
    first = np.arange(len(table))
    digests: dict[Path, bytes] = {}
    seen: dict[tuple[int, bytes], int] = {}
    for done, rule in enumerate(candidates, 1):
        report("comparing rules", done, len(candidates))
        path = rules.path(rule)
        if path not in digests:
            digests[path] = _digest(rules.steps, path)
        first[rule] = seen.setdefault((int(group[rule]), digests[path]), rule)
    return first


def _digest(steps: Steps, path: Path) -> bytes:
    """Return a checksum of the pairs that a path joins."""
    x, y = pairs_of(steps, path)
    return hashlib.sha256(np.sort(x * steps.n + y).tobytes()).digest()
