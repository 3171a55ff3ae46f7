"""Labels: the class that a short answer names, however it is worded, and whether two answers name the same."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.comparing.guards.values import GLAD, SORRY
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.text import analyse
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.comparing.reading.words import DEGREES, canonical_words
from pytest_promptfuzz.comparing.values.same_values import days_apart
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.reading.text import Text


# The label that an answer gives in words: "Category: refund (0.9)", "I would classify this as refund, since …".


_MOST_WORDS = 4
"""Words up to which what is named is taken for a label."""

_TAIL = 200
"""Characters at the end of an answer in which a last line, or a confidence, is looked for."""

NOUN = (
    "(?:label|category|sentiment|grade|state|class|classification|answer|priority|intent|topic|result|type|verdict|status|tone"
    "|language|emotion|rating|score|urgency|severity|decision|output|prediction|choice|team|department|queue"
    # German, French, Spanish, Italian, Dutch, Portuguese, Russian
    "|kategorie|klasse|einstufung|antwort|ergebnis|stimmung|thema|bewertung|priorität"
    "|catégorie|étiquette|classe|réponse|résultat|sujet|categoría|etiqueta|clase|respuesta|sentimiento|resultado|tema"
    "|zustand|dringlichkeit|statut|état|priorité|urgence|estado|prioridad|urgencia|stato|priorità|prioriteit"
    "|categoria|etichetta|risposta|risultato|categorie|antwoord|resultaat|onderwerp|resposta|rótulo|sentimento"
    "|категория|метка|ответ|класс|тональность|результат)"
)
_WIDE_NOUN = "(?:分類|カテゴリー?|ラベル|回答|感情|结果|類別|类别|分类|标签|答案|情感|카테고리|분류|라벨)"
# All bounded: an answer may be sixty thousand spaces.
_GAP = r"[ \t]{1,3}"
_ANY = r"[ \t]{0,3}"
_OF = rf"(?:{_GAP}(?:of|for|der|des|du|de la|del|della|van|do|da){_GAP}[\w'’ ]{{1,40}}?)?"
_IS = (
    r"(?:is|would be|should be|has to be|must be|ist|lautet|wäre|est|serait|es|sería|è|sarebbe|é|seria)"
    rf"{_ANY}:?{_GAP}"
)
_MARK = rf"{_ANY}(?::|：|=|->|→|⇒){_ANY}\n?"
_ARTICLE = rf"(?:(?:an?|the|clearly|therefore|thus|also|still|der|die|das|le|la|el|il|lo|het|de|o){_GAP})?"
_EDGE = "\"'`*_«»“”„‘’\\[<"
_LABEL = rf"(?P<label>[^\s{_EDGE}.,;:!?()][^\n.,;:!?()（]{{0,60}}?)"
_NAMED = rf"{_ARTICLE}[{_EDGE} \t]{{0,5}}{_LABEL}"
_REASON = r"because|since|as|due|given|weil|da|denn|wegen|car|parce|puisque|porque|ya que|perché|poiché|omdat|want|pois"
_END = (
    r"(?=[\s\"'`*_»”’\]>]{0,6}(?:\Z|\n|[,;!?()（。、]|\.(?!\d)|:|[ \t][-–—][ \t]"
    rf"|[ \t](?:{_REASON}|with|based|rather than|instead of|not|and not|und nicht|over|though|although|but|while"
    r"|if)\b))"
)
_WIDE_END = r"(?=[\s\"'`*_»”’\]>」』]{0,6}(?:\Z|[\n,.，。、です(（]))"
_IT = rf"(?:(?:(?:the|this|your)[ \t][\w-]{{1,20}}(?=[ \t](?:as|under|to|into|with)\b)|this|it|that|them){_GAP})?"
_THE_LABEL = rf"(?:the{_GAP})?(?:(?:label|category|class){_GAP})?"
_FORMS = (
    expression(
        rf"(?:\b|(?<=_)){NOUN}{_OF}[*_]{{0,3}}(?:{_MARK}|{_GAP}{_IS})[*_]{{0,3}}{_ANY}{_NAMED}{_END}",
        re.IGNORECASE,
    ),
    expression(rf"{_WIDE_NOUN}[*_]{{0,3}}(?:{_MARK}|{_ANY}[是は为為은는]{_ANY}){_NAMED}{_WIDE_END}"),
    expression(
        r"\b(?:classif(?:y|ied)|categori[sz]ed?|label(?:l?ed)?|tag(?:ged)?|mark(?:ed)?|rated?"
        r"|assign(?:ed)?|filed?|routed?)"
        rf"{_GAP}{_IT}(?:(?:as|under|to|into|with){_GAP})?{_THE_LABEL}{_NAMED}{_END}",
        re.IGNORECASE,
    ),
    expression(rf"<{NOUN}>\s{{0,4}}(?P<label>[^<>\s][^<>\n]{{0,60}}?)\s{{0,4}}</", re.IGNORECASE),
    expression(
        rf"\b(?:falls{_GAP}(?:under|into)|belongs{_GAP}(?:to|in|under)|go(?:ing)?{_GAP}with|goes{_GAP}to"
        r"|ch(?:oose|ose|oosing)|pick(?:ed|ing)?|select(?:ed|ing)?)"
        rf"{_GAP}{_THE_LABEL}{_NAMED}{_END}",
        re.IGNORECASE,
    ),
)
_IT_IS = expression(rf"\b(?:it|this|that)(?:{_GAP}is|['’]s){_GAP}{_NAMED}{_END}", re.IGNORECASE)
_SO_IT_IS = expression(
    rf"[,;]{_GAP}(?:and{_GAP})?(?:so|hence|therefore|thus){_GAP}(?:it{_GAP}is|it['’]s|this{_GAP}is){_GAP}{_NAMED}{_END}",
    re.IGNORECASE,
)
_HEDGED = expression(rf"\b{NOUN}{_OF}{_GAP}(?:could|might|may|can){_GAP}(?:also{_GAP})?be\b", re.IGNORECASE)
_LEADING = expression(
    rf"\A[{_EDGE}\s]{{0,12}}{_LABEL}[{_EDGE}\]>]{{0,5}}"
    rf"(?:{_ANY}\n|\.{_GAP}(?=\S)|{_ANY},?{_GAP}(?:{_REASON})\b|{_GAP}[-–—]{_GAP}(?=\S{{1,40}}[ \t]\S{{1,40}}[ \t]\S)"
    rf"|{_ANY}[(\[])",
    re.IGNORECASE,
)
_OPTION = expression(rf"\A[\s(*_\"'`]{{0,12}}(?P<label>[A-Za-z])[)\].:]\*{{0,3}}{_GAP}\S")
_LAST = expression(
    r"\n[ \t*_\"'`]{0,9}(?P<label>[^\s*_\"'`.,;:!?()-][^\n.,;:!?()]{0,60}?)[ \t*_\"'`.]{0,9}\Z"
)
_CONFIDENCE = expression(
    rf"{_ANY}[(\[](?:(?:with{_GAP})?(?:(?:very{_GAP})?(?:high|low|medium|moderate){_GAP})?"
    r"(?:confidence|certainty|probability|score|p|conf)\b[^()\[\]]{0,24}|high|low|medium|moderate|0?\.\d+|1\.0+"
    rf"|\d{{1,3}}(?:\.\d+)?[ \t]?%(?:{_GAP}(?:confident|sure|certain|confidence))?)[)\]][ \t.]*\Z",
    re.IGNORECASE,
)
_OPEN = word_set(
    """or nor either neither between both although though but if unless could might may maybe perhaps possibly possible
    unclear unsure undecided cannot instead except alternatively wrong incorrect excluded labels categories classes
    options choices candidates oder entweder weder zwischen aber vielleicht könnte unklar ou soit entre mais peut-être
    quizás pero oppure forse tra ma ofwel tussen maar misschien talvez mas или либо между но может"""
)
_KEYS = word_set(
    """label category sentiment class classification answer priority intent topic result type verdict tone emotion
    rating score urgency severity decision prediction choice department kategorie catégorie categoría categoria"""
)
_NO_LABEL = word_set("i we you he she they it this that these those there is are was what how so my your")
_FOUNDED = expression(
    rf"[ \t]{{1,3}}(?:because|weil|parce que|porque|perché|omdat)\b|,{_GAP}(?:{_REASON}|with|though|although)\b"
    rf"|{_ANY}\((?=\S{{1,40}}[ \t]\S{{1,40}}[ \t]\S)|[ \t][-–—][ \t](?=\S{{1,40}}[ \t]\S{{1,40}}[ \t]\S)",
    re.IGNORECASE,
)
"""Where what an answer gives ends, and why it gives it begins."""
_THEREFORE = expression(r"[,;][ \t](?:and[ \t])?(?:so|hence|therefore|thus)\b", re.IGNORECASE)
_DOUBT = expression(
    r"\b(?:whether|if|unless|either|or|perhaps|maybe|possibly|might|could|can['’]?t (?:tell|say)|cannot (?:tell|say)"
    r"|unsure|uncertain|unclear|not (?:sure|certain|clear)|no idea|(?:do not|don['’]t|does not|doesn['’]t) know)\b"
    r"|(?-i:\bmay\b)",
    re.IGNORECASE,
)
_QUOTES = " \t\"'`*_«»“”„‘’<>[]"


_BRACKETS = frozenset(")]")


def without_confidence(text: str) -> str:
    """A text without how sure it is, in brackets at its end.

    >>> without_confidence("refund (confidence: 0.9)")
    'refund'
    """
    return text if _BRACKETS.isdisjoint(text) else text[:-_TAIL] + _CONFIDENCE.sub("", text[-_TAIL:])


def declared(text: str) -> list[str]:
    """The labels that an answer gives and says so, each once, as they are written.

    >>> declared("The customer wants a refund, so the category is **Billing**.")
    ['Billing']
    """
    if _is_bare_word(text):
        return []
    therefore = _labels([*_SO_IT_IS.finditer(text)])  # "The tone is angry, so it is negative."
    return therefore or _labels([match for form in _FORMS for match in form.finditer(text)])


def labels_given(text: str) -> list[str]:
    """The labels that an answer declares; without any, what stands where labels do: first, last, after "it is".

    >>> labels_given("Refund, since the customer was charged twice.")
    ['Refund']
    """
    if _is_bare_word(text):
        return []
    return declared(text) or _labels(
        [
            *_IT_IS.finditer(text),
            *(match for form in (_OPTION, _LEADING, _LAST) if (match := form.search(text))),
        ]
    )


def _is_bare_word(text: str) -> bool:
    """Whether a text is one word, as most labels are: nothing there could name a label, and no expression is tried."""
    return text.isascii() and text.replace("_", "").isalnum()


def _labels(found: list[re.Match[str]]) -> list[str]:
    named = (match["label"].strip(_QUOTES) for match in found)
    kept = [
        each
        for each in named
        if each and len(words := each.casefold().split()) <= _MOST_WORDS and words[0] not in _NO_LABEL
    ]
    return list({each.casefold(): each for each in kept}.values())


def leaves_open(words: list[str], text: str) -> bool:
    """Whether an answer weighs labels, or says which there are, rather than giving one."""
    return not _OPEN.isdisjoint(words) or "/" in text or bool(_HEDGED.search(text))


def doubted(label: Text, answer: Text) -> bool:
    """Whether an answer gives a label with a doubt, a condition or another beside it, as the label itself does not.

    Reasons are not looked at, nor what a conclusion is drawn from: "The customer asks if …, so it is a refund"; and a
    sentence that gives it without doubt is enough.
    """
    if _DOUBT.search(label.clean):
        return False
    key = _key(bare(label))
    asks = len(answer.sentences) == 1 and answer.clean.rstrip().endswith("?")
    if not asks and not _DOUBT.search(answer.clean):
        return False
    holding = []
    for sentence in answer.sentences:
        head = _FOUNDED.split(sentence, maxsplit=1)[0]
        said = _THEREFORE.split(head if _within(key, _tokens(head)) else sentence)[-1]
        if _within(key, _tokens(said)):
            holding.append(asks or bool(_DOUBT.search(said)))
    return bool(holding) and all(holding)


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(canonical_words(re.sub(r"(?<=\w)[_-](?=\w)", " ", text)))


def in_data(text: str) -> str | None:
    """The label in an answer that is a JSON object with one member named for it; ``None`` where there is none.

    >>> in_data('{"label": "refund", "confidence": 0.9}')
    'refund'
    """
    if "{" not in text:
        return None
    value: Any = data_text.parse(text)
    if value is data_text.MISSING:
        value = data_text.embedded(text)
    if not isinstance(value, dict):
        return None
    from pytest_promptfuzz.comparing.formats.alignment import canonical_key

    found = [item for key, item in value.items() if canonical_key(key).split(" ")[-1] in _KEYS]
    if len(found) != 1 and len(value) == 1:
        found = list(value.values())
    if len(found) != 1 or isinstance(found[0], (dict, list)) or found[0] is None:
        return None
    return found[0] if isinstance(found[0], str) else json.dumps(found[0])


# The label that a short answer ends up with, where it mentions others on the way: "…, hence: exchange.".


_CONCLUDED_LABEL = r"(?P<label>[^\W_][\w-]{0,30}(?: [\w-]{1,30}){0,2}?)"
_AROUND = "[*_\"'`“”]{0,3}"
_ENDING = rf"{_AROUND}[ \t]{{0,3}}(?:\Z|[.!\n;])"
_FITS = (
    r"(?:is|would be|seems|remains)[ ](?:the[ ]|an?[ ])?(?:clearly[ ])?(?:much[ ])?"
    r"(?:right|correct|best|better|proper|appropriate|fitting|suitable|most[ ]\w+|more[ ]\w+)"
    r"(?:[ ](?:label|category|class|choice|fit|answer|one|option|match|here))?"
    r"|fits[ ](?:best|better|most)|(?:suits|matches)[ ](?:it[ ])?(?:best|better)|applies|it[ ]is"
)
_CONCLUSIONS = (
    # What follows "hence:" is given, whatever stands before it.
    expression(
        r"(?:\b(?:hence|so|therefore|thus|ergo|consequently|accordingly|conclusion|in conclusion|final answer)[ ]?:"
        r"|\b(?:hence|therefore|thus|ergo|consequently|accordingly),?(?= )|→|=>|⇒)"
        rf"[ \t]{{0,3}}(?:(?:it is|it's|this is) )?(?:an? |the )?{_AROUND}{_CONCLUDED_LABEL}{_ENDING}",
        re.IGNORECASE,
    ),
    expression(
        rf"(?:\A|[,;:.][ ])(?:(?:but|yet|though|however|and|so|the)[ ,]{{1,2}})?{_AROUND}{_CONCLUDED_LABEL}{_AROUND}[ ]"
        rf"(?:{_FITS})\b{_ENDING}",
        re.IGNORECASE,
    ),
    # "Shipping (the customer mentions billing)", "Exchange. The customer first asked for a refund."
    expression(
        rf"\A{_AROUND}(?P<label>[^\W\d_][\w-]{{0,30}}(?: [\w-]{{1,30}})?){_AROUND} "
        r"[(\[]\S{1,30} [^()\[\]\n]{1,200}[)\]](?=\W{0,3}\Z|[.;] )"
    ),
    expression(
        rf"\A{_AROUND}(?P<label>[^\W\d_][\w-]{{0,30}}){_AROUND}\.{_AROUND} (?=\S{{1,30}} \S{{1,30}} \S)"
    ),
)
_NONE = word_set(
    """yes no not none sure ok okay well hello hi hey thanks certainly absolutely right correct true false indeed
    maybe perhaps i we you he she they it this that these those there here what how so my your done understood got
    great good alright unclear unknown because since and or but if answer label category reason result note summary"""
)


def concluded(text: str) -> str | None:
    """The label that an answer draws as its conclusion; ``None`` where it draws none, or several.

    >>> concluded("The customer asks for a refund, hence: exchange.")
    'exchange'
    """
    if "\n" in text.strip():
        return None
    for form in _CONCLUSIONS:
        found = {match["label"].casefold() for match in form.finditer(text)}
        found = {each for each in found if _NONE.isdisjoint(each.split())}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def joined(key: tuple[str, ...], at: int, tokens: list[str]) -> bool:
    """Whether a label stands beside another that is given with it: "billing and shipping".

    Args:
        key: The label's tokens.
        at: Where they stand.
        tokens: Those of the answer.
    """
    end = at + len(key)
    behind = tokens[end : end + 1] == ["and"] and end + _SECOND >= len(tokens) > end + 1
    ahead = end == len(tokens) and at > 1 and tokens[at - 1] == "and"
    return behind or ahead


_SECOND = 3
"""Tokens at an answer's end in which "and" and another label stand."""


