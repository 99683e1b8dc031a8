"""``ReleasedValue``: what every single answer has as a Python number and as JSON."""

import json
from collections.abc import Sequence
from fractions import Fraction

from leastnoise.core.exact import as_float, format_ratio
from leastnoise.core.privacy import Privacy
from leastnoise.json_types import Json
from leastnoise.ledger import Receipt, privacy_to_json
from leastnoise.mechanism.figures import USUAL, Figure

# The name and the version of the JSON of answers. A change of a field is a new version.
FORMAT, VERSION = "leastnoise answer", 1


class ReleasedValue:
    """The parent class of answers that are one number.

    Python's functions for numbers work on ``value``, without its errors:

    * ``float(answer)`` is the nearest float.
    * ``int(answer)`` truncates towards 0, as it does for a float; counts are integers.
    * ``round(answer)`` is an integer. ``round(answer, 2)`` rounds the exact value, ties to even; it
      is a float, or an integer if the answer is always one.
    * ``f"{answer:,.2f}"`` formats the float, or the integer if the answer is always one. Without a
      format, ``f"{answer}"`` is ``str(answer)``, with errors and guarantee.

    >>> import leastnoise as ln
    >>> mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, integer=True)
    >>> answer = mechanism.release(1234)
    >>> int(answer) == answer.value, f"{answer:,}" == f"{int(answer):,}"
    (True, True)
    """

    __slots__ = ()

    @property
    def value(self) -> Fraction:
        """The released value."""
        raise NotImplementedError

    @property
    def _is_integer(self) -> bool:
        """Whether ``value`` is an integer whatever the noise is."""
        raise NotImplementedError

    def to_dict(self) -> Json:
        """Return the answer as JSON (docs/answers.md): numbers, and their exact ratios."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return the answer as a JSON text of one line; :meth:`to_dict` has its fields."""
        return json_text(self.to_dict())

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return as_float(self.value)

    def __round__(self, ndigits: int | None = None) -> int | float:
        if ndigits is None:
            return round(self.value)
        rounded = round(self.value, ndigits)
        return int(rounded) if self._is_integer else as_float(rounded)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return format(int(self) if self._is_integer else float(self), spec)


def json_text(document: Json) -> str:
    """Return JSON as a text of one line."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def document_head(
    *,
    title: str,
    by: Sequence[str] = (),
    columns: Sequence[Figure],
    interval: Fraction | None = USUAL,
    privacy: Privacy,
    total_privacy: Json | None = None,
    subject: Json | None = None,
    receipt: Receipt | None,
) -> Json:
    """Return the fields with which the JSON of answers begins, without their figures.

    Args:
        title: The query in a few words.
        by: The columns to group by. Default: none.
        columns: The columns of the figures.
        interval: The confidence of the columns ``low`` and ``high``; None without them. Default:
            95%.
        privacy: The guarantee of the answers.
        total_privacy: The guarantee of everything that was released together, as JSON. Default:
            ``privacy``.
        subject: The quantity that the answers are about. Default: unknown.
        receipt: The ledger's receipt, or None.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": title,
        "by": list(by),
        "confidence": "0.95",
        "confidence_of": [column.name for column in columns if column.confident],
        "interval_confidence": None if interval is None else format_ratio(interval),
        "privacy": privacy_to_json(privacy),
        "total_privacy": privacy_to_json(privacy) if total_privacy is None else total_privacy,
        "subject": subject,
        "recorded": None if receipt is None else {"key": receipt.key, "at": receipt.at},
        "reused": receipt.at if receipt is not None and receipt.reused else None,
        "not_private": receipt is not None and receipt.not_private,
    }
