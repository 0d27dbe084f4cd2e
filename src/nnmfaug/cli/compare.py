"""The commands that train: compare arms with a baseline, and ask a trained model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import nnmfaug as na
from nnmfaug.cli.console import Justify, count, notes_of_warnings, output, plain, print_json, progress, say, table
from nnmfaug.cli.names import ARMS, Entry, ScheduleName, make_arm, piloted
from nnmfaug.cli.reading import AsJson, Reading, parse_amount
from nnmfaug.evaluation.metrics import METRICS, summary
from nnmfaug.evaluation.runs import by_arm

if TYPE_CHECKING:
    from nnmfaug.evaluation.comparison import Comparison
    from nnmfaug.evaluation.metrics import Kind

    Comparisons = dict[Kind, Comparison | None]


def compare(
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help="A data set's name, or a folder or archive with test triples.")
    ],
    reading: Reading,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder of the runs; started again, it goes on.")],
    arm: Annotated[
        list[str] | None,
        typer.Option(help=f"What to train: {ARMS}; may be repeated; else baseline, auto, random."),
    ] = None,
    model: Annotated[
        str, typer.Option(help="A preset: transe, rotate, rotate-long, transe-paper, rotate-paper.")
    ] = "rotate",
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds; 5 can tell small differences.")] = 5,
    amount: Annotated[
        str | None,
        typer.Option(
            help="Share of train or number of generated triples; else 10%, for auto all it finds, up to 100%."
        ),
    ] = None,
    exponent: Annotated[float, typer.Option(help="k of the (e/E)^k by which generated triples enter.")] = 2.0,
    schedule: Annotated[
        ScheduleName | None,
        typer.Option(
            help="Generated triples enter by (e/E)^k, all at once, or all at half time; else by (e/E)^k, those of "
            "rules and auto at once."
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            help="What a generated triple weighs in the loss: a number, or probability, for rules and auto; else "
            "that for auto, unless the loss is a margin, and 1 for the others."
        ),
    ] = None,
    clusters: Annotated[int | None, typer.Option(min=1, help="Clusters of the arm nnmf.")] = None,
    pilot: Annotated[
        bool,
        typer.Option(
            "--pilot",
            help="For auto: choose the amount by short runs judged on valid, from none to unlikely triples.",
        ),
    ] = False,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    dim: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    curve: Annotated[
        int | None, typer.Option(min=1, help="Rank valid every so many epochs, for comparison.json.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Show raw ranks besides filtered ones.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of torch; else 2.")] = None,
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="Where to train.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Train with and without generated triples, and say whether they helped."""
    from nnmfaug.evaluation.sentences import left_out, notes
    from nnmfaug.experiments.runner import check_experiment, run_experiment
    from nnmfaug.linkpred import TrainOptions
    from nnmfaug.linkpred.presets import is_tuned

    found = reading.read(dataset)
    if not isinstance(found, na.Splits):
        raise na.DataError(f"one file has no test triples: nnmfaug split {dataset} -o folder", path=dataset)
    given = list(dict.fromkeys(arm or ("baseline", "auto", "random")))
    if "baseline" not in given:
        given.insert(0, "baseline")
    if clusters is not None and "nnmf" not in given:
        msg = "--clusters is for the arm nnmf: add --arm nnmf"
        raise ValueError(msg)
    predictor = na.LinkPredictor.preset(model, found.name)
    if is_tuned(model, found.name):
        say(f"note: {model} with the settings that were chosen for {found.name}")
    predictor = replace(predictor, epochs=epochs or predictor.epochs, dim=dim or predictor.dim)
    n = None if amount is None else parse_amount(amount, len(found.train), "--amount")
    entry = Entry(schedule, exponent, weight or ("1" if predictor.loss == "margin" else None))
    arms = {name: make_arm(name, found, n, entry, clusters, reading.options) for name in given}
    options = TrainOptions(evaluate_every=curve, threads=threads, device=device)
    tried: na.Pilot | None = None
    if pilot:
        check_experiment(found, predictor, arms, range(seeds), out)  # before anything is trained
        arms["auto"], tried = piloted(found, predictor, arms.get("auto"), options, out)
    with progress(), notes_of_warnings():
        runs = run_experiment(found, predictor, arms, seeds=range(seeds), folder=out, options=options)
    alone = len(arms) == 1
    kinds: tuple[Kind, ...] = ("filtered", "raw")
    comparisons = {kind: None if alone else na.compare(runs, kind=kind) for kind in kinds}
    document = _write(runs, comparisons, found, out, tried)
    if as_json:
        print_json(document)
        return
    _show(runs, comparisons if raw else {"filtered": comparisons["filtered"]}, f"{found.name}, {model}")
    for note in (*notes(runs), *left_out(runs, out)):
        output().print(plain(f"note: {note}"), markup=False, soft_wrap=True)
    say(f"{out / 'comparison.json'}: all numbers; {out}: the runs")


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that compare wrote, or one of its models.")],
    relation: Annotated[str, typer.Option(help="The relation.")],
    head: Annotated[str | None, typer.Option(help="Ask for the tails of this head.")] = None,
    tail: Annotated[str | None, typer.Option(help="Ask for the heads of this tail.")] = None,
    arm: Annotated[
        str, typer.Option(help="Which arm's model in a folder of compare; of its first seed.")
    ] = "baseline",
    top: Annotated[int, typer.Option(min=1, help="How many answers.")] = 10,
    as_json: AsJson = False,
) -> None:
    """List the likeliest tails of a head, or heads of a tail; known triples are marked."""
    from nnmfaug.linkpred import load_trained

    trained = load_trained(_model(run, arm))
    answers = trained.predict(head=head, relation=relation, tail=tail, n=top)
    if as_json:
        print_json([answer._asdict() for answer in answers])
        return
    columns: list[tuple[str, Justify]] = [("", "right"), ("entity", "left"), ("score", "right"), ("", "left")]
    rows = [
        [str(place), answer.entity, f"{answer.score:.3f}", "known" if answer.known else ""]
        for place, answer in enumerate(answers, 1)
    ]
    title = f"({head}, {relation}, ?)" if tail is None else f"(?, {relation}, {tail})"
    output().print(table(title, columns, rows))


