"""Text that a model wrote, made harmless for terminals and CI logs; invisible characters are shown."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    import re

# Left as they are: line feed and tab (laid out by the renderer), U+200C and U+200D (joiners that scripts and
# emoji need), U+FE00-U+FE0F (emoji presentation). Everything else that moves the cursor, turns the writing
# direction or hides text is shown by a picture or by its code.
_UNSAFE = expression(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible fillers, Arabic letter mark
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # zero width, separators, bidi
    "\ufff9-\ufffb\ufffe\uffff"  # annotations, non-characters
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e0fff]"  # tags and variation selectors that can carry hidden text
)
_SURROGATE = expression("[\ud800-\udfff]")
# GitHub reads `::name` at the start of a line, after white space as well; `##[`, `##vso[` and `##teamcity[`
# are found anywhere in a line. Wrapping can put any word first, so each word is treated as if it were.
_COMMAND = expression(r"(?<!\S):(?=:\S)|#(?=#[A-Za-z]*\[)")

_WHITE = {" ": "·", "\n": "⏎", "\t": "→"}
_NARROW = {
    "…": "...",
    "·": ".",
    "⏎": "\\n",
    "→": "\\t",
    "≥": ">=",
    "“": '"',
    "”": '"',
    **{chr(0x2400 + code): f"\\x{code:02x}" for code in range(0x20)},
    "␡": "\\x7f",
}


def safe(text: str, *, limit: int | None = None) -> str:
    r"""A text that a terminal and a CI log can show without acting on it.

    Control characters become pictures (``␛``) or codes (``\x9b``), bidirectional overrides, hidden characters
    and lone surrogates their code point (``<U+202E>``); a word that a CI log would take for a command is
    broken by a backslash (``:\:error``). Line feeds and tabs stay. Applying it twice changes nothing more.

    Args:
        text: Any string.
        limit: The most characters of ``text`` to keep; the rest is counted: ``… (+1,234 characters)``.

    >>> safe("\x1b[31mred\r")
    '␛[31mred␍'
    """
    rest = 0
    if limit is not None and len(text) > limit:
        rest = len(text) - limit
        text = text[:limit]
    text = visible(text)
    text = uncommanded(text)
    return f"{text}… (+{rest:,} character{'s' if rest > 1 else ''})" if rest else text


def visible(text: str) -> str:
    r"""The text with what hides, moves the cursor or turns the writing direction shown, as :func:`safe` shows it.

    >>> visible("::error\x07")
    '::error␇'
    """
    return _UNSAFE.sub(_picture, text)


_SHOWN = bytes(range(0x20, 0x7F)) + b"\t\n"  # what ASCII shows


def is_visible(text: str) -> bool:
    """Whether :func:`visible` leaves a text as it is: of a long one in a tenth of the time.

    >>> is_visible("é …"), is_visible("a\u202e")
    (True, False)
    """
    rest = text.encode("utf-8", "surrogatepass").translate(None, _SHOWN)
    return not rest or _UNSAFE.search(rest.decode("utf-8", "surrogatepass")) is None


def uncommanded(text: str) -> str:
    r"""The text without a word that a CI log would take for a command; a backslash breaks each.

    >>> uncommanded("::error::x")
    ':\\:error::x'
    """
    return _COMMAND.sub(lambda match: match.group() + "\\", text)


def has_surrogates(text: str) -> bool:
    """Whether UTF-8 cannot hold the text, for half of a surrogate pair in it."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def escape_surrogates(text: str) -> str:
    r"""The text with escapes (``\ud800``) in the place of lone surrogates, so that it can be written as UTF-8.

    >>> escape_surrogates("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8") if has_surrogates(text) else text


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"\\x{code:02x}" if code < 0xA0 else f"<U+{code:04X}>"


def show_white(text: str) -> str:
    """White space as ``·``, ``⏎`` and ``→``; other blanks and invisible characters as their code point.

    >>> show_white("a b")
    'a·b'
    """
    return "".join(_WHITE.get(each) or _seen(each) for each in text)


def show_codes(text: str, chosen: set[int] | None = None) -> str:
    r"""Characters outside ASCII as their code points: those at the positions ``chosen``, or all.

    >>> show_codes("p\u0430y", {1})
    'p<U+0430>y'
    """
    if text.isascii():
        return text
    return "".join(
        f"<U+{ord(each):04X}>" if not each.isascii() and (chosen is None or index in chosen) else each
        for index, each in enumerate(text)
    )


def _seen(each: str) -> str:
    hidden = unicodedata.category(each) in {"Cf", "Zs", "Zl", "Zp"}
    return f"<U+{ord(each):04X}>" if hidden else each


def fit_encoding(text: str, encoding: str | None) -> str:
    """The text with what ``encoding`` lacks replaced: signs of ours by plain ones, others by escapes.

    Args:
        text: What is to be written.
        encoding: Of the stream (``"cp1252"``); ``None`` or an unknown one is taken for ASCII.
    """
    name = encoding or "ascii"
    try:
        text.encode(name)
    except LookupError:
        name = "ascii"
    except UnicodeEncodeError:
        pass
    else:
        return text
    text = "".join(each if _fits(each, name) else _NARROW.get(each, each) for each in text)
    return text.encode(name, "backslashreplace").decode(name)


def _fits(each: str, encoding: str) -> bool:
    if each.isascii():
        return True
    try:
        each.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


DIGEST = "promptfuzz-digest"
"""The key of what stands for an answer that is too long to be kept."""


def is_digest(value: Any) -> bool:
    """Whether this stands for an answer that is not kept."""
    return isinstance(value, dict) and value.keys() == {DIGEST}
