"""Operators that split, merge, drop, abbreviate or contract words, or spell them the British or American way."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.data.english_words import ABBREVIATED, CONTRACTED, EXPANDED, UNABBREVIATED, VARIANTS
from pytest_promptfuzz.data.tables import words_in
from pytest_promptfuzz.mutations.analysis import phrases
from pytest_promptfuzz.mutations.analysis.lexicon import INFLECT, lemmas, plural
from pytest_promptfuzz.mutations.analysis.spared_text import (
    binds,
    data_spans,
    hittable,
    inside,
    is_known,
    naming_words,
    own_words,
    readable_words,
)
from pytest_promptfuzz.mutations.engine.edits import Edit, edits_at, insert, replace
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.text.expressions import capitalised, like, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Word
    from pytest_promptfuzz.randomness import Rng


_SHORTEST_PART = 3
_LONGEST_MERGED = 5
_GLUE = words("the this that your their our is are it of you will to")
# Words that one of these and a short neighbour would make.
_COMPOUNDS = words(
    """
    lathe seethe teethe theft theism therapist therapists therein thesis tithe thatch yourself yourselves ourselves
    amour armour clamour clangour colour contour demeanour humour labour rigour rumour antis axis genesis islander islet
    islets issuing oasis psychosis taxis testis flare bandit cubit digit emit exit itch orbit permit pipit profit pulpit
    refit transit hereof hoof offence offences offend offended offender offenders offends proof thereof whereof
    freewill goodwill willed willpower canto hereto hitherto lotto pinto presto pronto thereto toad toads toaster togas
    tome tomorrow torte totally towing today tonight together into onto unto
    """
)
_ARTICLES = words("the a an")
_FILLERS = words("please kindly very really quite")
# "a few" and "few" are not the same; "a sentence" says how many.
_COUNTED = words(
    """
    few little lot bit couple dozen hundred thousand million number single sentence sentences word words line lines
    paragraph phrase list table bullet paragraphs page letter character time minute day week month year half third
    quarter maximum minimum total one two only
    """
)
_LETTERED = words(
    "option choice answer letter variant plan type class grade section part item point case group"
)
_BEFORE_THAT = words(
    "sure ensure note assume check confirm verify know believe remember imagine make certain"
)
_AFTER_THAT = words("you it they we the your their each all every there he she this these its our")


@operator(
    "word-split",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    surface=True,
    sources=("S4", "nlpaug"),
    example=("Describe the problem.", "Describe the prob lem."),
    trusted=True,
    default=False,
)
def word_split(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A space inside one long word in ten, where neither part is a word."""
    own = draft.once(own_words)
    targets = [
        word
        for word in draft.once(hittable)
        if word.end - word.start >= 2 * _SHORTEST_PART and word.lower in readable_words()
    ]

    def split(word: Word) -> Edit | None:
        place = _SHORTEST_PART + rng.below(len(word.lower) - 2 * _SHORTEST_PART + 1)
        parts = word.lower[:place], word.lower[place:]
        known = any(part in own or is_known(part) for part in parts)
        return None if known else insert(word.start + place, " ")

    return edits_at(rng.draws(targets, 0.1), split)


