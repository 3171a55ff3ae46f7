"""How a prompt asks for its answer in a language, in each of the languages that prompts are written in."""

from __future__ import annotations

import difflib
import re
from functools import cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.edits import Edit, insert, replace
from pytest_promptfuzz.mutations.formats_answer import under_ban
from pytest_promptfuzz.mutations.formats_place import instructions_end, words_of
from pytest_promptfuzz.prompts.spans import labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.rng import Rng

_ASKED = {
    "en": ("Answer in {}", "Write your answer in {}", "Give the answer in {}", "Please answer in {}"),
    "es": ("Responde en {}", "Escribe la respuesta en {}", "Da la respuesta en {}"),
    "fr": ("Réponds en {}", "Rédige la réponse en {}", "Donne la réponse en {}"),
    "de": ("Antworte auf {}", "Schreibe die Antwort auf {}", "Gib die Antwort auf {}"),
    "nl": ("Antwoord in het {}", "Schrijf het antwoord in het {}", "Geef het antwoord in het {}"),
    "it": ("Rispondi in {}", "Scrivi la risposta in {}", "Dai la risposta in {}"),
    "pt": ("Responda em {}", "Escreva a resposta em {}", "Dê a resposta em {}"),
    "ja": ("{}で答えてください", "回答は{}で書いてください", "{}で回答してください"),
}
_ORDER = ("en", "es", "fr", "fr-CA", "de", "nl", "it", "ja", "pt", "pt-BR")
_NAMES = {
    "en": "English|Spanish|French|Canadian French|German|Dutch|Italian|Japanese|Portuguese|Brazilian Portuguese",
    "es": "inglés|español|francés|francés canadiense|alemán|neerlandés|italiano|japonés|portugués|portugués de Brasil",
    "fr": "anglais|espagnol|français|français canadien|allemand|néerlandais|italien|japonais|portugais"
    "|portugais du Brésil",
    "de": "Englisch|Spanisch|Französisch|kanadischem Französisch|Deutsch|Niederländisch|Italienisch|Japanisch"
    "|Portugiesisch|brasilianischem Portugiesisch",
    "nl": "Engels|Spaans|Frans|Canadees-Frans|Duits|Nederlands|Italiaans|Japans|Portugees|Braziliaans-Portugees",
    "it": "inglese|spagnolo|francese|francese canadese|tedesco|olandese|italiano|giapponese|portoghese"
    "|portoghese brasiliano",
    "pt": "inglês|espanhol|francês|francês canadense|alemão|holandês|italiano|japonês|português|português do Brasil",
    "ja": "英語|スペイン語|フランス語|カナダのフランス語|ドイツ語|オランダ語|イタリア語|日本語|ポルトガル語"
    "|ブラジルのポルトガル語",
}
_KEPT = {
    "en": ("; keep the {} as they are", "labels", "keys", "quoted texts", "and"),
    "es": ("; no cambies {}", "las etiquetas", "las claves", "los textos entre comillas", "ni"),
    "fr": ("; garde {} tels quels", "les labels", "les noms des clés", "les textes entre guillemets", "et"),
    "de": ("; lass die {} unverändert", "Labels", "Schlüssel", "Texte in Anführungszeichen", "und"),
    "nl": ("; laat de {} zoals ze zijn", "labels", "sleutels", "teksten tussen aanhalingstekens", "en"),
    "it": ("; lascia {} come sono", "le etichette", "le chiavi", "i testi tra virgolette", "e"),
    "pt": ("; mantenha {} como estão", "os rótulos", "as chaves", "os textos entre aspas", "e"),
    "ja": ("。{}はそのままにしてください", "ラベル", "キー", "かぎ括弧内の文言", "と"),
}
# A text that the answer is to hold as it stands: 'write "none"'. What is not to be written is none.
_QUOTED = expression(
    r"(?<!\w)(?:(?:write|say|answer|reply|respond|return|add|append|put|begin|start|end|finish"
    r"|sign(?: off)?)(?: with| as| by| each| every| it| them| exactly| only| just"
    r"| simply| the| words?| text| phrase| sentence| line| message){0,4}:?"
    r"|(?:escrib|respond|añad|termin|empiez|empiec|écri|répond|commenc|ajout|schreib|antwort|gib|beginn|ende|füg"
    r"|schrijf|antwoord|eindig|zeg|voeg|scriv|rispond|inizi|aggiung|avvis|escrev|comec|acrescent|diga)"
    r"\w*[^.!?\n\"“«»„]{0,60}) ?[\"“«»„`](?![{$<\"])[^\n\"“”«»„`]{1,80}[\"”«»“`]"
    r"|「[^」\n]+」と(?:だけ|のみ)?(?:書|答|回答|出力|返|記)",
    re.IGNORECASE,
)
_CAPITALS = expression(
    r"\b(?i:write|answer|reply|respond|return|say|output|choose)(?: with| the| words?| text| line| either){0,3}"
    r" (?!JSON|YAML|XML|HTML|CSV)[A-Z][A-Z_]+\b"
)
_NEGATED = expression(
    r"(?:\bnot|n['’]t|\bnever|\bwithout|\bavoid|\bnunca|\bjamais|\bnicht|\bnon|\bnooit|\bnão)\W+\Z",
    re.IGNORECASE,
)
_KEYED = expression(r"\b(?:json|yaml|xml)\b", re.IGNORECASE | re.ASCII)
# The words that ask for an answer, and the preposition before its language.
_ANSWERING = {
    "en": ("answer|respond|reply|write|output", "in"),
    "es": ("respond|respuesta|escrib|contest", "en"),
    "fr": ("répond|réponse|rédige|écri", "en"),
    "de": ("antwort|schreib", "auf|in"),
    "nl": ("antwoord|schrijf", "in het"),
    "it": ("rispond|risposta|scriv", "in"),
    "pt": ("respond|resposta|escrev", "em"),
}


