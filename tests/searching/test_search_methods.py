"""Every method on victims whose weak places are known."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import replace
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.searching.methods import BASELINES, METHODS, BeamAnnealing, method_of
from pytest_promptfuzz.searching.search_loop import Seen, searching
from pytest_promptfuzz.searching.space import Choice, SearchLimits, SearchPlace, Space

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.randomness import Rng
    from pytest_promptfuzz.searching.search_loop import Asking, Found, Texts

    Victim = Callable[[str], Seen]

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEXT = " ".join(WORDS)


def space(limits: SearchLimits | None = None, choices: int = 4) -> Space:
    """Ten words, each of which may become ``A0`` to ``A3``, ``B0`` ... by its place."""
    operator = builtin()["synonym"]
    places = []
    for index, word in enumerate(WORDS):
        start = TEXT.index(word)
        offered = [f"{chr(65 + index)}{number}" for number in range(choices)]
        places.append(
            SearchPlace(
                ((start, start + len(word)),),
                tuple(Choice((replace(start, start + len(word), new),), operator) for new in offered),
            )
        )
    return Space(TEXT, places, limits)


def additive(effects: dict[str, float], bias: float = -2.0) -> Victim:
    """A victim whose log-odds are a sum over words; masking or deleting a word that counts gains half."""

    def ask(text: str) -> Seen:
        words = text.split()
        odds = bias + sum(effects.get(each, 0.0) for each in words)
        gone = sum(1 for word in ("three", "five") if word not in words) * 0.8
        loss = 1 / (1 + exp(-(odds + gone)))
        return Seen(loss, loss > 0.5)

    return ask


def label_only(victim: Victim) -> Victim:
    return lambda text: Seen(float(victim(text).reached), victim(text).reached)


def driven(steps: Texts, victim: Victim) -> tuple[Found, list[list[str]]]:
    batches: list[list[str]] = []
    try:
        batch = next(steps)
        while True:
            batches.append(batch)
            batch = steps.send([victim(text) for text in batch])
    except StopIteration as stop:
        return stop.value, batches


def run(where: Space, method: str, victim: Victim, **settings: Any) -> tuple[Found, list[list[str]]]:
    return driven(
        searching(where, method_of(method, "test"), **{"queries": 200, "seed": 3, **settings}), victim
    )


WEAK = {"D2": 0.9, "F1": 0.9, "A0": -1.0, "H3": -1.0}  # with what masking gains, both are needed


@pytest.mark.parametrize("method", [*METHODS, *BASELINES])
def test_a_weak_pair_is_found_by_its_losses(method: str) -> None:
    found, _ = run(space(), method, additive(WEAK))
    assert found.reached
    words = space().text(found.state).split()
    assert "D2" in words or "F1" in words
    assert found.minimal
    assert found.found_at <= found.queries <= 200


@pytest.mark.parametrize("method", [*METHODS, *BASELINES])
def test_the_same_search_asks_the_same(method: str) -> None:
    assert run(space(), method, additive(WEAK))[1] == run(space(), method, additive(WEAK))[1]


@pytest.mark.parametrize("method", [*METHODS, *BASELINES])
def test_no_text_is_asked_twice_and_the_budget_is_kept(method: str) -> None:
    found, batches = run(space(), method, additive({}), queries=60)
    texts = [text for batch in batches for text in batch]
    assert not found.reached
    assert len(texts) == len(set(texts)) == found.queries <= 60
    assert texts[0] == TEXT


# "morpheus" asks about the choices of one word at a time.
@pytest.mark.parametrize("method", [*METHODS, *(each for each in BASELINES if each != "morpheus")])
def test_batches_are_as_large_as_may_be_asked_at_once(method: str) -> None:
    _, batches = run(space(), method, additive({}), queries=60, at_once=8)
    assert max(map(len, batches)) == 8
    assert sum(map(len, batches)) <= 60


@pytest.mark.parametrize("method", [*METHODS, *BASELINES])
def test_limits_hold_for_whatever_is_asked(method: str) -> None:
    limits = SearchLimits(words=2, allows=lambda mutation: "D2" not in mutation.text)
    where = space(limits)
    _, batches = run(where, method, additive({"F1": 2.0, "D2": 5.0}))
    for text in (text for batch in batches for text in batch):
        changed = [new for old, new in zip(WORDS, text.split(), strict=False) if new != old]
        if len(text.split()) == len(WORDS) and "[UNK]" not in changed:
            assert len(changed) <= 2
        assert "D2" not in text


@pytest.mark.parametrize("method", ["sweep", "random", "beam-annealing"])
def test_a_weak_word_is_found_by_labels_alone(method: str) -> None:
    found, _ = run(space(), method, label_only(additive({"C1": 3.0})))
    assert found.reached
    assert space().text(found.state) == TEXT.replace("two", "C1")


def test_what_was_found_first_is_kept_beside_what_is_left_of_it() -> None:
    where = space()
    found, _ = run(where, "sweep", label_only(additive({"C1": 3.0})))
    assert found.first is not None
    assert where.words(found.first) > where.words(found.state) == 1


def test_without_pruning_the_find_stays_as_it_was() -> None:
    found, _ = run(space(), "sweep", label_only(additive({"C1": 3.0})), prune=False)
    assert found.state == found.first
    assert found.queries == found.found_at
    assert not found.minimal


def test_a_budget_that_ends_while_pruning_keeps_the_smallest_so_far() -> None:
    whole, _ = run(space(), "sweep", label_only(additive({"C1": 3.0})))
    found, _ = run(space(), "sweep", label_only(additive({"C1": 3.0})), queries=whole.found_at + 1)
    assert found.reached
    assert not found.minimal
    assert 1 <= space().words(found.state) <= 10


def test_the_nearest_is_given_where_the_goal_is_not_reached() -> None:
    found, _ = run(space(), "greedy", additive({"D2": 0.4}))
    assert not found.reached
    assert found.found_at == 0
    assert "D2" in space().text(found.state)
    assert found.loss == pytest.approx(0.5)  # -2 + 0.4, and 0.8 for each of two words that are gone


def test_a_prompt_that_is_there_already_is_not_searched() -> None:
    found, batches = run(space(), "sweep", lambda _: Seen(1.0, reached=True))
    assert found.reached
    assert found.first is None
    assert batches == [[TEXT]]


def test_masked_prompts_count_as_no_find() -> None:
    found, _ = run(space(), "pwws", lambda text: Seen(float("[UNK]" in text), "[UNK]" in text))
    assert not found.reached


def test_deletion_ranked_greedy_asks_for_each_place_first() -> None:
    _, batches = run(space(), "deletion-greedy", additive(WEAK), at_once=100)
    assert [len(text.split()) for text in batches[1]] == [9] * 10
    assert {text.split()[3] for text in batches[2]} == {"D0", "D1", "D2", "D3"}


def test_weighted_saliency_asks_for_every_single_change_before_it_takes_any() -> None:
    _, batches = run(space(), "pwws", additive(WEAK), at_once=100)
    assert [len(batch) for batch in batches[:3]] == [1, 10, 40]
    assert batches[3] == [
        TEXT.replace("three", "D2").replace("five", "F1")
    ]  # the first of them is known by then


def test_greedy_takes_the_best_of_all_and_goes_on_from_it() -> None:
    _, batches = run(space(), "greedy", additive(WEAK), at_once=100)
    assert [len(batch) for batch in batches[:3]] == [1, 40, 36]
    assert all("D2" in text for text in batches[2])


def test_a_beam_keeps_as_many_as_it_is_wide() -> None:
    _, batches = run(space(), "beam", additive({"A1": 0.1, "B1": 0.2, "C1": 0.3, "E1": 0.4}), at_once=400)
    parents = {frozenset(text.split()) & {"A1", "B1", "C1", "E1"} for text in batches[2]}
    assert {frozenset({each}) for each in ("A1", "B1", "C1", "E1")} <= parents


def asked_by(method: BeamAnnealing) -> list[list[str]]:
    steps = searching(space(), method, queries=400, seed=1, at_once=400)
    return driven(steps, additive({"D2": 0.3, "A0": -0.5}))[1]


def test_annealing_masks_first_and_then_goes_place_by_place() -> None:
    batches = asked_by(BeamAnnealing())
    assert all("[UNK]" in text for text in batches[1])
    assert {text.split()[3] for text in batches[2]} == {"D0", "D1", "D2", "D3"}
    # b0 = 2, then at most one wider each round, up to 6 of which each makes 4 candidates
    sizes = [len(batch) for batch in batches[2:]]
    assert sizes[0] == 4
    assert all(size <= 4 * min(6, 3 + number) for number, size in enumerate(sizes[1:]))
    assert max(sizes) == 24


def test_annealing_in_the_order_of_the_text_masks_nothing() -> None:
    batches = asked_by(BeamAnnealing(order="text"))
    assert {text.split()[0] for text in batches[1]} == {"A0", "A1", "A2", "A3"}


def test_a_fixed_width_stays() -> None:
    sizes = [len(batch) for batch in asked_by(BeamAnnealing(adapt="fixed", width=3))[3:]]
    assert set(sizes) <= {4, 8, 12}
    assert max(sizes) == 12


def test_at_no_temperature_nothing_worse_than_its_parent_is_taken() -> None:
    cold = BeamAnnealing(accept="parent", temperature=1e-9, elite=None)
    batches = asked_by(cold)
    assert not any("A0" in text.split() for batch in batches[3:] for text in batch if "B" in text[3:])


def test_accepted_against_the_original_late_rounds_take_what_is_worse_than_the_parent() -> None:
    """Eq. 12 as printed: beside a gain of 0.3, a loss below it is still above the original's."""
    cold = {"temperature": 1e-9, "elite": None, "order": "text"}
    worse = dict.fromkeys(["A0", "A2", "A3", "B0", "B2", "B3"], -3.0)
    victim = additive({"A1": 1.0, "B1": -0.2, **worse})

    def taken(accept: str) -> bool:
        steps = searching(space(), BeamAnnealing(accept=accept, **cold), queries=60, seed=1, at_once=60)  # type: ignore[arg-type]
        batch = next(steps)
        texts: list[str] = []
        for _ in range(3):
            batch = steps.send([victim(text) for text in batch])
            texts = batch
        return any({"A1", "B1"} <= set(text.split()) for text in texts)

    assert taken("original")
    assert not taken("parent")


