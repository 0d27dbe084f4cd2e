"""Options for reading files, and the errors for lines that are not triples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from nnmfaug.core.checks import check_argument
from nnmfaug.core.errors import DataError
from nnmfaug.graph.read_report import ReadReport, Reject
from nnmfaug.io.stream import Limits

Format = Literal["tsv", "csv", "kgtk", "parquet", "nt", "nq", "ttl"]

N_SHOWN_LINES = 10
"""Number of bad lines that an error message shows."""
MAX_BAD_LINES = 100_000
"""Number of bad lines after which a file that must not have any is not read further."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file.

    Parameters
    ----------
    format
        One of tsv, csv, kgtk, parquet, nt, nq, ttl. Default: decided by suffix and content.
    encoding
        Encoding of text files.
    header
        Whether the first line names the columns. Default: it does if it contains words such as ``head``,
        ``relation`` and ``tail``.
    bad_lines
        ``"error"`` refuses a file with a line that is not a triple; ``"skip"`` leaves such lines out and lists
        them in the report.
    prefix
        Removed from IRIs that start with it, which undoes writing N-Triples with that prefix.
    limits
        Limits for packed files and long lines.
    delimiter
        The character between columns. Default: a tab, or a comma in CSV.
    """

    format: Format | None = None
    encoding: str = "utf-8"
    header: bool | None = None
    bad_lines: Literal["error", "skip"] = "error"
    prefix: str | None = None
    limits: Limits = field(default_factory=Limits)
    delimiter: str | None = None

    def __post_init__(self) -> None:
        formats = get_args(Format)
        check_argument("format", self.format, self.format in (None, *formats), f"one of {', '.join(formats)}")
        check_argument("header", self.header, self.header in (None, True, False), "True, False or None")
        is_character = self.delimiter is None or (len(self.delimiter) == 1 and self.delimiter.isascii())
        check_argument("delimiter", self.delimiter, is_character, "one ASCII character, such as ';'")
        check_argument("bad_lines", self.bad_lines, self.bad_lines in ("error", "skip"), "'error' or 'skip'")
        check_argument("encoding", self.encoding, _is_encoding(self.encoding), "a text encoding known to Python")

    @property
    def max_rejects(self) -> int | None:
        """Number of bad lines after which reading stops; None if all are to be listed."""
        return MAX_BAD_LINES if self.bad_lines == "error" else None

    def check(self, report: ReadReport, advice: str = "") -> ReadReport:
        """Return the report, or raise if it contains bad lines that are not tolerated, or no triples."""
        if report.rejected and self.bad_lines == "error":
            raise bad_lines_error(report.path, report.rejects, advice)
        if not report.accepted:
            msg = "no triples in this file" if report.lines else "no triples: the file is empty"
            raise DataError(msg + advice, path=report.path)
        return report


def _is_encoding(name: str) -> bool:
    try:
        b"a".decode(name)
    except UnicodeError:
        return True  # an encoding that needs more than one byte
    except LookupError:
        return False
    return True


def bad_lines_error(path: str, rejects: tuple[Reject, ...], advice: str = "") -> DataError:
    """Return an error with the first ten bad lines, the reason for each, and what to do."""
    first, *others = rejects[:N_SHOWN_LINES]
    lines = [first.reason, *(f"{path}:{reject.line}: {reject.reason}" for reject in others)]
    count = f"{len(rejects)} bad lines" if len(rejects) > 1 else "1 bad line"
    count += " or more" if len(rejects) >= MAX_BAD_LINES else ""
    shown = ", the first ten shown" if len(rejects) > N_SHOWN_LINES else ""
    cure = 'Correct the file, or skip these lines: --bad-lines skip, in Python ReadOptions(bad_lines="skip").'
    lines.append(f"{count}{shown}. {cure}{advice}")
    return DataError("\n".join(lines), path=path, line=first.line)
