"""Numbers, with what belongs to them: units, ranges, currencies, dates, times, versions, and numbers in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.prompts.cues import COUNTS, MONTHS, vocabulary

if TYPE_CHECKING:
    from pytest_promptfuzz.prompts.words import Found, Words

_UNITS = (
    "percent|per cent|percentage points?|million|billion|trillion|thousand|hundred|dozen|"
    "ms|milliseconds?|s|secs?|seconds?|min|mins|minutes?|h|hrs?|hours?|days?|weeks?|months?|quarters?|years?|"
    "bits?|bytes?|[kKMGT]i?B|[kMGT]bps|Hz|[kMG]Hz|px|pt|dpi|fps|"
    "nm|mm|cm|m|km|inch(?:es)?|in\\.|feet|foot|ft|yards?|miles?|mi|mph|km/h|"
    "mg|g|kg|tons?|tonnes?|lbs?|pounds?|oz|ounces?|m[lL]|d[lL]|[lL]|lit(?:er|re)s?|gallons?|"
    "µ[glLm]|mcg|m?mol|IU|k?cal|k?Pa|bar|psi|rpm|"
    "[WVAJN]|kW|MW|[kM]?Wh|m?Ah|°[CF]?|degrees?|[CKF]|"
    "dollars?|euros?|cents?|USD|EUR|GBP|CHF|JPY|CAD|AUD|INR|CNY|[$€£¥₹₩₽₺₴₫฿]|"
    "decimal places?|decimals?|digits?|words?|sentences?|characters?|chars?|"
    "tokens?|letters?|lines?|paragraphs?|bullets?|bullet points?|items?|"
    "points?|stars?|times|"
    "[aApP]\\.[mM]\\.|[aApP][mM]|UTC|GMT|CES?T|BST|IST|JST|[ECMP][SD]T"
)
_JOIN = r"[.,:/'’\-–—−×٫٬]"
# A space between groups of digits, or a times sign: 1 204 500; 55 x 40 x 20; +44 20 7946 0018; +1 (555) 010 9999.
_GROUP = r"[ \u00a0\u202f]|[ ][x×][ ]|[ ]?\(\d{1,5}\)[ -]?"
# A run of digits with single separators between is one number: 1,000; 12-18; 10:30; 24/7; 2025-07-24; 1.5.
# Letters glued to it belong to it (5GB, 1st, 2x, 14.2(b), 67-year-old), and so do the counters of Chinese, Japanese
# and Korean.
# It begins with \d\d* and not with \d+: the engine looks for a single character of a class many times faster.
_NUMBER = expression(
    rf"\d\d*(?:(?:{_JOIN}|{_GROUP})\d+)*(?:[eE][+-]?\d+)?"
    r"(?:[A-Za-zÀ-ɏµ_][A-Za-z0-9À-ɏ_]*|[²³¹]|(?:\([a-z]{1,4}\))+)?"
    r"(?:\s?[%‰٪％]|[年月日時时分秒点點号號]\d+"
    r"|[年月日時时分秒点點个個つ句字词詞文行項项条條段円元人回歳度万億亿千百월일시분개줄])*"
    rf"(?:[\s-](?:{_UNITS})[²³]?(?!\w))?(?:(?:/(?:{_UNITS})[²³]?(?!\w)){{1,3}}|\s(?:{_UNITS})[²³]?(?!\w))?"
    r"(?:-[A-Za-z]{2,14}(?!\w)){0,4}"
)
_CURRENCY = frozenset("$€£¥₹₩₽₺₴₫฿")
_CODES = vocabulary("GBP INR CNY CHF JPY EUR USD AUD CAD")
_SIGNS = frozenset("+-−±~≈<>≤≥#№§")
_GLUED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.")
_DAY_BEFORE = expression(r"(?<!\d)\d{1,2}(?:st|nd|rd|th|er|º|\.)?\s(?:of\s|de\s)?$")
_DAY_AFTER = expression(
    r"\.?\s\d{1,4}(?:st|nd|rd|th)?(?!\w)(?:,?\s\d{4}(?!\d))?|\.?,?\s(?:de\s|of\s)?\d{4}(?!\d)"
)
_NO_COUNT = expression(r"\b(?:which|this|that|each|another|every|any|no)\s$", re.IGNORECASE)
_TAIL = expression(r"(?:-[A-Za-z]{2,14}(?!\w)){1,4}")
_COUNTED = expression(
    r"[一二三四五六七八九十百千万两兩]{1,8}(?=[つ个個句字词詞文行項项条條段点點件種种類类回年月日分])[つ个個句字词詞文行項项条條段点點件種种類类回年月日分]"
)


def numeral_spans(text: str, words: Words) -> list[Found]:
    """Numbers in digits and words, kind ``number``, and dates written with a month's name, kind ``date``."""
    found: list[Found] = []
    previous = 0
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        start = _leftwards(text, start, previous)
        found.append((start, end, "number"))
        previous = end
    if found:
        found += _dates(text, words)
    counts = [(start, start + len(word)) for start, word in words.cues if word in COUNTS]
    found += [(s, _compound(text, e), "number") for s, e in counts if _counts(text, s, e)]
    if not text.isascii():
        found += [(m.start(), m.end(), "number") for m in _COUNTED.finditer(text)]
    return found


def _counts(text: str, start: int, end: int) -> bool:
    """Whether a word that is a number counts something: "one of the labels" and "which one" do not."""
    if text[start:end].lower() != "one":
        return True
    return text[end : end + 3] != " of" and _NO_COUNT.search(text[max(0, start - 9) : start]) is None


def _compound(text: str, end: int) -> int:
    """Where the compound ends that a number in words begins: ``one-paragraph``."""
    match = _TAIL.match(text, end)
    return match.end() if match else end


def _dates(text: str, words: Words) -> list[Found]:
    """Names of months beside a number; "may" and "march" alone are not dates."""
    found: list[Found] = []
    for start, word in words.cues:
        if word not in MONTHS:
            continue
        end = start + len(word)
        day = _DAY_BEFORE.search(text[max(0, start - 9) : start])
        rest = _DAY_AFTER.match(text, end)
        if day or rest:
            found.append((start - len(day[0]) if day else start, rest.end() if rest else end, "date"))
    return found


def _leftwards(text: str, start: int, floor: int) -> int:
    """Where a number really begins: letters glued to it, its sign, its currency."""
    if start <= floor or text[start - 1] == " ":
        if start - 3 > floor and text[start - 2] in _CURRENCY:
            return start - 2
        if start - 4 >= floor and text[start - 4 : start - 1] in _CODES:
            return start - 4
        return start
    first = start
    while start > floor and text[start - 1] in _GLUED:
        start -= 1
    while start < first and text[start] == ".":
        start += 1
    while start > floor and (text[start - 1] in _CURRENCY or text[start - 1] in _SIGNS):
        start -= 1
    return start
