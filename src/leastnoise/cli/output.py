"""Print and write the results of commands, and report progress on the terminal.

People get tables and sentences, programs one line of strict JSON.
"""

import json
import math
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from fractions import Fraction
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from leastnoise.core.exact import as_float, format_ratio, quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.files import refuse_overwriting, refuse_overwriting_read, write_text

if TYPE_CHECKING:
    from leastnoise.certificate import Certificate
    from leastnoise.ledger import Receipt
    from leastnoise.tables import GroupedAnswers

# The longest line of words that is easy to read, and the width of a terminal that does not tell it.
_WIDEST, _USUAL, _NARROWEST = 88, 80, 20
_NO_BREAK = "\u00a0"
# The blanks in "ε = 1" and "50 %", and that in "(ε, δ)".
_AROUND_SIGNS = re.compile(r"(?<=[=<>≤≥±≈]) | (?=[=<>≤≥±≈%])")
_PAIR = re.compile(r"\([^\s()]+, [^\s()]+\)")
_ENDINGS = (".csv", ".parquet", ".json")
_PATIENCE = 2


def print_json(data: object) -> None:
    """Print data as one line of JSON, with escapes for what the terminal cannot show."""
    text = json.dumps(data, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data)
    click.echo(text)


def print_table(*rows: tuple[str, str]) -> None:
    """Print rows of a name and a text, the texts aligned."""
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        click.echo(f"{name:<{width}}  {text}")


def print_words(text: str) -> None:
    """Print sentences in lines that fit the terminal, of at most 88 characters.

    No line ends within a formula.
    """
    width = shutil.get_terminal_size((_USUAL, 24)).columns
    pairs = _PAIR.sub(lambda found: found[0].replace(" ", _NO_BREAK), text)
    held = _AROUND_SIGNS.sub(_NO_BREAK, pairs)
    lines = click.wrap_text(held, max(_NARROWEST, min(_WIDEST, width)))
    click.echo(lines.replace(_NO_BREAK, " "))


def write_file(path: str, text: str, rule: str) -> None:
    """Write a text file; where that fails, raise the error that it breaks this rule."""
    try:
        write_text(Path(path), text)
    except OSError as error:
        raise InvalidParameter(f"{rule}; {error.strerror}. Choose another place.") from error


def privacy_data(privacy: Privacy) -> dict[str, str]:
    """Return a guarantee for JSON, as exact ratios."""
    return {"epsilon": format_ratio(privacy.epsilon), "delta": format_ratio(privacy.delta)}


def certificate_data(certificate: "Certificate") -> dict[str, Any]:
    """Return the statement of a certificate for JSON, without its proof."""
    return {
        "among": certificate.among,
        "objective": repr(certificate.objective),
        "cost": format_ratio(certificate.cost),
        "lower_bound": format_ratio(certificate.lower_bound),
        "gap": length(certificate.gap),
        "exact": certificate.exact,
        "source": certificate.source,
    }


def length(size: Fraction | float) -> str | None:
    """Return a size as a ratio, or None where it is infinite."""
    return format_ratio(size) if isinstance(size, Fraction) else None


def finite(number: float) -> float | None:
    """Return a number that JSON can hold: None for infinity, which stands beside an exact one."""
    return number if math.isfinite(number) else None


def refuse_out(
    out: str, *, overwrite: bool, ledger: str | None, witness: str | None, read: list[str | None]
) -> None:
    """Reject a file that could not be written, before anything is charged for its content.

    It must be none of the ledger, its witness and the files that are ``read``.
    """
    path = Path(out)
    if path.suffix.lower() not in _ENDINGS:
        raise InvalidParameter(
            f"--out must end in {', '.join(_ENDINGS)}; got {quote(out)}. Choose one of them."
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
    """Print an answer, or a table of them; ``of`` says of which dataset, if there are several."""
    from leastnoise.tables import GroupedAnswers

    if as_json:
        print_json(_answer_data(found, title))
        return
    between = "\n" if isinstance(found, GroupedAnswers) else ", "
    click.echo(f"{found}{between}{of}" if of else f"{found}")


def write_answer(found: Any, title: str, out: str, *, overwrite: bool) -> Path:
    """Write a file, of the kind that its ending says; an answer alone is a table of one row."""
    table = _as_table(found, title)
    write = {".csv": table.to_csv, ".parquet": table.to_parquet, ".json": table.to_json}
    written: Path = write[Path(out).suffix.lower()](out, overwrite=overwrite)
    return written


def _as_table(found: Any, title: str) -> "GroupedAnswers":
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


def _answer_data(found: Any, title: str) -> dict[str, Any]:
    """Return answers for JSON: exact ratios, and beside each value the nearest float."""
    from leastnoise.tables import layout_of, mechanisms_of

    table = _as_table(found, title)
    layout = layout_of(table.answers)
    names = [column.json or column.name for column in layout.columns]
    each = [_figures(names, figures) for figures in layout.figures(table.answers)]
    data: dict[str, Any] = {"asked": title}
    if found is table:
        keys = [
            [part.isoformat() if isinstance(part, date) else part for part in key]
            for key in table.keys
        ]
        groups = [{"key": key, **figures} for key, figures in zip(keys, each, strict=True)]
        data |= {"by": list(table.names), "groups": groups}
    else:
        data |= each[0]
    exact = [made.exact_probability for made in mechanisms_of(table.answers)]
    return data | {
        "privacy": privacy_data(table.privacy),
        "exact_probability": format_ratio(max(exact, default=0)),
        "recorded": receipt_data(table.receipt),
    }


def _figures(names: Sequence[str], figures: Sequence[tuple[int, int] | None]) -> dict[str, Any]:
    """Return the figures of one answer, the value also as a float; those of one name as a list."""
    data: dict[str, Any] = {}
    for name, figure in zip(names, figures, strict=True):
        number = figure and Fraction(*figure)
        text = None if number is None else format_ratio(number)
        data[name] = [data[name], text] if name in data else text
        if name == "value":
            data["value_float"] = finite(as_float(number or 0))
    return data


@contextmanager
def waiting(doing: str) -> Iterator[Callable[[str], None]]:
    """Report on a terminal's error stream what is being done, once it takes long.

    The block gets a function to report its next task. It must not print: the line is wiped at the
    end.
    """
    now = [doing]
    if sys.stderr is None or not sys.stderr.isatty():
        yield now.append
        return
    ended = Event()
    telling = Thread(target=_tell, args=(now, ended), daemon=True)
    telling.start()
    try:
        yield now.append
    finally:
        ended.set()
        telling.join()


def _tell(now: list[str], ended: Event) -> None:
    """Write the seconds that have passed until the block ends; then wipe the line."""
    longest, seconds = 0, _PATIENCE
    if not ended.wait(_PATIENCE):
        while True:
            line = f"leastnoise: {now[-1]}, {seconds} s"
            click.echo(f"\r{line:<{longest}}", nl=False, err=True)
            longest = max(longest, len(line))
            if ended.wait(1):
                break
            seconds += 1
    if longest:
        click.echo(f"\r{' ' * longest}\r", nl=False, err=True)


def receipt_data(receipt: "Receipt | None") -> dict[str, Any] | bool:
    """Return where a release is recorded, for JSON; False if it is nowhere."""
    if receipt is None:
        return False
    return {
        "dataset": receipt.account.dataset,
        "key": receipt.key,
        "row": receipt.charge,
        "at": receipt.at,
        "again": receipt.again,
        "head": str(receipt.head),
        "left": privacy_data(receipt.account.left),
    }
