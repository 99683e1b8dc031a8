"""Figures of a budget: the spending of each dataset over time, against its limit."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from fractions import Fraction
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from leastnoise.core.exact import as_float, format_exact, quote
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import CHARGE, LIMIT, Accounts
from leastnoise.ledger import Row as LedgerRow
from leastnoise.plots.canvas import COLORS, Row, library, styled, titled

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger


_PARTS = {"epsilon": "ε", "delta": "δ"}
# A step that is narrower than so many parts of the time cannot be seen.
_COLUMNS = 1000
# Room to the right of the last step: a part of all the time, and milliseconds at the least; more
# where there is no step.
_ROOM = Fraction(1, 40)
# How times are written on an axis of so many milliseconds or more.
_DAY = 86_400_000
_FIGURES = (
    (4 * _DAY, "%Y-%m-%d"),
    (_DAY // 2, "%m-%d %H:%M"),
    (10_000, "%H:%M:%S"),
    (0, "%H:%M:%S.%L"),
)
# Smaller numbers are written in powers of ten.
_SMALL = Fraction(1, 1000)


class Moment(NamedTuple):
    """What an account came to at a time, in milliseconds since 1970."""

    time: int
    spent: tuple[Fraction, Fraction]
    limit: tuple[Fraction, Fraction]
    releases: int


def budget(ledger: "Ledger", *, dataset: str | None = None) -> Any:
    """Draw what was spent as steps over time, and the limit: of every data set, or of one.

    ε and δ each have a chart; one of which nothing may be spent has none. Thousands of releases
    are drawn with as many points as can be seen (:func:`thinned`).
    """
    histories = histories_of(ledger.rows())
    names = sorted(histories) if dataset is None else [dataset]
    if not set(names) <= set(histories):
        raise InvalidParameter(
            f"a data set must be one of the ledger's, {', '.join(map(repr, sorted(histories)))}, "
            f"got {quote(dataset)}. Choose one of them."
        )
    shown = [histories[name] for name in names]
    first = min(history[0].time for history in shown)
    last = max(history[-1].time for history in shown)
    least = _LEAST_ROOM if any(history[-1].releases for history in shown) else _EMPTY_ROOM
    times = first, last + max(int((last - first) * _ROOM), least)
    charts = [
        _chart(history, part, times).properties(
            title=titled(f"{_PARTS[part]} spent of {name!r}", _sum(history[-1], part))
        )
        for name, history in zip(names, shown, strict=True)
        for part in _mattering(history)
    ]
    alt = library()
    return styled(charts[0] if len(charts) == 1 else alt.vconcat(*charts, spacing=28))


def histories_of(rows: Iterable[LedgerRow]) -> dict[str, list[Moment]]:
    """Return, for each data set, what it came to after each of its charges and limits.

    A clock that was set back does not make time run backwards: a row is not before the last one.
    """
    known, histories, time = Accounts(), dict[str, list[Moment]](), 0
    for row in rows:
        known.follow(iter((row,)))
        time = max(time, round(datetime.fromisoformat(row.at).timestamp() * 1000))
        if row.kind not in (CHARGE, LIMIT):
            continue
        name = row.content["dataset"]
        there = histories.setdefault(name, [])
        count = (there[-1].releases if there else 0) + (row.kind == CHARGE)
        spent, limit = known.spent.get((name, None), _NONE), known.limits[name, None]
        there.append(Moment(time, spent, limit, count))
    return histories


_NONE = Fraction(0), Fraction(0)


def thinned(steps: list[tuple[int, Fraction]], columns: int = _COLUMNS) -> Iterator[Any]:
    """Go through the steps that can be told apart in so many columns of time.

    Each is a step of the curve at its own time and height. Of those in one column the first, the
    lowest, the highest and the last stay, so the curve is true outside the column, and within it
    goes as far up and down as it does.
    """
    begun = steps[0][0]
    width = max(1, steps[-1][0] - begun)
    for _, there in groupby(steps, key=lambda step: (step[0] - begun) * columns // width):
        column = list(enumerate(there))
        heights = [(step[1], place) for place, step in column]
        kept = {0, len(column) - 1, min(heights)[1], max(heights)[1]}
        yield from (step for place, step in column if place in kept)


def _chart(history: list[Moment], part: str, times: tuple[int, int]) -> Any:
    place = list(_PARTS).index(part)
    curves = {
        _LIMIT: [(moment.time, moment.limit[place]) for moment in history],
        _SPENT: [(moment.time, moment.spent[place]) for moment in history],
    }
    rows = [row for curve, steps in curves.items() for row in _rows(curve, steps, times[1])]
    top = max(height for steps in curves.values() for _, height in steps)
    alt = library()
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=_time(times), y=_height(top).title(_PARTS[part])
    )
    names = list(curves)
    colors = alt.Scale(domain=names, range=[COLORS[4], COLORS[0]])
    dashes = alt.Scale(domain=names, range=[[5, 4], [1, 0]])
    below = base.transform_filter(alt.datum.curve == _SPENT).mark_area(
        interpolate="step-after", color=COLORS[0], opacity=0.12
    )
    lines = base.mark_line(interpolate="step-after", strokeWidth=2).encode(
        color=alt.Color("curve:N", scale=colors, title="", sort=None),
        strokeDash=alt.StrokeDash("curve:N", scale=dashes, title="", sort=None),
        order="place:Q",
        tooltip=["curve:N", alt.Tooltip("time:T", format="%Y-%m-%d %H:%M:%S"), "value:Q"],
    )
    # The limit last, and so on top: where all is spent, both are seen.
    spent, limit = (lines.transform_filter(alt.datum.curve == name) for name in (_SPENT, _LIMIT))
    return (below + spent + limit).properties(width=560, height=200)


def _time(times: tuple[int, int]) -> Any:
    """Return the axis of time, with the day where not every label says it."""
    alt = library()
    first, last = times
    figures = next(figures for least, figures in _FIGURES if last - first >= least)
    day = datetime.fromtimestamp(first / 1000, UTC).date().isoformat()
    return alt.X(
        "time:T",
        title="time (UTC)" if "%Y" in figures else f"time (UTC), from {day}",
        scale=alt.Scale(type="utc", domain=[first, last], nice=False),
        axis=alt.Axis(format=figures, labelOverlap=True, tickCount=6),
    )


def _height(top: Fraction) -> Any:
    alt = library()
    figures = "~e" if top < _SMALL else "~g"
    zero_plain = f"datum.value == 0 ? '0' : format(datum.value, '{figures}')"
    ends = [0, as_float(top * Fraction(21, 20)) or 1.0]
    axis = alt.Axis(labelExpr=zero_plain, tickCount=5, minExtent=44, titleAngle=0)
    return alt.Y("value:Q", scale=alt.Scale(domain=ends, nice=False), axis=axis)


def _rows(curve: str, steps: list[tuple[int, Fraction]], end: int) -> list[Row]:
    """Return a curve's points in their order, the last of them at the end of the picture."""
    moving = [steps[0], *(two for one, two in pairwise(steps) if one[1] != two[1])]
    kept = [*thinned(moving), (end, steps[-1][1])]
    return [
        {"time": time, "value": as_float(height), "curve": curve, "place": place}
        for place, (time, height) in enumerate(kept)
    ]


def _mattering(history: list[Moment]) -> list[str]:
    """Return the numbers of which something may be, or was, spent; ε where there is neither."""
    found = [
        part
        for place, part in enumerate(_PARTS)
        if any(moment.limit[place] or moment.spent[place] for moment in history)
    ]
    return found or ["epsilon"]


def _sum(moment: Moment, part: str) -> str:
    place = list(_PARTS).index(part)
    count = moment.releases
    said = f"{format_exact(moment.spent[place])} of {format_exact(moment.limit[place])}"
    return f"{said} in {count} release{'s' * (count != 1)}" if count else f"{said}: no releases yet"


_LIMIT, _SPENT = "limit", "spent"
_LEAST_ROOM, _EMPTY_ROOM = 1000, 60_000
