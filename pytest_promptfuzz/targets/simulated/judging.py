"""Answers rated: two against each other, or one by a measure; by words, numbers and negations alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.simulated.classify import STOP
from pytest_promptfuzz.targets.simulated.words import listed, sentences, stem, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TAGGED = re.compile(r"^<([a-z]+)((?:-\w+)?)>\n(.*?)\n</\1\2>", re.DOTALL | re.MULTILINE)
_ASKS = re.compile(r"\b(?:rate|judge|compare|which of (?:the )?two answers)\b", re.IGNORECASE)
_KEY = re.compile(r"\"(rating|better)\"\s*:")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CITED = re.compile(r"\[[^\]]+\]|\((?:source|see|doc)\b", re.IGNORECASE)
_NEGATORS = frozenset(listed("no not never none neither nor cannot without nothing nobody"))
_MEASURES = {
    "faithful": "faithfulness",
    "complete": "completeness",
    "relevan": "relevance",
    "citation": "citations",
    "concise": "conciseness",
}
_PLACES = ("first", "second", "neither")


def judged(messages: Sequence[Mapping[str, Any]], text_of: Any, variant: int = 0) -> str | None:
    """What is said of answers between tags; ``None`` where nobody asks to rate any.

    Args:
        messages: The conversation. The rating is asked for in the system's message, or before the tags.
        text_of: The text of a message's content.
        variant: Above 0 gives another rating.
    """
    users = [text_of(each.get("content")) for each in messages if each.get("role") == "user"]
    material = next((each for each in users if _TAGGED.search(each)), "")
    orders = "\n".join(
        [text_of(each.get("content")) for each in messages if each.get("role") in {"system", "developer"}]
    )
    orders += "\n" + _TAGGED.sub("", material)
    key = _KEY.search(orders)
    if not material or key is None or not _ASKS.search(orders):
        return None
    texts = {found[1]: found[3] for found in _TAGGED.finditer(material)}
    if "first" in texts and "second" in texts:
        task = texts.get("task", "")
        if key[1] == "better":
            return _preferred(texts["first"], texts["second"], task, variant)
        return _rating(*_alignment(texts["first"], texts["second"]), variant)
    if "answer" in texts and key[1] == "rating":
        asked = orders.lower()
        measure = min((each for each in _MEASURES if each in asked), key=asked.index, default="faithful")
        return _rating(*_graded(_MEASURES[measure], texts.get("task", ""), texts["answer"]), variant)
    return None


def _rating(rating: int, why: str, variant: int) -> str:
    if variant:
        rating = [each for each in (1, 2, 3) if each != rating][variant % 2]
    return json.dumps({"explanation": why, "rating": rating}, ensure_ascii=False)


def _alignment(one: str, two: str) -> tuple[int, str]:
    first, second = _numbers(one), _numbers(two)
    if first != second:
        return 1, f"The numbers differ: {_shown(first)} against {_shown(second)}."
    if _denials(one) % 2 != _denials(two) % 2:
        return 1, "Only one of them is negated."
    share = _shared(one, two)
    rating = 3 if share >= 0.6 else 2 if share >= 0.25 else 1
    return rating, f"They share {share:.0%} of the words that count."


def _preferred(one: str, two: str, task: str, variant: int) -> str:
    first, second = (_covered(task, each) for each in (one, two))
    better = "neither" if abs(first - second) < 0.2 else "first" if first > second else "second"
    if variant:
        better = [each for each in _PLACES if each != better][variant % 2]
    why = f"They speak of {first:.0%} and {second:.0%} of the words of the task."
    return json.dumps({"explanation": why, "better": better})


def _graded(measure: str, task: str, answer: str) -> tuple[int, str]:
    if measure == "conciseness":
        size, asked = len(words(answer)), len(words(task))
        return (3 if size <= max(40, asked // 2) else 2 if size <= asked else 1), f"It has {size} words."
    if measure == "citations":
        stated = sentences(answer)
        share = sum(bool(_CITED.search(each)) for each in stated) / len(stated) if stated else 1.0
        return _step(share, 1.0, 0.5), f"{share:.0%} of its sentences name a source."
    if measure == "completeness":
        share = _covered(task, answer)
        return _step(share, 0.4, 0.15), f"It speaks of {share:.0%} of the words of the task."
    share = _covered(answer, task)
    why = f"{share:.0%} of its words stand in the task."
    if measure == "relevance":
        return _step(share, 0.5, 0.2), why
    if not _numbers(answer) <= _numbers(task):
        return 1, f"{_shown(_numbers(answer) - _numbers(task))} does not stand in the task."
    return _step(share, 0.7, 0.4), why


def _step(share: float, good: float, fair: float) -> int:
    return 3 if share >= good else 2 if share >= fair else 1


def _stems(text: str) -> set[str]:
    return {stem(each) for each in words(text) if each not in STOP and each not in _NEGATORS}


def _shared(one: str, two: str) -> float:
    """Of the words that count in the shorter text, the share that the other has."""
    first, second = _stems(one), _stems(two)
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else float(first == second)


def _covered(of: str, by: str) -> float:
    """Of the words that count in a text, the share that another has."""
    counted = _stems(of)
    return len(counted & _stems(by)) / len(counted) if counted else 1.0


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text))


def _shown(numbers: set[str]) -> str:
    return ", ".join(sorted(numbers)) or "none"


def _denials(text: str) -> int:
    return sum(each in _NEGATORS or each.endswith("n't") for each in words(text.replace("’", "'")))
