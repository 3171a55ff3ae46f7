"""The fixtures ``promptfuzz_server`` and ``promptfuzz_proxy``, for tests of applications that call models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.server.model_server import ModelServer
    from pytest_promptfuzz.server.proxy import Proxy


@pytest.fixture
def promptfuzz_server() -> Iterator[ModelServer]:
    """A local model server for one test, on a free port of 127.0.0.1, backed by the simulated model."""
    # The plugin loads this module in every run; the server's libraries are loaded by those that use it.
    from pytest_promptfuzz.server.model_server import ModelServer

    with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def promptfuzz_proxy() -> Iterator[Proxy]:
    """A recording proxy on 127.0.0.1: its base URLs make an application's model calls seen, whatever makes them."""
    from pytest_promptfuzz.server.proxy import Proxy

    with Proxy() as proxy:
        yield proxy
