"""What may change places: sentences and list items whose order carries no meaning.

A sentence that leans on the one before it (``It ...``, ``Otherwise ...``) moves with it; one that points at a place
in the prompt (``above``, ``the following``) stays; where order is told by ordinals or steps, nothing moves. The words
that tell are English, so operators that move things work on English prompts only.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.fields import data_spans, inside
from pytest_promptfuzz.mutations.lexicon.table import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line, Sentence

Segment = tuple[int, int]

SEQUENCE_HEADS = words(
    "first second third fourth fifth next then after afterwards before finally lastly now once step start begin end"
    " last"
)
_SEQUENCE_WORDS = words("firstly secondly thirdly step steps afterwards sequence order turn")
_LETTERED = re.compile(r"\(?[a-z]\)\s|\[\d")
_INLINE_NUMBER = re.compile(r"[0-9]{1,2}[.)]\s")
LEANING_HEADS = words(
    "otherwise however but and or so also instead therefore thus else likewise similarly additionally moreover"
    " furthermore still yet even nevertheless because hence here there below as again both neither either that"
)
_LEANING_STARTS = (
    "if so", "if not", "in that case", "in this case", "in which case", "in addition", "for example", "for instance",
    "by the way", "in conclusion", "in the event", "in short", "in summary", "to sum up", "in other words",
    "as a result", "as such", "on the other hand", "on the contrary", "at the same time", "in return", "that said",
    "this way", "that way", "in contrast", "by contrast", "to do so", "in doing so", "apart from", "without the ",
    "with the ", "after that", "until then", "in all other", "in any other", "for the rest", "if nothing", "if none",
)  # fmt: skip
_LEANING_WORDS = words(
    "it its itself they them their theirs this these those he him his she her hers ones former latter same such other"
    " others another respectively therefore thus hence accordingly consequently also instead otherwise however likewise"
    " meanwhile anyway besides"
)
_POINTING_WORDS = words(
    "above below following preceding previous previously next earlier later last first second third beginning listed"
    " aforementioned follows here order"
)
BOUND = re.compile("\\b(?:above|below) (?=\x00)")  # "above $50" is no place
# "Tell the passenger so." says again what the sentence before said.
_SAYING_SO = re.compile(
    r"\b(?:tell|told|say|says|said|do|does|did|doing|think|inform|explain|mention|asks?)"
    r"(?: [\w']+){0,3} so\b(?! that)"
    r"|\b(?:too|either|as well)[.,;!]"
)
_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|bonjour|hallo|hola|ciao|good (?:morning|day|afternoon|evening))\b"
)
_THANKS = re.compile(r"(?:thanks|thank you|cheers|(?:kind |best |warm )?regards|yours|sincerely)\b")
# What is to be written, and what is to stand in it.
_CREATING = re.compile(
    r"(?:please |kindly )?(?:write|draft|compose|create|generate|prepare|produce|design|build|make)"
    r" (?:me |us )?(?:an?|one|two|three|some|\d+) "
)
_CONTENT = re.compile(
    r"(?:please |kindly )?(?:inform|mention|include|thank|tell|ask|explain|say|state|invite|apologi[sz]e|remind|add|end"
    r"|start|begin|open|close|sign|finish|request|offer|describe|introduce|present)\b"
)
# Who speaks and who is spoken to comes first: "We are a charity.", "You are a tutor.".
_TELLING = re.compile(r"(?:i|we|my|our|the user|today)\b")
_ROLE = re.compile(
    r"(?:you(?!r)(?! (?:must|may|should|can|need|have to|will|shall|are (?:not|to)|cannot)\b)"
    r"|your (?:job|task|role|goal))\b"
)
_DEFINITE = words("the this that these those your our its their his her")
_FORM = re.compile(
    r"\b(?:formats?|outputs?|outline|structure|template|layout|sections?|fields?|columns?|keys?|headings?|headers?"
    r"|answers?|respon[ds]\w*|repl(?:y|ies)|reports?|return|contents?|order|parts|looks? like)\b",
    re.IGNORECASE,
)
_LEAD = 300  # characters before a list that are looked at for what introduces it
_SHORTEST = 3  # letters of a noun that is referred to
TOKENS = re.compile("[a-z]+")
_STOPS = (".", "!", "?", "。", "！", "？")


def counts(text: str, tokens: list[str]) -> bool:
    """Whether a sentence in lower case, whose words are ``tokens``, tells an order."""
    return (
        tokens[0] in SEQUENCE_HEADS
        or _LETTERED.match(text) is not None
        or not _SEQUENCE_WORDS.isdisjoint(tokens)
        or " and then " in text
        or any(
            match.start() == 0 or text[match.start() - 1] in " (\n" for match in _INLINE_NUMBER.finditer(text)
        )
    )


_TAKING_UP = re.compile(
    r"(?:in |on |for |with )?(?:every|each|the|all|both|these|those|one)(?: of (?:the|them))?(?: (?P<one>[a-z]{4,}))?"
    r"(?: (?P<two>[a-z]{4,}))?"
)


def takes_up(sentence: str, before: Sequence[str]) -> bool:
    """Whether a sentence begins with what the ones before it brought up: "Use four lines. Every line holds ..."."""
    match = _TAKING_UP.match(sentence)
    if match is None:
        return False
    nouns = [each.removesuffix("s") for each in match.groups() if each]
    return any(re.search(rf"\b{each}s?\b", text) for each in nouns for text in before)


def leans(text: str, tokens: list[str]) -> bool:
    """Whether a sentence in lower case cannot be understood without the one before it."""
    return (
        tokens[0] in LEANING_HEADS
        or not _LEANING_WORDS.isdisjoint(tokens)
        or text.startswith(_LEANING_STARTS)
        or _SAYING_SO.search(text) is not None
    )


def points(text: str, tokens: list[str]) -> bool:
    """Whether a sentence in lower case speaks of a place in the prompt, or introduces what follows."""
    return ":" in text or not _POINTING_WORDS.isdisjoint(tokens)


def places(text: str) -> bool:
    """Whether a text, in lower case and protected parts blanked, names a place: ``above``, ``the following``."""
    plain = BOUND.sub("", text) if "\x00" in text else text
    return not _POINTING_WORDS.isdisjoint(TOKENS.findall(plain))


def sentence_runs(draft: Draft) -> tuple[list[Segment], ...]:
    """Runs of two or more neighbouring segments of one paragraph that may change places among themselves."""
    groups: dict[int, list[Sentence]] = {}
    data = draft.once(data_spans)
    for sentence in draft.sentences:
        if sentence.kind == "prose" and not inside(data, sentence.start):
            groups.setdefault(sentence.paragraph, []).append(sentence)
    return tuple(run for group in groups.values() if len(group) > 1 for run in _runs(draft, group))


def _runs(draft: Draft, group: list[Sentence]) -> Iterator[list[Segment]]:
    lowered = [draft.text[each.start : each.end].lower() for each in group]
    tokens = [TOKENS.findall(each) or [""] for each in lowered]
    if any(map(counts, lowered, tokens)) or any(map(_GREETING.match, lowered)):
        return  # a letter is data
    torn = _torn(draft, group)
    heads = _introduced(tokens)
    filled = [_CONTENT.match(each) is not None for each in lowered]
    contents = len(filled) - filled[::-1].index(True) if True in filled else 0
    on_lines = all("\n" in draft.text[a.end : b.start] for a, b in pairwise(group))
    run: list[Segment] = []
    pinned = True
    for number, (sentence, text, found) in enumerate(zip(group, lowered, tokens, strict=True)):
        open_ended = text.endswith(("...", "…")) or (
            not on_lines and not text.rstrip("\"'”’)]*").endswith(_STOPS)
        )
        free = draft.free[sentence.start : sentence.end].lower()
        if "\x00" in free:
            free = BOUND.sub("", free)
            plain = TOKENS.findall(free)
        else:
            plain = found
        told = (
            _TELLING.match(text)
            or (not number and _ROLE.match(text))
            or _THANKS.match(text)
            or (number + 1 < contents and _CREATING.match(text))
        )
        if points(free, plain) or open_ended or told:
            if len(run) > 1:
                yield run
            run, pinned = [], True
        else:
            start = sentence.start
            if leans(text, found) or start in torn:
                if pinned:
                    continue  # it stays with a sentence that stays
                start = run.pop()[0]
            head = heads[number]
            if head is not None:  # what it speaks of moves with it
                while run and run[0][0] <= group[head].start < run[-1][1]:
                    start = run.pop()[0]
            run.append((start, sentence.end))
            pinned = False
    if len(run) > 1:
        yield run


def _torn(draft: Draft, group: list[Sentence]) -> frozenset[int]:
    """Where sentences begin that are the rest of another: in brackets, or in lower case where others are not."""
    starts = [draft.text[each.start] for each in group]
    found: set[int] = set()
    depth = 0
    for each, first in zip(group, starts, strict=True):
        if depth > 0 or (first.islower() and any(map(str.isupper, starts))):
            found.add(each.start)
        piece = draft.text[each.start : each.end]
        depth = max(0, depth + piece.count("(") - piece.count(")"))
    return frozenset(found)


def _introduced(sentences: list[list[str]]) -> list[int | None]:
    """For each sentence the number of the first one that introduces something it calls ``the ...``, if there is one.

    ``You may take a bag. The bag must be small.``: something that was ``the ...`` from the beginning is known anyway.
    """
    known: dict[str, int | None] = {}
    found: list[int | None] = []
    for number, tokens in enumerate(sentences):
        meant = [
            first
            for index, token in enumerate(tokens)
            if token in _DEFINITE
            for noun in tokens[index + 1 : index + 3]
            if (first := known.get(noun.removesuffix("s"))) is not None
        ]
        found.append(min(meant, default=None))
        for index, token in enumerate(tokens):
            if len(token) >= _SHORTEST:
                definite = index > 0 and tokens[index - 1] in _DEFINITE
                known.setdefault(token.removesuffix("s"), None if definite else number)
    return found


def lists(draft: Draft, kind: str) -> Iterator[list[tuple[Line, int]]]:
    """Lists of two items or more: each item's first line, and where the item ends with the lines indented under it."""
    items: list[tuple[Line, int]] = []
    for line in draft.lines:
        if items:
            head = items[-1][0]
            same = line.section == head.section
            if same and line.kind == kind and line.indent == head.indent:
                items.append((line, line.end))
                continue
            if same and line.kind != "blank" and line.indent > head.indent:
                items[-1] = (head, line.end)
                continue
            if len(items) > 1:
                yield items
            items = []
        if line.kind == kind:
            items = [(line, line.end)]
    if len(items) > 1:
        yield items


def free_order(draft: Draft, items: list[tuple[Line, int]]) -> bool:
    """Whether the items of a list may change places: none counts, points or leans, all end alike, they are no form."""
    head = items[0][0].start
    before = draft.text[max(0, head - _LEAD) : head].rstrip().rpartition("\n")[2]
    if _FORM.search(before):
        return False
    endings = set()
    for line, end in items:
        text = draft.text[line.content : end].lower()
        tokens = TOKENS.findall(text) or [""]
        if counts(text, tokens) or points(text.partition(":")[0], tokens) or leans(text, tokens):
            return False
        tail = text.rstrip()
        endings.add(tail[-1] if tail[-1:] in {".", ",", ";", ":", "!", "?"} else "")
        if tail.endswith((" and", " or", ",", ";", ":")):
            return False
    return len(endings) == 1


def ordered_on_purpose(text: str) -> bool:
    """Whether the prompt speaks of steps, numbers or an order, so that its numbering carries meaning."""
    return (
        re.search(
            r"\b(?:steps?|number(?:s|ed)?|order|sequence|rank\w*|in turn|rules? \d|items? \d)\b", text.lower()
        )
        is not None
    )
