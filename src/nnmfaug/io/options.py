"""How to read a file that does not speak for itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from nnmfaug.core.errors import DataError
from nnmfaug.graph.read_report import ReadReport, Reject
from nnmfaug.io.stream import Limits

Format = Literal["tsv", "csv", "kgtk", "parquet", "nt", "nq", "ttl"]


@dataclass(frozen=True)
class ReadOptions:
    """What a reader should know that the file does not say.

    Parameters
    ----------
    format
        One of tsv, csv, kgtk, parquet, nt, nq, ttl; None decides by suffix and content.
    encoding
        Of text files.
    header
        Whether the first line names the columns; None looks for words like ``head``, ``relation``, ``tail``.
    bad_lines
        ``"error"`` refuses a file with a line that is not a triple; ``"skip"`` leaves such lines out and lists
        them in the report.
    prefix
        Taken off IRIs that start with it, which undoes writing N-Triples with that prefix.
    limits
        For packed files and long lines.
    delimiter
        What separates the columns, if neither a tab nor, in CSV, a comma.
    """

    format: Format | None = None
    encoding: str = "utf-8"
    header: bool | None = None
    bad_lines: Literal["error", "skip"] = "error"
    prefix: str | None = None
    limits: Limits = field(default_factory=Limits)
    delimiter: str | None = None

    def __post_init__(self) -> None:
        if self.format not in (None, *get_args(Format)):
            msg = f"format={self.format!r}: must be one of {', '.join(get_args(Format))}"
            raise ValueError(msg)
        if self.header not in (None, True, False):
            msg = f"header={self.header!r}: must be True, False or None"
            raise ValueError(msg)
        if self.delimiter is not None and not (len(self.delimiter) == 1 and self.delimiter.isascii()):
            msg = f"delimiter={self.delimiter!r}: must be one character, such as ';'"
            raise ValueError(msg)
        if self.bad_lines not in ("error", "skip"):
            msg = f"bad_lines={self.bad_lines!r}: must be 'error' or 'skip'"
            raise ValueError(msg)
        try:
            b"a".decode(self.encoding)
        except UnicodeError:
            pass  # an encoding that needs more than one byte
        except LookupError:
            msg = f"encoding={self.encoding!r}: Python knows no such encoding of text"
            raise ValueError(msg) from None

    def check(self, report: ReadReport, hint: str = "") -> ReadReport:
        """Return the report if what it says may pass, else raise with the first bad lines."""
        if report.rejected and self.bad_lines == "error":
            raise bad_lines_error(report.path, report.rejects, hint)
        if not report.accepted:
            msg = "no triples in this file" if report.lines else "no triples: the file is empty"
            raise DataError(msg + hint, path=report.path)
        return report


def bad_lines_error(path: str, rejects: tuple[Reject, ...], hint: str = "") -> DataError:
    """The first ten bad lines with their reasons, and what to do."""
    shown = [f"{path}:{r.line}: {r.reason}" for r in rejects[:10]]
    shown[0] = rejects[0].reason
    count = f"{len(rejects)} bad lines" if len(rejects) > 1 else "1 bad line"
    first = ", the first ten shown" if len(rejects) > 10 else ""
    advice = 'Mend the file, or leave them out: --bad-lines skip, in Python ReadOptions(bad_lines="skip").'
    shown.append(f"{count}{first}. {advice}{hint}")
    return DataError("\n".join(shown), path=path, line=rejects[0].line)
