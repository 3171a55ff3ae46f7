"""The hooks that this plugin calls, for `conftest.py` files and other plugins to implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

    from pytest_promptfuzz.mutations.operator import Operator


def pytest_promptfuzz_operators(config: pytest.Config) -> Iterable[Operator]:  # type: ignore[empty-body]  # a hook's specification
    """Operators that the tests of this run may name in ``operators=`` and ``mutations=``.

    Called once, before the first robust test runs::

        # conftest.py
        from pytest_promptfuzz import Edit, operator

        @operator("sign-off", dimension="augmentation", severity=0.1, preserves="yes")
        def sign_off(draft, rng):
            "A closing phrase at the end."
            yield [Edit(len(draft.text), len(draft.text), (rng.choice((" Thanks!", " Thank you.")),))]

        def pytest_promptfuzz_operators(config):
            return [sign_off]

    Args:
        config: The session's configuration.

    Returns:
        Operators, each under a name of its own.
    """
