"""The pages that `leastnoise paper` writes: content, figures to scale, and one HTML file."""

import csv
import json
import re
import tomllib
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
from leastnoise.paper import (
    CONTENTS,
    claims,
    count_by_status,
    figures,
    numbers,
    proof_html,
    proofs,
    write,
)
from leastnoise.paper.content_item import IMPORTS
from leastnoise.paper.html_page import render_html
from leastnoise.paper.markdown_page import render_markdown
from leastnoise.paper.page_content import sections
from leastnoise.paper.proofs import PROOFS
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
# The parts of a step, and of the targets of links, which HTML does not show.
PARTS = ("density that stays", "density that the step moves", "point mass at 0")
LINK_WORDS = {"lemma", "theorem", "critical", "supporting", "python"}
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
    (contents,) = page.find("nav")
    anchors = [link["href"][1:] for link in page.find("a") if contents in link["within"]]
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


@pytest.fixture(scope="module")
def drawn() -> "dict[str, list[list[Layer]]]":
    """The panels of every figure of densities, by its name."""
    made = [
        figures.draw_p_alpha(),
        figures.draw_discretization(),
        *figures.draw_steps(numbers.proof(), Fraction(3, 2)),
        figures.draw_proof(numbers.smooth_proofs()["Gaussian"], "Gaussian", Fraction(1, 2)),
    ]
    return {figure.name: list(_panels(figure)) for figure in made}


def test_point_masses_are_drawn_to_scale_and_panels_share_their_axes(
    drawn: "dict[str, list[list[Layer]]]",
) -> None:
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
    for name, panels in drawn.items():
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


def test_the_mass_that_leaves_a_place_arrives_at_another(
    drawn: "dict[str, list[list[Layer]]]",
) -> None:
    stages = numbers.proof().stages
    names = ("t-star", "zero-mass", "last-step")
    for (before, after), name in zip(pairwise(stages), names, strict=True):
        left, right = drawn[name]
        for layers, stage in ((left, before), (right, after)):
            atom = float(stage.noise.atoms.get(Fraction(0), 0))
            stays, moves, at_zero = (_total(layers, part) for part in PARTS)
            assert stays + moves + at_zero == pytest.approx(1)
            assert at_zero == _mass(layers) == pytest.approx(atom)
        gone, arrived = (_total(layers, PARTS[1]) for layers in (left, right))
        assert gone == pytest.approx(arrived + _mass(right) - _mass(left))
        assert gone > 0.01


def test_point_masses_have_one_color_and_an_axis_only_where_there_is_one(
    drawn: "dict[str, list[list[Layer]]]",
) -> None:
    panels = [layers for figure in drawn.values() for layers in figure]
    bars = [bar for layers in panels for bar in _bars(layers)]
    assert {bar["part"] for bar in bars} == {"point mass at 0"}
    assert len({bar["color"] for bar in bars}) == 1
    for layers in panels:
        sides = {
            encoding["y"]["axis"]["orient"]
            for encoding, _ in layers
            if encoding.get("y", {}).get("axis")
        }
        assert sides == ({"left", "right"} if _bars(layers) else {"left"})


def test_the_end_of_the_step_is_marked_on_both_sides(
    drawn: "dict[str, list[list[Layer]]]",
) -> None:
    before, after = drawn["t-star"]
    marks = [
        {row["label"]: row["value"] for _, rows in layers for row in rows if "label" in row}
        for layers in (before, after)
    ]
    assert marks[0] == {"−Δ/2": -1.5, "Δ/2": 1.5}
    assert marks[1] == {"−Δ/2": -1.5, "Δ/2": 1.5, "−t*": -3, "t*": 3}


def test_the_index_of_p_alpha_is_a_subscript(folder: Path) -> None:
    text = (folder / "p-alpha.svg").read_text(encoding="utf-8")
    shown = re.findall(r">(P[^ ]* at δ)|>P<tspan dy=\"([^\"]+)\" font-size=\"0.8em\">α<", text)
    assert shown == [("", "0.22em")]


def test_the_proofs_are_on_the_html_page_and_next_to_the_other(
    folder: Path, html: str, page: Page
) -> None:
    text = (folder / "paper.md").read_text(encoding="utf-8")
    named = set(re.findall(r"docs/theory/([\w-]+)\.md", text))
    assert {"lemma-1", "theorem-2", "errata", "algorithm-1"} <= named
    assert named == set(PROOFS)
    names = {element["id"] for element in page.elements if "id" in element}
    links = {link["href"][1:] for link in page.find("a")}
    assert {f"proof-{name}" for name in PROOFS} <= links <= names
    for claim in claims():
        for name in re.findall(r"docs/theory/([\w-]+)\.md", claim.evidence + claim.remark):
            assert f'<a href="#proof-{name}">' in html
            assert f"](theory/{name}.md)" in text
    for name in PROOFS:
        written = (folder / "theory" / f"{name}.md").read_text(encoding="utf-8")
        (article,) = [e for e in page.find("article") if e["id"] == f"proof-{name}"]
        assert written.splitlines()[0].removeprefix("# ") in article["text"]
        for target in re.findall(r"(?<!`)\]\(([^)\s]+)\)", written):
            assert (folder / "theory" / target).is_file()
        # The words of the page are those of the source.
        words = [word for word in re.findall(r"\w{6,}", written) if word not in LINK_WORDS]
        shown = set(re.findall(r"\w+", article["text"]))
        assert sum(word in shown for word in words) > 0.97 * len(words)


