"""`Contract`: the checked settings of one test; `EvaluationSettings`: these with session, target and body."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.evaluating.settings import CONTRACT_KEYS
from pytest_promptfuzz.prompts.messages import TEMPLATE, MutatedPart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.comparing.custom_checks import Guard, SimilarityTier
    from pytest_promptfuzz.comparing.formats.data_text import Schema
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.evaluating.role_prompts import OnWire
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.judging.measurements import JudgeMeasurement
    from pytest_promptfuzz.judging.ratings import Judge
    from pytest_promptfuzz.mutations.engine.selection import PlanRequest
    from pytest_promptfuzz.stats.stopping import Stop
    from pytest_promptfuzz.stats.verdict import GateName
    from pytest_promptfuzz.targets.simulated import SimulatedTarget
    from pytest_promptfuzz.wire.watch import Watch


DRIFTS = ("model_drift", "prompt_drift", "comparator_drift")


class PlanSettings(NamedTuple):
    """What is asked.

    Attributes:
        mutations: How many mutations, 1 to 10,000. Where a mapping or a list is given, this is what it adds up to, and
            ``operators`` holds the rest of it.
        seed: Of the plan.
        part: The text that mutations may touch: the template, the input, both, or messages of some roles.
        operators: Names of operators, or a mapping of operator or dimension to weight; ``None`` is the default mix; or
            what ``mutations=`` asked for where it was no count.
        controls: How many controls a plan has that names none: 1, or 0 for none.
        samples: How often each mutation is asked, 1 to 100.
        baseline_runs: How often the unmutated prompt is asked at least, 1 to 100.
        stop: When the rest of the plan is not asked: once the verdict is ``certain``, or on the evidence of ``sprt`` or
            ``sequential``; ``never`` asks all of it.
        shrink: How often the prompt may be asked in all to make what breaks a brittle test as small as it can be; 0 is
            not at all.
    """

    mutations: int = 8
    seed: int = 0
    part: MutatedPart = TEMPLATE
    operators: Sequence[str] | Mapping[str, float] | PlanRequest | None = None
    controls: int = 1
    samples: int = 1
    baseline_runs: int = 1
    stop: Stop = "certain"
    shrink: int = 60


class ComparisonSettings(NamedTuple):
    """How answers are compared.

    Attributes:
        task: The task profile; ``None`` infers it from the baseline.
        profile: A profile for comparison instead of a task's, or ``"quirx"``.
        equivalent_at: Similarity from which an answer is equivalent; ``None`` is the task's.
        minor_at: Similarity below which an answer is a deviation; ``None`` is the task's.
        schema: The JSON Schema that answers must keep; ``None`` is none.
        compare: ``False`` judges by the body's own assertions only.
        ignore: JSON paths left out of keys and comparison.
        tiers: Tiers of one's own, asked before words and meaning.
        guards: Guards of one's own, beside the task's.
        judge: Who rates what nothing cheaper can tell; ``None`` is nobody.
        judge_when: ``undecided``, or ``always``: everything but equal answers and contradictions.
        judge_repeats: How often a model is asked the same, 1 to 15.
        judge_min_agreement: How far a judge must have been measured to agree with people; ``None`` for any.
        judge_agreement: What it was measured at; ``None`` where it was not.
        quality: The measures by which answers are graded whose content changed.
    """

    task: str | None = None
    profile: Profile | str | None = None
    equivalent_at: float | None = None
    minor_at: float | None = None
    schema: Schema | None = None
    compare: bool = True
    ignore: tuple[str, ...] = ()
    tiers: tuple[SimilarityTier, ...] = ()
    guards: tuple[Guard, ...] = ()
    judge: Judge | None = None
    judge_when: str = "undecided"
    judge_repeats: int = 1
    judge_min_agreement: float | None = None
    judge_agreement: JudgeMeasurement | None = None
    quality: tuple[str, ...] = ()

    @property
    def compared_as(self) -> str | None:
        """The name of the task or profile that was chosen; ``None`` where the baseline decides."""
        if self.profile is None or isinstance(self.profile, str):
            return self.task or self.profile
        return self.profile.name

    @property
    def own(self) -> dict[str, Any]:
        """What is set apart from the task, as plain data: what a comparison of two runs that are over has to know."""
        profile = self.profile if self.profile is None or isinstance(self.profile, str) else self.profile.name
        found: dict[str, Any] = {
            "profile": profile,
            "equivalent_at": self.equivalent_at,
            "minor_at": self.minor_at,
            "schema": self.schema is not None,
            "ignore": [*self.ignore],
            "tiers": [each.name for each in self.tiers],
            "guards": [each.name for each in self.guards],
            "judge": self.judge.name if self.judge is not None else None,
        }
        return {name: value for name, value in found.items() if value not in (None, False, [])}


class Acceptance(NamedTuple):
    """That a test is accepted as brittle.

    Attributes:
        reason: Why.
        until: The last day on which it is, as ``2027-03-01``.
        status: ``accepted`` (brittle), ``expired`` (brittle, and the day is past), ``passes`` (no longer brittle) or
            ``open`` (neither is known).
    """

    reason: str
    until: str
    status: str


class VerdictSettings(NamedTuple):
    """What the answers must come to.

    Attributes:
        threshold: What the score must reach, in [0, 1], exactly as written.
        gate: What of the score must reach it: see ``stats.verdict``.
        max_deviations: More deviations than this are brittle whatever the score; ``None`` sets no limit.
        pinned: What a known counterexample does that still breaks the answer: ``warn`` says so, ``fail`` makes the test
            brittle.
        model_drift: What it does that the same prompt is answered otherwise than its snapshot has it: ``fail`` fails
            the test, ``warn`` says so, ``ignore`` does not ask.
        prompt_drift: What it does that the prompt is not that of the snapshot, likewise.
        comparator_drift: What it does that answers are compared otherwise, or mutations made, likewise.
        accept_brittle: Why the test may be brittle; ``None`` where it may not.
        until: The last day on which it may, as ``2027-03-01``.
    """

    threshold: Fraction = Fraction(85, 100)
    gate: GateName = "point"
    max_deviations: int | None = None
    pinned: str = "warn"
    model_drift: str = "warn"
    prompt_drift: str = "warn"
    comparator_drift: str = "warn"
    accept_brittle: str | None = None
    until: str | None = None

    def acceptance(self, verdict: str, today: str) -> Acceptance | None:
        """What it comes to that the test is accepted as brittle; ``None`` where it is not.

        Args:
            verdict: What the test was judged.
            today: The day, as ``2027-03-01``.
        """
        if self.accept_brittle is None or self.until is None:
            return None
        known = {"pass": "passes", "brittle": "expired" if today > self.until else "accepted"}
        return Acceptance(self.accept_brittle, self.until, known.get(verdict, "open"))


class Contract(NamedTuple):
    """The settings that decide a test's verdict, by what they are about.

    Attributes:
        plan: What is asked.
        comparison: How answers are compared.
        verdict: What they must come to.
    """

    plan: PlanSettings = PlanSettings()
    comparison: ComparisonSettings = ComparisonSettings()
    verdict: VerdictSettings = VerdictSettings()

    @classmethod
    def of(
        cls, values: Mapping[str, Any], *, where: str, profiles: Mapping[str, Profile] | None = None
    ) -> Contract:
        """Validate settings.

        Args:
            values: Settings by name; absent ones have their default.
            where: What the settings belong to, for messages.
            profiles: The project's own profiles, which ``task`` and ``profile`` may name.

        Raises:
            UsageError: An unknown name, a wrong type, or a value out of range.
        """
        if profiles:
            from pytest_promptfuzz.comparing.profiles import named

            values = named(values, profiles, where)
        for name in values:
            if name not in CONTRACT_KEYS:
                raise UsageError(f"{where}: unknown setting {name!r}. {nearest(name, CONTRACT_KEYS)}")
        amount = values.get("mutations")
        if not isinstance(amount, int | str | None) and values.get("operators") is not None:
            # Said before either is read: a name in one may be an object in the other.
            raise UsageError(
                f"{where}: mutations={amount!r:.80} and operators= both name operators. Keep one of them (mutations= "
                "may hold operators of your own)."
            )
        checked = {name: CONTRACT_KEYS[name].check(value, where) for name, value in values.items()}
        if checked.get("judge") is not None or checked.get("quality"):
            from pytest_promptfuzz.judging.model_judge import read_judge

            checked["judge"] = read_judge(checked, where)
        checked["judge_agreement"] = _measured(checked, where)
        if not isinstance(checked.get("mutations", 0), int):
            checked["operators"] = checked["mutations"]
            checked["mutations"] = checked["operators"].n
        if checked.get("gate") == "no-worse":
            checked["stop"] = "never"  # it is over all trials that both runs made
        plan, comparison, verdict = (
            kind(**{name: checked[name] for name in kind._fields if name in checked}) for kind in _GROUPS
        )
        low, high = comparison.minor_at, comparison.equivalent_at
        if low is not None and high is not None and low > high:
            raise UsageError(f"{where}: minor_at={low} is above equivalent_at={high}. Swap them.")
        if comparison.task is not None and comparison.profile is not None:
            raise UsageError(f"{where}: give task={comparison.task!r} or profile=, not both.")
        if (verdict.accept_brittle is None) != (verdict.until is None):
            raise UsageError(
                f"{where}: accept_brittle= has no end. Add the last day on which the test may be brittle: "
                "until='2027-03-01'."
                if verdict.until is None
                else f"{where}: until={verdict.until!r} ends nothing. Add accept_brittle='why the test may be brittle'."
            )
        return cls(plan, comparison, verdict)


def _measured(checked: Mapping[str, Any], where: str) -> JudgeMeasurement | None:
    """What the judge was measured at; ``None`` without a judge, or where it was not measured and need not be."""
    if checked.get("judge") is None:
        return None
    from pytest_promptfuzz.judging.measurements import measured_judge

    given, least = checked.get("judge_agreement"), checked.get("judge_min_agreement")
    return measured_judge(checked["judge"], given, least, where)


_GROUPS: tuple[Any, ...] = (PlanSettings, ComparisonSettings, VerdictSettings)


# What an evaluation is given beside the contract: the body and the target, and how runs are made.


def described(error: BaseException) -> str:
    """An exception, in a few words."""
    return f"{type(error).__name__}: {error}"


def _never(_: BaseException) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class BodyTraits:
    """What is known of a test's body.

    Attributes:
        checks: Whether it is known to check something itself.
        only_checks: It makes no call of its own: it is given the response, and asserts.
        counts_runs: Whether a run is itself a call of the target (the application's own function).
        skips: Whether an exception is the test runner's skip.
        describe: A traceback for people.
        given: What it had been given to check where it failed, by the watch of its run.
    """

    checks: bool = False
    only_checks: bool = False
    counts_runs: bool = False
    skips: Callable[[BaseException], bool] = _never
    describe: Callable[[BaseException], str] = described
    given: dict[Watch, Any] = field(default_factory=dict)


@dataclass(slots=True)
class RunOrder:
    """How runs are made; whoever drives an evaluation settles it before its first case.

    Attributes:
        concurrent: Whether runs of a batch may overlap.
        together: Whether cases take turns, so that a baseline may overlap those of others.
        whole: Whether a case is asked in full when its turn comes, since it cannot be had again.
        waits: Whether each batch is a round of waiting that no other test's calls fill.
    """

    concurrent: bool = False
    together: bool = False
    whole: bool = False
    waits: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """What one evaluation is of.

    Attributes:
        contract: The settings that decide the verdict.
        session: What evaluations share.
        where: The test's name, for messages.
        target: The target's name, for reports.
        simulated: The simulated target, answering in every provider's place, or ``None``.
        on_wire: What is mutated in the body's requests; ``None`` where the prompt is known before.
        only: The ID of the one trial to run, or ``None`` for all.
        body: What is known of the body.
        order: How runs are made.
    """

    contract: Contract
    session: Session
    where: str
    target: str = ""
    simulated: SimulatedTarget | None = None
    on_wire: OnWire | None = None
    only: str | None = None
    body: BodyTraits = field(default_factory=BodyTraits)
    order: RunOrder = field(default_factory=RunOrder)

    @property
    def one_plan(self) -> bool:
        """Whether the verdict is over one plan, the same for every input, and over the whole of it."""
        return self.only is None and not self.order.whole and not self.contract.plan.part.wants_input
