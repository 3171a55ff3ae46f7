"""Dates as answers write them, read where they can mean one day only."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from pytest_promptfuzz.comparing.word_lists import entries, when_used
from pytest_promptfuzz.expressions import expression

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
        for number, names in enumerate(entries("months.txt", str.split), start=1)
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
