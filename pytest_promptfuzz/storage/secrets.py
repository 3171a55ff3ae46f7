"""What a secret looks like: one list, for what is hidden before anything is written and for what checks refuse.

The list has a version, since keys of requests are computed after hiding. A recording is replayed under the version that
wrote it; version 1 is kept as data for that.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from pytest_promptfuzz.data.tables import alternatives, entries, filled, when_used, words_in
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.json_paths import child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


HIDDEN = "[redacted]"

_NAMES = "secrets/names.tsv"
_OLD_NAMES = words_in(_NAMES, "version 1")
# In a query these short names are credentials (Google's ``key=``, signed URLs); in a body they are ordinary words.
_OLD_PARAMETERS = words_in(_NAMES, "version 1 parameter")
_PARAMETERS = words_in(_NAMES, "parameter")
_WEAK_PARAMETERS = words_in(_NAMES, "weak parameter")

# Names in snake case, as `_snake` writes them. What ends like this is a credential, whatever stands before it.
_STRONG = expression(
    lambda: rf"{alternatives(_NAMES, 'strong ending')}$|(?:^|_){alternatives(_NAMES, 'strong word')}$"
)
# What ends like this is one where its value looks like one: it may be a word of a text, too.
_WEAK = expression(lambda: rf"(?:^|_){alternatives(_NAMES, 'weak word')}$")
_HARMLESS = expression(lambda: rf"(?:^|_){alternatives(_NAMES, 'harmless word')}$")
_KEY_OF_ENVIRONMENT = expression(r"_keys?$")


# Fields that providers document as credentials: the end of the way to them through objects, lists left out.
@cache
def _documented() -> dict[str, list[tuple[str, ...]]]:
    """By the last name of each way."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for way in words_in(_NAMES, "documented"):
        names = tuple(way.split("."))
        found.setdefault(names[-1], []).append(names)
    return found


# What an object of these names holds is for signing in: Azure's `authentication`, Mistral's `authorization`.
_SIGNING_IN = frozenset(
    {"authentication", "authorization", "auth", "apiAuth", "api_auth", "service_auth", "credentials"}
)
_SIGNING_IN_WITH = frozenset(
    {"key", "value", "token", "secret", "bearer", "encoded_api_key", "connection_string"}
)
_ECHOED = (("metadata",), ("tools",))
HEADERS = frozenset({"headers", "extra_headers", "custom_headers", "http_headers", "default_headers"})
_COOKIES = frozenset({"cookies", "cookie_jar"})
_TOOLS = frozenset({"tools", "mcp_servers", "mcpServers", "mcp"})  # their headers are for signing in
_HARMLESS_HEADER = expression(
    r"^(?:accept(?:-.*)?|content-(?:type|length)|user-agent|host|connection|cache-control|mcp-protocol-version)$"
)
SECRET_HEADER = expression(
    r"authorization|cookie|(^|-)(api-?key|token|secret|signature|signature-256|auth|password|credentials?|session)$"
    r"|(^|-)(?<!idempotency-)(?<!cache-)key$"
)
_ENVIRONMENT = frozenset({"env", "environment", "environment_variables", "environ"})
# What holds a credential for each of several services: {"api_keys": {"search": "…"}}.
_KEPT_IN = expression(r"(?:^|_)(?:api_?keys?|secrets?|passwords|credentials|creds)$")
_PAIR_NAMES = ("name", "key", "header", "variable")
LISTED = "[]"  # stands in the way to a text of a list that follows its name there: ["--token", "…"]