def _model(run: Path, arm: str) -> Path:
    if not run.is_dir():
        raise na.DataError("no such folder", path=run)
    if (run / "model.json").is_file():
        return run
    from nnmfaug.evaluation.runs import run_path
    from nnmfaug.experiments.runner import model_folder

    folder = model_folder(run, arm, 0)
    if not (folder / "model.json").is_file():
        there = sorted(path.parent.name.rpartition("-seed")[0] for path in run.glob("models/*/model.json"))
        hint = f"there are models of {', '.join(there)} (--arm)" if there else "nnmfaug compare -o makes one"
        if (json_of_run := run_path(run, arm, 0)).is_file():
            hint = f"delete {json_of_run.name}, and nnmfaug compare makes both again"
        raise na.DataError(f"no model of arm {arm!r} here; {hint}", path=run)
    return folder


def _write(
    runs: list[na.Run], comparisons: Comparisons, splits: na.Splits, folder: Path, pilot: na.Pilot | None
) -> dict[str, Any]:
    """Write comparison.json, and return its document."""
    compared = {kind: comparison for kind, comparison in comparisons.items() if comparison is not None}
    document = na.comparison_document(runs, splits, pilot=pilot, comparisons=compared)
    na.write_comparison(document, folder)
    return document


def _show(runs: list[na.Run], comparisons: Comparisons, title: str) -> None:
    from nnmfaug.evaluation.sentences import sentence

    n_seeds = count(len({run.seed for run in runs}), "seed")
    for kind, comparison in comparisons.items():
        output().print(_table(runs, comparison, f"{title}, {n_seeds}, {kind}", kind))
    if (comparison := comparisons["filtered"]) is not None:
        output().print()
        for line in [*sentence(comparison).splitlines(), *(f"note: {note}" for note in comparison.notes)]:
            output().print(plain(line), markup=False, soft_wrap=True)


def _table(runs: list[na.Run], comparison: Comparison | None, title: str, kind: Kind) -> Any:  # noqa: ANN401  # rich's
    """How many triples each arm adds, its means, and a mark where a difference to the baseline is shown."""
    marks = {"better": " ▲", "worse": " ▼", "no difference shown": "  "}
    columns: list[tuple[str, Justify]] = [("arm", "left"), ("added", "right")]
    columns += [(metric, "right") for metric in METRICS]
    rows = []
    for arm, own in by_arm(runs).items():
        metrics = [summary(getattr(run.ranks, kind)) for run in own]
        cells = [arm, f"{own[0].n_extra:,}"]
        for metric in METRICS:
            mean = sum(each[metric] for each in metrics) / len(metrics)
            known = comparison is not None and arm in comparison.arms
            mark = marks[comparison.row(arm, metric).verdict] if comparison and known else "  "
            cells.append(f"{mean:.1f}{mark}" if metric == "mr" else f"{mean:.4f}{mark}")
        rows.append(cells)
    return table(f"{title} (▲ better, ▼ worse than baseline)" if comparison else title, columns, rows)
