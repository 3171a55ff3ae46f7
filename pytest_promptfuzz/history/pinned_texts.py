"""A pinned counterexample as a reviewer reads it: the lines before and after, the answers, and how it fails.

What follows from these, from the operator or from the prompt is left out: numbers that change with every edit elsewhere
say nothing to a reviewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.mutations.engine.edits import Edit, Ref, apply_edits, edits_from_json, edits_to_json
from pytest_promptfuzz.mutations.engine.mutation import Mutation, severity_of
from pytest_promptfuzz.mutations.engine.registry import builtin_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_promptfuzz.results.counterexamples import KnownCounterexample

_OF_OPERATOR = ("dimension", "preserves", "relation")
_ROUNDED = 0.002  # how far the severity of a smaller mutation may be from the one that is computed


def pinned_to_json(known: KnownCounterexample, prompt: str, target: str) -> dict[str, Any] | None:
    """A counterexample as text; ``None`` where it changes another prompt.

    Args:
        known: It.
        prompt: The snapshot's, of its input.
        target: The snapshot's.
    """
    found, mutation = known.found, known.found.mutation
    if mutation.original != prompt or not mutation.edits:
        return None
    start, end = _lines_of(mutation)
    before = prompt[start:end]
    edits = tuple(_moved(each, -start) for each in mutation.edits)
    after = apply_edits(before, edits)
    value: dict[str, Any] = {"operators": list(mutation.operators)}
    number = list(_places(prompt, before)).index(start)
    if number:
        value["place"] = number
    value |= {"before": before, "after": after}
    if _word_edit(before, after) != edits:
        value["edits"] = edits_to_json(edits)
    usual = _of_operator(mutation.operators)
    value |= {
        name: getattr(mutation, name) for name in _OF_OPERATOR if usual.get(name) != getattr(mutation, name)
    }
    if abs(_severity(mutation) - mutation.severity) > _ROUNDED:
        value["severity"] = mutation.severity
    value |= {"baseline": found.baseline, "answer": found.answer, "failure": found.failure}
    failed, asked = found.repeats
    if failed < asked:
        value["repeats"] = [failed, asked]
    if not found.minimal:
        value["minimal"] = False
    if found.case:
        value["case"] = found.case
    return value if known.target == target else {**value, "target": known.target}


def pinned_of_json(value: Mapping[str, Any], prompt: str, target: str) -> dict[str, Any]:
    """What ``KnownCounterexample.from_json`` reads, of what :func:`pinned_to_json` wrote.

    Args:
        value: It.
        prompt: The snapshot's, of its input.
        target: The snapshot's.

    Raises:
        ValueError: The lines do not stand in the prompt.
    """
    before, after = value["before"], value["after"]
    places = [*_places(prompt, before)]
    number = value.get("place", 0)
    if not isinstance(number, int) or not 0 <= number < len(places):
        raise ValueError(f"a counterexample changes {before!r:.60}, which does not stand in the prompt")
    edits = edits_from_json(value["edits"]) if "edits" in value else _word_edit(before, after)
    if apply_edits(before, edits) != after:
        raise ValueError(f"a counterexample does not make {after!r:.60} of {before!r:.60}")
    made = {
        "original": prompt,
        "edits": edits_to_json(tuple(_moved(each, places[number]) for each in edits)),
        "operators": value["operators"],
        "severity": 0.0,
        **_of_operator(value["operators"]),
        **{name: value[name] for name in _OF_OPERATOR if name in value},
    }
    made["severity"] = value.get("severity", _severity(Mutation.from_json(made)))
    repeats = value.get("repeats", [1, 1])
    return {
        "target": value.get("target", target),
        "mutation": made,
        "trial": "",
        "case": value.get("case", 0),
        "baseline": value["baseline"],
        "answer": value["answer"],
        "failure": value["failure"],
        "minimal": value.get("minimal", True),
        "calls": 0,
        "repeats": repeats,
    }


def _lines_of(mutation: Mutation) -> tuple[int, int]:
    """The whole lines that a mutation changes, or takes text from."""
    text = mutation.original
    spans = [(each.start, each.end) for each in mutation.edits]
    spans += [
        (part.start, part.end) for each in mutation.edits for part in each.parts if isinstance(part, Ref)
    ]
    start, end = min(span[0] for span in spans), max(span[1] for span in spans)
    stop = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if stop < 0 else stop


def _places(prompt: str, lines: str) -> Iterator[int]:
    """Where these whole lines stand in a prompt."""
    at = prompt.find(lines)
    while at >= 0:
        end = at + len(lines)
        if (not at or prompt[at - 1] == "\n") and (end == len(prompt) or prompt[end] == "\n"):
            yield at
        at = prompt.find(lines, at + 1)


def _moved(edit: Edit, by: int) -> Edit:
    parts = (each if isinstance(each, str) else Ref(each.start + by, each.end + by) for each in edit.parts)
    return Edit(edit.start + by, edit.end + by, tuple(parts))


def _word_edit(before: str, after: str) -> tuple[Edit, ...]:
    """The one edit that makes one text of another and touches whole words, as few as may be."""
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    tail = 0
    while tail < most - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    while start and _in_word(before[start - 1]):
        start -= 1
    while tail and _in_word(before[len(before) - tail]):
        tail -= 1
    return (Edit(start, len(before) - tail, (after[start : len(after) - tail],)),)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _of_operator(operators: object) -> dict[str, Any]:
    """What mutations of an operator have in common; empty of several, and of one that is not ours."""
    if not isinstance(operators, list | tuple) or len(operators) != 1:
        return {}
    operator = builtin_named(str(operators[0]).partition("@")[0])
    return {} if operator is None else {name: getattr(operator, name) for name in _OF_OPERATOR}


def _severity(mutation: Mutation) -> float:
    operator = (
        builtin_named(mutation.operators[0].partition("@")[0]) if len(mutation.operators) == 1 else None
    )
    return 0.0 if operator is None else severity_of(operator.severity, mutation.change_rate)
