"""A call below the SDK: its request, through the HTTP library that it stands on, without loading the SDK.

What the SDK raises is raised here under the same names, so that ``failures.failure`` reads both alike.
"""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.targets.clients import Clients

# As the SDKs have them.
_CONNECTIONS = {"max_connections": 1000, "max_keepalive_connections": 100, "keepalive_expiry": 5.0}


class APIStatusError(Exception):
    """The provider answered with an error."""

    def __init__(self, status: int, raw: bytes) -> None:
        text = raw.decode("utf-8", "replace").strip()
        self.status_code = status
        self.body: Any = text
        try:
            self.body = json.loads(text)
        except ValueError:
            super().__init__(f"Error code: {status}")
        else:
            super().__init__(f"Error code: {status} - {self.body}")


class APIConnectionError(Exception):
    """No answer came."""


class APITimeoutError(APIConnectionError):
    """No answer came in time."""


class _Client:
    """An HTTP client that is closed as the SDKs' clients are."""

    def __init__(self, library: Any, timeout: float) -> None:
        limits = library.Limits(**_CONNECTIONS)
        self.http = library.AsyncClient(timeout=timeout, limits=limits, follow_redirects=True)

    async def close(self) -> None:
        await self.http.aclose()


def http_library() -> Any:
    """The HTTP library that the SDKs of today stand on; ``None`` where it is not installed."""
    try:
        return importlib.import_module("httpx2")
    except ImportError:
        return None


async def apost(
    clients: Clients,
    library: Any,
    url: str,
    headers: Mapping[str, str],
    body: Mapping[str, Any],
    timeout: float,
) -> tuple[int, bytes]:
    """Post a JSON body; status and body of the answer.

    Args:
        clients: Where overlapping calls of one loop find the same client.
        library: From :func:`http_library`.
        url: Absolute.
        headers: All but those of every HTTP request.
        body: The JSON object.
        timeout: Seconds for one step of the exchange.

    Raises:
        APIStatusError: The answer's status is 400 or more.
        APIConnectionError: There is none.
    """
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    async with clients.lease(("direct", timeout), lambda: _Client(library, timeout)) as client:
        try:
            answer = await client.http.post(url, headers=dict(headers), content=content)
        except library.TimeoutException as error:
            raise APITimeoutError("Request timed out.") from error
        except library.TransportError as error:
            raise APIConnectionError("Connection error.") from error
        if answer.status_code >= 400:
            raise APIStatusError(answer.status_code, answer.content)
        return answer.status_code, answer.content
