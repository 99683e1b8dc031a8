"""Adding noise to the numbers that an engine returns.

True numbers are local variables of these functions and of :meth:`Query.add_noise` only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from leastnoise.core.tape import Tape
from leastnoise.errors import InvalidParameter, Words
from leastnoise.mechanism import AnyMechanism, JointPart, JointRows, PermuteAndFlip, as_noise
from leastnoise.tables.keys import Key
from leastnoise.tables.queries.planned_query import PlannedQuery
from leastnoise.tables.queries.query import AddNoise, Result
from leastnoise.tables.released_number import ReleasedNumber

# The numbers of a query, each with the mechanism that releases it.
Numbers = tuple[tuple[ReleasedNumber, AnyMechanism], ...]


@dataclass(frozen=True)
class NoisyResult:
    """The noisy numbers that one query releases.

    Attributes:
        keys: The groups, sorted.
        numbers: For each group the indices of its noisy numbers; for a quantile, bin numbers.
    """

    keys: tuple[Key, ...]
    numbers: tuple[tuple[int, ...], ...]


def add_all_noise(
    results: Sequence[Result],
    queries: Sequence[tuple[PlannedQuery, Numbers]],
    places: Sequence[tuple[int, ...]],
    tape: Tape | None = None,
) -> list[NoisyResult]:
    """Add noise to the results of queries; a number that several queries share gets noise once.

    Args:
        results: The engine's result for each query.
        queries: The queries, each with its numbers.
        places: For each query, the places of its numbers; equal places are one number.
        tape: The bits. Default: those of the operating system.
    """
    shared: dict[int, AddNoise] = {}
    rows: dict[int, JointRows] = {}
    noisy: dict[tuple[int, ...], NoisyResult] = {}
    leader = find_leader([planned for planned, _ in queries])
    for result, (planned, numbers), own in zip(results, queries, places, strict=True):
        if own in noisy:
            continue
        noise = [_make_adder(number, mechanism, rows, tape) for number, mechanism in numbers]
        if not planned.query.makes_numbers:
            noise = [
                shared.setdefault(place, _Once(add)) for place, add in zip(own, noise, strict=True)
            ]
        if planned.query.follows:
            if leader is None:
                raise TypeError("a query that discovers groups must come before those that follow")
            keys = _list_keys(results[leader], queries[leader][0])
            noisy[own] = _follow(result, planned, noise, keys, noisy[places[leader]])
        else:
            noisy[own] = add_noise(result, planned, numbers, noise)
    return [noisy[own] for own in places]


def add_noise(
    result: Result, planned: PlannedQuery, numbers: Numbers, noise: Sequence[AddNoise]
) -> NoisyResult:
    """Add noise to every number of a result, and omit hidden groups.

    A public group that is not in the table has zeros. A discovered group is shown if its noisy
    count exceeds the rows of one unit plus the maximum noise. So a group with only one unit is
    never shown, and discovery costs nothing beyond the count (docs/discovery.md).
    """
    threshold = show_above(planned, numbers) if planned.query.discovered else None
    query = planned.query
    columns, groups = len(query.key_columns), query.answered_groups
    if groups is not None:
        known = set(groups)
        result = [row for row in result if row[:columns] in known]
    keys = groups or _list_keys(result, planned)
    noisy = query.add_noise(result, keys, noise, threshold)
    if threshold is None:
        return NoisyResult(keys, tuple(noisy))
    shown = [(key, own) for key, own in zip(keys, noisy, strict=True) if own]
    return NoisyResult(tuple(key for key, _ in shown), tuple(own for _, own in shown))


def find_leader(queries: Sequence[PlannedQuery]) -> int | None:
    """Return the place of the query that discovers groups for later ones; None if none does."""
    led = {planned.query.by for planned in queries if planned.query.follows}
    leading = (
        place
        for place, planned in enumerate(queries)
        if planned.query.discovered and planned.query.by in led
    )
    return next(leading, None)


def _list_keys(result: Result, planned: PlannedQuery) -> tuple[Key, ...]:
    """Return the groups of a result."""
    columns = len(planned.query.key_columns)
    return tuple(sorted({row[:columns] for row in result}))


def _follow(
    result: Result,
    planned: PlannedQuery,
    noise: Sequence[AddNoise],
    keys: tuple[Key, ...],
    leading: NoisyResult,
) -> NoisyResult:
    """Add noise to a result for the groups that an earlier query shows.

    ``keys`` are the groups of the true result of that query, and ``leading`` is its noisy result.

    *Why this costs nothing more.* Compare two neighboring tables. If a group is among ``keys`` for
    only one of them, one unit alone has rows in it, so its count is at most the rows of one unit,
    and it is never shown. For any other group both tables release the noisy count, and the noisy
    numbers of this query, which are independent. Hiding numbers afterwards is postprocessing. So
    the guarantee is that of the numbers for public groups (docs/discovery.md).
    """
    columns, known = len(planned.query.key_columns), set(keys)
    result = [row for row in result if row[:columns] in known]
    noisy = planned.query.add_noise(result, keys, noise, None)
    shown = set(leading.keys)
    own = tuple(figures for key, figures in zip(keys, noisy, strict=True) if key in shown)
    return NoisyResult(leading.keys, own)


def show_above(planned: PlannedQuery, numbers: Numbers) -> int:
    """Return the noisy count that a discovered group must exceed; reject unbounded noise."""
    _, mechanism = numbers[0]
    radius = as_noise(mechanism).discretized.radius
    if not isinstance(radius, Fraction | int):
        raise InvalidParameter(
            "Discovering groups requires δ > 0",
            fix=Words(
                "Add a δ, such as Privacy('0.2', '1e-7'), or list the groups with groups=.",
                "Add --delta 1e-7 (well below 1 / number of people), or list the groups: "
                "--group north --group south",
            ),
        )
    return planned.rows.unit.max_rows + int(radius)


class _Once:
    """Adds noise to the numbers of all groups once, and returns the same noisy numbers later.

    It stores noisy numbers only. Numbers with equal identities come from one column of one result,
    so every call has the same true numbers in the same order.
    """

    def __init__(self, add: AddNoise) -> None:
        self._add = add
        self._noisy: list[int] | None = None

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        if self._noisy is None:
            self._noisy = self._add(numbers)
        if len(self._noisy) != len(numbers):
            raise TypeError("queries that share a number must have the same groups")
        return self._noisy


def _make_adder(
    number: ReleasedNumber,
    mechanism: AnyMechanism,
    rows: dict[int, JointRows],
    tape: Tape | None,
) -> AddNoise:
    """Return the function that adds noise to true numbers, which are given in steps.

    For a selection, return the mechanism, which selects a candidate by the true errors of all. The
    numbers of joint noise share the entry of their mechanism in ``rows``, by its id.
    """
    if isinstance(mechanism, JointPart):
        owner = mechanism.owner
        joint = rows.setdefault(id(owner), owner.start_rows(tape))
        return partial(joint.add_noise_to_steps, mechanism.place, step=number.step)
    if isinstance(mechanism, PermuteAndFlip):
        return mechanism if tape is None else replace(mechanism, tape=tape)
    return partial(mechanism.releaser.add_noise_to_steps, step=number.step, tape=tape)
