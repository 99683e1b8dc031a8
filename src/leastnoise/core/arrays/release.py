"""Whole arrays are rounded, moved by noise and scaled.

Releasing whole arrays: the route is chosen before any bit is drawn.

Time grows linearly with the array; memory above the result is constant. The fast routes take a
few nanoseconds an element, the exact ones a few microseconds, for smooth noises some fifty; they
are needed only where indices exceed what floats hold (δ below about 1e-9, an element beyond 2⁵⁰
steps, about 10⁹·Δ), and for short arrays of a smooth noise whose table is not made yet. The route
shows in the time it takes and in nothing else: the type of the result depends on the type of the
array and on the law. A noise without a largest size can leave the fast routes at single elements,
which are then released exactly.
"""

from __future__ import annotations

import math
import mmap
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.core.arrays import draw as bulk
from leastnoise.core.exact import as_float
from leastnoise.core.lattice import Grid
from leastnoise.core.noise import LatticeNoise
from leastnoise.core.sampling import Tape, draw
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    Floats = NDArray[np.float64]


# Floats carry 53 bits. Below 2**50 a float still has 3 bits behind the point, enough to tell on
# which side of a cell's edge a point lies for all but the few that are sent the exact way.
_LARGEST_FLOAT_INDEX = 2.0**50


def float_rounding(grid: Grid, largest: float, farthest: int) -> FloatRounding | None:
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

    def indices(self, block: Floats, out: Floats, scratch: Floats) -> None:
        """Write R of every element of ``block`` into ``out`` (whole numbers held as floats).

        A floor is never −0.0. Rounding to nearest would turn a number just below 0 into −0.0,
        whose sign could survive the noise and tell on which side of 0 the true value lies.
        """
        import numpy as np

        np.multiply(block, self.scale, out=scratch)
        np.add(scratch, 0.5 + self.doubt, out=scratch)
        np.floor(scratch, out=out)
        np.subtract(scratch, out, out=scratch)
        if scratch.min() < 2 * self.doubt:
            for place in np.flatnonzero(scratch < 2 * self.doubt).tolist():
                out[place] = self.grid.index(*float(block[place]).as_integer_ratio())

    def values(self, indices: Floats) -> None:
        """Turn indices, in place, into the floats nearest to ``index · step``.

        index · numerator is exact, for it stays below 2⁵³; dividing it by the denominator rounds
        once. So these are the floats of :meth:`Grid.nearest_float`; multiplying by a rounded step
        would not give them.
        """
        import numpy as np

        upper, lower = self.grid.step.as_integer_ratio()
        if lower & (lower - 1) == 0:  # a power of two: one exact product
            np.multiply(indices, upper / lower, out=indices)
            return
        if upper > 1:
            np.multiply(indices, float(upper), out=indices)
        np.divide(indices, float(lower), out=indices)


Array = NDArray[Any]
T = TypeVar("T")

# A part of an array that is worth a thread of its own.
_PART = 1 << 19
# Floats in a large page of memory (2 MB), and so many that malloc would ask the system for them.
_PAGE = 1 << 18
_MAPPED = 1 << 22
_LARGEST_FLOAT = sys.float_info.max


def releasing(
    values: Array,
    grid: Grid,
    law: LatticeNoise,
    new_tape: Callable[[], Tape],
    *,
    integer: bool,
    what: str = "an array",
) -> Callable[[], Array]:
    """Check an array and choose the fastest route that is exact; return what releases it.

    The released values have its shape. ``what`` is what messages call it.
    """
    flat = _flat(values, what, integer=integer)
    largest = _largest(flat, what)

    def release() -> Array:
        if integer:
            # By the types of array and law alone: what is returned must not tell where values lie.
            wide = flat.dtype.kind == "u" and flat.dtype.itemsize == 8
            fast = bulk.fits(law) and not wide
            results = (_in_integers if fast else _whole_exactly)(flat, law, new_tape())
        else:
            results = _real(flat, largest, grid, law, new_tape)
        return results.reshape(values.shape)

    return release


