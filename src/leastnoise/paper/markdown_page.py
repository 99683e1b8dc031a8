"""The page of the paper in Markdown; its figures and proofs are files next to it."""

import re
from collections.abc import Sequence

from leastnoise.paper.sections import (
    Badge,
    Block,
    Cell,
    Code,
    Figure,
    Items,
    Proof,
    Section,
    Table,
)

# The folder of the proof pages, next to the page.
PROOFS_FOLDER = "theory"
_PAGE = re.compile(r"docs/theory/([\w-]+)\.md")


def render_markdown(title: str, reference: str, sections: Sequence[Section]) -> str:
    """Return the page. It refers to PNG files and to the pages in the folder of proofs."""
    parts = [f"# {title}", f"{reference}. Written by `leastnoise paper`."]
    for section in sections:
        parts += [f"## {section.title}", *map(_render_block, section.blocks)]
    return "\n\n".join(parts) + "\n"


def _render_block(block: Block) -> str:
    if isinstance(block, Figure):
        return f"![{block.alt}]({block.name}.png)\n\n**{block.label}.** {block.caption}"
    if isinstance(block, Table):
        return _render_table(block)
    if isinstance(block, Code):
        return "\n".join(["```python", *block.lines, "```"])
    if isinstance(block, Items):
        return "\n".join(f"- **{label}.** {_link(text)}" for label, text in block.items)
    if isinstance(block, Proof):
        return f"- {_link(f'docs/theory/{block.name}.md')}: {_title(block.text)}"
    return _link(block)


def _title(text: str) -> str:
    """Return the heading of a page."""
    return text.partition("\n")[0].removeprefix("# ")


def _link(text: str) -> str:
    """Return text with links to the proof pages that it names."""
    return _PAGE.sub(rf"[\g<0>]({PROOFS_FOLDER}/\1.md)", text)


def _render_table(table: Table) -> str:
    rule = ("---:" if table.is_numeric else "---",) * len(table.header)
    header, *cells = ([_render_cell(cell) for cell in row] for row in (table.header, *table.rows))
    rows = [header, rule, *cells]
    return "\n".join([f"**{table.title}**", "", *("| " + " | ".join(row) + " |" for row in rows)])


def _render_cell(cell: Cell) -> str:
    if isinstance(cell, Badge):
        text = _escape(cell.text)
        return f"**{text}**" if cell.kind == "bad" else text
    return _escape(cell)


def _escape(text: str) -> str:
    """Return text for a cell: a bare | would end the cell."""
    return _link(text.replace("|", "\\|"))
