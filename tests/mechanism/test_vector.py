"""Vectors by their ℓ2 sensitivity: the guarantee by brute force, its controls, and releases.

The guarantee is proved from the squared distance of lattice points. It is computed again here by
enumeration in the plane, and by a test of the sum in many dimensions. The control is the same noise
without the margin for rounding: vectors at the edges of lattice cells break its guarantee.
"""

import math
import pickle
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import leastnoise
from leastnoise.core.gaussian_cost import find_caps
from leastnoise.core.lattice import Grid, choose_vector_step, effective_square
from leastnoise.core.privacy import Privacy
from leastnoise.core.release import VectorReleaser
from leastnoise.errors import BudgetExceeded, InvalidParameter, NotPrivate
from leastnoise.mechanism import VectorAnswers, VectorMechanism, calibrate_vector
from leastnoise.noise import Gaussian, Laplace, Rounded

ln: Any = leastnoise  # wrong types are passed on purpose
BOTH = Privacy(1, "1e-6")
LOOSE = Privacy("0.5", "0.01")
ONE = Fraction(1)
Floats = NDArray[np.float64]


def tails(sigma: float, reach: int, step: float = 1.0) -> Floats:
    """Return the probabilities of the lattice points −reach … reach of rounded Gaussian noise."""
    edges = (np.arange(-reach, reach + 2) - 0.5) * step / sigma
    upper = np.array([math.erfc(edge / math.sqrt(2)) / 2 for edge in edges])
    probabilities: Floats = upper[:-1] - upper[1:]
    return probabilities


def sigma_of(mechanism: VectorMechanism) -> float:
    line = mechanism.releaser.noise.noise
    assert isinstance(line, Gaussian)
    return float(line.sigma)


# ------------------------------------------------------------------- the guarantee by brute force


def shifts(square: float) -> Iterator[tuple[int, int]]:
    """Go through the integer shifts a ≥ b ≥ 0 of a squared length of at most ``square``."""
    most = math.isqrt(int(square))
    for a in range(1, most + 1):
        for b in range(a + 1):
            if a * a + b * b <= square:
                yield a, b


def delta_in_the_plane(sigma: float, shift: tuple[int, int], epsilon: float) -> float:
    """Return H_ε of two integer vectors, by enumeration of all outputs."""
    reach = int(12 * sigma) + max(shift)
    here = tails(sigma, reach)
    moved = [np.concatenate([np.zeros(by), here[: len(here) - by]]) for by in shift]
    p, q = np.outer(here, here), np.outer(*moved)
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("privacy", [LOOSE, Privacy(1, "1e-3"), Privacy(0, "0.2"), Privacy(3, 0.1)])
@pytest.mark.parametrize("sensitivity", ["1", "1.4142135624", "2", "3.7"])
def test_every_shift_in_the_plane_satisfies_the_guarantee(
    privacy: Privacy, sensitivity: str
) -> None:
    mechanism = calibrate_vector(privacy, sensitivity=sensitivity, dimension=2, integer=True)
    found = [
        delta_in_the_plane(sigma_of(mechanism), shift, float(privacy.epsilon))
        for shift in shifts(float(sensitivity) ** 2)
    ]
    assert 0 < max(found) <= float(privacy.delta)


def test_the_control_in_the_plane() -> None:
    """At Δ = √2 the shift (1, 1) needs more noise than a shift of one number by ⌊Δ⌋ = 1."""
    narrow = calibrate_vector(LOOSE, sensitivity=1, dimension=2, integer=True)
    assert delta_in_the_plane(sigma_of(narrow), (1, 1), 0.5) > float(LOOSE.delta)
    wide = calibrate_vector(LOOSE, sensitivity="1.4142135624", dimension=2, integer=True)
    assert delta_in_the_plane(sigma_of(wide), (1, 1), 0.5) <= float(LOOSE.delta)
    assert wide.each.sensitivity == 1


coordinates = st.fractions(min_value=-3, max_value=3, max_denominator=64)


@given(
    st.lists(coordinates, min_size=1, max_size=9),
    st.data(),
    st.sampled_from(["1/3", "1/2", "1", "7/5"]),
)
def test_rounded_vectors_are_within_the_effective_distance(
    first: list[Fraction], data: st.DataObject, step: str
) -> None:
    """For all vectors at a distance of at most Δ, with errors of half a step as of floats."""
    grid, count = Grid(Fraction(step)), len(first)
    half = grid.step / 2
    other = [data.draw(coordinates) for _ in first]
    square = sum((x - y) ** 2 for x, y in zip(first, other, strict=True))
    sensitivity = Fraction(math.isqrt(math.ceil(square * 4**20)) + 1, 2**20)
    errors = [data.draw(st.sampled_from([-half, half, Fraction(0)])) for _ in range(2 * count)]
    points = [
        grid.index(*(value + error).as_integer_ratio())
        for value, error in zip([*first, *other], errors, strict=True)
    ]
    moved = sum((points[i] - points[count + i]) ** 2 for i in range(count)) * grid.step**2
    allowed = effective_square(sensitivity, grid.step, dimension=count, integer=False)
    assert moved <= allowed
    root = Fraction(math.isqrt(count * 4**20) + 1, 2**20)
    assert allowed <= (sensitivity + 2 * grid.step * root) ** 2 + grid.step**2  # rounded up


