"""Byte streams and responses of whichever HTTP library is in use, httpx2 or httpx, which we never import."""

from __future__ import annotations

import codecs
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.wire.unpacking import unpacked_pieces

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from types import ModuleType

CACHE_HEADER = "x-promptfuzz-cache"


class Streams(NamedTuple):
    """The stream classes for one library: it insists on instances of its own base classes."""

    tee: Any
    async_tee: Any
    broken: Any


class _Collected:
    """What a tee has seen, told once, when the stream ends.

    Args:
        ended: Takes the raw bytes, the exception that ended the stream, and whether its reader left early.
    """

    def __init__(self, ended: Callable[[bytes, BaseException | None, bool], None]) -> None:
        self._chunks: list[bytes] = []
        self._ended = ended
        self._told = False

    def add(self, chunk: bytes) -> bytes:
        self._chunks.append(chunk)
        return chunk

    def tell(self, error: BaseException | None = None, *, early: bool = False) -> None:
        if not self._told:
            self._told = True
            self._ended(b"".join(self._chunks), error, early)


@functools.cache
def streams_of(library: ModuleType) -> Streams:
    """The stream classes for ``library``."""

    class Tee(library.SyncByteStream):  # type: ignore[misc, name-defined]  # known at run time
        """Passes a stream on, chunk by chunk, and tells what came when it ends."""

        def __init__(self, inner: Any, ended: Any) -> None:
            self._inner = inner
            self._seen = _Collected(ended)

        def __iter__(self) -> Iterator[bytes]:
            try:
                for chunk in self._inner:
                    yield self._seen.add(chunk)
            except GeneratorExit:
                raise  # left early: close() tells
            except BaseException as error:
                self._seen.tell(error)
                raise
            self._seen.tell()

        def close(self) -> None:
            try:
                self._inner.close()
            finally:
                self._seen.tell(early=True)

    class AsyncTee(library.AsyncByteStream):  # type: ignore[misc, name-defined]  # as above
        """Passes a stream on, chunk by chunk, and tells what came when it ends."""

        def __init__(self, inner: Any, ended: Any) -> None:
            self._inner = inner
            self._seen = _Collected(ended)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            inner = self._inner.__aiter__()
            try:
                async for chunk in inner:
                    yield self._seen.add(chunk)
            except GeneratorExit:
                raise  # left early: aclose() tells
            except BaseException as error:
                self._seen.tell(error)
                raise
            else:
                self._seen.tell()
            finally:
                if hasattr(inner, "aclose"):
                    await inner.aclose()

        async def aclose(self) -> None:
            try:
                await self._inner.aclose()
            finally:
                self._seen.tell(early=True)

    class Broken(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc, name-defined]  # as above
        """What came of a body, and then the exception that cut it short, as the reader would have met it."""

        def __init__(self, content: bytes, error: Exception) -> None:
            self._content = content
            self._error = error

        def __iter__(self) -> Iterator[bytes]:
            yield self._content
            raise self._error

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield self._content
            raise self._error

    return Streams(Tee, AsyncTee, Broken)


def breaks_in(library: ModuleType, encoding: str, raw: bytes) -> tuple[bytes, Exception | None]:
    """The text of a stream that its reader left, and what is wrong in what came of it; half a stream is not wrong."""
    pieces: list[bytes] = []
    try:
        # Before the library asks its decoder for an end that never came.
        for each in unpacked_pieces(library, encoding, raw, then=_LeftEarly()):
            pieces.append(each)  # noqa: PERF402 - what came before a failure is needed as well
    except _LeftEarly:
        pass
    except Exception as error:  # noqa: BLE001 - the library's DecodingError, a class we cannot name here
        return b"".join(pieces), error
    text = b"".join(pieces)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(text)
    except UnicodeDecodeError as error:
        return text, error
    return text, None


class _LeftEarly(Exception):  # noqa: N818 - nothing is wrong: the reader had enough
    """There is no more of the stream."""


def build_response(library: ModuleType, status: int, headers: dict[str, str], content: bytes) -> Any:
    """A response of the library's own, as its transport would return it: not yet read."""
    whole = {**headers, "content-length": str(len(content))}
    return library.Response(status, headers=whole, stream=library.ByteStream(content))
