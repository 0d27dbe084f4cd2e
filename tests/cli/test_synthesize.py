"""nnmfaug synthesize: three files, a table of rules, and errors that name the option."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import run

SMALL = ("--entities", "0.3k", "--triples", "2000", "--relations", "8")


def test_it_writes_three_files_and_shows_the_rules(tmp_path: Path) -> None:
    done = run("synthesize", *SMALL, "-o", "g.tsv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.missing.tsv", "g.tsv", "g.tsv.json"]
    assert "r2_inverse(x, y) ← r0_links(y, x)" in done.stdout
    n_lines = len((tmp_path / "g.tsv").read_text().splitlines())
    assert f"g.tsv: {n_lines:,} triples" in done.stderr


def test_json_is_the_manifest(tmp_path: Path) -> None:
    done = run("synthesize", *SMALL, "-o", "g.tsv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout) == json.loads((tmp_path / "g.tsv.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--triples", "many"), "--triples many: must be a number such as 2000"),
        (("--entities", "10"), "n_entities=10: must be at least 40"),
        (("--entities", "50", "--triples", "1M"), "too many for 50 entities and 30 relations"),
        (("--missing", "1"), "--missing"),
        (("-o", "g.ttl"), "g.ttl: name the file .tsv"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = run("synthesize", "-o", "g.tsv", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_second_run_says_what_to_do(tmp_path: Path) -> None:
    for _ in range(2):
        done = run("synthesize", *SMALL, "-o", "g.tsv", cwd=tmp_path)
    assert done.returncode == 2
    assert "g.tsv: exists already: name another, or pass --overwrite" in done.stderr
