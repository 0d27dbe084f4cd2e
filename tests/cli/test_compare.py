"""``nnmfaug compare`` as a user types it."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from tests.cli.commands import Done, run as run_in


def run(*arguments: str) -> Done:
    return run_in(*arguments, cwd=Path.cwd())


SMALL = ("--model", "transe", "--epochs", "2", "--dim", "8", "--threads", "1", "--seeds", "2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "x"
    arms = [part for arm in ("nnmf", "random", "typed", "duplicate") for part in ("--arm", arm)]
    done = run("compare", "nations", *SMALL, *arms, "--raw", "-o", str(path))
    assert done.returncode == 0, done.stderr
    (path / "stdout.txt").write_text(done.stdout)
    return path


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A folder of splits of a small synthetic graph, to which rules are fitted quickly."""
    splits = na.split(na.family(60, seed=0).given, valid=0.05, test=0.1, seed=0)
    na.write_splits(splits, tmp_path / "family")
    return tmp_path / "family"


def test_a_comparison_ends_with_a_table_and_a_sentence_per_arm(folder: Path) -> None:
    text = (folder / "stdout.txt").read_text()
    assert "nations, transe, 2 seeds, filtered" in text
    assert "nations, transe, 2 seeds, raw" in text
    for name in ("mrr", "mr", "hits@1", "hits@3", "hits@5", "hits@10", "baseline"):
        assert name in text
    for arm in ("nnmf", "random", "typed", "duplicate"):
        assert f"\n{arm}: filtered MRR" in text
    assert "note: two seeds say little" in text


def test_the_mrr_of_groups_of_test_triples_follows_the_verdicts(folder: Path) -> None:
    text = (folder / "stdout.txt").read_text()
    document = json.loads((folder / "comparison.json").read_text())
    lines = text[text.index("\nduplicate: filtered MRR") :].splitlines()
    for key in ("by_seen", "by_derivable"):
        for group in document[key]:
            name = group["name"][:13]  # a narrow terminal wraps names, not numbers
            (line,) = [line for line in lines if line.startswith(f" {name}")]
            means = [group["differences"][0]["baseline_mean"], *(each["mean"] for each in group["differences"])]
            expected = [str(group["n_triples"]), *(f"{mean:.4f}" for mean in means)]
            assert line.split()[-len(expected) :] == expected
    assert any(line.startswith(" rarer entity") for line in lines)


def test_all_numbers_are_in_comparison_json(folder: Path) -> None:
    document = json.loads((folder / "comparison.json").read_text())
    assert len(document["filtered"]["rows"]) == len(document["raw"]["rows"]) == 4 * 6
    assert {row["verdict"] for row in document["filtered"]["rows"]} <= {"better", "worse", "no difference shown"}
    assert len(document["runs"]) == 10
    assert document["by_degree"]
    assert document["by_relation"]
    n_test = len(na.read_splits("nations").test)
    assert sum(group["n_triples"] for group in document["by_relation"]) == n_test
    assert document["settings"]["predictor"]["dim"] == 8


def test_a_second_start_trains_nothing_and_says_the_same(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*-seed*.json")}
    done = run("compare", "nations", *SMALL, "--arm", "nnmf", "-o", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["runs"]) == 4
    assert before == {path: path.stat().st_mtime_ns for path in folder.glob("*-seed*.json")}


def test_other_settings_in_the_same_folder_are_refused(folder: Path) -> None:
    done = run("compare", "nations", *SMALL[:2], "--epochs", "3", *SMALL[4:], "--arm", "nnmf", "-o", str(folder))
    assert done.returncode == 2
    assert "predictor epochs: 2 there, 3 now" in done.stderr
    assert "use another folder" in done.stderr


def test_triples_of_a_file_are_an_arm(tmp_path: Path) -> None:
    splits = na.read_splits("nations")
    extra = na.TypedTriples().fit(splits.train).sample(40, seed=0).graph
    na.write_triples(extra, tmp_path / "extra.tsv")
    arm = f"file:{tmp_path / 'extra.tsv'}"
    done = run("compare", "nations", *SMALL, "--arm", arm, "--amount", "30", "-o", str(tmp_path / "x"), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {entry["n_extra"] for entry in document["runs"]} == {0, 30}
    assert document["filtered"]["arms"] == [arm]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["nations", "--arm", "magic"],
            "--arm: unknown arm 'magic'; choose one of: baseline, auto, rules, nnmf, mixture, typed, random",
        ),
        (["nations", "--arm", "rulse"], "--arm: unknown arm 'rulse'; did you mean 'rules'?"),
        (["nations", "--model", "conve"], "unknown preset 'conve'; choose one of: transe, rotate"),
        (["nations", "--amount", "lots"], "--amount lots: must be a fraction such as 5%"),
        (["nations", "--arm", "file:none.tsv"], "--arm file:none.tsv: there is no such file of triples"),
        (["nations", "--exponent", "0"], "--exponent 0: must be above 0; --schedule constant"),
        (["nations", "--weight", "much"], "--weight much: must be a number from 0, or probability"),
        (["nations", "--weight", "-1"], "weight=-1.0: must be a number from 0"),
        (["nations", "--arm", "random", "--device", "cuda"], "device 'cuda': there is none here"),
        (["nothing-here", "--arm", "nnmf"], "nothing-here"),
        (["nations", "--arm", "file:"], "--arm file:: there is no such file of triples"),
        (["nations", "--amount", "0"], "amount=0: must be a fraction of train"),
        (["nations", "--clusters", "5"], "--clusters is for the arm nnmf"),
        (["nations", "--arm", "nnmf", "--clusters", "500"], "arm nnmf: n_clusters=500"),
        (
            ["nations", "--schedule", "step", "--exponent", "3"],
            "--exponent is for --schedule polynomial, not step",
        ),
        (["nations", "--model", "transe-paper", "--weight", "0.5"], "the margin loss takes no weights"),
    ],
)
def test_impossible_options_are_refused_with_the_reason_and_nothing_is_written(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = run("compare", *arguments, *SMALL[2:], "-o", str(tmp_path / "x"))
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "x").exists()


