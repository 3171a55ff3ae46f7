"""The prompt, or what it asks for, in another language."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.answer_languages import KNOWN, PROMPTED, asked_in
from pytest_promptfuzz.mutations.draft import Draft
from pytest_promptfuzz.mutations.edits import Edit, Ref, apply_edits
from pytest_promptfuzz.mutations.formats_answer import wordless
from pytest_promptfuzz.mutations.languages import language_tag, surely
from pytest_promptfuzz.mutations.layout import sections_of
from pytest_promptfuzz.mutations.located import WORDED, located
from pytest_promptfuzz.mutations.operator import Operator, operator
from pytest_promptfuzz.prompts.messages import MUTABLE_ROLES, layout, validated
from pytest_promptfuzz.prompts.reading import article, check_characters
from pytest_promptfuzz.prompts.slots import Slots
from pytest_promptfuzz.prompts.spans import protected_spans
from pytest_promptfuzz.prompts.translations import PLACE, read_translations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.rng import Rng

Translation: TypeAlias = "str | Sequence[Mapping[str, Any]]"
"""A translated prompt: its text, or its chat messages (system, developer and user; others are left as they are)."""


def translations(
    source: Mapping[str, Translation] | str | os.PathLike[str], *, answer_language: str | None = None
) -> list[Operator]:
    """Operators that put translations in the place of the prompt, one a language: ``translated-es`` and so on.

    A translation must hold everything that is protected in the prompt, as it stands there: slots, numbers, labels,
    quoted text, code. That is checked when the prompt is known, so that a plan ends in a ``UsageError`` that names
    what was lost. Words that belong to a number are translated (``20 words``, ``3 May``); its digits stay.

    Args:
        source: The prompt by language (ISO 639-1, with a region or without: ``fr``, ``fr-CA``, ``pt-BR``), or a path
            with ``{language}`` in it, such as ``prompts/triage.{language}.txt``. A chat is given as its messages.
        answer_language: The language that the answer is expected in, where it is not the translation's.

    Returns:
        Operators under the relation ``language``, in the order of ``source``.

    Raises:
        UsageError: A language is unknown or given twice, a translation is empty, no text, or in another language than
            it is said to be; a file is missing or not UTF-8.
    """
    answered = None if answer_language is None else _tag(answer_language)
    return [_whole(tag, given, answered) for tag, given in _checked(source).items()]


def cross_lingual(
    prompts: Mapping[str, Translation] | str | os.PathLike[str],
    *,
    answer_languages: Sequence[str] | None = None,
) -> list[Operator]:
    """Operators for every pair of a prompt's language and an answer's, which is asked for in the prompt's language.

    Nine languages give 81 of them, named ``translated-de-answer-in-fr``. Source: S2's cross-lingual pairs.

    Args:
        prompts: The prompt by language, as :func:`translations` takes it; the original may be among them.
        answer_languages: The languages of the answers; those of ``prompts`` by default.

    Returns:
        Operators under the relation ``language``, prompts before answers.

    Raises:
        UsageError: As :func:`translations`; or an answer's language whose name is not known.
    """
    checked = _checked(prompts)
    if isinstance(answer_languages, str) or answer_languages == []:
        raise UsageError(
            f"cross_lingual: answer_languages={answer_languages!r}; give a list such as ['en', 'fr-CA']."
        )
    answers = [*checked] if answer_languages is None else [_tag(each) for each in answer_languages]
    if len(set(answers)) < len(answers):
        raise UsageError(f"cross_lingual: answer_languages={answer_languages!r} has a language twice.")
    for tag in answers:
        if tag not in KNOWN:
            raise UsageError(
                f"cross_lingual: how to ask for an answer in {tag!r} is not known; {', '.join(KNOWN)} are."
            )
    for tag in checked:
        if tag.partition("-")[0] not in PROMPTED:
            raise UsageError(
                f"cross_lingual: how to ask for an answer in a prompt in {tag!r} is not known; prompts may be in"
                f" {', '.join(PROMPTED)}."
            )
    return [
        _whole(prompt, given, answer, ask=True) for prompt, given in checked.items() for answer in answers
    ]


def _tag(value: object) -> str:
    tag = language_tag(value) if isinstance(value, str) else None
    if tag is None:
        raise UsageError(
            f"Translations: {value!r} is no language; give an ISO 639-1 code such as 'fr', 'fr-CA' or 'pt-BR'."
        )
    return tag


class _Given(NamedTuple):
    """A translation: its texts, and what messages call it."""

    texts: tuple[str, ...]
    where: str


def _checked(source: Any) -> dict[str, _Given]:
    """Each translation by its language."""
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    if path:
        source = read_translations(path)
    if not isinstance(source, Mapping):
        raise UsageError(
            f"Translations: {article(source)} is not accepted; give a mapping of languages to texts, or a path with"
            " {language} in it."
        )
    if not source:
        raise UsageError("Translations: there are no translations; give at least one language and its text.")
    found: dict[str, _Given] = {}
    for key, value in source.items():
        tag = _tag(key)
        where = f"The translation for {tag!r}" + (f" in {path.replace(PLACE, key)!r}" if path else "")
        if tag in found:
            raise UsageError(f"Translations: {tag!r} is given twice.")
        texts = _texts(value, where)
        if not any(each.strip() for each in texts):
            raise UsageError(f"{where} is empty; give it some text, or leave the language out.")
        for each in texts:
            check_characters(each, where)
        spoken = surely(
            "\n".join(Draft(each, [span[:2] for span in protected_spans(each)]).free for each in texts)
        )
        if spoken not in {"und", tag.partition("-")[0]}:
            raise UsageError(f"{where} reads as {spoken!r}; check that the languages are not mixed up.")
        found[tag] = _Given(texts, where)
    return found


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        messages = validated(value, where)
        kept = tuple(each for each in messages if each["role"] in MUTABLE_ROLES)
        text, pieces = layout(kept)
        return tuple(text[piece.start : piece.end] for piece in pieces if piece.end > piece.start)
    raise UsageError(f"{where} is {article(value)}; give a text, or the messages of a chat.")


def _whole(tag: str, given: _Given, answer: str | None, *, ask: bool = False) -> Operator:
    """The operator that puts one translation in the place of the prompt, and may ask for the answer's language."""
    texts, where = given

    def propose(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        sections = [*sections_of(len(draft.text), draft.walls)]
        if len(sections) != len(texts):
            plural = "" if len(texts) == 1 else "s"
            raise UsageError(
                f"{where} has {len(texts)} text{plural} and the prompt {len(sections)}; translate"
                " every system, developer and user message, in their order."
            )
        if not ask or answer is None:
            yield _replaced(draft, sections, texts, where)
            return
        asked = False
        for asking in _asking(draft, sections, texts, rng, answer):
            asked = True
            yield asking if isinstance(asking, list) else _replaced(draft, sections, asking, where)
        if not asked:
            raise UsageError(
                f"The prompt for {tag!r} names a language already, or where its instructions end cannot be told; leave"
                " the answer's language out of it, and put its instructions before its text."
            )

    name = f"translated-{tag.lower()}"
    return Operator(
        name if answer is None else f"{name}-answer-in-{answer.lower()}",
        propose,
        dimension="multilingual",
        severity=0.8,
        relation="language",
        touches=WORDED,
        sources=("S2",),
        summary=f"The prompt in its translation for {tag}" + (f", answered in {answer}." if answer else "."),
        trusted=True,
        default=False,
    )


def _asking(
    draft: Draft, sections: list[tuple[int, int]], texts: tuple[str, ...], rng: Rng, answer: str
) -> Iterator[list[Edit] | tuple[str, ...]]:
    """The texts with the answer's language asked for; edits where they are the prompt itself."""
    if texts == tuple(draft.text[start:end] for start, end in sections):
        yield from asked_in(draft, rng, answer)
        return
    for index, text in enumerate(texts):
        there = Draft(text, [(start, end) for start, end, _ in protected_spans(text)])
        found = False
        for edits in asked_in(there, rng, answer):
            found = True
            yield (*texts[:index], apply_edits(text, edits), *texts[index + 1 :])
        if found:
            return


def _replaced(
    draft: Draft, sections: list[tuple[int, int]], texts: tuple[str, ...], where: str
) -> list[Edit]:
    """Edits that put the texts in the place of the prompt's, and keep each protected span by reference."""
    extra = [name for name in Slots(texts).names if name not in Slots([draft.text]).names]
    edits: list[Edit] = []
    for (start, end), text in zip(sections, texts, strict=True):
        if draft.text[start:end] == text:
            continue
        spans = [span for span in draft.spans if start <= span[0] and span[1] <= end]
        parts: list[str | Ref] = []
        position = 0
        for first, last, span in located(draft.text, spans, text, where):
            if first > position:
                parts.append(text[position:first])
            parts.append(Ref(*span))
            position = last
        if position < len(text):
            parts.append(text[position:])
        edits.append(Edit(start, end, tuple(parts)))
    if extra:
        raise UsageError(
            f"{where} has the slot {extra[0]!r}, which the prompt has not; use the prompt's slots."
        )
    return edits


def _answer_in(tag: str, name: str) -> Operator:
    """The operator that asks for the answer in one language."""

    def propose(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        if draft.language != tag.partition("-")[0] and not draft.once(wordless):
            yield from asked_in(draft, rng, tag)

    return operator(
        f"answer-in-{tag.lower()}",
        dimension="multilingual",
        severity=0.6,
        relation="language",
        languages=PROMPTED,
        sources=("S2",),
        version=3,
        summary=f"The answer is asked for in {name}, where the prompt speaks of no language; labels and keys stay.",
        example=("Summarize the text.", f"Summarize the text. Answer in {name}."),
        trusted=True,
        default=False,
    )(propose)


answer_in_es = _answer_in("es", "Spanish")
answer_in_fr = _answer_in("fr", "French")
answer_in_fr_ca = _answer_in("fr-CA", "Canadian French")
answer_in_de = _answer_in("de", "German")
answer_in_nl = _answer_in("nl", "Dutch")
answer_in_it = _answer_in("it", "Italian")
answer_in_ja = _answer_in("ja", "Japanese")
answer_in_pt_br = _answer_in("pt-BR", "Brazilian Portuguese")
