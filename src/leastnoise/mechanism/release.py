"""The one place where a true value meets noise.

Everything is checked before a bit is drawn, and the true value is a local variable of the
functions below: nothing else holds it, prints it or raises with it.
"""

from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter
from leastnoise.exact import Grid, value_ratio
from leastnoise.mechanism.columns import Form, numbers_of
from leastnoise.noise import DiscretePlanarStaircase, LatticeNoise
from leastnoise.sampling.draws import draw
from leastnoise.sampling.entropy import CipherTape, SystemTape
from leastnoise.sampling.planar import draw_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray


def release_one(value: object, grid: Grid, law: LatticeNoise, *, integer: bool) -> int:
    """Return the index of a released value: the true value's lattice point plus noise."""
    numerator, denominator = value_ratio(value)
    if integer and denominator != 1:
        raise InvalidParameter(
            "with integer=True the value to release must be a whole number; "
            f"got one of type {type(value).__name__} that is not. Leave out integer=True."
        )
    return grid.index(numerator, denominator) + draw(law, SystemTape())


def release_pair(values: object, grid: Grid, law: DiscretePlanarStaircase) -> tuple[int, int]:
    """Return the indices of two released values: each true value's lattice point plus noise."""
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise InvalidParameter(
            "a pair to release must be a tuple or a list of two numbers; "
            f"got one of type {type(values).__name__} that is not. Give (x, y)."
        )
    first, second = (grid.index(*value_ratio(value)) for value in values)
    i, j = draw_pair(law, SystemTape())
    return first + i, second + j


def release_many(
    values: "NDArray[Any]", grid: Grid, law: LatticeNoise, *, integer: bool
) -> "NDArray[Any]":
    """Return the released values of an array, element by element, in its shape."""
    from leastnoise.mechanism.arrays import released  # numpy, on first use

    return released(values, grid, law, CipherTape, integer=integer)


def release_column(
    column: object, form: Form, grid: Grid, law: LatticeNoise, *, integer: bool
) -> "NDArray[Any]":
    """Return the released values of a column, element by element, as an array."""
    from leastnoise.mechanism.arrays import released  # numpy, on first use

    numbers = numbers_of(column, form)
    return released(numbers, grid, law, CipherTape, integer=integer, what="a column")
