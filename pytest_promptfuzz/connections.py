"""Connections that the network guard lets pass: the plugin's own, and those that are followed."""

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


_exempt: set[tuple[str, int]] = set()


@contextmanager
def exempt(host: str, port: int) -> Iterator[None]:
    """Let requests to an address be no model calls: a proxy of ours listens there, and what it sends is seen."""
    _exempt.add((host, port))
    try:
        yield
    finally:
        _exempt.discard((host, port))


def is_exempt(host: str, port: int | None) -> bool:
    """Whether what is sent to an address is seen where it goes on."""
    return (host, port) in _exempt
