"""Operators as they are written, with an intensity and one after another, and what `mutations=` asks for."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from mutation_samples import PROMPTS

from pytest_promptfuzz import translations
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.contract import Contract
from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.edits import (
    Tokens,
    apply_edits,
    check_edits,
    insert,
    reorder,
    replace,
    touched_words,
)
from pytest_promptfuzz.mutations.engine.mutation import DIMENSIONS, Mutation, severity_of
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.mutations.engine.planner import mutate, plan
from pytest_promptfuzz.mutations.engine.registry import changed_draft, compose, find
from pytest_promptfuzz.mutations.engine.selection import read_mutations, wanted
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.randomness import Rng

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.engine.edits import Edit

LONG = """\
You are a support assistant. Classify the ticket below as billing, technical, or other. Do not explain your answer.
Please summarize the main problem in 2 sentences, and use language that every customer can understand. If the category \
is unclear, choose the most relevant option. It is important that you do not guess.

Ticket: {ticket}
"""


def draft_of(text: str) -> Draft:
    spans = Prompt(text).spans
    kinds = [kind for _, _, kind in spans]
    return Draft(text, [(start, end) for start, end, _ in spans], kinds=kinds)


def names(mutations: list[Mutation]) -> list[str]:
    return ["+".join(each.operators) for each in mutations]


# How operators are written


@pytest.mark.parametrize(
    ("written", "identity", "again"),
    [
        ("keyboard-typo", "keyboard-typo@{}", "keyboard-typo"),
        ("keyboard-typo@{}", "keyboard-typo@{}", "keyboard-typo"),
        ("keyboard-typo:3", "keyboard-typo@{}:3", "keyboard-typo:3"),
        ("keyboard-typo:20%", "keyboard-typo@{}:20%", "keyboard-typo:20%"),
        ("keyboard-typo:12.5%", "keyboard-typo@{}:12.5%", "keyboard-typo:12.5%"),
        ("keyboard-typo@{}:100%", "keyboard-typo@{}:100%", "keyboard-typo:100%"),
        ("keyboard-typo + double-space", "keyboard-typo@{}+double-space@1", "keyboard-typo+double-space"),
        (
            "keyboard-typo:2+double-space:50%",
            "keyboard-typo@{}:2+double-space@1:50%",
            "keyboard-typo:2+double-space:50%",
        ),
    ],
)
def test_what_is_written_is_read(written: str, identity: str, again: str) -> None:
    version = str(registry.get("keyboard-typo").version)
    found = find(written.format(version))
    assert found.id == identity.format(version)
    assert str(found) == again
    assert find(found.id).id == found.id  # what a report shows can be asked for


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("keybord-typo", "no operator or dimension 'keybord-typo'. Did you mean 'keyboard-typo'"),
        (
            "keyboard-typo+dobule-space:3",
            "'dobule-space' in 'keyboard-typo+dobule-space:3'. Did you mean 'double-s",
        ),
        ("lexical+synonym", "'lexical' in 'lexical+synonym' is a dimension; a composition takes operators"),
        ("lexical:3", "'lexical' is a dimension; an intensity belongs to operators"),
        ("keyboard-typo+", "a name is missing in 'keyboard-typo+'"),
        ("+", "a name is missing in '+'"),
        ("", "a name is missing"),
        ("keyboard-typo:", "intensity '' is neither a count"),
        ("keyboard-typo:0", "'keyboard-typo:0': the intensity 0 changes nothing"),
        ("keyboard-typo:-1", "intensity '-1' is neither"),
        ("keyboard-typo:0%", "the intensity 0 (0%) is no share"),
        ("keyboard-typo:120%", "the intensity 1.2 (120%) is no share; give one above 0 up to 1"),
        ("keyboard-typo:0.5", "'0.5' is no count; write a share in percent, like 20%"),
        ("keyboard-typo:many", "'many' is neither a count like 3 nor a share like 20%"),
        ("keyboard-typo:²", "'²' is neither"),
        ("keyboard-typo:٣", "'٣' is neither"),
        ("keyboard-typo:1e3", "'1e3' is neither"),
        ("keyboard-typo@99:2", "here, not 99"),
        ("upper-case:3", "'upper-case' has no intensity: it changes a prompt as a whole"),
        ("double-space+upper-case:3", "'upper-case' has no intensity"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_mend(written: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        mutate(LONG, 2, operators=[written])
    assert message in str(raised.value)


# Intensity


@pytest.mark.parametrize("value", [0, -3, True, 0.0, 1.5, -0.1, float("nan"), "3", None])
def test_impossible_intensities_are_refused(value: object) -> None:
    with pytest.raises(UsageError, match="intensity"):
        find("double-space").at(value)  # type: ignore[arg-type]


def _at(each: Operator, intensity: float) -> Operator | None:
    try:
        return each.at(intensity)
    except UsageError:
        return None


WITH_INTENSITY = [each for each in registry.builtin().values() if _at(each, 1) is not None]
# A place of these is a word or name wherever it stands: replaced everywhere or nowhere.
EVERYWHERE = {"synonym", "identifier-renaming", "camel-case"}
# A place of these is a word; of the semantic ones a sentence; of the others a part that moves, or an end of the prompt.
IN_WORDS = {"lexical", "math", "code"}


@pytest.mark.parametrize("each", WITH_INTENSITY, ids=str)
def test_more_intensity_is_more_change(each: Operator) -> None:
    """At 1 an operator changes one place; at 100 % as many as it can, which is never fewer than at its own share."""
    own = most = 0
    for text in [*PROMPTS, LONG, each.example[0] if each.example else LONG]:
        draft = draft_of(text)
        counts = []
        for variant in (each.at(1), each, each.at(1.0)):
            rng = Rng(b"", "test", intensity=variant.intensity)
            edits = next(variant.proposals(draft, rng), ())
            inside = each.dimension in IN_WORDS
            ends = draft.tokens.ends if inside else [sentence.end for sentence in draft.sentences]
            counts.append(len({bisect_right(ends, edit.start) for edit in edits}))
        if (inside or each.dimension == "semantic") and each.name not in EVERYWHERE:
            assert counts[0] <= 1
        own, most = own + counts[1], most + counts[2]
    assert 0 < own <= most


def test_a_count_is_a_count_and_a_share_a_share() -> None:
    def changed(written: str, n: int = 6) -> int:
        (edits,) = {len(each.edits) for each in mutate(LONG, n, operators=[written])}
        return edits

    assert changed("double-space:1") == 1
    assert changed("double-space:4") == 4
    everywhere = changed("double-space:9999", 1)
    assert everywhere == changed("double-space:100%", 1) > 40
    assert changed("double-space:50%") == (everywhere + 1) // 2


def test_an_operator_of_ones_own_that_ignores_intensity_says_so() -> None:
    @operator("stubborn", dimension="lexical", severity=0.1)
    def stubborn(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        yield [insert(0, "Now: ")]

    assert mutate(LONG, 1, operators=[stubborn])[0].text.startswith("Now: ")
    with pytest.raises(UsageError, match="'stubborn' has no intensity"):
        mutate(LONG, 1, operators=[stubborn.at(2)])


# Composition


def test_the_second_works_on_what_the_first_has_made() -> None:
    @operator("mark", dimension="lexical", severity=0.2)
    def mark(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        yield [insert(0, "A ")]

    @operator("count", dimension="structural", severity=0.5)
    def count(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        yield [insert(len(draft.text), f" ({len(draft.words)})")]

    (one,) = mutate("go on now", 1, operators=[compose(mark, count)])
    (other,) = mutate("go on now", 1, operators=[compose(count, mark)])
    assert (one.text, other.text) == ("A go on now (4)", "A go on now (3)")
    assert (one.operators, other.operators) == (("mark@1", "count@1"), ("count@1", "mark@1"))
    assert (one.dimension, other.dimension) == ("lexical", "structural")
    assert one.severity == severity_of(0.6, 0.0)  # 1 - (1 - 0.2)(1 - 0.5)


@pytest.mark.parametrize(
    "written",
    [
        "keyboard-typo+double-space",
        "double-space:2+keyboard-typo:3",
        "sentence-shuffle+keyboard-typo:50%",
        "upper-case+double-space:1",
        "synonym+contraction",
        "synonym+sentence-reverse+trailing-space",
    ],
)
def test_compositions_keep_what_is_protected(written: str) -> None:
    spans = [(start, end) for start, end, _ in Prompt(LONG).spans]
    made = mutate(LONG, 6, operators=[written])
    parts = [find(each) for each in written.split("+")]
    assert len({each.text for each in made}) == 6
    for each in made:
        assert each.operators == tuple(part.id for part in parts)
        check_edits(each.edits, len(LONG), spans)
        assert each.text == apply_edits(LONG, each.edits)
        assert each.change_rate == touched_words(each.edits, Tokens(LONG)) / len(LONG.split())
        assert 0 < each.severity <= find(written).severity
        assert Mutation.from_json(each.to_json()) == each
    assert mutate(LONG, 6, operators=[written]) == made


def test_every_part_must_be_able_to_act() -> None:
    for written in ("bullet-reorder+double-space", "double-space+bullet-reorder"):
        with pytest.raises(UsageError, match=r"does not fit|no operator fits"):
            mutate("Classify the text. Be brief.", 1, operators=[written])


def test_a_composition_is_as_harmless_as_its_worst_part() -> None:
    assert find("double-space+trailing-space").preserves == "yes"
    assert find("double-space+trailing-space").surface
    assert find("double-space+keyboard-typo").preserves == "conditional"
    assert not find("double-space+keyboard-typo").surface
    assert find("double-space+keyboard-typo").languages == ("en",)
    assert find("double-space+keyboard-typo").relation == "invariance"
    assert not find("double-space+keyboard-typo").by_default


def _made(name: str, **facts: object) -> Operator:
    return Operator(name, lambda draft, rng: [], "lexical", 0.1, **facts)  # type: ignore[arg-type]


def test_what_does_not_go_together_is_refused() -> None:
    renamed, formatted = _made("renamed", relation="renaming"), _made("formatted", relation="format")
    assert compose(renamed, "double-space", renamed).relation == "renaming"
    with pytest.raises(UsageError, match=r"two relations, 'renaming' and 'format'.* apart"):
        compose(renamed, formatted)
    english, german = _made("english", languages=("en", "fr")), _made("german", languages=("de",))
    assert compose(english, _made("french", languages=("fr",))).languages == ("fr",)
    with pytest.raises(
        UsageError, match="no language to work on: 'german' is for de, those before it for en, fr"
    ):
        compose(english, german)
    with pytest.raises(UsageError, match="two operators or more"):
        compose("double-space")
    with pytest.raises(UsageError, match="3 is int"):
        compose("double-space", 3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no intensity of its own"):
        compose("double-space", "keyboard-typo").at(2)
    with pytest.raises(UsageError, match="kebab-case"):
        compose("double-space", "keyboard-typo", name="Space Typo")


def test_a_composition_may_have_a_name_and_parts_of_parts() -> None:
    named = compose("double-space", "keyboard-typo:2", name="sloppy")
    assert str(named) == "sloppy"
    assert [str(part) for part in compose(named, "synonym").parts] == [
        "double-space",
        "keyboard-typo:2",
        "synonym",
    ]
    assert mutate(LONG, 1, operators=[named])[0].operators == named.ids


def test_a_draft_of_the_changed_text_protects_what_was_protected() -> None:
    text = "Sort {a} by 3 keys, then {b}."
    draft = draft_of(text)
    after = changed_draft(draft, [insert(0, "Now: "), reorder([(5, 8), (25, 28)], [1, 0])])
    assert after.text == "Now: Sort {b} by 3 keys, then {a}."
    held = [after.text[start:end] for start, end in after.spans]
    assert held == ["{b}", "3", "{a}"]
    assert after.kinds == ("slot", "number", "slot")
    # What an operator built to do so has written in place of a number is protected like the number.
    after = changed_draft(draft, [replace(12, 13, "three")])
    assert [after.text[start:end] for start, end in after.spans] == ["{a}", "three", "{b}"]
    assert len(changed_draft(draft, [replace(12, 18, "")]).spans) == 2
    # Two that one edit has changed are one.
    both = changed_draft(draft, [replace(6, 13, "x")])
    assert [both.text[start:end] for start, end in both.spans] == ["{x", "{b}"]


def test_noise_does_not_hide_the_language_but_a_translation_changes_it() -> None:
    draft = draft_of("Sort the items of the list.")
    edits = [replace(0, 26, "Sortiere die Liste und den Text")]
    assert changed_draft(draft, edits).language == "en"
    assert changed_draft(draft, edits, translated=True).language == "de"


# What `mutations=` asks for


def test_counts_are_kept_and_weights_share_eight() -> None:
    made = mutate(LONG, {"lexical": 3, "synonym": 2, "sentence-shuffle": 1})
    assert Counter(each.dimension for each in made) == {"lexical": 3, "semantic": 2, "structural": 1}
    assert len(made) == 6
    made = mutate(LONG, {"lexical": 0.75, "semantic": 0.25})
    assert Counter(each.dimension for each in made) == {"lexical": 6, "semantic": 2}
    made = mutate(LONG, {find("double-space:1"): 1, "keyboard-typo:3+double-space": 2, "synonym": 0})
    assert names(made)[0] == "double-space@1:1"
    assert [len(each.operators) for each in made] == [1, 2, 2]
    assert mutate(LONG, {"keyboard-typo:1": 1, "keyboard-typo:3": 1})[0].edits


def test_a_list_gives_one_each() -> None:
    ready = mutate(LONG, 1, operators=["title-case"])[0]
    made = mutate(LONG, ["synonym", "double-space:2", find("upper-case"), "synonym", ready, "lexical"])
    assert made[0] == ready
    found = Counter(name.partition("@")[0] for name in names(made))
    assert found["synonym"] == 2
    assert found["upper-case"] == found["double-space"] == found["title-case"] == 1
    assert len({each.text for each in made}) == 6
    assert mutate(LONG, [ready]) == [ready]


def test_a_ready_mutation_of_a_chat_stays_one() -> None:
    chat = Prompt.from_messages([{"role": "system", "content": "Be brief. Use plain words."}])
    ready = Mutation.from_json(mutate(chat, 1, operators=["upper-case"])[0].to_json())
    (made,) = mutate(chat, [ready])
    assert made.prompt.is_chat
    assert made.prompt.messages[0]["content"] == "BE BRIEF. USE PLAIN WORDS."


def _ready(text: str = LONG, **changes: object) -> Mutation:
    facts = {"original": text, "edits": (replace(0, 3, "We"),), **changes}
    return Mutation(operators=("mine@1",), dimension="lexical", severity=0.1, preserves="yes", **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mutations", "message"),
    [
        ({"lexical": 3, "synonym": 0.5}, "mixes counts and weights"),
        ({"lexical": True}, "'lexical' has True"),
        ({"lexical": -1}, "'lexical' has -1"),
        ({"lexical": float("nan")}, "'lexical' has nan"),
        ({"lexical": "3"}, "'lexical' has '3'"),
        ({"lexical": 0}, "all counts are 0"),
        ({}, "all counts are 0"),
        ([], "is empty"),
        ({"lexical": 20_000}, "20,000 mutations are too many"),
        ({"synonim": 2}, "Did you mean 'synonym'"),
        ({"synonym": 1, f"synonym@{registry.get('synonym').version}": 1}, "named twice"),
        (["synonym", 3], "3 is not a name"),
        ("8", "mutations='8'"),
        ([_ready("Another prompt.")], "changes another prompt ('Another prompt.')"),
        ([_ready(edits=())], "leaves the prompt as it is"),
        ([_ready(), _ready()], "is given twice"),
        ([_ready(edits=(replace(0, 9999, ""),))], "outside the text"),
    ],
)
def test_what_cannot_be_planned_is_named(mutations: object, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        mutate(LONG, mutations)  # type: ignore[arg-type]
    assert message in str(raised.value)


def test_operators_are_named_once() -> None:
    with pytest.raises(UsageError, match="Keep one of them"):
        mutate(LONG, {"lexical": 2}, operators=["synonym"])


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_dimension_stands_for_its_operators(dimension: str) -> None:
    (stratum,) = wanted({dimension: 2}).strata
    builtin = [each for each in registry.builtin().values() if each.dimension == dimension]
    defaults = [each for each in builtin if each.by_default]
    assert list(stratum.operators) == (defaults or builtin)


def test_no_operator_has_more_than_a_quarter_unless_there_are_too_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = plan(LONG, {"lexical": 12}).mutations
    assert max(Counter(each.operators for each in made).values()) <= 3
    monkeypatch.setattr(registry, "default_pool", lambda _: (_varied("one"), _varied("two")))
    made = plan(LONG, {"lexical": 8}).mutations
    assert Counter(each.operators[0] for each in made) == {"one@1": 4, "two@1": 4}


def test_what_is_named_is_not_drawn_for_its_dimension_too() -> None:
    lexical, named = wanted({"lexical": 3, "double-space:2": 1}).strata
    assert [str(each) for each in named.operators] == ["double-space:2"]
    assert "double-space" not in {each.name for each in lexical.operators}
    assert "keyboard-typo" in {each.name for each in lexical.operators}


def test_a_name_that_is_listed_twice_counts_twice() -> None:
    strata = wanted(["synonym", "upper-case", "synonym"]).strata
    assert [(each.name, each.weight) for each in strata] == [("synonym", 2), ("upper-case", 1)]


def _varied(name: str) -> Operator:
    def propose(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        for number in range(50):
            yield [insert(0, f"{name} {number} ")]

    return Operator(name, propose, "lexical", 0.1)


def test_the_contract_counts_what_is_asked_for() -> None:
    contract = Contract.of({"mutations": {"lexical": 3, "synonym": 2}}, where="t")
    assert contract.plan.mutations == 5
    made = plan(LONG, contract.plan.mutations, operators=contract.plan.operators).mutations
    assert Counter(each.dimension for each in made) == {"lexical": 3, "semantic": 2}
    assert Contract.of({"mutations": ["synonym", "upper-case"]}, where="t").plan.mutations == 2
    assert Contract.of({"mutations": {"lexical": 1.0}}, where="t").plan.mutations == 8


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"mutations": {"lexicl": 3}},
            "test_x: operators: there is no operator or dimension 'lexicl'. Did you mean",
        ),
        ({"mutations": {"lexical": 3, "synonym": 0.1}}, "test_x: mutations="),
        (
            {"mutations": {"lexical": 3}, "operators": ["synonym"]},
            "test_x: mutations={'lexical': 3} and operators= both name operators",
        ),
        ({"mutations": []}, "test_x: mutations=[] is empty"),
        (
            {
                "mutations": {"lexical": 2, "translated-de": 1},
                "operators": translations({"de": "Sortiere es."}),
            },
            "test_x: mutations={'lexical': 2, 'translated-de': 1} and operators= both name operators. Keep",
        ),
        ({"mutations": "8"}, "test_x: mutations='8' is not a number. Write mutations=8"),
        ({"operators": ["keyboard-typo+synonim:3"]}, "test_x: operators: there is no operator 'synonim' in"),
    ],
)
def test_a_contract_names_the_test_and_the_mend(values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        Contract.of(values, where="test_x")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("8", 8),
        (" 12 ", 12),
        ("-3", -3),
        ("lexical=3,synonym=2", {"lexical": 3, "synonym": 2}),
        ("lexical=0.6, semantic=0.4", {"lexical": 0.6, "semantic": 0.4}),
        ("keyboard-typo:20%+double-space=2", {"keyboard-typo:20%+double-space": 2}),
        ("synonym,upper-case", ["synonym", "upper-case"]),
    ],
)
def test_what_a_command_line_asks_for(text: str, read: object) -> None:
    assert read_mutations(text) == read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Write a number such as 8"),
        ("lexical=3,", "a name is missing"),
        ("lexical=3,synonym", "'synonym' has no count. Write synonym=2"),
        ("lexical=", "'' is not a count"),
        ("=3", "'=3' has no count"),
        ("lexical=3,lexical=2", "'lexical' stands there twice"),
        ("lexical=many", "'many' is not a count"),
        ("٣x=²", "is not a count"),
        ("²", "is not a count"),
    ],
)
def test_what_a_command_line_cannot_mean(text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_mutations(text)
    assert message in str(raised.value)
