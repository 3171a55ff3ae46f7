"""`compare`: a response with its baseline, by profile, format, words, meaning, tiers and guards.

Most answers of a run are identical to their baseline. What tells others apart is loaded by the first pair that needs
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pytest_promptfuzz.comparing import labels
from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier, check_relation, under
from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.comparing.formats.data_text import Schema, held_to, plain, read_schema, whole
from pytest_promptfuzz.comparing.profiles import (
    OTHER_NAMES,
    QUIRX,
    TASKS,
    Profile,
    infer_task,
    profile_for,
    unknown_profile,
    with_options,
)
from pytest_promptfuzz.comparing.reading.text import (
    LIMIT,
    analyse,
    said_of_parts,
    undecided,
    where_they_differ,
)
from pytest_promptfuzz.comparing.texts import compare_texts
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.providers.requests import Response
from pytest_promptfuzz.text.json_paths import parse_paths, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from pytest_promptfuzz.comparing.custom_checks import Guard, SimilarityTier
    from pytest_promptfuzz.comparing.formats.format_changes import How
    from pytest_promptfuzz.comparing.meaning import Embedder, Entailment


# Labels within JSON.


def compare_label_data(
    first: str, second: str, profile: Profile, ignored: Sequence[str], *, semantic: Embedder | None
) -> Comparison | None:
    """Compare two answers of which at least one is JSON with a member named for its label.

    Another label is a deviation. Of the same label, other members that differ (a confidence, a reason) are minor, and
    so is a label alone where the baseline was JSON, since what reads JSON cannot read it.

    Returns:
        ``None`` where neither holds such JSON: that is compared as any other answer.
    """
    one, two = labels.in_data(first), labels.in_data(second)
    if one is None and two is None and data_text.parse(first) is data_text.MISSING:
        return None
    from pytest_promptfuzz.comparing.formats.json_values import compare_json_texts

    if one is None or two is None:
        if one is None and two is None:
            return compare_json_texts(first, second, profile, ignored, semantic=semantic)
        pair = first if one is None else one, second if two is None else two
        return _unwrapped(compare_texts(*pair, profile, semantic=None, named=True), one, two)
    found = compare_json_texts(first, second, profile, ignored, semantic=semantic)
    if (
        found is None
        or found.outcome in {"equivalent", "minor"}
        or not labels.same(analyse(one), analyse(two))
    ):
        return found
    same = Observation("both-give-label", labels.bare(analyse(one)))
    observed = Observation("and-besides", same, found.observed)
    return found.but(outcome="minor", similarity=0.8, reason="label", explanation=observed)


def _unwrapped(found: Comparison, one: str | None, two: str | None) -> Comparison:
    """What is found between a label and one within JSON, ``one`` of the baseline or ``two`` of the response."""
    if found.outcome != "equivalent":
        return found
    label = labels.bare(analyse(one or two or ""))
    if two is None:
        only = Observation("label-no-longer-within-json", label)
        return found.but(outcome="minor", similarity=0.8, reason="label", explanation=only)
    return found.but(reason="label", explanation=Observation("label-within-json", label))


_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete", "MAX_TOKENS"})
_OTHER_FORM = frozenset({"format", "must-change"})
_ANSWER = {"text", "tool_calls"}
_NONE = (None, ())
_M = TypeVar("_M")


def compare(  # noqa: PLR0913 - public; the options are keywords
    baseline: Any,
    response: Any,
    *,
    task: str | None = None,
    profile: Profile | str | None = None,
    relation: str | None = None,
    equivalent_at: float | None = None,
    minor_at: float | None = None,
    ignore: Iterable[str] = (),
    semantic: Embedder | bool | None = None,
    entailment: Entailment | bool | None = None,
    requested_format: str | None = None,
    requested_language: str | None = None,
    renaming: Mapping[str, str] | None = None,
    tiers: Sequence[SimilarityTier | str] | None = None,
    guards: Sequence[Guard | str] | None = None,
    schema: Schema | Mapping[str, Any] | str | PathLike[str] | None = None,
) -> Comparison:
    """Compare a response with its baseline.

    Args:
        baseline: What was answered to the unchanged prompt: text, a ``Response``, or anything ``plain`` takes.
        response: What was answered to the changed one.
        task: What was asked for, one of ``profiles.TASKS``; inferred from the baseline by default.
        profile: A profile instead of a task's, as ``profile_for`` makes it; ``"quirx"`` compares by that tool's
            published formula.
        relation: What must hold, one of ``relations.RELATIONS``; ``invariance`` by default.
        equivalent_at: Similarity from which answers are equivalent, 0..1, instead of the profile's.
        minor_at: Similarity below which answers differ, 0..1, instead of the profile's.
        ignore: JSON paths left out, such as ``$.id`` and ``$.items[*].date``.
        semantic: What embeds texts where words cannot tell. By default the model that this process is told to use or
            has, if any (``promptfuzz model`` shows it); ``True`` insists on one, ``False`` uses none. Without it such
            pairs are undecided.
        entailment: What tells whether one claim follows from another, for answers that words and meaning leave
            undecided; by default, ``True`` and ``False`` as for ``semantic``.
        requested_format: Under the relation ``format``: what the response must be, one of ``formats.FORMATS``;
            ``formats.requested_format`` reads it off a mutation. Without it any format will do.
        requested_language: Under the relation ``language``: what the response must be written in, as ``fr`` or
            ``pt-BR``; ``languages.requested_language`` reads it off a mutation.
        renaming: Under the relation ``renaming``: the names that were changed, old to new. They are mapped back in the
            response, which is then compared as under invariance; without it a difference in words proves nothing.
        tiers: Tiers of one's own, or names of some, in order: asked where only words or meaning could tell, before
            them. They are not asked about another format or language.
        guards: Guards of one's own, or names of some, beside the profile's. They see every pair that is not the same.
        schema: A JSON Schema, or the path of a file that holds one. A response that breaks it is a deviation, a
            baseline that does so an error. It is not asked where the answer must change, or has another format.

    Returns:
        The outcome and why, in one sentence.

    Raises:
        PartError: A tier or guard of one's own raised, or returned what it must not.
        UsageError: An argument is unknown, of the wrong type or out of range, or a value cannot be compared.
        ConfigurationError: ``semantic`` or ``entailment`` is wanted and cannot be loaded, or the baseline breaks the
            ``schema``.

    >>> compare("You have 14 days.", "You have 41 days.").explanation
    'number 14 in the baseline became 41'
    """
    wanted = "invariance" if relation is None or relation == "invariance" else check_relation(relation)
    language = _check_requested(requested_format, requested_language)
    if wanted == "renaming" and renaming:
        from pytest_promptfuzz.comparing.formats.code import answer_under_renaming

        response, wanted = answer_under_renaming(baseline, response, renaming), "invariance"
    ignored = parse_paths(ignore) if ignore != () else ()
    _check_models(semantic, entailment)
    embedder = _embedder(semantic)
    first, second = _read(baseline, response, ignored)
    if profile == QUIRX:
        from pytest_promptfuzz.comparing import metrics

        _only_text(first, second, plain_formula=not (tiers or guards))
        return under(wanted, metrics.compare_answers(first, second, semantic=embedder))
    chosen = _profile(profile, task, first, equivalent_at=equivalent_at, minor_at=minor_at)
    own_tiers, own_guards = _own_parts(chosen, tiers, guards)
    named = task is not None or profile is not None
    if "semantic" not in chosen.tiers:
        embedder = None
    if schema is not None and (wanted not in _OTHER_FORM or requested_format == "json"):
        broken = held_to(read_schema(schema), plain(baseline), plain(response), formats=chosen.check_formats)
        if broken:
            return broken
    if wanted in {"format", "language"}:
        from pytest_promptfuzz.comparing.formats.format_changes import How

        def texts(one: str, two: str) -> Comparison:
            return _strings(one, two, chosen, embedder, ignored, named=named)

        how = How(chosen, embedder, texts, ignored)
        said = _in_other_form(
            first, second, how, requested_format if wanted == "format" else language, wanted
        )
        if said is not None:
            return _cut_off(baseline, response, said)

    if (own_tiers or own_guards) and first != second:
        from pytest_promptfuzz.comparing.custom_checks import settled

        def values(meaning: Embedder | None) -> Comparison:
            return _values(first, second, chosen, meaning, ignored, named=named)

        found = settled(values, embedder, first, second, chosen, own_tiers, own_guards)
    else:
        found = _values(first, second, chosen, embedder, ignored, named=named)
    if found.outcome == "undecided" and isinstance(first, str) and isinstance(second, str):
        found = _by_entailment(first, second, found, _entails(entailment))
    found = _cut_off(baseline, response, found)
    return found if wanted == "invariance" else under(wanted, found)


def _read(baseline: Any, response: Any, ignored: tuple[str, ...]) -> tuple[Any, Any]:
    """Both as plain values, without what is ignored."""
    first = whole(baseline) if type(baseline) is str else plain(baseline)
    second = whole(response) if type(response) is str else plain(response)
    if ignored:
        first, second = (
            each if isinstance(each, str) else without(each, ignored) for each in (first, second)
        )
    return first, second


def _in_other_form(
    first: Any, second: Any, how: How, requested: str | None, wanted: str
) -> Comparison | None:
    """What two answers in other formats or languages say; ``None`` where they are none to compare so."""
    if wanted == "format":
        from pytest_promptfuzz.comparing.formats.format_changes import compare_formats

        texts = isinstance(first, str) and isinstance(second, str)
        return compare_formats(first, second, how, requested=requested) if texts else None
    if _is_answer(first) or _is_answer(second):
        return None
    from pytest_promptfuzz.comparing.answer_language import compare_languages

    return compare_languages(first, second, how, requested=requested)


def _check_requested(form: str | None, language: str | None) -> str | None:
    """The language that the response must have, as it is known here."""
    if form is not None:
        from pytest_promptfuzz.comparing.formats.answer_formats import check_format

        check_format(form)
    if language is None:
        return None
    from pytest_promptfuzz.comparing.answer_language import check_language

    return check_language(language)


def _own_parts(
    chosen: Profile, tiers: Sequence[SimilarityTier | str] | None, guards: Sequence[Guard | str] | None
) -> tuple[tuple[SimilarityTier, ...], tuple[Guard, ...]]:
    """The tiers and guards beside those that are built in: the profile's, then those of the call."""
    if not chosen.measures and tiers in _NONE and guards in _NONE:
        return (), ()
    from pytest_promptfuzz.comparing.custom_checks import GUARDS, TIERS

    own_tiers: tuple[SimilarityTier, ...] = ()
    if chosen.measures or tiers not in (None, ()):
        own_tiers = TIERS.several(chosen.measures, "tiers") + TIERS.several(tiers, "tiers")
    return own_tiers, GUARDS.several(guards, "guards") if guards not in (None, ()) else ()