KNOWN = _ORDER
"""The languages whose names are known in every other."""

PROMPTED = tuple(_ASKED)
"""The languages of prompts that an answer's language can be added to."""


_STEMS = (
    "language", "translat", "idioma", "traduc", "tradu", "langue", "sprache", "übersetz", "taal", "talen", "vertaal",
    "vertal", "lingu", "multilingual", "bilingual",
)  # fmt: skip


@cache
def _words() -> frozenset[str]:
    """The words that names of languages begin with, in lower case."""
    return frozenset(
        re.split("[ -]", name)[0].lower() for each in _NAMES.values() for name in each.split("|")
    )


def _speaks(draft: Draft) -> bool:
    """Whether a prompt may speak of a language; a quick look before the pattern."""
    known = draft.once(words_of)
    return (
        not draft.text.isascii()
        or not known.isdisjoint(_words())
        or any(word.startswith(_STEMS) for word in known)
    )


@cache
def _told() -> re.Pattern[str]:
    """Whether a prompt speaks of a language at all."""
    names = [re.escape(name) for each in _NAMES.values() for name in each.split("|")]
    words = (
        "languages?", "translat\\w*", "idiomas?", "traduc\\w*", "tradu[zç]\\w*", "langues?", "tradui\\w*", "sprachen?",
        "übersetz\\w*", "talen?", "vertaal\\w*", "vertal\\w*", "lingu[ae]", "traduci\\w*", "multilingual", "bilingual",
    )  # fmt: skip
    plain = "|".join(
        sorted((name for name in names if name.isascii() or name[0] < "\u3000"), key=len, reverse=True)
    )
    wide = "|".join(name for name in names if name[0] >= "\u3000")
    return re.compile(rf"(?<!\w)(?:{plain}|{'|'.join(words)})(?!\w)|{wide}|言語|翻訳|訳して", re.IGNORECASE)


@cache
def _own(language: str) -> re.Pattern[str]:
    """Where a prompt in a language asks for its answer in a language."""
    stems, preposition = _ANSWERING[language]
    names = "|".join(sorted(map(re.escape, _NAMES[language].split("|")), key=len, reverse=True))
    return re.compile(
        rf"(?<!\w)(?:{stems})\w*(?: [^\s.,;:!?]+){{0,4}}? (?:{preposition}) (?P<name>{names})(?!\w)",
        re.IGNORECASE,
    )


