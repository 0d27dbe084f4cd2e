"""The program as a whole: help, version, exit codes, and messages instead of tracebacks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import nnmfaug as na
from nnmfaug.cli import app as program, main
from tests.cli.commands import run

COMMANDS = (
    "stats",
    "split",
    "convert",
    "augment",
    "rules",
    "estimate",
    "compare",
    "predict",
    "reproduce",
    "synthesize",
    "datasets",
)


def test_help_lists_every_command_with_a_whole_sentence(tmp_path: Path) -> None:
    shown = run("--help", cwd=tmp_path)
    assert shown.returncode == 0
    lines = shown.stdout.partition("Commands:\n")[2].splitlines()
    assert tuple(line.split()[0] for line in lines) == COMMANDS
    assert not [line for line in lines if line.endswith("...")]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_page_in_the_words_of_users(tmp_path: Path, command: str) -> None:
    shown = run(command, "--help", cwd=tmp_path)
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"Usage: nnmfaug {command} [OPTIONS]")
    assert "list[" not in shown.stdout, "a type of Python is not a word for users"


def test_without_a_command_the_help_is_shown(tmp_path: Path) -> None:
    shown = run(cwd=tmp_path)
    assert "Commands:" in shown.stdout + shown.stderr


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout == f"nnmfaug {na.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("stats", "nowhere.tsv"), "nowhere.tsv: no such file or folder, and not a known data set"),
        (("stats",), "Missing argument"),
        (("stats", "umls", "--relation", "5"), "No such option: --relation"),
        (("augmnt",), "Did you mean 'augment'?"),
        (("augment", "umls"), "Missing option '-o' / '--out'"),
        (("augment", "umls", "--method", "nmf", "-o", "x.tsv"), "'nmf' is not one of 'auto', 'rules', 'nnmf'"),
    ],
)
def test_bad_input_exits_with_two(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["stats", "rules", "estimate"])
def test_an_empty_file_is_refused(tmp_path: Path, command: str) -> None:
    (tmp_path / "empty.tsv").write_text("")
    done = run(command, "empty.tsv", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: empty.tsv: no triples: the file is empty\n"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            KeyboardInterrupt(),
            130,
            "error: interrupted. Nothing is half-written",
        ),
        (na.DataError("not a triple", path="x.tsv", line=3), 2, "error: x.tsv:3: not a triple"),
        (PermissionError(13, "Permission denied", "x.tsv"), 2, "error: x.tsv: Permission denied"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (OSError(36, "File name too long", "x.tsv"), 2, "error: x.tsv: File name too long"),
        (MemoryError("Unable to allocate 18.6 GiB"), 1, "not enough memory (Unable to allocate 18.6 GiB)"),
        (RecursionError("maximum recursion depth exceeded"), 1, "nested too deeply"),
        (na.SamplingError("too few", available=1), 1, "error: too few"),
        (ValueError("n=0: must be at least 1"), 2, "error: n=0: must be at least 1"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_error_has_a_message_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    message: str,
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(program, "app", fail)
    monkeypatch.setattr(sys, "argv", ["nnmfaug"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == code
    assert message in capsys.readouterr().err


def test_a_file_in_the_place_of_a_folder_is_named_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "graph.tsv").write_text("a\tr\tb\n")
    done = run("convert", "graph.tsv", "file/out.tsv", cwd=tmp_path)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "file" in done.stderr


def test_a_limit_of_memory_is_checked_before_any_work(tmp_path: Path) -> None:
    done = run("stats", "umls", "--memory", "4", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: memory 4: must be a size such as 4GB or 500MB\n")
    done = run("stats", "umls", "--memory", "500MB", cwd=tmp_path)
    assert done.returncode == 0
