"""`Study`: prompts × data × models × operators × runs, from a TOML file or from Python."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.comparing.profiles import named
from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.evaluating.contract import Contract
from pytest_promptfuzz.evaluating.evaluate import Input, read_inputs
from pytest_promptfuzz.evaluating.setting_kinds import whole
from pytest_promptfuzz.files import parse_toml, read_text
from pytest_promptfuzz.mutations.engine.factorial import factorial
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.studies.cells import AGAIN
from pytest_promptfuzz.studies.conversations import check_conversation, conversation_mutations, turn_places
from pytest_promptfuzz.studies.designs import balanced_cells, fraction_of, read_share
from pytest_promptfuzz.studies.measures import check_expected, check_measures
from pytest_promptfuzz.studies.prompting import (
    DELIMITERS,
    FACTOR,
    UNEDITED,
    WITH_EXAMPLES,
    check_examples,
    check_prompting,
    delimited,
    prompted,
    prompting_name,
)
from pytest_promptfuzz.targets.resolution import CallableTarget, as_request, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.mutations.engine.operator import Operator
    from pytest_promptfuzz.providers.requests import Target, WireRequest
    from pytest_promptfuzz.studies.measures import QualityMeasure


MOST_RUNS = 100
DEFAULT_OPERATORS = ("lexical", "semantic", "structural")
COMPARISON = (
    "task",
    "profile",
    "schema",
    "ignore",
    "equivalent_at",
    "minor_at",
    "tiers",
    "guards",
    "judge",
    "judge_when",
    "judge_repeats",
    "judge_min_agreement",
    "judge_agreement",
    "quality",
)
"""The settings of comparison that a task may have, as on the mark."""


@dataclass(frozen=True, slots=True)
class StudyTask:
    """A prompt with its data.

    Attributes:
        name: In the study.
        prompt: With the slots that the inputs fill.
        inputs: One case each.
        operators: What changes the prompt: names, with intensity (``keyboard-typo:3``) and order (``a+b``), or
            objects; ``again`` asks the unmutated prompt once more.
        mutations: How many of each operator.
        settings: How answers are compared, by name: see ``COMPARISON``.
        factorial: Operators that are also put together in every combination, or a fraction of them, one to eight.
        examples: What few-shot prompts show, with expected answers.
        measures: Of quality, by name, beside those of a judge (``quality``): what a function gives an answer.
        group: Of all its changes, for tables by group; empty where it follows from operators.
        resolution: Of the fraction of the combinations that is asked: 3, 4 or 5; ``None`` for all of them.
        conversation: Which turns of a conversation are changed, ``all``, ``each``, ``first`` or ``last``; empty for a
            prompt that is asked at once.
    """

    name: str
    prompt: Prompt
    inputs: tuple[Input, ...] = (Input(),)
    operators: tuple[str | Operator, ...] = DEFAULT_OPERATORS
    mutations: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    factorial: tuple[str, ...] = ()
    examples: tuple[Input, ...] = ()
    measures: Mapping[str, QualityMeasure] = field(default_factory=dict)
    group: str = ""
    resolution: int | None = None
    conversation: str = ""

    @property
    def turns(self) -> int:
        """How many requests the prompt makes."""
        return len(turn_places(self.prompt.messages)) if self.conversation else 1

    @property
    def asks_again(self) -> bool:
        """Whether the unmutated prompt is asked once more."""
        return AGAIN in self.operators


@dataclass(frozen=True, slots=True)
class StudyModel:
    """A model that is asked, with what its requests ask for.

    Attributes:
        name: In the study; the values of factors stand behind it.
        target: As ``evaluate`` takes it; ``None`` for robust tests that ask a model of their own.
        parameters: Of every request, ``{"temperature": 0}``.
        prompting: ``none``, ``few-shot``, ``few-shot-after``, ``cot``, ``answer-format`` or ``delimiters``.
        environment: Variables that robust tests are run with: an application may read from them whom to ask.
    """

    name: str
    target: str | Target | Callable[..., Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    prompting: str = UNEDITED
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prompting", prompting_name(self.prompting))


class FoundTest(NamedTuple):
    """A robust test that pytest collected.

    Attributes:
        node: Its node ID.
        task: What its cells call it.
        parameters: The ID of its parameters; empty where it has none.
        asks_itself: Whether its own code, or a function that its mark names, makes the requests.
        inputs: The names of its cells' inputs, as far as they are known before it runs.
        expected: Whether it has expected answers.
        quality: Whether anything grades its answers.
    """

    node: str
    task: str
    parameters: str
    asks_itself: bool
    inputs: tuple[str, ...] = ()
    expected: bool = False
    quality: bool = False


@dataclass(frozen=True, slots=True)
class StudyTests:
    """Robust tests whose prompts, data and checks are what is asked; each is a task of the study.

    Attributes:
        paths: Files, folders and node IDs, as pytest takes them.
        operators: Names of what changes their prompts, as of a task.
        mutations: How many of each operator.
        measures: Names of measures of quality.
        group: Of all changes, as of a task.
        found: The tests, once they are collected.
    """

    paths: tuple[str, ...]
    operators: tuple[str, ...] = DEFAULT_OPERATORS
    mutations: int = 1
    measures: tuple[str, ...] = ()
    group: str = ""
    found: tuple[FoundTest, ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks that the tests are, each once."""
        return tuple(dict.fromkeys(each.task for each in self.found))