@operator(
    "letter-spacing",
    dimension="lexical",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    surface=True,
    sources=("S4",),
    example=("Describe the problem.", "Describe the p r o b l e m."),
    trusted=True,
    default=False,
)
def letter_spacing(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Spaces between all letters of one long word in ten."""
    targets = [word for word in draft.once(hittable) if word.lower in readable_words()]
    return edits_at(rng.draws(targets, 0.1), lambda word: replace(word.start, word.end, " ".join(word.form)))


def _mergeable(draft: Draft) -> list[Edit]:
    """Single spaces between two short words, one of them a function word, that make no known word together."""
    text = draft.text
    own = draft.once(own_words)
    found: list[Edit] = []
    for first, second in pairwise(draft.words):
        if (
            second.start - first.end != 1
            or text[first.end] != " "
            or (first.lower not in _GLUE and second.lower not in _GLUE)
            or not 2 <= len(first.lower) <= _LONGEST_MERGED
            or not 2 <= len(second.form) <= _LONGEST_MERGED
            or second.form != second.lower
            or first.form[1:] != first.lower[1:]
            or not (first.lower + second.lower).isalpha()
            or binds(first.lower)
            or binds(second.lower)
            or text[second.end : second.end + 1] == ":"
        ):
            continue
        merged = first.lower + second.lower
        if merged not in own and merged not in _COMPOUNDS and not is_known(merged):
            found.append(replace(first.end, second.start, ""))
    return found


@operator(
    "word-merge",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    surface=True,
    sources=("S4",),
    example=("Sort all of the tickets.", "Sort all ofthe tickets."),
    trusted=True,
    default=False,
)
def word_merge(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Two short neighbours written as one (``of the``: ``ofthe``), a tenth of those that make no known word."""
    return rng.draws(_mergeable(draft), 0.1)


def _droppable(draft: Draft) -> list[Edit]:
    """Words that say nothing, each with the space after it; the word that then opens the sentence gets the capital."""
    text, free = draft.text, draft.free
    starts = draft.starts
    found: list[Edit] = []
    previous = ""
    taken = -1  # where the last word to go ends: two in a row would leave two edits side by side
    for index, word in enumerate(draft.words):
        following = draft.words[index + 1] if index + 1 < len(draft.words) else None
        joined = following is not None and following.start == word.end + 1
        lower = word.lower
        keeps = (
            text[word.end : word.end + 1] != " "
            or free[word.end + 1 : word.end + 2] in ("", " ", "\n")
            or word.start <= taken
            or (word.form != lower and (word.form != capitalised(lower) or word.start not in starts))
        )
        after = following.lower if joined and following is not None else ""
        name = joined and following is not None and following.form != following.lower
        drop = False
        if keeps:
            pass
        elif lower == "the":
            drop = not name and after not in {"same", "only", "first", "last", "more", "less", "fewer"}
        elif lower in _ARTICLES:
            drop = (
                joined
                and not name
                and after not in _COUNTED
                and not binds(after)
                and previous not in _LETTERED
            )
        elif lower in _FILLERS:
            drop = (
                joined
                and not name
                and not previous.endswith(("not", "n't"))
                and (lower != "quite" or after not in _ARTICLES)
            )
        elif lower == "that":
            drop = previous in _BEFORE_THAT and after in _AFTER_THAT
        if drop:
            if word.form == lower:
                found.append(replace(word.start, word.end + 1, ""))
                taken = word.end + 1
            elif joined and following is not None:
                found.append(replace(word.start, following.start + 1, capitalised(following.form[0])))
                taken = following.start + 1
        previous = lower
    return found


@operator(
    "drop-stop-words",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    sources=("S3", "S4", "TextAttack"),
    example=("Please sort the tickets.", "Sort the tickets."),
    trusted=True,
    default=False,
)
def drop_stop_words(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Articles, ``please``, ``very`` and the ``that`` of ``make sure that`` left out (a third); never logical words."""
    return rng.draws(_droppable(draft), 0.33)


_STOP_WORDS = words_in("words/stop_words.txt")


def _stop_words(draft: Draft) -> list[Edit]:
    """Every stop word with the space after it; what ends a sentence or a line stays."""
    return [
        replace(word.start, word.end + 1, "")
        for word in draft.words
        if word.lower in _STOP_WORDS
        and word.form in {word.lower, capitalised(word.lower)}
        and draft.free[word.end : word.end + 1] == " "
        and draft.free[word.end + 1 : word.end + 2] not in {"", " ", "\n"}
    ]


@operator(
    "drop-all-stop-words",
    dimension="lexical",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S3", "S4"),
    example=("What is the capital of the country?", "capital country?"),
    trusted=True,
    default=False,
)
def drop_all_stop_words(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """All stop words left out (all, then some), articles, pronouns, prepositions; never negations or numbers."""
    for chosen in rng.all_then_some(draft.once(_stop_words)):
        yield _joined(chosen)


def _joined(edits: list[Edit]) -> list[Edit]:
    """Removals side by side as one."""
    found: list[Edit] = []
    for each in edits:
        if found and found[-1].end == each.start:
            found[-1] = replace(found[-1].start, each.end, "")
        else:
            found.append(each)
    return found


@operator(
    "inflection",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    sources=("S3",),
    example=("Describe the problem.", "Describe the problems."),
    trusted=True,
    default=False,
)
def inflection(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Another form of some words (``describe``: ``describes``), as learners of English write (a tenth): MORPHEUS."""
    targets = [word for word in draft.once(hittable) if _other_forms(word.lower)]

    def inflected(word: Word) -> Edit:
        form = rng.choice(_other_forms(word.lower))
        return replace(word.start, word.end, like(word.form, form))

    return edits_at(rng.draws(targets, 0.1), inflected)


@cache
def _other_forms(word: str) -> tuple[str, ...]:
    """The other forms of a word that are words themselves, the likeliest first."""
    known = readable_words()
    found: dict[str, None] = {}
    for ending, lemma in lemmas(word):
        if lemma not in known or (ending != "base" and word not in {plural(lemma), INFLECT[ending](lemma)}):
            continue
        forms = (lemma, plural(lemma), *(make(lemma) for make in INFLECT.values()))
        found.update(dict.fromkeys(form for form in forms if form != word and form in known))
    return tuple(found)


@operator(
    "abbreviation",
    dimension="lexical",
    severity=0.2,
    preserves="yes",
    languages=("en", *phrases.PHRASE_LANGUAGES),
    sources=("S2", "NL-Augmenter"),
    example=("Give more information.", "Give more info."),
    trusted=True,
    default=False,
)
def abbreviation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Words and phrases abbreviated (``info``, ``approx.``, ``ASAP``): all, then some; not where a field is named."""
    return rng.all_then_some(abbreviated(draft) if draft.language == "en" else phrases.abbreviated(draft))


@operator(
    "unabbreviation",
    version=3,
    dimension="lexical",
    severity=0.2,
    preserves="conditional",
    languages=("en", *phrases.PHRASE_LANGUAGES),
    sources=("S2", "NL-Augmenter"),
    example=("Give more info.", "Give more information."),
    trusted=True,
    default=False,
)
def unabbreviation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Abbreviations with one meaning spelt out (``info``, ``FAQ``): all, then some; not where a field is named."""
    return rng.all_then_some(unabbreviated(draft) if draft.language == "en" else phrases.spelt_out(draft))


# Where a prompt's words can be abbreviated or spelt out, and what then stands there.


# In a sentence or prompt with these, a word may be asked for as it stands.
_NAMING = words(
    """
    extract field fields key keys column columns property properties attribute attributes label labels named called
    tag tags heading headings title keyword keywords
    """
)
_WORDING = words(
    """
    abbreviation abbreviations abbreviate abbreviated acronym acronyms spell spelling verbatim literally exact exactly
    """
)

# Nouns that are verbs as well, and what stands before a verb: "Document the code" asks for no doc.
_VERBS = words(
    "document documents message messages reference references average picture photograph telephone amount"
)
_BEFORE_VERBS = words("to and or please then must should will can not don't you always never")


@cache
def _phrases() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """The phrases that can be abbreviated, the longest first, by their first word."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for phrase, brief in ABBREVIATED.items():
        parts = tuple(phrase.split())
        found.setdefault(parts[0], []).append((parts, brief))
    for choices in found.values():
        choices.sort(key=lambda each: -len(each[0]))
    return found


def _spoken(draft: Draft) -> tuple[bool, ...]:
    """For each word of the draft, whether it is only read: no head of a field, nor in a sentence that names things."""
    everything = draft.words
    if not _WORDING.isdisjoint(draft.once(own_words)):
        return (False,) * len(everything)
    named = draft.once(naming_words)
    headed = {
        word.lower for word in everything if word.start in named or draft.text[word.end : word.end + 1] == ":"
    }
    plain = [word.lower not in headed for word in everything]
    index = 0
    for sentence in draft.sentences:
        first = index
        while index < len(everything) and everything[index].start < sentence.end:
            index += 1
        if sentence.kind == "heading" or any(word.lower in _NAMING for word in everything[first:index]):
            plain[first:index] = [False] * (index - first)
    return tuple(plain)


def _takes_an(written: str) -> bool:
    """Whether ``an`` stands before a word or acronym, by its sound."""
    if written[:2].isupper():
        return written[0] in "AEFHILMNORSX"
    return written[0].lower() in "aeio" or written[:3] in {"und", "unc"}


def abbreviated(draft: Draft) -> list[Edit]:
    """An edit for each word or phrase that can be abbreviated, in ascending order."""
    everything = draft.words
    spoken = draft.once(_spoken)
    phrases = _phrases()
    starts = draft.starts
    found: list[Edit] = []
    taken = 0
    for index, word in enumerate(everything):
        for parts, brief in phrases.get(word.lower, ()):
            run = everything[index : index + len(parts)]
            if (
                index < taken
                or tuple([each.lower for each in run]) != parts
                or not all(spoken[index : index + len(parts)])
                or draft.text[word.start : run[-1].end].lower() != " ".join(parts)
                or _breaks_article(everything, index, word.form, brief)
                or (
                    word.lower in _VERBS
                    and (not index or word.start in starts or everything[index - 1].lower in _BEFORE_VERBS)
                )
            ):
                continue
            found.append(_replaced(draft, word, run[-1].end, brief))
            taken = index + len(parts)
            break
    return found


def _replaced(draft: Draft, word: Word, end: int, brief: str) -> Edit:
    """The abbreviation in the case of what it stands for; its full stop is the sentence's, too."""
    if brief.endswith(".") and draft.text[end : end + 1] == ".":
        brief = brief[:-1]
    return replace(word.start, end, brief if brief[:2].isupper() else like(word.form, brief))


def _breaks_article(everything: tuple[Word, ...], index: int, old: str, new: str) -> bool:
    """Whether the word before is ``a`` or ``an`` and would no longer fit."""
    return index > 0 and everything[index - 1].lower in {"a", "an"} and _takes_an(old) != _takes_an(new)


# Abbreviations with a full stop of their own; behind the others ("phone", "info") it ends a sentence.
_STOPPED = words(
    """
    acct addr admin approx appt asst avg config dept desc dev diff dist doc docs env est etc ext fig freq govt incl intl
    max mgmt mgr min misc msg num org pct prof qty rec recs ref reg spec specs temp univ vol
    """
)


# One "FAQ" is a list of questions: "the FAQ page" and "a FAQ is" have no room for their plural.
_PLURALS = frozenset(["frequently asked questions"])
_SINGULAR = words("a an one each every this that")
_ROOM = words("and or for of on in at with from to must can should will below above when if before after as")
_AFTER_STOP = frozenset(" ,;:)")


def _alone(free: str, everything: tuple[Word, ...], index: int) -> bool:
    """Whether neither the word before nor the one behind asks for a singular."""
    end = everything[index].end
    following = everything[index + 1] if index + 1 < len(everything) else None
    behind = following is None or following.start != end + 1 or following.lower in _ROOM
    return (
        behind
        and free[end : end + 1] not in {"-", "'", "’", "/"}
        and not (index and everything[index - 1].lower in _SINGULAR)
    )


def unabbreviated(draft: Draft) -> list[Edit]:
    """An edit for each abbreviation that can be spelt out, in ascending order."""
    text, free = draft.text, draft.free
    everything = draft.words
    spoken = draft.once(_spoken)
    found: list[Edit] = []
    for index, word in enumerate(everything):
        long = UNABBREVIATED.get(word.form) or UNABBREVIATED.get(word.form[0].lower() + word.form[1:])
        if long is None or not spoken[index] or _breaks_article(everything, index, word.form, long):
            continue
        if inside(draft.once(data_spans), word.start):
            continue
        if long in _PLURALS and not _alone(free, everything, index):
            continue
        before = free[max(0, word.start - 2) : word.start]
        if "\x00" in before or "." in before or "&" in before:
            continue  # "5 mins" is a quantity, "R&D" one word
        # Its own full stop goes with it, unless it ends the sentence as well.
        end = word.end
        if text[end : end + 1] == "." and text[end + 1 : end + 2] in _AFTER_STOP and word.lower in _STOPPED:
            if text[end + 2 : end + 3].isupper():
                continue  # whether a sentence ends here cannot be told
            end += 1
        new = capitalised(long) if word.form[0].isupper() and word.form[1:].islower() else long
        found.append(replace(word.start, end, new))
    return found


# Other spellings of the same words: contractions, British and American.


_SUBJECTS = words("i you he she it we they the this that there any")
_SPELLINGS = words("spelling spellings spell spelled spelt british american")
# "Keep the keys exactly as they are and ...": the verb is the last word of its clause, and has the stress.
_COMPARING = frozenset(["as", "than"])
_GOING_ON = words(
    "and or but nor if when while because before after unless until so then though although as than"
)
_NOT_AFTER_S = frozenset(["been", "got", "had", "become"])  # it's been: it has been


_CONTRACTED = frozenset(second for _, second in CONTRACTED)


@operator(
    "contraction",
    dimension="lexical",
    severity=0.1,
    version=2,
    preserves="yes",
    languages=("en",),
    sources=("S4",),
    example=("Do not explain what you are doing.", "Don't explain what you're doing."),
    trusted=True,
    cue=lambda draft: not _CONTRACTED.isdisjoint(draft.once(own_words)),
)
def contraction(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``do not`` becomes ``don't`` (all of them, then some); a stressed NOT stays."""
    words = draft.words
    places: list[Edit] = []
    for index, second in enumerate(words[1:]):
        if second[3] not in _CONTRACTED:
            continue
        first = words[index]
        short = CONTRACTED.get((first.lower, second.lower))
        if short is None or draft.text[first.end : second.start] != " " or second.form != second.lower:
            continue
        if places and places[-1].end > first.start:
            continue
        # "as short as it is." cannot be contracted: something must follow.
        following = draft.text[second.end : second.end + 2]
        if second.lower != "not" and not (
            following[:1] == " " and following[1:].isascii() and following[1:].isalpha()
        ):
            continue
        if second.lower != "not" and (
            (index and words[index - 1].lower in _COMPARING and words[index - 1].end + 1 == first.start)
            or (index + 2 < len(words) and words[index + 2].lower in _GOING_ON)
        ):
            continue
        if second.lower == "is" and index + 2 < len(words) and words[index + 2].lower == "not":
            continue
        places.append(
            replace(first.start, second.end, like(first.form if len(first.form) > 1 else "x", short))
        )
    return rng.all_then_some(places)


@operator(
    "expansion",
    dimension="lexical",
    severity=0.1,
    preserves="yes",
    languages=("en",),
    sources=("S4",),
    example=("Don't guess if you're unsure.", "Do not guess if you are unsure."),
    trusted=True,
    cue=lambda draft: "'" in draft.free or "’" in draft.free,
)
def expansion(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``don't`` becomes ``do not`` (all of them, then some); not in questions, where the words would have to move."""
    words = draft.words
    places: list[Edit] = []
    for index, word in enumerate(words):
        if "'" not in word.lower:
            continue
        long = EXPANDED.get(word.lower)
        following = words[index + 1].lower if index + 1 < len(words) else ""
        if long is None or (word.lower.endswith("n't") and following in _SUBJECTS):
            continue
        if word.lower.endswith("'s") and following in _NOT_AFTER_S:
            continue
        places.append(
            replace(
                word.start, word.end, like(word.form[:1] if word.form[1:2].islower() else word.form, long)
            )
        )
    return rng.all_then_some(places)


@operator(
    "spelling-variant",
    version=2,
    dimension="lexical",
    severity=0.1,
    preserves="yes",
    languages=("en", "de", "fr", "es"),
    sources=("S2", "S4"),
    example=("Summarize the color.", "Summarise the colour."),
    trusted=True,
    cue=lambda draft: draft.language != "en" or not VARIANTS.keys().isdisjoint(draft.once(own_words)),
)
def spelling_variant(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """British spelling for American and the other way (all, then some); not in data or where spelling is the topic."""
    if draft.language != "en":
        return rng.all_then_some(phrases.spelled_otherwise(draft))
    if not _SPELLINGS.isdisjoint(draft.once(own_words)):
        return iter(())
    places = [
        replace(word.start, word.end, like(word.form, VARIANTS[word.lower]))
        for word in draft.words
        if word.lower in VARIANTS and not inside(draft.once(data_spans), word.start)
    ]
    return rng.all_then_some(places)
