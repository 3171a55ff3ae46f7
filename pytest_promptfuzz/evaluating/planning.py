"""The mutations of a test: those that its recording answers, or a plan made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.default_controls import default_controls, parted
from pytest_promptfuzz.evaluating.feasible import refuse_hopeless
from pytest_promptfuzz.evaluating.recorded import check_writable, recorded_plan
from pytest_promptfuzz.mutations.planner import plan
from pytest_promptfuzz.wire.aside import answers_kept_in

if TYPE_CHECKING:
    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt


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
