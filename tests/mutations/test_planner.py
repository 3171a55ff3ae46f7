from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import warnings
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation_samples import PROMPTS, TEXTS, TRIAGE

from pytest_promptfuzz.errors import PromptfuzzWarning, UsageError
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits, insert, replace
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.mutations.engine.planner import largest_remainder, mutate, plan
from pytest_promptfuzz.mutations.operators.controls import without_label
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.text.expressions import fold
from pytest_promptfuzz.text.languages import language_of

if TYPE_CHECKING:
    from collections.abc import Sequence

GOLDEN = "63bcf4b07f487e8465bb4356654cae6bc854db6ba2ef1fb9c4c055e5d1d55749"
GOLDEN_ENGLISH = "618aea7b852c4e6960107e54f45d4491beee03b2aca756be02228c4a4208ef7b"


def name_of(mutation: Mutation) -> str:
    return mutation.operators[0].partition("@")[0]


def digest_of_plans(texts: Sequence[str] = PROMPTS) -> str:
    ids = [[m.id, m.severity, *m.operators] for text in texts for m in plan(text, 12, seed=7).mutations]
    return hashlib.sha256(json.dumps(ids).encode()).hexdigest()


def test_plans_are_what_they_were() -> None:
    """A change here is a change of some operator's output: raise its version, and say so in the change log.

    A language that it learns is none: what it makes in others stays, as `test_english_plans_are_what_they_were` sees.
    """
    assert digest_of_plans() == GOLDEN


def test_english_plans_are_what_they_were() -> None:
    assert digest_of_plans([text for text in PROMPTS if language_of(text) == "en"]) == GOLDEN_ENGLISH


def test_plans_do_not_depend_on_the_hash_seed() -> None:
    code = "import test_planner; print(test_planner.digest_of_plans())"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert seen == {GOLDEN}


@pytest.mark.parametrize(
    ("total", "weights", "shares"),
    [
        (8, (40, 30, 30), (3, 3, 2)),
        (10, (40, 30, 30), (4, 3, 3)),
        (1, (40, 30, 30), (1, 0, 0)),
        (4, (40, 30, 30), (2, 1, 1)),
        (5, (1, 1), (3, 2)),
        (6, (4, 2), (4, 2)),
        (3, (0.1, 0.2), (1, 2)),
        (7, (1,), (7,)),
        (0, (1, 1), (0, 0)),
    ],
)
def test_largest_remainder(total: int, weights: tuple[float, ...], shares: tuple[int, ...]) -> None:
    assert largest_remainder(total, weights) == shares


@given(st.integers(0, 500), st.lists(st.integers(1, 100), min_size=1, max_size=8))
def test_largest_remainder_is_fair(total: int, weights: list[int]) -> None:
    shares = largest_remainder(total, tuple(weights))
    assert sum(shares) == total
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share - total * weight / sum(weights)) < 1


