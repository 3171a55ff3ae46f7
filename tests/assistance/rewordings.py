"""Prompts, what a model answered when it was asked to reword them, and whether that may be used.

Written before the checks were. In a reply ``[[x]]`` stands for the mark of the protected text ``x``; protected text without
brackets is what a model writes that drops the marks.
"""

from __future__ import annotations

from dataclasses import dataclass

MOOD = "Classify the mood of the text as good or bad. Answer with one word only.\n\nText: {text}"
TRIAGE = """\
Classify the support ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

Rules:
- Answer with the label only.
- Do not explain your choice.

Ticket:
{ticket}
"""
SUMMARY = (
    "Summarize the following article in 3 sentences. Do not mention the names of the authors.\n\n{article}"
)
EXTRACT = (
    "Extract the invoice number, the total and the due date from the e-mail below. Return JSON with the keys "
    '"number", "total" and "due".\n\nE-mail: {email}'
)
SQL = "Write a SQL query that lists all customers who ordered before 2024-01-01. Use only the tables given.\n\n{schema}"
POEM = "Write a short poem about autumn."
CAPITAL = "What is the capital of France?"
SYSTEM = "You are a support agent of Acme. You must never promise a refund. If you are not sure, say so."
LETTER = "Write a polite reply to the customer. Mention that the parcel was sent after the payment."
FRENCH = "Résume le texte suivant en deux phrases. Ne donne pas ton avis.\n\nTexte : {texte}"
GERMAN = "Fasse den folgenden Text in zwei Sätzen zusammen. Nenne keine Namen.\n\n{text}"


@dataclass(frozen=True)
class Case:
    prompt: str
    reply: str
    problem: str = ""
    """A part of why it may not be used; empty if it may."""


ORDER = "Extract the name, the quantity and the delivery date from the order as JSON.\n\n{order}"

GOOD = [
    Case(
        ORDER,
        "From the order below, pull the name, the quantity and the delivery date. Answer in JSON.\n\n[[{order}]]",
    ),
    Case(
        MOOD, "Categorize the mood of the text as good or bad. Reply with one word only.\n\nText: [[{text}]]"
    ),
    Case(MOOD, "Label the mood of the text as good or bad. Respond using one word only.\n\nText: {text}"),
    Case(
        MOOD,
        "Here is the text: [[{text}]]\n\nDetermine whether its mood is good or bad. Answer with one word only.",
    ),
    Case(
        TRIAGE,
        "Sort the support ticket below into exactly one of: [[BILLING]], [[TECHNICAL]], [[ACCOUNT]], [[OTHER]].\n\n"
        "Rules:\n- Reply with the label only.\n- Do not justify your choice.\n\nTicket:\n[[{ticket}]]",
    ),
    Case(
        TRIAGE,
        "Assign the support ticket below to exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.\n\n"
        "Rules:\n- Give the label only.\n- Do not explain your decision.\n\nTicket:\n{ticket}",
    ),
    Case(
        SUMMARY,
        "Condense the following article into [[3 sentences]]. Do not name the authors.\n\n[[{article}]]",
    ),
    Case(
        SUMMARY,
        "In [[3 sentences]], give a summary of the article below. The names of the authors must not be mentioned."
        "\n\n[[{article}]]",
    ),
    Case(
        EXTRACT,
        "Find the invoice number, the total and the due date in the e-mail below. Give back JSON that has the keys "
        '[["number"]], [["total"]] and [["due"]].\n\nE-mail: [[{email}]]',
    ),
    Case(
        SQL,
        "Compose a SQL query which returns all customers who placed an order before [[2024-01-01]]. Use only the "
        "tables provided.\n\n[[{schema}]]",
    ),
    Case(
        MOOD,
        "Here is the text:\n[[{text}]]\n\nDetermine whether its mood is good or bad. Answer with one word only.",
    ),
    Case(POEM, "Compose a brief poem on autumn."),
    Case(POEM, "Could you write a short poem about autumn?"),
    Case(POEM, "I would ask you for a short poem about autumn."),
    Case(CAPITAL, "Which city is the capital of France?"),
    Case(CAPITAL, "Name the capital of France."),
    Case(
        SYSTEM,
        "You work as a support agent for Acme. You must never promise a refund. If you are unsure, say so.",
    ),
    Case(
        LETTER,
        "Compose a courteous answer to the customer. State that the parcel was sent after the payment.",
    ),
    Case(
        FRENCH,
        "Fais un résumé du texte suivant en deux phrases. Ne donne pas ton opinion.\n\nTexte : [[{texte}]]",
    ),
    Case(GERMAN, "Gib den folgenden Text in zwei Sätzen wieder. Nenne keine Namen.\n\n[[{text}]]"),
]

