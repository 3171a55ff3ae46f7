"""Robust tests run by commands (``promptfuzz explain``, ``replay``); the command that reproduces one trial."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.plugin.marks import is_robust

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.evaluating.contract import EvaluationSettings
    from pytest_promptfuzz.evaluating.evaluate import Input
    from pytest_promptfuzz.evaluating.evaluation import Evaluation
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.storage.redaction import Redaction


_MOST_CALLS = "--promptfuzz-max-calls"
_WHOLE = ("--promptfuzz-stop=never", "--promptfuzz-shrink=0")
_NO_CONTROL = "--promptfuzz-controls=0"
NOTHING_STORED = f"{_MOST_CALLS} is 0"
"""What stands in the message of a test whose unmutated prompt has no stored answer."""


@dataclass(slots=True, eq=False)
class RunResults:
    """The results of a run, for whoever runs pytest in this process.

    Attributes:
        found: By test: its result, and what is hidden before any of it is shown.
        failed: By test without a result: why.
        replays: Whether one trial is run again; otherwise what is stored is explained.
        makes: Makes the evaluation of a test, where it is to be of another kind.
    """

    found: dict[str, tuple[Robustness, Redaction]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    replays: bool = False
    makes: Callable[[EvaluationSettings], Evaluation] | None = None

    def take(
        self, test: str, result: Robustness, evaluation: Evaluation, inputs: Sequence[Input] | None
    ) -> None:
        """A test has a result.

        Args:
            test: Its node ID.
            result: What it came to.
            evaluation: That it came to in.
            inputs: Of a declarative test; ``None`` for others.
        """
        from pytest_promptfuzz.plugin.output.redaction import redaction_of

        del inputs
        self.found[test] = (result, redaction_of(evaluation.session))

    def pytest_configure(self, config: pytest.Config) -> None:
        """Be found by what runs the tests."""
        config.stash[RESULTS] = self

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out every test that is not ours: it would run."""
        others = [item for item in items if not is_robust(item)]
        items[:] = [item for item in items if is_robust(item)]
        if others:
            config.hook.pytest_deselected(items=others)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep why a test has no result."""
        if not report.passed and report.nodeid not in self.found:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = (
                report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            )  # of a skip
            said = (
                str(getattr(crash, "message", "") or reason or report.outcome)
                .strip()
                .removeprefix("Skipped: ")
            )
            self.failed.setdefault(report.nodeid, said)


def run_stored(arguments: Sequence[str]) -> RunResults:
    """Run the robust tests of a suite with stored answers, and none else, with pytest in this process.

    Their bodies run. What is not stored is an error of its trial; the stored answers are left as they are.

    Args:
        arguments: pytest's own.

    Raises:
        UsageError: pytest cannot collect or run them; the message holds what it printed.
    """
    return _run(
        [
            *arguments,
            f"{_MOST_CALLS}=0",
            "--promptfuzz-store=",
            *_WHOLE,
            _NO_CONTROL,
            "--promptfuzz-mode=auto",
        ],
        RunResults(),
    )


def run_one(test: str, trial: str, arguments: Sequence[str]) -> RunResults:
    """Run one trial of one test, with pytest in this process; what is not stored is asked.

    Args:
        test: Its node ID, the path of the module absolute.
        trial: The trial's ID, or a counterexample's.
        arguments: More for pytest.

    Raises:
        UsageError: pytest cannot collect or run it; the message holds what it printed.
    """
    return _run([test, *arguments, f"--promptfuzz-trial={trial}"], RunResults(replays=True))


def _run(arguments: Sequence[str], results: RunResults) -> RunResults:
    printed = io.StringIO()
    workers = ["-n0"] if find_spec("xdist") is not None else []
    with tempfile.TemporaryDirectory() as folder:
        ours = [
            *workers,
            "--no-header",
            "-q",
            f"-ocache_dir={folder}",  # what failed last is no matter of this run
            "-Wignore::pytest.PytestAssertRewriteWarning",  # the command has loaded the plugin before pytest does
        ]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = pytest.main([*arguments, *ours], plugins=[results])
    ran = {
        pytest.ExitCode.OK,
        pytest.ExitCode.TESTS_FAILED,
        pytest.ExitCode.NO_TESTS_COLLECTED,
        pytest.ExitCode.USAGE_ERROR,  # also how a run ends whose tests do not have the trial
    }
    if status not in ran or (status != pytest.ExitCode.OK and not results.found and not results.failed):
        raise UsageError(f"pytest could not run the tests:\n{printed.getvalue().rstrip()}")
    return results


RESULTS = pytest.StashKey[RunResults]()


# The command that reproduces one trial, to be copied into the shell that pytest was started from.


# What decides which mutations there are, who answers them and how they are judged.
_KEPT = (
    *(
        f"--promptfuzz-{name}"
        for name in (
            "target",
            "mutations",
            "operators",
            "threshold",
            "task",
            "stop",
            "seed",
            "override",
            "cache-dir",
            "model",
        )
    ),
    "--rootdir",
    "--config-file",
    "--override-ini",
    "-c",
    "-o",
)


def reproduce_command(item: pytest.Item) -> str:
    """The command, with ``{id}`` in the place of the trial's ID."""
    invocation = item.config.invocation_params
    path, separator, rest = item.nodeid.partition("::")
    # A node ID is relative to pytest's root, which need not be where the command is typed.
    try:
        path = os.path.relpath(item.config.rootpath / path, invocation.dir).replace(os.sep, "/")
    except ValueError:  # another drive
        path = str(item.config.rootpath / path)
    quoted = f"{path}{separator}{rest}".replace("'", "'\"'\"'")
    return " ".join([f"pytest '{quoted}'", "--promptfuzz-trial={id}", *kept([*map(str, invocation.args)])])


def kept(arguments: Sequence[str]) -> list[str]:
    """The arguments of a pytest command line without which a trial would not be the same, quoted for a shell.

    >>> kept(["-q", "--promptfuzz-target=simulated", "-o", "a=b c", "tests", "-cother.ini"])
    ['--promptfuzz-target=simulated', '-o', "'a=b c'", '-cother.ini']
    """
    found: list[str] = []
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        index += 1
        if argument in _KEPT:
            found += arguments[index - 1 : index + 1]
            index += 1
        elif argument.partition("=")[0] in _KEPT or argument[:2] in {"-c", "-o"}:
            found.append(argument)
    return [shlex.quote(each) for each in found]
