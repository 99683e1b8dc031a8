"""Whole arrays: rounded to the lattice, moved by noise, scaled. Only core.release asks for it.

The route is chosen before any bit is read. Time grows linearly with the array; memory above the
result is constant. The fast routes take a few nanoseconds an element, the exact ones a few
microseconds, for smooth noise some fifty; they are needed only where indices exceed what floats
hold (δ below about 1e-9, an element beyond 2⁵⁰ steps, about 10⁹·Δ), and for short arrays of smooth
noise whose polynomials are not built yet. The route shows in the time it takes and in nothing else:
the type of the result depends on the type of the array and on the noise. Unbounded noise can leave
the fast routes at single elements, which are then released exactly.
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

from leastnoise.core.arrays.draw import blocks, fits
from leastnoise.core.exact import as_float
from leastnoise.core.lattice import Grid
from leastnoise.core.sampling import Scheme, Tape
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    Floats = NDArray[np.float64]

Array = NDArray[Any]
T = TypeVar("T")

# A part of an array that is worth a thread of its own.
_PART = 1 << 19
_LARGEST_FLOAT = sys.float_info.max
# Floats carry 53 bits. Below 2**50 a float still has 3 bits behind the point, enough to tell on
# which side of a cell's edge a point lies for all but the few that are sent the exact way.
_LARGEST_FLOAT_INDEX = 2.0**50


def prepare_array(
    values: Array,
    grid: Grid,
    scheme: Scheme,
    new_tape: Callable[[], Tape],
    *,
    integer: bool,
    what: str = "an array",
) -> Callable[[], Array]:
    """Check an array and choose the fastest route that is exact; return what draws.

    The released values have its shape. ``what`` is what messages call it.
    """
    flat = _flat(values, what, integer=integer)
    largest = _largest(flat, what)

    def draw() -> Array:
        if integer:
            # By the types of array and noise alone: the result's type must not reveal any value.
            wide = flat.dtype.kind == "u" and flat.dtype.itemsize == 8
            fast = fits(scheme) and not wide
            results = (_in_integers if fast else _integers_exactly)(flat, scheme, new_tape())
        else:
            results = _real(flat, largest, grid, scheme, new_tape)
        return results.reshape(values.shape)

    return draw


def _real(
    flat: Array, largest: float, grid: Grid, scheme: Scheme, new_tape: Callable[[], Tape]
) -> Array:
    """Release real numbers, or integers as such."""
    # Integers are read as floats, which must hold them.
    readable = flat.dtype.kind == "f" or largest <= 1 << 53
    fast = readable and fits(scheme)
    rounding = float_rounding(grid, largest, scheme.reach) if fast else None
    if rounding is None:
        return _exactly(flat, grid, scheme, new_tape())
    results = np.empty(flat.size)
    # Each part has a tape of its own.
    _in_parts(
        lambda part: _in_floats(flat[part], results[part], rounding, scheme, new_tape()), flat.size
    )
    return results


def _in_parts(work: Callable[[slice], T], size: int) -> list[T]:
    """Work on an array part by part: a short one at once, a long one in a thread for each core.

    numpy lets other threads run meanwhile; the cipher does not. This thread works on a part, too,
    for starting another takes its time.
    """
    workers = min(os.cpu_count() or 1, max(1, size // _PART))
    edges = [size * i // workers for i in range(workers + 1)]
    parts = [slice(a, b) for a, b in pairwise(edges)]
    if workers == 1:
        return [work(parts[0])]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers - 1) as pool:
        others = pool.map(work, parts[1:])
        return [work(parts[0]), *others]


def _in_floats(
    flat: Array, results: Array, rounding: "FloatRounding", scheme: Scheme, tape: Tape
) -> None:
    """Round, add and scale in floats; what floats cannot decide is decided in exact numbers."""
    start = 0
    for noise, far, scratch in blocks(scheme, flat.size, tape):
        end = start + len(noise)
        block = flat[start:end].astype(np.float64, copy=False)
        out = results[start:end]
        rounding.indices(block, out, scratch)
        np.add(out, noise, out=out)
        rounding.values(out)
        for place, index in far.items():
            noisy = rounding.grid.index(*float(block[place]).as_integer_ratio()) + index
            out[place] = _nearest(rounding.grid, noisy)
        start = end


def _in_integers(flat: Array, scheme: Scheme, tape: Tape) -> Array:
    """Add noise to integers of 64 bits, stopping at the ends of their range."""
    results = flat.astype(np.int64)
    start = 0
    ends = np.iinfo(np.int64)
    for noise, far, _ in blocks(scheme, flat.size, tape):
        part = slice(start, start + len(noise))
        results[part] = saturating_add(results[part], noise.astype(np.int64))
        for place, index in far.items():
            noisy = int(flat[start + place]) + index
            results[start + place] = max(ends.min, min(ends.max, noisy))
        start += len(noise)
    return results


def _exactly(flat: Array, grid: Grid, scheme: Scheme, tape: Tape) -> Array:
    """Release element by element in exact numbers; return the nearest floats.

    Beyond the largest float, return that: it is nearer to the true value, which is a float. Where
    the noise itself reaches so far, return fractions instead; that depends on the noise alone.
    """
    indices = (grid.index(*x.as_integer_ratio()) + scheme.draw(tape) for x in flat.tolist())
    if scheme.reach * grid.step < Fraction(_LARGEST_FLOAT):
        return np.fromiter((_nearest(grid, index) for index in indices), np.float64, flat.size)
    results = np.empty(flat.size, dtype=object)
    results[:] = [index * grid.step for index in indices]
    return results


def _nearest(grid: Grid, index: int) -> float:
    """Return the float nearest to a lattice point; beyond the largest float, that."""
    return max(-_LARGEST_FLOAT, min(_LARGEST_FLOAT, grid.nearest_float(index)))


def _integers_exactly(flat: Array, scheme: Scheme, tape: Tape) -> Array:
    """Release integers one by one; return Python integers of any length."""
    results = np.empty(flat.size, dtype=object)
    results[:] = [value + scheme.draw(tape) for value in flat.tolist()]
    return results


def _flat(values: Array, what: str, *, integer: bool) -> Array:
    """Return the array flat, or reject it; messages name its type and never an element."""
    kinds, wanted = ("iu", "integers") if integer else ("fiu", "floats or integers")
    if values.dtype.kind not in kinds or values.dtype.itemsize > 8:
        raise InvalidParameter(
            f"{what} to release must hold {wanted} of at most 64 bits",
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


def _largest(flat: Array, what: str) -> Any:
    """Return the largest size in the array, or reject NaN and infinities."""
    ends = np.array(_in_parts(lambda part: (flat[part].min(), flat[part].max()), flat.size))
    lowest, highest = ends[:, 0].min().item(), ends[:, 1].max().item()  # NaN if there is one
    if not (-math.inf < lowest and highest < math.inf):
        raise InvalidParameter(
            f"{what} to release must hold finite numbers only",
            got=f"one of type {flat.dtype.type.__name__} that does not",
            fix="Replace NaN and infinities, by a rule that does not depend on the data.",
        )
    return max(-lowest, highest)


def saturating_add(integers: Array, shift: int | Array) -> Array:
    """Add to 64-bit integers and stop at the ends of their range instead of wrapping.

    Stopping never makes an error larger: what was there before lies within the range.
    """
    ends = np.iinfo(np.int64)
    total: Array = integers + shift
    total[(shift > 0) & (total < integers)] = ends.max
    total[(shift < 0) & (total > integers)] = ends.min
    return total


def float_rounding(grid: Grid, largest: float, farthest: int) -> "FloatRounding | None":
    """Return the fast rounding for floats up to ``largest`` to be moved, if there is one.

    ``farthest`` is by how many steps noise may move them. None means that some index could be
    one that floats do not hold exactly; then every element must go through Grid.index.
    """
    upper, lower = grid.step.as_integer_ratio()
    scale = as_float(1 / grid.step)
    reach = largest * scale
    if not 2.0**-1000 < scale < 2.0**1000 or not reach < _LARGEST_FLOAT_INDEX:
        return None
    last = int(reach) + farthest + 2
    if math.isinf(as_float(last * grid.step)):
        return None  # a value could lie beyond the largest float
    # Powers of two scale floats exactly; only what is odd in the step takes up digits.
    if _odd_part(lower) >= 1 << 53 or _odd_part(upper) * last >= 1 << 53:
        return None
    return FloatRounding(grid, scale, doubt=2.0**-51 * (reach + 1))


def _odd_part(number: int) -> int:
    return number // (number & -number)


@dataclass(frozen=True, slots=True)
class FloatRounding:
    """R for blocks of floats: floats propose, exact integers settle what lies near an edge.

    With s = fl(1/g), rounding puts x·s + 1/2 at most 3·2⁻⁵³·(|x/g| + 1) off; ``doubt`` is more than
    that. Adding it makes the error one-sided: the floor of x·s + 1/2 + doubt is R(x) unless the
    part behind the point is below 2·doubt. Those, and only those, are rounded again exactly.
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

        index · numerator is exact, for it stays below 2⁵³; dividing it by the denominator rounds
        once. So these are the floats of :meth:`Grid.nearest_float`; multiplying by a rounded step
        would not give them.
        """
        upper, lower = self.grid.step.as_integer_ratio()
        if lower & (lower - 1) == 0:  # a power of two: one exact product
            np.multiply(indices, upper / lower, out=indices)
            return
        if upper > 1:
            np.multiply(indices, float(upper), out=indices)
        np.divide(indices, float(lower), out=indices)
