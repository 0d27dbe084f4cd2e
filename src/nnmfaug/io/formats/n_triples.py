"""Write N-Triples: a line for each triple, with IRIs for names. ``rdf`` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from nnmfaug.core.checks import check_argument
from nnmfaug.core.errors import DataError
from nnmfaug.graph.vocabulary import LabelledTriple

IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")
BLANK_NODE = re.compile(r"_:[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_-])?")


def n_triples(rows: Iterable[LabelledTriple], path: Path, prefix: str | None) -> Iterator[str]:
    """Yield a line for each triple.

    A name that cannot be an IRI is percent-encoded after ``prefix``; without a prefix it is a :class:`DataError`.
    """
    is_iri = prefix is None or IRI.fullmatch(prefix) is not None
    check_argument("prefix", prefix, is_iri, "an IRI such as https://example.org/")
    for head, relation, tail in rows:
        terms = (
            _term(head, prefix, path, may_be_blank=True),
            _term(relation, prefix, path, may_be_blank=False),
            _term(tail, prefix, path, may_be_blank=True),
        )
        yield " ".join(terms) + " .\n"


def _term(name: str, prefix: str | None, path: Path, *, may_be_blank: bool) -> str:
    is_blank = may_be_blank and BLANK_NODE.fullmatch(name) is not None
    is_term = is_blank or IRI.fullmatch(name) is not None
    if prefix is not None and (name.startswith(prefix) or not is_term):
        return f"<{prefix}{quote(name, safe='')}>"
    if not is_term:
        msg = f"the name {name!r} cannot be an IRI: pass --prefix, for example https://example.org/"
        raise DataError(msg, path=path)
    return name if is_blank else f"<{name}>"
