"""A call that was seen by a watch of its own becomes one of the run that it was made for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_promptfuzz.wire.calls import CallOrder
    from pytest_promptfuzz.wire.watch import Watch


def adopt(watch: Watch, other: Watch, order: CallOrder | None = None) -> None:
    """Let a run have seen what another watch saw of its call.

    Args:
        watch: The run's; the call's index is taken in it.
        other: The call's.
        order: Where the run made the call; by default here.
    """
    for call in other.calls:
        watch.record(replace(call, order=watch.order_here() if order is None else order))
    # Faults know whether they were recovered: a call that is recorded after them would say that they were.
    for fault in other.faults:
        watch.fault(fault)
    for text in other.notes:
        watch.note(text)
    for _ in range(other.retries):
        watch.retried()
    watch.given_up.update(other.given_up)
    if watch.fresh is not None and other.fresh is not None:
        for key, answer in other.fresh.items():
            watch.fresh.put(key, answer)
