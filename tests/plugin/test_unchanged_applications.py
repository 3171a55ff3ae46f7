"""``mutate="role:…"``: applications that nothing was changed in, each in a real pytest process."""

from __future__ import annotations

import textwrap

import pytest

from tests.plugin.conftest import summary_of

APP = '''
import asyncio, datetime, functools, itertools, json
import openai

SYSTEM = """You sort support tickets. Answer with exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

- Answer with the label only
- Do not explain your choice"""
TRANSLATE = "Translate the text of the user into German. Keep to the facts."
TICKET = "I was charged twice for my subscription this month and want a refund."
LOGIN = "I cannot log in with my new password since yesterday, what should I do?"
client = openai.OpenAI(api_key="none")
numbers = itertools.count()

def messages(system, *texts):
    return [{"role": "system", "content": system}, *({"role": "user", "content": text} for text in texts)]

def sort(text, system=SYSTEM):
    answer = client.chat.completions.create(model="m", messages=messages(system, text))
    return answer.choices[0].message.content

async def asort(text, system=SYSTEM):
    async with openai.AsyncOpenAI(api_key="none") as own:
        answer = await own.chat.completions.create(model="m", messages=messages(system, text))
    return answer.choices[0].message.content

def responses(text):
    return client.responses.create(model="m", instructions=SYSTEM, input=text).output_text

def claude(text, system=SYSTEM):
    import anthropic
    own = anthropic.Anthropic(api_key="none")
    with own.messages.stream(
        model="m", max_tokens=99, system=system, messages=[{"role": "user", "content": text}]
    ) as events:
        return events.get_final_text()

def converse(text):
    """Two turns: the second request repeats the first."""
    told = messages(SYSTEM, text)
    first = client.chat.completions.create(model="m", messages=told).choices[0].message
    told += [{"role": "assistant", "content": first.content}, {"role": "user", "content": LOGIN}]
    return client.chat.completions.create(model="m", messages=told).choices[0].message.content
'''
HEAD = """
import pytest
import app

def seen(monkeypatch):
    '''Every system text that reaches the model.'''
    from pytest_promptfuzz.targets.simulated.target import SimulatedModel
    texts, answer = [], SimulatedModel.answer
    def note(self, request, **more):
        texts.append([m["content"] for m in request.messages if m["role"] == "system"])
        return answer(self, request, **more)
    monkeypatch.setattr(SimulatedModel, "answer", note)
    return texts
"""


@pytest.fixture
def application(project):
    return lambda source, *arguments, **files: project(
        HEAD + textwrap.dedent(source), *arguments, app=APP, **files
    )


def test_every_way_of_asking_and_a_second_run_makes_no_call(application):
    source = """
    @robust(mutate="role:system", mutations=4)
    def test_chat():
        return app.sort(app.TICKET)

    @robust(mutate="role:developer", mutations=4)
    def test_responses():
        return app.responses(app.TICKET)

    @robust(mutate="role:system", mutations=4)
    def test_stream():
        return app.claude(app.TICKET)

    @robust(mutate="role:system", mutations=4)
    def test_blocks():
        return app.claude(app.TICKET, [{"type": "text", "text": app.SYSTEM}, {"type": "text", "text": "Be exact."}])

    @pytest.mark.asyncio
    @robust(mutate="role:system", mutations=4)
    async def test_async():
        return await app.asort(app.TICKET)

    @robust(mutate="role:user", mutations=4)
    def test_user():
        return app.sort(app.TICKET)

    @pytest.fixture(scope="session")
    def made_once():
        import openai
        with openai.OpenAI(api_key="none") as client:
            yield client

    @robust(mutate="role:system", mutations=4)
    def test_a_client_of_the_session(made_once):
        answer = made_once.chat.completions.create(model="m", messages=app.messages(app.SYSTEM, app.LOGIN))
        return answer.choices[0].message.content

    @robust(mutate="role:system", mutations=4)
    def test_llm(llm):
        return llm(app.messages(app.SYSTEM, app.TICKET))
    """
    first = application(source)
    first.assert_outcomes(passed=8)
    first.stdout.fnmatch_lines(["8 robust tests: 8 passed; 34 calls *"])
    again = application(source)
    again.assert_outcomes(passed=8)
    again.stdout.fnmatch_lines(["8 robust tests: 8 passed; 0 calls *"])


