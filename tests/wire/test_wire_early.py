"""Transports that are kept open for calls that are made early."""

from __future__ import annotations

import httpx2
import pytest

from pytest_promptfuzz.wire.trace import Borrowing


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