def _check_models(semantic: object, entailment: object) -> None:
    if not isinstance(semantic, bool | None) and not hasattr(semantic, "embed"):
        raise UsageError(
            f"semantic={semantic!r:.80} is not True, False or an embedder, which has embed(texts)"
        )
    if not isinstance(entailment, bool | None) and not hasattr(entailment, "scores"):
        raise UsageError(
            f"entailment={entailment!r:.80} is not True, False or a model, which has scores(pairs)"
        )


def _embedder(wanted: Embedder | bool | None) -> Embedder | None:
    if wanted is False:
        return None
    from pytest_promptfuzz.judging.encoders import chosen_embedder, default_embedder

    return _model(wanted, chosen_embedder, default_embedder)


def _entails(wanted: Entailment | bool | None) -> Entailment | None:
    if wanted is False:
        return None
    from pytest_promptfuzz.judging.encoders import chosen_entailment, default_entailment

    return _model(wanted, chosen_entailment, default_entailment)


def _by_entailment(first: str, second: str, found: Comparison, entails: Entailment | None) -> Comparison:
    """What is undecided, as entailment settles it where there is a model of it."""
    if not entails:
        return found
    from pytest_promptfuzz.comparing.claims.prose import settled

    return settled(first, second, found, entails)


def _model(wanted: _M | bool | None, chosen: Callable[[], _M | None], default: Callable[[], _M]) -> _M | None:
    """The model that is given, the one of this process if none is named, or the one that it must have."""
    if wanted is None:
        return chosen()
    if wanted is True:
        return default()
    return wanted or None


