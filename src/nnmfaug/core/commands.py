"""Commands in messages, as a shell reads them."""

from __future__ import annotations

import shlex


def command(*words: object) -> str:
    """Return words as a command to paste: a name with spaces or special characters is quoted.

    Examples
    --------
    >>> command("nnmfaug", "split", "my triples.tsv", "-o", "folder")
    "nnmfaug split 'my triples.tsv' -o folder"
    """
    return shlex.join(str(word) for word in words)
