"""What settings may be: readers of text, whose docstrings say in messages what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Callable


def whole(low: int) -> Callable[[str], int]:
    """A reader of whole numbers from ``low``."""

    def read(text: str) -> int:
        number = int(text)
        if number < low:
            raise ValueError(f"a whole number of {low} or more")
        return number

    read.__doc__ = "a whole number" if low < 0 else f"a whole number of {low} or more"
    return read


def seed(text: str) -> int:
    """A whole number."""
    return int(text)


def share(text: str) -> float:
    """A number from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError("a number from 0 to 1")
    return number


def amount(text: str) -> float:
    """A number of 0 or more."""
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError("a number of 0 or more")
    return number


def one_of(*names: str) -> Callable[[str], str]:
    """A reader of ``names``."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(nearest(text, names))
        return text

    read.__doc__ = "one of " + ", ".join(names)
    return read


def switch(text: str) -> bool:
    """Either on or off."""
    return one_of("on", "off")(text) == "on"


def text(text: str) -> str:
    """A text."""
    return text


def endpoints(text: str) -> Any:
    """Endpoints, one a line: GLOB text=$.path system=$.path answer=$.path."""
    from pytest_promptfuzz.wire.custom import parse_endpoints

    return parse_endpoints(text)


def mutations(text: str) -> Any:
    """A count such as 8, counts such as lexical=3,synonym=2, or names such as lexical,synonym."""
    from pytest_promptfuzz.mutations.selection import read_mutations

    return read_mutations(text)


def operators(text: str) -> Any:
    """Names such as lexical,synonym, or weights such as lexical=3,synonym=1."""
    from pytest_promptfuzz.mutations.selection import read_operators

    return read_operators(text)
