"""In which order the trials of a plan are asked, so that whatever is asked first is a fair part of it."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def fair_order(labels: Sequence[Sequence[str]], ids: Sequence[str], *, seed: int = 0) -> list[int]:
    """An order in which every group is spread evenly, and its subgroups within it.

    Args:
        labels: The groups of each trial, the widest first: dimension, operator.
        ids: What each trial is known by, each different; with the seed they decide between equals.
        seed: Any int.

    Returns:
        The places of the trials, each once. Of k trials of a group among n, the first m hold m·k/n, give or take one
        a group.
    """
    keys = [hashlib.sha256(f"{seed}\n{each}".encode()).digest() for each in ids]

    def spread(places: list[int], depth: int) -> list[int]:
        groups: dict[str, list[int]] = {}
        for place in places:
            groups.setdefault(labels[place][depth] if depth < len(labels[place]) else "", []).append(place)
        if all(depth >= len(labels[place]) for place in places):
            return sorted(places, key=keys.__getitem__)
        turns = [
            (Fraction(2 * turn + 1, 2 * len(members)), keys[place], place)
            for members in groups.values()
            for turn, place in enumerate(spread(members, depth + 1))
        ]
        return [place for _, _, place in sorted(turns)]

    return spread(list(range(len(ids))), 0)
