"""English inflection: regular by rule, the verbs and nouns of the lexicon that are off the rules by table."""

from __future__ import annotations

from typing import Literal

from pytest_promptfuzz.mutations.lexicon.nouns import IRREGULAR_PLURALS
from pytest_promptfuzz.mutations.lexicon.verbs import IRREGULAR

_VOWELS = frozenset("aeiou")
_AS_CONSONANT = ("uni", "use", "usa", "usu", "eu", "one", "once", "ubi", "uti")
_NOT_UNI = ("unin", "unim", "unid", "unint", "unis")  # uninteresting: no "yoo"
_SILENT_H = ("hour", "honest", "honor", "honour", "heir")


def third_person(verb: str) -> str:
    """``classifies`` of ``classify``; of a phrase, its first word."""
    first, space, rest = verb.partition(" ")
    known = IRREGULAR.get(first)
    return (known[0] if known else plural(first)) + space + rest


def gerund(verb: str) -> str:
    """``classifying`` of ``classify``; of a phrase, its first word."""
    first, space, rest = verb.partition(" ")
    known = IRREGULAR.get(first)
    if known:
        return known[1] + space + rest
    stem = first[:-1] if first.endswith("e") and not first.endswith(("ee", "oe", "ye")) else first
    return stem + "ing" + space + rest


def participle(verb: str) -> str:
    """``classified`` of ``classify``, ``chosen`` of ``choose``; of a phrase, its first word."""
    first, space, rest = verb.partition(" ")
    again = "re" if first.startswith("re") and first[2:] in IRREGULAR else ""
    known = IRREGULAR.get(first.removeprefix(again))
    if known:
        return again + known[2] + space + rest
    if first.endswith("e"):
        past = first + "d"
    elif first.endswith("y") and first[-2:-1] not in _VOWELS:
        past = first[:-1] + "ied"
    else:
        past = first + "ed"
    return past + space + rest


def plural(noun: str) -> str:
    """``queries`` of ``query``; of a phrase, its last word, but the head of ``point of view``."""
    if " of " in noun:
        head, _, rest = noun.partition(" of ")
        return plural(head) + " of " + rest
    before, space, last = noun.rpartition(" ")
    if last in IRREGULAR_PLURALS:
        return before + space + IRREGULAR_PLURALS[last]
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return noun[:-1] + "ies"
    if noun.endswith("sis"):
        return noun[:-2] + "es"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def an_before(word: str) -> Literal["a", "an"]:
    """The indefinite article that ``word`` takes, by its sound."""
    lower = word.lower()
    if lower.startswith(_SILENT_H):
        return "an"
    if lower.startswith(_AS_CONSONANT) and not lower.startswith(_NOT_UNI):
        return "a"
    return "an" if lower[:1] in _VOWELS else "a"


def lemmas(form: str) -> list[tuple[Literal["base", "s", "ing", "ed"], str]]:
    """What a form may be an inflected form of by the rules: ``[("ing", "writ"), ("ing", "write")]`` of ``writing``.

    A guess for asking a lexicon; whoever uses it checks that the lemma inflects back to the form.
    """
    found: list[tuple[Literal["base", "s", "ing", "ed"], str]] = [("base", form)]
    if form.endswith("ies"):
        found.append(("s", form[:-3] + "y"))
    if form.endswith("es"):
        found.append(("s", form[:-2]))
    if form.endswith("s") and not form.endswith("ss"):
        found.append(("s", form[:-1]))
    if form.endswith("ied"):
        found.append(("ed", form[:-3] + "y"))
    for ending, name in (("ing", "ing"), ("ed", "ed")):
        stem = form.removesuffix(ending)
        if stem != form and len(stem) > 2:
            kind: Literal["ing", "ed"] = "ing" if name == "ing" else "ed"
            found += [(kind, stem), (kind, stem + "e")]
    return found
