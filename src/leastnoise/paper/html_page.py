"""The page of the paper as one HTML file that loads nothing: figures and style are inside."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape

from leastnoise.paper.proof_html import render_proof
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

_RELATION = re.compile(r"(?<=[=≤≥]) | (?=[=≤≥])|(?<=\(0,) |(?<=\bE) (?=X)")
_PAGE = re.compile(r"docs/theory/([\w-]+)\.md")
_LONG_WORD = re.compile(r"[^\s<>]{25}")
_STYLE = """
:root { --ink: #1c2733; --soft: #52606d; --line: #d5dbe1; --paper: #fff; --tint: #f4f6f8; }
* { box-sizing: border-box; }
html { color-scheme: light; -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 50rem; color: var(--ink);
  background: var(--paper); font: 1.0625rem/1.6 Georgia, "Times New Roman", serif; }
h1, h2, h3, h4, nav, table, figcaption, .reference { font-family: system-ui, -apple-system,
  "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { margin: 0 0 .25rem; font-size: 2rem; line-height: 1.2; }
h2 { margin: 3rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--line);
  font-size: 1.3rem; line-height: 1.3; }
h3 { margin: 2.5rem 0 .5rem; font-size: 1.15rem; }
h4 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
p, ul, ol { max-width: 42rem; }
article code { white-space: normal; overflow-wrap: anywhere; }
.reference { color: var(--soft); font-size: .95rem; margin: 0 0 1.5rem; }
#result p:first-of-type { font-size: 1.2rem; font-weight: bold; }
nav { font-size: .95rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0; padding: 0;
  list-style: none; }
nav li { margin: 0; }
a { color: #1f4e79; }
main li { margin: .35rem 0; }
sub { font-size: .75em; line-height: 0; }
code { font-size: .9em; white-space: nowrap; }
figure { margin: 2rem 0; }
figure img { display: block; max-width: 100%; height: auto; background: #fff; }
figcaption { margin-top: .6rem; max-width: 44rem; color: var(--soft); font-size: .9rem;
  line-height: 1.5; }
.scroll { margin: 1.5rem 0; overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; line-height: 1.4; }
caption { padding-bottom: .5rem; text-align: left; font-weight: 600; }
th, td { padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; overflow-wrap: break-word; }
thead th { border-bottom: 2px solid var(--soft); vertical-align: bottom; }
tbody th { font-weight: 600; }
table.numeric { font-variant-numeric: tabular-nums; }
table.numeric th, table.numeric td { padding: .25rem 0 .25rem 1.5rem; text-align: right; }
table.numeric th:first-child { padding-left: 0; }
table.wide { min-width: 44rem; width: 100%; }
td.long { overflow-wrap: anywhere; }
pre { overflow-x: auto; font-size: .875rem; line-height: 1.5; }
pre code { font-size: inherit; white-space: pre; }
.badge { display: inline-block; padding: .1rem .45rem; border-radius: .3rem; font-weight: 600; }
.good { background: #e3f1e6; color: #1d5a2b; }
.corrected { width: 7.75rem; background: #fcefd4; color: #6b4700; }
.bad { background: #f9dfe0; color: #8b1a22; }
@media screen {
  .outset { width: min(72rem, 100vw - 2.5rem);
    margin-left: calc(50% - min(36rem, 50vw - 1.25rem)); }
}
@media print { body { max-width: none; } figure, tr { break-inside: avoid; } }
"""


def render_html(
    title: str, reference: str, sections: Sequence[Section], figures: Mapping[str, str]
) -> str:
    """Return the page.

    Args:
        title: The title of the page.
        reference: The paper, as text.
        sections: The content.
        figures: The SVG text of each figure, by its name.
    """
    links = "".join(f'<li><a href="#{s.name}">{_text(s.title)}</a></li>' for s in sections)
    parts = "\n".join(
        f'<section id="{section.name}">\n<h2>{_text(section.title)}</h2>\n'
        + "\n".join(_render_block(block, figures) for block in section.blocks)
        + "\n</section>"
        for section in sections
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p class="reference">{escape(reference)}.</p>
</header>
<nav aria-label="Contents"><ul>{links}</ul></nav>
<main>
{parts}
</main>
</body>
</html>
"""


def _render_block(block: Block, figures: Mapping[str, str]) -> str:
    if isinstance(block, Figure):
        return _render_figure(block, figures[block.name])
    if isinstance(block, Table):
        return _render_table(block)
    if isinstance(block, Code):
        return f"<pre><code>{escape(chr(10).join(block.lines))}</code></pre>"
    if isinstance(block, Proof):
        return render_proof(block.name, block.text)
    if isinstance(block, Items):
        items = (f"<li><b>{_text(label)}.</b> {_text(text)}</li>" for label, text in block.items)
        return "<ul>\n" + "\n".join(items) + "\n</ul>"
    return f"<p>{_text(block)}</p>"


def _render_figure(figure: Figure, svg: str) -> str:
    """Return a figure as an image: within an image, the names of SVG elements cannot collide."""
    data = b64encode(svg.encode()).decode()
    return (
        f'<figure id="figure-{figure.name}">\n'
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(figure.alt)}">\n'
        f"<figcaption><b>{_text(figure.label)}.</b> {_text(figure.caption)}</figcaption>\n</figure>"
    )


def _render_table(table: Table) -> str:
    kinds = {"wide": table.is_wide, "numeric": table.is_numeric}
    classes = " ".join(kind for kind, applies in kinds.items() if applies)
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in table.header)
    rows = "\n".join(_render_row(row) for row in table.rows)
    name = f"table-{table.name.removeprefix('table-')}"
    # A table that scrolls must be reachable by keyboard.
    return (
        f'<div class="scroll{" outset" * table.is_wide}" tabindex="0" role="region" '
        f'aria-label="{escape(table.title)}">\n<table id="{name}" class="{classes}">\n'
        f"<caption>{_text(table.title)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _render_row(row: Sequence[Cell]) -> str:
    first, *others = map(_render_cell, row)
    # A cell with a long word, such as a call, may break anywhere, so that the table fits.
    classes = (' class="long"' if _LONG_WORD.search(cell) else "" for cell in others)
    cells = "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(classes, others, strict=True))
    return f'<tr><th scope="row">{first}</th>{cells}</tr>'


def _render_cell(cell: Cell) -> str:
    if isinstance(cell, Badge):
        return f'<span class="badge {cell.kind}">{_text(cell.text)}</span>'
    return _text(cell)


def _text(text: str) -> str:
    """Return plain text as HTML; no line ends within a formula, and page names are links."""
    joined = _RELATION.sub("\u00a0", escape(text))
    return _PAGE.sub(
        r'<a href="#proof-\1"><code>\g<0></code></a>', joined.replace("P_α", "P<sub>α</sub>")
    )
