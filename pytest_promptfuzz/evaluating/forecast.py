"""What a test would ask and cost, told without asking (``--promptfuzz-dry-run``, ``promptfuzz prefill``)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypedDict

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.evaluating.evaluation import Evaluation
from pytest_promptfuzz.evaluating.phases.baseline import may_overlap, shown_by
from pytest_promptfuzz.evaluating.session import simulated_backend
from pytest_promptfuzz.providers.formats import request_texts
from pytest_promptfuzz.running.limits.budget import estimate, summed, tokens_of
from pytest_promptfuzz.running.run import Step
from pytest_promptfuzz.targets.resolution import CallableTarget, as_request
from pytest_promptfuzz.wire.exchange import IN_PROCESS, Exchange
from pytest_promptfuzz.wire.watch import Notebook, NotYetError, RunRoute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.cases import Steps
    from pytest_promptfuzz.evaluating.session import Session, TestWatches
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.running.limits.budget import Prices
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.wire.watch import Noted, Watch


class Forecast(TypedDict):
    """What one test would ask; plain data, which crosses processes.

    ``stored``, the tokens and the costs are ``None`` where they cannot be told; ``exact`` says whether the calls are
    known and not reckoned from the prompt; ``function`` whether they are of a function of the application; ``most``
    whether there may be fewer, for a search ends when it has found something.
    """

    test: str
    calls: int
    stored: int | None
    tokens: int | None
    low: float | None
    high: float | None
    exact: bool
    function: bool
    most: bool


@dataclass(frozen=True, slots=True)
class _ForecastCall:
    """One call: whether the store has its answer, its tokens, and its cost at the least and at the most."""

    stored: bool
    tokens: int
    low: float | None
    high: float | None


def forecast(
    test: str,
    runs: Sequence[tuple[Prompt, int]],
    target: Target | CallableTarget | None,
    session: Session,
    prices: Prices,
    *,
    exact: bool,
    ignore: Sequence[str] = (),
    most: bool = False,
) -> Forecast:
    """What a test would ask.

    Args:
        test: Its name.
        runs: What it sends, a call each, and how often it was sent before: the baseline's and every mutation's, of
            every input.
        target: Who is asked; ``None`` where only the test's own code knows.
        session: The store it is served from.
        prices: What calls cost.
        exact: Whether the prompts are what is sent; otherwise the body may add to them, and call more than once.
        ignore: JSON paths left out of the keys by which answers are looked for.
        most: Whether it may ask less.
    """
    if target is None or isinstance(target, CallableTarget):
        return Forecast(
            test=test,
            calls=len(runs),
            stored=None,
            tokens=sum(tokens_of(prompt.text) for prompt, _ in runs),
            low=None,
            high=None,
            exact=target is not None and exact,
            function=target is not None,
            most=most,
        )
    asked = [_asked(prompt, repeat, target, session, prices, ignore) for prompt, repeat in runs]
    missing = [each for each in asked if not (exact and each.stored)]
    return Forecast(
        test=test,
        calls=len(asked),
        stored=len(asked) - len(missing) if exact else None,
        tokens=sum(each.tokens for each in missing),
        low=summed([each.low for each in missing]),
        high=summed([each.high for each in missing]),
        exact=exact,
        function=False,
        most=most,
    )


def unknown(test: str, calls: int, *, most: bool = False) -> Forecast:
    """What a test would ask whose prompt shows only when its body runs: ``calls`` at the least, or at the most."""
    return Forecast(
        test=test,
        calls=calls,
        stored=None,
        tokens=None,
        low=None,
        high=None,
        exact=False,
        function=False,
        most=most,
    )


def _asked(
    prompt: Prompt, repeat: int, target: Target, session: Session, prices: Prices, ignore: Sequence[str]
) -> _ForecastCall:
    wire = target.prepare(as_request(prompt))
    watches = session.test()
    exchange = Exchange(watches.watch(repeat=repeat, ignore=ignore), wire, parse=target.parse)
    try:
        stored = exchange.stored() is not None
    except PromptfuzzError:  # only the recording may be used, and does not hold it
        stored = False
    if wire.url.startswith(IN_PROCESS):
        return _ForecastCall(stored, sum(map(tokens_of, request_texts(wire.body, wire.url))), 0.0, 0.0)
    return _ForecastCall(stored, *estimate(wire, prices))


# A test rehearsed to find out what it asks: each run goes up to the first answer that is not there yet.
#
# The runs are those of an evaluation, so that what they ask is what the evaluation will ask. A test that asks again
# about what it was answered shows its next call in the next rehearsal.


@dataclass(slots=True)
class Rehearsal(Evaluation):
    """An evaluation whose runs end where an answer is missing; nothing is judged.

    Attributes:
        unknown: Why it cannot be said what the test asks; empty where it can.
    """

    unknown: str = ""
    _begun: int = 0
    _seen: list[Watch] = field(default_factory=list)

    @classmethod
    def of(cls, evaluation: Evaluation) -> Rehearsal:
        """A rehearsal of an evaluation that has not begun; no call is made early in it either."""
        same = {each.name: getattr(evaluation, each.name) for each in fields(Evaluation) if each.init}
        settings = evaluation.settings
        silent = replace(settings, session=replace(settings.session, speculate=False))
        return cls(**{**same, "settings": silent})

    @property
    def cases(self) -> int:
        """How many cases have begun."""
        return self._begun

    @property
    def missing(self) -> list[Noted]:
        """The calls that have no answer yet."""
        return [
            each
            for watch in self._seen
            if watch.route.notebook is not None
            for each in watch.route.notebook.noted
        ]

    @property
    def found(self) -> list[tuple[str, int]]:
        """Digest and number, among the identical requests of its run, of each call that the store answers."""
        return [(call.digest, call.nth) for watch in self._seen for call in watch.calls if call.hit]

    def case(self, prompt: Prompt, name: str = "", expected: Any = None) -> Steps:
        """The steps of one example: the baseline, once more to see whether it asks the same, and every mutation."""
        del name, expected  # nothing is answered
        self._begun += 1
        settings, contract = self.settings, self.contract
        watches, together = self.session.test(self.network), settings.order.together
        (first,) = yield [Step(prompt, self._noting(watches, concurrent=together))]
        (again,) = yield [Step(prompt, self._noting(watches, concurrent=together))]
        self.unknown = self.unknown or _unknown(first, again)
        if self.unknown:
            return
        self._seen.append(first.watch)
        shown, on_wire = prompt, settings.on_wire
        try:
            if on_wire is not None or (contract.plan.part.wants_input and not prompt.inputs):
                shown = shown_by(first, prompt, contract.plan.part, on_wire, settings.where)
            mutations = self.plan(shown)
            if self._begun == 1:
                mutations += self.controls(shown)[:1]
        except PromptfuzzError as error:
            # The text to mutate may stand in a request after the one that has no answer yet.
            if not _noted(first):
                self.unknown = str(error)
            return
        overlap = may_overlap(first, settings.order, self.notes)
        runs = yield [
            Step(each.prompt, self._noting(watches, each, concurrent=overlap)) for each in mutations
        ]
        self._seen += [run.watch for run in runs]

    def _noting(
        self, watches: TestWatches, mutation: Mutation | None = None, *, concurrent: bool = False
    ) -> Watch:
        on_wire, simulated = self.settings.on_wire, self.settings.simulated
        route = RunRoute(
            in_flight=None if on_wire is None else on_wire.in_flight(mutation),
            simulated=simulated_backend(simulated),
            notebook=Notebook(),
        )
        ignore = self.contract.comparison.ignore
        return watches.watch(route, ignore=ignore, concurrent=concurrent, mutation=mutation)


def _unknown(first: Run, again: Run) -> str:
    """Why two runs of the baseline do not show what the test asks; nothing where they do."""
    asked = _keys_asked(first)
    if not asked:
        error = first.exception
        if error is not None and not isinstance(error, NotYetError):
            return f"it raises {type(error).__name__} before it asks a model"
        return f"it asks no model that is seen{'' if not first.watch.unseen else ', only where it cannot be followed'}"
    if asked != _keys_asked(again):
        return "it asks something else each time it is run"
    return ""


def _keys_asked(run: Run) -> list[tuple[str, int]]:
    answered = [(each.digest, each.nth) for each in run.watch.calls]
    return sorted(answered + [(each.digest, each.nth) for each in _noted(run)])


def _noted(run: Run) -> list[Noted]:
    return run.watch.route.notebook.noted if run.watch.route.notebook is not None else []
