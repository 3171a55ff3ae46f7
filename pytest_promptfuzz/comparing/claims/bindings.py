"""Figures and names that changed places: each stands in the response where the other stood in the baseline."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.claims.names import shared_names
from pytest_promptfuzz.comparing.guards.pair import Finding

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from pytest_promptfuzz.comparing.reading.answer import Answer, Key, Token

_MOST = 12
"""Figures of one measure that are looked at; of more, every pair would be compared with every other."""
_EVIDENCE, _TIMES = 0.7, 3.0
"""How near the exchanged neighbours must stand, and how much nearer than the kept ones."""
_PAUSE = {",": 2, ";": 3, ":": 3, ".": 3, "(": 3, ")": 3, "|": 3, "–": 3, "—": 3}
_JOINTS = frozenset({"and", "but", "while", "whereas"})
_UNDER_HEADING = 0.15

_Context = dict["Key", float]


def exchanged(baseline: Answer, response: Answer) -> Finding | None:
    """Two figures of one measure, or two names, of which each has the other's neighbours in the response.

    A neighbour counts by its nearness, 1 / (1 + distance in words), the distance longer across commas and "and". Two
    are exchanged where the neighbours crosswise are at least 0.7 near, and three times as near as those kept.
    """
    common = baseline.keys & response.keys
    names = shared_names(baseline, response)
    before, after = _places(baseline, names), _places(response, names)
    for group in sorted(before.keys() & after.keys()):
        keys = [key for key in before[group] if key in after[group]]
        if not 1 < len(keys) <= _MOST:
            continue
        near = {
            key: (_context(before[group][key], common), _context(after[group][key], common)) for key in keys
        }
        for one, two in combinations(keys, 2):
            apart = {one, two}
            kept = _shared(near[one][0], near[one][1], apart) + _shared(near[two][0], near[two][1], apart)
            crossed = _shared(near[one][0], near[two][1], apart) + _shared(near[two][0], near[one][1], apart)
            if crossed >= _EVIDENCE and crossed >= _TIMES * kept:
                first, second = (before[group][key][0].text for key in (one, two))
                return Finding("roles", "contradiction", f"{first} and {second} changed places")
    return None


def _places(answer: Answer, names: frozenset[str]) -> dict[str, dict[Key, list[Token]]]:
    """The tokens of each figure by measure, and of each name."""
    found: dict[str, dict[Key, list[Token]]] = defaultdict(dict)
    for token, figure in answer.figures:
        found[figure.measure].setdefault(token.key, []).append(token)
    for token in answer.words:
        if token.low.removesuffix("'s") in names:
            found["name"].setdefault(token.key, []).append(token)
    return found


def _context(tokens: Iterable[Token], common: frozenset[Hashable]) -> _Context:
    """How near each telling neighbour stands, 0..1."""
    found: _Context = defaultdict(float)
    for token in tokens:
        around = token.statement.tokens
        for side in (around[token.at + 1 :], reversed(around[: token.at])):
            distance = 0
            for other in side:
                if other.kind == "mark":
                    distance += _PAUSE.get(other.text, 0)
                    continue
                if other.low in _JOINTS:
                    distance += 2
                if other.telling and other.key in common and other.key != token.key:
                    found[other.key] = max(found[other.key], 1 / (1 + distance))
                distance += 1
        for word in token.statement.heading.lower().split():
            key = ("word", word)
            if key in common:
                found[key] = max(found[key], _UNDER_HEADING)
    return found


def _shared(one: _Context, two: _Context, apart: set[Key]) -> float:
    return sum(weight * two[key] for key, weight in one.items() if key in two and key not in apart)
