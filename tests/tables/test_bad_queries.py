"""Bad input: a constant sentence each, and nothing of what a table holds, wherever one listens."""

import logging
import math
import traceback
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.errors import InvalidParameter, LeastnoiseError, QueryFailed, Unsupported
from leastnoise.tables import ProtectedTable
from tests.support.table_sources import REGIONS, Row, duckdb_of, people, postgres_of, source_of

PRICE = ln.Privacy("0.1", "1e-3")
# What is in every column of a row that nobody may hear of.
CANARY = "canary7Q"
NUMBER = 739_154_862


def canaries() -> list[Row]:
    """Return a table in which one person's row could be known by what it holds."""
    rows = people(60)
    rows.append(
        rows[0]
        | {"person": NUMBER, "name": CANARY, "region": CANARY, "age": NUMBER, "hours": NUMBER,
           "income": float(NUMBER) + 0.25}
    )  # fmt: skip
    return rows


class Ears:
    """All that is heard: messages, tracebacks and what hangs on them, logs and both streams."""

    def __init__(self, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
        self._caplog, self._capfd = caplog, capfd
        caplog.set_level(logging.DEBUG)

    def error(
        self, work: Callable[[], object], *, secrets: tuple[str, ...] = ()
    ) -> LeastnoiseError:
        """Let something fail; see that no secret is heard, and return the error."""
        self._capfd.readouterr()
        self._caplog.clear()
        with pytest.raises(
            LeastnoiseError, match=r"must|, got|is required|No column|The engine failed"
        ) as caught:
            work()
        self.hear_nothing(caught.value, *secrets)
        return caught.value

    def hear_nothing(self, error: BaseException | None, *secrets: str, shown: str = "") -> None:
        """See that no secret is in an error, in those behind it, or anywhere else."""
        heard = [shown, *self._capfd.readouterr(), self._caplog.text]
        while error is not None:
            heard += [repr(error), str(error), *traceback.format_exception(error)]
            for frame, _ in traceback.walk_tb(error.__traceback__):
                if frame.f_globals["__name__"].startswith("leastnoise"):
                    heard += [repr(value) for value in frame.f_locals.values()]
            assert error.__cause__ is None
            error = error.__context__
        for secret in (CANARY, str(NUMBER), *secrets):
            assert not [part for part in heard if secret in part]


@pytest.fixture
def ears(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Ears:
    return Ears(caplog, capfd)


@pytest.fixture
def table(duck: Any) -> ProtectedTable:
    return protected({"source": duckdb_of(canaries(), duck)})


def protected(given: dict[str, Any], **more: Any) -> ProtectedTable:
    options: dict[str, Any] = {"unit": "person", "max_rows": 1, "ledger": ln.UNRECORDED}
    return ln.protect(**given, **options | more)


# ---------------------------------------------------------------------- refused before it is asked

REFUSED: dict[str, tuple[Callable[[Any], object], str]] = {
    "missing column": (
        lambda t: t.sum("incme", bounds=(0, 1), privacy=PRICE),
        "No column 'incme' in people. Did you mean 'income'?",
    ),
    "missing group": (
        lambda t: t.count(by="land", max_groups=1, groups=["a"], privacy=PRICE),
        "No column 'land' in people. Check the names of its columns.",
    ),
    "missing in where": (
        lambda t: t.count(where="incme > 3", privacy=PRICE),
        "No column 'incme' in people. Did you mean 'income'?",
    ),
    "wrong type": (
        lambda t: t.sum("region", bounds=(0, 1), privacy=PRICE),
        "got 'region', of kind text. Choose another",
    ),
    "groups of floats": (
        lambda t: t.count(by="income", max_groups=1, privacy=PRICE),
        "a column to group by must hold integers, strings, booleans, dates or timestamps, "
        "got 'income', of kind real.",
    ),
    "wrong type of key": (
        lambda t: t.count(by="region", max_groups=1, groups=[1], privacy=PRICE),
        "groups for 'region' must be of kind text, got a group of type int.",
    ),
    "wrong type in where": (
        lambda t: t.count(where="region > 3", privacy=PRICE),
        "a column of kind text, with strings, as in 'north', got the number 3.",
    ),
    "bounds reversed": (
        lambda t: t.mean("income", bounds=(5, 1), privacy=PRICE),
        "The lower bound must be below the upper bound, got 5 and 1. Swap them.",
    ),
    "bounds of nothing": (
        lambda t: t.sum("income", bounds=(5, 5), privacy=PRICE),
        "The lower bound must be below the upper bound, got 5 and 5.",
    ),
    "infinite bounds": (
        lambda t: t.sum("income", bounds=(0, math.inf), privacy=PRICE),
        "Each end of bounds must be",
    ),
    "one bound": (
        lambda t: t.sum("income", bounds=7, privacy=PRICE),
        "bounds must be two numbers, the lower first",
    ),
    "edges that fall": (
        lambda t: t.histogram("age", edges=[3, 2], max_groups=1, privacy=PRICE),
        "edges must increase, got two neighboring edges that do not.",
    ),
    "a share of all": (
        lambda t: t.quantile("age", 1, bounds=(0, 1), privacy=PRICE),
        "q must be above 0 and below 1, got 1.",
    ),
    "no groups": (
        lambda t: t.count(by="region", max_groups=1, groups=[], privacy=PRICE),
        "groups must not be empty, got an empty list.",
    ),
    "a key twice": (
        lambda t: t.count(by="region", max_groups=1, groups=["a", "b", "a"], privacy=PRICE),
        "groups must not repeat, got a group twice. Write each group once.",
    ),
    "keys without by": (
        lambda t: t.count(groups=["a"], privacy=PRICE),
        "groups= needs a column to group by, got groups without by.",
    ),
    "a function": (
        lambda t: t.count(where="lower(region) = 'a'", privacy=PRICE),
        "Functions and queries are not part of a condition.",
    ),
    "an injection": (
        lambda t: t.count(where="age > 1; drop table people", privacy=PRICE),
        "where must be a valid condition, got",
    ),
    "a query in where": (
        lambda t: t.count(where="age in (select age from people)", privacy=PRICE),
        "where must be a valid condition, got",
    ),
    "no promise": (
        lambda t: t.count(privacy=0.1),
        "privacy must be a Privacy, got 0.1.",
    ),
    "no question": (
        lambda t: t.ask([3], privacy=PRICE),
        "A query must be a Count, Sum, Mean, Histogram or Quantile, got an object of type int.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_question_that_makes_no_sense_is_refused_in_constant_words(
    case: str, table: ProtectedTable, ears: Ears, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, words = REFUSED[case]
    monkeypatch.setattr("leastnoise.tables.execute.fetch", None)  # the engine is not asked
    error = ears.error(lambda: ask(table))
    assert type(error) is InvalidParameter
    assert words in str(error)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"unit": "persn"}, "No column 'persn' in people. Did you mean 'person"),
        ({"unit": "income"}, "the column of units must hold integers, strings"),
        ({"unit": 3}, "or None if every row is a different person, got 3"),
        ({"max_rows": 0}, "max_rows must be"),
        ({"unit": None, "max_rows": 2}, "max_rows must be 1 if every row is a unit, got 2"),
        ({"neighbors": "both"}, "neighbors must be 'add_remove' or 'replace'"),
        ({"ledger": "people.ledger"}, "Open it with Ledger('people.ledger')"),
        ({"table": "people"}, "table= names a table of a database"),
    ],
)  # fmt: skip
def test_a_table_must_be_protected_in_full(
    more: dict[str, Any], words: str, duck: Any, ears: Ears
) -> None:
    source = {"source": duckdb_of(canaries(), duck)}
    assert words in str(ears.error(lambda: protected(source, **more)))


