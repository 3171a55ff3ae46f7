"""Pulling named fields out of a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.simulated.classify import STOP
from pytest_promptfuzz.targets.simulated.words import listed, sentences, words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
DATE = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}\b|\b{MONTH}\.? \d{{1,2}}(?:st|nd"
    rf"|rd|th)?(?:,? \d{{4}})?\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}\.?(?:,? \d{{4}})?\b|\b(?:next |last |this )?(?:mon"
    rf"|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:today|tomorrow|yesterday)\b",
    re.IGNORECASE,
)
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
URL = re.compile(r"https?://[^\s<>\"')]+|\bwww\.[^\s<>\"')]+")
PHONE = re.compile(r"(?<![\w#-])\+?\(?\d{1,4}\)?(?:[ .-]?\(?\d{2,4}\)?){2,4}(?![\w-])")
AMOUNT = re.compile(
    r"[$€£¥]\s?\d[\d,]*(?:\.\d+)?(?:\s?(?:million|billion|k|m|bn)\b)?|\b\d[\d,]*(?:\.\d+)?\s?(?:USD|EUR"
    r"|GBP|CHF|JPY|dollars?|euros?|pounds?)\b",
    re.IGNORECASE,
)
PERCENT = re.compile(r"\b\d+(?:\.\d+)?\s?(?:%|percent\b)")
TIME = re.compile(r"\b\d{1,2}:\d{2}(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]\.?m\b\.?", re.IGNORECASE)
NUMBER = re.compile(r"\b\d[\d,]*(?:\.\d+)?\b")
REFERENCE = r"(?:\s*(?:number|no\.?|id|code|reference|ref|#|num)\.?)*\s*(?:is|was|:|=|#|-)?\s*#?\s*"
CODE = re.compile(r"#\s?([A-Z0-9][\w-]*\d[\w-]*|\d+)|\b([A-Z]{2,}[-_]?\d[\w-]*)\b|\b(\d{4,})\b")
CAPITAL = r"[A-Z\u00c0-\u00de][\w'\u2019-]+"
PERSON = re.compile(
    rf"\b(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?({CAPITAL}(?: (?:[A-Z]\.|(?:van|von|de|da|del|la|bin)\b"
    rf"|{CAPITAL})){{1,3}})"
)
NAMED = re.compile(
    rf"(?i:\b(?:my name is|name is|this is|i am|i'm|regards,?|sincerely,?|thanks,?|cheers,?|from|by"
    rf"|signed,?|dear|hi,? i'm|contact|named|"
    rf"customer|called|mr\.?|mrs\.?|ms\.?|dr\.?))[:\s]+({CAPITAL}(?: (?:[A-Z]\.|{CAPITAL})){{0,2}})"
)
COMPANY = re.compile(
    rf"\b((?:{CAPITAL} ){{0,3}}{CAPITAL},? (?:Inc|Ltd|LLC|GmbH|Corp|Corporation|Company|Co|AG|SA|PLC|plc"
    rf"|Group|Bank|Labs|Technologies|Systems|Solutions)\b\.?)"
)
AT_COMPANY = re.compile(rf"\b(?i:at|with|for|joined|from)\s+({CAPITAL}(?: {CAPITAL}){{0,2}})")
PLACE = re.compile(rf"\b(?i:in|to|at|near|from|of)\s+((?:{CAPITAL} ){{0,2}}{CAPITAL})")
STREET = re.compile(
    rf"\b\d{{1,5}} (?:{CAPITAL} ){{1,3}}?(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd"
    rf"|Way|Square)\b\.?(?:,(?: {CAPITAL}){{1,2}})?(?:,? [A-Z]{{2}}\b)?(?:,? \d{{5}})?"
)
ROAD = re.compile(r"^.*?\b(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Square)\b\.?")
ZIP = re.compile(r"(?<![\w#.,$€£-])(?:\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})(?![\w-])")
CURRENCY = re.compile(
    r"[$€£¥](?=\s?\d)|(?<=\d)\s?(?:USD|EUR|GBP|CHF|JPY|dollars?|euros?|pounds?)\b", re.IGNORECASE
)
CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "dollar": "USD", "euro": "EUR", "pound": "GBP"}
YEARS = re.compile(r"\b(\d{1,2})\+?\s+years?\b(?!\s+old)", re.IGNORECASE)
AGE = re.compile(r"\b(\d{1,3})(?:[- ]years?[- ]old|\s+years of age|,)", re.IGNORECASE)
A_FEW = r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|some|a dozen)"
WARES = re.compile(
    r"(?i)"
    rf"\b{A_FEW} [a-z][a-z -]{{1,30}}?(?:(?:, (?:and )?| and ){A_FEW} [a-z][a-z-]+"
    r"(?: (?!(?:and|or|to|for|in|from|please|with|at|on)\b)[a-z]+)?)+"
)
QUANTITY = re.compile(
    r"\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|dozen)\s+(?!dollars|euros|pounds|percent"
    r"|am\b|pm\b)([a-z]+(?: [a-z]+)?)",
    re.IGNORECASE,
)
NOT_NAMES = frozenset(
    listed(
        """
        I'm I've I'll The This That Please Hello Hi Dear Thanks Thank Order Invoice Monday Tuesday Wednesday
        Thursday Friday Saturday Sunday January February March April May June July August
        September October November December I My We Our It Your You Regards Best Kind Ticket
        Customer Subject Contact Call Email Phone When Where Can Could Total Date Amount Account
        And But On In At For From To Sincerely Meeting Yesterday Today Tomorrow Last Next Later Then After
        Before During While Since However Also His Her Their Mr Mrs Ms Dr Senior Junior He She They
        """
    )
)


def value_of(field: str, text: str, *, many: bool = False) -> Any:
    """The field's value: a text, a number where the name asks for one, a list for a plural or ``many``, or ``None``."""
    parts = [
        each
        for each in re.split(r"[\s_-]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", field).lower().replace("'s", ""))
        if each
    ]
    if not parts:
        return None
    last = parts[-1]
    plural = last.endswith("s") and not last.endswith(("ss", "us")) and last != "address"
    parts[-1] = {"people": "person", "companies": "company", "cities": "city", "countries": "country"}.get(
        last, last.removesuffix("s") if plural else last
    )
    plural = plural or last == "people" or many
    found = _labelled(parts, text) or _find(parts, text)
    if plural:
        return list(dict.fromkeys(found))
    return found[0] if found else None


