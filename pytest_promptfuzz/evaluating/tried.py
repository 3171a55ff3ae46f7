"""What a search has tried: each changed prompt, how often it reached the goal, and which were the best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_promptfuzz.searching.result import Better
from pytest_promptfuzz.searching.searching import Seen
from pytest_promptfuzz.searching.space import MASKED_BY

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.scoring.trial import Trial

_FEW = 5  # so few answers may all be alike by chance


@dataclass(slots=True)
class Known:
    """A changed prompt that was asked, and what came of it.

    Attributes:
        mutation: The change.
        trial: Its run, the last that reached the goal where any did.
        loss: Its loss.
        asked: How often it was asked.
        reached: How often it reached the goal.
    """

    mutation: Mutation
    trial: Trial
    loss: float
    asked: int = 0
    reached: int = 0


@dataclass(slots=True)
class Tried:
    """All of them.

    Attributes:
        start: What came of the unmutated prompt.
        known: By text.
        trace: Queries after which the best was better.
        first: The change that reached the goal first.
        first_at: By how many queries.
    """

    start: Seen = field(default_factory=lambda: Seen(0.0, reached=False))
    known: dict[str, Known] = field(default_factory=dict)
    trace: list[Better] = field(default_factory=list)
    first: Mutation | None = None
    first_at: int = 0

    @property
    def best_loss(self) -> float:
        """The highest loss so far."""
        return max([self.start.loss, *(each.loss for each in self.trace)])

    @property
    def all_alike(self) -> bool:
        """Whether every answer was as far from the goal as the unmutated prompt's."""
        return len(self.known) >= _FEW and all(each.loss == self.start.loss for each in self.known.values())

    def take(self, mutation: Mutation, trial: Trial, seen: Seen, query: int) -> Known | None:
        """Take down what came of a query; what masks words is a question, and is not kept."""
        if MASKED_BY in mutation.operators:
            return None
        known = self.known.setdefault(mutation.text, Known(mutation, trial, seen.loss))
        known.asked += 1
        if seen.loss > self.best_loss:
            self.trace.append(Better(query, seen.loss, seen.reached))
        if seen.reached:
            known.reached += 1
            known.trial, known.loss = trial, seen.loss
            if self.first is None:
                self.first, self.first_at = mutation, query
        return known

    def smallest(self, repeats: int) -> Known | None:
        """What reached the goal with the fewest words changed, of what was asked again so often that it is believed."""
        there = [each for each in self.known.values() if 2 * each.reached - each.asked > repeats]
        return min(there, key=lambda each: each.mutation.change_rate, default=None)

    def nearest(self) -> Known | None:
        """What came nearest; ``None`` where nothing came nearer than the unmutated prompt."""
        best = max(self.known.values(), key=lambda each: each.loss, default=None)
        return best if best is not None and best.loss > self.start.loss else None
