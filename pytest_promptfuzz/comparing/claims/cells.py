"""Cells of tables and fields ("Contact: Anna") whose values changed places, or hold another figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.claims.residue import unmatched
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.values.figures import agree

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from pytest_promptfuzz.comparing.reading.answer import Answer
    from pytest_promptfuzz.comparing.reading.pieces import Piece
    from pytest_promptfuzz.comparing.values.figures import Figure

_LABEL, _VALUE = 6, 8
"""Tokens up to which what stands before a colon is a label, and what stands behind it a value."""


_CLASSES = word_set(
    "category class classification priority severity rating type status sentiment label level"
)
"""Labels whose values are taken from a closed set, so that a rewording keeps them."""


class _Cell(NamedTuple):
    label: str
    value: str
    tokens: list[Piece]

    @property
    def words(self) -> tuple[Hashable, ...]:
        return tuple(token.key for token in self.tokens if token.kind != "mark")

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(token.figure for token in self.tokens if token.figure is not None)


def changed_cell(baseline: Answer, response: Answer) -> Finding | None:
    """A cell that holds in the response what another held in the baseline, another figure of the measure, or class."""
    before, after = _cells(baseline), _cells(response)
    changed = {key: (before[key], after[key]) for key in before if key in after}
    changed = {key: (old, new) for key, (old, new) in changed.items() if old.words != new.words}
    for old, new in changed.values():
        if _other_figure(old.figures, new.figures):
            return Finding("numbers", "contradiction", f"in {old.label!r}, {old.value} became {new.value}")
    taken = {new.words: new for _, new in changed.values()}
    for old, new in changed.values():
        other = taken.get(old.words)
        if other is not None and any(new.words == each.words for each, _ in changed.values()):
            return Finding(
                "fields", "contradiction", f"{old.value} of {old.label!r} and {new.value} changed places"
            )
    for one, two, which in ((response, baseline, "baseline"), (baseline, response, "response")):
        for key, cell in _new_classes(one, two):
            told = f"in {cell.label!r}, the {which} does not name {cell.value}"
            if key in changed:
                told = f"in {cell.label!r}, {before[key].value} became {after[key].value}"
            return Finding("fields", "contradiction", told)
    return None


def _new_classes(one: Answer, two: Answer) -> Iterator[tuple[frozenset[Hashable], _Cell]]:
    """Where a label stands for a class ("Category: Billing") of which the other answer has no word."""
    for key, cell in _cells(one).items():
        if _CLASSES.isdisjoint(cell.label.lower().split()):
            continue
        telling = {token.text for token in cell.tokens if token.kind == "word" and token.telling}
        if telling and telling.issubset(unmatched(one, two)):
            yield key, cell


def _other_figure(old: tuple[Figure, ...], new: tuple[Figure, ...]) -> bool:
    """Whether one of as many figures became another of its measure."""
    if len(old) != len(new):
        return False
    return any(
        one.measure == two.measure and (not agree(one, two) or one.negative != two.negative)
        for one, two in zip(old, new, strict=True)
    )


def _cells(answer: Answer) -> dict[frozenset[Hashable], _Cell]:
    """The labelled values of an answer by the words of their labels; none for a label that stands twice."""
    found: dict[frozenset[Hashable], _Cell] = {}
    twice: set[frozenset[Hashable]] = set()
    for statement in answer.statements:
        if ":" not in statement.text:
            continue
        colon = next((at for at, piece in enumerate(statement.pieces) if piece.text == ":"), None)
        if colon is None or not 0 < colon <= _LABEL:
            continue
        label, value = statement.pieces[:colon], statement.pieces[colon + 1 :]
        if not value or len(value) > _VALUE:
            continue
        words = (token.key for token in label if token.kind != "mark")
        key = frozenset((*words, ("under", statement.heading.casefold())))
        if key in found:
            twice.add(key)
        text = statement.text.partition(":")
        found[key] = _Cell(text[0].strip(), text[2].strip(), value)
    return {key: cell for key, cell in found.items() if key not in twice}
