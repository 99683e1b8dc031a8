"""``JointMechanism``: joint noise for several numbers; ``JointPart``: the noise of one of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from leastnoise.accounting import Composable
from leastnoise.certificate import Certificate
from leastnoise.core.exact import (
    first_index,
    format_exact,
    format_ratio,
)
from leastnoise.core.gaussian_cost import GaussianCost, cost_of_guarantee
from leastnoise.core.joint_release import JointReleaser, JointRows
from leastnoise.core.lattice import rounding_error
from leastnoise.core.noise import BoundedJointStaircase, JointNoise, LatticeNoise
from leastnoise.core.privacy import Privacy
from leastnoise.core.release import Rebuilt, Releaser
from leastnoise.core.tape import Tape
from leastnoise.core.withholding import without_values
from leastnoise.costs import Cost, l1
from leastnoise.errors import NotPrivate
from leastnoise.json_types import Json
from leastnoise.ledger import (
    UNRECORDED,
    Ledger,
    Recording,
    Spending,
    Unrecorded,
    privacy_to_json,
)
from leastnoise.mechanism.answer import Answer
from leastnoise.mechanism.discretized import Discretized
from leastnoise.mechanism.joint_answers import JointAnswers
from leastnoise.mechanism.mechanism import Mechanism
from leastnoise.mechanism.revealing import check_allow_exact
from leastnoise.mechanism.storage import digest, numbers
from leastnoise.rendering import paragraph

if TYPE_CHECKING:
    from decimal import Decimal

    Value = int | float | Fraction | Decimal

# Stored in ledgers: these words must never change.
_SOURCE = "joint noise on nested boxes (K-norm mechanism of Hardt and Talwar 2010, for a cube)"
_MOST_FACTS = 6


@Composable.register
@dataclass(frozen=True, repr=False)
class JointMechanism(Rebuilt):
    """Joint noise for several numbers with a verified guarantee.

    Built by :func:`calibrate_joint`.

    Attributes:
        privacy: The guarantee of one release of all numbers together.
        sensitivities: Δ of each number.
        integers: Whether each number is an integer.
        noise: The joint noise that :meth:`release` samples.
        objective: The cost of the error of one number.
        releaser: The component that adds the noise, with the proof of the guarantee.
    """

    privacy: Privacy
    sensitivities: tuple[Fraction, ...]
    integers: tuple[bool, ...]
    noise: JointNoise
    objective: Cost = l1
    releaser: JointReleaser = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prove that the noise satisfies the guarantee for all numbers together."""
        parts = self.noise, self.privacy, self.sensitivities, self.integers
        object.__setattr__(self, "releaser", JointReleaser(*parts))

    def verify(self) -> None:
        """Verify again that the noise satisfies the guarantee for all numbers together.

        Raises:
            NotPrivate: If it does not.
            InvalidParameter: If the certificate of a part does not prove its statements.
        """
        replace(self)  # the constructor proves the guarantee
        for part in self.parts:
            part.verify()

    @cached_property
    def parts(self) -> "tuple[JointPart, ...]":
        """The mechanism of each number, for its noise alone: errors, intervals and costs."""
        shared: dict[int, Discretized] = {}
        parts = []
        for place in range(len(self)):
            noise = self.part_noise(place)
            if id(noise) not in shared:  # the cost of equal noise is computed once
                shared[id(noise)] = Discretized(noise, self.objective)
            parts.append(JointPart.of(self, place, shared[id(noise)]))
        return tuple(parts)

    def has_part(self, part: "JointPart") -> bool:
        """Return whether a part has the guarantee, sensitivity and noise of its number here."""
        if not 0 <= part.place < len(self):
            return False
        certified, noise = part.certificate, self.part_noise(part.place)
        own = self.privacy, self.sensitivities[part.place], noise
        stated = part.privacy, part.sensitivity, part.noise
        return (
            own == stated == (certified.privacy, certified.sensitivity, certified.noise)
            and part.discretized.noise == noise
            and part.integer == self.integers[part.place]
        )

    def part_noise(self, place: int) -> LatticeNoise:
        """Return the noise of one number alone; equal numbers have the same object."""
        first = self.noise.first_alike(place)
        if first not in self._marginals:
            self._marginals[first] = self.noise.marginal(first)
        return self._marginals[first]

    @cached_property
    def _marginals(self) -> dict[int, LatticeNoise]:
        """The noise of one number alone, by the first number that has it."""
        return {}

    @property
    def cost(self) -> Fraction:
        """The sum of the expected costs of all numbers."""
        return sum((part.cost for part in self.parts), Fraction(0))

    @property
    def composed_as(self) -> Privacy:
        """The part of a composition (:func:`leastnoise.compose`): the guarantee."""
        return self.privacy

    @cached_property
    def gaussian_cost(self) -> GaussianCost:
        """What one release of all numbers costs in an allocation: as much as any (ε, δ)."""
        return cost_of_guarantee(self.privacy)

    @cached_property
    def needs_allow_exact(self) -> bool:
        """Whether :meth:`release` requires ``allow_exact=True``, as for one number."""
        return any(part.needs_allow_exact for part in self.parts)

    def __len__(self) -> int:
        return len(self.sensitivities)

    def release(
        self,
        values: "Sequence[Value]",
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> "JointAnswers":
        """Add noise to all true values and return the answers, which may be published.

        Args:
            values: A tuple or a list with a number for each sensitivity, used exactly as it is.
            ledger: The ledger to charge, once for all numbers. Default: the release is not
                recorded.
            key: The name of the query in the ledger. Default: every release is a new query.
            fresh: True to charge again and sample new noise under a key that has an answer.
                Default: False.
            allow_exact: As for :meth:`leastnoise.Mechanism.release`. Default: False.

        Returns:
            The answers, in the order of the values.

        Raises:
            InvalidParameter: If the values are not as many finite numbers, or not integers where
                they must be. Nothing was charged.
            BudgetExceeded: If too little budget remains. Nothing was charged or released.

        >>> from leastnoise.mechanism import calibrate_joint
        >>> mechanism = calibrate_joint(Privacy(1), sensitivity=[1, 50], integer=[True, False])
        >>> len(mechanism.release((120, 4500.5)))
        2
        """
        try:
            check_allow_exact(
                allow_exact,
                needed=self.needs_allow_exact,
                what="exact values",
                refusal=lambda: "Exact values are released with some probability",
            )
            return self._release(values, Recording(ledger, key, fresh))
        except BaseException as error:  # noqa: BLE001 -- it may refer to the values
            failure = without_values(error)
        del values
        raise failure

    def start_rows(self, tape: Tape | None = None) -> JointRows:
        """Return what adds one sample of this noise to each row of a table."""
        return JointRows(self.releaser, tape)

    def _release(self, values: object, recording: Recording) -> "JointAnswers":
        draw = self.releaser.prepare(values)
        indices, receipt = recording.release(self.spending, draw, numbers(len(self)))
        pairs = zip(indices, self.parts, strict=True)
        return JointAnswers(
            tuple(Answer(index, part, receipt) for index, part in pairs), self, receipt
        )

    def spending(self) -> Spending:
        """Return the charge of one release of all numbers."""
        mechanisms: dict[str, Json] = {}
        names: dict[str, list[str]] = {}
        for place, part in enumerate(self.parts):
            own = part.spending().mechanisms
            mechanisms |= own
            names[str(place + 1)] = list(own)
        return Spending(self.privacy, mechanisms, {"answer": "plan", "of": names})

    def half_box(self, confidence: Fraction) -> tuple[Fraction, ...] | None:
        """Return errors that all numbers stay within together, with a probability.

        Rounding is included. They are the half-widths of the smallest box of the noise with this
        probability. None if the probability is 1 and the noise is unbounded.
        """
        noise = self.noise
        if confidence >= 1 and not isinstance(noise, BoundedJointStaircase):
            return None
        if confidence not in self._last_boxes:
            bits = 128 + confidence.denominator.bit_length()
            high = 1
            while noise.box_probability(high, bits) < confidence:
                high *= 2
            self._last_boxes[confidence] = (
                first_index(0, high, lambda n: noise.box_probability(n, bits) >= confidence) - 1
            )
        box = self._last_boxes[confidence]
        return tuple(
            noise.half_width(place, box) * step + rounding_error(step, integer=integer)
            for place, (step, integer) in enumerate(zip(noise.steps, self.integers, strict=True))
        )

    @cached_property
    def _last_boxes(self) -> dict[Fraction, int]:
        """The last box within the errors at a confidence."""
        return {}

    def explain(self, *, people: int | None = None) -> str:
        """Explain in plain words the guarantee for all numbers together.

        Args:
            people: The number of people that the data is about, if it is public
                (:meth:`Privacy.explain`). Default: unknown.
        """
        return paragraph(
            self.privacy.explain(people=people),
            f"This covers all {len(self)} numbers together.",
        )

    def __repr__(self) -> str:
        deltas = ", ".join(format_exact(delta) for delta in self.sensitivities[:_MOST_FACTS])
        more = ", …" if len(self) > _MOST_FACTS else ""
        return f"JointMechanism({self.privacy!r}, sensitivity=[{deltas}{more}])"


@dataclass(frozen=True, repr=False)
class JointPart(Mechanism):
    """The noise of one number of joint noise, as a mechanism.

    Its errors, intervals and costs are those of that number. Its guarantee is that of all numbers
    together, so releasing two numbers by two parts would satisfy less.

    Attributes:
        owner: The mechanism of all numbers.
        place: The place of the number.
    """

    owner: JointMechanism
    place: int

    def __post_init__(self) -> None:
        """Reject a part that is not of its owner, which proves the guarantee of its noise."""
        if not self.owner.has_part(self):
            raise _not_joint()

    @cached_property  # type: ignore[misc]  # a field of Mechanism; here it is proved on first use
    def releaser(self) -> Releaser:
        """What adds the noise of this number alone, with a proof of its own."""
        return Releaser(self.discretized.noise, self.privacy, self.sensitivity, self.integer)

    @classmethod
    def of(cls, mechanism: JointMechanism, place: int, discretized: Discretized) -> "JointPart":
        """Return the part for one number, whose noise is ``discretized``."""
        noise, objective = discretized.noise, discretized.objective
        delta, integer = mechanism.sensitivities[place], mechanism.integers[place]
        certificate = Certificate.of(
            noise, mechanism.privacy, delta, objective, source=_SOURCE, cost=discretized.cost
        )
        own = mechanism.privacy, delta, noise, certificate, discretized, integer
        return cls(*own, mechanism, place)

    def verify(self) -> None:
        """Verify again that the noise of this number alone satisfies the guarantee.

        Raises:
            NotPrivate: If it does not.
        """
        noise = self.discretized.noise
        Releaser(noise, self.privacy, self.sensitivity, self.integer)  # proves it

    @property
    def composed_as(self) -> Privacy:  # type: ignore[override]  # its noise alone proves less
        """The part of a composition (:func:`leastnoise.compose`): the guarantee."""
        return self.privacy

    @property
    def gaussian_cost(self) -> GaussianCost:
        """What a release of all numbers of the joint noise costs in an allocation."""
        return self.owner.gaussian_cost

    @cached_property
    def _description(self) -> tuple[Json, str]:
        """The description that a ledger stores, and its digest. They must never change."""
        joint = self.owner.noise
        drawn: Json = {
            "kind": type(joint).__name__,
            "steps": [format_ratio(step) for step in joint.steps],
            "shifts": list(joint.shifts),
            "edges": list(joint.edges),
            "ratio": format_ratio(joint.ratio),
            "place": self.place,
        }
        if isinstance(joint, BoundedJointStaircase):
            drawn["last_box"] = joint.last_box
        description: Json = {
            "privacy": privacy_to_json(self.privacy),
            "drawn": drawn,
            "sensitivity": format_ratio(self.sensitivity),
            "integer": self.integer,
        }
        facts: Json = {
            "noise": repr(self.noise),
            "step": format_ratio(self.discretized.step),
            "radius": format_ratio(self.discretized.radius),
            "exact_probability": format_ratio(self.exact_probability),
            "cost": format_ratio(self.cost),
            "source": _SOURCE,
        }
        return description | facts, digest(description)


# A mechanism of one or several numbers, and the places of these numbers.
JointBlock = tuple[Mechanism | JointMechanism, tuple[int, ...]]


def find_blocks(mechanisms: Sequence[Mechanism]) -> list[JointBlock]:
    """Return the blocks of mechanisms that are released together: parts with one owner are one.

    The places of a block are in the order of its numbers.

    Raises:
        NotPrivate: If some numbers of a joint mechanism are missing, repeated or changed.
    """
    owners: dict[int, JointMechanism] = {}
    places: dict[int, dict[int, int]] = {}
    blocks: list[JointBlock] = []
    for at, mechanism in enumerate(mechanisms):
        if not isinstance(mechanism, JointPart):
            blocks.append((mechanism, (at,)))
            continue
        owner = mechanism.owner
        owners[id(owner)] = owner
        own = places.setdefault(id(owner), {})
        if mechanism.place in own or not owner.has_part(mechanism):
            raise _not_joint()
        own[mechanism.place] = at
    for key, owner in owners.items():
        if sorted(places[key]) != list(range(len(owner))):
            raise _not_joint()
        blocks.append((owner, tuple(places[key][number] for number in range(len(owner)))))
    return blocks


def _not_joint() -> NotPrivate:
    return NotPrivate(
        "The numbers of joint noise must be released together, each once",
        fix="Use all parts of a joint mechanism, as calibrate_joint() returns them.",
    )