def test_other_engines_are_unsupported(ears: Ears) -> None:
    import ibis

    source = ibis.sqlite.connect().create_table("people", schema={"person": "int64"})
    error = ears.error(lambda: protected({"source": source}))
    assert type(error) is Unsupported
    assert "DuckDB, PostgreSQL, Spark" in str(error)


# ------------------------------------------------------------------------ tables of nobody, of one


def questions(t: ProtectedTable) -> Iterator[Any]:
    """Ask each kind of question."""
    pure = ln.Privacy("0.1")
    yield t.count(privacy=PRICE)
    yield t.count(by="region", max_groups=1, privacy=PRICE)
    yield t.count(
        by="region", max_groups=1, groups=["north", "south"], where="age > 3", privacy=PRICE
    )
    yield t.sum("income", bounds=(0, 10), privacy=pure)
    yield t.mean("income", bounds=(0, 10), privacy=pure)
    yield t.histogram("age", edges=[0, 18, 65], max_groups=1, privacy=PRICE)
    yield t.median("income", bounds=(0, 10), bins=4, privacy=pure)


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "postgres"])
def test_a_table_of_nobody_or_of_one_is_answered_like_any_other(
    kind: str, size: int, request: pytest.FixtureRequest, ears: Ears
) -> None:
    """Not even how many there are is told by how it is answered."""
    table = protected(source_of(kind, canaries()[60:][:size], request))
    asked = (
        questions(table)
        if kind == "duckdb"
        else iter([table.count(by="region", max_groups=1, privacy=PRICE)])
    )
    answers = list(asked)
    ears.hear_nothing(None, shown="".join(f"{one}{one!r}{one._repr_html_()}" for one in answers))
    discovered = answers[1] if kind == "duckdb" else answers[0]
    assert len(discovered) == 0
    assert discovered.to_arrow().num_rows == 0
    if kind == "duckdb":
        assert abs(answers[0].value - size) <= answers[0].max_error
        assert [len(answers[place]) for place in (2, 5)] == [2, 2]


