"""Answers that hold more than prose, compared part by part: each by its own rule, and the prose around them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier, decided
from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.comparing.reading.asides import leads_to_block, substance
from pytest_promptfuzz.comparing.reading.text import looks_like_program, looks_like_query
from pytest_promptfuzz.comparing.texts import introduced
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.json_paths import without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.comparing.profiles import Profile


# The parts of an answer that are no prose, wherever they stand: data, programs, queries, calls, fields.


class Segment(NamedTuple):
    """A part of an answer.

    Attributes:
        kind: ``prose``, ``data``, ``program``, ``query`` or ``fields``.
        text: As it is written, without a fence.
        name: What explanations call it: ``JSON``, ``YAML``, ``XML``; empty for prose.
        value: What data and fields hold.
    """

    kind: str
    text: str
    name: str = ""
    value: Any = None


@lru_cache(maxsize=4096)
def segments(text: str) -> tuple[Segment, ...]:
    r"""The parts of an answer in order; one of prose where there is nothing else.

    >>> [each.kind for each in segments('Here it is: {"total": 12}\nIt is due today.')]
    ['prose', 'data', 'prose']
    """
    if _BEGINS.search(text) is None:
        return (Segment("prose", text),)
    found: list[Segment] = []
    at = 0
    for fence in _FENCE.finditer(text):
        found += _unfenced(text[at : fence.start()])
        found.append(_fenced(fence[1].lower(), fence[2]))
        at = fence.end()
    found += _unfenced(text[at:])
    return tuple(each for each in found if each.text.strip())


def prose_of(parts: tuple[Segment, ...]) -> str:
    """The prose among some parts, without courtesies and sentences that only hand over what stands beside them."""
    return "\n".join(
        "".join(each for each in _sentences(part) if not each.strip() or not leads_to_block(each))
        for part in parts
        if part.kind == "prose"
    ).strip()


def leads_of(parts: tuple[Segment, ...]) -> list[str]:
    """The sentences among some parts that announce what stands behind them: "The values after tax:"."""
    sentences = (each.strip() for part in parts if part.kind == "prose" for each in _sentences(part))
    return [each for each in sentences if each.endswith((":", ":**")) and leads_to_block(each)]


def _sentences(part: Segment) -> list[str]:
    return _SENTENCE_END.split(part.text)


def _fenced(language: str, inner: str) -> Segment:
    if language in _DATA or not language:
        from pytest_promptfuzz.comparing.formats import answer_formats as formats

        for name in [_DATA[language]] if language else ["json", "xml"]:
            try:
                read = formats.read(inner, name)
            except formats.NotConforming:
                continue
            if read.structured and not read.wrapped:
                return Segment("data", inner, formats.NAMES[name], read.value)
    if language == "sql" or (language in _PLAIN and looks_like_query(inner)):
        return Segment("query", inner, "query")
    if language not in _PLAIN or looks_like_program(inner):
        return Segment("program", inner, "program")
    return Segment("prose", inner)


def _unfenced(text: str) -> Iterator[Segment]:
    at = 0
    for start, end, value in data_text.spans(text):
        if isinstance(value, dict) or len(value) > 1 or isinstance(value[0], (dict, list)):
            yield from _marked(text[at:start])
            yield Segment("data", text[start:end], "JSON", value)
            at = end
    yield from _marked(text[at:])


def _marked(text: str) -> Iterator[Segment]:
    """Prose in which XML may stand."""
    from pytest_promptfuzz.comparing.formats import answer_formats as formats

    at = 0
    for found in _ELEMENT.finditer(text):
        try:
            value = formats.read(found[0], "xml").value
        except formats.NotConforming:
            continue
        if "\n" in found[0].strip() or any(isinstance(each, dict) for each in value.values()):
            yield from _lines(text[at : found.start()])
            yield Segment("data", found[0], "XML", value)
            at = found.end()
    yield from _lines(text[at:])


def _lines(text: str) -> Iterator[Segment]:
    """Prose in which lines may be fields, or calls of tools."""
    at = 0
    for run in _FIELD_RUN.finditer(text):
        fields = {found[1].strip().casefold(): found[2].strip(" *") for found in _FIELD.finditer(run[0])}
        if len(fields) == len(_FIELD.findall(run[0])):
            yield from _calls(text[at : run.start()])
            yield Segment("fields", run[0], "field", fields)
            at = run.end()
    yield from _calls(text[at:])


def _calls(text: str) -> Iterator[Segment]:
    at = 0
    for found in _CALL.finditer(text):
        yield Segment("prose", text[at : found.start()])
        yield Segment("program", found[0].strip(), "call")
        at = found.end()
    yield Segment("prose", text[at:])


_BEGINS = expression(
    r"```|\{|\[\s*[\[{\"\d\-tfn]|<\w+[\s>]|\n[^\n:]{1,44}:\**[ \t]+\S|^[ \t]*\w[\w.]*\(", re.MULTILINE
)
_FENCE = expression(r"```([\w+-]*)[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_DATA = {"json": "json", "jsonc": "json", "json5": "json", "yaml": "yaml", "yml": "yaml", "xml": "xml"}
_PLAIN = frozenset({"", "text", "txt", "plaintext", "plain", "markdown", "md"})
_ELEMENT = expression(r"<([A-Za-z][\w.-]*)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
_FIELD = expression(
    r"^[ \t]*(?:[-*•][ \t]+)?\**([^\W\d_][\w '’/()&.-]{0,40}?)\**:\**[ \t]+(\S[^\n]{0,100})$", re.MULTILINE
)
_FIELD_RUN = expression(
    r"(?:^[ \t]*(?:[-*•][ \t]+)?\**[^\W\d_][\w '’/()&.-]{0,40}?\**:\**[ \t]+\S[^\n]{0,100}(?:\n|\Z)){2,}",
    re.MULTILINE,
)
_CALL = expression(r"^[ \t]*[A-Za-z_][\w.]*\((?:\w+ ?= ?|[\"'{])[^\n]*\)[ \t]*$", re.MULTILINE)
_SENTENCE_END = expression(r"(?<=[.!?:])(?=\s)|(?<=\n)")


_KINDS = ("data", "program", "query", "fields")
_FIT = {"text": _KINDS, "json": ("data",)}
"""The kinds of parts that are looked for, by the kind of profile; the others compare whole answers."""


class PartRules(NamedTuple):
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


def compare_mixed(first: str, second: str, rules: PartRules) -> Comparison | None:
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


def _by_parts(first: str, second: str, kinds: tuple[str, ...], rules: PartRules) -> Comparison | None:
    from pytest_promptfuzz.comparing.formats.json_values import worst

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
        observed = Observation("same-part-within-text", pairs[0][0].name)
        return decided("minor", "json-wrapped" if pairs[0][0].kind == "data" else "wrapped", observed)
    if decisive.reason == "exact":
        decisive = decisive.but(explanation=_all_equal([old for old, _ in pairs]))
    decisive = decisive.but(tiers=tuple(tier for each in found for tier in each.tiers))
    if decisive.outcome in {"equivalent", "minor"} and rules.profile.kind == "text":
        return _announced(decisive, leads_of(one), leads_of(two))
    return decisive


def _all_equal(parts: list[Segment]) -> Observation:
    names = dict.fromkeys("fields" if part.kind == "fields" else part.name for part in parts)
    return Observation("same-parts", tuple(names))


def _announced(found: Comparison, one: list[str], two: list[str]) -> Comparison:
    """What is found of equal parts, as far as what leads to each announces the same."""
    pairs = zip(one, two, strict=True) if len(one) == len(two) else [(" ".join(one), " ".join(two))]
    each_found = (introduced(found, *pair) for pair in pairs)
    return next((each for each in each_found if each is not found), found)


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


def _compared(one: Segment, two: Segment, rules: PartRules) -> Comparison:
    if one.kind == "data":
        from pytest_promptfuzz.comparing.formats.json_values import compare_json

        values = without(one.value, rules.ignored), without(two.value, rules.ignored)
        return compare_json(*values, rules.profile, semantic=rules.semantic, named=one.name)
    if one.kind == "fields":
        return max(_fields(one.value, two.value, rules), key=_rank)
    if one.kind == "query":
        from pytest_promptfuzz.comparing.formats.sql import compare_sql

        found = compare_sql(one.text, two.text, dialect=rules.profile.sql_dialect)
    else:
        from pytest_promptfuzz.comparing.formats.code import compare_code

        found = compare_code(one.text, two.text)
    return found or rules.texts(one.text, two.text)


def _rank(found: Comparison) -> int:
    return ("equivalent", "minor", "undecided", "deviation").index(found.outcome)


def _fields(one: dict[str, str], two: dict[str, str], rules: PartRules) -> Iterator[Comparison]:
    for key, value in one.items():
        found = rules.texts(value, two[key])
        change = Observation("part-became", key, value, two[key])
        yield found if found.outcome == "equivalent" else found.but(explanation=change)


def _told(found: Comparison, part: Segment, number: int, of: int) -> Comparison:
    """What was found of a part, with its place where there are several."""
    if of == 1:
        return found
    return found.but(explanation=Observation("in-part", part.name, number, of, found.observed))


def _prose(first: str, second: str, rules: PartRules) -> Comparison | None:
    """What is found of the prose around the parts; ``None`` where there is none but courtesies."""
    if not substance(first) and not substance(second):
        return None
    if not substance(first) or not substance(second):
        which, more = ("response", second) if substance(second) else ("baseline", first)
        observed = Observation("only-claims", which, more)
        found = Comparison("undecided", None, "prose", observed, (Tier("prose", None, observed),))
    else:
        found = rules.texts(first, second)
    if rules.profile.kind == "json" and found.outcome in {"undecided", "deviation"}:
        return decided("minor", "json-wrapped", Observation("same-json-but-prose", found.observed))
    return found.but(explanation=Observation("in-prose", found.observed))
