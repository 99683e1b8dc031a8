"""The command line: each command parses, makes one library call and prints.

Exit codes: 0 done · 1 our fault · 2 the caller's mistake · 3 budget refused · 4 a check failed.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from leastnoise import __version__
from leastnoise.calibration import FAMILIES
from leastnoise.certificate import Certificate
from leastnoise.costs import Cost, l1, l2, lp, points, threshold
from leastnoise.errors import (
    BudgetExceeded,
    InvalidParameter,
    LeastnoiseError,
    LedgerDamaged,
    NotPrivate,
)
from leastnoise.exact import approximately, as_float, described, exactly, ratio, rational
from leastnoise.mechanism import Answer, Mechanism
from leastnoise.mechanism import calibrate as find_mechanism
from leastnoise.planning import compare as compare_noises
from leastnoise.planning import privacy_for as find_privacy
from leastnoise.privacy import Privacy

_EXIT_CODES = {BudgetExceeded: 3, NotPrivate: 4, LedgerDamaged: 4}
_COSTS = "l1, l2, lp:P, threshold:T, or points:X,Y;X,Y;…"


class _Refused(click.ClickException):
    """One of our errors, as one line on the error stream."""

    def __init__(self, error: LeastnoiseError, exit_code: int | None = None) -> None:
        super().__init__(_in_options(str(error)))
        self.exit_code = exit_code or _EXIT_CODES.get(type(error), 2)  # type: ignore[misc]  # click's own way


def _in_options(message: str) -> str:
    """Say what to do in the words of the command line."""
    for keyword in ("allow_exact=True", "integer=True"):
        option = "--" + keyword.removesuffix("=True").replace("_", "-")
        message = message.replace(keyword, option)
    return message


class _Command(click.Command):
    """A command whose library errors become one line and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LeastnoiseError as error:
            raise _Refused(error) from error


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="leastnoise")
def main() -> None:
    """The least noise that differential privacy allows."""


