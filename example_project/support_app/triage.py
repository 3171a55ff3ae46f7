"""Which team a ticket goes to, and how urgent it is: OpenAI chat completions."""

from __future__ import annotations

import os

from openai import OpenAI

from support_app import prompts

MODEL = os.environ.get("SUPPORT_APP_OPENAI_MODEL", "gpt-5-mini")


def team_for(ticket: str) -> str:
    """The team that answers a ticket."""
    return _answer(prompts.TRIAGE, ticket)


def urgency_of(ticket: str) -> str:
    """How soon a ticket must be answered: high, medium or low."""
    return _answer(prompts.URGENCY, ticket)


def _answer(instructions: str, ticket: str) -> str:
    with OpenAI() as client:
        completion = client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "system", "content": instructions}, {"role": "user", "content": ticket}],
        )
    return (completion.choices[0].message.content or "").strip(" .\n").lower()