# Languages whose names in all others are not known here: where one is spoken of, none is asked for.
_OTHERS = expression(
    r"\b(?:Arabic|Basque|Bengali|Bulgarian|Cantonese|Catalan|Chinese|Croatian|Czech|Danish|Esperanto|Farsi|Finnish|Gaelic"
    r"|Galician|Greek|Hebrew|Hindi|Hungarian|Icelandic|Indonesian|Irish|Korean|Latin|Malay|Mandarin|Norwegian|Persian"
    r"|Polish|Romanian|Russian|Serbian|Slovak|Slovenian|Swahili|Swedish|Tamil|Thai|Turkish|Ukrainian|Urdu|Vietnamese|Welsh)\b"
    r"|\b(?:[Aa]uf|[Ii]ns?|[Aa]us dem|[Ii]n het|[Nn]aar het)"
    r" (?:[A-ZÄÖÜ]\w+isch|Chinees|Pools|Turks|Zweeds|Deens|Grieks|Latijn)"
    r"|\b(?:[Ee]n|[Aa]u|[Ii]n|[Ee]m) (?:russ[eo]|rus[os]o?|chino(?:is)?|cinese|chinês"
    r"|arab[eo]|árabe|pol[ao](?:nais|cco|co|nês)"
    r"|turco?|suédois|sueco|svedese|gre[cg]o?|griego|latino?|latín|latim|cor[eé](?:en|ano)|catal[aá]n|gallego|euskera)\b"
)


def language_named(tag: str, language: str) -> str:
    """The name of a language in another, as it stands after "in".

    >>> language_named("fr-CA", "en")
    'Canadian French'
    """
    return _NAMES[language].split("|")[_ORDER.index(tag)]


def code_named(name: str) -> str:
    """The code of the language that a name means in any known language, if misspelt; empty if it means none.

    >>> code_named("spansh"), code_named("klingon")
    ('es', '')
    """
    codes = {
        each.lower().replace(" ", "-"): tag.lower()
        for names in _NAMES.values()
        for tag, each in zip(_ORDER, names.split("|"), strict=True)
    }
    close = difflib.get_close_matches(name.lower(), codes, n=1, cutoff=0.75)
    return codes[close[0]] if close else ""


def asked_in(draft: Draft, rng: Rng, tag: str) -> Iterator[list[Edit]]:
    """Ways to ask for the answer in a language; none where the prompt tells another that cannot be replaced.

    Args:
        draft: The prompt, in one of ``PROMPTED``.
        rng: Orders the alternatives.
        tag: One of ``KNOWN``.
    """
    language = draft.language
    if language not in _ASKED:
        return
    name = language_named(tag, language)
    if _OTHERS.search(draft.text):
        return
    told = [match.span() for match in _told().finditer(draft.text)] if _speaks(draft) else []
    if told:
        own = list(_own(language).finditer(draft.free)) if language in _ANSWERING else []
        if [match.span("name") for match in own] == told and all(match["name"] != name for match in own):
            yield [replace(*match.span("name"), name) for match in own]
        return
    place = instructions_end(draft)
    if place is None or under_ban(draft, place):
        return
    joint = "" if language == "ja" and place.joint == " " else place.joint
    stop = "。" if language == "ja" else "."
    kept = _kept(draft, language)
    for form in _ASKED[language][:1] + tuple(rng.shuffled(_ASKED[language][1:])):
        yield [insert(place.at, f"{joint}{form.format(name)}{kept}{stop}")]


def _kept(draft: Draft, language: str) -> str:
    """What says that labels, keys and quoted texts are not to be translated, where the prompt has any."""
    form, label, key, quoted, both = _KEPT[language]
    text = draft.text
    found = [label] * bool(labels(text) or _CAPITALS.search(text)) + [key] * bool(_KEYED.search(text))
    if any(
        _NEGATED.search(text, max(0, match.start() - 12), match.start()) is None
        for match in _QUOTED.finditer(text)
    ):
        found.append(quoted)
    if not found:
        return ""
    if len(found) > 2:
        found = [("、" if language == "ja" else ", ").join(found[:-1]), found[-1]]
    return form.format((both if language == "ja" else f" {both} ").join(found))