@given(TEXTS, st.integers(1, 24), st.integers(-5, 2**70))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_plan_holds_what_it_promises(text: str, n: int, seed: int) -> None:
    made = plan(text, n, seed=seed)
    spans = [(start, end) for start, end, _ in Prompt(text).spans]
    known = registry.builtin()
    assert len(made.mutations) <= n
    assert made.shortage == n - len(made.mutations)
    if made.shortage:
        assert made.notes
    texts = [text, *(m.text for m in made.mutations)]
    assert len(set(texts)) == len(texts)
    deep = [fold(m.text) for m in made.mutations if not known[name_of(m)].surface]
    assert len({fold(text), *deep}) == len(deep) + 1
    assert max(Counter(map(name_of, made.mutations)).values(), default=0) <= -(-n // 4)
    for mutation in made.mutations:
        assert mutation.text == apply_edits(text, mutation.edits)
        assert 0 <= mutation.severity <= known[name_of(mutation)].severity
        assert Mutation.from_json(json.loads(json.dumps(mutation.to_json()))) == mutation
        if not known[name_of(mutation)].touches:
            check_edits(mutation.edits, len(text), spans)
    again = plan(text, n, seed=seed)
    assert again == made


def test_the_default_is_stratified_and_seeded() -> None:
    made = plan(PROMPTS[1], 10)
    assert Counter(m.dimension for m in made.mutations) == {"lexical": 4, "semantic": 3, "structural": 3}
    assert made.notes == ()
    assert plan(PROMPTS[1], 10, seed=1).mutations != made.mutations
    assert plan(PROMPTS[1], 10, seed=0).mutations == made.mutations


def test_an_empty_stratum_gives_way_and_says_so_where_it_was_asked_for() -> None:
    short = "Classify {text} as spam or ham."
    made = plan(short, 8)
    assert len(made.mutations) == 8
    assert "structural" not in {m.dimension for m in made.mutations}
    assert made.notes == (), "the usual mix is nobody's wish"
    asked = {"lexical": 40, "semantic": 30, "structural": 30}
    for notes in (plan(short, 8, operators=asked).notes, plan(short, {"lexical": 6, "structural": 2}).notes):
        assert re.fullmatch(
            r"No structural mutation could be made of this prompt; \d more \w+( and \d more \w+)? ones? w\w+ used\.",
            notes[0],
        ), notes


MOOD = "Classify the mood of the text as good or bad. Answer with one word only.\n\nText: What a lovely day!"


def test_nothing_stands_in_for_a_control() -> None:
    made = plan(MOOD, {"lexical": 2, "number-changed": 2})
    assert [m.dimension for m in made.mutations] == ["lexical", "lexical"]
    assert made.shortage == 2
    (note,) = made.notes
    assert note == "number-changed made 0 of 2 controls: the prompt has no place for it."
    made = plan(MOOD, {"lexical": 2, without_label("awful"): 1, "answer-fixed": 1})
    assert Counter(map(name_of, made.mutations)) == {name_of(m): 1 for m in made.mutations[:2]} | {
        "answer-fixed": 2
    }, "another control may"
    assert made.notes == (
        "No label-removed-awful mutation could be made of this prompt; 1 more answer-fixed one was used.",
    )


def test_what_is_missing_is_made_up_for_within_the_relation_alone() -> None:
    made = plan(MOOD, ["format-json"] * 3 + ["upper-case"])
    assert [name_of(m) for m in made.mutations] == ["upper-case"]
    (note,) = made.notes
    assert note == (
        "this prompt allows 1 of 4 mutations (0 of 3 format-json). Lower mutations=, or name more operators."
    )
    made = plan(MOOD, {"upper-case": 3, "answer-fixed": 1, "double-space": 1})
    assert Counter(map(name_of, made.mutations)) == {"upper-case": 1, "answer-fixed": 1, "double-space": 3}
    made = plan(MOOD, {"upper-case": 3, "answer-fixed": 1})
    assert Counter(map(name_of, made.mutations)) == {"upper-case": 1, "answer-fixed": 1}
    assert "(1 of 3 upper-case)" in made.notes[0]


def test_operators_that_do_not_fit_are_named() -> None:
    made = plan(MOOD, ["bullet-reorder", "numbered-to-bulleted", "number-changed"])
    assert made.mutations == ()
    (note,) = made.notes
    choose = "Choose another one: `promptfuzz operators` lists them."
    assert note == (
        f"no operator fits this prompt: bullet-reorder, numbered-to-bulleted, number-changed. {choose}"
    )
    (note,) = plan(MOOD, ["bullet-reorder"]).notes
    assert note == f"the operator 'bullet-reorder' does not fit this prompt. {choose}"


FRENCH = (
    "Classe le texte suivant en bon ou mauvais. Réponds avec un seul mot, et ne donne pas d'explication. Voici le"
    " texte: Quelle belle journée"
)


JAPANESE = "次の文章を肯定か否定に分類してください。一語で答えてください。Text: ABC"


def test_operators_of_another_language_say_so() -> None:
    assert "English only, and the prompt reads as French" in plan(FRENCH, 4, operators="synonym").notes[0]
    assert plan(FRENCH, 1, operators="semantic").notes == ()
    assert "reads as" not in plan(FRENCH, 4, operators="azerty-typo").notes[0]
    known = "German, English, Spanish, French, Italian, Dutch, Portuguese"
    only = f"{known} only, and the prompt reads as Japanese"
    assert only in plan(JAPANESE, 4, operators="semantic").notes[0]
    assert (
        plan(JAPANESE, 8).notes[0].startswith(f"No semantic mutation ({only}) could be made of this prompt; ")
    )
    (note,) = plan(FRENCH, {"synonym": 2, "upper-case": 2}).notes
    assert "(0 of 2 synonym: English only, and the prompt reads as French, 1 of 2 upper-case)" in note


def test_what_protects_a_whole_prompt_is_said() -> None:
    (note,) = plan('{a} "quoted words" 123 `code` https://x.org a@b.org').notes
    assert note == (
        "nothing to mutate: everything in the prompt is protected ('{a}' as slot, '\"quoted words\"' as quote, '123' as"
        " number, '`code`' as code, 'https://x.org' as url, and 1 more)."
    )
    hint = "If these are chat messages"
    assert hint not in plan('{"colour": "red", "title": "A day"}').notes[0]
    assert hint not in plan('["one", "two"]').notes[0]
    assert hint in plan('[{"role": "user", "content": "Classify it."}]').notes[0]


def test_fewer_than_asked_is_a_warning_and_none_an_error() -> None:
    with pytest.warns(PromptfuzzWarning, match=r"this prompt allows \d+ of 40 mutations"):
        few = mutate("Go.", 40)
    assert 0 < len(few) < 40
    with pytest.raises(UsageError, match="everything in the prompt is protected"):
        mutate(Prompt("Classify it.", protect=["Classify it."]), operators=["upper-case"])
    with pytest.raises(UsageError, match=r"does not fit|no operator fits"):
        mutate("Classify it.", operators=["bullet-reorder"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(mutate(TRIAGE, 8)) == 8


def test_named_operators_may_fill_the_plan() -> None:
    made = mutate(TRIAGE, 6, operators=["keyboard-typo"])
    assert {name_of(m) for m in made} == {"keyboard-typo"}
    assert len({m.text for m in made}) == 6
    made = mutate(TRIAGE, 6, operators={"keyboard-typo": 4, "synonym": 2})
    assert Counter(map(name_of, made)) == {"keyboard-typo": 4, "synonym": 2}
    made = mutate(TRIAGE, 6, operators={"lexical": 2, "semantic": 1, "structural": 0})
    assert Counter(m.dimension for m in made) == {"lexical": 4, "semantic": 2}
    assert [m.dimension for m in mutate(TRIAGE, 3, operators="semantic")] == ["semantic"] * 3
    assert {name_of(m) for m in mutate(TRIAGE, 1, operators="upper-case@2")} == {"upper-case"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "mutations=0"),
        ({"n": 10_001}, "10,000"),
        ({"n": True}, "mutations=True"),
        ({"n": "8"}, "mutations='8'"),
        ({"n": 2.0}, "mutations=2.0"),
        ({"seed": "x"}, "seed='x'"),
        ({"seed": True}, "seed=True"),
        ({"seed": None}, "seed=None"),
        ({"prompt": ""}, "empty"),
        ({"prompt": "  \n"}, "empty|blank"),
        ({"prompt": 3}, "prompt is int"),
        ({"prompt": None}, "prompt is NoneType"),
        ({"operators": ["uper-case"]}, "Did you mean 'upper-case'"),
        ({"operators": {"lexicl": 1}}, "Did you mean 'lexical'"),
        ({"operators": "upper-case@9"}, "version 2 here, not 9"),
        ({"operators": []}, "nothing is selected"),
        ({"operators": {"synonym": 0}}, "nothing is selected"),
        ({"operators": {"synonym": -1}}, "weight of 'synonym' is -1"),
        ({"operators": {"synonym": True}}, "weight of 'synonym' is True"),
        ({"operators": {"synonym": float("nan")}}, "is nan"),
        ({"operators": {"synonym": float("inf")}}, "is inf"),
        ({"operators": ["synonym", "synonym"]}, "named twice"),
        ({"operators": ["lexical", "lexical"]}, "named twice"),
        ({"operators": [3]}, "is not a name"),
        ({"operators": 3}, "is not a list of names"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        mutate(**{"prompt": TRIAGE, **arguments})  # type: ignore[arg-type]


def test_a_chat_stays_a_chat() -> None:
    chat = Prompt.from_messages(
        [
            {"role": "system", "content": "You are a careful editor. Use plain English. Be brief."},
            {"role": "user", "content": "Summarize the report.\n\nReport: {report}"},
            {"role": "assistant", "content": "Sure. Send the report."},
            {"role": "user", "content": "Keep the summary short. Do not mention names."},
        ]
    )
    made = mutate(chat, 24, seed=3)
    assert len({m.text for m in made}) == 24
    for mutation in made:
        after = mutation.prompt
        assert after.is_chat
        assert [m["role"] for m in after.messages] == ["system", "user", "assistant", "user"]
        assert after.messages[2] == chat.messages[2]
        assert after.text == mutation.text
        assert "{report}" in str(after.messages[1]["content"])
    stored = made[0].to_json()
    assert Mutation.from_json(stored, source=chat).prompt == made[0].prompt
    with pytest.raises(UsageError, match="another prompt"):
        Mutation.from_json(stored, source=Prompt("other"))


def test_a_prompts_own_protection_holds() -> None:
    prompt = Prompt("Please classify the very important ticket. Be brief.", protect=["very important"])
    for mutation in mutate(prompt, 16):
        assert "very important" in mutation.text
        assert mutation.prompt.text == mutation.text


def test_operators_of_ones_own_are_used_when_named(monkeypatch: pytest.MonkeyPatch) -> None:
    @operator("wave", dimension="lexical", severity=0.1)
    def wave(draft, rng):
        yield [insert(len(draft.text), " ~")]

    monkeypatch.setattr(registry, "_added", {})
    assert mutate("Go on.", 1, operators=[wave])[0].text == "Go on. ~"
    with pytest.raises(UsageError, match="no operator or dimension 'wave'"):
        mutate("Go on.", 1, operators=["wave"])
    registry.register(wave)
    registry.register(wave)
    assert mutate("Go on.", 1, operators=["wave"])[0].operators == ("wave@1",)
    assert "wave" not in {name_of(m) for m in plan(TRIAGE, 40).mutations}

    @operator("wave", dimension="semantic", severity=0.1)
    def other(draft, rng):
        return []

    with pytest.raises(UsageError, match="exists already"):
        registry.register(other)
    with pytest.raises(UsageError, match="decorate"):
        registry.register(lambda draft, rng: [])  # type: ignore[arg-type]


def test_only_surface_operators_may_differ_in_case_and_space_alone() -> None:
    @operator("deep", dimension="lexical", severity=0.1)
    def deep(draft, rng):
        yield [insert(2, " ")]
        yield [insert(2, " now")]
        yield [insert(2, " NOW")]

    @operator("shallow", dimension="lexical", severity=0.1, surface=True)
    def shallow(draft, rng):
        yield [insert(2, " ")]
        yield [insert(2, "  ")]

    assert [m.text for m in plan("Go on.", 3, operators=[deep]).mutations] == ["Go now on."]
    assert [m.text for m in plan("Go on.", 3, operators=[shallow]).mutations] == ["Go  on.", "Go   on."]


def test_operators_of_packages_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wavy_package.py").write_text(
        "from pytest_promptfuzz.mutations.engine.edits import insert\n"
        "from pytest_promptfuzz.mutations.engine.operator import operator\n"
        "@operator('wavy', dimension='lexical', severity=0.1)\n"
        "def wavy(draft, rng):\n    yield [insert(0, '~ ')]\n"
    )
    info = tmp_path / "wavy_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wavy-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[promptfuzz.operators]\nwavy = wavy_package:wavy\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.installed.cache_clear()
    try:
        assert [point.name for point in metadata.entry_points(group=registry.ENTRY_POINTS)].count("wavy") == 1
        assert mutate("Go on.", 1, operators=["wavy"])[0].text == "~ Go on."
        assert "wavy" in registry.all_operators()
        assert "wavy" not in {name_of(m) for m in plan(TRIAGE, 40).mutations}
        (info / "entry_points.txt").write_text("[promptfuzz.operators]\nwavy = wavy_package:nothing\n")
        registry.installed.cache_clear()
        with pytest.raises(UsageError, match=r"'wavy' .* does not load"):
            registry.get("unknown")
    finally:
        registry.installed.cache_clear()


def test_an_operator_that_raises_is_named_with_its_line_and_the_prompt_is_cut_after_a_word() -> None:
    @operator("raises", dimension="lexical", severity=0.1)
    def raises(draft, rng):
        raise ValueError("boom")

    prompt = "Classify the mood of the text as good or bad. Answer with one word only, please."
    with pytest.raises(UsageError) as caught:
        mutate(prompt, 1, operators=[raises])
    line = raises.propose.__code__.co_firstlineno
    assert str(caught.value) == (
        f"Operator 'raises' ({__file__}:{line}) raised ValueError on the prompt"
        " 'Classify the mood of the text as good or bad. Answer with…': boom."
    )


def test_a_ready_mutation_of_another_prompt_is_quoted_in_whole_words() -> None:
    other = mutate("Sort the tickets of this week by their topic, and tell me how many there are.", 1)
    with pytest.raises(UsageError) as caught:
        plan(MOOD, other)
    assert (
        "another prompt ('Sort the tickets of this week by their topic, and tell me…'); make it of 'Classify the mood of"
        " the text as good or bad. Answer with…'."
    ) in str(caught.value)


def test_a_damaged_span_is_shown() -> None:
    @operator("clobber", dimension="lexical", severity=0.1)
    def clobber(draft, rng):
        start, end = draft.spans[0]
        yield [replace(start, end, "x")]

    with pytest.raises(
        UsageError, match=r"'clobber' loses the protected span '\{text\}' at \(10, 16\); move it whole"
    ):
        mutate("Classify: {text}", 1, operators=[clobber])


def test_an_operator_named_like_a_built_in_one_is_warned_of() -> None:
    @operator("upper-case", dimension="lexical", severity=0.1)
    def mine(draft, rng):
        yield [insert(0, "Hey. ")]

    with pytest.warns(PromptfuzzWarning, match="'upper-case' has the name of a built-in one"):
        assert mutate(MOOD, 1, operators=[mine])[0].text == "Hey. " + MOOD
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mutate(MOOD, 1, operators=[registry.get("upper-case")])
        mutate(MOOD, 1, operators=["keyboard-typo:2"])
