"""How a test differs from its snapshot, apart from robustness."""

from __future__ import annotations

from typing import Any, TypedDict


class DriftReport(TypedDict):
    """One way in which a test is not what its snapshot says.

    ``kind`` is ``model`` (the same prompt has another answer), ``prompt`` (the prompt is another) or ``comparator``
    (answers are compared, or mutations made, by other versions); ``policy`` is ``fail``, ``warn`` or ``ignore``.
    ``message`` is a sentence. ``before`` and ``after`` are the answers to the unmutated prompt of input ``case``, or
    what else changed. ``p`` is the probability that noise alone makes answers differ so.
    """

    kind: str
    policy: str
    message: str
    before: Any
    after: Any
    case: int | None
    p: float | None
