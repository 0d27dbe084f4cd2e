"""README and docs: every command prints what is shown, every program runs, every link and public name exists."""

from __future__ import annotations

import doctest
import itertools
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import nnmfaug as na
from nnmfaug.experiments.methods import ARMS, METHODS, Method
from tests.cli.commands import run

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
SOURCE_FILE = re.compile(r"`((?:[a-z_]+/)+[a-z_]*\.pyi?)`")
CLUSTERS = {"dask_jobqueue": "SLURMCluster", "dask_kubernetes.operator": "KubeCluster"}
"""Modules that are not installed, and what the pages use of them."""


def one_worker(**_: object) -> object:
    """Return a cluster of one worker on this machine, whatever is asked for."""
    from distributed import LocalCluster

    class OneWorker(LocalCluster):  # type: ignore[misc]  # it is untyped
        def scale(self, n: int = 0, jobs: int = 0) -> object:
            return super().scale(1 if jobs else n)

    return OneWorker(
        n_workers=1,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
    )


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def shown_commands(page: Path) -> list[tuple[str, str]]:
    """Pairs of a command and the output shown below it."""
    lines = [line for block in BLOCK.findall(page.read_text()) for line in block.splitlines()]
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
    return [(lines[a][2:], "\n".join(lines[a + 1 : b])) for a, b in itertools.pairwise(starts)]


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if shown_commands(page)], ids=name_of)
def test_shown_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    na.write_triples(na.read_splits("umls").together(), tmp_path / "my.tsv")
    for command, expected in shown_commands(page):
        program, *arguments = shlex.split(command)
        assert program == "nnmfaug"
        done = run(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        got = "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines())
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        any_lines = f"\n{expected}\n".replace("\n...\n", "\n...")  # also none
        assert doctest.OutputChecker().check_output(any_lines, f"\n{got}\n", flags), got


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", [page for page in PAGES if PROGRAM.search(page.read_text())], ids=name_of)
def test_shown_programs_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for module, name in CLUSTERS.items():
        monkeypatch.setitem(sys.modules, module, SimpleNamespace(**{name: one_worker}))
    monkeypatch.setattr(na, "Dask", lambda _: na.Serial())  # engines have their own tests
    extra = na.TypedTriples().fit(na.read_splits("umls").train).sample(50, seed=0)
    na.write_triples(extra.graph, "extra.tsv")
    na.write_splits(na.split(na.family(40, seed=0).given, valid=0.05, test=0.1, seed=0), "mydata")
    for program in PROGRAM.findall(page.read_text()):
        code = compile(program, page.name, "exec", dont_inherit=True)
        exec(code, {"__name__": "__main__"})


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_source_file_named_in_a_page_exists(page: Path) -> None:
    for path in SOURCE_FILE.findall(page.read_text()):
        places = (ROOT / path, ROOT / "src" / "nnmfaug" / path)
        assert any(place.is_file() for place in places), path


def test_every_test_named_in_a_page_exists() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for page in PAGES:
        for name in re.findall(r"`(test_\w+)`", page.read_text()):
            assert f"def {name}(" in sources, name


def test_the_api_page_lists_exactly_the_public_names() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(na.__all__)


def test_the_api_page_lists_each_name_under_its_folder() -> None:
    sections = (ROOT / "docs" / "api.md").read_text().split("\n## ")[1:]
    for section in sections:
        folder = section.partition("\n")[0].partition(":")[0]
        for name in re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE):
            assert getattr(na, name).__module__.split(".")[1] == folder, name


def test_the_table_of_arms_agrees_with_the_table_of_methods() -> None:
    page = (ROOT / "docs" / "training.md").read_text()
    for method in METHODS.values():
        assert row_of(method) in page
    for arm in ARMS:
        assert f"| `{arm}` |" in page


def row_of(method: Method) -> str:
    amount = "at most as many as train" if method.at_most else f"{method.amount:.0%} of train"
    weight = method.weight if isinstance(method.weight, str) else f"{method.weight:g}"
    schedule = type(method.schedule).__name__.lower()
    return f"| `{method.name}` | {method.about} | {amount} | {schedule} | {weight} |"
