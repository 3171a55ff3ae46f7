"""JSON compared by value."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing import jsontext, labels
from pytest_promptfuzz.comparing.comparison import Comparison, Outcome, Tier
from pytest_promptfuzz.comparing.dates import days_apart
from pytest_promptfuzz.comparing.jsonmetrics import json_rouge
from pytest_promptfuzz.comparing.text import NORMALISERS, analyse, kept_apart, shown
from pytest_promptfuzz.comparing.textual import compare_texts
from pytest_promptfuzz.comparing.tolerance import ABSENT, tolerated, tolerates
from pytest_promptfuzz.wire.paths import at, child, equal, json_diff, without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.embedding.embedder import Embedder

_ORDER: dict[Outcome, int] = {"equivalent": 0, "minor": 1, "undecided": 2, "deviation": 3}
_NAMED = 3
_LISTED = 10


@dataclass(frozen=True, slots=True)
class _Difference:
    outcome: Outcome
    path: str
    explanation: str


def worst(*outcomes: Outcome) -> Outcome:
    """The worst of some outcomes: deviation, undecided, minor, equivalent."""
    return max(outcomes, key=_ORDER.__getitem__)


def compare_json(
    first: Any, second: Any, profile: Profile, *, semantic: Embedder | None, wrapped: bool = False
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
    """
    tolerant = tolerates(profile)
    shape = jsontext.similarity(first, second)
    if tolerant:
        second = tolerated(first, second, profile)
    paths = json_diff(first, second)
    if not paths:
        same = (Tier("structure", 1.0),)
        if wrapped:
            return Comparison(
                "minor",
                1.0,
                "json-wrapped",
                "the JSON is equal by value, but other text stands around it or it is not written as JSON",
                same,
            )
        said = "the JSON is equal by value" + (", as far as the profile asks" if tolerant else "")
        return Comparison("equivalent", 1.0, "json-value", said, same)
    moved = _moved(first, second)
    reordered: Outcome = "deviation" if profile.list_order == "strict" else "minor"
    found = [_Difference(reordered, path, "the items stand in another order") for path in moved]
    inside = tuple(f"{path}[" for path in moved)
    found += [
        _difference(first, second, path, profile, semantic)
        for path in paths
        if not (inside and path.startswith(inside))
    ]
    decisive = max(found, key=lambda each: _ORDER[each.outcome])
    outcome = worst(decisive.outcome, "minor") if wrapped else decisive.outcome
    more = len(found) - 1
    others = ", ".join(each.path for each in found if each is not decisive)
    others = others if more <= _NAMED else f"{more} other places"
    explanation = f"JSON differs at {decisive.path}: {decisive.explanation}" + (
        f" (also at {others})" if more else ""
    )
    named = "; ".join(f"{each.path}: {each.explanation}" for each in found[:_LISTED])
    in_order = tolerated(first, second, replace(profile, list_order="free")) if moved else second
    alike = json_rouge(first, in_order)
    tiers = (Tier("structure", shape, f"differs at {named}"), Tier("json-rouge", alike))
    similarity = None if outcome == "undecided" else 1.0 if outcome == "equivalent" else min(alike, 0.99)
    return Comparison(
        outcome, similarity, "json-text" if outcome == "equivalent" else "json", explanation, tiers
    )


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
        return _Difference(outcome, path, f"{_value(new)} is in the response only")
    if not here or new is ABSENT:
        outcome = "minor" if old in (None, "", [], {}) else "deviation"
        return _Difference(outcome, path, f"{_value(old)} is missing from the response")
    change = f"{_value(old)} became {_value(new)}"
    if isinstance(old, str) and isinstance(new, str):
        if " ".join(old.split()) == " ".join(new.split()):
            change = f"{_value(old)} has other white space"
        if _may_be_one_date(old, new, profile):
            return _Difference("minor", path, f"{change}, the same date if day and month are read so")
        return _Difference(_strings(old, new, profile, semantic), path, change)
    if (isinstance(old, str) or isinstance(new, str)) and _written(old) == _written(new):
        return _Difference("minor", path, f"{change} of another type")
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


def _value(value: Any) -> str:
    """As JSON has it, whatever language it was read with."""
    if isinstance(value, str):
        return shown(value)
    return shown(json.dumps(value, ensure_ascii=False, default=str))[1:-1]


def compare_json_texts(
    first: Any, second: Any, profile: Profile, ignored: Sequence[str] = (), *, semantic: Embedder | None
) -> Comparison | None:
    """Compare two answers of which at least one is JSON or holds it; a text is read, a value taken as it is.

    Returns:
        ``None`` where neither is JSON.
    """
    one, bare_a = _read(first)
    two, bare_b = _read(second)
    if one is jsontext.MISSING and two is jsontext.MISSING:
        return None
    if not bare_a and not bare_b and one is not jsontext.MISSING and two is not jsontext.MISSING:
        return None
    if one is jsontext.MISSING or two is jsontext.MISSING:
        which, other, text = (
            ("response", "baseline", second) if two is jsontext.MISSING else ("baseline", "response", first)
        )
        explanation = f"the {other} is JSON, the {which} is not: {shown(text)}"
        return Comparison(
            "deviation", 0.0, "json-format", explanation, (Tier("structure", 0.0, explanation),)
        )
    return compare_json(
        without(one, ignored), without(two, ignored), profile, semantic=semantic, wrapped=bare_a != bare_b
    )


def _read(answer: Any) -> tuple[Any, bool]:
    """The JSON in an answer, and whether the answer is nothing else."""
    if not isinstance(answer, str):
        return answer, True
    value = jsontext.parse(answer)
    if value is not jsontext.MISSING:
        return value, True
    return jsontext.embedded(answer), False
