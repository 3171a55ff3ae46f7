"""Other ways to say the phrases of instructions, in several languages; how prompts speak of the form of a text."""

from __future__ import annotations

from typing import NamedTuple

from pytest_promptfuzz.data.tables import entries, filled, listed, pairs, when_used, words_in

REGISTER = pairs("phrases/register.tsv")
"""Formal phrases and casual ones, in lower case."""

_LIMITS = "phrases/register_limits.tsv"
ONE_WAY = words_in(_LIMITS, "one way")
"""Casual phrases with so many uses that they are never turned formal."""

OPENING = words_in(_LIMITS, "opening")
"""Phrases that mean the same only where they open a sentence (``Otherwise, ...``, ``You need to ...``)."""

ABOUT = words_in(_LIMITS, "before about")
"""What ``with regard to`` and ``about`` say the same behind."""

VERBAL = words_in(_LIMITS, "verbal")
"""Phrases whose first word is a noun elsewhere, or takes another form with another subject."""

REWORDINGS = pairs("phrases/rewordings.tsv")
"""Patterns and paraphrases, in lower case; ``{x}`` stands for a stretch of the sentence that is kept as it is."""

STARTING = ("you are a", "you are an")
"""Rewordings for the start of a sentence: "if you are a beginner" sets no role."""

REMARKS = listed("phrases/remarks.tsv")
"""Sentences that set a tone and ask for nothing, ways to open an instruction in a register, and thanks."""


# Turns of phrase of instructions in German, French, Spanish, Italian, Dutch and Portuguese.


class Courtesy(NamedTuple):
    """How an instruction is asked for politely.

    Attributes:
        verbs: Imperatives that open a sentence, in small letters; the first group addresses a friend.
        formal: Those that address a stranger.
        follows: Patterns of what stands behind the verb, so that a noun of the same form is none.
        please: What is said to a friend, and what to a stranger.
        behind: Whether it stands behind the verb and not before it.
    """

    verbs: frozenset[str]
    formal: frozenset[str]
    follows: str
    please: tuple[str, str]
    behind: bool = False


def _courtesies() -> dict[str, Courtesy]:
    told: dict[str, dict[str, list[str]]] = {}

    def add(language: str, kind: str, *texts: str) -> None:
        told.setdefault(language, {}).setdefault(kind, []).extend(texts)

    entries("phrases/courtesies.tsv", add)
    found = {}
    for language, kinds in told.items():
        behind = "please behind" in kinds
        friend, stranger = kinds["please behind" if behind else "please before"]
        verbs, formal = (frozenset(kinds.get(kind, ())) for kind in ("friend", "stranger"))
        (follows,) = kinds["follows"]
        found[language] = Courtesy(verbs, formal, follows, (friend, stranger), behind)
    return found


COURTESIES: dict[str, Courtesy] = when_used(_courtesies)


class Swap(NamedTuple):
    """Sayings that stand for one another.

    Attributes:
        forms: What may stand there, in small letters, and what is then put in its place.
        before: A pattern of what stands before it.
        after: A pattern of what stands behind it.
    """

    forms: dict[str, str]
    before: str = ""
    after: str = r"(?!\w)"


def _swaps() -> dict[str, list[Swap]]:
    named: dict[str, str] = {}
    found: dict[str, list[Swap]] = {}

    def add(language: str, before: str, sayings: str = "", after: str = r"(?!\w)") -> None:
        if not sayings:
            named[language] = before
            return
        forms = {}
        for saying in sayings.split("; "):
            one, way, other = saying.rpartition(" = ")
            if not way:
                one, _, other = saying.partition(" > ")
            forms.update({one: other, other: one} if way else {one: other})
        found.setdefault(language, []).append(Swap(forms, filled(before, named), filled(after, named)))

    entries("phrases/swaps.tsv", add)
    return found


SWAPS: dict[str, list[Swap]] = when_used(_swaps)


def _brief(*, others: bool) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}

    def add(language: str, phrase: str, brief: str, *other: str) -> None:
        forms = dict.fromkeys(other, phrase) if others else {phrase: brief}
        found.setdefault(language, {}).update(forms)

    entries("phrases/abbreviations.tsv", add)
    return found


BRIEF: dict[str, dict[str, str]] = when_used(lambda: _brief(others=False))
"""What is abbreviated, and how."""
ALSO_BRIEF: dict[str, dict[str, str]] = when_used(lambda: _brief(others=True))
"""Other ways to write an abbreviation, and what it stands for."""
CLOSING = frozenset(["usw.", "u. a.", "u.a.", "etc.", "ecc.", "enz.", "o.a."])
"""Abbreviations that may close a sentence, and are not touched where one may end with them."""


def _spellings() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}

    def add(language: str, one: str, other: str) -> None:
        found.setdefault(language, {}).update({one: other, other: one})

    entries("phrases/spellings.tsv", add)
    return found


SPELLINGS: dict[str, dict[str, str]] = when_used(_spellings)
"""Spellings of one word that are both right today."""


# How prompts speak of the form of a text: things (``commas``) and what is done with them (``count``).


class TextForm(NamedTuple):
    """One way to speak of form.

    Attributes:
        cues: Words in small letters; a text without any of them is not looked at.
        thing: A pattern of text in small letters.
        act: Likewise, of the sentence it stands in; empty where the thing says it all.
        needs: Where the cues are common words: more words, of each group of which the text must hold one.
    """

    cues: list[str]
    thing: str
    act: str
    needs: list[frozenset[str]]


def text_forms() -> list[TextForm]:
    """Every way that is known, English first."""
    named: dict[str, str] = {}
    told: dict[str, dict[str, list[str]]] = {}

    def add(name: str, kind: str, text: str = "") -> None:
        if text:
            told.setdefault(name, {}).setdefault(kind, []).append(text)
        else:
            named[name] = f"{named[name]}|{kind}" if name in named else kind

    entries("phrases/text_forms.tsv", add)
    groups = {name: f"(?:{pattern})" for name, pattern in named.items()}
    return [
        TextForm(
            kinds["cue"],
            _thing(kinds),
            filled("|".join(kinds.get("act", ())), groups),
            [frozenset(each.split()) for each in kinds.get("needs", ())],
        )
        for kinds in told.values()
    ]


def _thing(kinds: dict[str, list[str]]) -> str:
    if "thing" in kinds:
        return "|".join(kinds["thing"])
    cues = "|".join(kinds["cue"])
    if "counted" in kinds:  # units that are form only where they are counted
        return rf"\b(?:{'|'.join(kinds['counted'])})(?: (?!many\b)[^\W\d]+){{0,3}}? (?:{cues})\b"
    # "in capital letters" and "a comma-separated list" say how to answer.
    return rf"(?<!\bin )(?<!\ben )(?<!\bem )\b(?:{cues})\b(?!-)"
