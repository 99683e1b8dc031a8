"""``leastnoise paper``: the paper, recomputed."""

import sys
from dataclasses import asdict

import click

from leastnoise.cli.output import print_json


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
