"""Make the parts of two theory pages that ``leastnoise.paper`` decides.

``python -m tests.docs.contents`` renews them: the table of the paper's contents, the table of the
mechanisms that it cites, and the figure of truncated Laplace noise with its data. A test fails when
they are stale.
"""

import csv
import io
from pathlib import Path

from leastnoise import plots
from leastnoise.core.exact import format_up
from leastnoise.paper import CONTENTS, cited_mechanisms, truncated_laplace_ratios
from leastnoise.paper.cited import truncated_laplace_chart

ROOT = Path(__file__).resolve().parents[2]
THEORY = ROOT / "docs" / "theory"
FIGURE = THEORY / "figures" / "truncated-laplace.svg"
DATA = FIGURE.with_suffix(".csv")


def main() -> None:
    """Renew the tables, the figure and its data."""
    for name, content in tables().items():
        page = THEORY / f"{name}.md"
        page.write_text(renewed(page.read_text(encoding="utf-8"), content), encoding="utf-8")
    DATA.write_text(data(), encoding="utf-8", newline="\n")
    plots.save(truncated_laplace_chart(), FIGURE)


def tables() -> dict[str, str]:
    """Return the table of each page."""
    return {"from-definitions-to-calls": contents(), "cited-systems": cited()}


def renewed(page: str, content: str) -> str:
    """Return a page with this content between its marks."""
    start, end = "<!-- contents -->\n", "<!-- contents end -->"
    before, _, rest = page.partition(start)
    _, found, after = rest.partition(end)
    assert found, "the page needs a place for the table"
    return f"{before}{start}{content}\n{end}{after}"


def contents() -> str:
    """Return the contents of the paper as a table."""
    lines = ["| place | statement | call | result | status |", "|---|---|---|---|---|"]
    for item in CONTENTS:
        status = f"[{item.status}]({item.page}.md)" if item.page else item.status
        cells = (item.place, item.statement, f"`{item.call}`", f"`{item.result}`", status)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join(lines)


def cited() -> str:
    """Return the mechanisms that the paper cites as a table."""
    lines = [
        "| mechanism | source | answers | guarantee | E\\|X\\| | E X² | call |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in cited_mechanisms():
        costs = ("" if cost is None else format_up(cost) for cost in (row.amplitude, row.power))
        cells = (row.name, row.source, row.answers, str(row.privacy), *costs, f"`{row.call}`")
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join(lines)


def data() -> str:
    """Return the data behind the figure as CSV, to six digits."""
    lines = io.StringIO(newline="")
    rows = truncated_laplace_ratios()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(x if isinstance(x, str) else f"{x:.6g}" for x in row.values())
    return lines.getvalue()


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main()
