"""One answer from a table as text, as labelled facts and as HTML.

``print`` shows a few lines. Notebooks and commands show a list of labelled facts. Both begin with
the result, and state the quantity, its errors, the guarantee and the rows that count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.errors import Words
from leastnoise.ledger import Receipt, make_part
from leastnoise.mechanism import (
    Mechanism,
    exact_release,
    max_error_words,
    recorded_as,
    reused_facts,
    reused_lines,
)
from leastnoise.rendering import Fact, fact_lines, keep_together, printable, sentences, table
from leastnoise.tables.answers.subject import Subject
from leastnoise.tables.spending_limit import describe_share

# How to get another answer than a stored one.
_NEW_DATA = Words(
    "If the data has changed, pass a new version= to protect(). To draw new noise, pass "
    "fresh=True. Both are charged.",
    "If the data has changed, pass a new --version. To draw new noise, pass --fresh. Both are "
    "charged.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The figures of one answer as they print, errors rounded up.

    Attributes:
        value: The value.
        error: The 95% error of the value; None if ``details`` has the errors.
        details: Further figures: a label, a text, and both as a phrase.
        max_error: The maximum error; None if there is none.
        exact: Phrases with the probability of an exact release, if it was allowed.
        unbounded: The reason why there is no maximum error. Default: the noise is unbounded.
    """

    value: str
    error: str | None = None
    details: tuple[tuple[str, str, str], ...] = ()
    max_error: str | None
    exact: tuple[str, ...] = ()
    unbounded: str = ""


class Printed(Protocol):
    """The properties of an answer that are printed."""

    @property
    def subject(self) -> Subject:
        """The quantity that the value is about."""

    @property
    def privacy(self) -> Privacy:
        """The guarantee of this answer alone, for one unit."""

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""

    @property
    def receipt(self) -> Receipt | None:
        """The ledger's receipt; None if the answer is in no ledger."""


def as_text(answer: Printed, result: Shown) -> str:
    """Return an answer as ``print`` shows it."""
    subject, max_error = answer.subject, max_error_words(result.max_error)
    exact = "".join(f", {phrase}" for phrase in result.exact)
    if result.error is None:
        first = [
            f"{printable(subject.heading)}: {result.value}",
            ", ".join([*(phrase for *_, phrase in result.details), max_error]),
        ]
    else:
        first = [f"{_format_result(subject, result)} (95% confidence, {max_error})"]
    lines = sentences(
        *first,
        f"{_format_guarantee(answer)}{exact}; {recorded_as(answer.receipt)}",
        *filter(None, [printable(subject.rules)]),
        *map(printable, subject.query_notes),
    )
    return "\n".join([*lines, *reused_lines(answer.receipt, _NEW_DATA.python)])


def as_screen(answer: Printed, result: Shown, *, ledger: str = "") -> str:
    """Return an answer as commands print it: the result, then labelled facts."""
    lines = [
        *sentences(result_line(answer.subject, result)),
        "",
        *fact_lines(keep_key_whole(facts(answer, result, ledger=ledger))),
    ]
    return "\n".join(lines)


def as_html(answer: Printed, result: Shown) -> str:
    """Return an answer as notebooks show it."""
    title = result_line(answer.subject, result)
    return table(title, facts(answer, result))


def result_line(subject: Subject, result: Shown) -> str:
    """Return the first line: the quantity and its value."""
    confident = "" if result.error is None else " (95% confidence)"
    return f"{_format_result(subject, result)}{confident}"


def facts(answer: Printed, result: Shown, *, ledger: str = "") -> list[Fact]:
    """Return the labelled facts about an answer, without its value."""
    return [
        *((label, text) for label, text, _ in result.details),
        ("Max error", max_error_fact(result.max_error, answer.privacy, result.unbounded)),
        ("Guarantee", _format_guarantee(answer)),
        *(("Exact", phrase) for phrase in result.exact),
        *closing_facts(answer, ledger=ledger),
    ]


