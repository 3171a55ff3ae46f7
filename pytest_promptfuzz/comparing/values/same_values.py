"""Amounts and dates that two answers write otherwise: 500 ml and half a litre, "4 July 2025" and 2025-07-04."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.guards.pair import Pair
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.text import analyse
from pytest_promptfuzz.comparing.reading.words import canonical, canonical_set
from pytest_promptfuzz.data.tables import entries, when_used
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.comparing.reading.text import Text

    _Reader = Callable[[str, str], Iterator["_Value"]]


# Dates as answers write them, read where they can mean one day only.


_ISO = expression(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s?(Z|[+-]\d{2}:?\d{2})?)?\Z"
)
_NUMERIC = expression(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})\Z")
_DAY_FIRST = expression(
    r"(\d{1,2})(?:st|nd|rd|th|er|º|\.)?\s+(?:of\s+|de\s+)?([^\W\d_]{3,12})\.?,?\s+(?:de\s+)?(\d{4})\Z"
)
_MONTH_FIRST = expression(r"([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\Z")
_WEEKDAY = expression(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun),?\s+", re.IGNORECASE
)
_LONGEST = 60

_MONTHS = when_used(
    lambda: {
        name: number
        for number, names in enumerate(entries("values/months.txt", str.split), start=1)
        for name in names
    }
)


def read_dates(text: str) -> list[datetime]:
    """The days, or points in time, that a text may name: none, one, or two where day and month could be either.

    A day is its first moment. A point in time with an offset is in UTC; one without is as it stands.

    >>> read_dates("5 March 2024") == read_dates("2024-03-05")
    True
    >>> len(read_dates("05/03/2024"))
    2
    """
    bare = " ".join(text.split())
    if not 8 <= len(bare) <= _LONGEST:
        return []
    bare = _WEEKDAY.sub("", bare, count=1)
    if found := _ISO.match(bare):
        return _moment(found)
    if found := _NUMERIC.match(bare):
        one, two, year = int(found[1]), int(found[3]), int(found[4])
        days = _day(year, two, one) + ([] if found[2] == "." else _day(year, one, two))
        return days[:1] if len(days) == 2 and days[0] == days[1] else days
    if found := _DAY_FIRST.match(bare):
        return _day(int(found[3]), _MONTHS.get(found[2].casefold(), 0), int(found[1]))
    if found := _MONTH_FIRST.match(bare):
        return _day(int(found[3]), _MONTHS.get(found[1].casefold(), 0), int(found[2]))
    return []


def days_apart(first: str, second: str) -> tuple[float, bool] | None:
    """How many days two dates lie apart, 0 or more, and whether that is sure.

    Returns:
        ``None`` where one of them is no date, or only one of them says its offset from UTC. Where a date can be read
        in two ways, the nearest reading, which is not sure.
    """
    one, two = read_dates(first), read_dates(second)
    apart = [
        abs((a - b).total_seconds()) / 86400
        for a in one
        for b in two
        if (a.tzinfo is None) == (b.tzinfo is None)
    ]
    return (min(apart), len(apart) == 1) if apart else None


def _moment(found: re.Match[str]) -> list[datetime]:
    days = _day(int(found[1]), int(found[3]), int(found[4]))
    if not days or found[5] is None:
        return days
    fraction = int((found[8] or "0")[:6].ljust(6, "0"))
    try:
        day = days[0].replace(
            hour=int(found[5]), minute=int(found[6]), second=int(found[7] or 0), microsecond=fraction
        )
        if found[9] is None:
            return [day]
        offset = found[9] if found[9] != "Z" else "+0000"
        zone = datetime.strptime(offset.replace(":", ""), "%z").tzinfo
        return [day.replace(tzinfo=zone).astimezone(timezone.utc)]
    except (ValueError, OverflowError):
        return []


def _day(year: int, month: int, day: int) -> list[datetime]:
    try:
        return [datetime(year, month, day)]  # noqa: DTZ001  # a day of a calendar, in no zone
    except (ValueError, OverflowError):
        return []


# Days that two texts write otherwise: "4 de julio de 2025" and "04/07/2025".


_DAY = expression(
    r"(?<![\w./-])(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4}"
    r"|\d{1,2}(?:st|nd|rd|th|er|º|\.)?\s(?:of\s|de\s)?[^\W\d_]{3,12}\.?,?\s(?:de\s|del\s)?\d{4}"
    r"|[^\W\d_]{3,12}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4})(?![\w/-]|\.\d)"
)
_IN_DIGITS = expression(r"\d[/.-]\d{1,2}[/.-]\d")


def in_digits(text: Text) -> bool:
    """Whether a text may write a day in digits."""
    return bool(_IN_DIGITS.search(text.clean))


def days(text: str, other: str) -> list[tuple[datetime, int, int]]:
    """The days of a text and where each stands; of one that could be either of two days, the one the other text has.

    Args:
        text: What is read.
        other: What it is compared with.
    """
    there = {day for found in _DAY.finditer(other) for day in read_dates(found[0])}
    result = []
    for found in _DAY.finditer(text):
        read = read_dates(found[0])
        if read:
            result.append((next((day for day in read if day in there), read[0]), *found.span()))
    return result


_SHARES = {
    "a half": "50", "half": "50", "a quarter": "25", "one quarter": "25", "one-quarter": "25",
    "three quarters": "75", "three-quarters": "75", "a fifth": "20", "one fifth": "20", "one-fifth": "20",
    "two fifths": "40", "three fifths": "60", "four fifths": "80", "a tenth": "10", "one tenth": "10",
    "one in ten": "10", "one in five": "20", "one in four": "25", "1 in 10": "10", "1 in 5": "20", "1 in 4": "25",
    "a third": "1/3", "one third": "1/3", "one-third": "1/3", "two thirds": "2/3", "two-thirds": "2/3",
}  # fmt: skip


def _units() -> dict[str, tuple[int, int]]:
    known: dict[str, tuple[int, int]] = {}
    dimensions: dict[str, int] = {}

    def add(dimension: str, factor: str, *names: str) -> None:
        number = dimensions.setdefault(dimension, len(dimensions))
        known.update(dict.fromkeys(names, (number, int(factor))))

    entries("values/dimensions.tsv", add)
    return known


_UNITS: dict[str, tuple[int, int]] = when_used(_units)
_TOKEN_UNITS = when_used(
    lambda: {canonical(name)[0]: unit for name, unit in _UNITS.items() if " " not in name and name.isalpha()}
)
_AREAS = canonical_set("km² m² sqm square hectare ha")
_FRACTION = canonical_set("half quarter fifth tenth four five ten")
_TIMES = when_used(
    lambda: frozenset(token for token, unit in _TOKEN_UNITS.items() if unit[0] == _UNITS["hour"][0])
)
_TOKENS = when_used(lambda: frozenset({*_TOKEN_UNITS, *_AREAS, *_FRACTION, "%"}))
_COUNTS = when_used(
    lambda: (
        {
            word: value
            for word, value in word_lists.NUMBER_WORDS.items()
            if word.isascii() and 1 <= value <= 20
        }
        | {"a": 1, "an": 1}
    )
)


def _amounts() -> str:
    worded = "|".join(sorted(_COUNTS, key=len, reverse=True))
    return (
        rf"(?:\d+(?: and a half| ?½)|\d[\d,]*(?:\.\d+)?|half an?|(?<!and )(?<!half )(?:a|three) quarters? of an"
        rf"|(?:{worded}) and a half|{worded})"
    )


def _names(of: str = "") -> str:
    """The names of units, the longest first; those that measure the same as one of them."""
    names = [name for name in _UNITS if not of or _UNITS[name][0] == _UNITS[of][0]]
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


_QUANTITY = expression(
    lambda: (
        rf"(?<![\w.,])(?:(?P<low>{_amounts()})(?: ?[-–] ?| to ))?(?P<high>{_amounts()})[ \u00a0\u202f-]?"
        rf"(?P<unit>{_names()})(?![\w²³])"
    ),
    re.IGNORECASE,
)
_FRACTIONS = "|".join(sorted(_SHARES, key=len, reverse=True))
_SHARE = expression(
    rf"(?<![\w.,])(?:(?P<percent>\d+(?:\.\d+)?) ?(?:%|per ?cent\b)|(?P<ratio>[1-9]/(?:10|[2-9]))"
    rf"|(?P<words>{_FRACTIONS}))(?= of\b)"
    r"|(?<![\w.,])(?P<bare>\d+(?:\.\d+)?) ?(?:%|per ?cent\b)"
    r"|(?<=\bby )(?P<by>a quarter|three[ -]quarters)(?=[.,;:!?]|$)"
    r"|(?:(?<=^)|(?<=\bthat )|(?<=[.:] ))(?P<whose>a quarter|three[ -]quarters)"
    r"(?= (?:had|have|has|are|were|said|voted)\b)",
    re.IGNORECASE,
)


def _duration() -> str:
    much, unit = _amounts(), _names("hour")
    return (
        rf"(?<![\w.,])(?P<much>{much})[ \u00a0-]?(?P<large>{unit})\b"
        rf"(?:(?:,? and|,)? ?(?P<more>{much})[ \u00a0-]?(?P<small>{unit}|s)\b| and a (?P<part>half|quarter)\b)"
    )


_LASTING = expression(_duration, re.IGNORECASE)
"""One and a half hours as "1 hour 30 minutes", "an hour and a half"."""
_MOST_DIGITS = 300
_GROUPED = expression(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_EITHER = expression(r"\d{1,3}\.\d{3}")
"""1.200: a thousand and more, or one and a fifth."""
_DIGITS = expression(r"(?<![\w.,])\+?\(?\d[\d ()\u00a0-]{5,22}\d(?![\w.,]\d|\w)")
_ACCOUNT = expression(r"(?<!\w)[A-Z]{2}\d\d(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?(?!\w)")
_NUMERALS = frozenset("0123456789")
_FEWEST = 7
"""Digits from which a run of groups is one number, as a telephone's."""


