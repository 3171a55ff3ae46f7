"""What all tests share."""

from __future__ import annotations

import signal
import threading

import pytest
from hypothesis import HealthCheck, settings

# Plugins that take longer to load than most of our tests take to run; a test that needs one says so with a mark.
SLOW_TO_LOAD = ("anyio", "hypothesispytest")

# Where a run is started in the background, Ctrl-C is ignored, by the processes that tests start and interrupt too.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Without limits by the clock, which a busy machine would break.

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture
def pytester(
    pytester: pytest.Pytester, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """Pytest's own, whose processes load the slow plugins only for ``@pytest.mark.with_plugins(name, …)``."""
    wanted = {name for mark in request.node.iter_markers("with_plugins") for name in mark.args}
    unwanted = [f"-p no:{name}" for name in SLOW_TO_LOAD if name not in wanted]
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(unwanted))
    return pytester
