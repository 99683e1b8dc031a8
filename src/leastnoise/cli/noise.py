"""The commands calibrate, compare, privacy-for and explain."""

from decimal import ROUND_CEILING
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from leastnoise.cli import options
from leastnoise.cli.app import StrictCommand
from leastnoise.cli.missing import check_missing_problem
from leastnoise.cli.output import (
    certificate_data,
    finite_or_none,
    format_at_sensitivity,
    format_explain_command,
    format_lower_bound,
    format_noise,
    format_rounded_guarantee,
    print_facts,
    print_json,
    print_words,
    privacy_data,
    ratio_or_none,
    write_file,
)
from leastnoise.core.exact import (
    as_float,
    format_ratio,
    format_rounded,
    parse_count,
    quote,
)
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.files import reject_overwriting
from leastnoise.rendering import Fact, one_line

if TYPE_CHECKING:
    from leastnoise.mechanism import Mechanism


@click.command(cls=StrictCommand, on_missing=partial(check_missing_problem, "calibrate"))
@options.problem
@options.family
@options.option(
    "--save",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    group=options.OUTPUT,
    help="Write the certificate to a file.",
)
@options.explain_option
def calibrate(
    *,
    as_json: bool,
    explain: bool,
    save: str | None,
    family: str | None,
    **problem: Unpack[options.ProblemOptions],
) -> None:
    """Find near-optimal noise for a guarantee, and certify its expected cost.

    \b
    leastnoise calibrate --epsilon 1 --delta 1e-6 --sensitivity 1
    leastnoise calibrate --delta 0.1 --sensitivity 1 --save certificate.json
    leastnoise calibrate --epsilon 1 --sensitivity 1 --family laplace

    In Python: leastnoise.calibrate
    """  # noqa: D301 -- click reads the control character
    from leastnoise.calibration import format_source
    from leastnoise.mechanism import calibrate as find_mechanism
    from leastnoise.mechanism import explain_exact_release, format_accuracy

    if save is not None:
        _check_save(save)
    mechanism = find_mechanism(**options.problem_arguments(**problem), family=family)
    if save is not None:
        write_file(save, mechanism.certificate.to_json(), "The certificate was not written")
    if as_json:
        print_json(_mechanism_data(mechanism))
        return
    sampled, certificate = mechanism.discretized, mechanism.certificate
    cost = format_rounded(sampled.cost, 9, ROUND_CEILING)
    usual, largest = format_accuracy(mechanism)
    facts = [
        ("Max error", largest),
        ("Noise", format_noise(mechanism.noise)),
        ("Lower bound", format_lower_bound(certificate)),
        ("Optimality", f"{certificate}"),
        ("Source", format_source(certificate.source)),
        ("Guarantee", format_at_sensitivity(mechanism.privacy, mechanism.sensitivity)),
        ("Sampled from", f"{sampled.noise}"),
        ("Sampled cost", cost),
    ]
    if mechanism.integer or mechanism.needs_allow_exact:
        facts.append(("Exact release", explain_exact_release(mechanism)))
    if save is not None:
        facts.append(("Certificate", save))
    print_words(f"95% error ± {usual}, expected error {certificate.describe_cost()}")
    click.echo()
    _print_meaning(facts, mechanism.privacy, mechanism.explain() if explain else "")


def _print_meaning(facts: list[Fact], privacy: Privacy, meaning: str) -> None:
    """Print facts, then the meaning of the guarantee, or the command that explains it."""
    if not meaning:
        facts = [*facts, ("Meaning", format_explain_command(privacy))]
    print_facts(*facts)
    if meaning:
        click.echo()
        print_words(meaning)


def _mechanism_data(mechanism: "Mechanism") -> dict[str, Any]:
    discretized = mechanism.discretized
    return {
        "privacy": privacy_data(mechanism.privacy),
        "sensitivity": format_ratio(mechanism.sensitivity),
        "integer": mechanism.integer,
        "noise": repr(mechanism.noise),
        "radius": ratio_or_none(mechanism.noise.radius),
        "exact_probability": format_ratio(mechanism.exact_probability),
        "cost": format_ratio(mechanism.cost),
        "cost_float": finite_or_none(as_float(mechanism.cost)),
        "certificate": certificate_data(mechanism.certificate),
        "means": one_line(mechanism.explain()),
        "drawn": {
            "step": format_ratio(discretized.step),
            "radius": ratio_or_none(discretized.radius),
            "cost": format_ratio(discretized.cost),
            "protected": format_ratio(mechanism.effective_sensitivity),
        },
    }


def _check_save(save: str) -> None:
    """Reject an existing file, unless it can be an earlier certificate: those begin with {."""
    reject_overwriting(save, option="--save")
    path = Path(save)
    if path.is_file():
        with path.open("rb") as file:
            if file.read(1) not in (b"", b"{"):
                raise InvalidParameter(
                    "--save must not overwrite a file that is no certificate",
                    got=quote(save),
                    fix="Choose another name.",
                )


