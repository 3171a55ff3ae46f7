"""Plots of studies: they are SVG that a reader of XML takes, show the figures of the tables, and are the same each time."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from pytest_promptfuzz import UsageError
from pytest_promptfuzz.reporting.study_plots import PLOTS, study_plot
from pytest_promptfuzz.reporting.study_tables import render_table, study_page
from pytest_promptfuzz.studies.tables.named_tables import table_of
from pytest_promptfuzz.studies.tables.table_figures import simulation_of
from tests.studies.test_cells import cell
from tests.studies.test_study_tables import answers

if TYPE_CHECKING:
    from pytest_promptfuzz.studies.cells import Cell

SVG = "{http://www.w3.org/2000/svg}"


def cells() -> list[Cell]:
    plain = {"1": [True], "2": [True]}
    half = {"1": [True], "2": [False]}
    found = []
    for model, golds in (("one", plain), ("<two> & co", half)):
        found += [*answers(model, "", plain), *answers(model, "typo:1", golds), *answers(model, "a", plain)]
        found += [
            *answers(model, "typo:3", half),
            *answers(model, "a+b", half),
            *answers(model, "b+a", golds),
        ]
        found.append(cell(model=model, operator="format-xml", dimension="", outcome="not-applicable"))
    return found


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(svg).iter(f"{SVG}text")]


def test_a_heat_map_shows_every_operator_and_model() -> None:
    shown = texts(study_plot(cells(), "heatmap"))
    assert shown[:3] == ["Drop of gold accuracy by operator and model, in points", "one", "<two> & co"]
    rows = {shown[at]: shown[at + 1 : at + 3] for at in range(3, len(shown) - 7, 3)}
    assert shown[-7:] == ["gained", "-50.0", "-25.0", "0.0", "25.0", "50.0", "lost"]
    assert rows == {
        "typo:1": ["0.0", "50.0"],
        "a": ["0.0", "0.0"],
        "typo:3": ["50.0", "50.0"],
        "a+b": ["50.0", "50.0"],
        "b+a": ["0.0", "50.0"],
        "format-xml": ["N/A", "N/A"],
    }


def test_the_pairs_have_a_diagonal() -> None:
    shown = texts(study_plot([each for each in cells() if each.model == "one"], "pairs"))
    assert shown[0] == "Drop of gold accuracy by pairs of operators, in points"
    assert shown[1:9] == ["a", "b", "a", "0.0", "50.0", "b", "0.0", "N/A"]


def test_every_model_has_pairs_of_its_own() -> None:
    shown = texts(study_plot(cells(), "pairs"))
    at = [place for place, each in enumerate(shown) if each.startswith("Drop of")]
    assert [shown[place] for place in at] == [
        "Drop of gold accuracy by pairs of operators, in points: one",
        "Drop of gold accuracy by pairs of operators, in points: <two> & co",
    ]
    assert [shown[place + 4 : place + 6] for place in at] == [["0.0", "50.0"], ["0.0", "50.0"]]
    assert [shown[place + 7] for place in at] == ["0.0", "50.0"]  # b, then a


def fills(cells: list[Cell], name: str = "heatmap") -> list[str]:
    grid = ET.fromstring(study_plot(cells, name)).findall(f"{SVG}g")[0]
    return [each.get("fill", "") for each in grid.iter(f"{SVG}rect")]


def test_no_difference_is_no_missing_cell() -> None:
    zero, missing = (fills(cells())[at] for at in (0, -1))
    assert (zero, missing) == ("#f0f0f0", "none")


def test_one_colour_means_one_figure_in_plots_of_similar_studies() -> None:
    """The scale has steps: a loss of 10 points looks the same beside one of 12 and one of 25."""
    plain, ten, more = ({str(at): [at >= lost] for at in range(100)} for lost in (0, 10, 12))
    most = {str(at): [at >= 25] for at in range(100)}
    seen = {
        fills([*answers("m", "", plain), *answers("m", "a", ten), *answers("m", "b", other)])[0]
        for other in (more, most)
    }
    assert len(seen) == 1


def test_a_ranking_says_where_no_model_has_a_rank() -> None:
    assert "format-xml (N/A)" in texts(study_plot(cells(), "ranks"))


def targeted(one: Cell, target: str) -> Cell:
    return one._replace(spent=one.spent._replace(target=target))


def test_plots_pages_and_tables_say_whose_answers_are_simulated() -> None:
    made_up = [
        targeted(each, "simulated?noise=0.4" if each.model == "one" else "openai:gpt-5-mini")
        for each in cells()
    ]
    said = "Answers of one are simulated."
    assert all(texts(study_plot(made_up, name))[-1] == said for name in PLOTS)
    tables = [table_of(name, made_up) for name in ("gold", "operators")]
    assert all(
        render_table(each, form).count(said) == 1 for each in tables for form in ("markdown", "latex", "html")
    )
    assert said not in render_table(tables[0], "csv")  # figures alone; cells have a column
    page = study_page("s", tables, [])
    assert page.count(said) == 1
    assert page.index(said) < page.index("<table>")
    every = [targeted(each, "simulated") for each in cells()]
    assert texts(study_plot(every, "heatmap"))[-1] == "Answers are simulated: no real model was called."
    assert "simulated" not in study_plot(cells(), "heatmap") + render_table(table_of("gold", cells()))


def test_curves_have_a_point_for_each_intensity() -> None:
    root = ET.fromstring(study_plot(cells(), "intensity"))
    lines = [each.get("points", "").split() for each in root.iter(f"{SVG}polyline")]
    heights = [[float(each.split(",")[1]) for each in points] for points in lines]
    assert [len(each) for each in heights] == [2, 2]
    assert (
        heights[0][0] > heights[0][1]
    )  # the first model loses more at the higher intensity: the line goes up
    assert heights[1][0] == heights[1][1]


def test_ranks_cross_where_models_change_places() -> None:
    crossing = [
        *answers("a", "", {"1": [True], "2": [True]}),
        *answers("b", "", {"1": [True], "2": [False]}),
        *answers("a", "typo", {"1": [False], "2": [False]}),
        *answers("b", "typo", {"1": [True], "2": [False]}),
    ]
    root = ET.fromstring(study_plot(crossing, "ranks"))
    first, second = (
        [float(point.split(",")[1]) for point in each.get("points", "").split()]
        for each in root.iter(f"{SVG}polyline")
    )
    assert first[0] < second[0]
    assert first[1] > second[1]


@pytest.mark.parametrize("name", PLOTS)
def test_the_same_cells_make_the_same_bytes(name: str) -> None:
    assert study_plot(cells(), name) == study_plot(cells(), name)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(UsageError, match=r"the plot 'heatmp' is not one of .*Did you mean 'heatmap'"):
        study_plot(cells(), "heatmp")
    for name, why in (
        ("intensity", "an operator at two intensities"),
        ("ranks", "at least two models"),
        ("pairs", "operators in order"),
    ):
        with pytest.raises(UsageError, match=why):
            study_plot([cell(operator="typo")], name)


def test_a_page_holds_tables_and_plots_and_nothing_from_elsewhere() -> None:
    page = study_page(
        "a <b>", [table_of("gold", cells()), table_of("ranks", cells())], [study_plot(cells(), "heatmap")]
    )
    assert page.startswith("<!doctype html>")
    assert "<h1>a &lt;b&gt;</h1>" in page
    assert (page.count("<table>"), page.count("<svg "), page.count("<b>")) == (2, 1, page.count("</b>"))
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "<two>" not in page


def test_many_simulated_models_are_counted() -> None:
    simulated = [(f"m{at}", True) for at in range(6)]
    assert (
        simulation_of([*simulated, ("real", False)])
        == "Answers of m0, m1, m2, m3 and 2 more models are simulated."
    )
    assert simulation_of([*simulated, ("m5", False)]) == "Answers are simulated: no real model was called."
