"""Published text metrics, from 0 to 1: BLEU and chrF by sacrebleu, Indel on words. ROUGE-L has a module of its own."""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any

from rapidfuzz.distance import Indel

from pytest_promptfuzz.errors import ConfigurationError


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
