"""Phrases of instructions and what says the same: register, and other ways to put an instruction.

In a rule, which is a regular expression, ``{x}`` stands for a stretch of the sentence that is kept as it is; it never
crosses a sentence or colon.
"""

from __future__ import annotations

from typing import NamedTuple

from pytest_promptfuzz.text.expressions import words

REGISTER: tuple[tuple[str, str], ...] = (
    # formal, casual
    ("obtain", "get"),
    ("receive", "get"),
    ("in order to", "to"),
    ("prior to", "before"),
    ("subsequent to", "after"),
    ("additionally", "also"),
    ("therefore", "so"),
    ("consequently", "so"),
    ("otherwise", "if not"),
    ("assist", "help"),
    ("commence", "start"),
    ("utilize", "use"),
    ("sufficient", "enough"),
    ("numerous", "lots of"),
    ("approximately", "about"),
    ("regarding", "about"),
    ("such as", "like"),
    ("a great deal of", "a lot of"),
    ("in the event that", "if"),
    ("ensure that", "make sure that"),
    ("inquire about", "ask about"),
    ("attempt to", "try to"),
    ("endeavor to", "try to"),
    ("demonstrate", "show"),
    ("in accordance with", "in line with"),
    ("kindly", "please"),
    ("purchase", "buy"),
    ("reside", "live"),
    ("do not hesitate to", "feel free to"),
    ("you are required to", "you need to"),
    ("it is necessary to", "you need to"),
    ("you are requested to", "please"),
    ("at this time", "now"),
    ("in a timely manner", "quickly"),
    ("with regard to", "about"),
    ("in conclusion", "to sum up"),
    ("thank you for", "thanks for"),
    ("at your earliest convenience", "as soon as you can"),
    ("inform the user", "let the user know"),
    ("inform the customer", "let the customer know"),
    ("is able to", "can"),
    ("are able to", "can"),
    ("the manner in which", "how"),
    ("due to the fact that", "because"),
    ("in the course of", "during"),
)
"""Pairs ``(formal, casual)``, in lower case."""

ONE_WAY = frozenset(
    [
        *words(
            "to about also so help enough if get now start buy live like show please during can how because"
        ),
        *words("quickly after use before"),
        "lots of",
        "a lot of",
        "if not",
    ]
)
"""Casual phrases with so many uses that they are never turned formal."""

OPENING = words("additionally therefore consequently otherwise kindly") | {
    "you need to",
    "you are requested to",
}
"""Phrases that mean the same only where they open a sentence (``Otherwise, ...``, ``You need to ...``)."""

ABOUT = words(
    """
    advice answer answers ask asked call claim claims comment comments complain complained complaint complaints concern
    concerns decision decisions detail details doubt doubts email enquiries enquiry fact facts feedback guidance
    information inquiries inquiry know letter message news note notes opinion opinions problem problems question
    questions remark remarks report rule rules say says something speak statement statements talk tell text think write
    """
)
"""What ``with regard to`` and ``about`` say the same behind."""

VERBAL = words("obtain receive assist commence demonstrate purchase reside") | {
    "attempt to", "endeavor to", "try to", "inquire about", "ask about", "ensure that", "make sure that",
}  # fmt: skip
"""Phrases whose first word is a noun elsewhere, or takes another form with another subject."""

