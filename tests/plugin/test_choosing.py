"""What a test draws on whose mark does not say: the ini file, pyproject.toml, the environment, the command line."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pytest_promptfuzz.plugin.marks import laid_over, read_choice
from pytest_promptfuzz.plugin.options import read_overrides
from pytest_promptfuzz.plugin.state import read_tables
from tests.plugin.conftest import PROMPT

ASK = "def test_it(prompt, llm): return llm(prompt.format(ticket=TICKET))"


def contract(
    pytester: pytest.Pytester, *arguments: str, table: str = "", ini: str = "", **environment: str
) -> dict[str, Any]:
    """The mutations and operators of a run."""
    pytester.makefile(".toml", pyproject=f"[tool.pytest.ini_options]\n{ini}\n[tool.promptfuzz]\n{table}\n")
    with pytest.MonkeyPatch.context() as patch:
        for key, value in environment.items():
            patch.setenv(key, value)
        config = pytester.parseconfig(*arguments)
        return dict(read_choice(config, read_tables(config.rootpath), read_overrides(config)).contract)


def test_without_a_word_it_is_eight_of_the_default_mix(pytester):
    assert contract(pytester) == {"mutations": 8, "operators": None}


@pytest.mark.parametrize(
    ("argument", "chosen"),
    [
        ("mutations=4", {"mutations": 4, "operators": None}),
        ("mutations=upper-case=1,lexical=2", {"mutations": {"upper-case": 1, "lexical": 2}, "operators": None}),
        ("mutations=lexical=0.7,semantic=0.3", {"mutations": {"lexical": 0.7, "semantic": 0.3}, "operators": None}),
        ("mutations=tabs:2, synonym", {"mutations": ["tabs:2", "synonym"], "operators": None}),
        ("operators=tabs+double-space", {"mutations": 8, "operators": ["tabs+double-space"]}),
        ("operators=tabs:20%=3,lexical=1", {"mutations": 8, "operators": {"tabs:20%": 3, "lexical": 1}}),
    ],
)  # fmt: skip
def test_option_environment_and_ini_file_take_what_the_mark_takes(pytester, argument, chosen):
    name, _, value = argument.partition("=")
    assert contract(pytester, f"--promptfuzz-{argument}") == chosen
    assert contract(pytester, **{f"PROMPTFUZZ_{name.upper()}": value}) == chosen
    assert contract(pytester, ini=f"promptfuzz_{name} = '{value}'") == chosen
    assert contract(pytester, table=f"{name} = '{value}'") == chosen


@pytest.mark.parametrize(
    ("table", "chosen"),
    [
        ("mutations = 3", {"mutations": 3, "operators": None}),
        ("mutations = { tabs = 1, lexical = 2 }", {"mutations": {"tabs": 1, "lexical": 2}, "operators": None}),
        ("operators = ['tabs', 'lexical']", {"mutations": 8, "operators": ["tabs", "lexical"]}),
        ("mutations = 3\n[tool.promptfuzz.operators]\ntabs = 2", {"mutations": 3, "operators": {"tabs": 2}}),
    ],
)  # fmt: skip
def test_pyproject_holds_numbers_lists_and_tables(pytester, table, chosen):
    assert contract(pytester, table=table) == chosen


def test_a_number_in_an_ini_table_is_a_count(pytester):
    assert contract(pytester, ini="promptfuzz_mutations = 5")["mutations"] == 5


def test_the_nearer_place_wins_where_both_name_operators(pytester):
    table = "operators = ['upper-case']\nmutations = 2"
    environment = {"PROMPTFUZZ_OPERATORS": "tabs"}
    assert contract(pytester, table=table, **environment) == {"mutations": 2, "operators": ["tabs"]}
    arguments = ("--promptfuzz-mutations=wrap-lines=3",)
    nearest = {"mutations": {"wrap-lines": 3}, "operators": None}
    assert contract(pytester, *arguments, table=table, **environment) == nearest
    assert contract(pytester, *arguments, ini="promptfuzz_operators = 'tabs'") == nearest
    # The command line says of what, the environment how many.
    environment = {"PROMPTFUZZ_MUTATIONS": "wrap-lines=2,tabs=1"}
    assert contract(pytester, "--promptfuzz-operators=lexical", **environment) == {
        "mutations": 3,
        "operators": ["lexical"],
    }


def test_the_mark_wins_over_the_run_and_an_override_over_the_mark(project, pytester):
    conftest = """
        import json

        def pytest_runtest_logreport(report):
            shown = getattr(report, "promptfuzz", None)
            if shown is not None:
                names = sorted(trial["operators"][0].partition("@")[0] for trial in shown["trials"])
                with open("drawn.jsonl", "a") as file:
                    print(json.dumps([report.nodeid.rpartition("::")[2], names, shown["notes"]]), file=file)
    """
    source = f"""
        @robust(TRIAGE)
        {ASK.replace("_it", "_bare")}
        @robust(TRIAGE, mutations={{"upper-case": 1}})
        {ASK.replace("_it", "_mapping")}
        @robust(TRIAGE, operators=["double-space"])
        {ASK.replace("_it", "_operators")}
        @robust(TRIAGE, mutations=3)
        {ASK.replace("_it", "_count")}

        def names(mutations): return sorted(each.operators[0].partition("@")[0] for each in mutations)
        def test_imperative(promptfuzz):
            filled = TRIAGE.format(ticket=TICKET)
            evaluated = [trial.mutation for trial in promptfuzz.evaluate(filled).trials]
            assert names(evaluated) == names(promptfuzz.mutate(filled))
            assert len(promptfuzz.mutate(TRIAGE, 3)) == 3
            assert names(promptfuzz.mutate(TRIAGE, {{"upper-case": 1}})) == ["upper-case"]
            assert set(names(promptfuzz.mutate(TRIAGE, operators="double-space"))) == {{"double-space"}}
    """

    def drawn(*arguments: str) -> tuple[dict[str, list[str]], list[str]]:
        result = project(source, *arguments, conftest=conftest)
        result.assert_outcomes(passed=5)
        rows = [json.loads(line) for line in (pytester.path / "drawn.jsonl").read_text().splitlines()]
        (pytester.path / "drawn.jsonl").unlink()
        return {name: names for name, names, _ in rows}, [note for _, _, notes in rows for note in notes]

    counts, _ = drawn("--promptfuzz-mutations=tabs=2")
    assert counts == {
        "test_bare": ["tabs"] * 2,
        "test_mapping": ["upper-case"],
        "test_operators": ["double-space"] * 2,
        "test_count": counts["test_count"],
    }
    assert len(set(counts["test_count"])) == 3  # of the default mix
    assert drawn("--promptfuzz-operators=tabs", "-o", "promptfuzz_mutations=2")[0] == {
        "test_bare": ["tabs"] * 2,
        "test_mapping": ["upper-case"],
        "test_operators": ["double-space"] * 2,
        "test_count": ["tabs"] * 3,
    }
    all_of_them, notes = drawn("--promptfuzz-override=mutations=tabs=2")
    assert all(names == ["tabs"] * 2 for names in all_of_them.values())
    assert any("overridden on the command line: mutations={'tabs': 2}" in note for note in notes), notes
    weighed, notes = drawn("--promptfuzz-override=operators=tabs")
    assert {name: len(names) for name, names in weighed.items() if set(names) == {"tabs"}} == {
        "test_bare": 8,
        "test_mapping": 1,
        "test_operators": 8,
        "test_count": 3,
    }
    assert any("overridden on the command line: operators=['tabs']" in note for note in notes), notes


def test_operators_of_the_project_can_be_named(project):
    conftest = """
        from pytest_promptfuzz import operator
        from pytest_promptfuzz.mutations.engine.edits import replace

        def pytest_promptfuzz_operators(config):
            @operator("shout", dimension="lexical", severity=0.1, preserves="yes", example=("a.", "a!"))
            def shout(draft, rng):
                yield [replace(len("Classify"), len("Classify "), "! ")]

            return [shout]
    """
    result = project(f"@robust(TRIAGE)\n{ASK}", "--promptfuzz-mutations=shout", "-rA", conftest=conftest)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 robust test: 1 passed; 2 calls*"])


TABLES = {
    "operatrs = ['tabs']": ["unknown key 'operatrs'", "Did you mean 'operators'"],
    "operators = ['tabbs']": [
        "operators in [tool.promptfuzz] of pyproject.toml",
        "'tabbs'",
        "Did you mean 'tabs'",
    ],
    "operators = { tabs = 'x' }": [
        "operators in [tool.promptfuzz] of pyproject.toml",
        "the weight of 'tabs' is 'x'",
    ],
    "operators = 3": ["operators in [tool.promptfuzz]", "'3' is not a name"],
    "mutations = true": ["mutations in [tool.promptfuzz]", "True is not a count such as 8"],
    "mutations = []": ["mutations in [tool.promptfuzz]", "is empty"],
    "mutations = ['tabs']\noperators = ['tabs']": ["both name operators", "operators in [tool"],
}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_cannot_be_read_ends_the_run(pytester, table):
    pytester.makepyprojecttoml(f"[tool.promptfuzz]\n{table}\n")
    result = pytester.runpytest_inprocess("-p", "no:asyncio", "-p", "no:anyio")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (said,) = [line for line in result.errlines if line.strip()]
    for each in TABLES[table]:
        assert each in said


def test_the_same_setting_in_two_files_is_refused(pytester):
    pytester.makepyprojecttoml(
        "[tool.pytest.ini_options]\npromptfuzz_mutations = 3\n[tool.promptfuzz]\nmutations = 4\n"
    )
    result = pytester.runpytest_inprocess("-p", "no:asyncio", "-p", "no:anyio")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "the ini value promptfuzz_mutations and mutations in [tool.promptfuzz]" in result.stderr.str()
    assert "both set mutations. Keep one of them" in result.stderr.str()


def test_under_xdist_each_test_says_what_is_wrong(pytester):
    pytester.makepyfile(f"{PROMPT}\n@robust(TRIAGE)\n{ASK}")
    result = pytester.runpytest("-n", "1", "--promptfuzz-operators=tabbs", "--promptfuzz-target=simulated")
    result.assert_outcomes(errors=1)
    said = " ".join(result.stdout.str().split())
    assert re.search(
        "UsageError: .*--promptfuzz-operators: there is no operator.*'tabbs'.*Did you mean 'tabs'", said
    )


@pytest.mark.parametrize(
    ("under", "over", "both"),
    [
        ({"mutations": 8, "operators": None}, {"threshold": 1}, {"mutations": 8, "operators": None, "threshold": 1}),
        ({"mutations": 8, "operators": "a"}, {"mutations": 4}, {"mutations": 4, "operators": "a"}),
        ({"mutations": {"a": 2, "b": 1}, "operators": None}, {"operators": "c"}, {"mutations": 3, "operators": "c"}),
        ({"mutations": {"a": 0.2}, "operators": None}, {"operators": "c"}, {"mutations": 8, "operators": "c"}),
        ({"mutations": ["a", "b"], "operators": None}, {"operators": None}, {"mutations": ["a", "b"], "operators": None}),
        ({"mutations": 8, "operators": "a"}, {"mutations": ["b"]}, {"mutations": ["b"], "operators": None}),
        ({"mutations": 8}, {"mutations": ["b"], "operators": "a"}, {"mutations": ["b"], "operators": "a"}),
    ],
)  # fmt: skip
def test_settings_are_laid_over_one_another(
    under: dict[str, Any], over: dict[str, Any], both: dict[str, Any]
):
    assert laid_over(under, over) == both
