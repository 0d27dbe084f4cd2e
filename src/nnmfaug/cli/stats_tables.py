"""The tables of ``nnmfaug stats``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nnmfaug.cli.console import Justify, count, plain, table

if TYPE_CHECKING:
    from nnmfaug.graph.describe import GraphStats, RelationStats, SplitStats

MIN_INVERSE = 0.1
"""An inverse relation is shown from this fraction of triples on."""


def show_stats(stats: GraphStats, console: Console, n_relations: int) -> None:
    """Print sizes, a table of splits, and the largest relations."""
    sizes = ", ".join(
        [
            count(stats.n_entities, "entity", "entities"),
            count(stats.n_relations, "relation"),
            count(stats.distinct_rows, "distinct (A, B) row"),
            count(stats.support, "reachable triple"),
        ]
    )
    console.print(Text.assemble((plain(stats.name), "bold"), f": {sizes}\n"))
    console.print(_split_table(stats))
    if n_relations and stats.relations:
        console.print()
        console.print(_relation_table(stats, n_relations))


def _split_table(stats: GraphStats) -> Table:
    columns: list[tuple[str, Justify]] = [("split", "left")]
    columns += [(name, "right") for name in ("lines", "triples", "repeats", "loops", "unseen")]
    columns += [("with unseen", "right"), ("reachable", "right"), ("also in", "left")]
    return table("splits", columns, [_split_row(split) for split in stats.splits])


def _split_row(split: SplitStats) -> list[str]:
    numbers = (
        split.lines,
        split.triples,
        split.duplicates,
        split.self_loops,
        split.unseen_entities,
        split.with_unseen,
    )
    leaks = ", ".join(f"{other}: {n:,}" for other, n in split.leaked.items() if n)
    reachable = f"{split.reachable:,} of {split.new:,}" if split.new else ""
    return [split.name, *(f"{number:,}" for number in numbers), reachable, leaks]


def _relation_table(stats: GraphStats, limit: int) -> Table:
    relations = stats.relations[:limit]
    title = "relations of train"
    if len(relations) < len(stats.relations):
        title += f", the largest {len(relations)} of {len(stats.relations)} (--relations shows more)"
    columns: list[tuple[str, Justify]] = [("relation", "left")]
    columns += [(name, "right") for name in ("triples", "heads", "tails", "tails/head", "heads/tail", "symmetric")]
    columns += [("inverse", "left")]
    return table(title, columns, [_relation_row(relation) for relation in relations])


def _relation_row(relation: RelationStats) -> list[str]:
    numbers = [f"{number:,}" for number in (relation.triples, relation.heads, relation.tails)]
    ratios = [f"{ratio:.2f}" for ratio in (relation.tails_per_head, relation.heads_per_tail)]
    has_inverse = relation.inverse is not None and relation.inverse_fraction >= MIN_INVERSE
    inverse = f"{relation.inverse} {relation.inverse_fraction:.0%}" if has_inverse else ""
    return [relation.name, *numbers, *ratios, f"{relation.symmetric:.0%}", inverse]