def test_the_amount_of_auto_is_a_limit(family: Path) -> None:
    done = run("compare", str(family), *SMALL, "--arm", "auto", "--amount", "5", "-o", str(family / "x"), "--json")
    assert done.returncode == 0, done.stderr
    assert {entry["n_extra"] for entry in json.loads(done.stdout)["runs"] if entry["arm"] == "auto"} == {5}


def test_the_default_arms_train_twice_and_end_with_advice(family: Path) -> None:
    done = run("compare", str(family), *SMALL, "-o", str(family / "x"))
    assert done.returncode == 0, done.stderr
    document = json.loads((family / "x" / "comparison.json").read_text())
    assert list(document["arms"]) == ["baseline", "auto", "rules-alone", "combined"]
    trained = {entry["arm"] for entry in document["runs"] if "train" in entry["seconds"]}
    assert trained == {"baseline", "auto"}
    lines = done.stdout.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("combined: filtered MRR"))
    assert lines[place + 1 : place + 4] == ["", document["advice"], ""]
    assert "note: combined, seed 0: " in done.stdout


def test_without_valid_the_default_arms_are_those_that_need_none(family: Path) -> None:
    (family / "valid.txt").unlink()
    (family / "manifest.json").unlink(missing_ok=True)
    done = run("compare", str(family), *SMALL, "-o", str(family / "x"), "--json")
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)["arms"]) == ["baseline", "auto", "rules-alone"]
    assert "note: no valid triples, on which rules are weighted against the model" in done.stderr
    done = run("compare", str(family), *SMALL, "--arm", "combined", "-o", str(family / "y"))
    assert done.returncode == 2
    assert "no valid triples, on which arm combined weights rules against the model: leave it out" in done.stderr
    assert not (family / "y").exists()


def test_settings_that_were_chosen_for_a_data_set_are_reported(tmp_path: Path) -> None:
    done = run("compare", "nations", *SMALL, "--arm", "baseline", "-o", str(tmp_path / "x"))
    assert "transe with the settings that were chosen for nations" in done.stderr


def test_too_much_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    done = run("compare", "nations", *SMALL, "--arm", "nnmf", "--amount", "1000000", "-o", str(tmp_path / "x"))
    assert done.returncode == 1
    assert "arm nnmf: 1,000,000 new triples were requested, but only" in done.stderr
    assert not (tmp_path / "x").exists()


def test_a_file_where_a_folder_is_needed_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    for out in (tmp_path / "x", tmp_path / "x" / "y"):
        done = run("compare", "nations", *SMALL, "-o", str(out))
        assert done.returncode == 2
        assert "this is a file, but a folder is needed" in done.stderr


def test_a_baseline_alone_has_its_numbers(tmp_path: Path) -> None:
    done = run("compare", "nations", *SMALL, "--arm", "baseline", "-o", str(tmp_path / "x"))
    assert done.returncode == 0
    assert "hits@10" in done.stdout
    assert len(json.loads((tmp_path / "x" / "comparison.json").read_text())["runs"]) == 2


