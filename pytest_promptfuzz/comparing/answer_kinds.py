"""What kinds of answer two texts are: refusals, platitudes, "none", a yes or a no."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import labels, lexicon
from pytest_promptfuzz.comparing.by_words import JUDGE, likeness
from pytest_promptfuzz.comparing.comparison import Comparison, Tier, decided
from pytest_promptfuzz.comparing.guards import absent, answers, refusals
from pytest_promptfuzz.comparing.text import shown

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.comparing.text import Text


def kind_of_answer(pair: Pair, profile: Profile) -> Comparison | None:
    """What is decided by the kinds of two answers: refusals, nothing to give, a yes or a no."""
    one, two = pair.a, pair.b
    if "refusal" in profile.guards:
        declined = one.once(refusals.declines), two.once(refusals.declines)
        if declined == ("plainly", "plainly"):
            return decided("equivalent", "refusal", "both answers decline the request")
        if bool(declined[0]) != bool(declined[1]) and likeness(pair) < _RETOLD:
            which = "baseline" if declined[0] else "response"
            return decided(
                "deviation",
                "guard:refusal",
                f"only the {which} declines the request: {shown((one if declined[0] else two).clean)}",
            )
        evaded = _evaded(pair) or _nothing(one, two, profile)
        if evaded:
            return evaded
    if "yes-no" not in profile.guards:
        return None
    first, second = one.once(answers.polarity), two.once(answers.polarity)
    words = {1: "yes", -1: "no"}
    if first and second:
        if first != second:
            return decided(
                "deviation",
                "guard:yes-no",
                f"the baseline says {words[first]}, the response says {words[second]}",
            )
        if not answers.is_bare(one) and not answers.is_bare(two):
            return None
        for which, text in (("baseline", one), ("response", two)):
            if answers.conditional(text):
                return decided(
                    "deviation",
                    "guard:yes-no",
                    f"only the {which} puts a condition on its {words[first]}: {shown(text.clean)}",
                )
        return decided("equivalent", "yes-no", f"both answers say {words[first]}")
    if first and answers.is_bare(one) and not _names(one, two):
        return _implied(first, two, "baseline", "response")
    if second and answers.is_bare(two) and not _names(two, one):
        return _implied(second, one, "response", "baseline")
    return None


def _names(bare: Text, other: Text) -> bool:
    """Whether a bare word that may be a label is one: "negative" beside "The review is negative."."""
    return any(word in answers.LABELS and word in other.words for word in bare.words)


_RETOLD = 0.6
"""Words shared from which what looks like a refusal is told by both: "I can't come", "I'm unable to come"."""
_SHARED = 0.35


def _evaded(pair: Pair) -> Comparison | None:
    """An answer against a platitude or a question asked back, which shares next to nothing with it."""
    if pair.shared >= _SHARED:
        return None
    one, two = pair.a, pair.b
    evasions = one.once(refusals.evades), two.once(refusals.evades)
    if evasions[0] == evasions[1] or likeness(pair) >= _SHARED:
        return None
    which, text = ("baseline", one) if evasions[0] else ("response", two)
    return decided("deviation", "guard:refusal", f"only the {which} evades the request: {shown(text.clean)}")


def _nothing(one: Text, two: Text, profile: Profile) -> Comparison | None:
    """An answer that there is nothing to give, against another such answer, or against a value."""
    if profile.kind == "label" and labels.is_label(one) and labels.is_label(two):
        return None
    first, second = one.once(absent.absent), two.once(absent.absent)
    if first and second:
        keys = {absent.key(one), absent.key(two)} - {""}
        if "barely" in {first, second} and len(keys) <= 1:
            return decided("equivalent", "absent", "both answers say that there is nothing to give")
        return None
    if bool(first) == bool(second):
        return None
    which, other = ("baseline", two) if first else ("response", one)
    if len(other.tokens) > _VALUE or answers.polarity(other) or not lexicon.NEGATORS.isdisjoint(other.tokens):
        return None
    if other.tokens == ["0"] or answers.polarity(one if first else two):
        return None
    said = f"only the {which} says that there is nothing to give; the other says {shown(other.clean)}"
    return decided("deviation", "guard:refusal", said)


_VALUE = 12
"""Words up to which an answer may be a value that was asked for."""


def _implied(said: int, sentence: Text, speaker: str, other: str) -> Comparison | None:
    """A bare yes or no against a sentence that begins with neither."""
    if len(sentence.words) <= labels.MAX_WORDS:
        return None
    word = "yes" if said > 0 else "no"
    verdict = answers.verdict(sentence)
    if verdict == said:
        return decided("equivalent", "yes-no", f"both answers say {word}")
    if not verdict and answers.denies(sentence) == (said < 0):
        note = f"the {speaker} says {word}; the {other} may mean it: {shown(sentence.clean)}"
        explanation = f"words cannot tell whether the answers say the same: {note}; {JUDGE}"
        return Comparison("undecided", None, "yes-no", explanation, (Tier("yes-no", None, note),))
    return decided(
        "deviation",
        "guard:yes-no",
        f"the {speaker} says {word}; the {other} says the opposite: {shown(sentence.clean)}",
    )