def _only_text(first: Any, second: Any, *, plain_formula: bool) -> None:
    for name, value in (("baseline", first), ("response", second)):
        if not isinstance(value, str):
            raise UsageError(f"profile='quirx' compares texts; the {name} is of type {type(value).__name__}")
    if not plain_formula:
        raise UsageError("profile='quirx' compares by that tool's formula; it takes no tiers= and no guards=")


def _profile(
    profile: Profile | str | None,
    task: str | None,
    baseline: Any,
    *,
    equivalent_at: float | None,
    minor_at: float | None,
) -> Profile:
    if profile is not None and task is not None:
        raise UsageError(f"give task={task!r} or profile=, not both")
    if isinstance(profile, Profile):
        return with_options(profile, {"equivalent_at": equivalent_at, "minor_at": minor_at})
    if isinstance(profile, str) and profile not in TASKS and profile not in OTHER_NAMES:
        raise UsageError(unknown_profile(profile))
    name = profile if profile is not None else task
    if name is None:
        answer = baseline["text"] if _is_answer(baseline) else baseline
        name = infer_task(answer)
    if equivalent_at is None and minor_at is None:
        return profile_for(name)
    return profile_for(name, equivalent_at=equivalent_at, minor_at=minor_at)


def _is_answer(value: Any) -> bool:
    """Whether a plain value is what ``plain`` makes of a response with tool calls."""
    return isinstance(value, dict) and value.keys() == _ANSWER and isinstance(value["text"], str)


