"""Output for people: plain text, counts, times, tables, notes and progress."""

from __future__ import annotations

import io
import json
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr

import pytest
from rich.console import Console
from rich.progress import Progress

from nnmfaug.cli import console
from nnmfaug.cli.console import (
    count,
    fail,
    notes_of_warnings,
    output,
    plain,
    print_json,
    print_lines,
    progress,
    roughly,
    say,
    table,
)
from nnmfaug.core.progress import report

Output = pytest.CaptureFixture[str]


# text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("é 名前 a b", "é 名前 a b"),
        ("two\nlines", "two\nlines"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\tb\rc", "a\\tb\\rc"),
        ("left\u202eright", "left\\u202eright"),
        ("\x00", "\\x00"),
    ],
)
def test_characters_that_a_terminal_would_obey_are_spelled_out(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 triples"), (1, "1 triple"), (2, "2 triples"), (1234567, "1,234,567 triples")]
)
def test_a_count_agrees_with_its_noun(number: int, text: str) -> None:
    assert count(number, "triple") == text


def test_a_count_may_have_a_plural_of_its_own() -> None:
    assert [count(n, "body", "bodies") for n in (1, 2)] == ["1 body", "2 bodies"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (99, "99 s"), (100, "2 min"), (5999, "100 min"), (6000, "1.7 h"), (36000, "10.0 h")],
)
def test_a_time_has_one_unit(seconds: float, text: str) -> None:
    assert roughly(seconds) == text


# messages


def test_messages_go_to_standard_error(capsys: Output) -> None:
    say("note: a\x1bb")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "note: a\\x1bb\n")


def test_a_failure_has_a_message_and_an_exit_code(capsys: Output) -> None:
    with pytest.raises(SystemExit) as stop:
        fail("no such file", 2)
    assert stop.value.code == 2
    assert capsys.readouterr().err == "error: no such file\n"


def test_json_keeps_letters_of_every_language(capsys: Output) -> None:
    print_json({"name": "名前"})
    text = capsys.readouterr().out
    assert "名前" in text
    assert json.loads(text) == {"name": "名前"}


def test_lines_are_neither_markup_nor_wrapped(capsys: Output) -> None:
    line = "[bold]long[/bold] " + "word " * 60
    print_lines([line])
    assert capsys.readouterr().out.rstrip("\n") == line


def test_cells_are_never_markup(capsys: Output) -> None:
    output().print(table("a [title]", [("name", "left"), ("n", "right")], [["[red]x[/red]", "1"]]))
    text = capsys.readouterr().out
    assert "a [title]" in text
    assert "[red]x[/red]" in text


# warnings


def test_warnings_become_notes_each_once(capsys: Output) -> None:
    with notes_of_warnings():
        for message in ("one", "two", "one"):
            warnings.warn(message, UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "note: one\nnote: two\n"


def test_an_error_is_not_held_back_by_notes() -> None:
    with pytest.raises(ValueError, match="wrong"), notes_of_warnings():
        raise ValueError("wrong")


# progress


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that lets seconds pass on the clock of the console."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def pass_time(seconds: float) -> None:
        now[0] += seconds

    return pass_time


def test_quick_work_is_silent(wait: Callable[[float], None], capsys: Output) -> None:
    with progress():
        report("mining rules", 1, 4)
        wait(1.9)
        report("mining rules", 2, 4)
    assert capsys.readouterr().err == ""


def test_long_work_is_a_line_every_ten_seconds(wait: Callable[[float], None], capsys: Output) -> None:
    with progress():
        for step in range(26):
            report("mining rules", step, 100)
            wait(1)
    assert capsys.readouterr().err.splitlines() == [
        "mining rules: 2%, 98 s left",
        "mining rules: 12%, 88 s left",
        "mining rules: 22%, 78 s left",
    ]


def test_a_task_that_begins_again_is_timed_anew(wait: Callable[[float], None], capsys: Output) -> None:
    with progress():
        report("refitting", 9, 10)
        wait(30)
        report("refitting", 0, 10)
        wait(10)
        report("refitting", 5, 10)
    assert capsys.readouterr().err.splitlines() == ["refitting: 0%", "refitting: 50%, 10 s left"]


def test_a_task_without_steps_is_no_error(wait: Callable[[float], None], capsys: Output) -> None:
    with progress():
        wait(5)
        report("reading", 0, 0)
    assert capsys.readouterr().err == "reading: 0%\n"


def test_after_the_work_nobody_is_told(wait: Callable[[float], None], capsys: Output) -> None:
    with progress():
        pass
    wait(60)
    report("mining rules", 1, 4)
    assert capsys.readouterr().err == ""


def test_on_a_terminal_long_work_is_a_bar(wait: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr(console, "Progress", lambda **_: Progress(console=terminal, auto_refresh=False))
    with redirect_stderr(io.StringIO()) as lines, progress():
        wait(5)
        report("[mining] rules", 1, 4)
        report("[mining] rules", 2, 4)
    assert lines.getvalue() == ""
    assert "[mining] rules" in screen.getvalue()
    assert "50%" in screen.getvalue()


def test_warnings_are_noted_before_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    def warn_and_fail() -> None:
        warnings.warn("odd", UserWarning, stacklevel=1)
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"), notes_of_warnings():
        warn_and_fail()
    assert capsys.readouterr().err == "note: odd\n"
