"""Negatives that are drawn again while they are training triples, as pykg2vec draws them."""

from __future__ import annotations

from typing import Any

import torch
from pykeen.sampling import NegativeSampler
from torch import Tensor

_DRAWS = 100
"""After so many draws, most entities are known answers: the others are listed instead."""


class RedrawnNegativeSampler(NegativeSampler):
    """Negatives of (h, r, t) that are not among the training triples.

    With chance ½ each, h or t is replaced by an entity that is uniform among those that do not make a training
    triple. PyKEEN's own sampler replaces h in the first half of a batch and t in the second, and its negatives may
    be training triples.

    If every entity makes a training triple, the other side is replaced; pykg2vec would never end.

    Examples
    --------
    >>> sampler = RedrawnNegativeSampler(mapped_triples=torch.tensor([[0, 0, 1], [0, 0, 2], [1, 0, 1], [2, 0, 1]]))
    >>> negatives = sampler.corrupt_batch(torch.tensor([[0, 0, 1]] * 9))
    >>> {tuple(triple) for triple in negatives.flatten(0, 1).tolist()}  # (0, 0, 1) has no other head
    {(0, 0, 0)}
    """

    def __init__(self, *, mapped_triples: Tensor, **kwargs: Any) -> None:  # noqa: ANN401  # PyKEEN's own
        super().__init__(mapped_triples=mapped_triples, **kwargs)
        self.known_keys: Tensor = torch.unique(self._keys(mapped_triples))  # sorted

    def corrupt_batch(self, positive_batch: Tensor) -> Tensor:
        """Return negatives of shape (b, n, 3) for positives of shape (b, 3)."""
        negatives = positive_batch.repeat_interleave(self.num_negs_per_pos, dim=0)
        columns = 2 * torch.randint(2, (len(negatives),))
        known = torch.arange(len(negatives))
        for _ in range(_DRAWS):
            negatives[known, columns[known]] = torch.randint(self.num_entities, (len(known),))
            known = known[self._is_known(negatives[known])]
            if not len(known):
                break
        for row in known.tolist():
            positive = positive_batch[row // self.num_negs_per_pos]
            negatives[row] = self._choose(positive, int(columns[row]))
        return negatives.view(*positive_batch.shape[:-1], self.num_negs_per_pos, 3)

    def _choose(self, positive: Tensor, column: int) -> Tensor:
        """Draw one of all negatives that replace this column, or the other one if there are none."""
        for each in (column, 2 - column):
            triples = positive.repeat(self.num_entities, 1)
            triples[:, each] = torch.arange(self.num_entities)
            negatives = triples[~self._is_known(triples)]
            if len(negatives):
                return negatives[torch.randint(len(negatives), ())]
        msg = f"redraw=True: the triple of ids {positive.tolist()} has no negative, every head and tail is known"
        raise ValueError(msg)

    def _is_known(self, triples: Tensor) -> Tensor:
        keys = self._keys(triples)
        places = torch.searchsorted(self.known_keys, keys).clamp_(max=len(self.known_keys) - 1)
        is_known: Tensor = self.known_keys[places] == keys
        return is_known

    def _keys(self, triples: Tensor) -> Tensor:
        h, r, t = triples.T
        keys: Tensor = (h * self.num_relations + r) * self.num_entities + t
        return keys
