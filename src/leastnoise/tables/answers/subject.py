"""What a released number is about, and what it states: all of it public, nothing read from data.

An interval or a maximum error is about the quantity that the subject describes, after clipping and
contribution bounds, and not about the whole column.
"""

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.core.exact import format_exact
from leastnoise.core.privacy import Privacy
from leastnoise.ledger import Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The quantity that a number is about. The answers of one query share one object.

    Attributes:
        title: The query in a few words, such as ``"sum of income by region"``.
        statistic: The name of the printed column, such as ``"sum"``.
        unit: The column that names privacy units; None where every row is a unit.
        bounds: The clipping bounds of values; None if no value is clipped.
        max_rows: How many rows of a unit count in each group.
        max_groups: In how many groups a unit counts; None if there are no groups.
        omitted: Which rows do not count, a phrase for each rule: ``"rows without person_id"``.
        notes: Sentences about how values are read.
        hidden_up_to: Groups with a noisy count of this or less are hidden; None if no group is.
    """

    title: str
    statistic: str = "value"
    unit: str | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    max_rows: int = 1
    max_groups: int | None = None
    omitted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    hidden_up_to: int | None = None

    @property
    def heading(self) -> str:
        """The title with the clipping bounds: ``sum of income, clipped to [0, 10]``.

        >>> Subject(title="sum of income", bounds=(Fraction(0), Fraction(10))).heading
        'sum of income, clipped to [0, 10]'
        """
        if self.bounds is None:
            return self.title
        return f"{self.title}, clipped to [{', '.join(map(format_exact, self.bounds))}]"

    @property
    def per_unit(self) -> str:
        """Whom a guarantee is for: ``per person_id``."""
        return f"per {'row' if self.unit is None else self.unit}"

    @property
    def contributions(self) -> str:
        """How much of one unit counts; empty if every row is a unit.

        >>> Subject(title="count", unit="person_id", max_rows=2, max_groups=3).contributions
        'at most 2 rows per person_id in each group, at most 3 groups per person_id'
        """
        if self.unit is None:
            return ""
        rows = f"at most {self.max_rows} row{'s' * (self.max_rows != 1)} {self.per_unit}"
        if self.max_groups is None:
            return rows
        groups = f"at most {self.max_groups} group{'s' * (self.max_groups != 1)}"
        return f"{rows} in each group, {groups} {self.per_unit}"

    @property
    def statement(self) -> str:
        """All of it in one line: quantity, contribution bounds, omitted rows and notes."""
        omitted = f"omitted: {', '.join(self.omitted)}" if self.omitted else ""
        return "; ".join(filter(None, [self.heading, self.contributions, omitted, *self.notes]))

    def to_dict(self) -> dict[str, object]:
        """Return the subject as JSON, numbers as strings of exact ratios."""
        bounds = self.bounds
        return {
            "quantity": self.heading,
            "unit": self.unit,
            "bounds": None if bounds is None else [f"{end}" for end in bounds],
            "max_rows": self.max_rows,
            "max_groups": self.max_groups,
            "omitted": list(self.omitted),
            "notes": list(self.notes),
            "hidden_up_to": self.hidden_up_to,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What the answers of one query state besides their numbers. They share one object.

    Attributes:
        subject: What the numbers are about.
        privacy: The guarantee of the numbers that make one answer, for one unit: its own share.
        total_privacy: The guarantee of everything that was released together, for one unit.
        receipt: The ledger's receipt; None if the release is in no ledger.
    """

    subject: Subject
    privacy: Privacy
    total_privacy: Privacy
    receipt: Receipt | None = None
