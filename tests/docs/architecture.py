"""Make the parts of docs/architecture.md that the code itself decides.

``python -m tests.docs.architecture`` renews them: the drawing, from the layers in pyproject.toml;
the tree, from the first line of every module's docstring; and the files that a release and its
proof reach. A test fails when they are stale.
"""

import ast
import tomllib
from html import escape
from pathlib import Path

from tests.support.trusted_lines import FAMILIES, counted, reached

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "leastnoise"
PAGE = ROOT / "docs" / "architecture.md"
DRAWING = ROOT / "docs" / "figures" / "architecture.svg"

_WIDTH, _ROW, _GAP, _MARGIN = 860, 30, 6, 16
_INK, _LINE, _TRUSTED, _PLAIN = "#1b1f24", "#8c959f", "#ddf4e4", "#f3f5f7"


def main() -> None:
    """Renew the drawing and the page."""
    DRAWING.parent.mkdir(exist_ok=True)
    DRAWING.write_text(drawing(), encoding="utf-8")
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def renewed(page: str) -> str:
    """Return the page with the tree and the trusted files of the code as it is."""
    for name, content in (("tree", tree()), ("trusted", trusted())):
        start, end = f"<!-- {name} -->\n", f"<!-- {name} end -->"
        before, _, rest = page.partition(start)
        _, found, after = rest.partition(end)
        assert found, f"the page needs a place for the {name}"
        page = f"{before}{start}```text\n{content}\n```\n{end}{after}"
    return page


def layers(contract: str) -> list[str]:
    """Return the rows of a layers contract, from the top; none if there is no such contract."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    found = [each["layers"] for each in contracts if each["id"] == contract and "layers" in each]
    return found[0] if found else []


def summary(path: Path) -> str:
    """Return the first line of a module's docstring, without its period."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring, f"{path.name} needs a docstring"
    return docstring.splitlines()[0].removesuffix(".")


def module(folder: Path, name: str) -> Path:
    """Return the file that holds a package's or a module's docstring."""
    return folder / name / "__init__.py" if (folder / name).is_dir() else folder / f"{name}.py"


# ---------------------------------------------------------------- the tree


def tree() -> str:
    """Return one line for each package and module, in the order of the layers."""
    order = [name for row in layers("layers") for name in row.split(" | ")]
    return "\n".join(line for name in order for line in _branch(PACKAGE, name, 0))


def _branch(folder: Path, name: str, depth: int) -> list[str]:
    path = folder / name
    shown = f"{'  ' * depth}{name}{'/' * path.is_dir()}"
    lines = [f"{shown:<26} {summary(module(folder, name))}"]
    if path.is_dir():
        for child in _children(path):
            lines += _branch(path, child, depth + 1)
    return lines


def _children(folder: Path) -> list[str]:
    """Return the modules of a package: by layers where a contract orders them, else by name."""
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    found = modules | packages
    rows = [name for row in layers(folder.name) for name in row.split(" | ")]
    return [name for name in rows if name in found] + sorted(found - set(rows))


def trusted() -> str:
    """Return the files of core that a release and its proof reach, by package."""
    files = counted(set().union(*(reached(family) for family in FAMILIES)))
    groups: dict[str, list[str]] = {}
    for file in sorted(files):
        folder, _, name = file.rpartition("/")
        groups.setdefault(folder, []).append(name.removesuffix(".py"))
    return "\n".join(f"{folder + '/':<16} {' '.join(names)}" for folder, names in groups.items())


# ---------------------------------------------------------------- the drawing


def drawing() -> str:
    """Return the layers as an SVG: a box imports only from boxes below it."""
    boxes: list[str] = []
    y = _MARGIN
    for row in layers("layers"):
        if row == "core":
            y = _core(boxes, y)
        else:
            boxes.append(_box(_MARGIN, y, _WIDTH - 2 * _MARGIN, row, PACKAGE, _PLAIN))
            y += _ROW + _GAP
    height = y - _GAP + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" font-family="system-ui, sans-serif" '
        f'role="img" aria-label="The layers of leastnoise">\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>\n'
        + "\n".join(boxes)
        + "\n</svg>\n"
    )


def _core(boxes: list[str], y: int) -> int:
    """Add the trusted core, with its own layers inside."""
    folder, inner = PACKAGE / "core", layers("core")
    height = _ROW + len(inner) * (_ROW + _GAP)
    boxes.append(
        f'<rect x="{_MARGIN}" y="{y}" width="{_WIDTH - 2 * _MARGIN}" height="{height}" rx="5" '
        f'fill="{_TRUSTED}" stroke="#2da44e" stroke-width="1.5"/>'
    )
    boxes.append(_label(_MARGIN + 12, y + 20, "core", summary(folder / "__init__.py")))
    y += _ROW
    for row in inner:
        names = row.split(" | ")
        room = _WIDTH - 4 * _MARGIN
        width = (room - _GAP * (len(names) - 1)) // len(names)
        for i, name in enumerate(names):
            x = 2 * _MARGIN + i * (width + _GAP)
            boxes.append(_box(x, y, width, name, folder, "#ffffff", brief=len(names) > 1))
        y += _ROW + _GAP
    return y + _GAP


def _box(
    x: int, y: int, width: int, name: str, folder: Path, fill: str, *, brief: bool = False
) -> str:
    """Return one box with a name and, where there is room, what the module says of itself."""
    rectangle = (
        f'<rect x="{x}" y="{y}" width="{width}" height="{_ROW}" rx="4" '
        f'fill="{fill}" stroke="{_LINE}"/>'
    )
    said = "" if brief else summary(module(folder, name))
    return rectangle + "\n" + _label(x + 12, y + 20, name, said)


def _label(x: int, y: int, name: str, said: str) -> str:
    text = f'<text x="{x}" y="{y}" font-size="14" font-weight="600" fill="{_INK}">{name}</text>'
    if said:
        text += f'\n<text x="{x + 120}" y="{y}" font-size="13" fill="{_INK}">{escape(said)}</text>'
    return text


if __name__ == "__main__":
    main()
