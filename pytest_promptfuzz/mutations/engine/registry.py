"""Operators by name: built-in ones, added ones, those of installed packages, and several joined by ``+``."""

from __future__ import annotations

from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING

from pytest_promptfuzz.data.tables import entries
from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine.edits import apply_edits, compose_edits, map_spans
from pytest_promptfuzz.mutations.engine.mutation import DIMENSIONS, PRESERVES, Dimension
from pytest_promptfuzz.mutations.engine.operator import Operator, read_intensity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_promptfuzz.mutations.engine.edits import Edit
    from pytest_promptfuzz.mutations.engine.mutation import Relation
    from pytest_promptfuzz.mutations.engine.operator import Propose
    from pytest_promptfuzz.randomness import Rng


ENTRY_POINTS = "promptfuzz.operators"
"""The entry-point group under which an installed package offers operators: each loads to an :class:`Operator`."""

_added: dict[str, Operator] = {}


@cache
def _index() -> dict[str, tuple[str, str]]:
    """Module and dimension of each built-in operator, in order."""
    return dict(
        entries("mutations/operators.tsv", lambda name, module, dimension: (name, (module, dimension)))
    )


@cache
def _of_module(module: str) -> dict[str, Operator]:
    """The operators of a module by name."""
    found = vars(import_module(f"pytest_promptfuzz.mutations.operators.{module}")).values()
    return {each.name: each for each in found if isinstance(each, Operator)}


def builtin_named(name: str) -> Operator | None:
    """The built-in operator of that name."""
    module, _ = _index().get(name, ("", ""))
    return _of_module(module)[name] if module else None


@cache
def builtin() -> dict[str, Operator]:
    """The built-in operators by name, in the order of their modules."""
    return {name: _of_module(module)[name] for name, (module, _) in _index().items()}


@cache
def installed() -> dict[str, Operator]:
    """The operators of installed packages by name; loaded when a name is unknown or all are listed.

    Raises:
        UsageError: An entry point does not load, is no operator, or takes the name of another.
    """
    found: dict[str, Operator] = {}
    for point in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda each: (each.name, each.value)):
        try:
            value = point.load()
        except Exception as error:
            raise UsageError(f"The operator {point.name!r} ({point.value}) does not load: {error}") from error
        if not isinstance(value, Operator):
            raise UsageError(
                f"The entry point {point.name!r} ({point.value}) is {type(value).__name__}, not an Operator."
            )
        if value.name in _index() or value.name in found:
            raise UsageError(
                f"The operator {value.name!r} of {point.value} exists already; give it another name."
            )
        found[value.name] = value
    return found


def register(operator: Operator) -> Operator:
    """Make an operator known by its name in this process; the same one may be registered again.

    Raises:
        UsageError: Another operator has that name.
    """
    if not isinstance(operator, Operator):
        raise UsageError(
            f"register() takes an Operator, not {type(operator).__name__}; decorate the function first."
        )
    if operator.name in _index() or _added.get(operator.name, operator) != operator:
        raise UsageError(f"An operator {operator.name!r} exists already; give this one another name.")
    _added[operator.name] = operator
    return operator


def lend(operator: Operator) -> Callable[[], None]:
    """Make an operator known as `register` does, until what is returned is called."""
    before = dict(_added)
    register(operator)

    def forget() -> None:
        _added.clear()
        _added.update(before)

    return forget


def get(name: str) -> Operator:
    """The operator of that name, with or without its version (``typo``, ``typo@1``).

    Raises:
        UsageError: There is none, or not in that version.
    """
    bare, _, version = name.partition("@")
    found = builtin_named(bare) or _added.get(bare) or installed().get(bare)
    if found is None:
        raise UsageError(f"There is no operator {name!r}. {nearest(bare, all_operators())}")
    if version and version != str(found.version):
        raise UsageError(f"Operator {bare!r} is at version {found.version} here, not {version}.")
    return found


def all_operators() -> dict[str, Operator]:
    """Every operator by name: built-in, added, installed."""
    return {**builtin(), **_added, **installed()}


