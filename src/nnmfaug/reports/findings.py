"""What Table 1 says about the paper's claims: small tables, made of the same runs.

How near a baseline is to the paper's, and how much seeds differ; NNMFAug against the baseline and against controls
of the same size; how many of its triples are true; on which test triples it gains and loses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

import numpy as np

from nnmfaug.evaluation.breakdown import Group, breakdown
from nnmfaug.evaluation.comparison import Difference, compare
from nnmfaug.evaluation.metrics import Kind, summary
from nnmfaug.evaluation.runs import Run, by_arm
from nnmfaug.experiments.paper import TABLE1
from nnmfaug.experiments.reproduce import Cell, Setting
from nnmfaug.experiments.tuning import METRICS, distance
from nnmfaug.io.layouts import read_splits
from nnmfaug.linkpred.schedule import Polynomial
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
    header = (
        "cell",
        "MRR",
        "H@10",
        "MR",
        "distance",
        "of raw ranks",
        "paper's gain",
        "SD",
        "SD of nnmf",
        "epochs",
        "of nnmf",
    )
    rows = [
        (
            name,
            f"{row['mrr']:.4f}",
            f"{100 * row['hits@10']:.2f}",
            f"{row['mr']:.0f}",
            f"{row['filtered']:.2f}",
            f"{row['raw']:.2f}",
            f"{row['gain']:+.4f}",
            f"{row['deviation']:.4f}",
            f"{row['deviation of nnmf']:.4f}",
            _range(row["epochs"]),
            _range(row["epochs of nnmf"]),
        )
        for name, row in data.items()
    ]
    meanings = (
        "distance: Σ |log(ours / printed)| over MRR, H@10 and MR",
        "SD: standard deviation between seeds of the MRR of one run",
        "epochs: fewest to most of all seeds; in the setting paper training ends early",
    )
    title = "Baselines, and how near they are to the paper's"
    return Table(title, header, tuple(rows), (*notes, *meanings)), data


def _baseline(cell: Cell, runs: Sequence[Run]) -> dict[str, Any]:
    printed = TABLE1[cell.dataset, cell.model, "baseline"]
    arms = by_arm(runs)
    filtered, raw = (_means(arms["baseline"], kind) for kind in ("filtered", "raw"))
    return {
        **{name: filtered[name] for name in METRICS},
        "filtered": distance(filtered, printed),
        "raw": distance(raw, printed),
        "gain": TABLE1[cell.dataset, cell.model, METHOD]["mrr"] - printed["mrr"],
        "deviation": _deviation(arms["baseline"]),
        "deviation of nnmf": _deviation(arms[METHOD]),
        "epochs": [len(run.losses) for run in arms["baseline"]],
        "epochs of nnmf": [len(run.losses) for run in arms[METHOD]],
    }


def _means(runs: Sequence[Run], kind: Kind) -> dict[str, float]:
    """Means of the metrics over seeds."""
    summaries = [summary(run.ranks.of_kind(kind)) for run in runs]
    return {name: float(np.mean([each[name] for each in summaries])) for name in METRICS}


def _deviation(runs: Sequence[Run]) -> float:
    """Standard deviation of the MRR between seeds, of which there are at least two."""
    return float(np.std([summary(run.ranks.filtered)["mrr"] for run in runs], ddof=1))


def _range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least}–{most}"


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
        (cell, arm, *(f"{row[name]:,}" for name in ("n", "used", "confirmed")), _percentage(row))
        for cell, arms in data.items()
        for arm, row in arms.items()
    ]
    header = ("cell", "arm", "triples", "used", "confirmed", "fraction")
    meanings = (
        "all seeds together; auto generates the same triples with every seed, which count once",
        "used: in the training set when training ended",
    )
    title = "Generated triples that valid or test confirms"
    return Table(title, header, tuple(rows), (*notes, *meanings), n_label_columns=2), data


def _percentage(row: Mapping[str, int]) -> str:
    return f"{row['confirmed'] / row['n']:.2%}" if row["n"] else ""


def _counts(runs: Sequence[Run]) -> Iterator[tuple[str, dict[str, int]]]:
    for arm, runs_of_arm in by_arm(runs).items():
        generated = [run for run in runs_of_arm if "confirmed" in (run.settings.get("generated") or {})]
        if arm in ("duplicate", "combined") or not generated:
            continue
        distinct = generated[:1] if arm == "auto" else generated
        described = [run.settings["generated"] for run in distinct]
        yield (
            arm,
            {
                "n": sum(each["n"] for each in described),
                "used": sum(_n_used(run) for run in distinct),
                "confirmed": sum(round(each["confirmed"] * each["n"]) for each in described),
            },
        )


def _n_used(run: Run) -> int:
    """Number of generated triples in the training set of the last epoch."""
    n: int = run.settings["generated"]["n"]
    exponent = run.settings["arm"]["schedule"].get("exponent", 0)
    return Polynomial(exponent)(len(run.losses), run.settings["predictor"]["epochs"], n) if exponent else n


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
