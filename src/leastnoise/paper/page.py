"""Write the paper's claims, tables, figures and proofs as files: two pages and their parts."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from leastnoise import plots
from leastnoise.errors import InvalidParameter
from leastnoise.files import write_text
from leastnoise.paper.html_page import render_html
from leastnoise.paper.markdown_page import PROOFS_FOLDER, render_markdown
from leastnoise.paper.numbers import Row
from leastnoise.paper.page_content import REFERENCE, TITLE, sections
from leastnoise.paper.sections import Badge, Figure, Proof, Table
from leastnoise.rendering import Progress


def write(folder: str | Path) -> Path:
    """Write the recomputed claims, tables and figures of the paper as files.

    ``paper.html`` is one file that loads nothing from elsewhere. ``paper.md`` refers to the figures
    in the folder and to the proofs in its folder ``theory``. Both have the same content.

    Args:
        folder: The folder to write to; it is created if necessary.

    Returns:
        The path of ``paper.md``; ``paper.html`` is next to it.

    Raises:
        InvalidParameter: If the folder cannot be created or written.
        Unsupported: If Altair is not installed.
    """
    target = Path(folder)
    for part in (target, target / PROOFS_FOLDER):
        _create(part)
    with Progress("recomputing the paper") as now:
        content = sections()
        blocks = [block for section in content for block in section.blocks]
        figures = {}
        for block in blocks:
            if isinstance(block, Figure):
                now(f"writing the figure {block.name}")
                plots.save(block.chart, target / f"{block.name}.png")
                figure = plots.save(block.chart, target / f"{block.name}.svg")
                figures[block.name] = figure.read_text(encoding="utf-8")
            if isinstance(block, Proof):
                write_text(target / PROOFS_FOLDER / f"{block.name}.md", block.text)
            if isinstance(block, Figure | Table):
                _write_csv(target / f"{block.name}.csv", _rows(block))
    page = target / "paper.md"
    write_text(page, render_markdown(TITLE, REFERENCE, content))
    write_text(page.with_suffix(".html"), render_html(TITLE, REFERENCE, content, figures))
    return page


def _create(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise InvalidParameter(
            "folder must be a folder",
            got=f"the file {target.name!r}",
            fix="Use a folder, or a new name.",
        )
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameter(
            f"The folder {target.name!r} cannot be created ({type(error).__name__})",
            fix="Use a folder where you can write.",
        ) from error


def _rows(block: Figure | Table) -> Sequence[Row]:
    """Return the values of a figure or table for a CSV file; none if it has no values."""
    if block.data or isinstance(block, Figure):
        return block.data
    texts = ((cell.text if isinstance(cell, Badge) else cell for cell in row) for row in block.rows)
    return [dict(zip(block.header, row, strict=True)) for row in texts]


def _write_csv(path: Path, rows: Sequence[Row]) -> None:
    if not rows:
        return
    lines = io.StringIO(newline="")
    writer = csv.DictWriter(lines, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, lines.getvalue())