RULES: tuple[tuple[str, str], ...] = (
    ("classify {x} as", "label {x} as"),
    ("classify {x} into", "sort {x} into"),
    ("categorize {x} as", "classify {x} as"),
    ("determine whether", "decide whether"),
    ("determine if", "find out whether"),
    ("decide if", "decide whether"),
    ("return only", "respond with nothing but"),
    ("respond only with", "reply with nothing but"),
    ("respond with only", "respond with nothing but"),
    ("reply only with", "answer with nothing but"),
    ("reply with only", "reply with just"),
    ("answer only with", "respond with nothing but"),
    ("answer with only", "answer with just"),
    ("output only", "return nothing but"),
    ("only return", "return nothing but"),
    ("only output", "output nothing but"),
    ("only respond with", "respond with nothing but"),
    ("only reply with", "reply with nothing but"),
    ("only answer with", "answer with nothing but"),
    ("provide only", "give nothing but"),
    ("write only", "write nothing but"),
    ("respond with the", "reply with the"),
    ("respond with a", "reply with a"),
    ("respond in", "write your response in"),
    ("reply in", "write your reply in"),
    ("answer in", "write your answer in"),
    ("do not include", "leave out"),
    ("do not use", "refrain from using"),
    ("do not add", "refrain from adding"),
    ("do not mention(?! (?:that|how|whether))", "make no mention of"),
    ("do not make up", "never invent"),
    ("do not invent", "never make up"),
    ("do not provide", "refrain from providing"),
    ("do not repeat", "avoid repeating"),
    ("do not write", "avoid writing"),
    ("do not assume", "avoid assuming"),
    ("you are a", "you act as a"),
    ("you are an", "you act as an"),
    ("act as a", "take the role of a"),
    ("act as an", "take the role of an"),
    ("your task is to", "your job is to"),
    ("your job is to", "your task is to"),
    ("your goal is to", "your aim is to"),
    ("you will be given", "you will receive"),
    ("you will receive", "you will be given"),
    ("you are given", "you have been given"),
    ("i will give you", "you will get from me"),
    ("write a summary of", "summarize"),
    ("give a summary of", "summarize"),
    ("provide a summary of", "summarize"),
    ("summarize the", "write a summary of the"),
    ("summarize this", "write a summary of this"),
    ("translate {x} into", "put {x} into"),
    ("translate {x} to(?= (?-i:[A-Z])| \x00)", "put {x} into"),
    ("convert {x} to(?= (?:a|an|the|(?-i:[A-Z]{2}))\\b)", "turn {x} into"),
    ("convert {x} into", "turn {x} into"),
    ("transform {x} into", "turn {x} into"),
    ("make sure that", "ensure that"),
    ("make sure to", "be sure to"),
    ("be sure to", "make sure to"),
    ("make sure(?= (?:the|your|you|each|every|all|it|there)\\b)", "ensure that"),
    ("ensure that", "make sure that"),
    ("remember to", "make sure to"),
    ("answer the question", "respond to the question"),
    ("answer the following", "respond to the following"),
    ("answer questions", "respond to questions"),
    ("respond to the", "reply to the"),
    ("based on", "on the basis of"),
    ("on the basis of", "based on"),
    ("take into account", "consider"),
    ("keep in mind", "bear in mind"),
    ("bear in mind", "keep in mind"),
    ("pay attention to", "take note of"),
    ("focus on", "concentrate on"),
    ("concentrate on", "focus on"),
    ("consists of", "is made up of"),
    ("in your own words", "using your own words"),
    ("using only", "using nothing but"),
    ("use only", "use nothing but"),
    ("only use", "use nothing but"),
    ("along with", "together with"),
    ("in order to", "so as to"),
    ("for each(?= (?!of\\b)[a-z])", "for every"),
    ("for every(?= [a-z])", "for each"),
    ("step by step(?! (?!and\\b|then\\b|before\\b)[a-z])", "one step at a time"),
    ("think about", "reflect on"),
    ("come up with", "think up"),
    ("give me", "provide me with"),
    ("tell me(?= (?:if|whether|how|what|why|when|where|which|who|that|about)\\b)", "let me know"),
    ("show me", "let me see"),
    ("i want you to", "i would like you to"),
    ("i would like you to", "i want you to"),
    ("i need you to", "i want you to"),
    ("you should", "you are expected to"),
    ("you must", "you are required to"),
    ("you need to", "you have to"),
    ("you have to", "you need to"),
    ("should be", "ought to be"),
    ("whether or not", "whether"),
    ("if the answer is unknown", "if you do not know the answer"),
    ("if you are unsure", "if you are not sure"),
    ("if you are not sure", "if you are unsure"),
    ("no more than", "at most"),
    ("not more than", "at most"),
    ("extract {x} from", "pull {x} out of"),
    ("identify {x} in", "find {x} in"),
    ("find {x} in", "identify {x} in"),
    ("generate a", "come up with a"),
    ("create a", "put together a"),
    ("write a", "compose a"),
    ("explain why", "give the reason why"),
    ("explain how", "describe how"),
    ("describe how", "explain how"),
)
"""Pairs ``(pattern, paraphrase)``, in lower case."""

STARTING = ("you are a", "you are an")
"""Rules for the start of a sentence: "if you are a beginner" sets no role."""


# Sentences that set a tone and ask for nothing, and ways to put an instruction in a register.


URGENT_BEFORE = ("This is urgent.", "I need this urgently.", "Time is short.", "This is a matter of urgency.")
URGENT_AFTER = (
    "This is urgent.",
    "I need this as soon as possible.",
    "Please be quick about it.",
    "There is no time to lose.",
    "I am in a hurry.",
)
EXCITED_BEFORE = ("I'm really excited about this!", "This is going to be great!", "I love working with you!")
EXCITED_AFTER = (
    "I can't wait to see what you come up with!",
    "I'm really looking forward to it!",
    "I know you will do great!",
    "This is so exciting!",
)
SORRY_BEFORE = (
    "Sorry to bother you.",
    "I apologize for the trouble.",
    "Sorry for asking yet again.",
    "I am sorry to take up your time.",
)
SORRY_AFTER = (
    "Sorry for the trouble.",
    "I apologize for the inconvenience.",
    "Sorry if this is a lot to ask.",
)
"""Whole sentences, to stand before or after an instruction. None of them says anything about the answer."""

FORMAL_OPENINGS = ("You are kindly requested to", "I would ask you to", "I should be grateful if you would")
CASUAL_OPENINGS = ("Hey, I need you to", "Hi, I need you to", "Okay, go ahead and", "Hey, go ahead and")
"""What may stand before an instruction's verb."""

THANKS = (
    "thank you so much", "thank you very much", "thank you in advance", "thanks in advance", "many thanks",
    "thanks a lot", "thank you for your help", "thanks for your help", "thank you", "thanks",
)  # fmt: skip
"""Whole sentences of thanks, in lower case and without their closing mark, the longest first."""

REMARKS = {
    "urgency": (URGENT_BEFORE, URGENT_AFTER),
    "enthusiasm": (EXCITED_BEFORE, EXCITED_AFTER),
    "apologetic": (SORRY_BEFORE, SORRY_AFTER),
}
"""What an operator says before an instruction, and what after one."""


# Turns of phrase of instructions in German, French, Spanish, Italian, Dutch and Portuguese.
#
# Each pair says the same to a careful native reader in the place where it is taken. What would need another form of the
# words around it (mood, case, gender) is left out.


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
