"""The command that queries a trained model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

import nnmfaug as na
from nnmfaug.cli.console import Justify, output, print_json, table
from nnmfaug.cli.reading import AsJson
from nnmfaug.core.commands import command


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Output folder of compare, or a saved model.")],
    relation: Annotated[str, typer.Option(metavar="NAME", help="The relation.")],
    head: Annotated[str | None, typer.Option(metavar="NAME", help="Predict the tails of this head.")] = None,
    tail: Annotated[str | None, typer.Option(metavar="NAME", help="Predict the heads of this tail.")] = None,
    arm: Annotated[
        str, typer.Option(metavar="ARM", help="Arm whose model is used, the one of the first seed.")
    ] = "baseline",
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Number of answers.")] = 10,
    as_json: AsJson = False,
) -> None:
    """List the most probable tails of a head, or heads of a tail. Known triples are marked.

    A model combined with rules also gives the probability of each answer, what model and rules add to its score,
    and the best rule.
    """
    folder = _model(run, arm)
    show = _show_combined if _is_combined(folder) else _show_trained
    show(folder, _Question(head, relation, tail, top), as_json=as_json)


class _Question(NamedTuple):
    """What is asked."""

    head: str | None
    relation: str
    tail: str | None
    n: int

    def __str__(self) -> str:
        return f"({self.head or '?'}, {self.relation}, {self.tail or '?'})"


def _show_trained(folder: Path, question: _Question, *, as_json: bool) -> None:
    from nnmfaug.linkpred import load_trained

    answers = load_trained(folder).predict(**question._asdict())
    if as_json:
        print_json([answer._asdict() for answer in answers])
        return
    columns: list[tuple[str, Justify]] = [("", "right"), ("entity", "left"), ("score", "right"), ("", "left")]
    rows = [
        [str(place), answer.entity, f"{answer.score:.3f}", _known(answer.known)]
        for place, answer in enumerate(answers, 1)
    ]
    output().print(table(str(question), columns, rows))


def _show_combined(folder: Path, question: _Question, *, as_json: bool) -> None:
    from nnmfaug.linkpred import load_combined

    answers = load_combined(folder).predict(**question._asdict())
    if as_json:
        print_json([_as_json(answer) for answer in answers])
        return
    columns: list[tuple[str, Justify]] = [
        ("", "right"),
        ("entity", "left"),
        ("probability", "right"),
        ("score", "right"),
        ("= model", "right"),
        ("+ rules", "right"),
        ("", "left"),
        ("best rule", "left"),
    ]
    rows = [
        [
            str(place),
            answer.entity,
            "" if answer.probability is None else f"{answer.probability:.3f}",
            f"{answer.score:.2f}",
            f"{answer.from_model:.2f}",
            f"{answer.from_rules:.2f}",
            _known(answer.known),
            "" if answer.evidence is None else answer.evidence.reason,
        ]
        for place, answer in enumerate(answers, 1)
    ]
    output().print(table(str(question), columns, rows))


def _known(known: bool) -> str:
    return "known" if known else ""


def _as_json(answer: na.CombinedAnswer) -> dict[str, object]:
    evidence = None if answer.evidence is None else asdict(answer.evidence)
    return {**answer._asdict(), "evidence": evidence}


def _model(run: Path, arm: str) -> Path:
    from nnmfaug.experiments.runner import model_folder

    if not run.is_dir():
        raise na.DataError("no such folder", path=run)
    if _is_model(run):
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

    return _is_model(model_folder(run, arm, 0))


def _is_model(folder: Path) -> bool:
    from nnmfaug.linkpred.storage import DOCUMENT

    return (folder / DOCUMENT).is_file() or _is_combined(folder)


def _is_combined(folder: Path) -> bool:
    from nnmfaug.linkpred.combined_storage import DOCUMENT

    return (folder / DOCUMENT).is_file()
