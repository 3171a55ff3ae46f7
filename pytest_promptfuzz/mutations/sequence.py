"""Where the order of a prompt's parts counts: what speaks of it, and steps that build on one another.

In doubt it counts: a list that stays as it is costs a mutation, one that should have stayed costs a right answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.said import heard

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.mutations.draft import Draft

# "the first one", "listed last". What an ordinal says of anything but the prompt's parts stands behind or before it.
_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|penultimate|former|latter"
    r"|\d{1,2}(?:st|nd|rd|th))"
)
_OTHERS = r"""
names? persons? glance glimpse sight languages? aid class hand times? half quarter year week weekend night month
days? century decade hour minute monday tuesday wednesday thursday friday saturday sunday drafts? impressions? lady
grade graders? floor edition cousin words? letters? characters? sentences? paragraphs? lines? pages? world war
amendment degree thoughts? opinions? chance resort breath will mile date version answer reply response output report
verdict decision product result score say call part(?:y|ies) rate nature \d+ few couple seen login visit payment
contact orders? invoice email mail message update price quality moves? used mention occurrence appearance
"""
_OF_OTHER_THINGS = (
    rf"(?![ -](?:{'|'.join(_OTHERS.split())}|of all|and foremost)\b"
    r"(?! (?:of|in|on|from) (?:the|this|that|these) (?:lists?|above|below)\b))"
    r"(?!-(?:ever|born|gen|come|ditch))(?!,? (?:and|or) last names?\b)"
)
_BEFORE_OTHERS = (
    r"(?<!\bat )(?<!\bper )(?<!\ba )(?<!\bsplit )(?<!\bevery )(?<!\d )(?<!\d-)(?<!\bin the )(?<!est )"
    r"(?<!\bone (?=third))"
)
# What a word such as "highest" or "earlier" is said of.
_PART = (
    r"(?:ones?|items?|entr(?:y|ies)|categor(?:y|ies)|labels?|options?|class(?:es)?|rules?|tags?|choices?|elements?"
    r"|bullets?|points?|rows?|candidates?|criteri(?:on|a)|conditions?|instructions?|guidelines?|topics?|queues?|teams?"
    r"|match(?:es|ing)?|applicable|suitable|fitting|appropriate|listed|named|mentioned|in the list|on the list|that"
    r"|which|wins?|of (?:the|these|those|them|all))"
)
_PLACED = r"(?:listed|named|mentioned|given|stands?|standing|comes?|coming|appears?|appearing|placed|is|are)"

_SPOKEN = (
    rf"(?={_ORDINAL}\b){_BEFORE_OTHERS}{_ORDINAL}{_OF_OTHER_THINGS}",
    r"(?:top|bottom|upper|lower)[- ]?most\b",
    r"top[- ](?:to[- ]bottom|down)\b",
    (
        r"(?:the|from|at|on|to|nearest|closest) (?:very )?(?:top|bottom)\b"
        r"(?! of (?:the|your|its|a|each) (?:answers?|repl(?:y|ies)|response|output|page|mail|e-?mail|letter|document"
        r"|text)|,? of (?:that|this|it)\b| (?:\d|two|three|five|ten\b))"
    ),
    rf"(?:highest|lowest|uppermost|higher|lower|upper|earliest|earlier|latest|later|next|previous|preceding) {_PART}\b",
    r"(?:highest|lowest|earlier|later|higher|lower)(?=\s*(?:[.!;]|$|wins?\b|takes?\b))",
    (
        rf"{_PLACED} (?:\w+ )?(?:above|before|after|below|earlier|later|earliest|latest|higher|highest|lower|lowest)"
        rf" (?:it|them|the others?|others?|another|in the list|on the list|up|down|{_PART})\b"
    ),
    (
        rf"{_PLACED} (?:earlier|later|earliest|latest|higher|highest|lowest)"
        r"(?= (?:wins?|takes?|counts?|applies)\b|\s*[.,;:])"
    ),
    r"(?:higher|further|farther) up\b|(?:lower|further|farther) down\b|(?:down|up|through) (?:the|this) list\b",
    (
        r"precede(?:nce|s)?\b|(?:by|in|of|descending|ascending|decreasing|increasing|falling|rising)"
        r" (?:\w+ )?(?:priority|importance|preference|rank|relevance)\b"
    ),
    r"(?:takes?|has|have|gets?|given|with) (?:the )?(?:priority|higher priority|highest priority) over\b",
    r"prioriti[sz]ed\b|priority (?:order|list)\b|outranks?\b",
    r"(?:a|de)scending\b|(?:sorted|ranked|ordered|arranged|listed) (?:by|from|in|according|starting|so)\b",
    r"in turn\b|one by one\b|one after (?:the other|another)\b|one at a time\b|sequen(?:ce|tial(?:ly)?)\b",
    r"(?:until|as soon as) (?:one|any|you find|there is a match|something)\b|stop(?:ping)? (?:at|with|as soon|when) ",
    r"(?:is|are) (?:ranked|sorted|ordered)\b|sooner\b|backwards?\b|in reverse\b|every other\b",
    r"(?:middle|end|beginning|start) of (?:the|this) list\b|number in the list\b",
    (
        r"(?:comes?|stands?|named|listed|mentioned) (?:\w+ )?(?:before|after|next)\b"
        r"|which (?:one |item |of (?:these|them) )?(?:follows|precedes)\b"
    ),
    r"(?:options?|items?|category|categories|entry|label|bullet|point|number|rules?) (?:\d|one\b|two\b|three\b)",
    # "order": not what somebody bought, and not "in order to".
    (
        r"(?=order\b)(?<!\bmy )(?<!\byour )(?<!\ban )(?<!\bhis )(?<!\bher )(?<!\btheir )(?<!\bour )(?<!'s )"
        r"(?<!\beach )(?<!\bevery )(?<!\bany )(?<!\blast )"
        r"(?<!\bno )(?<!\bpurchase )(?<!\bcustomer )(?<!\bcourt )(?<!\bnew )(?<!\bto )(?<!\bone )(?<!\bword )"
        r"order\b(?! (?:to|that|numbers?|ids?|status|dates?|details|totals?|form|history|confirmation|has|was|is late"
        r"|arrived|placed|by (?:phone|mail)|from|for|data|value|amount)\b)(?!s?[ ]?#)"
    ),
    # The answer names a place in the list.
    r"positions? (?:of|in|on|within|\()|(?:its|their|the) position\b|(?:its|their) index\b",
    rf"(?:letter|number|index|place) of (?:the|your|its|each|that) (?:\w+ )?{_PART}\b",
)
_ABROAD = (
    # German
    (
        r"(?:erst|zweit|dritt|viert|letzt|oberst|unterst|vorderst|früher|höchst|vorherig)(?:e[rnms]?)\b"
        r"|(?:zuerst|zuletzt|nacheinander|reihenfolge|rangfolge|vorrang"
        r"|absteigend\w*|aufsteigend\w*"
        r"|sortiert\w*)\b"
        r"|(?:von|weiter|ganz) (?:oben|unten)\b|der reihe nach\b"
        r"|(?:nach|absteigender|fallender) (?:priorität|wichtigkeit)\b"
    ),
    # French
    (
        r"(?:premi(?:er|ère)s?|deuxième|second(?:es?|s)|troisième|derni(?:er|ère)s?|ordre|décroissant\w*|croissant\w*"
        r"|trié\w*|précéden\w+)\b|de haut en bas\b|(?:plus|tout) (?:haut|bas)\b|(?:par|de) priorité\b|prioritaire\w*\b"
    ),
    # Spanish
    (
        r"(?:primer[oa]?s?|segund[oa]s?|tercer[oa]?|últim[oa]s?|orden|descendente|ascendente|decreciente|creciente"
        r"|ordenad[oa]s?|anterior(?:es)?)\b|de arriba\b|más (?:arriba|abajo)\b|(?:por|tienen?) prioridad\b"
    ),
    # Italian
    (
        r"(?:prim[oai]|le prime|terz[oa]|ultim[oaie]|ordine|decrescente|crescente|ordinat[oaie]|precedent[ei])\b"
        r"|(?:il|la) second[oa]\b|dall[’']alto\b|più in (?:alto|basso)\b"
        r"|(?:per|in ordine di|ha(?:nno)?(?: la)?) priorità\b"
    ),
    # Dutch
    (
        r"(?:eerste|tweede|derde|laatste|bovenste|onderste|hoogste|vroegste|volgorde|voorrang|aflopend\w*|oplopend\w*"
        r"|gesorteerd\w*)\b|van boven\b|om de beurt\b|één voor één\b|op prioriteit\b|het eerst\b"
    ),
    # Portuguese
    (
        r"(?:primeir[oa]s?|terceir[oa]|últim[oa]s?|ordem|decrescente|crescente|ordenad[oa]s?)\b|(?:o|a) segund[oa]\b"
        r"|de cima\b|mais (?:acima|abaixo)\b|(?:por|têm|tem) prioridade\b"
    ),
)
# In lower case: an expression that folds case is many times slower.
_TELLS = expression(rf"\b(?:{'|'.join((*_SPOKEN, *_ABROAD))})", re.MULTILINE)
# What is told of instructions rather than of the items of a list. A text without the words that tell of an order, or
# without those that name instructions, tells nothing.
_INSTRUCTIONS = r"(?:instructions?|rules?|guidelines?|commands?|requests?|requirements?|directions?)"
_OBEYED_IN_ORDER = expression(
    rf"\b(?:{_ORDINAL}|earlier|later|topmost|highest|next|previous|preceding) (?:\w+ )?{_INSTRUCTIONS}\b"
    rf"|\b{_INSTRUCTIONS} (?:\w+ ){{0,4}}(?:one by one|in turn|one after|from top"
    rf"|{_ORDINAL}\b(?! (?:name|person|line)))"
    r"|\bin (?:exactly |just )?(?:(?:this|that)(?: exact)?"
    r"|the (?:given|same|following|stated|listed|exact|above)) order\b"
    r"|\bin the order (?:given|listed|stated|shown|below|above|they (?:are|stand|come|appear))\b"
    rf"|\border (?:of|in which) (?:\w+ ){{0,2}}{_INSTRUCTIONS}\b",
    re.IGNORECASE,
)
_NAMED = words(
    """
    instruction instructions rule rules guideline guidelines command commands request requests requirement requirements
    direction directions
    """
)
_ORDERING = words(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth last penultimate former latter st nd rd th earlier
    later topmost highest next previous preceding one turn top
    """
)
_OPERATIONS = words(
    """
    add append calculate capitalise capitalize change compute concatenate convert count cube cut decode decrement deduct
    delete discard divide double drop duplicate encode encrypt erase exchange filter flip halve increment insert invert
    join lowercase merge move multiply negate normalise normalize prepend raise remove rename repeat replace reverse
    rotate round scale shift sort split square strip substitute subtract sum swap translate transpose trim triple
    truncate turn uppercase
    """
)
# Mostly they say how to write; with these words behind them they pick what is worked on further.
_PICKING = words("keep take extract select collect")
_PICKED = words("all any each every only just those the")
_OPENERS = words("please kindly you should must always also now then to have need will and")
_NOTHING = words("no nothing none neither")
_RULE_OBJECTS = words("answer answers reply replies response tone style language summary")


