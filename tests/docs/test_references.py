"""The names and files that documents and docstrings point to exist."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "leastnoise"
# The changelog also names what is gone.
PAGES = [page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md"]
TEXTS = sorted(
    [*PAGES, *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("examples/*.py")]
)
# Tables and a function in the schema of a PostgreSQL ledger.
IN_SQL = {"leastnoise.rows", "leastnoise.head", "leastnoise.refuse"}


def missing_names(text: str) -> set[str]:
    """Return the dotted names below leastnoise that cannot be imported."""
    named = set(re.findall(r"(?<![\w./\[@-])leastnoise(?:\.\w+)+", text)) - IN_SQL
    return {name for name in named if not exists(name)}


def exists(name: str) -> bool:
    """Return whether a dotted name is a module, or an attribute of one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[count:]:
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False


def missing_files(text: str, folder: Path) -> set[str]:
    """Return the files that are named with a folder and are not in the checkout."""
    named = set(re.findall(r"(?<![\w.-])[\w./-]*\w/[\w.-]+\.(?:py|md)\b", text))
    places = (ROOT, PACKAGE, folder)
    return {name for name in named if not any((place / name).is_file() for place in places)}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_names_and_files_in_a_text_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert missing_names(text) == set()
    assert missing_files(text, path.parent) == set()


@pytest.mark.parametrize("folder", ["tests", "benchmarks"])
def test_pages_that_other_code_names_exist(folder: str) -> None:
    """Pages only: tests also name files that they make."""
    named = {
        page
        for path in (ROOT / folder).rglob("*.py")
        if path != Path(__file__)
        for page in re.findall(r"\bdocs/[\w./-]+\.md\b", path.read_text(encoding="utf-8"))
    }
    assert named
    assert {page for page in named if not (ROOT / page).is_file()} == set()


def test_a_missing_name_or_file_would_be_found() -> None:
    assert missing_names("see :mod:`leastnoise.profiles` and leastnoise.core.privacy.Privacy") == {
        "leastnoise.profiles"
    }
    assert missing_names("leastnoise.core.privacy.Secrecy") == {"leastnoise.core.privacy.Secrecy"}
    assert missing_files("`core/privacy.py`, docs/theory/none.md", ROOT) == {"docs/theory/none.md"}