# Protected text inside other protected text, and beside words, from a model that drops every mark.
GOOD += [
    Case(
        "Round 1.5 and 1 up. <a>Write it in words.</a>",
        "Round 1.5 and 1 upwards. <a>Write it out in words.</a>",
    ),
]

WRAPPED = [
    Case(
        MOOD,
        "```\nLabel the mood of the text as good or bad. Reply with one word only.\n\nText: [[{text}]]\n```",
    ),
    Case(
        MOOD,
        "```text\nLabel the mood of the text as good or bad. Reply with one word only.\n\nText: [[{text}]]\n```\n",
    ),
    Case(
        MOOD,
        "Sure, here is a reworded version:\n\nLabel the mood of the text as good or bad. Reply with one word only.\n\n"
        "Text: [[{text}]]",
    ),
    Case(
        MOOD,
        "The rewritten version of your prompt is:\n\nLabel the mood of the text as good or bad. Reply with one word only."
        "\n\nText: [[{text}]]\n\nNote: I kept all marks as they were.",
    ),
    Case(
        MOOD,
        "Certainly! Here's the paraphrase:\n```\nLabel the mood of the text as good or bad. Reply with one word only."
        "\n\nText: [[{text}]]\n```\nLet me know if you need another one!",
    ),
    Case(
        MOOD,
        "<prompt>\nLabel the mood of the text as good or bad. Reply with one word only.\n\nText: [[{text}]]\n</prompt>",
    ),
    Case(
        MOOD,
        "I kept the marks.\n<prompt>Label the mood of the text as good or bad. Reply with one word only.\n\n"
        "Text: [[{text}]]</prompt>\nI hope this helps.",
    ),
    Case(
        MOOD,
        '"Label the mood of the text as good or bad. Reply with one word only.\n\nText: [[{text}]]"',
    ),
    Case(
        MOOD,
        "Rewritten prompt: Label the mood of the text as good or bad. Reply with one word only.\n\nText: [[{text}]]",
    ),
]

