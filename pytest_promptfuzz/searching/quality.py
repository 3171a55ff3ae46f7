"""What measures say of the prompts that a search came to: how fluent they still are, how many errors they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.searching.result import Search

Measure: TypeAlias = "Callable[[str], float]"
"""A function of a text that returns a number."""
BEFORE = "_before"
"""What is added to a measure's name for what it says of the unmutated prompt."""


def measures_of(given: object, where: str) -> Mapping[str, Measure]:
    """Check ``measures=``.

    Raises:
        UsageError: It is no mapping of names to functions.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(
        isinstance(name, str) and name and callable(measure) for name, measure in given.items()
    ):
        raise UsageError(
            f"{where}: measures={given!r:.80} must map names to functions of a text: {{'perplexity': function}}."
        )
    return given


def measured(found: Search, measures: Mapping[str, Measure]) -> Search:
    """A search with what measures say of its best change, and of the unmutated prompt, in ``quality``.

    Args:
        found: The search; one that has no best change stays as it is.
        measures: By name. What one says of the unmutated prompt is there as ``NAME_before``.

    Raises:
        UsageError: A measure returned no number.
    """
    mutation = found.mutation
    if mutation is None or not measures:
        return found
    quality = dict(found.quality)
    for name, measure in measures.items():
        for key, text in ((name, mutation.text), (name + BEFORE, mutation.original)):
            said = measure(text)
            if isinstance(said, bool) or not isinstance(said, int | float) or not isfinite(said):
                raise UsageError(f"measures: {name} returned {said!r:.80}; return a number.")
            quality[key] = float(said)
    return replace(found, quality=quality)
