"""What holds for every built-in operator, whatever the prompt: checked on the corpora and on made-up texts.

The oracles here are written apart from the code they check: edits are applied and protected text is traced by
a few lines of their own, and logical words are counted in the texts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.edits import Edit, Ref
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.mutations.engine.operator import Operator
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.randomness import Rng, root_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

DATA = Path(__file__).parent / "data"
OPERATORS = list(registry.builtin().values())
BY_NAME = pytest.mark.parametrize("operator", OPERATORS, ids=[each.name for each in OPERATORS])
QUICK = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)

LOGIC = frozenset(
    re.findall(
        r"\w+",
        "not no only before after or without never unless except neither nor none nicht kein keine nur ohne oder nie "
        "ausser vor nach pas ne jamais sans sauf avant nunca sin solo excepto antes non mai senza tranne prima dopo "
        "não sem exceto depois niet geen nooit zonder behalve alleen",
    )
)
WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:'[^\W\d_]+)?(?!\w)")
REWORDED = {
    "nothing but": "only",
    "no more than": "at most",
    "refrain from": "not",
    "avoid": "not",
    "leave out": "not include",
    "omit": "not include",
    "exclude": "not include",
    "skip": "not include",
    "prior to": "before",
    "otherwise": "if not",
    "feel free to": "not hesitate to",
    "ausschliesslich": "nur",
    "únicamente": "solo",
    "uitsluitend": "alleen",
}
"""Rewordings of a logical word that say the same: operators of meaning may put one for the other."""
INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
NEGATIONS = {"no", "never", "neither", "nor", "none"}


@cache
def corpus() -> dict[str, Prompt]:
    """Every prompt of three files by its id, and every fifth of the fourth: to bound the time."""
    found: dict[str, Prompt] = {}
    for name in ("corpus.jsonl", "corpus_more.jsonl", "corpus_frozen.jsonl", "corpus_rare.jsonl"):
        lines = (DATA / name).read_text(encoding="utf-8").splitlines()
        for line in lines[::5] if name == "corpus_rare.jsonl" else lines:
            row: dict[str, Any] = json.loads(line)
            found[row["id"]] = (
                Prompt.from_messages(row["messages"]) if "messages" in row else Prompt(row["text"])
            )
    return found


def frozen() -> list[dict[str, Any]]:
    """The rows of the corpus that was written before the operators."""
    text = (DATA / "corpus_frozen.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@cache
def made(name: str) -> dict[str, tuple[Mutation, ...]]:
    """Up to three mutations of every prompt by one operator."""
    return {each: plan(prompt, 3, seed=3, operators=[name]).mutations for each, prompt in corpus().items()}


def draft_of(prompt: Prompt) -> Draft:
    spans = prompt.spans
    return Draft(
        prompt.text,
        [(start, end) for start, end, _ in spans],
        walls=[(start, end) for start, end, kind in spans if kind in {"separator", "message"}],
        kinds=[kind for _, _, kind in spans],
    )


def folded(text: str) -> str:
    return "".join(text.lower().split())


def logic_of(text: str, *, reworded: bool = False) -> Counter[str]:
    """How often each logical word is said; ``don't``, ``cannot`` and ``do not`` each say one ``not``.

    With ``reworded``, sayings of the same sense count as one, and so do the negations.
    """
    plain = text.casefold().replace("’", "'")
    if reworded:
        for saying, same in REWORDED.items():
            plain = re.sub(rf"\b{saying}\b", same, re.sub(r"\s+", " ", plain))
    said: Counter[str] = Counter()
    for word in WORD.findall(plain):
        if word.endswith("n't") or word == "cannot" or (reworded and word in NEGATIONS):
            said["not"] += 1
        elif word in LOGIC:
            said[word] += 1
    return said


def traced(length: int, edits: Sequence[Edit]) -> list[tuple[int, int] | str]:
    """The result as pieces in order: spans of the original that stand in it, and new text."""
    pieces: list[tuple[int, int] | str] = []

    def add(start: int, end: int) -> None:
        last = pieces[-1] if pieces else ""
        if isinstance(last, tuple) and last[1] == start:
            pieces[-1] = (last[0], end)
        elif start < end:
            pieces.append((start, end))

    position = 0
    for edit in edits:
        add(position, edit.start)
        for part in edit.parts:
            if isinstance(part, Ref):
                add(*part)
            elif part:
                pieces.append(part)
        position = edit.end
    add(position, length)
    return pieces


def check_edits_of(operator: Operator, draft: Draft, edits: Sequence[Edit]) -> str:
    """Edits are in order, apart, within the text, and keep what is protected once and whole; gives the text."""
    assert edits
    assert all(0 <= edit.start <= edit.end <= len(draft.text) for edit in edits), edits
    for first, second in pairwise(edits):
        assert first.end <= second.start, ("overlap", first, second)
        assert first[:2] != second[:2], ("two edits at one place", first, second)
    pieces = traced(len(draft.text), edits)
    originals = [piece for piece in pieces if isinstance(piece, tuple)]
    for start, end in draft.protected(operator.touches):
        holding = [piece for piece in originals if piece[0] < end and piece[1] > start]
        assert len(holding) == 1, ("protected text lost, torn or doubled", draft.text[start:end], edits)
        assert holding[0][0] <= start, ("protected text torn", draft.text[start:end], edits)
        assert end <= holding[0][1], ("protected text torn", draft.text[start:end], edits)
    return "".join(piece if isinstance(piece, str) else draft.text[slice(*piece)] for piece in pieces)


def check_logic(operator: Operator, before: str, after: str, edits: Sequence[Edit]) -> None:
    """No logical word is lost; none is added but in whole sentences of the operator's own."""
    if operator.dimension == "control" or operator.preserves == "no":
        return
    reworded = operator.dimension == "semantic"
    had, has = logic_of(before, reworded=reworded), logic_of(after, reworded=reworded)
    assert not had - has, ("logical words lost", dict(had - has), after)
    if operator.dimension in {"augmentation", "format", "multilingual"}:
        return
    added = has - had
    if added and operator.dimension == "semantic":
        news = [each.replacement(before).strip() for each in edits if each.start == each.end]
        added -= logic_of(" ".join(each for each in news if each[-1:] in {".", "!", "?"}), reworded=True)
    assert not added, ("logical words added", dict(added), after)


