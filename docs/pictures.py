"""Draw the picture of the README from real results: ``make pictures``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import nnmfaug as na

HERE = Path(__file__).parent
RESULTS = HERE.parent / "benchmarks" / "results" / "umls-rotate.json"
EXAMPLE = ("mammal", "exhibits", "behavior")
"""A generated triple with short names."""

WIDTH = 1040
HEIGHT = 204
MARGIN = 10
LINE = 20
"""Height of a line of text."""

# Text stands on light boxes, arrows are grey: both are readable on a light and on a dark page.
STYLE = """
.box { fill: #f6f8fa; stroke: #8c959f; }
.arrow { stroke: #808a95; stroke-width: 2; fill: none; }
.tip { fill: #808a95; }
.command { fill: #808a95; font: bold 15px sans-serif; text-anchor: middle; }
.title { fill: #1f2328; font: bold 15px sans-serif; }
.line { fill: #1f2328; font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.note { fill: #57606a; font: 13px sans-serif; }
"""


@dataclass(frozen=True)
class Box:
    """A file: its name, some of its lines, and a note about it.

    Parameters
    ----------
    left, width
        Place in the picture.
    """

    left: int
    width: int
    title: str
    lines: Sequence[str]
    note: str

    @property
    def right(self) -> int:
        """Where the next arrow starts."""
        return self.left + self.width

    def draw(self) -> str:
        """Return the box as SVG."""
        frame = f'<rect class="box" x="{self.left}" y="{MARGIN}" width="{self.width}" rx="8"'
        frame += f' height="{HEIGHT - 2 * MARGIN}"/>'
        x = self.left + 14
        top = MARGIN + 28
        parts = [frame, _text("title", x, top, self.title)]
        for place, line in enumerate(self.lines, 1):
            parts.append(_text("line", x, top + 6 + place * LINE, line))
        parts.append(_text("note", x, HEIGHT - MARGIN - 14, self.note))
        return "\n".join(parts)


def _text(kind: str, x: int, y: int, content: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}" xml:space="preserve">{escape(content)}</text>'


def _arrow(start: int, end: int, command: str) -> str:
    """An arrow between two boxes with the command above it."""
    middle = HEIGHT // 2
    first = start + 8
    last = end - 8
    tip = f"{last},{middle} {last - 10},{middle - 6} {last - 10},{middle + 6}"
    shaft = f'<path class="arrow" d="M {first} {middle} H {last - 10}"/>'
    point = f'<polygon class="tip" points="{tip}"/>'
    return "\n".join([shaft, point, _text("command", (first + last) // 2, middle - 14, command)])


def _train_box(train: na.KnowledgeGraph, evidence: na.Evidence) -> Box:
    lines = [" ".join(triple) for triple in evidence.triples]
    return Box(MARGIN, 270, "graph.tsv", [*lines, "…"], f"{len(train):,} triples")


def _extra_box(extra: na.Sample, evidence: na.Evidence) -> Box:
    body = evidence.reason.split(" ← ")[1]
    row = extra.labels.index(EXAMPLE)
    probability = extra.probability
    if probability is None:
        msg = "auto rates its triples"
        raise ValueError(msg)
    atoms = [atom.rstrip(")") + ")" for atom in body.split("), ")]
    lines = [
        " ".join(EXAMPLE),
        f"  probability  {probability[row]:.2f}",
        f"  evidence     {atoms[0]}",
        *(f"               {atom}" for atom in atoms[1:]),
    ]
    note = f"{len(extra):,} new triples, estimated precision {probability.mean():.2f}"
    return Box(388, 318, "extra.tsv", lines, note)


def _verdict_box() -> Box:
    comparison = json.loads(RESULTS.read_text(encoding="utf-8"))["filtered"]
    row = next(row for row in comparison["rows"] if row["arm"] == "auto" and row["metric"] == "mrr")
    baseline, mean, low, high = (
        f"{row[key]:.3f}".removeprefix("0") for key in ("baseline_mean", "mean", "low", "high")
    )
    lines = [
        f"MRR {baseline} → {mean} ({100 * row['relative']:+.1f} %)",
        "95 % interval",
        f"  +{low} to +{high}",
    ]
    return Box(
        814,
        WIDTH - MARGIN - 814,
        f"verdict: {row['verdict']}",
        lines,
        f"{len(row['seeds'])} seeds, RotatE, --pilot",
    )


def main() -> None:
    """Write overview.svg beside this file."""
    train = na.read_splits("umls").train
    dist = na.Auto().fit(train)
    example = na.KnowledgeGraph.from_labels([EXAMPLE], train.vocabulary)
    evidence = dist.explain(example.triples)[0]
    boxes = [_train_box(train, evidence), _extra_box(dist.everything(), evidence), _verdict_box()]
    arrows = [
        _arrow(boxes[0].right, boxes[1].left, "augment"),
        _arrow(boxes[1].right, boxes[2].left, "compare"),
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<title>graph.tsv, augment, extra.tsv with probabilities and evidence, compare, verdict</title>",
        f"<style>{STYLE}</style>",
        *(box.draw() for box in boxes),
        *arrows,
        "</svg>\n",
    ]
    (HERE / "overview.svg").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
