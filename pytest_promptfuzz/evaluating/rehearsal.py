"""A test rehearsed to find out what it asks: each run goes up to the first answer that is not there yet.

The runs are those of an evaluation, so that what they ask is what the evaluation will ask. A test that asks again about
what it was answered shows its next call in the next rehearsal.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.evaluating.baseline import may_overlap
from pytest_promptfuzz.evaluating.filled import shown_by
from pytest_promptfuzz.evaluating.job import Job
from pytest_promptfuzz.running.run import Step
from pytest_promptfuzz.wire.notebook import Notebook, NotYetError

if TYPE_CHECKING:
    from pytest_promptfuzz.evaluating.job import Steps
    from pytest_promptfuzz.evaluating.session import TestWatches
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.wire.notebook import Noted
    from pytest_promptfuzz.wire.watch import Watch


@dataclass(slots=True)
class Rehearsal(Job):
    """A job whose runs end where an answer is missing; nothing is judged.

    Attributes:
        unknown: Why it cannot be said what the test asks; empty where it can.
    """

    unknown: str = ""
    _seen: list[Watch] = field(default_factory=list)

    @classmethod
    def of(cls, job: Job) -> Rehearsal:
        """A rehearsal of a job that has not begun; no call is made early in it either."""
        same = {each.name: getattr(job, each.name) for each in fields(Job) if each.init}
        return cls(**{**same, "session": replace(job.session, speculate=False)})

    @property
    def missing(self) -> list[Noted]:
        """The calls that have no answer yet."""
        return [each for watch in self._seen if watch.notebook is not None for each in watch.notebook.noted]

    @property
    def found(self) -> list[tuple[str, int]]:
        """Digest and number, among the identical requests of its run, of each call that the store answers."""
        return [(call.digest, call.nth) for watch in self._seen for call in watch.calls if call.hit]

    def case(self, prompt: Prompt, name: str = "", expected: Any = None) -> Steps:
        """The steps of one example: the baseline, once more to see whether it asks the same, and every mutation."""
        del expected  # nothing is answered
        self.cases += 1
        self.names.append(name)
        watches = self.session.test(self.network)
        (first,) = yield [Step(prompt, self._noting(watches, concurrent=self.together))]
        (again,) = yield [Step(prompt, self._noting(watches, concurrent=self.together))]
        self.unknown = self.unknown or _unknown(first, again)
        if self.unknown:
            return
        self._seen.append(first.watch)
        known = self.on_wire is None and (prompt.inputs or not self.contract.part.wants_input)
        try:
            shown = prompt if known else shown_by(first, prompt, self.contract.part, self.on_wire, self.where)
            mutations = self.plan(shown)
            if self.cases == 1:
                mutations += self.controls(shown)[:1]
        except PromptfuzzError as error:
            # The text to mutate may stand in a request after the one that has no answer yet.
            if not _noted(first):
                self.unknown = str(error)
            return
        overlap = may_overlap(self, first)
        runs = yield [
            Step(each.prompt, self._noting(watches, each, concurrent=overlap)) for each in mutations
        ]
        self._seen += [run.watch for run in runs]

    def _noting(
        self, watches: TestWatches, mutation: Mutation | None = None, *, concurrent: bool = False
    ) -> Watch:
        watch = watches.watch(
            ignore=self.contract.ignore,
            simulated=self.simulated,
            concurrent=concurrent,
            in_flight=None if self.on_wire is None else self.on_wire.in_flight(mutation),
            mutation=mutation,
        )
        watch.notebook = Notebook()
        return watch


def _unknown(first: Run, again: Run) -> str:
    """Why two runs of the baseline do not show what the test asks; nothing where they do."""
    asked = _asked(first)
    if not asked:
        error = first.exception
        if error is not None and not isinstance(error, NotYetError):
            return f"it raises {type(error).__name__} before it asks a model"
        return f"it asks no model that is seen{'' if not first.watch.unseen else ', only where it cannot be followed'}"
    if asked != _asked(again):
        return "it asks something else each time it is run"
    return ""


def _asked(run: Run) -> list[tuple[str, int]]:
    answered = [(each.digest, each.nth) for each in run.watch.calls]
    return sorted(answered + [(each.digest, each.nth) for each in _noted(run)])


def _noted(run: Run) -> list[Noted]:
    return run.watch.notebook.noted if run.watch.notebook is not None else []
