"""How private each noise is, against two libraries that work it out by other ways.

dp-accounting rounds privacy losses to a grid, up for its pessimistic and down for its optimistic
estimate: the truth lies between, and the two are a bracket. OpenDP states what a mechanism keeps
through maps, in floats rounded up: an upper bound, tight where the text says so.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import opendp.prelude as dp
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import (
    privacy_loss_distribution as losses,
)
from dp_accounting.rdp import rdp_privacy_accountant
from scipy.stats import norm

from leastnoise.accounting.profile import Profile
from leastnoise.core.privacy import Privacy
from leastnoise.mechanism.factory import calibrate
from leastnoise.noise import (
    DiscreteStaircase,
    Gaussian,
    Laplace,
    LatticeNoise,
    Noise,
    Rounded,
    Run,
    Staircase,
)

EPSILONS = [0.0, 0.01, 0.1, 0.3, 0.5, 1.0, 1.7, 2.5, 5.0]
GRID = 1e-3  # of the privacy losses
# What doubles lose in sums of some thousands of terms.
LOST = 1e-12


def bracketed(
    make: Callable[[bool], Any],
    noise: Noise,
    sensitivity: Fraction | int,
    *,
    dots: bool = False,
) -> None:
    """Hold δ(ε) between the optimistic and the pessimistic estimate, and these close together.

    With ``dots`` the pessimistic one joins dots of the true curve, one at each point of the grid
    (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022): there, it is the truth.
    """
    low, high = make(False), make(True)
    profile = Profile(noise, sensitivity=sensitivity)
    for epsilon in EPSILONS:
        least, most = (float(side.get_delta_for_epsilon(epsilon)) for side in (low, high))
        delta = profile.enclose(epsilon)
        assert least - LOST <= float(delta.upper)
        assert float(delta.lower) <= most + LOST
        # By one cell of the grid the loss changes δ by at most that much, twice over.
        assert most - least <= 2 * GRID
        if dots:
            assert float(delta.upper) == pytest.approx(most, rel=1e-6, abs=LOST)


@pytest.mark.parametrize("scale", ["0.3", "1", "2", "10"])
@pytest.mark.parametrize("moved", [1, 3])
def test_laplace(scale: str, moved: int) -> None:
    def make(pessimistic: bool) -> Any:
        return losses.from_laplace_mechanism(
            float(scale), moved, pessimistic, GRID, use_connect_dots=pessimistic
        )

    bracketed(make, Laplace(scale), moved, dots=True)


@pytest.mark.parametrize("sigma", ["0.5", "1", "2", "10"])
@pytest.mark.parametrize("moved", [1, 3])
def test_gaussian(sigma: str, moved: int) -> None:
    def make(pessimistic: bool) -> Any:
        return losses.from_gaussian_mechanism(
            float(sigma),
            moved,
            pessimistic,
            value_discretization_interval=GRID,
            use_connect_dots=pessimistic,
        )

    bracketed(make, Gaussian(sigma), moved, dots=True)


@pytest.mark.parametrize("moved", [1, 2, 5])
@pytest.mark.parametrize("fall", ["0.2", "0.5", "1.5"])
def test_geometric(fall: str, moved: int) -> None:
    """Discrete Laplace of parameter a: weights e^(−a|i|), a staircase whose period is one step."""
    ratio = Fraction(math.exp(-float(fall)))
    noise = DiscreteStaircase(Fraction(1), ratio, (Run(0, 1, 1),))

    def make(pessimistic: bool) -> Any:
        return losses.from_discrete_laplace_mechanism(
            float(fall), moved, pessimistic, GRID, use_connect_dots=pessimistic
        )

    bracketed(make, noise, moved, dots=True)


def two_laws(masses: Mapping[int, float], moved: int) -> Callable[[bool], Any]:
    """Both neighbours' outputs, point by point, for dp-accounting to compare."""
    own = {i: math.log(mass) for i, mass in masses.items() if mass > 0}
    other = {i + moved: log for i, log in own.items()}

    def make(pessimistic: bool) -> Any:
        return losses.from_two_probability_mass_functions(
            other, own, pessimistic, GRID, symmetric=False
        )

    return make


@pytest.mark.parametrize("sigma", [0.7, 1.0, 4.0])
@pytest.mark.parametrize("moved", [1, 3])
def test_rounded_gaussian(sigma: float, moved: int) -> None:
    """The points' masses are scipy's; what lies beyond ±30σ is less than doubles hold."""
    far = int(30 * sigma)
    right = {i: norm.sf((i - 0.5) / sigma) - norm.sf((i + 0.5) / sigma) for i in range(1, far)}
    masses = {0: 1 - 2 * norm.sf(0.5 / sigma), **right, **{-i: m for i, m in right.items()}}
    distribution = Rounded(Fraction(1), Gaussian(Fraction(str(sigma))))
    bracketed(two_laws(masses, moved), distribution, moved)


def test_a_staircase_of_several_steps() -> None:
    distribution = DiscreteStaircase(
        Fraction(1), Fraction(2, 5), (Run(0, 2, 9), Run(2, 1, 6), Run(3, 2, 5))
    )
    for moved in (1, 4, 5, 7):
        bracketed(two_laws(tabled(distribution, 200), moved), distribution, moved)


