"""Closed word classes of English: what tells a verb from a noun, and where an instruction begins."""

from __future__ import annotations

from typing import NamedTuple

from pytest_promptfuzz.text.expressions import words

DETERMINERS = words(
    """
    the a an this that these those each every any all your its their my our his her no some another both
    """
)
"""Words after which a noun follows, with an adjective between at most."""

BEFORE_VERB = words(
    """
    to please then and must should will would can could may might shall not don't never always also you
    carefully briefly clearly just do kindly simply
    """
)
"""Words after which the base form of a verb follows."""

BEFORE_GERUND = words("by when before after while without for of than avoid stop")
BEFORE_PARTICIPLE = words("the a an be is are was were been being not as any all has have clearly")
"""Words after which a participle follows, as a verb or before a noun."""

AFTER_NOUN = words(
    """
    is are was were of in to from for and or with that which by as on at below above into must should can will
    may has have you the a if about based using between without when before after so because does do cannot but
    carefully briefly they it we not only then
    """
)
"""Words that end a noun phrase; before any other, a noun may be the first half of a compound."""

TERM_HEADS = words(
    """
    function method thread branch file class module loop key interest number numbers noun nouns verb verbs tense clause
    clauses variable variables index indices equation equations matrix vector theorem array set string integer
    """
)
"""Nouns of terms: what stands before them is part of a name (``primary key``, ``complex numbers``)."""

IMPERATIVES = words(
    """
    add analyze analyse answer apply arrange ask assess assign assume avoid be base begin break build calculate
    categorize categorise check choose cite classify combine compare complete compose compute consider convert
    correct count create decide define describe detect determine discuss draft draw edit emphasize ensure
    estimate evaluate examine exclude explain express extract fill filter find fix focus follow format generate
    give go group help highlight identify ignore imagine improve include indicate infer interpret judge keep
    label limit list look maintain make mark match mention merge name note omit organize output outline
    paraphrase parse perform pick point predict prepare preserve prioritize produce propose provide put quote
    rank rate read recommend record refer remove rephrase replace reply report respond restate return review
    rewrite say score search select separate show simplify solve sort specify split start state structure
    suggest summarize summarise tag take tell think transform translate treat turn use validate verify wrap
    write
    """
)
"""Base forms that open an instruction."""

OPENERS_AFTER = words(
    """
    the a an this that these those each every any all your its their my our me us it them in with only as
    whether if what which how why who when where from into to on by for at and exactly no not at least between
    concise brief short one relevant main clear both up out down like about step steps specific sure
    carefully briefly text responses answers using following customer user
    """
)
"""Words after an opening base form that show it to be a verb (``Answer the ...``, not ``Answer key``)."""


# Closed word classes of English as bits, so that what stands around a word is told by one look-up.


DETERMINER = 1
PREPOSITION = 2
CONJUNCTION = 4
BE = 8
AUXILIARY = 16
CLAUSE = 32
SUBJECT = 64
OBJECT = 128
ADVERB = 256
SUBORDINATOR = 512
TO = 1024
NUMBER = 2048
PARTICLE = 4096
PERSON = 8192
FOCUS = 16384
DEGREE = 32768

_MEMBERS: dict[int, str] = {
    DETERMINER: """
        the a an this that these those each every any all your its their my our his her no some another both which
        what whose several many few most either neither such other
    """,
    PREPOSITION: """
        of in on at by for with from to into onto as about above below under over between among through during
        against within without across per via after before until since than like upon toward towards along beyond
        regarding concerning despite except unlike throughout outside inside near behind beside besides off
    """,
    CONJUNCTION: "and or but nor",
    BE: "is are was were be been being am seem seems remain remains become becomes stay",
    AUXILIARY: """
        can could may might must shall should will would do does did has have had cannot can't don't doesn't didn't
        won't shouldn't mustn't couldn't wouldn't isn't aren't wasn't weren't haven't hasn't
    """,
    CLAUSE: "that which who whom whose what how why when where whether if",
    SUBJECT: "i you he she it we they who there",
    OBJECT: "it them this that these those itself themselves one ones",
    PERSON: "me us you him her yourself myself ourselves himself herself",
    ADVERB: """
        not never also then still please always often very more less quite rather so too just now here there again
        once first next finally simply carefully briefly clearly together instead further even already
    """,
    SUBORDINATOR: "because while although though unless until since when if once as whereas after before so",
    TO: "to",
    NUMBER: "one two three four five six seven eight nine ten twelve twenty hundred",
    PARTICLE: "out up down off over away back on through in along together",
    FOCUS: "only just exactly both all each every any at",
    DEGREE: "how so too as more most very less least rather quite fairly extremely really",
}


