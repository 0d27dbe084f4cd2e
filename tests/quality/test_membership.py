"""The probability that a conclusion is in the graph: what the model learns from refits."""

from __future__ import annotations

import numpy as np

from nnmfaug.quality.calibration import calibrate
from nnmfaug.quality.completeness import Completeness
from nnmfaug.quality.holdout import Refits
from nnmfaug.quality.membership import fit_membership
from tests.quality.graphs import Uneven, alike


def test_each_relation_has_its_own_slope() -> None:
    rng = np.random.default_rng(0)
    relation, confident = rng.integers(2, size=4000), rng.random(4000) < 0.5
    chance = np.where(relation == 1, 0.4, np.where(confident, 0.8, 0.01))  # relation 1: whatever the confidence
    conclusions = alike(relation, np.where(confident, 0.8, 0.3))
    refits = Refits(conclusions, rng.random(4000) < chance, np.arange(4000) % 5, 0.1)
    ends = alike([0, 0, 1, 1], np.array([0.3, 0.8] * 2))
    log_odds = fit_membership(refits, 2, use_coverage=False).log_odds(ends)
    expected = np.log([0.01 / 0.99, 0.8 / 0.2, 0.4 / 0.6, 0.4 / 0.6]) - np.log(0.1)
    assert np.abs(log_odds - expected).max() < 0.6


def test_coverage_separates_the_well_known_from_the_others(uneven: Uneven) -> None:
    membership = calibrate(uneven.refits, 2, Completeness(0.5)).membership
    coverage = membership.coverage(uneven.conclusions)
    assert coverage[uneven.well_known].min() > coverage[~uneven.well_known].max()
