"""What a factor of a design does at one of its levels: nothing, an operator's change, or one that the user gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, TypeAlias

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.edits import Edit, Ref, apply_edits, replace
from pytest_promptfuzz.mutations.operator import Operator
from pytest_promptfuzz.mutations.rng import Rng
from pytest_promptfuzz.mutations.sequence_diff import opcodes
from pytest_promptfuzz.mutations.specs import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.mutation import Dimension, Preserves, Relation


@dataclass(frozen=True, slots=True)
class Variant:
    """A piece of a prompt as the user words it at one level of a factor; never read as an operator's name.

    Attributes:
        text: The piece.
    """

    text: str


Given: TypeAlias = "str | Variant | Operator | Mapping[str, str] | Callable[[str], str] | None"

_SPACED = "[A-Za-z\u00aa-\u052f]"  # letters of scripts that part words by spaces
_SEVERITY = 0.4  # that of a rewording: what the user gives is taken for one


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a factor.

    Attributes:
        factor: The factor's name.
        place: What it is called in messages: ``factor 'tone', level 1``.
        root: What an operator's draws descend from.
        operator: What changes the prompt, when an operator does.
        pieces: Texts and what replaces them, when the user gives these.
        function: The user's function of the whole text, when there is one.
    """

    factor: str
    place: str
    root: bytes = b""
    operator: Operator | None = None
    pieces: tuple[tuple[str, str], ...] = ()
    function: Callable[[str], str] | None = None

    @property
    def changes(self) -> bool:
        """Whether it does anything."""
        return bool(self.operator or self.pieces or self.function)

    @property
    def ids(self) -> tuple[str, ...]:
        """What a mutation's ``operators`` say of it."""
        if not self.changes:
            return ()
        return self.operator.ids if self.operator is not None else (f"{self.factor}@given",)

    @property
    def dimension(self) -> Dimension:
        """That of its operator; what the user gives is semantic."""
        return self.operator.dimension if self.operator is not None else "semantic"

    @property
    def severity(self) -> float:
        """That of its operator, or of a rewording."""
        return self.operator.severity if self.operator is not None else _SEVERITY

    @property
    def preserves(self) -> Preserves:
        """That of its operator; whether the user's own change keeps the meaning is for the user to say."""
        return self.operator.preserves if self.operator is not None else "conditional"

    @property
    def relation(self) -> Relation:
        """That of its operator, or invariance."""
        return self.operator.relation if self.operator is not None else "invariance"

    def edits(self, draft: Draft, *, after: str = "") -> tuple[Edit, ...]:
        """What it does to a prompt.

        Args:
            draft: The prompt, or what other levels have made of it.
            after: What these were, for messages; empty for the prompt itself.

        Raises:
            UsageError: It does nothing there.
        """
        if self.operator is not None:
            purpose = f"factorial:{self.factor}:{self.operator.id}"
            rng = Rng(self.root, purpose, intensity=self.operator.intensity)
            for edits in self.operator.proposals(draft, rng):
                if apply_edits(draft.text, edits) != draft.text:
                    return edits
            where = f" after {after}" if after else ""
            raise UsageError(
                f"{self.place}: the operator {str(self.operator)!r} finds no place in this prompt{where} where it may"
                " act; choose another, or give the two wordings yourself."
            )
        if self.function is not None:
            return self._called(draft.text)
        return self._pieces(draft, after)

    def _called(self, text: str) -> tuple[Edit, ...]:
        assert self.function is not None
        made = self.function(text)
        if not isinstance(made, str) or not made.strip():
            raise UsageError(f"{self.place}: the function returned {made!r:.80}; return the changed text.")
        if made == text:
            raise UsageError(
                f"{self.place}: the function returned the text unchanged; a level must change it."
            )
        return _differences(text, made)

    def _pieces(self, draft: Draft, after: str) -> tuple[Edit, ...]:
        text = draft.text
        edits: list[Edit] = []
        for old, new in self.pieces:
            found = _places(text, old)
            if len(found) != 1:
                where = f" after {after}" if after else ""
                raise UsageError(
                    f"{self.place}: {old!r} stands {len(found)} times in the prompt{where}; give a piece that stands"
                    " there exactly once."
                )
            start = found[0]
            if any(start < end and first < start + len(old) for first, end in draft.walls):
                raise UsageError(f"{self.place}: {old!r} reaches into a message that may not change.")
            edits.append(replace(start, start + len(old), new))
        edits.sort()
        for one, other in pairwise(edits):
            if other.start < one.end:
                raise UsageError(
                    f"{self.place}: {text[one.start : one.end]!r} and {text[other.start : other.end]!r} overlap;"
                    " give pieces apart from each other."
                )
        return tuple(edits)


def _places(text: str, piece: str) -> list[int]:
    """Where a piece stands; as whole words where it begins or ends with a letter: no ``as`` in ``Please``."""
    begins = f"(?<!{_SPACED})" if re.match(_SPACED, piece[:1]) else ""
    ends = f"(?!{_SPACED})" if re.match(_SPACED, piece[-1:]) else ""
    return [match.start() for match in re.finditer(begins + re.escape(piece) + ends, text)]


def _differences(old: str, new: str) -> tuple[Edit, ...]:
    """Edits in whole words that make ``new`` of ``old``."""
    before, after = (re.findall(r"\S+|\s+", text) for text in (old, new))
    places = [0, *accumulate(map(len, before))]
    codes = opcodes(before, after)
    return tuple(
        replace(places[a], places[b], "".join(after[c:d])) for tag, a, b, c, d in codes if tag != "equal"
    )


