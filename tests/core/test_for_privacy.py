"""Noise built for a guarantee: private, as narrow as possible, and the same as calibrate finds."""

import math
import pickle
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

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
        InvalidParameter, match="truncated Laplace noise requires ε > 0 and 0 < δ ≤ 1/2"
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


@pytest.mark.parametrize("delta", ["1/2", "0.4999"])
@pytest.mark.parametrize("epsilon", ["0.01", 1, 20])
def test_truncated_laplace_noise_is_private_up_to_one_half(epsilon: str | int, delta: str) -> None:
    """At δ = 1/2 the radius is Δ, and δ(ε′) = P(X < 0) = 1/2 for every ε′."""
    privacy = ln.Privacy(epsilon, delta)
    noise = TruncatedLaplace.for_privacy(privacy, sensitivity=3)
    check_privacy(noise, privacy, sensitivity=Fraction(3))
    if delta == "1/2":
        assert 3 <= noise.radius <= 3 * (1 + Fraction(1, 1 << 50))
        narrower = TruncatedLaplace(noise.scale, Fraction(29, 10))
        with pytest.raises(NotPrivate, match="does not satisfy"):
            check_privacy(narrower, privacy, sensitivity=Fraction(3))
    mechanism = ln.calibrate(privacy, sensitivity=3, family="truncated_laplace")
    assert mechanism.noise == noise
    mechanism.certificate.verify()
    with pytest.raises(InvalidParameter, match="0 < δ ≤ 1/2, got"):
        TruncatedLaplace(epsilon=epsilon, delta="0.5001", sensitivity=3)


def test_the_usual_constructors_take_a_guarantee() -> None:
    """By hand: Laplace Δ/ε; P_α by its formula; σ = Δ/2Φ⁻¹((1+δ)/2); the share 1/(1 + e^(ε/2))."""
    assert Laplace(epsilon="0.5", sensitivity=1) == Laplace(2)
    assert Uniform(delta="0.8", sensitivity=1, atom="0.4") == Uniform("0.75", "0.4")
    gaussian = Gaussian(delta="0.1", sensitivity=2)
    assert gaussian.std() == pytest.approx(2 / (2 * norm.ppf(0.55)), rel=1e-12)
    staircase = Staircase(epsilon=1, sensitivity=3)
    assert staircase.period == 3
    assert float(staircase.ratio) == pytest.approx(math.exp(-1), rel=1e-15)
    assert float(staircase.gamma) == pytest.approx(1 / (1 + math.exp(0.5)), rel=1e-15)
    assert Staircase(epsilon=1, sensitivity=3, gamma="0.9").gamma == Fraction(9, 10)
    truncated = TruncatedLaplace(epsilon=1, delta="0.001", sensitivity=1)
    assert float(truncated.radius) == pytest.approx(math.log1p(math.expm1(1) / 0.002), rel=1e-12)


@settings(max_examples=20)
@given(epsilons, deltas, lengths)
def test_both_ways_of_construction_return_the_same_noise(
    epsilon: Fraction, delta: Fraction, sensitivity: Fraction
) -> None:
    both, size = ln.Privacy(epsilon, delta), sensitivity
    named = {"epsilon": epsilon, "delta": delta, "sensitivity": size}
    assert Laplace(**named) == Laplace.for_privacy(both, sensitivity=size)
    assert Gaussian(**named) == Gaussian.for_privacy(both, sensitivity=size)
    pure, additive = ln.Privacy(epsilon), ln.Privacy(delta=delta)
    assert Laplace(epsilon=epsilon, sensitivity=size) == Laplace.for_privacy(pure, sensitivity=size)
    assert Laplace(delta=delta, sensitivity=size) == Laplace.for_privacy(additive, sensitivity=size)
    assert Staircase(epsilon=epsilon, sensitivity=size) == Staircase.for_privacy(
        pure, sensitivity=size
    )
    assert Uniform(delta=delta, sensitivity=size) == Uniform.for_privacy(additive, sensitivity=size)


