"""Attacks on table queries that earlier versions did not stop."""

import threading
from pathlib import Path
from typing import Any

import ibis
import pytest

import leastnoise as ln
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.ledger import Unrecorded
from leastnoise.tables import Count, Histogram, ProtectedTable, Query, Sum
from leastnoise.tables.execute import make_batches, run
from leastnoise.tables.queries.plan import plan_query

CANARY = "CANARY77"


def true(people: ProtectedTable, question: Query) -> tuple[list[tuple[Any, ...]], int]:
    """Return the figures of a question before noise, and how much one unit may move them."""
    asked = plan_query(question, people.source, people.unit)
    (rows,) = run(people.source, make_batches([asked]))
    return rows, int(asked.numbers[-1].sensitivity)


def protected(table: Any, unit: str | None = None, ledger: Any = None, **more: Any) -> Any:
    rows = None if unit is None else 1
    return ln.protect(table, unit=unit, max_rows=rows, ledger=ledger or ln.UNRECORDED, **more)


def test_a_replaced_row_may_fall_out_of_a_filtered_table(duck: Any) -> None:
    duck.raw_sql("CREATE TABLE t AS FROM (VALUES (20, 100), (30, 101), (10, 100)) v(age, x)")
    duck.raw_sql("CREATE TABLE t2 AS FROM (VALUES (20, 100), (30, 101), (40, 101)) v(age, x)")
    sums, moved = [], 0
    for name in ("t", "t2"):
        table = duck.table(name)
        people = protected(table.filter(table.age >= 18), neighbors="replace")
        rows, moved = true(people, Sum("x", bounds=(100, 101)))
        sums.append(rows[0][0])
    assert abs(sums[0] - sums[1]) <= moved


@pytest.mark.parametrize("how", ["column", "view", "default"])
def test_a_collation_is_refused(duck: Any, how: str) -> None:
    """One row could turn a group of a thousand into another, or show its own spelling."""
    collated = "" if how == "default" else "COLLATE nocase"
    duck.raw_sql(f"CREATE TABLE c (g VARCHAR {collated})")
    duck.raw_sql("CREATE VIEW v AS SELECT g FROM c")
    if how == "default":
        assert protected(duck.table("c"))  # the control
        duck.raw_sql("SET default_collation = 'nocase'")
    with pytest.raises(Unsupported, match="strings must be equal only if their bytes are"):
        protected(duck.table("v" if how == "view" else "c"))


def test_a_collation_of_postgres_is_refused(pg: Any) -> None:
    with pg.con.cursor() as cursor:
        made = "CREATE COLLATION alike (provider = icu, locale = 'und', deterministic = false)"
        try:
            cursor.execute(made)
        except Exception:  # noqa: BLE001 -- this server has no ICU: then it has no such collation
            pg.con.rollback()
            made = ""
        cursor.execute(f"CREATE TABLE c (g text {'COLLATE alike' if made else ''})")
    pg.con.commit()
    if not made:
        assert protected(pg.table("c"))
        return
    with pytest.raises(Unsupported, match="strings must be equal only if their bytes are"):
        protected(pg.table("c"))


@pytest.mark.parametrize(
    "made",
    [
        lambda t: t.mutate(g=t.rowid() % 2),
        lambda t: t.filter(t.rowid() < 10),
        lambda t: t.mutate(h=1 / t.u),
        lambda t: t.mutate(h=t.u * t.u),
    ],
)
def test_what_depends_on_other_rows_or_can_fail_is_no_source(duck: Any, made: Any) -> None:
    duck.raw_sql("CREATE TABLE r AS SELECT range AS u, 'a' AS g FROM range(9)")
    with pytest.raises(Unsupported, match="rows could affect each other"):
        protected(made(duck.table("r")))


def test_a_cast_that_can_fail_is_no_source(duck: Any) -> None:
    duck.raw_sql("CREATE TABLE r AS SELECT range AS u, 'a' AS g FROM range(9)")
    with pytest.raises(Unsupported, match="got Cast on string, which can fail for some rows"):
        protected(duck.table("r").mutate(h=lambda t: t.g.cast("int64")))


