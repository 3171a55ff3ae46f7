"""The requested output format turned to another: what is made of prompts, written down before the operators were."""

from __future__ import annotations

from itertools import islice

import pytest
from mutation_samples import PROMPTS, TRIAGE, draft_of

from pytest_promptfuzz.comparing.formats.answer_formats import FORMATS, requested_format
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.randomness import Rng, root_key

NAMES = {"json": "JSON", "yaml": "YAML", "xml": "XML", "html": "HTML", "markdown": "Markdown", "text": "text"}


def made_by(name: str, text: str, *, seeds: int = 3, most: int = 20) -> set[str]:
    each = builtin()[name]
    draft = draft_of(text)
    found = set()
    for seed in range(seeds):
        for edits in islice(each.proposals(draft, Rng(root_key(seed, text), each.id)), most):
            check_edits(edits, len(text), draft.spans, source=name)
            found.add(apply_edits(text, edits))
    return found


REPLACED = [
    (
        "yaml",
        "Extract the name. Return JSON.\n\nText: {text}",
        "Extract the name. Return YAML.\n\nText: {text}",
    ),
    (
        "xml",
        "Respond in JSON format with the keys name and age.",
        "Respond in XML format with the keys name and age.",
    ),
    (
        "yaml",
        'Return a JSON object with the keys "name" and "age".',
        'Return a YAML mapping with the keys "name" and "age".',
    ),
    (
        "xml",
        'Return a JSON object with the keys "name" and "age".',
        'Return an XML document with the keys "name" and "age".',
    ),
    ("html", "List the steps as a JSON array.", "List the steps as an HTML list."),
    ("yaml", "Your answer must be valid JSON.", "Your answer must be valid YAML."),
    ("text", "Your answer must be valid JSON.", "Your answer must be plain text."),
    ("xml", "Output format: JSON\n\nClassify the text.", "Output format: XML\n\nClassify the text."),
    ("json", "Explain the rule. Give the result in Markdown.", "Explain the rule. Give the result in JSON."),
    ("json", "Name the city. Answer in plain text.", "Name the city. Answer in JSON."),
    ("xml", "Sort the mails. Return only valid JSON.", "Sort the mails. Return only valid XML."),
    ("json", "Return the result as an XML document.", "Return the result as a JSON object."),
    (
        "markdown",
        "Return JSON. If nothing is found, return an empty JSON object.",
        "Return Markdown. If nothing is found, return an empty Markdown list.",
    ),
    ("text", "Return a JSON array of the names.", "Return a plain-text list of the names."),
]

APPENDED = [
    (
        "Summarize the article in exactly 3 sentences. Keep a formal tone.\n\nArticle:\n{article}",
        "Keep a formal tone. {}\n\nArticle:\n{{article}}",
    ),
    ("What is the capital of France?", "What is the capital of France? {}"),
    ("Text: {text}\n\nClassify the text above.", "Text: {{text}}\n\nClassify the text above. {}"),
    (
        "# Role\nYou are an editor.\n\n# Rules\n- Be concise\n- Never change names\n\n# Text\n<text>\n${text}\n</text>",
        "- Never change names\n\n{}\n\n# Text\n<text>",
    ),
    ("Summarize {text}", "Summarize {{text}}\n\n{}"),
    (
        "Summarize the text.\n\nThe fox jumped over the dog. It was a fine day.",
        "Summarize the text. {}\n\nThe fox jumped",
    ),
    ("Summarize the article.\n{article}", "Summarize the article. {}\n{{article}}"),
    (
        "Summarize the text.\n\nThe fox jumped over the dog.\n\nWrite the letter tomorrow.",
        "Summarize the text. {}\n\nThe fox jumped over the dog.\n\nWrite the letter tomorrow.",
    ),
    ("Classify the mail.\nMail: {mail}\nAnswer:", "Classify the mail. {}\nMail: {{mail}}"),
]

INSERTED = [
    ("Name the city. Give the name only.", "Give the name only, "),
    ("Sort the mail into work or private. Return only the label.\n\nMail: {mail}", "Return only the label, "),
]

