"""However a command ends: its exit code, one line instead of a traceback, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nnmfaug as na
from tests.cli.commands import run

PROGRAM = [sys.executable, "-m", "nnmfaug"]
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def is_running(process: int) -> bool:
    """Whether a process is there and not a zombie, which nobody in a container may collect."""
    try:
        return ") Z" not in Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def children_of(process: subprocess.Popen[str]) -> list[int]:
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


SIGNAL_ITSELF = """
import os, signal, sys
from nnmfaug.cli import main
from nnmfaug.io import files, read
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored where the tests run
module, function, number = {place}, "{function}", {number}
original = getattr(module, function)
def interrupted(*args):
    os.kill(os.getpid(), number)
    return original(*args)
setattr(module, function, interrupted)
main()
"""


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize(("place", "function"), [("read", "detect_format"), ("files", "_flush")])
def test_a_signal_leaves_nothing_half_written(
    tmp_path: Path, number: signal.Signals, place: str, function: str
) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "g.tsv").write_text("a\tr\tb\n")
    code = SIGNAL_ITSELF.format(place=place, function=function, number=int(number))
    done = subprocess.run(
        [sys.executable, "-c", code, "convert", "g.tsv", "x.parquet"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == CODES[number], done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.tsv", "tmp"]


WITH_WORKERS = """
import signal, time
import nnmfaug as na
from nnmfaug.cli import app, main
signal.signal(signal.SIGINT, signal.default_int_handler)
app.app = lambda **_: list(na.Processes(2).map(time.sleep, [600, 600]))
if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("number", CODES)
def test_a_signal_to_a_program_with_workers_ends_them_all(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "program.py").write_text(WITH_WORKERS)
    with subprocess.Popen(
        [sys.executable, "program.py"], cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while len(children_of(process)) < 3 and process.poll() is None:  # the workers, and a process of Python's
            time.sleep(0.01)
        children = children_of(process)
        if number == signal.SIGINT:  # which a terminal sends to all of them
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, message = process.communicate(timeout=60)
    assert process.returncode == CODES[number], message
    assert message.startswith("error: ")
    assert message.count("\n") == 1
    while any(is_running(child) for child in children):  # the worker that tidies up for Python is the last
        time.sleep(0.01)


@pytest.mark.parametrize("number", CODES)
def test_a_signal_while_the_program_starts_shows_no_traceback(tmp_path: Path, number: signal.Signals) -> None:
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == 'nnmfaug.cli.app': os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from nnmfaug.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == CODES[number]
    assert done.stderr.count("\n") == 1


def test_what_the_encoding_of_the_terminal_lacks_is_spelled_out(tmp_path: Path) -> None:
    na.write_triples(na.KnowledgeGraph.from_labels([("é→", "r→", "b"), ("b", "r→", "c")]), tmp_path / "g.tsv")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(
        [*PROGRAM, "stats", "g.tsv"], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert rb"r\u2192" in done.stdout


def test_python_dash_m_is_the_program(tmp_path: Path) -> None:
    done = subprocess.run([*PROGRAM, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"nnmfaug {na.__version__}\n"


OUTPUTS = [
    ("split", "g.tsv", "-o", "out"),
    ("convert", "g.tsv", "x.tsv"),
    ("augment", "g.tsv", "--method", "random", "--amount", "1", "-o", "x.tsv"),
]


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    rows = [(f"e{i}", "next", f"e{i + 1}") for i in range(30)]
    na.write_triples(na.KnowledgeGraph.from_labels(rows), tmp_path / "g.tsv")
    return tmp_path


@pytest.mark.parametrize("arguments", OUTPUTS, ids=lambda arguments: arguments[0])
def test_every_command_refuses_output_that_exists_unless_asked(graph: Path, arguments: tuple[str, ...]) -> None:
    assert run(*arguments, cwd=graph).returncode == 0
    again = run(*arguments, cwd=graph)
    assert again.returncode == 2
    assert "exists already: name another, or pass --overwrite" in again.stderr
    assert run(*arguments, "--overwrite", cwd=graph).returncode == 0


@pytest.mark.parametrize("beside", ["x.tsv.scores.tsv", "x.tsv.json"])
def test_augment_refuses_a_file_beside_its_own_before_it_reads(graph: Path, beside: str) -> None:
    (graph / beside).write_text("mine")
    done = run("augment", "missing.tsv", "-o", "x.tsv", cwd=graph)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {beside}: exists already")


@pytest.mark.parametrize("arguments", OUTPUTS, ids=lambda arguments: arguments[0])
def test_too_long_a_name_is_bad_input(graph: Path, arguments: tuple[str, ...]) -> None:
    *others, out = arguments
    done = run(*others, "x" * 255 + out, cwd=graph)
    assert done.returncode == 2
    assert "File name too long: choose a shorter name" in done.stderr


def test_too_long_a_name_beside_the_output_is_found_before_reading(graph: Path) -> None:
    done = run("augment", "missing.tsv", "-o", "x" * 250 + ".tsv", cwd=graph)
    assert done.returncode == 2
    assert "File name too long: choose a shorter name" in done.stderr


def test_a_rejects_file_replaces_only_a_rejects_file(graph: Path) -> None:
    (graph / "bad.tsv").write_text("a\tr\tb\nnot a triple\n")
    command = ("stats", "bad.tsv", "--bad-lines", "skip", "--rejects", "r.tsv")
    assert run(*command, cwd=graph).returncode == 0
    assert run(*command, cwd=graph).returncode == 0
    (graph / "r.tsv").write_text("mine")
    done = run(*command, cwd=graph)
    assert done.returncode == 2
    assert "r.tsv: exists already" in done.stderr
