"""The errors a user can meet. An argument that makes no sense is a plain ``ValueError``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class DataError(ValueError):
    """Input that cannot be read, or that a format cannot hold; starts with ``path:line`` where there is one.

    Examples
    --------
    >>> raise DataError("2 columns, expected 3", path="graph.tsv", line=7)
    Traceback (most recent call last):
    nnmfaug.core.errors.DataError: graph.tsv:7: 2 columns, expected 3
    """

    def __init__(self, message: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        self.path = None if path is None else str(path)
        self.line = line
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(where + message)


class SamplingError(RuntimeError):
    """More triples were asked for than there are.

    ``available`` is how many there are; ``partial`` is a sample of all of them, where they could be listed.
    """

    def __init__(self, message: str, *, available: int, partial: object = None) -> None:
        self.available = available
        self.partial = partial
        super().__init__(message)

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
