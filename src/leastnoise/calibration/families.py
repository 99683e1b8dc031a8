"""Families of noise from the literature, with the parameters that a guarantee requires."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from types import MappingProxyType

from leastnoise.calibration.canonical import find_canonical
from leastnoise.calibration.comb import find_comb, prove_comb
from leastnoise.calibration.problem import Problem
from leastnoise.calibration.smooth import (
    find_classic_gaussian,
    find_gaussian,
    find_laplace,
    find_smooth,
    find_truncated_laplace,
)
from leastnoise.calibration.sources import COMB_PAGE, FAMILIES_PAGE
from leastnoise.calibration.staircase import (
    find_cheapest_staircase,
    find_cut_staircase,
    find_geometric,
)
from leastnoise.calibration.uniform import find_uniform, prove_uniform
from leastnoise.certificate import Certificate, store_noise
from leastnoise.core.exact import quote
from leastnoise.core.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    DiscreteUniform,
    Gaussian,
    Laplace,
    Noise,
    Rounded,
    Staircase,
    Steps,
    TruncatedLaplace,
    Uniform,
)
from leastnoise.costs import has_expectation
from leastnoise.errors import (
    InvalidParameter,
    LeastnoiseError,
    NotPrivate,
    Unsupported,
    parameter,
)
from leastnoise.suggestions import find_nearest

# If ε is smaller than δ by this factor, the noise for ε = 0 is within 0.1% of optimal.
_MUCH_LESS = 10_000


class Approximation(Enum):
    """The approximation of a family in floats at Δ = 1, which plans use while they search."""

    UNIFORM = "uniform: needs no ε"
    EXPONENTIAL = "falls at the rate ε: makes no use of δ"
    LAPLACE = "falls at the rate ε − 2·ln(1−δ)"
    TRUNCATED = "falls at the rate ε, truncated where δ allows it"
    GAUSSIAN = "normal"


@dataclass(frozen=True, slots=True)
class Family:
    """A family of noise: its description, its source, its finder, and its use in plans.

    Attributes:
        about: A description, in a few words.
        source: The published result for its parameters.
        find: A function that returns the noise for a problem, or raises an error with the
            conditions of the theorem.
        noise: Every class that ``find`` returns, or that its noise is discretized to.
        approximation: The approximation that a search uses.
        stairs: Whether it falls in steps of Δ, which makes it cheaper than its approximation.
        many_steps: Whether it takes long for a small ε, where another family is as good.
        prove_least: A function that returns the noise with a proof that it is optimal, or None.
    """

    about: str
    source: str
    find: Callable[[Problem], Noise]
    noise: tuple[type[Noise], ...]
    approximation: Approximation
    stairs: bool = False
    many_steps: bool = False
    prove_least: Callable[[Problem], tuple[Noise, Certificate] | None] | None = None

    @property
    def needs_epsilon(self) -> bool:
        """Whether it needs an ε > 0."""
        return self.approximation is not Approximation.UNIFORM

    @property
    def uses_delta(self) -> bool:
        """Whether a δ > 0 makes it cheaper."""
        return self.approximation is not Approximation.EXPONENTIAL

    @property
    def is_gaussian(self) -> bool:
        """Whether k releases together are one release of the same noise shifted by √k·Δ."""
        return self.noise == (Gaussian, Rounded)


_FAMILIES: dict[str, Family] = {}
FAMILIES: Mapping[str, Family] = MappingProxyType(_FAMILIES)


def register(name: str, family: Family) -> None:
    """Add a family under its name; the last of the steps in docs/architecture.md.

    Raises:
        TypeError: If a part of it is missing; the message names the part.
    """
    if name in _FAMILIES:
        raise TypeError(f"there is a family {name} already")
    check_complete(name, family)
    for noise in family.noise:
        store_noise(noise)
    _FAMILIES[name] = family


def check_complete(name: str, family: Family) -> None:
    """Raise a TypeError that names the part of a family that is missing."""
    if not family.noise:
        raise TypeError(f"the family {name} must name the classes of its noise, got none")
    if not isinstance(family.approximation, Approximation):
        raise TypeError(
            f"the family {name} must have an approximation, got {family.approximation!r}"
        )
    for noise in family.noise:
        _check_class(name, noise)


def _check_class(name: str, noise: type[Noise]) -> None:
    from leastnoise.accounting import has_loss_curve

    missing = []
    if inspect.isabstract(noise):
        missing += sorted(noise.__abstractmethods__)
    if not has_expectation(noise):
        missing.append("an expected cost (leastnoise.costs.expectation)")
    if not has_loss_curve(noise):
        missing.append("a privacy loss curve (leastnoise.accounting.parts)")
    if not getattr(noise, "stored", None):
        missing.append("the fields that a certificate stores (Noise.stored)")
    if missing:
        raise TypeError(
            f"{noise.__name__} of the family {name} is not complete; it lacks {', '.join(missing)}"
        )


def check_family(name: object, otherwise: str) -> str:
    """Return the name of a family, or reject it; ``otherwise`` is the choice without a family."""
    if isinstance(name, str) and name in FAMILIES:
        return name
    near = find_nearest(str(name).lower(), FAMILIES)
    meant = f"Did you mean {near}?" if near else ""
    raise InvalidParameter(
        parameter("family") + f" must be one of {', '.join(FAMILIES)}",
        got=quote(name),
        fix=meant or f"Omit it for {otherwise}.",
    )


def find_cheapest(problem: Problem) -> tuple[Noise, str]:
    """Return the cheapest noise of all families for a problem, and its family's name."""
    best: tuple[Fraction, Noise, str] | None = None
    rejections: list[LeastnoiseError] = []
    for name, family in FAMILIES.items():
        if best and problem.privacy.epsilon * _MUCH_LESS <= problem.privacy.delta:
            break  # uniform noise, the first family, is close enough to optimal
        try:
            noise = family.find(problem)
            cost = noise.expected(problem.cost)
            if problem.shape == "unimodal" and not noise.is_unimodal:
                continue
        except (InvalidParameter, NotPrivate, Unsupported) as error:
            rejections.append(error)
            continue
        if best is None or cost < best[0]:
            best = cost, noise, name
    if best is None:  # an Unsupported error explains: noise exists, but its cost is not computed
        raise max(rejections, key=lambda error: isinstance(error, Unsupported))
    return best[1], best[2]


