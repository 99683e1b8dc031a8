"""Figures of a budget: the spending of each dataset and allocation over time, with its limit."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import ROUND_CEILING
from fractions import Fraction
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from leastnoise.core.exact import as_float, format_short, quote
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.ledger import ALLOCATION, CHARGES, LIMIT, SPEND, Accounts, format_share
from leastnoise.ledger import Row as LedgerRow
from leastnoise.plots.canvas import COLORS, Row, apply_style, load_altair, make_title

if TYPE_CHECKING:
    from altair.typing import ChartType

    from leastnoise.ledger import Ledger


_PARTS = ("ε", "δ")
_ALLOCATED_PARTS = ("μ²", "γ")
# The number of columns of time that can be distinguished.
_COLUMNS = 1000
# The margin to the right of the last step, relative to the time range. Below, its minimum in
# milliseconds, which is larger if there is no release.
_ROOM = Fraction(1, 40)
# The time format of an axis by its smallest range in milliseconds.
_DAY = 86_400_000
_FIGURES = (
    (4 * _DAY, "%Y-%m-%d"),
    (_DAY // 2, "%m-%d %H:%M"),
    (10_000, "%H:%M:%S"),
    (0, "%H:%M:%S.%L"),
)
# Smaller numbers are written with an exponent.
_SMALL = Fraction(1, 1000)


# A time in milliseconds since 1970, and the height of a curve from then on.
Step = tuple[int, Fraction]


class Moment(NamedTuple):
    """The state of an account at a time, in milliseconds since 1970."""

    time: int
    spent: tuple[Fraction, Fraction]
    limit: tuple[Fraction, Fraction]
    releases: int


def budget(ledger: "Ledger", *, dataset: str | None = None) -> "ChartType":
    """Draw the spending of a ledger over time, with its limit.

    ε and δ have a chart each, for each dataset. A chart is omitted if its limit is always 0 and
    nothing was spent. An allocation counts as spent when it is made; the shares of its caps that
    its releases spend, μ² and γ, have a chart each below. Thousands of releases are reduced to as
    many points as can be seen.

    Args:
        ledger: An open ledger.
        dataset: The name of a dataset. Default: all datasets of the ledger.

    Raises:
        InvalidParameter: If the ledger has no such dataset.
        Unsupported: If Altair is not installed.

    >>> import tempfile
    >>> from leastnoise import Ledger, Privacy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Ledger(f"{folder}/people.ledger", limit=Privacy(1)) as ledger:
    ...         chart = budget(ledger)
    """
    inside = dict[tuple[str, str], list[Moment]]()
    histories = read_histories(ledger.rows(), inside)
    names = sorted(histories) if dataset is None else [dataset]
    if not set(names) <= set(histories):
        raise InvalidParameter(
            parameter("dataset") + f" must be one of {', '.join(map(repr, sorted(histories)))}",
            got=quote(dataset),
            fix="Use a dataset of this ledger.",
        )
    shown = [histories[name] for name in names]
    first = min(history[0].time for history in shown)
    last = max(history[-1].time for history in shown)
    least = _LEAST_ROOM if any(history[-1].releases for history in shown) else _EMPTY_ROOM
    times = first, last + max(int((last - first) * _ROOM), least)
    charts = []
    for name, history in zip(names, shown, strict=True):
        for place in _find_relevant_parts(history):
            title = make_title(
                f"{_PARTS[place]} spent of {name!r}", _describe_sum(history[-1], place)
            )
            charts.append(_draw_chart(history, place, _PARTS[place], times).properties(title=title))
        for (dataset_name, allocation), moments in inside.items():
            if dataset_name != name:
                continue
            for place in _find_relevant_parts(moments):
                part = _ALLOCATED_PARTS[place]
                title = make_title(
                    f"share of {part} spent of allocation {allocation!r} of {name!r}",
                    _describe_share(moments[-1], place),
                )
                charts.append(_draw_chart(moments, place, part, times).properties(title=title))
    alt = load_altair()
    return apply_style(charts[0] if len(charts) == 1 else alt.vconcat(*charts, spacing=28))


def read_histories(
    rows: Iterable[LedgerRow], inside: dict[tuple[str, str], list[Moment]] | None = None
) -> dict[str, list[Moment]]:
    """Return the state of each dataset after each of its charges and limits.

    Times never decrease: if a clock was set back, a row has the time of the row before it.

    Args:
        rows: All rows of a ledger.
        inside: A dictionary to fill with the states of allocations, by dataset and name: the shares
            of their caps that are spent.
    """
    accounts, histories, time = Accounts(), dict[str, list[Moment]](), 0
    for row in rows:
        accounts.follow(iter((row,)))
        time = max(time, round(datetime.fromisoformat(row.at).timestamp() * 1000))
        if row.kind not in (*CHARGES, ALLOCATION, LIMIT):
            continue
        name = str(row.content["dataset"])
        moments = histories.setdefault(name, [])
        count = (moments[-1].releases if moments else 0) + (row.kind in CHARGES)
        spent, limit = accounts.spent.get((name, None), _NONE), accounts.limits[name, None]
        moments.append(Moment(time, spent, limit, count))
        if inside is not None and row.kind in (ALLOCATION, SPEND):
            allocation = str(row.content["allocation" if row.kind == SPEND else "name"])
            shares = inside.setdefault((name, allocation), [])
            shares.append(_read_share(accounts, name, allocation, time, len(shares)))
    return histories


def _read_share(accounts: Accounts, dataset: str, name: str, time: int, releases: int) -> Moment:
    account = accounts.allocations.find(dataset, name)
    assert account is not None  # noqa: S101 -- for mypy: the row was checked
    spent, caps = account.spent, account.caps
    failure = (spent.failure / caps.failure, Fraction(1)) if caps.failure else _NONE
    shares = spent.square / caps.square, failure[0]
    return Moment(time, shares, (Fraction(1), failure[1]), releases)


_NONE = Fraction(0), Fraction(0)


def thin_out(steps: list[Step], columns: int = _COLUMNS) -> Iterator[Step]:
    """Yield the steps that can be distinguished in a number of columns of time.

    Each column keeps its first, lowest, highest and last step, with their times and heights. So the
    curve is exact outside the column, and has its true range within.
    """
    start = steps[0][0]
    width = max(1, steps[-1][0] - start)
    for _, group in groupby(steps, key=lambda step: (step[0] - start) * columns // width):
        column = list(enumerate(group))
        heights = [(step[1], place) for place, step in column]
        places = {0, len(column) - 1, min(heights)[1], max(heights)[1]}
        yield from (step for place, step in column if place in places)


def _draw_chart(history: list[Moment], place: int, part: str, times: tuple[int, int]) -> Any:
    curves = {
        _LIMIT: [(moment.time, moment.limit[place]) for moment in history],
        _SPENT: [(moment.time, moment.spent[place]) for moment in history],
    }
    rows = [row for curve, steps in curves.items() for row in _make_rows(curve, steps, times[1])]
    top = max(height for steps in curves.values() for _, height in steps)
    alt = load_altair()
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=_make_time_axis(times), y=_make_height_axis(top).title(part)
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
    # The limit is drawn last, on top, so that both are visible when the budget is spent.
    spent, limit = (lines.transform_filter(alt.datum.curve == name) for name in (_SPENT, _LIMIT))
    return (below + spent + limit).properties(width=560, height=200)


def _make_time_axis(times: tuple[int, int]) -> Any:
    """Return the time axis; its title has the day if the labels do not."""
    alt = load_altair()
    first, last = times
    figures = next(figures for least, figures in _FIGURES if last - first >= least)
    day = datetime.fromtimestamp(first / 1000, UTC).date().isoformat()
    return alt.X(
        "time:T",
        title="time (UTC)" if "%Y" in figures else f"time (UTC), from {day}",
        scale=alt.Scale(type="utc", domain=[first, last], nice=False),
        axis=alt.Axis(format=figures, labelOverlap=True, tickCount=6),
    )


def _make_height_axis(top: Fraction) -> Any:
    alt = load_altair()
    figures = "~e" if top < _SMALL else "~g"
    zero_plain = f"datum.value == 0 ? '0' : format(datum.value, '{figures}')"
    ends = [0, as_float(top * Fraction(21, 20)) or 1.0]
    axis = alt.Axis(labelExpr=zero_plain, tickCount=5, minExtent=44, titleAngle=0)
    return alt.Y("value:Q", scale=alt.Scale(domain=ends, nice=False), axis=axis)


def _make_rows(curve: str, steps: list[tuple[int, Fraction]], end: int) -> list[Row]:
    """Return the points of a curve in order, up to the end of the figure."""
    moving = [steps[0], *(after for before, after in pairwise(steps) if before[1] != after[1])]
    points = [*thin_out(moving), (end, steps[-1][1])]
    return [
        {"time": time, "value": as_float(height), "curve": curve, "place": place}
        for place, (time, height) in enumerate(points)
    ]


def _find_relevant_parts(history: list[Moment]) -> list[int]:
    """Return the places of the amounts that have a limit or spending; the first if none has."""
    parts = [
        place
        for place in range(len(_PARTS))
        if any(moment.limit[place] or moment.spent[place] for moment in history)
    ]
    return parts or [0]


def _describe_sum(moment: Moment, place: int) -> str:
    amounts = f"{format_short(moment.spent[place])} of {format_short(moment.limit[place])}"
    return amounts + _describe_count(moment)


def _describe_share(moment: Moment, place: int) -> str:
    return format_share(moment.spent[place], moment.limit[place], ROUND_CEILING) + _describe_count(
        moment
    )


def _describe_count(moment: Moment) -> str:
    count = moment.releases
    return f" in {count} release{'s' * (count != 1)}" if count else ": no releases yet"


_LIMIT, _SPENT = "limit", "spent"
_LEAST_ROOM, _EMPTY_ROOM = 1000, 60_000
