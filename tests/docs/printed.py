"""Screens in documents that differ in each run: made here, compared without digits, recorded.

``python -m tests.docs.printed`` writes the screens of a new run into the documents.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import leastnoise as ln
from leastnoise.tables import census

ROOT = Path(__file__).resolve().parents[2]
# Which screens a document shows.
DOCUMENTS = {
    "README.md": ("regions", "commands"),
    "docs/first-report.md": ("regions",),
    "docs/tables.md": ("regions",),
}
# The last line of a screen of which a document shows only the first lines, or none.
OMITTED = "…\n"


def shown(document: str, name: str) -> str:
    """Return a screen as the document shows it."""
    text = (ROOT / document).read_text(encoding="utf-8")
    (screen,) = re.findall(_pattern(name), text)
    return str(screen[1])


def masked(text: str) -> str:
    """Return a text without its digits and without the digest in a key."""
    return re.sub(r"\d", "#", re.sub(r"#[0-9a-f]{24}", "", text))


def run(document: str, name: str, folder: Path) -> str:
    """Return a screen of a new run in a folder."""
    screen = shown(document, name)
    return shorten(regions(folder), screen) if name == "regions" else session(screen, folder)


def shorten(output: str, screen: str) -> str:
    """Return as many of the first lines of an output as a screen shows, and that lines follow."""
    if not screen.endswith(OMITTED):
        return output
    lines, count = output.splitlines(keepends=True), screen.count("\n") - OMITTED.count("\n")
    assert count < len(lines), "nothing is omitted"
    return "".join([*lines[:count], OMITTED])


def regions(folder: Path) -> str:
    """Count people by region, as the quickstart does."""
    with ln.Ledger(folder / "people.ledger", limit=ln.Privacy(1, "1e-6")) as ledger:
        people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger)
        answers = people.count(by="region", max_groups=1, privacy=ln.Privacy("0.2", "1e-7"))
        return f"{answers}\n"


def session(text: str, folder: Path) -> str:
    """Run the commands of a session one after the other, next to the census."""
    shutil.copy(census(), folder / "people.csv")
    parts = []
    for command, output in re.findall(r"(?ms)^\$ ((?:[^\n]*\\\n)*[^\n]*\n)(.*?)(?=^\$ |\Z)", text):
        words = shlex.split(command.replace("\\\n", " "))
        assert words[0] == "leastnoise"
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=folder,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=False,
            encoding="utf-8",
        )
        assert (done.returncode, done.stderr) == (0, ""), command
        parts += ["$ ", command, shorten(done.stdout, output)]
    return "".join(parts)


def record() -> None:
    """Write the screens of a new run into the documents."""
    for document, names in DOCUMENTS.items():
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                screen = run(document, name, Path(folder))
            path = ROOT / document
            text = path.read_text(encoding="utf-8")
            found = re.search(_pattern(name), text)
            assert found is not None
            start, end = found.span(2)
            path.write_text(text[:start] + screen + text[end:], encoding="utf-8")


def _pattern(name: str) -> str:
    return rf"(?s)(<!-- printed: {name} -->\n\n?```[a-z-]+\n)(.*?)(?=```\n)"


if __name__ == "__main__":
    record()
