"""The words by which the simulated model knows what it is asked to do."""

from __future__ import annotations

from functools import lru_cache

from pytest_promptfuzz.targets.simulated.words import near, tolerance

CLASSIFY, SUMMARISE, SQL, EXTRACT, TRANSLATE, ANSWER = (
    "classify",
    "summarise",
    "sql",
    "extract",
    "translate",
    "answer",
)


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Verbs that name the task by themselves.
VERBS: dict[str, frozenset[str]] = {
    CLASSIFY: _set(
        "classify classifies classifying categorize categorise categorizing categorising label labeling"
        " labelling tag "
        "triage assign sort route detect determine decide judge evaluate assess rate bucket predict choose"
        " pick select "
        "group analyze analyse identify flag grade recognize recognise tell say state mark"
    ),
    SUMMARISE: _set(
        "summarize summarise summarizing summarising summarizes summarises condenses condense shorten recap "
        "outline digest abridge"
        " abbreviate "
        "paraphrase sum-up"
    ),
    EXTRACT: _set(
        "extract extracting extracts parse pull retrieve collect find list gather get capture locate scrape identify"
    ),
    TRANSLATE: _set("translate translating translation"),
    ANSWER: _set("answer"),
}
# Verbs that other tasks and everyday instructions use as well: they count only beside a noun of the task.
WEAK_VERBS: dict[str, frozenset[str]] = {
    CLASSIFY: _set(
        "evaluate assess rate choose pick select group analyze analyse identify flag grade tell say state"
        " mark sort "
        "assign route judge decide determine detect tag label predict recognize recognise bucket"
    ),
    SUMMARISE: _set("outline digest shorten paraphrase"),
    EXTRACT: _set("find list get capture collect gather pull identify locate retrieve parse"),
    ANSWER: _set("answer"),
}
NOUNS: dict[str, frozenset[str]] = {
    CLASSIFY: _set(
        "sentiment sentiments category categories class classes classification label labels topic topics"
        " polarity spam "
        "tone priority urgency intent intents emotion emotions mood department queue team positive"
        " negative neutral "
        "attitude toxicity classifier severity language languages subject kind type feeling opinion rating stars genre"
        " theme domain"
    ),
    SUMMARISE: _set(
        "summary summaries summarizer summariser synopsis abstract gist overview tldr tl;dr takeaway"
        " takeaways "
        "recap outline digest nutshell brief summarization summarisation"
    ),
    SQL: _set("sql mysql postgres postgresql sqlite query"),
    EXTRACT: _set(
        "fields field entities entity keys values extraction extractor email emails date dates amount"
        " amounts phone "
        "phones names name number numbers address addresses id ids total price invoice orders mentions"
        " details"
    ),
    TRANSLATE: _set("translation translator"),
    ANSWER: _set("question questions"),
}
OBJECTS = _set(
    "text ticket review input message email mail comment article document passage sentence tweet feedback"
    " transcript "
    "conversation complaint note notes invoice post paragraph story report content body utterance statement "
    "description data snippet context letter chat log headline title abstract listing receipt entry resume "
    "excerpt source posting announcement dialogue speech bio request inquiry enquiry call thread"
    " following "
    "below this above given reviews tickets messages comments question"
)
# Words that open an instruction, whatever the task.
OPENERS = _set(
    "return respond reply answer output write give provide use keep ensure make consider focus avoid"
    " include do don't "
    "be only please choose pick act think read remember never always format print produce generate create"
    " state limit "
    "maintain capture look base begin start end put show add omit follow ignore explain describe you your"
    " instructions "
    "guidelines rules note make no if when just simply carefully first then finally task response answers"
    " compose "
    "suggest propose come devise invent craft draft emit issue supply deliver report restrict confine stick take "
    "pay remain stay"
)
POLITE = _set(
    "please kindly can could would will you i want need we like to should must your task is job goal now"
    " then and next "
    "first finally also just simply let us let's that's here hi hello hey the user wants help me with"
    " carefully "
    "your's role responsibility objective aim asked am are be it's important that"
)
DETERMINERS = _set(
    "the a an one each only single correct best following these those that this his her your our any"
)
# Words that must never be taken for a misspelt cue.
COMMON = _set(
    "table tables world words stage state sound found mail email order orders other others later there"
    " their where "
    "about after again being below every first great house large learn never place plant point right"
    " small spell "
    "still study their these thing think three water while would write class glass grade trade money"
    " place short "
    "sorts parts ports posts costs lists notes dates rates gates tasks facts acts label table cable"
    " today party "
    "could should would might shall claim cancel change charge charged support product delivery refund"
    " account "
    "password ready reads really reason recent receive received ready rest result results right detach"
    " quest guest "
    "sport spent seven never sever stare store score select elect lovely likely listen listed attack attach"
)
REPLYING = _set(
    "return respond reply output write generate create which whether customer formal informal translate"
)
VOCABULARY: frozenset[str] = OBJECTS.union(REPLYING, *VERBS.values(), *WEAK_VERBS.values(), *NOUNS.values())


def _index() -> dict[tuple[str, int], tuple[str, ...]]:
    """Known words by first letter and length, so that a misspelling is compared with few."""
    index: dict[tuple[str, int], tuple[str, ...]] = {}
    for word in sorted(VOCABULARY):
        key = (word[0], len(word))
        index[key] = (*index.get(key, ()), word)
    return index


INDEX = _index()


@lru_cache(maxsize=8192)
def corrected(word: str) -> str:
    """The cue that ``word`` spells or misspells; ``word`` itself if it is none."""
    if word in VOCABULARY or word in COMMON or word in OBJECTS or word in OPENERS or tolerance(word) == 0:
        return word
    for length in (len(word), len(word) - 1, len(word) + 1, len(word) - 2, len(word) + 2):
        for known in INDEX.get((word[0], length), ()):
            if near(word, known):
                return known
    return word
