"""What a credential looks like: the shapes that redaction hides, and where something like one stands in JSON."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.wire.paths import child

if TYPE_CHECKING:
    from collections.abc import Iterator

SHAPES = {
    "a key of a model provider (sk-…)": r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_\-]{8,}",
    "a Google key (AIza…)": r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_\-]{20,}",
    "a key of a model host": r"(?<![A-Za-z0-9])(?:gsk|hf|r8|pplx|xai|nvapi)[_\-][A-Za-z0-9_\-]{20,}",
    "a token of GitHub or GitLab": r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-)[A-Za-z0-9_\-]{20,}",
    "a Slack token (xox…)": r"(?<![A-Za-z0-9])xox[abeprs]-[A-Za-z0-9\-]{10,}",
    "an AWS key (AKIA…)": r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "a JSON web token": r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*",
    "a private key (PEM)": r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
}
"""Regular expressions of what is a credential wherever it stands, by what to call it."""

# A credential named in prose. The digit keeps "bearer authentication" readable.
BEARER = re.compile(
    r"(?i)\b((?:bearer|basic)\s+|(?:(?:x-)?api[-_ ]?key|access[-_]token)[\"']?\s*[:=]\s*[\"']?)"
    r"(?=[^\s\"',;&]*\d|[^\s\"',;&]{24,})([A-Za-z0-9._~+/=\-]{8,})"
)

_COMPILED = tuple((kind, re.compile(shape)) for kind, shape in SHAPES.items())
_WORDS = r"api[-_ ]?key|secret|token|passw(?:or)?d|credentials?|access[-_ ]?key|authorization"
_NAME = re.compile(rf"(?i)(?:^|[-_ .])(?:{_WORDS})$|(?:apiKey|Secret|Token|Password)$")
_BESIDE = re.compile(
    rf"(?i)\b(?:{_WORDS})[\"'`]?\s*(?:[:=]|is)\s*[\"'`]?(?P<value>[A-Za-z0-9+/_\-.~=]{{16,}})"
)
_VALUE = re.compile(r"[A-Za-z0-9+/_\-.~=]{16,}")
_BITS = 3.2  # a character; English in lower case without spaces has about 2.8 in 16 letters of a few words


class Secret(NamedTuple):
    """Something like a credential: the JSON path where it stands, and what it looks like. Never the value."""

    path: str
    kind: str


def secrets_in(value: Any, path: str = "$") -> Iterator[Secret]:
    """Everything in a JSON value that looks like a credential, in order; names of keys are searched as well."""
    if isinstance(value, str):
        kind = kind_of(value)
        if kind:
            yield Secret(path, kind)
    elif isinstance(value, dict):
        for name, each in value.items():
            kind = kind_of(name)
            if kind:
                yield Secret(path, f"{kind} in the name of a key")
                continue
            at = child(path, name)
            if isinstance(each, str) and _NAME.search(name) and _is_random(each) and not kind_of(each):
                yield Secret(at, f"a random value under the name {name!r:.40}")
            else:
                yield from secrets_in(each, at)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from secrets_in(each, f"{path}[{index}]")


def kind_of(text: str) -> str:
    """What a text holds that looks like a credential; nothing where it holds none.

    >>> kind_of("use AKIAABCDEFGHIJKLMNOP"), kind_of("the token is expired")
    ('an AWS key (AKIA…)', '')
    """
    for kind, shape in _COMPILED:
        if shape.search(text):
            return kind
    if BEARER.search(text):
        return "a credential after its name (Bearer …, api_key=…)"
    if any(_is_random(each["value"]) for each in _BESIDE.finditer(text)):
        return "a random value beside a word such as token or secret"
    return ""


def _is_random(value: str) -> bool:
    """Whether a value could be made by a machine: letters and digits, hardly any of them twice."""
    if not _VALUE.fullmatch(value) or not any(each.isdigit() for each in value):
        return False
    counts = Counter(value).values()
    bits = -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
    return bits >= _BITS
