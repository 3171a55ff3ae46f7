"""Telling a handful of languages apart by their commonest words."""

from __future__ import annotations

from pytest_promptfuzz.targets.simulated.words import words

COMMONEST = {
    "english": (
        "the and is are was of to in that it for with you this have not be on my i we your has but they"
    ),
    "spanish": (
        "el la los las de que y en un una es por con para no se su lo me mi está muy pero más como"
        " hola gracias"
    ),
    "french": (
        "le la les des de et en un une est pour que qui dans ne pas je vous nous avec sur mon très"
        " mais merci ce c'est"
    ),
    "german": (
        "der die das und ist nicht ein eine ich sie wir mit zu den von für auf im sehr aber auch"
        " mein haben wurde bitte"
    ),
    "italian": (
        "il la gli di che e un una è per non con sono mi del della ho molto ma come questo grazie nel alla"
    ),
    "portuguese": (
        "o a os as de que e um uma é não com para por em do da no na eu meu muito mas obrigado está você"
    ),
    "dutch": (
        "de het een en is niet van ik je dat in op te met voor zijn maar ook mijn heel aan wij deze werd"
    ),
}
SETS = {name: frozenset(listed.split()) for name, listed in COMMONEST.items()}


def language_of(text: str) -> str:
    """The language whose commonest words the text uses most, in lower case; ``english`` when none is used."""
    found = words(text)
    counts = {name: sum(word in known for word in found) for name, known in SETS.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else "english"
