"""``leastnoise compare``: all noises that keep a promise, side by side."""

from typing import Any

import click

from leastnoise.cli.options import asked, question
from leastnoise.cli.printing import print_json, print_words
from leastnoise.planning import compare as compare_noises


@click.command()
@question
@click.option("--releases", default="1", show_default=True, help="Answers under one promise.")
@click.option("--plot", "folder", metavar="FOLDER", help="Write three pictures into a folder.")
def compare(*, releases: str, folder: str | None, as_json: bool, **asking: Any) -> None:
    """Put all noises that keep a promise side by side, cheapest first (leastnoise.compare).

    \b
    Examples:
      leastnoise compare --epsilon 1 --delta 1e-6 --sensitivity 1
      leastnoise compare --delta 0.01 --sensitivity 1 --cost l2 --releases 3 --no-solve
    """  # noqa: D301 -- click reads the control character
    comparison = compare_noises(releases=releases, **asked(**asking))
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
