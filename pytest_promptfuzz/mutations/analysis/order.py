"""Which sentences and list items may change places: those whose order carries no meaning.

A sentence that leans on the one before it (``It ...``, ``Otherwise ...``) moves with it; one that points at a place
in the prompt (``above``, ``the following``) stays; where order is told by ordinals or steps, nothing moves. The words
that tell are English, so operators that move things work on English prompts only.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.data.tables import alternatives
from pytest_promptfuzz.mutations.analysis.draft import BOUND, TOKENS, Said, heard, said, said_at, tokens_of
from pytest_promptfuzz.mutations.analysis.spared_text import data_spans, inside
from pytest_promptfuzz.mutations.engine.edits import Edit, reorder
from pytest_promptfuzz.text.expressions import expression, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line, Sentence
    from pytest_promptfuzz.randomness import Rng


# Where the order of a prompt's parts counts: what speaks of it, and steps that build on one another.
#
# In doubt it counts: a list that stays as it is costs a mutation, one that should have stayed costs a right answer.


_ORDER = "mutations/order.tsv"
# In lower case: an expression that folds case is many times slower.
_TELLS_ORDER = expression(lambda: rf"\b{alternatives(_ORDER, 'tells')}", re.MULTILINE)
_OBEYED_IN_ORDER = expression(lambda: alternatives(_ORDER, "obeyed"), re.IGNORECASE)
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
_LISTED = expression(
    lambda: rf"\b(?:{alternatives(_ORDER, 'PART')}|lists?|documents?|passages?|sources?|examples?)\b"
)
_MARKER = expression(r"[ \t]*(?:[-*•–+]|\(?(?:\d{1,3}|[a-z])[.)])[ \t]")
_NEAR = 120  # characters before and after that are read


def tells_order(text: str) -> bool:
    """Whether a text speaks of the order of its parts, of which comes first, or of one's place among them."""
    lowered = text.lower()
    return any(
        match[0] != "first" or not _of_reading(lowered, *match.span())
        for match in _TELLS_ORDER.finditer(lowered)
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


Segment = tuple[int, int]

SEQUENCE_HEADS = words(
    "first second third fourth fifth next then after afterwards before finally lastly now once step start begin end"
    " last"
)
_SEQUENCE_WORDS = words("firstly secondly thirdly step steps afterwards sequence order turn")
_LETTERED = expression(r"\(?[a-z]\)\s|\[\d")
_BRACKETS = frozenset("([")
_INLINE_NUMBER = expression(r"[0-9](?<![^ (\n].)[0-9]?[.)]\s")  # a class comes first, for the quick search
LEANING_HEADS = words(
    "otherwise however but and or so also instead therefore thus else likewise similarly additionally moreover"
    " furthermore still yet even nevertheless because hence here there below as again both neither either that"
)
_LEANING_STARTS = (
    "if so", "if not", "in that case", "in this case", "in which case", "in addition", "for example", "for instance",
    "by the way", "in conclusion", "in the event", "in short", "in summary", "to sum up", "in other words",
    "as a result", "as such", "on the other hand", "on the contrary", "at the same time", "in return", "that said",
    "this way", "that way", "in contrast", "by contrast", "to do so", "in doing so", "apart from", "without the ",
    "with the ", "after that", "until then", "in all other", "in any other", "for the rest", "if nothing", "if none",
)  # fmt: skip
_LEANING_FIRST = frozenset(each.split()[0] for each in _LEANING_STARTS)
_LEANING_WORDS = words(
    "it its itself they them their theirs this these those he him his she her hers ones former latter same such other"
    " others another respectively therefore thus hence accordingly consequently also instead otherwise however likewise"
    " meanwhile anyway besides"
)
POINTING = words(
    "above below following preceding previous previously next earlier later last first second third beginning listed"
    " aforementioned follows here order"
)
# "Tell the passenger so." says again what the sentence before said.
_SAYING_SO = expression(
    r"\b(?:tell|told|say|says|said|do|does|did|doing|think|inform|explain|mention|asks?)"
    r"(?: [\w']+){0,3} so\b(?! that)"
    r"|\b(?:too|either|as well)[.,;!]"
)
# "Return only that word.", "A reason must be given for each."
_SAYING_THAT = expression(
    r"\bthat (?:one|word|label|name|number|letter|line|code|value|category|sentence|list|table|phrase|colou?r|date|term"
    r"|title|text)\b(?=[.,;!]|$| (?:and|or|in|with|only|alone)\b)|\b(?:for|of|to|with|in|from) each(?=[.,;!]|$)"
)
_THAT = frozenset(["that", "each"])
_SO = frozenset(["so", "too", "either", "well"])  # one of them is in whatever says so
_GREETING = expression(
    r"(?:hi|hello|hey|dear|bonjour|hallo|hola|ciao|good (?:morning|day|afternoon|evening))\b"
)
# The first words of a pattern are asked for before it.
_GREETS = words("hi hello hey dear bonjour hallo hola ciao good")
_THANKS = expression(r"(?:thanks|thank you|cheers|(?:kind |best |warm )?regards|yours|sincerely)\b")
_THANKED = words("thanks thank cheers kind best warm regards yours sincerely")
# What is to be written, and what is to stand in it.
_CREATING = expression(
    r"(?:please |kindly )?(?:write|draft|compose|create|generate|prepare|produce|design|build|make)"
    r" (?:me |us )?(?:an?|one|two|three|some|\d+) "
)
_CONTENT = expression(
    r"(?:please |kindly )?(?:inform|mention|include|thank|tell|ask|explain|say|state|invite|apologi[sz]e|remind|add|end"
    r"|start|begin|open|close|sign|finish|request|offer|describe|introduce|present)\b"
)
_CONTENTS = words(
    """
    please kindly inform mention include thank tell ask explain say state invite apologise apologize remind add end
    start begin open close sign finish request offer describe introduce present
    """
)
# Who speaks and who is spoken to comes first: "We are a charity.", "You are a tutor.".
_TELLING = expression(r"(?:i|we|my|our|the user|today)\b")
_TELLS_A_STORY = words("i we my our the today")
_ROLE = expression(
    r"(?:you(?!r)(?! (?:must|may|should|can|need|have to|will|shall|are (?:not|to)|cannot)\b)"
    r"|your (?:job|task|role|goal))\b"
)
_DEFINITE = words("the this that these those your our its their his her")
_FORM = expression(
    r"\b(?:formats?|outputs?|outline|structure|template|layout|sections?|fields?|columns?|keys?|headings?|headers?"
    r"|answers?|respon[ds]\w*|repl(?:y|ies)|reports?|return|contents?|order|parts|looks? like)\b",
    re.IGNORECASE,
)
_NUMBERED = expression(
    r"\b(?:steps?|number(?:s|ed)?|order|sequence|rank\w*|in turn|rules? \d|items? \d)\b", re.IGNORECASE
)
_LEAD = 300  # characters before a list that are looked at for what introduces it
_SHORTEST = 3  # letters of a noun that is referred to
_STOPS = (".", "!", "?", "。", "！", "？")


def counts(text: str, tokens: list[str]) -> bool:
    """Whether a sentence in lower case, whose words are ``tokens``, tells an order."""
    return (
        tokens[0] in SEQUENCE_HEADS
        or ((text[:1] in _BRACKETS or text[1:2] == ")") and _LETTERED.match(text) is not None)
        or not _SEQUENCE_WORDS.isdisjoint(tokens)
        or " and then " in text
        or _INLINE_NUMBER.search(text) is not None
    )


_TAKING_UP = expression(
    r"(?:in |on |for |with )?(?:every|each|the|all|both|these|those|one)(?: of (?:the|them))?(?: (?P<one>[a-z]{4,}))?"
    r"(?: (?P<two>[a-z]{4,}))?"
)


_SECOND_TASKS = words("then next afterwards finally")
_THE_CODE = expression(r"\b(?:only|just) the\s(?:code|function|snippet|program|script)\b", re.IGNORECASE)


def takes_up(sentence: str, before: Sequence[str]) -> bool:
    """Whether a sentence begins with what the ones before it brought up: "Use four lines. Every line holds ..."."""
    match = _TAKING_UP.match(sentence)
    if match is None:
        return False
    nouns = [each.removesuffix("s") for each in match.groups() if each]
    return any(re.search(rf"\b{each}s?\b", text) for each in nouns for text in before)


def tied(draft: Draft, sentence: Sentence) -> bool:
    """Whether what a sentence says of the answer holds in its place only: a second task follows, or code stands near.

    ``Return only the code.`` before a block of code would speak of that block.
    """
    after = (
        draft.once(said_at)[each.start].tokens[0] for each in draft.sentences if each.start > sentence.start
    )
    return not _SECOND_TASKS.isdisjoint(after) or (
        "```" in draft.text and _THE_CODE.search(draft.free, sentence.start, sentence.end) is not None
    )


def leans(text: str, tokens: list[str]) -> bool:
    """Whether a sentence in lower case cannot be understood without the one before it."""
    return (
        tokens[0] in LEANING_HEADS
        or not _LEANING_WORDS.isdisjoint(tokens)
        or (tokens[0] in _LEANING_FIRST and text.startswith(_LEANING_STARTS))
        or (not _SO.isdisjoint(tokens) and _SAYING_SO.search(text) is not None)
        or (not _THAT.isdisjoint(tokens) and _SAYING_THAT.search(text) is not None)
    )


def points(text: str, tokens: list[str]) -> bool:
    """Whether a sentence in lower case speaks of a place in the prompt, or introduces what follows."""
    return ":" in text or not POINTING.isdisjoint(tokens)


def places(text: str) -> bool:
    """Whether a text, in lower case and protected parts blanked, names a place: ``above``, ``the following``."""
    plain = BOUND.sub("", text) if "above \x00" in text or "below \x00" in text else text
    return not POINTING.isdisjoint(tokens_of(plain))


def sentence_runs(draft: Draft) -> tuple[list[Segment], ...]:
    """Runs of two or more neighbouring segments of one paragraph that may change places among themselves."""
    if draft.once(obeyed_in_order):
        return ()
    groups: dict[int, list[tuple[Sentence, Said]]] = {}
    data = draft.once(data_spans)
    for sentence, own in zip(draft.sentences, draft.once(said), strict=True):
        if sentence.kind == "prose" and not (data and inside(data, sentence.start)):
            groups.setdefault(sentence.paragraph, []).append((sentence, own))
    return tuple(
        run for group in groups.values() if len(group) > 1 for run in _runs(draft, *zip(*group, strict=True))
    )


def _runs(draft: Draft, group: Sequence[Sentence], all_said: Sequence[Said]) -> Iterator[list[Segment]]:
    for text, tokens, _, _ in all_said:
        if counts(text, tokens) or (tokens[0] in _GREETS and _GREETING.match(text)):
            return  # a letter is data
    if build_up(each.tokens for each in all_said):
        return
    torn = _torn(draft, group)
    heads = _introduced([each.tokens for each in all_said])
    contents = _contents_told(all_said)
    on_lines = all("\n" in draft.text[a.end : b.start] for a, b in pairwise(group))
    run: list[Segment] = []
    pinned = True
    for number, (sentence, own) in enumerate(zip(group, all_said, strict=True)):
        opens = not number and _ROLE.match(own[0])
        creates = number + 1 < contents and _CREATING.match(own[0])
        if opens or creates or _stays(own, on_lines=on_lines):
            if len(run) > 1:
                yield run
            run, pinned = [], True
            continue
        start = sentence.start
        if leans(own[0], own[1]) or start in torn:
            if pinned:
                continue  # it stays with a sentence that stays
            start = run.pop()[0]
        head = heads[number]
        if head is not None:  # what it speaks of moves with it
            while run and run[0][0] <= group[head].start < run[-1][1]:
                start = run.pop()[0]
        run.append((start, sentence.end))
        pinned = False
    if len(run) > 1:
        yield run


def _contents_told(all_said: Sequence[Said]) -> int:
    """How many sentences there are up to the last one that tells what is to be written."""
    told = [
        number + 1
        for number, (text, tokens, _, _) in enumerate(all_said)
        if tokens[0] in _CONTENTS and _CONTENT.match(text)
    ]
    return told[-1] if told else 0


def _stays(own: Said, *, on_lines: bool) -> bool:
    """Whether a sentence keeps its place, whatever is around it: it points elsewhere, has no end, or tells a story."""
    text, tokens, free, plain = own
    return bool(
        points(free, plain)
        or text.endswith(("...", "…"))
        or not (on_lines or text.endswith(_STOPS) or text.rstrip("\"'”’)]*").endswith(_STOPS))
        or (tokens[0] in _TELLS_A_STORY and _TELLING.match(text))
        or (tokens[0] in _THANKED and _THANKS.match(text))
    )


def _torn(draft: Draft, group: Sequence[Sentence]) -> frozenset[int]:
    """Where sentences begin that are the rest of another: in brackets, or in lower case where others are not."""
    text = draft.text
    starts = [text[each.start] for each in group]
    small = [first.islower() for first in starts]
    bracketed = "(" in text[group[0].start : group[-1].end]
    if not bracketed and True not in small:
        return frozenset()
    mixed = any(map(str.isupper, starts))
    found: set[int] = set()
    depth = 0
    for each, lower in zip(group, small, strict=True):
        if depth > 0 or (lower and mixed):
            found.add(each.start)
        if bracketed:
            piece = text[each.start : each.end]
            depth = max(0, depth + piece.count("(") - piece.count(")"))
    return frozenset(found)


def _introduced(sentences: Sequence[list[str]]) -> list[int | None]:
    """For each sentence the number of the first one that introduces something it calls ``the ...``, if there is one.

    ``You may take a bag. The bag must be small.``: something that was ``the ...`` from the beginning is known anyway.
    """
    spoken_of = [
        []
        if _DEFINITE.isdisjoint(tokens)
        else [
            noun.removesuffix("s")
            for index, token in enumerate(tokens)
            if token in _DEFINITE
            for noun in tokens[index + 1 : index + 3]
        ]
        for tokens in sentences
    ]
    wanted = {noun for nouns in spoken_of for noun in nouns}
    forms = wanted | {noun + "s" for noun in wanted}
    known: dict[str, int | None] = {}
    found: list[int | None] = []
    for number, (tokens, nouns) in enumerate(zip(sentences, spoken_of, strict=True)):
        found.append(min([first for noun in nouns if (first := known.get(noun)) is not None], default=None))
        for index, token in enumerate(tokens):
            if token in forms and len(token) >= _SHORTEST:
                noun = token.removesuffix("s")
                if noun not in known:
                    known[noun] = None if index and tokens[index - 1] in _DEFINITE else number
    return found


def lists(draft: Draft, kind: str) -> Iterator[list[tuple[Line, int]]]:
    """Lists of two items or more: each item's first line, and where the item ends with the lines indented under it."""
    items: list[tuple[Line, int]] = []
    for line in draft.lines:
        if items:
            head = items[-1][0]
            same = line.section == head.section
            if same and line.kind == kind and line.indent == head.indent:
                items.append((line, line.end))
                continue
            if same and line.kind != "blank" and line.indent > head.indent:
                items[-1] = (head, line.end)
                continue
            if len(items) > 1:
                yield items
            items = []
        if line.kind == kind:
            items = [(line, line.end)]
    if len(items) > 1:
        yield items


def free_order(draft: Draft, items: list[tuple[Line, int]]) -> bool:
    """Whether the items of a list may change places: all end alike, they are no form, and nothing tells their order.

    No item counts, points, leans or works on what another one left, and the prompt speaks of no order.
    """
    if draft.once(order_counts):
        return False
    head = items[0][0].start
    before = draft.text[max(0, head - _LEAD) : head].rstrip().rpartition("\n")[2]
    if _FORM.search(before):
        return False
    endings = set()
    said_of: list[list[str]] = []
    for line, end in items:
        text = draft.text[line.content : end].lower()
        tokens = TOKENS.findall(text) or [""]
        if counts(text, tokens) or points(text.partition(":")[0], tokens) or leans(text, tokens):
            return False
        said_of.append(tokens)
        tail = text.rstrip()
        endings.add(tail[-1] if tail[-1:] in {".", ",", ";", ":", "!", "?"} else "")
        if tail.endswith((" and", " or", ",", ";", ":")):
            return False
    return len(endings) == 1 and not build_up(said_of)


def ordered_on_purpose(draft: Draft) -> bool:
    """Whether the prompt speaks of steps, numbers or an order, so that its numbering carries meaning."""
    return _NUMBERED.search(draft.text) is not None or draft.once(order_counts)


def shuffles(runs: Sequence[Sequence[Segment]], rng: Rng) -> Iterator[list[Edit]]:
    """One of the runs of segments after another in a random order, without end; where it stays as it is, no edit."""
    while runs:
        run = rng.choice(runs)
        order = rng.shuffled(range(len(run)))
        yield [reorder(run, order)] if order != sorted(order) else []
