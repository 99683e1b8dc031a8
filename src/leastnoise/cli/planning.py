"""The commands plan and compose: several releases, from a small file."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli import options
from leastnoise.cli.app import StrictCommand
from leastnoise.cli.output import (
    format_explain_command,
    print_facts,
    print_json,
    print_words,
    privacy_data,
)
from leastnoise.cli.request_file import Entry, read_entries
from leastnoise.core.exact import format_ratio, format_up, parse_count, quote
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter
from leastnoise.files import reject_overwriting, reject_overwriting_input
from leastnoise.rendering import as_text, one_line

if TYPE_CHECKING:
    from leastnoise.accounting import Composition
    from leastnoise.planning import NumericQuery

# The fields of the files.
_GUARANTEE = ("epsilon", "delta")
_NUMBERS = ("sensitivity", "weight", "error", "confidence")
_ANSWER = ("name", *_NUMBERS, "integer", "cost", "family")
_RELEASE = ("name", *_GUARANTEE, "times", "family", "sensitivity", "integer")
_COSTS = "l1, l2, lp:P, threshold:T or points:X,Y;X,Y;…"


@click.command(cls=StrictCommand, exit_codes=(0, 2))
@click.argument("file", metavar="FILE")
@options.option("--epsilon", metavar="E", group=options.PRIVACY, help="ε for all answers together.")
@options.option("--delta", metavar="D", group=options.PRIVACY, help="δ for all answers together.")
@options.option(
    "--no-solve", is_flag=True, group=options.NOISE, help="Use closed forms; do not search."
)
@options.option(
    "--seconds",
    default="10",
    show_default=True,
    metavar="T",
    group=options.NOISE,
    help="Search for at most T seconds.",
)
@options.as_json
@options.option(
    "--plot", metavar="FIGURE", group=options.OUTPUT, help="Write a figure of errors and shares."
)
@options.explain_option
def plan(
    *,
    file: str,
    epsilon: str | None,
    delta: str | None,
    no_solve: bool,
    seconds: str,
    as_json: bool,
    plot: str | None,
    explain: bool,
) -> None:
    """Choose noise for several answers that share one guarantee.

    \b
    leastnoise plan answers.toml --epsilon 1 --delta 1e-6

    FILE is TOML or JSON, with epsilon and delta, unless they are options, and an entry for each
    answer. Only name and sensitivity are required:

    \b
    [[answers]]
    name = "people"
    sensitivity = 1
    integer = true
    weight = 2            # or error = 20, confidence = 0.95
    cost = "l1"           # as for --cost of leastnoise calibrate
    family = "laplace"    # default: the plan chooses

    In Python: leastnoise.plan
    """  # noqa: D301 -- click reads the control character
    from leastnoise.planning import plan as make_plan

    if plot is not None:
        reject_overwriting(plot, option="--plot")
        reject_overwriting_input(plot, file, option="--plot")
    whole, entries = read_entries(file, "answers", _GUARANTEE)
    privacy = _find_privacy(whole, epsilon, delta)
    queries = [_parse_answer(entry) for entry in entries]
    chosen = make_plan(privacy, queries, solve=not no_solve, seconds=seconds)
    if plot is not None:
        from leastnoise.plots import plan_errors, save  # the libraries of figures, on first use

        save(plan_errors(chosen), plot)
    if as_json:
        print_json({**chosen.to_dict(), **({} if plot is None else {"figure": plot})})
        return
    click.echo(f"{chosen}")
    if explain:
        click.echo()
        print_words(chosen.explain())
    elif plot is None:
        click.echo()
        print_facts(("Meaning", format_explain_command(chosen.total)))
    if plot is not None:
        click.echo()
        print_facts(("Figure", plot))


def _find_privacy(whole: Entry, epsilon: str | None, delta: str | None) -> Privacy:
    """Return the guarantee of the options, or of the file."""
    typed = {"epsilon": epsilon, "delta": delta}
    given = {name: value for name, value in typed.items() if value is not None}
    both = [name for name in given if name in whole.fields]
    if both:
        raise InvalidParameter(
            f"--{both[0]} is also in {whole.name}", got="both", fix="Remove one of them."
        )
    parts = {name: whole.number(name) for name in _GUARANTEE if name in whole.fields}
    if not given and not parts:
        raise InvalidParameter(
            "A guarantee needs --epsilon, --delta or both, or these fields in the file",
            fix="Pass --epsilon 1 --delta 1e-6.",
        )
    if given and not parts:
        return Privacy(**given)
    try:
        Privacy(**parts)
    except InvalidParameter as error:
        raise whole.restate(error) from None
    return Privacy(**given, **parts)


def _parse_answer(entry: Entry) -> "NumericQuery":
    """Return the query of an entry."""
    from leastnoise.planning import NumericQuery

    entry.check_names(_ANSWER)
    for required in ("name", "sensitivity"):
        if required not in entry.fields:
            raise entry.error(f"{required} is missing", fix=f"Add {required} = ….")
    text = entry.word("cost")
    numbers = {name: entry.number(name) for name in _NUMBERS}
    try:
        return NumericQuery(
            entry.word("name") or "",
            cost=None if text is None else _parse_cost(entry, text),
            integer=entry.flag("integer"),
            family=entry.word("family"),
            **numbers,
        )
    except InvalidParameter as error:
        raise entry.restate(error) from None


def _parse_cost(entry: Entry, text: str) -> Cost:
    try:
        return options.cost(text)
    except InvalidParameter:
        raise entry.error(
            f"cost must be {_COSTS}", "cost", got=quote(text), fix="Choose one."
        ) from None


@click.command(cls=StrictCommand, exit_codes=(0, 2))
@click.argument("file", metavar="FILE")
@options.option("--delta", metavar="D", group=options.PRIVACY, help="Find the total ε at this δ.")
@options.option("--epsilon", metavar="E", group=options.PRIVACY, help="Find the total δ at this ε.")
@options.as_json
@options.explain_option
def compose(
    *, file: str, delta: str | None, epsilon: str | None, as_json: bool, explain: bool
) -> None:
    """Compute the total guarantee of several releases about the same people.

    \b
    leastnoise compose releases.toml --delta 1e-6

    FILE is TOML or JSON, with an entry for each release. A release with a family counts by the
    noise that leastnoise calibrate finds; any other by the worst mechanism of its guarantee:

    \b
    [[releases]]
    epsilon = 0.1
    delta = 1e-7
    times = 100           # default: 1
    family = "gaussian"   # with sensitivity (default: 1) and integer

    In Python: leastnoise.compose
    """  # noqa: D301 -- click reads the control character
    from leastnoise.accounting import compose as make_composition

    if epsilon is not None and delta is not None:
        raise InvalidParameter(
            "--epsilon and --delta exclude each other",
            got="both",
            fix="Pass --delta D to find ε, or --epsilon E to find δ.",
        )
    _, entries = read_entries(file, "releases", ())
    parts = [_parse_release(entry) for entry in entries]
    composition = make_composition((part, times) for part, times, _ in parts)
    total = None
    if epsilon is not None:
        total = Privacy(epsilon, composition.delta(epsilon))
    elif delta is not None:
        total = Privacy(composition.epsilon(delta), delta)
    if as_json:
        print_json(_composition_data(composition, total))
        return
    rows = [["release", "ε", "δ", "noise", "times"], *(cells for _, _, cells in parts)]
    title = f"{composition}" if total is None else _format_total(composition, total)
    click.echo(as_text("Releases", [rows], [title], left=[0, 3]))
    if explain:
        click.echo()
        print_words(composition.explain())


def _format_total(composition: "Composition", total: Privacy) -> str:
    many = composition.releases
    added = composition.simple
    return (
        f"{many} release{'s' * (many != 1)} together: "
        f"ε = {format_up(total.epsilon)}, δ = {format_up(total.delta)} "
        f"(added up: ε = {format_up(added.epsilon)}, δ = {format_up(added.delta)})"
    )


def _composition_data(composition: "Composition", total: Privacy | None) -> dict[str, Any]:
    added = composition.simple
    return {
        "releases": composition.releases,
        "privacy": None if total is None else privacy_data(total),
        "added_up": privacy_data(added),
        "advantage": format_ratio(composition.advantage),
        "means": one_line(composition.explain()),
    }


def _parse_release(entry: Entry) -> tuple[object, int, list[str]]:
    """Return the part of a composition of an entry, its count, and its cells of the table."""
    entry.check_names(_RELEASE)
    guarantee = {name: entry.number(name) for name in _GUARANTEE if name in entry.fields}
    if not guarantee:
        raise entry.error("epsilon or delta is missing", fix="Add epsilon = ….")
    family, integer = entry.word("family"), entry.flag("integer")
    for name in ("sensitivity", "integer"):
        if family is None and name in entry.fields:
            raise entry.error(
                f"{name} needs a family, because only noise has it",
                name,
                fix=f"Remove {name}, or add family.",
            )
    try:
        privacy = Privacy(**guarantee)
        times = parse_count(
            entry.number("times") if "times" in entry.fields else 1, "times", least=1
        )
        part: object = privacy
        if family is not None:
            from leastnoise.mechanism import calibrate

            size = entry.number("sensitivity")
            part = calibrate(
                privacy,
                sensitivity=Fraction(1) if size is None else size,
                integer=integer,
                family=family,
            )
    except InvalidParameter as error:
        raise entry.restate(error) from None
    name = entry.word("name") or f"{entry.place[1] + 1}" if entry.place else ""
    cells = [format_up(privacy.epsilon), format_up(privacy.delta)]
    return part, times, [name, *cells, family or "any", str(times)]
