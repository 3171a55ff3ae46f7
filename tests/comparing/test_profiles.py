"""Profiles: what can be chosen, from where, and what wrong choices are answered with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_promptfuzz import Profile, compare, profile_for
from pytest_promptfuzz.comparing.profiles import GUARDS, TASKS, TIERS, named, profiles_from
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.contract import Contract


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"guards": "negation"}, "guards='negation' is not a list of names"),
        ({"guards": ["negatoin"]}, "guards: 'negatoin' is unknown. Did you mean 'negation'?"),
        ({"guards": 3}, "guards=3 is not a list of names"),
        ({"tiers": ["tokens"]}, "tiers: 'tokens' is not one of structure, label, token"),
        ({"normalisers": ["cases"]}, "Did you mean 'case'?"),
        ({"list_order": "any"}, "list_order='any' is not one of strict, minor, free."),
        ({"list_order": ["free"]}, "list_order=['free'] is not one of"),
        ({"number_tolerance": -1}, "number_tolerance=-1 is not a number of 0 or more"),
        ({"number_tolerance": "0.1"}, "number_tolerance='0.1' is not a number of 0 or more"),
        ({"relative_tolerance": float("nan")}, "relative_tolerance=nan is not a number of 0 or more"),
        ({"relative_tolerance": float("inf")}, "relative_tolerance=inf is not a finite number"),
        ({"date_tolerance": True}, "date_tolerance=True is not a number of 0 or more"),
        ({"check_formats": 1}, "check_formats=1 is not true or false"),
        ({"equivalent_at": 95}, "equivalent_at=95 is not a number from 0 to 1"),
        ({"equivalent_at": 0.5, "minor_at": 0.9}, "minor_at=0.9 must not be above equivalent_at=0.5"),
        (
            {"tolerance": 1},
            "option 'tolerance' is unknown. Did you mean 'date_tolerance' or 'number_tolerance'",
        ),
    ],
)
def test_a_wrong_option_is_named_with_what_to_write(options, said):
    with pytest.raises(UsageError) as caught:
        profile_for("json", **options)
    assert said in str(caught.value)
    with pytest.raises(UsageError) as caught:
        profiles_from({"mine": {"task": "json", **options}}, "[tool.promptfuzz.profiles]")
    assert str(caught.value).startswith("[tool.promptfuzz.profiles].mine: ")


def test_a_profile_is_checked_however_it_is_made():
    with pytest.raises(UsageError, match="must not be above"):
        Profile("mine", "text", 0.5, 0.9)
    with pytest.raises(UsageError, match="list_order='x'"):
        replace(profile_for("json"), list_order="x")


def test_what_is_chosen_has_the_order_that_it_runs_in():
    chosen = profile_for("free", guards=["numbers", "negation"], tiers=["rouge-l", "token"])
    assert chosen.guards == ("negation", "numbers")
    assert chosen.tiers == ("token", "rouge-l")
    assert chosen.measures == ("rouge-l",)
    assert profile_for("free").guards == GUARDS
    assert profile_for("free").tiers == TIERS


def test_thresholds_go_together():
    assert profile_for("free", minor_at=0.3).words_minor_at == 0.3
    assert profile_for("free", minor_at=0.3, words_minor_at=0.4).words_minor_at == 0.4
    assert profile_for("free", equivalent_at=0.5).minor_at == 0.5
    assert profile_for("free", equivalent_at=None, minor_at=None) == profile_for("free")


@pytest.mark.parametrize(
    ("task", "options", "baseline", "response", "outcome"),
    [
        ("free", {"guards": ()}, "The refund is approved.", "The refund is not approved.", "undecided"),
        ("free", {"guards": ["numbers"]}, "We pay 14 euros today.", "We pay 41 euros today.", "deviation"),
        ("free", {"guards": ["negation"]}, "We pay 14 euros today.", "We pay 41 euros today.", "undecided"),
        ("free", {}, "Yes, you can cancel it any time.", "No, you can cancel it any time.", "deviation"),
        ("free", {"guards": ()}, "Sure, here is the summary.", "I'm sorry, I can't help with that.", "undecided"),
        ("classification", {"normalisers": ["space"]}, "REFUND", "refund", "deviation"),
        ("classification", {"normalisers": ["case"]}, "REFUND", "refund", "equivalent"),
        ("classification", {"normalisers": ["case"]}, "REFUND", "refund.", "deviation"),
        ("classification", {"normalisers": ["case", "punctuation"]}, "REFUND", "**refund**", "deviation"),
        ("classification", {"normalisers": ["case", "markup"]}, "REFUND", "**refund**", "equivalent"),
        ("free", {"normalisers": []}, "The parcel is lost today.", "the parcel is lost today.", "minor"),
        ("free", {"normalisers": ["case"]}, "The parcel is lost.", "the parcel  is lost.", "minor"),
        ("free", {"normalisers": []}, "The parcel is lost.", "The parcel is lost.", "equivalent"),
        ("json", {"normalisers": ["space"]}, '{"a": "Lamp"}', '{"a": "lamp"}', "deviation"),
        ("json", {}, '{"a": "Lamp"}', '{"a": "lamp"}', "minor"),
        ("free", {"tiers": ["semantic"]}, "The parcel is lost in town.", "The parcel was lost in town.", "undecided"),
        ("free", {"tiers": ["token"]}, '{"a": 12}', '{"a": "12"}', "equivalent"),
        ("free", {}, '{"a": 12}', '{"a": "12"}', "minor"),
        ("free", {"tiers": ["token", "rouge-l"]}, "The red parcel is here.", "The big parcel is here.", "minor"),
        ("free", {"tiers": ["rouge-l"], "equivalent_at": 0.7}, "We sent one.", "One we sent.", "minor"),
        ("free", {"tiers": ["rouge-l"]}, "We sent it to you in May.", "It was a long and cold war.", "undecided"),
        ("free", {"tiers": ["rouge-l"]}, "The fee is due.", "The fee is not due.", "deviation"),
    ],
)  # fmt: skip
def test_each_option_changes_what_counts(task, options, baseline, response, outcome):
    found = compare(baseline, response, profile=profile_for(task, **options))
    assert found.outcome == outcome, found
    assert found.explanation


def test_a_semantic_tier_that_is_switched_off_is_not_asked():
    class Embedder:
        def embed(self, texts):
            raise AssertionError(texts)

    pair = "You may send it back within two weeks.", "Returns are possible for a fortnight."
    with pytest.raises(AssertionError):
        compare(*pair, semantic=Embedder())
    assert (
        compare(*pair, semantic=Embedder(), profile=profile_for("free", tiers=TIERS[:3])).outcome
        == "undecided"
    )


def test_a_project_names_profiles():
    profiles = profiles_from(
        {"invoices": {"task": "extraction", "number_tolerance": 0.01}, "short": {"task": "chat"}}, "here"
    )
    assert profiles["invoices"] == replace(profile_for("extraction", number_tolerance=0.01), name="invoices")
    assert profiles["short"].kind == "text"
    assert named({"task": "invoices", "seed": 1}, profiles, "t") == {
        "task": None,
        "profile": profiles["invoices"],
        "seed": 1,
    }
    assert named({"profile": "invoices"}, profiles, "t") == {"profile": profiles["invoices"]}
    for task in (None, *TASKS, "summary"):
        assert named({"task": task}, profiles, "t") == {"task": task}
    contract = Contract.of({"task": "invoices"}, where="t", profiles=profiles)
    assert (contract.comparison.task, contract.comparison.profile, contract.comparison.compared_as) == (
        None,
        profiles["invoices"],
        "invoices",
    )


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ([], "here: [] is no table"),
        ({"x": 3}, "here.x: 3 is no table; write [tool.promptfuzz.profiles.x]."),
        ({"x": {}}, "here.x: task is missing"),
        ({"x": {"task": "jsn"}}, "here.x: task='jsn' is not one of "),
        ({"x": {"task": ["json"]}}, "here.x: task=['json'] is not one of "),
        ({"json": {"task": "json"}}, "here.json: 'json' is a profile of its own"),
        ({"chat": {"task": "json"}}, "here.chat: 'chat' is a profile of its own"),
        ({"quirx": {"task": "json"}}, "here.quirx: 'quirx' is a profile of its own"),
    ],
)
def test_a_wrong_table_of_profiles_is_named(table, said):
    with pytest.raises(UsageError) as caught:
        profiles_from(table, "here")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"task": "invoice"}, "t: task='invoice' is not one of "),
        ({"task": "invoices", "profile": "quirx"}, "t: give task='invoices' or profile=, not both."),
        ({"task": "json", "profile": "quirx"}, "t: give task='json' or profile=, not both."),
        ({"profile": "json"}, "t: unknown profile 'json'. Did you mean task='json'?"),
        ({"profile": "invoice"}, "t: unknown profile 'invoice'. Did you mean 'invoices'?"),
        ({"profile": "qirx"}, "t: unknown profile 'qirx'. Did you mean 'quirx'?"),
        (
            {"profile": "mine"},
            "t: unknown profile 'mine'. Known: invoices, quirx, or what profile_for() returns.",
        ),
        ({"profile": 3}, "t: profile=3 is not a profile. Write 'quirx'"),
        ({"schema": 3}, "t: schema=3 is not a JSON Schema"),
    ],
)
def test_a_contract_says_what_is_wrong(settings, said):
    profiles = profiles_from({"invoices": {"task": "json"}}, "here")
    with pytest.raises(UsageError) as caught:
        Contract.of(settings, where="t", profiles=profiles)
    assert said in str(caught.value)
