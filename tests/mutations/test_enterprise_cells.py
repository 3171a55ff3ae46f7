"""The cells of the enterprise benchmark (S2): each of its changes acts on each of its four tasks.

The templates here have the shape of the published ones; those are checked as well where they are at hand.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mutation_samples import draft_of

from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.mutations.analysis.answer_shape import read_shape, shown_answers
from pytest_promptfuzz.mutations.analysis.prompt_parts import parts_of
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import find
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.prompts.slots import Slots
from pytest_promptfuzz.randomness import Rng, root_key

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.comparison import Comparison

FOLDER = Path(__file__).parent / "data" / "templates"
TEMPLATES = {path.stem: path.read_text(encoding="utf-8").strip() for path in sorted(FOLDER.glob("*.txt"))}
PAPER = Path(__file__).parents[3] / "shared" / "seeds" / "001_8f514dc022c1bc96.txt"
TITLES = (
    "Case Summarization Task Prompt",
    "Entity Slot-Filling Task Prompt",
    "Chat Summarization Task Prompt",
    "Question Answering Task Prompt",
    "Robustness Judge Prompt",
)

POSITIONAL = (
    # Context
    "context-to-start",
    "context-to-middle",
    "context-to-end",
    # Output Instructions
    "output-to-start",
    "output-to-middle",
    "output-keys-reorder",
    # Reordering
    "items-shuffle",
    "items-reverse",
    # Mixed
    "context-to-end+items-reverse",
    "output-to-start+items-shuffle",
    "context-to-middle+output-to-start",
)
FORMATS = ("json", "html", "xml", "markdown", "yaml", "text")
LANGUAGES = ("es", "fr", "fr-ca", "de", "nl", "it", "ja", "pt-br")
CELLS = (
    *POSITIONAL,
    *(f"format-{each}" for each in FORMATS),
    *(f"answer-in-{each}" for each in LANGUAGES),
    "answer-in-pt",  # Table 4 has Portuguese beside Brazilian Portuguese
)


def published() -> dict[str, str]:
    """The four templates of the paper, where it is at hand."""
    if not PAPER.exists():
        return {}
    text = PAPER.read_text(encoding="utf-8")
    starts = [text.index(f"\n{title}\n") for title in TITLES]
    return {
        title: text[start + len(title) + 2 : end].strip().removeprefix("User:").strip()
        for title, start, end in zip(TITLES, starts, starts[1:], strict=False)
    }


def changed(operator: str, text: str, seed: int = 1) -> str | None:
    """What an operator makes of a text first; ``None`` where it finds no place. Slots and the rest are kept."""
    each = find(operator)
    draft = draft_of(text)
    edits = next(iter(each.proposals(draft, Rng(root_key(seed, text), each.id))), None)
    if edits is None:
        return None
    check_edits(edits, len(text), draft.protected(each.touches), source=operator)
    return apply_edits(text, edits)


@pytest.mark.parametrize("operator", CELLS)
@pytest.mark.parametrize("task", TEMPLATES)
def test_every_cell_acts_and_keeps_the_slots(task: str, operator: str) -> None:
    text = TEMPLATES[task]
    made = changed(operator, text)
    assert made is not None
    assert made != text
    assert sorted(Slots([made]).names) == sorted(Slots([text]).names)
    assert made == changed(operator, text)


def test_every_cell_acts_on_the_published_templates() -> None:
    templates = published()
    if not templates:
        pytest.skip("the paper is not at hand")
    idle = [
        (task, operator)
        for (task, text), operator in product(templates.items(), CELLS)
        if changed(operator, text) in {None, text}
    ]
    assert (len(templates), idle) == (4, [])


def test_there_are_as_many_cells_as_in_the_paper() -> None:
    assert [4 * len(each) for each in (POSITIONAL, FORMATS, LANGUAGES)] == [44, 24, 32]


@pytest.mark.parametrize("task", TEMPLATES)
def test_parts_stand_where_the_operator_says(task: str) -> None:
    text = TEMPLATES[task]
    (parts,) = parts_of(draft_of(text))

    def order(operator: str) -> list[str]:
        made = changed(operator, text)
        assert made is not None
        marks = [text[part.start : part.end].rstrip("`\n").splitlines()[-1][:12] for part in parts]
        there = sorted((made.index(mark), part.role) for mark, part in zip(marks, parts, strict=True))
        return list(dict.fromkeys(role for _, role in there))

    assert list(dict.fromkeys(part.role for part in parts)) == ["context", "task", "output"]
    assert order("context-to-middle") == ["task", "context", "output"]
    assert order("context-to-end") == ["task", "output", "context"]
    assert order("output-to-start") == ["output", "context", "task"]
    assert order("output-to-middle") == ["context", "output", "task"]
    assert order("context-to-middle+output-to-start") == ["output", "task", "context"]
    assert changed("output-to-end", text) is None  # it stands there


def test_words_that_point_are_turned_with_what_they_point_at() -> None:
    made = changed("context-to-end", TEMPLATES["answer"])
    assert made is not None
    assert "nothing to do with the following context" in made
    assert "none of the following articles supports" in made
    assert "In the above case, article_1" in made  # the example above it moved along
    assert made.endswith("following question:\n\n{{query}}")
    made = changed("context-to-start", TEMPLATES["answer"])
    assert made is not None
    assert made.startswith("Article 1:\n{{article_1}}")
    assert "\n\nYou are given the above articles in which an answer may stand.\n\n" in made
    made = changed("context-to-start", TEMPLATES["slots"])
    assert made is not None
    assert made.startswith(
        "{{fields}}\n\nAbove is a JSON schema of fields that a request may fill.\n\nHere is the"
    )
    made = changed("output-to-middle", TEMPLATES["case"])
    assert made is not None
    assert "none of the above sections" in made


TAGGED = """<instructions>
Answer from the context alone.
</instructions>

