"""What the measured errors of judges do to a study's scores: corrected and widened as in tests."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import lru_cache
from math import hypot
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.stats.misclassification import RATING_OUTCOMES, Confusion, JudgeError, correction_of
from pytest_promptfuzz.stats.scores import CREDITS, EQUIVALENT_CREDIT
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.studies.cells import Cell


JUDGED = "judge"
"""The reason of an outcome that a judge decided."""
_RATINGS = {outcome: rating for rating, outcome in RATING_OUTCOMES.items()}


def judge_text(name: str, errors: Confusion | None) -> str:
    """Who decided an outcome and what it confuses, as a cell holds it; ``errors`` is ``None`` where nobody measured."""
    return json.dumps({"judge": name, "measured": None if errors is None else errors.counts})


@lru_cache(maxsize=256)  # a study has few judges, and many cells of each
def errors_in(text: str) -> Confusion | None:
    """What the judge of a cell confuses; ``None`` where it has none, or one that nobody measured.

    Raises:
        UsageError: The column holds something else.
    """
    if not text:
        return None
    try:
        measured = json.loads(text)["measured"]
        counts = None if measured is None else tuple(tuple(map(int, row)) for row in measured)
    except (ValueError, KeyError, TypeError, RecursionError):
        counts = ()
    if counts is None:
        return None
    if [len(row) for row in counts] != [3, 3, 3] or min(map(min, counts)) < 0:
        raise UsageError(f"the column judge holds {text!r:.60}, which is no judge with its measurement.")
    return Confusion(counts)


def judge_error(cells: Iterable[Cell]) -> JudgeError | None:
    """What measured judges do to the score of these cells; ``None`` where they decided none of it."""
    judged: dict[str, Counter[int]] = defaultdict(Counter)
    credited: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        if cell.outcome in CREDITS:
            judge = cell.grades.judge if errors_in(cell.grades.judge) is not None else ""
            credited[judge].append(CREDITS[cell.outcome] / EQUIVALENT_CREDIT)
            if judge:
                judged[judge][_RATINGS[cell.outcome]] += 1
    found = []
    for judge, ratings in judged.items():
        others = [credit for other, own in credited.items() if other != judge for credit in own]
        errors = errors_in(judge)
        correction = None if errors is None else correction_of(ratings, others, errors)
        found += [] if correction is None else [correction.own]
    if not found:
        return None
    return JudgeError(
        sum(each.shift for each in found),
        hypot(*(each.error for each in found)),
        1 + sum(each.slope - 1 for each in found),
        sum(each.part for each in found),
    )


def judge_sentence(cells: Sequence[Cell], *, carried: bool) -> str:
    """How much of the scores judges decided, and what of their errors is in the figures; empty where they did nothing.

    Args:
        cells: Of a study.
        carried: Whether the intervals of scores hold measured errors.
    """
    outcomes = [each for each in cells if each.outcome in CREDITS]
    decided = [each for each in outcomes if each.reason == JUDGED]
    if not decided:
        return ""
    text = f"A judge decided {len(decided):,} of {len(outcomes):,} outcomes"
    measured = [errors for each in decided if (errors := errors_in(each.grades.judge)) is not None]
    if not measured or not carried:
        return f"{text}; no figure here has the judge's own error in it."
    items = " or ".join(counted(each, "rated pair") for each in sorted({each.items for each in measured}))
    unmeasured = len(decided) - len(measured)
    rest = f" Of {unmeasured:,} of them its error is not known, and in no figure." if unmeasured else ""
    return (
        f"{text}; its errors, measured on {items}, are in the intervals of scores (95 %, over inputs).{rest}"
    )
