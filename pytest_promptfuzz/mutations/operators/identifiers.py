"""Code in a prompt with other names, which means the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.edits import Edit, replace
from pytest_promptfuzz.mutations.operator import operator
from pytest_promptfuzz.mutations.source_blocks import SLOT, blocks
from pytest_promptfuzz.mutations.source_javascript import javascript_names
from pytest_promptfuzz.mutations.source_names import inline_names, python_names
from pytest_promptfuzz.prompts.prompt import as_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.mutations.rng import Rng

_WORD = expression(r"\w+")
_SHARE = 0.5
_READERS = {"python": python_names, "javascript": javascript_names, "inline": inline_names}
# Prompts that ask about the names themselves.
_ABOUT_NAMES = expression(
    r"\b(?:(?:variable|parameter|argument|function|identifier|method)s?(?:'s?)? nam\w+|names|naming|renam\w+"
    r"|identifiers?|readab\w+|obfuscat\w+)\b",
    re.IGNORECASE,
)
_FORMS = ("my_{}", "the_{}", "{}_var", "var_{}")


@operator(
    "identifier-renaming",
    dimension="code",
    severity=0.3,
    preserves="yes",
    relation="renaming",
    touches=("code",),
    sources=("S4",),
    example=(
        "Explain.\n\n```python\ndef f(prices):\n    return sum(prices)\n```",
        "Explain.\n\n```python\ndef f(my_prices):\n    return sum(my_prices)\n```",
    ),
    trusted=True,
    default=False,
)
def identifier_renaming(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Variables, parameters, private functions of Python and JavaScript get other names throughout (half of them)."""
    sites = draft.once(_sites)
    names = sorted(sites)
    used = frozenset(_WORD.findall(draft.text))
    for chosen in rng.draws(names, _SHARE):
        renaming = _fresh(chosen, used, _FORMS[rng.below(len(_FORMS))])
        yield sorted(replace(start, end, renaming[name]) for name in chosen for start, end in sites[name])


def renaming_of(mutation: Mutation) -> dict[str, str]:
    """Which names a mutation changed: old to new; empty unless ``identifier-renaming`` had a part in it."""
    if not any(each.partition("@")[0] == "identifier-renaming" for each in mutation.operators):
        return {}
    prompt = mutation.source if mutation.source is not None else as_prompt(mutation.original)
    code = [(start, end) for start, end, kind in prompt.spans if kind == "code"]
    found: dict[str, str] = {}
    for edit in mutation.edits:
        old, new = mutation.original[edit.start : edit.end], edit.replacement(mutation.original)
        if (
            old.isidentifier()
            and new.isidentifier()
            and any(a <= edit.start and edit.end <= b for a, b in code)
        ):
            found[old] = new
    return found


def _sites(draft: Draft) -> Mapping[str, list[tuple[int, int]]]:
    """Where each name stands that may change, in the whole prompt."""
    found: dict[str, list[tuple[int, int]]] = {}
    programs = draft.once(blocks)
    if not programs or _ABOUT_NAMES.search(draft.free):
        return found
    text = draft.text
    free: set[str] = set()
    kept: set[str] = set()
    position = 0
    for block in programs:
        reader = _READERS.get(block.family)
        names = None if reader is None else reader(text[block.start : block.end])
        if names is None:
            continue
        kept.update(_WORD.findall(text, position, block.start))
        position = block.end
        for each in names.texts:
            kept.update(_WORD.findall(each))
        for name, start, end in names.places:
            found.setdefault(name, []).append((block.start + start, block.start + end))
            if name not in names.free:
                kept.add(name)
        if block.family != "inline":
            free |= names.free
    kept.update(_WORD.findall(text, position))
    for slot in SLOT.finditer(text):
        kept.update(_WORD.findall(slot[0]))
    return {name: found[name] for name in free - kept}


def _fresh(names: list[str], used: frozenset[str], form: str) -> dict[str, str]:
    """New names that no word of the prompt bears, in the style of the old ones."""
    taken = set(used)
    renaming: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        bare = name.lstrip("_")
        base = form.format(number if form == "var_{}" else bare)
        new = _styled(base, bare, form)
        candidate = name[: len(name) - len(bare)] + new
        again = 2
        while candidate in taken:
            candidate = f"{name[: len(name) - len(bare)]}{new}{again}"
            again += 1
        taken.add(candidate)
        renaming[name] = candidate
    return renaming


def _styled(new: str, bare: str, form: str) -> str:
    """``my_total`` for ``total``, ``MY_TOTAL`` for ``TOTAL``, ``myItemCount`` for ``itemCount``."""
    if len(bare) > 1 and bare.isupper():
        return new.upper()
    if "_" in bare or bare == bare.lower() or form == "var_{}":
        return new
    prefix = form.partition("_")[0]
    return prefix + bare[0].upper() + bare[1:] if prefix != "{}" else bare + "Var"
