"""``ask``: one call of a target, answered from the store or by the target, and watched either way."""

from __future__ import annotations

import contextlib
import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.clocks import monotonic
from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.wire.exchange import IN_PROCESS, Exchange, Prepared, prepared
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import watching

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.providers.requests import Request, Response, Target, WireRequest
    from pytest_promptfuzz.wire.watch import Watch


def ask(target: Target, request: Request, watch: Watch) -> Response:
    """The target's response to one request, seen by ``watch``.

    A stored answer is read and returned without importing an SDK. Otherwise the target is asked; an HTTP
    target's call is seen, stored and recorded on the wire under the same key, an in-process one's here.

    Args:
        target: Who is asked.
        request: What is asked.
        watch: The trial's. A failure is a fault there as well as an exception here.

    Returns:
        The response, its ``latency`` in seconds, ``cached`` if it came from the store.

    Raises:
        TargetError: The call failed for a reason that says nothing about the prompt.
        ConfigurationError: A key, an extra or a model name is missing.
        UsageError: The request cannot be sent, or the target answers with what is no JSON.
    """
    asked, draws = request, _draws(target.send)
    request, wire = _mutated(target, request, watch)
    exchange = Exchange(watch, wire, parse=target.parse)
    if exchange.found() is not None:
        _passed(exchange, target, asked)
        return exchange.result()
    refusal = exchange.sealed()
    if refusal is not None:
        raise refusal
    if exchange.wire.url.startswith(IN_PROCESS):
        options = {"sample": exchange.sample} if draws else {}
        try:
            body = target.send(request, **options)
        except BaseException as error:
            exchange.stopped(error)
            raise
        return exchange.given(target, body)
    exchange.release()
    started = monotonic()
    with _on_the_wire(exchange) as expected:
        body = target.send(request)
    return _seen(exchange, expected, target, body, monotonic() - started)


async def aask(target: Target, request: Request, watch: Watch) -> Response:
    """As ``ask``, without blocking the event loop."""
    asked, draws = request, _draws(target.asend)
    request, wire = _mutated(target, request, watch)
    exchange = Exchange(watch, wire, parse=target.parse)
    if exchange.found() is not None:
        _passed(exchange, target, asked)
        return exchange.result()
    refusal = exchange.sealed()
    if refusal is not None:
        raise refusal
    if exchange.wire.url.startswith(IN_PROCESS):
        options = {"sample": exchange.sample} if draws else {}
        try:
            body = await target.asend(request, **options)
        except BaseException as error:
            exchange.stopped(error)
            raise
        return exchange.given(target, body)
    exchange.release()
    started = monotonic()
    with _on_the_wire(exchange) as expected:
        body = await target.asend(request)
    return _seen(exchange, expected, target, body, monotonic() - started)


def _passed(exchange: Exchange, target: Target, asked: Request) -> None:
    """Remember that a stored answer served the call, where somebody wants to know."""
    watch = exchange.watch
    if watch.route.trace is not None:
        from pytest_promptfuzz.wire.traces import Passed

        body = exchange.wire.body if watch.route.in_flight is None else target.prepare(asked).body
        watch.route.trace.add(Passed(exchange, body, None))


def _mutated(target: Target, request: Request, watch: Watch) -> tuple[Request, WireRequest]:
    """What is asked instead, where the watch mutates what is asked, and its wire request."""
    if watch.route.in_flight is None:
        return request, target.prepare(request)
    messages = watch.route.in_flight.rewritten({"messages": list(request.messages)})["messages"]
    request = replace(request, messages=tuple(messages))
    wire = target.prepare(request)
    if not wire.url.startswith(IN_PROCESS):
        # A format may join messages into one text, and that is what the wire shows.
        wire = replace(wire, body=watch.route.in_flight.rewritten(wire.body))
    return request, wire


def _draws(send: Any) -> bool:
    """Whether an in-process model can be told which draw to make: the same one on every machine and run."""
    return "sample" in inspect.signature(send).parameters


@contextlib.contextmanager
def _on_the_wire(exchange: Exchange) -> Iterator[Prepared]:
    from pytest_promptfuzz.targets.sdk import retried_below

    watch = exchange.watch
    expected = Prepared(exchange.wire, exchange.digest, exchange.nth)
    token = prepared.set(expected)
    below = retried_below.set(watch.route.gate is not None)
    known = len(watch.faults)
    try:
        with intercepting(), watching(watch):
            yield expected
    except TargetError as error:
        if len(watch.faults) == known:
            exchange.refused(error)  # it went wrong where the wire is not seen
        raise
    finally:
        prepared.reset(token)
        retried_below.reset(below)


def _seen(
    exchange: Exchange, expected: Prepared, target: Target, body: dict[str, Any], seconds: float
) -> Response:
    if not expected.seen:
        # A target with an HTTP client of its own: nobody else can record its answer.
        again = Exchange(exchange.watch, exchange.wire, parse=target.parse)
        return again.given(target, body, seconds)
    response = target.parse(body)
    took = seconds if expected.seconds is None else expected.seconds
    return replace(response, latency=0.0 if expected.hit else took, cached=expected.hit)
