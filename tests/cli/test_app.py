"""The group of commands: what becomes of errors, and what is loaded when."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from leastnoise import errors
from leastnoise.cli import main
from leastnoise.cli.app import Group

EXIT_CODES = {
    errors.EntropyFailed: 1,
    errors.QueryFailed: 1,
    errors.ReleaseFailed: 1,
    errors.InvalidParameter: 2,
    errors.LedgerUnavailable: 2,
    errors.Unsupported: 2,
    errors.BudgetExceeded: 3,
    errors.LedgerDamaged: 4,
    errors.NotPrivate: 4,
}


def failing(error: Exception) -> click.Command:
    def fail() -> None:
        raise error

    return click.Command("fail", callback=fail)


def test_every_error_has_its_exit_code_here() -> None:
    assert set(EXIT_CODES) == set(errors.LeastnoiseError.__subclasses__())


@pytest.mark.parametrize(("error", "code"), EXIT_CODES.items())
@pytest.mark.parametrize("inside", [False, True])
def test_an_error_is_a_headline_with_advice_below_and_its_exit_code(
    error: type[errors.LeastnoiseError], code: int, inside: bool
) -> None:
    """Also from a group inside the group, which need not be one of ours."""
    group = Group(commands=[failing(error("the rule", got="this", fix="Do that."))])
    if inside:
        group = Group(commands=[click.Group("inner", commands=group.commands)])
    done = CliRunner().invoke(group, ["inner", "fail"] if inside else ["fail"])
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr == "Error: the rule, got this.\n  Do that.\n"


def test_an_error_that_is_not_ours_on_purpose_is_exit_code_1_and_not_hidden() -> None:
    done = CliRunner().invoke(Group(commands=[failing(ZeroDivisionError())]), ["fail"])
    assert done.exit_code == 1
    assert isinstance(done.exception, ZeroDivisionError)


@pytest.mark.parametrize("name", main.commands)
def test_each_command_has_the_name_it_is_asked_by(name: str) -> None:
    assert main.commands[name].name == name


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--version"], {"core.exact", "mechanism", "planning", "certificate", "cli.noise"}),
        (
            ["verify", "--help"],
            {"mechanism", "planning", "calibration", "ledger", "cli.noise", "cli.release"},
        ),
        (["calibrate", "--help"], {"planning", "plots", "paper", "cli.proofs", "cli.tables"}),
        (["ledger", "--help"], {"mechanism", "planning", "plots", "ledger", "cli.noise"}),
        (["sum", "--help"], {"mechanism", "planning", "tables.queries", "ledger", "cli.noise"}),
    ],
)
def test_a_command_loads_only_what_it_needs(arguments: list[str], absent: set[str]) -> None:
    script = (
        "import sys; from leastnoise.cli import main\n"
        f"main({arguments!r}, standalone_mode=False)\n"
        "print(*(name.removeprefix('leastnoise.') for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, encoding="utf-8"
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {"cli.app", "errors"} <= loaded
    assert not absent & loaded
