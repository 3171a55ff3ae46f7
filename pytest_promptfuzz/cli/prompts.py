"""The prompt that a command is given: a file, standard input or text, its slots filled by ``--set`` or ``--inputs``."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.evaluating.evaluate import read_inputs
from pytest_promptfuzz.files import read_text
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


def filled_by_each(
    prompt: Prompt, values: Mapping[str, str], file: str
) -> list[tuple[str, Prompt | UsageError]]:
    """The prompt once for each line of a JSON Lines file, its slots filled, and how the input is named.

    Args:
        prompt: With slots.
        values: Of ``--set``: what every input has in common; an input's own value of a slot comes before it.
        file: Each line a text, for the one slot that is left, or an object of slots and values.

    Returns:
        The name of each, and its prompt, or what is wrong with an input that does not fit the slots.

    Raises:
        UsageError: The file cannot be read, a line is no JSON, there is none, or there are no slots.
    """
    where = f"--inputs {file}"
    inputs = _lines_of(file, where)
    if not inputs or not prompt.slots:
        read_inputs([each for _, each in inputs], prompt, where)  # which says what is wrong
    return [
        (f"{number} {name}", made)
        for number, (line, given) in enumerate(inputs, 1)
        for name, made in [_filled_by(prompt, values, given, line, where)]
    ]


def _filled_by(
    prompt: Prompt, values: Mapping[str, str], given: Any, line: int, where: str
) -> tuple[str, Prompt | UsageError]:
    free = [slot for slot in prompt.slots if slot not in values]
    if values and isinstance(given, str) and len(free) == 1:
        given = {free[0]: given}
    if isinstance(given, dict):
        given = {**values, **given}
    try:
        (found,) = read_inputs([given], prompt, where)
    except UsageError as error:
        why = str(error).removeprefix(f"{where}: ").replace("input 1 ", "input ", 1)
        return f"(line {line})", UsageError(f"{where}: line {line}: {why}")
    return found.name.removeprefix("1 "), found.put_into(prompt)


def _lines_of(file: str, where: str) -> list[tuple[int, Any]]:
    """The lines that hold something, with their numbers."""
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig") if file == "-" else read_text(file, "utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise UsageError(f"{where}: the file cannot be read ({reason}).") from None
    found: list[tuple[int, Any]] = []
    # Only line feeds end a line of JSON: a text may hold what `splitlines` would break at.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append((number, json.loads(line)))
        except (ValueError, RecursionError):
            raise UsageError(
                f'{where}: line {number} is no JSON ({line:.40}); write a text in quotes, or {{"slot": "value"}}, on '
                "each line."
            ) from None
    return found
