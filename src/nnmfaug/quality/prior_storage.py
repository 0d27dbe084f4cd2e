"""The prior of rules as one file: the train graph, the rules with their counts, and the model of membership."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from nnmfaug.augmenters.rules.attributes import NONE, Attributes
from nnmfaug.augmenters.rules.constant_table import MAX_ATOMS, ConstantTable
from nnmfaug.augmenters.rules.rule_set import N_RULE_KINDS, RuleSet
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.checks import require
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.npz import Arrays, read_arrays, write_arrays
from nnmfaug.quality.curves import Curve, Score, Steps as CurveSteps
from nnmfaug.quality.membership import Membership
from nnmfaug.quality.prior import RulePrior
from nnmfaug.quality.recovery import N_KINDS

COUNTS = ("heads", "support", "sizes", "pca_sizes")
CONSTANTS = ("constant_heads", "constant_support", "constant_sizes")
_TYPES = {
    "train": "<i4",
    "bodies": "<i8",
    **dict.fromkeys(COUNTS, "<i8"),
    "constant_bodies": "<i8",
    **dict.fromkeys(CONSTANTS, "<i8"),
}
_NUMBERS = ("threshold", "steps", "curve", "slopes", "offsets")
"""The other arrays, of real numbers."""
_NEW = ("constant_bodies", *CONSTANTS, "n_steps", "weights", "constants")
"""Arrays that files of version 0.1 do not have: rules with constants, and the score of several kinds of rules."""
MAX_DEPTH = 4


def write_prior(prior: RulePrior, draft: Path) -> None:
    """Write a prior, but without the names of entities and relations."""
    table = prior.rules.paths.table
    constants = prior.rules.constants.table
    threshold = prior.rules.threshold
    membership = prior.membership
    curves = membership.score.curves
    numbers = (threshold.min_support, threshold.min_confidence, threshold.prior, threshold.pca)
    arrays: Arrays = {
        "train": prior.graph.triples,
        "bodies": table.bodies,
        **{name: getattr(table, name) for name in COUNTS},
        "constant_bodies": constants.bodies,
        **{name: getattr(constants, name.removeprefix("constant_")) for name in CONSTANTS},
        "threshold": np.array(numbers, dtype=np.float64),
        "steps": np.concatenate([[curve.steps.confidence, curve.steps.log_odds] for curve in curves], axis=1),
        "n_steps": np.array([len(curve.steps.confidence) for curve in curves], dtype=np.float64),
        "curve": np.array([[curve.constant, curve.slope, curve.smoothness] for curve in curves]),
        "weights": membership.score.weights,
        "constants": membership.score.constants,
        "slopes": membership.slopes,
        "offsets": membership.offsets,
    }
    write_arrays(draft, arrays)


def read_prior(path: Path, vocabulary: Vocabulary) -> RulePrior:
    """Read what :func:`write_prior` wrote; a damaged file raises one of the errors in ``BROKEN``."""
    arrays = read_arrays(path, _TYPES)
    old = {*_TYPES, *_NUMBERS} - set(_NEW)
    expected = old if set(arrays) == old else {*_TYPES, *_NUMBERS, *_NEW}
    require(set(arrays) == expected, f"it must contain {', '.join(sorted(expected))}")
    graph = KnowledgeGraph(vocabulary, arrays["train"])
    constants = None if expected == old else _constants(arrays, graph)
    rules = RuleSet.of(graph, _table(arrays, graph.n_relations), _threshold(arrays), constants)
    return RulePrior(rules, _membership(arrays, graph.n_relations))


def _constants(arrays: Arrays, graph: KnowledgeGraph) -> ConstantTable:
    heads, support, sizes = (arrays[name] for name in CONSTANTS)
    bodies = arrays["constant_bodies"]
    n_rules = len(heads)
    require(bodies.shape == (n_rules, MAX_ATOMS), f"constant_bodies: must have {n_rules} rows of {MAX_ATOMS}")
    for name in CONSTANTS:
        require(arrays[name].shape == (n_rules,), f"{name}: must have a number for each rule")
    n_codes = 2 * graph.n_relations * (graph.n_entities + 1)
    is_head = (heads >= 0) & (heads < n_codes) & (heads % (graph.n_entities + 1) < graph.n_entities)
    require(bool(is_head.all() and (np.diff(heads) >= 0).all()), "constant_heads: must be attributes, ascending")
    good_bodies = (bodies >= NONE) & (bodies < n_codes)
    follows = (bodies[:, 0] != NONE) | (bodies[:, 1] == NONE)
    require(bool(good_bodies.all() and follows.all()), "constant_bodies: must be attributes, then −1")
    require(bool(((support >= 0) & (support <= sizes)).all()), "constant_support: must be from 0 to the size")
    table = ConstantTable(heads, bodies, support, sizes)
    known = Attributes(Steps(graph), 1).codes
    used = bodies[bodies != NONE]
    require(bool(np.isin(used, known).all()), "constant_bodies: must be attributes of the train graph")
    return table


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
    score = _score(arrays)
    shape = (n_relations, N_KINDS, score.n_patterns)
    tables = {}
    for name in ("slopes", "offsets"):
        values = arrays[name].reshape(shape) if arrays[name].size == math.prod(shape) else arrays[name]
        is_good = values.shape == shape and bool(np.isfinite(values).all())
        require(is_good, f"{name}: must be {' × '.join(map(str, shape))} numbers")
        tables[name] = values
    require(bool((tables["slopes"] >= 0).all()), "slopes: must be from 0")
    return Membership(score, tables["slopes"], tables["offsets"])


def _score(arrays: Arrays) -> Score:
    steps = arrays["steps"]
    good_shape = steps.ndim == 2 and len(steps) == 2 and steps.shape[1] > 0
    require(good_shape and bool(np.isfinite(steps).all()), "steps: must be two rows of numbers")
    lengths = arrays.get("n_steps", np.array([float(steps.shape[1])]))
    n_kinds = len(lengths)
    are_lengths = lengths.shape == (n_kinds,) and bool(np.isfinite(lengths).all() and (lengths >= 1).all())
    adds_up = are_lengths and n_kinds in (1, N_RULE_KINDS) and lengths.sum() == steps.shape[1]
    require(bool(adds_up) and bool((lengths == np.floor(lengths)).all()), "n_steps: must add up to the steps")
    numbers = np.atleast_2d(arrays["curve"])
    good_curve = numbers.shape == (n_kinds, 3) and bool(np.isfinite(numbers).all())
    good_curve = good_curve and bool(((numbers[:, 1] >= 0) & (numbers[:, 2] >= 0) & (numbers[:, 2] <= 1)).all())
    require(good_curve, "curve: must be a number, a slope from 0, and a smoothness from 0 to 1")
    ends = np.cumsum(lengths).astype(np.int64).tolist()
    parts = [steps[:, begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    is_rising = all((np.diff(part) >= 0).all() and (part[0] >= 0).all() for part in parts)
    require(is_rising, "steps: must be rising")
    weights = arrays.get("weights", np.ones(1))
    constants = arrays.get("constants", np.zeros(1))
    good_weights = weights.shape == (n_kinds,) and bool(np.isfinite(weights).all() and (weights >= 0).all())
    require(good_weights, "weights: must be numbers from 0, one for each kind of rules")
    good_constants = constants.shape == ((1 << n_kinds) - 1,) and bool(np.isfinite(constants).all())
    require(good_constants, "constants: must be a number for each set of kinds of rules")
    curves = tuple(Curve(CurveSteps(*part), *row) for part, row in zip(parts, numbers.tolist(), strict=True))
    return Score(curves, weights, constants)
