"""The loop of every search: it asks what a method wants to know, within the budget, and prunes what was found.

Nothing is asked here: a generator yields texts and is sent what came of each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import mul
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.relay import relayed
from pytest_promptfuzz.searching.shrinker import BudgetSpent, KnownFailures, shrinking

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from pytest_promptfuzz.searching.space import Space, State

    Tried = Generator[list[State], list["Seen"], State]
    Asking = Generator[list[State], list["Seen"], None]
    Texts = Generator[list[str], list["Seen"], "Found"]


# What answers so far say each choice does, as if effects added up: a guess that tells what to ask next.
#
# A choice at a place does what any change does, what changing this place does, and something of its own. All three are
# taken for draws from normal distributions, and what is left of an answer for noise: Bayesian linear regression on the
# log-odds of the loss. What could be true, given the answers, is drawn exactly: something drawn without them, mended by
# what they say of it (Matheron's rule). An answer that says no more than the label is a bound; what it leaves open is
# drawn as well (Albert and Chib 1993).


_LEAST = 1e-4  # losses nearer to 0 or 1 are taken for that near
_FEWEST, _MOST = 48, 128  # answers that count: two for each choice; then the older half is forgotten
_GRAIN = 1 << 24
_NORMAL = NormalDist()
_SAFE = 1e-9

# In units of what an answer may differ; found on the sentences for tuning of benchmarks/search.
_MEAN = 0.2  # what a change does on average
_ANY = 0.3  # standard deviation of that
_PLACE = 1.0  # of what changing a place does beyond it
_OWN = 0.7  # of what a choice does beyond that
_NOISE = 0.5
_GOAL = 1.0  # where the label flips, if answers say no more than the label


class _PromptAnswer(NamedTuple):
    """What a prompt was answered.

    Attributes:
        places: Where it is changed.
        choices: What stands there, as places in the list of all choices.
        seen: The answer.
        told: Its distance from the start's, in log-odds of the loss.
        spread: How far it may be from the start, as a variance, before answers are known.
    """

    places: frozenset[int]
    choices: frozenset[int]
    seen: Seen
    told: float
    spread: float


class Additive:
    """Effects of choices, as far as answers tell; before the first draw none is known.

    Args:
        space: Whose choices.
        start: What the unchanged prompt was answered.

    Attributes:
        telling: Whether answers tell more than the label.
    """

    def __init__(self, space: Space, start: Seen) -> None:
        self.telling = False
        self._start = start
        ends = list(accumulate((len(place.choices) for place in space.places), initial=0))
        self._ranges = list(pairwise(ends))  # of each place's choices in the list of all
        self._place_of = [place for place, (low, high) in enumerate(self._ranges) for _ in range(low, high)]
        self._answers: list[_PromptAnswer] = []
        self._factor: list[
            list[float]
        ] = []  # of the answers' covariance, the lower triangle by rows (Cholesky)
        self._hidden: list[
            float
        ] = []  # how far each prompt is thought to be from the start, where only labels tell
        self._effects = [0.0] * ends[-1]
        self._most = min(max(_FEWEST, 2 * ends[-1]), _MOST)

    def learn(self, state: State, seen: Seen) -> None:
        """Take down an answer."""
        if len(self._answers) >= self._most:
            kept = self._answers[self._most // 2 :]
            self._answers, self._factor, self._hidden = [], [], []
            for each in kept:
                self._add(each)
        changed = [(place, number) for place, number in enumerate(state) if number > 0]
        answer = _PromptAnswer(
            frozenset(place for place, _ in changed),
            frozenset(self._ranges[place][0] + number - 1 for place, number in changed),
            seen,
            _log_odds(seen.loss) - _log_odds(self._start.loss),
            (_ANY * len(changed)) ** 2 + (_PLACE**2 + _OWN**2) * len(changed),
        )
        self._add(answer)
        self.telling = self.telling or (seen.loss != self._start.loss and not seen.reached)

    def _add(self, answer: _PromptAnswer) -> None:
        line = self._forward([_covariance(answer, other) for other in self._answers])
        line.append(math.sqrt(answer.spread + _NOISE**2 - sum(map(mul, line, line))))
        self._factor.append(line)
        self._answers.append(answer)
        self._hidden.append(_GOAL + _NOISE if answer.seen.reached else 0.0)

    def draw(self, rng: Rng | None, doubt: float = 1.0) -> None:
        """Draw effects that could be the true ones.

        Args:
            rng: What draws; ``None`` for the likeliest effects.
            doubt: How far from the likeliest, in standard deviations of what could be true.
        """
        usual = _MEAN + _normal(rng, _ANY * doubt)
        at_places = [usual + _normal(rng, _PLACE * doubt) for _ in self._ranges]
        effects = [at_places[place] + _normal(rng, _OWN * doubt) for place in self._place_of]
        scale, told = self._told()
        missed = [
            y - sum(map(effects.__getitem__, answer.choices)) - _normal(rng, _NOISE * doubt)
            for y, answer in zip(told, self._answers, strict=True)
        ]
        shared = 0.0
        by_place = [0.0] * len(self._ranges)
        for weight, answer in zip(self._backward(self._forward(missed)), self._answers, strict=True):
            shared += weight * len(answer.places)
            for place in answer.places:
                by_place[place] += weight
            for choice in answer.choices:
                effects[choice] += _OWN**2 * weight
        by_place = [_ANY**2 * shared + _PLACE**2 * each for each in by_place]
        self._effects = [
            scale * (by_place[place] + each) for place, each in zip(self._place_of, effects, strict=True)
        ]
        if not self.telling:
            means = [sum(map(self._effects.__getitem__, answer.choices)) for answer in self._answers]
            self._hidden = [
                mean + _NOISE * _beyond((_GOAL - mean) / _NOISE, answer.seen.reached, rng)
                for mean, answer in zip(means, self._answers, strict=True)
            ]

    def _told(self) -> tuple[float, list[float]]:
        """The unit of effects, and how far each answer is from the start's in it."""
        if not self.telling:
            return 1.0, self._hidden
        told = [answer.told for answer in self._answers]
        scale = math.sqrt(sum(map(mul, told, told)) / sum(answer.spread for answer in self._answers))
        return scale, [each / scale for each in told] if scale else told

    def _forward(self, values: Sequence[float]) -> list[float]:
        """What the factor makes these values of."""
        solved: list[float] = []
        for line, value in zip(self._factor, values, strict=True):
            solved.append((value - sum(map(mul, line, solved))) / line[-1])
        return solved

    def _backward(self, values: Sequence[float]) -> list[float]:
        """What the transposed factor makes these values of."""
        left = list(values)
        solved: list[float] = []
        for line in reversed(self._factor):
            last = left.pop() / line[-1]
            solved.append(last)
            left = [value - each * last for value, each in zip(left, line, strict=False)]
        return solved[::-1]

    @property
    def needed(self) -> float:
        """How far a prompt must get, at least: farther than any that did not reach the goal."""
        if not self.telling:
            return _GOAL
        return max((answer.told for answer in self._answers if not answer.seen.reached), default=0.0)

    def effect(self, place: int, number: int) -> float:
        """What a choice at a place does, as drawn last."""
        return self._effects[self._ranges[place][0] + number - 1] if number > 0 else 0.0

    def best(self, place: int) -> int:
        """The choice at a place that does most, as drawn last; 0 where none helps."""
        low, high = self._ranges[place]
        effects = self._effects[low:high]
        most = max(effects)
        return 1 + effects.index(most) if most > 0 else 0


