"""Which language a text is written in, for texts that a model has written, and what languages are called."""

from __future__ import annotations

import re

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.mutations.languages import language_of

LANGUAGES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "fr-CA": "Canadian French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "pt-BR": "Brazilian Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
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
_RUNS = {name: re.compile(f"[{letters}]") for name, letters in _SCRIPTS.items()}
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
_SAMPLE = 4000


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
    head = text[:_SAMPLE]
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
