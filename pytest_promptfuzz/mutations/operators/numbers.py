"""The same numbers written otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import capitalised
from pytest_promptfuzz.mutations.edits import Edit, replace
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.numerals_quantities import (
    limit_before,
    noun_after,
    numbers_in_prose,
    quantities,
)
from pytest_promptfuzz.mutations.numerals_words import MOST, spelled
from pytest_promptfuzz.mutations.operator import operator

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.rng import Rng

_LARGE = expression(
    r"(?P<currency>[$€£])?(?P<number>[1-9]\d{3,8}|[1-9]\d{0,2}(?:,\d{3}){1,2})(?P<cents>\.\d{2})?(?P<unit> [a-z]+)?"
)
_MONEY = words("dollars euros pounds")
_YEARS = range(1800, 2200)


@operator(
    "number-spelling",
    dimension="math",
    severity=0.1,
    preserves="yes",
    languages=("en",),
    touches=("number",),
    sources=("S4",),
    example=("Summarize the article in 3 sentences.", "Summarize the article in three sentences."),
    trusted=True,
    default=False,
)
def number_spelling(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``3 sentences`` becomes ``three sentences`` and the other way (1 to 100; all counts in prose, then some)."""
    places = []
    for group in quantities(draft):
        if any(each.value > MOST for each in group):
            continue
        place = []
        for each in group:
            form = str(each.value) if each.worded else spelled(each.value)
            place.append(replace(each.start, each.end, capitalised(form) if each.opens else form))
        places.append(place)
    for chosen in rng.all_then_some(places):
        yield [edit for place in chosen for edit in place]


@operator(
    "number-grouping",
    dimension="math",
    severity=0.1,
    preserves="yes",
    languages=("en",),
    touches=("number",),
    sources=("S4",),
    example=("The shop has 12000 users in the town.", "The shop has 12,000 users in the town."),
    trusted=True,
    default=False,
)
def number_grouping(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``12000 users`` becomes ``12,000 users`` and the other way (all amounts and counts in prose, then some)."""
    places = []
    for start, end in numbers_in_prose(draft):
        match = _LARGE.fullmatch(draft.text, start, end)
        if match is None or not _is_amount(draft, match):
            continue
        form = match["number"]
        other = form.replace(",", "") if "," in form else f"{int(form):,}"
        places.append(replace(*match.span("number"), other))
    return rng.all_then_some(places)


def _is_amount(draft: Draft, match: re.Match[str]) -> bool:
    """Whether a large number is money or counts something, and is no year."""
    unit = match["unit"]
    if match["currency"] is not None:
        return unit is None
    if limit_before(draft, match.start()) is None or match["cents"] is not None:
        return False
    value = int(match["number"].replace(",", ""))
    if unit is not None and unit.strip() in _MONEY:
        return True
    if value in _YEARS and unit is None and "," not in match["number"]:
        return False
    return noun_after(draft, match.end("number"), unit, value) >= 0
