"""Check that rows are consistent: a ledger must be able to write each after the rows before it.

Hashes show that rows were not changed by mistake. Anyone who can write to a ledger can compute
them, so `verify` also rejects rows that no release writes: an answer without its charge or of
another shape, a charge beyond the limit, a mechanism that is not described, a spend without its
allocation, beyond its caps or below the cost of its noise. Times are not compared, because clocks
can be set back.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from leastnoise.errors import InvalidParameter
from leastnoise.json_types import Json
from leastnoise.ledger.accounts import Name, charged_names
from leastnoise.ledger.allocations import DEFAULT, Key, read_allocation
from leastnoise.ledger.answer_checks import AnswerCheck, find_answer_check
from leastnoise.ledger.described_costs import Described, Stated, check_described, read_described
from leastnoise.ledger.rows import (
    ALLOCATION,
    ANSWER,
    CHARGE,
    CHARGES,
    LIMIT,
    MECHANISM,
    OPENED,
    SPEND,
    Row,
    canonical,
    compute_digest,
    mechanism_key,
    parse_amount,
    read_content,
    read_cost,
    read_row,
    reading_content,
)
from leastnoise.ledger.sums import NOTHING, Sum, add_rounded_down, exceeds
from leastnoise.ledger.units import DeclaredUnit, find_relation, read_unit


class _Charge(NamedTuple):
    """The content of a charge; cached, because most charges are alike."""

    names: list[Name]
    allocation: Key | None  # None for a charge of a guarantee
    stated: Stated
    unit: DeclaredUnit | None
    check: AnswerCheck


class Audit:
    """The facts of the rows so far that later rows are checked against."""

    def __init__(self) -> None:
        self._seq = 0
        self._limits: dict[Name, Sum] = {}
        self._spent: dict[Name, Sum] = {}
        self._caps: dict[Key, Sum] = {}
        self._costs: dict[Key, Sum] = {}
        self._units: dict[Name, set[DeclaredUnit]] = {}
        self._owners: dict[Key, str | None] = {}
        self._described: dict[str, Described] = {}  # by the digest of a mechanism
        self._unanswered: dict[int, tuple[str, _Charge]] = {}
        self._agreeing: _Charge | None = None  # the last charge that agrees with its mechanisms

    def follow(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield rows for the caller to check their hashes, then check each one here."""
        for row in rows:
            yield row  # the hash is checked first, because its error is more specific
            self.check(row)
        if self._seq and not self._limits:
            with reading_content(self._seq):
                raise ValueError

    def check(self, row: Row) -> None:
        """Check one row.

        Raises:
            LedgerDamaged: If no ledger writes it after the rows before it.
        """
        read_row(row, self._check)

    def _check(self, row: Row) -> None:
        if (row.kind == OPENED) != (self._seq == 0):
            raise ValueError
        if row.kind == LIMIT:
            content = read_content(row.kind, row.body)
            amounts = parse_amount(content["epsilon"]), parse_amount(content["delta"])
            self._limits[content["dataset"], content["analyst"]] = amounts
        elif row.kind == MECHANISM:
            self._describe(row)
        elif row.kind == ALLOCATION:
            self._allocate(row)
        elif row.kind in CHARGES:
            self._charge(row)
        elif row.kind == ANSWER:
            self._answer(row)
        self._seq = row.seq

    def _describe(self, row: Row) -> None:
        digest = row.key.removeprefix(mechanism_key(""))
        if digest in self._described:
            raise ValueError
        self._described[digest] = read_described(digest, row.content)

    def _allocate(self, row: Row) -> None:
        allocation = read_allocation(row.key, row.body)  # proves that the caps imply the guarantee
        key, dataset = (allocation.dataset, allocation.name), (allocation.dataset, None)
        if key in self._caps:
            raise ValueError
        whole = allocation.analyst is None and allocation.privacy == self._limits.get(dataset)
        if allocation.name == DEFAULT and not (whole and dataset not in self._spent):
            raise ValueError
        self._spend(charged_names(allocation.dataset, allocation.analyst), allocation.privacy)
        self._caps[key], self._owners[key] = allocation.caps, allocation.analyst

    def _charge(self, row: Row) -> None:
        charge = _read_charge(row.kind, row.body)
        if charge is not self._agreeing:  # equal bodies are one object, and most follow each other
            if any(digest not in self._described for digest in charge.stated.mechanisms):
                raise ValueError
            check_described(charge.stated, self._described)
            self._agreeing = charge
        if charge.allocation is None or charge.stated.cost is None:
            self._spend(charge.names, charge.stated.guarantee)
        else:
            self._spend_cost(charge.names[-1], charge.allocation, charge.stated.cost)
        if charge.unit is not None:
            self._declare(charge, charge.unit)
        self._unanswered[row.seq] = row.key, charge

    def _spend_cost(self, name: Name, allocation: Key, cost: Sum) -> None:
        """Check a spend against the caps; an analyst with a limit spends what was charged to it."""
        if name[1] is not None and name in self._limits and name[1] != self._owners[allocation]:
            raise ValueError
        total = add_rounded_down(self._costs.get(allocation, NOTHING), cost)
        if exceeds(total, self._caps[allocation]):
            raise ValueError
        self._costs[allocation] = total

    def _declare(self, charge: _Charge, unit: DeclaredUnit) -> None:
        """Check that a spend declares the neighbor relation of the dataset.

        Up to 0.5.0, which knew no allocations, charges under both relations were accepted.
        """
        units = self._units.setdefault(charge.names[0], set())
        mixed = find_relation(units) not in (None, unit.neighbors)
        if mixed and charge.allocation is not None:
            raise ValueError
        units.add(unit)

    def _spend(self, names: list[Name], amounts: Sum) -> None:
        if names[0] not in self._limits:
            raise ValueError
        for name in names:
            total = add_rounded_down(self._spent.get(name, NOTHING), amounts)
            if exceeds(total, self._limits.get(name, total)):  # an analyst need not have one
                raise ValueError
            self._spent[name] = total

    def _answer(self, row: Row) -> None:
        content = read_content(row.kind, row.body)
        key, charge = self._unanswered.pop(content["charge"])
        if key != row.key:
            raise ValueError
        described = [self._described[digest] for digest in charge.stated.mechanisms]
        integer = all(mechanism.integer for mechanism in described)
        charge.check(content["answer"], row.payload, integer)


