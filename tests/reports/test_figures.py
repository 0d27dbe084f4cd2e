"""Figures: they show what was measured, change no setting of matplotlib, and are the same bytes every time."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from nnmfaug.core.errors import DataError
from nnmfaug.evaluation.metrics import METRICS
from nnmfaug.reports.curves import in_categories
from nnmfaug.reports.figures import Curve, Estimate, Point, draw_curves, write_figure
from nnmfaug.reports.output import one_line
from nnmfaug.reports.panels import GREY, Scale

ROOT = Path(__file__).parents[2]
AMOUNTS = (0, 1, 2, 5, 10, 20, 50, 100)
NAMES = ("agglomerative", "k-means", "DBSCAN", "HDBSCAN", "spectral")


def estimates(gain: float = 0) -> dict[str, Estimate]:
    """Of all metrics; the width of the interval differs to both sides."""
    values = {metric: 200 - 50 * gain if metric == "mr" else 0.4 + gain / 5 for metric in METRICS}
    return {metric: Estimate(value, 0.98 * value, 1.01 * value) for metric, value in values.items()}


BASELINE = Point(0, "no augmentation", estimates())
RULES = Curve("rules", tuple(Point(x, f"{x} %", estimates(x / 100)) for x in AMOUNTS), BASELINE)
SAMPLER = Curve("NNMFAug", tuple(Point(x, f"{x} %", estimates(-x / 300)) for x in AMOUNTS), BASELINE)
CLUSTERERS = Curve("NNMFAug", tuple(Point(0, name, estimates(i / 9)) for i, name in enumerate(NAMES)), BASELINE)


def draw(
    *curves: Curve, scale: Scale = "symlog", metrics: tuple[str, ...] = ("mrr", "mr"), title: str = "dL50a"
) -> Figure:
    return draw_curves(curves, metrics=metrics, x_label="generated, % of train", title=title, scale=scale)


def lines_of(axes: Axes, style: str) -> list[tuple[list[float], list[float]]]:
    """The x and y of all lines of this style."""
    lines = [line for line in axes.lines if line.get_linestyle() == style]
    return [(np.ravel(line.get_xdata()).tolist(), np.ravel(line.get_ydata()).tolist()) for line in lines]


def texts_of_svg(path: Path) -> list[str]:
    return ["".join(node.itertext()) for node in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def texts_of(figure: Figure) -> list[Text]:
    """All texts that can be seen; matplotlib also has some for ticks outside of the axes."""
    legend = figure.legends[0]
    texts = [*figure.texts, legend.get_title(), *legend.get_texts()]
    for panel in figure.axes:
        low, high = sorted(panel.get_ylim())
        labels = zip(panel.get_yticks(), panel.get_yticklabels(), strict=True)
        texts += [panel.title, panel._left_title, *panel.get_xticklabels()]  # type: ignore[attr-defined]
        texts += [label for y, label in labels if low <= y <= high]
    return [text for text in texts if text.get_text() and text.get_visible()]


def test_there_is_a_panel_for_each_metric_in_the_order_given() -> None:
    figure = draw(RULES, metrics=("hits@1", "hits@3", "hits@5", "hits@10", "mrr", "mr"))
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert titles == ["Hits@1", "Hits@3", "Hits@5", "Hits@10", "MRR", "MR (lower is better)"]


@pytest.mark.parametrize(("n_metrics", "rows", "columns"), [(1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 2, 2), (6, 2, 3)])
def test_panels_stand_in_a_grid(n_metrics: int, rows: int, columns: int) -> None:
    corners = np.array([panel.get_position().p0 for panel in draw(RULES, metrics=METRICS[:n_metrics]).axes])
    assert len(corners) == n_metrics
    assert [len(np.unique(side.round(3))) for side in corners.T] == [columns, rows]


def test_a_panel_shows_the_values_and_the_intervals_of_its_metric() -> None:
    panel = draw(RULES, metrics=("mr",)).axes[0]
    expected = [point.estimates["mr"] for point in RULES.points]
    assert lines_of(panel, "-") == [(list(AMOUNTS), [each.value for each in expected])]
    (band,) = panel.collections
    corners = np.asarray(band.get_paths()[0].vertices)
    for x, each in zip(AMOUNTS, expected, strict=True):
        assert {each.low, each.high} <= set(corners[corners[:, 0] == x, 1])


def test_points_are_connected_in_the_order_of_x() -> None:
    panel = draw(replace(RULES, points=RULES.points[::-1]), metrics=("mrr",)).axes[0]
    assert lines_of(panel, "-")[0][0] == list(AMOUNTS)


def test_the_interval_of_a_single_point_can_be_seen() -> None:
    panel = draw(replace(RULES, points=RULES.points[:1]), metrics=("mrr",)).axes[0]
    (bar,) = panel.collections
    estimate = RULES.points[0].estimates["mrr"]
    assert np.asarray(bar.get_paths()[0].vertices)[:, 1].tolist() == [estimate.low, estimate.high]


def test_the_baseline_is_a_level_line_with_its_band_and_a_label() -> None:
    figure = draw(RULES, SAMPLER)
    for metric, panel in zip(("mrr", "mr"), figure.axes, strict=True):
        estimate = BASELINE.estimates[metric]
        assert lines_of(panel, "--") == [([0, 1], [estimate.value] * 2)]
        (band,) = panel.patches
        box = band.get_extents().transformed(panel.transData.inverted())
        assert (box.y0, box.y1) == pytest.approx((estimate.low, estimate.high))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["rules", "NNMFAug", "no augmentation"]


def test_without_a_baseline_there_is_no_such_line() -> None:
    figure = draw(replace(RULES, baseline=None))
    assert not any(lines_of(panel, "--") or panel.patches for panel in figure.axes)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["rules"]


def test_a_shared_baseline_is_grey_and_several_have_the_colours_of_their_curves() -> None:
    def colours(figure: Figure) -> list[object]:
        return [line.get_color() for line in figure.axes[0].lines if line.get_linestyle() == "--"]

    other = replace(SAMPLER, baseline=Point(0, "other", estimates(0.1)))
    curves = [line.get_color() for line in draw(RULES, other).axes[0].lines if line.get_linestyle() == "-"]
    assert colours(draw(RULES, SAMPLER)) == [GREY]
    assert colours(draw(RULES, other)) == curves


def test_ticks_are_at_the_points_with_their_labels() -> None:
    panel = draw(RULES, metrics=("mrr",)).axes[0]
    assert panel.get_xscale() == "symlog"
    assert panel.get_xticks().tolist() == list(AMOUNTS)
    assert [text.get_text() for text in panel.get_xticklabels()] == [point.label for point in RULES.points]


def test_zero_has_a_place_on_a_logarithmic_axis_apart_from_the_others() -> None:
    panel = draw(RULES).axes[0]
    places = panel.transAxes.inverted().transform(panel.transData.transform([(x, 0.4) for x in AMOUNTS]))[:, 0]
    assert places[0] > 0
    assert places[-1] < 1
    assert np.diff(places).min() > 0.05


def test_categories_are_points_with_bars_that_nothing_connects() -> None:
    figure = draw(CLUSTERERS, scale="category", metrics=("mrr",))
    panel = figure.axes[0]
    expected = [point.estimates["mrr"] for point in CLUSTERERS.points]
    assert lines_of(panel, "-") == []
    assert lines_of(panel, "None") == [([0, 1, 2, 3, 4], [each.value for each in expected])]
    bars = [np.asarray(path.vertices)[:, 1].tolist() for path in panel.collections[0].get_paths()]
    assert bars == [[each.low, each.high] for each in expected]
    assert [text.get_text() for text in panel.get_xticklabels()] == list(NAMES)


def test_a_category_has_one_tick_for_all_curves_also_for_those_that_lack_it() -> None:
    other = Curve("other", CLUSTERERS.points[:0:-1])
    panel = draw(CLUSTERERS, other, scale="category", metrics=("mrr",)).axes[0]
    assert panel.get_xticks().tolist() == [0, 1, 2, 3, 4]
    (first, _), (second, _) = lines_of(panel, "None")
    assert [round(x) for x in second] == [1, 2, 3, 4]
    assert not set(first) & set(second)


@pytest.mark.parametrize("n_curves", [1, 2, 30])
def test_curves_of_a_category_stay_beside_its_tick(n_curves: int) -> None:
    placed = in_categories([CLUSTERERS] * n_curves)
    assert len({curve.points[0].x for curve in placed}) == n_curves
    assert all(round(point.x) == i for curve in placed for i, point in enumerate(curve.points))


def settings(n: int, label: str = "setting {}") -> Curve:
    return Curve("settings", tuple(Point(i, label.format(i), estimates(i / 20)) for i in range(n)))


@pytest.mark.parametrize(
    ("curve", "scale", "angle", "n_shown"),
    [
        (RULES, "symlog", 45, 8),
        (settings(8, "{}"), "linear", 0, 8),
        (settings(6), "linear", 45, 6),
        (CLUSTERERS, "category", 45, 5),
        (settings(12, "setting number {} of 12 and more"), "category", 90, 12),
        (RULES, "linear", 0, 4),
        (settings(4, "{} 基线与规则"), "category", 45, 4),
    ],
)
def test_tick_labels_turn_as_far_as_they_need_and_no_text_is_cut_or_covered(
    curve: Curve, scale: Scale, angle: int, n_shown: int
) -> None:
    figure = draw(
        curve, scale=scale, metrics=METRICS, title="A title that is longer than one line of the figure, " * 3
    )
    labels = [label for label in figure.axes[-1].get_xticklabels() if label.get_text()]
    assert {label.get_rotation() for label in labels} == {angle}
    assert len(labels) == n_shown
    boxes = [(text, text.get_window_extent()) for text in texts_of(figure)]
    for text, box in boxes:
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1, text
    for (one, first), (other, second) in itertools.combinations(boxes, 2):
        both_lean = one.get_rotation() == other.get_rotation() == 45
        assert both_lean or not first.overlaps(second), (one, other)


@pytest.mark.parametrize("n_metrics", [5, 6])
def test_the_figure_becomes_higher_for_turned_labels_and_the_panels_do_not_shrink(n_metrics: int) -> None:
    def panel_height(curve: Curve) -> float:
        figure = draw(curve, scale="category", metrics=METRICS[:n_metrics])
        return figure.axes[0].get_position().height * figure.get_figheight()

    assert panel_height(settings(5, "a name of 24 characters{}")) > 0.9 * panel_height(settings(5, "{}"))


def test_the_figure_becomes_higher_for_a_long_legend_and_the_panels_do_not_shrink() -> None:
    few, many = draw(RULES), draw(*(replace(RULES, name=f"{i} rules with a long name") for i in range(30)))
    heights = [figure.axes[0].get_position().height * figure.get_figheight() for figure in (few, many)]
    assert heights[1] > 0.9 * heights[0]


def test_only_the_lowest_panels_have_labels_on_the_x_axis() -> None:
    figure = draw(RULES, metrics=METRICS[:5])
    assert [bool(panel.get_xticklabels()) for panel in figure.axes] == [False, False, True, True, True]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a figure, by ending."""
    folder = tmp_path_factory.mktemp("figures")
    return {path.suffix: path.read_bytes() for path in write_figure(draw(RULES, SAMPLER), folder, "amounts")}


