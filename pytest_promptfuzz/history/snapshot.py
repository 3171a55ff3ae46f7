"""A snapshot: what a test's behaviour was when it was accepted, as JSON both ways.

Nothing in it changes from run to run without meaning, so that the same behaviour is the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.history.lines import folded, unfolded
from pytest_promptfuzz.history.outcomes import Letters, are_letters
from pytest_promptfuzz.scoring.replayed import Known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

KIND = "snapshot"
FORMAT = 1
VERDICTS = frozenset({"pass", "brittle"})
"""What can be accepted: of other verdicts nobody knows what the behaviour is."""


@dataclass(frozen=True, slots=True)
class Sample:
    """An answer to the unmutated prompt, as plain data; how often it came, and whether the test's own check failed."""

    answer: Any
    times: int = 1
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """An input, or the only one.

    Attributes:
        name: Of the input; its number where it has none.
        prompt: The prompt's digest.
        sent: The digest of all texts that its requests held; empty where none were seen.
        answers: To the unmutated prompt, each once, in the order in which they came; empty where nothing is compared.
        text: The prompt, where it is not that of the first input.
    """

    name: str
    prompt: str
    sent: str = ""
    answers: tuple[Sample, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was accepted of a test.

    Attributes:
        test: Its name in its module.
        verdict: ``pass`` or ``brittle``.
        score: Eq. 1, in [0, 1]; ``None`` of a search.
        interval: Of the score, its ends; ``None`` where there is none.
        threshold: What the score was held against.
        target: By name.
        model: As answered.
        prompt: Its text; that of the first input where they differ.
        inputs: In order.
        compared: How answers are compared: names and versions, by what they are of.
        operators: By operator (``name@version``) how many trials came to which outcome.
        trials: What each trial came to, by input and ID: see ``history.outcomes``.
        counterexamples: Those that are pinned.
    """

    test: str
    verdict: str
    score: float | None
    interval: tuple[float, float] | None
    threshold: float
    target: str
    model: str
    prompt: str
    inputs: tuple[Asked, ...]
    compared: Mapping[str, Any] = field(default_factory=dict)
    operators: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    trials: Letters = field(default_factory=dict)
    counterexamples: tuple[Known, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The same as JSON-able data, as files hold it; :meth:`from_json` is its inverse."""
        return {
            "promptfuzz": KIND,
            "format": FORMAT,
            "test": self.test,
            "verdict": self.verdict,
            "score": self.score,
            "interval": None if self.interval is None else list(self.interval),
            "threshold": self.threshold,
            "target": self.target,
            "model": self.model,
            "prompt": folded(self.prompt),
            "inputs": [_input_to_json(each) for each in self.inputs],
            "compared": folded(dict(sorted(self.compared.items()))),
            "operators": {name: dict(counts) for name, counts in sorted(self.operators.items())},
            "trials": {case: dict(trials) for case, trials in self.trials.items()},
            "counterexamples": [
                {"id": each.id, **folded(_without(self.prompt, each.to_json()))}
                for each in sorted(self.counterexamples, key=lambda each: each.id)
            ],
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """What :meth:`to_json` wrote.

        Raises:
            UsageError: A field is missing or of the wrong kind.
        """
        try:
            interval = data["interval"]
            return cls(
                _text(data, "test"),
                _verdict(data["verdict"]),
                _number(data["score"]),
                None if interval is None else (float(interval[0]), float(interval[1])),
                float(data["threshold"]),
                _text(data, "target"),
                _text(data, "model"),
                _text(data, "prompt"),
                tuple(_input_of(each) for each in data["inputs"]),
                unfolded(dict(data["compared"])),
                {name: dict(counts) for name, counts in data["operators"].items()},
                _letters(data["trials"]),
                tuple(_known(each, _text(data, "prompt")) for each in data["counterexamples"]),
            )
        except KeyError as error:
            raise UsageError(f"it has no {error.args[0]!r}") from None
        except (TypeError, ValueError, AttributeError, IndexError) as error:
            raise UsageError(str(error).rstrip(".")) from None

    @property
    def digest(self) -> tuple[str, ...]:
        """What a test is known by whose name changed: name and prompt of each input."""
        return tuple(f"{each.name}={each.prompt}" for each in self.inputs)


def _input_to_json(each: Asked) -> dict[str, Any]:
    text = {} if each.text is None else {"text": folded(each.text)}
    return {
        "name": each.name,
        "prompt": each.prompt,
        "sent": each.sent,
        **text,
        "answers": [
            {
                "times": one.times,
                **({"failed": True} if one.failed else {}),
                "answer": folded(one.answer),
            }
            for one in each.answers
        ],
    }


def _input_of(data: Any) -> Asked:
    answers = []
    for each in data["answers"]:
        times = each["times"]
        if isinstance(times, bool) or not isinstance(times, int) or times < 1:
            raise ValueError(f"an answer came a whole number of times, not {times!r:.40}")
        answers.append(Sample(unfolded(each["answer"]), times, bool(each.get("failed", False))))
    text = _text(data, "text") if "text" in data else None
    return Asked(_text(data, "name"), _text(data, "prompt"), _text(data, "sent"), tuple(answers), text)


def _without(prompt: str, known: dict[str, Any]) -> dict[str, Any]:
    """A counterexample without the prompt that it changes, where that is the snapshot's."""
    mutation = known["mutation"]
    if mutation["original"] != prompt:
        return known
    return {**known, "mutation": {key: each for key, each in mutation.items() if key != "original"}}


def _known(data: Any, prompt: str) -> Known:
    found = unfolded({key: value for key, value in data.items() if key != "id"})
    mutation = found.get("mutation")
    if isinstance(mutation, dict):
        found["mutation"] = {"original": prompt, **mutation}
    return Known.from_json(found)


def _verdict(value: Any) -> str:
    if value not in VERDICTS:
        raise ValueError(f"the verdict is 'pass' or 'brittle', not {value!r:.40}")
    return str(value)


def _letters(value: Any) -> Letters:
    if not are_letters(value):
        raise ValueError("trials are outcomes by input and ID, a letter of E, M, D or ? for each sample")
    return value  # type: ignore[no-any-return]  # it has their shape


def _text(data: Any, key: str) -> str:
    value = unfolded(data[key])
    if not isinstance(value, str):
        raise ValueError(f"{key!r} is a text, not {value!r:.60}")  # noqa: TRY004 - one kind for all that is damaged
    return value


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
