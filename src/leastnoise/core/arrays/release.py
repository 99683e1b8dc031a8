"""Add noise to arrays: round to the lattice, add noise, scale. Only core.release uses this module.

The route is chosen before any bit is read. Time grows linearly with the array, and memory beyond
the result is constant. The fast routes take a few nanoseconds per element. The exact routes take a
few microseconds, or about fifty for smooth noise. They are needed only where floats cannot
represent the indices (δ below about 1e-9, or an element beyond 2⁵⁰ steps, about 10⁹·Δ), and for
short arrays of smooth noise whose polynomials are not built yet. The route affects the time only:
the type of the result depends on the type of the array and on the noise. Single elements of
unbounded noise can be out of range for the fast routes; these are released exactly.
"""

import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.core.arrays.draw import fits, sample_blocks
from leastnoise.core.exact import as_float
from leastnoise.core.lattice import Grid
from leastnoise.core.sampling import Scheme
from leastnoise.core.tape import Draw, Tape
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    Floats = NDArray[np.float64]

Array = NDArray[Any]
T = TypeVar("T")

# The number of elements from which on a part of an array gets its own thread.
_PART = 1 << 19
_LARGEST_FLOAT = sys.float_info.max
# Floats have 53 bits. Below 2**50 a float still has 3 bits after the point, enough to decide on
# which side of a cell's edge a point lies for all but a few points, which are decided exactly.
_LARGEST_FLOAT_INDEX = 2.0**50


def prepare_array(
    values: Array,
    grid: Grid,
    scheme: Scheme,
    new_tape: Callable[[], Tape],
    *,
    integer: bool,
    what: str = "An array",
) -> Draw[Array]:
    """Check an array and choose the fastest exact route; return the function that adds noise.

    The released values have the shape of the array. ``what`` is its name in messages. Each part of
    an array reads a tape of its own, from ``new_tape``. If the function is given a tape, all parts
    read that one in turn, so that the number of cores does not matter.
    """
    flat = _flatten(values, what, integer=integer)
    largest = _find_largest(flat, what)

    def draw(tape: Tape | None = None) -> Array:
        new, workers = (new_tape, None) if tape is None else (lambda: tape, 1)
        if integer:
            # Chosen by the types of array and noise, so that the result's type reveals no value.
            wide = flat.dtype.kind == "u" and flat.dtype.itemsize == 8
            fast = fits(scheme) and not wide
            results = (_release_integers if fast else _release_integers_exactly)(
                flat, scheme, new()
            )
        else:
            results = _release_real(flat, largest, grid, scheme, new, workers=workers)
        return results.reshape(values.shape)

    return draw


def _release_real(
    flat: Array,
    largest: float,
    grid: Grid,
    scheme: Scheme,
    new_tape: Callable[[], Tape],
    *,
    workers: int | None,
) -> Array:
    """Release real numbers, or integers as real numbers."""
    # Integers are converted to floats, which must represent them exactly.
    readable = flat.dtype.kind == "f" or largest <= 1 << 53
    fast = readable and fits(scheme)
    rounding = float_rounding(grid, largest, scheme.reach) if fast else None
    if rounding is None:
        return _release_exactly(flat, grid, scheme, new_tape())
    results = np.empty(flat.size)
    # Each part has a tape of its own.
    _work_in_parts(
        lambda part: _release_floats(flat[part], results[part], rounding, scheme, new_tape()),
        flat.size,
        workers,
    )
    return results


