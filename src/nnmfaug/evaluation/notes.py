"""What a reader of a comparison should know besides its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nnmfaug.evaluation.metrics import contributions
from nnmfaug.evaluation.runs import Run, load_runs


def left_out(runs: list[Run], folder: Path) -> Iterator[str]:
    """Arms that were run here before and are not in this comparison."""
    there = {run.arm for run in load_runs(folder)} - {run.arm for run in runs}
    if there:
        options = " ".join(f"--arm {arm}" for arm in sorted(there))
        yield f"{folder} has runs of other arms, which comparison.json now leaves out; to compare all: {options}"


def notes(runs: list[Run]) -> Iterator[str]:
    """What a reader should know of the generated triples."""
    groups = by_arm(runs)
    for arm, own in groups.items():
        made = own[0].settings["generated"]
        if made is None:
            continue
        asked = own[0].settings["arm"]["amount"]
        if isinstance(asked, int) and own[0].n_extra < asked and arm != "auto":
            yield f"{arm}: {own[0].n_extra:,} triples, not the {asked:,} asked for; there are no more"
        if made["in_valid"] or made["in_test"]:
            fair = (
                ""
                if not arm.startswith("file:")
                else "; if they were taken from there, the comparison is not fair"
            )
            yield f"{arm}: {made['in_valid']:,} of its triples are in valid, {made['in_test']:,} in test{fair}"
        rows = [run.settings["generated"].get("test_rows") for run in own]
        total = sum(len(run.ranks) for run in own)
        if None not in rows and 0 < sum(map(len, rows)) < total and "baseline" in groups:
            pairs = [[_mrr(runs, rows, within) for runs in (groups["baseline"], own)] for within in (True, False)]
            there, others = (f"{before:.4f} → {after:.4f}" for before, after in pairs)
            yield f"{arm}: MRR on the test triples that were generated {there}, on the others {others}"


def _mrr(runs: list[Run], rows: list[list[int]], within: bool) -> float:
    """Filtered MRR of runs on some test triples, others for each, or on all but these."""
    found = []
    for run, own in zip(runs, rows, strict=True):
        there = np.zeros(len(run.ranks), dtype=np.bool_)
        there[own] = True
        found.append(contributions(run.ranks.filtered, "mrr")[there == within])
    return float(np.concatenate(found).mean())


def by_arm(runs: list[Run]) -> dict[str, list[Run]]:
    """Return the runs of each arm, in the order of the arms."""
    return {arm: [run for run in runs if run.arm == arm] for arm in dict.fromkeys(run.arm for run in runs)}
