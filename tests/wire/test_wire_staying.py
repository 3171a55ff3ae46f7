"""A thread that stores much keeps its connection; others close theirs after each use."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.storage.answers import StoredAnswer
from pytest_promptfuzz.storage.disk_store import ResponseStore

if TYPE_CHECKING:
    from pathlib import Path


def answer(text: str) -> StoredAnswer:
    return StoredAnswer("http://x/v1/chat/completions", {}, 200, "application/json", text, 0.0)


@pytest.mark.parametrize("stays", [False, True])
def test_connections_of_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stays: bool) -> None:
    diskcache = pytest.importorskip("diskcache")
    store = ResponseStore(tmp_path)
    store.put("a", answer("{}"))
    closed: list[int] = []
    close = diskcache.Cache.close

    def counted(self: Any) -> None:
        if getattr(self._local, "con", None) is not None:
            closed.append(threading.get_ident())
        close(self)

    monkeypatch.setattr(diskcache.Cache, "close", counted)

    def work() -> None:
        for number in range(5):
            store.put(f"key-{number}", answer("{}"))

    def staying() -> None:
        with store.staying():
            work()

    thread = threading.Thread(target=staying if stays else work)
    thread.start()
    thread.join()
    assert len(closed) == (1 if stays else 5)
    assert store.get("key-4") == answer("{}")
    store.close()
