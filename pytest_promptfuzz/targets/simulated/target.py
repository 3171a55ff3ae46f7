"""The simulated model, and the target that asks it: reads a request, does what it understands of it, counts tokens.

What reads and answers is loaded by the first request: a run whose answers are all stored makes none.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from pytest_promptfuzz.errors import TargetError, UsageError, nearest
from pytest_promptfuzz.providers.openai_chat import OPENAI_CHAT
from pytest_promptfuzz.providers.requests import Request, Response, ToolCall, Usage, WireRequest
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.targets.simulated.prompt import AnswerForm, Brief, Turn


VERSION = "simulated-2"
CHARACTERS = 4  # characters a token; about the mean of English text in the tokenizers of large models
TRIES = 6
LOST = (
    "Thanks for your message! I am not quite sure what you would like me to do. Could you tell me a little more?",
    "Happy to help! Could you tell me what you would like me to do?",
    "I see. What should I do with this? A little more detail would help me.",
)
NO_DATA = "Of course. Please share the text you would like me to work with."
NO_TRANSLATION = "I am sorry, but I cannot translate. I classify, summarise, extract and write SQL."
NO_TABLE = "Which table and columns should the query use?"
_WORD = r"(?:answer|reply|respond) with (?:just |only )?the (?:single )?word [\"'“]?(\w+)"
# A prompt's last word, which a model that follows instructions obeys whatever else was asked.
_DICTATED = expression(rf"(?i)\b{_WORD}\W*\Z")
# The same on a line of its own among the instructions, which sets itself above all others.
_ABOVE_ALL = expression(
    rf"(?im)^[ \t]*(?:whatever|no matter what) the text (?:above|below) says, {_WORD}[\"'”]?\.?[ \t]*$"
)


class SimulatedModel:
    """A small rule-based model; docs/simulated-model.md lists what it can do and where it is brittle.

    The same request, seed and sample give the same answer on every machine. Nothing is learnt and nothing is stored.

    Args:
        seed: Seed of the noise; without noise it changes nothing.
        noise: Share of samples that get another plausible answer (another label, other sentences), 0 to 1.
        version: What it calls itself. It answers as this version does, whatever the name.

    Raises:
        UsageError: A seed that is no integer, noise outside 0 to 1.

    >>> from pytest_promptfuzz.providers.requests import Request
    >>> prompt = "Classify the sentiment as positive or negative. Answer with the label only. Text: I love it"
    >>> SimulatedModel().answer(Request(({"role": "user", "content": prompt},))).text
    'positive'
    """

    def __init__(self, *, seed: int = 0, noise: float = 0.0, version: str = VERSION) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise UsageError(f"simulated model: seed={seed!r} is not an integer.")
        if isinstance(noise, bool) or not isinstance(noise, int | float) or not 0 <= noise <= 1:
            raise UsageError(f"simulated model: noise={noise!r} is not a number from 0 to 1.")
        self.seed = seed
        self.noise = float(noise)
        self.version = version

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
        from pytest_promptfuzz.targets.simulated.prompt import turns_of
        from pytest_promptfuzz.targets.simulated.structured_answers import tool_calls

        variant = self._drawn(request, sample)
        parameters, messages = request.parameters, request.messages
        turns = turns_of(messages)
        asked = sum(_tokens(text) for _, text in turns)
        last = messages[-1] if messages else {}
        text, dictated = turns[-1][1] if turns else "", _dictated(turns)
        if last.get("role") == "tool":
            return self._cut(f"Here is what I found: {text.strip()}", parameters, asked)
        tools = parameters.get("tools")
        if isinstance(tools, list) and last.get("role") == "user" and not dictated and not variant:
            calls = tool_calls(tools, parameters.get("tool_choice"), text)
            size = sum(_tokens(call.name) + _tokens(str(call.arguments)) for call in calls)
            if calls:
                return Response("", calls, Usage(asked, size), self.version, "tool_calls")
        done = _text(turns, parameters.get("response_format"), variant, dictated)
        return self._cut(done, parameters, asked)

    def _drawn(self, request: Request, sample: int) -> int:
        """0 for the model's own answer, else the number (from 1) of the alternative to give instead.

        The share of the others is the noise: a uniform number is made of 53 bits of sha256 over seed, messages, tools
        and sample.
        """
        if self.noise <= 0:
            return 0
        asked = {"messages": request.messages, "tools": request.parameters.get("tools")}
        text = json.dumps([self.seed, sample, asked], sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).digest()
        uniform = (int.from_bytes(digest[:8], "big") >> 11) / 2**53
        return 1 + digest[8] % 5 if uniform < self.noise else 0

    def _cut(self, text: str, parameters: Mapping[str, Any], asked: int) -> Response:
        """The response, its text cut at the request's stops and limits."""
        reason = "stop"
        stops = parameters.get("stop")
        for stop in [stops] if isinstance(stops, str) else stops if isinstance(stops, list) else []:
            if isinstance(stop, str) and stop:
                text = text.partition(stop)[0]
        for name in ("max_tokens", "max_completion_tokens", "max_output_tokens"):
            limit = parameters.get(name)
            if isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit < _tokens(text):
                text, reason = text[: limit * CHARACTERS], "length"
        return Response(text, (), Usage(asked, _tokens(text)), self.version, reason)


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS)


