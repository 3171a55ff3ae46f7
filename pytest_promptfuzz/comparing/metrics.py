"""Metrics of likeness by name (BLEU, chrF, ROUGE-L, Indel, entity F1), and the comparison of Quirx."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rapidfuzz.distance import Indel, LCSseq

from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Outcome, Tier
from pytest_promptfuzz.comparing.meaning import cosine
from pytest_promptfuzz.comparing.reading.text import LIMIT, undecided
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.errors import ConfigurationError, UsageError, not_among
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.json_paths import child, equal
from pytest_promptfuzz.text.word_diffs import ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.comparing.meaning import Embedder

    Measure = Callable[[str, str], float | None]


# Published text metrics, from 0 to 1: BLEU and chrF by sacrebleu, Indel on words. ROUGE-L has a module of its own.


def indel(baseline: str, response: str) -> float:
    """Likeness of two texts by words taken out and put in, 0..1, symmetric: ``1 - d / (m + n)``.

    Words are what stands between white space, as it is written: case and punctuation count. 1.0 for two empty texts.

    >>> indel("The parcel is lost.", "The parcel was lost.")
    0.75
    """
    return float(Indel.normalized_similarity(baseline.split(), response.split()))


def bleu(baseline: str, response: str) -> float:
    """Sentence BLEU of a response against its baseline, 0..1; not symmetric.

    As sacrebleu has it: up to four words in a row, or as many as the response has (effective order), exponential
    smoothing, tokeniser 13a, which takes a Chinese or Japanese sentence for one word: use chrF there.

    Source: Papineni et al., BLEU, 2002; Post, A Call for Clarity in Reporting BLEU Scores, 2018.

    Raises:
        ConfigurationError: sacrebleu is not installed.
    """
    return _score("BLEU", baseline, response)


def chrf(baseline: str, response: str) -> float:
    """chrF2 of a response against its baseline, 0..1; not symmetric: recall counts twice as much as precision.

    As sacrebleu has it: up to six characters in a row, white space left out, case kept.

    Source: Popović, chrF: character n-gram F-score for automatic MT evaluation, 2015.

    Raises:
        ConfigurationError: sacrebleu is not installed.
    """
    return _score("CHRF", baseline, response)


def _score(name: str, baseline: str, response: str) -> float:
    if not baseline.strip() or not response.strip():
        return float(baseline.strip() == response.strip())
    score: float = _metric(name).sentence_score(response, [baseline]).score
    return min(1.0, score / 100)


@lru_cache(maxsize=2)
def _metric(name: str) -> Any:
    try:
        metrics: Any = importlib.import_module("sacrebleu.metrics")
    except ImportError as problem:
        raise ConfigurationError(
            "BLEU and chrF need sacrebleu: pip install 'pytest-promptfuzz[metrics]'"
        ) from problem
    return metrics.BLEU(effective_order=True) if name == "BLEU" else metrics.CHRF()


# ROUGE-L: the longest common subsequence of words.


# Runs of letters and digits, as the reference implementation splits English, and characters of scripts without
# spaces one by one, which it leaves out.
_WIDE = r"\u3040-\u30ff\u3400-\u9fff"
_WORD = expression(rf"[{_WIDE}]|[^\W_{_WIDE}]+")


def words(text: str) -> list[str]:
    """The case-folded runs of letters and digits of a text, and its Chinese and Japanese characters one by one.

    >>> words("Don't pay €1,000!")
    ['don', 't', 'pay', '1', '000']
    """
    return _WORD.findall(text.casefold())


def rouge_l(reference: str, candidate: str) -> float:
    """ROUGE-L F1 of two texts, 0..1, symmetric.

    ``2 L / (m + n)`` for texts of m and n ``words`` and a longest common subsequence of L of them; for ASCII letters
    and digits the same as the package ``rouge-score`` computes without its stemmer. Where neither text has a word they
    are compared as they stand: 1.0 if equal but for white space around them, else 0.0.

    Source: C.-Y. Lin, ROUGE: A Package for Automatic Evaluation of Summaries, 2004, eq. 2 to 4 with β = 1.

    >>> rouge_l("the parcel is lost", "the parcel was lost")
    0.75
    """
    first, second = words(reference), words(candidate)
    if not first and not second:
        return float(reference.strip() == candidate.strip())
    return 2 * LCSseq.similarity(first, second) / (len(first) + len(second))


# The comparison of the Quirx tool, reproduced from answers alone, for setting our results beside published ones.
#
# Overall similarity is 0.3 token + 0.5 semantic + 0.2 structural; equivalent from 0.95 (semantic from 0.90), minor from
# 0.75 (semantic from 0.70), else a deviation. It has no guards: it calls "the refund is not approved" equivalent to
# "the refund is approved". Use it to reproduce figures, not to gate a build.


WEIGHTS = {"token": 0.3, "semantic": 0.5, "structural": 0.2}
# Doubles of the recorded scores lie within 1e-7 of the cosine's float32.
_EQUIVALENT, _EQUIVALENT_MEANING = 0.95, 0.90
_MINOR, _MINOR_MEANING = 0.75, 0.70

# Penn Treebank tokenisation: punctuation apart, except a comma or colon before a digit and a full stop that does
# not end the sentence.
_FULL_STOP = expression(r"([^.])(\.)([\])}>\"'»”’ ]*)\s*$")
_TAIL = 200  # characters among which a full stop that ends the sentence is looked for
_SEPARATE = (
    (expression(r'(^|[ (\[{<])"'), r"\1 `` "),
    (expression(r"[«“‘„»”’]"), r" \g<0> "),
    (_FULL_STOP, r"\1 \2 \3 "),
    (expression(r"([:,])(?=\D|$)"), r" \1 "),
    (expression(r"\.{2,}|[;@#$%&*?!]|[\]\[(){}<>]|--"), r" \g<0> "),
    (expression(r"([^'])' "), r"\1 ' "),
    (expression(r"\"|''"), " '' "),
    (expression(r"(?<=[^' ])('(?:s|m|d|ll|re|ve)?|n't)(?=\s|$)"), r" \1 "),
)
_BREAK = expression(r"(?<![.?!])([.?!]+)[\"')\]}”’]*(?=[\s*:@({\[;])")
_SPACE, _NO_SPACE = expression(r"\s"), expression(r"\S")
_ABBREVIATIONS = word_set(
    """mr mrs ms dr prof rev gen sen rep gov capt lt col sgt st jr sr inc corp co ltd llc bros vs etc e.g
    i.e u.s u.k u.n d.c ph.d m.d a.m p.m no vol fig al approx dept est jan feb mar apr jun jul aug sep
    sept oct nov dec mt ft"""
)
_FORMATS = tuple(
    expression(pattern, re.MULTILINE)
    for pattern in (
        r"^[^\S\n]*[-*+]\s+",
        r"^[^\S\n]*\d+\.\s+",
        r"^#{1,6}\s+",
        r"```",
        r"\*\*.*?\*\*",
        r"_.*?_",
    )
)


@dataclass(frozen=True, slots=True)
class QuirxScores:
    """The tier scores, their weighted mean, and the class.

    Attributes:
        token: Ratcliff-Obershelp over lower-cased tokens, baseline first, 0..1.
        semantic: Cosine of MiniLM embeddings, clipped at 0.
        structural: JSON keys and depth, else sentences and markup, 0..1.
        overall: ``0.3 token + 0.5 semantic + 0.2 structural``.
        outcome: ``equivalent``, ``minor`` or ``deviation``.
    """

    token: float
    semantic: float
    structural: float
    overall: float
    outcome: Outcome


def sentences(text: str) -> list[str]:
    """Sentences as the Punkt rules have them: a full stop ends one unless it closes an abbreviation or an initial."""
    found: list[str] = []
    start = 0
    end = 0
    for match in _BREAK.finditer(text):
        word = _SPACE.split(text[end : match.start()])[-1].lstrip("(\"'").lower()
        end = match.end()
        first = _NO_SPACE.search(text, end)
        following = first[0] if first else ""
        if match[1] == "." and (
            word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and following.isalpha())
        ):
            continue
        if (set(match[1]) == {"."} and len(match[1]) > 1 and following.islower()) or (
            word.isdigit() and following.islower()
        ):
            continue
        found.append(text[start : match.end()].strip())
        start = match.end()
    found.append(text[start:].strip())
    return [each for each in found if each]


def tokens(text: str) -> list[str]:
    """Lower-cased Penn Treebank tokens, sentence by sentence."""
    result: list[str] = []
    for sentence in sentences(text.lower()):
        padded = sentence
        for pattern, replacement in _SEPARATE:
            cut = max(0, len(padded) - _TAIL) if pattern is _FULL_STOP else 0
            padded = padded[:cut] + pattern.sub(replacement, padded[cut:])
        result.extend(padded.split())
    return result


def token_similarity(baseline: str, response: str) -> float | None:
    """Ratcliff-Obershelp ratio of the token lists, 0..1; not symmetric, the baseline comes first.

    ``None`` for texts that are too long for it.
    """
    if max(len(baseline), len(response)) > LIMIT:
        return None
    return ratio(tokens(baseline), tokens(response))


def structural_similarity(baseline: str, response: str) -> float:
    """Likeness of form, 0..1: of JSON if both texts are JSON, else the mean of sentences and markup."""
    try:
        first, second = json.loads(baseline), json.loads(response)
    except (ValueError, RecursionError):
        first = second = None
    if first is not None and second is not None:
        return _json_similarity(first, second)
    counts = len(sentences(baseline)), len(sentences(response))
    if counts == (0, 0):
        return 1.0
    marks = tuple(sum(len(pattern.findall(text)) for pattern in _FORMATS) for text in (baseline, response))
    return (_ratio(*counts) + _ratio(*marks)) / 2


def _ratio(first: int, second: int) -> float:
    return 1.0 - abs(first - second) / max(first, second, 1)


def _json_similarity(first: Any, second: Any) -> float:
    if first == second:
        return 1.0
    one, two = set(_keys(first)), set(_keys(second))
    if not one and not two:
        return 1.0
    if not one or not two:
        return 0.0
    return (len(one & two) / len(one | two) + _ratio(_depth(first), _depth(second))) / 2


def _keys(value: Any, path: str = "") -> list[str]:
    found: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{path}.{key}" if path else key
            found += [here, *_keys(item, here)]
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += _keys(item, f"{path}[{index}]")
    return found


def _depth(value: Any) -> int:
    if isinstance(value, (dict, list)):
        items = value.values() if isinstance(value, dict) else value
        return 1 + max(map(_depth, items)) if value else 0
    return 0


def scores(baseline: str, response: str, *, semantic: Embedder) -> QuirxScores | None:
    """The three tier scores of two answers, and their class.

    Args:
        baseline: The answer to the unchanged prompt.
        response: The answer to the changed one.
        semantic: MiniLM, for scores that match published ones.

    Returns:
        ``None`` for answers that are too long to be compared by that formula.
    """
    token = token_similarity(baseline, response)
    if token is None:
        return None
    first, second = semantic.embed([baseline, response])
    meaning = cosine(first, second)
    structural = structural_similarity(baseline, response)
    overall = WEIGHTS["token"] * token + WEIGHTS["semantic"] * meaning + WEIGHTS["structural"] * structural
    outcome: Outcome = "deviation"
    if overall >= _EQUIVALENT and meaning >= _EQUIVALENT_MEANING:
        outcome = "equivalent"
    elif overall >= _MINOR and meaning >= _MINOR_MEANING:
        outcome = "minor"
    return QuirxScores(token, meaning, structural, overall, outcome)


def compare_answers(baseline: str, response: str, *, semantic: Embedder | None) -> Comparison:
    """The comparison behind ``compare(..., profile="quirx")``.

    Raises:
        ConfigurationError: There is no embedder and the answers differ; that formula has no value without one.
    """
    if baseline == response:
        one = Tier("token", 1.0), Tier("semantic", 1.0), Tier("structural", 1.0)
        return Comparison("equivalent", 1.0, "quirx", Observation("quirx-identical"), one)
    if semantic is None:
        raise ConfigurationError(
            "profile='quirx' needs the semantic tier: pip install 'pytest-promptfuzz[semantic]' and pass semantic=True"
        )
    found = scores(baseline, response, semantic=semantic)
    if found is None:
        return undecided(baseline, response)
    tiers = Tier("token", found.token), Tier("semantic", found.semantic), Tier("structural", found.structural)
    observed = Observation("quirx", found.overall, found.token, found.semantic, found.structural)
    return Comparison(found.outcome, found.overall, "quirx", observed, tiers)


TIERS: dict[str, Measure] = {
    "indel": indel,
    "rouge-l": rouge_l,
    "bleu": bleu,
    "chrf": chrf,
    "ratcliff-obershelp": token_similarity,
}
"""Each takes a baseline and a response, and returns how alike they are, 0..1; ``None`` for texts too long for it."""


def measure(name: str) -> Measure:
    """The measure of a name.

    Raises:
        UsageError: There is none.

    >>> measure("rouge-l")("the parcel is lost", "the parcel was lost")
    0.75
    """
    if name not in TIERS:
        raise UsageError(not_among(f"the tier {name!r}", name, TIERS))
    return TIERS[name]


# Slot filling measured by the entities that were found.


ROUGE_AT = 0.7
"""ROUGE-L F1 from which free text counts as found."""


@dataclass(frozen=True, slots=True)
class EntityScore:
    """How well slots were filled.

    Attributes:
        precision: Share of the found entities that are right, 0..1; 1 where none was found and none expected.
        recall: Share of the expected entities that were found, 0..1; the same.
        f1: Their harmonic mean, 0..1.
        wrong: The paths of slots with another value.
        missing: The paths of slots that are not filled and should be.
        spurious: The paths of slots that are filled and should not be.
    """

    precision: float
    recall: float
    f1: float
    wrong: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    spurious: tuple[str, ...] = ()


def entity_f1(
    expected: Mapping[str, Any],
    found: Mapping[str, Any],
    *,
    choices: Collection[str] = (),
    rouge_at: float = ROUGE_AT,
) -> EntityScore:
    """Entity F1 of filled slots.

    An entity is a slot with one value; a slot with a list holds several, matched one to one. Keys count exactly.
    Numbers, booleans and the values of ``choices`` count if they are equal, free text from a ROUGE-L F1 of ``rouge_at``
    on. ``F1 = 2 TP / (|expected| + |found|)``, precision ``TP / |found|``, recall ``TP / |expected|``. ``None`` and
    empty values are slots that are not filled; slots within slots have paths.

    Args:
        expected: The right values by slot: of the baseline, or gold.
        found: The values to be measured.
        choices: Slots, by key, whose values are of a closed set.
        rouge_at: 0..1.

    Raises:
        UsageError: An argument is of the wrong type or out of range.

    Source: the slot-filling measure of enterprise benchmarks of prompt sensitivity: keys exact, choice values exact,
    free text by ROUGE-L F1 of at least 0.7.

    >>> entity_f1({"name": "Ada", "plan": "pro"}, {"name": "Ada", "plan": "free"}, choices=["plan"]).f1
    0.5
    """
    for name, value in (("expected", expected), ("found", found)):
        if not isinstance(value, Mapping):
            raise UsageError(f"entity_f1: {name}={value!r:.80} is not a mapping of slot to value")
    if isinstance(choices, str) or not isinstance(choices, Collection):
        raise UsageError(f"entity_f1: choices={choices!r:.80} is not a list of slots")
    if isinstance(rouge_at, bool) or not isinstance(rouge_at, (int, float)) or not 0 <= rouge_at <= 1:
        raise UsageError(f"entity_f1: rouge_at={rouge_at!r:.80} is not a number from 0 to 1")
    one, two = _slots(expected), _slots(found)
    right = 0
    wrong, missing, spurious = [], [], []
    for path in [*one, *(path for path in two if path not in one)]:
        key, wanted = one.get(path, ("", []))
        _, given = two.get(path, ("", []))
        matched = _matched(wanted, given, 1.0 if key in choices else rouge_at)
        right += matched
        if matched < min(len(wanted), len(given)):
            wrong.append(path)
        if len(given) < len(wanted):
            missing.append(path)
        elif len(wanted) < len(given):
            spurious.append(path)
    n_expected, n_found = (sum(len(values) for _, values in each.values()) for each in (one, two))
    empty = not n_expected and not n_found
    return EntityScore(
        precision=right / n_found if n_found else float(empty),
        recall=right / n_expected if n_expected else float(empty),
        f1=2 * right / (n_expected + n_found) if not empty else 1.0,
        wrong=tuple(wrong),
        missing=tuple(missing),
        spurious=tuple(spurious),
    )


def _slots(value: Mapping[str, Any]) -> dict[str, tuple[str, list[Any]]]:
    """Path to key and values of the slots that are filled."""
    found: dict[str, tuple[str, list[Any]]] = {}
    for path, key, item in _filled(value, "$"):
        found.setdefault(path, (key, []))[1].append(item)
    return found


def _filled(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, Any]]:
    for key, item in value.items():
        here = child(path, str(key))
        for each in item if isinstance(item, list) else [item]:
            if isinstance(each, Mapping):
                yield from _filled(each, here)
            elif each not in (None, "", []):
                yield here, str(key), each


def _matched(wanted: list[Any], given: list[Any], rouge_at: float) -> int:
    """How many values find a partner, the likest first."""
    alike = sorted(
        (-likeness, at, place)
        for at, one in enumerate(wanted)
        for place, two in enumerate(given)
        if (likeness := _likeness(one, two, rouge_at)) >= rouge_at
    )
    used: tuple[set[int], set[int]] = set(), set()
    for _, at, place in alike:
        if at not in used[0] and place not in used[1]:
            used[0].add(at)
            used[1].add(place)
    return len(used[0])


def _likeness(one: Any, two: Any, rouge_at: float) -> float:
    if equal(one, two):
        return 1.0
    if isinstance(one, str) and isinstance(two, str):
        return rouge_l(one, two) if rouge_at < 1 else 0.0
    if isinstance(one, str) or isinstance(two, str):
        return float(_written(one) == _written(two))  # "12" and 12 are one value
    return 0.0


def _written(value: Any) -> str:
    return value.strip().casefold() if isinstance(value, str) else json.dumps(value)
