"""The plan of a test and its recording: which plan is executed, and what is an error where nothing is recorded."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import NotRecordedError, UsageError
from pytest_promptfuzz.mutations.mutation import Mutation
from pytest_promptfuzz.mutations.selection import wanted
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.wire.recordings.tape import NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.wire.recordings.tape import Tape
    from pytest_promptfuzz.wire.redact import Redaction
    from pytest_promptfuzz.wire.watch import Watch

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
