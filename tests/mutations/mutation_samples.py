"""Prompts the tests of this folder share."""

from __future__ import annotations

from hypothesis import strategies as st

from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.prompts.prompt import as_prompt

TRIAGE = """You are a support agent. Classify the ticket below as POSITIVE, NEGATIVE, or NEUTRAL. Don't explain your \
answer. Return only the label, and make sure that you respond in English.

Ticket: {ticket}

Label:"""

PARTIAL_ROUNDS = {"6"}
"""Rounds of readings that read an operator in some languages only; they stand beside the last one, not in its place."""

PROMPTS = [
    TRIAGE,
    (
        "Summarize the article in exactly 3 sentences. Keep a formal tone. Do not mention prices above $"
        "50 million.\n\nArticle:\n{article}"
    ),
    (
        "Write a SQL query for the question below. Use the table `orders(id, customer_id, total)`. Retur"
        "n only the query, without comments.\n\nQuestion: {{ question }}"
    ),
    (
        "# Role\nYou are an experienced editor.\n\n# Rules\n- Be concise\n- Never change names\n- Use British "
        "spelling\n\n# Text\n<text>\n${text}\n</text>"
    ),
    (
        'Extract the name and the order number from the message. Respond with JSON like {"name": "Ada", '
        '"order": 17}. If a field is missing, use null.\n\nMessage: {message}'
    ),
    (
        "Follow these steps:\n1. Read the review.\n2. Find the main complaint.\n3. Write a polite reply of "
        "12-18 words."
    ),
    "Fasse den folgenden Text in 2 Sätzen zusammen. Antworte nur auf Deutsch.\n\nText: {text}",
    "Résumez le texte suivant en 3 phrases. N'inventez rien.\n\n{texte}",
    "次の文章を要約してください。3文以内で答えてください。\n\n{text}",
    (
        "Translate the customer's message into French; keep product names such as 'Aero-5' as they are.\r"
        "\n\r\n{msg}"
    ),
    (
        "Answer the question using only the context. If it isn't there, say \"I don't know\".\n\nContext:\n``"
        "`\n{context}\n```\n\nQuestion: {question}\nAnswer:"
    ),
]

FRAGMENTS = st.sampled_from(
    [
        "{slot}", "{{ x }}", "${y}", "<doc>", "</doc>", "`code()`", "```\nx = 1\n```", '{"a": [1, 2]}', "12-18%", "$50",
        "POSITIVE, NEGATIVE, or NEUTRAL", '"quoted. text"', "https://a.b/c?d=e", "snake_case", "x^2 + 3x = 7",
        "Classify the ticket.", "Do not guess.", "Return only the label.", "Please answer the question.", "It is short.",
        "Otherwise stop.", "First, read.", "- one\n- two\n- three", "1. a\n2. b", "Text: {t}", "Answer:", "\n\n", "\n",
        " ", "  ", "\t", "\r\n", "é", "ß", "ŉ", "İ", "文章。", "العربية", "👍🏽", "don't", "you’re", "colour", "e.g. this",
        "a concise summary", "Write a summary of the text in English.", "Please", "...", " - ", "I", "\u200b", "\u202e",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.one_of(FRAGMENTS, FRAGMENTS, st.text(max_size=12)), min_size=1, max_size=14).map(" ".join),
    st.lists(FRAGMENTS, min_size=1, max_size=12).map("".join),
    st.text(min_size=1, max_size=80),
).filter(lambda text: bool(text.strip()) and "\x00" not in text)


def draft_of(text: str) -> Draft:
    spans = as_prompt(text).spans
    return Draft(text, [(start, end) for start, end, _ in spans], kinds=[kind for _, _, kind in spans])