_JOINTS = expression(r"[-\s.]+")
_CAMEL = expression(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLACEHOLDER = expression(
    r"(?:\$|%|\{|<|\[|\*|…|\.\.\.|x{3,}$|X{3,}$|[Yy]our|YOUR|example$|changeme$|redacted$|os\.environ|process\.env|env\.)"
)
_IDENTIFIER = expression(r"[A-Za-z_]+\d{0,2}(?:\.[A-Za-z_]+\d{0,2})*\Z")
_VALUE = expression(r"[A-Za-z0-9+/_\-.~=]{16,}")
_DIGIT, _LETTER, _SPACE = expression(r"\d"), expression(r"[^\W\d_]"), expression(r"\s")
_UNSPACED = expression(r"[\u3040-\u30ff\u3400-\u9fff]")  # scripts whose sentences have no spaces
_BITS = 3.2  # a character; English in lower case without spaces has about 2.8 in 16 letters of a few words
_BITS_OF_LETTERS = 4.3  # names in camel case, as long as such values, have about 4
# Where a letter follows a digit, a digit a letter, or a capital a small letter: rare in words, dates and versions.
_TURN = expression(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])\d|(?<=\d)[A-Za-z]")
_NUMBER = expression(r"\d{14}")
_SAYS_NOTHING = words_in(_NAMES, "empty value")
_FUNCTION_WORD = expression(
    r"(?i)\b(?:a|an|the|of|to|is|be|in|for|with|your|my|must|at|no|not|and|or|that|this)\b"
)


def _is_random(value: str) -> bool:
    """Whether a value could be made by a machine: letters and digits in disorder, hardly any of them twice."""
    if not _VALUE.fullmatch(value):
        return False
    if _DIGIT.search(value):
        least = _BITS
        if 8 * len(_TURN.findall(value)) < len(value) and not _NUMBER.search(value):
            return False
    else:  # as one in 300 values of 32 characters is
        least = _BITS_OF_LETTERS
        if len(value) < 24 or 6 * len(_TURN.findall(value)) < len(value):
            return False
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts) >= least


def _is_jumbled(value: str) -> bool:
    """Whether a value of 8 characters and more looks like no word, name or number, if it is too short to be random."""
    return len(value) >= 8 and len(_TURN.findall(value)) >= 3 and _is_mixed(value)


def _is_mixed(value: str, length: int = 8) -> bool:
    """Whether a value is one word with letters and digits in it, as passwords are made."""
    return (
        len(value) >= length
        and _DIGIT.search(value) is not None
        and _LETTER.search(value) is not None
        and _SPACE.search(value) is None
        and _UNSPACED.search(value) is None
        and not _PLACEHOLDER.match(value)
    )


def _is_prose(value: str) -> bool:
    """Whether a value says something about a credential (``at least 8 characters``), or stands in its place."""
    if not value or _PLACEHOLDER.match(value) or value.lower() in _SAYS_NOTHING:
        return True
    return len(value.split()) > 2 and not any(_is_random(each) for each in value.split())


def _is_phrase(name: str, value: str) -> bool:
    """Whether words are a secret themselves: those that restore a wallet, and passwords of four words and more."""
    ends = ("phrase", "mnemonic", "password", "passwd") if len(value.split()) > 3 else ("phrase", "mnemonic")
    return name.endswith(ends) and _FUNCTION_WORD.search(value) is None and not _PLACEHOLDER.match(value)


def _snake(name: str) -> str:
    return _JOINTS.sub("_", _CAMEL.sub("_", name.strip())).lower()


@lru_cache(maxsize=4096)
def strength(name: str) -> int:
    """2 for a name that only credentials have, 1 for one that they may have, 0 for others.

    >>> strength("aws_secret_access_key"), strength("sessionToken"), strength("token"), strength("max_tokens")
    (2, 2, 1, 1)
    >>> strength("next_page_token"), strength("token_type"), strength("prompt_cache_key")
    (0, 0, 0)
    """
    if len(name) > 80:
        return 0
    snake = _snake(name)
    if _HARMLESS.search(snake):
        return 0
    if _STRONG.search(snake):
        return 2
    return 1 if _WEAK.search(snake) or (name.isupper() and _KEY_OF_ENVIRONMENT.search(snake)) else 0


