"""Choosing a label for a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.targets.simulated import concepts
from pytest_promptfuzz.targets.simulated.feelings import NEGATIONS, contrasts, feeling
from pytest_promptfuzz.targets.simulated.listings import Label
from pytest_promptfuzz.targets.simulated.tongues import language_of
from pytest_promptfuzz.targets.simulated.words import listed, stem, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.targets.simulated.reading import Reading

STOP = frozenset(
    listed(
        """
        the a an of to and or in on for with is are was were be been it this that i you he she
        they we my your our their its as at by from not no do does did have has had but if so
        there then than too very can will would could should about any all customer customers
        user users issue issues problem problems message text related anything other things
        something concerning regarding questions requests e.g
        """
    )
)
MARGIN = 0.6
"""Praise or blame below this is no feeling."""
IMPLIED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ((r"\bsentiment\b|\bpolarity\b|\battitude\b|\btone\b|\bopinion\b"
     r"|\bfeeling\b"), ("positive", "negative", "neutral")),
    (r"\bspam\b", ("spam", "not spam")),
    (r"\burgen(?:t|cy)\b|\bpriority\b|\bseverity\b", ("high", "medium", "low")),
    (r"\blanguage\b", ("English", "Spanish", "French", "German", "Italian", "Portuguese", "Dutch")),
    (r"\bemotions?\b|\bmood\b", ("joy", "sadness", "anger", "fear", "surprise")),
    ((r"\btopic\b|\bcategory\b|\bsubject\b|\bgenre\b"
     r"|\btheme\b"), ("sports", "politics", "business", "technology", "science",
     "health", "entertainment", "travel", "food")),
    (r"\bpositive\b|\bnegative\b|\bfavou?rable\b", ("positive", "negative")),
    (r"\b(?:is|are|does|do|did|has|have|was|were|can|whether|if)\b", ("yes", "no")),
)  # fmt: skip


def implied(reading: Reading) -> list[Label]:
    """The labels that go without saying where the prompt lists none: a sentiment's, spam's, yes and no."""
    text = " ".join(reading.instructions).lower()
    for pattern, names in IMPLIED:
        if re.search(pattern, text):
            return [Label(name) for name in names]
    return []


def ranked(labels: Sequence[Label], reading: Reading) -> list[Label]:
    """The labels, the best first; of equals the one listed first.

    When nothing in the text speaks for any label, one that means *none of the others* wins if there is one.
    """
    scores = _scores(labels, reading)
    order = sorted(range(len(labels)), key=lambda index: (-scores[index], index))
    if not any(score > 0 for score in scores):
        order.sort(key=lambda index: concepts.key(labels[index].name) not in concepts.FALLBACKS)
    return [labels[index] for index in order]


def _scores(labels: Sequence[Label], reading: Reading) -> list[float]:
    keys = [concepts.key(label.name) for label in labels]
    text = reading.data
    for one in (_stars, _sentiment, _languages, _yes_no):
        found = one(keys, text, reading)
        if found is not None:
            return found
    found = _topics(labels, text)
    for index, key in enumerate(keys):
        opposite = key.removeprefix("not-").removeprefix("non-").removeprefix("no-")
        if opposite != key and opposite in keys:
            found[index] = 1.5 - 0.25 * found[keys.index(opposite)] + found[index] * 0.25
    if {"clean"} & {each for label in labels for each in concepts.concepts(label.name)}:
        found = [
            1.0 if "clean" in concepts.concepts(label.name) else score
            for label, score in zip(labels, found, strict=True)
        ]
    return _with_examples(labels, found, reading)


def _stars(keys: Sequence[str], text: str, reading: Reading) -> list[float] | None:
    del reading
    numbers = [re.match(r"(\d)(?:-stars?)?$", key) for key in keys]
    if not all(numbers) or len(keys) < 3:
        return None
    praise, blame = feeling(text)
    low, high = min(int(m[1]) for m in numbers if m), max(int(m[1]) for m in numbers if m)
    share = (praise + 0.5) / (praise + blame + 1.0)
    aim = round(low + (high - low) * share)
    return [10.0 - abs(int(match[1]) - aim) for match in numbers if match]


def _sentiment(keys: Sequence[str], text: str, reading: Reading) -> list[float] | None:
    """Scores for positive, negative, neutral and mixed labels, with *very* and *slightly* as degrees."""
    del reading
    base = [re.sub(r"^(?:very|extremely|strongly|highly|somewhat|slightly|mostly)-", "", key) for key in keys]
    signs = [1 if b in concepts.POSITIVE else -1 if b in concepts.NEGATIVE else 0 for b in base]
    others = [key for key, sign in zip(keys, signs, strict=True) if not sign]
    if not (1 in signs and -1 in signs) or any(
        key not in concepts.MIDDLE | concepts.FALLBACKS for key in others
    ):
        return None
    praise, blame = feeling(text)
    net = praise - blame
    scores = []
    for key, plain_key, sign in zip(keys, base, signs, strict=True):
        strong = key != plain_key and key.startswith(("very", "extremely", "strongly", "highly"))
        weak = key != plain_key and not strong
        if sign:
            score = net * sign if abs(net) >= MARGIN else 0.0
            score += (0.5 if abs(net) >= 3 else -0.5) * strong + (0.5 if abs(net) < 1.2 else -0.5) * weak
        elif key == "mixed":
            score = (
                2.0 + max(praise, blame)
                if min(praise, blame) >= MARGIN and (abs(net) < 0.6 * max(praise, blame) or contrasts(text))
                else -1.0
            )
        else:
            score = 0.5 if abs(net) < MARGIN else -1.0
        scores.append(score)
    return scores


def _languages(keys: Sequence[str], text: str, reading: Reading) -> list[float] | None:
    del reading
    if sum(key in concepts.LANGUAGES for key in keys) < 2:
        return None
    found = language_of(text)
    return [float(key == found or key[:2] == found[:2] or concepts_language(key) == found) for key in keys]


def concepts_language(key: str) -> str:
    """The full name of a language code."""
    codes = {"en": "english", "es": "spanish", "fr": "french", "de": "german", "it": "italian", "pt": "portuguese",
             "nl": "dutch", "eng": "english", "spa": "spanish", "fra": "french", "deu": "german"}  # fmt: skip
    return codes.get(key, key)


def _yes_no(keys: Sequence[str], text: str, reading: Reading) -> list[float] | None:
    """Yes if the text speaks for what is asked: its concept, its feeling, or its words, not negated."""
    yes = [key in concepts.YES for key in keys]
    no = [key in concepts.NO for key in keys]
    if len(keys) > 3 or not any(yes) or not any(no):
        return None
    asked = reading.question or " ".join(
        each
        for each in reading.instructions
        if "?" in each or re.search(r"\b(?:whether|if|is|does|are|has)\b", each.lower())
    )
    asked = re.sub(
        r"\b(?:yes|no|true|false)\b|\b(?:answer|respond|reply|return|only|with)\b", " ", asked.lower()
    )
    holds = _holds(asked or " ".join(reading.instructions).lower(), text)
    return [1.0 if each == holds else 0.0 if each or n else -1.0 for each, n in zip(yes, no, strict=True)]


def _holds(asked: str, text: str) -> bool:
    praise, blame = feeling(text)
    topics = [word for word in words(asked) if word not in STOP and len(word) > 2]
    for word in topics:
        key = concepts.key(word)
        if key in concepts.POSITIVE:
            return praise - blame >= MARGIN
        if key in concepts.NEGATIVE or word in {
            "complaint",
            "complaining",
            "complain",
            "unhappy",
            "upset",
            "angry",
        }:
            return blame - praise >= MARGIN
    plain_words = words(text)
    stems = [stem(word) for word in plain_words]
    known: dict[str, float] = {}
    for word in topics:
        for concept in concepts.concepts(word):
            known |= concepts.evidence(concept)
    direct = {stem(word) for word in topics} - {stem(word) for word in REQUESTS}
    score = 0.0
    for index, each in enumerate(stems):
        weight = 2.0 if each in direct else known.get(each, known.get(plain_words[index], 0.0))
        negated = any(word in NEGATIONS for word in plain_words[max(0, index - 4) : index])
        score += -weight if negated else weight
    if "question" in direct and "?" in text:
        return True
    return score >= 2.0


REQUESTS = listed(
    """
        text ticket review message email customer user ask asking request requesting mention
        mentions mentioned following want wants contain contains author writer person about
        determine decide tell state whether below above given question sentence passage say says
        talk talking express expresses expressing describe refer referring article comment tweet
        written relate related check please identify detect does sender need needs looking
        article's following
        """
)


def _topics(labels: Sequence[Label], text: str) -> list[float]:
    tokens = words(text) + [each for each in ("!!!", "$$$", "http://", "https://", "?") if each in text]
    stems = [(token, stem(token)) for token in tokens]
    scores = []
    for label in labels:
        own = {stem(word) for word in concepts.key(label.name).split("-") if word not in STOP}
        said = {stem(word) for word in words(label.definition) if word not in STOP}
        known: dict[str, float] = {}
        meant = label.name
        if re.fullmatch(r"[A-Za-z]\d?", label.name) and 0 < len(words(label.definition)) <= 3:
            # A lettered option, or a code such as P1, means what stands beside it.
            meant = label.definition
        for concept in concepts.concepts(meant):
            known |= concepts.evidence(concept)
        score = 0.0
        seen: set[str] = set()
        for token, base in stems:
            weight = 3.0 if base in own else 2.5 if base in said else known.get(token, known.get(base, 0.0))
            # A repeated word speaks less each time, so that one word does not decide for a whole text.
            score += weight if base not in seen else 0.3 * weight
            seen.add(base)
        scores.append(score)
    return scores


def _with_examples(labels: Sequence[Label], scores: list[float], reading: Reading) -> list[float]:
    """Half a point for each word shared with a solved example of the same label."""
    mine = {stem(word) for word in words(reading.data) if word not in STOP}
    for text, answer in reading.examples:
        shared = len(mine & {stem(word) for word in words(text) if word not in STOP})
        for index, label in enumerate(labels):
            if label.name.casefold() == answer.strip(" .").casefold():
                scores[index] += 0.5 * shared
    return scores
