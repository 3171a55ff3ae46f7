"""What a provider says about its limits in the headers of an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_PIECE = re.compile(r"(\d+(?:\.\d+)?)(ms|d|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# By kind of limit: the names of limit, remaining and reset. The first that an answer has counts.
_NAMES = {
    "requests": (
        "x-ratelimit-{}-requests",
        "anthropic-ratelimit-requests-{}",
    ),
    "tokens": (
        "x-ratelimit-{}-tokens",
        "anthropic-ratelimit-tokens-{}",
    ),
}


@dataclass(frozen=True, slots=True)
class Told:
    """How much of one limit is left.

    Attributes:
        limit: The most at once, requests or tokens.
        remaining: What is left of it now.
        reset: Seconds until all of it is back.
    """

    limit: float
    remaining: float
    reset: float


def told_limits(headers: Mapping[str, str], now: float) -> dict[str, Told]:
    """The limits that an answer's headers tell, by kind: ``requests``, ``tokens``. What cannot be read is left out.

    Args:
        headers: Of the answer, found by lower-case name.
        now: Seconds since the epoch, for limits whose reset is a date.
    """
    found: dict[str, Told] = {}
    for kind, names in _NAMES.items():
        for name in names:
            limit, remaining = (_number(headers.get(name.format(word))) for word in ("limit", "remaining"))
            reset = _until(headers.get(name.format("reset"), ""), now)
            if limit is not None and remaining is not None and reset is not None and limit > 0:
                found[kind] = Told(limit, min(remaining, limit), reset)
                break
    return found


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the provider asks to wait: ``retry-after-ms``, else ``Retry-After`` in seconds or as a date.

    Args:
        headers: Of the answer, found by lower-case name.
        now: Seconds since the epoch.

    >>> retry_after({"retry-after-ms": "250", "retry-after": "1"}, 0.0), retry_after({}, 0.0)
    (0.25, None)
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    seconds = _number(text)
    return seconds if seconds is not None else _date(text, now)


def _number(text: str | None) -> float | None:
    # float() takes "nan", "inf" and "1_0" as well, and none of them is a number of seconds or tokens.
    return float(text) if text is not None and re.fullmatch(r"\s*\d{1,12}(\.\d+)?\s*", text) else None


def _until(text: str, now: float) -> float | None:
    """Seconds in ``6m0s``, ``120ms``, ``1.5`` or until an RFC 3339 date."""
    text = text.strip()
    if not text:
        return None
    plain = _number(text)
    if plain is not None:
        return plain
    pieces = _PIECE.findall(text)
    if pieces and "".join(number + unit for number, unit in pieces) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in pieces)
    try:
        when = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return _seconds_to(when, now)


def _date(text: str, now: float) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return _seconds_to(parsedate_to_datetime(text), now)
    except (TypeError, ValueError):
        return None


def _seconds_to(when: datetime, now: float) -> float:
    aware = when if when.tzinfo is not None else when.replace(tzinfo=timezone.utc)
    return max(0.0, aware.timestamp() - now)
