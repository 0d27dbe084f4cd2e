"""Options that several commands share: a command receives them as one value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TypeVar

V = TypeVar("V")
Command = Callable[..., None]


def receives(name: str, make: Callable[..., V]) -> Callable[[Command], Command]:
    """Add the options of ``make`` to a command, which receives what ``make`` returns as ``name``."""

    def decorate(command: Command) -> Command:
        own_options = inspect.signature(make, eval_str=True).parameters

        @functools.wraps(command)
        def run(**arguments: object) -> None:
            shared = {option: arguments.pop(option) for option in own_options}
            command(**arguments, **{name: make(**shared)})

        options = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [option for option in options if option.name != name] + list(own_options.values())
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        del run.__wrapped__  # Typer must use the signature made here
        return run

    return decorate
