"""The pieces of a statement: words, figures, identifiers, and the marks between them."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, compress, count
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.comparing.reading.words import canonical
from pytest_promptfuzz.data.tables import entries, when_used
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator


# Figures in a text: what is measured, how much of it, and when.


Measure = str
"""What a figure is of: ``number``, ``one``, ``ordinal``, ``money``, ``date``, ``clock``, ``weekday``, or a measure of
``data/units.tsv``."""


class Figure(NamedTuple):
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
    def value(self) -> tuple[object, ...]:
        """What makes it agree with any figure that has the same, however both are written."""
        return self.measure, self.amount, self.currency, self.day

    @property
    def key(self) -> tuple[str, object]:
        """What it is the same by, whatever its notation."""
        if self.measure == "date":
            return "date", self.day[1:] if self.day[1] else self.day[0]
        return "figure", self.amount

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
_HALF_DAY = 720


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
        "values/units.tsv", lambda measure, size, names: (measure, float(size), names)
    ):
        table |= dict.fromkeys(names.split(), (measure, size))
    return table


UNITS = when_used(_units)
"""The measure of each unit, and its size in the measure's own unit."""


Key = tuple[str, object]
"""What makes two pieces the same in two texts."""

_GENERAL = word_set(
    """get give take make do go come keep become put set let seem need want say tell note mean happen include please
    follow provide use have contain case thing way part point item kind sort type number amount total result reason
    detail information fact key summary overview answer conclusion short long brief bottom line recommendation advice
    suggestion decision verdict would can could may might shall should must only even still already yet instead
    although though whereas unless whether once until before after every all some most many much more less few several
    first second third next last finally final whose how why against toward towards across along see find look like
    rather quite too simply exactly itself himself herself themselves mr mrs ms dr e.g i.e etc without because
    per plus not one two his him her hers its"""
)
_FUNCTION = word_lists.FUNCTION_WORDS | word_lists.NEGATORS
_GENERAL_STEMS = when_used(lambda: _GENERAL | {form[0] for form in map(canonical, _GENERAL) if form})
_DAY = 1440
_LAST_DAY, _FIRST_YEAR, _LAST_YEAR = 31, 1000, 2100
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

