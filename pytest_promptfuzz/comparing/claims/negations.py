"""What one answer denies and the other says."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.word_lists import when_used
from pytest_promptfuzz.comparing.words import canonical, stem, stem_set

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.reading.answer import Answer, Statement, Token
    from pytest_promptfuzz.comparing.reading.pieces import Piece

_VERBS = "refuse fail deny reject lack avoid prevent exclude forbid prohibit refrain"
_DENYING = stem_set(_VERBS)
"""Verbs that deny what follows them."""
_HINTS = when_used(lambda: lexicon.NEGATORS.union(*map(canonical, _VERBS.split())))
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
        negates = piece.stem in lexicon.NEGATORS
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
                return Finding("negation", "doubt", f"only the {which} denies {denied[0].text!r}")
    return None


def _related(one: Token, two: Token | Piece) -> bool:
    same_start = len(one.stem) > 4 and len(two.stem) > 4 and one.stem[:5] == two.stem[:5]
    return one.key == two.key or same_start


def _is_shared(denial: Denial, others: list[Denial]) -> bool:
    words = denial.ahead + denial.back
    return any(
        _related(word, each) for other in others for each in other.ahead + other.back for word in words
    )
