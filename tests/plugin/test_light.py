"""The plugin loads next to nothing where nothing is robust, and no SDK where all answers are in the store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.model_server import ModelServer

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = "pytest_promptfuzz.plugin.hooks"
NEVER = {
    "anthropic",
    "diskcache",
    "http.server",
    "jsonschema",
    "numpy",
    "openai",
    "rapidfuzz",
    "sentence_transformers",
    "sqlite3",
    "ssl",
    "torch",
}
NOT_WHEN_WARM = {
    "anthropic",
    "anyio",
    "html.parser",
    "pytest_promptfuzz.evaluating.datasets",
    "http.server",
    "httpcore",
    "httpx",
    "httpx2",
    "jsonschema",
    "numpy",
    "onnxruntime",
    "openai",
    "pydantic",
    "pytest_promptfuzz.assistance",
    "pytest_promptfuzz.comparing.claims",
    "pytest_promptfuzz.comparing.formats.answer_formats",
    "pytest_promptfuzz.comparing.formats.code",
    "pytest_promptfuzz.comparing.guards.checks",
    "pytest_promptfuzz.evaluating.phases.drift",
    "pytest_promptfuzz.judging.encoders",
    "pytest_promptfuzz.mutations.operators.translation",
    "pytest_promptfuzz.storage.recordings.files",
    "pytest_promptfuzz.storage.redis_store",
    "sentence_transformers",
    "ssl",
    "tokenizers",
    "torch",
    "transformers",
}
NOT_FOR_A_PLAN = {
    "asyncio",
    "pytest_promptfuzz.evaluating.background_calls",
    "pytest_promptfuzz.evaluating.phases.replays",
    "pytest_promptfuzz.evaluating.phases.shrinking",
    "pytest_promptfuzz.evaluating.search_settings",
    "pytest_promptfuzz.judging.model_judge",
    "pytest_promptfuzz.plugin.output.attachments",
    "pytest_promptfuzz.searching",
}
SIMULATED = {"pytest_promptfuzz.targets.simulated.classification", "rapidfuzz"}
"""What a simulated run loads as far as it asks the model."""
MOST = 206
"""The most modules of ours that a run of one robust test loads."""
FEW = 30
"""The most modules of ours that a run without robust tests loads, besides those that are named."""
CONFTEST = """
import json
import sys
from pathlib import Path

def pytest_unconfigure():
    Path("modules.json").write_text(json.dumps(sorted(sys.modules)))
"""
ROBUST = '''
from pytest_promptfuzz import Prompt, robust

TRIAGE = Prompt("""Classify the support ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

Answer with the label only.

Ticket:
{ticket}""")

@robust(TRIAGE, mutations=4, threshold=0.0)
def test_triage(prompt, llm):
    return llm(prompt.format(ticket="I was charged twice this month and want a refund."))
'''


DECLARATIVE = (
    ROBUST[: ROBUST.index("@robust")]
    + """
@robust(TRIAGE, inputs=["I was charged twice this month and want a refund."], mutations=4, threshold=0.0)
def test_triage(response):
    assert response.text
"""
)


@pytest.fixture
def modules(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run pytest without anybody else's plugins; what it printed, and the modules loaded at its end."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("CI", "PROMPTFUZZ_TARGET", "OPENAI_API_KEY", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    pytester.makeconftest(CONFTEST)
    pytester.makeini("[pytest]\nfilterwarnings = error\n")

    def run(*arguments: str, plugin: bool = True) -> tuple[str, set[str]]:
        loaded = ("-p", PLUGIN) if plugin else ()
        result = pytester.runpytest_subprocess(*loaded, "-p", "no:cacheprovider", *arguments)
        assert result.ret == 0, result.stdout.str()
        return result.stdout.str(), set(json.loads((pytester.path / "modules.json").read_text()))

    return run


@pytest.mark.parametrize("in_ci", [False, True], ids=["here", "in-ci"])
@pytest.mark.parametrize("arguments", [("--co", "-q"), ("--co",), ()], ids=["collect", "header", "run"])
def test_a_run_without_robust_tests_loads_our_own_modules_only(
    pytester, modules, monkeypatch, arguments, in_ci
):
    if in_ci:
        monkeypatch.setenv("CI", "true")
    pytester.makepyfile("def test_nothing():\n    pass\n")
    _, without = modules(*arguments, plugin=False)
    _, loaded = modules(*arguments)
    assert PLUGIN in loaded
    assert not loaded & NEVER
    ours = {name for name in loaded if name.partition(".")[0] == "pytest_promptfuzz"}
    assert loaded - without - ours == set()
    # In CI it has to know whether there are recordings; that is one small module.
    looking = {f"pytest_promptfuzz.storage{rest}" for rest in ("", ".recordings", ".recordings.places")}
    # What notices connections of conftest.py files and of modules begins before they are loaded.
    noticing = {f"pytest_promptfuzz.wire{rest}" for rest in ("", ".network")}
    # What may be set, and where it stands.
    setting = {
        f"pytest_promptfuzz.evaluating{rest}" for rest in ("", ".settings", ".setting_kinds", ".pyproject")
    }
    # Which models `compare` is to use, and what the header is written with.
    named = {f"pytest_promptfuzz.judging{rest}" for rest in ("", ".models")}
    shown = {f"pytest_promptfuzz.text{rest}" for rest in ("", ".expressions", ".safe_text")} | {
        f"pytest_promptfuzz.reporting{rest}" for rest in ("", ".terminal", ".terminal.styled_text")
    }
    ours -= noticing | setting | named | shown | (looking if in_ci else set())
    rooms = {name.split(".")[1] for name in ours if "." in name}
    assert rooms <= {"errors", "files", "moved", "plugin", "server"}
    assert len(ours) <= FEW


def test_our_modules_are_loaded_as_installed_and_the_users_as_ever(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(
        """
