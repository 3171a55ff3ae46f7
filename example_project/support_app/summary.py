"""What an agent who takes over should know: Anthropic Messages, asynchronous."""

from __future__ import annotations

import os

from anthropic import AsyncAnthropic

from support_app import prompts

MODEL = os.environ.get("SUPPORT_APP_ANTHROPIC_MODEL", "claude-sonnet-5")


async def summarize(conversation: str, prompt: str | None = None) -> str:
    """A conversation in one sentence."""
    content = (prompt or prompts.SUMMARY).format(conversation=conversation)
    async with AsyncAnthropic() as client:
        message = await client.messages.create(
            model=MODEL, max_tokens=300, messages=[{"role": "user", "content": content}]
        )
    return "".join(block.text for block in message.content if block.type == "text")
