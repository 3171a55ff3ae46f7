"""Fractions of factorial designs: which combinations are asked, and what their effects are aliased with."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import UsageError
from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.mutations.engine.factorial import GENERATORS, two_level
from pytest_promptfuzz.studies.designs import fraction_of
from pytest_promptfuzz.studies.study import read_study
from pytest_promptfuzz.studies.tables.factor_tables import FactorDesign, design_in, parts_of
from pytest_promptfuzz.studies.tables.named_tables import table_of
from tests.studies.conftest import STUDY
from tests.studies.test_study_tables import answers, entries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_promptfuzz.server.model_server import ModelServer
    from pytest_promptfuzz.studies.cells import Cell


@pytest.mark.parametrize(
    ("factors", "resolution", "runs"),
    [
        *[(3, 3, 4), (3, 4, 8), (4, 3, 8), (4, 4, 8), (4, 5, 16), (5, 3, 8), (5, 4, 16), (5, 5, 16)],
        *[(6, 4, 16), (7, 3, 8), (7, 4, 16), (8, 3, 16), (8, 4, 16), (8, 5, 64), (2, 3, 4), (4, None, 16)],
    ],
)
def test_the_smallest_fraction_of_a_resolution(factors: int, resolution: int | None, runs: int) -> None:
    assert fraction_of(factors, resolution) * 2**factors == runs


@pytest.mark.parametrize("resolution", [2, 6, "IV", True, 4.5])
def test_no_other_resolution(resolution: object) -> None:
    with pytest.raises(UsageError, match="give 3, 4 or 5, or leave it out"):
        fraction_of(5, resolution)  # type: ignore[arg-type]


def operators_of(factors: str, fraction: Fraction) -> list[str]:
    layout = two_level([*factors], fraction)
    return [
        "+".join(name for name, sign in zip(factors, row, strict=True) if sign > 0) for row in layout.signs
    ]


@pytest.mark.parametrize("key", [*GENERATORS, (3, 0), (2, 0), (8, 0)])
def test_a_design_is_known_by_its_operators(key: tuple[int, int]) -> None:
    count, halvings = key
    made = operators_of("abcdefgh"[:count], Fraction(1, 2**halvings))
    found = design_in(["", "upper-case", *made])
    assert found is not None
    assert found.layout == two_level([*"abcdefgh"[:count]], Fraction(1, 2**halvings))
    assert found.runs == [parts_of(each) for each in made]


def test_effects_that_are_one_figure_stand_there_once() -> None:
    effects = {
        each.name: each.aliased_with for each in FactorDesign(two_level("abcd", Fraction(1, 2))).effects()
    }
    assert effects == {
        "a": "b × c × d",
        "b": "a × c × d",
        "c": "a × b × d",
        "d": "a × b × c",
        "a × b = c × d": "",
        "a × c = b × d": "",
        "a × d = b × c": "",
    }
    third = {
        each.name: each.aliased_with for each in FactorDesign(two_level("abc", Fraction(1, 2))).effects()
    }
    assert third == {"a": "b × c", "b": "a × c", "c": "a × b"}
    full = [each.aliased_with for each in FactorDesign(two_level("abc")).effects()]
    assert full == [""] * 6


def planted(factors: str, fraction: Fraction, lost: Callable[[frozenset[str]], float]) -> list[Cell]:
    """Cells of which a share is wrong, by combination: of ten runs, the same on each of four inputs."""
    cells = []
    for operator in ["", *operators_of(factors, fraction)]:
        wrong = round(10 * lost(parts_of(operator)))
        golds = {str(each): [False] * wrong + [True] * (10 - wrong) for each in range(4)}
        if operator or not cells:
            cells += answers("m", operator, golds)
    return cells


def test_main_effects_of_a_fraction_are_those_of_the_whole() -> None:
    def lost(high: frozenset[str]) -> float:
        return 0.1 + 0.3 * ("a" in high) + 0.2 * ("d" in high)

    for fraction in (Fraction(1), Fraction(1, 2)):
        found = entries(table_of("factors", planted("abcd", fraction, lost)))
        values = {name: row[0].value for name, row in found.items()}  # type: ignore[attr-defined]
        expected = {"a": -0.3, "b": 0.0, "c": 0.0, "d": -0.2}
        assert {name: values[name] for name in "abcd"} == pytest.approx(expected)
        assert all(abs(value) < 1e-9 for name, value in values.items() if name not in expected)


def test_what_two_factors_do_together_is_in_the_figure_it_is_aliased_with() -> None:
    cells = planted("abc", Fraction(1, 2), lambda high: 0.4 * ({"a", "b"} <= high))
    table = table_of("factors", cells)
    found = entries(table)
    assert found["c"][0].value == pytest.approx(-0.2)  # type: ignore[attr-defined]
    assert found["c"][2] == "a × b"
    assert "4 of 8 combinations were asked (resolution III)" in table.note
    whole = entries(table_of("factors", planted("abc", Fraction(1), lambda high: 0.4 * ({"a", "b"} <= high))))
    assert whole["c"][0].value == pytest.approx(0)  # type: ignore[attr-defined]
    assert whole["a × b"][0].value == pytest.approx(-0.2)  # type: ignore[attr-defined]


def test_an_input_without_all_answers_is_left_out() -> None:
    cells = planted("ab", Fraction(1), lambda high: 0.5 * ("a" in high))
    kept = [each for each in cells if not (each.input == "0" and each.operator == "a+b" and each.run)]
    kept = [each for each in kept if (each.input, each.operator) != ("1", "b")]
    design = design_in(each.operator for each in kept)
    assert design is not None
    means = design.means((each.input, each.operator, float(bool(each.gold))) for each in kept)
    assert len(means) == 3


FOUR = ["double-space", "politeness", "persona", "lower-case"]


def test_a_study_of_a_fraction(folder: Path, server: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    head, tail = STUDY.split("[[task]]\n")
    study = f"{head.split('operators')[0]}[[task]]\nfactorial = {FOUR}\nresolution = 4\n{tail}".replace(
        "runs = 2", "runs = 1"
    )
    (folder / "study.toml").write_text(study, encoding="utf-8")
    assert main(["study", "study.toml", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("tickets: 16 calls; ")
    assert main(["study", "study.toml", "--out", "cells.csv", "--table", "factors"]) == 0
    assert server.calls == 16  # 2 inputs, 8 combinations, the unmutated prompt among them
    said = capsys.readouterr().out
    assert "| double-space × politeness = persona × lower-case |" in said
    assert "| double-space | 0.0 [0.0, 0.0] | 1.0000 | politeness × persona × lower-case |" in said
    read = read_study(folder / "study.toml")
    asked = {each.operator for each in read.changes(read.tasks[0])}
    signs = [[name in each.split("+") for name in FOUR] for each in {*asked, ""}]
    for one, other in product(range(4), repeat=2):
        if one != other:
            assert sum(row[one] and row[other] for row in signs) == 2


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("resolution = 4", "resolution= is for factorial= with three operators or more"),
        ('factorial = ["double-space", "politeness"]\nresolution = 3', "with three operators or more"),
        (f"factorial = {FOUR}\nresolution = 2", "resolution=2; give 3, 4 or 5"),
        (f'factorial = {FOUR}\nresolution = "IV"', "resolution='IV'; give 3, 4 or 5"),
    ],
)
def test_what_cannot_be_estimated_is_refused(folder: Path, new: str, said: str) -> None:
    (folder / "study.toml").write_text(STUDY.replace("[[task]]\n", f"[[task]]\n{new}\n"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"study\.toml: \[\[task\]\] 1: ") as error:
        read_study(folder / "study.toml")
    assert said in str(error.value)