@pytest.mark.parametrize("root", [1, 2, 3])
def test_coordinates_that_are_inexact_need_the_margin_too(root: int) -> None:
    """Half a step apart, and each half a step off, they are rounded to points two steps apart."""
    grid, quarter = Grid(ONE), Fraction(1, 4)
    below, above = (grid.index(*(side * 3 * quarter).as_integer_ratio()) for side in (-1, 1))
    assert above - below == 2
    allowed = effective_square(Fraction(root, 2), ONE, dimension=root**2, integer=False)
    assert root**2 * (above - below) ** 2 <= allowed


# ------------------------------------------------------------------- the edges of lattice cells


def attack(sigma: float, step: float, moved: int, count: int, epsilon: float) -> float:
    """Return the δ that a test of the sum of all coordinates reaches.

    All coordinates move by ``moved`` steps. The sum of their noise has a probability for each
    integer, found by convolution.
    """
    reach = int(9 * sigma / step)
    each = np.ones(1)
    for _ in range(count):
        each = np.convolve(each, tails(sigma, reach, step))
    shifted = np.concatenate([np.zeros(moved * count), each])[: len(each)]
    return float(np.maximum(shifted - math.exp(epsilon) * each, 0).sum())


@pytest.mark.parametrize("count", [4, 9, 25])
def test_vectors_at_the_edges_of_cells_break_noise_without_the_margin(count: int) -> None:
    """Just below and just above the edge of a cell in each of m coordinates.

    The vectors are at a distance of Δ = g·√m/2, their lattice points at g·√m = 2Δ.
    """
    step, root = Fraction(1, 4), math.isqrt(count)
    sensitivity = step * root / 2
    below = [step / 2 - step / 1000] * count
    above = [coordinate + sensitivity / root for coordinate in below]
    assert sum((y - x) ** 2 for x, y in zip(below, above, strict=True)) == sensitivity**2
    grid = Grid(step)
    moved = {
        grid.index(*y.as_integer_ratio()) - grid.index(*x.as_integer_ratio())
        for x, y in zip(below, above, strict=True)
    }
    assert moved == {1}
    mu = math.sqrt(find_caps(LOOSE).square)
    naive = float(sensitivity) / mu
    assert attack(naive, float(step), 1, count, 0.5) > 3 * float(LOOSE.delta)
    square = effective_square(sensitivity, step, dimension=count, integer=False)
    sigma = Fraction(math.sqrt(square / find_caps(LOOSE).square) * (1 + 1e-12))
    releaser = VectorReleaser(Rounded(step, Gaussian(sigma)), LOOSE, sensitivity, count, False)
    assert releaser.effective_square >= (step * root) ** 2
    assert attack(float(sigma), float(step), 1, count, 0.5) <= float(LOOSE.delta)
    with pytest.raises(NotPrivate, match=r"does not satisfy .* changes by at most .* in ℓ2"):
        VectorReleaser(
            Rounded(step, Gaussian(Fraction(naive))), LOOSE, sensitivity, count, integer=False
        )


@pytest.mark.parametrize("dimension", [1, 2, 1000, 2**18, 2**18 + 1, 10**9])
@pytest.mark.parametrize("sensitivity", ["1", "0.001", "1/3", "1000000.7"])
def test_the_margin_is_at_most_a_thousandth(dimension: int, sensitivity: str) -> None:
    delta = Fraction(sensitivity)
    step = choose_vector_step(delta, dimension)
    square = effective_square(delta, step, dimension=dimension, integer=False)
    assert (delta + step) ** 2 < square <= (delta * Fraction(1025, 1024)) ** 2
    assert dimension > 2**18 or step == choose_vector_step(delta, 1)


