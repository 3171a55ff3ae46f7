"""The mutations of a test: those that its recording answers, or a plan made anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.contract import check_writable, recorded_plan
from pytest_promptfuzz.evaluating.judge import told_undone
from pytest_promptfuzz.evaluating.phases.controls import default_controls, parted
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.results.trials import Spent, Trial, cluster
from pytest_promptfuzz.stats.intervals import lower_bound, smallest_n
from pytest_promptfuzz.stats.scores import Counts
from pytest_promptfuzz.stats.stopping import PlanGate, fair_order, said_of, settled, stopping
from pytest_promptfuzz.text.json_paths import without
from pytest_promptfuzz.wire.calls import answers_kept_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.job import Case, Job
    from pytest_promptfuzz.evaluating.phases.resampling import CaseAnswers
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.stats.repeats import RepeatEvidence
    from pytest_promptfuzz.stats.stopping import Stopping
    from pytest_promptfuzz.storage.answers import StoredAnswer

    Part = tuple[CaseAnswers, list[Mutation]]


# Whether a test can pass at all: a gate that so few mutations cannot pass is refused before anything is asked.


_MOST_TRIED = 500  # mutations up to which a plan is made to see whether it suffices


def sole(job: Job) -> bool:
    """Whether a test's verdict is over one plan, the same for every input, and over the whole of it."""
    return job.only is None and not job.whole and not job.contract.part.wants_input


def refuse_too_few(job: Job) -> None:
    """Refuse a gate that no plan of so many mutations can pass, be they as different as they may.

    Raises:
        UsageError: Naming gate, threshold, and how many it takes.
    """
    contract = job.contract
    if contract.gate != "confident" or not sole(job):
        return
    needed = smallest_n(contract.threshold)
    if needed is None or contract.mutations < needed:
        raise UsageError(_hopeless(contract, contract.mutations, needed, job.where))


