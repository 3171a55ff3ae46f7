"""What breaks go with: planted causes are found, and noise is claimed as often as is allowed, and no more."""

from __future__ import annotations

from itertools import combinations

import pytest

from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.results.explanations import TouchedTrial, causes, smallest_p
from pytest_promptfuzz.stats.significance import tails_of


def simulated(seed, trials, parts, *, share=0.15, trigger=None, noise=0.0, samples=1):
    """Trials that touch parts at random; those that touch the trigger break, and ``noise`` of all answers mislead."""
    rng = Rng(root_key(seed, "simulated"), "causes")
    made = []
    for _ in range(trials):
        touched = frozenset(part for part in range(parts) if rng.below(1000) < share * 1000)
        breaks = trigger in touched
        answers = [breaks != (rng.below(1000) < noise * 1000) for _ in range(samples)]
        made.append(TouchedTrial(touched, sum(answers), samples))
    return made


@pytest.mark.parametrize(
    ("values", "size"), [([0, 1, 1, 0, 1, 0, 0], 3), ([0, 2, 3, 0, 1, 6, 1], 2), ([0, 4, 4, 1, 2], 4)]
)
def test_tails_are_those_of_all_draws(values, size):
    sums = [sum(chosen) for chosen in combinations(values, size)]
    tail = tails_of(values, {size})[size]
    for seen in set(sums):
        assert tail(seen) == pytest.approx(sum(each >= seen for each in sums) / len(sums))


def test_tails_of_many_values_are_near_those_of_draws():
    values = [place % 7 for place in range(300)]
    rng = Rng(root_key(0, ""), "tails")
    tail = tails_of(values, {100})[100]
    sums = [sum(rng.sample(values, 100)) for _ in range(4000)]
    for seen in (290, 300, 310, 320):
        assert tail(seen) == pytest.approx(sum(each >= seen for each in sums) / len(sums), abs=0.03)


@pytest.mark.parametrize("values", [[0, 1, 1, 0, 0], [0, 2, 1, 1, 0], [1, 1, 1]])
def test_the_least_p_is_that_of_the_worst_draw(values):
    for size in range(1, len(values)):
        sums = [sum(chosen) for chosen in combinations(values, size)]
        assert smallest_p(values, size) == pytest.approx(sums.count(max(sums)) / len(sums))
    assert smallest_p(values, 0) == smallest_p(values, len(values)) == 1.0


@pytest.mark.parametrize(("noise", "samples"), [(0.3, 1), (0.1, 1), (0.3, 3)])
def test_where_nothing_matters_nothing_is_claimed(noise, samples):
    """If each of the 40 parts were tested alone, each run would claim one; ``benchmarks/causes.py`` has the rates."""
    claimed = sum(
        any(
            each.finding in {"matters", "beside"}
            for each in causes(simulated(seed, 30, 40, noise=noise, samples=samples), range(40))
        )
        for seed in range(24)
    )
    assert claimed <= 5


def test_what_always_breaks_the_answer_comes_out_on_top():
    for seed in range(4):
        trials = simulated(seed, 60, 50, trigger=7)
        found = causes(trials, range(50))
        assert (found[0].finding, found[0].parts) == ("matters", (7,))
        assert found[0].touching.broken == found[0].touching.asked == found[0].touching.trials
        assert found[0].others.broken == 0


@pytest.mark.parametrize("samples", [1, 3])
def test_a_cause_is_found_beneath_noise(samples):
    first = [
        causes(simulated(seed, 80, 50, trigger=7, noise=0.15, samples=samples), range(50))[0]
        for seed in range(4)
    ]
    assert [(each.parts, each.finding) for each in first] == [((7,), "matters")] * 4


def test_two_causes_matter_both_and_what_goes_with_one_does_not():
    """The shadow stands in all trials of the first cause but one, and in none that breaks for the second's sake."""
    trials = []
    for number in range(60):
        touched = {part for part, every in (("first", 5), ("second", 7)) if number % every == 0}
        touched |= {"shadow"} if number % 5 == 0 and number else set()
        touched |= {"other"} if number % 2 else set()
        trials.append(TouchedTrial(frozenset(touched), int("first" in touched or "second" in touched), 1))
    found = {each.parts[0]: each for each in causes(trials, ["other", "shadow", "second", "first"])}
    assert list(found)[:2] == ["first", "second"]
    assert {name: each.finding for name, each in found.items()} == {
        "first": "matters",
        "second": "matters",
        "shadow": "beside",
        "other": "open",
    }


def test_parts_that_the_same_trials_touch_are_not_told_apart():
    trials = [
        TouchedTrial(frozenset({"a", "b"} if number < 5 else {"c"}), int(number < 5), 1)
        for number in range(20)
    ]
    found = causes(trials, ["b", "c", "a"])
    assert [each.parts for each in found] == [("b", "a"), ("c",)]
    assert found[0].p < 0.01
    assert found[1].finding == "few"


@pytest.mark.parametrize(
    "trials", [[], [TouchedTrial(frozenset("a"), 1, 1)], [TouchedTrial(frozenset("a"), 0, 1)] * 9]
)
def test_too_little_tells_nothing(trials):
    assert [each.finding for each in causes(trials, ["a", "b"])] == ["few"] * len(causes(trials, ["a", "b"]))


def test_few_trials_cannot_tell_whatever_they_answer():
    trials = [TouchedTrial(frozenset("a" if not number else "b"), int(not number), 1) for number in range(10)]
    assert {each.finding for each in causes(trials, ["a", "b"])} == {"few"}


def test_shares_count_answers_and_intervals_count_trials():
    trials = [
        TouchedTrial(frozenset("a"), 3, 4),
        TouchedTrial(frozenset("a"), 1, 4),
        TouchedTrial(frozenset(), 0, 1),
    ]
    (found,) = causes(trials, ["a"])
    assert (found.touching.trials, found.touching.broken, found.touching.asked, found.touching.share) == (
        2,
        4,
        8,
        0.5,
    )
    assert found.touching.interval.high - found.touching.interval.low > 0.6
    assert (found.others.share, found.others.trials) == (0.0, 1)


def test_the_same_trials_give_the_same_findings():
    trials = simulated(3, 40, 30, trigger=2, noise=0.2)
    assert causes(trials, range(30)) == causes(trials, range(30))
