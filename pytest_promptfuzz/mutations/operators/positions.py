"""Operators that move parts of a prompt: instructions, the text they speak of, documents, output instructions."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_promptfuzz.data.english_words import IMPERATIVES
from pytest_promptfuzz.mutations.analysis.draft import heard, in_sections, tokens_of
from pytest_promptfuzz.mutations.analysis.instructions import titles
from pytest_promptfuzz.mutations.analysis.order import places, shuffles
from pytest_promptfuzz.mutations.analysis.prompt_blocks import documents, sections
from pytest_promptfuzz.mutations.engine.edits import Edit, Ref, compose_edits, reorder, replace
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.mutations.engine.registry import changed_draft
from pytest_promptfuzz.mutations.operators.sentences import bullet_reorder
from pytest_promptfuzz.text.expressions import expression, like, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line
    from pytest_promptfuzz.mutations.analysis.prompt_blocks import Section, Unit
    from pytest_promptfuzz.randomness import Rng


class _MovableBlock(NamedTuple):
    start: int
    end: int
    role: Literal["text", "data", "cue"]


_POINTS = words("preceding previous next earlier later follows here aforementioned beginning end")
_INSTRUCTS = words("do don never always if when unless you your please only not make must")
_ADDRESSES = words("you your please")
_TOKENS = expression("[a-z]+")
_DOWN = expression(
    r"[Ff]ollowing(?<=\b[Tt]he .ollowing)(?= [A-Za-z]+\b(?!s? (?:steps|rules|format|labels|categories)))"
    r"|(?:[Bb]elow|BELOW)\b(?<=\b.....)(?! \x00)",
    re.ASCII,
)
_FOLLOWING = expression(r"following\b(?<=\bfollowing)")
_LISTED = expression(r"\n[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")
_MOST = 8  # words that point at the data
_UP = expression(r"(?:[Aa]bove|ABOVE)\b(?<=\b.....)(?! \x00)", re.ASCII)
# A prompt without these words is not searched for what points.
_DOWNWARD = words("following below")
_UPWARD = words("above")
_ABOVE_NOUN = expression(
    r"above ([a-z]+)(?=[.,;:!?\n]|$| (?:as|into|in|and|or|to|for|with|by|using|is|are|that|without)\b)"
)
# "which floor the lift in the log above reaches": it belongs to the noun before it, not to the verb behind it.
_NOUN_ABOVE = expression(
    r"\b(?:the|this|these|those|each|every|all)(?: (?!(?:the|this|these|those|all)\b)[a-z]+){1,3} \Z",
    re.ASCII | re.IGNORECASE,
)


def _blocks(draft: Draft) -> list[list[_MovableBlock]]:
    """The blocks of each section, split at blank lines and where instructions turn to data."""
    found: list[list[_MovableBlock]] = []
    blocks: list[_MovableBlock] = []
    section = 0
    previous = "blank"
    titled = draft.once(titles)
    for line in draft.lines:
        if line.section != section:
            found.append(blocks)
            blocks, section, previous = [], line.section, "blank"
        if line.kind == "blank":
            previous = previous if previous in {"lead", "heading"} else "blank"
            continue
        kind = "heading" if line.start in titled else line.kind
        role: Literal["text", "data", "cue"] = "data" if kind in {"field", "block", "lead"} else "text"
        start = line.start + line.indent
        joins = bool(blocks) and (
            previous in {"lead", "heading"} or (previous != "blank" and role == blocks[-1].role)
        )
        if kind in {"lead", "heading"} and previous not in {"lead", "heading"}:
            joins = False
        if previous == "lead" and kind in {"bullet", "number"}:
            blocks[-1] = _MovableBlock(blocks[-1].start, line.end, "text")  # a list of rules or tools
        elif joins:
            kept = role if previous == "heading" else blocks[-1].role  # a heading is of what it heads
            blocks[-1] = _MovableBlock(blocks[-1].start, line.end, kept)
        else:
            blocks.append(_MovableBlock(start, line.end, role))
        previous = kind
    # "Label:" or "## Label" at the end: the answer is to follow it.
    if (
        blocks
        and previous in {"lead", "heading"}
        and "\n" not in draft.text[blocks[-1].start : blocks[-1].end]
    ):
        blocks[-1] = blocks[-1]._replace(role="cue")
    found.append(blocks)
    return found


def moved(draft: Draft, *, first: bool, mirror: bool = False) -> Iterator[list[Edit]]:
    """The one data block of a section put before or after its instructions, with the words that point at it.

    Args:
        draft: The prompt.
        first: Before the instructions, otherwise after them.
        mirror: Whether ``the above text`` may become ``the text below``; otherwise it keeps the data where it is.
    """
    own = draft.once(heard)
    up, down = not _UPWARD.isdisjoint(own), not _DOWNWARD.isdisjoint(own)
    for blocks in draft.once(_blocks):
        data = [index for index, block in enumerate(blocks) if block.role == "data"]
        last = len(blocks) - (bool(blocks) and blocks[-1].role == "cue")
        if len(data) != 1 or last < 2:
            continue
        rest = [index for index in range(last) if index != data[0]]
        order = [*data, *rest] if first else [*rest, *data]
        if order == sorted(order):
            continue
        texts = [draft.free[blocks[index].start : blocks[index].end] for index in rest]
        whole = "\n".join(texts).lower()
        if not _POINTS.isdisjoint(own) and not _POINTS.isdisjoint(tokens_of(whole)):
            continue
        if (up and _UP.search(whole)) if first else (down and _DOWN.search(whole)):
            continue
        if down and any(
            _DOWN.search(line) for line in whole.split("\n") if line.rstrip(" .\t\x00").endswith(":")
        ):
            continue  # it points at the list under it or the text after it, which stays there
        if _unlabelled(draft, blocks, data[0]):
            continue  # it would leave its heading empty, or stand under one that is not its own
        if _goes_on(draft, blocks[data[0]], [blocks[index] for index in rest if index > data[0]]):
            continue
        yield from _rotation(draft, blocks[:last], order, data[0], first=first, mirror=mirror)


def _unlabelled(draft: Draft, blocks: Sequence[_MovableBlock], data: int) -> bool:
    """Whether data is a mere line across the page, or opens with no label of its own in a section that has headings."""
    start, end, _ = blocks[data]
    if not draft.text[start:end].strip("-*_=~ \t\r\n"):
        return True
    titled = draft.once(titles)
    heads = [line for line in draft.lines if line.kind == "heading" or line.start in titled]
    if not any(blocks[0].start <= line.end and line.start < blocks[-1].end for line in heads):
        return False
    opening = draft.free[start:end].partition("\n")[0]
    return ":" not in opening and all(line.start + line.indent != start for line in heads)


def _goes_on(draft: Draft, data: _MovableBlock, after: Sequence[_MovableBlock]) -> bool:
    """Whether the paragraphs after data may belong to it: it is no slot but text, and they do not instruct."""
    lines = draft.free[data.start : data.end].lower().split("\n")
    if not any(_TOKENS.search(line.partition(":")[2] if ":" in line else line) for line in lines):
        return False
    opened = (_TOKENS.search(draft.free[block.start : block.end].lower()) for block in after)
    heads = [match.group() for match in opened if match is not None]
    return any(head not in IMPERATIVES and head not in _INSTRUCTS for head in heads)


def _rotation(
    draft: Draft, blocks: list[_MovableBlock], order: list[int], data: int, *, first: bool, mirror: bool
) -> Iterator[list[Edit]]:
    """The reordering, and ``following`` or ``below`` turned to ``above`` where the data now stands above."""
    edit = reorder([(block.start, block.end) for block in blocks], order)
    pattern, told, new = (_DOWN, _DOWNWARD, "above") if first else (_UP, _UPWARD, "below")
    own = draft.once(heard)
    swaps = []
    for index, block in enumerate(() if told.isdisjoint(own) else blocks):
        if index != data:
            for match in pattern.finditer(draft.free, block.start, block.end):
                if not first and match.group().lower() == "above" and draft.free[match.end() :][:1] == " ":
                    after = draft.free[match.end() + 1 : match.end() + 2]
                    if after.isalpha() and not _NOUN_ABOVE.search(draft.free, block.start, match.start()):
                        noun = _ABOVE_NOUN.match(draft.free, match.start()) if mirror else None
                        if noun is None:
                            return  # "the above text" has no mirror image with "below"
                        swaps.append((*noun.span(), noun[1] + " below"))
                        continue
                swaps.append((match.start(), match.end(), like(match.group(), new)))
    if len(swaps) > _MOST or not all(_means(draft, blocks, data, swap, first=first) for swap in swaps):
        return
    if not swaps and "following" in own and _FOLLOWING.search(draft.free.lower()):
        return
    yield [_with_swaps(edit, swaps)]


def _means(
    draft: Draft, blocks: Sequence[_MovableBlock], data: int, swap: tuple[int, int, str], *, first: bool
) -> bool:
    """Whether words that point at a place mean the data: they name it, or nothing else is there to be meant."""
    start, end, _ = swap
    block = next(number for number, each in enumerate(blocks) if each.start <= start < each.end)
    free = draft.free
    near = tokens_of(free[max(0, start - 40) : start].lower())[-2:]
    near += tokens_of(free[start:end].lower())
    near += tokens_of(free[end : end + 40].lower())[:2]
    named = {word.rstrip("s") for word in near if len(word) > 3} - {"below", "above", "following"}
    head = (
        draft.text[blocks[data].start : min(blocks[data].end, blocks[data].start + 200)]
        .partition("\n\n")[0]
        .lower()
    )
    if not named.isdisjoint([word.rstrip("s") for word in tokens_of(head)]):
        return True
    if first and _LISTED.search(free, end, blocks[block].end):
        return False
    others = blocks[block + 1 :] if first else blocks[:block]
    for each in others:
        if each is not blocks[data] and each.role != "cue":
            said = tokens_of(free[each.start : each.end].lower())
            if said[:1] and (said[0] in IMPERATIVES or said[0] in _INSTRUCTS):
                continue
            if _ADDRESSES.isdisjoint(said):
                return False
    return True


def _with_swaps(edit: Edit, swaps: list[tuple[int, int, str]]) -> Edit:
    parts: list[str | Ref] = []
    for part in edit.parts:
        if isinstance(part, str):
            parts.append(part)
            continue
        position = part.start
        for start, end, new in swaps:
            if position <= start and end <= part.end:
                parts += (Ref(position, start), new)
                position = end
        parts.append(Ref(position, part.end))
    return Edit(edit.start, edit.end, tuple(parts))


@operator(
    "context-first",
    dimension="structural",
    severity=0.7,
    version=4,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S5"),
    example=("Classify the following text.\n\nText: {text}", "Text: {text}\n\nClassify the above text."),
    trusted=True,
)
def context_first(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """The text an instruction speaks of is put before it."""
    return iter(draft.once(_text_first))


@operator(
    "context-last",
    dimension="structural",
    severity=0.7,
    version=4,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S5"),
    example=("Text: {text}\n\nClassify the text above.", "Classify the text below.\n\nText: {text}"),
    trusted=True,
)
def context_last(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """The text an instruction speaks of is put after it."""
    return iter(draft.once(_text_last))


def _text_first(draft: Draft) -> list[list[Edit]]:
    return list(moved(draft, first=True))


def _text_last(draft: Draft) -> list[list[Edit]]:
    return list(moved(draft, first=False))


# Tasks that end in the text they are about: ``Classify the following review: {review}``.


class _TaskPlace(NamedTuple):
    start: int
    colon: int
    data: tuple[int, int]
    end: int


_INLINE = expression(r"[^\n:]*[^\s:]: ?(?P<data>\x00+)\.?[ \t]*$")
_OPENERS = ("{", "$", "<", "%", '"', "“", "«", "'", "`", "‘", "[[", "~~~")
_TEXT = (
    r"texts?|reviews?|tweets?|articles?|passages?|paragraphs?|sentences?|messages?|e-?mails?|letters?|tickets?|comments?"
    r"|documents?|quer(?:y|ies)|questions?|statements?|posts?|stor(?:y|ies)|inputs?|content|context|transcript|complaint"
    r"|conversation|dialogue|dialog|report|notes|essay|poem|headline|feedback|abstract|product|code|function|snippet"
)
_POINTS_AT = expression(
    rf"\b(?:(?:the (?P<down>following)|this|these) (?:[a-z]+ ){{0,2}}?(?:{_TEXT})\b"
    rf"|the (?:[a-z]+ ){{0,2}}?(?:{_TEXT}) (?P<below>below)\b|the (?:[a-z]+ ){{0,2}}?(?:{_TEXT})$)",
    re.IGNORECASE,
)
_LISTS = expression(
    r"\b(?:categor\w+|labels?|options?|classes|list|keywords|topics|formats?|tags|following|schema)\b"
)


def text_pulled(draft: Draft) -> Iterator[list[Edit]]:
    """The text that a task ends in, put before everything else in its section; the task then ends in a full stop."""
    for lines in in_sections(line for line in draft.lines if line.kind != "blank"):
        tasks = [task for number in range(len(lines)) for task in _task(draft, lines, number)]
        if len(tasks) == 1 and _alone(lines, tasks[0]):
            edits = _pulled(draft, lines, tasks[0])
            if edits:
                yield edits


def _task(draft: Draft, lines: Sequence[Line], number: int) -> Iterator[_TaskPlace]:
    """The task that a line ends in with its text, on the same line or on those after it."""
    line = lines[number]
    text = draft.free[line.start : line.end].rstrip()
    if line.kind in {"prose", "field"}:
        match = _INLINE.match(text)
        if match is None:
            return
        colon = line.start + text.rindex(":")
        data = (line.start + match.start("data"), line.start + match.end("data"))
        end = line.start + len(text)
    elif line.kind == "lead" and text.endswith(":"):
        colon = line.start + len(text) - 1
        stop = number + 1
        while stop < len(lines) and lines[stop].kind == "block":
            stop += 1
        if stop == number + 1:
            return
        data = (lines[number + 1].start + lines[number + 1].indent, lines[stop - 1].end)
        end = data[1]
    else:
        return
    if not draft.text.startswith(_OPENERS, data[0]):
        return  # labels or numbers, which are no text
    place = bisect_right(draft.sentences, colon, key=itemgetter(0)) - 1
    sentence = draft.sentences[place] if place >= 0 else None
    if sentence is not None and colon < sentence.end and _opens(draft, sentence.start, colon):
        yield _TaskPlace(sentence.start, colon, data, end)


def _opens(draft: Draft, start: int, colon: int) -> bool:
    """Whether ``[start, colon)`` is an instruction."""
    words = re.findall("[a-z]+", draft.free[start:colon].lower())[:2]
    return bool(words) and (words[0] in IMPERATIVES or (words[0] == "please" and words[-1] in IMPERATIVES))


def _alone(lines: Sequence[Line], task: _TaskPlace) -> bool:
    """Whether a section holds no other data: what pairs with what would be unsure."""
    return all(
        task.start <= line.end and line.start < task.end
        for line in lines
        if line.kind in {"block", "field", "table"}
    )


def _pulled(draft: Draft, lines: Sequence[Line], task: _TaskPlace) -> list[Edit]:
    start, colon, data, end = task
    said = draft.free[start:colon].lower()
    match = _POINTS_AT.search(said)
    if match is None or _LISTS.search(said, match.end()):
        return []
    swap = next((match.span(name) for name in ("down", "below") if match[name]), None)
    rest = said if swap is None else said[: swap[0]] + said[swap[1] :]
    first = lines[0].start + lines[0].indent
    if any(map(places, (rest, draft.free[first:start].lower(), draft.free[end : lines[-1].end].lower()))):
        return []
    gap = "\r\n\r\n" if "\r\n" in draft.text else "\n\n"
    edits = [Edit(first, first, (Ref(*data), gap))]
    if swap is not None:
        edits.append(replace(start + swap[0], start + swap[1], "above"))
    edits.append(replace(colon, end, "."))
    return edits


# Where the parts of a prompt stand: documents, output instructions, task and text.


_STOPS = (".", "!", "?", '."', ".”")


@operator(
    "document-reorder",
    dimension="structural",
    severity=0.6,
    preserves="conditional",
    languages=("en",),
    sources=("S2",),
    example=(
        "Document 1: Cats purr.\nDocument 2: Dogs bark.\n\nQuestion: {question}",
        "Document 2: Dogs bark.\nDocument 1: Cats purr.\n\nQuestion: {question}",
    ),
    trusted=True,
)
def document_reorder(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Documents side by side in a random order, labels and all; not where their order is spoken of."""
    return shuffles(draft.once(documents), rng)


