"""The errors of this package. An invalid argument is a plain ``ValueError``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class DataError(ValueError):
    """Input that cannot be read, or a name that a format cannot represent; starts with ``path:line`` if known.

    Examples
    --------
    >>> raise DataError("2 columns, expected 3", path="graph.tsv", line=7)
    Traceback (most recent call last):
    nnmfaug.core.errors.DataError: graph.tsv:7: 2 columns, expected 3
    """

    def __init__(self, message: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        self.path = None if path is None else str(path)
        self.line = line
        place = self.path if line is None else f"{path}:{line}"
        self._message = message
        super().__init__(message if path is None else f"{place}: {message}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Make a copy of it in another process."""
        return _data_error, (self._message, self.path, self.line)

    def with_text(self, old: str, new: str) -> DataError:
        """Return the same error with one text, such as a temporary path, replaced by another."""
        path = None if self.path is None else self.path.replace(old, new)
        return DataError(self._message.replace(old, new), path=path, line=self.line)


class SamplingError(RuntimeError):
    """More triples were requested than exist.

    ``available`` is the number of triples that exist; ``partial`` is a sample of all of them, if they could be
    listed.
    """

    def __init__(self, message: str, *, available: int, partial: object = None) -> None:
        self.available = available
        self.partial = partial
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Make a copy of it in another process."""
        return _sampling_error, (str(self), self.available, self.partial)

    @classmethod
    @contextmanager
    def about(cls, what: str) -> Iterator[None]:
        """Put ``what`` in front of the message of an error raised inside the ``with`` block.

        Examples
        --------
        >>> with SamplingError.about("relation 'likes'"):
        ...     raise SamplingError("too few", available=2)
        Traceback (most recent call last):
        nnmfaug.core.errors.SamplingError: relation 'likes': too few
        """
        try:
            yield
        except cls as error:
            raise cls(f"{what}: {error}", available=error.available, partial=error.partial) from None


def _data_error(message: str, path: str | None, line: int | None) -> DataError:
    return DataError(message, path=path, line=line)


def _sampling_error(message: str, available: int, partial: object) -> SamplingError:
    return SamplingError(message, available=available, partial=partial)
