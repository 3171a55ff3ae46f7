"""Answers made by counting the words that texts share: summaries, answers to questions, and ratings of answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.simulated.prompt import (
    SYSTEM,
    cues,
    lines_of_sentences,
    sentences,
    stem,
    stems,
    words,
)
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.targets.simulated.prompt import AnswerForm, Brief, Turn

USUAL, POINTS = 2, 3  # sentences of a summary and points of a list where the prompt does not say
LEAD = 0.25  # what the first sentence is given above its words: reports open with their point


def summary(brief: Brief, form: AnswerForm, variant: int = 0) -> str:
    """The text's own sentences that say most, as many and as long as asked."""
    short = 0 < form.words < 45 and not form.bullets
    picked = _chosen(brief.data, form.units or (POINTS if form.bullets else 1 if short else USUAL), variant)
    if form.words:
        picked = _within(picked, form.words)
    return "\n".join(f"- {each}" for each in picked) if form.bullets else " ".join(picked)


def _chosen(text: str, count: int, variant: int) -> list[str]:
    """The ``count`` sentences that say most, in the order of the text; ``variant`` passes over that many of the best.

    A sentence is worth the mean frequency of its words in the text (Luhn 1958, "The automatic creation of literature
    abstracts").
    """
    found = lines_of_sentences(text) or [text]
    contents = [stems(each) for each in found]
    frequency = Counter(word for each in contents for word in set(each))
    top = max(frequency.values(), default=1)
    worth = [sum(frequency[word] / top for word in each) / (len(each) + 4) for each in contents]
    worth[0] += LEAD
    order = sorted(range(len(found)), key=lambda index: (-worth[index], index))
    skipped = variant % max(1, len(order) - count + 1)
    return [found[index] for index in sorted(order[skipped : skipped + count])]


def _within(picked: Sequence[str], limit: int) -> list[str]:
    """At most ``limit`` words: whole sentences while they fit, the first one cut where even that is too long."""
    kept: list[str] = []
    for each in picked:
        if len(" ".join([*kept, each]).split()) > limit:
            break
        kept.append(each)
    return kept or [" ".join(picked[0].split()[:limit]).rstrip(",;:-.!? ") + "."]


def reply(brief: Brief, variant: int = 0) -> str:
    """The sentence of the text that shares most words with the question."""
    asked = brief.question or " ".join(each for each in brief.told if "?" in each) or brief.prose
    wanted = set(stems(asked))
    found = lines_of_sentences(brief.data)
    order = sorted(range(len(found)), key=lambda index: (-len(wanted & set(stems(found[index]))), index))
    best = found[order[variant % len(order)]]
    return best if variant or wanted & set(stems(best)) else "The text does not say."


_TAGGED = expression(r"^<([a-z]+)((?:-\w+)?)>\n(.*?)\n</\1\2>", re.DOTALL | re.MULTILINE)
_ASKS = expression(r"(?i)\b(?:rate|judge|compare|which of (?:the )?two answers)\b")
_KEY = expression(r"\"(rating|better)\"\s*:")
_NUMBER = expression(r"\d+(?:[.,]\d+)*")
_CITED = expression(r"(?i)\[[^\]]+\]|\((?:source|see|doc)\b")
_MEASURES = ("faithful", "complete", "relevan", "citation", "concise")
_PLACES = ("first", "second", "neither")


def rating(texts: Sequence[Turn], variant: int = 0) -> str | None:
    """What is said of answers between tags; ``None`` where nobody asks to rate any.

    The rating is asked for in the system's message, or before the tags.
    """
    material = next((text for role, text in texts if role == "user" and _TAGGED.search(text)), "")
    orders = "\n".join([text for role, text in texts if role in SYSTEM] + [_TAGGED.sub("", material)])
    key = _KEY.search(orders)
    if not material or key is None or not _ASKS.search(orders):
        return None
    tagged = {found[1]: found[3] for found in _TAGGED.finditer(material)}
    first, second, task, answer = (tagged.get(each, "") for each in ("first", "second", "task", "answer"))
    rated: tuple[Any, str]
    if "first" in tagged and "second" in tagged:
        rated = _preferred(first, second, task) if key[1] == "better" else _alignment(first, second)
    elif "answer" in tagged and key[1] == "rating":
        named = sorted((orders.lower().find(each), each) for each in _MEASURES if each in orders.lower())
        rated = _graded(named[0][1] if named else "faithful", task, answer)
    else:
        return None
    value, why = rated
    values = _PLACES if key[1] == "better" else (1, 2, 3)
    value = [each for each in values if each != value][variant % 2] if variant else value
    return json.dumps({"explanation": why, key[1]: value}, ensure_ascii=False)


def _alignment(one: str, two: str) -> tuple[int, str]:
    first, second = _numbers(one), _numbers(two)
    if first != second:
        return 1, f"The numbers differ: {_shown(first)} against {_shown(second)}."
    if _denials(one) % 2 != _denials(two) % 2:
        return 1, "Only one of them is negated."
    ours, theirs = _content(one), _content(two)
    smaller = min(len(ours), len(theirs))
    share = len(ours & theirs) / smaller if smaller else float(ours == theirs)
    return _step(share, 0.6, 0.25), f"They share {share:.0%} of the words that count."


def _preferred(one: str, two: str, task: str) -> tuple[str, str]:
    first, second = _covered(task, one), _covered(task, two)
    better = "neither" if abs(first - second) < 0.2 else "first" if first > second else "second"
    return better, f"They speak of {first:.0%} and {second:.0%} of the words of the task."


def _graded(measure: str, task: str, answer: str) -> tuple[int, str]:
    if measure == "concise":
        size, asked = len(words(answer)), len(words(task))
        return (3 if size <= max(40, asked // 2) else 2 if size <= asked else 1), f"It has {size} words."
    if measure == "citation":
        stated = sentences(answer)
        share = sum(bool(_CITED.search(each)) for each in stated) / len(stated) if stated else 1.0
        return _step(share, 1.0, 0.5), f"{share:.0%} of its sentences name a source."
    if measure == "complete":
        share = _covered(task, answer)
        return _step(share, 0.4, 0.15), f"It speaks of {share:.0%} of the words of the task."
    share = _covered(answer, task)
    why = f"{share:.0%} of its words stand in the task."
    if measure == "relevan":
        return _step(share, 0.5, 0.2), why
    made_up = _numbers(answer) - _numbers(task)
    return (1, f"{_shown(made_up)} does not stand in the task.") if made_up else (_step(share, 0.7, 0.4), why)


def _step(share: float, good: float, fair: float) -> int:
    return 3 if share >= good else 2 if share >= fair else 1


def _content(text: str) -> set[str]:
    return {stem(each) for each in words(text) if each not in cues("stop") and each not in cues("denial")}


def _covered(of: str, by: str) -> float:
    """Of the words that count in a text, the share that another has."""
    counted = _content(of)
    return len(counted & _content(by)) / len(counted) if counted else 1.0


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text))


def _shown(numbers: set[str]) -> str:
    return ", ".join(sorted(numbers)) or "none"


def _denials(text: str) -> int:
    return sum(each in cues("denial") or each.endswith("n't") for each in words(text.replace("’", "'")))
