"""The commands verify and paper: recompute what a certificate or the paper states."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from leastnoise.certificate import Certificate
from leastnoise.cli import options
from leastnoise.cli.app import CommandError, StrictCommand
from leastnoise.cli.output import (
    claims,
    format_at_sensitivity,
    format_lower_bound,
    print_facts,
    print_json,
    verification_data,
)
from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, LeastnoiseError


@click.command(cls=StrictCommand, exit_codes=[0, 2, 4])
@click.argument("file", metavar="FILE")
@options.as_json
def verify(*, file: str, as_json: bool) -> None:
    """Verify a certificate file from scratch.

    \b
    leastnoise verify certificate.json

    The guarantee, the expected cost and the lower bound are computed again. Claims of the file that
    cannot be computed are printed separately.

    In Python: leastnoise.Certificate.verify
    """  # noqa: D301 -- click reads the control character
    path = Path(file)
    if not path.is_file():
        raise _missing_error(path)
    try:
        certificate = Certificate.from_json(_read_certificate(path))
        certificate.verify()
    except LeastnoiseError as error:
        raise CommandError(error, exit_code=4) from error
    if as_json:
        print_json(verification_data(certificate))
        return
    click.echo("Verified now:")
    facts = [
        ("  Noise", f"{certificate.noise}"),
        ("  Guarantee", format_at_sensitivity(certificate.privacy, certificate.sensitivity)),
        ("  Expected cost", certificate.describe_cost()),
        ("  Lower bound", format_lower_bound(certificate)),
        ("  Optimality", f"{certificate}"),
    ]
    print_facts(*facts)
    click.echo("\nClaimed by the file, not verified:")
    print_facts(
        *((f"  {name.capitalize()}", f"{text!r}") for name, text in claims(certificate).items())
    )


@click.command(hidden=True)
@click.argument("file", metavar="FILE")
@options.as_json
@click.pass_context
def check(context: click.Context, /, **arguments: Any) -> None:
    """Verify a certificate, by the old name of the command."""
    options.warn_renamed("leastnoise check", "leastnoise verify")
    context.invoke(verify, **arguments)


def _missing_error(path: Path) -> InvalidParameter:
    from leastnoise.suggestions import find_nearest_file  # only where there is an error

    near = find_nearest_file(path, [".json"])
    fix = f"Did you mean {quote(near)}?" if near else "Check the spelling."
    return InvalidParameter(f"No file at {quote(str(path))}", fix=fix)


def _read_certificate(path: Path) -> str:
    """Return the text of a file; reject one that is no JSON object, so no certificate."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(
            f"{quote(path.name)} cannot be read: {error.strerror}",
            fix="Check the permissions of the file.",
        ) from error
    except UnicodeDecodeError:
        text = ""
    if not text.lstrip().startswith("{"):
        raise InvalidParameter(
            f"{quote(path.name)} is not a certificate",
            fix="Pass a file that leastnoise calibrate --save wrote.",
        )
    return text


@click.command(cls=StrictCommand)
@click.argument("folder", metavar="FOLDER")
@options.option("--json", "as_json", is_flag=True, help="Print the claims as JSON.")
def paper(*, folder: str, as_json: bool) -> None:
    """Recompute the tables, figures and claims of Geng et al. (2019).

    \b
    leastnoise paper paper-recomputed/

    Writes a page with all of them into FOLDER: paper.html, a single file that loads nothing, and
    paper.md, with figures and tables as PNG, SVG and CSV files.

    In Python: leastnoise.paper.write
    """  # noqa: D301 -- click reads the control character
    from leastnoise.paper import claims, count_by_status, write  # they load Altair

    page = write(folder)
    if as_json:
        print_json([asdict(claim) | {"agrees": claim.agrees} for claim in claims()])
        return
    click.echo(f"{count_by_status(claims())}\n")
    print_facts(("HTML", str(page.with_suffix(".html"))), ("Page", str(page)))
    differing = [(f"  {claim.where}", claim.remark) for claim in claims() if not claim.agrees]
    if differing:
        click.echo("\nFalse:")
        print_facts(*differing)
