"""Tables that compare models: differences, variance, accuracy over prompts, stability, edits, changed answers."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import comb, sqrt
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.stats.prompt_accuracy import SHARES, prompt_accuracy
from pytest_promptfuzz.stats.variance import holm, mean_test, variance_of
from pytest_promptfuzz.studies.cells import BASELINE, NOT_APPLICABLE
from pytest_promptfuzz.studies.conversations import turn_of
from pytest_promptfuzz.studies.tables.brittlebench_tables import by_prompting, saved_by, saved_figure
from pytest_promptfuzz.studies.tables.sentiment_tables import halves
from pytest_promptfuzz.studies.tables.table_figures import (
    StudyTable,
    TableColumn,
    TableFigure,
    accuracy_of,
    credit_of,
    grouped,
    loss_of,
    mean_over_inputs,
    mutated,
    put_adjusted,
    score_of,
    unmutated,
    values_of,
    with_judge_error,
)
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.stats.prompt_accuracy import EstimatedFigure
    from pytest_promptfuzz.stats.variance import Range
    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.tables.table_figures import Entry


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
        means = [mean_over_inputs(each, low=-1.0) for each in tested]
        if measure is _credits:
            means = [
                with_judge_error(
                    mean, _shared(own[one], figures[other]), _shared(own[other], figures[one]), low=-1.0
                )
                for mean, (one, other) in zip(means, pairs, strict=True)
            ]
        columns.append([*means])
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
        "Intervals (95 %, t over inputs) hold for one pair; p is adjusted for all pairs (Holm). "
        f"{_told_by_few(min(map(len, inputs.values())), len(pairs))}",
    )


_LEAST_P = 0.005
"""Where the least p that inputs can show is above it, the table says so."""


def _told_by_few(inputs: int, tests: int) -> str:
    """What figures of so many inputs cannot tell; p is adjusted for so many tests."""
    equal = (
        "Where all inputs differ by the same, an interval has no width, and tells nothing of other inputs."
    )
    least = min(1.0, max(1, tests) * 2.0 ** (1 - inputs))
    adjusted = f", adjusted for {counted(tests, 'test')}" if tests > 1 else ""
    few = (
        f"{counted(inputs, 'input')} can show no p below {least:.2g}{adjusted}. " if least > _LEAST_P else ""
    )
    return f"{few}{equal}"


def _credits(cells: Iterable[Cell]) -> Figures:
    return {_place(each): credit for each in cells if (credit := credit_of(each)) is not None}


def _golds_before(cells: Iterable[Cell]) -> Figures:
    return {_place(each): float(each.gold) for each in unmutated(cells) if each.gold is not None}


def _golds_after(cells: Iterable[Cell]) -> Figures:
    return {_place(each): float(each.gold) for each in mutated(cells) if each.gold is not None}


def _place(cell: Cell) -> tuple[str, ...]:
    return (cell.task, cell.input, cell.operator, str(cell.change.variant), str(cell.run))


def _shared(cells: Iterable[Cell], figures: Figures) -> list[Cell]:
    """The cells that another model has, too."""
    return [each for each in cells if _place(each) in figures]


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


# The distribution of gold accuracy over the changes of a prompt, also where a part of the cells was asked.


def prompt_distribution(cells: Sequence[Cell]) -> StudyTable:
    """Model, then task: accuracy of the unmutated prompt, and mean and quantiles over all changes (PromptEval).

    Raises:
        UsageError: No model has enough answers of a task.
    """
    several = len(values_of(each.task for each in cells)) > 1
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    refused: list[str] = []
    for model, own in grouped(cells, "model"):
        for task, part in grouped(own, "task"):
            name = f"{model}, {task}" if several else model
            try:
                rows.append((name, _distribution(part)))
            except UsageError as error:
                refused.append(f"{name}: {error}.")
                rows.append((name, (None,) * 8))
    if len(refused) == len(rows):
        raise UsageError(f"table 'prompt-distribution' cannot be estimated. {' '.join(refused)}")
    return StudyTable(
        "Gold accuracy over changes of the prompt",
        "model",
        (
            TableColumn("unmutated", best="high"),
            TableColumn("mean", best="high"),
            *(
                TableColumn("median" if share == 0.5 else f"{100 * share:.0f}th percentile", best="high")
                for share in SHARES
            ),
            TableColumn("changes", unit="", digits=0),
            TableColumn("inputs", unit="", digits=0),
            TableColumn("asked"),
        ),
        tuple(rows),
        "Over changes, each with its accuracy over all inputs. Where not all cells were asked, the rest is drawn from "
        "a Rasch model (after PromptEval), and intervals (95 %) hold for these changes and inputs. It assumes that a "
        "change and an input add up on the logit scale, and that answers are independent beside that."
        + "".join(f" {each}" for each in refused),
    )


def _distribution(cells: Sequence[Cell]) -> tuple[Entry, ...]:
    golds: dict[tuple[str, str], dict[int, bool]] = defaultdict(dict)
    names: dict[str, str] = {}
    for each in cells:
        mutation = each.change.mutation
        if each.gold is not None and (mutation or each.outcome == BASELINE):
            # Two operators may make one mutation, which is asked once.
            name = names.setdefault(
                mutation, f"{each.operator}, variant {each.change.variant}" if mutation else ""
            )
            golds[name, each.input][each.run] = each.gold
    shares = {place: sum(runs.values()) / len(runs) for place, runs in golds.items()}
    reference: dict[Hashable, float] = {given: share for (name, given), share in shares.items() if not name}
    answers: dict[tuple[Hashable, Hashable], float] = {
        place: share for place, share in shares.items() if place[0]
    }
    found = prompt_accuracy(answers, reference)
    return (
        TableFigure(sum(reference.values()) / len(reference)) if reference else None,
        *(_estimated(each) for each in (found.mean, *found.quantiles)),
        TableFigure(found.prompts),
        TableFigure(found.inputs),
        TableFigure(found.asked),
    )


def _estimated(figure: EstimatedFigure) -> TableFigure:
    return TableFigure(figure.value, low=figure.low, high=figure.high)


# Conversations: what changes do in each turn, and how much of it was there in an earlier one.


_UNBROKEN = {"equivalent", NOT_APPLICABLE}
"""Of turns after which a conversation goes on as the unmutated one: ``not-applicable`` is one before the change."""


def turns(cells: Sequence[Cell]) -> StudyTable:
    """Turn of a conversation, then model: score, score after equivalent turns, gold accuracy before and after."""
    several = len(values_of(each.model for each in cells)) > 1
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    for model, own in grouped(cells, "model"):
        broken: set[tuple[str, ...]] = set()
        for name, part in grouped(own, "task"):
            found = turn_of(name)
            if found is None:
                continue
            of_task = [(each, (found[0], *_place(each)[1:])) for each in part]
            rows.append(
                (
                    f"{name}, {model}" if several else name,
                    (
                        score_of(part),
                        score_of(each for each, place in of_task if place not in broken),
                        accuracy_of(unmutated(part)),
                        accuracy_of(mutated(part)),
                    ),
                )
            )
            broken |= {place for each, place in of_task if each.operator and each.outcome not in _UNBROKEN}
    return StudyTable(
        "Turns of conversations",
        "turn",
        (
            TableColumn("score", best="high"),
            TableColumn("score after equivalent turns", best="high"),
            TableColumn("gold unmutated", best="high"),
            TableColumn("gold mutated", best="high"),
        ),
        tuple(rows),
        "A turn is asked with the answers to the changed turns before it, so that its outcome includes what these did. "
        "The second column has only conversations all of whose earlier answers were equivalent.",
    )


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


# Which edit of a prompt cuts what changes cost, on inputs that had no part in its choice.

_EDITS_NOTE = (
    "Drop: of gold accuracy, or of the score where no answers are expected. The halves are drawn from the inputs' "
    "names; intervals (95 %) and p are t over inputs of the held-out half, p adjusted for all rows (Holm)."
)


def mitigation(cells: Sequence[Cell]) -> StudyTable:
    """Model and edit: what changes cost on either half of the inputs, and how much less that is than without the edit.

    The edit is chosen on the first half: of those whose answers are right as often under changes as without an edit,
    the one under which changes cost least. The second half, which had no part in the choice, says what it is worth.

    Raises:
        UsageError: There are fewer than two inputs.
    """
    choosing, scoring = halves({(each.task, each.input) for each in cells})
    if not scoring:
        raise UsageError("table 'mitigation' needs two inputs at least: one half chooses, the other scores.")
    rows: list[tuple[str, list[Entry]]] = []
    notes: list[str] = []
    tested: dict[int, float] = {}
    for model, edits in by_prompting(cells, "mitigation").items():
        one, two = ({edit: _within(own, half) for edit, own in edits.items()} for half in (choosing, scoring))
        first = next(iter(edits))
        chosen = _chosen(one)
        for edit in edits:
            saved = [] if edit == first else saved_by(two[edit], two[first])
            if len(saved) > 1:
                tested[len(rows)] = mean_test(saved)
            entries: list[Entry] = [
                accuracy_of(mutated(two[edit])),
                loss_of(one[edit]),
                loss_of(two[edit]),
                None if edit == first else saved_figure(two[edit], two[first]),
                None,
                "chosen" if edit == chosen else "",
            ]
            rows.append((f"{model}, {edit}", entries))
        notes.append(_finding(model, chosen, first, two))
    put_adjusted(rows, 4, tested)
    return StudyTable(
        "What edits of the prompt save",
        "model",
        (
            TableColumn("right under changes, held-out half"),
            TableColumn("drop, choosing half", unit="points"),
            TableColumn("drop, held-out half", unit="points", best="low"),
            TableColumn("saved, held-out half", unit="points"),
            TableColumn("p", unit="", digits=4),
            TableColumn("choice", unit="text"),
        ),
        tuple((name, tuple(entries)) for name, entries in rows),
        " ".join([*notes, _EDITS_NOTE, _told_by_few(len(scoring), len(tested))]),
    )


def _within(cells: Sequence[Cell], half: set[tuple[str, str]]) -> list[Cell]:
    return [each for each in cells if (each.task, each.input) in half]


def _chosen(edits: Mapping[str, Sequence[Cell]]) -> str:
    """The edit with the least drop among those that are right as often as the first; of equal ones the earlier."""
    accuracies = {edit: accuracy_of(mutated(own)) for edit, own in edits.items()}
    least = next(iter(accuracies.values()))
    drops = {}
    for edit, own in edits.items():
        accuracy, lost = accuracies[edit], loss_of(own)
        if lost is not None and (least is None or (accuracy is not None and accuracy.value >= least.value)):
            drops[edit] = lost.value
    return min(drops, key=lambda edit: drops[edit], default=next(iter(edits)))


def _finding(model: str, chosen: str, first: str, held_out: Mapping[str, Sequence[Cell]]) -> str:
    """A sentence that says what the chosen edit is worth."""
    if chosen == first:
        return f"{model}: no edit cuts the drop on the choosing half."
    before, after = loss_of(held_out[first]), loss_of(held_out[chosen])
    saved = saved_figure(held_out[chosen], held_out[first])
    if before is None or after is None or saved is None:
        return f"{model}: {chosen} is chosen, and the held-out half has no answers that tell what it saves."
    change = "cuts" if after.value < before.value else "does not cut"
    told = (
        f"{model}: {chosen} {change} the drop on held-out inputs: {100 * before.value:.1f} to {100 * after.value:.1f} "
        f"points, {100 * saved.value:.1f} saved"
    )
    if saved.low is None or saved.high is None:
        return f"{told}; one held-out input tells no interval."
    chance = " This may be chance." if saved.low <= 0 else ""
    return f"{told} [{100 * saved.low:.1f}, {100 * saved.high:.1f}].{chance}"
