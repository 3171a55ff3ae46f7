"""Gold answers (``expected=``): read for each input, and compared with what was answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.formats.data_text import plain
from pytest_promptfuzz.comparing.reading.final_answers import final_answer, sole_number
from pytest_promptfuzz.errors import PartError, TargetError, UsageError, nearest
from pytest_promptfuzz.evaluating.call_matching import ParallelAnswers
from pytest_promptfuzz.evaluating.judge import as_before, labels_before
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.wording.sentences import counted, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_promptfuzz.evaluating.cases import Case
    from pytest_promptfuzz.evaluating.judge import TrialJudge
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.stats.agreement import Gold, GoldMarks

_SHORT = 6
"""Words up to which a gold answer is looked for at the end of an answer that reasons."""


def read_expected(expected: Any, inputs: Any, where: str) -> tuple[Any, ...]:
    """The gold answer of each input, as plain data; ``None`` for those without.

    Args:
        expected: One answer, for a test without inputs or for all of them; else a list, or a mapping by ID, as the
            inputs are given.
        inputs: As given: a list, a mapping, or ``None`` for none.
        where: The test, for messages.

    Raises:
        UsageError: It does not fit the inputs, or cannot be compared.
    """
    count = 1 if inputs is None else len(inputs)
    if inputs is not None and isinstance(expected, Mapping):
        return tuple(_of_mapping(expected, inputs, where))
    if inputs is not None and isinstance(expected, list | tuple):
        if len(expected) != count:
            raise UsageError(
                f"{where}: expected= holds {counted(len(expected), 'gold answer')} for {counted(count, 'input')}; "
                "give one for each, None where there is none."
            )
        return tuple(_plain(each, where) for each in expected)
    return (_plain(expected, where),) * count


def _of_mapping(expected: Mapping[Any, Any], inputs: Any, where: str) -> list[Any]:
    if not isinstance(inputs, Mapping):
        raise UsageError(
            f"{where}: expected= is a mapping, and inputs= a list; give a list of answers, one for each input."
        )
    for name in expected:
        if name not in inputs:
            raise UsageError(
                f"{where}: expected= has no input {name!r}. {nearest(str(name), map(str, inputs))}"
            )
    return [_plain(expected.get(name), where) for name in inputs]


def _plain(value: Any, where: str) -> Any:
    try:
        return plain(value)
    except UsageError as error:
        raise UsageError(f"{where}: expected= cannot be compared: {error}") from None


def with_gold(result: Robustness, cases: Iterable[Case]) -> Robustness:
    """A result with how often its answers are as expected, and a note where a test that passes is not right.

    Args:
        result: Without.
        cases: Those that have begun; only some may have a gold answer.
    """
    known = [each for each in cases if each.expected is not None]
    if not known:
        return result
    from pytest_promptfuzz.stats.agreement import Gold

    marked = [found for each in known if (found := _marked(each, result.trials, result.relation)) is not None]
    gold = Gold.of(marked)
    note = _note(result, gold) if result.verdict == "pass" else None
    if any(_is_parallel(each) for each in known):
        note = Note.of("evaluations:gold-of-several-calls")
    return replace(result, gold=gold, notes=(*([sentence(note)] if note else []), *result.notes))


def _is_parallel(case: Case) -> bool:
    return case.asked is not None and isinstance(case.asked.baseline.subject, ParallelAnswers)


def _marked(case: Case, trials: Iterable[Trial], relation: str) -> GoldMarks | None:
    """The answers of a case, each held against its gold answer; ``None`` where nothing was answered."""
    from pytest_promptfuzz.stats.agreement import GoldMarks

    asked = case.asked
    if asked is None:
        return None
    answers = asked.answers
    first = asked.baseline.value  # known even where nothing is compared
    values = [first, *(answers.value(number) for number in answers.matrix.baseline[1:])]
    mutated = [
        as_before(each.mutation, each.value)
        for each in trials
        if each.case == case.number
        and (each.mutation.relation == relation == "invariance" or labels_before(each.mutation))
        and each.outcome not in {"error", "not-needed"}
    ]
    right = gold_check(case)
    return GoldMarks(
        case.number,
        case.expected,
        [(right(value), value) for value in values if value is not None],
        [right(value) for value in mutated if value is not None],
    )


def gold_check(case: Case) -> Callable[[Any], bool | None]:
    """Tells whether an answer of a case is its gold answer: ``None`` where no comparison can tell, or there is none."""
    told: dict[str, bool | None] = {}

    def right(value: Any) -> bool | None:
        if case.asked is None or case.expected is None or value is None or _is_parallel(case):
            return None
        key = json.dumps(value, sort_keys=True)
        if key not in told:
            told[key] = _right(case.asked.judge, case.expected, value)
        return told[key]

    return right


def _right(judge: TrialJudge, expected: Any, value: Any) -> bool | None:
    """Whether an answer is equivalent to the gold one, as answers are compared with the baseline's.

    Of an answer that reasons first, what it gives as its answer in the end decides, where that is short.
    """
    if isinstance(value, str) and not isinstance(expected, str):
        expected = json.dumps(expected, ensure_ascii=False)
    right = _equivalent(judge, expected, value)
    if right or not isinstance(value, str) or len(expected.split()) > _SHORT:
        return right
    stated = final_answer(value)
    if stated is None:
        return right
    wanted = sole_number(expected) if expected.strip(" $€£%.,+-0123456789") == "" else None
    given = None if wanted is None else sole_number(stated)
    if given is not None:
        return given == wanted
    found = _equivalent(judge, expected, stated)
    return right if found is None else found


def _equivalent(judge: TrialJudge, expected: Any, value: Any) -> bool | None:
    try:
        outcome = judge.without_schema().compare(expected, value).outcome
    except (PartError, TargetError):
        return None
    return None if outcome == "undecided" else outcome == "equivalent"


def _note(result: Robustness, gold: Gold) -> Note | None:
    """What the reader of a test that passes should know; ``None`` where all is right."""
    if gold.accuracy is None:
        return Note.of("evaluations:gold-unknown")
    if gold.accuracy == 1 and gold.mutated in {1, None}:
        return None
    if gold.accuracy >= result.threshold:
        return Note.of("evaluations:gold-shares", gold=gold)
    return Note.of("evaluations:robust-but-wrong", gold=gold, names=result.cases)
