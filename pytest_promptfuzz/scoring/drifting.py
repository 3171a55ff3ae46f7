"""Whether answers of today are others than those that were accepted: a decision about noise, and what is said of it.

Both are draws of one distribution where nothing changed, so that "then" and "now" are labels that may be exchanged
within each input. Answers are looked at up to three times, with 1, 4 and 8 of today; the error is split over the looks
at which so many could show anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.scoring.permutation import Labelled, p_value

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

Kind = Literal["model", "prompt", "comparator"]
POLICIES = ("fail", "warn", "ignore")
"""What drift may do to its test."""

ALPHA = 0.05
"""How often a test whose model is as it was may be said to have another."""
LOOKS = (1, 4, 8)
"""Answers of today, to each input, at each look."""
_SHARES = {1: 0.2, 4: 0.5, 8: 0.3}
_HOPELESS = 0.5  # a p above which more answers are not worth their calls
_CALLS = 47  # asked at least, even if the test itself made fewer


@dataclass(frozen=True, slots=True)
class Drift:
    """One way in which a test is not what its snapshot says; ``reporting.drift.DriftReport`` describes the fields."""

    kind: Kind
    policy: str
    message: str
    before: Any = None
    after: Any = None
    case: int | None = None
    p: float | None = None
    undecided: bool = False
    diff: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Beside:
    """The answers of one input, then and now.

    Attributes:
        between: The credit of two of them by number, in tenths; ``None`` where nothing tells.
        then: The numbers of those that were accepted.
        now: Those of today, in the order in which they came.
    """

    between: Callable[[int, int], int | None]
    then: Sequence[int]
    now: list[int] = field(default_factory=list)

    def agrees(self) -> bool | None:
        """Whether today's first answer is like one that was accepted; ``None`` where nothing tells."""
        known = [self.between(each, self.now[0]) for each in self.then]
        told = [each for each in known if each is not None]
        return any(told) if told else None


@dataclass(frozen=True, slots=True)
class Told:
    """What the answers say.

    Attributes:
        changed: Whether they are others; ``None`` where so few cannot tell, or nothing can.
        p: That noise alone makes them differ so; ``None`` where nothing was tested.
        case: The place of the input that shows it most.
        undecided: Whether it is ``None`` since nothing tells the answers to that input apart: more would not help.
    """

    changed: bool | None
    p: float | None = None
    case: int = 0
    undecided: bool = False


def compared(
    cases: Sequence[Beside], *, more: bool, made: int = 0, seed: int = 0, alpha: float = ALPHA
) -> Generator[int, None, Told]:
    """Say whether answers changed.

    Yields how many answers of today each input is to have; they are to be added before it goes on. A run that came to
    nothing is left out.

    Args:
        cases: The inputs of one test, each with an answer of today at least.
        more: Whether more may be asked.
        made: The calls that the test made by itself: it is asked no more than twice as many.
        seed: Of random labellings.
        alpha: The error that may be made.
    """
    agree = [each.agrees() for each in cases]
    if all(agree):
        return Told(changed=False)
    blind = None if None not in agree else Told(None, case=agree.index(None), undecided=True)
    if blind is not None and False not in agree:
        return blind
    told = yield from _tested(cases, agree.index(False), more=more, made=made, seed=seed, alpha=alpha)
    # An input whose answers nobody can tell apart is not taken for one that is answered as before.
    return told if told.changed or blind is None else blind


def _tested(
    cases: Sequence[Beside], worst: int, *, more: bool, made: int, seed: int, alpha: float
) -> Generator[int, None, Told]:
    """The same, where the first answer to an input, ``worst``, is none of those that were accepted."""
    if any(len(each.then) < 2 for each in cases):
        return Told(None)
    have = min(len(each.now) for each in cases)
    looks = _affordable(cases, made) if more else [min(have, LOOKS[-1])]
    shares = _shares(cases, looks, alpha)
    p: float | None = None
    for look, share in shares.items():
        if min(len(each.now) for each in cases) < look:
            yield look
        if not all(each.now for each in cases):
            return Told(None, p, worst)
        labelled = [Labelled(each.between, tuple(each.then), tuple(each.now[:look])) for each in cases]
        p = p_value(labelled, seed=seed, enough=share, both=True)
        if p <= share:
            return Told(changed=True, p=p, case=worst)
        if p > _HOPELESS:
            return Told(changed=False, p=p, case=worst)
    return Told(False if shares else None, p, worst)


def _affordable(cases: Sequence[Beside], made: int) -> list[int]:
    limit = max(_CALLS, made)
    return [look for look in LOOKS if sum(max(0, look - len(each.now)) for each in cases) <= limit]


def _shares(cases: Sequence[Beside], looks: Sequence[int], alpha: float) -> dict[int, float]:
    """The error that may be made at each look which could show anything; the others are left out."""
    usable = {look: _SHARES.get(look, 1.0) for look in looks}
    while usable:
        whole = sum(usable.values())
        shares = {look: alpha * part / whole for look, part in usable.items()}
        unable = {look: ratio for look, share in shares.items() if (ratio := _least(cases, look) / share) > 1}
        if not unable:
            return shares
        del usable[max(unable, key=lambda look: unable[look])]  # what it had may be enough for the next
    return {}


def _least(cases: Sequence[Beside], look: int) -> float:
    """The least p there can be: one labelling of all, or two where both groups are of one size."""
    logarithm = 0.0
    for each in cases:
        then = len(each.then)
        logarithm += math.log(math.comb(then + look, look) / (2 if then == look else 1))
    return math.exp(-logarithm)
