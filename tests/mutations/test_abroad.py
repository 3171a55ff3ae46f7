"""Operators that reword instructions in German, French, Spanish, Italian, Dutch and Portuguese."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from pytest_promptfuzz.data.phrases import ALSO_BRIEF, BRIEF, COURTESIES, SPELLINGS, SWAPS
from pytest_promptfuzz.mutations.analysis import phrases
from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.randomness import Rng, root_key


def draft_of(text: str) -> Draft:
    spans = as_prompt(text).spans
    return Draft(text, [span[:2] for span in spans], kinds=[kind for *_, kind in spans])


def outcomes(name: str, text: str) -> set[str]:
    """What the operator makes of a text, one place at a time."""
    operator = builtin()[name].at(1)
    draft = draft_of(text)
    found = set()
    for seed in range(8):
        for edits in islice(
            operator.proposals(draft, Rng(root_key(seed, text), operator.id, intensity=1)), 6
        ):
            check_edits(edits, len(text), draft.protected(operator.touches), text=text)
            found.add(apply_edits(text, edits))
    return found - {text}


# The language is told by the rest of the prompt.
REST = {
    "de": "\n\nDie Antwort muss in der Sprache des Kunden sein.\n\nNachricht: {text}",
    "fr": "\n\nLa réponse doit être dans la langue du client.\n\nMessage : {text}",
    "es": "\n\nLa respuesta debe estar en la lengua del cliente.\n\nMensaje: {text}",
    "it": "\n\nLa risposta deve essere nella lingua del cliente e non in inglese.\n\nMessaggio: {text}",
    "nl": "\n\nHet antwoord moet in de taal van de klant zijn.\n\nBericht: {text}",
    "pt": "\n\nA resposta deve estar na língua do cliente.\n\nMensagem: {text}",
}
WITHOUT_PLEASE = [
    ("de", "Fasse den Text zusammen.", "Bitte fasse den Text zusammen."),
    ("de", "Klassifizieren Sie die Nachricht.", "Bitte klassifizieren Sie die Nachricht."),
    ("fr", "Résume le texte.", "S'il te plaît, résume le texte."),
    ("fr", "Répondez à la question.", "S'il vous plaît, répondez à la question."),
    ("es", "Clasifica el mensaje.", "Por favor, clasifica el mensaje."),
    ("es", "Responda con una palabra.", "Por favor, responda con una palabra."),
    ("it", "Riassumi il testo.", "Per favore, riassumi il testo."),
    ("nl", "Vat de klacht samen.", "Vat alsjeblieft de klacht samen."),
    ("pt", "Classifique a mensagem.", "Por favor, classifique a mensagem."),
]
WITH_PLEASE = [
    ("de", "Antworte bitte nur mit Ja.", "Antworte nur mit Ja."),
    ("de", "Antworten Sie bitte mit einem Wort.", "Antworten Sie mit einem Wort."),
    ("fr", "Répondez, s’il vous plaît, en un mot.", "Répondez en un mot."),
    ("es", "Responde por favor con una palabra.", "Responde con una palabra."),
    ("it", "Rispondi, per favore, con una parola.", "Rispondi con una parola."),
    ("nl", "Noem alstublieft de prijs.", "Noem de prijs."),
]
WORDED = [
    ("de", "Antworte nur mit dem Namen.", "Antworte ausschließlich mit dem Namen."),
    ("de", "Gib ausschließlich die Kategorie aus.", "Gib nur die Kategorie aus."),
    ("de", "Verwenden Sie keine Abkürzungen.", "Benutzen Sie keine Abkürzungen."),
    ("de", "Stelle sicher, dass alles stimmt.", "Achte darauf, dass alles stimmt."),
    ("de", "Schreibe höchstens 3 Sätze.", "Schreibe maximal 3 Sätze."),
    ("de", "Antworte anhand der Dokumente.", "Antworte auf Grundlage der Dokumente."),
    ("de", "Falls die Antwort fehlt, sag das.", "Wenn die Antwort fehlt, sag das."),
    ("de", "Lies den folgenden Text.", "Lies den nachfolgenden Text."),
    ("fr", "Répondez uniquement par oui ou non.", "Répondez exclusivement par oui ou non."),
    ("fr", "Écrivez 80 mots au maximum.", "Écrivez 80 mots au plus."),
    ("fr", "Répondez en vous appuyant sur le texte.", "Répondez en vous basant sur le texte."),
    ("fr", "Rédigez une réponse.", "Écrivez une réponse."),
    ("fr", "Relisez afin de corriger les fautes.", "Relisez pour corriger les fautes."),
    ("es", "Responde solo con la etiqueta.", "Responde únicamente con la etiqueta."),
    ("es", "Asegúrate de que todo esté bien.", "Cerciórate de que todo esté bien."),
    ("es", "Escribe tres frases como máximo.", "Escribe tres frases como mucho."),
    ("it", "Rispondi solo con il nome.", "Rispondi soltanto con il nome."),
    ("it", "Non usare sigle.", "Non utilizzare sigle."),
    ("it", "Assicurati che sia giusto.", "Accertati che sia giusto."),
    ("nl", "Antwoord alleen met de naam.", "Antwoord uitsluitend met de naam."),
    ("nl", "Zorg ervoor dat alles klopt.", "Zorg dat alles klopt."),
    ("nl", "Gebruik hoogstens 5 zinnen.", "Gebruik maximaal 5 zinnen."),
    ("nl", "Indien de prijs ontbreekt, zeg dat.", "Als de prijs ontbreekt, zeg dat."),
    ("pt", "Responda apenas com a fila.", "Responda somente com a fila."),
    ("pt", "Resuma o texto abaixo.", "Resuma o texto a seguir."),
    ("pt", "Certifique-se de que está certo.", "Assegure-se de que está certo."),
]
SHORT = [
    ("de", "Nenne Tiere, zum Beispiel Hunde.", "Nenne Tiere, z. B. Hunde."),
    ("fr", "Nommez des animaux, par exemple des chiens.", "Nommez des animaux, p. ex. des chiens."),
    ("es", "Nombra animales, por ejemplo perros.", "Nombra animales, p. ej. perros."),
    ("it", "Indica animali, ad esempio cani.", "Indica animali, ad es. cani."),
    ("nl", "Noem dieren, bijvoorbeeld honden.", "Noem dieren, bijv. honden."),
    ("pt", "Nomeie animais, por exemplo gatos.", "Nomeie animais, p. ex. gatos."),
]
SPELT = [
    ("de", "Arbeite so genau, sodass nichts fehlt.", "Arbeite so genau, so dass nichts fehlt."),
    ("fr", "Indiquez le coût de la boîte.", "Indiquez le cout de la boîte."),
    ("es", "Indica el periodo.", "Indica el período."),
]
CASES = [
    *(("politeness", *each) for each in (*WITHOUT_PLEASE, *WITH_PLEASE)),
    *(("politeness", language, after, before) for language, before, after in WITHOUT_PLEASE),
    *(("instruction-paraphrase", *each) for each in WORDED),
    *(("abbreviation", *each) for each in SHORT),
    *(("spelling-variant", *each) for each in SPELT),
]


@pytest.mark.parametrize(
    ("name", "language", "before", "after"), CASES, ids=[f"{n}: {b}" for n, _, b, _ in CASES]
)
def test_it_says_the_same(name: str, language: str, before: str, after: str) -> None:
    rest = REST[language]
    assert draft_of(before + rest).language == language
    assert after + rest in outcomes(name, before + rest)


@pytest.mark.parametrize(("language", "long", "brief"), SHORT)
def test_abbreviations_are_spelt_out_within_a_sentence(language: str, long: str, brief: str) -> None:
    assert long + REST[language] in outcomes("unabbreviation", brief + REST[language])


AS_IT_IS = [
    ("politeness", "de", "Antworten auf Fragen der Kunden sind kurz."),  # no instruction: a noun
    ("politeness", "de", "Gibst du es auch aus?"),
    ("politeness", "fr", "Résume."),
    ("politeness", "it", "Verifica dei dati."),
    ("politeness", "nl", "Antwoord: kort."),
    ("politeness", "es", 'Escribió "Responde con una palabra" en la carta.'),
    ("instruction-paraphrase", "de", "Antworte nur wenn du es weißt."),
    ("instruction-paraphrase", "de", "Gib nur zwei Namen an."),
    ("instruction-paraphrase", "de", "Antworte NUR mit dem Namen."),
    ("instruction-paraphrase", "de", "Nicht nur das, auch mehr."),
    ("instruction-paraphrase", "de", 'Schreibe "Antworte nur mit dem Namen" davor.'),
    ("instruction-paraphrase", "de", "## Antworte nur mit dem Namen"),
    ("instruction-paraphrase", "fr", "Répondez uniquement si vous savez."),
    ("instruction-paraphrase", "es", "Está solo en casa."),
    ("instruction-paraphrase", "it", "Rispondi con una sola parola."),
    ("instruction-paraphrase", "nl", "Geef alleen als het kan een prijs."),
    ("abbreviation", "de", "Nenne Tiere zum Beispiel."),  # its stop would meet the sentence's
    ("abbreviation", "de", 'Schreibe "zum Beispiel" davor.'),
    ("unabbreviation", "de", "Nenne Tiere usw. Danach Pflanzen."),  # the stop may be the sentence's
    ("spelling-variant", "fr", "Indiquez le goûter."),
]


@pytest.mark.parametrize(("name", "language", "text"), AS_IT_IS, ids=[f"{n}: {t}" for n, _, t in AS_IT_IS])
def test_it_leaves_alone_what_says_something_else(name: str, language: str, text: str) -> None:
    assert outcomes(name, text + REST[language]) == set()


@pytest.mark.parametrize("language", REST)
def test_data_is_left_alone(language: str) -> None:
    bare = {code: before for code, before, _ in WITHOUT_PLEASE}[language]
    worded = {code: before for code, before, _ in WORDED}[language]
    short = {code: before for code, before, _ in SHORT}[language]
    for data in (f"{bare} {worded} {short}", f"\n{bare} {worded} {short}"):
        text = REST[language].replace(" {text}", data if data[0] == "\n" else f" {data}").strip()
        for name in ("politeness", "instruction-paraphrase", "abbreviation"):
            assert outcomes(name, text) == set(), name


def test_the_address_is_kept() -> None:
    rest = REST["nl"]
    assert outcomes("politeness", f"Noem de prijs voor u.{rest}") == {
        f"Noem alstublieft de prijs voor u.{rest}"
    }
    assert outcomes("politeness", f"Noem de prijs.{rest}") == {f"Noem alsjeblieft de prijs.{rest}"}


def test_the_tables_hold_together() -> None:
    for language, swaps in SWAPS.items():
        for swap in swaps:
            assert not any(re.search(r"[A-Z]", form.replace("Sie", "")) for form in swap.forms)
            assert all(form != other for form, other in swap.forms.items()), (language, swap.forms)
    for language, forms in BRIEF.items():
        assert all(brief.endswith(".") for brief in (*forms.values(), *ALSO_BRIEF[language]))
    for forms in SPELLINGS.values():
        assert all(forms[other] == form for form, other in forms.items())
    for courtesy in COURTESIES.values():
        assert not courtesy.verbs & courtesy.formal


def test_it_is_never_asked_in_english() -> None:
    assert "en" not in phrases.PHRASE_LANGUAGES
    assert outcomes("politeness", "Classify the ticket.") == {
        "Please classify the ticket.",
        "Kindly classify the ticket.",
    }
