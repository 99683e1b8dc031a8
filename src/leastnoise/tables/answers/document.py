"""The JSON of answers from tables: one format for one answer and for answers by group.

The figures of a row are numbers, and beside them, under ``exact``, the same as ratios. Integers are
written in full, but programs that read numbers as floats round them above 2⁵³. Reals are the
nearest floats. Interval ends are rounded outward. Maximum errors are rounded up, and include the
rounding of the value, so they hold for the numbers of the file. Dates and timestamps are strings.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

from leastnoise.core.privacy import Privacy
from leastnoise.files import write_table
from leastnoise.json_types import Json
from leastnoise.ledger import privacy_to_json
from leastnoise.mechanism import EXACT, document_head, figures_to_json, json_text
from leastnoise.tables.answers.export import CONSTANTS, key_names
from leastnoise.tables.answers.layout import TableAnswer, interval_confidence, layout_of
from leastnoise.tables.spending_limit import share_to_json

if TYPE_CHECKING:
    from leastnoise.tables.answers.grouped import GroupedAnswers

_ROWS_AT_ONCE = 10_000


def answer_to_dict(answer: TableAnswer) -> Json:
    """Return one answer as JSON: the head, then its figures."""
    layout = layout_of([answer])
    head = document_head(
        title=answer.subject.name,
        columns=layout.columns,
        interval=interval_confidence([answer]),
        privacy=answer.privacy,
        total_privacy=_total_to_json(answer.total_privacy),
        subject=answer.subject.to_dict(),
        receipt=answer.receipt,
    )
    (figures,) = layout.figures([answer])
    return head | figures_to_json(layout.columns, figures, layout.whole([answer]))


def to_dict(answers: "GroupedAnswers[TableAnswer]") -> Json:
    """Return all answers as JSON (docs/answers.md): numbers, and their exact ratios."""
    return describe(answers) | {"rows": list(_list_rows(answers))}


@overload
def to_json(answers: "GroupedAnswers[TableAnswer]") -> str: ...


@overload
def to_json(
    answers: "GroupedAnswers[TableAnswer]", path: str | Path, *, overwrite: bool = False
) -> Path: ...


def to_json(
    answers: "GroupedAnswers[TableAnswer]",
    path: str | Path | None = None,
    *,
    overwrite: bool = False,
) -> str | Path:
    """Return JSON as a text of one line, or write it to a file, a line for each group.

    Args:
        answers: The answers.
        path: The file. Default: the text is returned.
        overwrite: Replace an existing file. Default: raise an error.

    Returns:
        The text, or the path of the file.

    Raises:
        InvalidParameter: If the file exists and ``overwrite`` is False, or cannot be written.
    """
    if path is None:
        return json_text(to_dict(answers))

    def write(file: IO[bytes]) -> None:
        head = json.dumps(describe(answers), ensure_ascii=False, indent=1)
        file.write(f'{head[:-2]},\n "rows": ['.encode())
        rows, gap, between = _list_rows(answers), "\n  ", ",\n  "
        while block := list(islice(rows, _ROWS_AT_ONCE)):
            file.write(f"{gap}{between.join(map(json_text, block))}".encode())
            gap = between
        file.write(b"\n ]\n}\n")

    return write_table(path, write, overwrite=overwrite)


@runtime_checkable
class Described(Protocol):
    """Answers of several queries, which describe themselves."""

    def exported_about(self) -> Json:
        """Return the queries and their guarantees as JSON, without the rows."""


def describe(answers: "GroupedAnswers[TableAnswer]") -> Json:
    """Return the query and its guarantee as JSON, without the rows."""
    if isinstance(answers, Described):
        return answers.exported_about()
    return document_head(
        title=answers.title,
        by=answers.names,
        columns=layout_of(answers.answers).columns,
        interval=interval_confidence(answers.answers),
        privacy=answers.privacy,
        total_privacy=_total_to_json(answers.total_privacy),
        subject=answers.subject.to_dict(),
        receipt=answers.receipt,
    )


def _list_rows(answers: "GroupedAnswers[TableAnswer]") -> Iterator[Json]:
    layout = layout_of(answers.answers)
    names = key_names(answers.names, (*layout.names, *CONSTANTS, EXACT))
    integers = layout.whole(answers.answers)
    for key, figures in zip(answers.keys, layout.figures(answers.answers), strict=True):
        own = dict(zip(names, _key_to_json(key), strict=True))
        yield own | figures_to_json(layout.columns, figures, integers)


def _key_to_json(key: Sequence[Any]) -> list[Any]:
    return [part.isoformat() if isinstance(part, date) else part for part in key]


def _total_to_json(privacy: Privacy) -> Json:
    return {**privacy_to_json(privacy), **share_to_json(privacy)}