def test_nothing_that_is_shown_quotes_a_record(table: ProtectedTable, ears: Ears) -> None:
    explained = table.explain(ln.Count(by="region", max_groups=1, where="age > 3"), privacy=PRICE)
    shown = [table, table.source, table.unit, explained, explained.prepared, explained.to_dict()]
    text = "".join(f"{one}{one!r}" for one in [*shown, *questions(table)])
    ears.hear_nothing(None, shown=text)


@pytest.mark.long
def test_a_million_groups_are_answered_and_as_many_keys() -> None:
    size = 1_000_000
    rows = pa.table({"person": range(size), "g": range(size)})
    many = protected({"source": rows})
    assert len(many.count(by="g", max_groups=1, privacy=PRICE)) == 0  # each is of one unit alone
    answer = many.count(by="g", max_groups=1, groups=range(size), privacy=PRICE)
    assert len(answer) == size
    assert all(abs(one.value - 1) <= one.max_error for one in answer.answers[:100])


# ---------------------------------------------------------------------- when the engine fails

SAID = (
    "The engine failed to run the query. Any charge for it stands. "
    "Check the engine and its source, then repeat the query with the same key."
)


def failed(error: LeastnoiseError) -> None:
    assert type(error) is QueryFailed
    assert str(error) == SAID
    assert error.__context__ is None


def test_a_table_dropped_in_between(duck: Any, ears: Ears) -> None:
    table = protected({"source": duckdb_of(canaries(), duck)})
    duck.con.execute("DROP TABLE people")
    failed(ears.error(lambda: table.count(privacy=PRICE)))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_removed_in_between(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, ears: Ears
) -> None:
    table = protected(source_of(kind, canaries(), request))
    for path in tmp_path.iterdir():
        path.unlink()
    failed(ears.error(lambda: table.count(privacy=PRICE)))


def test_an_engine_that_fails_at_a_record_on_both_of_two_neighbours_says_the_same(
    duck: Any, ears: Ears
) -> None:
    """A view of the database's own can fail; what the engine says of it is not heard."""
    rows = canaries()
    duckdb_of(rows, duck)
    duck.con.execute("CREATE VIEW odd AS SELECT *, region::BIGINT AS bad FROM people")
    table = protected({"source": duck.table("odd")})
    failed(
        ears.error(
            lambda: table.sum("bad", bounds=(0, 9), privacy=PRICE), secrets=(REGIONS[0] or "",)
        )
    )
    duckdb_of(rows[:-1], duck)
    failed(
        ears.error(
            lambda: table.sum("bad", bounds=(0, 9), privacy=PRICE), secrets=(REGIONS[0] or "",)
        )
    )


