"""What is compressed, laid open step by step and up to a limit: a small file may hold gigabytes of zeros.

Each function stops at its limit before more than a piece beyond it is in memory.
"""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING, BinaryIO

from pytest_promptfuzz.errors import StoreError, TargetError
from pytest_promptfuzz.files import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

MAX_FILE = 256 * 1024 * 1024
"""Bytes that a compressed file may hold."""
MAX_BODY = 64 * 1024 * 1024
"""Bytes that the body of a request or an answer may hold."""

_PIECE = 1024 * 1024
# Bytes that are laid open at once. Of Brotli and Zstandard a few of them may be megabytes.
_FEED = {"gzip": 8192, "x-gzip": 8192, "deflate": 8192}
_FEW = 64


def unpacked_file(path: Path, limit: int = MAX_FILE) -> bytes:
    """All of a file that is compressed with gzip.

    Raises:
        OSError, EOFError, zlib.error: It cannot be read, or is no such file.
        StoreError: It holds more than the limit.
    """
    pieces: list[bytes] = []
    size = 0
    with open_file(path) as packed, gzip.open(packed) as file:
        while piece := file.read(_PIECE):
            size += len(piece)
            if size > limit:
                raise StoreError(
                    f"it holds more than {shown(limit)} once it is unpacked. Record fewer tests into one file, or "
                    "store it without .gz"
                )
            pieces.append(piece)
    return b"".join(pieces)


def copy_unpacked(source: BinaryIO, target: BinaryIO, limit: int) -> None:
    """Write what a compressed file holds into another.

    Raises:
        StoreError: It holds more than the limit.
    """
    size = 0
    while piece := source.read(_PIECE):
        size += len(piece)
        if size > limit:
            raise StoreError(f"it holds more than {shown(limit)} once it is unpacked")
        target.write(piece)


def unpacked_body(library: ModuleType, encoding: str, raw: bytes, limit: int | None = None) -> bytes:
    """A body without its content encoding (gzip, deflate, and what else the HTTP library knows).

    Args:
        library: httpx2 or httpx.
        encoding: As the header ``content-encoding`` names it.
        raw: The body as it was sent.
        limit: Bytes that it may hold; ``MAX_BODY`` by default.

    Raises:
        TargetError: It holds more than the limit, or is encoded more than once.
        Exception: The library's ``DecodingError``.
    """
    if encoding in {"", "identity"}:
        return raw
    return b"".join(unpacked_pieces(library, encoding, raw, limit))


def unpacked_pieces(
    library: ModuleType, encoding: str, raw: bytes, limit: int | None = None, *, then: Exception | None = None
) -> Iterator[bytes]:
    """As :func:`unpacked_body`, piece by piece; ``then`` is raised where the body ends, if it is no whole one."""
    most = MAX_BODY if limit is None else limit
    named = [each for each in encoding.lower().replace(" ", "").split(",") if each not in {"", "identity"}]
    if len(named) > 1:
        raise TargetError(
            f"The body is encoded {len(named)} times ({encoding:.60}), and is not unpacked. Encode it once.",
            kind="malformed",
        )
    step = _FEED.get(named[0], _FEW) if named else max(1, len(raw))

    class Slices(library.SyncByteStream):  # type: ignore[misc, name-defined]  # known at run time
        def __iter__(self) -> Iterator[bytes]:
            for start in range(0, len(raw), step):
                yield raw[start : start + step]
            if then is not None:
                raise then

    headers = {"content-encoding": named[0]} if named else {}
    size = 0
    for piece in library.Response(200, headers=headers, stream=Slices()).iter_bytes():
        size += len(piece)
        if named and size > most:
            raise TargetError(
                f"The body has {len(raw):,} bytes and more than {shown(most)} once it is unpacked ({named[0]}). It was "
                "not read; send or ask for less, or send it without compression.",
                kind="malformed",
            )
        yield piece


def shown(limit: int) -> str:
    """A limit as people read it.

    >>> shown(64 * 1024 * 1024)
    '64 MB'
    """
    return f"{limit // (1024 * 1024)} MB"


UNREADABLE = (OSError, EOFError, zlib.error, StoreError)
"""What reading a compressed file may raise."""
