"""From a manager's request to SQL: OpenAI Responses."""

from __future__ import annotations

import os

from openai import OpenAI

from support_app import prompts

MODEL = os.environ.get("SUPPORT_APP_OPENAI_MODEL", "gpt-5-mini")
FENCE = "```"


def query_for(request: str) -> str:
    """The SQL query that answers a request."""
    with OpenAI() as client:
        response = client.responses.create(model=MODEL, input=prompts.REPORT.format(request=request))
    text = response.output_text.strip()
    if text.startswith(FENCE):
        text = text.strip("`").removeprefix("sql").strip()
    return text
