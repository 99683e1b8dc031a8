"""Find the least noise: a promise, a sensitivity and a cost in, a noise and its certificate out.

Finders propose; what they propose is proved by :meth:`leastnoise.certificate.Certificate.check`,
which shares nothing with them but the law and the cost.
"""

from fractions import Fraction

from leastnoise.calibration.integers import least_on_integers
from leastnoise.calibration.lattice import CELLS, lattice_for, on_lattice, rounded, stretched
from leastnoise.calibration.line import least_on_line
from leastnoise.certificate import Certificate
from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.exact import exactly
from leastnoise.noise import Noise
from leastnoise.privacy import Privacy

__all__ = ["CELLS", "find", "lattice_for", "on_lattice", "rounded", "stretched"]


def find(
    privacy: Privacy, *, sensitivity: Fraction, cost: Cost, integer: bool
) -> tuple[Noise, Certificate]:
    """Return the least noise among symmetric noises that never rise away from 0, and the proof.

    Only for ε = 0 so far. On the line it is GDGK19's P_α, with the mass at 0 of Theorem 3 or of the
    critical width; on the integers the mixture of two uniform noises that the same argument gives.
    """
    if privacy.epsilon:
        raise Unsupported(
            "this version of leastnoise finds the least noise for ε = 0 only; "
            f"got ε = {exactly(privacy.epsilon)}. Leave ε out, or wait for a later version."
        )
    if not privacy.delta:
        raise InvalidParameter(
            "at ε = 0 no noise keeps δ = 0: the answer would have to be the same for all data; "
            "got (0, 0). Give δ > 0."
        )
    # A cost is looked at before it is trusted, and again as far as the noise turned out to reach.
    cost.probe(sensitivity / privacy.delta)
    noise, certificate = (least_on_integers if integer else least_on_line)(
        privacy, sensitivity, cost
    )
    cost.probe(2 * noise.radius)
    certificate.check()
    return noise, certificate