@pytest.mark.parametrize("half", [0.5, "0.5", "1/2", Fraction(1, 2), Decimal("0.5")], ids=repr)
def test_a_constructor_takes_the_numbers_that_a_guarantee_takes(
    half: float | str | Fraction | Decimal,
) -> None:
    assert Laplace(epsilon=half, sensitivity=half) == Laplace(1)
    assert Uniform(delta=half, sensitivity=half) == Uniform("1/2")
    assert Staircase(epsilon=half, sensitivity=half) == Staircase(epsilon="0.5", sensitivity="0.5")


def test_noise_of_a_guarantee_is_stored_by_its_parameters() -> None:
    noise = Staircase(epsilon=1, sensitivity=1)
    assert Staircase.restore(period=1, gamma=noise.gamma, ratio=noise.ratio) == noise
    assert pickle.loads(pickle.dumps(noise)) == noise
    assert set(vars(noise)) == {"period", "gamma", "ratio"}
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'gamma'"):
        noise.gamma = Fraction(0)  # type: ignore[misc]


CONSTRUCTORS: list[tuple[Any, dict[str, Any], str, str]] = [
    (Staircase, {}, "period, gamma and ratio", "no arguments"),
    (Staircase, {"period": 1, "ratio": "1/2"}, "period, gamma and ratio", "period and ratio"),
    (Staircase, {"gamma": 1}, "period, gamma and ratio", "gamma"),
    (Staircase, {"epsilon": 1}, "period, gamma and ratio", "epsilon"),
    (
        Staircase,
        {"period": 1, "epsilon": 1, "sensitivity": 1},
        "period, gamma and ratio",
        "period, epsilon and sensitivity",
    ),
    (Laplace, {"scale": 2, "sensitivity": 1}, "scale", "scale and sensitivity"),
    (Laplace, {"scale": 2, "epsilon": 1}, "scale", "scale and epsilon"),
    (Gaussian, {"sigma": 2, "delta": "0.1", "sensitivity": 1}, "sigma", "sigma, delta and sens"),
    (Gaussian, {"delta": "0.1"}, "sigma", "delta"),
    (TruncatedLaplace, {"scale": 1}, "scale and radius", "scale"),
    (Uniform, {"atom": "1/2"}, "radius", "no arguments"),
    (Uniform, {"radius": 1, "delta": "0.1", "sensitivity": 1}, "radius", "radius, delta and sens"),
]


@pytest.mark.parametrize(("kind", "given_", "needs", "got"), CONSTRUCTORS)
def test_parts_of_both_ways_of_construction_are_rejected(
    kind: Any, given_: dict[str, Any], needs: str, got: str
) -> None:
    message = rf"{kind.__name__}\(\) needs {needs}, or a guarantee and sensitivity, got {got}"
    with pytest.raises(InvalidParameter, match=message) as error:
        kind(**given_)
    assert f"or {kind.__name__}(" in str(error.value)
    assert "Stairs" not in str(error.value)


def test_guarantees_by_name_that_a_family_cannot_satisfy_are_rejected() -> None:
    with pytest.raises(InvalidParameter, match=r"Laplace noise requires ε > 0 or δ > 0, got ε = 0"):
        Laplace(epsilon=0, sensitivity=1)
    with pytest.raises(InvalidParameter, match=r"Gaussian noise requires δ > 0, got ε = 1, δ = 0"):
        Gaussian(epsilon=1, delta=0, sensitivity=1)
    with pytest.raises(
        InvalidParameter, match=r"delta must be at least 0 and less than 1, got 1\."
    ):
        Uniform(delta=1, sensitivity=1)
    with pytest.raises(InvalidParameter, match=r"epsilon must be a finite number, got 'x'"):
        Staircase(epsilon="x", sensitivity=1)
    with pytest.raises(InvalidParameter, match=r"sensitivity must be greater than 0, got 0"):
        Staircase(epsilon=1, sensitivity=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'delta'"):
        Staircase(epsilon=1, delta="0.1", sensitivity=1)  # type: ignore[call-overload]
