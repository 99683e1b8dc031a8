"""A release: queries are built, charged, asked, answered with noise and stored.

The order is the guarantee. Nothing is read of the data until the ledger has charged; from then on
the charge stands, whatever happens. The engine returns integers, noise is added, the ledger stores
the noisy numbers, and only those are returned.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from leastnoise.core.exact import format_ratio
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import (
    Codec,
    Ledger,
    Receipt,
    Recording,
    Spending,
    Unrecorded,
    canonical,
    read_index,
    reading_content,
)
from leastnoise.mechanism import AnyMechanism, check_allow_exact
from leastnoise.tables.add_noise import NoisyResult, Numbers, add_all_noise, show_above
from leastnoise.tables.answers import GroupedAnswers, Statement, TableAnswer
from leastnoise.tables.budget import allocate, find_distinct
from leastnoise.tables.execute import Batch, compile_batches, run
from leastnoise.tables.keys import keys_from_json, keys_to_json
from leastnoise.tables.queries.planned_query import PlannedQuery, Unit
from leastnoise.tables.queries.query import Query, plan_query
from leastnoise.tables.sources import Source

TableResult = TableAnswer | GroupedAnswers[TableAnswer]


@dataclass(frozen=True, repr=False)
class PreparedRelease:
    """Queries with their plans, noise and total guarantee: all but the data.

    Attributes:
        source: The table.
        unit: The privacy unit.
        queries: The planned queries, each with its numbers and their mechanisms.
        places: For each query the places of its numbers among the distinct ones, which are released
            once each: equal places are one number.
        together: The total guarantee.
        batches: What the engine is asked.
    """

    source: Source
    unit: Unit
    queries: tuple[tuple[PlannedQuery, Numbers], ...]
    places: tuple[tuple[int, ...], ...]
    together: Privacy
    batches: tuple[Batch, ...]

    def __repr__(self) -> str:
        return f"PreparedRelease({self._titles})"

    @property
    def _titles(self) -> str:
        titles = "; ".join(planned.query.title for planned, _ in self.queries)
        return "".join(sign if sign.isprintable() else "?" for sign in titles)

    @property
    def mechanisms(self) -> list[AnyMechanism]:
        """The mechanisms of all numbers, in order."""
        return [mechanism for _, numbers in self.queries for _, mechanism in numbers]

    @property
    def words(self) -> dict[str, Any]:
        """What is asked, as JSON, all of it public. Stored in ledgers: it must never change."""
        every = [place for places in self.places for place in places]
        shared = {"numbers": [list(one) for one in self.places]}
        return {
            "answer": "tables",
            **self.source.words,
            "unit": self.unit.column,
            "max_rows": self.unit.max_rows,
            "neighbours": self.unit.neighbors,
            "questions": [planned.query.to_dict() for planned, _ in self.queries],
            "noise": [
                [mechanism.spending().mechanisms.popitem()[0] for _, mechanism in numbers]
                for _, numbers in self.queries
            ],
            **(shared if len(set(every)) < len(every) else {}),
        }

    @property
    def key(self) -> str:
        """The default key of the queries in a ledger."""
        promise = [format_ratio(self.together.epsilon), format_ratio(self.together.delta)]
        words = canonical({"asked": self.words, "promise": promise})
        return f"{self._titles[:80]} #{hashlib.sha256(words.encode()).hexdigest()[:24]}"

    def spending(self) -> Spending:
        """Return what a ledger is to charge."""
        mechanisms = {
            digest: found
            for one in self.mechanisms
            for digest, found in one.spending().mechanisms.items()
        }
        words, former = self.words, self.source.former_words
        unversioned = {name: word for name, word in words.items() if name != "version"}
        formerly = None if former is None else unversioned | former
        return Spending(self.together, mechanisms, words, formerly)


def prepare(
    queries: Sequence[Query], source: Source, unit: Unit, privacy: Privacy
) -> PreparedRelease:
    """Check queries, plan them and find their noise; read no data."""
    planned = [plan_query(query, source, unit) for query in queries]
    if not planned:
        raise InvalidParameter(
            "queries must not be empty", got="no query", fix="Write for instance [Count()]."
        )
    distinct, places = find_distinct([(one.numbers, one.identities) for one in planned])
    mechanisms, together = allocate(privacy, distinct)
    noisy = tuple(
        (one, tuple((number, mechanisms[at]) for number, at in zip(one.numbers, own, strict=True)))
        for one, own in zip(planned, places, strict=True)
    )
    batches = compile_batches(source, planned)
    for one, numbers in noisy:
        if one.query.discovered:
            show_above(one, numbers)  # rejects unbounded noise before anything is charged
    return PreparedRelease(source, unit, noisy, tuple(places), together, batches)


def release(
    prepared: PreparedRelease,
    ledger: Ledger | Unrecorded,
    *,
    key: str | None = None,
    fresh: bool = False,
    allow_exact: bool = False,
) -> list[TableResult]:
    """Charge, ask, add noise and store; return the answers in order."""
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

    def draw() -> list[NoisyResult]:
        results = run(prepared.source, prepared.batches)
        return add_all_noise(results, prepared.queries, prepared.places)

    results, receipt = Recording(ledger, key, fresh).release(prepared.spending, draw, _STORED)
    if receipt is None or not receipt.reused:
        return _answers(prepared, results, receipt)
    with reading_content(receipt.head.seq):  # it comes from a ledger, where it can be malformed
        return _answers(prepared, results, receipt)


def _answers(
    prepared: PreparedRelease, results: list[NoisyResult], receipt: Receipt | None
) -> list[TableResult]:
    return [
        _answer(prepared, planned, numbers, noisy, receipt)
        for (planned, numbers), noisy in zip(prepared.queries, results, strict=True)
    ]


def _statement(
    prepared: PreparedRelease, planned: PlannedQuery, numbers: Numbers, receipt: Receipt | None
) -> Statement:
    """Return what the answers of a query state: subject, own share, total guarantee, receipt."""
    query, rows = planned.query, planned.rows
    groups = query.contribution(rows.unit).touched
    return Statement(
        subject=query.subject(rows, show_above(planned, numbers) if query.discovered else None),
        privacy=_share(prepared, numbers, groups),
        total_privacy=prepared.together,
        receipt=receipt,
    )


def _share(prepared: PreparedRelease, numbers: Numbers, groups: int = 1) -> Privacy:
    """Return a guarantee of the numbers of one query, for one unit: its share of the total.

    With ``groups``, in how many groups a unit counts, it is that of the numbers of one group.
    By basic composition; the total guarantee where that is smaller, or there is nothing else.
    """
    total = prepared.together
    if groups == 1 and len(prepared.queries) == 1:
        return total
    parts = [(made.privacy, number.touched // groups) for number, made in numbers]
    epsilon = sum((times * part.epsilon for part, times in parts), Fraction(0))
    delta = sum((times * part.delta for part, times in parts), Fraction(0))
    return total if epsilon > total.epsilon or delta > total.delta else Privacy(epsilon, delta)


def _answer(
    prepared: PreparedRelease,
    planned: PlannedQuery,
    numbers: Numbers,
    noisy: NoisyResult,
    receipt: Receipt | None,
) -> TableResult:
    query = planned.query
    statement = _statement(prepared, planned, numbers, receipt)
    answers = query.answers(noisy.numbers, [made for _, made in numbers], statement)
    if not query.key_columns:
        return answers[0]
    return GroupedAnswers(
        names=query.key_columns,
        keys=query.name_keys(noisy.keys),
        answers=tuple(answers),
        title=query.title,
        privacy=_share(prepared, numbers),
        receipt=receipt,
        in_order=query.keys_in_order,
        discovered=query.discovered,
        together=prepared.together,
        about=statement.subject,
    )


def _to_json(results: list[NoisyResult]) -> tuple[dict[str, Any], bytes]:
    data = [
        {
            "keys": keys_to_json(one.keys),
            "numbers": [[f"{number:x}" for number in numbers] for numbers in one.numbers],
        }
        for one in results
    ]
    return {"tables": len(results)}, json.dumps(data, ensure_ascii=False).encode()


def _from_json(_: dict[str, Any], payload: bytes) -> list[NoisyResult]:
    return [
        NoisyResult(
            keys_from_json(one["keys"]),
            tuple(tuple(read_index(number) for number in numbers) for numbers in one["numbers"]),
        )
        for one in json.loads(payload)
    ]


_STORED: Codec[list[NoisyResult]] = Codec(_to_json, _from_json)
