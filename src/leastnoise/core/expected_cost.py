"""A cost, as far as noise knows it; :mod:`leastnoise.costs` has those there are."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from leastnoise.core.exact import Interval, quote
from leastnoise.errors import InvalidParameter

Noise_contra = TypeVar("Noise_contra", contravariant=True)


class ExpectedCost(ABC, Generic[Noise_contra]):
    """What noise can be asked for the expectation of."""

    @abstractmethod
    def expectation(self, noise: Noise_contra) -> Interval:
        """Enclose the expected cost E L(X) of a noise."""


def not_a_cost(cost: object) -> InvalidParameter:
    """Return the refusal of what is no cost."""
    return InvalidParameter(
        "cost must be a Cost",
        got=quote(cost),
        fix="Give l1, l2, lp(p), threshold(t), points([…]) or Cost(function).",
    )
