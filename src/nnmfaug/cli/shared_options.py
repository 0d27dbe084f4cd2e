"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

V = TypeVar("V")
Command = Callable[..., None]
Arguments = dict[str, Any]


def receives(name: str, make: Callable[..., V]) -> Callable[[Command], Command]:
    """Add the options of ``make`` to a command, which receives what ``make`` returns as ``name``."""

    def decorate(command: Command) -> Command:
        def call(own: Arguments, shared: Arguments) -> None:
            command(**own, **{name: make(**shared)})

        return _with_options(command, make, call, without=name)

    return decorate


def runs_inside(make: Callable[..., AbstractContextManager[None]]) -> Callable[[Command], Command]:
    """Add the options of ``make`` to a command, which runs inside what ``make`` returns."""

    def decorate(command: Command) -> Command:
        def call(own: Arguments, shared: Arguments) -> None:
            with make(**shared):
                command(**own)

        return _with_options(command, make, call)

    return decorate


def _with_options(
    command: Command, make: Callable[..., object], call: Callable[[Arguments, Arguments], None], without: str = ""
) -> Command:
    """Return a command with the options of ``make``, which ``call`` gets apart from its own."""
    more = inspect.signature(make, eval_str=True).parameters

    @functools.wraps(command)
    def run(**arguments: object) -> None:
        shared = {option: arguments.pop(option) for option in more}
        call(arguments, shared)

    options = inspect.signature(command, eval_str=True).parameters.values()
    parameters = [option for option in options if option.name != without] + list(more.values())
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    del run.__wrapped__  # Typer must use the signature made here
    return run
