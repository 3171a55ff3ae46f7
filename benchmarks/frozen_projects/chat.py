"""Chat prompts, in parts."""

from pytest_promptfuzz import Prompt, robust

CHAT = Prompt.from_messages(
    [
        {
            "role": "system",
            "content": "You sort tickets. Answer with one word only: billing, shipping or technical.",
        },
        {"role": "user", "content": "Ticket: Where is my parcel? I ordered it in May."},
    ]
)


@robust(CHAT)
def test_all(prompt, llm):
    return llm(prompt)


@robust(CHAT, part="system", mutations=4)
def test_system(prompt, llm):
    return llm(prompt)


@robust(CHAT, part=["user"], operators=["upper-case", "politeness", "keyboard-typo"], stop="never")
def test_user(prompt, llm):
    assert llm(prompt).text == "shipping"
