"""How well a judge was measured to agree with people: the file of measurements, and the judges that it refuses."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.files import encoded, read_text
from pytest_promptfuzz.judging.model_judge import VERSION, ModelJudge
from pytest_promptfuzz.stats.misclassification import Confusion
from pytest_promptfuzz.storage.recordings.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.judging.ratings import Judge

FILE = "promptfuzz-judges.json"
"""Where measurements are kept, unless another file is named: it belongs into git, beside the tests."""
KIND = "judge-agreement"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class JudgeMeasurement:
    """How well a judge agrees with people, on the items of one sheet.

    Attributes:
        items: That it and people rated.
        raters: How many people.
        alpha: Krippendorff's alpha (ordinal) between the judge and the median of the people; ``None`` where it cannot
            be told, since all ratings are alike.
        low: Of its 95 % interval; ``None`` where that cannot be told.
        high: Likewise.
        confusion: For people's ratings 1, 2 and 3, how often the judge said 1, 2 and 3.
        questions: The version of the questions that a model was asked; 0 of a judge that asks none.
    """

    items: int
    raters: int
    alpha: float | None
    low: float | None
    high: float | None
    confusion: tuple[tuple[int, ...], ...]
    questions: int = 0

    @property
    def errors(self) -> Confusion:
        """What it confuses."""
        return Confusion(self.confusion)


def questions_of(judge: Judge) -> int:
    """The version of the questions that a judge asks a model; 0 where it asks none of ours."""
    return VERSION if isinstance(judge, ModelJudge) else 0


def measured_judge(
    judge: Judge, given: str | os.PathLike[str] | None, least: float | None, where: str
) -> JudgeMeasurement | None:
    """What a judge was measured at; ``None`` where it was not, and need not be.

    Args:
        judge: Who is to decide.
        given: The file of measurements; ``None`` looks for ``FILE`` here and above.
        least: The agreement that it must reach; ``None`` for any.
        where: What names the judge, for messages.

    Raises:
        UsageError: The file cannot be read, the judge agrees less than it must, or was never measured.
    """
    path = _place(given, where)
    found = {} if path is None else read_measurements(path)
    own = found.get(judge.name)
    if own is not None and own.questions != questions_of(judge):
        own = None
    if least is None:
        return own
    if own is None:
        raise _unmeasured(judge, path, found, least, where)
    if own.alpha is None or own.alpha < least:
        raise _too_little(judge.name, own, least, where)
    return own


def _unmeasured(
    judge: Judge, path: Path | None, found: Mapping[str, object], least: float, where: str
) -> UsageError:
    why = "has not been measured"
    if judge.name in found:
        why = "was measured with other questions than it is asked now"
    place = f"no {FILE} here or above" if path is None else f"{path} is of {', '.join(map(repr, found))}"
    return UsageError(
        f"{where}: the judge {judge.name!r} {why} ({place}), and judge_min_agreement={least:g} asks for it. Measure "
        f"it: promptfuzz judge sample, then promptfuzz judge agree RATINGS --judge {judge.name} --save."
    )


def _too_little(judge: str, own: JudgeMeasurement, least: float, where: str) -> UsageError:
    if own.alpha is None:
        return UsageError(
            f"{where}: the agreement of the judge {judge!r} with people cannot be told, since all ratings of "
            f"{own.items} items are alike, and judge_min_agreement={least:g} asks for it. Rate a sheet with more items."
        )
    span = "" if own.low is None or own.high is None else f" [{own.low:.2f}, {own.high:.2f}]"
    return UsageError(
        f"{where}: the judge {judge!r} agrees too little with people: alpha {own.alpha:.2f}{span} on {own.items} "
        f"items, less than judge_min_agreement={least:g}. Name another judge, or a lower judge_min_agreement."
    )


def _place(given: str | os.PathLike[str] | None, where: str) -> Path | None:
    if given is not None:
        path = Path(given)
        if not path.is_file():
            raise UsageError(
                f"{where}: judge_agreement={os.fspath(given)!r}: there is no such file. `promptfuzz judge agree "
                "--save` writes one."
            )
        return path
    here = Path.cwd()
    return next((each / FILE for each in (here, *here.parents) if (each / FILE).is_file()), None)


def read_measurements(path: Path) -> Mapping[str, JudgeMeasurement]:
    """What a file of measurements holds, by judge.

    Raises:
        UsageError: It cannot be read, or is no such file.
    """
    try:
        return _read(path, path.stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error}).") from None


@lru_cache(maxsize=8)
def _read(path: Path, _: int) -> Mapping[str, JudgeMeasurement]:
    """The same, kept until the file changes: every test asks."""
    try:
        return _measurements(json.loads(read_text(path)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{path} holds no measurements of judges ({type(error).__name__}: {error}). Make it anew with `promptfuzz "
            "judge agree --save`."
        ) from None


def _measurements(content: Mapping[str, Any]) -> dict[str, JudgeMeasurement]:
    if content["promptfuzz"] != KIND or content["format"] != FORMAT:
        raise ValueError("its kind or format is another")
    return {str(name): _measurement(each) for name, each in content["judges"].items()}


def _measurement(found: Mapping[str, Any]) -> JudgeMeasurement:
    confusion = tuple(tuple(int(each) for each in row) for row in found["confusion"])
    if [len(row) for row in confusion] != [3, 3, 3] or min(map(min, confusion)) < 0:
        raise ValueError("confusion is no table of 3 x 3 counts")
    alpha, low, high = (
        None if found[name] is None else float(found[name]) for name in ("alpha", "low", "high")
    )
    items, raters, questions = (int(found[name]) for name in ("items", "raters", "questions"))
    return JudgeMeasurement(items, raters, alpha, low, high, confusion, questions)


def save_measurement(path: Path, judge: str, found: JudgeMeasurement) -> None:
    """Write a judge's measurement into a file, beside those of others.

    Raises:
        UsageError: What stands there is no file of measurements.
        StoreError: It cannot be written.
    """
    judges = dict(read_measurements(path)) if path.exists() else {}
    judges[judge] = found
    content = {
        "promptfuzz": KIND,
        "format": FORMAT,
        "judges": {name: asdict(each) for name, each in sorted(judges.items())},
    }
    write_whole(path, encoded(content, indent=2) + b"\n", attributes=False)
