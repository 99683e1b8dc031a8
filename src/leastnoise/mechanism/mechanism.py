"""A mechanism: noise with the guarantee that it satisfies, and how it is released."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

from leastnoise.accounting import Profile, Releasing
from leastnoise.calibration import (
    Effort,
    Problem,
    find_noise,
    parse_effort,
    parse_sensitivity,
    parse_shape,
)
from leastnoise.certificate import Certificate
from leastnoise.core.basic_composition import compose_equal
from leastnoise.core.exact import (
    Number,
    exponential,
    format_exact,
    format_rounded,
    parse_count,
    quote,
)
from leastnoise.core.lattice import Grid
from leastnoise.core.noise import LatticeNoise, LineNoise, Noise, Uniform
from leastnoise.core.privacy import Privacy
from leastnoise.core.release import Rebuilt, Releaser
from leastnoise.core.withholding import without_values
from leastnoise.costs import Cost, l1
from leastnoise.deprecation import RenamedAttribute, renamed_arguments, take_renamed
from leastnoise.errors import ALLOW_EXACT, InvalidParameter
from leastnoise.ledger import UNRECORDED, Json, Ledger, Recording, Spending, Unrecorded
from leastnoise.mechanism.answer import Answer, Answers
from leastnoise.mechanism.columns import Column, SeriesKind, is_array, series_kind, to_array
from leastnoise.mechanism.storage import ARRAY, NUMBER, description

if TYPE_CHECKING:
    from decimal import Decimal

    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class Discretized:
    """The discretized noise that release adds: integer multiples of a step.

    Attributes:
        noise: Its distribution, on the lattice.
        objective: The cost of an error.
    """

    noise: LatticeNoise
    objective: Cost

    def __repr__(self) -> str:
        return f"Discretized({self.noise!r})"

    @property
    def step(self) -> Fraction:
        """The lattice's step: 1 for integers, about Δ/2²⁰ for real numbers."""
        return self.noise.step

    @property
    def radius(self) -> Fraction | float:
        """The largest noise that can be sampled; ``math.inf`` if it is unbounded."""
        return self.noise.radius

    @cached_property
    def cost(self) -> Fraction:
        """The expected cost of the discretized noise: exact or a proved upper bound."""
        return self.noise.expected(self.objective)