_LOOKED_AT = 128  # characters of a value that are enough to tell what it is; it is hidden whole
_RUN = expression(lambda: filled("<CHARACTER>*(?:<ESCAPES><CHARACTER>*)*", _parts()))
_ESCAPE = expression(lambda: _parts()["ESCAPES"])
_QUOTED = {each: expression(rf"[^{each}\n\\]*") for each in "\"'`"}


def _end_of(text: str, start: int, quote: str) -> int:
    """Where a value ends: at its own quote, if that follows in the same line; else where its characters end."""
    run = _RUN.match(text, start)
    end = run.end() if run is not None else start
    if quote[-1:] in _QUOTED and (found := _QUOTED[quote[-1:]].match(text, start, start + 4 * _LOOKED_AT)):
        closed = text[found.end() : found.end() + len(quote)] == quote
        return max(end, found.end()) if closed else end
    return end


class Pass(NamedTuple):
    """One kind of credential in texts: what to call it, its expression (its group ``value``, or all of it), a test.

    Each text that holds one holds one of the hints.
    """

    kind: str
    expression: re.Pattern[str]
    holds: Callable[[re.Match[str]], bool] | None = None
    hints: tuple[str, ...] = ()

    def may_be_in(self, lower: str) -> bool:
        """Whether a text, given in small letters, is worth a search: one of the hints stands in it."""
        return not self.hints or any(map(lower.__contains__, self.hints))

    @property
    def named(self) -> bool:
        """Whether the words before it tell what it is."""
        return "value" in self.expression.groupindex

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it stands in a text, none in another."""
        group = "value" if self.named else 0
        done = 0
        for match in self.expression.finditer(text):
            start, end = match.span(group)
            if start >= done and (self.holds is None or self.holds(match)):
                done = max(end, _end_of(text, start, match["quote"] or "")) if self.holds is _in_text else end
                yield start, done


_BLOB = expression(r"[A-Za-z0-9_\-+/=]{64}")


def _is_no_blob(match: re.Match[str]) -> bool:
    """Whether a shape is no part of a long random value, encrypted reasoning say, in which every few letters occur.

    Such a value ends with ``=``: what follows one begins anew.
    """
    before = match.string[max(0, match.start() - 64) : match.start()]
    return before.endswith("=") or not (_BLOB.fullmatch(before) and _is_random(before))


# sk_learn_pipeline_2024, hf_transformers_library: words and numbers, as programs name things.
_WORDS = expression(r"[A-Za-z]{1,20}\d{0,2}(?:[_\-.](?:[A-Za-z]{1,20}\d{0,2}|\d{1,8}))+\Z")


def _is_no_name(match: re.Match[str]) -> bool:
    """Whether what follows a service's beginning is no name of a variable, a file or a package."""
    return _is_no_blob(match) and not _WORDS.match(match[0])


def _shapes() -> tuple[Pass, ...]:
    """What is a credential wherever it stands."""
    named: dict[str, str] = {}
    told: dict[str, dict[str, list[str]]] = {}

    def add(kind: str, role: str, text: str) -> None:
        if role == "is":
            named[kind] = f"{named[kind]}|{text}" if kind in named else text
        else:
            told.setdefault(kind, {}).setdefault(role, []).append(text)

    entries("secrets/shapes.tsv", add)
    groups = {name: f"(?:{pattern})" for name, pattern in named.items()}
    return tuple(_shape(kind, roles, groups) for kind, roles in told.items())


def _shape(kind: str, roles: dict[str, list[str]], named: Mapping[str, str]) -> Pass:
    begins = roles.get("begins", [])
    shape = "|".join(roles.get("shape", ()))
    if begins:
        shape = (
            rf"<START>(?:{'|'.join(map(re.escape, begins))})(?=\S{{0,60}}\d)<TAIL>{{16,}}(?:[.+/=]<TAIL>+)*=*"
        )
    holds = _is_no_name if begins or kind == "a key of a model host" else _is_no_blob
    hints = (*roles.get("hint", ()), *map(str.lower, begins))
    return Pass(kind, expression(filled(shape, named)), holds, hints)


