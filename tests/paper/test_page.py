"""The pages that `leastnoise paper` writes: content, figures to scale, and one HTML file."""

import csv
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from leastnoise import plots
from leastnoise.cli import main
from leastnoise.core.noise import Steps
from leastnoise.paper import CONTENTS, claims, count_by_status, figures, numbers, write
from leastnoise.paper.contents import IMPORTS
from leastnoise.paper.html_page import render_html
from leastnoise.paper.markdown_page import render_markdown
from leastnoise.paper.page_content import sections
from leastnoise.paper.sections import Badge, Figure, Items, Section, Table
from tests.paper.test_paper import DISAGREES

if TYPE_CHECKING:
    from altair.typing import ChartType

FIGURES = [
    "p-alpha",
    "discrete",
    "t-star",
    "zero-mass",
    "last-step",
    "rearrangement",
    "ratio",
    "consistency",
    "readings",
    "truncated-laplace",
]
VOID = {"meta", "img"}


class Page(HTMLParser):
    """The elements of a page, with their attributes, text and ancestors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[dict[str, Any]] = []
        self._open: list[dict[str, Any]] = []
        self.feed(text)
        assert not self._open, "an element is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = {"tag": tag, "text": "", "within": list(self._open), **dict(attrs)}
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()["tag"] == tag

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element["text"] += data.replace("\u00a0", " ")

    def find(self, tag: str, *, within: str = "") -> list[dict[str, Any]]:
        """Return the elements of a tag, in an element of an id if given."""
        return [
            element
            for element in self.elements
            if element["tag"] == tag
            and (not within or any(outer.get("id") == within for outer in element["within"]))
        ]


@pytest.fixture(scope="module")
def content() -> list[Section]:
    return sections()


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """The folder that the command writes, and its output and errors; written once."""
    folder = tmp_path_factory.mktemp("paper") / "out"
    result = CliRunner().invoke(main, ["paper", str(folder)])
    assert result.exit_code == 0
    return folder, result.stdout, result.stderr


@pytest.fixture(scope="module")
def folder(printed: tuple[Path, str, str]) -> Path:
    return printed[0]


@pytest.fixture(scope="module")
def html(folder: Path) -> str:
    return (folder / "paper.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_the_markdown_page_holds_every_table_and_figure(folder: Path) -> None:
    text = (folder / "paper.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((.+)\.png\)", text) == FIGURES
    for name in FIGURES:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (folder / f"{name}.svg").read_text(encoding="utf-8")
    assert text.count("| **false** |") == len(DISAGREES)
    with (folder / "table-2.csv").open(encoding="utf-8") as file:
        rows = {row["δ"]: row for row in csv.DictReader(file)}
    assert float(rows["0.9"]["optimum"]) == pytest.approx(9 / 160)
    assert float(rows["0.1"]["gain as stated"]) == pytest.approx(3)
    with (folder / "claims.csv").open(encoding="utf-8") as file:
        listed = [(row["place"], row["status"]) for row in csv.DictReader(file)]
    assert listed == [(claim.where, claim.status) for claim in claims()]


def test_the_html_page_loads_nothing(html: str, page: Page) -> None:
    assert not page.find("script") + page.find("link") + page.find("iframe") + page.find("object")
    for element in page.elements:
        source = element.get("src")
        assert source is None or source.startswith("data:image/svg+xml;base64,")
        assert element.get("href", "#").startswith("#")
        assert not any(name.startswith("on") for name in element)
    (style,) = page.find("style")
    assert "url(" not in style["text"]
    assert "@import" not in style["text"]
    assert "http" not in html
    assert len(html.encode()) < 3_000_000


def test_every_figure_is_inside_the_html_page(folder: Path, page: Page) -> None:
    assert [element["id"] for element in page.find("figure")] == [f"figure-{n}" for n in FIGURES]
    for name in FIGURES:
        (image,) = page.find("img", within=f"figure-{name}")
        picture = b64decode(image["src"].split(",")[1]).decode()
        assert picture == (folder / f"{name}.svg").read_text(encoding="utf-8")
        assert not re.search(
            r"<script|<image|<foreignObject|href=|@import|url\((?!['\"]?#)", picture
        )
        assert len(image["alt"]) > 40
        (caption,) = page.find("figcaption", within=f"figure-{name}")
        assert len(caption["text"]) > 80
    labels = [element["text"] for element in page.find("b") if "Figure" in element["text"]]
    assert labels == [f"Figure {n}." for n in range(1, 6)]


def test_every_claim_is_in_the_html_page_once_with_its_status(page: Page) -> None:
    heads = [head for head in page.find("th", within="claims") if head["scope"] == "row"]
    assert [_plain(head) for head in heads] == [_without_mark(c.where) for c in claims()]
    badges = [element["text"] for element in page.find("span", within="claims")]
    assert badges == [claim.status for claim in claims()]
    cells = [_plain(cell) for cell in page.find("td", within="claims")]
    assert cells[1::4] == [_without_mark(claim.recomputed) for claim in claims()]
    assert cells[3::4] == [claim.evidence for claim in claims()]
    remarks = [claim for claim in claims() if claim.remark]
    assert len(page.find("li", within="remarks")) == len(remarks)
    assert count_by_status(claims()) in page.find("p", within="result")[0]["text"]


def test_the_html_page_is_accessible(page: Page) -> None:
    (whole,) = page.find("html")
    assert whole["lang"] == "en"
    assert len(page.find("h1")) == len(page.find("title")) == len(page.find("main")) == 1
    names = [element["id"] for element in page.elements if "id" in element]
    anchors = [link["href"][1:] for link in page.find("a")]
    assert anchors == [element["id"] for element in page.find("section")]
    assert len(names) == len(set(names))
    for table in page.find("table"):
        assert len(page.find("caption", within=table["id"])) == 1
        heads = page.find("th", within=table["id"])
        assert {head["scope"] for head in heads} == {"col", "row"}


def test_added_tables_and_lists_are_shown_on_both_pages() -> None:
    table = Table("systems", "A < B", ("name", "value"), [("a|b", Badge("bad", "bad"))])
    added = [Section("more", "P_α & more", ["A <b> paragraph.", table, Items([("One", "two")])])]
    shown = render_html("Title", "Reference", added, {})
    Page(shown)
    assert "<h2>P<sub>α</sub> &amp; more</h2>" in shown
    assert "<p>A &lt;b&gt; paragraph.</p>" in shown
    assert '<td><span class="badge bad">bad</span></td>' in shown
    assert "<li><b>One.</b> two</li>" in shown
    text = render_markdown("Title", "Reference", added)
    assert "| a\\|b | **bad** |" in text
    assert "- **One.** two" in text


def test_point_masses_are_drawn_to_scale_and_panels_share_their_axes() -> None:
    proof = numbers.proof()
    drawn = {
        figure.name: figure
        for figure in [
            figures.draw_p_alpha(),
            figures.draw_discretization(),
            *figures.draw_steps(proof, Fraction(3, 2)),
            figures.draw_proof(numbers.smooth_proofs()["Gaussian"], "Gaussian", Fraction(1, 2)),
        ]
    }
    gaussian = numbers.smooth_proofs()["Gaussian"]
    masses = {
        "p-alpha": [0, 0.3, 0.6],
        "discrete": [0, 0, 0.4] * 2,
        "t-star": [0, 0],
        "zero-mass": [0, 0.1],
        "last-step": [0.1, 0.2],
        "rearrangement": [
            float(stage.noise.atoms.get(Fraction(0), 0)) for stage in gaussian.stages
        ],
    }
    assert list(drawn) == list(masses)
    for name, figure in drawn.items():
        panels = list(_panels(figure))
        assert [_mass(layers) for layers in panels] == pytest.approx(masses[name])
        # One scale for x in all panels, and one for densities and masses: heights compare.
        for axis in ("x", "y"):
            scales = {
                (tuple(scale["domain"]), scale.get("padding"), scale["nice"])
                for layers in panels
                for encoding, _ in layers
                if (scale := encoding[axis].get("scale") if axis in encoding else None)
            }
            assert len(scales) == 1


def test_the_mass_that_leaves_a_place_arrives_at_another() -> None:
    stages = numbers.proof().stages
    for (before, after), figure in zip(
        pairwise(stages), figures.draw_steps(numbers.proof(), Fraction(3, 2)), strict=True
    ):
        left, right = _panels(figure)
        for layers, stage in ((left, before), (right, after)):
            assert _total(layers, "mass that stays") + _total(
                layers, "mass that the step moves"
            ) == pytest.approx(1)
            assert _mass(layers) == pytest.approx(float(stage.noise.atoms.get(Fraction(0), 0)))
        moved = [_total(layers, "mass that the step moves") for layers in (left, right)]
        assert moved[0] == pytest.approx(moved[1])
        assert moved[0] > 0.01


def test_the_cells_of_the_discretization_have_the_mass_of_the_density() -> None:
    for noise in numbers.densities().values():
        if isinstance(noise, Steps):
            assert noise.atoms == {0: Fraction(2, 5)}
            assert noise.is_decreasing
    panels = list(_panels(figures.draw_discretization()))
    drawn = [*numbers.densities().values()] * 2
    for layers, noise in zip(panels, drawn, strict=True):
        # The axis ends at 4, where a cell ends.
        within = (
            2 * noise.probability_up_to(Fraction(4)) - 1
            if isinstance(noise, Steps)
            else (2 * float(noise.cdf(4)) - 1)
        )
        drawn_mass = _total(layers, "averaged over cells") + _total(layers, "point mass at 0")
        assert drawn_mass == pytest.approx(float(within), abs=1e-9)


def test_the_command_prints_the_counts_first(printed: tuple[Path, str, str]) -> None:
    folder, output, errors = printed
    lines = output.splitlines()
    assert lines[0] == f"{count_by_status(claims())}"
    assert re.fullmatch(
        r"\d+ claims recomputed: \d+ hold, \d+ hold with a correction, \d+ are false", lines[0]
    )
    assert lines[0].endswith(f" {len(DISAGREES)} are false")
    assert lines[2].split() == ["HTML", str(folder / "paper.html")]
    assert lines[3].split() == ["Page", str(folder / "paper.md")]
    told = lines[lines.index("False:") + 1 :]
    assert {where for where in DISAGREES if any(where in line for line in told)} == DISAGREES
    assert all(len(line) <= 80 for line in lines if str(folder) not in line)
    assert not errors


def test_the_same_bytes_are_written_again(
    folder: Path, content: list[Section], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages, tables, SVG files and one PNG file are written again; other PNG files take long."""
    save = plots.save

    def copy_png(chart: "ChartType", path: Path) -> Path:
        if path.suffix == ".png" and path.stem != "zero-mass":
            path.write_bytes((folder / path.name).read_bytes())
            return path
        return save(chart, path)

    monkeypatch.setattr(plots, "save", copy_png)
    monkeypatch.setattr("leastnoise.paper.page.sections", lambda: content)
    again = write(tmp_path / "again").parent
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    written = {path.name: path.read_bytes() for path in again.iterdir()}
    assert written.keys() == files.keys()
    assert [name for name in files if written[name] != files[name]] == []


