"""``stats``, ``split``, ``convert`` and ``datasets`` as a user types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import nnmfaug as na
from tests.cli.commands import run

ROWS = [(f"e{i}", f"r{i % 3}", f"e{(i * 7 + 1) % 40}") for i in range(40)] + [("e1", "r0", "e0")]


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    path = tmp_path / "graph.tsv"
    na.write_triples(na.KnowledgeGraph.from_labels(ROWS), path)
    return path


@pytest.fixture
def bad_file(tmp_path: Path) -> Path:
    """Two triples and 13 lines that are not triples."""
    path = tmp_path / "bad.tsv"
    path.write_text("a\tr\tb\nshort\tr\nc\tr\td\n" + "x\ty\n" * 12)
    return path


# stats


def test_stats_prints_tables_for_people(tmp_path: Path) -> None:
    done = run("stats", "umls", cwd=tmp_path)
    assert done.returncode == 0
    assert "135 entities, 46 relations" in done.stdout
    assert "affects" in done.stdout


def test_stats_prints_json_for_machines(tmp_path: Path) -> None:
    document = json.loads(run("stats", "umls", "--json", cwd=tmp_path).stdout)
    assert document["n_entities"] == 135
    assert [split["triples"] for split in document["splits"]] == [5216, 652, 661]
    assert len(document["relations"]) == 46


def test_stats_fit_a_narrow_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("stats", "umls", cwd=tmp_path).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("tails/head" in line for line in lines)


def test_nothing_in_a_name_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    evil = "\x1b[31mred\u202e[bold]x[/bold]"
    na.write_triples(na.KnowledgeGraph.from_labels([("a", evil, "b")]), tmp_path / "evil.tsv")
    done = run("stats", "evil.tsv", cwd=tmp_path)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout + done.stderr
    assert "[bold]x[/bold]" in done.stdout


def test_a_folder_with_the_name_of_a_data_set_is_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "umls").mkdir()
    assert "./umls" in run("stats", "umls", cwd=tmp_path).stderr


# lines that are not triples


@pytest.mark.parametrize(
    "command", [("stats",), ("convert", "out.csv"), ("split", "-o", "out")], ids=lambda c: c[0]
)
def test_a_bad_line_stops_with_its_place_and_nothing_is_written(
    bad_file: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    name, *arguments = command
    done = run(name, bad_file, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {bad_file}:2: 2 columns, expected 3")
    assert list(tmp_path.iterdir()) == [bad_file]


def test_the_first_ten_bad_lines_are_shown_and_all_are_counted(bad_file: Path, tmp_path: Path) -> None:
    message = run("stats", bad_file, cwd=tmp_path).stderr
    assert message.count("columns, expected 3") == 10
    assert "13 bad lines, the first ten shown" in message
    assert "--bad-lines skip" in message


def test_bad_lines_are_skipped_on_demand(bad_file: Path, tmp_path: Path) -> None:
    assert run("convert", bad_file, "out.tsv", "--bad-lines", "skip", cwd=tmp_path).returncode == 0
    assert na.read_triples(tmp_path / "out.tsv").labels() == [("a", "r", "b"), ("c", "r", "d")]


def test_skipped_lines_go_to_a_rejects_file(bad_file: Path, tmp_path: Path) -> None:
    run("stats", bad_file, "--bad-lines", "skip", cwd=tmp_path)
    rejects = (tmp_path / "bad.tsv.rejects.tsv").read_text().splitlines()
    assert rejects[0] == "file\tline\treason\ttext"
    assert rejects[1] == f'{bad_file}\t2\t2 columns, expected 3\t"short\tr"'
    assert len(rejects) == 14


def test_the_rejects_file_can_be_named(bad_file: Path, tmp_path: Path) -> None:
    done = run("stats", bad_file, "--bad-lines", "skip", "--rejects", "mine.tsv", cwd=tmp_path)
    assert "13 lines skipped; mine.tsv lists each with the reason" in done.stderr
    assert (tmp_path / "mine.tsv").exists()


# split


SPLIT = ("--valid", "5%", "--test", "4", "--seed", "3", "-o", "parts")


def test_the_same_seed_gives_the_same_bytes(graph_file: Path, tmp_path: Path) -> None:
    folders = []
    for _ in range(2):
        assert run("split", graph_file, *SPLIT, "--overwrite", cwd=tmp_path).returncode == 0
        folders.append({path.name: path.read_bytes() for path in (tmp_path / "parts").iterdir()})
    assert folders[0] == folders[1]


def test_a_split_keeps_every_triple_and_every_name_in_train(graph_file: Path, tmp_path: Path) -> None:
    run("split", graph_file, *SPLIT, cwd=tmp_path)
    splits = na.read_splits(tmp_path / "parts")
    assert (len(splits.valid), len(splits.test)) == (2, 4)
    assert splits.together().digest() == na.read_triples(graph_file).digest()
    names_of_train = na.KnowledgeGraph.from_labels(splits.train.labels()).vocabulary
    assert names_of_train == splits.vocabulary


@pytest.mark.parametrize("size", ["0.05", "150%", "-1%", "x%", "5%%"])
def test_the_size_of_a_split_is_a_percentage_or_a_number(graph_file: Path, tmp_path: Path, size: str) -> None:
    done = run("split", graph_file, "--valid", size, "--test", "1", "-o", "parts", cwd=tmp_path)
    assert done.returncode == 2
    assert not (tmp_path / "parts").exists()


def test_a_data_set_that_has_splits_is_not_split_again(tmp_path: Path) -> None:
    done = run("split", "umls", "-o", "parts", cwd=tmp_path)
    assert done.returncode == 2
    assert "umls: already split" in done.stderr


def test_a_quote_at_the_start_of_a_name_is_a_note_and_no_obstacle(tmp_path: Path) -> None:
    rows = [('"quoted"', "likes", "b"), *ROWS]
    na.write_triples(na.KnowledgeGraph.from_labels(rows), tmp_path / "graph.csv")
    done = run("split", "graph.csv", "-o", "parts", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("PyKEEN's reader would merge lines") == 1
    assert "--layout openke" in done.stderr
    assert sorted(na.read_splits(tmp_path / "parts").together().labels()) == sorted(rows)
    done = run("convert", "parts", "again", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("PyKEEN's reader would merge lines") == 1


def test_a_name_that_cannot_be_written_is_named_before_anything_is_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    na.write_triples(na.KnowledgeGraph.from_labels([("tab\there", "likes", "b"), *ROWS]), tmp_path / "graph.csv")
    monkeypatch.setattr(na, "split", None)
    done = run("split", "graph.csv", "-o", "parts", cwd=tmp_path)
    assert done.returncode == 2
    assert r"'tab\there'" in done.stderr
    assert not (tmp_path / "parts").exists()


# convert


@pytest.mark.parametrize("name", ["x.tsv", "x.txt.gz", "x.csv.zst", "x.parquet", "x.nt.bz2"])
def test_convert_there_and_back_is_the_same_graph(graph_file: Path, tmp_path: Path, name: str) -> None:
    prefix = ("--prefix", "https://example.org/")
    assert run("convert", graph_file, name, *prefix, cwd=tmp_path).returncode == 0
    assert run("convert", name, "back.tsv", *prefix, cwd=tmp_path).returncode == 0
    assert (tmp_path / "back.tsv").read_bytes() == graph_file.read_bytes()


def test_convert_between_layouts_keeps_the_splits(tmp_path: Path) -> None:
    for source, layout in (("umls", "libkge"), ("libkge", "openke"), ("openke", "dglke"), ("dglke", "pykeen")):
        assert run("convert", source, layout, "--layout", layout, cwd=tmp_path).returncode == 0
    before = na.read_splits("umls")
    after = na.read_splits(tmp_path / "pykeen")
    assert [graph.digest() for _, graph in before.items()] == [graph.digest() for _, graph in after.items()]


def test_one_graph_does_not_become_a_folder_and_the_message_shows_the_way(
    graph_file: Path, tmp_path: Path
) -> None:
    done = run("convert", graph_file, "folder", cwd=tmp_path)
    assert done.returncode == 2
    assert f"nnmfaug split {graph_file} --valid 5% --test 10% --seed 0 -o folder" in done.stderr


def test_splits_do_not_become_a_file_unless_one_is_named(tmp_path: Path) -> None:
    done = run("convert", "umls", "all.tsv", cwd=tmp_path)
    assert done.returncode == 2
    assert "--split" in done.stderr
    assert run("convert", "umls", "all.tsv", "--split", "all", cwd=tmp_path).returncode == 0
    assert len(na.read_triples(tmp_path / "all.tsv")) == 6529


def test_repeated_lines_are_reported_as_dropped(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("a\tr\tb\na\tr\tb\n")
    assert "(1 repeated line dropped)" in run("convert", "g.tsv", "x.tsv", cwd=tmp_path).stderr
    assert json.loads(run("convert", "g.tsv", "y.tsv", "--json", cwd=tmp_path).stdout)["repeated"] == 1


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("convert", "graph.tsv", "x.tsv", "--split", "test"), "--split"),
        (("convert", "graph.tsv", "x.tsv", "--layout", "libkge"), "--layout"),
        (("stats", "graph.tsv", "--rejects", "x.tsv"), "--rejects"),
        (("convert", "umls", "x", "--split", "train"), "x.tsv"),
    ],
)
@pytest.mark.usefixtures("graph_file")
def test_options_that_do_not_apply_are_refused_by_name(
    tmp_path: Path, arguments: tuple[str, ...], option: str
) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert option in done.stderr
    assert not (tmp_path / "x.tsv").exists()


# files that were read


@pytest.mark.parametrize(
    "arguments",
    [
        ("split", "d/train.txt", "-o", "d", "--overwrite"),
        ("convert", "d/train.txt", "d/train.txt", "--overwrite"),
        ("convert", "d/train.txt", "link.tsv", "--overwrite"),
        ("stats", "d/train.txt", "--bad-lines", "skip", "--rejects", "d/train.txt"),
    ],
)
def test_no_command_overwrites_a_file_that_it_read(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    path = tmp_path / "d" / "train.txt"
    path.parent.mkdir()
    na.write_triples(na.KnowledgeGraph.from_labels(ROWS), path)
    if arguments[0] == "stats":
        path.write_text(path.read_text() + "not a triple\n")
    (tmp_path / "link.tsv").symlink_to(path)
    before = path.read_bytes()
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "would be overwritten" in done.stderr
    assert path.read_bytes() == before


# datasets


def test_datasets_are_listed(tmp_path: Path) -> None:
    rows = json.loads(run("datasets", "--json", cwd=tmp_path).stdout)
    assert [row["name"] for row in rows] == ["nations", "kinships", "umls", "dl50a", "wn18rr", "fb15k-237"]
    assert all(row["here"] for row in rows[:3])


def test_an_unknown_data_set_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    done = run("datasets", "fetch", "wn18", cwd=tmp_path)
    assert done.returncode == 2
    assert "wn18rr" in done.stderr


def test_json_has_names_that_are_not_text(graph_file: Path) -> None:
    """A name of a file may have bytes that are not UTF-8; Python has half a surrogate pair for each."""
    program = "from nnmfaug.cli import main; main()"
    arguments = ("split", graph_file, "-o", "f\udcff", "--json")
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=graph_file.parent, capture_output=True, check=True
    )
    assert json.loads(done.stdout)["folder"] == "f\udcff"
