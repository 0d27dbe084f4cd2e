"""What holds for everything that changes the training set otherwise than by new triples of known names."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.linkpred.ranking import all_scores

FAMILY: dict[str, Any] = {
    "Inverse": na.Inverse(),
    "Concepts": na.Concepts(cluster=na.Agglomerative(3)),
    "Concepts, shared": na.Concepts(cluster=na.Agglomerative(3), shared=True),
}
each = pytest.mark.parametrize("transform", FAMILY.values(), ids=FAMILY)
SMALL = na.LinkPredictor(model="transe", dim=8, epochs=2, batch_size=256)


def test_every_transform_is_in_this_suite() -> None:
    public = {name: getattr(na, name) for name in na.__all__}
    transforms = {name for name, value in public.items() if inspect.isclass(value) and hasattr(value, "apply")}
    assert transforms == {name.partition(",")[0] for name in FAMILY}


@each
def test_train_is_kept_and_what_is_added_has_new_relations(splits: na.Splits, transform: Any) -> None:
    wider = transform.apply(splits.train, seed=0)
    before, after = set(splits.train.labels()), set(wider.labels())
    assert before < after
    assert not {r for _, r, _ in after - before} & set(splits.train.vocabulary.relations)
    assert wider == transform.apply(splits.train, seed=0)


@each
def test_names_that_are_taken_get_a_mark(transform: Any) -> None:
    rows = [("concept 0", "is in", "a"), ("a", "is in⁻¹", "b"), ("b", "is in concept 0", "concept 0")]
    graph = KnowledgeGraph.from_labels(rows)
    few = {"cluster": na.Agglomerative(1), "embed": na.NMF(2)}
    one = replace(transform, **few) if hasattr(transform, "cluster") else transform
    wider = one.apply(graph)
    assert set(graph.labels()) < set(wider.labels())
    assert any("′" in name for name in (*wider.vocabulary.entities, *wider.vocabulary.relations))


@each
def test_what_is_added_is_neither_ranked_nor_answered_nor_in_the_filter(
    splits: na.Splits, transform: Any, tmp_path: Path
) -> None:
    options = na.TrainOptions(threads=1)
    (run,) = na.run_experiment(splits, SMALL, {"other": transform}, seeds=[0], folder=tmp_path, options=options)
    trained = na.load_trained(tmp_path / "models" / "other-seed0")
    assert set(trained.known.labels()) == set(splits.together().labels())
    entities = splits.vocabulary.entities
    answers = trained.predict(head="china", relation="embassy", n=100)
    assert {answer.entity for answer in answers} == set(entities)
    assert run.n_extra == len(transform.apply(splits.train)) - len(splits.train) > 0
    wider = trained.known.vocabulary
    h, r, t = splits.test.labels()[0]
    scores = all_scores(trained.model, wider.entity_ids[h], wider.relation_ids[r], heads=False)
    mine = scores[[wider.entity_ids[name] for name in entities]]
    better, equal = (mine > scores[wider.entity_ids[t]]).sum(), (mine == scores[wider.entity_ids[t]]).sum()
    assert run.ranks.raw[0, 1] == pytest.approx(better + (1 + equal) / 2)
    assert run.ranks.raw.max() <= len(entities)


def test_inverses_turn_every_triple_around(splits: na.Splits) -> None:
    wider = na.Inverse().apply(splits.train)
    new = set(wider.labels()) - set(splits.train.labels())
    assert new == {(t, f"{r}⁻¹", h) for h, r, t in splits.train.labels()}


def test_members_point_to_the_concept_of_their_cluster(splits: na.Splits) -> None:
    clusterer = na.Agglomerative(3)
    labels = na.NNMFAug(cluster=clusterer).fit(splits.train).partition.labels
    for shared in (False, True):
        wider = na.Concepts(cluster=clusterer, shared=shared).apply(splits.train)
        added = set(wider.labels()) - set(splits.train.labels())
        expected = {
            (name, "is in" if shared else f"is in concept {label}", f"concept {label}")
            for name, label in zip(splits.vocabulary.entities, labels.tolist(), strict=True)
            if label >= 0
        }
        assert added == expected
    assert len(np.unique(labels[labels >= 0])) == 3
