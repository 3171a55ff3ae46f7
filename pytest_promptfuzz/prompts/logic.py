"""Negations and logical words: the small words that turn an instruction round when they are lost."""

from __future__ import annotations

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.prompts.cues import vocabulary

# Foreign words that are common English words ("of" is Dutch for "or", "not" means distress in German) are left out.
_LOGIC = vocabulary(
    "not no never none nobody nothing neither nor cannot only solely without except excluding unless or",
    "and either if otherwise else before after until than must shall should may all any every each both",
    "least most more less fewer always exactly but instead nicht kein keine keinen keiner keinem keines",
    "nie niemals nur ohne außer oder wenn falls muss müssen vor nach ne pas jamais aucun aucune rien sans",
    "sauf ou si avant après seulement doit uniquement nunca jamás sin salvo excepto o solo sólo solamente",
    "antes después debe ningún ninguna non mai senza tranne soltanto prima dopo deve nessuno nessuna não",
    "sem exceto apenas somente depois nenhum nenhuma niet geen nooit zonder behalve alleen moet",
)
_WORD = expression(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CJK = expression(
    r"不要|不得|不能|不可|没有|沒有|禁止|除非|只能|之前|之后|之後|しない|せず|ないで|のみ|だけ|以外"
)


def logic_words(text: str) -> list[tuple[int, int]]:
    """Where negations and logical words stand in ``text``, in ascending order."""
    found: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in _LOGIC or (len(word) > 3 and word[-3:] in {"n't", "n’t"}):
            found.append(match.span())
    if not text.isascii():
        known = [match.span() for match in _CJK.finditer(text)]
        if known:
            found = sorted({*found, *known})
    return found
