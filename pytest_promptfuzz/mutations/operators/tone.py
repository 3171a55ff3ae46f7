"""Operators on tone and voice: politeness, register, questions, the passive, instructions paraphrased by rules."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.data.english_words import BEFORE_VERB, DETERMINERS, IMPERATIVES, OPENERS_AFTER
from pytest_promptfuzz.data.phrases import REMARKS, REWORDINGS, STARTING
from pytest_promptfuzz.data.tables import words_in
from pytest_promptfuzz.mutations.analysis import phrases
from pytest_promptfuzz.mutations.analysis.draft import heard, tokens_of
from pytest_promptfuzz.mutations.analysis.phrases import Direction, has_phrases, register_phrases
from pytest_promptfuzz.mutations.analysis.spared_text import data_spans, inside
from pytest_promptfuzz.mutations.engine.edits import Edit, Ref, edits_at, insert, replace
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.text.expressions import LETTER, capitalised, expression, like, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Sentence, Word
    from pytest_promptfuzz.randomness import Rng


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
    languages=("en", *phrases.PHRASE_LANGUAGES),
    sources=("S2", "S5"),
    example=("Classify the ticket.", "Please classify the ticket."),
    trusted=True,
)
def politeness(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``Please`` put before an instruction, or taken away (one instruction in three)."""
    if draft.language != "en":
        return rng.draws(phrases.foreign_requests(draft), 0.34)

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
    return rng.all_then_some(register_phrases(draft, "other"))


def _opened(draft: Draft, direction: Direction) -> list[tuple[Opening, tuple[str, ...]]]:
    """The instructions in prose that may be opened in a register, and how."""
    ways = REMARKS[f"{direction} opening"]
    return [
        (each, ways)
        for each in draft.once(addressed)
        if each.sentence.kind == "prose"
        and each.verb.form[1:] == each.verb.lower[1:]
        and each.verb.lower != "note"
    ]


def _in_register(draft: Draft, rng: Rng, direction: Direction) -> Iterator[list[Edit]]:
    """Proposals in one register: all its phrases, then an instruction opened its way, with some of the phrases."""
    places = register_phrases(draft, direction)
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
        before, after = REMARKS[f"{name} before"], REMARKS[f"{name} after"]
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
    found: list[Edit] = []
    thanks = REMARKS["thanks"]
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
            and text.lower().rstrip(".! ") in thanks
            and not inside(data, each.start)
        ):
            found.append(replace(previous.end, each.end, ""))
    return found


# Instructions put in other words, by rules.


_KEPT = r"([^.!?;:,\n]{1,80}?)"
_BOUND = r"(?![\w\x00'’-]| (?:not|never)\b)"
_PREPOSITION = expression(r"\b(?:from|into|to|so|if)\b", re.IGNORECASE | re.ASCII)
_CONDITION = expression(r"\b(?:if|when|where|unless|after|for)\b", re.IGNORECASE | re.ASCII)
_SENTENCE = expression(r"[.!?\n]")
_LONGEST = 40  # characters of a rule's head, and more
_PLAIN = expression(r"[a-z ]+(?![a-z ]*[?*|])", re.ASCII)
_BE = words("is are was were be been being")


class _Rule:
    """A rule, whose pattern is compiled when a prompt first holds the words that it begins with.

    Attributes:
        head: The plain words at its beginning, in lower case.
        parts: The paraphrase before and after what is kept.
        opens: Whether it holds at the start of a sentence only.
    """

    __slots__ = ("_compiled", "_pattern", "head", "opens", "parts")

    def __init__(self, pattern: str, paraphrase: str, *, opens: bool) -> None:
        plain = _PLAIN.match(pattern)
        self.head = plain[0] if plain else ""
        self.parts = tuple(paraphrase.split("{x}"))
        self.opens = opens
        self._pattern = pattern
        self._compiled: re.Pattern[str] | None = None

    def match(self, free: str, start: int) -> re.Match[str] | None:
        """Where the rule applies at ``start``, once its head has been found there."""
        if self._compiled is None:
            pattern = self._pattern.replace("{x}", _KEPT) + _BOUND
            self._compiled = re.compile(pattern, re.IGNORECASE | re.ASCII)
        return self._compiled.match(free, start)


