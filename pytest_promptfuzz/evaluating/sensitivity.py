"""Whether a test can fail: controls change what the answer depends on, and the answers must show it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.selection import wanted
from pytest_promptfuzz.scoring.verdict import Judgement, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.scoring.trial import Trial


def insensitive(
    relation: str, trials: Iterable[Trial], threshold: Fraction, floor: Fraction | None
) -> Judgement | None:
    """That a test would pass although the prompt says something else; ``None`` where it would not, or nothing shows it.

    A control that changes the answer proves that the test can fail. Over several inputs, or answers, it must change so
    many that the rest do not reach the threshold; what the model itself changes from answer to answer is no change.

    Args:
        relation: The one that the score is of.
        trials: All of them.
        threshold: What the score must reach.
        floor: How far the unmutated prompt agrees with itself; ``None`` where that is not known.
    """
    changed: dict[str, list[bool]] = {}
    for trial in trials:
        if trial.mutation.relation == "must-change" and trial.outcome in {"equivalent", "deviation"}:
            changed.setdefault(trial.id, []).append(trial.outcome == "equivalent")
    every = [each for one in changed.values() for each in one]
    if all(every):
        return None
    kept = len(every) - sum(every)
    if not any(every):
        return _said(
            f"{kept} control{'s' if kept > 1 else ''} should have changed the answer, and none did: this test would "
            "pass whatever the prompt says. Compare the answer itself, or give an input that the answer depends on."
        )
    if relation == "must-change":
        if Fraction(sum(every), len(every)) >= threshold:
            return None
        return _said(
            f"Only {sum(every)} of {len(every)} controls changed the answer: this test would miss changes that matter."
        )
    # What a control leaves unchanged is the score that it would have, were it an ordinary mutation.
    score, best = min(
        (min(Fraction(1), Fraction(one.count(False), len(one)) / (floor or 1)), one)
        for one in changed.values()
    )
    if not threshold or score < threshold:
        return None
    noise = ", hardly more than the model changes by itself" if floor is not None and floor < 1 else ""
    return _said(
        f"The control that changed most answers changed {sum(best)} of {len(best)}{noise}: at the threshold "
        f"{plain(threshold)} this test would pass whatever the prompt says. Give inputs that the answer depends on, or "
        "compare the answer itself."
    )


def _said(explanation: str) -> Judgement:
    return Judgement("inconclusive", "insensitive", explanation)


def no_control(contract: Contract) -> Judgement | None:
    """Controls were asked for and none found a place: whether the test can fail is as open as before."""
    names = wanted(contract.mutations, contract.operators).controls
    if not names:
        return None
    return Judgement(
        "inconclusive",
        "no-control",
        f"No control asked for ({', '.join(names)}) found a place in the prompt, so nothing proved that this test can "
        "fail. Name another control, such as answer-fixed, or ask for none.",
    )
