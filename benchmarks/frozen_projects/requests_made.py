"""Thirty requests of three wire formats, through the SDKs."""

import anthropic
import openai
import pytest

from pytest_promptfuzz import robust

SAY = "Classify the message as billing, shipping or technical. Answer with one word only: Where is my parcel?"
TOOL = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
CHAT = {
    "plain": {},
    "temperature": {"temperature": 0},
    "float": {"temperature": 0.0, "top_p": 1},
    "system": {"system": "You are brief."},
    "seed": {"seed": 7, "user": "somebody"},
    "tools": {"tools": [{"type": "function", "function": {"name": "weather", "parameters": TOOL}}]},
    "json": {"response_format": {"type": "json_object"}},
    "headers": {"extra_headers": {"OpenAI-Beta": "assistants=v2", "x-request-id": "one"}},
    "stream": {"stream": True, "stream_options": {"include_usage": True}},
    "query": {"extra_query": {"api-version": "2024-10-21"}, "extra_body": {"unheard_of": [1, None, "ü"]}},
}
RESPONSES = {
    "plain": {},
    "instructions": {"instructions": "You are brief."},
    "temperature": {"temperature": 0.5},
    "tokens": {"max_output_tokens": 100},
    "reasoning": {"reasoning": {"effort": "low"}},
    "tools": {"tools": [{"type": "function", "name": "weather", "parameters": TOOL, "strict": True}]},
    "json": {"text": {"format": {"type": "json_schema", "name": "city", "schema": TOOL}}},
    "store": {"store": False, "metadata": {"of": "test"}},
    "stream": {"stream": True},
    "query": {"extra_query": {"api-version": "2024-10-21"}, "extra_body": {"unheard_of": {"b": 1, "a": 2}}},
}
MESSAGES = {
    "plain": {},
    "system": {"system": "You are brief."},
    "blocks": {
        "system": [{"type": "text", "text": "You are brief.", "cache_control": {"type": "ephemeral"}}]
    },
    "temperature": {"temperature": 0.5},
    "stop": {"stop_sequences": ["\n"], "top_k": 5},
    "tools": {"tools": [{"name": "weather", "input_schema": TOOL}]},
    "thinking": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048},
    "headers": {
        "extra_headers": {"anthropic-beta": "files-api-2025-04-14"},
        "metadata": {"user_id": "somebody"},
    },
    "stream": {"stream": True},
    "query": {"extra_query": {"beta": "true"}, "extra_body": {"unheard_of": [True, 1.0, 1]}},
}


def read(answer):
    return len(list(answer)) if isinstance(answer, openai.Stream | anthropic.Stream) else answer.model


@pytest.mark.parametrize("name", CHAT)
@robust(SAY)
def test_chat(prompt, name):
    more = dict(CHAT[name])
    said = [{"role": "system", "content": more.pop("system")}] if "system" in more else []
    said.append({"role": "user", "content": str(prompt)})
    with openai.OpenAI() as client:
        read(client.chat.completions.create(model="gpt-5-mini", messages=said, **more))


@pytest.mark.parametrize("name", RESPONSES)
@robust(SAY)
def test_responses(prompt, name):
    with openai.OpenAI() as client:
        read(client.responses.create(model="gpt-5-mini", input=str(prompt), **RESPONSES[name]))


@pytest.mark.parametrize("name", MESSAGES)
@robust(SAY)
def test_messages(prompt, name):
    more = {"max_tokens": 100, **MESSAGES[name]}
    with anthropic.Anthropic() as client:
        read(
            client.messages.create(
                model="claude-sonnet-5", messages=[{"role": "user", "content": str(prompt)}], **more
            )
        )