def _old_shapes() -> tuple[Pass, ...]:
    rows = entries("secrets/shapes.tsv", lambda _, role, text: (role, text))
    shape = "|".join(f"(?:{text})" for role, text in rows if role == "version 1")
    return (Pass("a credential", expression(shape)),)


def _in_query(match: re.Match[str]) -> bool:
    name, value = match["name"], unquote(match["value"])
    kind = parameter_strength(name)
    if not kind or _PLACEHOLDER.match(value):
        return False
    return len(value) >= 4 if kind == 2 else _is_mixed(value) or _is_random(value) or len(value) >= 24


def parameter_strength(name: str) -> int:
    """As ``strength``, of a parameter in a query."""
    snake = _snake(unquote(name))
    return max(strength(name), 2 if snake in _PARAMETERS else 1 if snake in _WEAK_PARAMETERS else 0)


def _in_text(match: re.Match[str]) -> bool:
    kind, value = strength(match["name"]), _ESCAPE.sub("/", match["value"]).rstrip(".")
    if match["name"][-6:].lower() == "cookie" and "=" in value:
        return False  # looked for by itself
    if not kind or len(value) < 4 or _PLACEHOLDER.match(value) or value.lower() in _SAYS_NOTHING:
        return False
    whole, start, quote = match.string, match.start("name"), match["quote"]
    is_word = not quote and _IDENTIFIER.match(value) is not None
    if is_word and whole[match.end("value") : match.end("value") + 1] in {"(", "["}:
        return False  # what a function returns
    if match["tag"] and whole[start - 1 : start] != "<":
        return False
    if _is_random(value):
        return True
    if kind < 2 or match["loose"]:
        return kind == 2 and _is_jumbled(value)
    in_line = match["plain"] and match["name"].isupper() and _IN_LINE.search(whole, max(0, start - 20), start)
    if in_line and match.end("plain") + len(quote or "") == match.start("value"):
        return len(value) >= 6
    return _is_mixed(value, 6) and (not is_word or _is_jumbled(value))


def _is_bearer(match: re.Match[str]) -> bool:
    """Whether it signs in: ``Basic`` stands before a user and a password in base64, not in ``basic level-1 course``."""
    if match["scheme"].lower() == "bearer" or _IN_HEADER.search(
        match.string, max(0, match.start() - 24), match.start()
    ):
        return True
    encoded = match["value"].rstrip("=.")
    try:
        return b":" in base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except ValueError:
        return False


_IN_HEADER = expression(r"(?i)authorization\W{1,8}\Z")
_IN_LINE = expression(r"(?:^|\n)(?:\s|export\s)*\Z")


def _is_secret_user(match: re.Match[str]) -> bool:
    return _is_random(match["value"])


def _is_password(match: re.Match[str]) -> bool:
    value = match["value"]
    if value.startswith("{") and not _IDENTIFIER.match(value[1:-1]):
        value = value[1:-1]  # ODBC's quotes
    low = value.lower()
    return not _PLACEHOLDER.match(value) and low not in _SAYS_NOTHING and low not in _NO_PASSWORDS


_NO_PASSWORDS = words_in(_NAMES, "no password")


def _is_option(match: re.Match[str]) -> bool:
    kind, value = strength(match["name"]), match["value"]
    return (
        kind > 0
        and not _PLACEHOLDER.match(value)
        and (_is_random(value) or (kind == 2 and _is_mixed(value, 6)))
    )


def _is_mixed_value(match: re.Match[str]) -> bool:
    return _is_mixed(match["value"], 6) and not match["value"].isdigit()


def _is_random_value(match: re.Match[str]) -> bool:
    return _is_random(unquote(match["value"]))


def _is_jumbled_value(match: re.Match[str]) -> bool:
    return _is_random(match["value"]) or _is_jumbled(match["value"])


def _has_random_cookie(match: re.Match[str]) -> bool:
    values = (each.partition("=")[2].strip() for each in match["value"].split(";"))
    return any(_is_mixed(each, 12) and not _IDENTIFIER.match(each) for each in values)