_BUILT_IN = {
    "uniform": Family(
        about="uniform, with mass at 0 where δ is large",
        source="GDGK19, Theorem 2",
        find=find_uniform,
        noise=(Uniform, DiscreteUniform),
        approximation=Approximation.UNIFORM,
        prove_least=prove_uniform,
    ),
    "comb": Family(
        about="three levels, not unimodal",
        source=COMB_PAGE,
        find=find_comb,
        noise=(Steps, DiscreteSteps),
        approximation=Approximation.UNIFORM,
        prove_least=prove_comb,
    ),
    "canonical": Family(
        about="steps of Δ, as concentrated as (ε, δ) allows",
        source="Awan and Vadhan 2023",
        find=find_canonical,
        noise=(Steps, DiscreteSteps, DiscreteUniform, Staircase, DiscreteStaircase),
        approximation=Approximation.TRUNCATED,
        stairs=True,
        many_steps=True,
    ),
    "staircase": Family(
        about="falls by e^−ε once in a Δ",
        source="Geng and Viswanath 2016",
        find=find_cheapest_staircase,
        noise=(Staircase, DiscreteStaircase),
        approximation=Approximation.EXPONENTIAL,
        stairs=True,
    ),
    "cut_staircase": Family(
        about="a staircase, truncated where δ allows it",
        source=FAMILIES_PAGE,
        find=find_cut_staircase,
        noise=(Steps, DiscreteSteps),
        approximation=Approximation.TRUNCATED,
        stairs=True,
        many_steps=True,
    ),
    "geometric": Family(
        about="falls by e^(−ε/Δ) from one integer to the next",
        source="Ghosh, Roughgarden and Sundararajan 2012",
        find=find_geometric,
        noise=(DiscreteStaircase,),
        approximation=Approximation.EXPONENTIAL,
        stairs=True,
    ),
    "laplace": Family(
        about="falls by the same factor over equal lengths",
        source="Dwork, McSherry, Nissim and Smith 2006; tight at δ > 0",
        find=find_smooth(find_laplace),
        noise=(Laplace, Rounded),
        approximation=Approximation.LAPLACE,
    ),
    "truncated_laplace": Family(
        about="Laplace, truncated at a maximum size",
        source="Geng, Ding, Guo and Kumar 2020, Theorem 1",
        find=find_smooth(find_truncated_laplace),
        noise=(TruncatedLaplace, Rounded),
        approximation=Approximation.TRUNCATED,
    ),
    "gaussian": Family(
        about="normal, with the smallest possible σ",
        source="Balle and Wang 2018, Theorem 8",
        find=find_smooth(find_gaussian),
        noise=(Gaussian, Rounded),
        approximation=Approximation.GAUSSIAN,
    ),
    "classic_gaussian": Family(
        about="normal, with σ by the textbook formula",
        source="Dwork and Roth 2014, Theorem A.1",
        find=find_smooth(find_classic_gaussian),
        noise=(Gaussian, Rounded),
        approximation=Approximation.GAUSSIAN,
    ),
}
# register() would load modules that a release does not need; the tests call check_complete.
_FAMILIES.update(_BUILT_IN)
