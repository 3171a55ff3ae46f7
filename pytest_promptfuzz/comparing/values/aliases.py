"""Short answers that give one value: a name, a country or a date, in another form or with another precision."""

from __future__ import annotations

import unicodedata
from typing import Literal, NamedTuple

from pytest_promptfuzz.comparing.comparison import Observation
from pytest_promptfuzz.comparing.reading.pieces import Figure, agree, pieces
from pytest_promptfuzz.comparing.reading.word_lists import NEGATORS, word_set
from pytest_promptfuzz.comparing.reading.words import DEGREES
from pytest_promptfuzz.data.tables import entries, when_used
from pytest_promptfuzz.text.expressions import expression

LONGEST = 6
"""Words up to which an answer is read as one value."""

_PLAIN = expression(r"[\w\s.,'’()&/-]+\Z")
"""What names are written with."""
_WORD = expression(r"[^\W_]+(?:['’.][^\W_]+)*")
_INVERTED = expression(
    r"\s*([^\W\d_][\w.'’-]*(?: [\w.'’-]+)?), ([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2})\s*[.]?\s*\Z"
)
_APPOSED = expression(r"\s*(?:,\s|[(\[]|in |near )")
_ARTICLES = word_set("the a an")
_SMALL = word_set("of and for in on at le la les el los las der die das de del di da von van")
_SURE = 3
"""Letters from which initials are one name's."""


class Relation(NamedTuple):
    """How one short answer names what another does.

    Attributes:
        kind: ``same`` value; ``precision``: one says more of it; ``open``: it may be the same.
        observed: What the two differ in.
    """

    kind: Literal["same", "precision", "open"]
    observed: Observation


def related(first: str, second: str) -> Relation | None:
    """How two short answers name one value otherwise; ``None`` where nothing known relates them.

    >>> related("Shula, Don", "Don Shula").kind, related("1982", "April 17, 1982").kind
    ('same', 'precision')
    """
    one, two = _words(first), _words(second)
    if not one or not two or max(len(one), len(two)) > LONGEST:
        return None
    if {_ELEMENTS.get(first), _ELEMENTS.get(second)} & {first.casefold(), second.casefold()}:
        return Relation("same", Observation("one-element", first, second))
    if any(_FORMULA.fullmatch(a) and _WORDY.search(b) for a, b in ((first, second), (second, first))):
        return Relation("open", Observation("value-became", first, second))
    dates = date_of(first), date_of(second)
    if dates[0] and dates[1]:
        return _dated(dates[0], dates[1]) if agree(dates[0], dates[1]) else None
    if dates[0] or dates[1] or not (is_name(first) and is_name(second)):
        return None
    return (
        _named(first, second)
        or _placed(first, second)
        or _shortened(first, second)
        or _extended(first, second)
    )


def date_of(text: str) -> Figure | None:
    """The date that a short answer is, and nothing else; a year alone is one."""
    found = [each for each in pieces(text) if each.kind != "mark" and each.low not in {"on", "in", "the"}]
    figure = found[0].figure if len(found) == 1 else None
    if figure is None or figure.measure == "date":
        return figure
    year = figure.measure == "number" and found[0].text.isdecimal() and len(found[0].text) == len("2024")
    return Figure("date", None, figure.written, day=(int(found[0].text), None, None)) if year else None


def stated_date(date: Figure, answer: str) -> Relation | None:
    """How a sentence gives one date with another precision; ``None`` where it gives no such date, or denies it."""
    found = pieces(answer)
    given = [each.figure for each in found if each.figure and each.figure.measure == "date"]
    if len(given) != 1 or not agree(date, given[0]) or any(each.low in NEGATORS for each in found):
        return None
    relation = _dated(date, given[0])
    return relation if relation.kind == "precision" else None


def is_foreign(name: str, answer: str) -> bool:
    """Whether an answer gives no word of a name of several words, nor its first letters."""
    words, others = _words(name), _words(answer)
    initials = "".join(word[0] for word in words)
    return len(words) > 1 and is_name(name) and set(words).isdisjoint(others) and initials not in others


def _dated(one: Figure, two: Figure) -> Relation:
    if one.day == two.day:
        return Relation("same", Observation("same-day"))
    more = "baseline" if one.day.count(None) < two.day.count(None) else "response"
    return Relation("precision", Observation("date-more-precise", more))


