"""`TrialJudge`: makes a trial of a run: the test's own checks, the comparison, or an error that does not count."""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pytest_promptfuzz.comparing.formats.data_text import plain, text_of
from pytest_promptfuzz.errors import (
    ConfigurationError,
    PartError,
    PromptfuzzError,
    TargetError,
    UsageError,
)
from pytest_promptfuzz.evaluating.call_matching import (
    ParallelAnswers,
    answer_of,
    known_pairs_of,
    not_matched,
    pairs_of,
    worst_of,
)
from pytest_promptfuzz.evaluating.role_prompts import not_found
from pytest_promptfuzz.evaluating.session import refuse
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.judging.ratings import JudgedPair, Rating, by_judge, open_to_judge
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.providers.requests import Response, Usage
from pytest_promptfuzz.results.trials import OracleFailure, Spent, Trial, TrialError
from pytest_promptfuzz.running.run import Crew, arrived, ignored, sent
from pytest_promptfuzz.storage.recordings.places import JUDGE
from pytest_promptfuzz.text.json_paths import without
from pytest_promptfuzz.wire.network_guard import ConnectionNotAllowedError
from pytest_promptfuzz.wire.watch import watching
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.comparing.comparison import Comparison, Outcome
    from pytest_promptfuzz.comparing.meaning import Embedder, Entailment
    from pytest_promptfuzz.evaluating.contract import BodyTraits, ComparisonSettings
    from pytest_promptfuzz.evaluating.session import TestWatches
    from pytest_promptfuzz.judging.ratings import Grader, Judge
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.wire.watch import Watch

    Task = Callable[[], Any]
    from pytest_promptfuzz.judging.ratings import JudgedPair, Rating

_Number = TypeVar("_Number", int, float)


# What a run's ending means: an oracle's failure, or an error that says nothing about the prompt.


def failed_by(kind: str, why: Note | str) -> TrialError:
    """The error of a trial, for a reason that was found here, or in somebody else's words."""
    return TrialError(kind, sentence(why), why.code if isinstance(why, Note) else "")


def infrastructure_error(run: Run, *, caused: bool = False) -> TrialError | None:
    """The error of a run that failed below the prompt, whatever the body then did; ``None`` if it did not.

    A fault on the wire counts unless the same request was answered later in the run.

    Args:
        run: The run to look at.
        caused: Whether the mutation is known to be what a model refuses (HTTP 400, 413): what the application makes of
            that is then judged like any answer.
    """
    for fault in run.watch.unrecovered() if run.watch.faults else ():
        if fault.kind == "bad-request" and caused:
            continue
        return TrialError(fault.kind, fault.message)
    error = run.exception
    if run.watch.refused and was_refused(error):
        return TrialError("confined", run.watch.refused[0])
    if isinstance(error, TargetError):
        if error.kind == "bad-request" and caused:
            return None
        return TrialError(error.kind, str(error))
    if isinstance(error, ConfigurationError):
        return TrialError("configuration", str(error))
    if isinstance(error, PromptfuzzError):
        return TrialError("usage", str(error))
    return None


def refused(run: Run) -> str:
    """How a model refused a request of this run (HTTP 400, 413) that was not answered later; empty where none did."""
    faults = run.watch.unrecovered() if run.watch.faults else ()
    said = [fault.message for fault in faults if fault.kind == "bad-request"]
    if isinstance(run.exception, TargetError) and run.exception.kind == "bad-request":
        said.append(str(run.exception))
    return said[0] if said else ""


def refused_each(runs: Iterable[Run]) -> list[str]:
    """As ``refused``, of several runs."""
    return [refused(run) for run in runs]


def was_refused(error: BaseException | None) -> bool:
    """Whether an exception goes back to a connection that the network guard refused."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting:
        each = waiting.pop()
        if not isinstance(each, BaseException) or each in seen:
            continue
        if isinstance(each, ConnectionNotAllowedError):
            return True
        seen.append(each)
        waiting += [
            each.__cause__,
            each.__context__,
            *(arg for arg in each.args if isinstance(arg, BaseException)),
        ]
    return False


# Notes of mutations that did not arrive, though others of the plan may have.
_MISSED = frozenset({"trials:prompt-kept", "trials:another-text", "trials:no-request", "trials:cached"})


class Baseline(NamedTuple):
    """The unmutated prompt's run, and what responses are compared with.

    Attributes:
        run: The run.
        subject: What is compared: the body's return value, or what its calls came to; ``None`` if neither.
        value: The same as plain data, for reports.
        repeatable: Whether the repeat run asked the models exactly the same.
        again: The repeat run, where it is one more answer.
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
    if isinstance(subject, Response) and not subject.tool_calls and subject.text.isascii():
        return subject.text  # as ``plain`` has it
    return None if subject is None else plain(subject)


