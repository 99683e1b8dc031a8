"""Properties of every noise distribution; irrational ones are compared with mpmath at 60 digits."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

import leastnoise as ln
from leastnoise.core.exact import Interval
from leastnoise.costs.cost import Cost
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    DiscreteUniform,
    Gaussian,
    Laplace,
    LatticeNoise,
    Noise,
    Rounded,
    Run,
    Smooth,
    Staircase,
    Steps,
    TruncatedLaplace,
    Uniform,
)

SMOOTH: list[Smooth] = [
    Laplace("1.3"),
    TruncatedLaplace("1.3", 4),
    TruncatedLaplace(50, "1/3"),
    Gaussian("3/4"),
]
ON_THE_LINE: list[Noise] = [
    Uniform(5),
    Uniform(2, atom="1/4"),
    Steps([-2, -1, 0, 1, 2], ["1/8", "1/4", "1/4", "1/8"], {0: "1/4"}),
    Staircase(period=1, gamma="1/3", ratio="1/2"),
    *SMOOTH,
]
ON_A_LATTICE: list[LatticeNoise] = [
    DiscreteUniform(reach=7, level=3, rim=2, atom=5, step=Fraction(1, 3)),
    DiscreteSteps(Fraction(1, 2), (Run(-4, 2, 1), Run(-2, 5, 3), Run(3, 2, 1))),
    DiscreteStaircase(Fraction(1, 4), Fraction(1, 2), (Run(0, 2, 3), Run(2, 3, 2))),
    *(Rounded(Fraction(1, 4), noise) for noise in SMOOTH),
    Rounded(Fraction(7), Gaussian(2)),
]
EVERY = [*ON_THE_LINE, *ON_A_LATTICE]
# What is irrational is a rational within 2⁻¹²⁰; scipy's words are floats.
SLACK = Fraction(1, 1 << 118)

sizes = st.fractions(min_value=0, max_value=20, max_denominator=1000)
tails = st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(1, 2), max_denominator=10**7)


@pytest.fixture(autouse=True)
def _sixty_digits() -> Any:
    with mp.workdps(60):
        yield


def named(noises: list[Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("noise", noises, ids=repr)


def real(number: Fraction | int) -> Any:
    return mp.mpf(number.numerator) / number.denominator


def holds(found: Interval, truth: Any, bits: int | None = None) -> bool:
    """Whether an enclosure has the truth in it, at 60 digits, and is as narrow as promised."""
    slack = abs(truth) * mp.mpf(10) ** -55
    inside = real(found.lower) - slack <= truth <= real(found.upper) + slack
    return bool(inside) and (bits is None or found.is_exact or found.is_narrow(bits))


# ---------------------------------------------------------------- what scipy would be asked


@named(EVERY)
def test_the_calls_agree_with_one_another(noise: Noise) -> None:
    reach = noise.ppf(0.999)
    for x in np.linspace(-reach, reach, 9):
        assert noise.cdf(x) + noise.sf(x) == pytest.approx(1, abs=1e-15)
    for level in (0.01, 0.3, 0.5, 0.77, 0.999):
        low, high = noise.interval(level)
        assert high == pytest.approx(-low)
        # A little outward, for a lattice point need not be a float.
        assert noise.cdf(high + 1e-9) - noise.cdf(low - 1e-9) >= level - 1e-12
    assert noise.mean() == 0
    assert noise.support() == (-float(noise.radius), float(noise.radius))
    assert noise.var() == float(noise.variance()) == float(noise.expected(ln.l2))
    assert noise.std() ** 2 == pytest.approx(noise.var())
    assert (noise.cdf(math.inf), noise.cdf(-math.inf), noise.sf(math.inf)) == (1, 0, 0)


@named(EVERY)
def test_arrays_agree_with_numbers(noise: Noise) -> None:
    places, levels = np.linspace(-3, 3, 13), np.linspace(0, 1, 11)
    for call, inputs in ((noise.cdf, places), (noise.sf, places), (noise.ppf, levels)):
        assert call(inputs) == pytest.approx([call(float(x)) for x in inputs], rel=1e-12, abs=1e-12)


@named(EVERY)
def test_the_law_is_symmetric_and_rises_from_0_to_1(noise: Noise) -> None:
    gap = Fraction(1, 10**30)
    places = [Fraction(i, 12) for i in range(-60, 61)]
    masses = [noise.probability_up_to(x) for x in places]
    assert all(low <= high for low, high in pairwise(masses))
    for x, mass in zip(places, masses, strict=True):
        assert mass + noise.probability_up_to(-x - gap) <= 1 + SLACK
        assert mass + noise.probability_up_to(-x + gap) >= 1 - SLACK
    far = noise.quantile(1 - Fraction(1, 10**9))
    assert noise.probability_up_to(far) >= 1 - Fraction(1, 10**9) - SLACK
    assert noise.probability_up_to(-far - gap) <= Fraction(1, 10**9) + SLACK


@named(EVERY)
def test_the_quantile_inverts_the_cdf(noise: Noise) -> None:
    for level in (Fraction(1, 10**9), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)):
        x = noise.quantile(level)
        assert noise.probability_up_to(x) >= level - SLACK
        assert noise.probability_up_to(x - Fraction(1, 10**15)) < level


@named(ON_THE_LINE)
def test_the_density_integrates_to_the_cdf(noise: Any) -> None:
    breaks = sorted({-4.0, *(x / 3 for x in range(-7, 8, 2)), 0.0, 1.0, 2.0, 4.0})
    for low, high in pairwise(breaks):
        inside, _ = quad(noise.pdf, low + 1e-13, high - 1e-13, epsabs=1e-12)
        atoms = sum((m for x, m in noise.atoms.items() if low < x <= high), Fraction(0))
        assert noise.cdf(high) - noise.cdf(low) == pytest.approx(inside + float(atoms), abs=1e-10)


@named(ON_A_LATTICE)
def test_the_weights_add_up_to_the_cdf(noise: LatticeNoise) -> None:
    below = noise.probability_up_to(-31 * noise.step)
    for index in range(-30, 31):
        below += Fraction(noise.weight(index), noise.total)
        assert abs(noise.probability_up_to(index * noise.step) - below) <= 60 * SLACK
        assert noise.pmf(index * noise.step) == float(Fraction(noise.weight(index), noise.total))
    assert noise.pmf(noise.step / 2) == 0


COSTS: list[tuple[Cost, Callable[[float], float]]] = [
    (ln.l1, lambda x: x),
    (ln.l2, lambda x: x * x),
    (ln.lp("3/2"), lambda x: x**1.5),
    (ln.threshold("1.1"), lambda x: float(x > 1.1)),
    (
        ln.piecewise_linear([(0, 1), (1, 2), (3, "5/2")]),
        lambda x: float(np.interp(x, [0, 1, 3], [1, 2, 2.5])),
    ),
]


@named(ON_THE_LINE)
@pytest.mark.parametrize(("cost", "function"), COSTS, ids=[repr(cost) for cost, _ in COSTS])
def test_expected_costs_agree_with_quadrature(
    noise: Any, cost: Cost, function: Callable[[float], float]
) -> None:
    atom, (places, weights) = float(noise.atoms.get(Fraction(0), 0)), quadrature(noise)
    area = math.fsum(w * function(x) for x, w in zip(places, weights, strict=True))
    assert float(noise.expected(cost)) == pytest.approx(2 * area + atom * function(0), rel=1e-8)


@lru_cache
def quadrature(noise: Any) -> tuple[list[float], list[float]]:
    """Return Gauss's places and weights times the density, between all places where it may jump."""
    ends = [1.1, *(2.0**-k for k in range(1, 16)), *(k / 3 for k in range(120) if k % 3 < 2)]
    nodes, weights = np.polynomial.legendre.leggauss(12)
    spans = [((a + b) / 2, (b - a) / 2) for a, b in pairwise(sorted(ends))]
    places = np.concatenate([middle + half * nodes for middle, half in spans])
    inside = np.concatenate([half * weights for _, half in spans]) * noise.pdf(places)
    return places.tolist(), inside.tolist()


