"""What leaves by a way that nobody follows is noticed where it begins, and refused where it must stay."""

from __future__ import annotations

import _socket
import asyncio
import contextlib
import ctypes.util
import http.client
import json
import multiprocessing
import os
import queue
import re
import shutil
import socket
import subprocess
import sys
import threading
import types
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import httpx2
import pytest

from pytest_promptfuzz.connections import exempt
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.judge import was_refused
from pytest_promptfuzz.providers.custom_protocol import parse_endpoints
from pytest_promptfuzz.providers.formats import configure
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.wire import network, network_guard
from pytest_promptfuzz.wire.network import AllowedHosts, Network
from pytest_promptfuzz.wire.network_guard import ConnectionNotAllowedError
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import Watch, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture
def server(parrot):
    with ModelServer(parrot) as running:
        yield running


def by_urllib(url: str) -> int:
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(url, data=json.dumps(BODY).encode(), headers=headers)
    with urllib.request.urlopen(request) as answer:
        return answer.status


def by_requests(url: str) -> int:
    return pytest.importorskip("requests").post(url, json=BODY, timeout=9).status_code


def by_urllib3(url: str) -> int:
    return pytest.importorskip("urllib3").PoolManager().request("POST", url, json=BODY).status


def by_aiohttp(url: str) -> int:
    aiohttp = pytest.importorskip("aiohttp")

    async def main() -> int:
        base, _, path = url.rpartition("/v1/")
        async with (
            aiohttp.ClientSession(base + "/v1/") as session,
            session.request("post", path, json=BODY) as answer,
        ):
            return answer.status

    return asyncio.run(main())


WAYS = {"urllib": by_urllib, "requests": by_requests, "urllib3": by_urllib3, "aiohttp": by_aiohttp}


@pytest.mark.parametrize("way", WAYS)
def test_a_model_asked_through_another_library_is_noticed_and_goes_its_way(server, way) -> None:
    watch = Watch()
    with intercepting(), watching(watch):
        assert WAYS[way](f"{server.openai_url}/chat/completions") == 200
    (seen,) = watch.unseen
    assert seen.by in ({way, "requests"} if way == "urllib3" else {way})
    assert (seen.what, seen.asks_model) == ("POST 127.0.0.1/v1/chat/completions", True)
    assert watch.calls == []
    # Outside a run, and for an address that is seen otherwise, nothing is noted.
    with intercepting():
        WAYS[way](f"{server.openai_url}/chat/completions")
    port = int(server.url.rpartition(":")[2])
    with intercepting(), watching(watch), exempt("127.0.0.1", port):
        WAYS[way](f"{server.openai_url}/chat/completions")
    assert len(watch.unseen) == 1


def test_connections_that_stay_open_are_noticed(server) -> None:
    aiohttp = pytest.importorskip("aiohttp")

    async def main() -> None:
        async with aiohttp.ClientSession() as session:
            for path in ("v1/realtime?model=m", "chatter"):
                with pytest.raises(aiohttp.WSServerHandshakeError):
                    await session.ws_connect(f"{server.url}/{path}")

    watch = Watch()
    with intercepting(), watching(watch):
        asyncio.run(main())
    assert [(str(each), each.asks_model, each.is_websocket) for each in watch.unseen] == [
        ("aiohttp (WebSocket 127.0.0.1/v1/realtime)", True, True),
        ("aiohttp (WebSocket 127.0.0.1/chatter)", False, True),
    ]


def test_other_requests_ask_no_model(server) -> None:
    watch = Watch()
    with intercepting(), watching(watch):
        with urllib.request.urlopen(f"{server.openai_url}/models"):
            pass
        with pytest.raises(urllib.error.HTTPError):
            by_urllib(f"{server.url}/search?messages")
    assert [(each.what, each.asks_model) for each in watch.unseen] == [("POST 127.0.0.1/search", False)]


def test_configured_addresses_are_those_of_models(server) -> None:
    watch = Watch()
    configure(parse_endpoints("*/search text=$.q"))
    try:
        with intercepting(), watching(watch), pytest.raises(urllib.error.HTTPError):
            by_urllib(f"{server.url}/search")
    finally:
        configure(())
    assert [each.asks_model for each in watch.unseen] == [True]


