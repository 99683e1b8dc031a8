"""The one place where a true value meets noise.

Everything is checked before a bit is drawn, and the true value is a local variable of the
functions below: nothing else holds it, prints it or raises with it.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter
from leastnoise.exact import Grid, value_ratio
from leastnoise.mechanism.columns import Form, numbers_of
from leastnoise.noise import DiscretePlanarStaircase, LatticeNoise
from leastnoise.sampling.draws import way
from leastnoise.sampling.entropy import SYSTEM, CipherTape
from leastnoise.sampling.planar import draw_pair
from leastnoise.sampling.several import several

if TYPE_CHECKING:
    from numpy.typing import NDArray


def releaser(grid: Grid, law: LatticeNoise, *, integer: bool) -> Callable[[object], int]:
    """Return what releases one value at once: the index of its lattice point plus noise."""
    index, drawn = grid.index, way(law)

    def release(value: object) -> int:
        numerator, denominator = value_ratio(value)
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
    numerator, denominator = value_ratio(value)
    if integer and denominator != 1:
        raise _not_whole(value)
    point, drawn = grid.index(numerator, denominator), way(law)
    return lambda: point + drawn(SYSTEM)


def releasing_pair(
    values: object, grid: Grid, law: DiscretePlanarStaircase
) -> Callable[[], tuple[int, int]]:
    """Check two values; return what releases them: their lattice points plus noise, as indices."""
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise InvalidParameter(
            "a pair to release must be a tuple or a list of two numbers; "
            f"got one of type {type(values).__name__} that is not. Give (x, y)."
        )
    first, second = (grid.index(*value_ratio(value)) for value in values)

    def release() -> tuple[int, int]:
        i, j = draw_pair(law, SYSTEM)
        return first + i, second + j

    return release


def releasing_many(
    values: "NDArray[Any]", grid: Grid, law: LatticeNoise, *, integer: bool
) -> "Callable[[], NDArray[Any]]":
    """Check an array; return what releases it, element by element, in its shape."""
    from leastnoise.mechanism.arrays import releasing  # numpy, on first use

    return releasing(values, grid, law, CipherTape, integer=integer)


def releasing_column(
    column: object, form: Form, grid: Grid, law: LatticeNoise, *, integer: bool
) -> "Callable[[], NDArray[Any]]":
    """Check a column; return what releases it, element by element, as an array."""
    from leastnoise.mechanism.arrays import releasing  # numpy, on first use

    numbers = numbers_of(column, form)
    return releasing(numbers, grid, law, CipherTape, integer=integer, what="a column")


def _not_whole(value: object) -> InvalidParameter:
    return InvalidParameter(
        "with integer=True the value to release must be a whole number; "
        f"got one of type {type(value).__name__} that is not. Leave out integer=True."
    )
