"""The prompt that a command is given: a file, standard input or text, its slots filled by ``--set`` or ``--inputs``."""

from __future__ import annotations

import re
import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.evaluating.evaluate import dataset_inputs
from pytest_promptfuzz.prompts.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.evaluate import Input


def read_prompt(file: str) -> Prompt:
    """The prompt in a file; ``-`` is standard input, a ``.json`` file may hold a list of chat messages.

    Raises:
        UsageError: It cannot be read, is not UTF-8 or is empty, or a message is malformed.
    """
    if file == "-":
        try:
            text = sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UsageError(f"Standard input is not UTF-8 (byte {error.start}). Convert it first.") from None
        return Prompt(text, name="standard input")
    return Prompt.from_file(file)


def read_prompt_or_text(given: str) -> Prompt:
    """The prompt in a file, as ``read_prompt`` reads it, or the text itself.

    What holds white space is a text, unless there is a file of that name or it ends like one's (``my prompt.txt``).

    Raises:
        UsageError: What ``read_prompt`` raises.
    """
    if re.search(r"\s", given.strip()) and not re.search(r"\.\w{1,5}$", given) and not _is_file(given):
        return Prompt(given)
    return read_prompt(given)


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return False


def read_values(settings: Sequence[str]) -> dict[str, str]:
    """The values of ``--set slot=value``; ``slot=@file`` reads a UTF-8 file, ``slot=@@text`` begins with an ``@``.

    Raises:
        UsageError: One is not of that form, a slot is set twice, or a file cannot be read.
    """
    values: dict[str, str] = {}
    for setting in settings:
        slot, equals, value = setting.partition("=")
        slot = slot.strip()
        if not equals or not slot:
            raise UsageError(
                f"--set {setting!r} is not of the form slot=value. Write --set ticket='Where is it?'."
            )
        if slot in values:
            raise UsageError(f"--set {slot}=... is given twice. Give each slot once.")
        values[slot] = _from_file(slot, value[1:]) if value.startswith("@") else value
    return values


def _from_file(slot: str, name: str) -> str:
    if name.startswith("@"):
        return name
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise UsageError(f"--set {slot}=@{name}: the file cannot be read ({reason}).") from None


def filled(prompt: Prompt, values: Mapping[str, str]) -> Prompt:
    """The prompt with its slots filled, which knows what was put in: ``part=`` says whether that may be mutated.

    Raises:
        UsageError: A slot has no value, or a value no slot.
    """
    name = prompt.name or "the prompt"
    _check_slots(prompt, values)
    missing = [slot for slot in prompt.slots if slot not in values]
    if missing:
        example = " ".join(f"--set {slot}=VALUE" for slot in missing)
        raise UsageError(
            f"{name} has slots without a value: {', '.join(missing)}. Add {example}, or --inputs FILE."
        )
    return prompt.fill(**values) if values else prompt


def _check_slots(prompt: Prompt, values: Mapping[str, str]) -> None:
    for slot in values:
        if slot not in prompt.slots:
            known = nearest(slot, prompt.slots) if prompt.slots else "It has no slots; leave --set out."
            raise UsageError(f"{prompt.name or 'the prompt'} has no slot {slot!r}. {known}")


def inputs_reader(
    file: str, prompts: Sequence[str], values: Mapping[str, str], expected: str | None = None
) -> Callable[[Prompt], tuple[Input, ...]]:
    """What gives each prompt the inputs in the data file of ``--inputs``; standard input is read once for all of them.

    Args:
        file: Its path; ``-`` is standard input, as JSON Lines.
        prompts: The prompts as they were given, one of which may be standard input.
        values: Of ``--set``: what every input has in common; an input's own value of a slot comes before it.
        expected: The gold answer of all inputs, or the column that holds them, ``column:NAME``.

    Returns:
        A function of a prompt with slots. It raises ``UsageError`` if the file cannot be read or does not fit the
        prompt, or a value has no slot.

    Raises:
        UsageError: Both the prompt and its inputs are to be read from standard input.
    """
    label = f"--inputs {file}"
    if file == "-" and "-" in prompts:
        raise UsageError(
            f"{label}: the prompt is read from standard input, too. Put one of them into a file."
        )
    piped = sys.stdin.buffer.read() if file == "-" else None

    def inputs_of(prompt: Prompt) -> tuple[Input, ...]:
        from pytest_promptfuzz.evaluating.datasets import Dataset

        _check_slots(prompt, values)
        data = Dataset.find(file, label) if piped is None else Dataset(Path(file), label, BytesIO(piped))
        return dataset_inputs(data, prompt, expected, values)

    return inputs_of
