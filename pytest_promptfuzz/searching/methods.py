"""Search methods by name: sweep, beam annealing and what it is compared with, beams, greedy and random search."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.errors import UsageError, not_among
from pytest_promptfuzz.searching.search_loop import Additive
from pytest_promptfuzz.searching.space import DELETED, MASKED, with_choice

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from pytest_promptfuzz.randomness import Rng
    from pytest_promptfuzz.searching.search_loop import Asking, Method, Seen
    from pytest_promptfuzz.searching.space import Space, State

    Scored = tuple[State, float]


# Which places matter: each is masked, or left out, once.


def gains(space: Space, start: Seen, how: int) -> Generator[list[State], list[Seen], list[float]]:
    """How much loss masking (or deleting, as ``how`` says) each place alone gains; one question a place."""
    told = yield [with_choice(space.start, place, how) for place in range(len(space))]
    return [seen.loss - start.loss for seen in told]


def ranked(values: Sequence[float]) -> list[int]:
    """Indices of values, the highest first, of equal ones the first."""
    return sorted(range(len(values)), key=lambda each: (-values[each], each))


# The equations of beam-annealing search (BASFuzz, S3 of docs/operators.md), each a function.
#
# Losses are in [0, 1], higher is nearer to the goal. Where the paper's text and its equation differ, both are here.


_GRAIN = 1 << 32


def softmax(values: Sequence[float]) -> list[float]:
    """Shares of 1 that grow exponentially with the values."""
    top = max(values, default=0.0)
    weights = [math.exp(each - top) for each in values]
    total = math.fsum(weights)
    return [each / total for each in weights]


def importance(deltas: Sequence[float]) -> list[float]:
    """Eq. 9: how much each word matters, softmax(ΔL)·ΔL, where ΔL is the loss gained by masking it."""
    return [weight * delta for weight, delta in zip(softmax(deltas), deltas, strict=True)]


def acceptance(delta: float, temperature: float) -> float:
    """Eq. 12: the probability to take a candidate whose loss is ``delta`` higher; exp(ΔL/T) where it is no higher."""
    return 1.0 if delta > 0 else math.exp(delta / temperature)


def cooled(initial: float, cooling: float, step: int) -> float:
    """Eq. 13: the temperature at a step, T0 / (1 + γ ln(1 + t))."""
    return initial / (1.0 + cooling * math.log1p(step))


def shares(losses: Sequence[float]) -> list[float]:
    """Eq. 14: losses as shares of their sum; all alike where the sum is 0, for which the equation says 0/0."""
    total = math.fsum(losses)
    if total <= 0:
        return [1.0 / len(losses)] * len(losses) if losses else []
    return [each / total for each in losses]


def entropy(portions: Sequence[float], epsilon: float = 1e-10) -> float:
    """Eq. 15: Shannon's entropy of shares, in nats; ``epsilon`` keeps the logarithm of 0 away."""
    return -math.fsum(each * math.log(each + epsilon) for each in portions)


def widened(width: float, spread: float, *, least: int, most: int, step: float) -> float:
    """Eq. 16 as printed: max(bmin, min(bmax, b·(1 + H/bmax), b + σ)); it never narrows a beam."""
    return max(least, min(most, width * (1 + max(spread, 0.0) / most), width + step))


def adapted(width: float, spread: float, count: int, *, least: int, most: int, step: float) -> float:
    """As the text around Eq. 16 has it: the width goes with the entropy, up or down by at most ``step`` at once.

    Args:
        width: Before.
        spread: The entropy, in nats.
        count: Of how many losses; ln(count) is the most it can be.
        least: bmin.
        most: bmax.
        step: σ.
    """
    full = math.log(count) if count > 1 else 1.0
    wanted = least + (most - least) * min(1.0, max(spread, 0.0) / full)
    return max(least, min(most, width + step, max(width - step, wanted)))


def retention(best: float, losses: Sequence[float]) -> float:
    """Eq. 17: the soft retention probability of the best, exp(L*) / Σ exp(L), at most 1."""
    total = math.fsum(math.exp(each) for each in losses)
    return min(1.0, math.exp(best) / total) if total else 1.0


def elitism(base: float, kept: float) -> float:
    """Eq. 18: with what probability the best goes on, p0 + (1 - p0)·p*."""
    return base + (1.0 - base) * kept


def happens(probability: float, rng: Rng) -> bool:
    """Whether something of this probability happens."""
    return rng.below(_GRAIN) < probability * _GRAIN


