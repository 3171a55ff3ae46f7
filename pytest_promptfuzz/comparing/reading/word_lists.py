"""Words the comparison knows: function words, negators, number words, units; larger tables stand in files.

Small on purpose: a word belongs here or there only if confusing it with its neighbour would reverse an answer, or if
telling it from its neighbour would call a harmless rewording a change.
"""

from __future__ import annotations

from pytest_promptfuzz.data.tables import entries, pairs, when_used


def word_set(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())


FUNCTION_WORDS = word_set(
    """a an the this that these those it its he she they them their his her we us our you your i me my mine
    is are was were be been being am do does did done has have had having will would shall to of in on
    at by for from with as and or but so if then than there here which who whom whose what when where
    while also just very really please kindly simply currently now yes no sure certainly course well ok
    okay thanks thank hello hi hey dear via per about into onto over under up down out off upon within
    during through both either each any such same own too s t re ve ll d m degree can could's because
    since therefore thus hence however moreover additionally overall indeed great happy degree degrees °
    let know going go make made's"""
)
"""Words whose presence or absence alone changes no meaning that another guard does not look at."""

NEGATORS = word_set(
    """not no never none nobody nothing neither nor nowhere without cannot lack hardly barely scarcely
    nicht kein keine keinen keiner keines keinem nie niemals nichts niemand ne pas jamais aucun aucune personne rien
    nunca nem não nadie nada ninguno ninguna non niet geen nie inte ikke nessuno niente не нет ни никогда нельзя
    без لا لم لن ليس ليست غير بدون לא אין בלי नहीं değil 不 没 沒 無 无 ない"""
)
"""Words that deny what follows them."""

CONTRACTIONS: dict[str, tuple[str, ...]] = {
    "won't": ("will", "not"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("is", "not"),
    "unable": ("can", "not"),
    "let's": ("let", "us"),
}

NUMBER_WORDS: dict[str, int] = when_used(
    lambda: dict(entries("values/number_words.tsv", lambda word, number: (word, int(number))))
)

MULTIPLIERS: dict[str, int] = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "k": 1_000,
    "m": 10**6,
    "mn": 10**6,
    "bn": 10**9,
    "b": 10**9,
}

UNITS = pairs("values/unit_spellings.tsv")
"""Spellings of units that are the same unit."""

SPELLINGS: dict[str, str] = {"without": "not", "cannot": "not"}
"""Words that are other words when read closely."""

IN_SMALLER_UNITS: dict[str, tuple[int, str]] = {"week": (7, "day"), "dozen": (12, "")}
"""A counted unit and what it is in a smaller one: two weeks are 14 days."""

IN_LARGER_UNITS: dict[str, tuple[int, str]] = {
    "second": (60, "minute"),
    "minute": (60, "hour"),
    "hour": (24, "day"),
    "month": (12, "year"),
}
"""How many of a unit make a larger one: 24 hours are a day."""
