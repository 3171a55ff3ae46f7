"""What a prompt asks for: the tasks it sets, apart from details and the form of the answer. English only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.lexicon.table import words

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Sentence

_TASKS = words(
    """
    answer assign categorize categorise choose classify compare complete compute condense convert correct count
    create decide describe detect determine draft evaluate explain extract find generate give identify include label
    list mention name output paraphrase pick predict produce proofread provide rank rate rephrase reply respond
    return rewrite route select shorten simplify solve sort state suggest summarize summarise tell translate write
    """
)
_AFTER_TASK = words(
    """
    the a an this that these those each every with in only all to as by whether exactly your its it any me us at from
    for if my our his her their just up what which who how why both at about
    """
)
# They may only prepare another task: the answer need not show what was decided or counted.
_PREPARING = words(
    """
    choose compare compute convert count decide detect determine evaluate find give identify output pick predict provide
    return select solve sort state
    """
)
# They ask for a detail of the answer, not for the answer.
_DETAILS = words("include mention")
_ANSWERING = words("answer give output provide reply respond return say write")
# Behind those: how to answer, not what.
_HOW = words("with only in as just exactly by at from for whether about all each every")
_GIVING = words("give output provide return")  # "a list": the form of an answer
# Where to put it, or nothing but it; and what gives the answer to a question that was asked before.
_PLACED = expression(
    r"\bonly[.!]?$|\bnothing else\b|\b(?:on|in|at|as) (?:the|a|its|your) (?:own |very )?(?:(?:first|last|final|next|new"
    r"|single|separate|beginning|start|end|bottom|top)\b|line\b)",
    re.IGNORECASE,
)
_TELLING = _GIVING | words("name say state tell write")
_INSTRUCTION = expression(r"(?:Please |please )?(?P<verb>[A-Za-z]+) (?P<next>\x00|[A-Za-z]+)")
_CONDITION = expression(r"\b(?:if|unless|when|whenever|where|once|until|otherwise|in case)\b", re.IGNORECASE)
_QUOTES = frozenset("\"'`*“‘«„「")


class Task(NamedTuple):
    """The verb of a sentence that asks for something, and whether it may only prepare what another one asks for."""

    start: int
    end: int
    prepares: bool
    sentence: Sentence


def tasks_of(draft: Draft) -> list[Task]:
    """The tasks that a prompt sets, without details of the answer and its form."""
    found: list[Task] = []
    asked = False
    for sentence in draft.sentences:
        asked = asked or (
            sentence.kind == "prose" and draft.text.endswith(("?", '?"'), sentence.start, sentence.end)
        )
        match = _INSTRUCTION.match(draft.free, sentence.start, sentence.end)
        if match is None or sentence.kind == "bullet":
            continue
        verb, following = match["verb"].lower(), match["next"].lower()
        if verb not in _TASKS or verb in _DETAILS or following == "your":
            continue  # "Explain your reasoning" is not the task
        if following != "\x00" and following not in _AFTER_TASK:
            continue
        if sentence.kind == "number" and draft.text.startswith("one ", match.start("next")):
            continue  # "1. Write one step per line"
        if verb in _TELLING and (asked or _PLACED.search(draft.free, match.end("verb"), sentence.end)):
            continue
        if verb in _ANSWERING and (
            following in _HOW
            or (verb in _GIVING and following in {"a", "an"})
            or draft.text[match.start("next")] in _QUOTES
            or _CONDITION.search(draft.free, match.end("verb"), sentence.end)
        ):
            continue
        found.append(Task(*match.span("verb"), verb in _PREPARING, sentence))
    return found
