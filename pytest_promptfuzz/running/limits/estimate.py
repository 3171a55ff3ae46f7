"""What a call will cost, reckoned before it is made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.targets.formats import request_texts
from pytest_promptfuzz.wire.gate import output_bound

if TYPE_CHECKING:
    from pytest_promptfuzz.running.limits.prices import Prices
    from pytest_promptfuzz.targets.model import WireRequest

CHARACTERS = 4
"""Characters a token, about."""
SHORTEST, LONGEST = 1, 1000
"""Tokens that an answer without a bound is reckoned to have, at the least and at the most."""


class Estimate(NamedTuple):
    """Tokens of a request, and its cost in US dollars at the least and at the most; ``None`` where it is not known."""

    tokens: int
    low: float | None
    high: float | None


def estimate(wire: WireRequest, prices: Prices) -> Estimate:
    """What a call costs at its provider's ordinary price."""
    tokens = sum(map(tokens_of, request_texts(wire.body)))
    model: Any = wire.body.get("model")
    price = prices.of(model if isinstance(model, str) else "", wire.url)
    if price is None:
        return Estimate(tokens, None, None)
    bound = output_bound(wire.body) or LONGEST
    most = len(json.dumps(wire.body))  # no token is shorter than a byte
    return Estimate(
        tokens, price.cost(tokens, min(SHORTEST, bound)), price.cost(min(most, tokens * 2), bound)
    )


def tokens_of(text: str) -> int:
    """About how many tokens a text has."""
    return -(-len(text) // CHARACTERS)


def summed(costs: list[float | None]) -> float | None:
    """Their sum; ``None`` if one of them is not known."""
    known = [each for each in costs if each is not None]
    return sum(known) if len(known) == len(costs) else None
