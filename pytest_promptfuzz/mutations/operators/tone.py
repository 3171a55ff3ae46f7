"""The same request in another tone: politeness, register, a question for an imperative."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations import abroad
from pytest_promptfuzz.mutations.casing import like
from pytest_promptfuzz.mutations.edits import Edit, edits_at, insert, replace
from pytest_promptfuzz.mutations.fields import data_spans, inside
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES, OPENERS_AFTER
from pytest_promptfuzz.mutations.lexicon.registers import Direction, has_phrases, phrases
from pytest_promptfuzz.mutations.operator import Operator, operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft, Word
    from pytest_promptfuzz.mutations.layout import Sentence
    from pytest_promptfuzz.mutations.rng import Rng


class Opening(NamedTuple):
    """A sentence that is an instruction.

    Attributes:
        sentence: The whole of it.
        verb: Its first word but ``please``.
        please: The ``please`` before it, if there is one.
    """

    sentence: Sentence
    verb: Word
    please: Word | None


def instructions(draft: Draft) -> tuple[Opening, ...]:
    """The sentences of prose, list items, fields and leads that open with an imperative."""
    words = draft.words
    found: list[Opening] = []
    index = 0
    for sentence in draft.sentences:
        index = bisect_left(words, (sentence.start,), index)
        if index == len(words):
            break
        if words[index].start != sentence.start or sentence.kind in {"heading", "field"}:
            continue
        please = None
        if words[index].lower in {"please", "kindly"} and index + 1 < len(words):
            please, index = words[index], index + 1
            if draft.text[please.end : words[index].start] != " ":
                continue
        verb = words[index]
        if verb.end > sentence.end or verb.lower not in IMPERATIVES:
            continue
        gap = draft.text[verb.end : verb.end + 2]
        after = words[index + 1] if index + 1 < len(words) else None
        adjacent = after is not None and after.start == verb.end + 1 and gap[:1] == " "
        plain = (adjacent and after is not None and after.lower in OPENERS_AFTER) or (
            gap[:1] == " " and not draft.is_free(verb.end, verb.end + 2)
        )
        if plain or please is not None:
            found.append(Opening(sentence, verb, please))
    return tuple(found)


def addressed(draft: Draft) -> tuple[Opening, ...]:
    """Those of the instructions that do not stand in data."""
    data = draft.once(data_spans)
    return tuple(each for each in draft.once(instructions) if not inside(data, each.verb.start))


def lowered(word: Word) -> str:
    """The word with a small initial, unless it is a shout."""
    return word.lower if word.form[1:] == word.lower[1:] else word.form


@operator(
    "politeness",
    dimension="semantic",
    severity=0.3,
    version=2,
    preserves="yes",
    languages=("en", *abroad.LANGUAGES),
    sources=("S2", "S5"),
    example=("Classify the ticket.", "Please classify the ticket."),
    trusted=True,
)
def politeness(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``Please`` put before an instruction, or taken away (one instruction in three)."""
    if draft.language != "en":
        return rng.draws(abroad.requests(draft), 0.34)

    def turned(each: Opening) -> Edit | None:
        verb = each.verb
        if each.please is not None:
            return replace(each.please.start, verb.end, like(each.please.form, verb.form))
        if verb.form[1:] != verb.lower[1:]:
            return None
        word = rng.choice(("please", "please", "kindly"))
        return replace(verb.start, verb.end, f"{like(verb.form, word)} {lowered(verb)}")

    return edits_at(rng.draws(draft.once(addressed), 0.34), turned)


