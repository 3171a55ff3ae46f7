"""The fixtures ``prompt``, ``response``, ``input``, ``llm`` and ``promptfuzz``, the local server and the proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.plugin.fixture_values import AsyncLlm, Llm, Promptfuzz
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.server.model_server import ModelServer
    from pytest_promptfuzz.server.proxy import Proxy


@pytest.fixture
def prompt(request: pytest.FixtureRequest) -> Prompt:
    """The prompt given to ``@robust(PROMPT)``. Override this fixture to give a prompt of your own."""
    from pytest_promptfuzz.plugin.execution.declarative_tests import given_prompt

    return given_prompt(request.node)


@pytest.fixture
def response(request: pytest.FixtureRequest) -> Any:
    """In a declarative test: the ``Response`` to check, one for the prompt and one for each mutation and input."""
    from pytest_promptfuzz.plugin.execution.declarative_tests import stand_in

    return stand_in(request.node, "response")


@pytest.fixture
def input(request: pytest.FixtureRequest) -> Any:  # noqa: A001 - what users know it as
    """In a declarative test: the input whose response is checked, as ``inputs=`` gives it."""
    from pytest_promptfuzz.plugin.execution.declarative_tests import stand_in

    return stand_in(request.node, "input")


@pytest.fixture
def llm(request: pytest.FixtureRequest) -> Llm | AsyncLlm:
    """The configured model: call it with a prompt for a ``Response``; in an ``async def`` test, await the call."""
    from pytest_promptfuzz.plugin.fixture_values import make_llm

    return make_llm(request.node)


@pytest.fixture
def promptfuzz(request: pytest.FixtureRequest) -> Promptfuzz:
    """For imperative tests: ``mutate``, ``compare``, ``evaluate``, ``aevaluate`` with this run's target and store."""
    from pytest_promptfuzz.plugin.fixture_values import Promptfuzz

    return Promptfuzz(request.node)


# The fixtures ``promptfuzz_server`` and ``promptfuzz_proxy``, for tests of applications that call models.


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