import json
import sys
from pathlib import Path

pytest_plugins = ["helpers"]

def pytest_unconfigure():
    modules = dict(sys.modules)
    loaders = {name: type(getattr(module, "__loader__", None)).__name__ for name, module in modules.items()}
    Path("loaders.json").write_text(json.dumps(loaders))
"""
    )
    pytester.makepyfile(ROBUST, helpers="def check(found):\n    assert found == 1\n")
    assert pytester.runpytest_subprocess("-p", PLUGIN, "--promptfuzz-target=simulated").ret == 0
    loaders = json.loads((pytester.path / "loaders.json").read_text())
    ours = {name: loader for name, loader in loaders.items() if name.startswith("pytest_promptfuzz.")}
    rewritten = {name for name, loader in ours.items() if loader == "AssertionRewritingHook"}
    assert rewritten <= {"pytest_promptfuzz.plugin", "pytest_promptfuzz.plugin.loading"}
    assert len(ours) > 150
    assert {ours[name] for name in set(ours) - rewritten} == {"SourceFileLoader"}
    assert loaders["conftest"] == loaders["helpers"] == "AssertionRewritingHook"


def test_importing_the_package_and_marking_a_test_stay_light(pytester, modules):
    pytester.makepyfile(ROBUST)
    _, loaded = modules("--co", "-q")
    assert "pytest_promptfuzz.prompts.prompt" in loaded
    assert not loaded & NEVER


def answered_twice(
    pytester: pytest.Pytester, modules, monkeypatch, model: Path, source: str = ROBUST
) -> tuple[str, set[str]]:
    """The second of two runs; the server of the first is gone."""
    pytester.makepyfile(source)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    arguments = ("--promptfuzz-target=openai:gpt-5-mini", f"--promptfuzz-model={model}")
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        _, cold = modules(*arguments)
        assert server.calls == 5
    assert "httpx2" in cold
    assert "genai_prices" not in cold  # a list that is slow to load, and knows no server of one's own
    return modules(*arguments)


def test_a_warm_run_loads_no_sdk_and_no_model(pytester, modules, monkeypatch, tmp_path):
    # The folder only has to be there: what it holds is read when words cannot tell, and here they can.
    said, loaded = answered_twice(pytester, modules, monkeypatch, tmp_path)
    assert "0 calls made; 5 stored answers" in " ".join(said.split())
    assert loaded & NOT_WHEN_WARM == set()


def test_a_warm_declarative_run_needs_no_event_loop_either(pytester, modules, monkeypatch, tmp_path):
    said, loaded = answered_twice(pytester, modules, monkeypatch, tmp_path, DECLARATIVE)
    assert "0 calls made; 5 stored answers" in " ".join(said.split())
    assert loaded & (NOT_WHEN_WARM | {"asyncio", "concurrent.futures"}) == set()


def test_a_simulated_run_loads_no_sdk_and_no_model(pytester, modules, tmp_path):
    pytester.makepyfile(ROBUST)
    arguments = ("--promptfuzz-target=simulated", f"--promptfuzz-model={tmp_path}")
    for calls, hits in ((5, 0), (0, 5)):
        said, loaded = modules(*arguments)
        assert f"{calls} calls to the simulated model; {hits} stored answers" in " ".join(said.split())
        never = NOT_WHEN_WARM | NOT_FOR_A_PLAN | (set() if calls else SIMULATED)
        assert loaded & never == set()
        assert sum(name.partition(".")[0] == "pytest_promptfuzz" for name in loaded) <= MOST
