"""The paper's tables and figures, made of runs: our numbers beside those that the paper prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from scipy.special import stdtrit

from nnmfaug.evaluation.comparison import Comparison, Difference, compare, to_json
from nnmfaug.evaluation.metrics import summary
from nnmfaug.evaluation.runs import Run, by_arm
from nnmfaug.experiments.paper import TABLE1, TABLE2
from nnmfaug.experiments.reproduce import Cell, Part, Sampling, Variant, variants
from nnmfaug.experiments.search import Search
from nnmfaug.experiments.tuning import Tuning
from nnmfaug.graph.splits import Splits
from nnmfaug.reports.curves import Curve, Estimate, Point
from nnmfaug.reports.tables import Table

METRICS = ("hits@1", "hits@3", "hits@5", "hits@10", "mrr", "mr")
"""The metrics of the paper, in its order."""
NAMES = {"dl50a": "DL50a", "wn18rr": "WN18RR", "transe": "TransE", "rotate": "RotatE"}
"""Data sets and models as the paper writes them."""
PRINTED = "printed"
"""Setting of the rows that the paper prints."""
QUICK = "quick: a few epochs and seeds, to show that the command works"

Results = Mapping[Cell, Sequence[Run]]
"""The runs of each cell."""


def make_table1(results: Results, *, quick: bool = False) -> Table:
    """Return Table 1: every arm of every cell beside what the paper prints, with differences in MRR."""
    header = ("data set", "model", "setting", "arm", "H@1", "H@3", "H@5", "H@10", "MRR", "MR", "difference in MRR")
    rows = [row for cells in _by_model(results) for row in _rows_of_model(cells, results)]
    notes = [QUICK] if quick else []
    notes.append("Hits@k in percent; filtered ranks; difference to the baseline with its 95 % interval")
    title = "Table 1: link prediction with and without NNMFAug"
    return Table(title, header, tuple(rows), tuple(notes), n_label_columns=4)


def table1_data(results: Results, *, quick: bool = False) -> dict[str, Any]:
    """Return all numbers of Table 1: comparisons by filtered and by raw ranks, and what the paper prints."""
    printed = {f"{dataset}-{model}-{arm}": dict(row) for (dataset, model, arm), row in TABLE1.items()}
    cells = {
        cell.name: {
            "filtered": to_json(compare(runs, metrics=METRICS)),
            "raw": to_json(compare(runs, metrics=METRICS, kind="raw")),
            "added": {arm: [run.n_extra for run in runs_of_arm] for arm, runs_of_arm in by_arm(runs).items()},
            "confirmed": _confirmed(runs),
        }
        for cell, runs in results.items()
    }
    return {"quick": quick, "cells": cells, "paper": printed}


def _confirmed(runs: Sequence[Run]) -> dict[str, float]:
    """Fraction of each arm's generated triples that valid or test contains, the mean over seeds."""
    fractions = {}
    for arm, runs_of_arm in by_arm(runs).items():
        generated = [run.settings.get("generated") for run in runs_of_arm]
        values = [each["confirmed"] for each in generated if each and "confirmed" in each]
        if values:
            fractions[arm] = float(np.mean(values))
    return fractions


def _by_model(results: Results) -> Iterator[list[Cell]]:
    """Yield the cells of each data set and model."""
    pairs = dict.fromkeys((cell.dataset, cell.model) for cell in results)
    for pair in pairs:
        yield [cell for cell in results if (cell.dataset, cell.model) == pair]


def _rows_of_model(cells: Sequence[Cell], results: Results) -> Iterator[tuple[str, ...]]:
    """The rows of one data set and model: the paper's, then ours in each setting."""
    dataset = cells[0].dataset
    model = cells[0].model
    names = (NAMES[dataset], NAMES[model])
    baseline = TABLE1[dataset, model, "baseline"]
    for arm in ("baseline", "nnmf"):
        row = TABLE1[dataset, model, arm]
        difference = "" if arm == "baseline" else f"{row['mrr'] - baseline['mrr']:+.4f}"
        yield (*names, PRINTED, arm, *_cells(row), difference)
    for cell in cells:
        comparison = compare(results[cell], metrics=METRICS)
        for each in comparison.summaries:
            yield (*names, cell.setting, each.arm, *_cells(each.means), _difference(comparison, each.arm))


def _cells(metrics: Mapping[str, float]) -> tuple[str, ...]:
    """Metrics as the paper prints them."""
    hits = tuple(f"{100 * metrics[name]:.2f}" for name in METRICS[:4])
    return (*hits, f"{metrics['mrr']:.4f}", f"{metrics['mr']:.0f}")


