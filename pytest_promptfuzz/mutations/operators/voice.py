"""The same request in another mood or voice: imperative and question, active and passive."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import LETTER, capitalised, like
from pytest_promptfuzz.mutations.edits import Edit, replace
from pytest_promptfuzz.mutations.fields import data_spans, inside
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.operator import operator
from pytest_promptfuzz.mutations.operators.tone import addressed, lowered
from pytest_promptfuzz.mutations.said import heard, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Sentence
    from pytest_promptfuzz.mutations.operators.tone import Opening
    from pytest_promptfuzz.mutations.rng import Rng

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
_TRANSITIVE = words(
    """
    accept add adjust analyze answer apply approve assign attach calculate check cite classify collect combine compare
    complete compute confirm contain convert copy correct cover create define delete describe document evaluate
    examine exclude explain extract file fill fix follow generate give handle highlight identify ignore include
    inspect justify list mention merge monitor name notify obtain omit open pay perform prepare present
    preserve process produce protect provide publish quote rank rate read receive record reject remove replace
    report resolve retain return review reveal rewrite send show shorten sign simplify specify start state store
    submit summarize summarise support test track translate update upload use validate verify write
    """
)
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


class _Patterns(NamedTuple):
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
def _patterns() -> _Patterns:
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
    return _Patterns(
        re.compile(rf"({phrase}|You) {modal} ([a-z]+) ({thing}){apart}", re.ASCII),
        re.compile(rf"(Do not )?([A-Za-z][a-z]+) ({thing}){apart}", re.ASCII),
        re.compile(rf"({phrase}|[A-Z][a-z]+s) {modal} be ([a-z]+)(?: by ({phrase}|you))?{ends}", re.ASCII),
    )


@cache
def _participles() -> dict[str, str]:
    """The verb of each participle."""
    from pytest_promptfuzz.mutations.lexicon.inflection import participle

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
    from pytest_promptfuzz.mutations.lexicon.inflection import participle

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
