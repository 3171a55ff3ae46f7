"""What tables of studies are made of: figures, columns, rows, and the means that several tables show."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, overload

from pytest_promptfuzz.stats.intervals import t_quantile
from pytest_promptfuzz.stats.misclassification import NO_ERROR
from pytest_promptfuzz.stats.scores import CREDITS, EQUIVALENT_CREDIT
from pytest_promptfuzz.stats.variance import holm
from pytest_promptfuzz.studies.cells import BASELINE
from pytest_promptfuzz.studies.judge_errors import judge_error
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.studies.cells import Cell


@dataclass(frozen=True, slots=True)
class TableFigure:
    """One figure of a table.

    Attributes:
        value: Its mean.
        std: The sample standard deviation over runs; ``None`` with one run.
        low: The lower end of its 95 % interval, where the table has intervals.
        high: The upper end.
        mark: What stands behind it, such as ``*``.
    """

    value: float
    std: float | None = None
    low: float | None = None
    high: float | None = None
    mark: str = ""


Entry = TableFigure | str | None
"""A figure, a text, or ``None``: not applicable."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of figures.

    Attributes:
        name: What stands above it.
        unit: ``%`` for shares, which are given in [0, 1]; ``points`` for differences of shares; else as it is.
        best: ``high`` or ``low`` where the best figure is to be marked.
        digits: After the decimal point.
    """

    name: str
    unit: str = "%"
    best: str = ""
    digits: int = 1


@dataclass(frozen=True, slots=True)
class StudyTable:
    """Figures of a study.

    Attributes:
        title: What it shows.
        corner: What the names of the rows are.
        headings: Of its columns.
        rows: Each with its name, and an entry for each column.
        note: What a reader has to know.
        best_of: Whether the best is marked in each ``column``, or in each ``row``.
        simulated: That answers are not a real model's, and whose; empty where they are, or nothing is known.
    """

    title: str
    corner: str
    headings: tuple[TableColumn, ...]
    rows: tuple[tuple[str, tuple[Entry, ...]], ...]
    note: str = ""
    best_of: str = "column"
    simulated: str = ""


_LEVEL = 0.95
"""Of intervals."""
_MOST_NAMES = 4
"""Of models in a sentence."""


def put_adjusted(rows: Sequence[tuple[str, list[Entry]]], column: int, tested: Mapping[int, float]) -> None:
    """Put p-values, adjusted for all of them (Holm), into a column of the rows that they are of, by number."""
    for at, p in zip(tested, holm(list(tested.values())), strict=True):
        rows[at][1][column] = TableFigure(p)


def simulation_of(targets: Iterable[tuple[str, bool]]) -> str:
    """Whose answers are simulated, in a sentence; empty for nobody's.

    Args:
        targets: The names of models, each with whether it is simulated.
    """
    each_once = dict.fromkeys(targets)
    models = values_of(name for name, _ in each_once)
    # Joined files may say of one model who answered, and be silent elsewhere.
    names = values_of(name for name, simulated in each_once if simulated)
    if not names:
        return ""
    if len(names) == len(models):
        return "Answers are simulated: no real model was called."
    shown = ", ".join(names[:_MOST_NAMES])
    more = f" and {counted(len(names) - _MOST_NAMES, 'more model')}" if len(names) > _MOST_NAMES else ""
    return f"Answers of {shown}{more} are simulated."


def values_of(names: Iterable[str]) -> list[str]:
    """Each name once, in order."""
    return list(dict.fromkeys(names))


def grouped(cells: Iterable[Cell], name: str) -> list[tuple[str, list[Cell]]]:
    """The cells by their model, operator, task or whatever else ``name`` is."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(getattr(cell, name), []).append(cell)
    return list(found.items())


def over_runs(cells: Iterable[tuple[int, float]]) -> TableFigure | None:
    """The mean over runs of each run's mean, and its standard deviation."""
    runs: dict[int, list[float]] = defaultdict(list)
    for run, number in cells:
        runs[run].append(number)
    return mean_figure([TableFigure(sum(each) / len(each)) for _, each in sorted(runs.items())])


def mean_figure(numbers: Sequence[TableFigure]) -> TableFigure | None:
    """The mean, and the standard deviation of several; ``None`` without any."""
    if not numbers:
        return None
    mean = sum(each.value for each in numbers) / len(numbers)
    if len(numbers) == 1:
        return TableFigure(mean)
    return TableFigure(mean, sqrt(sum((each.value - mean) ** 2 for each in numbers) / (len(numbers) - 1)))


def mean_over_inputs(numbers: Sequence[float], low: float = 0.0) -> TableFigure | None:
    """The mean of a figure of each input, with its 95 % interval (t over inputs), between ``low`` and 1."""
    if not numbers:
        return None
    mean = sum(numbers) / len(numbers)
    if len(numbers) == 1:
        return TableFigure(mean)
    error = sqrt(sum((each - mean) ** 2 for each in numbers) / (len(numbers) - 1) / len(numbers))
    half = t_quantile((1 + _LEVEL) / 2, len(numbers) - 1) * error
    return TableFigure(mean, low=max(low, mean - half), high=min(1.0, mean + half))


def credit_of(cell: Cell) -> float | None:
    """What an answer counts in the score, 0 to 1; ``None`` where it was not decided."""
    return CREDITS[cell.outcome] / EQUIVALENT_CREDIT if cell.outcome in CREDITS else None


