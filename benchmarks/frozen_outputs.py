"""What the package puts out, frozen: `python benchmarks/frozen_outputs.py write|check [--only PART …] [--texts]`.

    write            hash the outputs of this checkout into `benchmarks/frozen/PART.txt`, a line each: hash and key
    check            make them again, and name every key whose text differs, is gone or is new; ends with 1 then
    --texts          with `write`: keep the texts too (all but those of plans), so that `check` shows what differs
    --show KEY …     print the texts of these keys, or of all keys that begin like them, of this checkout

For work that must change nothing: `write` before the first step, `check` after each. Parts:

    plans       every operator over every prompt of `tests/mutations/data`, three seeds; a key for each prompt and operator
    compare     every pair of `tests/comparing/data`, `answers/development.jsonl` and `../shared/data/pairs`: outcome,
                similarity, reason; the explanation under a key of its own
    verdicts    `evaluate` on functions with scripted answers: gates, thresholds, stops, noise, inputs; codes and figures
                under one key, sentences under another
    projects    `example_project` and `frozen_projects`, run by pytest and `promptfuzz`: exit code, terminal, every report
                (the JSON document as codes and as sentences), recordings, snapshots and counterexamples
    requests    the keys of thirty requests of three wire formats, through the SDKs
    api         exported names, signatures, options, ini names, hooks, fixtures, entry points, help of every command

Nothing here names a module of the package: it is entered through `pytest_promptfuzz`, pytest and `promptfuzz`, whose entry
points are read from this checkout's `pyproject.toml`, whatever is installed. Models of meaning are hidden. Times, versions
and places are replaced. Every part and every run has a process of its own, one at a time, in one folder (`WORK`).
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import dataclasses
import difflib
import fcntl
import functools
import gc
import gzip
import hashlib
import importlib
import inspect
import io
import itertools
import json
import os
import pickle
import platform
import re
import shutil
import sys
import time
import traceback
import warnings
import zlib
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Pairs = Iterator[tuple[str, str]]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FROZEN = HERE / "frozen"
PROJECTS = HERE / "frozen_projects"
SHARED = ROOT.parent / "shared" / "data"
WORK = Path("/tmp/promptfuzz-frozen")  # always the same, since lines are broken by the length of paths
HIDDEN = ("onnxruntime", "sentence_transformers", "tokenizers", "torch")
SEEDS = (0, 1, 2)
SHOWN = 40  # keys that differ, of one part


# ---- the checkout, whatever is installed


def settle() -> None:
    """Have this checkout imported, with the entry points of its `pyproject.toml`."""
    sys.path[:] = [each for each in sys.path if Path(each or ".").resolve() != HERE]
    about = _project()
    folder = WORK / "installed" / f"pytest_promptfuzz-{about['version']}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: pytest-promptfuzz\nVersion: {about['version']}\n"
    )
    lines = ["[console_scripts]", *_items(about["scripts"])]
    for group, points in about["entry-points"].items():
        lines += [f"[{group}]", *_items(points)]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    sys.path[:0] = [str(ROOT), str(folder.parent)]
    for name in HIDDEN:
        sys.modules[name] = None  # type: ignore[assignment]
    import anthropic
    import openai
    import pytest

    del anthropic, openai, pytest


def _project() -> dict[str, Any]:
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef]
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _items(points: dict[str, str]) -> list[str]:
    return [f"{name} = {value}" for name, value in points.items()]


def package() -> Any:
    """The package of this checkout."""
    found = importlib.import_module("pytest_promptfuzz")
    assert Path(found.__file__).is_relative_to(ROOT), found.__file__
    return found


def environment(**more: str) -> dict[str, str]:
    """What a run sees of the environment."""
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(WORK / "home"),
        "TMPDIR": str(WORK / "tmp"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "80",
        "LINES": "40",
        "PYTHONPATH": os.pathsep.join(sys.path[:2]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "OPENAI_API_KEY": "none",
        "ANTHROPIC_API_KEY": "none",
        **more,
    }


def forked(run: Callable[[], Any], *, out: Path | None = None) -> Any:
    """What a function returns in a process of its own; with ``out`` its output goes there."""
    sys.stdout.flush()
    answer = WORK / "answer.pickle"
    answer.unlink(missing_ok=True)
    pid = os.fork()
    if not pid:
        code = 1
        try:
            if out is not None:
                _redirect(out)
            found = run()
            sys.stdout.flush()
            sys.stderr.flush()
            answer.write_bytes(pickle.dumps(found))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    os.waitpid(pid, 0)
    if not answer.exists():
        raise SystemExit(f"a run came to nothing: {out.read_text() if out else 'see above'}")
    return pickle.loads(answer.read_bytes())


def _redirect(out: Path) -> None:
    nothing, handle = os.open(os.devnull, os.O_RDONLY), os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(nothing, 0)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8", line_buffering=True)  # noqa: SIM115
    sys.stderr = io.TextIOWrapper(open(2, "wb", closefd=False), encoding="utf-8", line_buffering=True)  # noqa: SIM115
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]


def program(arguments: Sequence[str], folder: Path, **more: str) -> tuple[int, str]:
    """Exit code and output of `pytest …` or `promptfuzz …` in a folder."""

    def run() -> int:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment(**more))
        if arguments[0] != "pytest":
            del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]  # some commands run pytest themselves
            os.environ["PROMPTFUZZ_TARGET"] = "simulated"
        time.tzset()
        sys.argv = list(arguments)
        try:
            return started(arguments)
        finally:
            if "FROZEN_MODULES" in more:
                Path(more["FROZEN_MODULES"]).write_text(
                    json.dumps([each for each in sys.modules if sys.modules[each]])
                )

    out = WORK / "out.txt"
    code = forked(run, out=out)
    return code, out.read_text(encoding="utf-8", errors="backslashreplace")


_REWRITTEN = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"  # since runs are forked


def started(arguments: Sequence[str]) -> int:
    """The exit code of a program in this process."""
    if arguments[0] == "pytest":
        import pytest

        plugins = [
            "-p",
            "promptfuzz",
            "-p",
            "anyio",
            "-p",
            "no:cacheprovider",
            "--color=no",
            "-W",
            _REWRITTEN,
        ]
        return int(pytest.main([*plugins, *arguments[1:]]))
    module, _, name = _project()["scripts"][arguments[0]].partition(":")
    try:
        return int(getattr(importlib.import_module(module), name)())
    except SystemExit as stop:
        return int(stop.code or 0)


# ---- what differs from run to run


_TIME = re.compile(
    r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00| UTC)?|\b20\d{6}T\d{6}(?:\.?\d+)?Z|\b\d\d:\d\d:\d\d\b"
)
_PATTERNS = [
    (re.compile(r"^(=+) (.*) in \d[\d.]*s(?: \(.*?\))? =+$", re.MULTILINE), r"= \2 ="),
    (re.compile(r" *\b\d+\.\d+ ?s\b"), " 0.00s"),
    (re.compile(r'("(?:seconds|created)": ?)\d[\d.e+-]*'), r"\g<1>0"),
    (re.compile(r"\bin \d+(\.\d+)? seconds?\b"), "in 0 seconds"),
    (re.compile(r'data-by="[\d.]+"(>|,"title"| 0)(?= 0\.00s)'), r'data-by=""\1'),
    (re.compile(r"\((\w+, )?[\d.,]+ (?:bytes|[kM]?B)\)"), r"(\1size)"),
    (re.compile(r'\b(time|timestamp|hostname)="[^"]*"'), r'\1=""'),
    (re.compile(r"0x[0-9a-f]{6,}"), "0x0"),
]
_CHECK = re.compile(r'("answered": ?"<time>".*"check": ?)"\w+"')


_PACKED = re.compile(r'(<script type="application/octet-stream"[^>]*>)([^<]*)')
_TOTAL = re.compile(r"^\d+ robust tests?: .*(?:\n +.*)*", re.MULTILINE)


def unpacked(text: str) -> str:
    """The data that an HTML page keeps compressed."""
    return zlib.decompress(base64.b64decode(text)).decode()


def steady(text: str, literals: Mapping[str, str] | None = None) -> str:
    """A text without times, places, versions and names that are drawn."""
    text = _PACKED.sub(lambda each: each[1] + unpacked(each[2]), text)
    text = _TOTAL.sub(lambda each: " ".join(each[0].split()), text)  # broken where its times end
    for old, new in (literals or {}).items():
        text = text.replace(old, new)
    text = _TIME.sub("<time>", text)
    now = datetime.now(timezone.utc)
    for day in (now, now - timedelta(days=1)):
        text = text.replace(f"{day:%Y-%m-%d}", "<today>")
    for pattern, new in _PATTERNS:
        text = pattern.sub(new, text)
    return _CHECK.sub(r'\1"<check>"', text)


def versions() -> dict[str, str]:
    """Places and versions, the longest first."""
    import pluggy
    import pytest

    found = {
        str(ROOT): "<root>",
        sys.prefix: "<environment>",
        sys.base_prefix: "<python>",
        f"pytest-{pytest.__version__}, pluggy-{pluggy.__version__}": "pytest, pluggy",
        f"Python {platform.python_version()}": "Python",
        f'"{platform.python_version()}"': '"<python>"',
        f'"{_project()["version"]}"': '"<version>"',
        f"promptfuzz {_project()['version']}": "promptfuzz <version>",
        f"promptfuzz-{_project()['version']}": "promptfuzz-<version>",
    }
    return dict(sorted(found.items(), key=lambda each: -len(each[0])))


def plain(value: Any) -> Any:
    """Results as JSON-able data, fields by name; mutations by ID, without seconds."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(each) for each in value), key=str)
    if type(value).__name__ in {"Mutation", "Prompt"}:
        return getattr(value, "id", None) or value.text
    if dataclasses.is_dataclass(value):
        names = sorted(each.name for each in dataclasses.fields(value) if not each.name.startswith("_"))
        return {name: plain(getattr(value, name)) for name in names if name not in {"seconds", "original"}}
    return str(value)


