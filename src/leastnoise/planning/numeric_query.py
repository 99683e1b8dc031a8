"""One answer of a plan, with its sensitivity and its cost."""

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.calibration import check_family, whole_sensitivity
from leastnoise.core.exact import (
    Number,
    format_exact,
    format_ratio,
    parse_confidence,
    parse_positive,
    quote,
)
from leastnoise.costs import Cost, as_cost, l1
from leastnoise.errors import InvalidParameter

USUAL = Fraction(19, 20)


@dataclass(frozen=True, init=False)
class NumericQuery:
    """An answer to be released together with others, and how good it must be.

    Args:
        name: What the answer is called, in the plan and in what is released.
        sensitivity: Δ, how much one person can change this answer.
        cost: What an error costs; a plan makes the weighted sum of these least. Left out, it is
            l1, or nothing where a target ``error`` is given.
        integer: Whether the true answer is a whole number.
        weight: How much this answer's cost counts beside the others': 1 if left out. It is refused
            where there is a target alone, for then there is no cost that it could count for.
        error: A target: errors must stay within ±error so often as ``confidence`` says. With a
            cost it is a condition that the cheapest plan must meet.
        confidence: How often, above 0 and below 1: 0.95 if left out. It is refused without
            ``error``, for it says nothing then.
        family: A kind of noise that this answer must have (``leastnoise.calibration.FAMILIES``).

    >>> NumericQuery("visits", sensitivity=5, integer=True, error=40)
    NumericQuery('visits', sensitivity=5, integer=True, error=40)
    """

    name: str
    sensitivity: Fraction
    cost: Cost | None
    integer: bool
    weight: Fraction
    error: Fraction | None
    confidence: Fraction
    family: str | None

    def __init__(
        self,
        name: str,
        *,
        sensitivity: Number,
        cost: Cost | None = None,
        integer: bool = False,
        weight: Number | None = None,
        error: Number | None = None,
        confidence: Number | None = None,
        family: str | None = None,
    ) -> None:
        """Read everything exactly, once, and refuse what is no question."""
        _meant(cost, weight, error, confidence)
        if cost is None and error is None:
            cost = l1
        read = {
            "name": _name(name),
            "sensitivity": whole_sensitivity(sensitivity, integer=_whole(integer)),
            "cost": None if cost is None else as_cost(cost),
            "integer": integer,
            "weight": parse_positive(1 if weight is None else weight, "the weight of an answer"),
            "error": None
            if error is None
            else parse_positive(error, "the target error of an answer"),
            "confidence": parse_confidence(
                USUAL if confidence is None else confidence, below_one="and below 1"
            ),
            "family": None if family is None else check_family(family, "what is cheapest"),
        }
        for field, value in read.items():
            object.__setattr__(self, field, value)

    @property
    def objective(self) -> Cost:
        """The cost, or l1 where there is a target alone: what noise is looked for with."""
        return self.cost or l1

    def __repr__(self) -> str:
        said = [f"{self.name!r}", f"sensitivity={_plain(self.sensitivity)}"]
        if self.cost is not None and (self.cost != l1 or self.error is not None):
            said.append(f"cost={self.cost!r}")
        if self.integer:
            said.append("integer=True")
        if self.weight != 1:
            said.append(f"weight={_plain(self.weight)}")
        if self.error is not None:
            said.append(f"error={_plain(self.error)}")
        if self.confidence != USUAL:
            said.append(f"confidence={_plain(self.confidence)}")
        if self.family is not None:
            said.append(f"family={self.family!r}")
        return f"NumericQuery({', '.join(said)})"

    def to_dict(self) -> dict[str, object]:
        """Return it for JSON: exact numbers as texts."""
        return {
            "name": self.name,
            "sensitivity": format_ratio(self.sensitivity),
            "objective": None if self.cost is None else self.cost.stored_name,
            "integer": self.integer,
            "weight": format_ratio(self.weight),
            "error": None if self.error is None else format_ratio(self.error),
            "confidence": format_ratio(self.confidence),
            "family": self.family,
        }


def _meant(cost: object, weight: object, error: object, confidence: object) -> None:
    """Refuse what would be ignored."""
    if confidence is not None and error is None:
        raise InvalidParameter(
            "confidence says how often errors stay within a target, and needs one, got confidence "
            "without error. Give error= too, or leave it out."
        )
    if weight is not None and cost is None and error is not None:
        raise InvalidParameter(
            "weight says how much a cost counts, and a target alone has none, got weight and error "
            "without cost. Give cost= too, or leave it out."
        )


def _name(name: object) -> str:
    if isinstance(name, str) and name.strip() and name.isprintable():
        return name
    raise InvalidParameter(
        "the name of an answer must be a text of printable characters that is not empty, "
        f"got {quote(name)}. "
        'Give for instance "visits".'
    )


def _whole(integer: object) -> bool:
    if isinstance(integer, bool):
        return integer
    raise InvalidParameter(
        f"integer must be True or False, got {quote(integer)}. "
        "Say whether the true answer is a whole number."
    )


def _plain(number: Fraction) -> str:
    text = format_exact(number)
    return f"'{text}'" if "/" in text else text
