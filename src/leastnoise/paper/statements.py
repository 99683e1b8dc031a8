"""The claims of the paper, recomputed, with a remark if the result differs."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.accounting import Profile
from leastnoise.core.exact import format_rounded
from leastnoise.core.noise import Steps, Uniform
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1, l2, lp
from leastnoise.mechanism import calibrate
from leastnoise.paper import numbers
from leastnoise.paper.rearrangement import rearrange, symmetrize

SMALL = Fraction(1, 10**6)
COUNTER_EXAMPLE = Steps(
    [-1, Fraction(-3, 4), Fraction(-1, 4), Fraction(1, 4), Fraction(3, 4), 1],
    [Fraction(1, 3), Fraction(2, 3), Fraction(1, 3), Fraction(2, 3), Fraction(1, 3)],
)


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, recomputed.

    Attributes:
        where: The place in the paper.
        claimed: The claim.
        recomputed: The recomputed result.
        agrees: Whether the two agree.
        remark: A remark, if there is one.
    """

    where: str
    claimed: str
    recomputed: str
    agrees: bool
    remark: str = ""


def claims() -> list[Claim]:
    """Recompute every claim of the paper that can be verified, in the order of the paper.

    >>> claims()[0].where, claims()[0].agrees
    ('Lemma 1', True)
    """
    return [*_lemmas(), *_theorems(), *_gaussian(), *_readings(), *_discrete(), *_footnote()]


def _lemmas() -> Iterator[Claim]:
    skew = Steps([-1, 0, 2], [Fraction(1, 2), Fraction(1, 4)])
    even = symmetrize(skew)
    kept = even.enclose(l2) == skew.enclose(l2)
    before, after = (Profile(noise, sensitivity=1).advantage for noise in (skew, even))
    yield Claim(
        "Lemma 1",
        "symmetrizing preserves privacy and cost",
        f"on a skew noise: E X² {_n(skew.expected(l2))} → {_n(even.expected(l2))}, "
        f"δ {_n(before)} → {_n(after)}",
        kept and after <= before,
        "The proof has a misprint: the second term of its third line should read "
        "|P(−S) − P(−S−d)|, with a minus sign.",
    )
    atoms = Steps([-1, 1], [Fraction(1, 4)], {-1: Fraction(1, 4), 1: Fraction(1, 4)})
    yield Claim(
        "Lemma 2",
        "decreasing noise has no atom but at 0",
        f"two atoms at ±1: {atoms.rise()}",
        not atoms.is_decreasing,
    )


def _theorems() -> Iterator[Claim]:
    hill = Steps([-3, -1, 1, 3], [Fraction(1, 8), Fraction(1, 4), Fraction(1, 8)])
    central = hill.between(Fraction(-1), Fraction(1))
    everywhere = Profile(hill, sensitivity=2).advantage
    yield Claim(
        "Theorem 1",
        "private iff P([−Δ/2, Δ/2]) ≤ δ",
        f"a hill at Δ = 2: P([−1, 1]) = {_n(central)}, worst over every move {_n(everywhere)}",
        central == everywhere,
    )
    proof = rearrange(hill, Privacy(delta=Fraction(3, 5)), sensitivity=2, cost=l2, cells=8)
    costs = [stage.cost.upper for stage in proof.stages]
    best = calibrate(Privacy(delta=Fraction(3, 5)), sensitivity=2, cost=l2).certificate.lower_bound
    yield Claim(
        "Theorem 2",
        "the best decreasing noise is a P_α",
        "its proof as a program, from the hill: E X² " + " → ".join(_n(c) for c in costs),
        costs == sorted(costs, reverse=True) and best <= costs[-1],
        'In the proof "piece-wise linear" should read "piecewise constant".',
    )
    for p in (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4)):
        yield _theorem_3(p)
    for cost, name in ((l1, "Corollary 4 (ℓ1)"), (l2, "Corollary 5 (ℓ2)")):
        low, high = numbers.least(Fraction(1, 4), cost), numbers.least(Fraction(9, 10), cost)
        formula = (Fraction(1), Fraction(1, 10))
        if cost is l2:
            formula = (Fraction(4, 3), Fraction(9, 160))
        yield Claim(
            name,
            f"at δ = 1/4 and 9/10: {_n(formula[0])}, {_n(formula[1])}",
            f"{_n(low)}, {_n(high)}",
            (low, high) == formula,
        )


def _theorem_3(p: Fraction) -> Claim:
    """Compare the closed form with the minimum over a grid of point masses at 0."""
    cost = lp(p)
    agrees = True
    for delta in (Fraction(i, 20) for i in range(1, 20)):
        mechanism = calibrate(Privacy(delta=delta), sensitivity=1, cost=cost)
        others = (_p_alpha(delta * Fraction(i, 50), delta).enclose(cost).upper for i in range(50))
        agrees &= mechanism.certificate.lower_bound <= min(others)
        agrees &= mechanism.noise == _p_alpha(max(Fraction(0), (p + 1) * delta - p), delta)
    return Claim(
        f"Theorem 3, p = {_n(p)}",
        f"α* = max(0, {_n(p + 1)}·δ − {_n(p)})",
        "the same at 19 values of δ; no mass on a grid of 50 costs less",
        agrees,
    )


def _p_alpha(atom: Fraction, delta: Fraction) -> Uniform:
    return Uniform((1 - atom) / (2 * (delta - atom)), atom)


