"""What ``leastnoise ledger create``, ``set-limit`` and ``allocate`` change and print."""

from typing import TYPE_CHECKING

import click

from leastnoise.cli import options
from leastnoise.cli.ledger_command import LedgerRequest, Printing
from leastnoise.cli.ledger_outputs import show
from leastnoise.cli.ledger_report import make_printable
from leastnoise.cli.output import format_ledger_name, print_words
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import Fact

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger

_GAUSSIAN = "leastnoise ledger allocate"


def create(request: LedgerRequest) -> Printing:
    """Create the ledger, dataset or witness that does not exist; the same limit may be repeated."""
    limit, witness = _parse_first_limit(request), request.witness
    existed = _exists(request.file, request.dataset)
    with request.open(limit) as ledger:
        watched = witness is not None and options.start_witness(witness, ledger)
        advice = [] if existed or limit is None else _advise(limit, request.accounting)
        print_state = show(ledger, request, *advice, created=True)
        name = format_ledger_name(request.file, "")
        what = f"Dataset {make_printable(ledger.dataset)!r} of {name}"
    if request.as_json:
        return print_state
    words = [f"{what} already exists{' with this limit' if limit else ''}."] if existed else []
    words += [] if existed else [f"Created: {what[0].lower()}{what[1:]}."]
    words += ["The witness starts with the current head."] * watched

    def print_report() -> None:
        print_words(" ".join(words))
        click.echo()
        print_state()

    return print_report


def set_limit(ledger: "Ledger", request: LedgerRequest) -> Printing:
    """Set a limit; a part that is omitted stays unchanged."""
    parts, name = request.limit_parts(), (ledger.dataset, request.analyst)
    own = (
        account.limit for account in ledger.accounts if (account.dataset, account.analyst) == name
    )
    present = next(own, None) or ledger.limit
    limit = Privacy(parts.get("epsilon", present.epsilon), parts.get("delta", present.delta))
    ledger.set_limit(limit, analyst=request.analyst)
    print_state = show(ledger, request)
    if request.as_json or not ledger.allocations:
        return print_state

    def print_report() -> None:
        print_words(
            "The caps of allocations do not change. leastnoise ledger allocate reserves another "
            "part."
        )
        click.echo()
        print_state()

    return print_report


def allocate(ledger: "Ledger", request: LedgerRequest) -> Printing:
    """Make an allocation; the same one may be repeated."""
    privacy = Privacy(**request.limit_parts())
    name = str(request.name)
    known = any(allocation.name == name for allocation in ledger.allocations)
    ledger.allocate(name, privacy, discovery=request.discovery)
    print_state = show(ledger, request)
    words = "exists already. Nothing was charged"
    if not known:
        words = "is reserved. It was charged and cannot be refunded"

    def print_report() -> None:
        if not request.as_json:
            print_words(f"Allocation {make_printable(name)!r} {words}.")
            click.echo()
        print_state()

    return print_report


def _advise(limit: Privacy, accounting: str | None) -> list[Fact]:
    """Return the number of counts from which on Gaussian accounting has smaller errors."""
    from leastnoise.planning import describe_accounting  # it loads the noise families

    advice = None if accounting == "gaussian" else describe_accounting(limit, _GAUSSIAN)
    return [] if advice is None else [("Advice", advice)]


def _parse_first_limit(request: LedgerRequest) -> Privacy | None:
    """Return the first limit; None where only a witness is created."""
    parts = request.limit_parts(needed=request.witness is None)
    if not parts:
        return None
    limit = Privacy(**parts)
    if not (limit.epsilon or limit.delta):
        raise InvalidParameter(
            "The limit of a new dataset must be positive",
            got="ε = 0, δ = 0",
            fix="Pass --epsilon 1 --delta 1e-6.",
        )
    return limit


def _exists(file: str, dataset: str | None) -> bool:
    """Return whether a ledger has the dataset; raises if the ledger is damaged."""
    try:
        with options.open_ledger(file, dataset=dataset):
            return True
    except InvalidParameter:
        return False