def _difference(comparison: Comparison, arm: str) -> str:
    """The difference of an arm in MRR, with its interval and verdict."""
    if arm == comparison.baseline:
        return ""
    row = comparison.row(arm)
    verdict = "" if row.verdict == "no difference shown" else f", {row.verdict}"
    return f"{row.difference:+.4f} ({row.low:+.4f} to {row.high:+.4f}){verdict}"


def make_table2(data: Sequence[Splits]) -> Table:
    """Return Table 2: the sizes of the data sets beside what the paper prints."""
    columns = ("entities", "relations", "train", "valid", "test", "total")
    rows = []
    for splits in data:
        sizes = sizes_of(splits)
        printed = TABLE2[splits.name]
        rows.append((NAMES[splits.name], PRINTED, *(f"{printed[name]:,}" for name in columns)))
        rows.append((NAMES[splits.name], "published file", *(f"{sizes[name]:,}" for name in columns)))
    return Table("Table 2: data sets", ("data set", "", *columns), tuple(rows), n_label_columns=2)


def table2_data(data: Sequence[Splits]) -> dict[str, Any]:
    """Return all numbers of Table 2."""
    return {splits.name: {"ours": sizes_of(splits), "paper": dict(TABLE2[splits.name])} for splits in data}


def sizes_of(splits: Splits) -> dict[str, int]:
    """Return the number of entities, relations and triples of a data set."""
    triples = {name: len(graph) for name, graph in splits.items()}
    names = {"entities": len(splits.vocabulary.entities), "relations": len(splits.vocabulary.relations)}
    return {**names, **triples, "total": sum(triples.values())}


def search_table(searches: Mapping[str, Search], *, quick: bool = False) -> Table:
    """Return the choices of searches: settings, and the MRR on valid beside that of the baseline."""
    names = [field.name for field in fields(Sampling)]
    header = ("cell", *names, "MRR on valid", "baseline", "trials")
    rows = [_search_row(name, search, names) for name, search in searches.items()]
    title = "Settings of NNMFAug, chosen on valid"
    return Table(title, header, tuple(rows), (QUICK,) if quick else ())


def _search_row(cell: str, search: Search, names: Sequence[str]) -> tuple[str, ...]:
    best = max(trial.metrics["mrr"] for trial in search.trials)
    settings = (f"{getattr(search.chosen, name):g}" for name in names)
    n_trials = len(search.trials) + len(search.radii)
    return (cell, *settings, f"{best:.4f}", f"{search.baseline['mrr']:.4f}", str(n_trials))


def tuning_table(searches: Mapping[str, Tuning], *, quick: bool = False) -> Table:
    """Return the settings of models that are nearest to the paper's baseline, and their metrics on valid."""
    names = ("margin", "dim", "negatives", "epochs")
    header = ("cell", *names, "MRR", "H@10", "MR", "distance", "with defaults", "trials")
    rows = [_tuning_row(name, search, names) for name, search in searches.items()]
    title = "Settings of models nearest to the paper's baseline, chosen on valid"
    return Table(title, header, tuple(rows), (QUICK,) if quick else ())


def _tuning_row(cell: str, search: Tuning, names: Sequence[str]) -> tuple[str, ...]:
    best = search.chosen
    settings = (f"{best.settings[name]:g}" for name in names)
    metrics = (f"{best.metrics['mrr']:.4f}", f"{100 * best.metrics['hits@10']:.2f}", f"{best.metrics['mr']:.0f}")
    distances = (f"{best.distance:.2f}", f"{search.trials[0].distance:.2f}")
    return (cell, *settings, *metrics, *distances, str(len(search.trials)))


@dataclass(frozen=True)
class Peak:
    """Whether a curve has a peak: the best point on valid against both ends of the curve on test.

    Parameters
    ----------
    arm
        The arm of the point with the highest mean MRR on valid.
    on_valid
        Mean MRR on valid of the arm of each point.
    left, right
        The difference of the chosen point to the first and to the last point in MRR on test; None if it is that
        point itself.
    """

    arm: str
    on_valid: Mapping[str, float]
    left: Difference | None
    right: Difference | None

    @property
    def is_inverted_v(self) -> bool:
        """Whether the chosen point is better than both ends."""
        return all(each is not None and each.verdict == "better" for each in (self.left, self.right))


def find_peak(part: Part, runs: Sequence[Run]) -> Peak:
    """Choose the best point of a figure on valid, and compare it with both ends on test."""
    arms = [variant.arm for variant in _points(part)]
    on_valid = {arm: float(np.mean([run.curve[-1]["mrr"] for run in by_arm(runs)[arm]])) for arm in arms}
    best = max(arms, key=lambda arm: on_valid[arm])
    return Peak(best, on_valid, _against(runs, best, arms[0]), _against(runs, best, arms[-1]))