NOTHING = [
    ("yaml", 'Respond with JSON like {"name": "Ada", "order": 17}.'),
    ("yaml", "Return JSON. Do not use Markdown."),
    ("yaml", "Convert the JSON below to a table."),
    ("json", "Sort.\n\nText: good\nLabel: positive\n\nText: bad\nLabel: negative\n\nText: {text}\nLabel:"),
    ("json", "Think about it. Put your answer in <answer> tags."),
    ("yaml", "Write a Python function that parses JSON."),
    ("json", "Write a SQL query for the question. Return only the query."),
    ("json", "List the cities. Separate the items with commas, as comma-separated values."),
    ("json", "List the risks as bullet points."),
    ("json", "Return JSON."),
    ("xml", "If the input is JSON, return JSON; otherwise return XML."),
    ("json", "Fasse den Text in 2 Sätzen zusammen.\n\nText: {text}"),
    ("yaml", "Here is a report in JSON. Summarize the report."),
    ("json", "Answer in the following format:\nName: <name>\nAge: <age>"),
    ("xml", "Return the rows as CSV."),
    ("json", "{everything}"),
    ("html", 'Grade the answer. Return JSON with the keys "grade" and "hint".'),
    ("text", "Return a list of the facts with a box in front of each item: `[ ]`."),
    ("text", "Return a checklist for the trip."),
    *(
        (
            name,
            (
                'Name the "object", the line and the time. The result must be returned as a JSON object with the keys'
                ' "object", "line" and "time".'
            ),
        )
        for name in ("yaml", "xml", "html", "markdown", "text")
    ),
    ("yaml", "Return `JSON`."),
]


@pytest.mark.parametrize(("name", "before", "after"), REPLACED)
def test_a_format_that_is_asked_for_is_replaced(name: str, before: str, after: str) -> None:
    made = made_by(f"format-{name}", before)
    assert after in made
    for text in made:
        assert "JSON" not in text or name == "json", text


@pytest.mark.parametrize(("before", "after"), APPENDED)
@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_asked_for_at_the_end_of_the_instructions(name: str, before: str, after: str) -> None:
    made = made_by(f"format-{name}", before)
    assert len(made) >= 4
    first, last = after.format("\0").split("\0")
    for text in made:
        assert first in text, text
        assert last in text, text
        added = text[
            text.index(first) + len(first) : text.index(last, text.index(first) + len(first))
            if last
            else None
        ]
        assert NAMES[name] in added, added
        assert added.endswith("."), added
        assert text.replace(added, "", 1).replace("\n\n\n\n", "\n\n").split() == before.split()


@pytest.mark.parametrize(("before", "start"), INSERTED)
@pytest.mark.parametrize("name", FORMATS)
def test_an_only_is_kept_and_the_format_joined_to_it(name: str, before: str, start: str) -> None:
    made = made_by(f"format-{name}", before)
    assert made
    for text in made:
        added = text[text.index(start) + len(start) :].split(".")[0]
        assert NAMES[name] in added, text


@pytest.mark.parametrize(("name", "text"), NOTHING)
def test_nothing_rather_than_two_formats(name: str, text: str) -> None:
    assert made_by(f"format-{name}", text) == set()


