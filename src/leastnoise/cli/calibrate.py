"""``leastnoise calibrate``: find the least noise."""

from pathlib import Path
from typing import Any

import click

from leastnoise.cli.options import asked, family, question
from leastnoise.cli.printing import (
    certificate_data,
    finite,
    length,
    print_json,
    print_table,
    print_words,
    privacy_data,
)
from leastnoise.errors import InvalidParameter
from leastnoise.exact import approximately, as_float, exactly, ratio
from leastnoise.mechanism import Mechanism
from leastnoise.mechanism import calibrate as find_mechanism


@click.command()
@question
@family
@click.option("--save", type=click.Path(dir_okay=False), help="Write the certificate to a file.")
def calibrate(*, as_json: bool, save: str | None, **asking: Any) -> None:
    """Find the noise of least cost that keeps a promise (leastnoise.calibrate).

    \b
    Examples:
      leastnoise calibrate --delta 0.1 --sensitivity 1 --cost l1
      leastnoise calibrate --epsilon 1 --delta 1e-6 --sensitivity 1 --save certificate.json
      leastnoise calibrate --epsilon 1 --delta 1e-6 --sensitivity 1 --family gaussian
    """  # noqa: D301 -- click reads the control character
    mechanism = find_mechanism(**asked(**asking))
    if save is not None:
        _write(save, mechanism.certificate.to_json())
    if as_json:
        print_json(_mechanism_data(mechanism))
        return
    drawn, certificate = mechanism.drawn, mechanism.certificate
    print_table(
        ("noise", f"{mechanism.noise}"),
        ("expected cost", f"{exactly(mechanism.cost)} ({certificate.objective})"),
        ("proved", f"{certificate}"),
        ("lower bound", f"{exactly(certificate.lower_bound)}"),
        ("drawn", f"{drawn.noise}"),
        ("drawn cost", f"{approximately(drawn.cost, 9)}"),
    )
    click.echo()
    print_words(mechanism.explain())


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(
            f"the certificate must be saved to a file that can be written; {error.strerror}. "
            "Choose another place."
        ) from error


def _mechanism_data(mechanism: Mechanism) -> dict[str, Any]:
    drawn = mechanism.drawn
    return {
        "privacy": privacy_data(mechanism.privacy),
        "sensitivity": ratio(mechanism.sensitivity),
        "integer": mechanism.integer,
        "noise": repr(mechanism.noise),
        "radius": length(mechanism.noise.radius),
        "exact_probability": ratio(mechanism.exact_probability),
        "cost": ratio(mechanism.cost),
        "cost_float": finite(as_float(mechanism.cost)),
        "certificate": certificate_data(mechanism.certificate),
        "means": mechanism.explain(),
        "drawn": {
            "step": ratio(drawn.step),
            "radius": length(drawn.radius),
            "cost": ratio(drawn.cost),
            "protected": ratio(mechanism.protected),
        },
    }
