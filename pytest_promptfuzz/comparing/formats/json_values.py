"""JSON compared by value: keys aligned, tolerances for numbers, dates and order, JSONRouge."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing import labels
from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Outcome, Tier
from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.comparing.formats.alignment import canonical_key, leaves, number_of
from pytest_promptfuzz.comparing.formats.data_text import MISSING
from pytest_promptfuzz.comparing.meaning import cosine
from pytest_promptfuzz.comparing.metrics import rouge_l
from pytest_promptfuzz.comparing.reading.text import NORMALISERS, analyse, kept_apart
from pytest_promptfuzz.comparing.texts import compare_texts
from pytest_promptfuzz.comparing.values.same_values import days_apart
from pytest_promptfuzz.text.json_paths import at, child, equal, json_diff, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.comparing.profiles import Profile


# What a profile lets pass within JSON: numbers and dates that are close, items in another order.


ABSENT = object()
"""Stands in a list in place of an item that the response does not have."""

_MOST_PAIRS = 40_000
"""Pairs of items up to which the likest are sought; longer lists are compared place by place."""


def tolerates(profile: Profile) -> bool:
    """Whether a profile lets anything pass."""
    return bool(
        profile.list_order == "free"
        or profile.number_tolerance
        or profile.relative_tolerance
        or profile.date_tolerance is not None
    )


def tolerated(first: Any, second: Any, profile: Profile) -> Any:
    """The response's value with all that the profile lets pass written as the baseline has it.

    What remains different is what counts. Items of lists whose order is free stand where their likest stands in the
    baseline, so that a difference is found at the baseline's place; ``ABSENT`` stands where an item is missing.

    >>> from pytest_promptfuzz.comparing.profiles import profile_for
    >>> tolerated([1.0, 2.0], [2.004, 1.0], profile_for("json", list_order="free", number_tolerance=0.01))
    [1.0, 2.0]
    """
    if isinstance(first, dict) and isinstance(second, dict):
        return {
            key: tolerated(first[key], item, profile) if key in first else item
            for key, item in second.items()
        }
    if isinstance(first, list) and isinstance(second, list):
        if profile.list_order == "free":
            return _in_order(first, second, profile)
        both = zip(first, second, strict=False)
        return [tolerated(*pair, profile) for pair in both] + second[len(first) :]
    return first if _close(first, second, profile) else second


def _close(first: Any, second: Any, profile: Profile) -> bool:
    if isinstance(first, bool) or isinstance(second, bool):
        return False
    if isinstance(first, str) and isinstance(second, str):
        one, two = number_of(first), number_of(second)
        if one is not None and two is not None:
            return _near(one, two, profile)
        if profile.date_tolerance is None:
            return False
        apart = days_apart(first, second)
        return apart is not None and apart[1] and apart[0] <= profile.date_tolerance
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        return _near(first, second, profile)
    return False


def _near(first: float, second: float, profile: Profile) -> bool:
    # As decimals: 3.51 - 3.50 is 0.01, and not a little more.
    one, two, absolute, relative = (
        Decimal(str(each)) for each in (first, second, profile.number_tolerance, profile.relative_tolerance)
    )
    if not one.is_finite() or not two.is_finite() or not (absolute or relative):
        return False
    return abs(one - two) <= max(absolute, relative * abs(one))


def _in_order(first: list[Any], second: list[Any], profile: Profile) -> list[Any]:
    """The response's items in the baseline's order, ``ABSENT`` where there is none; the others stand at the end."""
    if len(first) * len(second) > _MOST_PAIRS:
        both = zip(first, second, strict=False)
        return [tolerated(*pair, profile) for pair in both] + second[len(first) :]
    found: dict[int, Any] = {}
    rest = dict(enumerate(second))
    for index, item in enumerate(first):
        for place, other in rest.items():
            brought = tolerated(item, other, profile)
            if equal(item, brought):
                found[index] = brought
                del rest[place]
                break
    open_places = [index for index in range(len(first)) if index not in found]
    likeness = sorted(
        (-_shared(first[index], other), index, place)
        for index in open_places
        for place, other in rest.items()
    )
    for _, index, place in likeness:
        if index not in found and place in rest:
            found[index] = tolerated(first[index], rest.pop(place), profile)
    return [found.get(index, ABSENT) for index in range(len(first))] + list(rest.values())


def _shared(first: Any, second: Any) -> int:
    """How many scalars two values have at the same place."""
    one = {path: item for path, _, item in leaves(first)}
    return sum(path in one and equal(one[path], item) for path, _, item in leaves(second))


# How alike two JSON values are: their keys are aligned first, then the values under them compared.


def aligned(first: Any, second: Any) -> Iterator[tuple[Any, Any]]:
    """The scalars of two values in pairs; ``MISSING`` where only one of them has a place.

    Members pair by key, in any order, ``orderNumber`` with ``order_number``; items of lists by place. Empty objects and
    lists are scalars here.
    """
    if isinstance(first, dict) and isinstance(second, dict) and (first or second):
        one, two = ({canonical_key(str(key)): item for key, item in each.items()} for each in (first, second))
        for key in [*one, *(key for key in two if key not in one)]:
            yield from aligned(one.get(key, MISSING), two.get(key, MISSING))
    elif isinstance(first, list) and isinstance(second, list) and (first or second):
        for place in range(max(len(first), len(second))):
            yield from aligned(*(each[place] if place < len(each) else MISSING for each in (first, second)))
    elif any(isinstance(each, (dict, list)) and each for each in (first, second)):
        # An object or a list against something else: no place of the one is in the other.
        for value in _scalars(first):
            yield value, MISSING
        for value in _scalars(second):
            yield MISSING, value
    else:
        yield first, second


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)) and value:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _scalars(each)
    elif value is not MISSING:
        yield value


def json_rouge(first: Any, second: Any) -> float:
    """Aligned-key JSONRouge of two JSON values, 0..1, symmetric.

    ``(1 / |P|) Σ s(p)`` over the places P that either value has once keys are aligned: s is 1 where the values are
    equal, ROUGE-L F1 where they are texts or a text and a scalar (as JSON writes it), and 0 where they are other
    scalars or only one value has the place.

    Args:
        first: A value of JSON types.
        second: Another one.

    Source: the measure that enterprise benchmarks of prompt sensitivity name JSONRouge; they align keys, then compare
    values by ROUGE-L. What equal, absent and unlike scalars count is defined here.

    >>> json_rouge({"of": "the red lamp", "price": 3}, {"price": 3, "of": "a red lamp"})
    0.8333333333333333
    """
    return _mean(first, second, _by_words)


def json_similarity(first: Any, second: Any, embedder: Embedder) -> float:
    """Aligned-key JSONSimilarity of two JSON values, 0..1, symmetric.

    As ``json_rouge``, with the cosine of the embeddings, clipped at 0, where both values are texts; another scalar is
    equal or not. All texts are embedded in one call.

    Args:
        first: A value of JSON types.
        second: Another one.
        embedder: What embeds the texts.
    """
    pairs = [(one, two) for one, two in aligned(first, second) if _texts(one, two) and one != two]
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}

    def by_meaning(one: Any, two: Any) -> float:
        return cosine(vectors[one], vectors[two]) if _texts(one, two) else 0.0

    return _mean(first, second, by_meaning)


def _mean(first: Any, second: Any, alike: Callable[[Any, Any], float]) -> float:
    values = [
        0.0 if one is MISSING or two is MISSING else 1.0 if equal(one, two) else alike(one, two)
        for one, two in aligned(first, second)
    ]
    return sum(values) / len(values)


def _texts(one: Any, two: Any) -> bool:
    return isinstance(one, str) and isinstance(two, str)


def _by_words(one: Any, two: Any) -> float:
    if not isinstance(one, str) and not isinstance(two, str):
        return 0.0
    return rouge_l(*(each if isinstance(each, str) else json.dumps(each) for each in (one, two)))


_ORDER: dict[Outcome, int] = {"equivalent": 0, "minor": 1, "undecided": 2, "deviation": 3}
_NAMED = 3
_LISTED = 10


@dataclass(frozen=True, slots=True)
class _Difference:
    outcome: Outcome
    path: str
    observed: Observation


def worst(*outcomes: Outcome) -> Outcome:
    """The worst of some outcomes: deviation, undecided, minor, equivalent."""
    return max(outcomes, key=_ORDER.__getitem__)


def compare_json(
    first: Any,
    second: Any,
    profile: Profile,
    *,
    semantic: Embedder | None,
    wrapped: bool = False,
    named: str = "JSON",
) -> Comparison:
    """Compare two plain values.

    Equal values are equivalent, whatever the order of keys. A changed value is a deviation, unless it is free text
    that says the same; a value in another type or spelling, a key with no value that is absent, and items in another
    order are minor.

    Args:
        first: The baseline's value.
        second: The response's value.
        profile: For free text within the values.
        semantic: For free text within the values.
        wrapped: Whether the response's value stood within prose, which a parser of the whole answer would refuse.
        named: What the values are, for people.
    """
    tolerant = tolerates(profile)
    shape = data_text.similarity(first, second)
    if tolerant:
        second = tolerated(first, second, profile)
    paths = json_diff(first, second)
    if not paths:
        same = (Tier("structure", 1.0),)
        if wrapped:
            return Comparison(
                "minor", 1.0, "json-wrapped", Observation("same-value-within-text", named), same
            )
        observed = Observation("same-value-within-tolerance" if tolerant else "same-value", named)
        return Comparison("equivalent", 1.0, "json-value", observed, same)
    moved = _moved(first, second)
    reordered: Outcome = "deviation" if profile.list_order == "strict" else "minor"
    found = [_Difference(reordered, path, Observation("items-reordered")) for path in moved]
    inside = tuple(f"{path}[" for path in moved)
    found += [
        _difference(first, second, path, profile, semantic)
        for path in paths
        if not (inside and path.startswith(inside))
    ]
    decisive = max(found, key=lambda each: _ORDER[each.outcome])
    outcome = worst(decisive.outcome, "minor") if wrapped else decisive.outcome
    others = tuple(each.path for each in found if each is not decisive)
    observed = Observation("value-differs", named, decisive.path, decisive.observed, _also_at(others))
    places = tuple(Observation("at-path", each.path, each.observed) for each in found[:_LISTED])
    in_order = tolerated(first, second, replace(profile, list_order="free")) if moved else second
    alike = json_rouge(first, in_order)
    tiers = (Tier("structure", shape, Observation("differs-at", places)), Tier("json-rouge", alike))
    similarity = None if outcome == "undecided" else 1.0 if outcome == "equivalent" else min(alike, 0.99)
    return Comparison(
        outcome, similarity, "json-text" if outcome == "equivalent" else "json", observed, tiers
    )


def _also_at(paths: tuple[str, ...]) -> Observation | str:
    if len(paths) > _NAMED:
        return Observation("also-at-places", len(paths))
    return Observation("also-at", paths) if paths else ""


def _moved(first: Any, second: Any, path: str = "$") -> list[str]:
    """The paths of lists that hold the same items in another order."""
    if isinstance(first, dict) and isinstance(second, dict):
        return [
            each
            for key, item in first.items()
            if key in second
            for each in _moved(item, second[key], child(path, key))
        ]
    if not isinstance(first, list) or not isinstance(second, list) or len(first) != len(second):
        return []
    if equal(first, second):
        return []
    one, two = (sorted(map(_sortable, items)) for items in (first, second))
    if one == two:
        return [path]
    pairs = enumerate(zip(first, second, strict=True))
    return [each for index, (old, new) in pairs for each in _moved(old, new, f"{path}[{index}]")]


def _sortable(value: Any) -> str:
    """A value as text, the same for ``1`` and ``1.0``."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list):
        return f"[{','.join(map(_sortable, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key!r}:{_sortable(value[key])}' for key in sorted(value))}}}"
    return repr(value)


