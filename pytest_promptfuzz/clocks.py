"""The real time, for what waits: a test may freeze its application's clock, and the plugin goes on.

freezegun puts its own functions into every module that holds one of Python's, and in front of ``time`` itself;
time-machine changes what Python's functions for the time of day return; a test may replace ``time.sleep``. So the clock
of the operating system is read where there is one, and what is taken from ``time`` is kept where nobody looks for it.
"""

from __future__ import annotations

import functools
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# In a mapping, or a partial: freezegun replaces what modules hold by name.
_REAL: dict[str, Any] = {"sleep": time.sleep}
if hasattr(time, "clock_gettime") and hasattr(time, "CLOCK_MONOTONIC"):
    monotonic: Callable[[], float] = functools.partial(time.clock_gettime, time.CLOCK_MONOTONIC)
    """Seconds since some time, of one clock for all processes of this machine."""
else:
    monotonic = functools.partial(time.monotonic)
_APART = 1.0  # seconds between the real clock and an event loop's that is another


def now() -> float:
    """Seconds since the epoch."""
    return _BEGAN + monotonic()


def sleep(seconds: float) -> None:
    """Wait in this thread."""
    _REAL["sleep"](seconds)


async def asleep(seconds: float) -> None:
    """Wait in an event loop of asyncio or trio; where its clock stands still, in a thread."""
    import anyio  # both HTTP libraries stand on it
    from anyio import to_thread

    if _stands_still():
        await to_thread.run_sync(_REAL["sleep"], seconds, abandon_on_cancel=True)
    else:
        await anyio.sleep(seconds)


def _stands_still() -> bool:
    """Whether an event loop may have another clock than the real one."""
    freezegun = sys.modules.get("freezegun.api")
    if freezegun is not None and getattr(freezegun, "freeze_factories", None):
        return True
    return abs(time.monotonic() - monotonic()) > _APART


_BEGAN = time.time() - monotonic()
