"""Brittlebench's tables: drops by operator, group and benchmark, variance, ranks, intensity, pairs, promptings."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.stats.significance import mcnemar
from pytest_promptfuzz.stats.variance import (
    Parts,
    Ranges,
    Variance,
    mean_test,
    rank_stability,
    variance_of,
)
from pytest_promptfuzz.studies.prompting import FACTOR, UNEDITED, prompting_name
from pytest_promptfuzz.studies.tables.table_figures import (
    StudyTable,
    TableColumn,
    TableFigure,
    accuracy_of,
    drop_figure,
    drop_of,
    drops_by_input,
    grouped,
    has_gold,
    loss_name,
    loss_of,
    macro_drop,
    mean_figure,
    mean_over_inputs,
    mutated,
    put_adjusted,
    unmutated,
    values_of,
    with_judge_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.tables.table_figures import Entry


MACRO, MICRO = "macro", "micro (over all answers)"
_DROPS = "Intervals (95 %) are over inputs. Macro: each {0} counts the same; micro: each answer does."


# Drops of gold accuracy by operator, group of operators, and benchmark.


def brittlebench(cells: Sequence[Cell]) -> StudyTable:
    """Brittlebench, Tables 2 to 5: operator × model: by how much gold accuracy drops, in points; macro and micro."""
    return _drops_by(
        "operator", [(name, own) for name, own in grouped(cells, "operator") if name], cells, "operators"
    )


def brittlebench_tasks(cells: Sequence[Cell]) -> StudyTable:
    """Task, a benchmark, × model: by how much gold accuracy drops, in points; macro and micro means."""
    return _drops_by("task", grouped(cells, "task"), cells, "benchmarks")


def _drops_by(
    corner: str, parts: Sequence[tuple[str, Sequence[Cell]]], cells: Sequence[Cell], noun: str
) -> StudyTable:
    models = values_of(each.model for each in cells)
    plain = [each for each in cells if not each.operator]
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    drops: dict[str, list[Mapping[Hashable, float]]] = {model: [] for model in models}
    for name, own in parts:
        both = own if corner == "task" else (*plain, *own)
        for model in models:
            drops[model].append(drops_by_input([each for each in both if each.model == model]))
        rows.append((name, tuple(drop_figure(drops[model][-1]) for model in models)))
    macro = tuple(macro_drop(drops[model]) for model in models)
    micro = tuple(drop_of([each for each in cells if each.model == model]) for model in models)
    return StudyTable(
        f"Drop of gold accuracy by {corner} and model",
        corner,
        tuple(TableColumn(each, unit="points", best="low") for each in models),
        (*rows, (f"mean over {noun} (macro)", macro), ("over all answers (micro)", micro)),
        _DROPS.format({"task": "benchmark"}.get(corner, corner)),
        best_of="row",
    )


def brittlebench_groups(cells: Sequence[Cell]) -> StudyTable:
    """Brittlebench, Table 1: model × group of operators: gold accuracy and its drop; macro and micro averages."""
    groups = values_of(map(group_of, mutated(cells)))
    groups = [each for each in groups if each]
    headings = [TableColumn("baseline", best="high", digits=2)]
    for name in (*groups, MICRO):
        headings += [
            TableColumn(name, best="high", digits=2),
            TableColumn(f"{name} drop", unit="points", best="low", digits=2),
        ]
    headings.append(TableColumn(f"{MACRO} drop", unit="points", best="low", digits=2))
    rows = []
    for model, own in grouped(cells, "model"):
        plain = unmutated(own)
        entries: list[Entry] = [accuracy_of(plain)]
        drops = []
        for name in groups:
            part = [each for each in mutated(own) if group_of(each) == name]
            drops.append(drops_by_input([*plain, *part]))
            entries += [accuracy_of(part), drop_figure(drops[-1])]
        entries += [accuracy_of(mutated(own)), drop_of(own), macro_drop(drops)]
        rows.append((model, tuple(entries)))
    return StudyTable(
        "Gold accuracy and its drop by model and group of changes",
        "model",
        tuple(headings),
        tuple(rows),
        _DROPS.format("group"),
    )


def group_of(cell: Cell) -> str:
    """The group of a change: the task's own, else the operator's dimension."""
    return cell.change.group or cell.change.dimension


# The variance of correctness, as the paper has it and without its bias.


def brittlebench_variance(cells: Sequence[Cell]) -> StudyTable:
    """Model, then task: variance of correctness, the unmutated prompt's included: as in the paper, and unbiased."""
    rows = [(name, _variance_entries(own)) for name, own in grouped(cells, "model")]
    tasks = grouped(cells, "task")
    rows += [(f"task {name}", _variance_entries(own)) for name, own in tasks if len(tasks) > 1]
    return StudyTable(
        "Where the variance of correctness comes from",
        "model",
        (
            TableColumn("deterministic: inputs"),
            TableColumn("deterministic: changes", best="low"),
            TableColumn("unbiased: sampling"),
            TableColumn("unbiased: inputs"),
            TableColumn("unbiased: changes", best="low"),
        ),
        tuple(rows),
        "Shares of the variance, summed over tasks and models before they are divided; that of changes is the paper's "
        "brittleness score. Deterministic, as in the paper, takes each run's answers as the only ones there could be, "
        "so that sampling counts as changes. Unbiased takes two runs and two inputs.",
    )


