"""Counterexamples in reports: the smallest change that breaks an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from pytest_promptfuzz.scoring.counterexample import Counterexample


class CounterexampleReport(TypedDict):
    """A counterexample as it is stored (``mutation`` to ``repeats``), with what its mutation comes to.

    ``diff`` is ``[["=", same], ["-", removed], ["+", added], ...]`` over the prompt, ``prompt`` the changed one.
    """

    id: str
    mutation: dict[str, Any]
    trial: str
    case: int
    baseline: Any
    answer: Any
    failure: str
    minimal: bool
    calls: int
    repeats: list[int]
    diff: list[list[str]]
    prompt: str


def counterexample_report(found: Counterexample) -> CounterexampleReport:
    """As plain data; ``Counterexample.from_json`` reads it."""
    mutation = found.mutation
    made: Any = {
        **found.to_json(),
        "id": found.id,
        "diff": [[kind, text] for kind, text in mutation.diff()],
        "prompt": mutation.text,
    }
    return made  # type: ignore[no-any-return]  # it has the keys of the type
