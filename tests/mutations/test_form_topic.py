"""Tasks about the form of a text that stands in the prompt: no operator changes how it looks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mutation_samples import draft_of

from pytest_promptfuzz import Prompt
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.operator import form_is_topic
from pytest_promptfuzz.mutations.engine.planner import plan

DATA = Path(__file__).parent / "data"
FORMAL = [
    each.name for each in registry.builtin().values() if each.dimension in {"lexical", "padding", "math"}
]

ABOUT_FORM = [
    "Does the sentence contain a contraction? Answer yes or no.\n\nSentence: I do not know what it is.",
    "List the misspelled words in the text below. If there are none, write NONE.\n\nText: We recieved it.",
    "How many words does the following sentence have?\n\nI do not know what it is.",
    "Count the commas in the text, then the full stops.\n\nText: Tea, milk, and bread.",
    "Return the text exactly as it is.\n\nText: We don't know.",
    "Count the characters of the text, spaces included.\n\nText: a cat sat",
    'How many times does the word "the" occur in this text? The cat saw the dog.',
    "Return all words in upper case as they stand in the text below.\n\nNASA sent a probe to Mars.",
    "Correct the grammar of the sentence.\n\nSentence: He don't has no time to lose.",
    "Which of these words rhyme?\n\ncat, hat, dog",
    "How many syllables are there in the line below?\n\nThe quiet river runs",
    "Sort the following words in alphabetical order: pear, apple, fig",
    "Find all palindromes in the sentence. Sentence: Anna saw a racecar at noon.",
    "Is there an anagram of listen in this text? Text: The silent night was cold.",
    "Quote the sentence that names the price.\n\nThe lamp is new. The lamp costs ten euros.",
    "Copy the following text verbatim: We don't sell it.",
    "Repeat the sentence below word for word.\n\nIt is what it is.",
    "List the words with capital letters.\n\nText: Anna went to Rome with Bob.",
    "Which punctuation marks are missing in the sentence?\n\nSentence: However we went home",
    "List the acronyms in the text.\n\nText: The WHO and the EU met.",
    "Are there any typos in this text?\n\nText: The cat sat on teh mat.",
    "Which language is the text written in?\n\nText: La maison est grande.",
    "Proofread the following paragraph.\n\nIt were a good day for us.",
    "Check the spelling of this sentence: The wether is nice today.",
    "Convert the following text to upper case: the cat sat on the mat",
    "What is the longest word in the sentence?\n\nThe elephant sat on the mat.",
    "Find the words that begin with s.\n\nText: Seven small ships sailed.",
    "Remove all punctuation from the text.\n\nText: Well, yes, we did it.",
    # An example beside the slot is text, too.
    "Is a contraction in it?\n\nSentence: I do not know it.\nAnswer: no\n\nSentence: {sentence}\nAnswer:",
    "Wie viele Wörter hat der folgende Satz?\n\nIch weiß nicht, was es ist.",
    "Zähle die Kommas im Text.\n\nText: Tee, Milch und Brot.",
    "Finde alle Rechtschreibfehler im Text.\n\nText: Das Wettter ist schön.",
    "Gib den Text wörtlich wieder.\n\nText: Das geht nicht.",
    "Combien de mots y a-t-il dans la phrase ?\n\nPhrase : Je ne sais pas.",
    "Corrige les fautes d'orthographe du texte.\n\nTexte : Les chat dorment.",
    "Recopiez le texte mot pour mot.\n\nTexte : Il ne vient pas.",
    "¿Cuántas palabras tiene la frase?\n\nFrase: No sé qué es.",
    "Corrige la ortografía del texto.\n\nTexto: El tren yega tarde.",
    "Cuenta las sílabas de la frase.\n\nFrase: La casa es azul.",
    "Quante parole ha la frase?\n\nFrase: Non so che cosa sia.",
    "Correggi gli errori e la punteggiatura del testo.\n\nTesto: Ciao come stai oggi.",
    "Hoeveel woorden heeft de zin?\n\nZin: Ik weet het niet zeker.",
    "Zoek de spelfouten in de tekst.\n\nTekst: Het weder is moi vandaag.",
    "Quantas palavras tem a frase?\n\nFrase: Não sei o que é.",
    "Corrija a ortografia do texto.\n\nTexto: O trem xega tarde.",
]

NOT_ABOUT_FORM = [
    "Rewrite the speech. Keep the character of the original.\n\nText: We count on you, and we always will.",
    "Summarize the message, in other words: say what they want.\n\nMessage: They count on us in every case.",
    "Classify the question as case law, tax law or other.\n\nQuestion: In that case, may I appeal the ruling?",
    "Describe the period of 1990–2000 in Rome. Use exactly three sentences.",
    "List the labels, separated by commas.\n\nText: A film about tea and a cat.",
    "Return a comma-separated list of the topics.\n\nText: A film about tea and a cat.",
    "Summarize the text in at most 50 words. Do not use contractions.\n\nText: The fair was a success for all.",
    "Answer in capital letters.\n\nQuestion: Who wrote the play about the prince?",
    "List the main themes in alphabetical order.\n\nText: A film about tea and a cat.",
    "Keep the number of words in your answer below 50.\n\nText: The fair was a success for all.",
    "How many characters appear in the story?\n\nStory: Anna met Bob and Carl at the fair.",
    "Write a Python function that counts the words in a sentence.",
    "Write a Python function that checks whether a string is a palindrome.",
    "Which programming language is this package for?\n\nText: It is built with cargo and runs fast.",
    "Decide whether the review is positive. Ignore typos.\n\nReview: The pizza was graet and cheap.",
    "Write a letter to the landlord. Avoid exclamation marks and use British spelling.",
    "Return the label exactly as it is given.\n\nText: A film about tea and a cat.",
    "How often does the customer complain?\n\nMessage: It broke, and then it broke again.",
    "Fasse den Text in höchstens 50 Wörtern zusammen. Achte auf die Rechtschreibung.\n\nText: Das Fest war schön.",
    "Résumez le texte en 50 mots, sans fautes d'orthographe.\n\nTexte : La fête était belle.",
    "Escribe un resumen de 50 palabras con buena ortografía.\n\nTexto: La fiesta fue bonita.",
    # What is worked on is a slot, or quoted: mutations do not reach it.
    "Does the sentence contain a contraction? Answer yes or no.\n\nSentence: {sentence}",
    "Count the words of the text.\n\n<text>\n{{ text }}\n</text>",
    'How many words are there in "I do not know what it is"?',
]


@pytest.mark.parametrize("text", ABOUT_FORM)
def test_a_task_about_form_is_known(text: str) -> None:
    assert form_is_topic(draft_of(text))
    assert form_is_topic(draft_of(text.upper().replace("{SENTENCE}", "{sentence}")))


@pytest.mark.parametrize("text", NOT_ABOUT_FORM)
def test_an_ordinary_task_is_not_taken_for_one(text: str) -> None:
    assert not form_is_topic(draft_of(text))


@pytest.mark.parametrize("name", FORMAL)
def test_no_operator_changes_how_such_a_text_looks(name: str) -> None:
    for text in ABOUT_FORM[:8]:
        assert plan(text, 4, operators=[name]).mutations == ()
    assert plan(ABOUT_FORM[0], 4, operators=f"{name}+{name}").mutations == ()


def test_a_plan_says_that_the_task_bars_it() -> None:
    (note,) = plan(ABOUT_FORM[0], 2, operators="contraction").notes
    assert note == (
        "the operator 'contraction' does not fit this prompt: the task is about the form of a text in the prompt. Choose"
        " another one: `promptfuzz operators` lists them."
    )
    notes = plan(ABOUT_FORM[0], 8).notes
    assert notes[0].startswith(
        "No lexical mutation (the task is about the form of a text in the prompt) could be made"
    )
    (note,) = plan("Choose the correct spelling: recieve or receive.", 2, operators=["synonym"]).notes
    assert "the task is to choose a spelling" in note
    (note,) = plan(NOT_ABOUT_FORM[0], 2, operators="contraction").notes
    assert "the task is" not in note


def test_numbers_keep_their_form_where_it_is_the_topic() -> None:
    asked = (
        "How many words does the sentence have?\n\nSentence: It took 3 days and 12000 steps to sort 5 bags."
    )
    other = "Retell it in 3 sentences.\n\nSentence: It took days to sort the bags."
    for name in ("number-spelling", "number-grouping"):
        assert plan(asked, 2, operators=[name]).mutations == ()
    assert plan(other, 1, operators=["number-spelling"]).mutations
    about = "Count the commas in the text. Give 3 examples.\n\nText: Well, I came, and then, I left."
    assert plan(about, 1, operators=["number-spelling"]).mutations == ()
    assert plan(about, 1, operators=["equation-spacing"]).mutations == ()


def test_the_rest_of_a_plan_leaves_the_text_as_it_is() -> None:
    for text in ABOUT_FORM[:2]:
        data = text.rpartition("\n\n")[2]
        made = plan(text, 8).mutations
        assert made
        assert all(data in each.text for each in made)


def test_where_a_slot_stands_for_the_text_the_instructions_are_mutated() -> None:
    template = Prompt(NOT_ABOUT_FORM[-3])
    filled = template.fill(sentence="I do not know what it is.")
    for prompt in (template, filled):
        assert len(plan(prompt, 3, operators=["upper-case", "tabs", "pad-spaces"]).mutations) == 3
    assert plan(filled, 4, operators="contraction", part="input").mutations == ()
    assert plan(filled, 4, operators="lexical", part="both").mutations == ()
    other = Prompt("Summarize it.\n\nNote: {note}").fill(note="I do not know what it is.")
    assert plan(other, 1, operators="contraction", part="input").mutations


def test_the_text_may_stand_in_another_message() -> None:
    asked = {
        "role": "system",
        "content": "List the misspelled words in the message. Do not explain anything.",
    }
    data = {"role": "user", "content": "We recieved it, and do not know why."}
    slot = {"role": "user", "content": "{message}"}
    for part in (None, "user", "system"):
        assert plan(Prompt.from_messages([asked, data]), 4, operators="lexical", part=part).mutations == ()
    assert plan(Prompt.from_messages([asked, slot]), 4, operators="lexical").mutations


def test_few_prompts_of_the_corpus_are_about_form() -> None:
    """Each that is was read: the answer of the first ones quotes, counts or spells what stands in them."""
    about = {"rare-claims-rules", "daily-bug-report-form", "daily-spelling-bee"}
    refused_needlessly = {"daily-climate-passages", "daily-charity-donor", "daily-py-anagram"}
    found = set()
    for path in sorted(DATA.glob("corpus*.jsonl")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            text = row.get("text") or "\n\n".join(each["content"] for each in row["messages"])
            if form_is_topic(draft_of(text)):
                found.add(row["id"])
    assert found == about | refused_needlessly