@cache
def _rules() -> dict[str, tuple[tuple[str, ...], tuple[_Rule, ...]]]:
    """By first word: what one of its rules must begin with, and the rules, the longest first."""
    found: dict[str, list[_Rule]] = {}
    for pattern, paraphrase in sorted(REWORDINGS.items(), key=lambda rule: -len(rule[0])):
        rule = _Rule(pattern, paraphrase, opens=pattern in STARTING)
        first = pattern.partition(" ")[0]
        found.setdefault(first, []).append(rule)
    return {first: (tuple({rule.head for rule in rules}), tuple(rules)) for first, rules in found.items()}


def _sites(draft: Draft) -> list[Edit]:
    rules = _rules()
    free = draft.free
    sites: list[Edit] = []
    position = 0
    found = draft.words
    for index, word in enumerate(found):
        start, _, form, lower = word
        if lower not in rules or start < position:
            continue
        heads, ruled = rules[lower]
        ahead = free[start : start + _LONGEST].lower()
        if not ahead.startswith(heads):
            continue
        before = found[index - 1] if index else None
        adjacent = before.lower if before is not None and before.end + 1 == start else ""
        if not _verbal(lower, adjacent) or (lower == "based" and adjacent in _BE):
            continue  # "your answer in", "a final answer in": a noun here
        for rule in ruled:
            if not ahead.startswith(rule.head):
                continue
            match = rule.match(free, start)
            if match is None or not _calm(match) or _narrowed(free, match):
                continue
            if rule.opens and start not in draft.starts:
                continue
            paraphrase = rule.parts
            head = capitalised(paraphrase[0]) if form[0].isupper() else paraphrase[0]
            parts: tuple[str | Ref, ...] = (head,)
            if len(paraphrase) > 1:
                parts = (head, Ref(*match.span(1)), paraphrase[1])
            sites.append(Edit(*match.span(), parts))
            position = match.end()
            break
    return sites


def _verbal(word: str, before: str) -> bool:
    """Whether a word that opens a rule may be the verb it has to be, by the word before it."""
    if word not in IMPERATIVES:
        return before not in DETERMINERS
    return not before or before in BEFORE_VERB or before in {"and", "or"}


def _narrowed(free: str, match: re.Match[str]) -> bool:
    """Whether a paraphrase would widen an "only", or tear apart what is kept.

    "Use only X if ..." allows other things elsewhere, "use nothing but X if ..." does not read so; "translate the text
    from A to B" must keep its pair.
    """
    if match.re.groups:
        return _PREPOSITION.search(match[1]) is not None
    if "only" not in match[0].lower():
        return False
    end = _SENTENCE.search(free, match.end())
    return _CONDITION.search(free, match.end(), end.start() if end else len(free)) is not None


def _calm(match: re.Match[str]) -> bool:
    """Whether the fixed words are in plain case: a shouted ONLY is a stress that a paraphrase would lose."""
    old = match.group()
    if match.re.groups:
        old = old[: match.start(1) - match.start()] + old[match.end(1) - match.start() :]
    return old[1:] == old[1:].lower() or old[:2] == "I "


