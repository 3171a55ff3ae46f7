"""Words of meaning that only one of two answers has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.reading.answer import Answer

_START = 5
"""Letters that the forms of one word share: approve, approval."""


def unmatched(one: Answer, two: Answer) -> list[str]:
    """The telling words of an answer, as written, of which the other has neither the stem nor the beginning."""
    forms = two.forms
    starts = {form[:_START] for form in forms if len(form) >= _START}
    found: dict[str, str] = {}
    for token in one.telling:
        stem = token.stem
        if stem in forms or token.low in forms or stem in found:
            continue
        if len(stem) >= _START and stem[:_START] in starts:
            continue
        if len(stem) == _START - 1 and any(form.startswith(stem) for form in forms):
            continue
        found[stem] = token.text
    return [*found.values()]
