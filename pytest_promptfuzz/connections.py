"""Which connections are ours, or followed: the network guard leaves them alone."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


followed: ContextVar[bool] = ContextVar("promptfuzz_followed", default=False)


@contextmanager
def following() -> Iterator[None]:
    """What connects inside the block is ours, or followed."""
    token = followed.set(True)
    try:
        yield
    finally:
        followed.reset(token)
