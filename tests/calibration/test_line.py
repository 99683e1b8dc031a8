"""The least noise on the line: the paper's values, the critical width, and nothing cheaper."""

import math
from fractions import Fraction

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.costs.cost import Cost
from leastnoise.errors import InvalidParameter

# Whole thousandths: Hypothesis would rather try small denominators, and miss the large δ.
deltas = st.integers(1, 999).map(lambda n: Fraction(n, 1000))
sensitivities = st.fractions(min_value=Fraction(1, 20), max_value=20, max_denominator=20)


def optimum(p: int, delta: Fraction, moved: Fraction) -> tuple[Fraction, Fraction]:
    """GDGK19, Theorem 3, transcribed: α* and V for whole p."""
    if delta <= Fraction(p, p + 1):
        return Fraction(0), moved**p / (2**p * (p + 1) * delta**p)
    return (p + 1) * delta - p, Fraction(p + 1, 2 * p) ** p * (1 - delta) * moved**p


@given(st.integers(1, 6), deltas, sensitivities)
def test_theorem_3_exactly(p: int, delta: Fraction, moved: Fraction) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=moved, cost=ln.lp(p))
    atom, least = optimum(p, delta, moved)
    assert isinstance(mechanism.noise, ln.noise.Uniform)
    assert mechanism.noise.atom == atom
    assert mechanism.noise.radius == (1 - atom) * moved / (2 * (delta - atom))
    assert mechanism.cost == mechanism.certificate.lower_bound == least
    assert mechanism.certificate.exact
    assert mechanism.certificate.source == "GDGK19, Theorem 3"
    event("with mass at the origin" if atom else "without")


@given(st.fractions(min_value=Fraction(1, 20), max_value=4, max_denominator=20), deltas)
def test_theorem_3_for_every_rational_exponent(p: Fraction, delta: Fraction) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1, cost=ln.lp(p))
    q = float(p)
    if delta <= p / (p + 1):
        expected = 1 / (2**q * (q + 1) * float(delta) ** q)
    else:
        expected = ((q + 1) / (2 * q)) ** q * float(1 - delta)
    assert float(mechanism.cost) == pytest.approx(expected, rel=1e-12)
    spread = mechanism.cost - mechanism.certificate.lower_bound
    assert 0 <= spread <= Fraction(1, 1 << 64) * max(Fraction(1), mechanism.cost)


@given(
    st.sampled_from(
        [ln.l1, ln.l2, ln.lp("1/2"), ln.piecewise_linear([(0, 1), (1, 1), (2, 5), (90, 99)])]
    ),
    deltas,
    st.fractions(min_value=0, max_value=1, max_denominator=1000),
)
def test_no_other_mass_at_the_origin_costs_less(
    cost: Cost, delta: Fraction, share: Fraction
) -> None:
    """Theorem 2's family, mass by mass; the certificate's lower bound must be below all of them."""
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1, cost=cost)
    atom = share * delta * Fraction(999, 1000)
    other = ln.noise.Uniform((1 - atom) / (2 * (delta - atom)), atom)
    assert mechanism.certificate.lower_bound <= other.enclose(cost).upper
    assert mechanism.noise.enclose(cost).lower <= other.enclose(cost).upper


@pytest.mark.parametrize(
    ("function", "width"),
    [
        (math.log1p, 1.14403),
        (lambda x: 1 - math.exp(-x * x), 0.80204),
        (lambda x: x * x / 2 if x < 0.3 else 0.3 * (x - 0.15), 0.86056),
        (lambda x: x, 1.0),
        (lambda x: x**4, 0.625),
    ],
    ids=["log(1+x)", "1-exp(-x^2)", "huber(0.3)", "x", "x^4"],
)
def test_the_critical_width_of_a_function(function: "type[float]", width: float) -> None:
    """Values of the project's mathematics, recomputed there by another route."""
    for delta in ("0.9", "0.95"):  # it depends on the cost and Δ alone
        mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1, cost=ln.Cost(function))
        assert float(mechanism.noise.radius) == pytest.approx(width, abs=6e-6)
        assert mechanism.certificate.gap < Fraction(1, 1000)


