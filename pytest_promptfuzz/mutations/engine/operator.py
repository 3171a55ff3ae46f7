"""`Operator` and ``@operator``: a versioned, pure function that proposes edits; how much it does (``:3``, ``:20%``)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_promptfuzz.data.phrases import text_forms
from pytest_promptfuzz.errors import PromptfuzzError, UsageError, not_among, quoted, unstopped
from pytest_promptfuzz.mutations.analysis.draft import heard
from pytest_promptfuzz.mutations.analysis.spared_text import data_spans
from pytest_promptfuzz.mutations.engine.edits import Edit, check_edits
from pytest_promptfuzz.mutations.engine.mutation import (
    DIMENSIONS,
    PRESERVES,
    RELATIONS,
    Dimension,
    Preserves,
    Relation,
)
from pytest_promptfuzz.text.expressions import expression, words

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.randomness import Rng


# How much an operator does: a count of places or a share of them, and how that is written.


def check_intensity(value: object, where: str) -> float:
    """An intensity as it was given.

    Args:
        value: An int from 1 (places to change) or a float above 0 to 1 (the share of them).
        where: What has it, for the message.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise UsageError(f"{where}: the intensity {value} changes nothing; give a count from 1.")
        return value
    if isinstance(value, float):
        if not 0 < value <= 1:
            raise UsageError(
                f"{where}: the intensity {value:g} ({value:.0%}) is no share; give one above 0 up to 1 (100%)."
            )
        return value
    raise UsageError(
        f"{where}: the intensity {value!r} is {type(value).__name__}; give a count (3) or a share (0.2)."
    )


def read_intensity(text: str, where: str) -> float:
    """The intensity that ``text`` writes: ``3`` is a count, ``20%`` a share.

    Raises:
        UsageError: It is neither.
    """
    share = text.endswith("%")
    digits = text[:-1] if share else text
    # isdecimal() and float() take digits of any script; a specification is written in ASCII.
    whole, _, decimals = digits.partition(".")
    if not digits.isascii() or not whole.isdecimal() or (decimals and not decimals.isdecimal()):
        raise UsageError(f"{where}: the intensity {text!r} is neither a count like 3 nor a share like 20%.")
    if share:
        return check_intensity(float(digits) / 100, where)
    if decimals or "." in digits:
        raise UsageError(f"{where}: the intensity {text!r} is no count; write a share in percent, like 20%.")
    return check_intensity(int(digits), where)


def shown(intensity: float) -> str:
    """An intensity as it is written behind a name: ``:3`` or ``:20%``."""
    return f":{intensity}" if isinstance(intensity, int) else f":{intensity * 100:.10g}%"


# Whether a task is about the form of a text that stands in the prompt: its spelling, punctuation, words, wording.
#
# ``How many words does the sentence have?`` has another answer when ``do not`` becomes ``don't`` in that sentence. In
# English, German, French, Spanish, Italian, Dutch and Portuguese. A topic is a thing and an act in one sentence:
# ``count … commas``, not ``separate the labels with commas``.


_LEAST = 3  # free words in a row of data: fewer are a setting (Language: English)
_STAND_IN = frozenset(["slot", "placeholder", "input"])
_UNREAD = _STAND_IN | {"code", "json", "url", "path", "identifier"}
_SPELL = words("spelling spellings spelt spelled")
_QUOTED = 20  # characters: a quotation that long is the text, a shorter one a word or a label
_BEFORE, _AFTER = 200, 120  # characters of a sentence that are read around a thing
_STOP = expression("[.!?¿…\n]")
_WORD = expression(r"[^\W\d_]+")
# What the answer is to look like, a mark that parts its items, or a program that would do the work.
_OTHER = expression(
    r"\b(?:in|of|for|check) your\b|\b(?:your|the) (?:answer|reply|response|output|summary)\b(?! (?:is"
    r"|as|with|should be)\b)"
    r"|\b(?:separat|delimit|join|wrap|surround|enclos|getrennt|trenn|sépar|gescheiden|scheid)\w*|\bin quot"
    r"|\b(?:functions?|programs?|scripts?|python|javascript|java|sql|regex|regular expression"
    r"|algorithm|programming|code"
    r"|funktion|fonction|función|funzione|functie|função)\b"
    r"|\b(?:at most|maximum|minimum|limit|exceed|no more than|fewer than|less than|under|below) \d"
)
_NEGATED = expression(
    r"^(?:please |and |but |also )?(?:do not|don['’]t|never|avoid|use|write|no|keine?|ne|n['’]|no|non"
    r"|geen|não|evit\w+)\b"
    r"|(?:\bnot|n['’]t|\bnever|\bno|\bignor\w+|\byou(?:['’]ll| will| may| might| can)?|\bnicht|\bkeine?|\bpas|\bnon"
    r"|\bniet|\bnão)(?: \w+)? $"
    r"|\b(?:without|ohne|sans|sin|senza|zonder|sem)\b[^,;:]*$"
)


