"""The beginning of a streamed answer, held back until it holds some of the answer.

Providers announce an answer before they make it, and report there that they are overloaded. What was not handed on can
still be taken back, so that the call is made again as after any other failure.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.targets.formats import reported_error, stream_begun
from pytest_promptfuzz.wire.unpacking import unpacked_body

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

STREAM = "text/event-stream"
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
