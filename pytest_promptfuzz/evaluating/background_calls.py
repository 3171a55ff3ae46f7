"""The calls of declarative evaluations, made in the background: before a test's turn, or all of a batch at once.

A call is only ever made earlier than it would have been, and for the same request, so that verdicts stay as they are in
sequence. What it saw is handed to the run that it was made for; a call that no run took is counted.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.storage.answers import exchange_key, request_digest
from pytest_promptfuzz.targets.resolution import CallableTarget
from pytest_promptfuzz.wire.exchange import IN_PROCESS
from pytest_promptfuzz.wire.target_calls import aask
from pytest_promptfuzz.wire.watch import RunSettings, adopt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from pytest_promptfuzz.evaluating.evaluate import Cases, Input, TargetAsker
    from pytest_promptfuzz.evaluating.evaluation import Evaluation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.providers.requests import Response
    from pytest_promptfuzz.running.pipeline import Pipeline, Work
    from pytest_promptfuzz.running.run import Step
    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.wire.watch import Watch


# What is made first: what a running test waits for, then baselines of tests to come, then their mutations.
NOW, BASELINES, MUTATIONS = range(3)


@dataclass(slots=True, eq=False)
class BackgroundCall:
    """A call that is made in the background.

    Attributes:
        watch: What it sees.
        sent: The prompt that is asked.
        work: Its place in the pipeline.
    """

    watch: Watch
    sent: Prompt
    work: Work[Response]

    @property
    def made(self) -> int:
        """How many calls were really made for it; one that was refused, or cancelled in its queue, was not."""
        failed = {(each.digest, each.nth) for each in self.watch.faults if each.sent and not each.recovered}
        return self.watch.misses + len(failed)


class BackgroundCaller:
    """What makes the calls of a session in the background. Nothing is started before there is a call to make.

    Args:
        limit: The most calls at once.
        store: Where their answers are kept, if anywhere.
    """

    def __init__(
        self,
        limit: int,
        store: AnswerStore | None = None,
    ) -> None:
        self._store = store
        self._limit = limit
        self._pipeline: Pipeline | None = None
        self._watched: AbstractContextManager[None] | None = None
        self._pending: dict[BackgroundCall, None] = {}
        self._keys: set[str] = set()
        self._unused = 0

    @property
    def unused(self) -> int:
        """Calls that were made for runs that never came."""
        return self._unused + sum(call.made for call in self._pending)

    def call(
        self, asker: TargetAsker, sent: Prompt, watch: Watch, order: tuple[int, ...], run: Watch
    ) -> BackgroundCall | None:
        """A call, not yet begun; ``None`` for one that is answered without: in the process, or from the store.

        Args:
            asker: Who is asked, a model, and how.
            sent: What is asked.
            watch: What is to see it.
            order: When it is made.
            run: The watch of the run that it is made for, as far as that is known.

        Raises:
            UsageError: It cannot be sent.
        """
        target = asker.target
        if isinstance(target, CallableTarget):
            return None
        request = asker.request(sent)
        wire = target.prepare(request)
        if wire.url.startswith(IN_PROCESS):
            return None
        digest = request_digest(
            wire, ignore=watch.settings.ignore, backend=watch.backend, redaction=watch.settings.keying
        )
        if run.lookup(digest, 0) is not None:
            return None
        if watch.settings.readable is not None:
            # In sequence the first of two tests that ask the same would find no answer, the second the first's.
            key = exchange_key(digest, watch.settings.repeat, 0)
            if key in self._keys:
                return None
            self._keys.add(key)
        from pytest_promptfuzz.running.pipeline import Work

        return BackgroundCall(watch, sent, Work(order, lambda: aask(target, request, watch)))

    def begin(self, calls: Sequence[BackgroundCall], after: BackgroundCall | None = None) -> None:
        """Make calls; those that have to wait until another was answered are not made if it was not."""
        if not calls:
            return
        self._pending.update(dict.fromkeys(calls))
        works = [call.work for call in calls]
        if after is None:
            self._running().add(works)
            return
        pipeline = self._running()

        def answered(_: object) -> None:
            done = after.work.done
            if done.cancelled() or done.exception() is not None:
                for work in works:
                    work.done.cancel()
            else:
                pipeline.add(works)

        after.work.done.add_done_callback(answered)

    def taken(self, call: BackgroundCall) -> Response:
        """The response of a call, waited for.

        Raises:
            CancelledError: It was never made.
            Exception: What it raised.
        """
        self._pending.pop(call, None)
        return self._running().result(call.work)

    async def ataken(self, call: BackgroundCall) -> Response:
        """As ``taken``, without blocking an event loop."""
        import asyncio

        self._pending.pop(call, None)
        return await asyncio.wrap_future(call.work.done)

    def drop(self, calls: Sequence[BackgroundCall]) -> None:
        """Calls that no run will take: those not yet begun are not made."""
        for call in calls:
            if call in self._pending:
                call.work.done.cancel()

    def pause(self) -> None:
        """Begin nothing more; what is under way goes on."""
        if self._pipeline is not None:
            self._pipeline.pause()

    def resume(self) -> None:
        """Go on after ``pause``."""
        if self._pipeline is not None:
            self._pipeline.resume()

    def close(self) -> None:
        """Stop within a second, and keep what was answered: it is in the store."""
        if self._pipeline is not None:
            self._pipeline.stop()
            self._ended()

    def _ended(self) -> None:
        self._pipeline = None
        self._unused, self._pending = self.unused, {}
        if self._watched is not None:
            self._watched.__exit__(None, None, None)
            self._watched = None

    def _running(self) -> Pipeline:
        if self._pipeline is None:
            from pytest_promptfuzz.running.pipeline import Pipeline
            from pytest_promptfuzz.wire.transports import intercepting

            # The calls of one test may be under way when its own block has ended.
            self._watched = intercepting()
            self._watched.__enter__()
            # A store may open a connection for each thread, and for each use by one that it does not know.
            staying = getattr(self._store, "staying", nullcontext)
            self._pipeline = Pipeline(self._limit, staying)
        return self._pipeline


@dataclass(slots=True)
class Calls:
    """The calls of one declarative evaluation.

    Attributes:
        evaluation: The evaluation.
        cases: Its prompt and inputs.
        asker: Who is asked, and how.
        line: Makes calls in the background; ``None`` makes each where its answer is wanted.
        mutations_asked: Whether ``ask_mutations`` was called.
        in_turn: Whether an input may turn out not to be asked at all, for a search ends when it has found something.
    """

    evaluation: Evaluation
    cases: Cases
    asker: TargetAsker
    line: BackgroundCaller | None
    mutations_asked: bool = False
    in_turn: bool = False
    _calls: dict[tuple[int, Prompt, int], BackgroundCall] = field(default_factory=dict)
    _baselines: dict[int, BackgroundCall | None] = field(default_factory=dict)
    _running: dict[Watch, int] = field(default_factory=dict)

    def ask_baselines(self, *order: int) -> None:
        """Ask the unmutated prompt of every input, before a run wants to know."""
        for number, given in enumerate(self.cases.inputs[:1] if self.in_turn else self.cases.inputs):
            prompt = self.cases.prompt_of(given)
            call = self._call(number, prompt, (*order, number))
            self._baselines[number] = call
            if call is not None and self.line is not None:
                self.line.begin([call])

    def plan(self) -> None:
        """Plan the mutations of every input.

        Raises:
            UsageError: There is nothing to mutate.
        """
        for given in self.cases.inputs:
            self.evaluation.plan(self.cases.prompt_of(given))

    def ask_mutations(self, *order: int) -> None:
        """Ask mutations of every input whose baseline was answered, before a run wants to know: those asked first.

        Raises:
            UsageError: There is nothing to mutate.
        """
        self.mutations_asked = True
        for number, given in enumerate(self.cases.inputs):
            first, _ = self.evaluation.first_part(self.evaluation.plan(self.cases.prompt_of(given)))
            found = [self._call(number, each.prompt, (*order, number)) for each in first]
            if self.line is None:
                continue
            self.line.begin([each for each in found if each], after=self._baselines.get(number))
            # A control is asked once something was answered, after what the verdict is of.
            for control in self.evaluation.controls(self.cases.prompt_of(given))[: number == 0]:
                call = self._call(number, control.prompt, (*order, number, 1))
                self.line.begin([call] if call else [], after=next(filter(None, found), None))

    def begin(self, batch: Sequence[Step]) -> None:
        """A batch of runs is about to be made, one after the other: make all their calls at once."""
        found: list[BackgroundCall] = []
        for step in batch:
            self._running[step.watch] = step.case
            known = self._calls.get((step.case, step.prompt, step.watch.settings.repeat))
            if known is not None and not known.work.done.cancelled():
                continue
            if step.watch.settings.sealed:
                continue
            call = self._call(step.case, step.prompt, (NOW,), step.watch)
            if call is not None:
                found.append(call)
        if self.line is not None:
            self.line.begin(found)

    def ask(self, prompt: Prompt, watch: Watch) -> tuple[Input, Prompt, Any]:
        """In the run that ``watch`` sees: its input, what is sent for a prompt, and what is answered."""
        call, given, sent = self._taken(prompt, watch)
        if call is None or self.line is None:
            target = self.asker.target
            if isinstance(target, CallableTarget) and target.is_async:
                import asyncio

                return given, sent, asyncio.run(self.asker.aask(sent))
            return given, sent, self.asker.ask(sent)
        try:
            return given, sent, self.line.taken(call)
        finally:
            _adopt(watch, call.watch)

    async def aask(self, prompt: Prompt, watch: Watch) -> tuple[Input, Prompt, Any]:
        """As ``ask``, without blocking the event loop."""
        call, given, sent = self._taken(prompt, watch)
        if call is None or self.line is None:
            return given, sent, await self.asker.aask(sent)
        try:
            return given, sent, await self.line.ataken(call)
        finally:
            _adopt(watch, call.watch)

    def close(self) -> None:
        """No run will ask any more."""
        if self.line is not None:
            self.line.drop([*self._calls.values()])

    def _taken(self, prompt: Prompt, watch: Watch) -> tuple[BackgroundCall | None, Input, Prompt]:
        number = self._running.pop(watch)
        given = self.cases.inputs[number]
        call = (
            None if watch.settings.sealed else self._calls.pop((number, prompt, watch.settings.repeat), None)
        )
        if call is not None and not call.work.done.cancelled():
            return call, given, call.sent
        return None, given, self.cases.sent(prompt, given)

    def _call(
        self, number: int, prompt: Prompt, order: tuple[int, ...], run: Watch | None = None
    ) -> BackgroundCall | None:
        if self.line is None or self.evaluation.session.mode == "replay":
            return None  # a replay asks nobody
        evaluation = self.evaluation
        told = run.settings if run is not None else RunSettings(repeat=evaluation.session.first_sample)
        ignore = evaluation.contract.comparison.ignore
        watch = evaluation.session.apart(
            evaluation.network, repeat=told.repeat, read=told.read, ignore=ignore
        )
        try:
            sent = self.cases.sent(prompt, self.cases.inputs[number])
            call = self.line.call(self.asker, sent, watch, order, run if run is not None else watch)
        except PromptfuzzError:
            return None  # the run that needs it says what is wrong
        if call is not None:
            self._calls[number, prompt, told.repeat] = call
        return call


def _adopt(watch: Watch, ahead: Watch) -> None:
    """Let the watch of a run have seen what was seen of its call before it began."""
    for call in ahead.calls:
        watch.reserve(call.digest)
    adopt(watch, ahead)
