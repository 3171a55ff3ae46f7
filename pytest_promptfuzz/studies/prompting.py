"""How a study asks: the prompt as it is, with examples, reasoning first, …: edits under the same changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, not_among

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.evaluate import Input
    from pytest_promptfuzz.prompts.prompt import Prompt


UNEDITED, FEW_SHOT, FEW_SHOT_AFTER = "none", "few-shot", "few-shot-after"
CHAIN_OF_THOUGHT, ANSWER_FORMAT, DELIMITERS = "cot", "answer-format", "delimiters"
PROMPTINGS = (UNEDITED, FEW_SHOT, FEW_SHOT_AFTER, CHAIN_OF_THOUGHT, ANSWER_FORMAT, DELIMITERS)
WITH_EXAMPLES = (FEW_SHOT, FEW_SHOT_AFTER)
_LONG_NAMES = {"zero-shot": UNEDITED, "chain-of-thought": CHAIN_OF_THOUGHT}
"""Names of papers, which are read as well."""
FACTOR = "prompting"
"""The factor of a study that names them."""
_REASONING = (
    "First think step by step, in a few sentences. Then write the answer alone on a last line that begins with "
    '"Answer:".'
)
_LONGEST_CUE = 40
_MOST_LABELS = 12
_LONGEST_LABEL = 30


def prompting_name(given: str) -> str:
    """The name of a prompting, of which some have a longer one, too; what is no text stays as it is.

    >>> prompting_name("chain-of-thought"), prompting_name("few-shot")
    ('cot', 'few-shot')
    """
    return _LONG_NAMES.get(given, given) if isinstance(given, str) else given


def edits_of(text: str, where: str) -> tuple[str, ...]:
    """The promptings that ``--mitigate`` names; the prompt as it is comes first, for the others to be compared with.

    Raises:
        UsageError: One is unknown, or nothing is to be compared.
    """
    given = [each.strip() for each in text.split(",") if each.strip()]
    names = [*map(prompting_name, given)]
    for name, shown in zip(names, given, strict=True):
        if name not in PROMPTINGS:
            known = (UNEDITED, FEW_SHOT, CHAIN_OF_THOUGHT, ANSWER_FORMAT, DELIMITERS)
            raise UsageError(f"{where}: {not_among(f'the edit {shown!r}', shown, known)}")
    edits = tuple(dict.fromkeys([UNEDITED, *names]))
    if len(edits) == 1:
        raise UsageError(
            f"{where}: name an edit: {FEW_SHOT}, {CHAIN_OF_THOUGHT}, {ANSWER_FORMAT} or {DELIMITERS}."
        )
    return edits


def check_prompting(name: str, where: str) -> None:
    """See that there is such a prompting.

    Raises:
        UsageError: There is none.
    """
    if name not in PROMPTINGS:
        raise UsageError(f"{where}: {not_among(f'{FACTOR} {name!r}', name, PROMPTINGS)}")


def check_examples(examples: Sequence[Input], inputs: Sequence[Input], where: str) -> None:
    """See that examples can be shown.

    Raises:
        UsageError: There are none, one has no answer, or one is among the inputs that are asked.
    """
    if not examples:
        raise UsageError(
            f"{where}: {FACTOR}={FEW_SHOT} needs examples=, a data file with the column 'expected'."
        )
    for each in examples:
        if each.expected is None:
            raise UsageError(f"{where}: example {each.name} has no expected answer.")
        if any(_same_values(each, other) for other in inputs):
            raise UsageError(
                f"{where}: example {each.name} is one of the inputs that are asked; take it out of one."
            )


def _same_values(one: Input, other: Input) -> bool:
    """Whether two inputs say the same; case and white space apart."""
    first, second = (
        None
        if each.values is None
        else {name: str(value).casefold().split() for name, value in each.values.items()}
        for each in (one, other)
    )
    return first == second


def prompted(
    prompt: Prompt, how: str, examples: Sequence[Input] = (), inputs: Sequence[Input] = ()
) -> Prompt:
    """A filled prompt, mutated or not, with what a prompting adds to the last message that a user can change.

    Examples stand before or below it, what asks for reasoning or a format below it; below is above a last line that
    waits for the answer, such as ``Label:``.

    Args:
        prompt: What is asked.
        how: Which prompting.
        examples: Shown by few-shot prompts.
        inputs: Of the task, whose expected answers say what an answer looks like.
    """
    if how in {UNEDITED, DELIMITERS}:
        return prompt
    ranges: list[tuple[int, int]] = []

    def noted(start: int, end: int) -> str:
        ranges.append((start, end))
        return prompt.text[start:end]

    prompt.rebuild(noted)
    last = ranges[-1] if ranges else (0, 0)

    def changed(start: int, end: int) -> str:
        text = prompt.text[start:end]
        if (start, end) != last:
            return text
        if how == FEW_SHOT:
            return f"{shown_examples(examples)}\n\n{text}"
        if how == FEW_SHOT_AFTER:
            return _with_below(text, shown_examples(examples))
        return _with_below(text, _REASONING if how == CHAIN_OF_THOUGHT else _answer_format(inputs))

    return prompt.rebuild(changed)


def delimited(inputs: Sequence[Input], how: str) -> tuple[Input, ...]:
    """Inputs as a prompting puts them into slots: with delimiters, ``<ticket>…</ticket>``, or as they are."""
    if how != DELIMITERS:
        return tuple(inputs)
    return tuple(
        each._replace(values={name: f"<{name}>{value}</{name}>" for name, value in each.values.items()})
        if each.values is not None
        else each
        for each in inputs
    )


def _answer_format(inputs: Sequence[Input]) -> str:
    """A sentence that says what an answer has to look like, from the expected answers."""
    expected = [each.expected for each in inputs if each.expected is not None]
    labels = sorted({each for each in expected if isinstance(each, str)})
    if expected and not labels:
        return "Answer with JSON alone, without any other text."
    if 1 < len(labels) <= _MOST_LABELS and max(map(len, labels)) <= _LONGEST_LABEL:
        return f"Answer with exactly one of these, and nothing else: {', '.join(labels)}."
    return "Write the answer alone, without any other text."


def shown_examples(examples: Sequence[Input]) -> str:
    """Examples as text: a line for each slot, and one for the answer."""
    blocks = []
    for each in examples:
        values = each.values or {}
        lines = [f"{name.replace('_', ' ').capitalize()}: {value}" for name, value in values.items()]
        answer = (
            each.expected if isinstance(each.expected, str) else json.dumps(each.expected, ensure_ascii=False)
        )
        blocks.append("\n".join([*lines, f"Answer: {answer}"]))
    return "\n\n".join(["Examples:", *blocks])


def _with_below(text: str, sentence: str) -> str:
    body = text.rstrip()
    before, newline, last = body.rpartition("\n")
    if newline and last.endswith(":") and len(last) <= _LONGEST_CUE:
        return f"{before.rstrip()}\n\n{sentence}\n\n{last}"
    return f"{body}\n\n{sentence}"
