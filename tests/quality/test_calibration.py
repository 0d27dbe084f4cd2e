"""From recovered triples to estimated probabilities: the formula against a simulation, the model against truth."""

from __future__ import annotations

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.augmenters.listed import Listed
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.calibration import calibrate, estimated_probability
from nnmfaug.quality.completeness import Completeness, highest_confidence_completeness
from nnmfaug.quality.holdout import Refits, refit
from tests.quality.graphs import Uneven, alike


class TestFormula:
    @pytest.mark.parametrize(("q", "rho"), [(0.8, 0.9), (0.5, 0.3), (0.95, 1.0)])
    def test_odds_of_being_recovered_give_the_probability(self, q: float, rho: float) -> None:
        """Conclusions are true with chance rho, known with chance q, left out with chance s."""
        rng, n, s = np.random.default_rng(0), 400_000, 0.1
        true = rng.random(n) < rho
        known = true & (rng.random(n) < q)
        left_out = known & (rng.random(n) < s)
        listed = ~known | left_out
        rate = left_out[listed].mean()
        odds = rate / (1 - rate) / s
        expected = true[~known].mean()
        assert estimated_probability(np.array([np.log(odds)]), q)[0] == pytest.approx(expected, abs=0.03)

    def test_probabilities_end_at_one(self) -> None:
        assert estimated_probability(np.array([-np.inf, 0.0, 10.0]), 0.5).tolist() == [0.0, 1.0, 1.0]


class TestCalibrate:
    def test_a_correction_is_learnt_where_relations_differ(self) -> None:
        rng = np.random.default_rng(0)
        rows = [(f"a{i}", f"r{i % 2}", f"b{i}") for i in range(2000)]
        graph = KnowledgeGraph.from_labels(rows)

        def fit(part: KnowledgeGraph) -> Listed:
            """List all missing triples of the even relation, and those of the odd one with wrong tails."""
            missing = graph.triples[~part.contains(graph.triples)]
            odd = missing[:, 1] == 1
            missing[odd, 2] = rng.permutation(missing[odd, 2])
            listed = missing[(missing[:, 1] == 0) | ~graph.contains(missing)]
            return Listed(part, listed.astype(np.int32), np.full(len(listed), 0.5))

        calibration = calibrate(refit(fit, fit(graph), seed=0), graph.n_relations, Completeness(0.5))
        even, odd = calibration.membership.log_odds(alike([0, 1], np.full(2, 0.5)))
        assert even > odd + 2

    @pytest.mark.parametrize(("n", "believed"), [(5, False), (200, True)])
    def test_if_all_is_recovered_it_is_believed_if_it_is_much(self, n: int, believed: bool) -> None:
        conclusions = alike(np.zeros(n, np.int64), np.full(n, 0.9))
        refits = Refits(conclusions, np.ones(n, np.bool_), np.arange(n) % 5, 0.1)
        membership = calibrate(refits, 1, Completeness(0.8)).membership
        probability = estimated_probability(membership.log_odds(alike([0], np.array([0.9]))), 0.8)
        assert (probability > 0.99).all() if believed else (probability < 1e-6).all()

    def test_an_empty_list_gives_no_probabilities(self) -> None:
        graph = na.read_splits("nations").train
        nothing = Listed(graph, np.zeros((0, 3), dtype=np.int32), np.zeros(0))
        calibration = calibrate(refit(lambda _: nothing, nothing), graph.n_relations, Completeness(0.9))
        assert not len(calibration(graph, nothing.triples, nothing.confidence))


class TestUnevenCoverage:
    def test_facts_missing_by_person_are_not_taken_for_false(self, uneven: Uneven) -> None:
        completeness = highest_confidence_completeness(uneven.refits, 2)
        calibration = calibrate(uneven.refits, 2, completeness)
        conclusions = uneven.conclusions
        probability = calibration(uneven.graph, conclusions.triples, conclusions.confidence)
        well_known, certain = uneven.well_known, uneven.certain
        for group in (well_known & certain, ~well_known & certain, ~certain):
            assert probability[group].mean() == pytest.approx(uneven.true[group].mean(), abs=0.1)

    def test_triples_beyond_the_size_of_a_refit_change_nothing(
        self, uneven: Uneven, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calibration = calibrate(uneven.refits, 2, highest_confidence_completeness(uneven.refits, 2))
        first = uneven.conclusions.triples[uneven.certain]
        beyond = uneven.conclusions.triples[~uneven.certain]
        alone = calibration(uneven.graph, first, np.full(len(first), 0.9))
        monkeypatch.setattr("nnmfaug.quality.membership.MAX_CONCLUSIONS", len(first))
        confidence = np.repeat([0.9, 0.1], [len(first), len(beyond)])
        together = calibration(uneven.graph, np.concatenate([first, beyond]), confidence)
        assert np.array_equal(together[: len(first)], alone)
        assert together[len(first) :].max() < 1e-6
