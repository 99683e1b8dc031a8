"""The documents say what is: commands, versions, exports, links, and nothing of one machine."""

import csv
import importlib.util
import inspect
import math
import re
import shlex
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

import leastnoise
from leastnoise.tables import QUERIES
from tests.docs import printed

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FIGURES = ROOT / "docs" / "theory" / "figures"
HEAVY = {"altair", "click", "cryptography", "flint", "numpy", "scipy"}


def output(*command: str) -> str:
    """Return what a command prints in the checkout; it must succeed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def console(text: str) -> list[tuple[str, str]]:
    """Return each command of the console blocks of a document with the output below it."""
    blocks = re.findall(r"(?ms)^```console\n(.*?)^```$", text)
    shown = [re.split(r"(?m)^\$ ", block) for block in blocks]
    assert all(start == "" for start, *_ in shown), "a console block begins with a command"
    parts = [part.partition("\n") for _, *block in shown for part in block]
    return [(command, printed) for command, _, printed in parts]


SHOWN = [
    pytest.param(command, printed, id=f"{document.name}: {command}")
    for document in DOCUMENTS
    for command, printed in console(document.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("command", "printed"), SHOWN)
def test_a_command_in_a_document_does_what_it_shows(command: str, printed: str) -> None:
    """Ours print exactly what stands below them; those of `go` exist and show no output."""
    words = shlex.split(command, comments=True)
    if words[:2] == ["python3", "go"]:
        assert output(sys.executable, "go", *words[2:], "--help").startswith("usage: go ")
        assert printed == ""
    else:
        assert words[0] == "leastnoise", "only commands that are checked here may be shown"
        assert output(sys.executable, "-m", *words) == printed


def test_the_front_page_shows_how_to_start() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [readme.count(f"`python3 go {name}`") for name in ("demo", "test")] == [1, 1]


RECORDED = [(document, name) for document, names in printed.DOCUMENTS.items() for name in names]


@pytest.mark.parametrize(("document", "name"), RECORDED)
def test_a_screen_in_a_document_is_printed_today(document: str, name: str, tmp_path: Path) -> None:
    """With the same words and as many digits. Noise of at most 70 changes no number of digits."""
    now = printed.run(document, name, tmp_path)
    assert printed.masked(printed.shown(document, name)) == printed.masked(now)
    assert max(map(len, now.splitlines())) <= 80


def test_every_marked_screen_is_checked() -> None:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        names = re.findall(r"<!-- printed: (\w+) -->", text)
        name = document.relative_to(ROOT).as_posix()
        assert sorted(names) == sorted(printed.DOCUMENTS.get(name, ()))


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^## (.*)$", changelog)[0] == leastnoise.__version__


LINKS = [
    pytest.param(document, link, id=f"{document.name}: {link}")
    for document in DOCUMENTS
    for link in re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("document", "link"), LINKS)
def test_a_link_to_a_file_leads_to_one(document: Path, link: str) -> None:
    assert (document.parent / link).is_file()


def test_every_page_is_reached_from_an_index() -> None:
    """A page from the index of its folder, and the indexes from one another."""
    for index in (ROOT / "docs/README.md", ROOT / "docs/theory/README.md"):
        pages = {page.resolve() for page in index.parent.glob("*.md")} - {index}
        assert len(pages) > 2
        assert pages <= linked(index)
    assert ROOT / "docs/README.md" in linked(ROOT / "README.md")
    assert ROOT / "docs/theory/README.md" in linked(ROOT / "docs/README.md")


def linked(page: Path) -> set[Path]:
    """Return the files that a page links to."""
    named = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    return {(page.parent / link).resolve() for link in named}


def slug(heading: str) -> str:
    """Return the anchor of a heading: lower case, without punctuation, hyphens for blanks."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


ANCHORS = [
    pytest.param(document, page, anchor, id=f"{document.name}: {page}#{anchor}")
    for document in DOCUMENTS
    for page, anchor in re.findall(
        r"\]\((?!https?://)([^)#]*)#([^)]+)\)", document.read_text(encoding="utf-8")
    )
]


