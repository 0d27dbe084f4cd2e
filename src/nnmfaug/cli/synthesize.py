"""The command that generates a synthetic graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from nnmfaug.cli.console import Justify, count, output, print_json, progress, say, table
from nnmfaug.cli.reading import AsJson, Overwrite, parse_number
from nnmfaug.graph.synthetic import Blueprint
from nnmfaug.io.preflight import check_files
from nnmfaug.io.synthetic import synthetic_files, write_synthetic
from nnmfaug.io.write import check_writable

_SHOWN_RULES = 10


def synthesize(
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--out", metavar="FILE", help="Output file: .tsv .txt .csv .nt (also .gz .bz2 .zst) .parquet."
        ),
    ],
    entities: Annotated[str, typer.Option(metavar="N", help="Number of entities, such as 5000 or 4.6M.")] = "10k",
    triples: Annotated[
        str, typer.Option(metavar="N", help="Number of triples, such as 20M; met up to about 5 %.")
    ] = "100k",
    relations: Annotated[int, typer.Option(min=1, metavar="N", help="Number of relations.")] = 30,
    missing: Annotated[
        float, typer.Option(min=0, max=0.99, metavar="X", help="Fraction of the true triples that FILE lacks.")
    ] = 0.1,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed. The same seed gives the same graph.")
    ] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Generate a graph whose true triples and rules are known.

    It may be of any size: memory depends on the largest relation. Few entities have most triples, relations have
    types, and half of the relations follow from others by rules of known confidence. For big.tsv, the true triples
    that it lacks are in big.missing.tsv, and the rules in big.tsv.json.
    """
    check_writable(out)
    check_files(synthetic_files(out), overwrite=overwrite)
    sizes = (parse_number(entities, "--entities"), parse_number(triples, "--triples"))
    blueprint = Blueprint(*sizes, relations, seed, missing)
    with progress():
        manifest = write_synthetic(blueprint, out, overwrite=overwrite)
    if as_json:
        print_json(manifest)
    else:
        _show(manifest, synthetic_files(out))


def _show(manifest: dict[str, Any], files: list[Path]) -> None:
    """Print the first rules, and what was written."""
    rules = manifest["rules"]
    rows = [
        [
            f"{rule['head']}(x, y) ← {rule['body']}",
            f"{rule['confidence']:.2f}",
            f"{rule['support']:,} of {rule['n_pairs']:,}",
            f"{rule['n_missing']:,}",
        ]
        for rule in rules[:_SHOWN_RULES]
    ]
    title = f"planted rules, {len(rows)} of {len(rules)}"
    columns: list[tuple[str, Justify]] = [
        ("rule", "left"),
        ("confidence", "right"),
        ("in the graph", "right"),
        ("missing", "right"),
    ]
    output().print(table(title, columns, rows))
    given, missing, known = files
    say(f"{given}: {count(manifest['triples'], 'triple')}")
    say(f"{missing}: {count(manifest['missing'], 'true triple')} that it lacks")
    say(f"{known}: settings and all rules")
