"""Words the comparison knows: function words, negators, opposites, sets of which one excludes the other.

Small on purpose: a word belongs here only if confusing it with its neighbour would reverse an answer, or if
telling it from its neighbour would call a harmless rewording a change.
"""

from __future__ import annotations

from pytest_promptfuzz.comparing.numbers_abroad import NUMBERS_ABROAD


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

PHRASES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("not", "only"): (),
    ("not", "just"): (),
    ("no", "later", "than"): ("by",),
    ("no", "longer", "than"): ("at-most",),
    ("no", "more", "than"): ("at-most",),
    ("not", "more", "than"): ("at-most",),
    ("no", "less", "than"): ("at-least",),
    ("no", "fewer", "than"): ("at-least",),
    ("at", "least"): ("at-least",),
    ("at", "most"): ("at-most",),
    ("no", "one"): ("nobody",),
    ("another", "one"): ("another",),
    ("this", "one"): ("this",),
    ("that", "one"): ("that",),
    ("the", "one"): ("that",),
    ("which", "one"): ("which",),
    ("one", "another"): ("each", "other"),
    ("up", "to"): ("at-most",),
    ("a", "maximum", "of"): ("at-most",),
    ("a", "minimum", "of"): ("at-least",),
    ("no", "problem"): (),
    ("no", "doubt"): (),
    ("no", "matter"): (),
    ("do", "not", "hesitate", "to"): (),
    ("do", "not", "worry"): (),
    ("do", "not", "forget", "to"): (),
    ("feel", "free", "to"): (),
    ("without", "delay"): ("promptly",),
    ("without", "hesitation"): (),
    ("free", "of", "charge"): ("not", "fee"),
    ("free", "of"): ("not",),
    ("out", "of", "stock"): ("not", "in", "stock"),
    ("at", "no", "cost"): ("not", "fee"),
    ("at", "no", "charge"): ("not", "fee"),
    ("for", "free"): ("not", "fee"),
    ("no", "longer"): ("not",),
    ("not", "yet"): ("not",),
    ("fail", "to"): ("not",),
    ("nothing", "but"): ("only",),
    ("no", "one", "but"): ("only",),
    ("nobody", "but"): ("only",),
    ("none", "but"): ("only",),
    ("open", "until"): ("close", "at"),
    ("open", "till"): ("close", "at"),
    ("put", "off"): ("postpone",),
    ("puts", "off"): ("postpone",),
    ("call", "off"): ("cancel",),
    ("called", "off"): ("cancel",),
    ("thrown", "out"): ("dismiss",),
    ("threw", "out"): ("dismiss",),
    ("carry", "out"): ("perform",),
    ("carried", "out"): ("perform",),
    ("find", "out"): ("learn",),
    ("ought", "to"): ("should",),
    ("at", "once"): ("immediately",),
    ("right", "away"): ("immediately",),
    ("straight", "away"): ("immediately",),
    ("a", "lot", "of"): ("many",),
    ("lots", "of"): ("many",),
    ("in", "spite", "of"): ("despite",),
    ("provided", "that"): ("if",),
    ("providing", "that"): ("if",),
    ("as", "long", "as"): ("if",),
    ("on", "condition", "that"): ("if",),
    ("in", "advance"): ("beforehand",),
    ("get", "in", "touch"): ("contact",),
    ("getting", "in", "touch"): ("contact",),
    ("takes", "place"): ("happen",),
    ("took", "place"): ("happen",),
    ("pass", "on"): ("forward",),
    ("passes", "on"): ("forward",),
    ("send", "in"): ("submit",),
    ("sent", "in"): ("submit",),
    ("due", "to"): ("because",),
    ("because", "of"): ("because",),
    ("comes", "to"): ("is",),
    ("in", "length"): ("long",),
    ("it", "is", "unclear", "whether"): ("not",),
    ("it", "is", "uncertain", "whether"): ("not",),
    ("it", "is", "unknown", "whether"): ("not",),
    ("it", "is", "not", "known", "whether"): ("not",),
    ("it", "is", "not", "clear", "whether"): ("not",),
    ("it", "is", "possible", "that"): ("perhaps",),
    ("would", "have"): ("supposedly",),
    ("would", "have", "to"): ("must",),
    ("should", "have"): ("supposedly",),
    ("should", "have", "to"): ("must",),
    ("a", "good", "idea"): ("advisable",),
    ("more", "slowly"): ("slower",),
    ("more", "quickly"): ("faster",),
    ("more", "expensive"): ("dearer",),
    ("less", "expensive"): ("cheaper",),
    ("in", "person"): ("inperson",),
    ("is", "able", "to"): ("can",),
    ("are", "able", "to"): ("can",),
    ("be", "able", "to"): ("can",),
    ("not", "able", "to"): ("can", "not"),
    ("is", "allowed", "to"): ("may",),
    ("are", "allowed", "to"): ("may",),
    ("not", "allowed", "to"): ("may", "not"),
    ("seven", "days", "a", "week"): ("daily",),
    ("stop", "working"): ("not", "work"),
    ("note", "that"): (),
    ("not", "have", "to"): ("need", "not"),
    ("not", "need", "to"): ("need", "not"),
    ("no", "need", "to"): ("need", "not"),
    ("not", "required", "to"): ("need", "not"),
    ("not", "obliged", "to"): ("need", "not"),
    ("not", "necessary", "to"): ("need", "not"),
    ("subject", "to"): ("if",),
    ("have", "to"): ("must",),
    ("has", "to"): ("must",),
    ("need", "to"): ("must",),
    ("needs", "to"): ("must",),
    ("is", "required", "to"): ("must",),
    ("are", "required", "to"): ("must",),
    ("is", "going", "to"): ("will",),
    ("are", "going", "to"): ("will",),
    ("in", "order", "to"): ("to",),
    ("in", "addition"): (),
    ("as", "well", "as"): ("and",),
    **{(be, *so): ("doubt",) for be in ("am", "is", "are") for so in (("not", "sure"), ("unsure",))},
    ("unsure",): ("doubt",),
    ("two", "times"): ("twice",),
    ("three", "times"): ("thrice",),
    ("if", "not", "all"): ("perhaps", "all"),
    ("as", "soon", "as"): ("once",),
    ("went", "up"): ("rise",),
    ("go", "up"): ("rise",),
    ("goes", "up"): ("rise",),
    ("went", "down"): ("fall",),
    ("go", "down"): ("fall",),
    ("goes", "down"): ("fall",),
    ("turned", "down"): ("deny",),
    ("drop", "out"): ("quit",),
    ("dropped", "out"): ("quit",),
    ("per", "cent"): ("%",),
    ("50%",): ("half",),
    ("miles", "per", "hour"): ("mph",),
    ("out", "of", "order"): ("not", "work"),
    ("united", "states"): ("usa",),
    ("united", "kingdom"): ("uk",),
    ("start", "up"): ("startup",),
    ("on", "the", "way"): ("onway",),
    ("on", "its", "way"): ("onway",),
}
"""Phrases rewritten before anything is compared, longest first."""

