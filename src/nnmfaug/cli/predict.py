"""The command that queries a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import nnmfaug as na
from nnmfaug.cli.console import Justify, output, print_json, table
from nnmfaug.cli.reading import AsJson
from nnmfaug.core.commands import command


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Output folder of compare, or one of its models.")],
    relation: Annotated[str, typer.Option(metavar="NAME", help="The relation.")],
    head: Annotated[str | None, typer.Option(metavar="NAME", help="Predict the tails of this head.")] = None,
    tail: Annotated[str | None, typer.Option(metavar="NAME", help="Predict the heads of this tail.")] = None,
    arm: Annotated[
        str, typer.Option(metavar="ARM", help="Arm whose model is used, the one of the first seed.")
    ] = "baseline",
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Number of answers.")] = 10,
    as_json: AsJson = False,
) -> None:
    """List the most probable tails of a head, or heads of a tail. Known triples are marked."""
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
    from nnmfaug.experiments.runner import model_folder

    if not run.is_dir():
        raise na.DataError("no such folder", path=run)
    if (run / "model.json").is_file():
        return run
    if not _has_model(run, arm):
        raise na.DataError(f"no model of arm {arm!r} here; {_hint(run, arm)}", path=run)
    return model_folder(run, arm, 0)


def _hint(run: Path, arm: str) -> str:
    from nnmfaug.evaluation.runs import run_path

    run_file = run_path(run, arm, 0)
    if run_file.is_file():
        return f"delete {run_file.name} and run nnmfaug compare again, which trains it anew"
    arms = dict.fromkeys(each.arm for each in na.load_runs(run) if _has_model(run, each.arm))
    if arms:
        options = " or ".join(command("--arm", each) for each in arms)
        return f"there are models of other arms: pass {options}"
    return f"to train one, run: {command('nnmfaug', 'compare', 'DATASET', '-o', run)}"


def _has_model(run: Path, arm: str) -> bool:
    from nnmfaug.experiments.runner import model_folder

    return (model_folder(run, arm, 0) / "model.json").is_file()