def parted(value: Any, path: str = "$") -> tuple[Any, list[str]]:
    """Codes and figures of data, and the sentences that are taken out of it."""
    if isinstance(value, str) and " " in value:
        return "…", [f"{path}: {value}"]
    if isinstance(value, dict):
        found = {name: parted(each, f"{path}.{name}") for name, each in value.items()}
        codes = {name: each for name, (each, _) in found.items()}
        return codes, [each for _, said in found.values() for each in said]
    if isinstance(value, list):
        rows = [parted(each, f"{path}[{n}]") for n, each in enumerate(value)]
        return [each for each, _ in rows], [each for _, said in rows for each in said]
    return value, []


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


# ---- parts


def operator_names() -> list[str]:
    code, told = program(["promptfuzz", "operators", "--json"], WORK)
    assert not code, told
    listed = json.loads(told)
    return [each["name"] for each in (listed["operators"] if isinstance(listed, dict) else listed)]


def plans(wanted: str) -> Pairs:
    """Mutations of every prompt by every operator, and by default."""
    names = operator_names()
    promptfuzz = package()
    by_operator: dict[str, list[str]] = {each: [] for each in ["default", *names]}

    def made(prompt: Any, place: str, name: str, seed: int) -> bool:
        try:
            given = 8 if name == "default" else 1
            found = promptfuzz.mutate(
                prompt, given, seed=seed, operators=None if name == "default" else [name]
            )
        except promptfuzz.UsageError as error:
            found, text = [], f"{error}"
        else:
            rows = [
                [each.id, *each.operators, each.severity, each.preserves, each.relation, each.text]
                for each in found
            ]
            text = json.dumps(rows, ensure_ascii=False)
        by_operator[name].append(f"{place} {name} seed {seed}: {text}")
        return bool(found)

    keeps = not wanted or wanted.startswith("plans:operator")  # texts of all operators are many
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in sorted((ROOT / "tests" / "mutations" / "data").glob("*.jsonl")):
            for number, row in enumerate(rows_of(path), 1):
                place = f"{path.stem}:{number}"
                if not keeps and not f"plans:prompt {place}".startswith(wanted):
                    continue
                prompt = (
                    promptfuzz.Prompt.from_messages(row["messages"])
                    if "messages" in row
                    else promptfuzz.Prompt(row["text"])
                )
                before = {name: len(said) for name, said in by_operator.items()}
                for name in by_operator:
                    # What finds no place with one seed finds none with another.
                    if made(prompt, place, name, SEEDS[0]):
                        for seed in SEEDS[1:]:
                            made(prompt, place, name, seed)
                yield (
                    f"plans:prompt {place} {row.get('id', '')}",
                    "\n".join(each for name, said in by_operator.items() for each in said[before[name] :]),
                )
    if keeps:
        for name, said in by_operator.items():
            yield f"plans:operator {name}", "\n".join(said)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def pairs_of() -> Iterator[tuple[str, str, str, str | None]]:
    """Every pair, with where it stands and its task."""
    for folder in (ROOT / "tests" / "comparing" / "data", SHARED / "pairs"):
        for path in sorted(folder.glob("*.jsonl")):
            for number, row in enumerate(rows_of(path), 1):
                task = row.get("task")
                yield f"{path.stem}:{number}", row["a"], row["b"], None if task == "free" else task
    for row in rows_of(HERE / "answers" / "development.jsonl"):
        for kind, others in row.items():
            if isinstance(others, list):
                for number, other in enumerate(others, 1):
                    text = other if isinstance(other, str) else next(iter(other.values()))
                    yield f"answers:{row['id']} {kind} {number}", row["base"], text, None


