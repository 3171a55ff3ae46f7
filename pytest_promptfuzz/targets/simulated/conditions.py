"""The WHERE clause of a query: what a request says that rows must be like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.targets.simulated.tables import singular
from pytest_promptfuzz.targets.simulated.words import listed

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.simulated.queries import Query

SIZES = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
         "twenty": 20}  # fmt: skip
COUNT = r"(\d+|" + "|".join(SIZES) + ")"
LAST = re.compile(
    rf"\b(?:in|over|within|during|for|from)?\s*(?:the )?(?:last|past|previous)\s+(?:{COUNT}\s+)?(day|week|month"
    rf"|year|hour)s?\b",
    re.IGNORECASE,
)
DATE = r"(\d{4}-\d\d-\d\d)"
NUMBER = r"[$€£]?\s?(\d[\d,]*(?:\.\d+)?)"
QUOTE = r"(?<!\w)['\"]([^'\"\n]{1,80})['\"]"
LIKES = (
    (re.compile(rf"\b(?:contain(?:s|ing)?|includ(?:es?|ing)|like)\s+(?:the (?:word|string"
    rf"|text)\s+)?{QUOTE}", re.IGNORECASE), "%{}%"),
    (re.compile(rf"\b(?:start(?:s|ing)?|begin(?:s|ning)?)\s+with\s+(?:the letter\s+)?(?:{QUOTE}"
    rf"|(\w)\b)", re.IGNORECASE), "{}%"),
    (re.compile(rf"\bend(?:s|ing)?\s+(?:with|in)\s+(?:the letter\s+)?(?:{QUOTE}|(\w)\b)", re.IGNORECASE), "%{}"),
)  # fmt: skip
COMPARE = (
    (r"(?:more|greater|higher|larger|older|longer|bigger|later) than|over|above|exceed(?:s|ing)?|>", ">"),
    (r"(?:less|lower|fewer|younger|smaller|cheaper|shorter|earlier) than|under|below|<", "<"),
    (r"at least|no less than|not less than|>=", ">="),
    (r"at most|no more than|not more than|up to|<=", "<="),
)
SIGNED = tuple(
    (re.compile(rf"(?<!\w)(?:{words_})\s*{NUMBER}(?![\w-])(?:\s+([a-z]+))?", re.IGNORECASE), sign)
    for words_, sign in COMPARE
)
HINTS = (
    (r"old|young", "age"),
    (r"cheap|cost|pric|[$€£]", "price"),
    (r"earn|paid", "salary"),
    (r"long|short", "duration"),
)
STATES = re.compile(
    r"\b(active|inactive|pending|shipped|cancelled|canceled|open|closed|unpaid|paid|completed|overdue|published|delivered"
    r"|refunded|archived|resolved|failed)\b",
    re.IGNORECASE,
)
CITIES = listed(
    "berlin paris london chicago madrid rome tokyo boston amsterdam vienna sydney toronto lisbon munich oslo lyon"
)
NAME = r"([A-Z][\w'-]*(?:\s[A-Z][\w'-]*)*)"
PLACE = re.compile(rf"\b(?:from|lives? in|living in|located in|based in|in)\s+(?:the )?{NAME}")
LOWER_PLACE = re.compile(
    r"\b(?:from|in)\s+(?:the )?(" + "|".join(CITIES) + r"|new york|germany|france|spain|italy|canada|japan|india"
    r"|china|brazil|"
    r"mexico|australia|california|texas|usa|uk|us)\b",
    re.IGNORECASE,
)  # fmt: skip
NO_PLACE = re.compile(
    r"^(?:SQL|SELECT|English|January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
WHERE_COLUMNS = {
    "from": listed("origin city country source"),
    "in": listed("department category city country region location genre"),
    "to": listed("destination recipient"),
    "by": listed("author artist director creator make brand manufacturer name"),
    "for": listed("category name"),
    "named": listed("name title username"),
    "called": listed("name title"),
}


def add_conditions(query: Query, request: str) -> None:
    """Add every condition that the request words plainly: dates, ranges, comparisons, likenesses, values, emptiness."""
    _dates(query, request)
    rest = _ranges(query, request)
    rest = _likes(query, rest)
    _comparisons(query, rest)
    _empty(query, rest)
    _values(query, rest)


def _dates(query: Query, request: str) -> None:
    match = LAST.search(request)
    if match:
        said = (match[1] or "one").lower()
        count = int(said) if said.isdigit() else SIZES[said]
        query.where.append(f"{query.dated(request)} >= CURRENT_DATE - INTERVAL '{count} {match[2].upper()}'")
    between = re.search(rf"\bbetween\s+{DATE}\s+and\s+{DATE}", request, re.IGNORECASE)
    if between:
        query.where.append(f"{query.dated(request)} BETWEEN '{between[1]}' AND '{between[2]}'")
        return
    for found in re.finditer(
        rf"\b(after|since|from|before|until|on|later than|earlier than)\s+{DATE}", request, re.IGNORECASE
    ):
        sign = {"after": ">", "later than": ">", "since": ">=", "from": ">=", "on": "=", "until": "<="}
        query.where.append(f"{query.dated(request)} {sign.get(found[1].lower(), '<')} '{found[2]}'")
    year = re.search(
        r"\b(in|since|after|before|from)\s+(?:the year\s+)?((?:19|20)\d\d)\b(?!-)", request, re.IGNORECASE
    )
    if year:
        column, word, number = query.dated(request), year[1].lower(), int(year[2])
        if re.search(r"(?:^|_|\})year$", column):
            sign = {"in": "=", "from": "=", "since": ">=", "after": ">"}
            query.where.append(f"{column} {sign.get(word, '<')} {number}")
        elif word == "before":
            query.where.append(f"{column} < '{number}-01-01'")
        else:
            query.where.append(f"{column} >= '{number + (word == 'after')}-01-01'")
            if word == "in":
                query.where.append(f"{column} < '{number + 1}-01-01'")


def _ranges(query: Query, request: str) -> str:
    pattern = rf"\b(?:between|from)\s+{NUMBER}(?![\d-])\s*(?:and|to)\s+{NUMBER}(?![\d-])(?:\s+([a-z]+))?"
    match = re.search(pattern, request, re.IGNORECASE)
    if match is None:
        return request
    column = _measured(query, request[: match.start()], match[3] or "", match.group())
    if column:
        query.where.append(f"{column} BETWEEN {_plain(match[1])} AND {_plain(match[2])}")
    return request[: match.start()] + " ; " + request[match.end() :]


def _likes(query: Query, request: str) -> str:
    for pattern, shape in LIKES:
        for match in pattern.finditer(request):
            text = next(filter(None, match.groups()))
            column = _before(query, request[: match.start()], 4)
            column = column or query.column("name", reach=False) or query.column("title", reach=False)
            if column:
                query.where.append(f"{column} LIKE '{shape.format(_escaped(text))}'")
                request = request.replace(match.group(), " ; ", 1)
    return request


def _comparisons(query: Query, request: str) -> None:
    for pattern, sign in SIGNED:
        for match in pattern.finditer(request):
            after = (match[2] or "").lower()
            if re.fullmatch(r"(?:day|week|month|hour)s?", after) or _counted(query, after):
                continue
            column = _measured(query, request[: match.start()], after, match.group())
            if column:
                query.where.append(f"{column} {sign} {_plain(match[1])}")


def _counted(query: Query, word: str) -> bool:
    """Whether a number counts rows of another table: *more than 3 orders*, which HAVING is for."""
    others = {singular(name.lower()) for name in query.tables if name != query.table}
    return singular(word) in others or singular(word) in {"order", "purchase"} - {singular(query.table)}


def _measured(query: Query, before: str, after: str, said: str) -> str | None:
    """The column that a number is about: named before it, or by its unit, or hinted at (*older than*)."""
    for pattern, name in HINTS[:2]:
        if re.search(pattern, said, re.IGNORECASE) and (column := query.column(name, reach=False)):
            return column
    column = _before(query, before, 5)
    if column is not None:
        return column
    if after and (column := query.column(after, reach=False)):
        return column
    context = " ".join(before.split()[-3:]) + " " + said
    for pattern, name in HINTS:
        if re.search(pattern, context, re.IGNORECASE):
            column = query.column(name, reach=False)
            if column:
                return column
    if not query.known:
        last = re.findall(r"[a-z]+", " ".join(before.split()[-2:]).lower())
        kept = [
            word
            for word in last
            if word not in {"is", "are", "than", "with", "of", "who", "that", "a", "an", "the", "was"}
        ]
        return (
            f"{{{query.table}}}{kept[-1]}" if kept and singular(kept[-1]) != singular(query.table) else None
        )
    return None


def _before(query: Query, before: str, reach: int) -> str | None:
    """The column named last before a value, within ``reach`` words and not beyond the table's own name."""
    clause = re.split(r"[;,.](?:\s|$)|\band\b", before)[-1]
    found = re.findall(r"\w+", clause)[-reach:]
    for index in range(len(found) - 1, -1, -1):
        word = found[index]
        if singular(word.lower()) == singular(query.table.lower()):
            return None
        column = query.column(f"{found[index - 1]}_{word}", reach=False) if index and query.known else None
        column = column or query.column(word, reach=False)
        if column:
            return column
    return None


