"""The comparison of the Quirx tool, reproduced from answers alone, for setting our results beside published ones.

Overall similarity is 0.3 token + 0.5 semantic + 0.2 structural; equivalent from 0.95 (semantic from 0.90), minor from
0.75 (semantic from 0.70), else a deviation. It has no guards: it calls "the refund is not approved" equivalent to "the
refund is approved". Use it to reproduce figures, not to gate a build.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing import long
from pytest_promptfuzz.comparing.comparison import Comparison, Outcome, Tier
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.embedding.embedder import cosine
from pytest_promptfuzz.errors import ConfigurationError
from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.sequence_diff import ratio

if TYPE_CHECKING:
    from pytest_promptfuzz.embedding.embedder import Embedder

NAME = "quirx"
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
    if max(len(baseline), len(response)) > long.LIMIT:
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
        return Comparison(
            "equivalent", 1.0, "quirx", "overall similarity 1.00 (the answers are identical)", one
        )
    if semantic is None:
        raise ConfigurationError(
            "profile='quirx' needs the semantic tier: pip install 'pytest-promptfuzz[semantic]' and pass semantic=True"
        )
    found = scores(baseline, response, semantic=semantic)
    if found is None:
        return long.undecided(baseline, response)
    tiers = Tier("token", found.token), Tier("semantic", found.semantic), Tier("structural", found.structural)
    explanation = (
        f"overall similarity {found.overall:.2f} "
        f"(token {found.token:.2f}, semantic {found.semantic:.2f}, structural {found.structural:.2f})"
    )
    return Comparison(found.outcome, found.overall, "quirx", explanation, tiers)
