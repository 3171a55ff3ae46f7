"""What a project's hooks offer by name: operators, tiers, guards, judges, formats of reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from pytest_promptfuzz.wire.redact import Redactor

    _Forget = Callable[[], None]


def register_offered(config: pytest.Config, *, reporters: bool = False) -> None:
    """Make known what the hooks offer, until the run ends: another may follow in the same process, or go on around it.

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
                config.add_cleanup(add(each, hook))


def offered_redactors(config: pytest.Config) -> tuple[Redactor, ...]:
    """What a project's ``pytest_promptfuzz_redactors`` hooks return, in their order.

    Raises:
        UsageError: A hook failed, or offered something else than functions.
    """
    hook = "pytest_promptfuzz_redactors"
    try:
        offered = config.hook.pytest_promptfuzz_redactors(config=config)
    except Exception as error:
        raise UsageError(f"A {hook} hook raised {type(error).__name__}: {error}") from error
    for several in offered:
        if isinstance(several, str) or not isinstance(several, Iterable):
            raise UsageError(f"{hook} returned {type(several).__name__}; return a list of functions.")
    found = tuple(each for several in offered for each in several)
    for each in found:
        if not callable(each):
            raise UsageError(
                f"{hook} returned {each!r:.60} among the functions; return functions of (text, name)."
            )
    return found


def _operator(value: Any, hook: str) -> _Forget:
    from pytest_promptfuzz.mutations.operator import Operator
    from pytest_promptfuzz.mutations.registry import lend

    if not isinstance(value, Operator):
        raise UsageError(
            f"{hook} returned {value!r:.60} among the operators; decorate it with @operator first."
        )
    return lend(value)


def _tier(value: Any, hook: str) -> _Forget:
    from pytest_promptfuzz.comparing.custom_checks import TIERS

    return TIERS.lend(value, hook)


def _guard(value: Any, hook: str) -> _Forget:
    from pytest_promptfuzz.comparing.custom_checks import GUARDS

    return GUARDS.lend(value, hook)


def _judge(value: Any, hook: str) -> _Forget:
    from pytest_promptfuzz.judging.registry import JUDGES

    return JUDGES.lend(value, hook)


def _reporter(value: Any, hook: str) -> _Forget:
    from pytest_promptfuzz.reporting.formats import REPORTERS

    return REPORTERS.lend(value, hook)


_KINDS: dict[str, Callable[[Any, str], _Forget]] = {
    "operators": _operator,
    "tiers": _tier,
    "guards": _guard,
    "judges": _judge,
}
