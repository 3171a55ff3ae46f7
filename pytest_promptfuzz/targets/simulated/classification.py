"""Classification: the labels that a prompt lists, and the one that a text's words speak for."""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.targets.simulated.prompt import (
    BULLET,
    cue,
    cues,
    nearest,
    opening,
    rows,
    saying,
    sentences,
    stem,
    stems,
    words,
)
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.targets.simulated.prompt import AnswerForm, Brief


class Label(NamedTuple):
    """A label as written in the prompt, and what the prompt says it means."""

    name: str
    meaning: str = ""


LONGEST = 600
"""Characters within which a list of labels must end; it bounds the work on hostile text."""
MARGIN = 0.6
"""Praise or blame below this is no feeling."""
_MARKS = ("!!!", "$$$", "http://", "https://", "?")  # signs that speak for labels
SCOPE = 3
"""Words before a feeling in which a negation turns it round."""
_NOUNS = (
    r"(?:labels?|categor(?:y|ies)|class(?:es)?|options?|choices?|values?|topics?|teams?|queues?|departments?"
    r"|intents?|tags?|types?|priorit(?:y|ies)|emotions?|levels?|sentiments?|languages?|groups?|words?)"
)
_ANCHOR = expression(
    rf"(?i)(?:\b(?:as|into|either|one of|among|between|whether|from|with|{_NOUNS}|answer|respond|about|reply|return"
    r"|output|choose|pick|select|is|are|to|be|was|if|following)\b\s*[:(\[{]?|->|[:(\[{])"
)
_LEAD = expression(
    r"(?i)^(?:(?:either|one of|exactly|only|just|the|following|these|an?|it|this|is|are|as|whether"
    rf"|(?:(?:allowed|possible|available)\s+)?{_NOUNS}(?=\s*(?:[:(\[,]|\bis\b|\bare\b|$)))\b\s*[:,(\[]?\s*)+"
)
_SEPARATOR = expression(r"(?i)\s*(?:,\s*(?:or|and)\s+|[,;/|]|\s+or\s+|\s+and\s+)\s*")
_PAREN = expression(r"\s*\(([^()]*)\)")
_END = expression(r"[)\]}]|[.!?](?:\s|$)|\s-\s|:(?:\s|$)")
_TRAIL = expression(
    rf"(?i)\s+(?:based|depending|for|in|by|using|with|from|that|which|if|when|only|please|as|to|about|and|{_NOUNS})\b.*$"
)
_DEFINED = expression(r"(?P<name>[^:()=]{1,40}?)\s*(?::|\s-\s|=|\s\()\s*(?P<meaning>\S.*?)\)?$")
_ALLOWED = expression(r"\"([^\"{}:\n]+)\"((?:\s*(?:\||/|,|or)\s*\"[^\"{}:\n]+\")*)(?!\s*:)")
_SUBJECTS = r"\b(sentiment|language|emotion|topic|priority|urgency|intent|tone|category|team|department)\b"


def labels_of(brief: Brief) -> list[Label]:
    """The labels to choose from, in the order listed; empty where the prompt lists none.

    The list that defines its labels wins, then the one of usual labels, then the longest.
    """
    best: tuple[bool, bool, int] = (False, False, 0)
    labels: Sequence[Label] = ()
    for found in _lists(brief):
        if len({each.name.casefold() for each in found}) == len(found) > 1:
            usual = all(_usual(each.name) for each in found)
            worth = (any(each.meaning for each in found), usual, len(found))
            if worth > best:
                best, labels = worth, found
    answers = dict.fromkeys(answer for _, answer in brief.examples)
    return [*labels] or [Label(answer) for answer in answers if len(words(answer)) <= 4]


def implied_labels(brief: Brief) -> list[Label]:
    """The labels that go without saying where none are listed: a sentiment's, yes and no."""
    told = " ".join(brief.told).lower()
    names = (names for asks, names in rows("implied_labels.tsv") if re.search(asks, told))
    return [Label(each) for each in next(names, "").split()]


