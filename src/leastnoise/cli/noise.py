"""The commands calibrate, release, compare and privacy-for."""

from decimal import ROUND_CEILING
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli import options
from leastnoise.cli.app import Once
from leastnoise.cli.output import (
    bound_shown,
    certificate_data,
    cost_shown,
    finite,
    length,
    print_json,
    print_table,
    print_words,
    privacy_data,
    receipt_data,
    reused_data,
    write_file,
)
from leastnoise.core.exact import (
    as_float,
    format_ratio,
    format_rounded,
    parse_rational,
)
from leastnoise.errors import InvalidParameter
from leastnoise.files import refuse_overwriting
from leastnoise.rendering import Progress

if TYPE_CHECKING:
    from leastnoise.mechanism import Answer, Mechanism


@click.command()
@options.problem
@options.family
@click.option("--save", type=click.Path(dir_okay=False), help="Write the certificate to a file.")
def calibrate(*, as_json: bool, save: str | None, **asking: Any) -> None:
    """Find noise for a guarantee, and prove how near to the least it is (leastnoise.calibrate).

    \b
    Examples:
      leastnoise calibrate --delta 0.1 --sensitivity 1 --cost l1
      leastnoise calibrate --epsilon 1 --delta 1e-6 --sensitivity 1 --save certificate.json
      leastnoise calibrate --epsilon 1 --delta 1e-6 --sensitivity 1 --family gaussian
    """  # noqa: D301 -- click reads the control character
    from leastnoise.mechanism import calibrate as find_mechanism

    mechanism = find_mechanism(**options.problem_arguments(**asking))
    if save is not None:
        refuse_overwriting(save, option="--save")
        rule = "the certificate must be saved to a file that can be written"
        write_file(save, mechanism.certificate.to_json(), rule)
    if as_json:
        print_json(_mechanism_data(mechanism))
        return
    drawn, certificate = mechanism.discretized, mechanism.certificate
    print_table(
        ("noise", f"{mechanism.noise}"),
        ("expected cost", cost_shown(certificate)),
        ("verified", f"{certificate}"),
        ("lower bound", bound_shown(certificate)),
        ("source", certificate.source),
        ("drawn", f"{drawn.noise}"),
        ("drawn cost", f"{format_rounded(drawn.cost, 9, ROUND_CEILING)}"),
    )
    click.echo()
    print_words(mechanism.explain())


def _mechanism_data(mechanism: "Mechanism") -> dict[str, Any]:
    drawn = mechanism.discretized
    return {
        "privacy": privacy_data(mechanism.privacy),
        "sensitivity": format_ratio(mechanism.sensitivity),
        "integer": mechanism.integer,
        "noise": repr(mechanism.noise),
        "radius": length(mechanism.noise.radius),
        "exact_probability": format_ratio(mechanism.exact_probability),
        "cost": format_ratio(mechanism.cost),
        "cost_float": finite(as_float(mechanism.cost)),
        "certificate": certificate_data(mechanism.certificate),
        "means": mechanism.explain(),
        "drawn": {
            "step": format_ratio(drawn.step),
            "radius": length(drawn.radius),
            "cost": format_ratio(drawn.cost),
            "protected": format_ratio(mechanism.effective_sensitivity),
        },
    }


@click.command(cls=Once, context_settings={"ignore_unknown_options": True})
@click.argument("values", nargs=-1, required=True, metavar="VALUE")
@options.problem
@options.family
@click.option("--allow-exact", is_flag=True, help="Accept that the exact value may leave.")
@click.option("--ledger", metavar="FILE", help="Charge and store it there; begun by ledger new.")
@click.option("--key", help="What the question is called: again, its stored answer comes back.")
@click.option("--fresh", is_flag=True, help="Charge and draw again under the key.")
@options.which_ledger
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
    """Add noise to VALUE and print the answer, which may be published (Mechanism.release).

    It exits with 3 if the budget of a ledger refuses, with 4 if the ledger is damaged; then nothing
    is released.

    \b
    Examples:
      leastnoise release 42 --delta 0.1 --sensitivity 1
      leastnoise release 42 --epsilon 0.2 --sensitivity 1 --ledger people.ledger --key members
    """  # noqa: D301 -- click reads the control character
    from leastnoise.mechanism import calibrate as find_mechanism

    value = _value(values)
    with options.recording(ledger, dataset=dataset, analyst=analyst, witness=witness) as found:
        mechanism = find_mechanism(**options.problem_arguments(**asking))
        with Progress("checking the ledger"):
            # Before the release: nothing may come between it and its printing.
            of = options.check_ledger(found, witness)
            answer = mechanism.release(
                value, ledger=found, key=key, fresh=fresh, allow_exact=allow_exact
            )
    if as_json:
        print_json(_answer_data(answer))
        return
    click.echo(f"{answer} ({of})" if of else f"{answer}")


