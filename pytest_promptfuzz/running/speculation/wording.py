"""The texts with which a prompt may stand in a request: as it is, and filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.prompts.slots import Slots
from pytest_promptfuzz.running.speculation.templates import Wording, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.prompts.prompt import Prompt

_MOST_FILLINGS = 8


def wordings(prompt: Prompt, fillings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Every text of a prompt: the whole, each message's, and the same filled with each set of values.

    The texts of a mutation stand at the same places of the list as those of its original.

    Raises:
        UsageError: The values do not fit the slots.
    """
    texts = [prompt.text, *_parts(prompt)]
    for values in fillings:
        wording = _wording(texts)
        texts += _texts(prompt.format(**{name: told(value, wording) for name, value in values.items()}))
    return texts


def nested(prompt: Prompt, fillings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sets of values for ``wordings`` of which some hold the prompt itself, filled with a set before them."""
    texts = [prompt.text, *_parts(prompt)]
    found: list[dict[str, Any]] = []
    for values in fillings:
        wording = _wording(texts)
        found.append(
            {
                name: wording.split(value) if isinstance(value, str) else value
                for name, value in values.items()
            }
        )
        texts += _texts(prompt.format(**values))
    return found


def _wording(texts: Iterable[str]) -> Wording:
    return Wording({("prompt", number, ""): text for number, text in enumerate(texts)})


def told_fillings(prompt: Prompt, shown: Iterable[str]) -> list[dict[str, str]]:
    """The values with which the texts of requests show a prompt that the application filled itself.

    Args:
        prompt: The prompt.
        shown: The texts of requests.
    """
    if not prompt.slots:
        return []
    parts = _parts(prompt)
    slots = Slots(parts)
    found: list[dict[str, str]] = []
    if len(parts) == 1:
        found = [values for text in shown if (values := slots.values_in(parts[0], text))]
    else:
        texts = [*shown]
        told = [next(filter(None, (slots.values_in(part, text) for text in texts)), {}) for part in parts]
        found = [{name: value for values in told for name, value in values.items()}]
    whole = [values for values in found if values.keys() == set(prompt.slots)]
    return [values for at, values in enumerate(whole) if values not in whole[:at]][:_MOST_FILLINGS]


def ends_alike(one: Prompt, other: Prompt) -> bool:
    """Whether the texts of two prompts begin and end with the same slots, or with none."""

    def ends(prompt: Prompt) -> list[tuple[str, str]]:
        parts = _parts(prompt)
        slots = Slots(parts)
        return [slots.ends(part) for part in parts]

    return ends(one) == ends(other)


def _parts(prompt: Prompt) -> list[str]:
    return [*_texts(prompt.messages)] if prompt.is_chat else [prompt.text]


def _texts(shown: str | Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if isinstance(shown, str):
        yield shown
        return
    for message in shown:
        content = message.get("content")
        if isinstance(content, str):
            yield content
        elif isinstance(content, list):
            yield from (part["text"] for part in content if isinstance(part.get("text"), str))
