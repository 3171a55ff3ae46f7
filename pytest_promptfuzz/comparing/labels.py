"""Labels: short answers that name a class, however they are dressed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon, stated
from pytest_promptfuzz.comparing.concluded import concluded, joined
from pytest_promptfuzz.comparing.dates import days_apart
from pytest_promptfuzz.comparing.guards.identifiers import GLAD, SORRY
from pytest_promptfuzz.comparing.guards.polarity import signed
from pytest_promptfuzz.comparing.guards.stakes import DEGREES
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.text import analyse
from pytest_promptfuzz.comparing.tokens import canonical_words
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.text import Text

MAX_WORDS = 3
"""Words up to which an answer is taken for a label."""

MAX_SENTENCE = 16
"""Words up to which a sentence is taken for a label's wrapping."""

_DRESSED = expression(
    r"\A(?:the |this |its |overall |my |final |predicted |correct |most |best |suitable |appropriate )*"
    rf"(?:[a-z]+[ _])?{stated.NOUN}"
    rf"(?: of (?:the|this) [\w ]{{1,24}}?)?\s*(?:is|would be|:|=|->|→|-)\s*[:\"']*\s*(.+?)\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
_SIGN = expression(r"(?<!\w)[-−](?=\d)")
_TAIL = expression(rf"(?<=\w)\s+(?:{stated.NOUN}|review|text|ticket|message)s?\Z", re.IGNORECASE)
_LEAD = expression(r"\A(?:it's|it is|this is|that's|that is|in (?=\d)|on (?=\d)|at (?=\d))\s*(?=\w)")
_INSTEAD = expression(
    r"\Anot [\w-]+[:;,] ?(?:but )?(?=\w)|(?<=\w)(?:,| -|;)? (?:and |but |rather than )?not [\w-]+\Z"
)
_WIDE = expression(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WIDE_CHARACTERS = 6
"""Characters of a script without spaces up to which an answer is taken for a label."""

LONGEST = 2000
"""Characters up to which an answer may be a label."""

_MODALS = word_set("may must should will cannot can might could would")
_SUBJECTS = word_set("i he she we they you")
_EDGES = " \t\r\n.!?,;:\"'`*_()[]{}<>。！？"


def bare(text: Text) -> str:
    """The label in an answer, without its dress: lower case, ``Label:`` and quotes gone, ``_`` and ``-`` as spaces.

    >>> bare(Text("**Label:** NOT_SPAM."))
    'not spam'
    """
    inner = stated.without_confidence(text.clean).strip(_EDGES)
    found = _DRESSED.match(inner.replace("**", ""))
    if found:
        inner = found[1].strip(_EDGES)
    inner = " ".join(re.sub(r"[_\s]+|(?<=\w)-(?=\w)", " ", inner).casefold().split())
    if len(inner.split()) <= MAX_WORDS:
        inner = _INSTEAD.sub("", _LEAD.sub("", inner))
        short = _TAIL.sub("", inner)
        inner = inner if short in _RANKS else short
    return inner


_RANKS = word_set("first second third business economy premium world high low top middle working")
"""What is another thing with a noun behind it: "first" and "first class"."""


def is_label(text: Text) -> bool:
    """Whether the answer is nothing but a label."""
    if len(text.tokens) > 2 * MAX_SENTENCE or len(text.raw) > LONGEST:
        return False
    label = bare(text)
    words = label.split()
    if not label or len(words) > MAX_WORDS or "\n" in text.clean:
        return False
    if len(words) > 1 and (words[0] in _SUBJECTS or not _MODALS.isdisjoint(words[1:-1])):
        return False  # "He cannot attend" is a statement, however short
    return label.isascii() or len(_WIDE.findall(label)) <= _WIDE_CHARACTERS


def _key(label: str) -> tuple[str, ...]:
    tokens = canonical_words(label)
    return tuple(token for token in tokens if token not in {"a", "an", "the"}) or (label,)


def same(first: Text, second: Text) -> bool:
    """Whether two answers are the same label."""
    one, two = bare(first), bare(second)
    if one == two or (one in _INAPPLICABLE and two in _INAPPLICABLE):
        return True
    if _key(one) == _key(two):
        return len(_SIGN.findall(one)) == len(_SIGN.findall(two)) and not _opposed(one, two)
    first_value, second_value = _number(one), _number(two)
    if first_value is not None and second_value is not None:
        return first_value == second_value
    dated = all(_YEAR.search(each) for each in (one, two))
    return dated and days_apart(first.clean.strip(_EDGES), second.clean.strip(_EDGES)) == (0, True)


_YEAR = expression(r"\b\d{4}\b")


_INAPPLICABLE = frozenset({"n/a", "n.a", "not applicable", "n. a"})


def separated(first: Text, second: Text) -> bool:
    """Whether two labels are one number that may be read as two: 1,000 and 1.000, 1,5 and 1.5."""
    one, two = bare(first), bare(second)
    return (
        one != two
        and all(map(_SEPARATED.fullmatch, (one, two)))
        and one.replace(",", ".") == two.replace(",", ".")
    )


_SEPARATED = expression(r"\D?-?\d+[.,]\d+\D{0,2}")


def same_set(first: Text, second: Text) -> bool:
    """Whether two labels are the same hashtags or items in another order."""
    one, two = (sorted(_ITEM.findall(each.clean.casefold())) for each in (first, second))
    return (
        one == two and len(one) > 1 and all(_LISTED.fullmatch(each.clean.strip()) for each in (first, second))
    )


_ITEM = expression(r"#?[\w-]+")
_LISTED = expression(r"#[\w-]+(?:[\s,]+#[\w-]+)+|[\w-]+(?:, ?[\w-]+)+")


_MOST_DIGITS = 300


def _number(label: str) -> float | None:
    """The value of a label that is one number, as ``1e3`` and ``-0.50`` are."""
    if label[:1] not in "-+.0123456789":
        return None
    part, slash, whole = label.partition("/")
    if slash and part.isdecimal() and whole.isdecimal() and len(label) <= _MOST_DIGITS and int(whole):
        return int(part) / int(whole)
    try:
        return float(label)
    except ValueError:
        return None


def _opposed(one: str, two: str) -> bool:
    """Whether a picture of approval stands in the one label and one of refusal in the other."""
    signs = [(not GLAD.isdisjoint(label), not SORRY.isdisjoint(label)) for label in (one, two)]
    return signs[0] != signs[1] and all(map(any, signs))


def found_in(label: Text, answer: Text) -> str:
    """How a label stands in a longer answer.

    Returns:
        ``stated`` where the answer affirms it; ``denied`` where it is negated, stands beside its opposite, or another
        one is given; ``qualified`` where a word of degree precedes it; ``named`` where it stands in a text too long to
        be its wrapping, or beside other possibilities; ``absent`` where it does not stand there.
    """
    key = _key(bare(label))
    if gives(label, answer):
        return "stated"
    said = [_key(bare(analyse(each))) for each in stated.declared(answer.clean)]
    end = None if said else concluded(answer.clean)
    if end is not None:
        if same(analyse(end), label):
            return "stated"
        given = any(same(analyse(each), label) for each in stated.given(answer.clean))
        if not given and not _predicated(key, answer.tokens):
            said = [_key(bare(analyse(end)))]
    if said and not any(_within(key, each) for each in said):
        return "denied"
    tokens = canonical_words(re.sub(r"(?<=\w)[_-](?=\w)", " ", answer.clean))
    at = next(
        (
            index
            for index in range(len(tokens) - len(key) + 1)
            if tuple(tokens[index : index + len(key)]) == key
        ),
        None,
    )
    holds, wanted = signed(tokens), signed(key)
    for ours, theirs in ((wanted.affirmed, holds.denied), (wanted.denied, holds.affirmed)):
        if any(theirs.get(concept) and concept not in lexicon.FUNCTION_WORDS for concept in ours):
            return "denied"
    if at is None:
        return "absent"
    if joined(key, at, tokens):
        return "named"
    before = tokens[at - 1] if at else ""
    if before in DEGREES and not key[0].isdigit():
        return "qualified"
    if (
        len(answer.words) > MAX_SENTENCE
        or len(answer.sentences) > 1
        or stated.leaves_open(answer.words, answer.clean)
    ):
        return "named"
    return "stated"


def _predicated(key: tuple[str, ...], tokens: list[str]) -> bool:
    """Whether an answer ends in saying that something is so: "Wow. The review is positive."."""
    start = len(tokens) - len(key)
    return tuple(tokens[start:]) == key and not _BEING.isdisjoint(tokens[max(0, start - 2) : start])


_BEING = word_set("is are was were be")


def _within(key: tuple[str, ...], tokens: tuple[str, ...]) -> bool:
    return any(tokens[at : at + len(key)] == key for at in range(len(tokens) - len(key) + 1))


def gives(label: Text, answer: Text) -> bool:
    """Whether an answer gives this label and no other."""
    given = stated.given(answer.clean)
    return len(given) == 1 and same(analyse(given[0]), label)


def both_give(first: Text, second: Text) -> tuple[Text, Text] | None:
    """The one label that each of two answers gives; ``None`` where one of them gives none, or several."""
    one, two = stated.given(first.clean), stated.given(second.clean)
    return (analyse(one[0]), analyse(two[0])) if len(one) == len(two) == 1 else None


def stands_in(label: Text, answer: Text) -> bool:
    """Whether one sentence states a label and does not begin with it, as "The capital is Paris." states "Paris"."""
    key = _key(bare(label))
    return tuple(answer.tokens[: len(key)]) != key and found_in(label, answer) == "stated"


def rejected(label: Text, answer: Text) -> bool:
    """Whether an answer mentions a label and draws another as its conclusion."""
    return (
        concluded(answer.clean) is not None
        and _within(_key(bare(label)), tuple(answer.tokens))
        and found_in(label, answer) == "denied"
    )


def breaks_off(label: Text, answer: Text) -> bool:
    """Whether a label is the beginning of a list that goes on: "Present: Wu, Lee" of "Present: Wu, Lee, Osei"."""
    start = label.clean.rstrip(_EDGES)
    if not (":" in start or "," in start) or not answer.clean.startswith(start):
        return False
    return answer.clean[len(start) :].lstrip()[:1] in {",", ";", "/"}


def _out_of(number: str, ratio: str) -> bool:
    """Whether one label is a number and the other the same out of another: 5 and 5/5."""
    whole, slash, most = ratio.partition("/")
    return bool(slash) and number.isdigit() and whole.strip() == number and most.strip().isdigit()


def extends(first: Text, second: Text) -> str:
    """How two short answers overlap: ``qualified`` by a word of degree, ``longer`` by other words, or ``no``."""
    if _out_of(bare(first), bare(second)) or _out_of(bare(second), bare(first)):
        return "longer"
    one, two = set(_key(bare(first))), set(_key(bare(second)))
    if not (one < two or two < one):
        return "no"
    if all(any(each[0].isdigit() for each in some) for some in (one & two, one ^ two)):
        # range(10) and range(1, 10)
        return "no"
    if all(each[0].isdigit() for each in (one & two)):
        # 42 and 42 %, 5 and 5 apples: what is counted is part of a number.
        return "qualified"
    return "longer" if (one ^ two).isdisjoint(DEGREES | lexicon.NEGATORS) else "qualified"