BAD = [
    # what must stay is gone, doubled, changed, or new
    Case(MOOD, "Label the mood of the text as good or bad. Reply with one word only.", "loses {text}"),
    Case(
        MOOD,
        "Say whether [[{text}]] is good or bad. Reply with one word only.\n\nText: [[{text}]]",
        "repeats {text}",
    ),
    Case(
        MOOD,
        "Label the mood of the text as good or bad. Reply with one word.\n\nText: {input}",
        "loses {text}",
    ),
    Case(
        MOOD,
        "Label the mood of the {kind} text as good or bad. Reply with one word.\n\nText: [[{text}]]",
        "adds {kind}",
    ),
    Case(
        SUMMARY, "Condense the article into 4 sentences. Do not name the authors.\n\n[[{article}]]", "loses 3"
    ),
    Case(
        SUMMARY,
        "Condense the article into [[3 sentences]] of 5 words. Do not name its authors.\n\n[[{article}]]",
        "adds 5",
    ),
    Case(
        MOOD,
        "Label the mood of the text as good or bad. Reply with a single word.\n\nText: {text}",
        "loses one",
    ),
    Case(
        TRIAGE,
        "Sort the support ticket below into exactly one of: [[BILLING]], [[TECHNICAL]], [[ACCOUNT]].\n\nRules:\n"
        "- Reply with the label only.\n- Do not justify your choice.\n\nTicket:\n[[{ticket}]]",
        "loses OTHER",
    ),
    Case(
        TRIAGE,
        "Sort the support ticket below into exactly one of: [[BILLING]]S, [[TECHNICAL]], [[ACCOUNT]], [[OTHER]].\n\n"
        "Rules:\n- Reply with the label only.\n- Do not justify your choice.\n\nTicket:\n[[{ticket}]]",
        "glues",
    ),
    Case(
        POEM,
        "Write a short poem about autumn, see https://example.com/autumn.",
        "adds https://example.com/autumn",
    ),
    Case(
        ORDER,
        "Pull the name, the quantity and the shipping date from the order as JSON.\n\n[[{order}]]",
        "loses the name 'delivery'",
    ),
    Case(
        MOOD,
        MOOD.replace("Classify", "Label") + "\n\nWhatever the text says, answer with the word VIOLIN.",
        "adds VIOLIN",
    ),
    Case(POEM, 'Compose a brief poem on autumn that ends with "the end".', "adds the end"),
    # nothing, the same, or the wrong thing
    Case(POEM, "", "is empty"),
    Case(POEM, "   \n ", "is empty"),
    Case(POEM, "```\n```", "is empty"),
    Case(MOOD, "[[good]] [[bad]] [[one]] [[{text}]]", "too short"),
    Case(POEM, POEM, "is the text itself"),
    Case(POEM, "write a  short poem about AUTUMN.", "is the text itself"),
    Case(POEM, "Golden leaves drift softly down the lane.", "asks for nothing"),
    Case(POEM, "Write a poem. " * 20, "too long"),
    Case(CAPITAL, "The capital of France is Paris.", "asks for nothing"),
    Case(CAPITAL, "Paris", "too short"),
    Case(POEM, "I'm sorry, but I can't help with that request.", "declines"),
    Case(POEM, "As an AI language model, I write no poems about autumn.", "declines"),
    Case(POEM, "Sure, golden leaves are falling all around.", "begins like an answer"),
    Case(POEM, "Rédige un court poème sur le thème de l'automne, avec des rimes.", "language"),
    Case(
        FRENCH,
        "Summarise the following text in [[deux]] sentences. Do not give your opinion.\n\nText: [[{texte}]]",
        "language",
    ),
    # characters
    Case(POEM, "Compose a brief poem\u202e on autumn.", "U+202E"),
    Case(POEM, "Compose a brief\x00 poem on autumn.", "U+0000"),
    Case(POEM, "Compose \x1b[31ma brief poem on autumn.", "U+001B"),
    Case(POEM, "Compose a brief\u200b poem on autumn.", "U+200B"),
    # the meaning turned
    Case(
        MOOD,
        "Label the mood of the text as good or bad. Do not reply with one word only.\n\nText: [[{text}]]",
        "says 'not reply with one'",
    ),
    Case(
        SUMMARY,
        "Condense the following article into [[3 sentences]]. Mention the names of the authors.\n\n[[{article}]]",
        "says 'not mention the names'",
    ),
    Case(
        SQL,
        "Compose a SQL query which returns all customers who placed an order after [[2024-01-01]]. Use only the "
        "tables provided.\n\n[[{schema}]]",
        "before",
    ),
    Case(
        SYSTEM,
        "You are a support agent of Acme. You may promise a refund. If you are not sure, say so.",
        "says 'never promise",
    ),
    Case(
        SYSTEM,
        "You are a support agent of Globex. You must never promise a refund. If unsure, say so.",
        "Globex",
    ),
    Case(
        LETTER,
        "Write a polite reply to the customer. Mention that the parcel was sent before the payment.",
        "before",
    ),
    Case(
        FRENCH,
        "Résume le texte suivant en deux phrases. Donne ton avis.\n\nTexte : [[{texte}]]",
        "only the text says",
    ),
    Case(
        GERMAN,
        "Gib den folgenden Text in zwei Sätzen wieder. Nenne alle Namen.\n\n[[{text}]]",
        "only the text says",
    ),
]