_TESTS: dict[str, Callable[[re.Match[str]], bool]] = {
    each.__name__.lstrip("_"): each
    for each in (
        _has_random_cookie,
        _in_query,
        _in_text,
        _is_bearer,
        _is_jumbled_value,
        _is_mixed_value,
        _is_option,
        _is_password,
        _is_random_value,
        _is_secret_user,
    )
}


@cache
def _contexts() -> tuple[dict[str, str], tuple[Pass, ...]]:
    """What names in the patterns stand for, and what is a credential in the company of other words."""
    named: dict[str, str] = {}
    passes: list[Pass] = []

    def add(kind: str, test: str, hints: str = "", pattern: str = "") -> None:
        if pattern:
            holds = _TESTS[test] if test else None
            passes.append(Pass(kind, expression(filled(pattern, named)), holds, tuple(hints.split(","))))
        else:
            named[kind] = test

    entries("secrets/contexts.tsv", add)
    return named, tuple(passes)


def _parts() -> dict[str, str]:
    return _contexts()[0]


SHORT = 256  # characters: roles, names and labels, which most texts of a request are, come again and again


@lru_cache(maxsize=4096)
def hidden_in_short(rules: SecretRules, text: str) -> str:
    """A short text with what looks like a credential hidden."""
    return rules.hidden(text)


@lru_cache(maxsize=4096)
def _worth_in_short(rules: SecretRules, text: str) -> tuple[Pass, ...]:
    return _worth(rules, text)


def _worth(rules: SecretRules, text: str) -> tuple[Pass, ...]:
    """The passes that a text may hold something of."""
    lower = text.lower()
    return tuple(each for each in _passes_of(rules) if each.may_be_in(lower))


@cache
def _passes_of(rules: SecretRules) -> tuple[Pass, ...]:
    return (*rules.shapes, *rules.passes)


@dataclass(frozen=True, slots=True, eq=False)
class SecretRules:
    """A version of the list.

    Attributes:
        version: As recordings say it.
        shapes: What is a credential wherever it stands, by what to call it.
        passes: What is one in the company of other words, looked for after the shapes, in order.
        fields: Whether fields are known besides the names of the first version.
        credentials: Whether what a request's headers carry counts as hidden in its body's key.
    """

    version: int
    shapes: tuple[Pass, ...]
    passes: tuple[Pass, ...]
    fields: bool = True
    credentials: bool = True

    def hidden(self, text: str, wanted: Callable[[str, int, int], bool] | None = None) -> str:
        """A text with what looks like a credential hidden.

        Args:
            text: Any.
            wanted: Says of a text, and where in it a credential stands that the words before it tell, whether it is to
                be hidden; by default all are.
        """
        for each in self._passes(text):
            pieces, at = [], 0
            for start, end in each.spans(text):
                if wanted is None or not each.named or wanted(text, start, end):
                    pieces += [text[at:start], HIDDEN]
                    at = end
            if pieces:
                text = "".join([*pieces, text[at:]])
        return text

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where in a text something looks like a credential, by one pass after the other."""
        return [span for each in self._passes(text) for span in each.spans(text)]

    def kind_of(self, text: str) -> str:
        """What a text holds that looks like a credential; nothing where it holds none."""
        return next(
            (each.kind for each in self._passes(text) if next(each.spans(text), None) is not None),
            "",
        )

    def _passes(self, text: str) -> tuple[Pass, ...]:
        return _worth_in_short(self, text) if len(text) <= SHORT else _worth(self, text)

    def member(self, way: tuple[str, ...], value: str, *, asked: bool) -> str:
        """What the text in a field of an object is, of which the name tells that it is a credential; else nothing.

        Args:
            way: The names of the objects and the field that lead to it, lists left out.
            value: The text.
            asked: Whether it stands in a request. In an answer, what tools are called with has to come back as the
                model gave it, unless it looks like a credential, too.
        """
        place = place_of(self.fields, way, asked)
        return "" if place is None or value == HIDDEN else place.kind_of(value)

    def drops(self, parameter: str) -> bool:
        """Whether a parameter of a request's own address is left out."""
        name = parameter.lower().replace("_", "-")
        old = name in _OLD_NAMES or name in _OLD_PARAMETERS
        return old or (self.fields and parameter_strength(parameter) > 0)


