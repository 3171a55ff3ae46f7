"""Tiers and guards of one's own: when they are asked, what they may say, what becomes of their mistakes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz import (
    Comparison,
    Finding,
    Guard,
    PartError,
    SimilarityTier,
    UsageError,
    compare,
    guard,
    tier,
)
from pytest_promptfuzz.comparing.custom_checks import GUARDS, TIERS, FunctionGuard, FunctionTier, Registry
from pytest_promptfuzz.judging.model_judge import JUDGES

if TYPE_CHECKING:
    from collections.abc import Callable

PARCEL = "Your parcel went out of our warehouse and comes soon."
VAN = "It is on the road; expect it any moment, we would say."


def saying(value: Any, name: str = "mine", **options: Any) -> tuple[FunctionTier, list[tuple[str, str]]]:
    asked: list[tuple[str, str]] = []

    def similarity(baseline: str, response: str) -> Any:
        asked.append((baseline, response))
        return value

    return tier(name, **options)(similarity), asked


def objecting(value: Any, name: str = "mine") -> FunctionGuard:
    return guard(name)(lambda baseline, response: value)


@pytest.mark.parametrize(
    ("similarity", "outcome"),
    [
        (1.0, "equivalent"),
        (0.85, "equivalent"),
        (0.84, "minor"),
        (0.6, "minor"),
        (0.59, "deviation"),
        (0, "deviation"),
    ],
)
def test_a_tier_decides_by_the_thresholds_of_the_task(similarity: float, outcome: str) -> None:
    mine, asked = saying(similarity)
    found = compare(PARCEL, VAN, tiers=[mine])
    assert (found.outcome, found.similarity, found.reason) == (outcome, similarity, "tier:mine")
    assert found.tiers[-1].name == "mine"
    assert asked == [(PARCEL, VAN)]
    assert compare(PARCEL, VAN).outcome == "undecided"


def test_thresholds_of_the_call_count() -> None:
    mine, _ = saying(0.5)
    assert compare(PARCEL, VAN, tiers=[mine], equivalent_at=0.5, minor_at=0.2).outcome == "equivalent"


def test_tiers_are_asked_in_order_up_to_the_first_that_can_tell() -> None:
    first, _ = saying(None, "first")
    second, _ = saying(0.7, "second")
    third, asked = saying(0.0, "third")
    found = compare(PARCEL, VAN, tiers=[first, second, third])
    assert (found.outcome, found.reason, asked) == ("minor", "tier:second", [])
    assert [(each.name, each.similarity) for each in found.tiers[-2:]] == [("first", None), ("second", 0.7)]
    assert compare(PARCEL, VAN, tiers=[first]) == compare(PARCEL, VAN)


def test_a_tier_of_likeness_only_leaves_open_what_differs() -> None:
    low, _ = saying(0.1, tells_apart=False)
    assert compare(PARCEL, VAN, tiers=[low]).outcome == "undecided"
    assert compare(PARCEL, VAN, tiers=["rouge-l"]).outcome == "undecided"
    high, _ = saying(0.9, tells_apart=False)
    assert compare(PARCEL, VAN, tiers=[low, FunctionTier("high", high.function)]).reason == "tier:high"


@pytest.mark.parametrize(
    ("baseline", "response"),
    [
        (PARCEL, PARCEL.upper()),
        ("refund", "billing"),
        ("You have 14 days to return it.", "You have 41 days to return it."),
        ('{"a": 1}', '{"a": 2}'),
        ("Yes.", "No."),
    ],
)
@pytest.mark.parametrize("similarity", [0.0, 1.0])
def test_what_is_known_exactly_is_no_matter_for_a_tier(
    baseline: str, response: str, similarity: float
) -> None:
    mine, asked = saying(similarity)
    assert compare(baseline, response, tiers=[mine]) == compare(baseline, response)
    assert asked == []


def test_a_doubt_of_a_guard_caps_what_a_tier_says() -> None:
    # A word that only one of them has is a doubt of the guard "wording".
    one, two = "The parcel http://x is lost in transit.", "The parcel is lost in transit."
    mine, _ = saying(1.0)
    found = compare(one, two, tiers=[mine])
    assert (found.outcome, found.reason) == ("minor", "tier:mine")
    assert "http x" in found.explanation


class Counting:
    name = "counting"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Any) -> list[list[float]]:
        self.texts += texts
        return [[1.0] for _ in texts]


def test_meaning_is_asked_only_where_no_tier_can_tell() -> None:
    embedder = Counting()
    sure, _ = saying(0.2)
    assert compare(PARCEL, VAN, tiers=[sure], semantic=embedder).reason == "tier:mine"
    assert embedder.texts == []
    unsure, _ = saying(None)
    assert compare(PARCEL, VAN, tiers=[unsure], semantic=embedder).reason == "semantic"
    assert embedder.texts == [PARCEL, VAN]


def test_values_are_given_as_json_where_only_a_tier_can_tell() -> None:
    mine, asked = saying(0.96)  # of JSON more is asked than of prose
    found = compare({"reply": PARCEL, "n": 1}, {"reply": VAN, "n": 1}, tiers=[mine])
    assert found.outcome == "equivalent"
    assert asked[0][0].startswith('{\n "reply": "Your parcel')


def test_a_guard_contradicts_whatever_the_tiers_say() -> None:
    same, _ = saying(1.0)
    found = compare(PARCEL, VAN, tiers=[same], guards=[objecting("the warehouse\nis not named")])
    assert (found.outcome, found.reason, found.similarity) == ("deviation", "guard:mine", 0.0)
    assert found.explanation == "the warehouse is not named"
    assert compare(PARCEL, PARCEL.upper(), guards=[objecting("shouting")]).outcome == "deviation"


def test_a_guard_sees_no_answers_that_are_the_same_and_none_that_deviate_already() -> None:
    asked: list[str] = []
    mine = guard("mine")(lambda baseline, response: asked.append(response))
    compare(PARCEL, PARCEL, guards=[mine])
    assert compare("Yes.", "No.", guards=[mine]).outcome == "deviation"
    assert asked == []
    compare("Yes.", "Yes!", guards=[mine])
    assert asked == ["Yes!"]


def test_a_doubt_keeps_answers_from_being_equivalent() -> None:
    doubting = objecting(Finding("mine", "doubt", "another greeting"))
    found = compare("Yes.", "yes", guards=[doubting])
    assert (found.outcome, found.reason, found.explanation) == ("minor", "guard:mine", "another greeting")
    assert found.similarity is not None
    assert found.similarity < 1
    open_still = compare(PARCEL, VAN, guards=[doubting])
    assert open_still.outcome == "undecided"
    assert open_still.tiers[-1].name == "guard:mine"
    contradicting = objecting(Finding("mine", "contradiction", "no greeting"))
    assert compare("Yes.", "yes", guards=[doubting_first(), contradicting]).explanation == "no greeting"


def doubting_first() -> FunctionGuard:
    return objecting(Finding("first", "doubt", "hm"), "first")


def test_under_must_change_a_contradiction_is_the_change_that_had_to_be() -> None:
    found = compare(PARCEL, VAN, guards=[objecting("another story")], relation="must-change")
    assert (found.outcome, found.reason) == ("equivalent", "must-change:guard:mine")


def test_our_own_guards_and_measures_go_by_the_same_protocols() -> None:
    assert isinstance(TIERS.one("rouge-l", "tiers"), SimilarityTier)
    assert isinstance(GUARDS.one("numbers", "guards"), Guard)
    assert compare("In 14 days.", "In 41 days.", guards=["numbers"]).outcome == "deviation"
    long = " ".join(f"word{n}" for n in range(30))
    assert compare(long, long + " word30 word31", tiers=["indel"]).reason == "tier:indel"


@dataclass(frozen=True)
class Length:
    """No subclass of anything."""

    name: str = "length"

    def similarity(self, baseline: str, response: str) -> float:
        return min(len(baseline), len(response)) / max(len(baseline), len(response))

    def check(self, baseline: str, response: str) -> str | None:
        return "too long" if len(response) > 2 * len(baseline) else None


def test_an_object_with_a_name_and_one_method_is_a_part() -> None:
    found = compare(PARCEL, VAN, tiers=[Length()], guards=[Length()])
    assert (found.outcome, found.reason) == ("equivalent", "tier:length")
    assert compare("Yes.", "Yes, " + PARCEL, guards=[Length()]).reason == "guard:length"


@pytest.mark.parametrize("value", [2, -0.1, "0.5", True, float("nan"), [0.5]])
def test_nonsense_of_a_tier_is_named(value: Any) -> None:
    mine, _ = saying(value)
    with pytest.raises(
        PartError, match=r"the tier 'mine' returned .*; similarity\(\) returns a number from 0 to 1"
    ) as told:
        compare(PARCEL, VAN, tiers=[mine])
    assert told.value.part == "tier"


@pytest.mark.parametrize("value", [True, 0, "", "  ", 0.3, ["x"]])
def test_nonsense_of_a_guard_is_named(value: Any) -> None:
    with pytest.raises(PartError, match="the guard 'mine' returned"):
        compare(PARCEL, VAN, guards=[objecting(value)])


def crash(*_: Any) -> Any:
    raise KeyError("lost")


def test_a_crash_is_named() -> None:
    with pytest.raises(PartError, match="the tier 'bad' raised KeyError: 'lost'"):
        compare(PARCEL, VAN, tiers=[tier("bad")(crash)])
    with pytest.raises(PartError, match="the guard 'bad' raised KeyError") as told:
        compare(PARCEL, VAN, guards=[guard("bad")(crash)])
    assert isinstance(told.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tiers": ["rougel"]}, r"tiers: unknown tier 'rougel'\. Did you mean 'rouge-l'"),
        ({"guards": ["number"]}, r"guards: unknown guard 'number'\. Did you mean 'numbers'"),
        ({"tiers": "rouge-l"}, "tiers='rouge-l' is not a list of tiers or of their names"),
        ({"tiers": [crash]}, r"is no tier: decorate a function of baseline and response with @tier"),
        ({"guards": [Length]}, r"is no guard: decorate"),
        ({"tiers": [Length(), Length()]}, "two tiers are called 'length'"),
        ({"tiers": [Length()], "profile": "quirx"}, "takes no tiers= and no guards="),
    ],
)
def test_a_wrong_argument_is_said(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(PARCEL, VAN, **arguments)


@pytest.mark.parametrize("decorator", [tier, guard])
def test_a_decorator_without_a_name_is_said(decorator: Callable[[Any], Any]) -> None:
    with pytest.raises(UsageError, match="takes a name"):
        decorator(crash)


class Offered:
    def __init__(self, name: str, value: str, part: Any) -> None:
        self.name, self.value, self.part = name, value, part

    def load(self) -> Any:
        if isinstance(self.part, Exception):
            raise self.part
        return self.part


def registry(monkeypatch: pytest.MonkeyPatch, *points: Offered) -> Registry[SimilarityTier]:
    def entry_points(*, group: str) -> list[Offered]:
        return list(points) if group == "promptfuzz.tiers" else []

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    return Registry("tier", "promptfuzz.tiers", TIERS._read, dict)


def test_each_kind_has_its_group() -> None:
    groups = [TIERS.group, GUARDS.group, JUDGES.group]
    assert groups == ["promptfuzz.tiers", "promptfuzz.guards", "promptfuzz.judges"]


def test_installed_packages_offer_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry(monkeypatch, Offered("length", "package:length", Length()))
    assert known.one("length", "tiers") == Length()
    assert known.names() == ["length"]
    broken = registry(monkeypatch, Offered("length", "package:length", ImportError("no such module")))
    with pytest.raises(
        UsageError, match=r"The tier 'length' \(package:length\) does not load: no such module\."
    ):
        broken.one("any", "tiers")
    wrong = registry(monkeypatch, Offered("length", "package:length", print))
    with pytest.raises(UsageError, match="is no tier"):
        wrong.names()


def test_a_name_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry(monkeypatch)
    assert known.add(Length(), "here") == known.add(Length(), "here") == known.one("length", "tiers")
    mine, _ = saying(1.0, "length")
    with pytest.raises(UsageError, match="here: a tier 'length' exists already"):
        known.add(mine, "here")
    with pytest.raises(UsageError, match="a tier 'rouge-l' exists already"):
        TIERS.add(saying(1.0, "rouge-l")[0], "here")


def test_the_result_is_a_comparison_like_any_other() -> None:
    mine, _ = saying(0.9)
    assert isinstance(compare(PARCEL, VAN, tiers=[mine]), Comparison)
