"""A row of a comparison, and how it prints.

One noise of a comparison: what it costs and what it tells.

A comparison as a table of plain text, or of HTML: costs rounded up, the lower bound down.
"""

import math
import textwrap
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from leastnoise.calibration import Problem
from leastnoise.certificate import CLASSES
from leastnoise.core.exact import as_float, format_exact, format_ratio, format_rounded
from leastnoise.core.noise import Noise, Rounded, Smooth
from leastnoise.mechanism import Mechanism, farthest, half_width, proving
from leastnoise.planning.closed_forms import MOST_RELEASES

if TYPE_CHECKING:
    from leastnoise.planning.comparison import Comparison


USUAL = Fraction(19, 20)


@dataclass(frozen=True, slots=True)
class Contender:
    """A noise that keeps the promise of a comparison.

    Attributes:
        family: Its name: ``"least"`` for what calibrate finds without one.
        noise: The law as its theorem has it, on the line or on the integers.
        cost: The expected cost of one answer: exact or a proved upper bound.
        ratio: How many times the lower bound that is; ``math.inf`` where the bound is 0.
        radius: No error of what is drawn is larger, rounding included; ``math.inf`` where there
            is no largest.
        half_width: 95 % of what is drawn stays within this, rounding included.
        impossible: With this probability, at the most, an output proves outright that the true
            answer is not a neighbour's (:attr:`leastnoise.Profile.impossible`, as drawn).
        exact_probability: With this probability the exact value leaves
            (:attr:`leastnoise.Mechanism.exact_probability`).
        mechanism: What releases each answer; None for Gaussian noise that several releases share,
            for it keeps the promise of all of them and none of its own is stated.
    """

    family: str
    noise: Noise
    cost: Fraction
    ratio: Fraction | float
    radius: Fraction | float
    half_width: Fraction
    impossible: Fraction
    exact_probability: Fraction
    mechanism: Mechanism | None

    @classmethod
    def of(cls, family: str, mechanism: Mechanism, bound: Fraction) -> "Contender":
        """Ask a mechanism for all that is compared."""
        return cls(
            family=family,
            noise=mechanism.noise,
            cost=mechanism.cost,
            ratio=_times(mechanism.cost, bound),
            radius=farthest(mechanism),
            half_width=half_width(mechanism, USUAL),
            impossible=proving(mechanism),
            exact_probability=mechanism.exact_probability,
            mechanism=mechanism,
        )

    @classmethod
    def shared(cls, family: str, noise: Smooth, problem: Problem, bound: Fraction) -> "Contender":
        """Return a Gaussian noise that several releases share, each moved by Δ.

        It is drawn on the lattice of Δ: rounded there, each answer moves by whole steps, and the
        noise is stretched as much as that move is longer than Δ.
        """
        law: Noise = noise
        if problem.integer:
            law = drawn = Rounded(Fraction(1), noise)
        else:
            drawn = noise.discretize(problem.sensitivity)
        cost = law.expected(problem.cost)
        rounding = Fraction(0) if problem.integer else drawn.step / 2
        return cls(
            family=family,
            noise=law,
            cost=cost,
            ratio=_times(cost, bound),
            radius=math.inf,
            half_width=drawn.within(USUAL) * drawn.step + rounding,
            impossible=Fraction(0),  # it has no largest size
            exact_probability=drawn.weight(0) if problem.integer else Fraction(0),
            mechanism=None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON: exact numbers as texts, and the cost as a float beside."""
        return {
            "family": self.family,
            "noise": repr(self.noise),
            "cost": format_ratio(self.cost),
            "cost_float": as_float(self.cost) if math.isfinite(as_float(self.cost)) else None,
            "ratio": None if isinstance(self.ratio, float) else format_ratio(self.ratio),
            "radius": None if isinstance(self.radius, float) else format_ratio(self.radius),
            "half_width_95": format_ratio(self.half_width),
            "impossible": format_ratio(self.impossible),
            "exact_probability": format_ratio(self.exact_probability),
        }


def _times(cost: Fraction, bound: Fraction) -> Fraction | float:
    if bound > 0:
        return cost / bound
    return Fraction(1) if cost <= bound else math.inf


# Name of the column, and what stands in it.
COLUMNS = {
    "noise": "",
    "cost": "expected cost of one answer",
    "× bound": "how many times the lower bound",
    "95 % within": "95 % of the errors are no larger",
    "all within": "no error is larger",
    "proves": "probability of an output that proves which neighbour it was",
    "exact": "probability that the exact value leaves",
}
_NEVER = "–"
_WIDTH = 88
# More than the enclosures of irrational costs are wide: what is no further above the bound is 1.
_ROUNDING = Fraction(1, 1 << 60)


def as_text(comparison: "Comparison") -> str:
    """Return an aligned table with what belongs to it above and below."""
    cells = [list(COLUMNS), *(_cells(row) for row in comparison)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
    lines = [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    notes = [line for note in _notes(comparison) for line in _wrapped(note)]
    return "\n".join([*_wrapped(_title(comparison)), "", *lines, "", *notes])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=False)


def as_html(comparison: "Comparison") -> str:
    """Return the same as HTML; everything in it is escaped."""
    head = "".join(
        f"<th title='{escape(meaning)}'>{escape(name)}</th>" for name, meaning in COLUMNS.items()
    )
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(row)) + "</tr>"
        for row in comparison
    )
    notes = "".join(f"<div>{escape(note)}</div>" for note in _notes(comparison))
    caption = f"<caption>{escape(_title(comparison))}</caption>"
    means = f"<p>{escape(comparison.explain())}</p>"
    return f"<table>{caption}<tr>{head}</tr>{body}</table>{notes}{means}"


def _title(comparison: "Comparison") -> str:
    problem = comparison.asked
    kind = "whole-number answer" if problem.integer else "answer"
    many = comparison.releases
    words = (
        f"{many} {kind}s, each of which"
        if many > 1
        else f"{'a' if problem.integer else 'an'} {kind} that"
    )
    return (
        f"Noises that keep {problem.privacy} for {words} one person moves by up to "
        f"{format_exact(problem.sensitivity)}; cost {problem.cost!r}"
    )


def _cells(row: Contender) -> list[str]:
    radius, times = row.radius, row.ratio
    return [
        row.family,
        _up(row.cost, 6),
        _NEVER if isinstance(times, float) else _up(max(times - _ROUNDING, Fraction(1)), 5),
        f"± {_up(row.half_width, 4)}",
        _NEVER if isinstance(radius, float) else f"± {_up(radius, 6)}",
        _up(row.impossible, 3),
        _up(row.exact_probability, 3),
    ]


def _notes(comparison: "Comparison") -> list[str]:
    """Return the bound, what the columns mean, how a promise is split, and who is left out."""
    problem, many = comparison.asked, comparison.releases
    bound = format_rounded(comparison.lower_bound, 6, ROUND_FLOOR)
    notes = [f"bound: of {CLASSES[problem.among]}, none costs less than {bound}."]
    if many > 1:
        notes[0] = notes[0][:-1] + " in any one release, even under the whole promise."
    notes += [f"{name}: {meaning}." for name, meaning in COLUMNS.items() if name in _TOLD]
    if many > 1:
        shared = f"; Gaussian noises share it exactly, as one moved by √{many}·Δ"
        shared = shared if problem.privacy.delta else ""
        notes.append(
            f"{many} releases: each promises {comparison.each}, and all of them together "
            f"{problem.privacy}{shared}. What an answer proves, and its errors, are of one answer."
        )
        notes.append(_overtaking(comparison.overtaking))
    return [*notes, *(f"not {name}: {why}." for name, why in comparison.refused.items())]


_TOLD = ("proves", "exact")


def _overtaking(first: int | None) -> str:
    if first is None:
        return (
            "many releases: the Gaussian is the cheapest closed form for no number of them up to "
            f"{MOST_RELEASES}."
        )
    if first == 1:
        return "many releases: the Gaussian is the cheapest closed form already for one."
    return f"many releases: the Gaussian overtakes the other closed forms at k = {first}."


def _up(number: Fraction, digits: int) -> str:
    return format_rounded(number, digits, ROUND_CEILING)
