"""``promptfuzz cache prune`` and snapshots of tests that are gone."""

from __future__ import annotations

import json
import os

import pytest

from pytest_promptfuzz.history.snapshots import Snapshot, files_in, folder_of, write
from tests.in_process import promptfuzz


def snapshot(test):
    return Snapshot(test, "pass", 1.0, 0.85, "simulated", "", "Rate it.", ())


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    module = tmp_path / "test_it.py"
    module.write_text("import pytest\n\n@pytest.mark.skip\ndef test_there():\n    pass\n")
    for name in ("test_there", "test_gone", "test_more[1]"):
        write(module, snapshot(name))
    write(tmp_path / "test_lost.py", snapshot("test_lost"))
    return tmp_path


def prune(folder, *arguments):
    options = "-p no:anyio -p no:hypothesispytest"
    done = promptfuzz(
        "cache", "prune", *arguments, folder=folder, environment={**os.environ, "PYTEST_ADDOPTS": options}
    )
    return done.returncode, done.stdout + done.stderr


def left(folder):
    modules = (folder / "test_it.py", folder / "test_lost.py")
    return [each.name.partition("-")[0] for module in modules for each in files_in(folder_of(module))]


@pytest.mark.usefixtures("forked_children")
def test_snapshots_of_tests_that_are_gone_are_shown_and_removed_only_with_yes(folder):
    (folder_of(folder / "test_it.py") / "damaged.json").write_text("{")
    before = left(folder)
    code, shown = prune(folder)
    assert code == 0
    assert "Would remove the snapshots of 3 tests:" in shown
    assert "test_it.py::test_gone: pytest does not collect it" in shown
    assert "test_lost.py::test_lost: test_lost.py is gone" in shown
    assert "test_there" not in shown
    assert left(folder) == before
    code, shown = prune(folder, "--yes", "--json")
    assert len(json.loads(shown)["snapshots"]) == 3
    assert left(folder) == ["damaged.json", "test_there.json"], "what cannot be read stays"
    assert not folder_of(folder / "test_lost.py").exists()


def test_one_is_removed_by_its_name(folder):
    code, shown = prune(folder, "--test", "test_it.py::test_more", "--yes")
    assert (code, "test_it.py::test_more[1]: named" in shown) == (0, True)
    assert left(folder) == ["test_gone.json", "test_there.json", "test_lost.json"]
    code, _ = prune(folder, "test_it.py", "--yes")
    assert code == 0
    assert left(folder) == ["test_there.json", "test_lost.json"]
    assert prune(folder, "--test", "test_it.py::test_nothing")[0] == 2


@pytest.mark.usefixtures("forked_children")
def test_one_that_a_renamed_test_may_take_over_stays(folder):
    module = folder / "test_it.py"
    module.write_text(
        f"{module.read_text()}\n\nfrom pytest_promptfuzz import robust\n\n"
        '@robust("Rate {it}.")\ndef test_renamed(prompt):\n    return prompt\n'
    )
    before = left(folder)
    code, shown = prune(folder, "test_it.py", "--yes")
    assert code == 0
    assert left(folder) == before
    assert "Kept the snapshots of 2 tests, which may have another name now:" in shown
    assert "test_it.py::test_gone: test_renamed of the same module has no snapshot" in shown
    write(module, snapshot("test_renamed"))
    code, shown = prune(folder, "test_it.py", "--yes", "--json")
    assert json.loads(shown)["kept"] == {}
    assert left(folder) == ["test_renamed.json", "test_there.json", "test_lost.json"]
