"""Release a vector: ``calibrate_vector`` finds Gaussian noise, a ``VectorMechanism`` adds it."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from math import isqrt
from typing import TYPE_CHECKING, Any, Generic, overload

from leastnoise.accounting import Composable
from leastnoise.calibration import parse_sensitivity
from leastnoise.certificate import Certificate, noise_to_json
from leastnoise.core.exact import (
    Interval,
    Number,
    format_exact,
    format_ratio,
    parse_count,
    parse_positive,
    power,
    quote,
)
from leastnoise.core.gaussian_cost import GaussianCost, find_caps
from leastnoise.core.lattice import choose_vector_step, effective_square
from leastnoise.core.noise import Gaussian, Noise, Rounded
from leastnoise.core.privacy import Privacy
from leastnoise.core.release import Rebuilt, VectorReleaser
from leastnoise.core.withholding import without_values
from leastnoise.costs import Cost, l1
from leastnoise.errors import INTEGER, InvalidParameter, parameter
from leastnoise.json_types import Json
from leastnoise.ledger import (
    UNRECORDED,
    Ledger,
    Recording,
    Spending,
    Unrecorded,
    mark,
    privacy_to_json,
)
from leastnoise.mechanism.answer import Answer, Answers, ColumnT_co
from leastnoise.mechanism.columns import SeriesKind, is_array, series_kind, to_array
from leastnoise.mechanism.discretized import Discretized
from leastnoise.mechanism.mechanism import Mechanism
from leastnoise.mechanism.revealing import check_allow_exact, exact_release_problem
from leastnoise.mechanism.storage import ARRAY, digest
from leastnoise.rendering import paragraph

if TYPE_CHECKING:
    from decimal import Decimal

    from leastnoise.mechanism.mechanism import GivenColumn

# Stored in ledgers: these words must never change.
_SOURCE = "Gaussian noise for a vector by its l2 sensitivity (Dong, Roth and Su 2022)"
_HALF = Fraction(1, 2)
# Binary digits to which σ is rounded up.
_BITS = 96


def calibrate_vector(
    privacy: Privacy,
    *,
    sensitivity: Number,
    dimension: int,
    cost: Cost = l1,
    integer: bool = False,
) -> "VectorMechanism":
    """Find Gaussian noise for a vector that one person changes by at most Δ in ℓ2.

    Use it for many numbers that one person changes together: a histogram in which a person is in
    many bins, a gradient, an embedding. One guarantee covers the whole vector, in whatever
    direction it changes. The standard deviation of the noise does not grow with the dimension.

    Args:
        privacy: The guarantee for the whole vector, with δ > 0.
        sensitivity: Δ, how much one person can change the true vector: the square root of the sum
            of the squared changes of its numbers is at most Δ. It is never read from data.
        dimension: The largest number of elements of a vector.
        cost: The cost of the error of one number, for the reported cost only. Default: ``l1``,
            |error|.
        integer: Whether true numbers are integers; then released values are integers too. Δ can be
            any number of at least 1, such as √3 rounded up. Default: False.

    Returns:
        A mechanism that releases vectors. Its noise is not claimed to be optimal.

    Raises:
        InvalidParameter: If an argument is invalid, or δ is 0.

    >>> mechanism = calibrate_vector(Privacy(1, "1e-6"), sensitivity=1, dimension=1000)
    >>> mechanism
    VectorMechanism(Gaussian(sigma=≈4.2249337), Privacy(epsilon=1, delta='1e-6'), ...)
    """
    parse_sensitivity(privacy, 1, cost, integer=integer)  # checks all other arguments
    delta = parse_positive(sensitivity, "sensitivity")
    most = parse_count(dimension, "dimension", least=1)
    if integer and delta < 1:
        raise InvalidParameter(
            parameter("sensitivity") + " must be at least 1 for integers",
            got=format_exact(delta),
            fix="Omit " + INTEGER + ".",
        )
    if not privacy.delta:
        raise InvalidParameter(
            "A vector is released with Gaussian noise, which requires δ > 0",
            got=str(privacy),
            fix="Use, for example, Privacy(1, '1e-6').",
        )
    step = Fraction(1) if integer else choose_vector_step(delta, most)
    square = effective_square(delta, step, dimension=most, integer=integer)
    wide = power(square / find_caps(privacy).square, _HALF).upper
    line = Gaussian(Interval.exact(wide).shortened(_BITS).upper)
    sampled = Rounded(step, line)
    noise: Noise = sampled if integer else line
    bound = Fraction(isqrt(int(square))) if integer else delta
    certificate = Certificate.of(noise, privacy, bound, cost, source=_SOURCE)
    each = Mechanism(privacy, bound, noise, certificate, Discretized(sampled, cost), integer)
    return VectorMechanism(privacy, delta, most, each)


@Composable.register
@dataclass(frozen=True, repr=False)
class VectorMechanism(Rebuilt):
    """Gaussian noise for a vector with a verified guarantee; built by :func:`calibrate_vector`.

    Attributes:
        privacy: The guarantee of one release of the whole vector.
        sensitivity: Δ, how much one person can change the true vector in ℓ2.
        dimension: The largest number of elements of a vector.
        each: The mechanism of one number, with the same noise. Its guarantee is for a person who
            changes that number alone.
        releaser: The component that adds the noise, with the proof of the guarantee.
    """

    privacy: Privacy
    sensitivity: Fraction
    dimension: int
    each: Mechanism
    releaser: VectorReleaser = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prove that the discretized noise satisfies the guarantee for the whole vector."""
        noise = self.each.discretized.noise
        if not isinstance(noise, Rounded) or self.each.privacy != self.privacy:
            raise InvalidParameter(
                "The mechanism of one number must have rounded noise and the same guarantee",
                got=repr(self.each),
                fix="Use calibrate_vector().",
            )
        parts = self.privacy, self.sensitivity, self.dimension, self.integer
        object.__setattr__(self, "releaser", VectorReleaser(noise, *parts))

    def verify(self) -> None:
        """Verify again that the noise satisfies the guarantee for the whole vector.

        Raises:
            NotPrivate: If it does not.
            InvalidParameter: If the certificate of :attr:`each` does not prove its statements.
        """
        self.each.verify()
        replace(self)  # the constructor proves the rest

    @property
    def integer(self) -> bool:
        """Whether true numbers are integers."""
        return self.each.integer

    @property
    def noise(self) -> Noise:
        """The noise of one number: Gaussian, for integers rounded."""
        return self.each.noise

    @property
    def discretized(self) -> Discretized:
        """The discretized noise of one number."""
        return self.each.discretized

    @property
    def cost(self) -> Fraction:
        """The expected cost of the error of one number."""
        return self.each.cost

    @property
    def effective_sensitivity(self) -> Fraction:
        """The largest ℓ2 distance of lattice points for which the noise is private, rounded up.

        Δ for integers. For real numbers Δ + 2g·√m, because each of m numbers is rounded to a
        lattice of step g, and can be a float that is half an ulp away from the number it stands
        for.
        """
        return power(self.releaser.effective_square, _HALF).upper

    @property
    def gaussian_cost(self) -> GaussianCost:
        """What one release costs in an allocation: (μ², 0)."""
        return self.releaser.cost

    @property
    def composed_as(self) -> Privacy:
        """The part of a composition (:func:`leastnoise.compose`): the guarantee."""
        return self.privacy

    @overload
    def release(
        self,
        values: "int | float | Fraction | Decimal",
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
        contributions: int = 1,
    ) -> Answer: ...

    @overload
    def release(
        self,
        values: "GivenColumn",
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
        contributions: int = 1,
    ) -> "VectorAnswers[GivenColumn]": ...

    def release(
        self,
        values: object,
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
        contributions: int = 1,
    ) -> "Answer | VectorAnswers":
        """Add noise to a true vector and return the answers, which may be published.

        Args:
            values: Floats or integers in a numpy array of any shape, a pandas or polars Series or
                an Arrow array, at most :attr:`dimension` of them. A single number is released as a
                vector of one element.
            ledger: The ledger to charge, once for the whole vector. Default: the release is not
                recorded.
            key: The name of the query in the ledger. Default: every release is a new query.
            fresh: True to charge again and sample new noise under a key that has an answer.
                Default: False.
            allow_exact: As for :meth:`leastnoise.Mechanism.release`. Default: False.
            contributions: Always 1. The sensitivity already covers all numbers that one person can
                change.

        Returns:
            :class:`VectorAnswers`; an :class:`leastnoise.Answer` for a single number.

        Raises:
            InvalidParameter: If the values are not finite numbers or too many, or another argument
                is invalid. Nothing was charged.
            BudgetExceeded: If too little budget remains. Nothing was charged or released.
            LedgerUnavailable: If the ledger cannot be read or written. The message says whether
                the charge stands.

        >>> import numpy as np
        >>> mechanism = calibrate_vector(Privacy(1, "1e-6"), sensitivity=1, dimension=3)
        >>> mechanism.release(np.array([0.5, -0.25, 0.75]))
        VectorAnswers(3 values, Privacy(epsilon=1, delta='1e-6') for the whole vector)
        """
        try:
            if type(contributions) is not int or contributions != 1:
                raise InvalidParameter(
                    "contributions must be 1 for a vector, whose sensitivity covers all elements "
                    "that one person can change",
                    got=quote(contributions),
                    fix="Omit it.",
                )
            check_allow_exact(
                allow_exact,
                needed=self.each.needs_allow_exact,
                what="exact values",
                refusal=partial(exact_release_problem, self.each),
            )
            array = is_array(values)
            kind = None if array else series_kind(values, integer=self.integer)
            if array or kind is not None:
                return self._release(values, kind, Recording(ledger, key, fresh))
            single: Any = values
            answer: Answer = self.each.release(
                single, ledger=ledger, key=key, fresh=fresh, allow_exact=allow_exact
            )
            return answer
        except BaseException as error:  # noqa: BLE001 -- it may refer to the values
            failure = without_values(error)
        del values
        raise failure

    def _release(
        self, values: Any, kind: SeriesKind | None, recording: Recording
    ) -> "VectorAnswers":
        if kind is None:
            draw, shape = self.releaser.prepare_array(values), list(values.shape)
        else:
            draw = self.releaser.prepare_array(to_array(values, kind), "a column")
            shape = [len(values)]
        spending = partial(self.spending, shape)
        released, receipt = recording.release(spending, draw, ARRAY)
        return VectorAnswers(released, self.each, self.privacy, kind, receipt, vector=self)

    def spending(self, shape: list[int]) -> Spending:
        """Return the charge for one release of a vector of this shape."""
        mechanism, key = self._description
        query: Json = {"answer": "many", "shape": shape, "touches": 1}
        return Spending(
            self.privacy, {key: mechanism}, query, find_costs=lambda: (self.gaussian_cost,)
        )

    @cached_property
    def _description(self) -> tuple[Json, str]:
        """The description that a ledger stores, and its digest. They must never change."""
        description: Json = {
            "privacy": privacy_to_json(self.privacy),
            "drawn": {
                "kind": "Vector",
                "each": noise_to_json(self.discretized.noise),
                "dimension": self.dimension,
                "norm": "l2",
            },
            "sensitivity": format_ratio(self.sensitivity),
            "integer": self.integer,
        }
        facts: Json = {
            "noise": repr(self.noise),
            "step": format_ratio(self.discretized.step),
            "radius": format_ratio(self.discretized.radius),
            "exact_probability": format_ratio(self.each.exact_probability),
            "cost": format_ratio(self.cost),
            "source": _SOURCE,
        }
        return description | facts, digest(description)

    def explain(self, *, people: int | None = None) -> str:
        """Explain in plain words the guarantee for the whole vector.

        Args:
            people: The number of people that the data is about, if it is public
                (:meth:`Privacy.explain`). Default: unknown.
        """
        return paragraph(
            self.each.explain(people=people),
            "This covers the whole vector, for a person who changes it by at most "
            f"{format_exact(self.sensitivity)} in ℓ2.",
        )

    def __repr__(self) -> str:
        delta = format_exact(self.sensitivity)
        return (
            f"VectorMechanism({self.noise!r}, {self.privacy!r}, sensitivity={delta}, "
            f"dimension={self.dimension})"
        )


@Composable.register
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VectorAnswers(Answers[ColumnT_co], Generic[ColumnT_co]):
    """The released numbers of a vector, with one guarantee for all of them.

    Attributes:
        values: The released numbers, as in :class:`leastnoise.Answers`.
        mechanism: The mechanism of one number, for its errors and intervals.
        privacy: The guarantee for the whole vector.
        form: The kind of the given column; None for an array.
        receipt: The receipt of the ledger entry; None if unrecorded.
        vector: The mechanism that released the vector.
    """

    vector: VectorMechanism = field(kw_only=True)
    _scope = " for the whole vector"

    @property
    def composed_as(self) -> Privacy:
        """The part of a composition (:func:`leastnoise.compose`): the guarantee."""
        return self.privacy

    def explain(self) -> str:
        """Return the printed answers and the meaning of their guarantee in plain words."""
        return f"{self}\n{self.vector.explain()}"

    def __repr__(self) -> str:
        values = f"{self.values.size} values, {self.privacy!r}{self._scope}"
        return f"{mark(self.receipt)}VectorAnswers({values})"
