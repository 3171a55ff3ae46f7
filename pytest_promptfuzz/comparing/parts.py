"""Tiers and guards: what they are, how they are made of a function, and those that are known by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from pytest_promptfuzz.comparing.registry import Registry
from pytest_promptfuzz.errors import PartError, PromptfuzzError, UsageError, unstopped

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.comparing.guards.pair import Finding

    Measure = Callable[[str, str], float | None]
    Check = Callable[[str, str], Finding | str | None]

_CALLED = TypeVar("_CALLED")


@runtime_checkable
class SimilarityTier(Protocol):
    """Tells how alike two answers are. One that has ``tells_apart = False`` proves likeness only.

    Attributes:
        name: What reports and messages call it.
    """

    @property
    def name(self) -> str:
        """What reports and messages call it."""
        ...

    def similarity(self, baseline: str, response: str) -> float | None:
        """0 (nothing in common) to 1 (the same); ``None`` where it cannot tell, and the next one is asked."""
        ...


@runtime_checkable
class Guard(Protocol):
    """Looks for one thing that no similarity may hide."""

    @property
    def name(self) -> str:
        """What reports and messages call it."""
        ...

    def check(self, baseline: str, response: str) -> Finding | str | None:
        """What contradicts, in a clause for people, or a ``Finding``, which may be a doubt; ``None`` for nothing."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionTier:
    """A tier made of a function of two texts.

    Attributes:
        name: Its name.
        function: ``(baseline, response) -> float | None``.
        tells_apart: Whether a low value shows that the answers differ; otherwise it leaves that open.
    """

    name: str
    function: Measure
    tells_apart: bool = True

    def similarity(self, baseline: str, response: str) -> float | None:
        """What the function says."""
        return self.function(baseline, response)


@dataclass(frozen=True, slots=True)
class FunctionGuard:
    """A guard made of a function of two texts."""

    name: str
    function: Check

    def check(self, baseline: str, response: str) -> Finding | str | None:
        """What the function says."""
        return self.function(baseline, response)


def tier(name: str, *, tells_apart: bool = True) -> Callable[[Measure], FunctionTier]:
    """Make a tier of a function of two texts.

    Args:
        name: What reports call it.
        tells_apart: Whether a value below ``minor_at`` shows that the answers differ. ``False`` for what proves
            likeness only, as shared words do: a rewording may have few.
    """
    check_name(name, "tier")
    return lambda function: FunctionTier(name, function, tells_apart)


def guard(name: str) -> Callable[[Check], FunctionGuard]:
    """Make a guard of a function of two texts, which returns what contradicts, or ``None``.

    Args:
        name: What reports call it: its findings have the reason ``guard:NAME``.
    """
    check_name(name, "guard")
    return lambda function: FunctionGuard(name, function)


def check_name(name: object, noun: str) -> None:
    """Refuse a decorator without a name.

    Raises:
        UsageError: The name is none.
    """
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"@{noun} takes a name, @{noun}('{noun}-name'), not {name!r:.60}.")


def _as_tier(value: Any) -> SimilarityTier:
    if not isinstance(value, type) and isinstance(value, SimilarityTier):
        return value
    raise UsageError(
        f"{value!r:.80} is no tier: decorate a function of baseline and response with @tier('name'), or give an object "
        "with a name and similarity(baseline, response)."
    )


def _as_guard(value: Any) -> Guard:
    if not isinstance(value, type) and isinstance(value, Guard):
        return value
    raise UsageError(
        f"{value!r:.80} is no guard: decorate a function of baseline and response with @guard('name'), or give an "
        "object with a name and check(baseline, response)."
    )


def _own_tiers() -> dict[str, SimilarityTier]:
    from pytest_promptfuzz.comparing.tiers import TIERS

    # Shared words and characters prove likeness; a faithful rewording may have few.
    return {name: FunctionTier(name, measure, tells_apart=False) for name, measure in TIERS.items()}


def _own_guards() -> dict[str, Guard]:
    from pytest_promptfuzz.comparing.guards import CHECKS
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.text import analyse

    def checked(check: Callable[[Pair], Finding | None]) -> Check:
        return lambda baseline, response: check(Pair(analyse(baseline), analyse(response)))

    return {name: FunctionGuard(name, checked(check)) for name, check in CHECKS.items()}


TIERS: Registry[SimilarityTier] = Registry("tier", "promptfuzz.tiers", _as_tier, _own_tiers)
GUARDS: Registry[Guard] = Registry("guard", "promptfuzz.guards", _as_guard, _own_guards)


def asked_of(noun: str, name: str, ask: Callable[[], _CALLED]) -> _CALLED:
    """What a part of one's own returns.

    Raises:
        PartError: It raised something; our own errors pass.
    """
    try:
        return ask()
    except PromptfuzzError:
        raise
    except Exception as error:
        raise PartError(
            f"the {noun} {name!r} raised {type(error).__name__}: {unstopped(error)}", part=noun
        ) from error
