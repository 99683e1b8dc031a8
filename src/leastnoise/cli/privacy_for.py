"""``leastnoise privacy-for``: the smallest promise that allows an accuracy."""

from typing import Any

import click

from leastnoise.cli.options import cost, setting
from leastnoise.cli.printing import print_json, print_table, print_words, privacy_data
from leastnoise.planning import privacy_for as find_privacy


@click.command("privacy-for")
@click.option("--error", required=True, help="The largest error that is still good.")
@click.option("--confidence", required=True, help="How often errors must be good, such as 0.95.")
@click.option("--epsilon", help="ε, to ask for the smallest δ.")
@click.option("--delta", help="δ, to ask for the smallest ε.")
@setting
def privacy_for(*, cost_text: str, no_solve: bool, as_json: bool, **asking: Any) -> None:
    """Find the smallest promise that allows an accuracy (leastnoise.privacy_for).

    \b
    Examples:
      leastnoise privacy-for --error 2 --confidence 0.95 --sensitivity 1 --delta 1e-6
      leastnoise privacy-for --error 2 --confidence 0.95 --sensitivity 1 --epsilon 0
    """  # noqa: D301 -- click reads the control character
    privacy = find_privacy(cost=cost(cost_text), solve=not no_solve, **asking)
    if as_json:
        print_json({"privacy": privacy_data(privacy), "means": privacy.explain()})
        return
    error, confidence = asking["error"], asking["confidence"]
    print_table(
        ("promise", f"{privacy}"),
        (
            "accuracy",
            f"its least noise errs by at most {error} with probability {confidence} or more",
        ),
    )
    click.echo()
    print_words(privacy.explain())
