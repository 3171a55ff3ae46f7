"""Turns of phrase of instructions in German, French, Spanish, Italian, Dutch and Portuguese.

Each pair says the same to a careful native reader in the place where it is taken. What would need another form of the
words around it (mood, case, gender) is left out.
"""

from __future__ import annotations

from typing import NamedTuple

from pytest_promptfuzz.mutations.lexicon.table import words


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


COURTESIES = {
    "de": Courtesy(
        words(
            "klassifiziere ordne fasse schreibe schreib antworte gib nenne übersetze erkläre beantworte extrahiere lies"
            " prüfe bewerte bestimme erstelle formuliere analysiere verwende benutze nutze beschreibe finde sortiere"
            " berechne entscheide identifiziere vergleiche korrigiere ergänze wähle markiere vermeide verfasse zähle"
            " ignoriere ermittle untersuche kategorisiere zitiere begründe"
        ),
        words(
            "klassifizieren ordnen fassen schreiben antworten geben nennen übersetzen erklären beantworten extrahieren"
            " lesen prüfen bewerten bestimmen erstellen formulieren analysieren verwenden benutzen nutzen beschreiben"
            " finden sortieren berechnen entscheiden identifizieren vergleichen korrigieren ergänzen wählen markieren"
            " vermeiden verfassen zählen ignorieren ermitteln untersuchen kategorisieren zitieren begründen"
        ),
        r"(?: Sie)? \S",
        ("bitte", "bitte"),
    ),
    "fr": Courtesy(
        words(
            "classe résume réponds écris donne traduis explique extrais lis vérifie évalue détermine crée utilise"
            " décris trouve trie calcule décide identifie compare corrige complète choisis rédige relève indique"
            " reformule"
        ),
        words(
            "classez classifiez résumez répondez écrivez donnez traduisez expliquez extrayez lisez vérifiez évaluez"
            " déterminez créez formulez listez analysez utilisez décrivez trouvez triez calculez décidez identifiez"
            " comparez corrigez complétez choisissez rédigez relevez indiquez citez reformulez recopiez proposez"
        ),
        r" (?:l[ea]s?|l['’]|une?|des?|du|d['’]|ce(?:tte|s|t)?|chaque|à|aux?|en|par|avec|uniquement|seulement|toutes?"
        r"|tous|votre|ton|vos|tes|si|deux|trois)(?![\w])",
        ("s'il te plaît,", "s'il vous plaît,"),
    ),
    "es": Courtesy(
        words(
            "clasifica resume responde contesta escribe traduce explica extrae lee revisa evalúa determina crea enumera"
            " analiza usa utiliza describe encuentra ordena calcula decide identifica compara corrige completa elige"
            " redacta indica cita asigna"
        ),
        words(
            "clasifique resuma responda conteste escriba traduzca explique extraiga lea revise evalúe determine cree"
            " enumere analice use utilice describa encuentre ordene calcule decida identifique compare corrija complete"
            " elija redacte indique cite asigne"
        ),
        r" (?:el|los?|las?|un[ao]?s?|al?|en|con|solo|sólo|solamente|únicamente|cada|todos?|todas?|este|esta|si|tu|su"
        r"|dos|tres)(?!\w)",
        ("por favor,", "por favor,"),
    ),
    "it": Courtesy(
        words(
            "classifica riassumi rispondi scrivi traduci spiega estrai leggi verifica valuta determina crea elenca"
            " analizza usa utilizza descrivi trova ordina calcola decidi identifica confronta correggi completa scegli"
            " indica cita assegna"
        ),
        words(
            "classifichi riassuma risponda scriva traduca spieghi estragga legga verifichi valuti determini elenchi"
            " analizzi usi utilizzi descriva trovi calcoli decida identifichi confronti corregga completi scelga"
            " indichi classificate riassumete rispondete scrivete traducete leggete usate utilizzate indicate"
        ),
        r" (?:il|lo|la|i|gli|le|l['’]|un[ao]?|un['’]|all?[aeo']?|ai|in|con|solo|soltanto|unicamente|ogni|tutt[iaeo]"
        r"|quest[aoie]|se|due|tre)(?![\w])",
        ("per favore,", "per favore,"),
    ),
    "nl": Courtesy(
        words(
            "classificeer vat beantwoord antwoord geef schrijf vertaal noem lees controleer beoordeel bepaal maak"
            " gebruik beschrijf sorteer bereken identificeer vergelijk corrigeer kies"
        ),
        frozenset(),
        r" (?:de|het|een|één|alleen|uitsluitend|in|op|met|elke?|deze|dit|die|alle|geen|kort|twee|drie)(?!\w)",
        ("alsjeblieft", "alstublieft"),
        behind=True,
    ),
    "pt": Courtesy(
        words(
            "classifica resume responde escreve traduz explica extrai lê verifica avalia determina analisa utiliza"
            " descreve encontra ordena calcula identifica compara corrige completa escolhe indica"
        ),
        words(
            "classifique resuma responda escreva traduza explique extraia leia verifique avalie determine crie liste"
            " analise use utilize descreva encontre ordene calcule decida identifique compare corrija complete escolha"
            " redija indique cite"
        ),
        r" (?:os?|as?|uma?s?|ao|à|em|com|apenas|somente|só|cada|tod[oa]s?|este|esta|se|sua?|seu|duas?|dois|três)(?!\w)",
        ("por favor,", "por favor,"),
    ),
}


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