class _Topic(NamedTuple):
    """A way to speak of form: a thing, and the act that its sentence must hold (``None``: the thing says it).

    A text is looked at that holds a word of each of ``needs``.
    """

    thing: re.Pattern[str]
    act: re.Pattern[str] | None
    needs: tuple[frozenset[str], ...]


@cache
def _by_cue() -> dict[str, list[_Topic]]:
    found: dict[str, list[_Topic]] = {}
    for form in text_forms():
        act = expression(form.act) if form.act else None
        topic = _Topic(expression(form.thing), act, tuple(form.needs))
        for cue in form.cues:
            found.setdefault(cue, []).append(topic)
    return found


def form_is_topic(draft: Draft) -> bool:
    """Whether the task is about the form of a text that stands in the prompt; ask with ``draft.once(form_is_topic)``.

    Where a slot, filled-in input or a quotation is the text, mutations do not reach it, and this is false: unless
    other data stands beside it, such as an example.
    """
    text = draft.text
    said = draft.once(heard) if text.isascii() else frozenset(_WORD.findall(text.lower()))
    topics = _topics(said)
    return bool(topics) and _speaks_of_form(draft, topics) and _stands_here(draft)


_SPELLINGS = expression(
    r"\b(?:correct|right|wrong|proper)(?:ly)? (?:spellings?|spelt|spelled)\b", re.IGNORECASE
)


def spelling_is_asked(draft: Draft) -> bool:
    """Whether one of several spellings is to be chosen: no word may then stand for another."""
    return not _SPELL.isdisjoint(draft.once(heard)) and _SPELLINGS.search(draft.free) is not None


def _topics(said: frozenset[str]) -> list[_Topic]:
    """What a text may speak of, by its words in small letters."""
    by_cue = _by_cue()
    found = {id(topic): topic for cue in by_cue.keys() & said for topic in by_cue[cue]}
    return [topic for topic in found.values() if not any(needed.isdisjoint(said) for needed in topic.needs)]


def _speaks_of_form(draft: Draft, topics: list[_Topic]) -> bool:
    pieces: list[str] = []
    position = 0
    for (start, end), kind in zip(draft.spans, draft.kinds, strict=False):
        if kind in _UNREAD:
            pieces += (draft.text[position:start], "_")
            position = end
    pieces.append(draft.text[position:])
    text = "".join(pieces).lower()
    return any(_set_as_task(text, topic) for topic in topics)


def _set_as_task(text: str, topic: _Topic) -> bool:
    for match in topic.thing.finditer(text):
        before = _STOP.split(text[max(0, match.start() - _BEFORE) : match.start()])[-1].lstrip(
            " \"'“«-*#>\t0123456789)"
        )
        after = _STOP.split(text[match.end() : match.end() + _AFTER], maxsplit=1)[0]
        sentence = before + match[0] + after
        if _OTHER.search(sentence) or _NEGATED.search(before):
            continue
        if topic.act is None or any(
            not _NEGATED.search(sentence[: act.start()]) for act in topic.act.finditer(sentence)
        ):
            return True
    return False


def _stands_here(draft: Draft) -> bool:
    """Whether the text that is worked on can be changed."""
    stands_in = any(
        kind in _STAND_IN or (kind == "quote" and end - start >= _QUOTED)
        for (start, end), kind in zip(draft.spans, draft.kinds, strict=False)
    )
    return not stands_in or any(
        len(_WORD.findall(draft.free[start:end].rpartition(":")[2])) >= _LEAST
        for start, end in draft.once(data_spans)
    )


Propose: TypeAlias = "Callable[[Draft, Rng], Iterable[Sequence[Edit]]]"

