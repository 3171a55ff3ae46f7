"""``evaluate`` and ``aevaluate``: the robustness of a prompt on a target, without pytest."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.asking import Asker
from pytest_promptfuzz.evaluating.contract import Contract
from pytest_promptfuzz.evaluating.inputs import Cases, Input, read_inputs
from pytest_promptfuzz.evaluating.job import Job
from pytest_promptfuzz.evaluating.session import Session, installed_embedder, simulated_of
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.running.drive import adrive, drive
from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.resolve import resolve
from pytest_promptfuzz.wire.intercept import intercepting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.evaluating.job import Steps
    from pytest_promptfuzz.mutations.selection import Mutations
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.scoring.robustness import Robustness
    from pytest_promptfuzz.targets.model import Target

    AnyTarget = str | Target | Callable[..., Any]
    AnyPrompt = str | Prompt | os.PathLike[str] | Sequence[Mapping[str, Any]]


def evaluate(
    prompt: AnyPrompt,
    target: AnyTarget,
    *,
    inputs: Any = None,
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
        mutations: How many, 1 to 10,000; or how many of what, as :func:`pytest_promptfuzz.mutate` takes it.
        threshold: What the score must reach, in [0, 1].
        seed: Of the plan of mutations.
        parameters: More for the request body, e.g. ``{"temperature": 0}``.
        session: Store, mode, embedder and concurrency; by default nothing is stored on disk.
        only: The ID of the one trial to run.
        progress: Called after each run with how many were made.
        settings: ``task=``, ``operators=``, ``part=``, ``equivalent_at=``, ``minor_at=``, ``profile=``,
            ``max_deviations=``, ``ignore=``.

    Returns:
        The result; ``result.verdict`` is ``pass``, ``brittle``, ``noisy`` or ``inconclusive``.

    Raises:
        UsageError: A setting, the prompt, an input or the target is wrong, or there is nothing to mutate.
        ConfigurationError: A key, an extra or a model name is missing.
        BaselineFailed: The application's function raises on the unmutated prompt.
    """
    evaluation = _Evaluation(
        prompt,
        target,
        inputs,
        {"mutations": mutations, "threshold": threshold, "seed": seed, **settings},
        parameters,
        session,
        only,
        progress,
    )
    with evaluation.watched(), intercepting():
        for each in evaluation.cases.inputs:
            drive(evaluation.case(each), evaluation.body)
    return evaluation.job.conclude()


async def aevaluate(
    prompt: AnyPrompt,
    target: AnyTarget,
    *,
    inputs: Any = None,
    mutations: Mutations = 8,
    threshold: float = 0.85,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    session: Session | None = None,
    only: str | None = None,
    progress: Callable[[int], object] | None = None,
    **settings: Any,
) -> Robustness:
    """As ``evaluate``, with the mutations' calls running concurrently in this event loop."""
    evaluation = _Evaluation(
        prompt,
        target,
        inputs,
        {"mutations": mutations, "threshold": threshold, "seed": seed, **settings},
        parameters,
        session,
        only,
        progress,
    )
    job = evaluation.job
    job.concurrent = job.session.concurrency > 1
    with evaluation.watched(), intercepting():
        for each in evaluation.cases.inputs:
            await adrive(evaluation.case(each), evaluation.abody, concurrency=job.session.concurrency)
    return job.conclude()


class _Evaluation:
    """The job and the bodies of one call of ``evaluate``."""

    def __init__(
        self,
        prompt: AnyPrompt,
        target: AnyTarget,
        inputs: Any,
        settings: Mapping[str, Any],
        parameters: Mapping[str, Any] | None,
        session: Session | None,
        only: str | None,
        progress: Callable[[int], object] | None,
    ) -> None:
        self.prompt = as_prompt(prompt)
        contract = Contract.of(settings, where="evaluate")
        self.target = resolve(target)
        self._own = isinstance(target, str)
        function = isinstance(self.target, CallableTarget)
        if parameters and function:
            raise UsageError(
                "evaluate: parameters= are for models; a function of the application takes none."
            )
        self._asker = Asker(self.target, dict(parameters or {}))
        self._progress = progress
        self._runs = 0
        self._input = Input()
        given = (self._input,) if inputs is None else read_inputs(inputs, self.prompt, "evaluate")
        self.cases = Cases(self.prompt, given, same_mutations=not contract.part.wants_input)
        self.job = Job(
            contract=contract,
            session=session if session is not None else Session(embedder=installed_embedder()),
            where="evaluate",
            target=self.target.name,
            simulated=simulated_of(self.target),
            counts_runs=function,
            only=only,
        )
        if inputs is None and self.prompt.slots and not self.prompt.inputs and not function:
            names = ", ".join(self.prompt.slots)
            self.job.notes.append(
                f"the prompt was sent with its slots unfilled: {names}; fill them with inputs= or format()"
            )

    @contextmanager
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
        self._input = given
        return self.job.case(self.cases.prompt_of(given), given.name)

    def body(self, prompt: Prompt) -> Any:
        try:
            return self._asker.ask(self.cases.sent(prompt, self._input))
        finally:
            self._ran()

    async def abody(self, prompt: Prompt) -> Any:
        try:
            return await self._asker.aask(self.cases.sent(prompt, self._input))
        finally:
            self._ran()

    def _ran(self) -> None:
        self._runs += 1
        if self._progress is not None:
            self._progress(self._runs)
