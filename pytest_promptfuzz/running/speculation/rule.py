"""How the requests of a body follow from its prompt and from the answers before them, learned from two runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.running.speculation.templates import Wording, learned, sources, strings, told
from pytest_promptfuzz.running.speculation.wording import ends_alike, nested, told_fillings, wordings
from pytest_promptfuzz.targets.model import WireRequest
from pytest_promptfuzz.wire.key import counted_headers, request_digest
from pytest_promptfuzz.wire.redact import credentials

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.speculation.templates import Source
    from pytest_promptfuzz.targets.model import Response
    from pytest_promptfuzz.wire.trace import Passed, Way
    from pytest_promptfuzz.wire.watch import Watch

# The library writes those that tell of the body anew; a provider may set cookies with its first answer.
_MAY_DIFFER = {"content-length", "transfer-encoding", "cookie"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a run has shown.

    Attributes:
        prompt: Its prompt.
        watch: What saw it.
        passed: Its requests in order; one that was repeated until answered is one.
        fillings: The values that the prompt's slots were filled with, as far as the prompt was asked to.
    """

    prompt: Prompt
    watch: Watch
    passed: tuple[Passed, ...]
    fillings: tuple[Mapping[str, Any], ...] = ()

    @property
    def answers(self) -> dict[int, Response]:
        """The answers that can be read, by request."""
        found = {number: each.exchange.response for number, each in enumerate(self.passed)}
        return {number: response for number, response in found.items() if response is not None}


@dataclass(frozen=True, slots=True)
class Foretold:
    """A request that a body will make.

    Attributes:
        way: How it goes out.
        url: Where.
        body: What is asked, as it goes out.
        digest: The ``request_digest`` of it.
    """

    way: Way
    url: str
    body: dict[str, Any]
    digest: str


@dataclass(frozen=True, slots=True)
class _Request:
    """How one request follows: a template of its body, and the answers that it quotes."""

    way: Way
    url: str
    template: Any
    quotes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Rule:
    """How the requests of a body follow.

    Attributes:
        requests: The first requests of every run, as many as follow by it.
        whole: Whether these are all.
        fillings: The values that the prompt's slots are filled with.
        seen: What the two runs were answered, by request.
        prompt: The unmutated prompt.
        sure: Whether the values are known to the letter. Where the application fills the prompt itself, a value at its
            end cannot be told from what comes behind it.
    """

    requests: tuple[_Request, ...]
    whole: bool
    fillings: tuple[Mapping[str, Any], ...]
    seen: tuple[Mapping[int, Response], Mapping[int, Response]]
    prompt: Prompt
    sure: bool

    @property
    def transports(self) -> list[Any]:
        """What its requests go through."""
        return [each.way.transport for each in self.requests]

    def tells(self, prompt: Prompt) -> bool:
        """Whether it holds for a mutation, as far as is known."""
        return self.sure or ends_alike(self.prompt, prompt)

    def confirmed(self, run: Shown) -> Rule:
        """The rule, after a run of a mutation for which it was not known to hold."""
        if self.tells(run.prompt) or not run.passed:
            return self
        foretold = replace(self, sure=True).foretell(0, run.prompt, {}, run.watch)
        return replace(self, sure=foretold is not None and foretold.digest == run.passed[0].exchange.digest)

    def foretell(
        self, number: int, prompt: Prompt, answers: Mapping[int, Response], watch: Watch
    ) -> Foretold | None:
        """The request of a number, in the run of a mutation; ``None`` where it cannot be told (yet).

        Args:
            number: From 0.
            prompt: The mutated prompt.
            answers: What the run was answered so far.
            watch: What is to see the run.
        """
        request = self.requests[number]
        if not self.tells(prompt) or not all(
            each in answers and self._known(each, answers[each]) for each in request.quotes
        ):
            return None
        try:
            body = told(request.template, _wording(prompt, self.fillings, answers, watch))
        except (KeyError, PromptfuzzError):
            return None
        return _foretold(request.way, request.url, body, watch)

    def _known(self, number: int, answer: Response) -> bool:
        """Whether it is known what the body makes of an answer: of one like this, or of two that differ."""
        one, other = (_said(each.get(number)) for each in self.seen)
        return bool(one != other or _said(answer) == one)


