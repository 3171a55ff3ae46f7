"""What words can tell of two texts, and what is said where they cannot."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon, structure
from pytest_promptfuzz.comparing.claims.arrangement import arranged
from pytest_promptfuzz.comparing.comparison import Comparison, Tier
from pytest_promptfuzz.comparing.guards.polarity import written
from pytest_promptfuzz.comparing.order import parts_moved, tells_by_order
from pytest_promptfuzz.comparing.reading.answer import read

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Finding, Pair
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.comparing.text import Text

ASSERT = "assert what must hold in the test"
_MEND = "install 'pytest-promptfuzz[semantic]', or " + ASSERT


def same_words(pair: Pair) -> str | None:
    """Why two texts without a guard's objection say the same, as far as words can tell; ``None`` if they cannot."""
    if pair.a.tokens == pair.b.tokens:
        return "the answers have the same words"
    gone, come = pair.residue
    if gone or come:
        return None
    if pair.a.once(_stressed) == pair.b.once(_stressed):
        return "the answers differ in function words only"
    if parts_moved(pair):
        return "the answers say the same in another order"
    turned = arranged(read(pair.a.raw), read(pair.b.raw)).says_the_same(lists=not tells_by_order(pair.a))
    return _SAID_OTHERWISE[turned] if turned else None


_SAID_OTHERWISE = {
    "order": "the answers say the same in another order",
    "voice": "the answers say the same in the active and the passive",
}


def _stressed(text: Text) -> list[str]:
    """The words of meaning and the negators, in order: where a "not" stands matters."""
    return [
        token for token in text.tokens if token not in lexicon.FUNCTION_WORDS or token in lexicon.NEGATORS
    ]


def likeness(pair: Pair) -> float:
    """How much two texts share, 0..1: words in order, or words of meaning in any order, whichever is more."""
    a, b = Counter(pair.a.content), Counter(pair.b.content)
    total = sum(a.values()) + sum(b.values())
    shared = 2 * sum((a & b).values()) / total if total else 0.0
    return max(pair.similarity, shared)


def differs(pair: Pair, found: list[Finding]) -> str:
    """What two texts differ in, in a clause: what the guards found, else the words."""
    if found:
        said = {each.explanation.casefold(): each.explanation for each in reversed(found)}
        return "; ".join(list(said.values())[::-1][:2])
    gone, come = pair.residue
    parts = [
        f"{label} {', '.join(written(pair, token, response=label == 'new:') for token in tokens[:5])}"
        for label, tokens in (("gone:", gone), ("new:", come))
        if tokens
    ]
    return "; ".join(parts) if parts else "the words stand in another order"


def by_words(pair: Pair, profile: Profile, found: list[Finding], tiers: tuple[Tier, ...]) -> Comparison:
    """Minor where most words are shared, else undecided: no number of shared words makes two texts equivalent."""
    alike = pair.similarity if pair.similarity >= profile.words_minor_at else likeness(pair)
    if "\n" in pair.a.raw or "\n" in pair.b.raw:
        tiers += (Tier("structure", structure.similarity(pair.a, pair.b)),)
    if alike >= profile.words_minor_at:
        reason = f"guard:{found[0].guard}" if found else "token"
        return Comparison(
            "minor",
            alike,
            reason,
            f"the answers share most words ({alike:.2f}); {differs(pair, found)}",
            tiers,
        )
    return Comparison(
        "undecided",
        None,
        "no-semantic-tier",
        f"the answers share few words ({alike:.2f}) and no guard objects, so words cannot tell; {_MEND}",
        tiers,
    )
