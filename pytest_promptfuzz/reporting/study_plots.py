"""Plots of a study's cells as SVG: heat maps, curves by intensity, ranks. Text, the same bytes each time."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import UsageError, not_among
from pytest_promptfuzz.studies.cells import AGAIN
from pytest_promptfuzz.studies.judge_errors import judge_sentence
from pytest_promptfuzz.studies.tables.brittlebench_tables import intensities, pairs_in, rank_place
from pytest_promptfuzz.studies.tables.table_figures import (
    accuracy_of,
    grouped,
    has_gold,
    loss_name,
    loss_of,
    mutated,
    score_of,
    simulation_of,
    unmutated,
    values_of,
)
from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.tables.table_figures import TableFigure


# Told apart by the colour-blind, too (Okabe and Ito); lines differ in their dashes as well.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "4 1")
_LETTER = 6.2
"""The mean width of a letter at the font's size."""
_BOLD = 7.0
"""Of a bold one."""
_CELL, _LINE = 64, 24
_KEY_LEFT = 60
_UNCHANGED = (240, 240, 240)
"""The colour of a difference of 0."""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 420, 240, 56, 44, 34


class _Label(NamedTuple):
    """A text at a place, ``anchor`` being start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    more: str = ""

    def svg(self) -> str:
        """Its element."""
        anchor = "" if self.anchor == "start" else f' text-anchor="{self.anchor}"'
        return f'<text x="{self.x:.1f}" y="{self.y:.1f}"{anchor}{self.more}>{escape(safe(self.text))}</text>'


class StudyDrawing(NamedTuple):
    """A plot before it is a file: its size, elements, and lines to read below it."""

    width: float
    height: float
    parts: Sequence[str]
    legend: Sequence[str] = ()


def study_plot(cells: Sequence[Cell], name: str) -> str:
    """A plot of a study's cells, as the text of an SVG file.

    Args:
        cells: What ``study`` returned, or ``read_cells`` read.
        name: ``heatmap`` (operator × model), ``intensity`` (curves), ``ranks`` (of models, by operator) or ``pairs``
            (which operator first × which second).

    Raises:
        UsageError: An unknown plot, or the cells cannot fill it.
    """
    if name not in PLOTS:
        raise UsageError(not_among(f"the plot {name!r}", name, PLOTS))
    asked = [each for each in cells if each.operator != AGAIN]
    drawing = PLOTS[name](asked)
    simulated = simulation_of((each.model, each.simulated) for each in asked)
    judged = "" if has_gold(asked) else judge_sentence(asked, carried=False)
    return _svg(drawing, [*drawing.legend, *(each for each in (judged, simulated) if each)])


def heatmap(cells: Sequence[Cell]) -> StudyDrawing:
    """Operator × model: the drop of gold accuracy, or the loss of score where no answers are expected."""
    models = values_of(each.model for each in cells)
    rows = [
        (operator, [_loss(cells, own, model) for model in models])
        for operator, own in grouped(mutated(cells), "operator")
    ]
    return _heat([_Grid(f"{loss_name(cells)} by operator and model, in points", models, rows)])


def pair_map(cells: Sequence[Cell]) -> StudyDrawing:
    """For each model, which operator first × which second: what both cost, and on the diagonal each alone."""
    operators = values_of(each.operator for each in mutated(cells))
    names = values_of(name for pair in pairs_in(operators) for name in pair)
    if not names:
        raise UsageError("plot 'pairs' needs operators in order, such as keyboard-typo+upper-case.")
    parts = dict(grouped(cells, "operator"))
    models = values_of(each.model for each in cells)
    title = f"{loss_name(cells)} by pairs of operators, in points"

    def grid(model: str) -> _Grid:
        def cost(first: str, second: str) -> float | None:
            own = parts.get(first if first == second else f"{first}+{second}")
            return None if own is None else _loss(cells, own, model)

        rows = [(first, [cost(first, second) for second in names]) for first in names]
        return _Grid(f"{title}: {model}" if len(models) > 1 else title, names, rows)

    return _heat(
        [grid(each) for each in models],
        ("Rows: the operator that is applied first. Columns: the second.", "On the diagonal: one alone."),
    )


def _loss(cells: Sequence[Cell], own: Sequence[Cell], model: str) -> float | None:
    found = loss_of([each for each in (*unmutated(cells), *own) if each.model == model])
    return None if found is None else found.value


class _Grid(NamedTuple):
    """Shares in [-1, 1] by row and column; ``None`` is not applicable."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float | None]]]


