import openai

from pytest_promptfuzz import Prompt, robust

TRIAGE = Prompt(
    "Classify the support ticket as BILLING or TECHNICAL. Answer with the label only. Ticket: {ticket}"
)
SECRETS = ("tok-4f9a1c7e2b8d0365", "hdr-4f9a1c7e2b8d0365", "Pw-4f9a1c7e2b8d")


def ask(prompt, token):
    client = openai.OpenAI(base_url="http://127.0.0.1:48123/v1", api_key="sk-test-0123456789", max_retries=0)
    answer = client.chat.completions.create(
        model="gpt-5-mini",
        messages=[{"role": "user", "content": prompt.format(ticket="I was charged twice.")}],
        metadata={"session_token": token, "password": "hidden-before-as-well"},
        extra_body={
            "tools": [
                {
                    "type": "mcp",
                    "server_url": "https://mcp.example/sse?token=" + token,
                    "headers": {"X-Workspace": SECRETS[1]},
                }
            ],
            "store": "postgres://app:" + SECRETS[2] + "@db.example/app",
        },
    )
    return answer.choices[0].message.content


@robust(TRIAGE, mutations=3, threshold=0.0)
def test_before(prompt):
    first = ask(prompt, SECRETS[0])
    ask(prompt, SECRETS[0][::-1])  # another request only by a token that was not hidden then
    return first