def _labelled(parts: list[str], text: str) -> list[Any]:
    """The value on a line that bears the field's name, *Total: 12 EUR*; within it what looks like such a value."""
    name = r"[ _-]*".join(map(re.escape, parts))
    tail = r"(?:[ _]+(?:number|no\.?|id|#|name|amount|date|address))?"
    match = re.search(
        rf"^[ ]*(?:[-*•][ ]+)?[*_]*(?:the[ ]+)?{name}{tail}[*_]*[ ]*[:=][ *_]*(\S.*)$",
        text,
        re.IGNORECASE | re.MULTILINE,
    )
    if match is None:
        return []
    value = match[1].strip().rstrip(";")
    if value.isdigit() and set(parts) & {"age", "quantity", "count", "year", "experience"}:
        return [int(value)]
    if set(parts) & FREE or (re.search(r"\d", value) and " " not in value):
        return [value]
    return _find(parts, value) or [value]


def _find(parts: list[str], text: str) -> list[Any]:
    kinds = set(parts)
    for names, finder in FINDERS:
        if kinds & names:
            return finder(parts, text)
    return []


def _all(pattern: re.Pattern[str]) -> Callable[[list[str], str], list[Any]]:
    return lambda parts, text: _nearest(parts, text, pattern)


def _nearest(parts: list[str], text: str, pattern: re.Pattern[str]) -> list[Any]:
    """All matches; first those right after a word of the field's name (*due* date, *total* amount)."""
    matches = [(match.start(), match.group().strip().rstrip(".,;")) for match in pattern.finditer(text)]
    hints = [
        each for each in parts if each not in {"date", "amount", "number", "email", "phone", "price", "time"}
    ]
    lower = text.lower()
    places = [match.end() for hint in hints for match in re.finditer(rf"\b{re.escape(hint)}", lower)]
    if not places:
        return [value for _, value in matches]
    return [
        v
        for _, v in sorted(
            matches, key=lambda m: min((m[0] - p if m[0] >= p else 500 + p - m[0]) for p in places)
        )
    ]


