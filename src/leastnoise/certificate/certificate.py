"""A verifiable proof that noise satisfies its guarantee, and of how far it is from optimal."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any

from leastnoise.certificate.evidence import SHAPE_WORDS, Evidence, certificate_error, relative_gap
from leastnoise.core.exact import Interval, format_rounded
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.noise import LatticeNoise, Noise
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, Recording, Tabled, find_fitting
from leastnoise.deprecation import RenamedAttribute


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """Verifiable proof that noise satisfies its guarantee, with its cost and a lower bound.

    A certificate states; :meth:`verify` proves it. ``str`` reports what was verified in this
    process, and calls everything else unverified. It never prints ``source``, which may come from a
    file.

    Attributes:
        shape: The class in which it is least: ``"unimodal"`` means all symmetric noises that
            never rise away from 0, ``"any"`` all noises whatever.
        cost: E L(X), exact or a proved upper bound.
        lower_bound: No noise of the class that keeps the promise costs less than this.
        source: Where the noise is from, according to whoever made the certificate: a claim, on
            which nothing rests.
        evidence: What :meth:`verify` proves the lower bound from again; None for a noise that was
            given and of which only the promise is claimed.
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
            shape="any" if evidence is None else evidence.shape,
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
        """Whether cost and lower bound meet: then no noise of the class costs less.

        An irrational cost is known by an enclosure, and never meets its bound.
        """
        return self.evidence is not None and self.cost <= self.lower_bound

    @property
    def gap(self) -> Fraction | float:
        """How far above the lower bound the cost is, both less the cost of no error.

        (cost − lower_bound) / (lower_bound − L(0)), which adding a constant to L does not change.
        It is an upper bound of how far the noise is from the least, in this sense, for every cost
        that the certificate speaks of. 0 if they meet; ``math.inf`` where the bound is not above
        L(0), which tells nothing.
        """
        return relative_gap(self.cost, self.lower_bound, self.objective)

    @property
    def cost_is_upper_bound(self) -> bool:
        """Whether ``cost`` is a proved upper bound of E L(X) and not E L(X) itself."""
        return self.noise.enclose(self.objective).lower < self.cost

    def verify(self) -> None:
        """Prove everything again from the law and the cost alone, without trusting the finder.

        Sets ``verified``. A cost given as a function is only sampled, up to twice the radius of the
        noise: that it never falls is the claim of whoever gives it.

        Raises:
            NotPrivate: If the noise does not satisfy the guarantee.
            InvalidParameter: If the cost falls, or if the cost or the lower bound is not what it is
                said to be.
        """
        if self.sensitivity <= 0:
            raise certificate_error("its sensitivity is not positive")
        if isinstance(self.noise, LatticeNoise) and (
            self.noise.step != 1 or self.sensitivity.denominator != 1
        ):
            raise certificate_error(
                "noise on a lattice is for whole numbers, which move by whole numbers"
            )
        self._check_cost()
        check_privacy(self.noise, self.privacy, sensitivity=self.sensitivity)
        if self.noise.enclose(self.objective).upper != self.cost:
            raise certificate_error("the noise does not cost what it says")
        if self._proved() != self.lower_bound:
            raise certificate_error("its evidence gives another lower bound than it says")
        if self.cost < self.lower_bound:
            raise certificate_error("its noise costs less than it says is possible")
        object.__setattr__(self, "verified", True)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what is stated; whoever reads it must verify it again."""
        return type(self), tuple(getattr(self, part.name) for part in fields(self) if part.init)

    def _check_cost(self) -> None:
        """Reject a table that no cost is known to fit, and a function that is seen to fall."""
        cost, radius = self.objective, self.noise.radius
        asked = cost
        while type(asked) is Recording:  # it passes on what it is asked
            asked = asked.recorded
        if isinstance(asked, Tabled) and (
            type(asked) is not Tabled or find_fitting(asked.readings) is None
        ):
            raise certificate_error("no cost is known to fit its table")
        if isinstance(radius, Fraction):
            cost.probe(2 * radius)

    def _proved(self) -> Fraction:
        """Return the lower bound that the evidence proves for the class of the noise."""
        none = self.objective.value(Fraction(0)).lower  # no error costs less than none
        if self.evidence is None:
            return none
        if self.evidence.integer != self.integer:
            raise certificate_error("its evidence is for another kind of answers")
        if self.evidence.shape != self.shape:
            raise certificate_error("its evidence is for another class of noises")
        if self.shape == "unimodal" and not self.noise.is_unimodal:
            raise certificate_error("its noise is not of the class that it says")
        return max(none, self.evidence.prove(self.objective, self.privacy, self.sensitivity))

    def to_json(self) -> str:
        """Return the certificate as JSON, with all that its check needs."""
        from leastnoise.certificate.document import certificate_to_json

        return certificate_to_json(self)

    @classmethod
    def from_json(cls, text: str, *, cost: Cost | None = None) -> "Certificate":
        """Return the certificate that a text holds; it proves nothing until :meth:`verify` is run.

        Args:
            text: What :meth:`to_json` returned.
            cost: Where the cost was a function: the function, to check against it and not
                against the table of its values that the text holds.
        """
        from leastnoise.certificate.document import certificate_from_json

        return certificate_from_json(cls, text, cost)

    def __repr__(self) -> str:
        return f"Certificate({self.noise!r}: {self})"

    def __str__(self) -> str:
        return self._statement() if self.verified else f"not verified: {self._statement()}"

    def _statement(self) -> str:
        """Return how near to the least the noise is, and the kind of proof."""
        if self.evidence is None:
            return "keeps its promise; how far from the least it is was not asked"
        zero, gap, among = self.objective.value(Fraction(0)), self.gap, CLASSES[self.shape]
        if isinstance(self.objective, Tabled):
            among += " for the tabulated cost"
        if self.exact:
            much = f"least among {among}"
        elif isinstance(gap, Fraction):
            percent = format_rounded(gap * 100, 3, ROUND_CEILING)
            aside = "" if zero == Interval.exact(0) else ", not counting the cost of no error"
            much = f"within {percent} % of the least among {among}{aside}"
        elif self.lower_bound > zero.lower:  # a table that leaves open what no error costs
            excess = format_rounded(self.cost - self.lower_bound, 3, ROUND_CEILING)
            much = f"costs at most {excess} more than the least among {among}"
        else:
            return "keeps its promise; no bound is known for how far from the least"
        return f"{much} ({self.evidence.method})"


# The classes of noise, by their shape.
CLASSES = {"unimodal": "symmetric noises that never rise away from 0", "any": "all noises"}
