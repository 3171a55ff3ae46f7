"""Robust tests as the body of a study: pytest runs them in a process for each model and run, which makes their cells.

A process of its own, because an application keeps what it read and was answered (module variables, caches, clients):
the second model and the second run are to find none of it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.running.limits.budget import SharedLedger
from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings
from pytest_promptfuzz.studies.answer_cells import CellFrame, unasked_cells
from pytest_promptfuzz.studies.cells import AGAIN, cell_of
from pytest_promptfuzz.studies.study import FoundTest
from pytest_promptfuzz.targets.resolution import resolve
from pytest_promptfuzz.targets.simulated import SimulatedTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.study import Study, StudyModel, StudyTests, TestsUnit


COMMAND = "pytest_promptfuzz.plugin.study_runs"
"""What runs the tests; a process of its own, so that nothing is imported from a room above."""
_LAST_WORDS = 20.0  # seconds that a process is given to end after Ctrl-C


class TestsPrice(NamedTuple):
    """What the tests of a unit ask; see ``runner.StudyPrice``. ``exact`` is whether all of it is known."""

    calls: int
    stored: int
    tokens: int
    low: float | None
    high: float | None
    exact: bool


NO_CALLS = TestsPrice(0, 0, 0, 0.0, 0.0, exact=True)


class AskedModel(NamedTuple):
    """The model of a unit.

    Attributes:
        name: In the study.
        target: Its target; empty for the application's own.
        parameters: Of every request.
    """

    name: str = ""
    target: str = ""
    parameters: Mapping[str, Any] = MappingProxyType({})


class ProcessSettings(NamedTuple):
    """How a process asks.

    Attributes:
        mode: ``auto`` or ``live``.
        folder: Where answers are stored.
        concurrency: The most calls at once.
        limits: As :class:`~pytest_promptfuzz.running.limits.limits.Settings` has them.
        books: The file in which processes count what they spend together; empty where nothing is spent.
    """

    mode: str = "auto"
    folder: str = ""
    concurrency: int = 1
    limits: Mapping[str, Any] = MappingProxyType({})
    books: str = ""


class TestsOrder(NamedTuple):
    """What a process is told, as JSON. It holds no secret but what a person wrote into the study.

    Attributes:
        action: ``collect``, ``price`` or ``run``.
        study: The study's name.
        paths: The tests, as pytest takes them.
        names: Of the tests that were collected, by node ID: those of their tasks.
        operators: What changes their prompts.
        mutations: How many of each.
        seed: Of the mutations.
        measures: Of quality, by name.
        group: Of all changes; empty where it follows from operators.
        model: Who is asked.
        run: Which run, from 0.
        process: How.
    """

    action: str
    study: str
    paths: tuple[str, ...]
    names: Mapping[str, str]
    operators: tuple[str, ...]
    mutations: int
    seed: int
    measures: tuple[str, ...]
    group: str = ""
    model: AskedModel = AskedModel()
    run: int = 0
    process: ProcessSettings = ProcessSettings()

    @classmethod
    def of(cls, study: Study, tests: StudyTests, action: str) -> TestsOrder:
        """What is to be done with the tests of a study."""
        names = {each.node: each.task for each in tests.found}
        return cls(
            action,
            study.name,
            tests.paths,
            names,
            tests.operators,
            tests.mutations,
            study.seed,
            tests.measures,
            tests.group,
        )

    def for_unit(self, unit: TestsUnit, session: Session, concurrency: int, books: SharedBooks) -> TestsOrder:
        """The same for one model, in one run."""
        model = unit.model
        return self._replace(
            model=AskedModel(model.name, str(model.target or ""), dict(model.parameters)),
            run=unit.run,
            process=ProcessSettings(
                session.mode, books.folder, concurrency, asdict(books.settings), books.file
            ),
        )

    def to_json(self) -> str:
        """The order as text."""
        model, process = self.model, self.process
        rows = self._asdict() | {
            "model": model._asdict() | {"parameters": dict(model.parameters)},
            "process": process._asdict() | {"limits": dict(process.limits)},
        }
        return json.dumps(rows)

    @classmethod
    def from_json(cls, text: str) -> TestsOrder:
        """The order that a text holds."""
        rows = json.loads(text)
        model, process = AskedModel(**rows.pop("model")), ProcessSettings(**rows.pop("process"))
        return cls(**rows, model=model, process=process)


def collected(study: Study, tell: Callable[[str], object]) -> Study:
    """A study whose robust tests are known by name. pytest collects them; none is run.

    Args:
        study: Any; one without tests is returned as it is.
        tell: Takes a sentence on each test that is left out.

    Raises:
        UsageError: pytest cannot collect them, none is robust, two have one name, or a model cannot be asked by them.
    """
    if not study.tests or all(each.found for each in study.tests):
        return study
    tests = tuple(_collected(study, each, tell) for each in study.tests)
    names = [task.name for task in study.tasks] + [name for each in tests for name in each.tasks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"study {study.name!r}: the task {twice[0]!r} stands in it twice; leave one of them out."
        )
    for each in tests:
        for found in each.found:
            for model in study.models:
                _check(found, model, f"study {study.name!r}: test {found.node}")
    return replace(study, tests=tests)


def _collected(study: Study, tests: StudyTests, tell: Callable[[str], object]) -> StudyTests:
    for path in tests.paths:
        file = path.partition("::")[0]
        if not Path(file).exists():
            raise UsageError(f"study {study.name!r}: there are no tests '{file}'.")
    found: list[FoundTest] = []
    left: list[str] = []
    for told in _told(TestsOrder.of(study, tests, "collect"), study.models[0].environment):
        if "left" in told:
            left.append(f"{told['left']} is left out: {told['why']}")
        else:
            found.append(FoundTest(**{**told["test"], "inputs": tuple(told["test"]["inputs"])}))
    shown = " ".join(tests.paths)
    if not found:
        why = f" {left[0]}." if left else ""
        raise UsageError(f"study {study.name!r}: tests = {shown!r} selects no robust test.{why}")
    for each in left:
        tell(each)
    return replace(tests, found=_with_short_names(found))


def _with_short_names(found: Sequence[FoundTest]) -> tuple[FoundTest, ...]:
    """Tests whose tasks are called by their functions' names; by file, too, where two files have the same."""
    files: dict[str, set[str]] = {}
    for each in found:
        file, _, name = each.task.partition("::")
        files.setdefault(name, set()).add(file)
    return tuple(
        each._replace(task=name) if len(files[name := each.task.partition("::")[2]]) == 1 else each
        for each in found
    )


