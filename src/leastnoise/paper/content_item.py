"""An entry of the contents of the paper, and the lines that its call needs."""

from dataclasses import dataclass
from typing import Literal

from leastnoise.paper.claim_type import Status


@dataclass(frozen=True)
class Item:
    """A definition, equation, statement, table or figure of the paper, and its call.

    Attributes:
        place: The place in the paper, with the number that the paper prints.
        statement: The statement, in the words of these pages.
        call: A Python expression, after the lines of :data:`IMPORTS`.
        result: The ``repr`` of its value.
        status: "definition", or the status of the claims.
        page: The page with the proof, the erratum or more on the subject, from docs/theory and
            without ".md"; "" if there is none.
        claims: The places of the claims that ``paper.claims()`` recomputes for it.
    """

    place: str
    statement: str
    call: str
    result: str
    status: Status | Literal["definition"]
    page: str = ""
    claims: tuple[str, ...] = ()


# The lines that the calls need.
IMPORTS = (
    "from fractions import Fraction",
    "import leastnoise as ln",
    "from leastnoise import paper",
    "from leastnoise.tables import census",
)