class TestsUnit(NamedTuple):
    """What one process runs: tests of one model, in one run."""

    tests: StudyTests
    model: StudyModel
    run: int


class StudyUnit(NamedTuple):
    """What is asked together: one task of one model, in one run."""

    task: StudyTask
    model: StudyModel
    run: int


class PlannedChange(NamedTuple):
    """A mutation of a task's plan, under the operator that the study names; ``None`` where that finds no place."""

    operator: str
    variant: int
    mutation: Mutation | None


@dataclass(frozen=True, slots=True)
class Study:
    """What is compared. Every task is asked of every model, in every run.

    Attributes:
        name: For reports and files.
        tasks: At least one, of different names.
        models: Likewise.
        runs: How often everything is asked anew, 1 to 100.
        seed: Of the mutations.
        tests: Robust tests, which are tasks as well.
        cells: The share of the cells, each an input with a change, that is asked; above 0, at most 1. They are drawn
            so that each change and each input has as many as any other. The unmutated prompt is always asked.

    Raises:
        UsageError: There is nothing to ask, a name stands twice, or a number is out of range.
    """

    name: str
    tasks: tuple[StudyTask, ...]
    models: tuple[StudyModel, ...]
    runs: int = 1
    seed: int = 0
    tests: tuple[StudyTests, ...] = ()
    cells: float = 1.0

    def __post_init__(self) -> None:
        for noun, names in (("task", [t.name for t in self.tasks]), ("model", [m.name for m in self.models])):
            if not names and not (noun == "task" and self.tests):
                raise UsageError(f"study {self.name!r} has no {noun}; write [[{noun}]].")
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise UsageError(
                    f"study {self.name!r} has two {noun}s {twice[0]!r}; give each a name of its own."
                )
        whole(1, MOST_RUNS).check("runs", self.runs, f"study {self.name!r}")
        read_share(self.cells, f"study {self.name!r}: cells")
        if self.tests and self.cells != 1:
            raise UsageError(
                f"study {self.name!r}: cells={self.cells} draws cells that the study asks itself, and robust tests ask "
                "their own. Leave it out, or make a study without tests."
            )
        for model in self.models:
            check_prompting(model.prompting, f"study {self.name!r}: model {model.name!r}")
        for task in self.tasks:
            self._check_conversation(task)
            for given in task.inputs:
                on = f": input {given.name}" if given.name else ""
                check_expected(task.measures, given.expected, f"study {self.name!r}: task {task.name!r}{on}")
        for task in self.tasks if any(each.prompting in WITH_EXAMPLES for each in self.models) else ():
            check_examples(task.examples, task.inputs, f"study {self.name!r}: task {task.name!r}")
        for model in self.models:
            self._check_bodies(model)

    def _check_conversation(self, task: StudyTask) -> None:
        where = f"study {self.name!r}: task {task.name!r}"
        if not task.conversation:
            return
        check_conversation(task.prompt, task.conversation, where)
        if task.factorial:
            raise UsageError(f"{where}: factorial= changes a prompt that is asked at once, no conversation=.")
        for model in self.models:
            if model.prompting not in {UNEDITED, DELIMITERS}:
                raise UsageError(
                    f"{where}: {FACTOR}={model.prompting} is for a prompt that is asked at once."
                )

    def _check_bodies(self, model: StudyModel) -> None:
        """See that a model can be asked by prompts and by tests."""
        where = f"study {self.name!r}: model {model.name!r}"
        if self.tasks and model.target is None:
            raise UsageError(
                f"{where} has no target, and the task {self.tasks[0].name!r} asks it; write target=."
            )
        if not self.tests and model.environment:
            raise UsageError(
                f"{where}: environment is for robust tests, and this study has none; leave it out."
            )
        if self.tests and model.prompting != UNEDITED:
            raise UsageError(
                f"{where}: {FACTOR}={model.prompting!r} edits prompts that the study asks itself, and robust tests ask "
                "their own. Leave it out, or make a study without tests."
            )
        if self.tests and not isinstance(model.target, str | None):
            raise UsageError(f"{where}: robust tests ask a model by its name; target= is none.")

    def units(self, shard: tuple[int, int] = (1, 1)) -> list[StudyUnit]:
        """The prompts that are asked, or the part of them in the K-th of N shares of the study."""
        return [each for each in self._share(shard) if isinstance(each, StudyUnit)]

    def test_units(self, shard: tuple[int, int] = (1, 1)) -> list[TestsUnit]:
        """Likewise the robust tests."""
        return [each for each in self._share(shard) if isinstance(each, TestsUnit)]

    def _share(self, shard: tuple[int, int]) -> list[StudyUnit | TestsUnit]:
        number, shards = shard
        asked = [*itertools.product(self.models, range(self.runs))]
        whole: list[StudyUnit | TestsUnit] = [
            *(StudyUnit(task, model, run) for task in self.tasks for model, run in asked),
            *(TestsUnit(tests, model, run) for tests in self.tests for model, run in asked),
        ]
        return whole[number - 1 :: shards]

    def changes(self, task: StudyTask) -> list[PlannedChange]:
        """The mutations of a task, in the order of its operators.

        Raises:
            UsageError: An operator that nobody knows.
        """
        found = planned_changes(task.prompt, task.operators, task.mutations, self.seed, task.conversation)
        return found + self._combinations(task)

    def asked(self, task: StudyTask, changes: Iterable[PlannedChange]) -> list[list[Mutation]]:
        """The mutations that each input of a task is asked with, the same ones of every model and in every run.

        Args:
            task: Of the study.
            changes: What :meth:`changes` gives for it.
        """
        mutations, inputs = mutations_of(changes), range(len(task.inputs))
        if self.cells == 1:
            return [mutations for _ in inputs]
        rng = Rng(root_key(self.seed, task.name), "cells")
        drawn = {*balanced_cells(len(mutations), len(inputs), self.cells, rng)}
        return [[each for row, each in enumerate(mutations) if (row, column) in drawn] for column in inputs]

    def _combinations(self, task: StudyTask) -> list[PlannedChange]:
        """Combinations of the task's factorial operators, each of which changes the same words in all of them."""
        if not task.factorial:
            return []
        try:
            fraction = fraction_of(len(task.factorial), task.resolution)
            levels = {name: (None, name) for name in task.factorial}
            design = factorial(task.prompt, levels, fraction=fraction, seed=self.seed)
        except UsageError as error:
            raise UsageError(f"task {task.name!r}: {error}") from None
        return [
            PlannedChange("+".join(name for name in design.factors if run.levels[name] > 0), 0, run.mutation)
            for run in design.runs
            if run.mutation is not None
        ]


