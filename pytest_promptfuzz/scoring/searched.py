"""What a test that searches for a counterexample asked, and how near it came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_promptfuzz.scoring.trial import Trial


@dataclass(frozen=True, slots=True)
class Searched:
    """The search of one test, over all of its inputs.

    Attributes:
        method: The method's name.
        objective: What was looked for, by name.
        queries: How often a prompt was asked, unmutated ones included.
        budget: How often it might have been.
        errors: How many of the queries got no answer.
        places: How many places of the prompts could change; those of several inputs are added up.
        found_at: By how many queries the goal was reached first; 0 where it was not.
        loss: How near the best came to the goal, in [0, 1]; 1 is there.
        nearest: Where the goal was not reached, the trial that came nearest; ``None`` where none came nearer than the
            unmutated prompt.
        found: The trial of the counterexample; ``None`` without one.
        known: Whether that was known before: it was asked again, and its input was not searched.
    """

    method: str
    objective: str
    queries: int
    budget: int
    errors: int
    places: int
    found_at: int
    loss: float
    nearest: Trial | None = None
    found: Trial | None = None
    known: bool = False
