"""Constructions of others that come out as noises that are here already."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

import leastnoise as ln
from leastnoise.calibration.canonical import build_canonical
from leastnoise.core.exact import exponential
from leastnoise.noise import DiscreteStaircase, DiscreteUniform, Run, Staircase

# ------------------------------------------------------------------- Soria-Comas, Domingo-Ferrer


def stepped(moved: Fraction, half: Fraction, fall: Fraction) -> Callable[[Fraction], Fraction]:
    """A symmetric density: level on (−d, d), then falling by one factor on stretches of length Δ.

    From its description alone: level·(2d + 2Δ(b + b² + …)) is 1.
    """
    level = 1 / (2 * half + 2 * moved * fall / (1 - fall))

    def density(place: Fraction) -> Fraction:
        beyond = abs(place) - half
        return level if beyond < 0 else level * fall ** (1 + int(beyond / moved))

    return density


@given(
    st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9),
    st.fractions(min_value=0, max_value=1, max_denominator=60),
    st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=60),
    st.lists(st.fractions(min_value=-40, max_value=40, max_denominator=60), max_size=30),
)
def test_the_stepped_density_is_the_staircase(
    moved: Fraction, share: Fraction, fall: Fraction, places: list[Fraction]
) -> None:
    density, half = stepped(moved, share * moved, fall), share * moved
    noise = Staircase(moved, share, fall)
    edges = [sign * (half + n * moved) for n in range(5) for sign in (-1, 1)]
    for place in (*places, *edges, *(n * moved for n in range(-4, 5))):
        assert noise._pdf(place) == density(place)
    if 0 < share < 1:
        other = Staircase(
            moved, (1 + share) / 2, fall
        )  # the control: another d is another distribution
        assert other._pdf(half) != density(half)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
@pytest.mark.parametrize("cost", [ln.l1, ln.l2], ids=["l1", "l2"])
def test_of_all_stepped_densities_the_cheapest_is_what_calibrate_returns(
    epsilon: str, cost: ln.Cost
) -> None:
    """Added up stretch by stretch, in floats, for every d of a fine scan."""
    found = ln.calibrate(ln.Privacy(epsilon=epsilon), sensitivity=2, cost=cost)
    power = 1 if cost is ln.l1 else 2
    fall = float(1 / exponential(Fraction(epsilon)).lower)

    def priced(half: float) -> float:
        edges = np.concatenate([[0.0], half + 2.0 * np.arange(200)])
        levels = fall ** np.arange(200)
        areas = levels * np.diff(edges ** (power + 1)) / (power + 1)
        return float(areas.sum() / (levels * np.diff(edges)).sum())

    scan = [priced(half) for half in np.linspace(0, 2, 2001)]
    assert min(scan) == pytest.approx(float(found.cost), rel=1e-5)
    assert min(scan) >= float(found.cost) * (1 - 1e-9)
    assert max(scan) > float(found.cost) * 1.01


# ------------------------------------------------------------------- Gupte, Sundararajan

Matrix = NDArray[np.float64]
LOSSES: dict[str, Callable[[int, int], float]] = {
    "distance": lambda i, r: abs(i - r),
    "square": lambda i, r: (i - r) ** 2,
    "wrong": lambda i, r: float(i != r),
}


def losses(name: str, n: int) -> Matrix:
    """What it costs to take r for i."""
    return np.array([[LOSSES[name](i, r) for r in range(n + 1)] for i in range(n + 1)])


def least(
    mechanism: Matrix, loss: Matrix, weights: "Sequence[Sequence[float]]", alpha: float | None
) -> float:
    """Return the least, over stochastic T, of the worst weighted loss of mechanism·T.

    ``weights`` are what a consumer fears: one row for each thing that may be the case. With
    ``alpha``, entries of neighbouring rows of T may not be further apart than that factor.
    """
    rows, size = mechanism.shape[1], loss.shape[1]
    worst = [
        [*(np.asarray(p)[:, None, None] * mechanism[:, :, None] * loss[:, None, :]).sum(0).flat, -1]
        for p in weights
    ]
    kept = []
    for one, other in pairwise(range(rows)) if alpha is not None else ():
        for i, k in ((one, other), (other, one)):
            for r in range(size):
                row = np.zeros(rows * size + 1)
                row[i * size + r], row[k * size + r] = alpha, -1
                kept.append(row)
    sums = np.hstack([np.kron(np.eye(rows), np.ones(size)), np.zeros((rows, 1))])
    solved = linprog(
        [0.0] * (rows * size) + [1.0],
        A_ub=np.array([*worst, *kept]),
        b_ub=np.zeros(len(worst) + len(kept)),
        A_eq=sums,
        b_eq=np.ones(rows),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solved.status == 0
    return float(solved.fun)


def best_mechanism(loss: Matrix, weights: "Sequence[Sequence[float]]", alpha: float) -> float:
    """Return what a mechanism made for this one consumer costs: any that is ε-private."""
    return least(np.eye(len(loss)), loss, weights, alpha)


def geometric(n: int, epsilon: str) -> tuple[Matrix, float]:
    """The library's noise on counts, with what falls outside 0 … n moved to the ends."""
    noise = ln.calibrate(ln.Privacy(epsilon), sensitivity=1, integer=True).noise
    assert isinstance(noise, DiscreteStaircase)
    assert noise.steps == noise.step == 1

    def chance(i: int, s: int) -> Fraction:
        low = noise.probability_up_to(Fraction(s - 1 - i)) if s else Fraction(0)
        high = noise.probability_up_to(Fraction(s - i)) if s < n else Fraction(1)
        return high - low

    matrix = [[float(chance(i, s)) for s in range(n + 1)] for i in range(n + 1)]
    return np.array(matrix), float(noise.ratio)