def test_all_three_formats_are_written(written: dict[str, bytes]) -> None:
    assert list(written) == [".svg", ".pdf", ".png"]
    assert written[".svg"].startswith(b"<?xml")
    assert written[".pdf"].startswith(b"%PDF")
    assert written[".png"].startswith(b"\x89PNG")


def test_the_same_data_give_the_same_bytes(written: dict[str, bytes], tmp_path: Path) -> None:
    figure = draw(RULES, SAMPLER)
    for folder in (tmp_path / "once", tmp_path / "twice"):
        paths = write_figure(figure, folder, "another name")
        assert {path.suffix: path.read_bytes() for path in paths} == written


def test_a_new_process_with_other_settings_gives_the_same_bytes(written: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.facecolor: black\nsavefig.dpi: 30\n")
    program = (
        "from pathlib import Path\n"
        "from tests.reports.test_figures import RULES, SAMPLER, draw\n"
        "from nnmfaug.reports.figures import write_figure\n"
        f"write_figure(draw(RULES, SAMPLER), Path({str(tmp_path)!r}), 'amounts')\n"
    )
    environment = {**os.environ, "MATPLOTLIBRC": str(tmp_path), "PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1"}
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, env=environment)
    assert {ending: (tmp_path / f"amounts{ending}").read_bytes() for ending in written} == written


