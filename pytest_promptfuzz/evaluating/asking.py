"""The body of an evaluation whose calls are made for it: a prompt is asked of a target, seen by the run's watch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.requests import as_request
from pytest_promptfuzz.wire.ask import aask, ask
from pytest_promptfuzz.wire.watch import current

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.targets.model import Request, Target
    from pytest_promptfuzz.wire.watch import Watch


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a target.

    Attributes:
        target: A model, or a function of the application.
        parameters: More for the request body; none for a function.
    """

    target: Target | CallableTarget
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def request(self, prompt: Prompt) -> Request:
        """What is asked of a model for a prompt."""
        return as_request(prompt, **self.parameters)

    def ask(self, prompt: Prompt) -> Any:
        """A model's ``Response``, or what the function returned; inside ``running.run`` only.

        Raises:
            TargetError: The call failed, or the function's answer is no text.
            UsageError: The request cannot be sent, or the function is asynchronous.
            Exception: Whatever the function raises.
        """
        if isinstance(self.target, CallableTarget):
            return self.target.call(prompt)
        return ask(self.target, self.request(prompt), watch_of_the_run())

    async def aask(self, prompt: Prompt) -> Any:
        """As ``ask``, without blocking the event loop; the function may be asynchronous."""
        if isinstance(self.target, CallableTarget):
            return await self.target.acall(prompt)
        return await aask(self.target, self.request(prompt), watch_of_the_run())


def watch_of_the_run() -> Watch:
    """The watch of the run that goes on."""
    watch = current.get()
    if watch is None:  # `running.run` sets it around every body
        raise RuntimeError("no run is going on")
    return watch
