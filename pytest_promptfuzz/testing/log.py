"""What a model server was asked, without the secrets."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_promptfuzz.testing.http import HttpRequest

SECRET_HEADER = re.compile(r"authorization|cookie|api-?key|token|secret|password", re.IGNORECASE)
SECRET_QUERY = re.compile(
    r"(?<=[?&])([^=&]*(?:key|token|secret|sig|code|password)[^=&]*)=[^&]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request to a model endpoint.

    Attributes:
        method: ``POST`` or ``GET``.
        path: With its query; values of query keys that look like credentials are replaced by ``***``.
        body: The JSON object sent; ``None`` if it was none.
        headers: Names in lower case, without those that carry credentials.
        text: The body as text.
    """

    method: str
    path: str
    body: dict[str, Any] | None
    headers: dict[str, str]
    text: str

    @classmethod
    def of(cls, request: HttpRequest) -> Recorded:
        """The record of a request."""
        text = request.body.decode("utf-8", "replace")
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        return cls(
            method=request.method,
            path=SECRET_QUERY.sub(r"\1=***", request.path),
            body=parsed if isinstance(parsed, dict) else None,
            headers={
                name: value for name, value in request.headers.items() if not SECRET_HEADER.search(name)
            },
            text=text,
        )
