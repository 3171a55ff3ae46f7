"""The calls of a sync body, made before it asks: after the baseline and one mutation, those of all others at once.

The bodies still run one after the other and make every call that was not foretold themselves. A foretold call that its
body does not ask for ends it: nothing more is foretold.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pytest_promptfuzz.running.speculation.rule import Foretold, Shown, learn
from pytest_promptfuzz.wire.early import Early, when_ended
from pytest_promptfuzz.wire.key import exchange_key
from pytest_promptfuzz.wire.trace import Borrowing, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.running.crew import Crew
    from pytest_promptfuzz.running.run import Run, Step
    from pytest_promptfuzz.running.speculation.rule import Rule
    from pytest_promptfuzz.targets.model import Response
    from pytest_promptfuzz.wire.exchange import Exchange
    from pytest_promptfuzz.wire.trace import Passed
    from pytest_promptfuzz.wire.watch import Watch

_MOST_TRIES = 3  # runs from which a rule is learned, if it does not follow from the first


class Apart(Protocol):
    """Makes a watch for a call that is made before its run asks."""

    def __call__(self, *, repeat: int, read: bool, ignore: Sequence[str]) -> Watch:
        """The watch."""
        ...


@dataclass(slots=True, eq=False)
class _Trial:
    """A run to come, what was foretold of it, and the answers that are there."""

    step: Step
    foretold: dict[int, tuple[str, int]] = field(default_factory=dict)
    early: dict[int, Early] = field(default_factory=dict)
    answers: dict[int, Response] = field(default_factory=dict)
    over: bool = False


class Speculation:
    """Watches the runs of one case in sequence, and makes calls of those to come.

    Args:
        crew: Makes them.
        limit: The most at once.
        apart: Makes the watch of each.

    Attributes:
        wrong: Whether a run did not ask what was foretold of it; from then on nothing is.
        made: How many calls were made.
        unused: What saw those that no run asked for.
    """

    def __init__(self, crew: Crew, limit: int, apart: Apart) -> None:
        self.wrong = False
        self.made = 0
        self.unused: list[Watch] = []
        self._crew = crew
        self._limit = limit
        self._apart = apart
        self._baseline: Shown | None = None
        self._repeats = False
        self._rule: Rule | None = None
        self._tries = 0
        self._trials: dict[Watch, _Trial] = {}
        self._keys: set[str] = set()
        self._borrowing = Borrowing()
        self._sent: list[Early] = []
        # Runs of the body and the threads that make calls meet here.
        self._lock = threading.RLock()

    def begin(self, batch: Sequence[Step]) -> None:
        """A batch of runs is about to be made, one after the other."""
        for step in batch:
            step.watch.trace = Trace(self._borrowing)
            self._borrowing.more |= _is_baseline(step)
        samples = [step for step in batch if step.watch.repeat and not step.watch.part.trial]
        if self._repeats and not self.wrong:
            self._foretell_samples(samples)
        if self._rule is not None and not self.wrong:
            self._foretell_trials(self._rule, [step for step in batch if step.watch.part.trial])

    def ran(self, step: Step, run: Run, rest: Sequence[Step]) -> None:
        """A run was made.

        Args:
            step: The run.
            run: What came of it.
            rest: The runs of the batch that are still to be made.
        """
        watch = step.watch
        shown = _shown(step, run)
        watch.trace = None
        if _is_baseline(step):
            self._baseline, self._rule, self._tries, self._repeats = shown, None, 0, False
            self._keys.clear()
        elif watch.part.trial:
            self._settle(shown)
            if self._rule is not None:
                self._confirm(self._rule, shown)
            elif rest and self._tries < _MOST_TRIES and not self.wrong:
                self._learn(shown, rest)
        elif watch.sealed:
            self._controlled(shown)
        else:
            self._settle(shown)

    def close(self) -> None:
        """No run will be made any more: what is not begun is not."""
        with self._lock:
            for trial in self._trials.values():
                self._count(trial)
            self._trials.clear()
            self._baseline = self._rule = None
        self._borrowing.more = False
        when_ended(self._sent, self._borrowing.give_back)

    def _controlled(self, control: Shown) -> None:
        """The unmutated body was run again: only one that asks the same again, in its own order, can be foretold."""
        baseline = self._baseline
        self._repeats = (
            baseline is not None
            and all(each.exchange.order.on_line for each in baseline.passed)
            and Counter(_keys(control)) == Counter(_keys(baseline))
        )
        if not self._repeats:
            self._borrowing.more = False
            self._borrowing.give_back()

    def _learn(self, shown: Shown, rest: Sequence[Step]) -> None:
        """Learn how requests follow, from a run that had to ask, and make those of the runs to come."""
        if self._baseline is None or not self._repeats or not shown.watch.misses:
            return
        self._tries += 1
        rule = learn(self._baseline, shown)
        if rule is None:
            return
        self._rule = rule
        self._borrowing.more = False
        if not self._sent:
            self._borrowing.give_back(rule.transports)
        self._foretell_trials(rule, rest)

    def _foretell_trials(self, rule: Rule, steps: Sequence[Step]) -> None:
        """Make the calls of runs to come that follow from the rule."""
        trials = [_Trial(step) for step in steps]
        with self._lock:
            self._trials |= {trial.step.watch: trial for trial in trials}
            found = [each for trial in trials for each in self._next(trial, rule)]
            self._send(found)

    def _confirm(self, rule: Rule, shown: Shown) -> None:
        """Whether a run that was left to itself shows that the rule holds for such runs, too."""
        self._rule = rule.confirmed(shown)
        if self._rule.sure and not rule.sure:
            with self._lock:
                found = [each for trial in self._trials.values() for each in self._next(trial, self._rule)]
                self._send(found)

    def _foretell_samples(self, steps: Sequence[Step]) -> None:
        """The first request of each further sample of the baseline is that of the first one."""
        first = self._baseline.passed[:1] if self._baseline is not None else ()
        for passed in first:
            if passed.way is None:
                return
            exchange = passed.exchange
            with self._lock:
                found = []
                for step in steps:
                    trial = self._trials[step.watch] = _Trial(step)
                    foretold = Foretold(passed.way, exchange.wire.url, exchange.wire.body, exchange.digest)
                    found += self._foretell(trial, 0, foretold)
                self._send(found)

    def _next(self, trial: _Trial, rule: Rule) -> list[Early]:
        """What can be foretold of a run by now, and has to be asked. The lock is held."""
        found: list[Early] = []
        if trial.over or self.wrong:
            return found
        step = trial.step
        for number in range(len(rule.requests)):
            if number not in trial.foretold:
                foretold = rule.foretell(number, step.prompt, trial.answers, step.watch)
                if foretold is not None:
                    found += self._foretell(trial, number, foretold)
        return found

    def _foretell(self, trial: _Trial, number: int, foretold: Foretold) -> list[Early]:
        """Note a request of a run; the call, if it has to be made."""
        watch, digest = trial.step.watch, foretold.digest
        nth = sum(known == digest for known, _ in trial.foretold.values())
        trial.foretold[number] = digest, nth
        stored = watch.lookup(digest, nth)
        key = exchange_key(digest, watch.repeat, nth)
        if stored is not None or key in self._keys:
            return []  # of two runs that ask the same, the second finds the first's answer
        self._keys.add(key)

        def answered(exchange: Exchange) -> None:
            self._answered(trial, number, exchange)

        apart = self._apart(repeat=watch.repeat, read=watch.read, ignore=watch.ignore)
        early = Early(foretold.way, foretold.body, apart, digest, nth, answered)
        trial.early[number] = watch.early[digest, nth] = early
        return [early]

    def _answered(self, trial: _Trial, number: int, exchange: Exchange) -> None:
        """A call was answered: what quotes its answer can be foretold, before the run has it. In a crew's thread."""
        if exchange.response is None or self._rule is None:
            return
        with self._lock:
            trial.answers[number] = exchange.response
            if self._rule is not None:
                self._send(self._next(trial, self._rule))

    def _send(self, calls: Sequence[Early]) -> None:
        gate = calls[0].watch.gate if calls else None
        if gate is not None and not gate.spares([each.outgoing for each in calls]):
            for each in calls:
                each.cancel()
            return
        self._sent += calls
        for each in calls:
            self._crew.add(each, self._limit)

    def _settle(self, shown: Shown) -> None:
        """A run was made: did it ask what was foretold?"""
        with self._lock:
            trial = self._trials.pop(shown.watch, None)
            if trial is None:
                return
            self._count(trial)
            missed = Counter(trial.foretold.values()) - Counter(_keys(shown))
            rule = self._rule
            whole = rule is not None and rule.whole and len(trial.foretold) == len(rule.requests)
            if missed or (whole and len(trial.foretold) < len(shown.passed)):
                self._stop()

    def _stop(self) -> None:
        """A run asked otherwise: begin nothing more; what is under way is there for whoever asks."""
        self.wrong = True
        for trial in self._trials.values():
            for early in trial.early.values():
                early.cancel()

    def _count(self, trial: _Trial) -> None:
        trial.over = True
        trial.step.watch.early.clear()
        for early in trial.early.values():
            early.cancel()
            self.made += early.sent
            if early.sent and not early.adopted:
                self.unused.append(early.watch)


def _shown(step: Step, run: Run) -> Shown:
    passed: dict[tuple[str, int], Passed] = {}
    for each in step.watch.trace.passed if step.watch.trace is not None else ():
        passed.setdefault(each.key, each)
    return Shown(step.prompt, step.watch, tuple(passed.values()), run.fillings)


def _is_baseline(step: Step) -> bool:
    return not (step.watch.part.trial or step.watch.sealed or step.watch.repeat)


def _keys(shown: Shown) -> list[tuple[str, int]]:
    return [each.key for each in shown.passed]
