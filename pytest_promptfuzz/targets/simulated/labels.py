"""Finding the list of labels in a prompt, in whatever phrasing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.targets.simulated.concepts import known_label
from pytest_promptfuzz.targets.simulated.cues import OBJECTS, OPENERS, VERBS, corrected
from pytest_promptfuzz.targets.simulated.listings import (
    Label,
    conditional,
    grades,
    in_schema,
    in_shape,
    in_tables,
)
from pytest_promptfuzz.targets.simulated.words import listed, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_promptfuzz.targets.simulated.reading import Reading

LABEL_NOUNS = frozenset(
    listed(
        """
        label labels category categories class classes topic topics option options queue queues
        team teams department departments intent intents tag tags sentiment sentiments type
        types value values choice choices priority priorities level levels bucket buckets group
        groups emotion emotions genre genres language languages theme themes rating ratings
        severity urgency tone tones domain domains area areas sections subject subjects
        """
    )
)
BULLET = re.compile(r"^\s*(?:[-*•+–]|\d{1,2}[.)]|\(?[A-Za-z][.)])\s+(?P<item>\S.*)$")
ANCHOR = re.compile(
    r"\b(?:as|into|either|one of|among|between|whether|from|with|labels?|categor(?:y|ies)|class(?:es)?"
    r"|options?|choices?|"
    r"values?|topics?|teams?|queues?|departments?|intents?|tags?|types?|priorit(?:y|ies)|emotions?|levels?"
    r"|answer|respond|about|"
    r"reply|return|output|say|choose|pick|select|is|are|to|sentiments?|following|urgency|languages?"
    r"|buckets?|groups?|"
    r"in|be|was|if|word)\b\s*[:(\[{]?|->|=>|[:(\[{]",
    re.IGNORECASE,
)
SEPARATOR = re.compile(
    r"\s*(?:,\s*(?:or|and)\s+|,|;|/|\||\s+or\s+|\s+and\s+|\s+vs\.?\s+)\s*(?:or\s+|and\s+)?", re.IGNORECASE
)
LEAD = re.compile(
    r"^(?:(?:(?:either|one of|exactly|only|just|the following|following|these|the|a|an|being|it's|it|is|are|as"
    r"|whether)\b|"
    r"(?:(?:allowed|possible|valid|available|given|support|three|two|four|five|six|seven|\d+)\s+)*"
    r"(?:labels?|categor(?:y|ies)|class(?:es)?|options?|choices?|values?|topics?|queues?|teams?"
    r"|departments?|intents?|"
    r"tags?|priorit(?:y|ies)|words?|levels?|sentiments?|languages?|emotions?|buckets?|types?|groups?"
    r"|strings?)"
    r"(?=\s*(?:[:(\[,]|\bis\b|\bare\b|['\"]|$)))\s*[:,\-(\[]?\s*)+",
    re.IGNORECASE,
)
TRAIL = re.compile(
    r"\s+(?:based|depending|according|for|in|by|using|with|given|from|that|which|where|if|when|only|please"
    r"|overall|"
    r"category|label|sentiment|respectively|as|to|about|on|because|so|then|without|accordingly|towards?"
    r"|team|queue|"
    r"department|after|before|and)\b.*$|\s+-\s+.*$",
    re.IGNORECASE,
)
PAREN = re.compile(r"\s*\(([^()]*)\)")
LONGEST = 600
"""Characters within which a list of labels must end; it bounds the work on hostile text."""
NO_LABELS = frozenset(
    listed("nothing else name only word label category one exactly single following explanation")
)
STOPS = frozenset(
    listed(
        """
        it this that text message following below above them you your they he she we i what who
        how its their not
        """
    )
)


def find_labels(reading: Reading) -> list[Label]:
    """The labels to choose from, in the order listed; empty if the prompt lists none.

    The longest list wins; of two different ones of which neither holds the other, the last.
    """

    def known(found: list[Label]) -> bool:
        return bool(found) and all(known_label(each.name) for each in found)

    best: list[Label] = []
    for candidate in _candidates(reading):
        names = {each.name.casefold() for each in candidate}
        if len(names) < 2:
            continue
        kept = {each.name.casefold() for each in best}
        if not best or (kept < names) or not (names <= kept):
            defined = {each.name.casefold(): each.definition for each in best}
            if known(best) and not known(candidate):
                continue
            best = [Label(l.name, l.definition or defined.get(l.name.casefold(), "")) for l in candidate]  # noqa: E741
        elif names == kept and any(each.definition for each in candidate):
            best = candidate
    if not best and reading.examples:
        answers = list(dict.fromkeys(answer for _, answer in reading.examples if len(words(answer)) <= 4))
        best = [Label(answer) for answer in answers]
    return best


def _candidates(reading: Reading) -> Iterator[list[Label]]:
    for shape in reading.shapes:
        yield from in_shape(shape)
    schema = reading.response_format.get("json_schema")
    if schema:
        yield from in_schema(schema)
    yield from in_tables(reading.prose)
    yield from conditional(reading.prose)
    yield from grades(reading.prose)
    bulleted = list(_bulleted(reading.prose))
    yield from bulleted
    lines = reading.prose.split("\n")
    # The definitions in a list of labels are no lists of labels.
    flat = re.sub(r"[`*]", "", "\n".join(each for each in lines if not (bulleted and BULLET.match(each))))
    for sentence in re.split(r"(?<=[.!?])\s+|\n", flat):
        found = _inline(sentence)
        if found:
            yield found


def _bulleted(prose: str) -> Iterator[list[Label]]:
    """A line that announces labels, and the list lines under it."""
    lines = prose.split("\n")
    by_letter = re.search(r"\b(?:the|one|a single|only|correct) letter\b", prose.lower()) is not None
    for index, line in enumerate(lines):
        if BULLET.match(line) or not line.strip():
            continue
        found = [corrected(word) for word in words(line)]
        items: list[Label] = []
        for after in lines[index + 1 :]:
            match = BULLET.match(after)
            if match is None:
                if after.strip():
                    break
                continue
            label = _defined(match["item"])
            if label is None and not by_letter:
                items = []
                break
            letter = re.match(r"\s*\(?([A-Za-z])[.)]", after) if by_letter else None
            items.append(Label(letter[1], match["item"]) if letter else label or Label(match["item"]))
        announces = (
            bool(set(found) & LABEL_NOUNS) or re.search(r"\b(?:one|which) of\b", line.lower()) is not None
        )
        if not items and bool(set(found) & LABEL_NOUNS) and line.rstrip().endswith(":"):
            items = _bare_lines(lines[index + 1 :])
        defined = sum(bool(each.definition) for each in items)
        if len(items) >= 2 and (
            announces
            or (line.rstrip().endswith(":") and defined == len(items))
            or all(known_label(i.name) for i in items)
        ):
            yield items


def _bare_lines(lines: list[str]) -> list[Label]:
    """Labels one a line, without bullets, up to the next blank line."""
    items: list[Label] = []
    for line in lines:
        if not line.strip():
            break
        label = _defined(line)
        if label is None or line.rstrip().endswith((".", "?", "!", ":")):
            return []
        items.append(label)
    return items


def _defined(item: str) -> Label | None:
    """``name: meaning``, ``name - meaning``, ``name (meaning)`` or a bare name of at most four words."""
    text = re.sub(r"[`*\"]|^'|'$", "", item).strip()
    match = re.match(r"(?P<name>[^:()=]{1,40}?)\s*(?::|\s-\s|=>?|\s+for\s+|->)\s*(?P<meaning>\S.*)$", text)
    if match is None:
        match = re.match(r"(?P<name>[^()]{1,40}?)\s*\((?P<meaning>[^()]+)\)\.?$", text)
    name = (match["name"] if match else text).strip().rstrip(".,;")
    if not name or len(words(name)) > 4 or not words(name):
        return None
    return Label(name.strip("'"), match["meaning"].strip() if match else "")


def _inline(sentence: str) -> list[Label]:
    """The best list in a sentence, after any of its anchors."""
    best: list[Label] = []
    quality = 0
    start = _items(sentence[:LONGEST])
    if start and words(sentence)[0] not in ORDERS and all(known_label(each.name) for each in start):
        best, quality = start, _worth(start, sentence)
    for anchor in ANCHOR.finditer(sentence):
        found = _items(sentence[anchor.end() : anchor.end() + LONGEST])
        worth = 0 if found is None else _worth(found, sentence)
        if found and worth > quality:
            best, quality = found, worth
    capitals = _capitals(sentence)
    return capitals if len(capitals) > len(best) and not (quality and len(best) >= len(capitals)) else best


def _worth(found: list[Label], sentence: str) -> int:
    known = sum(known_label(each.name) for each in found)
    short = all(len(words(each.name)) <= 2 for each in found)
    lists = set(map(corrected, words(sentence))) & LABEL_NOUNS or re.search(
        r"\b(?:one of|either|whether|classif|categori|label|or)\b", sentence.lower()
    )
    if not lists and known < len(found):
        return 0
    return 4 * len(found) + 6 * known + 2 * short


def _items(text: str) -> list[Label] | None:
    """Labels at the beginning of ``text``, up to the end of the clause."""
    text = text.strip().lstrip(":([{ ")
    text = LEAD.sub("", text)
    definitions: dict[str, str] = {}

    def keep(match: re.Match[str]) -> str:
        before = text[: match.start()]
        name = (SEPARATOR.split(before)[-1] if before else "").strip()
        definitions[LEAD.sub("", name).casefold().strip("'\" ")] = match[1]
        return ""

    bare = PAREN.sub(keep, text)
    bare = re.split(r"[)\]\}]|[.!?](?:\s|$)|\s-\s|:(?:\s|$)", bare, maxsplit=1)[0]
    parts = [part for part in SEPARATOR.split(bare) if part is not None]
    items: list[Label] = []
    for index, part in enumerate(parts):
        name = part.strip()
        final = index == len(parts) - 1
        cut = TRAIL.sub("", name)
        ended = cut != name and index > 0
        name = (LEAD.sub("", cut if index > 0 else name) or cut).strip("'\"`{}<>? ")
        if index == 0:
            name = re.split(r"\s(?:is|are|as|be|being|was|of)\s(?:a |an |the )?", name)[-1].strip(
                "'\"`{}<>? "
            )
            name = _without_object(name)
        if not name or len(words(name)) > 3 or not words(name):
            if len(items) >= 2 and not final:
                break
            return items if len(items) >= 2 else None
        if (
            words(name)[0] in STOPS
            and name.lower() != "not"
            and len(words(name)) > 1
            and not name.lower().startswith(("not ", "not_", "not-"))
        ):
            break
        if set(words(name)) & NO_LABELS or words(name)[0] in {"of", "for", "in", "to", "with", "by"}:
            break
        if set(words(name)) & {"below", "above"} or (
            name.islower() and name.split()[0] in ORDERS and not known_label(name)
        ):
            break
        items.append(Label(name, definitions.get(name.casefold(), "")))
        if ended:
            break
    if len(items) == 1 or (items and len(items) <= 2):
        items = [piece for each in items for piece in _unseparated(each)]
    if len(items) == 2 and items[1].name.casefold() == "not":
        items[1] = Label(f"not {items[0].name}")
    return items if len(items) >= 2 and len({i.name.casefold() for i in items}) == len(items) else None


ORDERS = (OPENERS | frozenset().union(*VERBS.values())) - {"other", "no", "be"}
"""Verbs that begin an instruction: *and print only the level* adds no label."""


def _without_object(name: str) -> str:
    """*the review positive* in *is the review positive, negative or neutral* without the review."""
    parts = name.split()
    for size in (2, 1):
        rest = " ".join(parts[-size:])
        if (
            len(parts) > size
            and known_label(rest)
            and set(map(str.lower, parts[:-size])) & OBJECTS
            and not known_label(name)
        ):
            return rest.strip("'\"` ")
    return name


def _unseparated(label: Label) -> Iterable[Label]:
    """*POSITIVE NEGATIVE* without commas: split where every word is a label by itself."""
    parts = label.name.split()
    whole = known_label(label.name)
    if (
        len(parts) > 1
        and not whole
        and (all(known_label(p) for p in parts) or all(p.isupper() and len(p) > 2 for p in parts))
    ):
        return [Label(part) for part in parts]
    return [label]


def _capitals(sentence: str) -> list[Label]:
    """Two or more words in capitals, in a sentence that is not all in capitals."""
    found = re.findall(r"\b[A-Z][A-Z_]{2,}\b", sentence)
    found = [
        each
        for each in dict.fromkeys(found)
        if each not in {"JSON", "SQL", "ONLY", "NOT", "MUST", "AND", "THE", "ONE"}
    ]
    # In a shouted sentence capitals set nothing apart.
    if len(found) < 2 or len(re.findall(r"\b[A-Z]{2,}\b", sentence)) > 0.5 * len(words(sentence)):
        return []
    return [Label(each) for each in found]
