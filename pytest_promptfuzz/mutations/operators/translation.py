"""Operators that put the prompt, or the answer it asks for, into another language (translations are given in files)."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_promptfuzz.data.tables import listed
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.analysis.answer_format import instructions_end, under_ban, wordless, words_of
from pytest_promptfuzz.mutations.analysis.answer_shape import shown_answers
from pytest_promptfuzz.mutations.analysis.draft import Draft, sections_of
from pytest_promptfuzz.mutations.engine.edits import Edit, Ref, apply_edits, insert, replace
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.prompts.messages import (
    MUTABLE_ROLES,
    PLACE,
    article,
    check_characters,
    layout,
    read_translations,
    validated,
)
from pytest_promptfuzz.prompts.slots import Slots
from pytest_promptfuzz.prompts.spans import labels, protected_spans
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.languages import language_tag, surely

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.randomness import Rng


# Where what is protected in a prompt stands in a translation of it, and what has been lost.


WORDED = ("number", "date")  # kinds of protected text that hold words, which a translation translates
_WORD_EDGE = expression(r"[0-9A-Za-z_À-ɏ]")
_DIGITS = expression(r"[0-9]+(?:[.,:][0-9]+)*")
_LETTERS = expression(r"[^\W\d_]{2}")
_QUOTES = "\"'“”„‟‘’‚‛«»‹›「」『』"


def located(
    original: str, spans: list[tuple[int, int]], text: str, where: str
) -> list[tuple[int, int, tuple[int, int]]]:
    """Where each protected span stands in a translation: ``(start, end, span)`` in ascending order.

    What a number counts and a month are words, and are translated: of ``20 words`` and ``3 May 2025`` the digits
    must stand there.

    Raises:
        UsageError: One of them does not stand there as often as in the prompt.
    """
    worded = {
        original[start:end]
        for start, end, kind in protected_spans(original)
        if kind in WORDED and _LETTERS.search(original[start:end])
    }
    wanted: dict[str, list[tuple[int, int]]] = {}
    for start, end in spans:
        wanted.setdefault(original[start:end], []).append((start, end))
    taken = bytearray(len(text))
    found: list[tuple[int, int, tuple[int, int]]] = []
    gone: dict[str, str] = {}
    for literal in sorted(wanted, key=lambda each: (-len(each), each)):
        places = wanted[literal]
        at = text.find(literal)
        while at >= 0 and places:
            end = at + len(literal)
            if any(taken[at:end]) or not _alone(text, at, end):
                at = text.find(literal, at + 1)
                continue
            taken[at:end] = b"\1" * len(literal)
            found.append((at, end, places.pop(0)))
            at = text.find(literal, end)
        for at, end in _quoted_otherwise(literal, text) if places else ():
            if places and not any(taken[at:end]):
                taken[at:end] = b"\1" * (end - at)
                found.append((at, end, places.pop(0)))
        lost = [literal] * len(places) if literal not in worded else _DIGITS.findall(literal) * len(places)
        for each in lost:
            starts = [at for at in _starts(each, text) if not taken[at]] if literal in worded else []
            if not starts:
                gone[each] = _instead(each, text)
                continue
            taken[starts[0] : starts[0] + len(each)] = b"\1" * len(each)
    if gone:
        *most, last = map(repr, gone)
        names = f"{', '.join(most)} and {last}: each" if most else f"{last}: it"
        raise UsageError(
            f"{where} has lost {names} must stand there as often and as exactly as in the prompt."
            + "".join(dict.fromkeys(gone.values()))
        )
    return sorted(found)


def _quoted_otherwise(literal: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a quotation stands in the quotation marks of another language."""
    inner = literal[1:-1].strip()
    if inner and literal[0] in _QUOTES and literal[-1] in _QUOTES:
        for match in re.finditer(rf"[{_QUOTES}]\s?{re.escape(inner)}\s?[{_QUOTES}]", text):
            yield match.span()


def _starts(number: str, text: str) -> list[int]:
    """Where a number stands by itself."""
    return [match.start() for match in _DIGITS.finditer(text) if match[0] == number]