# "Read the text first.", "First, read it.": that is told of reading, and of no list unless it stands in one.
_READ = r"(?:(?:re-?)?read|skim|study|think|reflect|look)"
_READS = expression(rf"(?:^|[.!?;:,]|\b(?:please|and|must|should)) ?{_READ}\b([^.!?;:]*)$")
_IS_READ = expression(rf",? {_READ}\b([^.!?;:]*)")
_THEN = expression(r"(?: (?:and|before|then|so)\b[^.!?;:,]*)?(?=[.!?;:,\n]|$)")
_LISTED = expression(rf"\b(?:{_PART}|lists?|documents?|passages?|sources?|examples?)\b")
_MARKER = expression(r"[ \t]*(?:[-*•–+]|\(?(?:\d{1,3}|[a-z])[.)])[ \t]")
_NEAR = 120  # characters before and after that are read


def tells_order(text: str) -> bool:
    """Whether a text speaks of the order of its parts, of which comes first, or of one's place among them."""
    lowered = text.lower()
    return any(
        match[0] != "first" or not _of_reading(lowered, *match.span()) for match in _TELLS.finditer(lowered)
    )


def _of_reading(text: str, start: int, end: int) -> bool:
    """Whether the ``first`` at ``[start, end)`` says when something is read, outside a list, and of no part of one."""
    line = text.rfind("\n", 0, start) + 1
    if _MARKER.match(text, line) is not None:
        return False
    before = text[max(line, start - _NEAR) : start].rstrip()
    opens = not before or before[-1] in ".!?"
    then = _IS_READ.match(text, end, end + _NEAR) if opens else _THEN.match(text, end, end + _NEAR)
    read = then if opens else _READS.search(before)
    return then is not None and read is not None and _LISTED.search(read[1] + then[0]) is None