def test_what_looks_at_its_own_row_alone_is_one(duck: Any) -> None:
    duck.raw_sql("CREATE TABLE r AS SELECT range AS u, 'a' AS g FROM range(9)")
    table = duck.table("r")
    chosen = table.filter(table.u > 3).mutate(h=table.g.upper(), s=table.u.cast("string"))
    assert true(protected(chosen, unit="s"), Count(by="h", max_groups=1, groups=["A"]))[0] == [
        ("A", 5)
    ]


def test_another_table_is_another_question(tmp_path: Path) -> None:
    duck = ibis.duckdb.connect(tmp_path / "people.db")
    duck.raw_sql("CREATE TABLE people AS SELECT range AS u, range % 100 AS age FROM range(1000)")
    duck.raw_sql("CREATE SCHEMA other")
    duck.raw_sql("CREATE TABLE other.people AS SELECT 1 AS u, 2 AS age")
    table = duck.table("people")
    with ln.Ledger(tmp_path / "ledger", limit=Privacy(300)) as ledger:
        tables = (table, table.filter(table.age >= 90), duck.table("people", database="other"))
        values = [
            int(protected(each, unit="u", ledger=ledger).count(privacy=Privacy(40)).value)
            for each in tables
        ]
        assert len(ledger.releases) == 3
    # Noise at ε = 40 is 0 but for a chance below 10⁻¹⁶.
    assert values == [1000, 100, 1]
    duck.disconnect()


def test_the_largest_integers_make_no_condition_fail(duck: Any) -> None:
    duck.raw_sql(f"CREATE TABLE h AS SELECT {2**127 - 1}::HUGEINT AS x")
    people = protected(duck.table("h"))
    for condition in ("x > 3", "x in (3, 4)", "x < 3.5", "x between -1 and 1", "x != 2"):
        rows, _ = true(people, Count(where=condition))
        assert rows == [(1 if condition in ("x > 3", "x != 2") else 0,)]
    assert true(people, Histogram("x", edges=[0, 1, 2], max_groups=1))[0] == []


def test_nothing_prints_records(duck: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a notebook Ibis is told to show tables where they are printed."""
    duck.raw_sql(f"CREATE TABLE canary AS SELECT '{CANARY}' AS g, 1 AS u, 2.5 AS x")
    monkeypatch.setattr(ibis.options, "interactive", True)
    table = duck.table("canary")
    assert CANARY in repr(table)  # the control
    people = protected(table, unit="u")
    questions = (Count(by="g", max_groups=1), Sum("x", bounds=(0, 5), by="g", max_groups=1))
    explained = people.explain(*questions, privacy=Privacy(1, "1e-6"))
    prepared = explained.prepared
    one, _ = prepared.queries[-1]
    shown = [people, people.source, explained, prepared, prepared.queries, prepared.batches]
    shown += [one.selection, *one.sums]
    assert CANARY not in "".join(f"{each!r}{each}" for each in shown)


def test_what_an_engine_cannot_be_asked_is_refused_before_the_charge(
    duck: Any, tmp_path: Path
) -> None:
    duck.raw_sql(f"CREATE TABLE k AS SELECT {2**64 - 1}::UBIGINT AS g")
    with ln.Ledger(tmp_path / "ledger", limit=Privacy(1)) as ledger:
        people = protected(duck.table("k"), ledger=ledger, name="k")
        with pytest.raises(InvalidParameter, match="A group must be a 64-bit integer"):
            people.count(by="g", max_groups=1, groups=[2**64 - 1], privacy=Privacy(1))
        assert ledger.remaining == Privacy(1)


def test_threads_wait_for_one_another(duck: Any) -> None:
    duck.raw_sql("CREATE TABLE r AS SELECT range AS u FROM range(100000)")
    people, answers = protected(duck.table("r"), unit="u"), list[Any]()
    privacy = Privacy(40)
    threads = [
        threading.Thread(target=lambda: answers.append(people.count(privacy=privacy)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [int(answer.value) for answer in answers] == [100000] * 8


def test_rounding_adds_up_to_nothing_that_matters(duck: Any) -> None:
    duck.raw_sql("CREATE TABLE r AS SELECT 0.1::DOUBLE AS x FROM range(1000000)")
    asked = plan_query(
        Sum("x", bounds=(0, 1)), (people := protected(duck.table("r"))).source, people.unit
    )
    (((total,),),) = run(people.source, make_batches([asked]))
    assert abs(total * asked.numbers[0].step - 100000) < 1e-5
    assert isinstance(people.ledger, Unrecorded)
