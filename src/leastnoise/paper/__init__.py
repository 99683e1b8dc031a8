"""The paper as a program: its tables, figures and claims, recomputed, drawn and compared.

GDGK19: Geng, Ding, Guo and Kumar, *Optimal Noise-Adding Mechanism in Additive Differential
Privacy*, AISTATS 2019.
"""

from leastnoise.paper.claims import Claim, claims
from leastnoise.paper.page import write

__all__ = ["Claim", "claims", "write"]
