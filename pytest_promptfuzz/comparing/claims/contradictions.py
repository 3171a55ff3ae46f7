"""Contradictions in prose: words that exclude each other, denials on one side, statements that were edited."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.claims.facts import around, beside
from pytest_promptfuzz.comparing.guards import checks, negations, order, qualifiers
from pytest_promptfuzz.comparing.guards.negations import clause, written
from pytest_promptfuzz.comparing.guards.pair import Finding, Pair
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.text import analyse
from pytest_promptfuzz.comparing.reading.word_lists import FUNCTION_WORDS, NEGATORS, word_set
from pytest_promptfuzz.comparing.reading.words import canonical, canonical_set, stem, stem_set
from pytest_promptfuzz.comparing.shared_words import elsewhere, same_words
from pytest_promptfuzz.data.tables import when_used

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_promptfuzz.comparing.reading.answer import Answer, Statement, Token
    from pytest_promptfuzz.comparing.reading.pieces import Piece


_LOOSE = canonical_set(
    """only all any entire whole sell sold buy purchase give take enter exit before after until together alone twice
    half leave stay must may can receive get send start begin end finish continue stop connect separate live die
    afford affordable cost"""
)
"""Words that a rewording may use for their contraries, as "before" and "after" with the parts turned round."""
_EXCLUDING = when_used(
    lambda: (
        (qualifiers.TRIGGERS | frozenset(negations.TRIGGERS)) - frozenset(_LOOSE) - word_lists.FUNCTION_WORDS
    )
)
"""Words that may have a contrary."""
_BESIDE = 2
"""Telling words beside both, from which they are said of the same thing."""
_SHORT = 2
"""Other telling words of a short statement: "Decision: reject the return"."""


def contrary(baseline: Answer, response: Answer) -> Finding | None:
    """A word of the baseline whose contrary is said of the same thing in the response, as often denied."""
    gone = (baseline.stems & _EXCLUDING) - response.stems
    come = (response.stems & _EXCLUDING) - baseline.stems
    contraries = {each: {other for other in come if _exclude(each, other)} for each in gone}
    for token in baseline.standing([each for each in gone if contraries[each]]):
        for other in response.standing(contraries[token.stem]):
            if other.telling and _of_the_same(token, other) and _negators(token) == _negators(other):
                return Finding(
                    "opposites", "contradiction", f"{token.text!r} in the baseline became {other.text!r}"
                )
    return None


def _exclude(one: str, two: str) -> bool:
    return two in qualifiers.excluded_by(one) or negations.opposed(one, two)


def _of_the_same(one: Token, two: Token) -> bool:
    """Whether two words stand by the same ones, or in short statements of which one has a word of the other."""
    if len(around(one) & around(two)) >= _BESIDE:
        return True
    here, there = beside(one), beside(two)
    return min(len(here), len(there)) <= _SHORT and not here.isdisjoint(there)


def _negators(token: Token) -> int:
    """How many there are in the statement: "not full" is what "half" may say."""
    return sum(other.stem in word_lists.NEGATORS for other in token.statement.pieces)


# What one answer denies and the other says.


_VERBS = "refuse fail deny reject lack avoid prevent exclude forbid prohibit refrain"
_DENYING = stem_set(_VERBS)
"""Verbs that deny what follows them."""
_HINTS = when_used(lambda: word_lists.NEGATORS.union(*map(canonical, _VERBS.split())))
"""What a statement has that denies something."""
_NO_DENIAL = {("not", "only"), ("not", "just"), ("not", "hesitate")} | {
    ("no", word)
    for word in ("later", "more", "longer", "less", "matter", "problem", "earlier", "fewer", "doubt")
}
_STOPS = frozenset(".;:!?()|–—,→")
_CLAUSES = word_set("but because since as so unless while although if when which who")
_AHEAD, _BACK = 5, 3


class Denial(NamedTuple):
    """A negator with the telling words it may deny.

    Attributes:
        negator: It.
        ahead: The words behind it, up to the end of its clause.
        back: Those before it.
    """

    negator: Token
    ahead: list[Token]
    back: list[Token]


@lru_cache(maxsize=64)
def denials(answer: Answer) -> list[Denial]:
    """Every denial of an answer."""
    return [denial for each in answer.statements for denial in _of_statement(each)]


def _of_statement(statement: Statement) -> list[Denial]:
    found: list[Denial] = []
    if _HINTS.isdisjoint(statement.stems):
        return found
    for at, piece in enumerate(statement.pieces):
        if piece.kind != "word":
            continue
        negates = piece.stem in word_lists.NEGATORS
        if not negates and stem(piece.low) not in _DENYING:
            continue
        token = statement.token(at)
        following = next((each for each in statement.pieces[at + 1 :] if each.kind != "mark"), None)
        if following is not None and {(token.stem, following.low), (token.low, following.low)} & _NO_DENIAL:
            continue
        ahead = _clause(statement, range(at + 1, len(statement.pieces)), _AHEAD)
        back = _clause(statement, range(at - 1, -1, -1), _BACK) if negates else []
        found.append(Denial(token, ahead, back))
    return found


def _clause(statement: Statement, places: range, most: int) -> list[Token]:
    found: list[Token] = []
    for at in places:
        piece = statement.pieces[at]
        if (piece.kind == "mark" and piece.text in _STOPS) or piece.low in _CLAUSES or len(found) == most:
            break
        if piece.telling:
            found.append(statement.token(at))
    return found


def one_sided_denial(baseline: Answer, response: Answer) -> Finding | None:
    """A doubt where what one answer denies is not denied in the other.

    In another wording it may be said without a "not"; in a statement that was kept, ``counterparts`` tell.
    """
    for one, two, which in ((baseline, response, "baseline"), (response, baseline, "response")):
        answered = denials(two)
        for denial in denials(one):
            denied = denial.ahead or denial.back
            spoken_of = any(_related(word, each) for word in denied for each in two.telling)
            if spoken_of and not _is_shared(denial, answered):
                said = clause(
                    denial.negator.statement.text, denial.negator.low.__eq__, denied[0].text.lower()
                )
                return Finding("negation", "doubt", f"only the {which} says {said!r}")
    return None


def _related(one: Token, two: Token | Piece) -> bool:
    same_start = len(one.stem) > 4 and len(two.stem) > 4 and one.stem[:5] == two.stem[:5]
    return one.key == two.key or same_start


def _is_shared(denial: Denial, others: list[Denial]) -> bool:
    words = denial.ahead + denial.back
    return any(
        _related(word, each) for other in others for each in other.ahead + other.back for word in words
    )


# Statements that both answers make in nearly the same words, and what changed within them.


_KEPT = 0.75
"""Share of words, in order, from which two statements are one that was edited."""
_KEPT_STEMS = 0.5
"""Share of stems, in any order, without which no two statements have as many words in order."""
_KEPT_WHOLE = 0.8
"""The same of two answers."""
_FEWEST = 3
_MOST = 60
"""Statements of an answer that are compared with each other."""
_GUARDS = ("negation", "choices", "modality", "conditions", "roles")
"""What is told from an edited statement alone; figures and names are compared for the whole answer."""
_WEIGHTY = word_set(
    """i you he she we they me him her us them my your his our their to from by for with without before after until
    since over under above below up down in out on off if unless only and or all any each both either neither"""
)
"""Function words that tell who does what to whom, and when."""
_SMALL = tuple(
    map(
        word_set,
        ("and or", "before after once until while", "both each either", "this next last", "within over"),
    )
)
"""Small words of one kind, of which one for another changes what an otherwise equal statement says."""
_LIMITING = NEGATORS | word_set("only if unless except until provided but however may might could")
"""Words that take something back from what was said, where one answer alone has them."""


def edited(baseline: Answer, response: Answer, whole: Pair, names: Collection[str]) -> Finding | None:
    """What changed in a statement that was kept but for an edit.

    Args:
        baseline: The one answer.
        response: The other one.
        whole: Their texts.
        names: The guards that may contradict.

    Returns:
        A contradiction that a guard found, or a doubt: what an edit changed and no guard knows.
    """
    steps = order.check_steps(whole) if "sequence" in names else None
    if steps and (steps.kind == "contradiction" or "1." in baseline.text):
        doubt: Finding | None = steps
    else:
        doubt = _edit(whole) if whole.similarity >= _KEPT_WHOLE else None
    if doubt and doubt.kind == "contradiction":
        return doubt
    asked = tuple(name for name in _GUARDS if name in names)
    there = {each.folded for each in response.statements}
    for statement in baseline.statements[:_MOST]:
        if statement.folded in there:
            continue
        pair = _counterpart(statement, response)
        if pair is None:
            continue
        found = next((each for each in checks.run(pair, asked) if each.kind == "contradiction"), None)
        if found:
            return found
        doubt = doubt or _edit(pair)
    return doubt


def _counterpart(statement: Statement, response: Answer) -> Pair | None:
    """The statement of the response with the most words of this one, in order."""
    if sum([each.kind == "word" for each in statement.pieces]) < _FEWEST:
        return None
    best, most = None, _KEPT
    for other in response.statements[:_MOST]:
        shared = len(statement.stems & other.stems)
        if shared < _KEPT_STEMS * min(len(statement.stems), len(other.stems)):
            continue
        pair = Pair(analyse(statement.text), analyse(other.text))
        if pair.similarity > most:
            best, most = pair, pair.similarity
    return best


def _edit(pair: Pair) -> Finding | None:
    gone, come = pair.changed
    old, new = (sorted(tokens - FUNCTION_WORDS | tokens & _WEIGHTY) for tokens in (gone, come))
    for kind in _SMALL:
        if len(old) == len(new) == 1 and old[0] in kind and new[0] in kind:
            became = (
                f"{written(pair, old[0])!r} in the baseline became {written(pair, new[0], response=True)!r}"
            )
            return Finding("choices", "contradiction", became)
    if old and new:
        became = f"{written(pair, old[0])!r} in the baseline became {written(pair, new[0], response=True)!r}"
        return Finding("wording", "doubt", became)
    if old:
        return Finding("wording", "doubt", f"only the baseline has {written(pair, old[0])!r}")
    limiting = [word for word in new if word in _LIMITING]
    if limiting:
        word = written(pair, limiting[0], response=True)
        return Finding("wording", "doubt", f"only the response has {word!r}")
    if (
        not gone
        and not come
        and pair.a.tokens != pair.b.tokens
        and sorted(pair.a.tokens) == sorted(pair.b.tokens)
        and not same_words(pair)
    ):
        return Finding("wording", "doubt", elsewhere(pair))
    return None