def test_what_reaches_the_model(application):
    result = application(
        """
        texts = []

        @pytest.fixture(autouse=True)
        def noted(monkeypatch):
            texts.append(seen(monkeypatch))

        @robust(mutate="role:system", mutations=4)
        def test_turns():
            return app.converse(app.TICKET)

        @robust(mutate="role:system", mutations=4)
        def test_two_calls():
            return [app.sort(app.TICKET), app.sort(app.LOGIN)]

        def test_noted():
            for each in texts[:2]:
                plain, mutated = each[:2], each[2:]
                assert plain == [[app.SYSTEM]] * 2  # the repeat run is free
                pairs = list(zip(mutated[::2], mutated[1::2]))
                assert len(pairs) == 4
                assert all(first == second != [app.SYSTEM] for first, second in pairs)
                assert len({first[0] for first, _ in pairs}) == 4
        """,
        "--promptfuzz-mode=live",
    )
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["2 robust tests: 2 passed; 20 calls *"])


def test_the_application_sees_nothing_of_it_and_brittle_words_are_found(application):
    result = application(
        """
        @robust(mutate="role:user", operators=["upper-case"], mutations=1)
        def test_upper(monkeypatch):
            said = []
            create = app.client.chat.completions.create
            def note(**arguments):
                said.append(arguments["messages"][1]["content"])
                return create(**arguments)
            monkeypatch.setattr(app.client.chat.completions, "create", note)
            app.sort(app.TICKET)
            assert said == [app.TICKET]

        @robust(mutate="role:system", operators=["drop-terminal-punctuation", "double-space"], mutations=2)
        def test_moody(monkeypatch):
            from pytest_promptfuzz.targets.simulated.target import SimulatedModel
            from dataclasses import replace
            answer = SimulatedModel.answer
            def moody(self, request, **more):
                found = answer(self, request, **more)
                changed = request.messages[0]["content"] != app.SYSTEM
                return replace(found, text="OTHER") if changed else found
            monkeypatch.setattr(SimulatedModel, "answer", moody)
            return app.sort(app.TICKET)
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    assert summary_of(result) == {"test_moody": "brittle", "test_upper": "pass"}


@pytest.mark.parametrize(
    ("mark", "body", "messages"),
    [
        (
            'mutate="role:system"',
            "return [app.sort(app.TICKET), app.sort(app.TICKET, app.TRANSLATE)]",
            [
                "*the baseline's requests hold 2 different system texts. Say which is meant with call=0*",
                "*call 0 (m): system 'You sort support tickets. *', user 'I was charged twice*",
                "*call 1 (m): system 'Translate the text *', user 'I was charged twice*",
            ],
        ),
        (
            'mutate="role:user", match="password"',
            "return app.sort(app.TICKET)",
            [
                "*no request of the baseline holds a user text that matches 'password'. Seen:*",
                "*call 0 (m): system*",
            ],
        ),
        (
            'mutate="role:user", call=2',
            "return app.sort(app.TICKET)",
            ["*call=2, and the baseline's calls are numbered from 0 to 0. Seen:*"],
        ),
        (
            'mutate="role:system"',
            "return 3",
            [
                "*mutates what the application asks. No model call was seen. The plugin follows requests through httpx*"
            ],
        ),
        (
            'mutate="role:system"',
            "import requests, grpc\n    return 3",
            ["*which the SDKs use. Requests of grpc cannot be noticed. Let the application ask*"],
        ),
        (
            'mutate="role:system"',
            "return app.client.responses.create(model='m', input=app.TICKET).output_text",
            ["*no request of the baseline holds a system text. Seen:*", "*call 0 (m): user 'I was charged*"],
        ),
        (
            'mutate="role:assistant"',
            "return 3",
            ["*mutate='role:assistant' is not one of role:system*"],
        ),
        ('mutate="role:system", call=-1', "return 3", ["*call=-1 is not the index of a call*"]),
        ('mutate="role:system", match="["', "return 3", ["*match='[[]' is no regular expression: *"]),
        (
            'mutate="app.SYSTEM", call=0',
            "return 3",
            ["*call=0 says which request is meant, and mutate='app.SYSTEM'*"],
        ),
    ],
)
def test_what_cannot_be_told_is_an_error_that_lists_what_was_seen(application, mark, body, messages):
    result = application(f"@robust({mark}, mutations=2)\ndef test_refused():\n    {body}\n", grpc="")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(messages)


def test_pins(application):
    result = application(
        """
        texts = []

        @pytest.fixture(autouse=True)
        def noted(monkeypatch):
            texts.append(seen(monkeypatch))

        def both():
            return [app.sort(app.TICKET), app.sort(app.TICKET, app.TRANSLATE)]

        @robust(mutate="role:system", mutations=3, call=1)
        def test_call():
            return both()[0]

        @robust(mutate="role:system", mutations=3, match="^Translate")
        def test_match():
            return both()[0]

        @robust(mutate="role:user", mutations=3, call=1, match="password")
        def test_turn():
            return app.converse(app.TICKET)

        def test_noted():
            for each in texts[:2]:
                assert [system for (system,) in each].count(app.SYSTEM) == 1  # asked once, then served
                others = [system for (system,) in each if system != app.SYSTEM]
                assert others[0] == app.TRANSLATE
                assert len(set(others)) == 4
        """,
        "--promptfuzz-mode=live",
    )
    result.assert_outcomes(passed=4)


def test_a_text_that_differs_each_time_is_not_exercised_and_its_path_named(application):
    result = application(
        """
        import functools

        @robust(mutate="role:system", mutations=3)
        def test_numbered():
            return app.sort(app.TICKET, f"{app.SYSTEM}\\n\\nRequest no {next(app.numbers)}")

        @functools.lru_cache
        def sorted_once(text):
            return app.sort(text)

        @robust(mutate="role:system", mutations=3)
        def test_cached():
            return sorted_once(app.TICKET)

        @robust(mutate="role:system", mutations=3)
        def test_later():
            count = next(app.numbers)
            return app.sort(app.TICKET, app.SYSTEM if count < first + 2 else f"{app.SYSTEM} ({count})")

        @pytest.fixture(autouse=True)
        def counted():
            global first
            first = next(app.numbers) + 1
        """
    )
    result.assert_outcomes(errors=3)
    assert set(summary_of(result).values()) == {"inconclusive"}
    result.stdout.fnmatch_lines(
        [
            "*another text at $.messages[[]0[]].content when it ran again *: the text holds a date,*",
            "*the application keeps answers itself, so a mutation of the text at*",
            "*No request of this run held the text that was to be replaced*",
        ]
    )


def test_requests_that_cannot_be_changed_are_refused_with_a_way_out(application):
    result = application(
        """
        import httpx2

        BODY = {"model": "m", "messages": app.messages(app.SYSTEM, app.TICKET)}

        def post(server, headers, content=None, system=app.SYSTEM):
            body = content or json.dumps({"model": "m", "messages": app.messages(system, app.TICKET)})
            url = f"{server.openai_url}/chat/completions"
            headers = {"content-type": "application/json", **headers}
            return httpx2.post(url, content=body, headers=headers).text[:0] + "BILLING"

        @robust(mutate="role:system", mutations=2)
        def test_signed(promptfuzz_server):
            return post(promptfuzz_server, {"authorization": "AWS4-HMAC-SHA256 Credential=x"})

        @robust(mutate="role:system", mutations=2)
        def test_encoded(promptfuzz_server):
            return post(promptfuzz_server, {"content-encoding": "snappy"}, b"?")

        @robust(mutate="role:system", match="You sort", mutations=2)
        def test_another_is_signed(promptfuzz_server):
            post(promptfuzz_server, {"authorization": "AWS4-HMAC-SHA256 Credential=x"}, None, app.TRANSLATE)
            return post(promptfuzz_server, {})
        """.replace("import httpx2", "import httpx2, json")
    )
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*::test_signed: mutate='role:system': The request to * is signed, and its*promptfuzz_proxy*",
            "*::test_encoded: mutate='role:system' mutates * is encoded with snappy,*plain JSON, or name*",
            "test_it.py::test_another_is_signed   pass *",
        ]
    )


def test_trials_run_at_once_and_do_not_mix(application):
    result = application(
        """
        import asyncio

        @pytest.mark.asyncio
        @robust(mutate="role:system", mutations=6)
        async def test_at_once(monkeypatch):
            return await asyncio.gather(*[app.asort(text) for text in (app.TICKET, app.LOGIN)])
        """
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 robust test: 1 passed; 14 calls *"])
    result.stdout.no_fnmatch_line("*in sequence*")


PROGRAM = """
import json, os, sys, urllib.request
SYSTEM = "Classify the message as billing, shipping or technical. Answer with one word only."

def ask(text, system=SYSTEM):
    said = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    body = json.dumps({"model": "m", "messages": said}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer none"}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]

if __name__ == "__main__":
    for line in sys.stdin:
        print(ask(line), flush=True)
"""
PROXIED = """
import os, subprocess, sys
import pytest
import program
from pytest_promptfuzz import robust

def started(environment, **more):
    return subprocess.Popen(
        [sys.executable, program.__file__], env={**os.environ, **environment}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more
    )

def answer(process):
    process.stdin.write("Where is my parcel?\\n")
    process.stdin.flush()
    return process.stdout.readline().strip()

@robust(mutate="role:system", mutations=3)
def test_a_process_for_each_run(promptfuzz_proxy):
    with started(promptfuzz_proxy.environment) as process:
        said = answer(process)
        process.stdin.close()
    assert said == "shipping"
    return said

@pytest.fixture(scope="module")
def service(promptfuzz_proxy):
    with started(promptfuzz_proxy.environment) as process:
        yield process
        process.stdin.close()

@robust(mutate="role:user", mutations=3, seed=4)
def test_a_process_that_was_there_before(service):
    return answer(service)

@robust(mutate="role:system", mutations=3)
def test_in_this_process(promptfuzz_proxy, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_proxy.openai)
    return program.ask("Where is my parcel?")
"""
UNSEEN = """
import subprocess, sys
import program
from pytest_promptfuzz import robust

@robust(mutate="role:system", mutations=2)
def test_urllib(promptfuzz_server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)
    return program.ask("Where is my parcel?")

@robust(program.SYSTEM, mutations=2)
def test_given(promptfuzz_server, prompt, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)
    return program.ask("Where is my parcel?", prompt.text)

@robust(mutate="role:system", mutations=2)
def test_process():
    return subprocess.run([sys.executable, "-c", "print('billing')"], capture_output=True, text=True).stdout
"""


def test_applications_of_any_library_in_any_process_through_the_proxy(project):
    first = project(PROXIED, program=PROGRAM)
    first.assert_outcomes(passed=3)
    assert set(summary_of(first).values()) == {"pass"}
    first.stdout.fnmatch_lines(["3 robust tests: 3 passed; 11 calls *"])
    again = project(PROXIED, program=PROGRAM)
    again.assert_outcomes(passed=3)
    again.stdout.fnmatch_lines(["3 robust tests: 3 passed; 0 calls *"])


def test_a_model_asked_unseen_is_an_error_that_offers_the_proxy(project):
    result = project(UNSEEN, program=PROGRAM)
    result.assert_outcomes(errors=3)
    seen = "*a model was asked through urllib (POST 127.0.0.1/v1/chat/completions). *promptfuzz_proxy*serve --proxy URL*"
    result.stdout.fnmatch_lines([seen, seen, "*Not followed: subprocess (python*promptfuzz_proxy*"])


def test_a_baseline_without_a_model_call_passes_and_says_what_was_begun(project):
    result = project(
        """
        import httpx

        def answer(prompt):
            return "billing"

        @robust(TRIAGE, mutations=2)
        def test_pure(prompt):
            return answer(str(prompt))

        @robust(TRIAGE, inputs=[TICKET], mutations=2, target=answer)
        def test_target(response):
            assert response == "billing"

        @robust(TRIAGE, mutations=2)
        def test_logging(prompt, promptfuzz_server):
            httpx.post(f"{promptfuzz_server.url}/logs", json={})
            return answer(str(prompt))

        @robust(TRIAGE, mutations=2)
        def test_ignored(prompt):
            return answer("always the same")
        """,
        "-o",
        "promptfuzz_target=",
    )
    result.assert_outcomes(passed=3, errors=1)
    said = " ".join(result.stdout.str().split())
    assert said.count("No model call was seen") == 1
    assert "httpx (POST 127.0.0.1/logs)." in said
    assert summary_of(result)["test_ignored"] == "inconclusive"


def test_endpoints_of_another_protocol(project, pytester):
    ini = pytester.path / "pytest.ini"
    source = """
        import http.server, threading
        import httpx2, json
        import pytest

        @pytest.fixture(scope="module")
        def url():
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    said = json.loads(self.rfile.read(int(self.headers["content-length"])))
                    answer = json.dumps({"result": "BILLING" if "label" in said["rules"].lower() else "?"}).encode()
                    self.send_response(200)
                    self.send_header("content-length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                def log_message(self, *_):
                    pass
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_address[1]}/sort"
            server.shutdown()
            server.server_close()

        @robust(mutate="role:system", mutations=3)
        def test_sorted(url):
            body = {"rules": "Classify the ticket. Answer with the label only, in capitals.", "prompt": TICKET}
            return httpx2.post(url, json=body).json()["result"]
    """
    before = ini.read_text()
    line = "\npromptfuzz_endpoints =\n    127.0.0.1/sort  system=$.rules"
    ini.write_text(before + line)
    result = project(source, "--promptfuzz-target=compatible:m@http://127.0.0.1:9/v1")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 robust test: 1 passed; 4 calls *"])
    # The simulated model answers in the protocol's own shape, if it is told that.
    refused = project(source)
    refused.assert_outcomes(errors=1)
    refused.stdout.fnmatch_lines(
        ["*does not know where an answer of 127.0.0.1/sort has its text (*). Add answer=$.path*"]
    )
    ini.write_text(before + line + " answer=$.result")
    simulated = project(source)
    simulated.assert_outcomes(passed=1)
    simulated.stdout.fnmatch_lines(
        ["1 robust test: 1 passed; 4 calls to the simulated model; 0 stored answers*"]
    )
    ini.write_text(before + line + "\n    x/y color=$.z\n")
    wrong = project(source)
    wrong.stderr.fnmatch_lines(["*promptfuzz_endpoints*'color=$.z' is not one of text=$.path*"])