def _check(test: FoundTest, model: StudyModel, where: str) -> None:
    """See that a test can ask a model.

    Raises:
        UsageError: What the study says of the model would have no effect, and the table would be wrong.
    """
    simulated = model.target is not None and isinstance(resolve(model.target), SimulatedTarget)
    if test.asks_itself and model.parameters:
        raise UsageError(
            f"{where} makes its own requests, so that parameters of the model {model.name!r} "
            f"({', '.join(model.parameters)}) have no effect. Take `llm` or `response`, or set them in the application "
            "by environment = { NAME = 'value' } of the model."
        )
    if test.asks_itself and model.target is not None and not simulated and not model.environment:
        raise UsageError(
            f"{where} makes its own requests, and target = {str(model.target)!r} does not change whom it asks. Take "
            "`llm` or `response`, or write environment = { NAME = 'value' }, which the application reads, in "
            f"[[model]] {model.name!r}."
        )
    if not test.asks_itself and model.target is None:
        raise UsageError(
            f"{where} asks the model of the study, and {model.name!r} has no target; write target=."
        )


def expected_cells(tests: StudyTests) -> int:
    """How many answers a unit of tests has, about: prompts may have no place for an operator."""
    changes = sum(1 if each == AGAIN else tests.mutations for each in tests.operators)
    return sum(max(1, len(each.inputs)) for each in tests.found) * (1 + changes)