def _classes() -> dict[str, int]:
    found: dict[str, int] = {}
    for bit, members in _MEMBERS.items():
        for word in members.split():
            found[word] = found.get(word, 0) | bit
    return found


CLASSES: dict[str, int] = _classes()
"""The classes of each word of the closed classes, in lower case; any other word is open: a noun, a verb, ..."""


# How prompts speak of the form of a text: things (``commas``) and what is done with them (``count``).


class Form(NamedTuple):
    """One way to speak of form.

    Attributes:
        cues: Words in small letters; a text without any of them is not looked at.
        thing: A pattern of text in small letters.
        act: Likewise, of the sentence it stands in; empty where the thing says it all.
        needs: Where the cues are common words: more words, of each line of which the text must hold one.
    """

    cues: str
    thing: str
    act: str = ""
    needs: tuple[str, ...] = ()


def _things(names: str, act: str) -> Form:
    """Things that are nothing but form, each word a cue."""
    # "in capital letters" and "a comma-separated list" say how to answer.
    listed = "|".join(names.split())
    return Form(names, rf"(?<!\bin )(?<!\ben )(?<!\bem )\b(?:{listed})\b(?!-)", act)


def _counted(names: str, how: str) -> Form:
    """Units that are form only where they are counted."""
    listed = "|".join(names.split())
    return Form(names, rf"\b(?:{how})(?: (?!many\b)[^\W\d]+){{0,3}}? (?:{listed})\b")


_DO_EN = (
    r"\b(?:count|how many|number of|list|find|identify|detect|spot|mark|highlight|underline|extract"
    r"|correct|fix|check|expand"
    r"|remove|strip|insert|restore|replace|convert|add|whether|which|return|name)\b"
    r"|^(?:does|do|is|are|has|have|what)\b"
)
_DO_DE = (
    r"\b(?:zähl\w*|finde\w*|liste\w*|nenn\w*|markier\w*|unterstreich\w*|korrigier\w*|berichtig\w*|verbesser\w*"
    r"|(?:über)?prüf\w*|suche\w*|bestimm\w*|entfern\w*|ersetz\w*|ergänz\w*|wie viele?|wie oft|anzahl"
    r"|ob|welche[rsmn]?)\b"
    r"|^(?:enthält|hat|gibt|ist|sind|setz\w*)\b"
)
_DO_FR = (
    r"\b(?:compte[rz]?|combien|nombre|trouve[rz]?|listez?|relève|relevez|repère|repérez|soulignez?"
    r"|corrige[rz]?|vérifie[rz]?"
    r"|identifie[rz]?|supprime[rz]?|remplace[rz]?|ajoute[rz]?|si|quels?|quelles?)\b|^(?:est-ce|y a-t-il|contient)\b"
)
_DO_ES = (
    r"\b(?:cuent[ae]|contar|cuánt[ao]s|número|encuentr[ae]|enumer[ae]|list[ae]|señal[ae]"
    r"|identifi(?:ca|que)|subray[ae]"
    r"|corrige|corrija|corregir|revis[ae]|detect[ae]|elimin[ae]|reemplaz[ae]|reemplace|añad[ae]|qué|cuáles)\b"
    r"|^(?:hay|contiene|tiene|es|riman?)\b"
)
_DO_IT = (
    r"\b(?:conta|contare|contate|quant[ei]|numero|trova\w*|elenca\w*|individua\w*|sottolinea\w*"
    r"|corregg\w+|verifica\w*"
    r"|controlla\w*|identifica\w*|rimuovi|sostituisci|aggiungi|quali)\b|^(?:contiene|ci sono|c'è|è|ha)\b"
)
_DO_NL = (
    r"\b(?:tel|tellen|hoeveel|aantal|vind|zoek|noem|markeer|onderstreep|corrigeer|verbeter|controleer"
    r"|identificeer|verwijder"
    r"|vervang|voeg|of|welke?)\b|^(?:bevat|staat|staan|is|zijn|heeft|rijmen)\b"
)
_DO_PT = (
    r"\b(?:conte|contar|conta|quant[ao]s|número|encontre|liste|identifique|sublinhe|corrija|corrige"
    r"|corrigir|verifique"
    r"|revise|remova|substitua|adicione|quais)\b|^(?:há|contém|tem|é|rimam?)\b"
)
_TEXT_EN = (
    "(?:texts?|sentences?|passages?|paragraphs?|essay|lines?|strings?|poem|message|words?|phrases?"
    "|quot\\w+|following|tweet"
    "|headline|wording|clauses?)"
)
_REPEATING_EN = (
    r"\b(?:return|repeat|copy|reproduce|echo|quote|output|print|write|transcribe|give|cite|extract)\b"
    rf"[^:]{{0,50}}\b{_TEXT_EN}\b"
)

