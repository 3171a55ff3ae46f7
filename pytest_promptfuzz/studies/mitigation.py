"""The table `mitigation`: which edit of a prompt cuts what changes cost, on inputs that had no part in its choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.stats.variance import holm, mean_test
from pytest_promptfuzz.studies.brittlebench_tables import by_prompting, losses, saved_by
from pytest_promptfuzz.studies.sentiment_tables import halves
from pytest_promptfuzz.studies.table_figures import (
    StudyTable,
    TableColumn,
    TableFigure,
    accuracy_of,
    mean_over_inputs,
    mutated,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.table_figures import Entry


_NOTE = (
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
                mean_over_inputs([*losses(one[edit]).values()], low=-1.0),
                mean_over_inputs([*losses(two[edit]).values()], low=-1.0),
                mean_over_inputs(saved, low=-1.0),
                None,
                "chosen" if edit == chosen else "",
            ]
            rows.append((f"{model}, {edit}", entries))
        notes.append(_finding(model, chosen, first, two))
    for at, p in zip(tested, holm([*tested.values()]), strict=True):
        rows[at][1][4] = TableFigure(p)
    return StudyTable(
        "What edits of the prompt save",
        "model",
        (
            TableColumn("right under changes"),
            TableColumn("drop, choosing half", unit="points"),
            TableColumn("drop, held-out half", unit="points", best="low"),
            TableColumn("saved, held-out half", unit="points"),
            TableColumn("p", unit="", digits=4),
            TableColumn("", unit="text"),
        ),
        tuple((name, tuple(entries)) for name, entries in rows),
        " ".join([*notes, _NOTE]),
    )


def _within(cells: Sequence[Cell], half: set[tuple[str, str]]) -> list[Cell]:
    return [each for each in cells if (each.task, each.input) in half]


def _chosen(edits: Mapping[str, Sequence[Cell]]) -> str:
    """The edit with the least drop among those that are right as often as the first; of equal ones the earlier."""
    accuracies = {edit: accuracy_of(mutated(own)) for edit, own in edits.items()}
    least = next(iter(accuracies.values()))
    drops = {}
    for edit, own in edits.items():
        accuracy, lost = accuracies[edit], mean_over_inputs([*losses(own).values()], low=-1.0)
        if lost is not None and (least is None or (accuracy is not None and accuracy.value >= least.value)):
            drops[edit] = lost.value
    return min(drops, key=lambda edit: drops[edit], default=next(iter(edits)))


def _finding(model: str, chosen: str, first: str, held_out: Mapping[str, Sequence[Cell]]) -> str:
    """A sentence that says what the chosen edit is worth."""
    if chosen == first:
        return f"{model}: no edit cuts the drop on the choosing half."
    before, after, saved = (
        mean_over_inputs(values, low=-1.0)
        for values in (
            [*losses(held_out[first]).values()],
            [*losses(held_out[chosen]).values()],
            saved_by(held_out[chosen], held_out[first]),
        )
    )
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