def _lists(brief: Brief) -> Iterator[Sequence[Label]]:
    """Every list in the prompt that may be one of labels."""
    for shape in brief.shapes:
        for found in _ALLOWED.finditer(shape):
            yield [Label(each.strip(' "')) for each in re.split(r"[|/,]|\bor\b", found.group())]
    lines = brief.prose.split("\n")
    for index, line in enumerate(lines):
        if line.strip() and not BULLET.match(line):
            yield _bulleted(line, lines[index + 1 :])
    for sentence in brief.told:
        yield _inline(re.sub("[`*]", "", sentence))


def _bulleted(line: str, after: Sequence[str]) -> list[Label]:
    """The list under a line that announces labels; empty where it is another list."""
    items: list[Label] = []
    for each in after:
        bullet = BULLET.match(each)
        if bullet is None:
            if each.strip():
                break
            continue
        text = re.sub(r"[`*\"]", "", bullet["item"]).strip()
        found = _DEFINED.match(text)
        name = (found["name"] if found else text).strip(" .,;'")
        if not 0 < len(words(name)) <= 4:
            return []
        items.append(Label(name, found["meaning"] if found else ""))
    if not items:
        return []
    announced = {*map(cue, words(line))} & cues("label word") or "one of" in line.lower()
    defined = line.rstrip().endswith(":") and all(each.meaning for each in items)
    return items if announced or defined or all(_usual(each.name) for each in items) else []


@lru_cache(maxsize=1024)
def _inline(sentence: str) -> tuple[Label, ...]:
    """The best list of labels in a sentence, *as A, B or C*, after any of its anchors."""
    best: list[Label] = []
    most = 0
    for start in [0, *(anchor.end() for anchor in _ANCHOR.finditer(sentence))]:
        found = _items(sentence[start : start + LONGEST])
        usual = sum(_usual(each.name) for each in found)
        worth = 4 * len(found) + 6 * usual + 2 * all(" " not in each.name for each in found)
        if found and worth > most and (usual == len(found) or (start and _announces(sentence))):
            best, most = found, worth
    return tuple(best)


@lru_cache(maxsize=1024)
def _announces(sentence: str) -> bool:
    """Whether a sentence speaks of labels, or has several of anything."""
    listed = re.search(r"\bor\b|[|/]", sentence.lower()) is not None
    return listed or bool(saying([sentence], cues("label word", "classify strong verb")))


def _items(text: str) -> list[Label]:
    """The labels at the beginning of a text, up to the end of its clause; empty where there is no list."""
    text = _LEAD.sub("", text.strip().lstrip(":([{ "))
    meanings: dict[str, str] = {}
    for found in _PAREN.finditer(text):
        before = _SEPARATOR.split(text[: found.start()])[-1]
        meanings[before.strip("'\" ").casefold()] = found[1]
    items: list[Label] = []
    for index, part in enumerate(_SEPARATOR.split(_END.split(_PAREN.sub("", text), maxsplit=1)[0])):
        cut = _TRAIL.sub("", part) if index else part
        name = (_LEAD.sub("", cut) or cut).strip("'\"{}[<>? ")
        last = name.rpartition(" ")[2].strip("'\"{[")
        if not index and _usual(last) and not _usual(name):
            # "Is the review positive or negative" has the label "positive".
            name = last
        foreign = cues("no label") & set(name.lower().split())
        if not 0 < _size(name) <= 3 or (foreign and not _usual(name)):
            break
        items.append(Label(name, meanings.get(name.casefold(), "")))
        if index and cut != part:
            break
    if len(items) == 2 and items[1].name.casefold() == "not":
        items[1] = Label(f"not {items[0].name}")
    return items if len(items) > 1 else []


@lru_cache(maxsize=4096)
def _size(name: str) -> int:
    """How many words a name has."""
    return len(words(name))


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    """A label's name for look-ups: lower case, words joined by hyphens."""
    return "-".join(words(name.replace("_", " ").replace("-", " ")))


