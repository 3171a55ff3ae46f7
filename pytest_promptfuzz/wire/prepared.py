"""What ``ask`` expects to see on the wire: two layers of one call know of each other by it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.wire.key import request_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.targets.model import WireRequest


@dataclass(slots=True)
class Prepared:
    """The request that ``ask`` expects to see on the wire, having found no answer, and what became of it there.

    Attributes:
        wire: The request.
        digest: Its ``request_digest``.
        nth: Its index among identical requests of the run.
        seen: Whether it was seen.
        hit: Whether it was answered from a store after all.
        seconds: How long the call took, where it was made early.
    """

    wire: WireRequest
    digest: str
    nth: int
    seen: bool = False
    hit: bool = False
    seconds: float | None = None

    def difference(self, sent: WireRequest, url: str, ignore: Sequence[str]) -> str:
        """What the person must know if another request was sent than was prepared."""
        paths: list[Any] = request_difference(self.wire, sent, ignore=ignore)
        shown = ", ".join(paths[:8]) + (" and more" if len(paths) > 8 else "")
        return (
            f"The request to {url} was prepared otherwise than the SDK sent it, at {shown}: its answer is stored under "
            "what was sent, and found again only through the SDK. Please report this with the SDK's version."
        )


prepared: ContextVar[Prepared | None] = ContextVar("promptfuzz_prepared", default=None)