def _points(part: Part) -> list[Variant]:
    """The points of a figure from left to right; that of no added triples is the baseline."""
    points = list(variants(part))
    return [Variant(0, "0%", "baseline"), *points] if part == "figure1a" else points


def _against(runs: Sequence[Run], arm: str, other: str) -> Difference | None:
    """The difference between two arms in MRR on test."""
    if arm == other:
        return None
    both = [run for run in runs if run.arm in (arm, other)]
    return compare(both, other, metrics=("mrr",)).row(arm)


def make_curve(part: Part, cell: Cell, runs: Sequence[Run]) -> Curve:
    """Return the points of a figure, with intervals over seeds."""
    arms = by_arm(runs)
    points = tuple(_point(variant, arms[variant.arm]) for variant in _points(part))
    name = f"{NAMES[cell.model]} on {NAMES[cell.dataset]}, {cell.setting}"
    return Curve(name, points, _point(Variant(0, "baseline", "baseline"), arms["baseline"]))


def _point(variant: Variant, runs: Sequence[Run]) -> Point:
    summaries = [summary(run.ranks.filtered) for run in runs]
    estimates = {metric: estimate_mean([each[metric] for each in summaries]) for metric in METRICS}
    return Point(variant.x, variant.label, estimates)


def estimate_mean(values: Sequence[float]) -> Estimate:
    """Return the mean of some seeds with its 95 % interval by Student's t; one seed has no interval.

    Examples
    --------
    >>> round(estimate_mean([1.0, 2.0, 3.0]).low, 2)
    -0.48
    """
    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(mean, mean, mean)
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    reach = float(stdtrit(len(values) - 1, 0.975)) * error
    return Estimate(mean, mean - reach, mean + reach)


def figure_table(part: Part, curves: Sequence[Curve], *, quick: bool = False) -> Table:
    """Return the points of a figure as a table: means over seeds, and the interval of MRR."""
    header = ("curve", "point", "H@1", "H@3", "H@5", "H@10", "MRR", "MR", "95 % interval of MRR")
    rows = [_figure_row(curve, point) for curve in curves for point in _with_baseline(curve)]
    title = f"Figure 1{part[-1]}: means over seeds"
    return Table(title, header, tuple(rows), (QUICK,) if quick else (), n_label_columns=2)


def _with_baseline(curve: Curve) -> tuple[Point, ...]:
    """The baseline, and all other points of a curve."""
    others = tuple(point for point in curve.points if point.label != "0%")
    return others if curve.baseline is None else (curve.baseline, *others)


def _figure_row(curve: Curve, point: Point) -> tuple[str, ...]:
    values = {metric: each.value for metric, each in point.estimates.items()}
    mrr = point.estimates["mrr"]
    return (curve.name, point.label, *_cells(values), f"{mrr.low:.4f} to {mrr.high:.4f}")


def sentence_of(part: Part, cell: Cell, runs: Sequence[Run]) -> str:
    """Say whether the best point on valid is better than both ends of the curve on test."""
    peak = find_peak(part, runs)
    labels = {variant.arm: variant.label for variant in _points(part)}
    ends = {"first": peak.left, "last": peak.right}
    clauses = [_clause(side, each) for side, each in ends.items()]
    verdict = "an inverted V" if peak.is_inverted_v else "no inverted V shown"
    return f"{cell.name}: {verdict}. The best point on valid is {labels[peak.arm]}: {', '.join(clauses)}."


def _clause(side: str, difference: Difference | None) -> str:
    if difference is None:
        return f"the {side} point itself"
    interval = f"{difference.low:+.4f} to {difference.high:+.4f}"
    return f"{difference.difference:+.4f} MRR ({interval}) on test against the {side} point"


def figure_data(part: Part, results: Results, *, quick: bool = False) -> dict[str, Any]:
    """Return all numbers of a figure."""
    cells = {}
    for cell, runs in results.items():
        peak = None if part == "figure1c" else find_peak(part, runs)
        cells[cell.name] = {
            "curve": asdict(make_curve(part, cell, runs)),
            "comparison": to_json(compare(runs, metrics=METRICS)),
            "peak": None if peak is None else {**asdict(peak), "is_inverted_v": peak.is_inverted_v},
            "sentence": None if peak is None else sentence_of(part, cell, runs),
        }
    return {"quick": quick, "cells": cells}
