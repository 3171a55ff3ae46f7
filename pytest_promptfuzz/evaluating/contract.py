"""What one test asks for: the validated settings of a marker or of ``evaluate``."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import NotRecordedError, UsageError, nearest
from pytest_promptfuzz.evaluating.settings import CONTRACT_KEYS
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.mutations.engine.selection import wanted
from pytest_promptfuzz.prompts.messages import TEMPLATE, MutatedPart
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.stats.stopping import Stop
from pytest_promptfuzz.stats.verdict import GateName
from pytest_promptfuzz.wire.calls import NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.comparing.custom_checks import Guard, SimilarityTier
    from pytest_promptfuzz.comparing.formats.data_text import Schema
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.judging.ratings import Judge
    from pytest_promptfuzz.mutations.engine.selection import PlanRequest
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.stats.stopping import Stop
    from pytest_promptfuzz.stats.verdict import GateName
    from pytest_promptfuzz.storage.redaction import Redaction
    from pytest_promptfuzz.wire.cassettes import Tape
    from pytest_promptfuzz.wire.watch import Watch


DRIFTS = ("model_drift", "prompt_drift", "comparator_drift")


@dataclass(frozen=True, slots=True)
class Contract:
    """The settings that decide a test's verdict.

    Attributes:
        mutations: How many mutations, 1 to 10,000. Where a mapping or a list is given, this is what it adds up to, and
            ``operators`` holds the rest of it.
        threshold: What the score must reach, in [0, 1], exactly as written.
        gate: What of the score must reach it: see ``scoring.gates``.
        seed: Of the plan.
        part: The text that mutations may touch: the template, the input, both, or messages of some roles.
        operators: Names of operators, or a mapping of operator or dimension to weight; ``None`` is the default mix; or
            what ``mutations=`` asked for where it was no count.
        task: The task profile; ``None`` infers it from the baseline.
        equivalent_at: Similarity from which an answer is equivalent; ``None`` is the task's.
        minor_at: Similarity below which an answer is a deviation; ``None`` is the task's.
        profile: A profile for comparison instead of a task's, or ``"quirx"``.
        schema: The JSON Schema that answers must keep; ``None`` is none.
        max_deviations: More deviations than this are brittle whatever the score; ``None`` sets no limit.
        compare: ``False`` judges by the body's own assertions only.
        ignore: JSON paths left out of keys and comparison.
        tiers: Tiers of one's own, asked before words and meaning.
        guards: Guards of one's own, beside the task's.
        judge: Who rates what nothing cheaper can tell; ``None`` is nobody.
        judge_when: ``undecided``, or ``always``: everything but equal answers and contradictions.
        judge_repeats: How often a model is asked the same, 1 to 15.
        quality: The measures by which answers are graded whose content changed.
        samples: How often each mutation is asked, 1 to 100.
        baseline_runs: How often the unmutated prompt is asked at least, 1 to 100.
        stop: When the rest of the plan is not asked: once the verdict is ``certain``, or on the evidence of ``sprt`` or
            ``sequential``; ``never`` asks all of it.
        shrink: How often the prompt may be asked in all to make what breaks a brittle test as small as it can be; 0 is
            not at all.
        controls: How many controls a plan has that names none: 1, or 0 for none.
        pinned: What a known counterexample does that still breaks the answer: ``warn`` says so, ``fail`` makes the test
            brittle.
        model_drift: What it does that the same prompt is answered otherwise than its snapshot has it: ``fail`` fails
            the test, ``warn`` says so, ``ignore`` does not ask.
        prompt_drift: What it does that the prompt is not that of the snapshot, likewise.
        comparator_drift: What it does that answers are compared otherwise, or mutations made, likewise.
    """

    mutations: int = 8
    threshold: Fraction = Fraction(85, 100)
    gate: GateName = "point"
    seed: int = 0
    part: MutatedPart = TEMPLATE
    operators: Sequence[str] | Mapping[str, float] | PlanRequest | None = None
    task: str | None = None
    equivalent_at: float | None = None
    minor_at: float | None = None
    profile: Profile | str | None = None
    schema: Schema | None = None
    max_deviations: int | None = None
    compare: bool = True
    ignore: tuple[str, ...] = ()
    tiers: tuple[SimilarityTier, ...] = ()
    guards: tuple[Guard, ...] = ()
    judge: Judge | None = None
    judge_when: str = "undecided"
    judge_repeats: int = 1
    quality: tuple[str, ...] = ()
    samples: int = 1
    baseline_runs: int = 1
    stop: Stop = "certain"
    shrink: int = 60
    controls: int = 1
    pinned: str = "warn"
    model_drift: str = "warn"
    prompt_drift: str = "warn"
    comparator_drift: str = "warn"

    @property
    def compared_as(self) -> str | None:
        """The name of the task or profile that was chosen; ``None`` where the baseline decides."""
        if self.profile is None or isinstance(self.profile, str):
            return self.task or self.profile
        return self.profile.name

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
                f"{where}: mutations={amount!r:.80} names what to draw on, and so does operators=; keep one of them (an"
                " operator of one's own may stand in mutations= itself)."
            )
        checked = {name: CONTRACT_KEYS[name].check(value, where) for name, value in values.items()}
        if checked.get("judge") is not None or checked.get("quality"):
            from pytest_promptfuzz.judging.model_judge import read_judge

            checked["judge"] = read_judge(checked, where)
        if not isinstance(checked.get("mutations", 0), int):
            checked["operators"] = checked["mutations"]
            checked["mutations"] = checked["operators"].n
        if checked.get("gate") == "no-worse":
            checked["stop"] = "never"  # it is over all trials that both runs made
        contract = cls(**checked)
        low, high = contract.minor_at, contract.equivalent_at
        if low is not None and high is not None and low > high:
            raise UsageError(f"{where}: minor_at={low} is above equivalent_at={high}; swap them.")
        if contract.task is not None and contract.profile is not None:
            raise UsageError(f"{where}: give task={contract.task!r} or profile=, not both.")
        return contract


# The plan of a test and its recording: which plan is executed, and what is an error where nothing is recorded.


_SHOWN = 3
_MEND = "Record it again with --promptfuzz-mode=record, and commit the recording."


def recorded_plan(
    tape: Tape, prompt: Prompt, contract: Contract, where: str, notes: list[str]
) -> tuple[Mutation, ...] | None:
    """The mutations recorded for a prompt; ``None`` where the test is to be planned anew.

    Args:
        tape: The test's recording.
        prompt: What is to be mutated.
        contract: The test's settings; a plan that was made for others is not taken.
        where: The test, for messages.
        notes: Takes why a recorded plan is not taken.

    Raises:
        NotRecordedError: Only the recording may be used, and holds no plan for this prompt and these settings.
    """
    if tape.recording:
        return None
    plan = tape.plan(prompt_digest(prompt))
    if plan is not None:
        why = _otherwise(plan.get("asked"), asked(contract))
    elif tape.has_plans:
        why = "was recorded for another prompt"
    else:
        edited = tape.edited_plan()
        why = f"has a plan that cannot be used: {edited}" if edited else ""
    if plan is not None and not why:
        try:
            return tuple(_mutation(each, prompt) for each in plan["mutations"])
        except UsageError as error:
            why = f"has a recorded plan that cannot be used ({error})"
    if tape.strict and tape.refused:
        raise NotRecordedError(f"{where}: the test cannot be replayed from {tape.file}: {tape.refused}")
    if tape.strict:
        raise NotRecordedError(f"{where}: the test {why or f'has no plan in {tape.file}'}. {_MEND}")
    if why:
        notes.append(f"this test {why}, so its mutations were made anew: record it again")
    return None


def plan_to_json(mutations: Sequence[Mutation], contract: Contract) -> dict[str, Any]:
    """A plan as it is recorded, with the prompt and the settings that it is for."""
    prompt = mutations[0].source or as_prompt(mutations[0].original)
    return {
        "prompt": prompt_digest(prompt),
        "asked": asked(contract),
        "mutations": [_mutation_to_json(each) for each in mutations],
    }


def check_writable(mutations: Iterable[Mutation], redaction: Redaction, where: str) -> None:
    """Refuse a plan with something like a key in it: it would have to be written as it is to be executed again.

    Raises:
        UsageError: There is one.
    """
    texts = [
        part for each in mutations for edit in each.edits for part in edit.parts if isinstance(part, str)
    ]
    if any(redaction.text(each) != each for each in texts):
        raise UsageError(
            f"{where} cannot be recorded: its prompt holds something like a key, which its mutations would repeat. "
            "Take it out of the prompt."
        )


def refuse_unrecorded(tape: Tape | None, runs: Iterable[Run]) -> None:
    """Nothing is concluded from runs that asked what is not recorded.

    Raises:
        NotRecordedError: One of them did; the message has the first few.
    """
    refuse(tape, (run.watch for run in runs))


def refuse(tape: Tape | None, watches: Iterable[Watch]) -> None:
    """As ``refuse_unrecorded``, of what watches saw."""
    if tape is None or not tape.strict:
        return
    found = [fault.message for watch in watches for fault in watch.faults if fault.kind == NOT_RECORDED]
    said = list(dict.fromkeys(found))
    if said:
        rest = len(said) - _SHOWN
        more = f" And {rest} more." if rest > 0 else ""
        raise NotRecordedError(f"{tape.where}: {' '.join(said[:_SHOWN])}{more}")


def prompt_digest(prompt: Prompt) -> str:
    """32 hexadecimal digits of sha256 over the prompt's messages."""
    content = json.dumps(
        [dict(each) for each in prompt.messages], sort_keys=True, separators=(",", ":"), default=list
    )
    return hashlib.sha256(content.encode("ascii")).hexdigest()[:32]


