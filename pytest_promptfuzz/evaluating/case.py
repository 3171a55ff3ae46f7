"""What a case of an evaluation, one input or example, knows of itself alone, so that cases may take turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import NotRecordedError
from pytest_promptfuzz.scoring.trial import Trial, TrialError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.evaluating.on_wire import OnWire
    from pytest_promptfuzz.evaluating.repeating import Asked
    from pytest_promptfuzz.evaluating.session import TestWatches
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.targets.simulated import SimulatedTarget
    from pytest_promptfuzz.wire.watch import Watch


@dataclass(slots=True)
class Case:
    """One case.

    Attributes:
        number: From 0, in the order in which they began.
        prompt: As it was given; where only the baseline shows what is mutated, it stands for that.
        watches: Of its runs.
        ignore: JSON paths left out of keys.
        simulated: The simulated target, answering in every provider's place, or ``None``.
        on_wire: What is mutated in the body's requests; ``None`` where the prompt is known before.
        shown: The prompt where only the baseline's run showed it; ``None`` where it is the one that was given.
        planned: Its mutations, once they are known.
        controls: The controls that were asked though the test names none.
        asked: Its answers, once there are some.
        models: By model as asked for, the models that answered.
        renewed: Whether everything was asked again, since two models had answered.
        calls: How many calls a run of the unmutated prompt makes.
        expected: The gold answer, as plain data; ``None`` where there is none.
        unrecorded: Why there is no plan, where only the recording may be used. It is raised once the baseline has run,
            since what that asks, and is not recorded either, shows how the prompt differs.
    """

    number: int
    prompt: Prompt
    watches: TestWatches
    ignore: Sequence[str] = ()
    simulated: SimulatedTarget | None = None
    on_wire: OnWire | None = None
    shown: Prompt | None = None
    planned: tuple[Mutation, ...] | None = None
    controls: tuple[Mutation, ...] = ()
    asked: Asked | None = None
    models: dict[str, set[str]] = field(default_factory=dict)
    renewed: bool = False
    calls: int = 0
    expected: Any = None
    unrecorded: NotRecordedError | None = None

    def plan(self, plan: Callable[[Prompt], tuple[Mutation, ...]]) -> None:
        """Plan the mutations of its prompt, or keep why there is no plan."""
        try:
            self.planned = plan(self.prompt)
        except NotRecordedError as error:
            self.unrecorded = error

    def watch(
        self,
        *,
        repeat: int = 0,
        control: bool = False,
        concurrent: bool = False,
        mutation: Mutation | None = None,
        spare: bool = False,
    ) -> Watch:
        """The watch of one run.

        Args:
            repeat: How often the same prompt was asked before.
            control: Serve what the baseline was answered, and refuse to ask anything else.
            concurrent: Whether other runs overlap this one.
            mutation: The trial's; ``None`` for the baseline.
            spare: Whether the verdict does without it.
        """
        return self.watches.watch(
            repeat=repeat,
            control=control,
            ignore=self.ignore,
            simulated=self.simulated,
            concurrent=concurrent,
            in_flight=None if self.on_wire is None else self.on_wire.in_flight(mutation),
            mutation=mutation,
            spare=spare,
        )

    def abandoned(self, kind: str, why: str) -> list[Trial]:
        """The baseline does not hold, so no trial is worth its calls."""
        return [
            Trial(each, "error", error=TrialError(kind, why), case=self.number) for each in self.planned or ()
        ]

    def count(self, run: Run) -> str:
        """Note which models answered a run; the name of the first."""
        first = ""
        for call in run.watch.calls:
            if call.response is not None and call.response.model:
                self.models.setdefault(call.model, set()).add(call.response.model)
                first = first or call.response.model
        return first
