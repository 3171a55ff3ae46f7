"""Answers to a question whose options got other labels, with the labels that they had before."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.providers.requests import Response

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def with_labels_before(answer: Any, before: Mapping[str, str]) -> Any:
    """An answer with the labels of options as they were: text, a ``Response``, or lists and mappings of text.

    A label counts where it is the answer, opens it, stands in brackets or after ``answer``, ``option`` or ``choice``.

    >>> with_labels_before("The answer is 2.", {"1": "A", "2": "B"})
    'The answer is B.'
    """
    if isinstance(answer, str):
        return _label_pattern(tuple(before)).sub(lambda match: _mapped(match, before), answer)
    if isinstance(answer, Response):
        return replace(answer, text=with_labels_before(answer.text, before))
    if isinstance(answer, list | tuple) and type(answer) in {list, tuple}:
        return type(answer)(with_labels_before(each, before) for each in answer)
    if isinstance(answer, dict):
        return {key: with_labels_before(each, before) for key, each in answer.items()}
    if type(answer) is int and str(answer) in before:
        return before[str(answer)]
    return answer


def _label_pattern(names: Sequence[str]) -> re.Pattern[str]:
    label = rf"(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})"
    alone = rf"(?<![\w'’]){label}(?![\w'’])"
    return re.compile(
        rf"\A\W*{alone}(?:\s*(?:,|and|&|or)\s*{alone})*\W*\Z"
        rf"|\A\W*{alone}(?=[).:\]])|^[ \t(*]*{alone}(?=[).:*])"
        rf"|\({alone}\)"
        rf"|\b(?:answer|option|choice|letter|number)s?\"?(?: is| are|:|=)*[ \t*(\"'\[]*{alone}(?=\W|$)",
        re.IGNORECASE if names and not names[0].islower() and not names[0].isupper() else 0,
    )


def _mapped(match: re.Match[str], before: Mapping[str, str]) -> str:
    words = re.compile(rf"(?<![\w'’])(?:{'|'.join(map(re.escape, before))})(?![\w'’])")
    return words.sub(lambda each: before[each[0]], match[0])