_MOST_EMPTY = 100
_FORM = frozenset(["lexical", "padding", "math"])  # dimensions of operators that change how a text looks
_NAME = expression(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Operator:
    """A way to change a prompt.

    Attributes:
        name: In kebab-case, unique.
        propose: Yields alternatives, each the edits of one mutation in ascending order; may be endless, may be
            empty. Pure: it draws from the ``Rng`` it is given and from nowhere else.
        dimension: The kind of change.
        severity: 0 to 1: what it does to a prompt when it touches every word.
        version: Raised whenever the same prompt and seed would give other edits.
        preserves: Whether the meaning is kept.
        relation: What must hold between the baseline and the response.
        languages: ISO 639-1 codes of the prompts it works on; empty for any.
        touches: Kinds of protected text it is built to change: kinds of span, ``list-marker``, or nothing.
        surface: Whether case and white space are its point; the mutations of other operators differ in more.
        sources: Where the operator is described.
        summary: One sentence.
        example: A prompt, and one of its mutations.
        trusted: Whether its edits are safe by construction; otherwise each is checked.
        default: Whether plans may draw on it unasked; ``False`` leaves it to those who name it.
        intensity: How many places it changes: an int from 1 is a count, a float above 0 to 1 a share, ``None`` its
            own share; set by :meth:`at`.
        parts: The operators it is composed of, in order of application; empty for one that stands alone.
        cue: A quick look at a draft: where it is false, the operator finds no place and need not be asked.
        ids: ``name@version``, with an intensity when one is set (``keyboard-typo@1:3``); one for each part.
        id: The same as one text, joined by ``+``.
    """

    name: str
    propose: Propose
    dimension: Dimension
    severity: float
    version: int = 1
    preserves: Preserves = "conditional"
    relation: Relation = "invariance"
    languages: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()
    surface: bool = False
    sources: tuple[str, ...] = ()
    summary: str = ""
    example: tuple[str, str] | None = None
    trusted: bool = False
    default: bool = True
    intensity: float | None = None
    parts: tuple[Operator, ...] = ()
    cue: Callable[[Draft], bool] | None = field(default=None, repr=False)
    ids: tuple[str, ...] = field(init=False, repr=False, compare=False)
    id: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a description that the planner could not use."""
        # A composition without a name of its own is called after its parts.
        if not isinstance(self.name, str) or not (
            _NAME.fullmatch(self.name) or (self.parts and self.name == "+".join(map(str, self.parts)))
        ):
            raise UsageError(f"operator name {self.name!r}: write it in kebab-case, like 'double-space'.")
        where = f"operator {self.name!r}"
        if self.name in DIMENSIONS:
            raise UsageError(f"{where}: that is the name of a dimension; choose another.")
        for what, value, known in (
            ("dimension", self.dimension, DIMENSIONS),
            ("preserves", self.preserves, PRESERVES),
            ("relation", self.relation, RELATIONS),
        ):
            if value not in known:
                raise UsageError(f"{where}: {not_among(f'{what}={value!r}', value, known)}")
        for what, names in (
            ("languages", self.languages),
            ("touches", self.touches),
            ("sources", self.sources),
        ):
            if not all(isinstance(each, str) and len(each) > 1 for each in names):
                raise UsageError(f"{where}: {what}={names!r}; give a list of names such as ['en'].")
        if (
            isinstance(self.severity, bool)
            or not isinstance(self.severity, int | float)
            or not 0 <= self.severity <= 1
        ):
            raise UsageError(f"{where}: severity={self.severity!r}; give a number from 0 to 1.")
        if type(self.version) is not int or self.version < 1:
            raise UsageError(f"{where}: version={self.version!r}; give an int from 1.")
        if not callable(self.propose):
            raise UsageError(
                f"{where}: propose is a {type(self.propose).__name__}; give a function (draft, rng)."
            )
        own = f"{self.name}@{self.version}" + ("" if self.intensity is None else shown(self.intensity))
        ids = tuple(each for part in self.parts for each in part.ids) or (own,)
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "id", "+".join(ids))

    def __str__(self) -> str:
        """How it is written in ``operators=``: ``keyboard-typo``, ``keyboard-typo:3``."""
        return self.name if self.intensity is None else self.name + shown(self.intensity)

    def at(self, intensity: float) -> Operator:
        """The same operator with another intensity.

        Args:
            intensity: How many places it changes: an int from 1 is a count, a float above 0 to 1 a share of those
                there are.

        Raises:
            UsageError: It is neither, or the operator changes a prompt as a whole and has no intensity.
        """
        if self.parts:
            raise UsageError(
                f"operator {self.name!r}: a composition has no intensity of its own; give its parts one, like"
                f" {'+'.join(part.name + ':2' for part in self.parts)!r}."
            )
        made = replace(self, intensity=check_intensity(intensity, f"operator {self.name!r}"))
        if self.example is not None:
            _try_example(made, self.example[0])
        return made

    @property
    def by_default(self) -> bool:
        """Whether a plan draws on it unasked: what it makes must leave the answer as it is."""
        return self.default and self.preserves != "no" and self.relation == "invariance"

    def suits(self, draft: Draft) -> bool:
        """Whether it may act on a draft: the language is one of its own, its cue is there, and the task allows it.

        A task about the form of a text that stands in the prompt allows no lexical operator, no padding, and no
        other way to write its numbers; one that chooses among spellings no semantic one either.
        """
        return (
            (not self.languages or draft.language in self.languages)
            and (self.cue is None or self.cue(draft))
            and not self.refused(draft)
        )

    def refused(self, draft: Draft) -> str:
        """Why the task of a draft allows no operator of its dimension; empty where it does."""
        if self.dimension in _FORM and draft.once(form_is_topic):
            return "the task is about the form of a text in the prompt"
        if self.dimension == "semantic" and draft.once(spelling_is_asked):
            return "the task is to choose a spelling"
        return ""

    def proposals(self, draft: Draft, rng: Rng) -> Iterator[tuple[Edit, ...]]:
        """The alternatives for one prompt, checked unless safe by construction; empty ones are left out.

        A hundred empty ones in a row are the end: an endless operator may find no place at all in a prompt.

        Raises:
            UsageError: An untrusted operator damages protected text or yields something else than edits, or one
                with an intensity pays no heed to it.
        """
        return self.fitting(draft, rng) if self.suits(draft) else iter(())

    def fitting(self, draft: Draft, rng: Rng) -> Iterator[tuple[Edit, ...]]:
        """The same for a draft that it suits already."""
        empty = 0
        for edits in self.propose(draft, rng) if self.trusted else self._checked(draft, rng):
            if edits:
                empty = 0
                if rng.unheeded and self.intensity is not None and self.example is None:
                    raise _no_intensity(self.name)  # otherwise its example has told
                yield tuple(edits)
                continue
            empty += 1
            if empty == _MOST_EMPTY:
                return

    def _checked(self, draft: Draft, rng: Rng) -> Iterator[Sequence[Edit]]:
        """Its proposals, checked; what it raises is said to be its own error."""
        try:
            yield from self._verified(draft, rng)
        except (PromptfuzzError, Warning):
            raise
        except Exception as error:
            raise UsageError(
                f"Operator {self.name!r}{_defined(self.propose)} raised {type(error).__name__} on the prompt"
                f" {quoted(draft.text)}: {unstopped(error)}."
            ) from error

    def _verified(self, draft: Draft, rng: Rng) -> Iterator[Sequence[Edit]]:
        where = f"Operator {self.name!r}"
        proposals = self.propose(draft, rng)
        if not isinstance(proposals, Iterable):
            raise UsageError(f"{where} returned {type(proposals).__name__}; yield lists of edits.")
        spans = draft.protected(self.touches)
        for edits in proposals:
            if not isinstance(edits, list | tuple) or not all(isinstance(each, Edit) for each in edits):
                raise UsageError(
                    f"{where} yielded {edits!r:.80}; yield a list of Edit, one list for each mutation."
                )
            check_edits(edits, len(draft.text), spans, source=where, text=draft.text)
            yield edits


def _defined(function: object) -> str:
    """Where a function of the user's is defined: `` (operators.py:12)``; empty where that cannot be told."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"


def _try_example(operator: Operator, text: str) -> None:
    """Have it propose for its own example, so that one without intensity is refused where it is named."""
    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.prompts.spans import protected_spans
    from pytest_promptfuzz.randomness import Rng

    spans = protected_spans(text)
    kinds = [kind for _, _, kind in spans]
    draft = Draft(text, [(start, end) for start, end, _ in spans], kinds=kinds)
    rng = Rng(b"", operator.name, intensity=operator.intensity)
    if next(operator.proposals(draft, rng), None) and rng.unheeded:
        raise _no_intensity(operator.name)


def _no_intensity(name: str) -> UsageError:
    return UsageError(
        f"operator {name!r} has no intensity: it changes a prompt as a whole or not at all. Write {name!r}."
    )


def operator(  # noqa: PLR0913 - public; the options are keywords
    name: str,
    *,
    dimension: Dimension,
    severity: float,
    version: int = 1,
    preserves: Preserves = "conditional",
    relation: Relation = "invariance",
    languages: Sequence[str] = (),
    touches: Sequence[str] = (),
    surface: bool = False,
    sources: Sequence[str] = (),
    summary: str = "",
    example: tuple[str, str] | None = None,
    trusted: bool = False,
    default: bool = True,
    cue: Callable[[Draft], bool] | None = None,
) -> Callable[[Propose], Operator]:
    """Make an operator of a function ``(draft, rng)`` that yields lists of edits; see :class:`Operator`.

    The summary is the function's docstring, unless it is given.

    Raises:
        UsageError: The description is not usable.
    """

    def make(propose: Propose) -> Operator:
        return Operator(
            name,
            propose,
            dimension,
            severity,
            version=version,
            preserves=preserves,
            relation=relation,
            languages=tuple(languages),
            touches=tuple(touches),
            surface=surface,
            sources=tuple(sources),
            summary=summary or (propose.__doc__ or "").strip().partition("\n")[0],
            example=example,
            trusted=trusted,
            default=default,
            cue=cue,
        )

    return make