_PIECE = expression(
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

_DOTTED = expression(r"\d{1,2}\.\d\d")
_HALVES = frozenset({"a", "p", "am", "pm"})
_CONTINUING = when_used(
    lambda: frozenset(
        [*map(str.lower, UNITS), *_MULTIPLIERS, *_MONTHS, *_CURRENCIES, *_HALVES, "of", "-", "°"]
    )
)
"""What a figure may go on with."""
_SUFFIX = expression(r"(?P<ordinal>st|nd|rd|th)\b|(?P<unit>[A-Za-zµ°%]+(?:/h)?)")


class Piece(NamedTuple):
    """A word, a figure, an identifier or a mark of a text.

    Attributes:
        kind: ``word``, ``figure``, ``code`` (an identifier), ``sign`` or ``mark``.
        text: As it is written.
        low: In lower case.
        stem: Its canonical form, see ``words.canonical``; of what is no word its lower case.
        figure: The figure, where it is one.
        telling: Whether it says what a text is about: neither a function word, a negator nor a general word.
        is_capital: Whether it begins with a capital letter.
        key: What makes it the same in two texts.
        begins: Whether a figure may begin here that goes on in the next pieces.
    """

    kind: str
    text: str
    low: str
    stem: str
    figure: Figure | None
    telling: bool
    is_capital: bool
    key: Key
    begins: bool

    def become(self, figure: Figure) -> Piece:
        """It as a figure."""
        if figure is self.figure:
            return self
        return Piece("figure", self.text, self.low, self.low, figure, True, self.is_capital, figure.key, True)


_BEGINS, _FIGURE = attrgetter("begins"), attrgetter("figure")


def pieces(text: str) -> list[Piece]:
    """The pieces of one statement, its figures read.

    >>> [each.figure.amount for each in pieces("It took 1 hour, not $2.5 million.") if each.figure]
    [3600.0, 2500000.0]
    """
    found = list(chain.from_iterable(map(_pieces_of, text.split())))
    return _ranges(_joined(found)) if any(map(_BEGINS, found)) else found


@lru_cache(maxsize=32768)
def _pieces_of(chunk: str) -> tuple[Piece, ...]:
    """The pieces of a run without white space; kept, as all texts of a language are made of the same."""
    found: list[Piece] = []
    end = 0
    for match in _PIECE.finditer(chunk):
        if match.start() < end:
            continue  # read as the unit of the number before it
        kind, text = match.lastgroup, match.group()
        if kind == "number":
            figure, end = _number(text, chunk, match.end())
            found.append(_plain("number", text).become(figure))
        elif kind == "word":
            found.extend(_word(text))
        elif kind in _FIXED:
            found.append(_plain(kind, text).become(_FIXED[kind](text)))
        else:
            found.append(_plain(kind or "mark", text))
    return tuple(found)


def _plain(kind: str, text: str) -> Piece:
    low = text.lower().replace("’", "'")
    return Piece(
        kind, text, low, low, None, kind == "code", text[0].isupper(), (kind, low), low in _CURRENCIES
    )


def _word(text: str) -> Iterator[Piece]:
    """A word, the parts of a compound apart; numbers written as words are figures."""
    low = text.lower().replace("’", "'")
    parts = [part for part in text.split("-") if part]
    if all(part.lower() in _WORDS for part in parts):
        amount = sum(_WORDS[part.lower()] for part in parts)
        measure = "one" if amount == 1 and len(parts) == 1 else "number"
        yield _plain("word", text).become(Figure(measure, amount, text, amount))
    elif len(parts) > 1:
        yield from chain.from_iterable(map(_word, parts))
    else:
        bare = low.removesuffix("'s")
        begins = low in _MONTHS or low in _WEEKDAYS or text in _WEEKDAYS or low in _CLOCK_WORDS
        for stem in canonical(bare) or (bare,):
            telling = len(stem) > 1 and not (stem in _FUNCTION or stem in _GENERAL_STEMS)
            yield Piece("word", text, low, stem, None, telling, text[0].isupper(), ("word", stem), begins)


def _iso(text: str) -> Figure:
    year, month, day = map(int, text.split("-"))
    return Figure("date", None, text, day=(year, month, day))


def _day_first(text: str) -> Figure:
    day, month, year = (int(part) for part in text.replace("/", ".").split("."))
    if month > 12:
        day, month = month, day
    return Figure("date", None, text, day=(year, month, day))


def _clock(text: str) -> Figure:
    hours, minutes = text.replace(".", ":").split(":")
    amount = int(hours) * 60.0 + int(minutes)
    return Figure("clock", amount % _DAY, text, exact=amount >= 780 or hours[0] == "0")


_FIXED = {"iso": _iso, "dmy": _day_first, "clock": _clock}


def _number(written: str, text: str, end: int) -> tuple[Figure, int]:
    """A number and the unit written to it, and where reading goes on."""
    digits = written.lstrip("−-").removeprefix("US")
    currency = _CURRENCIES.get(digits[0], "")
    plain = amount = float(digits.lstrip("$€£¥").replace(",", ""))
    measure = "money" if currency else "number"
    negative, start = written[0] in "−-", end
    suffix = _SUFFIX.match(text, end)
    if suffix:
        unit, end = suffix.group(), suffix.end()
        if suffix["ordinal"]:
            measure = "ordinal"
        elif unit.lower() in {"am", "pm"}:
            figure = _half_day(
                Figure(measure, amount, written + unit, plain, currency, negative=negative), unit
            )
            return figure, end
        elif (currency or unit in {"k", "bn", "mn"}) and unit.lower() in _MULTIPLIERS:
            amount *= _MULTIPLIERS[unit.lower()]
        elif known := _unit(unit):
            measure, amount = known[0], amount * known[1]
        else:
            end = start
    return Figure(measure, amount, written + text[start:end], plain, currency, negative=negative), end


def _half_day(figure: Figure, half: str) -> Figure:
    assert figure.amount is not None
    hour, minutes = divmod(figure.amount, 60) if figure.measure == "clock" else (figure.amount, 0)
    amount = (hour % 12 + (12 if half[0] in "pP" else 0)) * 60 + minutes
    return figure._replace(measure="clock", amount=amount, exact=True)


def _unit(written: str) -> tuple[str, float] | None:
    """The measure and size of a unit; letters that are units in one case only are told by it."""
    return UNITS.get(written) or (UNITS.get(written.lower()) if len(written) > 1 else None)


def _measured(figure: Figure, unit: str) -> Figure | None:
    known = _unit(unit)
    if known is None or figure.amount is None:
        return None
    return figure._replace(measure=known[0], amount=figure.amount * known[1])


class _PieceReader:
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
    reader = _PieceReader(given)
    result: list[Piece] = []
    for at in compress(count(), map(_BEGINS, given)):
        if at < reader.at:
            continue  # taken by the figure before it
        piece = given[at]
        result += given[reader.at : at]
        reader.at = at + 1
        if piece.figure is not None:
            result.append(piece.become(_complete(piece.figure, piece.text, reader)))
        elif piece.kind == "word":
            named = _named(piece, reader)
            result.append(piece.become(named) if named else piece)
        elif amount := reader.figure():
            money = amount._replace(measure="money", currency=_CURRENCIES[piece.low])
            given[reader.at] = given[reader.at].become(money)
        else:
            result.append(piece)
    return result + given[reader.at :]


def _complete(figure: Figure, text: str, reader: _PieceReader) -> Figure:
    """A figure with what the next pieces add to it."""
    low = reader.low()
    if low not in _CONTINUING:
        return figure
    if figure.measure == "number" and low in _HALVES and _DOTTED.fullmatch(text):
        figure = _clock(text)
    if figure.measure == "clock":
        if not figure.exact and low in {"am", "pm"}:
            reader.at += 1
            return _half_day(figure, low)
        return figure
    if figure.measure not in {"number", "one", "ordinal", "money"} or figure.amount is None:
        return figure
    if figure.measure != "ordinal":
        figure = _multiplied(figure, reader)
    after = 1 if reader.low() == "of" else 0
    month = _MONTHS.get(reader.low(after)) if figure.measure != "money" else None
    day = figure.amount or 0
    if month and day == int(day) and 1 <= day <= _LAST_DAY and reader.text(after)[:1].isupper():
        reader.at += after + 1
        return Figure("date", None, figure.written, day=(_with_year(reader), month, int(day)))
    return figure if figure.measure == "ordinal" else _with_unit(figure, reader)


def _with_unit(figure: Figure, reader: _PieceReader) -> Figure:
    if reader.low() == "-" and reader.low(1) in UNITS:
        reader.at += 1
    unit, low, taken = reader.text(), reader.low(), 1
    if low in {"am", "pm"} and figure.measure == "number":
        figure = _half_day(figure, low)
    elif unit == "°" and reader.low(1) in {"c", "f"}:
        figure, taken = _measured(figure, f"°{reader.low(1)}") or figure, 2
    elif figure.measure != "money" and low in _CURRENCIES:
        figure = figure._replace(measure="money", currency=_CURRENCIES[low])
    elif figure.measure != "money" and unit and (measured := _measured(figure, unit)):
        figure = measured
    else:
        return figure
    reader.at += taken
    return figure._replace(written=f"{figure.written} {unit}")


def _multiplied(figure: Figure, reader: _PieceReader) -> Figure:
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
        figure = figure._replace(
            measure="number" if figure.measure == "one" else figure.measure, amount=amount
        )
    return figure


def _with_year(reader: _PieceReader) -> int | None:
    """The year that follows a date, after a comma or not."""
    comma = 1 if reader.low() == "," else 0
    year = reader.year(comma)
    if year is not None:
        reader.at += comma + 1
    return year


def _named(piece: Piece, reader: _PieceReader) -> Figure | None:
    """Months, weekdays and times of day that have a name."""
    text, low = piece.text, piece.low
    month = _MONTHS.get(low)
    if month and piece.is_capital:
        stop = 1 if reader.low() == "." else 0
        day = reader.day(stop)
        if day is None and low in _ALSO_WORDS and not reader.year(stop):
            return None
        reader.at += stop if day is not None or reader.year(stop) else 0
        reader.at += 1 if day is not None else 0
        return Figure("date", None, text, day=(_with_year(reader), month, day))
    number = _WEEKDAYS.get(low if piece.is_capital else text) or _WEEKDAYS.get(text)
    if number:
        return Figure("weekday", float(number), text)
    return Figure("clock", _CLOCK_WORDS[low], text, exact=True) if low in _CLOCK_WORDS else None


def _ranges(given: list[Piece]) -> list[Piece]:
    """Give both ends of a range what only one of them says: "4–6 °C", "9-12 August", "12 August-14"."""
    for index in compress(count(), map(_FIGURE, given)):
        piece = given[index]
        one = piece.figure
        gap = 2 if index + 2 < len(given) and given[index + 1].low in _RANGES else 1
        other = given[index + gap] if index + gap < len(given) else None
        two = other.figure if other is not None else None
        if one is None or other is None or two is None or (gap == 1 and not two.negative):
            continue
        if two.negative and (gap == 1 or two.written[0] == "-"):
            two = two._replace(negative=False)
        shared = _shared(one, two)
        if shared:
            given[index] = piece.become(shared[0])
            two = shared[1]
        given[index + gap] = other.become(two)
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
            return one._replace(measure=two.measure, amount=one.amount * size, currency=two.currency), two
    if two.measure == "number" and two.amount is not None:
        if (
            one.measure == "date"
            and one.day[2]
            and 1 <= two.amount <= _LAST_DAY
            and two.amount == int(two.amount)
        ):
            return one, Figure("date", None, two.written, day=(one.day[0], one.day[1], int(two.amount)))
        if one.measure == "money":
            return one, two._replace(measure="money", currency=one.currency)
    return None
