"""Regular expressions that are compiled when they are first used.

The package holds some five hundred of them, and a run over one prompt uses less than a fifth: compiling them all as
their modules are loaded takes as long as making the mutations of ten prompts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable


class _Expression:
    """Stands for a compiled expression, whose attributes and methods are its own once one of them was asked for."""

    def __init__(self, pattern: str | Callable[[], str], flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    def __repr__(self) -> str:
        return f"expression({self._pattern!r}, {self._flags!r})"

    @property
    def pattern(self) -> str:
        """What is compiled."""
        return self._pattern if isinstance(self._pattern, str) else self._pattern()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update(
            {each: getattr(compiled, each) for each in dir(compiled) if not each.startswith("_")}
        )
        return getattr(compiled, name)


def expression(pattern: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile(pattern, flags)``, but compiled, and where ``pattern`` is a function made, at its first use.

    For expressions of a module; one that a user wrote is compiled where it is read, so that a mistake shows there.
    ``isinstance(…, re.Pattern)`` and the functions of ``re`` do not know it: use its methods.
    """
    return cast("re.Pattern[str]", _Expression(pattern, int(flags)))
