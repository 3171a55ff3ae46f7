"""The judge that is a model: alignment of two answers, which is better, quality of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.judging.asking import Asker
from pytest_promptfuzz.judging.model import Rating
from pytest_promptfuzz.judging.replies import read_preference, read_rating
from pytest_promptfuzz.judging.wording import alignment, grading, pairwise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.judging.model import JudgedPair
    from pytest_promptfuzz.judging.wording import Question
    from pytest_promptfuzz.targets.model import Target

MOST_REPEATS = 15
_Said = TypeVar("_Said", int, str)
_SWAPPED = {"first": "second", "second": "first", "neither": "neither"}


class ModelJudge:
    """A judge that asks a model.

    Each pair is asked about in both orders, since models favour a place. Ratings that are one apart count as the worse;
    3 in one order and 1 in the other decide nothing. Under the relation ``not-worse`` the model is asked which answer
    is better.

    Args:
        target: ``"openai:…"``, ``"anthropic:…"``, ``"compatible:…"``, ``"simulated"``, a ``Target``, or a function,
            sync or async, that takes the question as text and returns the answer as text.
        repeats: How often each question is asked, 1 to 15; the median counts, of an even number the worse one.
        parameters: More for the request body, e.g. ``{"temperature": 0}``.

    Raises:
        UsageError: An argument out of range or of the wrong kind.
        ConfigurationError: No target, or one that cannot be loaded.
    """

    def __init__(
        self,
        target: str | Target | Callable[..., Any],
        *,
        repeats: int = 1,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(repeats, bool) or not isinstance(repeats, int) or not 1 <= repeats <= MOST_REPEATS:
            raise UsageError(
                f"a judge's repeats={repeats!r} must be a whole number from 1 to {MOST_REPEATS}."
            )
        self.repeats = repeats
        self._asker = Asker(target, parameters)

    def __repr__(self) -> str:
        return f"ModelJudge({self.name!r}, repeats={self.repeats})"

    @property
    def name(self) -> str:
        """The target's name."""
        return self._asker.name

    def rate(self, pair: JudgedPair) -> Rating:
        """How far the response agrees with the baseline.

        Returns:
            3 (the same), 2 (minor differences) or 1 (different); under ``not-worse`` 3 (as good or better) or 1.
            ``None`` where the two orders contradict each other.

        Raises:
            PartError: The model's answers cannot be used.
            TargetError: A call failed.
            ConfigurationError: The model lacks a key, an extra or a name.
        """
        return self._not_worse(pair) if pair.relation == "not-worse" else self._aligned(pair)

    def grade(self, measure: str, prompt: str, answer: str) -> int:
        """How good an answer is by one measure of ``wording.MEASURES``: 3 (good), 2 or 1 (poor).

        Raises:
            UsageError: There is no such measure.
            PartError, TargetError, ConfigurationError: As for ``rate``.
        """
        question = grading(measure, prompt, answer)
        return _median([self._asker.ask(question, read_rating)[0] for _ in range(self.repeats)])

    def close(self) -> None:
        """Close what it holds open; it can be asked again."""
        self._asker.close()

    def _aligned(self, pair: JudgedPair) -> Rating:
        shown, swapped = self._both(pair, alignment, read_rating)
        one, two = _median(shown.said), _median(swapped.said)
        orders = (tuple(shown.said), tuple(swapped.said))
        if abs(one - two) > 1:
            return Rating(None, f"{one} in one order and {two} in the other, which decides nothing", orders)
        worse = min(one, two)
        why = (shown if one == worse else swapped).why(worse)
        if one != two:
            why = f"{why} ({one} in one order, {two} in the other)"
        return Rating(worse, why, orders)

    def _not_worse(self, pair: JudgedPair) -> Rating:
        """3 where the response is as good or better, 1 where it is worse, in both orders."""
        shown, swapped = self._both(pair, pairwise, read_preference)
        seen = [_majority(shown.said), _SWAPPED[_majority(swapped.said)]]
        points = {"first": 1, "neither": 3, "second": 3}
        orders = (
            tuple(points[each] for each in shown.said),
            tuple(points[_SWAPPED[each]] for each in swapped.said),
        )
        if set(seen) == {"first"}:
            return Rating(1, f"the baseline is better: {shown.why('first')}", orders)
        if "first" not in seen:
            better = "second" in seen
            lead = "the response is better" if better else "the answers are equally good"
            return Rating(3, f"{lead}: {shown.why(_majority(shown.said))}", orders)
        return Rating(
            None, "the baseline is better in one order and not in the other, which decides nothing", orders
        )

    def _both(
        self,
        pair: JudgedPair,
        question: Callable[..., Question],
        read: Callable[[str], tuple[_Said, str]],
    ) -> tuple[_Order[_Said], _Order[_Said]]:
        first, second = (
            _Order([self._asker.ask(question(pair, swapped=swapped), read) for _ in range(self.repeats)])
            for swapped in (False, True)
        )
        return first, second


@dataclass(frozen=True, slots=True)
class _Order(Generic[_Said]):
    """What was said in one order, a repeat each, with its explanation."""

    answers: list[tuple[_Said, str]]

    @property
    def said(self) -> list[_Said]:
        return [said for said, _ in self.answers]

    def why(self, said: _Said) -> str:
        """The explanation of what was said; of a tie, the first."""
        return next((why for each, why in self.answers if each == said), self.answers[0][1])


def _median(ratings: Sequence[int]) -> int:
    """The middle one; of an even number the worse of the two in the middle."""
    return sorted(ratings)[(len(ratings) - 1) // 2]


def _majority(preferences: Sequence[str]) -> str:
    """What was said most often; where that is a tie, ``neither``."""
    counts = sorted((preferences.count(each), each) for each in set(preferences))
    tied = len(counts) > 1 and counts[-1][0] == counts[-2][0]
    return "neither" if tied else counts[-1][1]
