"""``shrink``: the smallest part of a mutation that still breaks the answer in the same way."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nsmallest
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import Edit, Ref, reorder
from pytest_promptfuzz.mutations.engine.edits import replace as replaced
from pytest_promptfuzz.mutations.engine.mutation import Mutation, severity_of
from pytest_promptfuzz.relay import relayed
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.word_diffs import opcodes

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    Steps = Generator[list["Parts"], list[bool], "Parts"]
    Mutations = Generator[list[Mutation], list[bool], "Smallest"]
    Mutated = Generator[list[Mutation], list[bool], list[bool]]
    Edits = Generator[list[list[Edit]], list[bool], tuple[list[Edit], bool]]
    Edited = Generator[list[list[Edit]], list[bool], list[bool]]


# Whether parts of a change fail together: what was answered so far, and how often more must be asked to be sure.


Parts = frozenset[int]


class BudgetSpent(Exception):  # noqa: N818 (ends a search, and is no error)
    """No more may be asked."""


@dataclass(slots=True)
class KnownFailures:
    """What is known of sets of parts.

    A set is held to fail, or not, by Wald's probability ratio test: an answer misleads with probability ``flip``.

    Attributes:
        flip: How often an answer misleads, in [0, 0.5); 0 where the same is always answered alike.
        most: How often may be asked in all; ``None`` sets no limit.
        calls: How often was asked.
    """

    flip: float = 0.0
    most: int | None = None
    calls: int = 0
    _failed: Counter[Parts] = field(default_factory=Counter)
    _passed: Counter[Parts] = field(default_factory=Counter)

    def learn(self, parts: Parts, *, fails: bool) -> None:
        """Take down an answer."""
        (self._failed if fails else self._passed)[parts] += 1

    def known(self, parts: Parts, error: float) -> bool | None:
        """Whether the parts fail, as told with this probability of error; ``None`` where it is not told."""
        if self.missing(parts, error):
            return None
        return self._failed[parts] > self._passed[parts]

    def missing(self, parts: Parts, error: float) -> int:
        """How many answers would at least be needed to tell; 0 where it is told."""
        lead = abs(self._failed[parts] - self._passed[parts])
        if not self.flip:
            return 0 if lead else 1
        needed = math.log((1 - error) / error) / math.log((1 - self.flip) / self.flip)
        return max(0, math.ceil(needed - lead - 1e-9))

    def smallest(self, error: float | None = None) -> Parts | None:
        """The smallest set that failed more often than not, the first such in order.

        Args:
            error: Only of those that are told to fail with this probability of error.
        """
        failing = [parts for parts, times in self._failed.items() if times > self._passed[parts]]
        if error is not None:
            failing = [parts for parts in failing if self.known(parts, error)]
        return min(failing, key=lambda parts: (len(parts), sorted(parts)), default=None)

    def ask(self, several: Sequence[Parts], error: float) -> Generator[list[Parts], list[bool], list[bool]]:
        """Ask until each set is told; all that is wanted of all of them is one batch.

        Raises:
            BudgetSpent: More would be needed than may be asked.
        """
        while True:
            wanted = [parts for parts in dict.fromkeys(several) for _ in range(self.missing(parts, error))]
            if not wanted:
                return [bool(self.known(parts, error)) for parts in several]
            if self.most is not None and self.calls + len(wanted) > self.most:
                raise BudgetSpent
            self.calls += len(wanted)
            for parts, fails in zip(wanted, (yield wanted), strict=True):
                self.learn(parts, fails=fails)


# The smallest part of a failing change that still fails: which of its edits are needed.
#
# Found by divide and conquer (QuickXplain, Junker 2004), which asks about 2k log(n/k) times for k needed edits of n,
# and then held to be 1-minimal: leaving out any one of them passes. Where what fails is not monotone (edits that mend
# each other), divide and conquer may miss; delta debugging (ddmin, Zeller and Hildebrandt 2002) goes on from the
# smallest set that is known to fail.
#
# Nothing is asked here: generators yield the sets of edits that are to be tried, and are sent whether each fails *in
# the same way* as the whole change did. Another failure counts as none, so that the result is no other failure's.


_ON_THE_WAY = 0.05  # error of a decision that the end is checked for
_AT_THE_END = 0.002  # of those that the result rests on
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What is needed of a change.

    Attributes:
        kept: Places of the edits that are needed, ascending.
        minimal: Whether leaving out any one of them was seen to pass.
        calls: How often was asked.
    """

    kept: tuple[int, ...]
    minimal: bool
    calls: int


