"""A question is priced, charged, asked, answered with noise and stored.

From questions to answers: everything is checked and priced, then charged, then asked.

The order is the guarantee. Until the ledger has charged, nothing has been read of the data; from
then on the charge stands, whatever happens. The engine returns whole numbers, noise is added, the
ledger stores what came of it, and only that leaves.

How answers from tables are kept in a ledger: keys and whole numbers, as JSON.

What would be asked, and what it would cost: without touching the data.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from leastnoise.core.exact import format_exact, format_ratio
from leastnoise.core.privacy import Privacy
from leastnoise.errors import ALLOW_EXACT, InvalidParameter
from leastnoise.ledger import Form, Ledger, Place, Receipt, Spending, Unrecorded, canonical
from leastnoise.mechanism import Answer, Mechanism
from leastnoise.tables.add_noise import Released, released, threshold
from leastnoise.tables.answers import GroupedAnswers, MeanAnswer, QuantileAnswer
from leastnoise.tables.bounding import REPLACE
from leastnoise.tables.budget import Shared, shared
from leastnoise.tables.execute import Joint, compiled
from leastnoise.tables.execute import found as figures_found
from leastnoise.tables.keys import Key, keys_of, keys_written
from leastnoise.tables.query import Prepared, Unit, prepared
from leastnoise.tables.questions import Histogram, Mean, Quantile, Question
from leastnoise.tables.sources import Source

One = Answer | MeanAnswer | QuantileAnswer
Result = One | GroupedAnswers


@dataclass(frozen=True, repr=False)
class Priced:
    """Questions with their queries and their noise: all but the data.

    Attributes:
        source: The table.
        unit: Whom the promise is for.
        asked: The questions.
        noise: The mechanisms of all kinds of all questions, in order.
        joints: The queries.
    """

    source: Source
    unit: Unit
    asked: tuple[Prepared, ...]
    noise: Shared
    joints: tuple[Joint, ...]

    def __repr__(self) -> str:
        """Say what is asked."""
        return f"Priced({self._titles})"

    @property
    def _titles(self) -> str:
        titles = "; ".join(one.question.title for one in self.asked)
        return "".join(sign if sign.isprintable() else "?" for sign in titles)

    def mechanisms(self, place: int) -> tuple[Mechanism, ...]:
        """Return what releases the numbers of one question."""
        before = sum(len(one.kinds) for one in self.asked[:place])
        return self.noise.mechanisms[before : before + len(self.asked[place].kinds)]

    @property
    def words(self) -> dict[str, Any]:
        """What is asked, for JSON: all of it public."""
        return {
            "answer": "tables",
            "of": self.source.name,
            "table": self.source.identity,
            "unit": self.unit.column,
            "max_rows": self.unit.rows,
            "neighbours": self.unit.neighbours,
            "questions": [one.question.to_dict() for one in self.asked],
            "noise": [
                [mechanism.spending().mechanisms.popitem()[0] for mechanism in self.mechanisms(at)]
                for at in range(len(self.asked))
            ],
        }

    @property
    def key(self) -> str:
        """What the questions are called in a ledger if they are given no name."""
        privacy = self.noise.together
        promise = [format_ratio(privacy.epsilon), format_ratio(privacy.delta)]
        words = canonical({"asked": self.words, "promise": promise})
        return f"{self._titles[:80]} #{hashlib.sha256(words.encode()).hexdigest()[:24]}"

    def spending(self) -> Spending:
        """Return what a ledger is to charge."""
        mechanisms = {
            digest: found
            for one in self.noise.mechanisms
            for digest, found in one.spending().mechanisms.items()
        }
        return Spending(self.noise.together, mechanisms, self.words)


def priced(questions: Sequence[Question], source: Source, unit: Unit, privacy: Privacy) -> Priced:
    """Check questions, build their queries and find their noise; touch no data."""
    asked = tuple(prepared(question, source, unit) for question in questions)
    if not asked:
        raise InvalidParameter(
            "there must be at least one question; got none. Give for instance [Count()]."
        )
    noise = shared(privacy, [kind for one in asked for kind in one.kinds])
    found = Priced(source, unit, asked, noise, compiled(source, asked))
    for place, one in enumerate(asked):
        if one.discovered:
            threshold(one, found.mechanisms(place))
    return found


def answered(
    found: Priced,
    ledger: Ledger | Unrecorded,
    *,
    key: str | None = None,
    fresh: bool = False,
    allow_exact: bool = False,
) -> list[Result]:
    """Charge, ask, add noise, store: and return what may be published, in order."""
    _allow(found.noise.mechanisms, allow_exact)
    found.source.check_process()
    if key is None and isinstance(ledger, Ledger):
        key = found.key
    place = Place(ledger, key, fresh)

    def release() -> list[Released]:
        figures = figures_found(found.source, found.asked, found.joints)
        return [
            released(rows, one, found.mechanisms(at))
            for at, (rows, one) in enumerate(zip(figures, found.asked, strict=True))
        ]

    numbers, receipt = place.released(found.spending, release, TABLES)
    return [
        _answer(one, drawn, found.mechanisms(at), found.noise.together, receipt)
        for at, (one, drawn) in enumerate(zip(found.asked, numbers, strict=True))
    ]


def _allow(mechanisms: Sequence[Mechanism], allow_exact: object) -> None:
    """Refuse noise that gives exact values away, unless that was allowed."""
    if not isinstance(allow_exact, bool):
        raise InvalidParameter(
            "allow_exact must be True or False; got something else. "
            "Say whether exact values may leave."
        )
    if not allow_exact and any(mechanism.needs_allowance for mechanism in mechanisms):
        raise InvalidParameter(
            "the noise for this promise gives exact values away with some probability",
            fix="Pass " + ALLOW_EXACT + " to accept that, or promise a smaller ε or δ.",
        )


def _answer(
    asked: Prepared,
    drawn: Released,
    mechanisms: Sequence[Mechanism],
    privacy: Privacy,
    receipt: Receipt | None,
) -> Result:
    made = _making(asked, mechanisms, privacy, receipt)
    answers = tuple([made(*numbers) for numbers in drawn.numbers])
    if not asked.by:
        return answers[0]
    return GroupedAnswers(
        names=asked.by,
        keys=_named(drawn.keys, asked.question),
        answers=answers,
        title=asked.question.title,
        privacy=privacy,
        receipt=receipt,
        in_order=not isinstance(asked.question, Histogram),
        discovered=asked.discovered,
    )


def _making(
    asked: Prepared,
    mechanisms: Sequence[Mechanism],
    privacy: Privacy,
    receipt: Receipt | None,
) -> Callable[..., One]:
    """Return what makes an answer of a group's numbers; what all have in common is made once."""
    question, lattice, last = asked.question, asked.lattice, mechanisms[-1]
    if lattice is None or not isinstance(question, Mean | Quantile):
        return lambda *numbers: Answer(numbers[-1], last, receipt)
    bounds = lattice.low * lattice.step, lattice.high * lattice.step
    if isinstance(question, Quantile):
        return lambda cell: QuantileAnswer(
            cell=cell,
            low=bounds[0],
            high=bounds[1],
            cells=question.cells,
            q=question.share,
            comparisons=(question.cells - 1).bit_length(),
            mechanism=last,
            privacy=privacy,
            receipt=receipt,
        )
    middle = lattice.middle * lattice.step
    return lambda count, total: MeanAnswer(
        count=Answer(count, mechanisms[0], receipt),
        sum=Answer(total, last, receipt),
        middle=middle,
        bounds=bounds,
        privacy=privacy,
        receipt=receipt,
    )