def _gaussian() -> Iterator[Claim]:
    distance = numbers.gaussian_distance(numbers.papers_sigma(Fraction(1, 10)))
    yield Claim(
        "Theorem 6",
        "Gaussian noise with σ = Δ/2δ is (0, δ)-private",
        f"at δ = 0.1 its distance is {_n(distance)}",
        distance <= Fraction(1, 10),
        "Sufficient, not tight: σ = Δ/(2Φ⁻¹((1+δ)/2)) is enough.",
    )
    amplitude = numbers.gaussian_cost(Fraction(1), l1)
    yield Claim(
        "Section 5",
        "its expected amplitude is σ",
        f"{_n(amplitude)}·σ",
        _close(amplitude, 1),
        "E|X| of a Gaussian is σ√(2/π).",
    )
    for cost, table, claimed in ((l1, "Table 1", 2), (l2, "Table 2", 3)):
        yield _gain(cost, table, claimed)
    near = Fraction(999_999, 10**6)
    for cost, limit, value in ((l1, "Δ/2", Fraction(1, 2)), (l2, "Δ²/4", Fraction(1, 4))):
        tight = numbers.gaussian_cost(numbers.tight_sigma(near), cost)
        yield Claim(
            f"Section 5, δ → 1 ({cost})",
            f"the Gaussian's cost tends to {limit}",
            f"at 1 − δ = 10⁻⁶ the tight one costs {_n(tight)}",
            _close(tight, value),
            "True of σ = Δ/2δ; the tight Gaussian's cost tends to 0, only more slowly.",
        )


def _gain(cost: Cost, table: str, claimed: int) -> Claim:
    """Compare the gain of the optimum over the Gaussian as δ → 0."""
    best = numbers.least(SMALL, cost)
    tight = numbers.gaussian_cost(numbers.tight_sigma(SMALL), cost) / best
    stated = numbers.papers_sigma(SMALL) ** (1 if cost is l1 else 2) / best
    taken = "σ = Δ/2δ taken as its cost" if cost is l1 else "σ = Δ/2δ"
    return Claim(
        f"{table}, δ → 0 ({cost})",
        f"the optimum is {claimed} times better than the Gaussian",
        f"{_n(stated)} against {taken}, {_n(tight)} against the tight Gaussian",
        _close(tight, claimed),
        f"{claimed} compares with a Gaussian wider than it need be"
        + (" and takes σ for its amplitude." if cost is l1 else "."),
    )


def _readings() -> Iterator[Claim]:
    for cost, factor in ((l1, 4), (l2, 24)):
        pure = numbers.staircase_cost(SMALL, cost)
        same = pure / numbers.least(SMALL, cost)
        fair = pure / numbers.least(numbers.equal_distance(SMALL), cost)
        yield Claim(
            f"Contributions, ε = δ → 0 ({cost})",
            "(0, δ) yields a higher utility than ε-privacy",
            f"ε-privacy costs {_n(same)} times as much at ε = δ, "
            f"{_n(fair)} times at equal distance δ = tanh(ε/2)",
            _close(same, factor) and fair > 1,
            "ε = δ compares unlike things: ε-privacy implies (0, tanh(ε/2)), half as much.",
        )


def _discrete() -> Iterator[Claim]:
    one = all(
        numbers.discrete_uniform_cost(1, Fraction(1, n), cost)
        == numbers.discrete_least(1, Fraction(1, n), cost)
        for n in (3, 5, 101)
        for cost in (l1, l2)
    )
    yield Claim(
        "Consistency, Δ = 1",
        "discrete uniform noise is optimal for integer queries",
        "equal to the integer optimum at δ = 1/3, 1/5, 1/101, in ℓ1 and ℓ2",
        one,
        "At δ = 1/(2M+1), where a uniform noise fits; at other δ the optimum has less on its two "
        "end points, and plain uniform noise costs more.",
    )
    worst = max(
        numbers.discrete_uniform_cost(moved, SMALL, cost)
        / numbers.discrete_least(moved, SMALL, cost)
        for moved in range(2, 9)
        for cost in (l1, l2)
    )
    yield Claim(
        "Consistency, Δ = 2 … 8",
        "asymptotically optimal as δ → 0",
        f"at δ = 10⁻⁶ at most {_n(worst, 9)} times the integer optimum",
        worst < 1 + Fraction(1, 10**5),
    )


def _footnote() -> Iterator[Claim]:
    private = Profile(COUNTER_EXAMPLE, sensitivity=1).advantage
    cheaper = COUNTER_EXAMPLE.expected(l2)
    yield Claim(
        "Footnote 1",
        "the decreasing condition can be done away with",
        f"a noise with two teeth is (0, {_n(private)})-private at Δ = 1 and has E X² = "
        f"{_n(cheaper)}; the best decreasing one has {_n(numbers.least(Fraction(1, 2), l2))}",
        cheaper >= numbers.least(Fraction(1, 2), l2) or private > Fraction(1, 2),
        "False: some noise that is not decreasing costs less. Exact, over every move.",
    )


def _close(number: Fraction, claimed: Fraction | int) -> bool:
    """Return whether a limit is met within a thousandth, at δ = 10⁻⁶."""
    return abs(number - claimed) <= claimed * Fraction(1, 1000)


def _n(number: Fraction, digits: int = 6) -> str:
    return format_rounded(number, digits)
