"""Options that commands share, and their values: a problem, a cost, an open ledger."""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

from leastnoise.cli.app import Option
from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1, l2, lp, piecewise_linear, threshold
from leastnoise.deprecation import deprecation_message
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import terminal_width, wrap

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger, Unrecorded

_COSTS = "l1, l2, lp:P, threshold:T, or points:X,Y;X,Y;…"

DATASET = "Dataset of the ledger. Default: the ledger's first dataset."
WITNESS = (
    "A file of ledger heads stored elsewhere, or one head. Detects an older copy of the ledger."
)
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")

Command = Callable[..., None]
Decorator = Callable[[Command], Command]


class LedgerPlace(TypedDict, total=False):
    """The part of a ledger to open, and how to create it."""

    dataset: str | None
    analyst: str | None
    witness: str | None
    limit: Privacy | None
    accounting: str | None


class RecordingPlace(TypedDict, total=False):
    """The part of a ledger to charge: the options of :func:`which_ledger`."""

    dataset: str | None
    analyst: str | None
    allocation: str | None
    witness: str | None


class SettingOptions(TypedDict):
    """The options of :func:`setting`, as click passes them."""

    sensitivity: str
    integer: bool
    cost_text: str
    shape: str
    among: str | None
    no_solve: bool
    gap: str
    seconds: str


class ProblemOptions(SettingOptions):
    """The options of :func:`problem`, as click passes them."""

    epsilon: str
    delta: str


class SettingArguments(TypedDict):
    """The library's arguments for a problem except the guarantee."""

    sensitivity: str
    cost: Cost
    integer: bool
    shape: str
    solve: bool
    gap: str
    seconds: str


class ProblemArguments(SettingArguments):
    """The library's arguments for a calibration problem."""

    privacy: Privacy


# The titles under which the help lists options.
PRIVACY, NOISE, LEDGER, OUTPUT = "Privacy", "Noise", "Ledger", "Output"


def option(*names: str, **how: Any) -> Decorator:
    """Return a decorator like ``click.option`` for an option that may have a ``group``."""
    return click.option(*names, cls=Option, **how)


as_json = option("--json", "as_json", is_flag=True, group=OUTPUT, help="Print JSON.")
explain_option = option(
    "--explain", is_flag=True, group=OUTPUT, help="Explain the guarantee in plain words."
)


def problem(command: Command) -> Command:
    """Add the options of a calibration problem: the guarantee and its setting."""
    options = [
        option(
            "--epsilon",
            default="0",
            metavar="E",
            group=PRIVACY,
            help="ε of the guarantee.  [required, or --delta]",
        ),
        option(
            "--delta",
            default="0",
            metavar="D",
            group=PRIVACY,
            help="δ of the guarantee.  [required, or --epsilon]",
        ),
    ]
    return with_options(options, setting(command))


def setting(command: Command) -> Command:
    """Add the options of a calibration problem except the guarantee."""
    options: list[Decorator] = [
        option(
            "--sensitivity",
            required=True,
            metavar="S",
            group=PRIVACY,
            help="Δ: the most that one person can change the true answer.",
        ),
        option("--integer", is_flag=True, group=NOISE, help="True answers are integers."),
        option(
            "--cost",
            "cost_text",
            default="l1",
            show_default=True,
            metavar="COST",
            group=NOISE,
            help=f"Cost of an error: {_COSTS}.",
        ),
        option(
            "--shape",
            type=click.Choice(["unimodal", "any"]),
            default="unimodal",
            show_default=True,
            group=NOISE,
            help="Symmetric unimodal noise, or noise of any shape.",
        ),
        click.option("--among", type=click.Choice(["decreasing", "any"]), hidden=True),
        option("--no-solve", is_flag=True, group=NOISE, help="Use a closed form; do not search."),
        option(
            "--gap",
            default="0.001",
            show_default=True,
            metavar="G",
            group=NOISE,
            help="Stop searching at this relative distance from the optimal cost.",
        ),
        option(
            "--seconds",
            default="10",
            show_default=True,
            metavar="T",
            group=NOISE,
            help="Search for at most T seconds.",
        ),
        as_json,
    ]
    return with_options(options, command)


def family(command: Command) -> Command:
    """Add the option for one family of noise."""
    from leastnoise.calibration import FAMILIES  # only where a noise is sought anyway

    kinds = ", ".join(FAMILIES)
    text = f"Use this noise distribution: {kinds}. Default: the cheapest one found."
    return option("--family", metavar="NAME", group=NOISE, help=text)(command)


def which_ledger(command: Command) -> Command:
    """Add the options for a ledger's dataset, analyst and witness."""
    options = [
        option("--dataset", metavar="NAME", group=LEDGER, help=DATASET),
        option(
            "--analyst",
            metavar="NAME",
            group=LEDGER,
            help="Analyst who runs the query. Their own limit, if any, is enforced too.",
        ),
        option(
            "--allocation",
            metavar="NAME",
            group=LEDGER,
            help="Charge this allocation of the ledger. Default: the ledger itself.",
        ),
        option("--witness", metavar="WITNESS", group=LEDGER, help=WITNESS),
    ]
    return with_options(options, command)


