"""Where a prompt's words can be abbreviated or spelt out, and what then stands there."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.casing import capitalised, like
from pytest_promptfuzz.mutations.edits import Edit, replace
from pytest_promptfuzz.mutations.fields import data_spans, inside
from pytest_promptfuzz.mutations.lexicon.abbreviations import ABBREVIATED, UNABBREVIATED
from pytest_promptfuzz.mutations.lexicon.sparing import naming_words, own_words
from pytest_promptfuzz.mutations.lexicon.table import words

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.draft import Draft, Word

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
