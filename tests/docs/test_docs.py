"""What README and docs/ show is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from documents import blocks, check, commands, run_document

ROOT = Path(__file__).parents[2]
# These have tests of their own, beside what they describe.
ELSEWHERE = {"server.md", "simulated-model.md"}
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)(?P<file>[^)#\s]*)(?:#(?P<anchor>[^)]*))?\)")


@pytest.mark.parametrize(
    "document",
    [each for each in DOCUMENTS if each.name not in ELSEWHERE],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_examples_do_what_they_show(document: Path, tmp_path: Path) -> None:
    run_document(document, tmp_path)


@pytest.mark.parametrize(
    "document",
    [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "example_project" / "README.md"],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_links_lead_somewhere(document: Path) -> None:
    for found in LINK.finditer(document.read_text(encoding="utf-8")):
        target = document.parent / found["file"] if found["file"] else document
        assert target.exists(), f"{document.name} links to {found['file']}"
        if found["anchor"]:
            assert found["anchor"] in anchors(target), f"{target.name} has no heading #{found['anchor']}"


def anchors(document: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).strip().replace(" ", "-") for each in headings}


@pytest.mark.parametrize(
    ("heading", "ends"),
    [("Try it", "pytest example_project"), ("Test it", "pytest -n auto --dist worksteal")],
)
def test_readme_commands_are_one_line(heading: str, ends: str) -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    command = blocks(section)[0].body
    assert command.count("\n") == 1
    assert command.strip().endswith(ends)


def test_the_runner_notices_what_differs() -> None:
    check(["one", "...", "done in 0.20s"], "one\ntwo\n\ndone in 7.5s\n", "here")
    with pytest.raises(AssertionError, match="instead of"):
        check(["one", "three"], "one\ntwo\n", "here")
    with pytest.raises(AssertionError, match="instead of"):
        check(["one"], "one\ntwo\n", "here")
    assert commands("$ pytest\nfine\n$ python x\n") == [("pytest", ["fine"]), ("python x", [])]


def test_the_runner_fails_on_a_failing_test(tmp_path: Path) -> None:
    document = tmp_path / "bad.md"
    document.write_text(
        '```python title="test_it.py"\ndef test_it():\n    assert 1 == 2\n```\n', encoding="utf-8"
    )
    with pytest.raises(AssertionError, match="1 failed"):
        run_document(document, tmp_path)
    document.write_text("```pycon\n>>> 1 + 1\n3\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="Expected"):
        run_document(document, tmp_path)
