"""Samples for study: their distribution, their resolution, and seeds.

The statistical tests use the bound of Dvoretzky, Kiefer, Wolfowitz and Massart: the empirical
distribution function of n samples is further than t from the true one somewhere with probability at
most 2·exp(−2nt²). All of them together raise a false alarm with probability below 1e-9.
"""

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest

import leastnoise as ln
from leastnoise.core.sampling import RunScheme, StaircaseScheme
from leastnoise.core.seeded import SeededTape
from leastnoise.errors import InvalidParameter
from leastnoise.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    DiscreteUniform,
    Gaussian,
    Laplace,
    Noise,
    Rounded,
    Run,
    Staircase,
    Steps,
    TruncatedLaplace,
    Uniform,
)

ON_THE_LINE: list[Noise] = [
    Uniform(5),
    Uniform("1/3", atom="1/4"),
    Steps([-1, 0, 2], ["1/4", "1/8"], {1: "1/2"}),
    Staircase(period=1, gamma="1/3", ratio="1/2"),
    Staircase(period="1/7", gamma=0, ratio="1/2"),
    Staircase(period=3, gamma="1e-15", ratio="1/5"),
    Staircase(period=1, gamma="1/2", ratio="9/10"),
    Laplace("1.3"),
    TruncatedLaplace("1.3", 4),
    TruncatedLaplace(50, "1/3"),
    Gaussian("3/4"),
]
ON_A_LATTICE: list[Noise] = [
    DiscreteUniform(reach=7, level=3, rim=2, atom=5, step=Fraction(1, 3)),
    DiscreteSteps(Fraction(1, 2), (Run(-4, 2, 1), Run(-2, 5, 3), Run(3, 2, 1))),
    DiscreteStaircase(Fraction(1, 4), Fraction(1, 2), (Run(0, 2, 3), Run(2, 3, 2))),
    Rounded(Fraction(1, 4), Gaussian(2)),
]
EVERY = [*ON_THE_LINE, *ON_A_LATTICE]
SAMPLES = 20_000
# At most 40 statistical tests, each with a false alarm rate of 2e-11.
NEAR = math.sqrt(math.log(2 / 2e-11) / (2 * SAMPLES))
STEP = Fraction(1, 1 << 30)  # of the radius or the standard deviation: more than any cell


def distance(samples: np.ndarray, noise: Noise) -> float:
    """Return how far the samples are from the distribution, at its quantiles and between them.

    A sample can be half a cell away from one of the noise, so it is compared with the probability
    on either side of each place.
    """
    spread = Fraction(noise.std())
    found = 0.0
    for level in range(1, 64):
        place = noise.quantile(Fraction(level, 64))
        share = float((samples <= float(place + spread * STEP)).mean())
        found = max(found, float(noise.probability_up_to(place)) - share)
        share = float((samples <= float(place - 3 * spread * STEP)).mean())
        found = max(found, share - float(noise.probability_up_to(place)))
    return found


@pytest.mark.parametrize("noise", EVERY, ids=repr)
def test_samples_have_the_distribution(noise: Noise) -> None:
    samples = noise.sample(SAMPLES)
    assert samples.dtype == np.float64
    assert samples.shape == (SAMPLES,)
    assert distance(samples, noise) <= NEAR


@pytest.mark.parametrize("noise", EVERY, ids=repr)
def test_samples_from_a_seed_have_the_distribution_too(noise: Noise) -> None:
    assert distance(noise.sample_not_private(SAMPLES, seed=7), noise) <= NEAR


@pytest.mark.parametrize("noise", EVERY, ids=repr)
def test_the_test_detects_noise_that_is_too_wide(noise: Noise) -> None:
    """The control."""
    assert distance(1.5 * noise.sample_not_private(SAMPLES, seed=7) + 0.01, noise) > NEAR


@pytest.mark.parametrize("noise", ON_THE_LINE, ids=repr)
def test_a_cell_is_as_small_as_stated(noise: Noise) -> None:
    _, step, offset = noise.sampler()
    spread = noise.radius if isinstance(noise, Uniform | Steps) else Fraction(noise.std())
    assert step <= Fraction(spread) / (1 << 32) * (1 + Fraction(1, 1 << 40))
    assert offset in (0, step / 2)


@pytest.mark.parametrize("noise", ON_A_LATTICE, ids=repr)
def test_lattice_noise_is_sampled_by_its_own_scheme(noise: Noise) -> None:
    assert isinstance(noise, DiscreteUniform | DiscreteSteps | DiscreteStaircase | Rounded)
    scheme, step, offset = noise.sampler()
    assert scheme is noise.scheme
    assert (step, offset) == (noise.step, Fraction(0))
    indices = noise.sample(500) / float(noise.step)
    assert indices == pytest.approx(np.round(indices), abs=1e-9)


