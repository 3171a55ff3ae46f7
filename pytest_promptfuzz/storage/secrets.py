"""What a credential looks like: one list, for what is hidden before anything is written and for what a check refuses.

The list has a version, since keys of requests are computed after hiding. A recording is replayed under the version that
wrote it; version 1 is kept as data for that.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from pytest_promptfuzz.text.json_paths import child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


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
_START, _TAIL = r"(?<![A-Za-z0-9])", r"[A-Za-z0-9_\-]"
# How tokens of services begin. At least 16 characters follow, with a digit among them.
BEGINNINGS = {
    "a key of a payment service": "sk_live_ sk_test_ sk_ rk_live_ rk_test_ rk_ whsec_ sq0atp- sq0csp- sq0idp-",
    "a Google token": "ya29. GOCSPX- 1//0",
    "a key of a model host or a service of theirs": "fw_ tgp_v1_ lsv2_pt_ lsv2_sk_ pcsk_ tvly- jina_ co_ csk- pa-"
    " apify_api_",
    "a token of GitLab": "glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glimt- glagent- gloas- glffct-",
    "a Slack token": "xapp- xoxe. xoxd-",
    "a token of a package index": "npm_ pypi- rubygems_ oy2",
    "a token of a host": "dop_v1_ doo_v1_ dor_v1_ hvs. hvb. hvr. pul- dckr_pat_ dckr_oat_ HRKU- nfp_"
    " vercel_blob_rw_ tskey- pscale_tkn_ pscale_oauth_ pscale_pw_ sbp_ sb_secret_ bkua_ CCIPAT_ CCIPRJ_ pnu_"
    " dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.",
    "a token of a hosted service": "shpat_ shpca_ shppa_ shpss_ lin_api_ lin_oauth_ ntn_ ATATT3 ATCTT3 ATBB figd_"
    " figo_ PMAK- NRAK- NRJS- NRII- glc_ glsa_ sntrys_ sntryu_ sntrya_ tfp_ rdme_ ops_ phx_ EZAK EZTK sgp_",
}
_FOLLOWED = rf"(?=\S{{0,60}}\d){_TAIL}{{16,}}(?:[.+/=]{_TAIL}+)*=*"
# What each looks like, and what stands in every text that holds one, in small letters.
_SHAPES: dict[str, tuple[str, str]] = {
    # The library scikit-learn is written like the beginning of a key.
    "a key of a model provider (sk-…)": (rf"{_START}sk-(?!learn\b){_TAIL}{{8,}}", "sk-"),
    "a Google key (AIza…)": (_OLD_SHAPES["a Google key (AIza…)"], "aiza"),
    "a key of a model host": (
        _OLD_SHAPES["a key of a model host"],
        " ".join(f"{each}_ {each}-" for each in ("gsk", "hf", "r8", "pplx", "xai", "nvapi")),
    ),
    "a token of GitHub or GitLab": (
        _OLD_SHAPES["a token of GitHub or GitLab"],
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat-",
    ),
    "a Slack token (xox…)": (_OLD_SHAPES["a Slack token (xox…)"], "xox"),
    "an AWS key (AKIA…)": (_OLD_SHAPES["an AWS key (AKIA…)"], "akia asia"),
    "a JSON web token": (_OLD_SHAPES["a JSON web token"], "eyj"),
    "a private key (PEM)": (
        r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        "-----begin",
    ),
    "a private key (PuTTY)": (
        r"(?<=Private-Lines: )\d{1,3}\s+(?:[A-Za-z0-9+/=]{1,80}\s+){1,999}",
        "private-lines:",
    ),
    **{
        kind: (rf"{_START}(?:{'|'.join(map(re.escape, begins.split()))}){_FOLLOWED}", begins.lower())
        for kind, begins in BEGINNINGS.items()
    },
    "a Doppler token": (rf"{_START}dp\.st\.(?:[a-z0-9_\-]{{2,35}}\.)?[A-Za-z0-9]{{40,}}", "dp.st."),
    "a Databricks token (dapi…)": (rf"{_START}dapi[a-f0-9]{{32}}(?:-\d)?", "dapi"),
    "a SendGrid key (SG.…)": (rf"{_START}SG\.{_TAIL}{{16,}}\.{_TAIL}{{16,}}", "sg."),
    "a token of a bot": (
        rf"(?<!\d)\d{{8,10}}:AA{_TAIL}{{28,}}|{_START}[MNO]{_TAIL}{{22,27}}\.{_TAIL}{{6}}\.{_TAIL}{{27,}}",
        ":aa .",
    ),
    "a webhook's address": (
        (
            r"https://(?:hooks\.slack\.com/(?:services|workflows)/|hooks\.zapier\.com/hooks/catch/"
            r"|[\w.\-]{1,80}\.webhook\.office\.com/|(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/)"
            r"[A-Za-z0-9/_\-@]{10,}"
        ),
        "hooks.slack.com hooks.zapier.com webhook.office.com /api/webhooks/",
    ),
    "an age key": (r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", "age-secret-key-1"),
    "an Azure key or client secret": (
        (
            r"(?<![A-Za-z0-9_~.\-])[A-Za-z0-9_~.\-]{3}[78]Q~[A-Za-z0-9_~.\-]{30,}"
            rf"|{_START}[A-Za-z0-9]{{52}}JQQJ99[A-Za-z0-9]{{10,}}"
        ),
        "q~ jqqj99",
    ),
    "a key of a service": (
        (
            rf"{_START}(?:secret_[A-Za-z0-9]{{43}}|cio[A-Za-z0-9]{{32}}|(?:fc-|SK)[a-f0-9]{{32}}|key-[a-z0-9]{{32}}"
            r"|[a-f0-9]{32}-us\d{1,2}|EAAA[A-Za-z0-9_\-]{60}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|fm[12]_[A-Za-z0-9+/]{40,}=*"
            r"|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-]{40,})(?![A-Za-z0-9])"
        ),
        "secret_ cio fc- key- sk -us eaaa pat fm1_ fm2_ dt0c01. .atlasv1.",
    ),
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
    r"(?:passwords?|passwd|passwort|kennwort|wachtwoord|contrase[nñ]a|senha|mot_?de_?passe|пароль|密码|パスワード|passphrase"
    r"|api_?keys?|(?:access|refresh|auth|session|bearer|api)_?tokens?|(?:client|app|consumer|web_?hook|shared|jwt)_?secret"
    r"|secret_?key(?:_base)?|access_?key|private_?key|connection_?string)$"
    r"|(?:^|_)(?:(?:account|shared|shared_access|subscription|signing|encryption|master|admin|service_role|functions"
    r"|secret_access|hmac|fernet|licen[cs]e|deploy|ssh|root)_?keys?|api_?key_(?:string|value)|secrets?|pwd|passcode"
    r"|root_?pw|(?:id|security|authorization|sas|oauth|user_access|personal_access|csrf|ad|vault|bot|admin)_?tokens?"
    r"|authorization|conn_?str|dsn_password|cookie|jwt|api_secret|webhook_url|seed_phrase|recovery_phrase|mnemonic)$"
    r"|(?:^|_)(?:db|database|user|admin|root|login|smtp|mail|email|ftp|proxy|sql|my_?sql|pg|postgres|mongo|redis)_?(?:pass|pw)$"
)
# What ends like this is one where its value looks like one: it may be a word of a text, too.
_WEAK = re.compile(
    r"(?:^|_)(?:tokens?|auth|credentials?|creds|bearer|sas|hmac|pat|pass|pw"
    r"|(?:auth|app|application|activation|client|cipher|cluster|crypto|decryption|host|ingestion|instrumentation"
    r"|integration|jwe|jwk|jws|jwt|maps|org|project_api|psk|server|service|session|sdk|storage|svc_account|team"
    r"|tls|user|vault|virtual|webhook|write)_?keys?|appkey)$"
)
_HARMLESS = re.compile(
    r"(?:^|_)(?:page|next|continuation|continue|cursor|sync|pad|eos|bos|unk|sep|cls|mask|special|stop|image|audio|public"
    r"|completion|prompt|first|last|start|end|cancellation)_?tokens?$"
    r"|(?:^|_)(?:cache|dedup\w*|duplication|foreign|idempotency|index|primary|public|publishable|partition|sort)_?keys?$"
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
_WEAK_QUERY = frozenset(["key", "token", "auth", "code", "ticket", "access", "pass", "pw", "sid"])
_KEY_OF_ENVIRONMENT = re.compile(r"_keys?$")

# Fields that providers document as credentials: the end of the way to them through objects, lists left out.
_DOCUMENTED = tuple(
    tuple(way.split("."))
    for way in (
        "tools.authorization",  # OpenAI: MCP servers, secrets of shell containers, the opening of a realtime session
        "domain_secrets.value",
        "client_secret.value",
        "mcp_servers.authorization_token",  # Anthropic
        "data_sources.parameters.key",  # Azure OpenAI on your data
        "dataSources.parameters.key",
        "apiKeyConfig.apiKeyString",  # Google: external retrieval, extensions
        "api_key_config.api_key_string",
        "oauthConfig.accessToken",
        "oauth_config.access_token",
        "httpBasicAuthConfig.credentialSecret",
        "connectors.user_access_token",  # Cohere
    )
)
# What an object of these names holds is for signing in: Azure's `authentication`, Mistral's `authorization`.
_SIGNING_IN = frozenset(
    {"authentication", "authorization", "auth", "apiAuth", "api_auth", "service_auth", "credentials"}
)
_SIGNING_IN_WITH = frozenset(
    {"key", "value", "token", "secret", "bearer", "encoded_api_key", "connection_string"}
)
_ECHOED = (("metadata",), ("tools",))
_HEADERS = frozenset({"headers", "extra_headers", "custom_headers", "http_headers", "default_headers"})
_COOKIES = frozenset({"cookies", "cookie_jar"})
_TOOLS = frozenset({"tools", "mcp_servers", "mcpServers", "mcp"})  # their headers are for signing in
_HARMLESS_HEADER = re.compile(
    r"^(?:accept(?:-.*)?|content-(?:type|length)|user-agent|host|connection|cache-control|mcp-protocol-version)$"
)
SECRET_HEADER = re.compile(
    r"authorization|cookie|(^|-)(api-?key|token|secret|signature|signature-256|auth|password|credentials?|session)$"
    r"|(^|-)(?<!idempotency-)(?<!cache-)key$"
)
_ENVIRONMENT = frozenset({"env", "environment", "environment_variables", "environ"})
# What holds a credential for each of several services: {"api_keys": {"search": "…"}}.
_KEPT_IN = re.compile(r"(?:^|_)(?:api_?keys?|secrets?|passwords|credentials|creds)$")
_PAIR_NAMES = ("name", "key", "header", "variable")
LISTED = "[]"  # stands in the way to a text of a list that follows its name there: ["--token", "…"]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLACEHOLDER = re.compile(
    r"(?:\$|%|\{|<|\[|\*|…|\.\.\.|x{3,}$|X{3,}$|[Yy]our|YOUR|example$|changeme$|redacted$|os\.environ|process\.env|env\.)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]+\d{0,2}(?:\.[A-Za-z_]+\d{0,2})*\Z")
_VALUE = re.compile(r"[A-Za-z0-9+/_\-.~=]{16,}")
_DIGIT, _LETTER, _SPACE = re.compile(r"\d"), re.compile(r"[^\W\d_]"), re.compile(r"\s")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")  # scripts whose sentences have no spaces
_BITS = 3.2  # a character; English in lower case without spaces has about 2.8 in 16 letters of a few words
_BITS_OF_LETTERS = 4.3  # names in camel case, as long as such values, have about 4
# Where a letter follows a digit, a digit a letter, or a capital a small letter: rare in words, dates and versions.
_TURN = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])\d|(?<=\d)[A-Za-z]")
_NUMBER = re.compile(r"\d{14}")
_SAYS_NOTHING = frozenset(
    [
        "true",
        "false",
        "yes",
        "no",
        "none",
        "null",
        "string",
        "text",
        "password",
        "required",
        "optional",
        "hidden",
    ]
) | {"enabled", "disabled", "default"}
_FUNCTION_WORD = re.compile(
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
    return re.sub(r"[-\s.]+", "_", _CAMEL.sub("_", name.strip())).lower()


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
_CHARACTER = r"[^\s\"'`,;&<>(){}\[\]\\]"
_ESCAPES = r"\\(?:/|u[0-9a-fA-F]{4})"
_RUN = re.compile(rf"{_CHARACTER}*(?:{_ESCAPES}{_CHARACTER}*)*")
_QUOTED = {each: re.compile(rf"[^{each}\n\\]*") for each in "\"'`"}


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


_NAMED = "a credential after its name (Bearer …, api_key=…)"
_BESIDE = "a random value beside a word such as token or secret"
_BLOB = re.compile(r"[A-Za-z0-9_\-+/=]{64}")


def _is_no_blob(match: re.Match[str]) -> bool:
    """Whether a shape is no part of a long random value, encrypted reasoning say, in which every few letters occur."""
    before = match.string[max(0, match.start() - 64) : match.start()]
    return not (_BLOB.fullmatch(before) and _is_random(before))


# sk_learn_pipeline_2024, hf_transformers_library: words and numbers, as programs name things.
_WORDS = re.compile(r"[A-Za-z]{1,20}\d{0,2}(?:[_\-.](?:[A-Za-z]{1,20}\d{0,2}|\d{1,8}))+\Z")


def _is_no_name(match: re.Match[str]) -> bool:
    """Whether what follows a service's beginning is no name of a variable, a file or a package."""
    return _is_no_blob(match) and not _WORDS.match(match[0])