def _difference(
    first: Any, second: Any, path: str, profile: Profile, semantic: Embedder | None
) -> _Difference:
    there, old = at(first, path)
    here, new = at(second, path)
    if not there:
        outcome: Outcome = "minor" if new in (None, "", [], {}) else "deviation"
        return _Difference(outcome, path, Observation("member-added", new))
    if not here or new is ABSENT:
        outcome = "minor" if old in (None, "", [], {}) else "deviation"
        return _Difference(outcome, path, Observation("member-missing", old))
    change = Observation("member-became", old, new)
    if isinstance(old, str) and isinstance(new, str):
        if " ".join(old.split()) == " ".join(new.split()):
            change = Observation("white-space-differs", old)
        if _may_be_one_date(old, new, profile):
            return _Difference("minor", path, Observation("maybe-same-date", change))
        return _Difference(_strings(old, new, profile, semantic), path, change)
    if (isinstance(old, str) or isinstance(new, str)) and _written(old) == _written(new):
        return _Difference("minor", path, Observation("of-another-type", change))
    return _Difference("deviation", path, change)


def _may_be_one_date(old: str, new: str, profile: Profile) -> bool:
    if profile.date_tolerance is None:
        return False
    apart = days_apart(old, new)
    return apart is not None and apart[0] <= profile.date_tolerance


