"""What can be told of a test's body from outside, and which exceptions end it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.running.run import ends_everything

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType


def checks_something(body: Any) -> bool:
    """Whether a body asserts, raises, or calls something named like a check, in its own code.

    Reads the compiled code: pytest has rewritten the source's assertions already.
    """
    function = inspect.unwrap(body)
    hypothesis = getattr(function, "hypothesis", None)
    function = getattr(hypothesis, "inner_test", function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and any(_checks(each) for each in _nested(code))


_NAMES = ("AssertionError", "@pytest_ar", "raises", "fail", "warns")
_PREFIXES = ("assert", "check", "expect", "verify", "validate")


def _checks(code: CodeType) -> bool:
    if any(name in _NAMES or name.lower().startswith(_PREFIXES) for name in code.co_names):
        return True
    import dis

    return any(
        instruction.opname in {"LOAD_ASSERTION_ERROR", "RAISE_VARARGS", "LOAD_COMMON_CONSTANT"}
        for instruction in dis.get_instructions(code)
    )


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _nested(constant)


def ends_test(error: BaseException) -> bool:
    """Whether an exception of a run ends the whole test: pytest's exit, the test's own timeout, an interrupt."""
    if ends_everything(error) or isinstance(error, pytest.exit.Exception):
        return True
    traceback = error.__traceback__
    while traceback is not None:
        # pytest-timeout interrupts the body with pytest.fail from its own signal handler.
        if traceback.tb_frame.f_globals.get("__name__") == "pytest_timeout":
            return True
        traceback = traceback.tb_next
    return False
