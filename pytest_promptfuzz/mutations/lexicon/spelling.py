"""Contractions, and British and American spellings of the same words."""

from __future__ import annotations

from pytest_promptfuzz.mutations.lexicon.table import words

_NEGATED = {
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "has": "hasn't",
    "have": "haven't",
    "had": "hadn't",
    "can": "can't",
    "could": "couldn't",
    "will": "won't",
    "would": "wouldn't",
    "should": "shouldn't",
    "must": "mustn't",
}
_JOINED = {
    ("i", "am"): "I'm",
    ("you", "are"): "you're",
    ("we", "are"): "we're",
    ("they", "are"): "they're",
    ("it", "is"): "it's",
    ("that", "is"): "that's",
    ("there", "is"): "there's",
    ("what", "is"): "what's",
    ("i", "will"): "I'll",
    ("you", "will"): "you'll",
    ("we", "will"): "we'll",
    ("they", "will"): "they'll",
    ("it", "will"): "it'll",
}

CONTRACTED: dict[tuple[str, str], str] = {
    **{(verb, "not"): short for verb, short in _NEGATED.items()},
    **_JOINED,
}
"""Two words in lower case, and what they become."""

EXPANDED: dict[str, str] = {
    **{short: f"{verb} not" for verb, short in _NEGATED.items()},
    **{short.lower(): " ".join(pair) for pair, short in _JOINED.items()},
    "can't": "cannot",
    "i'm": "I am",
    "i'll": "I will",
    "i've": "I have",
    "you've": "you have",
    "we've": "we have",
    "they've": "they have",
}
"""A contraction in lower case, and what it stands for."""

# Verbs in -ize/-ise, by stem, with all their forms; nouns in -ization follow where there is one.
_IZE = sorted(
    words(
        """
        categor summar organ priorit recogn standard normal optim minim maxim character custom final general
        emphas util capital formal serial initial visual item local personal special synchron token apolog
        random anonym contextual conceptual modern author harmon neutral memor symbol
        """
    )
)
_PLAIN = """
color colour|colors colours|colored coloured|coloring colouring|colorful colourful|colorless colourless
behavior behaviour|behaviors behaviours|behavioral behavioural|favor favour|favors favours|favored favoured
favorite favourite|favorites favourites|favorable favourable|flavor flavour|flavors flavours|honor honour
honors honours|humor humour|labor labour|labors labours|neighbor neighbour|neighbors neighbours
neighborhood neighbourhood|rumor rumour|rumors rumours|endeavor endeavour|harbor harbour|vapor vapour
odor odour|savior saviour|vigor vigour|center centre|centers centres|centered centred|fiber fibre|fibers fibres
theater theatre|theaters theatres|meager meagre|somber sombre|caliber calibre|luster lustre|specter spectre
catalog catalogue|catalogs catalogues|analog analogue|monolog monologue
canceled cancelled|canceling cancelling|traveled travelled|traveling travelling|traveler traveller
travelers travellers|modeled modelled|modeling modelling|signaled signalled|signaling signalling
fueled fuelled|leveled levelled|totaled totalled|totaling totalling
counselor counsellor|jewelry jewellery|marvelous marvellous|fulfill fulfil|fulfills fulfils|enroll enrol
enrollment enrolment|skillful skilful|willful wilful|installment instalment|gray grey|grays greys|grayish greyish
defense defence|offense offence|pretense pretence|judgment judgement|judgments judgements
aging ageing|airplane aeroplane|aluminum aluminium|artifact artefact|artifacts artefacts|mustache moustache
maneuver manoeuvre|pediatric paediatric|orthopedic orthopaedic|anesthesia anaesthesia|leukemia leukaemia
skeptical sceptical|skeptic sceptic|skepticism scepticism|plow plough|pajamas pyjamas|mold mould|molds moulds
analyze analyse|analyzes analyses|analyzed analysed|analyzing analysing|paralyze paralyse|catalyze catalyse
criticize criticise|criticizes criticises|criticized criticised|criticizing criticising
acknowledgment acknowledgement|cozy cosy|sulfur sulphur|encyclopedia encyclopaedia
"""


def _pairs() -> list[tuple[str, str]]:
    pairs = [
        (a, b) for line in _PLAIN.split("\n") for each in line.split("|") if each for a, b in [each.split()]
    ]
    for stem in _IZE:
        pairs += [
            (f"{stem}iz{end}", f"{stem}is{end}") for end in ("e", "es", "ed", "ing", "er", "ation", "ations")
        ]
    return pairs


AMERICAN_TO_BRITISH: dict[str, str] = dict(_pairs())
"""Words in lower case."""

VARIANTS: dict[str, str] = {
    **AMERICAN_TO_BRITISH,
    **{british: american for american, british in AMERICAN_TO_BRITISH.items() if british != "analyses"},
}
"""Either spelling, and the other; ``analyses`` is left out, being the plural of ``analysis`` too."""