@named(ON_A_LATTICE)
@pytest.mark.parametrize(("cost", "function"), COSTS, ids=[repr(cost) for cost, _ in COSTS])
def test_expected_costs_agree_with_the_sum(
    noise: LatticeNoise, cost: Cost, function: Callable[[float], float]
) -> None:
    step, last = float(noise.step), int(min(noise.farthest, 250))
    total = math.fsum(
        2 * float(Fraction(noise.weight(k), noise.total)) * function(k * step)
        for k in range(1, last + 1)
    )
    total += noise.pmf(0) * function(0)
    assert float(noise.expected(cost)) == pytest.approx(total, rel=1e-9)


# ---------------------------------------- the irrational distributions, at 60 digits


def oracle(
    noise: Smooth,
) -> tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any]]:
    """Return density, tail and the inverse of the tail, by mpmath from the textbook formula."""
    if isinstance(noise, Gaussian):
        s = real(noise.sigma)
        return (
            lambda x: mp.npdf(x, 0, s),
            lambda x: mp.erfc(x / s / mp.sqrt(2)) / 2,
            lambda q: s * mp.sqrt(2) * mp.erfinv(1 - 2 * q),
        )
    assert isinstance(noise, Laplace | TruncatedLaplace)
    b = real(noise.scale)
    cut = mp.exp(-real(noise.radius) / b) if isinstance(noise.radius, Fraction) else mp.mpf(0)
    return (
        lambda x: mp.exp(-x / b) / (2 * b * (1 - cut)) if mp.exp(-x / b) >= cut else mp.mpf(0),
        lambda x: max(mp.mpf(0), (mp.exp(-x / b) - cut) / (2 * (1 - cut))),
        lambda q: -b * mp.log(cut + 2 * (1 - cut) * q),
    )


