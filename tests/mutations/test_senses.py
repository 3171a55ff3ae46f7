"""Nearby senses, and operators made of any lexicon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from mutation_samples import TEXTS, draft_of

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.analysis.lexicon import TableLexicon, own_lexicon
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.operators.synonyms import synonyms_from
from pytest_promptfuzz.randomness import Rng

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.engine.operator import Operator

NAMES = ["near-synonym", "hypernym", "hyponym"]


def outcomes(operator: str | Operator, text: str) -> set[str]:
    return {each.text for each in plan(text, 60, operators=[operator]).mutations}


@pytest.mark.parametrize("name", NAMES)
def test_they_preserve_nothing_and_join_no_default_plan(name: str) -> None:
    found = registry.get(name)
    assert (found.preserves, found.relation, found.by_default) == ("no", "invariance", False)
    assert all(each.name != name for each in registry.default_pool(found.dimension))


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("near-synonym", "Explain the concept.", "Describe the concept."),
        ("near-synonym", "Write about the causes of war.", "Write about the reasons of war."),
        ("hypernym", "Name the owner of each dog.", "Name the owner of each animal."),
        ("hypernym", "Describe an orange.", "Describe a fruit."),
        ("hypernym", "Translate the novel.", "Convert the novel."),
        ("hyponym", "Describe a vehicle.", "Describe a car."),
        ("hyponym", "The animals are quiet.", "The dogs are quiet."),
    ],
)
def test_a_sense_is_shifted(name: str, text: str, wanted: str) -> None:
    assert wanted in outcomes(name, text)


@pytest.mark.parametrize(
    ("name", "kept", "text"),
    [
        ("hypernym", "Car", "Tell me what Car and Driver is."),
        ("hypernym", "the car", "Say what {car} holds, not the car of the owner."),
        ("hypernym", "dog-like", "Name one dog-like animal."),
        ("hyponym", "vehicle", "Extract the vehicle and the color of it as JSON."),
        ("near-synonym", "not", "Do not explain it."),
    ],
)
def test_names_fields_and_logic_stay(name: str, kept: str, text: str) -> None:
    assert [each for each in outcomes(name, text) if kept not in each] == []


SMALL = TableLexicon(
    "small",
    "3",
    "en",
    {
        ("synonym", "noun"): {
            "report": ("account", "zyzzyva"),
            "cat": ("not",),
            "review": ("report",),
            "city": ("town",),
        },
        ("synonym", "verb"): {
            "report": ("announce",),
            "describe": ("depict",),
            "stop": ("end",),
            "not": ("never",),
        },
        ("synonym", "adjective"): {"happy": ("glad",)},
        ("synonym", "adverb"): {"solely": ("happily",), "sadly": ("happily",)},
        ("wider", "noun"): {"city": ("place",)},
    },
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Describe the city.", "Depict the city."),
        ("Describe the city.", "Describe the town."),
        ("It is about describing the cities in it.", "It is about describing the towns in it."),
        ("Explain it by describing the sea.", "Explain it by depicting the sea."),
        ("The sea was described.", "The sea was depicted."),
        ("Write the report.", "Write the account."),
        ("You must report the loss.", "You must announce the loss."),
    ],
)
def test_another_lexicon_is_inflected_and_read_in_context(text: str, wanted: str) -> None:
    assert wanted in outcomes(synonyms_from(SMALL), text)


def test_rare_words_words_of_logic_and_names_are_left_out() -> None:
    assert outcomes(synonyms_from(SMALL), "Answer sadly and solely in verse.") == {
        "Answer happily and solely in verse."
    }
    made = outcomes(synonyms_from(SMALL), "Do not write the report on the cat for City Hall.")
    assert made == {"Do not write the account on the cat for City Hall."}


def test_a_word_of_two_parts_of_speech_waits_for_its_context() -> None:
    assert outcomes(synonyms_from(SMALL), "Say which users report losses.") == set()


def test_what_an_operator_of_a_lexicon_is() -> None:
    made = synonyms_from(SMALL, kind="wider")
    assert (made.id, made.preserves, made.by_default, made.languages) == (
        "hypernym-small@1",
        "no",
        False,
        ("en",),
    )
    assert synonyms_from(SMALL).preserves == "conditional"
    assert synonyms_from(SMALL, name="mine").name == "mine"
    assert "small 3" in made.summary
    assert outcomes(made, "Describe the city.") == {"Describe the place."}
    with pytest.raises(UsageError, match=r"kind='wide'.*'wider'"):
        synonyms_from(SMALL, kind="wide")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="kebab-case"):
        synonyms_from(SMALL, name="My synonyms")


def test_our_lexicon_goes_through_the_same_door() -> None:
    assert "Write a succinct text." in outcomes(synonyms_from(own_lexicon()), "Write a concise text.")


@settings(max_examples=60)
@given(TEXTS)
def test_edits_never_touch_protected_text(text: str) -> None:
    for found in (*map(registry.get, [*NAMES, "synonym"]), synonyms_from(own_lexicon())):
        draft = draft_of(text)
        for edits, _ in zip(found.propose(draft, Rng(b"key", "test")), range(3), strict=False):
            check_edits(list(edits), len(text), draft.spans, source=found.name)
            assert apply_edits(text, edits) != text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("near-synonym", "Write to the student."),
        ("hyponym", "Tell the passenger the answer."),
        ("hyponym", "You speak for the airline, and bags are checked in by the date."),
        ("hypernym", "Extract the ticket."),
    ],
)
def test_words_nobody_would_put_there_are_not(name: str, text: str) -> None:
    assert outcomes(name, text) == set()
