"""The claims of Section 5 of the paper: the comparison with Gaussian noise."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from leastnoise.costs import Cost, l1, l2
from leastnoise.paper import numbers
from leastnoise.paper.claim_type import Claim, cite_proof, decide, is_close, show
from leastnoise.paper.grid_checks import (
    DELTAS,
    FINE_DELTAS,
    SENSITIVITIES,
    check_classic_gaussian,
    check_theorem_6,
)
from leastnoise.paper.random_checks import check_grid

SMALL = Fraction(1, 10**6)
_CLASSIC_DELTAS = (SMALL, Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100))


def compare_with_gaussian() -> Iterator[Claim]:
    """Recompute the claims of Section 5, in the order of the paper."""
    result = check_grid(
        check_classic_gaussian(epsilon, delta) for epsilon in DELTAS for delta in _CLASSIC_DELTAS
    )
    yield Claim(
        "Section 5, classic Gaussian noise",
        "Gaussian noise with σ = (Δ/ε)√(2 log(1.25/δ)) is (ε, δ)-private for 0 < ε < 1, 0 < δ < 1",
        f"true at {result.checked} pairs of ε and δ",
        decide(result.holds),
        str(result),
        "Sufficient, not tight: Balle and Wang (2018), Theorem 8, has the smallest σ.",
    )
    yield _recompute_at_zero()
    distance = numbers.gaussian_distance(numbers.papers_sigma(Fraction(1, 10)))
    result = check_grid(check_theorem_6(delta, d) for delta in FINE_DELTAS for d in SENSITIVITIES)
    yield Claim(
        "Theorem 6",
        "Gaussian noise with σ = Δ/2δ is (0, δ)-private",
        f"true at {result.checked} pairs of δ and Δ; at δ = 0.1 the noise satisfies "
        f"(0, {show(distance)})",
        decide(result.holds and distance <= Fraction(1, 10)),
        cite_proof("errata", result),
        "Sufficient, not tight: σ = Δ/(2Φ⁻¹((1+δ)/2)) is enough.",
    )
    amplitude = numbers.gaussian_cost(Fraction(1), l1)
    yield Claim(
        "Section 5, amplitude",
        "E|X| of Gaussian noise is σ",
        f"E|X| is {show(amplitude)}·σ",
        decide(is_close(amplitude, 1)),
        remark="E|X| of Gaussian noise is σ√(2/π).",
    )
    for cost, table, claimed in ((l1, "Table 1", 2), (l2, "Table 2", 3)):
        yield _recompute_gain(cost, table, claimed)
    near = Fraction(999_999, 10**6)
    for cost, limit, value in ((l1, "Δ/2", Fraction(1, 2)), (l2, "Δ²/4", Fraction(1, 4))):
        tight = numbers.gaussian_cost(numbers.tight_sigma(near), cost)
        stated = numbers.gaussian_cost(numbers.papers_sigma(near), cost)
        yield Claim(
            f"Section 5, δ → 1 ({cost})",
            f"the cost of Gaussian noise tends to {limit} as δ → 1",
            f"at 1 − δ = 10⁻⁶ it costs {show(tight)} with the smallest σ, and {show(stated)} with "
            "σ = Δ/2δ",
            decide(is_close(stated, value), corrected=not is_close(tight, value)),
            remark="With the smallest σ the cost tends to 0, more slowly than 1 − δ. "
            + (
                "With σ = Δ/2δ, E|X| tends to Δ/√(2π)."
                if cost is l1
                else "With σ = Δ/2δ, as in the paper, the limit is right."
            ),
        )
    yield _recompute_vanishing_cost()
    yield _recompute_low_privacy()


def _recompute_at_zero() -> Claim:
    """Verify that σ of classic Gaussian noise is proportional to 1/ε, so that ε = 0 has none."""
    epsilons = [Fraction(1, 10**i) for i in range(1, 7)]
    products = {
        delta: [numbers.classic_sigma(epsilon, delta) * epsilon for epsilon in epsilons]
        for delta in _CLASSIC_DELTAS
    }
    grows = all(
        abs(product / constants[0] - 1) < Fraction(1, 10**9)
        for constants in products.values()
        for product in constants
    )
    largest = numbers.classic_sigma(epsilons[-1], Fraction(1, 10))
    return Claim(
        "Section 5, ε = 0",
        "classic Gaussian noise does not apply to (0, δ): at ε = 0 its σ would be infinite",
        f"ε·σ is the same at {len(epsilons)} ε down to 10⁻⁶, so σ grows without limit: at δ = 0.1 "
        f"and ε = 10⁻⁶ it is {show(largest, 4)}·Δ",
        decide(grows),
    )


def _recompute_vanishing_cost() -> Claim:
    """Verify that the optimal cost is proportional to 1 − δ in the low privacy regime."""
    constant = {l1: Fraction(1), l2: Fraction(9, 16)}
    result = check_grid(
        None if numbers.least(delta, cost) == factor * (1 - delta) else f"δ = {delta}, {cost!r}"
        for cost, factor in constant.items()
        for delta in (*FINE_DELTAS, 1 - SMALL)
        if delta >= (Fraction(1, 2) if cost is l1 else Fraction(2, 3))
    )
    return Claim(
        "Section 5, δ → 1, optimal noise",
        "the cost of the optimal noise tends to 0 in proportion to 1 − δ",
        "it is (1−δ)Δ for δ ≥ 1/2 (ℓ1) and (9/16)(1−δ)Δ² for δ ≥ 2/3 (ℓ2), exactly, at "
        f"{result.checked} δ up to 1 − 10⁻⁶",
        decide(result.holds),
        cite_proof("theorem-3", result),
    )


def _recompute_low_privacy() -> Claim:
    """Compare how the gain of the optimum over Gaussian noise changes with δ."""
    grid = [SMALL, *numbers.GRID]
    grows, shrinks, changes, larger = True, True, [], []
    for cost, name in ((l1, "ℓ1"), (l2, "ℓ2")):
        best = {delta: numbers.least(delta, cost) for delta in grid}
        # E|X| is proportional to σ, so its true value changes with δ in the same way.
        wide = [numbers.papers_sigma(d) ** (1 if cost is l1 else 2) / best[d] for d in grid]
        grows = grows and all(a <= b for a, b in pairwise(wide)) and wide[0] < wide[-1]
        tight = {d: numbers.gaussian_cost(numbers.tight_sigma(d), cost) / best[d] for d in grid}
        least = min(grid, key=tight.__getitem__)
        shrinks = shrinks and tight[least] < tight[SMALL] < tight[grid[-1]]
        changes.append(
            f"from {show(tight[SMALL], 4)} to {show(tight[least], 4)} at δ = {show(least)}, and "
            f"grows to {show(tight[grid[-1]], 4)} at δ = {show(grid[-1])} ({name})"
        )
        larger.append(f"{show(min(d for d in grid if tight[d] > tight[SMALL]))} ({name})")
    return Claim(
        "Section 5, low privacy regime",
        "the gain over Gaussian noise is more pronounced in the low privacy regime",
        "with σ = Δ/2δ the gain is non-decreasing in δ; with the smallest σ it first falls: "
        + "; ".join(changes),
        decide(grows, corrected=shrinks),
        remark="True with σ = Δ/2δ, as in the paper. With the smallest σ the gain first falls. It "
        f"is larger than in the limit δ → 0 only from δ = {' and '.join(larger)} on.",
    )


def _recompute_gain(cost: Cost, table: str, claimed: int) -> Claim:
    """Compare the gain of the optimum over the Gaussian as δ → 0."""
    best = numbers.least(SMALL, cost)
    tight = numbers.gaussian_cost(numbers.tight_sigma(SMALL), cost) / best
    wide = numbers.gaussian_cost(numbers.papers_sigma(SMALL), cost) / best
    stated = numbers.papers_sigma(SMALL) / best
    as_stated = f"{show(stated)} times if E|X| were σ = Δ/2δ, " if cost is l1 else ""
    return Claim(
        f"{table}, δ → 0 ({cost})",
        f"Gaussian noise costs {claimed} times as much as the optimum",
        f"{as_stated}{show(wide)} times with σ = Δ/2δ, {show(tight)} times with the smallest σ",
        decide(is_close(wide, claimed), corrected=not is_close(tight, claimed)),
        remark=f"The factor {claimed} is for Gaussian noise with a larger σ than necessary"
        + (", and takes σ for E|X|." if cost is l1 else "; for that σ it is right.")
        + " The optimum is the one among symmetric unimodal noise.",
    )