def check_plan(operator: Operator, prompt: Prompt, mutations: Iterable[Mutation]) -> None:
    """All that is promised of the mutations of one operator."""
    draft = draft_of(prompt)
    texts = {prompt.text}
    folds = {folded(prompt.text)}
    ids: set[str] = set()
    fixed = prompt.messages
    for mutation in mutations:
        text = check_edits_of(operator, draft, mutation.edits)
        assert text == mutation.text
        strange = {each for each in set(text) - set(prompt.text) if unicodedata.category(each) in INVISIBLE}
        assert strange <= set("\t\n\r"), ("characters nobody sees or knows", strange)
        assert text not in texts, ("not distinct", text)
        texts.add(text)
        if not operator.surface:
            assert folded(text) not in folds, ("distinct in case or space only", text)
            folds.add(folded(text))
        check_logic(operator, prompt.text, text, mutation.edits)
        assert mutation.operators == (operator.id,)
        assert (mutation.dimension, mutation.preserves, mutation.relation) == (
            operator.dimension,
            operator.preserves,
            operator.relation,
        )
        assert 0 <= mutation.change_rate <= 1
        assert operator.severity / 2 - 1e-4 <= mutation.severity <= operator.severity + 1e-4
        again = Mutation.from_json(json.loads(json.dumps(mutation.to_json())), source=mutation.source)
        assert again == mutation
        assert again.id == mutation.id
        assert again.text == text
        assert re.fullmatch("[0-9a-f]{12}", mutation.id)
        assert mutation.id not in ids
        ids.add(mutation.id)
        changed = mutation.prompt
        assert changed.text == text
        for old, new in zip(fixed, changed.messages, strict=True):
            assert old["role"] == new["role"]
            assert old == new or old["role"] in {"system", "developer", "user"}, ("not ours to change", new)
        if operator.dimension != "control":
            assert sorted(set(changed.slots)) == sorted(set(prompt.slots))


