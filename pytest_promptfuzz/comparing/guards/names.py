"""Guards for names and roles: another person, place or product, or two parties that changed places."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, pairwise, product
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.claims.arrangement import arranged
from pytest_promptfuzz.comparing.guards.negations import TRIGGERS, opposed, written
from pytest_promptfuzz.comparing.guards.pair import contradiction, doubt
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.answer import read
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.comparing.reading.words import canonical, split_words
from pytest_promptfuzz.data.tables import entries, when_used
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.comparing.guards.pair import Finding, Pair
    from pytest_promptfuzz.comparing.reading.text import Text


# What begins with one set of characters is found far sooner than what begins by looking back.
_NAME = expression(r"[A-Z](?<![\w'][A-Z])[\w'&]*(?:[.-]\w+)*(?:\s+[A-Z][\w'&]*(?:[.-]\w+)*)*")
_OPENING = expression(r"(?:^|[.!?:;\"(\n]\s*|\A\s*)$")


_FRAME = 0.6
_LONGEST = 3
_CLOSE = 5
"""Words up to which two runs of changed words count as one place."""


def _names(text: Text) -> list[tuple[str, bool]]:
    """The capitalised runs of a text, and whether each stands where any word would be capitalised.

    In German any noun would be, but few names follow an article or an adjective.
    """
    found = []
    german = text.once(_is_german)
    for match in _NAME.finditer(text.clean):
        before = text.clean[max(0, match.start() - _WORD_BEFORE) : match.start()]
        if german and match[0] in _ADDRESSED:
            continue
        article, _, noun = match[0].partition(" ")
        if german and noun and article.lower() in _GERMAN:
            found.append((noun, " " not in noun))
            continue
        opening = (
            match.start() == 0
            or bool(_OPENING.search(before[-3:]))
            or (german and match[0].isalpha() and bool(_DETERMINED.search(before)))
        )
        found.append((match[0], opening))
    return found


_WORD_BEFORE = 16
_GERMAN = word_set(
    """der die das und ist nicht ein eine einen den dem mit für auf wir sie im am zu von bei hat werden wird sind keine
    viel nur noch aber oder wenn kann muss wurde sich auch bitte ihre ihr"""
)
_TITLES = word_set("frau herr herrn dr prof professor familie firma stadt in nach aus von bei")
_ADDRESSED = frozenset(
    {"Sie", "Ihnen", "Ihr", "Ihre", "Ihren", "Ihrem", "Ihrer", "Ihres", "Du", "Dir", "Dein", "Deine"}
)
_DETERMINED = expression(
    r"(?<!\w)(?:d(?:er|ie|as|en|em|es)|(?:[km]?ein|dein|sein|ihr|unser|euer|dies|jed|welch|solch)(?:e[nmrs]?)?"
    r"|[iI]m|[aA]m|zu[mr]|beim|vom|ins|ans|aufs|alle[nrs]?|viele[nr]?|einige[nr]?|beiden?|zwei|drei|[a-zäöüß]{2,}(?:e[nrsm]?))\s+$",
    re.IGNORECASE,
)
"""An article or an adjective before a noun."""


def _is_german(text: Text) -> bool:
    return len(_GERMAN.intersection(text.words)) > 1


@lru_cache(maxsize=4096)
def _tokens(name: str) -> frozenset[str]:
    return frozenset(chain.from_iterable(map(canonical, split_words(name)))) - word_lists.FUNCTION_WORDS


def _new(text: Text, other: Text) -> list[tuple[str, bool]]:
    result = []
    initials_there = other.once(_initials)
    for found, at_start in text.once(_names):
        name, opening = found, at_start
        head = split_words(name)[0] if split_words(name) else ""
        if (
            opening
            and " " in name
            and (head in word_lists.FUNCTION_WORDS or not other.token_set.isdisjoint(canonical(head)))
        ):
            # "In Berlin", "Ask Maria": only what follows the sentence's first word is a name.
            name, opening = name.split(maxsplit=1)[1], head not in _TITLES and text.once(_is_german)
        tokens = _tokens(name)
        if not tokens or tokens & other.token_set or all(token[0].isdigit() for token in tokens):
            continue
        letters = re.sub(r"[^a-z]", "", name.lower())
        if name.replace(".", "").replace("&", "").isupper() and letters in initials_there:
            continue
        if len(tokens) > 1 and "".join(word[0] for word in split_words(name)) in other.token_set:
            continue
        result.append((name, opening))
    return result


def _initials(text: Text) -> str:
    """First letters of all words of meaning, so that R&D is found in "research and development"."""
    return "".join(word[0] for word in text.words if word not in {"and", "of", "the", "for"})


def check_names(pair: Pair) -> Finding | None:
    """Whether a name of the baseline gave way to another one."""
    gone_anywhere, come_anywhere = pair.changed
    if not gone_anywhere or not come_anywhere:
        return None
    replaced = _replaced(pair)
    if replaced:
        return replaced
    if not pair.only_a or not pair.only_b:
        return None
    if not _capitals(pair.a, pair.only_a):
        return None
    missing = None
    for side in pair.sides:
        if not side.only_a or not side.only_b:
            continue
        gone = _new(side.a, pair.b)
        come = _new(side.b, pair.a)
        for (name, opening), (other, other_opening) in product(gone, come):
            if not _same_place(side, name, other):
                continue
            if _inflected(name, other):
                continue
            at_head = (opening or other_opening) and not _surely(name, other)
            doubtful = at_head and not _uncommon(pair.a, pair.b, name, other)
            return (doubt if doubtful else contradiction)("names", "word-became", name, other)
        sure = [name for name, opening in gone if not opening]
        if sure and missing is None and pair.short:
            missing = doubt("names", "word-in-one", sure[0], "baseline")
    return missing


def _replaced(pair: Pair) -> Finding | None:
    """One name put for another in an otherwise equal sentence, though both names stand elsewhere as well."""
    gone, come = pair.changed
    if not _capitals(pair.a, gone) or not _capitals(pair.b, come):
        return None
    known: set[str] | None = None
    for side in pair.sides:
        if side.similarity < _FRAME:
            continue
        for old, new in side.edits:
            if not 1 <= len(old) <= _LONGEST or not 1 <= len(new) <= _LONGEST or set(old) & set(new):
                continue
            if known is None:
                known = {
                    token
                    for text in (pair.a, pair.b)
                    for name, opening in text.once(_names)
                    if not opening
                    for token in _tokens(name)
                }
            # At the start of a sentence a name looks like any word: one of the two must be known from elsewhere.
            if (known.issuperset(old) or known.issuperset(new)) and (
                _all_capitals(side.a, old) and _all_capitals(side.b, new)
            ):
                words = [
                    " ".join(written(pair, token, response=response).title() for token in tokens)
                    for tokens, response in ((old, False), (new, True))
                ]
                return contradiction("names", "word-became", *words)
    return None


def _capitals(text: Text, tokens: Iterable[str]) -> bool:
    clean = text.clean
    for token in tokens:  # noqa: SIM110  # asked of every pair: any() costs as much as the search
        if token.capitalize() in clean or token.upper() in clean:
            return True
    return False


def _all_capitals(text: Text, tokens: Iterable[str]) -> bool:
    capitals = {token for name, _ in text.once(_names) for token in _tokens(name)}
    return capitals.issuperset(tokens)


def _surely(first: str, second: str) -> bool:
    """Capitals a sentence does not ask for: two words, or letters and digits mixed."""
    return all(" " in name or name[1:].lower() != name[1:] or not name.isalpha() for name in (first, second))


_ENGLISH = word_set("the a an is are was were of to and for with in on at by")
_KNOWN = when_used(
    lambda: (
        TRIGGERS
        | {canonical(word)[0] for group in entries("comparing/synonyms.txt", str.split) for word in group}
    )
)


def _uncommon(text: Text, other: Text, name: str, new: str) -> bool:
    """Whether words where any word has a capital are names: a subject or a value, and no frequent word."""
    if len(text.token_set & _ENGLISH) < 2 or not (_is_thing(text, name) and _is_thing(other, new)):
        return False
    from pytest_promptfuzz.data.english_words import FREQUENT

    lowered = name.lower(), new.lower()
    return all(
        len(each) > 2 and canonical(each)[0] not in _KNOWN and each not in FREQUENT for each in lowered
    )


_FINITE = word_set(
    "is was are were has had have will would can could may might must should said says did does"
)


def _is_thing(text: Text, name: str) -> bool:
    """Whether a verb follows a word, as no verb follows an imperative, or a colon stands before it."""
    at = text.clean.find(name)
    before, after = text.clean[:at].rstrip(), text.clean[at + len(name) :].split(maxsplit=1)[:1]
    return before.endswith(":") or (bool(after) and (after[0] in _FINITE or after[0].endswith("ed")))


def _inflected(first: str, second: str) -> bool:
    """Whether two words are forms of one: "Patient" and "Patienten"."""
    short, long = sorted((first.lower(), second.lower()), key=len)
    return len(long) - len(short) <= _ENDING and len(short) > _ENDING + 1 and long.startswith(short)


_ENDING = 2


def _same_place(pair: Pair, name: str, other: str) -> bool:
    here, there = _tokens(name), _tokens(other)
    for gone, come in pair.edits:
        if here & set(gone) and there & set(come) and max(len(gone), len(come)) <= _CLOSE:
            return True
    return bool(_around(pair.a.tokens, here) & _around(pair.b.tokens, there))


def _around(tokens: list[str], name: frozenset[str]) -> set[str]:
    at = next((index for index, token in enumerate(tokens) if token in name), None)
    if at is None:
        return set()
    near = tokens[max(0, at - 3) : at] + tokens[at + 1 : at + 4]
    return {token for token in near if token not in word_lists.FUNCTION_WORDS and token not in name}


# Who did what to whom: two parties that changed places around a verb.


_BE = word_set("is are was were be been being get gets got gotten")


_NUMBERED = expression(r"(?<!\S)1[.)]\s+\S")
"""The first item of a numbered list, which the guard of sequences reads."""


def check_roles(pair: Pair) -> Finding | None:
    """Whether two parties changed places."""
    if pair.similarity > 0.999 or (pair.similarity < 0.4 and (pair.only_a or pair.only_b)):
        return None
    if not frozenset(pair.middle_a).isdisjoint(pair.middle_b) and not _NUMBERED.search(pair.a.raw):
        exchanged = arranged(read(pair.a.raw), read(pair.b.raw)).exchanged()
        if exchanged:
            return contradiction("roles", "changed-places", *exchanged)
    if pair.middle_a and pair.middle_b:
        for side in pair.sides:
            found = _declined(side) or _stood_in(side)
            if found:
                return found
    if "by" not in pair.only_a and "by" not in pair.only_b:
        return None
    for side in pair.sides:
        turned = _turned(side.a.tokens, side.b.tokens)
        if turned:
            return contradiction("roles", "changed-places", *(written(side, each) for each in turned))
    return None


def _declined(side: Pair) -> Finding | None:
    """Who does what to whom in German: the article says it, wherever the noun stands."""
    if _CASES.isdisjoint(side.a.token_set) or _CASES.isdisjoint(side.b.token_set):
        return None
    if not (side.only_a | side.only_b) <= _ARTICLES_ABROAD or not _PASSIVE.isdisjoint(side.a.token_set):
        return None
    here, there = _cases(side.a.tokens), _cases(side.b.tokens)
    for noun, article in here.items():
        if {article, there.get(noun)} in ({"der", "den"}, {"der", "dem"}):
            return contradiction("roles", "case-became", article, there[noun], written(side, noun))
    return None


_CASES = frozenset({"der", "den", "dem"})
_ARTICLES_ABROAD = word_set("der die das den dem des ein eine einen einem einer")
_PASSIVE = word_set("wird werden wurde wurden worden")


def _cases(tokens: Sequence[str]) -> dict[str, str]:
    """The nouns that follow an article of their own, each with it."""
    return {noun: article for article, noun in pairwise(tokens) if article in _CASES and noun not in _CASES}


def _stood_in(side: Pair) -> Finding | None:
    """One of two opposite parties does what the other one does in the other text: "the landlord pays", "the tenant"."""
    if side.similarity < _EQUAL:
        return None
    for gone, come in side.edits:
        old, new = _meaningful(gone), _meaningful(come)
        if len(old) == 1 == len(new) and opposed(old[0], new[0]):
            words = written(side, old[0]), written(side, new[0], response=True)
            return contradiction("roles", "word-became", *words)
    return None


_EQUAL = 0.8
"""Likeness of two statements from which one is the other with a word replaced."""


def _turned(a: Sequence[str], b: Sequence[str]) -> tuple[str, str] | None:
    """Active against passive with the parties as they stood: "A bought B" and "A was bought by B"."""
    if ("by" in a) == ("by" in b):
        return None
    active, passive = (b, a) if "by" in a else (a, b)
    at = len(passive) - 1 - list(reversed(passive)).index("by")
    after = _meaningful(passive[at + 1 :])
    if at < 2 or not after:
        return None
    verb = passive[at - 1]
    if verb not in active or not _BE & set(passive[max(0, at - 4) : at]):
        return None
    before = _meaningful(passive[: at - 1])
    place = list(active).index(verb)
    subject, target = _meaningful(active[:place]), _meaningful(active[place + 1 :])
    if before and after[0] in target and before[-1] in subject and after[0] not in subject:
        return before[-1], after[0]
    return None


def _meaningful(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token not in word_lists.FUNCTION_WORDS]