SYNONYMS = """
unfortunately sadly regrettably|praise commend laud
sorry apologize apologise|happen occur|parcel package|buy purchase|begin start commence
quick fast rapid swift|staff employee personnel
help assist aid|big large|issue problem|error mistake|customer client|doctor physician|reply respond answer
select choose pick|display show|receive get obtain|brief short|operation business
phone telephone|picture image photo|end finish conclude|job occupation|contact reach|allow permit
forbid prohibit|require need|item product|movie film|company firm|improve enhance|method approach|fix repair
make create produce|use utilize|inform notify tell|complete finalize|deliver ship|worker labourer|holiday vacation
child kid|must have-to obligate|mandatory required compulsory obligatory|optional voluntary|every all
cancel terminate|fee charge cost|verify confirm check|main primary|anticipate expect|project forecast predict
location place site|approximately about around roughly circa|regard wish|forward relay|demonstrate show|invest spend
shipment delivery|usa us u.s america|uk u.k britain|quarter quarterly|request ask
rise increase grow climb|fall decrease decline drop|deny reject refuse|approve accept grant
lorry truck|polite courteous|ill sick|apartment flat|injure hurt|aubergine eggplant|courgette zucchini|shut close
intend plan|hire recruit|street road|larger bigger|largest biggest|delete remove erase|folder directory|attempt try
lawyer attorney solicitor|sufficient enough|inexpensive cheap|silent quiet|hard difficult|perhaps maybe|nearly almost
reimburse refund reimbursement|rubbish garbage trash|petrol gasoline|often frequently|reveal disclose|postpone defer
coche auto carro|aparcado estacionado|garée stationnée|garé stationné|ordenador computadora|samstag sonnabend
piso apartamento|handy mobiltelefon|vélo bicyclette|fiets rijwiel
everyone everybody|anyone anybody|someone somebody
promptly immediately instantly|hello hi hey|thank thanks|bye goodbye|car automobile|goods merchandise
""".strip()
"""Groups that may replace each other; words in a group share a canonical form."""

