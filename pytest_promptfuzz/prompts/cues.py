"""The words that detectors of protected text look for; one pass over a text finds them for all."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Collection


def vocabulary(*lines: str) -> frozenset[str]:
    """The words of ``lines``, which are separated by spaces."""
    return frozenset(" ".join(lines).split())


def _kinds(**lines: str) -> dict[str, str]:
    """What kind each word is; the words of a kind are separated by spaces."""
    return {word: kind for kind, words in lines.items() for word in words.split()}


CUES = _kinds(
    pick="either entweder soit",
    noun="label labels category categories class classes option options choice choices value values tag tags"
    " sentiment sentiments intent intents priority severity urgency topic topics department queue"
    " kategorie kategorien klasse klassen catégorie catégories étiquette étiquettes categoría categorías"
    " etiqueta etiquetas categoria categorias categorie etichetta etichette categorieën valeurs valores werte valori"
    " waarden optionen opciones opções opzioni opties stimmung sentimiento sentimento priorität dringlichkeit priorité"
    " urgence prioridad urgencia prioridade urgência priorità urgenza prioriteit urgentie",
    sort="classify classifies classified categorize categorise sort assign route rate mark group decide determine"
    " whether detect predict judge klassifiziere ordne classez classifie classifier"
    " classifiez clasifica clasifique classifique classifica classificeer classe"
    " classer clasificar classificar classificare classificeren klassifizieren"
    " bestimme bestimmen détermine déterminez determina determine bepaal etiqueta",
    choose="choose pick select wähle wählen choisis choisissez elige elija escolha scegli scelga kies",
    answer="answer respond reply output return antworte réponds répondez responde responda rispondi antwoord",
    of="one any which eine einer einem einen eines un une uno una um uma een één",
)
"""Words with which a cue begins, in lower case. After ``of`` words another has to follow, and then they ``pick``."""

MARKS = _kinds(
    open=": ： ( [ =",
    plural="labels categories classes options choices values tags sentiments intents topics kategorien klassen"
    " catégories étiquettes categorías etiquetas categorias categorie etichette valeurs valores werte valori waarden"
    " optionen opciones opções opzioni opties",
    noun="label category class option choice value tag sentiment intent priority severity urgency word scale",
    either="either entweder soit",
    into="as into between among from als zwischen como comme come entre tra parmi tussen",
    with_="with about only just exactly mit avec par con com met ausschließlich uniquement seulement exclusivement"
    " únicamente solamente unicamente soltanto apenas somente",
    to="to",
    of="of",
    be="is are be ist sind est es é è",
    one="one any eine einer eines einem einen una un une uno",
)
"""Signs and words after which an enumeration may begin where a cue announces one; after ``one``, another follows."""

SIGNS = tuple(mark for mark, kind in MARKS.items() if kind == "open")
"""Those of the marks that are no words."""

MONTHS = vocabulary(
    "january february march april may june july august september october november december jan feb mar",
    "apr jun jul aug sept sep oct nov dec januar februar märz mai juni juli oktober dezember janvier",
    "février mars avril juin juillet août septembre octobre novembre décembre enero febrero marzo abril",
    "mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio aprile maggio giugno",
    "luglio settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro novembro",
    "dezembro",
)
# Words that are counts. Left out are those that are commonly something else: "second", "once", French "six" is
# English's, Italian "due" and "sei", Spanish and French "un/una/une".
COUNTS = vocabulary(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand",
    "million billion dozen zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig deux trois",
    "quatre cinq sept huit neuf dix onze douze vingt dos tres cuatro cinco siete ocho nueve diez tre",
    "quattro cinque sette otto nove dieci dois duas três quatro oito dez twee drie vijf zes zeven negen",
    "tien",
)
CONDITIONS = frozenset({"if", "when", "unless"})
SAY = vocabulary("write answer reply respond return say state output print put")
"""What comes before an answer that is to be given to the letter."""

KNOWN = frozenset({*CUES, *MARKS, *MONTHS, *COUNTS, *CONDITIONS, *SAY})
"""Every word that a detector looks for."""


# The words of a text, found once and asked by every detector before it does any work.


Found = tuple[int, int, str]

# Up to so many names, a search for each is faster than one pass over all words.
_FEW = 8
_WORD = expression(r"\w+")
_PARTED = expression(r"(\w+)")
# What is no word character in ASCII becomes a space.
_SPACED = bytes(code if chr(code).isalnum() or chr(code) == "_" else 32 for code in range(128)).ljust(256)


class Words:
    """The words of a text, in order: runs of letters, digits and underscores of any script.

    Attributes:
        forms: As written; the empty ones among them are none.
        cased: The distinct ones, as written, that hold a capital.
        capitals: Those of them that hold no small letter.
        cues: Where words stand that a detector looks for: ``(start, word in lower case)``, ascending.
    """

    __slots__ = ("capitals", "cased", "cues", "forms")

    def __init__(self, text: str) -> None:
        if text.isascii():  # several times faster than looking for each word
            spaced = text.encode().translate(_SPACED).decode()
            self.forms = spaced.split(" ")
            lower = spaced.lower().split(" ")
            before = list(accumulate(map(len, self.forms), initial=0))  # without the spaces, one after each
            self.cues = [(before[index] + index, word) for index, word in enumerate(lower) if word in KNOWN]
            self.cased = {form for form, low in zip(self.forms, lower, strict=True) if form != low}
        else:
            pieces = _PARTED.split(text)
            self.forms = pieces[1::2]
            lower = [form.lower() for form in self.forms]
            ends = list(accumulate(map(len, pieces)))
            self.cues = [(ends[2 * index], word) for index, word in enumerate(lower) if word in KNOWN]
            # A capital may have no lower case.
            self.cased = {
                form for form, low in zip(self.forms, lower, strict=True) if form != low or form.isupper()
            }
        self.capitals = {form for form in self.cased if form.isupper()}


def whole_words(text: str, word: str) -> list[tuple[int, int]]:
    """Where ``word`` stands in ``text``, not inside a longer word; case counts. Linear in the text."""
    start = text.find(word)
    if start < 0:
        return []
    found = []
    size = len(word)
    last = len(text)
    # A boundary is asked for only where the word itself begins or ends with a letter or digit ("C++", "👍").
    left, right = _is_word(word[0]), _is_word(word[-1])
    while start >= 0:
        end = start + size
        if not (left and start and _is_word(text[start - 1])) and not (
            right and end < last and _is_word(text[end])
        ):
            found.append((start, end))
        start = text.find(word, end)
    return found


def places(text: str, names: Collection[str]) -> list[tuple[int, int]]:
    """Where any of ``names`` stands in ``text`` as `whole_words` has it; linear in the text for any number of names."""
    if len(names) <= _FEW:
        return [place for name in names for place in whole_words(text, name)]
    by_first: dict[str, list[str]] = {}
    found: list[tuple[int, int]] = []
    for name in names:
        first = _WORD.match(name)
        if first is None:
            found += whole_words(text, name)
        else:
            by_first.setdefault(first[0], []).append(name)
    for word in _WORD.finditer(text):
        for name in by_first.get(word[0], ()):
            end = word.start() + len(name)
            if end == word.end() or (
                text.startswith(name, word.start())
                and not (_is_word(name[-1]) and _is_word(text[end : end + 1] or " "))
            ):
                found.append((word.start(), end))
    return found


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


# Negations and logical words: the small words that turn an instruction round when they are lost.


# Foreign words that are common English words ("of" is Dutch for "or", "not" means distress in German) are left out.
_LOGIC = vocabulary(
    "not no never none nobody nothing neither nor cannot only solely without except excluding unless or",
    "and either if otherwise else before after until than must shall should may all any every each both",
    "least most more less fewer always exactly but instead nicht kein keine keinen keiner keinem keines",
    "nie niemals nur ohne außer oder wenn falls muss müssen vor nach ne pas jamais aucun aucune rien sans",
    "sauf ou si avant après seulement doit uniquement nunca jamás sin salvo excepto o solo sólo solamente",
    "antes después debe ningún ninguna non mai senza tranne soltanto prima dopo deve nessuno nessuna não",
    "sem exceto apenas somente depois nenhum nenhuma niet geen nooit zonder behalve alleen moet",
)
_LOGIC_WORD = expression(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CJK = expression(
    r"不要|不得|不能|不可|没有|沒有|禁止|除非|只能|之前|之后|之後|しない|せず|ないで|のみ|だけ|以外"
)


def logic_words(text: str) -> list[tuple[int, int]]:
    """Where negations and logical words stand in ``text``, in ascending order."""
    found: list[tuple[int, int]] = []
    for match in _LOGIC_WORD.finditer(text):
        word = match[0].lower()
        if word in _LOGIC or (len(word) > 3 and word[-3:] in {"n't", "n’t"}):
            found.append(match.span())
    if not text.isascii():
        known = [match.span() for match in _CJK.finditer(text)]
        if known:
            found = sorted({*found, *known})
    return found


# JSON objects and arrays inside prose, nested to any depth.


# An opening bracket that looks like JSON: `{"key"`, `{key: `, `{{"key"` (escaped for str.format), `[1`, `["a"`, `[{`.
_LIKELY = expression(
    r"""\{\s{0,80}(?:\{?\s{0,80}["'][^"'\n]{0,200}["']\s{0,8}:|\w{1,60}\s{0,4}:\s|\{?\s{0,8}\n)"""
    r"""|\[\s{0,80}(?:["'{\[]|-?\d|true\b|false\b|null\b)"""
)
# A string is skipped whole, so that a bracket in it does not count; an escape outside a string is skipped as well.
_INSIDE = expression(r'\\.|"(?:[^"\\\n]|\\.){0,2000}"|[{}\[\]]', re.DOTALL)
_OPENER = expression(r"[{\[]")
_CLOSES = {"}": "{", "]": "["}


def json_spans(text: str) -> list[Found]:
    """The outermost JSON-like objects and arrays of ``text`` whose brackets balance."""
    if "{" not in text and "[" not in text:
        return []
    first = _LIKELY.search(text)
    if first is None:
        return []
    found: list[Found] = []
    stack: list[tuple[str, int]] = []
    waiting = {"{": 0, "[": 0}
    position = first.start()
    # One pass with a stack: strings are looked for only inside brackets, where a quote is surely one of JSON's.
    while (token := (_INSIDE if stack else _OPENER).search(text, position)) is not None:
        position = token.end()
        character = token[0]
        if character in waiting:
            stack.append((character, token.start()))
            waiting[character] += 1
        elif character in _CLOSES and waiting[_CLOSES[character]]:
            while True:
                opener, start = stack.pop()
                waiting[opener] -= 1
                if opener == _CLOSES[character]:
                    break
            if _LIKELY.match(text, start):
                while found and found[-1][0] > start:
                    found.pop()
                found.append((start, position, "json"))
    return found