def asked(contract: Contract) -> dict[str, Any]:
    """The settings a plan is made from, as JSON: what the test says, not what a release makes of it."""
    if contract.operators is None:
        draws: Any = "default"
    else:
        want = wanted(contract.mutations, contract.operators)
        draws = {each.name: each.weight for each in want.strata}
        if want.ready:
            draws["ready"] = [each.id for each in want.ready]
    return {
        "mutations": contract.mutations,
        "seed": contract.seed,
        "part": contract.part.shown,
        "operators": draws,
    }


def _otherwise(recorded: Any, now: dict[str, Any]) -> str:
    if not isinstance(recorded, dict):
        recorded = {}
    for name, value in now.items():
        if recorded.get(name) != value:
            return f"asks for {name}={value!r:.80} and was recorded with {recorded.get(name)!r:.80}"
    return ""


def _mutation_to_json(mutation: Mutation) -> dict[str, Any]:
    value = mutation.to_json()
    del value["original"]  # the prompt's own text, whose digest the plan has
    return {"id": mutation.id, **value}


def _mutation(value: Any, prompt: Prompt) -> Mutation:
    if not isinstance(value, dict):
        raise UsageError(f"a mutation is a {type(value).__name__}")
    mutation = Mutation.from_json({**value, "original": prompt.text}, source=prompt)
    if mutation.id != value.get("id"):
        raise UsageError(f"the trial {value.get('id')!r:.20} has other edits than it was recorded with")
    return mutation