def planned_changes(
    prompt: Prompt, operators: Iterable[str | Operator], mutations: int, seed: int, conversation: str = ""
) -> list[PlannedChange]:
    """The mutations of a prompt, in the order of the operators.

    Args:
        prompt: As far as it may change.
        operators: Names, or objects.
        mutations: How many of each.
        seed: Of the mutations.
        conversation: Which turns change, where the prompt is a conversation.

    Raises:
        UsageError: An operator that nobody knows.
    """
    found = []
    for operator in operators:
        if operator == AGAIN:
            found.append(PlannedChange(AGAIN, 0, None))
            continue
        if conversation:
            parts = conversation_mutations(prompt, operator, mutations, conversation, seed)
        else:
            name = operator if isinstance(operator, str) else operator.name
            parts = [(name, [*plan(prompt, mutations, seed=seed, operators=[operator]).mutations])]
        for name, made in parts:
            found += [PlannedChange(name, number, each) for number, each in enumerate(made)]
            found += [] if made else [PlannedChange(name, 0, None)]
    return found


def sampled(study: Study, count: int) -> Study:
    """A study of ``count`` inputs of each task, drawn so that each expected answer keeps its share of them.

    Args:
        study: The whole.
        count: At least 1; tasks that have fewer inputs keep them all.

    Raises:
        UsageError: The count is less than 1.
    """
    if count < 1:
        raise UsageError(f"study {study.name!r}: sample={count}; give a whole number of 1 or more.")
    if study.tests:
        raise UsageError(
            f"study {study.name!r}: a sample is of inputs, and robust tests have their own. Name the tests that are to "
            "run, such as tests/test_triage.py::test_triage[case], or leave --sample out."
        )
    return replace(
        study, tasks=tuple(replace(each, inputs=_drawn(each, count, study.seed)) for each in study.tasks)
    )