SORT = "Do not sort {ticket} into A, B or C."
WRONG: dict[str, tuple[str, list[list[Edit]]]] = {
    "a logical word dropped": ("logical words lost", [[Edit(2, 6, ("",))]]),
    "a logical word added": ("logical words added", [[Edit(6, 6, (" only",))]]),
    "a slot changed": ("protected text", [[Edit(13, 13, ("new ",))]]),
    "a slot removed": ("protected text", [[Edit(12, 21, ("",))]]),
    "a slot said twice": ("protected text", [[Edit(12, 20, (Ref(12, 20), " ", Ref(12, 20)))]]),
    "a slot written anew": ("protected text", [[Edit(12, 20, ("{ticket}",)), Edit(35, 36, ("D",))]]),
    "edits that overlap": ("overlap", [[Edit(0, 7, ("Never ",)), Edit(3, 11, ("order",))]]),
    "edits out of order": ("overlap", [[Edit(7, 11, ("order",)), Edit(0, 2, ("did",))]]),
    "nothing changed": ("not distinct", [[Edit(7, 11, ("sort",))]]),
    "white space only": ("in case or space only", [[Edit(6, 6, (" ",))]]),
    "an invisible character": ("nobody sees", [[Edit(7, 11, ("so\u200brt",))]]),
    "the same twice": ("not distinct", [[Edit(7, 11, ("order",))], [Edit(7, 12, ("order ",))]]),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_checks_of_this_file_find_what_is_wrong(case: str) -> None:
    message, edits = WRONG[case]
    operator = Operator("wrong", lambda draft, rng: [], dimension="lexical", severity=0.2)
    mutations = [
        Mutation(SORT, tuple(each), (operator.id,), "lexical", 0.15, "conditional") for each in edits
    ]
    with pytest.raises(AssertionError, match=message):
        check_plan(operator, Prompt(SORT), mutations)


@BY_NAME
def test_the_promises_hold_on_every_prompt_of_the_corpora(operator: Operator) -> None:
    """Half of the prompts for each operator, the other half for the next one: to bound the time."""
    broken: dict[str, str] = {}
    for name, mutations in [*made(operator.name).items()][OPERATORS.index(operator) % 2 :: 2]:
        try:
            check_plan(operator, corpus()[name], mutations)
        except AssertionError as error:
            broken[name] = str(error).partition("\nassert")[0][:600]
    assert broken == {}


def times(needle: str, text: str, *, spaced: bool) -> int:
    """How often ``needle`` stands in ``text``; a plain word after a number may change its case."""
    if not spaced:
        needle, text = "".join(needle.split()), "".join(text.split())
    if re.fullmatch(r"\d+ ?[a-z]+", needle):
        return text.casefold().count(needle)
    return text.count(needle)


def touched(operator: Operator, prompt: Prompt, needle: str) -> bool:
    """Whether ``needle`` lies in a kind of text that the operator is built to change."""
    open_to_it = [(start, end) for start, end, kind in prompt.spans if kind in operator.touches]
    places = [match.span() for match in re.finditer(re.escape(needle), prompt.text)]
    return any(a < end and b > start for a, b in places for start, end in open_to_it)


@BY_NAME
def test_what_a_reader_listed_is_kept(operator: Operator) -> None:
    """``keep`` was copied out of the frozen prompts by hand, before the operators were written.

    An operator whose point is white space may change it inside what is kept.
    """
    if operator.dimension == "control" or operator.preserves == "no":
        return
    broken: list[tuple[str, str, str]] = []
    for row in frozen():
        prompt = corpus()[row["id"]]
        kept = [each for each in row["keep"] if not touched(operator, prompt, each)]
        for mutation in made(operator.name)[row["id"]]:
            broken += [
                (row["id"], each, mutation.text)
                for each in kept
                if times(each, mutation.text, spaced=not operator.surface)
                < times(each, prompt.text, spaced=not operator.surface)
            ]
    assert broken == []


SENTENCES = st.sampled_from(
    [
        "Classify the ticket below.", "Do not guess, and don't explain.", "Return only the label.", "Never use names.",
        "Answer before noon or after 5 pm.", "Reply without a greeting unless asked.", "Use all sources except [2].",
        "Please summarize the article in 3 sentences.", "Then translate it.", "You can't skip this step.", "Is it new?",
        "Write JSON with the keys a and b.", "The colour isn't important, however; keep it short!", "Be careful.",
        "Antworte nur auf Deutsch, nicht auf Englisch.", "Réponds sans détails, sauf si c'est utile.", "e.g. this one",
        "Não traduza os nomes.", "No uses más de 20 palabras.", "次の文章を要約してください。", "لا تذكر الأسماء.", "Привет, мир!",
        "Answer with POSITIVE, NEGATIVE or NEUTRAL.", "Say 'yes' or \"no\".", "2 + 3 = 5, so x = 12.5%",
    ]
)  # fmt: skip
BLOCKS = st.sampled_from(
    [
        "{slot}", "{{ x }}", "${y}", "<doc>", "</doc>", "%(n)s", "{% if a %}", "{% endif %}", "`code()`", "{0}", "{",
        "```py\nx = 1  # not used\nreturn x\n```", '{"a": [1, 2], "b": null}', "https://a.example/c?d=e", "snake_case",
        "# Heading", "## Rules", "- one\n- two\n- three", "1. First, read.\n2. Do not stop.\n3. Write.", "* a\n  * b",
        "| a | b |\n|---|---|\n| 1 | or |", "<context>\nText.\n</context>", "Question: {q}", "Answer:", "Text:\n{t}",
        "---", "> quoted", "$x^2 + 3x = 7$", "[1] A source.\n[2] Another.", "Q: Why?\nA: Because.", "a@b.example",
    ]
)  # fmt: skip
SCRIPTS = st.text(
    st.one_of(
        st.characters(min_codepoint=1, codec="utf-8"),
        st.sampled_from(
            "ßİıſŉǅﬁΣςé\u0301\u200b\u200d\u202e\u2028\u0085\ufeff\x0b\x1c\xa0\u200b👍🏽🏳️\u200d🌈中か한עبहि"
        ),
    ),
    max_size=6,
)
GLUE = st.sampled_from([" ", " ", " ", "\n", "\n\n", "\r\n", "\t", ""])
TEXTS = st.lists(
    st.tuples(st.one_of(SENTENCES, SENTENCES, BLOCKS, SCRIPTS), GLUE), min_size=1, max_size=9
).map(lambda pieces: "".join(piece + glue for piece, glue in pieces))


def of_all_operators(check: Callable[[Operator], None]) -> None:
    """Run a check for each operator, and name all that fail it."""
    broken: dict[str, str] = {}
    for operator in OPERATORS:
        try:
            check(operator)
        except AssertionError as error:
            broken[operator.name] = str(error).partition("\nassert")[0][:300]
    assert broken == {}


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|---|\n| 1 | or |\r\nSo it is.",
        "Answer before noon or after 5 pm.\n\n | a | b |\n|---|---|\n| 1 | or |\n\n",
        "Txt:\n} ",
    ],
    ids=["a table with Windows line ends", "a table that is indented", "a title over a brace"],
)
def test_the_promises_hold_on_texts_that_broke_one(text: str) -> None:
    prompt = Prompt(text)
    of_all_operators(
        lambda each: check_plan(each, prompt, plan(prompt, 4, seed=0, operators=[each]).mutations)
    )


