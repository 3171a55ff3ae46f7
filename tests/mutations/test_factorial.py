"""Factorial designs: the runs, what a fraction confounds, the effects, and the study of 2×2×2×2 variants."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import (
    Edit,
    Ref,
    apply_edits,
    check_edits,
    insert,
    reorder,
    replace,
)
from pytest_promptfuzz.mutations.engine.factorial import (
    Design,
    TwoLevel,
    Variant,
    carried,
    factorial,
    two_level,
)
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import get
from pytest_promptfuzz.mutations.operators.additions import few_shot
from pytest_promptfuzz.prompts.prompt import Prompt

SENTIMENT = """Please classify the sentiment of the following review as positive, neutral or negative.

Review: {review}"""

# Formality, phrasing, order and synonym set: the four factors of the published study.
FACTORS = {
    "formality": (Variant("Please classify"), Variant("Hey, classify")),
    "phrasing": (
        None,
        lambda text: text.replace("lassify the", "an you classify the").replace("negative.", "negative?"),
    ),
    "order": (None, "text-first"),
    "synonyms": (None, {"sentiment": "tone", "positive": "favourable"}),
}
LETTERS = "ABCDEFGH"


def of_words(k: int, fraction: float) -> TwoLevel:
    return two_level(tuple(LETTERS[:k]), fraction)


def shown(design: TwoLevel) -> list[str]:
    return ["".join(word) for word in design.defining_relation]


# Defining relations and resolutions as printed in textbooks.
TEXTBOOK = [
    (3, 2, "III", ["ABC"]),
    (4, 2, "IV", ["ABCD"]),
    (5, 2, "V", ["ABCDE"]),
    (5, 4, "III", ["ABD", "ACE", "BCDE"]),
    (6, 2, "VI", ["ABCDEF"]),
    (6, 4, "IV", ["ABCE", "ADEF", "BCDF"]),
    (6, 8, "III", ["ABD", "ACE", "BCF", "DEF", "ABEF", "ACDF", "BCDE"]),
    (7, 2, "VII", ["ABCDEFG"]),
    (7, 4, "IV", ["CEFG", "ABCDF", "ABDEG"]),
    (7, 8, "IV", ["ABCE", "ABFG", "ACDG", "ADEF", "BCDF", "BDEG", "CEFG"]),
    (7, 16, "III", None),
    (8, 2, "VIII", ["ABCDEFGH"]),
    (8, 4, "V", ["CDEFGH", "ABCDG", "ABEFH"]),
    (8, 8, "IV", ["ABCF", "ABDG", "CDFG", "BCDEH", "ADEFH", "ACEGH", "BEFGH"]),
    (8, 16, "IV", None),
]
ROMAN = {"III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8}


@pytest.mark.parametrize(("k", "parts", "resolution", "words"), TEXTBOOK)
def test_fractions_are_the_textbook_s(k: int, parts: int, resolution: str, words: list[str] | None) -> None:
    design = of_words(k, 1 / parts)
    assert design.resolution == ROMAN[resolution]
    assert len(design.signs) == 2**k // parts
    assert len(design.defining_relation) == parts - 1
    if words is not None:
        assert sorted(shown(design)) == sorted(words)
    for word in design.defining_relation:
        assert set(design.contrast(word)) == {1}


@pytest.mark.parametrize(("k", "parts", "resolution", "words"), TEXTBOOK)
def test_every_factor_is_balanced_and_orthogonal(k: int, parts: int, resolution: str, words: object) -> None:
    design = of_words(k, Fraction(1, parts))
    assert len(set(design.signs)) == len(design.signs)
    for column in zip(*design.signs, strict=True):
        assert sum(column) == 0
    for a, b in combinations(range(k), 2):
        assert sum(row[a] * row[b] for row in design.signs) == 0


def test_full_designs_hold_every_combination_in_standard_order() -> None:
    design = of_words(3, 1)
    assert design.signs[:4] == ((-1, -1, -1), (1, -1, -1), (-1, 1, -1), (1, 1, -1))
    assert set(design.signs) == set(product((-1, 1), repeat=3))
    assert design.resolution is None
    assert design.defining_relation == ()
    assert design.aliases("A") == ()


def test_aliases_of_a_quarter() -> None:
    design = of_words(5, 1 / 4)
    assert ["".join(each) for each in design.aliases("A")] == ["BD", "CE", "ABCDE"]
    assert ["".join(each) for each in design.aliases("BC")] == ["DE", "ABE", "ACD"]
    assert design.generators == (("D", ("A", "B")), ("E", ("A", "C")))


def test_effects_of_a_worked_example() -> None:
    # Montgomery, Design and Analysis of Experiments: filtration rate, 2^4, first eight of standard order and last eight.
    rates = [45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96]
    design = of_words(4, 1)
    assert design.effect("A", rates) == pytest.approx(21.625)
    assert design.effect("C", rates) == pytest.approx(9.875)
    assert design.effect("D", rates) == pytest.approx(14.625)
    assert design.effect("AC", rates) == pytest.approx(-18.125)
    assert design.effect("AD", rates) == pytest.approx(16.625)
    assert design.effect("ABCD", rates) == pytest.approx(1.375)


@given(st.lists(st.integers(-50, 50), min_size=9, max_size=9))
def test_effects_recover_a_model(coefficients: list[int]) -> None:
    design = of_words(4, 1)
    terms = [(), *combinations("ABCD", 1), *combinations("ABCD", 2)][:9]
    values = [
        sum(c * (design.contrast(t)[run] if t else 1) for c, t in zip(coefficients, terms, strict=True))
        for run in range(16)
    ]
    for c, t in zip(coefficients[1:], terms[1:], strict=True):
        assert design.effect(t, values) == pytest.approx(2 * c)
    assert design.effect("BCD", values) == pytest.approx(0)


def test_in_a_fraction_an_effect_is_the_sum_of_its_aliases() -> None:
    full, half = of_words(3, 1), of_words(3, 1 / 2)
    values = [3.0, 5.0, 1.0, 8.0, 2.0, 2.5, 9.0, 4.0]
    chosen = [values[full.signs.index(row)] for row in half.signs]
    assert half.effect("A", chosen) == pytest.approx(full.effect("A", values) + full.effect("BC", values))
    assert half.terms(3) == ()
    with pytest.raises(UsageError, match="A × B × C has the same sign in every run"):
        half.effect("ABC", chosen)


@pytest.fixture(scope="module")
def study() -> Design:
    return factorial(SENTIMENT, FACTORS)


def test_the_study_has_sixteen_variants(study: Design) -> None:
    assert len(study.runs) == len(set(study.variants)) == 16
    assert len(study.mutations) == 15
    assert study.runs[0].mutation is None
    assert {name for run in study.runs for name in run.adapted} == {
        "phrasing"
    }  # "classify" is of two factors
    assert study.runs[0].text == SENTIMENT
    assert study.factors == ("formality", "phrasing", "order", "synonyms")


def test_each_run_is_a_mutation_of_the_original_with_its_levels(study: Design) -> None:
    for run in study.runs:
        if run.mutation is None:
            continue
        assert run.mutation.original == SENTIMENT
        assert apply_edits(SENTIMENT, run.mutation.edits) == run.text
        check_edits(run.mutation.edits, len(SENTIMENT))
        assert ("Hey, " in run.text) == (run.levels["formality"] > 0)
        assert ("an you classify" in run.text) == (run.levels["phrasing"] > 0)
        assert run.text.startswith("Review: {review}") == (run.levels["order"] > 0)
        assert ("above review" in run.text) == (run.levels["order"] > 0)
        assert ("tone" in run.text) == ("favourable" in run.text) == (run.levels["synonyms"] > 0)
        assert Mutation.from_json(json.loads(json.dumps(run.mutation.to_json()))) == run.mutation


def test_then_the_best_with_examples_of_the_operators() -> None:
    shots = [("Great!", "positive"), ("Bad!", "negative"), ("A phone.", "neutral")]
    design = factorial(SENTIMENT, FACTORS)
    best = next(run for run in design.runs if tuple(run.levels.values()) == (1, 1, -1, 1))
    more = design.followed(
        best,
        {
            "examples": (few_shot(shots, position="before"), few_shot(shots, position="after")),
            "case": (None, "upper-case"),
        },
    )
    assert len({*design.variants, *(run.text for run in more)}) == 16 + 2 + 1
    assert [run.mutation.relation for run in more if run.mutation] == ["not-worse", "not-worse", "invariance"]
    assert all(slot in run.text for run in more for slot in ["{review}"])


def test_then_the_best_with_examples_before_and_after(study: Design) -> None:
    values = [float(run.levels["order"] - run.levels["formality"]) for run in study.runs]
    best = study.runs[values.index(max(values))]
    more = study.followed(
        best,
        {
            "examples": (
                lambda text: "Review: Great!\nLabel: positive\n\n" + text,
                lambda text: text + "\n\nExample: Bad! negative",
            )
        },
    )
    assert len(study.runs) + len(more) == 18
    assert more[0].text == "Review: Great!\nLabel: positive\n\n" + best.text
    assert more[1].text.startswith(best.text)
    assert more[0].levels == {**best.levels, "examples": -1}
    assert all(each.mutation is not None and each.mutation.original == SENTIMENT for each in more)


def test_effects_of_the_study(study: Design) -> None:
    values = [
        10 * run.levels["order"] + 3 * run.levels["order"] * run.levels["formality"] for run in study.runs
    ]
    assert study.main_effects(values) == {"formality": 0, "phrasing": 0, "order": 20, "synonyms": 0}
    found = study.interactions(values)
    assert len(found) == 6
    assert found["formality", "order"] == 6
    assert sum(map(abs, found.values())) == 6
    assert set(study.interactions(values, 4)) == {study.factors}


def test_a_half_of_the_study() -> None:
    design = factorial(SENTIMENT, FACTORS, fraction=0.5)
    assert len(design.runs) == 8
    assert design.resolution == 4
    assert design.defining_relation == (design.factors,)
    assert design.aliases["formality", "phrasing"] == (("order", "synonyms"),)
    assert design.aliases["order",] == (("formality", "phrasing", "synonyms"),)
    full = factorial(SENTIMENT, FACTORS)
    assert set(design.variants) < set(full.variants)
    assert full.aliases == {}


def test_operators_change_the_same_words_in_every_run() -> None:
    text = "Classify the ticket carefully. Return the right label quickly.\n\nTicket: {ticket}"
    design = factorial(
        text,
        {"typo": (None, "keyboard-typo:1"), "polite": (None, "politeness"), "order": (None, "text-first")},
        seed=3,
    )
    alone = {run.text: run for run in design.runs}
    assert len(alone) == 8
    typo = next(run for run in design.runs if run.levels == {"typo": 1, "polite": -1, "order": -1})
    damaged = (set(typo.text.split()) - set(text.split())).pop()
    for run in design.runs:
        if not run.adapted:
            assert (damaged in run.text) == (run.levels["typo"] > 0)
    operators = {each for run in design.mutations for each in run.operators}
    assert operators == {get("keyboard-typo").id + ":1", get("politeness").id, get("text-first").id}


def test_the_same_words_twice_are_done_again_and_said() -> None:
    @operator("rotation", dimension="structural", severity=0.5)
    def rotation(draft, rng):
        segments = [(each.start, each.end) for each in draft.sentences]
        yield [reorder(segments, [*range(1, len(segments)), 0])]

    design = factorial(
        "Read on. Be brief. Stop soon.", {"a": (None, "sentence-reverse"), "b": (None, rotation)}
    )
    assert design.variants[1:3] == ("Stop soon. Be brief. Read on.", "Be brief. Stop soon. Read on.")
    both = design.runs[3]
    assert both.adapted == ("b",)
    assert both.text == "Be brief. Read on. Stop soon."
    assert [run.adapted for run in design.runs[:3]] == [(), (), ()]


def test_the_same_design_everywhere() -> None:
    factors = {"typo": (None, "keyboard-typo"), "mood": ("politeness", "formality")}
    text = "Classify the ticket. You need to answer in English. Rate the tone."
    assert factorial(text, factors).variants == factorial(text, factors).variants
    assert factorial(text, factors).variants != factorial(text, factors, seed=1).variants
    assert None not in [run.mutation for run in factorial(text, factors).runs]


def test_what_a_run_claims() -> None:
    design = factorial(
        "Please sort the words. Be kind.",
        {"case": (None, "upper-case"), "tone": ("Please sort", "Sort")},
    )
    by_levels = {tuple(run.levels.values()): run.mutation for run in design.runs}
    given_only, both = by_levels[-1, 1], by_levels[1, 1]
    assert given_only is not None
    assert both is not None
    assert given_only.operators == ("tone@given",)
    assert (given_only.dimension, given_only.preserves) == ("semantic", "conditional")
    assert both.operators == ("tone@given", get("upper-case").id)
    assert both.severity > given_only.severity


def test_chat_prompts_stay_chats() -> None:
    prompt = Prompt.from_messages(
        [
            {"role": "system", "content": "Be kind. Answer briefly."},
            {"role": "user", "content": "Sort {words}."},
        ]
    )
    design = factorial(prompt, {"kind": ("Be kind", "Be strict"), "order": (None, "sentence-reverse")})
    last = design.runs[3].mutation
    assert last is not None
    assert last.prompt.messages[0]["content"] == "Answer briefly. Be strict."
    assert last.prompt.messages[1]["content"] == "Sort {words}."


def test_the_planner_takes_its_mutations() -> None:
    design = factorial(SENTIMENT, FACTORS)
    assert list(plan(SENTIMENT, design.mutations).mutations) == design.mutations


ERRORS = [
    ({}, {}, "at least one name"),
    ({"a": None}, {}, "factor 'a': None is no pair"),
    ({"a": ("Sort", "Rank", "List")}, {}, "is no pair"),
    ({"a": (None, None)}, {}, "factor 'a': neither level changes anything"),
    ({"a": (None, "uper-case")}, {}, "factor 'a', level 1: .*Did you mean 'upper-case'"),
    ({"a": ("Nowhere", "Elsewhere")}, {}, "factor 'a', level 1: 'Nowhere' stands 0 times in the prompt"),
    ({"a": ("the", "those")}, {}, "'the' stands 2 times"),
    ({"a": ("ort", "ank")}, {}, "'ort' stands 0 times"),
    ({"a": ("Sor", "Ran")}, {}, "'Sor' stands 0 times"),
    ({"a": (None, "numbered-to-bulleted")}, {}, "'numbered-to-bulleted' does not fit this prompt"),
    ({"a": (None, lambda text: text)}, {}, "returned the text unchanged"),
    ({"a": (None, lambda text: "")}, {}, "returned ''"),
    ({"a": (None, 3)}, {}, "3 is int; give an operator"),
    ({"a": (None, {})}, {}, "map pieces of the prompt"),
    ({"a": (None, {"Sort the": "Rank the", "the words": "the terms"})}, {}, "overlap"),
    ({"a": (None, Variant("Rank"))}, {}, "a Variant goes with another one"),
    ({"a": ("Sort", "Sort")}, {}, "both levels are 'Sort'"),
    ({"a": ("{n}", "some")}, {}, "slot 'n'"),
    ({"a@b": (None, "upper-case")}, {}, "is no name"),
    ({"a": (None, "upper-case"), "b": (None, "upper-case")}, {}, "same text|does not fit"),
    (dict.fromkeys("abcdefghi", (None, "upper-case")), {}, "9 of them; a design has 1 to 8"),
    ({"a": (None, "upper-case")}, {"fraction": 0.3}, "fraction=0.3: give 1, 1/2"),
    ({"a": (None, "upper-case")}, {"fraction": 2}, "fraction=2: give 1, 1/2"),
    ({"a": (None, "upper-case"), "b": ("Sort", "Rank")}, {"fraction": 0.5}, "2 factors cannot be told apart"),
    ({"a": (None, "upper-case")}, {"seed": "x"}, "seed='x'"),
]


@pytest.mark.parametrize(("factors", "options", "message"), ERRORS, ids=[each[2][:30] for each in ERRORS])
def test_errors_name_the_factor_and_the_mend(factors: dict, options: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        factorial("Sort the words. Keep {n} of the rest.", factors, **options)


def test_a_level_counts_in_whole_words() -> None:
    design = factorial("Please classify it as good.", {"a": ("as", "for"), "b": ("good.", "fine.")})
    assert design.variants[3] == "Please classify it for fine."
    assert factorial("请分类这段文字。", {"a": ("分类", "归类")}).variants[1] == "请归类这段文字。"


def test_runs_with_the_same_text_are_refused() -> None:
    again = lambda text: text.replace("Sort", "Rank") if "Sort" in text else text + "!"  # noqa: E731
    with pytest.raises(UsageError, match="two runs have the same text, whatever the level of 'a' and 'b'"):
        factorial("Sort them.", {"a": ("Sort", "Rank"), "b": (None, again)})


def test_a_message_that_may_not_change_is_not_reworded() -> None:
    prompt = Prompt.from_messages(
        [{"role": "user", "content": "Be kind."}, {"role": "assistant", "content": "Sure thing."}]
    )
    with pytest.raises(UsageError, match="'Sure thing' reaches into a message that may not change"):
        factorial(prompt, {"a": ("Sure thing", "No way")})


TEXT = "abcdefgh"
CARRIED = [
    # Both orders give the same text where the changes concern other words.
    ([replace(1, 2, "BBB")], [replace(4, 5, "E")], "aBBBcdEfgh"),
    ([insert(4, "X")], [reorder([(0, 2), (2, 4)], [1, 0])], "cdabXefgh"),
    ([insert(0, "X")], [reorder([(0, 2), (2, 4)], [1, 0])], "Xcdabefgh"),
    ([insert(1, "X")], [reorder([(0, 2), (2, 4)], [1, 0])], "cdaXbefgh"),
    ([replace(0, 2, "X")], [reorder([(0, 2), (2, 4)], [1, 0])], "cdXefgh"),
    ([insert(2, "X")], [insert(2, "Y")], "abXYcdefgh"),
    ([replace(2, 4, "")], [Edit(0, 0, (Ref(6, 8),)), Edit(6, 8, ())], "ghabef"),
    ([replace(6, 7, "GG")], [Edit(0, 0, (Ref(6, 8),)), Edit(6, 8, ())], "GGhabcdef"),
    # ... and there is none where they concern the same ones.
    ([replace(1, 3, "X")], [reorder([(0, 2), (2, 4)], [1, 0])], None),
    ([insert(2, "X")], [reorder([(0, 2), (2, 4)], [1, 0])], None),
    ([replace(1, 3, "X")], [replace(2, 4, "Y")], None),
    ([insert(2, "X")], [replace(1, 4, "Y")], None),
    ([replace(1, 3, "X")], [Edit(6, 6, (Ref(2, 4),))], None),
]


@pytest.mark.parametrize(("first", "second", "wanted"), CARRIED)
def test_edits_are_carried_over_what_others_have_changed(
    first: list, second: list, wanted: str | None
) -> None:
    made = carried(first, second)
    assert (made if made is None else apply_edits(apply_edits(TEXT, first), made)) == wanted


def test_errors_of_values_and_runs(study: Design) -> None:
    with pytest.raises(UsageError, match="one number for each of the 16 runs"):
        study.main_effects([1.0])
    with pytest.raises(UsageError, match="run 3 has nan"):
        study.main_effects([0, 0, 0, float("nan"), *[0] * 12])
    with pytest.raises(UsageError, match="order=5"):
        study.interactions([0] * 16, 5)
    with pytest.raises(UsageError, match="no factor 'tone'"):
        study.layout.contrast(("tone",))
    with pytest.raises(UsageError, match="not of this design"):
        study.followed(factorial("Sort it.", {"a": ("Sort", "Rank")}).runs[0], {})
    with pytest.raises(UsageError, match="a factor 'order' already"):
        study.followed(study.runs[0], {"order": (None, "upper-case")})


def test_two_relations_in_one_run_are_refused() -> None:
    def marked(name: str, relation: str):
        @operator(name, dimension="semantic", severity=0.5, relation=relation)
        def added(draft, rng):
            yield [insert(len(draft.text), f" {name}.")]

        return added

    with pytest.raises(UsageError, match="two relations, 'format' and 'not-worse'"):
        factorial(
            "Sort them.", {"a": (None, marked("a-b", "format")), "b": (None, marked("c-d", "not-worse"))}
        )