def _written(value: Any) -> str | None:
    """A scalar as a model would write it in a string: ``true``, ``null``, ``1``."""
    if isinstance(value, (dict, list)):
        return None
    return value.casefold().replace("none", "null") if isinstance(value, str) else json.dumps(value)


def _strings(old: str, new: str, profile: Profile, semantic: Embedder | None) -> Outcome:
    one, two = analyse(old), analyse(new)
    if " ".join(old.split()) == " ".join(new.split()):
        return "minor"
    if one.normalised == two.normalised:
        if profile.normalisers != NORMALISERS and kept_apart(old, new, profile.normalisers):
            return "deviation" if len(one.words) <= labels.MAX_WORDS else "minor"
        return "minor" if len(one.words) <= labels.MAX_WORDS else "equivalent"
    if min(len(one.words), len(two.words)) <= labels.MAX_WORDS:
        return "deviation"
    return compare_texts(old, new, profile, semantic=semantic, named=False).outcome


def compare_json_texts(
    first: Any, second: Any, profile: Profile, ignored: Sequence[str] = (), *, semantic: Embedder | None
) -> Comparison | None:
    """Compare two answers of which at least one is JSON or holds it; a text is read, a value taken as it is.

    Returns:
        ``None`` where neither is JSON.
    """
    one, bare_a = _read(first)
    two, bare_b = _read(second)
    if one is data_text.MISSING and two is data_text.MISSING:
        return None
    if not bare_a and not bare_b and one is not data_text.MISSING and two is not data_text.MISSING:
        return None
    if one is data_text.MISSING or two is data_text.MISSING:
        which, other, text = (
            ("response", "baseline", second) if two is data_text.MISSING else ("baseline", "response", first)
        )
        observed = Observation("format-lost", other, "JSON", which, text)
        return Comparison("deviation", 0.0, "json-format", observed, (Tier("structure", 0.0, observed),))
    return compare_json(
        without(one, ignored), without(two, ignored), profile, semantic=semantic, wrapped=bare_a != bare_b
    )


def _read(answer: Any) -> tuple[Any, bool]:
    """The JSON in an answer, and whether the answer is nothing else."""
    if not isinstance(answer, str):
        return answer, True
    value = data_text.parse(answer)
    if value is not data_text.MISSING:
        return value, True
    return data_text.embedded(answer), False