@operator(
    "formality",
    dimension="semantic",
    severity=0.4,
    version=3,
    preserves="yes",
    languages=("en",),
    sources=("S2", "S5"),
    example=("You need to answer.", "You are required to answer."),
    trusted=True,
    cue=lambda draft: has_phrases(draft, "other"),
)
def formality(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Formal phrases made casual and casual ones formal (all of them, then some)."""
    return rng.all_then_some(phrases(draft, "other"))


def _opened(draft: Draft, direction: Direction) -> list[tuple[Opening, tuple[str, ...]]]:
    """The instructions in prose that may be opened in a register, and how."""
    from pytest_promptfuzz.mutations.lexicon.tones import CASUAL_OPENINGS, FORMAL_OPENINGS

    ways = FORMAL_OPENINGS if direction == "formal" else CASUAL_OPENINGS
    return [
        (each, ways)
        for each in draft.once(addressed)
        if each.sentence.kind == "prose"
        and each.verb.form[1:] == each.verb.lower[1:]
        and each.verb.lower != "note"
    ]


def _in_register(draft: Draft, rng: Rng, direction: Direction) -> Iterator[list[Edit]]:
    """Proposals in one register: all its phrases, then an instruction opened its way, with some of the phrases."""
    places = phrases(draft, direction)
    if places:
        yield rng.some(places, 1.0)
    opened = _opened(draft, direction)
    while opened or len(places) > 1:
        edits = rng.some(places, 0.5) if places and (not opened or rng.below(2)) else []
        if opened:
            opening, ways = rng.choice(opened)
            start = (opening.please or opening.verb).start
            if not any(each.start < opening.verb.end and start < each.end for each in edits):
                text = f"{rng.choice(ways)} {lowered(opening.verb)}"
                edits = sorted([*edits, replace(start, opening.verb.end, text)])
        yield edits


@operator(
    "formal",
    dimension="semantic",
    severity=0.4,
    version=2,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S5"),
    example=("Make sure that the label is right.", "Ensure that the label is right."),
    trusted=True,
    default=False,
)
def formal(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Casual phrases or an instruction made formal (all phrases, then some); generation may take on the tone.

    The answer stays as it is for labels and extraction; so it does with the other tones.
    """
    return _in_register(draft, rng, "formal")


@operator(
    "casual",
    dimension="semantic",
    severity=0.4,
    version=2,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S5"),
    example=("Ensure that the label is right.", "Make sure that the label is right."),
    trusted=True,
    default=False,
)
def casual(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Formal phrases or an instruction made casual (all phrases, then some); generation may take on the tone."""
    return _in_register(draft, rng, "casual")


_POINTING = expression(r"\b(?:following|below|next|this|these|here)\b", re.IGNORECASE | re.ASCII)


def _borders(draft: Draft) -> list[tuple[int, bool]]:
    """Where a sentence may be put beside an instruction in prose: the position, and whether it comes after."""
    found: list[tuple[int, bool]] = []
    free = draft.free
    for each in draft.once(addressed):
        start, end, _, kind = each.sentence
        if kind not in {"prose", "lead"}:
            continue
        found.append((start, False))
        if _POINTING.search(free, start, end):
            continue  # "Translate the following text.": what stands after it would be taken for that
        if kind == "prose" and free[end - 1] in ".!" and free[end : end + 1] in {"", " ", "\n", "\r"}:
            found.append((end, True))
    return found


def _remark(name: str, what: str, example: str) -> Operator:
    """The operator that puts a sentence of a tone before or after an instruction."""

    def propose(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        from pytest_promptfuzz.mutations.lexicon.tones import REMARKS

        before, after = REMARKS[name]
        borders = _borders(draft)
        while borders:
            position, follows = rng.choice(borders)
            yield [insert(position, f" {rng.choice(after)}" if follows else f"{rng.choice(before)} ")]

    return operator(
        name,
        dimension="semantic",
        severity=0.3,
        preserves="conditional",
        languages=("en",),
        sources=("S2",),
        summary=f"{what} beside an instruction in prose (one); generation may take on the tone.",
        example=("Classify the ticket.", example),
        trusted=True,
        default=False,
    )(propose)


urgency = _remark("urgency", "A sentence that says it is urgent,", "Classify the ticket. This is urgent.")
enthusiasm = _remark("enthusiasm", "An excited sentence", "This is going to be great! Classify the ticket.")
apologetic = _remark("apologetic", "An apology for asking,", "Sorry to bother you. Classify the ticket.")


@operator(
    "neutral",
    dimension="semantic",
    severity=0.2,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S5"),
    example=("Please classify the ticket. Thank you!", "Classify the ticket."),
    trusted=True,
    default=False,
)
def neutral(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Please, thanks and exclamation marks taken out (all of them, then some); generation may take on the tone."""
    return rng.all_then_some(sorted(_pleases(draft) + _thanks(draft)))


def _pleases(draft: Draft) -> list[Edit]:
    """Every ``please`` before an instruction taken away."""
    return [
        replace(each.please.start, each.verb.end, like(each.please.form, each.verb.form))
        for each in draft.once(addressed)
        if each.please is not None
    ]


def _thanks(draft: Draft) -> list[Edit]:
    """Sentences of thanks taken away, and exclamation marks after instructions turned into full stops."""
    from pytest_promptfuzz.mutations.lexicon.tones import THANKS

    found: list[Edit] = []
    data = draft.once(data_spans)
    asking = {each.sentence.start for each in draft.once(addressed)}
    free = draft.free
    before: Sentence | None = None
    for each in draft.sentences:
        previous, before = before, each
        text = free[each.start : each.end]
        if each.start in asking:
            if text[-1] == "!" and text[-2].isascii() and text[-2].isalpha():
                found.append(replace(each.end - 1, each.end, "."))
        elif (
            previous is not None
            and previous.paragraph == each.paragraph
            and text.lower().rstrip(".! ") in THANKS
            and not inside(data, each.start)
        ):
            found.append(replace(previous.end, each.end, ""))
    return found