def compare(wanted: str) -> Pairs:
    """What each pair comes to."""
    del wanted
    promptfuzz = package()
    for place, a, b, task in pairs_of():
        found = promptfuzz.compare(a, b, task=task, semantic=False, entailment=False)
        yield f"compare:{place}", as_json([found.outcome, found.similarity, found.reason, plain(found.tiers)])
        yield f"compare:{place} explanation", found.explanation


PROMPT = (
    "Read the report of the shop, and tell what is wrong with it. Do not guess. Answer in at most 12 words."
)
ANSWERS = {
    "label": ("open", "closed"),
    "text": ("The report lacks a total for May.", "The total for May is missing from it, and so is June."),
    "number": ("It costs 14 euros a month in all.", "It costs 41 euros a month in all."),
}


def scripted(deviations: int, kind: str, texts: tuple[str, str]) -> Callable[[Any], str]:
    """A function that gives another answer to so many changed prompts, those that come first."""
    numbers: dict[str, int] = {}
    calls = itertools.count()

    def target(prompt: Any) -> str:
        text = str(prompt)
        turn = next(calls)
        if text.startswith(PROMPT) and len(text) == len(PROMPT):
            return texts[turn % 3 == 2] if kind == "noisy" else texts[0]
        number = numbers.setdefault(text, len(numbers))
        if number >= deviations:
            return texts[0]
        if kind == "raises":
            raise KeyError("total")
        if kind == "wavering":
            return texts[turn % 2]
        return texts[1]

    return target


