"""A prompt as a command is given it: a file or standard input, its slots filled by ``--set``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.prompts.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def read_prompt(file: str) -> Prompt:
    """The prompt in a file; ``-`` is standard input, a ``.json`` file may hold a list of chat messages.

    Raises:
        UsageError: It cannot be read, is not UTF-8 or is empty, or a message is malformed.
    """
    if file == "-":
        try:
            text = sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UsageError(f"Standard input is not UTF-8 (byte {error.start}); convert it first.") from None
        return Prompt(text, name="standard input")
    return Prompt.from_file(file)


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
                f"--set {setting!r} is not of the form slot=value; write --set ticket='Where is it?'."
            )
        if slot in values:
            raise UsageError(f"--set {slot}=... is given twice; give each slot once.")
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
    for slot in values:
        if slot not in prompt.slots:
            known = nearest(slot, prompt.slots) if prompt.slots else "It has no slots; leave --set out."
            raise UsageError(f"{name} has no slot {slot!r}. {known}")
    missing = [slot for slot in prompt.slots if slot not in values]
    if missing:
        example = " ".join(f"--set {slot}=VALUE" for slot in missing)
        raise UsageError(f"{name} has slots without a value: {', '.join(missing)}. Add {example}.")
    return prompt.fill(**values) if values else prompt
