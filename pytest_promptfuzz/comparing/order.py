"""The same words in another order: which of these say the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.long import shared_ends
from pytest_promptfuzz.comparing.tokens import canonical_words
from pytest_promptfuzz.comparing.words import stem, stem_set
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.text import Text

_LINKS = frozenset({"and", "or"})
_MOVES = word_set("in on at by during after before when while because since if once as to for with and or")


def rotated(one: list[str], two: list[str]) -> bool:
    """Whether one block moved past another, as "on Sunday we rest" and "we rest on Sunday".

    Both texts must have the same words; what moved begins with a word that a phrase or a clause begins with, or is
    a single word of time, so that no subject can have become an object.
    """
    if len(one) != len(two):
        return False
    start, end = shared_ends(one, two)
    a, b = one[start : len(one) - end], two[start : len(two) - end]
    turns = {*_LINKS, *b[:1]}
    for size, word in enumerate(a):
        if word not in turns or not size:
            continue
        if word == b[0] and a[size:] + a[:size] == b:
            heads = a[0], word
            return bool(_MOVES & set(heads)) or (
                min(size, len(a) - size) == 1 and bool(_TIMES & {a[0], a[-1]})
            )
        # "X and Y" against "Y and X"
        if word in _LINKS and [*a[size + 1 :], word, *a[:size]] == b:
            return True
    return False


def parts_moved(pair: Pair) -> bool:
    """Whether the same clauses or list items stand in another order, in a text whose order is not a sequence."""
    if pair.a.once(_sequential) or pair.a.once(ordered):
        return False
    one, two = pair.a.once(_joined), pair.b.once(_joined)
    start, end = shared_ends(one, two)
    if not any(
        _clauses(one[first : len(one) - last]) == _clauses(two[first : len(two) - last])
        for last in (end, _to_joiner(one, end))
        for first in range(start, max(-1, start - _LEAD), -1)
    ):
        return False
    return not _bound_together(pair) or pair.a.once(_whole) == pair.b.once(_whole)


def ordered(text: Text) -> bool:
    """Whether a text gives steps one sentence each, or says who came first: its order is part of what it says."""
    return bool(_ORDERLY.search(text.clean)) or _steps(text)


def _steps(text: Text) -> bool:
    heads = [words[0] for sentence in text.sentences if (words := sentence.lower().split())]
    return len(heads) > 1 and sum(stem(head) in IMPERATIVES for head in heads) * 2 > len(heads)


_ORDERLY = expression(
    r"\bin (?:this|that|the following|the given|exactly this|descending|ascending) order\b|\bpodium\b"
    r"|\b(?:finished|arrived|ranked|came in|placed)\b[^.]{0,30}\border\b"
    r"|\b(?:fast|slow|tall|small|short|long|large|bigg|high|low|cheap|old|young|strong|earli|clos|near|great|rich|bus|b)i?est"
    r"\b(?: [\w']+){0,3} (?:were|are|:)",
    re.IGNORECASE,
)
"""What ranks, with what follows or stands before it."""


def _sequential(text: Text) -> bool:
    """Whether a text says that its order matters."""
    return bool(_SEQUENCE.search(text.clean) or _STEPS.search(text.raw) or _RANKED.match(text.clean)) or (
        "\n" in text.clean and _tells_what_to_do(text)
    )


def _tells_what_to_do(text: Text) -> bool:
    """Whether most lines begin with what is to be done: steps, though no number says so."""
    lines = [
        line.split() for line in text.clean.lower().splitlines() if line.strip() and not line.endswith(":")
    ]
    return len(lines) > 1 and sum(stem(line[0]) in IMPERATIVES for line in lines) * 2 > len(lines)


IMPERATIVES = stem_set(
    """chop fry mash peel roast season slice spread sprinkle toss add adjust allow apply attach bake beat begin
    boil bring browse build call check choose clean clear click close combine configure connect cook cool
    copy create cut delete disconnect download drag drain drop enable enter fill find fold follow go heat
    hold insert install keep launch leave let lift log mix move navigate open paste place plug pour preheat
    press pull push put reboot remove repeat replace restart rinse run save scroll select send serve set sign
    simmer start stir stop submit switch take tap test tighten turn type unplug unscrew update upload use
    verify wait wash whisk wipe write mount lower raise loosen"""
)
"""What steps begin with."""

_LEAD = 3
"""Words that items may begin with alike, as "red wine" and "red beer" do."""


def _to_joiner(tokens: list[str], end: int) -> int:
    """How many tokens stand behind the clause that the last ``end`` tokens begin in."""
    while end and tokens[-end] not in _JOINERS:
        end -= 1
    return end


def _joined(text: Text) -> list[str]:
    """The tokens of a text, its clauses and items joined by "and"."""
    clean = text.clean
    # "Shopping list: eggs, flour" begins a list; where there are several such heads, each has its own.
    if clean.count(": ") == 1 and clean.find(": ") < clean.find(","):
        clean = clean.replace(": ", " and ")
    return canonical_words(_JOINT.sub(" and ", clean))


def _whole(text: Text) -> list[tuple[str, ...]]:
    """The sentences, in no order: what a sentence binds together stays together."""
    return sorted(tuple(each for each in part.tokens if each not in _JOINERS) for part in text.parts)


def _bound_together(pair: Pair) -> bool:
    """Whether clauses belong to their neighbours: "if it rains, we stay", "Ana, the cook, and Ben, the guide"."""
    here, there = set(pair.a.sentences), set(pair.b.sentences)
    return any(_BINDING.search(sentence) for sentence in here ^ there)


_BE = word_set("is are was were be been being get gets got")


def voiced(pair: Pair) -> bool:
    """Whether statements stand in the passive that stand in the active elsewhere, each party in its own part.

    "The vet examined the dog" and "the dog was examined by the vet", but not "the vet was examined by the dog".
    """
    if sorted(pair.a.content) != sorted(pair.b.content):
        return False
    turned = False
    for side in pair.sides:
        if side.a.content == side.b.content:
            continue
        if not _one_voiced(side):
            return False
        turned = True
    return turned


def _one_voiced(side: Pair) -> bool:
    one, two = side.a.tokens, side.b.tokens
    if one.count("by") == two.count("by"):
        return False
    active, passive = (two, one) if one.count("by") > two.count("by") else (one, two)
    for at, word in enumerate(passive):
        if word != "by" or not at or passive[at - 1] not in active:
            continue
        begin = next(
            (index for index in range(at - 2, max(-1, at - _AUXILIARY), -1) if passive[index] in _BE), None
        )
        if begin is None:
            continue
        verb = active.index(passive[at - 1])
        agent = next((each for each in passive[at + 1 :] if each not in lexicon.FUNCTION_WORDS), None)
        patient, target = _meaning(passive[:begin]), _meaning(active[verb + 1 :])
        if not target or target[0] not in patient:
            return False
        patient = patient[patient.index(target[0]) :]
        return agent in active[:verb] and patient == target[: len(patient)]
    return False


def _meaning(tokens: list[str]) -> list[str]:
    return [token for token in tokens if token not in lexicon.FUNCTION_WORDS]


_AUXILIARY = 5
"""Words between "by" and the form of "be" before it: "has been partly closed by"."""


def _clauses(tokens: list[str]) -> list[str]:
    """The clauses between joining words, each with its words of meaning, in no order."""
    kept = ["|" if token in _JOINERS else token for token in tokens if token not in _UNHEARD]
    return sorted(filter(None, [clause.strip() for clause in " ".join(kept).split("|")]))


_JOINT = expression(r"[,;.!?\n](?:(?<=\n)\n*|(?<!\n)(?=\s))")
_BINDING = expression(
    r"\b(?:if|when|whenever|unless|while|whereas|where|respectively|wenn|falls|während|si|cuando|quand|se|als"
    r"|because|since|although|though|whereas|therefore|weil|obwohl|parce que|puisque|porque|perché|omdat)\b"
    r"|,\s(?:the|our|his|her|their|its|my|your|an?)\s[^,;.!?\n]{1,40},\s(?:and\s)?[^,;.!?\n]{1,40},\s(?:the|our|his|her|their|its|my"
    r"|your|an?)\s|[;,]\s[^,;.!?\n]{1,60}:\s",
    re.IGNORECASE,
)
_RANKED = expression(
    r"[^:\n]{0,80}\b(?:rank(?:s|ed|ings?)?|(?:in|by) (?:\w+ ){0,2}order|order of|priorit(?:y|ies)|routes?|stops?"
    r"|itinerary|steps|sequence|queue|standings|podium|timeline|chronolog\w+|schedule|places?|procedure|path|reihenfolge"
    r"|rangliste"
    r"|classement|clasificación|classifica)\b[^:\n]{0,40}:\s",
    re.IGNORECASE,
)
"""What a list in a certain order begins with: "Ranking:"."""
_JOINERS = frozenset({"and", "or", "but"})
_UNHEARD = lexicon.FUNCTION_WORDS - _JOINERS
_SEQUENCE = expression(
    r"(?:\A|[.!?;:,\n]\s*|\band\s+)(?:first(?!-|\s+(?:\w+day|aid|class|floor|name|prize)\b)|firstly|next|second|secondly|third|finally|last|lastly|afterwards"
    r"|now)\b|\b(?:before|after|then)\b",
    re.IGNORECASE,
)
_STEPS = expression(r"^[ \t]*\d+[.)]", re.MULTILINE)
_TIMES = word_set(
    "yesterday today tomorrow now then soon later daily usual often always here there first final"
)
