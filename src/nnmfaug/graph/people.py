"""Random people over several generations: their parents and their couples."""

from __future__ import annotations

import numpy as np

Parents = tuple[int, ...]
"""The two parents of a person; empty for a founder or a newcomer."""
Couple = tuple[int, int]


def draw_people(n: int, rng: np.random.Generator) -> tuple[list[Parents], list[Couple]]:
    """Draw n people, generation by generation; return the parents of each person, and all couples."""
    n_couples = n // 10  # a fifth of the people are founders, so there are four or five generations
    parents: list[Parents] = [()] * (2 * n_couples)
    generation: list[Couple] = [(2 * i, 2 * i + 1) for i in range(n_couples)]
    couples = list(generation)
    while len(parents) < n:
        n_children = rng.integers(0, 6, size=len(generation))
        n_children[0] = max(n_children[0], 1)  # so that no generation is empty
        births = np.repeat(generation, n_children, axis=0)[: n - len(parents)]
        children = len(parents) + rng.permutation(len(births))
        parents += [(a, b) for a, b in births.tolist()]
        n_single = len(children) // 8
        generation = _marry(children[n_single:].tolist(), parents, n)
        couples += generation
    return parents, couples


def _marry(seeking: list[int], parents: list[Parents], n: int) -> list[Couple]:
    """Pair people who are not close relatives, the others with newcomers, until there are n people."""

    def ancestors(person: int) -> set[int]:
        grandparents = (old for parent in parents[person] for old in parents[parent])
        return {*parents[person], *grandparents}

    couples = []
    while seeking:
        person = seeking.pop()
        newcomer = len(parents)
        candidates = (other for other in seeking if ancestors(other).isdisjoint(ancestors(person)))
        partner = next(candidates, newcomer)
        if partner != newcomer:
            seeking.remove(partner)
        elif newcomer < n:
            parents.append(())
        else:
            continue
        couples.append((person, partner))
    return couples