def test_a_function_and_the_closed_form_agree() -> None:
    for delta in ("0.01", "0.3", "0.7", "0.97"):
        privacy = ln.Privacy(delta=delta)
        closed = ln.calibrate(privacy, sensitivity=2, cost=ln.l2)
        called = ln.calibrate(privacy, sensitivity=2, cost=ln.Cost(lambda x: x * x))
        assert called.certificate.lower_bound <= closed.cost <= called.cost
        assert called.cost / closed.cost - 1 < Fraction(1, 5000)


def test_where_the_balance_is_flat_the_smallest_width_is_taken() -> None:
    """A slope of 1 up to 1, level up to 3: from 1 to 3 every width costs alike."""
    flat = ln.piecewise_linear([(0, 0), (1, 1), (3, 1), (4, 90)])
    mechanism = ln.calibrate(ln.Privacy(delta="0.9"), sensitivity=1, cost=flat)
    assert mechanism.noise == ln.noise.Uniform(1, "0.8")
    assert mechanism.certificate.exact
    wider = ln.noise.Uniform(2, (2 * Fraction(9, 10) - Fraction(1, 2)) / (2 - Fraction(1, 2)))
    assert wider.expected(flat) == mechanism.cost == mechanism.certificate.lower_bound


def test_a_jump_stops_the_width_there() -> None:
    """A cost that jumps at 2 makes 2 the critical width: V falls before and rises after."""
    jumps = ln.Cost(lambda x: math.sqrt(x) if x <= 2 else 50.0)
    mechanism = ln.calibrate(ln.Privacy(delta="0.95"), sensitivity=3, cost=jumps)
    assert float(mechanism.noise.radius) == pytest.approx(2, rel=1e-3)


def test_a_cost_that_starts_above_zero_shifts_the_cost_and_nothing_else() -> None:
    low = ln.calibrate(
        ln.Privacy(delta="0.8"), sensitivity=1, cost=ln.piecewise_linear([(0, 0), (9, 9)])
    )
    high = ln.calibrate(
        ln.Privacy(delta="0.8"), sensitivity=1, cost=ln.piecewise_linear([(0, 7), (9, 16)])
    )
    assert high.noise == low.noise == ln.calibrate(ln.Privacy(delta="0.8"), sensitivity=1).noise
    assert high.cost == low.cost + 7
    assert high.certificate.lower_bound == low.certificate.lower_bound + 7


@pytest.mark.parametrize("delta", ["0.05", "0.5", "0.95"])
def test_a_threshold_above_half_the_sensitivity_never_has_an_atom(delta: str) -> None:
    for limit in ("0.5", "0.7", "3"):
        cost = ln.threshold(limit)
        mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1, cost=cost)
        narrowest = Fraction(1, 2) / Fraction(delta)
        assert mechanism.noise == ln.noise.Uniform(narrowest)
        assert mechanism.cost == max(0, 1 - Fraction(limit) / narrowest)


@pytest.mark.parametrize(
    ("cost", "infimum"),
    [(ln.threshold("0.4"), "0.1"), (ln.piecewise_linear([(0, 1), ("0.1", 3)]), "1.2")],
    ids=repr,
)
def test_an_infimum_that_is_not_attained_is_refused_with_its_value(
    cost: Cost, infimum: str
) -> None:
    with pytest.raises(InvalidParameter, match=f"ever less, down to {infimum} in the limit"):
        ln.calibrate(ln.Privacy(delta="0.9"), sensitivity=1, cost=cost)


def test_a_bounded_function_without_a_least_noise_is_refused_too() -> None:
    steep = ln.Cost(lambda x: min(1.0, 10 * x))
    with pytest.raises(InvalidParameter, match=r"ever less, down to 0\.1 in the limit"):
        ln.calibrate(ln.Privacy(delta="0.9"), sensitivity=1, cost=steep)


@pytest.mark.parametrize("cost", [ln.l1, ln.l2], ids=repr)
@pytest.mark.parametrize("delta", ["1e-9", "0.01", "0.1", "0.5", "0.6", "0.9", "0.99"])
@pytest.mark.parametrize("moved", ["1", "0.7", "1e-300", "1e300"])
def test_what_is_drawn_costs_within_a_thousandth_of_the_line(
    cost: Cost, delta: str, moved: str
) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=moved, cost=cost)
    assert 0 <= mechanism.discretized.cost / mechanism.cost - 1 <= Fraction(1, 1000)
