"""Draw the pictures of the README from what the commands really print: ``make pictures``."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from rich.text import Text

import nnmfaug as na
from nnmfaug.cli.console import show_stats

# Rich's own frame, without the fonts it would load from the network.
FRAME = """<svg xmlns="http://www.w3.org/2000/svg" class="rich-terminal" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""


def main() -> None:
    """Write stats.svg beside this file."""
    console = Console(record=True, width=96, file=io.StringIO(), highlight=False, force_terminal=True)
    console.print(Text("$ nnmfaug stats umls", style="bold green"))
    show_stats(na.describe(na.read_splits("umls")), console, n_relations=8)
    svg = console.export_svg(title="nnmfaug", code_format=FRAME, unique_id="nnmfaug")
    (Path(__file__).parent / "stats.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