@named(SMOOTH)
@settings(max_examples=25)
@given(size=sizes, bits=st.sampled_from([40, 64, 96, 128, 160]))
def test_densities_and_tails_are_enclosed(noise: Smooth, size: Fraction, bits: int) -> None:
    density, tail, _ = oracle(noise)
    x = real(size)
    assert holds(noise.density(size, bits), density(x), bits)
    assert holds(noise.tail(size, bits), tail(x), bits)
    assert holds(noise.below(size, bits), 1 - tail(x))
    assert holds(noise.below(-size, bits), tail(x), bits)


@named(SMOOTH)
@pytest.mark.parametrize("size", [Fraction(0), Fraction(1, 7), Fraction(3)])
def test_the_area_beyond_a_size_is_enclosed(noise: Smooth, size: Fraction) -> None:
    _, tail, _ = oracle(noise)
    far = real(noise.radius) if isinstance(noise.radius, Fraction) else mp.inf
    area = (
        mp.quad(tail, [real(size), real(size) + 2, far])
        if real(size) + 2 < far
        else (mp.quad(tail, [real(size), far]) if real(size) < far else mp.mpf(0))
    )
    for bits in (64, 128):
        found = noise.tail_area(size, bits)
        assert (
            holds(Interval(found.lower, found.upper), area)
            or abs(real(found.middle) - area) < abs(area) * mp.mpf(10) ** -30
        )
        assert found.is_exact or found.is_narrow(bits)


