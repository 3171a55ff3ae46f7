"""Judges in sentences: what they say of two answers, of all of a test, and of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from pytest_promptfuzz.stats.agreement import Agreement, Deltas, Judging
    from pytest_promptfuzz.stats.misclassification import JudgeCorrection


_RATED: dict[int | None, str] = {
    3: "the same",
    2: "with minor differences",
    1: "different",
    None: "undecided",
}


# One pair of answers.


def _because(text: str, why: str) -> str:
    return f"{text}: {why}" if why else text


def cannot_tell(judge: str, why: str) -> str:
    """The judge leaves it open."""
    return _because(f"the judge {judge} cannot tell", why)


def agreement(judge: str, rating: int, why: str) -> str:
    """How far the answers agree."""
    return _because(f"the judge {judge} rates the agreement {rating} of 3", why)


def no_worse(judge: str, why: str) -> str:
    """The response is as good as the baseline, or better."""
    return _because(f"the judge {judge} finds the answer no worse", why)


def worse(judge: str, why: str) -> str:
    """The response is worse than the baseline."""
    return _because(f"the judge {judge} finds the answer worse", why)


# One pair in both orders.


def orders_contradict(one: int, two: int) -> str:
    """Ratings are too far apart."""
    return f"{one} in one order and {two} in the other, which decides nothing"


def orders_differ(why: str, one: int, two: int) -> str:
    """Ratings are one apart; ``why`` is of the worse one."""
    return f"{why} ({one} in one order, {two} in the other)"


def baseline_better(why: str) -> str:
    """In both orders."""
    return f"the baseline is better: {why}"


def response_better(why: str) -> str:
    """In one order at least, and never worse."""
    return f"the response is better: {why}"


def equally_good(why: str) -> str:
    """In both orders."""
    return f"the answers are equally good: {why}"


def better_in_one_order() -> str:
    """The orders contradict each other."""
    return "the baseline is better in one order and not in the other, which decides nothing"


# All of a test.


def rated(judging: Judging) -> str:
    """What a judge said in all."""
    counts = [
        f"{judging.ratings[rating]} {word}" for rating, word in _RATED.items() if judging.ratings.get(rating)
    ]
    counts += [f"{judging.failed} failed"] if judging.failed else []
    shown = f"{counted(judging.pairs + judging.failed, 'pair')} of answers"
    text = f"the judge {judging.judge} was shown {shown}: {', '.join(counts)}"
    return text + _agreed("both orders", judging.orders) + _agreed("repeats", judging.repeats)


def _agreed(what: str, found: Agreement | None) -> str:
    if found is None or not found.pairs:
        return ""
    kappa = "" if found.kappa is None else f", kappa {found.kappa:.2f}"
    return f"; {what} agreed in {found.equal} of {found.pairs}{kappa}"


def corrected(judge: str, found: JudgeCorrection, interval: tuple[float, float] | None) -> str:
    """What a judge's measured errors do to the score."""
    decided = f"the judge {judge} decided {found.decided} of {counted(found.trials, 'trial')}"
    span = "" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]"
    measured = counted(found.items, "rated pair")
    if found.score is None:
        return f"{decided}; on {measured} it did not tell ratings apart, so that its part of the score is open{span}"
    return f"{decided}; corrected for its errors on {measured}, the score is {found.score:.2f}{span}"


def graded(found: Deltas, ungraded: int) -> str:
    """What quality judges did."""
    measures = ", ".join(f"{name} in {amount}" for name, amount in found.by_measure.items() if amount)
    text = (
        f"content changed in {found.shifted} of {found.pairs} answers (ΔContent {float(found.content):.2f}), "
        f"quality in {found.changed} of those (ΔQuality {float(found.quality):.2f}"
        f"{f': {measures}' if measures else ''}); overall {float(found.overall):.2f}"
    )
    return f"{text}; {ungraded} left out, without outcome or grade" if ungraded else text


def not_graded(judge: str, why: str) -> str:
    """A judge gave an answer no grade."""
    return f"the judge {judge} could not grade an answer: {why}"


def odd_grade(measure: str, grade: object) -> str:
    """A judge returned something else than a grade."""
    return f"it graded {measure} {grade!r:.40}"
