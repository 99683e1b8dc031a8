"""The commands verify and paper: recompute what a certificate or the paper states."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from leastnoise.certificate import Certificate
from leastnoise.cli import options
from leastnoise.cli.app import Once, Refused
from leastnoise.cli.output import (
    at_sensitivity,
    bound_shown,
    claims,
    cost_shown,
    print_facts,
    print_json,
    verification_data,
)
from leastnoise.errors import InvalidParameter, LeastnoiseError


@click.command(cls=Once)
@click.argument("file", type=click.Path(exists=True, dir_okay=False), metavar="FILE")
@options.as_json
def verify(*, file: str, as_json: bool) -> None:
    """Verify a certificate file, trusting nothing in it.

    \b
    leastnoise verify certificate.json

    The guarantee, the expected cost and the lower bound are computed again. What only the file
    claims is printed apart.

    Exit codes: 0 verified, 2 usage error, 4 verification failed.

    In Python: leastnoise.Certificate.verify
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
    facts = [
        ("  Noise", f"{certificate.noise}"),
        ("  Guarantee", at_sensitivity(certificate.privacy, certificate.sensitivity)),
        ("  Expected cost", cost_shown(certificate)),
        ("  Lower bound", bound_shown(certificate)),
        ("  Optimality", f"{certificate}"),
    ]
    print_facts(*facts)
    click.echo("\nClaimed by the file, not verified:")
    print_facts(
        *((f"  {name.capitalize()}", f"{text!r}") for name, text in claims(certificate).items())
    )


@click.command(hidden=True)
@click.argument("file", type=click.Path(exists=True, dir_okay=False), metavar="FILE")
@options.as_json
@click.pass_context
def check(context: click.Context, /, **given: Any) -> None:
    """Verify a certificate, by the old name of the command."""
    options.warn_renamed("leastnoise check", "leastnoise verify")
    context.invoke(verify, **given)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameter(
            "FILE must be a certificate",
            got="a file that is not readable text",
            fix="Pass one that calibrate --save wrote.",
        ) from error


@click.command(cls=Once)
@click.argument("folder", metavar="FOLDER")
@options.option("--json", "as_json", is_flag=True, help="Print the claims as JSON.")
def paper(*, folder: str, as_json: bool) -> None:
    """Recompute the tables, figures and claims of Geng et al. (2019).

    \b
    leastnoise paper paper-recomputed/

    Writes a page with all of them into FOLDER.

    In Python: leastnoise.paper.write
    """  # noqa: D301 -- click reads the control character
    from leastnoise.paper import claims, write  # they load Altair

    if sys.stderr.isatty():
        click.echo("recomputing tables, figures and claims …", err=True)
    page = write(folder)
    if as_json:
        print_json([asdict(claim) for claim in claims()])
        return
    differing = [claim for claim in claims() if not claim.agrees]
    click.echo(f"{len(claims())} claims recomputed; {len(differing)} disagree with the paper\n")
    print_facts(("Page", str(page)), *((claim.where, claim.remark) for claim in differing))
