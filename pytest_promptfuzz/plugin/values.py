"""What settings may be: readers of text, whose docstrings say in messages what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import nearest
from pytest_promptfuzz.running.limits.given import whole

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "conditions",
    "controls",
    "embedder",
    "endpoints",
    "entailment",
    "hosts",
    "kept",
    "mutations",
    "one_of",
    "operators",
    "queries",
    "seed",
    "share",
    "text",
    "whole",
]


def seed(text: str) -> int:
    """A whole number."""
    return int(text)


def queries(text: str) -> int:
    """A whole number of 0 or more, or off."""
    return 0 if text == "off" else whole(0)(text)


def controls(text: str) -> int:
    """1, or 0 or off."""
    if text not in {"0", "1", "off"}:
        raise ValueError("1, or 0 or off")
    return int(text == "1")


def kept(text: str) -> int:
    """A whole number of 0 or more, or off."""
    return queries(text)


def conditions(text: str) -> Any:
    """A condition such as score drop > 0.05, or several with commas."""
    from pytest_promptfuzz.history.conditions import read_conditions

    return tuple(read_conditions(text))


def share(text: str) -> float:
    """A number from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError("a number from 0 to 1")
    return number


def one_of(*names: str) -> Callable[[str], str]:
    """A reader of ``names``."""

    def read(text: str) -> str:
        if text not in names:
            hint = nearest(text, names)
            raise ValueError("" if hint.startswith("Known") else hint)  # what is expected is said with it
        return text

    read.__doc__ = "one of " + ", ".join(names)
    return read


def switch(text: str) -> bool:
    """Either on or off."""
    return one_of("on", "off")(text) == "on"


def text(text: str) -> str:
    """A text."""
    return text


def embedder(text: str) -> str:
    """A provider of embeddings such as openai:text-embedding-3-small or compatible:MODEL@URL."""
    from pytest_promptfuzz.targets.embeddings import embeddings

    embeddings(text)
    return text


def entailment(text: str) -> str:
    """The folder of an entailment model."""
    from pytest_promptfuzz.embedding.entailment_models import check_entailment_folder

    return check_entailment_folder(text)


def endpoints(text: str) -> Any:
    """Endpoints, one a line: GLOB text=$.path system=$.path answer=$.path."""
    from pytest_promptfuzz.wire.custom import parse_endpoints

    return parse_endpoints(text)


def hosts(text: str) -> Any:
    """A host such as db.internal, db.internal:5432 or *.internal, or several with commas."""
    from pytest_promptfuzz.wire.network import AllowedHosts

    return AllowedHosts.parse(text)


def mutations(text: str) -> Any:
    """A count such as 8, counts such as lexical=3,synonym=2, or names such as lexical,synonym."""
    from pytest_promptfuzz.mutations.selection import read_mutations

    return read_mutations(text)


def operators(text: str) -> Any:
    """Names such as lexical,synonym, or weights such as lexical=3,synonym=1."""
    from pytest_promptfuzz.mutations.selection import read_operators

    return read_operators(text)
