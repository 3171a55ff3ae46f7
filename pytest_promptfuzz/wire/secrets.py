"""What a credential looks like: one list, for what is hidden before anything is written and for what a check refuses.

The list has a version, since keys of requests are computed after hiding. A recording is replayed under the version that
wrote it; version 1 is kept as data for that.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from pytest_promptfuzz.wire.paths import child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

HIDDEN = "[redacted]"

_OLD_SHAPES = {
    "a key of a model provider (sk-…)": r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_\-]{8,}",
    "a Google key (AIza…)": r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_\-]{20,}",
    "a key of a model host": r"(?<![A-Za-z0-9])(?:gsk|hf|r8|pplx|xai|nvapi)[_\-][A-Za-z0-9_\-]{20,}",
    "a token of GitHub or GitLab": r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-)[A-Za-z0-9_\-]{20,}",
    "a Slack token (xox…)": r"(?<![A-Za-z0-9])xox[abeprs]-[A-Za-z0-9\-]{10,}",
    "an AWS key (AKIA…)": r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "a JSON web token": r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*",
    "a private key (PEM)": r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
}
_START = r"(?<![A-Za-z0-9])"
_SHAPES = {
    **_OLD_SHAPES,
    "a key of a payment service": _START + r"(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}",
    "a Google access token (ya29…)": _START + r"ya29\.[A-Za-z0-9_\-]{16,}",
    "a key of a model host or a service of theirs": _START
    + r"(?:fw_|tgp_v1_|lsv2_(?:pt|sk)_|pcsk_|tvly-|jina_|co_|csk-)[A-Za-z0-9_\-]{20,}",
    "a token of a package index": _START + r"(?:npm_|pypi-)[A-Za-z0-9_\-]{20,}",
    "a token of a hosted service": _START
    + r"(?:dop_v1_|doo_v1_|shp(?:at|ca|pa|ss)_|lin_api_|ntn_|sbp_|hvs\.|dp\.pt\.|glptt-|gldt-|ATATT3)"
    r"[A-Za-z0-9_\-]{16,}",
    "a Databricks token (dapi…)": _START + r"dapi[a-f0-9]{32}",
    "a SendGrid key (SG.…)": _START + r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}",
    "a webhook's address": r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    "an age key": r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    "an Azure client secret": r"(?<![A-Za-z0-9_~.\-])[A-Za-z0-9_~.\-]{3}[78]Q~[A-Za-z0-9_~.\-]{30,}",
}

# The digit keeps "bearer authentication" readable; it is looked for in 24 characters, so that a text which names many
# credentials costs no more than its length.
_WORDY = r"(?=[^\s\"',;&]{24}|[^\s\"',;&]{0,23}\d)"
_AFTER = r"[A-Za-z0-9._~+/=\-]{8,}"
_API_KEY = r"(?:(?:x-)?api[-_ ]?key|access[-_]token)[\"']?\s*[:=]\s*[\"']?"

_OLD_NAMES = frozenset(
    [
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "apikey",
        "x-goog-api-key",
        "ocp-apim-subscription-key",
        "subscription-key",
        "cookie",
        "set-cookie",
        "access-token",
        "refresh-token",
        "id-token",
        "client-secret",
        "secret",
        "password",
        "passwd",
        "openai-api-key",
        "anthropic-api-key",
    ]
)
# In a query these short names are credentials (Google's ``key=``, signed URLs); in a body they are ordinary words.
_OLD_SIGNED = {"sig", "signature", "x-amz-signature", "x-amz-security-token"}
_OLD_QUERY = _OLD_NAMES | _OLD_SIGNED | {"key", "token", "auth", "code"}

# Names in snake case, as `_snake` writes them. What ends like this is a credential, whatever stands before it.
_STRONG = re.compile(
    r"(?:^|_)(?:(?:api|access|secret|private|account|shared|shared_access|subscription|signing|encryption|master|admin"
    r"|service_role|functions|secret_access)_?keys?|api_?key_(?:string|value)|secret|secrets|client_secret|passwords?"
    r"|passwd|passwort|pwd|passphrase|passcode|(?:access|refresh|id|session|security|auth|authorization|bearer|api|sas"
    r"|oauth|user_access|personal_access|csrf|ad)_?tokens?|authorization|connection_?string|conn_?str|dsn_password"
    r"|cookie|jwt|api_secret|webhook_url)$"
)
# What ends like this is one where its value looks like one: it may be a word of a text, too.
_WEAK = re.compile(r"(?:^|_)(?:tokens?|auth|credentials?|bearer|sas|hmac)$")
_HARMLESS = re.compile(
    r"(?:^|_)(?:page|next|continuation|continue|cursor|sync|pad|eos|bos|unk|sep|cls|mask|special|stop|image|audio|public"
    r"|completion|prompt|first|last|start|end|cancellation)_?tokens?$"
)
_QUERY = frozenset(
    [
        "sig",
        "signature",
        "sas",
        "hmac",
        "jwt",
        "x_amz_signature",
        "x_amz_security_token",
        "x_amz_credential",
        "x_goog_signature",
        "x_goog_credential",
        "x_oss_signature",
        "x_oss_credential",
        "q_signature",
        "awsaccess_key_id",
        "ossaccess_key_id",
        "google_access_id",
        "policy_signature",
    ]
)
_WEAK_QUERY = frozenset(["key", "token", "auth", "code", "ticket", "access", "pass", "pw"])
_KEY_OF_ENVIRONMENT = re.compile(r"(?:^|_)(?:key|pass|pat)$")

# Fields that providers document as credentials: the end of the way to them through objects, lists left out.
_DOCUMENTED = tuple(
    tuple(way.split("."))
    for way in (
        "tools.authorization",  # OpenAI: MCP servers, secrets of shell containers, the opening of a realtime session
        "domain_secrets.value",
        "client_secret.value",
        "mcp_servers.authorization_token",  # Anthropic
        "authentication.key",  # Azure OpenAI on your data
        "authentication.api_key",
        "authentication.access_token",
        "authentication.encoded_api_key",
        "authentication.connection_string",
        "authentication.password",
        "data_sources.parameters.key",
        "dataSources.parameters.key",
        "apiKeyConfig.apiKeyString",  # Google: external retrieval, extensions
        "api_key_config.api_key_string",
        "oauthConfig.accessToken",
        "oauth_config.access_token",
        "httpBasicAuthConfig.credentialSecret",
        "connectors.user_access_token",  # Cohere
    )
)
_HEADERS = frozenset({"headers", "extra_headers", "custom_headers", "http_headers", "default_headers"})
_TOOLS = frozenset({"tools", "mcp_servers", "mcpServers", "mcp"})  # their headers are for signing in
_HARMLESS_HEADER = re.compile(
    r"^(?:accept(?:-.*)?|content-(?:type|length)|user-agent|host|connection|cache-control|mcp-protocol-version)$"
)
SECRET_HEADER = re.compile(
    r"authorization|cookie|(^|-)(api-?key|token|secret|signature|auth|password|credentials?)$|subscription-key"
    r"|functions-key"
)
_ENVIRONMENT = frozenset({"env", "environment", "environment_variables", "environ"})
_PAIR_NAMES = ("name", "key", "header", "variable")

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLACEHOLDER = re.compile(
    r"(?:\$|%|\{|<|\[|\*|…|\.\.\.|x{3,}$|X{3,}$|[Yy]our|YOUR|example$|changeme$|redacted$|os\.environ|process\.env|env\.)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]+\d{0,2}(?:\.[A-Za-z_]+\d{0,2})*\Z")
_VALUE = re.compile(r"[A-Za-z0-9+/_\-.~=]{16,}")
_DIGIT, _LETTER, _SPACE = re.compile(r"\d"), re.compile(r"[^\W\d_]"), re.compile(r"\s")
_BITS = 3.2  # a character; English in lower case without spaces has about 2.8 in 16 letters of a few words


def _is_random(value: str) -> bool:
    """Whether a value could be made by a machine: letters and digits, hardly any of them twice."""
    if not _VALUE.fullmatch(value) or not any(each.isdigit() for each in value):
        return False
    counts = Counter(value).values()
    bits = -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
    return bits >= _BITS


def _is_mixed(value: str, length: int = 8) -> bool:
    """Whether a value is one word with letters and digits in it, as passwords are made."""
    return (
        len(value) >= length
        and _DIGIT.search(value) is not None
        and _LETTER.search(value) is not None
        and _SPACE.search(value) is None
        and not _PLACEHOLDER.match(value)
    )


def _is_prose(value: str) -> bool:
    """Whether a value says something about a credential (``at least 8 characters``), or stands in its place."""
    if not value or _PLACEHOLDER.match(value):
        return True
    return len(value.split()) > 2 and not any(_is_random(each) for each in value.split())


def _snake(name: str) -> str:
    return re.sub(r"[-\s.]+", "_", _CAMEL.sub("_", name.strip())).lower()


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
    return 1 if _WEAK.search(snake) else 0


_LOOKED_AT = 512  # characters of a value that are enough to tell what it is; it is hidden whole
_RUN = re.compile(r"[^\s\"'`,;&<>(){}\[\]\\]*")


def _run_end(text: str, start: int) -> int:
    found = _RUN.match(text, start)
    return found.end() if found is not None else start


class Pass(NamedTuple):
    """One kind of credential in texts: what to call it, its expression (its group ``value``, or all of it), a test."""

    kind: str
    expression: re.Pattern[str]
    holds: Callable[[re.Match[str]], bool] | None = None

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
                cut = self.holds is _in_text and end - start == _LOOKED_AT
                done = _run_end(text, end) if cut else end
                yield start, done


_NAMED = "a credential after its name (Bearer …, api_key=…)"
_BESIDE = "a random value beside a word such as token or secret"
_SHAPE_PASSES = tuple(Pass(kind, re.compile(shape)) for kind, shape in _SHAPES.items())


def _in_query(match: re.Match[str]) -> bool:
    name, value = match["name"], unquote(match["value"])
    kind = parameter_strength(name)
    if not kind or _PLACEHOLDER.match(value):
        return False
    return len(value) >= 4 if kind == 2 else _is_mixed(value) or _is_random(value) or len(value) >= 24


def parameter_strength(name: str) -> int:
    """As ``strength``, of a parameter in a query."""
    snake = _snake(unquote(name))
    return max(strength(name), 2 if snake in _QUERY else 1 if snake in _WEAK_QUERY else 0)


def _in_text(match: re.Match[str]) -> bool:
    kind, value = strength(match["name"]), match["value"]
    if not kind or _PLACEHOLDER.match(value):
        return False
    if _is_random(value.rstrip(".")):
        return True
    if kind < 2 or match["is"]:
        return False
    return _is_mixed(value, 6) and (bool(match["quote"]) or not _IDENTIFIER.match(value))


def _is_secret_user(match: re.Match[str]) -> bool:
    return _is_random(match["value"])


def _is_password(match: re.Match[str]) -> bool:
    value = match["value"]
    return not _PLACEHOLDER.match(value) and value.lower() not in {
        "password",
        "pass",
        "passwd",
        "pw",
        "secret",
    }


_LATER_PASSES = (
    Pass(
        "a password in an address (scheme://user:password@host)",
        re.compile(
            r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,30}://[^\s/:@\"'<>\\]{0,200}:"
            r"(?P<value>[^\s/?#\"'<>\\]{1,200})@"
        ),
        _is_password,
    ),
    Pass(
        "a credential in an address (scheme://token@host)",
        re.compile(
            r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,30}://(?P<value>[A-Za-z0-9_\-]{16,200}):?@"
        ),
        _is_secret_user,
    ),
    Pass(
        "a credential in the query of an address (token=…, sig=…)",
        re.compile(
            r"(?:[?&]|(?<=\bSharedAccessSignature ))(?P<name>[A-Za-z0-9_.%\-]{1,60})="
            r"(?P<value>[^&?\s\"'<>#\\\[\]`)]{3,})"
        ),
        _in_query,
    ),
    Pass(_NAMED, re.compile(rf"(?i)\b(?:bearer|basic)\s+{_WORDY}(?P<value>{_AFTER})")),
    Pass(_NAMED, re.compile(rf"(?i)\b{_API_KEY}{_WORDY}(?P<value>{_AFTER})")),
    Pass(
        "a password in a connection string",
        re.compile(
            r"(?i)(?<=;)\s?(?:password|pwd|accountkey|sharedaccesskey|sharedsecretvalue)="
            r"(?P<value>[^;\"'\s]{3,})"
        ),
        _is_password,
    ),
    Pass(
        _BESIDE,
        re.compile(
            r"(?<![A-Za-z0-9_.\-])(?P<name>[A-Za-z][A-Za-z0-9_.\-]{1,60}(?: (?i:key|token|secret|password|string))?)"
            r"[\"'`\\]{0,3}\s{0,3}(?:[:=]>?|(?P<is>\b(?i:is)\b))\s{0,3}(?:(?i:bearer|basic|token|apikey)\s)?"
            r"(?P<quote>\\?[\"'`])?"
            r"(?=(?P<value>[^\s\"'`,;&<>(){}\[\]\\]{4,512}))"
        ),
        _in_text,
    ),
)
_HINT = re.compile(
    r"(?i)key|token|secret|pass|pwd|auth|cred|cookie|connection|conn_?str|jwt|bearer|basic|sas|hmac|://|[?&]"
)


@dataclass(frozen=True, slots=True)
class Rules:
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

    def all(self, text: str) -> Iterator[Pass]:
        """The passes that a text may hold something of."""
        yield from self.shapes
        if _HINT.search(text):
            yield from self.passes

    def kind_of(self, text: str) -> str:
        """What a text holds that looks like a credential; nothing where it holds none."""
        return next(
            (each.kind for each in self.all(text) if next(each.spans(text), None) is not None),
            "",
        )

    def member(self, way: tuple[str, ...], value: str, *, asked: bool) -> str:
        """What the text in a field of an object is, of which the name tells that it is a credential; else nothing.

        Args:
            way: The names of the objects and the field that lead to it, lists left out.
            value: The text.
            asked: Whether it stands in a request. In an answer, what tools are called with has to come back as the
                model gave it, unless it looks like a credential, too.
        """
        name = way[-1]
        if value == HIDDEN:
            return ""
        if not self.fields:
            known = asked and name.lower().replace("_", "-") in _OLD_NAMES
            return f"a credential under the name {name!r:.40}" if known else ""
        if _is_documented(way) or (_in_headers(way) and _is_for_signing_in(way)):
            return f"a credential in the documented field {'.'.join(way[-3:])}"
        kind = 2 if name.lower().replace("_", "-") in _OLD_NAMES else strength(name)
        if len(way) > 1 and way[-2] in _ENVIRONMENT and _KEY_OF_ENVIRONMENT.search(_snake(name)):
            kind = max(kind, 1)
        if not kind and not _in_headers(way):
            return ""
        if asked and kind == 2:
            hidden = name.lower().replace("_", "-") in _OLD_NAMES or not _is_prose(value)
        elif asked and _in_headers(way):
            hidden = bool(SECRET_HEADER.search(name.lower())) or _is_random(value)
        else:
            hidden = _is_random(value) or (
                _is_mixed(value, 12 if kind < 2 else 8) if asked or kind == 2 else False
            )
        return f"a credential under the name {name!r:.40}" if hidden else ""

    def drops(self, parameter: str) -> bool:
        """Whether a parameter of a request's own address is left out."""
        old = parameter.lower().replace("_", "-") in _OLD_QUERY
        return old or (self.fields and parameter_strength(parameter) > 0)


