"""Conversations of several user turns: each is asked with the model's own answers to the turns before it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import UsageError, not_among
from pytest_promptfuzz.mutations.engine.edits import Edit, Ref
from pytest_promptfuzz.mutations.engine.mutation import PRESERVES, Mutation
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.running.batches import BatchCall
from pytest_promptfuzz.targets.resolution import as_request
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_promptfuzz.mutations.engine.operator import Operator
    from pytest_promptfuzz.prompts.messages import Message
    from pytest_promptfuzz.providers.requests import Target, WireRequest
    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.storage.redaction import Redaction


CONVERSATIONS = ("all", "each", "first", "last")
"""Which turns an operator changes: all at once, each alone, or one."""
NO_ANSWER = "(no answer)"
"""What stands for an empty answer in the next request: providers refuse an empty message."""
_MUTABLE = {"system", "developer", "user"}
_TURN = expression(r"^(.*) turn (\d+)$")


def turn_name(task: str, turn: int) -> str:
    """What the cells of a turn have as their task; turns count from 1."""
    return f"{task} turn {turn}"


def turn_of(task: str) -> tuple[str, int] | None:
    """The task and the turn that such a name holds."""
    found = _TURN.match(task)
    return None if found is None else (found[1], int(found[2]))


def turn_places(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """The numbers of the messages that end a request: those of the user that no answer follows in the prompt."""
    return [
        number
        for number, each in enumerate(messages)
        if each["role"] == "user"
        and (number + 1 == len(messages) or messages[number + 1]["role"] != "assistant")
    ]


def first_changed_turn(prompt: Prompt, changed: Prompt) -> int:
    """The first turn that is not as it was, from 1; those before it are asked as in the unmutated conversation."""
    before, after = prompt.messages, changed.messages
    turns = enumerate(turn_places(before), 1)
    return next((turn for turn, place in turns if before[place] != after[place]), 1)


def check_conversation(prompt: Prompt, which: str, where: str) -> None:
    """See that a prompt is a conversation.

    Raises:
        UsageError: It has fewer than two turns, ends with another role, or which turns change is unknown.
    """
    if which not in CONVERSATIONS:
        raise UsageError(f"{where}: {not_among(f'conversation {which!r}', which, CONVERSATIONS)}")
    messages = prompt.messages
    places = turn_places(messages)
    if len(places) < 2 or places[-1] != len(messages) - 1:
        raise UsageError(
            f"{where}: conversation= needs a prompt of chat messages with two messages of the user or more that no "
            "answer follows, the last one at its end."
        )
    if not all(isinstance(each["content"], str) for each in messages):
        raise UsageError(f"{where}: the messages of a conversation are texts; one has parts.")


def turn_requests(messages: Sequence[Message], answers: Sequence[str]) -> list[Message]:
    """The messages of the next turn, with the answers to those before it."""
    made: list[Message] = []
    given = list(answers)
    for number, each in enumerate(messages):
        made.append(each)
        if number in (places := turn_places(messages)):
            if not given:
                return made
            made.append({"role": "assistant", "content": given.pop(0) or NO_ANSWER})
            if number == places[-1]:
                break
    return made


# Changes of turns.


class TurnText(NamedTuple):
    """The text of one turn, and where it begins in the text of the whole conversation."""

    start: int
    text: str


def turn_texts(prompt: Prompt) -> list[TurnText]:
    """The turns of a conversation."""
    ranges: list[tuple[int, int]] = []

    def noted(start: int, end: int) -> str:
        ranges.append((start, end))
        return prompt.text[start:end]

    prompt.rebuild(noted)
    messages = prompt.messages
    mutable = [number for number, each in enumerate(messages) if each["role"] in _MUTABLE]
    by_message = dict(zip(mutable, ranges, strict=True))
    return [
        TurnText(start, prompt.text[start:end])
        for start, end in (by_message[number] for number in turn_places(messages))
    ]


def conversation_mutations(
    prompt: Prompt, operator: str | Operator, count: int, which: str, seed: int
) -> list[tuple[str, list[Mutation]]]:
    """What an operator makes of a conversation: names for its changes, and the mutations of each.

    Args:
        prompt: The conversation.
        operator: What changes each turn, by itself, so that all of them change.
        count: How many mutations of each turn.
        which: One of ``CONVERSATIONS``.
        seed: Of the mutations.

    Returns:
        One name; with ``each`` one for each turn, ``upper-case@2``.
    """
    name = operator if isinstance(operator, str) else operator.name
    turns = turn_texts(prompt)
    made = [[*plan(Prompt(each.text), count, seed=seed, operators=[operator]).mutations] for each in turns]
    if which == "each":
        return [
            (f"{name}@{number}", [_of_turns(prompt, [(turn, each)]) for each in own])
            for number, (turn, own) in enumerate(zip(turns, made, strict=True), 1)
        ]
    chosen = {"first": slice(0, 1), "last": slice(-1, None)}.get(which, slice(None))
    parts = [*zip(turns, made, strict=True)][chosen]
    most = max(len(own) for _, own in parts)
    return [
        (
            name,
            [
                _of_turns(prompt, [(turn, own[variant]) for turn, own in parts if variant < len(own)])
                for variant in range(most)
            ],
        )
    ]


def _of_turns(prompt: Prompt, changes: Sequence[tuple[TurnText, Mutation]]) -> Mutation:
    """One mutation of a conversation, of mutations of its turns."""
    edits = [
        Edit(
            each.start + turn.start,
            each.end + turn.start,
            tuple(
                part if isinstance(part, str) else Ref(part.start + turn.start, part.end + turn.start)
                for part in each.parts
            ),
        )
        for turn, mutation in changes
        for each in mutation.edits
    ]
    mutations = [mutation for _, mutation in changes]
    return Mutation(
        prompt.text,
        tuple(edits),
        tuple(dict.fromkeys(name for each in mutations for name in each.operators)),
        mutations[0].dimension,
        max(each.severity for each in mutations),
        max((each.preserves for each in mutations), key=PRESERVES.index),
        mutations[0].relation,
        prompt,
    )


# What a conversation costs before it is held: answers that are stored tell what the next turn asks.


def priced_turns(
    target: Target,
    messages: Sequence[Message],
    parameters: Mapping[str, Any],
    found_in: tuple[AnswerStore | None, Redaction],
    key_of: tuple[tuple[str, ...], int],
) -> Iterator[tuple[str, tuple[WireRequest, bool]]]:
    """The requests of a conversation by their keys, and whether each is answered: as far as stored answers tell.

    Args:
        target: Who is asked.
        messages: The conversation, changed or not.
        parameters: More for each request.
        found_in: The store, and what is hidden of requests.
        key_of: What is left out of keys, and the sample.
    """
    store, redaction = found_in
    ignore, sample = key_of
    answers: list[str] = []
    for _ in turn_places(messages):
        wire = target.prepare(as_request(turn_requests(messages, answers), **parameters))
        key = BatchCall(wire, ignore, sample=sample).key(redaction)
        kept = None if store is None else store.get(key)
        yield key, (wire, kept is not None)
        try:
            answers.append("" if kept is None else target.parse(json.loads(kept.body)).text)
        except (ValueError, KeyError, TypeError):
            answers.append("")
