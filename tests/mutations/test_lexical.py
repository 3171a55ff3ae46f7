"""Case, white space, punctuation, word forms and padding: what they make of prompts, and what they leave alone.

The inputs and what is expected of them were written down before the operators were.
"""

from __future__ import annotations

import re
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from mutation_samples import PROMPTS, TEXTS, TRIAGE, draft_of

from pytest_promptfuzz.data.english_words import ABBREVIATED, UNABBREVIATED
from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.prompts.spans import logic_spans
from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.text.expressions import fold

SPACING = ("space-runs", "tabs", "join-lines", "wrap-lines", "space-around-punctuation")
PADDING = ("pad-quotes", "pad-spaces", "pad-newlines", "pad-characters")
NAMES = (
    "random-case", "sentence-case", *SPACING, "remove-punctuation", "add-punctuation", "word-split", "word-merge",
    "drop-stop-words", "abbreviation", "unabbreviation", *PADDING,
)  # fmt: skip


def made(name: str, text: str, *, seeds: int = 30, most: int = 6, intensity: float | None = None) -> set[str]:
    """Everything an operator makes of ``text`` within some seeds; each is safe for what is protected."""
    draft = draft_of(text)
    found = set()
    for seed in range(seeds):
        rng = Rng(root_key(seed, text), name, intensity=intensity)
        for edits in islice(builtin()[name].proposals(draft, rng), most):
            check_edits(edits, len(text), draft.spans, source=name)
            found.add(apply_edits(text, edits))
    return found