class _Value(NamedTuple):
    """What is written in one place: a key that is equal for equal values, and where it stands."""

    key: tuple[object, ...]
    start: int
    end: int


def agreed(pair: Pair) -> Pair:
    """The pair, the values of the response in the baseline's notation where both give the same value.

    >>> from pytest_promptfuzz.comparing.reading.text import analyse
    >>> agreed(Pair(analyse("Add half a litre."), analyse("Add 500 ml."))).b.raw
    'Add half a litre.'
    """
    readers = _readers(pair)
    if not readers:
        return pair
    first, second = pair.a.clean, pair.b.clean
    here, there = list(_values(first, second, readers)), list(_values(second, first, readers))
    known = {value.key: first[value.start : value.end] for value in here}
    kept = {value.key for value in there if second[value.start : value.end] == known.get(value.key)}
    result, last = "", 0
    for value in there:
        written = known.get(value.key)
        if written is None or value.key in kept:
            continue
        result += second[last : value.start] + written
        last = value.end
    return Pair(pair.a, analyse(result + second[last:])) if last else pair


def _readers(pair: Pair) -> list[_Reader]:
    """What reads the values that two texts may give in two notations, told without reading them again."""
    here, there = pair.only_a, pair.only_b
    if not here or not there:
        return []
    found: list[_Reader] = []
    if any(len(each) >= _FEWEST and not _NUMERALS.isdisjoint((each[0], each[2])) for each in (*here, *there)):
        found.append(_runs)
    if pair.a.once(in_digits) or pair.b.once(in_digits):
        found.append(_days)
    if _may_measure(pair):
        found += (_lasting, _quantities, _shares)
    elif ("/" in pair.a.clean) != ("/" in pair.b.clean):
        found.append(_shares)
    return found