def _codes(parts: list[str], text: str) -> list[Any]:
    heads = [each for each in parts if each not in {"number", "id", "no", "code", "reference", "ref", "num"}]
    for head in heads:
        found = re.findall(rf"\b{re.escape(head)}{REFERENCE}([A-Z]*[-_]?\d[\w-]*)", text, re.IGNORECASE)
        if found:
            return list(found)
    return [next(filter(None, match.groups())) for match in CODE.finditer(re.sub(r"[\w.+-]+@\S+", " ", text))]


def _cut(name: str) -> str:
    """A name up to the first word that can be in none: the case of *Laura Chen At* or *PARIS TODAY* is styling."""
    kept: list[str] = []
    for word in name.split():
        if kept and word.lower().strip(".,") in NO_PART:
            break
        kept.append(word)
    return " ".join(kept)


NO_PART = STOP | frozenset(
    listed(
        "today tomorrow yesterday tonight now please must met works lives who which says called like should"
    )
) - {"de", "la", "van"}


def _people(parts: list[str], text: str) -> list[Any]:
    if {"product", "item"} & set(parts):
        return _products(parts, text)
    if {"company", "organization", "organisation", "employer", "vendor"} & set(parts):
        return _companies(parts, text)
    found = [(match.start(1), _cut(match[1])) for match in NAMED.finditer(text)]
    introduced = [name for _, name in found if name.split()[0].title() not in NOT_NAMES]
    others = []
    for match in PERSON.finditer(text):
        name = _cut(match[1])
        while name and (name.split()[0] in NOT_NAMES or name.split()[0].title() in NOT_NAMES):
            name = name.partition(" ")[2]
        if len(name.split()) >= 2 and not COMPANY.search(text[match.start(1) : match.end() + 8]):
            others.append(name)
    names = introduced + others
    return [n for i, n in enumerate(dict.fromkeys(names)) if not any(n != o and n in o for o in names)]


def _companies(parts: list[str], text: str) -> list[Any]:
    del parts
    found = [match[1].rstrip(".,") for match in COMPANY.finditer(text)]
    return found or [match[1] for match in AT_COMPANY.finditer(text) if match[1].split()[0] not in NOT_NAMES]


def _places(parts: list[str], text: str) -> list[Any]:
    addresses = [match.group() for match in STREET.finditer(text)]
    if "address" in parts:
        return addresses
    if "street" in parts:
        return [match.group() for match in map(ROAD.match, addresses) if match]
    towns = [each.partition(",")[2].strip() for each in addresses]
    if "city" in parts and any(towns):
        return [re.sub(r"[ ,]+(?:[A-Z]{2})?[ ,]*(?:\d{5})?$", "", town) for town in towns if town]
    return [_cut(match[1]) for match in PLACE.finditer(text) if match[1].split()[0] not in NOT_NAMES]


def _currencies(parts: list[str], text: str) -> list[Any]:
    del parts
    found = [match.group().strip() for match in CURRENCY.finditer(text)]
    return [CURRENCIES.get(each.lower().removesuffix("s"), each.upper()) for each in found]


def _amounts(parts: list[str], text: str) -> list[Any]:
    return _nearest(parts, text, AMOUNT)


def _numbers(parts: list[str], text: str) -> list[Any]:
    if "quantity" in parts:
        return [_integer(match[1]) for match in QUANTITY.finditer(text)]
    if {"year", "experience"} & set(parts):
        return [int(match[1]) for match in YEARS.finditer(text)]
    if "age" in parts:
        return [
            int(each)
            for each in re.findall(r"\b(\d{1,3})(?:[- ]years?[- ]old|\s+years of age|,)", text, re.IGNORECASE)
        ]
    return [match.group() for match in NUMBER.finditer(text)]


def _integer(text: str) -> int:
    names = listed("zero one two three four five six seven eight nine ten")
    return int(text) if text.isdigit() else 12 if text == "dozen" else names.index(text)


