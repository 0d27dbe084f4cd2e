"""What Table 1 says about the paper's claims: small tables, made of the same runs.

How near a baseline is to the paper's, and how much seeds differ; NNMFAug against the baseline and against controls
of the same size; how many of its triples are true; on which test triples it gains and loses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, get_args

from nnmfaug.evaluation.breakdown import Group, breakdown
from nnmfaug.evaluation.comparison import Difference, Summary, compare
from nnmfaug.evaluation.metrics import Kind
from nnmfaug.evaluation.runs import Run, by_arm
from nnmfaug.experiments.paper import TABLE1
from nnmfaug.experiments.reproduce import Cell, Setting
from nnmfaug.experiments.tuning import METRICS, distance
from nnmfaug.io.layouts import read_splits
from nnmfaug.reports.reproduction import NAMES, PRINTED, QUICK, Results
from nnmfaug.reports.tables import Table

METHOD = "nnmf"
CONTROLS = ("baseline", "random", "typed", "duplicate")
"""What NNMFAug is compared with, where a cell has it; all but the baseline add as many triples."""
SETTINGS: tuple[Setting, ...] = get_args(Setting)
Finding = tuple[Table, dict[str, Any]]
"""A table, and all of its numbers."""


def findings(results: Results, *, quick: bool = False) -> dict[str, Finding]:
    """Return each table by the name of its files, with its numbers."""
    notes = (QUICK,) if quick else ()
    return {
        "gains": _gains(results, notes),
        "baselines": _baselines(results, notes),
        "controls": _controls(results, notes),
        "generated": _generated(results, notes),
        "degrees": _degrees(results, notes),
    }


def _gains(results: Results, notes: tuple[str, ...]) -> Finding:
    """A row for each data set and model: the paper's gain, and ours in each setting."""
    rows = []
    data: dict[str, Any] = {}
    for dataset, model in dict.fromkeys((cell.dataset, cell.model) for cell in results):
        cells = {cell.setting: cell for cell in results if (cell.dataset, cell.model) == (dataset, model)}
        gains = {setting: _gain(results[cell]) for setting, cell in cells.items()}
        printed = TABLE1[dataset, model, METHOD]["mrr"] - TABLE1[dataset, model, "baseline"]["mrr"]
        ours = [_verdict(gains[setting]) if setting in gains else "" for setting in SETTINGS]
        rows.append((f"{NAMES[dataset]}, {NAMES[model]}", f"{printed:+.4f}", *ours))
        data[f"{dataset}-{model}"] = {PRINTED: printed, **{name: asdict(each) for name, each in gains.items()}}
    title = "Difference in MRR that NNMFAug makes: in the paper, and here in three settings of the models"
    return Table(title, ("", PRINTED, *SETTINGS), tuple(rows), notes), data


def _gain(runs: Sequence[Run]) -> Difference:
    """NNMFAug against the baseline in MRR; the verdict is that of Table 1, corrected for the number of arms."""
    return compare(runs, metrics=("mrr",)).row(METHOD)


def _against(runs: Sequence[Run], other: str) -> Difference:
    """NNMFAug against another arm in MRR."""
    both = [run for run in runs if run.arm in (METHOD, other)]
    return compare(both, other, metrics=("mrr",)).row(METHOD)


def _text(difference: Difference) -> str:
    return f"{difference.difference:+.4f} ({difference.low:+.4f} to {difference.high:+.4f})"


def _verdict(difference: Difference) -> str:
    """A difference with its interval, and its verdict if there is one."""
    verdict = "" if difference.verdict == "no difference shown" else f", {difference.verdict}"
    return _text(difference) + verdict


def _baselines(results: Results, notes: tuple[str, ...]) -> Finding:
    """A row for each cell: how near its baseline is to the paper's, and the noise between seeds."""
    data = {cell.name: _baseline(cell, runs) for cell, runs in results.items()}
    header = ("cell", "MRR", "H@10", "MR", "distance", "by raw ranks", "deviation between seeds", "paper's gain")
    rows = [
        (
            name,
            f"{row['mrr']:.4f}",
            f"{100 * row['hits@10']:.2f}",
            f"{row['mr']:.0f}",
            f"{row['filtered']:.2f}",
            f"{row['raw']:.2f}",
            f"{row['deviation']:.4f}",
            f"{row['gain']:+.4f}",
        )
        for name, row in data.items()
    ]
    meanings = (
        "distance: Σ |log(ours / printed)| over MRR, H@10 and MR",
        "deviation between seeds: standard deviation of the MRR of one run",
    )
    title = "Baselines, and how near they are to the paper's"
    return Table(title, header, tuple(rows), (*notes, *meanings)), data


