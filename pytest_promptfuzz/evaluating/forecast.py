"""What a test would ask and cost, told without asking."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.targets.formats import request_texts
from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.requests import as_request
from pytest_promptfuzz.wire.exchange import IN_PROCESS, Exchange
from pytest_promptfuzz.wire.gate import output_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.limits.prices import Prices
    from pytest_promptfuzz.targets.model import Target

CHARACTERS = 4
"""Characters a token, about."""
SHORTEST, LONGEST = 1, 1000
"""Tokens that an answer without a bound is reckoned to have, at the least and at the most."""


class Forecast(TypedDict):
    """What one test would ask; plain data, which crosses processes.

    ``stored`` and the costs are ``None`` where they cannot be told; ``exact`` says whether the calls are known and not
    reckoned from the prompt.
    """

    test: str
    calls: int
    stored: int | None
    tokens: int
    low: float | None
    high: float | None
    exact: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call: whether the store has its answer, its tokens, and its cost at the least and at the most."""

    stored: bool
    tokens: int
    low: float | None
    high: float | None


def forecast(
    test: str,
    prompts: Sequence[Prompt],
    target: Target | CallableTarget | None,
    session: Session,
    prices: Prices,
    *,
    exact: bool,
    ignore: Sequence[str] = (),
) -> Forecast:
    """What a test would ask.

    Args:
        test: Its name.
        prompts: What it sends, a call each: the baseline's and every mutation's, of every input.
        target: Who is asked; ``None`` where only the test's own code knows.
        session: The store it is served from.
        prices: What calls cost.
        exact: Whether the prompts are what is sent; otherwise the body may add to them, and call more than once.
        ignore: JSON paths left out of the keys by which answers are looked for.
    """
    if target is None or isinstance(target, CallableTarget):
        tokens = sum(_tokens(prompt.text) for prompt in prompts)
        return Forecast(
            test=test, calls=len(prompts), stored=None, tokens=tokens, low=None, high=None, exact=False
        )
    asked = [_asked(prompt, target, session, prices, ignore) for prompt in prompts]
    missing = [each for each in asked if not (exact and each.stored)]
    return Forecast(
        test=test,
        calls=len(asked),
        stored=len(asked) - len(missing) if exact else None,
        tokens=sum(each.tokens for each in missing),
        low=_sum([each.low for each in missing]),
        high=_sum([each.high for each in missing]),
        exact=exact,
    )


def _asked(prompt: Prompt, target: Target, session: Session, prices: Prices, ignore: Sequence[str]) -> _Asked:
    wire = target.prepare(as_request(prompt))
    watches = session.test()
    exchange = Exchange(watches.watch(ignore=ignore), wire, parse=target.parse)
    try:
        stored = exchange.stored() is not None
    except PromptfuzzError:  # only the recording may be used, and does not hold it
        stored = False
    tokens = sum(map(_tokens, request_texts(wire.body)))
    model: Any = wire.body.get("model")
    if wire.url.startswith(IN_PROCESS):
        return _Asked(stored, tokens, 0.0, 0.0)
    price = prices.of(model if isinstance(model, str) else "", wire.url)
    if price is None:
        return _Asked(stored, tokens, None, None)
    bound = output_bound(wire.body) or LONGEST
    most = len(json.dumps(wire.body))  # no token is shorter than a byte
    return _Asked(
        stored, tokens, price.cost(tokens, min(SHORTEST, bound)), price.cost(min(most, tokens * 2), bound)
    )


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS)


def _sum(costs: list[float | None]) -> float | None:
    known = [each for each in costs if each is not None]
    return sum(known) if len(known) == len(costs) else None
