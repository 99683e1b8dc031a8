"""``compare``: all noise that satisfies a guarantee, cheapest first."""

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property

from leastnoise.calibration import (
    FAMILIES,
    Effort,
    Problem,
    parse_effort,
    parse_sensitivity,
    parse_shape,
)
from leastnoise.certificate import CLASSES, SHAPE_WORDS, CanonicalBound
from leastnoise.core.basic_composition import split_evenly
from leastnoise.core.exact import (
    Number,
    as_float,
    format_exact,
    format_ratio,
    format_rounded,
    parse_count,
    quote,
)
from leastnoise.core.lattice import rounding_error
from leastnoise.core.noise import Noise, Smooth
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.costs import Cost, l1
from leastnoise.deprecation import RenamedAttribute, renamed_arguments, warn_deprecated
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.ledger import privacy_to_json
from leastnoise.mechanism import (
    Mechanism,
    calibrate_problem,
    farthest,
    half_width,
    revealing_probability,
)
from leastnoise.planning.closed_forms import (
    MOST_RELEASES,
    discretize_shared,
    find_continuous,
    find_first_count,
    is_gaussian_cheapest,
    problem_per_release,
)
from leastnoise.planning.numeric_query import DEFAULT_CONFIDENCE
from leastnoise.planning.repeated_bound import bound_of_counts
from leastnoise.rendering import Fact, html_report, report

CERTIFIED = "certified"
_STORED = {CERTIFIED: "least"}  # what files call it, as up to 0.5.0
# Columns of the table after the cost, and what they mean.
_COLUMNS = {
    "× bound": "the cost as a multiple of the lower bound",
    "95% within": "95% of the errors are at most this large",
    "max error": "no error is larger",
    "P(reveal)": "highest probability of an output that reveals with certainty whether the person "
    "is in the data (at most δ)",
    "P(exact)": "probability that the release equals the exact answer",
}
_COSTS = {"l1": "E|error|", "l2": "E error²"}
# Wider than the enclosures of irrational costs: a ratio that exceeds 1 by less is printed as 1.
_ROUNDING = Fraction(1, 1 << 60)


