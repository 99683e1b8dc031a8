"""A verifiable proof that noise satisfies its guarantee, and of how far it is from optimal."""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.certificate.evidence import Evidence, certificate_error
from leastnoise.core.exact import format_rounded
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.noise import LatticeNoise, Noise
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """That ``noise`` keeps ``privacy``, what it costs, and that nothing in its class costs less.

    Attributes:
        among: The class in which it is least: ``"decreasing"`` means all symmetric noises that
            never rise away from 0, ``"any"`` all noises whatever.
        cost: E L(X), exact or a proved upper bound.
        lower_bound: No noise of the class that keeps the promise costs less than this.
        source: The result it rests on.
        evidence: What :meth:`check` proves the lower bound from again; None for a noise that was
            given and of which only the promise is claimed.
    """

    noise: Noise
    privacy: Privacy
    sensitivity: Fraction
    objective: Cost
    among: str
    cost: Fraction
    lower_bound: Fraction
    source: str
    evidence: Evidence | None

    @classmethod
    def of(
        cls,
        noise: Noise,
        privacy: Privacy,
        sensitivity: Fraction,
        objective: Cost,
        *,
        source: str,
        lower_bound: Fraction | None = None,
        evidence: Evidence | None = None,
    ) -> "Certificate":
        """State what a noise costs and what its finder says it has proved; check nothing yet."""
        bound = objective.value(Fraction(0)).lower  # no error costs less than none
        if lower_bound is not None:
            bound = max(bound, lower_bound)
        return cls(
            noise=noise,
            privacy=privacy,
            sensitivity=sensitivity,
            objective=objective,
            among="any" if evidence is None else evidence.among,
            cost=noise.expected(objective),
            lower_bound=bound,
            source=source,
            evidence=evidence,
        )

    @property
    def integer(self) -> bool:
        """Whether it speaks of noises on the integers, for answers that are whole numbers."""
        return isinstance(self.noise, LatticeNoise)

    @property
    def exact(self) -> bool:
        """Whether cost and lower bound meet, but for the rounding of an irrational cost (2⁻⁶⁰)."""
        met = self.cost <= self.lower_bound + abs(self.lower_bound) * _ROUNDING
        return self.evidence is not None and met

    @property
    def gap(self) -> Fraction | float:
        """How far above the lower bound the cost is, relative to it.

        0 if they meet; ``math.inf`` above a bound of 0, which tells nothing.
        """
        excess = self.cost - self.lower_bound
        if not self.lower_bound:
            return math.inf if excess else Fraction(0)
        return excess / abs(self.lower_bound)

    def check(self) -> None:
        """Prove everything again from the law and the cost alone, without trusting the finder.

        Raises:
            NotPrivate: If the noise does not keep the promise.
            InvalidParameter: If the cost or the lower bound is not what it is said to be.
        """
        if isinstance(self.noise, LatticeNoise) and (
            self.noise.step != 1 or self.sensitivity.denominator != 1
        ):
            raise certificate_error(
                "noise on a lattice is for whole numbers, which move by whole numbers"
            )
        check_privacy(self.noise, self.privacy, sensitivity=self.sensitivity)
        if self.noise.enclose(self.objective).upper != self.cost:
            raise certificate_error("the noise does not cost what it says")
        if self._proved() != self.lower_bound:
            raise certificate_error("its evidence gives another lower bound than it says")
        if self.cost < self.lower_bound - abs(self.lower_bound) * _ROUNDING:
            raise certificate_error("its noise costs less than it says is possible")

    def _proved(self) -> Fraction:
        """Return the lower bound that the evidence proves for the class of the noise."""
        none = self.objective.value(Fraction(0)).lower  # no error costs less than none
        if self.evidence is None:
            return none
        if self.evidence.integer != self.integer:
            raise certificate_error("its evidence is for another kind of answers")
        if self.evidence.among != self.among:
            raise certificate_error("its evidence is for another class of noises")
        if self.among == "decreasing" and not self.noise.is_unimodal:
            raise certificate_error("its noise is not of the class that it says")
        return max(none, self.evidence.prove(self.objective, self.privacy, self.sensitivity))

    def to_json(self) -> str:
        """Return the certificate as JSON, with all that its check needs."""
        from leastnoise.certificate.document import certificate_to_json

        return certificate_to_json(self)

    @classmethod
    def from_json(cls, text: str, *, cost: Cost | None = None) -> "Certificate":
        """Return the certificate that a text holds; it proves nothing until :meth:`check` is run.

        Args:
            text: What :meth:`to_json` returned.
            cost: Where the cost was a function: the function, to check against it and not only
                against the table of its values that the text holds.
        """
        from leastnoise.certificate.document import certificate_from_json

        return certificate_from_json(cls, text, cost)

    def __repr__(self) -> str:
        return f"Certificate({self.noise!r}: {self})"

    def __str__(self) -> str:
        if self.evidence is None:
            return f"keeps its promise; how far from the least it is was not asked ({self.source})"
        if isinstance(self.gap, float):
            return (
                f"keeps its promise; no bound is known for how far from the least ({self.source})"
            )
        percent = format_rounded(self.gap * 100, 3, ROUND_CEILING)
        much = "least" if self.exact else f"within {percent} % of the least"
        return f"{much} among {CLASSES[self.among]} ({self.source})"


# More than the enclosures of irrational costs are wide, less than anyone could measure.
_ROUNDING = Fraction(1, 1 << 60)

CLASSES = {"decreasing": "symmetric noises that never rise away from 0", "any": "all noises"}