def _question(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that every question about a noise that keeps a promise has."""
    options = [
        click.option("--epsilon", default="0", help="ε of the promise.", show_default=True),
        click.option("--delta", default="0", help="δ of the promise.", show_default=True),
    ]
    return _with_options(options, _setting(command))


def _setting(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say what is asked, but for the promise."""
    options = [
        click.option("--sensitivity", required=True, help="Δ: how much one person can change."),
        click.option("--cost", "cost_text", default="l1", show_default=True, help=_COSTS),
        click.option("--integer", is_flag=True, help="Answers are whole numbers."),
        click.option(
            "--among",
            type=click.Choice(["decreasing", "any"]),
            default="decreasing",
            show_default=True,
            help="Noises that never rise away from 0, or of any shape.",
        ),
        click.option("--no-solve", is_flag=True, help="Take a closed form at once."),
        click.option("--gap", default="0.001", show_default=True, help="How near to the least."),
        click.option("--seconds", default="10", show_default=True, help="How long to solve."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    ]
    return _with_options(options, command)


def _with_options(
    options: Sequence[Callable[[Callable[..., None]], Callable[..., None]]],
    command: Callable[..., None],
) -> Callable[..., None]:
    for option in reversed(options):
        command = option(command)
    return command


_family = click.option("--family", help=f"Use this kind of noise: {', '.join(FAMILIES)}.")


@main.command(cls=_Command)
@_question
@_family
@click.option("--save", type=click.Path(dir_okay=False), help="Write the certificate to a file.")
def calibrate(*, as_json: bool, save: str | None, **question: Any) -> None:
    """Find the noise of least cost that keeps a promise (leastnoise.calibrate).

    \b
    Examples:
      leastnoise calibrate --delta 0.1 --sensitivity 1 --cost l1
      leastnoise calibrate --epsilon 1 --delta 1e-6 --sensitivity 1 --save certificate.json
      leastnoise calibrate --epsilon 1 --delta 1e-6 --sensitivity 1 --family gaussian
    """  # noqa: D301 -- click reads the control character
    mechanism = _mechanism(**question)
    if save is not None:
        _write(save, mechanism.certificate.to_json())
    if as_json:
        click.echo(json.dumps(_as_data(mechanism), ensure_ascii=False))
        return
    drawn, certificate = mechanism.drawn, mechanism.certificate
    _table(
        ("noise", f"{mechanism.noise}"),
        ("expected cost", f"{exactly(mechanism.cost)} ({certificate.objective})"),
        ("proved", f"{certificate}"),
        ("lower bound", f"{exactly(certificate.lower_bound)}"),
        ("drawn", f"{drawn.noise}"),
        ("drawn cost", f"{approximately(drawn.cost, 9)}"),
    )
    click.echo()
    click.echo(click.wrap_text(mechanism.explain(), 88))


@main.command(cls=_Command, context_settings={"ignore_unknown_options": True})
@click.argument("values", nargs=-1, required=True, metavar="VALUE")
@_question
@_family
@click.option("--allow-exact", is_flag=True, help="Accept that the exact value may leave.")
def release(*, values: tuple[str, ...], as_json: bool, allow_exact: bool, **question: Any) -> None:
    """Add the least noise to VALUE and print what may be published (Mechanism.release).

    \b
    Example:
      leastnoise release 42 --delta 0.1 --sensitivity 1
    """  # noqa: D301 -- click reads the control character
    value = _value(values)
    answer = _mechanism(**question).release(value, allow_exact=allow_exact)
    click.echo(json.dumps(_answer_data(answer), ensure_ascii=False) if as_json else str(answer))


@main.command(cls=_Command)
@_question
@click.option("--releases", default="1", show_default=True, help="Answers under one promise.")
@click.option("--plot", "folder", metavar="FOLDER", help="Write three pictures into a folder.")
def compare(*, releases: str, folder: str | None, as_json: bool, **question: Any) -> None:
    """Put all noises that keep a promise side by side, cheapest first (leastnoise.compare).

    \b
    Examples:
      leastnoise compare --epsilon 1 --delta 1e-6 --sensitivity 1
      leastnoise compare --delta 0.01 --sensitivity 1 --cost l2 --releases 3 --no-solve
    """  # noqa: D301 -- click reads the control character
    comparison = compare_noises(releases=releases, **_asked(**question))
    pictures: list[str] = []
    if folder is not None:
        from leastnoise.plots import save_comparison  # the pictures' libraries, on first use

        pictures = [str(path) for path in save_comparison(comparison, folder)]
    if as_json:
        data = {**comparison.to_dict(), **({"pictures": pictures} if pictures else {})}
        click.echo(json.dumps(data, ensure_ascii=False))
        return
    click.echo(f"{comparison}\n")
    click.echo(click.wrap_text(comparison.explain(), 88))
    if pictures:
        click.echo("\n" + "\n".join(pictures))


@main.command("privacy-for", cls=_Command)
@click.option("--error", required=True, help="The largest error that is still good.")
@click.option("--confidence", required=True, help="How often errors must be good, such as 0.95.")
@click.option("--epsilon", help="ε, to ask for the smallest δ.")
@click.option("--delta", help="δ, to ask for the smallest ε.")
@_setting
def privacy_for(*, cost_text: str, no_solve: bool, as_json: bool, **question: Any) -> None:
    """Find the smallest promise that allows an accuracy (leastnoise.privacy_for).

    \b
    Examples:
      leastnoise privacy-for --error 2 --confidence 0.95 --sensitivity 1 --delta 1e-6
      leastnoise privacy-for --error 2 --confidence 0.95 --sensitivity 1 --epsilon 0
    """  # noqa: D301 -- click reads the control character
    privacy = find_privacy(cost=_cost(cost_text), solve=not no_solve, **question)
    if as_json:
        data = {"privacy": _privacy_data(privacy), "means": privacy.explain()}
        click.echo(json.dumps(data, ensure_ascii=False))
        return
    error, confidence = question["error"], question["confidence"]
    _table(
        ("promise", f"{privacy}"),
        (
            "accuracy",
            f"its least noise errs by at most {error} with probability {confidence} or more",
        ),
    )
    click.echo()
    click.echo(click.wrap_text(privacy.explain(), 88))


@main.command(cls=_Command)
@click.argument("file", type=click.Path(exists=True, dir_okay=False), metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(*, file: str, as_json: bool) -> None:
    """Prove a certificate again, trusting nothing in FILE (leastnoise.Certificate.check).

    Exits with 0 if everything it says is proved, with 4 if not.

    \b
    Example:
      leastnoise check certificate.json
    """  # noqa: D301 -- click reads the control character
    try:
        certificate = Certificate.from_json(_read_text(file))
        certificate.check()
    except LeastnoiseError as error:
        raise _Refused(error, exit_code=4) from error
    if as_json:
        click.echo(json.dumps(_certificate_data(certificate), ensure_ascii=False))
        return
    _table(
        ("noise", f"{certificate.noise}"),
        ("keeps", f"{certificate.privacy} at Δ = {exactly(certificate.sensitivity)}"),
        ("expected cost", f"{exactly(certificate.cost)} ({certificate.objective})"),
        ("lower bound", f"{exactly(certificate.lower_bound)}"),
        ("proved", f"{certificate}"),
    )


@main.command(cls=_Command)
@click.argument("folder", metavar="OUT")
@click.option("--json", "as_json", is_flag=True, help="Print the claims as JSON.")
def paper(*, folder: str, as_json: bool) -> None:
    """Recompute the paper's tables, figures and claims into OUT (leastnoise.paper.write).

    \b
    Example:
      leastnoise paper paper-recomputed/
    """  # noqa: D301 -- click reads the control character
    from leastnoise.paper import claims, write  # the pictures' libraries, on first use

    if sys.stderr.isatty():
        click.echo("recomputing tables, figures and claims …", err=True)
    page = write(folder)
    if as_json:
        click.echo(json.dumps([asdict(claim) for claim in claims()], ensure_ascii=False))
        return
    differing = [claim for claim in claims() if not claim.agrees]
    click.echo(f"{page}: {len(claims())} claims, {len(differing)} of them do not agree:")
    for claim in differing:
        click.echo(f"  {claim.where}: {claim.remark}")


def _mechanism(**question: Any) -> Mechanism:
    """Ask the question that the shared options spell."""
    return find_mechanism(**_asked(**question))


def _asked(
    *, epsilon: str, delta: str, cost_text: str, no_solve: bool, **rest: Any
) -> dict[str, Any]:
    """Return the arguments of the library that the shared options spell."""
    privacy = Privacy(epsilon, delta)
    return {"privacy": privacy, "cost": _cost(cost_text), "solve": not no_solve, **rest}


def _cost(text: str) -> Cost:
    """Read a cost from the command line."""
    kind, _, rest = text.partition(":")
    if text in ("l1", "l2"):
        return l1 if text == "l1" else l2
    if kind == "lp" and rest:
        return lp(rest)
    if kind == "threshold" and rest:
        return threshold(rest)
    if kind == "points" and rest:
        return points([tuple(pair.split(",")) for pair in rest.split(";")])  # type: ignore[misc]
    raise InvalidParameter(f"a cost must be {_COSTS}; got {described(text)}. Choose one.")


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(
            f"the certificate must be saved to a file that can be written; {error.strerror}. "
            "Choose another place."
        ) from error


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameter(
            "a certificate must be a file of text that can be read; this one is not. "
            "Give one that calibrate --save wrote."
        ) from error


def _value(texts: tuple[str, ...]) -> Fraction:
    """Read the value to be released; no message may repeat it."""
    if len(texts) != 1:
        raise InvalidParameter(
            f"there must be exactly one value to release; got {len(texts)} arguments. "
            "Give one number, and check the spelling of the options."
        )
    try:
        return rational(texts[0], "the value")
    except InvalidParameter:
        raise InvalidParameter(
            "the value to release must be a finite number; got a text that is not one. "
            "Give for instance 42 or 3.5, and check the spelling of the options."
        ) from None


def _as_data(mechanism: Mechanism) -> dict[str, Any]:
    certificate, drawn = mechanism.certificate, mechanism.drawn
    return {
        "privacy": _privacy_data(mechanism.privacy),
        "sensitivity": ratio(mechanism.sensitivity),
        "integer": mechanism.integer,
        "noise": repr(mechanism.noise),
        "radius": _length(mechanism.noise.radius),
        "exact_probability": ratio(mechanism.exact_probability),
        "cost": ratio(mechanism.cost),
        "cost_float": _finite(as_float(mechanism.cost)),
        "certificate": _certificate_data(certificate),
        "means": mechanism.explain(),
        "drawn": {
            "step": ratio(drawn.step),
            "radius": _length(drawn.radius),
            "cost": ratio(drawn.cost),
            "protected": ratio(mechanism.protected),
        },
    }


def _certificate_data(certificate: Certificate) -> dict[str, Any]:
    return {
        "among": certificate.among,
        "objective": repr(certificate.objective),
        "cost": ratio(certificate.cost),
        "lower_bound": ratio(certificate.lower_bound),
        "gap": _length(certificate.gap),
        "exact": certificate.exact,
        "source": certificate.source,
    }


def _answer_data(answer: Answer) -> dict[str, Any]:
    low, high = answer.interval("0.95")
    return {
        "value": ratio(answer.value),
        "value_float": _finite(float(answer)),
        "interval_95": [ratio(low), ratio(high)],
        "bound": _length(answer.bound),
        "privacy": _privacy_data(answer.privacy),
        "exact_probability": ratio(answer.exact_probability),
        "recorded": False,
    }


def _finite(number: float) -> float | None:
    """JSON has no infinities; the exact number stands beside it."""
    return number if math.isfinite(number) else None


def _length(size: Fraction | float) -> str | None:
    """Return a size as a ratio, or None where it is infinite."""
    return ratio(size) if isinstance(size, Fraction) else None


def _privacy_data(privacy: Privacy) -> dict[str, str]:
    return {"epsilon": ratio(privacy.epsilon), "delta": ratio(privacy.delta)}


def _table(*rows: tuple[str, str]) -> None:
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        click.echo(f"{name:<{width}}  {text}")
