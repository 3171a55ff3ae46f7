"""What of a plan is asked next, and when enough of it was asked.

The first part of each case is asked with its baseline; the rest once all cases have begun, in batches over all of them,
so that inputs share it evenly. Both follow from the plan and the answers alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.judge import told_undone
from pytest_promptfuzz.scoring.operating import said_of, stopping
from pytest_promptfuzz.scoring.score import Counts
from pytest_promptfuzz.scoring.settling import settled
from pytest_promptfuzz.scoring.stopping import Gate
from pytest_promptfuzz.scoring.trial import Spent, Trial
from pytest_promptfuzz.scoring.turns import fair_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.case import Case
    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.repeating import Asked
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.scoring.repeats import Evidence
    from pytest_promptfuzz.scoring.stopping import Stopping

    Part = tuple[Asked, list[Mutation]]


def chosen_of(mutations: Sequence[Mutation], only: str | None, where: str) -> list[Mutation]:
    """The mutations that are wanted of a plan.

    Args:
        mutations: The plan.
        only: The ID of the one trial to run, or ``None`` for all.
        where: The test, for messages.

    Raises:
        UsageError: The plan has no such trial.
    """
    chosen = [each for each in mutations if only in (None, each.id)]
    if not chosen:
        known = ", ".join(each.id for each in mutations)
        raise UsageError(
            f"{where}: no trial {only!r} in its plan. Its trials: {known}. A failure's report names each that "
            "failed, and the command that runs it alone."
        )
    return chosen


def first_part(
    mutations: Sequence[Mutation], contract: Contract, *, waits: bool
) -> tuple[list[Mutation], list[Mutation]]:
    """A case's mutations: those that are asked first, and the rest in its order.

    Only what the score is of can be needless. Controls and other relations are asked first, all of them; a plan without
    invariance is asked as a whole, since it shows only then which relation is judged.
    """
    scored = [each for each in mutations if each.relation == "invariance"]
    how = _stopping(len(scored), contract, waits=waits)
    if how is None or not how.decides:
        return list(mutations), []
    order = fair_order(
        [(each.dimension, *each.operators[:1]) for each in scored],
        [each.id for each in scored],
        seed=contract.seed,
    )
    turns = [scored[place] for place in order]
    size = how.batch(Counts())
    chosen = {each.id for each in turns[:size]}
    return [each for each in mutations if each.relation != "invariance" or each.id in chosen], turns[size:]


@dataclass(slots=True)
class Pace:
    """How a test is asked, over all of its cases.

    Attributes:
        contract: Its settings.
        cases: Those whose baseline holds.
        waits: Whether each batch is a round of waiting that nothing else fills.
    """

    contract: Contract
    cases: Sequence[Case]
    waits: bool

    @property
    def asked(self) -> list[Asked]:
        """What was asked of each case that came so far."""
        return [each.asked for each in self.cases if each.asked is not None]

    @property
    def waiting(self) -> int:
        """Trials that were not asked yet."""
        return self.contract.samples * sum(len(each.waiting) for each in self.asked)

    def ended(self, trials: Sequence[Trial]) -> bool:
        """Whether the trials asked so far suffice."""
        how = self._how(trials)
        return how is None or how.ending(self._counts(trials)) is not None

    def certain(self, trials: Sequence[Trial]) -> bool:
        """Whether the rest of the plan could not change the outcomes' verdict, rather than probably would not."""
        how = self._how(trials)
        return how is None or how.gate.ending(self._counts(trials)) is not None

    def settled(self, trials: Sequence[Trial], evidence: Evidence) -> bool:
        """Whether the verdict stays as it is, now that it is known what is noise."""
        how = self._how(trials)
        return how is None or settled(how, self._counts(trials), evidence)

    def said(self, trials: Sequence[Trial]) -> list[str]:
        """What a person must know where the test was ended on evidence, short of certainty."""
        how = self._how(trials)
        return [] if how is None or self.certain(trials) else [said_of(how, self._counts(trials))]

    def next(self, trials: Sequence[Trial]) -> list[Part]:
        """The next batch: mutations of each case, from those of which most is left."""
        how = self._how(trials)
        if how is None:
            return []
        parts: dict[int, Part] = {}
        for _ in range(-(-how.batch(self._counts(trials)) // self.contract.samples)):
            asked = max(self.asked, key=lambda each: (len(each.waiting), -each.case.number))
            parts.setdefault(asked.case.number, (asked, []))[1].append(asked.waiting.pop(0))
        return [parts[number] for number in sorted(parts)]

    def rest(self) -> list[Part]:
        """All that is left, as one batch."""
        parts = [(each, each.waiting) for each in self.asked if each.waiting]
        for asked, _ in parts:
            asked.waiting = []
        return parts

    def _how(self, trials: Sequence[Trial]) -> Stopping | None:
        if not self.waiting:
            return None
        planned = self._counts(trials).total + self.waiting
        return _stopping(planned, self.contract, waits=self.waits)

    @staticmethod
    def _counts(trials: Sequence[Trial]) -> Counts:
        return Counts.of(trial.outcome for trial in trials if trial.mutation.relation == "invariance")


def in_order(trials: Sequence[Trial], cases: Sequence[Case], samples: int) -> list[Trial]:
    """Trials in the order of the plan, with those that were not needed in their places."""
    skipped = [
        Trial(mutation, "not-needed", case=case.number, sample=sample)
        for case in cases
        if case.asked is not None
        for mutation in case.asked.waiting
        for sample in range(samples)
    ]
    places = {
        (case.number, mutation.id): place
        for case in cases
        for place, mutation in enumerate((*(case.planned or ()), *case.controls))
    }
    made: list[Trial] = []
    for case in cases:
        made += told_undone([trial for trial in trials if trial.case == case.number])
    return sorted(
        [*made, *skipped], key=lambda trial: (trial.case, places.get((trial.case, trial.id), 0), trial.sample)
    )


def saved_by(trials: Sequence[Trial], cases: Sequence[Case]) -> Spent:
    """The calls of the trials that were not needed, if each had made as many as its baseline."""
    calls = {case.number: case.calls for case in cases}
    return Spent(saved=sum(calls.get(trial.case, 0) for trial in trials if trial.outcome == "not-needed"))


def _stopping(planned: int, contract: Contract, *, waits: bool) -> Stopping | None:
    gate = Gate(planned, contract.threshold, contract.max_deviations, by_score=contract.gate == "point")
    return stopping(contract.stop, gate, waits=waits)