def price_of_tests(study: Study, unit: TestsUnit, session: Session, settings: Settings) -> TestsPrice:
    """What a unit costs. The bodies run up to their first request that has no answer; nothing is asked.

    Raises:
        UsageError: pytest cannot run the tests.
    """
    with shared_books(session, settings) as books:
        order = TestsOrder.of(study, unit.tests, "price").for_unit(unit, session, 1, books)
        (told,) = _told(order, unit.model.environment)
    return TestsPrice(**told["price"])


def cells_of_tests(
    study: Study,
    unit: TestsUnit,
    session: Session,
    concurrency: int,
    books: SharedBooks,
    progress: Callable[[int], object],
) -> list[Cell]:
    """The cells of a unit.

    Args:
        study: The whole.
        unit: Which tests, model and run.
        session: Its mode and store.
        concurrency: The most calls at once.
        books: Limits, and where it is counted what is spent.
        progress: Told of each test how many cells it has.

    Raises:
        UsageError: pytest cannot run the tests.
    """
    cells: list[Cell] = []
    done: set[str] = set()
    order = TestsOrder.of(study, unit.tests, "run").for_unit(unit, session, concurrency, books)
    try:
        for told in _told(order, unit.model.environment):
            cells += [cell_of(row, "a test's cell") for row in told["cells"]]
            done.add(told["test"])
            progress(len(told["cells"]))
    except (
        ConfigurationError
    ) as died:  # a test ended it; those before it, and other units, have their answers
        for each in unit.tests.found:
            frame = CellFrame.of(study.name, each.task, unit.model, unit.run, unit.tests.group)
            for name in each.inputs if each.node not in done else ():
                cells += unasked_cells(frame, name, unit.tests.operators, str(died))
    return cells


class SharedBooks(NamedTuple):
    """What processes share: limits, the file of what they spend, and the folder of stored answers."""

    settings: Settings
    file: str
    folder: str


@contextmanager
def shared_books(session: Session, settings: Settings) -> Iterator[SharedBooks]:
    """Have a session and the processes that run tests count together, while the block lasts."""
    gate = session.gate
    near = getattr(session.store, "near", session.store)
    folder = getattr(near, "directory", None)
    with tempfile.TemporaryDirectory(prefix="promptfuzz-") as own:
        file = Path(own) / "books.db"
        ledger = SharedLedger(file, lambda text: sys.stderr.write(f"promptfuzz: {text}\n"))
        before = gate.ledger if isinstance(gate, SessionLimits) else None
        if isinstance(gate, SessionLimits):
            gate.ledger = ledger
        try:
            yield SharedBooks(
                settings, str(file), str(Path(folder).absolute() if folder is not None else own)
            )
        finally:
            if isinstance(gate, SessionLimits) and before is not None:
                gate.ledger = before
            ledger.close()


# The process


def _told(order: TestsOrder, environment: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What a process says of an order, as it says it.

    Raises:
        UsageError: pytest cannot do it; the message has what it printed.
        ConfigurationError: The process died.
    """
    with (
        tempfile.TemporaryFile() as printed,
        subprocess.Popen(  # noqa: S603 - this Python, and a module of ours
            [sys.executable, "-m", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            env={**os.environ, **environment},
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        done = False
        try:
            process.stdin.write(order.to_json().encode("ascii"))
            process.stdin.close()
            for line in process.stdout:
                told = json.loads(line)
                _refuse(told)
                done = "done" in told
                if not done:
                    yield told
        except BaseException:  # Ctrl-C may have reached this process alone
            _end(process)
            raise
        if not done:
            printed.seek(0)
            said = printed.read().decode("utf-8", "replace").strip().splitlines()
            raise ConfigurationError(
                f"the process that runs the tests ended with exit code {process.wait()}: "
                f"{said[-1] if said else 'it said nothing'}"
            )


def _refuse(told: dict[str, Any]) -> None:
    if "error" in told:
        raise UsageError(told["error"])


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
    try:
        process.wait(_LAST_WORDS)
    except subprocess.TimeoutExpired:
        process.kill()