@QUICK
@given(text=TEXTS, n=st.integers(1, 6), seed=st.integers(0, 2**32), chat=st.booleans())
def test_the_promises_hold_on_any_text(text: str, n: int, seed: int, chat: bool) -> None:
    assume(text.strip())
    prompt = Prompt(text)
    if chat:
        prompt = Prompt.from_messages(
            [
                {"role": "system", "content": "Answer only in English. Do not guess."},
                {"role": "assistant", "content": "I will not."},
                {"role": "user", "content": text},
            ]
        )

    def check(operator: Operator) -> None:
        plan_of = plan(prompt, n, seed=seed, operators=[operator])
        assert len(plan_of.mutations) == n or (len(plan_of.mutations) < n and plan_of.notes)
        check_plan(operator, prompt, plan_of.mutations)

    of_all_operators(check)


@QUICK
@given(text=TEXTS, intensity=st.sampled_from([1, 2, 5, 1000, 0.1, 0.5, 1.0]))
def test_the_promises_hold_at_any_intensity(text: str, intensity: float) -> None:
    assume(text.strip())
    draft = draft_of(Prompt(text))

    def check(operator: Operator) -> None:
        rng = Rng(root_key(0, text), operator.id, intensity=intensity)
        try:
            proposed = list(islice(operator.proposals(draft, rng), 2))
        except UsageError as error:
            if f"{operator.name!r} has no intensity" not in str(error):
                raise
            return
        for edits in proposed:
            check_logic(operator, text, check_edits_of(operator, draft, edits), edits)

    of_all_operators(check)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 21])
def test_a_plan_is_as_asked_or_says_why_not(n: int) -> None:
    for prompt in list(corpus().values())[::6]:
        made = plan(prompt, n, seed=n)
        assert len(made.mutations) == n or made.notes
        shares = Counter(each.operators for each in made.mutations)
        assert max(shares.values(), default=0) <= -(-n // 4)
        assert len({each.text for each in made.mutations} | {prompt.text}) == len(made.mutations) + 1


SCRIPT = """
import hashlib, json, sys
from pytest_promptfuzz.mutations import registry
from pytest_promptfuzz.mutations.engine.planner import plan
prompts = json.loads(sys.stdin.buffer.read())
digests = {}
for name in registry.builtin():
    found = [each.to_json() for text in prompts for each in plan(text, 3, seed=5, operators=[name]).mutations]
    digests[name] = hashlib.sha256(json.dumps(found).encode()).hexdigest()
print(json.dumps(digests))
"""


def test_processes_with_other_hash_seeds_and_locales_make_the_same_mutations() -> None:
    prompts = json.dumps([each.text for each in corpus().values() if not each.is_chat][::7]).encode()
    answers: list[dict[str, str]] = []
    for seed, locale in (("0", "C"), ("4242", "tr_TR.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], input=prompts, env=environment, capture_output=True, check=True
        )
        answers.append(json.loads(done.stdout))
    assert set(answers[0]) == {each.name for each in OPERATORS}
    assert {name for name, digest in answers[0].items() if answers[1][name] != digest} == set()
