"""The command release: add noise to one number."""

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import click

from leastnoise.cli import options
from leastnoise.cli.app import NumberCommand
from leastnoise.cli.missing import check_missing_problem
from leastnoise.cli.output import (
    finite_or_none,
    format_at_sensitivity,
    format_budget,
    format_ledger_name,
    print_facts,
    print_json,
    privacy_data,
    ratio_or_none,
    receipt_data,
    reused_data,
)
from leastnoise.core.exact import format_ratio, parse_rational
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import Progress, keep_together

if TYPE_CHECKING:
    from leastnoise.mechanism import Answer


@click.command(
    cls=NumberCommand,
    context_settings={"ignore_unknown_options": True},
    exit_codes=range(5),
    on_missing=partial(check_missing_problem, "release"),
)
@click.argument("values", nargs=-1, required=True, metavar="VALUE")
@options.problem
@options.family
@options.option(
    "--allow-exact",
    is_flag=True,
    group=options.PRIVACY,
    help="Allow noise that releases the exact value conspicuously often: it has a point mass or, "
    "for integers, 0 is more than e^ε times as likely as ±1.",
)
@options.option(
    "--ledger", metavar="FILE", group=options.LEDGER, help="The ledger to charge. Default: none."
)
@options.option(
    "--unrecorded",
    is_flag=True,
    group=options.LEDGER,
    help="Do not record the release (default without --ledger).",
)
@options.option(
    "--key",
    metavar="NAME",
    group=options.LEDGER,
    help="The name of the query: if it is repeated, its stored answer is returned.",
)
@options.option(
    "--fresh", is_flag=True, group=options.LEDGER, help="Charge again and sample new noise."
)
@options.which_ledger
def release(
    *,
    values: tuple[str, ...],
    as_json: bool,
    allow_exact: bool,
    ledger: str | None,
    unrecorded: bool,
    key: str | None,
    fresh: bool,
    dataset: str | None,
    analyst: str | None,
    allocation: str | None,
    witness: str | None,
    family: str | None,
    **problem: Unpack[options.ProblemOptions],
) -> None:
    """Add noise to VALUE and print the answer, which you may publish.

    \b
    leastnoise release 42 --epsilon 0.2 --sensitivity 1 --integer
    leastnoise release 42 --epsilon 0.2 --sensitivity 1 --integer \\
        --ledger people.ledger --key members

    If the budget is exceeded or the ledger damaged, nothing is charged or released.

    In Python: leastnoise.Mechanism.release
    """  # noqa: D301 -- click reads the control character
    from leastnoise.mechanism import calibrate as find_mechanism

    value = _parse_value(values)
    options.check_recording(ledger, unrecorded=unrecorded)
    with options.recording(
        ledger, dataset=dataset, analyst=analyst, allocation=allocation, witness=witness
    ) as opened:
        mechanism = find_mechanism(**options.problem_arguments(**problem), family=family)
        with Progress("checking the ledger"):
            # Before the release: nothing may come between it and its printing.
            of = options.check_ledger(opened, witness)
            answer = mechanism.release(
                value, ledger=opened, key=key, fresh=fresh, allow_exact=allow_exact
            )
    if as_json:
        print_json(_answer_data(answer))
        return
    _print_release(answer, format_ledger_name(ledger, of))


def _print_release(answer: "Answer", ledger: str) -> None:
    """Print an answer: the result first, then labelled facts."""
    from leastnoise.mechanism import (
        ANOTHER_VALUE,
        exact_release,
        format_errors,
        format_value,
        reused_facts,
    )

    receipt, mechanism = answer.receipt, answer.mechanism
    usual, most = format_errors(answer)
    facts = [
        (
            "Max error",
            most or f"none ({'' if answer.privacy.delta else 'at δ = 0 '}the noise is unbounded)",
        ),
        ("Guarantee", format_at_sensitivity(answer.privacy, mechanism.sensitivity)),
    ]
    exact = exact_release(mechanism)
    if exact:
        facts.append(("Exact release", exact))
    facts.append(("Budget", format_budget(receipt, ledger)))
    if receipt is not None:
        facts.append(("Key", keep_together(receipt.key)))
    facts += reused_facts(receipt, ANOTHER_VALUE.command)
    click.echo(f"release: {format_value(answer)} ± {usual} (95% confidence)\n")
    print_facts(*facts)


def _parse_value(texts: tuple[str, ...]) -> Fraction:
    """Read the value to be released; no message may repeat it."""
    if len(texts) != 1:
        raise InvalidParameter(
            "VALUE must be one number",
            got=f"{len(texts)} arguments",
            fix="Pass one VALUE, and quote it if it contains spaces.",
        )
    try:
        return parse_rational(texts[0], "the value")
    except InvalidParameter:
        raise InvalidParameter(
            "VALUE is not a finite number", fix="Write it with digits, such as 42 or 3.5."
        ) from None


def _answer_data(answer: "Answer") -> dict[str, Any]:
    low, high = answer.interval("0.95")
    return {
        "value": format_ratio(answer.value),
        "value_float": finite_or_none(float(answer)),
        "interval_95": [format_ratio(low), format_ratio(high)],
        "bound": ratio_or_none(answer.max_error),
        "privacy": privacy_data(answer.privacy),
        "exact_probability": format_ratio(answer.exact_probability),
        "recorded": receipt_data(answer.receipt),
        "reused": reused_data(answer.receipt),
    }