def _drawn(task: StudyTask, count: int, seed: int) -> tuple[Input, ...]:
    strata: dict[str, list[int]] = {}
    for number, each in enumerate(task.inputs):
        strata.setdefault(json.dumps(each.expected, sort_keys=True), []).append(number)
    rng = Rng(root_key(seed, task.name), "sample")
    total = len(task.inputs)
    if count >= total:
        return task.inputs
    # Largest remainder: every stratum has its share, rounded so that the shares add up.
    exact = {name: len(numbers) * count / total for name, numbers in strata.items()}
    shares = {name: int(share) for name, share in exact.items()}
    rest = sorted(exact, key=lambda name: shares[name] - exact[name])[: count - sum(shares.values())]
    chosen: list[int] = []
    for name, numbers in strata.items():
        left = list(numbers)
        chosen += [left.pop(rng.below(len(left))) for _ in range(shares[name] + (name in rest))]
    return tuple(task.inputs[number] for number in sorted(chosen))


def mutations_of(changes: Iterable[PlannedChange]) -> list[Mutation]:
    """The mutations of a plan, each once: two operators may make the same."""
    return list({each.mutation.id: each.mutation for each in changes if each.mutation is not None}.values())


def requests(unit: StudyUnit, asked: Sequence[Sequence[Mutation]]) -> list[list[WireRequest]]:
    """The requests of a unit by input, the unmutated prompt's first; none of a function of the application."""
    target = resolve(unit.model.target)
    if isinstance(target, CallableTarget):
        return []
    return [
        [
            target.prepare(
                as_request(
                    prompted(
                        given.put_into(prompt), unit.model.prompting, unit.task.examples, unit.task.inputs
                    ),
                    **unit.model.parameters,
                )
            )
            for prompt in (unit.task.prompt, *(each.prompt for each in mutations))
        ]
        for given, mutations in zip(delimited(unit.task.inputs, unit.model.prompting), asked, strict=True)
    ]


# The file


_KEYS = ("name", "runs", "seed", "cells", "operators", "mutations", "task", "model", "factors")
_TASK_KEYS = (
    "name",
    "prompt",
    "inputs",
    "expected",
    "operators",
    "mutations",
    "factorial",
    "examples",
    "measures",
    "group",
    "resolution",
    "conversation",
)
_TESTS_KEYS = ("tests", "operators", "mutations", "measures", "group")
_MODEL_KEYS = ("name", "target", "parameters", "environment")