def shrinking(
    count: int, *, asked: KnownFailures | None = None
) -> Generator[list[Parts], list[bool], Shrunk]:
    """Which of ``count`` edits a failure needs.

    Yields the sets to be tried, all that can be tried at once in a batch, some of them more than once where answers
    vary; it is to be sent whether each failed in the same way.

    Args:
        count: How many edits the failing change has, 1 or more. That no edit at all passes is taken for granted.
        asked: What is known, how far answers vary, and how much may be asked; by default nothing varies.
    """
    asked = KnownFailures() if asked is None else asked
    whole = frozenset(range(count))
    best = whole
    try:
        (fails,) = yield from asked.ask([whole], _AT_THE_END)
        if not fails:
            return Shrunk(tuple(sorted(whole)), minimal=False, calls=asked.calls)
        found = yield from _explained(asked, frozenset(), sorted(whole), grown=False)
        for _ in range(_ROUNDS):
            (fails,) = yield from asked.ask([found], _AT_THE_END)
            if fails:
                best = found
                smaller = yield from _smaller(asked, best)
                if smaller is None:
                    return Shrunk(tuple(sorted(best)), minimal=True, calls=asked.calls)
                found = smaller
            else:
                found = yield from _ddmin(asked, asked.smallest() or whole)
    except BudgetSpent:
        smallest = asked.smallest(_ON_THE_WAY)
        best = best if smallest is None or len(best) <= len(smallest) else smallest
    return Shrunk(tuple(sorted(best)), minimal=False, calls=asked.calls)


def _explained(asked: KnownFailures, kept: Parts, rest: Sequence[int], *, grown: bool) -> Steps:
    """The parts of ``rest`` that are needed beside ``kept`` (QuickXplain). ``grown``: ``kept`` may suffice now."""
    if grown:
        (fails,) = yield from asked.ask([kept], _ON_THE_WAY)
        if fails:
            return frozenset()
    if len(rest) == 1:
        return frozenset(rest)
    first, second = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    of_second = yield from _explained(asked, kept | frozenset(first), second, grown=True)
    of_first = yield from _explained(asked, kept | of_second, first, grown=bool(of_second))
    return of_first | of_second


def _smaller(asked: KnownFailures, parts: Parts) -> Generator[list[Parts], list[bool], Parts | None]:
    """The parts without one of them, if that fails as well; ``None`` where each is needed."""
    without = [parts - {each} for each in sorted(parts) if len(parts) > 1]
    told = yield from asked.ask(without, _AT_THE_END)
    return next((each for each, fails in zip(without, told, strict=True) if fails), None)