@operator(
    "instruction-paraphrase",
    dimension="semantic",
    severity=0.5,
    preserves="yes",
    languages=("en", *phrases.PHRASE_LANGUAGES),
    sources=("S1", "S4", "S5"),
    example=("Return only the label.", "Respond with nothing but the label."),
    trusted=True,
)
def instruction_paraphrase(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Turns of phrase of instructions put in other words (half of those that a rule knows)."""
    return rng.draws(_sites(draft) if draft.language == "en" else phrases.foreign_phrases(draft), 0.5)


# The same request in another mood or voice: imperative and question, active and passive.


# "Can you answer with yes or no?" would be answered by the wrong yes, and so would "Could you check whether ...?".
_YES_NO = expression(r"\byes\b", re.IGNORECASE | re.ASCII)
_WHETHER = expression(r"\b(?:whether|if)\b", re.IGNORECASE | re.ASCII)
# What cannot stand in the middle of a question: "Can you explain it, and do not guess?"
_COMMANDING = expression(
    r"[;:—–](?=.)|\b(?:do not|don['’]t|never|please|kindly|make sure|be sure|must|should)\b",
    re.IGNORECASE | re.ASCII,
)
# Without one of these words neither can be in a sentence: looking for words is quicker.
_CONDITIONAL = words("whether if")
_COMMANDING_WORDS = words("do don never please kindly make be must should")
_COMMANDING_MARKS = (";", ":", "—", "–")
_DECIDING = words(
    "do be note imagine decide determine check confirm verify judge see tell ensure avoid go keep"
)
_ABLE = words("find identify detect spot solve guess read think look answer recommend point")


@operator(
    "imperative-to-question",
    dimension="semantic",
    severity=0.5,
    version=3,
    preserves="conditional",
    languages=("en",),
    sources=("S5",),
    example=("Classify the ticket.", "Could you classify the ticket?"),
    trusted=True,
)
def imperative_to_question(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """An instruction asked as a question, unless the answer could be a yes or a command stands in it (one)."""
    if _asks_yes_or_no(draft):
        return
    candidates = [each for each in draft.once(addressed) if _askable(draft, each)]
    while candidates:
        each = rng.choice(candidates)
        opening = rng.choice(("could you", "can you", "would you"))
        if opening == "can you" and each.verb.lower in _ABLE:
            opening = "could you"  # "Can you find ...?" may be asked about ability
        start = (each.please or each.verb).start
        first = (each.please or each.verb).form
        polite = " please" if each.please is not None else ""
        edits = [replace(start, each.verb.end, f"{like(first, opening)}{polite} {lowered(each.verb)}")]
        end = each.sentence.end
        if draft.free[end - 1] == ".":
            edits.append(replace(end - 1, end, "?"))
        yield edits


def _asks_yes_or_no(draft: Draft) -> bool:
    return "yes" in draft.once(heard) and _YES_NO.search(draft.text) is not None


def _askable(draft: Draft, each: Opening) -> bool:
    """Whether an instruction may be put as a question."""
    (start, end, _, _), verb, free = each.sentence, each.verb, draft.free
    last = free[end - 1]
    if verb.lower in _DECIDING or verb.form[1:] != verb.lower[1:]:
        return False
    if not (last in ".:\x00" or LETTER.match(last)) or "?" in free[start:end]:
        return False
    rest = free[verb.end : end]
    own = tokens_of(rest.lower())
    commanding = not _COMMANDING_WORDS.isdisjoint(own) or any(map(rest.__contains__, _COMMANDING_MARKS))
    return not (
        (not _CONDITIONAL.isdisjoint(own) and _WHETHER.search(free, start, end))
        or (commanding and _COMMANDING.search(free, verb.end, end))
    )


_ASKED = expression(
    r"(?:can|could|would|will) you (please |kindly )?([A-Za-z]+)(?= )", re.IGNORECASE | re.ASCII
)
_OF_ABILITY = words("find see get think read go guess be do imagine note avoid help make")


@operator(
    "question-to-imperative",
    version=2,
    dimension="semantic",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S5",),
    example=("Can you summarise the text?", "Summarise the text."),
    trusted=True,
    cue=lambda draft: "?" in draft.free,
)
def question_to_imperative(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A request put as a question (``Can you ...?``) made an instruction (all of them, then some)."""
    places: list[tuple[Edit, Edit]] = []
    if not _asks_yes_or_no(draft):
        for sentence in _prose(draft):
            match = _ASKED.match(draft.free, sentence.start, sentence.end)
            end = sentence.end
            if match is None or draft.free[end - 1] != "?" or "?" in draft.free[sentence.start : end - 1]:
                continue
            verb = match[2]
            if verb in IMPERATIVES and verb not in _OF_ABILITY:
                opening = f"Please {verb}" if match[1] else capitalised(verb)
                stop = "" if draft.free[end - 2] == "." else "."  # "for the dept.?"
                places.append((replace(sentence.start, match.end(), opening), replace(end - 1, end, stop)))
    for chosen in rng.all_then_some(places):
        yield [edit for place in chosen for edit in place]


def _prose(draft: Draft) -> list[Sentence]:
    """Sentences of prose and lists that do not stand in data."""
    data = draft.once(data_spans)
    return [
        each
        for each in draft.sentences
        if each.kind in {"prose", "bullet", "number"} and not inside(data, each.start)
    ]


# Verbs that take one object, and whose participle says the same of it with "be".
_TRANSITIVE = words_in("mutations/transitive_verbs.txt")
# What others do with what is written for them: "Create three questions. The questions must be answered without notes."
_BY_READERS = words("answer apply complete fill follow open pay read solve submit use")
_MADE = r"\b(?:create|write|draft|compose|generate|make|prepare|design|invent)\b[^.!?\n]*\b{}s?\b"
_COUNTED = expression(r"(?:an?|each|every|all|any)\b", re.IGNORECASE | re.ASCII)
_ONGOING = expression(r"[,;:]|\b(?:and|but|or|then|so|it|them)\b", re.ASCII)


_PLACES = expression(
    r"\b(?:sentence|line|paragraph|section|word|bullet|item|part|title|end|beginning)s?\b", re.ASCII
)


# What may stand behind an object and belongs to the verb.
_BEHIND = (
    "again|throughout|twice|thrice|once|always|never|ever|here|there|elsewhere|everywhere|anywhere|somewhere|today|tomorrow"
    "|now|then|soon|later|afterwards?|beforehand|instead|too|also|together|alone|aloud|verbatim|intact|unchanged|unaltered"
    "|untouched|unsorted|sorted|back|up|down|out|off|away|apart|aside|along|forward|home|online|either|anyway|regardless"
    "|yourself|well|fast|hard|straight|likewise|otherwise|somehow|upfront|inline|upside|more|less|much"
)


class _VoicePatterns(NamedTuple):
    """How a sentence begins that can change its voice.

    Attributes:
        active: Subject, modal, ``not``, verb, object.
        imperative: ``Do not``, verb, object.
        passive: Object, modal, ``not``, participle, agent.
    """

    active: re.Pattern[str]
    imperative: re.Pattern[str]
    passive: re.Pattern[str]


@cache
def _patterns() -> _VoicePatterns:
    article = r"(?:[Tt]he|[Aa]n?|[Ee]ach|[Ee]very|[Yy]our|[Aa]ll|[Aa]ny)"
    closed = (
        "and|or|not|only|must|should|shall|may|can|be|by|that|which|who|if|when|to|from|with|in|as|at|for|is|are|of|on"
        "|against|about|between|among|through|during|per|via|under|over|into|below|above|before|after|using|without|you|it|they|carefully"
    )
    noun = rf"(?!(?:{closed}|(?!reply|family|anomaly)[a-z]+ly)\b)[a-z]+"
    phrase = rf"{article}(?: {noun}){{1,4}}(?: of (?:the|your|each|a|an)(?: {noun}){{1,2}})?"
    # An adverb or a complement is no part of an object: "The ingredients again must not be listed."
    lone = rf"(?!(?:{_BEHIND})\b){noun}"
    thing = rf"{article}(?: {lone}){{1,4}}(?: of (?:the|your|each|a|an)(?: {lone}){{1,2}})?"
    modal = r"(must|should|shall|may|can)( not)?"
    ends = r"(?=\.?$|\.?\Z| (?:in|with|from|as|at|for|into|on|before|below|above|using|without)\b)"
    # What follows an object may belong to it: "the clause from a lease" cannot be torn apart.
    apart = r"(?=\.?$|\.?\Z| (?:in|as|before|using|without)\b)"
    return _VoicePatterns(
        re.compile(rf"({phrase}|You) {modal} ([a-z]+) ({thing}){apart}", re.ASCII),
        re.compile(rf"(Do not )?([A-Za-z][a-z]+) ({thing}){apart}", re.ASCII),
        re.compile(rf"({phrase}|[A-Z][a-z]+s) {modal} be ([a-z]+)(?: by ({phrase}|you))?{ends}", re.ASCII),
    )


@cache
def _participles() -> dict[str, str]:
    """The verb of each participle."""
    from pytest_promptfuzz.mutations.analysis.lexicon import participle

    return {participle(verb): verb for verb in sorted(_TRANSITIVE)}


def _scoped(first: str, second: str, negated: str | None) -> bool:
    """Whether swapping the two could change which of them a quantifier or a negation covers."""
    counted = [_COUNTED.match(each) is not None for each in (first, second)]
    return all(counted) or (bool(negated) and any(counted))


def _found(draft: Draft, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Sentences of one clause that begin with a pattern: where each begins, and what was found."""
    for sentence in _prose(draft):
        start, end = sentence.start, sentence.end
        match = pattern.match(draft.free[start:end])
        if match is not None and not _ONGOING.search(draft.free, start + match.end(), end):
            yield start, match


def _is_made(draft: Draft, patient: str) -> bool:
    """Whether the prompt asks for what a sentence speaks of to be written."""
    noun = patient.partition(" of ")[0].rpartition(" ")[2].lower().removesuffix("s")
    return re.search(_MADE.format(re.escape(noun)), draft.free.lower()) is not None


_BARE = 2  # words of "the package": of more, the last could be the name ("Name the package main")


@operator(
    "active-to-passive",
    version=4,
    dimension="semantic",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S4", "NL-Augmenter"),
    example=("The system must validate the input.", "The input must be validated by the system."),
    trusted=True,
    default=False,
)
def active_to_passive(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Requirements and instructions of one clause put in the passive voice (half of them, then others)."""
    from pytest_promptfuzz.mutations.analysis.lexicon import participle

    places: list[Edit] = []
    for start, match in _found(draft, _patterns().active):
        subject, modal, negated, verb, patient = match.groups()
        # "stated by the last sentence" could be a deadline.
        if verb in _TRANSITIVE and not _scoped(subject, patient, negated) and not _PLACES.search(subject):
            agent = "" if subject == "You" else f" by {subject[0].lower()}{subject[1:]}"
            text = f"{capitalised(patient)} {modal}{negated or ''} be {participle(verb)}{agent}"
            places.append(Edit(start, start + match.end(), (text,)))
    for start, match in _found(draft, _patterns().imperative):
        negated, verb, patient = match.groups()
        if (
            verb.lower() in _TRANSITIVE
            and bool(negated) == verb.islower()
            and not (verb.lower() == "name" and len(patient.split()) > _BARE and " of " not in patient)
            and not _scoped(patient, "you", negated)
        ):
            text = f"{capitalised(patient)} must{' not' if negated else ''} be {participle(verb.lower())}"
            places.append(Edit(start, start + match.end(), (text,)))
    return rng.draws(sorted(places), 0.5)


@operator(
    "passive-to-active",
    version=3,
    dimension="semantic",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S4", "NL-Augmenter"),
    example=("The input must be validated by the system.", "The system must validate the input."),
    trusted=True,
    default=False,
)
def passive_to_active(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Requirements of one clause put in the active voice, of ``you`` if no agent is named (half, then others)."""
    verbs = _participles()
    places: list[Edit] = []
    for start, match in _found(draft, _patterns().passive):
        patient, modal, negated, past, agent = match.groups()
        verb = verbs.get(past)
        if (
            verb is None
            or _scoped(agent or "you", patient, negated)
            or (agent is None and modal in {"may", "can"})
            or (agent is None and verb in _BY_READERS and _is_made(draft, patient))
        ):
            continue
        text = (
            f"{capitalised(agent or 'you')} {modal}{negated or ''} {verb} {patient[0].lower()}{patient[1:]}"
        )
        places.append(Edit(start, start + match.end(), (text,)))
    return rng.draws(places, 0.5)
