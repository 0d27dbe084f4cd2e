"""The command that trains with and without generated triples, and compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import nnmfaug as na
from nnmfaug.cli.arm_options import ARM_HELP, ArmOptions, ScheduleName
from nnmfaug.cli.comparison_tables import show_comparison
from nnmfaug.cli.console import notes_of_warnings, print_json, progress, say
from nnmfaug.cli.engine_options import Workers
from nnmfaug.cli.method_options import Strategy
from nnmfaug.cli.reading import AsJson, Reading
from nnmfaug.io.lock import locked

if TYPE_CHECKING:
    from nnmfaug.experiments.arms import AnyArm, Augmentation


def compare(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET", help="Name of a data set, or a folder or archive with train, valid and test."
        ),
    ],
    reading: Reading,
    workers: Workers,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", metavar="FOLDER", help="Output folder. Run the same command again to resume."),
    ],
    arm: Annotated[list[str] | None, typer.Option(metavar="ARM", help=ARM_HELP)] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Model preset: transe, rotate, rotate-long, transe-paper, rotate-paper, transe-paper-tuned, "
            "rotate-paper-tuned.",
        ),
    ] = "rotate",
    seeds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of seeds; use 5 or more to detect small differences.")
    ] = 5,
    amount: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help="Fraction of train (5%) or number of triples (5000). Default: 10%; for auto, every triple "
            "above the threshold, up to the size of train.",
        ),
    ] = None,
    exponent: Annotated[
        float | None,
        typer.Option(
            metavar="K",
            help="Exponent k: epoch e of E uses the first (e/E)^k of the generated triples. Default: 2.",
        ),
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
            metavar="WEIGHT",
            help='Loss weight of a generated triple: a number, or "probability" (arms auto, rules, mixture). '
            'Default: "probability" for auto (1 with a margin loss), 1 otherwise.',
        ),
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of clusters (arm nnmf). Default: one per 20 entities with different relation "
            "counts, at most 50.",
        ),
    ] = None,
    clusterer: Annotated[
        Strategy | None,
        typer.Option(help="Clustering of entities (arm nnmf), as in augment. Default: ward."),
    ] = None,
    pilot: Annotated[
        bool,
        typer.Option("--pilot", help="Choose the amount of auto by short runs evaluated on valid."),
    ] = False,
    epochs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of epochs. Default: the preset's.")
    ] = None,
    dim: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Embedding dimension. Default: the preset's.")
    ] = None,
    curve: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Evaluate on valid every N epochs, for comparison.json.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Show raw ranks besides filtered ones.")] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of torch threads. Default: 2.")
    ] = None,
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="Device to train on.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Train with and without generated triples, and compare.

    Writes the runs and comparison.json to FOLDER.
    """
    from nnmfaug.evaluation.document import compare_both, comparison_document, write_comparison
    from nnmfaug.experiments.checks import check_experiment
    from nnmfaug.experiments.derivable import find_derivable

    arm_options = ArmOptions(amount, schedule, exponent, weight, clusters, clusterer)
    names = arm_options.names(arm)
    splits = reading.read_splits(dataset)
    predictor = _predictor(model, splits.name, epochs, dim)
    if arm is None:
        names = _possible(names, splits)
    arms = {name: arm_options.arm(name, splits.train, predictor, reading.options) for name in names}
    options = na.TrainOptions(curve, threads, device)
    check_experiment(splits, predictor, arms, range(seeds), out)
    with locked(out):
        with workers.in_use(), progress(), notes_of_warnings():
            workers.note_if_crowded(options.n_threads)
            outcome, runs = _run(splits, predictor, arms, seeds, out, options, pilot=pilot)
            derivable = find_derivable(splits.train, splits.test) if len(arms) > 1 else None
        comparisons = compare_both(runs)
        document = comparison_document(runs, splits, pilot=outcome, comparisons=comparisons, derivable=derivable)
        path = write_comparison(document, out)
    if as_json:
        print_json(document)
    else:
        show_comparison(runs, comparisons, document, f"{splits.name}, {model}", out, raw=raw)
        say(f"{path}: all numbers; {out}: the runs")


def _possible(names: list[str], splits: na.Splits) -> list[str]:
    """Leave out default arms that need valid triples, if there are none."""
    if len(splits.valid) or "combined" not in names:
        return names
    say("note: no valid triples, on which rules are weighted against the model; the arm combined is left out")
    return [name for name in names if name != "combined"]


def _predictor(model: str, dataset: str, epochs: int | None, dim: int | None) -> na.LinkPredictor:
    from nnmfaug.linkpred.presets import is_tuned

    predictor = na.LinkPredictor.preset(model, dataset)
    if is_tuned(model, dataset):
        say(f"note: {model} with the settings that were chosen for {dataset}")
    return replace(predictor, epochs=epochs or predictor.epochs, dim=dim or predictor.dim)


def _run(
    splits: na.Splits,
    predictor: na.LinkPredictor,
    arms: dict[str, AnyArm],
    n_seeds: int,
    folder: Path,
    options: na.TrainOptions,
    *,
    pilot: bool,
) -> tuple[na.Pilot | None, list[na.Run]]:
    """Run the pilot, if there is to be one, and the experiment; both fit auto once per seed."""
    from nnmfaug.experiments.arms import Fits
    from nnmfaug.experiments.pilots import choose_amount

    seeds = range(n_seeds)
    fits = Fits()
    outcome = None
    all_arms: dict[str, AnyArm | None] = {**arms}
    if pilot:
        auto = _arm_for_pilot(arms)
        all_arms["auto"], outcome = choose_amount(
            splits, predictor, auto, folder=folder, options=options, fit=fits
        )
        say(f"note: {outcome.reason}")
    runs = na.run_experiment(splits, predictor, all_arms, seeds=seeds, folder=folder, options=options, fit=fits)
    return outcome, runs


def _arm_for_pilot(arms: Mapping[str, AnyArm]) -> Augmentation:
    auto = arms.get("auto")
    if not isinstance(auto, na.Augmentation):
        msg = "--pilot is for the arm auto: add --arm auto"
        raise ValueError(msg)
    return auto
