"""`Counterexample`: the smallest known change that breaks a test; what became of one that was asked again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.mutation import Mutation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.trials import Trial


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
        repeats: How often the changed prompt broke the answer in this way, and how often it was asked; in one run,
            or, as it is kept, in all runs so far.
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


# A counterexample that was known before, asked once more.


Now = Literal["breaks", "passes", "gone", "elsewhere", "varies", "unanswered"]
RETIRED: frozenset[Now] = frozenset({"passes", "gone"})

_MOST = 5  # answers, whatever they are
_DOUBT = 0.05  # that a change which broke so often passes by chance each time


@dataclass(frozen=True, slots=True)
class KnownCounterexample:
    """A counterexample as it is kept, and the name of the target that it was last seen to break; empty for none."""

    found: Counterexample
    target: str = ""

    @property
    def id(self) -> str:
        """The counterexample's."""
        return self.found.id

    def after(self, before: KnownCounterexample) -> KnownCounterexample:
        """The same, as it is kept: with the answers of the runs before."""
        (failed, asked), (failed_before, asked_before) = self.found.repeats, before.found.repeats
        found = replace(self.found, repeats=(failed + failed_before, asked + asked_before))
        return replace(self, found=found)

    def to_json(self) -> dict[str, Any]:
        """The same as JSON-able data; :meth:`from_json` is its inverse."""
        return {"target": self.target, **self.found.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """What :meth:`to_json` wrote; what else stands in the data is left alone.

        Raises:
            UsageError: A field is missing or of the wrong kind, or the mutation cannot be read.
        """
        found = Counterexample.from_json(data)
        target = data.get("target", "")
        if not isinstance(target, str):
            raise UsageError(f"A stored counterexample's target is a str, not {target!r:.80}.")
        return cls(found, target)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of it.

    Attributes:
        known: As it was kept.
        status: ``breaks`` the answer still; ``passes`` now; ``gone``: it has no place in the prompt any more;
            ``elsewhere``: it passes here, and was found on another target; ``varies``: it does both; ``unanswered``: it
            could not be asked.
        why: In a sentence: how it breaks, or why it is not asked.
        now: It in the prompt of today, with its answers; ``None`` where it was not answered.
        trial: An answer of today that breaks; ``None`` where none did.
    """

    known: KnownCounterexample
    status: Now
    why: str = ""
    now: Counterexample | None = None
    trial: Trial | None = None


def by_status(found: Sequence[Replayed]) -> dict[Now, tuple[int, str]]:
    """How many have each status, and why the first that says so has it."""
    amounts = Counter(each.status for each in found)
    return {
        status: (amount, next((each.why for each in found if each.status == status and each.why), ""))
        for status, amount in amounts.items()
    }


def told(broke: Sequence[bool], known: tuple[int, int], *, confirm: bool) -> Now | None:
    """What answers so far say; ``None`` where one more is needed.

    Args:
        broke: Whether each broke, in the order they were asked.
        known: How often it broke before, and how often it was asked then.
        confirm: Whether a break counts only if it comes again.
    """
    count, asked = sum(broke), len(broke)
    failed, before = known
    confirm = confirm or failed < before
    if not asked:
        return None
    if count == asked:
        return "breaks" if asked > confirm else None
    if not count:
        return "passes" if asked >= _passes(failed, before) else None
    if asked < 3:
        return None
    return "breaks" if 2 * count > asked else "varies"


def _passes(failed: int, asked: int) -> int:
    """How many answers in a row must pass until it is no chance: two, of what broke each time."""
    share = failed / asked if asked else 1.0
    if share >= 1:
        return 2
    return _MOST if share <= 0 else min(_MOST, max(2, math.ceil(math.log(_DOUBT) / math.log(1 - share))))
