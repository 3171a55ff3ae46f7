"""Operators on the options of a question (``A) Paris``): their order, their labels, and ruling them out one by one.

What the label of an answer was called before is known, so that answers and gold answers are compared as they were.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.data.english_words import IMPERATIVES
from pytest_promptfuzz.data.tables import listed
from pytest_promptfuzz.mutations.analysis.answer_format import beginning, instructions_end
from pytest_promptfuzz.mutations.engine.edits import Edit, insert, reorder, replace
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.randomness import Rng


class Option(NamedTuple):
    """One of the answers that a question offers.

    Attributes:
        label: Its letter or number.
        start: Where its label begins, with a bracket before it.
        label_end: Where the label ends, with what closes it.
        text: Where its text begins.
        end: Where its text ends.
    """

    label: str
    start: int
    label_end: int
    text: int
    end: int


class LabelStyle(NamedTuple):
    """How labels are written: what opens and closes them, and what they are."""

    opening: str
    kind: str
    closing: str


_LINE = expression(
    r"^[ \t]*(?P<mark>(?P<open>\(?)(?P<label>[A-Z]|[a-z]{1,4}|\d{1,2})(?P<close>[).:]))"
    r"[ \t]+(?P<text>[^\s][^\n]*?)[ \t]*\r?$",
    re.MULTILINE | re.ASCII,
)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_LABELS: Mapping[str, Callable[[int], str]] = {
    "upper": lambda number: chr(ord("A") + number),
    "lower": lambda number: chr(ord("a") + number),
    "digit": lambda number: str(number + 1),
    "roman": lambda number: _ROMAN[number],
}
_STYLES = (
    LabelStyle("", "digit", "."),
    LabelStyle("(", "upper", ")"),
    LabelStyle("", "upper", ")"),
    LabelStyle("", "lower", ")"),
    LabelStyle("", "upper", "."),
    LabelStyle("(", "digit", ")"),
    LabelStyle("", "roman", "."),
)
_MOST = len(_ROMAN)
_CHOICE = expression(
    r"\?|\b(?:which|choose|chosen|select|pick|options?|choices?|alternatives|answers?|correct)\b",
    re.IGNORECASE,
)
_NO_CHOICE = expression(
    r"\b(?:steps?|rules?|instructions?|in order|guidelines|requirements)\b", re.IGNORECASE
)
# An option that names others by their labels keeps its label; one that speaks of others at all keeps its place.
_OF_LABELS = expression(
    r"\b(?:(?:both|neither|either) (?:of )?\(?[A-Za-z\d]\)?(?: |,)|(?:options?|choices?|answers?) \(?[A-Z\d])\b"
    r"|\b[A-Z] (?:and|or|&) [A-Z]\b",
    re.ASCII,
)
_OF_OTHERS = expression(
    r"\b(?:of the (?:above|below|others?|options?)|the (?:above|preceding|previous|following))\b",
    re.IGNORECASE,
)


def options_in(text: str) -> tuple[Option, ...]:
    """The options of the one question that a text asks; none where it asks none, or more than one."""
    groups = [group for group in _groups(text) if _offered(text, group)]
    return tuple(groups[0]) if len(groups) == 1 else ()


def _groups(text: str) -> Iterator[list[Option]]:
    """Runs of lines whose labels count up from the first, all in one style."""
    group: list[Option] = []
    for match in _LINE.finditer(text):
        if group and text[group[-1].end : match.start("mark")].count("\n") > 2:
            yield group
            group = []
        option = Option(match["label"], *match.span("mark"), *match.span("text"))
        kinds = [
            kind
            for kind, label in _LABELS.items()
            if len(group) < _MOST and label(len(group)) == option.label
        ]
        if group and kinds and _like(text, group, option):
            group.append(option)
            continue
        if group:
            yield group
        group = [option] if option.label in {"A", "a", "1", "i"} else []
    if group:
        yield group


def _like(text: str, group: Sequence[Option], option: Option) -> bool:
    first = group[0]
    around = (text[first.start], text[first.label_end - 1])
    style = style_of(text, [*group, option])
    return (
        style is not None
        and (around[1] == text[option.label_end - 1])
        and ((around[0] == "(") == (text[option.start] == "("))
    )


def style_of(text: str, group: Sequence[Option]) -> LabelStyle | None:
    """How the labels of options are written; ``None`` where they follow no rule."""
    for kind, label in _LABELS.items():
        if len(group) <= _MOST and all(label(number) == each.label for number, each in enumerate(group)):
            opening = "(" if text[group[0].start] == "(" else ""
            return LabelStyle(opening, kind, text[group[0].label_end - 1])
    return None


def _offered(text: str, group: Sequence[Option]) -> bool:
    """Whether a list is one of answers to choose from, not of steps or rules."""
    before = text[: group[0].start].rstrip()
    nearest = before.rpartition("\n")[2]
    heads = [text[each.text : each.end].split(None, 1)[0].lower() for each in group]
    return (
        len(group) > 1
        and style_of(text, group) is not None
        and len({text[each.text : each.end] for each in group}) == len(group)
        and _CHOICE.search(nearest) is not None
        and _NO_CHOICE.search(nearest) is None
        and 2 * sum(head in IMPERATIVES for head in heads) <= len(heads)
    )


def _options(draft: Draft) -> tuple[Option, ...]:
    return options_in(draft.text)


@operator(
    "option-shuffle",
    dimension="structural",
    severity=0.6,
    preserves="conditional",
    relation="renaming",
    sources=("S4",),
    example=(
        "Which is a bird?\nA) a cat\nB) a crow\n\nAnswer with the letter.",
        "Which is a bird?\nA) a crow\nB) a cat\n\nAnswer with the letter.",
    ),
    trusted=True,
    default=False,
)
def option_shuffle(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """The options of a question in another order under the same labels; the label of the right one changes with it."""
    group = draft.once(_options)
    if len(group) < 2 or any(
        pattern.search(draft.text, each.text, each.end)
        for each in group
        for pattern in (_OF_LABELS, _OF_OTHERS)
    ):
        return
    spans = [(each.text, each.end) for each in group]
    kept = list(range(len(group)))
    while True:
        order = rng.shuffled(kept)
        yield [reorder(spans, order)] if order != kept else []


_LETTER = expression(r"\b(?P<word>letter|number)(?P<s>s?)\b(?! of\b)", re.IGNORECASE)
_ASKS = expression(
    r"\b(?:answer|option|choice|correct|respond|reply|choose|return|output|write|pick|only)\b", re.IGNORECASE
)


@operator(
    "option-labels",
    dimension="structural",
    severity=0.4,
    preserves="conditional",
    relation="renaming",
    touches=("label", "number", "quote", "list-marker"),
    sources=("S4",),
    example=(
        "Which is a bird?\nA) a cat\nB) a crow\n\nAnswer with the letter.",
        "Which is a bird?\n1. a cat\n2. a crow\n\nAnswer with the number.",
    ),
    trusted=True,
    default=False,
)
def option_labels(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """The labels of a question's options in another style (``1.``, ``(A)``, ``i.``), and where it names them."""
    group = draft.once(_options)
    old = style_of(draft.text, group) if group else None
    if old is None or any(_OF_LABELS.search(draft.text, each.text, each.end) for each in group):
        return
    for style in (_STYLES[0], *rng.shuffled(_STYLES[1:])):
        if style != old:
            yield _relabelled(draft, group, old, style)


