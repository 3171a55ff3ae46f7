"""What a project's hooks offer by name: operators, tiers, guards, judges, formats of reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


def register_offered(config: pytest.Config, *, reporters: bool = False) -> None:
    """Make known what the hooks offer.

    Args:
        config: The run's.
        reporters: Formats of reports alone, which are asked for before the first test; otherwise all else.

    Raises:
        UsageError: A hook failed, or offered something else.
    """
    for kind, add in ({"reporters": _reporter} if reporters else _KINDS).items():
        hook = f"pytest_promptfuzz_{kind}"
        try:
            found = getattr(config.hook, hook)(config=config)
        except Exception as error:
            raise UsageError(f"A {hook} hook raised {type(error).__name__}: {error}") from error
        for offered in found:
            if isinstance(offered, str) or not isinstance(offered, Iterable):
                raise UsageError(f"{hook} returned {type(offered).__name__}; return a list of {kind}.")
            for each in offered:
                add(each, hook)


def _operator(value: Any, hook: str) -> None:
    from pytest_promptfuzz.mutations.operator import Operator
    from pytest_promptfuzz.mutations.registry import register

    if not isinstance(value, Operator):
        raise UsageError(
            f"{hook} returned {value!r:.60} among the operators; decorate it with @operator first."
        )
    register(value)


def _tier(value: Any, hook: str) -> None:
    from pytest_promptfuzz.comparing.parts import TIERS

    TIERS.add(value, hook)


def _guard(value: Any, hook: str) -> None:
    from pytest_promptfuzz.comparing.parts import GUARDS

    GUARDS.add(value, hook)


def _judge(value: Any, hook: str) -> None:
    from pytest_promptfuzz.judging.registry import JUDGES

    JUDGES.add(value, hook)


def _reporter(value: Any, hook: str) -> None:
    from pytest_promptfuzz.reporting.formats import REPORTERS

    REPORTERS.add(value, hook)


_KINDS: dict[str, Callable[[Any, str], None]] = {
    "operators": _operator,
    "tiers": _tier,
    "guards": _guard,
    "judges": _judge,
}
