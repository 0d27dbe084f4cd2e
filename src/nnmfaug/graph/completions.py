"""The known completions of pairs of an entity and a relation."""

from __future__ import annotations

import numpy as np

from nnmfaug.core.arrays import Ids, Places


class Completions:
    """All x such that the triple of (entity, relation) and x is known.

    Parameters
    ----------
    pairs : ndarray of shape (n, 2)
        Entity and relation of each known triple.
    entities : ndarray of shape (n,)
        The entity on its other side.

    Examples
    --------
    >>> completions = Completions(np.array([[0, 0], [1, 0], [0, 0]]), np.array([5, 6, 7]), n_relations=1)
    >>> rows, entities = completions(np.array([[1, 0], [0, 0]]))
    >>> rows.tolist(), entities.tolist()
    ([0, 1, 1], [6, 5, 7])
    """

    def __init__(self, pairs: Ids, entities: Ids, n_relations: int) -> None:
        self.n_relations = n_relations
        keys = self._keys(pairs)
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]
        self.entities = entities[self.order]

    def _keys(self, pairs: Ids) -> Ids:
        return pairs[:, 0] * self.n_relations + pairs[:, 1]

    def __call__(self, pairs: Ids) -> tuple[Ids, Ids]:
        """Return (row, entity), two arrays of equal length: ``entity`` completes the pair in ``row``."""
        rows, places = self._find(pairs)
        return rows, self.entities[places]

    def triples_of(self, pairs: Ids) -> tuple[Ids, Places]:
        """Return (row, place): the triple at ``place`` of those given has the pair in ``row``."""
        rows, places = self._find(pairs)
        return rows, self.order[places]

    def _find(self, pairs: Ids) -> tuple[Ids, Ids]:
        keys = self._keys(pairs)
        starts = np.searchsorted(self.keys, keys, "left")
        counts = np.searchsorted(self.keys, keys, "right") - starts
        rows = np.repeat(np.arange(len(pairs)), counts)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, np.repeat(starts, counts) + offsets