def drawn(losses: Sequence[float], count: int, rng: Rng) -> list[int]:
    """Indices of ``count`` of the losses, drawn without replacement with weights exp(L), in the order drawn."""
    left = list(range(len(losses)))
    chosen: list[int] = []
    while left and len(chosen) < count:
        bounds = list(accumulate(math.exp(losses[each]) for each in left))
        point = rng.below(_GRAIN) / _GRAIN * bounds[-1]
        chosen.append(left.pop(min(bisect_right(bounds, point), len(left) - 1)))
    return chosen


# Greedy searches: over everything, or place by place in the order of importance.


@dataclass(frozen=True, slots=True)
class Beam:
    """Beam search: every change of every state of the beam is asked about, and the best states go on.

    Attributes:
        width: How many go on; 1 is greedy search.
    """

    width: int = 4

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        beam = [space.start]
        for _ in range(len(space)):
            steps = list(
                dict.fromkeys(
                    with_choice(state, place, number)
                    for state in beam
                    for place in range(len(space))
                    if not state[place]
                    for number in choices(space, place)
                )
            )
            told = yield steps
            if not steps:
                return
            beam = [steps[index] for index in ranked([seen.loss for seen in told])[: self.width]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Greedy search place by place, those first whose deletion (or masking) matters most.

    Attributes:
        how: ``DELETED`` or ``MASKED``.
    """

    how: int = DELETED

    def asks_first(self, space: Space) -> int:
        """How many questions come before any changed prompt."""
        return len(space)

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        values = yield from gains(space, start, self.how)
        yield from one_by_one(space, start, ranked(values))


@dataclass(frozen=True, slots=True)
class Pwws:
    """Probability weighted word saliency (Ren et al. 2019).

    Words are changed in the order of softmax(saliency by masking) times what the best substitute gains.
    """

    def asks_first(self, space: Space) -> int:
        """How many questions come before any changed prompt."""
        return len(space)

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        saliency = yield from gains(space, start, MASKED)
        singles = [(place, number) for place in range(len(space)) for number in choices(space, place)]
        told = yield [with_choice(space.start, place, number) for place, number in singles]
        best: dict[int, tuple[float, int]] = {}
        for (place, number), seen in zip(singles, told, strict=True):
            gain = seen.loss - start.loss
            if place not in best or gain > best[place][0]:
                best[place] = (gain, number)
        weights = softmax(saliency)
        order = ranked([weights[place] * best[place][0] for place in range(len(space))])
        state = space.start
        for place in order:
            state = with_choice(state, place, best[place][1])
            yield [state]


@dataclass(frozen=True, slots=True)
class TextFooler:
    """TextFooler (Jin et al. 2020): by importance of deletion, which counts a flip of the label more.

    At each place the substitutes are asked about in the order of their likeness to the word, so that the first that
    flips the label is the one most alike; otherwise the one with the highest loss is taken, if it gains anything.
    """

    def asks_first(self, space: Space) -> int:
        """How many questions come before any changed prompt."""
        return len(space)

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        told = yield [with_choice(space.start, place, DELETED) for place in range(len(space))]
        # What the other label gains is added where deletion flips (its Eq. 2); with two labels both gains are alike.
        values = [(seen.loss - start.loss) * (2 if seen.reached else 1) for seen in told]
        yield from one_by_one(space, start, ranked(values))


def one_by_one(space: Space, start: Seen, order: Sequence[int]) -> Asking:
    """Take at each place in order the best choice, if it gains anything beside those taken before."""
    state, loss = space.start, start.loss
    for place in order:
        steps = [with_choice(state, place, number) for number in choices(space, place)]
        told = yield steps
        best = ranked([seen.loss for seen in told])[0]
        if told[best].loss > loss:
            state, loss = steps[best], told[best].loss


def choices(space: Space, place: int) -> range:
    """The numbers of the choices at a place."""
    return range(1, len(space.places[place].choices) + 1)


# Beam-annealing search, as BASFuzz publishes it (S3 of docs/operators.md, Algorithm 1), each part switchable.


@dataclass(frozen=True, slots=True)
class BeamAnnealing:
    """Beam-annealing search. The defaults are the published ones (Table 1).

    Attributes:
        order: Places in the order of importance by masking (``"importance"``, Eq. 9), or as they stand (``"text"``).
        accept: A candidate is accepted by its loss against that of the unchanged prompt (``"original"``, Eq. 12 as
            printed, by which late rounds hardly ever reject), of the state it was made of (``"parent"``), or always.
        temperature: T0, above 0.
        cooling: γ of Eq. 13; 0 keeps the temperature.
        width: b0.
        least: bmin.
        most: bmax.
        step: σ.
        adapt: How the beam's width goes with the entropy: Eq. 16 as ``"printed"``, which only widens; ``"both"`` ways,
            as the text has it; or ``"fixed"``.
        elite: p0 of Eq. 18; ``None`` leaves elitism out.
        fill: The rest of the beam: ``"soft"`` sampling without replacement, or the ``"best"``.
        restarts: How often more the places are gone through, from the beam as it then is; the paper goes once.
    """

    order: Literal["importance", "text"] = "importance"
    accept: Literal["original", "parent", "always"] = "original"
    temperature: float = 1.0
    cooling: float = 0.3
    width: int = 2
    least: int = 2
    most: int = 6
    step: float = 1.0
    adapt: Literal["printed", "both", "fixed"] = "printed"
    elite: float | None = 0.9
    fill: Literal["soft", "best"] = "soft"
    restarts: int = 0

    def asks_first(self, space: Space) -> int:
        """How many questions come before any changed prompt."""
        return len(space) if self.order == "importance" else 0

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        order = list(range(len(space)))
        if self.order == "importance":
            order = ranked(importance((yield from gains(space, start, MASKED))))
        beam: list[Scored] = [(space.start, start.loss)]
        best, width = beam[0], float(self.width)
        for step, place in enumerate(order * (1 + self.restarts)):
            taken = yield from self._accepted(space, beam, place, start, rng, step)
            if not taken:
                continue
            best = max([best, *taken], key=lambda each: each[1])
            width = self._width(width, taken)
            beam = self._next(taken, best, round_half_up(width), rng)

    def _accepted(
        self, space: Space, beam: list[Scored], place: int, start: Seen, rng: Rng, step: int
    ) -> Generator[list[State], list[Seen], list[Scored]]:
        """The candidates of a place that annealing lets into the temporary beam (Eq. 10 to 13)."""
        made = {
            with_choice(state, place, number): loss
            for state, loss in beam
            for number in choices(space, place)
        }
        temperature = cooled(self.temperature, self.cooling, step)
        taken = []
        told = yield list(made)
        for (state, parent), seen in zip(made.items(), told, strict=True):
            against = start.loss if self.accept == "original" else parent
            if self.accept == "always" or happens(acceptance(seen.loss - against, temperature), rng):
                taken.append((state, seen.loss))
        return taken

    def _width(self, width: float, taken: list[Scored]) -> float:
        if self.adapt == "fixed":
            return width
        losses = [loss for _, loss in taken]
        spread = entropy(shares(losses))
        if self.adapt == "printed":
            return widened(width, spread, least=self.least, most=self.most, step=self.step)
        return adapted(width, spread, len(losses), least=self.least, most=self.most, step=self.step)

    def _next(self, taken: list[Scored], best: Scored, width: int, rng: Rng) -> list[Scored]:
        """The next beam: the best so far, perhaps, and others of the temporary beam (Eq. 17 and 18)."""
        kept: list[Scored] = []
        losses = [loss for _, loss in taken]
        if self.elite is not None and happens(elitism(self.elite, retention(best[1], losses)), rng):
            kept.append(best)
            taken = [each for each in taken if each[0] != best[0]]
            losses = [loss for _, loss in taken]
        wanted = width - len(kept)
        chosen = drawn(losses, wanted, rng) if self.fill == "soft" else ranked(losses)[:wanted]
        return kept + [taken[index] for index in chosen]


def round_half_up(width: float) -> int:
    """A width as a number of states: a width that grows by less than 1 must not be cut down for ever."""
    return int(width + 0.5)


# Random search: what any other method must beat.


_DRAWS_WITHOUT_NEWS = 200  # draws in a row that give nothing new, before the space counts as used up


@dataclass(frozen=True, slots=True)
class Random:
    """Each query changes a random number of random places at random."""

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (learns nothing)
        """See ``Method``."""
        places = range(len(space))
        had = {space.start}
        patience = _DRAWS_WITHOUT_NEWS
        batch: list[State] = []
        while patience:
            changed = set(rng.sample(places, 1 + rng.below(len(space))))
            state = tuple(rng.choice(choices(space, place)) if place in changed else 0 for place in places)
            if space.crowded:
                state = space.settled(state, rng.shuffled(places))
            if state in had or not space.allowed(state):
                patience -= 1
                continue
            had.add(state)
            patience = _DRAWS_WITHOUT_NEWS
            batch.append(state)
            if len(batch) == at_once:
                yield batch
                batch = []
        if batch:
            yield batch


# Our default: change every place at once, learn from each answer what helps, and give up what is not needed.
#
# Other methods ask what one word does before they change two. Here a question changes many places, so that ten
# questions have seen ten choices of each; what each does is worked out from all answers together (``Additive``), and
# the next question takes at each place the choice that is best in one of the ways in which it could be (Thompson
# sampling). What reaches the goal this way changes far too much: pruning gives that up.


_PATIENCE = (
    80  # steps away from what was asked before that lead nowhere new, before the space counts as used up
)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Sweep search.

    Attributes:
        sweeps: How many questions go round the choices of all places before what was learnt says which are asked.
        doubt: How far what is drawn may be from what is likeliest, in standard deviations of what could be true.
        unsure: The same where answers tell no more than the label.
    """

    sweeps: int = 2
    doubt: float = 0.4
    unsure: float = 1.0

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:
        """See ``Method``."""
        learned = Additive(space, start)
        had = {space.start}
        turns = [rng.shuffled(choices(space, place)) for place in range(len(space))]
        alone = _alone(space, rng)
        number = swept = 0
        while True:
            batch: list[State] = []
            while len(batch) < at_once:
                single = next(alone, None) if number % 2 else None
                number += 1
                if single is not None:
                    state = single
                elif swept < self.sweeps:
                    state = tuple(each[swept % len(each)] for each in turns)
                else:
                    learned.draw(rng, self.doubt if learned.telling else self.unsure)
                    state = tuple(learned.best(place) for place in range(len(space)))
                swept += single is None
                fresh = self._new(space, state, learned, rng, had)
                if fresh is None:
                    break
                had.add(fresh)
                batch.append(fresh)
            if not batch:
                return
            for state, seen in zip(batch, (yield batch), strict=True):
                learned.learn(state, seen)

    def _new(self, space: Space, state: State, learned: Additive, rng: Rng, had: set[State]) -> State | None:
        """The state within the limits, or one near it that was not asked about before."""
        for _ in range(_PATIENCE):
            held = self._held(space, self._roomy(space, state, rng), learned, rng)
            if held not in had and space.allowed(held):
                return held
            place = rng.below(len(space))
            state = with_choice(state, place, rng.below(len(space.places[place].choices) + 1))
        return None

    def _roomy(self, space: Space, state: State, rng: Rng) -> State:
        """A state whose choices do not clash: every other one keeps changes of the text at large, the others words."""
        if not space.crowded:
            return state
        order = rng.shuffled(range(len(space)))
        if rng.below(2):
            order.sort(key=lambda place: not space.places[place].wide)
        return space.settled(state, order)

    def _held(self, space: Space, state: State, learned: Additive, rng: Rng) -> State:
        """A state within the limits: places as they look helpful, others at random, as many as may change."""
        if space.most >= len(space.original.split()) or space.words(state) <= space.most:
            return state
        ranked = sorted(
            rng.shuffled([place for place, number in enumerate(state) if number]),
            key=lambda place: -learned.effect(place, state[place]),
        )
        return fitted(space, state, ranked)


def _alone(space: Space, rng: Rng) -> Iterator[State]:
    """Each change of the text at large by itself: beside others it would have little room, and there are few."""
    singles = [(place, number) for place in space.wide for number in choices(space, place)]
    for place, number in rng.shuffled(singles):
        yield with_choice(space.start, place, number)


def fitted(space: Space, state: State, order: Sequence[int]) -> State:
    """The choices of a state at the places in order, as far as the limits let them."""
    kept = space.start
    for place in order:
        more = (*kept[:place], state[place], *kept[place + 1 :])
        if space.words(more) <= space.most:
            kept = more
    return kept


# The other methods that BASFuzz is measured against, without what needs gradients or a model's inside.


@dataclass(frozen=True, slots=True)
class InTurn:
    """Place by place, the best choice of each: as they stand (MORPHEUS, Tan et al. 2020) or by importance (VFA).

    Attributes:
        by_importance: Whether those come first whose masking matters most.
    """

    by_importance: bool = False

    def asks_first(self, space: Space) -> int:
        """How many questions come before any changed prompt."""
        return len(space) if self.by_importance else 0

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        order = list(range(len(space)))
        if self.by_importance:
            order = ranked((yield from gains(space, start, MASKED)))
        yield from one_by_one(space, start, order)


@dataclass(frozen=True, slots=True)
class GreedyFuzz:
    """Fuzzing with a greedy search: random changes of the best prompt so far, of which the first better one is kept.

    Attributes:
        patience: How many changes in a row may be no better before the search ends.
    """

    patience: int = 200

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:
        """See ``Method``."""
        state, loss = space.start, start.loss
        left = self.patience
        while left > 0:
            batch = []
            for _ in range(at_once):
                place = rng.below(len(space))
                batch.append(with_choice(state, place, 1 + rng.below(len(space.places[place].choices))))
            told = yield batch
            best = ranked([seen.loss for seen in told])[0]
            left -= len(batch)
            if told[best].loss > loss:
                state, loss, left = batch[best], told[best].loss, self.patience


@dataclass(frozen=True, slots=True)
class BestFirst:
    """Best-first search over a beam (ABFS, Xiao et al. 2025): of all prompts known, those with the highest loss go on.

    Attributes:
        width: How many go on at once; one more after a round that gains nothing, one fewer after one that does.
        most: The most that do.
    """

    width: int = 2
    most: int = 6

    def asks_first(self, space: Space) -> int:
        """How many questions come before any changed prompt."""
        return len(space)

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        order = ranked(importance((yield from gains(space, start, MASKED))))
        open_ones: dict[State, tuple[float, int]] = {space.start: (start.loss, 0)}
        best, width = start.loss, self.width
        while open_ones:
            going = sorted(open_ones, key=lambda state: -open_ones[state][0])[:width]
            steps: dict[State, int] = {}
            for state in going:
                loss, depth = open_ones.pop(state)
                place = order[depth]
                steps |= {with_choice(state, place, number): depth + 1 for number in choices(space, place)}
                if depth + 1 < len(order):
                    open_ones[state] = (loss, depth + 1)  # it may pass this place by
            told = yield list(steps)
            losses = [seen.loss for seen in told]
            for (state, depth), loss in zip(steps.items(), losses, strict=True):
                if depth < len(order):
                    open_ones[state] = (loss, depth)
            gained = max(losses) > best
            best = max(best, *losses)
            width = max(1, width - 1) if gained else min(self.most, width + 1)


@dataclass(frozen=True, slots=True)
class Seq2Sick:
    """Seq2Sick (Cheng et al. 2020) without gradients: the changes that gain most alone are made together, few first."""

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        singles = [(place, number) for place in range(len(space)) for number in choices(space, place)]
        told = yield [with_choice(space.start, place, number) for place, number in singles]
        best: dict[int, tuple[float, int]] = {}
        for (place, number), seen in zip(singles, told, strict=True):
            gain = seen.loss - start.loss
            if place not in best or gain > best[place][0]:
                best[place] = (gain, number)
        state = space.start
        for place in sorted(best, key=lambda each: (-best[each][0], each)):
            state = with_choice(state, place, best[place][1])
            yield [state]


METHODS: Mapping[str, Method] = {
    "sweep": Sweep(),
    "beam-annealing": BeamAnnealing(),
    # Its ablations (BASFuzz, Table 4): without annealing (SA), without entropy-based pruning (EP), without both.
    "beam-annealing-no-sa": BeamAnnealing(accept="always"),
    "beam-annealing-no-ep": BeamAnnealing(adapt="fixed"),
    "beam-annealing-no-sa-ep": BeamAnnealing(accept="always", adapt="fixed"),
    "greedy": Beam(1),
    "deletion-greedy": Ranked(),
    "pwws": Pwws(),
    "textfooler": TextFooler(),
    "beam": Beam(),
    "random": Random(),
}
BASELINES: Mapping[str, Method] = {
    "abs": BeamAnnealing(accept="always", adapt="both", elite=1.0, fill="best"),
    "abfs": BestFirst(),
    "greedyfuzz": GreedyFuzz(),
    "morpheus": InTurn(),
    "vfa": InTurn(by_importance=True),
    "seq2sick": Seq2Sick(),
}
"""Methods that BASFuzz is compared with, beside those of ``METHODS``: for tables, not for finding the most."""
DEFAULT = "sweep"


def method_of(method: str | Method, where: str) -> Method:
    """The method of a name, or one of the user's own.

    Raises:
        UsageError: There is none of that name, or it cannot be called.
    """
    if isinstance(method, str):
        known = METHODS.get(method) or BASELINES.get(method)
        if known is None:
            raise UsageError(
                f"{where}: {not_among(f'the search method {method!r}', method, [*METHODS, *BASELINES])}"
            )
        return known
    if not callable(method):
        raise UsageError(f"{where}: the search method {method!r:.80} is neither a name nor a method.")
    return method