def check_charge(kind: str, body: Json) -> None:
    """Check a charge before it is written, so that it is not reported as damage later.

    Raises:
        InvalidParameter: If its mechanisms or its query could not be verified.
    """
    try:
        text = canonical(body)
        text.encode()
        _read_charge(kind, text)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        readable = False
    else:
        readable = True
    if not readable:
        raise InvalidParameter(
            "A charge must name its mechanisms and state the query in JSON. Nothing was charged",
            fix="Use the spending of a mechanism, a plan or a table query.",
        )


def check_description(digest: str, mechanism: Json) -> None:
    """Check the description of a mechanism before it is written.

    Raises:
        InvalidParameter: If it does not have this digest, or could not be verified.
    """
    with suppress(ArithmeticError, AttributeError, LookupError, ValueError):
        if compute_digest(mechanism) == digest:
            return
    raise InvalidParameter(
        "A mechanism in a ledger must be described by its noise, under the digest of that",
        got="another description",
        fix="Charge what mechanism.spending() returns.",
    )


def check_stated(body: Json, cost: Sum | None, mechanisms: Mapping[str, Json]) -> None:
    """Check what a charge states against its noise before it is written.

    Args:
        body: The charge, as of a guarantee.
        cost: (μ², γ) that an allocation is charged; None for a charge of the guarantee.
        mechanisms: The descriptions of its mechanisms by their digests.

    Raises:
        InvalidParameter: If the described noise satisfies less, or costs more.
    """
    stated = _read_charge(CHARGE, canonical(body)).stated._replace(cost=cost)
    if "answer" not in stated.query:
        return None
    with suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        described = {digest: read_described(digest, own) for digest, own in mechanisms.items()}
        return check_described(stated, described)
    raise InvalidParameter(
        "The noise of this charge needs a larger guarantee or cost. Nothing was charged",
        fix="Use the spending of a mechanism, a plan or a table query.",
    )


@lru_cache(maxsize=1024)
def _read_charge(kind: str, body: str) -> _Charge:
    content = read_content(kind, body)
    guarantee: Sum = parse_amount(content["epsilon"]), parse_amount(content["delta"])
    allocation, cost = None, None
    if kind == SPEND:
        square, failure = read_cost(content).values()
        cost, allocation = (square, failure), (content["dataset"], content["allocation"])
    names = charged_names(content["dataset"], content["analyst"])
    mechanisms, query = content["mechanisms"], content["asked"]
    if not mechanisms or len(set(mechanisms)) < len(mechanisms):
        raise ValueError
    check = find_answer_check(query, mechanisms)
    stated = Stated(query, tuple(mechanisms), guarantee, cost)
    return _Charge(names, allocation, stated, read_unit(query), check)
