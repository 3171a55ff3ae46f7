"""Answers that a prompt shows are protected: examples' answers, patterns of the answer, headings it must have."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import Prompt
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.prompts.spans import protected_spans, shown_spans

SHOWN = {
    "answers before an open one": (
        "Answer it.\n\nQ: Which planet?\nA: Mercury\n\nQ: What is wet?\nA: the sea\n\nQ: {q}\nA:",
        ["Mercury", "the sea"],
    ),
    "one example": ("Answer it.\n\nText: I like it.\nMood: cheerful\n\nText: {text}\nMood:", ["cheerful"]),
    "answers of a known name": (
        "Answer it.\n\nInput: I want it back.\nOutput: return request\n\nInput: When?\nOutput: open question\n\n{text}",
        ["return request", "open question"],
    ),
    "bold names": ("Do it.\n\n**Q:** Why?\n**A:** a cat\n\n**Q:** Who?\n**A:** a dog\n", ["a cat", "a dog"]),
    "French": ("Q.\n\nQuestion : Où ?\nRéponse : à Paris\n\nQuestion : {q}\nRéponse :", ["à Paris"]),
    "German": ("Q.\n\nFrage: Was?\nAntwort: Nektar und Pollen\n\nFrage: {q}\nAntwort:", ["Nektar und Pollen"]),
    "Japanese colons": ("答え。\n\n質問：何？\n答え：猫\n\n質問：{q}\n答え：", ["猫"]),
    "arrows": ("Sort.\n\nWhere is it? -> shipping problem\nI paid twice -> billing\n\n{m} ->", ["shipping problem", "billing"]),
    "values": (
        "Rate it. Answer with three lines, like this:\nfood quality: 4\nfriendly service: n/a\n\nReview: {review}",
        ["food quality: 4", "friendly service: n/a"],
    ),
    "values after a blank line": ("Rate it.\n\nExample output:\n\nprice: good\n\nReview: {review}", ["price: good"]),
    "a bold line before them": ("Rate it.\n\n**Output format:**\nprice: good\n\nReview: {review}", ["price: good"]),
    "bold but for its colon": ("Rate it.\n\n**Output format**: \nprice: good\n\nReview: {review}", ["price: good"]),
    "a row": ("Gib je Beschluss eine Zeile aus.\n\nBeispiel:\nTOP 3; Neuer Anstrich; 11; 4; angenommen\n\n{p}", ["TOP 3; Neuer Anstrich; 11; 4; angenommen"]),
    "values up to a heading": ("Example:\nfood: 4\n## Text\n\n{text}", ["food: 4"]),
    "Spanish": ("Responde con dos líneas, así:\ncomida: 4\nservicio: s/d\n\nOpinión: {o}", ["comida: 4", "servicio: s/d"]),
    "headings": (
        "Use this outline and leave out a heading without entries:\n\n### New features\n### Fixed errors\n\n* Be brief.",
        ["### New features", "### Fixed errors"],
    ),
    "headings apart": ("Have exactly these sections:\n\n## Main decisions\n\n## Next steps\n\nBe brief.", ["## Main decisions", "## Next steps"]),
}  # fmt: skip
FREE = {
    "fields of a task": "Task: Sort the mail.\nRule: Be brief.\nInput: {mail}\nOutput: the name of the team",
    "a conversation's text": "Sum it up.\n\nAnna: I am late again.\nBert: Never mind at all.\nAnna: Thanks so much.\nBert: See you there.",
    "a long answer": (
        "Write like this.\n\nQ: Why?\nA: "
        + "It is a long story that nobody has told before and nobody will. " * 2
        + "\n\nQ: {q}\nA:"
    ),
    "rules with arrows": "Follow them.\n\nThe invoice is wrong -> ask for the number of the invoice first\nThe parcel is late -> apologise and name the new date",
    "one arrow": "Turn Celsius -> Fahrenheit\n\nText: {text}",
    "one field again and again": "Write it.\n\nAnswer: in short\nAnswer: in English\nAnswer: in prose",
    "values that nobody announced": "The sections matter in what you read:\nprice: good\nfood: bad",
    "bold lines that announce no form": "**Task:**\nprice: good\n\n**Rules:**\nBe brief: it is late",
    "rules under a colon": "Follow this format:\nWrite short sentences\nUse plain words\n\nText: {text}",
    "items": "Here is an example:\n- price: good\n- food: bad",
    "prose": "For example:\nThe price: good.\nThat is all.",
    "an example's text": "Here is an example:\nText: I would like to return the parcel today.\n",
    "a pattern with slots": "Use this format:\nName: {name}\nScore: <1-5>\nTitle: [title]\n",
    "headings with text": "Read the sections:\n\nText first.\n\n## Main\n\nIt is so.",
    "headings of the prompt": "Be brief.\n\n## Task\nSort it:\n\n## Input\n{text}",
    "no lines": "Answer like this: food: 4; price: 2",
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown_of_the_answer_is_protected(name: str) -> None:
    text, kept = SHOWN[name]
    assert [text[start:end] for start, end, _ in sorted(shown_spans(text))] == kept
    spans = [(start, end) for start, end, _ in protected_spans(text)]
    for each in kept:
        start = text.index(each)
        assert any(a <= start and start + len(each) <= b for a, b in spans), each


@pytest.mark.parametrize("name", FREE)
def test_other_lines_stay_free(name: str) -> None:
    assert shown_spans(FREE[name]) == []


def test_no_harmless_operator_touches_what_is_shown() -> None:
    names = [
        name for name, each in builtin().items() if each.preserves != "no" and each.relation == "invariance"
    ]
    for text, kept in SHOWN.values():
        prompt = Prompt(text)
        for name in names:
            squeezed = builtin()[name].surface
            for mutation in plan(prompt, 3, seed=1, operators=[name]).mutations:
                for each in kept:
                    inside = "".join(each.split()), "".join(mutation.text.split())
                    assert (inside[0] in inside[1]) if squeezed else (each in mutation.text), (
                        name,
                        mutation.text,
                    )


def test_slots_in_a_pattern_stay_slots() -> None:
    text = "Use this format:\nName: {name}\nfood: 4\n"
    assert Prompt(text).slots == ("name",)
    assert [(text[start:end], kind) for start, end, kind in Prompt(text).spans] == [
        ("{name}", "slot"),
        ("food: 4", "label"),
    ]
