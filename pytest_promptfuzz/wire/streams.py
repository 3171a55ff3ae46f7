"""Streamed answers: byte streams and responses of httpx2 or httpx, neither of which is imported here."""

from __future__ import annotations

import codecs
import functools
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.files import unpacked_body, unpacked_pieces
from pytest_promptfuzz.providers.formats import reported_error, stream_begun
from pytest_promptfuzz.wire.calls import STREAM

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
def streams_of(library: ModuleType) -> Streams:  # noqa: C901 - classes, whose bases are known at run time only
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


# The beginning of a streamed answer, held back until it holds some of the answer.
#
# Providers announce an answer before they make it, and report there that they are overloaded. What was not handed on
# can still be taken back, so that the call is made again as after any other failure.


_EVENT_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LONGEST_END = 4
_LONGEST_REPORT = 4096  # bytes; an answer is seldom as short, and need not be read twice


class Beginning:
    """What was read of a stream, and the stream itself, to be read on.

    Args:
        response: The library's response, its stream not yet read.
        path: The path of the request, which tells the format; ``None`` holds nothing back.

    Attributes:
        failure: What cut the stream short before any of the answer came.
        reported: What the provider said had gone wrong, or that the stream was over before any of the answer came.
    """

    def __init__(self, response: Any, path: str | None) -> None:
        self.failure: Exception | None = None
        self.reported: TargetError | None = None
        self._stream = response.stream
        self._rest: Any = None
        self._chunks: list[bytes] = []
        self._unread = b""
        encoding = response.headers.get("content-encoding", "identity")
        self._path = path if encoding == "identity" else None

    def read(self) -> None:
        """Read until there is some of the answer, or nothing more to come."""
        self._rest = iter(self._stream)
        if self._path is None:
            return
        try:
            for chunk in self._rest:
                if self._is_enough(chunk):
                    return
        except Exception as error:  # noqa: BLE001 - tried again, or handed on to the reader, whatever it is
            self.failure = error
        except BaseException:
            self.close()
            raise
        else:
            self._over()

    async def aread(self) -> None:
        """As ``read``."""
        self._rest = self._stream.__aiter__()
        if self._path is None:
            return
        try:
            async for chunk in self._rest:
                if self._is_enough(chunk):
                    return
        except Exception as error:  # noqa: BLE001 - as above
            self.failure = error
        except BaseException:
            await self.aclose()
            raise
        else:
            self._over()

    def _is_enough(self, chunk: bytes) -> bool:
        self._chunks.append(chunk)
        since = max(0, len(self._unread) - _LONGEST_END)
        self._unread += chunk
        ends = [each.end() for each in _EVENT_END.finditer(self._unread, since)]
        if not ends or self._path is None:
            return False
        events, self._unread = self._unread[: ends[-1]], self._unread[ends[-1] :]
        try:
            return stream_begun(self._path, events)
        except TargetError as error:
            # What cannot be read is no failure that passes: whoever reads on will meet it.
            self.reported = None if error.kind == "malformed" else error
            return True

    def _over(self) -> None:
        self.reported = TargetError("The stream ended before any of the answer came.", kind="connection")

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks
        if self.failure is not None:
            raise self.failure
        yield from self._rest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        if self.failure is not None:
            raise self.failure
        async for chunk in self._rest:
            yield chunk

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    async def aclose(self) -> None:
        """Close the stream."""
        if hasattr(self._rest, "aclose"):
            await self._rest.aclose()
        await self._stream.aclose()


def reported_in(response: Any, raw: bytes, path: str) -> TargetError | None:
    """The error that a whole answer of status 200 reports in the place of an answer, as gateways do."""
    if response.status_code != 200 or len(raw) > _LONGEST_REPORT:
        return None
    try:
        return reported_error(path, unpacked(response, raw))
    except Exception:  # noqa: BLE001 - what cannot be read is no report; whoever reads the answer says what it is
        return None


def unpacked(response: Any, raw: bytes) -> bytes:
    """The body of a response without its content encoding; nothing where it has another or is too large."""
    encoding = response.headers.get("content-encoding", "identity")
    if encoding == "identity":
        return raw
    library = sys.modules[type(response).__module__.partition(".")[0]]
    try:
        return unpacked_body(library, encoding, raw)
    except Exception:  # noqa: BLE001 - too large, or the library's DecodingError, a class we cannot name here
        return b""


def is_stream(response: Any) -> bool:
    """Whether an answer is a stream of events."""
    kind = response.headers.get("content-type", "").lower()
    return bool(response.status_code < 400 and kind.startswith(STREAM))
