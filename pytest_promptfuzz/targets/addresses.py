"""Base URLs: where a model answers, checked, and without credentials."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from pytest_promptfuzz.errors import UsageError

_DEFAULT_PORTS = {"http": 80, "https": 443}
_QUERY_ALLOWED = frozenset({"api-version"})


class Address(NamedTuple):
    """A base URL taken apart: ``base`` has no query and no slash at its end."""

    base: str
    query: tuple[tuple[str, str], ...]
    host: str

    def url(self, path: str) -> str:
        """The absolute URL of a path under this base, as the SDKs make it."""
        return self.base + path + ("?" + urlencode(self.query) if self.query else "")

    def __str__(self) -> str:
        return self.url("")


def address(url: str, source: str) -> Address:
    """Check a base URL and take it apart.

    Args:
        url: An absolute http or https URL.
        source: Where it was given (an option, a variable), for the error.

    Raises:
        UsageError: For anything else, and for a URL with a password or a key in it, which would end up in
            recordings and reports. The error shows neither.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in _DEFAULT_PORTS or not host:
        shown = f", {url!r}," if "@" not in url and "?" not in url else ""
        msg = (
            f"The base URL of {source}{shown} is not an http or https URL. Write 'http://localhost:11434/v1'."
        )
        raise UsageError(msg)
    if parts.username is not None or parts.password is not None:
        msg = f"The base URL of {source} holds a user name or password. Give keys by environment variable."
        raise UsageError(msg)
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    refused = sorted({name for name, _ in query} - _QUERY_ALLOWED)
    if refused or parts.fragment:
        what = ", ".join(refused) if refused else "a fragment"
        msg = f"The base URL of {source} carries {what}; only 'api-version' may stand in its query."
        raise UsageError(msg)
    place = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        place = f"{place}:{port}"
    return Address(f"{parts.scheme}://{place}{parts.path.rstrip('/')}", query, host)
