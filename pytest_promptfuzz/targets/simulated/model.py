"""The simulated model: reads a request, does what it understands of it, counts tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.providers.requests import Request, Response, Usage
from pytest_promptfuzz.targets.simulated import answers, judging, noise, tokens, tools
from pytest_promptfuzz.targets.simulated.reading import content_text, read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERSION = "simulated-1"
TRIES = 6
# A prompt's last word, which a model that follows instructions obeys whatever else was asked.
_DICTATED = re.compile(
    r"\b(?:answer|reply|respond) with (?:just |only )?the (?:single )?word [\"'“]?(\w+)\W*\Z", re.IGNORECASE
)
# The same on a line of its own among the instructions, which sets itself above all others.
_ABOVE_ALL = re.compile(
    r"^[ \t]*(?:whatever|no matter what) the text (?:above|below) says, (?:answer|reply|respond) with "
    r"(?:just |only )?the (?:single )?word [\"'“]?(\w+)[\"'”]?\.?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SYSTEM = frozenset({"system", "developer"})


class SimulatedModel:
    """A small rule-based model; docs/simulated-model.md lists what it can do and where it is brittle.

    The same request, seed and sample give the same answer on every machine. Nothing is learnt and nothing is stored.

    Args:
        seed: Seed of the noise; without noise it changes nothing.
        noise: Share of samples that get another plausible answer (another label, other sentences), 0 to 1.

    Raises:
        UsageError: A seed that is no integer, noise outside 0 to 1.

    >>> from pytest_promptfuzz.providers.requests import Request
    >>> prompt = "Classify the sentiment as positive or negative. Answer with the label only. Text: I love it"
    >>> SimulatedModel().answer(Request(({"role": "user", "content": prompt},))).text
    'positive'
    """

    version = VERSION

    def __init__(self, *, seed: int = 0, noise: float = 0.0) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise UsageError(f"simulated model: seed={seed!r} is not an integer.")
        if isinstance(noise, bool) or not isinstance(noise, int | float) or not 0 <= noise <= 1:
            raise UsageError(f"simulated model: noise={noise!r} is not a number from 0 to 1.")
        self.seed = seed
        self.noise = float(noise)

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        """The answer to a request.

        Args:
            request: Messages in the OpenAI style; of the parameters ``max_tokens`` (also ``max_completion_tokens`` and
                ``max_output_tokens``), ``stop``, ``tools``, ``tool_choice`` and ``response_format`` matter.
            sample: Number of the repeat, from 0; it matters only with noise.

        Returns:
            Text or tool calls, estimated usage (a token for each 4 characters), ``model`` the version, and
            ``finish_reason`` ``stop``, ``length`` or ``tool_calls``.
        """
        variant = noise.draw(self.seed, request, sample, self.noise)
        asked = sum(tokens.count(content_text(message.get("content"))) for message in request.messages)
        last = request.messages[-1] if request.messages else {}
        dictated = _dictated(request.messages)
        given = request.parameters.get("tools")
        if last.get("role") == "tool":
            text = f"Here is what I found: {content_text(last.get('content')).strip()}"
        else:
            if isinstance(given, list) and last.get("role") == "user" and not dictated:
                calls = tools.call(
                    given, request.parameters.get("tool_choice"), content_text(last.get("content"))
                )
                if calls and not variant:
                    size = sum(tokens.count(call.name) + tokens.count(str(call.arguments)) for call in calls)
                    return Response("", calls, Usage(asked, size), self.version, "tool_calls")
            text = self._text(request, variant, dictated)
        return self._response(text, request.parameters, asked)

    def _text(self, request: Request, variant: int, dictated: str) -> str:
        rated = judging.judged(request.messages, content_text, variant)
        if rated is not None:
            return rated
        reading = read(request.messages, request.parameters.get("response_format"))
        own = dictated or answers.answer(reading)
        if not variant:
            return own
        # Not every alternative differs: a summary of one sentence has no other.
        for each in range(variant, variant + TRIES):
            other = answers.answer(reading, each)
            if other != own:
                return other
        return answers.LOST[1] if own != answers.LOST[1] else answers.LOST[2]

    def _response(self, text: str, parameters: Mapping[str, Any], asked: int) -> Response:
        reason = "stop"
        stops = parameters.get("stop")
        for stop in [stops] if isinstance(stops, str) else stops if isinstance(stops, list) else []:
            if isinstance(stop, str) and stop:
                text = text.partition(stop)[0]
        for name in ("max_tokens", "max_completion_tokens", "max_output_tokens"):
            limit = parameters.get(name)
            if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
                text, was_cut = tokens.cut(text, limit)
                reason = "length" if was_cut else reason
        return Response(text, (), Usage(asked, tokens.count(text)), self.version, reason)


def _dictated(messages: Sequence[Mapping[str, Any]]) -> str:
    """The word that the instructions demand above all else; empty where they demand none."""
    if not messages:
        return ""
    last = _DICTATED.search(content_text(messages[-1].get("content")))
    if last is not None:
        return last[1]
    system = [each for each in messages if each.get("role") in _SYSTEM]
    found = [
        word
        for each in system or [each for each in messages if each.get("role") == "user"]
        for word in _ABOVE_ALL.findall(content_text(each.get("content")))
    ]
    return found[-1] if found else ""