@named(SMOOTH)
@pytest.mark.parametrize("p", ["1/2", 1, "3/2", 2, 3, 7])
def test_moments_agree_with_quadrature(noise: Smooth, p: Any) -> None:
    density, exponent = oracle(noise)[0], real(Fraction(p))
    far = real(noise.radius) if isinstance(noise.radius, Fraction) else mp.inf
    # x = y² takes the root out of x^p at 0, which quadrature would not see.
    cuts = [0, mp.sqrt(far)] if far < 10 else [0, 1, 2, 4, mp.inf]
    truth = 2 * mp.quad(lambda y: 2 * y * density(y * y) * (y * y) ** exponent, cuts)
    found = noise.moment(Fraction(p))
    # Roots are enclosed to 2⁻⁶⁴, everything else to 2⁻¹²⁸.
    digits, bits = (19, 63) if Fraction(p).denominator > 1 else (34, 120)
    assert abs(real(found.middle) / truth - 1) < mp.mpf(10) ** -digits
    assert found.is_exact or found.is_narrow(bits)


@named(SMOOTH)
@settings(max_examples=8)
@given(tail=tails, bits=st.sampled_from([64, 96, 128]))
def test_the_series_are_taylors(noise: Smooth, tail: Fraction, bits: int) -> None:
    found, truths = noise.series(tail, 6, bits), mp.taylor(oracle(noise)[2], real(tail), 5)
    assert len(found) == 6
    for coefficient, truth in zip(found, truths, strict=True):
        slack = abs(truth) * mp.mpf(2) ** -bits + mp.mpf(10) ** -30
        assert abs(real(coefficient.middle) - truth) <= slack
        assert coefficient.is_exact or coefficient.is_narrow(bits)


@named(SMOOTH)
@settings(max_examples=25)
@given(tail=tails, share=st.fractions(min_value=-1, max_value=1, max_denominator=100))
def test_a_taylor_polynomial_is_off_by_its_next_term_at_most(
    noise: Smooth, tail: Fraction, share: Fraction
) -> None:
    there = min(Fraction(1, 2), tail * (1 + share / 3))
    move, inverse = there - tail, oracle(noise)[2]
    for terms in (1, 2, 3, 5):
        found = noise.series(tail, terms, 200)
        value = sum(real(c.middle * move**n) for n, c in enumerate(found))
        worst = noise.series(min(tail, there), terms + 1, 200)[-1]
        bound = max(abs(worst.lower), abs(worst.upper)) * abs(move) ** terms
        assert abs(inverse(real(there)) - value) <= real(bound) + mp.mpf(10) ** -50


@named(SMOOTH)
@given(one=tails, other=tails)
@settings(max_examples=25)
def test_coefficients_alternate_and_fall(noise: Smooth, one: Fraction, other: Fraction) -> None:
    near, far = noise.series(min(one, other), 6), noise.series(max(one, other), 6)
    for n, (steep, flat) in enumerate(zip(near, far, strict=True)):
        sign = (-1) ** n
        assert steep.scaled(sign).lower >= 0
        assert flat.scaled(sign).lower <= steep.scaled(sign).upper


@named(SMOOTH)
@pytest.mark.parametrize(("move", "epsilon"), [("1/5", "1/1000"), (1, "1/10"), (1, 0), (3, "1/2")])
def test_ahead_of_the_crossing_one_neighbour_is_likelier(
    noise: Smooth, move: Any, epsilon: Any
) -> None:
    density, d, factor = oracle(noise)[0], real(Fraction(move)), mp.exp(real(Fraction(epsilon)))
    found = noise.crossing(Fraction(move), Interval.exact(Fraction(epsilon)))
    ahead = [x for x in mp.linspace(-6, 6, 241) if density(abs(x)) > 0]
    told = [x for x in ahead if density(abs(x)) > factor * density(abs(x - d))]
    if found is None:
        assert not told
        return
    before = [x for x in ahead if x < real(found.lower) - mp.mpf(10) ** -20]
    after = [x for x in ahead if x > real(found.upper) + mp.mpf(10) ** -20]
    assert set(before) <= set(told)
    assert not set(after) & set(told)