def test_no_search_changes_what_the_next_one_does() -> None:
    alone = run(space(), "beam-annealing", additive(WEAK))[1]
    run(space(), "beam-annealing", additive({"A1": 1.0}), seed=9)
    assert run(space(), "beam-annealing", additive(WEAK))[1] == alone


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(UsageError, match=r"search method 'pws' is unknown.*pwws"):
        method_of("pws", "search")
    with pytest.raises(UsageError, match="neither a name nor a method"):
        method_of(3, "search")  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["deletion-greedy", "textfooler"])
def test_a_deletion_that_an_operator_makes_too_is_a_find(method: str) -> None:
    whole = space()
    start, end = whole.places[3].spans[0]
    gone = Choice((replace(start, end, ""),), builtin()["synonym"])
    places = [*whole.places[:3], SearchPlace(whole.places[3].spans, (gone,)), *whole.places[4:]]
    found, _ = run(Space(TEXT, places), method, lambda text: Seen(0.5, "three" not in text))
    assert found.first is not None
    assert "three" not in Space(TEXT, places).text(found.state)


def asked_for_one(answers: list[bool | None], *, queries: int = 60, confirm: int = 3) -> tuple[Found, int]:
    """A search that has one change to ask about, and what it is told each time: ``None`` is no answer."""

    def one(where: Space, start: Seen, rng: Rng, at_once: int) -> Asking:
        yield [(1, *where.start[1:])]

    told = iter(answers)
    steps = searching(space(), one, queries=queries, confirm=confirm, prune=False)
    asked = 0
    next(steps)
    seen = [Seen(0.0, reached=False)]
    try:
        while True:
            texts = steps.send(seen)
            asked += len(texts)
            seen = [
                Seen(float(bool(each)), bool(each), answered=each is not None)
                for each in (next(told) for _ in texts)
            ]
    except StopIteration as stop:
        return stop.value, asked


