"""From a run to a trial: the worst of what oracle and comparison say, or the error that kept it from counting."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.compare import compare
from pytest_promptfuzz.comparing.formats.data_text import plain
from pytest_promptfuzz.embedding.embedder import CachedEmbedder
from pytest_promptfuzz.embedding.wanted import Wanted
from pytest_promptfuzz.errors import PartError, TargetError, UsageError, unstopped
from pytest_promptfuzz.evaluating.call_matching import (
    ParallelAnswers,
    answer_of,
    known_pairs_of,
    not_matched,
    pairs_of,
    worst_of,
)
from pytest_promptfuzz.evaluating.classify import infrastructure_error
from pytest_promptfuzz.evaluating.on_wire import not_found
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.running.arrival import arrived, ignored, sent
from pytest_promptfuzz.scoring.trial import OracleFailure, Spent, Trial, TrialError
from pytest_promptfuzz.targets.model import Response, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

    from pytest_promptfuzz.comparing.comparison import Comparison, Outcome
    from pytest_promptfuzz.embedding.embedder import Embedder
    from pytest_promptfuzz.embedding.entailment import Entailment
    from pytest_promptfuzz.evaluating.bench import Bench
    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.wire.watch import Watch

KEPT = (
    "The requests hold the unmutated prompt: something keeps the old text. That may be a cached function, `from module "
    "import PROMPT` in another module, or a client made at import. Name the text that the application reads, "
    "mutate='module.PROMPT', or change it in the requests, mutate='role:system'."
)
ANOTHER = (
    "The requests hold another text: neither the unmutated prompt nor the mutated one. Pass the prompt to the code "
    "that makes the request, name the text that this code reads, mutate='module.PROMPT', or change it in the requests, "
    "mutate='role:system'."
)
UNSEEN = (
    "No request to a model was seen, and the body rendered no Prompt. If the body calls a model, the plugin has to "
    "follow the call (docs/unchanged-applications.md, Other protocols). If it calls none, give the test the argument "
    "`prompt`, and let the body use it: prompt.format(...)."
)
CACHED = (
    "The unmutated prompt made a request, and the mutated one made none: the application answers from a cache of its "
    "own. Switch this cache off in the test, or clear it at the beginning of the body."
)
_MISSED = frozenset({KEPT, ANOTHER, UNSEEN, CACHED})
UNDONE = (
    "The application asked the model exactly what it asks for the unmutated prompt, though other mutations reached the "
    "model: it undoes this change itself (changes the case, strips or joins lines, say). It tells nothing about the "
    "prompt; choose other operators with operators=."
)
IGNORED = (
    "The mutated prompt was sent, and ignore= leaves out the place where it stands, so that it is answered like the "
    "unmutated one. Name narrower paths in ignore=."
)

_PAID = frozenset({"openai", "anthropic", "compatible"})


@dataclass(frozen=True, slots=True)
class Baseline:
    """The unmutated prompt's run, and what responses are compared with.

    Attributes:
        run: The run.
        subject: What is compared: the body's return value, or what its calls came to; ``None`` if neither.
        value: The same as plain data, for reports.
        repeatable: Whether the control trial asked the models exactly the same.
        again: The control trial, where it is one more answer.
    """

    run: Run
    subject: Any
    value: Any
    repeatable: bool = True
    again: Run | None = None


def subject_of(run: Run, where: str, baseline: Run | None = None) -> Any:
    """What a run is compared by; ``None`` where nothing came back.

    Args:
        run: The run.
        where: The test, for messages.
        baseline: What it is compared with; ``None`` for the baseline itself.

    Returns:
        A ``Response``, plain JSON-able data, or ``ParallelAnswers``.

    Raises:
        UsageError: The body returned something that cannot be compared.
    """
    if run.returned is not None:
        if isinstance(run.returned, Response):
            return run.returned
        try:
            return plain(run.returned)
        except UsageError as error:
            raise UsageError(f"{where}: the body's return value cannot be compared: {error}") from None
    return answer_of(run, baseline)


def shown(subject: Any) -> Any:
    """A subject as plain data for reports."""
    if isinstance(subject, ParallelAnswers):
        return subject.value
    return None if subject is None else plain(subject)


def spent_on(watch: Watch) -> Spent:
    """What the calls that a watch saw took."""
    calls = watch.calls
    sent = [call for call in calls if not call.hit]
    # A stream that broke off is a call already.
    failed = sum(fault.sent and not fault.begun for fault in watch.faults)
    spent = Spent(calls=len(sent) + failed, hits=len(calls) - len(sent), retries=watch.retries)
    for call in sent:
        usage = call.response.usage if call.response is not None else Usage()
        cost = call.cost
        unpriced = cost is None and call.provider in _PAID
        spent += Spent(usage=usage, cost=cost, unpriced=int(unpriced))
    return spent


def spent_by(run: Run, *, counts_runs: bool) -> Spent:
    """What a run took. ``counts_runs`` counts the run itself as a call where none was seen on the wire."""
    spent = spent_on(run.watch) + Spent(seconds=run.seconds)
    if counts_runs and not run.watch.calls and not run.watch.faults:
        spent += Spent(calls=1, usage=Usage())
    return spent


def told_undone(trials: list[Trial]) -> list[Trial]:
    """The trials, with what kept a mutation from arriving named as it is where others of the plan arrived."""
    missed = [trial.error is not None and trial.error.message in _MISSED for trial in trials]
    if all(missed):
        return trials
    return [
        replace(trial, error=TrialError("not-exercised", UNDONE)) if miss else trial
        for trial, miss in zip(trials, missed, strict=True)
    ]


def _missed(run: Run, baseline: Run, mutation: Mutation, prompt: Prompt) -> str:
    """Why a mutation did not arrive, and what to do, told from the requests of its run and of the unmutated one."""
    if ignored(run, prompt):
        return IGNORED
    if not run.watch.calls:
        return CACHED if baseline.watch.calls else UNSEEN
    return KEPT if sent(run, mutation.source or Prompt(mutation.original)) else ANOTHER


def _promised(mutation: Mutation) -> dict[str, Any]:
    """What a mutation under another relation than invariance asks of the answer, as ``compare`` takes it."""
    # Few plans have such mutations: the others do without what reads formats, languages and programs.
    if mutation.relation == "format":
        from pytest_promptfuzz.comparing.formats.answer_formats import requested_format

        return {"requested_format": requested_format(mutation.operators)}
    if mutation.relation == "language":
        from pytest_promptfuzz.comparing.answer_language import requested_language

        return {"requested_language": requested_language(mutation.operators)}
    if mutation.relation == "renaming":
        from pytest_promptfuzz.mutations.operators.identifiers import renaming_of

        return {"renaming": renaming_of(mutation)}
    return {}


def _with_refusal(comparison: Comparison, run: Run) -> Comparison:
    """Why an answer differs, with what the provider refused: the application may have answered in its place."""
    refused = next((fault.message for fault in run.watch.unrecovered() if fault.kind == "bad-request"), None)
    if refused is None or comparison.outcome == "equivalent":
        return comparison
    said = f"{comparison.explanation}, after the provider refused a request: {unstopped(refused)}"
    return replace(comparison, explanation=said)


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges the runs of one test.

    Attributes:
        contract: The test's settings.
        embedder: For the semantic tier, or ``None``.
        entailment: Settles what words and meaning leave undecided; ``None`` for nothing.
        oracle_only: Nothing is compared.
        checks: Whether the body is known to check something itself.
        skips: Whether an exception is the test runner's skip.
        describe: A traceback for people.
        counts_runs: Whether a run is itself a call of the target.
        where: The test, for messages.
        bench: The judge of answers that nothing cheaper can tell; ``None`` for none.
        given: What a body that failed had been given to check, by the watch of its run.
    """

    contract: Contract
    embedder: Embedder | None
    oracle_only: bool
    skips: Callable[[BaseException], bool]
    describe: Callable[[BaseException], str]
    counts_runs: bool
    where: str
    checks: bool = False
    bench: Bench | None = None
    entailment: Entailment | None = None
    given: Mapping[Watch, Any] = field(default_factory=dict)

    def ahead(
        self,
        runs: Iterable[tuple[Run, Mutation]],
        baseline: Baseline,
        repeats: Iterable[Run] = (),
        *,
        caused: Container[str] = (),
    ) -> None:
        """Embed all texts that judging the runs needs, and ask the judge about them, all at once; ``trial`` finds both.

        Args:
            runs: Made runs, and the mutation of each.
            baseline: What they are compared with.
            repeats: Made runs of the unmutated prompt; their texts are embedded, too.
            caused: IDs of the mutations that are known to be what a model refuses.

        Raises:
            UsageError: As ``trial``.
            ConfigurationError: A model that is needed cannot be loaded, or asked.
            NotRecordedError: Only the recording may be used, and does not have what a judge says.
        """
        made = [
            (run, mutation)
            for run, mutation in runs
            if run.exception is None and infrastructure_error(run, caused=mutation.id in caused) is None
        ]
        self._embed(made, baseline, [run for run in repeats if run.exception is None])
        if self.bench is not None:
            with self.bench.ahead():
                for run, mutation in made:
                    self.trial(run, mutation, mutation.prompt, baseline, case=0, caused=True)

    def _embed(
        self, runs: Iterable[tuple[Run, Mutation]], baseline: Baseline, repeats: Iterable[Run]
    ) -> None:
        """Parts of one's own are not asked to find out what is embedded: with them texts are, pair by pair."""
        own = self.contract.tiers or self.contract.guards
        if not isinstance(self.embedder, CachedEmbedder) or self.oracle_only or own:
            return
        wanted = Wanted(self.embedder.name)
        dry = replace(self, embedder=wanted, bench=None, entailment=None)
        for run, mutation in runs:
            dry.trial(run, mutation, mutation.prompt, baseline, case=0, caused=True)
        for run in repeats:
            if (subject := subject_of(run, self.where, baseline.run)) is not None:
                dry.compare(baseline.subject, subject)
        if wanted.texts:
            with contextlib.suppress(TargetError):  # each trial that needs them says so
                self.embedder.embed(list(wanted.texts))

    def trial(
        self,
        run: Run,
        mutation: Mutation,
        prompt: Prompt,
        baseline: Baseline,
        *,
        case: int,
        caused: bool = False,
    ) -> Trial:
        """The trial of one mutation; ``caused`` is whether it is known to be what a model refuses."""
        spent = spent_by(run, counts_runs=self.counts_runs)

        def failed(kind: str, message: str) -> Trial:
            return Trial(mutation, "error", error=TrialError(kind, message), spent=spent, case=case)

        error = infrastructure_error(run, caused=caused)
        if error is not None:
            return failed(error.kind, error.message)
        raised = run.exception
        # What is mutated in flight is nothing the body could have stumbled over before it asked.
        in_flight = run.watch.in_flight is not None
        raised_before_asking = raised is not None and not run.watch.calls and not in_flight
        if not raised_before_asking and not arrived(
            run, baseline.run, prompt, repeatable=baseline.repeatable
        ):
            missed = not_found(run) if in_flight else _missed(run, baseline.run, mutation, prompt)
            return failed("not-exercised", missed)
        must_change = mutation.relation == "must-change"
        if raised is not None:
            if self.skips(raised):
                return failed("skipped", f"The body skipped on this mutation only: {raised}")
            if must_change:  # the test noticed
                return Trial(mutation, "equivalent", value=self._seen(run), spent=spent, case=case)
            failure = OracleFailure(type(raised).__name__, str(raised), self.describe(raised))
            return Trial(
                mutation, "deviation", value=self._seen(run), failure=failure, spent=spent, case=case
            )
        if self.oracle_only:
            outcome: Outcome = "deviation" if must_change else "equivalent"
            return Trial(mutation, outcome, value=self._seen(run), spent=spent, case=case)
        subject = subject_of(run, self.where, baseline.run)
        try:
            comparison = self.compare(
                baseline.subject, subject, relation=mutation.relation, **_promised(mutation)
            )
        except PartError as wrong:
            return failed(wrong.part, f"{str(wrong)[0].upper()}{str(wrong)[1:]}.")
        except TargetError as wrong:
            return failed(wrong.kind, str(wrong))
        comparison = _with_refusal(comparison, run)
        return Trial(
            mutation, comparison.outcome, value=shown(subject), comparison=comparison, spent=spent, case=case
        )

    def compare(self, baseline: Any, subject: Any, **promised: Any) -> Comparison:
        """Compare under the test's contract; ``promised`` is the relation and what belongs to it."""
        if isinstance(baseline, ParallelAnswers) or isinstance(subject, ParallelAnswers):
            return self._compare_each(baseline, subject, promised)
        return self._compare(baseline, subject, promised)

    def _compare(
        self, baseline: Any, subject: Any, promised: Mapping[str, Any], prompt: str | None = None
    ) -> Comparison:
        contract = self.contract
        found = compare(
            baseline,
            subject,
            task=contract.task,
            profile=contract.profile,
            schema=contract.schema,
            equivalent_at=contract.equivalent_at,
            minor_at=contract.minor_at,
            ignore=contract.ignore,
            semantic=self.embedder or False,
            entailment=self.entailment or False,
            tiers=contract.tiers,
            guards=contract.guards,
            **promised,
        )
        if self.bench is None:
            return found
        return self.bench.decided(
            found, baseline, subject, promised.get("relation", "invariance"), prompt=prompt
        )

    def _compare_each(self, baseline: Any, subject: Any, promised: Mapping[str, Any]) -> Comparison:
        """Compare the answers of several calls, each with that of the call that asks the same."""
        must_change = promised.get("relation") == "must-change"
        pairs = pairs_of(baseline, subject)
        found = []
        for one, other, asked, differs in known_pairs_of(baseline, subject) if pairs is None else pairs:
            # What a request does not say, its answer need not obey.
            given = promised if differs or must_change else {}
            prompt = None if asked is None else asked.prompt
            found.append((self._compare(one, other, given, prompt), asked))
        if pairs is None:
            lost = not_matched(checked=self.checks and not must_change)
            deviate = [each for each in found if each[0].outcome == "deviation"]
            return worst_of(deviate) if deviate and not must_change else lost
        return worst_of(found, must_change=must_change)

    def likeness(self, one: Any, other: Any) -> Outcome:
        """The outcome of two answers of which neither need be the baseline: one that breaks the schema is no error."""
        contract = self.contract
        if contract.schema is None:
            return self.compare(one, other).outcome
        if isinstance(one, ParallelAnswers) or isinstance(other, ParallelAnswers):
            pairs = pairs_of(one, other)
            if pairs is None:
                return not_matched(checked=self.checks).outcome
            found = [self.likeness(first, second) for first, second, *_ in pairs]
            return max(found, key=["equivalent", "minor", "undecided", "deviation"].index)
        from pytest_promptfuzz.comparing.formats.data_text import one_breaks

        formats = getattr(contract.profile, "check_formats", False)
        if one_breaks(contract.schema, plain(one), plain(other), formats=formats):
            return "deviation"
        return self.without_schema().compare(one, other).outcome

    def without_schema(self) -> Judge:
        """The same, whatever schema answers must keep."""
        return replace(self, contract=replace(self.contract, schema=None))

    def _seen(self, run: Run) -> Any:
        """What to show of a run that is not compared."""
        try:
            subject = subject_of(run, self.where)
            return shown(self.given.get(run.watch) if subject is None else subject)
        except UsageError:
            return None
