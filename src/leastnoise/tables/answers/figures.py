"""The figures of many answers, exactly: what tables print and export, a million of them in seconds.

How far a noise reaches is worked out once for each noise, and all else in whole numbers.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import Any

from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import Answer, Mechanism, farthest, half_width
from leastnoise.tables.answers.mean import (
    USUAL,
    MeanAnswer,
    MeanRanges,
    Ratio,
    Reach,
    largest,
    reaching,
)
from leastnoise.tables.answers.quantile import QuantileAnswer

One = Answer | MeanAnswer | QuantileAnswer
# What belongs to one answer, in the order of its columns; None for an error without a largest.
Figures = tuple[Ratio | None, ...]


def kind_of(answers: Sequence[One]) -> type:
    """Return which kind of answers these are: one; of none at all, numbers."""
    kinds = set(map(type, answers))
    if len(kinds) > 1 or not kinds <= _COLUMNS.keys():
        raise InvalidParameter(
            "the answers of a table must be numbers, or means, or quantiles; got "
            f"{' and '.join(sorted(kind.__name__ for kind in kinds))}. Make a table for each kind."
        )
    return kinds.pop() if kinds else Answer


def columns_of(answers: Sequence[One]) -> tuple[str, ...]:
    """Return the names of the columns that :func:`figures_of` fills.

    ``low`` and ``high`` are the interval of 95 %; ``bound`` is the error that is never exceeded, of
    a quantile in rows, as ``rank_error`` (95 %) is. ``cell_low`` and ``cell_high`` are where a
    quantile's cell begins and ends, of which no confidence is said.
    """
    return _COLUMNS[kind_of(answers)]


def confident_columns(answers: Sequence[One]) -> list[str]:
    """Return the names of the columns of which 95 % is said."""
    return [RANK_ERROR] if kind_of(answers) is QuantileAnswer else [LOW, HIGH]


def whole_columns(answers: Sequence[One]) -> set[str]:
    """Return the names of the columns that hold whole numbers, whatever was drawn."""
    kind = kind_of(answers)
    if kind is MeanAnswer:
        sums = mechanisms_of([one.sum for one in answers if isinstance(one, MeanAnswer)])
        return {COUNT, *([SUM] if all(one.integer for one in sums) else [])}
    whole = kind is Answer and all(one.integer for one in mechanisms_of(answers))
    return set(_COLUMNS[Answer]) if whole else set()


def mechanisms_of(answers: Sequence[One]) -> list[Mechanism]:
    """Return the mechanisms that released numbers, each once: of means those of both parts."""
    if answers and isinstance(answers[0], MeanAnswer):
        parts = [part for one in answers if isinstance(one, MeanAnswer) for part in _parts(one)]
        return mechanisms_of(parts)
    found = {id(made): made for made in map(attrgetter("mechanism"), answers)}
    return list(found.values())


def _parts(one: MeanAnswer) -> tuple[Answer, Answer]:
    return one.count, one.sum


def figures_of(answers: Sequence[One]) -> Iterator[Figures]:
    """Go through the figures of answers of one kind."""
    each: dict[type, Callable[[Any], Iterator[Figures]]] = {
        Answer: _numbers,
        MeanAnswer: _means,
        QuantileAnswer: _quantiles,
    }
    return each[kind_of(answers)](answers)


def _numbers(answers: Sequence[Answer]) -> Iterator[Figures]:
    known: dict[int, tuple[int, int, int, Ratio | None]] = {}
    for one in answers:
        mechanism = one.mechanism
        found = known.get(id(mechanism))
        if found is None:
            found = known[id(mechanism)] = _reach(mechanism)
        step, scale, reach, bound = found
        value = one.index * step
        yield (value, scale), (value - reach, scale), (value + reach, scale), bound


def _reach(mechanism: Mechanism) -> tuple[int, int, int, Ratio | None]:
    """Return the step and the half width in whole numbers of 1/scale, the scale, and the bound."""
    step, reach, bound = mechanism.drawn.step, half_width(mechanism, USUAL), farthest(mechanism)
    scale = math.lcm(step.denominator, reach.denominator)
    always = None if isinstance(bound, float) else bound.as_integer_ratio()
    return int(step * scale), scale, int(reach * scale), always


def _means(answers: Sequence[MeanAnswer]) -> Iterator[Figures]:
    reach: dict[tuple[int, int], tuple[Reach, Reach]] = {}
    before: tuple[object, ...] = ()
    for one in answers:
        count, total = one.count.mechanism, one.sum.mechanism
        # Mostly as before; comparing is quicker than hashing fractions.
        kind = id(count), id(total), one.middle, one.bounds
        if kind != before:
            if kind[:2] not in reach:
                reach[kind[:2]] = reaching(count, total, USUAL), largest(count, total)
            usually, surely = (
                MeanRanges.of(total.drawn.step, one.middle, one.bounds, far)
                for far in reach[kind[:2]]
            )
            middle = one.middle.as_integer_ratio()
            before = kind
        rows, index = one.count.index, one.sum.index
        least, most = usually.ends(rows, index)
        shift = index * usually.step, usually.scale
        value, bound = usually.value(rows, index), surely.bound(rows, index)
        yield value, least, most, bound, (rows, 1), shift, middle


def _quantiles(answers: Sequence[QuantileAnswer]) -> Iterator[Figures]:
    known: dict[object, tuple[Ratio, Ratio | None]] = {}
    for one in answers:
        kind = id(one.mechanism), one.comparisons, one.q.denominator
        found = known.get(kind)
        if found is None:
            bound = one.bound
            always = None if isinstance(bound, float) else bound.as_integer_ratio()
            found = known[kind] = one.rank_error(USUAL).as_integer_ratio(), always
        low, high = one.cell_bounds
        value = ((low + high) / 2).as_integer_ratio()
        yield value, low.as_integer_ratio(), high.as_integer_ratio(), *found


def exact(figure: Ratio | None, *, whole: bool) -> Fraction | int | None:
    """Return a figure as a number: a whole one as an int."""
    if figure is None:
        return None
    return figure[0] // figure[1] if whole else Fraction(*figure)


VALUE, LOW, HIGH, BOUND = "value", "low", "high", "bound"
# Of means: the sum is one of value − middle, so it says little without the middle.
COUNT, SUM, MIDDLE = "count", "sum_from_middle", "middle"
# Of quantiles: a cell is no interval of 95 %, so it is not called as one.
CELL_LOW, CELL_HIGH, RANK_ERROR = "cell_low", "cell_high", "rank_error"
_COLUMNS: dict[type, tuple[str, ...]] = {
    Answer: (VALUE, LOW, HIGH, BOUND),
    MeanAnswer: (VALUE, LOW, HIGH, BOUND, COUNT, SUM, MIDDLE),
    QuantileAnswer: (VALUE, CELL_LOW, CELL_HIGH, RANK_ERROR, BOUND),
}