HEDGES = word_set(
    "might may could possibly perhaps maybe probably likely allegedly reportedly supposedly seem appear"
)
"""Words that make a statement uncertain."""

NEGATABLE = word_set(
    """able accept active adequate appropriate available avoid aware authorize certain clear comfort common
    compatible complete confirm consistent correct direct eligible fair familiar finish formal fortunate
    fraudulent frequent happy healthy important legal like likely limit lock logical mature mutable
    necessary offensive paid perfect possible practical predict proper qualify refundable regular
    related relevant reliable replaceable resolve responsible reversible safe satisfy secure specify
    stable sufficient support sure tax tolerant transferable true usual valid verify visible want
    willing wise used known returnable toxic smoking alcoholic binding profit resident member exist
    essential functional standard trivial approve connect agree satisfied allow continue honest
    advantage realistic rational predictable acceptable sustainable affordable reasonable pleasant popular
    successful harmed noticed changed altered advisable edible suitable desirable tolerable trustworthy credible
    reliable stable equal fit fulfilled harmed healthy helpful hurt injured insured intended interested justified
    known licensed limited locked manageable married moved mistakable occupied opened packed paid planned pleasant
    prepared productive profitable protected published qualified read recognized registered released repaired
    resolved restricted rewarded scathed signed skilled solved sold stoppable tested touched treated trusted
    usable vaccinated wanted welcome worthy answered attended authenticated authorised balanced biased blemished
    caught challenged checked confirmed conscious cooked covered damaged decided defeated defined detected
    developed disclosed documented eaten educated employed encrypted expected explained exposed finished founded
    accurate active adequate admissible animate applicable capable coherent compatible competent comprehensible
    conclusive considerate consistent convenient correct curable decisive definite dependent direct discreet
    effective efficient eligible experienced expensive feasible finite flexible formal frequent hospitable humane
    offensive operable sane secure sensitive separable significant sincere sufficient tangible valid variable
    visible voluntary balance mature measurable mobile moral mortal movable partial passable patient penetrable
    perceptible perfect permeable personal polite possible potent practicable precise probable proper pure mutable
    legible legitimate literate logical rational recoverable refutable regular relevant religious removable
    reparable replaceable resistible responsible reversible revocable agree allow appear approve believe comfort
    connect count credit engage honest like loyal obey organized pleased please proportionate prove qualify
    regard respect satisfied similar united compliant conforming deductible disclosed existent fatal fiction
    flammable infectious invasive linear negotiable payment permanent perishable prescription profit resident
    smoker stop toxic transferable violent discriminatory refundable breakable avoidable acceptable attainable
    available bearable believable certain clear common concerned conditional constitutional controlled
    cooperative enforceable even ethical fair faithful familiar fashionable fortunate grateful happy helpful
    important lawful likely lucky necessary popular precedented predictable prejudiced questionable ready
    realistic reasonable related reserved safe satisfactory scheduled selfish settled stable steady successful
    supervised supported sure sustainable tidy traceable true usual verified willing wise workable"""
)
"""Bases that ``un-``, ``in-``, ``im-``, ``ir-``, ``il-``, ``non-`` and ``dis-`` turn into their denial."""