def grid() -> Iterator[tuple[str, Callable[[Any], str], dict[str, Any]]]:
    """Name, target and settings of each evaluation."""
    for deviations, gate, threshold in itertools.product(
        range(9), ("point", "confident"), (0.3, 0.7, 0.85, 1.0)
    ):
        for stop in ("never", "certain"):
            settings = {"gate": gate, "threshold": threshold, "stop": stop, "shrink": 0, "controls": 0}
            yield (
                f"{deviations} {gate} {threshold} {stop}",
                scripted(deviations, "other", ANSWERS["label"]),
                settings,
            )
    for deviations, kind, answer in itertools.product(
        range(9), ("other", "raises", "noisy", "wavering"), ANSWERS
    ):
        settings = {"shrink": 0, "controls": 0, "stop": "never"}
        yield f"{deviations} {kind} {answer}", scripted(deviations, kind, ANSWERS[answer]), settings
    for deviations, stop, mutations in itertools.product(
        (0, 1, 2, 4, 8), ("sprt", "sequential", "certain"), (8, 24)
    ):
        settings = {"stop": stop, "mutations": mutations, "shrink": 0, "controls": 0}
        yield f"{deviations} of {mutations} {stop}", scripted(deviations, "other", ANSWERS["label"]), settings
    for deviations, more in itertools.product(
        (0, 2, 5),
        (
            {},
            {"shrink": 30},
            {"controls": 0},
            {"controls": 2},
            {"samples": 3, "stop": "never"},
            {"baseline_runs": 5},
            {"max_deviations": 1},
            {"expected": "open"},
            {"expected": "closed"},
            {"equivalent_at": 0.99, "minor_at": 0.1},
            {"operators": ["upper-case", "synonym", "format-json", "answer-fixed"]},
            {"mutations": {"lexical": 2, "answer-in-de": 1}},
            {"judge": "simulated"},
            {"task": "summarization"},
            {"seed": 7},
            {"mutations": 1},
            {"mutations": 2, "gate": "confident"},
        ),
    ):
        yield f"{deviations} {more}", scripted(deviations, "other", ANSWERS["label"]), more


def verdicts(wanted: str) -> Pairs:
    """What scripted answers come to."""
    del wanted
    promptfuzz = package()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, target, settings in grid():
            yield from judged(f"verdicts:{name}", promptfuzz, PROMPT, target, settings)
        slots = PROMPT + "\n\nReport: {report}"
        inputs = {"one": "Sales in May.", "two": "Costs in June.", "three": "Rents in July."}
        for deviations in range(9):
            answers = iterated(deviations)
            yield from judged(
                f"verdicts:{deviations} inputs",
                promptfuzz,
                slots,
                answers,
                {"inputs": inputs, "samples": 2, "stop": "never", "shrink": 0},
            )
        for first, second, threshold in itertools.product((0, 2, 4), (0, 2, 3, 5, 8), (0.3, 0.85)):
            settings = {"shrink": 0, "controls": 0, "stop": "never", "threshold": threshold}
            before = promptfuzz.evaluate(PROMPT, scripted(first, "other", ANSWERS["label"]), **settings)
            settings |= {"gate": "no-worse", "before": before}
            target = scripted(second, "other", ANSWERS["label"])
            yield from judged(
                f"verdicts:{first} then {second} {threshold}", promptfuzz, PROMPT, target, settings
            )


def iterated(deviations: int) -> Callable[[Any], str]:
    """Another answer to so many of the calls, evenly spread."""
    calls = itertools.count()
    return lambda _: ANSWERS["label"][next(calls) % 16 < deviations]


def judged(key: str, promptfuzz: Any, prompt: str, target: Any, settings: dict[str, Any]) -> Pairs:
    try:
        found = promptfuzz.evaluate(prompt, target, **settings)
    except promptfuzz.PromptfuzzError as error:
        codes, sentences = type(error).__name__, [str(error)]
    else:
        properties = ("calls", "floor", "p_value", "passed", "variance", "effects", "baseline")
        codes, sentences = parted(
            {**plain(found), **{each: plain(getattr(found, each)) for each in properties}}
        )
    yield key, steady(as_json(codes))
    yield f"{key} sentences", steady("\n".join(sentences))


SIMULATED = "--promptfuzz-target=simulated"
REPORTS = ("json", "html", "md", "sarif", "gitlab")
RECORD, REPLAY = "--promptfuzz-mode=record", "--promptfuzz-mode=replay"
TEXT = "text=A lovely day, but the train was late."
_RUN = ["promptfuzz", "run", "mood.txt", "--set", TEXT]

