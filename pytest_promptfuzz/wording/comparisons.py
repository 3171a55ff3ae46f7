"""What comparisons observed, in sentences: a template for each code, in ``data/wording/comparisons.tsv``.

In a template ``{0}`` is the first value that the observation has. ``{0!r}`` shows it in quotation marks, ``{0!q}`` also
on one line and cut, ``{0!j}`` as JSON has it. A tuple is joined by commas, or by what follows the colon: ``{0:; }``.

This module imports nothing of ``comparing/``: an observation is a code and values here.
"""

from __future__ import annotations

import json
from string import Formatter
from typing import Any

from pytest_promptfuzz.data.tables import pairs

_TEMPLATES = pairs("wording/comparisons.tsv")
_SHOWN = 60
_MOST_FINDINGS = 2


def sentence(code: str, values: tuple[Any, ...]) -> str:
    """What a comparison observed, for people; see ``comparing.comparison.Observation``."""
    if code == "findings":
        return _findings(values)
    return _WRITER.vformat(_TEMPLATES[code], values, {})


def _findings(values: tuple[Any, ...]) -> str:
    """What guards found, once each and no more than two: several guards may name the same words."""
    said = {each.casefold(): each for each in reversed([*map(str, values)])}
    return "; ".join(list(said.values())[::-1][:_MOST_FINDINGS])


class _Writer(Formatter):
    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if isinstance(value, tuple):
            return tuple(self.convert_field(each, conversion) for each in value)
        if conversion == "q":
            return _quoted(value)
        if conversion == "j":
            return _json(value)
        return repr(value) if conversion == "r" else value

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, tuple):
            return (format_spec or ", ").join(map(str, value))
        return format(value, format_spec)


_WRITER = _Writer()


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…")


def _json(value: Any) -> str:
    """As JSON has it, whatever language it was read with."""
    if isinstance(value, str):
        return _quoted(value)
    return _quoted(json.dumps(value, ensure_ascii=False, default=str))[1:-1]
