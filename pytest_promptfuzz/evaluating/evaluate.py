"""``evaluate`` and ``aevaluate``: the robustness of a prompt on a target, without pytest."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.asking import Asker, watch_of_the_run
from pytest_promptfuzz.evaluating.compared import Before, outcomes_of
from pytest_promptfuzz.evaluating.contract import Contract
from pytest_promptfuzz.evaluating.gold import read_expected
from pytest_promptfuzz.evaluating.inputs import Cases, Input, read_inputs
from pytest_promptfuzz.evaluating.job import Job
from pytest_promptfuzz.evaluating.on_wire import PREFIX, OnWire
from pytest_promptfuzz.evaluating.session import (
    Session,
    installed_embedder,
    installed_entailment,
    simulated_of,
)
from pytest_promptfuzz.evaluating.speculating import speculating
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.running.drive import adrive, drive, together
from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.resolve import resolve
from pytest_promptfuzz.wire.intercept import intercepting

if TYPE_CHECKING:
    import os
    import re
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.evaluating.job import Steps
    from pytest_promptfuzz.mutations.selection import Mutations
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.scoring.robustness import Robustness
    from pytest_promptfuzz.targets.model import Target
    from pytest_promptfuzz.wire.watch import Watch

    AnyTarget = str | Target | Callable[..., Any]
    AnyPrompt = str | Prompt | os.PathLike[str] | Sequence[Mapping[str, Any]]


def evaluate(
    prompt: AnyPrompt,
    target: AnyTarget,
    *,
    inputs: Any = None,
    expected: Any = None,
    before: Robustness | Mapping[str, Any] | None = None,
    mutate: str | None = None,
    call: int | None = None,
    match: str | re.Pattern[str] | None = None,
    mutations: Mutations = 8,
    threshold: float = 0.85,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    session: Session | None = None,
    only: str | None = None,
    progress: Callable[[int], object] | None = None,
    **settings: Any,
) -> Robustness:
    """How the answers of a target survive harmless changes to a prompt.

    Args:
        prompt: Text, a ``Prompt``, a path to a text file, or chat messages. Slots
            that no input fills are sent as they are, with a note.
        target: ``"openai:gpt-5-mini"``, ``"anthropic:…"``, ``"compatible:MODEL@URL"``, ``"simulated"``, a ``Target``,
            or a function of the application that takes the prompt and returns the answer.
        inputs: What is put into the prompt's slots, one case each: a list of texts (a prompt of one slot), a list of
            mappings of slot to value, or a mapping of ID to either. All cases have the same mutations, one score and
            one verdict: inputs × (1 + mutations) calls.
        expected: The gold answer, of the kind that is answered: text, a label, JSON; with ``inputs`` a list of them,
            or a mapping by ID. ``result.gold`` says how often answers are as expected; it changes no verdict.
        before: For ``gate="no-worse"``: the result of a run before, or its JSON report, which the same trials are held
            against.
        mutate: ``"role:system"`` or ``"role:user"``: what an application's function is given stays as it is, and that
            role's text in its model requests is mutated on the wire.
        call: Which request's text is meant, by its index among the baseline's.
        match: A regular expression that the text meant holds.
        mutations: How many, 1 to 10,000; or how many of what, as :func:`pytest_promptfuzz.mutate` takes it.
        threshold: What the score must reach, in [0, 1].
        seed: Of the plan of mutations.
        parameters: More for the request body, e.g. ``{"temperature": 0}``.
        session: Store, mode, embedder and concurrency; by default nothing is stored on disk.
        only: The ID of the one trial to run.
        progress: Called after each run with how many were made.
        settings: ``gate=``, ``task=``, ``operators=``, ``part=``, ``equivalent_at=``, ``minor_at=``, ``profile=``,
            ``schema=``, ``max_deviations=``, ``ignore=``, ``tiers=``, ``guards=``,
            ``judge=``, ``judge_when=``, ``judge_repeats=``, ``quality=``, ``samples=``,
            ``baseline_runs=``, ``stop=``, ``shrink=``, ``controls=``.

    Returns:
        The result; ``result.verdict`` is ``pass``, ``brittle``, ``noisy`` or ``inconclusive``.

    Raises:
        UsageError: A setting, the prompt, an input or the target is wrong, or there is nothing to mutate.
        ConfigurationError: A key, an extra or a model name is missing; or with ``mutate=`` no model call was seen.
        BaselineFailed: The application's function raises on the unmutated prompt.
    """
    evaluation = Evaluation(
        prompt,
        target,
        inputs,
        expected,
        before,
        {"mutations": mutations, "threshold": threshold, "seed": seed, **settings},
        (mutate, call, match),
        parameters,
        session,
        only,
        progress,
    )
    with evaluation.watched(), intercepting(), speculating(evaluation.job) as told:
        for each in evaluation.cases.inputs:
            drive(evaluation.case(each), evaluation.body, begin=told.begin, ran=told.ran)
        drive(evaluation.again(), evaluation.body, begin=told.begin, ran=told.ran)
    return evaluation.job.conclude()


async def aevaluate(
    prompt: AnyPrompt,
    target: AnyTarget,
    *,
    inputs: Any = None,
    expected: Any = None,
    before: Robustness | Mapping[str, Any] | None = None,
    mutate: str | None = None,
    call: int | None = None,
    match: str | re.Pattern[str] | None = None,
    mutations: Mutations = 8,
    threshold: float = 0.85,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    session: Session | None = None,
    only: str | None = None,
    progress: Callable[[int], object] | None = None,
    **settings: Any,
) -> Robustness:
    """As ``evaluate``, with the calls for all mutations and inputs running concurrently in this event loop."""
    evaluation = Evaluation(
        prompt,
        target,
        inputs,
        expected,
        before,
        {"mutations": mutations, "threshold": threshold, "seed": seed, **settings},
        (mutate, call, match),
        parameters,
        session,
        only,
        progress,
    )
    job = evaluation.job
    concurrency = job.session.concurrency
    job.concurrent = concurrency > 1
    with evaluation.watched(), intercepting():
        rest = list(evaluation.cases.inputs)
        if evaluation.is_function:
            # Whose a call is can be told in sequence always, and this one shows whether it can otherwise.
            first, *rest = rest
            await adrive(evaluation.case(first), evaluation.abody, concurrency=concurrency)
        job.together = job.concurrent
        cases = [evaluation.case(each) for each in rest]
        for steps in [together(cases)] if job.together else cases:
            await adrive(steps, evaluation.abody, concurrency=concurrency)
        await adrive(evaluation.again(), evaluation.abody, concurrency=concurrency)
    return job.conclude()


class Evaluation:
    """The job and the bodies of one call of ``evaluate``, or of another function that makes a job of its own kind.

    Args:
        prompt: And what follows: as ``evaluate`` takes them.
        place: ``mutate=``, ``call=`` and ``match=``.
        job: Makes the job.
        where: The function's name, for messages.
    """

    def __init__(
        self,
        prompt: AnyPrompt,
        target: AnyTarget,
        inputs: Any,
        expected: Any,
        before: Robustness | Mapping[str, Any] | None,
        settings: Mapping[str, Any],
        place: tuple[Any, Any, Any],
        parameters: Mapping[str, Any] | None,
        session: Session | None,
        only: str | None,
        progress: Callable[[int], object] | None,
        *,
        job: Callable[..., Job] = Job,
        where: str = "evaluate",
    ) -> None:
        self.prompt = as_prompt(prompt)
        contract = Contract.of(settings, where=where)
        self.target = resolve(target)
        self._own = isinstance(target, str)
        self.is_function = function = isinstance(self.target, CallableTarget)
        self._on_wire = _on_wire(*place, function=function, where=where)
        if parameters and function:
            raise UsageError(
                f"{where}: parameters= are for models; a function of the application takes none."
            )
        if inputs is None and not function:
            try:
                self.prompt.limited(contract.part)
            except UsageError as error:  # said before anything is asked
                raise UsageError(f"{where}: {error}") from None
        self._asker = Asker(self.target, dict(parameters or {}))
        self._progress = progress
        self._runs = 0
        self._inputs: dict[Watch, Input] = {}
        if inputs is None:
            given: tuple[Input, ...] = (Input(expected=read_expected(expected, None, where)[0]),)
        else:
            given = read_inputs(inputs, self.prompt, where, expected)
        self.cases = Cases(self.prompt, given, same_mutations=not contract.part.wants_input)
        self.job = job(
            contract=contract,
            session=session
            if session is not None
            else Session(embedder=installed_embedder(), entailment=installed_entailment()),
            where=where,
            target=self.target.name,
            simulated=simulated_of(self.target),
            counts_runs=function and self._on_wire is None,
            only=only,
            on_wire=self._on_wire,
        )
        if before is not None:
            if contract.gate != "no-worse":
                raise UsageError(f"{where}: before= is for gate='no-worse'; give both, or leave it out.")
            self.job.before = Before(outcomes_of(before, where))
        if inputs is None and self.prompt.slots and not self.prompt.inputs and not function:
            names = ", ".join(self.prompt.slots)
            self.job.notes.append(
                f"the prompt was sent with its slots unfilled: {names}; fill them with inputs= or format()"
            )

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Close the target's clients at the end, if the target was made here."""
        try:
            yield
        finally:
            close = getattr(self.target, "close", None)
            if self._own and close is not None:
                close()

    def case(self, given: Input) -> Steps:
        """The steps of one input."""
        return self._known(self.job.case(self.cases.prompt_of(given), given.name, given.expected))

    def again(self) -> Steps:
        """The steps of all inputs that are asked again."""
        return self._known(self.job.again())

    def _known(self, steps: Steps) -> Steps:
        """Steps, each known by the input that it is of."""
        with contextlib.closing(steps), contextlib.suppress(StopIteration):
            batch = next(steps)
            while True:
                self._inputs.update((step.watch, self.cases.inputs[step.case]) for step in batch)
                runs = yield batch
                batch = steps.send(runs)

    def body(self, prompt: Prompt) -> Any:
        """Ask the target, in a run."""
        try:
            return self._asker.ask(self._sent(prompt))
        finally:
            self._ran()

    async def abody(self, prompt: Prompt) -> Any:
        """Ask the target, in a run of an event loop."""
        try:
            return await self._asker.aask(self._sent(prompt))
        finally:
            self._ran()

    def _sent(self, prompt: Prompt) -> Prompt:
        """What is asked in the run that goes on."""
        given = self._inputs.pop(watch_of_the_run())
        if self._on_wire is not None:
            return self.cases.sent(self.cases.prompt_of(given), given)
        return self.cases.sent(prompt, given)

    def _ran(self) -> None:
        self._runs += 1
        if self._progress is not None:
            self._progress(self._runs)


def _on_wire(mutate: Any, call: Any, match: Any, *, function: bool, where: str) -> OnWire | None:
    """What ``mutate=``, ``call=`` and ``match=`` say.

    Raises:
        UsageError: They name no role, or the target is a model, whose requests hold the prompt itself.
    """
    if mutate is not None and not str(mutate).startswith(PREFIX):
        raise UsageError(
            f"{where}: mutate={mutate!r} must be a role of the application's requests, 'role:system' or 'role:user': "
            "the prompt that it is given is mutated without."
        )
    if mutate is not None and not function:
        raise UsageError(
            f"{where}: mutate={mutate!r} is for a function of the application. For a model give chat messages, and "
            f"part={str(mutate).removeprefix(PREFIX)!r}."
        )
    return OnWire.of(mutate, call, match, where)
