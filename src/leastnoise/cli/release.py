"""``leastnoise release``: add the least noise to a value."""

from fractions import Fraction
from typing import Any

import click

from leastnoise.cli.group import Once
from leastnoise.cli.options import asked, family, question, which_ledger
from leastnoise.cli.printing import finite, length, print_json, privacy_data
from leastnoise.cli.recording import of_dataset, receipt_data, recording
from leastnoise.cli.waiting import waiting
from leastnoise.cli.witnesses import refuse_late
from leastnoise.errors import InvalidParameter
from leastnoise.exact import ratio, rational
from leastnoise.ledger import Ledger
from leastnoise.mechanism import Answer
from leastnoise.mechanism import calibrate as find_mechanism


@click.command(cls=Once, context_settings={"ignore_unknown_options": True})
@click.argument("values", nargs=-1, required=True, metavar="VALUE")
@question
@family
@click.option("--allow-exact", is_flag=True, help="Accept that the exact value may leave.")
@click.option("--ledger", metavar="FILE", help="Charge and store it there; begun by ledger new.")
@click.option("--key", help="What the question is called: again, its stored answer comes back.")
@click.option("--fresh", is_flag=True, help="Charge and draw again under the key.")
@which_ledger
def release(
    *,
    values: tuple[str, ...],
    as_json: bool,
    allow_exact: bool,
    ledger: str | None,
    key: str | None,
    fresh: bool,
    dataset: str | None,
    analyst: str | None,
    witness: str | None,
    **asking: Any,
) -> None:
    """Add the least noise to VALUE and print what may be published (Mechanism.release).

    It exits with 3 if the budget of a ledger refuses, with 4 if the ledger is damaged; then nothing
    is released.

    \b
    Examples:
      leastnoise release 42 --delta 0.1 --sensitivity 1
      leastnoise release 42 --epsilon 0.2 --sensitivity 1 --ledger people.ledger --key members
    """  # noqa: D301 -- click reads the control character
    value = _value(values)
    with recording(ledger, dataset=dataset, analyst=analyst, witness=witness) as found:
        mechanism = find_mechanism(**asked(**asking))
        with waiting("checking the ledger"):
            if isinstance(found, Ledger):
                refuse_late(witness, found)
            # Before the release: nothing may come between it and its printing.
            of = of_dataset(found)
            answer = mechanism.release(
                value, ledger=found, key=key, fresh=fresh, allow_exact=allow_exact
            )
    if as_json:
        print_json(_answer_data(answer))
        return
    click.echo(f"{answer}, {of}" if of else f"{answer}")


def _value(texts: tuple[str, ...]) -> Fraction:
    """Read the value to be released; no message may repeat it."""
    if len(texts) != 1:
        raise InvalidParameter(
            f"there must be exactly one value to release; got {len(texts)} arguments. "
            "Give one number, and check the spelling of the options."
        )
    try:
        return rational(texts[0], "the value")
    except InvalidParameter:
        raise InvalidParameter(
            "the value to release must be a finite number; got a text that is not one. "
            "Give for instance 42 or 3.5, and check the spelling of the options."
        ) from None


def _answer_data(answer: Answer) -> dict[str, Any]:
    low, high = answer.interval("0.95")
    return {
        "value": ratio(answer.value),
        "value_float": finite(float(answer)),
        "interval_95": [ratio(low), ratio(high)],
        "bound": length(answer.bound),
        "privacy": privacy_data(answer.privacy),
        "exact_probability": ratio(answer.exact_probability),
        "recorded": receipt_data(answer.receipt),
    }
