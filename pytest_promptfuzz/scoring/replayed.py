"""A counterexample that was known before, asked once more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.scoring.counterexample import Counterexample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from pytest_promptfuzz.scoring.trial import Trial

Now = Literal["breaks", "passes", "gone", "elsewhere", "varies", "unanswered"]
RETIRED: frozenset[Now] = frozenset({"passes", "gone"})
PINNED = ("warn", "fail")
"""What a known counterexample that still breaks the answer may do to its test."""

_MOST = 5  # answers, whatever they are
_DOUBT = 0.05  # that a change which broke so often passes by chance each time


@dataclass(frozen=True, slots=True)
class Known:
    """A counterexample as it is kept, and the name of the target that it was last seen to break; empty for none."""

    found: Counterexample
    target: str = ""

    @property
    def id(self) -> str:
        """The counterexample's."""
        return self.found.id

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

    known: Known
    status: Now
    why: str = ""
    now: Counterexample | None = None
    trial: Trial | None = None


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


def said_of(found: Sequence[Replayed]) -> list[str]:
    """What is said of them, in a sentence, and why of each that is not as it was; nothing of none."""
    if not found:
        return []
    parts: list[str] = []
    of = {status: [each for each in found if each.status == status] for status in _SAID}
    for status, words in _SAID.items():
        if of[status]:
            one = len(of[status]) == 1
            why = next((each.why for each in of[status] if each.why), "")
            parts.append(f"{len(of[status])} {words[not one]}" + (f" ({why.rstrip('.')})" if why else ""))
    number = "1 known counterexample" if len(found) == 1 else f"{len(found)} known counterexamples"
    if len(parts) == 1:
        return [f"{number} {parts[0].partition(' ')[2]}"]
    return [f"{number}: {', '.join(parts)}"]


_SAID: dict[Now, tuple[str, str]] = {
    "breaks": ("still breaks the test", "still break the test"),
    "varies": ("sometimes breaks the test", "sometimes break the test"),
    "passes": ("no longer fails and was removed", "no longer fail and were removed"),
    "gone": ("no longer fits the prompt and was removed", "no longer fit the prompt and were removed"),
    "elsewhere": ("of another target does not fail here", "of another target do not fail here"),
    "unanswered": ("could not be asked", "could not be asked"),
}
