"""`Prompt`: a text or chat messages, with slots to fill and spans to protect."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.prompts.messages import (
    TEMPLATE,
    Message,
    MessageText,
    MutatedPart,
    article,
    bounds,
    chat_in,
    check_part,
    check_texts,
    layout,
    outside,
    parse_part,
    read_text,
    replaced,
    validated,
)
from pytest_promptfuzz.prompts.slots import Filling, Slots, filled, placed
from pytest_promptfuzz.prompts.spans import Span, chat_spans, custom_spans, merge, protected_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from typing_extensions import Self

    from pytest_promptfuzz.prompts.slots import Values
    from pytest_promptfuzz.prompts.spans import Protect


# What keeps a `Prompt` as it was made.


class Frozen:
    """Refuses what would change an instance, or take it for something else; copies are the instance itself."""

    __slots__ = ()

    def __call__(self, *_args: object, **_values: object) -> NoReturn:
        """Always a `TypeError`: a prompt is rendered with `format` or ``str()``."""
        raise TypeError(
            "A Prompt is not callable; write prompt.format(slot=value), or str(prompt) if it has no slots."
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A Prompt is immutable; make another one instead of setting {name!r}.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"A Prompt is immutable; {name!r} cannot be deleted.")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("A Prompt is not pickled; send its text or messages instead.")


# Copies of a prompt are made in every plan and run, and all hold the same.
_spans_of = lru_cache(maxsize=16)(protected_spans)
_slots_of = lru_cache(maxsize=16)(Slots)
_KEPT = ("_text", "_messages", "_protect", "_observer", "_filling", "_part", "name")
_UNSET: dict[str, Any] = {**dict.fromkeys((*_KEPT, "_slots", "_spans")), "_part": TEMPLATE}


class Prompt(Frozen):
    """A prompt: immutable, equal by text, messages and protection.

    Args:
        text: The prompt, possibly with slots such as ``{ticket}``.
        protect: What no mutation may touch besides what is found by itself: a literal, a compiled pattern, or
            ``(start, end)`` in characters of `text`.
        name: How errors and reports call it.

    Raises:
        UsageError: The text is not a str, blank, or holds NUL or lone surrogates; or what is to be protected is not
            in it.

    >>> Prompt("Sort {ticket} into billing or other.").format(ticket="T1")
    'Sort T1 into billing or other.'
    """

    __slots__ = (
        "_filling",
        "_messages",
        "_observer",
        "_part",
        "_pieces",
        "_protect",
        "_slots",
        "_spans",
        "_text",
        "name",
    )

    name: str | None
    _text: str
    _messages: tuple[Message, ...] | None
    _pieces: tuple[MessageText, ...]
    _protect: tuple[Protect, ...]
    _observer: Callable[[Values | None], None] | None
    _filling: Filling | None
    _part: MutatedPart
    _slots: Slots | None
    _spans: tuple[Span, ...] | None

    def __init__(self, text: str, *, protect: Iterable[Protect] = (), name: str | None = None) -> None:
        where = _called(name)
        if not isinstance(text, str):
            raise UsageError(
                f"{where} is {article(text)}, not a str; "
                "for chat messages write Prompt.from_messages(...), for a file Prompt.from_file(path)."
            )
        self._set(_text=text, _protect=_protection(protect, where), name=name)
        self._validate(where)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, protect: Iterable[Protect] = ()) -> Prompt:
        """The prompt in the UTF-8 file ``path``, byte for byte but for a byte order mark; line ends are kept.

        A ``.json`` file with a list of chat messages is read as by `from_messages`.

        Raises:
            UsageError: The file is missing, unreadable, not UTF-8, or blank; or its chat messages are malformed.
        """
        text, name = read_text(path), os.fspath(path)
        messages = chat_in(text, name)
        if messages is not None:
            return cls.from_messages(messages, protect=protect, name=name)
        return cls(text, protect=protect, name=name)

    @classmethod
    def from_messages(
        cls,
        messages: Sequence[Mapping[str, Any]],
        *,
        protect: Iterable[Protect] = (),
        name: str | None = None,
    ) -> Prompt:
        """A chat prompt.

        Args:
            messages: ``{"role": ..., "content": ...}``; the content is a str or a list of parts, of which those with
                ``"type": "text"`` are texts and all others are kept as they are. The texts of ``system``,
                ``developer`` and ``user`` messages can be mutated.
            protect: As for a text; offsets count characters of `text`.
            name: How errors and reports call it.

        Raises:
            UsageError: A message or part is malformed, or there is no text that could be mutated.
        """
        where = _called(name)
        kept = validated(messages, where)
        prompt = object.__new__(cls)
        prompt._set(_messages=kept, _protect=_protection(protect, where), name=name)
        prompt._validate(where)
        return prompt

    def _set(self, **values: Any) -> None:
        """Set every attribute, once: from ``values``, else from what they imply."""
        messages = values.get("_messages")
        if messages is None:
            text = values["_text"]
            pieces: tuple[MessageText, ...] = (MessageText(0, None, 0, len(text), mutable=True),)
        else:
            text, pieces = layout(messages)
        for name, value in {**_UNSET, **values, "_text": text, "_pieces": pieces}.items():
            object.__setattr__(self, name, value)

    def _copy(self, **changes: Any) -> Self:
        prompt = object.__new__(type(self))
        prompt._set(**{name: getattr(self, name) for name in _KEPT} | changes)
        return prompt

    def _validate(self, where: str) -> None:
        check_texts([self._text[piece.start : piece.end] for piece in self._pieces if piece.mutable], where)
        for each in self._protect:
            if not custom_spans(self._text, (each,)):
                shown = each.pattern if isinstance(each, re.Pattern) else each
                raise UsageError(
                    f"{where}: protect={shown!r} does not occur in the text; check its spelling and case."
                )

    @property
    def text(self) -> str:
        """The text; of a chat prompt, all its messages' texts joined by a blank line."""
        return self._text

    @property
    def messages(self) -> tuple[Message, ...]:
        """The chat messages, slots unfilled, as a copy; a text is one user message."""
        self._seen(None)
        return tuple(self._rendered())

    @property
    def is_chat(self) -> bool:
        """Whether it was made of messages."""
        return self._messages is not None

    @property
    def slots(self) -> tuple[str, ...]:
        """The names that `format` needs, each once, in order of appearance."""
        return self._template().names if self._filling is None else self._filling.names

    @property
    def bounds(self) -> tuple[tuple[int, int], ...] | None:
        """Where alone edits may lie, if the prompt is `limited` to its input; ``None`` is anywhere."""
        return bounds(self._part, self._pieces, self._messages, self.inputs)

    @property
    def inputs(self) -> tuple[tuple[int, int], ...]:
        """Where the values that `fill` put in stand in `text`, ascending; a mutated prompt does not know."""
        return () if self._filling is None else self._filling.inputs

    @property
    def spans(self) -> tuple[Span, ...]:
        """The protected spans of `text`, in order, not overlapping; found at first use and kept."""
        if self._spans is None:
            object.__setattr__(self, "_spans", self._find_spans())
        return cast("tuple[Span, ...]", self._spans)

    def _find_spans(self) -> tuple[Span, ...]:
        left_out = outside(self._part, self._pieces, self._messages, self.inputs)
        if self._messages is None:
            known = _spans_of(self._text, self._protect)
            return merge([*known, *left_out]) if left_out else known
        return merge(chat_spans(self._text, self._pieces, self._protect) + left_out)

    def format(self, **values: object) -> str | list[Message]:
        """Fill the slots: a text prompt gives a ``str``, a chat prompt a ``list`` of messages.

        ``{x}``, ``{{ x }}``, ``${x}`` and ``%(x)s`` must all be given; ``<x>`` and ``$x`` are filled if given. Values
        are put in as they are. ``{{`` and ``}}`` become single braces as in `str.format`, only where the whole text
        could be given to `str.format` and none of its slots is ``{{ x }}``; so JSON in a prompt stays as it is.

        Raises:
            UsageError: A slot has no value, a value has no slot, or the text has Jinja statements to run.
        """
        if self._filling is None:
            texts, _ = filled(self._template(), self._text, self._pieces, values, _called(self.name))
        else:
            self._filling.check(values, _called(self.name))
            texts = [self._text[p.start : p.end] for p in self._pieces]
        self._seen(values)
        return texts[0] if self._messages is None else replaced(self._messages, self._pieces, texts)

    def fill(self, **values: object) -> Prompt:
        """The prompt with its slots filled, which knows what was put in; `limited` tells what that is good for.

        Its `format` takes the same values again, so that it can stand where the template stood.

        Raises:
            UsageError: As `format`; or the prompt is filled already.
        """
        where = _called(self.name)
        if self._filling is not None:
            raise UsageError(f"{where} is filled already; fill the template.")
        texts, marks = filled(self._template(), self._text, self._pieces, values, where)
        check_texts(texts, where)
        return self._with_texts(texts, _filling=Filling(self.slots, values, placed(texts, marks)))

    def limited(self, part: str | Sequence[str] | MutatedPart | None) -> Prompt:
        """A copy of which mutations may touch one part only.

        Args:
            part: ``"template"`` (values that `fill` put in are protected), ``"input"`` (only they are not) or
                ``"both"``; of chat messages also roles, ``"system"``, ``"user:input"``, or a list of these.

        Raises:
            UsageError: An unknown part, a role that no message has, or an input where nothing was filled in.
        """
        chosen = parse_part(part)
        roles = None if self._messages is None else {message["role"] for message in self._messages}
        check_part(
            chosen, roles, filled=bool(self.inputs), slots=self.slots, where=_called(self.name).lower()
        )
        return self._copy(_part=chosen)

    def _with_texts(self, texts: list[str], **changes: Any) -> Self:
        """The prompt with other texts; offsets to protect say nothing about them."""
        protect = tuple(each for each in self._protect if not isinstance(each, tuple))
        messages = None if self._messages is None else tuple(replaced(self._messages, self._pieces, texts))
        return self._copy(_text=texts[0], _messages=messages, _protect=protect, **changes)

    def rebuild(self, apply: Callable[[int, int], str], *, whole: str | None = None) -> Prompt:
        """The prompt with other texts, made by a mutation.

        Args:
            apply: Called once for each range ``[start, end)`` of `text` that may change (each ``system``,
                ``developer`` or ``user`` text of a chat, the whole of a text), in order; gives the new text of it.
            whole: The new text of all of it, where that is known: of a text, nothing is asked then.

        Returns:
            A prompt with the same name, observer and protection, except that of ``(start, end)`` offsets, which
            say nothing about another text.

        Raises:
            UsageError: ``apply`` left nothing but white space, or gave something that is not text.
        """
        if whole is not None and self._messages is None:
            texts = [whole]
        else:
            texts = [
                apply(piece.start, piece.end) if piece.mutable else self._text[piece.start : piece.end]
                for piece in self._pieces
            ]
        filling = None if self._filling is None else self._filling.mutated()
        if not any(text.strip() for text in texts):
            raise UsageError(f"A mutation of {_called(self.name).lower()} is empty.")
        return self._with_texts(texts, _filling=filling, _part=TEMPLATE)

    def observed(self, callback: Callable[[Values | None], None]) -> Prompt:
        """A copy that calls ``callback`` when it is rendered, with the values where `format` renders it."""
        return self._copy(_observer=callback)

    def _template(self) -> Slots:
        if self._slots is None:
            texts = tuple([self._text[p.start : p.end] for p in self._pieces])
            object.__setattr__(self, "_slots", _slots_of(texts))
        return cast("Slots", self._slots)

    def _rendered(self) -> list[Message]:
        return (
            [{"role": "user", "content": self._text}]
            if self._messages is None
            else copy.deepcopy([*self._messages])
        )

    def _seen(self, values: Values | None) -> None:
        if self._observer is not None:
            self._observer(values)

    def _identity(self) -> tuple[object, ...]:
        # Messages hold dicts; their canonical JSON stands for them.
        messages = (
            None if self._messages is None else json.dumps(self._messages, sort_keys=True, default=repr)
        )
        return (self._text, messages, self._protect, self.inputs, self._part)

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Prompt) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        self._seen(None)
        return self._text

    def __repr__(self) -> str:
        shown = self._text if len(self._text) <= 40 else self._text[:39] + "…"
        kind = f" {len(self._messages)} messages," if self._messages is not None else ""
        return (
            f"<Prompt{kind} {shown!r}>" if self.name is None else f"<Prompt {self.name!r},{kind} {shown!r}>"
        )


