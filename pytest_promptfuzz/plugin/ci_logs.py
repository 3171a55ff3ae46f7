"""Where a CI host reads commands from the log, what a robust test printed or failed with gives none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_promptfuzz.plugin.redacting import hide
from pytest_promptfuzz.reporting.safe import uncommanded

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

# GitHub (Gitea and Forgejo set it as well), Azure, TeamCity.
_HOSTS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")


class _Commands:
    """In the place of a redaction: commands are broken, nothing is taken out."""

    values: tuple[str, ...] = ()

    def text(self, text: str) -> str:
        return uncommanded(text)

    source = text


def break_commands(report: pytest.TestReport, environment: Mapping[str, str] = os.environ) -> None:
    """Break what a host would take for a command, in captured output and in pytest's own traceback.

    What we print ourselves is safe everywhere; of an application's output this takes care on these hosts only.
    """
    if any(environment.get(name) for name in _HOSTS):
        hide(report, _Commands())
