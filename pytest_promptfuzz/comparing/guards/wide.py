"""Negation in scripts whose words are not set apart: Japanese, Chinese, Korean; the count of its signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair

_WIDE = expression(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WIDE_NEGATION = expression(
    r"ません|ない(?!で)|なかった|なく|なければ|不可|不[^同断要]|没|沒|無(?!料)|无|未|非[^常]|않|지 못|못 |안 |아니|없"
)
# 不是吗, なければならない: what is denied twice, or must not be left undone, is affirmed.
_TWICE = expression(r"なければな|なくてはな|ないわけでは|不得不|不仅|不僅|不但|无论|無論")


def check(pair: Pair) -> Finding | None:
    """Whether one of two texts denies more than the other."""
    counts = [
        len(_WIDE_NEGATION.findall(_TWICE.sub("", text.clean))) if _WIDE.search(text.clean) else -1
        for text in (pair.a, pair.b)
    ]
    if counts[0] == counts[1] or -1 in counts:
        return None
    which = "response" if counts[1] > counts[0] else "baseline"
    kind: Literal["contradiction", "doubt"] = (
        "contradiction" if (counts[0] - counts[1]) % 2 and pair.similarity >= _WIDE_FRAME else "doubt"
    )
    return Finding("negation", kind, f"only the {which} denies something, or it denies more")


_WIDE_FRAME = 0.5
