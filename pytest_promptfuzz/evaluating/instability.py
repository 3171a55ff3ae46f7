"""What is said of a test that does not agree with itself on the unmutated prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.scoring.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def mixed_models(models: Mapping[str, set[str]]) -> str:
    """Which model answered as more than one, if one did: its answers are of different epochs."""
    for asked, answered in models.items():
        if len(answered) > 1:
            return f"{asked or 'the model'} answered as {' and as '.join(sorted(answered))}"
    return ""


def in_one_line(error: BaseException) -> str:
    """An exception, in a few words."""
    return f"{type(error).__name__}: {error}"


def noisy(failure: str) -> Judgement:
    """The baseline failed once, with ``failure``, and passed once."""
    return Judgement(
        "noisy",
        "baseline-mixed",
        "The unmutated prompt failed once and passed once, so a failure under mutation would prove nothing. "
        f"It failed with {failure}",
    )


def not_repeatable(what: str, paths: Sequence[str] = ()) -> Judgement:
    """The control trial differs from the baseline.

    Args:
        what: How, in words.
        paths: The JSON paths at which its result differs.
    """
    named = [*paths]
    mend = (
        f"write ignore={named!r}" if named not in ([], ["$"]) else "take the clock, random or unique part out"
    )
    return Judgement(
        "inconclusive",
        "not-repeatable",
        f"The test is not repeatable: run again on the same prompt with the same answers, {what}. "
        f"A difference under mutation would prove nothing; {mend}.",
    )