_SHAPE_PASSES = tuple(
    Pass(
        kind,
        re.compile(shape),
        _is_no_name if kind in BEGINNINGS or kind == "a key of a model host" else _is_no_blob,
        tuple(hints.split()),
    )
    for kind, (shape, hints) in _SHAPES.items()
)


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


_IN_HEADER = re.compile(r"(?i)authorization\W{1,8}\Z")
_ESCAPE = re.compile(_ESCAPES)
_IN_LINE = re.compile(r"(?:^|\n)(?:\s|export\s)*\Z")


def _is_secret_user(match: re.Match[str]) -> bool:
    return _is_random(match["value"])


def _is_password(match: re.Match[str]) -> bool:
    value = match["value"]
    if value.startswith("{") and not _IDENTIFIER.match(value[1:-1]):
        value = value[1:-1]  # ODBC's quotes
    return not _PLACEHOLDER.match(value) and value.lower() not in _NO_PASSWORDS


_NO_PASSWORDS = _SAYS_NOTHING | {"pass", "passwd", "pw", "pwd", "secret"}


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


_QUOTE = r"""[bru]?(?P<quote>\\{0,8}["'`]{1,3}|&quot;|%22)?"""

_SIGNS = (
    *(
        "key",
        "token",
        "secret",
        "pass",
        "pw",
        "pat",
        "auth",
        "cred",
        "bearer",
        "sas",
        "jwt",
        "hmac",
        "connection",
    ),
    *(
        "connstr",
        "conn_str",
        "kennwort",
        "wachtwoord",
        "contrase",
        "senha",
        "пароль",
        "密码",
        "パスワード",
        "phrase",
    ),
    "mnemonic",
)
_LATER_PASSES = (
    Pass(
        "a password in an address (scheme://user:password@host)",
        re.compile(
            r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,30}://[^\s/:@\"'<>\\]{0,200}:"
            r"(?:(?P<value>[^\s/?#\"'<>\\]{1,200})@(?![^\s/?#\"'<>\\@]{0,200}:[^\s@\"'<>/]{1,200}@))"
        ),
        _is_password,
        ("://",),
    ),
    Pass(
        "a password in an address (scheme://user:password@host)",
        re.compile(
            r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,30}://[^\s/:@\"'<>\\\[]{1,200}:(?!\d{0,5}[/?#,])"
            r"(?P<value>[^\s\"'<>\\]{1,200}?)@(?=[\w.\-]{1,200}(?::\d{1,5})?(?:[/?\s\"'<>)]|$))"
        ),
        _is_password,
        ("://",),
    ),
    Pass(
        "a password in an address (user/password@host)",
        re.compile(r"(?i)\bjdbc:oracle:\w{1,10}:[^\s/@\"']{1,80}/(?P<value>[^\s/@\"']{1,200})@"),
        _is_password,
        ("jdbc:oracle",),
    ),
    Pass(
        "a credential in an address (scheme://token@host)",
        re.compile(
            r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,30}://(?P<value>[A-Za-z0-9_\-]{16,200}):?@"
        ),
        _is_secret_user,
        ("://",),
    ),
    Pass(
        "a credential in the query of an address (token=…, sig=…)",
        re.compile(
            r"(?:[?&]|(?<=\bSharedAccessSignature ))(?P<name>[A-Za-z0-9_.%\-]{1,60})="
            r"(?P<value>[^&?\s\"'<>#\\\[\]`)]{3,})"
        ),
        _in_query,
        ("?", "&", "sharedaccesssignature"),
    ),
    Pass(
        _NAMED,
        re.compile(rf"(?i)\b(?P<scheme>bearer|basic)\s+{_WORDY}(?P<value>{_AFTER})"),
        _is_bearer,
        ("bearer", "basic"),
    ),
    Pass(_NAMED, re.compile(rf"(?i)\b{_API_KEY}{_WORDY}(?P<value>{_AFTER})"), None, ("key", "token")),
    Pass(
        "a password in a connection string",
        re.compile(
            r"(?i)(?<=;)\s?(?:password|pwd|accountkey|sharedaccesskey|sharedsecretvalue)="
            r"(?P<value>\{[^}\n]{1,200}\}|[^;\"'\s]{3,})"
        ),
        _is_password,
        (";",),
    ),
    Pass(
        _BESIDE,
        re.compile(
            r"(?:(?<![\w.\-])|(?<=[^\w.\-]-)|(?<=[^\w.]--)|(?<=%22))"
            r"(?P<name>[^\W\d][\w.\-]{1,60}(?: (?i:key|token|secret|password|string))?)"
            r"(?:[\"'`\\*\])]|&quot;|%22){0,10}"
            r"(?:(?P<plain>=)|\s{0,3}(?::\s?&?(?:'static\s)?(?:str|String|string|bytes)\s?=|:=|[:=]>?|：|%3A|(?P<tag>>)"
            r"|(?P<loose>\b(?i:is)\b:?|,(?=\s?b?[\"']))))"
            rf"(?:\s|%20|\+){{0,3}}(?:(?i:bearer|basic|token|apikey|splunk)\s)?{_QUOTE}"
            rf"(?=(?P<value>{_CHARACTER}{{1,128}}(?:{_ESCAPES}{_CHARACTER}{{0,128}}){{0,8}}))"
        ),
        _in_text,
        _SIGNS,
    ),
    Pass(
        "a credential after its name (ENV API_KEY …)",
        re.compile(
            rf"(?m)^\s{{0,8}}(?:ENV|ARG|setenv)\s(?P<name>[A-Za-z_][\w]{{1,60}})\s{_QUOTE}(?P<value>{_CHARACTER}{{4,512}})"
        ),
        _is_option,
        ("env ", "arg "),
    ),
    Pass(
        "a credential after an option (--token …)",
        re.compile(
            rf"(?<![\w\-])--?(?P<name>[A-Za-z_][\w.\-]{{1,60}})\s{_QUOTE}(?P<value>{_CHARACTER}{{4,512}})"
        ),
        _is_option,
        ("-",),
    ),
    Pass(
        "a password of a command (-u user:password)",
        re.compile(
            rf"(?<![\w\-])(?:-u|--user|--proxy-user)[ =]{_QUOTE}[^\s:\"'/]{{1,80}}:(?P<value>[^\s\"'@]{{4,200}})"
        ),
        _is_mixed_value,
        ("-u ", "-u=", "--user", "--proxy-user"),
    ),
    Pass(
        "a password of a command (-p password)",
        re.compile(
            rf"\b(?:mysql\w{{0,12}}|mariadb\S{{0,12}}|sshpass|login)\b[^\n;|&]{{0,60}}?\s-p\s?{_QUOTE}"
            r"(?P<value>[^\s\"']{4,200})"
        ),
        _is_mixed_value,
        (" -p",),
    ),
    Pass(
        "a password after its name",
        re.compile(rf"(?i)\b(?:password|passwd|identified by)\s{_QUOTE}(?P<value>{_CHARACTER}{{8,200}})"),
        _is_jumbled_value,
        ("password", "passwd", "identified by"),
    ),
    Pass(
        "a password after its user",
        re.compile(r"\bauth=\(\s?[\"'][^\"'\n]{0,80}[\"'],\s?(?P<quote>[\"'])(?P<value>[^\"'\n]{4,200})"),
        _is_mixed_value,
        ("auth=(",),
    ),
    Pass(
        "a cookie",
        re.compile(
            r"(?i)\b(?:set-)?cookie[\"']?\s?[:=]\s?[\"']?(?P<value>[\w.\-]{1,60}=[^\s;,\"'\\]{1,4096}"
            r"(?:;\s?[\w.\-]{1,60}(?:=[^\s;,\"'\\]{1,4096})?)*)"
        ),
        _has_random_cookie,
        ("cookie",),
    ),
    Pass(
        "a signature",
        re.compile(
            r"(?i)\b(?:response|signature|oauth_token|mac)=\\?[\"']?(?P<value>[A-Za-z0-9+/=%_\-]{24,4096})"
        ),
        _is_random_value,
        ("response=", "signature=", "oauth_token=", "mac="),
    ),
)