def test_a_staircase_on_the_line() -> None:
    """Cells of a tenth of a period, and moves of whole cells: within a cell nothing is told."""
    noise = Staircase(1, "0.3", "0.45")
    edges = [float(noise.probability_up_to(Fraction(i, 10))) for i in range(-500, 1)]
    left = {i: edges[i + 501] - edges[i + 500] for i in range(-500, 0)}
    masses = {**left, **{-1 - i: mass for i, mass in left.items()}}
    for moved in (3, 10, 14):
        bracketed(two_laws(masses, moved), noise, Fraction(moved, 10))


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.001"), ("0.3", "0.05"), ("2", "0.1")])
def test_the_least_noise_for_counts(epsilon: str, delta: str) -> None:
    """The canonical noise on the integers, and that it just satisfies its guarantee."""
    noise = calibrate(Privacy(epsilon, delta), sensitivity=1, integer=True).noise
    assert isinstance(noise, LatticeNoise)
    masses = tabled(noise, 60)
    bracketed(two_laws(masses, 1), noise, 1)
    reached = two_laws(masses, 1)(True).get_delta_for_epsilon(float(epsilon))
    assert reached == pytest.approx(float(delta), rel=0.1)


def tabled(distribution: LatticeNoise, far: int) -> dict[int, float]:
    return {
        i: float(distribution.weight(i) / Fraction(distribution.total))
        for i in range(-far, far + 1)
    }


# ------------------------------------------------------------------------ Rényi

ORDERS = [1.25, 1.5, 2.0, 3.0, 8.0, 64.0]


@pytest.mark.parametrize("scale", [0.2, 0.5, 1.0, 2.0, 10.0])
def test_renyi(scale: float) -> None:
    """The accountant states the same divergences, in doubles."""
    events = {
        Laplace(str(scale)): dp_event.LaplaceDpEvent(scale),
        Gaussian(str(scale)): dp_event.GaussianDpEvent(scale),
    }
    for noise, event in events.items():
        accountant = rdp_privacy_accountant.RdpAccountant(ORDERS)
        accountant.compose(event)
        found = [float(Profile(noise, sensitivity=1).renyi(order)) for order in ORDERS]
        assert found == pytest.approx(list(accountant._rdp), rel=1e-9)


# ------------------------------------------------------------------------ OpenDP


@pytest.fixture(scope="module", autouse=True)
def _contributed() -> None:
    dp.enable_features("contrib")


def number_space() -> tuple[Any, Any]:
    return dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


def mapped(mechanism: Any, moved: float) -> Any:
    """What a mechanism keeps when its input moves so far."""
    return mechanism.map(moved)


@pytest.mark.parametrize("scale", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("moved", [0.5, 2.0])
def test_opendp_says_from_which_epsilon_laplace_needs_no_delta(scale: float, moved: float) -> None:
    """Its map is the least ε with δ = 0: just there δ(ε) becomes 0."""
    epsilon = mapped(dp.m.make_laplace(*number_space(), scale=scale), moved)
    profile = Profile(Laplace(Fraction(scale)), sensitivity=Fraction(moved))
    assert profile.delta(Fraction(epsilon)) == 0
    assert profile.enclose(Fraction(epsilon) * (1 - Fraction(1, 10**9))).lower > 0
    assert float(profile.renyi(10**9)) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_opendp_on_the_geometric(scale: float) -> None:
    """On integers its Laplace is the geometric; its ε is from above by no more than rounding."""
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    epsilon = mapped(dp.m.make_laplace(*space, scale=scale), 3)
    ratio = Fraction(math.exp(-1 / scale))
    profile = Profile(DiscreteStaircase(Fraction(1), ratio, (Run(0, 1, 1),)), sensitivity=3)
    assert profile.delta(Fraction(epsilon) * (1 + Fraction(1, 10**12))) == 0
    assert profile.delta(Fraction(epsilon) * (1 - Fraction(1, 10**9))) > 0


@pytest.mark.parametrize("sigma", [0.5, 1.0, 4.0])
def test_opendp_on_the_gaussian(sigma: float) -> None:
    """Its map is ρ, the Rényi divergence over its order; the δ that follows is an upper bound."""
    mechanism = dp.m.make_gaussian(*number_space(), scale=sigma)
    profile = Profile(Gaussian(Fraction(sigma)), sensitivity=1)
    rho = mapped(mechanism, 1.0)
    for order in (2, 5, 40):
        assert float(profile.renyi(order)) == pytest.approx(order * rho, rel=1e-12)
    implied = mapped(dp.c.make_zCDP_to_approxDP(mechanism), 1.0)
    for epsilon in EPSILONS[1:]:
        most = implied.delta(epsilon)
        assert profile.enclose(epsilon).lower <= Fraction(most)
        # It is less than ten times the truth where that is not very small.
        truth = float(profile.delta(epsilon))
        assert truth < 1e-6 or most <= 10 * truth
