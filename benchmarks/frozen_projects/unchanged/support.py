"""An application that keeps its prompt to itself."""

import anthropic
import openai

SYSTEM = "Classify the message as billing, shipping or technical. Answer with one word only."


def reply(question):
    with openai.OpenAI() as client:
        said = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
        return client.chat.completions.create(model="gpt-5-mini", messages=said).choices[0].message.content


async def areply(question):
    async with anthropic.AsyncAnthropic() as client:
        said = [{"role": "user", "content": question}]
        answer = await client.messages.create(
            model="claude-sonnet-5", max_tokens=90, system=SYSTEM, messages=said
        )
        return answer.content[0].text