@cache
def _concepts() -> dict[str, dict[str, float]]:
    """For each name of a concept the stems that speak for it, 1 or 2 each."""
    found: dict[str, dict[str, float]] = {}
    for names, spoken in rows("concepts.tsv"):
        evidence: dict[str, float] = {}
        for word in spoken.split():
            for each in (word.rstrip("*"), stem(word.rstrip("*"))):
                evidence[each] = max(evidence.get(each, 0.0), 1.0 + word.endswith("*"))
        for name in names.split():
            found.setdefault(name, evidence)
    return found


@lru_cache(maxsize=4096)
def _evidence(name: str) -> dict[str, float]:
    """The stems that speak for a label: by its whole name, else by each of its words."""
    known, whole = _concepts(), _key(name)
    if whole in known:
        return known[whole]
    found: dict[str, float] = {}
    for word in whole.split("-"):
        found |= known.get(word) or known.get(stem(word)) or known.get(word.removesuffix("s")) or {}
    return found


@lru_cache(maxsize=4096)
def _usual(name: str) -> bool:
    """Whether a name is a usual label by itself."""
    whole = _key(name)
    kinds = cues("fallback", "positive", "negative", "middle", "yes", "no")
    return whole in _concepts() or whole in kinds


def classified(
    brief: Brief, form: AnswerForm, labels: list[Label], keys: Sequence[str], variant: int = 0
) -> str:
    """The best label, a sentence around it, or JSON with these keys; a ``variant`` above 0 gives another label."""
    order = _ranked(labels, brief)
    name = order[(variant - 1) % (len(order) - 1) + 1 if variant and len(order) > 1 else 0].name
    subject = re.search(_SUBJECTS, brief.prose.lower())
    if form.json:
        keys = keys or [subject[1] if subject else "label"]
        return json.dumps(_record(keys, name, sentences(brief.data)[0]), ensure_ascii=False)
    if form.bare or not form.asked or brief.examples or _given(brief, labels):
        return name
    if name.lower() in {"yes", "no"}:
        return form.say(f"{name.capitalize()}, judging by the text.")
    return form.say(f"The {subject[1] if subject else 'answer'} is ") + f"{name}."


def _given(brief: Brief, labels: Sequence[Label]) -> bool:
    """Whether a sentence tells to reply with one of several labels."""
    return any(
        sum(one.name.lower() in each.lower() for one in labels) > 1 and opening(each) in cues("reply")
        for each in brief.told
    )


def _record(keys: Sequence[str], name: str, sentence: str) -> dict[str, Any]:
    """The JSON object: the label under every key that is for neither a score nor a reason."""
    scores = {key: 0.9 for key in keys if re.search(r"confidence|score", key.lower())}
    reasons = {key: sentence for key in keys if re.search(r"reason|explanation|summary", key.lower())}
    return dict.fromkeys(keys, name) | scores | reasons


def _ranked(labels: Sequence[Label], brief: Brief) -> list[Label]:
    """The labels, the best first; of equals the one listed first.

    Where nothing in the text speaks for any label, one that means *none of the others* wins if there is one.
    """
    scores = _scores(labels, brief)
    order = sorted(range(len(labels)), key=lambda index: (-scores[index], index))
    if not any(score > 0 for score in scores):
        order.sort(key=lambda index: _key(labels[index].name) not in cues("fallback"))
    return [labels[index] for index in order]