@named(SMOOTH)
@given(size=sizes, factor=st.sampled_from([Fraction(1, 10**9), Fraction(3, 7), Fraction(10**12)]))
@settings(max_examples=10)
def test_a_scaled_law_is_the_law_of_the_multiple(
    noise: Smooth, size: Fraction, factor: Fraction
) -> None:
    scaled = noise.scaled(factor)
    assert type(scaled) is type(noise)
    assert scaled.tail(size * factor) == noise.tail(size)
    assert scaled.radius == noise.radius * factor
    assert float(scaled.variance()) == pytest.approx(float(noise.variance() * factor**2), rel=1e-12)


# ---------------------------------------------------------------- published values and other code


def test_truncated_laplace_has_its_published_moments() -> None:
    """Geng, Ding, Guo and Kumar 2020, Theorem 1 and its closed forms, at ε = 1, δ = 0.001."""
    for epsilon, delta in (("1", "0.001"), ("0.1", "1e-6"), ("3", "0.2")):
        e, d = mp.mpf(epsilon), mp.mpf(delta)
        r = mp.expm1(e) / (2 * d)
        log = mp.log1p(r)
        radius = Fraction(int(mp.floor(log / e * 10**50)), 10**50)
        noise = TruncatedLaplace(1 / Fraction(epsilon), radius)
        mean, variance = (1 - log / r) / e, 2 / e**2 * (1 - (log**2 / 2 + log) / r)
        assert abs(real(noise.moment(Fraction(1)).middle) / mean - 1) < mp.mpf(10) ** -34
        assert abs(real(noise.moment(Fraction(2)).middle) / variance - 1) < mp.mpf(10) ** -34
        if epsilon == "1":
            assert (float(radius), noise.var()) == pytest.approx((6.7571, 1.9311), abs=5e-5)


@pytest.mark.parametrize(
    ("noise", "other"),
    [
        (Laplace("1.3"), stats.laplace(scale=1.3)),
        (Gaussian("0.75"), stats.norm(scale=0.75)),
    ],
    ids=["Laplace", "Gaussian"],
)
def test_scipy_has_the_same_law(noise: Smooth, other: Any) -> None:
    x, q = np.linspace(-6, 6, 25), np.linspace(0, 1, 17)
    for name, at in (("pdf", x), ("cdf", x), ("sf", x), ("ppf", q)):
        assert getattr(noise, name)(at) == pytest.approx(getattr(other, name)(at), rel=1e-12)
    assert (noise.var(), noise.std()) == pytest.approx((other.var(), other.std()))
    assert noise.interval(0.9) == pytest.approx(other.interval(0.9))
    assert noise.support() == other.support()


def test_one_side_of_the_truncated_law_is_scipys_truncexpon() -> None:
    noise, other = TruncatedLaplace("1.3", 4), stats.truncexpon(4 / 1.3, scale=1.3)
    x = np.linspace(0, 5, 21)
    assert 2 * noise.sf(x) == pytest.approx(other.sf(x), rel=1e-12, abs=1e-15)
    assert float(noise.expected(ln.l1)) == pytest.approx(other.mean(), rel=1e-12)
    assert noise.ppf(np.linspace(0.5, 1, 9)) == pytest.approx(other.ppf(np.linspace(0, 1, 9)))


def test_textbook_moments() -> None:
    """E |X|ᵖ = p!·bᵖ for Laplace; 1·3·5…(p−1)·σᵖ for Gaussian and even p; E |X| = σ√(2/π)."""
    assert [Laplace(2).moment(Fraction(p)) for p in (1, 2, 3, 4)] == [
        Interval.exact(n) for n in (2, 8, 48, 384)
    ]
    assert [Gaussian(2).moment(Fraction(p)) for p in (2, 4, 6)] == [
        Interval.exact(n) for n in (4, 48, 960)
    ]
    assert holds(Gaussian(3).moment(Fraction(1)), 3 * mp.sqrt(2 / mp.pi), 63)


# ---------------------------------------------------------------- rounded to a lattice