def _covariance(one: _PromptAnswer, other: _PromptAnswer) -> float:
    """How two prompts' distances from the start go together."""
    return (
        _ANY**2 * len(one.places) * len(other.places)
        + _PLACE**2 * len(one.places & other.places)
        + _OWN**2 * len(one.choices & other.choices)
    )


def _normal(rng: Rng | None, deviation: float) -> float:
    """A draw of a normal distribution around 0; 0 where nothing draws."""
    if rng is None:
        return 0.0
    return deviation * _NORMAL.inv_cdf((rng.below(_GRAIN) + 0.5) / _GRAIN)


def _beyond(bound: float, above: bool, rng: Rng | None) -> float:
    """A draw of the standard normal distribution above or below a bound; its median there where nothing draws."""
    below = _NORMAL.cdf(bound)
    low, high = (below, 1.0) if above else (0.0, below)
    share = 0.5 if rng is None else (rng.below(_GRAIN) + 0.5) / _GRAIN
    return _NORMAL.inv_cdf(min(max(low + share * (high - low), _SAFE), 1 - _SAFE))


def _log_odds(loss: float) -> float:
    held = min(max(loss, _LEAST), 1 - _LEAST)
    return math.log(held / (1 - held))


# Giving up what a found state does not need: fewer places changed, until each that is left is needed.