def _may_measure(pair: Pair) -> bool:
    """Whether two texts may give one quantity or share in two notations."""
    here, there = pair.only_a, pair.only_b
    halves = "half" in here or "half" in there or "½" in pair.a.clean or "½" in pair.b.clean
    if (halves or not (_TIMES.isdisjoint(here) and _TIMES.isdisjoint(there))) and not _measures(
        pair.a.tokens, _TIMES
    ).isdisjoint(_measures(pair.b.tokens, _TIMES)):
        return True
    if here.isdisjoint(_TOKENS) or there.isdisjoint(_TOKENS):
        return False
    for some, others in ((here, there), (there, here)):
        if not some.isdisjoint(_AREAS):
            return True
        if "%" in some and not others.isdisjoint(_FRACTION):
            return True
    return not _measures(pair.a.tokens, here).isdisjoint(_measures(pair.b.tokens, there))


def _measures(tokens: list[str], units: frozenset[str]) -> set[tuple[int, float]]:
    """The quantities in some units among tokens, each as its dimension and how much it is in the smallest unit."""
    found: set[tuple[int, float]] = set()
    before: set[tuple[int, float]] = set()
    for index, token in enumerate(tokens):
        if token not in units:
            continue
        unit = _TOKEN_UNITS.get(token)
        if unit is None or not index:
            continue
        near = tokens[max(0, index - 4) : index]
        number = next((each for each in reversed(near) if each[0].isdigit()), "1")
        try:
            amount = float(number.replace("½", ".5"))
        except ValueError:
            continue
        half = "half" in near or "half" in tokens[index + 1 : index + 4]
        amounts = {amount, *((0.5, amount + 0.5) if half else ())}
        if "quarter" in near:
            amounts |= {0.25, 0.75}
        if "quarter" in tokens[index + 1 : index + 4]:
            amounts.add(amount + 0.25)
        values = {(unit[0], round(each * unit[1], 6)) for each in amounts}
        found |= values | {
            (unit[0], last + each) for _, each in values for was, last in before if was == unit[0]
        }
        before = values
    return found