class FieldPlace(NamedTuple):
    """What the way to a text tells of it, before it is read.

    Attributes:
        name: Of its field.
        inside: The name of what holds the field.
        asked: Whether it stands in a request, or repeats what one said.
        certain: What it is, whatever it says; empty where that has to be seen.
        server: Whether it is a server's address.
        kept: Whether what holds it keeps a credential for each of several services.
        strength: As ``strength`` of the name.
        headers: Whether it is a header.
        searched: Whether its name, or what holds it, is reason enough to look for a credential.
    """

    name: str
    inside: str
    asked: bool
    certain: str = ""
    server: bool = False
    kept: bool = False
    strength: int = 0
    headers: bool = False
    searched: bool = False

    def kind_of(self, value: str) -> str:
        """What the text there is, if it is a credential; else nothing."""
        if self.certain:
            return self.certain
        if self.server and any(map(_is_random, value.partition("?")[0].split("/")[3:])):
            return "a credential in the address of a server"
        if self.kept and _is_random(value):
            return f"a credential under the name {self.inside!r:.40}"
        return (
            f"a credential under the name {self.name!r:.40}" if self.searched and self._hides(value) else ""
        )

    def _hides(self, value: str) -> bool:
        listed = self.inside == LISTED
        if self.asked and self.strength == 2 and not listed:
            return not _is_prose(value) or _is_phrase(_snake(self.name), value)
        if self.asked and self.headers:
            return bool(SECRET_HEADER.search(self.name.lower())) or _is_random(value)
        told = self.strength == 2 or (self.asked and self.strength > 0)
        mixed = told and _is_mixed(value, 12 if self.strength < 2 else 8)
        return _is_random(value) or (mixed and not (listed and bool(_IDENTIFIER.match(value))))


@lru_cache(maxsize=4096)
def place_of(fields: bool, way: tuple[str, ...], asked: bool) -> FieldPlace | None:
    """What the way to a text tells of it; ``None`` where nothing is a credential for where it stands.

    Args:
        fields: As of ``SecretRules``.
        way: As of ``SecretRules.member``.
        asked: As of ``SecretRules.member``.
    """
    name, inside = way[-1], way[-2] if len(way) > 1 else ""
    old = name.lower().replace("_", "-") in _OLD_NAMES
    if not fields:
        known = f"a credential under the name {name!r:.40}"
        return FieldPlace(name, inside, asked, certain=known) if asked and old else None
    asked = asked or _is_echoed(way)
    headers = _in_headers(way)
    if _is_documented(way) or _signs_in_to_data(way) or (headers and _is_for_signing_in(way)):
        certain = f"a credential in the documented field {'.'.join(way[-3:])}"
        return FieldPlace(name, inside, asked, certain=certain)
    kind = 2 if old else strength(name)
    if asked and not kind and inside in _SIGNING_IN and name in _SIGNING_IN_WITH:
        kind = 2
    server = asked and _is_server(way)
    kept = asked and not kind and bool(_KEPT_IN.search(_snake(inside)))
    searched = kind > 0 or headers or inside in _ENVIRONMENT or not _COOKIES.isdisjoint(way[:-1])
    if not (server or kept or searched):
        return None
    return FieldPlace(
        name, inside, asked, server=server, kept=kept, strength=kind, headers=headers, searched=searched
    )


def _is_documented(way: tuple[str, ...]) -> bool:
    return any(way[-len(each) :] == each for each in _documented().get(way[-1], ()))


def _is_echoed(way: tuple[str, ...]) -> bool:
    """Whether a field of an answer, or of one in a stream's event, repeats what the request said."""
    return way[:1] in _ECHOED or (way[:1] == ("response",) and way[1:2] in _ECHOED)


