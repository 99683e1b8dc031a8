"""Packages are entered by their doors: the names that their ``__init__`` exports."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import leastnoise

ROOT = Path(leastnoise.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# Modules that are called like a name their package exports. To be emptied.
NAMED_LIKE_AN_EXPORT: dict[str, str] = {
    "leastnoise.core.sampling.staircase": "the module is to be renamed",
}

# Imports that go past a door, by the module that has them.
PAST_A_DOOR: dict[tuple[str, str], str] = {}


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def exports(package: Path) -> list[str]:
    """Return what a package's ``__all__`` lists, without importing it."""
    for node in tree(package / "__init__.py").body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            assert isinstance(node, ast.Assign)
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


PACKAGES = {module_name(file): exports(file.parent) for file in FILES if file.stem == "__init__"}
# The root is a door of its own kind, which loads names when they are used.
DOORS = {name for name, names in PACKAGES.items() if names and name != "leastnoise"}


def test_no_module_is_called_like_a_name_that_its_door_exports() -> None:
    """Else ``import leastnoise.x.y as m`` gives the function instead of the module."""
    found = {
        f"{package}.{name}"
        for package, names in PACKAGES.items()
        if package != "leastnoise"
        for name in names
        if f"{package}.{name}" in {module_name(file) for file in FILES}
    }
    assert not found


def imported(file: Path) -> Iterator[str]:
    """Go through the modules of leastnoise that a file imports from."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def passed_door(module: str, target: str) -> bool:
    """Tell whether an import reaches behind the door of a package that its module is not in."""
    parents = target.split(".")
    behind = (".".join(parents[:i]) for i in range(1, len(parents)))
    return any(door in DOORS and not f"{module}.".startswith(f"{door}.") for door in behind)


def test_a_package_is_entered_by_its_door() -> None:
    found = {
        (module_name(file), target)
        for file in FILES
        for target in imported(file)
        if target.startswith("leastnoise.") and passed_door(module_name(file), target)
    }
    assert found == set(PAST_A_DOOR)


@pytest.mark.parametrize(
    ("module", "target", "passes"),
    [
        ("leastnoise.cli.noise", "leastnoise.ledger", False),
        ("leastnoise.cli.noise", "leastnoise.ledger.rows", True),
        ("leastnoise.ledger.chain", "leastnoise.ledger.rows", False),
        ("leastnoise.ledger.ledger", "leastnoise.ledger.stores.base", True),
        ("leastnoise.ledger.ledger", "leastnoise.ledger.stores", False),
        ("leastnoise.cli.noise", "leastnoise.core.privacy", False),
        ("leastnoise.cli.noise", "leastnoise.core.noise.steps", True),
    ],
)
def test_what_passes_a_door(module: str, target: str, passes: bool) -> None:
    """The control: the test above can tell one from the other."""
    assert passed_door(module, target) is passes


def test_no_mark_of_the_move_is_left() -> None:
    marked = {module_name(file) for file in FILES if "# SPLIT" in file.read_text(encoding="utf-8")}
    assert not marked
