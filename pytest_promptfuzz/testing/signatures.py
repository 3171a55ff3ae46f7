"""AWS's signatures on their way through a proxy: made for its address, they are worth nothing at the provider's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

KEY_VARIABLE = "PROMPTFUZZ_BEDROCK_KEY"
_PARTS = ("authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token")


def unsigned(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Headers without an AWS signature, which would not fit the provider's address, or a mutated body.

    The API key of Amazon Bedrock in ``PROMPTFUZZ_BEDROCK_KEY`` takes its place; boto3 itself sends none without https.
    """
    given = list(headers)
    if not any(name.lower() == "authorization" and value.startswith("AWS4-") for name, value in given):
        return given
    kept = [(name, value) for name, value in given if name.lower() not in _PARTS]
    key = os.environ.get(KEY_VARIABLE)
    return [*kept, ("authorization", f"Bearer {key}")] if key else kept
