"""The plan: the mutations of a test, recorded or made anew; gates that so few mutations cannot pass."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import NotRecordedError, UnknownTrialError, UsageError
from pytest_promptfuzz.evaluating.phases.controls import default_controls, parted
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.selection import wanted
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.results.trials import cluster
from pytest_promptfuzz.stats.intervals import lower_bound, smallest_n
from pytest_promptfuzz.stats.scores import Counts
from pytest_promptfuzz.stats.stopping import PlanGate, fair_order, stopping
from pytest_promptfuzz.wire.calls import answers_kept_in
from pytest_promptfuzz.wording.sentences import counted, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from pytest_promptfuzz.evaluating.contract import Contract, EvaluationSettings
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.stats.stopping import Stopping
    from pytest_promptfuzz.storage.redaction import Redaction
    from pytest_promptfuzz.wire.cassettes import Tape


def planned(
    prompt: Prompt, settings: EvaluationSettings, notes: list[Note | str]
) -> tuple[tuple[Mutation, ...], tuple[Mutation, ...]]:
    """The mutations of a prompt, and the controls that may be asked though the test names none.

    Args:
        prompt: The whole prompt; what may change in it is the contract's ``part``.
        settings: The evaluation's. Where the verdict is over no other mutations than these, they must be able to pass.
        notes: Takes what the person must know of the plan.

    Raises:
        UsageError: Nothing to mutate, a part that the prompt does not have, a prompt that cannot be recorded, or a
            gate that the plan cannot pass.
        NotRecordedError: Only the recording may be used, and holds no plan for this prompt and these settings.
    """
    contract, session, where = settings.contract, settings.session, settings.where
    asks = contract.plan
    try:
        limited = prompt.limited(asks.part)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    tape = session.tape
    if tape is not None:
        found = recorded_plan(tape, limited, contract, where, notes)
        if found is not None:
            if settings.one_plan:
                refuse_hopeless(found, limited, contract, where)
            return parted(found, asks)
    with answers_kept_in(session.store, session.gate):  # a model that helps is asked once
        made = plan(limited, asks.mutations, seed=asks.seed, operators=asks.operators)
    if not made.mutations:
        raise UsageError(f"{where}: {' '.join(made.notes)}")
    if settings.one_plan:
        refuse_hopeless(made.mutations, limited, contract, where)
    notes.extend(made.notes)
    if tape is not None and tape.recording:
        check_writable(made.mutations, session.redaction, where)
    on_user = settings.on_wire is not None and settings.on_wire.role == "user"
    return made.mutations, default_controls(limited, asks, on_user=on_user)


# What of a plan is asked first; the rest is asked in batches (``batches``).


def chosen_of(mutations: Sequence[Mutation], only: str | None, where: str) -> list[Mutation]:
    """The mutations that are wanted of a plan.

    Args:
        mutations: The plan.
        only: The ID of the one trial to run, or ``None`` for all.
        where: The test, for messages.

    Raises:
        UnknownTrialError: The plan has no such trial.
    """
    chosen = [each for each in mutations if only in (None, each.id)]
    if not chosen and only is not None:
        raise UnknownTrialError(
            f'{where}: there is no trial {only!r}. Copy the ID from the line "reproduce" of a failure.'
        )
    return chosen


def first_part(
    mutations: Sequence[Mutation], settings: EvaluationSettings
) -> tuple[list[Mutation], list[Mutation]]:
    """A case's mutations: those that are asked first, and the rest in its order.

    Only what the score is of can be needless. Controls and other relations are asked first, all of them; a plan without
    invariance is asked as a whole, since it shows only then which relation is judged.
    """
    contract = settings.contract
    # A recording holds everything, so that its replay finds what it asks, which has no call to save.
    session = settings.session
    if settings.order.whole or settings.only or session.records or session.mode == "replay":
        return list(mutations), []
    scored = [each for each in mutations if each.relation == "invariance"]
    how = stopping_of(len(scored), contract, waits=settings.order.waits)
    if how is None or not how.decides:
        return list(mutations), []
    order = fair_order(
        [(each.dimension, *each.operators[:1]) for each in scored],
        [each.id for each in scored],
        seed=contract.plan.seed,
    )
    turns = [scored[place] for place in order]
    size = how.batch(Counts())
    chosen = {each.id for each in turns[:size]}
    return [each for each in mutations if each.relation != "invariance" or each.id in chosen], turns[size:]


def stopping_of(planned: int, contract: Contract, *, waits: bool) -> Stopping | None:
    """When the rest of a plan of so many scored trials is not asked; ``None`` where all of it is."""
    verdict = contract.verdict
    gate = PlanGate(planned, verdict.threshold, verdict.max_deviations, by_score=verdict.gate == "point")
    return stopping(contract.plan.stop, gate, waits=waits)


# Whether a test can pass at all: a gate that so few mutations cannot pass is refused before anything is asked.


_MOST_TRIED = 500  # mutations up to which a plan is made to see whether it suffices


def refuse_too_few(settings: EvaluationSettings) -> None:
    """Refuse a gate that no plan of so many mutations can pass, be they as different as they may.

    Raises:
        UsageError: Naming gate, threshold, and how many it takes.
    """
    contract = settings.contract
    if contract.verdict.gate != "confident" or not settings.one_plan:
        return
    threshold, count = contract.verdict.threshold, contract.plan.mutations
    needed = smallest_n(threshold)
    if needed is None or count < needed:
        raise _hopeless(threshold, count, needed, settings.where)


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
    asks, threshold = contract.plan, contract.verdict.threshold
    if contract.verdict.gate != "confident" or _suffices(mutations, threshold):
        return
    count = sum(each.relation == "invariance" for each in mutations)
    needed = smallest_n(threshold)
    if needed is None or asks.operators is not None:
        raise _hopeless(threshold, count, needed, where)
    size = max(needed, asks.mutations + 1)
    while size <= _MOST_TRIED:
        made = plan(prompt, size, seed=asks.seed)
        if _suffices(made.mutations, threshold):
            raise _hopeless(threshold, count, len(made.mutations), where, exactly=True)
        if made.shortage:
            raise UsageError(
                f"{_cannot(threshold, count, where)}, and this prompt allows no plan that could. Ask for less, "
                "with threshold= or gate='point'."
            )
        size += max(1, size // 20)
    raise _hopeless(threshold, count, needed, where)


def _suffices(mutations: Sequence[Mutation], threshold: Fraction) -> bool:
    credited = [(cluster(each), 1) for each in mutations if each.relation == "invariance"]
    return not credited or lower_bound(credited) >= threshold


def _hopeless(
    threshold: Fraction, planned: int, needed: int | None, where: str, *, exactly: bool = False
) -> UsageError:
    """The error of a gate that a plan cannot pass.

    Args:
        threshold: What the score's lower bound must reach.
        planned: Mutations of the plan.
        needed: How many it takes; ``None`` where no number suffices.
        where: The test.
        exactly: Whether so many are known to suffice; otherwise it takes at least as many.
    """
    if needed is None:
        return UsageError(
            f"{where}: gate='confident' at threshold={float(threshold):g} cannot pass, however many mutations "
            "there are: no test proves a score of 1. Ask for less, such as threshold=0.95."
        )
    least = "" if exactly else "at least "
    few = ", and of more operators, for mutations of one operator are alike" if planned >= needed else ""
    return UsageError(f"{_cannot(threshold, planned, where)}: it needs {least}mutations={needed}{few}.")


def _cannot(threshold: Fraction, planned: int, where: str) -> str:
    gate = f"gate='confident' at threshold={float(threshold):g}"
    return f"{where}: {gate} cannot pass with {counted(planned, 'mutation')}"


# The plan of a test and its recording: which plan is executed, and what is an error where nothing is recorded.


def recorded_plan(
    tape: Tape, prompt: Prompt, contract: Contract, where: str, notes: list[Note | str]
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
    if tape.anew:
        return None
    now = asked(contract)
    plan = tape.plan(prompt_digest(prompt), now)
    if plan is not None:
        why = _otherwise(plan.get("asked"), now)
    elif tape.has_plans:
        why = Note.of("evaluations:plan-of-another-prompt")
    else:
        edited = tape.edited_plan()
        why = Note.of("evaluations:plan-edited", problem=edited) if edited else None
    if plan is not None and not why:
        try:
            return tuple(_mutation(each, prompt) for each in plan["mutations"])
        except UsageError as error:
            why = Note.of("evaluations:plan-unreadable", problem=str(error))
    if tape.strict and tape.refused:
        raise NotRecordedError(f"{where}: the test cannot be replayed from {tape.file}: {tape.refused}")
    if tape.strict:
        problem = sentence(why) if why else f"has no plan in {tape.file}"
        raise NotRecordedError(f"{where}: the test {problem}. {tape.mend()}")
    if why and not tape.recording:
        notes.append(Note.of("evaluations:planned-anew", why=why))
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
            f"{where}: the test cannot be recorded: its prompt holds something like a key. Take the key out of the "
            "prompt."
        )


def prompt_digest(prompt: Prompt) -> str:
    """32 hexadecimal digits of sha256 over the prompt's messages."""
    content = json.dumps(
        [dict(each) for each in prompt.messages], sort_keys=True, separators=(",", ":"), default=list
    )
    return hashlib.sha256(content.encode("ascii")).hexdigest()[:32]


def asked(contract: Contract) -> dict[str, Any]:
    """The settings a plan is made from, as JSON: what the test says, not what a release makes of it."""
    asks = contract.plan
    if asks.operators is None:
        draws: Any = "default"
    else:
        want = wanted(asks.mutations, asks.operators)
        draws = {each.name: each.weight for each in want.strata}
        if want.ready:
            draws["ready"] = [each.id for each in want.ready]
    return {
        "mutations": asks.mutations,
        "seed": asks.seed,
        "part": asks.part.shown,
        "operators": draws,
    }


def _otherwise(recorded: Any, now: dict[str, Any]) -> Note | None:
    """The first setting that a plan was recorded with and is another one now."""
    if not isinstance(recorded, dict):
        recorded = {}
    for name, value in now.items():
        if recorded.get(name) != value:
            return Note.of(
                "evaluations:plan-of-other-settings", name=name, value=value, recorded=recorded.get(name)
            )
    return None


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
