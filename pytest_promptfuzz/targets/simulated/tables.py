"""Tables and columns described in a text."""

from __future__ import annotations

import re

from pytest_promptfuzz.targets.simulated.words import listed

CREATE = re.compile(
    r"create\s+table\s+(?:if\s+not\s+exists\s+)?[`\"\[]?(\w+)[`\"\]]?\s*"
    r"\(([^()]{0,4000}(?:\([^()]{0,60}\)[^()]{0,4000}){0,60})\)\s*;?",
    re.IGNORECASE,
)
DEFINITION = r"[A-Za-z_]\w*(?:[ ]+[A-Za-z]\w*(?:\(\d+(?:,[ ]*\d+)?\))?){0,4}"
INLINE = re.compile(rf"\b([A-Za-z_]\w*)[ ]*\(\s*({DEFINITION}(?:\s*,\s*{DEFINITION})+)\s*\)")
COLUMNS = r"([A-Za-z_]\w*(?:\s*,\s*(?:and\s+)?[A-Za-z_]\w*)+(?:\s+and\s+[A-Za-z_]\w*)?)"
LISTED = re.compile(
    rf"^[ ]*(?:[-*]\s*)?(?:table\s+)?([A-Za-z_]\w*)(?:\s+table)?[ ]*(?::|with columns|has columns"
    rf"|->)[ ]*:?[ ]*{COLUMNS}[ ]*\.?$",
    re.IGNORECASE | re.MULTILINE,
)
TOLD = re.compile(
    rf"\b(?:table\s+(?:named\s+|called\s+)?(\w+)|(\w+)\s+table)\b[\s.,;:(]*(?:with|has|having|contains|and)?\s*"
    rf"(?:the\s+|its\s+)?(?:columns?|fields?)\s*(?:are|is|:)?\s*{COLUMNS}",
    re.IGNORECASE,
)
NO_TABLE = frozenset(
    listed(
        """
        table tables columns schema select varchar decimal numeric in values rules the this following query request
        question dialect output e s
        """
    )
)
DATED = {
    "register": "registered_at",
    "sign": "signed_up_at",
    "join": "joined_at",
    "create": "created_at",
    "order": "ordered_at",
    "place": "created_at",
    "purchase": "purchased_at",
    "buy": "purchased_at",
    "hire": "hired_at",
    "publish": "published_at",
    "update": "updated_at",
    "log": "last_login_at",
    "ship": "shipped_at",
    "pay": "paid_at",
    "subscribe": "subscribed_at",
}
ACTIONS = {
    "purchase": "orders",
    "buy": "orders",
    "bought": "orders",
    "order": "orders",
    "pay": "payments",
    "review": "reviews",
    "post": "posts",
    "comment": "comments",
    "book": "bookings",
}


def schema_of(text: str) -> dict[str, list[str]]:
    """Tables and their columns: CREATE TABLE, ``users(id, name)``, ``users: id, name``, *users with columns id*."""
    tables: dict[str, list[str]] = {}
    text = text.replace("`", "")
    for match in CREATE.finditer(text):
        columns = [re.match(r"\s*[\"\[]?(\w+)", part) for part in re.split(r",(?![^()]*\))", match[2])]
        names = [found[1] for found in columns if found]
        tables[match[1]] = [
            n
            for n in names
            if n.lower() not in {"primary", "foreign", "unique", "constraint", "check", "key"}
        ]
    text = CREATE.sub(" ", text)
    for pattern in (INLINE, LISTED, TOLD):
        for match in pattern.finditer(text):
            *names, columns_text = match.groups()
            name = next(filter(None, names))
            parts = [
                part.split()
                for part in re.split(r",|\band\b(?!\s*,)", re.sub(r"\([^()]*\)", "", columns_text))
            ]
            if name.lower() not in NO_TABLE:
                tables.setdefault(name, [part[0] for part in parts if part])
    return tables


def without_schema(text: str) -> str:
    """``text`` without its tables' columns; a table's name stays where a sentence goes on from it."""
    text = CREATE.sub(" ", text.replace("`", ""))
    text = INLINE.sub(lambda match: match[1] if match[1].lower() not in NO_TABLE else " ", text)
    text = TOLD.sub(lambda match: f"table {match[1] or match[2]}", text)
    return LISTED.sub(" ", text)


def singular(word: str) -> str:
    """The singular of an English noun, as table names form it."""
    if word == "people":
        return "person"
    return (
        word[:-3] + "y"
        if word.endswith("ies")
        else word[:-2]
        if word.endswith(("sses", "xes", "ches"))
        else word[:-1]
        if word.endswith("s") and not word.endswith(("ss", "us"))
        else word
    )


def plural(word: str) -> str:
    """The plural of an English noun, as table names form it."""
    return (
        word[:-1] + "ies"
        if word.endswith("y") and word[-2] not in "aeiou"
        else word + ("es" if word.endswith(("s", "x", "ch")) else "s")
    )
