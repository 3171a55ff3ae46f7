"""Calls that are made early, and the transports that are kept open for them."""

from __future__ import annotations

import httpx2
import pytest

from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.wire.exchange import begin
from pytest_promptfuzz.wire.live_calls import Early
from pytest_promptfuzz.wire.traces import Borrowing, RequestRoute
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunSettings, Watch

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


class Transport(httpx2.HTTPTransport):
    """Counts how often it is closed."""

    closed = 0

    def close(self) -> None:
        self.closed += 1
        super().close()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_transport_of_two_tests_stays_open_until_both_have_given_it_back(order) -> None:
    transport, both = Transport(), [Borrowing(), Borrowing()]
    for each in both:
        each.borrow(transport)
    first, last = (both[index] for index in order)
    with httpx2.Client(transport=transport):
        first.give_back()
    assert transport.closed == 0
    last.give_back()
    assert transport.closed == 1
    transport.close()
    assert transport.closed == 2  # it is the application's own again
    assert not {"close", "__exit__"} & vars(transport).keys()


def test_a_transport_that_nobody_closed_is_not_closed() -> None:
    transport, borrowing = Transport(), Borrowing()
    borrowing.borrow(transport)
    borrowing.give_back(but=[transport])
    transport.close()
    assert transport.closed == 0
    borrowing.give_back()
    assert transport.closed == 1
    borrowing.borrow(transport)
    borrowing.give_back()
    assert transport.closed == 1


def test_a_run_never_waits_for_a_call_whose_end_could_not_be_told(parrot) -> None:
    def answered(_: object) -> None:
        raise LookupError("no rule")

    ended: list[bool] = []
    with ModelServer(parrot) as server, httpx2.HTTPTransport() as transport, intercepting():
        url = f"{server.openai_url}/chat/completions"
        request = httpx2.Request("POST", url, json=BODY)
        request.read()
        run = Watch()
        exchange = begin(run, url, request.headers, request.content)
        way = RequestRoute(httpx2, transport, request, httpx2.HTTPTransport.handle_request.__wrapped__)
        early = Early(way, BODY, Watch(RunSettings(apart=True)), exchange.digest, exchange.nth, answered)
        early.then(lambda: ended.append(True))
        with pytest.raises(LookupError, match="no rule"):
            early.make()
        assert ended == [True]
        response = early.adopt(exchange, httpx2)
    assert (response.status_code, server.calls) == (200, 1)
    assert [call.response.text for call in run.calls] == ["Hi #0"]
