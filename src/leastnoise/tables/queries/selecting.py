"""What queries share that select a bin in each group, instead of adding noise to a number."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import parse_count, quote
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.mechanism import AnyMechanism, PermuteAndFlip
from leastnoise.tables.answers import Subject, at_most
from leastnoise.tables.keys import Key
from leastnoise.tables.queries.query import AddNoise, Query, Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_BINS = 1 << 16
# Ranks below this are 64-bit integers, and Python's own above.
_LARGEST = 1 << 62
# The bins of a group that have rows, each with its number and its rows.
BinRows = Sequence[tuple[Any, ...]]
# Selects bins of a group from its rows and their number.
Select = Callable[[BinRows, int, PermuteAndFlip], tuple[int, ...]]


def select_by_group(
    result: Result,
    keys: Sequence[Key],
    noise: Sequence[AddNoise],
    threshold: int | None,
    select: Select,
) -> list[tuple[int, ...]]:
    """Return the bins that are selected in each group, an empty tuple for a hidden group.

    Args:
        result: For each group and bin its key, the number of the bin, and its rows.
        keys: The groups.
        noise: The noise of the count that decides which groups are shown, if there is one; last the
            mechanism that selects.
        threshold: The count that a shown group exceeds; None if all groups are shown.
        select: Selects the bins of a group.
    """
    mechanism = as_selection(noise[-1])
    columns = len(keys[0]) if keys else 0
    groups: dict[Key, list[tuple[Any, ...]]] = {}
    for row in result:
        groups.setdefault(row[:columns], []).append(row[columns:])

    def select_in(rows: BinRows) -> tuple[int, ...]:
        total = sum(number for _, number in rows)
        if threshold is not None and noise[0]([total])[0] <= threshold:
            return ()
        return select(rows, total, mechanism)

    return [select_in(groups.get(key, [])) for key in keys]


def parse_bins(bins: object) -> int:
    """Return the caller's number of bins."""
    count = parse_count(bins, "bins", least=2)
    if count > _MOST_BINS:
        raise InvalidParameter(
            parameter("bins") + f" must be at most {_MOST_BINS}",
            got=quote(bins),
            fix="Use fewer bins.",
        )
    return count


def as_selection(mechanism: "AnyMechanism | AddNoise") -> PermuteAndFlip:
    """Return a mechanism that selects; raise TypeError for one that adds noise."""
    if isinstance(mechanism, PermuteAndFlip):
        return mechanism
    raise TypeError("a query that selects a bin needs the mechanism PermuteAndFlip")


def count_below(rows: BinRows, bins: int, largest: int) -> "NDArray[Any]":
    """Return the number of rows below each edge between two bins.

    ``largest`` bounds all integers that are computed from these numbers.
    """
    import numpy as np

    kind = np.int64 if largest < _LARGEST else object
    counts = np.zeros(bins, dtype=kind)
    counts[[place for place, _ in rows]] = [number for _, number in rows]
    below: NDArray[Any] = np.cumsum(counts[:-1], dtype=kind)
    return below


def rank_errors(ranks: "NDArray[Any]") -> "NDArray[Any]":
    """Return the rank error of each bin from D at the edges between bins.

    The rank error is max(0, D at the lower edge, −D at the upper edge). The first bin has no lower
    edge, and the last bin has no upper edge. D does not decrease from edge to edge, so some bin has
    error 0. If one unit changes, each of the three numbers changes by at most as much as D does, so
    their maximum does too. A shift of all D by a constant does not change that.
    """
    import numpy as np

    errors = np.zeros(len(ranks) + 1, dtype=ranks.dtype)
    errors[1:] = np.maximum(ranks, 0)
    errors[:-1] = np.maximum(errors[:-1], -ranks)
    return errors


def ranks_from_low(below: "NDArray[Any]", target: int) -> "NDArray[Any]":
    """Return D for the bin below which ``target`` rows lie: below − target at each edge."""
    return below - target


def ranks_from_high(below: "NDArray[Any]", total: int, target: int) -> "NDArray[Any]":
    """Return D for the bin above which ``target`` rows lie: target − above at each edge."""
    return target - (total - below)


def tail_target(select: PermuteAndFlip, confidence: Fraction) -> int:
    """Return the number of rows that a bin near the end of all values should have beyond it.

    Let t be the bound of a selection's error at this confidence. The target is t + 1. Then, with
    this confidence, the bin has at most t + (t + 1) rows beyond it, and at least one row lies in
    it or beyond it, if there is a row. With a smaller target, bins beyond all rows would often be
    selected: a bin with no row in it or beyond it has the error ``target``, which must be above t.
    """
    return select.error_bound(confidence) + 1


def one_bin_words(query: Query, subject: Subject) -> str:
    """Return the contribution bounds as a phrase: a unit counts in one bin of a group."""
    if query.groups_per_unit != 1:
        bins = "" if subject.max_rows == 1 else " with values in one bin"
        return f"{subject.rows_per_unit}{bins}, chosen by a hash"
    group = ", in one group" if query.by else ""
    if subject.max_rows == 1:
        return f"one row {subject.per_unit}{group}, picked by hash"
    rows = at_most(subject.max_rows, "row")
    return f"{rows} {subject.per_unit}{group}, with values in one bin, picked by hash"


def rows_of(number: int) -> str:
    """Return a number of rows in words.

    >>> rows_of(1)
    '1 row'
    """
    return f"{number} row{'s' * (number != 1)}"
