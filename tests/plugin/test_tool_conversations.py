"""Applications that call tools, mutated in flight: every request of a run says the same, and IDs do not count."""

from __future__ import annotations

APP = """
import json
import anthropic, openai

SYSTEM = "You look up orders with the tool. Answer in one short sentence. Do not guess."
TOOL = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
def look_up(order): return "shipped on Monday"
def by_openai(url, text):
    client = openai.OpenAI(api_key="none", base_url=url, max_retries=0)
    said = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": TOOL}}]
    while True:
        m = client.chat.completions.create(model="m", messages=said, tools=tools).choices[0].message
        if not m.tool_calls: return m.content
        said.append(m.model_dump(exclude_none=True))
        said += [{"role": "tool", "tool_call_id": c.id, "content": look_up(**json.loads(c.function.arguments))} for c in m.tool_calls]
def by_responses(url, text):
    client = openai.OpenAI(api_key="none", base_url=url, max_retries=0)
    items = [{"role": "user", "content": text}]
    tools = [{"type": "function", "name": "look_up", "parameters": TOOL, "strict": False}]
    while True:
        r = client.responses.create(model="m", instructions=SYSTEM, input=items, tools=tools)
        calls = [i for i in r.output if i.type == "function_call"]
        if not calls: return r.output_text
        items += [i.model_dump(exclude_none=True) for i in calls]
        items += [{"type": "function_call_output", "call_id": c.call_id, "output": look_up(**json.loads(c.arguments))} for c in calls]
def by_anthropic(url, text):
    client = anthropic.Anthropic(api_key="none", base_url=url, max_retries=0)
    said = [{"role": "user", "content": text}]
    tools = [{"name": "look_up", "input_schema": TOOL}]
    while True:
        m = client.messages.create(model="m", max_tokens=99, system=SYSTEM, messages=said, tools=tools)
        calls = [b for b in m.content if b.type == "tool_use"]
        if not calls: return m.content[0].text
        said.append({"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in m.content]})
        said.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": c.id, "content": look_up(**c.input)} for c in calls]})
"""
SOURCE = """
import itertools, json
import pytest
import app
from pytest_promptfuzz.providers.requests import Response, ToolCall
from pytest_promptfuzz.server.model_server import ModelServer

class Clerk:
    '''Calls the tool, with another ID each time; then answers.'''
    version = "clerk-1"
    numbers = itertools.count()

    def answer(self, request, *, sample=0):
        if request.messages[-1]["role"] == "tool":
            return Response("It was shipped on Monday.", finish_reason="stop")
        call = ToolCall("look_up", {"order": "17"}, f"call_{next(self.numbers)}")
        return Response("", (call,), finish_reason="tool_calls")

@pytest.fixture(scope="module")
def server():
    with ModelServer(Clerk()) as running:
        yield running

def make(way, role):
    @robust(mutate="role:" + role, mutations=3)
    def test(server):
        url = server.anthropic_url if way == "by_anthropic" else server.openai_url
        getattr(app, way)(url, f"Where is my order 17? Please look it up for me, {way}.")
    return test

for way in ("by_openai", "by_responses", "by_anthropic"):
    for role in ("system", "user"):
        globals()[f"test_{way}_{role}"] = make(way, role)

def said(body):
    items = body.get("messages") or body["input"]
    system = body.get("system") or body.get("instructions") or items[0]["content"]
    return system, next(each["content"] for each in items if each.get("role") == "user")

def test_noted(server):
    assert len(server.requests) == 6 * 4 * 2
    bodies = [each.body for each in server.requests]
    pairs = [(said(first), said(second)) for first, second in zip(bodies[::2], bodies[1::2])]
    assert all(first == second for first, second in pairs)
    assert len({first for first, _ in pairs}) == 6 * 4 - 3  # of each way, both roles have the same baseline
"""


def test_a_run_says_the_same_in_all_its_requests(project):
    # In the order of the runs, as `test_noted` reads them.
    options = ("--promptfuzz-mode=live", "--promptfuzz-target=openai:m", "--promptfuzz-speculate=off")
    result = project(SOURCE, *options, app=APP)
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(["6 robust tests: 6 passed; 48 calls made;*"])
