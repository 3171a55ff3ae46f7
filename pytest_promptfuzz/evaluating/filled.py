"""The prompt with its input, where only the baseline's run shows what the input is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from pytest_promptfuzz.prompts.parts import Part
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.run import Run


def filled_by(baseline: Run, prompt: Prompt, part: Part, where: str) -> Prompt:
    """The prompt with the input that the baseline's body gave it.

    Args:
        baseline: The run of the unmutated prompt.
        prompt: The template.
        part: What is mutated, for messages.
        where: The test, for messages.

    Raises:
        UsageError: The body filled no slots, or filled them with several inputs.
    """
    named = f"part={part.shown!r}"
    if not baseline.fillings:
        raise UsageError(
            f"{where}: {named} mutates what the test puts into the prompt's slots, and it filled none. Let it "
            "call format() of a Prompt that has slots, or name the input by itself with mutate=."
        )
    if len(baseline.fillings) > 1:
        raise UsageError(
            f"{where}: {named} needs one input, and the test filled the prompt with {len(baseline.fillings)} "
            "different ones. Parametrize the test over them."
        )
    return prompt.fill(**baseline.fillings[0])
