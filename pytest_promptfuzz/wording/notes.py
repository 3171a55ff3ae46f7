"""Notes of a test: its judge, its controls, known counterexamples, an early end of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.results.counterexamples import Now, Replayed
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.stats.agreement import Agreement, Deltas, Judging
    from pytest_promptfuzz.stats.stopping import EarlyStop


ROBUST_BUT_WRONG = "robust but wrong"
"""How the note begins of a test that passes with answers that are not as expected."""

_RATED: dict[int | None, str] = {
    3: "the same",
    2: "with minor differences",
    1: "different",
    None: "undecided",
}
_REPLAYED: dict[Now, tuple[str, str]] = {
    "breaks": ("still breaks the test", "still break the test"),
    "varies": ("sometimes breaks the test", "sometimes break the test"),
    "passes": ("no longer fails and was removed", "no longer fail and were removed"),
    "gone": ("no longer fits the prompt and was removed", "no longer fit the prompt and were removed"),
    "elsewhere": ("of another target does not fail here", "of another target do not fail here"),
    "unanswered": ("could not be asked", "could not be asked"),
}


def judge_notes(judging: Judging) -> list[str]:
    """What a judge said in all, and what quality judges did; nothing where none was asked."""
    rated = [_rated(judging)] if judging.pairs or judging.failed else []
    return [*rated, *([] if judging.quality is None else [_quality(judging.quality, judging.ungraded)])]


def _rated(judging: Judging) -> str:
    counts = [
        f"{judging.ratings[rating]} {word}" for rating, word in _RATED.items() if judging.ratings.get(rating)
    ]
    counts += [f"{judging.failed} failed"] if judging.failed else []
    total = judging.pairs + judging.failed
    shown = f"{total} pair{'s' if total > 1 else ''} of answers"
    text = f"the judge {judging.judge} was shown {shown}: {', '.join(counts)}"
    return text + _agreed("both orders", judging.orders) + _agreed("repeats", judging.repeats)


def _agreed(what: str, found: Agreement | None) -> str:
    if found is None or not found.pairs:
        return ""
    kappa = "" if found.kappa is None else f", kappa {found.kappa:.2f}"
    return f"; {what} agreed in {found.equal} of {found.pairs}{kappa}"


def _quality(found: Deltas, ungraded: int) -> str:
    measures = ", ".join(f"{name} in {amount}" for name, amount in found.by_measure.items() if amount)
    text = (
        f"content changed in {found.shifted} of {found.pairs} answers (ΔContent {float(found.content):.2f}), "
        f"quality in {found.changed} of those (ΔQuality {float(found.quality):.2f}"
        f"{f': {measures}' if measures else ''}); overall {float(found.overall):.2f}"
    )
    return f"{text}; {ungraded} left out, without outcome or grade" if ungraded else text


def replay_notes(found: Sequence[Replayed]) -> list[str]:
    """What became of known counterexamples, in a sentence, and why; nothing of none."""
    if not found:
        return []
    parts: list[str] = []
    for status, words in _REPLAYED.items():
        these = [each for each in found if each.status == status]
        if these:
            why = next((each.why for each in these if each.why), "")
            parts.append(f"{len(these)} {words[len(these) != 1]}" + (f" ({why.rstrip('.')})" if why else ""))
    number = "1 known counterexample" if len(found) == 1 else f"{len(found)} known counterexamples"
    if len(parts) == 1:
        return [f"{number} {parts[0].partition(' ')[2]}"]
    return [f"{number}: {', '.join(parts)}"]


def stop_note(found: EarlyStop) -> str:
    """Why a plan was ended on evidence short of certainty, and how often that errs."""
    text = "the probability ratio suffices"
    if found.interval is not None:
        low, high = found.interval
        text = f"the score's interval that holds at every look is [{low:.2f}, {high:.2f}]"
    text = f"stopped on the evidence after {found.asked} of {found.planned} trials: {text}"
    if found.errors is None:
        return text
    allowed, broken = found.errors
    return (
        f"{text}. Of prompts that lose {allowed.share:.2f}, {allowed.stopped:.0%} are so called brittle "
        f"({allowed.whole:.0%} with every trial), of those that lose {broken.share:.2f}, {broken.stopped:.0%} pass "
        f"({broken.whole:.0%})"
    )


def control_notes(controls: Sequence[Trial], baselines: Sequence[object]) -> list[str]:
    """What a person must know of the controls that the test does not name; nothing where the answer changed.

    Args:
        controls: Their trials.
        baselines: The plain baseline value of each case.
    """
    unchanged = [each for each in controls if each.outcome == "deviation"]
    said = []
    if unchanged:
        names = ", ".join(dict.fromkeys(_operator(each) for each in unchanged))
        many = len(unchanged) > 1
        first = unchanged[0]
        if first.comparison is None and first.value not in (None, *baselines[first.case : first.case + 1]):
            what = "changed the answer, and no assertion of this test noticed"
        elif first.comparison is None and first.value is None:
            what = "should have changed the answer, and the assertions of this test passed all the same: they may be "
            what += "unable to fail"
        else:
            what = f"should have changed the answer and did not: {'they tell' if many else 'it tells'} the model to "
            what += "answer with another word"
        said.append(
            f"{len(unchanged)} control{'s' if many else ''} ({names}) {what}; controls=0 asks for no control"
        )
    said += [
        f"1 control ({_operator(each)}) has no answer: {each.error.message}"
        for each in controls
        if each.error is not None
    ]
    return said


def _operator(trial: Trial) -> str:
    return trial.mutation.operators[0].partition("@")[0]
