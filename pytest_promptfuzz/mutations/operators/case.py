"""Operators that change upper and lower case."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.analysis.draft import ends_abbreviation
from pytest_promptfuzz.mutations.analysis.spared_text import binds, inside, is_known, naming_words, written
from pytest_promptfuzz.mutations.engine.edits import Edit, edits_at, replace
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.text.expressions import LETTER, capitalised, expression, lower, upper, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Word
    from pytest_promptfuzz.randomness import Rng

# Capitals that are a name, not a shout: lower-casing US, IT or WHO would make another word of them.
_CAPITALS = expression(r"[A-Z]{2,}s?")
_LONGEST_ACRONYM = 5
# Letters whose capital is one letter, too.
_INITIAL = expression(
    "(?<![A-Za-z0-9_\x00'’\u00aa-\u1fff\u2c00-\ud7ff\uf900-\uffff])([a-zà-öø-ÿ])(?=[a-zà-öø-ÿ])"
)
_SHORTEST = 4  # of the words whose case is drawn: shorter ones would become acronyms (it, us, who)
_NONE = (sys.maxsize, sys.maxsize)
_LONGEST = 31  # letters, so that one draw decides on all of them
_AFTER_STOP = expression(r"(?<=[.!?])[ \t]+(?=[a-z])")
# Capitals that keep them among other words in capitals.
_ACRONYMS = words(
    """
    ai api ascii aws bbc ceo cfo cli cpu css csv cto eta eu faq gdp gdpr gmt gpu hr html http https iban id iso json
    kpi llm mri nasa nato nda nhs nlp pdf pii pr qa roi rss sdk seo sku sla sms sql tsv uk un url us usa usd utc utf ux
    vat vip vpn xml yaml
    """
)

# Names that are another word in small letters. At the start of a sentence most of them are the word.
_WORDS_TOO = words(
    """
    august bill china cork dean faith frank grace guinea hope jack joy march mark may nice polish ray reading rob rose
    sue turkey will
    """
)
_NAMES_AT_START = words("china turkey")
# Words that are another one in capitals, where a prompt has both.
_ACRONYMS_TOO = words("act aids it sat us who")

# Words that are often written in capitals for their weight, and are no answers.
_STRESSED = words(
    """
    not never only must always exactly all any each every both before after without unless except do should
    """
)


def _open(draft: Draft) -> list[tuple[int, int]]:
    """The free stretches, without what stays as it is written."""
    return _without(draft.gaps, draft.once(written))


def _without(stretches: Iterable[tuple[int, int]], spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What some spans leave of some stretches, both ascending and apart."""
    found: list[tuple[int, int]] = []
    kept = iter(spans)
    first, last = next(kept, _NONE)
    for begin, end in stretches:
        start = begin
        while start < end:
            while last <= start:
                first, last = next(kept, _NONE)
            if first > start:
                found.append((start, min(first, end)))
            start = last
    return found


def _uncommon(draft: Draft) -> list[tuple[int, int]]:
    """Names: words with a capital inside a sentence that are no words of English, and those with a capital beside them.

    A few are words of English, too (``May``). German nouns have capitals all, so they tell nothing.
    """
    if draft.language == "de":
        return []
    starts = draft.starts
    found: list[tuple[int, int]] = []
    run: list[Word] = []
    for word in draft.words:
        if word[2] == word[3] or not word.form[0].isupper():
            continue
        if word.start in starts:
            if word.lower in _NAMES_AT_START and word.form.istitle():
                found += [*_name(run), (word.start, word.end)]
                run = []
            continue
        if run and word.start != run[-1].end + 1:
            found += _name(run)
            run = []
        run.append(word)
    return found + _name(run)


def _name(run: list[Word]) -> list[tuple[int, int]]:
    """The span of some words with capitals, if one of them is no word of English."""
    if all(is_known(word.lower) for word in run):
        return [(word.start, word.end) for word in run if word.lower in _WORDS_TOO and word.form.istitle()]
    return [(run[0].start, run[-1].end)]


def _changed(draft: Draft, stretches: Iterable[tuple[int, int]], change: Callable[[str], str]) -> list[Edit]:
    """One edit for each stretch that ``change`` changes, cut to what differs."""
    edits: list[Edit] = []
    for start, end in stretches:
        old = draft.text[start:end]
        new = change(old)
        if new == old:
            continue
        first, last = 0, len(old)
        if len(new) == last:
            while old[first] == new[first]:
                first += 1
            while old[last - 1] == new[last - 1]:
                last -= 1
            new = new[first:last]
        edits.append(replace(start + first, start + last, new))
    return edits


def _other_in_capitals(draft: Draft) -> list[tuple[int, int]]:
    """Words that would become an acronym that the prompt has, too: ``us`` beside ``US``."""
    both = _ACRONYMS_TOO & {word.lower for word in draft.words if word.form.isupper()}
    return [(word.start, word.end) for word in draft.words if word.form in both] if both else []


def _shouted(draft: Draft) -> bool:
    """Whether most words are in capitals, so that a capital tells no acronym from a word."""
    words = draft.words
    return 2 * sum(word.form.isupper() for word in words) > len(words)


def _lower_words(text: str) -> str:
    pieces: list[str] = []
    position = 0
    for match in _CAPITALS.finditer(text):
        start, end = match.span()
        if (
            end - start > _LONGEST_ACRONYM
            or LETTER.match(text[start - 1 : start])
            or LETTER.match(text[end : end + 1])
        ):
            continue
        pieces += (lower(text[position : match.start()]), match.group())
        position = match.end()
    pieces.append(lower(text[position:]))
    return "".join(pieces)


