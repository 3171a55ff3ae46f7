"""Asking again before a test fails: which runs, how often, and whether their answers show that mutations matter.

A test about to fail is looked at up to four times, with 2, 4, 8 and 16 answers to the unmutated prompt. With each look
the mutations whose answers were not equivalent are asked again, too. Which ones these are was decided by the first
answers; so one test is over the later ones, of prompt and mutation alike, that the choice does not bias. Another one is
over the first answers of all mutations: it tells where every mutation breaks now and then. They share the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_promptfuzz.stats.scores import adjusted, floor_of, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from pytest_promptfuzz.stats.scores import Matrix
    from pytest_promptfuzz.stats.significance import Labelled


ENOUGH = 8
"""Answers to the unmutated prompt without which a floor excuses nothing: of three, one odd one makes it 1/3."""
LOOKS = (2, 4, 8, 16)
"""Answers to the unmutated prompt at each look."""
ALPHA = 0.05
"""How often a session of tests that nothing breaks may have one called brittle."""
EARLY = 0.25
"""The part of a test's error that may be made before its whole plan was asked."""
_MOST = 8  # mutations of a test with one input that are asked again
_MOST_OF_MANY = 16  # of a test with several
_CALLS = 47  # asked at least, even if the test itself made fewer: 15 of the prompt, 32 of mutations
_LATER = 0.8  # the part of the error that the test of later answers may make
_Z = 1.96


@dataclass(frozen=True, slots=True)
class RepeatRequest:
    """Runs to be made.

    Attributes:
        case: Of which input.
        mutation: Which of its mutations, by its place; ``None`` is the unmutated prompt.
        count: How many.
    """

    case: int
    mutation: int | None
    count: int


@dataclass(frozen=True, slots=True)
class RepeatEvidence:
    """What the answers say beyond the raw score.

    Attributes:
        floor: R_bb; ``None`` where the unmutated prompt was answered once.
        highest: The upper end of the floor's 95 % interval; ``None`` likewise.
        adjusted: R_adj; ``None`` where the floor is not known, or is 0.
        p: That labels alone give such a difference; ``None`` where nothing was tested.
        alpha: What ``p`` was held against, after its split over looks and tests.
        least: The smallest p that was attainable.
        confirmed: The score with each answer that was not equivalent replaced by what the mutation was answered when
            it was asked again, over the floor; ``None`` where nothing was asked again.
        lasting: Deviations that were not asked again, or deviated again: more often than not, or at all where so
            many answers to the unmutated prompt agree with each other that a floor of 1 counts.
        later: How far the later answers of the other mutations that were asked again agree with the unmutated
            prompt's, over the floor; ``None`` where there are none.
        baselines: Answers to the unmutated prompt, of the input with the fewest.
        answers: Answers to the unmutated prompt, of all inputs.
        repeats: Answers of mutations that were asked again, in all.
    """

    floor: Fraction | None = None
    highest: float | None = None
    adjusted: Fraction | None = None
    p: float | None = None
    alpha: float = ALPHA
    least: float | None = None
    confirmed: Fraction | None = None
    lasting: int = 0
    baselines: int = 1
    repeats: int = 0
    answers: int = 1
    later: Fraction | None = None

    @property
    def significant(self) -> bool:
        """Whether the labels matter."""
        return self.p is not None and self.p <= self.alpha


ALONE = RepeatEvidence()
"""Every prompt was asked once."""


def known(cases: Sequence[Matrix]) -> RepeatEvidence:
    """The evidence that is there without asking again."""
    return RepeatEvidence(
        floor_of(cases),
        _highest(cases),
        adjusted(cases),
        baselines=_baselines(cases),
        answers=_answers(cases),
    )


