"""What a test would ask and cost, told without asking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.running.limits.estimate import estimate, summed, tokens_of
from pytest_promptfuzz.targets.formats import request_texts
from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.requests import as_request
from pytest_promptfuzz.wire.exchange import IN_PROCESS, Exchange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.limits.prices import Prices
    from pytest_promptfuzz.targets.model import Target


class Forecast(TypedDict):
    """What one test would ask; plain data, which crosses processes.

    ``stored``, the tokens and the costs are ``None`` where they cannot be told; ``exact`` says whether the calls are
    known and not reckoned from the prompt; ``function`` whether they are of a function of the application; ``most``
    whether there may be fewer, for a search ends when it has found something.
    """

    test: str
    calls: int
    stored: int | None
    tokens: int | None
    low: float | None
    high: float | None
    exact: bool
    function: bool
    most: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call: whether the store has its answer, its tokens, and its cost at the least and at the most."""

    stored: bool
    tokens: int
    low: float | None
    high: float | None


def forecast(
    test: str,
    runs: Sequence[tuple[Prompt, int]],
    target: Target | CallableTarget | None,
    session: Session,
    prices: Prices,
    *,
    exact: bool,
    ignore: Sequence[str] = (),
    most: bool = False,
) -> Forecast:
    """What a test would ask.

    Args:
        test: Its name.
        runs: What it sends, a call each, and how often it was sent before: the baseline's and every mutation's, of
            every input.
        target: Who is asked; ``None`` where only the test's own code knows.
        session: The store it is served from.
        prices: What calls cost.
        exact: Whether the prompts are what is sent; otherwise the body may add to them, and call more than once.
        ignore: JSON paths left out of the keys by which answers are looked for.
        most: Whether it may ask less.
    """
    if target is None or isinstance(target, CallableTarget):
        return Forecast(
            test=test,
            calls=len(runs),
            stored=None,
            tokens=sum(tokens_of(prompt.text) for prompt, _ in runs),
            low=None,
            high=None,
            exact=target is not None and exact,
            function=target is not None,
            most=most,
        )
    asked = [_asked(prompt, repeat, target, session, prices, ignore) for prompt, repeat in runs]
    missing = [each for each in asked if not (exact and each.stored)]
    return Forecast(
        test=test,
        calls=len(asked),
        stored=len(asked) - len(missing) if exact else None,
        tokens=sum(each.tokens for each in missing),
        low=summed([each.low for each in missing]),
        high=summed([each.high for each in missing]),
        exact=exact,
        function=False,
        most=most,
    )


def unknown(test: str, calls: int, *, most: bool = False) -> Forecast:
    """What a test would ask whose prompt shows only when its body runs: ``calls`` at the least, or at the most."""
    return Forecast(
        test=test,
        calls=calls,
        stored=None,
        tokens=None,
        low=None,
        high=None,
        exact=False,
        function=False,
        most=most,
    )


def _asked(
    prompt: Prompt, repeat: int, target: Target, session: Session, prices: Prices, ignore: Sequence[str]
) -> _Asked:
    wire = target.prepare(as_request(prompt))
    watches = session.test()
    exchange = Exchange(watches.watch(repeat=repeat, ignore=ignore), wire, parse=target.parse)
    try:
        stored = exchange.stored() is not None
    except PromptfuzzError:  # only the recording may be used, and does not hold it
        stored = False
    if wire.url.startswith(IN_PROCESS):
        return _Asked(stored, sum(map(tokens_of, request_texts(wire.body))), 0.0, 0.0)
    return _Asked(stored, *estimate(wire, prices))
