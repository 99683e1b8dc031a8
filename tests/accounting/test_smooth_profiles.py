"""How private each noise is: against integrals, sums over lattices and published formulas."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastnoise.accounting.profile import Profile
from leastnoise.core.exact import Interval, exponential
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.noise.steps import Steps
from leastnoise.core.noise.uniform import DiscreteUniform, Uniform
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    Gaussian,
    Laplace,
    LatticeNoise,
    Noise,
    Rounded,
    Run,
    Smooth,
    Staircase,
    TruncatedLaplace,
)

HALF = Fraction(1, 2)
HAIR = Fraction(1, 10**50)  # the formulas' own error at sixty digits, relative
WIDTH = Fraction(1, 1 << 69)  # what an enclosure may be wide, relative


@pytest.fixture(autouse=True)
def _many_digits() -> None:
    mpmath.mp.dps = 60


def real(number: Fraction | int | str) -> mpmath.mpf:
    exact = Fraction(number)
    return mpmath.mpf(exact.numerator) / exact.denominator


def rational(number: mpmath.mpf) -> Fraction:
    """The binary number itself."""
    sign, mantissa, exponent, _ = number._mpf_
    return Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** int(exponent)


def holds(enclosure: Interval, truth: mpmath.mpf, unsure: Fraction = HAIR) -> bool:
    """Whether the truth lies within, but for what it is itself unsure of, and tightly."""
    exact = rational(truth)
    slack = abs(exact) * unsure
    tight = enclosure.upper - enclosure.lower <= exact * WIDTH + slack
    return enclosure.lower - slack <= exact <= enclosure.upper + slack and tight


def density(noise: Smooth) -> Callable[[mpmath.mpf], mpmath.mpf]:
    """The densities, written down again from the textbook."""
    if isinstance(noise, Gaussian):
        sigma = real(noise.sigma)
        return lambda x: mpmath.npdf(x, 0, sigma)
    assert isinstance(noise, Laplace | TruncatedLaplace)
    b = real(noise.scale)
    if isinstance(noise, Laplace):
        return lambda x: mpmath.exp(-abs(x) / b) / (2 * b)
    a = real(noise.width)
    kept = 2 * b * -mpmath.expm1(-a / b)
    return lambda x: mpmath.exp(-abs(x) / b) / kept if abs(x) <= a else mpmath.mpf(0)


def integral(noise: Smooth, move: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """∫(p(x) − e^ε·p(x − d))₊dx, cut where the integrand may have a kink."""
    p, d, factor = density(noise), real(move), mpmath.exp(real(epsilon))

    def excess(x: mpmath.mpf) -> mpmath.mpf:
        return max(mpmath.mpf(0), p(x) - factor * p(x - d))

    radius = noise.radius
    reach = 60 * real(noise.variance()) ** 0.5 if isinstance(radius, float) else real(radius)
    kinks = {-reach, mpmath.mpf(0), d / 2, d} | ({d - reach} if radius != math.inf else set())
    low, high = -reach, d / 2  # the integrand is 0 from some place before d/2 on
    for _ in range(220):
        middle = (low + high) / 2
        low, high = (middle, high) if p(middle) > factor * p(middle - d) else (low, middle)
    ends = sorted(x for x in {*kinks, low} if -reach <= x <= min(d / 2, reach))
    return mpmath.quad(excess, ends, maxdegree=9)


NOISES: list[tuple[Smooth, str]] = [
    (Gaussian(1), "1"),
    (Gaussian("0.3"), "2"),
    (Gaussian(7), "3"),
    (Laplace(1), "1"),
    (Laplace("2.5"), "1"),
    (Laplace("0.2"), "0.7"),
    (TruncatedLaplace(1, 3), "1"),
    (TruncatedLaplace(2, "0.8"), "1"),
    (TruncatedLaplace("0.5", 5), "1"),
]


@pytest.mark.parametrize(("noise", "moved"), NOISES, ids=str)
@pytest.mark.parametrize("epsilon", ["0", "0.1", "1", "3"])
def test_delta_is_the_integral_of_the_excess(noise: Smooth, moved: str, epsilon: str) -> None:
    found = Profile(noise, sensitivity=moved).enclose(epsilon)
    truth = integral(noise, Fraction(moved), Fraction(epsilon))
    unsure = Fraction(1, 10**30)  # what the quadrature is
    assert holds(found, truth, unsure) or (found == Interval.exact(0) and rational(truth) < HAIR)


def test_twice_a_truncated_radius_apart_nothing_is_hidden() -> None:
    profile = Profile(TruncatedLaplace(1, "0.4"), sensitivity=1)
    assert profile.enclose(5) == Interval.exact(1)
    assert profile.infinity_mass == 1
    assert profile.tradeoff("0.2") == 0


scales = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=1000)


@given(scales, scales, st.fractions(min_value=0, max_value=9, max_denominator=1000))
def test_laplace_has_a_closed_form(scale: Fraction, moved: Fraction, epsilon: Fraction) -> None:
    mpmath.mp.dps = 60
    truth = max(mpmath.mpf(0), -mpmath.expm1(real(epsilon - moved / scale) / 2))
    found = Profile(Laplace(scale), sensitivity=moved).enclose(epsilon)
    assert holds(found, truth)
    assert found.is_exact == (epsilon * scale >= moved)


def balle_wang(sigma: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """Balle and Wang 2018, Theorem 8, at Δ = 1."""
    s, e = real(sigma), real(epsilon)
    near, far = 1 / (2 * s) - e * s, -1 / (2 * s) - e * s
    return (mpmath.erfc(-near / mpmath.sqrt(2)) - mpmath.exp(e) * _tail(-far)) / 2


def _tail(z: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(z / mpmath.sqrt(2))


@pytest.mark.parametrize(
    ("sigma", "epsilon", "least"),
    [
        ("1", "0.5", "0.2"),
        ("1e300", "0", "1e-301"),  # needs more than a thousand binary digits
        ("0.04", "700", "1e-60"),
        ("0.0265", "700", "0.1"),
        ("3e13", "1e-12", "1e-300"),
        ("1e12", "1e-12", "8e-14"),
        ("0.5", "60", "1e-300"),
        ("1e-6", "5", "0.99"),
    ],
)
def test_gaussian_at_extremes(sigma: str, epsilon: str, least: str) -> None:
    mpmath.mp.dps = 900
    found = Profile(Gaussian(sigma), sensitivity=1).enclose(epsilon)
    assert holds(found, balle_wang(Fraction(sigma), Fraction(epsilon)))
    assert Fraction(least) < found.lower <= found.upper < 1 + WIDTH


@pytest.mark.long
def test_what_is_too_small_is_only_said_to_be() -> None:
    for noise, epsilon in [(Gaussian(10**6), "1"), (Gaussian(1), "200000")]:
        found = Profile(noise, sensitivity=1).enclose(epsilon)
        assert found.lower == 0 < found.upper < Fraction(1, 1 << 200_000)
    assert Profile(Laplace("1e-9"), sensitivity=1).enclose(200_000).lower > 1 - WIDTH
    with pytest.raises(Unsupported, match=r"more than 16384 binary digits"):
        Profile(Gaussian("1e3000"), sensitivity="1e-3000").delta(0)
    with pytest.raises(InvalidParameter, match=r"Use a smaller ε"):
        Profile(Gaussian(1), sensitivity=1).delta(10**6)


def truncated(epsilon: str, delta: str, wider: Fraction = Fraction(1)) -> TruncatedLaplace:
    """The noise of Geng, Ding, Guo and Kumar 2020, Theorem 1, at Δ = 1; radius times ``wider``."""
    e = real(epsilon)
    radius = mpmath.log1p(mpmath.expm1(e) / (2 * real(delta))) / e
    return TruncatedLaplace(1 / Fraction(epsilon), rational(radius) * wider)


@pytest.mark.parametrize("epsilon", ["0.001", "0.5", "1", "4"])
@pytest.mark.parametrize("delta", ["1e-9", "0.01", "0.3", "1/2"])
def test_truncated_laplace_is_tight_where_its_theorem_says(epsilon: str, delta: str) -> None:
    profile = Profile(truncated(epsilon, delta), sensitivity=1)
    assert holds(profile.enclose(epsilon), real(delta))
    # Beyond ε = Δ/b it tells by impossible outputs alone: δ stays what it is.
    assert abs(profile.infinity_mass - Fraction(delta)) <= Fraction(delta) * WIDTH
    assert abs(profile.delta(9) - Fraction(delta)) <= Fraction(delta) * WIDTH


# ------------------------------------------------------------------------ promises

HAIRS = [Fraction(1, 10**15), Fraction(1, 10**18)]


def least_laplace(epsilon: str, delta: str) -> Laplace:
    return Laplace(rational(1 / (real(epsilon) - 2 * mpmath.log1p(-real(delta)))))


def least_gaussian(epsilon: str, delta: str) -> Gaussian:
    """Bisect Balle and Wang's formula."""
    low, high = Fraction(1, 10**4), Fraction(10**7)
    for _ in range(140):
        middle = (low + high) / 2
        private = balle_wang(middle, Fraction(epsilon)) <= real(delta)
        low, high = (low, middle) if private else (middle, high)
    return Gaussian(high)


