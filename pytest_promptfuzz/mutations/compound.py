"""Operators in a stated order as one operator: the second works on what the first has made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.composition import compose_edits, map_spans
from pytest_promptfuzz.mutations.draft import Draft
from pytest_promptfuzz.mutations.edits import apply_edits
from pytest_promptfuzz.mutations.mutation import PRESERVES
from pytest_promptfuzz.mutations.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.edits import Edit
    from pytest_promptfuzz.mutations.mutation import Dimension, Relation
    from pytest_promptfuzz.mutations.operator import Propose
    from pytest_promptfuzz.mutations.rng import Rng

_FEWEST = 2
_OPEN = 16  # changed texts kept to be changed once more when the first operator has nothing new


def compound(parts: Sequence[Operator], name: str | None = None) -> Operator:
    """One operator of several, applied in order: keyboard-typo then double-space is not the other way round.

    It changes a prompt only where each of them can act. It preserves what the weakest of them does, and its severity
    is that of independent changes, ``1 - (1 - a)(1 - b)``. The dimension is the first one's. A prompt must be in a
    language that all of them work on; after a translation, the following ones look at the language they are given.

    Args:
        parts: Two or more; compositions among them are taken apart.
        name: In kebab-case; the parts joined by ``+`` unless it is given.

    Raises:
        UsageError: Fewer than two, two relations beside invariance (a trial is judged by one), or no language that
            all of them work on.
    """
    flat = tuple(each for part in parts for each in (part.parts or (part,)))
    if len(flat) < _FEWEST:
        raise UsageError("A composition takes two operators or more, such as 'keyboard-typo+double-space'.")
    first = flat[0]
    chain = "+".join(map(str, flat))
    spared = 1.0
    for each in flat:
        spared *= 1.0 - each.severity
    return Operator(
        name or chain,
        _in_turn(flat),
        first.dimension,
        round(1.0 - spared, 4),
        preserves=max((each.preserves for each in flat), key=PRESERVES.index),
        relation=_relation(flat, chain),
        languages=_languages(flat, chain),
        touches=tuple(dict.fromkeys(kind for each in flat for kind in each.touches)),
        surface=all(each.surface for each in flat),
        sources=tuple(sorted({source for each in flat for source in each.sources})),
        summary=", then ".join(f"``{each}``" for each in flat) + ", each on what the one before has made.",
        trusted=True,  # each part is checked by itself, unless it is safe by construction
        default=False,
        parts=flat,
    )


def _relation(parts: Sequence[Operator], chain: str) -> Relation:
    held = list(dict.fromkeys(each.relation for each in parts if each.relation != "invariance"))
    if len(held) > 1:
        raise UsageError(
            f"operators: {chain!r} asks for two relations, {held[0]!r} and {held[1]!r}, and a trial is judged by one;"
            " use these operators apart."
        )
    return held[0] if held else "invariance"


def _languages(parts: Sequence[Operator], chain: str) -> tuple[str, ...]:
    shared: tuple[str, ...] = ()
    for each in parts:
        if each.languages:
            both = tuple(code for code in shared if code in each.languages) if shared else each.languages
            if not both:
                raise UsageError(
                    f"operators: {chain!r} has no language to work on: {each.name!r} is for"
                    f" {', '.join(each.languages)}, those before it for {', '.join(shared)}."
                )
            shared = both
        if _translates(each.dimension):
            break
    return shared


def _translates(dimension: Dimension) -> bool:
    return dimension == "multilingual"


def _in_turn(parts: tuple[Operator, ...]) -> Propose:
    """What the first part proposes, with one proposal of the rest for each; when it has no more, the rest goes on."""

    def propose(draft: Draft, rng: Rng) -> Iterator[tuple[Edit, ...]]:
        draws = [_draws(rng, part, number) for number, part in enumerate(parts)]
        return _proposals(parts, draft, draws)

    return propose


def _draws(rng: Rng, part: Operator, number: int) -> Rng:
    return rng.child(f"{number}:{part.id}", intensity=part.intensity)


def _proposals(parts: tuple[Operator, ...], draft: Draft, draws: Sequence[Rng]) -> Iterator[tuple[Edit, ...]]:
    part, rest = parts[0], parts[1:]
    proposals = part.proposals(draft, draws[0])
    if not rest:
        yield from proposals
        return
    open_ones: list[tuple[tuple[Edit, ...], Iterator[tuple[Edit, ...]]]] = []
    for edits in proposals:
        after = changed_draft(draft, edits, translated=_translates(part.dimension))
        following = _proposals(rest, after, draws[1:])
        second = next(following, None)
        if second is None:
            yield ()  # this one leaves the rest nothing to do; a hundred such in a row are the end
            continue
        yield compose_edits(draft.text, edits, second)
        if len(open_ones) < _OPEN:
            open_ones.append((edits, following))
    while open_ones:
        going: list[tuple[tuple[Edit, ...], Iterator[tuple[Edit, ...]]]] = []
        for edits, following in open_ones:
            second = next(following, None)
            if second is not None:
                yield compose_edits(draft.text, edits, second)
                going.append((edits, following))
        open_ones = going


def changed_draft(draft: Draft, edits: Sequence[Edit], *, translated: bool = False) -> Draft:
    """The draft of the text after ``edits``: what was protected before is so still, and nothing else.

    Args:
        draft: What the edits apply to.
        edits: In ascending order, not overlapping.
        translated: Whether the text may be in another language now; otherwise a draft keeps the language that was
            found, which noise could hide.
    """
    places = map_spans(draft.spans, edits)
    walls = set(draft.walls)
    marked = sorted(
        (*place, span in walls, kind)
        for place, span, kind in zip(places, draft.spans, draft.kinds or [""] * len(places), strict=True)
    )
    kept: list[tuple[int, int, bool, str]] = []
    for start, end, wall, kind in marked:
        if start == end:
            continue  # a part built to do so has removed it
        if kept and start < kept[-1][1]:  # likewise: two spans were changed by one edit
            low, high, walled, before = kept.pop()
            kept.append((low, max(high, end), walled or wall, before))
        else:
            kept.append((start, end, wall, kind))
    after = Draft(
        apply_edits(draft.text, edits),
        [(start, end) for start, end, _, _ in kept],
        walls=[(start, end) for start, end, wall, _ in kept if wall],
        kinds=[kind for _, _, _, kind in kept] if draft.kinds else (),
    )
    if not translated:
        after.language = draft.language
    return after
