"""A counterexample: the smallest change of a prompt that is known to break what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.mutation import Mutation

if TYPE_CHECKING:
    from typing_extensions import Self

    from pytest_promptfuzz.prompts.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The smallest change known that breaks an answer, and how.

    Attributes:
        mutation: The change.
        trial: The ID of the trial that it was found from.
        case: Which example or input it breaks, from 0.
        baseline: The unmutated prompt's answer, as plain data.
        answer: The answer to the changed prompt, as plain data.
        failure: How it fails, in one line: the exception, or why the answer differs.
        minimal: Whether leaving out any one of its edits was seen to break nothing.
        calls: How often a prompt was asked to find it.
        repeats: How often the changed prompt broke the answer in this way, and how often it was asked.
    """

    mutation: Mutation
    trial: str
    case: int
    baseline: Any
    answer: Any
    failure: str
    minimal: bool
    calls: int
    repeats: tuple[int, int]

    @property
    def id(self) -> str:
        """The mutation's: 12 hexadecimal digits over prompt and edits."""
        return self.mutation.id

    def to_json(self) -> dict[str, Any]:
        """The same as JSON-able data; :meth:`from_json` is its inverse."""
        return {
            "mutation": self.mutation.to_json(),
            "trial": self.trial,
            "case": self.case,
            "baseline": self.baseline,
            "answer": self.answer,
            "failure": self.failure,
            "minimal": self.minimal,
            "calls": self.calls,
            "repeats": list(self.repeats),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, source: Prompt | None = None) -> Self:
        """The counterexample that :meth:`to_json` wrote; what else stands in the data is left alone.

        Args:
            data: What was stored.
            source: The prompt it belongs to, whose text must be the stored original.

        Raises:
            UsageError: A field is missing or of the wrong kind, or the mutation cannot be read.
        """
        if not isinstance(data, Mapping):
            raise UsageError(f"A stored counterexample is a mapping, not {type(data).__name__}.")
        missing = [name for name in cls.__dataclass_fields__ if name not in data]
        if missing:
            raise UsageError(f"A stored counterexample lacks {', '.join(missing)}.")
        for name, kind in (("trial", str), ("failure", str), ("minimal", bool)):
            if not isinstance(data[name], kind):
                raise UsageError(
                    f"A stored counterexample's {name} is a {kind.__name__}, not {data[name]!r:.80}."
                )
        repeats = data["repeats"]
        if not isinstance(repeats, list | tuple) or len(repeats) != 2:
            raise UsageError(
                f"A stored counterexample's repeats are [failed, asked], two numbers, not {repeats!r:.80}."
            )
        failed, asked = (_count(each, "repeats") for each in repeats)
        if failed > asked:
            raise UsageError(f"A stored counterexample failed {failed} of {asked} times.")
        return cls(
            Mutation.from_json(data["mutation"], source=source),
            data["trial"],
            _count(data["case"], "case"),
            data["baseline"],
            data["answer"],
            data["failure"],
            data["minimal"],
            _count(data["calls"], "calls"),
            (failed, asked),
        )


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(
            f"A stored counterexample's {name} is a whole number of 0 or more, not {value!r:.80}."
        )
    return value