FINDERS: list[Callable[[str, str], Smooth]] = [least_laplace, least_gaussian, truncated]


@pytest.mark.parametrize("find", FINDERS)
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.2", "0.05"), ("5", "1e-10")])
def test_a_promise_is_kept_up_to_the_boundary(
    find: Callable[[str, str], Smooth], epsilon: str, delta: str
) -> None:
    least, promise = find(epsilon, delta), Privacy(epsilon, delta)
    for hair in HAIRS:
        wider, narrower = least.scaled(1 + hair), least.scaled(1 - hair)
        check_privacy(wider, promise, sensitivity=Fraction(1))
        check_privacy(Rounded(Fraction(1, 1 << 20), wider), promise, sensitivity=Fraction(1))
        with pytest.raises(NotPrivate, match=r"a shift of 1 needs δ = \S+\. Use wider noise"):
            check_privacy(narrower, promise, sensitivity=Fraction(1))


@pytest.mark.parametrize(("noise", "moved"), NOISES, ids=str)
def test_the_upper_end_counts(noise: Smooth, moved: str) -> None:
    reached, move = Profile(noise, sensitivity=moved).enclose("0.1"), Fraction(moved)
    check_privacy(noise, Privacy("0.1", reached.upper), sensitivity=move)
    with pytest.raises(NotPrivate, match=r"a shift of \S+ needs δ = "):
        check_privacy(noise, Privacy("0.1", reached.middle), sensitivity=move)


