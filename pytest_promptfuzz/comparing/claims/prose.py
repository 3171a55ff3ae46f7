"""Two answers in prose, compared claim by claim; what words leave open is settled by a model of entailment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.claims.arrangement import arranged
from pytest_promptfuzz.comparing.claims.contradictions import contrary, edited, one_sided_denial
from pytest_promptfuzz.comparing.claims.facts import (
    added_figure,
    added_name,
    changed_cell,
    changed_figure,
    changed_name,
    unmatched,
)
from pytest_promptfuzz.comparing.comparison import Comparison, Tier
from pytest_promptfuzz.comparing.guards.pair import SHORT, Finding, Pair
from pytest_promptfuzz.comparing.meaning import cosine, nine_cases
from pytest_promptfuzz.comparing.reading.answer import read
from pytest_promptfuzz.comparing.reading.text import analyse, shown
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.comparing.shared_words import JUDGE, SETTLE, elsewhere, rearranged, same_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.comparing.comparison import Outcome
    from pytest_promptfuzz.comparing.meaning import Embedder, Entailment
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.comparing.reading.answer import Answer, Statement
    from pytest_promptfuzz.comparing.reading.text import Text


def changed_places(one: Answer, two: Answer) -> Finding | None:
    """Two parties, figures, modifiers or clauses of which each stands in the response where the other stood."""
    exchanged = arranged(one, two).exchanged()
    return (
        Finding("roles", "contradiction", "{!r} and {!r} changed places".format(*exchanged))
        if exchanged
        else None
    )


_COMPARERS: dict[str, Callable[[Answer, Answer], Finding | None]] = {
    "fields": changed_cell,
    "numbers": changed_figure,
    "names": changed_name,
    "roles": changed_places,
    "choices": contrary,
    "negation": one_sided_denial,
}
"""What may contradict, by the guard that a profile names."""
_NOT_EQUAL = (Tier("exact", 0.0), Tier("normalised", 0.0))
_KEPT = 0.9
"""Share of the baseline's words, in order, that an answer has which says the same and more."""
_APART = {"numbers": 0.45, "names": 0.6}
"""Share of either answer's telling words that the other lacks, from which a missing figure, or name, decides."""
_ENOUGH = 12
"""Telling words of an answer from which their share is looked at."""


def is_prose(one: Text, two: Text) -> bool:
    """Whether two answers are read claim by claim: both tables, or in English and longer than a short statement."""
    if max(len(one.raw), len(two.raw)) > LONGEST:
        return False
    if all(text.raw.count("\n|") >= _TABLE for text in (one, two)):
        return True
    return max(len(one.tokens), len(two.tokens)) > SHORT and _is_english(one) and _is_english(two)


def _is_english(text: Text) -> bool:
    words = text.words
    if not words or sum(map(_ENGLISH.__contains__, words)) < _SHARE * len(words):
        return False
    answer = read(text.raw)
    return len(answer.codes) < _IDENTIFIERS * len(answer.words)


LONGEST = 6_000
"""Characters: of longer answers, what they share at both ends is set aside first, see ``long``."""
_ENGLISH = word_set(
    """the a an of to in is are was were be and or for with on at by from that this it its you your we they not no as
    has have will can if which who their his her but"""
)
_TABLE = 2
"""Further lines of a Markdown table, whose cells are bound to their row and column."""
_IDENTIFIERS = 0.2
"""Identifiers for each word from which a text is a program or a query."""
_SHARE = 0.05
"""Of these words in English prose; telegraphic lists have fewer than half as many as sentences."""


