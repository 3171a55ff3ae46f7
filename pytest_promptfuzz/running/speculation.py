"""Speculation: calls of a sync body made early, once the baseline and one mutation show what it will ask.

The bodies still run one after the other and make every call that was not foretold themselves. A foretold call that its
body does not ask for ends it: nothing more is foretold.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.prompts.slots import Slots
from pytest_promptfuzz.providers.requests import WireRequest
from pytest_promptfuzz.storage.answers import counted_headers, exchange_key, request_digest
from pytest_promptfuzz.storage.redaction import credentials
from pytest_promptfuzz.text.json_paths import strings
from pytest_promptfuzz.wire.live_calls import Early, when_ended
from pytest_promptfuzz.wire.traces import Borrowing, Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.providers.requests import Response
    from pytest_promptfuzz.running.run import Crew, Run, Step
    from pytest_promptfuzz.wire.exchange import Exchange
    from pytest_promptfuzz.wire.traces import Passed, RequestRoute
    from pytest_promptfuzz.wire.watch import Watch


# What two values of one shape have in common: a template of the first, with places for what is known to vary.


Source: TypeAlias = tuple[str, int, str]
"""Where a varying text comes from: ``("prompt", index, how)``, or ``("answer", call, field)``."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A text of which parts come from sources."""

    parts: tuple[str | Source, ...]

    @property
    def sources(self) -> set[Source]:
        """What it is made from."""
        return {part for part in self.parts if not isinstance(part, str)}


class Wording:
    """The texts that vary, as one run had them.

    Args:
        texts: By source; blank ones are in no text.
    """

    def __init__(self, texts: Mapping[Source, str]) -> None:
        self.texts = texts
        # Of equal texts the first source counts.
        self._sources = {texts[source]: source for source in reversed([*texts]) if texts[source].strip()}

    def split(self, text: str) -> Filled:
        """A text of this run, with sources in the places of what comes from them: of two at one place the longer."""
        parts: list[str | Source] = []
        position = 0
        while True:
            found = [
                (at, -len(each), each) for each in self._sources if (at := text.find(each, position)) >= 0
            ]
            if not found:
                return Filled((*parts, text[position:]))
            at, _, each = min(found)
            parts += [text[position:at], self._sources[each]]
            position = at + len(each)

    def joined(self, filled: Filled) -> str | None:
        """The text of this run; ``None`` where it has no such source."""
        found = [part if isinstance(part, str) else self.texts.get(part) for part in filled.parts]
        return "".join(each for each in found if each is not None) if None not in found else None


def learned(old: Any, new: Any, ways: list[tuple[Wording, Wording]]) -> Any:
    """A template of ``old``, JSON, whose texts become those of ``new`` where sources can explain how.

    Args:
        old: From one run.
        new: From another.
        ways: The wordings of both runs, the likeliest first.

    Returns:
        ``old`` with ``Filled`` in the place of texts that vary; what nothing explains stays as it is.
    """
    if isinstance(old, dict):
        other = new if isinstance(new, dict) else {}
        return {key: learned(value, other.get(key), ways) for key, value in old.items()}
    if isinstance(old, list):
        others = [*new, *([None] * len(old))] if isinstance(new, list) else [None] * len(old)
        return [learned(value, each, ways) for value, each in zip(old, others, strict=False)]
    if isinstance(old, str):
        for was, now in ways:
            filled = was.split(old)
            if filled.sources and now.joined(filled) == new:
                return filled
    return old


def told(template: Any, wording: Wording) -> Any:
    """What a template says in another run.

    Raises:
        KeyError: That run has no such source.
    """
    if isinstance(template, dict):
        return {key: told(value, wording) for key, value in template.items()}
    if isinstance(template, list):
        return [told(value, wording) for value in template]
    if isinstance(template, Filled):
        text = wording.joined(template)
        if text is None:
            raise KeyError(template.parts)
        return text
    return template


def sources(template: Any) -> Iterator[Source]:
    """What a template is made from."""
    if isinstance(template, dict):
        for value in template.values():
            yield from sources(value)
    elif isinstance(template, list):
        for value in template:
            yield from sources(value)
    elif isinstance(template, Filled):
        yield from template.sources