def learn(baseline: Shown, run: Shown) -> Rule | None:
    """The rule by which the requests of ``run`` follow from those of the baseline.

    It holds for the first requests of ``run``, down to their canonical keys; ``None`` if for none that changed.
    """
    fillings, sure = baseline.fillings, True
    if not fillings and run.watch.in_flight is None:
        fillings = tuple(
            told_fillings(baseline.prompt, [text for each in baseline.passed for text in strings(each.body)])
        )
        sure = not fillings
    found = _requests(baseline, run, fillings)
    if len(found) < len(baseline.passed) and len(fillings) > 1:
        fillings = tuple(nested(baseline.prompt, fillings))
        found = _requests(baseline, run, fillings)
    asked = zip(found, baseline.passed, run.passed, strict=False)
    if all(old.exchange.digest == new.exchange.digest for _, old, new in asked):
        return None  # what did not change tells nothing
    whole = len(found) == len(baseline.passed) == len(run.passed)
    return Rule(tuple(found), whole, fillings, (baseline.answers, run.answers), baseline.prompt, sure)


def _requests(baseline: Shown, run: Shown, fillings: Sequence[Mapping[str, Any]]) -> list[_Request]:
    """The first requests that follow, with the prompt's slots filled like this."""
    found: list[_Request] = []
    for number, (old, new) in enumerate(zip(baseline.passed, run.passed, strict=False)):
        way = new.way or old.way
        url = new.exchange.wire.url
        if way is None or url != old.exchange.wire.url or not _alike(old.way, new.way):
            break
        earlier = [{n: a for n, a in each.answers.items() if n < number} for each in (baseline, run)]
        try:
            was = _wording(baseline.prompt, fillings, earlier[0], baseline.watch)
            now = _wording(run.prompt, fillings, earlier[1], run.watch)
        except PromptfuzzError:
            break
        template = learned(old.body, new.body, _narrowed(was, now))
        request = _Request(
            way, url, template, frozenset(n for kind, n, _ in sources(template) if kind == "answer")
        )
        if _foretold(way, url, told(template, now), run.watch).digest != new.exchange.digest:
            break
        found.append(request)
    return found


def _wording(
    prompt: Prompt, fillings: Sequence[Mapping[str, Any]], answers: Mapping[int, Response], watch: Watch
) -> Wording:
    """Everything that varies from run to run and may stand in a request."""
    texts: dict[Source, str] = {}
    if watch.in_flight is None:  # else what varies is put in on the wire
        found = wordings(prompt, fillings)
        texts |= {("prompt", number, ""): text for number, text in enumerate(found)}
        texts |= {("prompt", number, "stripped"): text.strip() for number, text in enumerate(found)}
    for number, answer in answers.items():
        texts["answer", number, "text"] = answer.text
        for place, call in enumerate(answer.tool_calls):
            texts["answer", number, f"id {place}"] = call.id
    return Wording(texts)


def _narrowed(was: Wording, now: Wording) -> list[tuple[Wording, Wording]]:
    """Wordings of two runs, with less and less in them: what stands in a text by chance is left out in the end."""

    def only(wording: Wording, kinds: set[tuple[str, bool]]) -> Wording:
        return Wording(
            {each: text for each, text in wording.texts.items() if (each[0], each[2] == "stripped") in kinds}
        )

    exact, stripped, answers = ("prompt", False), ("prompt", True), ("answer", False)
    order = [{exact, answers}, {exact}, {stripped, answers}, {stripped}, {answers}]
    return [(only(was, kinds), only(now, kinds)) for kinds in order]


def _foretold(way: Way, url: str, body: dict[str, Any], watch: Watch) -> Foretold:
    if watch.in_flight is not None:
        body = watch.in_flight.anew().rewritten(body, url)
    wire = WireRequest(url, body, counted_headers(way.request.headers))
    keying = watch.keyed(credentials(way.request.headers, url))
    digest = request_digest(wire, ignore=watch.ignore, backend=watch.backend, redaction=keying)
    return Foretold(way, url, body, digest)


def _alike(one: Way | None, other: Way | None) -> bool:
    """Whether two requests went out the same way, as far as both are known."""
    if one is None or other is None:
        return True

    def headers(way: Way) -> list[tuple[str, str]]:
        pairs = [(name.lower(), value) for name, value in way.request.headers.multi_items()]
        return sorted(pair for pair in pairs if pair[0] not in _MAY_DIFFER)

    return one.library is other.library and headers(one) == headers(other)


def _said(response: Response | None) -> Any:
    if response is None:
        return None
    return response.text, [(call.name, call.arguments) for call in response.tool_calls]
