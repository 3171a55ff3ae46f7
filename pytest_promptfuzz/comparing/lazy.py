"""Attributes worked out when first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  # reads as the built-in property does
    """``functools.cached_property`` without the lock of Python 3.10 and 3.11, dearer than most features."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self._find = find
        self._name = find.__name__
        self.__doc__ = find.__doc__

    def __get__(self, owner: Any, kind: type) -> T:
        """The value, which from then on stands in the object itself."""
        value = self._find(owner)
        setattr(owner, self._name, value)  # into the object's ``__dict__`` it would go by way of making one
        return value