@renamed_arguments(among="shape")
def compare(
    privacy: Privacy,
    *,
    sensitivity: Number,
    cost: Cost = l1,
    integer: bool = False,
    shape: str = "unimodal",
    releases: int | str = 1,
    solve: bool = True,
    gap: Number = Fraction(1, 1000),
    seconds: Number = 10,
) -> "Comparison":
    """Compare all noise that satisfies a guarantee, cheapest first.

    Args:
        privacy: The guarantee for all releases together.
        sensitivity: Δ, how much one person can change each true answer.
        cost: The cost of an error. Default: ``l1``, |error|.
        integer: Whether true answers are integers. Default: False.
        shape: The class of noise: ``"unimodal"`` for symmetric unimodal noise, or ``"any"``.
            Default: ``"unimodal"``.
        releases: The number k of answers that share the guarantee, all with equal noise. Each
            satisfies (ε/k, 1 − (1−δ)^(1/k)); Gaussian noise is accounted for exactly, as one
            Gaussian release of sensitivity √k·Δ. Default: 1.
        solve: Whether to include the noise that :func:`calibrate` finds and certifies, as
            ``"certified"``. If False, only closed forms are compared, at once. Default: True.
        gap: The accepted gap of the solver, as for :func:`calibrate`. Default: 1/1000.
        seconds: The time limit of the solver. Default: 10.

    Returns:
        The noise of each family with its costs and errors, and the excluded families.

    Raises:
        InvalidParameter: If an argument is invalid, or no noise satisfies the guarantee.

    >>> comparison = compare(Privacy(delta="0.1"), sensitivity=1)
    >>> [row.family for row in comparison]
    ['certified', 'uniform', 'canonical', 'gaussian', 'laplace']
    >>> comparison.excluded["staircase"]
    'the staircase requires ε > 0'
    """
    shift = parse_sensitivity(privacy, sensitivity, cost, integer=integer)
    effort = parse_effort(solve, gap, seconds)
    problem = Problem(privacy, shift, cost, integer, parse_shape(shape))
    many = parse_count(releases, "releases", least=1)
    found, excluded = _by_family(problem, many)
    bounds = _bounds(problem)
    if solve or not found:
        try:
            found[CERTIFIED] = least = calibrate_problem(problem_per_release(problem, many), effort)
            whole = least if many == 1 else calibrate_problem(problem, effort)
            bounds.append((whole.certificate.lower_bound, whole.certificate.shape))
        except (InvalidParameter, Unsupported) as error:
            if not found:
                raise
            excluded[CERTIFIED] = error.problem
    if many > 1 and integer and shift == 1:
        bounds.append((bound_of_counts(cost, privacy, many), "any"))
    bound, bound_shape = max(bounds, key=lambda one: (one[0], one[1] == "any"))
    rows = [
        Contender.of(name, noise, bound)
        if isinstance(noise, Mechanism)
        else Contender.shared(name, noise, problem, bound)
        for name, noise in found.items()
    ]
    rows.sort(key=lambda row: (row.cost, row.family != CERTIFIED))
    return Comparison(problem, many, tuple(rows), excluded, bound, bound_shape)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Noise that satisfies one guarantee, cheapest first; built by :func:`compare`.

    It has a length and iterates over its rows; ``comparison["laplace"]`` is the row of a family.

    Attributes:
        problem: The problem, with the guarantee for all releases together.
        releases: The number of releases that share the guarantee.
        rows: The noise of each family, cheapest first.
        excluded: The reasons why other families cannot be used, by name.
        lower_bound: A proved lower bound of the cost of one release. For several counts of
            sensitivity 1 it is for equal independent noise that satisfies the total guarantee, for
            answers all of which one person can change, each up or down independently of the others
            (:mod:`leastnoise.planning.repeated_bound`). For several other answers it is for noise
            that satisfies the total guarantee in that release alone.
        bound_shape: The class that ``lower_bound`` is for, ``"unimodal"`` or ``"any"``.
    """

    problem: Problem
    releases: int
    rows: tuple["Contender", ...]
    excluded: Mapping[str, str]
    lower_bound: Fraction
    bound_shape: str = "unimodal"
    asked = RenamedAttribute[Problem]("problem")
    each = RenamedAttribute[Privacy]("per_release")
    overtaking = RenamedAttribute[int | None]("gaussian_wins_from")
    refused = RenamedAttribute[Mapping[str, str]]("excluded")

    @property
    def privacy(self) -> Privacy:
        """The guarantee for all releases together."""
        return self.problem.privacy

    @property
    def per_release(self) -> Privacy:
        """The guarantee of each release by itself, except for Gaussian noise."""
        return split_evenly(self.privacy, self.releases)

    @cached_property
    def gaussian_wins_from(self) -> int | None:
        """The number of releases from which on Gaussian noise is the cheapest closed form.

        The search up to 10⁴ doubles and bisects, so it assumes that Gaussian noise stays the
        cheapest. None if Gaussian noise never is.
        """
        if not self.privacy.delta:
            return None  # Gaussian noise requires δ > 0
        return find_first_count(lambda k: is_gaussian_cheapest(self.problem, k))

    def __iter__(self) -> "Iterator[Contender]":
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, family: str) -> "Contender":
        if family == _STORED[CERTIFIED]:
            warn_deprecated('"least"', '"certified"')
            family = CERTIFIED
        for row in self.rows:
            if row.family == family:
                return row
        if family in self.excluded:
            raise InvalidParameter(
                f"The family {family} is not in this comparison: {self.excluded[family]}",
                fix="Use a family of its rows.",
            )
        names = ", ".join(row.family for row in self.rows)
        raise InvalidParameter(
            f"family must be one of {names}", got=quote(family), fix="Use one of these names."
        )

    def explain(self, *, people: int | None = None) -> str:
        """Return the meaning of the guarantee in plain words (:meth:`Privacy.explain`).

        Args:
            people: The number of people that the data is about, if it is public. Default: unknown.
        """
        return self.privacy.explain(people=people)

    def to_dict(self) -> dict[str, object]:
        """Return the comparison for JSON, with exact numbers as strings."""
        problem = self.problem
        many = {"gaussian_overtakes_at": self.gaussian_wins_from} if self.releases > 1 else {}
        return {
            "privacy": privacy_to_json(self.privacy),
            "sensitivity": format_ratio(problem.sensitivity),
            "objective": problem.cost.stored_name,
            "integer": problem.integer,
            "among": SHAPE_WORDS[problem.shape],
            "releases": self.releases,
            "each": privacy_to_json(self.per_release),
            "lower_bound": format_ratio(self.lower_bound),
            **many,
            "rows": [row.to_dict() for row in self.rows],
            "refused": {_STORED.get(name, name): why for name, why in self.excluded.items()},
            "means": self.explain(),
        }

    def _repr_html_(self) -> str:
        meanings = {
            "noise": "",
            _cost_name(self.problem): "expected cost of one answer",
            **_COLUMNS,
        }
        return html_report(_title(self), self._cells(), _facts(self), meanings)

    def to_text(self, *more: Fact) -> str:
        """Return the table and what its columns mean, with ``more`` labelled facts at the end."""
        return report(_title(self), self._cells(), [*_facts(self), *more])

    def __str__(self) -> str:
        return self.to_text()

    def _cells(self) -> list[list[str]]:
        return [["noise", _cost_name(self.problem), *_COLUMNS], *map(_cells_of, self.rows)]

    def __repr__(self) -> str:
        names = ", ".join(row.family for row in self.rows)
        return f"Comparison({self.privacy!r}: {names})"


@dataclass(frozen=True, slots=True)
class Contender:
    """Noise of one family that satisfies the guarantee of a comparison: a row of its table.

    Attributes:
        family: The name of the family; ``"certified"`` for the noise that :func:`calibrate` finds
            without a family.
        noise: The noise distribution of the theorem: continuous, or on the integers.
        cost: The expected cost of one answer: exact, or a proved upper bound.
        ratio: The cost divided by the lower bound; ``math.inf`` if the bound is 0.
        radius: The maximum error of the discretized noise, rounding included; ``math.inf`` if the
            noise is unbounded.
        half_width: The error that 95% of releases stay within, rounding included.
        infinity_mass: The largest probability of an output that is impossible for a neighbor
            (:attr:`leastnoise.Profile.infinity_mass` of the discretized noise).
        exact_probability: The probability of an exact release
            (:attr:`leastnoise.Mechanism.exact_probability`).
        mechanism: The mechanism of each release; None for Gaussian noise that several releases
            share, because one of them does not satisfy a stated part of the total guarantee.
    """

    family: str
    noise: Noise
    cost: Fraction
    ratio: Fraction | float
    radius: Fraction | float
    half_width: Fraction
    infinity_mass: Fraction
    exact_probability: Fraction
    mechanism: Mechanism | None
    impossible = RenamedAttribute[Fraction]("infinity_mass")

    @classmethod
    def of(cls, family: str, mechanism: Mechanism, bound: Fraction) -> "Contender":
        """Return the row of a mechanism."""
        return cls(
            family=family,
            noise=mechanism.noise,
            cost=mechanism.cost,
            ratio=_times(mechanism.cost, bound),
            radius=farthest(mechanism),
            half_width=half_width(mechanism, DEFAULT_CONFIDENCE),
            infinity_mass=revealing_probability(mechanism),
            exact_probability=mechanism.exact_probability,
            mechanism=mechanism,
        )

    @classmethod
    def shared(cls, family: str, noise: Smooth, problem: Problem, bound: Fraction) -> "Contender":
        """Return the row of Gaussian noise that several releases share."""
        discretized = discretize_shared(noise, problem.sensitivity, integer=problem.integer)
        ideal = discretized if problem.integer else noise
        cost = ideal.expected(problem.cost)
        rounding = rounding_error(discretized.step, integer=problem.integer)
        return cls(
            family=family,
            noise=ideal,
            cost=cost,
            ratio=_times(cost, bound),
            radius=math.inf,
            half_width=discretized.half_width_in_steps(DEFAULT_CONFIDENCE) * discretized.step
            + rounding,
            infinity_mass=Fraction(0),  # the noise is unbounded
            exact_probability=discretized.weight(0) if problem.integer else Fraction(0),
            mechanism=None,
        )

    def to_dict(self) -> dict[str, object]:
        """Return the row for JSON, with exact numbers as strings and the cost as a float too."""
        return {
            "family": _STORED.get(self.family, self.family),
            "noise": repr(self.noise),
            "cost": format_ratio(self.cost),
            "cost_float": as_float(self.cost) if math.isfinite(as_float(self.cost)) else None,
            "ratio": None if isinstance(self.ratio, float) else format_ratio(self.ratio),
            "radius": None if isinstance(self.radius, float) else format_ratio(self.radius),
            "half_width_95": format_ratio(self.half_width),
            "impossible": format_ratio(self.infinity_mass),
            "exact_probability": format_ratio(self.exact_probability),
        }


def _times(cost: Fraction, bound: Fraction) -> Fraction | float:
    if bound > 0:
        return cost / bound
    return Fraction(1) if cost <= bound else math.inf


def _cost_name(problem: Problem) -> str:
    return _COSTS.get(repr(problem.cost), "E(cost)")


def _title(comparison: Comparison) -> list[str]:
    """Return what is compared, and the lower bound."""
    problem, many = comparison.problem, comparison.releases
    bound = format_rounded(comparison.lower_bound, 6, ROUND_FLOOR)
    cost = "" if repr(problem.cost) in _COSTS else f", cost {problem.cost!r}"
    return [
        f"Noise for {format_guarantee(problem.privacy)} at sensitivity "
        f"{format_exact(problem.sensitivity)}, "
        f"{f'{many} ' * (many > 1)}{'integer' if problem.integer else 'real'} answers{cost}",
        f"Lower bound for {_cost_name(problem)}: {bound}, among {CLASSES[comparison.bound_shape]}",
    ]


def _facts(comparison: Comparison) -> list[Fact]:
    """Return what columns mean, how the guarantee is split, and which noise is excluded."""
    facts = [(name, _COLUMNS[name]) for name in ("P(reveal)", "P(exact)")]
    if comparison.releases > 1:
        facts += _split(comparison)
    reasons = [f"{name}: {_shorten(why)}" for name, why in comparison.excluded.items()]
    return facts + list(zip(["Excluded", *[""] * len(reasons)], reasons, strict=False))


def _shorten(reason: str) -> str:
    """Return a reason without the noise that it is about, which stands before it."""
    _, requires, condition = reason.partition(" requires ")
    return f"requires {condition}" if requires else reason


def _split(comparison: Comparison) -> list[Fact]:
    """Return how several releases share the guarantee."""
    problem, many = comparison.problem, comparison.releases
    each = f"each answer satisfies {format_guarantee(comparison.per_release)}"
    if problem.privacy.delta:
        each += f"; Gaussian noise shares the guarantee, as one noise at sensitivity √{many}·Δ"
    first = comparison.gaussian_wins_from
    wins = f"the cheapest closed form from {first} releases on"
    if first is None:
        wins = f"not the cheapest closed form for up to {MOST_RELEASES} releases"
    facts = [("Split", f"{each}. Errors, P(reveal) and P(exact) are those of one answer.")]
    if problem.integer and problem.sensitivity == 1:
        bound = f"for {many} answers with equal independent noise, all of which one person can "
        facts.append(("Lower bound", f"{bound}change by 1, each up or down independently"))
    return [*facts, ("Gaussian", wins)]


def _by_family(
    problem: Problem, releases: int
) -> tuple[dict[str, Mechanism | Smooth], dict[str, str]]:
    """Return the noise of each family, and the reasons why other families have none."""
    found: dict[str, Mechanism | Smooth] = {}
    excluded: dict[str, str] = {}
    for name in FAMILIES:
        part = problem_per_release(problem, releases, name)
        try:
            if FAMILIES[name].is_gaussian and releases > 1:
                found[name] = find_continuous(name, part)
                continue
            mechanism = calibrate_problem(part, Effort(), name)
        except (InvalidParameter, Unsupported) as error:
            excluded[name] = error.problem
            continue
        if problem.shape == "unimodal" and not mechanism.noise.is_unimodal:
            excluded[name] = "its density is not unimodal"
        else:
            found[name] = mechanism
    return found, excluded


def _bounds(problem: Problem) -> list[tuple[Fraction, str]]:
    """Return the lower bounds that are known without the solver, with the classes they are for."""
    bounds = [(problem.cost.value(Fraction(0)).lower, "any")]  # the cost of no error
    with contextlib.suppress(InvalidParameter):
        evidence = CanonicalBound(integer=problem.integer)
        bound = evidence.prove(problem.cost, problem.privacy, problem.sensitivity)
        bounds.append((bound, evidence.shape))
        if not problem.privacy.epsilon:  # the optimal noise, or its bound, is known
            known = calibrate_problem(problem, Effort(solve=False))
            bounds.append((known.certificate.lower_bound, known.certificate.shape))
    return bounds


def _cells_of(row: Contender) -> list[str]:
    """Return the row's cells, costs and errors rounded up."""
    radius, times = row.radius, row.ratio
    return [
        row.family,
        _up(row.cost, 6),
        "none" if isinstance(times, float) else _up(max(times - _ROUNDING, Fraction(1)), 5),
        f"± {_up(row.half_width, 4)}",
        "none" if isinstance(radius, float) else _up(radius, 6),
        _probability(row.infinity_mass),
        _probability(row.exact_probability),
    ]


def _probability(number: Fraction) -> str:
    text = _up(number, 3)
    return f"{Decimal(text):e}" if 0 < number < Fraction(1, 1000) else text


def _up(number: Fraction, digits: int) -> str:
    return format_rounded(number, digits, ROUND_CEILING)