MAX_WORDS = 3
"""Words up to which an answer is taken for a label."""

MAX_SENTENCE = 16
"""Words up to which a sentence is taken for a label's wrapping."""

_DRESSED = expression(
    r"\A(?:the |this |its |overall |my |final |predicted |correct |most |best |suitable |appropriate )*"
    rf"(?:[a-z]+[ _])?{NOUN}"
    rf"(?: of (?:the|this) [\w ]{{1,24}}?)?\s*(?:is|would be|:|=|->|→|-)\s*[:\"']*\s*(.+?)\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
_SIGN = expression(r"(?<!\w)[-−](?=\d)")
_NOUN_TAIL = expression(rf"(?<=\w)\s+(?:{NOUN}|review|text|ticket|message)s?\Z", re.IGNORECASE)
_LEAD = expression(r"\A(?:it's|it is|this is|that's|that is|in (?=\d)|on (?=\d)|at (?=\d))\s*(?=\w)")
_INSTEAD = expression(
    r"\Anot [\w-]+[:;,] ?(?:but )?(?=\w)|(?<=\w)(?:,| -|;)? (?:and |but |rather than )?not [\w-]+\Z"
)
_WIDE = expression(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WIDE_CHARACTERS = 6
"""Characters of a script without spaces up to which an answer is taken for a label."""

LONGEST = 2000
"""Characters up to which an answer may be a label."""

_MODALS = word_set("may must should will cannot can might could would")
_SUBJECTS = word_set("i he she we they you")
_EDGES = " \t\r\n.!?,;:\"'`*_()[]{}<>。！？"


def bare(text: Text) -> str:
    """The label in an answer, without its dress: lower case, ``Label:`` and quotes gone, ``_`` and ``-`` as spaces.

    >>> from pytest_promptfuzz.comparing.reading.text import Text
    >>> bare(Text("**Label:** NOT_SPAM."))
    'not spam'
    """
    inner = without_confidence(text.clean).strip(_EDGES)
    found = _DRESSED.match(inner.replace("**", ""))
    if found:
        inner = found[1].strip(_EDGES)
    inner = " ".join(re.sub(r"[_\s]+|(?<=\w)-(?=\w)", " ", inner).casefold().split())
    if not inner.isalnum() and len(inner.split()) <= MAX_WORDS:
        inner = _INSTEAD.sub("", _LEAD.sub("", inner))
        short = _NOUN_TAIL.sub("", inner)
        inner = inner if short in _RANKS else short
    return inner


_RANKS = word_set("first second third business economy premium world high low top middle working")
"""What is another thing with a noun behind it: "first" and "first class"."""


def is_label(text: Text) -> bool:
    """Whether the answer is nothing but a label."""
    if len(text.tokens) > 2 * MAX_SENTENCE or len(text.raw) > LONGEST:
        return False
    label = bare(text)
    words = label.split()
    if not label or len(words) > MAX_WORDS or "\n" in text.clean:
        return False
    if len(words) > 1 and (words[0] in _SUBJECTS or not _MODALS.isdisjoint(words[1:-1])):
        return False  # "He cannot attend" is a statement, however short
    return label.isascii() or len(_WIDE.findall(label)) <= _WIDE_CHARACTERS


def _key(label: str) -> tuple[str, ...]:
    tokens = canonical_words(label)
    return tuple(token for token in tokens if token not in {"a", "an", "the"}) or (label,)


def same(first: Text, second: Text) -> bool:
    """Whether two answers are the same label."""
    one, two = bare(first), bare(second)
    if one == two or (one in _INAPPLICABLE and two in _INAPPLICABLE):
        return True
    if _key(one) == _key(two):
        return len(_SIGN.findall(one)) == len(_SIGN.findall(two)) and not _opposed(one, two)
    first_value, second_value = _number(one), _number(two)
    if first_value is not None and second_value is not None:
        return first_value == second_value
    dated = all(_YEAR.search(each) for each in (one, two))
    return dated and days_apart(first.clean.strip(_EDGES), second.clean.strip(_EDGES)) == (0, True)


_YEAR = expression(r"\b\d{4}\b")


_INAPPLICABLE = frozenset({"n/a", "n.a", "not applicable", "n. a"})


def separated(first: Text, second: Text) -> bool:
    """Whether two labels are one number that may be read as two: 1,000 and 1.000, 1,5 and 1.5, 3.10 and 3.1."""
    one, two = bare(first), bare(second)
    alone = sorted(each.clean.strip() for each in (first, second))
    if all(map(_PERHAPS_VERSION.fullmatch, alone)) and alone[1] == f"{alone[0]}0":
        return True
    return (
        one != two
        and all(map(_SEPARATED.fullmatch, (one, two)))
        and one.replace(",", ".") == two.replace(",", ".")
    )


_SEPARATED = expression(r"\D?-?\d+[.,]\d+\D{0,2}")
_PERHAPS_VERSION = expression(r"[1-9]\d?\.[1-9]0?")


def same_set(first: Text, second: Text) -> bool:
    """Whether two labels are the same hashtags or items in another order."""
    one, two = (sorted(_ITEM.findall(each.clean.casefold())) for each in (first, second))
    return (
        one == two and len(one) > 1 and all(_LISTED.fullmatch(each.clean.strip()) for each in (first, second))
    )


_ITEM = expression(r"#?[\w-]+")
_LISTED = expression(r"#[\w-]+(?:[\s,]+#[\w-]+)+|[\w-]+(?:, ?[\w-]+)+")


_MOST_DIGITS = 300


def _number(label: str) -> float | None:
    """The value of a label that is one number, as ``1e3`` and ``-0.50`` are."""
    if label[:1] not in "-+.0123456789":
        return None
    part, slash, whole = label.partition("/")
    if label.endswith("%"):
        value = _number(label[:-1].rstrip())
        return None if value is None else value / 100
    if slash and part.isdecimal() and whole.isdecimal() and len(label) <= _MOST_DIGITS and int(whole):
        return int(part) / int(whole)
    try:
        return float(label)
    except ValueError:
        return None


def _opposed(one: str, two: str) -> bool:
    """Whether a picture of approval stands in the one label and one of refusal in the other."""
    signs = [(not GLAD.isdisjoint(label), not SORRY.isdisjoint(label)) for label in (one, two)]
    return signs[0] != signs[1] and all(map(any, signs))


def found_in(label: Text, answer: Text) -> str:
    """How a label stands in a longer answer.

    Returns:
        ``stated`` where the answer affirms it; ``doubted`` where it leaves it open; ``reason`` where it stands in the
        reason of another only; ``denied`` where it is negated, stands beside its opposite, or another
        one is given; ``qualified`` where a word of degree precedes it; ``named`` where it stands in a text too long to
        be its wrapping, or beside other possibilities; ``absent`` where it does not stand there.
    """
    key = _key(bare(label))
    doubt = doubted(label, answer)
    if not doubt and gives(label, answer):
        return "stated"
    said = [_key(bare(analyse(each))) for each in declared(answer.clean)]
    end = None if said else concluded(answer.clean)
    if end is not None:
        if same(analyse(end), label):
            return "doubted" if doubt else "stated"
        given = any(same(analyse(each), label) for each in labels_given(answer.clean))
        if not given and not _predicated(key, answer.tokens):
            said = [_key(bare(analyse(end)))]
    if said and not any(_within(key, each) for each in said):
        return "denied"
    tokens = list(_tokens(answer.clean))
    if _denies(key, tokens):
        return "denied"
    starts = range(len(tokens) - len(key) + 1)
    at = next((index for index in starts if tuple(tokens[index : index + len(key)]) == key), None)
    if at is None:
        return "absent"
    return "doubted" if doubt else _named_in(key, at, tokens, answer)


def _denies(key: tuple[str, ...], tokens: list[str]) -> bool:
    """Whether an answer denies what a label affirms, or affirms what it denies."""
    from pytest_promptfuzz.comparing.guards.negations import signed

    holds, wanted = signed(tokens), signed(key)
    return any(
        theirs.get(concept) and concept not in word_lists.FUNCTION_WORDS
        for ours, theirs in ((wanted.affirmed, holds.denied), (wanted.denied, holds.affirmed))
        for concept in ours
    )


def _named_in(key: tuple[str, ...], at: int, tokens: list[str], answer: Text) -> str:
    """How a label stands in an answer that holds its words, the first of them at ``at``."""
    head = _FOUNDED.split(answer.clean, maxsplit=1)[0].casefold().split()
    if head and not _within(key, _tokens(" ".join(head))) and not _predicated(key, answer.tokens):
        return "reason" if len(head) <= MAX_WORDS and _NONE.isdisjoint(head) else "named"
    if joined(key, at, tokens):
        return "named"
    before = tokens[at - 1] if at else ""
    if before in DEGREES and not key[0].isdigit():
        return "qualified"
    if (
        len(answer.words) > MAX_SENTENCE
        or len(answer.sentences) > 1
        or leaves_open(answer.words, answer.clean)
    ):
        return "named"
    return "stated"


def _predicated(key: tuple[str, ...], tokens: list[str]) -> bool:
    """Whether an answer ends in saying that something is so: "Wow. The review is positive."."""
    start = len(tokens) - len(key)
    return tuple(tokens[start:]) == key and not _BEING.isdisjoint(tokens[max(0, start - 2) : start])


_BEING = word_set("is are was were be")


def _within(key: tuple[str, ...], tokens: tuple[str, ...]) -> bool:
    return any(tokens[at : at + len(key)] == key for at in range(len(tokens) - len(key) + 1))


def gives(label: Text, answer: Text) -> bool:
    """Whether an answer gives this label and no other."""
    given = labels_given(answer.clean)
    return len(given) == 1 and same(analyse(given[0]), label)


def both_give(first: Text, second: Text) -> tuple[Text, Text] | None:
    """The one label that each of two answers gives; ``None`` where one of them gives none, or several."""
    one, two = labels_given(first.clean), labels_given(second.clean)
    return (analyse(one[0]), analyse(two[0])) if len(one) == len(two) == 1 else None


def stands_in(label: Text, answer: Text) -> bool:
    """Whether one sentence states a label and does not begin with it, as "The capital is Paris." states "Paris"."""
    key = _key(bare(label))
    return tuple(answer.tokens[: len(key)]) != key and found_in(label, answer) == "stated"


def rejected(label: Text, answer: Text) -> bool:
    """Whether an answer mentions a label and draws another as its conclusion."""
    return (
        concluded(answer.clean) is not None
        and _within(_key(bare(label)), tuple(answer.tokens))
        and found_in(label, answer) == "denied"
    )


def breaks_off(label: Text, answer: Text) -> bool:
    """Whether a label is the beginning of a list that goes on: "Present: Wu, Lee" of "Present: Wu, Lee, Osei"."""
    start = label.clean.rstrip(_EDGES)
    if not (":" in start or "," in start) or not answer.clean.startswith(start):
        return False
    return answer.clean[len(start) :].lstrip()[:1] in {",", ";", "/"}


def _out_of(number: str, ratio: str) -> bool:
    """Whether one label is a number and the other the same out of another: 5 and 5/5."""
    whole, slash, most = ratio.partition("/")
    return bool(slash) and number.isdigit() and whole.strip() == number and most.strip().isdigit()


def extends(first: Text, second: Text) -> str:
    """How two short answers overlap: ``qualified`` by a word of degree, ``longer`` by other words, or ``no``."""
    if _out_of(bare(first), bare(second)) or _out_of(bare(second), bare(first)):
        return "longer"
    one, two = set(_key(bare(first))), set(_key(bare(second)))
    if not (one < two or two < one):
        return "no"
    if all(any(each[0].isdigit() for each in some) for some in (one & two, one ^ two)):
        # range(10) and range(1, 10)
        return "no"
    if all(each[0].isdigit() for each in (one & two)):
        # 42 and 42 %, 5 and 5 apples: what is counted is part of a number.
        return "qualified"
    return "longer" if (one ^ two).isdisjoint(DEGREES | word_lists.NEGATORS) else "qualified"
