"""A verifiable proof that noise satisfies its guarantee, and of how far it is from optimal."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.certificate.evidence import SHAPE_WORDS, Evidence, certificate_error, relative_gap
from leastnoise.core.exact import Interval, format_exact, format_rounded
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.noise import LatticeNoise, Noise
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, RecordingCost, Tabled, find_fitting
from leastnoise.deprecation import RenamedAttribute


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """Verifiable proof that noise satisfies its guarantee, with its cost and a lower bound.

    :meth:`verify` proves its claims. ``str`` starts with "not verified" unless that happened in
    this process, and never contains ``source``, which may come from a file.

    Attributes:
        noise: The noise distribution.
        privacy: The guarantee that it satisfies.
        sensitivity: Δ, the largest shift of the true answer.
        objective: The cost function L.
        shape: The class that ``lower_bound`` is for: ``"unimodal"`` is symmetric noise with a
            density that does not increase with |x|, ``"any"`` is all noise.
        cost: The expected cost E L(X), exact or a proved upper bound.
        lower_bound: A lower bound of the cost of all noise in the class that satisfies the
            guarantee.
        source: A reference for the noise. It is not verified.
        evidence: The evidence from which :meth:`verify` proves the lower bound; None if only the
            guarantee is claimed.
        verified: True if :meth:`verify` succeeded in this process.

    >>> import leastnoise as ln
    >>> certificate = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1).certificate
    >>> print(certificate)
    optimal among symmetric unimodal noise (proved by a supporting line)
    """

    noise: Noise
    privacy: Privacy
    sensitivity: Fraction
    objective: Cost
    shape: str
    cost: Fraction
    lower_bound: Fraction
    source: str
    evidence: Evidence | None
    verified: bool = field(default=False, init=False, compare=False)
    among = RenamedAttribute[str]("shape", convert=lambda shape: SHAPE_WORDS[shape])
    check = RenamedAttribute[Callable[[], None]]("verify")

    @classmethod
    def of(
        cls,
        noise: Noise,
        privacy: Privacy,
        sensitivity: Fraction,
        objective: Cost,
        *,
        source: str,
        cost: Fraction | None = None,
        lower_bound: Fraction | None = None,
        evidence: Evidence | None = None,
    ) -> "Certificate":
        """Return the certificate for noise with its cost and bound; verify nothing yet.

        ``cost`` is the expected cost, if it is known; :meth:`verify` computes it again.
        """
        bound = objective.value(Fraction(0)).lower  # the cost of no error is the smallest
        if lower_bound is not None:
            bound = max(bound, lower_bound)
        return cls(
            noise=noise,
            privacy=privacy,
            sensitivity=sensitivity,
            objective=objective,
            shape="any" if evidence is None else evidence.shape,
            cost=noise.expected(objective) if cost is None else cost,
            lower_bound=bound,
            source=source,
            evidence=evidence,
        )

    @property
    def integer(self) -> bool:
        """Whether it is for noise on the integers, for integer answers."""
        return isinstance(self.noise, LatticeNoise)

    @property
    def exact(self) -> bool:
        """Whether cost and lower bound are equal: the noise is optimal in its class.

        An irrational cost is known only by an enclosure, so it never equals its bound.
        """
        return self.evidence is not None and self.cost <= self.lower_bound

    @property
    def gap(self) -> Fraction | float:
        """The relative distance from optimal, at most: (cost − lower_bound) / (lower_bound − L(0)).

        Adding a constant to L does not change it. It holds for every cost that the certificate is
        for. 0 if cost and bound are equal; ``math.inf`` if the bound is not above L(0).
        """
        return relative_gap(self.cost, self.lower_bound, self.objective)

    @property
    def cost_is_upper_bound(self) -> bool:
        """Whether ``cost`` is a proved upper bound of E L(X) and not E L(X) itself."""
        return self.noise.enclose(self.objective).lower < self.cost

    def verify(self) -> None:
        """Prove everything again, from the distribution and the cost alone.

        Sets ``verified``. A cost given as a function is only sampled, up to twice the radius of the
        noise. Its user guarantees that it never falls.

        Raises:
            NotPrivate: If the noise does not satisfy the guarantee.
            InvalidParameter: If the cost function falls, or if the cost or the lower bound is
                wrong.
        """
        if self.sensitivity <= 0:
            raise certificate_error("the sensitivity is not positive")
        if isinstance(self.noise, LatticeNoise) and (
            self.noise.step != 1 or self.sensitivity.denominator != 1
        ):
            raise certificate_error("noise on a lattice needs step 1 and an integer sensitivity")
        self._check_cost()
        check_privacy(self.noise, self.privacy, sensitivity=self.sensitivity)
        if self.noise.enclose(self.objective).upper != self.cost:
            raise certificate_error("the noise does not have the stated cost")
        if self._prove_bound() != self.lower_bound:
            raise certificate_error("the evidence proves a different lower bound")
        if self.cost < self.lower_bound:
            raise certificate_error("the cost is below the lower bound")
        object.__setattr__(self, "verified", True)

    def __reduce__(self) -> tuple[type["Certificate"], tuple[object, ...]]:
        """Pickle without ``verified``: the reader must verify it again."""
        return type(self), tuple(getattr(self, part.name) for part in fields(self) if part.init)

    def _check_cost(self) -> None:
        """Reject a table that no known cost fits, and a function that falls where it is sampled."""
        cost, radius = self.objective, self.noise.radius
        source = cost
        while type(source) is RecordingCost:  # it forwards its calls
            source = source.recorded
        if isinstance(source, Tabled) and (
            type(source) is not Tabled or find_fitting(source.readings) is None
        ):
            raise certificate_error("no known cost fits its table")
        if isinstance(radius, Fraction):
            cost.probe(2 * radius)

    def _prove_bound(self) -> Fraction:
        """Return the lower bound that the evidence proves for the class of the noise."""
        zero = self.objective.value(Fraction(0)).lower  # the cost of no error is the smallest
        if self.evidence is None:
            return zero
        if self.evidence.integer != self.integer:
            raise certificate_error("the evidence is for another kind of answers")
        if self.evidence.shape != self.shape:
            raise certificate_error("the evidence is for another class of noise")
        if self.shape == "unimodal" and not self.noise.is_unimodal:
            raise certificate_error("the noise is not in the stated class")
        return max(zero, self.evidence.prove(self.objective, self.privacy, self.sensitivity))

    def to_json(self) -> str:
        """Return the certificate as JSON, complete for :meth:`verify`."""
        from leastnoise.certificate.document import certificate_to_json

        return certificate_to_json(self)

    @classmethod
    def from_json(cls, text: str, *, cost: Cost | None = None) -> "Certificate":
        """Return the certificate in a JSON text; call :meth:`verify` before you rely on it.

        Args:
            text: JSON from :meth:`to_json`.
            cost: The cost function, if the cost was a function. Default: the table of its values
                that the JSON contains.

        Raises:
            InvalidParameter: If the JSON is not a certificate.
        """
        from leastnoise.certificate.document import certificate_from_json

        return certificate_from_json(cls, text, cost)

    def __repr__(self) -> str:
        return f"Certificate({self.noise!r}: {self})"

    def __str__(self) -> str:
        return self._statement() if self.verified else f"not verified: {self._statement()}"

    def describe_cost(self) -> str:
        """Return the expected cost in words, rounded up; an upper bound is called one."""
        shown = format_exact(self.cost, ROUND_CEILING)
        if self.cost_is_upper_bound:
            shown = f"at most {format_exact(self.cost, ROUND_CEILING, mark='')}"
        return f"{shown} ({_OBJECTIVES.get(repr(self.objective), repr(self.objective))})"

    def _statement(self) -> str:
        """Return how close to optimal the noise is, and the kind of proof."""
        if self.evidence is None:
            return "satisfies its guarantee; no lower bound was asked for"
        zero, gap, among = self.objective.value(Fraction(0)), self.gap, CLASSES[self.shape]
        if isinstance(self.objective, Tabled):
            among += " for the tabulated cost"
        if self.exact:
            statement = f"optimal among {among}"
        elif isinstance(gap, Fraction):
            aside = "" if zero == Interval.exact(0) else ", not counting the cost of no error"
            statement = f"{_format_gap(gap)} among {among}{aside}"
        elif self.lower_bound > zero.lower:  # a table with only bounds for the cost of no error
            excess = format_rounded(self.cost - self.lower_bound, 3, ROUND_CEILING)
            statement = f"costs at most {excess} more than optimal among {among}"
        else:
            return "satisfies its guarantee; no lower bound is known"
        return f"{statement} ({self.evidence.method})"


# Expected costs in symbols.
_OBJECTIVES = {"l1": "E|error|", "l2": "E error²"}
# The classes of noise, by their shape.
CLASSES = {"unimodal": "symmetric unimodal noise", "any": "all noise"}


def _format_gap(gap: Fraction) -> str:
    """Print a gap, rounded up; one above 100% as a multiple of the lower bound.

    >>> _format_gap(Fraction(1, 1000)), _format_gap(Fraction(297, 100))
    ('within 0.1% of optimal', 'at most 3.97 times the lower bound')
    """
    if gap > 1:
        return f"at most {format_rounded(1 + gap, 3, ROUND_CEILING)} times the lower bound"
    return f"within {format_rounded(gap * 100, 3, ROUND_CEILING)}% of optimal"
