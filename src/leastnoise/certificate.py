"""Why a noise keeps its promise and how far from the least it is, in a form that can be re-proved.

The lower bound rests on one fact. Every symmetric noise that never rises away from 0 is a mixture
of uniform noises U_w (and of the mass at 0, w = 0). U_w costs c(w) = (1/w)·∫₀ʷL and is at distance
s(w) = min(1, Δ/2w) from itself moved by Δ; both are linear in the mixture. So for any numbers β and
λ ≥ 0 with c(w) + λ·s(w) ≥ β for every w ≥ 0, any such noise with distance at most δ costs at least
β − λδ: a *supporting line* of the curve w ↦ (s, c).

That it supports the curve everywhere follows from three comparisons at one place:

1. L(0) + λ ≥ β, which settles all w ≤ Δ/2, where s = 1;
2. L(low) ≤ β ≤ L(high) for some low ≤ high: since L never falls, ∫₀ʷL − βw falls up to ``low`` and
   rises from ``high`` on, so that its least value lies between;
3. ∫₀ˡᵒʷL + (high − low)·L(low) + λΔ/2 ≥ β·high, a lower bound of that least value.

On the integers the same holds with sums for integrals: U_M on −M … M, S(M) = L(0) + 2·(L(1) + … +
L(M)) and S(M) − β(2M+1) + λΔ ≥ 0 at the M with L(M) ≤ β ≤ L(M+1).
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter
from leastnoise.exact import approximately, exactly
from leastnoise.noise import Noise
from leastnoise.privacy import Privacy
from leastnoise.profiles import keeps


@dataclass(frozen=True, slots=True, repr=False)
class SupportingLine:
    """Cost + slope·distance ≥ intercept for every noise of the class, on the line or the integers.

    ``low`` and ``high`` are where the cost of an error crosses ``intercept``; with ``integer`` they
    are whole numbers and equal, and the cost crosses between ``low`` and ``low + 1``.
    """

    slope: Fraction
    intercept: Fraction
    low: Fraction
    high: Fraction
    integer: bool = False

    def __repr__(self) -> str:
        """Print the line by its slope and its height."""
        return f"SupportingLine(slope={exactly(self.slope)}, intercept={exactly(self.intercept)})"

    def bound(self, delta: Fraction) -> Fraction:
        """Return β − λδ: no noise of the class at distance at most δ costs less."""
        return self.intercept - self.slope * delta

    def check(self, cost: Cost, sensitivity: Fraction) -> None:
        """Return if the three comparisons of this module hold; raise if one does not."""
        start = cost.value(Fraction(0))
        if self.slope < 0 or not 0 <= self.low <= self.high:
            raise _unproved("its numbers are out of order")
        if start.lower + self.slope < self.intercept:
            raise _unproved("it lies above the mass at the origin")
        beyond = self.low + 1 if self.integer else self.high
        if not cost.value(self.low).upper <= self.intercept <= cost.value(beyond).lower:
            raise _unproved("the cost does not cross its height where it says")
        if self._clearance(cost, sensitivity) < 0:
            raise _unproved("it cuts the curve of uniform noises")

    def _clearance(self, cost: Cost, sensitivity: Fraction) -> Fraction:
        """Return a lower bound of the least height of the curve above the line (comparison 3)."""
        if self.integer:
            if self.low != self.high or self.low.denominator != 1:
                raise _unproved("its place on the integers is not one integer")
            reach = self.low.numerator
            total = 2 * cost.total(Fraction(1), reach).lower + cost.value(Fraction(0)).lower
            return total + self.slope * sensitivity - self.intercept * (2 * reach + 1)
        area = cost.integral(self.low).lower
        area += (self.high - self.low) * cost.value(self.low).lower
        return area + self.slope * sensitivity / 2 - self.intercept * self.high


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """That ``noise`` keeps ``privacy``, what it costs, and that nothing in its class costs less.

    Attributes:
        among: The class in which it is least: ``"decreasing"`` means all symmetric noises that
            never rise away from 0, ``"any"`` all noises whatever.
        cost: E L(X), exact or a proved upper bound.
        lower_bound: No noise of the class that keeps the promise costs less than this.
        source: The result it rests on.
        evidence: The supporting line from which :meth:`check` proves the lower bound again; None
            for a noise that was given and of which only the promise is claimed.
    """

    noise: Noise
    privacy: Privacy
    sensitivity: Fraction
    objective: Cost
    among: str
    cost: Fraction
    lower_bound: Fraction
    source: str
    evidence: SupportingLine | None

    @classmethod
    def of(
        cls,
        noise: Noise,
        privacy: Privacy,
        sensitivity: Fraction,
        objective: Cost,
        *,
        source: str,
        evidence: SupportingLine | None,
    ) -> "Certificate":
        """State what a noise costs and the bound that the evidence gives; check nothing yet."""
        bound = objective.value(Fraction(0)).lower  # no error costs less than none
        if evidence is not None:
            bound = max(bound, evidence.bound(privacy.delta))
        return cls(
            noise=noise,
            privacy=privacy,
            sensitivity=sensitivity,
            objective=objective,
            among="any" if evidence is None else "decreasing",
            cost=noise.expected(objective),
            lower_bound=bound,
            source=source,
            evidence=evidence,
        )

    @property
    def exact(self) -> bool:
        """Whether cost and lower bound meet, but for the rounding of an irrational cost (2⁻⁶⁰)."""
        return self.evidence is not None and self.gap <= _ROUNDING

    @property
    def gap(self) -> Fraction:
        """How far above the lower bound the cost is, relative to it (0 if both are 0)."""
        excess = self.cost - self.lower_bound
        return excess / abs(self.lower_bound) if self.lower_bound else excess

    def check(self) -> None:
        """Prove everything again from the law and the cost alone, without trusting the finder.

        Raises:
            NotPrivate: If the noise does not keep the promise.
            InvalidParameter: If the cost or the lower bound is not what it is said to be.
        """
        keeps(self.noise, self.privacy, sensitivity=self.sensitivity)
        if self.noise.enclose(self.objective).upper > self.cost:
            raise _unproved("the noise costs more than it says")
        proved = self.objective.value(Fraction(0)).lower  # no error costs less than none
        if self.evidence is not None:
            self.evidence.check(self.objective, self.sensitivity)
            proved = max(proved, self.evidence.bound(self.privacy.delta))
        if proved < self.lower_bound:
            raise _unproved("its evidence gives a smaller lower bound than it says")

    def __repr__(self) -> str:
        """Print what is proved, and of what."""
        return f"Certificate({self.noise!r}: {self})"

    def __str__(self) -> str:
        """Say in one line what is proved."""
        if self.evidence is None:
            return f"keeps its promise; how far from the least it is was not asked ({self.source})"
        percent = approximately(self.gap * 100, 3, ROUND_CEILING)
        much = "least" if self.exact else f"within {percent} % of the least"
        return f"{much} among {CLASSES[self.among]} ({self.source})"


# More than the enclosures of irrational costs are wide, less than anyone could measure.
_ROUNDING = Fraction(1, 1 << 60)

CLASSES = {"decreasing": "symmetric noises that never rise away from 0", "any": "all noises"}


def _unproved(reason: str) -> InvalidParameter:
    return InvalidParameter(
        f"a certificate must prove what it says; this one does not: {reason}. Calibrate again."
    )
