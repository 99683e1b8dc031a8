"""Figures of answers: bars or dots for categories, a line for dates and integers, and intervals."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from leastnoise.core.exact import format_exact
from leastnoise.core.privacy import format_guarantee
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import mark
from leastnoise.mechanism import Answer, ReleasedValue, format_errors, format_value
from leastnoise.plots.canvas import COLORS, apply_style, load_altair
from leastnoise.rendering import Fact, printable
from leastnoise.tables import (
    GroupedAnswers,
    TableAnswer,
    TableValue,
    format_error,
    format_part,
    interval_confidence,
    layout_of,
    picture_facts,
)

if TYPE_CHECKING:
    from altair.typing import ChartType

_WIDTH, _HEIGHT = 560, 260
# The height of a bar with its gap, and the largest number of groups that a figure shows.
_BAR, _MOST = 24, 100
# The largest number of points of a line.
_MOST_POINTS = 2000
# The width of lines of text in characters.
_TITLE, _CAPTION = 72, 98
# The longest label of a group in characters.
_LABEL = 44
# A day in milliseconds, and the number of days that each have a label.
_DAY, _FEW_DAYS = 86_400_000, 10
# A line with more points has a band of intervals in place of a rule for each point.
_BAND = 60
# Browsers count in floats, which represent these integers exactly.
_EXACT = 1 << 53
_GREY, _FILL = "#555555", "#9bafc6"
# Figures that bound a number of rows, with their labels.
_ROWS = {"rows_beyond": "Rows beyond", "rows_outside": "Rows outside each end"}
# The axis of values.
_VALUES = {"tickCount": 6, "grid": True, "gridColor": "#e5e5e5", "domain": False, "ticks": False}


class Point(NamedTuple):
    """The figures of one group, in the order of the groups."""

    group: str
    value: float
    low: float
    high: float
    place: float
    part: int = 0
    alone: bool = False


class _Words(NamedTuple):
    title: str
    axis: str
    by: str
    ends: str
    facts: list[Fact]
    marks: str = "Error bars"
    dots: bool = True


def answer(result: "GroupedAnswers[TableAnswer] | TableAnswer | Answer") -> "ChartType":
    """Draw an answer of a table, or a released number, with its confidence interval.

    Counts and sums have bars from 0, upright ones in histograms. Other answers have dots. If the
    groups are dates, timestamps or integers of one column, the figure is a line, which is
    interrupted where groups are missing. The title states the quantity, with its clipping bounds.
    The caption has the facts of the printed answer: errors, guarantee, contribution bounds, omitted
    rows and notes. A figure has the first 100 groups, a line the first 2000, and the caption says
    so.

    A quantile that was queried without ``interval=`` shows its bin in place of an interval.

    Args:
        result: An answer of a table, by groups or a single one, or a released number.

    Raises:
        InvalidParameter: If ``result`` is no such answer, or a value is beyond the range of floats.
        Unsupported: If Altair is not installed.

    >>> import leastnoise as ln
    >>> from leastnoise import plots
    >>> from leastnoise.tables import census
    >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
    >>> regions = people.count(by="region", max_groups=1, privacy=ln.Privacy("0.2", "1e-7"))
    >>> chart = plots.answer(regions)
    """
    if isinstance(result, GroupedAnswers):
        return _finish(*_draw_groups(result))
    if not isinstance(result, ReleasedValue):
        raise InvalidParameter(
            "A figure of an answer needs an answer of a table, or a released number",
            got=f"an object of type {type(result).__name__}",
            fix="Pass what a query or release() returned.",
        )
    return _finish(*_draw_single(result))


def _draw_single(result: ReleasedValue) -> tuple[Any, _Words]:
    """Draw one answer as a bar or a dot."""
    one: Any = result
    points = _read_points([""], [0], [one.to_dict()])
    if isinstance(result, TableValue):
        shown, words = one.result(), _describe(one, [one])
        error = "" if shown.error is None else f" ± {shown.error} (95% confidence)"
        words = words._replace(title=f"{words.title}: {shown.value}{error}")
    else:
        title = f"{mark(one.receipt)}release: {format_value(one)} ± {format_errors(one)[0]}"
        guarantee = ("Guarantee", format_guarantee(one.privacy))
        words = _Words(f"{title} (95% confidence)", "value", "", "95% interval", [guarantee])
    return _draw_rows(points, words, bars=isinstance(result, Answer)), words


def _draw_groups(result: "GroupedAnswers[TableAnswer]") -> tuple[Any, _Words]:
    """Draw a line, upright bars, or a bar or a dot for each group."""
    words = _describe(result, result.answers)
    if not len(result):
        words.facts.insert(0, ("Groups", "none"))
        words = words._replace(ends="")
        return _draw_rows([], words, bars=True), words
    rows: Any = result.to_dict()["rows"]
    words.facts[:0] = _summarize_errors(rows, words)
    places = _find_places(result)
    line = places is not None and len(result) > 1 and words.dots
    most = _MOST_POINTS if line else _MOST
    if len(result) > most:
        words.facts.insert(0, ("Groups", f"the first {most} of {len(result):,} are drawn"))
    names = _make_different([", ".join(map(_shorten, key)) for key in result.keys])
    points = _read_points(names, places or range(len(names)), rows)[:most]
    additive = layout_of(result.answers).additive
    if line:
        first = result.keys[0][0]
        time = 1 if isinstance(first, datetime) else _DAY
        day = time if isinstance(first, date) else 0
        words = words._replace(marks="Band") if len(points) > _BAND else words
        return _draw_line(points, words, day=day, zero=additive), words
    if additive and not result.in_order and len(result.names) == 1:
        return _draw_columns(points, words), words
    return _draw_rows(points, words, bars=additive), words


def _describe(
    result: "GroupedAnswers[TableAnswer] | TableAnswer", answers: Sequence[TableAnswer]
) -> _Words:
    """Return the words of a figure: those of the printed answer."""
    subject, names = result.subject, layout_of(answers).names
    return _Words(
        title=printable(subject.heading),
        axis=printable(subject.statistic),
        by=", ".join(map(printable, result.names)) if isinstance(result, GroupedAnswers) else "",
        ends=_name_ends(answers),
        facts=picture_facts(result),
        marks="Error bars" if interval_confidence(answers) is not None else "Bars",
        dots="lower_bound" not in names,
    )


def _summarize_errors(rows: Sequence[Any], words: _Words) -> list[Fact]:
    """Return the largest error of all groups, where the printed answer has one in each row."""
    facts = []
    if "rank_error" in rows[0]:
        most = math.ceil(max(row["rank_error"] for row in rows))
        facts.append(("Rank error", f"at most {most:,} rows in every group (95% confidence)"))
    for figure, label in _ROWS.items():
        if figure in rows[0]:
            most = max(row[figure] for row in rows)
            facts.append((label, f"at most {most:,} in every group (95% confidence)"))
    errors = [row["max_error"] for row in rows]
    if None not in errors and "Max error" not in dict(words.facts):
        facts.append(("Max error", f"at most {format_error(Fraction(max(errors)))} in every group"))
    return facts


def _name_ends(answers: Sequence[TableAnswer]) -> str:
    """Return the name of what error bars show; empty if there are none."""
    confidence = interval_confidence(answers)
    if confidence is not None:
        return f"{format_exact(confidence * 100)}% interval"
    names = layout_of(answers).names
    if "lower_bound" in names:
        return "from the lower to the upper bound"
    return "the selected bin, not an error" if "bin_low" in names else ""


def _shorten(part: int | str | date) -> str:
    """Return a part of a key as printed; a long one without its middle, as its end may differ."""
    text = str(part)
    if len(text) <= _LABEL:
        return format_part(part)
    half = _LABEL // 2
    return printable(f"{text[:half]}…{text[-half:]}")


def _find_places(result: "GroupedAnswers[TableAnswer]") -> list[float] | None:
    """Return the places of groups on an axis of numbers or times; None for categories.

    Times are milliseconds since 1970.
    """
    first = result.keys[0][0] if len(result.names) == 1 and result.keys else None
    keys: list[Any] = [key[0] for key in result.keys]
    if type(first) is int:
        return keys if max(map(abs, keys)) < _EXACT else None
    if isinstance(first, date):
        times = (time if isinstance(time, datetime) else _start_of(time) for time in keys)
        return [time.replace(tzinfo=UTC).timestamp() * 1000 for time in times]
    return None


def _start_of(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _read_points(names: Sequence[str], places: Sequence[float], rows: Sequence[Any]) -> list[Point]:
    points = []
    for name, place, row in zip(names, places, rows, strict=True):
        value = row["value"]
        low, high = (_find_end(row, end) for end in ("low", "high"))
        if None in (value, low, high):
            raise InvalidParameter(
                "A figure needs values within the range of floats",
                got="a value beyond it",
                fix="Use to_dict(), which is exact.",
            )
        points.append(Point(name, value, low, high, place))
    return points


def _find_end(row: Mapping[str, Any], end: str) -> Any:
    """Return an end of what is drawn around a value: an interval, a bin or bounds."""
    wide = {"low": "lower_bound", "high": "upper_bound"}
    return next((row[name] for name in (end, f"bin_{end}", wide[end]) if name in row), row["value"])


def _make_different(names: Sequence[str]) -> list[str]:
    """Return names of which no two are equal: shortened keys can be, and differ invisibly."""
    seen: dict[str, int] = {}
    different = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        different.append(name + "\u200b" * (seen[name] - 1))
    return different


def _split_line(points: Sequence[Point]) -> list[Point]:
    """Return the points with the number of their part of the line, and whether it is one point.

    A part ends where at least one group is missing: the next place is at least twice as far as the
    nearest two places are. Months have 28 to 31 days, so their distances differ by less.
    """
    gaps = [after.place - before.place for before, after in pairwise(points)]
    ends = [True, *(gap >= 2 * min(gaps) for gap in gaps), True]
    parts = accumulate(map(int, ends[:-1]))
    return [
        point._replace(part=part, alone=before and after)
        for point, part, (before, after) in zip(points, parts, pairwise(ends), strict=True)
    ]


def _make_chart(points: Sequence[Point]) -> Any:
    alt = load_altair()
    return alt.Chart(alt.Data(values=[point._asdict() for point in points]))


def _draw_rows(points: Sequence[Point], words: _Words, *, bars: bool) -> Any:
    """Draw a bar or a dot for each group, from top to bottom."""
    alt = load_altair()
    axis = alt.Axis(
        labelLimit=320,
        ticks=False,
        domain=not bars,
        labelPadding=6,
        titleAngle=0,  # above the labels: they can be of any length
        titleAlign="right",
        titleX=-6,
        titleY=-8,
    )
    base = _make_chart(points).encode(
        y=alt.Y("group:N", sort=None, title=words.by or None, axis=axis),
        tooltip=_list_tooltips(words),
    )
    place = "value:Q" if words.dots else "low:Q"
    x = alt.X(place, title=words.axis, scale=alt.Scale(zero=bars), axis=_VALUES)
    layers = []
    if bars:
        layers.append(base.mark_bar(color=_FILL, height={"band": 0.7}).encode(x=x))
    elif words.dots:
        dots = base.mark_point(color=COLORS[0], filled=True, size=60, opacity=1)
        layers.append(dots.encode(x=x))
    if words.ends:
        rules = base.mark_rule(color=COLORS[0], strokeWidth=1.5)
        layers.append(rules.encode(x="low:Q" if words.dots else x, x2="high:Q"))
        layers += [_draw_cap(base, upright=True).encode(x=f"{end}:Q") for end in ("low", "high")]
    return alt.layer(*layers).properties(width=_WIDTH - 100, height=alt.Step(_BAR))


def _draw_columns(points: Sequence[Point], words: _Words) -> Any:
    """Draw the upright bars of a histogram."""
    alt = load_altair()
    axis = alt.Axis(labelAngle=0 if len(points) < 8 else -45, labelOverlap=True, ticks=False)
    base = _make_chart(points).encode(
        x=alt.X(
            "group:N", sort=None, title=words.by, axis=axis, scale=alt.Scale(paddingInner=0.04)
        ),
        tooltip=_list_tooltips(words),
    )
    y = alt.Y("value:Q", title=words.axis, axis=_VALUES)
    layers = [
        base.mark_bar(color=_FILL).encode(y=y),
        base.mark_rule(color=COLORS[0], strokeWidth=1.5).encode(y="low:Q", y2="high:Q"),
        *(_draw_cap(base).encode(y=f"{end}:Q") for end in ("low", "high")),
    ]
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)


def _draw_line(points: Sequence[Point], words: _Words, *, day: float, zero: bool) -> Any:
    """Draw a line along times or integers, with an interval at each point.

    ``day`` is the length of a day if the groups are days, 1 for other times, and 0 for integers.
    """
    alt = load_altair()
    base = _make_chart(_split_line(points)).encode(
        x=_make_order_axis(points, words.by, day), tooltip=_list_tooltips(words)
    )
    y = alt.Y("value:Q", title=words.axis, axis=_VALUES, scale=alt.Scale(zero=zero))
    part = alt.Detail("part:N")
    layers = [base.mark_line(color=COLORS[0], strokeWidth=1.5).encode(y=y, detail=part)]
    if len(points) > _BAND:
        band = base.mark_area(color=COLORS[0], opacity=0.25)
        layers.append(band.encode(y="low:Q", y2="high:Q", detail=part))
        base = base.transform_filter(alt.datum.alone)
    layers += [
        base.mark_point(color=COLORS[0], filled=True, size=30, opacity=1).encode(y=y),
        base.mark_rule(color=COLORS[0], strokeWidth=1.5).encode(y="low:Q", y2="high:Q"),
        *(_draw_cap(base, size=7).encode(y=f"{end}:Q") for end in ("low", "high")),
    ]
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)


def _make_order_axis(points: Sequence[Point], title: str, day: float) -> Any:
    alt = load_altair()
    if not day:
        axis = alt.Axis(labelOverlap=True, tickCount=8, format="d", tickMinStep=1)
        scale = alt.Scale(nice=False, padding=12, zero=False)
        return alt.X("place:Q", title=title, axis=axis, scale=scale)
    few = points[-1].place - points[0].place <= _FEW_DAYS * day
    ticks = {"tickCount": "day", "format": "%b %d"} if few and day > 1 else {"tickCount": 8}
    axis = alt.Axis(labelOverlap=True, **ticks)
    return alt.X("place:T", title=title, axis=axis, scale=alt.Scale(type="utc", padding=12))


def _draw_cap(base: Any, size: int = 10, *, upright: bool = False) -> Any:
    orient = "vertical" if upright else "horizontal"
    return base.mark_tick(color=COLORS[0], orient=orient, thickness=1.5, size=size, opacity=1)


def _list_tooltips(words: _Words) -> list[Any]:
    alt = load_altair()
    ends = [f"{end}:Q" for end in ("low", "high")] if words.ends else []
    return [alt.Tooltip("group:N", title=words.by or " "), "value:Q", *ends]


def _finish(chart: Any, words: _Words) -> "ChartType":
    """Return a figure with its title above and its facts below."""
    alt = load_altair()
    many = " of each group, taken alone" if words.by and "interval" in words.ends else ""
    known = [(words.marks, f"{words.ends}{many}")] if words.ends else []
    lines = [
        line
        for label, text in [*known, *words.facts]
        for line in textwrap.wrap(f"{label}: {text}", _CAPTION)
    ]
    caption = alt.Title(
        lines,
        orient="bottom",
        anchor="start",
        fontSize=11,
        fontWeight="normal",
        color=_GREY,
        offset=14,
    )
    title = alt.Title(textwrap.wrap(words.title, _TITLE))
    return apply_style(alt.vconcat(chart.properties(title=caption)).properties(title=title))
