"""The commands calibrate, release, compare, privacy-for and explain."""

from decimal import ROUND_CEILING
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli import options
from leastnoise.cli.app import Once
from leastnoise.cli.output import (
    at_sensitivity,
    bound_shown,
    budget_shown,
    certificate_data,
    cost_shown,
    explain_command,
    finite,
    guarantee_shown,
    ledger_name,
    length,
    print_facts,
    print_json,
    print_words,
    privacy_data,
    receipt_data,
    reused_data,
    write_file,
)
from leastnoise.core.exact import (
    as_float,
    format_ratio,
    format_rounded,
    parse_count,
    parse_rational,
)
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.files import refuse_overwriting
from leastnoise.rendering import Fact, Progress, held

if TYPE_CHECKING:
    from leastnoise.mechanism import Answer, Mechanism


@click.command(cls=Once)
@options.problem
@options.family
@options.option(
    "--save",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    group=options.OUTPUT,
    help="Write the certificate to a file.",
)
@options.explained
def calibrate(*, as_json: bool, explain: bool, save: str | None, **asking: Any) -> None:
    """Find the optimal noise for a guarantee, and certify its expected cost.

    \b
    leastnoise calibrate --epsilon 1 --delta 1e-6 --sensitivity 1
    leastnoise calibrate --delta 0.1 --sensitivity 1 --save certificate.json
    leastnoise calibrate --epsilon 1 --sensitivity 1 --family laplace

    In Python: leastnoise.calibrate
    """  # noqa: D301 -- click reads the control character
    from leastnoise.mechanism import calibrate as find_mechanism

    mechanism = find_mechanism(**options.problem_arguments(**asking))
    if save is not None:
        refuse_overwriting(save, option="--save")
        write_file(save, mechanism.certificate.to_json(), "The certificate was not written")
    if as_json:
        print_json(_mechanism_data(mechanism))
        return
    sampled, certificate = mechanism.discretized, mechanism.certificate
    cost = format_rounded(sampled.cost, 9, ROUND_CEILING)
    facts = [
        ("Expected cost", cost_shown(certificate)),
        ("Lower bound", bound_shown(certificate)),
        ("Optimality", f"{certificate}"),
        ("Source", certificate.source),
        ("Guarantee", at_sensitivity(mechanism.privacy, mechanism.sensitivity)),
        ("Sampled from", f"{sampled.noise}"),
        ("Sampled cost", cost),
    ]
    if save is not None:
        facts.append(("Certificate", save))
    print_words(f"{mechanism.noise}")
    click.echo()
    _print_meaning(facts, mechanism.privacy, mechanism.explain() if explain else "")


def _print_meaning(facts: list[Fact], privacy: Privacy, meaning: str) -> None:
    """Print facts, then what the guarantee means, or the command that says it."""
    if not meaning:
        facts = [*facts, ("Meaning", explain_command(privacy))]
    print_facts(*facts)
    if meaning:
        click.echo()
        print_words(meaning)


def _mechanism_data(mechanism: "Mechanism") -> dict[str, Any]:
    drawn = mechanism.discretized
    return {
        "privacy": privacy_data(mechanism.privacy),
        "sensitivity": format_ratio(mechanism.sensitivity),
        "integer": mechanism.integer,
        "noise": repr(mechanism.noise),
        "radius": length(mechanism.noise.radius),
        "exact_probability": format_ratio(mechanism.exact_probability),
        "cost": format_ratio(mechanism.cost),
        "cost_float": finite(as_float(mechanism.cost)),
        "certificate": certificate_data(mechanism.certificate),
        "means": mechanism.explain(),
        "drawn": {
            "step": format_ratio(drawn.step),
            "radius": length(drawn.radius),
            "cost": format_ratio(drawn.cost),
            "protected": format_ratio(mechanism.effective_sensitivity),
        },
    }


@click.command(cls=Once, context_settings={"ignore_unknown_options": True})
@click.argument("values", nargs=-1, required=True, metavar="VALUE")
@options.problem
@options.family
@options.option(
    "--allow-exact",
    is_flag=True,
    group=options.PRIVACY,
    help="Accept noise that may add nothing, so that the exact value is released.",
)
@options.option(
    "--ledger", metavar="FILE", group=options.LEDGER, help="The ledger to charge. Default: none."
)
@options.option(
    "--key",
    metavar="NAME",
    group=options.LEDGER,
    help="The name of the query: if it is repeated, its stored answer is returned.",
)
@options.option(
    "--fresh", is_flag=True, group=options.LEDGER, help="Charge again and draw new noise."
)
@options.which_ledger
def release(
    *,
    values: tuple[str, ...],
    as_json: bool,
    allow_exact: bool,
    ledger: str | None,
    key: str | None,
    fresh: bool,
    dataset: str | None,
    analyst: str | None,
    witness: str | None,
    **asking: Any,
) -> None:
    """Add noise to VALUE and print the answer, which you may publish.

    \b
    leastnoise release 42 --epsilon 0.2 --sensitivity 1 --integer
    leastnoise release 42 --epsilon 0.2 --sensitivity 1 --integer \\
        --ledger people.ledger --key members

    If the budget is exceeded or the ledger damaged, nothing is charged or released.

    Exit codes: 0 success, 1 random generator failed, 2 usage error, 3 budget exceeded, 4 ledger
    damaged.

    In Python: leastnoise.Mechanism.release
    """  # noqa: D301 -- click reads the control character
    from leastnoise.mechanism import calibrate as find_mechanism

    value = _value(values)
    with options.recording(ledger, dataset=dataset, analyst=analyst, witness=witness) as found:
        mechanism = find_mechanism(**options.problem_arguments(**asking))
        with Progress("checking the ledger"):
            # Before the release: nothing may come between it and its printing.
            of = options.check_ledger(found, witness)
            answer = mechanism.release(
                value, ledger=found, key=key, fresh=fresh, allow_exact=allow_exact
            )
    if as_json:
        print_json(_answer_data(answer))
        return
    _print_release(answer, ledger_name(ledger, of))