def _values(
    first: Any,
    second: Any,
    profile: Profile,
    semantic: Embedder | None,
    ignored: tuple[str, ...],
    *,
    named: bool,
) -> Comparison:
    if isinstance(first, str) and isinstance(second, str):
        return _strings(first, second, profile, semantic, ignored, named=named)
    if _is_answer(first) or _is_answer(second):
        return _answers(first, second, profile, semantic, ignored, named=named)
    from pytest_promptfuzz.comparing.formats.json_values import compare_json, compare_json_texts

    if isinstance(first, (dict, list, str)) and isinstance(second, (dict, list, str)):
        found = compare_json_texts(first, second, profile, ignored, semantic=semantic)
        if found:
            return found
    return compare_json(first, second, profile, semantic=semantic)


def _strings(
    first: str,
    second: str,
    profile: Profile,
    semantic: Embedder | None,
    ignored: tuple[str, ...],
    *,
    named: bool,
) -> Comparison:
    if first == second:
        return compare_texts(first, second, profile, semantic=None, named=named)
    found = _by_structure(first, second, profile, semantic, ignored)
    if found:
        return found
    from pytest_promptfuzz.comparing.mixed_answers import PartRules, compare_mixed
    from pytest_promptfuzz.comparing.values.formulas import compare_formulas

    named = named and profile.kind == "label"

    def texts(one: str, two: str) -> Comparison:
        by_formula = compare_formulas(one, two) if "structure" in profile.tiers else None
        if isinstance(by_formula, Comparison):
            return by_formula
        return compare_texts(one, by_formula or two, profile, semantic=semantic, named=named)

    if max(len(first), len(second)) <= LIMIT:
        rules = PartRules(profile, semantic, ignored, texts)
        found = compare_mixed(first, second, rules) if "structure" in profile.tiers else None
        return found or texts(first, second)
    parts = where_they_differ(first, second)
    if parts is None:
        return undecided(first, second)
    return said_of_parts(texts(*parts))


