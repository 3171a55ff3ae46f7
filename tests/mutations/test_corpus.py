"""The corpus of realistic prompts: what must be kept, listed by hand, is kept; the judgements are good enough.

Nothing here asks the code that finds protected spans: the strings in ``keep`` were copied out of the prompts by a person.
``sense`` holds words whose case and spacing may change, but which must still be said by operators that reword nothing.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

import pytest
from mutation_samples import PARTIAL_ROUNDS

from pytest_promptfuzz import Prompt
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.planner import plan

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.engine.mutation import Mutation

DATA = Path(__file__).parent / "data"


class Case(TypedDict):
    """One line of the corpus: a text, or the messages of a chat."""

    id: str
    language: str
    text: NotRequired[str]
    messages: NotRequired[list[dict[str, str]]]
    keep: list[str]
    sense: list[str]


# Of the larger files every third prompt and every sixth, to bound the time.
CORPUS: list[Case] = [
    json.loads(line)
    for name, share in (
        ("corpus.jsonl", 1),
        ("corpus_more.jsonl", 1),
        ("corpus_rare.jsonl", 3),
        ("corpus_daily.jsonl", 6),
        ("corpus_abroad.jsonl", 6),
    )
    for line in (DATA / name).read_text(encoding="utf-8").splitlines()[::share]
]
# Operators that reword nothing: the others may say it in other words, or misspell it.
UNFAITHFUL = {"remove-punctuation", "add-punctuation", "word-split", "word-merge", "letter-spacing"}
FAITHFUL = {
    each.name
    for each in registry.builtin().values()
    if each.dimension in {"structural", "padding"}
    or each.surface
    or each.name.endswith(("-case", "-punctuation"))
} - UNFAITHFUL


def prompt_of(case: Case) -> Prompt:
    return Prompt(case["text"]) if "text" in case else Prompt.from_messages(case["messages"])


def mutations_of(prompt: Prompt) -> list[Mutation]:
    """What a person gets: plans of three seeds, and each operator by itself."""
    found = [each for seed in range(3) for each in plan(prompt, 16, seed=seed).mutations]
    for name, each in registry.builtin().items():
        if (
            each.preserves != "no"
            and each.relation == "invariance"
            and each.dimension not in {"math", "code"}
            and "json" not in each.touches  # built to change what the prompt shows
        ):
            found += plan(prompt, 4, seed=7, operators=[name]).mutations
    return found


def occurrences(needle: str, text: str) -> int:
    """How often ``needle`` stands in ``text``, overlapping or not, and not inside a longer word."""
    left = r"(?<![A-Za-z0-9])" if needle[0].isalnum() else ""
    right = r"(?![A-Za-z0-9])" if needle[-1].isalnum() else ""
    return len(re.findall(f"(?={left}{re.escape(needle)}{right})", text))


def plain(text: str) -> str:
    """``text`` without what case, spacing and punctuation operators change."""
    return re.sub(r"\s+", " ", re.sub(r"\s+(?=[,;:.!?])", "", text.replace("’", "'"))).casefold().lstrip("# ")


@pytest.mark.parametrize("case", CORPUS, ids=[case["id"] for case in CORPUS])
def test_what_must_be_kept_is_kept(case: Case) -> None:
    prompt = prompt_of(case)
    assert [each for each in case["keep"] + case["sense"] if not occurrences(each, prompt.text)] == []
    for mutation in mutations_of(prompt):
        for each in case["keep"]:
            assert occurrences(each, mutation.text) == occurrences(each, prompt.text), (
                mutation.operators,
                each,
                mutation.text,
            )
        if mutation.operators[0].partition("@")[0] in FAITHFUL:
            original, changed = plain(prompt.text), plain(mutation.text)
            for each in map(plain, case["sense"]):
                assert each in original
                assert each.rstrip(".") in changed, (mutation.operators, each, mutation.text)


def judgements() -> dict[str, list[dict[str, str]]]:
    """By operator: the rows of the last round in which readers judged it, if it is still at that version.

    Rounds of some languages only are added to it.
    """
    with (DATA / "judgement.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    last: dict[str, str] = {}
    for row in rows:
        name = row["operator"].partition("@")[0]
        if row["round"] not in PARTIAL_ROUNDS:
            last[name] = max(last.get(name, ""), row["round"])
    found: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        name = row["operator"].partition("@")[0]
        if row["round"] in {last[name], *PARTIAL_ROUNDS} and registry.builtin()[name].id == row["operator"]:
            found.setdefault(name, []).append(row)
    return found


FEWEST = 12
HELD = 0.95


def test_operators_that_claim_to_preserve_were_judged_to() -> None:
    sheet = judgements()
    claimed = {name for name, each in registry.builtin().items() if each.preserves == "yes"}
    assert claimed <= set(sheet)
    assert {name: len(sheet[name]) for name in claimed if len(sheet[name]) < FEWEST} == {}
    held = {name: sum(row["verdict"] == "pass" for row in sheet[name]) / len(sheet[name]) for name in claimed}
    assert {name: share for name, share in held.items() if share < HELD} == {}


def test_judged_mutations_are_those_of_today() -> None:
    """A sheet about mutations that are no longer made says nothing; what is protected since may change a few."""
    cases = {
        case["id"]: prompt_of(case)
        for path in sorted(DATA.glob("corpus*.jsonl"))
        for case in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    }
    others: Counter[str] = Counter()
    sheet = {name: rows[::2] for name, rows in judgements().items()}  # to bound the time
    for name, rows in sheet.items():
        for row in rows:
            made = plan(cases[row["prompt"]], 1, seed=int(row["seed"]), operators=[name]).mutations
            others[name] += [each.id for each in made] != [row["mutation"]]
    assert {name: count for name, count in others.items() if count > 1 + 0.1 * len(sheet[name])} == {}
    assert sum(others.values()) <= 0.02 * sum(map(len, sheet.values()))
