"""A comparison in words, one sentence for each arm."""

from __future__ import annotations

from nnmfaug.evaluation.comparison import Comparison, Difference

_NAMES = {"mrr": "MRR", "mr": "MR"} | {f"hits@{k}": f"Hits@{k}" for k in (1, 3, 5, 10)}


def sentence(comparison: Comparison, metric: str = "mrr", *, arm: str | None = None) -> str:
    """Say what came out in words: of one arm, or of all, a line each.

    Examples
    --------
    >>> from nnmfaug.evaluation.comparison import compare
    >>> from nnmfaug.evaluation.metrics import Ranks
    >>> from nnmfaug.evaluation.runs import Run
    >>> import numpy as np
    >>> rng, runs = np.random.default_rng(0), []
    >>> for seed in range(5):
    ...     ranks = rng.integers(2, 50, size=(200, 2)) + rng.integers(0, 3, size=(200, 2))
    ...     runs.append(Run("baseline", seed, Ranks(filtered=ranks, raw=ranks)))
    ...     runs.append(Run("one up", seed, Ranks(filtered=ranks - 1, raw=ranks)))
    >>> print(sentence(compare(runs), "hits@10"))
    one up: filtered Hits@10 .163 → .181, +.018 or +11.4 % (95 % interval +.004 to +.039, 5 seeds): better than
    baseline.
    """
    arms = comparison.arms if arm is None else (arm,)
    return "\n".join(_sentence(comparison, comparison.row(each, metric)) for each in arms)


def _sentence(comparison: Comparison, row: Difference) -> str:
    digits = 1 if row.metric == "mr" else 3 if max(abs(row.low), abs(row.high)) >= 0.01 else 4
    base, mean = (_number(value, min(digits, 3)) for value in (row.baseline_mean, row.mean))
    relative = "" if row.relative is None else f" or {_signed(100 * row.relative, 1, zero=True)} %"
    seeds = f"{len(row.seeds)} seed{'s' if len(row.seeds) > 1 else ''}"
    bounds = f"{_signed(row.low, digits)} to {_signed(row.high, digits)}"
    interval = f"{100 * comparison.level:g} % interval {bounds}, {seeds}"
    verdict = f"{row.verdict} than {comparison.baseline}"
    if row.verdict == "no difference shown":
        verdict = row.verdict
        if len(row.seeds) == 1:
            verdict += " (one seed cannot tell seed noise from an effect)"
        elif not row.low <= 0 <= row.high:
            verdict += " (corrected for the number of arms)"
    name = f"{comparison.kind} {_NAMES[row.metric]}"
    change = f"{_signed(row.difference, digits)}{relative}"
    return f"{row.arm}: {name} {base} → {mean}, {change} ({interval}): {verdict}."


def _number(value: float, digits: int) -> str:
    """As tables of results have it: .353, not 0.353."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("0") if digits > 1 else text


def _signed(value: float, digits: int, *, zero: bool = False) -> str:
    text = f"{abs(value):.{digits}f}" if zero else _number(abs(value), digits)
    sign = "" if not float(text) else "−" if value < 0 else "+"
    return sign + text