def _values(text: str, other: str, readers: list[_Reader]) -> Iterator[_Value]:
    found = [value for reader in readers for value in reader(text, other)]
    end = 0
    for value in sorted(found, key=lambda each: (each.start, -each.end)):
        if value.start >= end:
            yield value
            end = value.end


def _days(text: str, other: str) -> Iterator[_Value]:
    return (_Value(("day", day), start, end) for day, start, end in days(text, other))


def _quantities(text: str, _other: str) -> Iterator[_Value]:
    for found in _QUANTITY.finditer(text):
        dimension, factor = _UNITS[found["unit"].lower()]
        low, high = (_amount(found[name]) if found[name] else None for name in ("low", "high"))
        if high is None or (found["low"] and low is None):
            continue
        amounts = tuple((each * factor).normalize() for each in (low, high) if each is not None)
        yield _Value((dimension, *amounts), *found.span())


def _lasting(text: str, _other: str) -> Iterator[_Value]:
    """Times of two units, each as what ``_quantities`` makes of a time of one."""
    for found in _LASTING.finditer(text):
        dimension, large = _UNITS[found["large"].lower()]
        much, more = _amount(found["much"]), _amount(found["more"] or "1")
        if found["part"]:
            small, more = large, Decimal("0.5" if found["part"].lower() == "half" else "0.25")
        else:
            small = 1 if found["small"].lower() == "s" else _UNITS[found["small"].lower()][1]
        if much is not None and more is not None and (small < large or found["part"]):
            yield _Value((dimension, (much * large + more * small).normalize()), *found.span())


def _amount(written: str) -> Decimal | None:
    lowered = written.lower()
    if lowered.startswith("half"):
        return Decimal("0.5")
    if "quarter" in lowered:
        return Decimal("0.75" if lowered.startswith("three") else "0.25")
    count, half, _ = lowered.replace("½", " and a half").partition(" and a half")
    count = count.strip()
    if count in _COUNTS or half:
        return Decimal(_COUNTS.get(count) or count) + (Decimal("0.5") if half else 0)
    if _GROUPED.fullmatch(lowered):
        lowered = lowered.replace(",", "")
    elif _EITHER.fullmatch(lowered) or lowered.count(",") > 1 or ("," in lowered and "." in lowered):
        return None
    lowered = lowered.replace(",", ".")
    return None if lowered.endswith(".") else Decimal(lowered)


def _shares(text: str, _other: str) -> Iterator[_Value]:
    for found in _SHARE.finditer(text):
        if len(found[0]) > _MOST_DIGITS:
            continue
        if found["ratio"]:
            share = 100 * Fraction(found["ratio"])
        else:
            worded = found["words"] or found["by"] or found["whose"]
            written = _SHARES[worded.lower()] if worded else found["percent"] or found["bare"]
            share = 100 * Fraction(written) if "/" in written else Fraction(written)
        yield _Value(("share", share), *found.span())


def _runs(text: str, _other: str) -> Iterator[_Value]:
    for found in _DIGITS.finditer(text):
        digits = re.sub(r"\D", "", found[0])
        if len(digits) >= _FEWEST:
            yield _Value(("digits", found[0][0] == "+", digits), *found.span())
    for found in _ACCOUNT.finditer(text):
        yield _Value(("account", found[0].replace(" ", "")), *found.span())
