"""Which language a text is written in, as far as operators and comparisons must know.

Counts the function words of each language; enough to tell an English prompt from one that is not, and whether an answer
came in the language it was asked for in.
"""

from __future__ import annotations

import re

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.text.expressions import expression, lower, words

_FUNCTION_WORDS = {
    "en": "the of and to a in is that for it as with be by on not or from this an are at if you your which will"
    " what how each only do must should when then all any into no more than its their there have has using use"
    " following given please text answer write return but was were i my we they he she his her can been where who",
    "es": "el la los las de del y que en un una para con por se es como su si o al lo más esta este cada sin texto"
    " siguiente responde pero muy está están hay sus nos mi puedo fue ser sobre también cuando donde dónde ha han"
    " hola usted solo sólo ya hasta",
    "fr": "le la les des du et que en un une pour avec par est dans ce cette sur au aux ou qui ne pas vous votre"
    " chaque texte suivant réponds répondez mais je nous il elle son sa ses sont été être ont a à plus cela où avons"
    " de n'est d'un d'une c'est bonjour ma mon",
    "de": "der die das und den dem des ein eine einen einer ist mit von zu für auf im nicht oder als wie sie bitte"
    " jede jeden folgenden nur text aber ich wir es hat haben wird werden kann sind war bei aus nach zum zur ihre"
    " ihnen auch dass mir an am meine mein wo seit noch in antworte schreibe",
    "nl": "de het een en van in is dat op te voor met zijn niet of aan de volgende je jouw uw elke geef tekst als bij"
    " maar ik we wij heeft hebben wordt worden kan deze dit die naar ook er om door mijn waar al nog geen mee u was",
    "it": "il lo la gli le di del della e che in un una per con è come non o al nel seguente testo ogni rispondi ma"
    " sono ha hanno questo questa abbiamo mi ti si dei delle da sul alla più anche essere stato posso tuo sarà ciao"
    " dov'è mio entro",
    "pt": "o a os as de do da e que em um uma para com por é como não ou ao no na seguinte texto cada responda você"
    " mas seu sua são foi está isso este esta muito também ele ela meu minha já das dos pelo pela mais será onde olá"
    " até",
}
_LANGUAGES: dict[str, tuple[str, ...]] = {}
for _code, _words in _FUNCTION_WORDS.items():
    for _word in dict.fromkeys(_words.split()):
        _LANGUAGES[_word] = (*_LANGUAGES.get(_word, ()), _code)

_ENGLISH = frozenset(_FUNCTION_WORDS["en"].split())
_LETTERS = expression("[A-Za-zÀ-ɏ]+(?:['’][A-Za-zÀ-ɏ]+)?")
_SPACED = bytes(ord(chr(code).lower()) if chr(code).isalpha() else 32 for code in range(128)).ljust(256)
_KANA = expression("[\u3041-\u3096\u30a1-\u30fa]")
_PROMPT_SAMPLE = 1000  # characters; the head of a long prompt is its instructions
_CODES = words(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee
    el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is
    it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms
    mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk
    sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi
    yo za zh zu
    """
)
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