_DOUBT = (
    0.4  # of what choices do, in standard deviations, so that guesses differ; it grows with each that misses
)
_MANY = 10  # more changes than that are halved before any is guessed
_MISSES = 40  # guesses in a row that miss, before changes are given up one by one


def pruning(state: State, learned: Additive, rng: Rng) -> Tried:
    """Make a state that reaches the goal as small as it can be.

    First the choices that help most, whether or not they are in it, as few as ought to reach the goal; then each
    change that is left is given up in turn, the least helpful first. Every answer teaches what to try next. Yields
    states to be tried, is sent what came of each, and returns a state whose every change is needed.

    Args:
        state: What reaches the goal.
        learned: What choices are thought to do.
        rng: What draws, so that guesses differ.
    """
    misses = _MISSES
    if _size(state) > _MANY:
        state = yield from _halved(state, learned)
        misses = (
            _MISSES if learned.telling else _MANY
        )  # where answers say no more than the label, guesses are poor
    while True:
        kept = yield from _guessed(state, learned, rng, misses)
        kept = yield from _without(kept, learned)
        if _size(kept) == _size(state):
            return kept
        state = kept


def _halved(state: State, learned: Additive) -> Tried:
    """What is needed of a state, by divide and conquer: about 2k log2(n/k) questions for k of n changes."""
    learned.draw(None)
    changed = [place for place, number in enumerate(state) if number]
    places = sorted(changed, key=lambda place: (-learned.effect(place, state[place]), place))
    asked = KnownFailures()
    asked.learn(frozenset(range(len(places))), fails=True)

    def only(parts: Iterable[int]) -> State:
        kept = {places[part] for part in parts}
        return tuple(number if place in kept else 0 for place, number in enumerate(state))

    def reached(sets: list[frozenset[int]]) -> Generator[list[State], list[Seen], list[bool]]:
        told = yield [only(parts) for parts in sets]
        for parts, seen in zip(sets, told, strict=True):
            learned.learn(only(parts), seen)
        return [seen.reached for seen in told]

    found = yield from relayed(shrinking(len(places), asked=asked), reached)
    return only(found.kept)


def _guessed(state: State, learned: Additive, rng: Rng, most: int) -> Tried:
    """A smaller state of the choices that help most, if one is found before too many guesses miss."""
    misses = 0
    tried = {state}
    while misses < most:
        learned.draw(rng if misses else None, _DOUBT * (1 + misses / 10))
        guess = _guess(state, learned)
        if guess in tried or not any(guess):
            misses += 1
            continue
        tried.add(guess)
        if (yield from _asked([guess], learned)):
            state, misses = guess, 0
        else:
            misses += 1
    return state


def _guess(state: State, learned: Additive) -> State:
    """The fewest of the most helpful choices that ought to reach the goal, but fewer than a state has."""
    best = [learned.best(place) for place in range(len(state))]
    effects = [(learned.effect(place, number), place, number) for place, number in enumerate(best)]
    kept = [0] * len(state)
    left = learned.needed
    for effect, place, number in sorted(effects, key=lambda each: (-each[0], each[1]))[: _size(state) - 1]:
        if number:
            kept[place] = number
            left -= effect
            if left <= 0:
                break
    return tuple(kept)


def _without(state: State, learned: Additive) -> Tried:
    """A state of which no change can be given up."""
    smaller = True
    while smaller and _size(state) > 1:
        smaller = False
        learned.draw(None)
        changed = [place for place, number in enumerate(state) if number]
        for place in sorted(changed, key=lambda each: (learned.effect(each, state[each]), -each)):
            if _size(state) > 1 and (
                yield from _asked([without := (*state[:place], 0, *state[place + 1 :])], learned)
            ):
                state = without
                smaller = True
    return state


def _asked(states: list[State], learned: Additive) -> Generator[list[State], list[Seen], bool]:
    (seen,) = yield states
    learned.learn(states[0], seen)
    return seen.reached


def _size(state: State) -> int:
    return sum(number != 0 for number in state)


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
        while True:  # not relayed: where the budget ends, what prunes is not to make do with what it has
            told = yield from asker.answers(wanted, stop=False)
            reached = [state for state, seen in zip(wanted, told or (), strict=True) if seen.reached]
            best = min([best, *reached], key=asker.space.words)
            wanted = steps.send(told or [])
    except StopIteration as stop:
        return stop.value, True
    except BudgetSpent:
        return best, False