def refuse_hopeless(mutations: Sequence[Mutation], prompt: Prompt, contract: Contract, where: str) -> None:
    """Refuse a gate that this plan cannot pass, though every answer were equivalent.

    Args:
        mutations: The plan.
        prompt: What was planned for, limited to the part that may change.
        contract: The test's settings.
        where: The test, for messages.

    Raises:
        UsageError: Naming gate, threshold, and how many mutations it takes.
    """
    if contract.gate != "confident" or _suffices(mutations, contract):
        return
    count = sum(each.relation == "invariance" for each in mutations)
    needed = smallest_n(contract.threshold)
    if needed is None or contract.operators is not None:
        raise UsageError(_hopeless(contract, count, needed, where))
    size = max(needed, contract.mutations + 1)
    while size <= _MOST_TRIED:
        made = plan(prompt, size, seed=contract.seed)
        if _suffices(made.mutations, contract):
            message = _hopeless(contract, count, len(made.mutations), where)
            raise UsageError(message.replace("at least ", ""))
        if made.shortage:
            raise UsageError(
                f"{_cannot(contract, count, where)}, and this prompt allows no plan that could. Ask for less, "
                "with threshold= or gate='point'."
            )
        size += max(1, size // 20)
    raise UsageError(_hopeless(contract, count, needed, where))


def _suffices(mutations: Sequence[Mutation], contract: Contract) -> bool:
    credited = [(cluster(each), 1) for each in mutations if each.relation == "invariance"]
    return not credited or lower_bound(credited) >= contract.threshold


def _hopeless(contract: Contract, planned: int, needed: int | None, where: str) -> str:
    if needed is None:
        return (
            f"{where}: gate='confident' at threshold={float(contract.threshold):g} cannot pass, however many mutations "
            "there are: no test proves a score of 1. Ask for less, such as threshold=0.95."
        )
    few = ""
    if planned >= needed:
        few = ", and of more operators, for mutations of one operator are alike"
    return f"{_cannot(contract, planned, where)}: it needs at least mutations={needed}{few}."


def _cannot(contract: Contract, planned: int, where: str) -> str:
    return (
        f"{where}: gate='confident' at threshold={float(contract.threshold):g} cannot pass with {planned} "
        f"mutation{'' if planned == 1 else 's'}"
    )


def planned(
    prompt: Prompt,
    contract: Contract,
    session: Session,
    where: str,
    notes: list[str],
    *,
    alone: bool = True,
    on_user: bool = False,
) -> tuple[tuple[Mutation, ...], tuple[Mutation, ...]]:
    """The mutations of a prompt, and the controls that may be asked though the test names none.

    Args:
        prompt: The whole prompt; what may change in it is the contract's ``part``.
        contract: The test's settings.
        session: Its recording and store.
        where: The test, for messages.
        notes: Takes what the person must know of the plan.
        alone: Whether the verdict is over no other mutations than these.
        on_user: Whether the prompt is what the user's role says on the wire.

    Raises:
        UsageError: Nothing to mutate, a part that the prompt does not have, a prompt that cannot be recorded, or a
            gate that the plan cannot pass.
        NotRecordedError: Only the recording may be used, and holds no plan for this prompt and these settings.
    """
    try:
        limited = prompt.limited(contract.part)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    tape = session.tape
    if tape is not None:
        found = recorded_plan(tape, limited, contract, where, notes)
        if found is not None:
            if alone:
                refuse_hopeless(found, limited, contract, where)
            return parted(found, contract)
    with answers_kept_in(session.store, session.gate):  # a model that helps is asked once
        made = plan(limited, contract.mutations, seed=contract.seed, operators=contract.operators)
    if not made.mutations:
        raise UsageError(f"{where}: {' '.join(made.notes)}")
    if alone:
        refuse_hopeless(made.mutations, limited, contract, where)
    notes.extend(made.notes)
    if tape is not None and tape.recording:
        check_writable(made.mutations, session.redaction, where)
    return made.mutations, default_controls(limited, contract, on_user=on_user)


# What of a plan is asked next, and when enough of it was asked.
#
# The first part of each case is asked with its baseline; the rest once all cases have begun, in batches over all of
# them, so that inputs share it evenly. Both follow from the plan and the answers alone.


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
    def asked(self) -> list[CaseAnswers]:
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

    def settled(self, trials: Sequence[Trial], evidence: RepeatEvidence) -> bool:
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
    gate = PlanGate(planned, contract.threshold, contract.max_deviations, by_score=contract.gate == "point")
    return stopping(contract.stop, gate, waits=waits)


# Paths of ``ignore=`` that leave nothing out: written wrongly, they would be believed to do their work.


class LeftOut:
    """Which paths of a test's ``ignore=`` lead somewhere: in a request, or in a value that is compared."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._nowhere = list(paths)
        self._looked = False

    def look(self, answers: Iterable[StoredAnswer], values: Iterable[Any]) -> None:
        """Look where the paths lead.

        Args:
            answers: What a case was answered, with its requests.
            values: What its runs came to, as plain data; ``None`` where there is nothing.
        """
        if not self._nowhere:
            return
        places = [each.request for each in answers]
        for value in values:
            if value is not None:
                places += [value, *_json_in(value)]
        self._looked |= bool(places)
        self._nowhere = [
            path for path in self._nowhere if all(without(each, path) == each for each in places)
        ]

    def notes(self) -> list[str]:
        """The sentence that names the paths that led nowhere; none where all did, or nothing was there to look at."""
        if not self._nowhere or not self._looked:
            return []
        lost = ", ".join(map(repr, self._nowhere))
        return [f"ignore= left nothing out at {lost}: no request, answer or returned value has such a place"]


def _json_in(value: Any) -> list[Any]:
    """The JSON that a text is or holds, read as for comparison."""
    text = value["text"] if isinstance(value, dict) and value.keys() == {"text", "tool_calls"} else value
    if not isinstance(text, str):
        return []
    read = data_text.parse(text)
    if read is data_text.MISSING:
        read = data_text.embedded(text)
    return [] if read is data_text.MISSING else [read]