NOT_DENIALS = word_set(
    """discover discovers discovered discovering discovery independent independently improve improved improves
    improving
    improvement incredible incredibly discount discounts discounted discern discharge discharged display disposed
    impartial impress impressed impressive imported indeed indebted inherent initial inquire inside insight install
    instant instead insured insurance intense intent intention invest invested invited involve involved inform
    informed important importance imply implied include included increase incur under underneath understand unit units
    insure insures insuring insurer insurers dissolve dissolves dissolved dissolving discounting inpatient inpatients
    unfortunately inflammable independents impartially dismembered irate improv unless until dismiss dismissed
    disposal distinct disturb disturbed district dispute disputed distance ill inn"""
)
"""Words that begin like a denial and are none."""

_SMALL_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"

# Of German, French and Spanish those that are no word of English or of another meaning.
_NUMBERS_ELSEWHERE = """
    elf:11 dreizehn:13 vierzehn:14 fünfzehn:15 sechzehn:16 dreißig:30 vierzig:40 fünfzig:50 sechzig:60 tausend:1000
    sept:7 dix:10 onze:11 treize:13 quatorze:14 quinze:15 seize:16 trente:30 quarante:40 cinquante:50 soixante:60
    mille:1000 quince:15 veinte:20 treinta:30 cuarenta:40 cincuenta:50 cien:100 mil:1000 uno:1 dos:2 tre:3 quattro:4
    cinque:5 sette:7 dieci:10 dodici:12 quindici:15 venti:20 trenta:30 quaranta:40 cinquanta:50
    twee:2 vier:4 vijf:5 zes:6 zeven:7 negen:9 tien:10 twaalf:12 vijftien:15 twintig:20 dertig:30 veertig:40
    honderd:100
    zwei:2 drei:3 vier:4 fünf:5 sechs:6 sieben:7 acht:8 neun:9 zehn:10 zwölf:12 zwanzig:20 hundert:100
    deux:2 trois:3 quatre:4 cinq:5 huit:8 neuf:9 douze:12 vingt:20 tres:3 cuatro:4 cinco:5 seis:6 siete:7 ocho:8
    nueve:9 diez:10 doce:12 veinte:20
"""

NUMBER_WORDS: dict[str, int] = (
    {word: value for value, word in enumerate(_SMALL_NUMBERS.split())}
    | {word: 10 * value for value, word in enumerate(_TENS.split(), start=2)}
    | {word: int(value) for word, _, value in (each.partition(":") for each in _NUMBERS_ELSEWHERE.split())}
    | NUMBERS_ABROAD
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

_UNITS = """
    $:dollar usd:dollar €:euro eur:euro £:pound-sterling gbp:pound-sterling ¥:yen jpy:yen percent:% percentage:%
    pct:% chf:franc kronor:krona kroner:krone kilogram:kg kilograms:kg kilogramme:kg kilogrammes:kg kilo:kg
    kilos:kg kgs:kg g:gram grams:gram
    grammes:gram lb:pound lbs:pound oz:ounce kilometre:km kilometres:km kilometer:km kilometers:km metre:meter
    metres:meter decimetre:dm centimetre:cm centimeter:cm centimetres:cm centimeters:cm millimetre:mm millimetres:mm
    millimeter:mm millimeters:mm micrometre:µm micrometres:µm micrometer:µm micrometers:µm nanometre:nm nanometres:nm
    nanometer:nm nanometers:nm feet:foot ft:foot inches:inch c:celsius f:fahrenheit kilobyte:kb kilobytes:kb
    gigabyte:gb gigabytes:gb megabyte:mb megabytes:mb terabyte:tb terabytes:tb milligram:mg milligrams:mg
    millimole:mmol millimoles:mmol microgram:mcg micrograms:mcg µg:mcg millilitre:ml millilitres:ml milliliter:ml
    milliliters:ml centilitre:cl centilitres:cl centiliter:cl centiliters:cl liter:litre liters:litre litres:litre
    l:litre litre:litre watt:watt watts:watt kilowatt:kw kilowatts:kw megawatt:mw megawatts:mw gigawatt:gw
    gigawatts:gw
    mins:minute min:minute hrs:hour hr:hour secs:second sec:second millisecond:ms milliseconds:ms
"""

UNITS: dict[str, str] = {form: unit for form, _, unit in (each.partition(":") for each in _UNITS.split())}
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
