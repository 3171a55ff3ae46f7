"""Figures in a text: what is measured, how much of it, and when."""

from __future__ import annotations

from typing import NamedTuple

from pytest_promptfuzz.comparing.reading.word_lists import entries, when_used

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
        "units.tsv", lambda measure, size, names: (measure, float(size), names)
    ):
        table |= dict.fromkeys(names.split(), (measure, size))
    return table


UNITS = when_used(_units)
"""The measure of each unit, and its size in the measure's own unit."""
