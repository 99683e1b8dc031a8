"""Print and write the results of commands.

People get tables and sentences, programs strict JSON.
"""

import json
import math
import os
import re
import sys
from collections.abc import Sequence
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from leastnoise.core.exact import (
    as_float,
    format_exact,
    format_ratio,
    format_rounded,
    format_short,
    quote,
)
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Tabled
from leastnoise.errors import InvalidParameter
from leastnoise.files import reject_overwriting, reject_overwriting_input, write_text
from leastnoise.rendering import (
    Fact,
    fact_lines,
    keep_together,
    printable,
    terminal_width,
    wrap,
)

if TYPE_CHECKING:
    from leastnoise.certificate import Certificate
    from leastnoise.core.noise import Noise
    from leastnoise.ledger import AllocationAccount, Receipt
    from leastnoise.tables import GroupedAnswers, SelectAnswers, TableAnswer, TableResult

_ENDINGS = (".csv", ".parquet", ".json")
_PICTURES = (".png", ".svg", ".pdf", ".html")


def print_json(data: object) -> None:
    """Print data as JSON: one line for programs, indented on a terminal.

    What the terminal cannot show is escaped.
    """
    indent = 1 if sys.stdout.isatty() else None
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data, indent=indent)
    click.echo(text)


def print_facts(*facts: Fact) -> None:
    """Print labelled facts, a line each, wrapped to the terminal."""
    click.echo("\n".join(fact_lines(facts, width=terminal_width())))


def print_words(text: str) -> None:
    """Print sentences, wrapped to the terminal; no line ends within a formula."""
    click.echo("\n".join(wrap(text, width=terminal_width())))


def format_explain_command(privacy: Privacy) -> str:
    """Return the command that explains a guarantee; no line breaks within an option.

    >>> " ".join(format_explain_command(Privacy(1, "1e-6")).split())
    'leastnoise explain --epsilon 1 --delta 1e-6'
    """
    parts = {"epsilon": privacy.epsilon, "delta": privacy.delta}
    words = [
        keep_together(f"--{name} {_format_typed(part)}") for name, part in parts.items() if part
    ]
    return " ".join(["leastnoise explain", *words]) if words else "no release reveals anything"


def _format_typed(number: Fraction) -> str:
    """Return a number as it can be typed: exact, or rounded up."""
    text = format_short(number)
    return format_rounded(number, 9, ROUND_CEILING) if text.startswith("≈") else text


def write_file(path: str, text: str, problem: str) -> None:
    """Write a text file; where that fails, raise an error that states this problem."""
    try:
        write_text(Path(path), text)
    except OSError as error:
        raise InvalidParameter(
            f"{problem}: {error.strerror}", fix="Choose another path."
        ) from error


def privacy_data(privacy: Privacy) -> dict[str, str]:
    """Return a guarantee for JSON, as exact ratios."""
    return {"epsilon": format_ratio(privacy.epsilon), "delta": format_ratio(privacy.delta)}


def certificate_data(certificate: "Certificate") -> dict[str, Any]:
    """Return the statement of a certificate for JSON, without its proof."""
    from leastnoise.certificate import SHAPE_WORDS

    return {
        "among": SHAPE_WORDS[certificate.shape],
        "objective": certificate.objective.stored_name,
        "cost": format_ratio(certificate.cost),
        "cost_is_upper_bound": certificate.cost_is_upper_bound,
        "lower_bound": format_ratio(certificate.lower_bound),
        "gap": ratio_or_none(certificate.gap),
        "exact": certificate.exact,
        "source": certificate.source,
    }


def format_noise(noise: "Noise") -> str:
    """Return the kind of noise in words, and its parameters."""
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(noise).__name__).lower()
    return f"{kind}: {noise}"


def format_lower_bound(certificate: "Certificate") -> str:
    """Return the lower bound for print, rounded down."""
    return format_exact(certificate.lower_bound, ROUND_FLOOR)


def format_directed(number: Fraction, rounding: str) -> str:
    """Return a number for print: exact if it is short; otherwise rounded in the given direction."""
    text = format_exact(number, rounding)
    if not text.startswith("≈"):
        return format_short(number)
    digits = format_rounded(number, 9, rounding)
    return f"≈{Decimal(digits):e}" if number < Fraction(1, 1000) else f"≈{digits}"


def format_rounded_guarantee(privacy: Privacy, rounding: str = ROUND_CEILING) -> str:
    """Return a guarantee for print; long numbers are rounded up, to the weaker side."""
    epsilon, delta = (format_directed(x, rounding) for x in (privacy.epsilon, privacy.delta))
    return f"ε = {epsilon}, δ = {delta}"