@pytest.mark.parametrize("find", [least_laplace, least_gaussian])
def test_at_epsilon_zero_too(find: Callable[[str, str], Smooth]) -> None:
    least, promise = find("0", "0.01"), Privacy(delta="0.01")
    check_privacy(least.scaled(1 + HAIRS[1]), promise, sensitivity=Fraction(1))
    with pytest.raises(NotPrivate, match=r"ε = 0, δ = 0\.01 .* a shift of 1 needs δ = 0\.01"):
        check_privacy(least.scaled(1 - HAIRS[1]), promise, sensitivity=Fraction(1))


def test_without_a_delta_only_laplace_keeps_a_promise() -> None:
    check_privacy(Laplace(1), Privacy(1), sensitivity=Fraction(1))
    check_privacy(Rounded(Fraction(1, 3), Laplace(1)), Privacy(1), sensitivity=Fraction(1))
    for noise in (Laplace(1 - HAIRS[1]), Gaussian(10**6), TruncatedLaplace(1, 10**5)):
        with pytest.raises(NotPrivate, match="needs δ = "):
            check_privacy(noise, Privacy(1), sensitivity=Fraction(1))


def test_a_lattice_may_keep_what_the_line_does_not() -> None:
    """Half-lines of integers tell less; added up point by point, by another route."""
    line, promise = Gaussian(1), Privacy("0.5", "0.2")
    distribution = Rounded(Fraction(1), line)
    assert (
        brute(distribution, 1, exponential(HALF).lower, 20)
        < Fraction(1, 5)
        < Profile(line, sensitivity=1).delta("0.5")
    )
    check_privacy(distribution, promise, sensitivity=Fraction(1))
    with pytest.raises(NotPrivate, match=r"needs δ = 0\.238"):
        check_privacy(line, promise, sensitivity=Fraction(1))


# ------------------------------------------------------------------------ lattices


@cache
def weight(distribution: LatticeNoise, index: int) -> Fraction:
    return Fraction(distribution.weight(index)) / distribution.total


def brute(distribution: LatticeNoise, move: int, factor: Fraction, far: int) -> Fraction:
    """The sum of (p(i) − factor·p(i − move))₊ within ±far, all points one by one."""
    excess = (
        weight(distribution, i) - factor * weight(distribution, i - move)
        for i in range(-far, far + 1)
    )
    return sum((e for e in excess if e > 0), Fraction(0))


lattices = st.builds(
    Rounded,
    st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]),
    st.sampled_from([Gaussian(1), Laplace("0.6"), TruncatedLaplace(1, 2), Gaussian("0.4")]),
)
factors = st.fractions(min_value=0, max_value=30, max_denominator=60)