<context>

{handbook}

</context>

<question>
{question}
</question>

<output_format>
One short paragraph.
</output_format>"""


def test_what_stands_in_tags_moves_with_them() -> None:
    made = changed("output-to-start", TAGGED)
    assert made is not None
    assert made.startswith("<output_format>\nOne short paragraph.\n</output_format>\n\n<instructions>")
    made = changed("context-to-end", TAGGED)
    assert made is not None
    assert made.endswith("<context>\n\n{handbook}\n\n</context>\n\n<question>\n{question}\n</question>")
    assert changed("items-shuffle", TAGGED) is None


@pytest.mark.parametrize(
    ("operator", "text"),
    [
        (
            "context-to-end",
            "From: Dana\nSent: Tuesday\n\nWe need the head count.\n\nSum up the mail.\n\nRespond in JSON format.",
        ),
        ("items-reverse", "Log:\nStart: dew on the lens\nEnd: waiting\n\nSum it up."),
        ("context-to-end", "Text: {text}\n\n---\n\nSum it up.\n\nRespond in JSON format."),
        ("context-to-start", "# Notes\nSort them.\n\n## Input\n{text}\n\n## Output\nRespond in JSON format."),
        ("items-shuffle", "Text: <a>\n{text}\n</a>\n\nSum it up."),
        ("items-shuffle", "Here is the table:\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nSum it up."),
        ("context-to-end", "Text: {text}\n\nSum it up, as said earlier.\n\nAnswer only in JSON format."),
        (
            "context-to-end",
            "Sum up the text below.\n\nA cat sat on a mat. It slept.\n\nRespond in JSON format.",
        ),
        ("context-to-end", "Text: a\nLabel: b\n\nText: c\nLabel: d\n\nText: {text}\nLabel:"),
        ("items-reverse", "Follow these steps in order:\n- wash\n- dry\n\n{clothes}"),
        ("items-shuffle", "Do this:\n1. wash\n2. dry\n\n{clothes}"),
        ("output-keys-reorder", 'Respond in this JSON format:\n{"a": <x>}\n\n{text}'),
        ("output-to-start", "Sum up the text.\n\n{text}"),
    ],
)
def test_what_may_not_move_stays(operator: str, text: str) -> None:
    assert changed(operator, text) is None


def test_code_above_is_code_below_once_it_stands_there() -> None:
    text = "```python\nx = 1\n```\n\nCheck the formula x=1 against the code above.\n\nRespond in JSON format."
    made = changed("context-to-end", text)
    assert made is not None
    assert "against the code below." in made


def test_a_cue_that_waits_for_the_answer_stays_last() -> None:
    text = "Ticket: {ticket}\n\nClassify the ticket.\n\nRespond only in JSON format.\n\nLabel:"
    made = changed("context-to-end", text)
    assert made == "Classify the ticket.\n\nRespond only in JSON format.\n\nTicket: {ticket}\n\nLabel:"


def test_messages_of_a_chat_keep_their_parts() -> None:
    prompt = Prompt.from_messages(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TEMPLATES["case"]}]
    )
    (made,) = plan(prompt, 1, operators="context-to-end").mutations
    assert made.text.startswith("Be brief.")
    assert made.text.endswith("condensed:\n\n{{case_text}}")


# The structure that a prompt shows.


def shown_as(form: str, task: str) -> str:
    made = changed(f"format-{form}", TEMPLATES[task])
    assert made is not None
    return made


def test_a_shown_structure_is_shown_in_another_format() -> None:
    assert shown_as("yaml", "slots").endswith(
        "in the following YAML format:\n\n```yaml\nfields:\n  - name: <field_name>\n    value: <field_value>\n```"
    )
    assert shown_as("xml", "case").endswith(
        "in the following XML format with keys in English and values in English:\n\n<answer>\n"
        "  <Root_Cause>[string]</Root_Cause>\n  <Timeline>\n    <item>[string]</item>\n  </Timeline>\n"
        "  <Outcome>[string]</Outcome>\n</answer>"
    )
    assert shown_as("html", "answer").endswith(
        "with headings in English and values in English:\n\n<h2>answer_text</h2>\n<p>[string with sources]</p>\n"
        "<h2>sources</h2>\n<ul>\n  <li>[string]</li>\n</ul>"
    )
    assert shown_as("markdown", "slots").endswith(
        "```markdown\n## fields\n\n| name | value |\n| --- | --- |\n| [field_name] | [field_value] |\n```"
    )
    assert shown_as("text", "chat").endswith(
        "Answer in English in plain text without markup. Cover Problem, Steps Taken, Result and People."
    )
    assert shown_as("json", "case").endswith(
        'Output in JSON format with keys in English and values in English. Use the keys "Root Cause" (string), '
        '"Timeline" (list of string) and "Outcome" (string).'
    )


@pytest.mark.parametrize(
    "text",
    [
        'Sum up {text}.\n\nReturn only valid JSON.\n\nUse the following JSON format in your answer:\n{"a": <x>}',
        'Here are the orders:\n{"id": 1, "name": "Ada"}\n\nSum them up.',
        'Respond in this JSON format:\n{"a": <x>}\n\nOr respond in this JSON format:\n{"b": <y>}\n\n{text}',
        'Respond in this JSON format:\n{"text": {text}}',
        'Respond with one JSON object after this schema:\n{"type": "object", "required": ["a"]}\n\n{text}',
        "Respond in this JSON format:\n{broken: <x>",
    ],
)
def test_a_structure_that_is_none_of_the_answer_stays(text: str) -> None:
    assert changed("format-xml", text) is None


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('{"a": "b, c", "d": [1, 2]}', ["a", "d"]),
        ("{'a': <list[string]>, 'b': {\"c\": ...}}", ["a", "b"]),
        ('{\n  "a": <one of: x, y>,\n  "b": []\n}', ["a", "b"]),
        ("{}", None),
        ("[1, 2]", None),
        ('{"a": }', None),
        ('{"a" "b"}', None),
        ('{"a": <x>', None),
        ('{"a": <x>} and more', None),
    ],
)
def test_shapes_are_read_as_they_are_written(text: str, keys: list[str] | None) -> None:
    shape = read_shape(text)
    assert (None if shape is None else [key for key, _, _ in shape.pairs]) == keys


def test_pairs_are_found_where_they_stand() -> None:
    text = TEMPLATES["case"]
    (shown,) = shown_answers(draft_of(text))
    assert [text[slice(*span)] for _, _, span in shown.shape.pairs] == [
        '"Root Cause": <string>',
        '"Timeline": <list[string]>',
        '"Outcome": <string>',
    ]


BASELINE = '{"Root Cause": "a full disk", "Timeline": ["10:00 alarm", "11:00 fixed"], "Outcome": "solved"}'
ANSWERS = {
    "yaml": "Root Cause: a full disk\nTimeline:\n  - 10:00 alarm\n  - 11:00 fixed\nOutcome: solved",
    "xml": "<answer>\n  <Root_Cause>a full disk</Root_Cause>\n  <Timeline>\n    <item>10:00 alarm</item>\n"
    "    <item>11:00 fixed</item>\n  </Timeline>\n  <Outcome>solved</Outcome>\n</answer>",
    "html": "<h2>Root Cause</h2>\n<p>a full disk</p>\n<h2>Timeline</h2>\n<ul>\n  <li>10:00 alarm</li>\n"
    "  <li>11:00 fixed</li>\n</ul>\n<h2>Outcome</h2>\n<p>solved</p>",
    "markdown": "## Root Cause\n\na full disk\n\n## Timeline\n\n- 10:00 alarm\n- 11:00 fixed\n\n## Outcome\n\nsolved",
    "json": BASELINE,
}


def judged(form: str, answer: str) -> Comparison:
    return compare(BASELINE, answer, relation="format", requested_format=form)


@pytest.mark.parametrize("form", ANSWERS)
def test_an_answer_as_shown_holds_what_the_baseline_holds(form: str) -> None:
    assert judged(form, ANSWERS[form]).outcome == "equivalent"
    assert judged(form, ANSWERS[form].replace("a full disk", "a lost key")).outcome == "deviation"


# The language of the values.


def asked_for(tag: str, text: str) -> str | None:
    return changed(f"answer-in-{tag}", text)


def test_values_change_their_language_and_keys_keep_it() -> None:
    made = asked_for("ja", TEMPLATES["case"])
    assert made == TEMPLATES["case"].replace("values in English", "values in Japanese")
    made = asked_for("pt", TEMPLATES["slots"])
    assert made == TEMPLATES["slots"].replace(
        "JSON format:", "JSON format with keys in English and values in Portuguese:"
    )


def test_english_can_be_asked_for() -> None:
    german = TEMPLATES["case"].replace("values in English", "values in German")
    assert asked_for("en", german) == TEMPLATES["case"]
    assert asked_for("en", TEMPLATES["case"]) is None
    made = asked_for("en", "Fasse den Text in einem Satz zusammen. Nenne alle Orte.\n\n{text}")
    assert made == "Fasse den Text in einem Satz zusammen. Nenne alle Orte. Antworte auf Englisch.\n\n{text}"


@pytest.mark.parametrize(
    "text",
    [
        TEMPLATES["case"] + "\n\nTranslate every name into German.",
        'Classify the ticket as billing or other.\n\nRespond in the following JSON format:\n{"label": <label>}\n\n{ticket}',
    ],
)
def test_no_language_is_asked_for_where_another_may_be_meant_or_labels_are_fixed(text: str) -> None:
    assert asked_for("de", text) is None
