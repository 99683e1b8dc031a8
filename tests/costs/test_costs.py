"""Costs: their integrals, sums and balances against independent sums and quadrature."""

import math
from fractions import Fraction

import pytest
from scipy.integrate import quad

import leastnoise as ln
from leastnoise.costs.cost import Cost
from leastnoise.costs.power import Power

HUBER = Cost(lambda x: x * x / 2 if x < 0.3 else 0.3 * (x - 0.15))
COSTS = [
    ln.l1,
    ln.l2,
    ln.lp(5),
    ln.lp("1/2"),
    ln.lp("2.5"),
    ln.threshold("1.3"),
    ln.piecewise_linear([(0, 1), ("0.5", 1), (2, 4), (3, 4)]),
    Cost(math.log1p),
    HUBER,
    Cost(lambda x: 3 + math.floor(x)),
]
each = pytest.mark.parametrize("cost", COSTS, ids=repr)


def plain(cost: Cost) -> "type[float] | object":
    """The cost as a float function written down again, without the class's enclosures."""
    return {
        "l1": lambda x: x,
        "l2": lambda x: x * x,
        "lp(5)": lambda x: x**5,
        "lp('0.5')": math.sqrt,
        "lp('2.5')": lambda x: x**2.5,
        "threshold(1.3)": lambda x: float(x > 1.3),
    }.get(repr(cost), cost)


@each
@pytest.mark.parametrize("size", [Fraction(1, 7), Fraction(1), Fraction(5, 2), Fraction(40)])
def test_the_integral_encloses_quadrature(cost: Cost, size: Fraction) -> None:
    function = plain(cost)
    breaks = [b for b in (0.3, 0.5, 1.3, 2.0, 3.0, *range(1, 40)) if b < size]
    expected = quad(function, 0, float(size), points=breaks or None, limit=400)[0]
    enclosed = cost.integral(size)
    assert enclosed.lower <= enclosed.upper
    slack = 1e-7 * abs(expected) + 1e-12
    assert float(enclosed.lower) - slack <= expected <= float(enclosed.upper) + slack
    assert enclosed.upper - enclosed.lower <= enclosed.upper / 2000


@each
@pytest.mark.parametrize("step", [Fraction(1), Fraction(3, 100)])
@pytest.mark.parametrize("terms", [0, 1, 7, 300, 20_000])
def test_the_sum_over_the_lattice_encloses_the_sum_term_by_term(
    cost: Cost, step: Fraction, terms: int
) -> None:
    function = plain(cost)
    expected = math.fsum(function(float(j * step)) for j in range(1, terms + 1))  # type: ignore[operator]
    enclosed = cost.total(step, terms)
    slack = 1e-12 * abs(expected)
    assert float(enclosed.lower) - slack <= expected <= float(enclosed.upper) + slack
    assert enclosed.upper - enclosed.lower <= enclosed.upper / 1000


@pytest.mark.parametrize("p", range(1, 12))
def test_sums_of_whole_powers_are_exact(p: int) -> None:
    total = Power(Fraction(p)).total(Fraction(1, 3), 1000)
    assert total.is_exact
    assert total.lower == sum(Fraction(j, 3) ** p for j in range(1001))


@each
def test_the_balance_is_its_definition(cost: Cost) -> None:
    width, half = Fraction(13, 10), Fraction(1, 2)
    start = cost.value(Fraction(0)).middle
    defined = (cost.value(width).middle - start) * (width - half) - (
        cost.integral(width).middle - start * width
    )
    balance = cost.balance(width, half)
    assert balance.lower - Fraction(1, 10**12) <= defined <= balance.upper + Fraction(1, 10**12)


def test_a_fall_is_refused_with_its_place() -> None:
    dips = Cost(lambda x: x if x < 7 else x - 1)
    with pytest.raises(
        ln.errors.InvalidParameter, match=r"falling from 6\.99\S* at 6\.99\S* to 6\.0"
    ):
        ln.calibrate(ln.Privacy(delta=0.1), sensitivity=1, cost=dips)


def test_a_fall_within_twice_the_radius_is_found_and_one_beyond_is_not_looked_for() -> None:
    beyond = Cost(lambda x: x if x < 11 else 0.0)
    assert ln.calibrate(ln.Privacy(delta=0.1), sensitivity=1, cost=beyond).noise.radius == 5


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: 1 / x, "got ZeroDivisionError from .* at 0.0"),
        (lambda x: math.nan, "got nan from"),
        (lambda x: "5", "got '5' from"),
        (lambda x: 1j, "got 1j from"),
    ],
)
def test_a_function_that_is_no_cost_is_refused(function: object, message: str) -> None:
    with pytest.raises(ln.errors.InvalidParameter, match=message):
        ln.calibrate(ln.Privacy(delta=0.1), sensitivity=1, cost=Cost(function))  # type: ignore[arg-type]


def test_a_function_is_called_once_at_each_size_of_an_octave() -> None:
    sizes: list[float] = []

    def square(size: float) -> float:
        sizes.append(size)
        return size * size

    cost = Cost(square)
    for i in range(1000):
        size = 4 + Fraction(i, 300)
        enclosed = cost.integral(size)
        assert enclosed.lower <= size**3 / 3 <= enclosed.upper
        assert enclosed.upper - enclosed.lower <= size**3 / (1 << 14) * (1 + Fraction(1, 10**6))
    assert len(sizes) <= (1 << 15) + 1 + 1000
    assert max(sizes) <= 4 + 999 / 300  # nothing beyond what was asked for
