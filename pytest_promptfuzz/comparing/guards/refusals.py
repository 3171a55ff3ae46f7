"""Answers that do not answer: refusals in the words models use for them, platitudes, questions asked back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    import re

    from pytest_promptfuzz.comparing.text import Text

_OPENING = 240
_NAMES = {
    "TASK": r"(?:help|assist|provide|answer|comply|do that|do this|fulfil|generate|create|write|classify|extract"
    r"|summari[sz]e|translate|process|complete|discuss|engage|share|offer|give|support|respond|continue|advise|reveal"
    r"|disclose|access|read|recommend|draft|compose|perform|make|say (?:anything|more|for certain)|comment|speculate"
    r"|verify|view|open|diagnose|prescribe|go into|judge|determine|identify)",
    "DOING": r"(?:help|assist|provide|answer|share|offer|give|walk|browse|see|access|read|write|translate)",
    "HELFEN": r"(?:weiterhelfen|helfen|unterstützen|erfüllen|beantworten|bereitstellen|geben|machen|erteilen|nennen"
    r"|sagen|zusammenfassen|übersetzen|erstellen|schreiben|verfassen|öffnen|einsehen|zugreifen|beurteilen|preisgeben)",
    "AIDER": r"(?:autorisée?|en mesure|traiter|divulguer|donner|fournir|aider|répondre|résumer|traduire|rédiger|écrire"
    r"|accéder|ouvrir|lire|consulter|commenter|confirmer|évaluer|générer|créer|partager|communiquer|conseiller)",
    "AYUDAR": r"(?:ayudar|proporcionar|responder|compartir|facilitar|ofrecer|dar|resumir|traducir|redactar|escribir"
    r"|acceder|abrir|leer|consultar|generar|crear|confirmar)",
    "AIUTARE": r"(?:aiutar|fornir|risponder|condivider|dar|riassumer|tradur|scriver|acceder|aprir|legger"
    r"|generar|crear)",
    "MACHINE": r"an? (?:ai|artificial intelligence|(?:large )?language model|chat ?bot|virtual assistant)",
    "EXPERT": r"(?:doctor|physician|pharmacist|lawyer|solicitor|attorney|(?:\w+ )?professional|(?:\w+ )?expert"
    r"|specialist|(?:\w+ )?advis[eo]r|therapist|accountant|vet)",
    "MANY": r"(?:many|several|various|different|a number of)",
    "SIDES": r"(?:aspects|factors|opinions|ways to look|reasons|views|viewpoints|sides|perspectives)",
    "ASKING": r"(?:reading|consulting|checking|contacting|speaking|talking|asking|visiting)",
    "TELL": r"(?:rephrase|clarify|provide|share|tell me|specify|give me|send|paste)",
    "MORE": r"(?:some |a few |a bit |a little )?(?:more|further|additional) (?:information|details?|context)",
    "MATTER": r"(?:information|file|article|message|context|sentence|words?|phrase|passage|question|code"
    r"|paragraph|e-?mail)",
    "SORRY": r"(?:i(?:'m| am)(?: really| very| so)? (?:sorry|afraid)|i apologi[sz]e|unfortunately|sorry)",
    "UNABLE": r"(?:can(?:'t|not| not)|(?:do|could|wo) ?n't|will not|must decline to"
    r"|(?:am|'m) (?:unable|not able)(?: to)?)",
}

# "As an AI …", "I'm sorry, but I can't …", "I am unable to help …".
_HARD = r"""
\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b
\bi(?:'m| am) (?:just |only )?<MACHINE>\b[^.!?]{0,80}\b(?:can't|cannot|not|unable|don't)\b
\b<SORRY>\b[^.!?]{0,20}?[,.]?\s*(?:but )?(?:that )?i ?<UNABLE>
\bi ?<UNABLE>\s+(?:be able to\s+)?(?:directly\s+)?<TASK>
"""

_SOFT = r"""
\bi(?:'d| would) (?:rather|prefer) not\b
\bi (?:don't|do not) have (?:real-time|current|live|up-to-date) (?:information|data)\b
\bi have no (?:access to|way of|information (?:on|about))\b
\bi(?:'m| am) not a (?:doctor|lawyer|physician|financial advis[eo]r|medical professional)\b
\bi(?:'m| am) not (?:comfortable|permitted|allowed|in a position|at liberty|authori[sz]ed|able to <DOING>)\b
\bi won't (?:<TASK>|be able|do)\b
\bi(?:'m| am) only able to\b
\bi can only (?:help|assist|answer)\b
\b(?:is|are)(?: not|n't) something (?:that )?i (?:can|could|am)\b
\bagainst my (?:guidelines|policy|policies|principles|programming)\b
\bi (?:must|have to|need to) (?:decline|refuse|pass)\b
\bi (?:respectfully )?(?:decline|refuse)\b
\bi (?:don't|do not) have (?:access to|enough (?:information|context)|the ability|permission|any information)\b
\b(?:beyond|outside)(?: of)? (?:my|what i)\b
\bi(?:'m| am) afraid (?:that )?i\b[^.!?]{0,12}\b(?:can't|cannot|not|unable)\b
\bhard to say without (?:more|further)\b
\bquestions? (?:about|on|of) [^.!?]{1,40} (?:is|are) best (?:answered|left)\b
\b(?:this|that|the) (?:request|topic|question|content) (?:violates|falls outside|is outside|goes against)\b
\bich (?:kann|darf|möchte)\b[^.!?]{0,40}\bnicht <HELFEN>\b
\b(?:kann|darf|möchte) ich\b[^.!?]{0,40}\b(?:nicht|keine?n?)\b[^.!?]{0,40}\b<HELFEN>\b
\bich habe (?:leider )?keine?n? (?:zugriff|zugang|informationen|angaben)\b
\b(?:leider|tut mir leid)\b[^.!?]{0,30}\b(?:kann|darf) ich\b[^.!?]{0,60}\b(?:nicht|keine?n?)\b
\bich bin (?:leider )?nicht in der lage\b
\bals (?:ki|künstliche intelligenz|(?:großes )?sprachmodell)\b
\ben tant qu'(?:ia|intelligence artificielle|assistant)\b
\bcomo (?:modelo de lenguaje|ia|inteligencia artificial)\b
\bje (?:ne peux|ne suis)(?: malheureusement)? pas (?:(?:y|vous|te|en|le|la|les|de) )?(?:\w+ )?<AIDER>
\bje n'(?:y )?ai (?:malheureusement )?pas (?:accès|assez d'informations|la possibilité)
\bdésolée?,? (?:mais )?je ne (?:peux|suis)\b
\bil m'est impossible\b
\b(?:lo siento|lamentablemente),? (?:pero )?no (?:puedo|me es posible|estoy)\b
\bno (?:le |te |les |lo )?puedo <AYUDAR>
\bno (?:tengo (?:acceso|suficiente información)|me es posible|dispongo de)\b
\bmi dispiace,? (?:ma )?non (?:posso|sono)\b
\bnon (?:posso|sono in grado di) <AIUTARE>
\bnon ho (?:accesso|abbastanza informazioni|la possibilità)\b
\bik heb (?:helaas )?geen (?:toegang|informatie)\b
\b(?:desculpe|lamento|sinto muito|infelizmente),? (?:mas )?(?:eu )?não (?:posso|consigo|tenho)\b
\bnão (?:posso|consigo) (?:ajudar|fornecer|responder|resumir|traduzir|compartilhar|dar|acessar|aceder)
\b(?:het spijt me|helaas)\b[^.!?]{0,20}\bkan ik\b[^.!?]{0,60}\b(?:niet|geen)\b
\bik kan (?:u |je |jou )?(?:daar |hier )?(?:helaas )?(?:mee )?niet (?:mee )?(?:helpen|geven|beantwoorden|verstrekken)\b
"""

_EVASIVE = r"""
\bdepends? on (?:<MANY>|a (?:lot|number|variety))\b
\bit(?:'s| is) always (?:a good idea|best|important) to\b
\bi(?:'d| would) encourage you to\b
\b(?:that|this|it)(?:'s| is) (?:(?:such )?an? )(?:\w+ (?:and |yet |but )?){1,3}(?:subject|topic|question|issue|matter)\b
\bthere are <MANY> (?:\w+ )?<SIDES>\b
\bwe appreciate your (?:patience|understanding|interest)\b
\bi(?:'d| would) (?:recommend|suggest|advise) <ASKING>\b
\b(?:consult|ask|speak (?:to|with)|talk to|see|contact) (?:an?|your) <EXPERT>\b
\bit (?:would be|is|might be) (?:best|better|advisable|wise) to (?:discuss|consult|speak|talk|check|ask)\b
\b(?:discuss|talk|check|speak)\b[^.!?]{0,30} with (?:an?|your) <EXPERT>\b
\bfor (?:accurate|reliable|up-to-date|detailed|more|further) information\b
\bi(?:'ll| will|'d| would)? need <MORE>\b
\b(?:which|what) [^.!?]{1,40}\b(?:do|would|did) you (?:mean|want|need|like|have in mind)\b[^.!]*\?
\b(?:do|did) you mean\b[^.!]*\?
\bwhat do you think\b
\b(?:could|can|would) you (?:please |first |also |kindly |perhaps )*<TELL>\b[^.!]*\?
\bplease (?:provide|share|paste|send|upload|specify)\b[^.!?]*\b(?:text|document|details|<MATTER>)\b
\bwould you like me to\b
\b(?:happy|glad) to help\b[^?]{0,80}\?
\bhard to (?:say|tell|give (?:an?|any) (?:\w+ )?(?:answer|advice|recommendation))\b
\bich bin mir nicht sicher, was sie meinen\b
\b(?:könnten|können) sie (?:mir )?(?:bitte )?(?:mehr|näher|den text)
\bpourriez-vous (?:préciser|fournir|reformuler)
\b(?:podrías?|puedes?) (?:aclarar|proporcionar|reformular)
"""
_MOST = 60
"""Words up to which an answer may be nothing but an evasion."""

_HINTS = word_set(
    """sorry afraid unfortunat unfortunate apologiz apologis fortunat fortunate ai language decline declin deny no
    rather leider nicht pas désolé siento non dispiace spijt niet helaas against beyond outsid hard best violat
    impossible kein keine keinen prefer no não desculpe lamento infelizmente"""
)
_OF_ONESELF = frozenset({"not", "only"})
"""Words of a refusal where the answer speaks of itself: "I cannot", "I can only"."""


def _any_of(lines: str) -> re.Pattern[str]:
    joined = "|".join(lines.strip().splitlines())
    for name, meaning in _NAMES.items():
        joined = joined.replace(f"<{name}>", meaning)
    return expression(joined)


_REFUSAL, _SOFT_REFUSAL, _EVASION = _any_of(_HARD), _any_of(_SOFT), _any_of(_EVASIVE)


def declines(text: Text) -> str:
    """``plainly`` where an answer opens by declining, ``softly`` where less so or in another language, else ``""``."""
    tokens = text.token_set
    if _HINTS.isdisjoint(tokens) and ("i" not in tokens or _OF_ONESELF.isdisjoint(tokens)):
        return ""
    opening = text.clean[:_OPENING].lower().replace("’", "'")
    if _REFUSAL.search(opening):
        return "plainly"
    return "softly" if _SOFT_REFUSAL.search(opening) else ""


def evades(text: Text) -> bool:
    """Whether an answer may say nothing: it asks back, or names what one could consider."""
    if len(text.tokens) > _MOST:
        return False
    return bool(_EVASION.search(text.clean.lower().replace("’", "'")))
