"""What gives a text away: that it asks for something, that it denies something, that it answers."""

from __future__ import annotations

import re

from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.prompts.logic import logic_words

_SURE = "sure|certainly|of course|absolutely|okay|got it|understood|as requested|bien sûr|gerne,|natürlich,|claro,"
_HERE = "here(?:'s|’s| is| are)|voici|hier ist|aquí (?:está|tienes)|ecco"
_ONE = "the|a|an|your|my|le|la|une?|das|die|der|eine?|il"
_RESULT = (
    "answer|result|summary|list|poem|code|query|translation|response|output|json|table|résumé|réponse|antwort"
    "|zusammenfassung|respuesta|resumen|risposta|riassunto"
)
_ANSWERING = re.compile(
    rf"\A(?:(?:{_SURE})\b|(?:{_HERE}) (?:{_ONE}) (?:\w+ )?(?:{_RESULT})\b)", re.IGNORECASE
)
# The first word of each sentence, item and clause after a colon, but for words that come before an imperative.
_FIRST = re.compile(
    r"(?:\A|[.!?:;\n])[\s\-*•>#\d.)]*(?:please |kindly |now |then |next |in [^,.\n]{1,40}, )?([a-z'’]+)"
)
_ASKING = re.compile(
    r"\?|\b(?:you (?:must|should|are to|need to|have to|will|are asked)|your task|your job|make sure|please|go ahead"
    r"|requested to|(?:is|are|must|should|has|have|needs?) (?:to be|be|to) "
    r"|(?:i|we) (?:want|need|ask|would (?:like|ask)))\b",
    re.IGNORECASE,
)
_VERBS = words(
    """
    act add adopt analyse analyze annotate answer apply arrange ask assess assign assume avoid base be boil
    break brief build calculate categorise categorize change check choose cite clarify classify clean collect
    combine compare compile complete compose compress compute condense consider construct continue convert copy
    correct count craft create decide deduce define deliver derive describe design detect determine develop
    devise discuss display distil distill divide do don't draft draw edit elaborate emit employ ensure enumerate
    estimate evaluate examine exclude expand explain explore express extract figure fill filter find finish fix
    flag focus follow forget format formulate gather generate get give go grade group guess handle help
    highlight identify ignore imagine improve include indicate infer inspect interpret judge justify keep label
    let limit list locate look make map mark match mention merge modify name never normalise normalize note
    number obtain offer omit order organise organize outline output paraphrase parse pay perform pick place plan
    play point predict prepare present print prioritise prioritize process produce proofread propose provide
    pull put quote rank rate read recast recommend record reduce refer reformat reformulate refrain remember
    remove rename render reorganise reorganize repeat rephrase replace reply report respond restate restructure
    return reveal review revise rewrite score search select separate set shorten show simplify sketch skip solve
    sort specify spell split start state stick structure study substitute suggest sum summarise summarize supply
    take tell test think transform translate treat try turn use verify vote work write
    """
)
"""What instructions begin with."""

_DENIALS = words(
    """
    not no never none nobody nothing neither nor cannot without nicht kein keine keinen keiner keinem keines nie
    niemals ohne ne pas jamais aucun aucune rien sans nunca jamás sin ningún ninguna non mai senza nessuno nessuna
    não sem niet geen nooit zonder
    """
)
# "Only the label" is "nothing but the label"; the n is that of "n'a".
_FORBIDDING = words(
    """
    avoid omit refrain exclude skip leave only just alone solely exclusively vermeide évite évitez evita evite vermijd
    nur ausschließlich lediglich seul seule seulement uniquement solo solamente sólo únicamente soltanto unicamente
    apenas somente só alleen uitsluitend slechts n personne nadie ninguém niemand
    """
)
_WORD = re.compile(r"[^\W\d_]+")


def begins_like_an_answer(text: str) -> bool:
    """Whether a text opens as assistants open answers: "Sure, …", "Here is the summary …"."""
    return _ANSWERING.match(text) is not None


def asks(text: str) -> bool:
    """Whether an English text asks for something: an imperative, a question, "you must", "your task"."""
    if _ASKING.search(text):
        return True
    return any(match[1].replace("’", "'") in _VERBS for match in _FIRST.finditer(text.lower()))


def denies(text: str) -> bool:
    """Whether a negation stands in an English, French, German, Spanish, Italian, Portuguese or Dutch text."""
    return any(
        (word := text[start:end].lower()) in _DENIALS or word[-3:] in {"n't", "n’t"}
        for start, end in logic_words(text)
    )


def forbids(text: str) -> bool:
    """Whether a text denies something, or sets limits in other words: "avoid", "leave out", "only"."""
    return denies(text) or not _FORBIDDING.isdisjoint(_WORD.findall(text.lower()))
