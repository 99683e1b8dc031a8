"""Options that commands share, and the library's arguments that they stand for."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1, l2, lp, points, threshold
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger


_COSTS = "l1, l2, lp:P, threshold:T, or points:X,Y;X,Y;…"

DATASET = "The data set; the one that the ledger was begun with if left out."
WITNESS = "A head, or a file of heads that is kept elsewhere."
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def problem(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a calibration problem: the guarantee and its setting."""
    options = [
        click.option("--epsilon", default="0", help="ε of the promise.", show_default=True),
        click.option("--delta", default="0", help="δ of the promise.", show_default=True),
    ]
    return _with_options(options, setting(command))


def setting(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a calibration problem, but for the guarantee."""
    options = [
        click.option("--sensitivity", required=True, help="Δ: how much one person can change."),
        click.option("--cost", "cost_text", default="l1", show_default=True, help=_COSTS),
        click.option("--integer", is_flag=True, help="Answers are whole numbers."),
        click.option(
            "--among",
            type=click.Choice(["decreasing", "any"]),
            default="decreasing",
            show_default=True,
            help="Noises that never rise away from 0, or of any shape.",
        ),
        click.option("--no-solve", is_flag=True, help="Take a closed form at once."),
        click.option("--gap", default="0.001", show_default=True, help="How near to the least."),
        click.option("--seconds", default="10", show_default=True, help="How long to solve."),
        as_json,
    ]
    return _with_options(options, command)


def family(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option for one family of noise."""
    from leastnoise.calibration import FAMILIES  # only where a noise is sought anyway

    kinds = ", ".join(FAMILIES)
    return click.option("--family", help=f"Use this kind of noise: {kinds}.")(command)


def which_ledger(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for a ledger's dataset, analyst and witness."""
    options = [
        click.option("--dataset", help=DATASET),
        click.option("--analyst", help="Who asks."),
        click.option("--witness", help=WITNESS),
    ]
    return _with_options(options, command)


def open_ledger(file: str, **which: Any) -> "Ledger":
    """Open a ledger; reject an address of another kind without quoting it."""
    from leastnoise.ledger import Ledger  # only where one is used

    scheme = _ADDRESS.match(file)
    if scheme and scheme[1] not in ("postgresql", "postgres"):
        # What follows could hold a password.
        raise InvalidParameter(
            "a ledger must be the path of a file, or postgresql://user@host/database; got an "
            f"address that begins with {scheme[0]}. Give one of the two."
        )
    return Ledger(file, **which)


def problem_arguments(
    *, epsilon: str, delta: str, cost_text: str, no_solve: bool, **rest: Any
) -> dict[str, Any]:
    """Return the library's arguments for the options of a calibration problem."""
    privacy = Privacy(epsilon, delta)
    return {"privacy": privacy, "cost": cost(cost_text), "solve": not no_solve, **rest}


def cost(text: str) -> Cost:
    """Read a cost from the command line."""
    kind, _, rest = text.partition(":")
    if text in ("l1", "l2"):
        return l1 if text == "l1" else l2
    if kind == "lp" and rest:
        return lp(rest)
    if kind == "threshold" and rest:
        return threshold(rest)
    if kind == "points" and rest:
        return points([tuple(pair.split(",")) for pair in rest.split(";")])  # type: ignore[misc]
    raise InvalidParameter(f"a cost must be {_COSTS}; got {quote(text)}. Choose one.")


def _with_options(
    options: Sequence[Callable[[Callable[..., None]], Callable[..., None]]],
    command: Callable[..., None],
) -> Callable[..., None]:
    for option in reversed(options):
        command = option(command)
    return command
