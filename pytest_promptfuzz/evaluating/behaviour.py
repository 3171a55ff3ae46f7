"""What a test's behaviour is now, in the words of its snapshot."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.comparison import VERSION
from pytest_promptfuzz.comparing.profiles import TASKS, profile_for
from pytest_promptfuzz.evaluating.compared import named
from pytest_promptfuzz.evaluating.recorded import prompt_digest
from pytest_promptfuzz.history.outcomes import letters_of
from pytest_promptfuzz.history.snapshot import Asked, Sample, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_promptfuzz.evaluating.case import Case
    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.job import Job
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.scoring.robustness import Robustness
    from pytest_promptfuzz.scoring.trial import Trial

    Hide = Callable[[Any], Any]

ANSWERS = 4
"""How often the unmutated prompt is asked before its answers are stored. Three others, as a recording has them, could
never prove that three have changed (p is 0.1 at least)."""
_DIGITS = 16


def inputs_of(job: Job, cases: Sequence[Case], hide: Hide) -> tuple[Asked, ...]:
    """The inputs of a test, and what was answered to them unmutated.

    Args:
        job: The test, before it is concluded: afterwards its answers are gone.
        cases: Those that have begun.
        hide: Takes what is not to be stored out of plain data.
    """
    found: list[Asked] = []
    first = None
    for case in cases:
        prompt = prompt_of(case)
        text = hide(prompt.text)
        first = text if first is None else first
        found.append(
            Asked(
                named(case.number, job.names),
                digest_of(prompt),
                sent_of(case, job.contract),
                _answers(case, hide),
                None if text == first else text,
            )
        )
    return tuple(found)


def prompt_of(case: Case) -> Prompt:
    """The whole prompt of a case, unmutated."""
    return case.prompt if case.shown is None else case.shown


def digest_of(prompt: Prompt) -> str:
    """16 hexadecimal digits over a prompt's messages."""
    return prompt_digest(prompt)[:_DIGITS]


def snapshot_of(
    test: str, job: Job, result: Robustness, inputs: tuple[Asked, ...], hide: Hide
) -> Snapshot | None:
    """The snapshot of a test that was judged; ``None`` where nothing was asked, or no verdict can be accepted.

    Args:
        test: Its name in its module.
        job: The test.
        result: What it came to.
        inputs: Those of :func:`inputs_of`.
        hide: As there.
    """
    if not inputs or result.verdict not in {"pass", "brittle"}:
        return None
    scored = [each for each in result.trials if each.mutation.relation == result.relation]
    first = next(iter(job.ended), None)
    interval = result.interval
    return Snapshot(
        test,
        result.verdict,
        None if result.score is None else round(result.score, 4),
        None if interval is None else (round(interval.low, 4), round(interval.high, 4)),
        result.threshold,
        hide(result.target),
        hide(result.model),
        "" if first is None else hide(prompt_of(first).text),
        inputs,
        compared_as(job, result),
        _by_operator(scored),
        letters_of(
            ((named(each.case, result.cases), each.id, each.sample), each.outcome)
            for each in scored
            if each.mutation.relation == "invariance"
        ),
    )


def compared_as(job: Job, result: Robustness) -> dict[str, Any]:
    """How the answers of a test are compared: names and versions."""
    contract = job.contract
    if result.oracle_only:
        return {"by": "the test's own checks"}
    task = result.task.partition(" (")[0]
    profile = contract.profile if not isinstance(contract.profile, str | None) else None
    if profile is None and task in TASKS:
        profile = profile_for(task)
    found: dict[str, Any] = {"comparison": VERSION, "task": result.task}
    embedder = job.session.embedder
    if profile is not None:
        means = "semantic" in profile.tiers
        found["tiers"] = [each for each in profile.tiers if each != "semantic" or embedder is not None]
        if means and embedder is not None:
            found["meaning"] = embedder.name
        if means and job.session.entailment is not None:
            found["entailment"] = job.session.entailment.name
    for name in ("equivalent_at", "minor_at"):
        value = getattr(contract, name)
        value = getattr(profile, name, None) if value is None else value
        if value is not None:
            found[name] = value
    if contract.tiers or contract.guards:
        found["own"] = [*(each.name for each in contract.tiers), *(each.name for each in contract.guards)]
    if contract.judge is not None:
        found["judge"] = contract.judge.name
    if job.compared_calls > 1:
        found["calls"] = job.compared_calls
    if contract.schema is not None:
        found["schema"] = hashlib.sha256(contract.schema.text.encode()).hexdigest()[:_DIGITS]
    return found


def _answers(case: Case, hide: Hide) -> tuple[Sample, ...]:
    asked = case.asked
    if asked is None or asked.judge.oracle_only:
        return ()
    answers = asked.answers
    found: dict[str, Sample] = {}
    for number in answers.matrix.baseline:
        value, failed = hide(answers.value(number)), bool(answers.failed([number]))
        key = json.dumps([failed, value], sort_keys=True)
        times = found[key].times if key in found else 0
        found[key] = Sample(value, times + 1, failed)
    return tuple(found.values())


def sent_of(case: Case, contract: Contract) -> str:
    """The digest of what was sent with the prompt; empty of several calls, whose texts may hold answers.

    Where parts of requests are left out of their keys, so are they here: nothing is told.
    """
    if contract.ignore:
        return ""
    calls = () if case.asked is None else case.asked.baseline.run.watch.calls
    if len(calls) != 1:
        return ""
    content = json.dumps(list(calls[0].texts)).encode("ascii")
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _by_operator(trials: Iterable[Trial]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for trial in trials:
        for name in trial.mutation.operators:
            counts = found.setdefault(name, {})
            counts[trial.outcome] = counts.get(trial.outcome, 0) + 1
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}
