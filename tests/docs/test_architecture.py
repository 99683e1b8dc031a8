"""docs/architecture.md is true: its drawing, its tree, its files and its checklists."""

import re

import pytest

from tests.docs.architecture import DRAWING, PACKAGE, PAGE, ROOT, drawing, renewed

TEXT = PAGE.read_text(encoding="utf-8")
RENEW = "run python -m tests.docs.architecture"


def test_the_drawing_shows_the_layers_as_they_are() -> None:
    assert DRAWING.read_text(encoding="utf-8") == drawing(), RENEW


def test_the_tree_and_the_trusted_files_are_those_of_the_code() -> None:
    assert renewed(TEXT) == TEXT, RENEW


NAMED = sorted(set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py|/))`", TEXT)))


@pytest.mark.parametrize("name", NAMED)
def test_a_file_that_the_page_names_exists(name: str) -> None:
    assert any((folder / name).exists() for folder in (PACKAGE, ROOT, ROOT / "src"))


def test_the_page_names_files() -> None:
    assert len(NAMED) > 20