def _variance_entries(cells: Sequence[Cell]) -> tuple[Entry, ...]:
    """The shares of a model or a benchmark: parts are summed over pairs of both before they are divided."""
    pairs = [own for _, of_model in grouped(cells, "model") for _, own in grouped(of_model, "task")]
    by_run = []
    for run in sorted({each.run for each in cells}):
        part = [[each for each in own if each.run == run] for own in pairs]
        shares = _shares(
            [variance_of(trials, deterministic=True) for each in part if (trials := _trials(each))]
        )
        if shares is not None:
            by_run.append(shares)
    unbiased = _shares([variance_of(trials) for own in pairs if (trials := _trials(own))])
    return (
        mean_figure([TableFigure(each[1]) for each in by_run]),
        mean_figure([TableFigure(each[2]) for each in by_run]),
        *((None,) * 3 if unbiased is None else map(TableFigure, unbiased)),
    )


def _trials(cells: Iterable[Cell]) -> list[tuple[Hashable, Hashable, float]]:
    return [
        (each.input, (each.operator, each.change.variant), float(each.gold))
        for each in cells
        if each.gold is not None
    ]


def _shares(variances: Sequence[Variance]) -> tuple[float, float, float] | None:
    """The shares of several variances together; those in which nothing can be told are left out."""
    known = [each.raw for each in variances if None not in each.raw]
    if not known:
        return None
    whole = Parts(*(sum(each or 0.0 for each in parts) for parts in zip(*known, strict=True)))
    return Variance(whole, Ranges(None, None, None), None, 0, 0, 0).shares


# Whether models keep their places.


def ranks(cells: Sequence[Cell]) -> StudyTable:
    """Operator: how the ranking of models by gold accuracy changes, averaged over tasks, and in how many of them."""
    models = values_of(each.model for each in cells)
    if len(models) < 2:
        raise UsageError("table 'ranks' needs at least two models.")
    cases: list[_RankCase] = []
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    plain = {task: unmutated(own) for task, own in grouped(cells, "task")}
    for operator, own in grouped(mutated(cells), "operator"):
        found = [
            case for task, part in grouped(own, "task") if (case := _rank_case(plain[task], part)) is not None
        ]
        cases += found
        rows.append((operator, _rank_entries(found)))
    if len(rows) > 1:
        rows.append(("all operators", _rank_entries(cases)))
    return StudyTable(
        "Stability of the models' ranking",
        "operator",
        (
            TableColumn("Spearman", unit="", digits=4),
            TableColumn("models that change rank"),
            TableColumn("rankings that change"),
        ),
        tuple(rows),
        "Models are ranked by gold accuracy in each task; tied models share their mean rank, and Spearman's "
        "correlation is a mean over tasks. There is none where all models are tied.",
    )


class _RankCase(NamedTuple):
    """One task under one operator: Spearman's correlation, and the share of models that change rank."""

    correlation: float | None
    changed: float


def _rank_case(before: Iterable[Cell], after: Iterable[Cell]) -> _RankCase | None:
    one, two = (
        {model: round(found.value, 9) for model, own in grouped(part, "model") if (found := accuracy_of(own))}
        for part in (before, after)
    )
    known = [each for each in one if each in two]
    if len(known) < 2:
        return None
    one, two = ({each: scores[each] for each in known} for scores in (one, two))
    changed = [rank_place(each, one) != rank_place(each, two) for each in known]
    return _RankCase(rank_stability(one, two), sum(changed) / len(changed))


def _rank_entries(cases: Sequence[_RankCase]) -> tuple[Entry, ...]:
    if not cases:
        return (None, None, None)
    correlations = [each.correlation for each in cases if each.correlation is not None]
    return (
        TableFigure(sum(correlations) / len(correlations)) if correlations else None,
        TableFigure(sum(each.changed for each in cases) / len(cases)),
        TableFigure(sum(each.changed > 0 for each in cases) / len(cases)),
    )


