"""Addresses, codes and pictures: what is one letter away from another one and never a synonym of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.text import Text

_ADDRESS = expression(r"https?://[^\s<>\"'`)\]]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CODE = expression(r"(?<![\w.-])(?=[\w./-]*\d)(?=[\w./-]*[A-Z])[A-Z\d]+(?:[-/.][A-Z\d]+)*(?![\w-])")
_LETTER = expression(
    r"[A-HJ-Z](?<![\w.'’&/°+-][A-Z])(?:(?<!A)|(?<=: A)|(?<=option A)|(?<=grade A)|(?<=type A)|(?<=class A)"
    r"|(?<=group A)|(?<=vitamin A)|(?<=hepatitis A)|(?<=plan A)|(?<=answer A))\d{0,3}(?![\w'’&]|\.\w|\. [A-Z]\w*, )"
)
"""A letter that stands for itself: vitamin D, option B, B12."""
_SPAN = expression(r"(?<!`)`([^`\n]{1,80})`(?!`)")
_FILE = expression(
    r"\b[\w-]+\.(?:docx?|xlsx?|pptx?|pdf|csv|json|ya?ml|py|js|ts|txt|md|html|xml|zip|png|jpe?g|sh|sql|ini|toml|log)\b",
    re.IGNORECASE,
)
_ENDING = expression(r"\.[a-zA-Z]")
"""What every file's name has, and few sentences: looked for first, as it costs little."""

_RUN = expression(r"[\w./-]+")
_CAPITAL = expression(r"[A-Z]")
_LONGEST = 200
"""Characters of a code: looking for one in a longer run would take the square of its length."""
_VERSION = expression(r"\b(?:(?:version|release|python|node|java)\s+v?|v)(\d+(?:\.\d+)+)", re.IGNORECASE)
_KEYS = expression(r"\b(?:ctrl|cmd|alt|shift|option)\s?\+\s?\w+(?:\s?\+\s?\w+)*", re.IGNORECASE)
_DIGIT = expression(r"\d")
_POINT = expression(r"\d\.\d")
_QUANTITY = expression(
    r"\d+(?:[.,]\d+)*(?:AM|PM|K|M|B|GB|MB|KB|TB|C|F|D|X|H|%)?|Q[1-4]|[A-Z]*\d*(?:ST|ND|RD|TH)"
)
_ENDS = ".,;:!?"

GLAD = frozenset("👍✅✔☑😀😃😄😁😊🙂😍🥳🟢💚❤🎉")
SORRY = frozenset("👎❌✖✗🚫😢😞😠😡🙁☹😭🔴💔⛔")


def check(pair: Pair) -> Finding | None:
    """Whether an address, a code or a picture of approval became another one."""
    one, two = pair.a.clean, pair.b.clean
    if not one.isascii() or not two.isascii():
        found = _pictures(one, two)
        if found:
            return found
    if "@" in one or "://" in one:
        found = _other(_addresses(one), _addresses(two))
        if found:
            return found
    if any(map(_DIGIT.search, pair.only_a)) and any(map(_DIGIT.search, pair.only_b)):
        found = _other(pair.a.once(_codes), pair.b.once(_codes))
        if found:
            return found
    if not pair.a.once(_intricate):
        return _other_letter(pair)
    if "`" in pair.a.raw and "`" in pair.b.raw:
        found = _other(_spans(pair.a.raw), _spans(pair.b.raw))
        if found:
            return found
    if pair.a.once(_has_ending) and pair.b.once(_has_ending):
        found = _other(_files(one), _files(two))
        if found:
            return found
    if ("." in one and ("0" in one or "0" in two)) or "+" in one:
        found = _other(pair.a.once(_exact), pair.b.once(_exact))
        if found:
            return found
    return _other_letter(pair)


def _other_letter(pair: Pair) -> Finding | None:
    if any(map(_is_short, pair.only_a)) and any(map(_is_short, pair.only_b)):
        return _other(pair.a.once(_letters), pair.b.once(_letters))
    return None


def _is_short(token: str) -> bool:
    return (len(token) <= _SHORT and token[0].isalpha()) or token in _UNITS


_SHORT = 3
_UNITS = frozenset({"celsius", "fahrenheit", "gram", "litre"})
"""What a single letter may be read as."""


def _letters(text: Text) -> dict[str, None]:
    return dict.fromkeys(found[0] for found in _LETTER.finditer(text.clean))


def _spans(text: str) -> dict[str, None]:
    """What a text sets as code within a line."""
    return dict.fromkeys(" ".join(found[1].split()) for found in _SPAN.finditer(text))


def _intricate(text: Text) -> bool:
    """Whether a text may name a file, a version, keys to press, or set anything as code."""
    clean = text.clean
    stops = clean.count(". ") + clean.endswith(".")
    return clean.count(".") > stops or "+" in clean or "`" in text.raw


def _has_ending(text: Text) -> bool:
    return bool(_ENDING.search(text.clean))


def _files(text: str) -> dict[str, None]:
    return dict.fromkeys(found[0].lower() for found in _FILE.finditer(text))


def _addresses(text: str) -> dict[str, None]:
    return dict.fromkeys(found[0].rstrip(_ENDS + "/").lower() for found in _ADDRESS.finditer(text))


def _codes(text: Text) -> dict[str, None]:
    clean = text.clean
    if not _DIGIT.search(clean) or not _CAPITAL.search(clean):
        return {}
    return dict.fromkeys(
        found[0]
        for run in _RUN.finditer(clean)
        if len(run[0]) <= _LONGEST and _DIGIT.search(run[0]) and _CAPITAL.search(run[0])
        for found in _CODE.finditer(clean, *run.span())
        if not _QUANTITY.fullmatch(found[0])
    )


def _exact(text: Text) -> dict[str, None]:
    """Versions, where 3.10 is not 3.1, and keys to press."""
    found = [each[1] for each in _VERSION.finditer(text.clean)] if _POINT.search(text.clean) else []
    if "+" in text.clean:
        found += [each[0].lower().replace(" ", "") for each in _KEYS.finditer(text.clean)]
    return dict.fromkeys(found)


def _other(here: dict[str, None], there: dict[str, None]) -> Finding | None:
    gone = [each for each in here if each not in there]
    come = [each for each in there if each not in here]
    if not gone or not come:
        return None
    return Finding("identifiers", "contradiction", f"{gone[0]!r} in the baseline became {come[0]!r}")


def _pictures(one: str, two: str) -> Finding | None:
    here, there = set(one), set(two)
    for first, second in ((GLAD, SORRY), (SORRY, GLAD)):
        if here & first and there & second and not (here & second or there & first):
            old, new = (
                next(each for each in text if each in kind) for text, kind in ((one, first), (two, second))
            )
            return Finding("identifiers", "contradiction", f"{old} in the baseline became {new}")
    return None
