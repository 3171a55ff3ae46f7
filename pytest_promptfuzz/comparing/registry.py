"""Tiers, guards and judges by name: our own, those added by hand or by a hook, those of installed packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pytest_promptfuzz.errors import UsageError, nearest, unstopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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
            raise UsageError(f"{where}={shown} must be a list of {self.noun}s or of their names.")
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
