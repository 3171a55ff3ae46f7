"""The task that a prompt names, and the form in which it wants the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.targets.simulated.words import cue, cues, rows, spelt, words
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.simulated.prompt import Brief

CLASSIFY, SUMMARISE, SQL, EXTRACT, TRANSLATE, ANSWER = (
    "classify",
    "summarise",
    "sql",
    "extract",
    "translate",
    "answer",
)
NAMED, CLEAR, HINT = 4, 2, 1
"""How strongly a sentence speaks for a task; one that is ``NAMED`` is done whatever else is hinted at."""
REACH = 5
"""Words between *only* and the noun that it limits, beyond which the limit is not noticed."""
_FORBIDDEN = expression(r"\b(?:do not|don't|never|without|avoid|not)\s+(?:\w+\s+){0,2}$")
_QUESTION = expression(
    r"(?i)(?:^|[.!:]\s+)(?:what|which|is|are|does|do|did|how|who|has|have|was|were|(?:can|could|would) you)\b[^.!]*\?"
)


@cache
def _phrases() -> list[tuple[str, int, re.Pattern[str]]]:
    return [(task, int(points), re.compile(pattern)) for task, points, pattern in rows("phrases.tsv")]


@lru_cache(maxsize=2048)
def _scores(sentence: str) -> dict[str, int]:
    """How strongly a sentence names each task; one that it forbids (*do not summarise*) is not named."""
    tokens = [cue(word) for word in words(sentence[:2000])]
    found: dict[str, int] = {}
    for task in (CLASSIFY, SUMMARISE, EXTRACT, TRANSLATE, SQL):
        nouns = bool(cues(f"{task} noun") & set(tokens))
        points = HINT if nouns else 0
        for index, word in enumerate(tokens):
            if word in cues(f"{task} strong verb"):
                named = NAMED
            elif word in cues(f"{task} weak verb"):
                named = NAMED if nouns else HINT
            else:
                continue
            before = " ".join(tokens[max(0, index - 3) : index]) + " "
            points = max(points, 0 if _FORBIDDEN.search(before) else named)
        if points:
            found[task] = points
    corrected = " ".join(tokens)
    for task, points, pattern in _phrases():
        match = pattern.search(sentence.lower()) or pattern.search(corrected)
        if match and not _FORBIDDEN.search(match.string[: match.start()]):
            found[task] = max(found.get(task, 0), points)
    return found


def task_of(brief: Brief, *, labels: bool, fields: bool) -> str | None:
    """The task to do; ``None`` where no cue is recognised.

    Of two tasks that are named in different sentences the last wins. Where none is named, hints add up, with a list of
    labels or fields found in the prompt among them.
    """
    shaped = fields and not labels and bool(brief.shapes)
    total = {CLASSIFY: CLEAR * (labels + bool(brief.examples)), EXTRACT: HINT * fields + CLEAR * shaped}
    total[ANSWER] = CLEAR * bool(brief.question and brief.data)
    named: str | None = None
    for sentence in brief.told:
        found = _scores(sentence)
        for task, points in found.items():
            total[task] = total.get(task, 0) + points
        best = max(found, key=lambda task: found[task], default=None)
        if best is not None and found[best] >= NAMED and not (named == SQL and best in {EXTRACT, CLASSIFY}):
            named = best
    if named is not None:
        chosen = labels and named in {EXTRACT, ANSWER} and not fields and not brief.question
        return CLASSIFY if chosen else named
    likeliest = max(total, key=lambda task: total[task])
    if likeliest in {EXTRACT, ANSWER} and labels and not brief.shapes and not brief.question:
        likeliest = CLASSIFY
    return likeliest if total[likeliest] >= CLEAR else None


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What a prompt says of the form of the answer."""

    bare: bool = False  # only the answer itself, no sentence around it
    asked: bool = False  # the prompt asks a question, which gets a sentence
    json: str = ""  # "object", "array" or nothing
    bullets: bool = False
    units: int = 0  # how many sentences or bullets
    words: int = 0  # at most how many words
    shouting: bool = False  # the instructions are in capitals

    def say(self, text: str) -> str:
        """Free text, in capitals where the instructions were."""
        return text.upper() if self.shouting else text


_NO_EXTRAS = expression(
    r"\bnothing (?:else|more|but)\b|\bno (?:other|additional|extra) (?:text|words?|output)\b"
    r"|\b(?:no|without(?: any| an)?) (?:explanations?|commentary|preamble|punctuation)\b|\bdo(?: not|n't) explain\b"
    r"|\bdo(?: not|n't) (?:add|include|give) \w+\b|\b(?:one|single)[- ](?:word|label|category)\b"
)
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "single": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "ten": 10,
}
_AMOUNT = expression(
    rf"(?<!\w)(\d{{1,4}}|{'|'.join(_NUMBERS)})(?:\s*(?:-|to|or)\s*\d+)?[\s-]+(?:\w+\s+){{0,2}}?"
    r"(sentences?|words?|bullets?|points?|takeaways?|ideas?)\b"
)


def form_of(brief: Brief) -> AnswerForm:
    """The form asked for; a later sentence about the same thing wins."""
    text = spelt("\n".join(brief.told))
    refused = re.search(r"\b(?:no|not|without|avoid)\b(?:\s+\w+){0,3}\s+(json|bullet)", text)
    json = "json" in text or bool(brief.shapes)
    array = re.search(r"\bjson (?:array|list)\b", text) and not brief.shapes
    units = most = 0
    for found in _AMOUNT.finditer(text):
        number = int(found[1]) if found[1].isdigit() else _NUMBERS[found[1]]
        if found[2].startswith("word"):
            most = number if number > 1 else most
        else:
            units = number
    letters = [each for each in brief.prose if each.isalpha()]
    return AnswerForm(
        bare=any(map(_only, text.split("\n"))) or _NO_EXTRAS.search(text) is not None,
        asked=any(_QUESTION.search(each) for each in brief.told),
        json="" if not json or (refused and refused[1] == "json") else "array" if array else "object",
        bullets="bullet" in text and not (refused and refused[1] == "bullet"),
        units=units,
        words=most,
        shouting=len(letters) >= 20 and sum(each.isupper() for each in letters) >= 0.9 * len(letters),
    )


def _only(sentence: str) -> bool:
    """Whether a limiting word stands close to the noun it limits."""
    tokens = words(sentence)
    nouns = [index for index, word in enumerate(tokens) if word in cues("limited")]
    limits = [index for index, word in enumerate(tokens) if word in cues("limiter")]
    return any(0 < abs(noun - limit) <= REACH for noun in nouns for limit in limits)
