"""Which language a text is written in, as far as operators and comparisons must know; names of languages.

Counts the function words of each language; enough to tell an English prompt from one that is not, and whether an answer
came in the language it was asked for in.
"""

from __future__ import annotations

from pytest_promptfuzz.data.tables import listed, pairs, when_used, words_in
from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.text.expressions import expression, lower

_FUNCTION_WORDS = listed("languages/function_words.tsv")
_ENGLISH = words_in("languages/function_words.tsv", "en")


def _languages() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for code, words in _FUNCTION_WORDS.items():
        for word in words:
            found[word] = (*found.get(word, ()), code)
    return found


_LANGUAGES: dict[str, tuple[str, ...]] = when_used(_languages)
"""The languages of each function word."""
_LETTERS = expression("[A-Za-zÀ-ɏ]+(?:['’][A-Za-zÀ-ɏ]+)?")
_SPACED = bytes(ord(chr(code).lower()) if chr(code).isalpha() else 32 for code in range(128)).ljust(256)
_KANA = expression("[\u3041-\u3096\u30a1-\u30fa]")
_PROMPT_SAMPLE = 1000  # characters; the head of a long prompt is its instructions
_CODES = words_in("languages/codes.txt")
_TAG = expression(r"([A-Za-z]{2})(?:[-_]([A-Za-z]{2}))?\Z")


def language_tag(tag: str) -> str | None:
    """A language tag as it is written, ``pt-BR`` for ``pt_br``; ``None`` if it is no ISO 639-1 code with a region.

    >>> language_tag("FR_ca")
    'fr-CA'
    """
    match = _TAG.match(tag)
    if match is None or match[1].lower() not in _CODES:
        return None
    return match[1].lower() + (f"-{match[2].upper()}" if match[2] else "")


def language_of(text: str) -> str:
    """The likeliest language of ``text``: en, es, fr, de, nl, it, pt or ja, or ``und``.

    Text without any known function word counts as English if it is ASCII letters, so that ``Summarize: {text}``
    is served; see :func:`surely` for text that is no prompt. Japanese is told by its kana; other scripts give ``und``.
    """
    head = text[:_PROMPT_SAMPLE]
    if head.isascii():
        # Without an apostrophe words are found by built-ins, in a third of the time.
        found = (
            _LETTERS.findall(head.lower())
            if "'" in head
            else head.encode().translate(_SPACED).decode().split()
        )
        if 3 * sum(map(_ENGLISH.__contains__, found)) > len(found):
            return "en"  # no other language shares that many
    best, score, foreign, _ = _best(text)
    return best if score or not foreign else "und"


def surely(text: str) -> str:
    """The language of ``text`` where two of its words tell, or its script does; ``und`` otherwise.

    >>> surely("Paris"), surely("La capitale de la France est Paris.")
    ('und', 'fr')
    """
    best, score, _, tied = _best(text)
    return best if score > 1 and not tied else "und"


def _best(text: str) -> tuple[str, int, bool, bool]:
    """The likeliest language, how many words speak for it, whether the text is foreign, and whether others tie."""
    head = text[:_PROMPT_SAMPLE]
    found = _LETTERS.findall(lower(head))
    if not head.isascii() and (kana := len(_KANA.findall(head))) and 4 * kana > sum(map(len, found)):
        return "ja", kana, True, False
    scores = dict.fromkeys(_FUNCTION_WORDS, 0)
    letters = 0
    foreign = False
    for word in found:
        letters += len(word)
        foreign = foreign or not word.isascii()
        for code in _LANGUAGES.get(word.replace("’", "'"), ()):
            scores[code] += 1
    other = sum(ord(c) > 0x24F and not 0x2000 <= ord(c) < 0x2C00 for c in head) if not head.isascii() else 0
    if letters == 0 or other > letters:
        return "und", 0, True, False
    best = max(scores.values())
    if best == 0:
        return "en", 0, foreign, False
    likely = [code for code, score in scores.items() if score == best]
    return likely[0], best, foreign, len(likely) > 1


# Which language a text is written in, for texts that a model has written, and what languages are called.


LANGUAGES = pairs("languages/names.tsv")
"""Languages a model may be asked for, by code, and how it is asked."""

_TOLD = frozenset(["en", "es", "fr", "de", "nl", "it", "pt"])  # what function words tell apart
_SCRIPTS = {
    "Latin": "A-Za-zÀ-ɏḀ-ỿ",
    "Cyrillic": "Ѐ-ӿ",
    "Greek": "Ͱ-Ͽ",
    "Hebrew": "\u0590-\u05ff",
    "Arabic": "\u0600-\u06ff",
    "Devanagari": "\u0900-\u097f",
    "Thai": "\u0e00-\u0e7f",
    "Hangul": "\uac00-\ud7a3",
    "kana": "\u3040-\u30ff",
    "Han": "\u3400-\u9fff",
}
_RUNS = {name: expression(f"[{letters}]") for name, letters in _SCRIPTS.items()}
_SCRIPT_OF = {
    "ar": "Arabic",
    "bg": "Cyrillic",
    "el": "Greek",
    "he": "Hebrew",
    "hi": "Devanagari",
    "ja": "kana",
    "ko": "Hangul",
    "ru": "Cyrillic",
    "th": "Thai",
    "uk": "Cyrillic",
    "zh": "Han",
}
_ALONE = {"kana": "ja", "Hangul": "ko", "Han": "zh", "Greek": "el", "Hebrew": "he", "Thai": "th"}
_FEW = 4  # words; in fewer no function word need stand
_ANSWER_SAMPLE = 4000


def language_code(value: object, where: str) -> str:
    """The code of a language, in its usual case.

    Raises:
        UsageError: It is none of :data:`LANGUAGES`.
    """
    if isinstance(value, str):
        for code in LANGUAGES:
            if value.replace("_", "-").lower() == code.lower():
                return code
    raise UsageError(f"{where}: there is no language {value!r}. {nearest(str(value), LANGUAGES)}")


def script_of(text: str) -> str:
    """The script most letters of a text are in; Japanese counts as kana wherever there is some."""
    head = text[:_ANSWER_SAMPLE]
    if head.isascii():
        return "Latin"
    counts = {name: len(run.findall(head)) for name, run in _RUNS.items()}
    if counts["kana"] * 5 > counts["Han"] and counts["kana"] > counts["Latin"]:
        return "kana"
    return max(counts, key=lambda name: counts[name])


def spoken(text: str) -> str:
    """The ISO 639-1 code of a text's language as far as words and script tell, else ``und``."""
    script = script_of(text)
    return language_of(text) if script == "Latin" else _ALONE.get(script, "und")


def written_in(text: str, code: str, *, not_in: str = "und") -> bool:
    """Whether a text may well be in a language: ``False`` only where script or function words speak against it.

    Args:
        text: Free text, without what stays the same in every language.
        code: One of :data:`LANGUAGES`, or ``und``.
        not_in: The language it was translated from, which it must have left.
    """
    base = code.partition("-")[0]
    script = script_of(text)
    if base != "und" and script != _SCRIPT_OF.get(base, "Latin"):
        return False
    if script != "Latin" or len(text.split()) < _FEW:
        return True
    told = language_of(text)
    if base in _TOLD:
        return told in {base, "und"}
    return told != not_in or not_in == "und"