def spent_on(watch: Watch, seconds: float = 0.0) -> Spent:
    """What the calls that a watch saw took, in so many seconds."""
    calls = watch.calls
    sent = [call for call in calls if not call.hit]
    # A stream that broke off is a call already.
    failed = sum(fault.sent and not fault.begun for fault in watch.faults)
    kept = [fault for fault in watch.faults if fault.hit]
    stored = [call for call in calls if call.hit]
    usages = [call.response.usage for call in sent if call.response is not None]
    costs = [None if call.price is None else call.price() for call in sent]
    return Spent(
        calls=len(sent) + failed,
        hits=len(stored) + len(kept),
        seconds=seconds,
        usage=Usage(
            _known_sum([each.input_tokens for each in usages]),
            _known_sum([each.output_tokens for each in usages]),
        ),
        retries=watch.retries,
        cost=_known_sum(costs),
        unpriced=sum(cost is None and call.paid for cost, call in zip(costs, sent, strict=True)),
        recorded=sum(watch.from_recording(call.digest, call.nth) for call in stored)
        + sum(watch.from_recording(fault.digest, fault.nth) for fault in kept),
    )


def _known_sum(values: Sequence[_Number | None]) -> _Number | None:
    """The sum of what is known; ``None`` where nothing is."""
    known = [each for each in values if each is not None]
    return sum(known[1:], known[0]) if known else None


def spent_by(run: Run, *, counts_runs: bool) -> Spent:
    """What a run took. ``counts_runs`` counts the run itself as a call where none was seen on the wire."""
    spent = spent_on(run.watch, run.seconds)
    if counts_runs and not run.watch.calls and not run.watch.faults:
        spent += Spent(calls=1, usage=Usage())
    return spent


def told_undone(trials: list[Trial]) -> list[Trial]:
    """The trials, with what kept a mutation from arriving named as it is where others of the plan arrived."""
    missed = [trial.error is not None and trial.error.code in _MISSED for trial in trials]
    if all(missed):
        return trials
    undone = failed_by("not-exercised", Note.of("trials:undone"))
    return [
        replace(trial, error=undone) if miss else trial for trial, miss in zip(trials, missed, strict=True)
    ]


def _missed(run: Run, baseline: Run, mutation: Mutation, prompt: Prompt) -> Note:
    """Why a mutation did not arrive, told from the requests of its run and of the unmutated one."""
    if ignored(run, prompt):
        return Note.of("trials:ignored")
    if not run.watch.calls:
        return Note.of("trials:cached" if baseline.watch.calls else "trials:no-request")
    kept = sent(run, mutation.source or Prompt(mutation.original))
    return Note.of("trials:prompt-kept" if kept else "trials:another-text")


def promised_by(mutation: Mutation) -> dict[str, Any]:
    """What a mutation asks of the answer, as ``compare`` takes it: the relation, and what belongs to it."""
    # Few plans have such mutations: the others do without what reads formats, languages and programs.
    if mutation.relation == "renaming" and labels_before(mutation):
        return {"relation": "invariance"}
    promised: dict[str, Any] = {"relation": mutation.relation}
    if mutation.relation == "format":
        from pytest_promptfuzz.comparing.formats.answer_formats import requested_format

        promised["requested_format"] = requested_format(mutation.operators)
    if mutation.relation == "language":
        from pytest_promptfuzz.comparing.answer_language import requested_language

        promised["requested_language"] = requested_language(mutation.operators)
    if mutation.relation == "renaming":
        from pytest_promptfuzz.mutations.operators.identifiers import renaming_of

        promised["renaming"] = renaming_of(mutation)
    return promised


def as_before(mutation: Mutation, answer: Any) -> Any:
    """An answer as it would be without a mutation that gives the options of a question other labels."""
    if mutation.relation != "renaming":
        return answer
    from pytest_promptfuzz.comparing.option_labels import with_labels_before

    before = labels_before(mutation)
    return with_labels_before(answer, before) if before else answer


def labels_before(mutation: Mutation) -> Mapping[str, str]:
    """The labels that a mutation gave to the options of a question, each with the one before; mostly none."""
    from pytest_promptfuzz.mutations.operators import options

    return options.labels_before(mutation)


def _with_refusal(comparison: Comparison, run: Run) -> Comparison:
    """Why an answer differs, with what the provider refused: the application may have answered in its place."""
    faults = run.watch.unrecovered() if run.watch.faults and comparison.outcome != "equivalent" else ()
    refused = next((fault.message for fault in faults if fault.kind == "bad-request"), None)
    if refused is None:
        return comparison
    note = Note.of("trials:after-refusal", explanation=comparison.explanation, refusal=refused)
    return replace(comparison, explanation=sentence(note))