def _products(parts: list[str], text: str) -> list[Any]:
    wares = WARES.search(text)
    if wares and parts[-1] in {"item", "product"}:
        return [
            re.sub(rf"(?i)^(?:and )?{A_FEW} ", "", each)
            for each in re.split(r"(?i), (?:and )?| and ", wares.group())
        ]
    found = [match[2] for match in QUANTITY.finditer(text)]
    bought = re.findall(
        (
            r"\b(?:bought|ordered|purchased|order for|buy|purchase|received|my new|the new)\s+(?:an?|the|your"
            r"|my|\d+)?\s*([\w -]{3,40}?)(?=\s+(?:on|from|for|at|and|last|with|but|in|that|which|is|was|to)\b"
            r"|[.,;!?]|$)"
        ),
        text,
        re.IGNORECASE,
    )
    return [each.strip() for each in bought] or found


def _first_sentence(parts: list[str], text: str) -> list[Any]:
    del parts
    return sentences(text)[:1]


FREE = frozenset(
    ["customer", "name", "product", "item", "title", "subject", "description", "summary", "color", "status"]
)
"""Fields whose labelled lines are taken whole: what stands there may look like anything."""
FINDERS: tuple[tuple[frozenset[str], Callable[[list[str], str], list[Any]]], ...] = (
    (frozenset({"email", "e", "mail"}), _all(EMAIL)),
    (frozenset({"phone", "telephone", "mobile", "fax"}), _all(PHONE)),
    (frozenset({"url", "website", "link"}), _all(URL)),
    (frozenset({"date", "deadline", "day", "due"}), _all(DATE)),
    (frozenset({"time"}), _all(TIME)),
    (frozenset({"percentage", "percent", "rate"}), _all(PERCENT)),
    (frozenset({"currency"}), _currencies),
    (frozenset({"zip", "zipcode", "postcode"}), _all(ZIP)),
    (frozenset({"experience", "years", "year"}), _numbers),
    (frozenset({"amount", "total", "price", "cost", "salary", "fee", "budget", "refund"}), _amounts),
    (frozenset({"company", "organization", "organisation", "employer", "vendor"}), _companies),
    (frozenset({"number", "id", "invoice", "order", "tracking", "reference", "ticket", "code"}), _codes),
    (frozenset({"quantity", "count", "age"}), _numbers),
    (frozenset({"city", "country", "location", "place", "address", "street", "destination"}), _places),
    (frozenset({"product", "item"}), _products),
    (frozenset({"name", "person", "customer", "sender", "author", "recipient", "patient", "contact", "who", "assignee",
                "owner", "candidate", "client", "manager", "employee", "full"}), _people),
    (frozenset({"summary", "description", "issue", "problem"}), _first_sentence),
)  # fmt: skip


def key_of(field: str) -> str:
    """The JSON key for a field: as written if it is an identifier, else its words joined by ``_``."""
    return field if re.fullmatch(r"\w+", field) else "_".join(words(field))


def extract(
    fields: list[str],
    text: str,
    variant: int = 0,
    types: Mapping[str, str] | None = None,
    *,
    many: bool = False,
) -> dict[str, Any]:
    """Every field with its value; ``variant`` overlooks one of them.

    Args:
        fields: Names as the prompt writes them.
        text: Where to look.
        variant: Above 0, which field to overlook.
        types: JSON types that the prompt asks for, by field.
        many: Whether all values are asked for, not the first.
    """
    found = {key_of(each): value_of(each, text, many=many) for each in fields}
    apart = any("currency" in each.lower() for each in found)
    for key, value in found.items():
        kind = (types or {}).get(key)
        if kind is None and apart and isinstance(value, str) and CURRENCY.search(value):
            kind = "number"
        found[key] = _typed(value, kind)
    if variant and found:
        missed = sorted(found)[(variant - 1) % len(found)]
        found[missed] = [] if isinstance(found[missed], list) else None
    return found


def _typed(value: Any, kind: str | None) -> Any:
    """The value as the type asked for, if it can be."""
    if kind in {"number", "integer"} and isinstance(value, str):
        number = NUMBER.search(value)
        if number:
            plain = float(number.group().replace(",", ""))
            return int(plain) if kind == "integer" or plain.is_integer() else plain
    if kind == "array" and not isinstance(value, list):
        return [] if value is None else [value]
    if kind == "string" and isinstance(value, int | float):
        return str(value)
    return value
