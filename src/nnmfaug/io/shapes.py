"""What a value of JSON must look like, field by field.

A shape is plain data. ``int``, ``float`` (also for whole numbers), ``str``, ``bool`` and ``object`` (anything) are
types; text is a constant; ``[shape]`` is a list; a tuple has alternatives; a dict has the shape of each entry.
There, ``"name?"`` may be missing, and ``"*"`` is the shape of all other entries.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Shape = Any
WHOLE = 2**63
"""Whole numbers are below this, so that they fit into arrays."""
NOUNS: dict[Any, str] = {
    None: "null",
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}
_UNKNOWN = object()


def check_shape(value: object, shape: Shape) -> None:
    """Raise a ``ValueError`` about the first field that differs from its shape.

    Examples
    --------
    >>> check_shape({"settings": {"dim": "x"}}, {"settings": {"dim": int, "name?": str}})
    Traceback (most recent call last):
    ValueError: settings.dim: must be a whole number, is 'x'
    """
    problem = next(_problems(value, shape), None)
    if problem is not None:
        raise ValueError(problem.lstrip(".: "))


def _problems(value: Any, shape: Shape) -> Iterator[str]:  # noqa: ANN401  # any value of JSON
    """Yield the fields that differ from their shapes, and what is needed there."""
    options = shape if isinstance(shape, tuple) else (shape,)
    option = next((option for option in options if _fits(value, option)), _UNKNOWN)
    if option is _UNKNOWN:
        nouns = " or ".join(map(_noun, options))
        yield f": must be {nouns}, is {reprlib.repr(value)}"
    elif isinstance(option, list):
        yield from _problems_of_items(value, option[0])
    elif isinstance(option, dict):
        yield from _problems_of_entries(value, option)


def _problems_of_items(items: Sequence[Any], shape: Shape) -> Iterator[str]:
    for place, item in enumerate(items):
        for problem in _problems(item, shape):
            yield f"[{place}]{problem}"


def _problems_of_entries(entries: Mapping[str, Any], shape: Mapping[str, Shape]) -> Iterator[str]:
    for name in shape:
        if name != "*" and not name.endswith("?") and name not in entries:
            yield f".{name}: is missing"
    for name, value in entries.items():
        field = name if len(name) < 50 else reprlib.repr(name)
        expected = shape.get(name, shape.get(f"{name}?", shape.get("*", _UNKNOWN)))
        if expected is _UNKNOWN:
            yield f".{field}: is unknown"
            return
        for problem in _problems(value, expected):
            yield f".{field}{problem}"


def _fits(value: Any, option: Shape) -> bool:  # noqa: ANN401  # any value of JSON
    """Whether a value is of a type, whatever it contains."""
    if option is None:
        return value is None
    if isinstance(option, str):
        return bool(value == option)
    if option is int:
        return type(value) is int and -WHOLE < value < WHOLE
    if option is float:
        return type(value) in (int, float) and abs(value) <= sys.float_info.max
    return isinstance(value, option if isinstance(option, type) else type(option))


def _noun(option: Shape) -> str:
    if isinstance(option, str):
        return repr(option)
    return NOUNS[type(option)] if isinstance(option, list | dict) else NOUNS[option]
