"""Tables that compare models: paired differences, the parts of their variance, stability, and the changed answers."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import comb, sqrt
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.stats.variance import holm, mean_test, variance_of
from pytest_promptfuzz.studies.cells import BASELINE
from pytest_promptfuzz.studies.table_figures import (
    StudyTable,
    TableColumn,
    TableFigure,
    credit_of,
    grouped,
    mean_over_inputs,
    mutated,
    score_of,
    unmutated,
    values_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.stats.variance import Range
    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.table_figures import Entry


# Each pair of models on the same cells: what both were asked, input by input.

Figures = dict[tuple[str, ...], float]
"""A figure of each cell by its place, without the model."""


def models(cells: Sequence[Cell]) -> StudyTable:
    """Pair of models: differences of score and gold accuracy on the same cells, with p-values (Holm over the pairs)."""
    names = values_of(each.model for each in cells)
    if len(names) < 2:
        raise UsageError("table 'models' needs at least two models.")
    pairs = list(combinations(names, 2))
    own = dict(grouped(cells, "model"))
    columns: list[list[Entry]] = []
    inputs: dict[tuple[str, str], set[Hashable]] = {pair: set() for pair in pairs}
    for measure in (_credits, _golds_before, _golds_after):
        figures = {name: measure(own[name]) for name in names}
        found = [_differences(figures[one], figures[other]) for one, other in pairs]
        for pair, differences in zip(pairs, found, strict=True):
            inputs[pair] |= differences.keys()
        tested = [list(each.values()) for each in found]
        plain = {at: mean_test(each) for at, each in enumerate(tested) if len(each) > 1}
        adjusted = dict(zip(plain, holm(list(plain.values())), strict=True))
        columns.append([mean_over_inputs(each, low=-1.0) for each in tested])
        columns.append([TableFigure(adjusted[at]) if at in adjusted else None for at in range(len(pairs))])
    columns.append([TableFigure(len(inputs[pair])) for pair in pairs])
    return StudyTable(
        "Differences between models",
        "pair",
        (
            TableColumn("score", unit="points"),
            TableColumn("score p", unit="", digits=3),
            TableColumn("gold unmutated", unit="points"),
            TableColumn("gold unmutated p", unit="", digits=3),
            TableColumn("gold mutated", unit="points"),
            TableColumn("gold mutated p", unit="", digits=3),
            TableColumn("inputs", unit="", digits=0),
        ),
        tuple(
            (f"{one} - {other}", tuple(column[at] for column in columns))
            for at, (one, other) in enumerate(pairs)
        ),
        "The first model less the second, on cells that both have: the mean over inputs, each with the same weight. "
        "Intervals (95 %, t over inputs) hold for one pair; p is adjusted for all pairs (Holm).",
    )


def _credits(cells: Iterable[Cell]) -> Figures:
    return {_place(each): credit for each in cells if (credit := credit_of(each)) is not None}


def _golds_before(cells: Iterable[Cell]) -> Figures:
    return {_place(each): float(each.gold) for each in unmutated(cells) if each.gold is not None}


def _golds_after(cells: Iterable[Cell]) -> Figures:
    return {_place(each): float(each.gold) for each in mutated(cells) if each.gold is not None}


def _place(cell: Cell) -> tuple[str, ...]:
    return (cell.task, cell.input, cell.operator, str(cell.change.variant), str(cell.run))


def _differences(one: Figures, other: Figures) -> dict[Hashable, float]:
    """The mean difference of each input, over the cells that both models have."""
    found: dict[Hashable, list[float]] = defaultdict(list)
    for place, figure in one.items():
        if place in other:
            found[place[:2]].append(figure - other[place])
    return {name: sum(each) / len(each) for name, each in found.items()}


# Where the variance of scores comes from.


def variance(cells: Sequence[Cell]) -> StudyTable:
    """Model: the score, its ± from sampling, inputs and changes, and their shares of the variance (Brittlebench)."""
    return StudyTable(
        "Where the variance of scores comes from",
        "model",
        (
            TableColumn("score", best="high"),
            TableColumn("± sampling", unit="points"),
            TableColumn("± inputs", unit="points"),
            TableColumn("± changes", unit="points"),
            TableColumn("sampling"),
            TableColumn("inputs"),
            TableColumn("changes"),
        ),
        tuple((model, _parts(own)) for model, own in grouped(cells, "model")),
        "± is the standard deviation of one answer's score from this source alone, with its 95 % interval (jackknife "
        "over inputs); the last three columns are shares of the variance. It takes two runs and two inputs to tell "
        "them apart; without, they are not identifiable.",
    )


def _parts(cells: Sequence[Cell]) -> tuple[Entry, ...]:
    trials = [
        ((each.task, each.input), (each.operator, each.change.variant), credit)
        for each in cells
        if (credit := credit_of(each)) is not None
    ]
    if not trials:
        return (None,) * 7
    found = variance_of(trials)
    deviations = [
        _deviation(part, span)
        for part, span in (
            (found.inference, found.ranges.inference),
            (found.item, found.ranges.item),
            (found.perturbation, found.ranges.perturbation),
        )
    ]
    shares = (None,) * 3 if found.shares is None else tuple(map(TableFigure, found.shares))
    mean = score_of(cells)
    return (None if mean is None else TableFigure(mean.value), *deviations, *shares)


def _deviation(variance: float | None, span: Range | None) -> TableFigure | None:
    if variance is None:
        return None
    if span is None:
        return TableFigure(sqrt(variance))
    return TableFigure(sqrt(variance), low=sqrt(span.low), high=sqrt(span.high))


# Stability: whether a model gives the same answer, and the right one, every time.


def stability(cells: Sequence[Cell]) -> StudyTable:
    """Model: pass^k over runs, unmutated and mutated; right under every change; the same answer in every run."""
    most = 1 + max(each.run for each in cells)
    ks = [1, most] if most > 1 else [1]
    headings = [TableColumn(f"{state}pass^{k}", best="high") for state in ("", "mutated ") for k in ks]
    headings += [
        TableColumn("right under every change", best="high"),
        TableColumn("same answer", best="high"),
        TableColumn("mutated same answer", best="high"),
    ]
    rows = []
    for model, own in grouped(cells, "model"):
        plain, changed = unmutated(own), mutated(own)
        entries: list[Entry] = [
            _over_inputs(part, lambda group, k=k: _pass_power(group, k))  # type: ignore[misc]  # bound now
            for part in (plain, changed)
            for k in ks
        ]
        entries += [_all_right(own), _over_inputs(plain, _same), _over_inputs(changed, _same)]
        rows.append((model, tuple(entries)))
    return StudyTable(
        "Stability by model",
        "model",
        tuple(headings),
        tuple(rows),
        f"pass^k: the chance that k runs of one prompt all give the expected answer. Same answer: the share of prompts "
        f"whose answers are the same text in all runs ({most}). Intervals (95 %) are over inputs.",
    )


def _over_inputs(
    cells: Iterable[Cell], figure: Callable[[Sequence[Cell]], float | None]
) -> TableFigure | None:
    """The mean over inputs of a figure of the runs of each prompt: an input's change is a prompt of its own."""
    prompts: dict[tuple[str, str], dict[Hashable, list[Cell]]] = {}
    for cell in cells:
        of = prompts.setdefault((cell.task, cell.input), {})
        of.setdefault((cell.operator, cell.change.variant), []).append(cell)
    means = []
    for groups in prompts.values():
        known = [each for group in groups.values() if (each := figure(group)) is not None]
        if known:
            means.append(sum(known) / len(known))
    return mean_over_inputs(means)


