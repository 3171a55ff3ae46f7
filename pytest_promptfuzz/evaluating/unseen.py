"""Baselines that ask a model where the wire is not seen: errors that offer the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import ConfigurationError
from pytest_promptfuzz.wire.unseen import suspects

if TYPE_CHECKING:
    from pytest_promptfuzz.running.run import Run

_MOST = 4
WAY_OUT = (
    "Let the application ask through a recording proxy: give it a base URL of the fixture promptfuzz_proxy, or that of "
    "`promptfuzz serve --proxy URL` for a program that no test starts."
)


def refuse_unseen(run: Run, where: str) -> None:
    """Refuse a baseline that asked a model through a library that is not seen.

    Raises:
        ConfigurationError: It did; the library and the address are named.
    """
    asking = list(dict.fromkeys(str(each) for each in run.watch.unseen if each.asks_model))
    if asking:
        raise ConfigurationError(
            f"{where}: a model was asked through {', '.join(asking[:_MOST])}. That is not seen: its answers cannot be "
            f"stored, limited or mutated on the wire. {WAY_OUT}"
        )


def nothing_seen(run: Run) -> str:
    """What to say of a run in which no model call was seen at all."""
    begun = list(dict.fromkeys(map(str, run.watch.unseen)))
    said = f" Begun, and not seen further: {', '.join(begun[:_MOST])}." if begun else ""
    loaded = suspects()
    also = f" Loaded, and not seen: {', '.join(loaded)}." if loaded else ""
    return f"No model call was seen; seen are those through httpx and httpx2, which the SDKs use.{said}{also} {WAY_OUT}"