@click.command(cls=StrictCommand, on_missing=partial(check_missing_problem, "compare"))
@options.problem
@options.option(
    "--releases",
    default="1",
    show_default=True,
    metavar="K",
    group=options.PRIVACY,
    help="The number of answers that share the guarantee.",
)
@options.option(
    "--plot",
    "folder",
    metavar="FOLDER",
    group=options.OUTPUT,
    help="Write three figures into a folder.",
)
@options.explain_option
def compare(
    *,
    releases: str,
    folder: str | None,
    as_json: bool,
    explain: bool,
    **problem: Unpack[options.ProblemOptions],
) -> None:
    """Compare noise distributions for one guarantee, cheapest first.

    \b
    leastnoise compare --epsilon 1 --delta 1e-6 --sensitivity 1 --integer
    leastnoise compare --delta 0.01 --sensitivity 1 --cost l2 \\
        --releases 3 --no-solve

    In Python: leastnoise.compare
    """  # noqa: D301 -- click reads the control character
    from leastnoise.planning import compare as compare_noises

    comparison = compare_noises(releases=releases, **options.problem_arguments(**problem))
    figures: list[str] = []
    if folder is not None:
        from leastnoise.plots import save_comparison  # the libraries of figures, on first use

        figures = [str(path) for path in save_comparison(comparison, folder)]
    if as_json:
        print_json({**comparison.to_dict(), **({"pictures": figures} if figures else {})})
        return
    more = [("Meaning", format_explain_command(comparison.privacy))] if not explain else []
    click.echo(comparison.to_text(*more, *(("Figure", path) for path in figures)))
    if explain:
        click.echo()
        print_words(comparison.explain())


@click.command(
    "privacy-for", cls=StrictCommand, on_missing=partial(check_missing_problem, "privacy-for")
)
@options.option(
    "--error",
    required=True,
    metavar="A",
    group="Accuracy",
    help="The largest acceptable error.",
)
@options.option(
    "--confidence",
    required=True,
    metavar="P",
    group="Accuracy",
    help="The probability of an acceptable error, such as 0.95.",
)
@options.option("--epsilon", metavar="E", group=options.PRIVACY, help="ε, to find the smallest δ.")
@options.option("--delta", metavar="D", group=options.PRIVACY, help="δ, to find the smallest ε.")
@options.setting
@options.explain_option
def privacy_for(
    *,
    error: str,
    confidence: str,
    epsilon: str | None,
    delta: str | None,
    as_json: bool,
    explain: bool,
    **setting: Unpack[options.SettingOptions],
) -> None:
    """Find the smallest ε or δ that meets an accuracy target.

    \b
    leastnoise privacy-for --error 2 --confidence 0.95 --sensitivity 1 \\
        --delta 1e-6

    In Python: leastnoise.privacy_for
    """  # noqa: D301 -- click reads the control character
    from leastnoise.planning import privacy_for as find_privacy

    privacy = find_privacy(
        error=error,
        confidence=confidence,
        epsilon=epsilon,
        delta=delta,
        **options.setting_arguments(**setting),
    )
    if as_json:
        print_json({"privacy": privacy_data(privacy), "means": one_line(privacy.explain())})
        return
    accuracy = f"error at most {error} with probability {confidence} or more"
    facts = [("Accuracy", accuracy), ("Sensitivity", setting["sensitivity"])]
    click.echo(f"{format_rounded_guarantee(privacy)}\n")
    _print_meaning(facts, privacy, privacy.explain() if explain else "")


@click.command(cls=StrictCommand)
@options.option("--epsilon", metavar="E", help="ε of the guarantee.  [default: 0]")
@options.option("--delta", metavar="D", help="δ of the guarantee.  [default: 0]")
@options.option("--people", metavar="N", help="The number of people in the data, if it is public.")
def explain(*, epsilon: str | None, delta: str | None, people: str | None) -> None:
    """Explain an (ε, δ) guarantee in plain words.

    \b
    leastnoise explain --epsilon 1 --delta 1e-6
    leastnoise explain --epsilon 1 --delta 1e-6 --people 8000

    In Python: leastnoise.Privacy.explain
    """  # noqa: D301 -- click reads the control character
    typed = {"epsilon": epsilon, "delta": delta}
    parts = {name: part for name, part in typed.items() if part is not None}
    if not parts:
        raise InvalidParameter(
            "A guarantee needs --epsilon, --delta or both", fix="Pass --epsilon 1 --delta 1e-6."
        )
    count = None if people is None else parse_count(people, "--people", least=1)
    print_words(Privacy(**parts).explain(people=count))
