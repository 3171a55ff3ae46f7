"""Answers that hold more than prose, compared part by part: each by its own rule, and the prose around them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.comparison import Comparison, Tier, decided
from pytest_promptfuzz.comparing.formats.code import compare_code
from pytest_promptfuzz.comparing.formats.sql import compare_sql
from pytest_promptfuzz.comparing.reading.asides import substance
from pytest_promptfuzz.comparing.reading.segments import Segment, prose_of, segments
from pytest_promptfuzz.comparing.structured import compare_json, worst
from pytest_promptfuzz.comparing.text import shown
from pytest_promptfuzz.wire.paths import without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.embedding.embedder import Embedder

_KINDS = ("data", "program", "query", "fields")
_FIT = {"text": _KINDS, "json": ("data",)}
"""The kinds of parts that are looked for, by the kind of profile; the others compare whole answers."""


class Rules(NamedTuple):
    """How parts are compared.

    Attributes:
        profile: For texts and values.
        semantic: For texts and values.
        ignored: JSON paths left out.
        texts: Compares two pieces of prose.
    """

    profile: Profile
    semantic: Embedder | None
    ignored: tuple[str, ...]
    texts: Callable[[str, str], Comparison]


def compare_mixed(first: str, second: str, rules: Rules) -> Comparison | None:
    """Compare two answers of which each holds data, programs, queries or fields.

    Parts of a kind are compared in their order, then the prose around them; the worst outcome counts. Beside the JSON
    that a task asks for, prose is talk, and no difference in it more than minor.

    Returns:
        ``None`` where the two do not hold the same parts.
    """
    kinds = _FIT.get(rules.profile.kind, ())
    found = _by_parts(first, second, kinds, rules)
    if found and found.outcome in {"minor", "undecided"} and "fields" in kinds:
        # Fields that do not decide are claims among others.
        return _by_parts(first, second, tuple(kind for kind in kinds if kind != "fields"), rules)
    return found


def _by_parts(first: str, second: str, kinds: tuple[str, ...], rules: Rules) -> Comparison | None:
    one, two = (segments(text) for text in (first, second))
    for kind in _KINDS:
        one, two = _fitting(one, two, kind, wanted=kind in kinds)
    pairs = [
        pair
        for kind in kinds
        for pair in zip(*([part for part in parts if part.kind == kind] for parts in (one, two)), strict=True)
    ]
    if not pairs:
        return None
    found = [
        _told(_compared(old, new, rules), old, number, len(pairs))
        for number, (old, new) in enumerate(pairs, 1)
    ]
    prose = _prose(prose_of(one), prose_of(two), rules)
    found += [prose] if prose else []
    decisive = next(each for each in found if each.outcome == worst(*(every.outcome for every in found)))
    if decisive.outcome == "equivalent" and (len(one) == 1) != (len(two) == 1):
        said = f"the {pairs[0][0].name} is equal, but other text stands around it in one of the answers"
        return decided("minor", "json-wrapped" if pairs[0][0].kind == "data" else "wrapped", said)
    return replace(decisive, tiers=tuple(tier for each in found for tier in each.tiers))


def _fitting(
    one: tuple[Segment, ...], two: tuple[Segment, ...], kind: str, *, wanted: bool
) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """The parts of two answers, those of a kind that have no counterparts read as prose."""
    here, there = ([part for part in parts if part.kind == kind] for parts in (one, two))
    fit = len(here) == len(there)
    if kind == "fields":
        fit = len(here) == len(there) == 1 and here[0].value.keys() == there[0].value.keys()
    return (one, two) if fit and wanted else (_as_prose(one, kind), _as_prose(two, kind))


def _as_prose(parts: tuple[Segment, ...], kind: str) -> tuple[Segment, ...]:
    return tuple(part._replace(kind="prose") if part.kind == kind else part for part in parts)


def _compared(one: Segment, two: Segment, rules: Rules) -> Comparison:
    if one.kind == "data":
        values = without(one.value, rules.ignored), without(two.value, rules.ignored)
        return compare_json(*values, rules.profile, semantic=rules.semantic)
    if one.kind == "fields":
        return max(_fields(one.value, two.value, rules), key=_rank)
    if one.kind == "query":
        found = compare_sql(one.text, two.text, dialect=rules.profile.sql_dialect)
    else:
        found = compare_code(one.text, two.text)
    return found or rules.texts(one.text, two.text)


def _rank(found: Comparison) -> int:
    return ("equivalent", "minor", "undecided", "deviation").index(found.outcome)


def _fields(one: dict[str, str], two: dict[str, str], rules: Rules) -> Iterator[Comparison]:
    for key, value in one.items():
        found = rules.texts(value, two[key])
        change = f"{key}: {shown(value)} became {shown(two[key])}"
        yield found if found.outcome == "equivalent" else replace(found, explanation=change)


def _told(found: Comparison, part: Segment, number: int, of: int) -> Comparison:
    """What was found of a part, its kind named, and its place where there are several."""
    said = found.explanation
    if part.kind == "data":
        said = said.replace("JSON", part.name, 1)
    if of > 1:
        said = f"in {part.name} {number} of {of}: {said}"
    return replace(found, explanation=said)


def _prose(first: str, second: str, rules: Rules) -> Comparison | None:
    """What is found of the prose around the parts; ``None`` where there is none but courtesies."""
    if not substance(first) and not substance(second):
        return None
    if not substance(first) or not substance(second):
        which, more = ("response", second) if substance(second) else ("baseline", first)
        said = f"only the {which} says {shown(more)}"
        found: Comparison = Comparison("undecided", None, "prose", said, (Tier("prose", None, said),))
    else:
        found = rules.texts(first, second)
    if rules.profile.kind == "json" and found.outcome in {"undecided", "deviation"}:
        return decided("minor", "json-wrapped", f"the JSON is equal by value; beside it, {found.explanation}")
    return replace(found, explanation=f"in the prose: {found.explanation}")
