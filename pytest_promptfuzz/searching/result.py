"""``Search``: what came of looking for the worst a harmless change can do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.scoring.counterexample import Counterexample
    from pytest_promptfuzz.scoring.trial import Spent

Ended = Literal[
    "found",
    "queries-spent",
    "exhausted",
    "cost-spent",
    "time-spent",
    "interrupted",
    "target-failed",
    "noisy",
    "unconfirmed",
]
"""Why a search ended. ``exhausted``: nothing more to ask; ``noisy``: the unmutated prompt reached the goal itself;
``unconfirmed``: a change reached it, and too few queries were left to ask it again."""

_LEAST = 10  # changed prompts: fewer, where there are more, tell nothing


@dataclass(frozen=True, slots=True)
class Better:
    """A query after which the best was better than before: its number, its loss, and whether the goal was reached."""

    query: int
    loss: float
    reached: bool


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found.

    Attributes:
        counterexample: The smallest change that reached the goal; ``None`` where nothing did.
        first: The change that reached it first, before anything was given up.
        nearest: Where nothing reached the goal, the change that came nearest; ``None`` where none came nearer.
        loss: How near the best came, in [0, 1]; 1 is there.
        baseline: The unmutated prompt's answer, as plain data.
        answer: The best's answer, as plain data.
        ended: Why it ended.
        explanation: The same in a sentence.
        queries: How often a prompt was asked, the unmutated one included.
        found_at: By how many queries the goal was reached first; 0 where it was not.
        budget: How many there might have been.
        places: How many places of the prompt could change.
        method: The method's name.
        objective: The objective's name.
        target: The target's name.
        model: The model as answered; empty where none said.
        seed: Of what was drawn.
        trace: Queries after which the best was better.
        errors: How many queries got no answer.
        notes: Sentences the person must see.
        spent: Calls, tokens, cost and seconds.
        quality: Measures of the changed prompt that were asked for, by name; ``NAME_before`` is the unmutated one's.
        prompts: How many changed prompts were answered.
    """

    counterexample: Counterexample | None
    first: Mutation | None
    nearest: Mutation | None
    loss: float
    baseline: Any
    answer: Any
    ended: Ended
    explanation: str
    queries: int
    found_at: int
    budget: int
    places: int
    method: str
    objective: str
    target: str
    model: str
    seed: int
    trace: tuple[Better, ...]
    errors: int
    notes: tuple[str, ...]
    spent: Spent
    quality: dict[str, float] = field(default_factory=dict)
    prompts: int = 0

    @property
    def found(self) -> bool:
        """Whether the goal was reached."""
        return self.counterexample is not None

    @property
    def conclusive(self) -> bool:
        """Whether it tells something.

        That is: something was found; or nothing was, it was not cut short, most of what was asked was answered, and
        that was all there is to ask, or 10 changed prompts at the least.
        """
        if self.found:
            return True
        if self.ended not in {"queries-spent", "exhausted"} or 2 * self.errors > self.queries:
            return False
        return self.prompts >= (1 if self.ended == "exhausted" else _LEAST)

    @property
    def mutation(self) -> Mutation | None:
        """The best change: the counterexample's, or the nearest."""
        return self.nearest if self.counterexample is None else self.counterexample.mutation

    @property
    def change_rate(self) -> float:
        """The share of words that the best change touches, 0 to 1."""
        return 0.0 if self.mutation is None else self.mutation.change_rate

    @property
    def words_changed(self) -> int:
        """How many words of the prompt it touches."""
        if self.mutation is None:
            return 0
        from pytest_promptfuzz.mutations.measuring import Tokens, touched_words

        return touched_words(self.mutation.edits, Tokens(self.mutation.original))

    def to_json(self) -> dict[str, Any]:
        """The same as JSON-able data."""
        spent = self.spent
        return {
            "found": self.found,
            "conclusive": self.conclusive,
            "counterexample": None if self.counterexample is None else self.counterexample.to_json(),
            "first": None if self.first is None else self.first.to_json(),
            "nearest": None if self.nearest is None else self.nearest.to_json(),
            "loss": self.loss,
            "baseline": self.baseline,
            "answer": self.answer,
            "ended": self.ended,
            "explanation": self.explanation,
            "queries": self.queries,
            "found_at": self.found_at,
            "budget": self.budget,
            "places": self.places,
            "prompts": self.prompts,
            "words_changed": self.words_changed,
            "change_rate": round(self.change_rate, 4),
            "method": self.method,
            "objective": self.objective,
            "target": self.target,
            "model": self.model,
            "seed": self.seed,
            "trace": [[step.query, round(step.loss, 6), step.reached] for step in self.trace],
            "errors": self.errors,
            "notes": list(self.notes),
            "calls": spent.calls,
            "hits": spent.hits,
            "cost": spent.cost,
            "seconds": round(spent.seconds, 3),
            "quality": dict(self.quality),
        }
