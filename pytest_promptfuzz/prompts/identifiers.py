"""Names that are not words: identifiers, dotted names, calls and signatures, SQL, paths, URLs, e-mail addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.prompts.words import places

if TYPE_CHECKING:
    from pytest_promptfuzz.prompts.words import Found, Words

_URL = expression(r"""(?:(?<![a-zA-Z])[a-zA-Z][a-zA-Z0-9+.-]{1,20}://|www\.)[^\s<>"`|\\^（）「」]+""")
_EMAIL = expression(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)*|(?<!\w)@\w+")
# Cheap signs that the expressions below will find something.
_DOT = expression(r"\.(?=[^\W\d])(?<=\w\.)")
_OPENED = expression(r"\((?<=\w\()")
_DOTTED = expression(r"(?<![\w.])\w+(?:\.[^\W\d]\w*)+(?:\(\))?")
_PATH = expression(
    r"(?<![\w/.~\\-])(?:~|\.{1,2})?/?[\w.-]+(?:/[\w.-]+)+/?|(?<![\w/.~\\<-])(?:~|\.{1,2})?/[\w.-]+/?"
)
_WINDOWS_PATH = expression(r"(?<!\w)[A-Za-z]:\\[\w .\\-]{0,200}\w")
_CALL = expression(
    r"(?<!\w)(?:async\s)?def\s\w+\([^()\n]{0,300}(?:\([^()\n]{0,100}\)[^()\n]{0,100}){0,8}\)(?:\s?->\s?[\w.]{1,40}(?:\[[^\n:`]{0,60}\])?(?:\s\|\s[\w.]{1,40}){0,4})?:?"
    r"|(?<!\w)(?:function|func|fn)\s\w+\([^()\n]{0,300}\)"
    r"|(?<![\w.])[^\W\d]\w*(?:\.\w+)*\([^()\n]{0,200}\)"
)
_SQL = expression(
    r"(?<!\w)(?:SELECT\s(?=[^;]{1,400}?\sFROM\s)|INSERT\sINTO\s|DELETE\sFROM\s|UPDATE\s\w+\sSET\s"
    r"|CREATE\s(?:TABLE|VIEW|INDEX)\s|ALTER\sTABLE\s|DROP\sTABLE\s)(?:[^;\n]|\n(?!\s*\n)){1,2000};?"
)
_SQL_WORDS = frozenset({"SELECT", "INSERT", "DELETE", "UPDATE", "CREATE", "ALTER", "DROP"})
_TRAILING = ".,;:!?'’”*_)]}"


def identifier_spans(text: str, words: Words) -> list[Found]:
    """URLs, e-mail addresses, paths, calls, signatures, SQL and identifiers (snake_case, camelCase, dotted.names)."""
    found: list[Found] = []
    if "://" in text or "www." in text:
        found += [(m.start(), m.start() + len(_trimmed(m[0])), "url") for m in _URL.finditer(text)]
    if "@" in text:
        found += [(m.start(), m.end(), "email") for m in _EMAIL.finditer(text)]
    if "/" in text:
        found += [
            (m.start(), m.start() + len(_trimmed(m[0])), "path")
            for m in _PATH.finditer(text)
            if _is_path(m[0])
        ]
    if ":\\" in text:
        found += [(m.start(), m.end(), "path") for m in _WINDOWS_PATH.finditer(text)]
    if _OPENED.search(text):
        found += [(m.start(), m.end(), "code") for m in _CALL.finditer(text)]
    if not _SQL_WORDS.isdisjoint(words.cased):
        found += [(m.start(), m.end(), "code") for m in _SQL.finditer(text)]
    if _DOT.search(text):
        found += [(m.start(), m.end(), "identifier") for m in _DOTTED.finditer(text)]
    # A word without a capital is an identifier for an underscore only; most words of a text have neither.
    names = [word for word in (set(words.forms) if "_" in text else words.cased) if _is_identifier(word)]
    if names:
        found += [(start, end, "identifier") for start, end in places(text, names)]
    return found


def _is_identifier(word: str) -> bool:
    if word.islower():
        return "_" in word
    if word.istitle() or word.isupper():
        return "_" in word and word != "_"
    # camelCase and PascalCase; the capital that begins a word does not count.
    return word[1:] != word[1:].lower() and word.upper() != word


def _is_path(text: str) -> bool:
    """Whether ``text``, which holds a slash, is a path and not ``and/or`` or ``POSITIVE/NEGATIVE``."""
    if text[0] in "/~." or text.endswith("/"):
        return True
    last = text.rpartition("/")[2]
    return "." in last.rstrip(".") or (text.count("/") > 1 and text.islower() and len(text) > 24)


def _trimmed(text: str) -> str:
    """Without the punctuation of the sentence around it; a bracket that was opened inside stays."""
    while text and text[-1] in _TRAILING:
        if text[-1] in ")]}" and text.count("([{"[")]}".index(text[-1])]) >= text.count(text[-1]):
            break
        text = text[:-1]
    return text
