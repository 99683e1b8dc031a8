"""``compare``: all noise that satisfies a guarantee, cheapest first."""

import contextlib
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
    format_exact,
    format_ratio,
    format_rounded,
    parse_count,
    quote,
)
from leastnoise.core.noise import Smooth
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.costs import Cost, l1
from leastnoise.deprecation import RenamedAttribute, renamed_arguments, warn_deprecated
from leastnoise.errors import InvalidParameter, Unsupported, parameter
from leastnoise.ledger import privacy_to_json
from leastnoise.mechanism import (
    Mechanism,
    calibrate_problem,
)
from leastnoise.planning.closed_forms import (
    MOST_RELEASES,
    find_continuous,
    find_first_count,
    is_gaussian_cheapest,
    problem_per_release,
)
from leastnoise.planning.contender import CERTIFIED, STORED, Contender
from leastnoise.planning.repeated_bound import bound_of_counts
from leastnoise.rendering import Fact, html_report, one_line, report

# Columns of the table after the cost, and what they mean.
_COLUMNS = {
    "× bound": "the cost as a multiple of the lower bound",
    "95% within": "95% of the errors are at most this large",
    "max error": "no error is larger",
    "P(reveal)": "probability, in the worst case, that the output reveals with certainty whether "
    "the person is in the data (at most δ)",
    "P(exact)": "probability that the release equals the exact answer",
}
_NOT_UNIMODAL = "its density is not unimodal"
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
    by_family, excluded = _by_family(problem, many)
    bounds = _bounds(problem)
    if solve or not by_family:
        try:
            per_release = problem_per_release(problem, many)
            by_family[CERTIFIED] = least = calibrate_problem(per_release, effort)
            whole = least if many == 1 else calibrate_problem(problem, effort)
            bounds.append((whole.certificate.lower_bound, whole.certificate.shape))
        except (InvalidParameter, Unsupported) as error:
            if not by_family:
                raise
            excluded[CERTIFIED] = Exclusion(error.problem, error.rule)
    if many > 1 and integer and shift == 1:
        bounds.append((bound_of_counts(cost, privacy, many), "any"))
    bound, bound_shape = max(bounds, key=lambda known: (known[0], known[1] == "any"))
    rows = [
        Contender.of(name, noise, bound)
        if isinstance(noise, Mechanism)
        else Contender.shared(name, noise, problem, bound)
        for name, noise in by_family.items()
    ]
    rows.sort(key=lambda row: (row.cost, row.family != CERTIFIED))
    return Comparison(problem, many, tuple(rows), excluded, bound, bound_shape)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why a family cannot be used for a guarantee.

    Attributes:
        reason: The reason.
        rule: The reason without the name of the noise.
    """

    reason: str
    rule: str


@dataclass(frozen=True, repr=False)
class Comparison:
    """Noise that satisfies one guarantee, cheapest first; built by :func:`compare`.

    It has a length and iterates over its rows; ``comparison["laplace"]`` is the row of a family.

    Attributes:
        problem: The problem, with the guarantee for all releases together.
        releases: The number of releases that share the guarantee.
        rows: The noise of each family, cheapest first.
        exclusions: Why other families cannot be used, by name.
        lower_bound: A proved lower bound of the cost of one release. For several counts of
            sensitivity 1 it is for equal independent noise that satisfies the total guarantee, for
            answers all of which one person can change, each up or down independently of the others
            (:mod:`leastnoise.planning.repeated_bound`). For several other answers it is for noise
            that satisfies the total guarantee in that release alone.
        bound_shape: The class that ``lower_bound`` is for, ``"unimodal"`` or ``"any"``.
    """

    problem: Problem
    releases: int
    rows: tuple[Contender, ...]
    exclusions: Mapping[str, "Exclusion"]
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
    def excluded(self) -> dict[str, str]:
        """The reasons why other families cannot be used, by name."""
        return {name: why.reason for name, why in self.exclusions.items()}

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

    def __getitem__(self, family: str) -> Contender:
        if family == STORED[CERTIFIED]:
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
            parameter("family") + f" must be one of {names}",
            got=quote(family),
            fix="Use one of these names.",
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
            "refused": {STORED.get(name, name): why for name, why in self.excluded.items()},
            "means": one_line(self.explain()),
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


def _cost_name(problem: Problem) -> str:
    return _COSTS.get(repr(problem.cost), "E(cost)")


def _title(comparison: Comparison) -> list[str]:
    """Return the title lines."""
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
    reasons = [f"{name}: {why.rule}" for name, why in comparison.exclusions.items()]
    return facts + list(zip(["Excluded", *[""] * len(reasons)], reasons, strict=False))


def _split(comparison: Comparison) -> list[Fact]:
    """Return how several releases share the guarantee."""
    problem, many = comparison.problem, comparison.releases
    each = f"each answer satisfies {format_guarantee(comparison.per_release)}"
    if problem.privacy.delta:
        each += f". Gaussian noise is calibrated once, at sensitivity √{many}·Δ"
    first = comparison.gaussian_wins_from
    wins = f"the cheapest closed form for {first} or more releases"
    if first is None:
        wins = f"not the cheapest closed form for up to {MOST_RELEASES} releases"
    facts = [("Split", f"{each}. Errors, P(reveal) and P(exact) are those of one answer.")]
    if problem.integer and problem.sensitivity == 1:
        bound = f"for {many} answers with equal independent noise, all of which one person can "
        facts.append(("Lower bound", f"{bound}change by 1, each up or down independently"))
    return [*facts, ("Gaussian", wins)]


def _by_family(
    problem: Problem, releases: int
) -> tuple[dict[str, Mechanism | Smooth], dict[str, "Exclusion"]]:
    """Return the noise of each family, and the reasons why other families have none."""
    noise: dict[str, Mechanism | Smooth] = {}
    excluded: dict[str, Exclusion] = {}
    for name in FAMILIES:
        part = problem_per_release(problem, releases, name)
        try:
            if FAMILIES[name].is_gaussian and releases > 1:
                noise[name] = find_continuous(name, part)
                continue
            mechanism = calibrate_problem(part, Effort(), name)
        except (InvalidParameter, Unsupported) as error:
            excluded[name] = Exclusion(error.problem, error.rule)
            continue
        if problem.shape == "unimodal" and not mechanism.noise.is_unimodal:
            excluded[name] = Exclusion(_NOT_UNIMODAL, _NOT_UNIMODAL)
        else:
            noise[name] = mechanism
    return noise, excluded


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