@pytest.mark.parametrize("model", ["transe-paper", "rotate-paper"])
def test_the_settings_of_the_paper_are_a_model(tmp_path: Path, model: str) -> None:
    options = ("--model", model, *SMALL[2:], "--arm", "nnmf", "--weight", "1")
    done = run("compare", "nations", *options, "-o", str(tmp_path / "x"), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["settings"]["predictor"]["patience"] == 3
    assert {entry["n_extra"] for entry in document["runs"]} == {0, 159}


def test_held_out_triples_and_too_few_triples_of_a_file_are_reported(tmp_path: Path) -> None:
    splits = na.read_splits("nations")
    na.write_triples(na.KnowledgeGraph(splits.vocabulary, splits.test.triples[:25]), tmp_path / "leak.tsv")
    arm = f"file:{tmp_path / 'leak.tsv'}"
    done = run("compare", "nations", *SMALL, "--arm", arm, "--amount", "30", "-o", str(tmp_path / "x"))
    assert "only 25 triples were available, 30 were requested" in done.stdout
    assert "0 of its triples are in valid, 25 in test; if they were copied from there" in done.stdout


def test_one_file_has_nothing_to_compare_by(tmp_path: Path) -> None:
    (tmp_path / "all.tsv").write_text("a\tr\tb\nb\tr\tc\n")
    done = run("compare", str(tmp_path / "all.tsv"), "-o", str(tmp_path / "x"))
    assert done.returncode == 2
    assert "nnmfaug split" in done.stderr


@pytest.mark.parametrize("name", ["my data; echo x", "$(date)", "it's"])
def test_the_commands_of_advice_work_whatever_the_name(tmp_path: Path, name: str) -> None:
    """The folder has no test triples; the advice is to make some."""
    (tmp_path / name).mkdir()
    na.write_triples(na.read_splits("nations").train, tmp_path / name / "train.tsv")
    done = run_in("compare", name, "-o", "x", cwd=tmp_path)
    assert done.returncode == 2
    advice = done.stderr.partition("no test triples. To make some, run: ")[2]
    for command in advice.split(" && "):
        program, *arguments = shlex.split(command)
        assert program == "nnmfaug"
        assert run_in(*arguments, cwd=tmp_path).returncode == 0
    assert len(na.read_splits(tmp_path / "folder").test) == 159


@pytest.mark.parametrize("name", ["my triples.tsv", "$(date).tsv"])
def test_the_command_that_splits_a_file_works_whatever_its_name(tmp_path: Path, name: str) -> None:
    na.write_triples(na.read_splits("nations").train, tmp_path / name)
    done = run_in("compare", name, "-o", "x", cwd=tmp_path)
    _, *arguments = shlex.split(done.stderr.partition("To make some, run: ")[2])
    assert run_in(*arguments, cwd=tmp_path).returncode == 0
    assert len(na.read_splits(tmp_path / "folder").test) == 159


def test_a_device_that_is_not_there_is_refused_before_anything_is_fitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr(na.NNMFAug, "fit", lambda *_, **__: pytest.fail("it was fitted"))
    done = run("compare", "nations", *SMALL, "--arm", "nnmf", "--device", "cuda", "-o", str(tmp_path / "x"))
    assert (done.returncode, done.stderr.count("device 'cuda': there is none here; use auto or cpu")) == (2, 1)


def test_other_arms_of_the_folder_are_mentioned_and_threads_may_change(tmp_path: Path) -> None:
    folder = str(tmp_path / "runs")
    assert run("compare", "nations", "--arm", "random", *SMALL, "-o", folder).returncode == 0
    changed = [*SMALL[:-4], "--threads", "2", *SMALL[-2:]]
    done = run("compare", "nations", "--arm", "typed", *changed, "-o", folder)
    assert done.returncode == 0
    assert (
        "also contains runs of other arms, which comparison.json now omits; to compare all, add: --arm random"
        in done.stdout
    )


def test_the_gain_is_split_by_whether_a_test_triple_was_generated(tmp_path: Path) -> None:
    done = run("compare", "umls", "--arm", "rules", *SMALL, "-o", str(tmp_path / "runs"))
    assert done.returncode == 0
    numbers = re.search(r"were generated (\S+) → (\S+), on the others (\S+) → (\S+)", done.stdout)
    assert numbers is not None
    splits = na.read_splits("umls")
    generated = na.Rules().fit(splits.train).top(521).graph.contains(splits.test.triples)
    assert 0 < generated.sum() < len(generated)
    ranks = {
        arm: [run.ranks.filtered for run in na.load_runs(tmp_path / "runs") if run.arm == arm]
        for arm in ("baseline", "rules")
    }
    expected = [
        np.mean([(1 / filtered[part]).mean() for filtered in ranks[arm]])
        for part in (generated, ~generated)
        for arm in ranks
    ]
    assert [float(number) for number in numbers.groups()] == pytest.approx(expected, abs=1e-4)