LONG = "Read the customer's message below with care and decide which of our teams ought to look after it on Monday morning."
MAKES = [
    ("sentence-case", "CLASSIFY THE TICKET. USE PLAIN WORDS.", {"Classify the ticket. Use plain words."}),
    ("sentence-case", "Classify The Ticket Below And Explain The Reason.",
     {"Classify the ticket below and explain the reason."}),
    ("sentence-case", "classify the ticket. use plain words.", {"Classify the ticket. Use plain words."}),
    ("sentence-case", "Do NOT guess. # x", {"Do not guess. # x"}),
    ("sentence-case", "WRITE A SUMMARY FOR THE API TEAM IF I ASK.", {"Write a summary for the API team if I ask."}),
    ("sentence-case", "Write A Summary Of The Text In French For Amazon.",
     {"Write a summary of the text in French for Amazon."}),
    ("space-runs", "Sort {x}", {"Sort  {x}", "Sort   {x}", "Sort      {x}"}),
    ("tabs", "Sort {x}", {"Sort\t{x}"}),
    ("tabs", "Rules:\n- a\n    - b", {"Rules:\n- a\n\t- b"}),
    ("join-lines", "Read the customer's message and\nanswer it in a friendly tone.",
     {"Read the customer's message and answer it in a friendly tone."}),
    ("join-lines", "Read the whole message first.\r\nAnswer it in a friendly tone.",
     {"Read the whole message first. Answer it in a friendly tone."}),
    ("join-lines", "次の文章を読んで、よく考えてから、質問に\n日本語で丁寧に答えてください。",
     {"次の文章を読んで、よく考えてから、質問に日本語で丁寧に答えてください。"}),
    ("wrap-lines", LONG, {LONG.replace("message below", "message\nbelow")}),
    ("space-around-punctuation", "Read it, then answer (briefly); be kind.",
     {"Read it , then answer ( briefly ); be kind.", "Read it, then answer ( briefly ) ; be kind.",
      "Read it , then answer (briefly) ; be kind."}),
    ("remove-punctuation", "If it is late, apologise. Use plain words.",
     {"If it is late apologise. Use plain words.", "If it is late, apologise Use plain words."}),
    ("remove-punctuation", "Read the ticket, and answer it.", {"Read the ticket and answer it."}),
    ("add-punctuation", "Sort the tickets.", {"Sort the tickets!", "Sort the tickets..."}),
    ("add-punctuation", "Is it late?", {"Is it late??"}),
    ("add-punctuation", "Answer because they wait", {"Answer, because they wait"}),
    ("word-split", "Describe the problem.", {"Describe the prob lem."}),
    ("word-merge", "Sort all of the new tickets.", {"Sort all ofthe new tickets.", "Sort all of thenew tickets."}),
    ("drop-stop-words", "Please sort the tickets.", {"Sort the tickets.", "Please sort tickets."}),
    ("drop-stop-words", "The ticket is very long.", {"Ticket is very long.", "The ticket is long."}),
    ("drop-stop-words", "Make sure that you answer.", {"Make sure you answer."}),
    ("abbreviation", "Give more information on the documents.",
     {"Give more info on the docs.", "Give more info on the documents.", "Give more information on the docs."}),
    ("abbreviation", "Name the department.", {"Name the dept."}),
    ("abbreviation", "Answer the frequently asked questions.", {"Answer the FAQs."}),
    ("abbreviation", "Sort the documents, for example letters.", {"Sort the docs, e.g. letters.",
                                                                 "Sort the docs, for example letters."}),
    ("unabbreviation", "Give more info on the app.", {"Give more information on the application."}),
    ("unabbreviation", "Name the dept. and the tutor.", {"Name the department and the tutor."}),
    ("unabbreviation", "Name the dept., then the tutor.", {"Name the department, then the tutor."}),
    ("unabbreviation", "Add the link to the FAQ.", {"Add the link to the frequently asked questions."}),
    ("unabbreviation", "Name the dept.", {"Name the department."}),
    ("unabbreviation", "Answer the mail ASAP.", {"Answer the mail as soon as possible."}),
    ("pad-quotes", "Sort {x} now.", {'"Sort {x} now."', "'Sort {x} now.'", "“Sort {x} now.”"}),
    ("pad-quotes", "Sort this:\n{x}", {'"""\nSort this:\n{x}\n"""'}),
    ("pad-newlines", "Sort {x}", {"\nSort {x}", "Sort {x}\n", "\n\n\nSort {x}\n"}),
    ("pad-spaces", "Sort {x}", {" Sort {x}", "Sort {x} "}),
    ("pad-characters", "Sort it.", {"###\n\nSort it.", "-----\n\nSort it.\n\n-----", "Sort it.\n\n***"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "some"), MAKES)
def test_what_is_made(name: str, text: str, some: set[str]) -> None:
    found = made(name, text, seeds=120 if name.startswith("pad") else 60, most=12)
    assert some <= found, found


NOTHING = [
    ("sentence-case", "Classify the ticket. Write in French for Amazon."),
    ("sentence-case", "Fasse den Text zusammen. Antworte der Kundin."),
    ("random-case", "Is it so? US or UK, NATO."),
    ("space-runs", "| a b | c d |\n|---|---|\n| e f | g h |"),
    ("space-runs", "    total = sum of parts\n    print total"),
    ("space-runs", "name: the first one\nplace: the last one\nhour: the same one"),
    ("tabs", "    total = sum of parts"),
    ("tabs", "a row\tof data\nupload.error = Wait here\n80 mots"),
    ("space-runs", "a row\tof data\nupload.error = Wait here\n80 mots"),
    ("sentence-case", "The Main Meter\tMain House With Room"),
    ("tabs", "name: the first one\nplace: the last one\nhour: the same one"),
    ("join-lines", "- one of these items here\n- two of those items there"),
    ("join-lines", "red apples\ngreen pears\nblue plums"),
    ("join-lines", "Read the whole message first.  \nAnswer it in a friendly tone."),
    ("join-lines", "Read the whole message first:\nAnswer it in a friendly tone."),
    ("join-lines", "Be concise whenever you write an answer\nMention the price of every single product"),
    ("join-lines", "> quoted words of an old mail\n> and more words of that mail"),
    ("join-lines", "Read the message of the customer.\n\nAnswer it in a friendly tone."),
    ("join-lines", "Read the message of the customer.\n# Task for you and me"),
    ("wrap-lines", "Sort the tickets."),
    ("wrap-lines", "- " + LONG),
    ("wrap-lines", "Review: " + LONG),
    ("wrap-lines", "| " + LONG + " |"),
    ("wrap-lines", "    " + LONG),
    ("space-around-punctuation", "Answer:\n{x}\n\nLabel: {y}, {z}"),
    ("space-around-punctuation", "Name the item(s) of f(x) and [a link](there)."),
    ("remove-punctuation", "What does it cost?"),
    ("remove-punctuation", "Name the well-known artist's 3.5 or 1,000 works"),
    ("remove-punctuation", "List the name, place, date"),
    ("remove-punctuation", "Answer POSITIVE, NEGATIVE, or NEUTRAL"),
    ("remove-punctuation", "Text: {text}"),
    ("remove-punctuation", "Sort fruit, e.g. pears"),
    ("add-punctuation", "Text: {text}"),
    ("add-punctuation", "Use {x}."),
    ("add-punctuation", "Wait for Mr. Bean"),
    ("word-split", "Do not use it."),
    ("word-split", "Never stop without notice."),
    ("word-merge", "It may be so."),
    ("word-merge", "Do not go on to X"),
    ("word-merge", "Log in to X"),
    ("drop-stop-words", "Use only one of a few, not a lot."),
    ("drop-stop-words", "Write a sentence in a word"),
    ("drop-stop-words", "Ask The Who in The Hague"),
    ("drop-stop-words", "Compare plan A with option a here"),
    ("abbreviation", "Message: {message}"),
    ("abbreviation", "Reply with no minimum"),
    ("abbreviation", "Document the code, and message me."),
    ("unabbreviation", "Wait 5 min or so"),
    ("sentence-case", "Use SELECT and NOT NULL, then answer NONE."),
    ("unabbreviation", "Ask the IT crew about AI art"),
    ("unabbreviation", "Write the docs for the code above"),
    ("unabbreviation", "Open the FAQ page"),
    ("unabbreviation", "Write a FAQ"),
    ("synonym", "Choose the correct spelling: recieve or receive"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), NOTHING)
def test_nothing_rather_than_harm(name: str, text: str) -> None:
    assert made(name, text, seeds=10) == set()


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_logic_and_protected_text_survive_whatever_the_prompt(name: str, text: str) -> None:
    draft = draft_of(text)
    logic = [text[a:b].lower() for a, b, _ in logic_spans(text) if draft.is_free(a, b)]
    for edits in islice(builtin()[name].proposals(draft, Rng(root_key(1, text), name)), 4):
        check_edits(edits, len(text), draft.spans, source=name)
        after = apply_edits(text, edits)
        assert after != text
        left = [after[start:end].lower() for start, end, _ in logic_spans(after)]
        for word in logic:
            assert left.count(word) >= logic.count(word), (word, after)


SURFACE = ("random-case", "sentence-case", *SPACING, "word-split", "word-merge", "pad-spaces", "pad-newlines")


@pytest.mark.parametrize("name", NAMES)
def test_only_operators_on_case_and_space_keep_every_letter(name: str) -> None:
    assert builtin()[name].surface == (name in SURFACE)
    for text in PROMPTS:
        for after in made(name, text, seeds=5, most=4):
            assert (fold(after) == fold(text)) == (name in SURFACE), after


@pytest.mark.parametrize("name", NAMES)
def test_default_plans_draw_on_few_of_them(name: str) -> None:
    assert builtin()[name].by_default == (name in {"space-runs", "tabs", "wrap-lines"})
    assert builtin()[name].dimension == ("padding" if name in PADDING else "lexical")


def test_white_space_operators_keep_the_lines_that_mean_something() -> None:
    text = (
        "Fill in the form for the customer, who is in a hurry today and will not wait for long.\n\n"
        "name: the name in full\n"
        "city: where they live\n\n"
        "| a b | c d |\n|-----|-----|\n| e f | g h |\n\n"
        "    total = sum of all\n"
        "Write one line for each of the items  \n"
        "and no more than that for all the rest\n"
    )
    kept = [line for line in text.splitlines() if re.match(r"name|city|\||    ", line)]
    assert len(kept) == 6
    for name in ("space-runs", "tabs", "wrap-lines", "join-lines"):
        found = made(name, text, seeds=20)
        assert (found == set()) == (name == "join-lines")
        for after in found:
            assert [line for line in after.splitlines() if line in kept] == kept
            assert "items  \nand" in after or name in {"space-runs", "tabs"}


def test_intensity_sets_the_amount() -> None:
    text = "Sort all of the new tickets into those piles that fit them well, and then rest."
    assert {after.count("\t") for after in made("tabs", text, intensity=3)} == {3}
    assert {after.count("\t") for after in made("tabs", text, intensity=1.0)} == {text.count(" ")}
    assert made("pad-spaces", "Sort it", intensity=5) == {
        "     Sort it",
        "Sort it     ",
        "     Sort it     ",
    }
    assert made("pad-newlines", "Sort it", intensity=0.5) == {
        "\n\n\nSort it",
        "Sort it\n\n\n",
        "\n\n\nSort it\n\n\n",
    }
    assert (
        max(
            after.count("Please") + after.count("the")
            for after in made("drop-stop-words", "Please sort the ones in the box.", intensity=1)
        )
        == 2
    )


def test_one_message_of_a_chat_is_padded() -> None:
    prompt = Prompt.from_messages(
        [{"role": "system", "content": "Sort the mail."}, {"role": "user", "content": "Mail: {mail}"}]
    )
    spans = prompt.spans
    walls = [(start, end) for start, end, kind in spans if kind in {"separator", "message"}]
    draft = Draft(prompt.text, [(start, end) for start, end, _ in spans], walls=walls)
    for name in PADDING:
        seen = set()
        for seed in range(20):
            rng = Rng(root_key(seed, prompt.text), name)
            for edits in islice(builtin()[name].proposals(draft, rng), 4):
                check_edits(edits, len(prompt.text), draft.spans, source=name)
                assert all(not start < edit.start < end for edit in edits for start, end in walls)
                seen.add(edits[0].start < prompt.text.index("Mail") - 1)
        assert seen == {True, False}, name


def test_padding_is_set_apart_from_slots_and_unfinished_lines() -> None:
    for after in made("pad-quotes", TRIAGE):
        assert after.splitlines()[0] in {'"""', "'''"}
        assert after.splitlines()[-1] == after.splitlines()[0]
    for after in made("pad-characters", TRIAGE):
        assert after.endswith(TRIAGE)
    for after in made("pad-characters", "Sort it.\n###\nNow: {x}", seeds=60):
        assert after.count("###") == 1
    assert made("pad-quotes", "Say \"a\" and 'b' or “c” and «d» now.") == set()


def test_case_is_drawn_but_never_an_acronym() -> None:
    text = "Read what the US team wrote about NATO, and never miss who said so."
    for after in made("random-case", text, seeds=60):
        assert "US" in after.split()
        assert "NATO," in after.split()
        assert "never" in after.split()
        assert not [word for word in after.split() if len(word) > 2 and word.isupper() and word != "NATO,"]


def test_punctuation_keeps_the_scope_of_a_negation() -> None:
    assert made("remove-punctuation", "Avoid jargon, do it well.") == set()
    for text in ("Do not guess, because it matters.", "Do not guess. Ask them first, and wait"):
        for after in made("remove-punctuation", text):
            assert after.startswith(text[:13])
        for after in made("add-punctuation", text.replace(",", "")):
            assert "guess," not in after
            assert "matters," not in after


def test_abbreviations_are_many_and_never_negate() -> None:
    assert len(ABBREVIATED) >= 60
    assert len(UNABBREVIATED) >= 60
    for phrase, brief in ABBREVIATED.items():
        assert phrase == phrase.lower()
        assert not logic_spans(brief)
        assert not logic_spans(phrase) or " " in phrase
    for name in ("abbreviation", "unabbreviation"):
        assert made(name, "Extract the name and the department, and the info.") == set()
        assert made(name, "Spell out every abbreviation of information and info.") == set()
    assert made("abbreviation", "Give an application programming interface.") == {"Give an API."}
    assert made("abbreviation", "Name a standard operating procedure.") == set()
    assert made("abbreviation", "Information is all") == {"Info is all"}
    assert made("abbreviation", "GIVE INFORMATION NOW") == {"GIVE INFO NOW"}


@pytest.mark.timeout(120)
def test_long_prompts_come_to_an_end() -> None:
    unit = "Please read the message, and answer it (briefly) because info on the docs is short of the mark.\nkey: a b\n"
    text = unit * 400
    draft = draft_of(text)
    found = [
        name
        for name in NAMES
        if next(iter(builtin()[name].proposals(draft, Rng(root_key(0, text), name))), None)
    ]
    assert len(found) > len(NAMES) // 2


def test_no_line_is_broken_into_what_looks_like_a_field() -> None:
    text = "Read the words of the customer below and write down all the most important points here: {x}"
    for after in made("wrap-lines", text, seeds=80):
        second = after.splitlines()[1]
        assert re.match(r"\S+( \S+){3,} here: ", second), second
