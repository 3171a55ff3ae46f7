"""``--promptfuzz-update``: keep what tests that pass are now, for the gate ``no-worse`` of later runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.plugin.modes import in_ci

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_promptfuzz.evaluating.compared import Before
    from pytest_promptfuzz.reporting.model import TestReport

UPDATE = "--promptfuzz-update"


def check_update(config: pytest.Config, overrides: Mapping[str, Any]) -> None:
    """Refuse to store what is not the tests' own, or in a place where nobody reviews it.

    Raises:
        pytest.UsageError: Naming what stands against it.
    """
    if not config.getoption("promptfuzz_update"):
        return
    reason = ""
    if in_ci():
        reason = "CI is set, and what is stored is to be reviewed and committed; run it on your own machine"
    elif config.getoption("promptfuzz") == "off":
        reason = "--promptfuzz=off runs no mutations; leave it out"
    elif config.getoption("promptfuzz_trial"):
        reason = "--promptfuzz-trial runs one trial of a test; leave it out"
    elif overrides:
        reason = f"--promptfuzz-override {next(iter(overrides))}=… makes another test of each; leave it out"
    if reason:
        raise pytest.UsageError(f"{UPDATE}: {reason}.")


def before_of(item: pytest.Item) -> Before:
    """The stored run of an item's test.

    Raises:
        UsageError: Its file cannot be read.
    """
    from pytest_promptfuzz.evaluating.compared import Before
    from pytest_promptfuzz.history.outcomes import file_of, outcomes_of, read

    module, _, test = item.nodeid.partition("::")
    try:
        found = read(file_of(item.config.rootpath / module)).get(test)
    except StoreError as error:
        raise UsageError(f"{item.nodeid}: {error}") from None
    return Before(None if found is None else outcomes_of(found), f"{UPDATE} stores this one, if it passes")


@dataclass(slots=True)
class Accepted:
    """The tests of a run whose outcomes are to be kept, gathered by the process that has seen every report.

    Attributes:
        tests: What is kept of each, by node ID.
        refused: Why a test's is not, likewise.
        done: A sentence for each file that was written.
    """

    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    def see(self, report: pytest.TestReport) -> None:
        """A phase of a test is over. What failed in any of them is not kept."""
        data: TestReport | None = getattr(report, "promptfuzz", None)
        if data is not None and data.get("searched"):
            self._refuse(report.nodeid, "a search has no outcomes of a plan")
        elif data is not None and report.passed and data["verdict"] == "pass":
            from pytest_promptfuzz.evaluating.compared import named
            from pytest_promptfuzz.history.outcomes import entry
            from pytest_promptfuzz.reporting.model import scored

            outcomes = [
                ((named(each["case"], data["inputs"]), each["id"], each["sample"]), each["outcome"])
                for each in scored(data)
                if each["relation"] == "invariance"
            ]
            self.tests[report.nodeid] = entry(outcomes, score=data["score"], model=data["model"])
            self.refused.pop(report.nodeid, None)
        elif data is not None:
            self._refuse(report.nodeid, data["verdict"])
        elif report.failed:
            self._refuse(report.nodeid, "failed")

    def _refuse(self, test: str, why: str) -> None:
        if self.tests.pop(test, None) is not None or why != "failed":
            self.refused[test] = why

    def write(self, root: Path) -> None:
        """Put all into their files; the entries of tests that were not run stay."""
        from pytest_promptfuzz.history.outcomes import file_of, merge

        modules: dict[str, dict[str, dict[str, Any]]] = {}
        for nodeid, kept in self.tests.items():
            module, _, test = nodeid.partition("::")
            modules.setdefault(module, {})[test] = kept
        for module, tests in sorted(modules.items()):
            path = file_of(root / module)
            try:
                merge(path, tests)
            except StoreError as error:
                self.done.append(f"nothing was stored of {module}: {error}")
                continue
            number = f"{len(tests)} test" + ("s" if len(tests) > 1 else "")
            self.done.append(f"stored the outcomes of {number} in {path.relative_to(root).as_posix()}")

    def lines(self) -> Iterator[str]:
        """What the summary shows."""
        yield from self.done
        for test, why in self.refused.items():
            yield f"not stored: {test} ({why})"
