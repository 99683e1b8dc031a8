"""The dry run of queries: sensitivities, noise and errors, computed without reading a row."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from leastnoise.core.exact import format_exact, format_ratio, format_rounded, format_short
from leastnoise.core.noise import DiscreteSteps, Rounded
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.json_types import Json
from leastnoise.ledger import AllocatedPrivacy
from leastnoise.mechanism import AnyMechanism, JointPart, Mechanism, half_width
from leastnoise.rendering import Fact, align_columns, fact_lines, printable, wrap
from leastnoise.tables.add_noise import Numbers
from leastnoise.tables.answers import USUAL, at_most
from leastnoise.tables.bounding import REPLACE
from leastnoise.tables.mean_release import MeanCost, estimate_cost
from leastnoise.tables.mean_target import MeanTarget
from leastnoise.tables.queries.averaged_query import TYPICAL_ROWS
from leastnoise.tables.queries.planned_query import PlannedQuery
from leastnoise.tables.release import PreparedRelease, find_threshold
from leastnoise.tables.spending_limit import describe_amount, describe_share, share_to_json
from leastnoise.tables.target_error import size_of
from leastnoise.tables.terms import NO_TERMS, Terms

_HEADER = ("query", "number", "95% error", "sensitivity", "ε", "δ", "noise")
_SCREEN = 80
_SHORTEST_TITLE = 12
_LONGEST_NUMBER = 8
_ENGINES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "pyspark": "Spark"}


@dataclass(frozen=True, repr=False)
class Explanation:
    """Queries with their sensitivities, noise and errors; the data is not read.

    Attributes:
        prepared: The queries; for a mean with a target error, the count that is released first.
        terms: The requested amount.
        target: The mean with a target error, whose noise follows from the count; else None.
    """

    prepared: PreparedRelease
    terms: Terms = NO_TERMS
    target: MeanTarget | None = None

    @property
    def queries(self) -> list[str]:
        """The SQL that the engine would run."""
        return [self.prepared.source.sql(batch.expression) for batch in self.prepared.batches]

    def to_dict(self) -> Json:
        """Return the explanation as JSON."""
        prepared = self.prepared
        return {
            "price": _privacy(prepared.together) | share_to_json(prepared.together),
            "asked": prepared.words,
            "key": prepared.key,
            "questions": [
                {
                    "title": planned.query.title,
                    "numbers": [
                        {
                            "name": number.name,
                            "sensitivity": format_ratio(number.sensitivity),
                            "touched": number.touched,
                            "noise": repr(mechanism.noise),
                            "privacy": _privacy(mechanism.privacy),
                            "number": place,
                            "error_95": _error_ratio(mechanism),
                        }
                        for (number, mechanism), place in zip(numbers, places, strict=True)
                    ],
                }
                for (planned, numbers), places in self._each()
            ],
            "queries": self.queries,
            **({} if self.target is None else {"then": _mean_to_json(self.target)}),
        }

    def to_text(self, *, sql: bool = False) -> str:
        """Return the explanation as text of at most 80 columns, with the SQL below if asked."""
        lines = [
            "Dry run: no row was read and nothing was charged.",
            "",
            *([] if self.target is None else [*map(printable, _explain_mean(self.target)), ""]),
            *align_columns(_wrap_titles([list(_HEADER), *self._cells()]), [0, 1, 6]),
        ]
        for result in self._explain_results():
            lines += ["", *map(printable, result)]
        lines += ["", *fact_lines(self._facts())]
        for planned, numbers in self.prepared.queries:
            facts = [printable(fact) for fact in _list_facts(self.prepared, planned, numbers)]
            if facts:
                lines += ["", *wrap(printable(planned.query.title))]
                lines += [line for fact in facts for line in _indent(fact)]
        notes = [note for planned, _ in self.prepared.queries for note in _reading_notes(planned)]
        notes += self.prepared.source.notes
        if notes:
            lines += ["", *fact_lines([("Note", note) for note in dict.fromkeys(notes)])]
        queries = self.queries
        if sql:
            for text in queries:
                lines += ["", *text.splitlines()]
        else:
            amount = "1 query" if len(queries) == 1 else f"{len(queries)} queries"
            where = "with --sql, or explanation.queries in Python"
            lines += ["", f"SQL: {amount}. Print the text {where}."]
        return "\n".join(lines)

    def _each(self) -> Iterator[tuple[tuple[PlannedQuery, Numbers], tuple[int, ...]]]:
        return zip(self.prepared.queries, self.prepared.places, strict=True)

    def _explain_results(self) -> Iterator[list[str]]:
        """Return the lines on the errors of results that are computed from the numbers."""
        for planned, numbers in self.prepared.queries:
            errors = planned.query.result_errors([mechanism for _, mechanism in numbers])
            if errors:
                facts = (line for error in errors for line in _indent(error))
                yield [*wrap(planned.query.title), *facts]

    def _facts(self) -> list[Fact]:
        prepared, unit = self.prepared, self.prepared.unit
        source, many = prepared.source, len(prepared.queries)
        who = "every row"
        if unit.column is not None:
            who = f"{unit.column}, {_describe_max_rows(prepared)}"
        change = "replacing" if unit.neighbors == REPLACE else "adding or removing"
        together = "" if many == 1 else f", for {'both' if many == 2 else f'all {many}'} together"
        total, per = describe_amount(prepared.together), f"per {unit.column or 'row'}"
        facts = [
            ("Table", f"{source.short_name}, read by {_ENGINES.get(source.engine, source.engine)}"),
            ("Privacy unit", who),
            ("Neighbors", f"tables that differ by {change} one unit"),
            ("Guarantee" if self.target is None else "First count", f"{total} {per}{together}"),
            *_describe_terms(self.terms),
        ]
        return [(label, printable(text)) for label, text in facts]

    def _cells(self) -> list[list[str]]:
        """Return a line for each number; one that an earlier query has is released once."""
        first: dict[int, str] = {}
        lines = []
        for (planned, numbers), places in self._each():
            title = printable(planned.query.title)
            for (number, mechanism), place in zip(numbers, places, strict=True):
                shared = place in first
                first.setdefault(place, title)
                privacy = mechanism.privacy
                sensitivity, error = planned.query.expected_error(number, mechanism)
                line = [error, sensitivity, _short(privacy.epsilon), _short(privacy.delta)]
                line.append(_noise_name(mechanism, number.family))
                cells = ["as above", "", "", "", ""] if shared else line
                name = number.name if self.target is None else "rough count"
                lines.append([title, name, *cells])
                title = ""
        return lines

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        titles = "; ".join(planned.query.title for planned, _ in self.prepared.queries)
        return f"Explanation({titles})"


def _describe_max_rows(prepared: PreparedRelease) -> str:
    """Print the rows per unit per group, if all queries have the same."""
    queries = [planned.query for planned, _ in prepared.queries]
    rows = {query.find_max_rows(prepared.unit.max_rows) for query in queries}
    if len(rows) > 1:
        return "with the rows per unit per group of each query below"
    (each,) = rows
    return f"{at_most(each or 1, 'row')} per unit per group"


def _describe_terms(terms: Terms) -> Iterator[Fact]:
    """Return the requested amount: a share or an error."""
    if terms.share is not None and terms.limit is not None:
        yield "Share", f"{format_exact(terms.share)} of {terms.limit.name}"
    if terms.error is not None:
        most = "" if terms.at_most is None else f", for at most {format_exact(terms.at_most)}"
        limit = f" of {terms.limit.name}" if most and terms.limit is not None else ""
        yield "Target error", f"± {format_exact(terms.error)} (95% confidence){most}{limit}"


def _explain_mean(target: MeanTarget) -> list[str]:
    """Return the cost of a mean with a target error, for a few numbers of rows."""
    costs = [
        f"{rows:,} rows: {_describe_costs(target, cost)}" for rows, cost in _estimate_costs(target)
    ]
    facts = [
        f"With probability 99%, the 95% interval is at most ± {format_exact(target.error)}.",
        "The rows are counted first, perhaps several times with growing precision. The table "
        "below shows the first count.",
        "Approximate cost of the mean:",
        *(f"  {cost}" for cost in costs),
    ]
    return [*wrap(target.query.title), *(line for fact in facts for line in _indent(fact))]


def _indent(fact: str) -> list[str]:
    """Return the lines of a fact below the title of its query."""
    return wrap(fact.lstrip(), first="    " if fact[:1] != " " else "      ", further="      ")


def _describe_costs(target: MeanTarget, cost: MeanCost) -> str:
    """Print about what the counts and the mean cost, and whether that is too much."""
    if cost.mean is None:
        return "not possible"
    counts = describe_share(cost.counts) or format_guarantee(_round_up(cost.counts))
    shown = f"{describe_amount(_round_up(cost.mean))}, and {counts} for counts"
    size = size_of(target.limit.add(cost.counts, cost.mean))
    return f"{shown} (more than may be spent)" if size > target.scale.cap(target.at_most) else shown


def _round_up(privacy: Privacy) -> Privacy:
    """Return a guarantee with three digits, for an estimate; a part of an allocation unchanged."""
    if isinstance(privacy, AllocatedPrivacy):
        return privacy
    return Privacy(format_rounded(privacy.epsilon, 3, ROUND_CEILING), privacy.delta)


def _mean_to_json(target: MeanTarget) -> Json:
    """Return the mean that follows its counts, with its cost for a few numbers of rows, as JSON."""
    return {
        "title": target.query.title,
        "error_95": format_ratio(target.error),
        "price_by_rows": {
            f"{rows}": None
            if cost.mean is None
            else _privacy(cost.mean)
            | share_to_json(cost.mean)
            | {"counts": _privacy(cost.counts) | share_to_json(cost.counts)}
            for rows, cost in _estimate_costs(target)
        },
    }


def _estimate_costs(target: MeanTarget) -> Iterator[tuple[int, MeanCost]]:
    """Return what a mean and its counts cost, for each of a few numbers of rows."""
    for rows in TYPICAL_ROWS:
        yield rows, estimate_cost(target, rows)


def _list_facts(
    prepared: PreparedRelease, planned: PlannedQuery, numbers: Numbers
) -> Iterator[str]:
    """Return further facts that are known before a query runs: bounds, contributions, groups."""
    query, rows = planned.query, planned.rows
    limit = find_threshold(prepared, planned, numbers)
    subject = query.subject(rows, limit)
    if subject.bounds is not None:
        low, high = map(format_exact, subject.bounds)
        yield f"clipped to [{low}, {high}]"
    yield from query.plan_notes()
    if subject.contributions:
        yield subject.contributions
    touched = query.contribution(rows.unit).touched
    if touched > 1:
        yield f"one unit can change the numbers of {touched} groups"
    if query.follows and prepared.leader is not None:
        yield f"the groups are those of the {prepared.queries[prepared.leader][0].query.title}"
    elif limit is not None:
        yield f"groups are discovered; a noisy count of {limit} or less is hidden"


def _reading_notes(planned: PlannedQuery) -> tuple[str, ...]:
    """Return the notes on how values are read, which the answer will have too."""
    return planned.query.notes(planned.rows)


def _wrap_titles(cells: list[list[str]]) -> list[list[str]]:
    """Wrap titles so that the lines of a table fit the screen: over the lines of their numbers."""
    others = sum(max(len(line[i]) for line in cells) + 2 for i in range(1, len(_HEADER)))
    width = max(_SHORTEST_TITLE, _SCREEN - others)
    lines: list[list[str]] = []
    further: list[str] = []
    for title, *rest in cells:
        if title:
            lines += [[part, *[""] * len(rest)] for part in further]
            first, *further = textwrap.wrap(title, width, subsequent_indent="  ")
            lines.append([first, *rest])
        else:
            lines.append([further.pop(0) if further else "", *rest])
    return [*lines, *([part, *[""] * (len(_HEADER) - 1)] for part in further)]


def _short(number: Fraction) -> str:
    """Print a part of a guarantee: as it is if that is short, else rounded down.

    Rounded up, the parts would seem to exceed the total guarantee.
    """
    text = format_short(number)
    if len(text) <= _LONGEST_NUMBER and text.replace(".", "").replace("e-", "").isdigit():
        return text
    return format_rounded(number, 5, ROUND_FLOOR)


def _noise_name(mechanism: AnyMechanism, family: str | None) -> str:
    """Return the name of noise in words: ``DiscreteStaircase`` is "staircase".

    ``family`` is the family of the number. A better one may have been used instead.
    """
    if not isinstance(mechanism, Mechanism):
        return "selection"
    if isinstance(mechanism, JointPart):
        return "joint"
    noise = mechanism.noise.noise if isinstance(mechanism.noise, Rounded) else mechanism.noise
    name = type(noise).__name__.removeprefix("Discrete")
    if family is not None and isinstance(noise, DiscreteSteps):
        return family
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return "geometric" if getattr(mechanism.noise, "period", None) == 1 else words


def _error_ratio(mechanism: AnyMechanism) -> str | None:
    """Return the 95% error of added noise; None for a selection, whose error is one of ranks."""
    return format_ratio(half_width(mechanism, USUAL)) if isinstance(mechanism, Mechanism) else None


def _privacy(privacy: Privacy) -> dict[str, str]:
    return {"epsilon": format_ratio(privacy.epsilon), "delta": format_ratio(privacy.delta)}
