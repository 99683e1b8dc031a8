"""A noise with its promise, and what is said of it.

``calibrate`` finds the least noise; a ``Mechanism`` adds it.

What a mechanism is said to do, in plain words.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

from leastnoise.accounting import Profile
from leastnoise.calibration import Effort, Problem, class_read, effort_read, find_noise
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
from leastnoise.core.noise import LatticeNoise, Noise
from leastnoise.core.privacy import Privacy
from leastnoise.core.profile import check_privacy
from leastnoise.core.release import releaser, releasing_many, releasing_one
from leastnoise.costs import Cost
from leastnoise.errors import ALLOW_EXACT, InvalidParameter
from leastnoise.ledger import UNRECORDED, Json, Ledger, Place, Spending, Unrecorded
from leastnoise.mechanism.answer import Answer, Answers
from leastnoise.mechanism.columns import Column, form_of, releasing_column
from leastnoise.mechanism.storage import ARRAY, NUMBER, description

if TYPE_CHECKING:
    from decimal import Decimal

    from numpy.typing import NDArray

    from leastnoise.mechanism.columns import Form


@dataclass(frozen=True, repr=False)
class Drawn:
    """The lattice noise that release adds, whole multiples of a step.

    Attributes:
        noise: Its law, in whole weights.
        objective: What an error costs.
    """

    noise: LatticeNoise
    objective: Cost

    def __repr__(self) -> str:
        """Print the law."""
        return f"Drawn({self.noise!r})"

    @property
    def step(self) -> Fraction:
        """The lattice's step: 1 for whole numbers, about Δ/2²⁰ for real ones."""
        return self.noise.step

    @property
    def radius(self) -> Fraction | float:
        """The largest noise that can be drawn: ``math.inf`` if there is none."""
        return self.noise.radius

    @cached_property
    def cost(self) -> Fraction:
        """The expected cost of the drawn noise: exact or a proved upper bound."""
        return self.noise.expected(self.objective)


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
                f"got a step of {format_exact(self.drawn.step)}. Calibrate again."
            )
        check_privacy(self.drawn.noise, self.privacy, sensitivity=self.protected)

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
        moved = format_exact(self.sensitivity)
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
            problem = Problem(
                self.privacy, self.sensitivity, certificate.objective, self.integer, among
            )
            certificate = find_noise(problem, effort_read(True, Effort().gap, seconds))[1]
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
        return Fraction(law.weight(0) if self.integer else law.isolated_weight, law.total)

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
        only_zero = self.integer or law.isolated_weight == law.weight(0)
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
                f"allow_exact must be True or False; got {quote(allow_exact)}. "
                "Say whether the exact value may leave."
            )
        if self.needs_allowance and not allow_exact:
            raise InvalidParameter(
                f"the noise for this promise adds {self._known} with probability "
                f"{_up(self.exact_probability)}: the exact value leaves",
                fix="Pass " + ALLOW_EXACT + " to accept that, or promise a smaller ε or δ.",
            )

    def _release_each(
        self, values: Any, form: "Form | None", touches: int, place: Place
    ) -> Answers:
        """Release an array, or a column of this form."""
        privacy = compose_equal(self.privacy, parse_count(touches, "touches", least=1))
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
    if parse_count(touches, "touches", least=1) > 1:
        raise InvalidParameter(
            f"touches is for arrays; got {quote(touches)} with a single value. Leave it out."
        )


def _up(probability: Fraction) -> str:
    return format_rounded(probability, 6, ROUND_CEILING)


def explained(mechanism: "Mechanism", people: int | None) -> str:
    """Say what is promised, then what the noise that is drawn does; chances are rounded up."""
    words = [mechanism.privacy.explain(people=people)]
    proved = proving(mechanism)
    if proved:
        words.append(
            f"With this noise an answer proves it outright with probability {_percent(proved)} % "
            "at the most."
        )
    elif mechanism.privacy.delta:
        words.append("This noise has no largest size: an answer never proves it outright.")
    if mechanism.needs_allowance:
        left = _percent(mechanism.exact_probability)
        words.append(f"With probability {left} % the exact answer leaves.")
    return " ".join(words)


def proving(mechanism: "Mechanism") -> Fraction:
    """Return the probability, at the most, of an answer that is impossible for a neighbour.

    Of the noise on the line too: what stands out there, as an atom does, is on the fine lattice not
    impossible for a neighbour, only a million times less likely. 0 for noise without a largest
    size, which can reach every point from any other.
    """
    drawn = mechanism.drawn.noise
    if isinstance(drawn.radius, float):
        return Fraction(0)
    laws = {mechanism.noise: mechanism.sensitivity, drawn: mechanism.protected}
    return max(Profile(law, sensitivity=moved).impossible for law, moved in laws.items())


def _percent(chance: Fraction) -> str:
    return format_rounded(chance * 100, 6, ROUND_CEILING)
