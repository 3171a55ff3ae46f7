"""The way of every search: what a method wants to know is asked within the budget, remembered, and the best is kept.

Nothing is asked here: a generator yields texts and is sent what came of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pytest_promptfuzz.mutations.rng import Rng, root_key
from pytest_promptfuzz.searching.additive import Additive
from pytest_promptfuzz.searching.asked import BudgetSpent
from pytest_promptfuzz.searching.pruning import pruning

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_promptfuzz.searching.space import Space, State

    Asking = Generator[list[State], list["Seen"], None]
    Texts = Generator[list[str], list["Seen"], "Found"]


_GIVEN_UP = 2  # so many more misses than hits, and a prompt is not asked again
_MOST_ASKED = 4  # times as many as are needed at least


class Seen(NamedTuple):
    """What came of a query.

    Attributes:
        loss: How near the answer is to the goal, in [0, 1].
        reached: Whether it is there.
        answered: Whether there was an answer at all; without one the query says nothing for or against.
    """

    loss: float
    reached: bool
    answered: bool = True


class Method(Protocol):
    """How a search goes about it. Stateless: what it learns of one prompt it does not take to another."""

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:
        """Yields states to be asked about, those that do not depend on each other in one batch; is sent what came.

        It may yield a state again, which costs nothing. It is closed once the goal is reached, or nothing is left.

        Args:
            space: What may change.
            start: What came of the unchanged prompt.
            rng: For whatever is drawn.
            at_once: How many are asked at once: one that could learn after each answer may as well yield so many.
        """


@dataclass(frozen=True, slots=True)
class Found:
    """How a search ended.

    Attributes:
        state: What reached the goal, or what came nearest; that of the unchanged prompt where nothing came nearer.
        loss: Its loss, in [0, 1].
        reached: Whether the goal was reached.
        minimal: Whether giving up any one change was seen to miss the goal.
        queries: How often was asked, the unchanged prompt included.
        found_at: By how many queries the goal was reached first; 0 where it was not.
        first: What reached it then, before anything was given up; ``None`` where nothing did.
        doubtful: Whether something reached the goal and could not be asked again as often as it takes to believe it.
        spent: Whether the budget ended it, and the method had more to ask.
    """

    state: State
    loss: float
    reached: bool
    minimal: bool
    queries: int
    found_at: int
    first: State | None
    doubtful: bool = False
    spent: bool = False


class _Asker:
    """Asks for states within a budget, and remembers."""

    def __init__(self, space: Space, queries: int, at_once: int, confirm: int) -> None:
        self.space = space
        self.confirm = confirm
        self.held = 0
        self.twice = False
        self.doubtful = False
        self.left = queries
        self.asked = 0
        self.at_once = at_once
        self.start = Seen(0.0, reached=False)
        self.best: tuple[float, State] = (0.0, space.start)
        self.goal: State | None = None
        self.seen: list[tuple[State, Seen]] = []
        self.repeats: dict[str, tuple[int, int]] = {}
        self.unanswered = 0
        self._known: dict[str, Seen] = {}

    def first(self) -> Generator[list[str], list[Seen], Seen]:
        """What the unchanged prompt is answered."""
        self._count(1)
        (self.start,) = yield [self.space.original]
        self._known[self.space.original] = self.start
        self.best = (self.start.loss, self.space.start)
        return self.start

    def answers(
        self, states: list[State], *, stop: bool = True
    ) -> Generator[list[str], list[Seen], list[Seen] | None]:
        """What came of each state; ``None`` once one reaches the goal and ``stop`` says that this is the end.

        Raises:
            BudgetSpent: Not all could be asked.
        """
        told: list[Seen | None] = [None] * len(states)
        waiting: dict[str, list[int]] = {}
        for index, state in enumerate(states):
            if not self.space.allowed(state):
                told[index] = self.start
                continue
            text = self.space.text(state)
            known = self._known.get(text)
            # What was only a question (a word left out) may be what an operator makes: then it is asked as such.
            unasked = known is not None and known.reached and text not in self.repeats and min(state) >= 0
            if known is not None and not unasked:
                told[index] = known
            else:
                waiting.setdefault(text, []).append(index)
        texts = list(waiting)
        while texts:
            room = min(self.at_once, self.left - self.held)
            if room < 1:
                raise BudgetSpent
            batch, texts = texts[:room], texts[room:]
            for text, once in zip(batch, (yield from self._asked(batch)), strict=True):
                state = states[waiting[text][0]]
                seen = once
                if once.reached and min(state) >= 0 and not (stop and self.goal is not None):
                    seen = yield from (self.believed(text, once) if stop else self._again(text, once))
                self._known[text] = seen
                for index in waiting[text]:
                    told[index] = seen
                self._note(state, seen)
            if stop and self.goal is not None:
                return None
        return [each if each is not None else self.start for each in told]

    def believed(self, text: str, once: Seen) -> Generator[list[str], list[Seen], Seen]:
        """Ask again what reached the goal, until it did so ``confirm`` times more often than not.

        Of hundreds of prompts that are tried, a rare answer makes many reach the goal once. This is Wald's probability
        ratio test of "a fifth of its answers reach it" against "four fifths do", without the answer that it was chosen
        for; what misses twice more often than it reaches is given up.
        """
        told = [once]
        lead = asked = 0
        while -_GIVEN_UP < lead < self.confirm and asked < _MOST_ASKED * self.confirm:
            times = min(self.confirm - lead, self.left)
            if not times:
                break
            asked += times
            again = [each for each in (yield from self._asked([text] * times)) if each.answered]
            told += again
            lead += sum(1 if each.reached else -1 for each in again)
        # Neither believed nor given up: what was lost, or is not left, might have told.
        undecided = -_GIVEN_UP < lead < self.confirm
        self.doubtful = self.doubtful or (undecided and (not self.left or len(told) <= asked))
        return self._taken(text, told, believed=lead >= self.confirm)

    def _again(self, text: str, once: Seen) -> Generator[list[str], list[Seen], Seen]:
        """The same while a find is made smaller: what is left in the end is asked again as often as the find was."""
        times = min(2, self.left - self.held) if self.twice else 0
        again = (yield from self._asked([text] * times)) if times > 0 else []
        return self._taken(text, [once, *again], believed=all(each.reached for each in again))

    def _asked(self, texts: list[str]) -> Generator[list[str], list[Seen], list[Seen]]:
        self._count(len(texts))
        told = yield texts
        self.unanswered += sum(not each.answered for each in told)
        return told

    def _taken(self, text: str, told: list[Seen], *, believed: bool) -> Seen:
        self.repeats[text] = (sum(each.reached for each in told), len(told))
        mean = sum(each.loss for each in told) / len(told)
        self._known[text] = told[0] if believed else Seen(mean, reached=False)
        return self._known[text]

    def forget_singles(self) -> None:
        """Forget what reached the goal and was asked once only."""
        for text, times in list(self.repeats.items()):
            if times == (1, 1):
                del self.repeats[text], self._known[text]

    def known(self, state: State) -> Seen:
        """What came of a state that was asked about."""
        return self._known[self.space.text(state)]

    def _note(self, state: State, seen: Seen) -> None:
        self.seen.append((state, seen))
        if min(state, default=0) < 0:
            return  # masked: an answer to a question, not a prompt that anybody would write
        if seen.reached and self.goal is None:
            self.goal = state
        if seen.loss > self.best[0]:
            self.best = (seen.loss, state)

    def _count(self, number: int) -> None:
        self.left -= number
        self.asked += number


def searching(
    space: Space,
    method: Method,
    *,
    queries: int,
    seed: int = 0,
    at_once: int = 1,
    prune: bool = True,
    confirm: int = 0,
    spare: int = 0,
) -> Texts:
    """Search a space for what reaches a goal.

    Args:
        space: What may change.
        method: How.
        queries: How often may be asked, 1 or more; the unchanged prompt comes first and counts.
        seed: Of whatever is drawn.
        at_once: The most texts in a batch; what is asked with the one that reaches the goal is paid for.
        prune: Spend what is left on giving up changes that the goal does not need.
        confirm: How much more often than not what reaches the goal must reach it again before it is believed. So many
            queries are held back for it.
        spare: How many queries more may be made once the goal is reached, to give up what it does not need.
    """
    asker = _Asker(space, queries, at_once, confirm)
    start = yield from asker.first()
    asker.held = max(0, min(confirm, asker.left - 1))
    try:
        if not start.reached and len(space):
            yield from _driven(
                method(space, start, Rng(root_key(seed, space.original), "search"), at_once), asker
            )
        spent = False
    except BudgetSpent:
        spent = True
    if asker.goal is None:
        loss, state = asker.best
        return Found(
            state, loss, start.reached, False, asker.asked, 0, None, doubtful=asker.doubtful, spent=spent
        )
    found_at = asker.asked
    first = state = space.settled(asker.goal)
    asker.left += spare
    minimal = False
    if prune:
        state, minimal = yield from _smaller(asker, first, Rng(root_key(seed, space.original), "prune"))
    return Found(state, asker.known(state).loss, True, minimal, asker.asked, found_at, first)


def _smaller(asker: _Asker, first: State, rng: Rng) -> Generator[list[str], list[Seen], tuple[State, bool]]:
    """What is left of a find, asked again as often as the find was; the find itself where nothing smaller holds."""
    whole = asker.space.text(first)
    for twice in (False, True):
        asker.twice = twice
        asker.held = min(asker.confirm, asker.left)
        lost = asker.unanswered
        state, minimal = yield from _pruned(asker, first, rng.child("twice" if twice else "once"))
        minimal = minimal and asker.unanswered == lost  # without an answer nothing was seen to miss the goal
        text = asker.space.text(state)
        if text == whole or not asker.confirm:
            return state, minimal
        seen = yield from asker.believed(text, asker.known(state))
        if seen.reached:
            return state, minimal
        # An answer misled: what reached the goal once on the way is asked twice more.
        asker.forget_singles()
    return first, False


def _driven(asking: Asking, asker: _Asker) -> Generator[list[str], list[Seen], None]:
    """Ask what a method wants to know, until it knows enough or the goal is reached."""
    try:
        states = next(asking)
        while True:
            told = yield from asker.answers(states)
            if told is None:
                return
            states = asking.send(told)
    except StopIteration:
        return
    finally:
        asking.close()


def _pruned(asker: _Asker, state: State, rng: Rng) -> Generator[list[str], list[Seen], tuple[State, bool]]:
    learned = Additive(asker.space, asker.start)
    for asked, seen in asker.seen:
        if min(asked) >= 0:
            learned.learn(asked, seen)
    steps = pruning(state, learned, rng)
    best = state
    try:
        wanted = next(steps)
        while True:
            told = yield from asker.answers(wanted, stop=False)
            reached = [state for state, seen in zip(wanted, told or (), strict=True) if seen.reached]
            best = min([best, *reached], key=asker.space.words)
            wanted = steps.send(told or [])
    except StopIteration as stop:
        return stop.value, True
    except BudgetSpent:
        return best, False
