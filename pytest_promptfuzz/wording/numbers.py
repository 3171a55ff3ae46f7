"""Numbers as sentences have them."""

from __future__ import annotations


def counted(amount: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "error"), counted(2, "error"), counted(1000, "query"), counted(2, "day")
    ('1 error', '2 errors', '1,000 queries', '2 days')
    """
    if amount == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun[-1] == "y" and noun[-2:-1] not in {"a", "e", "o", "u"} else f"{noun}s"
    return f"{amount:,} {many}"