def closing_facts(answer: Printed, *, ledger: str = "") -> list[Fact]:
    """Return the facts that come last: table, contributions, omitted rows, budget and notes.

    ``ledger`` names the ledger on the command line, and is empty in Python.
    """
    subject, receipt = answer.subject, answer.receipt
    advice = _NEW_DATA.command if ledger else _NEW_DATA.python
    about = [
        ("Counted", subject.contributions),
        ("Table" if subject.table else "Omitted", _format_table(subject)),
        ("Budget", _format_budget(receipt, ledger)),
        ("Key", "" if receipt is None else receipt.key),
        *reused_facts(receipt, advice),
        *(("Note", note) for note in subject.query_notes),
    ]
    return [(label, printable(text)) for label, text in about if text]


def reused_advice(answer: Printed) -> list[Fact]:
    """Return the advice about a stored answer, as :func:`closing_facts` does in Python."""
    return reused_facts(answer.receipt, _NEW_DATA.python)


def keep_key_whole(facts_: Sequence[Fact]) -> list[Fact]:
    """Return facts whose key is not broken across lines."""
    return [(label, keep_together(text) if label == "Key" else text) for label, text in facts_]


def table_guarantee(answers: Printed) -> str:
    """Print the guarantee of a table of answers."""
    return _format_guarantee(answers, of=", for the whole table")


def max_error_fact(max_error: str | None, privacy: Privacy, unbounded: str = "") -> str:
    """Print a maximum error, or the reason why there is none."""
    if max_error is not None:
        return max_error
    if unbounded:
        return f"none ({unbounded})"
    return f"none ({'' if privacy.delta else 'at δ = 0 '}the noise is unbounded)"


def exact_words(parts: Sequence[tuple[str, Mechanism]]) -> tuple[str, ...]:
    """Return a phrase for each number whose exact release was allowed, with its probability."""
    chances = [(name, exact_release(mechanism)) for name, mechanism in parts]
    return tuple(f"exact {name} {chance}" for name, chance in chances if chance)


def _format_result(subject: Subject, result: Shown) -> str:
    error = "" if result.error is None else f" ± {result.error}"
    return f"{printable(subject.heading)}: {result.value}{error}"


def _format_guarantee(answer: Printed, of: str = "") -> str:
    unit = printable(answer.subject.per_unit)
    cost = describe_share(answer.total_privacy) or _describe_cost(answer.receipt)
    total = _format_total(answer) + (f"; cost: {cost}" if cost else "")
    return f"{format_guarantee(answer.privacy)} {unit}{of}{total}"


def _describe_cost(receipt: Receipt | None) -> str:
    """Print the part of an allocation that a release was charged; empty outside of one."""
    if receipt is None or receipt.cost is None or receipt.allocation is None:
        return ""
    account = receipt.allocation
    return describe_share(make_part(receipt.cost, account.caps, account.privacy))


def _format_total(answer: Printed) -> str:
    """Print the total guarantee; empty if this answer was released alone."""
    if answer.total_privacy == answer.privacy:
        return ""
    return f"; {format_guarantee(answer.total_privacy)} for everything released together"


def _format_table(subject: Subject) -> str:
    """Print the table and the rules that omit rows."""
    omitted = "; ".join(subject.omitted)
    if not (subject.table and omitted):
        return subject.table_and_version or omitted
    return f"{subject.table_and_version}; omitted: {omitted}"


def _format_budget(receipt: Receipt | None, ledger: str) -> str:
    if receipt is None:
        return "not recorded"
    day, account = receipt.at[:10], receipt.account
    if receipt.reused:
        return f"nothing charged: stored answer of {day} returned"
    if receipt.allocation is not None:
        rest, name = receipt.allocation.describe_remaining(), printable(receipt.allocation.name)
        return f"{rest} in allocation {name!r} ({ledger or f'recorded {day}'})"
    limit = "" if account.limit is None else f" of {format_guarantee(account.limit)}"
    return f"{format_guarantee(account.remaining)} remain{limit} ({ledger or f'recorded {day}'})"
