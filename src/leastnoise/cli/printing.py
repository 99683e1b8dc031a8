"""How commands print: tables and words for people, one line of strict JSON for programs."""

import json
import math
import re
import shutil
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from leastnoise.exact import ratio
from leastnoise.privacy import Privacy

if TYPE_CHECKING:
    from leastnoise.certificate import Certificate


# The longest line of words that is easy to read, and the width of a terminal that does not tell it.
_WIDEST, _USUAL, _NARROWEST = 88, 80, 20
_NO_BREAK = "\u00a0"
# The blanks in "ε = 1" and "50 %", and that in "(ε, δ)".
_AROUND_SIGNS = re.compile(r"(?<=[=<>≤≥±≈]) | (?=[=<>≤≥±≈%])")
_PAIR = re.compile(r"\([^\s()]+, [^\s()]+\)")


def print_json(data: object) -> None:
    """Print data as JSON, on one line, as itself in any encoding: JSON can spell what it lacks."""
    text = json.dumps(data, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data)
    click.echo(text)


def print_table(*rows: tuple[str, str]) -> None:
    """Print rows of a name and a text, the texts below one another."""
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        click.echo(f"{name:<{width}}  {text}")


def print_words(text: str) -> None:
    """Print sentences in lines that fit the terminal, of at most 88 characters.

    No line ends within a formula.
    """
    width = shutil.get_terminal_size((_USUAL, 24)).columns
    held = _AROUND_SIGNS.sub(_NO_BREAK, _PAIR.sub(_held, text))
    lines = click.wrap_text(held, max(_NARROWEST, min(_WIDEST, width)))
    click.echo(lines.replace(_NO_BREAK, " "))


def _held(found: re.Match[str]) -> str:
    return found[0].replace(" ", _NO_BREAK)


def privacy_data(privacy: Privacy) -> dict[str, str]:
    """Return a promise as JSON has it: exact ratios."""
    return {"epsilon": ratio(privacy.epsilon), "delta": ratio(privacy.delta)}


def certificate_data(certificate: "Certificate") -> dict[str, Any]:
    """Return what a certificate says as JSON has it, without its proof."""
    return {
        "among": certificate.among,
        "objective": repr(certificate.objective),
        "cost": ratio(certificate.cost),
        "lower_bound": ratio(certificate.lower_bound),
        "gap": length(certificate.gap),
        "exact": certificate.exact,
        "source": certificate.source,
    }


def length(size: Fraction | float) -> str | None:
    """Return a size as a ratio, or None where it is infinite."""
    return ratio(size) if isinstance(size, Fraction) else None


def finite(number: float) -> float | None:
    """JSON has no infinities; the exact number stands beside it."""
    return number if math.isfinite(number) else None
