"""How prompts speak of the form of a text: things (``commas``) and what is done with them (``count``)."""

from __future__ import annotations

from typing import NamedTuple


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
