"""Proof pages as HTML: the part of Markdown that docs/theory uses."""

import re
from collections.abc import Iterator
from html import escape
from itertools import count

_CODE = re.compile(r"(`[^`]+`)")
_ESCAPED = re.compile(r"\\([*|_])")
_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_ITALIC = re.compile(r"(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?!\w)", re.DOTALL)
_LINK = re.compile(r"\[([^]]+)]\(([\w-]+)\.md\)")
_HEADING = re.compile(r"(#+) (.+)")
_TABLE = re.compile("<table>")
_ITEM = re.compile(r"(?:[*-]|\d+\.) +")
# Stars and bars that the source escapes, while the others are read.
_HIDDEN = {"*": "\ue000", "|": "\ue001", "_": "\ue002"}


def render_proof(name: str, text: str) -> str:
    """Return a page as an article; its links lead to the articles of other pages."""
    parts = "\n".join(_render_part(part) for part in _split(text))
    numbers = count(1)
    named = _TABLE.sub(lambda _: _open_table(name, next(numbers)), parts)
    return f'<article id="proof-{name}">\n{named}\n</article>'


def _open_table(name: str, number: int) -> str:
    """Return the start of a table that scrolls, which must be reachable by keyboard."""
    caption = f"Table {number} of {name}"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
        f'<table id="proof-{name}-table-{number}"><caption>{caption}</caption>'
    )


def _split(text: str) -> Iterator[str]:
    """Yield blocks: code with its fence, or lines up to an empty one."""
    for i, part in enumerate(text.split("```")):
        if i % 2:
            yield f"```{part}"
        else:
            yield from (block for block in re.split(r"\n\s*\n", part) if block.strip())


def _render_part(part: str) -> str:
    if part.startswith("```"):
        return f"<pre><code>{escape(part.partition(chr(10))[2].strip())}</code></pre>"
    lines = part.strip("\n").splitlines()
    if heading := _HEADING.fullmatch(lines[0]):
        level = len(heading[1]) + 2
        text = "\n".join(lines[1:])
        return f"<h{level}>{_inline(heading[2])}</h{level}>" + (_render_part(text) if text else "")
    if all(line.startswith("    ") for line in lines):
        return f"<pre><code>{escape(chr(10).join(line[4:] for line in lines))}</code></pre>"
    if lines[0].startswith("|"):
        return _render_table(lines)
    if _ITEM.match(lines[0]):
        return _render_list(lines)
    return f"<p>{_inline(' '.join(line.strip() for line in lines))}</p>"


def _render_list(lines: list[str]) -> str:
    items: list[str] = []
    for line in lines:
        if start := _ITEM.match(line):
            items.append(line[start.end() :])
        else:
            items[-1] += f" {line.strip()}"
    kind = "ol" if lines[0][0].isdigit() else "ul"
    return f"<{kind}>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</{kind}>"


def _render_table(lines: list[str]) -> str:
    rows = [
        [_inline(cell.strip()) for cell in _hide(line).strip().strip("|").split("|")]
        for line in (lines[0], *lines[2:])
    ]
    head, *body = rows
    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body_rows = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for first, *cells in body
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body_rows}</tbody></table></div>"


def _hide(text: str) -> str:
    return _ESCAPED.sub(lambda match: _HIDDEN[match[1]], text)


def _inline(text: str) -> str:
    """Return text with code, bold, italic and links as HTML."""
    parts = _CODE.split(_hide(text))
    html = "".join(
        f"<code>{escape(part[1:-1])}</code>" if i % 2 else _mark(escape(part))
        for i, part in enumerate(parts)
    )
    for plain, hidden in _HIDDEN.items():
        html = html.replace(hidden, plain)
    return html.replace("P_α", "P<sub>α</sub>")


def _mark(text: str) -> str:
    linked = _LINK.sub(r'<a href="#proof-\2">\1</a>', text)
    return _ITALIC.sub(r"<i>\1</i>", _BOLD.sub(r"<b>\1</b>", linked))