def _signs_in_to_data(way: tuple[str, ...]) -> bool:
    """Whether a field is what Azure signs in with to data of one's own."""
    signs_in = way[-2:-1] == ("authentication",) and not {"data_sources", "dataSources"}.isdisjoint(way)
    return signs_in and (way[-1] in _SIGNING_IN_WITH or strength(way[-1]) == 2)


def _is_server(way: tuple[str, ...]) -> bool:
    """Whether a field is the address of an MCP server."""
    return way[-1] in {"server_url", "serverUrl"} or (
        way[-1] == "url" and not {"mcp_servers", "mcpServers"}.isdisjoint(way[-3:-1])
    )


def _in_headers(way: tuple[str, ...]) -> bool:
    return len(way) > 1 and way[-2] in HEADERS


def _is_for_signing_in(way: tuple[str, ...]) -> bool:
    return not _TOOLS.isdisjoint(way[:-2]) and not _HARMLESS_HEADER.match(way[-1].lower())


def _old_contexts() -> tuple[Pass, ...]:
    pattern = r"(?i)\b(?:(?:bearer|basic)\s+|<API_KEY>)<WORDY>(?P<value><AFTER>)"
    kind = "a credential after its name (Bearer …, api_key=…)"
    return (Pass(kind, expression(filled(pattern, _parts()))),)


OLD = SecretRules(1, when_used(_old_shapes), when_used(_old_contexts), fields=False, credentials=False)
RULES = SecretRules(2, when_used(_shapes), when_used(lambda: _contexts()[1]))
VERSIONS: Mapping[int, SecretRules] = {each.version: each for each in (OLD, RULES)}


class Secret(NamedTuple):
    """Something like a credential: the JSON path where it stands, and what it looks like. Never the value."""

    path: str
    kind: str


def secrets_in(value: Any, path: str = "$", *, asked: bool = True) -> Iterator[Secret]:
    """Everything in a JSON value that looks like a credential, in order; names of keys are searched as well.

    Args:
        value: Anything ``json.loads`` can return.
        path: Where it stands.
        asked: Whether it is a request, in which what stands under names such as ``password`` is one.
    """
    return _secrets_in(value, path, (), asked)


def _secrets_in(value: Any, path: str, way: tuple[str, ...], asked: bool) -> Iterator[Secret]:
    if isinstance(value, str):
        kind = (RULES.member(way, value, asked=asked) if way else "") or RULES.kind_of(value)
        if kind:
            yield Secret(path, kind)
    elif isinstance(value, dict):
        for name, each in value.items():
            kind = RULES.kind_of(name)
            if kind:
                yield Secret(path, f"{kind} in the name of a key")
                continue
            yield from _secrets_in(each, child(path, name), way_to(way, value, name), asked)
    elif isinstance(value, list):
        for index, (each, to) in enumerate(zip(value, ways_to_items(way, value), strict=True)):
            yield from _secrets_in(each, f"{path}[{index}]", to, asked)


