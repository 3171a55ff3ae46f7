"""Guards for negation and opposites: the same thing affirmed in one text and denied in the other.

Each statement is read as concepts with a sign. A negator turns the sign of the next word that carries meaning;
the negative pole of a pair of opposites is its positive pole with the sign turned, so that "not approved" and
"denied" agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.guards.pair import Finding, contradiction, doubt
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.comparing.reading.words import (
    NOT_PREFIXED,
    PREFIXES,
    canonical,
    canonical_set,
    written_as,
)
from pytest_promptfuzz.data.tables import entries, when_used
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.reading.text import Text


# Negation in scripts whose words are not set apart: Japanese, Chinese, Korean; the count of its signs.


_WIDE = expression(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WIDE_NEGATION = expression(
    r"ません|ない(?!で)|なかった|なく|なければ|不可|不[^同断要]|没|沒|無(?!料)|无|未|非[^常]|않|지 못|못 |안 |아니|없"
)
# 不是吗, なければならない: what is denied twice, or must not be left undone, is affirmed.
_TWICE = expression(r"なければな|なくてはな|ないわけでは|不得不|不仅|不僅|不但|无论|無論")


def check_cjk_negation(pair: Pair) -> Finding | None:
    """Whether one of two texts denies more than the other."""
    counts = [
        len(_WIDE_NEGATION.findall(_TWICE.sub("", text.clean))) if _WIDE.search(text.clean) else -1
        for text in (pair.a, pair.b)
    ]
    if counts[0] == counts[1] or -1 in counts:
        return None
    which = "response" if counts[1] > counts[0] else "baseline"
    told = contradiction if (counts[0] - counts[1]) % 2 and pair.similarity >= _WIDE_FRAME else doubt
    return told("negation", "denies-more", which)


_WIDE_FRAME = 0.5


_REACH = 5
_SKIPPED = word_lists.FUNCTION_WORDS - {"yes", "no"}
_UNSIGNED = _SKIPPED | word_lists.NEGATORS
_WEAK = canonical_set("""
currently yet ever even any anyone anything more longer always available possible able fully completely entirely
automatically usually often still
""")


def _poles() -> dict[str, list[tuple[str, int]]]:
    poles: dict[str, list[tuple[str, int]]] = {}
    for number, ends in enumerate(
        entries("comparing/scales.tsv", lambda one, other: (one.split(), other.split()))
    ):
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
TRIGGERS = when_used(lambda: word_lists.NEGATORS | frozenset(_POLES))


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

    def deny_last(self, weak: str, last: str) -> None:
        """A negator that nothing follows denies the word before it."""
        self.words.append(weak or last)
        if not weak and self.affirmed.get(last):
            self.affirmed[last] -= 1
            self.denied[last] = self.denied.get(last, 0) + 1


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
            if token in word_lists.NEGATORS:
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
    signs = Signed(affirmed, denied, words)
    if pending:
        signs.deny_last(weak, last)
    return signs


# Scripts without spaces between words: Japanese, Chinese, Korean. Negators are parts of words there.


_AT_THE_END = frozenset({"nicht", "niet"})
"""What may stand at the end of a sentence and deny its verb."""
_BUT = word_lists.word_set("unless until except before without")


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


def check_negation(pair: Pair) -> Finding | None:
    """Whether something affirmed in one text is denied in the other."""
    if not pair.a.clean.isascii() and not pair.b.clean.isascii():
        found = check_cjk_negation(pair)
        if found:
            return found
    denied = next(filter(None, map(_prefixed, pair.sides)), None) if _may_be_prefixed(pair) else None
    if denied:
        return contradiction("opposites", "word-became", *denied)
    if TRIGGERS.isdisjoint(pair.only_a) and TRIGGERS.isdisjoint(pair.only_b) and not _recounted(pair):
        return None
    doubtful: Finding | None = None
    for side in pair.sides:
        found = _statement(side)
        if found and found.kind == "contradiction" and found.guard == "negation" and _may_agree(side):
            found = Finding(found.guard, "doubt", found.observed)
        if found and found.kind == "contradiction":
            if side is pair or found.guard != "negation" or side.similarity >= _SAME_STATEMENT:
                return found
            if _negators(pair.a) != _negators(pair.b):
                return found
            # As much is denied in the one text as in the other: the statements were not each other's counterparts.
            found = Finding(found.guard, "doubt", found.observed)
        doubtful = doubtful or found
    return doubtful


_SAME_STATEMENT = 0.6
_SHORTEST_BASE = 4


def _may_be_prefixed(pair: Pair) -> bool:
    gone, come = pair.only_a, pair.only_b
    return any(
        longer.endswith(base) and longer != base
        for one in gone
        for two in come
        for base, longer in ((one, two), (two, one))
    )


def _prefixed(pair: Pair) -> tuple[str, str] | None:
    """A word that gave way to itself behind a prefix that denies, in a statement otherwise kept: "insoluble"."""
    for places in pair.edits if pair.similarity >= _SAME_STATEMENT else ():
        if [len(each) for each in places] != [1, 1]:
            continue
        words = written(pair, places[0][0]), written(pair, places[1][0], response=True)
        base, longer = sorted(words, key=len)
        if (
            len(base) >= _SHORTEST_BASE
            and longer.removesuffix(base) in PREFIXES
            and longer not in NOT_PREFIXED
        ):
            return words
    return None


def _negators(text: Text) -> int:
    return sum(map(word_lists.NEGATORS.__contains__, text.tokens))


def _recounted(pair: Pair) -> bool:
    """Whether the number of negators changed, or one may have moved, though the set of words did not."""
    if not _denying(pair.a):
        return False
    if not pair.only_a and not pair.only_b:
        return pair.a.tokens != pair.b.tokens
    return sum(map(word_lists.NEGATORS.__contains__, pair.middle_a)) != sum(
        map(word_lists.NEGATORS.__contains__, pair.middle_b)
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
    doubtful: Finding | None = None
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
            doubtful = doubtful or found
    if same_number or pair.similarity < 0.5:
        return doubtful
    extra, side = (two.words, "response") if len(two.words) > len(one.words) else (one.words, "baseline")
    changed = pair.only_a | pair.only_b
    if pair.similarity >= _EQUAL and not changed - word_lists.NEGATORS - word_lists.FUNCTION_WORDS:
        return contradiction("negation", "only-denies", side)
    return doubt("negation", "only-says", *_denier(pair, side, next(filter(None, extra), "")))


def _denying(text: Text) -> bool:
    return not word_lists.NEGATORS.isdisjoint(text.token_set)


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
        told = doubt if _denied_otherwise(pair, lost=lost) else contradiction
        return told("negation", "only-says", *_denier(pair, denier, here))
    told = contradiction if _comparable(pair, here, there) else doubt
    return told("opposites", "word-became", written(pair, here), written(pair, there, response=True))


def _denier(pair: Pair, which: str, word: str) -> tuple[str, str]:
    """The text that denies a word, and the clause that does; the other text where only that has a negator."""
    texts = {"baseline": pair.a, "response": pair.b}
    which = next((each for each in (which, *texts) if _denying(texts[each])), which)
    text = texts[which].clean
    return which, clause(text, _negates, written_as(word, [text]) or "")


def _negates(word: str) -> bool:
    return not word_lists.NEGATORS.isdisjoint(canonical(word))


def clause(text: str, begins: Callable[[str], bool], near: str = "") -> str:
    """The words of a text from one that begins a denial on, the last such before another word."""
    starts = [found.start() for found in _WORD.finditer(text) if begins(found[0].lower())]
    at = text.lower().find(near)
    start = max([each for each in starts if each <= at] or starts[:1], default=len(text))
    return _CLAUSE.match(text, start)[0]  # type: ignore[index]  # it matches everywhere


_WORD = expression(r"[^\W_]+(?:['’][^\W_]+)*")
_CLAUSE = expression(r"[^\s.,;:!?()]*(?: [^\s.,;:!?()]+){0,3}")


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
    return {
        each for each in near if each not in word_lists.FUNCTION_WORDS and each not in word_lists.NEGATORS
    }


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


# Small words that carry meaning: where and whither, whose, and when; alone they differ in hardly a letter.


_PARTICLE_FRAME = 0.6
"""Word similarity from which two statements count as the same with other small words."""

_SHORT_FRAME = 0.4
"""The same of statements as short as "I doubt it" and "I am sure of it"."""


_PLACES = canonical_set(
    """on in under over into onto from to before after with without for against about through between behind beside
    above below inside outside near until during within since toward towards up down off out across beneath"""
)
"""Prepositions that say another thing each. Not "of", "at" and "by", which stand for many."""

_ENDS = tuple(
    (canonical_set(one), canonical_set(two))
    for one, two in (
        ("for with", "against"),
        ("into in inside onto", "out outside off"),
        ("to toward towards into", "from"),
        ("over above", "under below beneath"),
        ("before until", "after since"),
        ("within", "after"),
        ("up", "down"),
    )
)
_OWNERS = ("my mine", "your yours", "his", "her hers", "our ours", "their theirs", "its")
_OWNER = when_used(
    lambda: {token: index for index, words in enumerate(_OWNERS) for token in canonical_set(words)}
)
_TIMES = ("is are am", "was were", "will shall")
_TIME = when_used(
    lambda: {token: index for index, words in enumerate(_TIMES) for token in canonical_set(words)}
)
_BESIDE = word_set("a an the of be been")
"""What may stand beside a small word where it changed: "out of", "will be"."""

_SUBJECTS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_PERSONS = {form: subject for subject, form in _SUBJECTS.items()} | {
    each: each for each in (*_SUBJECTS, "you")
}


def check_particles(pair: Pair) -> Finding | None:
    """Whether otherwise equal statements differ in where, whose or when, or in who does it to whom."""
    doubtful: Finding | None = None
    for side in pair.sides:
        found = _exchanged(side) or _compared(side) or _narrowed(side) or _doubted(side)
        if found:
            return found
        if side.similarity < _PARTICLE_FRAME:
            continue
        for gone, come in side.edits:
            found = _particle_turned(side, gone, come)
            if found and found.kind == "contradiction":
                return found
            doubtful = doubtful or found
    return doubtful


def _particle_turned(side: Pair, gone: tuple[str, ...], come: tuple[str, ...]) -> Finding | None:
    one, two = ([token for token in each if token not in _BESIDE] for each in (gone, come))
    if len(one) != 1 or len(two) != 1:
        return None
    old, new = one[0], two[0]
    if old == new:
        return None
    for group in (_OWNER, _TIME):
        if old in group and new in group and group[old] != group[new]:
            return doubt("particles", "word-became", *_as_written(side, old, new))
    if old in _PLACES and new in _PLACES:
        opposed = any((old in a and new in b) or (old in b and new in a) for a, b in _ENDS)
        told = contradiction if opposed else doubt
        return told("particles", "word-became", *_as_written(side, old, new))
    return None


def _as_written(side: Pair, old: str, new: str) -> tuple[str, str]:
    return written(side, old), written(side, new, response=True)


def _exchanged(side: Pair) -> Finding | None:
    """The same statement with the persons in each other's place: "he owes me", "I owe him"."""
    one, two = side.middle_a, side.middle_b
    if len(one) != len(two) or one == two:
        return None
    first, second = ([_PERSONS.get(token, token) for token in each] for each in (one, two))
    apart = [index for index, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    if len(apart) != 2:
        return None
    here, there = apart
    persons = {first[here], first[there]}
    if persons <= set(_PERSONS.values()) and first[here] == second[there] and first[there] == second[here]:
        return contradiction("particles", "changed-places", first[here], first[there])
    return None


def _compared(side: Pair) -> Finding | None:
    """A comparison turned round: "the A380 carries more than the 747", "the 747 carries more than the A380"."""
    one, two = side.a.tokens, side.b.tokens
    if one.count("than") != 1 or two.count("than") != 1 or any(side.changed):
        return None
    first, second = _sides_of_than(one), _sides_of_than(two)
    if not first[1] or len(first[0]) == 0 or first == second:
        return None
    subject, other = first[0][: len(second[1])], first[1]
    if subject == second[1] and second[0][: len(other)] == other and subject != other:
        words = written(side, subject[0]), written(side, other[0])
        return contradiction("particles", "changed-places-around-than", *words)
    return None


def _sides_of_than(tokens: list[str]) -> tuple[list[str], list[str]]:
    at = tokens.index("than")
    before, behind = (
        [each for each in part if each not in _LIGHT] for part in (tokens[:at], tokens[at + 1 :])
    )
    return before, behind


def _narrowed(side: Pair) -> Finding | None:
    """A statement of some alone: "only managers may", "almost all", against one of all of them."""
    one, two = side.middle_a, side.middle_b
    if bool(one) == bool(two):
        return None
    longer, which = (side.a, "baseline") if one else (side.b, "response")
    extra = one or two
    if len(extra) != 1:
        return None
    tokens, at, word = longer.tokens, side.start, extra[0]
    following = tokens[at + 1] if at + 1 < len(tokens) else ""
    subject = word == "only" and not at and len(tokens) > _SHORTEST
    nearly = word in _NEARLY and following in _WHOLE
    if subject or nearly:
        shown = written(side, word, response=which == "response")
        return contradiction("particles", "word-in-one", shown, which)
    return None


def _doubted(side: Pair) -> Finding | None:
    """A doubt for what is held to be so: "I doubt that", "I am sure that"."""
    if side.similarity < _SHORT_FRAME or not word_lists.NEGATORS.isdisjoint((*side.middle_a, *side.middle_b)):
        return None
    for gone, come in side.edits:
        for doubting, sure in ((gone, come), (come, gone)):
            if not _DOUBTS.isdisjoint(doubting) and not _SURE.isdisjoint(sure):
                return contradiction("particles", "doubted-or-sure")
    return None


_LIGHT = word_set("a an the")
_SHORTEST = 3
_NEARLY = canonical_set("almost nearly virtually practically")
_WHOLE = canonical_set("all every everyone everybody everything each none nobody nothing")
_DOUBTS = canonical_set("doubt doubts doubted")
_SURE = canonical_set(
    "sure certain confident convinced believe believes know knows think thinks positive expect trust"
)