def compare_claims(first: str, second: str, profile: Profile, *, semantic: Embedder | None) -> Comparison:
    """Compare two answers in prose.

    What contradicts decides. Otherwise they are equivalent where they have the same words of meaning in an order that
    tells nothing, and minor where the response says all that the baseline says, in its words, and more. What is left
    words cannot tell: it is undecided, and no similarity of meaning makes it equivalent. One below the profile's
    ``minor_at`` shows that the answers are about different things.

    Args:
        first: The baseline.
        second: The response.
        profile: Its guards are asked, and its thresholds hold.
        semantic: Embeds the answers; ``None`` leaves that tier out.
    """
    one, two = read(first), read(second)
    pair = Pair(analyse(first), analyse(second))
    tiers: tuple[Tier, ...] = (*_NOT_EQUAL, Tier("token", pair.similarity))
    doubts: list[Finding] = []
    for found in _findings(one, two, pair, profile):
        contradicts = found.kind == "contradiction"
        tier = Tier(f"guard:{found.guard}", 0.0 if contradicts else None, found.explanation)
        tiers += (tier,)
        if contradicts:
            return Comparison("deviation", 0.0, tier.name, found.explanation, tiers)
        doubts.append(found)
    same = None if doubts else same_words(pair)
    if same:
        return Comparison("equivalent", max(pair.similarity, profile.equivalent_at), "token", same, tiers)
    gone, come = unmatched(one, two), unmatched(two, one)
    other = _another_answer(doubts, min(_share(gone, one), _share(come, two)))
    if other:
        explanation = f"the answers say different things: {other.explanation}, {_only(gone, come)}"
        return Comparison("deviation", 0.0, "claims", explanation, tiers)
    added = _added(one, two, come)
    if added and not doubts and not gone and _within(pair) >= _KEPT:
        explanation = f"the response says what the baseline says, and adds {shown(added)}"
        return Comparison("minor", pair.similarity, "claims", explanation, tiers)
    if semantic is not None:
        meaning = cosine(*semantic.embed([first, second]))
        tiers += (Tier("semantic", meaning),)
        if meaning < profile.minor_at:
            explanation = (
                f"the answers mean different things (similarity {meaning:.2f}, below {profile.minor_at:g}); "
                f"{_open(pair, doubts, gone, come)}"
            )
            return Comparison("deviation", meaning, "semantic", explanation, tiers)
    explanation = (
        f"words cannot tell whether the answers say the same: {_open(pair, doubts, gone, come)}; {SETTLE}"
    )
    return Comparison("undecided", None, "claims", explanation, tiers)


def _findings(one: Answer, two: Answer, pair: Pair, profile: Profile) -> Iterator[Finding]:
    for name, compare in _COMPARERS.items():
        found = compare(one, two) if name in profile.guards else None
        if found:
            yield found
    found = edited(one, two, pair, profile.guards)
    if found:
        yield found


def _another_answer(doubts: list[Finding], apart: float) -> Finding | None:
    """A figure or name that is missing where the words are others as well: one alone may be left out or paraphrased."""
    return next((each for each in doubts if apart > _APART.get(each.guard, 1.0)), None)


def _share(words: list[str], answer: Answer) -> float:
    """The share of an answer's telling words that these are, 0..1; 0 of few words, of which a share tells little."""
    known = len({token.stem for token in answer.telling})
    return len(words) / known if known >= _ENOUGH else 0.0


def _added(one: Answer, two: Answer, come: list[str]) -> str | None:
    """The statement, or the word within one that was kept, by which the response says more.

    A statement of its own that speaks of what the baseline speaks of may contradict it: then nothing is sure.
    """
    figure = added_figure(one, two)
    new = {*come, *([figure.written] if figure else []), *filter(None, [added_name(one, two)])}
    if not new:
        return None
    known = {each.folded for each in one.statements}
    for statement in two.statements:
        telling = statement.keys
        own = telling - one.keys
        if not own or statement.folded in known:
            continue
        if len(own) < len(telling) and len(own) >= len(telling) / 2:
            return None
        return statement.text if own == telling else min(new)
    return min(new)


def _within(pair: Pair) -> float:
    """The share of the baseline's words that the response has in their order, 0..1."""
    one, two = len(pair.a.tokens), len(pair.b.tokens)
    return pair.similarity * (one + two) / 2 / one if one else 0.0


def _open(pair: Pair, doubts: list[Finding], gone: list[str], come: list[str]) -> str:
    """What is to be settled, in a clause."""
    if doubts:
        return doubts[0].explanation
    return _only(gone, come) or elsewhere(pair)


def _only(gone: list[str], come: list[str]) -> str:
    return " and ".join(
        f"only the {which} says {', '.join(map(repr, words[:3]))}"
        for which, words in (("baseline", gone), ("response", come))
        if words
    )


# What words leave open, settled by entailment in both directions, claim by claim.


