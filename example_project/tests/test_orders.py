"""The model called through ``llm``: no SDK is imported when its answers are simulated or stored."""

from __future__ import annotations

from pytest_promptfuzz import Prompt, robust
from support_app import orders, prompts

ORDERS = Prompt.from_file(prompts.FOLDER / "orders.txt")
MESSAGE = (
    "Hello, this is Maria Keller (maria.keller@example.org). Order 48213 from 2025-03-03 was charged twice, $39.90 "
    "each time."
)


@robust(ORDERS, task="extraction", threshold=0.9)
def test_order_is_read(prompt, llm):
    order = orders.parse(llm(prompt.format(message=MESSAGE)).text)
    assert order.order_number == "48213"
    assert order.email == "maria.keller@example.org"
    return order


@robust(ORDERS, mutations=4)
def test_missing_fields_stay_empty(prompt, llm):
    order = orders.parse(
        llm(prompt.format(message="When will my parcel arrive? I am at joe@example.com.")).text
    )
    assert order.amount is None