def _empty(query: Query, request: str) -> None:
    for match in re.finditer(
        r"\b(?:without|have no|has no|having no|with no|lacking|missing)\s+(?:an?\s+|any\s+|the\s+|assigned\s+)*(\w+)"
        r"|\b(\w+)\s+(?:is|are|was)\s+(not\s+)?(?:null|empty|missing|unknown|not set|unset|blank)\b",
        request,
        re.IGNORECASE,
    ):
        word = match[1] or match[2]
        tables = {singular(name.lower()) for name in query.tables}
        column = query.column(word, reach=False)
        if column is None and query.known and f"{singular(word.lower())}_id" in query.tables[query.table]:
            column = f"{{{query.table}}}{singular(word.lower())}_id"
        if column and (singular(word.lower()) not in tables or match[2]):
            query.where.append(f"{column} IS {'NOT ' if match[3] else ''}NULL")


def _values(query: Query, request: str) -> None:
    """Values in quotation marks or capitals beside a column's name, or after a preposition that tells the column."""
    found = False
    for match in re.finditer(QUOTE, request):
        before, after = request[: match.start()], request[match.end() :]
        column = _before(
            query, re.sub(r"\b(?:is|are|of|to|be|equals?|named|called|=|the|a)\b|=", " ", before), 2
        )
        behind = re.match(r"\s+(\w+)", after)
        if column is None and behind:
            column = query.column(behind[1], reach=False)
        if column is None:
            column = _by_preposition(query, before, match[1])
        if column:
            query.where.append(f"{column} {_sign(before)} '{_escaped(match[1])}'")
            found = True
    rest = re.sub(QUOTE, " ; ", request)
    for match in re.finditer(rf"\b(?:in|from|of|for|by|the)\s+(?:the\s+)?{NAME}\s+([a-z]+)", rest):
        column = query.column(match[2], reach=False)
        if column and not found:
            query.where.append(f"{column} = '{_escaped(match[1])}'")
            found = True
    for match in re.finditer(
        rf"\b(\w+)\s+(?:(?:is|are|equals?|named|called|of)\s+|=\s*)(not\s+)?({NAME}|\d+\b)", rest
    ):
        column = query.column(match[1], reach=False)
        value = match[3]
        if column and not found and not NO_PLACE.match(value):
            query.where.append(
                f"{column} {'!=' if match[2] else '='} "
                + (value if value.isdigit() else f"'{_escaped(value)}'")
            )
            found = True
    if not found:
        found = _place(query, rest)
    state = STATES.search(rest)
    if state and not any("status" in each for each in query.where):
        column = query.column("status", reach=False) if query.known else None
        flag = query.column(state[1], reach=False) if query.known else None
        if flag and re.search(r"\}(?:is_)?" + state[1].lower() + "$", flag.lower()):
            query.where.append(f"{flag} = TRUE")
        elif column:
            query.where.append(f"{column} = '{state[1].lower()}'")


