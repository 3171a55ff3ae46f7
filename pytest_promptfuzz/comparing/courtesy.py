"""What an answer says around its substance: greetings, introductions, closing offers."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.expressions import expression

_NAMES = {
    "REST": r"[^.!?\n]*[.!?:]*",
    "SURE": r"(?:sure thing|sure|certainly|of course|absolutely|gladly|great|okay|ok|no problem|understood|got it"
    r"|with pleasure|gern(?:e)?|natürlich|selbstverständlich|klar|bien sûr|avec plaisir|d'accord|claro(?: que sí)?"
    r"|por supuesto|con gusto|certo|certamente|volentieri|natuurlijk|zeker|graag gedaan)",
    "SOURCE": r"(?:the|this|your) (?:\w+ )?(?:text|letter|document|article|passage|review|message|e-?mail|contract"
    r"|receipt|invoice|context|report|table|data|information|description|conversation|transcript|ticket|content|excerpt"
    r"|paragraph|source|input|file|post|comment)s?(?: provided| above| given)?",
    "HERE": r"(?:here(?:'s| is| are)|hier (?:ist|sind|finden sie|is|zijn)|voici|voilà"
    r"|aquí (?:está|están|tiene|tienes)|ecco)",
    "SUM": r"(?:in summary|to summari[sz]e|in short|in brief|briefly|summary|to sum up|in a nutshell|in conclusion"
    r"|tl;dr|zusammengefasst|kurz gesagt|kurzum|en résumé|en bref|en resumen|in sintesi|in breve|samengevat|kortom)",
    "HELP": r"(?:help|assist|answer|explain)\b(?!.{0,60}\bbut\b)",
    "RESULT": r"(?:die|das|la|le|el|il|de|het) (?:übersetzung|zusammenfassung|antwort|ergebnis|traduction|réponse"
    r"|résumé|traducción|respuesta|resumen|traduzione|risposta|riassunto|vertaling|samenvatting|antwoord)",
    "FOLLOWS": r"(?:wie folgt|la suivante|la siguiente|la seguente|als volgt)",
    "IF": r"[^.!?]*\bif you (?:like|wish|want|prefer|need)",
    "INTRODUCED": r"(?:(?:my|the) answer|as requested|as follows)",
    "NICE": r"(?:nice |great |lovely |good |wonderful |pleasant )?(?:day|evening|weekend|week|trip|time)",
    "ASK": r"(?:question|help|assist|else|know|tell me|let me|let us|ask|contact|reach|happy|glad|example|version"
    r"|i can)",
}
"""What the expressions below name in angle brackets."""

# An interjection counts where it stands alone, or before what only introduces: "Sure, you can" is an answer.
_OPENINGS = r"""
[¡]?<SURE>\s*[!.:…]+
<SURE>\s*[,–—-]\s*(?=(?:here|i can|i'd|i'll|i'm|let me|happy|below|hier|voici|aquí|ecco)\b)
(?:that's |that is |what )?(?:an? )?(?:great|good|excellent|interesting) question<REST>
(?:many thanks|thanks|thank you)(?: so much| very much)? (?:for|so much|very much)\b<REST>
i(?:'d| would) be (?:happy|glad|delighted|pleased) to <HELP><REST>
(?:i(?:'m| am) )?(?:happy|glad) to <HELP><REST>
i hope (?:you are|you're|this (?:e-?mail|message) finds) <REST>
i(?:'m| am) (?:really |very |so |truly )?sorry (?:about|for|to hear) [^.!?:\n]*[.!]
you (?:asked|wanted to know|were asking|want to know) [^.!?\n]*[.!?:]
(?:your|the) question (?:was|is) [^.!?\n]*[.!?:]
(?:<HERE>|below (?:is|are)|this is|these are|the following)(?!\w)[^.!?\n:]{0,90}:(?=\s)
[^.!?\n:]{0,90}\b(?:<HERE>|you (?:asked|wanted|requested|could use)|<INTRODUCED>)\b[^.!?\n:]{0,40}:[ \t]*\n
<SUM>\s*[,:;–—-]+\s*
(?:according to|based on|as stated in|as per|from) <SOURCE>,\s*
(?:final )?answer:\s*
i (?:have )?(?:found|extracted|identified) (?:the following|this)\b[^.!?:\n]{0,60}:(?=\s)
<RESULT>(?:\s+(?:lautet|ist|est|es|è|is|luidt))?(?: <FOLLOWS>)?\s*:\s*
(?:vielen dank|danke|herzlichen dank|besten dank) (?:für|dass)\b<REST>
merci (?:pour|de|d'avoir)\b<REST>
(?:muchas )?gracias por\b<REST>
grazie (?:mille )?(?:per|di)\b<REST>
(?:bedankt|dank u(?: wel)?|hartelijk dank) voor\b<REST>
""".strip()

_CLOSINGS = r"""
(?:please |just )?let (?:me|us) know\b
(?:please |just )tell me (?:if|whether|which|what)\b
dites-moi\b
(?:sagen sie|sag) mir\b
(?:dígame|dime) si\b
(?:mi dica|dimmi|fammi sapere)\b
(?:i )?hope (?:this|that|it) (?:helps|helped|answers|has answered|clarifies|was|is)\b
(?:please )?feel free to\b
(?:please )?(?:don't|do not) hesitate\b
if you (?:have|need|want|would like|'d like|should have|still have)\b[^.!?]*\b<ASK>
should you (?:have|need)\b[^.!?]*\b(?:question|help|assist|else|further|information)
is there (?:anything|something) else\b
(?:shall|should|can|may) i (?:help|look|do|explain|provide|assist|also|add|translate|make|send|check|go)\b[^.!]*\?
(?:would|do) you (?:like|want) (?:me|us) to\b
i can (?:also )?(?:make|provide|give|add|write|explain|adapt|adjust|shorten|expand)\b<IF>
i(?:'m| am|'d be| would be) (?:happy|glad|here) to (?:help|assist|adjust|revise|explain|provide|answer)\b
(?:always )?(?:happy|glad) to help\b
(?:have|enjoy) (?:a|your|the rest of your) <NICE>\b
that's all there is to it
(?:(?:kind|best|warm|many) )?(?:regards|thanks),?[ ]?(?:your |the )?[^.!?\n]{0,40}\Z
(?:yours )?(?:sincerely|faithfully|truly),?[^.!?\n]{0,40}\Z
thank you for (?:your (?:patience|understanding|question|message|inquiry|enquiry)|contacting|reaching)\b
ich wünsche (?:ihnen|dir)\b
ich hoffe, (?:das|dies|ich)\b
(?:lassen sie|lass) (?:es )?mich wissen\b
(?:bei|falls sie|wenn sie|sollten sie)\b[^.!?]*\b(?:frage|fragen|rückfragen)\b
melden sie sich\b[^.!?]*\b(?:jederzeit|gern)
n'hésite[zs]? pas\b
j'espère que (?:cela|ceci)\b
bonne journée\b
si vous avez d'autres questions\b
no dude[s]? en\b
espero que (?:esto|le|te)\b
si (?:tiene|tienes)\b[^.!?]*\b(?:preguntas|duda|dudas)\b
que tenga\b
non esit(?:i|are) a\b
spero (?:che questo|di esser)\b
se (?:ha|hai)\b[^.!?]*\bdomand
resto a disposizione\b
buona giornata\b
laat het (?:me|mij|ons) weten\b
ik hoop dat (?:dit|het)\b
als (?:u|je) (?:nog )?(?:vragen|meer)\b
fijne dag\b
""".strip()


_OPENERS = word_set(
    """sure certainly absolutely gladly great okay ok understood gern gerne natürlich selbstverständlich klar claro
    certo certamente volentieri natuurlijk zeker good excellent interesting thanks thank happy glad here here's voici
    voilà ecco briefly summary tl;dr zusammengefasst kurzum samengevat kortom answer danke merci gracias grazie bedankt
    of-course no-problem got-it with-pleasure bien-sûr avec-plaisir por-supuesto con-gusto graag-gedaan that's-a
    that-is what-a a-good a-great an-excellent an-interesting many-thanks i-would i'd-be i'm-happy i-am i'm-glad
    i'm-sorry i'm-really i'm-very i'm-so i'm-truly i-hope you-asked you-wanted you-want you-were your-question
    the-question hier-ist hier-sind hier-finden hier-is hier-zijn aquí-está aquí-están aquí-tiene aquí-tienes
    below-is below-are this-is these-are the-following in-summary in-short in-brief in-a in-conclusion to-summarize
    to-summarise to-sum kurz-gesagt en-résumé en-bref en-resumen in-sintesi in-breve according-to based-on as-stated
    as-per from-the from-this from-your final-answer vielen-dank herzlichen-dank besten-dank muchas-gracias
    i-have i-found i-extracted i-identified die-übersetzung die-zusammenfassung die-antwort das-ergebnis la-traduction
    la-réponse le-résumé la-traducción la-respuesta el-resumen la-traduzione la-risposta il-riassunto de-vertaling
    de-samenvatting het-antwoord dank-u hartelijk-dank d'accord"""
)
_CLOSERS = word_set(
    """kind best warm many regards thanks yours sincerely faithfully truly
    please just let i hope feel don't do if should is shall can may would i'm i'd always happy glad have enjoy
    that's thank dites sagen sag dígame dime mi dimmi fammi ich lassen lass bei falls wenn sollten melden
    n'hésitez n'hésite j'espère bonne si no espero que non spero se resto buona laat ik als fijne"""
)
"""First words, or two, of courtesies: what begins with another one is not read any further."""


def _alternatives(lines: str) -> str:
    """One expression of many, the names in angle brackets replaced by what they stand for."""
    joined = "|".join(lines.splitlines())
    for name, meaning in _NAMES.items():
        joined = joined.replace(f"<{name}>", meaning)
    return f"(?:{joined})"


_OPENING = expression(rf"\s*{_alternatives(_OPENINGS)}\s*", re.IGNORECASE)
_CLOSING = expression(rf"\W*{_alternatives(_CLOSINGS)}", re.IGNORECASE)
_HEAD = expression(r"\W*([\w;'’]+)(?:\s+([\w'’]+))?")
_HEAD_WITHIN = 80
"""Characters in which the first two words of a text are looked for."""
_STOPS = tuple((stop[0], stop) for stop in (". ", "! ", "? ", '" ', "\n", ") "))
"""What a sentence ends with, after its first character: a text without that is not searched backwards for the two."""

_SIGN_OFF = expression(
    r"\n\s*(?:(?:kind|best|warm) regards|(?:yours )?(?:sincerely|faithfully|truly)|many thanks|cheers),?[ \t]*"
    r"(?:\n[^\n]{0,40})?\s*\Z",
    re.IGNORECASE,
)
_LEAD = 140
_WORD = expression(r"\w")
_FEW = 4
_MOST = 4
_WINDOW = 400


def substance(text: str) -> str:
    """A text without the courtesies at its beginning and its end; empty if there is nothing else.

    A word or two that are a courtesy elsewhere are the answer where they stand alone: "Great!".

    >>> substance("Sure! Here is the name: Ada. Let me know if you need anything else!")
    'Ada.'
    """
    whole = text
    for _ in range(_MOST):
        if not _may_open(text):
            break
        found = _OPENING.match(text, 0, _WINDOW)
        if not found or not found.end():
            break
        text = text[found.end() :]
    if "\n" in text:
        text = _SIGN_OFF.sub("", text)
    for _ in range(_MOST):
        start = _last_sentence(text)
        if _head(text[start : start + _HEAD_WITHIN])[0] not in _CLOSERS or not _CLOSING.match(text, start):
            break
        text = text[:start].rstrip()
    if not _WORD.search(text):
        return "" if len(whole.split()) > _FEW else whole
    return text


def _may_open(text: str) -> bool:
    first, second = _head(text[:_HEAD_WITHIN])
    return first in _OPENERS or f"{first}-{second}" in _OPENERS or text.find(":\n", 0, _LEAD) >= 0


@lru_cache(maxsize=4096)
def _head(text: str) -> tuple[str, str]:
    """The first two words of a text, in lower case, "" for what is none."""
    found = _HEAD.match(text)
    return (found[1].lower(), (found[2] or "").lower()) if found else ("", "")


def _last_sentence(text: str) -> int:
    """Where the last sentence of a text begins; its end, if that lies too far back."""
    window = max(0, len(text) - _WINDOW)
    end = len(text.rstrip()) - 1
    start = -1
    for mark, stop in _STOPS:
        if mark in text:
            start = max(start, text.rfind(stop, window, end))
    return start + 1 if start >= 0 else (len(text) if window else 0)