def read_study(path: Path, profiles: Mapping[str, Profile] | None = None) -> Study:
    """The study that a TOML file describes; paths in it are relative to it.

    Args:
        path: The file.
        profiles: The project's own profiles, which ``task`` and ``profile`` may name.

    Raises:
        UsageError: The file cannot be read, a key is unknown or of another type, or a part of the study is wrong.
    """
    where = str(path)
    table = _table(path)
    _check_keys(table, _KEYS, where)
    operators = _operators(table["operators"], where) if "operators" in table else None
    mutations = whole(1).check("mutations", table.get("mutations", 1), where)
    bodies = [
        _tests(each, path.parent, (operators, mutations), f"{where}: [[task]] {number}")
        if "tests" in each
        else _task(each, path.parent, (operators, mutations), profiles or {}, f"{where}: [[task]] {number}")
        for number, each in enumerate(_tables(table, "task", where), 1)
    ]
    models = [
        _model(each, f"{where}: [[model]] {number}")
        for number, each in enumerate(_tables(table, "model", where), 1)
    ]
    try:
        return Study(
            _text(table, "name", path.stem, where),
            tuple(each for each in bodies if isinstance(each, StudyTask)),
            tuple(crossed(models, _factors(table, where))),
            runs=table.get("runs", 1),
            seed=whole(0).check("seed", table.get("seed", 0), where),
            cells=read_share(table.get("cells", 1.0), "cells"),
            tests=tuple(each for each in bodies if isinstance(each, StudyTests)),
        )
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def crossed(models: Sequence[StudyModel], factors: Mapping[str, Sequence[Any]]) -> list[StudyModel]:
    """Every model with every combination of the factors' values, which are parameters of its requests."""
    if FACTOR in factors:
        factors = {**factors, FACTOR: [*map(prompting_name, factors[FACTOR])]}
    return [
        replace(
            model,
            name=" ".join([model.name, *(f"{name}={_shown(value)}" for name, value in values.items())]),
            parameters={
                **model.parameters,
                **{name: value for name, value in values.items() if name != FACTOR},
            },
            prompting=values.get(FACTOR, model.prompting),
        )
        for model in models
        for values in (dict(zip(factors, each, strict=True)) for each in itertools.product(*factors.values()))
    ]