def _words(text: str) -> list[str]:
    """The lower-cased words of a name without accents, stops and articles; short forms written out."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    found = [each.group().casefold().replace(".", "").replace("’", "'") for each in _WORD.finditer(plain)]
    return [_SHORT_FORMS.get(each, each) for each in found if each not in _ARTICLES] or found


def is_name(text: str) -> bool:
    """Whether each word begins with a capital, as those of names do, and none makes another thing of the next."""
    if not _PLAIN.match(text):
        return False
    words = [word for word in _WORD.findall(text) if word.casefold() not in _ARTICLES | _SMALL]
    lowered = {word.casefold() for word in words}
    return bool(words) and all(word[0].isupper() for word in words) and not lowered & (DEGREES | NEGATORS)


def _named(first: str, second: str) -> Relation | None:
    """One name in another spelling or order: "Jell-O" and "Jello", "Mt. Everest" and "Mount Everest"."""
    named = Relation("same", Observation("one-name", first, second))
    one, two = ("".join(_words(each)) for each in (first, second))
    if one == two and not any(letter.isdigit() for letter in one):
        return named
    if _numbered(first) == _numbered(second) or _untitled(first) == _untitled(second):
        return named
    for name, other in ((first, second), (second, first)):
        turned = _INVERTED.match(name)
        if turned and _words(f"{turned[2]} {turned[1]}") == _words(other):
            return named
    return None


def _numbered(name: str) -> list[str]:
    """The words of a name in any order, its number in digits: "World War II", "the Second World War"."""
    words = _words(name)
    found = [_ORDINALS.get(word, word) for word in words]
    if len(words) > 1:
        found[1:] = [_ROMANS.get(word, word) for word in found[1:]]
    return sorted(found) if found != words else [name]


def _untitled(name: str) -> list[str]:
    """A name of several words without the title before it; as it is where that is all that it says."""
    words = _words(name)
    return words[1:] if words[0] in _TITLES and len(words) > _TITLED else words


_ORDINALS = {
    "first": "1",
    "second": "2",
    "third": "3",
    "fourth": "4",
    "fifth": "5",
    "sixth": "6",
    "seventh": "7",
    "eighth": "8",
}
_ROMANS = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8"}
_TITLES = word_set("doctor professor mister missus ms miss mx sir dame")
_TITLED = 2
_FORMULA = expression(r"(?=.*[\da-z])(?:[A-Z][a-z]?\d*){2,8}")
_WORDY = expression(r"[a-z]{3}")


def _placed(first: str, second: str) -> Relation | None:
    """Two names of a country, or it and what is of it: "USA" and "the United States", "Spain" and "Spanish"."""
    here, there = (_COUNTRIES.get(" ".join(_words(each))) for each in (first, second))
    if here is None or there is None or here[0] != there[0]:
        return None
    kind: Literal["same", "precision"] = "same" if here[1] == there[1] else "precision"
    return Relation(kind, Observation("one-country", first, second))


def _shortened(first: str, second: str) -> Relation | None:
    """Initials and what they stand for: "JFK" and "John F. Kennedy", or a name of it written out."""
    maybe = Observation("maybe-one-name", first, second)
    for short, long in ((first, second), (second, first)):
        letters, words = short.strip().rstrip(".").replace(".", ""), _words(long)
        if letters.isalpha() and letters.isupper() and len(words) > 1:
            telling = [word for word in words if word not in _SMALL]
            if letters.casefold() in {"".join(word[0] for word in some) for some in (words, telling)}:
                if len(letters) < _SURE:
                    return Relation("open", maybe)
                return Relation("same", Observation("short-for", letters, long))
    one, two = _words(first), _words(second)
    if len(one) == len(two) > 1 and one[-1] == two[-1]:
        pairs = [(a, b) for a, b in zip(one, two, strict=True) if a != b]
        if all(a[0] == b[0] and 1 in (len(a), len(b)) for a, b in pairs):
            return Relation("same" if one[0] == two[0] else "open", maybe)
    return None


def _extended(first: str, second: str) -> Relation | None:
    """A name and the same with more: "Paris" and "Paris, France"; "New York" and "New York Times" may be two things."""
    for which, short, long in (("response", first, second), ("baseline", second, first)):
        less, more = _words(short), _words(long)
        digits = any(word[0].isdigit() for word in (*less, *more))
        if len(less) >= len(more) or digits or len("".join(less)) == 1:
            continue
        start = short.strip().rstrip(".,;")
        rest = long.strip()[len(start) :]
        if long.strip().casefold().startswith(start.casefold()) and _APPOSED.match(rest):
            return Relation("precision", Observation("only-says", which, rest.strip(" ,()[].")))
        within = any(more[at : at + len(less)] == less for at in range(len(more)))
        if within or (less[0], less[-1]) == (more[0], more[-1]):
            return Relation("open", Observation("value-became", first, second))
    return None


def _by_short_form() -> dict[str, str]:
    found: dict[str, str] = {}
    entries("values/abbreviations.tsv", lambda word, *shorts: found.update(dict.fromkeys(shorts, word)))
    return found


def _by_name() -> dict[str, tuple[str, bool]]:
    """Each name and adjective of a country, as ``_words`` reads it: the country, and whether it is a name."""
    found: dict[str, tuple[str, bool]] = {}

    def country(name: str, names: str, adjectives: str = "") -> None:
        for words, is_one in ((f"{name}|{names}", True), (adjectives, False)):
            for each in filter(None, words.split("|")):
                found.setdefault(" ".join(_words(each)), (name, is_one))

    entries("values/countries.tsv", country)
    return found


_ELEMENTS = when_used(lambda: dict(entries("values/elements.tsv", lambda symbol, name: (symbol, name))))
_SHORT_FORMS = when_used(_by_short_form)
_COUNTRIES = when_used(_by_name)