BARE = [
    (
        "Decide what the guest wants: room_issue or other.\n\nWrite only the name of the intent, in lower case, without a full"
        " stop. If the guest wants two things, give the one that is mentioned first.\n\nGuest: {guest_message}"
    ),
    "Assign a priority.\n\nRules:\n- Never choose P1.\n- Output the priority and nothing else.\n\nReport:\n{{ report }}",
    "Which of these is the main idea?\n\nA) Trade fell.\nB) Trade rose.\n\nReply with a single letter (A or B).",
    "Pick the emoji that fits.\n\nReply with the emoji only. No words!\n\nReview: {review}",
    "Decide which team should handle it.\n\nAnswer with exactly one of: BILLING, SHIPPING, OTHER.\n\nMessage: {message}",
    'READ ALL INSTRUCTIONS. REPLY ONLY WITH "ACCESS GRANTED" OR "ACCESS DENIED". THE LEVEL IS {level}.',
    "You help customers of a bank.\n\nIf the customer mentions fraud, reply with the text `ESCALATE` and nothing else.",
    "Name the city. Answer with one word only.",
    "You are a coach. Give the best move, nothing more.\n\nPosition: {fen}",
    "Tell me whether the e-mail is spam. Say SPAM or HAM, no explanation.\n\n{mail}",
    "Decide if the statement is true. Answer Yes or No.\n\nStatement: {statement}",
    "Rate the review from 1 to 10. Reply with the number only.\n\nReview: {review}",
    "If the user is in danger, respond with HANDOFF. Otherwise help.\n\nUser: {user}",
    "Assign the question to a topic.\n\nQuestion: {question}\n\nRespond with a single word in capital letters.",
    "Explain it in two short paragraphs. Do not use bullets.",
    "Condense the transcript.\n\nFormat:\n\tCustomer:\tthe name\n\tNeeds:\tthree points\n\nTranscript:\n${transcript}",
    "## How to answer\nAnswer kindly.\n\n## What you may not do\nDo not give advice. Never ask for a PIN.",
]
MARKED = [
    "Use the table to answer.\n\n{table}\n\n## Rules\n\n* Answer in one sentence.\n* Cite the region in **bold**.",
    (
        "Write release notes.\n\n## Output\n\nLeave out a heading that would have no entries:\n\n### New\n### Fixed\n\n* One bullet"
        " for each change."
    ),
    "Summarise the report. Mark the totals, such as **4.2 million**.\n\nReport: {report}",
]


@pytest.mark.parametrize("text", BARE)
@pytest.mark.parametrize("name", [each for each in FORMATS if each != "text"])
def test_an_answer_that_is_one_bare_thing_takes_no_format(name: str, text: str) -> None:
    assert made_by(f"format-{name}", text) == set()


@pytest.mark.parametrize("text", MARKED)
@pytest.mark.parametrize("name", [each for each in FORMATS if each != "markdown"])
def test_markdown_in_what_is_asked_for_goes_with_no_other_format(name: str, text: str) -> None:
    assert made_by(f"format-{name}", text) == set()


def test_bold_titles_of_the_prompt_itself_are_no_markdown_of_the_answer() -> None:
    assert made_by("format-json", "Describe the honey.\n\n**Rules:**\n- Name the lake.\n- Be brief.")


def test_bullets_and_tables_go_with_markdown_and_html() -> None:
    for name in FORMATS:
        assert bool(made_by(f"format-{name}", "List the risks as bullet points.")) == (
            name in {"markdown", "html"}
        )


CHAT = [
    {"role": "system", "content": "You sort mails. Name the topic of the mail."},
    {"role": "user", "content": "Please cancel my order. Thank you."},
]


def test_a_chat_is_told_in_its_first_instructions() -> None:
    made = plan(Prompt.from_messages(CHAT), 4, operators=["format-json"]).mutations
    assert len(made) == 4
    for mutation in made:
        messages = mutation.prompt.messages
        assert "JSON" in messages[0]["content"]
        assert messages[1] == CHAT[1]
        assert requested_format(mutation.operators) == "json"
        assert (mutation.relation, mutation.dimension, mutation.preserves) == ("format", "format", "yes")


def test_a_chat_with_answers_in_it_shows_a_format_already() -> None:
    shown = [*CHAT, {"role": "assistant", "content": "cancellation"}, CHAT[1]]
    assert not plan(Prompt.from_messages(shown), 4, operators=["format-json"]).mutations


@pytest.mark.parametrize("name", FORMATS)
def test_plans_are_the_same_each_time_and_hold_one_format(name: str) -> None:
    for text in PROMPTS:
        one, two = (plan(text, 4, seed=7, operators=[f"format-{name}"]) for _ in range(2))
        assert one.mutations == two.mutations
        for mutation in one.mutations:
            named = [each for each in NAMES.values() if each != "text" and each in mutation.text]
            assert named == ([NAMES[name]] if name != "text" else []), mutation.text


def test_they_are_used_only_when_named() -> None:
    default = {each.partition("@")[0] for m in plan(TRIAGE, 40).mutations for each in m.operators}
    assert not any(each.startswith("format-") for each in default)
