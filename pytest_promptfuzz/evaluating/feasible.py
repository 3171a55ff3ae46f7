"""Whether a test can pass at all: a gate that so few mutations cannot pass is refused before anything is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.planner import plan
from pytest_promptfuzz.scoring.intervals import lower_bound, smallest_n
from pytest_promptfuzz.scoring.trial import cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.job import Job
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt

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