def _pass_power(runs: Sequence[Cell], k: int) -> float | None:
    """pass^k of one prompt: C(c, k) / C(n, k), with c of n runs right (Yao et al., τ-bench, 2024)."""
    golds = [each.gold for each in runs if each.gold is not None]
    return comb(sum(golds), k) / comb(len(golds), k) if len(golds) >= k else None


def _same(runs: Sequence[Cell]) -> float | None:
    """Whether all runs of a prompt gave the same text (TARr@N of Atil et al., 2024)."""
    answers = [
        each.answer for each in runs if not each.error and each.outcome not in {"error", "not-applicable"}
    ]
    return float(len(set(answers)) == 1) if len(answers) > 1 else None


def _all_right(cells: Iterable[Cell]) -> TableFigure | None:
    """The mean over inputs of the share of runs in which the unmutated prompt and all changes were answered right."""
    runs: dict[tuple[str, str], dict[int, list[bool]]] = {}
    for cell in cells:
        if cell.gold is not None:
            runs.setdefault((cell.task, cell.input), {}).setdefault(cell.run, []).append(cell.gold)
    return mean_over_inputs(
        [sum(all(golds) for golds in each.values()) / len(each) for each in runs.values()]
    )


# The answers behind an aggregate that changed.


CHANGED_COLUMNS = (
    "task",
    "model",
    "input",
    "operator",
    "variant",
    "run",
    "baseline answer",
    "answer",
    "outcome",
    "gold before",
    "gold after",
)


