"""The names of a prompt's parts (words, sentences, messages) in explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_promptfuzz.results.explanations import PromptPart


_NAMES = {
    "at-start": "text at the start",
    "at-end": "text at the end",
    "in-between": "text in between",
    "wide": "more than half of the words",
}


def part_name(part: PromptPart) -> str:
    """The text of a word or sentence, the name of anything else."""
    if part.kind == "message":
        return f"{part.label} message, {part.number} of {part.of}"
    return _NAMES[part.label] if part.kind in {"added", "extent"} else part.label
