"""The fixture gives each test a server of its own and takes it down afterwards."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def test_a_server_for_each_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import json, urllib.request

        URLS = set()

        def ask(server):
            body = {"model": "m", "messages": [{"role": "user", "content": "Classify as spam or ham: lunch tomorrow?"}]}
            URLS.add(server.url)
            url, headers = server.openai_url + "/chat/completions", {"content-type": "application/json"}
            request = urllib.request.Request(url, json.dumps(body).encode(), headers)
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)["choices"][0]["message"]["content"]

        def test_one(promptfuzz_server):
            assert ask(promptfuzz_server) == "ham"
            assert promptfuzz_server.calls == 1

        def test_two(promptfuzz_server):
            assert ask(promptfuzz_server) == "ham"
            assert promptfuzz_server.calls == 1
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:asyncio").assert_outcomes(passed=2)
    assert [each.name for each in threading.enumerate() if each.name == "promptfuzz-server"] == []
