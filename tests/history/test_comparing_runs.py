"""A run beside its base: what is worse by more than noise, and what tells nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.history.changes import met, read_conditions
from pytest_promptfuzz.history.run_comparison import changed_answers, changes, flips_of
from tests.history.past import entry_of

if TYPE_CHECKING:
    from pytest_promptfuzz.history.changes import BaseReport, ChangeReport
    from pytest_promptfuzz.history.entries import HistoryEntry

BASE: BaseReport = {"label": "main", "kind": "name", "run": "x", "started": "", "commit": "", "branch": ""}


def compared(before: list[HistoryEntry], now: list[HistoryEntry], **given: Any) -> dict[str, ChangeReport]:
    found = changes(BASE, {e["test"]: e for e in before}, {e["test"]: e for e in now}, **given)
    assert found["base"] == BASE
    return {each["test"]: each for each in found["tests"]}


def one(before: HistoryEntry, now: HistoryEntry) -> ChangeReport:
    return compared([before], [now])["t"]


def test_a_drop_of_five_of_eight_is_more_than_noise() -> None:
    found = one(entry_of("t", "EEEEEEEE"), entry_of("t", "EEEDDDDD"))
    assert (found["status"], found["pairs"], found["worse"], found["better"]) == ("worse", 8, 5, 0)
    assert (found["p"], found["adjusted_p"]) == (0.05, 0.05)  # 1/32 of the 5/8 that first answers have
    assert (found["score_before"], found["score"], found["difference"]) == (1.0, 0.375, -0.625)
    assert (found["verdict_before"], found["verdict"]) == ("pass", "brittle")
    assert found["new_deviations"] == ["t3", "t4", "t5", "t6", "t7"]
    assert found["mended"] == []
    assert found["baseline"] == "same"
    assert not found["prompt_changed"]
    assert found["explanation"] == ("of 8 trials in both runs 5 came out worse and 0 better; more than noise")


def test_a_single_flip_is_lower_within_noise_and_named() -> None:
    found = one(entry_of("t", "EEEEEEEE"), entry_of("t", "EEEDEEEE"))
    assert (found["status"], found["p"], found["new_deviations"]) == ("lower", 0.8, ["t3"])
    assert found["explanation"].endswith("; within noise")
    back = one(entry_of("t", "EEEDEEEE"), entry_of("t", "EEEEEEEE"))
    assert (back["status"], back["p"], back["mended"]) == ("higher", 0.5, ["t3"])


def test_better_is_better() -> None:
    assert one(entry_of("t", "DDDDDDEE"), entry_of("t", "EEEEEEEE"))["status"] == "better"
    same = one(entry_of("t", "DEDE"), entry_of("t", "DEDE"))
    assert (same["status"], same["p"], same["explanation"]) == (
        "same",
        1.0,
        "4 trials in both runs came out alike",
    )
    swapped = one(entry_of("t", "DE"), entry_of("t", "ED"))
    assert (swapped["status"], swapped["new_deviations"], swapped["mended"]) == ("same", ["t1"], ["t0"])


def test_another_verdict_is_a_change_though_no_trial_changed() -> None:
    found = one(entry_of("t", "EEEE"), entry_of("t", "EEEE", verdict="inconclusive"))
    assert (found["status"], found["difference"]) == ("lower", 0.0)
    assert found["explanation"].endswith("; the verdict was pass and is inconclusive")
    back = one(entry_of("t", "EEEE", verdict="noisy"), entry_of("t", "EEEE"))
    assert back["status"] == "higher"


def test_another_target_is_compared_with_only_where_that_was_asked_for() -> None:
    before, now = entry_of("t", "E" * 8, target="one"), entry_of("t", "D" * 8, target="two")
    found = one(before, now)
    assert (found["status"], found["target"]) == ("worse", "two")
    assert found["explanation"].endswith("; asked of two instead of one")
    last: BaseReport = {**BASE, "kind": "last"}
    (by_itself,) = changes(last, {"t": before}, {"t": now})["tests"]
    assert (by_itself["status"], by_itself["p"], by_itself["new_deviations"]) == ("unpaired", None, [])
    assert by_itself["explanation"] == (
        "this run asks two, the last one asked one: name a base to compare them"
    )
    assert changes(last, {"t": before}, {"t": {**now, "target": "one"}})["tests"][0]["status"] == "worse"


def test_minor_variations_count_as_drops_too() -> None:
    found = one(entry_of("t", "EEEEEE"), entry_of("t", "MMMMMM"))
    assert (found["status"], found["new_deviations"], found["worse"]) == ("worse", [], 6)


def test_what_was_not_decided_is_not_paired() -> None:
    found = one(entry_of("t", "E?EEEE?D"), entry_of("t", "DD??E?DD"))
    assert (found["pairs"], found["worse"], found["new_deviations"]) == (3, 1, ["t0"])


def test_a_deviation_that_did_not_come_again_is_no_new_one() -> None:
    found = one(entry_of("t", "EEEE"), entry_of("t", "DDEE", unconfirmed=["t1"]))
    assert (found["worse"], found["new_deviations"]) == (2, ["t0"])


def test_a_deviation_counts_for_the_input_on_which_it_came_again() -> None:
    before, letters = entry_of("t", {"a": "EE", "b": "EE"}), {"a": "DE", "b": "DE"}
    for unconfirmed, new in (({"a": ["t0"]}, ["t0"]), ({"a": ["t0"], "b": ["t0"]}, [])):
        found = one(before, entry_of("t", letters, unconfirmed=unconfirmed))
        assert found["new_deviations"] == new


def test_another_answer_to_the_unmutated_prompt_is_drift_and_its_input_is_left_out() -> None:
    before = entry_of("t", {"a": "EEEEEEEE", "b": "EEEEEEEE"})
    now = entry_of("t", {"a": "DDDDDDDD", "b": "EEEEEEED"}, baselines={"a": "TECHNICAL", "b": "BILLING"})
    found = one(before, now)
    assert (found["status"], found["baseline"], found["pairs"]) == ("lower", "changed", 8)
    assert found["new_deviations"] == ["t7"]
    assert "1 input left out: the baseline answer changed, or cannot be compared" in found["explanation"]
    alone = one(entry_of("t", "EEEEEEEE"), entry_of("t", "DDDDDDDD", baselines={"0": "TECHNICAL"}))
    assert (alone["status"], alone["p"], alone["baseline"], alone["pairs"]) == (
        "unpaired",
        None,
        "changed",
        0,
    )
    assert alone["difference"] == -1.0
    assert "the baseline answer changed" in alone["explanation"]


@pytest.mark.parametrize(
    ("before", "now", "baseline"),
    [
        ("BILLING", "billing.", "same"),
        ({"label": "A", "n": 1}, {"n": 1, "label": "A"}, "same"),
        (None, None, "same"),
        (None, "BILLING", "changed"),
        (True, 1, "changed"),
        ({"promptfuzz-digest": "a"}, {"promptfuzz-digest": "a"}, "same"),
        ({"promptfuzz-digest": "a"}, {"promptfuzz-digest": "b"}, "unknown"),
    ],
)
def test_answers_to_the_unmutated_prompt_are_compared_as_all_answers_are(
    before: Any, now: Any, baseline: str
) -> None:
    found = one(entry_of("t", "EE", baselines={"0": before}), entry_of("t", "EE", baselines={"0": now}))
    assert found["baseline"] == baseline


def test_an_answer_that_nothing_can_compare_is_not_called_another() -> None:
    before = "The parcel is late and the customer wants a refund."
    now = "The weather in Spain is sunny and warm."
    found = one(entry_of("t", "EE", baselines={"0": before}), entry_of("t", "DD", baselines={"0": now}))
    assert (found["status"], found["baseline"]) == ("unpaired", "unknown")
    assert "no installed comparison can tell" in found["explanation"]


def test_where_the_unmutated_answer_is_a_minor_variation_only_deviations_are_told_apart() -> None:
    before, minor = {"a": 1, "b": ["x", "y"]}, {"a": 1, "b": ["y", "x"]}
    old, new = (
        entry_of("t", "EEEEEE", baselines={"0": before}),
        entry_of("t", "MMMMMM", baselines={"0": minor}, verdict="pass"),
    )
    assert one(old, new)["status"] == "same"
    assert one(old, {**new, "trials": entry_of("t", "DDDDDD")["trials"]})["status"] == "worse"


def test_where_no_answer_was_compared_none_matters() -> None:
    before = entry_of("t", "EEEEEEEE", oracle_only=True, baselines={"0": "one"})
    now = entry_of("t", "DDDDDDDD", oracle_only=True, baselines={"0": "another"})
    assert (one(before, now)["status"], one(before, now)["baseline"]) == ("worse", "same")


def test_without_an_answer_to_compare_with_nothing_is_paired() -> None:
    found = one(entry_of("t", "EEEEEEEE", baselines={}), entry_of("t", "DDDDDDDD"))
    assert (found["status"], found["baseline"], found["p"]) == ("unpaired", "unknown", None)
    assert "the base does not hold the baseline answer" in found["explanation"]


def test_another_prompt_has_other_trials_and_their_credits_are_compared_as_a_whole() -> None:
    now = entry_of("t", "DDDDDEEE", prompt="p2")
    now["trials"] = {"0": {f"u{n}": letter for n, letter in enumerate("DDDDDEEE")}}
    found = one(entry_of("t", "EEEEEEEE"), now)
    assert (found["status"], found["pairs"], found["prompt_changed"]) == ("worse", 0, True)
    assert found["p"] == pytest.approx(56 / 4368 / 0.625)  # of 16 trials 5 deviate, all in the one run
    assert found["new_deviations"] == []
    assert "no trial is in both runs, so their scores were compared" in found["explanation"]
    assert "the prompt was changed" in found["explanation"]
    now["baselines"] = {"0": "OTHER"}
    assert one(entry_of("t", "EEEEEEEE"), now)["status"] == "unpaired"


def test_answers_to_one_mutation_are_flipped_together() -> None:
    before, now = entry_of("t", "EEEE"), entry_of("t", "EEEE")
    before["trials"] = {"0": {"a": "EEEEEE", "b": "EEEEEE"}}
    now["trials"] = {"0": {"a": "DDDDDD", "b": "DDDDDD"}}
    found = one(before, now)
    assert (found["status"], found["p"], found["pairs"], found["new_deviations"]) == (
        "lower",
        0.4,
        12,
        ["a", "b"],
    )


def test_a_search_has_no_trials_and_is_known_by_its_verdict() -> None:
    search = entry_of("t", "", trials={}, verdict="pass")
    assert one(search, search)["status"] == "same"
    found = one(search, {**search, "verdict": "brittle"})
    assert (found["status"], found["explanation"]) == ("unpaired", "one of the runs has no trials")


def test_new_gone_and_not_asked_for() -> None:
    found = compared(
        [entry_of("old", "EEEE"), entry_of("away", "EEEE"), entry_of("t", "EEEE")],
        [entry_of("t", "EEEE"), entry_of("fresh", "EEDD")],
        gone=["old", "never"],
    )
    assert {test: each["status"] for test, each in found.items()} == {
        "t": "same",
        "fresh": "new",
        "old": "gone",
    }
    assert (found["old"]["score"], found["old"]["score_before"]) == (None, 1.0)
    assert (found["fresh"]["score"], found["fresh"]["score_before"]) == (0.5, None)


def test_the_worst_stand_first() -> None:
    before = [entry_of(name, "EEEEEEEE") for name in ("same", "lower", "worse", "worst", "away")]
    now = [
        entry_of("same", "EEEEEEEE"),
        entry_of("fresh", "E"),
        entry_of("lower", "EEEEEEED"),
        entry_of("worse", "EDDDDDDD"),
        entry_of("worst", "DDDDDDDD"),
    ]
    assert list(compared(before, now, gone=["away"])) == ["worst", "worse", "lower", "away", "fresh", "same"]


def test_many_tests_that_flicker_do_not_make_a_drop() -> None:
    before = [entry_of(f"t{n}", "EEEEEEEE") for n in range(20)]
    now = [entry_of(f"t{n}", "DDDDEEEE" if n < 10 else "EEEEEEEE") for n in range(20)]
    assert {each["status"] for each in compared(before, now).values()} == {"lower", "same"}
    drop = [entry_of("t0", "DDDDDEEE"), *now[10:]]
    assert compared(before, drop)["t0"]["status"] == "worse"
    among_others = compared(before, [entry_of("t0", "DDDDDEEE"), entry_of("t1", "DDDDDEEE")])
    assert {each["status"] for each in among_others.values()} == {"lower"}  # 1/32 twice is more than 0.05


def test_a_changed_model_is_said() -> None:
    found = one(entry_of("t", "EE"), entry_of("t", "EE", model="gpt-6"))
    assert found["explanation"].endswith("answered by gpt-6 instead of gpt-5-mini")


BEFORE = [
    entry_of("worse", "EEEEEEEE", cost=0.10),
    entry_of("lower", "EEEEEEEE", cost=0.10),
    entry_of("same", "EEEEEEEE", cost=0.10),
    entry_of("away", "EEEE"),
    entry_of("was", "DDEE"),
]
NOW = [
    entry_of("worse", "DDDDDDDE", cost=0.11),
    entry_of("lower", "EEEEEEED", cost=0.13, drift=["model"]),
    entry_of("same", "EEEEEEEE", cost=0.10, drift=["prompt"]),
    entry_of("was", "DDEE"),
    entry_of("fresh", "DDDD"),
]


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("score drop", ["worse"]),
        ("score drop > 0.05", ["worse"]),
        ("Score  Drop>0.05", ["worse"]),
        ("score drop > 0.875", []),
        ("score drop >= 0.875", ["worse"]),
        ("score drop > 5%", ["worse"]),
        ("any score drop > 0.05", ["worse", "lower"]),
        ("any score drop > 0.125", ["worse"]),
        ("any score drop >= 12.5%", ["worse", "lower"]),
        ("new deviation", ["worse"]),
        ("any new deviation", ["worse", "lower"]),
        ("any new deviations", ["worse", "lower"]),
        ("new brittle", ["worse"]),
        ("new failure", ["worse"]),
        ("new noisy", []),
        ("cost rise > 20%", ["lower"]),
        ("cost rise >= 10%", ["worse", "lower"]),
        ("cost rise > 0.02", ["lower"]),
        ("drift", ["lower", "same"]),
        ("model drift", ["lower"]),
        ("comparator drift", []),
        ("gone", ["away"]),
    ],
)
def test_conditions(text: str, tests: list[str]) -> None:
    now = {e["test"]: e for e in NOW}
    found = changes(BASE, {e["test"]: e for e in BEFORE}, now, gone=["away"])
    reported = met(read_conditions(text), found, now)
    assert [name for each in reported for name in each["tests"]] == tests
    assert len(reported) == bool(tests)


def test_several_conditions_are_parted_by_commas() -> None:
    found = read_conditions("score drop > 0.05, any new deviation,gone")
    assert [each.text for each in found] == ["score drop > 0.05", "any new deviation", "gone"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'': a condition is missing. Write one such as score drop > 0.05."),
        ("gone,", "'gone,', character 6: a condition is missing. Write one such as score drop > 0.05."),
        ("scroe drop", "'scroe drop': unknown word 'scroe'. Did you mean 'score'?"),
        ("score dorp > 1", "'score dorp > 1': unknown word 'dorp'. Did you mean 'drop'?"),
        ("score", "'score': drop is missing."),
        ("score drop 0.05", "'score drop 0.05': expected > or >=, not '0.05'."),
        ("score drop >", "'score drop >': a number, such as 0.05 is missing."),
        (
            "score drop > x",
            "'score drop > x': expected a number, such as 0.05, not 'x'.",
        ),
        (
            "score drop < 0.1",
            "'score drop < 0.1': '<' has no meaning here. Separate conditions with commas.",
        ),
        (
            "gone and drift",
            ("'gone and drift': expected the condition's end, or a comma before the next one, not 'and'."),
        ),
        ("any gone", "'any gone': unknown word 'gone'. Write 'any new deviation'."),
        ("new britle", "'new britle': unknown word 'britle'. Did you mean 'brittle'?"),
        (
            "any new brittle",
            "'any new brittle': unknown word 'brittle'. Write 'any new deviation'.",
        ),
        ("cost rise", "'cost rise': > or >= and a number, such as > 20% is missing."),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_conditions(text)
    assert str(caught.value) == message


def again(letters: str, *trials: int) -> dict[str, dict[str, str]]:
    return {"0": {f"t{number}": letters for number in trials}}


def test_trials_that_fail_again_prove_what_first_answers_cannot() -> None:
    before, now = entry_of("t", "EEEEEEEE"), entry_of("t", "DDDDEEEE", verdict="pass")
    assert one(before, now)["status"] == "lower"
    found = one(before, entry_of("t", "DDDDEEEE", verdict="pass", again=again("DDDD", 0, 1, 2, 3)))
    assert (found["status"], found["finding"], found["missing"]) == ("worse", "worse", "")
    assert found["p"] == found["adjusted_p"] == pytest.approx(0.0159 / 0.375, rel=0.01)
    held = one(before, entry_of("t", "DDDDEEEE", again=again("EEEE", 0, 1, 2, 3)))
    assert held["status"] == "lower"
    # What did not hold in the base has not flipped, however often it fails.
    assert (
        one(entry_of("t", "MMMMEEEE"), entry_of("t", "DDDDEEEE", again=again("D" * 18, 0, 1, 2, 3)))["status"]
        == "lower"
    )


def test_trials_that_fail_again_prove_nothing_of_a_test_that_is_no_lower() -> None:
    found = one(entry_of("t", "EEEDDDDD"), entry_of("t", "DDDEEEEE", again=again("D" * 18, 0, 1, 2)))
    assert found["status"] == "higher"


def test_the_error_is_shared_by_all_tests_that_are_compared() -> None:
    before = [entry_of(f"t{n}", "EEEEEEEE") for n in range(50)]
    now = [entry_of(f"t{n}", "EEEEEEEE") for n in range(1, 50)]
    for letters, status in (("D" * 8, "lower"), ("D" * 18, "worse")):
        dropped = entry_of("t0", "DDDDEEEE", again=again(letters, 0, 1, 2, 3))
        assert compared(before, [dropped, *now])["t0"]["status"] == status


def test_where_answers_agree_nearly_only_deviations_fail() -> None:
    before, now = entry_of("t", "EEEEEEEE"), entry_of("t", "MMMMDDDD")
    alike = flips_of(before, now)
    assert alike is not None
    assert (alike.places, alike.failed("0", "M")) == ([("0", f"t{n}") for n in range(8)], True)
    before["baselines"], now["baselines"] = {"0": {"a": 1, "b": ["x", "y"]}}, {"0": {"a": 1, "b": ["y", "x"]}}
    nearly = flips_of(before, now)
    assert nearly is not None
    assert (nearly.places, nearly.failed("0", "M")) == ([("0", f"t{n}") for n in range(4, 8)], False)


def test_answers_that_are_others_are_told_from_those_that_nothing_tells() -> None:
    before = entry_of("t", {"a": "EE", "b": "EE", "c": "EE"})
    now = entry_of("t", {"a": "EE", "b": "EE", "c": "EE"})
    now["baselines"] = {"a": "TECHNICAL", "b": "BILLING"}
    assert changed_answers(before, now) == {"a"}


@pytest.mark.parametrize(
    ("before", "now", "finding"),
    [
        (("pass", "E" * 8), ("brittle", "E" * 8), "newly brittle"),
        (("brittle", "E" * 8), ("brittle", "D" * 8), "worse"),
        (("pass", "D" * 8), ("pass", "E" * 8), "better"),
        (("pass", "E" * 8), ("pass", "E" * 8), "the same"),
        (("pass", "E" * 8), ("pass", "EEEEEEED"), "cannot tell"),
    ],
)
def test_what_a_reader_is_told(before: tuple[str, str], now: tuple[str, str], finding: str) -> None:
    found = one(entry_of("t", before[1], verdict=before[0]), entry_of("t", now[1], verdict=now[0]))
    assert found["finding"] == finding


@pytest.mark.parametrize(
    ("reasked", "said"),
    [
        ("", "--promptfuzz-compare=BASE lets the run ask"),
        ("off", "--promptfuzz-compare-calls is off"),
        ("calls", "a higher --promptfuzz-compare-calls"),
        ("session", "run fewer tests"),
        ("unanswered", "run the test again"),
        ("unrecorded", "record it with --promptfuzz-compare=BASE"),
        ("noise", "did not fail often enough"),
    ],
)
def test_what_a_proof_lacks_is_said(reasked: str, said: str) -> None:
    assert said in one(entry_of("t", "EEEEEEEE"), entry_of("t", "DDDDEEEE", reasked=reasked))["missing"]


@pytest.mark.parametrize(
    ("before", "now", "difference"),
    [
        ({"equivalent": 8}, {"equivalent": 6, "deviation": 2}, -0.25),
        ({"equivalent": 6, "undecided": 2}, {"equivalent": 7, "deviation": 1}, None),
        ({"equivalent": 7, "deviation": 1}, {"equivalent": 6, "undecided": 2}, None),
        ({"equivalent": 8}, {"equivalent": 2, "deviation": 4, "error": 2}, -0.5),
        ({"deviation": 8}, {"equivalent": 4, "deviation": 2, "undecided": 2}, 0.5),
    ],
)
def test_open_trials_are_no_drop_and_no_rise(
    before: dict[str, int], now: dict[str, int], difference: float | None
) -> None:
    def made(counts: dict[str, int]) -> HistoryEntry:
        decided = counts.get("equivalent", 0) + counts.get("deviation", 0)
        return entry_of("t", "E" * 8, score=counts.get("equivalent", 0) / decided, counts=counts)

    row = one(made(before), made(now))
    assert row["difference"] == difference
    (condition,) = read_conditions("any score drop > 0.05")
    assert condition.is_met(row, None) == (difference is not None and difference < 0)
