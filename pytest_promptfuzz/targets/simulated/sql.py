"""A small SQL query from a request in words, over a schema given in the prompt or imagined from the request's nouns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.targets.simulated.conditions import COUNT, SIZES, add_conditions
from pytest_promptfuzz.targets.simulated.queries import Query
from pytest_promptfuzz.targets.simulated.spelling import ENTITIES, PEOPLE, mended
from pytest_promptfuzz.targets.simulated.tables import ACTIONS, plural, schema_of, singular, without_schema
from pytest_promptfuzz.targets.simulated.words import near, sentences, stem, words

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.simulated.reading import Reading

LACKING = re.compile(
    r"\b(?:without|no|never|not|haven't|hasn't|didn't)\s+(?:any\s+|yet\s+|have\s+|has\s+|made\s+|placed\s+|been\s+|an?\s+)*"
    r"(\w+)",
    re.IGNORECASE,
)
HIGH = r"most|top|highest|largest|biggest|greatest|best|latest|newest|maximum|max|longest|oldest|heaviest"
LOW = r"least|lowest|smallest|cheapest|fewest|worst|earliest|minimum|min|shortest|youngest|first|lightest"
RANKED = re.compile(
    rf"\b(?:top|first)\s+{COUNT}\b|\b{COUNT}\s+(?:most\s+|least\s+)?(?:\w+\s+)?(?:recent|expensive|popular|{HIGH}|{LOW})\b"
    rf"|\b(?:most recent|most expensive|least expensive|{HIGH}|{LOW})\s+{COUNT}\b|\blimit(?:ed)?\s*(?:to"
    rf"|by)?\s+{COUNT}\b"
    rf"|\b{COUNT}\s+\w+\s+with\s+(?:the\s+)?(?:{HIGH}|{LOW})\b",
    re.IGNORECASE,
)
SUPERLATIVE = re.compile(
    rf"\b(most|least)\s+(recent|expensive)\b|\b({HIGH}|{LOW})\b(?:[- ]rated|[- ]paid)?(?:\s+(?:number of"
    rf"|amount of))?\s*(\w+)?",
    re.IGNORECASE,
)
IMPLIED = {"expensive": ("price", "cost"), "cheapest": ("price", "cost"), "oldest": ("age",), "youngest": ("age",),
           "longest": ("duration", "length"), "shortest": ("duration", "length"), "best": ("rating", "score"),
           "worst": ("rating", "score"), "heaviest": ("weight",), "lightest": ("weight",)}  # fmt: skip
TIMES = {
    "latest": "DESC",
    "newest": "DESC",
    "recent": "DESC",
    "oldest": "",
    "earliest": "",
    "youngest": "DESC",
}
MEASURE = re.compile(
    r"\b(average|mean|avg|total|sum|maximum|max|minimum|min|highest|lowest|largest|smallest)\s+(?:of\s+)?(?:all\s+)?(?:the\s+)?"
    r"([a-z_]+)(?:\s+([a-z_]+))?",
    re.IGNORECASE,
)
FUNCTIONS = {"average": "AVG", "mean": "AVG", "avg": "AVG", "total": "SUM", "sum": "SUM", "maximum": "MAX",
             "max": "MAX",
             "highest": "MAX", "largest": "MAX"}  # fmt: skip
PER = re.compile(
    r"\b(?:per|by|for each|for every|of each|of every|in each|in every|each|every"
    r"|group(?:ed)? by)\s+(?:each\s+)?([a-z_]+)",
    re.IGNORECASE,
)
HEAD = re.compile(
    r"\b(?:where|whose|who|which|that|with|ordered|sorted|order by|sort by|from|in|for|after|before|since"
    r"|between|placed|costing"
    r"|priced|older|younger|by)\b",
    re.IGNORECASE,
)
ASKS = re.compile(
    r"\b(?:please|write|generate|create|produce|build|give|compose|provide|convert|translate|return|need|want)\b[^.?!:]{0,40}?"
    r"\b(?:sql|query|statement)\b(?:\s+(?:query|statement|code|select))?\s*(?:that|which|to|for|of)?\b:?",
    re.IGNORECASE,
)
NO_REQUEST = re.compile(
    r"(?i)\W*(?:you are|you write|you translate|return only|only|use |output|respond|answer|given|schema"
    r"|database|table|###|sql:|#|do not|just"
    r"|no |postgresql|mysql|convert to|translate the)"
)


def write(reading: Reading, variant: int = 0) -> str | None:
    """The query for the request; ``None`` when no table can be made out. ``variant`` forgets or adds a clause."""
    source = f"{reading.schema}\n{reading.prose}\n{reading.data}"
    tables = schema_of(mended(source))
    named = {
        part
        for name, columns in tables.items()
        for each in (name, *columns)
        for part in words(each.replace("_", " "))
    }
    request = mended(_request(reading, tables), named)
    table = _table(request, tables)
    if table is None:
        return None
    query = Query(table, tables)
    _named_joins(query, request)
    _rank(query, request)
    _aggregate(query, request)
    _project(query, request)
    add_conditions(query, request)
    if query.others and not query.group and not any("(" in each for each in query.columns):
        query.distinct = query.distinct or not query.columns
    if variant:
        query.limit = 0 if query.limit else 100
        if variant % 2 == 0:
            query.distinct = not query.distinct
    return query.text()


def _request(reading: Reading, tables: dict[str, list[str]]) -> str:
    """What is to be looked up, in its own words: the question, else the data, else what the instructions say of it."""
    data = without_schema(reading.question or reading.data) if tables else reading.question or reading.data
    data = re.sub(r"(?is)^.*?\b(?:query|request|question|task)\b[^:.?!\n]{0,24}:\s*", "", data)
    named = {singular(name.lower()) for name in tables} or ENTITIES
    spoken = [word for word in words(data) if word not in {name.lower() for name in tables}]
    if (
        len(spoken) >= 2
        and len(words(data)) >= 3
        and (reading.question or {singular(word) for word in words(data)} & named)
    ):
        asked = [each for each in sentences(data) if not NO_REQUEST.match(each)]
        return " ".join(asked) or data
    found = [each for each in sentences(without_schema(reading.prose)) if words(each)]
    asked = [ASKS.sub(" ", each) for each in found if ASKS.search(each) or not NO_REQUEST.match(each)]
    return " ".join(each for each in asked if words(each)) or " ".join(found)


def _table(request: str, tables: dict[str, list[str]]) -> str | None:
    found = [singular(word) for word in words(request)]
    by_name = {singular(name.lower()): name for name in tables}
    by_name |= {singular(name.lower().rpartition("_")[2]): name for name in reversed(tables) if "_" in name}
    for word in found:
        if word in by_name:
            return by_name[word]
    for word in [*words(request), *found]:
        if len(word) >= 4 and (
            name := next((by_name[each] for each in by_name if len(each) >= 4 and near(word, each)), None)
        ):
            return name
    if tables:
        stems = {stem(word) for word in found}
        return max(
            tables,
            key=lambda name: sum(stem(part) in stems for c in tables[name] for part in c.lower().split("_")),
        )
    lower = request.lower()
    said = re.search(
        r"\b(?:from|in) (?:the |a )?(?:table )?[`'\"]?(\w+)[`'\"]? table\b|\btable [`'\"]?(\w+s)\b", lower
    )
    if said:
        return said[1] or said[2]
    for word in found:
        if word in ENTITIES:
            return plural(word)
    match = re.search(
        r"\b(?:all|every|each|of|the|many|list|show|find|get|select)\s+(?:the\s+)?([a-z]{3,}s)\b", lower
    )
    return match[1] if match else None


def _named_joins(query: Query, request: str) -> None:
    """Join the other tables that the request names, or, where there is no schema, what it says people did."""
    found = [singular(word) for word in words(request)]
    others: list[str] = []
    if query.tables:
        others = [name for name in query.tables if name != query.table and singular(name.lower()) in found]
        if not others and re.search(r"\b(?:purchas|bought|order(?!(?:ed)? by))", request, re.IGNORECASE):
            others = [
                name
                for name in query.tables
                if name != query.table and singular(name.lower()) in {"order", "purchase"}
            ]
    elif singular(query.table) in PEOPLE and not re.search(r"\border(?:ed)? by\b", request, re.IGNORECASE):
        others = [ACTIONS[w] for w in found if w in ACTIONS and ACTIONS[w] != query.table][:1]
    for other in others:
        acts = {stem(singular(other)), "order", "purchas", "place", "buy", "bought", "make", "made"}
        acts |= {stem(word) for word, table in ACTIONS.items() if table == other}
        lacks = any(stem(match[1].lower()) in acts for match in LACKING.finditer(request))
        query.join(other, "LEFT JOIN" if lacks else "JOIN")
        if lacks:
            query.where.append(f"{{{other}}}{query.key(other)[1]} IS NULL")


def _aggregate(query: Query, request: str) -> None:
    counts = re.search(r"\bhow many\b|\bcounts?\b|\bcounting\b|\bnumber of\b", request, re.IGNORECASE)
    group = next((c for match in PER.finditer(request) if (c := _group(query, match[1], request))), None)
    having = re.search(
        rf"\b(more than|at least|fewer than|less than|over)\s+{COUNT}\s+(\w+)", request, re.IGNORECASE
    )
    function = ""
    each = re.search(
        r"\bcount(?:s|ing)?\b.{0,24}\b(?:distinct|unique|different)\s+(\w+)", request, re.IGNORECASE
    )
    if each and (one := _group(query, each[1], "") or query.column(each[1])):
        function, query.distinct = f"COUNT(DISTINCT {one})", False
    elif counts:
        function = "COUNT(*)"
    elif not query.order:
        for measure in MEASURE.finditer(request):
            name = FUNCTIONS.get(measure[1].lower(), "MIN")
            picks = [each for each in (measure[3], measure[2]) if each]
            column = next((c for each in picks[::-1] if (c := query.column(each))), None)
            if column is None and name in {"SUM", "AVG"}:
                column = query.column(measure[1]) or query.column("total") or query.column("amount")
            if column:
                function = f"{name}({column})"
                break
    if function:
        query.columns = [group, function] if group else [function]
        query.group = group or ""
    elif having and singular(having[3].lower()) in {singular(name.lower()) for name in query.others}:
        signs = {"more than": ">", "over": ">", "at least": ">="}
        own = (
            query.column("name", reach=False) or f"{{{query.table}}}{query.key(next(iter(query.others)))[0]}"
        )
        size = SIZES.get(having[2].lower()) or int(having[2])
        query.columns, query.group = [own], own
        query.having = f"COUNT(*) {signs.get(having[1].lower(), '<')} {size}"


def _group(query: Query, word: str, request: str) -> str | None:
    lower = singular(word.lower())
    if lower in {"date", "name", "their", "the"} or re.search(
        rf"\b(?:order|sort|rank)(?:ed)? by {word}", request, re.IGNORECASE
    ):
        return None
    for other in [query.table, *query.others]:
        if near(lower, singular(other.lower())):
            if other == query.table and not query.others:
                return None
            names = query.tables.get(other, ["name"])
            name = next(
                (each for each in names if each.lower() in {"name", "title", f"{lower}_name"}), names[0]
            )
            return f"{{{other}}}{name}"
    column = query.column(word)
    if column is None and query.known and f"{lower}_id" in query.tables[query.table]:
        return f"{{{query.table}}}{lower}_id"
    return column


def _rank(query: Query, request: str) -> None:
    """ORDER BY and LIMIT: *sorted by*, *the 5 most expensive*, *with the lowest rating*, *newest first*."""
    match = RANKED.search(request)
    if match:
        size = next(filter(None, match.groups())).lower()
        query.limit = SIZES.get(size) or int(size)
    down = re.search(
        r"\bdesc|\bhighest\b|\bmost\b|\bnewest\b|\blatest\b|\blargest\b|\btop\b|\bmost recent\b|\bexpensive\b"
        r"|\breverse\b",
        request,
        re.IGNORECASE,
    )
    ordered = re.search(
        r"\b(?:order|sort|rank)(?:ed|ing)?\s+(?:\w+ ){0,3}?by\s+(?:their |the )?(\w+)", request, re.IGNORECASE
    )
    if ordered:
        column = query.column(ordered[1]) or ordered[1]
        upward = re.search(r"\basc(?:ending)?\b|\blowest (?:to highest|first)\b", request, re.IGNORECASE)
        query.order = f"{column} DESC" if down and not upward else column
        return
    if re.search(r"\balphabetical", request, re.IGNORECASE):
        query.order = query.column("name") or query.column("title") or ""
        return
    with_it = re.search(rf"\b(?:with|has|have|having|had)\s+the\s+(?:{HIGH}|{LOW})\b", request, re.IGNORECASE)
    first = re.search(r"\bfirst\s*[.,;]?\s*$", request, re.IGNORECASE)
    if not (
        match
        or with_it
        or first
        or re.search(r"\b(?:which|who|what)\b.*\b(?:most|least) \w+", request, re.IGNORECASE)
    ):
        return
    by = re.search(r"\bby\s+(?:their |the |total )?(\w+)", request, re.IGNORECASE)
    for found in SUPERLATIVE.finditer(request[with_it.start() :] if with_it else request):
        word = (found[2] or found[3]).lower()
        if word == "first" and not with_it:
            continue
        picks = [*IMPLIED.get(word, ()), *([by[1]] if by else []), *([found[4]] if found[4] else [])]
        column = next((c for each in picks if (c := query.column(each, reach=False))), None)
        falls = re.fullmatch(HIGH, word) is not None or (found[1] or "").lower() == "most"
        falls = falls and not (word == "oldest" and column is None)
        if column is None and word in TIMES:
            column, falls = query.dated(request), bool(TIMES[word])
        if column:
            query.order = f"{column} DESC" if falls else column
            query.limit = query.limit or (1 if with_it and not re.search(r"\bgroup|each\b", request) else 0)
            return


def _project(query: Query, request: str) -> None:
    """The columns to show: those named before the request says which rows."""
    if re.search(r"\b(?:distinct|unique|different)\b", request, re.IGNORECASE) and not any(
        "DISTINCT" in each for each in query.columns
    ):
        query.distinct = True
    if query.columns:
        return
    named = re.search(r"\b(?:names?|titles?|emails?|ids?|columns?)\b.{0,40}\bof\b", request, re.IGNORECASE)
    request = re.sub(r"\b(?:together|along) with\b", "and", request, flags=re.IGNORECASE)
    after = HEAD.search(request, named.end() if named else 0)
    head = request[: after.start()] if after else request
    tables = {singular(name.lower()) for name in (query.table, *query.tables)}
    ranks = set(re.findall(rf"\b(?:{HIGH}|{LOW})\b\W+(\w+)", request.lower()))
    picked: list[str] = []
    for word in re.findall(r"\w+", head):
        if (
            singular(word.lower()) in tables
            or word.lower() in {"number", "total", "date"} | ranks
            or len(word) < 3
        ):
            continue
        column = query.column(word)
        if column and (query.known or re.search(rf"\b{word}\b.{{0,30}}\bof\b|\b{word}\b", head)):
            picked.append(column)
    query.columns = list(dict.fromkeys(picked))
