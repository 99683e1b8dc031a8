"""The tables, figures and claims of the paper, recomputed and compared.

GDGK19: Geng, Ding, Guo and Kumar, *Optimal Noise-Adding Mechanism in Additive Differential
Privacy*, AISTATS 2019.
"""

from leastnoise.deprecation import renamed_names
from leastnoise.paper.page import write
from leastnoise.paper.rearrangement import Rearrangement, rearrange, symmetrize
from leastnoise.paper.statements import Claim, claims

__all__ = [
    "Claim",
    "Rearrangement",
    "claims",
    "rearrange",
    "symmetrize",
    "write",
]

__getattr__ = renamed_names(__name__, {"symmetrised": "leastnoise.paper:symmetrize"})
