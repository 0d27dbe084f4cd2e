"""The commands that train: compare arms with a baseline, and ask a trained model."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import nnmfaug as na
from nnmfaug.cli_reading import AsJson, Reading, parse_amount
from nnmfaug.console import Justify, notes_of_warnings, output, plain, print_json, progress, say, table

if TYPE_CHECKING:
    from nnmfaug.comparison import Comparison
    from nnmfaug.experiment import Arms, Augmenter
    from nnmfaug.schedule import Schedule

ARMS = "baseline, nnmf, random, typed, duplicate, or file:PATH"


def compare(
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help="A data set's name, or a folder or archive with test triples.")
    ],
    reading: Reading,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder of the runs; started again, it goes on.")],
    arm: Annotated[list[str] | None, typer.Option(help=f"What to train: {ARMS}; may be repeated.")] = None,
    model: Annotated[str, typer.Option(help="A preset: transe, rotate, transe-paper, rotate-paper.")] = "rotate",
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds; 5 can tell small differences.")] = 5,
    amount: Annotated[str, typer.Option(help="Share of train (10%) or number of generated triples.")] = "10%",
    exponent: Annotated[float, typer.Option(help="k of the (e/E)^k by which generated triples enter.")] = 2.0,
    schedule: Annotated[
        Literal["polynomial", "constant", "step"],
        typer.Option(help="Generated triples enter by (e/E)^k, all at once, or all at half time."),
    ] = "polynomial",
    weight: Annotated[float, typer.Option(help="What a generated triple weighs in the loss.")] = 1.0,
    clusters: Annotated[int | None, typer.Option(min=1, help="Clusters of the arm nnmf.")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    dim: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    curve: Annotated[int | None, typer.Option(min=1, help="Look at valid every so many epochs.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Show raw ranks besides filtered ones.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of torch; else 2.")] = None,
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="Where to train.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Train with and without generated triples, and say whether they helped."""
    from nnmfaug.experiment import run_experiment
    from nnmfaug.linkpred import TrainOptions

    found = reading.read(dataset)
    if not isinstance(found, na.Splits):
        raise na.DataError(f"one file has no test triples: nnmfaug split {dataset} -o folder", path=dataset)
    given = list(dict.fromkeys(arm or ("baseline", "nnmf", "random")))
    if "baseline" not in given:
        given.insert(0, "baseline")
    predictor = na.LinkPredictor.preset(model, found.name)
    predictor = replace(predictor, epochs=epochs or predictor.epochs, dim=dim or predictor.dim)
    n = parse_amount(amount, len(found.train), "--amount")
    arms = _arms(given, found, n, _schedule(schedule, exponent), weight, clusters)
    options = TrainOptions(evaluate_every=curve, threads=threads, device=device)
    with progress(), notes_of_warnings():
        runs = run_experiment(found, predictor, arms, seeds=range(seeds), folder=out, options=options)
    document = _judge(runs, found, out)
    if as_json:
        print_json(document)
    elif len(arms) > 1:
        _show(runs, found.name, model, raw=raw)
        say(f"{out / 'comparison.json'}: all numbers; {out}: the runs")


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that compare wrote, or one of its models.")],
    relation: Annotated[str, typer.Option(help="The relation.")],
    head: Annotated[str | None, typer.Option(help="Ask for the tails of this head.")] = None,
    tail: Annotated[str | None, typer.Option(help="Ask for the heads of this tail.")] = None,
    arm: Annotated[str, typer.Option(help="Which arm's model, in a folder of compare.")] = "baseline",
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
    if (run / "model.json").is_file():
        return run
    from nnmfaug.experiment import model_folder

    folder = model_folder(run, arm, 0)
    if not (folder / "model.json").is_file():
        there = sorted(path.parent.name.rpartition("-seed")[0] for path in run.glob("models/*/model.json"))
        hint = f"there are models of {', '.join(there)} (--arm)" if there else "nnmfaug compare -o makes one"
        raise na.DataError(f"no model of arm {arm!r} here; {hint}", path=run)
    return folder