STEPS: dict[str, dict[str, list[str]]] = {
    "passing": {
        "run": ["pytest", SIMULATED],
        "verbose": ["pytest", SIMULATED, "-v", "-rA"],
        "off": ["pytest", SIMULATED, "--promptfuzz=off"],
        "override": [
            "pytest",
            SIMULATED,
            "-q",
            "--promptfuzz-override",
            "mutations=3",
            "--promptfuzz-seed=5",
        ],
        "explain": ["promptfuzz", "explain", "test_passing.py::test_parcel"],
    },
    "brittle": {
        "run": ["pytest", SIMULATED],
        "again": ["pytest", SIMULATED, "--promptfuzz-pinned=fail", "-q"],
        "fail on": [
            "pytest",
            SIMULATED,
            "-q",
            "--promptfuzz-brittle=pass",
            "--promptfuzz-fail-on=any new deviation",
        ],
        "replay": ["promptfuzz", "replay"],
        "explain": ["promptfuzz", "explain", "test_brittle.py::test_order"],
        "report": ["promptfuzz", "report", "--no-color"],
        "json": ["promptfuzz", "explain", "test_brittle.py::test_summary", "--json"],
        "github": ["pytest", SIMULATED, "-q", "--promptfuzz-report=github"],
    },
    "noisy": {"run": ["pytest"], "xfail": ["pytest", "-q", "--promptfuzz-noisy=xfail"]},
    "inconclusive": {"run": ["pytest"], "skip": ["pytest", "-q", "--promptfuzz-inconclusive=skip"]},
    "search": {"run": ["pytest", SIMULATED], "dry": ["pytest", SIMULATED, "--promptfuzz-dry-run"]},
    "gold": {"run": ["pytest", SIMULATED]},
    "inputs": {"run": ["pytest", SIMULATED], "lookahead": ["pytest", SIMULATED, "--promptfuzz-lookahead=0"]},
    "chat": {"run": ["pytest", SIMULATED]},
    "xfail": {"run": ["pytest", "-rA"], "pass": ["pytest", "-rA", "--promptfuzz-brittle=pass"]},
    "recorded": {
        "dry": ["pytest", SIMULATED, RECORD, "--promptfuzz-dry-run"],
        "record": ["pytest", SIMULATED, RECORD],
        "replay": ["pytest", SIMULATED, REPLAY],
        "auto": ["pytest", SIMULATED],
        "update": ["pytest", SIMULATED, REPLAY, "--promptfuzz-update"],
        "changed": ["pytest", SIMULATED, REPLAY],
        "stats": ["promptfuzz", "cache", "stats", "__promptfuzz__"],
        "verify": ["promptfuzz", "cache", "verify", "__promptfuzz__", "--json"],
    },
    "drift": {
        "update": ["pytest", "--promptfuzz-update"],
        "same": ["pytest"],
        "drifted": ["pytest", "--promptfuzz-model-drift=fail"],
        "failed": ["pytest", "-q", "--promptfuzz-prompt-drift=fail", "--promptfuzz-comparator-drift=fail"],
        "accepted": ["pytest", "-q", "--promptfuzz-update=failed"],
    },
    "controls": {
        "run": ["pytest", SIMULATED],
        "off": ["pytest", SIMULATED, "-q", "--promptfuzz-controls=off"],
    },
    "json_task": {"run": ["pytest", SIMULATED]},
    "own_parts": {"run": ["pytest", SIMULATED, "--promptfuzz-report=lines:lines.txt"]},
    "parametrised": {
        "run": ["pytest", SIMULATED, "-v"],
        "dry": ["pytest", SIMULATED, "--promptfuzz-dry-run"],
    },
    "unchanged": {
        "run": ["pytest", SIMULATED],
        "record": ["pytest", SIMULATED, RECORD],
        "replay": ["pytest", SIMULATED, REPLAY],
    },
    "targets": {
        "run": ["pytest"],
        "one": [*_RUN, "--target", "simulated"],
        "several": [*_RUN, "--target", "simulated,simulated?noise=0.2&seed=3", "-n", "6", "--part", "both"],
        "json": [*_RUN, "--target", "simulated?seed=3", "--json"],
        "mutate": ["promptfuzz", "mutate", "mood.txt", "-n", "6", "--side-by-side"],
        "mutate json": ["promptfuzz", "mutate", "mood.txt", "-n", "lexical=2,synonym=1", "--json"],
        "search": [
            "promptfuzz",
            "search",
            "mood.txt",
            "--target",
            "simulated",
            "--set",
            TEXT,
            "--part",
            "both",
            "--queries",
            "60",
        ],
        "search json": [
            "promptfuzz",
            "search",
            "mood.txt",
            "--target",
            "simulated",
            "--set",
            TEXT,
            "--queries",
            "20",
            "--json",
        ],
        "wrong": ["promptfuzz", "run", "mod.txt", "--target", "simulated"],
        "unknown": ["promptfuzz", "run", "mood.txt", "--target", "simulate", "--operators", "upper-caes"],
    },
    "history": {
        "first": ["pytest", "--promptfuzz-save=base"],
        "second": ["pytest", "--promptfuzz-compare=base", "--promptfuzz-fail-on=score drop > 0.05"],
        "no worse": ["pytest", "-q", "--promptfuzz-gate=no-worse", "--promptfuzz-compare=base"],
        "history": ["promptfuzz", "history"],
        "compare": ["promptfuzz", "compare", "base"],
        "trend": ["promptfuzz", "trend", "test_history.py::test_worse"],
        "gc": ["promptfuzz", "gc", "--keep", "1", "--dry-run"],
    },
    "budget": {
        "calls": ["pytest", SIMULATED, "--promptfuzz-max-calls=20"],
        "runs": ["pytest", SIMULATED, "--promptfuzz-max-runs=100", "-q"],
        "none": ["pytest", SIMULATED, "--promptfuzz-max-calls=0", "-q", "-k", "many"],
        "wrong": ["pytest", "--promptfuzz-threshold=2", "--promptfuzz-mode=rcord"],
        "unknown": ["pytest", "--promptfuzz-operators=upper-caes"],
    },
    "unittests": {"run": ["pytest", SIMULATED]},
    "example_project": {"record": ["pytest", RECORD], "replay": ["pytest", REPLAY, "--promptfuzz-update"]},
}


