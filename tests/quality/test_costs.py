"""Thousands of relations: the estimates of precision and of single triples take bounded time and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adversarial import many_inverses, run_limited, write_rows


@pytest.mark.slow
@pytest.mark.parametrize("command", ["augment GRAPH -o extra.tsv", "estimate GRAPH --method rules"])
def test_graphs_of_many_relations_are_rated(command: str, tmp_path: Path) -> None:
    path = write_rows(many_inverses(5000), tmp_path / "graph.tsv")
    done = run_limited(*command.replace("GRAPH", path.name).split(), cwd=tmp_path, gigabytes=2)
    assert not done.returncode, done.stderr