def read_levels(factor: str, pair: object, text: str, root: bytes) -> tuple[Level, Level]:
    """The two levels of a factor as the user writes them.

    Args:
        factor: Its name.
        pair: The low and the high level. None leaves the prompt alone; a string is an operator as in ``operators=``;
            so are an ``Operator``, a mapping of pieces to replacements and a function of the text. Two strings, or
            two ``Variant``, are a piece of the prompt and what replaces it.
        text: The prompt's text.
        root: What operators' draws descend from.

    Raises:
        UsageError: It is no such pair, or neither level does anything.
    """
    where = f"factor {factor!r}"
    if isinstance(pair, str | bytes) or not isinstance(pair, tuple | list) or len(pair) != 2:
        raise UsageError(
            f"{where}: {pair!r:.80} is no pair; give (low level, high level), None for no change."
        )
    low, high = pair
    places = (f"{where}, level 0", f"{where}, level 1")
    if isinstance(low, str | Variant) and isinstance(high, str | Variant):
        wordings = isinstance(low, Variant) or isinstance(high, Variant) or len(_places(text, low)) == 1
        if wordings or not _operators(low, high):
            return _worded(factor, places, low, high)
    if isinstance(low, Variant) or isinstance(high, Variant):
        raise UsageError(
            f"{where}: a Variant goes with another one: the piece that stands in the prompt comes first."
        )
    levels = (_level(factor, places[0], low, root), _level(factor, places[1], high, root))
    if not any(level.changes for level in levels):
        raise UsageError(
            f"{where}: neither level changes anything; give an operator or a wording for one of them."
        )
    return levels


def _operators(*names: str | Variant) -> bool:
    for name in names:
        try:
            find(str(name))
        except UsageError:
            return False
    return True


def _worded(
    factor: str, places: tuple[str, str], low: str | Variant, high: str | Variant
) -> tuple[Level, Level]:
    old, new = (each.text if isinstance(each, Variant) else each for each in (low, high))
    if not isinstance(old, str) or not isinstance(new, str) or not old:
        raise UsageError(
            f"{places[0]}: {old!r:.80} is no piece of a prompt; give the words that stand there."
        )
    if old == new:
        raise UsageError(f"factor {factor!r}: both levels are {old!r}; word them differently.")
    return Level(factor, places[0]), Level(factor, places[1], pieces=((old, new),))


def _level(factor: str, place: str, given: object, root: bytes) -> Level:
    if given is None:
        return Level(factor, place)
    if isinstance(given, Operator):
        return Level(factor, place, root, operator=given)
    if isinstance(given, str):
        try:
            return Level(factor, place, root, operator=find(given))
        except UsageError as error:
            raise UsageError(
                f"{place}: {error} To reword a piece of the prompt give both wordings: (what stands there, what"
                " replaces it)."
            ) from None
    if isinstance(given, Mapping):
        if not given or not all(
            isinstance(k, str) and k and isinstance(v, str) and k != v for k, v in given.items()
        ):
            raise UsageError(f"{place}: {given!r:.80}; map pieces of the prompt to other wordings.")
        return Level(factor, place, pieces=tuple(given.items()))
    if callable(given):
        return Level(factor, place, function=given)
    raise UsageError(
        f"{place}: {given!r:.80} is {type(given).__name__}; give an operator, a mapping of wordings, a function of the"
        " text, or None."
    )


def carried(first: Sequence[Edit], second: Sequence[Edit]) -> tuple[Edit, ...] | None:
    """Edits over a text as edits over what ``first`` makes of it; None where the two concern the same words.

    Args:
        first: Edits over the text.
        second: Others over it. What they move may hold what ``first`` has changed, which then moves along.
    """
    refs = [part for edit in second for part in edit.parts if isinstance(part, Ref)]
    for edit in first:
        inside = [ref for ref in refs if _within(edit, ref)]
        if any(_meets(edit, *ref) for ref in refs if ref not in inside):
            return None
        if any(_meets(edit, other.start, other.end) for other in second) and len(inside) != 1:
            return None
    return tuple(
        Edit(
            _moved(edit.start, first, opens=True),
            _moved(edit.end, first, opens=edit.start == edit.end),
            tuple(
                part
                if isinstance(part, str)
                else Ref(_moved(part.start, first, opens=True), _moved(part.end, first))
                for part in edit.parts
            ),
        )
        for edit in second
    )


def _within(edit: Edit, ref: Ref) -> bool:
    """Whether an edit lies in a reference, an insertion not at its border."""
    if edit.start == edit.end:
        return ref.start < edit.start < ref.end
    return ref.start <= edit.start and edit.end <= ref.end


def _meets(edit: Edit, start: int, end: int) -> bool:
    """Whether an edit and a span share a character, or one of them is a place inside the other."""
    return edit.start < end and start < edit.end


def _moved(position: int, edits: Sequence[Edit], *, opens: bool = False) -> int:
    """Where a position stands after the edits; behind what is inserted there if something opens at it."""
    moved = position
    for edit in edits:
        if edit.end < position or (edit.end == position and (opens or edit.start < edit.end)):
            size = sum(len(part) if isinstance(part, str) else part.end - part.start for part in edit.parts)
            moved += size - (edit.end - edit.start)
    return moved