@operator(
    "upper-case",
    dimension="lexical",
    severity=0.4,
    version=2,
    preserves="yes",
    surface=True,
    sources=("S1", "S2"),
    example=("Classify {text} now.", "CLASSIFY {text} NOW."),
    trusted=True,
)
def upper_case(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """All letters of prose in upper case; not of data, labels, headings and names that the answer repeats."""
    if draft.has_case:
        edits = _changed(draft, _without(draft.once(_open), _other_in_capitals(draft)), upper)
        if edits:
            yield edits


@operator(
    "lower-case",
    dimension="lexical",
    severity=0.2,
    version=2,
    preserves="yes",
    surface=True,
    sources=("S1", "S2"),
    example=("Classify the ticket. Use US spelling.", "classify the ticket. use US spelling."),
    trusted=True,
)
def lower_case(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """All letters of prose in lower case, but for acronyms and names; not of data, labels and headings."""
    if draft.has_case:
        stretches = draft.once(_open)
        if _shouted(draft):
            edits = _changed(draft, stretches, lower)
        else:
            edits = _changed(draft, _without(stretches, _uncommon(draft)), _lower_words)
        if edits:
            yield edits


@operator(
    "title-case",
    dimension="lexical",
    severity=0.3,
    version=2,
    preserves="yes",
    surface=True,
    sources=("S1",),
    example=("Classify the ticket.", "Classify The Ticket."),
    trusted=True,
)
def title_case(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """Every word of prose with a capital; not of data, labels, headings and names that the answer repeats."""
    if draft.has_case:
        pieces = _INITIAL.split(draft.free)
        pieces[1::2] = map(upper, pieces[1::2])
        titled = "".join(pieces)
        edits = []
        for start, end in draft.once(_open):
            if titled[start:end] != draft.text[start:end]:
                edits += _gaps_of(draft.text, titled, start, end)
        if edits:
            yield edits


def _gaps_of(old: str, new: str, start: int, end: int) -> list[Edit]:
    while old[start] == new[start]:
        start += 1
    while old[end - 1] == new[end - 1]:
        end -= 1
    return [replace(start, end, new[start:end])]


@operator(
    "random-case",
    dimension="lexical",
    severity=0.3,
    version=2,
    preserves="conditional",
    surface=True,
    sources=("S2", "NL-Augmenter"),
    example=("Read the text.", "Read the tEXt."),
    trusted=True,
    default=False,
)
def random_case(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Random letters of some long words in the other case (a third); not of acronyms, headings, logical words."""
    shouted = _shouted(draft)
    named = draft.once(naming_words)
    kept = draft.once(written)
    targets = [
        word
        for word in draft.words
        if word.start not in named
        and not inside(kept, word.start)
        and _SHORTEST <= word.end - word.start <= _LONGEST
        and word.lower.isalpha()
        and (shouted or not _CAPITALS.fullmatch(word.form))
        and not binds(word.lower)
    ]

    def flipped(word: Word) -> Edit | None:
        flips = rng.below(1 << len(word.form))
        new = "".join([c.swapcase() if flips >> i & 1 else c for i, c in enumerate(word.form)])
        return replace(word.start, word.end, new) if new != word.form and not new.isupper() else None

    return edits_at(rng.draws(targets, 0.33), flipped)


@operator(
    "sentence-case",
    version=2,
    dimension="lexical",
    severity=0.2,
    preserves="yes",
    languages=("en",),
    surface=True,
    sources=("S1", "S2"),
    example=("Classify The Ticket Below.", "Classify the ticket below."),
    trusted=True,
    default=False,
)
def sentence_case(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """A capital for the first word of each sentence and for names and acronyms only, in all sentences."""
    edits: list[Edit] = []
    shouted = len(draft.words) > 2 and _shouted(draft)
    kept = draft.once(written)
    words = iter(draft.words)
    word = next(words, None)
    for sentence in draft.sentences:
        own: list[Word] = []
        while word is not None and word.start < sentence.end:
            marker = word.end - word.start == 1 and draft.text[word.end : word.end + 1] in {")", "."}
            if word.start >= sentence.start and not marker and not inside(kept, word.start):
                own.append(word)
            word = next(words, None)
        if "\t" in draft.free[sentence.start : sentence.end]:
            continue  # rows of data
        opening = {sentence.start}
        opening.update(
            match.end()
            for match in _AFTER_STOP.finditer(draft.free, sentence.start, sentence.end)
            if not ends_abbreviation(draft.text, match.start() - 1)
        )
        edits += _resentenced(own, opening, shouted)
    if edits:
        yield edits


def _resentenced(words: list[Word], opening: set[int], shouted: bool) -> Iterator[Edit]:
    """What gives one sentence its usual case; a capital inside an ordinary sentence is there for a reason."""
    from pytest_promptfuzz.data.english_words import NAMES

    inner = [word for word in words if word.start not in opening and len(word.form) >= _SHORTEST]
    titled = 4 * sum(word.form[0].isupper() for word in inner) > 3 * len(inner) > 3
    shouted = shouted or (titled and 2 * sum(word.form.isupper() for word in words) > len(words))
    # Two words in capitals are no stress but a keyword (of SQL, say).
    calm = len([word for word in words if len(word.form) > 1 and word.form.isupper()]) < 2
    for word in words:
        form = word.form
        if shouted:
            new = (
                form if word.lower.removesuffix("s") in _ACRONYMS or word.lower in _ACRONYMS else form.lower()
            )
        elif titled and form[1:].islower() and word.lower not in NAMES and is_known(word.lower):
            new = form.lower()
        elif titled and form == "A":
            new = "a"
        elif form.isupper() and word.lower in _STRESSED and calm:
            new = form.lower()
        else:
            new = form
        if word.start in opening or word.lower == "i" or word.lower.startswith("i'"):
            new = capitalised(new)
        if new != form:
            yield replace(word.start, word.end, new)
