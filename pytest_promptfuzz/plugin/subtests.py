"""pytest's ``subtests`` in a robust test: a failed subtest is a failure of its run, and judged as one.

pytest's own fixture reports a failure at once and hides it from the body: a mutation's failed oracle would fail the
test whatever its threshold, and count as equivalent all the same.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.plugin.bodies import ends_test

if TYPE_CHECKING:
    from collections.abc import Iterator


class RunSubtests:
    """Stands in for the ``subtests`` fixture during one run of a body: goes on after a failure, and keeps it."""

    def __init__(self) -> None:
        self._failures: list[BaseException] = []

    @contextmanager
    def test(self, msg: str | None = None, **kwargs: Any) -> Iterator[None]:
        """A subtest, as of pytest's own fixture."""
        try:
            yield
        except BaseException as error:
            if ends_test(error):
                raise
            if not isinstance(error, pytest.skip.Exception):
                _note(error, _label(msg, kwargs))
                self._failures.append(error)

    def settle(self) -> None:
        """Raise the first failure, if there was one."""
        __tracebackhide__ = True
        if self._failures:
            raise self._failures[0]


def stand_in(arguments: dict[str, Any]) -> tuple[dict[str, Any], RunSubtests]:
    """The arguments of a run with its own subtests in the place of pytest's."""
    own = RunSubtests()
    return {
        name: own if isinstance(value, pytest.Subtests) else value for name, value in arguments.items()
    }, own


def _label(msg: str | None, kwargs: dict[str, Any]) -> str:
    values = ", ".join(f"{name}={value!r}" for name, value in kwargs.items())
    return (
        " ".join(filter(None, (f"[{msg}]" if msg else "", f"({values})" if values else ""))) or "(<subtest>)"
    )


def _note(error: BaseException, label: str) -> None:
    add_note = getattr(error, "add_note", None)  # Python 3.11
    if add_note is not None:
        add_note(f"in subtest {label}")