def summed(noise: Rounded, cost: Callable[[Any], Any]) -> Any:
    """Add E L up point by point: L at each, times the difference of the tails on its two sides."""
    beyond, g = tails_of(noise), real(noise.step)
    total = (1 - 2 * beyond[0]) * cost(mp.mpf(0))
    for k, (near, far) in enumerate(pairwise(beyond), 1):
        total += 2 * (near - far) * cost(k * g)
    return total


@lru_cache
def tails_of(noise: Rounded) -> list[Any]:
    """Return P(X > (k + ½)g) for k = 0, 1, … until it is 1e-40 of the first, by mpmath."""
    tail, g = oracle(noise.noise)[1], real(noise.step)
    found = [tail(g / 2)]
    while found[-1] > found[0] * mp.mpf(10) ** -40:
        found.append(tail((len(found) + mp.mpf(1) / 2) * g))
    return found


LATTICE_COSTS: list[tuple[Cost, Callable[[Any], Any]]] = [
    (ln.l1, lambda x: x),
    (ln.l2, lambda x: x**2),
    (ln.lp("1/2"), mp.sqrt),
    (ln.lp("3/2"), lambda x: x ** mp.mpf("1.5")),
    (ln.lp("5/2"), lambda x: x ** mp.mpf("2.5")),
    (ln.lp(4), lambda x: x**4),
    (ln.threshold(2), lambda x: mp.mpf(x > 2)),
    (
        ln.piecewise_linear([(0, 1), (2, 5), (9, 6)]),
        lambda x: min(1 + 2 * x, 5 + (min(x, 9) - 2) / 7),
    ),
]


@pytest.mark.parametrize("scale", ["0.2", "1", "12"])
@pytest.mark.parametrize("family", [Laplace, Gaussian, lambda b: TruncatedLaplace(b, 5 * b)])
def test_expected_costs_on_the_integers(family: Any, scale: str) -> None:
    """Up to 400 points the sum is taken as it is; the upper bound counts, to 1e-4."""
    noise = Rounded(Fraction(1), family(Fraction(scale)))
    for cost, function in LATTICE_COSTS:
        found, truth = noise.enclose(cost), summed(noise, function)
        slack = truth * mp.mpf(10) ** -30
        assert real(found.lower) <= truth + slack
        assert truth - slack <= real(found.upper) <= truth * (1 + mp.mpf(10) ** -4)
    assert noise.variance() == noise.enclose(ln.l2).upper


@pytest.mark.long
@pytest.mark.parametrize("scale", ["60", "1000"])
@pytest.mark.parametrize("family", [Laplace, Gaussian, lambda b: TruncatedLaplace(b, 5 * b)])
def test_expected_costs_on_integers_much_finer_than_the_noise(family: Any, scale: str) -> None:
    test_expected_costs_on_the_integers(family, scale)


@named([Laplace("1.3"), Gaussian("3/4"), TruncatedLaplace("1.3", 4)])
@pytest.mark.parametrize("step", [Fraction(1, 1 << 20), Fraction(1, 3 * 10**6)])
def test_on_a_fine_lattice_costs_are_those_of_the_line(noise: Smooth, step: Fraction) -> None:
    """Moving by g/2 at most changes E |X|ᵖ, p > 1, by a factor 1 + p·g/‖X‖ or so at most."""
    for cost in (ln.l1, ln.l2, ln.lp("3/2"), ln.lp(3)):
        found, line = Rounded(step, noise).enclose(cost), noise.enclose(cost)
        assert found.lower * (1 - 10 * step) <= line.upper
        assert line.lower <= found.upper * (1 + 10 * step)
        assert found.upper <= line.upper * (1 + Fraction(1, 10**5))
    assert Rounded(step, noise).enclose(ln.l1).upper <= noise.enclose(ln.l1).upper