def test_other_data_give_other_bytes(written: dict[str, bytes], tmp_path: Path) -> None:
    paths = write_figure(draw(RULES, replace(SAMPLER, points=SAMPLER.points[1:])), tmp_path, "amounts")
    assert all(path.read_bytes() != written[path.suffix] for path in paths)


def test_no_file_has_a_date_or_the_name_of_a_program(written: dict[str, bytes]) -> None:
    for content in written.values():
        assert not re.search(rb"matplotlib v|Matplotlib v|Software|CreationDate|<dc:date>|Producer", content)


def test_the_png_has_200_dots_per_inch_and_the_pdf_its_fonts(written: dict[str, bytes]) -> None:
    width = int.from_bytes(written[".png"][16:20], "big")
    assert width == 1400
    assert b"/FontFile2" in written[".pdf"]
    assert b"/Type3" not in written[".pdf"]


def test_text_is_text_in_svg(tmp_path: Path) -> None:
    texts = texts_of_svg(write_figure(draw(RULES, SAMPLER, title="dL50a, RotatE"), tmp_path, "x")[0])
    expected = ["dL50a, RotatE", "generated, % of train", "rules", "NNMFAug", "no augmentation", "MRR", "50 %"]
    assert set(expected) <= set(texts)
    assert texts.count("50 %") == 2


