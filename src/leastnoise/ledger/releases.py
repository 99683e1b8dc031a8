"""The releases that a ledger holds, one by one."""

from collections.abc import Iterable
from dataclasses import dataclass

from leastnoise.ledger.rows import ANSWER, CHARGE, Json, Row, amount
from leastnoise.privacy import Privacy


@dataclass(frozen=True, slots=True)
class Release:
    """A release that was charged, and when it was answered.

    Attributes:
        row: The number of the row that charged it.
        at: When it was charged, in UTC.
        key: What the question is called.
        dataset: The data set.
        analyst: Who asked; None if nobody was named.
        privacy: What was promised, and charged.
        mechanisms: The digests of the noises: one, or one for each answer of a plan.
        asked: What else belongs to the question: one number or many, and how many of them one
            person can change.
        answered: When its answer was stored; None if it never was, as after a crash. It is charged
            all the same.
    """

    row: int
    at: str
    key: str
    dataset: str
    analyst: str | None
    privacy: Privacy
    mechanisms: tuple[str, ...]
    asked: Json
    answered: str | None


def releases_of(rows: Iterable[Row]) -> list[Release]:
    """Return the releases that rows tell of, in the order of their charges.

    The rows must be checked, as :meth:`Ledger.rows` gives them out.
    """
    charges: dict[int, Row] = {}
    answered: dict[int, str] = {}
    for row in rows:
        if row.kind == CHARGE:
            charges[row.seq] = row
        elif row.kind == ANSWER:
            answered.setdefault(row.content["charge"], row.at)
    return [_release(row, answered.get(seq)) for seq, row in charges.items()]


def _release(row: Row, answered: str | None) -> Release:
    content = row.content
    return Release(
        row=row.seq,
        at=row.at,
        key=row.key,
        dataset=content["dataset"],
        analyst=content["analyst"],
        privacy=Privacy(amount(content["epsilon"]), amount(content["delta"])),
        mechanisms=tuple(content["mechanisms"]),
        asked=content["asked"],
        answered=answered,
    )
