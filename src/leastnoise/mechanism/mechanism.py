"""A mechanism: noise with a verified guarantee, and the release of answers with it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, overload

from leastnoise.accounting import Composable, Profile
from leastnoise.calibration import (
    Effort,
    Problem,
    find_noise,
    parse_effort,
    parse_sensitivity,
    parse_shape,
)
from leastnoise.certificate import Certificate
from leastnoise.core.exact import (
    Number,
    exponential,
    format_exact,
    quote,
)
from leastnoise.core.gaussian_cost import GaussianCost, cost_of_noise
from leastnoise.core.lattice import Grid
from leastnoise.core.noise import LineNoise, Noise, Rounded
from leastnoise.core.privacy import Privacy
from leastnoise.core.release import Rebuilt, Releaser
from leastnoise.core.withholding import without_values
from leastnoise.costs import Cost, l1
from leastnoise.deprecation import RenamedAttribute, renamed_arguments, take_renamed
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import UNRECORDED, Json, Ledger, Recording, Spending, Unrecorded
from leastnoise.mechanism.answer import Answer, Answers
from leastnoise.mechanism.columns import Column
from leastnoise.mechanism.discretized import Discretized
from leastnoise.mechanism.mechanism_text import explain_mechanism, format_mechanism
from leastnoise.mechanism.release_value import check_consent, release_value
from leastnoise.mechanism.storage import describe

if TYPE_CHECKING:
    from decimal import Decimal
    from typing import TypeVar

    from leastnoise.mechanism.answer import ReleasedArray

    GivenColumn = TypeVar("GivenColumn", bound=ReleasedArray | Column)


@Composable.register
@dataclass(frozen=True, repr=False)
class Mechanism(Rebuilt):
    """Noise with a verified guarantee, ready to release answers.

    Build one with :func:`calibrate`, or with :meth:`from_noise` from your own noise distribution. A
    mechanism whose discretized noise does not satisfy its guarantee cannot be built.

    Attributes:
        privacy: The guarantee of one release.
        sensitivity: Δ, how much one person can change the true answer.
        noise: The noise distribution of the theorem: continuous, or on the integers.
        certificate: The verifiable proof of the guarantee, the expected cost and the lower bound.
        discretized: The discretized noise that :meth:`release` samples.
        integer: Whether true answers are integers.
        releaser: The component that adds the noise.

    >>> from leastnoise import calibrate
    >>> mechanism = calibrate(Privacy(delta="0.1"), sensitivity=1, integer=True)
    >>> mechanism.release(42).max_error
    Fraction(5, 1)
    """

    privacy: Privacy
    sensitivity: Fraction
    noise: Noise
    certificate: Certificate
    discretized: Discretized
    integer: bool
    releaser: Releaser = field(init=False, repr=False, compare=False)
    drawn = RenamedAttribute[Discretized]("discretized")
    protected = RenamedAttribute[Fraction]("effective_sensitivity")
    needs_allowance = RenamedAttribute[bool]("needs_allow_exact")
    check = RenamedAttribute[Callable[[], None]]("verify")

    def __post_init__(self) -> None:
        """Reject noise without its certificate, or whose discretized noise is not private."""
        stated = (self.noise, self.privacy, self.sensitivity)
        certified = self.certificate
        if stated != (certified.noise, certified.privacy, certified.sensitivity):
            raise InvalidParameter(
                "certificate must be for the noise, privacy and sensitivity of the mechanism",
                got="another certificate",
                fix="Build mechanisms with calibrate() or Mechanism.from_noise().",
            )
        releaser = Releaser(self.discretized.noise, self.privacy, self.sensitivity, self.integer)
        object.__setattr__(self, "releaser", releaser)

    @classmethod
    def from_noise(
        cls, noise: LineNoise, privacy: Privacy, *, sensitivity: Number, cost: Cost = l1
    ) -> "Mechanism":
        """Build a mechanism from your own noise distribution, after verifying its guarantee.

        The guarantee is verified exactly, for every shift up to ``sensitivity``.

        Args:
            noise: ``Steps`` (any piecewise constant density with point masses, symmetric or not),
                or ``Uniform``, ``Staircase``, ``Laplace``, ``TruncatedLaplace`` or ``Gaussian``
                noise.
            privacy: The guarantee, any (ε, δ).
            sensitivity: Δ, how much one person can change the true answer.
            cost: The cost of an error, for the reported cost only. Default: ``l1``, |error|.

        Returns:
            A mechanism whose certificate proves the guarantee and the cost, but does not claim
            that the noise is optimal in any class.

        Raises:
            NotPrivate: If the noise does not satisfy the guarantee; the error names the worst
                shift.
            InvalidParameter: If an argument is invalid.

        >>> from leastnoise import Steps
        >>> comb = Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])
        >>> Mechanism.from_noise(comb, Privacy(delta="1/2"), sensitivity=1).cost
        Fraction(1, 2)
        """
        # Callers without a type checker can pass anything.
        if not isinstance(noise, LineNoise):
            raise InvalidParameter(
                "noise must be Steps, Uniform, Staircase, Laplace, TruncatedLaplace or Gaussian "
                "noise",
                got=quote(noise),
                fix="Use, for example, Steps(breaks, heights), or calibrate().",
            )
        delta = parse_sensitivity(privacy, sensitivity, cost, integer=False)
        certificate = Certificate.of(noise, privacy, delta, cost, source="given, not found")
        certificate.verify()
        discretized = Discretized(noise.discretize(delta), cost)
        return cls(privacy, delta, noise, certificate, discretized, integer=False)

    def verify(self) -> None:
        """Verify again the guarantee of the continuous and the discretized noise, and the costs.

        Raises:
            NotPrivate: If either noise does not satisfy the guarantee.
            InvalidParameter: If the certificate does not prove its statements.
        """
        self.certificate.verify()
        replace(self)  # the constructor proves the rest

    @property
    def effective_sensitivity(self) -> Fraction:
        """The largest shift of the true answer for which the discretized noise is private.

        Δ for integers. For real numbers Δ rounded up to full steps, plus one step, because a float
        can be an ulp away from the number that it stands for.
        """
        return self.releaser.effective_sensitivity

    @property
    def profile(self) -> Profile:
        """The privacy profile of the discretized noise."""
        return Profile(self.discretized.noise, sensitivity=self.effective_sensitivity)

    @cached_property
    def gaussian_cost(self) -> GaussianCost:
        """What one release costs in an allocation: (μ², γ).

        It has μ of Gaussian differential privacy and, for Gaussian noise, ρ of zCDP.

        >>> from leastnoise import calibrate
        >>> gaussian = calibrate(Privacy(1, "1e-6"), sensitivity=1, integer=True, family="gaussian")
        >>> gaussian.gaussian_cost.describe()
        'μ = 0.2368 (Gaussian differential privacy), ρ = 0.02802 (zCDP)'
        """
        noise = self.discretized.noise
        return cost_of_noise(noise, self.effective_sensitivity, self.privacy)

    @property
    def composed_as(self) -> "Mechanism":
        """The part of a composition (:func:`leastnoise.compose`): the mechanism itself."""
        return self

    def __repr__(self) -> str:
        delta = format_exact(self.sensitivity)
        return f"Mechanism({self.noise!r}, {self.privacy!r}, sensitivity={delta})"

    def __str__(self) -> str:
        return format_mechanism(self)

    @property
    def cost(self) -> Fraction:
        """The expected cost of :attr:`noise`: exact, or a proved upper bound."""
        return self.certificate.cost

    @renamed_arguments(among="shape")
    def lower_bound(self, shape: str = "any", *, seconds: Number = 10) -> Fraction:
        """Return a proved lower bound of the expected cost for a class of noise.

        No noise of the class that satisfies the same guarantee at the same sensitivity costs less.

        Args:
            shape: The class: ``"unimodal"`` for symmetric unimodal noise, or ``"any"`` for all
                noise. Default: ``"any"``.
            seconds: The time limit of the solver, where no closed form gives the bound. Default:
                10.

        Raises:
            InvalidParameter: If an argument is invalid.

        >>> from leastnoise import calibrate
        >>> calibrate(Privacy(delta="0.1"), sensitivity=1).lower_bound("unimodal")
        Fraction(5, 2)
        """
        certificate = self.certificate
        shape = parse_shape(shape)
        if shape != certificate.shape != "any" or certificate.evidence is None:
            problem = Problem(
                self.privacy, self.sensitivity, certificate.objective, self.integer, shape
            )
            certificate = find_noise(problem, parse_effort(True, Effort().gap, seconds))[1]
        return certificate.lower_bound

    @property
    def grid(self) -> Grid:
        """The lattice of the released values."""
        return self.releaser.grid

    @cached_property
    def exact_probability(self) -> Fraction:
        """The probability of an exact release.

        For integers, the probability that the noise is 0. For real numbers, the probability of
        single lattice points that are far more likely than the points next to them, as point masses
        are. An output there is the true value, or the true value plus a publicly known number.
        """
        noise = self.discretized.noise
        return Fraction(noise.weight(0) if self.integer else noise.isolated_weight, noise.total)

    @cached_property
    def needs_allow_exact(self) -> bool:
        """Whether :meth:`release` requires ``allow_exact=True``.

        It does if a single lattice point is far more likely than the points next to it. For
        integers, that is a noise of 0 with more than e^ε times the probability of ±1: up to that
        factor, the guarantee itself bounds how much the exact value differs from others. Smooth
        noise rounded to integers has no point mass: there, 0 must also be likelier than all other
        points together.
        """
        noise = self.discretized.noise
        if not self.integer:
            return self.exact_probability > 0
        factor = exponential(self.privacy.epsilon).upper
        stands_out = noise.weight(0) > factor * max(noise.weight(1), noise.weight(-1))
        return stands_out and not (isinstance(noise, Rounded) and 2 * noise.weight(0) <= 1)

    @overload
    def release(
        self,
        value: "int | float | Fraction | Decimal",
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> Answer: ...

    @overload
    def release(
        self,
        value: "GivenColumn",
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
        contributions: int = 1,
    ) -> "Answers[GivenColumn]": ...

    def release(
        self,
        value: object,
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
        contributions: int = 1,
        touches: int | None = None,
    ) -> Answer | Answers:
        """Add noise to a true value and return the answer, which may be published.

        With a ledger, the charge is durable before the noise is sampled, and the answer is stored
        before it is returned.

        Args:
            value: A number, used exactly as it is; or floats or integers in a numpy array, a pandas
                or polars Series or an Arrow array. The guarantee of an array or column is for a
                person who can change one element by at most Δ.
            ledger: The ledger to charge. Default: the release is not recorded, and its printed
                answer says so.
            key: The name of the query in the ledger. If you repeat a key, the stored answer is
                returned, whatever the value is now, and nothing is charged. Default: every release
                is a new query.
            fresh: True to charge again and sample new noise under a key that has an answer.
                Default: False.
            allow_exact: True to accept that with probability :attr:`exact_probability` the exact
                value is released; required if :attr:`needs_allow_exact`. Default: False.
            contributions: The number of elements of an array or column that one person can change,
                each by at most Δ. The guarantee covers all of them together. Default: 1.
            touches: The old name of ``contributions``; deprecated.

        Returns:
            An :class:`Answer` for a number, :class:`Answers` for an array or column.

        Raises:
            InvalidParameter: If the value is not a finite number, another argument is invalid, or
                the key belongs to a different query. Nothing was charged.
            BudgetExceeded: If too little budget remains. Nothing was charged or released.
            LedgerUnavailable: If the ledger cannot be read or written. The message says whether
                the charge stands.

        >>> from leastnoise import calibrate
        >>> mechanism = calibrate(Privacy(delta="0.1"), sensitivity=1, integer=True)
        >>> abs(mechanism.release(42).value - 42) <= 5
        True
        """
        try:
            if touches is not None:
                several = type(contributions) is not int or contributions != 1
                contributions = take_renamed("touches", touches, "contributions", given=several)
            if allow_exact is not False or self.needs_allow_exact:
                check_consent(self, allow_exact)
            if (
                ledger is UNRECORDED
                and key is None
                and fresh is False
                and (type(value) is float or type(value) is int)
                and type(contributions) is int
                and contributions == 1
            ):
                # The same as Recording below, in two thirds of the time.
                return Answer(self.releaser.add_noise(value), self)
            return release_value(self, value, contributions, Recording(ledger, key, fresh))
        except BaseException as error:  # noqa: BLE001 -- it may refer to the value
            failure = without_values(error)
        del value
        raise failure

    def spending(
        self, query: Json | None = None, privacy: Privacy | None = None, contributions: int = 1
    ) -> Spending:
        """Return the charge for one release, or for another query with a guarantee of its own.

        Args:
            query: The query, for JSON. Default: one number.
            privacy: The guarantee of the query. Default: that of one number.
            contributions: The number of releases that one unit can change. Default: 1.
        """
        mechanism, digest = self._description
        return Spending(
            privacy or self.privacy,
            {digest: mechanism},
            query or {"answer": "one"},
            find_costs=lambda: (self.gaussian_cost * contributions,),
        )

    @cached_property
    def _description(self) -> tuple[Json, str]:
        return describe(self)

    def explain(self, *, people: int | None = None) -> str:
        """Explain in plain words the guarantee, and what outputs of this noise can reveal.

        Probabilities are rounded up.

        Args:
            people: The number of people that the data is about, if it is public
                (:meth:`Privacy.explain`). Default: unknown.

        Returns:
            One paragraph, wrapped at 80 columns.
        """
        return explain_mechanism(self, people)