@pytest.mark.parametrize(
    "name",
    [
        "基线",
        "خط الأساس",
        "ना",
        "👩‍🔬",
        "$x^2$",
        "a$b",
        "_hidden",
        "<b>&amp;",
        "\\frac{1}{2}",
        "{",
        "%",
        "a\x1b\ud800b",
    ],
)
def test_names_of_all_scripts_are_in_the_svg_and_nothing_warns(name: str, tmp_path: Path) -> None:
    curve = Curve(f"{name} 1", (Point(1, f"{name} 2", estimates()),), Point(0, f"{name} 3", estimates()))
    figure = draw_curves([curve], metrics=["mrr"], x_label=f"{name} 4", title=f"{name} 5", scale="category")
    texts = texts_of_svg(write_figure(figure, tmp_path, "x")[0])
    assert {one_line(f"{name} {i}") for i in range(1, 6)} <= set(texts)


def test_a_long_name_is_cut() -> None:
    curve = Curve("n" * 500, (Point(0, "l" * 500, estimates()), Point(1, "", estimates())))
    figure = draw(curve, scale="category")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["n" * 59 + "…"]
    assert figure.axes[-1].get_xticklabels()[0].get_text() == "l" * 23 + "…"


def test_nothing_global_changes(tmp_path: Path) -> None:
    with mpl.rc_context({"font.size": 19}):
        before = mpl.rcParams.copy()
        filters = list(warnings.filters)
        write_figure(draw(RULES), tmp_path, "x")
        assert mpl.rcParams.copy() == before
        assert list(warnings.filters) == filters


def test_pyplot_is_never_loaded() -> None:
    program = (
        "import sys\n"
        "import nnmfaug.reports.figures as figures\n"
        "assert 'matplotlib' not in sys.modules\n"
        "curve = figures.Curve('a', (figures.Point(1, '1', {'mr': figures.Estimate(3, 2, 4)}),))\n"
        "figures.draw_curves([curve], metrics=['mr'], x_label='x').savefig('/dev/null', format='png')\n"
        "assert 'matplotlib' in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figure = draw(RULES, metrics=("mr",))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    calls: list[Callable[[], object]] = [lambda: draw(RULES), lambda: write_figure(figure, tmp_path, "x")]
    for call in calls:
        with pytest.raises(DataError, match=re.escape("pip install 'nnmfaug[report]'")):
            call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("numbers", [(1, 2, 0), (float("nan"), 0, 1), (1, 0, float("inf"))])
def test_what_is_not_an_interval_is_refused(numbers: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="must be finite, and low at most high"):
        Estimate(*numbers)


def test_what_cannot_be_drawn_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"curves=\[\]: must be at least one"):
        draw()
    with pytest.raises(ValueError, match=r"metrics=\[\]: must be at least one"):
        draw(RULES, metrics=())
    with pytest.raises(ValueError, match="metric='hits@7': must be one of mrr"):
        draw(RULES, metrics=("hits@7",))
    with pytest.raises(ValueError, match="scale='log': must be one of linear, symlog, category"):
        draw(RULES, scale="log")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="curve 'rules': must have at least one point"):
        draw(replace(RULES, points=()))
    with pytest.raises(ValueError, match=r"curve 'rules', point 'new': has no estimate of mrr, mr$"):
        draw(replace(RULES, baseline=Point(0, "new", {})), metrics=("mrr", "mr"))
    with pytest.raises(ValueError, match="curve 'rules', point 'far': x=inf, must be finite"):
        draw(replace(RULES, points=(Point(float("inf"), "far", estimates()),)))