def test_a_find_is_believed_once_it_came_again_often_enough() -> None:
    assert asked_for_one([True] * 4)[0].reached
    found, asked = asked_for_one([True, True, True, False, True, True])
    assert (found.reached, asked) == (True, 6)


def test_a_find_that_mostly_misses_is_given_up() -> None:
    found, asked = asked_for_one([True, False, False, False])
    assert (found.reached, found.doubtful, asked) == (False, False, 4)


def test_what_cannot_be_asked_again_often_enough_is_doubtful() -> None:
    found, _ = asked_for_one([True, True, False, True, False, True], queries=6)
    assert (found.reached, found.doubtful) == (False, True)


def test_a_query_without_an_answer_speaks_neither_for_nor_against_a_find() -> None:
    assert asked_for_one([True, None, None, True, None, True, True])[0].reached
    found, asked = asked_for_one([True] + [None] * 20)
    assert (found.reached, found.doubtful, asked) == (False, True, 13)


def test_of_several_finds_in_a_batch_one_is_made_sure_of() -> None:
    found, batches = run(
        space(),
        "sweep",
        lambda text: Seen(float(text != TEXT), text != TEXT),
        at_once=8,
        confirm=5,
        prune=False,
    )
    assert found.reached
    assert [len(batch) for batch in batches] == [1, 8, 5]