@pytest.mark.parametrize(
    "noise", [noise for noise in ON_THE_LINE if isinstance(noise, Staircase)], ids=repr
)
def test_the_cells_of_a_staircase_have_exactly_their_masses(noise: Staircase) -> None:
    scheme, step, _ = noise.sampler()
    assert isinstance(scheme, StaircaseScheme)
    assert scheme.steps * step == noise.period
    runs, total = scheme.period.runs, scheme.period.total
    assert -runs[0].first == runs[-1].first + runs[-1].points == scheme.steps
    for run in runs:
        for index in {run.first, run.first + run.points - 1}:
            mass = noise.probability_up_to((index + 1) * step) - noise.probability_up_to(
                index * step
            )
            assert Fraction(run.weight, total) * (1 - noise.ratio) == mass


def test_the_cells_of_uniform_noise_have_exactly_their_masses() -> None:
    noise = Uniform("1/3", atom="1/4")
    scheme, step, _ = noise.sampler()
    assert isinstance(scheme, RunScheme)
    assert sum(run.points for run in scheme.runs) == 2 * round(noise.radius / step) + 1
    for run in scheme.runs:
        low = (run.first - Fraction(1, 2)) * step
        assert Fraction(run.weight, scheme.total) == noise.between(low, low + step)


def test_a_seed_repeats_its_samples_and_the_system_does_not() -> None:
    noise = Gaussian(1)
    one = noise.sample_not_private(2000, seed=1)
    assert np.array_equal(one, noise.sample_not_private(2000, seed=1))
    assert not np.array_equal(one, noise.sample_not_private(2000, seed=2))
    assert not np.array_equal(noise.sample(2000), noise.sample(2000))


def test_a_seed_does_not_depend_on_tables_that_other_samples_built() -> None:
    noise = Laplace(Fraction(17, 19))
    before = noise.sample_not_private(5, seed=3)
    noise.sample(5000)  # from here on polynomials are used
    assert np.array_equal(before, noise.sample_not_private(5, seed=3))


def test_a_seeded_tape_reads_the_same_words_in_every_way() -> None:
    one, many, filled = SeededTape(4), SeededTape(4), bytearray(8)
    first, second = one.word(64), one.word(64)
    assert many.words(2) == first + (second << 64)
    SeededTape(4).fill(filled)
    assert int.from_bytes(filled, "little", signed=True) + (1 << 63) == first


def test_extreme_sizes_are_sampled() -> None:
    assert 0 < abs(Gaussian("1e-300").sample(50)).max() < 1e-298
    assert 1e299 < abs(Uniform("1e300").sample(50)).max() <= 1e300
    assert (Steps([0, 1], [0], {0: 1}).sample(50) == 0).all()
    assert Gaussian(1).sample(0).shape == (0,)


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidParameter, match="n must be an integer of at least 0, got -1"):
        Gaussian(1).sample(-1)
    with pytest.raises(InvalidParameter, match=r"n must be an integer of at least 0, got 2\.5"):
        Uniform(1).sample_not_private(2.5, seed=1)  # type: ignore[arg-type]
    with pytest.raises(
        InvalidParameter, match="n must be at most 2³¹ = 2147483648, got 2147483649"
    ):
        Gaussian(1).sample(2**31 + 1)
    with pytest.raises(InvalidParameter, match="n must be at most 2³¹"):
        Uniform(1).sample_not_private(10**20, seed=1)
    with pytest.raises(InvalidParameter, match=r"seed must be .*, got -1"):
        Uniform(1).sample_not_private(2, seed=-1)


def test_a_number_of_samples_is_parsed_as_every_other_count() -> None:
    """As people= of explain(): integers in any exact notation, and nothing else."""
    for three in (3, "3", "3.0", 3.0, Fraction(3)):
        assert Uniform(1).sample(three).shape == (3,)  # type: ignore[arg-type]
        assert "3 people" in ln.Privacy(1).explain(people=three)  # type: ignore[arg-type]
    for other in ("3.5", "three", True, None):
        with pytest.raises(InvalidParameter, match="n must be "):
            Uniform(1).sample(other)  # type: ignore[arg-type]
        with pytest.raises(InvalidParameter, match="people must be "):
            ln.Privacy(1).explain(people=other or "three")  # type: ignore[arg-type]


def test_samples_of_different_noise_with_the_same_seed_are_coupled() -> None:
    one, two = (Uniform(radius).sample_not_private(50, seed=1) for radius in (1, 2))
    assert (abs(two - 2 * one) < 1e-6).all()


def test_no_release_takes_a_seed() -> None:
    assert "seed" not in inspect.signature(ln.Mechanism.release).parameters
    assert "seed" not in inspect.signature(Noise.sample).parameters
