"""The wheel and the sdist install into an empty environment and work there; loading stays light."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

PIP = importlib.util.find_spec("pip") is not None
ROOT = Path(__file__).parents[2]
HEAVY = (
    "openai",
    "anthropic",
    "httpx",
    "httpx2",
    "torch",
    "numpy",
    "jsonschema",
    "diskcache",
    "sentence_transformers",
)
TEST = """
from pytest_promptfuzz import robust


@robust("Classify the mood as good or bad. Answer with one word only.\\n\\nText: What a lovely day!")
def test_mood(prompt, llm):
    assert llm(prompt).text == "good"
"""
# Prints what of HEAVY was imported by the end of the run.
WATCH = """
import importlib.util
import json
import sys


def pytest_unconfigure():
    print("HEAVY", json.dumps([name for name in {heavy!r} if name in sys.modules]))
"""


def environment() -> dict[str, str]:
    foreign = ("PYTEST_", "PROMPTFUZZ_", "PYTHONPATH", "COV_", "SSL_CERT_FILE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    authorities = kept.pop("SYSTEM_CERT_FILE", "")
    return {**kept, "SSL_CERT_FILE": authorities} if authorities else kept


def run(*command: str | Path, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(each) for each in command],
        cwd=cwd,
        env={**environment(), **more},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def imported(*arguments: str, cwd: Path) -> list[str]:
    """Run pytest in a process of its own; the heavy modules that it ended with."""
    (cwd / "conftest.py").write_text(WATCH.format(heavy=HEAVY), encoding="utf-8")
    # Other plugins of this environment are no part of the question.
    alone = (
        "-p",
        "no:asyncio",
        "-p",
        "no:hypothesispytest",
        "-p",
        "no:anyio",
        "-p",
        "no:xdist",
        "-p",
        "no:cov",
    )
    done = run(sys.executable, "-m", "pytest", "-s", *alone, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("HEAVY ")]
    found: list[str] = json.loads(line.removeprefix("HEAVY "))
    return found


def test_loading_the_plugin_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text("def test_plain():\n    pass\n", encoding="utf-8")
    assert imported(cwd=tmp_path) == []


def test_importing_the_package_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, pytest_promptfuzz; from pytest_promptfuzz import Prompt, evaluate, mutate, compare, robust; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert run(sys.executable, "-c", code, cwd=tmp_path).stdout.strip() == "[]"


def test_tests_that_use_llm_import_no_sdk(tmp_path: Path) -> None:
    """The store is the one heavy part that a run needs, stored answers or not."""
    (tmp_path / "test_mood.py").write_text(TEST, encoding="utf-8")
    target = "--promptfuzz-target=simulated"
    assert imported(target, cwd=tmp_path) == ["diskcache"]
    again = imported(target, cwd=tmp_path)
    assert again == ["diskcache"]


def test_warm_llm_tests_of_the_example_import_no_sdk_and_make_no_call(tmp_path: Path) -> None:
    example = ROOT / "example_project"
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-s", "-p", "watch", "-p", "no:cacheprovider"),
        *("-p", "no:asyncio", "-p", "no:hypothesispytest", "-p", "no:anyio"),
        *(f"--promptfuzz-cache-dir={tmp_path / 'store'}", example / "tests" / "test_orders.py"),
    ]
    (tmp_path / "watch.py").write_text(WATCH.format(heavy=HEAVY), encoding="utf-8")
    more = {"PYTHONPATH": str(tmp_path), "COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"}
    cold, warm = (run(*command, cwd=tmp_path, **more) for _ in range(2))
    assert (cold.returncode, warm.returncode) == (0, 0), cold.stdout + cold.stderr
    assert "16 calls to the simulated model; 0 stored answers" in " ".join(cold.stdout.split())
    assert "0 calls to the simulated model; 16 stored answers;" in " ".join(warm.stdout.split())
    assert 'HEAVY ["diskcache"]' in warm.stdout


def test_the_plugin_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text("def test_plain():\n    pass\n", encoding="utf-8")
    done = run(sys.executable, "-m", "pytest", "-p", "no:promptfuzz", cwd=tmp_path)
    assert done.returncode == 0
    assert "promptfuzz:" not in done.stdout
    options = run(sys.executable, "-m", "pytest", "-p", "no:promptfuzz", "--help", cwd=tmp_path).stdout
    assert "--promptfuzz" not in options


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that is made from it."""
    folder = tmp_path_factory.mktemp("dist")
    tools = new_environment(folder / "tools")
    if install("build", "hatchling", into=tools, cwd=folder).returncode:
        reason = "the packages 'build' and 'hatchling' cannot be installed: no package index is reachable"
        if os.environ.get("PACKAGING") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    done = run(tools / "python", "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def new_environment(folder: Path) -> Path:
    """Make an empty environment; the folder of its programs."""
    venv.create(folder, with_pip=not PIP)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def install(*wanted: str | Path, into: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Install with the pip that is here already; where there is none, with one of the environment's own."""
    pip = (
        (sys.executable, "-m", "pip", "--python", into / "python") if PIP else (into / "python", "-m", "pip")
    )
    return run(*pip, "install", "-q", *wanted, cwd=cwd)


def test_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {
        "pytest_promptfuzz",
        "pytest_promptfuzz-0.1.0.dist-info",
    }
    assert "pytest_promptfuzz/py.typed" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    assert "pytest_promptfuzz/reporting/html/assets/base.css" in names
    kinds = ("*.py", "*.css", "*.js", "*.json", "*.md", "*.toml", "*.tsv", "*.txt")
    kept = [path for kind in kinds for path in (ROOT / "pytest_promptfuzz").rglob(kind)]
    sources = {path.relative_to(ROOT).as_posix() for path in kept}
    assert sources <= set(names)


def test_sdist_can_be_tested(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "docs/architecture.md"} <= names
    assert "tests/packaging/test_packaging.py" in names
    tables = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pytest_promptfuzz" / "data").rglob("*.t[sx][vt]")
    }
    assert len(tables) > 50
    assert tables <= names
    assert "example_project/support_app/prompts/triage.txt" in names
    assert not [name for name in names if ".promptfuzz/" in name or "__pycache__" in name]


def test_wheel_works_in_an_empty_environment(built: Path, tmp_path: Path) -> None:
    programs = new_environment(tmp_path / "empty")
    (wheel,) = built.glob("*.whl")
    installed = install(wheel, into=programs, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    assert run(programs / "promptfuzz", "--version", cwd=tmp_path).stdout == "promptfuzz 0.1.0\n"
    (tmp_path / "test_mood.py").write_text(TEST, encoding="utf-8")
    for calls in ("9 calls", "0 calls"):
        done = run(programs / "pytest", "--promptfuzz-target=simulated", "test_mood.py", cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{calls} to the simulated model" in done.stdout
    (tmp_path / "prompt.txt").write_text(
        "Classify the mood as good or bad.\n\nText: What a day!", encoding="utf-8"
    )
    shown = run(programs / "promptfuzz", "run", "prompt.txt", "--target", "simulated", cwd=tmp_path)
    assert shown.returncode in {0, 1}, shown.stdout + shown.stderr
    real = [programs / "promptfuzz", "run", "prompt.txt", "--target", "openai:gpt-5-mini"]
    missing = run(*real, cwd=tmp_path, OPENAI_API_KEY="none")
    assert missing.returncode == 2
    assert "pytest-promptfuzz[openai]" in missing.stderr
