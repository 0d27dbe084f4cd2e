"""Files of synthetic graphs: the same triples as in memory, all files or none."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import nnmfaug as na
from nnmfaug.graph.synthetic import Blueprint
from nnmfaug.io.synthetic import PREFIX, synthetic_files, write_synthetic

BLUEPRINT = Blueprint(300, 2_000, 8, seed=1)


@pytest.mark.parametrize("name", ["g.tsv", "g.csv.gz", "g.nt", "g.parquet"])
def test_the_files_have_the_triples_of_the_graph_in_memory(name: str, tmp_path: Path) -> None:
    manifest = write_synthetic(BLUEPRINT, tmp_path / name)
    world = na.synthesize(300, 2_000, 8, seed=1)
    given, missing, _ = synthetic_files(tmp_path / name)
    for path, graph in ((given, world.given), (missing, world.missing)):
        labels = na.read_triples(path, na.ReadOptions(prefix=PREFIX)).labels()
        assert set(labels) == set(graph.labels())
    assert (manifest["triples"], manifest["missing"]) == (len(world.given), len(world.missing))
    assert manifest["rules"] == [asdict(rule) for rule in world.rules]


@pytest.mark.parametrize("name", ["g.tsv", "g.parquet"])
def test_the_same_arguments_are_the_same_bytes(name: str, tmp_path: Path) -> None:
    contents = []
    for folder in ("one", "other"):
        write_synthetic(BLUEPRINT, tmp_path / folder / name)
        contents.append([path.read_bytes() for path in synthetic_files(tmp_path / folder / name)])
    assert contents[0] == contents[1]


def test_the_manifest_makes_the_graph_again(tmp_path: Path) -> None:
    write_synthetic(BLUEPRINT, tmp_path / "g.tsv")
    settings = json.loads((tmp_path / "g.tsv.json").read_text())["settings"]
    assert Blueprint(**settings) == BLUEPRINT


def test_files_that_exist_stay_unless_they_may_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "g.missing.tsv").write_text("precious")
    with pytest.raises(FileExistsError):
        write_synthetic(BLUEPRINT, tmp_path / "g.tsv")
    assert [path.name for path in tmp_path.iterdir()] == ["g.missing.tsv"]
    write_synthetic(BLUEPRINT, tmp_path / "g.tsv", overwrite=True)
    assert "precious" not in (tmp_path / "g.missing.tsv").read_text()


def test_a_format_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(na.DataError, match=r"name the file \.tsv"):
        write_synthetic(BLUEPRINT, tmp_path / "g.ttl")