def _by_structure(
    first: str, second: str, profile: Profile, semantic: Embedder | None, ignored: tuple[str, ...]
) -> Comparison | None:
    """What the form says in which a profile expects answers; ``None`` where that does not decide."""
    if "structure" not in profile.tiers:
        return None
    if profile.kind == "label":
        return compare_label_data(first, second, profile, ignored, semantic=semantic)
    if profile.kind == "sql":
        from pytest_promptfuzz.comparing.formats.sql import compare_sql

        return compare_sql(first, second, dialect=profile.sql_dialect)
    if profile.kind == "code":
        from pytest_promptfuzz.comparing.formats.code import compare_code

        return compare_code(first, second)
    if profile.kind == "json" or data_text.parse(first) is not data_text.MISSING:
        from pytest_promptfuzz.comparing.formats.json_values import compare_json_texts

        return compare_json_texts(first, second, profile, ignored, semantic=semantic)
    return None


def _answers(
    first: Any,
    second: Any,
    profile: Profile,
    semantic: Embedder | None,
    ignored: tuple[str, ...],
    *,
    named: bool,
) -> Comparison:
    """Compare tool calls by name and arguments, then the text beside them."""
    from pytest_promptfuzz.comparing.formats.json_values import compare_json, worst

    one, two = _parts(first), _parts(second)
    if one is None or two is None:
        return compare_json(first, second, profile, semantic=semantic)
    names_a, names_b = ([call.get("name", "") for call in calls] for _, calls in (one, two))
    if names_a != names_b:
        reordered = sorted(names_a) == sorted(names_b)
        change = Observation(
            "tool-calls-became", *(tuple(each) or Observation("none") for each in (names_a, names_b))
        )
        tiers = (Tier("structure", 0.0, change),)
        return Comparison(
            "minor" if reordered else "deviation", 0.8 if reordered else 0.0, "tool-calls", change, tiers
        )
    made, remade = ({"tool_calls": calls} for _, calls in (one, two))
    found = compare_json(made, remade, profile, semantic=semantic, named="a tool call")
    same = found.outcome == "equivalent" and found.reason == "json-value"
    observed = Observation("same-tool-calls") if same else found.observed
    calls = found.but(reason="tool-calls", explanation=observed)
    text = _strings(one[0], two[0], profile, semantic, ignored, named=named)
    if calls.outcome == "equivalent" and text.outcome in {"undecided", "deviation"}:
        # What is said beside a call is talk; what is done is the call.
        observed = Observation("same-tool-calls-but-text", text.observed)
        return Comparison("minor", 0.8, "tool-calls", observed, calls.tiers + text.tiers)
    decisive = calls if worst(calls.outcome, text.outcome) == calls.outcome else text
    return decisive.but(tiers=calls.tiers + text.tiers)


def _parts(value: Any) -> tuple[str, list[dict[str, Any]]] | None:
    if isinstance(value, str):
        return value, []
    if (
        _is_answer(value)
        and isinstance(value["tool_calls"], list)
        and all(isinstance(call, dict) for call in value["tool_calls"])
    ):
        return value["text"], value["tool_calls"]
    return None


def _cut_off(baseline: Any, response: Any, found: Comparison) -> Comparison:
    """An answer that ran into its token limit is never equivalent to one that did not."""
    first = isinstance(baseline, Response) and baseline.finish_reason in _CUT_OFF
    second = isinstance(response, Response) and response.finish_reason in _CUT_OFF
    if first == second:
        return found
    note = Observation("token-limit", "baseline" if first else "response")
    tiers = (*found.tiers, Tier("guard:truncation", None, note))
    if found.outcome == "equivalent":
        return found.but(
            outcome="minor",
            similarity=min(found.similarity or 0.0, 0.99),
            reason="guard:truncation",
            explanation=note,
            tiers=tiers,
        )
    return found.but(explanation=Observation("and-besides", found.observed, note), tiers=tiers)