@pytest.mark.parametrize(("document", "page", "anchor"), ANCHORS)
def test_a_link_to_a_section_leads_to_one(document: Path, page: str, anchor: str) -> None:
    text = (document.parent / page if page else document).read_text(encoding="utf-8")
    assert anchor in {slug(heading) for heading in re.findall(r"(?m)^#+ (.*)$", text)}


# Written by `go bench` and `tests.docs.architecture`: as long as what they list.
LISTS = {"architecture.md", "performance.md"}
PAGES = [page for page in sorted(ROOT.glob("docs/*.md")) if page.name not in LISTS]


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.stem)
def test_a_page_begins_with_its_use(page: Path) -> None:
    """A title, and a sentence about what the reader can do or look up."""
    start = r"# [^\n]+\n\n(After reading this page, you (can|know)|On this page you can look up) "
    assert re.match(start, page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short(page: Path) -> None:
    """At most 200 lines, of 80 characters in code and screens, of 120 elsewhere but in tables."""
    text = page.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    blocks = re.compile(r"(?ms)^```\w.*?^```$")
    code = [line for block in blocks.findall(text) for line in block.splitlines()]
    assert [line for line in code if len(line) > 80] == []
    prose = [line for line in blocks.sub("", text).splitlines() if not line.startswith("|")]
    assert [line for line in prose if len(line) > 120] == []


# ------------------------------------------------------------------- docs/comparing.md


def example(name: str) -> ModuleType:
    """Return a script of the examples as a module: they are no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = example("compare")
COSTS: dict[str, leastnoise.Cost] = script.COSTS


def kept(name: str) -> list[dict[str, str]]:
    """Return a table that the script has written."""
    with (FIGURES / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", COSTS)
def test_the_tables_of_the_comparison_stand_in_the_document(name: str) -> None:
    text = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")
    assert script.markdown(kept(f"compare-{name}")) in text


@pytest.mark.parametrize(("name", "cost"), COSTS.items())
def test_the_tables_agree_with_what_is_found_now(name: str, cost: leastnoise.Cost) -> None:
    """To the digits that are shown, rounded up; what is solved for, within its gap."""
    rows = {row["noise"]: row for row in kept(f"compare-{name}")}
    now = leastnoise.compare(script.PRIVACY, sensitivity=1, cost=cost)
    assert set(rows) == {*(row.family for row in now), script.BOUND}
    bound = Fraction(rows[script.BOUND]["cost"])
    assert bound == pytest.approx(now.lower_bound, rel=2e-3)
    assert bound <= min(row.cost for row in now)
    for row in now:
        shown = rows[row.family]
        near = 2e-3 if row.family == "certified" else 1e-4
        assert Fraction(shown["cost"]) == pytest.approx(row.cost, rel=near)
        assert Fraction(shown["times"]) >= Fraction(shown["cost"]) / bound * (1 - Fraction(1, 5000))
        if row.family != "certified":
            assert Fraction(shown["cost"]) >= row.cost
            assert Fraction(shown["usual"]) >= row.half_width
            assert Fraction(shown["proves"]) >= row.infinity_mass
            assert shown["largest"] == "–" or Fraction(shown["largest"]) >= row.radius


def test_where_the_gaussian_overtakes() -> None:
    """At (1, 1e-6) from 12 answers on for l1 and from 9 on for l2; at (0, 1e-6) from 2 on."""
    rows = kept("compare-releases")
    first = {}
    for guarantee, cost in {(row["promise"], row["cost"]): None for row in rows}:
        line = [row for row in rows if (row["promise"], row["cost"]) == (guarantee, cost)]
        times = [float(row["times the Gaussian"]) for row in line]
        assert all(before < after for before, after in pairwise(times))
        ahead = next(row for row in line if float(row["times the Gaussian"]) > 1)
        first[guarantee, cost] = int(ahead["releases"])
    usual, plain = script.GUARANTEES
    assert first == {(usual, "l1"): 12, (usual, "l2"): 9, (plain, "l1"): 2, (plain, "l2"): 2}


def test_the_script_on_a_few_releases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As δ → 0 the uniform noise costs kΔ/4δ and k²Δ²/12δ², the Gaussian √k·Δ/πδ and kΔ²/2πδ²."""
    rows = script.by_releases({"(0, 1e-6)": leastnoise.Privacy(delta="1e-6")}, (1, 2, 5))
    assert len(capsys.readouterr().err.splitlines()) == len(rows) == 6
    for row in rows:
        k, times = int(row["releases"]), float(row["times the Gaussian"])
        limit = math.pi / 4 * math.sqrt(k) if row["cost"] == "l1" else math.pi / 6 * k
        assert times == pytest.approx(limit, rel=2e-5)
        assert row["cheapest other"] == "uniform"
    picture = tmp_path / "releases.svg"
    script.plots.save(script.releases_chart(rows), picture)
    assert "answers under one guarantee" in picture.read_text(encoding="utf-8")


# ------------------------------------------------------------------- the package


def test_everything_public_is_exported_and_nothing_else() -> None:
    """The homes and the table queries, the names for type checkers and ``__all__`` are one list."""
    homes = [name for names in leastnoise._HOMES.values() for name in names]
    homes += {query.class_name for query in QUERIES.values()}
    assert sorted(leastnoise.__all__) == sorted([*homes, *leastnoise._MODULES])
    shown = [name for name in dir(leastnoise) if not name.startswith("_")]
    assert shown == sorted(leastnoise.__all__)
    source = Path(leastnoise.__file__).read_text(encoding="utf-8")
    (typed,) = re.findall(r"(?s)if TYPE_CHECKING:\n(.*?)\n\n", source)
    for name in leastnoise.__all__:
        assert re.search(rf"\b{name}\b", typed)
        assert getattr(leastnoise, name) is not None
    with pytest.raises(AttributeError, match="module 'leastnoise' has no attribute 'nothing'"):
        _ = leastnoise.nothing


EXPORTED = {name: getattr(leastnoise, name) for name in leastnoise.__all__}
CALLS = [name for name, it in EXPORTED.items() if inspect.isclass(it) or inspect.isfunction(it)]


@pytest.mark.parametrize("name", CALLS)
def test_what_is_exported_says_what_it_is(name: str) -> None:
    """By a docstring of its own: neither inherited nor the signature that dataclasses write."""
    words = vars(EXPORTED[name]).get("__doc__", EXPORTED[name].__doc__)
    assert words
    assert not words.startswith(f"{name}(")


@pytest.mark.parametrize(
    "module", ["leastnoise", "leastnoise.mechanism", "leastnoise.core.release"]
)
def test_importing_loads_no_heavy_library(module: str) -> None:
    script = f"import sys, {module}; print(*sorted(m.partition('.')[0] for m in sys.modules))"
    loaded = output(sys.executable, "-c", script).split()
    assert "leastnoise" in loaded
    assert HEAVY.isdisjoint(loaded)


# ------------------------------------------------------------------- the repository

# None of these patterns matches itself, so this file may be searched too.
MACHINES = {
    "a path of one machine": r"(?<![\w.~)}\]])/(?:root|work|home|Users|opt|mnt)/\w",
    "a registry": r"(?i)pythonhosted\.org|pypi\.(?:org|python)|//[\w.-]*(?:artifact|nexus|jfrog)",
    "an address of a package index": r"(?im)^--(?:extra-)?(?:index-url|find-links|trusted-host)\b",
}


@pytest.mark.parametrize("what", MACHINES)
def test_no_file_of_the_repository_names(what: str) -> None:
    """Neither tracked files nor new ones that git does not ignore."""
    listed = output("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    files = [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    assert ROOT / "pyproject.toml" in files
    pattern = re.compile(MACHINES[what])
    texts = {file: file.read_bytes().decode("utf-8", "replace") for file in files}
    assert {
        file.name: pattern.findall(text) for file, text in texts.items() if pattern.search(text)
    } == {}


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("a path of one machine", "open('{}root{}x')"),
        ("a path of one machine", "cd {}work{}main"),
        ("a registry", "https:{0}{0}files.python" + "hosted.org{0}x"),
        ("a registry", "https:{0}{0}py" + "pi.org{0}simple"),
        ("an address of a package index", "-" + "-index-url https:{0}{0}host"),
    ],
)
def test_what_is_searched_for_would_be_found(what: str, line: str) -> None:
    assert re.search(MACHINES[what], line.format("/", "/"))
