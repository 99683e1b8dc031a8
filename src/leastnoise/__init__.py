"""leastnoise: the least noise that differential privacy allows.

>>> import leastnoise as ln
>>> mechanism = ln.calibrate(ln.Privacy(delta=0.1), sensitivity=1)
>>> mechanism.noise
Uniform(radius=5, atom=0)
"""

from leastnoise.certificate import Certificate
from leastnoise.costs import Cost, l1, l2, lp, points, threshold
from leastnoise.mechanism import Answer, Answers, Mechanism, calibrate, hold
from leastnoise.noise import DiscreteUniform, Noise, Steps, Uniform
from leastnoise.privacy import Privacy
from leastnoise.profiles import Profile
from leastnoise.rearrangement import Rearrangement, rearrange, symmetrised

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Answers",
    "Certificate",
    "Cost",
    "DiscreteUniform",
    "Mechanism",
    "Noise",
    "Privacy",
    "Profile",
    "Rearrangement",
    "Steps",
    "Uniform",
    "calibrate",
    "hold",
    "l1",
    "l2",
    "lp",
    "points",
    "rearrange",
    "symmetrised",
    "threshold",
]