def _ddmin(asked: KnownFailures, parts: Parts) -> Steps:
    """A part of a failing set that fails and cannot do without any of its chunks, down to single edits."""
    chunks = 2
    while len(parts) > 1:
        chunks = min(chunks, len(parts))
        ordered = sorted(parts)
        bounds = [len(ordered) * number // chunks for number in range(chunks + 1)]
        subsets = [frozenset(ordered[low:high]) for low, high in pairwise(bounds)]
        found = yield from _first(asked, subsets)
        if found is not None:
            parts, chunks = found, 2
            continue
        found = yield from _first(asked, [parts - each for each in subsets] if chunks > 2 else [])
        if found is not None:
            parts, chunks = found, max(chunks - 1, 2)
            continue
        if chunks == len(parts):
            break
        chunks *= 2
    return parts


def _first(asked: KnownFailures, sets: Sequence[Parts]) -> Generator[list[Parts], list[bool], Parts | None]:
    """The first of these sets that fails."""
    for each in sets:
        (fails,) = yield from asked.ask([each], _ON_THE_WAY)
        if fails:
            return each
    return None


# The parts that a change is made of: edits taken apart, first by words, then by characters, and moves made smaller.


_WORD = expression(r"\s+|\w+|[^\w\s]")
_LETTER = expression(r"[^\W\d_]")
_MOST_MOVES = 24  # of one reordering that are tried
_FEW = 30  # segments, of which all moves are ranked


def is_move(edit: Edit) -> bool:
    """Whether an edit moves what the original holds; such an edit is no sum of smaller ones."""
    return any(isinstance(part, Ref) for part in edit.parts)


def by_words(edits: Iterable[Edit], original: str) -> list[Edit]:
    """The edits, each word's change one of its own; together they are the same change."""
    return [atom for edit in edits for atom in _parted(edit, original, _WORD.findall)]


def by_characters(edit: Edit, original: str, *, respells: bool = True) -> list[Edit]:
    """One edit, each run of changed characters one of its own.

    Args:
        edit: What is taken apart.
        original: The text it changes.
        respells: Whether a part of a word's change is a change of the same kind, as it is of a typo. It is none where a
            word takes another's place: half a synonym is no word at all.
    """
    before, after = original[edit.start : edit.end], edit.replacement(original)
    reworded = _LETTER.search(before) and _LETTER.search(after) and before.casefold() != after.casefold()
    return [edit] if reworded and not respells else _parted(edit, original, list)


def _parted(edit: Edit, original: str, split: Callable[[str], list[str]]) -> list[Edit]:
    if is_move(edit):
        return [edit]
    before, after = split(original[edit.start : edit.end]), split(edit.replacement(original))
    atoms: list[Edit] = []
    reached = edit.start
    for tag, low, high, new_low, new_high in opcodes(before, after):
        end = reached + sum(map(len, before[low:high]))
        if tag != "equal":
            atoms.append(replaced(reached, end, "".join(after[new_low:new_high])))
        reached = end
    return atoms or [edit]


def smaller_moves(edit: Edit) -> list[Edit]:
    """Moves that move less than a reordering does, those that move least first.

    Each puts one segment elsewhere, or lets two change places, among the places that the reordering has; what stands
    between them stays where it is. Empty where the edit is no plain reordering of segments.
    """
    segments = moved_segments(edit)
    if not segments:
        return []
    places = sorted(segments)
    order = [places.index(each) for each in segments]
    length = len(order)
    if length > _FEW:  # two neighbours that change places are the smallest moves, and enough
        sizes = [end - start for start, end in places]
        nearest = nsmallest(
            _MOST_MOVES, range(length - 1), key=lambda low: (sizes[low] + sizes[low + 1], -low)
        )
        return [reorder(places, [*range(low), low + 1, low, *range(low + 2, length)]) for low in nearest]
    found = {tuple(each): None for each in _single_moves(length)}
    found.pop(tuple(range(length)), None)
    found.pop(tuple(order), None)
    ranked = sorted(found, key=lambda each: (_moved(each, places), each))
    return [reorder(places, each) for each in ranked[:_MOST_MOVES]]


def moved_segments(edit: Edit) -> list[tuple[int, int]] | None:
    """The segments that change places, in their new order; ``None`` where something else is done to them."""
    refs = [part for part in edit.parts if isinstance(part, Ref)]
    spans = sorted(refs)
    ends = [edit.start, *(span.end for span in spans)]
    if len(refs) != len(edit.parts) or ends != [*(span.start for span in spans), edit.end]:
        return None
    return [(ref.start, ref.end) for ref, span in zip(refs, spans, strict=True) if ref != span]


def _single_moves(length: int) -> Iterator[list[int]]:
    for one in range(length):
        for other in range(length):
            order = list(range(length))
            if one < other:
                order[one], order[other] = order[other], order[one]
                yield list(order)
            if one != other:
                order = list(range(length))
                order.insert(other, order.pop(one))
                yield order


def _moved(order: Sequence[int], places: Sequence[tuple[int, int]]) -> tuple[int, int, int]:
    """How many segments stand in another place, how far these are apart, and how many characters they have."""
    moved = [place for place, index in enumerate(order) if place != index]
    return len(moved), moved[-1] - moved[0], sum(places[place][1] - places[place][0] for place in moved)


@dataclass(frozen=True, slots=True)
class Smallest:
    """What is left of a mutation that breaks an answer.

    Attributes:
        mutation: It, with no more edits than are needed, each as small as could be found.
        minimal: Whether leaving out any one of its edits was seen to break nothing.
        calls: How often was asked.
    """

    mutation: Mutation
    minimal: bool
    calls: int


def shrink(
    mutation: Mutation, fails: Callable[[str], bool], *, queries: int = 200, flip: float = 0.0
) -> Smallest:
    """The smallest part of a mutation that still fails.

    Its edits are taken apart word by word; those that are not needed are left out, and those that are become as small
    as they can: fewer characters, a smaller move.

    Args:
        mutation: A mutation that breaks an answer.
        fails: Whether a prompt breaks it *in the same way*: a function that asks the model and looks at the answer.
            Another failure must count as none, or the result may be that failure's.
        queries: How often it may be called, 1 or more. What is smallest by then is the result.
        flip: How often ``fails`` misleads, since the model rolls dice, in [0, 0.5). Above 0 it is asked the same
            again until it is told, with a probability ratio test.

    Raises:
        UsageError: ``queries`` or ``flip`` is out of range, or the mutation has no edits.
    """
    if isinstance(queries, bool) or not isinstance(queries, int) or queries < 1:
        raise UsageError(f"shrink: queries={queries!r} is not a whole number of 1 or more.")
    if isinstance(flip, bool) or not isinstance(flip, (int, float)) or not 0 <= flip < 0.5:
        raise UsageError(
            f"shrink: flip={flip!r} is not a number from 0 to below 0.5, the share of answers that mislead."
        )
    if not mutation.edits:
        raise UsageError("shrink: the mutation has no edits, so there is nothing to leave out.")
    steps = shrunk(mutation, queries=queries, flip=flip)
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send([fails(each.text) for each in wanted])
    except StopIteration as stop:
        found: Smallest = stop.value
        return found


def shrunk(
    mutation: Mutation,
    *,
    queries: int | None = None,
    flip: float = 0.0,
    known: tuple[int, int] = (0, 0),
) -> Mutations:
    """As ``shrink``, for whoever asks several at once: yields the mutations of a batch, is sent whether each fails.

    Where no more can be asked, ``BudgetSpent`` is thrown into it; the smallest part known to fail is what it returns.

    Args:
        mutation: As for ``shrink``.
        queries: As for ``shrink``; ``None`` sets no limit.
        flip: As for ``shrink``.
        known: How often the whole mutation failed, and how often it was asked, before.
    """
    original = mutation.original
    respells = mutation.dimension != "semantic"
    asked = KnownFailures(flip=flip, most=queries)
    atoms = by_words(mutation.edits, original)
    failed, times = known
    for each in range(times):
        asked.learn(frozenset(range(len(atoms))), fails=each < failed)
    steps = _needed(atoms, asked)
    kept, minimal = yield from _as_mutations(mutation, steps)
    if minimal:
        try:
            for edit in list(kept):
                place = kept.index(edit)
                smaller = _made_smaller(original, kept, place, queries, asked, respells=respells)
                kept, minimal = yield from _as_mutations(mutation, smaller)
                if not minimal:
                    break
        except BudgetSpent:
            minimal = False
    return Smallest(_of(mutation, kept), minimal, asked.calls)


def _as_mutations(
    mutation: Mutation, steps: Edits
) -> Generator[list[Mutation], list[bool], tuple[list[Edit], bool]]:
    """Batches of edits as mutations; that no more can be asked is told to where they come from."""

    def asked(batch: list[list[Edit]]) -> Mutated:
        return (yield [_of(mutation, each) for each in batch])

    return (yield from relayed(steps, asked))


def _needed(
    edits: Sequence[Edit], asked: KnownFailures, before: Sequence[Edit] = (), after: Sequence[Edit] = ()
) -> Edits:
    """Those of the edits that are needed between others, and whether each is known to be.

    All stay in the order that they have: of two that insert at one place it says which comes first.
    """

    def among(sets: list[Parts]) -> Edited:
        return (yield [[*before, *(edits[place] for place in sorted(parts)), *after] for parts in sets])

    found = yield from relayed(shrinking(len(edits), asked=asked), among)
    return [edits[place] for place in found.kept], found.minimal


def _made_smaller(
    original: str, kept: list[Edit], place: int, queries: int | None, asked: KnownFailures, *, respells: bool
) -> Edits:
    """The edits with a smaller one in the place of one, if the failure needs no more; whether there is none smaller.

    ``asked.calls`` is changed.

    Raises:
        BudgetSpent: There may be a smaller move that was not asked for.
    """
    before, after = kept[:place], kept[place + 1 :]
    left = None if queries is None else queries - asked.calls
    if not is_move(kept[place]):
        atoms = by_characters(kept[place], original, respells=respells)
        if len(atoms) == 1:
            return kept, True
        inner = KnownFailures(flip=asked.flip, most=left)
        found, minimal = yield from _needed(atoms, inner, before, after)
        asked.calls += inner.calls
        # All of a word's characters are the word.
        smaller = found if len(found) < len(atoms) else [kept[place]]
        return [*before, *smaller, *after], minimal
    # Each move is a set of one of its own: what the others failed says nothing of it.
    for move in smaller_moves(kept[place]):
        inner = KnownFailures(flip=asked.flip, most=None if queries is None else queries - asked.calls)
        changed = [*before, move, *after]
        try:
            (fails,) = yield from relayed(inner.ask([frozenset([0])], 0.01), partial(_repeated, changed))
        finally:
            asked.calls += inner.calls
        if fails:
            return changed, True
    return kept, True


def _repeated(edits: list[Edit], sets: list[Parts]) -> Edited:
    """The same edits, asked about as often as is wanted."""
    return (yield [edits for _ in sets])


def _of(mutation: Mutation, edits: Sequence[Edit]) -> Mutation:
    """The mutation with these edits; as much less severe as it changes less."""
    rate = mutation.change_rate
    declared = min(1.0, 2 * mutation.severity / (1 + rate))
    smaller = replace(mutation, edits=tuple(edits))
    return replace(smaller, severity=severity_of(declared, smaller.change_rate))