@operator(
    "output-instructions-first",
    dimension="structural",
    severity=0.5,
    version=4,
    preserves="conditional",
    languages=("en",),
    sources=("S2",),
    example=(
        "Classify the ticket. Return only the label.\n\nTicket: {ticket}",
        "Return only the label. Classify the ticket.\n\nTicket: {ticket}",
    ),
    trusted=True,
)
def output_instructions_first(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """What is said of the answer's form put at the beginning (all, then half); not where it leans on its place."""
    choices = []
    for section in draft.once(sections):
        units = list(section.units)
        position = section.start
        while units and units[0].start == position:
            position = units.pop(0).cut_end  # stands there already
        if units:
            choices.append((section, units))
    for section, units in _drawn(choices, rng):
        yield _brought(draft, section, units, first=True)


@operator(
    "output-instructions-last",
    dimension="structural",
    severity=0.5,
    version=4,
    preserves="conditional",
    languages=("en",),
    sources=("S2",),
    example=(
        "Classify the ticket. Return only the label.\n\nTicket: {ticket}\n\nLabel:",
        "Classify the ticket.\n\nTicket: {ticket}\n\nReturn only the label.\n\nLabel:",
    ),
    trusted=True,
)
def output_instructions_last(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """What is said of the answer's form put at the end (all, then half); a cue such as ``Label:`` stays last."""
    choices = []
    for section in draft.once(sections):
        units = [each for each in section.units if not (section.cued and each.kind == "section")]
        position = section.end
        while units and not draft.text[units[-1].end : position].strip():
            position = units.pop().start  # stands there already
        if units and section.end >= 0:
            choices.append((section, units))
    for section, units in _drawn(choices, rng):
        yield _brought(draft, section, units, first=False)


def _drawn(choices: Sequence[tuple[Section, list[Unit]]], rng: Rng) -> Iterator[tuple[Section, list[Unit]]]:
    """All units of each section, then half of them; ``intensity`` sets another share or a number."""
    for section, units in rng.shuffled(choices):
        yield section, rng.some(units, 1.0)
    many = [each for each in choices if len(each[1]) > 1]
    while many:
        section, units = rng.choice(many)
        yield section, rng.some(units, 0.5)


def _brought(draft: Draft, section: Section, units: list[Unit], *, first: bool) -> list[Edit]:
    """The units taken out and put at one end of their section, joined as the text around them is."""
    text = draft.text
    line = "\r\n" if "\r\n" in text else "\n"
    place = section.start if first else section.end
    home = section.first if first else section.last
    lines = any(each.kind != "sentence" for each in units)
    parts: list[str | Ref] = []
    for each in units:
        if parts:
            parts.append(line * 2 if lines else " ")
        parts.append(Ref(each.start, each.end))
    ends_at = units[-1].end if first else place
    apart = line * 2
    if not lines and home >= 0 and all(each.paragraph == home for each in units):
        stopped = text[:ends_at].endswith(_STOPS)
        inline = "\n" not in text[units[0].cut_start : units[0].cut_end]
        apart = " " if stopped and inline else line
    edits = _cuts(draft, units)
    put = Edit(place, place, (*parts, apart) if first else (apart, *parts))
    return [put, *edits] if first else [*edits, put]


def _cuts(draft: Draft, units: list[Unit]) -> list[Edit]:
    """What is taken out with the units, neighbours at once."""
    spans: list[tuple[int, int]] = []
    for each in units:
        if spans and each.cut_start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], each.cut_end)
        else:
            spans.append((each.cut_start, each.cut_end))
    return [Edit(*_tidied(draft, *span), ()) for span in spans]