def escalate(
    cases: Sequence[Matrix],
    proves: Callable[[RepeatEvidence], bool],
    *,
    alpha: float = ALPHA,
    most: int = LOOKS[-1],
    steady: bool = False,
    seed: int = 0,
) -> Generator[list[RepeatRequest], None, RepeatEvidence]:
    """Ask again until that proves the test brittle, or the last look is done.

    Yields what is to be run; the answers are to be added to ``baseline`` and ``repeated`` of the matrices before it
    goes on. A run that came to nothing is left out.

    Args:
        cases: The inputs of one test.
        proves: Whether evidence makes the verdict brittle.
        alpha: The error allowed to this test, over all its looks.
        most: Answers to the unmutated prompt of each input at the last look.
        steady: Whether to leave off once the unmutated prompt does not agree with itself.
        seed: Of random labellings.
    """
    chosen = _chosen(cases)
    looks = [look for look in LOOKS if look <= most] or [most]
    looks = _affordable(cases, chosen, looks)
    usable = _usable(cases, chosen, looks, alpha)
    share = alpha / max(1, len(usable))
    p: float | None = None
    looked = False
    for look in looks:
        wanted = _wanted(cases, chosen, look)
        before = _size(cases)
        if wanted:
            yield wanted
            p = None
        if wanted and _size(cases) == before:
            if not looked:
                share = alpha  # the only test there will be: what a recording has of a test that passed, say
            break  # nothing came of it: more of the same would not help
        if steady and floor_of(cases) != 1:
            break
        if look in usable:
            looked = True
            p = _p(cases, seed, share)
            if p <= share and proves(found := _looked(cases, share, p)):
                return found
    return _looked(cases, share, _p(cases, seed, share) if p is None else p)


def _p(cases: Sequence[Matrix], seed: int, enough: float) -> float:
    """The smaller p of both tests, each with its part of the error."""
    from pytest_promptfuzz.stats.significance import p_value

    return min(1.0, *(p_value(each, seed=seed, enough=enough * part) / part for each, part in _tested(cases)))


def _tested(cases: Sequence[Matrix]) -> list[tuple[list[Labelled], float]]:
    """What the tests are over, and the part of the error that each may make."""
    first = [_first(case) for case in cases]
    later = [each for each in map(_later, cases) if each.mutated]
    if any(len(each.baseline) > 1 for each in later):
        return [(later, _LATER), (first, 1 - _LATER)]
    return [(first, 1.0)]


def _looked(cases: Sequence[Matrix], share: float, p: float) -> RepeatEvidence:
    from pytest_promptfuzz.stats.significance import smallest_p

    confirmed, lasting, later = _confirmed(cases)
    return RepeatEvidence(
        floor_of(cases),
        _highest(cases),
        adjusted(cases),
        p,
        share,
        min(1.0, *(smallest_p(each) / part for each, part in _tested(cases))),
        confirmed,
        lasting,
        _baselines(cases),
        sum(len(answers) for case in cases for answers in case.repeated.values()),
        _answers(cases),
        later,
    )


def _baselines(cases: Sequence[Matrix]) -> int:
    return min((len(case.baseline) for case in cases), default=0)


def _answers(cases: Sequence[Matrix]) -> int:
    return sum(len(case.baseline) for case in cases)


def _highest(cases: Sequence[Matrix]) -> float | None:
    """How high the floor may be: Wilson's upper bound for the share of the commonest answer, squared.

    The pairs of k answers are not independent; their commonest answer is a share of k. Two answers agree about as often
    as both are that one.
    """
    if floor_of(cases) is None:
        return None
    answers = sum(len(case.baseline) for case in cases)
    share = sum(float(case.commonest()) * len(case.baseline) for case in cases) / answers
    centre = share + _Z * _Z / (2 * answers)
    spread = _Z * math.sqrt(share * (1 - share) / answers + _Z * _Z / (4 * answers * answers))
    return ((centre + spread) / (1 + _Z * _Z / answers)) ** 2


def _confirmed(cases: Sequence[Matrix]) -> tuple[Fraction | None, int, Fraction | None]:
    """The score and the deviations that are left once what did not come again is taken for noise; and is it that?

    A mutation that changes nothing agrees as the unmutated prompt does with itself, when it is asked again. What was
    not asked again is taken to be like what was.
    """
    floor = floor_of(cases)
    asked: list[Fraction] = []
    others: list[Fraction] = []
    steady = floor == 1 and _baselines(cases) >= ENOUGH
    lost = Fraction(0)
    rest = lasting = whole = 0
    for case in cases:
        reference = case.usual() if case.baseline else 0
        for place, answers in enumerate(case.mutated):
            first = mean(case.between(case.baseline[0], each) for each in answers)
            whole += 1
            if first is None:
                continue
            if first == 1:
                # With an odd first answer it was not asked again, though it is as odd.
                if reference != case.baseline[0]:
                    usual = mean(case.between(reference, each) for each in answers)
                    lost += 0 if usual is None else 1 - usual
                continue
            again = case.agreement(case.repeated.get(place, ()))
            if again is None or not floor:
                rest += 1
                lasting += first == 0
                continue
            asked.append(1 - min(Fraction(1), again / floor))
            mostly = 2 * again < floor
            lasting += first == 0 and (mostly or (steady and again < 1))
            if not mostly:
                others.append(again / floor)
    if not asked:
        return None, lasting, None
    lost += sum(asked, Fraction(0)) * Fraction(len(asked) + rest, len(asked))
    return 1 - lost / whole, lasting, sum(others, Fraction(0)) / len(others) if others else None


