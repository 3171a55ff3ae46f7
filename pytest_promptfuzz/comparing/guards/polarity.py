"""Negation and opposites: the same thing affirmed in one text and denied in the other.

Each statement is read as concepts with a sign. A negator turns the sign of the next word that carries meaning;
the negative pole of a pair of opposites is its positive pole with the sign turned, so that "not approved" and
"denied" agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards import wide
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.tokens import written_as
from pytest_promptfuzz.comparing.word_lists import entries, when_used
from pytest_promptfuzz.comparing.words import canonical, canonical_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.text import Text

_REACH = 5
_SKIPPED = lexicon.FUNCTION_WORDS - {"yes", "no"}
_UNSIGNED = _SKIPPED | lexicon.NEGATORS
_WEAK = canonical_set("""
currently yet ever even any anyone anything more longer always available possible able fully completely entirely
automatically usually often still
""")


def _poles() -> dict[str, list[tuple[str, int]]]:
    poles: dict[str, list[tuple[str, int]]] = {}
    for number, ends in enumerate(entries("scales.tsv", lambda one, other: (one.split(), other.split()))):
        sides = [{form[0] for form in map(canonical, end) if len(form) == 1} for end in ends]
        shared = sides[0] & sides[1]
        if not (sides[0] - shared and sides[1] - shared):
            continue
        name = f"{ends[0][0]}#{number}"
        for sign, side in zip((1, -1), sides, strict=True):
            for form in sorted(side - shared):
                poles.setdefault(form, []).append((name, sign))
    return poles


def _words() -> dict[str, set[str]]:
    words: dict[str, set[str]] = {}
    for word, choices in _POLES.items():
        for name, _ in choices:
            words.setdefault(name, set()).add(word)
    return words


_POLES = when_used(_poles)
_WORDS = when_used(_words)
"""The words at both poles of each concept."""
_USED_UP = canonical_set(
    """filled full fully sold gone used spent taken expired exhausted finished ended over before until empty emptied
    depleted unavailable closed missing lost lapsed passed elapsed exceeded booked allocated ran runs instead
    refrain stop avoid prevent prevents blocked ceased discontinued withdrawn dropped still remain remains
    except besides ausverkauft vergriffen ausgebucht vergeben abgelaufen épuisé complet complète expiré agotado
    agotada lleno completo vencido esaurito esaurita scaduto uitverkocht vol verlopen"""
)
"""Words that say without a "not" that something is no more, or did not come to be."""
_ENDING = canonical_set("stop cease quit fail refuse free forbidden banned")
"""Verbs that deny what follows them."""
_DENYING = frozenset({"not"})
TRIGGERS = when_used(lambda: lexicon.NEGATORS | frozenset(_POLES))


def opposed(one: str, two: str) -> bool:
    """Whether two tokens are the two ends of one scale."""
    return any((name, -sign) in _POLES.get(two, ()) for name, sign in _POLES.get(one, ()))


class Signed(NamedTuple):
    """A statement read as concepts with signs.

    Attributes:
        affirmed: How often it affirms each concept.
        denied: How often it denies each concept.
        words: For each of its negators, the token it denies ("" if none).
    """

    affirmed: dict[str, int]
    denied: dict[str, int]
    words: list[str]


def signed(tokens: Iterable[str]) -> Signed:
    """The concepts of a statement with their signs, and the words its negators deny.

    Args:
        tokens: Canonical tokens of one statement.
    """
    affirmed: dict[str, int] = {}
    denied: dict[str, int] = {}
    words: list[str] = []
    pending = False
    waiting = 0
    weak = last = token = ""
    for each in tokens:
        previous, token = token, each
        if token in _UNSIGNED:
            if token in lexicon.NEGATORS:
                if pending and token == previous and token in _DENYING:
                    pending = False  # "not uncommon" affirms
                    continue
                if pending:
                    words.append(weak or last)
                pending, waiting, weak = True, 0, ""
            elif pending:
                waiting += 1
                if waiting > _REACH:
                    words.append(weak or last)
                    pending, waiting = False, 0
            continue
        here, there = affirmed, denied
        if pending:
            here, there = denied, affirmed
            if token in _WEAK and not weak:
                weak = token
            else:
                words.append(token)
                pending, waiting = False, 0
        here[token] = here.get(token, 0) + 1
        for concept, pole in _POLES.get(token, ()):
            side = here if pole > 0 else there
            side[concept] = side.get(concept, 0) + 1
        last = token
    if pending:
        words.append(weak or last)
        if not weak and affirmed.get(last):
            affirmed[last] -= 1
            denied[last] = denied.get(last, 0) + 1
    return Signed(affirmed, denied, words)


# Scripts without spaces between words: Japanese, Chinese, Korean. Negators are parts of words there.


_AT_THE_END = frozenset({"nicht", "niet"})
"""What may stand at the end of a sentence and deny its verb."""
_BUT = lexicon.word_set("unless until except before without")


def _may_agree(pair: Pair) -> bool:
    """Whether one text may deny as much as the other: "not unless" and "only if", "if not" and "unless".

    A "nicht" that moved to the end of a sentence denies what it denied.
    """
    if not pair.only_a and not pair.only_b and not _AT_THE_END.isdisjoint(pair.a.token_set):
        return True
    return any(
        ("only" in some and not _BUT.isdisjoint(others)) or ("if" in some and "unless" in others)
        for some, others in ((pair.only_a, pair.only_b), (pair.only_b, pair.only_a))
    )


def check(pair: Pair) -> Finding | None:
    """Whether something affirmed in one text is denied in the other."""
    if not pair.a.clean.isascii() and not pair.b.clean.isascii():
        found = wide.check(pair)
        if found:
            return found
    if TRIGGERS.isdisjoint(pair.only_a) and TRIGGERS.isdisjoint(pair.only_b) and not _recounted(pair):
        return None
    doubt: Finding | None = None
    for side in pair.sides:
        found = _statement(side)
        if found and found.kind == "contradiction" and found.guard == "negation" and _may_agree(side):
            found = Finding(found.guard, "doubt", found.explanation)
        if found and found.kind == "contradiction":
            if side is pair or found.guard != "negation" or side.similarity >= _SAME_STATEMENT:
                return found
            if _negators(pair.a) != _negators(pair.b):
                return found
            # As much is denied in the one text as in the other: the statements were not each other's counterparts.
            found = Finding(found.guard, "doubt", found.explanation)
        doubt = doubt or found
    return doubt


_SAME_STATEMENT = 0.6


def _negators(text: Text) -> int:
    return sum(map(lexicon.NEGATORS.__contains__, text.tokens))


def _recounted(pair: Pair) -> bool:
    """Whether the number of negators changed, or one may have moved, though the set of words did not."""
    if not _denying(pair.a):
        return False
    if not pair.only_a and not pair.only_b:
        return pair.a.tokens != pair.b.tokens
    return sum(map(lexicon.NEGATORS.__contains__, pair.middle_a)) != sum(
        map(lexicon.NEGATORS.__contains__, pair.middle_b)
    )


def _signs(text: Text) -> Signed:
    return signed(text.tokens)


def _statement(pair: Pair) -> Finding | None:
    if not _denying(pair.a) and not _denying(pair.b) and not _turning(pair):
        return None
    one, two = pair.a.once(_signs), pair.b.once(_signs)
    same_number = len(one.words) == len(two.words)
    # "No refund is available" and "refunds are not available" deny different words and agree; where every word is
    # the same and another one is denied, they do not.
    reworded = bool(pair.only_a or pair.only_b)
    doubt: Finding | None = None
    for concept in sorted(one.denied.keys() | two.denied.keys()):
        pole = "#" in concept
        if same_number and reworded and not (pole and _turned(pair, concept)):
            continue
        fewer = one.affirmed.get(concept, 0) - two.affirmed.get(concept, 0)
        more = two.denied.get(concept, 0) - one.denied.get(concept, 0)
        if fewer * more > 0:
            found = _contradiction(pair, concept, lost=fewer > 0)
            if found and found.kind == "contradiction":
                return found
            doubt = doubt or found
    if same_number or pair.similarity < 0.5:
        return doubt
    extra, side = (two.words, "response") if len(two.words) > len(one.words) else (one.words, "baseline")
    changed = pair.only_a | pair.only_b
    if pair.similarity >= _EQUAL and not changed - lexicon.NEGATORS - lexicon.FUNCTION_WORDS:
        return Finding("negation", "contradiction", f"only the {side} denies what both say")
    word = next((written(pair, each, response=side == "response") for each in extra if each), "something")
    return Finding("negation", "doubt", f"only the {side} denies {word!r}")


def _denying(text: Text) -> bool:
    return not lexicon.NEGATORS.isdisjoint(text.token_set)


def _turning(pair: Pair) -> bool:
    """Whether a word of a scale gave way to another word of it: without a negator nothing else can turn a sign."""
    gone, come = ({name for token in tokens for name, _ in _POLES.get(token, ())} for tokens in pair.changed)
    return not gone.isdisjoint(come)


def _turned(pair: Pair, concept: str) -> bool:
    """Whether the texts hold different words of a scale; the same word in both is like any other word."""
    return _poles_in(pair.a.token_set, concept) != _poles_in(pair.b.token_set, concept)


def _poles_in(tokens: frozenset[str], concept: str) -> set[str]:
    return _WORDS[concept] & tokens


def _contradiction(pair: Pair, concept: str, *, lost: bool) -> Finding | None:
    poles = _WORDS.get(concept, {concept})
    if len(poles) > 1 and _inverted(pair, poles):
        return None
    here = next((word for word in pair.a.tokens if word in poles), concept)
    there = next((word for word in pair.b.tokens if word in poles), here)
    if here == there:
        denier = "response" if lost else "baseline"
        kind: Literal["contradiction", "doubt"] = (
            "doubt" if _denied_otherwise(pair, lost=lost) else "contradiction"
        )
        return Finding("negation", kind, f"only the {denier} denies {written(pair, here)!r}")
    return Finding(
        "opposites",
        "contradiction" if _comparable(pair, here, there) else "doubt",
        f"{written(pair, here)!r} in the baseline became {written(pair, there, response=True)!r}",
    )


def _denied_otherwise(pair: Pair, *, lost: bool) -> bool:
    """Whether the text that denies nothing may say so by a verb: "has stopped working", "is sold out"."""
    other = pair.only_a if lost else pair.only_b
    return not other.isdisjoint(_ENDING) or (pair.similarity < _EQUAL and not other.isdisjoint(_USED_UP))


_FRAME = 0.5
_LOOSE_FRAME = 0.4
_EQUAL = 0.75
_NEIGHBOURS = 3


def _comparable(pair: Pair, here: str, there: str) -> bool:
    """Whether two opposite words say something of the same thing: statements much alike, or the same words around."""
    if pair.similarity >= _FRAME:
        return True
    shared = _around(pair.a.tokens, here) & _around(pair.b.tokens, there)
    return len(shared) > 1 or (bool(shared) and pair.similarity >= _LOOSE_FRAME)


def _around(tokens: list[str], word: str) -> set[str]:
    if word not in tokens:
        return set()
    at = tokens.index(word)
    near = tokens[max(0, at - _NEIGHBOURS) : at] + tokens[at + 1 : at + 1 + _NEIGHBOURS]
    return {each for each in near if each not in lexicon.FUNCTION_WORDS and each not in lexicon.NEGATORS}


def _inverted(pair: Pair, poles: set[str]) -> bool:
    """Whether what stood before the word now stands after its opposite: "wait before you pour", "pour after a wait".

    Of "before" and "after" this is asked of what follows them alone.
    """
    sides = []
    for tokens in (pair.a.tokens, pair.b.tokens):
        at = next((index for index, token in enumerate(tokens) if token in poles), None)
        if at is None:
            return False
        sides.append(({*tokens[:at]} - _SKIPPED, {*tokens[at + 1 :]} - _SKIPPED))
    (left_a, right_a), (left_b, right_b) = sides
    if poles & {"before", "after"} and right_a and right_b and not right_a & right_b:
        return True
    return bool(left_a & right_b and right_a & left_b) and not left_a & left_b and not right_a & right_b


def written(pair: Pair, token: str, *, response: bool = False) -> str:
    """A canonical token as the baseline, or the response, writes it; as the other does where it does not."""
    first, second = (pair.b, pair.a) if response else (pair.a, pair.b)
    return written_as(token, first.sentences) or written_as(token, second.sentences) or token
