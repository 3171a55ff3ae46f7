"""Calls of every kind that a recording holds, through the SDKs."""

import json

import anthropic
import openai

URL = "http://127.0.0.1:18123"
SYSTEM = "Name the team that handles the message: BILLING or TECHNICAL. Answer with the name only."
TOOL = {"name": "order_status", "description": "Where an order is.", "parameters": {"type": "object"}}


def client():
    return openai.OpenAI(base_url=f"{URL}/v1", max_retries=0)


def whole(prompt):
    with client() as made:
        asked = [{"role": "user", "content": prompt}]
        return made.chat.completions.create(model="gpt-5-mini", messages=asked).choices[0].message.content


def streamed(prompt):
    with client() as made:
        asked = [{"role": "user", "content": prompt}]
        events = made.chat.completions.create(model="gpt-5-mini", messages=asked, stream=True)
        return "".join(each.choices[0].delta.content or "" for each in events if each.choices)


def responses(prompt):
    with client() as made:
        return made.responses.create(model="gpt-5-mini", input=prompt, temperature=0).output_text


def messages(prompt):
    with anthropic.Anthropic(base_url=URL, max_retries=0) as made:
        asked = [{"role": "user", "content": prompt}]
        counted = made.messages.count_tokens(model="claude-sonnet-5", messages=asked).input_tokens
        answer = made.messages.create(model="claude-sonnet-5", max_tokens=64, messages=asked)
        assert counted
        return answer.content[0].text


async def messages_streamed(prompt):
    async with anthropic.AsyncAnthropic(base_url=URL, max_retries=0) as made:
        asked = [{"role": "user", "content": prompt}]
        async with made.messages.stream(model="claude-sonnet-5", max_tokens=64, messages=asked) as events:
            return await events.get_final_text()


def with_a_tool(prompt):
    asked = [{"role": "user", "content": prompt}]
    tools = [{"type": "function", "function": TOOL}]
    with client() as made:
        first = (
            made.chat.completions.create(model="gpt-5-mini", messages=asked, tools=tools).choices[0].message
        )
        call = first.tool_calls[0]
        assert json.loads(call.function.arguments) == {"order": 10417}
        asked += [first.model_dump(exclude_none=True)]
        asked += [{"role": "tool", "tool_call_id": call.id, "content": "delivered"}]
        return (
            made.chat.completions.create(model="gpt-5-mini", messages=asked, tools=tools)
            .choices[0]
            .message.content
        )


def embedded(prompt):
    with client() as made:
        made.embeddings.create(model="text-embedding-3-small", input="I was charged twice.", dimensions=4)
    return whole(prompt)


def reply(question):
    with client() as made:
        asked = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
        return made.chat.completions.create(model="gpt-5-mini", messages=asked).choices[0].message.content
