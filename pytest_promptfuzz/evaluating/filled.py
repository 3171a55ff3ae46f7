"""The prompt where only the baseline's run shows it: what it asked with, or the input that it filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from pytest_promptfuzz.evaluating.on_wire import OnWire
    from pytest_promptfuzz.prompts.parts import Part
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.run import Run


def shown_by(baseline: Run, prompt: Prompt, part: Part, on_wire: OnWire | None, where: str) -> Prompt:
    """The prompt to plan over: on the wire the text of a role, else the prompt with its input.

    Raises:
        UsageError: The baseline shows none, or several.
    """
    if on_wire is not None:
        return on_wire.prompt(baseline, where)
    return _filled_by(baseline, prompt, part, where)


def _filled_by(baseline: Run, prompt: Prompt, part: Part, where: str) -> Prompt:
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
