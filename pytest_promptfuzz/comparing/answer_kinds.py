"""What kinds of answer two texts are: refusals, platitudes, "none", a yes or a no."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import guards, labels, lexicon
from pytest_promptfuzz.comparing.by_words import JUDGE, likeness
from pytest_promptfuzz.comparing.comparison import Comparison, Tier, decided
from pytest_promptfuzz.comparing.guards import absent, answers
from pytest_promptfuzz.comparing.guards.pair import Pair
from pytest_promptfuzz.comparing.reading.asides import declines, evades, read_asides
from pytest_promptfuzz.comparing.text import NORMALISERS, analyse, shown

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.comparing.text import Text


def kind_of_answer(pair: Pair, profile: Profile) -> tuple[Pair, Comparison | None]:
    """Two answers without the asides around them, and what is decided by their kinds.

    A refusal counts against an answer, two refusals are the same; a disclaimer, an apology or a courtesy that only one
    answer has is no difference.
    """
    found = None
    if "refusal" in profile.guards and (pair.a.once(declines) or pair.b.once(declines)):
        if _is_retold(pair, profile):
            return pair, _by_kind(pair, profile)
        found = _declined(pair)
    if found or profile.normalisers != NORMALISERS:
        return pair, found or _by_kind(pair, profile)
    texts = pair.a, pair.b
    first, second = (read_asides(text.clean) for text in texts)
    if all(
        len(aside.substance) == len(text.clean) for aside, text in zip((first, second), texts, strict=True)
    ):
        return pair, _by_kind(pair, profile)
    if bool(first.substance) != bool(second.substance) and "refusal" in profile.guards:
        which, empty = ("response", pair.b) if first.substance else ("baseline", pair.a)
        said = f"the {which} answers nothing: {shown(empty.clean)}"
        return pair, _by_kind(pair, profile) or decided("deviation", "guard:refusal", said)
    if not first.substance or not second.substance:
        return pair, _by_kind(pair, profile)
    bare = Pair(analyse(first.substance), analyse(second.substance))
    # A courtesy may say yes, "Absolutely!"; a disclaimer stands before it.
    spoken = bare if first.spoken or second.spoken else pair
    found = _by_kind(spoken, profile)
    if found is None and bare.a.tokens == bare.b.tokens and bare.a.normalised == bare.b.normalised:
        return bare, decided(
            "equivalent", "courtesy", "the answers differ in introduction or closing words only"
        )
    return bare, found


def _is_retold(pair: Pair, profile: Profile) -> bool:
    """Whether what looks like a refusal is told by both: "I can't come on Friday", "I'm unable to come on Friday"."""
    if likeness(pair) < _RETOLD:
        return False
    if not (pair.a.once(declines) and pair.b.once(declines)):
        return True
    findings = guards.run(pair, profile.guards)
    return bool(findings) and findings[-1].kind == "contradiction"


def _declined(pair: Pair) -> Comparison | None:
    """What is decided where an answer declines, and does not say what the other says all the same."""
    texts = pair.a, pair.b
    first, second = (read_asides(text.clean) for text in texts)
    all_decline = all(text.once(declines) for text in texts)
    if first.substance and second.substance:
        rest = Pair(analyse(first.substance), analyse(second.substance))
        if likeness(rest) >= _SHARED or (all_decline and first.turned and second.turned):
            return None
    if all_decline:
        return decided("equivalent", "refusal", "both answers decline the request")
    which, text = ("baseline", pair.a) if pair.a.once(declines) else ("response", pair.b)
    return decided(
        "deviation", "guard:refusal", f"only the {which} declines the request: {shown(text.clean)}"
    )


def _by_kind(pair: Pair, profile: Profile) -> Comparison | None:
    """What is decided by an answer that says nothing, has nothing to give, or says yes or no."""
    one, two = pair.a, pair.b
    if "refusal" in profile.guards:
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
_SHARED = 0.35
"""Words shared from which two texts are about the same thing."""


def _evaded(pair: Pair) -> Comparison | None:
    """An answer against a platitude or a question asked back, which shares next to nothing with it."""
    if pair.shared >= _SHARED:
        return None
    one, two = pair.a, pair.b
    evasions = one.once(evades), two.once(evades)
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
