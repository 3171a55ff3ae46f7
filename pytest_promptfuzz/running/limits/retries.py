"""Which failures are tried again, and how long after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.running.limits.headers import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

ATTEMPTS = 4
"""How often a call is made at the most, by default."""
MAX_WAIT = 60.0
"""How long calls are waited for while a provider refuses every one of them, in seconds, by default."""
FIRST_WAIT = 0.5
LONGEST_WAIT = 8.0
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0

LIMITED = frozenset({429, 529})
_PASSING = frozenset({408, 409, *LIMITED})


def is_passing(status: int, headers: Mapping[str, str]) -> bool:
    """Whether an error answer may be another the next time: as the SDKs judge, the provider's own word first."""
    said = headers.get("x-should-retry")
    return said == "true" if said in {"true", "false"} else status in _PASSING or status >= 500


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the provider asks to wait, or ``None``; 0 is no answer."""
    return retry_after(headers, now) or None


def backoff(tries: int, rng: Random) -> float:
    """Seconds to wait after so many tries, from 1: exponential, with full jitter."""
    return rng.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (tries - 1)))


def pause(refusals: int, rng: Random) -> float:
    """Seconds for which a lane rests after so many refused rounds, from 1, where the provider names no time."""
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(refusals - 1, 10))
    return rng.uniform(longest / 2, longest)