def test_a_connection_that_is_dropped_and_a_table_that_is(pg_address: str, ears: Ears) -> None:
    with psycopg.connect(pg_address, autocommit=True) as connection:
        postgres_of(canaries(), connection)
        given = {"source": pg_address, "table": "people"}
        first, second = protected(given), protected(given)
        connection.execute("ALTER TABLE people RENAME TO others")
        failed(ears.error(lambda: first.count(privacy=PRICE), secrets=(pg_address,)))
        connection.execute("ALTER TABLE others RENAME TO people")
        assert abs(first.count(privacy=PRICE).value) < 10**6  # it is there again
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        for table in (first, second):
            failed(ears.error(lambda: table.count(privacy=PRICE), secrets=(pg_address,)))  # noqa: B023


@pytest.mark.parametrize("kind", ["csv", "duckdb", "postgres"])
def test_whatever_one_row_holds_both_neighbours_are_answered(
    kind: str, request: pytest.FixtureRequest
) -> None:
    """Every special value there is, in one person's rows: with them and without them."""
    usual = people(1)[0] | {"person": NUMBER}
    odd: list[Row] = [
        usual | {"income": x} for x in (math.nan, math.inf, -math.inf, 1e308, 5e-324, -0.0, None)
    ]
    odd += [usual | {"hours": x, "age": y} for x, y in (((1 << 31) - 1, (1 << 63) - 1),
                                                       (-(1 << 31), -(1 << 63)))]  # fmt: skip
    odd += [usual | {"day": day} for day in (date.min, date.max, None)]
    odd += [usual | {"region": name} for name in ("", " ", "'", '"', "\n", "é😀", "\\", "%s", "{}")]
    for rows in (people(20), people(20) + odd):
        if kind == "postgres" and rows[20:]:
            request.getfixturevalue("pg").con.execute("DROP TABLE people")
        table = protected(source_of(kind, rows, request), max_rows=3)
        found = table.ask(
            [
                ln.Count(
                    by=["region", "day"],
                    max_groups=1,
                    groups=[("north", _day(kind)), ("", _day(kind))],
                ),
                ln.Sum("income", bounds=(-1, 1)),
                ln.Sum("age", bounds=(1 << 31, 1 << 53)),
                ln.Mean("hours", bounds=(-1, 1), by="region", max_groups=1, groups=["north"]),
                ln.Histogram("income", edges=[-1, 0, 1], max_groups=1),
                ln.Quantile("age", "0.5", bounds=(0, 1), bins=2),
            ],
            privacy=ln.Privacy("0.1"),
        )
        assert len(found) == 6
        assert table.count(by="day", max_groups=1, privacy=PRICE) is not None


def _day(kind: str) -> Any:
    return "2024-02-29" if kind == "csv" else date(2024, 2, 29)


@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
def test_days_that_python_does_not_know_do_not_make_a_question_fail(
    kind: str, request: pytest.FixtureRequest
) -> None:
    """PostgreSQL and DuckDB have days before Christ, after 9999 and at ±∞; Python has none."""
    backend = request.getfixturevalue("duck" if kind == "duckdb" else "pg")
    backend.con.execute("CREATE TABLE days (person bigint, day date)")
    backend.con.execute(
        "INSERT INTO days SELECT i, DATE '2024-02-29' FROM generate_series(1, 400) s(i)"
    )
    odd = ("infinity", "-infinity", "20000-01-01", "0044-03-15 (BC)" if kind == "duckdb"
           else "0044-03-15 BC")  # fmt: skip
    for day in odd:
        backend.con.execute(f"INSERT INTO days VALUES (999, '{day}'::date)")
    table = protected({"source": backend.table("days")})
    for question in (ln.Count(by="day", max_groups=1), ln.Count(by="day", max_groups=2)):
        (answer,) = table.ask([question], privacy=PRICE)
        assert [str(key[0]) for key in answer.keys] == ["2024-02-29"]  # type: ignore[union-attr]
    by_day = protected({"source": backend.table("days")}, unit="day")
    assert abs(by_day.count(privacy=PRICE).value) < 1000
