"""What a table needs of a study, so that one that nothing can fill is refused before anything is asked."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.stats.prompt_accuracy import FEWEST_ANSWERS, FEWEST_PROMPTS
from pytest_promptfuzz.studies.conversations import turn_of
from pytest_promptfuzz.studies.prompting import FACTOR
from pytest_promptfuzz.studies.study import mutations_of
from pytest_promptfuzz.studies.tables.brittlebench_tables import intensity_in, pairs_in, prompting_of
from pytest_promptfuzz.studies.tables.factor_tables import FACTORIAL
from pytest_promptfuzz.studies.tables.sentiment_tables import ENCODING, UNMUTATED, factors_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.study import Study, StudyTask


IN_TESTS = "(in the tests)"
"""Stands for the expected answers of robust tests, which are known when these run."""


class StudyShape(NamedTuple):
    """What a study asks, as far as it decides which tables its cells can fill.

    Attributes:
        models: Their names.
        operators: As the study names them.
        expected: The expected answers that there are.
        qualities: Whether anything measures quality.
        promptings: How models are prompted.
        whole: Whether every change is asked of every input of its task.
        turns: Whether a task is a conversation.
        estimable: Whether the changes of any task get answers enough to estimate how accuracy is distributed.
    """

    models: tuple[str, ...]
    operators: tuple[str, ...]
    expected: frozenset[str]
    qualities: bool
    promptings: tuple[str, ...]
    whole: bool = True
    estimable: bool = True
    turns: bool = False

    @classmethod
    def of_cells(cls, cells: Sequence[Cell]) -> StudyShape:
        """Of cells that were written; files of earlier versions tell what is right, and not what is expected."""
        expected = {each.grades.expected for each in cells} - {""}
        if not expected and any(each.gold is not None for each in cells):
            expected = {"(not kept)"}
        by_parameters = {each.parameters: each for each in cells}
        return cls(
            _once(each.model for each in cells),
            _once(each.operator for each in cells if each.operator),
            frozenset(expected),
            any(each.grades.quality for each in cells)
            or all(each.outcome not in {"minor", "deviation"} for each in cells),
            _once(prompting_of(each) for each in by_parameters.values()),
            _whole(cells),
            turns=any(turn_of(each) for each in {each.task for each in cells}),
        )

    @classmethod
    def of_study(cls, study: Study) -> StudyShape:
        """Of a study that was not run yet."""
        expected = {
            each.expected if isinstance(each.expected, str) else json.dumps(each.expected)
            for task in study.tasks
            for each in task.inputs
            if each.expected is not None
        }
        tests = [found for each in study.tests for found in each.found]
        if any(each.expected for each in tests):
            expected.add(IN_TESTS)
        return cls(
            tuple(each.name for each in study.models),
            _once(
                [change.operator for task in study.tasks for change in study.changes(task)]
                + [name for each in study.tests for name in each.operators]
            ),
            frozenset(expected),
            any(task.measures or task.settings.get("quality") for task in study.tasks)
            or any(each.measures for each in study.tests)
            or any(each.quality for each in tests),
            _once(each.prompting for each in study.models),
            study.cells == 1,
            any(_estimable(study, task) for task in study.tasks),
            any(task.conversation for task in study.tasks),
        )


def _estimable(study: Study, task: StudyTask) -> bool:
    mutations, inputs = len(mutations_of(study.changes(task))), len(task.inputs)
    each = int(study.cells * inputs + 1e-9)  # what each mutation is asked at least
    return mutations >= FEWEST_PROMPTS and min(each, inputs) >= FEWEST_ANSWERS


def _whole(cells: Sequence[Cell]) -> bool:
    """Whether each change has as many cells as its unmutated prompt."""
    counts = Counter((each.task, each.model, each.run, each.operator, each.change.variant) for each in cells)
    return all(
        count >= counts.get((task, model, run, "", 0), 0)
        for (task, model, run, _, _), count in counts.items()
    )


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


class TableNeed(NamedTuple):
    """Something that a table cannot do without.

    Attributes:
        met: Whether a study has it.
        text: What to say where it does not, behind "table NAME needs".
    """

    met: Callable[[StudyShape], object]
    text: str

    def lacks(self, shape: StudyShape) -> str:
        """What a study lacks; empty where it does not."""
        return "" if self.met(shape) else self.text


def _repeated(operators: Iterable[str]) -> bool:
    names = Counter(name for name, level in map(intensity_in, operators) if level is not None)
    return any(count > 1 for count in names.values())


_MODELS = TableNeed(lambda shape: len(shape.models) > 1, "at least two models")
_GOLD = TableNeed(
    lambda shape: shape.expected, "expected answers: give expected= or the column 'expected' of the data"
)
_QUALITY = TableNeed(
    lambda shape: shape.qualities,
    'measures of quality: write measures = ["entity-match"], or judge= and quality=, in [[task]]',
)
_SENTIMENT = TableNeed(
    lambda shape: {each.strip().lower() for each in shape.expected} & {*ENCODING, IN_TESTS},
    f"expected answers among {', '.join(ENCODING)}",
)
_WHOLE = TableNeed(
    lambda shape: shape.whole,
    "every change of every input: leave --cells and cells= out, and --where for changes",
)
_FACTORS = TableNeed(lambda shape: factors_in([UNMUTATED, *shape.operators]), FACTORIAL)
_LANGUAGES = TableNeed(
    lambda shape: any(each.startswith("answer-in-") for each in shape.operators),
    "operators such as answer-in-fr",
)
_PROMPTINGS = TableNeed(
    lambda shape: len(shape.promptings) > 1,
    f'a model that is prompted in two ways: [factors] {FACTOR} = ["none", "cot"]',
)
NEEDS: dict[str, tuple[TableNeed, ...]] = {
    "gold": (_GOLD,),
    "prompt-distribution": (
        _GOLD,
        TableNeed(
            lambda shape: shape.estimable,
            f"a task with {FEWEST_PROMPTS} changes or more, each of which is asked of {FEWEST_ANSWERS} inputs or more: "
            "raise --cells, or give more inputs or changes",
        ),
    ),
    "turns": (TableNeed(lambda shape: shape.turns, 'a conversation: conversation = "all" in [[task]]'),),
    "stability": (_WHOLE,),
    "models": (_MODELS,),
    "brittlebench": (_GOLD,),
    "brittlebench-groups": (_GOLD,),
    "brittlebench-tasks": (_GOLD,),
    "brittlebench-variance": (_GOLD,),
    "ranks": (_MODELS, _GOLD),
    "intensity": (
        TableNeed(
            lambda shape: _repeated(shape.operators),
            "an operator at two intensities or more, such as keyboard-typo:1 and keyboard-typo:3",
        ),
    ),
    "pairs": (
        TableNeed(
            lambda shape: any(
                {one, two, f"{one}+{two}", f"{two}+{one}"} <= {*shape.operators}
                for one, two in pairs_in(shape.operators)
            ),
            "two operators alone and in both orders: keyboard-typo, upper-case, keyboard-typo+upper-case, "
            "upper-case+keyboard-typo",
        ),
    ),
    "promptings": (
        _GOLD,
        _PROMPTINGS,
    ),
    "mitigation": (_PROMPTINGS,),
    "enterprise": (_QUALITY,),
    "enterprise-groups": (_QUALITY,),
    "enterprise-languages": (_QUALITY, _LANGUAGES),
    "enterprise-crosslingual": (_QUALITY, _LANGUAGES),
    "enterprise-formats": (
        _QUALITY,
        TableNeed(
            lambda shape: any(each.startswith("format-") for each in shape.operators),
            "operators such as format-xml",
        ),
    ),
    "factors": (_GOLD, _WHOLE, _FACTORS),
    "sentiment": (_SENTIMENT, _WHOLE),
    "sentiment-variants": (_SENTIMENT, _WHOLE),
    "sentiment-errors": (_SENTIMENT,),
    "sentiment-factors": (
        _SENTIMENT,
        _WHOLE,
        _FACTORS,
    ),
    "sentiment-winner": (_SENTIMENT, _WHOLE),
}
"""What tables need, by name; others take any cells."""
