"""What a run would ask: it goes up to the first call that has no answer yet, which is noted and not made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.model import WireRequest
    from pytest_promptfuzz.wire.exchange import Exchange

_SIMULATED = "simulated/"  # how the backend of the simulated model begins; it costs nothing


class NotYetError(BaseException):
    """Ends a run at a call that has no answer yet; no ``except Exception`` of an application holds it up."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A call that has no answer yet.

    Attributes:
        wire: The request.
        digest: ``request_digest`` of it.
        nth: Which identical request of the run, from 0.
    """

    wire: WireRequest
    digest: str
    nth: int


@dataclass(slots=True)
class Notebook:
    """What one run would ask.

    Attributes:
        noted: Several where a run makes several calls at once.
    """

    noted: list[Noted] = field(default_factory=list)

    def stop(self, exchange: Exchange) -> None:
        """Note a call and end the run, but for a call that costs nothing.

        Raises:
            NotYetError: The call was noted.
        """
        if not exchange.backend.startswith(_SIMULATED):
            self.noted.append(Noted(exchange.wire, exchange.digest, exchange.nth))
            raise NotYetError