def _both(one: str, other: str) -> dict[str, str]:
    return {one: other, other: one}


_COUNT = (
    r"(?= (?:\d|ein|een|één|zwei|drei|vier|fünf|sechs|zehn|deux|trois|twee|drie|vijf|dos|tres|un|due|tre|duas|três"
    r"|uma))"
)
_LONE_DE = r"(?! (?:dann|wenn|falls|noch|so|zu|bis|ein\w*|zwei|drei|\d))(?!\w)"
_OF_DE = r"(?= (?:der|des|dieser|dieses) )"
_DOUBT_DE = r"(?= (?:die|der|das|du|sie|es|ein|eine|keine?|etwas|nichts|mehrere) )"
_A_DE = r"(?= (?:eine?n?|keine?n?) )"
_A_FR = r"(?= (?:une?|la|le|deux|trois) )"
_ANSWERS_ES = (
    "(?:responde|responda|contesta|conteste|usa|use|utiliza|utilice|escribe|escriba"
    "|devuelve|devuelva|indica|indique) "
)
_ONLY_ES = r"(?! (?:si|cuando|hasta))(?!\w)"
_TO_ES = r"(?= (?:a|con|en|solo|sólo|solamente|únicamente) )"
_A_ES = r"(?= (?:un|una|solo|sólo|el|la|los|las|palabras|frases) )"
_ANSWERS_IT = (
    "(?:rispondi|risponda|rispondete|usa|usi|utilizza|utilizzi|scrivi|scriva|restituisci|indica|indichi) "
)
_A_IT = r"(?= (?:un|una|solo|soltanto|il|la|i|gli|le|frasi|parole) )"
_ANSWERS_NL = "(?:antwoord|geef|gebruik|noem|schrijf)(?: alsjeblieft| alstublieft)? "
_ANSWERS_PT = "(?:responda|responde|use|utilize|escreva|retorne|devolva|indique|cite) "
_A_PT = r"(?= (?:uma?|apenas|somente|os?|as?|frases|palavras) )"

