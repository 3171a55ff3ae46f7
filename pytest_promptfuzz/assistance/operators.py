"""Operators that a model helps: paraphrase, back-translation, translation. Made with a target, used when given by name.

What they propose comes from a model, so it is the same again only as long as its answers are kept: in the response
store, under what was asked. Calls made here are not among those of an evaluation's trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.assistance.checks import RejectedAnswerError
from pytest_promptfuzz.assistance.rewording import (
    PARAPHRASES,
    VERSION,
    Helper,
    ParaphraseKind,
    Rewriter,
    reworded,
    to_paraphrase,
    to_translate,
)
from pytest_promptfuzz.errors import UsageError, not_among
from pytest_promptfuzz.mutations.engine.operator import Operator
from pytest_promptfuzz.text.languages import LANGUAGES, language_code, spoken, written_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_promptfuzz.assistance.checks import MarkedStretch
    from pytest_promptfuzz.assistance.rewording import RewordingWay
    from pytest_promptfuzz.mutations.engine.mutation import Relation
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.wire.watch import Watch

    AnyTarget = str | Target | Callable[..., Any]
    AnyStore = AnswerStore | str | Path | None


ATTEMPTS = 3

# S1 of docs/operators.md: 0.3 to 0.5 for semantic change.
_SEVERITY: dict[ParaphraseKind, float] = {"lexical": 0.4, "syntactic": 0.45, "free": 0.5}
_SUMMARY: dict[ParaphraseKind, str] = {
    "lexical": "A model replaces words by others of the same meaning and keeps how the sentences are built.",
    "syntactic": "A model builds the sentences otherwise and keeps the words.",
    "free": "A model says the same in other words and sentences.",
}


def paraphrase(
    target: AnyTarget,
    *,
    kind: ParaphraseKind = "lexical",
    attempts: int = ATTEMPTS,
    parameters: Mapping[str, Any] | None = None,
    store: AnyStore = None,
    name: str | None = None,
) -> Operator:
    """An operator that has a model reword the prompt in its own language.

    Every answer is checked: protected text kept, nothing exact added, no answer to the prompt, the same language, no
    contradiction that the guards of comparison can find. One that fails is asked for again; when none will do, a
    ``PromptfuzzWarning`` says why and other operators take the place. Of a chat, one message is reworded at a time.

    Args:
        target: ``"openai:…"``, ``"anthropic:…"``, ``"compatible:…"``, ``"simulated"``, a ``Target``, or a
            function, sync or async, that takes the question as text and returns the answer.
        kind: ``lexical`` (other words), ``syntactic`` (other sentences) or ``free`` (both).
        attempts: How often the model is asked for one mutation, 1 to 10.
        parameters: More for the request body, e.g. ``{"temperature": 1}``.
        store: Where answers are kept, a folder or a response store; by default the run's, or ``.promptfuzz`` in the
            project's folder. A function's result is not kept, but its calls of a model are.
        name: The operator's; ``lexical-paraphrase`` and the like by default. Two in one plan need two names.

    Raises:
        UsageError: An argument out of range, or an unknown target.
        ConfigurationError: There is no target; or, when it is used, a key, an extra or a model is missing.

    Source: the lexical, syntactic and free paraphrases of Brittlebench (S4).
    """
    if kind not in PARAPHRASES:
        raise UsageError(f"paraphrase: {not_among(f'kind={kind!r}', kind, PARAPHRASES)}")
    return _operator(
        name or f"{kind}-paraphrase",
        _Paraphrase(kind),
        target,
        severity=_SEVERITY[kind],
        summary=_SUMMARY[kind],
        sources=("S1", "S4"),
        options=(attempts, parameters, store),
    )


def back_translation(
    target: AnyTarget,
    *,
    via: str = "fr",
    attempts: int = ATTEMPTS,
    parameters: Mapping[str, Any] | None = None,
    store: AnyStore = None,
    name: str | None = None,
) -> Operator:
    """An operator that has a model translate the prompt into another language and back, in two calls.

    It acts on prompts whose language can be told and is not ``via``. Otherwise as :func:`paraphrase`.

    Args:
        target: As for :func:`paraphrase`.
        via: The language in between: a code such as ``fr``, ``de``, ``ja``, ``pt-BR``.
        attempts: As for :func:`paraphrase`; each is two calls.
        parameters: As for :func:`paraphrase`.
        store: As for :func:`paraphrase`.
        name: ``back-translation-fr`` and the like by default.

    Raises:
        UsageError: An argument out of range, an unknown language or target.
        ConfigurationError: As for :func:`paraphrase`.

    Source: nlpaug and TextAttack have it; S1 names it among the semantic mutations.
    """
    code = language_code(via, "back_translation: via")
    return _operator(
        name or f"back-translation-{code.lower()}",
        _BackTranslation(code),
        target,
        severity=0.45,
        summary=f"A model translates the prompt into {LANGUAGES[code]} and back.",
        sources=("S1", "nlpaug"),
        options=(attempts, parameters, store),
    )


def model_translation(
    target: AnyTarget,
    language: str,
    *,
    attempts: int = ATTEMPTS,
    parameters: Mapping[str, Any] | None = None,
    store: AnyStore = None,
    name: str | None = None,
) -> Operator:
    """An operator that has a model translate the prompt, all messages of a chat, and keeps the translation.

    The relation is ``language``: equal up to the language of the answer. It acts on prompts in another language.

    Args:
        target: As for :func:`paraphrase`.
        language: A code such as ``fr``, ``fr-CA``, ``ja``, ``pt-BR``.
        attempts: As for :func:`paraphrase`.
        parameters: As for :func:`paraphrase`.
        store: As for :func:`paraphrase`.
        name: ``model-translated-fr`` and the like by default.

    Raises:
        UsageError: An argument out of range, an unknown language or target.
        ConfigurationError: As for :func:`paraphrase`.

    Source: the multilingual perturbations of the enterprise benchmark (S2).
    """
    code = language_code(language, "model_translation: language")
    return _operator(
        name or f"model-translated-{code.lower()}",
        _Translation(code),
        target,
        severity=0.6,
        summary=f"A model translates the prompt into {LANGUAGES[code]}.",
        sources=("S2",),
        options=(attempts, parameters, store),
        relation="language",
    )


def model_translations(target: AnyTarget, languages: Iterable[str], **options: Any) -> list[Operator]:
    """One :func:`model_translation` for each language, with the same target and options.

    Raises:
        UsageError: As there, or no language, or one twice.
    """
    if isinstance(languages, str):
        raise UsageError(f"model_translations: languages is a list; write [{languages!r}].")
    codes = [language_code(each, "model_translations: languages") for each in languages]
    if not codes or len(set(codes)) != len(codes):
        raise UsageError(f"model_translations: languages={codes!r}; give each language once, at least one.")
    return [model_translation(target, code, **options) for code in codes]


def _operator(
    name: str,
    way: RewordingWay,
    target: AnyTarget,
    *,
    severity: float,
    summary: str,
    sources: tuple[str, ...],
    options: tuple[int, Mapping[str, Any] | None, AnyStore],
    relation: Relation = "invariance",
) -> Operator:
    """An operator that asks a model: a translation is one of language, anything else of meaning."""
    attempts, parameters, store = options
    if type(attempts) is not int or not 1 <= attempts <= 10:
        raise UsageError(f"{name}: attempts={attempts!r}; give an int from 1 to 10.")
    helper = Helper(target, store=store, parameters=parameters, where=name)
    return Operator(
        name,
        Rewriter(name, helper, way, attempts, whole=relation == "language"),
        "multilingual" if relation == "language" else "semantic",
        severity,
        version=VERSION,
        preserves="conditional",
        relation=relation,
        sources=sources,
        summary=summary,
        default=False,
    )


@dataclass(frozen=True, slots=True)
class _Paraphrase:
    """Other words, in the same language."""

    kind: ParaphraseKind
    language: None = None

    def acts_on(self, _stretch: MarkedStretch) -> bool:
        return True

    def answer(
        self, helper: Helper, stretch: MarkedStretch, watch: Watch, had: Sequence[str], problem: str
    ) -> str:
        return helper.ask(to_paraphrase(stretch, self.kind, had, problem), watch)


@dataclass(frozen=True, slots=True)
class _BackTranslation:
    """There and back."""

    via: str
    language: None = None

    def acts_on(self, stretch: MarkedStretch) -> bool:
        source = _source(stretch)
        return source in LANGUAGES and source != self.via.partition("-")[0]

    def answer(
        self, helper: Helper, stretch: MarkedStretch, watch: Watch, had: Sequence[str], problem: str
    ) -> str:
        source = _source(stretch)
        there = reworded(
            helper.ask(to_translate(stretch, stretch.shown, self.via, (), problem), watch), stretch.original
        )
        parts = stretch.read(there)
        free = " ".join(part for part in parts if isinstance(part, str))
        if not written_in(free, self.via, not_in=source):
            raise RejectedAnswerError(f"its language on the way is not {LANGUAGES[self.via]}")
        between = stretch.mark(parts)
        return helper.ask(to_translate(stretch, between, source, had, problem, other_words=True), watch)


@dataclass(frozen=True, slots=True)
class _Translation:
    """The same in another language."""

    language: str

    def acts_on(self, stretch: MarkedStretch) -> bool:
        return _source(stretch) != self.language.partition("-")[0]

    def answer(
        self, helper: Helper, stretch: MarkedStretch, watch: Watch, had: Sequence[str], problem: str
    ) -> str:
        return helper.ask(to_translate(stretch, stretch.shown, self.language, had, problem), watch)


def _source(stretch: MarkedStretch) -> str:
    return spoken(" ".join(stretch.free()))
