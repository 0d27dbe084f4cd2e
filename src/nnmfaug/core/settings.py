"""Settings as plain data, for manifests and run folders."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass


def describe_settings(value: object) -> object:
    """Return nested settings as plain data, each with the name of its class."""
    if is_dataclass(value) and not isinstance(value, type):
        fields = {name: describe_settings(getattr(value, name)) for name in asdict(value)}
        return {"name": type(value).__name__, **fields}
    return value if isinstance(value, int | float | str | bool | None) else repr(value)
