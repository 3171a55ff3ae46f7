"""Keys in replay: SDKs refuse to make a client without one, and nothing is sent that would need it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STAND_IN = "none-in-replay"
# What an SDK reads its key from; the first is set where none of them is.
_VARIABLES = (("OPENAI_API_KEY",), ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"))


@contextmanager
def keys_of(mode: str) -> Iterator[None]:
    """Let SDKs find a key while the body of a robust test is replayed, where the environment has none.

    No longer than that: other tests may be skipped, or fail, by whether a key is there.
    """
    lacking = _lacking()
    if mode != "replay" or not lacking:
        yield
        return
    before = {name: os.environ.get(name) for name in lacking}
    os.environ.update(dict.fromkeys(lacking, STAND_IN))
    try:
        yield
    finally:
        for name, value in before.items():
            if os.environ.get(name) != STAND_IN:
                continue  # the test set it for others
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def wanted_earlier(mode: str, reports: Iterable[Any]) -> str:
    """What to say of a replay in which something else than a test's body wanted a key; empty where nothing did.

    Args:
        mode: The run's.
        reports: What ended in an error: modules that could not be collected, and tests that could not be set up.
    """
    if mode != "replay":
        return ""
    early = [each for each in reports if getattr(each, "when", "collect") in {"collect", "setup"}]
    for name in _lacking():
        place = next((each.nodeid for each in early if name in str(each.longrepr)), None)
        if place is not None:
            return (
                f"{place} wants {name} before the body of a test runs, and only there a replay needs none. Make the "
                f"client where it is first used, or set {name} to any text: nothing is sent that would need it."
            )
    return ""


def _lacking() -> list[str]:
    return [names[0] for names in _VARIABLES if not any(map(os.environ.get, names))]
