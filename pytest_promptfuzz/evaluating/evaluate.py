"""``evaluate`` and ``aevaluate``: the robustness of a prompt on a target, without pytest."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.contract import Contract
from pytest_promptfuzz.evaluating.job import Job
from pytest_promptfuzz.evaluating.session import Session, installed_embedder, simulated_of
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.running.drive import adrive, drive
from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.requests import as_request
from pytest_promptfuzz.targets.resolve import resolve
from pytest_promptfuzz.wire.ask import aask, ask
from pytest_promptfuzz.wire.intercept import intercepting
from pytest_promptfuzz.wire.watch import current

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
        prompt: Text, a ``Prompt``, a path to a text file, or chat messages. Slots are sent as they are, with a note.
        target: ``"openai:gpt-5-mini"``, ``"anthropic:…"``, ``"compatible:MODEL@URL"``, ``"simulated"``, a ``Target``,
            or a function of the application that takes the prompt and returns the answer.
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
        UsageError: A setting, the prompt or the target is wrong, or there is nothing to mutate.
        ConfigurationError: A key, an extra or a model name is missing.
        BaselineFailed: The application's function raises on the unmutated prompt.
    """
    evaluation = _Evaluation(
        prompt,
        target,
        {"mutations": mutations, "threshold": threshold, "seed": seed, **settings},
        parameters,
        session,
        only,
        progress,
    )
    with evaluation.watched(), intercepting():
        drive(evaluation.job.case(evaluation.prompt), evaluation.body)
    return evaluation.job.conclude()


async def aevaluate(
    prompt: AnyPrompt,
    target: AnyTarget,
    *,
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
        {"mutations": mutations, "threshold": threshold, "seed": seed, **settings},
        parameters,
        session,
        only,
        progress,
    )
    job = evaluation.job
    job.concurrent = job.session.concurrency > 1
    with evaluation.watched(), intercepting():
        await adrive(job.case(evaluation.prompt), evaluation.abody, concurrency=job.session.concurrency)
    return job.conclude()


class _Evaluation:
    """The job and the bodies of one call of ``evaluate``."""

    def __init__(
        self,
        prompt: AnyPrompt,
        target: AnyTarget,
        settings: Mapping[str, Any],
        parameters: Mapping[str, Any] | None,
        session: Session | None,
        only: str | None,
        progress: Callable[[int], object] | None,
    ) -> None:
        self.prompt = as_prompt(prompt)
        self.parameters = dict(parameters or {})
        contract = Contract.of(settings, where="evaluate")
        self.target = resolve(target)
        self._own = isinstance(target, str)
        if self.parameters and isinstance(self.target, CallableTarget):
            raise UsageError(
                "evaluate: parameters= are for models; a function of the application takes none."
            )
        self._progress = progress
        self._runs = 0
        self.job = Job(
            contract=contract,
            session=session if session is not None else Session(embedder=installed_embedder()),
            where="evaluate",
            target=self.target.name,
            simulated=simulated_of(self.target),
            counts_runs=isinstance(self.target, CallableTarget),
            only=only,
        )
        if self.prompt.slots and not self.prompt.inputs and not isinstance(self.target, CallableTarget):
            names = ", ".join(self.prompt.slots)
            self.job.notes.append(
                f"the prompt was sent with its slots unfilled: {names}; fill them with format()"
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

    def body(self, prompt: Prompt) -> Any:
        try:
            if isinstance(self.target, CallableTarget):
                return self.target.call(prompt)
            return ask(self.target, as_request(prompt, **self.parameters), _watch())
        finally:
            self._ran()

    async def abody(self, prompt: Prompt) -> Any:
        try:
            if isinstance(self.target, CallableTarget):
                return await self.target.acall(prompt)
            return await aask(self.target, as_request(prompt, **self.parameters), _watch())
        finally:
            self._ran()

    def _ran(self) -> None:
        self._runs += 1
        if self._progress is not None:
            self._progress(self._runs)


def _watch() -> Watch:
    watch = current.get()
    if watch is None:  # `running.run` sets it around every body
        raise RuntimeError("no run is going on")
    return watch
