"""A claim of the paper, with its status and evidence, and the words that claims share."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from leastnoise.core.exact import format_rounded
from leastnoise.paper.random_checks import SearchResult

Status = Literal["holds", "holds with a correction", "false"]


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, recomputed.

    Attributes:
        where: The place in the paper.
        claimed: The claim.
        recomputed: The recomputed result.
        status: "holds", "holds with a correction" or "false".
        evidence: "computed", "no counterexample in N", or "proved" with the page of the proof; the
            last two together where both apply.
        remark: The correction, or another remark, if there is one.
    """

    where: str
    claimed: str
    recomputed: str
    status: Status
    evidence: str = "computed"
    remark: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the claim holds, with or without a correction."""
        return self.status != "false"


def decide(agrees: bool, *, corrected: bool = False) -> Status:
    """Return the status of a claim."""
    if not agrees:
        return "false"
    return "holds with a correction" if corrected else "holds"


def cite_proof(page: str, result: SearchResult) -> str:
    """Return the evidence of a claim with a proof that was checked on many inputs too."""
    return f"proved: docs/theory/{page}.md; {result}"


def cite_computed_proof(page: str) -> str:
    """Return the evidence of a claim with a proof that was computed too."""
    return f"proved: docs/theory/{page}.md; computed"


def is_close(number: Fraction, claimed: Fraction | int) -> bool:
    """Return whether a limit is met within a thousandth, at δ = 10⁻⁶."""
    return abs(number - claimed) <= claimed * Fraction(1, 1000)


def show(number: Fraction, digits: int = 6) -> str:
    """Return a number with ``digits`` significant digits."""
    return format_rounded(number, digits)