class RenderingLog:
    """An observer of a prompt: whether it was rendered, and with which values.

    Attributes:
        seen: Whether it was rendered.
        fillings: The values, once for each different set of them.
    """

    __slots__ = ("fillings", "seen")

    def __init__(self) -> None:
        self.seen = False
        self.fillings: list[Values] = []

    def __call__(self, values: Values | None) -> None:
        """The prompt is rendered with these values; ``None`` where it tells none."""
        self.seen = True
        if values and values not in self.fillings:
            self.fillings.append(values)


def as_prompt(value: str | Prompt | os.PathLike[str] | Sequence[Mapping[str, Any]]) -> Prompt:
    """``value`` as a prompt: a text, a path to a prompt file, chat messages, or a `Prompt`, which is given back.

    Raises:
        UsageError: It is none of these, or not a valid one.
    """
    if isinstance(value, Prompt):
        return value
    if isinstance(value, str):
        return Prompt(value)
    if isinstance(value, os.PathLike):
        return Prompt.from_file(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return Prompt.from_messages(cast("Sequence[Mapping[str, Any]]", value))
    raise UsageError(
        f"A prompt is a str, a Prompt, a path or a list of chat messages, not {article(value)}: {value!r:.80}."
    )


def _called(name: str | None) -> str:
    return "The prompt" if name is None else f"The prompt {name!r}"


def _protection(protect: Any, where: str) -> tuple[Protect, ...]:
    if isinstance(protect, str | re.Pattern):
        raise UsageError(f"{where}: protect is a list; write protect=[{protect!r}].")
    return tuple(protect)
