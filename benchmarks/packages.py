"""A real graph of some hundred thousand triples: how Debian's packages depend on each other.

    apt-cache dumpavail | python benchmarks/packages.py packages.tsv

Packages, sections, maintainers and tags are entities; fields are relations. Of alternatives (``a | b``) each
counts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

LISTS = (
    *("Depends", "Pre-Depends", "Recommends", "Suggests", "Enhances"),
    *("Breaks", "Conflicts", "Replaces", "Provides", "Tag", "Built-Using"),
)
"""Fields with several values, separated by commas."""
SINGLE = ("Section", "Priority", "Architecture", "Maintainer", "Source", "Multi-Arch", "Homepage")
"""Fields with one value."""
VERSION = re.compile(r"\s*[(\[].*?[)\]]|:any\b")
"""What may stand behind the name of a package: a version or an architecture."""

Triple = tuple[str, str, str]


def paragraphs(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the fields of each package."""
    fields: dict[str, str] = {}
    name = ""
    for line in lines:
        if not line.strip():
            if fields:
                yield fields
            fields = {}
        elif line[0].isspace():
            fields[name] += " " + line.strip()
        else:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
    if fields:
        yield fields


def triples_of(fields: dict[str, str]) -> Iterator[Triple]:
    """Yield the triples of a package."""
    package = fields["Package"]
    for name in LISTS:
        for value in re.split(r"[,|]", VERSION.sub("", fields.get(name, ""))):
            if value.strip():
                yield package, name.lower(), value.strip()
    for name in SINGLE:
        value = VERSION.sub("", fields.get(name, "")).strip()
        if value:
            yield package, name.lower(), f"{name.lower()}:{value}"


def main() -> None:
    """Write the triples of the packages on standard input."""
    target = Path(sys.argv[1])
    with target.open("w", encoding="utf-8") as file:
        for fields in paragraphs(sys.stdin):
            file.writelines("\t".join(triple) + "\n" for triple in triples_of(fields))


if __name__ == "__main__":
    main()
