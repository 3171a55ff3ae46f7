"""What meaning can tell of two texts that no guard and no word decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.by_words import differs, likeness, rearranged, undecided
from pytest_promptfuzz.comparing.comparison import Comparison, Tier
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.stakes import at_stake
from pytest_promptfuzz.comparing.text import shown
from pytest_promptfuzz.embedding.embedder import cosine

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.embedding.embedder import Embedder

_UNRELATED = 0.35
"""Cosine below which MiniLM holds even short answers to be about different things."""


def _unlike_part(pair: Pair, profile: Profile, semantic: Embedder) -> str | None:
    """The sentence of a longer text whose counterpart says less of the same than the text as a whole does."""
    if len(pair.a.sentences) <= 1 and len(pair.b.sentences) <= 1:
        return None
    sides = [side for side in pair.sides if side.a.normalised != side.b.normalised]
    vectors = semantic.embed([text.clean for side in sides for text in (side.a, side.b)])
    for side, one, two in zip(sides, vectors[::2], vectors[1::2], strict=True):
        meaning = cosine(one, two)
        if meaning < profile.minor_at:
            return f"{shown(side.a.clean)} is less like {shown(side.b.clean)} ({meaning:.2f})"
    return None


def _stake(pair: Pair, profile: Profile, semantic: Embedder) -> str | None:
    """Why two texts of one meaning may still not say the same; ``None`` where nothing speaks for that."""
    if "stakes" not in profile.guards:
        return None
    return at_stake(pair) or _unlike_part(pair, profile, semantic)


def by_meaning(
    pair: Pair, profile: Profile, semantic: Embedder, found: list[Finding], tiers: tuple[Tier, ...]
) -> Comparison:
    """What an embedder says of two texts that no guard contradicts and no word decides.

    It may show that they are about different things, or that they mean the same where no guard doubts it and their
    words of meaning are not the same in another arrangement. It makes nothing minor.
    """
    one, two = pair.a.clean, pair.b.clean
    first, second = semantic.embed([one, two])
    meaning = cosine(first, second)
    truncates = getattr(semantic, "truncates", None)
    cut = callable(truncates) and (truncates(one) or truncates(two))
    note = "only the first 256 tokens were read" if cut else ""
    tiers += (Tier("semantic", meaning, note),)
    alike = likeness(pair)
    ending = f" ({note})" if note else ""
    same = meaning >= profile.equivalent_at and not (cut and alike < profile.equivalent_at)
    if same and not found and not rearranged(pair):
        stake = _stake(pair, profile, semantic)
        if not stake:
            explanation = f"the answers mean the same (similarity {meaning:.2f}){ending}"
            return Comparison("equivalent", meaning, "semantic", explanation, tiers)
        found = [Finding("stakes", "doubt", stake)]
        tiers += (Tier("guard:stakes", None, stake),)
    content = frozenset(pair.a.content), frozenset(pair.b.content)
    within = all(content) and (content[0] <= content[1] or content[1] <= content[0])
    short = pair.short and (within or meaning >= _UNRELATED)
    if meaning >= profile.minor_at or alike >= profile.words_minor_at or short:
        return undecided(pair, found, tiers, embeds=True)
    below = f"(similarity {meaning:.2f}, below {profile.minor_at:g})"
    explanation = f"the answers mean different things {below}; {differs(pair, found)}{ending}"
    return Comparison("deviation", meaning, "semantic", explanation, tiers)
