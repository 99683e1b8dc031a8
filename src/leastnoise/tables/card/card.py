"""``Card``: the public statements of an owner about a table."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.core.privacy import Privacy
from leastnoise.tables.defaults import TableDefaults
from leastnoise.tables.keys import Part

if TYPE_CHECKING:
    from leastnoise.tables.card.document import Document


@dataclass(frozen=True, slots=True)
class FromEnvironment:
    """A text that the environment holds, because it may contain a password.

    Attributes:
        variable: The name of the environment variable.
    """

    variable: str

    def __str__(self) -> str:
        return f"the environment variable {self.variable}"


@dataclass(frozen=True, slots=True)
class ContributionLimit:
    """A contribution bound: the default of queries, and their maximum."""

    default: int
    largest: int

    def __str__(self) -> str:
        if self.default == self.largest:
            return str(self.default)
        return f"{self.default} by default, {self.largest} at most"


@dataclass(frozen=True, slots=True)
class ColumnRules:
    """The statements of a card about a column.

    Attributes:
        type: The kind of its values, "integer" for instance; None for that of the source.
        bounds: The clipping bounds; None if each query states them.
        edges: The ends of ranges for histograms; None if each query states them.
        groups: The groups; None if they are discovered, or each query states them.
        allowed: Whether queries may use the column.
    """

    type: str | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    edges: tuple[Decimal, ...] | None = None
    groups: tuple[Part, ...] | None = None
    allowed: bool = True


@dataclass(frozen=True, slots=True)
class LedgerRules:
    """The ledger of a card.

    Attributes:
        where: The path of its file, relative to the card, or an address.
        dataset: The name of the dataset; None for the first of the ledger.
        limit: The limit of the dataset; None if the card does not state it.
        accounting: "basic" or "gaussian"; None as recorded.
        allocation: The allocation that is charged; None for the ledger itself.
        witness: The path of a witness; None if there is none.
    """

    where: str | FromEnvironment
    dataset: str | None = None
    limit: Privacy | None = None
    accounting: str | None = None
    allocation: str | None = None
    witness: str | None = None


@dataclass(frozen=True, slots=True)
class LargestRelease:
    """The most that one release may cost; None where the card sets no maximum.

    Attributes:
        epsilon: The largest ε.
        delta: The largest δ.
        share: The largest share of the limit or allocation.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    share: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """A small public table that is joined by its key.

    Attributes:
        source: The path of its file, relative to the card.
        key: The column that identifies its rows.
        columns: The columns that a join adds.
    """

    source: str
    key: str
    columns: tuple[str, ...]


@dataclass(frozen=True, repr=False, eq=False)
class Card:
    """A dataset card: public statements about a table, which its queries cannot exceed.

    Made by :func:`read_card`.

    Attributes:
        document: The file, for the lines of errors.
        source: A path or pattern relative to the card, or a database.
        table: The table of a database; None for files.
        delimiter: The delimiter of its CSV files; None for a comma.
        encoding: The encoding of its CSV files; None for UTF-8.
        decimal: The decimal sign of numbers in its CSV files; None for a point.
        name: What the data is called; None for its place.
        version: The version of the data; None if it has none.
        unit: The column of units; None if every row is a unit.
        neighbors: ``"add_remove"`` or ``"replace"``.
        max_rows: Rows per unit per group.
        max_groups: Groups per unit; None if each query states it.
        columns: What the card states about columns, by their names.
        lookups: Tables to join, by their names.
        ledger: The ledger; None if the caller opens one.
        largest: The most that one release may cost.
        analysts: The analysts with their limits, or None for no limit of their own.
    """

    document: "Document"
    source: str | FromEnvironment
    table: str | None
    delimiter: str | None
    encoding: str | None
    decimal: str | None
    name: str | None
    version: str | None
    unit: str | None
    neighbors: str
    max_rows: ContributionLimit
    max_groups: ContributionLimit | None
    columns: Mapping[str, ColumnRules]
    lookups: Mapping[str, Lookup]
    ledger: LedgerRules | None
    largest: LargestRelease
    analysts: Mapping[str, Privacy | None]

    def __repr__(self) -> str:
        return f"Card({self.document.name!r}, {self.hash[:12]}…)"

    @property
    def hash(self) -> str:
        """SHA-256 of what the card states, in hexadecimal. Ledgers store it with each release.

        Comments, blanks, the order of fields and the spelling of numbers do not change it.
        """
        return self.document.digest

    @property
    def folder(self) -> str:
        """The folder that paths are relative to."""
        return os.path.dirname(self.document.path)

    @property
    def defaults(self) -> TableDefaults:
        """What queries may omit."""
        columns = self.columns.items()
        return TableDefaults(
            bounds={name: column.bounds for name, column in columns if column.bounds is not None},
            groups={name: column.groups for name, column in columns if column.groups is not None},
            edges={name: column.edges for name, column in columns if column.edges is not None},
            max_rows=self.max_rows.default,
            max_groups=None if self.max_groups is None else self.max_groups.default,
        )

    @property
    def types(self) -> dict[str, str]:
        """The kinds of columns that the card states."""
        return {
            name: column.type for name, column in self.columns.items() if column.type is not None
        }

    def where(self, *path: str | int) -> str:
        """Return the file and the line of a field, for errors."""
        return self.document.where(*path)
