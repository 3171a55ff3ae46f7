"""Tests that call the model themselves, rehearsed for ``promptfuzz prefill``: their bodies run, and ask nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.errors import PromptfuzzError, UsageError
from pytest_promptfuzz.evaluating.rehearsal import Rehearsal
from pytest_promptfuzz.plugin.engine import Engine
from pytest_promptfuzz.plugin.progress import ItemProgress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.plugin.prefilling import Planned


@contextmanager
def rehearsed(item: pytest.Item, planned: Planned) -> Iterator[None]:
    """Have the body run while the block lasts, each run up to a call without an answer; what it asks is planned."""
    try:
        if not isinstance(item, pytest.Function):
            raise UsageError("it is no Python test function")
        engine = Engine(item, ItemProgress(item))
        engine.job = rehearsal = Rehearsal.of(engine.job)
        with engine.installed():
            yield
        if not rehearsal.cases:
            raise UsageError("its body never ran; an async test needs pytest-asyncio or anyio")
    except PromptfuzzError as error:
        planned.unplanned(item.nodeid, str(error).removeprefix(f"{item.nodeid}: "))
    else:
        planned.add_rehearsal(engine, rehearsal)
    pytest.skip("dry run")
