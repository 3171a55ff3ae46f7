"""A call that was seen by a watch of its own becomes one of the run that it was made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_promptfuzz.wire.watch import Watch


def adopt(watch: Watch, other: Watch) -> None:
    """Let a run have seen what another watch saw of its call.

    Args:
        watch: The run's; the call's index is taken in it.
        other: The call's.
    """
    for call in other.calls:
        watch.record(call)
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