_SHORT = 256  # characters: roles, names and labels, which most texts of a request are, come again and again


@lru_cache(maxsize=4096)
def _worth(rules: SecretRules, text: str) -> tuple[Pass, ...]:
    lower = text.lower()
    return tuple(each for each in (*rules.shapes, *rules.passes) if each.may_be_in(lower))


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

    def all(self, text: str) -> tuple[Pass, ...]:
        """The passes that a text may hold something of."""
        return (_worth if len(text) <= _SHORT else _worth.__wrapped__)(self, text)

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
        asked = asked or _is_echoed(way)
        if _is_documented(way) or _signs_in_to_data(way) or (_in_headers(way) and _is_for_signing_in(way)):
            return f"a credential in the documented field {'.'.join(way[-3:])}"
        if asked and _is_server(way) and any(map(_is_random, value.partition("?")[0].split("/")[3:])):
            return "a credential in the address of a server"
        kind = 2 if name.lower().replace("_", "-") in _OLD_NAMES else strength(name)
        if asked and not kind and len(way) > 1 and way[-2] in _SIGNING_IN and name in _SIGNING_IN_WITH:
            kind = 2
        inside = way[-2] if len(way) > 1 else ""
        listed = inside == LISTED
        if asked and not kind and _KEPT_IN.search(_snake(inside)) and _is_random(value):
            return f"a credential under the name {inside!r:.40}"
        if not kind and not _in_headers(way) and inside not in _ENVIRONMENT and _COOKIES.isdisjoint(way[:-1]):
            return ""
        if asked and kind == 2 and not listed:
            hidden = not _is_prose(value) or _is_phrase(_snake(name), value)
        elif asked and _in_headers(way):
            hidden = bool(SECRET_HEADER.search(name.lower())) or _is_random(value)
        else:
            told = kind == 2 or (asked and kind > 0)
            mixed = told and _is_mixed(value, 12 if kind < 2 else 8)
            hidden = _is_random(value) or (mixed and not (listed and _IDENTIFIER.match(value)))
        return f"a credential under the name {name!r:.40}" if hidden else ""

    def drops(self, parameter: str) -> bool:
        """Whether a parameter of a request's own address is left out."""
        old = parameter.lower().replace("_", "-") in _OLD_QUERY
        return old or (self.fields and parameter_strength(parameter) > 0)


