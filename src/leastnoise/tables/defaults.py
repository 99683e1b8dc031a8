"""``TableDefaults``: the bounds and groups that queries omit. The owner of a table states them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import product

from leastnoise.tables.keys import Key, Part


@dataclass(frozen=True)
class TableDefaults:
    """The parts of queries that a table states, so that queries may omit them. All are public.

    Attributes:
        bounds: The clipping bounds of a column, by its name.
        groups: The groups of a column.
        edges: The ends of the ranges of a column, for histograms.
        max_rows: Maximum rows per unit per group; None if each caller states it.
        max_groups: Maximum groups per unit; None if each query states it.
    """

    bounds: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict)
    groups: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    edges: Mapping[str, tuple[Decimal, ...]] = field(default_factory=dict)
    max_rows: int | None = None
    max_groups: int | None = None

    def list_groups(self, by: tuple[str, ...]) -> tuple[Key, ...] | None:
        """Return all groups of some columns; None unless each of the columns has groups."""
        if not by or any(name not in self.groups for name in by):
            return None
        return tuple(product(*(self.groups[name] for name in by)))


NO_DEFAULTS = TableDefaults()
