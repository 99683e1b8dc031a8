"""Release a number, an array or a column by a mechanism, recorded or not."""

from functools import partial
from typing import TYPE_CHECKING, Any

from leastnoise.core.basic_composition import compose_equal
from leastnoise.core.exact import parse_count, quote
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Json, Recording
from leastnoise.mechanism.answer import Answer, Answers
from leastnoise.mechanism.columns import SeriesKind, is_array, series_kind, to_array
from leastnoise.mechanism.revealing import check_allow_exact, exact_release_problem
from leastnoise.mechanism.storage import ARRAY, NUMBER

if TYPE_CHECKING:
    from leastnoise.mechanism.mechanism import Mechanism


def release_value(
    mechanism: "Mechanism", value: object, contributions: int, recording: Recording
) -> Answer | Answers:
    """Release a number, an array or a column, recorded or not."""
    if type(value) is not float and type(value) is not int:  # a quick test for plain numbers
        array = is_array(value)
        kind = None if array else series_kind(value, integer=mechanism.integer)
        if array or kind is not None:
            return _release_each(mechanism, value, kind, contributions, recording)
    if type(contributions) is not int or contributions != 1:
        _reject_contributions(contributions)
    draw = mechanism.releaser.prepare(value)
    index, receipt = recording.release(mechanism.spending, draw, NUMBER)
    return Answer(index, mechanism, receipt)


def check_consent(mechanism: "Mechanism", allow_exact: object) -> None:
    """Reject a release that can be exact, unless the caller has accepted that."""
    check_allow_exact(
        allow_exact,
        needed=mechanism.needs_allow_exact,
        what="the exact value",
        refusal=partial(exact_release_problem, mechanism),
    )


def _release_each(
    mechanism: "Mechanism",
    values: Any,
    kind: SeriesKind | None,
    contributions: int,
    recording: Recording,
) -> Answers:
    count = parse_count(contributions, "contributions", least=1)
    privacy = compose_equal(mechanism.privacy, count)
    if kind is None:
        draw, shape = mechanism.releaser.prepare_array(values), list(values.shape)
    else:
        draw = mechanism.releaser.prepare_array(to_array(values, kind), "A column")
        shape = [len(values)]
    query: Json = {"answer": "many", "shape": shape, "touches": count}
    spending = partial(mechanism.spending, query, privacy, count)
    released, receipt = recording.release(spending, draw, ARRAY)
    return Answers(released, mechanism, privacy, kind, receipt)


def _reject_contributions(contributions: object) -> None:
    if parse_count(contributions, "contributions", least=1) > 1:
        raise InvalidParameter(
            "contributions must be 1 for a single value",
            got=quote(contributions),
            fix="Omit it, or release an array.",
        )