def open_ledger(
    file: str, *, allocation: str | None = None, **place: Unpack[LedgerPlace]
) -> "Ledger":
    """Open a ledger, or an allocation of it; reject another address without quoting it."""
    from leastnoise.ledger import Ledger  # only where one is used

    scheme = _ADDRESS.match(file)
    if scheme and scheme[1] not in ("postgresql", "postgres"):
        # The text after "://" may contain a password.
        raise InvalidParameter(
            "A ledger must be the path of a file, or postgresql://user@host/database",
            got=f"an address that starts with {scheme[0]}",
            fix="Choose one of the two.",
        )
    ledger = Ledger(file, **place)
    if allocation is None:
        return ledger
    try:
        return ledger.allocation(allocation)
    except BaseException:
        ledger.close()
        raise


def check_recording(ledger: str | None, *, unrecorded: bool) -> None:
    """Reject --ledger together with --unrecorded."""
    if ledger is not None and unrecorded:
        raise InvalidParameter(
            "--ledger and --unrecorded exclude each other",
            got="both",
            fix="Keep --ledger to charge a ledger, or --unrecorded to track the budget yourself.",
        )


def recording(
    ledger: str | None, **place: Unpack[RecordingPlace]
) -> "AbstractContextManager[Ledger | Unrecorded]":
    """Open the ledger to charge, or return UNRECORDED; reject options that need a ledger."""
    from leastnoise.ledger import UNRECORDED  # only where something is released

    if ledger is not None:
        return open_ledger(ledger, **place)
    for option, text in place.items():
        if text is not None:
            raise InvalidParameter(
                f"--{option} needs a ledger", fix=f"Add --ledger FILE, or remove --{option}."
            )
    return nullcontext(UNRECORDED)


def count_heads(witness: str | None) -> int:
    """Return the number of heads in a witness."""
    from leastnoise.ledger import read_witness  # only where a ledger is used

    watcher = read_witness(witness)
    return 0 if watcher is None else len(watcher.heads())


def check_witness(witness: str | None) -> None:
    """Reject a witness without heads: a misspelled name would accept any ledger."""
    if witness is not None and not count_heads(witness):
        raise InvalidParameter(
            "--witness must be a head, or a file that holds heads of the ledger",
            got=f"{quote(witness)}, which holds none",
            fix="Check the path, or create a witness: "
            "leastnoise ledger create FILE --witness WITNESS",
        )


def check_ledger(ledger: "Ledger | Unrecorded", witness: str | None) -> str:
    """Reject a lost witness; return a phrase that names the dataset, if the ledger has several.

    A witness without heads of a ledger that has releases is lost, or must be created by ``ledger
    create``. Before the first release there is nothing that an older copy could have forgotten.
    """
    from leastnoise.ledger import Unrecorded

    if isinstance(ledger, Unrecorded):
        return ""
    accounts = ledger.accounts
    if witness is not None and any(account.has_releases for account in accounts):
        check_witness(witness)
    several = len({account.dataset for account in accounts}) > 1
    return f"dataset {ledger.dataset!r}" if several else ""


def start_witness(witness: str, ledger: "Ledger") -> bool:
    """Verify the ledger and note its head in a new witness; return False if it has heads."""
    from leastnoise.ledger import read_witness

    watcher = read_witness(witness)
    new = watcher is not None and not watcher.heads()  # before verifying, which might note one
    head = ledger.verify()
    if watcher is not None and new:
        watcher.note(head)
    return new


def problem_arguments(
    *, epsilon: str, delta: str, **setting: Unpack[SettingOptions]
) -> ProblemArguments:
    """Return the library's arguments for the options of a calibration problem."""
    return {"privacy": Privacy(epsilon, delta), **setting_arguments(**setting)}


def setting_arguments(**setting: Unpack[SettingOptions]) -> SettingArguments:
    """Return the library's arguments for the options of a problem except the guarantee."""
    shape, among = setting["shape"], setting["among"]
    if among is not None:
        warn_renamed("--among", "--shape")
        shape = "any" if among == "any" else "unimodal"
    return {
        "sensitivity": setting["sensitivity"],
        "cost": cost(setting["cost_text"]),
        "integer": setting["integer"],
        "shape": shape,
        "solve": not setting["no_solve"],
        "gap": setting["gap"],
        "seconds": setting["seconds"],
    }


def warn_renamed(old: str, new: str) -> None:
    """Warn on the error stream of a command or an option that has another name now."""
    lines = wrap(
        deprecation_message(old, new), first="Warning: ", further="  ", width=terminal_width()
    )
    click.echo("\n".join(lines), err=True)


def cost(text: str) -> Cost:
    """Read a cost from the command line."""
    kind, _, values = text.partition(":")
    if text in ("l1", "l2"):
        return l1 if text == "l1" else l2
    if kind == "lp" and values:
        return lp(values)
    if kind == "threshold" and values:
        return threshold(values)
    if kind == "points" and values:
        pairs = [tuple(pair.split(",")) for pair in values.split(";")]
        return piecewise_linear(pairs)  # type: ignore[arg-type]  # pairs of another length are rejected
    raise InvalidParameter(f"--cost must be {_COSTS}", got=quote(text), fix="Choose one.")


def with_options(options: Sequence[Decorator], command: Command) -> Command:
    """Add options to a command, in this order."""
    for option in reversed(options):
        command = option(command)
    return command
