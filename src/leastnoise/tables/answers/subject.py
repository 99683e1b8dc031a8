"""``Subject``: the quantity that a released number is about, and ``Statement``, its guarantees.

Both are public: nothing in them is read from the data. Intervals and maximum errors are about the
quantity that the subject describes, after clipping and contribution bounds, not about the column.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from leastnoise.core.exact import format_exact
from leastnoise.core.privacy import Privacy
from leastnoise.json_types import Json
from leastnoise.ledger import Receipt

# The note on the values of a CSV file.
TEXT_NOTE = "CSV values are text; values that are not numbers are treated as missing (NULL)."
# The note on "is null" of a column of a CSV file.
NULL_NOTE = (
    "A CSV field is null only if it is empty; if other texts such as NA mean missing, convert the "
    "column to a type."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The quantity that a number is about. The answers of one query share one object.

    Attributes:
        title: The query in a few words, such as ``"sum of income by region"``.
        statistic: The name of the printed column, such as ``"sum"``.
        unit: The column that names privacy units; None if every row is a unit.
        bounds: The clipping bounds of values; None if no value is clipped.
        table: The name of the table; None if it is not known.
        version: The version of the data that the caller passed; None if there is none.
        contributions: The contribution bounds as a phrase of the query; empty if every row is a
            unit.
        max_rows: Maximum rows per unit per group. ``contributions`` states how a unit with more
            rows counts.
        max_groups: Maximum groups per unit; None if there are no groups.
        omitted: A phrase for each rule that omits rows, such as ``"rows without person_id"``.
        notes: Sentences about how the table and its values are read.
        table_notes: Those of ``notes`` that are the same for every query of the table. Printed
            answers omit them; a dry run and ``explain`` have them.
        hidden_up_to: The largest noisy count of a hidden group; None if no group is hidden.
        selected: Whether the noise that decides which discovered groups are shown is also in the
            values. Then the 95% intervals of the shown groups cover less often.
        group: The group that an answer is about, as it prints; empty for a whole query.
    """

    title: str
    statistic: str = "value"
    unit: str | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    table: str | None = None
    version: str | None = None
    contributions: str = ""
    max_rows: int = 1
    max_groups: int | None = None
    omitted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    table_notes: tuple[str, ...] = ()
    hidden_up_to: int | None = None
    selected: bool = True
    group: str = field(default="", compare=False)

    @property
    def quantity(self) -> str:
        """The title with the clipping bounds: ``sum of income, clipped to [0, 10]``.

        >>> Subject(title="sum of income", bounds=(Fraction(0), Fraction(10))).quantity
        'sum of income, clipped to [0, 10]'
        """
        return f"{self.title}{self._clipped}"

    @property
    def name(self) -> str:
        """The title, with the group of a single answer: ``count by region, group north``."""
        return f"{self.title}, group {self.group}" if self.group else self.title

    @property
    def heading(self) -> str:
        """The name with the clipping bounds, as printed answers begin.

        >>> Subject(title="count by region", group="north").heading
        'count by region, group north'
        """
        return f"{self.name}{self._clipped}"

    @property
    def _clipped(self) -> str:
        if self.bounds is None:
            return ""
        return f", clipped to [{', '.join(map(format_exact, self.bounds))}]"

    @property
    def per_unit(self) -> str:
        """The privacy unit in words: ``per person_id``."""
        return f"per {'row' if self.unit is None else self.unit}"

    @property
    def table_and_version(self) -> str:
        """The table and its version: ``people.csv, version 2026-11``; empty if not known."""
        version = "" if self.version is None else f", version {self.version}"
        return "" if self.table is None else f"{self.table}{version}"

    @property
    def rows_per_unit(self) -> str:
        """The contribution bounds of a count, in words.

        >>> Subject(title="count", unit="person_id", max_rows=2, max_groups=3).rows_per_unit
        'at most 2 rows per person_id per group, at most 3 groups per person_id'
        """
        return f"{at_most(self.max_rows, 'row')} {self.per_unit}{self.per_group}{self.and_groups}"

    @property
    def per_group(self) -> str:
        """The scope of ``max_rows``: `` per group``, or empty if there are no groups."""
        return "" if self.max_groups is None else " per group"

    @property
    def and_groups(self) -> str:
        """The bound of groups, to end a phrase: ``, at most 3 groups per person_id``."""
        if self.max_groups is None:
            return ""
        return f", {at_most(self.max_groups, 'group')} {self.per_unit}"

    @property
    def query_notes(self) -> tuple[str, ...]:
        """The notes that printed answers have."""
        return tuple(note for note in self.notes if note not in self.table_notes)

    @property
    def rules(self) -> str:
        """The table, the contribution bounds and the omitted rows in words."""
        table = f"table: {self.table_and_version}" if self.table else ""
        omitted = f"omitted: {', '.join(self.omitted)}" if self.omitted else ""
        return "; ".join(filter(None, [table, self.contributions, omitted]))

    @property
    def statement(self) -> str:
        """The subject in one line: quantity, table, contributions, omitted rows and notes."""
        limit = self.hidden_up_to
        hidden = (
            f"hidden: groups with a noisy count of {limit} or less" if limit is not None else ""
        )
        first = "; ".join(filter(None, [self.quantity, self.rules, hidden]))
        return " ".join([f"{first}.", *self.notes]) if self.notes else first

    def to_dict(self) -> Json:
        """Return the subject as JSON, numbers as strings of exact ratios."""
        bounds = self.bounds
        return {
            "quantity": self.quantity,
            "table": self.table,
            "version": self.version,
            "unit": self.unit,
            "contributions": self.contributions,
            "bounds": None if bounds is None else [f"{end}" for end in bounds],
            "max_rows": self.max_rows,
            "max_groups": self.max_groups,
            "omitted": list(self.omitted),
            "notes": list(self.notes),
            "hidden_up_to": self.hidden_up_to,
        }


def at_most(number: int, what: str) -> str:
    """Print a bound.

    >>> at_most(1, "row"), at_most(2, "row")
    ('at most 1 row', 'at most 2 rows')
    """
    return f"at most {number} {what}{'s' * (number != 1)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The subject, guarantees and receipt of the answers of one query, which share one object.

    Attributes:
        subject: The quantity that the answers are about.
        privacy: The guarantee of one answer alone, for one unit.
        total_privacy: The guarantee of everything that was released together, for one unit.
        receipt: The ledger's receipt; None if the release is in no ledger.
    """

    subject: Subject
    privacy: Privacy
    total_privacy: Privacy
    receipt: Receipt | None = None