def format_at_sensitivity(privacy: Privacy, sensitivity: Fraction) -> str:
    """Return a guarantee and the sensitivity for which it holds, rounded to the weaker side."""
    at = format_directed(sensitivity, ROUND_FLOOR)
    return f"{format_rounded_guarantee(privacy)} at sensitivity {at}"


def format_budget(receipt: "Receipt | None", ledger: str) -> str:
    """Return the remaining budget after a release, for print; ``ledger`` names the ledger."""
    if receipt is None:
        return "not recorded"
    day, account = receipt.at[:10], receipt.account
    if receipt.reused:
        return f"nothing charged: stored answer of {day} returned"
    if receipt.allocation is not None:
        name = printable(receipt.allocation.name)
        return f"{receipt.allocation.describe_remaining()} in allocation {name!r} ({ledger})"
    limit = (
        ""
        if account.limit is None
        else f" of {format_rounded_guarantee(account.limit, ROUND_FLOOR)}"
    )
    return f"{format_rounded_guarantee(account.remaining, ROUND_FLOOR)} remain{limit} ({ledger})"


def verification_data(certificate: "Certificate") -> dict[str, Any]:
    """Return a verified certificate for JSON, separating verified from claimed fields."""
    verified = certificate_data(certificate)
    verified.pop("source")
    stated = {
        "noise": repr(certificate.noise),
        "privacy": privacy_data(certificate.privacy),
        "sensitivity": format_ratio(certificate.sensitivity),
        "integer": certificate.integer,
    }
    return {"verified": stated | verified, "claimed": claims(certificate)}


def claims(certificate: "Certificate") -> dict[str, str]:
    """Return the strings of a certificate's file that no check can verify."""
    claimed = {"source": certificate.source}
    if isinstance(certificate.objective, Tabled):
        claimed["cost"] = certificate.objective.name
    return claimed


def ratio_or_none(size: Fraction | float) -> str | None:
    """Return a size as a ratio, or None if it is infinite."""
    return format_ratio(size) if isinstance(size, Fraction) else None


def finite_or_none(number: float) -> float | None:
    """Return a number for JSON: None for infinity (the exact value is stored next to it)."""
    return number if math.isfinite(number) else None


def check_out(
    out: str, *, overwrite: bool, ledger: str | None, witness: str | None, read: list[str | None]
) -> None:
    """Reject a file that could not be written, before anything is charged for its content.

    It must be none of the ledger, its witness and the files that are ``read``.
    """
    _check_file(out, "--out", _ENDINGS, overwrite=overwrite)
    reject_overwriting(out, ledger=ledger, witness=witness)
    reject_overwriting_input(out, *read)


def check_plot(
    plot: str, *, overwrite: bool, ledger: str | None, witness: str | None, read: list[str | None]
) -> None:
    """Reject a figure that could not be drawn or written, before anything is charged."""
    from leastnoise.plots import load_altair, load_renderer  # loaded for figures only

    _check_file(plot, "--plot", _PICTURES, overwrite=overwrite)
    reject_overwriting(plot, ledger=ledger, witness=witness, option="--plot")
    reject_overwriting_input(plot, *read, option="--plot")
    load_altair()
    load_renderer()


def _check_file(file: str, option: str, endings: Sequence[str], *, overwrite: bool) -> None:
    path = Path(file)
    if path.suffix.lower() not in endings:
        raise InvalidParameter(
            f"{option} must end in {', '.join(endings)}", got=quote(file), fix="Choose one of them."
        )
    if os.path.lexists(path) and not (overwrite and path.is_file()):
        raise InvalidParameter(
            f"{option} must name a new file",
            got="an existing file",
            fix="Choose another name, or pass --overwrite to replace a file.",
        )
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InvalidParameter(
            f"{option} must be in a folder that you can write to",
            got="another folder",
            fix="Create the folder, or choose another path.",
        )


def print_answer(
    answer: "TableResult | SelectAnswers", title: str, ledger: str, *, as_json: bool
) -> None:
    """Print an answer, or a table of them; ``ledger`` names where it is recorded."""
    from leastnoise.tables import GroupedAnswers, SelectAnswers, as_screen

    if as_json and isinstance(answer, SelectAnswers):
        print_json(_select_data(answer, title))
    elif as_json:
        print_json(_answer_data(cast("TableResult", answer), title))
    elif isinstance(answer, GroupedAnswers | SelectAnswers):
        click.echo(answer.to_text(ledger=ledger))
    else:
        click.echo(as_screen(answer, answer.result(), ledger=ledger))