def test_rounded_to_a_fine_lattice_a_gaussian_gains_a_twelfth() -> None:
    """Sheppard's correction: the variance of a rounded Gaussian is σ² + g²/12, all but exactly."""
    for step in (Fraction(1), Fraction(1, 10), Fraction(1, 1000)):
        found = Rounded(step, Gaussian(3)).enclose(ln.l2)
        assert found.lower <= 9 + step**2 / 12 <= found.upper + Fraction(1, 10**50)
        assert found.upper - found.lower <= step**2


def test_a_function_is_enclosed_where_the_noise_has_a_largest_size() -> None:
    noise = TruncatedLaplace("1.3", 4)
    for step, width in ((Fraction(1, 10), 1e-9), (Fraction(1, 700), 2e-3)):
        found = Rounded(step, noise).enclose(ln.Cost(math.log1p))
        truth = summed(Rounded(step, noise), mp.log1p)
        assert real(found.lower) * (1 - mp.mpf(10) ** -15) <= truth
        assert truth <= real(found.upper) * (1 + mp.mpf(10) ** -15)
        assert found.upper - found.lower <= width
    with pytest.raises(Unsupported, match="unbounded noise"):
        Rounded(Fraction(1), Laplace(1)).enclose(ln.Cost(math.log1p))


# ---------------------------------------------------------------- tiny and huge


@pytest.mark.parametrize("scale", ["1e-300", "1e-12", "1e300"])
@pytest.mark.parametrize("family", [Laplace, Gaussian, lambda b: TruncatedLaplace(b, 3 * b)])
def test_laws_hold_at_tiny_and_huge_scales(family: Any, scale: str) -> None:
    unit, noise = family(Fraction(1)), family(Fraction(scale))
    b = Fraction(scale)
    assert noise.tail(2 * b) == unit.tail(Fraction(2))
    assert noise.density(b).scaled(b).middle == pytest.approx(unit.density(Fraction(1)).middle)
    assert noise.quantile(Fraction(1, 3)) / b == pytest.approx(unit.quantile(Fraction(1, 3)))
    assert noise.moment(Fraction(3)).is_exact or noise.moment(Fraction(3)).is_narrow(60)
    assert noise.ppf(0.9) == pytest.approx(float(scale) * unit.ppf(0.9), rel=1e-14)
    near = Rounded(Fraction(1), noise).enclose(ln.l2)
    if b < 1:
        assert 0 <= near.lower <= near.upper < Fraction(1, 10**200)
    else:
        assert near.is_narrow(16)


@pytest.mark.parametrize("ratio", ["1e-12", "1e-300", "1e5"])
def test_a_truncated_law_is_enclosed_however_little_or_much_is_cut(ratio: str) -> None:
    """Cut off early it is the uniform distribution, cut off late the Laplace distribution."""
    noise = TruncatedLaplace(1, ratio)
    radius = Fraction(ratio)
    early = radius < 1
    for share in (Fraction(1, 3), Fraction(999, 1000)):
        size = radius * share if early else Fraction(5) * share
        found, area = noise.tail(size), noise.tail_area(size)
        assert found.is_narrow(128)
        assert area.is_narrow(128)
        truth = (1 - share) / 2 if early else Laplace(1).tail(size).middle
        assert float(found.middle) == pytest.approx(float(truth), rel=1e-11)
        above = radius * (1 - share) ** 2 / 4 if early else truth
        assert abs(area.middle / above - 1) < Fraction(1, 10**10)
    for coefficient in noise.series(Fraction(1, 3), 5):
        assert coefficient.is_narrow(128)
    assert noise.series(Fraction(1, 2), 2)[0] == Interval.exact(0)
    mean = radius / 2 if early else 1
    assert abs(noise.moment(Fraction(1)).middle / mean - 1) < Fraction(1, 10**10)


@named([Laplace(1), Gaussian(1)])
def test_far_out_a_tail_is_only_said_to_be_small(noise: Smooth) -> None:
    for size in (Fraction(10**9), Fraction(10**300)):
        for found in (noise.tail(size), noise.density(size), noise.tail_area(size)):
            assert 0 <= found.lower <= found.upper <= Fraction(1, 1 << 250000)


