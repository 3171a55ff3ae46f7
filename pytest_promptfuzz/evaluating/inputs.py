"""The inputs of a declarative evaluation: what is put into a prompt's slots, one case after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError, quoted
from pytest_promptfuzz.evaluating.gold import read_expected

if TYPE_CHECKING:
    from pytest_promptfuzz.prompts.prompt import Prompt

_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Input:
    """One input.

    Attributes:
        name: How messages and reports call it; empty where the prompt needs no input.
        value: As it was given.
        values: What it puts into each slot; ``None`` for a prompt that is sent as it is.
        expected: The gold answer, as plain data; ``None`` where there is none.
    """

    name: str = ""
    value: Any = None
    values: Mapping[str, object] | None = None
    expected: Any = None

    def put_into(self, prompt: Prompt) -> Prompt:
        """The prompt as it is sent.

        Raises:
            UsageError: A mutation lost a slot, or a slot cannot show its value.
        """
        if self.values is None:
            return prompt
        try:
            return prompt.fill(**self.values)
        except UsageError as error:
            raise UsageError(f"{error} (input {self.name})") from None


@dataclass(frozen=True, slots=True)
class Cases:
    """A prompt and its inputs.

    Attributes:
        prompt: The template.
        inputs: What is put into it, one case each.
        same_mutations: Whether the template is mutated, in the same way for every input; otherwise each input is
            mutated itself.
    """

    prompt: Prompt
    inputs: tuple[Input, ...]
    same_mutations: bool = True

    def prompt_of(self, given: Input) -> Prompt:
        """What is mutated in the case of an input."""
        return self.prompt if self.same_mutations else given.put_into(self.prompt)

    def sent(self, prompt: Prompt, given: Input) -> Prompt:
        """What is sent for a prompt of that case, mutated or not."""
        return given.put_into(prompt) if self.same_mutations else prompt


def read_inputs(inputs: Any, prompt: Prompt, where: str, expected: Any = None) -> tuple[Input, ...]:
    """The inputs of a prompt.

    Args:
        inputs: A list of texts (a prompt of one slot), a list of mappings of slot to value, a mapping of ID to
            either, or ``None`` for a prompt without slots.
        prompt: The template.
        where: The test, for messages.
        expected: The gold answer, or that of each input: see :func:`~pytest_promptfuzz.evaluating.gold.read_expected`.

    Raises:
        UsageError: They are of another kind, empty, or do not fit the prompt's slots.
    """
    if inputs is None:
        if prompt.slots:
            slots = " and ".join(map(repr, prompt.slots))
            raise UsageError(
                f"{where}: the prompt has the slot {slots}, and nothing is put in. Write inputs=[…], one for each case."
            )
        return (Input(expected=read_expected(expected, None, where)[0]),)
    named = _named(inputs, prompt, where)
    if not named:
        raise UsageError(
            f"{where}: inputs= is empty, so that nothing would be asked. Give at least one input."
        )
    if not prompt.slots:
        raise UsageError(
            f"{where}: inputs= is given, and the prompt has no slot to put them in. Write one, such as {{text}}."
        )
    gold = read_expected(expected, inputs, where)
    return tuple(
        replace(_input(name, value, prompt, where), expected=answer)
        for (name, value), answer in zip(named, gold, strict=True)
    )


def _named(inputs: Any, prompt: Prompt, where: str) -> list[tuple[str, Any]]:
    if isinstance(inputs, Mapping):
        if inputs and set(inputs) == set(prompt.slots):
            raise UsageError(
                f"{where}: inputs= maps slots to values, which is one input; write inputs=[{{…}}]. "
                "A mapping is read as ID to input."
            )
        return [(repr(str(name)), value) for name, value in inputs.items()]
    if isinstance(inputs, str | bytes | bytearray):
        raise UsageError(f"{where}: inputs= is one text; write a list, inputs=[{inputs!r:.40}].")
    if hasattr(inputs, "__next__"):
        raise UsageError(
            f"{where}: inputs= is a {type(inputs).__name__}, which can be read only once; write list(…) around it."
        )
    if not isinstance(inputs, Sequence):
        raise UsageError(
            f"{where}: inputs= must be a list of texts or of mappings, or a mapping of ID to either, not "
            f"{type(inputs).__name__}."
        )
    return [(f"{number} {_short(value)}", value) for number, value in enumerate(inputs, 1)]


def _input(name: str, value: Any, prompt: Prompt, where: str) -> Input:
    if isinstance(value, str):
        if len(prompt.slots) > 1:
            slots = ", ".join(prompt.slots)
            raise UsageError(
                f"{where}: input {name} is one text, and the prompt has {len(prompt.slots)} slots ({slots}); give a "
                "mapping of slot to value."
            )
        values: dict[str, object] = {prompt.slots[0]: value}
    elif isinstance(value, Mapping):
        values = {str(slot): each for slot, each in value.items()}
    else:
        raise UsageError(
            f"{where}: input {name} is of type {type(value).__name__}; give a text, or a mapping of slot to value."
        )
    found = Input(name, value, values)
    try:
        found.put_into(prompt)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    return found


def _short(value: Any) -> str:
    pairs = value.items() if isinstance(value, Mapping) else ()
    if isinstance(value, str):
        return f"({quoted(value, _SHOWN)})"
    shown = ", ".join(
        f"{slot}={quoted(each, _SHOWN) if isinstance(each, str) else repr(each)}" for slot, each in pairs
    )
    shown = shown or repr(value)
    return f"({shown if len(shown) <= 2 * _SHOWN else shown[: 2 * _SHOWN - 1] + '…'})"
