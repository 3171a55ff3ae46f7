"""Words replaced by others of a nearby sense: almost the same, wider, narrower. None of them keeps the meaning.

They are there for searches of the worst case and for studies of how much a word matters, and are drawn on only when
named.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.mutations.operator import Operator, operator
from pytest_promptfuzz.mutations.operators.synonyms import Replacing

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.lexicon.forms import Forms


@cache
def _forms(sense: Literal["near", "wider", "narrower"]) -> Forms:
    """The forms of the words of a sense; built once."""
    from pytest_promptfuzz.mutations.lexicon.forms import Forms
    from pytest_promptfuzz.mutations.lexicon.senses import narrower, near, wider

    return Forms({"near": near, "wider": wider, "narrower": narrower}[sense]())


def _sense(
    name: str,
    sense: Literal["near", "wider", "narrower"],
    others: str,
    example: tuple[str, str],
    *sources: str,
    severity: float = 0.6,
) -> Operator:
    """The operator that replaces words by ``others``."""
    return operator(
        name,
        dimension="semantic",
        severity=severity,
        version=2,
        preserves="no",
        languages=("en",),
        sources=sources,
        summary=f"Some words replaced by {others} (a third of the words that have one).",
        example=example,
        trusted=True,
        default=False,
    )(Replacing(lambda: _forms(sense)))


near_synonym = _sense(
    "near-synonym",
    "near",
    "others of almost the same sense",
    ("Explain the main idea.", "Describe the main idea."),
    "S3",
    severity=0.5,
)
hypernym = _sense(
    "hypernym",
    "wider",
    "wider ones",
    ("Write a poem about the car.", "Write a poem about the vehicle."),
    "S3",
    "S4",
)
hyponym = _sense(
    "hyponym",
    "narrower",
    "narrower ones",
    ("Write a letter about the vehicle.", "Write a letter about the car."),
    "S3",
    "S4",
)