def _alone(text: str, start: int, end: int) -> bool:
    """Whether ``[start, end)`` is no part of a longer word or number."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (
        (before and _WORD_EDGE.match(before) and _WORD_EDGE.match(text[start]))
        or (after and _WORD_EDGE.match(after) and _WORD_EDGE.match(text[end - 1]))
    )


def _instead(literal: str, text: str) -> str:
    """A hint where a number stands there in another style, as 1,5 for 1.5."""
    if not _DIGITS.search(literal):
        return ""
    pattern = re.sub(r"\\?[.,'\s]", lambda _: r"[.,'\s]?", re.escape(literal).replace(r"\ ", " "))
    match = re.search(rf"(?<![0-9]){pattern}(?![0-9])", text)
    if match is None or match[0] == literal:
        return ""
    return f" Here it has {match[0]!r} instead; write it as the prompt does, or protect less of it."


# How a prompt asks for its answer in a language, in each of the languages that prompts are written in.


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
_NAMES = listed("languages/names_in.tsv")
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
    return frozenset(re.split("[ -]", name)[0].lower() for each in _NAMES.values() for name in each)


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
    names = [re.escape(name) for each in _NAMES.values() for name in each]
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
    names = "|".join(sorted(map(re.escape, _NAMES[language]), key=len, reverse=True))
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
    return _NAMES[language][_ORDER.index(tag)]


def code_named(name: str) -> str:
    """The code of the language that a name means in any known language, if misspelt; empty if it means none.

    >>> code_named("spansh"), code_named("klingon")
    ('es', '')
    """
    codes = {
        each.lower().replace(" ", "-"): tag.lower()
        for names in _NAMES.values()
        for tag, each in zip(_ORDER, names, strict=True)
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


@cache
def _keys_and_values() -> re.Pattern[str]:
    """``keys in English and values in English``: what the values are in, and what the keys are in, which stays."""
    names = "|".join(sorted(map(re.escape, _NAMES["en"]), key=len, reverse=True))
    return re.compile(
        rf"\b(?:(?:keys?|field names?|headings)(?: are| written)? in (?P<keys>{names})"
        rf"|(?:values?|contents?|answers?|text)(?: are| written)? in (?P<values>{names}))\b"
    )


def valued_in(draft: Draft, tag: str) -> list[Edit]:
    """The edits that ask for the values of a shown answer in a language; none where that cannot be asked for.

    Only English prompts are known to show one. Keys stay as they are; a prompt that says nothing of languages says so
    then.
    """
    shown = draft.once(shown_answers)
    if not shown or draft.language != "en" or _OTHERS.search(draft.text):
        return []
    name = language_named(tag, "en")
    found = list(_keys_and_values().finditer(draft.free))
    told = [match.span() for match in _told().finditer(draft.text)]
    if sorted(match.span(match.lastgroup or 0) for match in found) != told:
        return []
    if found:
        return [replace(*each.span("values"), name) for each in found if each["values"] not in {None, name}]
    colon = shown[0].lead[1] - 1
    if tag == "en" or draft.text[colon] != ":" or labels(draft.text):
        return []
    return [insert(colon, f" with keys in English and values in {name}")]


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


Translation: TypeAlias = "str | Sequence[Mapping[str, Any]]"
"""A translated prompt: its text, or its chat messages (system, developer and user; others are left as they are)."""


def translations(
    source: Mapping[str, Translation] | str | os.PathLike[str], *, answer_language: str | None = None
) -> list[Operator]:
    """Operators that put translations in the place of the prompt, one a language: ``translated-es`` and so on.

    A translation must hold everything that is protected in the prompt, as it stands there: slots, numbers, labels,
    quoted text, code. That is checked when the prompt is known, so that a plan ends in a ``UsageError`` that names
    what was lost. Words that belong to a number are translated (``20 words``, ``3 May``); its digits stay.

    Args:
        source: The prompt by language (ISO 639-1, with a region or without: ``fr``, ``fr-CA``, ``pt-BR``), or a path
            with ``{language}`` in it, such as ``prompts/triage.{language}.txt``. A chat is given as its messages.
        answer_language: The language that the answer is expected in, where it is not the translation's.

    Returns:
        Operators under the relation ``language``, in the order of ``source``.

    Raises:
        UsageError: A language is unknown or given twice, a translation is empty, no text, or in another language than
            it is said to be; a file is missing or not UTF-8.
    """
    answered = None if answer_language is None else _tag(answer_language)
    return [_whole(tag, given, answered) for tag, given in _checked(source).items()]


def cross_lingual(
    prompts: Mapping[str, Translation] | str | os.PathLike[str],
    *,
    answer_languages: Sequence[str] | None = None,
) -> list[Operator]:
    """Operators for every pair of a prompt's language and an answer's, which is asked for in the prompt's language.

    Nine languages give 81 of them, named ``translated-de-answer-in-fr``. Source: S2's cross-lingual pairs.

    Args:
        prompts: The prompt by language, as :func:`translations` takes it; the original may be among them.
        answer_languages: The languages of the answers; those of ``prompts`` by default.

    Returns:
        Operators under the relation ``language``, prompts before answers.

    Raises:
        UsageError: As :func:`translations`; or an answer's language whose name is not known.
    """
    checked = _checked(prompts)
    if isinstance(answer_languages, str) or answer_languages == []:
        raise UsageError(
            f"cross_lingual: answer_languages={answer_languages!r}; give a list such as ['en', 'fr-CA']."
        )
    answers = [*checked] if answer_languages is None else [_tag(each) for each in answer_languages]
    if len(set(answers)) < len(answers):
        raise UsageError(f"cross_lingual: answer_languages={answer_languages!r} has a language twice.")
    for tag in answers:
        if tag not in KNOWN:
            raise UsageError(
                f"cross_lingual: how to ask for an answer in {tag!r} is not known; {', '.join(KNOWN)} are."
            )
    for tag in checked:
        if tag.partition("-")[0] not in PROMPTED:
            raise UsageError(
                f"cross_lingual: how to ask for an answer in a prompt in {tag!r} is not known; prompts may be in"
                f" {', '.join(PROMPTED)}."
            )
    return [
        _whole(prompt, given, answer, ask=True) for prompt, given in checked.items() for answer in answers
    ]


def _tag(value: object) -> str:
    tag = language_tag(value) if isinstance(value, str) else None
    if tag is None:
        raise UsageError(
            f"Translations: {value!r} is no language; give an ISO 639-1 code such as 'fr', 'fr-CA' or 'pt-BR'."
        )
    return tag


class _Given(NamedTuple):
    """A translation: its texts, and what messages call it."""

    texts: tuple[str, ...]
    where: str


def _checked(source: Any) -> dict[str, _Given]:
    """Each translation by its language."""
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    if path:
        source = read_translations(path)
    if not isinstance(source, Mapping):
        raise UsageError(
            f"Translations: {article(source)} is not accepted; give a mapping of languages to texts, or a path with"
            " {language} in it."
        )
    if not source:
        raise UsageError("Translations: there are no translations; give at least one language and its text.")
    found: dict[str, _Given] = {}
    for key, value in source.items():
        tag = _tag(key)
        where = f"The translation for {tag!r}" + (f" in {path.replace(PLACE, key)!r}" if path else "")
        if tag in found:
            raise UsageError(f"Translations: {tag!r} is given twice.")
        texts = _texts(value, where)
        if not any(each.strip() for each in texts):
            raise UsageError(f"{where} is empty; give it some text, or leave the language out.")
        for each in texts:
            check_characters(each, where)
        spoken = surely(
            "\n".join(Draft(each, [span[:2] for span in protected_spans(each)]).free for each in texts)
        )
        if spoken not in {"und", tag.partition("-")[0]}:
            raise UsageError(f"{where} reads as {spoken!r}; check that the languages are not mixed up.")
        found[tag] = _Given(texts, where)
    return found


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        messages = validated(value, where)
        kept = tuple(each for each in messages if each["role"] in MUTABLE_ROLES)
        text, pieces = layout(kept)
        return tuple(text[piece.start : piece.end] for piece in pieces if piece.end > piece.start)
    raise UsageError(f"{where} is {article(value)}; give a text, or the messages of a chat.")


def _whole(tag: str, given: _Given, answer: str | None, *, ask: bool = False) -> Operator:
    """The operator that puts one translation in the place of the prompt, and may ask for the answer's language."""
    texts, where = given

    def propose(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        sections = [*sections_of(len(draft.text), draft.walls)]
        if len(sections) != len(texts):
            plural = "" if len(texts) == 1 else "s"
            raise UsageError(
                f"{where} has {len(texts)} text{plural} and the prompt {len(sections)}; translate"
                " every system, developer and user message, in their order."
            )
        if not ask or answer is None:
            yield _replaced(draft, sections, texts, where)
            return
        asked = False
        for asking in _asking(draft, sections, texts, rng, answer):
            asked = True
            yield asking if isinstance(asking, list) else _replaced(draft, sections, asking, where)
        if not asked:
            raise UsageError(
                f"The prompt for {tag!r} names a language already, or where its instructions end cannot be told; leave"
                " the answer's language out of it, and put its instructions before its text."
            )

    name = f"translated-{tag.lower()}"
    return Operator(
        name if answer is None else f"{name}-answer-in-{answer.lower()}",
        propose,
        dimension="multilingual",
        severity=0.8,
        relation="language",
        touches=WORDED,
        sources=("S2",),
        summary=f"The prompt in its translation for {tag}" + (f", answered in {answer}." if answer else "."),
        trusted=True,
        default=False,
    )


def _asking(
    draft: Draft, sections: list[tuple[int, int]], texts: tuple[str, ...], rng: Rng, answer: str
) -> Iterator[list[Edit] | tuple[str, ...]]:
    """The texts with the answer's language asked for; edits where they are the prompt itself."""
    if texts == tuple(draft.text[start:end] for start, end in sections):
        yield from asked_in(draft, rng, answer)
        return
    for index, text in enumerate(texts):
        there = Draft(text, [(start, end) for start, end, _ in protected_spans(text)])
        found = False
        for edits in asked_in(there, rng, answer):
            found = True
            yield (*texts[:index], apply_edits(text, edits), *texts[index + 1 :])
        if found:
            return


def _replaced(
    draft: Draft, sections: list[tuple[int, int]], texts: tuple[str, ...], where: str
) -> list[Edit]:
    """Edits that put the texts in the place of the prompt's, and keep each protected span by reference."""
    extra = [name for name in Slots(texts).names if name not in Slots([draft.text]).names]
    edits: list[Edit] = []
    for (start, end), text in zip(sections, texts, strict=True):
        if draft.text[start:end] == text:
            continue
        spans = [span for span in draft.spans if start <= span[0] and span[1] <= end]
        parts: list[str | Ref] = []
        position = 0
        for first, last, span in located(draft.text, spans, text, where):
            if first > position:
                parts.append(text[position:first])
            parts.append(Ref(*span))
            position = last
        if position < len(text):
            parts.append(text[position:])
        edits.append(Edit(start, end, tuple(parts)))
    if extra:
        raise UsageError(
            f"{where} has the slot {extra[0]!r}, which the prompt has not; use the prompt's slots."
        )
    return edits


def _answer_in(tag: str, name: str, example: tuple[str, str] | None = None) -> Operator:
    """The operator that asks for the answer in one language."""

    def propose(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        acted = False
        if draft.language != tag.partition("-")[0] and not draft.once(wordless):
            for edits in asked_in(draft, rng, tag):
                acted = True
                yield edits
        if not acted:
            yield valued_in(draft, tag)

    return operator(
        f"answer-in-{tag.lower()}",
        dimension="multilingual",
        severity=0.6,
        relation="language",
        languages=PROMPTED,
        sources=("S2",),
        version=3,
        summary=(
            f"The answer is asked for in {name}: where the prompt speaks of no language, or in place of the one that"
            " it names; labels and keys stay."
        ),
        example=example or ("Summarize the text.", f"Summarize the text. Answer in {name}."),
        trusted=True,
        default=False,
    )(propose)


answer_in_es = _answer_in("es", "Spanish")
answer_in_fr = _answer_in("fr", "French")
answer_in_fr_ca = _answer_in("fr-CA", "Canadian French")
answer_in_de = _answer_in("de", "German")
answer_in_nl = _answer_in("nl", "Dutch")
answer_in_it = _answer_in("it", "Italian")
answer_in_ja = _answer_in("ja", "Japanese")
answer_in_pt = _answer_in("pt", "Portuguese")
answer_in_pt_br = _answer_in("pt-BR", "Brazilian Portuguese")
answer_in_en = _answer_in(
    "en", "English", ("Résume le texte ci-dessous.", "Résume le texte ci-dessous. Réponds en anglais.")
)
