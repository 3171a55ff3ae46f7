"""Whether a sentence reads as an instruction, and what of the text it points at."""

from __future__ import annotations

import re

from pytest_promptfuzz.targets.simulated.cues import NOUNS, OBJECTS, OPENERS, POLITE, VERBS, corrected
from pytest_promptfuzz.targets.simulated.words import sentences, words

LIST_LINE = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)]|[A-Za-z]\))\s+")
TERSE = re.compile(
    r"\b(?:json|sql|label|word|query|answer|letter|number)\b(?:\s+\w+)?\s+(?:only|please)\b|\b(?:only|just)\s+(?:the\s+|a\s+)?(?:json|sql|label"
    r"|word|query|answer|letter|number)\b|\bno (?:explanations?|extra text|prose|commentary|preamble)\b"
)
"""A scrap that is plainly about the answer's form: *JSON only*, *one word please*."""
PEOPLE = frozenset(
    {"customer", "user", "sender", "writer", "author", "client", "speaker", "person", "reviewer"}
)
ALL_VERBS = frozenset().union(*VERBS.values())
ALL_NOUNS = frozenset().union(*NOUNS.values())


def lines_and_sentences(text: str) -> list[str]:
    """Sentences of instructions: each list line is one, and a line that ends with a colon."""
    found: list[str] = []
    held: list[str] = []
    for line in text.split("\n"):
        stripped = line.strip()
        starts = LIST_LINE.match(line) is not None
        if starts or not stripped:
            found += sentences(" ".join(held))
            held = []
        if stripped:
            held.append(LIST_LINE.sub("", line).strip())
        if stripped.endswith(":") or starts:
            found += sentences(" ".join(held))
            held = []
    return found + sentences(" ".join(held))


def opening(sentence: str) -> list[str]:
    """The sentence's words in lower case, spelling mended, courtesies at its start left out."""
    found = [corrected(word) for word in words(sentence)]
    start = 0
    while start < len(found) and found[start] in POLITE:
        start += 1
    return found[start:]


def directive(sentence: str) -> bool:
    """Whether the sentence begins, courtesies aside, with a verb that names a task."""
    begins = opening(sentence)
    return bool(begins) and begins[0] in ALL_VERBS


def mentions_task(sentence: str) -> bool:
    """Whether the sentence holds a task's verb or noun anywhere."""
    return any(corrected(word) in ALL_VERBS or corrected(word) in ALL_NOUNS for word in words(sentence))


def refers(sentence: str) -> bool:
    """Whether the sentence points at the text to work on: *the following review*, *this text*, *below*."""
    found = [corrected(word) for word in words(sentence)]
    return any(
        word in {"following", "below", "above", "given"}
        or ((word in OBJECTS or word in PEOPLE) and before in {"the", "this", "that", "each"})
        for before, word in zip(["", *found], found, strict=False)
    )


def instructs(sentence: str) -> bool:
    """Whether the sentence reads as an instruction rather than as data."""
    begins = opening(sentence)
    if not begins:
        return True
    if begins[0] in ALL_VERBS or begins[0] in OPENERS:
        return True
    lower = sentence.lower()
    if lower.startswith(("just ", "only ", "one word", "sql ")) and len(lower.split()) <= (
        20 if lower.startswith("sql ") else 7
    ):
        return True
    if len(lower.split()) <= 8 and TERSE.search(lower):
        return True
    if lower.startswith(("you are ", "you're ", "you'll ", "you will ", "act as ", "your ")) or re.match(
        r"tl;?\s?dr\b", lower
    ):
        return True
    if re.match(r"(?:what|which|is|are|does|do|how|who|when|where|was|can|could)\b", lower) and (
        refers(sentence) or mentions_task(sentence)
    ):
        return True
    return refers(sentence) and mentions_task(sentence)


def strays(sentence: str) -> bool:
    """Whether a sentence within data is so plainly an instruction that it is taken out of it."""
    lower = sentence.lower()
    if lower.startswith(("you are a", "you're a", "act as a")) and mentions_task(sentence):
        return True
    begins = opening(sentence)
    if not begins:
        return False
    if begins[0] in ALL_VERBS and refers(sentence):
        return True
    formats = {"return", "respond", "reply", "answer", "output", "classify", "summarize", "summarise"}
    return begins[0] in formats and bool(
        {"only", "just", "json", "word", "label", "as", "sentences", "or"} & set(begins[1:])
    )