def test_the_build_copies_exactly_the_proofs_of_the_page() -> None:
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    copied = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert copied == {
        f"docs/theory/{name}.md": f"leastnoise/paper/theory/{name}.md" for name in sorted(PROOFS)
    }


def test_an_installed_package_reads_its_own_proofs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lemma-2.md").write_text(
        "# Title\n\n![f](figures/f.svg)\n\n[a](errata.md#x), [b](../promise.md)\n"
    )
    monkeypatch.setattr(proofs, "_INSTALLED", tmp_path)
    assert proofs.read_proof("lemma-2") == "# Title\n\n[a](errata.md), b\n"


def test_markdown_of_proofs_becomes_html() -> None:
    text = """# Title of w\\*

A *statement* with **bold *and italic*.** [link](lemma-1.md) and `a*b`, 2 < 3.

* one
  line
* two

1. first
2. second

    formula <

| a\\|b | c |
|---|---|
| 1 | 2 |

```python
>>> x < "1"
```
"""
    assert (
        proof_html.render_proof("name", text)
        == """<article id="proof-name">
<h3>Title of w*</h3>
<p>A <i>statement</i> with <b>bold <i>and italic</i>.</b> \
<a href="#proof-lemma-1">link</a> and <code>a*b</code>, 2 &lt; 3.</p>
<ul><li>one line</li><li>two</li></ul>
<ol><li>first</li><li>second</li></ol>
<pre><code>formula &lt;</code></pre>
<div class="scroll" tabindex="0" role="region" aria-label="Table 1 of name">\
<table id="proof-name-table-1"><caption>Table 1 of name</caption>\
<thead><tr><th scope="col">a|b</th><th scope="col">c</th></tr></thead>\
<tbody><tr><th scope="row">1</th><td>2</td></tr></tbody></table></div>
<pre><code>&gt;&gt;&gt; x &lt; &quot;1&quot;</code></pre>
</article>"""
    )


def test_truncated_laplace_noise_has_a_table_of_the_values_of_its_figure(
    folder: Path, page: Page
) -> None:
    with (folder / "truncated-laplace.csv").open(encoding="utf-8") as file:
        drawn = {(row["curve"], row["ε"]): float(row["value"]) for row in csv.DictReader(file)}
    with (folder / "truncated-laplace-ratios.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15
    for row in rows:
        for name, column in (("ℓ1", "E|X|"), ("ℓ2", "E X²")):
            excess = drawn[f"{name}, {row['path']}", row["ε"]]
            assert float(row[column]) == pytest.approx(1 + excess, abs=1e-12)
            assert 1 <= float(row[column]) < 1.1
    cells = [_plain(cell) for cell in page.find("td", within="table-truncated-laplace-ratios")]
    assert len(cells) == 4 * len(rows)
    assert cells[2] == f"{1 + drawn['ℓ1, δ = √ε', '0.0625']:.8f}"


def test_the_page_shows_algorithm_1_and_its_failure_in_floats(page: Page) -> None:
    (code,) = page.find("pre", within="algorithm-1")
    assert "paper.algorithm_1(delta='0.75'" in _plain(code)
    cells = [_plain(cell) for cell in page.find("td", within="table-algorithm-1-distances")]
    assert cells[4:8] == ["0.1", "0.67, at least 0.65", "0.36, at least 0.33", "0.1"]
    text = " ".join(_plain(p) for p in page.find("p", within="algorithm-1"))
    assert "B is 0 with probability α" in text
    assert "lattice instead" in text


def test_the_cells_of_the_discretization_have_the_mass_of_the_density(
    drawn: "dict[str, list[list[Layer]]]",
) -> None:
    for noise in numbers.densities().values():
        if isinstance(noise, Steps):
            assert noise.atoms == {0: Fraction(2, 5)}
            assert noise.is_decreasing
    shown = [*numbers.densities().values()] * 2
    for layers, noise in zip(drawn["discrete"], shown, strict=True):
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
    files, written = (
        {str(p.relative_to(where)): p.read_bytes() for p in where.rglob("*") if p.is_file()}
        for where in (folder, again)
    )
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
