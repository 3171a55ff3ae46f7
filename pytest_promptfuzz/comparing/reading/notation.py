"""Times, dates and numbers written otherwise: 3:15 p.m. as 15:15, 05.03.2024 as 5 march 2024, 1.000 € as 1000 €."""

from __future__ import annotations

import re
from functools import partial

from pytest_promptfuzz.text.expressions import expression

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip
_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_HOURS = {word: number for number, word in enumerate(_UNITS, start=1)}
_HOUR = rf"(?P<hour>\d{{1,2}}|{'|'.join(_UNITS)})"

# Each begins with a digit, so that a text without one is passed over at once.
_ANY = expression(
    r"\d(?:\s?[ap]\.?\s?m\b|\s?uhr\b|\sh\b|h\d|\d?(?:st|nd|rd|th)\b|\.\d{3}\b|,\d\d?\b|[ \u00a0\u202f]\d{3}\b"
    r"|\d:\d\d|\.\d\d?\.\d{4}|:\d\d (?:in the|at night|noon)"
    r"|\s(?:in the (?:morning|afternoon|evening)|noon\b|o'clock|out of\b))",
    re.IGNORECASE,
)
_DIGIT = expression(r"\d")
_WORDED = {
    "past": (
        (rf"\bhalf past {_HOUR}\b", 30),
        (rf"\bquarter past {_HOUR}\b", 15),
    ),
    "o'clock": ((rf"\b{_HOUR} o'clock\b", 0),),
}
_EXPRESSIONS = tuple(
    (cue, tuple((expression(pattern, re.IGNORECASE), minute) for pattern, minute in patterns))
    for cue, patterns in _WORDED.items()
)
_NOON = expression(r"\b(?:12(?::00)? )?(?<!after)(?:noon|midnight)\b", re.IGNORECASE)
_DAYTIME = expression(r"\b(\d{1,2}):(\d\d) in the (morning|afternoon|evening)\b", re.IGNORECASE)
_TEENS = ("thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth")
_DAYS = {
    word: number
    for number, word in enumerate(
        (
            *_ORDINALS,
            *_TEENS,
            "twentieth",
            *(f"twenty-{each}" for each in _ORDINALS[:9]),
            "thirtieth",
            "thirty-first",
        ),
        start=1,
    )
}
_OF_MONTH = expression(rf" of {_MONTH}\b", re.IGNORECASE)
_WORDED_DAY = expression(
    rf"\b(?P<day>{'|'.join(sorted(_DAYS, key=len, reverse=True))}) of (?P<month>{_MONTH})\b", re.IGNORECASE
)
_SHARE = expression(rf"\b(\d+|{'|'.join(_UNITS)}) out of (\d+|{'|'.join(_UNITS)})\b", re.IGNORECASE)
_OFTEN = expression(
    r"\b(?:every|each|once (?:an?|per|every)) (hour|day|week|month|year)\b(?: of the week)?(?! of\b)",
    re.IGNORECASE,
)
_ADVERBS = {"hour": "hourly", "day": "daily", "week": "weekly", "month": "monthly", "year": "yearly"}
_MONEY = expression(r"(?:\b(USD|EUR|GBP|CHF|JPY) ?|([$€£¥]) )(\d[\d.,]*\d|\d)", re.IGNORECASE)
_DUE = expression(
    r"\bdue(?= (?:ore|minuti|secondi|giorni|settimane|mesi|anni|volte|persone|euro|litri|metri)\b)"
)
"""The Italian two, which alone is an English word."""
_CURRENCIES = ("€ ", "$ ", "£ ", "USD", "EUR", "GBP", "CHF", "usd ", "eur ", "gbp ", "chf ")


def plainly(text: str) -> str:
    """A text with its times, dates and numbers in one notation.

    >>> plainly("The ferry leaves at 3:15 p.m. on the 2nd of May and costs EUR 1.000,50.")
    'The ferry leaves at 15:15 on the 2 May and costs 1000.50 EUR.'
    """
    text = _words_plainly(text)
    if not _DIGIT.search(text):
        return text
    if _ANY.search(text):
        for pattern, written in _DIGITS:
            text = pattern.sub(written, text)
    for cue in _CURRENCIES:
        if cue in text:
            return _MONEY.sub(lambda found: f"{found[3]} {found[1] or found[2]}", text)
    return text