def test_too_little_noise_is_impossible() -> None:
    """Noise a part of 10⁻⁹ too narrow is rejected, for real numbers and integers."""
    for integer in (False, True):
        good = calibrate_vector(BOTH, sensitivity=2, dimension=50, integer=integer)
        assert good.gaussian_cost.delta(ONE) <= BOTH.delta
        assert good.gaussian_cost.square <= find_caps(BOTH).square
        noise, *rest = good.releaser.__reduce__()[1]
        assert isinstance(noise, Rounded)
        assert isinstance(noise.noise, Gaussian)
        narrow = Rounded(noise.step, noise.noise.scaled(1 - Fraction(1, 10**9)))
        build: Any = VectorReleaser
        build(noise, *rest)
        with pytest.raises(NotPrivate, match="its standard deviation is too small"):
            build(narrow, *rest)
        privacy, sensitivity, dimension = good.privacy, good.sensitivity, good.dimension
        with pytest.raises(NotPrivate, match="its standard deviation is too small"):
            build(noise, privacy, sensitivity * 2, dimension, integer)
        with pytest.raises(NotPrivate, match="its standard deviation is too small"):
            build(noise, Privacy(1, "1e-7"), sensitivity, dimension, integer)
        if not integer:
            with pytest.raises(NotPrivate, match="its standard deviation is too small"):
                build(noise, privacy, sensitivity, 10**6 * dimension, integer)


def test_a_releaser_rejects_other_noise() -> None:
    with pytest.raises(InvalidParameter, match="The noise for a vector must be Gaussian"):
        VectorReleaser(Rounded(ONE, Laplace(50)), BOTH, ONE, 2, integer=True)
    with pytest.raises(InvalidParameter, match="for integers have step 1"):
        VectorReleaser(Rounded(ONE / 2, Gaussian(50)), BOTH, ONE, 2, integer=True)
    for sensitivity, dimension in ((Fraction(0), 2), (ONE, 0)):
        with pytest.raises(InvalidParameter, match="sensitivity must be greater than 0"):
            VectorReleaser(Rounded(ONE, Gaussian(50)), BOTH, sensitivity, dimension, integer=True)


def test_a_mechanism_is_built_again_with_its_proof() -> None:
    good = calibrate_vector(BOTH, sensitivity=1, dimension=5)
    assert pickle.loads(pickle.dumps(good)) == good
    good.verify()
    build, parts = good.__reduce__()
    with pytest.raises(NotPrivate, match="its standard deviation is too small"):
        build(parts[0], 2 * good.sensitivity, *parts[2:])
    laplace = ln.calibrate(Privacy(1), sensitivity=1, family="laplace")
    with pytest.raises(InvalidParameter, match="must have rounded noise and the same guarantee"):
        build(*parts[:3], laplace)


# ------------------------------------------------------------------- releases


VECTOR = calibrate_vector(BOTH, sensitivity=1, dimension=1000)
COUNTS = calibrate_vector(BOTH, sensitivity=3, dimension=6, integer=True)


def test_the_noise_does_not_grow_with_the_dimension() -> None:
    one = calibrate_vector(BOTH, sensitivity=1, dimension=1)
    assert float(VECTOR.cost / one.cost) == pytest.approx(1, abs=1e-4)
    assert float(one.effective_sensitivity) == pytest.approx(1, abs=1e-5)
    assert sigma_of(COUNTS) == pytest.approx(3 * 4.22467889)
    assert float(COUNTS.gaussian_cost.rho) == pytest.approx(1 / 4.22467889**2 / 2)


def test_arrays_of_every_shape_are_released() -> None:
    values = np.linspace(-50, 50, 1000)
    answers = VECTOR.release(values.reshape(10, 100))
    assert isinstance(answers, VectorAnswers)
    assert answers.values.shape == (10, 100)
    errors = answers.values.ravel() - values
    assert float(errors.std()) == pytest.approx(4.225, rel=0.2)
    low, high = answers.interval("0.999999")
    assert np.mean((low <= values.reshape(10, 100)) & (values.reshape(10, 100) <= high)) > 0.99
    assert answers.max_error == math.inf
    whole = COUNTS.release(np.array([[5, 6, 7], [-1, 0, 1]]))
    assert whole.values.dtype == np.int64


def test_a_single_number_is_a_vector_of_one() -> None:
    answer = COUNTS.release(12)
    assert isinstance(answer, ln.Answer)
    assert answer.privacy == BOTH
    assert abs(answer.value - 12) < 200


def test_columns_are_released_as_their_kind() -> None:
    series = pd.Series([1.5, 2.5, -4.0], index=["a", "b", "c"], name="x")
    released = VECTOR.release(series).column
    assert isinstance(released, pd.Series)
    assert list(released.index) == ["a", "b", "c"]
    assert released.name == "x"
    assert isinstance(COUNTS.release(pl.Series("n", [1, 2, 3])).column, pl.Series)
    assert isinstance(COUNTS.release(pa.array([1, 2, 3])).column, pa.Array)


