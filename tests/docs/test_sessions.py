"""The sessions that pages show: their commands run and print what is shown."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from leastnoise.cli import main
from leastnoise.tables import census
from tests.support.shown_files import write_shown_files

ROOT = Path(__file__).resolve().parents[2]


def commands(page: Path) -> list[tuple[str, str]]:
    """Return each command of the sessions of a page with the output below it."""
    blocks = re.findall(r"(?ms)^```shell-session\n(.*?)^```$", page.read_text(encoding="utf-8"))
    shown = r"(?ms)^\$ ((?:[^\n]*\\\n)*[^\n]*\n)(.*?)(?=^\$ |\Z)"
    found = [re.findall(shown, block) for block in blocks]
    return [(line.replace("\\\n", " "), output) for block in found for line, output in block]


# The sessions of the front page are recorded (printed.py).
PAGES = [page for page in sorted(ROOT.glob("docs/*.md")) if commands(page)]


def test_the_pages_with_sessions_are_found() -> None:
    assert {"card", "command-line", "ledger-commands", "backup-and-witness"} <= {
        one.stem for one in PAGES
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_print_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order, next to the census. In the page … stands for output that varies."""
    shutil.copy(census(), tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path)
    write_shown_files(page, tmp_path)
    for command, shown in commands(page):
        name, *words = shlex.split(command)
        assert name == "leastnoise"
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        wanted = shown.replace("…", "...")
        assert doctest.OutputChecker().check_output(wanted, done.output, doctest.ELLIPSIS), (
            f"{command}\n{done.output}"
        )
    files = re.findall(r"--out (\S+)", page.read_text(encoding="utf-8"))
    assert all(Path(file).is_file() for file in files if not file.isupper())


def test_a_session_that_shows_something_else_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```shell-session\n$ a \\\n    b\nx\n$ c\n```\n", encoding="utf-8")
    assert commands(page) == [("a      b\n", "x\n"), ("c\n", "")]
