"""What answers keep together, proved from what is drawn for them."""

from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.errors import NotPrivate
from leastnoise.exact import approximately
from leastnoise.mechanism import Mechanism
from leastnoise.planning.composing import compose
from leastnoise.planning.plans import sharing, splitting
from leastnoise.planning.plans.option import COMPOSED, SHARED
from leastnoise.privacy import Privacy

_DIGITS = 9


def proved(how: str, mechanisms: tuple[Mechanism, ...], asked: Privacy) -> Privacy:
    """Return what the mechanisms keep together, no more than was asked; raise if it is more.

    By their own promises (``splitting.together``), as one Gaussian noise (``sharing.together``), or
    by composing what they draw (:func:`leastnoise.compose`). The δ is rounded up where it is long.

    Raises:
        NotPrivate: If they do not keep the promise that was asked for.
    """
    if how == SHARED:
        reached = sharing.together(mechanisms, asked.epsilon)
    elif how == COMPOSED:
        reached = Privacy(asked.epsilon, compose(mechanisms).delta(asked.epsilon))
    else:
        reached = splitting.together((made.privacy for made in mechanisms), asked.delta)
    if reached.epsilon > asked.epsilon or reached.delta > asked.delta:
        raise NotPrivate(
            f"all answers of a plan together must keep {asked}; these keep {reached}. Plan again."
        )
    if not reached.delta:
        return reached
    short = Fraction(approximately(reached.delta, _DIGITS, ROUND_CEILING))
    return Privacy(reached.epsilon, min(short, asked.delta))