def _relabelled(draft: Draft, group: Sequence[Option], old: LabelStyle, style: LabelStyle) -> list[Edit]:
    names = {each.label: _LABELS[style.kind](number) for number, each in enumerate(group)}
    edits = [
        replace(each.start, each.label_end, f"{style.opening}{names[each.label]}{style.closing}")
        for each in group
    ]
    inside = (group[0].start, group[-1].end)
    if style.kind != old.kind:
        edits += [
            replace(start, end, names[draft.text[start:end]])
            for start, end in _named(draft.text, inside, names)
        ]
        word = "number" if style.kind == "digit" else "letter"
        for match in _LETTER.finditer(draft.text):
            line = draft.text[draft.text.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
            if (
                not inside[0] <= match.start() < inside[1]
                and _ASKS.search(line)
                and match["word"].lower() != word
            ):
                edits.append(
                    replace(*match.span("word"), word if match[0][0].islower() else word.capitalize())
                )
    return sorted(edits)


def _named(text: str, inside: tuple[int, int], names: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    """Where the labels are named outside the options: in an enumeration, in brackets or quotes, after a cue."""
    any_label = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    label = rf"(?<![\w'’])(?:{any_label})(?![\w'’])"
    joint = r"(?:\s*[,/|–-]\s*(?:or |and )?|,? (?:or|and) )"
    listing = re.compile(
        rf"{label}(?:{joint}{label})+|[(\[\"'“]{label}[)\]\"'”]"
        rf"|\b(?:options?|answers?|choices?|letters?|labels?)(?: is)?:? {label}(?=[\s.,;:)]|$)",
    )
    single = re.compile(label)
    for match in listing.finditer(text):
        if not inside[0] <= match.start() < inside[1]:
            yield from (each.span() for each in single.finditer(text, *match.span()))


@operator(
    "process-of-elimination",
    dimension="augmentation",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S4",),
    example=(
        "Answer with one letter.\n\nWhich is a bird?\nA) a cat\nB) a crow",
        "Answer with one letter. Rule out the wrong options first.\n\nWhich is a bird?\nA) a cat\nB) a crow",
    ),
    trusted=True,
    default=False,
)
def process_of_elimination(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A sentence that tells to rule out wrong options is added to the instructions, where a question offers some."""
    if not draft.once(_options):
        return
    place = instructions_end(draft)
    inside = place is not None and draft.once(_options)[0].start <= place.at
    at, joint = beginning(draft)
    sentences = listed("mutations/additions.tsv")["elimination"]
    for each in (sentences[0], *rng.shuffled(sentences[1:])):
        yield [insert(at, f"{each}{joint}")] if place is None or inside else [place.added(each)]


# What an answer's label was called before.


def labels_before(mutation: Mutation) -> dict[str, str]:
    """What each label of an option stands for after a mutation: the new label of an option to its old one.

    Empty unless an operator on options had a part in the mutation.
    """
    if not any(each.startswith(("option-shuffle@", "option-labels@")) for each in mutation.operators):
        return {}
    texts = mutation.original, mutation.text
    old, new = ({text[each.text : each.end]: each.label for each in options_in(text)} for text in texts)
    return {new[text]: label for text, label in old.items() if text in new}
