"""What a profile lets pass within JSON: numbers and dates that are close, items in another order."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.alignment import leaves, number_of
from pytest_promptfuzz.comparing.dates import days_apart
from pytest_promptfuzz.wire.paths import equal

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.profiles import Profile

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
    for at, item in enumerate(first):
        for place, other in rest.items():
            brought = tolerated(item, other, profile)
            if equal(item, brought):
                found[at] = brought
                del rest[place]
                break
    open_places = [at for at in range(len(first)) if at not in found]
    likeness = sorted(
        (-_shared(first[at], other), at, place) for at in open_places for place, other in rest.items()
    )
    for _, at, place in likeness:
        if at not in found and place in rest:
            found[at] = tolerated(first[at], rest.pop(place), profile)
    return [found.get(at, ABSENT) for at in range(len(first))] + list(rest.values())


def _shared(first: Any, second: Any) -> int:
    """How many scalars two values have at the same place."""
    one = {path: item for path, _, item in leaves(first)}
    return sum(path in one and equal(one[path], item) for path, _, item in leaves(second))