FORMS = (
    _things(
        "contraction contractions misspelled misspelt misspelling misspellings palindrome"
        " palindromes anagram anagrams"
        " acronym acronyms syllable syllables comma commas semicolon semicolons apostrophe"
        " apostrophes hyphens punctuation"
        " vowel vowels consonant consonants typo typos homophones alliteration capitalized capitalised palindromic",
        _DO_EN,
    ),
    Form(
        "stop stops mark marks letter letters mistake mistakes error errors",
        r"(?<!\bin )\b(?:full stops?|(?:exclamation|question|quotation|punctuation) (?:marks?|points?)"
        r"|(?:capital|upper-?case|lower-?case|small) letters?"
        r"|(?:spelling|typing|typographical|grammar|grammatical|punctuation)(?:,? (?:and|or"
        r"|&) \w+)? (?:mistakes?|errors?))\b",
        _DO_EN,
    ),
    Form(
        "spelling grammar orthography grammatical grammatically ungrammatical",
        r"\b(?:spelling|grammar|orthography|grammatical(?:ly)?|ungrammatical)\b(?! of your)",
        r"\b(?:correct|fix|check|improve|proofread|edit|whether)\b|^(?:is|are|does|has)\b",
    ),
    Form(
        "proofread proofreads proofreading spellcheck",
        r"\b(?:proofread|spellcheck)\b|\bproofreading (?:the|this|task)\b",
    ),
    Form(
        "proof spell", r"\bproof-read\b|\bspell(?:-check| check| out the word|\s+(?:it|the word|the name))\b"
    ),
    Form(
        "errors mistakes",
        r"\b(?:correct|fix) (?:all |any |every )?(?:the )?(?:errors|mistakes) in (?:the|this|these|each) "
        r"(?:\w+ )?(?:text|sentence|paragraph|passage|essay|letter)s?\b",
    ),
    Form(
        "words letters characters vowels consonants spaces tokens sentences digits commas lines symbols",
        r"\b(?:how many|count(?:ing)?(?: all)?|the number of|total number of)(?: (?:the|of|total"
        r"|different|unique|distinct|all"
        r"|single|english|capital|individual|whole|full|number|every)){0,3} (?:words|letters|tokens"
        r"|spaces|digits|symbols"
        r"|sentences|lines|characters(?! (?:\w+ ){0,4}(?:story|novel|film|movie|play|book|scene|tale)\b))\b"
        r"(?! (?:of|from) (?:context|code))",
        r"\b(?:how many|count|counting|give|return|output|report|state|determine|tell|compute"
        r"|calculate|find|print|what)\b",
        needs=("many count counting number",),
    ),
    Form(
        "times often occurrences",
        r"\b(?:how many times|how often) (?:does|do|is|did) (?:the (?:word|letter|phrase|character"
        r"|name|term|string)|[\"'“‘«`])"
        r"|\b(?:count|number of)(?: all)?(?: the)? occurrences of\b",
    ),
    Form("rhyme rhymes rhyming", r"\brhym(?:es?|ing)\b", rf"{_DO_EN}|^(?:do|does|which)\b"),
    Form(
        "alphabetical alphabetically alphabetize alphabetise",
        r"\balphabet(?:ical(?:ly)?|i[sz]e)\b",
        r"(?:^|\b)(?:sort|order|arrange|put|alphabeti[sz]e|list) (?:all )?(?:the |these |this )(?:\w+ )?"
        r"(?:following|words|letters|names|lines|list|sentence)\b|^(?:is|are|which)\b",
    ),
    Form(
        "case capitals capital uppercase lowercase caps",
        r"\b(?:upper|lower|title|sentence|mixed)[- ]?case\b|\b(?:all )?(?:capitals|caps)\b|\bcapital letters\b",
        r"\b(?:words|names|letters|acronyms) (?:(?:that|which|are|is|written|appear|entirely|fully"
        r"|all|set) ){0,4}in\b"
        r"|\b(?:convert|change|turn|transform|rewrite|put) (?:the |this |all )?(?:following )?"
        r"(?:text|sentence|string|passage|title|words?|phrase|letters)\b",
    ),
    Form(
        "exactly verbatim word unchanged is are letter character",
        r"\bexactly as (?:it|they|written|given|shown|printed|in|the text|above|below)\b|\bverbatim\b"
        r"|\bword[ -]for[ -]word\b"
        r"|\b(?:letter by letter|character (?:by|for) character|as it is|as is|as they are"
        r"|as they stand|unchanged)\b",
        _REPEATING_EN,
        needs=(
            "as verbatim word letter character unchanged",
            "return repeat copy reproduce echo quote output print write transcribe give cite extract",
        ),
    ),
    Form(
        "quote cite copy exact",
        r"\b(?:quote|cite|copy|underline) the (?:(?:exact|full|whole|complete|original|relevant|one) )*"
        r"(?:sentences?|phrases?|words|wording|passages?|lines?|clauses?)\b|\bthe exact (?:sentence"
        r"|phrase|words|wording|quote)\b",
        r"\b(?:quote|cite|copy|underline|extract|return|give|repeat|output|find)\b",
    ),
    Form(
        "start starts starting begin begins beginning end ends ending",
        r"\bwords? (?:in \w+ \w+ )?(?:that |which )?(?:start|begin|end)(?:s|ing|ning)? (?:with|in) ",
        _DO_EN,
    ),
    Form(
        "word letter character words letters",
        r"\bthe (?:first|second|third|last|longest|shortest|middle) (?:word|letter|character)s? (?:of"
        r"|in) (?:the|this|each|every)\b"
        r"|\b(?:reverse the (?:letters|words|word|order of the (?:words|letters))|unscramble)\b"
        r"|\b(?:tag|label|annotate) (?:each|every) (?:word|token)\b",
    ),
    Form(
        "language",
        r"language\b(?: (?:is|are|of (?:the|this)|in which|was|it|does))",
        r"\b(?:which|what|identify|detect|determine|name|guess)\b",
        needs=("which what identify detect determine name guess",),
    ),
    Form(
        "backwards unscramble tokenize tokenise",
        r"\b(?:unscramble|tokeni[sz]e)\b|\b(?:write|spell|read) [^,;:]{0,30}\bbackwards\b",
    ),
    # German
    _things(
        "rechtschreibfehler rechtschreibfehlern tippfehler tippfehlern schreibfehler schreibfehlern grammatikfehler"
        " grammatikfehlern rechtschreibung orthografie orthographie grammatik zeichensetzung"
        " interpunktion komma kommas"
        " kommata satzzeichen semikolons ausrufezeichen fragezeichen großbuchstaben kleinbuchstaben"
        " silbe silben vokal"
        " vokale konsonanten palindrom palindrome anagramm anagramme akronym akronyme reimwörter reimen",
        _DO_DE,
    ),
    _counted("wörter worte buchstaben zeichen leerzeichen sätze", r"wie viele|zähle?n?(?: sie)?|anzahl der"),
    Form(
        "wörtlich wortwörtlich unverändert buchstabengetreu zeichengenau",
        r"\b(?:wort)?wörtlich\b|\b(?:unverändert|buchstabengetreu|zeichengenau)\b",
        r"\b(?:gib|geben|wiederhol\w*|kopier\w*|zitier\w*|schreib\w*)\b.*\b(?:text|satz|sätze|passage"
        r"|absatz|wörter|zeilen?)\b",
    ),
    # French
    _things(
        "orthographe ponctuation virgule virgules majuscule majuscules minuscule minuscules syllabe"
        " syllabes voyelle voyelles"
        " consonne consonnes palindrome palindromes anagramme anagrammes acronyme acronymes sigles"
        " rime rimes riment coquilles"
        " grammaire grammaticales",
        _DO_FR,
    ),
    _counted("mots lettres caractères phrases espaces signes", r"combien d[e'’]|compte[rz]?|nombre d[e'’]"),
    Form(
        "mot tel telle textuellement identique",
        r"\bmot pour mot\b|\btel(?:le)?s? quel(?:le)?s?\b|\btextuellement\b|\bà l['’]identique\b",
        r"\b(?:recopi\w+|répèt\w+|répét\w+|cite[rz]?|copi\w+|renvo\w+|reprodui\w+)\b.*\b(?:textes?"
        r"|phrases?|passages?|mots|lignes?)\b",
    ),
    # Spanish
    _things(
        "ortografía ortográfico ortográficos ortográfica ortográficas erratas puntuación coma comas"
        " mayúscula mayúsculas"
        " minúscula minúsculas sílaba sílabas vocal vocales consonante consonantes palíndromo"
        " palíndromos anagrama anagramas"
        " acrónimo acrónimos siglas rima riman tildes gramática gramaticales",
        _DO_ES,
    ),
    _counted(
        "palabras letras caracteres espacios frases oraciones", r"cuánt[ao]s|cuent[ae]|contar|número de"
    ),
    # Italian
    _things(
        "ortografia ortografici ortografico ortografiche refusi punteggiatura virgola virgole"
        " maiuscola maiuscole minuscola"
        " minuscole sillaba sillabe vocale vocali consonante consonanti palindromo palindromi"
        " anagramma anagrammi acronimo"
        " acronimi rima rime rimano grammatica grammaticali",
        _DO_IT,
    ),
    _counted("parole lettere caratteri spazi frasi", r"quant[ei]|conta(?:re|te)?|numero di|numero delle"),
    # Dutch
    _things(
        "spelfout spelfouten spelling typefout typefouten taalfouten grammatica interpunctie"
        " leestekens komma hoofdletter"
        " hoofdletters lettergreep lettergrepen klinkers medeklinkers palindroom palindromen anagram"
        " anagrammen acroniemen"
        " rijmen rijmt rijmwoorden",
        _DO_NL,
    ),
    _counted("woorden letters tekens spaties zinnen", r"hoeveel|tel|aantal"),
    # Portuguese
    _things(
        "ortografia ortográfico ortográficos ortográfica gralhas pontuação vírgula vírgulas"
        " maiúscula maiúsculas minúscula"
        " minúsculas sílaba sílabas vogal vogais consoante consoantes palíndromo palíndromos"
        " anagrama anagramas acrônimo"
        " acrônimos acrónimos siglas rima rimam gramática gramaticais",
        _DO_PT,
    ),
    _counted("palavras letras caracteres espaços frases", r"quant[ao]s|conte|contar|número de"),
    Form(
        "palabra palavra parola woord literalmente textualmente testualmente letterlijk ongewijzigd tal lettera",
        r"\bpalabra por palabra\b|\bpalavra por palavra\b|\bparola per parola\b|\bwoord voor woord\b"
        r"|\b(?:literal|textual|testual)"
        r"mente\b|\bletterlijk\b|\bongewijzigd\b|\btal (?:cual|como está|qual)\b|\balla lettera\b",
        r"\b(?:copi\w+|repit\w+|repet\w+|ripet\w+|cit[ae]\w*|devuelv\w+|devolv\w+|restituisc\w+"
        r"|herhaal|kopieer|citeer)\b",
    ),
)
"""Every way that is known, English first."""
