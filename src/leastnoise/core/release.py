"""Where a true value meets noise.

Several exact indices of one law: one by one, or with numpy where there are many.

The one place where a true value meets noise.

Everything is checked before a bit is drawn, and the true value is a local variable of the
functions below: nothing else holds it, prints it or raises with it.
"""

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import exact_ratio
from leastnoise.core.lattice import Grid
from leastnoise.core.noise import LatticeNoise
from leastnoise.core.sampling import SYSTEM, CipherTape, way
from leastnoise.errors import INTEGER, InvalidParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray


def several(law: LatticeNoise, count: int) -> list[int]:
    """Return so many independent indices, each with exactly the probability the law gives it."""
    if count >= (_MANY if "numpy" in sys.modules else _VERY_MANY):
        from leastnoise.core.arrays import draw as bulk

        if bulk.fits(law):
            return bulk.whole(law, count, SYSTEM)
    drawn = way(law)
    return [drawn(SYSTEM) for _ in range(count)]


def releaser(grid: Grid, law: LatticeNoise, *, integer: bool) -> Callable[[object], int]:
    """Return what releases one value at once: the index of its lattice point plus noise."""
    index, drawn = grid.index, way(law)

    def release(value: object) -> int:
        numerator, denominator = exact_ratio(value)
        if integer and denominator != 1:
            raise _not_whole(value)
        return index(numerator, denominator) + drawn(SYSTEM)

    return release


def releaser_of_steps(
    grid: Grid, law: LatticeNoise, step: Fraction
) -> Callable[[Sequence[int]], list[int]]:
    """Return what releases whole numbers of steps, each as :func:`releaser` does a value."""

    def release(numbers: Sequence[int]) -> list[int]:
        points, drawn = grid.indices(numbers, step), several(law, len(numbers))
        return [point + noise for point, noise in zip(points, drawn, strict=True)]

    return release


def releasing_one(
    value: object, grid: Grid, law: LatticeNoise, *, integer: bool
) -> Callable[[], int]:
    """Check one value; return what releases it, as the index of its lattice point plus noise."""
    numerator, denominator = exact_ratio(value)
    if integer and denominator != 1:
        raise _not_whole(value)
    point, drawn = grid.index(numerator, denominator), way(law)
    return lambda: point + drawn(SYSTEM)


def releasing_many(
    values: "NDArray[Any]", grid: Grid, law: LatticeNoise, *, integer: bool
) -> "Callable[[], NDArray[Any]]":
    """Check an array; return what releases it, element by element, in its shape."""
    from leastnoise.core.arrays import releasing  # numpy, on first use

    return releasing(values, grid, law, CipherTape, integer=integer)


def _not_whole(value: object) -> InvalidParameter:
    return InvalidParameter(
        "with " + INTEGER + " the value to release must be a whole number",
        got=f"one of type {type(value).__name__} that is not",
        fix="Leave out " + INTEGER + ".",
    )


# From so many on arrays take less time; and from so many on even if numpy has to be loaded for it.
# The bits are the system's in either case: to load a cipher would take more memory than a query.
_MANY, _VERY_MANY = 200, 50_000