def rank_place(model: str, scores: Mapping[str, float]) -> float:
    """The mean rank of a model, from 1 for the best: tied models share theirs."""
    better = sum(other > scores[model] for other in scores.values())
    equal = sum(other == scores[model] for other in scores.values())
    return better + (equal + 1) / 2


# How often, and in which order.


def intensity(cells: Sequence[Cell]) -> StudyTable:
    """Operator with its intensity × model: what it costs, so that a curve can be read."""
    models = values_of(each.model for each in cells)
    plain = unmutated(cells)
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    for name, levels in intensities(cells).items():
        for level, own in levels:
            both = [*plain, *own]
            entries = tuple(loss_of([each for each in both if each.model == model]) for model in models)
            rows.append((f"{name}:{level:g}", entries))
    if not rows:
        raise UsageError(
            "table 'intensity' needs an operator at two intensities, such as keyboard-typo:1 and keyboard-typo:3."
        )
    return StudyTable(
        f"{loss_name(cells)} by intensity",
        "operator",
        tuple(TableColumn(each, unit="points", best="low") for each in models),
        tuple(rows),
        "Intervals (95 %) are over inputs.",
        best_of="row",
    )


def intensities(cells: Sequence[Cell]) -> dict[str, list[tuple[float, list[Cell]]]]:
    """The cells of each operator that stands there at several intensities, from the lowest on."""
    found: dict[str, dict[float, list[Cell]]] = {}
    for operator, own in grouped(mutated(cells), "operator"):
        name, level = intensity_in(operator)
        if level is not None:
            found.setdefault(name, {})[level] = own
    return {name: sorted(levels.items()) for name, levels in found.items() if len(levels) > 1}


def intensity_in(operator: str) -> tuple[str, float | None]:
    """An operator's name and its intensity; none of one without, or of several in order."""
    name, colon, level = operator.rpartition(":")
    if not colon or "+" in operator:
        return operator, None
    try:
        return name, float(level)
    except ValueError:
        return operator, None


def pairs(cells: Sequence[Cell]) -> StudyTable:
    """Pair of operators: what each costs alone, what both cost in either order, and what the order does."""
    models = values_of(each.model for each in cells)
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    for one, two in pairs_in(values_of(each.operator for each in cells)):
        for model in models:
            own = [each for each in cells if each.model == model]
            plain = unmutated(own)

            def cost(operator: str, own: list[Cell] = own, plain: list[Cell] = plain) -> TableFigure | None:
                return loss_of([*plain, *(each for each in own if each.operator == operator)])

            names = (one, two, f"{one}+{two}", f"{two}+{one}")
            label = f"A={one}, B={two}" + (f", {model}" if len(models) > 1 else "")
            rows.append((label, (*map(cost, names), _order(own, *names[2:]))))
    if not rows:
        raise UsageError("table 'pairs' needs operators in order, such as keyboard-typo+upper-case.")
    return StudyTable(
        f"{loss_name(cells)} by pairs of operators",
        "pair",
        (
            TableColumn("A", unit="points"),
            TableColumn("B", unit="points"),
            TableColumn("A+B", unit="points"),
            TableColumn("B+A", unit="points"),
            TableColumn("order: A+B - B+A", unit="points"),
        ),
        tuple(rows),
        "A+B: A is applied first. Intervals (95 %) are over inputs.",
    )


def pairs_in(operators: Iterable[str]) -> list[tuple[str, str]]:
    """The unordered pairs among operators, as A and B of the first of A+B and B+A."""
    found: dict[frozenset[str], tuple[str, str]] = {}
    for each in operators:
        parts = each.split("+")
        if len(parts) == 2:
            found.setdefault(frozenset(parts), (parts[0], parts[1]))
    return list(found.values())


def _order(cells: Sequence[Cell], first: str, second: str) -> TableFigure | None:
    plain = unmutated(cells)
    one, two = (
        [*plain, *(each for each in cells if each.operator == operator)] for operator in (first, second)
    )
    return saved_figure(two, one)


def losses(cells: Sequence[Cell]) -> dict[Hashable, float]:
    """What changes cost each input: gold accuracy where answers are known, else score."""
    drops = drops_by_input(cells)
    if drops:
        return drops
    found: dict[Hashable, list[Cell]] = defaultdict(list)
    for cell in cells:
        found[cell.task, cell.input].append(cell)
    return {name: lost.value for name, own in found.items() if (lost := loss_of(own)) is not None}


# The prompt as it is, few-shot, chain of thought: what they do to accuracy, and to its drop under the same changes.