def test_every_row_of_a_markdown_table_has_as_many_cells_as_its_header(
    folder: Path, content: list[Section]
) -> None:
    found, width = 0, 0
    for line in (folder / "paper.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line)) - 1
        found += width == 0
        width = width or cells
        assert cells == width > 1, line
    assert found == sum(isinstance(b, Table) for section in content for b in section.blocks)


def test_the_pages_state_the_imports_of_their_calls(folder: Path, page: Page) -> None:
    lines = "\n".join(IMPORTS)
    assert lines in _plain(page.find("pre", within="calls")[0])
    assert lines in _plain(page.find("pre", within="cited")[0])
    assert (folder / "paper.md").read_text(encoding="utf-8").count(lines) == 2
    results = [_plain(cell) for cell in page.find("td", within="table-calls")][2::4]
    assert results == [_without_mark(item.result) for item in CONTENTS]


def test_costs_of_cited_mechanisms_are_rounded_up_as_in_the_documentation(page: Page) -> None:
    cells = {_plain(cell) for cell in page.find("td", within="table-cited")}
    assert {"3.99625", "833.334"} <= cells


def test_areas_have_the_color_of_the_legend_and_bars_that_of_their_part() -> None:
    drawn = figures.draw_discretization().chart.to_dict()
    scale = {}
    for layer in drawn["concat"][2]["layer"][0]["layer"]:
        if "color" in layer["encoding"]:
            scale = layer["encoding"]["color"]["scale"]
    shades = dict(zip(scale["domain"], scale["range"], strict=True))
    assert list(shades) == ["averaged over cells", "the density", "point mass at 0"]
    assert len(set(shades.values())) == 3
    (bar,) = _bars(list(_panels(figures.draw_discretization()))[2])
    assert bar["color"] == shades[bar["part"]] == shades["point mass at 0"]


def test_the_command_says_what_disagrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    rejected = CliRunner().invoke(main, ["paper", str(taken)])
    assert rejected.exit_code == 2
    assert "folder must be a folder, got the file 'file'" in rejected.stderr
    monkeypatch.setattr("leastnoise.paper.write", lambda folder: Path(folder) / "paper.md")
    result = CliRunner().invoke(main, ["paper", str(tmp_path / "out"), "--json"])
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert {claim["where"] for claim in told if not claim["agrees"]} == DISAGREES


def _plain(element: dict[str, Any]) -> str:
    return str(element["text"])


def _without_mark(text: str) -> str:
    return text.replace("P_α", "Pα")


# The encoding of a layer, and its data.
Layer = tuple[dict[str, Any], list[dict[str, Any]]]


def _panels(figure: Figure) -> Iterator[list[Layer]]:
    """Yield the layers of each panel of a figure."""
    drawn = figure.chart.to_dict()
    for panel in drawn["concat"]:
        yield list(_layers(panel, drawn.get("datasets", {})))


def _layers(
    chart: dict[str, Any], datasets: dict[str, Any], outer: dict[str, Any] | None = None
) -> Iterator[Layer]:
    """Yield the layers of a chart; those without data have the data of the chart around them."""
    data = chart.get("data", outer)
    for layer in chart.get("layer", []):
        yield from _layers(layer, datasets, data)
    if "encoding" in chart and "mark" in chart:
        assert data is not None
        yield chart["encoding"], data["values"] if "values" in data else datasets[data["name"]]


def _bars(layers: list[Layer]) -> list[dict[str, Any]]:
    return [row for _, rows in layers for row in rows if "mass" in row and "part" in row]


def _mass(layers: list[Layer]) -> float:
    """Return the height of the bar of a panel on the axis of masses; 0 without a bar."""
    return max((row["mass"] for row in _bars(layers)), default=0)


def _total(layers: list[Layer], part: str) -> float:
    """Return the area and the height of the bar of one part."""
    areas = [row for _, rows in layers for row in rows if "low" in row and "density" in row]
    corners = [row for row in areas if row["part"] == part]
    area = sum(
        (right["value"] - left["value"]) * (left["density"] - left["low"])
        for left, right in zip(corners[::2], corners[1::2], strict=True)
    )
    return float(
        area + sum(row["mass"] - row["low"] for row in _bars(layers) if row["part"] == part)
    )
