"""The hooks that this plugin calls, for `conftest.py` files and other plugins to implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

    from pytest_promptfuzz.comparing.custom_checks import Guard, SimilarityTier
    from pytest_promptfuzz.judging.ratings import Judge
    from pytest_promptfuzz.mutations.engine.operator import Operator
    from pytest_promptfuzz.reporting.report_files import Reporter
    from pytest_promptfuzz.storage.redaction import Redactor


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


def pytest_promptfuzz_tiers(config: pytest.Config) -> Iterable[SimilarityTier]:  # type: ignore[empty-body]  # a hook's specification
    """Tiers that the tests of this run may name in ``tiers=``.

    Called once, before the first robust test runs; docs/judges.md has an example.

    Args:
        config: The session's configuration.

    Returns:
        Tiers, each under a name of its own: functions decorated with ``@tier("name")``, or objects with a ``name`` and
        ``similarity(baseline, response)``.
    """


def pytest_promptfuzz_guards(config: pytest.Config) -> Iterable[Guard]:  # type: ignore[empty-body]  # a hook's specification
    """Guards that the tests of this run may name in ``guards=``.

    Called once, before the first robust test runs; docs/judges.md has an example.

    Args:
        config: The session's configuration.

    Returns:
        Guards, each under a name of its own: functions decorated with ``@guard("name")``, or objects with a ``name``
        and ``check(baseline, response)``.
    """


def pytest_promptfuzz_judges(config: pytest.Config) -> Iterable[Judge]:  # type: ignore[empty-body]  # a hook's specification
    """Judges that the tests of this run, and the run itself, may name in ``judge=``.

    Called once, before the first robust test runs; docs/judges.md has an example.

    Args:
        config: The session's configuration.

    Returns:
        Judges, each under a name of its own: functions decorated with ``@judge("name")``, or objects with a ``name``
        and ``rate(pair)``.
    """


def pytest_promptfuzz_redactors(config: pytest.Config) -> Iterable[Redactor]:  # type: ignore[empty-body]  # a hook's specification
    r"""Functions that take out of texts what must not be stored: names, addresses, numbers of customers.

    Every text that is stored, shown or made into a key passes them, after credentials were hidden in it: texts of
    requests and answers, recordings, local answers, snapshots, history, reports, test IDs::

        # conftest.py
        import re

        def personal(text, name):
            if name == "customer":
                return "[customer]"
            return re.sub(r"[\w.]+@example\.com", "[mail]", text)

        def pytest_promptfuzz_redactors(config):
            return [personal]

    A function is given the text and the name of the field it stands in, empty where it stands in none. It has to give
    the same for the same text in every run, or recordings are not found again; and to leave alone what it made itself.
    The hook may be called more than once.

    Args:
        config: The session's configuration.

    Returns:
        Functions of ``(text, name)`` that return the text.
    """


def pytest_promptfuzz_reporters(config: pytest.Config) -> Iterable[Reporter]:  # type: ignore[empty-body]  # a hook's specification
    """Formats that ``--promptfuzz-report=NAME:PATH`` may name.

    Called once, when the session starts, if reports are asked for, so that it belongs in the ``conftest.py`` of the
    root or of a folder that pytest is given; docs/reports.md has an example.

    Args:
        config: The session's configuration.

    Returns:
        Formats, each under a name of its own: functions decorated with ``@reporter("name")``, or objects with a
        ``name`` and ``render(document)``.
    """
