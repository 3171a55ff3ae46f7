"""What a newcomer's mistakes are answered with."""

from __future__ import annotations


def test_a_mistake_begins_with_its_test_and_the_short_summary_does_not_name_it_twice(project):
    result = project(
        """
        @robust(TRIAGE, threshold=85)
        def test_share(prompt, llm):
            return llm(prompt.format(ticket=TICKET))

        @robust("prompts/triage.txt")
        def test_file(prompt, llm):
            return llm(prompt.format(ticket=TICKET))
        """
    )
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines_random(
        [
            "UsageError: test_it.py::test_share: threshold=85 is out of range. *Did you mean 0.85?",
            "UsageError: *looks like a file's name. Write @robust(Prompt.from_file('prompts/triage.txt'))*",
            "ERROR test_it.py::test_share - UsageError: threshold=85 is out of range. *",
        ]
    )


def test_one_line_tracebacks_name_place_and_verdict(project):
    result = project(
        """
        @robust(TRIAGE, mutations=2, max_deviations=0, compare=False)
        def test_case(prompt):
            assert prompt.text == TRIAGE.text
        """,
        "--tb=line",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["test_it.py:*: brittle: *2 of 2 trials deviate*"])
    assert "object at 0x" not in result.stdout.str()


def test_a_misspelt_environment_variable_is_named_in_the_header(project, monkeypatch):
    monkeypatch.setenv("PROMPTFUZZ_MAX_CALL", "3")
    monkeypatch.setenv("PROMPTFUZZ_MAX_COST", "3")
    monkeypatch.setenv("PROMPTFUZZ_API_KEY", "none")
    result = project("def test_nothing(): pass")
    result.assert_outcomes(passed=1)
    said = [line for line in result.outlines if "environment variable" in line]
    (line,) = said
    assert line.startswith("promptfuzz: the environment variable PROMPTFUZZ_MAX_CALL is no setting")
    assert line.endswith("Did you mean PROMPTFUZZ_MAX_CALLS?")


def test_a_threshold_that_is_no_percentage_gets_no_guess(project):
    result = project("""
        @robust(TRIAGE, threshold=1.5)
        def test_share(prompt, llm):
            llm(prompt.format(ticket=TICKET))
    """)
    assert "threshold=1.5 is out of range. Write a number from 0 to 1.\n" in result.stdout.str()
    assert "Did you mean" not in result.stdout.str()


def test_a_key_that_is_a_word_of_our_reports_is_not_hidden_in_them(project, promptfuzz_server, monkeypatch):
    # A server that wants no key is given "not-needed", which is an outcome, too.
    monkeypatch.delenv("PROMPTFUZZ_API_KEY", raising=False)
    result = project(
        """
        @robust(TRIAGE, mutations=2, max_deviations=0)
        def test_it(prompt, llm):
            llm(prompt.format(ticket=TICKET))
            assert prompt.text == TRIAGE.text
        """,
        "-o",
        f"promptfuzz_target=compatible:any-1@{promptfuzz_server.openai_url}",
    )
    result.assert_outcomes(failed=1)
    assert "INTERNAL" not in result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(["2 mutations were tried: *2 deviations, 0 errors."])