def _baseline(cell: Cell, runs: Sequence[Run]) -> dict[str, float]:
    printed = TABLE1[cell.dataset, cell.model, "baseline"]
    filtered, raw = (_summary(runs, kind) for kind in ("filtered", "raw"))
    return {
        **{name: filtered.means[name] for name in METRICS},
        "filtered": distance(filtered.means, printed),
        "raw": distance(raw.means, printed),
        "deviation": filtered.deviations["mrr"] or 0.0,
        "gain": TABLE1[cell.dataset, cell.model, METHOD]["mrr"] - printed["mrr"],
    }


def _summary(runs: Sequence[Run], kind: Kind) -> Summary:
    """Means of the baseline."""
    both = [run for run in runs if run.arm in (METHOD, "baseline")]
    return compare(both, metrics=METRICS, kind=kind).summaries[0]


def _controls(results: Results, notes: tuple[str, ...]) -> Finding:
    """A row for each cell: NNMFAug against the baseline and each control."""
    data = {cell.name: dict(_differences(runs)) for cell, runs in results.items()}
    rows = [
        (name, *(_text(row[other]) if other in row else "" for other in CONTROLS)) for name, row in data.items()
    ]
    title = "NNMFAug against the baseline, and against as many other triples: difference in MRR"
    numbers = {name: {other: asdict(each) for other, each in row.items()} for name, row in data.items()}
    note = "95 % intervals, not corrected for their number"
    return Table(title, ("cell", *CONTROLS), tuple(rows), (*notes, note)), numbers


def _differences(runs: Sequence[Run]) -> Iterator[tuple[str, Difference]]:
    arms = by_arm(runs)
    for other in CONTROLS:
        if other in arms:
            yield other, _against(runs, other)


def _generated(results: Results, notes: tuple[str, ...]) -> Finding:
    """A row for each cell and arm that generates: how many of its triples valid or test contains."""
    data = {cell.name: dict(_counts(runs)) for cell, runs in results.items()}
    rows = [
        (cell, arm, f"{row['n']:,}", f"{row['confirmed']:,}", f"{row['confirmed'] / row['n']:.2%}")
        for cell, arms in data.items()
        for arm, row in arms.items()
    ]
    header = ("cell", "arm", "triples", "confirmed", "fraction")
    note = "all seeds together; auto generates the same triples with every seed, which count once"
    title = "Generated triples that valid or test confirms"
    return Table(title, header, tuple(rows), (*notes, note), n_label_columns=2), data


def _counts(runs: Sequence[Run]) -> Iterator[tuple[str, dict[str, int]]]:
    for arm, runs_of_arm in by_arm(runs).items():
        described = [run.settings.get("generated") or {} for run in runs_of_arm]
        counted = [each for each in described if "confirmed" in each]
        if arm in ("duplicate", "combined") or not counted:
            continue
        distinct = counted[:1] if arm == "auto" else counted
        n = sum(each["n"] for each in distinct)
        yield arm, {"n": n, "confirmed": sum(round(each["confirmed"] * each["n"]) for each in distinct)}


def _degrees(results: Results, notes: tuple[str, ...]) -> Finding:
    """A row for each cell and band of degrees: where NNMFAug gains and loses."""
    groups = {cell.name: _bands(cell, runs) for cell, runs in results.items()}
    rows = [(name, *_band_row(group)) for name, bands in groups.items() for group in bands]
    header = (
        "cell",
        "train triples about the rarer entity",
        "test triples",
        "baseline",
        METHOD,
        "difference in MRR",
    )
    title = "NNMFAug by the degree of the entities of a test triple"
    note = "intervals are not corrected for their number"
    numbers = {name: [asdict(group) for group in bands] for name, bands in groups.items()}
    return Table(title, header, tuple(rows), (*notes, note), n_label_columns=2), numbers


def _bands(cell: Cell, runs: Sequence[Run]) -> tuple[Group, ...]:
    both = [run for run in runs if run.arm in (METHOD, "baseline")]
    return breakdown(both, read_splits(cell.dataset), by="degree")


def _band_row(group: Group) -> tuple[str, ...]:
    (each,) = group.differences
    interval = "" if each.low is None else f" ({each.low:+.4f} to {each.high:+.4f})"
    values = (f"{each.baseline_mean:.4f}", f"{each.mean:.4f}", f"{each.difference:+.4f}{interval}")
    return (group.name, f"{group.n_triples:,}", *values)
