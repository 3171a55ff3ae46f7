"""Where the parts of a prompt stand: documents, output instructions, task and text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.apart import text_pulled
from pytest_promptfuzz.mutations.composition import compose_edits
from pytest_promptfuzz.mutations.compound import changed_draft
from pytest_promptfuzz.mutations.documents import documents
from pytest_promptfuzz.mutations.edits import Edit, Ref
from pytest_promptfuzz.mutations.operator import operator
from pytest_promptfuzz.mutations.operators.blocks import context_first, context_last, moved
from pytest_promptfuzz.mutations.operators.lists import bullet_reorder
from pytest_promptfuzz.mutations.order import shuffles
from pytest_promptfuzz.mutations.outputs import sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.outputs import Section, Unit
    from pytest_promptfuzz.mutations.rng import Rng

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
