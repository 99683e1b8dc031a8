"""Advice on accounting: from how many answers on Gaussian accounting gives smaller errors."""

from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.calibration import Problem
from leastnoise.core.exact import format_rounded
from leastnoise.core.noise import Rounded
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1
from leastnoise.planning.closed_forms import (
    closed_cost,
    find_continuous,
    find_first_count,
    problem_per_release,
)

# The optimal noise for counts, and others if that has too many steps to be computed at once.
_OPTIMAL, _OTHERS = "canonical", ("truncated_laplace", "laplace")
_GAUSSIAN = "gaussian"
# The example has this many times as many answers, so that the errors differ clearly.
_MANY = 10


@dataclass(frozen=True, slots=True)
class PayOff:
    """The errors of a number of counts that share one limit, by the accounting of their ledger.

    Attributes:
        answers: The number of counts.
        basic: The expected cost of each if ε and δ are split evenly, with the best noise.
        gaussian: The expected cost of each under Gaussian accounting, with Gaussian noise.
    """

    answers: int
    basic: Fraction
    gaussian: Fraction


def gaussian_pays_off_from(limit: Privacy, *, cost: Cost = l1) -> PayOff | None:
    """Find the smallest number of counts for which Gaussian accounting gives smaller errors.

    One person changes each count by at most 1. With basic accounting each of k counts satisfies
    (ε/k, 1 − (1−δ)^(1/k)) and has canonical noise, which is optimal; with Gaussian accounting it
    has Gaussian noise of σ = √k/M (docs/theory/many-answers.md). Closed forms give both costs. If
    canonical noise has too many steps for that, truncated Laplace noise takes its place. It costs
    at most 0.2% more, so the number found can be one too small.

    The search up to 10⁴ doubles and bisects, so it assumes that Gaussian accounting remains better.

    Args:
        limit: The limit of a ledger.
        cost: The cost of an error. Default: ``l1``, |error|.

    Returns:
        The number of counts, and the expected cost of each with both kinds of accounting. None if
        δ is 0, which Gaussian accounting cannot use, or if basic accounting is better for all
        numbers up to 10⁴.

    >>> found = gaussian_pays_off_from(Privacy(1, "1e-6"))
    >>> found.answers, round(float(found.basic), 2), round(float(found.gaussian), 2)
    (12, 11.99, 11.67)
    """
    if not limit.delta:
        return None
    first = find_first_count(lambda answers: _is_ahead(errors_of_counts(limit, answers, cost=cost)))
    return None if first is None else errors_of_counts(limit, first, cost=cost)


def errors_of_counts(limit: Privacy, answers: int, *, cost: Cost = l1) -> PayOff:
    """Return the expected cost of each of ``answers`` counts, with both kinds of accounting.

    >>> errors = errors_of_counts(Privacy(1, "1e-6"), 100)
    >>> round(float(errors.basic), 1), round(float(errors.gaussian), 1)
    (100.0, 33.7)
    """
    problem = Problem(limit, Fraction(1), cost, integer=True, shape="any")
    shared = find_continuous(_GAUSSIAN, problem_per_release(problem, answers, _GAUSSIAN))
    basic = closed_cost(_OPTIMAL, problem, answers)
    if basic is None:
        others = (closed_cost(family, problem, answers) for family in _OTHERS)
        basic = min(each for each in others if each is not None)
    return PayOff(answers, basic, Rounded(Fraction(1), shared).expected(cost))


def describe_accounting(limit: Privacy, option: str = "accounting='gaussian'") -> str | None:
    """Return advice for the owner of a new ledger, or None if Gaussian accounting never pays off.

    Args:
        limit: The limit of the ledger.
        option: How Gaussian accounting is chosen, such as ``leastnoise ledger allocate``. Default:
            the parameter in Python.

    >>> describe_accounting(Privacy(1, "1e-6"))  # doctest: +NORMALIZE_WHITESPACE
    "For 12 or more counts, accounting='gaussian' gives smaller expected errors than basic
    accounting: for example, 37 instead of 120 for each of 120 counts."
    """
    first = gaussian_pays_off_from(limit)
    if first is None:
        return None
    more = errors_of_counts(limit, _MANY * first.answers)
    return (
        f"For {first.answers} or more counts, {option} gives smaller expected errors than basic "
        f"accounting: for example, {_up(more.gaussian)} instead of {_up(more.basic)} for each of "
        f"{more.answers} counts."
    )


def _is_ahead(errors: PayOff) -> bool:
    return errors.gaussian < errors.basic


def _up(number: Fraction) -> str:
    return format_rounded(number, 3, ROUND_CEILING)