def mitigated(study: Study, edits: Sequence[str]) -> Study:
    """A study of which every model is asked under each edit of the prompt.

    Raises:
        UsageError: A model is prompted in several ways already, or there are no examples for few-shot prompts.
    """
    if study.tests:
        raise UsageError(
            f"study {study.name!r}: --mitigate edits prompts that the study asks itself, and robust tests ask theirs. "
            "Leave it out, or make a study without tests."
        )
    if any(each.prompting != UNEDITED for each in study.models):
        raise UsageError(
            f"study {study.name!r}: {FACTOR} is a factor of the study already; leave --mitigate out."
        )
    return replace(study, models=tuple(crossed(study.models, {FACTOR: edits})))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _table(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(read_text(path))
    except FileNotFoundError:
        raise UsageError(
            f"There is no study file '{path}'; relative paths start at '{Path.cwd()}'."
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        raise UsageError(f"{path} is no TOML: {error}.") from None


def _task(
    table: dict[str, Any],
    folder: Path,
    default: tuple[tuple[str, ...] | None, int],
    profiles: Mapping[str, Profile],
    where: str,
) -> StudyTask:
    _check_keys(table, (*_TASK_KEYS, *COMPARISON), where)
    given = table.get("prompt")
    if isinstance(given, str) and given.strip():
        prompt = as_prompt(given) if _is_text(given) else Prompt.from_file(folder / given)
    elif isinstance(given, list):
        prompt = as_prompt(given)
    else:
        raise UsageError(f"{where}: prompt={given!r:.60}; give a file, a text or a list of chat messages.")
    name = _text(table, "name", prompt.name or "task", where)
    settings = named({key: table[key] for key in COMPARISON if key in table}, profiles, where)
    if isinstance(settings.get("judge_agreement"), str):
        settings = {**settings, "judge_agreement": str(folder / settings["judge_agreement"])}
    Contract.of(settings, where=where)
    inputs, examples = table.get("inputs"), table.get("examples")
    combined = _operators(table["factorial"], where, "factorial") if "factorial" in table else ()
    alone = default[0]
    if alone is None:
        alone = () if combined else DEFAULT_OPERATORS
    return StudyTask(
        name,
        prompt,
        read_inputs(
            folder / inputs if isinstance(inputs, str) else inputs, prompt, where, table.get("expected")
        ),
        _operators(table["operators"], where) if "operators" in table else alone,
        whole(1).check("mutations", table.get("mutations", default[1]), where),
        settings,
        combined,
        ()
        if examples is None
        else read_inputs(
            folder / examples if isinstance(examples, str) else examples, prompt, f"{where}: examples"
        ),
        check_measures(table.get("measures", ()), where),
        _text(table, "group", "", where) if "group" in table else "",
        _resolution(table, combined, where),
        _text(table, "conversation", "", where) if "conversation" in table else "",
    )


def _tests(
    table: dict[str, Any], folder: Path, default: tuple[tuple[str, ...] | None, int], where: str
) -> StudyTests:
    for key in table:
        if key in (*_TASK_KEYS, *COMPARISON) and key not in _TESTS_KEYS:
            raise UsageError(
                f"{where}: {key}= is for prompts that the study asks itself. Robust tests have theirs: leave it out, "
                "or write it in @robust."
            )
    _check_keys(table, _TESTS_KEYS, where)
    given = table["tests"]
    paths = [given] if isinstance(given, str) else given
    if not isinstance(paths, list) or not paths or not all(isinstance(each, str) and each for each in paths):
        raise UsageError(
            f"{where}: tests={given!r:.60}; give a file, a folder or a node ID of pytest, or a list of them."
        )
    for each in paths:
        if not (folder / each.partition("::")[0]).exists():
            raise UsageError(
                f"{where}: there are no tests {each!r}; relative paths start at '{folder.absolute()}'."
            )
    return StudyTests(
        tuple(str((folder / each).absolute()) for each in paths),
        _operators(table["operators"], where) if "operators" in table else default[0] or DEFAULT_OPERATORS,
        whole(1).check("mutations", table.get("mutations", default[1]), where),
        tuple(check_measures(table.get("measures", ()), where)),
        _text(table, "group", "", where) if "group" in table else "",
    )


def _resolution(table: Mapping[str, Any], combined: Sequence[str], where: str) -> int | None:
    resolution: int | None = table.get("resolution")
    if resolution is not None and len(combined) < 3:
        raise UsageError(f"{where}: resolution= is for factorial= with three operators or more.")
    try:
        fraction_of(len(combined), resolution)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    return resolution


def _is_text(given: str) -> bool:
    """Whether a prompt is the text itself: it has several lines, or several words and no suffix of a file."""
    return "\n" in given or (" " in given.strip() and Path(given).suffix not in {".txt", ".md", ".json"})


def _model(table: dict[str, Any], where: str) -> StudyModel:
    _check_keys(table, _MODEL_KEYS, where)
    target = table.get("target")
    if not isinstance(target, str | None) or target == "":
        raise UsageError(
            f"{where}: target={target!r:.60}; name a model, such as openai:gpt-5-mini or simulated."
        )
    try:
        if target is not None:
            resolve(target)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    parameters, environment = table.get("parameters", {}), table.get("environment", {})
    if not isinstance(parameters, dict):
        raise UsageError(f"{where}: parameters={parameters!r:.60}; give a table, {{ temperature = 0 }}.")
    if not isinstance(environment, dict) or not all(isinstance(each, str) for each in environment.values()):
        raise UsageError(
            f"{where}: environment={environment!r:.60}; give a table of texts, {{ APP_MODEL = 'gpt-5-mini' }}."
        )
    name = _text(table, "name", "application" if target is None else target, where)
    return StudyModel(name, target, parameters, environment=environment)


def _factors(table: dict[str, Any], where: str) -> dict[str, list[Any]]:
    factors = table.get("factors", {})
    if not isinstance(factors, dict):
        raise UsageError(f"{where}: factors={factors!r:.60}; write [factors] and lists of values below it.")
    for name, values in factors.items():
        if not isinstance(values, list) or not values:
            raise UsageError(f"{where}: factor {name}={values!r:.60}; give a list of values.")
    return factors


def _operators(given: Any, where: str, key: str = "operators") -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(each, str) for each in given):
        raise UsageError(f"{where}: {key}={given!r:.60}; give a list of names.")
    twice = sorted({name for name in given if given.count(name) > 1})
    if twice:
        raise UsageError(f"{where}: {key} names {twice[0]!r} twice; raise mutations= for more of each.")
    for name in given:
        if name == AGAIN and key == "operators":
            continue
        try:
            plan("Say what this text is about.", 1, operators=[name])
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
    return tuple(given)


def _tables(table: dict[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    found = table.get(name)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise UsageError(f"{where}: no [[{name}]]; a study needs at least one task and one model.")
    return found


def _text(table: dict[str, Any], key: str, default: str, where: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise UsageError(f"{where}: {key}={value!r:.60}; give a text of one line.")
    return value


def _check_keys(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: unknown key {key!r}. {nearest(key, known)}")
