"""Roles on the wire, several calls in one body, calls in a thread, an async body."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import support

from pytest_promptfuzz import robust


@pytest.fixture
def anyio_backend():
    return "asyncio"


@robust(mutate="role:system", mutations=8)
def test_reply():
    return support.reply("Where is my parcel?")


@robust(mutate="role:user", mutations=4, match="parcel")
def test_customer():
    return [support.reply("Where is my parcel? I ordered it in May."), support.reply("The app crashes.")]


@robust(mutate="role:system", mutations=4)
@pytest.mark.anyio
async def test_async():
    return await support.areply("I was charged twice.")


@robust(mutate="role:user", mutations=4)
def test_which():
    return [support.reply("Where is my parcel?"), support.reply("The app crashes.")]


@robust(support.SYSTEM, mutations=3)
def test_in_a_thread(prompt, llm):
    with ThreadPoolExecutor(1) as pool:  # one after the other, so that their order is known
        list(
            pool.map(
                lambda each: llm(f"{prompt}\n\nMessage: {each}"),
                ["I was charged twice.", "Where is my parcel?", "The app crashes."],
            )
        )