def format_ledger_name(file: str | None, of: str) -> str:
    """Return how a ledger is named in print; an address could hold a password.

    ``of`` names the dataset, if there are several.
    """
    name = "" if file is None else ("PostgreSQL" if "://" in file else Path(file).name)
    return ", ".join(filter(None, [name, of]))


def write_answer(
    answer: "TableResult | SelectAnswers", title: str, out: str, *, overwrite: bool
) -> Path:
    """Write a file in the format of its suffix; a single answer is a table of one row."""
    from leastnoise.tables import SelectAnswers

    table = answer if isinstance(answer, SelectAnswers) else _as_table(answer, title)
    write = {".csv": table.to_csv, ".parquet": table.to_parquet, ".json": table.to_json}
    written: Path = write[Path(out).suffix.lower()](out, overwrite=overwrite)
    return written


def draw_answer(answer: "TableResult", plot: str) -> Path:
    """Draw a figure in the format of the suffix."""
    from leastnoise.plots import answer as draw
    from leastnoise.plots import save

    return save(draw(answer), plot)


def _as_table(answer: "TableResult", title: str) -> "GroupedAnswers[TableAnswer]":
    """Return a table; a single answer is one row, with its query as the key."""
    from leastnoise.tables import GroupedAnswers

    if isinstance(answer, GroupedAnswers):
        return answer
    return GroupedAnswers(
        names=("question",),
        keys=((title,),),
        answers=(answer,),
        title=title,
        privacy=answer.privacy,
        receipt=answer.receipt,
        together=answer.total_privacy,
        about=answer.subject,
    )


def _select_data(answers: "SelectAnswers", text: str) -> dict[str, Any]:
    """Return the answers of a SELECT for JSON: those of each aggregate by its name."""
    results = zip(answers.aggregates, answers.results, strict=True)
    return {
        "asked": text,
        "columns": list(answers.names),
        "by": list(answers.by),
        "aggregates": {name: _answer_data(result, name) for name, result in results},
    }


def _answer_data(answer: "TableResult", title: str) -> dict[str, Any]:
    """Return answers for JSON: exact ratios, and beside each value the nearest float."""
    from leastnoise.tables import layout_of, mechanisms_of, share_to_json

    table = _as_table(answer, title)
    layout = layout_of(table.answers)
    names = [column.json or column.name for column in layout.columns]
    each = [_figures(names, figures) for figures in layout.figures(table.answers)]
    data: dict[str, Any] = {"asked": title}
    if answer is table:
        keys = [
            [part.isoformat() if isinstance(part, date) else part for part in key]
            for key in table.keys
        ]
        groups = [{"key": key, **figures} for key, figures in zip(keys, each, strict=True)]
        data |= {"by": list(table.names), "groups": groups}
    else:
        data |= each[0]
    exact = [mechanism.exact_probability for mechanism in mechanisms_of(table.answers)]
    return data | {
        "privacy": privacy_data(table.privacy),
        "total_privacy": privacy_data(table.total_privacy) | share_to_json(table.total_privacy),
        "exact_probability": format_ratio(max(exact, default=0)),
        "subject": table.subject.to_dict(),
        "recorded": receipt_data(table.receipt),
        "reused": reused_data(table.receipt),
    }


def _figures(names: Sequence[str], figures: Sequence[tuple[int, int] | None]) -> dict[str, Any]:
    """Return the figures of one answer, the value also as a float; those of one name as a list."""
    data: dict[str, Any] = {}
    for name, figure in zip(names, figures, strict=True):
        number = figure and Fraction(*figure)
        text = None if number is None else format_ratio(number)
        data[name] = [data[name], text] if name in data else text
        if name == "value":
            data["value_float"] = finite_or_none(as_float(number or 0))
    return data


def reused_data(receipt: "Receipt | None") -> str | None:
    """Return when a stored answer was released, for JSON; None for a new one."""
    return receipt.at if receipt is not None and receipt.reused else None


def receipt_data(receipt: "Receipt | None") -> dict[str, Any] | bool:
    """Return the receipt as JSON, or False if not recorded."""
    if receipt is None:
        return False
    return {
        "dataset": receipt.account.dataset,
        "key": receipt.key,
        "row": receipt.charge,
        "at": receipt.at,
        "again": receipt.reused,
        "head": str(receipt.head),
        "left": privacy_data(receipt.account.remaining),
        **_allocation_data(receipt.allocation),
    }


def _allocation_data(allocation: "AllocationAccount | None") -> dict[str, Any]:
    """Return the allocation that was charged, for JSON; nothing if none was."""
    from leastnoise.ledger import allocation_to_json

    return {} if allocation is None else {"allocation": allocation_to_json(allocation)}
