"""The prior of rules as one file: the train graph, the rules with their counts, and the model of membership."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nnmfaug.augmenters.rules.rule_set import RuleSet
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.checks import require
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.npz import Arrays, read_arrays, write_arrays
from nnmfaug.quality.membership import Curve, Membership, Steps
from nnmfaug.quality.prior import RulePrior
from nnmfaug.quality.recovery import N_KINDS

COUNTS = ("heads", "support", "sizes", "pca_sizes")
_TYPES = {"train": "<i4", "bodies": "<i8", **dict.fromkeys(COUNTS, "<i8")}
_NUMBERS = ("threshold", "steps", "curve", "slopes", "offsets")
"""The other arrays, of real numbers."""
MAX_DEPTH = 3


def write_prior(prior: RulePrior, draft: Path) -> None:
    """Write a prior, but without the names of entities and relations."""
    table = prior.rules.table
    threshold = prior.rules.threshold
    membership = prior.membership
    curve = membership.curve
    numbers = (threshold.min_support, threshold.min_confidence, threshold.prior, threshold.pca)
    arrays: Arrays = {
        "train": prior.graph.triples,
        "bodies": table.bodies,
        **{name: getattr(table, name) for name in COUNTS},
        "threshold": np.array(numbers, dtype=np.float64),
        "steps": np.stack([curve.steps.confidence, curve.steps.log_odds]),
        "curve": np.array([curve.constant, curve.slope, curve.smoothness]),
        "slopes": membership.slopes,
        "offsets": membership.offsets,
    }
    write_arrays(draft, arrays)


def read_prior(path: Path, vocabulary: Vocabulary) -> RulePrior:
    """Read what :func:`write_prior` wrote; a damaged file raises one of the errors in ``BROKEN``."""
    arrays = read_arrays(path, _TYPES)
    expected = {*_TYPES, *_NUMBERS}
    require(set(arrays) == expected, f"it must contain {', '.join(sorted(expected))}")
    graph = KnowledgeGraph(vocabulary, arrays["train"])
    rules = RuleSet(graph, _table(arrays, graph.n_relations), _threshold(arrays))
    return RulePrior(rules, _membership(arrays, graph.n_relations))


def _table(arrays: Arrays, n_relations: int) -> RuleTable:
    n_rules = len(arrays["heads"])
    bodies = arrays["bodies"]
    good_shape = bodies.ndim == 2 and len(bodies) == n_rules and 1 <= bodies.shape[1] <= MAX_DEPTH
    require(good_shape, f"bodies: must have {n_rules} rows of 1 to {MAX_DEPTH} steps")
    good_steps = (bodies >= -1) & (bodies < 2 * n_relations)
    starts = bodies[:, 0] >= 0
    goes_on = bodies[:, 1:] < 0
    ends = ~(goes_on[:, :-1] & ~goes_on[:, 1:])
    require(bool(good_steps.all() and starts.all() and ends.all()), "bodies: must be steps, then −1")
    for name in COUNTS:
        require(arrays[name].shape == (n_rules,), f"{name}: must have a number for each rule")
    heads, support, sizes, pca_sizes = (arrays[name] for name in COUNTS)
    require(bool(((heads >= 0) & (heads < n_relations)).all()), "heads: must be relations")
    in_order = (support >= 0) & (support <= pca_sizes) & (pca_sizes <= sizes)
    require(bool(in_order.all()), "support, pca_sizes and sizes: must be from 0 and ascending")
    return RuleTable(heads, bodies, support, sizes, pca_sizes)


def _threshold(arrays: Arrays) -> Threshold:
    numbers = arrays["threshold"]
    require(numbers.shape == (4,), "threshold: must be four numbers")
    min_support, min_confidence, prior, pca = numbers.tolist()
    is_good = min_support >= 1 and 0 < min_confidence <= 1 and 0 <= prior < np.inf and pca in (0, 1)
    require(is_good, "threshold: must be a support, a confidence, a prior, and 0 or 1")
    return Threshold(int(min_support), min_confidence, prior, pca=bool(pca))


def _membership(arrays: Arrays, n_relations: int) -> Membership:
    steps = arrays["steps"]
    good_shape = steps.ndim == 2 and len(steps) == 2 and steps.shape[1] > 0
    require(good_shape and bool(np.isfinite(steps).all()), "steps: must be two rows of numbers")
    is_rising = (np.diff(steps) >= 0).all() and (steps[0] >= 0).all()
    require(bool(is_rising), "steps: must be rising")
    curve = arrays["curve"]
    good_curve = curve.shape == (3,) and bool(np.isfinite(curve).all()) and curve[1] >= 0 and 0 <= curve[2] <= 1
    require(good_curve, "curve: must be a number, a slope from 0, and a smoothness from 0 to 1")
    for name in ("slopes", "offsets"):
        is_good = arrays[name].shape == (n_relations, N_KINDS) and bool(np.isfinite(arrays[name]).all())
        require(is_good, f"{name}: must be {n_relations} × {N_KINDS} numbers")
    require(bool((arrays["slopes"] >= 0).all()), "slopes: must be from 0")
    return Membership(Curve(Steps(*steps), *curve.tolist()), arrays["slopes"], arrays["offsets"])