def randomised_response(n: int, alpha: float) -> Matrix:
    """Another ε-private mechanism: the truth with probability 1/(1 + nα), else any other number."""
    return (np.eye(n + 1) * (1 - alpha) + alpha) / (1 + n * alpha)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("epsilon", ["0.3", "1", "2.5"])
def test_a_cautious_consumer_needs_no_other_noise(n: int, name: str, epsilon: str) -> None:
    """Gupte and Sundararajan 2010: for whatever may be the case, minimax over it."""
    matrix, alpha = geometric(n, epsilon)
    loss = losses(name, n)
    for known in (range(n + 1), range(1, n + 1), (0, n), (1, 2)):
        feared = [np.eye(n + 1)[i].tolist() for i in known]
        own = best_mechanism(loss, feared, alpha)
        assert least(matrix, loss, feared, None) == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("name", LOSSES)
def test_a_consumer_with_a_prior_needs_no_other_noise(n: int, name: str) -> None:
    """Ghosh, Roughgarden and Sundararajan 2012: for every prior, on average."""
    matrix, alpha = geometric(n, "0.8")
    rng = np.random.default_rng(5)
    even, rising = np.ones(n + 1) / (n + 1), np.arange(1, n + 2) / sum(range(n + 2))
    for prior in (even, rising, *rng.dirichlet(np.full(n + 1, 0.5), 3)):
        own = best_mechanism(losses(name, n), [prior], alpha)
        assert least(matrix, losses(name, n), [prior], None) == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize("n", [2, 4])
def test_another_private_mechanism_does_not_serve_all(n: int) -> None:
    """The control: randomised response keeps ε too, and some consumers are worse off with it."""
    matrix, alpha = geometric(n, "1")
    other, loss = randomised_response(n, alpha), losses("distance", n)
    for mechanism in (matrix, other):
        for one, following in pairwise(mechanism):
            assert (one >= following * alpha * (1 - 1e-12)).all()
            assert (following >= one * alpha * (1 - 1e-12)).all()
    feared = np.eye(n + 1).tolist()
    assert least(other, loss, feared, None) > best_mechanism(loss, feared, alpha) + 1e-3


def test_post_processing_is_needed() -> None:
    """The control of another kind: who does nothing with the geometric answer pays more."""
    matrix, alpha = geometric(3, "0.5")
    as_it_is = float((matrix * losses("distance", 3)).sum(axis=1).max())
    assert as_it_is > best_mechanism(losses("distance", 3), np.eye(4).tolist(), alpha) + 1e-2


# ------------------------------------------------------------------- Geng, Viswanath, on counts


def tails(factor: Fraction, delta: Fraction, size: int) -> list[Fraction]:
    """P(N > k) of the canonical noise, k = 0 …, by its recursion; ``factor`` is e^ε."""
    found = [(1 - delta) / (1 + factor)]
    while len(found) < size:
        found.append(max(Fraction(0), (found[-1] - delta) / factor))
    return found


@pytest.mark.parametrize("points", [3, 5, 11, 101])
def test_the_discrete_uniform_noise(points: int) -> None:
    """At δ = 1/(2M+1) the noise for counts is uniform on −M … M."""
    privacy = ln.Privacy(delta=Fraction(1, points))
    noise = ln.calibrate(privacy, sensitivity=1, integer=True).noise
    assert noise == DiscreteUniform(reach=points // 2)


@pytest.mark.parametrize("delta", ["0.5", "0.3", "1/7", "0.1", "0.013", "1/1000"])
@pytest.mark.parametrize("cost", [ln.l1, ln.l2], ids=["l1", "l2"])
def test_at_epsilon_0_the_canonical_noise_is_the_discrete_uniform(
    delta: str, cost: ln.Cost
) -> None:
    noise = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1, cost=cost, integer=True).noise
    assert isinstance(noise, DiscreteUniform)
    exact = tails(Fraction(1), Fraction(delta), noise.farthest + 3)
    assert [1 - noise.probability_up_to(Fraction(k)) for k in range(len(exact))] == exact
    # And the library's canonical noise, in whole weights, is it but for its rounding.
    rounded = build_canonical(ln.Privacy(0, delta))
    for k in range(len(exact)):
        difference = Fraction(rounded.weight(k), rounded.total) - noise.pmf(k)
        assert abs(difference) < 1e-12


@pytest.mark.parametrize("factor", ["3/2", "2", "5"])
def test_without_delta_the_canonical_noise_is_the_geometric(factor: str) -> None:
    grown = Fraction(factor)
    distribution = DiscreteStaircase(Fraction(1), 1 / grown, (Run(0, 1, 1),))
    exact = tails(grown, Fraction(0), 30)
    assert [1 - distribution.probability_up_to(Fraction(k)) for k in range(30)] == exact
    middle = (grown - 1) / (grown + 1)
    for k in range(-5, 6):
        assert distribution.weight(k) / distribution.total == middle / grown ** abs(k)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("cost", [ln.l1, ln.l2, ln.threshold(2)], ids=["l1", "l2", "threshold"])
def test_calibrate_returns_the_geometric_for_counts(epsilon: str, cost: ln.Cost) -> None:
    """Whatever the cost; and so it does when asked for it by name."""
    wanted = ln.Privacy(epsilon)
    noise = ln.calibrate(wanted, sensitivity=1, integer=True, cost=cost).noise
    named = ln.calibrate(wanted, sensitivity=1, integer=True, cost=cost, family="geometric").noise
    assert isinstance(noise, DiscreteStaircase)
    assert isinstance(named, DiscreteStaircase)
    for distribution in (noise, named):
        assert distribution.steps == 1
        assert 1 / distribution.ratio == exponential(Fraction(epsilon)).lower
