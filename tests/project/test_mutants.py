"""Mutants: each known way to get a guarantee slightly wrong is caught by the test named for it."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.mutants import MUTANTS
from tests.support.mutation import (
    Changes,
    Mutant,
    delete,
    insert_before,
    mutate,
    replace,
    swap,
)

ROOT = Path(__file__).resolve().parents[2]
by_name = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)


def run(package: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests against a copy of the package."""
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    cache = f"cache_dir={package.parent / 'cache'}"
    # A failure is wanted here; explaining it, at length where CI is set, is not.
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "--assert=plain", "-o", cache]
    command += ["--hypothesis-profile", "first-failure", *tests]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.long  # running them takes a minute and a half, and tests only the tests
@by_name
def test_a_mutant_is_caught(mutant: Mutant, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src")
    file, text = mutate(mutant, tmp_path / "src" / "leastnoise")
    file.write_text(text, encoding="utf-8")
    finished = run(tmp_path / "src", mutant.caught_by)
    assert finished.returncode == 1, finished.stdout[-2000:]  # 1: the test ran and failed


@pytest.mark.long
def test_the_copy_without_a_mutation_passes(tmp_path: Path) -> None:
    """The control: it is the mutation that fails, not the copy, nor that files are written anew."""
    shutil.copytree(ROOT / "src", tmp_path / "src")
    for mutant in MUTANTS:
        file, _ = mutate(mutant, tmp_path / "src" / "leastnoise")
        file.write_text(ast.unparse(ast.parse(file.read_text("utf-8"))), encoding="utf-8")
    finished = run(tmp_path / "src", *dict.fromkeys(mutant.caught_by for mutant in MUTANTS))
    assert finished.returncode == 0, finished.stdout[-2000:]


@by_name
def test_a_mutant_fits_the_code(mutant: Mutant) -> None:
    """So that a change of the code that a mutant is of is noticed without running the mutants."""
    mutate(mutant, ROOT / "src" / "leastnoise")


def test_no_two_mutants_have_the_same_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


# ----------------------------------------------------------------------- what makes the mutants

CODE = '''
LIMITS = ("lowest", "highest")

class Scale:
    def weigh(self, a, b):
        """Weigh."""
        total = (
            a + b  # both
        )
        rest = a - b
        return total * (a - b)

def weigh(a):
    return a
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of two modules."""
    made = tmp_path / "made"
    (made / "inner").mkdir(parents=True)
    (made / "scales.py").write_text(CODE)
    (made / "inner" / "__init__.py").write_text("def weigh(a):\n    return -a\n")
    return made


def changed(package: Path, where: str, changes: Changes) -> str:
    """Return the changed definition as the text of its module says it."""
    _, text = mutate(Mutant("too heavy", where, changes, "a test"), package)
    return text


@pytest.mark.parametrize(
    ("where", "changes", "line"),
    [
        ("made.scales:Scale.weigh", replace("a+b", "a"), "total = a\n"),
        ("made.scales:Scale.weigh", replace("rest = a - b", "rest = b; a = rest"), "a = rest\n"),
        ("made.scales:Scale.weigh", delete("rest = a - b"), "pass\n"),
        ("made.scales:Scale.weigh", insert_before("rest = a - b", "b = 0"), "b = 0\n        rest"),
        (
            "made.scales:Scale.weigh",
            swap("rest = a - b", "total = a + b"),
            "rest = a - b\n        total = a + b\n",
        ),
        ("made.scales:LIMITS", replace('"lowest"', '"low"'), "LIMITS = ('low', 'highest')"),
        ("made.inner:weigh", replace("-a", "a"), "return a"),
        # Moved from a module that is no longer there, and from one that is.
        ("made.gone:Scale.weigh", replace("a + b", "a"), "total = a\n"),
        ("made.inner:Scale.weigh", replace("a + b", "a"), "total = a\n"),
    ],
)
def test_a_node_is_changed_wherever_its_definition_is(
    package: Path, where: str, changes: Changes, line: str
) -> None:
    assert line in changed(package, where, changes)


@pytest.mark.parametrize(
    ("where", "changes", "message"),
    [
        (
            "made.scales:Scale.weigh",
            replace("a + c", "a"),
            r"'too heavy' of made\.scales:Scale\.weigh: 0 nodes in made\.scales, not 1, are .*:\n"
            r"\s+a \+ c\n\s+nearest:\n\s+line 8: a \+ b",
        ),
        (
            "made.scales:Scale.weigh",
            replace("a - b", "b"),
            r"2 nodes in made\.scales, not 1, .*:\n\s+a - b\n\s+nearest:\n"
            r"\s+line 10: a - b\n\s+line 11: a - b",
        ),
        ("made.scales:weigh", replace("a + b", "a"), r"the code is in made\.scales:Scale\.weigh"),
        ("made.scales:Scale.weigh", replace("a + b", "(a+b)"), "it changes nothing"),
        (
            "made.scales:Scale.weight",
            delete("rest = a - b"),
            r"nearest:\s+made\.scales:Scale\.weigh",
        ),
        ("made.gone:weigh", replace("a", "b"), r"several .*:\s+made\.inner:weigh\s+made\.scales:w"),
    ],
    ids=["missing", "twice", "elsewhere", "nothing changes", "no definition", "two definitions"],
)
def test_a_mutant_that_does_not_fit_is_refused(
    package: Path, where: str, changes: Changes, message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        changed(package, where, changes)
