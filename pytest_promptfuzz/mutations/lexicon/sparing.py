"""Which words of a prompt noise may hit, and what it may not make of them."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.prompts.spans import logic_spans

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.draft import Draft, Word

SHORTEST = 5
"""Letters a word needs to stay readable when one of them is wrong."""

# Words that bind the answer but are no logical words: an unreadable one would change the task.
_BINDING = words(
    """
    exactly least most every neither either never always before after above below twice once daily weekly under
    within between until avoid refrain leave ignore omit exclude skip just nothing cannot none first last same
    whether
    """
)
_SHORT = words(
    """
    ab abs ace act ad add ado ads age ago ah aid ail aim air ale all alp am amp an ana and ant any ape app apt arc are
    ark arm art as ash ask asp at ate awe axe ay aye ba back bad bag ban bar bat bay be bed bee beg bet bib bid big bin
    bit bob bog bow box boy bra bud bug bun bus but buy by cab cam can cap car cat cob cod cog con cop cot cow cry cub
    cue cup cut dab dad dam day den dew did die dig dim din dip do doc dog don dot dry dub due dug ear eat ebb eel egg
    ego elf elk elm end era err eve eye fab fad fan far fat fed fee few fib fig fin fir fit fix flu fly foe fog for fox
    fry fun fur gab gag gap gas gel gem get gig gin go god got gum gun gut guy gym ha had hag ham has hat hay he hem hen
    her hey hi hid him hip his hit ho hog hop hot how hub hue hug hum hut ice icy id if ill imp in ink inn ion ions ire
    is it its ivy jab jam jar jaw jay jet job jog joy jug keg key kid kin kit la lab lad lag lap law lay led leg let lid
    lie lip lit log lot low ma mad man map mar mat may me men met mid mix mob mom mop mud mug my nab nag nap net new nil
    nip no nod nor not now nun nut oak oar oat odd ode of off oh oil old on one or ore our out owe owl own pa pad pal
    pan par pat paw pay pea peg pen per pet pi pie pig pin pit ply pod pop pot pro pry pub pun pup put rag ram ran rap
    rat raw ray re red rib rid rig rim rip rob rod rot row rub rug rum run rut rye sac sad sag sap sat saw say sea see
    set sew she shy sin sip sir sit six ski sky sly so sob sod son sow soy spa spy sub sue sum sun tab tag tan tap tar
    tax tea ted ten the tic tie tin tip to toe ton too top tow toy try tub tug two ugh up urn us use van vat vet via vow
    wad wag war was wax way we web wed wee wet who why wig win wit woe won woo wow ye yea yes yet you zip zoo
    """
)

_NAMING = words(
    """
    field fields key keys column columns property properties attribute attributes label labels header headers heading
    headings named called titled
    """
)


@lru_cache(maxsize=8192)
def binds(word: str) -> bool:
    """Whether a word in lower case negates, restricts, connects or else binds the answer, in any known language."""
    return word in _BINDING or bool(logic_spans(word))


@cache
def readable_words() -> frozenset[str]:
    """Words so common in prompts that they are recognised when they are damaged, in lower case."""
    from pytest_promptfuzz.mutations.lexicon.frequent import FREQUENT
    from pytest_promptfuzz.mutations.lexicon.slips import PROMPT_WORDS

    return FREQUENT | PROMPT_WORDS | IMPERATIVES


@cache
def known_words() -> frozenset[str]:
    """Every English word that the tables hold: what damage must not make of another."""
    from pytest_promptfuzz.mutations.lexicon.slips import NEAR

    return readable_words() | NEAR | _SHORT | _BINDING


def is_known(word: str) -> bool:
    """Whether ``word``, in lower case, is an English word or a logical one of any known language."""
    return word in known_words() or binds(word)


def own_words(draft: Draft) -> frozenset[str]:
    """The prompt's own words, in lower case: damage must not make one of another."""
    return frozenset([word.lower for word in draft.words])


_start = itemgetter(0)


def naming_words(draft: Draft) -> frozenset[int]:
    """Where words begin that name what an answer may have to contain.

    These are heads of fields (``Customer name: ...``), headings, and what follows ``keys``, ``columns`` or the like
    in a sentence.
    """
    spans = [
        (line.content, line.end if line.kind == "heading" else draft.text.find(":", line.content, line.end))
        for line in draft.lines
        if line.kind in {"field", "heading"}
    ]
    if not _NAMING.isdisjoint(draft.once(own_words)):
        cues = iter([word.end for word in draft.words if word.lower in _NAMING])
        cue = next(cues, None)
        for sentence in draft.sentences:
            while cue is not None and cue <= sentence.start:
                cue = next(cues, None)
            if cue is not None and cue <= sentence.end:
                spans.append((cue, sentence.end))
    found: set[int] = set()
    words = draft.words
    for start, end in spans:
        index = bisect_left(words, start, key=_start)
        while index < len(words) and words[index].start < end:
            found.add(words[index].start)
            index += 1
    return frozenset(found)


def hittable(draft: Draft) -> tuple[Word, ...]:
    """Words that carry the sentence and nothing else, and are long enough to stay readable.

    In lower case but at the start of a sentence, and free of logic. Names could become other names, rare words (of
    drugs, say) could not be read any more, and what names a part of the answer is repeated in it: none of them is hit,
    rare words of English only where there are no others.
    """
    text = draft.text
    named = draft.once(naming_words)
    starts = draft.starts
    english = draft.language == "en"
    common: list[Word] = []
    rare: list[Word] = []
    for word in draft.words:
        start, end, form, lower = word
        if end - start < SHORTEST:
            continue
        known = _readable(lower)
        if known is None or start in named or text[end : end + 1] == ":":
            continue
        if form != lower and not (known and start in starts and form[1:] == lower[1:]):
            continue
        (common if known or not english else rare).append(word)
    return tuple(common or rare)


@lru_cache(maxsize=8192)
def _readable(word: str) -> bool | None:
    """Whether a long word in lower case is so common that it is recognised when damaged; None if it may not be hit."""
    known = word in readable_words()
    return None if binds(word) or not (known or word.isalpha()) else known
