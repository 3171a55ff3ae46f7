"""What is told in an order, or builds on what stands before it, keeps its order."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.analysis.order import build_up, tells_order
from pytest_promptfuzz.mutations.engine.edits import apply_edits
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.randomness import Rng, root_key


def made_by(name: str, text: str) -> set[str]:
    each, spans = builtin()[name], as_prompt(text).spans
    draft = Draft(text, [span[:2] for span in spans], kinds=[kind for *_, kind in spans])
    return {
        apply_edits(text, edits)
        for seed in range(6)
        for edits in islice(each.proposals(draft, Rng(root_key(seed, text), each.id)), 6)
    } - {text}


def order_of(text: str, parts: list[str]) -> list[str]:
    return sorted(parts, key=text.index)


TOLD = [
    "If several categories apply, choose the first one in the list.",
    "Tag it with one of these, and if several fit, take the one that comes first:",
    "If more than one fits, use the topmost.",
    "When in doubt, prefer the earlier one.",
    "Pick the first matching category.",
    "Pick the 1st matching category.",
    "Categories are sorted by priority.",
    "Categories (in descending priority):",
    "The categories, most important first.",
    "Check them from top to bottom and stop at the first match.",
    "Go down the list until one fits.",
    "Try them one by one.",
    "The highest one wins.",
    "In a tie, the higher category wins.",
    "If two labels fit, the one listed earlier wins.",
    "In case of a tie, take whichever is listed first.",
    "Use the last one if nothing else fits.",
    "Where several apply, earlier entries take precedence.",
    "The default is the last entry.",
    "If unsure, go with the first.",
    "Choose the category nearest the top that applies.",
    "When two fit, the one further up the list counts.",
    "Answer with the position of the category (1, 2, ...).",
    "Answer with the letter of the option, A for the first one.",
    "Say what the third item of the list is.",
    "Which of these was mentioned last?",
    "The second one is the most important.",
    "The order of the categories matters.",
    "Take them in the order given.",
    "If two fit, prefer whichever appears sooner.",
    "Option 2 is the default.",
    "Answer with its number in the list.",
    "Name every other one.",
    "Repeat the list in reverse.",
    "Which of these follows phishing?",
    "Name what comes right after the word phishing.",
    "They are ranked.",
    "Im Zweifel gilt die erste Kategorie.",
    "Geh von oben nach unten vor.",
    "Halte dich an diese Reihenfolge.",
    "En cas de doute, prends la première.",
    "Elles sont classées par priorité.",
    "En caso de duda, elige la primera.",
    "Van boven naar beneden, de eerste telt.",
    "Nel dubbio vale la prima.",
    "Le categorie sono in ordine di priorità.",
    "Em caso de dúvida, vale a primeira.",
    "De cima para baixo.",
]
# They hold words of an order and say nothing of the list's.
OF_OTHER_THINGS = [
    "The customer's first name stands at the end.",
    "Answer in the first person.",
    "At first glance it is often easy.",
    "It has the first line and the last sentence of a mail.",
    "Wait a second before you decide.",
    "The customer's order number is in the mail.",
    "Read it carefully in order to be fair.",
    "It is about the last 30 days.",
    "Put the reason at the top of your answer.",
    "One third of the mails is spam.",
    "The mail may ask for the date of the last order.",
    "Think of the top 3 reasons.",
    "The category must fit the mail.",
    "Read the text first.",
    "Read the whole message first, then answer.",
    "Please read it carefully first.",
    "You should think first and answer then.",
    "Think about it first.",
    "First, read the mail.",
    "First read the mail with care.",
]
# They speak of reading, or look as if they did, and of an order.
READ_IN_ORDER = [
    "Read the first category.",
    "Read the narrowest category first.",
    "Look at the topmost first.",
    "First, read the list.",
    "First, look at the options; they are sorted.",
    "Read the mail first; the first category that fits is right.",
    "Think of the first that comes to mind.",
    "Try phishing first.",
    "Read the mail first category by category.",
    "Decide what you read first.",
    "The one you read first wins.",
    "Check the narrow ones first.",
    "- Read the mail first.",
    "1. First, read the mail.",
]
BARE = ["spam", "phishing", "newsletter", "personal"]
NOTED = ["spam: unwanted offers", "phishing: attempts to steal data", "newsletter: subscriptions"]
FRAMES = {
    "after": "Classify the email.\n\nCategories:\n{items}\n\n{told}\n\nEmail: {{email}}",
    "before": "Classify the email. {told}\n\n{items}\n\nEmail: {{email}}",
    "on top": "{told}\n\nClassify the email.\n\nThe categories:\n{items}\n\nEmail: {{email}}",
}


def framed(frame: str, told: str, items: list[str]) -> str:
    return FRAMES[frame].format(told=told, items="\n".join(f"- {each}" for each in items))


@pytest.mark.parametrize("items", [BARE, NOTED], ids=["bare", "noted"])
@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("told", TOLD)
def test_a_list_whose_order_is_told_keeps_it(told: str, frame: str, items: list[str]) -> None:
    text = framed(frame, told, items)
    for name in ("bullet-reorder", "positional-mix"):
        for after in made_by(name, text):
            assert order_of(after, [f"- {each}" for each in items]) == [f"- {each}" for each in items], name
    assert made_by("bulleted-to-numbered", text) == set()
    assert made_by("bullets-to-sentences", text) == set()


@pytest.mark.parametrize("told", OF_OTHER_THINGS)
def test_words_of_an_order_that_speak_of_other_things_hold_nothing(told: str) -> None:
    assert not tells_order(told)
    assert len(made_by("bullet-reorder", framed("after", told, BARE))) > 2


@pytest.mark.parametrize("told", READ_IN_ORDER)
def test_an_order_is_told_beside_reading_too(told: str) -> None:
    assert tells_order(told)
    assert tells_order(f"Classify the email.\n{told}")


def test_code_tells_no_order() -> None:
    text = "Review it.\n\nRules:\n- Be brief\n- Use English\n\n```python\n# the first one wins\nx = y[0]\n```"
    assert made_by("bullet-reorder", text) == {
        text.replace("- Be brief\n- Use English", "- Use English\n- Be brief")
    }


@pytest.mark.parametrize("told", ["Name the topmost document.", "Answer from the one that is listed first.", "Stop at the one that fits."])  # fmt: skip
def test_documents_whose_order_is_told_keep_it(told: str) -> None:
    text = "Document 1: Cats purr.\nDocument 2: Dogs bark.\n\n{}\n\nQuestion: {{question}}"
    assert made_by("document-reorder", text.format(told)) == set()
    assert made_by("document-reorder", text.format("Be brief."))


MOVING = ("sentence-shuffle", "sentence-reverse", "instruction-reorder")
PROCEDURES = [
    "Multiply the number by two. Add five. Print the result only.",
    "Replace all commas by dots. Replace all dots by spaces. Return the result.",
    "Remove all duplicates. Count the names. Double the count. Print only the number.",
    "Please subtract 3 from the number. You should halve the number. Answer briefly.",
    "Keep only the names with an accent. Sort the names by length. Use English.",
    "Reverse the word. Please insert a dash after each vowel. Return the word.",
    "Change every a to b. Be exact. Change every b to c. Show the text.",
]
RULES = [
    ("Translate the mail into French. Keep the tone. Use short words.", True),
    ("Add no comments. Remove nothing. Use short words.", True),
    ("Count the names. Use English. Be brief.", True),
    ("Delete the dates. Sort the names. Use English.", False),
]


@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize("text", PROCEDURES)
def test_steps_that_build_on_one_another_keep_their_order(text: str, name: str) -> None:
    assert made_by(name, text) == set()
    assert made_by(name, f"You are a careful editor.\n\n{text}\n\nInput: {{text}}") == set()


@pytest.mark.parametrize(("text", "moves"), RULES)
def test_rules_that_only_look_like_steps_may_move(text: str, moves: bool) -> None:
    assert bool(made_by("sentence-shuffle", text)) is moves
    assert build_up(re.findall("[a-z]+", each) for each in text.lower().split(". ")) is not moves


@pytest.mark.parametrize("told", ["Follow the instructions one by one.", "Earlier rules outrank later ones.", "Do it in the order given."])  # fmt: skip
@pytest.mark.parametrize("name", MOVING)
def test_instructions_that_are_followed_in_order_stay(name: str, told: str) -> None:
    rest = "Classify the ticket. Keep the answer brief. Use English."
    assert made_by(name, f"{told}\n\n{rest}") == set()
    assert made_by(name, f"Be kind.\n\n{rest}")


@pytest.mark.parametrize(
    "items",
    [
        ["Divide each by 10", "Round to an integer", "Subtract 1"],
        ["Strip the spaces.", "Join the lines.", "Use no markdown."],
    ],
)
def test_items_that_build_on_one_another_keep_their_order(items: list[str]) -> None:
    assert (
        made_by("bullet-reorder", "Normalise the input:\n" + "\n".join(f"- {each}" for each in items))
        == set()
    )


def test_rules_may_still_change_places() -> None:
    text = "Write a story.\n\nRules:\n- Use the past tense.\n- Avoid dialogue.\n- Keep the tone.\n\nTopic: {topic}"
    assert len(made_by("bullet-reorder", text)) == 5


def test_rules_whose_order_is_told_stay_a_list() -> None:
    text = "Classify the mail.\n\nRules:\n- Be brief\n- Use English\n\n{}\n\nMail: {{mail}}"
    assert made_by("bullets-to-sentences", text.format("The topmost wins.")) == set()
    assert made_by("bullets-to-sentences", text.format("Be kind."))
