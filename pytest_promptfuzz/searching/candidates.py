"""The space of a prompt: what operators would do to it, place by place."""

from __future__ import annotations

import contextlib
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, quoted
from pytest_promptfuzz.mutations.draft import draft_of
from pytest_promptfuzz.mutations.lexicon.context import fits
from pytest_promptfuzz.mutations.operators.synonyms import replaced, sites, vocabulary_of
from pytest_promptfuzz.mutations.rng import Rng, root_key
from pytest_promptfuzz.mutations.strata import strata_of
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.searching.space import Choice, Limits, Place, Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.edits import Edit
    from pytest_promptfuzz.mutations.lexicon.context import Context
    from pytest_promptfuzz.mutations.lexicon.forms import Reading
    from pytest_promptfuzz.mutations.operator import Operator
    from pytest_promptfuzz.mutations.strata import Selection
    from pytest_promptfuzz.prompts.parts import Part

    Spans = tuple[tuple[int, int], ...]

TOP = 10
"""How many choices a place has at most (K of S3)."""
_DRAWS = 40  # proposals of an operator that are looked at
_WHOLE = 3  # of which so many are taken that change several places at once


def space_of(
    prompt: str | Prompt,
    *,
    operators: Selection = None,
    part: str | Sequence[str] | Part | None = None,
    limits: Limits | None = None,
    top: int = TOP,
    any_sense: bool = False,
    seed: int = 0,
    where: str = "search",
) -> Space:
    """What a search may change in a prompt.

    Each word that operators would change is a place, with what they would put there; a change of several words that an
    operator makes at once (upper case, another order) is a place of its own. Protected spans stay, as everywhere.

    Args:
        prompt: Whose places.
        operators: What may be done, as for a plan; by default what a plan draws on.
        part: Which text may change: see :meth:`pytest_promptfuzz.prompts.prompt.Prompt.limited`.
        limits: What must be kept.
        top: How many choices a place has at most, 1 or more; operators take turns.
        any_sense: Take a word's substitutes whatever part of speech it is in its place; by default only where the words
            around leave one reading.
        seed: Of what operators draw.
        where: What is asked for, for messages.

    Raises:
        UsageError: A bad argument; an operator whose mutations are not to leave the answer as it is; or nothing that
            could be changed.
    """
    if type(top) is not int or top < 1:
        raise UsageError(f"{where}: top={top!r}; give an int from 1.")
    whole = as_prompt(prompt) if part is None else as_prompt(prompt).limited(part)
    chosen = [each for stratum in strata_of(operators) for each in stratum.operators]
    other = [each for each in chosen if each.relation != "invariance"]
    if other:
        raise UsageError(
            f"{where}: {other[0].name!r} is not meant to leave the answer as it is ({other[0].relation}), so that "
            "nothing it does could be a counterexample; leave it out of operators=."
        )
    draft = draft_of(whole)
    found: dict[Spans, list[list[Choice]]] = {}
    for each in chosen:
        if each.suits(draft):
            for spans, choices in _offers(draft, each, Rng(root_key(seed, draft.text), each.id), any_sense):
                kept = [one for one in choices if _within(one.edits, whole.bounds)]
                if kept:
                    found.setdefault(spans, []).append(kept)
    places = [
        Place(
            spans if _is_word(draft, spans) else (),
            _mixed(several, draft.text, top),
            wide=spans[0][0] == spans[0][1],
        )
        for spans, several in sorted(found.items())
    ]
    if not places:
        raise UsageError(
            f"{where}: no operator finds anything to change in {quoted(draft.text)}. Name more with operators=, a "
            "lexicon's among them, or let another part= change."
        )
    return Space(draft.text, places, limits, whole if isinstance(prompt, Prompt) else None)


def _offers(
    draft: Draft, operator: Operator, rng: Rng, any_sense: bool
) -> Iterator[tuple[Spans, list[Choice]]]:
    """What an operator would do, by place."""
    vocabulary = vocabulary_of(operator)
    if vocabulary is None:
        yield from _drawn(draft, operator, rng)
        return
    for group in sites(draft, vocabulary, fit=_any if any_sense else fits, data=True):
        shared = [new for new in group[0].alternatives if all(new in site.alternatives for site in group)]
        spans = tuple(sorted((site.word.start, site.word.end) for site in group))
        yield (
            spans,
            [Choice(tuple(sorted(replaced(site, new) for site in group)), operator) for new in shared],
        )


def _drawn(draft: Draft, operator: Operator, rng: Rng) -> Iterator[tuple[Spans, list[Choice]]]:
    """The same for an operator that can only be asked for proposals: one place at a time, if it knows intensity."""
    with contextlib.suppress(UsageError):
        operator = operator.at(1)
    words: dict[Spans, list[Choice]] = {}
    whole: dict[tuple[Edit, ...], None] = {}
    rng = rng.child("one", intensity=1 if operator.intensity is not None else None)
    for edits in islice(operator.proposals(draft, rng), _DRAWS):
        spans = () if len(edits) > 1 else _word_of(draft, edits[0])
        if spans:
            choice = Choice(edits, operator)
            if choice not in words.setdefault(spans, []):
                words[spans].append(choice)
        elif len(whole) < _WHOLE:
            whole.setdefault(edits)
    yield from words.items()
    for edits in whole:
        # A place by what it covers: the empty span at its beginning keeps it apart from the word there.
        yield ((edits[0].start, edits[0].start), (edits[-1].end, edits[-1].end)), [Choice(edits, operator)]


def _word_of(draft: Draft, edit: Edit) -> Spans:
    """The word that an edit is inside; nothing where it is in none, or in several."""
    tokens = draft.tokens
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        if start <= edit.start and edit.end <= end:
            inner = next(
                (word for word in draft.words if word.start <= edit.start and edit.end <= word.end), None
            )
            return ((inner.start, inner.end),) if inner is not None else ((start, end),)
    return ()


def _is_word(draft: Draft, spans: Spans) -> bool:
    """Whether a place is a free word, at one or several places, rather than what a change of several words covers."""
    return spans[0][0] < spans[0][1] and all(draft.is_free(start, end) for start, end in spans)


def _mixed(several: Sequence[list[Choice]], text: str, top: int) -> tuple[Choice, ...]:
    """The first choices of each operator in turn, none of which makes the same text as another."""
    found: dict[tuple[tuple[int, int, str], ...], Choice] = {}
    for choice in chain.from_iterable(zip_longest(*several)):
        if choice is not None:
            key = tuple((edit.start, edit.end, edit.replacement(text)) for edit in choice.edits)
            found.setdefault(key, choice)
    return tuple(islice(found.values(), top))


def _within(edits: Sequence[Edit], bounds: Sequence[tuple[int, int]] | None) -> bool:
    return bounds is None or all(
        any(start <= each.start and each.end <= end for start, end in bounds) for each in edits
    )


def _any(reading: Reading, context: Context) -> int:  # noqa: ARG001 (as `fits`)
    """Take every reading; only words for words, since a phrase seldom stands where a word did."""
    return 1
