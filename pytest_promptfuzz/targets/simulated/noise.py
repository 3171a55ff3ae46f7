"""Whether this sample of an answer is to differ, drawn from a hash and from nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_promptfuzz.providers.requests import Request


def draw(seed: int, request: Request, sample: int, noise: float) -> int:
    """0 for the model's own answer, else the number (from 1) of the alternative to give instead.

    The share of non-zero draws over samples and requests is ``noise``: a uniform number is made of 53 bits of
    sha256 over seed, messages, tools and sample.
    """
    if noise <= 0:
        return 0
    asked = {"messages": request.messages, "tools": request.parameters.get("tools")}
    text = json.dumps([seed, sample, asked], sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).digest()
    uniform = (int.from_bytes(digest[:8], "big") >> 11) / 2**53
    return 1 + digest[8] % 5 if uniform < noise else 0
