"""`Note`: what a decision found, as a code and values; ``wording.sentences`` makes its sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class Note:
    """What was found.

    Attributes:
        code: ``SUBJECT:FINDING``. ``wording/SUBJECT.py`` has a function for each finding, which makes the sentence.
        values: What that function takes: figures, texts, other notes.
    """

    code: str
    values: Mapping[str, Any]

    @classmethod
    def of(cls, code: str, **values: Any) -> Self:
        """A note with these values."""
        return cls(code, values)
