"""A comparison in words: one sentence for each arm, and notes about the generated triples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nnmfaug.core.commands import command
from nnmfaug.evaluation.breakdown import MRRByGenerated, mrr_by_generated
from nnmfaug.evaluation.comparison import Comparison, Difference, Verdict, compare
from nnmfaug.evaluation.metrics import title
from nnmfaug.evaluation.runs import Run, by_arm, load_runs

_WORDS: dict[Verdict, str] = {
    "worse": "better than",
    "no difference shown": "no difference shown to",
    "better": "worse than",
}
"""What an arm is to another one that has this verdict against it."""
_CHOSEN_BY_TEST = "It was chosen by these test results, so expect a little less on other triples."


def sentence(comparison: Comparison, metric: str = "mrr", *, arm: str | None = None) -> str:
    """Return the outcome of a comparison in words, one line for each arm.

    Parameters
    ----------
    comparison
        A value that :func:`~nnmfaug.compare` returned.
    metric
        One of ``comparison.metrics``.
    arm
        The only arm to report. Default: all arms.

    Examples
    --------
    >>> import numpy as np
    >>> import nnmfaug as na
    >>> rng = np.random.default_rng(0)
    >>> runs = []
    >>> for seed in range(5):
    ...     ranks = rng.integers(2, 50, size=(200, 2)) + rng.integers(0, 3, size=(200, 2))
    ...     runs.append(na.Run("baseline", seed, na.Ranks(filtered=ranks, raw=ranks)))
    ...     runs.append(na.Run("one up", seed, na.Ranks(filtered=ranks - 1, raw=ranks)))
    >>> print(na.sentence(na.compare(runs), "hits@10"))
    one up: filtered Hits@10 .163 → .181, +.018 or +11.4 % (95 % interval +.004 to +.039, 5 seeds): better than
    baseline.
    """
    arms = comparison.arms if arm is None else (arm,)
    rows = [comparison.row(each, metric) for each in arms]
    return "\n".join(_sentence(comparison, row) for row in rows)


def advice(runs: Sequence[Run], comparison: Comparison) -> str:
    """Return in words which arm to use: of those that are better than the baseline, the one of the highest MRR.

    It is compared with every other arm, paired by seed and test triple, as :func:`~nnmfaug.compare` does.

    Examples
    --------
    >>> import numpy as np
    >>> import nnmfaug as na
    >>> rng = np.random.default_rng(0)
    >>> runs = []
    >>> for seed in range(5):
    ...     ranks = rng.integers(3, 50, size=(200, 2)) + rng.integers(0, 3, size=(200, 2))
    ...     for arm, gain in (("baseline", 0), ("one up", 1), ("two up", 2)):
    ...         runs.append(na.Run(arm, seed, na.Ranks(filtered=ranks - gain, raw=ranks)))
    >>> for line in advice(runs, na.compare(runs)).split(". "):
    ...     print(line)
    Use two up: filtered MRR .078, better than baseline (.057) and one up (.065)
    It was chosen by these test results, so expect a little less on other triples.
    """
    means = {each.arm: each.means["mrr"] for each in comparison.summaries}
    better = [row.arm for row in comparison.rows if row.metric == "mrr" and row.verdict == "better"]
    if not better:
        return _no_advice(comparison, means)
    best = max(better, key=lambda arm: means[arm])
    verdicts = _verdicts_on_others(runs, comparison, best)
    parts = [
        f"{words} {_listed(arms, means)}"
        for verdict, words in _WORDS.items()
        if (arms := [arm for arm in verdicts if verdicts[arm] == verdict])
    ]
    text = f"Use {best}: {comparison.kind} MRR {_number(means[best], 3)}, {'; '.join(parts)}."
    return f"{text} {_CHOSEN_BY_TEST}" if len(comparison.arms) > 1 else text


def notes(runs: Sequence[Run]) -> Iterator[str]:
    """Yield notes about the generated triples of each arm: too few, in valid or test, and where the MRR changed.

    For an arm that combines a model with rules, the note is how much they count.

    Examples
    --------
    >>> import numpy as np
    >>> from nnmfaug.evaluation.metrics import Ranks
    >>> ranks = Ranks(filtered=np.ones((5, 2)), raw=np.ones((5, 2)))
    >>> generated = {"in_valid": 0, "in_test": 2, "test_rows": [0, 4]}
    >>> settings = {"arm": {"amount": 90}, "generated": generated}
    >>> for note in notes([Run("baseline", 0, ranks), Run("nnmf", 0, ranks, settings, n_extra=60)]):
    ...     print(note)
    nnmf: only 60 triples were available, 90 were requested
    nnmf: 0 of its triples are in valid, 2 in test
    nnmf: MRR on the test triples that were generated 1.0000 → 1.0000, on the others 1.0000 → 1.0000
    """
    groups = by_arm(runs)
    comparable = "baseline" in groups and len(groups) > 1
    parts = {part.arm: part for part in mrr_by_generated(runs)} if comparable else {}
    for arm, arm_runs in groups.items():
        generated = arm_runs[0].settings.get("generated")
        if generated is not None:
            yield from _amount_notes(arm_runs[0])
            yield from _overlap_notes(arm, generated)
        if arm in parts:
            yield _gain_note(parts[arm])
        if arm_runs[0].settings.get("mix"):
            yield _mix_note(arm_runs[0])


def left_out(runs: Sequence[Run], folder: str | Path) -> Iterator[str]:
    """Yield a note if the folder contains runs of arms that are not among these runs.

    Examples
    --------
    >>> import numpy as np
    >>> from nnmfaug.evaluation.metrics import Ranks
    >>> from nnmfaug.evaluation.runs import save_run
    >>> run = Run("random", 0, Ranks(filtered=np.ones((5, 2)), raw=np.ones((5, 2))))
    >>> path = save_run(run, "runs")
    >>> list(left_out([run], "runs"))
    []
    >>> for note in left_out([], "runs"):
    ...     print(note)
    runs also contains runs of other arms, which comparison.json now omits; to compare all, add: --arm random
    """
    others = {run.arm for run in load_runs(folder)} - {run.arm for run in runs}
    if others:
        options = " ".join(command("--arm", arm) for arm in sorted(others))
        omitted = "also contains runs of other arms, which comparison.json now omits"
        yield f"{folder} {omitted}; to compare all, add: {options}"


def _no_advice(comparison: Comparison, means: Mapping[str, float]) -> str:
    """Return the advice if no arm is better than the baseline."""
    text = f"No arm is shown to be better than {_listed([comparison.baseline], means)}"
    if len(comparison.seeds) == 1:
        return f"{text}: one seed cannot show it."
    highest = max(means, key=lambda arm: means[arm])  # of equal ones the first, which is the baseline
    if highest == comparison.baseline:
        return f"{text}, which has the highest {comparison.kind} MRR: use it."
    return f"{text}: use it, or run more seeds. The highest MRR is that of {_listed([highest], means)}."


def _verdicts_on_others(runs: Sequence[Run], comparison: Comparison, best: str) -> dict[str, Verdict]:
    """Return for the baseline and each other arm whether it is worse than the best one, or better."""
    against_best = compare(
        runs,
        best,
        metrics=("mrr",),
        kind=comparison.kind,
        n_resamples=comparison.n_resamples,
        seed=comparison.bootstrap_seed,
        level=comparison.level,
    )
    others = {arm: against_best.row(arm).verdict for arm in comparison.arms if arm != best}
    return {comparison.baseline: "worse", **others}


def _listed(arms: Sequence[str], means: Mapping[str, float]) -> str:
    """Return the arms with their MRR as a list in words."""
    *first, last = [f"{arm} ({_number(means[arm], 3)})" for arm in arms]
    return f"{', '.join(first)} and {last}" if first else last


def _sentence(comparison: Comparison, row: Difference) -> str:
    digits = _digits(row)
    name = f"{comparison.kind} {title(row.metric)}"
    baseline_mean = _number(row.baseline_mean, min(digits, 3))
    mean = _number(row.mean, min(digits, 3))
    change = _signed(row.difference, digits)
    if row.relative is not None:
        change += f" or {_signed(100 * row.relative, 1, zero=True)} %"
    interval = _interval(comparison, row, digits)
    verdict = _verdict(comparison, row)
    return f"{row.arm}: {name} {baseline_mean} → {mean}, {change} ({interval}): {verdict}."


def _digits(row: Difference) -> int:
    """Number of decimals: 1 for mean ranks, 3 for fractions, 4 if the interval would otherwise look like 0."""
    if row.metric == "mr":
        return 1
    largest = max(abs(row.low), abs(row.high))
    return 3 if largest >= 0.01 else 4


def _interval(comparison: Comparison, row: Difference, digits: int) -> str:
    bounds = f"{_signed(row.low, digits)} to {_signed(row.high, digits)}"
    seeds = f"{len(row.seeds)} seed{'s' if len(row.seeds) > 1 else ''}"
    return f"{100 * comparison.level:g} % interval {bounds}, {seeds}"


def _verdict(comparison: Comparison, row: Difference) -> str:
    if row.verdict != "no difference shown":
        return f"{row.verdict} than {comparison.baseline}"
    if len(row.seeds) == 1:
        return f"{row.verdict} (one seed cannot tell seed noise from an effect)"
    if not row.low <= 0 <= row.high:
        return f"{row.verdict} (corrected for the number of arms)"
    return row.verdict


def _number(value: float, digits: int) -> str:
    """Format a number as tables of results do: .353, not 0.353."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("0") if digits > 1 else text