def _tidied(draft: Draft, start: int, end: int) -> tuple[int, int]:
    """A cut with the white space that it would leave at the end of a line, or as a line of its own."""
    free = draft.free
    left, right = _back(free, start, " \t"), _on(free, end, " \t\r")
    if free[right : right + 1] not in {"", "\n"}:
        return start, end
    if left and free[left - 1] != "\n":
        return left, end
    following = _on(free, right, " \t\r\n")
    if following < len(free) and not any(wall == following for wall, _ in draft.walls):
        return left, free.rfind("\n", right, following) + 1
    return _back(free, left, " \t\r\n"), end


def _back(text: str, position: int, signs: str) -> int:
    """Where the run of ``signs`` begins that ends at ``position``."""
    while position and text[position - 1] in signs:
        position -= 1
    return position


def _on(text: str, position: int, signs: str) -> int:
    """Where the run of ``signs`` ends that begins at ``position``."""
    while position < len(text) and text[position] in signs:
        position += 1
    return position


@operator(
    "text-first",
    dimension="structural",
    severity=0.7,
    version=3,
    preserves="conditional",
    languages=("en",),
    sources=("S5",),
    example=("Classify the following review:\n\n{review}", "{review}\n\nClassify the above review."),
    trusted=True,
    default=False,
)
def text_first(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """The text a task is about put before the task, with the words that point at it."""
    yield from text_pulled(draft)
    yield from moved(draft, first=True)


@operator(
    "task-first",
    dimension="structural",
    severity=0.7,
    version=4,
    preserves="conditional",
    languages=("en",),
    sources=("S5",),
    example=("{review}\n\nClassify the above review.", "Classify the review below.\n\n{review}"),
    trusted=True,
    default=False,
)
def task_first(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """A task put before the text it is about, with the words that point at it."""
    yield from moved(draft, first=False, mirror=True)


_MOVES = (
    (document_reorder,),
    (output_instructions_first, output_instructions_last),
    (context_first, context_last),
    (bullet_reorder,),
)
_TRIES = 4
_KEPT = 16  # drafts of changed texts


@operator(
    "positional-mix",
    dimension="structural",
    severity=0.7,
    version=5,
    preserves="conditional",
    languages=("en",),
    sources=("S2",),
    example=(
        "Count them. Return only a number.\n\nDocument 1: Ten cats.\nDocument 2: Six dogs.\n\nQuestion: {question}",
        "Count them.\n\nDocument 2: Six dogs.\nDocument 1: Ten cats.\n\nQuestion: {question}\n\nReturn only a number.",
    ),
    trusted=True,
    default=False,
)
def positional_mix(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Documents, bullets, context and output instructions moved, two of these or more at once."""
    failed = 0
    changed: dict[tuple[Edit, ...], Draft] = {}  # tries begin alike, and reading a text is what takes time
    while failed < _TRIES:
        edits: tuple[Edit, ...] = ()
        acted = 0
        if len(changed) > _KEPT:
            changed.clear()
        for group in rng.shuffled(_MOVES):
            if edits not in changed:
                changed[edits] = changed_draft(draft, edits) if edits else draft
            for each in rng.shuffled(group):
                made = next(each.proposals(changed[edits], rng), ())
                if made:
                    edits = compose_edits(draft.text, edits, made)
                    acted += 1
                    break
        if acted > 1 and edits:
            failed = 0
            yield list(edits)
        else:
            failed += 1