def order_counts(draft: Draft) -> bool:
    """Whether a prompt speaks of an order of its items anywhere. Ask for it with ``draft.once(order_counts)``."""
    return tells_order(draft.once(_without_code))


def obeyed_in_order(draft: Draft) -> bool:
    """Whether a prompt says that its instructions are followed in their order."""
    own = draft.once(heard)
    return (
        "order" in own or not (_NAMED.isdisjoint(own) or _ORDERING.isdisjoint(own))
    ) and _OBEYED_IN_ORDER.search(draft.once(_without_code)) is not None


def _without_code(draft: Draft) -> str:
    pieces: list[str] = []
    position = 0
    for start, end in draft.of_kind("code"):
        pieces.append(draft.text[position:start])
        position = end
    return "\n".join([*pieces, draft.text[position:]])


def build_up(sentences: Iterable[Sequence[str]]) -> bool:
    """Whether two sentences or more are operations, so that one may work on what another one left.

    Args:
        sentences: The words of each, in lower case.
    """
    found = 0
    for tokens in sentences:
        found += _operates(tokens)
        if found > 1:
            return True
    return False


def _operates(tokens: Sequence[str]) -> bool:
    """Whether a sentence opens with a verb that changes what is worked on: ``Add five``, not ``Add no comments``."""
    for index, token in enumerate(tokens[:4]):
        following = tokens[index + 1 : index + 3]
        if token in _PICKING:
            return following[:1] != [] and following[0] in _PICKED and _RULE_OBJECTS.isdisjoint(following)
        if token in _OPERATIONS:
            return _NOTHING.isdisjoint(following)
        if token not in _OPENERS:
            return False
    return False
