"""The command that trains with and without generated triples, and compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import nnmfaug as na
from nnmfaug.cli.console import Justify, count, notes_of_warnings, output, plain, print_json, progress, say, table
from nnmfaug.cli.method_options import Amount
from nnmfaug.cli.reading import AsJson, Reading, parse_amount

if TYPE_CHECKING:
    from nnmfaug.evaluation.comparison import Comparison
    from nnmfaug.evaluation.metrics import Kind
    from nnmfaug.experiments.arms import Arm, Weight
    from nnmfaug.linkpred.schedule import Schedule

ScheduleName = Literal["polynomial", "constant", "step"]
DEFAULT_ARMS = ("baseline", "auto", "random")
ARM_HELP = (
    "Arm to train: baseline, auto, rules, nnmf, mixture, typed, random, duplicate, inverse, concepts, or "
    "file:PATH. Repeatable. Default: baseline, auto, random."
)
MARKS = {"better": " ▲", "worse": " ▼", "no difference shown": "  "}


def compare(
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help="Name of a data set, or folder or archive with test triples.")
    ],
    reading: Reading,
    out: Annotated[Path, typer.Option("-o", "--out", help="Output folder. Run the same command again to resume.")],
    arm: Annotated[list[str] | None, typer.Option(help=ARM_HELP)] = None,
    model: Annotated[
        str, typer.Option(help="Model preset: transe, rotate, rotate-long, transe-paper, rotate-paper.")
    ] = "rotate",
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds; 5 can show small differences.")] = 5,
    amount: Amount = None,
    exponent: Annotated[
        float | None, typer.Option(help="k of the (e/E)^k by which generated triples enter. Default: 2.")
    ] = None,
    schedule: Annotated[
        ScheduleName | None,
        typer.Option(
            help="Generated triples enter by (e/E)^k, all at once, or all after half of the epochs. "
            "Default: constant for arms that rank their triples, polynomial otherwise."
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            help='Loss weight of a generated triple: a number, or "probability" (arms auto, rules, mixture). '
            'Default: "probability" for auto (1 with a margin loss), 1 otherwise.'
        ),
    ] = None,
    clusters: Annotated[int | None, typer.Option(min=1, help="Number of clusters (arm nnmf).")] = None,
    pilot: Annotated[
        bool,
        typer.Option("--pilot", help="Choose the amount of auto by short runs evaluated on valid."),
    ] = False,
    epochs: Annotated[int | None, typer.Option(min=1, help="Number of epochs. Default: the preset's.")] = None,
    dim: Annotated[int | None, typer.Option(min=1, help="Embedding dimension. Default: the preset's.")] = None,
    curve: Annotated[
        int | None, typer.Option(min=1, help="Evaluate on valid every N epochs, for comparison.json.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Show raw ranks besides filtered ones.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Number of torch threads. Default: 2.")] = None,
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="Device to train on.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Train with and without generated triples, and test whether they helped."""
    from nnmfaug.evaluation.document import compare_both, comparison_document, write_comparison
    from nnmfaug.experiments.arms import Fits

    splits = reading.read_splits(dataset)
    predictor = _predictor(model, splits.name, epochs, dim)
    entry = ArmOptions(amount, schedule, exponent, weight, clusters)
    names = entry.names(arm)
    arms = {name: entry.arm(name, splits.train, predictor, reading.options) for name in names}
    options = na.TrainOptions(evaluate_every=curve, threads=threads, device=device)
    fits = Fits()
    with progress(), notes_of_warnings():
        tried = _run_pilot(splits, predictor, arms, out, options, fits, seeds) if pilot else None
        runs = na.run_experiment(
            splits, predictor, arms, seeds=range(seeds), folder=out, options=options, fit=fits
        )
    comparisons = compare_both(runs)
    document = comparison_document(runs, splits, pilot=tried, comparisons=comparisons)
    path = write_comparison(document, out)
    if as_json:
        print_json(document)
    else:
        _show(runs, comparisons, f"{splits.name}, {model}", ("filtered", "raw") if raw else ("filtered",))
        _show_notes(runs, out)
        say(f"{path}: all numbers; {out}: the runs")


