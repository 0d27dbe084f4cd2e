"""What tables and figures share: text that no format breaks on, and files that are written together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from nnmfaug.core.checks import check_argument
from nnmfaug.io.files import replacing_all

UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Control characters, halves of surrogate pairs and non-characters: XML, TeX or UTF-8 has no place for them."""

Write = Callable[[Path], object]
"""Writes one file to the path it is given."""


def one_line(text: str) -> str:
    r"""Return text on one line, with � for each character that cannot be printed.

    Examples
    --------
    >>> one_line("two\n lines,\tone bell \x07")
    'two lines, one bell �'
    """
    return UNPRINTABLE.sub("\ufffd", " ".join(text.split()))


def write_together(folder: str | Path, stem: str, writers: Mapping[str, Write]) -> list[Path]:
    """Write files that differ in their ending only; all of them appear, or none.

    Parameters
    ----------
    folder
        Made if it does not exist. Files of the same names are replaced.
    stem
        Name of the files without ending.
    writers
        Ending → what writes the file.

    Returns
    -------
    list of Path
        The files, in the order of ``writers``.

    Examples
    --------
    >>> paths = write_together("out", "table-1", {"md": lambda draft: draft.write_text("| a |")})
    >>> [path.name for path in paths], paths[0].read_text()
    (['table-1.md'], '| a |')
    """
    is_name = stem not in ("", ".", "..") and not set(stem) & {"/", "\\", "\0"}
    check_argument("stem", stem, is_name, "the name of a file, without folder and ending")
    paths = [Path(folder) / f"{stem}.{ending}" for ending in writers]
    with replacing_all(paths) as drafts:
        for draft, write in zip(drafts, writers.values(), strict=True):
            write(draft)
    return paths