@settings(max_examples=60, deadline=None)
@given(lattices, st.integers(1, 5), factors)
def test_on_a_lattice_it_is_the_sum_over_its_points(
    distribution: Rounded, moved: int, factor: Fraction
) -> None:
    """For every factor, below 1 too; and no shorter move is worse."""
    claimed = Profile(distribution, sensitivity=moved * distribution.step).at_factor(factor)
    far = moved + int(40 * distribution.noise.std() / float(distribution.step)) + 1
    direct = max(brute(distribution, d, factor, far) for d in range(1, moved + 1))
    assert abs(claimed - direct) <= Fraction(1, 10**18)
    line = Profile(distribution.noise, sensitivity=moved * distribution.step)
    assert claimed <= line.at_factor(factor) * (1 + WIDTH)
    # A move of less than another step is none.
    assert claimed == Profile(
        distribution, sensitivity=(moved + HALF) * distribution.step
    ).at_factor(factor)


@pytest.mark.parametrize(("noise", "moved"), NOISES[:6:2], ids=str)
def test_a_fine_lattice_comes_up_to_the_line(noise: Smooth, moved: str) -> None:
    move, steps = Fraction(moved), 9
    distribution = Rounded(move / steps, noise)
    far = int(12 * noise.scaled(1).std() / float(distribution.step))
    for epsilon in (Fraction(0), Fraction(1, 3)):
        claimed = Profile(noise, sensitivity=move).delta(epsilon)
        sums = brute(distribution, steps, exponential(epsilon).middle, far)
        assert sums <= claimed + WIDTH
        assert float(sums) == pytest.approx(float(claimed), rel=0.05, abs=1e-6)


def test_a_move_of_less_than_a_step_is_none() -> None:
    for distribution in (Rounded(Fraction(1), Gaussian(1)), DiscreteUniform(reach=3)):
        profile = Profile(distribution, sensitivity="0.9")
        assert profile.delta(0) == profile.infinity_mass == profile.renyi(2) == 0
        assert profile.tradeoff("0.3") == Fraction(7, 10)


# ------------------------------------------------------------------------ factors


@pytest.mark.parametrize(("noise", "moved"), NOISES, ids=str)
def test_a_factor_is_e_to_the_epsilon(noise: Smooth, moved: str) -> None:
    profile = Profile(noise, sensitivity=moved)
    for epsilon in ("0.1", "1", "2"):
        power = exponential(Fraction(epsilon))
        near = profile.at_factor(power.lower)
        assert near >= profile.enclose(epsilon).lower
        assert profile.at_factor(power.upper) <= profile.delta(epsilon) * (1 + WIDTH)
        assert near <= profile.delta(epsilon) * (1 + WIDTH) + Fraction(1, 1 << 100)
    assert profile.worst(Fraction(2)) == (profile.at_factor(Fraction(2)), Fraction(moved))
    assert profile.at_factor(Fraction(0)) == 1
    # Below 1: the two neighbours exchange their parts.
    third = Fraction(1, 3)
    swapped = 1 - third + third * profile.at_factor(Fraction(3))
    assert abs(profile.at_factor(third) - swapped) <= WIDTH
    assert profile.advantage == profile.at_factor(Fraction(1))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NOISES), scales, scales)
def test_it_falls_with_epsilon_and_grows_with_the_move(
    case: tuple[Smooth, str], first: Fraction, second: Fraction
) -> None:
    noise, low, high = case[0], min(first, second), max(first, second)
    profile = Profile(noise, sensitivity=1)
    assert profile.enclose(high).lower <= profile.delta(low)
    nearer, farther = (Profile(noise, sensitivity=d) for d in (low, high))
    assert nearer.enclose(1).lower <= farther.delta(1)
    assert nearer.infinity_mass <= farther.infinity_mass * (1 + WIDTH)


# ------------------------------------------------------------------------ trade-off

RATES = [Fraction(i, 40) for i in range(41)]


def closed_tradeoff(noise: Smooth, rate: Fraction, move: Fraction) -> mpmath.mpf:
    """Dong, Roth and Su 2022: G_μ (Definition 2.6) and the Laplace curve (Proposition A.6)."""
    a = real(rate)
    if isinstance(noise, Gaussian):
        mu = real(move / noise.sigma)
        place = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * a)
        return _tail(mu - place) / 2
    assert isinstance(noise, Laplace)
    fall = mpmath.exp(-real(move / noise.scale))
    if a < fall / 2:
        return 1 - a / fall
    return fall / (4 * a) if a <= 0.5 else fall * (1 - a)