def _signed(value: float, digits: int, *, zero: bool = False) -> str:
    """Format a number with its sign; ``zero`` keeps the 0 before the point."""
    text = f"{abs(value):.{digits}f}" if zero else _number(abs(value), digits)
    if float(text) == 0:
        return text
    return f"−{text}" if value < 0 else f"+{text}"


def _amount_notes(run: Run) -> Iterator[str]:
    """A note if there are fewer triples than requested; for auto, the amount is only a limit."""
    requested = (run.settings.get("arm") or {}).get("amount")
    if isinstance(requested, int) and run.n_extra < requested and run.arm != "auto":
        yield f"{run.arm}: only {run.n_extra:,} triples were available, {requested:,} were requested"


def _overlap_notes(arm: str, generated: dict[str, Any]) -> Iterator[str]:
    """A note if generated triples are in valid or test."""
    in_valid = generated.get("in_valid", 0)
    in_test = generated.get("in_test", 0)
    if in_valid or in_test:
        note = f"{arm}: {in_valid:,} of its triples are in valid, {in_test:,} in test"
        if arm.startswith("file:"):
            note += "; if they were copied from there, the comparison is not fair"
        yield note


def _gain_note(parts: MRRByGenerated) -> str:
    generated = f"{parts.baseline_on_generated:.4f} → {parts.on_generated:.4f}"
    others = f"{parts.baseline_on_others:.4f} → {parts.on_others:.4f}"
    return f"{parts.arm}: MRR on the test triples that were generated {generated}, on the others {others}"


def _mix_note(run: Run) -> str:
    """How model and rules are combined; the numbers of the first seed."""
    mix = run.settings["mix"]
    if mix["weight"] == 0:
        return f"{run.arm}, seed {run.seed}: on valid, the model alone is best, so rules do not count"
    numbers = f"T = {mix['temperature']:.3g}, w = {mix['weight']:g}, ε = {mix['epsilon']:g}"
    return f"{run.arm}, seed {run.seed}: score = model score / T + w · log(1 + p / ε), on valid {numbers}"