def _schedule(name: str, exponent: float) -> Schedule:
    schedules: dict[str, Schedule] = {
        "polynomial": na.Polynomial(exponent),
        "constant": na.Constant(),
        "step": na.Step(),
    }
    return schedules[name]


def _arms(
    names: list[str], splits: na.Splits, n: int, schedule: Schedule, weight: float, clusters: int | None
) -> Arms:
    return {
        name: None
        if name == "baseline"
        else na.Augmentation(_augmenter(name, splits, clusters), n, schedule, weight)
        for name in names
    }


def _augmenter(name: str, splits: na.Splits, clusters: int | None) -> Augmenter:
    from nnmfaug.experiment import Duplicate, Given
    from nnmfaug.recipe import default_clusters

    if name.startswith("file:"):
        path = name.removeprefix("file:")
        return Given(na.read_generated(path, splits.vocabulary), path)
    if name == "nnmf":
        return na.NNMFAug(cluster=na.Agglomerative(clusters or default_clusters(splits.train)))
    controls: dict[str, Augmenter] = {
        "random": na.RandomTriples(),
        "typed": na.TypedTriples(),
        "duplicate": Duplicate(),
    }
    if name not in controls:
        msg = f"--arm {name}: must be one of {ARMS}"
        raise ValueError(msg)
    return controls[name]


def _judge(runs: list[na.Run], splits: na.Splits, folder: Path) -> dict[str, Any]:
    """Compare, write comparison.json, and return what is in it."""
    from nnmfaug.breakdowns import breakdown
    from nnmfaug.comparison import to_json
    from nnmfaug.io.files import replacing
    from nnmfaug.wording import sentence

    if len({run.arm for run in runs}) == 1:
        say("only the baseline was run: add --arm to compare something with it")
        return {"runs": len(runs)}
    comparison = na.compare(runs)
    document: dict[str, Any] = {
        "sentence": sentence(comparison).splitlines(),
        "filtered": to_json(comparison),
        "raw": to_json(na.compare(runs, kind="raw")),
        "by_relation": [asdict(group) for group in breakdown(runs, splits, by="relation")],
        "by_degree": [asdict(group) for group in breakdown(runs, splits, by="degree")],
        "runs": [{"arm": r.arm, "seed": r.seed, "n_extra": r.n_extra, "seconds": r.seconds} for r in runs],
        "settings": runs[0].settings,
    }
    with replacing(folder / "comparison.json") as draft:
        draft.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return document


def _show(runs: list[na.Run], name: str, model: str, *, raw: bool) -> None:
    from nnmfaug.wording import sentence

    comparison = na.compare(runs)
    output().print(_table(comparison, f"{name}, {model}, {len(comparison.seeds)} seeds, filtered"))
    if raw:
        output().print(_table(na.compare(runs, kind="raw"), f"{name}, {model}, raw"))
    output().print()
    for line in [*sentence(comparison).splitlines(), *(f"note: {note}" for note in comparison.notes)]:
        output().print(plain(line), markup=False, soft_wrap=True)


def _table(comparison: Comparison, title: str) -> Any:  # noqa: ANN401  # rich's
    """Means of each arm, the difference to the baseline beneath, and a mark where it is shown."""
    marks = {"better": "▲", "worse": "▼", "no difference shown": " "}
    columns: list[tuple[str, Justify]] = [("arm", "left")]
    columns += [(metric, "right") for metric in comparison.metrics]
    rows = []
    for summary in comparison.summaries:
        cells = [
            f"{summary.means[metric]:.1f}" if metric == "mr" else f"{summary.means[metric]:.4f}"
            for metric in comparison.metrics
        ]
        if summary.arm != comparison.baseline:
            verdicts = [comparison.row(summary.arm, metric).verdict for metric in comparison.metrics]
            cells = [f"{cell} {marks[verdict]}" for cell, verdict in zip(cells, verdicts, strict=True)]
        else:
            cells = [f"{cell}  " for cell in cells]
        rows.append([summary.arm, *cells])
    return table(f"{title} (▲ better, ▼ worse than {comparison.baseline})", columns, rows)
