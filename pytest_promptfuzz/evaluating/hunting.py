"""What a search was asked for: its settings, read and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.objectives import Deviation, LabelFlip, Objective, objective_of
from pytest_promptfuzz.mutations.strata import strata_of
from pytest_promptfuzz.searching.methods import DEFAULT, method_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.evaluating.tried import Tried
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.mutations.strata import Selection
    from pytest_promptfuzz.searching.result import Ended
    from pytest_promptfuzz.searching.searching import Found, Method
    from pytest_promptfuzz.searching.space import Space

QUERIES = 200
MOST_QUERIES = 1_000_000
BATCH = 8
REPEATS = 5
"""Where a fifth of the answers reach the goal whatever is asked, one search of 200 queries in 25 would believe one; the
unmutated prompt, asked as often, ends most of these."""


@dataclass(frozen=True, slots=True)
class Hunting:
    """How a search goes about it.

    Attributes:
        method: How the space is searched.
        name: The method's name, for reports.
        objective: What is looked for.
        queries: How often a prompt may be asked, the unmutated one included, 1 or more.
        batch: How many are asked at once, 1 or more. It decides what is asked, so that a rerun asks the same; 1 asks
            least, more waits less.
        repeats: How much more often than not what reaches the goal must reach it again before it is believed, 0 or
            more; the unmutated prompt is then asked as often.
        baseline_runs: How often the unmutated prompt is asked, 1 or more.
        prune: Whether changes that the goal does not need are given up.
        operators: What may be done to the prompt; ``None`` is what a plan draws on.
        top: How many choices a place has at most.
        any_sense: Whether a word's substitutes are taken whatever part of speech it is.
        change_rate: The most words that may change, as a share.
        words: The same as a number; ``None`` sets no limit.
        cosine: How like the prompt's embedding the changed one's must be, -1 to 1; ``None`` for any.
        allows: The user's predicate of a mutation.
        seed: Of what is drawn.
        cost: US dollars that may be spent; ``None`` sets no limit.
        seconds: After which nothing more is asked; ``None`` sets no limit.
    """

    method: Method
    name: str = DEFAULT
    objective: Objective = field(default_factory=Deviation)
    queries: int = QUERIES
    batch: int = BATCH
    repeats: int = REPEATS
    baseline_runs: int = 2
    prune: bool = True
    operators: Selection = None
    top: int = 10
    any_sense: bool = False
    change_rate: float = 1.0
    words: int | None = None
    cosine: float | None = None
    allows: Callable[[Mutation], bool] | None = None
    seed: int = 0
    cost: float | None = None
    seconds: float | None = None

    @classmethod
    def of(
        cls, method: object = DEFAULT, objective: object = "deviation", *, where: str, **values: Any
    ) -> Hunting:
        """Read settings.

        Raises:
            UsageError: An unknown method or objective, a wrong type, or a value out of range.
        """
        chosen = method_of(method, where)  # type: ignore[arg-type]  # it looks for itself
        name = method if isinstance(method, str) else type(method).__name__
        made = cls(chosen, name, objective_of(objective, where), **values)
        strata_of(made.operators)  # an unknown one is said before anything is asked
        made._check(where)
        return made

    def left_to_search(self, made: int) -> int:
        """How many queries the method has, once so many were made; some are held back to ask the unmutated prompt."""
        left = max(0, self.queries - made)
        return left - min(self.repeats, left // 4)

    def said_of_the_budget(self, space: Space, made: int) -> list[str]:
        """What the person must know where the budget ends before any changed prompt is asked.

        Args:
            space: What is searched.
            made: How many queries were made.
        """
        first = getattr(self.method, "asks_first", lambda _: 0)(space)
        left = self.left_to_search(made)
        if first < left:
            return []
        if not first:
            return [
                f"queries={self.queries} holds no changed prompt beside the unmutated one; give at least {made + 10}"
            ]
        note = (
            f"{self.name} first asks {first} questions to learn which of {len(space)} places matter, and "
            f"queries={self.queries} leaves {left}: they buy no changed prompt. Give at least {made + first + 10}, or "
            "take the default method, which tries changes from the first query"
        )
        return [note]

    def _check(self, where: str) -> None:
        for name, least, most in (
            ("queries", 1, MOST_QUERIES),
            ("batch", 1, 1000),
            ("repeats", 0, 100),
            ("baseline_runs", 1, 100),
            ("top", 1, 1000),
        ):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise UsageError(
                    f"{where}: {name}={value!r:.80} must be a whole number from {least} to {most:,}."
                )
        if type(self.seed) is not int:
            raise UsageError(f"{where}: seed={self.seed!r:.80} must be a whole number.")
        if self.words is not None and (type(self.words) is not int or self.words < 1):
            raise UsageError(f"{where}: max_words={self.words!r:.80} must be a whole number of 1 or more.")
        for name, value, low, high, shown in (
            (
                "max_change_rate",
                self.change_rate,
                0.0,
                1.0,
                "above 0 and up to 1, the share of words that may change",
            ),
            ("max_cost", self.cost, 0.0, float("inf"), "above 0, in US dollars"),
            ("max_seconds", self.seconds, 0.0, float("inf"), "above 0"),
        ):
            if value is not None and not (_is_number(value) and low < value <= high and isfinite(value)):
                raise UsageError(f"{where}: {name}={value!r:.80} must be a number {shown}.")
        if self.cosine is not None and not (_is_number(self.cosine) and -1 <= self.cosine <= 1):
            raise UsageError(f"{where}: min_cosine={self.cosine!r:.80} must be a number from -1 to 1.")
        if self.allows is not None and not callable(self.allows):
            raise UsageError(f"{where}: allows={self.allows!r:.80} must be a function of a mutation.")
        for name in ("prune", "any_sense"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{where}: {name}={getattr(self, name)!r:.80} must be True or False.")


def ended_by(found: Found, made: int, settings: Hunting) -> tuple[Ended, str]:
    """Why a search that found nothing ended, by name and in a sentence."""
    if found.doubtful:
        said = "a change reached the goal, and could not be asked again often enough to be sure; give more queries="
        return "unconfirmed", said
    if not found.spent:
        return "exhausted", f"no change reached the goal, and {settings.name} had nothing more to ask"
    return "queries-spent", f"no change reached the goal in {made} queries"


def said_of_control(told: int, wanted: int) -> list[str]:
    """What the person must know where the unmutated prompt did not answer as often beside a find as it should have."""
    if told >= wanted:
        return []
    return [
        f"beside the find the unmutated prompt answered {told} of {wanted} times only: noise may pass for a find"
    ]


def said_of_answers(settings: Hunting, tried: Tried) -> list[str]:
    """What the person must know of the answers: where none told the search anything, or where they vary."""
    notes = []
    once = sum(each.reached > 0 and 2 * each.reached <= each.asked for each in tried.known.values())
    if once:
        notes.append(
            f"{once} changed prompt{'s' if once > 1 else ''} reached the goal and mostly did not when asked again: the "
            "answers vary"
        )
    # An answer that can only be right or wrong tells no more than that.
    if tried.all_alike and not isinstance(settings.objective, Deviation | LabelFlip):
        notes.append(
            f"the objective {settings.objective.name} gave {tried.start.loss:g} for every answer, so that no query "
            "told the search where to go on"
        )
    return notes


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float)