def promptings(cells: Sequence[Cell]) -> StudyTable:
    """Model and prompting: gold accuracy, its drop, McNemar's test against the first prompting, the interaction."""
    rows: list[tuple[str, list[Entry]]] = []
    tests: list[tuple[int, float, float | None]] = []
    for model, ways in by_prompting(cells, "promptings").items():
        reference = next(iter(ways.values()))
        for way, own in ways.items():
            entries: list[Entry] = [accuracy_of(unmutated(own)), accuracy_of(mutated(own)), drop_of(own)]
            if own is reference:
                rows.append((f"{model}, {way}", [*entries, *(None,) * 5]))
                continue
            won, lost, both = _discordant(own, reference)
            saved = saved_by(own, reference)
            p = mcnemar([won[each] - lost[each] for each in {*won, *lost}])
            tests.append((len(rows), p, mean_test(saved) if len(saved) > 1 else None))
            entries += [TableFigure(each.total() / both) if both else None for each in (won, lost)]
            rows.append((f"{model}, {way}", [*entries, None, saved_figure(own, reference), None]))
    put_adjusted(rows, 5, {at: p for at, p, _ in tests})
    put_adjusted(rows, 7, {at: p for at, _, p in tests if p is not None})
    return StudyTable(
        "Gold accuracy by prompting",
        "model",
        (
            TableColumn("unmutated", best="high"),
            TableColumn("mutated", best="high"),
            TableColumn("drop", unit="points", best="low"),
            TableColumn("only here right"),
            TableColumn("only first right"),
            TableColumn("McNemar p", unit="", digits=4),
            TableColumn("drop saved", unit="points"),
            TableColumn("drop saved p", unit="", digits=4),
        ),
        tuple((name, tuple(entries)) for name, entries in rows),
        "Each prompting against its model's first one, on the same inputs, changes and runs: McNemar's test, in which "
        "the answers of an input count together; the interaction (drop saved: the first one's drop less this one's) by "
        "t over inputs. p are adjusted for all rows (Holm).",
    )


def prompting_of(cell: Cell) -> str:
    """How a cell's model was prompted."""
    given = json.loads(cell.parameters) if cell.parameters else {}
    return prompting_name(str(given.get(FACTOR, UNEDITED)))


def by_prompting(cells: Sequence[Cell], table: str) -> dict[str, dict[str, list[Cell]]]:
    """Cells by model and prompting, for models that were prompted in several ways.

    Raises:
        UsageError: No model was; the message names the table.
    """
    found: dict[str, dict[str, list[Cell]]] = {}
    for model, own in grouped(cells, "model"):
        way = prompting_of(own[0])
        words = [
            each
            for each in model.split()
            if not (each.startswith(f"{FACTOR}=") and prompting_name(each.removeprefix(f"{FACTOR}=")) == way)
        ]
        found.setdefault(" ".join(words), {})[way] = own
    several = {model: ways for model, ways in found.items() if len(ways) > 1}
    if not several:
        raise UsageError(
            f"table {table!r} needs a model that is prompted in two ways: [factors] {FACTOR} = "
            '["none", "cot"].'
        )
    return several


def _discordant(
    own: Iterable[Cell], reference: Iterable[Cell]
) -> tuple[Counter[Hashable], Counter[Hashable], int]:
    """By input: on how many answers only the first is right, and only the second; and how many answers both have."""

    def golds(cells: Iterable[Cell]) -> dict[tuple[str, ...], bool]:
        return {(each.place[0], *each.place[2:]): each.gold for each in cells if each.gold is not None}

    one, two = golds(own), golds(reference)
    both = [each for each in one if each in two]
    won: Counter[Hashable] = Counter(each[:2] for each in both if one[each] and not two[each])
    lost: Counter[Hashable] = Counter(each[:2] for each in both if two[each] and not one[each])
    return won, lost, len(both)


def saved_by(own: Sequence[Cell], reference: Sequence[Cell]) -> list[float]:
    """By input, how much smaller the drop is than the reference's."""
    here, there = losses(own), losses(reference)
    return [there[each] - here[each] for each in there if each in here]


def saved_figure(own: Sequence[Cell], reference: Sequence[Cell]) -> TableFigure | None:
    """The mean over inputs of how much smaller the drop is, with its interval and the error of judges in it."""
    figure = mean_over_inputs(saved_by(own, reference), low=-1.0)
    return figure if has_gold(own) else with_judge_error(figure, own, reference, low=-1.0)


BRITTLEBENCH_TABLES: dict[str, Callable[[Sequence[Cell]], StudyTable]] = {
    "brittlebench": brittlebench,
    "brittlebench-groups": brittlebench_groups,
    "brittlebench-tasks": brittlebench_tasks,
    "brittlebench-variance": brittlebench_variance,
    "ranks": ranks,
    "intensity": intensity,
    "pairs": pairs,
    "promptings": promptings,
}
