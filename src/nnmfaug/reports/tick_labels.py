"""Labels on the x axis that do not touch each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ANGLES = (0, 45, 90)
"""Level, leaning, upright: the first that is enough is taken."""


def fit_tick_labels(figure: Figure, panels: Sequence[Axes]) -> None:
    """Turn the labels on the x axes, and drop some if that is not enough; the figure becomes higher for them.

    All panels have the same labels, and the last one is among the lowest, where they are shown.
    """
    figure.draw_without_rendering()
    texts = panels[-1].get_xticklabels()
    labels = [text.get_text() for text in texts]
    line = max(text.get_window_extent().height for text in texts)
    widths = [text.get_window_extent().width + hidden_width(text.get_text()) * line for text in texts]
    angle = next((angle for angle in ANGLES if _fits(figure, panels, angle, widths, line)), None)
    if angle is None:
        labels = _without_overlaps(labels, _places(panels[-1]), widths)
        for axes in panels:
            axes.set_xticks(axes.get_xticks(), labels)
            _turn(axes, 0)
    else:
        extra = max(widths) * math.sin(math.radians(angle)) * _n_labelled_rows(panels)
        figure.set_figheight(figure.get_figheight() + extra / figure.dpi)


def hidden_width(text: str) -> float:
    """Return how much wider than measured a text may be shown, in lines: the font lacks wide Asian characters.

    Examples
    --------
    >>> hidden_width("baseline"), hidden_width("基线")
    (0.0, 0.8)
    """
    return 0.4 * sum(east_asian_width(character) in "WF" for character in text)


def _fits(figure: Figure, panels: Sequence[Axes], angle: int, widths: Sequence[float], line: float) -> bool:
    """Turn the labels, lay out the figure, and return whether they stand apart."""
    for axes in panels:
        _turn(axes, angle)
    figure.draw_without_rendering()
    return _stand_apart(_places(panels[-1]), widths, line, angle)


def _stand_apart(places: Sequence[float], widths: Sequence[float], line: float, angle: int) -> bool:
    """Whether labels around (level) or below (turned) these places leave space between them.

    Examples
    --------
    >>> [_stand_apart([0, 20], [width, width], line=10, angle=0) for width in (15, 30)]
    [True, False]
    >>> [_stand_apart([0, 12], [30, 30], line=10, angle=angle) for angle in (0, 45, 90)]
    [False, False, True]
    """
    spaces = [right - left for left, right in pairwise(places)]
    if angle == 0:
        needed = [(left + right) / 2 + 0.4 * line for left, right in pairwise(widths)]
    else:
        needed = [1.05 * line / math.sin(math.radians(angle))] * len(spaces)
    return all(space >= least for space, least in zip(spaces, needed, strict=True))


def _without_overlaps(labels: Sequence[str], places: Sequence[float], widths: Sequence[float]) -> list[str]:
    """The labels; instead of each that touches the one kept before it, nothing.

    Examples
    --------
    >>> _without_overlaps(["0", "1", "2", "50"], places=[0, 5, 12, 80], widths=[9, 9, 9, 18])
    ['0', '', '2', '50']
    """
    kept = []
    end = -math.inf
    for label, place, width in zip(labels, places, widths, strict=True):
        is_free = place - width / 2 > end
        kept.append(label if is_free else "")
        end = place + width / 2 if is_free else end
    return kept


def _turn(axes: Axes, angle: int) -> None:
    for text in axes.get_xticklabels():
        if angle == 0:
            text.set(rotation=0, rotation_mode="default", ha="center", va="top")
        else:
            text.set(rotation=angle, rotation_mode="anchor", ha="right", va="center" if angle == 90 else "top")


def _places(axes: Axes) -> list[float]:
    """The places of the ticks, in pixels."""
    return [float(axes.transData.transform((x, 0))[0]) for x in axes.get_xticks()]


def _n_labelled_rows(panels: Sequence[Axes]) -> int:
    """The number of rows of panels that show labels: two if the last row is not full."""
    lowest = [axes for axes in panels if axes.xaxis.get_tick_params()["labelbottom"]]
    return len({round(axes.get_position().y0, 3) for axes in lowest})
