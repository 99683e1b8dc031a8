"""Costs of Gaussian accounting: against 50 digits, by brute force, and against adaptive attackers.

An attacker who chooses each release by the answers before it must not get beyond the caps of an
allocation. Two rules that look right, and are false, are controls: the same computation finds an
attacker who gets beyond their guarantee (docs/theory/many-answers.md).
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastnoise.core.exact import epsilon_of_square, gaussian_delta, square_of_epsilon
from leastnoise.core.gaussian_cost import (
    GaussianCost,
    cost_of_guarantee,
    cost_of_noise,
    cost_of_truncated,
    epsilon_within,
    find_caps,
    total_cost,
)
from leastnoise.core.noise import Gaussian, Laplace, Rounded, TruncatedGaussian
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import calibrate

BOTH = Privacy(1, "1e-6")
ONE = Fraction(1)


def delta_of_mu(mu: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    """δ_μ(ε) with the digits of the context; ε may be negative."""
    near, far = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return mpmath.ncdf(near) - mpmath.exp(epsilon) * mpmath.ncdf(far)


# ------------------------------------------------------------------------------ the numbers


@pytest.mark.parametrize("epsilon", ["0", "1/1000", "1/2", "1", "3", "20"])
@pytest.mark.parametrize("square", ["1/1000", "1/18", "1/2", "4", "30"])
def test_delta_against_fifty_digits(square: str, epsilon: str) -> None:
    with mpmath.workdps(700):  # the two terms agree in hundreds of digits
        mu = mpmath.sqrt(mpmath.mpf(Fraction(square).numerator) / Fraction(square).denominator)
        at = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        truth = delta_of_mu(mu, at)
        enclosed = gaussian_delta(Fraction(square), Fraction(epsilon), 170)
        low, high = (
            mpmath.mpf(end.numerator) / end.denominator for end in (enclosed.lower, enclosed.upper)
        )
        if truth < mpmath.mpf(2) ** -200_000:
            assert 0 <= low <= truth <= high
        else:
            assert low <= truth <= high
            assert high - low <= truth * mpmath.mpf(10) ** -49


@pytest.mark.parametrize("delta", ["0.5", "1e-3", "1e-6", "1e-9", "1e-50", "1e-300"])
@pytest.mark.parametrize("epsilon", ["0", "1/10", "1", "5"])
def test_caps_are_the_largest_against_fifty_digits(epsilon: str, delta: str) -> None:
    caps = find_caps(Privacy(epsilon, delta))
    with mpmath.workdps(700):
        at = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        allowed = mpmath.mpf(Fraction(delta).numerator) / Fraction(delta).denominator
        mu = mpmath.sqrt(mpmath.mpf(caps.square.numerator) / caps.square.denominator)
        assert delta_of_mu(mu, at) <= allowed
        assert delta_of_mu(mu * (1 + mpmath.mpf(10) ** -12), at) > allowed


def test_reference_numbers() -> None:
    assert float(1 / find_caps(BOTH).mu) == pytest.approx(4.22467889, rel=1e-9)
    for epsilon, ratio in ((Fraction(1, 1000), 1.2533), (ONE, 1.232), (Fraction(8), 0.85)):
        mu = float(square_of_epsilon(epsilon).upper) ** 0.5
        assert mu / float(epsilon) == pytest.approx(ratio, abs=5e-4)
    # A single pure ε above 0.189 never fits an allocation of (1, 1e-6).
    assert float(epsilon_within(find_caps(BOTH).square)) == pytest.approx(0.189, abs=5e-4)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=20))
def test_a_pure_guarantee_and_its_square_are_inverse(epsilon: Fraction) -> None:
    back = epsilon_of_square(square_of_epsilon(epsilon).upper)
    assert float(back.upper) == pytest.approx(float(epsilon), rel=1e-12)
    assert epsilon_within(square_of_epsilon(epsilon).lower) <= epsilon


@given(
    st.fractions(min_value=Fraction(1, 100), max_value=5),
    st.fractions(min_value=0, max_value=Fraction(1, 10)),
    st.fractions(min_value=Fraction(1, 5), max_value=Fraction(9, 10)),
)
def test_epsilon_at_a_delta_is_the_smallest(
    square: Fraction, failure: Fraction, delta: Fraction
) -> None:
    cost = GaussianCost(square, failure)
    epsilon = cost.epsilon(delta)
    assert epsilon is not None
    assert cost.delta(epsilon) <= delta
    assert not epsilon or cost.delta(epsilon * (1 - Fraction(1, 10**9))) > delta
    assert cost.privacy(delta) == Privacy(epsilon, delta)


def test_costs_without_a_guarantee() -> None:
    assert GaussianCost(ONE, Fraction(1, 10)).epsilon(Fraction(1, 10)) is None
    assert GaussianCost(ONE, Fraction(1, 5)).privacy(Fraction(1, 10)) is None
    assert GaussianCost(Fraction(0), Fraction(1, 10)).epsilon(Fraction(1, 10)) == 0
    with pytest.raises(InvalidParameter, match="Gaussian accounting needs δ > 0"):
        find_caps(Privacy(1))
    with pytest.raises(InvalidParameter, match="Gaussian accounting needs δ > 0"):
        find_caps(BOTH, BOTH.delta)


# ------------------------------------------------- truncated noise, by brute force on integers


def hockey_stick(one: list[mpmath.mpf], other: list[mpmath.mpf], factor: mpmath.mpf) -> mpmath.mpf:
    return mpmath.fsum(max(a - factor * b, 0) for a, b in zip(one, other, strict=True))


def weights(sigma: mpmath.mpf, end: int) -> list[mpmath.mpf]:
    """The probabilities of −end … end: a normal distribution cut at end + ½ and rounded."""
    half = mpmath.mpf(1) / 2
    masses = [
        mpmath.ncdf((i + half) / sigma) - mpmath.ncdf((i - half) / sigma)
        for i in range(-end, end + 1)
    ]
    total = mpmath.fsum(masses)
    return [mass / total for mass in masses]


CASES = [
    (shift, Fraction(scale, 10), shift + end)
    for shift, scale, end in product((1, 2, 3, 8), (4, 15, 37, 120), (0, 1, 6, 25))
]


@pytest.mark.parametrize(("shift", "sigma", "end"), CASES)
def test_truncated_noise_is_within_its_cost(shift: int, sigma: Fraction, end: int) -> None:
    """Every shift up to Δ and many ε; with a γ smaller by 1% the same comparison fails."""
    cost = cost_of_truncated(TruncatedGaussian(sigma, end + Fraction(1, 2)), Fraction(shift))
    with mpmath.workdps(60):
        distribution = weights(mpmath.mpf(sigma.numerator) / sigma.denominator, end)
        mu = mpmath.sqrt(mpmath.mpf(cost.square.numerator) / cost.square.denominator)
        gamma = mpmath.mpf(cost.failure.numerator) / cost.failure.denominator

        def exceeds(share: float, slack: mpmath.mpf) -> bool:
            failure = gamma * share
            for moved, at in product(range(1, shift + 1), EPSILONS):
                empty = [mpmath.mpf(0)] * moved
                reached = hockey_stick(
                    [*distribution, *empty], [*empty, *distribution], mpmath.exp(at)
                )
                bound = failure + (1 - failure) * delta_of_mu(mu, mpmath.mpf(at))
                if reached > bound + slack:
                    return True
            return False

        slack = mpmath.mpf(10) ** -15 * gamma  # the cost is rounded up to 64 binary digits
        assert not exceeds(1, slack)
        assert exceeds(0.99, slack)


EPSILONS = [0, 0.01, 0.1, 0.5, 1, 2, 4, 9, 30, 200, 5000]


def test_a_shift_as_wide_as_the_noise_reveals_everything() -> None:
    assert cost_of_truncated(TruncatedGaussian(1, "3/2"), Fraction(3)).failure == 1


# ----------------------------------------------------------------------- the cost of any noise


@pytest.mark.parametrize(
    "noise",
    [
        Rounded(ONE, Gaussian("5/2")),
        Rounded(ONE, Laplace(3)),
        Rounded(ONE, TruncatedGaussian(2, "21/2")),
    ],
)
@pytest.mark.parametrize("shift", [1, 2])
def test_the_cost_of_rounded_noise_bounds_its_profile(noise: Rounded, shift: int) -> None:
    curve = noise.curve(Fraction(shift))
    epsilon = Fraction(shift, 3)
    privacy = Privacy(epsilon, curve.delta_above(epsilon)[0])
    cost = cost_of_noise(noise, Fraction(shift), privacy)
    assert cost.square <= max(cost_of_guarantee(privacy).square, Fraction(shift * shift))
    for at in (Fraction(i, 16) for i in range(40)):
        assert curve.delta_above(at)[0] <= cost.delta(at) * (1 + Fraction(1, 10**12))


def test_a_profile_costs_less_than_its_guarantee() -> None:
    laplace = calibrate(Privacy(1), sensitivity=1, family="laplace")
    assert laplace.gaussian_cost.square < cost_of_guarantee(Privacy(1)).square * Fraction(3, 4)
    # Geometric noise is randomized response: nothing is gained.
    geometric = calibrate(Privacy(1), sensitivity=1, integer=True)
    assert geometric.gaussian_cost == cost_of_guarantee(Privacy(1))


def test_gaussian_mechanisms_cost_their_squares() -> None:
    mechanism = calibrate(BOTH, sensitivity=3, family="gaussian")
    caps = find_caps(BOTH)
    assert mechanism.gaussian_cost.failure == 0
    ratio = mechanism.gaussian_cost.square / caps.square
    assert 1 - Fraction(1, 10**9) <= ratio <= 1 + Fraction(1, 10**9)
    assert total_cost([mechanism.gaussian_cost] * 3) == mechanism.gaussian_cost * 3


# ------------------------------------------------------------------------- adaptive attackers
#
# The attacker sees one Gaussian release of a share of M² and then chooses, by its answer, among the
# releases that a rule allows. The δ of both together is the sum over the answers x of the largest
# ∫(p(x)·p₂ − e^ε·q(x)·q₂)₊ over the second releases (p₂, q₂), since the attacker chooses them to
# make that largest. Answers are rounded to a fine lattice, whose probabilities are known.

Release = tuple[str, mpmath.mpf]
Rule = Callable[[mpmath.mpf], Iterator[Release]]
GRID = mpmath.mpf(1) / 8


def second_delta(kind: str, amount: mpmath.mpf, level: mpmath.mpf) -> mpmath.mpf:
    """H at e^level of the second release, also for a level below 0."""
    if kind == "gaussian":
        return delta_of_mu(amount, level) if amount else max(mpmath.mpf(0), 1 - mpmath.exp(level))
    if kind == "leak":
        return amount + (1 - amount) * max(mpmath.mpf(0), 1 - mpmath.exp(level))
    likely = mpmath.exp(amount) / (1 + mpmath.exp(amount))  # randomized response
    pairs = ((likely, 1 - likely), (1 - likely, likely))
    return mpmath.fsum(max(a - mpmath.exp(level) * b, 0) for a, b in pairs)


def attack(first: mpmath.mpf, rule: Rule, epsilon: mpmath.mpf) -> mpmath.mpf:
    """The δ that an attacker reaches who chooses the second release by the first answer."""
    releases = list(rule(first))
    reach = 12
    total = mpmath.mpf(0)
    for i in range(int(-reach / GRID), int((reach + first) / GRID) + 1):
        here = normal_mass(i * GRID, (i + 1) * GRID)
        there = normal_mass(i * GRID - first, (i + 1) * GRID - first)
        level = epsilon + mpmath.log(there / here)
        total += here * max(second_delta(*release, level) for release in releases)
    return total


def normal_mass(low: mpmath.mpf, high: mpmath.mpf) -> mpmath.mpf:
    """The probability of an interval, by the side on which nothing cancels."""
    if low + high > 0:
        low, high = -high, -low
    return mpmath.ncdf(high) - mpmath.ncdf(low)


def test_caps_hold_against_adaptive_attackers_and_two_false_rules_do_not() -> None:
    with mpmath.workdps(30):
        epsilon, delta = mpmath.mpf(1), mpmath.mpf(10) ** -6
        caps = find_caps(BOTH)
        whole = mpmath.mpf(caps.square.numerator) / caps.square.denominator
        tenth = find_caps(BOTH, BOTH.delta / 10)
        less = mpmath.mpf(tenth.square.numerator) / tenth.square.denominator
        worst = dict.fromkeys(
            ("capped", "capped with leaks", "trading γ", "trading ε"), mpmath.mpf(0)
        )
        for share in (0.1, 0.3, 0.5, 0.7, 0.9):

            def capped(first: mpmath.mpf) -> Iterator[Release]:
                left = whole - first**2
                yield "gaussian", mpmath.sqrt(left)
                yield "gaussian", mpmath.sqrt(left / 2)
                square = Fraction(int(left * 2**60), 2**60)
                pure = epsilon_within(square)
                yield "pure", mpmath.mpf(pure.numerator) / pure.denominator

            def capped_with_leaks(first: mpmath.mpf) -> Iterator[Release]:
                yield "gaussian", mpmath.sqrt(less - first**2)
                yield "leak", delta / 10

            def trading_failure(first: mpmath.mpf) -> Iterator[Release]:
                """Allows any leak with which what was released so far still satisfies (ε, δ)."""
                yield "gaussian", mpmath.sqrt(whole - first**2)
                spent = delta_of_mu(first, epsilon)
                yield "leak", (delta - spent) / (1 - spent)

            def trading_epsilon(first: mpmath.mpf) -> Iterator[Release]:
                """Allows any pure ε that fits beside what was released so far."""
                yield "gaussian", mpmath.sqrt(whole - first**2)
                yield (
                    "pure",
                    mpmath.findroot(
                        lambda pure: mpmath.log(delta_of_mu(first, epsilon - pure) / delta),
                        (0.05, 0.9),
                        solver="anderson",
                    ),
                )

            first, bounded = mpmath.sqrt(share * whole), mpmath.sqrt(share * less)
            for name, reached in (
                ("capped", attack(first, capped, epsilon)),
                ("capped with leaks", attack(bounded, capped_with_leaks, epsilon)),
                ("trading γ", attack(first, trading_failure, epsilon)),
                ("trading ε", attack(first, trading_epsilon, epsilon)),
            ):
                worst[name] = max(worst[name], reached)
        assert worst["capped"] <= delta
        assert worst["capped"] >= delta * mpmath.mpf("0.95")  # the caps are used up, nearly
        assert worst["capped with leaks"] <= delta
        assert worst["trading γ"] > delta * mpmath.mpf("1.5")
        assert worst["trading ε"] > delta * mpmath.mpf("1.5")


@pytest.mark.parametrize("seed", range(6))
def test_random_adaptive_attackers_stay_within_the_caps(seed: int) -> None:
    """Three releases, each chosen by the answers before; the whole is enumerated on a lattice."""
    chance = np.random.default_rng(seed)
    caps = GaussianCost(Fraction(9, 4), Fraction(1, 20))
    paths: list[tuple[mpmath.mpf, mpmath.mpf]] = []

    def walk(one: mpmath.mpf, other: mpmath.mpf, left: GaussianCost, depth: int) -> None:
        if not depth:
            paths.append((one, other))
            return
        share = Fraction(int(chance.integers(2, 10)), 10) if depth > 1 else ONE
        square = left.square * share
        sigma = 1 / mpmath.sqrt(mpmath.mpf(square.numerator) / square.denominator)
        if chance.integers(2) and left.failure:
            wide = Fraction(int(sigma * 2**40) + 1, 2**40)
            end = next(
                end
                for end in range(1, 60)
                if cost_of_truncated(TruncatedGaussian(wide, end + Fraction(1, 2)), ONE).failure
                <= left.failure
            )
            noise = TruncatedGaussian(wide, end + Fraction(1, 2))
            cost = cost_of_truncated(noise, ONE)
            distribution = weights(mpmath.mpf(wide.numerator) / wide.denominator, end)
        else:
            cost, end = GaussianCost(square), 7
            half = mpmath.mpf(1) / 2
            distribution = [
                mpmath.ncdf((i + half) / sigma) - mpmath.ncdf((i - half) / sigma)
                for i in range(-end, end + 1)
            ]
        rest = GaussianCost(
            max(Fraction(0), left.square - cost.square), left.failure - cost.failure
        )
        empty = [mpmath.mpf(0)]
        for a, b in zip([*distribution, *empty], [*empty, *distribution], strict=True):
            if a:
                walk(one * a, other * b, rest, depth - 1)

    with mpmath.workdps(25):
        walk(mpmath.mpf(1), mpmath.mpf(1), caps, 3)
        for at in (0, 1, 2, 3):
            factor = mpmath.exp(at)
            reached = mpmath.fsum(max(a - factor * b, 0) for a, b in paths)
            bound = caps.delta(Fraction(at))
            assert reached <= mpmath.mpf(bound.numerator) / bound.denominator
