"""Answers in different formats compared by what they say, and held to the format asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing import labels
from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier
from pytest_promptfuzz.comparing.formats.alignment import Alignment, as_list, canonical_key, leaves, number_of
from pytest_promptfuzz.comparing.formats.answer_formats import (
    NAMES,
    STRICT,
    FormattedAnswer,
    NotConforming,
    read,
    unread_yaml,
)
from pytest_promptfuzz.comparing.formats.data_text import YAML_EXTRA, YamlMissingError
from pytest_promptfuzz.comparing.formats.json_values import compare_json, worst
from pytest_promptfuzz.comparing.reading.asides import declines
from pytest_promptfuzz.comparing.reading.text import analyse, strip_fence, undecided
from pytest_promptfuzz.comparing.reading.word_lists import NEGATORS
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.json_paths import at, json_diff, without

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.comparing.comparison import Outcome
    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.comparing.profiles import Profile


_TOKEN = expression(r"\d+(?:,\d{3})*(?:\.\d+)?|[^\W\d_]+(?:['’]t\b)?")
_NUMERIC = expression(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.])-?\d+(?:\.\d+)?")
_SAID = {"true": True, "yes": True, "false": False, "no": False}
_BEGINS_VALUE = expression(r"\s*(?:[{<]|\[\s*[\[{\"\d\-tfn\]])")  # JSON or XML, no link as in Markdown
_LONGEST = 50_000  # characters of an answer whose lines are read one by one, as those of JSON and XML are not


@dataclass(frozen=True, slots=True)
class How:
    """How the contents are compared once the formats are read.

    Attributes:
        profile: For free text within values.
        semantic: For free text within values.
        texts: Compares two whole answers as texts.
        ignored: JSON paths left out.
    """

    profile: Profile
    semantic: Embedder | None
    texts: Callable[[str, str], Comparison]
    ignored: tuple[str, ...] = ()


def compare_formats(first: str, second: str, how: How, *, requested: str | None) -> Comparison:
    """Compare a baseline with an answer that was asked for in another format.

    Equal content is equivalent, whatever the format; a changed value is a deviation that names its path. An answer
    that is not in the format asked for is a deviation, one with talk around it minor at best. Where one of more than
    50,000 characters is neither JSON nor XML, nothing is decided.

    Args:
        first: The baseline, in whatever format it has.
        second: The response.
        how: How texts and values are compared.
        requested: The format the response must have, one of ``formats.FORMATS``; ``None`` where it is not known.
    """
    in_lines = [each for each in (first, second) if not _BEGINS_VALUE.match(strip_fence(each))]
    if first != second and max(map(len, in_lines), default=0) > _LONGEST:
        return undecided(first, second)
    try:
        two = read(second, requested)
    except YamlMissingError:
        return _without_yaml(first, second, how)
    except NotConforming as error:
        if declines(analyse(second)):
            return how.texts(first, second)
        observed = Observation("format-not-kept", str(error))
        tiers = (Tier("format", 0.0, observed),)
        return Comparison("deviation", 0.0, "format:not-conforming", observed, tiers)
    if unread_yaml(first) or unread_yaml(second):
        return _without_yaml(first, second, how)
    found = _contents(read(first), two, how)
    if two.wrapped and found.outcome == "equivalent":
        note = Observation("format-within-text", NAMES[two.format])
        return found.but(outcome="minor", similarity=0.99, reason="format:wrapped", explanation=note)
    return found


def _without_yaml(first: str, second: str, how: How) -> Comparison:
    """Of YAML that nothing installed reads, only equal texts and refusals tell anything."""
    found = how.texts(first, second)
    if found.reason == "exact" or any(declines(analyse(each)) for each in (first, second)):
        return found
    return _verdict("undecided", "format:yaml", Observation("yaml-not-read", YAML_EXTRA))


def _contents(one: FormattedAnswer, two: FormattedAnswer, how: How) -> Comparison:
    if declines(analyse(two.prose)) or declines(analyse(one.prose)):
        return how.texts(one.prose, two.prose)
    strict = one.format in STRICT or two.format in STRICT
    if not strict:
        found = how.texts(one.prose, two.prose)
        if found.outcome == "equivalent" or not (one.structured and two.structured):
            return found
        aligned = _aligned(one, two, how)
        return aligned if aligned.outcome == "equivalent" else found
    one_said, two_said = _said(one, two), _said(two, one)
    if isinstance(one_said, str) and isinstance(two_said, str):
        return how.texts(one_said, two_said)
    if isinstance(one_said, str) or isinstance(two_said, str):
        return _beside(one_said, two_said, how)
    return _aligned(one, two, how)


def _said(answer: FormattedAnswer, other: FormattedAnswer) -> Any:
    """What an answer holds: its value, or its words where these are running text rather than fields."""
    value = answer.value
    if answer.format in STRICT:
        return value
    if isinstance(value, str) or (answer.format == "text" and not _keyed(value) and not _items(value)):
        return answer.prose
    if isinstance(value, dict) and len(value) == 1 and isinstance(other.value, dict):
        ((key, inner),) = value.items()
        if isinstance(inner, str) and canonical_key(key) not in map(canonical_key, other.value):
            return answer.prose  # "Note: it is late" is a sentence
    return value


def _keyed(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(each, dict) for each in value)
    )


def _items(lines: list[Any]) -> bool:
    """Whether lines are items rather than sentences of a text."""
    return all(isinstance(each, str) and not each.rstrip().endswith((".", "!", "?")) for each in lines)


def _aligned(one: FormattedAnswer, two: FormattedAnswer, how: How) -> Comparison:
    rooted = (one.format not in {"json", "yaml"}, two.format not in {"json", "yaml"})
    values = without(one.value, how.ignored), without(two.value, how.ignored)
    both = Alignment(*values, rooted=rooted)
    found = compare_json(both.first, both.second, how.profile, semantic=how.semantic)
    observed = _of_content(found)
    if one.format != two.format:
        observed = Observation("in-formats", observed, NAMES[one.format], NAMES[two.format])
    outcome, similarity = found.outcome, found.similarity
    if both.notes and outcome == "equivalent":
        outcome, similarity = "minor", 0.99
        observed = Observation("same-content-but", both.notes[0])
    elif outcome == "deviation" and two.format not in STRICT:
        lost = [path for path in json_diff(both.first, both.second) if not at(both.second, path)[0]]
        if lost == json_diff(both.first, both.second):
            # A title stands over a page without its name: what is missing by name may still be said.
            told = _stated(two.prose, list(leaves(both.first)))
            if told.outcome in {"equivalent", "minor"}:
                return _verdict("minor", "format:value", Observation("said-without-name", lost[0]))
    reason = "format:value" if found.reason == "json-value" else f"format:{found.reason}"
    return found.but(outcome=outcome, similarity=similarity, reason=reason, explanation=observed)


def _of_content(found: Comparison) -> Observation:
    """What ``compare_json`` observed, said of the content of two formats."""
    assert isinstance(found.observed, Observation)
    return Observation(_CONTENT[found.code], *found.observed.values[1:])


_CONTENT = {
    "same-value": "same-content",
    "same-value-within-tolerance": "same-content-within-tolerance",
    "value-differs": "content-differs-at",
}


def _beside(first: Any, second: Any, how: How) -> Comparison:
    """A text against values: what the one says in words, the other says in fields."""
    text_first = isinstance(first, str)
    prose, value = (first, second) if text_first else (second, first)
    found = list(leaves(value))
    if not found:
        return _verdict("deviation", "format:value", Observation("one-holds-nothing", prose))
    if len(found) == 1:
        return _sole(prose, found[0][2], how, text_first=text_first)
    names = {keys for _, keys, _ in found}
    if len(names) == 1 and all(isinstance(item, str) for _, _, item in found):
        items = [item for _, _, item in found]
        listed = as_list(prose, items)
        if isinstance(listed, list) and len(listed) == len(items) > 1:
            return compare_json(
                *((listed, items) if text_first else (items, listed)), how.profile, semantic=how.semantic
            )
        joined = "\n".join(items)
        pair = (prose, joined) if text_first else (joined, prose)
        return how.texts(*pair)
    if text_first:
        texts = [(path, item) for path, _, item in found if isinstance(item, str) and item.strip()]
        return _one_of(prose, texts, how)
    return _stated(prose, found)


def _sole(prose: str, item: Any, how: How, *, text_first: bool) -> Comparison:
    """A text against a single value."""
    if isinstance(item, bool) or item is None:
        said = _SAID.get(prose.strip().strip(".!*").casefold())
        if said is None or item is None:
            return _verdict("undecided", "format:value", Observation("may-say", prose, item))
        if said == item:
            return _verdict("equivalent", "format:value", Observation("same-content"))
        return _verdict("deviation", "format:value", Observation("content-differs", item, prose))
    text = item if isinstance(item, str) else str(item)
    pair = (prose, text) if text_first else (text, prose)
    return how.texts(*pair)


def _one_of(prose: str, texts: list[tuple[str, str]], how: How) -> Comparison:
    """A baseline in words against fields, one of which should say it."""
    if labels.is_label(analyse(prose)):
        named = [item for _, item in texts if labels.is_label(analyse(item))]
        if len(named) == 1 and how.texts(prose, named[0]).outcome == "deviation":
            return how.texts(prose, named[0])
    best: Comparison | None = None
    for path, item in texts:
        found = how.texts(prose, item)
        if found.outcome == "equivalent":
            more = Observation("other-fields-beside", path)
            return found.but(outcome="minor", similarity=0.9, reason="format:more", explanation=more)
        if best is None or worst(best.outcome, found.outcome) == best.outcome:
            best = found
    if best is None or (best.outcome == "deviation" and not labels.is_label(analyse(prose))):
        return _verdict("undecided", "format:value", Observation("no-field-says", prose))
    return best


def _stated(prose: str, found: list[tuple[str, tuple[str, ...], Any]]) -> Comparison:
    """Fields of a baseline against a text: each value must be said, and said of its own field."""
    tokens = [token.casefold() for token in _TOKEN.findall(prose)]
    numbers = [float(each.replace(",", "")) for each in _NUMERIC.findall(prose)]
    known = {value for _, _, item in found if (value := _number(item)) is not None}
    strange = [each for each in numbers if each not in known]
    untold: list[str] = []
    places: list[tuple[str, tuple[str, ...], int]] = []
    for path, keys, item in found:
        if item is None or isinstance(item, bool):
            untold.append(path)
            continue
        at = _place(str(item), tokens)
        if at is None:
            if _number(item) is not None and strange:
                other = Observation("other-number-said", path, item, strange[0])
                return _verdict("deviation", "format:value", other)
            untold.append(path)
            continue
        places.append((path, keys, at))
    swapped = _swapped(places, tokens)
    if swapped:
        return _verdict("deviation", "format:value", Observation("said-of-other-field", *swapped))
    said = {token.casefold() for _, _, item in found for token in _TOKEN.findall(str(item))}
    negated = [
        token for token in tokens if token not in said and (token in NEGATORS or token[-2:] in {"'t", "’t"})
    ]
    if negated:
        return _verdict("undecided", "format:value", Observation("says-all-but-denies", negated[0]))
    if untold:
        return _verdict("undecided", "format:value", Observation("may-say-fields", tuple(untold[:4])))
    if strange:
        return _verdict("minor", "format:value", Observation("says-all-and-number", strange[0]))
    return _verdict("equivalent", "format:value", Observation("says-all"))


def _number(item: Any) -> float | None:
    if isinstance(item, bool) or item is None:
        return None
    return number_of(item) if isinstance(item, str) else float(item)


def _place(text: str, tokens: list[str]) -> int | None:
    """Where the words of a value stand in a text."""
    wanted = [token.casefold() for token in _TOKEN.findall(text)]
    value = number_of(text)
    if value is not None:
        return next((at for at, token in enumerate(tokens) if number_of(token) == abs(value)), None)
    if not wanted:
        return None
    size = len(wanted)
    return next((at for at in range(len(tokens) - size + 1) if tokens[at : at + size] == wanted), None)


def _swapped(places: list[tuple[str, tuple[str, ...], int]], tokens: list[str]) -> tuple[str, str] | None:
    """A value that stands nearer to another field's name than to its own, and that name."""
    at: dict[str, int] = {}
    for _, keys, _ in places:
        name = canonical_key(keys[-1]) if keys else ""
        place = _place(name, tokens) if name else None
        if place is not None:
            at[name] = place
    if len(at) < 2:
        return None
    for path, keys, place in places:
        name = canonical_key(keys[-1]) if keys else ""
        if name not in at:
            continue
        nearest = min(at, key=lambda each: (abs(at[each] - place), each != name))
        others = [
            other
            for _, other_keys, other in places
            if canonical_key(other_keys[-1] if other_keys else "") == nearest
        ]
        if nearest != name and all(abs(at[name] - other) < abs(at[nearest] - other) for other in others):
            return path, nearest
    return None


def _verdict(outcome: Outcome, reason: str, observed: Observation) -> Comparison:
    similarity = {"equivalent": 1.0, "minor": 0.9, "deviation": 0.0, "undecided": None}[outcome]
    return Comparison(outcome, similarity, reason, observed, (Tier("format", similarity, observed),))
