"""Force: what must be done, what may be, what is certain and what is only possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import written
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.words import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.comparing.guards.pair import Pair

_WORDS = {
    "duty": """must shall necessary required mandatory compulsory obligatory obliged obligation muss müssen musst
        verpflichtet pflicht erforderlich doit doivent obligé obligée tenu tenue devez faut obligatoire debe deben debes
        obligatorio obligatoria obligado deve devono devi obbligatorio obbligatoria moet moeten verplicht""",
    "advice": """should ought recommended advisable advised suggested encouraged sollte sollten solltest empfohlen
        devrait devraient devriez recommandé recommandée debería deberían recomendado recomienda
        dovrebbe dovrebbero consigliato raadzaam aanbevolen""",
    "leave": """optional voluntary may can could discretion welcome wish prefer kann können darf dürfen freiwillig peut
        peuvent pouvez facultatif facultative puede pueden puedes opcional voluntario voluntaria può
        possono facoltativo facoltativa kan kunnen mag mogen vrijwillig freigestellt permitted allowed
        entitled""",
    "certain": """will certain certainly definitely guaranteed guarantee sure surely undoubtedly always prove proven
        sicher bestimmt garantiert wird werden certainement garanti sera seguro garantizado será
        garantito sarà zeker gegarandeerd zal shall confirmed establish establishes""",
    "possible": """might may could possibly perhaps maybe probably likely chance hope try attempt aim endeavor
        endeavour strive allege alleged suspected rumored suggest suggests seem appear allegedly
        reportedly supposedly vielleicht möglicherweise könnte könnten wahrscheinlich eventuell
        womöglich peut-être probablement pourrait pourraient éventuellement quizás quizá
        probablemente podría podrían forse probabilmente potrebbe potrebbero misschien
        waarschijnlijk mogelijk zou""",
    "assured": "certainly definitely guaranteed guarantee undoubtedly prove proven confirmed",
    "right": "entitled entitlement guaranteed",
    "grace": "discretion discretionary goodwill",
    "ban": "forbidden prohibited verboten untersagt interdit interdite prohibido prohibida vietato vietata verboden",
}
_FORCES: dict[str, frozenset[str]] = {}
for _name, _text in _WORDS.items():
    for _word in _text.split():
        _form = canonical(_word)
        if len(_form) == 1:
            _FORCES[_form[0]] = _FORCES.get(_form[0], frozenset()) | {_name}
_TRIGGERS = frozenset(_FORCES)
_PERMITS = frozenset({"can", "may", "could"})
_NOT_YET = frozenset({"if", "unless", "whether"})
_FRAME = 0.55
_EQUAL_FRAME = 0.8
_SPARED = frozenset(
    canonical(word)[0]
    for word in word_set(
        """need required necessary obliged obligation mandatory compulsory muss müssen musst verpflichtet erforderlich
        obligé obligée tenu tenue obligado verplicht"""
    )
)
"""Words of duty whose denial leaves one free; to deny another one is to forbid."""
_FREELY = frozenset({"must"})
"""What forbids before its "not" and leaves one free behind it: "must not", "do not have to"."""
_OPPOSED = (
    ("ban", "spared", "leaves open"),
    ("assured", "possible", "holds for possible"),
    ("right", "grace", "leaves open"),
    ("duty", "leave", "leaves open"),
    ("duty", "advice", "only recommends"),
    ("certain", "possible", "holds for possible"),
    ("duty", "possible", "holds for possible"),
)


def forces(tokens: Sequence[str]) -> dict[str, str]:
    """The forces of a statement, each with the word that brings it.

    A denied duty forbids ("must not"), or leaves one free ("need not": ``spared``); denied leave forbids. Other words
    that a negator precedes or follows are left out.
    """
    found: dict[str, str] = {}
    for index, token in enumerate(tokens):
        names = _FORCES.get(token)
        if not names:
            continue
        before = not lexicon.NEGATORS.isdisjoint(tokens[max(0, index - 1) : index])
        after = not lexicon.NEGATORS.isdisjoint(tokens[index + 1 : index + 2])
        if not before and not after:
            for name in names:
                found.setdefault(name, token)
        elif token in _SPARED or (before and token in _FREELY):
            found.setdefault("spared", token)
        elif names & {"duty", "leave"}:
            found.setdefault("ban", token)
    return found


def check(pair: Pair) -> Finding | None:
    """Whether a duty became a choice, or a certainty a possibility."""
    gone, come = pair.changed
    if _TRIGGERS.isdisjoint(gone) and _TRIGGERS.isdisjoint(come):
        return None
    for side in pair.sides:
        found = _statement(side)
        if found:
            return found
    return None


def _statement(side: Pair) -> Finding | None:
    gone, come = side.changed
    if _TRIGGERS.isdisjoint(gone) and _TRIGGERS.isdisjoint(come):
        return None
    if "may" in gone | come and _is_month(side):
        return None
    one, two = forces(side.a.tokens), forces(side.b.tokens)
    if side.similarity < _FRAME:
        return None
    for strong, weak, what in _OPPOSED:
        for here, there, which, response in ((one, two, "response", True), (two, one, "baseline", False)):
            if strong in here and strong not in there and weak in there and weak not in here:
                old = written(side, here[strong], response=not response)
                new = written(side, there[weak], response=response)
                return Finding(
                    "modality",
                    "contradiction",
                    f"the {which} {what} what the other does not: {new!r} for {old!r}",
                )
    for here, there, which, response in ((one, two, "response", True), (two, one, "baseline", False)):
        if (
            "possible" in there
            and not here.keys() & {"possible", "leave"}
            and side.similarity >= _EQUAL_FRAME
        ):
            new = written(side, there["possible"], response=response)
            return Finding("modality", "contradiction", f"only the {which} leaves it uncertain ({new!r})")
    return None


def _is_month(side: Pair) -> bool:
    text = side.a.clean if "may" in side.a.token_set else side.b.clean
    return "May" in text[1:]
