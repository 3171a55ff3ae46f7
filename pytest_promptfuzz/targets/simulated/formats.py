"""How the answer is to look, as the instructions say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.targets.simulated.words import listed, near, words

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.simulated.reading import Reading

REACH = 5
"""Words between *only* and the noun it limits, beyond which the limit is not noticed."""
LIMITERS = frozenset(
    listed(
        """
        only just exactly single solely nothing strictly simply one exclusively merely
        """
    )
)
NOUNS = frozenset(
    listed(
        """
        label labels word category categories name class number json object query sql answer option
        sentiment value topic letter token yes team queue department summary sentence result code
        language emotion feeling mood intent tag bucket group tone polarity genre theme rating
        priority level urgency severity spam
        """
    )
)
NO_EXTRAS = re.compile(
    r"\bnothing (?:else|more|but)\b|\bno (?:other|additional|extra|further) (?:text|words?|output"
    r"|comment\w*|explanation)\b"
    r"|\b(?:no|without(?: any)?) (?:explanations?|commentary|preamble|extra text|punctuation)\b"
    r"|\bdo(?: not|n't) (?:explain|add|include|provide|give) (?:any |an |your )?(?:\w+ )?(?:explanations?"
    r"|text|reason\w*|"
    r"commentary|else|words?|answer)\b|\bdo(?: not|n't) explain\b|\b(?:one|single)[- ]word\b|\bverbatim\b"
)
EXPLAIN = re.compile(
    r"\b(?:explain|justify) (?:your|why|the|how)\b|\b(?:give|provide|include|add|with|and) (?:a |an "
    r"|your )?(?:brief |short "
    r"|one-sentence )?(?:reasons?|explanations?|justifications?|rationale)\b"
)
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "single": 1, "two": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "hundred": 100,
}  # fmt: skip
NUMBER = r"(?<!\w)(?P<{0}>\d{{1,4}}|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + ")"
RANGE = (
    NUMBER.format("low")
    + r"(?:\s*(?:-|to|or|and)\s*"
    + NUMBER.format("high")
    + r")?[\s-]+(?:\w+\s+){0,2}?(?P<unit>sentences?|words?|bullets?|bullet points?|points?|takeaways?"
    r"|highlights?|ideas?|findings?|insights?|lines?"
    r"|paragraphs?)\b"
)
LIMIT = re.compile(RANGE)
FEWER = re.compile(
    r"(?:at most|no more than|maximum(?: of)?|max\.?|up to|under|fewer than|less than|within"
    r"|not exceed\w*)\W*$"
)


@dataclass(frozen=True, slots=True)
class Format:
    """Requests about the form of the answer.

    Attributes:
        bare: Only the answer itself, no sentence around it.
        json: As a JSON object.
        array: As a JSON array.
        explain: With a reason.
        upper: In capitals.
        lower: In lower case.
        bullets: As a bulleted list.
        numbered: As a numbered list.
        units: How many sentences or bullets, 0 if unsaid.
        words: At most how many words, 0 if unsaid.
        fenced: In a code fence.
        headline: As a headline or title.
    """

    bare: bool = False
    json: bool = False
    array: bool = False
    explain: bool = False
    upper: bool = False
    lower: bool = False
    bullets: bool = False
    numbered: bool = False
    units: int = 0
    words: int = 0
    fenced: bool = False
    headline: bool = False


HEADLINE = (
    r"\b(?:write|suggest|generate|create|propose|give|make|come up with|think up|devise|invent|craft|produce"
    r"|draft|compose|provide)\b.{0,40}"
    r"\b(?:headline|title|subject line)\b"
)


MEASURES = ("sentence", "sentences", "bullet", "bullets", "paragraph", "paragraphs")


def _spelt(text: str) -> str:
    """A sentence in lower case with misspelt measures of an answer put right."""

    def mend(match: re.Match[str]) -> str:
        word = match.group()
        return word if word in MEASURES else next((each for each in MEASURES if near(word, each)), word)

    return re.sub(r"(?<![\w\"'])[bps][a-z]{5,}(?![\w\"'])", mend, text)


def format_of(reading: Reading) -> Format:
    """The format requested; a later request about the same thing wins."""
    units = limit = 0
    headline = False
    bare = json = array = explain = upper = lower = bullets = numbered = fenced = False
    for sentence in reading.instructions:
        text = _spelt(sentence.lower())
        bare = bare or _only(text) or NO_EXTRAS.search(text) is not None
        explain = explain or (
            EXPLAIN.search(text) is not None and not re.search(r"\b(?:not|no|without|never)\b", text)
        )
        if re.search(r"\bjson\b", text):
            array = (
                array or re.search(r"\bjson (?:array|list)\b|\b(?:array|list) in json\b", text) is not None
            )
            json = not re.search(r"\b(?:no|not|without)\b(?:\s+\w+){0,3}\s+json\b", text)
        if re.search(
            r"\b(?:in|use|using|all) (?:all )?(?:upper[- ]?case|capitals|caps|capital letters)\b", text
        ):
            upper, lower = True, False
        if re.search(r"\b(?:in|use|using|all) (?:all )?(?:lower[- ]?case|small letters)\b", text):
            upper, lower = False, True
        if re.search(r"\bbullet", text) and not re.search(
            r"\b(?:no|not|avoid|without)\b(?:\s+\w+){0,2}\s+bullet", text
        ):
            bullets = True
        headline = headline or re.search(HEADLINE, text) is not None
        numbered = numbered or "numbered list" in text
        fenced = (
            fenced
            or re.search(r"\b(?:in|within|inside) an? [`~]*(?:\w+ )?code (?:block|fence)\b", text) is not None
        )
        units, limit = _limits(text, units, limit)
    form = reading.response_format.get("type")
    json = json or form in {"json_object", "json_schema"} or (bool(reading.shapes) and form != "text")
    return Format(
        bare,
        json,
        json and array and not reading.shapes,
        explain,
        upper,
        lower,
        bullets,
        numbered,
        units,
        limit,
        fenced,
        headline,
    )


@lru_cache(maxsize=4096)
def _is_noun(word: str) -> bool:
    """Whether a word is one of ``NOUNS``, perhaps misspelt."""
    return word in NOUNS or (len(word) > 4 and any(near(word, each) for each in NOUNS))


def _only(text: str) -> bool:
    """Whether a limiting word stands close before or after the noun it limits."""
    found = words(text)
    limits = [i for i, word in enumerate(found) if word in LIMITERS]
    nouns = [i for i, word in enumerate(found) if _is_noun(word)] if limits else []
    for limit in limits:
        for noun in nouns:
            if found[limit] in {"one", "single"}:
                # "one word", "a single label", but not "one of the labels"
                if noun == limit + 1 and found[noun] in {"word", "label", "category", "letter", "token"}:
                    return True
            elif abs(noun - limit) <= REACH and noun != limit:
                return True
    return False


def _limits(text: str, units: int, limit: int) -> tuple[int, int]:
    for match in LIMIT.finditer(text):
        low = _number(match["low"])
        high = _number(match["high"]) if match["high"] else low
        fewer = FEWER.search(text[: match.start()]) is not None
        unit = match["unit"]
        if unit.startswith("word"):
            if high > 1:
                limit = (
                    high - 1
                    if fewer and re.search(r"(?:under|fewer than|less than)\W*$", text[: match.start()])
                    else high
                )
        elif unit.startswith("paragraph"):
            units = units or 3 * high
        elif not (match["low"] in {"a", "an"} and units):
            units = min(high, 2) if fewer and high > 2 and not unit.startswith(("bullet", "point")) else low
    return units, limit


def _number(text: str) -> int:
    return int(text) if text.isdigit() else NUMBERS[text]
