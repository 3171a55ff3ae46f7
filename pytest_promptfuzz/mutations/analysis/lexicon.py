"""The English lexicon: synonyms, wider and narrower words, their inflected forms; the protocol of other lexicons."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from pytest_promptfuzz.data import tables
from pytest_promptfuzz.data.english_words import (
    AMERICAN_TO_BRITISH,
    CLASSES,
    IRREGULAR,
    IRREGULAR_PLURALS,
    UNCOUNTED,
)
from pytest_promptfuzz.prompts.cues import logic_words
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Word


PartOfSpeech: TypeAlias = Literal["noun", "verb", "adjective", "adverb"]
Kind: TypeAlias = Literal["synonym", "near", "wider", "narrower"]

KINDS: tuple[Kind, ...] = ("synonym", "near", "wider", "narrower")
"""What can be asked of a lexicon: the same sense, almost the same, a wider one (hypernym), a narrower one (hyponym)."""


class Lexicon(Protocol):
    """Words that may stand for a word. Pure: the same question always gets the same answer, in the same order.

    Every method takes a lemma in lower case (``query``, ``follow up``), its part of speech and an ISO 639-1 code, and
    gives lemmas in lower case, the best first, with spaces in phrases; an empty sequence where it knows none. A lexicon
    is asked once for each word of a prompt, so answers should be kept in memory.
    """

    @property
    def name(self) -> str:
        """In kebab-case: part of the names of the operators made with it."""

    @property
    def version(self) -> str:
        """Changes whenever an answer does."""

    def synonyms(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of the same sense."""

    def near(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of almost the same sense."""

    def wider(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Hypernyms: ``vehicle`` of ``car``."""

    def narrower(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Hyponyms: ``car`` of ``vehicle``."""


class TableLexicon:
    """A lexicon of tables: for each kind and part of speech, lemmas and what may stand for them.

    Args:
        name: See :class:`Lexicon`.
        version: See :class:`Lexicon`.
        language: ISO 639-1 code of its words; questions for another get nothing.
        tables: By kind and part of speech; what is left out is empty.
    """

    def __init__(
        self,
        name: str,
        version: str,
        language: str,
        tables: Mapping[tuple[Kind, PartOfSpeech], Mapping[str, Sequence[str]]],
    ) -> None:
        self.name = name
        self.version = version
        self.language = language
        self.tables = tables

    def _ask(self, kind: Kind, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        if language != self.language:
            return ()
        return self.tables.get((kind, pos), {}).get(lemma, ())

    def synonyms(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of the same sense."""
        return self._ask("synonym", lemma, pos, language)

    def near(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of almost the same sense."""
        return self._ask("near", lemma, pos, language)

    def wider(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of a wider sense."""
        return self._ask("wider", lemma, pos, language)

    def narrower(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of a narrower sense."""
        return self._ask("narrower", lemma, pos, language)


@cache
def own_lexicon() -> Lexicon:
    """The lexicon that comes with the package: English only, for the vocabulary of prompts, checked by hand."""
    tables: dict[tuple[Kind, PartOfSpeech], Mapping[str, Sequence[str]]] = {}
    kinds: tuple[tuple[Kind, Mapping[PartOfSpeech, Mapping[str, LexiconEntry]]], ...] = (
        ("synonym", entries()),
        ("near", near()),
        ("wider", wider()),
        ("narrower", narrower()),
    )
    for kind, by_pos in kinds:
        for pos, table in by_pos.items():
            tables[kind, pos] = {head: entry.alternatives for head, entry in table.items()}
    return TableLexicon("own", "2", "en", tables)


# The lexicon's entries: words of prompts and what may stand for them without changing what is asked. English only.
#
# The files of ``data/replacements`` hold an entry a line, ``head: alternatives``; ``a = b = c`` makes each an entry
# with the others for alternatives. An underscore is a space. An alternative with a star stands for the base form only.
# Only senses that prompts use are listed, and what an entry needs around it is written at its head:
#
# ``~head``
#     It is another part of speech as well, so that the words around it must tell.
# ``head/flags``
#     What may follow or which forms it has. Verbs take an object unless told otherwise; ``c`` a clause (``that``,
#     ``whether``), ``p`` a preposition, ``0`` nothing, ``i`` ``to`` and a verb, ``m`` a person (``me``); ``x`` no
#     object; ``t`` an object with a determiner only; ``b`` only where an instruction's verb stands; ``e`` no
#     participle; ``v`` no participle before a noun; ``d`` never two objects. Nouns: ``u`` no plural, ``p`` plural only,
#     ``s`` singular only. Adjectives: ``a`` only before a noun, ``q`` never, ``p`` with a preposition. Adverbs: ``s``
#     opens a sentence, ``d`` only before an adjective or adverb, ``0`` only at the end of a clause.
# ``head!words``
#     Not when one of these words follows.
# ``head@words``
#     Before these prepositions.


_HEAD = expression(r"(~?)([a-z][a-z_-]*)(?:/([a-z0]+))?(?:!([a-z,]+))?(?:@([a-z,]+))?")
_NONE: frozenset[str] = frozenset()


class LexiconEntry(NamedTuple):
    """A headword in one part of speech.

    Attributes:
        head: In lower case.
        ambiguous: Whether the words around it must tell that it is this part of speech.
        flags: Letters; the module says what they mean.
        barred: Words that may not follow.
        wanted: Prepositions that may (of nouns: one of them must).
        alternatives: What may stand for its base form.
        inflecting: Those of them that may stand for its other forms.
    """

    head: str
    ambiguous: bool
    flags: str
    barred: frozenset[str]
    wanted: frozenset[str]
    alternatives: tuple[str, ...]
    inflecting: tuple[str, ...]


def plain_entry(head: str, alternatives: tuple[str, ...], *, ambiguous: bool = False) -> LexiconEntry:
    """An entry without conditions of its own."""
    return LexiconEntry(head, ambiguous, "", _NONE, _NONE, alternatives, alternatives)


def read(lines: Iterable[str]) -> dict[str, LexiconEntry]:
    """The entries of a table by headword."""
    found: dict[str, LexiconEntry] = {}
    for line in lines:
        left, colon, right = line.partition(": ")
        if colon:
            every = _phrases(right.replace("*", "") if "*" in right else right)
            inflecting = every
            if "*" in right:
                inflecting = _phrases(" ".join(each for each in right.split() if each[-1] != "*"))
            if left.isalpha():  # most are as plain as this
                found[left] = LexiconEntry(left, False, "", _NONE, _NONE, every, inflecting)
            else:
                entry = LexiconEntry(*_head(left), every, inflecting)
                found[entry.head] = entry
            continue
        heads = [_head(each) for each in left.split(" = ")]
        for head in heads:
            others = tuple(each[0] for each in heads if each is not head)
            found[head[0]] = LexiconEntry(*head, others, others)
    return found


def _phrases(listed: str) -> tuple[str, ...]:
    if "_" in listed:
        return tuple([each.replace("_", " ") for each in listed.split()])
    return tuple(listed.split())


def _head(text: str) -> tuple[str, bool, str, frozenset[str], frozenset[str]]:
    """What an entry says before its colon: head, ambiguous, flags, barred, wanted."""
    match = _HEAD.fullmatch(text)
    if match is None:
        raise ValueError(f"lexicon: {text!r} is no head of an entry.")
    unsure, head, flags, barred, wanted = match.groups()
    return head, bool(unsure), flags or "", _set(barred), _set(wanted)


def _set(listed: str | None) -> frozenset[str]:
    return frozenset(listed.split(",")) if listed else _NONE


@cache
def entries() -> dict[PartOfSpeech, dict[str, LexiconEntry]]:
    """Every entry of the lexicon, by part of speech and headword; read once."""
    return {
        "verb": _read_file("verbs"),
        "noun": _read_file("nouns"),
        "adjective": _read_file("adjectives"),
        "adverb": _read_file("adverbs"),
    }


def _read_file(name: str) -> dict[str, LexiconEntry]:
    return read(tables.entries(f"replacements/{name}.txt", str))


# Words of another, nearby sense: near-synonyms, wider words (hypernyms) and narrower ones (hyponyms). English only.
#
# What replaces a word here changes what is asked, a little or more: these tables serve searches for the worst case and
# studies, never a default plan.


@cache
def near() -> dict[PartOfSpeech, dict[str, LexiconEntry]]:
    """Near-synonyms, by part of speech and headword."""
    return {**_tables("near"), "adjective": _read_file("near_adjectives")}


@cache
def wider() -> dict[PartOfSpeech, dict[str, LexiconEntry]]:
    """Hypernyms."""
    return _tables("wider")


@cache
def narrower() -> dict[PartOfSpeech, dict[str, LexiconEntry]]:
    """Hyponyms."""
    return _tables("narrower")


def _tables(sense: str) -> dict[PartOfSpeech, dict[str, LexiconEntry]]:
    return {"verb": _read_file(f"{sense}_verbs"), "noun": _read_file(f"{sense}_nouns"), "adjective": {}}


# English inflection: regular by rule, the verbs and nouns of the lexicon that are off the rules by table.


_VOWELS = frozenset("aeiou")
_AS_CONSONANT = ("uni", "use", "usa", "usu", "eu", "one", "once", "ubi", "uti")
_NOT_UNI = ("unin", "unim", "unid", "unint", "unis")  # uninteresting: no "yoo"
_SILENT_H = ("hour", "honest", "honor", "honour", "heir")


def third_person(verb: str) -> str:
    """``classifies`` of ``classify``; of a phrase, its first word."""
    first, space, rest = verb.partition(" ")
    known = IRREGULAR.get(first)
    return (known[0] if known else plural(first)) + space + rest


def gerund(verb: str) -> str:
    """``classifying`` of ``classify``; of a phrase, its first word."""
    first, space, rest = verb.partition(" ")
    known = IRREGULAR.get(first)
    if known:
        return known[1] + space + rest
    stem = first[:-1] if first.endswith("e") and not first.endswith(("ee", "oe", "ye")) else first
    return stem + "ing" + space + rest


def participle(verb: str) -> str:
    """``classified`` of ``classify``, ``chosen`` of ``choose``; of a phrase, its first word."""
    first, space, rest = verb.partition(" ")
    again = "re" if first.startswith("re") and first[2:] in IRREGULAR else ""
    known = IRREGULAR.get(first.removeprefix(again))
    if known:
        return again + known[2] + space + rest
    if first.endswith("e"):
        past = first + "d"
    elif first.endswith("y") and first[-2:-1] not in _VOWELS:
        past = first[:-1] + "ied"
    else:
        past = first + "ed"
    return past + space + rest


def plural(noun: str) -> str:
    """``queries`` of ``query``; of a phrase, its last word, but the head of ``point of view``."""
    if " of " in noun:
        head, _, rest = noun.partition(" of ")
        return plural(head) + " of " + rest
    before, space, last = noun.rpartition(" ")
    if last in IRREGULAR_PLURALS:
        return before + space + IRREGULAR_PLURALS[last]
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return noun[:-1] + "ies"
    if noun.endswith("sis"):
        return noun[:-2] + "es"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def an_before(word: str) -> Literal["a", "an"]:
    """The indefinite article that ``word`` takes, by its sound."""
    lower = word.lower()
    if lower.startswith(_SILENT_H):
        return "an"
    if lower.startswith(_AS_CONSONANT) and not lower.startswith(_NOT_UNI):
        return "a"
    return "an" if lower[:1] in _VOWELS else "a"


def lemmas(form: str) -> list[tuple[Literal["base", "s", "ing", "ed"], str]]:
    """What a form may be an inflected form of by the rules: ``[("ing", "writ"), ("ing", "write")]`` of ``writing``.

    A guess for asking a lexicon; whoever uses it checks that the lemma inflects back to the form.
    """
    found: list[tuple[Literal["base", "s", "ing", "ed"], str]] = [("base", form)]
    if form.endswith("ies"):
        found.append(("s", form[:-3] + "y"))
    if form.endswith("es"):
        found.append(("s", form[:-2]))
    if form.endswith("s") and not form.endswith("ss"):
        found.append(("s", form[:-1]))
    if form.endswith("ied"):
        found.append(("ed", form[:-3] + "y"))
    for ending, name in (("ing", "ing"), ("ed", "ed")):
        stem = form.removesuffix(ending)
        if stem != form and len(stem) > 2:
            kind: Literal["ing", "ed"] = "ing" if name == "ing" else "ed"
            found += [(kind, stem), (kind, stem + "e")]
    return found


# The forms that headwords take, and what each may be replaced by; worked out when a form is first met.


Form: TypeAlias = Literal["base", "s", "ing", "ed"]

INFLECT = {"s": third_person, "ing": gerund, "ed": participle}
"""What makes the forms of a verb."""

_LOGIC = frozenset(["excluding", "excepting"])


class WordReading(NamedTuple):
    """One way to read a word form.

    Attributes:
        pos: The part of speech.
        form: ``base``; ``s``, ``ing`` or ``ed`` of verbs; ``s`` of nouns.
        entry: The headword's, with the conditions for its use.
        alternatives: What may stand for it, in the same form.
        single: Those of them that are one word.
    """

    pos: PartOfSpeech
    form: Form
    entry: LexiconEntry
    alternatives: tuple[str, ...]
    single: tuple[str, ...]


def reading_of(
    pos: PartOfSpeech, form: Form, entry: LexiconEntry, alternatives: tuple[str, ...]
) -> WordReading:
    """The reading with these alternatives."""
    return WordReading(
        pos, form, entry, alternatives, tuple(each for each in alternatives if " " not in each)
    )


def inflected(entry: LexiconEntry, pos: PartOfSpeech, form: Form) -> tuple[str, ...]:
    """What may stand for a form of a headword, in that form."""
    if form == "base":
        return entry.alternatives
    if pos == "noun":
        return tuple(plural(each) for each in entry.inflecting if each not in UNCOUNTED)
    # A participle of several words would be torn by what it stands before or after: "the worked out answer".
    return tuple(INFLECT[form](each) for each in entry.inflecting if form != "ed" or " " not in each)


def forms_of(entry: LexiconEntry, pos: PartOfSpeech) -> list[tuple[str, Form]]:
    """The forms that a headword is met in."""
    head, flags = entry.head, entry.flags
    found: list[tuple[str, Form]] = [] if pos == "noun" and "p" in flags else [(head, "base")]
    if pos == "verb":
        found += [(third_person(head), "s"), (gerund(head), "ing")]
        if "e" not in flags and "b" not in flags:
            found.append((participle(head), "ed"))
    elif pos == "noun" and "u" not in flags and "s" not in flags:
        found.append((plural(head), "s"))
    return found


class Forms:
    """The readings of the forms of some entries.

    Args:
        tables: Entries by part of speech and headword.
    """

    def __init__(self, tables: Mapping[PartOfSpeech, Mapping[str, LexiconEntry]]) -> None:
        self._entries: dict[str, list[tuple[PartOfSpeech, Form, LexiconEntry]]] = {}
        self._known: dict[str, tuple[WordReading, ...]] = {}
        for pos, table in tables.items():
            for entry in table.values():
                for word, form in forms_of(entry, pos):
                    if word not in _LOGIC:
                        self._entries.setdefault(word, []).append((pos, form, entry))
        self._american = {
            british: american
            for american, british in AMERICAN_TO_BRITISH.items()
            if american in self._entries
        }
        self._entries |= {british: self._entries[american] for british, american in self._american.items()}

    def hits(self, found: Sequence[Word]) -> list[tuple[int, tuple[WordReading, ...]]]:
        """The words that are forms of an entry: their numbers and their readings."""
        entries = self._entries
        get = self.readings
        return [(index, get(word[3])) for index, word in enumerate(found) if word[3] in entries]

    def readings(self, word: str) -> tuple[WordReading, ...]:
        """The readings of a word in lower case; empty where it is no form of an entry."""
        known = self._known.get(word)
        if known is None:
            british = word in self._american
            known = self._known[word] = tuple(
                reading_of(pos, form, entry, alternatives)
                for pos, form, entry in self._entries.get(word, ())
                if (alternatives := _spelt(inflected(entry, pos, form), british=british))
            )
        return known

    @property
    def words(self) -> tuple[str, ...]:
        """Every form, in either spelling."""
        return tuple(self._entries)


def _spelt(alternatives: tuple[str, ...], *, british: bool) -> tuple[str, ...]:
    if not british:
        return alternatives
    return tuple(
        " ".join(AMERICAN_TO_BRITISH.get(word, word) for word in each.split(" ")) for each in alternatives
    )


@cache
def forms() -> Forms:
    """The forms of the lexicon's synonyms; built once."""
    return Forms(entries())


# Any lexicon as a source of substitutes: word forms traced to lemmas, what it answers filtered and inflected. English.
#
# Our own entries say what they need around them; another lexicon's words come without. So a word that it knows as two
# parts of speech counts as ambiguous and waits for a context that tells, verbs take a direct object only, and what
# replaces a word must be frequent or in use in our own lexicon.


_MOST = 50_000  # forms kept; a run meets far fewer
_EVERY: tuple[PartOfSpeech, ...] = ("noun", "verb", "adjective", "adverb")
_SHORTEST = 3


@cache
def usual_words() -> frozenset[str]:
    """Words frequent enough to stand in a prompt unnoticed: those of our lexicon, and the frequent ones."""
    from pytest_promptfuzz.data.english_words import FREQUENT

    found = set(FREQUENT)
    for table in entries().values():
        for entry in table.values():
            found.add(entry.head)
            for each in entry.alternatives:
                found.update(each.split())
    return frozenset(found)


class LexiconReadings:
    """The readings that a lexicon gives to the words of English prompts.

    Args:
        lexicon: What is asked, once for each form.
        kind: What it is asked for.
    """

    def __init__(self, lexicon: Lexicon, kind: Kind) -> None:
        self._ask: Callable[[str, PartOfSpeech, str], Sequence[str]] = {
            "synonym": lexicon.synonyms,
            "near": lexicon.near,
            "wider": lexicon.wider,
            "narrower": lexicon.narrower,
        }[kind]
        self._known: dict[str, tuple[WordReading, ...]] = {}

    def hits(self, found: Sequence[Word]) -> list[tuple[int, tuple[WordReading, ...]]]:
        """The words it has substitutes for: their numbers and their readings."""
        return [
            (index, readings) for index, word in enumerate(found) if (readings := self.readings(word.lower))
        ]

    def readings(self, word: str) -> tuple[WordReading, ...]:
        """The readings of a word in lower case; none for function words and words of logic."""
        known = self._known.get(word)
        if known is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[word] = self._readings(word)
        return known

    def _readings(self, word: str) -> tuple[WordReading, ...]:
        if len(word) < _SHORTEST or not word.isalpha() or word in CLASSES or logic_words(word):
            return ()
        found = [
            (pos, form, lemma, answers)
            for form, lemma in lemmas(word)
            for pos in _EVERY
            if _inflects(lemma, pos, form, word) and (answers := self._answers(lemma, pos))
        ]
        ambiguous = len({pos for pos, _, _, _ in found}) > 1
        readings = []
        for pos, form, lemma, answers in found:
            entry = plain_entry(lemma, answers, ambiguous=ambiguous)
            alternatives = tuple(each for each in inflected(entry, pos, form) if each != word)
            if alternatives:
                readings.append(reading_of(pos, form, entry, alternatives))
        return tuple(readings)

    def _answers(self, lemma: str, pos: PartOfSpeech) -> tuple[str, ...]:
        return tuple(
            each
            for each in dict.fromkeys(self._ask(lemma, pos, "en"))
            if each != lemma
            and all(map(_usual, each.split(" ")))
            and not any(part in CLASSES for part in each.split(" ")[:1])
            and not logic_words(each)
        )


def _usual(word: str) -> bool:
    """Whether a word is frequent in one of its forms."""
    usual = usual_words()
    return word in usual or any(make(word) in usual for make in (plural, participle, gerund))


def _inflects(lemma: str, pos: PartOfSpeech, form: Form, word: str) -> bool:
    """Whether a lemma has that form in that part of speech."""
    if form == "base":
        return True
    if pos == "verb":
        return INFLECT[form](lemma) == word
    return pos == "noun" and form == "s" and plural(lemma) == word
