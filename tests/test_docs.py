"""Every command shown in README and docs runs and prints what is shown."""

from __future__ import annotations

import doctest
import itertools
import re
import shlex
from pathlib import Path

import pytest

import nnmfaug as na
from tests.cli.commands import run

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def shown_commands(page: Path) -> list[tuple[str, str]]:
    """Pairs of a command and the output shown below it."""
    lines = [line for block in BLOCK.findall(page.read_text()) for line in block.splitlines()]
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
    return [(lines[a][2:], "\n".join(lines[a + 1 : b])) for a, b in itertools.pairwise(starts)]


@pytest.mark.parametrize("page", [page for page in PAGES if shown_commands(page)], ids=lambda page: page.name)
def test_shown_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    for command, expected in shown_commands(page):
        program, *arguments = shlex.split(command)
        assert program == "nnmfaug"
        done = run(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        got = "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines())
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(expected + "\n", got + "\n", flags), got


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in page.read_text()], ids=lambda p: p.name)
def test_shown_programs_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    extra = na.TypedTriples().fit(na.read_splits("umls").train).sample(50, seed=0)
    na.write_triples(extra.graph, tmp_path / "extra.tsv")
    for program in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(program, page.name, "exec"), {})


def test_every_page_linked_from_the_readme_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    assert links
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []
