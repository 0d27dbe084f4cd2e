"""From recovered triples to estimated probabilities: the formula against a simulation, the model against truth."""

from __future__ import annotations

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.augmenters.listed import Listed
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.calibration import calibrate, estimated_probability
from nnmfaug.quality.holdout import refit
from nnmfaug.quality.recovery import Conclusions
from tests.quality.graphs import alike, recovery_of


class TestFormula:
    @pytest.mark.parametrize("s", [0.1, 1.0])
    @pytest.mark.parametrize(("q", "rho"), [(0.8, 0.9), (0.5, 0.3), (0.95, 1.0)])
    def test_odds_of_being_recovered_give_the_probability(self, q: float, rho: float, s: float) -> None:
        """Conclusions are true with chance rho, known with chance q, left out with chance s."""
        rng, n = np.random.default_rng(0), 400_000
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

        calibration = calibrate(refit(fit, fit(graph), seed=0), graph.n_relations, 0.5)
        even, odd = calibration.membership.log_odds(alike([0, 1], np.full(2, 0.5)))
        assert even > odd + 2

    @pytest.mark.parametrize(("n", "believed"), [(5, False), (200, True)])
    def test_if_all_is_recovered_it_is_believed_if_it_is_much(self, n: int, believed: bool) -> None:
        conclusions = alike(np.zeros(n), np.full(n, 0.9))
        calibration = calibrate(recovery_of(conclusions, np.ones(n, np.bool_)), 1, 0.8)
        probability = calibration(alike([0], np.array([0.9])))
        assert (probability > 0.99).all() if believed else (probability < 1e-6).all()

    def test_an_empty_list_gives_no_probabilities(self) -> None:
        graph = na.read_splits("nations").train
        nothing = Listed(graph, np.zeros((0, 3), dtype=np.int32), np.zeros(0))
        calibration = calibrate(refit(lambda _: nothing, nothing), graph.n_relations, 0.9)
        assert not len(calibration(Conclusions.of(graph, nothing.triples, nothing.confidence)))
