"""The guarantee that a plan may use, and its charge in a ledger.

A plan has a guarantee, or a share of a ledger: of its limit, or of the caps of an allocation.
In an allocation its noise is Gaussian and costs the whole share.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from leastnoise.core.exact import Number, format_rounded, parse_positive, quote
from leastnoise.core.gaussian_cost import GaussianCost, cost_of_guarantee, find_caps, total_cost
from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.ledger import DISCOVERY, AllocatedPrivacy, Ledger, SpendingLimit, make_part
from leastnoise.mechanism import Mechanism, find_blocks
from leastnoise.planning.joint import join
from leastnoise.planning.options import SHARED, Option, PlanProblem
from leastnoise.planning.shared import share as share_gaussian
from leastnoise.planning.split import split

_EXAMPLE = "Privacy(1, '1e-6')"


def find_amount(privacy: Privacy | None, ledger: Ledger | None, share: Number | None) -> Privacy:
    """Return the guarantee of a plan; in an allocation, a part of it without γ.

    Raises:
        InvalidParameter: If not exactly one of ``privacy`` and ``share`` is given, or a share is
            given without a ledger or out of range.
    """
    if (privacy is None) == (share is None):
        raise InvalidParameter(
            "Exactly one of privacy and share= must be given",
            got="none" if share is None else "both",
            fix=f"Write, for example, {_EXAMPLE}, or share='1/10' with a ledger.",
        )
    if share is not None:
        return _take_share(ledger, share)
    if not isinstance(privacy, AllocatedPrivacy):
        return as_privacy(privacy, _EXAMPLE)
    if not privacy.cost.square:
        raise InvalidParameter(
            "Nothing remains of the allocation", fix="Make another allocation of the limit."
        )
    whole = Privacy(privacy.epsilon, privacy.delta)
    return make_part(GaussianCost(privacy.cost.square), privacy.caps, whole)


def _take_share(ledger: Ledger | None, share: Number) -> Privacy:
    part = parse_positive(share, "share")
    if part > 1:
        raise InvalidParameter(
            parameter("share") + " must be above 0 and at most 1",
            got=quote(share),
            fix="Use, for example, '1/10'.",
        )
    if not isinstance(ledger, Ledger):
        raise InvalidParameter(
            parameter("share")
            + " needs a ledger, because it is a share of its limit or of an allocation",
            fix="Add ledger=Ledger(…), or give a guarantee instead.",
        )
    limit = SpendingLimit.of(ledger)
    return limit.take(part) if limit.caps is None else limit.take_pure(part)


def find_cost(privacy: Privacy, mechanisms: Sequence[Mechanism]) -> GaussianCost:
    """Return the cost of a plan in an allocation: its part, or else the cost of its noise."""
    cost = total_cost(block.gaussian_cost for block, _ in find_blocks(mechanisms))
    if not isinstance(privacy, AllocatedPrivacy):
        return cost
    if not cost.fits(privacy.cost):
        raise InvalidParameter(
            "The noise of this plan costs more than its part of the allocation",
            fix="Build plans with plan().",
        )
    return privacy.cost


def describe_charge(
    ledger: Ledger, problem: PlanProblem, chosen: Option, mechanisms: Sequence[Mechanism]
) -> str:
    """Return the part of a ledger that a plan costs, and the errors with the other accounting."""
    limit = SpendingLimit.of(ledger)
    cost = find_cost(problem.privacy, mechanisms)
    if limit.caps is None:
        return _compare_accounting(limit.whole, problem, chosen, cost)
    own = _find_part(limit.caps, problem.privacy, cost)
    remaining = format_rounded(100 * limit.remaining_share, 3, ROUND_FLOOR)
    return (
        f"This plan costs {_percent(own)} of the allocation ({cost}), of which {remaining}% of μ² "
        "remains."
    )


def _compare_accounting(
    limit: Privacy, problem: PlanProblem, chosen: Option, cost: GaussianCost
) -> str:
    """Return sentences about the part of a limit that a plan costs, by kind of accounting."""
    privacy = problem.privacy
    pairs = ((privacy.epsilon, limit.epsilon), (privacy.delta, limit.delta))
    part = max(own / whole if whole else Fraction(0) for own, whole in pairs)
    basic = f"With basic accounting this plan costs {_percent(part)} of {limit}"
    if not limit.delta:
        return f"{basic}. Gaussian accounting needs a limit with δ > 0."
    caps = find_caps(limit, limit.delta * DISCOVERY)
    # Other noise would not be used with Gaussian accounting: it costs more there.
    own = f"; with Gaussian accounting, {_percent(_find_part(caps, privacy, cost))}"
    costs = f"{basic}{own if chosen.how == SHARED else ''}."
    size = min(part, Fraction(1))
    amount = make_part(GaussianCost(caps.square * size), caps, limit)
    squared = share_gaussian(replace(problem, privacy=amount)).option
    now: Option | None = chosen
    if part > 1:
        within = replace(problem, privacy=limit)
        options = [find(within).option for find in (split, share_gaussian, join)]
        possible = [option for option in options if option.cost is not None]
        now = min(possible, key=lambda option: option.cost or Fraction(0), default=None)
    saved = "" if now is None else _describe_errors(problem, now, squared, _percent(size))
    return costs + saved


def _describe_errors(problem: PlanProblem, basic: Option, gaussian: Option, part: str) -> str:
    """Return a sentence with the errors of two plans that cost the same part of a limit.

    One has basic accounting, the other shared Gaussian noise with Gaussian accounting.
    """
    if basic.cost is None or gaussian.cost is None:
        return ""
    widths = (_up(option.half_widths[0], 3) for option in (gaussian, basic))
    first = "" if len(problem.queries) == 1 else f" of {problem.queries[0].name}"
    errors = " instead of ± ".join(widths)
    other = f" For {part} of the limit, shared Gaussian noise with Gaussian accounting"
    if gaussian.cost >= basic.cost:
        return f"{other} saves nothing: a 95% error{first} of ± {errors}."
    less = format_rounded(100 * (1 - gaussian.cost / basic.cost), 2, ROUND_FLOOR)
    kind = "errors" if problem.only_targets else "the total cost"
    return f"{other} makes {kind} {less}% lower: a 95% error{first} of ± {errors}."


def _find_part(caps: GaussianCost, privacy: Privacy, cost: GaussianCost) -> Fraction:
    """Return the part of the caps that a plan takes, by the cheaper of two costs."""
    costs = [cost]
    if not isinstance(privacy, AllocatedPrivacy):
        costs.append(cost_of_guarantee(privacy))
    return min(_divide(own, caps) for own in costs)


def _divide(cost: GaussianCost, caps: GaussianCost) -> Fraction:
    if not caps.failure:
        return cost.square / caps.square if not cost.failure else Fraction(10**9)
    return max(cost.square / caps.square, cost.failure / caps.failure)


def _percent(share: Fraction) -> str:
    return f"{_up(100 * share, 3)}%"


def _up(number: Fraction, digits: int) -> str:
    return format_rounded(number, digits, ROUND_CEILING)
