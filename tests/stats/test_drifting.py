"""Drift told from noise: how often it errs, what it sees, and how often it asks."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest

from pytest_promptfuzz.stats.regressions import Beside, compared
from pytest_promptfuzz.stats.significance import Labelled, p_value


def test_the_statistic_of_groups_that_are_alike_is_that_of_going_through_all_labellings():
    rng = random.Random(7)
    for _ in range(40):
        then, now = rng.randint(2, 4), rng.randint(1, 4)
        size = then + now
        table = {pair: rng.choice((10, 7, 0)) for pair in combinations(range(size), 2)}

        def between(one, other, table=table):
            return table[min(one, other), max(one, other)]

        def value(chosen, between=between, size=size):
            others = [each for each in range(size) if each not in chosen]

            def mean(pairs):
                found = [between(*pair) for pair in pairs]
                return sum(found) / len(found) if found else 10.0

            across = mean([(one, other) for one in chosen for other in others])
            return mean(combinations(chosen, 2)) + mean(combinations(others, 2)) - 2 * across

        seen = value(range(then))
        every = [value(chosen) for chosen in combinations(range(size), then)]
        expected = sum(each >= seen - 1e-9 for each in every) / len(every)
        case = Labelled(between, tuple(range(then)), tuple(range(then, size)))
        assert p_value([case], both=True) == pytest.approx(expected)


def driven(asking, answer=lambda look: None):
    """What a comparison comes to, each look answered."""
    try:
        while True:
            answer(next(asking))
    except StopIteration as stop:
        return stop.value


class World:
    """Answers drawn at random; equal ones agree."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.values = []
        self.calls = 0

    def draw(self, shares):
        self.values.append(self.rng.choices(range(len(shares)), shares)[0])
        return len(self.values) - 1

    def between(self, one, other):
        return 10 if self.values[one] == self.values[other] else 0

    def told(self, before, after, *, then=4, now=1, inputs=1, more=True):
        cases = [
            Beside(
                self.between, [self.draw(before) for _ in range(then)], [self.draw(after) for _ in range(now)]
            )
            for _ in range(inputs)
        ]

        def answer(look):
            assert more
            for each in cases:
                while len(each.now) < look:
                    each.now.append(self.draw(after))
                    self.calls += 1

        return driven(compared(cases, more=more, made=9 * inputs), answer)


def shares(agreement):
    """Two answers that come so that the model agrees with itself as often as that, then two it never gives."""
    most = (1 + math.sqrt(2 * agreement - 1)) / 2
    return [most, 1 - most, 0, 0]


def test_a_steady_model_costs_no_call_and_another_answer_is_told_by_three():
    world = World(1)
    assert world.told(shares(1.0), shares(1.0)).changed is False
    assert world.calls == 0
    told = world.told(shares(1.0), [0, 0, 1, 0])
    assert told.changed is True
    assert told.p == pytest.approx(2 / 70)
    assert world.calls == 3


def test_three_answers_of_a_recording_are_held_against_four_that_are_stored_and_tell():
    assert World(1).told(shares(1.0), [0, 0, 1, 0], now=3, more=False).changed is True
    unknown = World(1).told(shares(1.0), [0, 0, 1, 0], then=3, now=3, more=False)
    assert (unknown.changed, unknown.p) == (None, None)
    assert World(1).told(shares(1.0), [0, 0, 1, 0], now=1, more=False).changed is None
    assert World(1).told(shares(1.0), [0, 0, 1, 0], then=1).changed is None


def test_where_nothing_tells_two_answers_apart_they_are_neither_the_same_nor_others():
    looks = []
    blind = Beside(lambda *_: None, [0, 1, 2, 3], [4])
    told = driven(compared([blind], more=True), looks.append)
    assert (told.changed, told.undecided, looks) == (None, True, []), "asking again cannot help"
    same = Beside(lambda *_: 10, [0, 1, 2, 3], [4])
    beside = driven(compared([same, blind], more=True))
    assert (beside.changed, beside.undecided, beside.case) == (None, True, 1)
    other = Beside(lambda one, other: 10 * ((one < 4) == (other < 4)), [0, 1, 2, 3], [4, 5, 6, 7])
    assert driven(compared([blind, other], more=False)).changed is None, "one answer of the first is too few"
    seen = Beside(lambda *_: None, [0, 1, 2, 3], [4, 5, 6, 7])
    assert driven(compared([seen, other], more=False)).changed is True
    noisy = Beside(lambda one, other: 10 * ({one, other} != {3, 4}), [3, 3], [4, 5, 6, 7])
    unclear = driven(compared([seen, noisy], more=False))
    assert (unclear.changed, unclear.undecided, unclear.case) == (None, True, 0)


def test_answers_that_could_not_be_had_prove_nothing():
    looks = []
    case = Beside(lambda one, other: 10 * ((one < 4) == (other < 4)), [0, 1, 2, 3], [4])
    assert driven(compared([case], more=True), looks.append).changed is not True
    assert looks == [4, 8]


@pytest.mark.parametrize("inputs", [1, 4])
@pytest.mark.parametrize("agreement", [1.0, 0.9, 0.7, 0.5])
def test_noise_is_hardly_ever_called_drift_and_another_model_is(agreement, inputs):
    world = World(11)
    pairs = 400 if inputs == 1 else 100
    false = sum(
        world.told(shares(agreement), shares(agreement), inputs=inputs).changed is True for _ in range(pairs)
    )
    assert false / pairs <= 0.05
    other = [0, 0, *shares(agreement)[:2]]
    true = sum(world.told(shares(agreement), other, inputs=inputs).changed is True for _ in range(60))
    assert true / 60 >= 0.8


def test_one_of_many_inputs_that_changed_is_named():
    world = World(5)
    cases = [
        Beside(world.between, [world.draw([1, 0, 0, 0]) for _ in range(4)], [world.draw([1, 0, 0, 0])])
        for _ in range(5)
    ]
    world.values[cases[3].now[0]] = 2

    def answer(look):
        for place, each in enumerate(cases):
            while len(each.now) < look:
                each.now.append(world.draw([0, 0, 1, 0] if place == 3 else [1, 0, 0, 0]))

    told = driven(compared(cases, more=True, made=45), answer)
    assert (told.changed, told.case) == (True, 3)


def test_what_is_clearly_noise_after_three_more_answers_is_asked_no_further():
    values = ["a", "a", "b", "b", "c"]
    case = Beside(lambda one, other: 10 * (values[one] == values[other]), [0, 1, 2, 3], [4])
    looks = []

    def answer(look):
        looks.append(look)
        for each in "aab" if look == 4 else "bbab":
            values.append(each)
            case.now.append(len(values) - 1)

    assert driven(compared([case], more=True), answer).changed is False
    assert looks == [4]


def test_of_two_groups_of_one_size_each_labelling_has_a_twin():
    case = Beside(lambda one, other: 10 * ((one < 3) == (other < 3)), [0, 1, 2], [3, 4, 5])
    assert driven(compared([case], more=False, alpha=0.06)).changed is None
    assert driven(compared([case], more=False, alpha=0.1)).changed is True
