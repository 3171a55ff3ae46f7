"""`Search`: what a search found; metrics over several searches; `Transfer`: finds asked of another target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.stats.intervals import share_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.results.counterexamples import Counterexample
    from pytest_promptfuzz.results.trials import Spent


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
        from pytest_promptfuzz.mutations.engine.edits import Tokens, touched_words

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


# What several searches come to: how often they found something, how little it took, and at what price.


@dataclass(frozen=True, slots=True)
class Middle:
    """Of some figures the mean and the median."""

    mean: float
    median: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Middle | None:
        """Of at least one; ``None`` of none."""
        return cls(fmean(figures), median(figures)) if figures else None


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of S3, over searches that told something.

    Attributes:
        searches: How many told something: found a change, or asked what was allowed and found none.
        found: How many of them found one.
        untold: How many told nothing, and count nowhere: noisy, interrupted, a target that failed.
        success_rate: Found of searches, 0 to 1; ``None`` of none.
        interval: Where the rate lies at 95 % (Wilson); ``None`` of none.
        change_rate: Of the finds: the share of words that they change, 0 to 1.
        words: Of the finds: how many words.
        queries: Of all: how often a prompt was asked, making the find smaller included.
        found_at: Of the finds: by which query.
        seconds: Of all: how long they took; stored answers take none.
        cost: US dollars of all together; ``None`` where no price is known.
        quality: Of the finds: what measures say, by name, as means; those that were not measured are left out.
    """

    searches: int
    found: int
    untold: int
    success_rate: float | None
    interval: tuple[float, float] | None
    change_rate: Middle | None
    words: Middle | None
    queries: Middle | None
    found_at: Middle | None
    seconds: Middle | None
    cost: float | None
    quality: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The same as JSON-able data."""
        return {**asdict(self), "interval": None if self.interval is None else list(self.interval)}


def search_metrics(searches: Iterable[Search]) -> Metrics:
    """The metrics of several searches.

    Args:
        searches: Of one method on several prompts or inputs. Two methods' figures are compared by
            :func:`~pytest_promptfuzz.stats.significance.mann_whitney`.

    Raises:
        UsageError: There is none.
    """
    given = list(searches)
    if not given:
        raise UsageError("search_metrics: no search is given, so that there is nothing to measure.")
    told = [each for each in given if each.conclusive]
    finds = [each for each in told if each.found]
    costs = [each.spent.cost for each in given if each.spent.cost is not None]
    names = sorted({name for each in finds for name in each.quality})
    interval = share_interval(len(finds) / len(told), len(told)) if told else None
    return Metrics(
        searches=len(told),
        found=len(finds),
        untold=len(given) - len(told),
        success_rate=len(finds) / len(told) if told else None,
        interval=None if interval is None else (interval.low, interval.high),
        change_rate=Middle.of([each.change_rate for each in finds]),
        words=Middle.of([each.words_changed for each in finds]),
        queries=Middle.of([each.queries for each in told]),
        found_at=Middle.of([each.found_at for each in finds]),
        seconds=Middle.of([each.spent.seconds for each in told]),
        cost=sum(costs) if costs else None,
        quality={name: fmean(each.quality[name] for each in finds if name in each.quality) for name in names},
    )


# What measures say of the prompts that a search came to: how fluent they still are, how many errors they hold.


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


# ``Transfer``: whether changes that break one model's answers break another's.


@dataclass(frozen=True, slots=True)
class Transfer:
    """What became of found changes on another target.

    Attributes:
        target: Its name.
        asked: Each change that was asked there, as a search that had nothing else to try: ``found`` where it broke
            the answer there as well, more often than not when it was asked again.
        left_out: The IDs of changes of which nothing can be told there, and why: the unmutated prompt fails, or its
            answers vary.
    """

    target: str
    asked: tuple[Search, ...]
    left_out: tuple[tuple[str, str], ...]

    @property
    def broke(self) -> int:
        """How many broke the answer there as well."""
        return sum(each.found for each in self.asked)

    @property
    def rate(self) -> float | None:
        """The same as a share of those that were asked; ``None`` of none."""
        return self.broke / len(self.asked) if self.asked else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the rate lies at 95 % (Wilson); ``None`` of none."""
        if self.rate is None:
            return None
        found = share_interval(self.rate, len(self.asked))
        return found.low, found.high

    def to_json(self) -> dict[str, Any]:
        """The same as JSON-able data."""
        return {
            "target": self.target,
            "broke": self.broke,
            "of": len(self.asked),
            "rate": self.rate,
            "interval": None if self.interval is None else list(self.interval),
            "asked": [each.to_json() for each in self.asked],
            "left_out": [{"id": name, "why": why} for name, why in self.left_out],
        }