def nothing() -> None:
    """What a child process does."""


def by_fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def by_posix_spawn() -> None:
    os.waitpid(os.posix_spawn(TRUE, [TRUE], {}), 0)


def by_multiprocessing(method: str) -> None:
    process = multiprocessing.get_context(method).Process(target=nothing)
    process.start()
    process.join()


async def by_asyncio_process() -> None:
    await (await asyncio.create_subprocess_exec(TRUE)).wait()


TRUE = shutil.which("true") or "/bin/true"
STARTS = {
    "a list": ("true", lambda: subprocess.run([TRUE, "secret"], check=False)),
    "one word": ("true", lambda: subprocess.run(TRUE, check=False)),
    "a shell": ("true", lambda: subprocess.run("true secret", shell=True, check=False)),
    "os.system": ("true", lambda: os.system("true secret")),
    "posix_spawn": ("true", by_posix_spawn),
    "fork": ("a fork of this process", by_fork),
    "multiprocessing, forked": ("multiprocessing", lambda: by_multiprocessing("fork")),
    "multiprocessing, spawned": ("multiprocessing", lambda: by_multiprocessing("spawn")),
    "asyncio": ("true", lambda: asyncio.run(by_asyncio_process())),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("way", STARTS)
def test_processes_are_noticed_by_name(way) -> None:
    name, start = STARTS[way]
    watch = Watch()
    with intercepting(), watching(watch):
        start()
    assert {str(each) for each in watch.unseen} == {f"subprocess ({name})"}
    assert watch.network.barred == ""
    assert {(each.kind, each.to) for each in watch.network.unfollowed()} == {("process", name)}


def test_what_python_starts_to_know_the_machine_is_nobodys_call(monkeypatch) -> None:
    watch = Watch()
    with intercepting(), watching(watch):
        ctypes.util.find_library("c")
    assert watch.unseen == []


def test_everything_is_restored() -> None:
    def now() -> list[object]:
        return [http.client.HTTPConnection.putrequest, socket.getaddrinfo, asyncio.BaseEventLoop.getaddrinfo]

    before = now()
    with intercepting():
        assert not [one for one, other in zip(now(), before, strict=True) if one is other]
    assert now() == before


class Listener:
    """Counts who connects, and sends what it is sent back."""

    def __enter__(self) -> Self:
        self.accepted = 0
        self._peers: queue.Queue[int] = queue.Queue()
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        self.udp.setblocking(False)
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()
        return self

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, (_, peer) = self.tcp.accept()
                self._peers.put(peer)
                with contextlib.suppress(OSError), connection:
                    connection.recv(4096)
                    connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    def __exit__(self, *_: object) -> None:
        self.tcp.shutdown(socket.SHUT_RDWR)
        self.tcp.close()
        self.udp.close()
        self._thread.join()

    @property
    def received(self) -> int:
        """Connections and datagrams so far."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=9) as last:
            mine = last.getsockname()[1]
        while self._peers.get(timeout=9) != mine:
            self.accepted += 1
        with contextlib.suppress(BlockingIOError):
            while True:
                self.udp.recv(9)
                self.accepted += 1
        return self.accepted


def raw(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), timeout=5).close()


def without_pythons_class(port: int) -> None:
    own = _socket.socket()  # a family that is a number
    try:
        own.connect(("127.0.0.1", port))
    finally:
        own.close()


def datagram(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.sendto(b"hi", ("127.0.0.1", port))


async def opened(port: int) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()


def by_pool(port: int) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(raw, port).result()


async def by_executor(port: int) -> None:
    await asyncio.get_running_loop().run_in_executor(None, raw, port)


def in_vain(get: Callable[[str], object]) -> Callable[[int], None]:
    """An HTTP client, which this server disappoints."""

    def ask(port: int) -> None:
        try:
            get(f"http://127.0.0.1:{port}/")
        except Exception as error:
            if was_refused(error):
                raise

    return ask


async def aiohttp_get(url: str) -> None:
    aiohttp = pytest.importorskip("aiohttp")
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        await answer.read()


CONNECTS: dict[str, tuple[str, Callable[[int], None]]] = {
    "a socket": ("", raw),
    "a socket of C": ("", without_pythons_class),
    "a datagram": ("", datagram),
    "asyncio": ("asyncio", lambda port: asyncio.run(opened(port))),
    "a pool": ("", by_pool),
    "an executor": ("", lambda port: asyncio.run(by_executor(port))),
    "urllib": ("urllib", in_vain(lambda url: urllib.request.urlopen(url, timeout=5))),
    "requests": ("requests", in_vain(lambda url: pytest.importorskip("requests").get(url, timeout=5))),
    "aiohttp": ("aiohttp", in_vain(lambda url: asyncio.run(aiohttp_get(url)))),
}


@pytest.mark.parametrize("way", CONNECTS)
def test_connections_are_counted_and_refused_before_anything_leaves(way, monkeypatch) -> None:
    library, connect = CONNECTS[way]
    watch = Watch()
    with Listener() as listener:
        connect(listener.port)  # nobody is asked where no test runs
        with intercepting():
            connect(listener.port)
            with watching(watch):
                connect(listener.port)
        (found,) = watch.network.unfollowed()
        assert (found.kind, found.to, found.count) == ("connection", f"127.0.0.1:{listener.port}", 1)
        assert re.fullmatch(r"(tests/wire/)?test_wire_network_guard\.py:\d+", found.at)
        assert found.by == library
        assert watch.network.barred == "", "this machine may be reached"
        before = listener.received
        # From here on this machine counts as another one.
        monkeypatch.setattr(network, "is_local", lambda host: False)
        other = Watch(network=Network(confined="a replayed test"))
        with intercepting(), watching(other), pytest.raises(Exception, match=r".") as caught:
            connect(listener.port)
        assert was_refused(caught.value)
        assert listener.received == before, "nothing has left"
        assert f"127.0.0.1:{listener.port}" in other.refused[0]
        assert other.refused[0].endswith(f"allow it: promptfuzz_allow_hosts = 127.0.0.1:{listener.port}")
        assert other.network.unfollowed() == ()
        allowed = Watch(
            network=Network(AllowedHosts.parse(f"127.*:{listener.port}"), confined="a replayed test")
        )
        with intercepting(), watching(allowed):
            connect(listener.port)
        assert (allowed.network.unfollowed()[0].count, allowed.network.barred) == (1, "")
        free = Watch()
        with intercepting(), watching(free):
            connect(listener.port)
        assert f"127.0.0.1:{listener.port}" in free.network.barred


@pytest.mark.parametrize(
    ("lookup", "refused"),
    [
        (lambda: socket.getaddrinfo("model.example.com", 443), True),
        (lambda: socket.gethostbyname("model.example.com"), True),
        (lambda: asyncio.run(opened_by_name("model.example.com")), True),
        (lambda: socket.getaddrinfo("localhost", 443), False),
        (lambda: socket.getaddrinfo("192.0.2.1", 443), False),
        (lambda: socket.getaddrinfo(None, 443), False),
        (socket.getfqdn, False),
    ],
)
def test_names_of_other_machines_are_not_asked_for(lookup, refused) -> None:
    watch = Watch(network=Network(confined="a replayed test"))
    with intercepting(), watching(watch):
        if refused:
            with pytest.raises(
                ConnectionNotAllowedError, match=r"model\.example\.com.*promptfuzz_allow_hosts"
            ):
                lookup()
        else:
            lookup()


async def opened_by_name(name: str) -> None:
    await asyncio.open_connection(name, 443)


def test_an_address_counts_as_the_name_that_led_to_it(monkeypatch) -> None:
    monkeypatch.setattr(network, "is_local", lambda host: False)
    monkeypatch.setattr(network_guard, "is_local", lambda host: False)
    monkeypatch.setattr(network_guard, "_looked_up", {})
    with Listener() as listener:
        given = AllowedHosts.parse(f"local*:{listener.port}, other.example.com")
        watch = Watch(network=Network(given, confined="a replayed test"))
        with intercepting(), watching(watch):
            with pytest.raises(ConnectionNotAllowedError):
                raw(listener.port)
            socket.create_connection(("localhost", listener.port), timeout=5).close()
            raw(listener.port)
    assert watch.network.unfollowed()[0].to == f"localhost:{listener.port}"


def test_hosts_are_read() -> None:
    hosts = AllowedHosts.parse("DB.internal:5432, *.corp\n[::1]:80 ::2 10.0.0.1")
    known = [("db.internal", 5432), ("a.b.corp", 1), ("::1", 80), ("::2", 9), ("10.0.0.1", 443)]
    unknown = [("db.internal", 5433), ("corp", 1), ("::1", 81), ("10.0.0.10", 443)]
    assert [each for each in known if not hosts.has([each[0]], each[1])] == []
    assert [each for each in unknown if hosts.has([each[0]], each[1])] == []
    assert hosts.has(["10.2.3.4", "Db.Internal"], 5432)
    again = AllowedHosts.parse("[2001:DB8:0::1]:443 db.corp.")
    assert again.has(["2001:db8::1"], 443)
    assert again.has(["DB.corp."], 1)
    for wrong in ("10.0.0.0/8", "https://db.internal", "db:port", "db:", ":80", "db:0", "db:70000", "a/b"):
        with pytest.raises(UsageError, match=r"is no host: write db\.internal, db\.internal:5432"):
            AllowedHosts.parse(f"fine.example.com {wrong}")


def test_what_is_followed_is_not_counted(server) -> None:
    watch = Watch()

    async def both() -> None:
        for library in (httpx, httpx2):
            async with library.AsyncClient() as client:
                url = f"{server.openai_url.replace('127.0.0.1', 'localhost')}/chat/completions"
                await client.post(url, json=BODY)

    def by_trio() -> None:
        trio = pytest.importorskip("trio")
        trio.run(both)

    url = f"{server.openai_url}/chat/completions"
    with httpx.Client() as early:
        early.post(url, json=BODY)
        with intercepting(), watching(watch):
            early.post(url, json=BODY)
            for library in (httpx, httpx2):
                library.post(url, json=BODY)
                with ThreadPoolExecutor(1) as pool:
                    pool.submit(library.post, url, json=BODY).result()
            asyncio.run(both())
            by_trio()
            one, other = socket.socketpair()
            one.close()
            other.close()
    assert (watch.network.unfollowed(), watch.network.barred) == ((), "")


def test_requests_of_followed_libraries_that_ask_no_model_are_counted(server) -> None:
    watch = Watch()
    with intercepting(), watching(watch):
        httpx.get(f"{server.url}/v1/models")
        httpx2.put(f"{server.url}/ask", json=BODY)
        httpx.post(f"{server.openai_url}/chat/completions", data={"q": "mood"})
    (found,) = watch.network.unfollowed()
    assert (found.kind, found.to, found.count) == ("request", server.url.removeprefix("http://"), 3)
    assert watch.network.barred == ""


def by_name() -> None:
    with socket.socket() as own:
        own.connect(("model.example.com", 443))


def by_proxy(url: str, proxy: str) -> None:
    given = urllib.request.ProxyHandler({"http": proxy, "https": proxy})
    urllib.request.build_opener(given).open(url, b"{}", 5)


@pytest.mark.parametrize(
    ("reach", "to"),
    [
        (lambda _: by_name(), "model.example.com"),
        (lambda _: socket.create_connection(("2001:db8::1", 443), 5), r"\[2001:db8::1\]:443"),
        (
            lambda port: by_proxy("http://model.example.com/ask", f"http://127.0.0.1:{port}"),
            "model.example.com:80",
        ),
        (
            lambda port: by_proxy("https://model.example.com/", f"http://127.0.0.1:{port}"),
            "model.example.com",
        ),
    ],
)
def test_what_leads_elsewhere_in_another_way_is_refused_before_anything_leaves(reach, to) -> None:
    watch = Watch(network=Network(confined="a replayed test"))
    with Listener() as listener:
        with (
            intercepting(),
            watching(watch),
            pytest.raises(OSError, match=f"{to}.* was refused"),
        ):
            reach(listener.port)
        assert re.search(f"{to}$", watch.refused[0])
        assert listener.received == 0


def test_a_name_that_is_looked_up_bars_the_recording_that_a_replay_would_refuse(monkeypatch) -> None:
    monkeypatch.setattr(network, "_named_here", lambda: frozenset({"db.local"}))
    for name, barred in (("leads.home.example.com", True), ("db.local", False), ("LOCALHOST.", False)):
        watch = Watch()
        with intercepting(), watching(watch), contextlib.suppress(OSError):
            socket.getaddrinfo(name, 5432)
        assert (name in watch.network.barred) == barred, name


def test_a_connection_that_was_open_before_is_seen_by_its_requests(server, monkeypatch) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port))
    connection.request("GET", "/v1/models")
    connection.getresponse().read()
    watch = Watch()
    with intercepting(), watching(watch):
        for _ in range(2):
            connection.request("POST", "/v1/search", b"{}", {"content-type": "application/json"})
            connection.getresponse().read()
    (found,) = watch.network.unfollowed()
    assert (found.kind, found.to, found.count, found.by) == ("request", f"{host}:{port}", 2, "urllib")
    monkeypatch.setattr(network, "is_local", lambda host: False)
    before = len(server.requests)
    watch = Watch(network=Network(confined="a replayed test"))
    with intercepting(), watching(watch), pytest.raises(ConnectionNotAllowedError):
        connection.request("GET", "/v1/models")
    assert len(server.requests) == before
    connection.close()


def test_threads_that_lost_their_context_belong_to_the_test_that_began_them() -> None:
    astray: list[network.Unfollowed] = []
    one, other = (Watch(network=Network(astray=astray)) for _ in range(2))
    ready, go = threading.Event(), threading.Event()

    def later() -> None:
        ready.set()
        go.wait(9)
        raw(listener.port)

    with Listener() as listener, intercepting():
        for concurrent in (True, False):
            with watching(one):
                thread = threading.Thread(target=later)
                thread.start()
                ready.wait(9)
                if concurrent:
                    with contextlib.ExitStack() as stack:
                        stack.enter_context(watching(other))
                        go.set()
                        thread.join()
            go.set()
            thread.join()
            ready.clear()
            go.clear()
        assert [each.count for each in one.network.unfollowed()] == [2]
        assert (other.network.unfollowed(), astray) == ((), [])
        # Nobody knows whose it is; or the report is made.
        stray = threading.Thread(target=raw, args=[listener.port])
        with contextvars_free(stray, one, other):
            pass
        one.network.over = True
        with watching(one):
            raw(listener.port)
    assert [(each.kind, each.count) for each in astray] == [("connection", 1)] * 2
    # While it belongs to nobody, each test that ran counts it; a test that begins later does not.
    assert [each.count for each in one.network.unfollowed()] == [2 + 2]
    assert [each.count for each in other.network.unfollowed()] == [2]
    assert Network(astray=astray).unfollowed() == ()


@contextlib.contextmanager
def contextvars_free(thread: threading.Thread, *watches: Watch) -> Iterator[None]:
    """Two tests run, and a thread of neither."""
    go = threading.Event()
    run = thread.run
    thread.run = lambda: (go.wait(9), run())  # type: ignore[method-assign]
    thread.start()
    with watching(watches[0]), watching(watches[1]):
        go.set()
        thread.join()
        yield


def test_libraries_with_sockets_of_their_own_are_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc", types.ModuleType("grpc"))
    assert [(each.kind, each.to) for each in Network().unfollowed(simulated=True)] == [("library", "grpc")]
    assert Network().unfollowed() == ()


def test_the_hook_is_one_however_often_it_is_needed(monkeypatch) -> None:
    added: list[object] = []
    monkeypatch.setattr(sys, "addaudithook", added.append)
    watch = Watch()
    with Listener() as listener:
        for _ in range(3):
            with intercepting(), intercepting(), watching(watch):
                raw(listener.port)
    assert added == []
    assert watch.network.unfollowed()[0].count == 3
