"""Tiers and guards that users write: ``@tier``, ``@guard``, their protocols and registry, and how they are asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier
from pytest_promptfuzz.comparing.formats.data_text import text_of
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.errors import PartError, PromptfuzzError, UsageError, nearest, unstopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.comparing.comparison import Outcome
    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.comparing.profiles import Profile

    Measure = Callable[[str, str], float | None]
    Check = Callable[[str, str], Finding | str | None]


# Tiers, guards and judges by name: our own, those added by hand or by a hook, those of installed packages.


Part = TypeVar("Part")


class Registry(Generic[Part]):
    """The parts of one kind.

    Args:
        noun: What one is called in messages: ``tier``.
        group: The group of entry points by which installed packages offer more; each loads to a part.
        read: Makes a part of an object that is one, or can be made one; raises ``UsageError`` otherwise.
        own: Our own, by name; called when a name is looked up.
    """

    def __init__(
        self,
        noun: str,
        group: str,
        read: Callable[[Any], Part],
        own: Callable[[], Mapping[str, Part]],
    ) -> None:
        self.noun = noun
        self.group = group
        self._read = read
        self._own = own
        self._added: dict[str, Part] = {}
        self._installed: dict[str, Part] | None = None

    def add(self, part: object, where: str) -> Part:
        """Make a part known by its name in this process; the same one may be added again.

        Args:
            part: What is to be known.
            where: Who offers it, for messages.

        Raises:
            UsageError: It is none, or another has its name.
        """
        made = self.one(part, where)
        name = _name(made)
        known = self._own().get(name) or self._added.get(name)
        if known is not None and known != made:
            raise UsageError(f"{where}: a {self.noun} {name!r} exists already; give this one another name.")
        self._added[name] = made
        return made

    def lend(self, part: object, where: str) -> Callable[[], None]:
        """Make a part known as `add` does, until what is returned is called."""
        before = dict(self._added)
        self.add(part, where)

        def forget() -> None:
            self._added = before

        return forget

    def one(self, named: object, where: str) -> Part:
        """The part that is meant: by its name, as an object, or as a function.

        Raises:
            UsageError: There is none of that name, or the object is none.
        """
        if not isinstance(named, str):
            try:
                return self._read(named)
            except UsageError as error:
                raise UsageError(f"{where}: {error}") from None
        found = self._own().get(named) or self._added.get(named) or self.installed().get(named)
        if found is None:
            names = self.names()
            hint = nearest(named, names) if names else f"There is no {self.noun} by name here."
            raise UsageError(f"{where}: unknown {self.noun} {named!r:.80}. {hint}")
        return found

    def several(self, named: object, where: str) -> tuple[Part, ...]:
        """The parts that are meant, in order; ``None`` is none.

        Raises:
            UsageError: As ``one``, it is no list, or two of the parts share a name.
        """
        if named is None:
            return ()
        if isinstance(named, str) or not isinstance(named, list | tuple):
            shown = repr(named)[:80]
            raise UsageError(f"{where}={shown} is not a list of {self.noun}s or of their names.")
        parts = tuple(self.one(each, where) for each in named)
        names = [_name(each) for each in parts]
        twice = next((each for each in names if names.count(each) > 1), None)
        if twice is not None:
            raise UsageError(f"{where}: two {self.noun}s are called {twice!r}; give one another name.")
        return parts

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted({*self._own(), *self._added, *self.installed()})

    def installed(self) -> dict[str, Part]:
        """The parts of installed packages; loaded when a name is not known otherwise.

        Raises:
            UsageError: An entry point does not load, or loads to something else.
        """
        if self._installed is None:
            from importlib.metadata import entry_points

            found: dict[str, Part] = {}
            points: Iterable[Any] = entry_points(group=self.group)
            for point in sorted(points, key=lambda each: (each.name, each.value)):
                where = f"The {self.noun} {point.name!r} ({point.value})"
                try:
                    part = self._read(point.load())
                except Exception as error:
                    raise UsageError(f"{where} does not load: {unstopped(error)}.") from error
                found[_name(part)] = part
            self._installed = found
        return self._installed


def _name(part: object) -> str:
    return str(getattr(part, "name", ""))


# Tiers and guards: what they are, how they are made of a function, and those that are known by name.


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
    from pytest_promptfuzz.comparing.metrics import TIERS

    # Shared words and characters prove likeness; a faithful rewording may have few.
    return {name: FunctionTier(name, measure, tells_apart=False) for name, measure in TIERS.items()}


def _own_guards() -> dict[str, Guard]:
    from pytest_promptfuzz.comparing.guards.checks import CHECKS
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.reading.text import analyse

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


_LONGEST = 300


def open_to_tiers(found: Comparison) -> bool:
    """Whether a comparison was made by words or by meaning, or not at all: what a tier may know better.

    What is equal by value, a label, a form or a contradiction that a guard found stays as it is.
    """
    if found.outcome == "undecided":
        return True
    doubtful = found.outcome == "minor" and found.reason.startswith("guard:")
    return doubtful or (found.outcome != "equivalent" and found.reason in {"token", "semantic"})


def settled(
    values: Callable[[Embedder | None], Comparison],
    embedder: Embedder | None,
    first: Any,
    second: Any,
    profile: Profile,
    tiers: Sequence[SimilarityTier],
    guards: Sequence[Guard],
) -> Comparison:
    """A comparison with tiers and guards of one's own.

    Args:
        values: Compares, with the embedder it is given.
        embedder: What embeds texts; used where the tiers cannot tell.
        first: The baseline as plain data.
        second: The response as plain data.
        profile: Whose thresholds count.
        tiers: In the order in which they are asked.
        guards: All of them are asked, up to the first contradiction.
    """
    one, two = text_of(first), text_of(second)
    found = values(None if tiers else embedder)
    if tiers and open_to_tiers(found):
        found = by_tiers(found, one, two, profile, tiers) or (values(embedder) if embedder else found)
    return found if found.outcome == "deviation" else by_guards(found, one, two, guards)


def by_tiers(
    found: Comparison, first: str, second: str, profile: Profile, tiers: Iterable[SimilarityTier]
) -> Comparison | None:
    """What the first tier says that can tell; ``None`` where none can.

    A guard's doubt keeps the outcome from being ``equivalent``.

    Raises:
        PartError: A tier raised, or returned no number from 0 to 1.
    """
    doubt = next((each.observed for each in found.tiers if each.name.startswith("guard:")), "")
    asked: list[Tier] = []
    for each in tiers:
        similarity = _similarity(each, first, second)
        asked.append(Tier(each.name, similarity))
        if similarity is None or (similarity < profile.minor_at and not getattr(each, "tells_apart", True)):
            continue
        outcome: Outcome = (
            "deviation"
            if similarity < profile.minor_at
            else "equivalent"
            if similarity >= profile.equivalent_at and not doubt
            else "minor"
        )
        told = Observation(_ALIKE[outcome], each.name, similarity)
        return Comparison(
            outcome,
            similarity,
            f"tier:{each.name}",
            Observation("and-besides", told, doubt) if doubt else told,
            (*found.tiers, *asked),
        )
    return None


_ALIKE: dict[Outcome, str] = {"equivalent": "tier-same", "minor": "tier-close", "deviation": "tier-different"}


def by_guards(found: Comparison, first: str, second: str, guards: Sequence[Guard]) -> Comparison:
    """The comparison, held against guards: a contradiction is a deviation, a doubt keeps it from being equivalent.

    Raises:
        PartError: A guard raised, or returned something else than a text, a ``Finding`` or ``None``.
    """
    for each in guards:
        kind, said = _finding(each, first, second)
        if not said:
            continue
        name = f"guard:{each.name}"
        if kind == "contradiction":
            return Comparison("deviation", 0.0, name, said, (*found.tiers, Tier(name, 0.0, said)))
        tiers = (*found.tiers, Tier(name, None, said))
        if found.outcome == "equivalent":
            similarity = min(found.similarity or 0.0, 0.99)
            found = Comparison("minor", similarity, name, said, tiers)
        else:
            found = found.but(tiers=tiers)
    return found


def _similarity(each: SimilarityTier, first: str, second: str) -> float | None:
    value = asked_of("tier", each.name, lambda: each.similarity(first, second))
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or math.isnan(value) or not 0 <= value <= 1:
        raise PartError(
            f"the tier {each.name!r} returned {value!r:.80}; similarity() returns a number from 0 to 1, or None where "
            "it cannot tell",
            part="tier",
        )
    return float(value)


def _finding(each: Guard, first: str, second: str) -> tuple[str, Observation | str]:
    value = asked_of("guard", each.name, lambda: each.check(first, second))
    if value is None:
        return "", ""
    if isinstance(value, Finding):
        return value.kind, value.observed
    if isinstance(value, str) and value.strip():
        return "contradiction", " ".join(value.split())[:_LONGEST]
    raise PartError(
        f"the guard {each.name!r} returned {value!r:.80}; check() returns what contradicts as a text, a Finding, or "
        "None for nothing",
        part="guard",
    )
