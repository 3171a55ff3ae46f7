"""Answers of a given structure: one of the labels that a prompt lists, the fields that it names, a tool's arguments."""

from __future__ import annotations

import itertools
import json
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.providers.requests import ToolCall
from pytest_promptfuzz.targets.simulated.prompt import (
    BULLET,
    cue,
    cues,
    nearest,
    opening,
    rows,
    saying,
    sentences,
    singular,
    stem,
    stems,
    words,
)
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_promptfuzz.targets.simulated.prompt import AnswerForm, Brief


class Label(NamedTuple):
    """A label as written in the prompt, and what the prompt says it means."""

    name: str
    meaning: str = ""


LONGEST = 600  # characters within which a list of labels must end; it bounds the work on hostile text
MARGIN = 0.6  # praise or blame below this is no feeling
_MARKS = ("!!!", "$$$", "http://", "https://", "?")  # signs that speak for labels
SCOPE = 3  # words before a feeling in which a negation turns it round
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
def _feelings() -> dict[str, float]:
    """What words feel, with their stems."""
    found = {word: float(worth) for word, worth in rows("feelings.tsv")}
    return {stem(word): worth for word, worth in found.items()} | found


@lru_cache(maxsize=16384)
def _feeling_of(word: str) -> float:
    """A word's feeling, -1.5 to 1.5; a misspelling is forgiven in long words that begin right."""
    values = _feelings()
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
            amount = _feeling_of(word) * (1.5 if cues("booster") & set(before[-2:]) else 1.0)
            amount *= 1.5 if {"but", "however", "although", "though", "yet"} & set(found[:index]) else 1.0
            total += amount * (-0.8 if cues("negation") & set(before) else 1.0)
    return total


# Extraction: the fields that a prompt names, and their values in a text. The arguments of a tool are found alike.


ENOUGH = 1.0  # evidence below which no tool is called: one word of the tool's name, or two of its description
_QUOTED = expression(r"(?i)\b(?:keys?|fields?)\b[^.\"'`{]{0,24}((?:[\"'`]\w+[\"'`](?:,? and |, )?)+)")
_ENDS = expression(
    r"(?i)\s+(?:from|in|of|out|as|into|found|that|for|using|who|if|to|is|are|or|only|where|with)\b.*$"
)
_PARTS = expression(r"(?i)\s*[,;|]\s*(?:and\s+)?|\s+and\s+")
_NAME = r"[A-ZÀ-Þ][\w'’-]+"
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_BLANKS = {"integer": 0, "number": 0}


def fields_of(brief: Brief) -> list[str]:
    """Names of the fields asked for, in order: from a JSON schema or example, a bulleted list, or a sentence.

    In instructions written in capitals or as a title the case of a plain word says nothing: it is then in lower case.
    """
    names = list(dict.fromkeys(_names(brief)))
    long = re.findall(r"[^\W\d_]{4,}", brief.prose)
    if brief.shapes or sum(not word.islower() for word in long) < 0.7 * len(long):
        return names
    return [name.lower() if name.isupper() or name.istitle() else name for name in names]


def _names(brief: Brief) -> list[str]:
    if brief.shapes:
        return list(brief.schema) or re.findall(r'"([\w -]+)"\s*:', brief.shapes[0])
    bullets = [BULLET.match(line) for line in brief.prose.split("\n")]
    items = [re.split(r"\s*[:(]|\s-\s", each["item"])[0].strip(" `*\"'") for each in bullets if each]
    items = [each for each in items if _is_field(each) and len(each.split()) <= 4]
    if len(items) > 1:
        return items
    quoted = _QUOTED.findall(brief.prose)
    if quoted:
        return re.findall(r"\w+(?=[\"'`])", quoted[-1])
    told = [each for each in brief.told if each in brief.extracting or "JSON" in each]
    return max(map(_listed, reversed(told)), key=len, default=[])


def _listed(sentence: str) -> list[str]:
    """The fields that a sentence lists: of each part of the list, what begins with a word for a kind of value."""
    names = []
    for part in _PARTS.split(sentence[:600]):
        spoken = itertools.dropwhile(
            lambda word: "'s" in word or not _is_field(word.strip("`\"'*:.")), part.split()
        )
        name = _ENDS.sub("", " ".join(spoken)).strip(" `\"'*:.?!")
        names += [name] if 0 < len(name.split()) <= 3 else []
    return names


