"""The application's own Anthropic calls, asynchronous; the prompt is handed in as an argument."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import robust
from support_app import prompts, summary

CONVERSATION = """\
Customer: My order 48213 was delivered on 3 March, but one of the two lamps was broken.
Agent: I am sorry about the broken lamp. I can send a new lamp or refund 39.90 EUR.
Customer: Please send a new lamp for order 48213 before 20 March.
Agent: The new lamp leaves our warehouse tomorrow."""


@robust(prompts.SUMMARY, task="summarization", threshold=0.85)
@pytest.mark.anyio
async def test_summary_keeps_the_order_number(prompt):
    found = await summary.summarize(CONVERSATION, str(prompt))
    assert "48213" in found
    return found


@pytest.fixture
def anyio_backend():
    return "asyncio"