def _words_plainly(text: str) -> str:
    """A text in which times, days, adverbs and shares that are written in words stand in figures."""
    for cue, patterns in _EXPRESSIONS:
        if cue in text:
            for pattern, minute in patterns:
                text = pattern.sub(partial(_said, minute), text)
            text = _DAYTIME.sub(_in_the_day, text)
    if "noon" in text or "midnight" in text:
        text = _NOON.sub(_middle, text)
    if " of " in text and _OF_MONTH.search(text):
        text = _WORDED_DAY.sub(_worded_day, text)
    if "very " in text or "ach " in text or "nce " in text:
        text = _OFTEN.sub(lambda found: _ADVERBS[found[1].lower()], text)
    if " out of " in text:
        text = _SHARE.sub(_share, text)
    if "due " in text:
        text = _DUE.sub("2", text)
    return text


def _middle(found: re.Match[str]) -> str:
    return "0:00" if "night" in found[0].lower() else "12:00"


def _clock(found: re.Match[str]) -> str:
    hour, minute = int(found["hour"]), found["minute"] or "00"
    groups = found.groupdict()
    half, day = (groups.get("half") or "").lower(), (groups.get("day") or "").lower()
    if half == "p" or day in {"afternoon", "evening"}:
        hour = hour if hour >= 12 else hour + 12
    elif half == "a" and hour == 12:
        hour = 0
    return f"{hour}:{minute}"


def _in_the_day(found: re.Match[str]) -> str:
    hour = int(found[1])
    return f"{hour + 12 if found[3].lower() != 'morning' and hour < 12 else hour}:{found[2]}"


def _said(minute: int, found: re.Match[str]) -> str:
    word = found["hour"].lower()
    return f"{_HOURS.get(word) or int(word)}:{minute:02}"


def _date(found: re.Match[str]) -> str:
    day, month = int(found[1]), int(found[2])
    return f"{day} {_MONTHS[month - 1]} {found[3]}" if 1 <= month <= len(_MONTHS) else found[0]


def _ordinal(found: re.Match[str]) -> str:
    number = int(found[1])
    if found["month"]:
        return f"{number} {found['month'].removeprefix(' of').strip()}"
    return _ORDINALS[number - 1] if 1 <= number <= len(_ORDINALS) else str(number)


def _worded_day(found: re.Match[str]) -> str:
    return f"{_DAYS[found['day'].lower()]} {found['month']}"


def _share(found: re.Match[str]) -> str:
    part, whole = (str(_HOURS.get(each.lower(), each)) for each in (found[1], found[2]))
    return f"{part}/{whole}"


_DIGITS = (
    # 3:15 p.m., 9 am
    (
        expression(
            r"\b(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s?(?:(?P<half>[ap])(?:m\b|\.\s?m\.?)"
            r"|in the (?P<day>morning|afternoon|evening))",
            re.IGNORECASE,
        ),
        _clock,
    ),
    (
        expression(r"\b(?P<hour>\d{1,2})[:.](?P<minute>\d\d)\s?uhr\b", re.IGNORECASE),
        _clock,
    ),
    (
        expression(r"(?<=\b[àe] )(?P<hour>\d{1,2})\s?h(?:\s?(?P<minute>\d\d))?\b", re.IGNORECASE),
        _clock,
    ),
    # 08:15
    (expression(r"(?<![\d:.])0(\d:\d\d)(?![\d:])"), lambda found: found[1]),
    (expression(r"\b12(?::00)? noon\b", re.IGNORECASE), lambda _: "12:00"),
    (expression(r"\b(\d\d?)\.(\d\d?)\.(\d{4})\b"), _date),
    # May 4th
    (
        expression(
            rf"\b((?:{'|'.join(_MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.? \d\d?)(?:st|nd|rd|th)\b",
            re.IGNORECASE,
        ),
        lambda found: found[1],
    ),
    (
        expression(rf"\b(\d\d?)(?:st|nd|rd|th)\b(?P<month>(?: of)? {_MONTH}\b)?", re.IGNORECASE),
        _ordinal,
    ),
    # 1.000 and 1.234.567 group thousands, as do 1 000 and 1 234 567; 12,50 has a decimal comma.
    (
        expression(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:\.\d{3}){2,}|\.\d\d0)(?![\d.]|,\d{3})(?:,\d\d?\b)?"),
        lambda found: found[0].replace(".", "").replace(",", "."),
    ),
    (
        expression(r"(?<![\d.,  \u202f])[1-9]\d{0,2}(?:[  \u202f]\d{3})+(?![\d.,  \u202f])"),
        lambda found: re.sub(r"\D", "", found[0]),
    ),
    (expression(r"(?<![\d.,])(\d+),(\d\d?)(?![\d,])"), lambda found: f"{found[1]}.{found[2]}"),
)