def test_answers_state_that_the_guarantee_covers_the_vector() -> None:
    answers = VECTOR.release(np.zeros(3))
    assert "ε = 1, δ = 1e-6 for the whole vector; not recorded" in str(answers)
    assert repr(answers).endswith("for the whole vector)")
    assert "ε = 1, δ = 1e-6 for the whole vector" in answers._repr_html_()
    assert answers.explain().startswith(str(answers))
    assert "This covers the whole vector" in " ".join(answers.explain().split())
    words = calibrate_vector(BOTH, sensitivity=1, dimension=1).explain()
    assert "ρ = 0.02802 (zCDP)" in " ".join(words.split())
    assert "for the whole vector" not in str(COUNTS.release(1))


def test_a_vector_counts_by_its_guarantee_in_a_composition() -> None:
    """Not by the noise of one number, which for integers can reveal less than the vector."""
    assert VECTOR.composed_as == VECTOR.release(np.zeros(2)).composed_as == BOTH
    together = ln.compose([VECTOR, VECTOR.release(np.zeros(2))])
    assert together.basic == Privacy(2, "2e-6")


def test_a_ledger_is_charged_once_for_the_vector(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    values = np.arange(6)
    with ln.Ledger(path, limit=Privacy(2, "2e-6")) as ledger:
        first = COUNTS.release(values, ledger=ledger, key="bins")
        assert ledger.remaining == BOTH
        again = COUNTS.release(values + 1, ledger=ledger, key="bins")
        assert again.values.tolist() == first.values.tolist()
        assert ledger.remaining == BOTH
        VECTOR.release(np.zeros(1000), ledger=ledger)
        with pytest.raises(BudgetExceeded, match="Not enough budget"):
            COUNTS.release(values, ledger=ledger)
        ledger.verify()
        described = [release.asked for release in ledger.releases]
        assert described[0] == {"answer": "many", "shape": [6], "touches": 1}
    # A mechanism of another dimension is another query.
    with ln.Ledger(path) as ledger:
        other = calibrate_vector(BOTH, sensitivity=3, dimension=7, integer=True)
        with pytest.raises(InvalidParameter, match="was used with"):
            other.release(values, ledger=ledger, key="bins")


# ------------------------------------------------------------------- wrong inputs


def test_vectors_that_are_too_long_are_rejected() -> None:
    with pytest.raises(InvalidParameter, match="must have at most 6 elements, got an array of 7"):
        COUNTS.release(np.zeros(7, dtype=int))
    with pytest.raises(InvalidParameter, match="must have at most 6 elements, got a column of 8"):
        COUNTS.release(pd.Series(range(8)))
    with pytest.raises(InvalidParameter, match="must have at most 6 elements, got an array of 8"):
        COUNTS.release(np.zeros((2, 4), dtype=int))


@pytest.mark.parametrize("contributions", [0, 2, True, "1", 1.0])
def test_contributions_are_rejected(contributions: object) -> None:
    for values in (np.zeros(2, dtype=int), 3):
        release: Any = COUNTS.release
        with pytest.raises(InvalidParameter, match="contributions must be 1 for a vector"):
            release(values, contributions=contributions)


def test_values_that_are_no_numbers_are_rejected() -> None:
    release: Any = COUNTS.release
    with pytest.raises(InvalidParameter, match="must be a number"):
        release([1, 2, 3])
    with pytest.raises(InvalidParameter, match="an array to release must hold integers"):
        release(np.array([0.5]))
    with pytest.raises(InvalidParameter, match="must hold finite numbers"):
        VECTOR.release(np.array([math.nan]))
    with pytest.raises(InvalidParameter, match="allow_exact must be True or False"):
        release(np.zeros(2, dtype=int), allow_exact=1)


def test_exact_releases_need_consent() -> None:
    sure = calibrate_vector(Privacy(1, "0.999"), sensitivity=1, dimension=2, integer=True)
    assert sure.each.needs_allow_exact
    with pytest.raises(InvalidParameter, match="this noise adds nothing"):
        sure.release(np.array([1, 2]))
    assert "exact with probability" in str(sure.release(np.array([1, 2]), allow_exact=True))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sensitivity": 0}, "sensitivity must be"),
        ({"sensitivity": "x"}, "sensitivity must be"),
        ({"dimension": 0}, "dimension must be an integer of at least 1"),
        ({"dimension": 1.5}, "dimension must be an integer of at least 1"),
        ({"integer": 1}, "integer must be True or False"),
        ({"integer": True, "sensitivity": "0.5"}, "sensitivity must be at least 1 for integers"),
        ({"privacy": Privacy(1)}, "Gaussian noise, which requires δ > 0"),
        ({"privacy": 1}, "privacy must be"),
        ({"cost": 1}, "cost must be"),
    ],
)
def test_wrong_arguments_are_rejected(change: dict[str, Any], problem: str) -> None:
    arguments: dict[str, Any] = {"privacy": BOTH, "sensitivity": 1, "dimension": 3} | change
    with pytest.raises(InvalidParameter, match=problem):
        calibrate_vector(arguments.pop("privacy"), **arguments)
