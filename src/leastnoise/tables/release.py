"""A release: plan queries, charge the ledger, run them, add noise and store the noisy numbers.

The guarantee depends on this order. No data is read before the ledger has charged, and the charge
stands even if a later step fails. The engine returns true integers, which only the function that
adds noise sees. The ledger stores the noisy numbers, and only those are returned.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from typing import Any, TypeVar, cast

from leastnoise.core.exact import format_ratio
from leastnoise.core.gaussian_cost import GaussianCost, total_cost
from leastnoise.core.privacy import Privacy
from leastnoise.core.tape import Tape
from leastnoise.errors import InvalidParameter
from leastnoise.json_types import Json
from leastnoise.ledger import (
    AllocatedPrivacy,
    Codec,
    Ledger,
    Receipt,
    Recording,
    Spending,
    Unrecorded,
    canonical,
    mark,
    read_index,
    reading_content,
)
from leastnoise.mechanism import AnyMechanism, check_allow_exact
from leastnoise.tables.add_noise import (
    NoisyResult,
    Numbers,
    add_all_noise,
    find_leader,
    show_above,
)
from leastnoise.tables.answers import GroupedAnswers, Statement, Subject, TableAnswer
from leastnoise.tables.budget import allocate
from leastnoise.tables.execute import Batch, compile_batches, run
from leastnoise.tables.joint_blocks import find_joint_blocks
from leastnoise.tables.joint_noise import count_releases
from leastnoise.tables.keys import keys_from_json, keys_to_json
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.queries.planned_query import PlannedQuery, TableUnit
from leastnoise.tables.queries.query import Query
from leastnoise.tables.released_number import divide_by_weights, find_distinct
from leastnoise.tables.sources import Source

Ask = TypeVar("Ask", bound=Callable[..., Any])
TableResult = TableAnswer | GroupedAnswers[TableAnswer]

_SEEDED = "The noise is seeded, for tests: whoever knows the seed can compute the true values."


@dataclass(frozen=True, repr=False)
class PreparedRelease:
    """Queries with their plans, noise and total guarantee, before any data is read.

    Attributes:
        source: The table.
        unit: The privacy unit.
        queries: The planned queries, each with its numbers and their mechanisms.
        places: For each query, the places of its numbers in the list of distinct numbers. Each
            distinct number is released once, so equal places are one number.
        together: The total guarantee.
        batches: The queries that the engine runs.
        with_earlier: The total guarantee together with a release that was made for this one, as the
            count of rows before a mean; None if there is none.
    """

    source: Source
    unit: TableUnit
    queries: tuple[tuple[PlannedQuery, Numbers], ...]
    places: tuple[tuple[int, ...], ...]
    together: Privacy
    batches: tuple[Batch, ...]
    with_earlier: Privacy | None = None

    def __repr__(self) -> str:
        return f"PreparedRelease({self.title})"

    @property
    def title(self) -> str:
        """The titles of the queries."""
        titles = "; ".join(planned.query.title for planned, _ in self.queries)
        return "".join(sign if sign.isprintable() else "?" for sign in titles)

    @property
    def mechanisms(self) -> list[AnyMechanism]:
        """The mechanisms of all numbers, in order."""
        return [mechanism for _, numbers in self.queries for _, mechanism in numbers]

    @property
    def words(self) -> Json:
        """The queries as JSON, all of it public. Ledgers store it: it must never change."""
        every = [place for places in self.places for place in places]
        shared = {"numbers": [list(places) for places in self.places]}
        return {
            "answer": "tables",
            **self.source.words,
            "unit": self.unit.column,
            "max_rows": self.max_rows,
            "neighbours": self.unit.neighbors,
            "questions": [self._describe(planned.query) for planned, _ in self.queries],
            "noise": [
                [mechanism.spending().mechanisms.popitem()[0] for _, mechanism in numbers]
                for _, numbers in self.queries
            ],
            **(shared if len(set(every)) < len(every) else {}),
            **({} if self.leader is None else {"groups_of": self.leader}),
        }

    @property
    def leader(self) -> int | None:
        """The place of the query that discovers groups for later ones; None if there is none."""
        return find_leader([planned for planned, _ in self.queries])

    @property
    def max_rows(self) -> int | None:
        """The largest ``max_rows`` of the queries, of their own or of the table."""
        each = (planned.query.find_max_rows(self.unit.max_rows) for planned, _ in self.queries)
        return max((rows for rows in each if rows is not None), default=self.unit.max_rows)

    def _describe(self, query: Query) -> Json:
        """Return a query as JSON, with its ``max_rows`` only if that is not the common one.

        So these words do not depend on whether a query or its table states them.
        """
        words = {name: word for name, word in query.to_dict().items() if name != "max_rows"}
        rows = query.find_max_rows(self.unit.max_rows)
        return words if rows == self.max_rows else words | {"max_rows": rows}

    @property
    def key(self) -> str:
        """The default key of the queries in a ledger."""
        promise = [format_ratio(self.together.epsilon), format_ratio(self.together.delta)]
        words = canonical({"asked": self.words, "promise": promise})
        return f"{self.title[:80]} #{hashlib.sha256(words.encode()).hexdigest()[:24]}"

    def spending(self) -> Spending:
        """Return the spending that a ledger charges."""
        mechanisms = {
            digest: description
            for mechanism in self.mechanisms
            for digest, description in mechanism.spending().mechanisms.items()
        }
        words, former = self.words, self.source.former_words
        unversioned = {name: word for name, word in words.items() if name != "version"}
        formerly = None if former is None else unversioned | former
        if (
            self.source.card is not None
        ):  # apart from the query: another card does not make another query
            words = {**words, "card": self.source.card}
        return Spending(self.together, mechanisms, words, formerly, lambda: (self.cost,))

    @property
    def cost(self) -> GaussianCost:
        """The cost in an allocation: the requested share, otherwise the cost of the noise."""
        if isinstance(self.together, AllocatedPrivacy):
            return self.together.cost
        return self.gaussian_cost

    @property
    def gaussian_cost(self) -> GaussianCost:
        """The sum of the costs of all distinct numbers over the releases that one unit changes."""
        distinct = {
            place: pair
            for (_, numbers), places in zip(self.queries, self.places, strict=True)
            for pair, place in zip(numbers, places, strict=True)
        }
        parts = count_releases(distinct.values())
        return total_cost(noise.gaussian_cost * times for noise, times in parts)


def reported(ask: Ask) -> Ask:
    """Make a method emit an event when it is called, and another one after an error."""

    @wraps(ask)
    def report(self: Any, queries: object, **options: Any) -> Any:
        listed = queries if isinstance(queries, tuple | list) else ()
        titles = [query.title for query in listed if isinstance(query, Query)]
        key = options.get("key")
        recording = Recording(self.ledger, None, fresh=False)
        request = replace(
            recording.make_request("; ".join(titles) or "no query"),
            key=key if isinstance(key, str) else None,
        )
        request.ask()
        try:
            return ask(self, queries, **options)
        except BaseException as error:  # noqa: BLE001 -- raised again below
            failure = error
        request.refuse(failure)  # now that the error is no longer handled
        try:
            raise failure
        finally:
            del failure

    return cast(Ask, report)


def prepare(
    queries: Sequence[Query],
    source: Source,
    unit: TableUnit,
    privacy: Privacy,
    weights: Sequence[Fraction] | None = None,
) -> PreparedRelease:
    """Check queries, plan them and find their noise, without reading data.

    ``privacy`` is divided evenly among all distinct numbers, or among the queries by ``weights``.
    """
    plans = [plan_query(query, source, unit) for query in queries]
    if not plans:
        raise InvalidParameter(
            "queries must not be empty", got="no query", fix="Write, for example, [Count()]."
        )
    distinct, places = find_distinct([(plan.numbers, plan.identities) for plan in plans])
    parts = None if weights is None else divide_by_weights(weights, places)
    mechanisms, together = allocate(
        privacy, distinct, parts, blocks=find_joint_blocks(plans, places)
    )
    noisy = tuple(
        (
            plan,
            tuple((number, mechanisms[at]) for number, at in zip(plan.numbers, own, strict=True)),
        )
        for plan, own in zip(plans, places, strict=True)
    )
    batches = compile_batches(source, plans)
    for plan, numbers in noisy:
        if plan.query.discovered:
            show_above(plan, numbers)  # rejects unbounded noise before anything is charged
    return PreparedRelease(source, unit, noisy, tuple(places), together, batches)


def release(
    prepared: PreparedRelease,
    ledger: Ledger | Unrecorded,
    *,
    key: str | None = None,
    fresh: bool = False,
    allow_exact: bool = False,
    adaptive: bool = False,
) -> list[TableResult]:
    """Charge the ledger, run the queries, add noise and store; return the answers in order.

    ``adaptive`` means that the guarantee follows from earlier answers, so events omit it.
    """
    check_allow_exact(
        allow_exact,
        needed=any(mechanism.needs_allow_exact for mechanism in prepared.mechanisms),
        what="exact values",
        got="something else",
        refusal=lambda: (
            "With some probability this noise adds nothing, and exact values are released"
        ),
    )
    prepared.source.check_process()
    if key is None and isinstance(ledger, Ledger):
        key = prepared.key

    def draw(tape: Tape | None = None) -> list[NoisyResult]:
        results = run(prepared.source, prepared.batches)
        return add_all_noise(results, prepared.queries, prepared.places, tape)

    results, receipt = Recording(ledger, key, fresh, adaptive).release(
        prepared.spending, draw, _STORED, prepared.title
    )
    if receipt is None or not receipt.reused:
        return _make_all_answers(prepared, results, receipt)
    with reading_content(receipt.head.seq):  # content of a ledger can be malformed
        return _make_all_answers(prepared, results, receipt)


def _make_all_answers(
    prepared: PreparedRelease, results: list[NoisyResult], receipt: Receipt | None
) -> list[TableResult]:
    return [
        _make_answers(prepared, planned, numbers, noisy, receipt)
        for (planned, numbers), noisy in zip(prepared.queries, results, strict=True)
    ]


def _make_statement(
    prepared: PreparedRelease, planned: PlannedQuery, numbers: Numbers, receipt: Receipt | None
) -> Statement:
    """Return the statement that the answers of a query share."""
    query, rows = planned.query, planned.rows
    groups = query.contribution(rows.unit).touched
    subject = query.subject(rows, find_threshold(prepared, planned, numbers))
    if query.discovered and len(count_releases(numbers)) < len(numbers):
        subject = replace(subject, selected=True)  # joint noise: that of the count is in all errors
    if query.follows and prepared.leader is not None:
        # A count of the same rows is that of the leader.
        decides = prepared.queries[prepared.leader][1][0][1]
        subject = replace(subject, selected=subject.selected and numbers[0][1] is decides)
    return Statement(
        subject=_mark(subject, receipt),
        privacy=_compute_share(prepared, numbers, groups),
        total_privacy=prepared.with_earlier or prepared.together,
        receipt=receipt,
    )


def find_threshold(
    prepared: PreparedRelease, planned: PlannedQuery, numbers: Numbers
) -> int | None:
    """Return the largest noisy count of a hidden group; None if no group is hidden."""
    if planned.query.follows and prepared.leader is not None:
        return show_above(*prepared.queries[prepared.leader])
    return show_above(planned, numbers) if planned.query.discovered else None


def _mark(subject: Subject, receipt: Receipt | None) -> Subject:
    """Return the subject, with a note if the noise is seeded."""
    if receipt is None or not receipt.not_private:
        return subject
    title, notes = mark(receipt) + subject.title, (_SEEDED, *subject.notes)
    return replace(subject, title=title, notes=notes)


def _compute_share(prepared: PreparedRelease, numbers: Numbers, groups: int = 1) -> Privacy:
    """Return the guarantee of the numbers of one query, for one unit.

    If a unit can change the numbers of ``groups`` groups, it is the guarantee of one group's
    numbers. It is computed by basic composition, and is never larger than the total guarantee.
    """
    total = prepared.together
    if groups == 1 and len(prepared.queries) == 1:
        return total
    parts = [(noise.privacy, times // groups) for noise, times in count_releases(numbers)]
    epsilon = sum((times * part.epsilon for part, times in parts), Fraction(0))
    delta = sum((times * part.delta for part, times in parts), Fraction(0))
    return total if epsilon > total.epsilon or delta > total.delta else Privacy(epsilon, delta)


def _make_answers(
    prepared: PreparedRelease,
    planned: PlannedQuery,
    numbers: Numbers,
    noisy: NoisyResult,
    receipt: Receipt | None,
) -> TableResult:
    query = planned.query
    statement = _make_statement(prepared, planned, numbers, receipt)
    answers = query.answers(noisy.numbers, [mechanism for _, mechanism in numbers], statement)
    if not query.key_columns:
        return answers[0]
    return GroupedAnswers(
        names=query.key_columns,
        keys=query.name_keys(noisy.keys),
        answers=tuple(answers),
        title=mark(receipt) + query.title,
        privacy=_compute_share(prepared, numbers),
        receipt=receipt,
        in_order=query.keys_in_order,
        discovered=query.discovered or query.follows,
        together=statement.total_privacy,
        about=statement.subject,
    )


def _to_json(results: list[NoisyResult]) -> tuple[dict[str, Any], bytes]:
    data = [
        {
            "keys": keys_to_json(result.keys),
            "numbers": [[f"{number:x}" for number in numbers] for numbers in result.numbers],
        }
        for result in results
    ]
    return {"tables": len(results)}, json.dumps(data, ensure_ascii=False).encode()


def _from_json(_: dict[str, Any], payload: bytes) -> list[NoisyResult]:
    return [
        NoisyResult(
            keys_from_json(result["keys"]),
            tuple(tuple(read_index(number) for number in numbers) for numbers in result["numbers"]),
        )
        for result in json.loads(payload)
    ]


_STORED: Codec[list[NoisyResult]] = Codec(_to_json, _from_json)
