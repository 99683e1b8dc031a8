"""A family of noise is added by the checklist of docs/architecture.md, and nothing else."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import leastnoise as ln
from leastnoise.accounting import Profile
from leastnoise.calibration import FAMILIES, Approximation, Family, Problem, families, register
from leastnoise.certificate import document
from leastnoise.core.exact import Number, parse_positive
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.lattice import choose_lattice
from leastnoise.core.noise import (
    DiscreteSteps,
    LatticeNoise,
    LineNoise,
    Noise,
    PiecewiseNoise,
    Run,
    StaircaseNoise,
    outside,
)
from leastnoise.core.profile import Curve, LogConcaveCurve
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.planning.estimates import split_size

# ---------------------------------------------------------------- step 1: the file in core/noise


@dataclass(frozen=True)
class TwoLevel(PiecewiseNoise):
    """Density 2h on |x| < w and h on w < |x| < 2w, h = 1/6w: at ε = 0, δ = Δ/3w for Δ ≤ 2w."""

    width: Fraction

    stored: ClassVar = {"width": "rational"}

    @property
    def radius(self) -> Fraction:
        return 2 * self.width

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        return {}

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
        w, h = self.width, 1 / (6 * self.width)
        return ((-2 * w, -w, h), (-w, w, 2 * h), (w, 2 * w, h))

    @property
    def is_unimodal(self) -> bool:
        return True

    def scaled(self, factor: Number) -> "TwoLevel":
        return TwoLevel(parse_positive(factor, "factor") * self.width)

    def discretize(self, sensitivity: Fraction) -> "DiscreteTwoLevel":
        step, protected = choose_lattice(sensitivity)
        return DiscreteTwoLevel.least(step, protected * self.width / sensitivity)

    def probability_up_to(self, upto: Fraction) -> Fraction:
        return sum(
            (h * min(max(upto - a, Fraction(0)), b - a) for a, b, h in self.pieces),
            start=Fraction(0),
        )

    def quantile(self, probability: Fraction) -> Fraction:
        for a, b, h in self.pieces:
            if probability <= self.probability_up_to(b):
                return a + (probability - self.probability_up_to(a)) / h
        return self.radius

    def variance(self) -> Fraction:
        return self.width**2

    def _pdf(self, place: Fraction | float) -> Fraction:
        return next((h for a, b, h in self.pieces if a <= place < b), Fraction(0))


@dataclass(frozen=True, repr=False)
class DiscreteTwoLevel(DiscreteSteps):
    """Two levels, the outer ones ending in the middle of a cell; sampled as Steps on a lattice."""

    @classmethod
    def least(cls, step: Fraction, inner: Fraction) -> "DiscreteTwoLevel":
        """Return the smallest whose inner level is at least 2·``inner`` steps long: 2m + 1."""
        m = max(0, math.ceil(inner - Fraction(1, 2)))
        runs = (
            Run(-2 * m - 1, 1, 1),
            Run(-2 * m, m, 2),
            Run(-m, 2 * m + 1, 4),
            Run(m + 1, m, 2),
            Run(2 * m + 1, 1, 1),
        )
        return cls(step, tuple(run for run in runs if run.points))


# ---------------------------------------------------------------- step 2: the finder


def find_two_level(problem: Problem) -> Noise:
    delta = problem.privacy.delta
    if not 0 < delta <= Fraction(2, 3):
        raise outside("the toy", "0 < δ ≤ 2/3", problem.privacy)
    width = problem.sensitivity / (3 * delta)
    return DiscreteTwoLevel.least(Fraction(1), width) if problem.integer else TwoLevel(width)


# ---------------------------------------------------------------- step 3: the registration

TOY = Family(
    about="two levels",
    source="tests/calibration/test_toy_family.py",
    find=find_two_level,
    noise=(TwoLevel, DiscreteTwoLevel),
    approximation=Approximation.UNIFORM,
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    rows, known = dict(document._ROWS), dict(families._FAMILIES)
    register("toy", TOY)
    yield
    for table, before in ((document._ROWS, rows), (families._FAMILIES, known)):
        for name in set(table) - set(before):
            del table[name]


DELTA = ln.Privacy(delta="1/10")


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("integer", [False, True])
def test_it_is_calibrated_certified_and_released(integer: bool) -> None:
    mechanism = ln.calibrate(DELTA, sensitivity=2, family="toy", integer=integer)
    assert type(mechanism.noise) is (DiscreteTwoLevel if integer else TwoLevel)
    assert type(mechanism.discretized.noise) is DiscreteTwoLevel
    assert mechanism.certificate.source == TOY.source
    # w = 20/3, and E|X| = 5w/6.
    assert abs(mechanism.cost - Fraction(50, 9)) <= (1 if integer else 0)
    mechanism.verify()
    back = ln.Certificate.from_json(mechanism.certificate.to_json())
    assert back == mechanism.certificate
    back.verify()
    answer = mechanism.release(1000)
    assert abs(answer.value - 1000) <= answer.max_error < 16
    assert "Mechanism(" in repr(mechanism)
    assert mechanism.explain()
    many = mechanism.release(np.full(40_000, 1000))
    assert np.abs(many.values - 1000).max() <= many.max_error
    spread = float(np.var(many.values.astype(float)))
    assert spread == pytest.approx(float(mechanism.discretized.noise.variance()), rel=0.05)


@pytest.mark.usefixtures("toy")
def test_it_is_held_profiled_and_composed() -> None:
    noise = TwoLevel(Fraction(10, 3))
    mechanism = ln.Mechanism.from_noise(noise, DELTA, sensitivity=1)
    assert mechanism.cost == Fraction(25, 9)
    with pytest.raises(NotPrivate, match=r"a shift of 1 needs δ = 0\.1\."):
        ln.Mechanism.from_noise(noise, ln.Privacy(delta="0.0999"), sensitivity=1)
    profile = Profile(noise, sensitivity=1)
    assert profile.delta(0) == noise.total_variation(Fraction(1)) == Fraction(1, 10)
    # P(|X| < 7/2) = 1 − 2h·(2w − 7/2), for w = 10/3 and h = 1/20.
    assert noise.total_variation(Fraction(7)) == 1 - Fraction(1, 10) * Fraction(19, 6)
    # Beyond e^ε = 2 only the outermost Δ of one side, of height h, is impossible for a neighbor.
    assert profile.delta(1) == profile.infinity_mass == Fraction(1, 20)
    assert profile.tradeoff(0) == Fraction(19, 20)
    assert math.isinf(profile.renyi(2))
    twice = ln.compose([mechanism, mechanism.release(3)])
    assert twice.delta(1) >= 1 - Fraction(19, 20) ** 2
    assert Fraction(15, 100) < twice.delta(0) <= Fraction(19, 100)
    assert noise.expected(ln.l2) == noise.variance()
    assert noise.expected(ln.Cost(math.sqrt)) > 0


@pytest.mark.usefixtures("toy")
def test_it_is_compared_and_planned() -> None:
    rows = {row.family: row for row in ln.compare(DELTA, sensitivity=1)}
    assert rows["toy"].cost == Fraction(25, 9) > rows["uniform"].cost
    assert rows["toy"].mechanism is not None
    wanted = [ln.NumericQuery(name, sensitivity=1, family="toy") for name in ("one", "other")]
    found = ln.plan(ln.Privacy(1, "0.2"), wanted, solve=False)
    assert [type(one.noise) for one in found.mechanisms.values()] == [TwoLevel, TwoLevel]


@pytest.mark.usefixtures("toy")
def test_it_is_drawn() -> None:
    pytest.importorskip("altair")
    from leastnoise import plots
    from leastnoise.plots.densities import outline

    drawn = outline(TwoLevel(Fraction(1)))
    assert [*drawn.breaks] == [-2, -1, 1, 2]
    assert [*drawn.heights] == [Fraction(1, 6), Fraction(1, 3), Fraction(1, 6)]
    assert plots.distributions({"toy": TwoLevel(Fraction(1))}, "two levels").to_dict()
    assert plots.density_by_family(ln.compare(DELTA, sensitivity=1)).to_dict()


# ---------------------------------------------------------------- what is missing is named


class Unfinished(PiecewiseNoise):
    """A kind is known, but nothing of the family."""


class Half(StaircaseNoise):
    """The same of a staircase."""


class Foreign(LineNoise):
    """Everything of Noise, but of no kind: costs, losses and plots do not know it."""

    stored: ClassVar = {"scale": "rational"}

    def __init__(self, scale: Fraction = Fraction(1)) -> None:
        self.scale = scale

    def __repr__(self) -> str:
        return "Foreign()"

    @property
    def radius(self) -> Fraction:
        return self.scale

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        return {}

    @property
    def is_unimodal(self) -> bool:
        return False

    def curve(self, sensitivity: Fraction) -> Curve:
        return LogConcaveCurve(ln.noise.Laplace(self.scale), sensitivity)

    def scaled(self, factor: Number) -> "Foreign":
        return Foreign(parse_positive(factor, "factor") * self.scale)

    def discretize(self, sensitivity: Fraction) -> LatticeNoise:
        return DiscreteTwoLevel.least(sensitivity, self.scale)

    def probability_up_to(self, upto: Fraction) -> Fraction:
        return Fraction(int(upto >= 0))

    def quantile(self, probability: Fraction) -> Fraction:
        return probability

    def variance(self) -> Fraction:
        return self.scale**2

    def _pdf(self, place: Fraction | float) -> Fraction:
        return Fraction(int(place == 0))


@dataclass(frozen=True)
class Unstored(TwoLevel):
    stored: ClassVar = {}


@dataclass(frozen=True)
class Strange(TwoLevel):
    stored: ClassVar = {"width": "complex"}


Impostor = type("Uniform", (TwoLevel,), {})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"noise": ()}, "the family toy must name the classes of its noise, got none"),
        ({"approximation": None}, "the family toy must have an approximation, got None"),
        (
            {"noise": (TwoLevel, Unfinished)},
            "Unfinished of the family toy is not complete; it lacks _pdf, atoms, discretize, "
            "is_unimodal, pieces, probability_up_to, quantile, radius, scaled, variance, the "
            r"fields that a certificate stores \(Noise.stored\)",
        ),
        (
            {"noise": (Foreign,)},
            r"Foreign of the family toy is not complete; it lacks an expected cost "
            r"\(leastnoise.costs.expectation\), a privacy loss curve \(leastnoise.accounting",
        ),
        ({"noise": (Unstored,)}, r"Unstored of .* lacks the fields that a certificate stores"),
        ({"noise": (Strange,)}, r"Strange is stored by values of unknown kinds: \['complex'\]"),
        ({"noise": (Impostor,)}, "certificates hold another class named Uniform"),
    ],
    ids=["classes", "approximation", "abstract", "kind", "stored", "values", "name"],
)
def test_a_registration_without_a_part_names_it(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        register("toy", replace(TOY, **changed))
    assert "toy" not in FAMILIES


def test_a_name_is_given_once_and_a_finder_is_needed() -> None:
    with pytest.raises(TypeError, match="there is a family uniform already"):
        register("uniform", TOY)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'approximation'"):
        Family("two levels", "here", find_two_level, (TwoLevel,))  # type: ignore[call-arg]


def test_a_class_that_is_not_finished_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract class Unfinished"):
        Unfinished()  # type: ignore[abstract]
    with pytest.raises(TypeError, match="abstract class Half"):
        Half()  # type: ignore[abstract]


def test_noise_that_is_not_registered_is_taken_for_nothing_else() -> None:
    with pytest.raises(InvalidParameter, match=r"family must be one of .*, got 'toy'"):
        ln.calibrate(DELTA, sensitivity=1, family="toy")
    with pytest.raises(KeyError, match="toy"):
        split_size("toy", 1.0, 0.1)
    certificate = ln.calibrate(DELTA, sensitivity=1).certificate
    with pytest.raises(InvalidParameter, match="noise and costs of leastnoise, got TwoLevel"):
        replace(certificate, noise=TwoLevel(Fraction(10, 3))).to_json()


def test_noise_of_no_kind_is_taken_for_nothing_else() -> None:
    noise = Foreign()
    with pytest.raises(Unsupported, match="known only for noise of leastnoise, got Foreign"):
        noise.expected(ln.l1)
    with pytest.raises(Unsupported, match="known only for noise of leastnoise, got Foreign"):
        ln.compose([Profile(noise, sensitivity=1)]).delta(0)
    with pytest.raises(Unsupported, match="known only for noise of leastnoise, got Foreign"):
        ln.Mechanism.from_noise(noise, DELTA, sensitivity=1)
    with pytest.raises(NotPrivate, match="This noise does not satisfy"):
        check_privacy(noise, DELTA, sensitivity=Fraction(1))  # by its own curve alone
    pytest.importorskip("altair")
    from leastnoise.plots.densities import outline

    with pytest.raises(Unsupported, match=r"must have a density to be drawn, got Foreign"):
        outline(noise)


def test_a_lattice_form_without_a_sampler_cannot_be_made() -> None:
    class Unsampled(DiscreteTwoLevel):
        scheme = LatticeNoise.scheme  # type: ignore[assignment]  # which is abstract

    with pytest.raises(TypeError, match=r"abstract class Unsampled.*scheme"):
        Unsampled(Fraction(1), (Run(0, 1, 1),))
    with pytest.raises(TypeError, match=r"Unsampled of the family toy is not complete.*scheme"):
        register("toy", replace(TOY, noise=(TwoLevel, Unsampled)))


@pytest.mark.parametrize("name", FAMILIES)
def test_what_every_registered_class_states_is_what_is_written(name: str) -> None:
    for noise in FAMILIES[name].noise:
        assert document._ROWS[noise.__name__].built is noise
        # Uniform and TruncatedLaplace store their width as the radius that they are given.
        assert set(noise.stored) - {"radius"} <= {field.name for field in fields(noise)}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FAMILIES)
def test_every_registered_class_on_the_line_has_an_outline(name: str) -> None:
    pytest.importorskip("altair")
    from leastnoise.plots.densities import outline

    for noise in FAMILIES[name].noise:
        known = outline.dispatch(noise) is not outline.dispatch(object)
        assert known == issubclass(noise, LineNoise)


def test_only_gaussian_noise_composes_like_gaussian_noise() -> None:
    """That k releases are one at √k·Δ is a theorem about the class, whatever approximates it."""
    assert {name for name in FAMILIES if FAMILIES[name].is_gaussian} == {
        "gaussian",
        "classic_gaussian",
    }
    other = replace(FAMILIES["laplace"], approximation=Approximation.GAUSSIAN)
    assert not other.is_gaussian


@pytest.mark.parametrize("name", FAMILIES)
def test_every_built_in_family_is_complete(name: str) -> None:
    """Built-in families are registered without the check, so that commands start quickly."""
    families.check_complete(name, FAMILIES[name])
