"""Paths of ``ignore=`` that leave nothing out: written wrongly, they would be believed to do their work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.wire.paths import without

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.wire.answers import StoredAnswer


class LeftOut:
    """Which paths of a test's ``ignore=`` lead somewhere: in a request, or in a value that is compared."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._nowhere = list(paths)
        self._looked = False

    def look(self, answers: Iterable[StoredAnswer], values: Iterable[Any]) -> None:
        """Look where the paths lead.

        Args:
            answers: What a case was answered, with its requests.
            values: What its runs came to, as plain data; ``None`` where there is nothing.
        """
        if not self._nowhere:
            return
        places = [each.request for each in answers]
        for value in values:
            if value is not None:
                places += [value, *_json_in(value)]
        self._looked |= bool(places)
        self._nowhere = [
            path for path in self._nowhere if all(without(each, path) == each for each in places)
        ]

    def notes(self) -> list[str]:
        """The sentence that names the paths that led nowhere; none where all did, or nothing was there to look at."""
        if not self._nowhere or not self._looked:
            return []
        lost = ", ".join(map(repr, self._nowhere))
        return [f"ignore= left nothing out at {lost}: no request, answer or returned value has such a place"]


def _json_in(value: Any) -> list[Any]:
    """The JSON that a text is or holds, read as for comparison."""
    text = value["text"] if isinstance(value, dict) and value.keys() == {"text", "tool_calls"} else value
    if not isinstance(text, str):
        return []
    read = data_text.parse(text)
    if read is data_text.MISSING:
        read = data_text.embedded(text)
    return [] if read is data_text.MISSING else [read]
