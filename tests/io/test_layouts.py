"""Folders and archives: what one library writes, another reads, and it is the same graph."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import cast, get_args

import pytest
from hypothesis import given, strategies as st

import nnmfaug as na
from nnmfaug.io.datasets import DATASETS
from nnmfaug.io.formats.ids import LIBKGE, OPENKE, IdLayout
from nnmfaug.io.write import Layout
from tests.io.files import FEW
from tests.io.toys import ROWS, TEST, TRAIN, VALID, digests, graph, splits_of, text, toy_folder
from tests.names import TAME_NAMES, WILD_NAMES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


LAYOUTS: tuple[Layout, ...] = get_args(Layout)


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_back_the_triples_and_names(
    nasty_splits: na.Splits, tmp_path: Path, layout: Layout
) -> None:
    na.write_splits(nasty_splits, tmp_path / "out", layout)
    back = na.read_splits(tmp_path / "out")
    assert digests(back) == digests(nasty_splits)
    assert back.vocabulary == nasty_splits.vocabulary
    assert [part.report.duplicates for _, part in back.items() if part.report] == [0, 0, 0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("word", ["base", "prefix", "Base camp", "PREFIX code", "@base", "@prefix"])
def test_entities_with_the_words_of_turtle_are_only_names(tmp_path: Path, layout: Layout, word: str) -> None:
    given_splits = splits_of([(word, "r", "x"), ("x", "r", word)], [("x", "r", "x")], [(word, "r", word)])
    na.write_splits(given_splits, tmp_path / "out", layout)
    assert digests(na.read_splits(tmp_path / "out")) == digests(given_splits)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_names_in_angle_brackets_are_kept_or_refused(tmp_path: Path, layout: Layout) -> None:
    row = ("<http://a.org/a>", "<http://a.org/p>", "<http://a.org/b> .")
    given_splits = splits_of([row], [row], [row])
    try:
        na.write_splits(given_splits, tmp_path / "out", layout)
    except na.DataError:
        return
    assert digests(na.read_splits(tmp_path / "out")) == digests(given_splits)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_empty_split_is_still_empty_after_reading(tmp_path: Path, layout: Layout) -> None:
    given_splits = splits_of(TRAIN, (), TEST)
    na.write_splits(given_splits, tmp_path / "out", layout)
    back = na.read_splits(tmp_path / "out")
    assert [len(part) for _, part in back.items()] == [2, 0, 1]
    assert digests(back) == digests(given_splits)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_first_triple_that_looks_like_a_header_is_kept(tmp_path: Path, layout: Layout) -> None:
    row = ("from", "type", "to")
    given_splits = splits_of([row, ("z", "type", "z")], [row], [row])
    try:
        na.write_splits(given_splits, tmp_path / "out", layout, overwrite=True)
    except na.DataError:
        return
    back = na.read_splits(tmp_path / "out")
    assert back.train.labels() == [row, ("z", "type", "z")]
    assert back.valid.labels() == back.test.labels() == [row]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_triple_like_a_header_behind_one_like_a_comment_is_kept(tmp_path: Path, layout: Layout) -> None:
    rows = [("# first", "r", "x"), ("from", "type", "to"), ("z", "r", "z")]
    given_splits = splits_of(rows, rows, rows)
    na.write_splits(given_splits, tmp_path / "out", layout, overwrite=True)
    assert digests(na.read_splits(tmp_path / "out")) == digests(given_splits)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_writing_twice_gives_the_same_bytes(nasty_splits: na.Splits, tmp_path: Path, layout: Layout) -> None:
    na.write_splits(nasty_splits, tmp_path / "out", layout)
    before = files_below(tmp_path)
    na.write_splits(nasty_splits, tmp_path / "out", layout, overwrite=True)
    assert files_below(tmp_path) == before
    assert len(before) == {"libkge": 7, "openke": 6}.get(layout, 4)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_with_other_files_is_refused_and_left_alone(
    toy: na.Splits, tmp_path: Path, layout: Layout
) -> None:
    (tmp_path / "thesis.docx").write_text("dear")
    with pytest.raises(na.DataError, match=r"thesis\.docx.*new folder"):
        na.write_splits(toy, tmp_path, layout)
    assert files_below(tmp_path) == {"thesis.docx": b"dear"}


def test_writing_splits_over_a_file_is_refused(toy: na.Splits, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("dear")
    with pytest.raises(na.DataError, match="this is a file"):
        na.write_splits(toy, tmp_path / "file")
    assert files_below(tmp_path) == {"file": b"dear"}


def test_an_unknown_layout_is_refused_with_the_known_ones(toy: na.Splits, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"kegg.*pykeen"):
        na.write_splits(toy, tmp_path / "out", cast("Layout", "kegg"))
    assert not (tmp_path / "out").exists()


BAD_NAMES: list[tuple[Layout, str]] = [
    *((layout, name) for layout in LAYOUTS for name in ("a\tb", "a\nb", "a\rb", "\n")),
]
TRAPPED_NAMES: list[tuple[Layout, str, str]] = [
    ("pykeen", '"quoted', "PyKEEN's reader would merge lines"),
    ("pykeen", '"', "PyKEEN's reader would merge lines"),
    ("dglke", " a", "DGL-KE's reader would strip white space"),
    ("dglke", "a ", "DGL-KE's reader would strip white space"),
    ("dglke", "\u3000a", "DGL-KE's reader would strip white space"),
]


@pytest.mark.parametrize(("layout", "name"), BAD_NAMES)
def test_a_name_the_layout_cannot_hold_is_refused_and_nothing_is_left(
    tmp_path: Path, layout: Layout, name: str
) -> None:
    bad = splits_of(TRAIN, VALID, [("a", "likes", name)])
    with pytest.raises(na.DataError, match=re.escape(repr(name))):
        na.write_splits(bad, tmp_path / "new", layout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("layout", "name", "effect"), TRAPPED_NAMES)
def test_a_name_that_another_reader_would_change_is_written_with_a_warning(
    tmp_path: Path, layout: Layout, name: str, effect: str
) -> None:
    trapped = splits_of([*TRAIN, (name, "likes", "b")], VALID, [("a", "likes", name)])
    with pytest.warns(UserWarning, match=re.escape(repr(name)) + ".*" + effect) as caught:
        na.write_splits(trapped, tmp_path / "new", layout)
    assert len(caught) == 1
    assert digests(na.read_splits(tmp_path / "new")) == digests(trapped)


def test_all_names_that_another_reader_would_change_are_one_warning(tmp_path: Path) -> None:
    rows = [(f'"{i}', "likes", f'"{i + 1}') for i in range(5)]
    with pytest.warns(UserWarning, match="and 5 more like it") as caught:
        na.write_splits(splits_of(rows, rows[:1], rows[1:]), tmp_path / "new")
    assert len(caught) == 1


LOOKALIKES = [
    ("from", "type", "to"),
    ("node1", "label", "node2"),
    ("object", "predicate", "subject"),
    ("<x:a>", "<x:b>", "<x:c> ."),
    ("_:a", "<x:b>", "_:c ."),
    ("@prefix x: <x:a>", "r", "b"),
    ("base <x", "r", "b"),
    ("\ufeffa", "r", "b"),
    ("PK\x03\x04", "r", "b"),
    ("PAR1\x15", "r", "b"),
    ("BZh91AY&SY", "r", "b"),
]
"""Triples that would be something else at the top of a file."""


@pytest.mark.parametrize("layout", ["pykeen", "dglke"])
@pytest.mark.parametrize("row", LOOKALIKES, ids=lambda row: row[0])
def test_a_triple_that_would_be_something_else_at_the_top_goes_below_another(
    tmp_path: Path, layout: Layout, row: tuple[str, str, str]
) -> None:
    rows = sorted([row, ("\u9999", "r", "b"), ("#x", "r", "b")])
    lookalikes = splits_of(rows, rows, rows)
    na.write_splits(lookalikes, tmp_path / "out", layout)
    assert digests(na.read_splits(tmp_path / "out")) == digests(lookalikes)
    if layout == "pykeen":
        assert pykeen_rows(tmp_path / "out" / "train.txt") == rows


@pytest.mark.parametrize("row", LOOKALIKES, ids=lambda row: row[0])
def test_a_triple_that_would_be_something_else_and_is_alone_is_refused_with_the_cure(
    tmp_path: Path, row: tuple[str, str, str]
) -> None:
    alone = splits_of([("a", "r", "b"), row], [row])
    with pytest.raises(na.DataError, match=r"valid\.txt: .*--layout openke"):
        na.write_splits(alone, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    na.write_splits(alone, tmp_path / "out", "openke")
    assert digests(na.read_splits(tmp_path / "out")) == digests(alone)


def test_names_of_zeros_between_letters_are_not_read_as_another_encoding(tmp_path: Path) -> None:
    rows = [(f"\0a\0b\0{i}\0", "\0r\0s\0", f"\0c\0d\0{i}\0") for i in range(100)]
    zeros = splits_of(rows, rows[:1], [("a", "r", "b"), *rows])
    try:
        na.write_splits(zeros, tmp_path / "out")
    except na.DataError:
        return
    assert digests(na.read_splits(tmp_path / "out")) == digests(zeros)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_refused_name_leaves_no_new_parent_folders(tmp_path: Path, layout: Layout) -> None:
    with pytest.raises(na.DataError, match="name"):
        na.write_splits(splits_of([("a\tb", "r", "c")]), tmp_path / "new" / "newer", layout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_refused_name_leaves_the_files_of_before(toy: na.Splits, tmp_path: Path, layout: Layout) -> None:
    na.write_splits(toy, tmp_path, layout)
    before = files_below(tmp_path)
    with pytest.raises(na.DataError, match="name"):
        na.write_splits(splits_of(TRAIN, VALID, [("a\nb", "likes", "c")]), tmp_path, layout, overwrite=True)
    assert files_below(tmp_path) == before


def pykeen_rows(path: Path) -> list[tuple[str, str, str]]:
    from pykeen.triples import TriplesFactory

    factory = TriplesFactory.from_path(path)
    entities, relations = factory.entity_id_to_label, factory.relation_id_to_label
    return sorted((entities[h], relations[r], entities[t]) for h, r, t in factory.mapped_triples.tolist())


def test_pykeen_reads_the_triples_of_its_layout(nasty_splits: na.Splits, tmp_path: Path) -> None:
    na.write_splits(nasty_splits, tmp_path / "out", "pykeen")
    for name, part in nasty_splits.items():
        assert pykeen_rows(tmp_path / "out" / f"{name}.txt") == sorted(part.labels())


@pytest.mark.parametrize(
    "row",
    [
        ("head", "relation", "tail"),
        ("from", "type", "to"),
        ("\ufeffa", "r", "\ufeffb"),
        ("a\0", "r", "a"),
        ("a", "r", 'b"'),
        ("a", '"r', "b"),
        ("a", "r", "\x1a"),
        (" ", " ", " "),
    ],
)
def test_pykeen_reads_an_odd_triple_as_written_or_somebody_says_no(
    tmp_path: Path, row: tuple[str, str, str]
) -> None:
    given_splits = splits_of([row], [row], [row])
    try:
        na.write_splits(given_splits, tmp_path / "out", "pykeen", overwrite=True)
    except (na.DataError, UserWarning):
        assert not (tmp_path / "out").exists()
        return
    assert pykeen_rows(tmp_path / "out" / "train.txt") == [row]


names = st.text(st.sampled_from("ab\"' \t\n\r\0,#<>\\.\x0b\x1c\x85\xa0\u2028\ufeffé"), min_size=1, max_size=4)
rows = st.lists(st.tuples(names, names, names), min_size=1, max_size=6)


@FEW
@given(rows=rows)
def test_pykeen_reads_any_names_as_written_or_somebody_says_no(
    rows: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("any") / "out"
    try:
        na.write_splits(splits_of(rows, rows, rows), folder, "pykeen", overwrite=True)
    except (na.DataError, UserWarning):
        return
    assert pykeen_rows(folder / "train.txt") == sorted(set(rows))


nasty_names = st.sampled_from((*TAME_NAMES, *WILD_NAMES)) | names
nasty_rows = st.lists(st.tuples(nasty_names, nasty_names, nasty_names) | st.sampled_from(LOOKALIKES), min_size=1)


@FEW
@given(rows=nasty_rows, layout=st.sampled_from(LAYOUTS))
@pytest.mark.filterwarnings("ignore:.*reader would:UserWarning")
def test_any_names_are_read_back_or_refused(
    rows: list[tuple[str, str, str]], layout: Layout, tmp_path_factory: pytest.TempPathFactory
) -> None:
    given_splits = splits_of(rows, rows[:1], rows[-1:])
    folder = tmp_path_factory.mktemp("any") / "out"
    try:
        na.write_splits(given_splits, folder, layout, overwrite=True)
    except na.DataError:
        assert not folder.exists()
        return
    back = na.read_splits(folder)
    assert digests(back) == digests(given_splits)
    assert back.vocabulary == given_splits.vocabulary


def test_dglke_reads_the_triples_of_its_layout(nasty_splits: na.Splits, tmp_path: Path) -> None:
    na.write_splits(nasty_splits, tmp_path / "out", "dglke")
    for name, part in nasty_splits.items():  # as KGDatasetUDDRaw.read_triple does, "htr" turned to "hrt"
        with (tmp_path / "out" / f"{name}.txt").open(encoding="utf-8") as file:
            assert [tuple(line.strip().split("\t")) for line in file] == part.labels()


def test_libkge_reads_the_triples_of_its_layout(nasty_splits: na.Splits, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is needed to check dataset.yaml")
    na.write_splits(nasty_splits, tmp_path, "libkge")
    config = yaml.safe_load((tmp_path / "dataset.yaml").read_text(encoding="utf-8"))["dataset"]
    assert config["name"] == "nasty"

    def load_map(key: str) -> list[str]:  # as kge.Dataset.load_map does
        assert config[f"files.{key}.type"] == "map"
        with (tmp_path / config[f"files.{key}.filename"]).open(encoding="utf-8") as file:
            pairs = [line.split("\t", maxsplit=1) for line in file]
        assert [int(number) for number, _ in pairs] == list(range(len(pairs)))
        return [name.rstrip("\n") for _, name in pairs]

    entities, relations = load_map("entity_ids"), load_map("relation_ids")
    assert (len(entities), len(relations)) == (config["num_entities"], config["num_relations"])
    for name, part in nasty_splits.items():
        assert config[f"files.{name}.type"] == "triples"
        assert config[f"files.{name}.split_type"] == name
        lines = (tmp_path / config[f"files.{name}.filename"]).read_text().splitlines()
        assert len(lines) == config[f"files.{name}.size"]
        ids = [[int(cell) for cell in line.split("\t")] for line in lines]
        assert [(entities[h], relations[r], entities[t]) for h, r, t in ids] == part.labels()


def test_openke_reads_the_triples_of_its_layout(nasty_splits: na.Splits, tmp_path: Path) -> None:
    na.write_splits(nasty_splits, tmp_path, "openke")

    def counted(name: str) -> list[str]:
        first, *lines = (tmp_path / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        assert int(first) == len(lines)
        return lines

    def load_names(name: str) -> dict[int, str]:
        pairs = [line.split("\t") for line in counted(name)]
        return {int(number): label for label, number in pairs}

    entities, relations = load_names("entity2id.txt"), load_names("relation2id.txt")
    assert sorted(entities) == list(range(len(entities)))
    for name, part in nasty_splits.items():
        ids = [[int(cell) for cell in line.split()] for line in counted(f"{name}2id.txt")]  # head, tail, relation
        assert [(entities[h], relations[r], entities[t]) for h, t, r in ids] == part.labels()


def test_dicts_beside_the_splits_add_names(tmp_path: Path) -> None:
    toy_folder(tmp_path)
    (tmp_path / "entities.dict").write_text("0\tunused\n1\ta\n2\tb\n3\tc\n")
    (tmp_path / "relations.dict").write_text("0\tlikes\n1\tknows\n2\tanother\n")
    found = na.read_splits(tmp_path)
    assert found.vocabulary.entities == ("a", "b", "c", "unused")
    assert found.vocabulary.relations == ("another", "knows", "likes")
    assert found.train.labels() == TRAIN


def test_an_error_in_a_split_names_its_file_and_line(tmp_path: Path) -> None:
    toy_folder(tmp_path)
    (tmp_path / "valid.txt").write_text("a\tlikes\tb\na\tlikes\n")
    with pytest.raises(na.DataError, match=re.escape(f"{tmp_path / 'valid.txt'}:2: 2 columns, expected 3")):
        na.read_splits(tmp_path)


def pack_tar(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.add(folder, arcname=".")
    return buffer.getvalue()


def pack_zip(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return buffer.getvalue()


PACKERS: dict[str, Callable[[Path], bytes]] = {
    "toy.tar": pack_tar,
    "toy.tar.gz": lambda folder: gzip.compress(pack_tar(folder)),
    "toy.tgz": lambda folder: gzip.compress(pack_tar(folder)),
    "toy.tar.bz2": lambda folder: bz2.compress(pack_tar(folder)),
    "toy.tar.zst": lambda folder: zstd.compress(pack_tar(folder)),
    "toy.zip": pack_zip,
    "toy": pack_zip,
}


@pytest.mark.parametrize("nested", ["", "data", "data/raw/toy"])
@pytest.mark.parametrize("name", PACKERS)
def test_an_archive_of_a_folder_is_read_as_the_folder(
    toy: na.Splits, tmp_path: Path, name: str, nested: str
) -> None:
    toy_folder(tmp_path / "in" / nested, "train.txt", "valid.txt.gz", "test.csv")
    (tmp_path / "in" / "__MACOSX" / "data").mkdir(parents=True)
    (tmp_path / "in" / "__MACOSX" / "data" / "._train.txt").write_bytes(b"\0\5\x16\7")
    path = tmp_path / name
    path.write_bytes(PACKERS[name](tmp_path / "in"))
    found = na.read_splits(path)
    assert digests(found) == digests(toy)
    assert found.name == "toy"
    assert found.train.report is not None
    assert found.train.report.path == str(path / nested / "train.txt")


@pytest.mark.parametrize("layout", ["libkge", "openke"])
def test_an_archive_of_a_layout_of_ids_is_read(toy: na.Splits, tmp_path: Path, layout: Layout) -> None:
    na.write_splits(toy, tmp_path / "in", layout)
    (tmp_path / "toy.tar.gz").write_bytes(gzip.compress(pack_tar(tmp_path / "in")))
    assert digests(na.read_splits(tmp_path / "toy.tar.gz")) == digests(toy)


def test_an_error_in_an_archive_names_archive_member_and_line(tmp_path: Path) -> None:
    toy_folder(tmp_path / "in" / "data")
    (tmp_path / "in" / "data" / "test.txt").write_text("a\tlikes\tb\noops\n")
    path = tmp_path / "toy.tar.gz"
    path.write_bytes(gzip.compress(pack_tar(tmp_path / "in")))
    with pytest.raises(na.DataError, match=re.escape(f"{path}/data/test.txt:2: 1 column, expected 3")):
        na.read_splits(path)


def test_an_archive_without_train_is_an_error_that_names_the_archive(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "readme.txt").write_text("hello")
    (tmp_path / "toy.zip").write_bytes(pack_zip(tmp_path / "in"))
    with pytest.raises(na.DataError, match=re.escape(f"{tmp_path / 'toy.zip'}: ") + ".*found none"):
        na.read_splits(tmp_path / "toy.zip")


def test_a_single_file_is_an_error_that_shows_the_command_to_split_it(tmp_path: Path) -> None:
    path = tmp_path / "all.tsv"
    path.write_text(text(ROWS))
    with pytest.raises(na.DataError, match=re.escape(f"nnmfaug split {path} ")):
        na.read_splits(path)
    found = na.read_any(path)
    assert isinstance(found, na.KnowledgeGraph)
    assert found == graph(*ROWS)


def test_three_paths_are_train_valid_and_test(toy: na.Splits, tmp_path: Path) -> None:
    toy_folder(tmp_path, "one.tsv", "two.csv", "three.txt.gz")
    found = na.read_splits([tmp_path / "one.tsv", str(tmp_path / "two.csv"), tmp_path / "three.txt.gz"])
    assert digests(found) == digests(toy)
    assert found.vocabulary == toy.vocabulary


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_another_number_of_paths_is_refused_with_the_number(tmp_path: Path, count: int) -> None:
    path = tmp_path / "one.tsv"
    path.write_text(text(TRAIN))
    with pytest.raises(ValueError, match=f"{count} paths: must be three"):
        na.read_splits([path] * count)


def test_a_known_name_wins_over_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toy: na.Splits) -> None:
    toy_folder(tmp_path / "nations")
    monkeypatch.chdir(tmp_path)
    assert na.read_splits("nations").train.n_entities == 14
    assert na.read_splits("NATIONS").name == "nations"
    assert digests(na.read_splits("./nations")) == digests(toy)
    assert digests(na.read_splits(Path("nations"))) == digests(toy)


def test_an_unknown_path_is_an_error_that_lists_the_data_sets(tmp_path: Path) -> None:
    with pytest.raises(na.DataError, match="no such file or folder") as caught:
        na.read_splits(str(tmp_path / "nowhere"))
    assert all(name in str(caught.value) for name in DATASETS)
    assert str(tmp_path / "nowhere") in str(caught.value)


@pytest.mark.parametrize("layout", [OPENKE, LIBKGE], ids=lambda layout: layout.name)
@pytest.mark.parametrize("missing", ["entities", "relations"])
def test_a_missing_file_of_names_is_named_in_its_folder_or_archive(
    toy: na.Splits, tmp_path: Path, layout: IdLayout, missing: str
) -> None:
    folder = tmp_path / "toy"
    na.write_splits(toy, folder, cast("Layout", layout.name))
    name = getattr(layout, missing)
    (folder / name).unlink()
    archive = tmp_path / "toy.tar.gz"
    archive.write_bytes(gzip.compress(pack_tar(folder)))
    train = layout.split.format("train")
    for source, place in ((folder, folder), (archive, archive), ([folder / train] * 3, folder)):
        with pytest.raises(na.DataError, match=r"no such file, but .* are both needed") as caught:
            na.read_splits(source)
        assert caught.value.path == str(place / name)


@pytest.mark.parametrize("name", ["train2id.txt", "relation2id.txt", "train.txt"])
def test_a_pipe_in_a_folder_does_not_wait_for_a_writer(toy: na.Splits, tmp_path: Path, name: str) -> None:
    na.write_splits(toy, tmp_path, "openke")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(na.DataError, match=r"regular|no such file|train"):
        na.read_splits([tmp_path / "train2id.txt", tmp_path / name, tmp_path / "test2id.txt"])
