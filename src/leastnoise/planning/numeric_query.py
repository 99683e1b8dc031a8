"""A numeric query of a plan, with its sensitivity, its cost and its target."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction

from leastnoise.calibration import check_family, parse_exact_sensitivity
from leastnoise.core.exact import (
    Number,
    format_exact,
    format_ratio,
    parse_confidence,
    parse_positive,
    quote,
)
from leastnoise.costs import Cost, as_cost, l1
from leastnoise.errors import InvalidParameter, parameter

DEFAULT_CONFIDENCE = Fraction(19, 20)


@dataclass(frozen=True, init=False)
class NumericQuery:
    """Describe a numeric query that is released together with others (:func:`plan`).

    Args:
        name: The name of the answer, in the plan and in the release.
        sensitivity: Δ, how much one person can change this answer.
        cost: The cost of an error. The plan minimizes the weighted sum of expected costs. Default:
            ``l1``, or no cost if ``error`` is given.
        integer: Whether the true answer is an integer. Default: False.
        weight: The weight of the cost in the sum, positive. It requires a cost. Default: 1.
        error: The target: the error must stay within ±error with probability ``confidence``. If a
            cost is given too, the cheapest plan that meets all targets is found. Default: no
            target.
        confidence: The probability of the target, above 0 and below 1. It requires ``error``.
            Default: 0.95.
        family: The family of noise for this answer (``leastnoise.calibration.FAMILIES``). Default:
            the plan chooses.

    Raises:
        InvalidParameter: If an argument is invalid or would have no effect.

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
        """Parse all arguments exactly, once."""
        _reject_unused(cost, weight, error, confidence)
        if cost is None and error is None:
            cost = l1
        parsed = {
            "name": _parse_name(name),
            "sensitivity": parse_exact_sensitivity(sensitivity, integer=_parse_integer(integer)),
            "cost": None if cost is None else as_cost(cost),
            "integer": integer,
            "weight": parse_positive(1 if weight is None else weight, "weight"),
            "error": None if error is None else parse_positive(error, "error"),
            "confidence": parse_confidence(
                DEFAULT_CONFIDENCE if confidence is None else confidence, below_one="and below 1"
            ),
            "family": None if family is None else check_family(family, "what is cheapest"),
        }
        for field, value in parsed.items():
            object.__setattr__(self, field, value)

    @property
    def objective(self) -> Cost:
        """The cost that noise is calibrated for: ``cost``, or l1 if there is only a target."""
        return self.cost or l1

    def kind(self) -> tuple[object, ...]:
        """Return all fields but the name: queries of the same kind get the same noise."""
        return tuple(getattr(self, field.name) for field in fields(self) if field.name != "name")

    def __repr__(self) -> str:
        arguments = [f"{self.name!r}", f"sensitivity={_format_argument(self.sensitivity)}"]
        if self.cost is not None and (self.cost != l1 or self.error is not None):
            arguments.append(f"cost={self.cost!r}")
        if self.integer:
            arguments.append("integer=True")
        if self.weight != 1:
            arguments.append(f"weight={_format_argument(self.weight)}")
        if self.error is not None:
            arguments.append(f"error={_format_argument(self.error)}")
        if self.confidence != DEFAULT_CONFIDENCE:
            arguments.append(f"confidence={_format_argument(self.confidence)}")
        if self.family is not None:
            arguments.append(f"family={self.family!r}")
        return f"NumericQuery({', '.join(arguments)})"

    def to_dict(self) -> dict[str, object]:
        """Return the query for JSON, with exact numbers as strings."""
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


def _reject_unused(cost: object, weight: object, error: object, confidence: object) -> None:
    """Reject arguments that would have no effect."""
    if confidence is not None and error is None:
        raise InvalidParameter(
            parameter("confidence") + " must come with a target error",
            got="confidence without error",
            fix="Add error=, or omit confidence=.",
        )
    if weight is not None and cost is None and error is not None:
        raise InvalidParameter(
            "weight must come with a cost",
            got="weight and error without cost",
            fix="Add cost=, or omit weight=.",
        )


def _parse_name(name: object) -> str:
    if isinstance(name, str) and name.strip() and name.isprintable():
        return name
    raise InvalidParameter(
        parameter("name") + " must be a non-empty string of printable characters",
        got=quote(name),
        fix='Use, for example, "visits".',
    )


def _parse_integer(integer: object) -> bool:
    if isinstance(integer, bool):
        return integer
    raise InvalidParameter(
        parameter("integer") + " must be True or False",
        got=quote(integer),
        fix="Use True if the true answer is an integer.",
    )


def _format_argument(number: Fraction) -> str:
    text = format_exact(number)
    return f"'{text}'" if "/" in text else text


def parse_queries(queries: object) -> tuple[NumericQuery, ...]:
    """Return the queries of a list; reject other objects."""
    if isinstance(queries, NumericQuery):
        raise InvalidParameter(
            "queries must be a list of NumericQuery",
            got="a single NumericQuery",
            fix="Put it in a list: plan(privacy, [query]).",
        )
    no_list = isinstance(queries, str | bytes | Mapping) or not isinstance(queries, Iterable)
    items = () if no_list or not isinstance(queries, Iterable) else tuple(queries)
    others = [item for item in items if not isinstance(item, NumericQuery)]
    if items and not others:
        return items
    got = "an empty list"
    if no_list or others:
        got = f"an object of type {type(queries if no_list else others[0]).__name__}"
    raise InvalidParameter(
        "queries must be a list of at least one NumericQuery",
        got=got,
        fix='Use, for example, [NumericQuery("people", sensitivity=1, integer=True)].',
    )
