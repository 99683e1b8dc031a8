"""The tables, figures and claims of the paper, recomputed and compared.

GDGK19: Geng, Ding, Guo and Kumar, *Optimal Noise-Adding Mechanism in Additive Differential
Privacy*, AISTATS 2019.
"""

from leastnoise.deprecation import renamed_names
from leastnoise.paper.cited import (
    CitedMechanism,
    binomial_noise,
    cited_mechanisms,
    concentrated_noise,
    renyi_sigma,
    truncated_laplace_over_staircase,
    truncated_laplace_ratio,
    truncated_laplace_ratios,
)
from leastnoise.paper.claim_type import Claim
from leastnoise.paper.content_item import Item
from leastnoise.paper.contents import CONTENTS
from leastnoise.paper.float_noise import Algorithm1, FloatDistance, algorithm_1
from leastnoise.paper.numbers import comb
from leastnoise.paper.other_shapes import COUNTER_EXAMPLE, cheaper_noise
from leastnoise.paper.page import write
from leastnoise.paper.page_content import count_by_status
from leastnoise.paper.random_noise import p_alpha
from leastnoise.paper.rearrangement import Rearrangement, rearrange, symmetrize
from leastnoise.paper.statements import claim, claims

__all__ = [
    "CONTENTS",
    "COUNTER_EXAMPLE",
    "Algorithm1",
    "CitedMechanism",
    "Claim",
    "FloatDistance",
    "Item",
    "Rearrangement",
    "algorithm_1",
    "binomial_noise",
    "cheaper_noise",
    "cited_mechanisms",
    "claim",
    "claims",
    "comb",
    "concentrated_noise",
    "count_by_status",
    "p_alpha",
    "rearrange",
    "renyi_sigma",
    "symmetrize",
    "truncated_laplace_over_staircase",
    "truncated_laplace_ratio",
    "truncated_laplace_ratios",
    "write",
]

__getattr__ = renamed_names(__name__, {"symmetrised": "leastnoise.paper:symmetrize"})
