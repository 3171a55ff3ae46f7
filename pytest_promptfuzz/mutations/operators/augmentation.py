"""Text put beside the task: a persona, an appeal, context that explains or does no harm.

No sentence here asks for anything, names a number, a person or a label, or speaks of the form of the answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.edits import Edit, insert
from pytest_promptfuzz.mutations.formats_place import beginning, instructions_end
from pytest_promptfuzz.mutations.operator import operator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.rng import Rng

_PERSONAS = (
    "You are a careful assistant with years of experience.",
    "You are an experienced professional who works with great care.",
    "You are a knowledgeable assistant.",
    "You are a diligent expert in this kind of task.",
    "You are a seasoned specialist who reads closely.",
    "You are a helpful assistant with a keen eye for detail.",
    "You are a thoughtful professional.",
    "You are a skilled and dependable assistant.",
    "You are an attentive colleague with a thorough grasp of the subject.",
    "You are a conscientious expert.",
    "You are a capable assistant who follows instructions closely.",
    "You are a reliable specialist in the field.",
    "You are a trained professional with sound judgement.",
    "You are a patient and precise assistant.",
)
_APPEALS = (
    "This is very important to my career.",
    "My team is counting on this.",
    "This matters a great deal to me.",
    "I would be truly grateful for your best effort.",
    "A lot depends on getting this right.",
    "I believe in your abilities.",
    "Take pride in your work and give it your best.",
    "Your help means a lot to me.",
    "I am really worried about making a mistake here.",
    "Your careful work makes a real difference.",
    "I trust you with this.",
    "This has been on my mind for days.",
    "It would make my day if this went well.",
    "I know that you can do this well.",
)
_EXPLANATIONS = (
    "This request is part of a routine check of our process.",
    "The result is kept for our records.",
    "We go through many cases of this kind in our daily work.",
    "This is one step of a larger workflow.",
    "The outcome is used by our internal team.",
    "We do this regularly to keep an overview.",
    "This helps our team with its everyday work.",
    "The task comes from a project that we have been running for a while.",
    "The material was collected in the course of normal business.",
    "A colleague set up this task some time ago.",
    "The work serves our ordinary operations.",
    "This is a standard step in how we handle such material.",
    "We use this as part of our usual procedure.",
    "The purpose is to support our staff.",
)
_ASIDES = (
    "The plants in the lobby were watered this morning.",
    "It rained a little during the night.",
    "The kitchen upstairs has a new kettle.",
    "A bicycle leans against the fence outside.",
    "The corridor was painted in a pale shade of green.",
    "Somebody left an umbrella by the door.",
    "The lift makes a soft humming sound.",
    "There is a bowl of apples on the windowsill.",
    "The curtains on the upper floor are made of linen.",
    "A pigeon has settled on the roof across the street.",
    "The clock in the hall was wound yesterday.",
    "The garden behind the house is full of lavender.",
    "The library nearby closes early on holidays.",
    "A wooden bench stands beside the pond.",
    "The choir rehearses in the old barn.",
    "Fresh bread was delivered to the canteen.",
    "The hedge along the path was trimmed lately.",
    "A tram passes the corner every now and again.",
)
_HAS_PERSONA = expression(
    r"\b(?:you are an? |you['’]re an? |you are the |act as|acting as|pretend|imagine|assume the role|play the role"
    r"|your role|persona|role-?play|i want you to be|as an? [\w -]{0,30}(?:expert|professional|specialist|assistant"
    r"|editor|lawyer|doctor|engineer|teacher|analyst|agent|writer|translator)|you are (?-i:[A-Z]))|^\W*role\b",
    re.IGNORECASE | re.MULTILINE,
)
_HAS_APPEAL = expression(
    r"\b(?:important to (?:me|my|us|our)|my career|counting on|depends on|grateful)\b", re.IGNORECASE
)
_MINDS_ASIDES = expression(
    r"\b(?:irrelevant|relevant|unrelated|off[- ]topic|belongs?|distract\w*|odd one|noise|every sentence|each sentence"
    r"|first sentence|how many)\b",
    re.IGNORECASE,
)
_LONG_WORD = expression(r"[a-z]{4,}")


def _chosen(sentences: Sequence[str], rng: Rng) -> Iterator[str]:
    """One sentence after another in a random order; several at a time when an intensity is set."""
    if rng.intensity is None:
        yield from rng.shuffled(sentences)
        return
    while sentences:
        yield " ".join(rng.some(sentences, 0.0))


def _before(draft: Draft, rng: Rng, sentences: Sequence[str]) -> Iterator[list[Edit]]:
    at, joint = beginning(draft)
    for each in _chosen(sentences, rng):
        yield [insert(at, each + joint)]


@operator(
    "persona",
    dimension="augmentation",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S4",),
    example=("Classify the ticket.", "You are a knowledgeable assistant. Classify the ticket."),
    trusted=True,
    default=False,
)
def persona(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A sentence that gives the model a role is put first, if the prompt gives none; labels and extracted facts stay.

    The intensity is how many sentences; one by default.
    """
    if _HAS_PERSONA.search(draft.text) is None:
        yield from _before(draft, rng, _PERSONAS)


@operator(
    "emotion-prompt",
    dimension="augmentation",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S4",),
    example=("Classify the ticket.", "Classify the ticket. This is very important to my career."),
    trusted=True,
    default=False,
)
def emotion_prompt(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """An appeal to feelings is added after the instructions, if there is none; labels and extracted facts stay.

    The intensity is how many sentences; one by default.
    """
    if _HAS_APPEAL.search(draft.text) is not None:
        return
    place = instructions_end(draft)
    if place is None:
        return
    for each in _chosen(_APPEALS, rng):
        yield [place.added(each)]


@operator(
    "explanatory-context",
    dimension="augmentation",
    severity=0.4,
    preserves="conditional",
    relation="not-worse",
    languages=("en",),
    sources=("S4",),
    example=("Classify the ticket.", "This is one step of a larger workflow. Classify the ticket."),
    trusted=True,
    default=False,
)
def explanatory_context(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A sentence that says what the task is for is put first.

    The intensity is how many sentences; one by default.
    """
    yield from _before(draft, rng, _EXPLANATIONS)


@operator(
    "irrelevant-context",
    dimension="augmentation",
    severity=0.5,
    preserves="conditional",
    relation="not-worse",
    languages=("en",),
    sources=("S4", "NL-Augmenter"),
    example=("Classify the ticket.", "It rained a little during the night. Classify the ticket."),
    trusted=True,
    default=False,
)
def irrelevant_context(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A harmless sentence that shares no word with the prompt is put first, unless the prompt is about relevance.

    The intensity is how many sentences; one by default.
    """
    if _MINDS_ASIDES.search(draft.text) is not None:
        return
    known = set(_LONG_WORD.findall(draft.text.lower()))
    yield from _before(
        draft, rng, [each for each in _ASIDES if known.isdisjoint(_LONG_WORD.findall(each.lower()))]
    )
