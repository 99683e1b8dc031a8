"""Distributions of uniform noise on the line and on a lattice; its formulas against scipy."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

import leastnoise as ln
from leastnoise.noise import DiscreteUniform, Noise, Uniform

shares = st.fractions(min_value=0, max_value=1, max_denominator=1000)
lengths = st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=1000)
uniforms = st.builds(Uniform, radius=lengths, atom=shares.filter(lambda a: a < 1))
discretes = st.builds(
    lambda reach, level, rim, atom, step: DiscreteUniform(
        reach=reach, level=level, rim=min(rim, level), atom=atom, step=step
    ),
    st.integers(0, 12),
    st.integers(1, 9),
    st.integers(0, 9),
    st.integers(0, 30),
    lengths,
)
noises = st.one_of(uniforms, discretes)
places = st.fractions(min_value=-150, max_value=150, max_denominator=1000)


@given(noises)
def test_the_mass_is_one_and_symmetric(noise: Noise) -> None:
    radius = Fraction(noise.radius)
    assert noise.probability_up_to(radius) == 1
    assert noise.probability_up_to(-radius - Fraction(1, 10**9)) == 0
    assert noise.probability_up_to(Fraction(0)) >= Fraction(1, 2)


@given(noises, places)
def test_both_tails_weigh_the_same(noise: Noise, x: Fraction) -> None:
    gap = Fraction(1, 10**15)  # smaller than any distance of the lattices and places drawn here
    assert noise.probability_up_to(x) + noise.probability_up_to(-x - gap) <= 1
    assert noise.probability_up_to(x) + noise.probability_up_to(-x + gap) >= 1


@given(noises, places, places)
def test_the_cdf_rises(noise: Noise, x: Fraction, y: Fraction) -> None:
    low, high = sorted((x, y))
    assert noise.probability_up_to(low) <= noise.probability_up_to(high)


@given(noises, shares.filter(bool))
def test_the_quantile_inverts_the_cdf(noise: Noise, level: Fraction) -> None:
    x = noise.quantile(level)
    assert noise.probability_up_to(x) >= level
    assert noise.probability_up_to(x - Fraction(1, 10**15)) < level


@given(noises)
def test_the_first_quantile_is_where_the_support_begins(noise: Noise) -> None:
    assert noise.quantile(Fraction(0)) == -noise.radius
    assert noise.quantile(Fraction(1)) == noise.radius


@given(discretes)
def test_a_discrete_law_is_its_weights(noise: DiscreteUniform) -> None:
    indices = range(-noise.reach - 2, noise.reach + 3)
    assert sum(noise.weight(j) for j in indices) == noise.total
    cumulative = Fraction(0)
    for j in indices:
        cumulative += Fraction(noise.weight(j), noise.total)
        assert noise.probability_up_to(j * noise.step) == cumulative
        assert noise.pmf(j * noise.step) == float(Fraction(noise.weight(j), noise.total))
    variance = sum(noise.weight(j) * (j * noise.step) ** 2 for j in indices) / noise.total
    assert noise.variance() == variance == noise.expected(ln.l2)
    assert noise.expected(ln.l1) == sum(
        Fraction(noise.weight(j), noise.total) * abs(j * noise.step) for j in indices
    )


@given(discretes, shares.filter(bool))
def test_within_is_the_smallest_symmetric_interval(noise: DiscreteUniform, level: Fraction) -> None:
    def covered(reach: int) -> Fraction:
        inside = sum(noise.weight(j) for j in range(-reach, reach + 1))
        return Fraction(inside, noise.total)

    reach = noise.half_width_in_steps(level)
    assert covered(reach) >= level
    assert reach == 0 or covered(reach - 1) < level


@settings(max_examples=12)
@given(uniforms)
def test_formulas_agree_with_quadrature(noise: Uniform) -> None:
    radius = float(noise.radius) * (1 - 1e-15)  # inside, where the density does not jump

    def integrated(power: float) -> float:
        return float(quad(lambda x: noise.pdf(x) * x**power, 0, radius, epsabs=0, epsrel=1e-9)[0])

    assert 2 * integrated(0) + float(noise.atom) == pytest.approx(1, rel=1e-9)
    for cost, power in ((ln.l1, 1), (ln.l2, 2), (ln.lp("3/2"), 1.5)):
        assert float(noise.expected(cost)) == pytest.approx(2 * integrated(power), rel=1e-7)
    assert noise.var() == pytest.approx(float(noise.expected(ln.l2)), rel=1e-15)


@given(noises, st.lists(places, min_size=1, max_size=8), st.lists(shares, min_size=1, max_size=8))
def test_arrays_agree_with_numbers(
    noise: Noise, xs: list[Fraction], levels: list[Fraction]
) -> None:
    points, probabilities = np.array(xs, dtype=float), np.array(levels, dtype=float)
    for call, inputs in ((noise.cdf, points), (noise.sf, points), (noise.ppf, probabilities)):
        one_by_one = [call(float(x)) for x in inputs]
        assert call(inputs) == pytest.approx(one_by_one, rel=1e-12, abs=1e-12 * float(noise.radius))


def test_without_an_atom_it_is_scipys_uniform() -> None:
    noise, oracle = Uniform(radius=5), stats.uniform(-5, 10)
    x, q = np.linspace(-6, 6, 49), np.linspace(0, 1, 33)
    assert noise.cdf(x) == pytest.approx(oracle.cdf(x))
    assert noise.sf(x) == pytest.approx(oracle.sf(x))
    assert noise.pdf(x) == pytest.approx(oracle.pdf(x))
    assert noise.ppf(q) == pytest.approx(oracle.ppf(q))
    assert (noise.mean(), noise.std()) == pytest.approx((oracle.mean(), oracle.std()))
    assert noise.interval(0.9) == pytest.approx(oracle.interval(0.9))
    assert noise.support() == (-5.0, 5.0)


def test_an_atom_is_in_the_cdf_and_not_in_the_pdf() -> None:
    noise = Uniform(radius=1, atom=0.5)
    assert (noise.cdf(0), noise.sf(0), noise.cdf(-1e-300)) == (0.75, 0.25, 0.25)
    assert noise.pdf(0) == 0.25
    assert noise.ppf(0.3) == noise.ppf(0.75) == 0.0
    assert noise.atoms == {Fraction(0): Fraction(1, 2)}
    assert (noise.cdf(float("inf")), noise.cdf(float("-inf"))) == (1.0, 0.0)


@pytest.mark.parametrize("radius", ["1e-300", "1e300"])
def test_laws_hold_at_the_ends_of_the_floats(radius: str) -> None:
    noise = Uniform(radius=radius)
    edge = float(radius)
    assert noise.cdf(np.array([-edge, 0.0, edge / 2])).tolist() == [0.0, 0.5, 0.75]
    assert noise.ppf(np.array([0.25])).tolist() == [-edge / 2]
