"""The baseline: the unmutated prompt is asked; the run that everything is compared with, or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.profiles import infer_task
from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, TargetError, UsageError
from pytest_promptfuzz.evaluating.call_matching import ParallelAnswers, calls_of
from pytest_promptfuzz.evaluating.contract import described
from pytest_promptfuzz.evaluating.judge import (
    Baseline,
    Bench,
    TrialJudge,
    failed_by,
    infrastructure_error,
    shown,
    subject_of,
)
from pytest_promptfuzz.evaluating.role_prompts import perhaps_unseen, refuse_unreplayable, refuse_unseen
from pytest_promptfuzz.evaluating.session import refuse_unrecorded
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.providers.requests import Response, WireRequest
from pytest_promptfuzz.running.run import Step
from pytest_promptfuzz.stats.verdict import Judgement
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pytest_promptfuzz.evaluating.call_matching import Subject
    from pytest_promptfuzz.evaluating.cases import Case, Findings, RunLedger
    from pytest_promptfuzz.evaluating.contract import RunOrder
    from pytest_promptfuzz.evaluating.role_prompts import OnWire
    from pytest_promptfuzz.prompts.messages import MutatedPart
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.trials import TrialError
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.stats.verdict import Reason
    from pytest_promptfuzz.wire.cassettes import Tape


class NoBaseline(NamedTuple):
    """Why trials would have nothing to be compared with.

    Attributes:
        judgement: What the evaluation comes to.
        kind: The error of each trial.
        why: The same, of one trial.
    """

    judgement: Judgement
    kind: str
    why: Note


def unmutated(case: Case, ledger: RunLedger) -> Generator[list[Step], list[Run], Run | NoBaseline]:
    """Ask the unmutated prompt of a case; where its own check fails, once more.

    Raises:
        BaselineFailed: The body fails twice.
        ConfigurationError: As ``baseline_error``.
        NotRecordedError: Only the recording may be used, and has no answer or no plan.
    """
    prompt, settings = case.prompt, case.settings
    where, tape, skips = settings.where, settings.session.tape, settings.body.skips
    (run,) = yield [Step(prompt, case.watch(concurrent=settings.order.together), case.number)]
    ledger.count(run, case)
    if tape is not None:
        refuse_unreplayable(tape, run, case.unrecorded, where)
    refuse_unrecorded(tape, [run])
    if case.unrecorded is not None:
        raise case.unrecorded
    error = baseline_error(run, where, skips)
    if run.watch.network.begun:
        ledger.notes += perhaps_unseen(run)
    if tape is not None:
        ledger.notes += _unused(tape, run)
    if error is None and run.exception is not None:
        (again,) = yield [Step(prompt, case.watch(repeat=1), case.number)]
        ledger.count(again, case)
        refuse_unrecorded(tape, [again])
        error = baseline_error(again, where, skips)
        if error is None and again.exception is not None:
            varied = _texts(run) != _texts(again)
            raise BaselineFailed(run.exception, case.name, varied=varied) from run.exception
        if error is None:
            mixed = noisy(described(run.exception))
            return NoBaseline(mixed, "baseline-mixed", Note.of("trials:baseline-mixed"))
    if error is None:
        return run
    reason: Reason = "budget-spent" if error.kind == "budget" else "baseline-error"
    why = Note.of("evaluations:no-baseline", name=case.name, message=error.message)
    whole = Note.of("evaluations:no-baseline", name=case.name, message=error.message, kind=error.kind)
    return NoBaseline(Judgement.noted("inconclusive", reason, whole), reason, why)


def _texts(run: Run) -> list[str]:
    """What models answered in a run, in an order that does not depend on who answered first."""
    return sorted(each.response.text for each in run.watch.calls if each.response is not None)


def _unused(tape: Tape, run: Run) -> list[Note]:
    """That a recording answers nothing of the unmutated prompt, and how its request differs; nothing where it does."""
    watch = run.watch
    if tape.alone or tape.empty or tape.refused or tape.served or not watch.calls:
        return []
    told, call = watch.settings, watch.calls[0]
    difference = tape.difference(
        WireRequest(call.url, call.body),
        ignore=told.ignore,
        keying=told.keying,
        redaction=told.redaction.with_values(tuple(sorted(watch.secrets))),
    )
    return [Note.of("evaluations:recording-unused", difference=difference)]


def judging(run: Run, case: Case, findings: Findings) -> tuple[TrialJudge, Baseline]:
    """What judges the trials of a case, and what it compares them with; how they are compared goes to the findings.

    Raises:
        UsageError: There is nothing to judge by, or a return value that cannot be compared.
    """
    settings = case.settings
    comparison, where, body = settings.contract.comparison, settings.where, settings.body
    subject = subject_of(run, where)
    if subject is None and comparison.compare and not body.checks:
        raise UsageError(
            f"{where}: there is nothing to judge: the plugin saw no call to a model, and the test returns nothing and "
            "asserts nothing. Return the answer, call the model through `llm` or an SDK, or assert on the answer. If a "
            "helper does the checking, write compare=False."
        )
    findings.oracle_only = oracle_only = subject is None or not comparison.compare
    case.value = shown(subject)
    if isinstance(subject, ParallelAnswers):
        findings.compared_calls = max(findings.compared_calls, len(subject.each))
    if not oracle_only and not findings.task:
        findings.task = comparison.compared_as or f"{_task_of(subject)} (inferred)"
    bench = None if oracle_only else _bench(run, case)
    if bench is not None:
        case.bench = bench
    embedder, entailment = case.watches.embedder(), settings.session.entailment
    judge = TrialJudge(comparison, body, where, oracle_only, embedder, entailment, bench)
    return judge, Baseline(run, subject, case.value)


def _task_of(subject: Subject) -> str:
    """What was asked for, by what was answered; all of it where several calls were answered."""
    answers = [each.response for each in subject.each] if isinstance(subject, ParallelAnswers) else [subject]
    said = (each.text if isinstance(each, Response) else each for each in answers)
    return " and ".join(dict.fromkeys(map(infer_task, said)))


def _bench(baseline: Run, case: Case) -> Bench | None:
    """The bench of a case, whose judge is shown what the baseline asked; ``None`` where the test has no judge."""
    comparison = case.settings.contract.comparison
    if comparison.judge is None:
        return None
    texts = [text for call in calls_of(baseline) for text in call.texts]
    return Bench(
        comparison.judge,
        comparison.judge_when == "always",
        case.watches,
        prompt="\n\n".join(texts) or case.prompt.text,
        ignore=comparison.ignore,
    )


def noisy(failure: str) -> Judgement:
    """The baseline failed once, with ``failure``, and passed once."""
    return Judgement.noted("noisy", "baseline-mixed", Note.of("evaluations:baseline-mixed", failure=failure))


# Errors of the unmutated prompt that say that the configuration is wrong.
_MISCONFIGURED = {
    "authentication",
    "billing",
    "refused",
    "not-found",
    "bad-request",
    "unpriced",
    "not-simulated",
    "confined",
    "not-allowed",
}


class BaselineFailed(PromptfuzzError):  # noqa: N818 - nothing is wrong with the program: the baseline failed
    """The body fails on the unmutated prompt, twice: an ordinary test failure.

    ``exception`` is the body's, ``case`` the name of the input it failed on, if inputs have names; ``varied`` says
    whether the model's answers differed, so that noise may be why.
    """

    def __init__(self, exception: BaseException, case: str = "", *, varied: bool = False) -> None:
        on = f" on input {case}" if case else ""
        super().__init__(f"the unmutated prompt already fails{on}: {type(exception).__name__}: {exception}")
        self.exception = exception
        self.case = case
        self.varied = varied


def baseline_error(run: Run, where: str, skips: Callable[[BaseException], bool]) -> TrialError | None:
    """The error that kept the unmutated prompt from being answered; ``None`` if there was none.

    Args:
        run: The baseline's.
        where: The test, for messages.
        skips: Whether an exception is the test runner's skip.

    Raises:
        ConfigurationError: The provider refuses key, model or request, or was asked where it is not seen.
        BaseException: What the body raised, where it skips or is used in the wrong way.
    """
    raised = run.exception
    if raised is not None and skips(raised):
        raise raised
    if isinstance(raised, PromptfuzzError) and not isinstance(raised, TargetError):
        raise raised
    if run.watch.network.begun:
        refuse_unseen(run, where)
    error = infrastructure_error(run)
    if error is None and raised is not None and run.watch.refused:
        refused = Note.of("trials:confined", refused=run.watch.refused[0], raised=described(raised))
        error = failed_by("confined", refused)
    if error is not None and error.kind in _MISCONFIGURED:
        mend = sentence(Note.of("calls:baseline", kind=error.kind))
        raise ConfigurationError(f"{where}: {error.message} {mend}".rstrip(), kind=error.kind) from raised
    return error


def may_overlap(baseline: Run, order: RunOrder, notes: list[Note | str]) -> bool:
    """Whether the runs after this one may overlap; calls that could not be told apart then make them run in turn."""
    if order.concurrent and baseline.watch.unattributed:
        notes.append(Note.of("evaluations:in-sequence"))
        order.concurrent = False
    return order.concurrent


# The prompt where only the baseline's run shows it: what it asked with, or the input that it filled in.


def shown_by(baseline: Run, prompt: Prompt, part: MutatedPart, on_wire: OnWire | None, where: str) -> Prompt:
    """The prompt to plan over: on the wire the text of a role, else the prompt with its input.

    Raises:
        UsageError: The baseline shows none, or several.
    """
    if on_wire is not None:
        return on_wire.prompt(baseline, where)
    return _filled_by(baseline, prompt, part, where)


def _filled_by(baseline: Run, prompt: Prompt, part: MutatedPart, where: str) -> Prompt:
    """The prompt with the input that the baseline's body gave it.

    Args:
        baseline: The run of the unmutated prompt.
        prompt: The template.
        part: What is mutated, for messages.
        where: The test, for messages.

    Raises:
        UsageError: The body filled no slots, or filled them with several inputs.
    """
    named = f"part={part.shown!r}"
    if not baseline.fillings:
        raise UsageError(
            f"{where}: {named} mutates what the test puts into the prompt's slots, and it filled none. Let it "
            "call format() of a Prompt that has slots, or name the input by itself with mutate=."
        )
    if len(baseline.fillings) > 1:
        raise UsageError(
            f"{where}: {named} needs one input, and the test filled the prompt with {len(baseline.fillings)} "
            "different ones. Parametrize the test over them."
        )
    return prompt.fill(**baseline.fillings[0])
