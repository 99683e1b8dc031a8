"""The proved total guarantee of a plan."""

from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.core import basic_composition
from leastnoise.core.exact import format_rounded
from leastnoise.core.gaussian_cost import total_cost
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.errors import NotPrivate
from leastnoise.mechanism import Mechanism, find_blocks
from leastnoise.planning.options import SHARED

# The number of digits of the stated total δ.
_DIGITS = 9


def prove_total(how: str, mechanisms: tuple[Mechanism, ...], limit: Privacy) -> Privacy:
    """Prove and return the total guarantee; raise NotPrivate if it exceeds ``limit``.

    Split guarantees are combined by basic composition (:mod:`leastnoise.core.basic_composition`).
    A block of answers with joint noise counts once, by the guarantee proved for the whole block.
    For shared noise the costs of all answers are added (:mod:`leastnoise.core.gaussian_cost`). A
    long δ is rounded up.
    """
    if how == SHARED:
        cost = total_cost(block.gaussian_cost for block, _ in find_blocks(mechanisms))
        total = Privacy(limit.epsilon, cost.delta(limit.epsilon))
    else:
        guarantees = (block.privacy for block, _ in find_blocks(mechanisms))
        total = basic_composition.compose_basic(guarantees, limit.delta)
    if total.epsilon > limit.epsilon or total.delta > limit.delta:
        raise NotPrivate(
            f"The answers of this plan satisfy {format_guarantee(total)} in total, which exceeds "
            f"{format_guarantee(limit)}",
            fix="Build plans with plan().",
        )
    if not total.delta:
        return total
    short = Fraction(format_rounded(total.delta, _DIGITS, ROUND_CEILING))
    return Privacy(total.epsilon, min(short, limit.delta))