@pytest.mark.parametrize(("noise", "moved"), NOISES[:6], ids=str)
def test_the_tradeoff_is_the_published_one_from_below(noise: Smooth, moved: str) -> None:
    profile = Profile(noise, sensitivity=moved)
    for rate in (*RATES[1:-1], Fraction(1, 10**6), 1 - Fraction(1, 10**6)):
        truth = rational(closed_tradeoff(noise, rate, Fraction(moved)))
        found = profile.tradeoff(rate)
        assert truth * (1 - Fraction(1, 10**30)) <= found <= truth * (1 + HAIR)
    assert profile.tradeoff(0) == 1
    assert profile.tradeoff(1) == 0


DISTRIBUTIONS: list[tuple[Noise, str]] = [
    *NOISES[::2],
    (Rounded(Fraction(1), Gaussian(1)), "2"),
    (Rounded(HALF, TruncatedLaplace(1, 2)), "1"),
    (Rounded(Fraction(1, 1 << 20), Laplace(1)), "1"),
    (Staircase(1, "0.3", "1/2"), "1"),
    (Staircase(1, "0.7", "0.4"), "2.3"),
    (DiscreteStaircase(Fraction(1), HALF, (Run(0, 1, 3), Run(1, 2, 2))), "4"),
]


@pytest.mark.parametrize(("noise", "moved"), DISTRIBUTIONS, ids=str)
def test_a_tradeoff_is_convex_and_dual_to_the_profile(noise: Noise, moved: str) -> None:
    profile = Profile(noise, sensitivity=moved)
    curve = [profile.tradeoff(rate) for rate in RATES]
    rounding = Fraction(1, 1 << 60)
    assert all(0 <= value <= 1 - rate for rate, value in zip(RATES, curve, strict=True))
    assert all(after <= before for before, after in pairwise(curve))
    bends = [a - 2 * b + c for a, b, c in zip(curve, curve[1:], curve[2:], strict=False)]
    assert min(bends) >= -rounding
    for factor in (Fraction(1, 4), Fraction(1), Fraction(3, 2), Fraction(7, 3), Fraction(9)):
        delta = profile.at_factor(factor)
        bounds = [1 - factor * a - b for a, b in zip(RATES, curve, strict=True)]
        assert max(bounds) <= delta + rounding  # no test tells better than δ
        assert max(bounds) >= delta - max(factor, Fraction(1)) / 8  # and some nearly as well


def polygon(distribution: Rounded, moved: int) -> list[tuple[Fraction, Fraction]]:
    """False positives and negatives of all thresholds, the weights added up one by one."""
    points, far = [(Fraction(0), Fraction(1))], 100
    for i in range(-far, far + 1):
        rate, missed = points[-1]
        points.append((rate + weight(distribution, i - moved), missed - weight(distribution, i)))
    return points


@pytest.mark.parametrize("noise", [Gaussian(1), Laplace(2), TruncatedLaplace(2, 3)], ids=str)
@pytest.mark.parametrize("moved", [1, 3])
def test_on_a_lattice_the_tradeoff_is_a_polygon(noise: Smooth, moved: int) -> None:
    distribution = Rounded(Fraction(1), noise)
    profile, corners = Profile(distribution, sensitivity=moved), polygon(distribution, moved)
    for rate in RATES[1:-1]:
        (a, high), (b, low) = next(pair for pair in pairwise(corners) if pair[1][0] >= rate)
        truth = high - (high - low) * (rate - a) / (b - a)
        assert -Fraction(1, 10**30) <= truth - profile.tradeoff(rate) <= Fraction(1, 10**18)


# ------------------------------------------------------------------------ staircases


@given(
    st.fractions(min_value=0, max_value=1, max_denominator=20),
    st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20),
    st.fractions(min_value=1, max_value=20, max_denominator=20),
)
def test_at_its_period_a_staircase_has_one_ratio(
    gamma: Fraction, ratio: Fraction, factor: Fraction
) -> None:
    """1/b, just where x < Δ·min(γ, 1−γ): before that place and only there p(x − Δ) is lower."""
    noise = Staircase(3, gamma, ratio)
    profile = Profile(noise, sensitivity=3)
    told = noise.probability_up_to(3 * min(gamma, 1 - gamma))
    assert profile.at_factor(factor) == max(Fraction(0), 1 - factor * ratio) * told
    less = 1 / factor
    assert profile.at_factor(less) == 1 - less + less * profile.at_factor(factor)
    assert profile.advantage == noise.total_variation(Fraction(3))
    assert profile.infinity_mass == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 6), st.integers(1, 6), st.integers(1, 20), factors)
