"""The limits of a ledger: parsed, stored in rows, and compared with those on record."""

from fractions import Fraction

from leastnoise.core.exact import Number, format_short, parse_rational, quote
from leastnoise.core.privacy import Privacy, as_privacy, format_guarantee
from leastnoise.errors import InvalidParameter, Words, parameter
from leastnoise.json_types import Json
from leastnoise.ledger.accounts import Name
from leastnoise.ledger.allocations import (
    DEFAULT,
    DISCOVERY,
    LARGEST_EPSILON,
    AllocationAccount,
    is_long,
)
from leastnoise.ledger.chain import find_rows
from leastnoise.ledger.rows import LIMIT, limit_key, privacy_to_json, read_privacy
from leastnoise.ledger.stores import Page

_CREATE_DATASET = Words("pass limit=…", "use leastnoise ledger create FILE --dataset …")


def check_limit(limit: object) -> Privacy:
    """Return a limit, or reject it."""
    if type(limit) is Privacy:
        return limit
    raise InvalidParameter(
        "limit must be a Privacy",
        got=quote(limit),
        fix="Write Privacy(epsilon=1, delta='1e-6'), for example.",
    )


def limit_body(name: Name, limit: Privacy) -> Json:
    """Return the content of the row that sets the limit of an account."""
    return {"dataset": name[0], "analyst": name[1], **privacy_to_json(limit)}


def last_limit(page: Page, name: Name) -> Privacy | None:
    """Return the limit of an account on a page; None if it has none."""
    rows = find_rows(page, limit_key(*name), LIMIT)
    return read_privacy(rows[-1].content) if rows else None


def first_dataset(page: Page) -> str | None:
    """Return the dataset of the first limit on a page; None if there is none."""
    first = next((row for row in page.rows(0) if row.kind == LIMIT), None)
    # The name is in the key behind two separators, even if the body is damaged.
    parts = [] if first is None else first.key.split("\x1f")
    return parts[2] if len(parts) > 2 else None


def check_same_limit(name: Name, limit: Privacy | None, recorded: Privacy | None) -> None:
    """Reject a limit that differs from the one on record; None stands for no limit."""
    if limit is not None and recorded is not None and limit != recorded:
        dataset, analyst = name
        whose = f"dataset {dataset!r}" if analyst is None else f"analyst {analyst!r}"
        raise InvalidParameter(
            f"This ledger already exists, and the limit of {whose} is "
            f"{format_guarantee(recorded)}, not {format_guarantee(limit)}",
            fix="Nothing was changed. To change the limit, use "
            + Words("set_limit()", "leastnoise ledger set-limit FILE")
            + ".",
        )


def missing_dataset_error(dataset: str, first: str | None) -> InvalidParameter:
    """Return the error for a dataset without a limit; ``first`` is the first of the ledger."""
    known = "" if first is None else f" (its first is {first!r})"
    return InvalidParameter(
        f"This ledger has no dataset {dataset!r}{known}",
        fix="Check the name. To add a dataset about different people, "
        + _CREATE_DATASET
        + "; for the same people it would be a second budget.",
    )


def check_accounting(accounting: object, limit: Privacy | None) -> None:
    """Reject unknown accounting, and Gaussian accounting that the limit does not allow."""
    if accounting not in (None, *_ACCOUNTING):
        raise InvalidParameter(
            parameter("accounting") + " must be 'basic' or 'gaussian'",
            got=quote(accounting),
            fix="Use 'gaussian' for many releases, 'basic' for a few.",
        )
    if accounting == "gaussian" and limit is not None:
        _check_allocatable(limit)


def check_same_accounting(dataset: str, accounting: str | None, *, gaussian: bool) -> None:
    """Reject a different accounting mode."""
    recorded = "gaussian" if gaussian else "basic"
    if accounting in (None, recorded):
        return
    if gaussian:
        why = "Its whole limit is in one allocation, and an allocation cannot be undone."
        fix = Words("Omit accounting=.", "Omit --accounting.")
    else:
        why = "Its releases are charged with ε and δ."
        fix = "For Gaussian accounting, move a part into an allocation: " + Words(
            "ledger.allocate(name, privacy).", "leastnoise ledger allocate FILE NAME"
        )
    raise InvalidParameter(
        f"Dataset {dataset!r} has {_ACCOUNTING[recorded]} accounting, which never changes. {why} "
        "Nothing was changed",
        fix=fix,
    )


_ACCOUNTING = {"basic": "basic", "gaussian": "Gaussian"}


def check_allocated(name: str, privacy: Privacy, discovery: Number | None) -> Fraction | None:
    """Reject invalid arguments of an allocation; return the part of δ for discovery."""
    if name == DEFAULT:
        raise InvalidParameter(
            f"The name {name!r} is reserved for the allocation of a whole limit",
            fix="Choose another name, or create the ledger with "
            + Words("accounting='gaussian'.", "--accounting gaussian."),
        )
    as_privacy(privacy, "Privacy('0.8', '9e-7')")
    chosen = None if discovery is None else parse_rational(discovery, "discovery")
    if chosen is not None and not 0 <= chosen < 1:
        raise InvalidParameter(
            parameter("discovery") + " must be at least 0 and less than 1",
            got=quote(discovery),
            fix=f"Use, for example, {format_short(DISCOVERY)}.",
        )
    _check_allocatable(privacy)
    return chosen


def _check_allocatable(privacy: Privacy) -> None:
    if not privacy.delta:
        raise InvalidParameter(
            "An allocation needs δ > 0",
            got=format_guarantee(privacy),
            fix="Add " + Words("a δ, such as Privacy(1, '1e-6').", "--delta 1e-6."),
        )
    if privacy.epsilon > LARGEST_EPSILON or is_long(privacy.epsilon):
        raise InvalidParameter(
            f"ε of an allocation must be at most {LARGEST_EPSILON}, with a short denominator",
            fix="Use, for example, " + Words("Privacy(1, '1e-6').", "--epsilon 1 --delta 1e-6."),
        )


def check_same_allocation(
    recorded: AllocationAccount, privacy: Privacy, failure: Fraction | None
) -> None:
    """Reject a guarantee or a Γ that differs from the recorded allocation."""
    if privacy != recorded.privacy:
        raise InvalidParameter(
            f"Allocation {recorded.name!r} exists with {format_guarantee(recorded.privacy)}, not "
            f"{format_guarantee(privacy)}. Nothing was charged",
            fix="Choose another name, or open it with "
            + Words(
                f"ledger.allocation({recorded.name!r}).",
                f"--epsilon {format_short(recorded.privacy.epsilon)} "
                f"--delta {format_short(recorded.privacy.delta)}.",
            ),
        )
    if failure is not None and failure != recorded.caps.failure:
        part = recorded.caps.failure / recorded.privacy.delta
        raise InvalidParameter(
            f"Allocation {recorded.name!r} exists with discovery = {format_short(part)}, not "
            f"{format_short(failure / privacy.delta)}. Nothing was charged",
            fix="Choose another name, or omit " + Words("discovery=.", "--discovery."),
        )
