"""Translations of a prompt, in files beside it."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.prompts.reading import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable

PLACE = "{language}"
_TAG = expression(r"[A-Za-z]{2}(?:[-_][A-Za-z]{2})?")


def read_translations(
    pattern: str | os.PathLike[str], languages: Iterable[str] | None = None
) -> dict[str, str]:
    """The texts of the files that a pattern names, by language.

    Args:
        pattern: A path with ``{language}`` in it, such as ``prompts/triage.{language}.txt``; the language is a code of
            two letters with or without a region (``fr``, ``fr-CA``).
        languages: The languages whose files are read; by default all there are, in alphabetical order. Files with
            something longer in the place of the language are other files.

    Raises:
        UsageError: The pattern has no ``{language}``, no file is there, or one is missing, unreadable or not UTF-8.
    """
    path = os.fspath(pattern)
    if path.count(PLACE) != 1:
        raise UsageError(
            f"Translations: {path!r} must hold {PLACE} once, as 'prompts/triage.{PLACE}.txt' does."
        )
    if languages is not None:
        return {each: read_text(path.replace(PLACE, each)) for each in languages}
    start, end = path.split(PLACE)
    names = glob.glob(f"{glob.escape(start)}*{glob.escape(end)}")  # noqa: PTH207  # the pattern is a whole path
    tags = (name[len(start) : len(name) - len(end)] for name in names)
    found = {tag: read_text(path.replace(PLACE, tag)) for tag in sorted(tags) if _TAG.fullmatch(tag)}
    if not found:
        raise UsageError(
            f"Translations: there are no files {path!r} with a language such as 'fr' for {PLACE}."
        )
    return found
