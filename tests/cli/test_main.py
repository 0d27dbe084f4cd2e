"""The commands as a user types them: what they print, what they write, how they fail."""

from __future__ import annotations

import io
import json
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

import nnmfaug as na
from nnmfaug.cli.main import main

ROWS = [(f"e{i}", f"r{i % 3}", f"e{(i * 7 + 1) % 40}") for i in range(40)] + [("e1", "r0", "e0")]


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str | Path, cwd: Path) -> Done:
    """Run a command as its script would, without the cost of a new process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), chdir(cwd), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["nnmfaug", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
    return Done(int(stop.value.code or 0), out.getvalue(), err.getvalue())


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    path = tmp_path / "graph.tsv"
    na.write_triples(na.KnowledgeGraph.from_labels(ROWS), path)
    return path


@pytest.fixture
def bad_file(tmp_path: Path) -> Path:
    path = tmp_path / "bad.tsv"
    path.write_text("a\tr\tb\nshort\tr\nc\tr\td\n" + "x\ty\n" * 12)
    return path


def test_help_and_version_need_no_graph(tmp_path: Path) -> None:
    shown = run("--help", cwd=tmp_path)
    assert shown.returncode == 0
    assert all(command in shown.stdout for command in ("stats", "split", "convert", "datasets"))
    assert run("--version", cwd=tmp_path).stdout == f"nnmfaug {na.__version__}\n"


def test_stats_prints_tables_for_people_and_json_for_machines(tmp_path: Path) -> None:
    people = run("stats", "umls", cwd=tmp_path)
    assert people.returncode == 0
    assert "135 entities, 46 relations" in people.stdout
    assert "affects" in people.stdout
    machine = json.loads(run("stats", "umls", "--json", cwd=tmp_path).stdout)
    assert machine["n_entities"] == 135
    assert [split["triples"] for split in machine["splits"]] == [5216, 652, 661]
    assert len(machine["relations"]) == 46


def test_a_bad_line_stops_with_its_place_and_nothing_is_written(bad_file: Path, tmp_path: Path) -> None:
    for arguments in (("stats", bad_file), ("convert", bad_file, "out.csv"), ("split", bad_file, "-o", "out")):
        before = sorted(tmp_path.iterdir())
        done = run(*arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith(f"error: {bad_file}:2: 2 columns, expected 3")
        assert done.stderr.count("columns, expected 3") == 10
        assert "13 bad lines, the first ten shown" in done.stderr
        assert "--bad-lines skip" in done.stderr
        assert sorted(tmp_path.iterdir()) == before


def test_skipped_lines_go_to_a_rejects_file(bad_file: Path, tmp_path: Path) -> None:
    done = run("convert", bad_file, "out.tsv", "--bad-lines", "skip", cwd=tmp_path)
    assert done.returncode == 0
    assert na.read_triples(tmp_path / "out.tsv").labels() == [("a", "r", "b"), ("c", "r", "d")]
    rejects = (tmp_path / "bad.tsv.rejects.tsv").read_text().splitlines()
    assert rejects[0] == "file\tline\treason\ttext"
    assert rejects[1] == f'{bad_file}\t2\t2 columns, expected 3\t"short\tr"'
    assert len(rejects) == 14
    chosen = run("stats", bad_file, "--bad-lines", "skip", "--rejects", "mine.tsv", cwd=tmp_path)
    assert "mine.tsv" in chosen.stderr
    assert (tmp_path / "mine.tsv").exists()


def test_split_writes_the_same_folder_twice_and_keeps_every_name_in_train(
    graph_file: Path, tmp_path: Path
) -> None:
    arguments = ("split", graph_file, "--valid", "5%", "--test", "4", "--seed", "3", "-o", "parts")
    assert run(*arguments, cwd=tmp_path).returncode == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "parts").iterdir()}
    assert run(*arguments, cwd=tmp_path).returncode == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "parts").iterdir()} == first
    splits = na.read_splits(tmp_path / "parts")
    assert (len(splits.valid), len(splits.test)) == (2, 4)
    assert splits.together().digest() == na.read_triples(graph_file).digest()
    used = na.KnowledgeGraph.from_labels(splits.train.labels()).vocabulary
    assert used == splits.vocabulary


@pytest.mark.parametrize("share", ["5", "0.05", "150%", "-1%", "x%", "5%%"])
def test_a_share_is_a_percentage_or_a_number(graph_file: Path, tmp_path: Path, share: str) -> None:
    done = run("split", graph_file, "--valid", share, "--test", "1", "-o", "parts", cwd=tmp_path)
    assert (done.returncode == 0) == (share == "5")
    if share != "5":
        assert done.returncode == 2
        assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize("name", ["x.tsv", "x.txt.gz", "x.csv.zst", "x.parquet", "x.nt.bz2"])
def test_convert_there_and_back_is_the_same_graph(graph_file: Path, tmp_path: Path, name: str) -> None:
    prefix = ("--prefix", "https://example.org/")
    assert run("convert", graph_file, name, *prefix, cwd=tmp_path).returncode == 0
    assert run("convert", name, "back.tsv", *prefix, cwd=tmp_path).returncode == 0
    assert (tmp_path / "back.tsv").read_bytes() == graph_file.read_bytes()


def test_convert_between_layouts_keeps_the_splits(tmp_path: Path) -> None:
    for source, layout in (("umls", "libkge"), ("libkge", "openke"), ("openke", "dglke"), ("dglke", "pykeen")):
        assert run("convert", source, layout, "--layout", layout, cwd=tmp_path).returncode == 0
    before, after = na.read_splits("umls"), na.read_splits(tmp_path / "pykeen")
    assert [graph.digest() for _, graph in before.items()] == [graph.digest() for _, graph in after.items()]


def test_where_splits_and_files_are_confused_the_message_shows_the_way(graph_file: Path, tmp_path: Path) -> None:
    folder = run("convert", graph_file, "folder", cwd=tmp_path)
    assert folder.returncode == 2
    assert f"nnmfaug split {graph_file} --valid 5% --test 10% --seed 0 -o folder" in folder.stderr
    one_file = run("convert", "umls", "all.tsv", cwd=tmp_path)
    assert one_file.returncode == 2
    assert "--split" in one_file.stderr
    assert run("convert", "umls", "all.tsv", "--split", "all", cwd=tmp_path).returncode == 0
    assert len(na.read_triples(tmp_path / "all.tsv")) == 6529
    again = run("split", "umls", "-o", "parts", cwd=tmp_path)
    assert again.returncode == 2
    assert "split already" in again.stderr


def test_datasets_are_listed_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    listed = json.loads(run("datasets", "--json", cwd=tmp_path).stdout)
    assert [row["name"] for row in listed] == ["nations", "kinships", "umls", "dl50a", "wn18rr", "fb15k-237"]
    assert all(row["here"] for row in listed[:3])
    done = run("datasets", "fetch", "wn18", cwd=tmp_path)
    assert done.returncode == 2
    assert "wn18rr" in done.stderr


def test_nothing_in_a_name_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    evil = "\x1b[31mred\u202e[bold]x[/bold]"
    na.write_triples(na.KnowledgeGraph.from_labels([("a", evil, "b")]), tmp_path / "evil.tsv")
    done = run("stats", "evil.tsv", cwd=tmp_path)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout + done.stderr
    assert "[bold]x[/bold]" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("stats", "nowhere.tsv"), 2),
        (("stats",), 2),
        (("stats", "umls", "--relation", "5"), 2),
        (("frobnicate",), 2),
    ],
)
def test_bad_input_exits_with_two(tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_a_full_disk_or_forbidden_folder_is_told_without_a_traceback(graph_file: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("convert", graph_file, "file/out.tsv", cwd=tmp_path)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "file" in done.stderr


def test_no_command_overwrites_what_it_read(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    path = tmp_path / "d" / "train.txt"
    na.write_triples(na.KnowledgeGraph.from_labels(ROWS), path)
    before = path.read_bytes()
    (tmp_path / "link.tsv").symlink_to(path)
    for arguments in (("split", path, "-o", "d"), ("convert", path, path), ("convert", path, "link.tsv")):
        done = run(*arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert "would be overwritten" in done.stderr
    bad = tmp_path / "bad.tsv"
    bad.write_text("a\tr\tb\nshort\n")
    assert run("stats", bad, "--bad-lines", "skip", "--rejects", bad, cwd=tmp_path).returncode == 2
    assert bad.read_text() == "a\tr\tb\nshort\n"
    assert path.read_bytes() == before


def test_options_that_do_not_apply_are_refused(graph_file: Path, tmp_path: Path) -> None:
    for arguments in (
        ("convert", graph_file, "x.tsv", "--split", "test"),
        ("convert", graph_file, "x.tsv", "--layout", "libkge"),
        ("stats", graph_file, "--rejects", "x.tsv"),
        ("convert", "umls", "x", "--split", "train"),
    ):
        assert run(*arguments, cwd=tmp_path).returncode == 2
    assert not (tmp_path / "x.tsv").exists()


def test_what_was_dropped_is_said(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("a\tr\tb\na\tr\tb\n")
    assert "(1 repeated line dropped)" in run("convert", "g.tsv", "x.tsv", cwd=tmp_path).stderr
    assert json.loads(run("convert", "g.tsv", "x.tsv", "--json", cwd=tmp_path).stdout)["repeated"] == 1


def test_a_folder_with_the_name_of_a_data_set_is_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "umls").mkdir()
    assert "./umls" in run("stats", "umls", cwd=tmp_path).stderr


def test_stats_fit_a_narrow_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("stats", "umls", cwd=tmp_path).stdout.splitlines()
    assert max(map(len, shown)) <= 80
    assert any("tails/head" in line for line in shown)