def _scores(labels: Sequence[Label], brief: Brief) -> list[float]:
    keys = [_key(label.name) for label in labels]
    praising, blaming = cues("positive") & set(keys), cues("negative") & set(keys)
    if praising and blaming and set(keys) <= cues("positive", "negative", "middle", "fallback"):
        feeling = _feeling(brief.data)
        clear = feeling if abs(feeling) >= MARGIN else 0.0
        middle = 0.5 if not clear else -1.0
        return [clear if key in praising else -clear if key in blaming else middle for key in keys]
    if len(keys) == 2 and set(keys) & cues("yes") and set(keys) & cues("no"):
        holds = _holds(brief)
        return [float(holds == (key in cues("yes"))) for key in keys]
    said = [*brief.said, *(each for each in _MARKS if each in brief.data)]
    found = [_spoken_for(label, said) for label in labels]
    for index, key in enumerate(keys):
        opposite = re.sub(r"^(?:not|non|no)-", "", key)
        if opposite != key and opposite in keys:
            found[index] = 1.5 - 0.25 * found[keys.index(opposite)]
    mine = set(stems(brief.data)) if brief.examples else set()
    for text, answer in brief.examples:
        shared = 0.5 * len(mine & set(stems(text)))
        found = [score + shared * (_key(answer) == key) for score, key in zip(found, keys, strict=True)]
    return found


@lru_cache(maxsize=1024)
def _words_for(label: Label) -> tuple[frozenset[str], frozenset[str], dict[str, float]]:
    """The stems that speak for a label: its own, those of its meaning, and those of its concept."""
    own = frozenset(stem(word) for word in _key(label.name).split("-") if word not in cues("stop"))
    return own, frozenset(stems(label.meaning)), _evidence(label.name)


def _spoken_for(label: Label, said: Sequence[str]) -> float:
    """How much the words of a text, and its signs, speak for a label."""
    own, meant, known = _words_for(label)
    score = 0.0
    seen: set[str] = set()
    for word in said:
        base = stem(word)
        weight = 3.0 if base in own else 2.5 if base in meant else known.get(word, known.get(base, 0.0))
        # A repeated word speaks less each time, so that one word does not decide for a whole text.
        score += weight if base not in seen else 0.3 * weight
        seen.add(base)
    return score


def _holds(brief: Brief) -> bool:
    """Whether a text says what is asked: by its feeling, or by words that speak for it and are not negated."""
    told = [each for each in brief.told if "?" in each] or brief.told
    asked = words(brief.question or " ".join(told))
    fillers = cues("stop", "yes", "no", "reply", "limiter", "question filler")
    topics = [word for word in asked if word not in fillers]
    for word in topics:
        if word in cues("positive", "negative"):
            return _feeling(brief.data) * (1 if word in cues("positive") else -1) >= MARGIN
    known: dict[str, float] = {}
    for word in topics:
        known |= _evidence(word) | {stem(word): 2.0}
    found = brief.said
    score = 0.0
    for index, word in enumerate(found):
        weight = known.get(stem(word), known.get(word, 0.0))
        score += -weight if cues("negation") & set(found[max(0, index - SCOPE) : index]) else weight
    return score >= 2.0


@cache
def _values() -> dict[str, float]:
    """What words feel, with their stems."""
    found = {word: float(worth) for word, worth in rows("feelings.tsv")}
    return {stem(word): worth for word, worth in found.items()} | found


@lru_cache(maxsize=16384)
def _value(word: str) -> float:
    """A word's feeling, -1.5 to 1.5; a misspelling is forgiven in long words that begin right."""
    values = _values()
    if word in values or stem(word) in values or len(word) < 6:
        return values.get(word, values.get(stem(word), 0.0))
    known = nearest(word, frozenset(values), 6)
    return values.get(known, 0.0) if known[:2] == word[:2] else 0.0


def _feeling(text: str) -> float:
    """How much more praise than blame a text holds.

    A negation within ``SCOPE`` words turns a word round, boosters add half, and what comes after *but* counts half as
    much again.
    """
    total = 0.0
    for clause in re.split(r"[.!?;,\n]+", text.lower()):
        found = words(clause)
        for index, word in enumerate(found):
            before = found[max(0, index - SCOPE) : index]
            amount = _value(word) * (1.5 if cues("booster") & set(before[-2:]) else 1.0)
            amount *= 1.5 if {"but", "however", "although", "though", "yet"} & set(found[:index]) else 1.0
            total += amount * (-0.8 if cues("negation") & set(before) else 1.0)
    return total