def _value(texts: tuple[str, ...]) -> Fraction:
    """Read the value to be released; no message may repeat it."""
    if len(texts) != 1:
        raise InvalidParameter(
            f"there must be exactly one value to release, got {len(texts)} arguments. "
            "Give one number, and check the spelling of the options."
        )
    try:
        return parse_rational(texts[0], "the value")
    except InvalidParameter:
        raise InvalidParameter(
            "the value to release must be a finite number, got a text that is not one. "
            "Give for instance 42 or 3.5, and check the spelling of the options."
        ) from None


def _answer_data(answer: "Answer") -> dict[str, Any]:
    low, high = answer.interval("0.95")
    return {
        "value": format_ratio(answer.value),
        "value_float": finite(float(answer)),
        "interval_95": [format_ratio(low), format_ratio(high)],
        "bound": length(answer.max_error),
        "privacy": privacy_data(answer.privacy),
        "exact_probability": format_ratio(answer.exact_probability),
        "recorded": receipt_data(answer.receipt),
        "reused": reused_data(answer.receipt),
    }


@click.command()
@options.problem
@click.option("--releases", default="1", show_default=True, help="Answers under one promise.")
@click.option("--plot", "folder", metavar="FOLDER", help="Write three pictures into a folder.")
def compare(*, releases: str, folder: str | None, as_json: bool, **asking: Any) -> None:
    """Put all noises that keep a promise side by side, cheapest first (leastnoise.compare).

    \b
    Examples:
      leastnoise compare --epsilon 1 --delta 1e-6 --sensitivity 1
      leastnoise compare --delta 0.01 --sensitivity 1 --cost l2 --releases 3 --no-solve
    """  # noqa: D301 -- click reads the control character
    from leastnoise.planning import compare as compare_noises

    comparison = compare_noises(releases=releases, **options.problem_arguments(**asking))
    pictures: list[str] = []
    if folder is not None:
        from leastnoise.plots import save_comparison  # the pictures' libraries, on first use

        pictures = [str(path) for path in save_comparison(comparison, folder)]
    if as_json:
        print_json({**comparison.to_dict(), **({"pictures": pictures} if pictures else {})})
        return
    click.echo(f"{comparison}\n")
    print_words(comparison.explain())
    if pictures:
        click.echo("\n" + "\n".join(pictures))


@click.command("privacy-for")
@click.option("--error", required=True, help="The largest error that is still good.")
@click.option("--confidence", required=True, help="How often errors must be good, such as 0.95.")
@click.option("--epsilon", help="ε, to ask for the smallest δ.")
@click.option("--delta", help="δ, to ask for the smallest ε.")
@options.setting
def privacy_for(*, as_json: bool, **asking: Any) -> None:
    """Find the smallest promise that allows an accuracy (leastnoise.privacy_for).

    \b
    Examples:
      leastnoise privacy-for --error 2 --confidence 0.95 --sensitivity 1 --delta 1e-6
      leastnoise privacy-for --error 2 --confidence 0.95 --sensitivity 1 --epsilon 0
    """  # noqa: D301 -- click reads the control character
    from leastnoise.planning import privacy_for as find_privacy

    privacy = find_privacy(**options.setting_arguments(**asking))
    if as_json:
        print_json({"privacy": privacy_data(privacy), "means": privacy.explain()})
        return
    error, confidence = asking["error"], asking["confidence"]
    print_table(
        ("promise", f"{privacy}"),
        (
            "accuracy",
            f"the noise found for it errs by at most {error} with probability {confidence} or more",
        ),
    )
    click.echo()
    print_words(privacy.explain())
