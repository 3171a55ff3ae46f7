"""A judge at work on one case: each pair of answers that nothing cheaper can tell is put to it once."""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.formats.data_text import plain, text_of
from pytest_promptfuzz.errors import PartError, TargetError
from pytest_promptfuzz.evaluating.judge import spent_on
from pytest_promptfuzz.evaluating.recorded import refuse
from pytest_promptfuzz.judging.model import JudgedPair, Rating
from pytest_promptfuzz.judging.outcome import by_judge, open_to_judge
from pytest_promptfuzz.judging.registry import rated
from pytest_promptfuzz.running.crew import Crew
from pytest_promptfuzz.scoring.trial import Spent
from pytest_promptfuzz.wire.paths import without
from pytest_promptfuzz.wire.recordings.part import JUDGE
from pytest_promptfuzz.wire.watch import watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_promptfuzz.comparing.comparison import Comparison
    from pytest_promptfuzz.evaluating.session import TestWatches
    from pytest_promptfuzz.judging.model import Grader, Judge
    from pytest_promptfuzz.wire.watch import Watch

    Task = Callable[[], Any]


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
        notes: Sentences the person must see.
        said: By pair, its rating, or why there is none.
    """

    judge: Judge
    always: bool
    watches: TestWatches
    prompt: str = ""
    ignore: Sequence[str] = ()
    spent: Spent = field(default_factory=Spent)
    notes: list[str] = field(default_factory=list)
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
                self._note(grade if isinstance(grade, Exception) else f"it graded {each[0]} {grade!r:.40}")

    def grade(self, measure: str, answer: Any) -> int | None:
        """The grade of an answer; ``None`` where the judge failed."""
        return self._grades.get((measure, self._text(answer)))

    def _known(self, pair: JudgedPair) -> JudgedPair:
        """The pair; the other way round if so it was noted or rated, and the relation has no direction."""
        turned = replace(pair, baseline=pair.response, response=pair.baseline)
        known = turned in self.said or (self._noted is not None and turned in self._noted)
        return turned if known and pair.relation != "not-worse" else pair

    def _note(self, why: object) -> None:
        note = f"the judge {self.judge.name} could not grade an answer: {why}"
        if note not in self.notes:
            self.notes.append(note)

    def _text(self, value: Any) -> str:
        return text_of(without(plain(value), self.ignore))

    def _ask(self, pairs: Iterable[JudgedPair]) -> None:
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
