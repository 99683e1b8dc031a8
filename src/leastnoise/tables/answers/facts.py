"""One answer from a table as text, as labelled facts and as HTML: the result first.

The text of ``print`` is short, a line for each matter. The facts of notebooks and commands have a
label each. Both state the quantity, its errors, the guarantee, and which rows count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.ledger import Receipt
from leastnoise.mechanism import Mechanism, exact_release, max_error_words, recorded_as, reused_line
from leastnoise.rendering import Fact, held, labelled, printable, sentences, table
from leastnoise.tables.answers.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The figures of one answer as they print, errors rounded up.

    Attributes:
        value: The value.
        error: The 95% error of the value; None if ``details`` have its errors.
        details: What else is known of it: a label, a text, and the phrase that says both.
        max_error: The maximum error; None if the noise is unbounded.
        exact: What is exact with some probability, and with which, if that had to be allowed.
        unbounded: Why there is no maximum error. Default: the noise is unbounded.
    """

    value: str
    error: str | None = None
    details: tuple[tuple[str, str, str], ...] = ()
    max_error: str | None
    exact: tuple[str, ...] = ()
    unbounded: str = ""


class Printed(Protocol):
    """What an answer must have to be printed."""

    @property
    def subject(self) -> Subject:
        """What the value is about."""

    @property
    def privacy(self) -> Privacy:
        """Its own guarantee."""

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything released together."""

    @property
    def receipt(self) -> Receipt | None:
        """The ledger's receipt, if there is one."""


def as_text(answer: Printed, result: Shown) -> str:
    """Return an answer as ``print`` shows it."""
    subject, max_error = answer.subject, max_error_words(result.max_error)
    exact = "".join(f", {one}" for one in result.exact)
    if result.error is None:
        first = [
            f"{printable(subject.heading)}: {result.value}",
            ", ".join([*(phrase for *_, phrase in result.details), max_error]),
        ]
    else:
        first = [f"{_result(subject, result)} (95% confidence, {max_error})"]
    lines = sentences(
        *first,
        f"{_guarantee(answer)}{exact}; {recorded_as(answer.receipt)}",
        *filter(None, [printable(subject.rules)]),
        *map(printable, subject.notes),
    )
    above = reused_line(answer.receipt)
    return "\n".join([*([above] if above else []), *lines])


def as_screen(answer: Printed, result: Shown, *, ledger: str = "") -> str:
    """Return an answer as commands print it: the result, then labelled facts."""
    above = reused_line(answer.receipt)
    lines = [
        *([above] if above else []),
        *sentences(result_line(answer.subject, result)),
        "",
        *labelled(hold_key(facts(answer, result, ledger=ledger))),
    ]
    return "\n".join(lines)


def as_html(answer: Printed, result: Shown) -> str:
    """Return an answer as notebooks show it."""
    title = result_line(answer.subject, result)
    return table(title, facts(answer, result), above=reused_line(answer.receipt))


def result_line(subject: Subject, result: Shown) -> str:
    """Return the first line: what the number is about, and the number."""
    confident = "" if result.error is None else " (95% confidence)"
    return f"{_result(subject, result)}{confident}"


def facts(answer: Printed, result: Shown, *, ledger: str = "") -> list[Fact]:
    """Return what is known of an answer, besides its value."""
    return [
        *((label, text) for label, text, _ in result.details),
        ("Max error", max_error_fact(result.max_error, answer.privacy, result.unbounded)),
        ("Guarantee", _guarantee(answer)),
        *(("Exact", one) for one in result.exact),
        *closing_facts(answer, ledger=ledger),
    ]


def closing_facts(answer: Printed, *, ledger: str = "") -> list[Fact]:
    """Return the facts that single answers and tables share: table, what counts, budget, notes."""
    subject, receipt = answer.subject, answer.receipt
    about = [
        ("Table", subject.table_and_version),
        ("Counted", subject.contributions),
        ("Omitted", "; ".join(subject.omitted)),
        ("Budget", _budget(receipt, ledger)),
        ("Key", "" if receipt is None else receipt.key),
        *(("Note", note) for note in subject.notes),
    ]
    return [(label, printable(text)) for label, text in about if text]


def hold_key(found: list[Fact]) -> list[Fact]:
    """Return facts in which no line breaks within the key."""
    return [(label, held(text) if label == "Key" else text) for label, text in found]


def table_guarantee(answers: Printed) -> str:
    """Print the guarantee of a table of answers."""
    return _guarantee(answers, of=", for the whole table")


def max_error_fact(max_error: str | None, privacy: Privacy, unbounded: str = "") -> str:
    """Print a maximum error as a fact, or why there is none: ``unbounded``, or by default noise."""
    if max_error is not None:
        return max_error
    if unbounded:
        return f"none ({unbounded})"
    return f"none ({'' if privacy.delta else 'at δ = 0 '}the noise is unbounded)"


def exact_words(parts: Sequence[tuple[str, Mechanism]]) -> tuple[str, ...]:
    """Say which numbers are exact and with which probability, where that had to be allowed."""
    found = [(name, exact_release(mechanism)) for name, mechanism in parts]
    return tuple(f"exact {name} {chance}" for name, chance in found if chance)


def _result(subject: Subject, result: Shown) -> str:
    error = "" if result.error is None else f" ± {result.error}"
    return f"{printable(subject.heading)}: {result.value}{error}"


def _guarantee(answer: Printed, of: str = "") -> str:
    unit = printable(answer.subject.per_unit)
    return f"{format_guarantee(answer.privacy)} {unit}{of}{_total(answer)}"


def _total(answer: Printed) -> str:
    """Say what everything released together guarantees, unless it is this answer alone."""
    if answer.total_privacy == answer.privacy:
        return ""
    return f"; {format_guarantee(answer.total_privacy)} for everything released together"


def _budget(receipt: Receipt | None, ledger: str) -> str:
    if receipt is None:
        return "not recorded"
    day, account = receipt.at[:10], receipt.account
    if receipt.reused:
        return f"nothing charged: stored answer of {day} returned"
    limit = "" if account.limit is None else f" of {format_guarantee(account.limit)}"
    return f"{format_guarantee(account.remaining)} remain{limit} ({ledger or f'recorded {day}'})"
