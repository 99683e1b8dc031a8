"""Errors of commands name options as they are typed, whatever value of an option is wrong."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import leastnoise as ln
from leastnoise import errors
from leastnoise.cli.app import main

# Words and spellings of Python that mean nothing to who types a command.
PYTHON = re.compile(
    r"\b(Fraction|Decimal|None|True|False|int|str|float|tuple|Path|Privacy|UNRECORDED)\b"
    r"|(?<![-\w])[a-z_]+=|\b(max_rows|max_groups|at_most|allow_exact|groups_file)\b"
)
TABLE = "people.csv --unit person_id --max-rows 1 --epsilon 1 --ledger a.ledger --dry-run"
# A command that works for each command, apart from the options that are replaced.
WORKING = {
    "calibrate": "--epsilon 1 --sensitivity 1 --no-solve --family laplace",
    "compare": "--epsilon 1 --sensitivity 1 --no-solve",
    "release": "42 --epsilon 1/9 --sensitivity 1 --family laplace",
    "plan": "plan.toml --epsilon 1 --no-solve",
    "compose": "releases.toml",
    "privacy-for": "--error 2 --confidence 0.95 --delta 0 --sensitivity 1",
    "explain": "--epsilon 1",
    "count": TABLE,
    "sum": f"{TABLE} income --bounds 0 9",
    "mean": f"{TABLE} income --bounds 0 9",
    "clipped-share": f"{TABLE} income --bounds 0 9",
    "median": f"{TABLE} income --bounds 0 9",
    "variance": f"{TABLE} income --bounds 0 9",
    "std": f"{TABLE} income --bounds 0 9",
    "min": f"{TABLE} income --bounds 0 9",
    "max": f"{TABLE} income --bounds 0 9",
    "estimate-bounds": f"{TABLE} income",
    "sql": f"{TABLE} 'SELECT SUM(income) FROM people' --bounds income 0 9",
    "quantile": f"{TABLE} income --q 0.5 --bounds 0 9",
    "histogram": f"{TABLE} income --edges 0,5,9 --max-groups 1",
    "ledger create": "b.ledger --epsilon 1",
    "ledger show": "a.ledger",
    "ledger set-limit": "a.ledger --epsilon 1",
    "ledger allocate": "a.ledger survey --epsilon 0.1 --delta 1e-7",
    "ledger releases": "a.ledger",
    "ledger verify": "a.ledger",
    "ledger export": "a.ledger",
    "ledger plot": "a.ledger --out figure.xyz",
    "card new": "people.csv",
    "card check": "people.toml",
    "card apply": "people.toml",
    "verify": "certificate.json",
    "paper": "people.csv",
}
WRONG = ("\x01", "-1", "word")
# Each is rejected for at least one of the wrong values; others may be any text.
NUMBERS = {
    *("--at-most", "--bins", "--bounds", "--confidence", "--delta", "--discovery", "--edges"),
    *("--epsilon", "--error", "--gap", "--interval", "--max-groups", "--max-rows", "--of"),
    "--people",
    *("--q", "--releases", "--seconds", "--sensitivity", "--share", "--cost", "--family"),
}
# How an error names what an option means, if the option itself is not wrong.
OTHERWISE = {
    "--by": "No column",
    "--unit": "No column",
    "--where": "No column",
    "--bounds": "lower bound",
    "--dataset": "dataset",
    "--allocation": "no allocation",
    "--ledger": "ledger",
    "--witness": "witness",
}
TABLE_QUERIES = (
    *("sum", "mean", "variance", "std", "clipped-share", "median", "quantile", "histogram"),
    *("min", "max", "estimate-bounds", "sql"),
)


def find_commands(group: click.Group, *words: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from find_commands(command, *words, name)
        elif not command.hidden:
            yield " ".join([*words, name]), command


COMMANDS = dict(find_commands(main))


def options_of(name: str) -> list[click.Option]:
    """Return the options with a value; those that all table queries share, of count alone."""
    shared = {one.name for one in COMMANDS["count"].params} if name in TABLE_QUERIES else set()
    return [
        one
        for one in COMMANDS[name].params
        if isinstance(one, click.Option)
        and not (one.is_flag or one.hidden or one.name in shared or "--plot" in one.opts)
    ]


def with_value(name: str, option: click.Option, value: str) -> list[str]:
    """Return a working command in which one option has this value."""
    words = shlex.split(WORKING[name])
    if option.opts[0] in words:
        place = words.index(option.opts[0])
        del words[place : place + 1 + option.nargs]
    if option.opts[0] in ("--share", "--error") and "--dry-run" in words:
        del words[(place := words.index("--epsilon")) : place + 2]
    if option.opts[0] == "--at-most":
        del words[(place := words.index("--epsilon")) : place + 2]
        words += ["--error", "5"]
    if option.opts[0] in ("--group", "--groups-file") and "--by" not in words:
        words += ["--by", "region", *(["--max-groups", "1"] if "--max-groups" not in words else [])]
    return [*name.split(), *words, option.opts[0], *[value] * option.nargs]


def test_every_command_is_here() -> None:
    assert set(COMMANDS) == set(WORKING)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("person_id,region,income\n1,north,3\n2,south,5\n")
    ln.Ledger("a.ledger", limit=ln.Privacy(1, "1e-6")).close()
    Path("people.toml").write_text(
        'source = "people.csv"\nunit = "person_id"\nmax_rows = 1\n'
        '[ledger]\npath = "c.ledger"\nepsilon = 1\n'
    )
    Path("plan.toml").write_text('[[answers]]\nname = "people"\nsensitivity = 1\n')
    Path("releases.toml").write_text("[[releases]]\nepsilon = 1\n")
    certificate = ln.calibrate(ln.Privacy(1), sensitivity=1, solve=False).certificate
    Path("certificate.json").write_text(certificate.to_json())
    return tmp_path


@pytest.mark.parametrize("name", WORKING)
def test_errors_name_options_as_typed(name: str, folder: Path) -> None:
    runner = CliRunner(env={"COLUMNS": "80"})
    for option in options_of(name):
        typed = option.opts[0]
        codes = set()
        for value in WRONG if typed in NUMBERS else WRONG[:1]:
            words = with_value(name, option, value)
            result = runner.invoke(main, words, prog_name="leastnoise")
            assert result.exception is None or isinstance(result.exception, SystemExit), words
            codes.add(result.exit_code)
            if result.exit_code == 0:
                continue
            said = " ".join(result.stderr.split())
            # The value as it was typed may be repeated.
            assert not PYTHON.search(said), (words, said)
            assert re.search(rf"{typed}\b|{OTHERWISE.get(typed, typed)}", said), (words, said)
        if typed in NUMBERS:
            assert codes - {0}, (name, typed)


def test_parameters_are_the_options_of_commands() -> None:
    """``parameter`` knows every option, and no other."""
    typed = {option.opts[0] for name in COMMANDS for option in COMMANDS[name].params}
    known = {errors.parameter(name).command for name in errors._OPTIONS}
    assert known <= typed


def test_two_numbers_with_a_comma_are_explained() -> None:
    source, *others = TABLE.split()
    words = ["sum", source, "income", "--bounds"]
    done = CliRunner().invoke(main, [*words, "0,150000", *others])
    assert done.exit_code == 2
    assert "Write --bounds 0 150000." in done.stderr
    done = CliRunner().invoke(main, [*words, "0,", "150000", *others])
    assert "Write --bounds" not in done.stderr