@dataclass(frozen=True)
class ArmOptions:
    """How generated triples enter training, as it was typed; None where an option was left out."""

    amount: str | None
    schedule: ScheduleName | None
    exponent: float | None
    weight: str | None
    clusters: int | None

    def __post_init__(self) -> None:
        if self.exponent is not None and not self.exponent > 0:
            msg = f"--exponent {self.exponent:g}: must be above 0; --schedule constant uses all triples at once"
            raise ValueError(msg)
        if self.exponent is not None and self.schedule not in (None, "polynomial"):
            msg = f"--exponent is for --schedule polynomial, not {self.schedule}"
            raise ValueError(msg)

    def names(self, arms: list[str] | None) -> list[str]:
        """Return the names of the arms, the baseline among them."""
        names = list(dict.fromkeys(arms or DEFAULT_ARMS))
        if "baseline" not in names:
            names.insert(0, "baseline")
        if self.clusters is not None and "nnmf" not in names:
            msg = "--clusters is for the arm nnmf: add --arm nnmf"
            raise ValueError(msg)
        return names

    def arm(
        self, name: str, train: na.KnowledgeGraph, predictor: na.LinkPredictor, options: na.ReadOptions
    ) -> Arm:
        """Return the arm of a name."""
        amount = None if self.amount is None else parse_amount(self.amount, len(train), "--amount")
        return na.find_arm(
            name,
            train,
            amount=amount,
            schedule=self._schedule(),
            weight=self._weight(predictor),
            clusters=self.clusters,
            options=options,
        )

    def _schedule(self) -> Schedule | None:
        if self.schedule == "constant":
            return na.Constant()
        if self.schedule == "step":
            return na.Step()
        if self.schedule is None and self.exponent is None:
            return None
        return na.Polynomial() if self.exponent is None else na.Polynomial(self.exponent)

    def _weight(self, predictor: na.LinkPredictor) -> Weight | None:
        if self.weight is None:
            return 1.0 if predictor.loss == "margin" else None
        if self.weight == "probability":
            return "probability"
        try:
            return float(self.weight)
        except ValueError:
            msg = f"--weight {self.weight}: must be a number from 0, or probability"
            raise ValueError(msg) from None


def _predictor(model: str, dataset: str, epochs: int | None, dim: int | None) -> na.LinkPredictor:
    from nnmfaug.linkpred.presets import is_tuned

    predictor = na.LinkPredictor.preset(model, dataset)
    if is_tuned(model, dataset):
        say(f"note: {model} with the settings that were chosen for {dataset}")
    return replace(predictor, epochs=epochs or predictor.epochs, dim=dim or predictor.dim)


def _run_pilot(
    splits: na.Splits,
    predictor: na.LinkPredictor,
    arms: dict[str, Any],
    folder: Path,
    options: na.TrainOptions,
    fits: Any,  # noqa: ANN401
    seeds: int,
) -> na.Pilot:
    """Let pilot runs choose the amount of the arm auto, and replace it."""
    from nnmfaug.experiments.pilots import choose_amount
    from nnmfaug.experiments.runner import check_experiment

    auto = arms.get("auto")
    if auto is None:
        msg = "--pilot is for the arm auto: add --arm auto"
        raise ValueError(msg)
    check_experiment(splits, predictor, arms, range(seeds), folder)  # before anything is trained
    arms["auto"], pilot = choose_amount(splits, predictor, auto, folder=folder, options=options, fit=fits)
    say(f"note: {pilot.reason}")
    return pilot


def _show(runs: list[na.Run], comparisons: Mapping[Kind, Comparison], title: str, kinds: Sequence[Kind]) -> None:
    """Print a table for each kind of ranks, and the verdict on each arm."""
    from nnmfaug.evaluation.sentences import sentence

    n_seeds = count(len({run.seed for run in runs}), "seed")
    for kind in kinds:
        output().print(_table(runs, comparisons.get(kind), f"{title}, {n_seeds}, {kind}", kind))
    filtered = comparisons.get("filtered")
    if filtered is not None:
        output().print()
        _print_lines([*sentence(filtered).splitlines(), *(f"note: {note}" for note in filtered.notes)])


def _show_notes(runs: list[na.Run], folder: Path) -> None:
    """Print what a reader should know besides the numbers."""
    from nnmfaug.evaluation.sentences import left_out, notes

    _print_lines([f"note: {note}" for note in (*notes(runs), *left_out(runs, folder))])


def _print_lines(lines: list[str]) -> None:
    for line in lines:
        output().print(plain(line), markup=False, soft_wrap=True)


def _table(runs: list[na.Run], comparison: Comparison | None, title: str, kind: Kind) -> object:
    """Show for each arm the number of added triples, its mean metrics, and a mark where they differ."""
    from nnmfaug.evaluation.metrics import METRICS

    columns: list[tuple[str, Justify]] = [("arm", "left"), ("added", "right")]
    columns += [(metric, "right") for metric in METRICS]
    rows = []
    for arm in dict.fromkeys(run.arm for run in runs):
        runs_of_arm = [run for run in runs if run.arm == arm]
        cells = [_cell(runs_of_arm, comparison, metric, kind) for metric in METRICS]
        rows.append([arm, f"{runs_of_arm[0].n_extra:,}", *cells])
    legend = " (▲ better, ▼ worse than baseline)" if comparison else ""
    return table(title + legend, columns, rows)


def _cell(runs: list[na.Run], comparison: Comparison | None, metric: str, kind: Kind) -> str:
    from nnmfaug.evaluation.metrics import summary

    values = [summary(run.ranks.of_kind(kind))[metric] for run in runs]
    mean = sum(values) / len(values)
    is_compared = comparison is not None and runs[0].arm in comparison.arms
    mark = MARKS[comparison.row(runs[0].arm, metric).verdict] if comparison and is_compared else "  "
    return f"{mean:.1f}{mark}" if metric == "mr" else f"{mean:.4f}{mark}"
