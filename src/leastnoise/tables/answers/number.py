"""A released count or sum of a table."""

from dataclasses import replace

from leastnoise.core.privacy import Privacy
from leastnoise.mechanism import Answer, Mechanism, format_brief, format_errors, format_value
from leastnoise.rendering import printable, sentences
from leastnoise.tables.answers import facts
from leastnoise.tables.answers.subject import Statement, Subject
from leastnoise.tables.answers.table_value import TableValue


class TableNumber(TableValue, Answer):
    """An :class:`Answer` from a table: a count or a sum, with the quantity it is about."""

    __slots__ = ("_statement",)

    def __init__(self, index: int, mechanism: Mechanism, statement: Statement) -> None:
        # Without super(), because a release can have a million of these.
        self._index = index
        self._mechanism = mechanism
        self._receipt = statement.receipt
        self._statement = statement

    @property
    def subject(self) -> Subject:
        """The quantity that the number is about: bounds, contributions and omitted rows."""
        return self._statement.subject

    @property
    def privacy(self) -> Privacy:
        """The guarantee of this answer alone, for one unit."""
        return self._statement.privacy

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""
        return self._statement.total_privacy

    def with_group(self, group: str) -> "TableNumber":
        """Return the same answer with a subject that names its group."""
        subject = replace(self.subject, group=group)
        return TableNumber(self.index, self.mechanism, replace(self._statement, subject=subject))

    def explain(self) -> str:
        """Return the printed answer, how its table is read, and the meaning of its guarantee."""
        notes = sentences(*map(printable, self.subject.table_notes))
        return "\n".join([f"{self}", *notes, self.mechanism.explain()])

    def result(self) -> facts.Shown:
        """Return the figures as they print."""
        usual, max_error = format_errors(self)
        exact = facts.exact_words([(self.subject.statistic, self.mechanism)])
        return facts.Shown(value=format_value(self), error=usual, max_error=max_error, exact=exact)

    def _repr_html_(self) -> str:
        return facts.as_html(self, self.result())

    def __repr__(self) -> str:
        result = self.result()
        return format_brief(
            self.subject.name, f"{result.value} ± {result.error} (95%)", self.privacy
        )

    def __str__(self) -> str:
        return facts.as_text(self, self.result())
