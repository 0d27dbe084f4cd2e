"""``nnmfaug predict`` as a user types it."""

import json
import shlex
import shutil
from pathlib import Path

import pytest

import nnmfaug as na
from tests.cli.commands import run
from tests.linkpred.toy_models import made_up_prior
from tests.saved import change_json

SMALL = ("--model", "transe", "--epochs", "2", "--dim", "8", "--threads", "1", "--seeds", "1")
QUESTION = ("--head", "china", "--relation", "embassy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models of baseline and random."""
    path = tmp_path_factory.mktemp("runs") / "x"
    done = run("compare", "nations", *SMALL, "--arm", "random", "-o", path, cwd=path.parent)
    assert done.returncode == 0, done.stderr
    return path


def test_tails_of_a_head_are_listed(folder: Path) -> None:
    done = run("predict", folder, *QUESTION, "--top", "3", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "(china, embassy, ?)" in done.stdout


def test_heads_of_a_tail_are_listed_and_known_ones_marked(folder: Path) -> None:
    arguments = ("--tail", "china", "--relation", "embassy", "--arm", "random", "--json")
    answers = json.loads(run("predict", folder, *arguments, cwd=folder).stdout)
    assert len(answers) == 10
    assert set(answers[0]) == {"entity", "score", "known"}
    assert any(answer["known"] for answer in answers)


def test_the_folder_of_one_model_will_do(folder: Path) -> None:
    model = folder / "models" / "random-seed0"
    by_folder = run("predict", model, *QUESTION, cwd=folder)
    by_arm = run("predict", folder, *QUESTION, "--arm", "random", cwd=folder)
    assert by_folder.stdout == by_arm.stdout != ""


@pytest.fixture(scope="module")
def combined(folder: Path) -> Path:
    """A folder with a model combined with rules that are made up."""
    splits = na.read_splits("nations")
    trained = na.load_trained(folder / "models" / "baseline-seed0")
    na.Combined.fit(trained, made_up_prior(splits), splits).save(folder.parent / "combined")
    return folder.parent / "combined"


def test_answers_of_a_combined_model_have_a_probability_and_two_addends(combined: Path) -> None:
    done = run("predict", combined, *QUESTION, "--top", "14", cwd=combined)
    assert done.returncode == 0, done.stderr
    title, header, *rows = done.stdout.splitlines()
    assert title.strip() == "(china, embassy, ?)"
    assert header.split() == ["entity", "probability", "score", "=", "model", "+", "rules", "best", "rule"]
    answers = na.load_combined(combined).predict(head="china", relation="embassy", n=14)
    for row, answer in zip(rows, answers, strict=True):
        probability = "" if answer.probability is None else f"{answer.probability:.3f}"
        numbers = [f"{x:.2f}" for x in (answer.score, answer.from_model, answer.from_rules)]
        cells = [answer.entity, probability, *numbers, "known" if answer.known else ""]
        assert row.split()[1:] == [cell for cell in cells if cell]


def test_answers_by_rules_have_their_evidence(tmp_path: Path) -> None:
    train = na.read_splits("nations").train
    rules = na.Combined(None, na.ListedPrior(na.Rules(depth=1).fit(train)), train)
    rules.save(tmp_path / "rules")
    expected = rules.predict(head="china", relation="embassy", n=14)
    reasons = [answer.evidence.reason for answer in expected if answer.evidence]
    shown = run("predict", "rules", *QUESTION, "--top", "14", cwd=tmp_path).stdout
    assert [line.strip().rpartition("  ")[2] for line in shown.splitlines() if "←" in line] == reasons != []
    answers = json.loads(run("predict", "rules", *QUESTION, "--top", "14", "--json", cwd=tmp_path).stdout)
    assert [each["evidence"]["reason"] for each in answers if each["evidence"]] == reasons
    assert all(each["evidence"]["triples"] for each in answers if each["evidence"])
    fields = {"entity", "score", "known", "probability", "from_model", "from_rules", "evidence"}
    assert all(set(each) == fields for each in answers)


def test_answers_by_a_prior_of_rules_have_their_best_rules_and_where_these_apply(tmp_path: Path) -> None:
    train = na.family(40, seed=0).given
    na.Combined(None, na.fit_prior(train), train).save(tmp_path / "rules")
    head, relation, _ = train.labels()[0]
    question = ("--head", head, "--relation", relation, "--json")
    answers = json.loads(run("predict", "rules", *question, cwd=tmp_path).stdout)
    evidence = [answer["evidence"] for answer in answers if answer["evidence"]]
    assert max(len(each["rules"]) for each in evidence) == 3
    for each in evidence:
        confidences = [confidence for _, confidence in each["rules"]]
        assert confidences == sorted(confidences, reverse=True)
        assert each["rules"][0][0] == each["reason"]
        assert {tuple(triple) for triple in each["triples"]} <= set(train.labels())


def test_a_combined_model_of_an_arm_is_found(folder: Path, combined: Path, tmp_path: Path) -> None:
    copy = tmp_path / "x"
    shutil.copytree(folder, copy)
    shutil.copytree(combined, copy / "models" / "both-seed0")
    by_arm = run("predict", copy, *QUESTION, "--arm", "both", cwd=tmp_path)
    assert by_arm.stdout == run("predict", combined, *QUESTION, cwd=tmp_path).stdout != ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--head", "chinaa", "--relation", "embassy"), "did you mean 'china'"),
        (("--relation", "embassy"), "a head"),
        ((*QUESTION, "--arm", "auto"), "there are models of other arms: pass --arm baseline or --arm random"),
    ],
)
def test_a_question_without_an_answer_is_refused_with_the_reason(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run("predict", folder, *arguments, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr


def test_the_advice_names_arms_as_they_are_typed(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "x"
    shutil.copytree(folder, copy)
    triples = na.read_splits("nations").valid
    na.write_triples(triples, tmp_path / "my triples.tsv")
    arm = "file:my triples.tsv"
    assert run("compare", "nations", *SMALL, "--arm", arm, "-o", "x", cwd=tmp_path).returncode == 0
    done = run("predict", copy, *QUESTION, "--arm", "auto", cwd=tmp_path)
    options = done.stderr.partition("pass --arm baseline or ")[2].partition(" or ")[0]
    assert shlex.split(options) == ["--arm", arm]
    assert run("predict", copy, *QUESTION, *shlex.split(options), cwd=tmp_path).returncode == 0


def test_a_folder_without_a_model_is_refused_with_the_command_that_trains_one(tmp_path: Path) -> None:
    done = run("predict", tmp_path, *QUESTION, cwd=tmp_path)
    assert done.returncode == 2
    assert f"to train one, run: nnmfaug compare DATASET -o {tmp_path}" in done.stderr


def test_a_changed_model_is_refused_with_the_field(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(folder / "models" / "random-seed0", copy)
    change_json(copy / "model.json", lambda document: document | {"hidden": ["atlantis"]})
    done = run("predict", copy, *QUESTION, cwd=tmp_path)
    assert done.returncode == 2
    assert "model.json: not a model that this nnmfaug can read: train it again (hidden: not among" in done.stderr


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    done = run("predict", "nowhere", *QUESTION, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: nowhere: no such folder\n")


def test_a_model_that_is_gone_can_be_trained_again(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "x"
    shutil.copytree(folder, copy)
    shutil.rmtree(copy / "models" / "random-seed0")
    question = ("predict", copy, *QUESTION, "--arm", "random")
    done = run(*question, cwd=tmp_path)
    assert done.returncode == 2
    assert "delete random-seed0.json and run nnmfaug compare again" in done.stderr
    (copy / "random-seed0.json").unlink()
    assert run("compare", "nations", "--arm", "random", *SMALL, "-o", copy, cwd=tmp_path).returncode == 0
    assert run(*question, cwd=tmp_path).returncode == 0
