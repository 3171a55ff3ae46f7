"""What answers teach of choices: a victim whose log-odds are a sum is learned, labels are bounds; and pruning by it."""

from __future__ import annotations

from math import exp

import pytest
from test_search_methods import TEXT, WORDS, run, space

from pytest_promptfuzz.randomness import Rng
from pytest_promptfuzz.searching.search_loop import Additive, Seen, pruning
from pytest_promptfuzz.searching.space import with_choice

START = Seen(1 / (1 + exp(2)), reached=False)
EFFECTS = {"A0": 0.5, "A1": -0.5, "C3": 1.5, "D2": 0.4, "H1": 0.9}


def summed(effects):
    """A victim whose log-odds are a sum over words."""

    def ask(text):
        odds = -2 + sum(effects.get(word, 0.0) for word in text.split())
        loss = 1 / (1 + exp(-odds))
        return Seen(loss, loss > 0.5)

    return ask


def taught(where, victim, count):
    """What so many prompts teach, each place of which is changed or not at random."""
    learned, rng = Additive(where, START), Rng(b"taught", "test")
    for _ in range(count):
        state = tuple(rng.below(5) for _ in WORDS)
        learned.learn(state, victim(where.text(state)))
    return learned


def test_effects_that_add_up_are_learned():
    learned = taught(space(), summed(EFFECTS), 80)
    learned.draw(None)
    assert learned.telling
    assert learned.effect(2, 4) == pytest.approx(1.5, abs=0.3)  # C3
    assert learned.effect(7, 2) == pytest.approx(0.9, abs=0.3)  # H1
    assert learned.effect(0, 2) < -0.2  # A1
    assert learned.effect(2, 0) == 0
    assert (learned.best(2), learned.best(7), learned.best(3)) == (4, 2, 3)


def test_fewer_answers_than_choices_tell_what_matters_most():
    learned = taught(space(), summed(EFFECTS), 30)
    learned.draw(None)
    every = [(place, number) for place in range(10) for number in range(1, 5)]
    assert max(every, key=lambda each: learned.effect(*each)) == (2, 4)


def test_old_answers_are_forgotten_by_halves():
    where = space()
    learned = taught(where, summed(EFFECTS), 79)
    kept = []
    for number in range(3):
        learned.learn(with_choice(where.start, 5, number + 1), START)
        kept.append(len(learned._answers))
    assert kept == [80, 41, 42]  # two for each of forty choices
    learned.draw(None)
    assert learned.best(2) == 4


def test_answers_that_are_all_alike_teach_that_nothing_helps():
    learned = Additive(space(), START)
    learned.learn((0, 0, 4, 0, 0, 0, 0, 0, 0, 0), Seen(0.2, reached=False))
    for number in range(1, 81):
        learned.learn((1 + number % 4, 0, 0, 1 + number // 20, 0, 0, 0, 0, 0, 0), START)
    learned.draw(Rng(b"alike", "test"))
    assert learned.telling
    assert all(learned.effect(place, number) == 0 for place in range(10) for number in range(5))


def test_what_could_be_true_varies_less_the_more_is_known():
    def spread(count):
        learned, rng = taught(space(), summed(EFFECTS), count), Rng(b"spread", "test")
        drawn = []
        for _ in range(40):
            learned.draw(rng)
            drawn.append(learned.effect(2, 4))
        return max(drawn) - min(drawn)

    assert spread(75) < 0.6 * spread(4)


def test_the_same_draws_give_the_same_effects():
    def effects():
        learned = taught(space(), summed(EFFECTS), 30)
        learned.draw(Rng(b"same", "test"), 0.5)
        return [learned.effect(place, number) for place in range(10) for number in range(5)]

    assert effects() == effects()


def test_what_did_not_flip_the_label_is_thought_to_help_less():
    learned = Additive(space(), Seen(0.0, reached=False))
    rng = Rng(b"label", "test")
    tried = (1, 1, 1, 1, 1, 0, 0, 0, 0, 0)
    for number in range(5):
        learned.learn(with_choice(tried, 9, number), Seen(0.0, reached=False))
        learned.draw(rng)
    assert not learned.telling
    asked = unasked = 0.0
    for _ in range(60):
        learned.draw(rng)
        asked += sum(learned.effect(place, 1) for place in range(5)) / 5
        unasked += sum(learned.effect(place, 1) for place in range(5, 9)) / 4
    assert asked < unasked


def test_what_flipped_the_label_is_thought_to_help():
    learned = Additive(space(), Seen(0.0, reached=False))
    rng = Rng(b"label", "test")
    learned.learn((0, 0, 3, 0, 0, 0, 0, 0, 0, 0), Seen(1.0, reached=True))
    total = 0.0
    for _ in range(60):
        learned.draw(rng)
        total += learned.effect(2, 3) - learned.effect(2, 4)
    assert not learned.telling
    assert total / 60 > 0.1


def prune(state, victim, learned):
    """What is left of a state, and what was asked."""
    where = space()
    asked = []
    steps = pruning(state, learned, Rng(b"prune", "test"))
    try:
        wanted = next(steps)
        while True:
            asked += wanted
            wanted = steps.send([victim(where.text(each)) for each in wanted])
    except StopIteration as stop:
        return where.text(stop.value), asked


def test_pruning_takes_choices_that_help_more_than_those_found():
    victim = summed({"A0": 0.8, "B0": 0.8, "C0": 0.8, "C3": 2.6})
    left, asked = prune((1, 1, 1, 0, 0, 0, 0, 0, 0, 0), victim, taught(space(), victim, 60))
    assert left == TEXT.replace("two", "C3")
    assert len(asked) < 10


def test_pruning_leaves_nothing_that_can_be_given_up():
    victim = summed({"A0": 1.1, "B0": 1.1, "C0": 0.1})
    left, _ = prune((1, 1, 1, 2, 0, 0, 0, 0, 0, 0), victim, Additive(space(), START))
    assert left == TEXT.replace("zero", "A0").replace("one", "B0")


def test_a_single_change_is_found_by_labels_alone_where_ten_were_made():
    victim = summed({"A0": 2.5})
    learned = Additive(space(), Seen(0.0, reached=False))
    learned.learn((1,) * 10, Seen(1.0, reached=True))
    left, _ = prune((1,) * 10, lambda text: Seen(float(victim(text).reached), victim(text).reached), learned)
    assert left == TEXT.replace("zero", "A0")


def test_a_sum_of_many_small_effects_is_found_soon():
    effects = {f"{chr(65 + place)}{place % 4}": 0.32 for place in range(10)}
    found, _ = run(space(), "sweep", summed(effects), queries=100, prune=False)
    assert found.reached
    assert (
        found.found_at < 70
    )  # it takes seven of ten, one choice of four each: one state in thousands by chance
