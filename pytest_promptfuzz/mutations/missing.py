"""What a plan says of the mutations that a prompt does not allow: which, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import quoted
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.strata import Stratum
    from pytest_promptfuzz.prompts.prompt import Prompt

_MOST_NAMED = 5  # operators whose need a message states, and protected spans it shows
_MOST_SHOWN = 24  # characters of a protected span
_FILE = expression(r"[^\s{}]+\.[A-Za-z0-9]{1,5}")
_CHAT = expression(r"[\[{].*[\"'](?:role|messages)[\"']\s*:", re.DOTALL)
_LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "nl": "Dutch",
    "pt": "Portuguese",
}


@dataclass(frozen=True, slots=True)
class Part:
    """How one stratum of a plan was filled.

    Attributes:
        stratum: What was drawn on.
        quota: How many it was to give.
        got: How many of these it gave.
        lent: How many it gave in the place of others.
        missing: How many of its own nothing stood in for.
    """

    stratum: Stratum
    quota: int
    got: int
    lent: int
    missing: int

    @property
    def shown(self) -> str:
        """``1 of 2 semantic``."""
        return f"{self.got} of {self.quota} {self.stratum.name}"

    @property
    def told(self) -> str:
        """``no semantic mutation``, or ``only 1 of 2 semantic mutations``."""
        name = self.stratum.name
        return f"only {self.shown} mutations" if self.got else f"no {name} mutation"


def notes_of(parts: Sequence[Part], *, ready: int, draft: Draft, asked: bool) -> Iterator[str]:
    """What gave way to what, which controls are missing, and how many mutations are.

    Args:
        parts: The strata of the plan.
        ready: How many mutations were given ready made.
        draft: The prompt, as the operators see it.
        asked: Whether the test named what it wants. Nobody misses a part of the usual mix that another stands in for,
            unless the language or the task bars all of it.
    """
    total = ready + sum(each.got + each.lent for each in parts)
    if not total:
        yield _none(parts, draft)
        return
    controls = [each for each in parts if each.missing and each.stratum.control]
    lost = sum(each.missing for each in controls)
    if lost:
        # Loudest: without its controls a test may pass although it cannot fail.
        names = "; ".join(_named(each, draft) for each in controls)
        yield (
            f"{lost} control{'s' if lost > 1 else ''} asked for found no place: {names}. Nothing else stands in for a"
            " control."
        )
    short = " and ".join(
        each.told + barred
        for each in parts
        if each.got < each.quota and ((barred := _barred(each.stratum, draft, " ({})")) or asked)
    )
    if short and any(each.lent for each in parts):
        gains = " and ".join(f"{each.lent} more {each.stratum.name}" for each in parts if each.lent)
        used = "one was" if sum(each.lent for each in parts) == 1 else "ones were"
        yield f"{short[0].upper()}{short[1:]} could be made of this prompt; {gains} {used} used."
    if any(each.missing for each in parts if not each.stratum.control):
        yield _few(parts, total, total + sum(each.missing for each in parts), draft)


def _few(parts: Sequence[Part], total: int, wanted: int, draft: Draft) -> str:
    short = [
        each.shown + _barred(each.stratum, draft, ", {}")
        for each in parts
        if each.missing and (len(parts) > 1 or _barred(each.stratum, draft, "{}"))
    ]
    where = f" ({'; '.join(short)})" if short else ""
    verb = "exists" if total == 1 else "exist"
    return (
        f"{total} of the {wanted} mutations asked for {verb} for this prompt with these operators{where};"
        " ask for fewer, name more operators, or protect less."
    )


def _none(parts: Sequence[Part], draft: Draft) -> str:
    """Nothing was found at all: what each of the first few operators would need."""
    needs = [f"{each.stratum.name}: {_need(each.stratum, draft)}" for each in parts[:_MOST_NAMED]]
    rest = len(parts) - len(needs)
    more = f"; and {rest} more" if rest else ""
    if len(parts) == 1:
        stratum = parts[0].stratum
        return (
            f"nothing to mutate: {stratum.name!r} finds no place in this prompt where it may act"
            f" ({_need(stratum, draft)})."
        )
    return (
        "nothing to mutate: none of the operators finds a place in this prompt where it may act ("
        f"{'; '.join(needs)}{more})."
    )


def _named(part: Part, draft: Draft) -> str:
    count = f"{part.got} of {part.quota}, " if part.got else ""
    return f"{part.stratum.name} ({count}{_need(part.stratum, draft)})"


def _need(stratum: Stratum, draft: Draft) -> str:
    """What its operator does, from which one sees what it needs; what bars it first, where that is why."""
    barred = _barred(stratum, draft, "{}")
    if barred or stratum.capped:
        return barred or f"{len(stratum.operators)} operators"
    summary = stratum.operators[0].summary.replace("``", "'").rstrip(" .:")
    return summary or "an operator of one's own"


def _barred(stratum: Stratum, draft: Draft, form: str) -> str:
    """Why none of its operators acts on the prompt, its language or its task; empty where nothing can be told."""
    if not stratum.operators:
        return ""
    if any(not each.languages or draft.language in each.languages for each in stratum.operators):
        refused = stratum.operators[0].refused(draft)  # the others are of the same dimension
        return form.format(refused) if refused else ""
    known = sorted({code for each in stratum.operators for code in each.languages})
    only = f"{', '.join(_LANGUAGES.get(code, code) for code in known)} only"
    if draft.language in _LANGUAGES:
        only += f", and the prompt reads as {_LANGUAGES[draft.language]}"
    return form.format(only)


def nothing_free(prompt: Prompt) -> str:
    """A prompt or an input has no letter that may change: what protects it."""
    if prompt.bounds is not None:
        return "nothing to mutate: everything in the input is protected, or there is nothing but numbers."
    note = f"nothing to mutate: everything in the prompt is protected{_protecting(prompt)}."
    if prompt.is_chat:
        return note
    if _FILE.fullmatch(prompt.text):
        note += f" If {prompt.text!r} is a file, give Path({prompt.text!r})."
    elif _CHAT.match(prompt.text.lstrip()):
        note += " If these are chat messages, give them as a list, or write valid JSON into a .json file."
    return note


def _protecting(prompt: Prompt) -> str:
    spans = [each for each in prompt.spans if each.kind != "separator"]
    shown = [
        f"{quoted(prompt.text[start:end], _MOST_SHOWN)} as {kind}" for start, end, kind in spans[:_MOST_NAMED]
    ]
    rest = len(spans) - len(shown)
    return f" ({', '.join(shown)}{f', and {rest} more' if rest else ''})" if shown else ""
