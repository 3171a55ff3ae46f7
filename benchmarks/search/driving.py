"""Many searches side by side, so that a victim is asked about all their texts at once, and what became of each."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.searching.search_loop import Seen, searching

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from victims import Victim

    from pytest_promptfuzz.searching.search_loop import Found, Method
    from pytest_promptfuzz.searching.space import Space

    Ask = Callable[[Sequence[tuple[str, str]]], list[Seen]]


@dataclass(frozen=True, slots=True)
class Case:
    """What is attacked.

    Attributes:
        space: What may change.
        label: What the victim says of it, and should.
    """

    space: Space
    label: str


def judged_by(victim: Victim, feedback: str) -> Ask:
    """What tells a search what came of texts, each with the label that its sentence has.

    Args:
        victim: Who is asked.
        feedback: ``label``: only whether the label is another. ``confidence``: 1 minus how sure of it the victim is.
    """
    places = {label: place for place, label in enumerate(victim.labels)}

    def ask(asked: Sequence[tuple[str, str]]) -> list[Seen]:
        seen = []
        for (_, label), shares in zip(asked, victim.shares([text for text, _ in asked]), strict=True):
            right = shares[places[label]]
            reached = right < max(shares)
            seen.append(Seen(1 - right if feedback == "confidence" else float(reached), reached))
        return seen

    return ask


class Result(NamedTuple):
    """How one search ended.

    Attributes:
        found_at: By how many queries the goal was reached; 0 where it was not.
        queries: How often was asked in all.
        first: How many words were changed when it was reached, before anything was given up; 0 where it was not.
        words: How many are changed in the end; 0 where it was not reached.
        text: What reached it in the end; empty where nothing did.
    """

    found_at: int
    queries: int
    first: int
    words: int
    text: str


class Ran(NamedTuple):
    """How the searches of one method ended, in the order of the cases, and the processor's seconds that they took."""

    results: list[Result]
    seconds: float


def run(cases: Sequence[Case], ask: Ask, method: Method, *, queries: int, seed: int) -> Ran:
    """One search of each case. What the victim takes to answer is not in the seconds."""
    seconds = 0.0
    searches = [searching(case.space, method, queries=queries, seed=seed) for case in cases]
    ended: dict[int, Found] = {}
    sent: dict[int, list[Seen] | None] = dict.fromkeys(range(len(cases)))
    while sent:
        started = time.process_time()
        wanted: dict[int, list[str]] = {}
        for index, told in sent.items():
            try:
                wanted[index] = next(searches[index]) if told is None else searches[index].send(told)
            except StopIteration as stop:
                ended[index] = stop.value
        seconds += time.process_time() - started
        texts = [(text, cases[index].label) for index, batch in wanted.items() for text in batch]
        seen = iter(ask(texts))
        sent = {index: [next(seen) for _ in batch] for index, batch in wanted.items()}
    return Ran([_result(case.space, ended[index]) for index, case in enumerate(cases)], seconds)


def _result(space: Space, found: Found) -> Result:
    if found.first is None:
        return Result(0, found.queries, 0, 0, "")
    words = space.words(found.state)
    return Result(found.found_at, found.queries, space.words(found.first), words, space.text(found.state))


@dataclass(frozen=True, slots=True)
class Tried:
    """A method's searches of all cases, once for each seed.

    Attributes:
        runs: For each seed the results, in the order of the cases.
        seconds: The processor's, of all searches.
    """

    runs: list[list[Result]]
    seconds: float

    def flips(self, budget: int) -> list[float]:
        """For each case the share of seeds with which the goal was reached within a budget."""
        return [
            mean(0 < each.found_at <= budget for each in several) for several in zip(*self.runs, strict=True)
        ]

    def mostly(self, budget: int) -> list[bool]:
        """Whether it was with more than half of the seeds."""
        return [share > 0.5 for share in self.flips(budget)]

    @property
    def asked(self) -> list[int]:
        """Of all searches, how many queries it took to reach the goal, or to give up."""
        return [each.found_at or each.queries for results in self.runs for each in results]

    @property
    def overhead(self) -> float:
        """Seconds of the processor for each query, apart from the victim's."""
        return self.seconds / sum(each.queries for results in self.runs for each in results)
