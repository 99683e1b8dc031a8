"""The commands verify and paper: prove again what a certificate or the paper says."""

import sys
from dataclasses import asdict
from decimal import ROUND_CEILING, ROUND_FLOOR
from pathlib import Path
from typing import Any

import click

from leastnoise.certificate import Certificate
from leastnoise.cli import options
from leastnoise.cli.app import Refused
from leastnoise.cli.output import (
    bound_shown,
    claims,
    cost_shown,
    print_json,
    print_table,
    verification_data,
)
from leastnoise.core.exact import format_exact
from leastnoise.errors import InvalidParameter, LeastnoiseError


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False), metavar="FILE")
@options.as_json
def verify(*, file: str, as_json: bool) -> None:
    """Verify a certificate, trusting nothing in FILE (leastnoise.Certificate.verify).

    Prints what was verified now, and apart from it what only the file says. Exits with 0 if the
    guarantee, the expected cost and the lower bound are verified, with 4 if not.

    \b
    Example:
      leastnoise verify certificate.json
    """  # noqa: D301 -- click reads the control character
    try:
        certificate = Certificate.from_json(_read_text(file))
        certificate.verify()
    except LeastnoiseError as error:
        raise Refused(error, exit_code=4) from error
    if as_json:
        print_json(verification_data(certificate))
        return
    click.echo("Verified now:")
    print_table(
        ("  noise", f"{certificate.noise}"),
        ("  satisfies", _guarantee_shown(certificate)),
        ("  expected cost", cost_shown(certificate)),
        ("  lower bound", bound_shown(certificate)),
        ("  optimality", f"{certificate}"),
    )
    click.echo("\nThe file says, and this command does not verify:")
    print_table(*((f"  {name}", f"{text!r}") for name, text in claims(certificate).items()))


@click.command(hidden=True)
@click.argument("file", type=click.Path(exists=True, dir_okay=False), metavar="FILE")
@options.as_json
@click.pass_context
def check(context: click.Context, /, **given: Any) -> None:
    """Verify a certificate, by the old name of the command."""
    options.warn_renamed("leastnoise check", "leastnoise verify")
    context.invoke(verify, **given)


def _guarantee_shown(certificate: Certificate) -> str:
    """Return the guarantee, rounded to the weaker side where it is rounded: ε and δ up, Δ down."""
    privacy = certificate.privacy
    epsilon, delta = (format_exact(x, ROUND_CEILING) for x in (privacy.epsilon, privacy.delta))
    sensitivity = format_exact(certificate.sensitivity, ROUND_FLOOR)
    return f"(ε, δ) = ({epsilon}, {delta}) at Δ = {sensitivity}"


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameter(
            "a certificate must be a file of text that can be read; this one is not. "
            "Give one that calibrate --save wrote."
        ) from error


@click.command()
@click.argument("folder", metavar="OUT")
@click.option("--json", "as_json", is_flag=True, help="Print the claims as JSON.")
def paper(*, folder: str, as_json: bool) -> None:
    """Recompute the paper's tables, figures and claims into OUT (leastnoise.paper.write).

    \b
    Example:
      leastnoise paper paper-recomputed/
    """  # noqa: D301 -- click reads the control character
    from leastnoise.paper import claims, write  # they load Altair

    if sys.stderr.isatty():
        click.echo("recomputing tables, figures and claims …", err=True)
    page = write(folder)
    if as_json:
        print_json([asdict(claim) for claim in claims()])
        return
    differing = [claim for claim in claims() if not claim.agrees]
    click.echo(f"{page}: {len(claims())} claims, {len(differing)} of them do not agree:")
    for claim in differing:
        click.echo(f"  {claim.where}: {claim.remark}")
