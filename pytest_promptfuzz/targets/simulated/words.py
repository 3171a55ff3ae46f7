"""Words: how a text falls into them, which of them the model knows, and how it forgives their spelling."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

from pytest_promptfuzz.text.expressions import expression

_DATA = files("pytest_promptfuzz.targets.simulated").joinpath("data")
_WORD = expression(r"[^\W_]+(?:['-][^\W_]+)*")
_LETTERS = expression(r"[^\W\d_]+")
_PLAIN = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-", "—": " - ", "…": "..."}
    | {"\u00a0": " ", "\u200b": "", "\t": " "}
)
_SPACES = expression(r"(?<=\S)[ ]{2,}(?=\S)")
_STRAY_SPACE = expression(r"(?<=[\w)\"'])[ ](?=[,.;:?!]+(?:\s|$))")
_SENTENCE_END = expression(r"(?<=[.!?])[\"')\]]*\s+|\s*\n\s*\n\s*")
# A full stop after these ends no sentence.
_ABBREVIATION = expression(
    r"(?i)(?:\b(?:mr|mrs|ms|dr|prof|st|no|vs|etc|e\.g|i\.e|inc|ltd|approx|fig|a\.m|p\.m|u\.s)|\b[a-z])\.$"
)
_SUFFIXES = (
    "ational=ate ization=ize ingly= ments= ment= ies=y ied=y edly= ings= ing= ers= ely= ed= er= es= ly= s= e="
)

_SPELT = ("verb", "noun", "material", "reply", "limited", "label word")


@cache
def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The lines of a table of ``data/``, each split at its tabs; remarks left out."""
    lines = _DATA.joinpath(name).read_text(encoding="utf-8").splitlines()
    return tuple(tuple(line.split("\t")) for line in lines if line and not line.startswith("#"))


@cache
def cues(*kinds: str) -> frozenset[str]:
    """The words of ``cues.tsv`` of these kinds; ``verb`` is every kind of verb, and all words where none is named."""
    ends = tuple(f" {kind}" for kind in kinds) or ("",)
    return frozenset(word for kind, word in rows("cues.tsv") if f" {kind}".endswith(ends))


def even(text: str) -> str:
    """A text with plain quotation marks and dashes, single spaces in its lines, and none before punctuation."""
    return _STRAY_SPACE.sub("", _SPACES.sub(" ", text.translate(_PLAIN)))


def words(text: str) -> list[str]:
    """The words of a text in lower case: letters and digits, with inner apostrophes and hyphens."""
    return _WORD.findall(text.lower())


def sentences(text: str) -> list[str]:
    """The sentences of a text; a blank line ends one too, a decimal point or ``e.g.`` does not."""
    found: list[str] = []
    held = ""
    for part in _SENTENCE_END.split(text):
        joined = " ".join(f"{held} {part}".split())
        held = joined if _ABBREVIATION.search(joined) else ""
        if joined and not held:
            found.append(joined)
    return [*found, held] if held else found


def lines_of_sentences(text: str) -> list[str]:
    """The sentences of each line of a text, as of one that is a list or a dialogue."""
    return [each for line in text.split("\n") for each in sentences(line)]


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A rough English stem, which brings *refund*, *refunded* and *refunding* together."""
    word = word.removesuffix("'s").replace("isation", "ization")
    if len(word) <= 3 or word.endswith("ss"):
        return word
    for each in _SUFFIXES.split():
        suffix, _, instead = each.partition("=")
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            base = word[: -len(suffix)] + instead
            return base[:-1] if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "slz" else base
    return word


def singular(word: str) -> str:
    """The singular of a noun, as tables and fields form it."""
    one = word[:-3] + "y" if word.endswith("ies") else word
    return one[:-1] if one.endswith("s") and not one.endswith(("ss", "us")) else one


def stems(text: str) -> list[str]:
    """The stems of the words of a text that say something."""
    return [stem(word) for word in words(text) if word not in cues("stop")]


def near(word: str, known: str) -> bool:
    """Whether a word is a known one, perhaps misspelt: one edit from five letters on, two from nine."""
    if word == known:
        return True
    limit = 0 if len(known) < 5 else 1 if len(known) < 9 else 2
    if not limit or len(word) < 4 or word[:1] != known[:1] or abs(len(word) - len(known)) > limit:
        return False
    from rapidfuzz.distance import OSA

    return OSA.distance(word, known, score_cutoff=limit) <= limit


@lru_cache(maxsize=16384)
def cue(word: str) -> str:
    """The cue that a word spells or misspells; the word itself where it is none."""
    return word if word in cues() else nearest(word, cues(*_SPELT))


def spelt(text: str) -> str:
    """A text in lower case, its misspelt cues put right."""
    return _LETTERS.sub(lambda found: cue(found.group()), text.lower())


def nearest(word: str, known: frozenset[str], least: int = 5) -> str:
    """The first of the known words, of so many letters, that a word misspells; itself where there is none."""
    alike = _by_letter(known).get(word[:1], ())
    return next((each for each in alike if len(each) >= least and near(word, each)), word)


@cache
def _by_letter(known: frozenset[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for word in sorted(known):
        found[word[0]] = (*found.get(word[0], ()), word)
    return found