def _dictated(turns: Sequence[Turn]) -> str:
    """The word that the instructions demand above all else; empty where they demand none."""
    from pytest_promptfuzz.targets.simulated.prompt import SYSTEM

    if not turns:
        return ""
    last = _DICTATED.findall(turns[-1][1])
    system = [text for role, text in turns if role in SYSTEM]
    told = system or [text for role, text in turns if role == "user"]
    above = [word for each in told for word in _ABOVE_ALL.findall(each)]
    return next((str(word) for word in (*last, *reversed(above))), "")


def _text(turns: Sequence[Turn], response_format: object, variant: int, dictated: str) -> str:
    """The text of the answer; a ``variant`` above 0 gives another that is plausible as well."""
    from pytest_promptfuzz.targets.simulated.overlap import rating
    from pytest_promptfuzz.targets.simulated.prompt import read

    tagged = any("</" in text for _, text in turns)  # what is rated stands between tags
    rated = rating(turns, variant) if tagged else None
    if rated is not None:
        return rated
    brief, form = read(turns, response_format)
    own = dictated or _done(brief, form)
    if not variant:
        return own
    # Not every alternative differs: a summary of one sentence has no other.
    others = (_done(brief, form, each) for each in range(variant, variant + TRIES))
    return next((other for other in (*others, *LOST[1:]) if other != own), own)


def _done(brief: Brief, form: AnswerForm, variant: int = 0) -> str:
    """What the prompt asks for, done; a chatty reply where nothing that the model can do is recognised."""
    from pytest_promptfuzz.targets.simulated.overlap import reply, summary
    from pytest_promptfuzz.targets.simulated.prompt import (
        CLASSIFY,
        EXTRACT,
        SQL,
        SUMMARISE,
        TRANSLATE,
        task_of,
    )
    from pytest_promptfuzz.targets.simulated.sql import query
    from pytest_promptfuzz.targets.simulated.structured_answers import (
        classified,
        extracted,
        fields_of,
        implied_labels,
        labels_of,
    )

    labels, fields = labels_of(brief), fields_of(brief)
    named = task_of(brief, labels=bool(labels), fields=bool(fields))
    if named == TRANSLATE:
        return form.say(NO_TRANSLATION)
    if named == SQL:
        found = query(brief, variant)
        if found is None or form.bare or not form.asked:
            return found or form.say(NO_TABLE)
        return f"{form.say('Here is a query that does this:')}\n\n```sql\n{found}\n```"
    labels = labels or implied_labels(brief)
    if named is None or not {EXTRACT: fields, CLASSIFY: labels}.get(named, True):
        return form.say(LOST[variant % len(LOST)])
    if not brief.data:
        return form.say(NO_DATA)
    if named == CLASSIFY:
        return classified(brief, form, labels, fields, variant)
    if named == EXTRACT:
        return extracted(brief, form, fields, variant)
    key = "summary" if named == SUMMARISE else "answer"
    text = form.say(summary(brief, form, variant) if named == SUMMARISE else reply(brief, variant))
    return json.dumps({key: text}, ensure_ascii=False) if form.json else text


# The simulated model as a target: answers as a provider's API would give them, without a network.


class SimulatedTarget:
    """A ``Target`` that asks the simulated model; the n-th identical request gets its n-th sample.

    Args:
        seed: Seed of the noise.
        noise: Share of answers that differ, 0 to 1.
        version: What the model calls itself: recordings of another version have answers to what that one asks.

    Attributes:
        model: The model.
        name: ``simulated``, with the settings that differ from their defaults.
        address: Version and settings, part of every key: another version, seed or noise gives other answers.

    Raises:
        UsageError: A seed that is no integer, noise outside 0 to 1.
    """

    def __init__(self, *, seed: int = 0, noise: float = 0.0, version: str = VERSION) -> None:
        self.model = SimulatedModel(seed=seed, noise=noise, version=version)
        values = {"noise": self.model.noise, "seed": seed}
        settings = urlencode({name: value for name, value in values.items() if value})
        ending = f"?{settings}" if settings else ""
        self.name, self.address = f"simulated{ending}", f"simulated/{version}{ending}"
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def as_version(self, version: str) -> SimulatedTarget:
        """This target under the name of another version: recordings of that version have answers to what it asks."""
        if version in {"", self.model.version}:
            return self
        return SimulatedTarget(seed=self.model.seed, noise=self.model.noise, version=version)

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

    def prepare(self, request: Request) -> WireRequest:
        """The request as a chat-completions body for ``promptfuzz://simulated/VERSION?SETTINGS``."""
        body = {
            **request.parameters,
            "model": self.model.version,
            "messages": [dict(m) for m in request.messages],
        }
        return WireRequest(f"promptfuzz://{self.address}", body)

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
