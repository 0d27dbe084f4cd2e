"""Graphs from and to PyKEEN."""

from __future__ import annotations

import nnmfaug as na
from tests.io.toys import ROWS, graph


def test_a_pykeen_factory_gives_back_the_graph(nasty_splits: na.Splits) -> None:
    factory = na.to_pykeen(nasty_splits.test)
    assert factory.mapped_triples.tolist() == nasty_splits.test.triples.tolist()
    assert factory.num_entities == nasty_splits.train.n_entities
    assert factory.num_relations == nasty_splits.train.n_relations
    assert na.from_pykeen(factory) == nasty_splits.test


def test_a_factory_with_its_own_ids_gives_the_named_triples() -> None:
    import torch
    from pykeen.triples import TriplesFactory

    factory = TriplesFactory(
        mapped_triples=torch.tensor([[0, 1, 2], [2, 0, 0], [0, 1, 2]]),
        entity_to_id={"z": 0, "m": 1, "a": 2},
        relation_to_id={"s": 0, "r": 1},
    )
    found = na.from_pykeen(factory)
    assert found.labels() == [("a", "s", "z"), ("z", "r", "a")]
    assert found.vocabulary == na.Vocabulary(("a", "m", "z"), ("r", "s"))


def test_a_factory_without_labels_gives_ids_as_names() -> None:
    import torch
    from pykeen.triples import CoreTriplesFactory

    factory = CoreTriplesFactory(torch.tensor([[0, 0, 11], [11, 1, 2]]), num_entities=12, num_relations=2)
    found = na.from_pykeen(factory)
    assert found.labels() == [("0", "0", "11"), ("11", "1", "2")]
    assert (found.n_entities, found.n_relations) == (12, 2)


def test_inverse_triples_of_a_factory_are_no_triples_of_the_graph() -> None:
    import numpy as np
    import torch
    from pykeen.triples import CoreTriplesFactory, TriplesFactory

    labelled = TriplesFactory.from_labeled_triples(np.array(ROWS, dtype=str), create_inverse_triples=True)
    assert na.from_pykeen(labelled) == graph(*ROWS)
    plain = CoreTriplesFactory(torch.tensor([[0, 0, 1]]), 2, 2, create_inverse_triples=True)
    assert na.from_pykeen(plain).labels() == [("0", "0", "1")]


def test_a_restricted_factory_gives_the_triples_that_are_left() -> None:
    import numpy as np
    from pykeen.triples import TriplesFactory

    factory = TriplesFactory.from_labeled_triples(np.array(ROWS, dtype=str)).new_with_restriction(
        entities=["a", "b"]
    )
    assert na.from_pykeen(factory).labels() == [("a", "knows", "a"), ("a", "likes", "b")]
