"""The figure of an answer in the documents, drawn with seeded noise.

``python -m tests.docs.pictures`` draws it again.
"""

import re
from pathlib import Path

import leastnoise as ln
from leastnoise import plots
from leastnoise.tables import census

FIGURE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "answer.svg"


def draw(path: Path) -> None:
    """Draw the counts of docs/draw-answers.md."""
    with ln.protect(
        census(), unit="person_id", max_rows=1, ledger=ln.testing.NotPrivateLedger(seed=1)
    ) as people:
        regions = people.count(by="region", max_groups=1, privacy=ln.Privacy("0.2", "1e-7"))
    plots.save(plots.answer(regions), path)


def texts(path: Path) -> list[tuple[str, str]]:
    """Return the texts of a figure and the descriptions of its bars."""
    return re.findall(r'>([^<>\n]+)<|aria-label="([^"]+)', path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    draw(FIGURE)