@named(SMOOTH)
def test_near_one_half_a_quantile_is_nearly_0(noise: Smooth) -> None:
    """There Q falls at the rate 1 / density(0)."""
    gap = Fraction(1, 10**80)
    first = noise.series(Fraction(1, 2) - gap, 1)[0]
    assert first.is_narrow(128)
    slope = real(gap) / oracle(noise)[0](mp.mpf(0))
    assert abs(real(first.middle) / slope - 1) < mp.mpf(10) ** -35
    assert noise.series(Fraction(1, 2), 1)[0] == Interval.exact(0)
    assert noise.quantile(Fraction(1, 2)) == 0


@pytest.mark.parametrize("p", [10**6, 10**9, "1000000.5"])
@named([Laplace(1), Gaussian(1), TruncatedLaplace(1, 5)])
def test_moments_that_would_fill_the_memory_are_refused(noise: Smooth, p: Any) -> None:
    with pytest.raises((InvalidParameter, Unsupported), match=r"outside of|beyond"):
        noise.expected(ln.lp(p))


# ---------------------------------------------------------------- what is refused, what is printed


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Laplace(0), "scale must be .*got 0"),
        (lambda: Laplace("x"), "scale must be"),
        (lambda: Gaussian(-1), "sigma must be .*got -1"),
        (lambda: Gaussian(math.nan), "sigma must be"),
        (lambda: TruncatedLaplace(1, 0), "radius must be .*got 0"),
        (lambda: TruncatedLaplace(1, 10**6), "at most 131072 times scale.*Use Laplace"),
        (lambda: Laplace(1).scaled(0), "factor must be"),
        (lambda: Rounded(Fraction(0), Laplace(1)), "step must be greater than 0, got 0"),
        (lambda: Laplace(1).quantile(Fraction(1)), "between 0 and 1, both excluded"),
        (
            lambda: Rounded(Fraction(1), Gaussian(1)).quantile(Fraction(0)),
            "must be between 0 and 1, both",
        ),
        (
            lambda: Rounded(Fraction(1), Gaussian(1)).half_width_in_steps(Fraction(1)),
            "confidence must be below 1 for unbounded noise",
        ),
        (lambda: Gaussian(1).ppf(1.5), "between 0 and 1, got 3/2"),
        (lambda: Gaussian(1).cdf(cast("str", [1, 2])), "a number or a numpy array"),
    ],
)
def test_bad_parameters_are_refused(made: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        made()


@named(SMOOTH)
def test_a_law_prints_as_it_is_written(noise: Smooth) -> None:
    names = {"Laplace": Laplace, "TruncatedLaplace": TruncatedLaplace, "Gaussian": Gaussian}
    shown = repr(noise)
    name, arguments = shown.rstrip(")").split("(")
    numbers = dict(part.split("=") for part in arguments.split(", "))
    assert names[name](**numbers) == noise
    assert repr(Rounded(Fraction(1, 2), noise)) == f"Rounded(step=0.5, {shown})"


@named(EVERY)
def test_an_array_is_computed_as_exactly_as_each_of_its_elements(noise: Noise) -> None:
    """Computed as 1 − cdf in floats, sf would lose its digits where cdf is nearly 1."""
    places = np.array([-40.0, -3.5, -0.25, 0.0, 0.1, 2.0, 7.5, math.inf])
    levels = np.array([0.001, 0.25, 0.5, 0.999])
    assert noise.cdf(places).tolist() == [noise.cdf(place) for place in places.tolist()]
    exact = [float(1 - noise.probability_up_to(Fraction(place))) for place in places.tolist()[:-1]]
    assert noise.sf(places).tolist() == [*exact, 0.0]
    assert noise.ppf(levels).tolist() == [noise.ppf(Fraction(q)) for q in levels.tolist()]
