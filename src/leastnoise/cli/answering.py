"""How answers from tables are printed, and written to a file."""

import os
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli.overwriting import refuse_overwriting, refuse_overwriting_read
from leastnoise.cli.printing import finite, print_json, privacy_data
from leastnoise.cli.recording import receipt_data
from leastnoise.errors import InvalidParameter
from leastnoise.exact import as_float, described, ratio

if TYPE_CHECKING:
    from leastnoise.tables import GroupedAnswers

_ENDINGS = (".csv", ".parquet", ".json")


def refuse_out(
    out: str, *, overwrite: bool, ledger: str | None, witness: str | None, read: list[str | None]
) -> None:
    """Refuse a file that could not be written, before anything is charged for what is to be in it.

    Args:
        out: The file.
        overwrite: Whether it may be there.
        ledger: The ledger, which it must not be.
        witness: The ledger's witness.
        read: What is read.
    """
    path = Path(out)
    if path.suffix.lower() not in _ENDINGS:
        raise InvalidParameter(
            f"--out must end in {', '.join(_ENDINGS)}; got {described(out)}. Choose one of them."
        )
    refuse_overwriting(out, ledger=ledger, witness=witness)
    refuse_overwriting_read(out, *read)
    if os.path.lexists(path) and not (overwrite and path.is_file()):
        raise InvalidParameter(
            "--out must not write over what is there; got the name of something that is. Choose "
            "another name, or give --overwrite if it is a file."
        )
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InvalidParameter(
            "--out must be in a folder that files can be written to; got another. Make the folder, "
            "or choose a path in one of your own."
        )


def print_answer(found: Any, title: str, of: str, *, as_json: bool) -> None:
    """Print an answer, or a table of them.

    Args:
        found: What was released.
        title: What was asked.
        of: Of which data set, if a ledger has several.
        as_json: Whether to print JSON.
    """
    if as_json:
        print_json(_answer_data(found, title))
        return
    between = "\n" if _grouped(found) else ", "
    click.echo(f"{found}{between}{of}" if of else f"{found}")


def write_answer(found: Any, title: str, out: str, *, overwrite: bool) -> Path:
    """Write a file, of the kind that its ending says; an answer alone is a table of one row."""
    table = as_table(found, title)
    write = {".csv": table.to_csv, ".parquet": table.to_parquet, ".json": table.to_json}
    written: Path = write[Path(out).suffix.lower()](out, overwrite=overwrite)
    return written


def as_table(found: Any, title: str) -> "GroupedAnswers":
    """Return a table: of an answer alone, one by its question."""
    from leastnoise.tables import GroupedAnswers

    if isinstance(found, GroupedAnswers):
        return found
    return GroupedAnswers(
        names=("question",),
        keys=((title,),),
        answers=(found,),
        title=title,
        privacy=found.privacy,
        receipt=found.receipt,
    )


def _grouped(found: Any) -> bool:
    from leastnoise.tables import GroupedAnswers

    return isinstance(found, GroupedAnswers)


def _answer_data(found: Any, title: str) -> dict[str, Any]:
    """Return answers for JSON: exact ratios, and beside each value the nearest float."""
    from leastnoise.tables.answers.figures import columns_of, figures_of, mechanisms_of

    table = as_table(found, title)
    columns = columns_of(table.answers)
    each = [
        _figures(dict(zip(columns, figures, strict=True))) for figures in figures_of(table.answers)
    ]
    data: dict[str, Any] = {"asked": title}
    if _grouped(found):
        keys = [[_key(part) for part in key] for key in table.keys]
        groups = [{"key": key, **figures} for key, figures in zip(keys, each, strict=True)]
        data |= {"by": list(table.names), "groups": groups}
    else:
        data |= each[0]
    exact = [made.exact_probability for made in mechanisms_of(table.answers)]
    return data | {
        "privacy": privacy_data(table.privacy),
        "exact_probability": ratio(max(exact, default=0)),
        "recorded": receipt_data(table.receipt),
    }


def _figures(figures: dict[str, tuple[int, int] | None]) -> dict[str, Any]:
    """Return what is known of one answer; of a quantile its cell, and its errors in rows."""
    exact = {name: figure and Fraction(*figure) for name, figure in figures.items()}
    said = {name: None if number is None else ratio(number) for name, number in exact.items()}
    data = {"value": said.pop("value"), "value_float": finite(as_float(exact["value"] or 0))}
    if "rank_error" in said:
        cell = [said.pop("cell_low"), said.pop("cell_high")]
        return data | {"cell": cell, "rank_error_95": said.pop("rank_error"), **said}
    return data | {"interval_95": [said.pop("low"), said.pop("high")], **said}


def _key(part: Any) -> Any:
    return part.isoformat() if isinstance(part, date) else part