def way_to(way: tuple[str, ...], owner: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The way to a field; of the value in a pair such as ``{"name": "password", "value": …}``, to its name's."""
    in_headers = bool(way) and way[-1] in HEADERS
    if name == "value":
        for each in _PAIR_NAMES:
            named = owner.get(each)
            if isinstance(named, str) and (in_headers or strength(named)):
                return (*way, named) if in_headers else (*way, "value", named)
    if in_headers and name in _PAIR_NAMES and isinstance(owner.get("value"), str):
        return (*way, name, LISTED)
    return (*way, name)


def ways_to_items(way: tuple[str, ...], items: Sequence[Any]) -> list[tuple[str, ...]]:
    """The way to each item of a list; to its name, where the item before is one: an option, or the first of two."""
    ways = []
    before = None
    for each in items:
        name = before.lstrip("-") if isinstance(before, str) and isinstance(each, str) else ""
        named = name and (name != before or len(items) == 2) and strength(name)
        ways.append((*way, LISTED, name) if named else way)
        before = each
    return ways


def kind_of(text: str) -> str:
    """What a text holds that looks like a credential; nothing where it holds none.

    >>> kind_of("use AKIAABCDEFGHIJKLMNOP"), kind_of("the token is expired")
    ('an AWS key (AKIA…)', '')
    """
    return RULES.kind_of(text)


def of_environment(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The credentials among environment variables: those whose name and value both look like one."""
    return tuple(
        value
        for name, value in sorted(environment.items())
        if (strength(name) or _snake(name).endswith("key"))
        and not value.startswith(("/", "."))
        and _is_random(value)
    )


# Credentials that were cut in the middle to fit a line: ``sk-p...7890ABCD`` still shows parts of a key.


_HIDDEN = "[redacted]"
_CUT = r"(?:\.\.\.|…)"
_FEWEST = 4  # characters of a key on one side of the cut; fewer tell nothing, and would be found in prose
_STARTS = (
    r"(?:sk-|AIza|(?:gsk|hf|r8|pplx|xai|nvapi)[_\-]|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|eyJ|A[KS]IA(?=[A-Z0-9]*"
    + _CUT
    + r"[A-Z0-9]{4}))"
)
_SHAPE = expression(
    rf"(?<![A-Za-z0-9]){_STARTS}(?:[\w\-]*{_CUT}[\w\-]{{{_FEWEST},}}|[\w\-]{{{_FEWEST},}}{_CUT})"
)
_ANY = expression(_CUT)
_WORD = expression(r"[\w\-]*")


def hide_cut(text: str, values: Iterable[str] = ()) -> str:
    """``text`` without what is left of keys that were cut.

    Args:
        text: What was shortened, with ``...`` or ``…`` where something is left out.
        values: Credentials known whole: what ends before a cut as one of them begins, or goes on after it as one
            ends, is hidden.

    >>> hide_cut("assert 'a' == 'use sk-p...7890ABCD'"), hide_cut("it was hunt...-two", ["hunter-and-two"])
    ("assert 'a' == 'use [redacted]'", 'it was [redacted]...[redacted]')
    """
    text = _hide_shapes(text)
    known = [each for each in values if len(each) > _FEWEST]
    if not known:
        return text
    pieces: list[str] = []
    end = 0
    for cut in _ANY.finditer(text):
        pieces += [text[end : cut.start()], cut[0]]
        end = cut.end()
    pieces.append(text[end:])
    for at in range(1, len(pieces), 2):
        before = max((_beginning(pieces[at - 1], each) for each in known), default=0)
        if before:
            pieces[at - 1] = pieces[at - 1][:-before] + _HIDDEN
        after = max((_ending(pieces[at + 1], each) for each in known), default=0)
        if after:
            pieces[at + 1] = _HIDDEN + pieces[at + 1][after:]
    return "".join(pieces)


def _hide_shapes(text: str) -> str:
    """The text without keys that are known by how they begin; only what touches a cut is looked at."""
    pieces: list[str] = []
    end = 0  # of what was kept or hidden
    seen = 0
    for cut in _ANY.finditer(text):
        word = _WORD.match(text[max(end, seen) : cut.start()][::-1])
        begin = cut.start() - (word.end() if word else 0)
        after = _WORD.match(text, cut.end())
        seen = cut.end()
        found = _SHAPE.search(text, begin, after.end() if after else cut.end()) if begin >= end else None
        if found:
            pieces += [text[end : found.start()], _HIDDEN]
            end = found.end()
    return "".join([*pieces, text[end:]])


def _beginning(text: str, value: str) -> int:
    """How many characters at the end of ``text`` are the first of ``value``."""
    return next((n for n in range(len(value), _FEWEST - 1, -1) if text.endswith(value[:n])), 0)


def _ending(text: str, value: str) -> int:
    """How many characters at the start of ``text`` are the last of ``value``."""
    return next((n for n in range(len(value), _FEWEST - 1, -1) if text.startswith(value[-n:])), 0)