def test_a_lost_answer_while_pruning_leaves_it_open_what_is_minimal() -> None:
    """Every prompt but the whole find and the unchanged one gets no answer."""
    whole: list[str] = []

    def victim(text: str) -> Seen:
        if text == TEXT or (whole and text != whole[0]):
            return Seen(0.0, reached=False, answered=text == TEXT)
        whole.append(text)
        return Seen(1.0, reached=True)

    found, _ = run(space(), "sweep", victim)
    assert found.reached
    assert not found.minimal


def singles(batch: list[str]) -> set[str]:
    """The words that stand in a batch of changed texts and not in the original."""
    return {word for text in batch for word in text.split()} - {*WORDS}


def test_the_published_baselines_go_about_it_as_they_say() -> None:
    _, batches = run(space(), "morpheus", additive(WEAK), at_once=100)
    assert singles(batches[1]) == {"A0", "A1", "A2", "A3"}  # as the words stand
    _, batches = run(space(), "vfa", additive(WEAK), at_once=100)
    assert singles(batches[1]) == {"[UNK]"}
    assert singles(batches[2]) == {"D0", "D1", "D2", "D3"}  # the first word that matters
    _, batches = run(space(), "seq2sick", additive({"D2": 0.5, "F1": 0.4}, bias=-9.0), at_once=100)
    assert len(batches[1]) == 40
    assert singles(batches[2]) == {"D2", "F1"}
    _, batches = run(space(), "greedyfuzz", lambda _: Seen(0.2, reached=False), at_once=1)
    assert all(sum(a != b for a, b in zip(WORDS, text.split(), strict=True)) <= 1 for (text,) in batches)


def test_best_first_search_returns_to_what_it_left() -> None:
    # The best first step leads nowhere, the second best to the goal.
    def ask(text: str) -> Seen:
        changed = {*text.split()} - {*WORDS}
        if {"D3", "F1"} <= changed:
            return Seen(0.9, reached=True)
        if "D2" in changed:
            return Seen(0.3 if len(changed) == 1 else 0.1, reached=False)
        return Seen(0.25 if changed == {"D3"} else 0.2, reached=False)

    found, _ = run(space(), "abfs", ask, queries=400)
    assert found.reached
    assert {"D3", "F1"} <= {*space().text(found.state).split()}


def test_an_unknown_method_names_the_baselines_too() -> None:
    with pytest.raises(UsageError, match="Did you mean 'morpheus'"):
        method_of("morphius", "search")
