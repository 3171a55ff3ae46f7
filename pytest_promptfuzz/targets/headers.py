"""Headers of requests: which change the answer, and which a caller adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.model import Request


def changes_answers(header: str) -> bool:
    """Whether a header, in lower case, is part of what is asked."""
    return header == "anthropic-version" or header.endswith("-beta")


def extra_headers(request: Request, name: str) -> dict[str, str]:
    """The headers that a request to the target ``name`` adds, names in lower case.

    Raises:
        UsageError: They are no dict of strings.
    """
    given = request.parameters.get("extra_headers") or {}
    if not isinstance(given, dict) or not all(
        isinstance(each, str) for pair in given.items() for each in pair
    ):
        msg = f"extra_headers= of a request to {name!r} is not a dict of strings."
        raise UsageError(msg)
    return {key.lower(): value for key, value in given.items()}
