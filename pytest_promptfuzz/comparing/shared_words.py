"""What words alone tell of two texts: how much they share, what one says beyond the other, what stays open."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.pieces import agree, pieces
from pytest_promptfuzz.comparing.reading.words import MONTH_TOKENS, canonical
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Finding, Pair
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.comparing.reading.text import Text


# The shape of a text: sentences, list items, headings, code blocks.


_BULLET = expression(r"^[ \t]*[-*+•][ \t]+\S", re.MULTILINE)
_NUMBERED = expression(r"^[ \t]*\d{1,3}[.)][ \t]+\S", re.MULTILINE)
_HEADING = expression(r"^#{1,6}[ \t]+\S", re.MULTILINE)


def shape(text: Text) -> tuple[int, int, int, int]:
    """How many sentences, list items, headings and fenced blocks a text has."""
    raw = text.raw
    if "\n" not in raw:
        return len(text.sentences), 0, 0, 0
    return (
        len(text.sentences),
        len(_BULLET.findall(raw)) + len(_NUMBERED.findall(raw)),
        len(_HEADING.findall(raw)),
        raw.count("```") // 2,
    )


def similarity(first: Text, second: Text) -> float:
    """Likeness of shape, 0..1: the mean ratio of the counts that at least one of the texts has."""
    ratios = [
        min(one, two) / max(one, two)
        for one, two in zip(shape(first), shape(second), strict=True)
        if one or two
    ]
    return sum(ratios) / len(ratios) if ratios else 1.0


JUDGE = Observation("judge-would-settle")
ENTAILMENT = Observation("entailment-would-settle")
_MEANING = Observation("meaning-would-settle")


def same_words(pair: Pair) -> Observation | None:
    """Why two texts without a guard's objection say the same, as far as words can tell; ``None`` if they cannot."""
    from pytest_promptfuzz.comparing.claims.arrangement import arranged
    from pytest_promptfuzz.comparing.guards.order import parts_moved, tells_by_order
    from pytest_promptfuzz.comparing.reading.answer import read

    if pair.a.tokens == pair.b.tokens:
        return Observation("same-words")
    gone, come = pair.residue
    if gone or come:
        return None
    if pair.a.once(_stressed) == pair.b.once(_stressed):
        return Observation("same-but-function-words")
    if parts_moved(pair):
        return Observation("same-in-another-order")
    turned = arranged(read(pair.a.raw), read(pair.b.raw)).says_the_same(lists=not tells_by_order(pair.a))
    return Observation(_SAID_OTHERWISE[turned]) if turned else None


_SAID_OTHERWISE = {"order": "same-in-another-order", "voice": "same-in-another-voice"}


def _stressed(text: Text) -> list[str]:
    """The words of meaning and the negators, in order: where a "not" stands matters."""
    return [
        token
        for token in text.tokens
        if token not in word_lists.FUNCTION_WORDS or token in word_lists.NEGATORS
    ]


def likeness(pair: Pair) -> float:
    """How much two texts share, 0..1: words in order, or words of meaning in any order, whichever is more."""
    a, b = Counter(pair.a.content), Counter(pair.b.content)
    total = sum(a.values()) + sum(b.values())
    shared = 2 * sum((a & b).values()) / total if total else 0.0
    return max(pair.similarity, shared)


def rearranged(pair: Pair) -> bool:
    """Whether most words of meaning are shared and stand in another arrangement, which no embedding sees."""
    one, two = pair.a.content, pair.b.content
    shared = Counter(one) & Counter(two)
    first, second = ([token for token in tokens if token in shared] for tokens in (one, two))
    return first != second and 2 * shared.total() >= _MOST * (len(one) + len(two))


_MOST = 0.75
"""Share of the words of meaning from which two texts are an arrangement of the same."""


def differs(pair: Pair, found: list[Finding]) -> Observation:
    """What two texts differ in: what the guards found, else the words."""
    from pytest_promptfuzz.comparing.guards.negations import written

    if found:
        return Observation("findings", *(each.observed for each in found))
    gone, come = pair.residue
    return one_sided(
        [written(pair, token) for token in gone[:_NAMED]],
        [written(pair, token, response=True) for token in come[:_NAMED]],
    ) or elsewhere(pair)


