"""The claims of the paper, recomputed, with a remark if the result differs."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from leastnoise.accounting import Profile
from leastnoise.core.exact import quote
from leastnoise.costs import l1, l2
from leastnoise.errors import InvalidParameter
from leastnoise.paper import numbers
from leastnoise.paper.cited import (
    PATHS,
    truncated_laplace_over_staircase,
    truncated_laplace_ratio,
)
from leastnoise.paper.claim_type import (
    Claim,
    cite_computed_proof,
    cite_proof,
    decide,
    is_close,
    show,
)
from leastnoise.paper.float_noise import algorithm_1
from leastnoise.paper.gaussian_claims import compare_with_gaussian
from leastnoise.paper.grid_checks import (
    DELTAS,
    EXPONENTS,
    check_concentration,
)
from leastnoise.paper.other_shapes import COUNTER_EXAMPLE
from leastnoise.paper.random_checks import (
    NAMED_COSTS,
    check_equations,
    check_grid,
    check_property_1,
    search,
)
from leastnoise.paper.theorem_claims import recompute_lemmas, recompute_theorems

SMALL = Fraction(1, 10**6)


def claims() -> list[Claim]:
    """Recompute every claim of the paper that can be verified, in the order of the paper.

    >>> claims()[2].where, claims()[2].status
    ('Footnote 1', 'false')
    """
    return list(_recompute())


def claim(where: str) -> Claim:
    """Return the claim at one place of the paper.

    Raises:
        InvalidParameter: If there is no claim at that place.

    >>> claim("Property 1").evidence
    'no counterexample in 400'
    """
    for recomputed in _recompute():
        if recomputed.where == where:
            return recomputed
    raise InvalidParameter(
        "where must be the place of a claim", got=quote(where), fix="See claims()."
    )


@cache
def _recompute() -> tuple[Claim, ...]:
    parts = (
        _recompute_concentration,
        _recompute_truncated_laplace,
        _recompute_footnote,
        _recompute_readings,
        _recompute_discrete,
        _recompute_problem,
        recompute_lemmas,
        recompute_theorems,
        _recompute_floats,
        compare_with_gaussian,
    )
    return tuple(claim for part in parts for claim in part())


def _recompute_concentration() -> Iterator[Claim]:
    borders = [p / (p + 1) for p in EXPONENTS]
    result = check_grid(
        check_concentration(p, delta)
        for p in EXPONENTS
        for delta in sorted({*DELTAS, *borders, *(border + SMALL for border in borders)})
    )
    yield Claim(
        "Abstract, concentration",
        "the optimal noise for |x|ᵖ has a point mass at 0 when δ > p/(p+1) (also Section 1.1)",
        f"it has one if and only if δ > p/(p+1), at {result.checked} pairs of p and δ",
        decide(result.holds),
        cite_proof("theorem-3", result),
        "The class is symmetric unimodal noise, as the abstract states.",
    )


def _recompute_truncated_laplace() -> Iterator[Claim]:
    worst = {
        cost: max(truncated_laplace_ratio(SMALL, path(SMALL), cost) for path in PATHS.values())
        for cost in (l1, l2)
    }
    fixed = truncated_laplace_over_staircase(Fraction(1), SMALL**2, l1)
    yield Claim(
        "Section 1, truncated Laplace noise",
        "truncated Laplace noise is asymptotically optimal in various high privacy regimes",
        f"at ε = 10⁻⁶ and δ = √ε, ε and ε² it costs at most {show(worst[l1], 8)} (ℓ1) and "
        f"{show(worst[l2], 8)} (ℓ2) times a lower bound for noise of any shape",
        decide(max(worst.values()) < 1 + Fraction(1, 10**4)),
        cite_computed_proof("cited-systems"),
        "True if ε and δ tend to 0. It is not optimal if only δ does: at ε = 1 it costs "
        f"{show(fixed, 4)} times as much as the staircase (ℓ1).",
    )


def _recompute_problem() -> Iterator[Claim]:
    result = search("equations", check_equations)
    yield Claim(
        "Equations 4 and 7",
        "P(S) ≤ P(S+d) + δ for every S and every shift |d| ≤ Δ iff |P(S) − P(S+d)| ≤ δ for them",
        f"the distances at d and −d are equal, for {result.checked} random distributions",
        decide(result.holds),
        str(result),
    )
    result = search("property 1", check_property_1)
    yield Claim(
        "Property 1",
        "the cost is symmetric and non-decreasing in |x|",
        f"true of {', '.join(map(repr, NAMED_COSTS))}, at {result.checked} pairs of sizes",
        decide(result.holds),
        str(result),
    )


def _recompute_readings() -> Iterator[Claim]:
    for cost, factor in ((l1, 4), (l2, 24)):
        pure = numbers.staircase_cost(SMALL, cost)
        same = pure / numbers.least(SMALL, cost)
        fair = pure / numbers.least(numbers.equal_distance(SMALL), cost)
        yield Claim(
            f"Contributions, ε = δ → 0 ({cost})",
            "(0, δ) yields a higher utility than (ε, 0)",
            f"(ε, 0) costs {show(same)} times as much as (0, δ) at δ = ε, and {show(fair)} times "
            "as much at δ = tanh(ε/2)",
            decide(is_close(same, factor) and fair > 1, corrected=True),
            remark="δ = ε compares different guarantees: (ε, 0) implies (0, tanh(ε/2)), which is "
            "about (0, ε/2).",
        )


def _recompute_discrete() -> Iterator[Claim]:
    optimal = all(
        numbers.discrete_uniform_cost(1, Fraction(1, n), cost)
        == numbers.discrete_bound(1, Fraction(1, n), cost)
        for n in (3, 5, 101)
        for cost in (l1, l2)
    )
    yield Claim(
        "Consistency, Δ = 1",
        "discrete uniform noise is optimal for integer queries",
        "its cost is equal to a lower bound for noise of any shape at δ = 1/3, 1/5 and 1/101, for "
        "ℓ1 and ℓ2",
        decide(optimal, corrected=True),
        cite_computed_proof("integers"),
        "True at δ = 1/(2M+1). At other δ the optimal noise has less mass at its two end points, "
        "and uniform noise costs more.",
    )
    worst = max(
        numbers.discrete_uniform_cost(shift, SMALL, cost)
        / numbers.discrete_bound(shift, SMALL, cost)
        for shift in range(2, 9)
        for cost in (l1, l2)
    )
    yield Claim(
        "Consistency, Δ = 2 … 8",
        "discrete uniform noise is asymptotically optimal as δ → 0",
        f"at δ = 10⁻⁶ it costs at most {show(worst, 9)} times a lower bound for noise of any shape",
        decide(worst < 1 + Fraction(1, 10**5)),
    )


def _recompute_footnote() -> Iterator[Claim]:
    private = Profile(COUNTER_EXAMPLE, sensitivity=1).advantage
    cheaper, best = COUNTER_EXAMPLE.expected(l2), numbers.least(Fraction(1, 2), l2)
    yield Claim(
        "Footnote 1",
        "the condition that noise is unimodal can be dropped",
        f"noise with two peaks is (0, {show(private)})-private at Δ = 1 and has E X² = "
        f"{show(cheaper)}; the optimal unimodal noise has {show(best)}",
        decide(cheaper >= best or private > Fraction(1, 2)),
        cite_computed_proof("errata"),
        "False: this noise is not unimodal and costs less. Both numbers are exact, and the "
        "guarantee is verified for every shift.",
    )


def _recompute_floats() -> Iterator[Claim]:
    algorithm = algorithm_1(Fraction(1, 10), 1)
    measured = algorithm.float_distance()
    yield Claim(
        "Algorithm 1, in floats",
        "a natural and simple algorithm to generate the noise",
        f"at δ = 0.1, Δ = 1 the distance is {show(algorithm.exact_distance)} in real numbers, "
        f"{show(algorithm.lattice_distance)} as leastnoise samples it, and at least "
        f"{measured.lower_bound:.3g} in floats of 64 bits",
        decide(algorithm.lattice_distance <= algorithm.delta, corrected=True),
        f"computed; in floats by {measured.samples} outputs, with a false alarm rate of "
        f"{measured.false_alarm:g}",
        "In floats it is not private (docs/theory/algorithm-1.md). It must be computed in exact "
        "numbers.",
    )
