"""Adding noise to the numbers that an engine returns.

True numbers are local variables of these functions and of :meth:`Query.add_noise` only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from leastnoise.core.tape import Tape
from leastnoise.errors import InvalidParameter, Words
from leastnoise.mechanism import AnyMechanism, PermuteAndFlip, as_noise
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
    noisy: dict[tuple[int, ...], NoisyResult] = {}
    for result, (planned, numbers), own in zip(results, queries, places, strict=True):
        if own in noisy:
            continue
        noise = [_make_adder(number, mechanism, tape) for number, mechanism in numbers]
        if not planned.query.makes_numbers:
            noise = [
                shared.setdefault(place, _Once(add)) for place, add in zip(own, noise, strict=True)
            ]
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
    keys = groups or tuple(sorted({row[:columns] for row in result}))
    noisy = query.add_noise(result, keys, noise, threshold)
    if threshold is None:
        return NoisyResult(keys, tuple(noisy))
    shown = [(key, own) for key, own in zip(keys, noisy, strict=True) if own]
    return NoisyResult(tuple(key for key, _ in shown), tuple(own for _, own in shown))


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


def _make_adder(number: ReleasedNumber, mechanism: AnyMechanism, tape: Tape | None) -> AddNoise:
    """Return the function that adds noise to true numbers, which are given in steps.

    For a selection, return the mechanism, which selects a candidate by the true errors of all.
    """
    if isinstance(mechanism, PermuteAndFlip):
        return mechanism if tape is None else replace(mechanism, tape=tape)
    return partial(mechanism.releaser.add_noise_to_steps, step=number.step, tape=tape)
