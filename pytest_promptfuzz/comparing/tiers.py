"""Measures of likeness by name, for a profile's ``tiers``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.metrics import bleu, chrf, indel
from pytest_promptfuzz.comparing.quirx import token_similarity
from pytest_promptfuzz.comparing.rouge import rouge_l
from pytest_promptfuzz.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    Measure = Callable[[str, str], float | None]

TIERS: dict[str, Measure] = {
    "indel": indel,
    "rouge-l": rouge_l,
    "bleu": bleu,
    "chrf": chrf,
    "ratcliff-obershelp": token_similarity,
}
"""Each takes a baseline and a response, and returns how alike they are, 0..1; ``None`` for texts too long for it."""


def measure(name: str) -> Measure:
    """The measure of a name.

    Raises:
        UsageError: There is none.

    >>> measure("rouge-l")("the parcel is lost", "the parcel was lost")
    0.75
    """
    if name not in TIERS:
        raise UsageError(f"the tier {name!r} is unknown. {nearest(name, TIERS)}")
    return TIERS[name]
