"""`Robustness`: the result of evaluating one prompt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.results.trials import Spent, cluster, scorable
from pytest_promptfuzz.stats.repeats import ALONE, RepeatEvidence
from pytest_promptfuzz.stats.scores import CREDITS, EQUIVALENT_CREDIT, Counts, summaries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.mutations.engine.mutation import Relation
    from pytest_promptfuzz.results.counterexamples import Counterexample, Replayed
    from pytest_promptfuzz.results.trials import Searched, Trial
    from pytest_promptfuzz.stats.agreement import Gold, Judging
    from pytest_promptfuzz.stats.intervals import Interval
    from pytest_promptfuzz.stats.regressions import Drift, Paired
    from pytest_promptfuzz.stats.variance import Effect, Variance
    from pytest_promptfuzz.stats.verdict import Reason, Verdict
    from pytest_promptfuzz.wire.network import Unfollowed


@dataclass(frozen=True, slots=True)
class Group:
    """The trials of one dimension or operator.

    Attributes:
        counts: Their outcomes.
        score: Eq. 1 over them; ``None`` if none was decided.
        weighted: Eq. 2 over them; ``None`` if no similarity is known.
    """

    counts: Counts
    score: float | None
    weighted: float | None

    @classmethod
    def each(cls, members: Mapping[str, Sequence[Trial]]) -> dict[str, Group]:
        """The groups of these names and trials."""
        found = summaries(scorable(members.values()))
        return {name: cls(*each) for name, each in zip(members, found, strict=True)}


@dataclass(frozen=True, slots=True)
class Robustness:
    """How a prompt's behaviour survived its mutations.

    Attributes:
        score: Eq. 1 over decided invariance trials, in [0, 1]; ``None`` if none was decided.
        bounds: The lowest and highest score once unknown trials are counted as deviations or as equivalent.
        adjusted_score: Score corrected for the noise floor; ``None`` where the floor was not measured.
        interval: Of the adjusted score, or of the raw one where the floor is not known, over all mutations that
            operators like these make; ``None`` for fewer than two mutations.
        noise: What repeated answers show: the noise floor, and whether the mutations do more.
        threshold: What the score is held against.
        gate: What of it must reach the threshold.
        relation: The relation that score and verdict are of: ``invariance``, unless the plan has none of it.
        outcomes: Counts of the trials under that relation.
        by_dimension: Eq. 1 and Eq. 2 over them for each dimension.
        by_operator: The same for each operator.
        by_relation: The same for each relation of the plan. Under ``must-change``, "equivalent" is an answer that
            changed, as it had to.
        trials: In the order of the plan.
        verdict: ``pass``, ``brittle``, ``noisy`` or ``inconclusive``.
        reason: The verdict's reason, one of a fixed list.
        explanation: The same in prose.
        baselines: The plain baseline value of each case (example or input), in order.
        cases: The name of each input, in order; empty where there are none.
        spent: Calls, store hits, seconds and tokens of all runs.
        cost: In US dollars; ``None`` where no price is known.
        target: The target's name.
        model: The model as answered.
        task: The task profile used, and whether it was inferred (``"generation (inferred)"``).
        oracle_only: Nothing was compared; only assertions judged.
        seed: Of the plan.
        planned: Mutations asked for.
        notes: What a reader should know, loudest first.
        paired: The trials beside those of the run before; ``None`` but for the gate ``no-worse``.
        gold: How often the answers are as expected; ``None`` where no gold answer was given.
        judging: What the judge said in all; ``None`` where there was none.
        counterexamples: The smallest changes known that break an answer, one for each way in which it breaks.
        replayed: What became of counterexamples that were known before; they are in no score.
        drift: How the test differs from its snapshot; it is in no verdict.
        unfollowed: Connections and processes that the test began and that were not followed.
        reasked: Why no more was asked of trials that failed anew since the base (``stats.flips.FlipEnd``); empty where
            the test is not lower than its base, or was compared with none while it ran.
        against_base: Of each input whose first answer was an odd one, the base's answer and the outcomes of its trials
            beside that.
        answers: Of each input whose unmutated prompt was asked more than once, by its name (by its number where it has
            none): each answer as plain data, and how often it came, the first one first.
        beside_base: By input, what the answers to the unmutated prompt are beside those of the base: the base's
            (``answers``), the ``finding``, and ``why`` nothing can be told.
        compared: The settings by which answers are compared, apart from the task's.
    """

    score: float | None
    bounds: tuple[float, float]
    threshold: float
    outcomes: Counts
    by_dimension: Mapping[str, Group]
    by_operator: Mapping[str, Group]
    trials: tuple[Trial, ...]
    verdict: Verdict
    reason: Reason
    explanation: str
    relation: Relation = "invariance"
    by_relation: Mapping[str, Group] = field(default_factory=dict)
    baselines: tuple[Any, ...] = ()
    cases: tuple[str, ...] = ()
    spent: Spent = Spent()
    adjusted_score: float | None = None
    interval: Interval | None = None
    noise: RepeatEvidence = ALONE
    cost: float | None = None
    target: str = ""
    model: str = ""
    task: str = ""
    oracle_only: bool = False
    seed: int = 0
    planned: int = 0
    gate: str = "point"
    notes: tuple[str, ...] = ()
    judging: Judging | None = None
    paired: Paired | None = None
    gold: Gold | None = None
    counterexamples: tuple[Counterexample, ...] = ()
    searched: Searched | None = None
    replayed: tuple[Replayed, ...] = ()
    drift: tuple[Drift, ...] = ()
    unfollowed: tuple[Unfollowed, ...] = ()
    reasked: str = ""
    against_base: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    answers: Mapping[str, Sequence[tuple[Any, int]]] = field(default_factory=dict)
    beside_base: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    compared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def floor(self) -> float | None:
        """R_bb, how far the answers to the unmutated prompt agree, 0..1; ``None`` where there is but one."""
        return None if self.noise.floor is None else float(self.noise.floor)

    @property
    def p_value(self) -> float | None:
        """The probability that noise alone gives such outcomes; ``None`` where nothing was asked again."""
        return self.noise.p

    @property
    def variance(self) -> Variance | None:
        """Where the variance of the credits comes from: the model's sampling, the inputs, the mutations.

        ``None`` with fewer than two inputs, or where nothing was scored. It takes ``samples=`` of at least 2 to tell
        the mutations from the sampling.
        """
        credited = [(trial.case, trial.mutation.id, credit) for trial, credit in self._credited()]
        if len({case for case, _, _ in credited}) < 2:
            return None
        from pytest_promptfuzz.stats.variance import variance_of

        return variance_of(credited)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What each operator does, against the others on the same inputs, the most harmful first.

        Empty with fewer than two inputs, or fewer than two operators. Mutations of several operators are a kind of
        their own, ``one+other``.
        """
        from pytest_promptfuzz.stats.variance import effects_of

        return effects_of((trial.case, cluster(trial.mutation), credit) for trial, credit in self._credited())

    def _credited(self) -> list[tuple[Trial, float]]:
        """The trials that were decided, with their credit in [0, 1]."""
        return [
            (trial, CREDITS[trial.outcome] / EQUIVALENT_CREDIT)
            for trial in self.trials
            if trial.mutation.relation == self.relation and trial.outcome in CREDITS
        ]

    @property
    def calls(self) -> int:
        """Model calls that were sent; answers from the store are not calls."""
        return self.spent.calls

    @property
    def baseline(self) -> Any:
        """The plain baseline value of the first case; ``None`` where there is none."""
        return self.baselines[0] if self.baselines else None

    @property
    def passed(self) -> bool:
        """Whether the verdict is ``pass``."""
        return self.verdict == "pass"