def _is_documented(way: tuple[str, ...]) -> bool:
    return any(way[-len(each) :] == each for each in _DOCUMENTED)


def _in_headers(way: tuple[str, ...]) -> bool:
    return len(way) > 1 and way[-2] in _HEADERS


def _is_for_signing_in(way: tuple[str, ...]) -> bool:
    return not _TOOLS.isdisjoint(way[:-2]) and not _HARMLESS_HEADER.match(way[-1].lower())


OLD = Rules(
    1,
    (Pass("a credential", re.compile("|".join(f"(?:{each})" for each in _OLD_SHAPES.values()))),),
    (Pass(_NAMED, re.compile(rf"(?i)\b(?:(?:bearer|basic)\s+|{_API_KEY}){_WORDY}(?P<value>{_AFTER})")),),
    fields=False,
    credentials=False,
)
RULES = Rules(2, _SHAPE_PASSES, _LATER_PASSES)
VERSIONS: Mapping[int, Rules] = {each.version: each for each in (OLD, RULES)}


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
        for index, each in enumerate(value):
            yield from _secrets_in(each, f"{path}[{index}]", way, asked)


def way_to(way: tuple[str, ...], owner: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The way to a field; of the value in a pair such as ``{"name": "password", "value": …}``, to its name's."""
    if name == "value":
        for each in _PAIR_NAMES:
            named = owner.get(each)
            if isinstance(named, str) and strength(named):
                return (*way, "value", named)
    return (*way, name)


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
        if (strength(name) or _KEY_OF_ENVIRONMENT.search(_snake(name)))
        and not value.startswith(("/", "."))
        and _is_random(value)
    )