def _real(
    flat: Array, largest: float, grid: Grid, law: LatticeNoise, new_tape: Callable[[], Tape]
) -> Array:
    """Release real numbers, or whole ones as such."""
    # Integers are read as floats, which must hold them.
    readable = flat.dtype.kind == "f" or largest <= 1 << 53
    fast = readable and bulk.fits(law)
    rounding = float_rounding(grid, largest, bulk.reach(law)) if fast else None
    if rounding is None:
        return _exactly(flat, grid, law, new_tape())
    results = _paged(flat.size)
    # Each part has a tape of its own.
    _in_parts(
        lambda part: _in_floats(flat[part], results[part], rounding, law, new_tape()), flat.size
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


def _paged(size: int) -> Array:
    """Return room for so many floats; if they are very many, from the start of a large page on.

    The system gives large pages where they are aligned and small ones around them: half a thousand
    small ones take as long to get as all the large ones. The room is fresh from the system: what is
    left of it around the results holds zeros, not what somebody had there before.
    """
    if size < _MAPPED or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.empty(size)
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # of this process, also after a fork
    room = mmap.mmap(-1, (size // _PAGE + 2) * _PAGE * 8, flags=private)
    with suppress(OSError):  # a system may have them switched off
        room.madvise(mmap.MADV_HUGEPAGE)
    floats = np.frombuffer(room)
    start = -floats.ctypes.data // floats.itemsize % _PAGE
    return floats[start : start + size]


def _in_floats(
    flat: Array, results: Array, rounding: FloatRounding, law: LatticeNoise, tape: Tape
) -> None:
    """Round, add and scale in floats; what floats cannot decide is decided in exact numbers."""
    scratch = np.empty(min(bulk.BLOCK, flat.size))
    start = 0
    for noise, far in bulk.blocks(law, flat.size, tape, scratch):
        end = start + len(noise)
        block = flat[start:end].astype(np.float64, copy=False)
        out = results[start:end]
        rounding.indices(block, out, scratch[: len(noise)])
        np.add(out, noise, out=out)
        rounding.values(out)
        for place, index in far.items():
            moved = rounding.grid.index(*float(block[place]).as_integer_ratio()) + index
            out[place] = _nearest(rounding.grid, moved)
        start = end


def _in_integers(flat: Array, law: LatticeNoise, tape: Tape) -> Array:
    """Add whole noise to whole numbers in 64-bit integers, stopping at the ends of their range."""
    results = flat.astype(np.int64)
    start = 0
    ends = np.iinfo(np.int64)
    for noise, far in bulk.blocks(law, flat.size, tape, np.empty(min(bulk.BLOCK, flat.size))):
        part = slice(start, start + len(noise))
        results[part] = added(results[part], noise.astype(np.int64))
        for place, index in far.items():
            moved = int(flat[start + place]) + index
            results[start + place] = max(ends.min, min(ends.max, moved))
        start += len(noise)
    return results


def _exactly(flat: Array, grid: Grid, law: LatticeNoise, tape: Tape) -> Array:
    """Release element by element in exact numbers; return the nearest floats.

    Beyond the largest float, return that: it is nearer to the true value, which is a float. Where
    the noise itself reaches so far, return fractions instead; that depends on the law alone.
    """
    indices = (grid.index(*x.as_integer_ratio()) + draw(law, tape) for x in flat.tolist())
    if bulk.reach(law) * law.step < Fraction(_LARGEST_FLOAT):
        return np.fromiter((_nearest(grid, index) for index in indices), np.float64, flat.size)
    results = np.empty(flat.size, dtype=object)
    results[:] = [index * grid.step for index in indices]
    return results


def _nearest(grid: Grid, index: int) -> float:
    """Return the float nearest to a lattice point; beyond the largest float, that."""
    return max(-_LARGEST_FLOAT, min(_LARGEST_FLOAT, grid.nearest_float(index)))


def _whole_exactly(flat: Array, law: LatticeNoise, tape: Tape) -> Array:
    """Release whole numbers one by one; return Python integers of any length."""
    results = np.empty(flat.size, dtype=object)
    results[:] = [value + draw(law, tape) for value in flat.tolist()]
    return results


def _flat(values: Array, what: str, *, integer: bool) -> Array:
    """Return the array flat, or refuse it; messages name its type and never an element."""
    kinds, wanted = ("iu", "integers") if integer else ("fiu", "floats or integers")
    if values.dtype.kind not in kinds or values.dtype.itemsize > 8:
        raise InvalidParameter(
            f"{what} to release must hold {wanted} of at most 64 bits; "
            f"got one of type {values.dtype.type.__name__}. Convert it first."
        )
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidParameter(
            f"{what} to release must not be masked; got a masked array. Fill it first, by a rule "
            "that does not depend on the data."
        )
    if values.size == 0:
        raise InvalidParameter(
            f"{what} to release must have at least one element; got an empty one. "
            "Give values to release."
        )
    return np.ascontiguousarray(values).ravel()


def _largest(flat: Array, what: str) -> Any:
    """Return the largest size in the array, or refuse NaN and infinities."""
    ends = np.array(_in_parts(lambda part: (flat[part].min(), flat[part].max()), flat.size))
    lowest, highest = ends[:, 0].min().item(), ends[:, 1].max().item()  # NaN if there is one
    if not (-math.inf < lowest and highest < math.inf):
        raise InvalidParameter(
            f"{what} to release must hold finite numbers only; "
            f"got one of type {flat.dtype.type.__name__} that does not. "
            "Replace NaN and infinities by a rule."
        )
    return max(-lowest, highest)


def added(whole: NDArray[Any], shift: int | NDArray[Any]) -> NDArray[Any]:
    """Add to 64-bit integers and stop at the ends of their range instead of wrapping.

    Stopping never makes an error larger: what was there before lies within the range.
    """
    import numpy as np

    ends = np.iinfo(np.int64)
    total = whole + shift
    total = np.where((shift > 0) & (total < whole), ends.max, total)
    return np.where((shift < 0) & (total > whole), ends.min, total)