@functools.cache
def warm() -> None:
    """Load what a run of pytest and one of `promptfuzz` load, whatever it is called: the runs are forked from here."""
    folder = WORK / "warm"
    shutil.copytree(PROJECTS / "own_parts", folder)
    for arguments in (
        ["pytest", "-q", SIMULATED, RECORD, "--promptfuzz-report=html:report.html,md:report.md"],
        ["promptfuzz", "operators"],
    ):
        _, told = program([*arguments], folder, FROZEN_MODULES=str(WORK / "modules.json"))
        names = json.loads((WORK / "modules.json").read_text())
        assert "pytest_promptfuzz" in names, told
        for name in names:
            if name.partition(".")[0] not in {"__main__", "conftest", *HIDDEN} and not name.startswith(
                "test_"
            ):
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
    gc.collect()
    gc.freeze()


def projects(wanted: str) -> Pairs:
    """What runs of pytest and `promptfuzz` print and write."""
    warm()
    for name, steps in STEPS.items():
        if not wanted or wanted.startswith(f"projects:{name}") or f"projects:{name}".startswith(wanted):
            yield from project(f"projects:{name}", name, steps)


def project(key: str, name: str, steps: dict[str, list[str]]) -> Pairs:
    """What the steps of one project print and write."""
    folder = WORK / name
    if name == "example_project":
        shutil.copytree(
            ROOT / name, folder, ignore=shutil.ignore_patterns("__pycache__", ".*", "__promptfuzz__")
        )
    else:
        if (PROJECTS / name).is_dir():
            shutil.copytree(PROJECTS / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            folder.mkdir()
            shutil.copy(PROJECTS / f"{name}.py", folder / f"test_{name}.py")
        (folder / "pytest.ini").write_text("[pytest]\n")
        text = "Classify the mood of the text as good or bad. Answer with one word only.\n\nText: {text}\n"
        (folder / "mood.txt").write_text(text)
    literals = versions()
    for step, arguments in steps.items():
        given = list(arguments)
        if given[0] == "pytest" and not any("dry-run" in each or "report=github" in each for each in given):
            asked = [f"{each}:out/report.{each}" for each in REPORTS]
            asked += [each.partition("=")[2] for each in given if each.startswith("--promptfuzz-report=")]
            given = [each for each in given if not each.startswith("--promptfuzz-report=")]
            given += [f"--promptfuzz-report={','.join(asked)}", "--junitxml=out/junit.xml"]
        (folder / "out").mkdir(exist_ok=True)
        code, printed = program(given, folder, FROZEN_STEP=step)
        written = folder / "out" / "report.json"
        if written.exists():
            drawn = json.loads(written.read_bytes())["run"]["id"]
            literals = {**literals, drawn: "<run>", drawn[:8]: "<run>"}
        yield f"{key} {step} terminal", steady(f"exit code {code}\n{printed}", literals)
        yield from files(f"{key} {step}", folder, literals)
        shutil.rmtree(folder / "out")


def files(key: str, folder: Path, literals: dict[str, str]) -> Pairs:
    """Reports, recordings, snapshots and counterexamples."""
    kept = [
        *folder.glob("out/*"),
        *folder.glob("*.txt"),
        *folder.rglob("__promptfuzz__/**/*"),
        *folder.glob(".promptfuzz/counterexamples/*"),
    ]
    for path in sorted(kept):
        if path.is_dir() or path.name == "mood.txt":
            continue
        text = steady(path.read_text(encoding="utf-8"), literals)
        name = path.relative_to(folder)
        if path.name == "report.json":
            codes, sentences = parted(json.loads(text))
            yield f"{key} {name}", as_json(codes)
            yield f"{key} {name} sentences", "\n".join(sentences)
        else:
            yield f"{key} {name}", text


def requests(wanted: str) -> Pairs:
    """The keys of thirty requests."""
    del wanted
    warm()
    given = {
        "record": ["pytest", "-q", SIMULATED, RECORD, "--promptfuzz-controls=off", "--promptfuzz-mutations=1"]
    }
    told = dict(project("requests:made", "requests_made", given))
    yield from told.items()
    lines = told["requests:made record __promptfuzz__/test_requests_made.calls.jsonl"].splitlines()
    keys: dict[str, list[str]] = {}
    for each in map(json.loads, lines):
        if "key" in each:
            place = {name: each[name] for name in ("sample", "trial", "call") if name in each}
            keys.setdefault(each["test"], []).append(f"{place} {each['url']} {each['key']}")
    for test, said in keys.items():
        yield f"requests:{test}", "\n".join(said)


# What docs/ tells users to import from elsewhere than the package itself; it goes on to work.
DOCUMENTED = {
    "assisting": ["paraphrase", "wordnet"],
    "comparing.metrics": ["measure"],
    "errors": ["UsageError"],
    "mutations.edits": ["replace"],
    "mutations.operators.synonyms": ["synonyms_from"],
    "mutations.planner": ["plan"],
    "mutations.registry": ["register"],
    "reporting.markdown": ["markdown_report"],
    "scoring.adjusting": ["adjusted_interval"],
    "scoring.intervals": ["score_interval", "lower_bound", "plan_interval", "smallest_n"],
    "testing": ["faults"],
    "testing.server": ["ModelServer"],
    "wire.answers": ["StoreStats", "StoredAnswer", "decode_answer", "encode_answer"],
    "wire.store": ["ResponseStore"],
}


def api(wanted: str) -> Pairs:
    """Names, signatures, settings, hooks, help."""
    del wanted
    promptfuzz = package()
    yield "api:names", "\n".join(promptfuzz.__all__)
    for name in promptfuzz.__all__:
        value = getattr(promptfuzz, name)
        yield f"api:{name}", steady(described(value), versions())
        yield f"api:{name} docstring", inspect.getdoc(value) or ""
    for module, names in DOCUMENTED.items():
        for name in names:
            yield (
                f"api:from {module} import {name}",
                steady(imported(f"pytest_promptfuzz.{module}", name), versions()),
            )
    about = _project()
    groups = sorted(about["entry-points"])
    yield (
        "api:entry points",
        as_json([sorted(about["scripts"]), [[each, sorted(about["entry-points"][each])] for each in groups]]),
    )
    folder = WORK / "api"
    folder.mkdir()
    (folder / "conftest.py").write_text(SETTINGS)
    code, told = program(["pytest", "--fixtures"], folder)
    yield "api:fixtures", steady(f"{code}\n{_about(told)}", versions())
    for name in ("hooks", "options", "ini names"):
        for each, said in json.loads((folder / "settings.json").read_text())[name].items():
            yield f"api:{name} {each}", steady(said)
    code, told = program(["pytest", "--help"], folder)
    yield "api:pytest --help", steady(f"{code}\n{told}", versions())
    code, told = program(["pytest", "--markers"], folder)
    yield "api:pytest --markers", steady(f"{code}\n{told}", versions())
    yield from helps(folder)


def imported(module: str, name: str) -> str:
    """What is imported from a documented place."""
    found: dict[str, Any] = {}
    try:
        exec(f"from {module} import {name}", found)
    except ImportError as error:
        return f"{error}"
    value = found[name]
    return name if inspect.ismodule(value) else described(value)


def helps(folder: Path) -> Pairs:
    """What `--help` says of each command, and what wrong usage is told."""
    waiting: list[list[str]] = [[]]
    while waiting:
        command = waiting.pop(0)
        code, told = program(["promptfuzz", *command, "--help"], folder)
        yield f"api:promptfuzz {' '.join([*command, '--help'])}", f"{code}\n{told}"
        listed = re.search(
            r"^(?:COMMAND|ACTION|positional arguments:|commands:)\n((?:  .*\n|\n)+)", told, re.MULTILINE
        )
        names = (
            re.findall(r"^    ([a-z][a-z-]*)(?:\s|$)", told, re.MULTILINE) if listed or not command else []
        )
        if len(command) < 2:
            waiting += [[*command, each] for each in dict.fromkeys(names)]
    for given in (
        ["--version"],
        [],
        ["nothing"],
        ["operators"],
        ["operators", "synonym"],
        ["operators", "--json"],
        ["report", "schema"],
    ):
        code, told = program(["promptfuzz", *given], folder)
        yield f"api:promptfuzz {' '.join(given)}", steady(f"{code}\n{told}", versions())


SETTINGS = """
import inspect
import json
from pathlib import Path

KEPT = {"dest", "nargs", "const", "default", "choices", "help", "metavar"}


def pytest_configure(config):
    parser, manager = config._parser, config.pluginmanager
    options = {
        each.names()[0]: json.dumps([each.names(), {k: repr(v) for k, v in each.attrs().items() if k in KEPT}], indent=1)
        for group in [parser._anonymous, *parser._groups]
        for each in group.options
        if "promptfuzz" in each.names()[0]
    }
    ini = {name: repr(value) for name, value in parser._inidict.items() if "promptfuzz" in name}
    hooks = {
        name: str(inspect.signature(hook.spec.function)) + chr(10) + str(inspect.getdoc(hook.spec.function))
        for name, hook in vars(manager.hook).items()
        if "promptfuzz" in name and hook.spec
    }
    found = {"options": options, "ini names": ini, "hooks": hooks}
    Path(__file__).with_name("settings.json").write_text(json.dumps(found))
"""


def _about(told: str) -> str:
    """The fixtures of the plugin, wherever they stand."""
    blocks = re.split(r"^-+ fixtures defined from (\S+) -+$", told, flags=re.MULTILINE)
    ours = [
        text
        for name, text in zip(blocks[1::2], blocks[2::2], strict=True)
        if name.startswith("pytest_promptfuzz")
    ]
    found = re.findall(r"^\w+.*\n(?:    .*\n)*", "".join(ours), re.MULTILINE)
    return "".join(sorted(re.sub(r" -- .*", "", each) for each in found))


def described(value: Any) -> str:
    """Signature, fields and public methods."""
    lines = [f"{type(value).__name__} {_signature(value)}"]
    if inspect.isclass(value):
        if dataclasses.is_dataclass(value):
            lines += [
                f"field {each.name}: {each.type} = {each.default!r}"
                for each in dataclasses.fields(value)
                if not each.name.startswith("_")
            ]
        lines += [f"base {each.__name__}" for each in value.__mro__[1:]]
        for name in sorted(dir(value)):
            if not name.startswith("_"):
                found = inspect.getattr_static(value, name)
                lines.append(f"{type(found).__name__} {name} {_signature(getattr(found, '__func__', found))}")
    return re.sub(r"\bpytest_promptfuzz(?:\.\w+)*\.", "", "\n".join(lines))


def _signature(value: Any) -> str:
    with contextlib.suppress(TypeError, ValueError):
        return str(inspect.signature(value))
    return ""


PARTS: dict[str, Callable[[str], Pairs]] = {
    "api": api,
    "requests": requests,
    "projects": projects,
    "verdicts": verdicts,
    "compare": compare,
    "plans": plans,
}


# ---- write, check, show


def outputs(part: str, wanted: str = "") -> list[tuple[str, str]]:
    """Keys and texts of a part, made in processes of their own."""
    if part in {"api", "verdicts", "compare", "plans"}:  # these enter the package themselves
        with_names = operator_names() if part == "plans" else []
        if with_names:
            globals()["operator_names"] = lambda: with_names

    def run() -> list[tuple[str, str]]:
        os.environ.clear()
        os.environ.update(environment())
        keeps = part != "plans" or wanted
        return [(key, text if keeps else digest(text)) for key, text in PARTS[part](wanted)]

    return run() if part in {"projects", "requests", "api"} else forked(run)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def hashed(part: str, found: Iterable[tuple[str, str]]) -> dict[str, str]:
    hashes: dict[str, str] = {}
    for key, text in found:
        assert key not in hashes, f"{key} stands for two texts"
        hashes[key] = text if part == "plans" else digest(text)
    return hashes


def write(part: str, *, texts: bool) -> None:
    found = outputs(part)
    FROZEN.mkdir(exist_ok=True)
    lines = [f"{value} {key}\n" for key, value in hashed(part, found).items()]
    (FROZEN / f"{part}.txt").write_text("".join(lines), encoding="utf-8")
    kept = FROZEN / f"{part}.texts.gz"
    kept.unlink(missing_ok=True)
    if texts and part != "plans":
        kept.write_bytes(gzip.compress(json.dumps(dict(found)).encode(), mtime=0))
    print(f"{part}: {len(lines):,} keys", end="")


def check(part: str) -> bool:
    """Whether nothing differs."""
    lines = (FROZEN / f"{part}.txt").read_text(encoding="utf-8").splitlines()
    before = {key: value for value, _, key in (each.partition(" ") for each in lines)}
    found = outputs(part)
    now, kept = hashed(part, found), FROZEN / f"{part}.texts.gz"
    texts = json.loads(gzip.decompress(kept.read_bytes())) if kept.exists() else {}
    differing = [
        each
        for each in [*before, *(new for new in now if new not in before)]
        if before.get(each) != now.get(each)
    ]
    print(f"{part}: {len(before):,} keys, {len(differing):,} differ", end="")
    for key in differing[:SHOWN]:
        print(f"\n  {'gone' if key not in now else 'new' if key not in before else 'differs'}  {key}", end="")
        if key in texts and key in now:
            lines = list(
                difflib.unified_diff(
                    texts[key].splitlines(), dict(found)[key].splitlines(), "before", "now", "", "", 1
                )
            )
            print("".join(f"\n      {each[:300]}" for each in lines[2:14]), end="")
    if len(differing) > SHOWN:
        print(f"\n  … and {len(differing) - SHOWN:,} more", end="")
    return not differing


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", nargs="?", choices=("write", "check"))
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="NAME", help=", ".join(PARTS)
    )
    parser.add_argument(
        "--texts", action="store_true", help="with write: keep the texts, so that check shows what differs"
    )
    parser.add_argument(
        "--show", nargs="+", default=[], metavar="KEY", help="print the texts of keys that begin so"
    )
    options = parser.parse_args()
    if not options.command and not options.show:
        parser.error("say write, check, or --show KEY")
    with WORK.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # waits for another run, which has the folder
        shutil.rmtree(WORK, ignore_errors=True)
        for each in ("home", "tmp"):
            (WORK / each).mkdir(parents=True)
        try:
            settle()
            return ran(options)
        finally:
            shutil.rmtree(WORK, ignore_errors=True)


def ran(options: argparse.Namespace) -> int:
    fine = True
    for key in options.show:
        for name, text in outputs(key.partition(":")[0], key):
            if name.startswith(key):
                print(f"==== {name}\n{text}")
    for part in options.only if options.command else ():
        began = sum(os.times()[:4])
        if options.command == "write":
            write(part, texts=options.texts)
        else:
            fine = check(part) and fine
        print(f"  ({sum(os.times()[:4]) - began:.0f} s of CPU)", flush=True)
    return not fine


if __name__ == "__main__":
    sys.exit(main())