# The texts with which a prompt may stand in a request: as it is, and filled.


_MOST_FILLINGS = 8


def wordings(prompt: Prompt, fillings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Every text of a prompt: the whole, each message's, and the same filled with each set of values.

    The texts of a mutation stand at the same places of the list as those of its original.

    Raises:
        UsageError: The values do not fit the slots.
    """
    texts = [prompt.text, *_parts(prompt)]
    for values in fillings:
        wording = _wording(texts)
        texts += _texts(prompt.format(**{name: told(value, wording) for name, value in values.items()}))
    return texts


def nested(prompt: Prompt, fillings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sets of values for ``wordings`` of which some hold the prompt itself, filled with a set before them."""
    texts = [prompt.text, *_parts(prompt)]
    found: list[dict[str, Any]] = []
    for values in fillings:
        wording = _wording(texts)
        found.append(
            {
                name: wording.split(value) if isinstance(value, str) else value
                for name, value in values.items()
            }
        )
        texts += _texts(prompt.format(**values))
    return found


def _wording(texts: Iterable[str]) -> Wording:
    return Wording({("prompt", number, ""): text for number, text in enumerate(texts)})


def told_fillings(prompt: Prompt, shown: Iterable[str]) -> list[dict[str, str]]:
    """The values with which the texts of requests show a prompt that the application filled itself.

    Args:
        prompt: The prompt.
        shown: The texts of requests.
    """
    if not prompt.slots:
        return []
    parts = _parts(prompt)
    slots = Slots(parts)
    found: list[dict[str, str]] = []
    if len(parts) == 1:
        found = [values for text in shown if (values := slots.values_in(parts[0], text))]
    else:
        texts = [*shown]
        told = [next(filter(None, (slots.values_in(part, text) for text in texts)), {}) for part in parts]
        found = [{name: value for values in told for name, value in values.items()}]
    whole = [values for values in found if values.keys() == set(prompt.slots)]
    return [values for at, values in enumerate(whole) if values not in whole[:at]][:_MOST_FILLINGS]


def ends_alike(one: Prompt, other: Prompt) -> bool:
    """Whether the texts of two prompts begin and end with the same slots, or with none."""

    def ends(prompt: Prompt) -> list[tuple[str, str]]:
        parts = _parts(prompt)
        slots = Slots(parts)
        return [slots.ends(part) for part in parts]

    return ends(one) == ends(other)


def _parts(prompt: Prompt) -> list[str]:
    return [*_texts(prompt.messages)] if prompt.is_chat else [prompt.text]


def _texts(shown: str | Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if isinstance(shown, str):
        yield shown
        return
    for message in shown:
        content = message.get("content")
        if isinstance(content, str):
            yield content
        elif isinstance(content, list):
            yield from (part["text"] for part in content if isinstance(part.get("text"), str))


# How the requests of a body follow from its prompt and from the answers before them, learned from two runs.


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

    way: RequestRoute
    url: str
    body: dict[str, Any]
    digest: str


@dataclass(frozen=True, slots=True)
class _FollowingRequest:
    """How one request follows: a template of its body, and the answers that it quotes."""

    way: RequestRoute
    url: str
    template: Any
    quotes: frozenset[int]


@dataclass(frozen=True, slots=True)
class RequestRule:
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

    requests: tuple[_FollowingRequest, ...]
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

    def confirmed(self, run: Shown) -> RequestRule:
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
            body = told(request.template, _wording_of_run(prompt, self.fillings, answers, watch))
        except (KeyError, PromptfuzzError):
            return None
        return _foretold(request.way, request.url, body, watch)

    def _known(self, number: int, answer: Response) -> bool:
        """Whether it is known what the body makes of an answer: of one like this, or of two that differ."""
        one, other = (_said(each.get(number)) for each in self.seen)
        return bool(one != other or _said(answer) == one)


def learn(baseline: Shown, run: Shown) -> RequestRule | None:
    """The rule by which the requests of ``run`` follow from those of the baseline.

    It holds for the first requests of ``run``, down to their canonical keys; ``None`` if for none that changed.
    """
    fillings, sure = baseline.fillings, True
    if not fillings and run.watch.route.in_flight is None:
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
    return RequestRule(tuple(found), whole, fillings, (baseline.answers, run.answers), baseline.prompt, sure)


def _requests(baseline: Shown, run: Shown, fillings: Sequence[Mapping[str, Any]]) -> list[_FollowingRequest]:
    """The first requests that follow, with the prompt's slots filled like this."""
    found: list[_FollowingRequest] = []
    for number, (old, new) in enumerate(zip(baseline.passed, run.passed, strict=False)):
        way = new.way or old.way
        url = new.exchange.wire.url
        if way is None or url != old.exchange.wire.url or not _alike(old.way, new.way):
            break
        earlier = [{n: a for n, a in each.answers.items() if n < number} for each in (baseline, run)]
        try:
            was = _wording_of_run(baseline.prompt, fillings, earlier[0], baseline.watch)
            now = _wording_of_run(run.prompt, fillings, earlier[1], run.watch)
        except PromptfuzzError:
            break
        template = learned(old.body, new.body, _narrowed(was, now))
        request = _FollowingRequest(
            way, url, template, frozenset(n for kind, n, _ in sources(template) if kind == "answer")
        )
        if _foretold(way, url, told(template, now), run.watch).digest != new.exchange.digest:
            break
        found.append(request)
    return found


def _wording_of_run(
    prompt: Prompt, fillings: Sequence[Mapping[str, Any]], answers: Mapping[int, Response], watch: Watch
) -> Wording:
    """Everything that varies from run to run and may stand in a request."""
    texts: dict[Source, str] = {}
    if watch.route.in_flight is None:  # else what varies is put in on the wire
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


def _foretold(way: RequestRoute, url: str, body: dict[str, Any], watch: Watch) -> Foretold:
    if watch.route.in_flight is not None:
        body = watch.route.in_flight.anew().rewritten(body, url)
    wire = WireRequest(url, body, counted_headers(way.request.headers))
    keying = watch.settings.keyed(credentials(way.request.headers, url))
    digest = request_digest(wire, ignore=watch.settings.ignore, backend=watch.backend, redaction=keying)
    return Foretold(way, url, body, digest)


def _alike(one: RequestRoute | None, other: RequestRoute | None) -> bool:
    """Whether two requests went out the same way, as far as both are known."""
    if one is None or other is None:
        return True

    def headers(way: RequestRoute) -> list[tuple[str, str]]:
        pairs = [(name.lower(), value) for name, value in way.request.headers.multi_items()]
        return sorted(pair for pair in pairs if pair[0] not in _MAY_DIFFER)

    return one.library is other.library and headers(one) == headers(other)


def _said(response: Response | None) -> Any:
    if response is None:
        return None
    return response.text, [(call.name, call.arguments) for call in response.tool_calls]


_MOST_TRIES = 3  # runs from which a rule is learned, if it does not follow from the first


class Apart(Protocol):
    """Makes a watch for a call that is made before its run asks."""

    def __call__(self, *, repeat: int, read: bool, ignore: Sequence[str]) -> Watch:
        """The watch."""
        ...


@dataclass(slots=True, eq=False)
class _ForetoldRun:
    """A run to come, what was foretold of it, and the answers that are there."""

    step: Step
    foretold: dict[int, tuple[str, int]] = field(default_factory=dict)
    early: dict[int, Early] = field(default_factory=dict)
    answers: dict[int, Response] = field(default_factory=dict)
    over: bool = False


class Speculation:
    """Watches the runs of one case in sequence, and makes calls of those to come.

    Args:
        crew: Makes them.
        limit: The most at once.
        apart: Makes the watch of each.

    Attributes:
        wrong: Whether a run did not ask what was foretold of it; from then on nothing is.
        made: How many calls were made.
        unused: What saw those that no run asked for.
    """

    def __init__(self, crew: Crew, limit: int, apart: Apart) -> None:
        self.wrong = False
        self.made = 0
        self.unused: list[Watch] = []
        self._crew = crew
        self._limit = limit
        self._apart = apart
        self._baseline: Shown | None = None
        self._repeats = False
        self._rule: RequestRule | None = None
        self._tries = 0
        self._trials: dict[Watch, _ForetoldRun] = {}
        self._keys: set[str] = set()
        self._borrowing = Borrowing()
        self._sent: list[Early] = []
        # Runs of the body and the threads that make calls meet here.
        self._lock = threading.RLock()

    def begin(self, batch: Sequence[Step]) -> None:
        """A batch of runs is about to be made, one after the other."""
        for step in batch:
            step.watch.route.trace = Trace(self._borrowing)
            self._borrowing.more |= _is_baseline(step)
        samples = [
            step for step in batch if step.watch.settings.repeat and not step.watch.settings.part.trial
        ]
        if self._repeats and not self.wrong:
            self._foretell_samples(samples)
        if self._rule is not None and not self.wrong:
            self._foretell_trials(self._rule, [step for step in batch if step.watch.settings.part.trial])

    def ran(self, step: Step, run: Run, rest: Sequence[Step]) -> None:
        """A run was made.

        Args:
            step: The run.
            run: What came of it.
            rest: The runs of the batch that are still to be made.
        """
        watch = step.watch
        shown = _shown(step, run)
        watch.route.trace = None
        if _is_baseline(step):
            self._baseline, self._rule, self._tries, self._repeats = shown, None, 0, False
            self._keys.clear()
        elif watch.settings.part.trial:
            self._settle(shown)
            if self._rule is not None:
                self._confirm(self._rule, shown)
            elif rest and self._tries < _MOST_TRIES and not self.wrong:
                self._learn(shown, rest)
        elif watch.settings.sealed:
            self._controlled(shown)
        else:
            self._settle(shown)

    def close(self) -> None:
        """No run will be made any more: what is not begun is not."""
        with self._lock:
            for trial in self._trials.values():
                self._count(trial)
            self._trials.clear()
            self._baseline = self._rule = None
        self._borrowing.more = False
        when_ended(self._sent, self._borrowing.give_back)

    def _controlled(self, control: Shown) -> None:
        """The unmutated body was run again: only one that asks the same again, in its own order, can be foretold."""
        baseline = self._baseline
        self._repeats = (
            baseline is not None
            and all(each.exchange.order.on_line for each in baseline.passed)
            and Counter(_keys(control)) == Counter(_keys(baseline))
        )
        if not self._repeats:
            self._borrowing.more = False
            self._borrowing.give_back()

    def _learn(self, shown: Shown, rest: Sequence[Step]) -> None:
        """Learn how requests follow, from a run that had to ask, and make those of the runs to come."""
        if self._baseline is None or not self._repeats or not shown.watch.misses:
            return
        self._tries += 1
        rule = learn(self._baseline, shown)
        if rule is None:
            return
        self._rule = rule
        self._borrowing.more = False
        if not self._sent:
            self._borrowing.give_back(rule.transports)
        self._foretell_trials(rule, rest)

    def _foretell_trials(self, rule: RequestRule, steps: Sequence[Step]) -> None:
        """Make the calls of runs to come that follow from the rule."""
        trials = [_ForetoldRun(step) for step in steps]
        with self._lock:
            self._trials |= {trial.step.watch: trial for trial in trials}
            found = [each for trial in trials for each in self._next(trial, rule)]
            self._send(found)

    def _confirm(self, rule: RequestRule, shown: Shown) -> None:
        """Whether a run that was left to itself shows that the rule holds for such runs, too."""
        self._rule = rule.confirmed(shown)
        if self._rule.sure and not rule.sure:
            with self._lock:
                found = [each for trial in self._trials.values() for each in self._next(trial, self._rule)]
                self._send(found)

    def _foretell_samples(self, steps: Sequence[Step]) -> None:
        """The first request of each further sample of the baseline is that of the first one."""
        first = self._baseline.passed[:1] if self._baseline is not None else ()
        for passed in first:
            if passed.way is None:
                return
            exchange = passed.exchange
            with self._lock:
                found = []
                for step in steps:
                    trial = self._trials[step.watch] = _ForetoldRun(step)
                    foretold = Foretold(passed.way, exchange.wire.url, exchange.wire.body, exchange.digest)
                    found += self._foretell(trial, 0, foretold)
                self._send(found)

    def _next(self, trial: _ForetoldRun, rule: RequestRule) -> list[Early]:
        """What can be foretold of a run by now, and has to be asked. The lock is held."""
        found: list[Early] = []
        if trial.over or self.wrong:
            return found
        step = trial.step
        for number in range(len(rule.requests)):
            if number not in trial.foretold:
                foretold = rule.foretell(number, step.prompt, trial.answers, step.watch)
                if foretold is not None:
                    found += self._foretell(trial, number, foretold)
        return found

    def _foretell(self, trial: _ForetoldRun, number: int, foretold: Foretold) -> list[Early]:
        """Note a request of a run; the call, if it has to be made."""
        watch, digest = trial.step.watch, foretold.digest
        nth = sum(known == digest for known, _ in trial.foretold.values())
        trial.foretold[number] = digest, nth
        stored = watch.lookup(digest, nth)
        key = exchange_key(digest, watch.settings.repeat, nth)
        if stored is not None or key in self._keys:
            return []  # of two runs that ask the same, the second finds the first's answer
        self._keys.add(key)

        def answered(exchange: Exchange) -> None:
            self._answered(trial, number, exchange)

        apart = self._apart(
            repeat=watch.settings.repeat, read=watch.settings.read, ignore=watch.settings.ignore
        )
        early = Early(foretold.way, foretold.body, apart, digest, nth, answered)
        trial.early[number] = watch.route.early[digest, nth] = early
        return [early]

    def _answered(self, trial: _ForetoldRun, number: int, exchange: Exchange) -> None:
        """A call was answered: what quotes its answer can be foretold, before the run has it. In a crew's thread."""
        if exchange.response is None or self._rule is None:
            return
        with self._lock:
            trial.answers[number] = exchange.response
            if self._rule is not None:
                self._send(self._next(trial, self._rule))

    def _send(self, calls: Sequence[Early]) -> None:
        gate = calls[0].watch.route.gate if calls else None
        if gate is not None and not gate.spares([each.outgoing for each in calls]):
            for each in calls:
                each.cancel()
            return
        self._sent += calls
        for each in calls:
            self._crew.add(each, self._limit)

    def _settle(self, shown: Shown) -> None:
        """A run was made: did it ask what was foretold?"""
        with self._lock:
            trial = self._trials.pop(shown.watch, None)
            if trial is None:
                return
            self._count(trial)
            missed = Counter(trial.foretold.values()) - Counter(_keys(shown))
            rule = self._rule
            whole = rule is not None and rule.whole and len(trial.foretold) == len(rule.requests)
            if missed or (whole and len(trial.foretold) < len(shown.passed)):
                self._stop()

    def _stop(self) -> None:
        """A run asked otherwise: begin nothing more; what is under way is there for whoever asks."""
        self.wrong = True
        for trial in self._trials.values():
            for early in trial.early.values():
                early.cancel()

    def _count(self, trial: _ForetoldRun) -> None:
        trial.over = True
        trial.step.watch.route.early.clear()
        for early in trial.early.values():
            early.cancel()
            self.made += early.sent
            if early.sent and not early.adopted:
                self.unused.append(early.watch)


def _shown(step: Step, run: Run) -> Shown:
    passed: dict[tuple[str, int], Passed] = {}
    for each in step.watch.route.trace.passed if step.watch.route.trace is not None else ():
        passed.setdefault(each.key, each)
    return Shown(step.prompt, step.watch, tuple(passed.values()), run.fillings)


def _is_baseline(step: Step) -> bool:
    return not (step.watch.settings.part.trial or step.watch.settings.sealed or step.watch.settings.repeat)


def _keys(shown: Shown) -> list[tuple[str, int]]:
    return [each.key for each in shown.passed]
