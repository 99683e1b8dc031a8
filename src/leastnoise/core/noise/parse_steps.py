"""Read the breaks, heights and atoms that a caller gives for a density in steps."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any

from leastnoise.core.exact import Number, format_exact, parse_rational, quote
from leastnoise.errors import InvalidParameter

# Noise of more pieces is better given as cells of a lattice.
_LONGEST = 100_000


def parse_list(numbers: Iterable[Number], name: str, each: str) -> tuple[Fraction, ...]:
    """Return a list of numbers, exactly; ``each`` is what one of them is called."""
    if isinstance(numbers, str | bytes) or not isinstance(numbers, Iterable):
        raise InvalidParameter(
            f"{name} must be a list of numbers",
            got=quote(numbers),
            fix="Give for instance [-1, 1].",
        )
    read = tuple(parse_rational(number, each) for number in islice(numbers, _LONGEST + 1))
    if len(read) > _LONGEST:
        raise InvalidParameter(
            f"there can be at most {_LONGEST} {name}", got="more", fix="Give a coarser law."
        )
    return read


def parse_atoms(atoms: Mapping[Any, Number] | None) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the atoms of positive probability by place, exactly."""
    if not isinstance(atoms, Mapping | None):
        raise InvalidParameter(
            "atoms must be a dictionary from places to probabilities",
            got=quote(atoms),
            fix="Give for instance {0: '0.25'}.",
        )
    read: dict[Fraction, Fraction] = {}
    for place, mass in (atoms or {}).items():
        where, weight = (
            parse_rational(place, "the place of an atom"),
            parse_rational(mass, "an atom"),
        )
        if not 0 <= weight <= 1:
            raise InvalidParameter(
                "an atom must be a probability",
                got=f"{quote(mass)} at {format_exact(where)}",
                fix="Give a number from 0 to 1.",
            )
        if where in read:
            raise InvalidParameter(
                "each place can have one atom",
                got=f"two at {format_exact(where)}",
                fix="Add them up.",
            )
        read[where] = weight
    return tuple(sorted((x, m) for x, m in read.items() if m))


def check_distribution(
    breaks: tuple[Fraction, ...],
    heights: tuple[Fraction, ...],
    points: tuple[tuple[Fraction, Fraction], ...],
) -> None:
    """Reject breaks, heights and atoms that make no probability distribution, naming which."""
    if len(breaks) != len(heights) + 1 and (breaks or heights):
        raise InvalidParameter(
            "there must be one break more than heights",
            got=f"{len(breaks)} breaks and {len(heights)} heights",
            fix="Give both ends of every piece.",
        )
    for before, after in pairwise(breaks):
        if after <= before:
            how = "repeated" if after == before else "not in order"
            raise InvalidParameter(
                "breaks must rise",
                got=f"{format_exact(after)} after {format_exact(before)}, which is {how}",
                fix="Sort them and give each once.",
            )
    for (a, b), height in zip(pairwise(breaks), heights, strict=True):
        if height < 0:
            raise InvalidParameter(
                "a density must not be negative",
                got=f"{format_exact(height)} between {format_exact(a)} and {format_exact(b)}",
                fix="Give heights of at least 0.",
            )
    total = sum(
        (h * (b - a) for (a, b), h in zip(pairwise(breaks), heights, strict=True)), Fraction(0)
    ) + sum(m for _, m in points)
    if total != 1:
        raise InvalidParameter(
            "the masses of a law must add up to exactly 1",
            got=format_exact(total),
            fix="Write thirds as '1/3', for 0.333 is another number.",
        )
