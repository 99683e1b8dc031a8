"""Noise built for a guarantee: private, as narrow as possible, and the same as calibrate finds."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.core.guarantee import check_privacy
from leastnoise.errors import InvalidParameter, NotPrivate
from leastnoise.noise import Gaussian, Laplace, Staircase, TruncatedLaplace, Uniform

epsilons = st.fractions(min_value=Fraction(1, 50), max_value=6, max_denominator=100)
deltas = st.fractions(
    min_value=Fraction(1, 10**6), max_value=Fraction(99, 100), max_denominator=10**6
)
lengths = st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=1000)


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        (Laplace, "laplace"),
        (TruncatedLaplace, "truncated_laplace"),
        (Gaussian, "gaussian"),
    ],
)
@pytest.mark.parametrize("privacy", [ln.Privacy(1, "1e-6"), ln.Privacy("0.1", "0.3")], ids=str)
def test_smooth_noise_is_the_noise_of_its_family(
    kind: type[Laplace | TruncatedLaplace | Gaussian], family: str, privacy: ln.Privacy
) -> None:
    noise = kind.for_privacy(privacy, sensitivity="0.7")
    assert noise == ln.calibrate(privacy, sensitivity="0.7", family=family).noise
    check_privacy(noise, privacy, sensitivity=Fraction(7, 10))
    with pytest.raises(NotPrivate, match="does not satisfy"):
        check_privacy(noise.scaled("0.99"), privacy, sensitivity=Fraction(7, 10))


@settings(max_examples=40)
@given(epsilons, lengths)
def test_a_staircase_is_private_and_tight(epsilon: Fraction, sensitivity: Fraction) -> None:
    noise = Staircase.for_privacy(ln.Privacy(epsilon), sensitivity=sensitivity)
    check_privacy(noise, ln.Privacy(epsilon), sensitivity=sensitivity)
    with pytest.raises(NotPrivate, match="does not satisfy"):
        check_privacy(noise, ln.Privacy(epsilon * Fraction(999, 1000)), sensitivity=sensitivity)


@pytest.mark.parametrize("epsilon", ["0.05", 1, 5])
def test_the_default_share_of_a_staircase_is_the_optimum_for_the_absolute_error(
    epsilon: str | int,
) -> None:
    privacy = ln.Privacy(epsilon)
    noise = Staircase.for_privacy(privacy, sensitivity=2)
    best = ln.calibrate(privacy, sensitivity=2, family="staircase").cost
    assert noise.expected(ln.l1) <= best
    assert noise.expected(ln.l1) >= best * (1 - Fraction(1, 10**9))
    other = Staircase.for_privacy(privacy, sensitivity=2, gamma="0.9")
    assert other.gamma == Fraction(9, 10)
    assert other.expected(ln.l1) > best


@settings(max_examples=60)
@given(deltas, lengths, st.fractions(min_value=0, max_value=Fraction(99, 100), max_denominator=100))
def test_p_alpha_needs_exactly_its_delta(
    delta: Fraction, sensitivity: Fraction, share: Fraction
) -> None:
    noise = Uniform.for_privacy(
        ln.Privacy(delta=delta), sensitivity=sensitivity, atom=share * delta
    )
    assert noise.atom == share * delta
    assert noise.density == (delta - noise.atom) / sensitivity
    assert noise.total_variation(sensitivity) == delta


def test_the_epsilon_of_uniform_noise_does_not_matter() -> None:
    both, delta = ln.Privacy(3, "0.1"), ln.Privacy(delta="0.1")
    assert Uniform.for_privacy(both, sensitivity=1) == Uniform.for_privacy(delta, sensitivity=1)
    assert (
        ln.Profile(Uniform.for_privacy(both, sensitivity=1), sensitivity=1).delta(3) == both.delta
    )


def test_guarantees_that_a_family_cannot_satisfy_are_rejected() -> None:
    pure, exact = ln.Privacy(1), ln.Privacy(0, 0)
    with pytest.raises(
        InvalidParameter, match=r"atom must be at least 0 and less than δ, got 0 an"
    ):
        Uniform.for_privacy(pure, sensitivity=1)
    with pytest.raises(InvalidParameter, match=r"less than δ, got '0.1' and ε = 0, δ = 0\.1\. Use"):
        Uniform.for_privacy(ln.Privacy(delta="0.1"), sensitivity=1, atom="0.1")
    with pytest.raises(InvalidParameter, match=r"Gaussian noise requires δ > 0, got ε = 1, δ = 0"):
        Gaussian.for_privacy(pure, sensitivity=1)
    with pytest.raises(InvalidParameter, match="Laplace noise requires ε > 0 or δ > 0, got"):
        Laplace.for_privacy(exact, sensitivity=1)
    with pytest.raises(
        InvalidParameter, match="truncated Laplace noise requires ε > 0 and 0 < δ <"
    ):
        TruncatedLaplace.for_privacy(pure, sensitivity=1)
    with pytest.raises(
        InvalidParameter, match=r"the staircase requires ε > 0, got ε = 0, δ = 0\.1"
    ):
        Staircase.for_privacy(ln.Privacy(delta="0.1"), sensitivity=1)


@pytest.mark.parametrize("kind", [Uniform, Laplace, TruncatedLaplace, Gaussian, Staircase])
def test_other_arguments_are_rejected(kind: type[Laplace]) -> None:
    with pytest.raises(InvalidParameter, match="privacy must be a Privacy, got 1"):
        kind.for_privacy(1, sensitivity=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="sensitivity must be greater than 0, got 0"):
        kind.for_privacy(ln.Privacy(1, "0.1"), sensitivity=0)
