"""``JointAnswers``: several released numbers with one sample of joint noise."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.accounting import Composable
from leastnoise.core.exact import (
    Number,
    parse_confidence,
    quote,
)
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.ledger import (
    Receipt,
    mark,
)
from leastnoise.mechanism.answer import Answer, format_errors, format_value
from leastnoise.mechanism.answer_text import record_facts, recorded_as, reused_lines
from leastnoise.rendering import sentences, table

if TYPE_CHECKING:
    from leastnoise.mechanism.joint import JointMechanism

_MOST_FACTS = 6


@Composable.register
@dataclass(frozen=True, slots=True)
class JointAnswers:
    """Several released numbers with one guarantee; immutable.

    It holds the noisy lattice points only. The true values are not stored in it.

    Attributes:
        answers: The answers, each with the errors of its own noise.
        mechanism: The mechanism that released them.
        receipt: The receipt of the ledger entry; None if unrecorded.
    """

    answers: tuple[Answer, ...]
    mechanism: "JointMechanism"
    receipt: Receipt | None = None

    @property
    def privacy(self) -> Privacy:
        """The guarantee of this release, for all numbers together."""
        return self.mechanism.privacy

    @property
    def composed_as(self) -> Privacy:
        """The part of a composition (:func:`leastnoise.compose`): the guarantee."""
        return self.privacy

    @property
    def value(self) -> tuple[Fraction, ...]:
        """The released numbers as exact fractions."""
        return tuple(answer.value for answer in self.answers)

    def intervals(self, confidence: Number = 0.95) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return an interval for each true value; the confidence is that all contain theirs.

        ``answers[i].interval()`` is for one number alone, and narrower.

        Args:
            confidence: The probability, above 0 and at most 1; 1 requires bounded noise.

        Raises:
            InvalidParameter: If ``confidence`` is out of range.
        """
        level = parse_confidence(confidence)
        widths = self.mechanism.half_box(level)
        if widths is None:
            raise InvalidParameter(
                parameter("confidence") + " must be below 1 for unbounded noise",
                got=quote(confidence),
                fix="Use for example 0.999.",
            )
        pairs = zip(self.value, widths, strict=True)
        return tuple((value - width, value + width) for value, width in pairs)

    def explain(self) -> str:
        """Return the printed answers and the meaning of their guarantee in plain words."""
        return f"{self}\n{self.mechanism.explain()}"

    def __getitem__(self, place: int) -> Answer:
        return self.answers[place]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def _figures(self) -> list[str]:
        shown = [
            f"{format_value(answer)} ± {format_errors(answer)[0]}"
            for answer in self.answers[:_MOST_FACTS]
        ]
        return [*shown, *(["…"] if len(self) > _MOST_FACTS else [])]

    def _repr_html_(self) -> str:
        facts = [
            ("Intervals", "95% confidence for each number alone"),
            ("Guarantee", f"{format_guarantee(self.privacy)} for all numbers together"),
            *record_facts(self.receipt),
        ]
        return table(mark(self.receipt) + ", ".join(self._figures()), facts)

    def __str__(self) -> str:
        lines = sentences(
            f"{mark(self.receipt)}release: {', '.join(self._figures())} (95% confidence each)",
            f"{format_guarantee(self.privacy)} for all {len(self)} numbers together; "
            f"{recorded_as(self.receipt)}",
        )
        return "\n".join([*lines, *reused_lines(self.receipt)])

    def __repr__(self) -> str:
        return f"{mark(self.receipt)}JointAnswers({len(self)} numbers, {self.privacy!r})"
