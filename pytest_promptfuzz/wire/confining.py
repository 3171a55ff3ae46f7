"""A replayed test reaches this machine only: what is no recorded model call does not leave it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.wire.watch import confining

if TYPE_CHECKING:
    from types import ModuleType

_LOCAL = frozenset({"localhost", "::1", "0.0.0.0", "::"})  # noqa: S104 - names to compare with, nothing is bound


def keep_local(library: ModuleType, request: Any) -> None:
    """Refuse an HTTP request to another machine while a test is replayed.

    Raises:
        Exception: The library's ``ConnectError``, as where there is no network.
    """
    watch = confining()
    if watch is None or is_local(request.url.host):
        return
    message = (
        f"{request.method} {watch.redaction.url(str(request.url))} was refused: a replayed test reaches this machine "
        "only. Answer it locally, or run the test in another mode."
    )
    watch.note(message)
    raise library.ConnectError(message, request=request)


def is_local(host: str) -> bool:
    """Whether a host name or address is this machine's own.

    >>> is_local("127.0.0.1"), is_local("api.localhost"), is_local("127.0.0.1.example.com")
    (True, True, False)
    """
    name = host.strip("[]").lower()
    digits = name.split(".")
    loopback = len(digits) == 4 and digits[0] == "127" and all(each.isdigit() for each in digits)
    return name in _LOCAL or name.endswith(".localhost") or loopback