def _print_release(answer: "Answer", ledger: str) -> None:
    """Print an answer: the result first, then labelled facts."""
    from leastnoise.mechanism import exact_release, format_errors, format_value, reused_line

    stored, receipt, mechanism = reused_line(answer.receipt), answer.receipt, answer.mechanism
    usual, most = format_errors(answer)
    facts = [
        (
            "Max error",
            most or f"none ({'' if answer.privacy.delta else 'at δ = 0 '}the noise is unbounded)",
        ),
        ("Guarantee", at_sensitivity(answer.privacy, mechanism.sensitivity)),
    ]
    exact = exact_release(mechanism)
    if exact:
        facts.append(("Exact release", exact))
    facts.append(("Budget", budget_shown(receipt, ledger)))
    if receipt is not None:
        facts.append(("Key", held(receipt.key)))
    if stored:
        click.echo(stored)
    click.echo(f"release: {format_value(answer)} ± {usual} (95% confidence)\n")
    print_facts(*facts)


def _value(texts: tuple[str, ...]) -> Fraction:
    """Read the value to be released; no message may repeat it."""
    if len(texts) != 1:
        raise InvalidParameter(
            "VALUE must be one number",
            got=f"{len(texts)} arguments",
            fix="Check the spelling of the options.",
        )
    try:
        return parse_rational(texts[0], "the value")
    except InvalidParameter:
        raise InvalidParameter(
            "VALUE must be a finite number, such as 42 or 3.5",
            got="something else",
            fix="Check the spelling of the options.",
        ) from None


def _answer_data(answer: "Answer") -> dict[str, Any]:
    low, high = answer.interval("0.95")
    return {
        "value": format_ratio(answer.value),
        "value_float": finite(float(answer)),
        "interval_95": [format_ratio(low), format_ratio(high)],
        "bound": length(answer.max_error),
        "privacy": privacy_data(answer.privacy),
        "exact_probability": format_ratio(answer.exact_probability),
        "recorded": receipt_data(answer.receipt),
        "reused": reused_data(answer.receipt),
    }


@click.command(cls=Once)
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
@options.explained
def compare(
    *, releases: str, folder: str | None, as_json: bool, explain: bool, **asking: Any
) -> None:
    """Compare noise distributions for one guarantee, cheapest first.

    \b
    leastnoise compare --epsilon 1 --delta 1e-6 --sensitivity 1 --integer
    leastnoise compare --delta 0.01 --sensitivity 1 --cost l2 \\
        --releases 3 --no-solve

    In Python: leastnoise.compare
    """  # noqa: D301 -- click reads the control character
    from leastnoise.planning import compare as compare_noises

    comparison = compare_noises(releases=releases, **options.problem_arguments(**asking))
    figures: list[str] = []
    if folder is not None:
        from leastnoise.plots import save_comparison  # the libraries of figures, on first use

        figures = [str(path) for path in save_comparison(comparison, folder)]
    if as_json:
        print_json({**comparison.to_dict(), **({"pictures": figures} if figures else {})})
        return
    more = [("Meaning", explain_command(comparison.privacy))] if not explain else []
    click.echo(comparison.to_text(*more, *(("Figure", path) for path in figures)))
    if explain:
        click.echo()
        print_words(comparison.explain())


@click.command("privacy-for", cls=Once)
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
@options.explained
def privacy_for(*, as_json: bool, explain: bool, **asking: Any) -> None:
    """Find the smallest ε or δ that meets an accuracy target.

    \b
    leastnoise privacy-for --error 2 --confidence 0.95 --sensitivity 1 \\
        --delta 1e-6

    In Python: leastnoise.privacy_for
    """  # noqa: D301 -- click reads the control character
    from leastnoise.planning import privacy_for as find_privacy

    privacy = find_privacy(**options.setting_arguments(**asking))
    if as_json:
        print_json({"privacy": privacy_data(privacy), "means": privacy.explain()})
        return
    error, confidence = asking["error"], asking["confidence"]
    accuracy = f"error at most {error} with probability {confidence} or more"
    facts = [("Accuracy", accuracy), ("Sensitivity", asking["sensitivity"])]
    click.echo(f"{guarantee_shown(privacy)}\n")
    _print_meaning(facts, privacy, privacy.explain() if explain else "")


@click.command(cls=Once)
@options.option("--epsilon", metavar="E", help="ε of the guarantee.  [default: 0]")
@options.option("--delta", metavar="D", help="δ of the guarantee.  [default: 0]")
@options.option("--people", metavar="N", help="The number of people in the data, if it is public.")
def explain(*, epsilon: str | None, delta: str | None, people: str | None) -> None:
    """Say in plain words what an (ε, δ) guarantee means.

    \b
    leastnoise explain --epsilon 1 --delta 1e-6
    leastnoise explain --epsilon 1 --delta 1e-6 --people 8000

    In Python: leastnoise.Privacy.explain
    """  # noqa: D301 -- click reads the control character
    given = {"epsilon": epsilon, "delta": delta}
    parts = {name: part for name, part in given.items() if part is not None}
    if not parts:
        raise InvalidParameter(
            "A guarantee needs --epsilon, --delta or both", fix="Pass --epsilon 1 --delta 1e-6."
        )
    count = None if people is None else parse_count(people, "--people", least=1)
    print_words(Privacy(**parts).explain(people=count))