def _is_documented(way: tuple[str, ...]) -> bool:
    return any(way[-len(each) :] == each for each in _DOCUMENTED)


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
    return len(way) > 1 and way[-2] in _HEADERS


def _is_for_signing_in(way: tuple[str, ...]) -> bool:
    return not _TOOLS.isdisjoint(way[:-2]) and not _HARMLESS_HEADER.match(way[-1].lower())


OLD = SecretRules(
    1,
    (Pass("a credential", re.compile("|".join(f"(?:{each})" for each in _OLD_SHAPES.values()))),),
    (Pass(_NAMED, re.compile(rf"(?i)\b(?:(?:bearer|basic)\s+|{_API_KEY}){_WORDY}(?P<value>{_AFTER})")),),
    fields=False,
    credentials=False,
)
RULES = SecretRules(2, _SHAPE_PASSES, _LATER_PASSES)
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
    in_headers = bool(way) and way[-1] in _HEADERS
    if name == "value":
        for each in _PAIR_NAMES:
            named = owner.get(each)
            if isinstance(named, str) and (in_headers or strength(named)):
                return (*way, named) if in_headers else (*way, "value", named)
    if in_headers and name in _PAIR_NAMES and isinstance(owner.get("value"), str):
        return (*way, name, LISTED)
    return (*way, name)


def ways_to_items(way: tuple[str, ...], items: Sequence[Any]) -> Iterator[tuple[str, ...]]:
    """The way to each item of a list; to its name, where the item before is one: an option, or the first of two."""
    before = None
    for each in items:
        name = before.lstrip("-") if isinstance(before, str) and isinstance(each, str) else ""
        yield (*way, LISTED, name) if name and (name != before or len(items) == 2) and strength(name) else way
        before = each


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
_SHAPE = re.compile(
    rf"(?<![A-Za-z0-9]){_STARTS}(?:[\w\-]*{_CUT}[\w\-]{{{_FEWEST},}}|[\w\-]{{{_FEWEST},}}{_CUT})"
)
_ANY = re.compile(_CUT)
_WORD = re.compile(r"[\w\-]*")


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
