"""``transfer`` and ``atransfer``: whether what breaks one target's answers breaks another's."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.allowance import ReachedAlready
from pytest_promptfuzz.evaluating.evaluate import Evaluation
from pytest_promptfuzz.evaluating.hunt import Hunt
from pytest_promptfuzz.evaluating.hunting import Hunting
from pytest_promptfuzz.evaluating.search import SearchJob
from pytest_promptfuzz.mutations.mutation import Mutation
from pytest_promptfuzz.running.drive import adrive, drive
from pytest_promptfuzz.scoring.counterexample import Counterexample
from pytest_promptfuzz.searching.result import Search
from pytest_promptfuzz.searching.space import Choice, Place, Space
from pytest_promptfuzz.searching.transferred import Transfer
from pytest_promptfuzz.targets.resolve import resolve
from pytest_promptfuzz.wire.intercept import intercepting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_promptfuzz.evaluating.evaluate import AnyTarget
    from pytest_promptfuzz.evaluating.job import Job
    from pytest_promptfuzz.evaluating.search import AnyObjective
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.mutations.operator import Operator
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.searching.searching import Seen
    from pytest_promptfuzz.searching.space import State

    Found = Search | Counterexample | Mutation

_WHERE = "transfer"


def transfer(
    found: Found | Iterable[Found],
    target: AnyTarget,
    objective: AnyObjective = "deviation",
    *,
    repeats: int = 2,
    baseline_runs: int = 2,
    parameters: Mapping[str, Any] | None = None,
    session: Session | None = None,
    **settings: Any,
) -> Transfer:
    """Ask another target about changes that were found to break one.

    Each is asked once, and if it breaks the answer ``repeats`` times more, as the unmutated prompt then is. A prompt is
    left out, and said, if its unmutated form fails there, or reaches the goal by itself.

    Args:
        found: Searches, counterexamples or mutations, or one of them. A search that found nothing asks nothing.
        target: As ``search`` takes it.
        objective: Likewise: what a change must do there.
        repeats: How often more what breaks the answer is asked before it is believed, 0 to 100.
        baseline_runs: How often the unmutated prompt is asked, 1 to 100.
        parameters: More for the request body.
        session: Store, mode, embedder and concurrency; by default nothing is stored on disk.
        settings: ``task=`` and the others of ``search`` that say how answers are compared.

    Raises:
        UsageError: A setting or the target is wrong, or something else is given than what was found.
        ConfigurationError: A key, an extra or a model name is missing.
        BaselineFailed: The application's function raises on an unmutated prompt.
    """
    asking = _Asking(target, objective, (repeats, baseline_runs), parameters, session, settings)
    for mutation in _mutations(found):
        with asking.about(mutation) as one:
            drive(one.case(one.cases.inputs[0]), one.body)
    return asking.transfer()


async def atransfer(
    found: Found | Iterable[Found],
    target: AnyTarget,
    objective: AnyObjective = "deviation",
    *,
    repeats: int = 2,
    baseline_runs: int = 2,
    parameters: Mapping[str, Any] | None = None,
    session: Session | None = None,
    **settings: Any,
) -> Transfer:
    """As ``transfer``, with the repeats of a change running concurrently in this event loop."""
    asking = _Asking(target, objective, (repeats, baseline_runs), parameters, session, settings)
    for mutation in _mutations(found):
        with asking.about(mutation) as one:
            one.job.concurrent = one.job.session.concurrency > 1
            await adrive(one.case(one.cases.inputs[0]), one.abody, concurrency=one.job.session.concurrency)
    return asking.transfer()


def _mutations(found: Found | Iterable[Found]) -> Iterator[Mutation]:
    if isinstance(found, Search | Counterexample | Mutation):
        found = [found]
    for each in found:
        if isinstance(each, Mutation):
            yield each
        elif isinstance(each, Counterexample):
            yield each.mutation
        elif isinstance(each, Search):
            if each.counterexample is not None:
                yield each.counterexample.mutation
        else:
            raise UsageError(
                f"{_WHERE}: {each!r:.80} is neither a Search nor a Counterexample nor a Mutation; give what search() "
                "returned."
            )


class _Carried(Space):
    """The space of one change: it is made, or it is not."""

    def __init__(self, mutation: Mutation) -> None:
        # Whose operator made it matters only for what `mutation` says, which is known.
        place = Place((), (Choice(mutation.edits, cast("Operator", None)),))
        super().__init__(mutation.original, [place], source=mutation.source)
        self._carried = mutation

    def mutation(self, state: State) -> Mutation:  # noqa: ARG002 (there is but one)
        return self._carried


@dataclass(slots=True)
class _Carrying(Hunt):
    """A search that tries one change only."""

    carried: Mutation | None = None

    def _opened(self, job: Job, prompt: Prompt) -> Space:  # noqa: ARG002 (nothing is looked for)
        assert self.carried is not None
        return _Carried(self.carried)


def _it(space: Space, start: Seen, rng: object, at_once: int) -> Any:  # noqa: ARG001 (a method of search)
    yield [(1,) * len(space)]


class _Asking:
    """One target, asked about one change after the other."""

    def __init__(
        self,
        target: AnyTarget,
        objective: AnyObjective,
        times: tuple[int, int],
        parameters: Mapping[str, Any] | None,
        session: Session | None,
        settings: Mapping[str, Any],
    ) -> None:
        self._hunting = Hunting.of(
            _it,
            objective,
            where=_WHERE,
            repeats=times[0],
            baseline_runs=times[1],
            prune=False,
            queries=4 * (1 + sum(times)),  # one change, and what makes sure of it, never need as many
        )
        self._target = target
        self._parameters = parameters
        self._session = session
        self._settings = settings
        self._name = resolve(target).name
        self._searches: list[Search] = []
        self._left_out: list[tuple[str, str]] = []

    @contextmanager
    def about(self, mutation: Mutation) -> Iterator[Evaluation]:
        """One change, to be asked about inside; what was answered is kept."""
        hunt = _Carrying(self._hunting, _WHERE, carried=mutation)
        evaluation = Evaluation(
            mutation.original if mutation.source is None else mutation.source,
            self._target,
            None,
            None,
            None,
            self._settings,
            (None, None, None),
            self._parameters,
            self._session,
            None,
            None,
            job=lambda **job: SearchJob(hunt=hunt, **job),
            where=_WHERE,
        )
        job = evaluation.job
        assert isinstance(job, SearchJob)
        why = ""
        try:
            with evaluation.watched(), intercepting():
                yield evaluation
        except ReachedAlready:
            why = "the unmutated prompt's answer reaches the goal there"
        if job.overruled is not None:
            why = job.overruled.explanation
        search = None if why else job.found()
        if search is not None and not search.conclusive:
            why = search.explanation if search.ended == "noisy" else "the changed prompt got no answer"
        if why or search is None:
            self._left_out.append((mutation.id, why))
        else:
            self._searches.append(search)

    def transfer(self) -> Transfer:
        """What all of it came to."""
        return Transfer(self._name, tuple(self._searches), tuple(self._left_out))
