"""The figure of a plan: the error of each answer for each option, and the chosen shares."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import as_float, format_rounded, format_short
from leastnoise.plots.canvas import COLORS, Row, apply_style, load_altair, make_title

if TYPE_CHECKING:
    from altair.typing import ChartType

    from leastnoise.planning import Plan

# The number of answers that a figure shows.
_MOST = 24
_BAR = 14
# The widths of the two parts of a figure.
_ERRORS, _SHARES = 380, 150


def plan_errors(plan: "Plan") -> "ChartType":
    """Draw the error of each answer for each option of a plan, and the share of each answer.

    The shares are those of the chosen option: of ε, or of μ² if all answers share Gaussian noise.
    Answers with joint noise have their share together. Only the first 24 answers are shown.

    Args:
        plan: The result of :func:`leastnoise.plan`.

    Raises:
        Unsupported: If Altair is not installed.

    >>> from leastnoise import NumericQuery, Privacy, plan
    >>> queries = [NumericQuery(name, sensitivity=1) for name in ("visits", "nights")]
    >>> chart = plan_errors(plan(Privacy(1), queries, solve=False))
    """
    alt = load_altair()
    names = [query.name for query in plan.queries[:_MOST]]
    rows = [row for row in plan.rows if row.cost is not None]
    errors: list[Row] = [
        {
            "answer": name,
            "option": row.name,
            "error": as_float(width),
            "label": f"± {format_rounded(width, 3)}",
        }
        for row in rows
        for name, width in zip(names, row.half_widths, strict=False)
    ]
    options = [row.name for row in rows]
    height = _BAR * len(names) * (len(options) + 1)
    answers = alt.Y("answer:N", sort=names, title=None, axis=alt.Axis(labelLimit=140))
    place = alt.YOffset("option:N", sort=options)
    base = alt.Chart(alt.Data(values=errors)).encode(y=answers, yOffset=place)
    largest = max(width for row in rows for width in row.half_widths[:_MOST])
    reach = alt.Scale(domain=[0, 1.15 * as_float(largest)], nice=False)
    x = alt.X("error:Q", title="95% error" if _usual(plan) else "error at its confidence")
    colors = alt.Scale(domain=options, range=COLORS[: len(options)])
    legend = alt.Legend(orient="bottom", title=None, symbolType="square")
    bars = base.mark_bar().encode(
        x=x.scale(reach), color=alt.Color("option:N", scale=colors, legend=legend)
    )
    labels = base.mark_text(align="left", dx=3, fontSize=11).encode(
        x=x.scale(reach), text="label:N"
    )
    left = (bars + labels).properties(width=_ERRORS, height=height)
    figure = alt.hconcat(left, _draw_shares(plan, names, height), spacing=24)
    many = len(plan) - len(names)
    more = f"; {many} more answers are not shown" if many else ""
    privacy = f"ε = {format_short(plan.privacy.epsilon)}, δ = {format_short(plan.privacy.delta)}"
    title = make_title(f"Plan for {privacy}", f"chosen: {plan.rows[0].name}{more}")
    return apply_style(figure.properties(title=title))


def _usual(plan: "Plan") -> bool:
    return all(query.confidence == Fraction(19, 20) for query in plan.queries)


def _draw_shares(plan: "Plan", names: list[str], height: int) -> Any:
    """Draw the share of the guarantee of each answer, as a bar."""
    alt = load_altair()
    what, shares = _find_shares(plan)
    rows: list[Row] = [
        {"answer": name, "share": as_float(share), "label": f"{format_rounded(100 * share, 3)}%"}
        for name, share in zip(names, shares, strict=False)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("answer:N", sort=names, title=None, axis=None),
        x=alt.X(
            "share:Q",
            title=f"share of {what}",
            scale=alt.Scale(domain=[0, 1.4], nice=False),
            axis=alt.Axis(format="%", values=[0, 0.5, 1]),
        ),
    )
    bars = base.mark_bar(color=COLORS[0], size=_BAR)
    labels = base.mark_text(align="left", dx=3, fontSize=11).encode(text="label:N")
    return (bars + labels).properties(width=_SHARES, height=height)


def _find_shares(plan: "Plan") -> tuple[str, list[Fraction]]:
    """Return what is divided, and the share of each answer."""
    if plan.rows[0].how == "shared":
        squares = [mechanism.gaussian_cost.square for mechanism in plan.mechanisms.values()]
        return "μ²", [square / sum(squares) for square in squares]
    parts, whole = plan.rows[0].guarantees, plan.privacy
    if not whole.epsilon:
        return "δ", [part.delta / whole.delta for part in parts]
    together = " (blocks together)" if plan.rows[0].how == "joint" else ""
    return f"ε{together}", [part.epsilon / whole.epsilon for part in parts]
