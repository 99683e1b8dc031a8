"""``calibrate`` finds the least noise; a ``Mechanism`` adds it."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

from leastnoise.calibration import Effort, Question, find
from leastnoise.certificate import Certificate
from leastnoise.costs import Cost, l1
from leastnoise.errors import InvalidParameter
from leastnoise.exact import (
    Grid,
    Number,
    approximately,
    count,
    described,
    exactly,
    exponential,
)
from leastnoise.ledger import UNRECORDED, Ledger, Spending, Unrecorded
from leastnoise.ledger.rows import Json
from leastnoise.mechanism.answer import Answer, Answers
from leastnoise.mechanism.columns import Column, form_of
from leastnoise.mechanism.drawn import Drawn, lattice_law
from leastnoise.mechanism.reading import class_read, effort_read, sensitivity_read
from leastnoise.mechanism.recording import (
    ARRAY,
    NUMBER,
    Place,
    description,
)
from leastnoise.mechanism.release import (
    releaser,
    releasing_column,
    releasing_many,
    releasing_one,
)
from leastnoise.mechanism.together import together
from leastnoise.mechanism.words import explained
from leastnoise.noise import Noise, Smooth, Staircase, Steps
from leastnoise.privacy import Privacy
from leastnoise.profiles import keeps

if TYPE_CHECKING:
    from decimal import Decimal

    from numpy.typing import NDArray

    from leastnoise.mechanism.columns import Form


def calibrate(
    privacy: Privacy,
    *,
    sensitivity: Number,
    cost: Cost = l1,
    integer: bool = False,
    among: str = "decreasing",
    family: str | None = None,
    solve: bool = True,
    gap: Number = Fraction(1, 1000),
    seconds: Number = 10,
) -> "Mechanism":
    """Find the noise of least cost that keeps a promise, and prove both.

    Where the least noise of the class is known in closed form it is returned: at ε = 0 GDGK19's
    noise (Theorems 2 and 3), or of any shape the comb; for whole numbers at Δ = 1 the canonical
    noise. At δ = 0 it is a staircase (Geng and Viswanath 2016). Else a linear programme is solved
    until cost and lower bound meet within ``gap``; ``certificate`` says how near they came.

    Args:
        privacy: What is promised.
        sensitivity: Δ, how much one person can change the true answer. It is never read from data.
        cost: What an error costs; its expectation is made least.
        integer: Whether true answers are whole numbers. Then so are the released ones.
        among: The class in which to look: ``"decreasing"`` for symmetric noises that never rise
            away from 0, which is every noise in common use, or ``"any"``.
        family: A kind of noise to be used whatever it costs, for instance ``"laplace"``,
            ``"gaussian"`` or ``"truncated_laplace"``; ``leastnoise.calibration.FAMILIES`` lists
            them. The certificate says how far from the least of all it may be.
        solve: Whether to solve where no closed form is proved least. If not, the cheapest of the
            known families is returned at once, with a bound.
        gap: How far above the least the cost may be, relative to it.
        seconds: How long to solve. If the gap is not reached, the best that was found is returned.

    Raises:
        InvalidParameter: If the question is wrong or has no answer.

    >>> mechanism = calibrate(Privacy(delta=0.1), sensitivity=1)
    >>> mechanism.noise, mechanism.cost
    (Uniform(radius=5, atom=0), Fraction(5, 2))
    >>> mechanism = calibrate(Privacy(1, "1e-6"), sensitivity=1)
    >>> print(mechanism.certificate)  # doctest: +ELLIPSIS
    within 0.0... % of the least among symmetric noises that never rise away from 0 (...)
    """
    moved = sensitivity_read(privacy, sensitivity, cost, integer=integer)
    asked = Question(privacy, moved, cost, integer, class_read(among))
    noise, certificate = find(asked, effort_read(solve, gap, seconds), family)
    return Mechanism(
        privacy, moved, noise, certificate, Drawn(lattice_law(noise, asked), cost), integer
    )


def hold(
    noise: Steps | Staircase | Smooth, privacy: Privacy, *, sensitivity: Number, cost: Cost = l1
) -> "Mechanism":
    """Hold a noise of your own to a promise: check it over every move, then release with it.

    Args:
        noise: Any piecewise constant law with atoms, symmetric or not; a staircase; or a Laplace,
            TruncatedLaplace or Gaussian law.
        privacy: What is promised, any (ε, δ).
        sensitivity: Δ.
        cost: What an error costs; only to be able to say what the noise costs.

    Raises:
        NotPrivate: If it does not keep the promise, with the worst move.

    >>> comb = Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])
    >>> hold(comb, Privacy(delta="1/2"), sensitivity=1, cost=l1).cost
    Fraction(1, 2)
    """
    if not isinstance(noise, Steps | Staircase | Smooth):
        raise InvalidParameter(
            "a noise of your own must be Steps, a Staircase, Laplace, TruncatedLaplace or "
            f"Gaussian; got {described(noise)}. Give for instance Steps(breaks, heights), or "
            "calibrate."
        )
    moved = sensitivity_read(privacy, sensitivity, cost, integer=False)
    certificate = Certificate.of(noise, privacy, moved, cost, source="given, not found")
    certificate.check()
    law = lattice_law(noise, Question(privacy, moved, cost, integer=False, among="any"))
    return Mechanism(privacy, moved, noise, certificate, Drawn(law, cost), integer=False)


@dataclass(frozen=True, repr=False)
class Mechanism:
    """A noise with the promise it keeps; made by :func:`calibrate`.

    Attributes:
        privacy: The promise.
        sensitivity: Δ.
        noise: The law as the theorem has it: on the line, or on the integers.
        certificate: The proof that it keeps the promise and how far from the least it is.
        drawn: The lattice noise that :meth:`release` adds.
        integer: Whether true answers are whole numbers.
    """

    privacy: Privacy
    sensitivity: Fraction
    noise: Noise
    certificate: Certificate
    drawn: Drawn
    integer: bool

    def __post_init__(self) -> None:
        """Refuse to exist with a noise, drawn or not, that does not keep the promise as stated."""
        stated = (self.noise, self.privacy, self.sensitivity)
        certified = self.certificate
        if stated != (certified.noise, certified.privacy, certified.sensitivity):
            raise InvalidParameter(
                "a mechanism's certificate must be for its own noise, promise and sensitivity; got "
                "another's. Calibrate again instead of putting one together."
            )
        if self.integer and self.drawn.step != 1:
            raise InvalidParameter(
                "whole-number answers must be drawn on the integers; "
                f"got a step of {exactly(self.drawn.step)}. Calibrate again."
            )
        keeps(self.drawn.noise, self.privacy, sensitivity=self.protected)

    def __getstate__(self) -> dict[str, object]:
        """Keep what it is made of; what was worked out from that is worked out again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def check(self) -> None:
        """Prove again that the noise keeps the promise, on the line and as drawn, and its cost.

        Raises:
            NotPrivate: If either law does not keep the promise.
            InvalidParameter: If the certificate does not prove what it says.
        """
        self.certificate.check()
        self.__post_init__()

    @property
    def protected(self) -> Fraction:
        """The move of the true answer against which the drawn noise keeps the promise.

        Δ for whole numbers; for real ones Δ rounded up to whole steps and one more, for a float may
        be an ulp off the number it stands for.
        """
        if self.integer:
            return self.sensitivity
        step = self.drawn.step
        return (-(-self.sensitivity // step) + 1) * step

    def __repr__(self) -> str:
        """Print the noise and the promise."""
        moved = exactly(self.sensitivity)
        return f"Mechanism({self.noise!r}, {self.privacy!r}, sensitivity={moved})"

    @property
    def cost(self) -> Fraction:
        """The expected cost of :attr:`noise`: exact or a proved upper bound."""
        return self.certificate.cost

    def lower_bound(self, among: str = "any", *, seconds: Number = 10) -> Fraction:
        """Return a cost below which no noise of a class can keep the same promise.

        Of all noises, for instance: how much the shape of this one can have cost at the most.
        Where no closed form gives it, a programme is solved for so many seconds at the most.
        """
        certificate = self.certificate
        if class_read(among) != certificate.among != "any" or certificate.evidence is None:
            asked = Question(
                self.privacy, self.sensitivity, certificate.objective, self.integer, among
            )
            certificate = find(asked, effort_read(True, Effort().gap, seconds))[1]
        return certificate.lower_bound

    @cached_property
    def grid(self) -> Grid:
        """The lattice that answers lie on."""
        return Grid(self.drawn.step)

    @cached_property
    def _release_one(self) -> Callable[[object], int]:
        return releaser(self.grid, self.drawn.noise, integer=self.integer)

    @cached_property
    def exact_probability(self) -> Fraction:
        """The probability that the noise gives the exact value away.

        For whole numbers, that no noise is added. For real ones, the mass of single points that
        stand out from their neighbours, as atoms do: an output there is the true value, or the true
        value and a number that anyone can know.
        """
        law = self.drawn.noise
        return Fraction(law.weight(0) if self.integer else law.standing_out, law.total)

    @cached_property
    def needs_allowance(self) -> bool:
        """Whether release asks for ``allow_exact``: a single point stands out.

        On the integers, 0 does if it is more likely than e^ε times its neighbours: up to that the
        promise itself says how little the exact value can be told from others.
        """
        law = self.drawn.noise
        if not self.integer:
            return self.exact_probability > 0
        factor = exponential(self.privacy.epsilon).upper
        return law.weight(0) > factor * max(law.weight(1), law.weight(-1))

    @property
    def _known(self) -> str:
        """What is added where the exact value leaves."""
        law = self.drawn.noise
        only_zero = self.integer or law.standing_out == law.weight(0)
        return "nothing" if only_zero else "one of a few known numbers"

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
        touches: int = 1,
    ) -> Answers: ...

    def release(
        self,
        value: object,
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
        touches: int = 1,
    ) -> Answer | Answers:
        """Add noise to a true value and return what may be published.

        Args:
            value: A number, taken exactly as it is; or floats or integers in a numpy array, a
                pandas or polars Series or an Arrow array. The promise for these is for a person
                who can change one element by at most Δ.
            ledger: Where the release is charged before it is drawn, and stored before it leaves.
                Without one it is recorded nowhere, and says so when printed.
            key: What the question is called in the ledger. Under the same key the stored answer
                comes back, whatever the value is now, and nothing is charged. Without a key every
                release is a question of its own.
            fresh: Whether to charge and draw again under a key that has an answer.
            allow_exact: Say that the exact value may leave with the probability
                :attr:`exact_probability`. Needed where :attr:`needs_allowance` says so.
            touches: For an array or column: how many elements one person can change, each by at
                most Δ. The promise is then that of so many releases together.

        Raises:
            InvalidParameter: Before anything is charged or drawn, if the value is not a finite
                number, or the key was used for something else.
            BudgetExceeded: If the ledger has not enough left; nothing is charged.
        """
        if allow_exact is not False or self.needs_allowance:
            self._allow(allow_exact)
        if type(value) is not float and type(value) is not int:
            numpy = sys.modules.get("numpy")  # only if it is loaded can there be an array
            many = numpy is not None and isinstance(value, numpy.ndarray) and value.ndim > 0
            form = None if many else form_of(value, integer=self.integer)
            if many or form is not None:
                return self._release_each(value, form, touches, Place(ledger, key, fresh))
        if type(touches) is not int or touches != 1:
            _alone(touches)
        if ledger is UNRECORDED and key is None and fresh is False:
            return Answer(self._release_one(value), self)
        place = Place(ledger, key, fresh)
        release = releasing_one(value, self.grid, self.drawn.noise, integer=self.integer)
        index, receipt = place.released(self.spending, release, NUMBER)
        return Answer(index, self, receipt)

    def _allow(self, allow_exact: object) -> None:
        """Refuse to release where the exact value could leave and nobody has allowed it."""
        if not isinstance(allow_exact, bool):
            raise InvalidParameter(
                f"allow_exact must be True or False; got {described(allow_exact)}. "
                "Say whether the exact value may leave."
            )
        if self.needs_allowance and not allow_exact:
            raise InvalidParameter(
                f"the noise for this promise adds {self._known} with probability "
                f"{_up(self.exact_probability)}: the exact value leaves. Pass allow_exact=True to "
                "accept that, or promise a smaller ε or δ."
            )

    def _release_each(
        self, values: Any, form: "Form | None", touches: int, place: Place
    ) -> Answers:
        """Release an array, or a column of this form."""
        privacy = together(self.privacy, count(touches, "touches", least=1))
        grid, law = self.grid, self.drawn.noise
        if form is None:
            release = releasing_many(values, grid, law, integer=self.integer)
            shape = list(values.shape)
        else:
            release = releasing_column(values, form, grid, law, integer=self.integer)
            shape = [len(values)]
        asked = {"answer": "many", "shape": shape, "touches": int(touches)}
        charged = partial(self.spending, asked, privacy)
        released, receipt = place.released(charged, release, ARRAY)
        return Answers(released, self, privacy, form, receipt)

    def spending(self, asked: Json | None = None, privacy: Privacy | None = None) -> Spending:
        """Return what a ledger charges for one release, or for what is asked at another promise."""
        mechanism, digest = self._description
        asked = asked or {"answer": "one"}
        return Spending(privacy or self.privacy, {digest: mechanism}, asked)

    @cached_property
    def _description(self) -> tuple[Json, str]:
        return description(self)

    def explain(self, *, people: int | None = None) -> str:
        """Say in plain words what is promised and what the noise does.

        ``people`` is how many the data is about, where that is public (:meth:`Privacy.explain`).
        """
        return explained(self, people)


def _alone(touches: object) -> None:
    """Refuse several touches of a single value."""
    if count(touches, "touches", least=1) > 1:
        raise InvalidParameter(
            f"touches is for arrays; got {described(touches)} with a single value. Leave it out."
        )


def _up(probability: Fraction) -> str:
    return approximately(probability, 6, ROUND_CEILING)