def _sign(before: str) -> str:
    return (
        "!="
        if re.search(
            r"\b(?:not|isn't|aren't|other than|except)\s*(?:equal(?:s)? to|in|from)?\s*$",
            before,
            re.IGNORECASE,
        )
        else "="
    )


def _by_preposition(query: Query, before: str, value: str) -> str | None:
    match = re.search(r"\b(from|in|to|by|for|named|called)\s+(?:the\s+)?$", before, re.IGNORECASE)
    if match is None:
        return None
    if match[1].lower() == "from" and value.lower() not in CITIES and query.column("country", reach=False):
        return query.column("country", reach=False)
    for name in WHERE_COLUMNS[match[1].lower()]:
        column = query.column(name, reach=False)
        if column:
            return column
    return None


def _place(query: Query, request: str) -> bool:
    match = PLACE.search(request) or LOWER_PLACE.search(request)
    if match is None or NO_PLACE.match(match[1]):
        return False
    city = match[1].lower() in CITIES
    names = (
        ("city", "country") if city else ("country", "city", "region", "location", "department", "category")
    )
    if query.known:
        names = (*names, "origin", "state")
    for name in names:
        column = query.column(name)
        if column:
            value = (
                match[1]
                if match[1][0].isupper()
                else match[1].title()
                if len(match[1]) > 3
                else match[1].upper()
            )
            query.where.append(f"{column} = '{_escaped(value)}'")
            return True
    return False


def _plain(number: str) -> str:
    return number.replace(",", "")


def _escaped(text: str) -> str:
    return text.replace("'", "''")
