"""Models fetched from a server that answers as the Hugging Face hub does: shown, asked for, checked, never half there."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.errors import ConfigurationError
from pytest_promptfuzz.judging import installation
from pytest_promptfuzz.judging.encoders import entailment_of
from pytest_promptfuzz.judging.installation import HUB_MODELS, download, look_up
from pytest_promptfuzz.judging.models import find_entailment
from tests.judging.tiny_entailment import make_tiny

REVISION = "b95119ce93d3e065de6214e38cd4a97b0f2f2c6d"
LARGE = 10_000
"""Files from this size on are large files of git, as on the hub."""


class Hub:
    """The files of one repository, and what goes wrong with them.

    Attributes:
        files: By path.
        broken: What is sent instead of a file, by path.
        status: What every answer has instead of 200.
        card: What the model's page says.
        asked: The paths of all requests.
    """

    def __init__(self, repository: str, files: dict[str, bytes]) -> None:
        self.repository = repository
        self.files = files
        self.broken: dict[str, bytes] = {}
        self.listing: dict[str, dict[str, object]] = {}
        self.status = 200
        self.card: dict[str, object] = {"sha": REVISION, "cardData": {"license": "apache-2.0"}}
        self.asked: list[str] = []

    def answer(self, path: str) -> bytes | None:
        """The body for a path; ``None`` for none."""
        self.asked.append(path)
        if path == f"/api/models/{self.repository}/revision/main":
            return json.dumps(self.card).encode()
        if path == f"/api/models/{self.repository}/tree/{REVISION}?recursive=true":
            return json.dumps([{"type": "directory", "path": "onnx"}, *map(self.listed, self.files)]).encode()
        name = path.removeprefix(f"/{self.repository}/resolve/{REVISION}/")
        return self.broken.get(name, self.files.get(name))

    def listed(self, name: str) -> dict[str, object]:
        """A row of the list of files."""
        data = self.files[name]
        if len(data) < LARGE:
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
            row: dict[str, object] = {"oid": blob, "size": len(data)}
        else:
            large = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 133}
            row = {"oid": "0" * 40, "size": len(data), "lfs": large}
        return {"type": "file", "path": name, **row, **self.listing.get(name, {})}


@pytest.fixture
def serve(monkeypatch):
    """Serve a hub at HF_ENDPOINT."""
    servers = []

    def start(served: Hub) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = served.answer(self.path)
                self.send_response(served.status if body is not None else 404)
                body = body or b"Entry not found"
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("HF_ENDPOINT", url + "/")
        return url

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def no_models(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PROMPTFUZZ_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv("PROMPTFUZZ_ENTAILMENT", raising=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    folder = make_tiny(tmp_path_factory.mktemp("tiny"), order=("contradiction", "entailment", "neutral"))
    return {
        "README.md": b"not needed",
        "config.json": (folder / "config.json").read_bytes(),
        "onnx/model.onnx": (folder / "model.onnx").read_bytes(),
        "tokenizer.json": (folder / "tokenizer.json").read_bytes(),
        "tokenizer_config.json": b'{"model_max_length": 48}',
    }


@pytest.fixture
def entailment_hub(files) -> Hub:
    return Hub("cross-encoder/nli-MiniLM2-L6-H768", dict(files))


def flat(text: str) -> str:
    return " ".join(text.split())


def test_size_source_and_licence_are_shown_before_anything_is_fetched(
    serve, entailment_hub, monkeypatch, capsys, tmp_path
) -> None:
    url = serve(entailment_hub)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    asked: list[str] = []
    for answer in ("", "n", "no"):
        monkeypatch.setattr("builtins.input", lambda text, answer=answer: asked.append(text) or answer)
        assert main(["model", "install", "entailment"]) == 1
        text = flat(capsys.readouterr().out)
        size = sum(len(data) for name, data in entailment_hub.files.items() if name != "README.md") / 1e6
        assert f"cross-encoder/nli-MiniLM2-L6-H768: {size:.1f} MB (config.json, tokenizer.json," in text
        assert f"from {url}/cross-encoder/nli-MiniLM2-L6-H768, revision b95119ce93d3." in text.replace(
            "- ", "-"
        )
        assert "Licence, as its page says: apache-2.0." in text
        assert text.endswith("Nothing was downloaded.")
    assert asked == ["Download it? [y/N] "] * 3
    assert all(path.startswith("/api/") for path in entailment_hub.asked)
    assert not (tmp_path / "models").exists()
    monkeypatch.setattr("builtins.input", lambda _: "y")
    assert main(["model", "install", "entailment"]) == 0
    assert "Installed in" in capsys.readouterr().out


def test_what_is_fetched_is_installed_and_measured(serve, entailment_hub, capsys, tmp_path) -> None:
    serve(entailment_hub)
    assert main(["model", "install", "entailment", "--yes"]) == 0
    assert "0 % (95 %: 0 to 3 %) of the labels are wrong." in flat(capsys.readouterr().out)
    target = tmp_path / "models" / "entailment"
    assert {each.name for each in target.iterdir()} == {
        "config.json",
        "model.onnx",
        "promptfuzz-model.json",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert find_entailment().label == "nli-MiniLM2-L6-H768 (onnxruntime)"
    model = entailment_of(find_entailment())
    # Its tokenizer says how much it reads.
    assert [each.truncated for each in model.scores([("plan " * 44, "key"), ("plan " * 45, "key")])] == [
        False,
        True,
    ]
    assert [each.name for each in target.parent.iterdir()] == ["entailment"]
    assert not any("README" in path for path in entailment_hub.asked)
    assert main(["model", "install", "entailment", "--yes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["folder"], found["errors"][-1]["pairs"]) == (str(target), 63)


def test_a_damaged_download_leaves_what_was_there(serve, entailment_hub, capsys, tmp_path) -> None:
    serve(entailment_hub)
    assert main(["model", "install", "entailment", "--yes"]) == 0
    installed = {each.name: each.read_bytes() for each in (tmp_path / "models" / "entailment").iterdir()}
    whole = entailment_hub.files["onnx/model.onnx"]
    small = entailment_hub.files["tokenizer_config.json"]
    for name, sent, said in (
        ("onnx/model.onnx", whole[:-1], "bytes by the hub's list, and"),
        ("onnx/model.onnx", whole + b"x", "and more came"),
        ("onnx/model.onnx", whole[:-1] + b"x", "its checksum is another one"),
        ("tokenizer_config.json", small.replace(b"48", b"49"), "its checksum is another one"),
    ):
        entailment_hub.broken = {name: sent}
        capsys.readouterr()
        assert main(["model", "install", "entailment", "--yes"]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert "Nothing was installed. Try again later, or get config.json, tokenizer.json" in error
        assert "promptfuzz model install --entailment FOLDER" in error
    # Whole, and of the right size, and yet no model.
    nonsense = b"\1" * len(whole)
    entailment_hub.broken, entailment_hub.files["onnx/model.onnx"] = {}, nonsense
    assert main(["model", "install", "entailment", "--yes"]) == 2
    assert "cannot be loaded" in capsys.readouterr().err
    assert {
        each.name: each.read_bytes() for each in (tmp_path / "models" / "entailment").iterdir()
    } == installed
    assert [each.name for each in (tmp_path / "models").iterdir()] == ["entailment"]


def test_an_interrupted_download_leaves_nothing(serve, entailment_hub, tmp_path) -> None:
    serve(entailment_hub)
    offer = look_up("entailment")

    def interrupt(came: int) -> None:
        if came > len(entailment_hub.files["config.json"]):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        installation.install_from_hub(offer, "entailment", interrupt)
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"card": {}}, "names no revision of cross-encoder"),
        ({"card": {"sha": "../../evil"}}, "names no revision"),
        ({"card": []}, "names no revision"),
        ({"status": 503}, "answers with 503"),
        ({"files": {}}, r"has no file config\.json with size and checksum"),
        ({"listing": {"config.json": {"oid": "short"}}}, r"has no file config\.json"),
        ({"listing": {"config.json": {"size": 10**12}}}, r"has no file config\.json"),
        ({"listing": {"config.json": {"size": "5"}}}, r"has no file config\.json"),
        (
            {"listing": {"onnx/model.onnx": {"lfs": {"oid": "ab", "size": 3}}}},
            r"has no file onnx/model\.onnx",
        ),
    ],
)
def test_what_is_no_hub_is_refused(serve, entailment_hub, change, said) -> None:
    serve(entailment_hub)
    for name, value in change.items():
        setattr(entailment_hub, name, value)
    with pytest.raises(ConfigurationError, match=said) as raised:
        look_up("entailment")
    assert "Nothing was installed." in str(raised.value)


@pytest.mark.usefixtures("needs_onnx")
def test_an_address_that_does_not_answer(monkeypatch, capsys) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert main(["model", "install", "minilm", "--yes"]) == 2
    error = capsys.readouterr().err
    assert (
        "http://127.0.0.1:9/api/models/sentence-transformers/all-MiniLM-L6-v2/revision/main cannot be read"
        in error
    )
    assert (
        "get tokenizer.json, onnx/model.onnx of sentence-transformers/all-MiniLM-L6-v2 on another machine"
        in error
    )
    for wrong in ("file:///etc", "huggingface.co", "http:///x"):
        monkeypatch.setenv("HF_ENDPOINT", wrong)
        with pytest.raises(ConfigurationError, match="is no address"):
            look_up("minilm")


def test_a_page_that_is_no_list(serve, entailment_hub, monkeypatch) -> None:
    serve(entailment_hub)
    monkeypatch.setattr(entailment_hub, "answer", lambda _: b"<html>")
    with pytest.raises(ConfigurationError, match="is not JSON, so it is no address of the hub"):
        look_up("entailment")
    monkeypatch.setattr(entailment_hub, "answer", lambda _: b" " * (9 << 20))
    with pytest.raises(ConfigurationError, match="longer than a list of files can be"):
        look_up("entailment")


def test_nobody_to_be_asked_and_no_library(monkeypatch, capsys, serve, entailment_hub) -> None:
    serve(entailment_hub)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    for arguments in ([], ["--json"]):
        assert main(["model", "install", "entailment", *arguments]) == 2
        assert "Add --yes to download without asking." in capsys.readouterr().err
    monkeypatch.setattr("pytest_promptfuzz.judging.models.has_onnx", lambda: False)
    assert main(["model", "install", "entailment", "--yes"]) == 2
    assert "pytest-promptfuzz[onnx]" in capsys.readouterr().err
    assert entailment_hub.asked == []


def test_a_folder_of_the_name_is_not_taken_for_the_model(
    serve, entailment_hub, monkeypatch, capsys, tmp_path
) -> None:
    serve(entailment_hub)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "entailment").mkdir()
    assert main(["model", "install", "entailment", "--yes"]) == 0
    assert "To install the folder entailment of this directory instead, write ./entailment." in flat(
        capsys.readouterr().out
    )
    (tmp_path / "minilm").mkdir()
    assert main(["model", "install", "./minilm"]) == 2
    assert "minilm holds no exported model" in capsys.readouterr().err


def test_the_licence_is_what_the_page_says(serve, entailment_hub) -> None:
    serve(entailment_hub)
    for card, said in (
        ({"sha": REVISION, "tags": ["onnx", "license:mit"]}, "mit"),
        ({"sha": REVISION, "cardData": None, "tags": [3]}, ""),
        ({"sha": REVISION, "cardData": {"license": ["a"]}}, ""),
    ):
        entailment_hub.card = card
        assert look_up("entailment").license == said


def test_other_models_are_installed_from_the_hub_only_where_they_are_what_they_say(
    serve, files, capsys, tmp_path
) -> None:
    serve(Hub(HUB_MODELS["minilm"].repository, {name: files[name] for name in HUB_MODELS["minilm"].files}))
    assert main(["model", "install", "minilm", "--yes"]) == 2
    assert "all-MiniLM-L6-v2" in capsys.readouterr().err
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.minilm
def test_minilm_from_the_hub(serve, exported_minilm, capsys, tmp_path) -> None:
    served = {
        "tokenizer.json": (exported_minilm / "tokenizer.json").read_bytes(),
        "onnx/model.onnx": (exported_minilm / "model.onnx").read_bytes(),
    }
    serve(Hub(HUB_MODELS["minilm"].repository, served))
    assert main(["model", "install", "minilm", "--yes"]) == 0
    assert "MB (tokenizer.json, onnx/model.onnx)" in flat(capsys.readouterr().out)
    assert [each.name for each in (tmp_path / "models").iterdir()] == ["all-MiniLM-L6-v2"]


def test_progress_tells_what_has_come(serve, entailment_hub, tmp_path) -> None:
    serve(entailment_hub)
    offer = look_up("entailment")
    came: list[int] = []
    download(offer, "entailment", tmp_path / "here", came.append)
    assert came[-1] == offer.size == sum(each.size for each in offer.files)
    assert (tmp_path / "here" / "onnx" / "model.onnx").read_bytes() == entailment_hub.files["onnx/model.onnx"]
    assert installation.ENDPOINT == "https://huggingface.co"