PHRASES: dict[str, tuple[Swap, ...]] = {
    "de": (
        Swap(
            _both("nur", "ausschließlich"),
            "(?:antworte|gib|schreibe?|verwende|nutze|benutze|liefere|(?:antworten|geben|schreiben|verwenden|nutzen"
            "|benutzen|liefern) sie) ",
            _LONE_DE,
        ),
        Swap(_both("verwende", "benutze"), after=_A_DE),
        Swap(_both("verwenden sie", "benutzen Sie"), after=_A_DE),
        Swap({"benutzen sie": "verwenden Sie"}, after=_A_DE),
        Swap(_both("stelle sicher", "achte darauf"), after="(?=, dass )"),
        Swap({"stellen sie sicher": "achten Sie darauf"}, after="(?=, dass )"),
        Swap({"achten sie darauf": "stellen Sie sicher"}, after="(?=, dass )"),
        Swap(_both("höchstens", "maximal"), after=_COUNT),
        Swap(_both("mindestens", "wenigstens"), after=_COUNT),
        Swap({"anhand": "auf Grundlage", "auf grundlage": "anhand"}, after=_OF_DE),
        Swap({"falls": "wenn"}, after=_DOUBT_DE),
        Swap({f"folgende{end}": f"nachfolgende{end}" for end in ("n", "r", "s", "")}, "(?:der|die|das|den|dem) "),
    ),
    "fr": (
        Swap(
            _both("uniquement", "exclusivement"),
            "(?:réponds|répondez|donnez?|utilisez?|renvoyez|renvoie|retournez?|écris|écrivez|indiquez?|citez?|appuyant"
            "|basant) ",
            r"(?! (?:si|quand|lorsqu|à partir))(?!\w)",
        ),
        Swap(_both("au maximum", "au plus"), after="(?=[.,;!]| en | et )"),
        Swap(_both("au minimum", "au moins"), after=rf"(?:{_COUNT}|(?=[.,;!]))"),
        Swap(_both("appuyant", "basant"), "en (?:vous|te|t['’]) ?", "(?= (?:uniquement |exclusivement )?sur )"),
        Swap({"à l'aide": "au moyen", "à l’aide": "au moyen", "au moyen": "à l'aide"}, after="(?= (?:d[eu]s? |d['’]))"),
        Swap(_both("rédigez", "écrivez"), after=_A_FR),
        Swap(_both("rédige", "écris"), after=_A_FR),
        Swap({"afin de": "pour"}, after=r"(?= [a-zéè]+(?:er|ir|re|oir)\b)"),
        Swap(_both("ci-dessous", "ci-après"), r"[\wéèàê]+ "),
    ),
    "es": (
        Swap({"solo": "únicamente", "sólo": "únicamente"}, _ANSWERS_ES, _ONLY_ES),
        Swap(_both("únicamente", "solamente"), _ANSWERS_ES, _ONLY_ES),
        Swap(_both("responde", "contesta"), after=_TO_ES),
        Swap(_both("responda", "conteste"), after=_TO_ES),
        Swap(_both("utiliza", "usa"), after=_A_ES),
        Swap(_both("utilice", "use"), after=_A_ES),
        Swap(_both("asegúrate", "cerciórate"), after="(?= de que )"),
        Swap(_both("asegúrese", "cerciórese"), after="(?= de que )"),
        Swap(_both("como máximo", "como mucho"), after="(?=[.,;!]| en | y )"),
        Swap(_both("al menos", "como mínimo"), after=_COUNT),
    ),
    "it": (
        Swap({"solo": "soltanto"}, _ANSWERS_IT, r"(?! (?:se|quando|fino))(?!\w)"),
        Swap(_both("soltanto", "unicamente"), _ANSWERS_IT, r"(?! (?:se|quando|fino))(?!\w)"),
        Swap(_both("utilizza", "usa"), after=_A_IT),
        Swap(_both("utilizzare", "usare"), "non "),
        Swap(_both("assicurati", "accertati"), after="(?= che )"),
        Swap(_both("almeno", "come minimo"), after=_COUNT),
    ),
    "nl": (
        Swap(_both("alleen", "uitsluitend"), _ANSWERS_NL, r"(?! (?:als|wanneer|maar|nog|bij))(?!\w)"),
        Swap(_both("zorg ervoor", "zorg"), after="(?= dat )"),
        Swap({"hoogstens": "maximaal", "ten hoogste": "maximaal", "maximaal": "hoogstens"}, after=_COUNT),
        Swap({"minstens": "minimaal", "ten minste": "minimaal", "minimaal": "minstens"}, after=_COUNT),
        Swap(_both("op basis van", "aan de hand van"), after="(?= (?:de|het|een|deze|dit) )"),
        Swap({"indien": "als"}, after="(?= (?:de|het|er|je|u|een|dit|dat) )"),
    ),
    "pt": (
        Swap(_both("apenas", "somente"), _ANSWERS_PT, r"(?! (?:se|quando|até))(?!\w)"),
        Swap(_both("utilize", "use"), after=_A_PT),
        Swap(_both("certifique-se", "assegure-se"), after="(?= de que )"),
        Swap(_both("pelo menos", "no mínimo"), after=_COUNT),
        Swap(_both("abaixo", "a seguir"), "(?:texto|mensagem|código|e-mail|comentário|trecho|lista|pergunta) "),
    ),
}  # fmt: skip