def _later(case: Matrix) -> Labelled:
    """Later answers only: the first ones chose what was asked again."""
    from pytest_promptfuzz.stats.significance import Labelled

    again = tuple(each for place in sorted(case.repeated) for each in case.repeated[place])
    return Labelled(case.between, tuple(case.baseline[1:]), again)


def _first(case: Matrix) -> Labelled:
    """All answers to the unmutated prompt, and those of mutations that were not asked because of others."""
    from pytest_promptfuzz.stats.significance import Labelled

    return Labelled(case.between, tuple(case.baseline), tuple(each for one in case.mutated for each in one))


def _chosen(cases: Sequence[Matrix]) -> list[tuple[int, int]]:
    """The trials to ask again, worst first, from every input in turn."""
    ranked = []
    for number, case in enumerate(cases):
        if not case.baseline:
            continue
        first = case.baseline[0]
        credit = [mean(case.between(first, each) for each in answers) for answers in case.mutated]
        bad = sorted((value, place) for place, value in enumerate(credit) if value is not None and value < 1)
        ranked += [(turn, number, place) for turn, (_, place) in enumerate(bad)]
    most = _MOST if len(cases) == 1 else _MOST_OF_MANY
    return [(number, place) for _, number, place in sorted(ranked)[:most]]


def _times(look: int, chosen: int) -> int:
    """How often a mutation was asked again by a look: as many answers in all as the prompt has, or some more.

    The last look, at what is left in doubt, has twice as many, and no more.
    """
    if look == LOOKS[-1]:
        return max(1, 2 * look // max(1, chosen))
    return -(-look // max(1, chosen))


def _affordable(cases: Sequence[Matrix], chosen: Sequence[object], looks: Sequence[int]) -> list[int]:
    """The looks that ask no more than the test itself did, or than one input's would."""
    made = sum(1 + sum(map(len, case.mutated)) for case in cases)
    limit = max(_CALLS, made)
    most = [
        look for look in looks if len(cases) * (look - 1) + len(chosen) * _times(look, len(chosen)) <= limit
    ]
    return most or [looks[0]]


def _usable(
    cases: Sequence[Matrix], chosen: Sequence[tuple[int, int]], looks: Sequence[int], alpha: float
) -> list[int]:
    """The looks at which so many answers could be significant at all; the others take no share of alpha."""
    usable = list(looks)
    while usable:
        share = alpha / len(usable)
        able = [look for look in usable if _least(cases, chosen, look) <= share]
        if able == usable:
            break
        usable = able
    return usable


def _least(cases: Sequence[Matrix], chosen: Sequence[tuple[int, int]], look: int) -> float:
    times = _times(look, len(chosen))
    logarithm = 0.0
    for number, case in enumerate(cases):
        again = times * sum(each == number for each, _ in chosen)
        if again and look > 2:
            logarithm += math.log(math.comb(max(look, len(case.baseline)) - 1 + again, again))
    return math.exp(-logarithm)


def _wanted(cases: Sequence[Matrix], chosen: Sequence[tuple[int, int]], look: int) -> list[RepeatRequest]:
    wanted = [
        RepeatRequest(number, None, look - len(case.baseline))
        for number, case in enumerate(cases)
        if len(case.baseline) < look
    ]
    times = _times(look, len(chosen))
    return wanted + [
        RepeatRequest(number, place, missing)
        for number, place in chosen
        if (missing := times - len(cases[number].repeated.get(place, ()))) > 0
    ]


def _size(cases: Sequence[Matrix]) -> int:
    return sum(len(case.baseline) + sum(map(len, case.repeated.values())) for case in cases)