def _plain_text(subject: Any) -> tuple[str, str] | None:
    """The text of an answer that is nothing else, and why it ended; ``None`` for any other."""
    if isinstance(subject, Response) and not subject.tool_calls:
        return subject.text, subject.finish_reason
    return (subject, "") if isinstance(subject, str) else None


@dataclass(frozen=True, slots=True)
class TrialJudge:
    """Judges the runs of one test.

    Attributes:
        comparison: How answers are compared.
        body: What is known of its body.
        where: The test, for messages.
        oracle_only: Nothing is compared.
        embedder: For the semantic tier, or ``None``.
        entailment: Settles what words and meaning leave undecided; ``None`` for nothing.
        bench: The judge of answers that nothing cheaper can tell; ``None`` for none.
    """

    comparison: ComparisonSettings
    body: BodyTraits
    where: str
    oracle_only: bool = False
    embedder: Embedder | None = None
    entailment: Entailment | None = None
    bench: Bench | None = None
    _compared: dict[tuple[object, ...], Comparison] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

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
        own = self.comparison.tiers or self.comparison.guards
        if self.embedder is None or self.oracle_only or own:
            return
        from pytest_promptfuzz.judging.meaning import CachedEmbedder, TextCollector

        if not isinstance(self.embedder, CachedEmbedder):
            return
        wanted = TextCollector(self.embedder.name)
        dry = replace(self, embedder=wanted, bench=None, entailment=None)
        for run, mutation in runs:
            dry.trial(run, mutation, mutation.prompt, baseline, case=0, caused=True)
        for run in repeats:
            if (subject := subject_of(run, self.where, baseline.run)) is not None:
                dry.compare(baseline.subject, subject)
        if wanted.texts:
            with contextlib.suppress(TargetError):  # each trial that needs them says so
                self.embedder.embed(list(wanted.texts))

    def trials(
        self,
        runs: Iterable[tuple[Run, Mutation]],
        baseline: Baseline,
        *,
        case: int,
        caused: Container[str] = (),
    ) -> list[Trial]:
        """The trials of several mutations; ``caused`` has the IDs of those known to be what a model refuses."""
        return [
            self.trial(run, each, each.prompt, baseline, case=case, caused=each.id in caused)
            for run, each in runs
        ]

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
        spent = spent_by(run, counts_runs=self.body.counts_runs)

        def failed(kind: str, why: Note | str) -> Trial:
            return Trial(mutation, "error", error=failed_by(kind, why), spent=spent, case=case)

        error = infrastructure_error(run, caused=caused)
        if error is not None:
            return Trial(mutation, "error", error=error, spent=spent, case=case)
        raised = run.exception
        # What is mutated in flight is nothing the body could have stumbled over before it asked.
        in_flight = run.watch.route.in_flight is not None
        raised_before_asking = raised is not None and not run.watch.calls and not in_flight
        if not raised_before_asking and not arrived(
            run, baseline.run, prompt, repeatable=baseline.repeatable
        ):
            missed = not_found(run) if in_flight else _missed(run, baseline.run, mutation, prompt)
            return failed("not-exercised", missed)
        must_change = mutation.relation == "must-change"
        if raised is not None:
            if self.body.skips(raised):
                return failed("skipped", Note.of("trials:skipped", reason=raised))
            if must_change:  # the test noticed
                return Trial(mutation, "equivalent", value=self._seen(run), spent=spent, case=case)
            failure = OracleFailure(type(raised).__name__, str(raised), self.body.describe(raised))
            return Trial(
                mutation, "deviation", value=self._seen(run), failure=failure, spent=spent, case=case
            )
        if self.oracle_only:
            outcome: Outcome = "deviation" if must_change else "equivalent"
            return Trial(mutation, outcome, value=self._seen(run), spent=spent, case=case)
        subject = subject_of(run, self.where, baseline.run)
        try:
            comparison = self.compare(baseline.subject, as_before(mutation, subject), **promised_by(mutation))
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
        found = self._by_rules(baseline, subject, promised)
        if self.bench is None:
            return found
        return self.bench.decided(
            found, baseline, subject, promised.get("relation", "invariance"), prompt=prompt
        )

    def _by_rules(self, baseline: Any, subject: Any, promised: Mapping[str, Any]) -> Comparison:
        """What everything but a judge says. Most answers say what another said, and are compared once."""
        comparison = self.comparison
        texts = (_plain_text(baseline), _plain_text(subject))
        own = comparison.tiers or comparison.guards or promised.keys() - {"relation"}
        key = None if None in texts or own else (*texts, promised.get("relation"))
        if key is not None and key in self._compared:
            return self._compared[key]
        found = compare(
            baseline,
            subject,
            task=comparison.task,
            profile=comparison.profile,
            schema=comparison.schema,
            equivalent_at=comparison.equivalent_at,
            minor_at=comparison.minor_at,
            ignore=comparison.ignore,
            semantic=self.embedder or False,
            entailment=self.entailment or False,
            tiers=comparison.tiers,
            guards=comparison.guards,
            **promised,
        )
        if key is not None:
            self._compared[key] = found
        return found

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
            lost = not_matched(checked=self.body.checks and not must_change)
            deviate = [each for each in found if each[0].outcome == "deviation"]
            return worst_of(deviate) if deviate and not must_change else lost
        return worst_of(found, must_change=must_change)

    def likeness(self, one: Any, other: Any) -> Outcome:
        """The outcome of two answers of which neither need be the baseline: one that breaks the schema is no error."""
        comparison = self.comparison
        if comparison.schema is None:
            return self.compare(one, other).outcome
        if isinstance(one, ParallelAnswers) or isinstance(other, ParallelAnswers):
            pairs = pairs_of(one, other)
            if pairs is None:
                return not_matched(checked=self.body.checks).outcome
            found = [self.likeness(first, second) for first, second, *_ in pairs]
            return max(found, key=["equivalent", "minor", "undecided", "deviation"].index)
        from pytest_promptfuzz.comparing.formats.data_text import one_breaks

        formats = getattr(comparison.profile, "check_formats", False)
        if one_breaks(comparison.schema, plain(one), plain(other), formats=formats):
            return "deviation"
        return self.without_schema().compare(one, other).outcome

    def without_schema(self) -> TrialJudge:
        """The same, whatever schema answers must keep."""
        return replace(self, comparison=self.comparison._replace(schema=None))

    def _seen(self, run: Run) -> Any:
        """What to show of a run that is not compared."""
        try:
            subject = subject_of(run, self.where)
            return shown(self.body.given.get(run.watch) if subject is None else subject)
        except UsageError:
            return None