def _split(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower().replace("e-mail", "email").replace("'s", "")
    return [each for each in re.split(r"[\s_-]+", spaced) if each]


@cache
def _kinds() -> dict[str, str]:
    """The kind of value that a word of a field's name asks for; kinds are looked for in this order."""
    return {word: kind for kind, word in rows("fields.tsv")}


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """What values of each kind look like; a group in a pattern is the value, else the whole match."""
    found = rows("values.tsv")
    return {kind: re.compile(each.replace("NAME", _NAME).replace("MONTH", _MONTH)) for kind, each in found}


def _one(word: str) -> str:
    """A word in the singular, unless the plural is a word of its own: *address*."""
    return word if word in _kinds() else singular(word)


@lru_cache(maxsize=4096)
def _is_field(name: str) -> bool:
    return any(_one(each) in _kinds() for each in _split(name)) or "_" in name.strip("_")


def extracted(brief: Brief, form: AnswerForm, fields: Sequence[str], variant: int = 0) -> str:
    """The values found: as JSON if asked, else the one value, or a line for each; ``variant`` overlooks one of them."""
    found: dict[str, Any] = {}
    many = form.json == "array"
    for name in fields:
        given = brief.schema.get(name)
        value = _field_value(name, brief.data, many=many or isinstance(given, list))
        key = name if re.fullmatch(r"\w+", name) else "_".join(words(name))
        found[key] = _number(value) if isinstance(given, dict) and given.get("type") in _BLANKS else value
    if variant:
        missed = sorted(found)[(variant - 1) % len(found)]
        found[missed] = [] if isinstance(found[missed], list) else None
    if form.json:
        return json.dumps(found.popitem()[1] if many and len(found) == 1 else found, ensure_ascii=False)
    lines = [
        (key, ", ".join(each) if isinstance(each, list) else each or "none") for key, each in found.items()
    ]
    return str(lines[0][1]) if len(lines) == 1 else "\n".join(f"{key}: {each}" for key, each in lines)


def _field_value(field: str, text: str, *, many: bool = False) -> Any:
    """A field's value: a text, a list for a plural or ``many``, or ``None``."""
    parts = _split(field)
    plural = many or (bool(parts) and _one(parts[-1]) != parts[-1])
    parts = [_one(each) for each in parts]
    found = _labelled(parts, text) or _found(parts, text)
    return list(dict.fromkeys(found)) if plural else found[0] if found else None


def _labelled(parts: Sequence[str], text: str) -> list[str]:
    """The value on a line that bears the field's name, *Total: 12 EUR*; within it what looks like such a value."""
    name = r"[ _-]*".join(map(re.escape, parts))
    pattern = rf"^[ ]*(?:[-*•][ ]+)?{name}(?: (?:number|no\.?|id|name))?[ ]*[:=][ ]*(\S.*)$"
    line = re.search(pattern, text, re.IGNORECASE | re.MULTILINE)
    if not line:
        return []
    value = line[1].strip()
    return [value] if {"name", "customer", "title"} & set(parts) else _found(parts, value) or [value]


def _found(parts: Sequence[str], text: str) -> list[str]:
    """All values of the field's kind, those right after a word of its name (*due* date) first."""
    mine = {_kinds()[part] for part in parts if part in _kinds()}
    kind = next((each for each in _kinds().values() if each in mine), "")
    if kind not in _patterns():
        return sentences(text)[:1] if kind == "sentence" else []
    mails = _patterns()["email"].findall(text) if kind == "code" else ()
    found: dict[str, int] = {}
    for each in _patterns()[kind].finditer(text):
        value = next(filter(None, each.groups()), each.group()).strip().rstrip(".,;")
        value = _proper(value) if kind in {"person", "city", "country"} else value
        if value and not any(value in mail for mail in mails):
            found.setdefault(value, each.start())
    hints = "|".join(re.escape(part) for part in parts if part not in _kinds().values())
    ends = [each.end() for each in re.finditer(rf"\b(?:{hints})\b", text.lower())] if hints else []

    def distance(value: str) -> int:
        # What stands after the word is nearer than what stands before it.
        return min((abs(found[value] - end) + 500 * (found[value] < end) for end in ends), default=0)

    return sorted(found, key=distance)


def _proper(name: str) -> str:
    """A name without the words that are capitalised for another reason: *Please*, *Monday*."""
    return " ".join(word for word in name.split() if word.title() not in cues("no name"))


def _number(value: object) -> Any:
    """The number in a text; what is no text, or has none, as it is."""
    number = _patterns()["number"].search(value) if isinstance(value, str) else None
    plain = float(number.group().replace(",", "")) if number else value
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def tool_calls(tools: Sequence[object], choice: object, text: str) -> tuple[ToolCall, ...]:
    """The tool call that a text asks for, at most one: the tool's words are in it, and all required arguments.

    Tools are in the OpenAI (chat or Responses) or Anthropic style. The ``choice`` ``none`` never calls, ``required`` or
    a named tool always.
    """
    given = [_member(each, "function") or each for each in tools]
    known = [each for each in given if isinstance(each, dict) and each.get("name")]
    if not known or choice == "none":
        return ()
    named = _member(_member(choice, "function") or choice, "name")
    best = max(known, key=lambda each: _tool_evidence(each, text))
    tool = next((each for each in known if each["name"] == named), best)
    schema = tool.get("parameters") or tool.get("input_schema")
    properties = _member(schema, "properties") or {}
    found = {
        name: _argument(name, given, text) for name, given in properties.items() if isinstance(given, dict)
    }
    arguments = {name: value for name, value in found.items() if value is not None}
    missing = [name for name in _member(schema, "required") or () if name not in arguments]
    if choice not in ("required", "any") and not named and (missing or _tool_evidence(tool, text) < ENOUGH):
        return ()
    blanks = {name: _BLANKS.get(str(_member(properties.get(name), "type")), "") for name in missing}
    return (ToolCall(str(tool["name"]), {**arguments, **blanks}),)


def _member(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _tool_evidence(tool: Mapping[str, Any], text: str) -> float:
    """How much of a text speaks for a tool: words of its name count 1, of its description ½."""
    said = set(stems(text))
    generic = set(stems("get set make run call find look id current information use function"))
    named = set(stems(" ".join(_split(str(tool["name"]))))) - generic
    described = set(stems(str(tool.get("description") or ""))) - generic - named
    return len(said & named) + 0.5 * len(said & described)


def _argument(name: str, given: Mapping[str, Any], text: str) -> Any:
    if isinstance(given.get("enum"), list):
        return next((each for each in given["enum"] if str(each).lower() in text.lower()), None)
    if given.get("type") in {"integer", "number"}:
        number = _patterns()["number"].search(text)
        return _number(number.group()) if number else None
    if re.search(r"query|subject|text|message|question|topic|title", name.lower()):
        quoted = re.search(r"[\"']([^\"']+)[\"']", text) or re.search(r"\b(?:for|about)\s+(.+?)[.?!]*$", text)
        return quoted[1] if quoted else text.strip()
    return _field_value("email" if name.lower() in {"to", "recipient"} else name, text)