BRIEF: dict[str, dict[str, str]] = {
    "de": {
        "zum Beispiel": "z. B.", "das heißt": "d. h.", "beziehungsweise": "bzw.", "gegebenenfalls": "ggf.",
        "inklusive": "inkl.", "unter anderem": "u. a.", "und so weiter": "usw.",
    },
    "fr": {"par exemple": "p. ex.", "c'est-à-dire": "c.-à-d."},
    "es": {"por ejemplo": "p. ej.", "etcétera": "etc."},
    "it": {"ad esempio": "ad es.", "per esempio": "per es.", "eccetera": "ecc."},
    "nl": {
        "bijvoorbeeld": "bijv.", "dat wil zeggen": "d.w.z.", "onder andere": "o.a.", "met betrekking tot": "m.b.t.",
        "eventueel": "evt.", "enzovoort": "enz.",
    },
    "pt": {"por exemplo": "p. ex.", "etcétera": "etc."},
}  # fmt: skip
"""What is abbreviated, and how."""
ALSO_BRIEF: dict[str, dict[str, str]] = {
    "de": {"z.B.": "zum Beispiel", "d.h.": "das heißt", "u.a.": "unter anderem"},
    "fr": {"c.-à-d.": "c'est-à-dire", "par ex.": "par exemple"},
    "es": {"p.ej.": "por ejemplo"},
    "it": {"p. es.": "per esempio"},
    "nl": {"d. w. z.": "dat wil zeggen"},
    "pt": {"por ex.": "por exemplo", "p.ex.": "por exemplo"},
}
"""Other ways to write an abbreviation."""
CLOSING = frozenset(["usw.", "u. a.", "u.a.", "etc.", "ecc.", "enz.", "o.a."])
"""Abbreviations that may close a sentence, and are not touched where one may end with them."""

_FRENCH = """
événement évènement événements évènements connaître connaitre reconnaître reconnaitre maître maitre maîtres maitres
paraître paraitre apparaître apparaitre apparaît apparait coût cout coûts couts goût gout goûts gouts août aout
boîte boite boîtes boites chaîne chaine chaînes chaines île ile îles iles plaît plait fraîche fraiche dîner diner
week-end weekend week-ends weekends entraîner entrainer clé clef clés clefs
"""
_GERMAN = """
selbstständig selbständig selbstständige selbständige selbstständigen selbständigen aufwendig aufwändig aufwendige
aufwändige aufwendigen aufwändigen Potenzial Potential Potenziale Potentiale Grafik Graphik Grafiken Graphiken Delfin
Delphin mithilfe mit_Hilfe aufgrund auf_Grund sodass so_dass anstelle an_Stelle zugunsten zu_Gunsten
"""
_SPANISH = "periodo período periodos períodos video vídeo videos vídeos"


def _pairs(text: str) -> dict[str, str]:
    forms = [each.replace("_", " ") for each in text.split()]
    return {
        form: other
        for one, two in zip(forms[::2], forms[1::2], strict=True)
        for form, other in ((one, two), (two, one))
    }


SPELLINGS = {"de": _pairs(_GERMAN), "fr": _pairs(_FRENCH), "es": _pairs(_SPANISH)}
"""Spellings of one word that are both right today: the French ones of before and after 1990."""
