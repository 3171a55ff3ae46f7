"""Figures in a text: what is measured, how much of it, and when."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pytest_promptfuzz.comparing.word_lists import entries, when_used
from pytest_promptfuzz.expressions import expression

Measure = str
"""What a figure is of: ``number``, ``one``, ``ordinal``, ``money``, ``date``, ``clock``, ``weekday``, or a measure of
``data/units.tsv``."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a text.

    Attributes:
        measure: What it is of.
        amount: How much, in the measure's own unit; minutes since midnight of a time of day, 1 (Monday) to 7 of a
            weekday; ``None`` of a date.
        written: As the text writes it.
        plain: The number as it is written, before its unit is taken into account.
        currency: Of money, as ``EUR``.
        day: ``(year, month, day)`` of a date, ``None`` for what it leaves open.
        exact: Whether a time of day says which half of the day it is in.
        negative: Whether it is written with a minus.
    """

    measure: Measure
    amount: float | None
    written: str
    plain: float | None = None
    currency: str = ""
    day: tuple[int | None, int | None, int | None] = (None, None, None)
    exact: bool = False
    negative: bool = False

    @property
    def is_slight(self) -> bool:
        """Whether it is a small bare number, which texts count their own parts with: "two reasons"."""
        small = self.amount is not None and self.amount <= _SLIGHT and self.amount == int(self.amount)
        return self.measure in {"one", "times"} or (self.measure in {"number", "ordinal"} and small)


_SLIGHT = 10
_BARE = frozenset({"number", "one", "ordinal", "times"})
_ALIKE = (
    frozenset({"celsius", "degrees"}),
    frozenset({"fahrenheit", "degrees"}),
    frozenset({"percent", "points"}),
)
_HALF_DAY, _DAY = 720, 1440
_LAST_DAY, _FIRST_YEAR, _LAST_YEAR = 31, 1000, 2100


def agree(one: Figure, two: Figure) -> bool:
    """Whether two figures can be the same: what only one of them says is open.

    >>> agree(Figure("time", 259200.0, "72 hours", 72.0), Figure("time", 259200.0, "three days", 3.0))
    True
    """
    if one.measure == two.measure == "date":
        pairs = [(a, b) for a, b in zip(one.day, two.day, strict=True) if a is not None and b is not None]
        return bool(pairs) and all(a == b for a, b in pairs)
    if "date" in (one.measure, two.measure):
        date, other = (one, two) if one.measure == "date" else (two, one)
        return other.measure in {"ordinal", "number"} and other.amount in (date.day[2], date.day[0])
    if one.measure == two.measure == "clock":
        assert one.amount is not None
        assert two.amount is not None
        same_half = one.exact and two.exact
        return one.amount == two.amount or (
            not same_half and one.amount % _HALF_DAY == two.amount % _HALF_DAY
        )
    if "clock" in (one.measure, two.measure):
        clock, other = (one, two) if one.measure == "clock" else (two, one)
        assert clock.amount is not None
        hour = clock.amount / 60
        return other.measure in _BARE and other.amount in (hour, (hour - 1) % 12 + 1)
    if one.measure == two.measure:
        return one.currency == two.currency and _close(one.amount, two.amount)
    if one.measure in _BARE or two.measure in _BARE:
        return _close(one.amount, two.amount) or _close(one.plain, two.plain)
    return frozenset({one.measure, two.measure}) in _ALIKE and _close(one.amount, two.amount)


def _close(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return False
    return abs(one - two) <= 1e-6 * max(abs(one), abs(two), 1e-12)


def _units() -> dict[str, tuple[Measure, float]]:
    table: dict[str, tuple[Measure, float]] = {}
    for measure, size, names in entries(
        "units.tsv", lambda measure, size, names: (measure, float(size), names)
    ):
        table |= dict.fromkeys(names.split(), (measure, size))
    return table


_UNITS = when_used(_units)
_CURRENCIES = {
    name: code
    for code, names in {
        "USD": "$ us$ usd dollar dollars",
        "EUR": "€ eur euro euros",
        "GBP": "£ gbp pound pounds",
        "JPY": "¥ jpy yen",
        "CHF": "chf franc francs",
        "cent": "cent cents",
        "pence": "pence",
    }.items()
    for name in names.split()
}
_MULTIPLIERS = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "k": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "bn": 1e9,
}


def _numbered(names: str, *, start: int = 0) -> dict[str, int]:
    """Each name with the number of its group; groups are separated by bars."""
    groups = enumerate(names.split("|"), start)
    return {name: number for number, group in groups for name in group.split()}


_MONTHS = _numbered(
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct"
    "|november nov|december dec",
    start=1,
)
_WEEKDAYS = _numbered(
    "monday Mon|tuesday Tue Tues|wednesday Wed|thursday Thu Thurs|friday Fri|saturday|sunday", start=1
)
_ALSO_WORDS = frozenset({"may", "march", "mar"})
_ONES = _numbered(
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen"
)
_TENS = _numbered("twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety", start=2)
_WORDS = {word: float(number) for word, number in _ONES.items()} | {
    word: 10.0 * number for word, number in _TENS.items()
}
_CLOCK_WORDS = {"midnight": 0.0, "noon": 720.0, "midday": 720.0}
_RANGES = frozenset({"-", "–", "—", "to", "and", "or", "/"})

PIECE = expression(
    r"""
     (?P<iso>\d{4}-\d\d-\d\d(?!\d))
    |(?P<dmy>\d{1,2}(?P<dot>[./])\d{1,2}(?P=dot)\d{4}(?!\d))
    |(?P<clock>\d{1,2}:\d\d(?!\d)|\d{1,2}\.\d\d(?=\s?[ap]\.?m\b))
    |(?P<code>[A-Za-z]+(?:[-_./]?\d[\w.-]{0,40}\w|\d+)|[^\W_]+(?:_[^\W_]+)+(?:\(\))?|[^\W\d_]+\(\)|\d+(?:\.\d+){2,}
        |\d+[A-Za-z]+\d\w*)
    |(?P<number>[−-]?(?:US)?[$€£¥]?\d+(?:,\d{3})*(?:\.\d+)?)
    |(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*(?:-[^\W\d_]+)*)
    |(?P<sign>[%°€£$×])
    |(?P<mark>[.,;:()\[\]!?–—/|→=+-])
    """,
    re.VERBOSE,
)
"""The pieces of a text: figures, identifiers, words, and the marks between them."""

_SUFFIX = expression(r"(?P<ordinal>st|nd|rd|th)\b|(?P<unit>[A-Za-zµ°%]+(?:/h)?)")


class Piece:
    """A piece of a text, and the figure that it begins once the pieces around it are read.

    Attributes:
        kind: The group of ``PIECE`` it is; ``figure`` once it is one.
        text: As it is written.
        low: In lower case.
        figure: The figure, of ``figure``.
    """

    __slots__ = ("figure", "kind", "low", "text")

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text
        self.low = text.lower().replace("’", "'")
        self.figure: Figure | None = None

    def become(self, figure: Figure) -> None:
        """Turn into a figure."""
        self.kind, self.figure = "figure", figure


def pieces(text: str) -> list[Piece]:
    """The pieces of one statement, its figures read.

    >>> [each.figure.amount for each in pieces("It took 1 hour, not $2.5 million.") if each.figure]
    [3600.0, 2500000.0]
    """
    found: list[Piece] = []
    end = 0
    for match in PIECE.finditer(text):
        if match.start() < end:
            continue  # read as the unit of the number before it
        kind = match.lastgroup or "mark"
        kind = "dmy" if kind == "dot" else kind
        piece = Piece(kind, match.group())
        if kind == "number":
            end = _number(piece, text, match.end())
        elif kind == "word":
            found.extend(_word(piece))
            continue
        else:
            _fixed(piece)
        found.append(piece)
    return _ranges(_joined(found))


def _word(piece: Piece) -> list[Piece]:
    """A word, the parts of a compound apart; numbers written as words are figures."""
    if "-" not in piece.low:
        if piece.low in _WORDS:
            amount = _WORDS[piece.low]
            piece.become(Figure("one" if amount == 1 else "number", amount, piece.text, amount))
        return [piece]
    parts = [part for part in piece.text.split("-") if part]
    if all(part.lower() in _WORDS for part in parts):
        amount = sum(_WORDS[part.lower()] for part in parts)
        piece.become(Figure("number", amount, piece.text, amount))
        return [piece]
    return [each for part in parts for each in _word(Piece("word", part))]


def _fixed(piece: Piece) -> None:
    if piece.kind == "iso":
        year, month, day = map(int, piece.text.split("-"))
        piece.become(Figure("date", None, piece.text, day=(year, month, day)))
    elif piece.kind == "dmy":
        day, month, year = (int(part) for part in piece.text.replace("/", ".").split("."))
        if month > 12:
            day, month = month, day
        piece.become(Figure("date", None, piece.text, day=(year, month, day)))
    elif piece.kind == "clock":
        hours, minutes = piece.text.replace(".", ":").split(":")
        amount = int(hours) * 60.0 + int(minutes)
        piece.become(Figure("clock", amount % _DAY, piece.text, exact=amount >= 780 or hours[0] == "0"))


def _number(piece: Piece, text: str, end: int) -> int:
    """Read a number and the unit written to it; where reading goes on."""
    start = end
    digits = piece.text.lstrip("−-").removeprefix("US")
    currency = _CURRENCIES.get(digits[0], "")
    amount = float(digits.lstrip("$€£¥").replace(",", ""))
    figure = Figure("number", amount, piece.text, amount, negative=piece.text[0] in "−-")
    if currency:
        figure = replace(figure, measure="money", currency=currency)
    suffix = _SUFFIX.match(text, end)
    if suffix:
        unit = suffix.group()
        if suffix["ordinal"]:
            figure, end = replace(figure, measure="ordinal"), suffix.end()
        elif unit.lower() in {"am", "pm"}:
            figure, end = _half_day(figure, unit), suffix.end()
        elif (currency or unit in {"k", "bn", "mn"}) and unit.lower() in _MULTIPLIERS:
            figure, end = replace(figure, amount=amount * _MULTIPLIERS[unit.lower()]), suffix.end()
        elif measured := _measured(figure, unit):
            figure, end = measured, suffix.end()
    piece.become(replace(figure, written=piece.text + text[start:end]))
    return end


def _half_day(figure: Figure, half: str) -> Figure:
    assert figure.amount is not None
    hour, minutes = divmod(figure.amount, 60) if figure.measure == "clock" else (figure.amount, 0)
    amount = (hour % 12 + (12 if half[0] in "pP" else 0)) * 60 + minutes
    return replace(figure, measure="clock", amount=amount, exact=True)


def _measured(figure: Figure, unit: str) -> Figure | None:
    """A number with its unit; letters that are units in one case only are told by it."""
    known = _UNITS.get(unit) or (_UNITS.get(unit.lower()) if len(unit) > 1 else None)
    if known is None or figure.amount is None:
        return None
    measure, size = known
    return replace(figure, measure=measure, amount=figure.amount * size)


class _Reader:
    """Pieces, read from left to right."""

    def __init__(self, given: list[Piece]) -> None:
        self.given = given
        self.at = 0

    def low(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.given[at].low if at < len(self.given) else ""

    def text(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.given[at].text if at < len(self.given) else ""

    def figure(self, ahead: int = 0) -> Figure | None:
        at = self.at + ahead
        return self.given[at].figure if at < len(self.given) else None

    def year(self, ahead: int = 0) -> int | None:
        figure = self.figure(ahead)
        if figure is None or figure.measure != "number" or figure.amount is None:
            return None
        return int(figure.amount) if _FIRST_YEAR <= figure.amount <= _LAST_YEAR else None

    def day(self, ahead: int = 0) -> int | None:
        figure = self.figure(ahead)
        if figure is None or figure.measure not in {"number", "ordinal", "one"} or figure.amount is None:
            return None
        whole = figure.amount == int(figure.amount) and 1 <= figure.amount <= _LAST_DAY
        return int(figure.amount) if whole else None


def _joined(given: list[Piece]) -> list[Piece]:
    """Pieces whose numbers have taken what belongs to them: multipliers, units, months, halves of the day."""
    reader = _Reader(given)
    result: list[Piece] = []
    while reader.at < len(given):
        piece = given[reader.at]
        reader.at += 1
        if piece.kind == "sign" and piece.low in _CURRENCIES and reader.figure():
            following = given[reader.at]
            assert following.figure is not None
            following.become(replace(following.figure, measure="money", currency=_CURRENCIES[piece.low]))
            continue
        if piece.figure is not None:
            _complete(piece, reader)
        elif piece.kind == "word":
            _named(piece, reader)
        result.append(piece)
    return result


def _complete(piece: Piece, reader: _Reader) -> None:
    figure = piece.figure
    assert figure is not None
    if figure.measure == "clock":
        if not figure.exact and reader.low() in {"am", "pm"}:
            piece.become(_half_day(figure, reader.low()))
            reader.at += 1
        return
    if figure.measure not in {"number", "one", "ordinal", "money"} or figure.amount is None:
        return
    if figure.measure != "ordinal":
        figure = _multiplied(figure, reader)
    after = 1 if reader.low() == "of" else 0
    month = _MONTHS.get(reader.low(after))
    day = figure.amount if figure.measure != "money" else None
    if (
        month
        and day is not None
        and day == int(day)
        and 1 <= day <= _LAST_DAY
        and reader.text(after)[:1].isupper()
    ):
        reader.at += after + 1
        piece.become(Figure("date", None, figure.written, day=(_with_year(reader), month, int(day))))
        return
    if figure.measure == "ordinal":
        piece.become(figure)
        return
    if reader.low() == "-" and reader.low(1) in _UNITS:
        reader.at += 1
    unit, low, before = reader.text(), reader.low(), reader.at
    if low in {"am", "pm"} and figure.measure == "number":
        figure = _half_day(figure, low)
        reader.at += 1
    elif unit == "°" and reader.low(1) in {"c", "f"}:
        figure = _measured(figure, f"°{reader.low(1)}") or figure
        reader.at += 2
    elif figure.measure != "money" and low in _CURRENCIES:
        figure = replace(figure, measure="money", currency=_CURRENCIES[low])
        reader.at += 1
    elif figure.measure != "money" and unit and (measured := _measured(figure, unit)):
        figure = measured
        reader.at += 1
    if reader.at > before:
        figure = replace(figure, written=f"{figure.written} {unit}")
    piece.become(figure)


def _multiplied(figure: Figure, reader: _Reader) -> Figure:
    """``two hundred and fifty`` and ``4.5 million`` are one number each."""
    in_words = figure.written.isalpha()
    assert figure.amount is not None
    while reader.low() in _MULTIPLIERS and len(reader.low()) > 2:
        amount = figure.amount * _MULTIPLIERS[reader.low()]
        reader.at += 1
        rest = reader.figure(1) if reader.low() == "and" else None
        if in_words and rest and rest.amount is not None and rest.measure == "number" and rest.amount < 100:
            amount += rest.amount
            reader.at += 2
        figure = replace(
            figure, measure="number" if figure.measure == "one" else figure.measure, amount=amount
        )
    return figure


def _with_year(reader: _Reader) -> int | None:
    """The year that follows a date, after a comma or not."""
    comma = 1 if reader.low() == "," else 0
    year = reader.year(comma)
    if year is not None:
        reader.at += comma + 1
    return year


def _named(piece: Piece, reader: _Reader) -> None:
    """Months, weekdays and times of day that have a name."""
    month = _MONTHS.get(piece.low)
    if month and piece.text[0].isupper():
        stop = 1 if reader.low() == "." else 0
        day = reader.day(stop)
        if day is not None or piece.low not in _ALSO_WORDS or reader.year(stop):
            reader.at += stop if day is not None or reader.year(stop) else 0
            reader.at += 1 if day is not None else 0
            piece.become(Figure("date", None, piece.text, day=(_with_year(reader), month, day)))
    elif piece.low in _WEEKDAYS and piece.text[0].isupper():
        piece.become(Figure("weekday", float(_WEEKDAYS[piece.low]), piece.text))
    elif piece.text in _WEEKDAYS:
        piece.become(Figure("weekday", float(_WEEKDAYS[piece.text]), piece.text))
    elif piece.low in _CLOCK_WORDS:
        piece.become(Figure("clock", _CLOCK_WORDS[piece.low], piece.text, exact=True))


def _ranges(given: list[Piece]) -> list[Piece]:
    """Give both ends of a range what only one of them says: "4–6 °C", "9-12 August", "12 August-14"."""
    for index, piece in enumerate(given):
        one = piece.figure
        if one is None:
            continue
        gap = 2 if index + 2 < len(given) and given[index + 1].low in _RANGES else 1
        other = given[index + gap] if index + gap < len(given) else None
        two = other.figure if other is not None else None
        if other is None or two is None or (gap == 1 and not two.negative):
            continue
        if gap == 1 or two.written[0] == "-":
            two = replace(two, negative=False)
        shared = _shared(one, two)
        if shared:
            piece.become(shared[0])
            two = shared[1]
        other.become(two)
    return given


def _shared(one: Figure, two: Figure) -> tuple[Figure, Figure] | None:
    if one.measure in {"number", "ordinal"} and one.amount is not None:
        if (
            two.measure == "date"
            and two.day[2]
            and 1 <= one.amount <= _LAST_DAY
            and one.amount == int(one.amount)
        ):
            return Figure("date", None, one.written, day=(two.day[0], two.day[1], int(one.amount))), two
        if two.measure not in {"number", "one", "ordinal", "weekday", "clock", "date"} and two.plain:
            size = (two.amount or 0) / two.plain
            return replace(one, measure=two.measure, amount=one.amount * size, currency=two.currency), two
    if two.measure == "number" and two.amount is not None:
        if (
            one.measure == "date"
            and one.day[2]
            and 1 <= two.amount <= _LAST_DAY
            and two.amount == int(two.amount)
        ):
            return one, Figure("date", None, two.written, day=(one.day[0], one.day[1], int(two.amount)))
        if one.measure == "money":
            return one, replace(two, measure="money", currency=one.currency)
    return None
