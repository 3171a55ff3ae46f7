"""The words that detectors of protected text look for; one pass over a text finds them for all."""

from __future__ import annotations


def vocabulary(*lines: str) -> frozenset[str]:
    """The words of ``lines``, which are separated by spaces."""
    return frozenset(" ".join(lines).split())


def _kinds(**lines: str) -> dict[str, str]:
    """What kind each word is; the words of a kind are separated by spaces."""
    return {word: kind for kind, words in lines.items() for word in words.split()}


CUES = _kinds(
    pick="either entweder soit",
    noun="label labels category categories class classes option options choice choices value values tag tags"
    " sentiment sentiments intent intents priority severity urgency topic topics department queue"
    " kategorie kategorien klasse klassen catégorie catégories étiquette étiquettes categoría categorías"
    " etiqueta etiquetas categoria categorias categorie etichetta etichette categorieën valeurs valores werte valori"
    " waarden optionen opciones opções opzioni opties stimmung sentimiento sentimento priorität dringlichkeit priorité"
    " urgence prioridad urgencia prioridade urgência priorità urgenza prioriteit urgentie",
    sort="classify classifies classified categorize categorise sort assign route rate mark group decide determine"
    " whether detect predict judge klassifiziere ordne classez classifie classifier"
    " classifiez clasifica clasifique classifique classifica classificeer classe"
    " classer clasificar classificar classificare classificeren klassifizieren"
    " bestimme bestimmen détermine déterminez determina determine bepaal etiqueta",
    choose="choose pick select wähle wählen choisis choisissez elige elija escolha scegli scelga kies",
    answer="answer respond reply output return antworte réponds répondez responde responda rispondi antwoord",
    of="one any which eine einer einem einen eines un une uno una um uma een één",
)
"""Words with which a cue begins, in lower case. After ``of`` words another has to follow, and then they ``pick``."""

MARKS = _kinds(
    open=": ： ( [ =",
    plural="labels categories classes options choices values tags sentiments intents topics kategorien klassen"
    " catégories étiquettes categorías etiquetas categorias categorie etichette valeurs valores werte valori waarden"
    " optionen opciones opções opzioni opties",
    noun="label category class option choice value tag sentiment intent priority severity urgency word scale",
    either="either entweder soit",
    into="as into between among from als zwischen como comme come entre tra parmi tussen",
    with_="with about only just exactly mit avec par con com met ausschließlich uniquement seulement exclusivement"
    " únicamente solamente unicamente soltanto apenas somente",
    to="to",
    of="of",
    be="is are be ist sind est es é è",
    one="one any eine einer eines einem einen una un une uno",
)
"""Signs and words after which an enumeration may begin where a cue announces one; after ``one``, another follows."""

SIGNS = tuple(mark for mark, kind in MARKS.items() if kind == "open")
"""Those of the marks that are no words."""

MONTHS = vocabulary(
    "january february march april may june july august september october november december jan feb mar",
    "apr jun jul aug sept sep oct nov dec januar februar märz mai juni juli oktober dezember janvier",
    "février mars avril juin juillet août septembre octobre novembre décembre enero febrero marzo abril",
    "mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio aprile maggio giugno",
    "luglio settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro novembro",
    "dezembro",
)
# Words that are counts. Left out are those that are commonly something else: "second", "once", French "six" is
# English's, Italian "due" and "sei", Spanish and French "un/una/une".
COUNTS = vocabulary(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand",
    "million billion dozen zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig deux trois",
    "quatre cinq sept huit neuf dix onze douze vingt dos tres cuatro cinco siete ocho nueve diez tre",
    "quattro cinque sette otto nove dieci dois duas três quatro oito dez twee drie vijf zes zeven negen",
    "tien",
)
CONDITIONS = frozenset({"if", "when", "unless"})
SAY = vocabulary("write answer reply respond return say state output print put")
"""What comes before an answer that is to be given to the letter."""

KNOWN = frozenset({*CUES, *MARKS, *MONTHS, *COUNTS, *CONDITIONS, *SAY})
"""Every word that a detector looks for."""
