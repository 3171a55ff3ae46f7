"""Flipped trials that are asked again: bounds by hand, p against enumeration and simulation, and who is asked what."""

from __future__ import annotations

import itertools
import random

import pytest

from pytest_promptfuzz.stats import flips
from pytest_promptfuzz.stats.flips import FLIP_SHARE, LOOKS, FlipShape, Look, chance

ALPHA = 0.05 * FLIP_SHARE
EIGHT = FlipShape(8)


def test_the_bound_is_as_reckoned_by_hand() -> None:
    assert chance(6) == pytest.approx(1 / 8 * (7 / 8) ** 7)
    assert [round(chance(each), 3) for each in (6, 16)] == [0.049, 0.021]
    assert round(chance(8, 1), 3) == 0.084
    assert 0.0003 < flips.p_of_count(8, 4, chance(6)) < 0.0004
    assert flips.p_of_count(8, 0, 0.3) == pytest.approx(1)


@pytest.mark.parametrize(
    ("repeats", "holds", "held", "failed"), [(4, 0, 1, 1), (8, 1, 1, 1), (8, 3, 2, 2), (18, 3, 1, 2)]
)
def test_no_flakiness_exceeds_the_bound(repeats: int, holds: int, held: int, failed: int) -> None:
    bound = chance(repeats, holds, held=held, failed=failed)
    reached = []
    for step in range(1, 400):
        q = step / 400
        kept = sum(
            flips.math.comb(repeats, each) * (1 - q) ** each * q ** (repeats - each)
            for each in range(holds + 1)
        )
        reached.append((1 - q) ** held * q**failed * kept)
    assert bound * 0.999 < max(reached) <= bound


def test_more_samples_of_the_base_prove_more() -> None:
    assert chance(6, held=2, failed=2) == pytest.approx(0.2**2 * 0.8**8)
    assert chance(6, held=2, failed=2) < chance(6) / 6


@pytest.mark.parametrize("holds", [[0], [0, 0], [0, 1], [1, 1, 1], [2, 0, 1]])
def test_p_of_a_look_is_that_of_every_way_in_which_trials_come_out(holds: list[int]) -> None:
    look, trials = Look(4, 1, 1.0), 4
    tails = [chance(4, each) for each in range(2)]
    scores = [flips._score(each) for each in tails]
    grades = [(0, 1 - tails[1]), (scores[1], tails[1] - tails[0]), (scores[0], tails[0])]
    reached = sum(scores[each] for each in holds if each < 2)
    expected = 0.0
    for way in itertools.product(grades, repeat=trials):
        if sum(score for score, _ in way) >= reached:
            expected += flips.math.prod(probability for _, probability in way)
    assert flips.p_at(look, holds, FlipShape(trials)) == pytest.approx(expected)


@pytest.mark.parametrize("q", [0.02, 0.2, 0.5, 0.8, 0.9, 0.95])
def test_unchanged_trials_of_any_flakiness_are_rarely_proven(q: float) -> None:
    rng = random.Random(f"flips {q}")
    pairs, alpha = 400, 0.2  # a wide level, so that few pairs suffice to see it exceeded
    proven = 0
    for _ in range(pairs):
        flipped = sum(rng.random() >= q and rng.random() < q for _ in range(8))
        again = [[rng.random() < q for _ in range(18)] for _ in range(flipped)]
        proven += flips.p_of(again, EIGHT) <= alpha
    assert proven / pairs <= alpha


def asked(sequences: list[list[bool]], **given: int) -> tuple[str, list[int]]:
    """Why asking ended, and how often each trial was asked."""
    again: list[list[bool]] = [[] for _ in sequences]
    steps = flips.asking(again, EIGHT, ALPHA / given.pop("tests", 1), **{"most": 90, "session": 900, **given})
    try:
        wanted = next(steps)
        while True:
            for flip, count in wanted:
                done = len(again[flip])
                again[flip] += sequences[flip][done : done + count]
            wanted = steps.send(None)
    except StopIteration as stop:
        return stop.value, [len(each) for each in again]


FAILS = [True] * 18


def test_half_of_eight_that_fail_for_good_take_sixteen_calls() -> None:
    assert asked([FAILS] * 4) == ("proven", [4] * 4)
    assert asked([FAILS] * 4, tests=50) == ("proven", [18] * 4)


def test_what_held_again_is_not_asked_any_more_and_noise_ends_the_asking() -> None:
    assert asked([[False] * 18] * 4) == ("noise", [4] * 4)
    assert asked([FAILS, FAILS, FAILS, [False, False, *FAILS]]) == ("proven", [18, 18, 18, 4])
    assert asked([FAILS, FAILS, [False, False, *FAILS]]) == ("noise", [4, 4, 4])
    assert asked([[True, True, False, *FAILS]] * 4)[0] == "proven"


def test_nothing_is_asked_that_could_prove_nothing() -> None:
    assert asked([FAILS] * 2) == ("too-few", [0, 0])
    assert flips.needed(EIGHT, ALPHA) == 3
    assert flips.needed(FlipShape(1), ALPHA) is None


def test_the_calls_of_test_and_session_bound_what_is_asked() -> None:
    assert asked([FAILS] * 3, most=20) == ("calls", [8, 8, 4])
    assert asked([FAILS] * 3, session=13) == ("session", [4, 4, 4])
    assert asked([FAILS] * 3, session=0) == ("session", [0, 0, 0])


def test_answers_that_do_not_come_end_the_asking() -> None:
    assert asked([[True, True]] * 3) == ("unanswered", [2, 2, 2])


def test_the_shares_of_the_looks_are_the_whole_error() -> None:
    assert sum(each.share for each in LOOKS) == pytest.approx(1)
    assert flips.FIRST_SHARE + FLIP_SHARE == 1
    assert 0.5**5 / flips.FIRST_SHARE <= 0.05
