"""``fixtures="fresh"``: function-scoped fixtures set up anew for every run of the body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from _pytest.tmpdir import tmppath_result_key

if TYPE_CHECKING:
    import pytest


class Shared:
    """All runs of the body share the fixtures, as pytest set them up."""

    def arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the next run."""
        return arguments


class Fresh:
    """Tears the item's own fixtures down and sets them up again before every run but the first."""

    def __init__(self, item: pytest.Function) -> None:
        self._item = item
        self._first = True

    def arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the next run."""
        if self._first:
            self._first = False
            return arguments
        item = self._item
        # The item alone leaves the stack of what is set up; modules and sessions above it stay.
        state = item.session._setupstate  # noqa: SLF001 - pytest has no public way to set an item up again
        state.teardown_exact(item.parent)  # type: ignore[arg-type]  # it uses no more of it than its chain
        # tmp_path takes away what the report of its set-up left, and there is one report for all set-ups.
        item.stash.setdefault(tmppath_result_key, {})
        item._initrequest()  # noqa: SLF001 - as above
        state.setup(item)
        return {name: item.funcargs[name] for name in arguments}


def of(item: pytest.Function, *, fresh: bool) -> Shared | Fresh:
    """How the runs of an item get their fixtures."""
    return Fresh(item) if fresh else Shared()
