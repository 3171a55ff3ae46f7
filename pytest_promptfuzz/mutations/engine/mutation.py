"""`Mutation`: edits over an original text, with operators, severity, ID, and the relation that must hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.mutations.engine.edits import (
    Edit,
    Sign,
    Tokens,
    apply_edits,
    check_edits,
    edits_from_json,
    edits_to_json,
    touched_words,
    word_diff,
)
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt

if TYPE_CHECKING:
    from typing_extensions import Self


Dimension = Literal[
    "lexical",
    "semantic",
    "structural",
    "format",
    "augmentation",
    "padding",
    "multilingual",
    "math",
    "code",
    "control",
]
Preserves = Literal["yes", "conditional", "no"]
Relation = Literal["invariance", "format", "language", "renaming", "not-worse", "must-change"]

DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
PRESERVES: tuple[Preserves, ...] = get_args(Preserves)
RELATIONS: tuple[Relation, ...] = get_args(Relation)


@lru_cache(maxsize=4096)  # rounding is slow, and many mutations touch the same share of words
def severity_of(declared: float, change_rate: float) -> float:
    """The severity of one mutation, 0 to 1: ``declared * (1 + change_rate) / 2``, to four places.

    The declared severity is what an operator does to a prompt when it touches every word (0.1 to 0.4 for lexical,
    0.3 to 0.5 for semantic, 0.5 to 0.7 for structural change); touching next to none of a long one is half as severe.
    """
    return round(declared * (1.0 + change_rate) / 2.0, 4)


class _MadeLate:
    """What is made of a mutation when it is first asked for, and kept."""

    __slots__ = ("id", "prompt", "text")

    text: str
    id: str
    prompt: Prompt

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in _MadeLate.__slots__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            object.__setattr__(self, name, getattr(self, f"_{name}")())
            return object.__getattribute__(self, name)


@dataclass(frozen=True, slots=True)
class Mutation(_MadeLate):
    """A changed prompt.

    Attributes:
        original: The text the edits apply to.
        edits: In ascending order, not overlapping.
        operators: ``name@version`` of each operator that made an edit, in order of application.
        dimension: The kind of change.
        severity: 0 (invisible) to 1 (everything changed), computed from the edits.
        preserves: Whether the meaning is kept: ``yes``, ``conditional`` or ``no``.
        relation: What must hold between the baseline and the response.
        source: The prompt that ``original`` is the text of, when it was not a plain string. Two mutations that
            differ here alone are equal.
        text: The changed text.
        id: 12 hexadecimal digits of sha256 over the original and the edits.
        prompt: The changed prompt: of the kind of ``source`` (a chat stays a chat), else a text prompt. Where an edit
            crosses from one message of a chat into another, whoever asks for it gets a ``UsageError``.
    """

    original: str
    edits: tuple[Edit, ...]
    operators: tuple[str, ...]
    dimension: Dimension
    severity: float
    preserves: Preserves
    relation: Relation = "invariance"
    source: Prompt | None = field(default=None, repr=False, compare=False)

    def _text(self) -> str:
        return apply_edits(self.original, self.edits)

    def _id(self) -> str:
        content = json.dumps([self.original, edits_to_json(self.edits)], separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    def _prompt(self) -> Prompt:
        source = self.source if self.source is not None else as_prompt(self.original)
        return source.rebuild(self._rebuilt, whole=self.text)

    @property
    def change_rate(self) -> float:
        """The share of the original's words that are changed, removed or moved, 0 to 1.

        White space alone and added words touch none. Of segments that change places, those count that must move
        for the rest to stay.
        """
        tokens = Tokens(self.original)
        return touched_words(self.edits, tokens) / (len(tokens) or 1)

    def diff(self) -> list[tuple[Sign, str]]:
        """The change in whole words: ``("=", kept)``, ``("-", removed)`` and ``("+", added)`` pieces in order.

        The ``=`` and ``-`` pieces join to the original, ``=`` and ``+`` to the changed text.
        """
        return word_diff(self.original, self.edits)

    def _rebuilt(self, start: int, end: int) -> str:
        """The changed text of ``original[start:end]``; messages never abut, so an edit is in one or in none."""
        inner: list[Edit] = []
        for edit in self.edits:
            if start <= edit.start and edit.end <= end:
                inner.append(Edit(edit.start - start, edit.end - start, (edit.replacement(self.original),)))
            elif edit.start < end and edit.end > start:
                raise UsageError(f"The edit ({edit.start}, {edit.end}) crosses the border of a message.")
        return apply_edits(self.original[start:end], inner)

    def to_json(self) -> dict[str, object]:
        """The mutation as JSON-able data, without ``source``; :meth:`from_json` is its inverse."""
        return {
            "original": self.original,
            "edits": edits_to_json(self.edits),
            "operators": list(self.operators),
            "dimension": self.dimension,
            "severity": self.severity,
            "preserves": self.preserves,
            "relation": self.relation,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object], *, source: Prompt | None = None) -> Self:
        """The mutation that :meth:`to_json` wrote.

        Args:
            data: What was stored.
            source: The prompt it belongs to, whose text must be the stored original.

        Raises:
            UsageError: A field is missing or of the wrong kind, an edit is out of range, or ``source`` has
                another text.
        """
        if not isinstance(data, Mapping):
            raise UsageError(f"A stored mutation is a mapping, not {type(data).__name__}.")
        missing = [name for name in _STORED if name not in data]
        if missing:
            raise UsageError(f"A stored mutation lacks {', '.join(missing)}.")
        original, operators, severity = data["original"], data["operators"], data["severity"]
        if not isinstance(original, str):
            raise UsageError(f"A stored mutation's original is a str, not {type(original).__name__}.")
        if not isinstance(operators, list | tuple) or not all(isinstance(each, str) for each in operators):
            raise UsageError(f"A stored mutation's operators are a list of names, not {operators!r:.80}.")
        if isinstance(severity, bool) or not isinstance(severity, int | float) or not 0 <= severity <= 1:
            raise UsageError(f"A stored mutation's severity is a number from 0 to 1, not {severity!r:.80}.")
        if source is not None and source.text != original:
            raise UsageError(
                "The stored mutation belongs to another prompt: the text of source is not its original."
            )
        edits = edits_from_json(data["edits"])
        check_edits(edits, len(original), source="A stored mutation")
        _check_size(edits, len(original))
        return cls(
            original,
            edits,
            tuple(operators),
            _one_of(DIMENSIONS, data["dimension"], "dimension"),
            float(severity),
            _one_of(PRESERVES, data["preserves"], "preserves"),
            _one_of(RELATIONS, data["relation"], "relation"),
            source=source,
        )


def _check_size(edits: Sequence[Edit], length: int) -> None:
    """Refuse edits that quote the original so often that a short line makes a text without end.

    Raises:
        UsageError: They do.
    """
    parts = [part for edit in edits for part in edit.parts]
    size = sum(len(part) if isinstance(part, str) else part.end - part.start for part in parts)
    if size > _LONGEST + 100 * length:
        raise UsageError(
            f"A stored mutation makes {size:,} characters of {length:,}, and was not read. Make the plan anew."
        )


_LONGEST = 4_000_000  # characters that a mutation may add to a short text
_STORED = ("original", "edits", "operators", "dimension", "severity", "preserves", "relation")

Choice = TypeVar("Choice", bound=str)


def _one_of(known: tuple[Choice, ...], value: object, name: str) -> Choice:
    for each in known:
        if each == value:
            return each
    raise UsageError(f"A stored mutation's {name} is {value!r}. {nearest(str(value), known)}")