# A judge at work on one case: each pair of answers that nothing cheaper can tell is put to it once.


@dataclass(slots=True)
class Bench:
    """A judge, and what it has said.

    Attributes:
        judge: Who is asked.
        always: Whether about more than what cheaper tiers leave undecided.
        watches: Makes the watches of its calls.
        prompt: What was asked, unmutated.
        ignore: JSON paths left out of what it is shown.
        spent: On its calls.
        notes: What the person must know.
        said: By pair, its rating, or why there is none.
    """

    judge: Judge
    always: bool
    watches: TestWatches
    prompt: str = ""
    ignore: Sequence[str] = ()
    spent: Spent = field(default_factory=Spent)
    notes: list[Note | str] = field(default_factory=list)
    said: dict[JudgedPair, Rating | PartError | TargetError] = field(default_factory=dict)
    _grades: dict[tuple[str, str], int | None] = field(default_factory=dict)
    _noted: dict[JudgedPair, None] | None = None

    def decided(
        self, found: Comparison, baseline: Any, response: Any, relation: str, *, prompt: str | None = None
    ) -> Comparison:
        """A comparison, as the judge decides it where it is asked.

        Args:
            found: What cheaper tiers say.
            baseline: What was compared, as ``compare`` takes it.
            response: Likewise.
            relation: What must hold.
            prompt: What was asked, where it is one call of several.

        Raises:
            PartError, TargetError: The judge could not be asked, or said nonsense.
            ConfigurationError: It lacks a key, an extra or a name.
            NotRecordedError: Only the recording may be used, and does not have its answer.
        """
        from pytest_promptfuzz.judging.ratings import JudgedPair, Rating

        if not open_to_judge(found, relation, always=self.always):
            return found
        asked = self.prompt if prompt is None else prompt
        pair = self._known(JudgedPair(self._text(baseline), self._text(response), asked, relation))
        if self._noted is not None:
            self._noted[pair] = None
            return found
        self._ask([pair])
        said = self.said[pair]
        if isinstance(said, TargetError):
            raise TargetError(f"The judge could not be asked: {said}", kind=said.kind, status=said.status)
        if not isinstance(said, Rating):
            raise said
        return by_judge(found, said, self.judge.name, relation)

    def rate(self, pairs: Sequence[JudgedPair]) -> list[Rating | PartError | TargetError]:
        """What the judge says of each pair, or why it says nothing; all at once.

        Raises:
            ConfigurationError: It lacks a key, an extra or a name.
        """
        self._ask(pairs)
        return [self.said[pair] for pair in pairs]

    @contextlib.contextmanager
    def ahead(self) -> Iterator[None]:
        """Note what the judge is to be asked in the block, and ask it all at once at its end."""
        self._noted = {}
        try:
            yield
            noted = list(self._noted)
        finally:
            self._noted = None
        self._ask(noted)

    def grades(self, grader: Grader, measures: Sequence[str], answers: Iterable[Any]) -> None:
        """Have answers graded by every measure, all at once; ``grade`` then knows."""
        wanted = {(measure, self._text(answer)): None for answer in answers for measure in measures}
        asked = [each for each in wanted if each not in self._grades]
        tasks: list[Task] = [
            lambda each=each: grader.grade(each[0], self.prompt, each[1])  # type: ignore[misc]  # bound now
            for each in asked
        ]
        for each, grade in zip(asked, self._answers(tasks), strict=True):
            usable = isinstance(grade, int) and not isinstance(grade, bool) and 1 <= grade <= 3
            self._grades[each] = grade if usable else None
            if not usable:
                odd = Note.of("judges:odd-grade", measure=each[0], grade=grade)
                self._note(str(grade) if isinstance(grade, Exception) else odd)

    def grade(self, measure: str, answer: Any) -> int | None:
        """The grade of an answer; ``None`` where the judge failed."""
        return self._grades.get((measure, self._text(answer)))

    def _known(self, pair: JudgedPair) -> JudgedPair:
        """The pair; the other way round if so it was noted or rated, and the relation has no direction."""
        turned = replace(pair, baseline=pair.response, response=pair.baseline)
        known = turned in self.said or (self._noted is not None and turned in self._noted)
        return turned if known and pair.relation != "not-worse" else pair

    def _note(self, why: Note | str) -> None:
        note = Note.of("judges:not-graded", judge=self.judge.name, why=why)
        if note not in self.notes:
            self.notes.append(note)

    def _text(self, value: Any) -> str:
        return text_of(without(plain(value), self.ignore))

    def _ask(self, pairs: Iterable[JudgedPair]) -> None:
        from pytest_promptfuzz.judging.model_judge import rated

        asked = [pair for pair in pairs if pair not in self.said]
        tasks: list[Task] = [lambda pair=pair: rated(self.judge, pair) for pair in asked]  # type: ignore[misc]  # bound now
        self.said.update(zip(asked, self._answers(tasks), strict=True))

    def _answers(self, tasks: Sequence[Task]) -> list[Any]:
        """What tasks return, or the error that kept them from it; each under a watch of its own, several at once."""
        if not tasks:
            return []
        errands = [_Errand(task, self.watches.beside(JUDGE)) for task in tasks]
        watches = [each.watch for each in errands]
        started = time.perf_counter()
        # In threads even where there is but one: a judge may run an event loop, and one may be running here.
        crew = Crew()
        try:
            for each in errands:
                crew.add(each, self.watches.session.concurrency)
            answers = [each.result() for each in errands]
        except BaseException:
            crew.stop()
            raise
        finally:
            self._count(watches, time.perf_counter() - started)
        refuse(self.watches.session.tape, watches)
        return answers

    def _count(self, watches: Iterable[Watch], seconds: float) -> None:
        spent = Spent(seconds=seconds)
        for watch in watches:
            spent += spent_on(watch)
            self.notes.extend(note for note in watch.notes if note not in self.notes)
        self.spent += replace(spent, judge_calls=spent.calls, judge_hits=spent.hits)


class _Errand:
    """A task that is done in a thread of a crew, in the context of whoever wants it done."""

    def __init__(self, task: Task, watch: Watch) -> None:
        self.watch = watch
        self._task = task
        self._context = contextvars.copy_context()
        self._done = threading.Event()
        self._answer: Any = None
        self._error: BaseException | None = None

    def make(self) -> None:
        """Do it."""
        try:
            self._answer = self._context.run(self._watched)
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._error = error
        self._done.set()

    def abandon(self) -> None:
        """Nobody waits any longer."""

    def result(self) -> Any:
        """What came of it, once it is done; a failed call or a part's mistake is returned, any other error raised."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._answer

    def _watched(self) -> Any:
        with watching(self.watch):
            try:
                return self._task()
            except (PartError, TargetError) as error:
                # Below an SDK, a refusal of ours looks like one of the provider's.
                seen = self.watch.unrecovered()
                return TargetError(seen[-1].message, kind=seen[-1].kind) if seen else error