@cache
def default_pool(dimension: Dimension) -> tuple[Operator, ...]:
    """The built-in operators of a dimension that a plan draws on unasked.

    Others are used when they are named, so that installing a package changes no plan.
    """
    return tuple(each for each in of_dimension(dimension) if each.by_default)


@cache
def of_dimension(dimension: Dimension) -> tuple[Operator, ...]:
    """All built-in operators of a dimension."""
    return tuple(_of_module(module)[name] for name, (module, own) in _index().items() if own == dimension)


# Operators in a stated order as one operator: the second works on what the first has made.


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


# Operators as they are written: ``keyboard-typo``, ``keyboard-typo:3``, ``keyboard-typo:20%+double-space``.


def find(text: str) -> Operator:
    """The operator that ``text`` names.

    Args:
        text: A name, with or without its version (``@1``) and an intensity (``:3`` places, ``:20%`` of them); several
            joined by ``+`` are applied in that order.

    Raises:
        UsageError: There is no such operator, not in that version, or not with that intensity.
    """
    if "+" not in text:
        return _one(text, text)
    return compound([_one(each, text) for each in text.split("+")])


def compose(*operators: str | Operator, name: str | None = None) -> Operator:
    """Operators applied one after the other, as one operator.

    Args:
        operators: Two or more, in order of application: operators, or how they are written.
        name: How the composition is called, in kebab-case; its parts joined by ``+`` unless it is given.

    Raises:
        UsageError: One of them does not exist, or they do not go together: two relations, or no common language.

    >>> compose("keyboard-typo:2", "double-space").id
    'keyboard-typo@2:2+double-space@1'
    """
    for each in operators:
        if each in DIMENSIONS:
            raise UsageError(f"compose: {each!r} is a dimension; a composition takes operators.")
    return compound([find(each) if isinstance(each, str) else _checked(each) for each in operators], name)


def _checked(value: object) -> Operator:
    if not isinstance(value, Operator):
        raise UsageError(f"compose: {value!r:.80} is {type(value).__name__}; give operators or their names.")
    return value


def _one(text: str, whole: str) -> Operator:
    within = "" if text == whole else f" in {whole!r}"
    name, colon, intensity = text.strip().partition(":")
    if not name:
        raise UsageError(f"operators: a name is missing{within or f' in {text!r}'}; write A or A+B.")
    if name in DIMENSIONS and (within or colon):
        what = "a composition takes" if within else "an intensity belongs to"
        raise UsageError(f"operators: {name!r}{within} is a dimension; {what} operators.")
    found = _named(name, within)
    return found.at(read_intensity(intensity, f"operators: {text.strip()!r}{within}")) if colon else found


_ANSWER_IN = "answer-in-"


def _language_hint(name: str, known: Sequence[str]) -> str:
    """What to write for an ``answer-in-`` of an unknown language: near letters are no near language."""
    if not name.startswith(_ANSWER_IN):
        return ""
    from pytest_promptfuzz.mutations.operators.translation import code_named

    codes = {each.removeprefix(_ANSWER_IN) for each in known if each.startswith(_ANSWER_IN)}
    asked = name.removeprefix(_ANSWER_IN).replace("_", "-").lower()
    found = asked if asked in codes else code_named(asked)
    if found in codes:
        return f"Did you mean {_ANSWER_IN + found!r}?"
    return f"There is one for each of {', '.join(sorted(codes))}."


def _named(name: str, within: str) -> Operator:
    try:
        return get(name)
    except UsageError:
        known = [*all_operators(), *([] if within else DIMENSIONS)]
        bare = name.partition("@")[0]
        if bare in known:
            raise
        what = "operator" if within else "operator or dimension"
        hint = _language_hint(bare, known) or nearest(bare, known)
        if hint.startswith("Known:"):
            hint = "`promptfuzz operators` lists them."  # there are too many for a message
        raise UsageError(f"operators: there is no {what} {name!r}{within}. {hint}") from None
