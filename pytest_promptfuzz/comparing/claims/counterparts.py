"""Statements that both answers make in nearly the same words, and what changed within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import guards
from pytest_promptfuzz.comparing.by_words import same_words
from pytest_promptfuzz.comparing.guards import sequence
from pytest_promptfuzz.comparing.guards.pair import Finding, Pair
from pytest_promptfuzz.comparing.guards.polarity import written
from pytest_promptfuzz.comparing.lexicon import FUNCTION_WORDS, NEGATORS, word_set
from pytest_promptfuzz.comparing.text import analyse, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_promptfuzz.comparing.reading.answer import Answer, Statement

_KEPT = 0.75
"""Share of words, in order, from which two statements are one that was edited."""
_KEPT_STEMS = 0.5
"""Share of stems, in any order, without which no two statements have as many words in order."""
_KEPT_WHOLE = 0.8
"""The same of two answers."""
_FEWEST = 3
_MOST = 60
"""Statements of an answer that are compared with each other."""
_GUARDS = ("negation", "choices", "modality", "conditions", "roles")
"""What is told from an edited statement alone; figures and names are compared for the whole answer."""
_WEIGHTY = word_set(
    """i you he she we they me him her us them my your his our their to from by for with without before after until
    since over under above below up down in out on off if unless only and or all any each both either neither"""
)
"""Function words that tell who does what to whom, and when."""
_SMALL = tuple(
    map(
        word_set,
        ("and or", "before after once until while", "both each either", "this next last", "within over"),
    )
)
"""Small words of one kind, of which one for another changes what an otherwise equal statement says."""
_LIMITING = NEGATORS | word_set("only if unless except until provided but however may might could")
"""Words that take something back from what was said, where one answer alone has them."""


def edited(baseline: Answer, response: Answer, whole: Pair, names: Collection[str]) -> Finding | None:
    """What changed in a statement that was kept but for an edit.

    Args:
        baseline: The one answer.
        response: The other one.
        whole: Their texts.
        names: The guards that may contradict.

    Returns:
        A contradiction that a guard found, or a doubt: what an edit changed and no guard knows.
    """
    steps = sequence.check_steps(whole) if "sequence" in names else None
    if steps and (steps.kind == "contradiction" or "1." in baseline.text):
        doubt: Finding | None = steps
    else:
        doubt = _edit(whole) if whole.similarity >= _KEPT_WHOLE else None
    if doubt and doubt.kind == "contradiction":
        return doubt
    asked = tuple(name for name in _GUARDS if name in names)
    there = {each.folded for each in response.statements}
    for statement in baseline.statements[:_MOST]:
        if statement.folded in there:
            continue
        pair = _counterpart(statement, response)
        if pair is None:
            continue
        found = next((each for each in guards.run(pair, asked) if each.kind == "contradiction"), None)
        if found:
            return found
        doubt = doubt or _edit(pair)
    return doubt


def _counterpart(statement: Statement, response: Answer) -> Pair | None:
    """The statement of the response with the most words of this one, in order."""
    if sum([each.kind == "word" for each in statement.pieces]) < _FEWEST:
        return None
    best, most = None, _KEPT
    for other in response.statements[:_MOST]:
        shared = len(statement.stems & other.stems)
        if shared < _KEPT_STEMS * min(len(statement.stems), len(other.stems)):
            continue
        pair = Pair(analyse(statement.text), analyse(other.text))
        if pair.similarity > most:
            best, most = pair, pair.similarity
    return best


def _edit(pair: Pair) -> Finding | None:
    gone, come = pair.changed
    old, new = (sorted(tokens - FUNCTION_WORDS | tokens & _WEIGHTY) for tokens in (gone, come))
    for kind in _SMALL:
        if len(old) == len(new) == 1 and old[0] in kind and new[0] in kind:
            became = (
                f"{written(pair, old[0])!r} in the baseline became {written(pair, new[0], response=True)!r}"
            )
            return Finding("choices", "contradiction", became)
    if old and new:
        became = f"{written(pair, old[0])!r} in the baseline became {written(pair, new[0], response=True)!r}"
        return Finding("wording", "doubt", became)
    if old:
        return Finding("wording", "doubt", f"only the baseline has {written(pair, old[0])!r}")
    limiting = [word for word in new if word in _LIMITING]
    if limiting:
        word = written(pair, limiting[0], response=True)
        return Finding("wording", "doubt", f"only the response has {word!r}")
    if (
        not gone
        and not come
        and pair.a.tokens != pair.b.tokens
        and sorted(pair.a.tokens) == sorted(pair.b.tokens)
        and not same_words(pair)
    ):
        return Finding("wording", "doubt", f"the words of {shown(pair.a.clean)} stand in another order")
    return None
