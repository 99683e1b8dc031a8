"""Mutants: one syntax node of the package is changed, to see whether a test notices.

Nodes are compared as syntax trees: line breaks, quotes, parentheses and comments do not matter. A
definition is found by its qualified name, also after it was moved to another module.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from textwrap import dedent, indent

# Pairs of source texts: an expression or a statement as it is, and what replaces it.
Changes = tuple[tuple[str, str], ...]
New = ast.expr | list[ast.stmt]


@dataclass(frozen=True)
class Mutant:
    """One way to get the code wrong, and the test that must notice.

    Attributes:
        name: What is wrong, in plain English.
        where: The function, class or constant to change: ``leastnoise.core.lattice:Grid.index``.
        changes: What to change there: the result of one of the four functions below.
        caught_by: The test, as pytest names it.
    """

    name: str
    where: str
    changes: Changes
    caught_by: str


def replace(old: str, new: str) -> Changes:
    """Replace an expression by another, or a statement by others."""
    return ((old, new),)


def delete(statement: str) -> Changes:
    """Leave a statement out."""
    return ((statement, "pass"),)


def insert_before(statement: str, new: str) -> Changes:
    """Put statements before another."""
    return ((statement, f"{dedent(new).strip()}\n{dedent(statement).strip()}"),)


def swap(first: str, second: str) -> Changes:
    """Exchange two statements, or two expressions."""
    return ((first, second), (second, first))


def mutate(mutant: Mutant, package: Path) -> tuple[Path, str]:
    """Return the file of a package that a mutant changes and its new text; refuse a misfit."""
    file, tree, definitions = _located(mutant, package)
    before, parsed = ast.dump(tree), [_parsed(*change) for change in mutant.changes]
    nodes = [node for definition in definitions for node in ast.walk(definition)]
    news = {id(_only(mutant, package, file, old, nodes)): new for old, new in parsed}
    _Replacing(news).visit(tree)
    if ast.dump(tree) == before:
        raise _refused(mutant, package, "it changes nothing", [])
    return file, ast.unparse(tree)


class _Replacing(ast.NodeTransformer):
    def __init__(self, news: dict[int, New]) -> None:
        self._news = news

    def visit(self, node: ast.AST) -> New | ast.AST:
        return self._news[id(node)] if id(node) in self._news else self.generic_visit(node)


def _parsed(old: str, new: str) -> tuple[ast.AST, New]:
    """Read both texts: as expressions if both are, else as statements."""
    (replaced,), replacing = ast.parse(dedent(old)).body, ast.parse(dedent(new)).body
    match replaced, replacing:
        case ast.Expr(value=expression), [ast.Expr(value=other)]:
            return expression, other
    return replaced, replacing


def _located(mutant: Mutant, package: Path) -> tuple[Path, ast.Module, list[ast.AST]]:
    """Find the definitions of a name: in the mutant's module, else in the only one with it."""
    module, _, name = mutant.where.partition(":")
    every = sorted(package.rglob("*.py"))
    for files in ([file for file in every if _module(file, package) == module], every):
        trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
        named = {file: [node for at, node in _named(trees[file]) if at == name] for file in files}
        found = [file for file in files if named[file]]
        if len(found) == 1:
            return found[0], trees[found[0]], named[found[0]]
        if found:
            places = [f"{_module(file, package)}:{name}" for file in found]
            raise _refused(mutant, package, "its module lacks it, several others have it:", places)
    known = {at: f"{_module(one, package)}:{at}" for one in files for at, _ in _named(trees[one])}
    near = [known[at] for at in get_close_matches(name, known, 3)]
    raise _refused(mutant, package, "no module defines this name; nearest:", near)


def _named(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Go through functions, classes and constants of a module by their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + child.name, child
            yield from _named(child, f"{prefix}{child.name}.")
            continue
        if isinstance(node, ast.Module) and isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            yield from ((target.id, child) for target in targets if isinstance(target, ast.Name))
        yield from _named(child, prefix)


def _only(mutant: Mutant, package: Path, file: Path, old: ast.AST, nodes: list[ast.AST]) -> ast.AST:
    """Return the one node that is the wanted one."""
    found = [node for node in nodes if _same(node, old)]
    if len(found) == 1:
        return found[0]
    kind, wanted = ast.stmt if isinstance(old, ast.stmt) else ast.expr, ast.unparse(old)
    lines = [(ast.unparse(node), node.lineno) for node in found or nodes if isinstance(node, kind)]
    near = get_close_matches(wanted, dict(lines), 3, 0.4)
    problem = f"{len(found)} nodes in {_module(file, package)}, not 1, are the one wanted:"
    listed = [wanted, "nearest:"]
    listed += [f"line {line}: {text}" for best in near for text, line in lines if text == best]
    raise _refused(mutant, package, problem, listed)


def _refused(mutant: Mutant, package: Path, problem: str, listed: list[str]) -> AssertionError:
    """Return an error that also says where in the package the wanted code is now."""
    first = f"mutant {mutant.name!r} of {mutant.where}: {problem}"
    lines = [first, *(indent(text, " " * 8) for text in listed)]
    for file in sorted(package.rglob("*.py")):
        named = list(_named(ast.parse(file.read_text(encoding="utf-8"))))
        for old in (_parsed(*change)[0] for change in mutant.changes):
            holding = [at for at, node in named if any(_same(one, old) for one in ast.walk(node))]
            if holding:
                lines += [f"    the code is in {_module(file, package)}:{max(holding, key=len)}"]
    return AssertionError("\n".join(lines))


def _same(node: ast.AST, old: ast.AST) -> bool:
    return type(node) is type(old) and ast.dump(node) == ast.dump(old)


def _module(file: Path, package: Path) -> str:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")