def score_of(cells: Iterable[Cell]) -> TableFigure | None:
    """The score over runs (Quirx, Eq. 1); ``None`` where nothing was decided.

    Where a judge that was measured decided some of it, it has an interval over inputs, with the judge's error in it.
    """
    decided = [each for each in cells if each.outcome in CREDITS]
    score = over_runs((each.run, CREDITS[each.outcome] / EQUIVALENT_CREDIT) for each in decided)
    if score is None or judge_error(decided) is None:
        return score
    plain = mean_over_inputs([1 - each for each in _losses_by_input(decided).values()])
    if plain is None or plain.low is None or plain.high is None:
        return score
    low, high = score.value + plain.low - plain.value, score.value + plain.high - plain.value
    return with_judge_error(replace(score, low=max(0.0, low), high=min(1.0, high)), decided)


def _losses_by_input(cells: Iterable[Cell]) -> dict[Hashable, float]:
    """What the answers of each input lose of the score, in the mean."""
    losses: dict[Hashable, list[float]] = defaultdict(list)
    for cell in cells:
        credit = credit_of(cell)
        if credit is not None:
            losses[cell.task, cell.input].append(1 - credit)
    return {name: sum(each) / len(each) for name, each in losses.items()}


@overload
def with_judge_error(
    figure: TableFigure, cells: Sequence[Cell], less: Sequence[Cell] = (), low: float = 0.0
) -> TableFigure: ...
@overload
def with_judge_error(
    figure: TableFigure | None, cells: Sequence[Cell], less: Sequence[Cell] = (), low: float = 0.0
) -> TableFigure | None: ...
def with_judge_error(
    figure: TableFigure | None, cells: Sequence[Cell], less: Sequence[Cell] = (), low: float = 0.0
) -> TableFigure | None:
    """A figure whose interval has the errors of measured judges in it, as intervals of tests have.

    Args:
        figure: The score of ``cells``, less that of ``less``.
        cells: That add to it.
        less: That lower it.
        low: The least that it can be.
    """
    if figure is None or figure.low is None or figure.high is None:
        return figure
    one, other = judge_error(cells), judge_error(less)
    if one is None and other is None:
        return figure
    error = (one or NO_ERROR).less(other or NO_ERROR)
    span = error.span(figure.value, figure.low, figure.high, _LEVEL, least=low)
    return replace(figure, low=span[0], high=span[1])


def unmutated(cells: Iterable[Cell]) -> list[Cell]:
    """Answers to unmutated prompts."""
    return [each for each in cells if each.outcome == BASELINE]


def mutated(cells: Iterable[Cell]) -> list[Cell]:
    """Cells of changes."""
    return [each for each in cells if each.operator]


def accuracy_of(cells: Iterable[Cell]) -> TableFigure | None:
    """How often answers are the expected ones, over runs; ``None`` where there are no expected ones."""
    return over_runs((each.run, float(each.gold)) for each in cells if each.gold is not None)


def drop_of(cells: Sequence[Cell]) -> TableFigure | None:
    """The mean over inputs of how much accuracy changes make lose, with its 95 % interval (t over inputs)."""
    return drop_figure(drops_by_input(cells))


def drops_by_input(cells: Sequence[Cell]) -> dict[Hashable, float]:
    """How much accuracy changes make each input lose; without inputs of which nothing can tell."""
    before, after = accuracy_by_input(unmutated(cells)), accuracy_by_input(mutated(cells))
    return {each: before[each] - after[each] for each in before if each in after}


def drop_figure(drops: Mapping[Hashable, float]) -> TableFigure | None:
    """The mean of what inputs lose, with its interval."""
    return mean_over_inputs([*drops.values()], low=-1.0)


def macro_drop(parts: Sequence[Mapping[Hashable, float]]) -> TableFigure | None:
    """The mean of the drops of several operators, groups or tasks, each with the same weight, with its interval.

    The interval (95 %, t over inputs) knows that an input's drops under several operators belong together: an input
    moves the mean by the sum of what it adds to the mean of each part (a linearised variance over clusters).

    Args:
        parts: What each input loses, of each part; empty ones are left out.
    """
    known = [each for each in parts if each]
    if not known:
        return None
    means = [sum(each.values()) / len(each) for each in known]
    moves: dict[Hashable, float] = defaultdict(float)
    for part, mean in zip(known, means, strict=True):
        for name, drop in part.items():
            moves[name] += (drop - mean) / len(part) / len(known)
    value, inputs = sum(means) / len(means), len(moves)
    if inputs == 1:
        return TableFigure(value)
    error = sqrt(sum(each**2 for each in moves.values()) * inputs / (inputs - 1))
    half = t_quantile((1 + _LEVEL) / 2, inputs - 1) * error
    return TableFigure(value, low=max(-1.0, value - half), high=min(1.0, value + half))


def accuracy_by_input(cells: Iterable[Cell]) -> dict[Hashable, float]:
    """How often the answers of each input are the expected ones; without those of which nothing can tell."""
    found: dict[Hashable, list[bool]] = defaultdict(list)
    for cell in cells:
        if cell.gold is not None:
            found[cell.task, cell.input].append(cell.gold)
    return {name: sum(golds) / len(golds) for name, golds in found.items()}


def loss_of(cells: Sequence[Cell]) -> TableFigure | None:
    """What changes cost, with its interval over inputs: gold accuracy where answers are known, else the score.

    The score of an answer that is equivalent to the unmutated prompt's is 1, so that its loss is 1 less its score.
    """
    if has_gold(cells):
        return drop_of(cells)
    return with_judge_error(mean_over_inputs([*_losses_by_input(cells).values()]), (), less=cells)


def has_gold(cells: Iterable[Cell]) -> bool:
    """Whether any answer is known to be right or wrong."""
    return any(each.gold is not None for each in cells)


def loss_name(cells: Iterable[Cell]) -> str:
    """What ``loss_of`` gives, for titles."""
    return "Drop of gold accuracy" if has_gold(cells) else "Loss of score"