def test_a_staircase_at_any_move(gamma: int, tenths: int, moved: int, factor: Fraction) -> None:
    """Its cells of a sixth of a period, one by one; what is left out is bⁿ of it."""
    noise, far = Staircase(1, Fraction(gamma, 6), Fraction(tenths, 10)), 24
    edges = [noise.probability_up_to(Fraction(i, 6)) for i in range(-6 * far, 6 * far + 1)]
    cells = dict(enumerate((b - a for a, b in pairwise(edges)), -6 * far))

    def told(move: int) -> Fraction:
        pairs = ((mass, cells[i - move]) for i, mass in cells.items() if i - move in cells)
        return sum((max(Fraction(0), p - factor * q) for p, q in pairs), Fraction(0))

    claimed = Profile(noise, sensitivity=Fraction(moved, 6)).at_factor(factor)
    direct = max(told(move) for move in {1, (moved + 1) // 2, moved})
    assert abs(claimed - direct) <= 40 * noise.ratio ** (far - 4)


weights = st.lists(st.integers(7, 10), min_size=1, max_size=7).map(lambda w: sorted(w)[::-1])


@settings(max_examples=40, deadline=None)
@given(weights, st.integers(1, 5), st.integers(1, 11), factors)
def test_a_staircase_on_a_lattice_at_any_move(
    period: list[int], tenths: int, moved: int, factor: Fraction
) -> None:
    heights = sorted(set(period), reverse=True)
    runs = tuple(Run(period.index(h), period.count(h), h) for h in heights)
    distribution = DiscreteStaircase(HALF, Fraction(tenths, 10), runs)
    claimed = Profile(distribution, sensitivity=Fraction(moved, 2)).at_factor(factor)
    direct = max(brute(distribution, d, factor, 140) for d in {1, (moved + 1) // 2, moved})
    assert abs(claimed - direct) <= 40 * distribution.ratio ** (125 // len(period))


def test_a_staircase_keeps_what_its_profile_says() -> None:
    distribution = DiscreteStaircase(Fraction(1), Fraction(1, 3), (Run(0, 2, 1),))
    for noise, moved in [(Staircase(1, "0.4", "1/2"), Fraction(3, 2)), (distribution, Fraction(3))]:
        needed = Profile(noise, sensitivity=moved).delta("0.5")
        check_privacy(noise, Privacy("0.5", needed), sensitivity=moved)
        with pytest.raises(NotPrivate, match=r"needs δ = 0\.\d+\. Use wider"):
            check_privacy(noise, Privacy("0.5", needed * (1 - WIDTH)), sensitivity=moved)


def test_a_test_of_a_staircase_takes_the_highest_ratios_first() -> None:
    """b = 1/2, γ = 0.3: ratio 2 on 8/13 of the outputs, 1/2 on 4/13, 1 on the rest, by hand."""
    profile = Profile(Staircase(1, "0.3", "1/2"), sensitivity=1)
    assert profile.tradeoff("2/13") == 1 - Fraction(4, 13)
    assert profile.tradeoff("4/13") == Fraction(5, 13)
    assert profile.tradeoff("5/13") == Fraction(4, 13)
    assert profile.tradeoff("9/13") == Fraction(4, 13) - HALF * Fraction(4, 13)
    assert profile.tradeoff(1) == 0


# ------------------------------------------------------------------------ what is impossible


def test_what_is_impossible_for_a_neighbour() -> None:
    assert Profile(Uniform(5), sensitivity=1).infinity_mass == Fraction(1, 10)
    assert Profile(Uniform(1, "1/4"), sensitivity=1).infinity_mass == Fraction(1, 4) + Fraction(
        3, 8
    )
    teeth = Steps([-2, -1, 1, 2], ["1/2", 0, "1/2"])
    assert Profile(teeth, sensitivity=3).infinity_mass == 1  # at a move of 2
    assert Profile(Steps([], [], {0: 1}), sensitivity=1).infinity_mass == 1
    slope = Steps([0, 1, 3], ["2/5", "3/10"])
    assert Profile(slope, sensitivity=1).infinity_mass == Fraction(2, 5)
    distribution = DiscreteSteps(Fraction(1), (Run(-1, 1, 1), Run(0, 1, 5), Run(1, 1, 1)))
    assert Profile(distribution, sensitivity=1).infinity_mass == Fraction(1, 7)
    assert Profile(distribution, sensitivity=2).infinity_mass == Fraction(6, 7)
    for noise in (Gaussian(1), Laplace(1), Rounded(HALF, Laplace(1)), Staircase(1, 0, HALF)):
        assert Profile(noise, sensitivity=1).infinity_mass == 0


@pytest.mark.parametrize("moved", ["0.1", "1", "2", "3.5"])
def test_what_is_impossible_for_truncated_noise(moved: str) -> None:
    """P(X < d − A) at b = 1 and A = 2, written out; from above."""
    apart, kept = real(moved) - 2, -mpmath.expm1(-2)
    beyond = (mpmath.exp(-abs(apart)) - mpmath.exp(-2)) / (2 * kept)
    truth = rational(beyond if apart < 0 else 1 - beyond)
    found = Profile(TruncatedLaplace(1, 2), sensitivity=moved).infinity_mass
    assert truth * (1 - HAIR) <= found <= truth * (1 + WIDTH)


@pytest.mark.parametrize("step", ["1/3", "1", "1.3", "4/3"])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_on_a_lattice_too(step: str, steps: int) -> None:
    distribution = Rounded(Fraction(step), TruncatedLaplace(1, 2))
    possible = {i for i in range(-12, 13) if distribution.weight(i) > Fraction(1, 1 << 100)}
    gone = sum((distribution.weight(i) for i in possible if i - steps not in possible), Fraction(0))
    assert abs(
        Profile(distribution, sensitivity=steps * distribution.step).infinity_mass - gone
    ) < Fraction(1, 1 << 90)


# ------------------------------------------------------------------------ Rényi

ORDERS = [Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(20)]


def renyi(pairs: list[tuple[mpmath.mpf, mpmath.mpf]], order: Fraction) -> mpmath.mpf:
    """Ln Σ pᵃq^(1−a) / (a − 1), for two lists of probabilities."""
    a = real(order)
    return mpmath.log(mpmath.fsum(p**a * q ** (1 - a) for p, q in pairs)) / (a - 1)


def exact_renyi(profile: Profile, order: Fraction) -> Fraction:
    found = profile.renyi(order)
    assert isinstance(found, Fraction)
    return found


@pytest.mark.parametrize(("noise", "moved"), NOISES[:6], ids=str)
@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(5)])
def test_renyi_is_the_integral(noise: Smooth, moved: str, order: Fraction) -> None:
    mpmath.mp.dps = 30
    p, d, a = density(noise), real(moved), real(order)
    spread = real(noise.variance()) ** 0.5
    # A Gaussian's integrand is a Gaussian about −(a−1)d; a Laplace's is exponential in pieces.
    middle = [-(a - 1) * d] if isinstance(noise, Gaussian) else [0, d]
    ends = [middle[0] - 50 * spread, middle[0] - 5 * spread, *middle]
    ends += [middle[-1] + 5 * spread, middle[-1] + 50 * spread]
    power = mpmath.quad(lambda x: p(x) ** a * p(x - d) ** (1 - a), ends)
    truth = rational(mpmath.log(power) / (a - 1))
    found = exact_renyi(Profile(noise, sensitivity=moved), order)
    assert abs(found - truth) <= truth * Fraction(1, 10**18)


@pytest.mark.parametrize("order", ORDERS)
def test_renyi_of_laplace_has_a_closed_form(order: Fraction) -> None:
    """Mironov 2017, Proposition 6; from above."""
    for scale in ("0.2", "1", "30"):
        a, apart = real(order), 1 / real(scale)
        near, far = mpmath.exp((a - 1) * apart), mpmath.exp(-a * apart)
        power = (a * near + (a - 1) * far) / (2 * a - 1)
        truth = rational(mpmath.log(power) / (a - 1))
        found = exact_renyi(Profile(Laplace(scale), sensitivity=1), order)
        assert truth * (1 - HAIR) <= found <= truth * (1 + WIDTH)


@pytest.mark.parametrize("order", ORDERS)
def test_renyi_of_staircases_is_a_sum(order: Fraction) -> None:
    noise, far = Staircase(1, "0.3", "1/2"), 100
    edges = [noise.probability_up_to(Fraction(i, 10)) for i in range(-10 * far, 10 * far + 1)]
    cells = [real(b - a) for a, b in pairwise(edges)]
    for moved in (10, 17):
        truth = rational(renyi(list(zip(cells[moved:], cells, strict=False)), order))
        found = exact_renyi(Profile(noise, sensitivity=Fraction(moved, 10)), order)
        assert abs(found - truth) <= Fraction(1, 10**18)
    distribution = DiscreteStaircase(Fraction(1), Fraction(1, 3), (Run(0, 1, 3), Run(1, 2, 2)))
    points = [real(Fraction(distribution.weight(i)) / distribution.total) for i in range(-250, 251)]
    truth = rational(renyi(list(zip(points[4:], points, strict=False)), order))
    assert abs(exact_renyi(Profile(distribution, sensitivity=4), order) - truth) <= Fraction(
        1, 10**18
    )


@pytest.mark.parametrize("noise", [Gaussian(1), Laplace("0.7")], ids=str)
def test_rounding_can_only_bring_outputs_nearer(noise: Smooth) -> None:
    distribution = Rounded(Fraction(1), noise)
    points = [real(distribution.weight(i)) for i in range(-9, 10)]
    for order in ORDERS[:3]:
        sums = renyi(list(zip(points[2:], points, strict=False)), order)
        claimed = exact_renyi(Profile(distribution, sensitivity="2.5"), order)
        assert rational(sums) <= claimed == Profile(noise, sensitivity=2).renyi(order)


UNBOUNDED: list[tuple[Noise, str]] = [
    (noise, moved) for noise, moved in DISTRIBUTIONS if noise.radius == math.inf
]


@pytest.mark.parametrize(("noise", "moved"), UNBOUNDED, ids=str)
def test_renyi_grows_with_the_order_and_bounds_delta(noise: Noise, moved: str) -> None:
    """Mironov 2017, Proposition 3: (α, D) gives (D + ln(1/δ)/(α−1), δ)."""
    profile = Profile(noise, sensitivity=moved)
    found = [exact_renyi(profile, order) for order in ORDERS]
    assert found == sorted(found)
    assert len(set(found)) == len(found)
    assert found[0] < exact_renyi(Profile(noise, sensitivity=2 * Fraction(moved)), ORDERS[0])
    for order, divergence in zip(ORDERS, found, strict=True):
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(4)):
            implied = exponential((order - 1) * (divergence - epsilon)).upper
            assert profile.enclose(epsilon).lower <= implied


@pytest.mark.parametrize(
    ("noise", "moved", "most"),
    [
        (Laplace(2), "3", mpmath.mpf("1.5")),
        (Staircase(1, "0.3", "1/2"), "1", mpmath.log(2)),
        (Staircase(1, "0.3", "1/2"), "2.5", 3 * mpmath.log(2)),
        (DiscreteStaircase(Fraction(1), Fraction(1, 3), (Run(0, 1, 1),)), "4", 4 * mpmath.log(3)),
    ],
    ids=str,
)
def test_renyi_tends_to_the_largest_divergence(noise: Noise, moved: str, most: mpmath.mpf) -> None:
    profile = Profile(noise, sensitivity=moved)
    for order in (10**3, 10**6, 10**9):
        found = exact_renyi(profile, Fraction(order))
        assert float(most) - 5 / order <= float(found) <= float(most) + 1e-12


def test_renyi_near_order_one_and_for_hardly_any_move() -> None:
    """Near 1 the Kullback–Leibler divergence, for Laplace Δ/b + e^(−Δ/b) − 1 (Mironov 2017)."""
    order = 1 + Fraction(1, 10**12)
    near = exact_renyi(Profile(Laplace(1), sensitivity=2), order)
    assert float(near) == pytest.approx(1 + math.exp(-2), rel=1e-9)
    tiny = exact_renyi(Profile(Laplace(10**200), sensitivity=1), Fraction(3))
    assert float(tiny * 10**400) == pytest.approx(1.5, rel=1e-9)  # α(Δ/b)²/2


def test_bounded_noise_has_no_renyi_divergence() -> None:
    bounded = [
        Uniform(5),
        TruncatedLaplace(1, 2),
        Rounded(HALF, TruncatedLaplace(1, 2)),
        DiscreteUniform(reach=3),
    ]
    assert all(Profile(noise, sensitivity=1).renyi(2) == math.inf for noise in bounded)


@pytest.mark.parametrize("order", [1, 0, "0.5", -2])
def test_an_order_must_be_more_than_one(order: int | str) -> None:
    with pytest.raises(InvalidParameter, match=r"must be greater than 1, got .* Use, for example"):
        Profile(Gaussian(1), sensitivity=1).renyi(order)
