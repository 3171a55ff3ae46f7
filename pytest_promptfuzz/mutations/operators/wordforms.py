"""Words split, merged, dropped and abbreviated."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations import abroad
from pytest_promptfuzz.mutations.casing import capitalised
from pytest_promptfuzz.mutations.edits import Edit, edits_at, insert, replace
from pytest_promptfuzz.mutations.lexicon.sparing import (
    binds,
    hittable,
    is_known,
    own_words,
    readable_words,
)
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.operator import operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft, Word
    from pytest_promptfuzz.mutations.rng import Rng

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


@operator(
    "abbreviation",
    dimension="lexical",
    severity=0.2,
    preserves="yes",
    languages=("en", *abroad.LANGUAGES),
    sources=("S2", "NL-Augmenter"),
    example=("Give more information.", "Give more info."),
    trusted=True,
    default=False,
)
def abbreviation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Words and phrases abbreviated (``info``, ``approx.``, ``ASAP``): all, then some; not where a field is named."""
    from pytest_promptfuzz.mutations.lexicon.shortening import abbreviated

    return rng.all_then_some(abbreviated(draft) if draft.language == "en" else abroad.abbreviated(draft))


@operator(
    "unabbreviation",
    version=3,
    dimension="lexical",
    severity=0.2,
    preserves="conditional",
    languages=("en", *abroad.LANGUAGES),
    sources=("S2", "NL-Augmenter"),
    example=("Give more info.", "Give more information."),
    trusted=True,
    default=False,
)
def unabbreviation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Abbreviations with one meaning spelt out (``info``, ``FAQ``): all, then some; not where a field is named."""
    from pytest_promptfuzz.mutations.lexicon.shortening import unabbreviated

    return rng.all_then_some(unabbreviated(draft) if draft.language == "en" else abroad.spelt_out(draft))
