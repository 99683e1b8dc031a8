"""Theorem 2's proof for Gaussian, Laplace, truncated Laplace and staircase noise (GDGK19)."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

import leastnoise as ln
from leastnoise.core.exact import Interval
from leastnoise.core.noise import LineNoise, Smooth
from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.noise import Gaussian, Laplace, Noise, Staircase, Steps, TruncatedLaplace
from leastnoise.paper import numbers, rearrange
from leastnoise.paper.rearrangement import moves_inward

DELTA = ln.Privacy(delta="0.45")
SMOOTH: list[LineNoise] = [
    Laplace(1),
    Gaussian(1),
    TruncatedLaplace(1, "3.3"),
    Staircase(1, "2/7", "3/5"),
]


def cut_laplace(cell: float) -> tuple[float, float]:
    """Return E|X| and E X² of Laplace noise of scale 1 averaged over all cells, in closed form.

    Averaged over cells it is c·(K + U): K is geometric of ratio e^(−c), U uniform between 0 and 1.
    """
    ratio = math.exp(-cell)
    mean, second = ratio / (1 - ratio), ratio * (1 + ratio) / (1 - ratio) ** 2
    return cell * (mean + 0.5), cell**2 * (second + mean + 1 / 3)


@pytest.mark.parametrize("cells", [2, 5, 10])
def test_cut_laplace_noise_costs_its_closed_form(cells: int) -> None:
    for cost, exact, full in zip((ln.l1, ln.l2), cut_laplace(0.5 / cells), (1, 2), strict=True):
        proof = rearrange(Laplace(1), DELTA, sensitivity=1, cost=cost, cells=cells)
        assert proof.start == Interval.exact(full)
        assert float(proof.stages[0].cost.lower) < exact  # as the tail moves inward
        assert float(proof.change.lower) == pytest.approx(exact - full, rel=1e-3)
        assert proof.change.upper - proof.change.lower < Fraction(1, 10**20)


@pytest.mark.parametrize(
    ("noise", "central"),
    [
        (Laplace(1), 1 - math.exp(-0.5)),
        (Gaussian(1), norm.cdf(0.5) - norm.cdf(-0.5)),
        (TruncatedLaplace(1, "3.3"), (1 - math.exp(-0.5)) / (1 - math.exp(-3.3))),
    ],
)
def test_the_mass_within_half_of_the_sensitivity_is_kept(noise: Noise, central: float) -> None:
    half = Fraction(1, 2)
    proof = rearrange(noise, DELTA, sensitivity=1, cost=ln.l1, cells=6)
    kept = [stage.noise.between(-half, half) for stage in proof.stages]
    assert float(kept[0]) == pytest.approx(central, rel=1e-12)
    assert kept[0] == kept[1] == kept[2] <= kept[3] == DELTA.delta


@pytest.mark.parametrize("noise", SMOOTH)
def test_the_masses_of_cells_are_those_of_the_density(noise: Noise) -> None:
    cut = rearrange(noise, ln.Privacy(delta="0.6"), sensitivity=1, cost=ln.l1, cells=4).stages[0]
    assert cut.noise.is_decreasing
    for i in range(10):
        a, b = Fraction(i, 8), Fraction(i + 1, 8)
        true = noise.cdf(b) - noise.cdf(a)
        assert float(cut.noise.between(a, b)) == pytest.approx(true, rel=1e-9)


@pytest.mark.parametrize("noise", [Laplace(1), Gaussian(1), TruncatedLaplace(1, "3.3")])
def test_tails_are_rounded_up_and_by_very_little(noise: Smooth) -> None:
    """So stage 0 is (0, δ)-private even if the noise is exactly tight."""
    cut = rearrange(noise, DELTA, sensitivity=1, cost=ln.l1, cells=4).stages[0].noise
    for i in range(1, 20):
        true = noise.tail(Fraction(i, 8), 300)
        rounded = 1 - cut.probability_up_to(Fraction(i, 8))
        assert true.upper <= rounded < true.lower + Fraction(1, 2**127)


@pytest.mark.parametrize("noise", [Laplace(1), Gaussian(1), Staircase(1, "2/7", "3/5")])
def test_the_tail_is_one_step_at_the_level_of_the_last_cell(noise: Noise) -> None:
    cut = rearrange(noise, ln.Privacy(delta="0.6"), sensitivity=1, cost=ln.l1, cells=4).stages[0]
    heights, breaks = cut.noise.heights, cut.noise.breaks
    assert heights[-1] == heights[-2] > 0
    beyond = 2 * (breaks[-1] - breaks[-2]) * heights[-1]
    assert float(beyond) == pytest.approx(2 * noise.sf(breaks[-2]), rel=1e-9)


@pytest.mark.parametrize("cost", [ln.l1, ln.l2, ln.lp("1/2"), ln.lp(3), ln.lp("5/2")])
@pytest.mark.parametrize("noise", SMOOTH)
def test_smaller_cells_change_the_cost_less_and_within_the_bound(
    noise: LineNoise, cost: Cost
) -> None:
    """The bound of docs/theory/theorem-2.md: (c/2)·f(0)·D, D the largest rise of L in a cell."""
    changes = []
    for cells in (2, 4, 8):
        proof = rearrange(noise, ln.Privacy(delta="0.6"), sensitivity=1, cost=cost, cells=cells)
        cell = Fraction(1, 2 * cells)
        radius = proof.stages[0].noise.radius
        edges = [i * cell for i in range(int(radius / cell) + 2)]
        largest = max(float(cost(b)) - float(cost(a)) for a, b in pairwise(edges))
        bound = float(cell) / 2 * noise.pdf(0) * largest
        assert proof.change.lower > 0
        assert float(proof.change.upper) <= bound
        changes.append(proof.change)
    for wide, narrow in pairwise(changes):
        assert narrow.upper < wide.lower / 2


@pytest.mark.parametrize("cost", [ln.l1, ln.l2, ln.lp("1/2"), ln.threshold("0.7")])
@pytest.mark.parametrize("noise", SMOOTH)
def test_it_ends_in_a_p_alpha_that_costs_no_more(noise: Noise, cost: Cost) -> None:
    privacy = ln.Privacy(delta="0.6")
    proof = rearrange(noise, privacy, sensitivity=1, cost=cost, cells=8)
    atom = proof.result.atom
    assert proof.result.radius == (1 - atom) / (2 * (privacy.delta - atom))
    assert proof.stages_move_inward
    costs = [stage.cost for stage in proof.stages]
    assert all(after.upper <= before.upper for before, after in pairwise(costs))
    assert proof.result.enclose(cost).lower <= proof.start.upper + proof.change.upper
    for stage in proof.stages:
        assert ln.Profile(stage.noise, sensitivity=1).advantage <= privacy.delta


def test_tight_gaussian_and_laplace_noise() -> None:
    """σ = Δ/(2Φ⁻¹((1+δ)/2)) and b = −Δ/(2 ln(1−δ)), by scipy, 10⁻⁹ wider than necessary."""
    for delta in (0.3, 0.6):
        sigma = Fraction(0.5 / norm.ppf((1 + delta) / 2) * (1 + 1e-9))
        scale = Fraction(-0.5 / math.log1p(-delta) * (1 + 1e-9))
        for noise, cost in ((Gaussian(sigma), sigma**2), (Laplace(scale), 2 * scale**2)):
            privacy = ln.Privacy(delta=str(delta))
            proof = rearrange(noise, privacy, sensitivity=1, cost=ln.l2, cells=8)
            assert proof.start == Interval.exact(cost)
            central = proof.stages[0].noise.between(Fraction(-1, 2), Fraction(1, 2))
            assert central <= privacy.delta
            assert float(central) == pytest.approx(delta, rel=1e-8)
            best = numbers.least(privacy.delta, ln.l2)
            assert best <= proof.stages[3].cost.lower < proof.start.lower
        with pytest.raises(
            NotPrivate, match=r"does not satisfy ε = 0, δ = .* a shift of 1 needs δ = 0"
        ):
            rearrange(
                Gaussian(sigma * Fraction(999, 1000)), privacy, sensitivity=1, cost=ln.l2, cells=8
            )


def test_the_costs_given_are_those_of_scipy() -> None:
    """E|X|^(1/2) of the Gaussian, and P(|X| > 0.7) of Laplace noise, by numerical integration."""
    root = quad(lambda x: 2 * math.sqrt(x) * norm.pdf(x), 0, math.inf)[0]
    proof = rearrange(Gaussian(1), DELTA, sensitivity=1, cost=ln.lp("1/2"), cells=4)
    assert float(proof.start.upper) == pytest.approx(root, rel=1e-7)
    beyond = rearrange(Laplace(1), DELTA, sensitivity=1, cost=ln.threshold("0.7"), cells=4)
    assert float(beyond.start.upper) == pytest.approx(2 * laplace.sf(0.7), rel=1e-12)


def test_a_cost_that_is_a_function_needs_bounded_noise() -> None:
    """For L = e^(x²) the discretized cost can be infinite where the cost is not (errata, 5)."""
    steep = Cost(lambda x: math.exp(x * x), name="exp(x²)")
    with pytest.raises(
        Unsupported, match=r"unbounded noise needs a cost with a formula, got exp\(x²\), a function"
    ):
        rearrange(Gaussian(1), DELTA, sensitivity=1, cost=steep)
    proof = rearrange(TruncatedLaplace(1, 3), DELTA, sensitivity=1, cost=steep, cells=8)
    scale = 1 / (1 - math.exp(-3))
    exact = quad(lambda x: scale * math.exp(x * x - x), 0, 3)[0]
    assert float(proof.start.lower) < exact < float(proof.start.upper)
    assert proof.stages_move_inward


def test_wide_and_almost_constant_noise_is_rejected() -> None:
    with pytest.raises(InvalidParameter, match="at most 5000 cells on each side, got more"):
        rearrange(Laplace(1000), DELTA, sensitivity=1, cost=ln.l1)
    flat = TruncatedLaplace(10**3000, 1)
    with pytest.raises(InvalidParameter, match=r"differ by more than 2\^-4096.*almost constant"):
        rearrange(flat, ln.Privacy(delta="0.5"), sensitivity="0.99", cost=ln.l1, cells=16)
    # At 2^-128 neighboring cells of this noise are equal up to rounding: more digits tell them.
    flat = TruncatedLaplace(10**60, 1)
    proof = rearrange(flat, ln.Privacy(delta="0.5"), sensitivity="0.99", cost=ln.l1, cells=16)
    assert proof.stages[0].noise.is_decreasing
    with pytest.raises(InvalidParameter, match="of leastnoise on the line, got an object of type"):
        rearrange("Laplace", DELTA, sensitivity=1, cost=ln.l1)  # type: ignore[arg-type]


def test_moving_inward_is_seen_at_every_place() -> None:
    wide, narrow = Steps([-2, 2], ["1/4"]), Steps([-1, 1], ["1/2"])
    assert moves_inward(wide, narrow)
    assert moves_inward(wide, wide)
    assert not moves_inward(narrow, wide)
    # Less variance, but some mass moves outward.
    mixed = Steps([-3, 3], ["1/60"], {0: "9/10"})
    assert mixed.expected(ln.l2) < wide.expected(ln.l2)
    assert not moves_inward(wide, mixed)
    # An atom at the edge of the other noise, seen only from the right or only from the left.
    ends = Steps([-1, 1], ["1/4"], {-1: "1/4", 1: "1/4"})
    assert moves_inward(ends, narrow)
    assert not moves_inward(narrow, ends)
