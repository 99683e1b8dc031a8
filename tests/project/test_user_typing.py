"""Type checkers know the types of table queries: right code passes, and mistakes are found."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

HEAD = """\
import leastnoise as ln
from leastnoise.tables import ProtectedTable

def mistakes(people: ProtectedTable, one: ln.Privacy) -> None:
"""
# A line of code, and the kind of error that mypy must report for it.
MISTAKES = {
    "people.count(one)": "call-overload",
    "people.count(share=one)": "call-overload",
    "people.count(privacy=1)": "call-overload",
    'people.count(groups=["north"], privacy=one)': "call-overload",
    'people.count(by="region", gruops=["north"], privacy=one)': "call-overload",
    "people.sum(bounds=(0, 9), privacy=one)": "call-overload",
    'people.sum("income", bounds=7, privacy=one)': "call-overload",
    'people.mean("income", bounds=(0, 9), by="sex", privacy=one).value': "attr-defined",
    'people.quantile("income", bounds=(0, 9), privacy=one)': "call-overload",
    'people.median("income", bounds=(0, 9), interval=[1], privacy=one)': "call-overload",
    "people.histogram(edges=[0, 9], privacy=one)": "call-arg",
    "people.ask(ln.Count(), privacy=one)": "call-overload",
    'ln.Quantile("income", bounds=(0, 9))': "call-arg",
    'ln.Sum("income", bounds=9)': "arg-type",
    "ln.Count(by=3)": "arg-type",
    'ln.protect("people.csv", ledger=ln.UNRECORDED)': "call-overload",
    'ln.protect(card="people.toml", unit="person_id")': "call-overload",
    "people.count(privacy=one).middle": "attr-defined",
}


def mypy(path: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--show-error-codes", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_typical_code_has_the_types_that_it_asserts() -> None:
    code, printed = mypy(Path(__file__).with_name("user_code.py"))
    assert code == 0, printed


def test_mistakes_are_found(tmp_path: Path) -> None:
    """Each line has one error, of the kind that is expected, and no line else has any."""
    path = tmp_path / "mistakes.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in MISTAKES), encoding="utf-8")
    _, printed = mypy(path)
    first = HEAD.count("\n") + 1
    errors = [line for line in printed.splitlines() if ": error: " in line]
    found = {int(line.split(":")[1]): line.rpartition("[")[2].rstrip("]") for line in errors}
    assert found == dict(enumerate(MISTAKES.values(), first)), printed
