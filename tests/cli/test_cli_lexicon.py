"""``promptfuzz lexicon`` as a person uses it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_promptfuzz.cli.main import main

sys.path.append(str(Path(__file__).parents[1] / "assisting"))
from tests.assistance.wordnet_samples import write_english, write_french


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROMPTFUZZ_LEXICONS", str(tmp_path / "lexicons"))
    monkeypatch.chdir(tmp_path)
    write_english(tmp_path / "tiny.xml")
    write_french(tmp_path / "petit.xml")
    return tmp_path


def test_install_list_remove(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lexicon", "list"]) == 0
    assert capsys.readouterr().out == f"No lexicon is installed in {folder / 'lexicons'}.\n"
    assert main(["lexicon", "install", "petit.xml"]) == 0
    assert capsys.readouterr().out == (
        "Installed petit-fr:1 (Petit réseau français, fr; https://creativecommons.org/publicdomain/zero/1.0/).\n"
        "It needs tiny:1 for wider and narrower words: promptfuzz lexicon install tiny:1\n"
    )
    main(["lexicon", "list", "--no-color"])
    assert capsys.readouterr().out == "petit-fr:1  fr  Petit réseau français (without tiny:1)\n"
    assert main(["lexicon", "install", "tiny.xml"]) == 0
    assert main(["lexicon", "install", "tiny.xml"]) == 0
    assert capsys.readouterr().out.endswith("Nothing new: what tiny.xml holds is installed already.\n")
    main(["lexicon", "list", "--no-color"])
    assert capsys.readouterr().out == "petit-fr:1  fr  Petit réseau français\ntiny:1      en  Tiny English\n"
    assert main(["lexicon", "remove", "tiny", "--yes"]) == 0
    assert capsys.readouterr().out == "Removed tiny:1.\n"


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lexicon", "install", "tiny.xml", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["name"], one["language"], one["missing"]) == ("tiny:1", "en", [])
    main(["lexicon", "list", "--json"])
    assert json.loads(capsys.readouterr().out) == [one]
    main(["lexicon", "remove", "tiny:1", "--yes", "--json"])
    assert json.loads(capsys.readouterr().out) == ["tiny:1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["install", "gone.xml"], "promptfuzz lexicon install: there is no file 'gone.xml'.\n"),
        (["install", "bad.xml"], "'bad.xml' is no lexicon in WN-LMF: "),
        (
            ["install", "oewnn"],
            "no lexicon 'oewnn' is published: no such project id: oewnn. Did you mean 'oewn'",
        ),
        (
            ["remove", "tiny"],
            "no lexicon 'tiny' is installed. There are none: promptfuzz lexicon install NAME|FILE",
        ),
        (["instal", "x"], "invalid choice: 'instal'"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(folder, arguments, message, capsys) -> None:
    (folder / "bad.xml").write_text("<p>no</p>")
    assert main(["lexicon", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_offline_is_one_line(capsys, monkeypatch) -> None:
    import socket

    def refused(*_: object, **__: object) -> None:
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    assert main(["lexicon", "install", "oewn:2024"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("promptfuzz lexicon install: the lexicon 'oewn:2024' could not be downloaded (")
    assert error.count("\n") == 1
    assert "install the file: promptfuzz lexicon install FILE" in error


def test_a_lexicon_cannot_act_on_the_terminal(folder, capsys) -> None:
    text = (folder / "tiny.xml").read_text().replace("Tiny English", "Tiny\u009b31m English")
    (folder / "evil.xml").write_text(text)
    main(["lexicon", "install", "evil.xml"])
    main(["lexicon", "list"])
    assert "\u009b" not in capsys.readouterr().out