_SCALES = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Where the deepest colour may stand: plots of similar studies have the same one."""
_KEY_STEPS = (-1.0, -0.5, 0.0, 0.5, 1.0)


def _heat(grids: Sequence[_Grid], legend: Sequence[str] = ()) -> StudyDrawing:
    """Grids below each other, in points: losses orange, gains blue, of one scale; the figure stands in each cell."""
    most = max(
        (abs(each) for grid in grids for _, row in grid.rows for each in row if each is not None), default=0.0
    )
    scale = next(each for each in (*_SCALES, most) if most <= each)
    left = 12 + _LETTER * max(len(name) for grid in grids for name, _ in grid.rows)
    head = 30 + _LETTER * max(len(name) for grid in grids for name in grid.columns)
    width = max(
        *(left + _CELL * len(grid.columns) + 12 for grid in grids),
        *(24 + _BOLD * len(grid.title) for grid in grids),
        _KEY_LEFT + _CELL * (len(_KEY_STEPS) + 1) + 70,
    )
    parts: list[str] = []
    top = 0.0
    for grid in grids:
        parts += [f'<g transform="translate(0 {top:.0f})">', *_grid(grid, left, head, scale), "</g>"]
        top += head + _LINE * len(grid.rows) + 12
    parts += [f'<g transform="translate(0 {top:.0f})">', *_colour_key(scale), "</g>"]
    return StudyDrawing(width, top + _LINE + 12, parts, legend)


def _grid(grid: _Grid, left: float, head: float, scale: float) -> list[str]:
    parts = [_Label(8, 18, grid.title, more=' font-weight="bold"').svg()]
    for at, name in enumerate(grid.columns):
        x = left + _CELL * (at + 0.5)
        turn = f' transform="rotate(-90 {x + 4:.1f} {head - 4:.1f})"'
        parts.append(_Label(x + 4, head - 4, name, more=turn).svg())
    for number, (name, row) in enumerate(grid.rows):
        y = head + _LINE * number
        parts.append(_Label(left - 6, y + 16, name, "end").svg())
        for at, value in enumerate(row):
            parts += _heat_cell(left + _CELL * at, y, value, scale)
    return parts


def _colour_key(scale: float) -> list[str]:
    """What the colours mean: gained, unchanged, lost, and not applicable."""
    parts = [_Label(_KEY_LEFT - 6, 16, "gained", "end").svg()]
    for at, step in enumerate(_KEY_STEPS):
        parts += _heat_cell(_KEY_LEFT + _CELL * at, 0, step * scale, scale)
    parts.append(_Label(_KEY_LEFT + _CELL * len(_KEY_STEPS) + 4, 16, "lost").svg())
    return parts


def _heat_cell(x: float, y: float, value: float | None, scale: float) -> list[str]:
    """A cell: 0 is a light fill of its own with its figure; what is not applicable is an empty frame."""
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{_CELL - 2}" height="{_LINE - 2}"'
    if value is None:
        return [
            f'{box} fill="none" stroke="#ccc" stroke-dasharray="2 2"/>',
            _Label(x + _CELL / 2 - 1, y + 15, "N/A", "middle", ' fill="#666"').svg(),
        ]
    share = min(1.0, abs(value) / scale)
    deepest = (213, 94, 0) if value > 0 else (0, 114, 178)
    colour = "#" + "".join(
        f"{round(none + (each - none) * share):02x}" for none, each in zip(_UNCHANGED, deepest, strict=True)
    )
    dark = ' fill="#fff"' if share > 0.6 else ""
    shown = f"{100 * value:.1f}"
    shown = shown.removeprefix("-") if not float(shown) else shown
    return [f'{box} fill="{colour}"/>', _Label(x + _CELL / 2 - 1, y + 15, shown, "middle", dark).svg()]


class _Curves(NamedTuple):
    """One chart: points by line, what stands below it, and the ticks of both axes by what they are called."""

    title: str
    across: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    ticks_x: Mapping[str, float]
    ticks_y: Mapping[str, float]


def intensity_curves(cells: Sequence[Cell]) -> StudyDrawing:
    """A panel for each operator that stands at several intensities: what it costs each model as there is more of it."""
    found = intensities(cells)
    if not found:
        raise UsageError(
            "plot 'intensity' needs an operator at two intensities, such as keyboard-typo:1 and keyboard-typo:3."
        )
    models = values_of(each.model for each in cells)
    curves = {
        name: {
            model: [(level, loss) for level, own in levels if (loss := _loss(cells, own, model)) is not None]
            for model in models
        }
        for name, levels in found.items()
    }
    every = [loss for lines in curves.values() for points in lines.values() for _, loss in points]
    ticks = _ticks(min([0.0, *every]), max([0.0, *every]))
    panels = [
        _Curves(
            f"{loss_name(cells)} in points: {name}",
            "intensity",
            lines,
            {f"{level:g}": level for level, _ in found[name]},
            ticks,
        )
        for name, lines in curves.items()
    ]
    return _chart(panels, models)


def rank_changes(cells: Sequence[Cell]) -> StudyDrawing:
    """The rank of each model, unmutated and under each operator: by gold accuracy, or by score without."""
    models = values_of(each.model for each in cells)
    if len(models) < 2:
        raise UsageError("plot 'ranks' needs at least two models.")
    gold = has_gold(cells)
    columns = [("unmutated", unmutated(cells))] if gold else []
    columns += grouped(mutated(cells), "operator")
    measure: Callable[[list[Cell]], TableFigure | None] = accuracy_of if gold else score_of
    lines: dict[str, list[tuple[float, float]]] = {model: [] for model in models}
    for at, (_, own) in enumerate(columns):
        scores = {
            model: found.value
            for model in models
            if (found := measure([each for each in own if each.model == model])) is not None
        }
        if not scores:
            columns[at] = (f"{columns[at][0]} (N/A)", own)
        for model in scores:
            lines[model].append((at, -rank_place(model, scores)))
    ticks = {str(rank): -rank for rank in range(1, len(models) + 1)}
    names = {name: float(at) for at, (name, _) in enumerate(columns)}
    title = f"Rank by {'gold accuracy' if gold else 'score'}: 1 is the best"
    drawing = _chart(
        [_Curves(title, "", lines, names, ticks)], models, wide=max(_WIDTH, 40 * len(names) + _LEFT)
    )
    return drawing._replace(legend=("Models that are tied share their mean rank.",))


def _ticks(low: float, high: float) -> dict[str, float]:
    """Round steps of points between two shares, both included."""
    span = (high - low) or 0.1
    step = next(each for each in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0) if span / each <= 6)
    first, last = -int(-low / step + 0.999999), int(high / step + 0.999999)
    return {f"{100 * step * at:.0f}": step * at for at in range(first, max(last, first + 1) + 1)}


def _chart(panels: Sequence[_Curves], names: Sequence[str], wide: int = _WIDTH) -> StudyDrawing:
    """Panels side by side with one legend below them."""
    turned = any(len(panel.ticks_x) > 8 or any(len(each) > 6 for each in panel.ticks_x) for panel in panels)
    longest = max(len(each) for panel in panels for each in panel.ticks_x)
    bottom = _BOTTOM + (_LETTER * longest if turned else 0)
    parts = []
    for number, panel in enumerate(panels):
        parts += [
            f'<g transform="translate({number * wide} 0)">',
            *_panel(panel, names, wide, bottom, turned=turned),
            "</g>",
        ]
    for number, name in enumerate(names):
        y = _HEIGHT + bottom + 16 * number
        parts.append(f'<path d="M{_LEFT} {y - 4:.1f}h24" {_stroke(number)}/>')
        parts.append(_Label(_LEFT + 30, y, name).svg())
    return StudyDrawing(wide * len(panels), _HEIGHT + bottom + 16 * len(names), parts)


def _panel(panel: _Curves, names: Sequence[str], wide: int, bottom: float, *, turned: bool) -> list[str]:
    xs, ys = panel.ticks_x.values(), panel.ticks_y.values()
    across, down = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0

    def at(x: float, y: float) -> tuple[float, float]:
        left = _LEFT + (x - min(xs)) / across * (wide - _LEFT - 16)
        return left, _TOP + (max(ys) - y) / down * (_HEIGHT - _TOP)

    parts = [_Label(_LEFT, 18, panel.title, more=' font-weight="bold"').svg()]
    for name, y in panel.ticks_y.items():
        x, level = at(min(xs), y)
        parts.append(f'<path d="M{x:.1f} {level:.1f}H{wide - 16}" stroke="#ddd"/>')
        parts.append(_Label(x - 6, level + 4, name, "end").svg())
    for name, x in panel.ticks_x.items():
        place, _ = at(x, min(ys))
        turn = f' transform="rotate(-90 {place + 4:.1f} {_HEIGHT + 8})"' if turned else ""
        label = (
            _Label(place + 4, _HEIGHT + 8, name, "end", turn)
            if turned
            else _Label(place, _HEIGHT + 16, name, "middle")
        )
        parts.append(label.svg())
    if panel.across:
        parts.append(_Label((_LEFT + wide) / 2, _HEIGHT + bottom - 14, panel.across, "middle").svg())
    for number, name in enumerate(names):
        places = [at(*point) for point in panel.lines[name]]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" {_stroke(number)}/>')
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_COLOURS[number % 6]}"/>' for x, y in places
        ]
    return parts


def _stroke(number: int) -> str:
    dash = _DASHES[number // 6 % 6] if number >= 6 else _DASHES[number]
    return f'stroke="{_COLOURS[number % 6]}" stroke-width="2" stroke-dasharray="{dash}" fill="none"'


def _svg(drawing: StudyDrawing, legend: Sequence[str]) -> str:
    """The drawing as a file, with what a reader has to know below it."""
    width = max(drawing.width, 16 + max((_LETTER * len(each) for each in legend), default=0.0))
    height = drawing.height + 16 * len(legend)
    parts = [
        *drawing.parts,
        *(
            _Label(8, drawing.height + 4 + 16 * at, each, more=' fill="#555"').svg()
            for at, each in enumerate(legend)
        ),
    ]
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11" role="img">',
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


PLOTS: dict[str, Callable[[Sequence[Cell]], StudyDrawing]] = {
    "heatmap": heatmap,
    "intensity": intensity_curves,
    "ranks": rank_changes,
    "pairs": pair_map,
}
