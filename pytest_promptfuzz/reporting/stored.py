"""The last runs' reports on this machine: ``.promptfuzz/report/``, of which any format can be made afterwards.

A file is written while its run goes on, a line for each test that has ended, so that a run that is killed leaves what
was known by then::

    {"promptfuzz": "report-lines", "format": 1, "run": {"id": "…", "complete": false, …}}
    {"test": {…}}
    {"unjudged": {…}}
    {"end": {"run": {…}, "changes": null, "trends": null, "warnings": []}}
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.history.rows import as_text
from pytest_promptfuzz.reporting.document import FORMAT
from pytest_promptfuzz.reporting.packing import packed
from pytest_promptfuzz.wire.folder import make_directory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_promptfuzz.history.changes import ChangesReport, TrendsReport
    from pytest_promptfuzz.reporting.document import RunReport, UnjudgedReport

LINES = "report-lines"
FOLDER = "report"
"""The folder, in that of stored answers."""
_KEPT = 3
_ENDING = ".jsonl"


class Stored:
    """The report of a run while it goes on.

    Args:
        folder: Of stored answers; made if it does not exist.
        run: As far as it is known.

    Raises:
        StoreError: It cannot be written.
    """

    def __init__(self, folder: Path, run: RunReport) -> None:
        self.path = folder / FOLDER / f"{_stamp(run)}-{run['id']}{_ENDING}"
        self._run = run
        try:
            make_directory(folder)
            self.path.parent.mkdir(exist_ok=True)
            self._file = self.path.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror or error}).") from None
        self._write({"promptfuzz": LINES, "format": FORMAT, "run": run})

    def test(self, report: Mapping[str, Any]) -> None:
        """A test was judged.

        Raises:
            StoreError: It cannot be written.
        """
        self._write({"test": packed(report)})

    def unjudged(self, report: UnjudgedReport) -> None:
        """A test ended without a verdict.

        Raises:
            StoreError: It cannot be written.
        """
        self._write({"unjudged": report})

    def end(
        self,
        run: RunReport,
        *,
        changes: ChangesReport | None,
        trends: TrendsReport | None,
        warnings: Sequence[str],
    ) -> None:
        """The run is over; older ones go, but for the newest and those that have no end yet.

        Raises:
            StoreError: It cannot be written.
        """
        self._write({"end": {"run": run, "changes": changes, "trends": trends, "warnings": list(warnings)}})
        self._file.close()
        _forget(self.path)

    def close(self) -> None:
        """Leave it as it is."""
        self._file.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        try:
            self._file.write(as_text(line) + "\n")
            self._file.flush()
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror or error}).") from None


def latest(folder: Path) -> Path | None:
    """The newest run's report in the folder of stored answers; ``None`` where there is none."""
    return max((folder / FOLDER).glob(f"*{_ENDING}"), default=None)


def _stamp(run: RunReport) -> str:
    return "".join(each for each in run["started"] if each.isalnum())


def _forget(newest: Path) -> None:
    older = sorted(path for path in newest.parent.glob(f"*{_ENDING}") if path < newest)
    for path in older[: -_KEPT + 1]:
        with contextlib.suppress(OSError):
            path.unlink()