@Releasing.register
@dataclass(frozen=True, repr=False)
class Mechanism(Rebuilt):
    """Noise with its guarantee; built by :func:`calibrate`, or by :meth:`from_noise` from yours.

    Attributes:
        privacy: The guarantee.
        sensitivity: Δ.
        noise: The noise of the theorem: on the line, or on the integers.
        certificate: The proof that it satisfies the guarantee and how far from optimal it is.
        discretized: The discretized noise that :meth:`release` adds.
        integer: Whether true answers are integers.
        releaser: What adds the noise; it cannot be built for noise that fails the proof.
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
        """Reject noise that is not certified, or does not satisfy the guarantee as sampled."""
        stated = (self.noise, self.privacy, self.sensitivity)
        certified = self.certificate
        if stated != (certified.noise, certified.privacy, certified.sensitivity):
            raise InvalidParameter(
                "a mechanism's certificate must be for its own noise, promise and sensitivity, got "
                "another's. Calibrate again instead of putting one together."
            )
        releaser = Releaser(self.discretized.noise, self.privacy, self.sensitivity, self.integer)
        object.__setattr__(self, "releaser", releaser)

    @classmethod
    def from_noise(
        cls, noise: LineNoise, privacy: Privacy, *, sensitivity: Number, cost: Cost = l1
    ) -> "Mechanism":
        """Build a mechanism from your own noise, after verifying its guarantee up to Δ.

        Args:
            noise: Any piecewise constant density with point masses, symmetric or not; a staircase;
                or Laplace, TruncatedLaplace or Gaussian noise.
            privacy: The guarantee, any (ε, δ).
            sensitivity: Δ. The guarantee is verified for every shift up to it.
            cost: The cost of an error; it only decides which cost is reported.

        Raises:
            NotPrivate: If the noise does not satisfy the guarantee, with the worst shift.

        >>> from leastnoise import Steps
        >>> comb = Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])
        >>> Mechanism.from_noise(comb, Privacy(delta="1/2"), sensitivity=1).cost
        Fraction(1, 2)
        """
        # Callers without a type checker can pass anything.
        if not isinstance(noise, LineNoise) or isinstance(noise, Uniform):  # type: ignore[redundant-expr]
            raise InvalidParameter(
                "a noise of your own must be Steps, a Staircase, Laplace, TruncatedLaplace or "
                f"Gaussian, got {quote(noise)}. Give for instance Steps(breaks, heights), or "
                "calibrate."
            )
        delta = parse_sensitivity(privacy, sensitivity, cost, integer=False)
        certificate = Certificate.of(noise, privacy, delta, cost, source="given, not found")
        certificate.verify()
        discretized = Discretized(noise.discretize(delta), cost)
        return cls(privacy, delta, noise, certificate, discretized, integer=False)

    def verify(self) -> None:
        """Verify again the cost, and that the noise satisfies the guarantee, ideal and discretized.

        Raises:
            NotPrivate: If either does not satisfy the guarantee.
            InvalidParameter: If the certificate does not prove what it says.
        """
        self.certificate.verify()
        replace(self)  # building it proves the rest

    @property
    def effective_sensitivity(self) -> Fraction:
        """The shift of the true answer against which the discretized noise protects.

        Δ for integers; for real numbers Δ rounded up to whole steps and one more, for a float may
        be an ulp off the number it stands for.
        """
        return self.releaser.effective_sensitivity

    @property
    def profile(self) -> Profile:
        """The privacy profile of the discretized noise."""
        return Profile(self.discretized.noise, sensitivity=self.effective_sensitivity)

    @property
    def composed_as(self) -> "Mechanism":
        """What :func:`leastnoise.compose` counts: the mechanism itself."""
        return self

    def __repr__(self) -> str:
        delta = format_exact(self.sensitivity)
        return f"Mechanism({self.noise!r}, {self.privacy!r}, sensitivity={delta})"

    @property
    def cost(self) -> Fraction:
        """The expected cost of :attr:`noise`: exact or a proved upper bound."""
        return self.certificate.cost

    @renamed_arguments(among="shape")
    def lower_bound(self, shape: str = "any", *, seconds: Number = 10) -> Fraction:
        """Return a cost below which no noise of a class satisfies the same guarantee.

        With ``shape="any"`` it says how much the shape of this noise costs at the most. Where no
        closed form gives it, a linear program is solved for at most so many seconds.
        """
        certificate = self.certificate
        shape = parse_shape(shape)
        if shape != certificate.shape != "any" or certificate.evidence is None:
            asked = Problem(
                self.privacy, self.sensitivity, certificate.objective, self.integer, shape
            )
            certificate = find_noise(asked, parse_effort(True, Effort().gap, seconds))[1]
        return certificate.lower_bound

    @property
    def grid(self) -> Grid:
        """The lattice that answers lie on."""
        return self.releaser.grid

    @cached_property
    def exact_probability(self) -> Fraction:
        """The probability of an exact release.

        For integers, that no noise is added. For real numbers, the mass of single points that stand
        out from their neighbors, as point masses do: an output there is the true value, or the true
        value plus a number that anyone can know.
        """
        noise = self.discretized.noise
        return Fraction(noise.weight(0) if self.integer else noise.isolated_weight, noise.total)

    @cached_property
    def needs_allow_exact(self) -> bool:
        """Whether release requires ``allow_exact``: a single point stands out.

        On the integers, 0 does if it is more likely than e^ε times its neighbors: up to that the
        guarantee itself says how little the exact value differs from others.
        """
        noise = self.discretized.noise
        if not self.integer:
            return self.exact_probability > 0
        factor = exponential(self.privacy.epsilon).upper
        return noise.weight(0) > factor * max(noise.weight(1), noise.weight(-1))

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
        value: "NDArray[Any] | Column",
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
        contributions: int = 1,
    ) -> Answers: ...

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
        """Add noise to a true value and return what may be published.

        Args:
            value: A number, taken exactly as it is; or floats or integers in a numpy array, a
                pandas or polars Series or an Arrow array. Their guarantee is for a person who can
                change one element by at most Δ.
            ledger: The ledger that is charged before the noise is sampled, and that stores the
                answer before it is returned. Default: the release is not recorded, and says so when
                printed.
            key: The name of the query in the ledger. If you repeat a key, the stored answer is
                returned, whatever the value is now, and nothing is charged. Default: every release
                is a query of its own.
            fresh: Whether to charge again and draw new noise under a key that has an answer.
            allow_exact: Accept that with the probability :attr:`exact_probability` the exact value
                is released. Required where :attr:`needs_allow_exact` says so.
            contributions: For an array or column: how many elements one person can change, each by
                at most Δ. The guarantee is then that of so many releases together.
            touches: The old name of ``contributions``; deprecated.

        Raises:
            InvalidParameter: Before anything is charged or drawn, if the value is not a finite
                number, or the key was used for something else.
            BudgetExceeded: If the ledger has not enough left; nothing is charged.
        """
        try:
            if touches is not None:
                given = type(contributions) is not int or contributions != 1
                contributions = take_renamed("touches", touches, "contributions", given=given)
            if allow_exact is not False or self.needs_allow_exact:
                self._check_allow_exact(allow_exact)
            if (
                ledger is UNRECORDED
                and key is None
                and fresh is False
                and (type(value) is float or type(value) is int)
                and type(contributions) is int
                and contributions == 1
            ):
                # What Recording would do, in two thirds of the time.
                return Answer(self.releaser.add_noise(value), self)
            return self._release(value, contributions, Recording(ledger, key, fresh))
        except BaseException as error:  # noqa: BLE001 -- it may refer to the value
            failure = without_values(error)
        del value
        raise failure

    def _release(self, value: object, contributions: int, recording: Recording) -> Answer | Answers:
        """Release a number, an array or a column, recorded or not."""
        if type(value) is not float and type(value) is not int:  # told from arrays at once
            array = is_array(value)
            kind = None if array else series_kind(value, integer=self.integer)
            if array or kind is not None:
                return self._release_each(value, kind, contributions, recording)
        if type(contributions) is not int or contributions != 1:
            _reject_contributions(contributions)
        draw = self.releaser.prepare(value)
        index, receipt = recording.release(self.spending, draw, NUMBER)
        return Answer(index, self, receipt)

    def _check_allow_exact(self, allow_exact: object) -> None:
        """Reject a release that can be exact, unless the caller has accepted that."""

        def refusal() -> str:
            noise = self.discretized.noise
            only_zero = self.integer or noise.isolated_weight == noise.weight(0)
            known = "nothing" if only_zero else "one of a few known numbers"
            return (
                f"the noise for this promise adds {known} with probability "
                f"{_up(self.exact_probability)}: the exact value leaves"
            )

        check_allow_exact(
            allow_exact, needed=self.needs_allow_exact, what="the exact value", refusal=refusal
        )

    def _release_each(
        self, values: Any, kind: SeriesKind | None, contributions: int, recording: Recording
    ) -> Answers:
        privacy = compose_equal(self.privacy, parse_count(contributions, "contributions", least=1))
        if kind is None:
            draw, shape = self.releaser.prepare_array(values), list(values.shape)
        else:
            draw = self.releaser.prepare_array(to_array(values, kind), "a column")
            shape = [len(values)]
        query = {"answer": "many", "shape": shape, "touches": int(contributions)}
        spending = partial(self.spending, query, privacy)
        released, receipt = recording.release(spending, draw, ARRAY)
        return Answers(released, self, privacy, kind, receipt)

    def spending(self, asked: Json | None = None, privacy: Privacy | None = None) -> Spending:
        """Return what a ledger charges for one release, or for another query at its guarantee."""
        mechanism, digest = self._description
        asked = asked or {"answer": "one"}
        return Spending(privacy or self.privacy, {digest: mechanism}, asked)

    @cached_property
    def _description(self) -> tuple[Json, str]:
        return description(self)

    def explain(self, *, people: int | None = None) -> str:
        """Explain in plain words what is guaranteed and what the noise does.

        ``people`` is how many the data is about, where that is public (:meth:`Privacy.explain`).
        Probabilities are rounded up.
        """
        words = [self.privacy.explain(people=people)]
        proved = revealing_probability(self)
        if proved:
            words.append(
                "With this noise an answer proves it outright with probability "
                f"{_up(proved * 100)} % at the most."
            )
        elif self.privacy.delta:
            words.append("This noise has no largest size: an answer never proves it outright.")
        if self.needs_allow_exact:
            left = _up(self.exact_probability * 100)
            words.append(f"With probability {left} % the exact answer leaves.")
        return " ".join(words)


def check_allow_exact(
    allow_exact: object,
    *,
    needed: bool,
    what: str,
    refusal: Callable[[], str],
    got: str | None = None,
) -> None:
    """Reject an ``allow_exact`` that is no boolean, or False where True is needed.

    ``what`` may be released exactly; ``refusal`` is the message where that was not allowed; ``got``
    replaces the quoted argument.
    """
    if not isinstance(allow_exact, bool):
        raise InvalidParameter(
            f"allow_exact must be True or False, got {got or quote(allow_exact)}. "
            f"Say whether {what} may leave."
        )
    if needed and not allow_exact:
        fix = "Pass " + ALLOW_EXACT + " to accept that, or promise a smaller ε or δ."
        raise InvalidParameter(refusal(), fix=fix)


def _reject_contributions(contributions: object) -> None:
    if parse_count(contributions, "contributions", least=1) > 1:
        raise InvalidParameter(
            f"contributions is for arrays, got {quote(contributions)} with a single value. "
            "Leave it out."
        )


def _up(number: Fraction) -> str:
    return format_rounded(number, 6, ROUND_CEILING)


def revealing_probability(mechanism: Mechanism) -> Fraction:
    """Return the probability, at the most, of an output that is impossible for a neighbor.

    Of the ideal noise too: what stands out there, as a point mass does, is on the fine lattice not
    impossible for a neighbor, only a million times less likely. 0 for unbounded noise, which can
    reach every point from any other.
    """
    drawn = mechanism.discretized.noise
    if isinstance(drawn.radius, float):
        return Fraction(0)
    shifts = {mechanism.noise: mechanism.sensitivity, drawn: mechanism.effective_sensitivity}
    return max(Profile(noise, sensitivity=shift).infinity_mass for noise, shift in shifts.items())
