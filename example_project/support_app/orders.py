"""Order details in a customer's message."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Order:
    """What a message says about an order; ``None`` where it says nothing."""

    order_number: str | None
    email: str | None
    amount: str | None
    date: str | None


def parse(answer: str) -> Order:
    """The model's answer as an order.

    Raises:
        ValueError: It is not a JSON object with the fields of an order.
    """
    text = answer.strip().removeprefix("```json").strip("`\n ")
    found: dict[str, Any] = json.loads(text)
    missing = {"order_number", "email", "amount", "date"} - found.keys()
    if missing:
        raise ValueError(f"the answer lacks {', '.join(sorted(missing))}: {answer}")
    return Order(str(found["order_number"]), found["email"], found["amount"], found["date"])