def one_sided(gone: list[str], come: list[str]) -> Observation | None:
    """The first words that only the baseline, or only the response has; ``None`` without any."""
    sides = [
        Observation("only-says", which, tuple(words[:_NAMED]))
        for which, words in (("baseline", gone), ("response", come))
        if words
    ]
    return Observation("both", *sides) if len(sides) > 1 else sides[0] if sides else None


def elsewhere(pair: Pair) -> Observation:
    """The first words that stand in another place, of two texts of the same words."""
    from pytest_promptfuzz.comparing.guards.negations import written

    moved = next((gone for gone, _ in pair.edits if gone), ())
    words = " ".join(written(pair, token) for token in moved[:_MOVED])
    return Observation("stands-elsewhere", words) if words else Observation("words-reordered")


_NAMED = 3
_MOVED = 4


def more_or_less(pair: Pair, found: list[Finding], least: float) -> Observation | None:
    """What one answer says beyond the other, all of whose words it has in their order; ``None`` if it is not so.

    What may restrict or turn the statement is no harmless addition. A name or figure that the response leaves out may
    be what was asked for, unless it gives it less precisely.

    Args:
        pair: The two texts.
        found: The doubts of the guards.
        least: The share of words that the answers must have in common, 0..1.
    """
    from pytest_promptfuzz.comparing.guards.negations import written
    from pytest_promptfuzz.comparing.guards.qualifiers import forced, restricts

    if pair.similarity < least or any(each.guard not in _ADDITIONS for each in found):
        return None
    one, two = pair.a.content, pair.b.content
    less = len(two) < len(one)
    short, long = (two, one) if less else (one, two)
    if not short or len(short) == len(long):
        return None
    from rapidfuzz.distance import Indel

    if Indel.distance(short, long) != len(long) - len(short):
        return None
    extra = list((Counter(long) - Counter(short)).elements())
    if restricts(extra) or forced(pair) or (less and _loses(pair, extra)):
        return None
    words = tuple(written(pair, token, response=not less) for token in extra[:_NAMED])
    return Observation("only-says", "baseline" if less else "response", words)


_ADDITIONS = frozenset({"names", "numbers", "wording"})
"""Guards whose doubts may be about a word that only one of the answers has."""


def _loses(pair: Pair, missing: list[str]) -> bool:
    """Whether the response leaves out a name, or a figure of which it gives no part."""
    names = {
        token for word in _CAPITAL.findall(pair.a.clean) for token in canonical(word.lower())
    } - MONTH_TOKENS
    if not names.isdisjoint(missing):
        return True
    one, two = ([each.figure for each in pieces(text.clean) if each.figure] for text in (pair.a, pair.b))
    return any(not any(agree(figure, other) for other in two) for figure in one)


_CAPITAL = expression(r"(?<=\s)[A-Z]\w+")


def by_words(
    pair: Pair, profile: Profile, found: list[Finding], tiers: tuple[Tier, ...]
) -> Comparison | None:
    """What words decide of two texts that no guard holds to contradict each other; ``None`` where they cannot."""
    same = same_words(pair)
    if same and not found:
        return Comparison("equivalent", max(pair.similarity, profile.equivalent_at), "token", same, tiers)
    if same and all(each.guard == "literal" for each in found):
        return Comparison("minor", pair.similarity, "guard:literal", differs(pair, found), tiers)
    extra = more_or_less(pair, found, profile.words_minor_at)
    if extra:
        return Comparison("minor", pair.similarity, "token", Observation("same-but", extra), tiers)
    return None


def undecided(pair: Pair, found: list[Finding], tiers: tuple[Tier, ...], *, embeds: bool) -> Comparison:
    """What is said where neither words nor meaning tell: what the answers differ in, and what would settle it.

    Args:
        pair: The two texts.
        found: The doubts of the guards.
        tiers: What was asked.
        embeds: Whether likeness of meaning was among that.
    """
    if "\n" in pair.a.raw or "\n" in pair.b.raw:
        tiers += (Tier("structure", similarity(pair.a, pair.b)),)
    settle = ENTAILMENT if embeds or found or rearranged(pair) else _MEANING
    code = "words-and-meaning-cannot-tell" if embeds else "words-cannot-tell"
    observed = Observation(code, differs(pair, found), settle)
    return Comparison("undecided", None, "semantic" if embeds else "no-semantic-tier", observed, tiers)
