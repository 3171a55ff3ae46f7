"""The words that announce labels, and those before which a list of labels may begin."""

from __future__ import annotations


def _kinds(**lines: str) -> dict[str, str]:
    """What kind each word is; the words of a kind are separated by spaces."""
    return {word: kind for kind, words in lines.items() for word in words.split()}


CUES = _kinds(
    pick="either entweder soit",
    noun="label labels category categories class classes option options choice choices value values tag tags"
    " sentiment sentiments intent intents priority severity urgency topic topics department queue"
    " kategorie kategorien klasse klassen catégorie catégories étiquette étiquettes categoría categorías"
    " etiqueta etiquetas categoria categorias categorie etichetta etichette categorieën",
    sort="classify classifies classified categorize categorise sort assign route rate mark group decide determine"
    " whether detect predict judge choose pick select klassifiziere ordne wähle classez classifie classifier"
    " classifiez choisis clasifica clasifique elige classifique classifica escolha scegli classificeer kies",
    answer="answer respond reply output return antworte réponds répondez responde responda rispondi antwoord",
    of="one any which eine einer einem einen eines un une uno una um uma een één",
)
"""Words with which a cue begins, in lower case. After ``of`` words another has to follow, and then they ``pick``."""

MARKS = _kinds(
    open=": ： ( [ =",
    plural="labels categories classes options choices values tags sentiments intents topics kategorien klassen"
    " catégories étiquettes categorías etiquetas categorias categorie etichette",
    noun="label category class option choice value tag sentiment intent priority severity urgency word scale",
    either="either entweder soit",
    into="as into between among from als zwischen como comme come entre tra parmi tussen",
    with_="with about only just exactly mit avec con com met",
    to="to",
    of="of",
    be="is are be ist sind est es é è",
    one="one any eine einer eines einem einen una un une uno",
)
"""Signs and words after which an enumeration may begin where a cue announces one; after ``one``, another follows."""

SIGNS = tuple(mark for mark, kind in MARKS.items() if kind == "open")
"""Those of the marks that are no words."""

LOOKED_UP = frozenset({*CUES, *MARKS})
"""Every word that is one of either."""
