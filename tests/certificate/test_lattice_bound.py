"""The lower bound by multipliers: whatever passes the check proves no more than is true."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.accounting.profile import Profile
from leastnoise.calibration.deadline import Deadline
from leastnoise.calibration.problem import Problem
from leastnoise.calibration.solve import Solver
from leastnoise.certificate import CanonicalBound, Frame, LatticeBound
from leastnoise.core.exact import exponential
from leastnoise.costs.cost import Cost
from leastnoise.errors import InvalidParameter
from tests.support.random_noise import steps

COSTS = [
    ln.l1,
    ln.l2,
    ln.lp(3),
    ln.lp("1/2"),
    ln.threshold(0),
    ln.threshold(1),
    ln.piecewise_linear([(0, 0), (1, 3), (2, 4)]),
]


def offered(draw: st.DrawFn, rule: str, cost: Cost, falls: bool) -> LatticeBound:
    """Draw any multipliers at all, within their own order."""
    cells, reach = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    frame = Frame(rule, cells, reach)
    weights = tuple(draw(st.lists(st.integers(0, 40), min_size=cells, max_size=cells)))
    tests = []
    for shift, weight in enumerate(weights, start=1):
        length = frame.points - shift
        if length > 0:
            values = draw(st.lists(st.integers(0, weight), min_size=length, max_size=length))
            tests.append((shift, shift, tuple(values)))
    fall = draw(st.lists(st.integers(1, 20), min_size=1, max_size=reach)) if falls else []
    floors = tuple(frame.floors(cost, Fraction(1)))
    return LatticeBound(frame, Fraction(1, 10), weights, tuple(tests), tuple(fall), floors)


@st.composite
def bounds(draw: st.DrawFn, falls: bool = False) -> tuple[Cost, LatticeBound]:
    cost = draw(st.sampled_from(COSTS))
    return cost, offered(draw, draw(st.sampled_from(["chords", "cells"])), cost, falls)


@given(bounds(), steps(), st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2)]))
@settings(max_examples=150)
def test_no_multipliers_prove_more_than_any_noise_costs(
    offer: tuple[Cost, LatticeBound], noise: ln.Steps, epsilon: Fraction
) -> None:
    """For any distribution, at the δ that it really has: the bound is at most its cost."""
    cost, bound = offer
    delta = Profile(noise, sensitivity=1).delta(epsilon)
    assume(delta < 1)
    proved = bound.prove(cost, ln.Privacy(epsilon, delta), Fraction(1))
    assert proved <= noise.expected(cost)


@given(
    st.sampled_from(
        [*COSTS, ln.lp("3/2"), ln.threshold("1/3"), ln.piecewise_linear([(0, 1), (2, 1), (3, 9)])]
    ),
    steps(),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2)]),
    st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]),
)
@settings(max_examples=150)
def test_the_canonical_bound_is_no_more_than_any_noise_costs(
    cost: Cost, noise: ln.Steps, epsilon: Fraction, moved: Fraction
) -> None:
    delta = Profile(noise, sensitivity=moved).delta(epsilon)
    assume(0 < delta < 1)
    proved = CanonicalBound(integer=False).prove(cost, ln.Privacy(epsilon, delta), moved)
    assert proved <= noise.expected(cost)


@given(
    bounds(falls=True),
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
    st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=50),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2)]),
    st.fractions(min_value=Fraction(1, 10), max_value=2, max_denominator=12),
)
@settings(max_examples=150)
def test_with_falling_multipliers_no_more_than_a_decreasing_noise_costs(
    offer: tuple[Cost, LatticeBound],
    rises: list[int],
    atom: Fraction,
    epsilon: Fraction,
    width: Fraction,
) -> None:
    cost, bound = offer
    noise = falling(rises, width, atom)
    assert noise.is_decreasing
    delta = Profile(noise, sensitivity=1).delta(epsilon)
    assume(delta < 1)
    proved = bound.prove(cost, ln.Privacy(epsilon, delta), Fraction(1))
    assert proved <= noise.expected(cost)


@given(
    st.data(),
    st.lists(st.integers(0, 9), min_size=1, max_size=9).filter(any),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2)]),
    st.integers(1, 4),
)
@settings(max_examples=150)
def test_on_the_integers_no_more_than_any_noise_there_costs(
    data: st.DataObject, weights: list[int], epsilon: Fraction, moved: int
) -> None:
    """Both rules for integers, by the distance worked out here pair by pair."""
    cost = data.draw(st.sampled_from(COSTS))
    rule = data.draw(st.sampled_from(["points", "smoothed"]))
    bound = data.draw(st.composite(lambda draw: offered(draw, rule, cost, falls=False))())
    cells = moved if rule == "points" else bound.frame.cells
    frame = Frame(rule, cells, bound.frame.reach)
    sized = tuple((*bound.weights, *[0] * cells)[:cells])
    tests = tuple(test for test in bound.tests if test[0] <= cells)
    floors = tuple(frame.floors(cost, Fraction(moved)))
    bound = replace(bound, frame=frame, weights=sized, tests=tests, floors=floors)
    total, factor = sum(weights), exponential(epsilon).lower
    places = dict(enumerate(weights, start=-data.draw(st.integers(0, 9))))
    delta = (
        max(
            sum(max(w - factor * places.get(k - move, 0), Fraction(0)) for k, w in places.items())
            for move in range(-moved, moved + 1)
        )
        / total
    )
    assume(delta < 1)
    price = sum(w * cost.value(Fraction(abs(k))).upper for k, w in places.items()) / total
    assert bound.prove(cost, ln.Privacy(epsilon, delta), Fraction(moved)) <= price


def test_each_disorder_is_refused() -> None:
    frame = Frame("chords", 2, 3)
    floors = tuple(frame.floors(ln.l1, Fraction(1)))
    sound = LatticeBound(frame, Fraction(1), (1, 2), ((2, 3, (1, 2)),), (1,), floors)
    guarantee = ln.Privacy(1, "0.1")
    sound.prove(ln.l1, guarantee, Fraction(1))
    for wrong, reason in [
        (replace(sound, frame=Frame("dots", 2, 3)), "its lattice is malformed"),
        (replace(sound, frame=Frame("points", 2, 3)), "its lattice is not the integers"),
        (replace(sound, unit=Fraction(0)), "its unit is not positive"),
        (replace(sound, unit=Fraction(-1)), "its unit is not positive"),
        (replace(sound, weights=(1, -2)), "its weights are out of order"),
        (replace(sound, weights=(1, 2, 3)), "its weights are out of order"),
        (replace(sound, tests=((2, 3, (1, 3)),)), "a test exceeds its weight"),
        (replace(sound, tests=((2, 3, (-1,)),)), "a test exceeds its weight"),
        (replace(sound, tests=((3, 3, (1,)),)), "its tests are out of order"),
        (replace(sound, tests=((2, 1, (1,)),)), "its tests are out of order"),
        (replace(sound, tests=((2, 3, (1, 2)), (2, 4, (1,)))), "its tests are out of order"),
        (replace(sound, tests=((2, 6, (1, 2)),)), "its tests reach beyond the lattice"),
        (replace(sound, falls=(-1,)), "its multipliers of unimodality are out of order"),
        (replace(sound, falls=(1, 1, 1, 1)), "its multipliers of unimodality are out of order"),
        (replace(sound, floors=(*floors[:-1], floors[-1] + 1)), "its table of costs does not"),
        (replace(sound, floors=floors[:-1]), "its table of costs does not"),
    ]:
        with pytest.raises(InvalidParameter, match=reason):
            wrong.prove(ln.l1, guarantee, Fraction(1))
    with pytest.raises(InvalidParameter, match="the sensitivity of integers is not an integer"):
        replace(sound, frame=Frame("smoothed", 2, 3)).prove(ln.l1, guarantee, Fraction(3, 2))


def test_a_control_that_pays_half_proves_too_much() -> None:
    """The tests above can fail: with half of δ·Σν paid, the same multipliers exceed the truth."""
    mechanism = ln.calibrate(ln.Privacy(1, "0.05"), sensitivity=1, cost=ln.l2, shape="any")
    bound = mechanism.certificate.evidence
    assert isinstance(bound, LatticeBound)
    paid = sum(bound.weights) * bound.unit / 20
    least = bound.find_least_charge(exponential(Fraction(1)).upper, Fraction(0))
    assert least - paid <= mechanism.cost < least - paid / 2


@pytest.mark.parametrize("cost", COSTS, ids=repr)
@pytest.mark.parametrize("rule", ["chords", "cells", "smoothed"])
@given(st.fractions(min_value=0, max_value=4, max_denominator=1000))
def test_floors_lie_below_the_cost(rule: str, cost: Cost, place: Fraction) -> None:
    """What rounding to the lattice is charged on average is at most what the error costs."""
    frame, moved = Frame(rule, 3, 20), Fraction(2)
    step = moved / 3
    floors = frame.floors(cost, moved)
    k = int(place / step)
    share = place / step - k
    price = cost.value(place).upper
    if rule == "cells":
        assert floors[k] <= price or share == 0
        return
    if rule == "smoothed":  # the error is an integer within 1/2 of the place
        price = cost.value(Fraction(max(0, -(-(place - Fraction(1, 2)) // 1)))).upper
    assert (1 - share) * floors[k] + share * floors[k + 1] <= price


def falling(rises: list[int], width: Fraction, atom: Fraction) -> ln.Steps:
    """Return a noise that falls by so much at each further width, with an atom at 0."""
    levels = [sum(rises[k:]) for k in range(len(rises))]
    heights = [Fraction(level) for level in [*reversed(levels), *levels]]
    area = sum(heights) * width
    breaks = [k * width for k in range(-len(levels), len(levels) + 1)]
    return ln.Steps(breaks, [h * (1 - atom) / area for h in heights], {0: atom} if atom else {})


def test_multipliers_of_a_window_too_small_prove_no_more_than_the_truth() -> None:
    """Without mass beyond the window the program is too dear; the check must not believe it.

    The control is what the program itself says: it exceeds a cost that is reached.
    """
    privacy, cost = ln.Privacy(2, "0.05"), ln.l2
    reached = ln.calibrate(privacy, sensitivity=1, cost=cost, shape="any").cost
    problem = Problem(privacy, Fraction(1), cost, integer=False, shape="any")
    solver = Solver(problem, Frame("chords", 8, 16), Deadline.after(60), None)
    prices = [float(floor / solver.scale) for floor in solver.floors[:-1]]
    found = solver.program.minimize(prices, beyond=None, atom=None)
    assert found is not None
    said = prices[0] * found.masses[0] + 2 * sum(
        price * mass for price, mass in zip(prices[1:], found.masses[1:], strict=True)
    )
    assert solver.make_evidence(found).prove(cost, privacy, Fraction(1)) <= reached
    assert said * float(solver.scale) > 1.002 * float(reached)
