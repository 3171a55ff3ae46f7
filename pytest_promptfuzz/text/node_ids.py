"""Parts of the names that pytest gives tests."""

from __future__ import annotations


def function_of(test: str) -> str:
    """The function of a test, without its module, class and parameters.

    >>> function_of("test_it.py::TestA::test_b[x::1]")
    'test_b'
    """
    return test.partition("[")[0].rpartition("::")[2]