_WINDOW = 2
"""Statements of the other answer that a claim is held against: those that share the most telling words with it."""
_FEWEST = 2
"""Words from which a statement is a claim; headings and marks are none."""
_SURE = 0.9
"""Probability from which a claim follows or contradicts: an answer has many claims, and one of them decides."""
_SIMILARITIES = {"equivalent": 1.0, "minor": 0.8, "deviation": 0.0}
_OPEN = frozenset({"claims", "no-semantic-tier", "semantic"})
"""Reasons of an undecided comparison of texts that were read, not given up as too long or of no kind."""


def settled(first: str, second: str, found: Comparison, entailment: Entailment) -> Comparison:
    """An undecided comparison of two answers, settled where a model tells entailment.

    Each claim of an answer is a hypothesis, the statements of the other that speak of it are the premise. All claims of
    both following: equivalent. One that contradicts, both ways: deviation. All of one answer following, and some of
    the other's left open: minor, one of them says more. Otherwise undecided. What has most of its words of meaning in
    another arrangement is never made equivalent or minor: small models do not see it.
    """
    if found.reason not in _OPEN or max(len(first), len(second)) > LONGEST:
        return found
    one, two = read(first), read(second)
    ahead, back = _questions(two, one), _questions(one, two)
    if not ahead or not back:
        return found
    asked = [*ahead, *back]
    verdicts = entailment.scores([(each.premise, each.claim) for each in asked])
    contradicted = [
        each for each, verdict in zip(asked, verdicts, strict=True) if verdict.label(_SURE) == "contradiction"
    ]
    if contradicted:
        # What contradicts is contradicted in turn: one of many claims is easily misjudged one way, seldom both ways.
        turned = entailment.scores([(each.claim, each.nearest) for each in contradicted])
        for each, verdict in zip(contradicted, turned, strict=True):
            if verdict.label(_SURE) == "contradiction":
                return _told(found, "deviation", f"{shown(each.claim)} contradicts {shown(each.nearest)}")
        return _untold(found)
    follow = [verdict.label(_SURE) == "entailment" for verdict in verdicts]
    if not (unmatched(one, two) or unmatched(two, one)) or rearranged(Pair(analyse(first), analyse(second))):
        return _untold(found)
    # The claim that follows least stands for its answer.
    weakest = [
        min(range(*span), key=lambda index: verdicts[index].entailment)
        for span in ((0, len(ahead)), (len(ahead), len(asked)))
    ]
    outcome = nine_cases(*(verdicts[index] for index in weakest), sure_at=_SURE)
    if outcome == "equivalent":
        return _told(found, outcome, "each claim of either answer follows from the other")
    if outcome == "minor":
        which, index = ("response", weakest[1]) if follow[weakest[0]] else ("baseline", weakest[0])
        return _told(found, outcome, f"only the {which} says {shown(asked[index].claim)}")
    return _untold(found)


class _Question(NamedTuple):
    """Whether a claim follows from the statements of the other answer that speak of it; the nearest of them."""

    premise: str
    claim: str
    nearest: str


def _questions(premises: Answer, claims: Answer) -> list[_Question]:
    return [
        _question(statement, premises)
        for statement in claims.statements
        if sum(token.kind in {"word", "figure"} for token in statement.pieces) >= _FEWEST
    ]


def _question(claim: Statement, answer: Answer) -> _Question:

    def shared(index: int) -> int:
        return len(claim.keys & answer.statements[index].keys)

    ranked = sorted(range(len(answer.statements)), key=lambda index: (-shared(index), index))[:_WINDOW]
    texts = [_text(answer.statements[index]) for index in sorted(ranked)]
    return _Question(" ".join(texts), _text(claim), _text(answer.statements[ranked[0]]))


def _text(statement: Statement) -> str:
    return f"{statement.heading}: {statement.text}" if statement.heading else statement.text


def _told(found: Comparison, outcome: Outcome, said: str) -> Comparison:
    similarity = _SIMILARITIES[outcome]
    tiers = (*found.tiers, Tier("entailment", similarity, said))
    return Comparison(outcome, similarity, "entailment", said, tiers)


def _untold(found: Comparison) -> Comparison:
    """What stays undecided, without the advice to ask the model that was asked."""
    explanation = found.explanation
    if explanation.endswith(SETTLE):
        explanation = f"{explanation.removesuffix(SETTLE)}the entailment model cannot tell either; {JUDGE}"
    return replace(found, explanation=explanation, tiers=(*found.tiers, Tier("entailment", None)))