class ChangedAnswer(NamedTuple):
    """An answer that a change of the prompt made another one, beside the unmutated prompt's of the same run."""

    cell: Cell
    before: str
    gold_before: bool | None

    @property
    def flips(self) -> bool:
        """Whether one of both is the expected answer, and the other is not."""
        return None not in (self.gold_before, self.cell.gold) and self.gold_before != self.cell.gold

    def row(self) -> dict[str, object]:
        """Its values by column."""
        cell, change = self.cell, self.cell.change
        place = (cell.task, cell.model, cell.input, change.operator, change.variant, cell.run)
        values = (*place, self.before, cell.answer, cell.outcome, self.gold_before, cell.gold)
        return dict(zip(CHANGED_COLUMNS, values, strict=True))


def changed_answers(cells: Sequence[Cell]) -> list[ChangedAnswer]:
    """The answers that lower or raise an aggregate: minor differences, deviations, and expected answers won or lost."""
    before: Mapping[tuple[str, ...], Cell] = {
        (each.task, each.model, each.input, str(each.run)): each for each in cells if each.outcome == BASELINE
    }
    found = []
    for cell in mutated(cells):
        baseline = before.get((cell.task, cell.model, cell.input, str(cell.run)))
        changed = ChangedAnswer(
            cell,
            "" if baseline is None else baseline.answer,
            None if baseline is None else baseline.gold,
        )
        if cell.outcome in {"minor", "deviation"} or changed.flips:
            found.append(changed)
    return found


def changes(cells: Sequence[Cell]) -> StudyTable:
    """Every changed answer: task, model, input, operator, run, both answers, outcome, gold before and after."""
    found = changed_answers(cells)
    lost = sum(each.flips and bool(each.gold_before) for each in found)
    won = sum(each.flips and not each.gold_before for each in found)
    decided = sum(credit_of(each) is not None or each.gold is not None for each in mutated(cells))
    return StudyTable(
        "Changed answers",
        CHANGED_COLUMNS[0],
        tuple(TableColumn(each, unit="text") for each in CHANGED_COLUMNS[1:]),
        tuple((each.cell.task, tuple(map(_shown, [*each.row().values()][1:]))) for each in found),
        f"{len(found)} of {decided} answers to changed prompts. The expected answer was lost in {lost}, and won in "
        f"{won}.",
    )


def _shown(value: object) -> str | None:
    if value is None:
        return None
    return {True: "right", False: "wrong"}[value] if isinstance(value, bool) else str(value)