def _named(keys: tuple[Key, ...], question: Question) -> tuple[Key, ...]:
    """Return keys as they are printed: of a histogram, ranges instead of their numbers."""
    if not isinstance(question, Histogram):
        return keys
    ranges = question.ranges
    return tuple((*key[:-1], ranges[int(str(key[-1]))]) for key in keys)


def _written(answers: list[Released]) -> tuple[dict[str, Any], bytes]:
    data = [
        {
            "keys": keys_written(one.keys),
            "numbers": [[f"{number:x}" for number in numbers] for numbers in one.numbers],
        }
        for one in answers
    ]
    return {"tables": len(answers)}, json.dumps(data, ensure_ascii=False).encode()


def _read(_: dict[str, Any], payload: bytes) -> list[Released]:
    return [
        Released(
            keys_of(one["keys"]),
            tuple(tuple(int(number, 16) for number in numbers) for numbers in one["numbers"]),
        )
        for one in json.loads(payload)
    ]


TABLES: Form[list[Released]] = Form(_written, _read)


@dataclass(frozen=True, repr=False)
class Explanation:
    """Questions with their queries, sensitivities, noise and price."""

    found: Priced

    @property
    def queries(self) -> list[str]:
        """What the engine would be asked: about the same rows once."""
        return [self.found.source.sql(joint.query) for joint in self.found.joints]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        found = self.found
        together = found.noise.together
        return {
            "price": {
                "epsilon": format_ratio(together.epsilon),
                "delta": format_ratio(together.delta),
            },
            "asked": found.words,
            "key": found.key,
            "questions": [
                {
                    "title": one.question.title,
                    "numbers": [
                        {
                            "name": kind.wanted.name,
                            "sensitivity": format_ratio(kind.wanted.sensitivity),
                            "touched": kind.touched,
                            "noise": repr(made.noise),
                            "privacy": {
                                "epsilon": format_ratio(made.privacy.epsilon),
                                "delta": format_ratio(made.privacy.delta),
                            },
                        }
                        for kind, made in zip(one.kinds, found.mechanisms(at), strict=True)
                    ],
                }
                for at, one in enumerate(found.asked)
            ],
            "queries": self.queries,
        }

    def __str__(self) -> str:
        """Say it in plain words, and show the query."""
        found = self.found
        who = "a row" if found.unit.column is None else f"a value of {found.unit.column!r}"
        change = "replaced" if found.unit.neighbours == REPLACE else "added or removed"
        lines = [
            f"Of {found.source.name}, a unit is {who}; tables are neighbours if one is {change}.",
            f"Price: {found.noise.together} for everything together.",
        ]
        for at, one in enumerate(found.asked):
            lines += ["", f"{one.question.title}:"]
            for kind, made in zip(one.kinds, found.mechanisms(at), strict=True):
                lines.append(
                    f"  {kind.wanted.name}: one unit moves {kind.touched} of them, each by at most "
                    f"{format_exact(kind.wanted.sensitivity)}; {made.noise!r} at {made.privacy}"
                )
        for query in self.queries:
            lines += ["", *query.splitlines()]
        lines += ["", "The data was not touched, and nothing was charged."]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Say what is explained."""
        return f"Explanation({'; '.join(one.question.title for one in self.found.asked)})"
