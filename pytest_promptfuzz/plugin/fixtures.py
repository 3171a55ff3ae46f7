"""The fixtures ``prompt``, ``llm`` and ``promptfuzz``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_promptfuzz.plugin.imperative import AsyncLlm, Llm, Promptfuzz
    from pytest_promptfuzz.prompts.prompt import Prompt

_FILE_ENDINGS = (".txt", ".md", ".json", ".prompt", ".tmpl", ".jinja", ".jinja2", ".j2")


@pytest.fixture
def prompt(request: pytest.FixtureRequest) -> Prompt:
    """The prompt given to ``@robust(PROMPT)``. Override this fixture to give a prompt of your own."""
    from pytest_promptfuzz.errors import UsageError
    from pytest_promptfuzz.plugin.marks import merged
    from pytest_promptfuzz.prompts.prompt import as_prompt

    given, _ = merged(request.node)
    if given is None:
        raise UsageError(
            f"{request.node.nodeid} asks for `prompt`, and no prompt is given. Write @robust(PROMPT), define a fixture "
            "named `prompt`, or parametrize `prompt`."
        )
    if isinstance(given, str) and given.endswith(_FILE_ENDINGS) and len(given.split()) == 1:
        raise UsageError(
            f"{request.node.nodeid}: the prompt {given!r} looks like a file's name. Write "
            f"@robust(Prompt.from_file({given!r})) to use what is in the file."
        )
    return as_prompt(given)


@pytest.fixture
def llm(request: pytest.FixtureRequest) -> Llm | AsyncLlm:
    """The configured model: call it with a prompt for a ``Response``; in an ``async def`` test, await the call."""
    from pytest_promptfuzz.plugin.imperative import make_llm

    return make_llm(request.node)


@pytest.fixture
def promptfuzz(request: pytest.FixtureRequest) -> Promptfuzz:
    """For imperative tests: ``mutate``, ``compare``, ``evaluate``, ``aevaluate`` with this run's target and store."""
    from pytest_promptfuzz.plugin.imperative import Promptfuzz

    return Promptfuzz(request.node)
