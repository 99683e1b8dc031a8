"""The paper as a program: its tables, figures and claims, recomputed, drawn and compared.

GDGK19: Geng, Ding, Guo and Kumar, *Optimal Noise-Adding Mechanism in Additive Differential
Privacy*, AISTATS 2019.
"""

from leastnoise.paper.page import write
from leastnoise.paper.rearrangement import Rearrangement, rearrange, symmetrised
from leastnoise.paper.statements import Claim, claims

__all__ = [
    "Claim",
    "Rearrangement",
    "claims",
    "rearrange",
    "symmetrised",
    "write",
]
