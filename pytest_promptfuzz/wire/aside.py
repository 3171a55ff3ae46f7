"""Where models that help to make mutations keep their answers, and which gate their calls pass.

It stands apart from what asks them, so that a run in which none helps does not load that.
"""

from __future__ import annotations

import contextvars
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.wire.answers import AnswerStore
    from pytest_promptfuzz.wire.gate import Gate

helper_store: contextvars.ContextVar[AnswerStore | None] = contextvars.ContextVar(
    "promptfuzz_helper_store", default=None
)
helper_gate: contextvars.ContextVar[Gate | None] = contextvars.ContextVar(
    "promptfuzz_helper_gate", default=None
)


@contextmanager
def answers_kept_in(store: AnswerStore | None, gate: Gate | None = None) -> Iterator[None]:
    """Have the models that help keep their answers in ``store`` inside the block, if it is one.

    Their calls pass ``gate`` on their way out.

    An operator's own ``store=`` comes first.
    """
    token = helper_store.set(store if store is not None else helper_store.get())
    passed = helper_gate.set(gate if gate is not None else helper_gate.get())
    try:
        yield
    finally:
        helper_store.reset(token)
        helper_gate.reset(passed)
