"""The simulated model as a target: answers as a provider's API would give them, without a network."""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from pytest_promptfuzz.errors import TargetError, UsageError, nearest
from pytest_promptfuzz.providers.openai_chat import OPENAI_CHAT
from pytest_promptfuzz.providers.requests import Request, Response, ToolCall, Usage, WireRequest
from pytest_promptfuzz.targets.simulated.model import SimulatedModel

if TYPE_CHECKING:
    from collections.abc import Mapping


class SimulatedTarget:
    """A ``Target`` that asks the simulated model; the n-th identical request gets its n-th sample.

    Args:
        seed: Seed of the noise.
        noise: Share of answers that differ, 0 to 1.

    Raises:
        UsageError: A seed that is no integer, noise outside 0 to 1.
    """

    def __init__(self, *, seed: int = 0, noise: float = 0.0) -> None:
        self.model = SimulatedModel(seed=seed, noise=noise)
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def as_version(self, version: str) -> SimulatedTarget:
        """This target under the name of another version: recordings of that version have answers to what it asks."""
        if version in {"", self.model.version}:
            return self
        other = SimulatedTarget()
        other.model = SimulatedModel(seed=self.model.seed, noise=self.model.noise, version=version)
        return other

    @classmethod
    def parse_name(cls, name: str) -> SimulatedTarget:
        """The target written as an option: ``simulated``, ``simulated?noise=0.2&seed=3``.

        Raises:
            UsageError: Another name, an unknown setting, or a value that is not a number.
        """
        scheme, _, settings = name.partition("?")
        usage = "write simulated or simulated?noise=0.2&seed=3."
        if scheme.strip() != "simulated":
            raise UsageError(f"{name!r} is not the simulated model: {usage}")
        values: dict[str, Any] = {}
        for option, value in parse_qsl(settings, keep_blank_values=True):
            if option not in {"seed", "noise"}:
                raise UsageError(f"{name!r}: no setting {option!r}. {nearest(option, ['seed', 'noise'])}")
            if option in values:
                raise UsageError(f"{name!r}: {option} is given twice.")
            try:
                values[option] = int(value) if option == "seed" else float(value)
            except ValueError:
                kind = "an integer" if option == "seed" else "a number from 0 to 1"
                raise UsageError(f"{name!r}: {option}={value!r} is not {kind}.") from None
        if settings and not values:
            raise UsageError(f"{name!r}: {usage}")
        return cls(**values)

    @property
    def name(self) -> str:
        """``simulated``, with the settings that differ from their defaults."""
        settings = self._settings()
        return f"simulated?{settings}" if settings else "simulated"

    def prepare(self, request: Request) -> WireRequest:
        """The request as a chat-completions body for ``promptfuzz://simulated/VERSION?SETTINGS``.

        Version and settings are part of the address: answers of another version, seed or noise are other answers.
        """
        settings = self._settings()
        url = f"promptfuzz://simulated/{self.model.version}" + (f"?{settings}" if settings else "")
        body = {
            **request.parameters,
            "model": self.model.version,
            "messages": [dict(m) for m in request.messages],
        }
        return WireRequest(url, body)

    def parse(self, body: Mapping[str, Any]) -> Response:
        """The response in an answer body of ``send``.

        Raises:
            TargetError: ``malformed``, for a body that ``send`` cannot have made.
        """
        try:
            choice, usage = body["choices"][0], body.get("usage") or {}
            calls = tuple(
                ToolCall(each["function"]["name"], json.loads(each["function"]["arguments"]), each["id"])
                for each in choice["message"].get("tool_calls") or ()
            )
            return Response(
                text=choice["message"]["content"] or "",
                tool_calls=calls,
                usage=Usage(usage.get("prompt_tokens"), usage.get("completion_tokens")),
                model=body["model"],
                finish_reason=choice["finish_reason"],
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            problem = f"({type(error).__name__}: {error})"
            message = f"The stored answer of the simulated model is damaged {problem}."
            raise TargetError(message, kind="malformed") from error

    def send(self, request: Request, *, sample: int | None = None) -> dict[str, Any]:
        """Ask the model; the answer as a chat-completions body.

        Args:
            request: What is asked.
            sample: Which repeat of the same request it is; counted by the target itself when left out.
        """
        wire = self.prepare(request)
        if sample is None:
            identity = json.dumps(wire.body, sort_keys=True, default=str)
            with self._lock:
                sample = self._asked[identity]
                self._asked[identity] += 1
        return OPENAI_CHAT.encode_answer(self.model.answer(request, sample=sample), wire.body)

    async def asend(self, request: Request, *, sample: int | None = None) -> dict[str, Any]:
        """As ``send``."""
        return self.send(request, sample=sample)

    def _settings(self) -> str:
        values = {"noise": self.model.noise, "seed": self.model.seed}
        return urlencode({name: value for name, value in values.items() if value})
