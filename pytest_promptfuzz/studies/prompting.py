"""How a study asks: zero-shot, with examples, or with a request to reason first; the same changes under each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.evaluate import Input
    from pytest_promptfuzz.prompts.prompt import Prompt


ZERO_SHOT, FEW_SHOT, CHAIN_OF_THOUGHT = "zero-shot", "few-shot", "chain-of-thought"
PROMPTINGS = (ZERO_SHOT, FEW_SHOT, CHAIN_OF_THOUGHT)
FACTOR = "prompting"
"""The factor of a study that names them."""
_REASONING = (
    "First think step by step, in a few sentences. Then write the answer alone on a last line that begins with "
    '"Answer:".'
)
_LONGEST_CUE = 40


def check_prompting(name: str, where: str) -> None:
    """See that there is such a prompting.

    Raises:
        UsageError: There is none.
    """
    if name not in PROMPTINGS:
        raise UsageError(f"{where}: unknown {FACTOR} {name!r}. {nearest(name, PROMPTINGS)}")


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
        if any(each.values == other.values for other in inputs):
            raise UsageError(
                f"{where}: example {each.name} is one of the inputs that are asked; take it out of one."
            )


def prompted(prompt: Prompt, how: str, examples: Sequence[Input] = ()) -> Prompt:
    """A prompt, mutated or not, with what a prompting adds to the last message that a user can change.

    Examples stand before it; the request to reason stands below it, above a last line that waits for the answer.
    """
    if how == ZERO_SHOT:
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
        return _reasoning(text) if how == CHAIN_OF_THOUGHT else f"{shown_examples(examples)}\n\n{text}"

    return prompt.rebuild(changed)


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


def _reasoning(text: str) -> str:
    body = text.rstrip()
    before, newline, last = body.rpartition("\n")
    if newline and last.endswith(":") and len(last) <= _LONGEST_CUE:
        return f"{before.rstrip()}\n\n{_REASONING}\n\n{last}"
    return f"{body}\n\n{_REASONING}"
