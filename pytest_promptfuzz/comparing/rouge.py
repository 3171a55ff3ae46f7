"""ROUGE-L: the longest common subsequence of words."""

from __future__ import annotations

import re

from rapidfuzz.distance import LCSseq

# Runs of letters and digits, as the reference implementation splits English, and characters of scripts without
# spaces one by one, which it leaves out.
_WIDE = r"\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_WIDE}]|[^\W_{_WIDE}]+")


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
