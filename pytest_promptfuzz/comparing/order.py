"""The same words in another order: which of these say the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.long import shared_ends
from pytest_promptfuzz.comparing.tokens import canonical_words
from pytest_promptfuzz.comparing.words import stem, stem_set
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.text import Text


def parts_moved(pair: Pair) -> bool:
    """Whether the same clauses or list items stand in another order, in a text whose order is not a sequence."""
    if tells_by_order(pair.a):
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


def tells_by_order(text: Text) -> bool:
    """Whether the order of a text's clauses and items is part of what it says."""
    return text.once(_sequential) or text.once(ordered)


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