def _work_in_parts(work: Callable[[slice], T], size: int, workers: int | None = None) -> list[T]:
    """Work on an array part by part: a short array at once, a long one in a thread per core.

    numpy releases the lock of the interpreter, the cipher does not. This thread works on a part
    too, because starting another thread takes time.
    """
    workers = workers or min(os.cpu_count() or 1, max(1, size // _PART))
    edges = [size * i // workers for i in range(workers + 1)]
    parts = [slice(a, b) for a, b in pairwise(edges)]
    if workers == 1:
        return [work(parts[0])]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers - 1) as pool:
        later = pool.map(work, parts[1:])
        return [work(parts[0]), *later]


def _release_floats(
    flat: Array, results: Array, rounding: "FloatRounding", scheme: Scheme, tape: Tape
) -> None:
    """Round, add and scale in floats; exact numbers decide the doubtful elements."""
    start = 0
    for noise, far, scratch in sample_blocks(scheme, flat.size, tape):
        end = start + len(noise)
        block = flat[start:end].astype(np.float64, copy=False)
        out = results[start:end]
        rounding.indices(block, out, scratch)
        np.add(out, noise, out=out)
        rounding.values(out)
        for place, index in far.items():
            noisy = rounding.grid.index(*float(block[place]).as_integer_ratio()) + index
            out[place] = _round_to_float(rounding.grid, noisy)
        start = end


def _release_integers(flat: Array, scheme: Scheme, tape: Tape) -> Array:
    """Add noise to 64-bit integers, and saturate at the ends of their range."""
    results = flat.astype(np.int64)
    start = 0
    ends = np.iinfo(np.int64)
    for noise, far, _ in sample_blocks(scheme, flat.size, tape):
        part = slice(start, start + len(noise))
        results[part] = saturating_add(results[part], noise.astype(np.int64))
        for place, index in far.items():
            noisy = int(flat[start + place]) + index
            results[start + place] = max(ends.min, min(ends.max, noisy))
        start += len(noise)
    return results


def _release_exactly(flat: Array, grid: Grid, scheme: Scheme, tape: Tape) -> Array:
    """Release element by element in exact numbers; return the nearest floats.

    Beyond the largest float, return the largest float, which is nearer to the true value, itself a
    float. If the noise itself can exceed the largest float, return Fractions instead; that depends
    on the noise alone.
    """
    indices = (grid.index(*x.as_integer_ratio()) + scheme.draw(tape) for x in flat.tolist())
    if scheme.reach * grid.step < Fraction(_LARGEST_FLOAT):
        return np.fromiter(
            (_round_to_float(grid, index) for index in indices), np.float64, flat.size
        )
    results = np.empty(flat.size, dtype=object)
    results[:] = [index * grid.step for index in indices]
    return results


def _round_to_float(grid: Grid, index: int) -> float:
    """Return the float nearest to a lattice point, at most the largest float."""
    return max(-_LARGEST_FLOAT, min(_LARGEST_FLOAT, grid.nearest_float(index)))


def _release_integers_exactly(flat: Array, scheme: Scheme, tape: Tape) -> Array:
    """Release integers one by one; return Python integers of any length."""
    results = np.empty(flat.size, dtype=object)
    results[:] = [value + scheme.draw(tape) for value in flat.tolist()]
    return results


def _flatten(values: Array, what: str, *, integer: bool) -> Array:
    """Return the array flat, or reject it; messages name its type and never an element."""
    kinds, expected = ("iu", "integers") if integer else ("fiu", "floats or integers")
    if values.dtype.kind not in kinds or values.dtype.itemsize > 8:
        raise InvalidParameter(
            f"{what} to release must hold {expected} of at most 64 bits",
            got=f"one of type {values.dtype.type.__name__}",
            fix="Convert it first.",
        )
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidParameter(
            f"{what} to release must not be masked",
            got="a masked array",
            fix="Fill it first, by a rule that does not depend on the data.",
        )
    if values.size == 0:
        raise InvalidParameter(
            f"{what} to release must have at least one element",
            got="an empty one",
            fix="Pass values to release.",
        )
    return np.ascontiguousarray(values).ravel()


def _find_largest(flat: Array, what: str) -> Any:
    """Return the largest size in the array, or reject NaN and infinities."""
    ends = np.array(_work_in_parts(lambda part: (flat[part].min(), flat[part].max()), flat.size))
    lowest, highest = ends[:, 0].min().item(), ends[:, 1].max().item()  # NaN if any is
    if not (-math.inf < lowest and highest < math.inf):
        raise InvalidParameter(
            f"{what} to release must hold finite numbers only",
            got=f"one of type {flat.dtype.type.__name__} with others",
            fix="Replace NaN and infinities, by a rule that does not depend on the data.",
        )
    return max(-lowest, highest)


def saturating_add(integers: Array, shift: int | Array) -> Array:
    """Add to 64-bit integers, and saturate at the ends of their range instead of wrapping.

    Saturation never makes an error larger, because the integers themselves are within the range.
    """
    ends = np.iinfo(np.int64)
    total: Array = integers + shift
    total[(shift > 0) & (total < integers)] = ends.max
    total[(shift < 0) & (total > integers)] = ends.min
    return total


def float_rounding(grid: Grid, largest: float, farthest: int) -> "FloatRounding | None":
    """Return the fast rounding of floats up to ``largest`` in size, or None if there is none.

    ``farthest`` is the largest noise in steps. None means that floats might not represent some
    index exactly; then every element must use Grid.index.
    """
    upper, lower = grid.step.as_integer_ratio()
    scale = as_float(1 / grid.step)
    reach = largest * scale
    if not 2.0**-1000 < scale < 2.0**1000 or not reach < _LARGEST_FLOAT_INDEX:
        return None
    last = int(reach) + farthest + 2
    if math.isinf(as_float(last * grid.step)):
        return None  # a value could lie beyond the largest float
    # Powers of two scale floats exactly; only the odd parts of the step need digits.
    if _odd_part(lower) >= 1 << 53 or _odd_part(upper) * last >= 1 << 53:
        return None
    return FloatRounding(grid, scale, doubt=2.0**-51 * (reach + 1))


def _odd_part(number: int) -> int:
    return number // (number & -number)


@dataclass(frozen=True, slots=True)
class FloatRounding:
    """R for blocks of floats: floats propose, exact integers decide near an edge.

    With s = fl(1/g), the rounding error of x·s + 1/2 is at most 3·2⁻⁵³·(|x/g| + 1), and ``doubt``
    is larger. Adding it makes the error one-sided: the floor of x·s + 1/2 + doubt is R(x) unless
    the fractional part is below 2·doubt. Exactly those elements are rounded again in integers.
    """

    grid: Grid
    scale: float
    doubt: float

    def indices(self, block: "Floats", out: "Floats", scratch: "Floats") -> None:
        """Write R of every element of ``block`` into ``out`` (integers held as floats).

        A floor is never −0.0. Rounding to nearest would turn a number just below 0 into −0.0,
        whose sign could survive the noise and reveal on which side of 0 the true value lies.
        """
        np.multiply(block, self.scale, out=scratch)
        np.add(scratch, 0.5 + self.doubt, out=scratch)
        np.floor(scratch, out=out)
        np.subtract(scratch, out, out=scratch)
        if scratch.min() < 2 * self.doubt:
            for place in np.flatnonzero(scratch < 2 * self.doubt).tolist():
                out[place] = self.grid.index(*float(block[place]).as_integer_ratio())

    def values(self, indices: "Floats") -> None:
        """Turn indices, in place, into the floats nearest to ``index · step``.

        index · numerator is exact, because it is below 2⁵³, and the division by the denominator
        rounds once. So the results equal those of :meth:`Grid.nearest_float`. Multiplying by a
        rounded step would not give them.
        """
        upper, lower = self.grid.step.as_integer_ratio()
        if lower & (lower - 1) == 0:  # a power of two: one exact product
            np.multiply(indices, upper / lower, out=indices)
            return
        if upper > 1:
            np.multiply(indices, float(upper), out=indices)
        np.divide(indices, float(lower), out=indices)
