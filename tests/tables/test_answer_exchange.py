"""Answers of tables as JSON, as arrays, and as tables of other libraries."""

import json
import math
from collections.abc import Iterator
from datetime import date, datetime
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import leastnoise as ln
from leastnoise.mechanism import Answer
from leastnoise.tables import QUERIES, GroupedAnswers, ProtectedTable, TableValue, census
from leastnoise.tables.answers import Layout
from tests.tables.test_answers import COUNT, ENDLESS, REAL, WIDE, grouped, mean, quantile

pa: Any = import_module("pyarrow")
pl: Any = import_module("polars")

HEAD = {
    "format": "leastnoise answer",
    "version": 1,
    "title": "count by region",
    "by": ["a"],
    "confidence": "0.95",
    "confidence_of": ["low", "high"],
    "interval_confidence": "19/20",
    "privacy": {"epsilon": "1", "delta": "1/1000000"},
    "total_privacy": {"epsilon": "1", "delta": "1/1000000"},
    "subject": {
        "quantity": "count by region",
        "table": None,
        "version": None,
        "unit": None,
        "contributions": "",
        "bounds": None,
        "max_rows": 1,
        "max_groups": None,
        "omitted": [],
        "notes": [],
        "hidden_up_to": None,
    },
    "recorded": None,
    "reused": None,
    "not_private": False,
}


# ------------------------------------------------------------------- JSON


def test_the_json_of_groups_has_these_fields(tmp_path: Path) -> None:
    table = grouped([Answer(5, COUNT), Answer(-1, COUNT)], ["n", "s"])
    rows = [
        {
            "a": "n",
            "value": 5,
            "low": 3,
            "high": 7,
            "max_error": 2,
            "exact": {"value": "5", "low": "3", "high": "7", "max_error": "2"},
        },
        {
            "a": "s",
            "value": -1,
            "low": -3,
            "high": 1,
            "max_error": 2,
            "exact": {"value": "-1", "low": "-3", "high": "1", "max_error": "2"},
        },
    ]
    assert table.to_dict() == HEAD | {"rows": rows}
    assert json.loads(table.to_json()) == table.to_dict()
    assert "\n" not in table.to_json()
    written = table.to_json(tmp_path / "a.json")
    assert json.loads(written.read_text(encoding="utf-8")) == table.to_dict()


def test_the_json_of_one_answer_has_its_figures_beside_the_head() -> None:
    found: Any = mean(30, 12).to_dict()
    about = {"title": "mean", "by": [], "total_privacy": HEAD["total_privacy"]}
    assert {name: found[name] for name in about} == about
    assert list(found) == [
        *HEAD,
        *("value", "low", "high", "max_error", "count", "sum_from_middle", "middle", "exact"),
    ]
    assert (found["value"], found["exact"]["value"]) == (2.4, "12/5")  # 2 + 12/30
    assert (found["count"], found["sum_from_middle"], found["middle"]) == (30, 12, 2.0)


def read_exact(row: Any) -> dict[str, Fraction | None]:
    return {name: ratio and Fraction(ratio) for name, ratio in row["exact"].items()}


@pytest.mark.parametrize(
    "answers",
    [
        [Answer(i, COUNT) for i in (-7, 0, 2**60)],
        [Answer(i, REAL) for i in (-7, 0, 10**25)],
        [Answer(5, ENDLESS)],
        [mean(30, 12), mean(0, 5), mean(3, -400)],
        [quantile(3), quantile(1, high=1, bins=8)],
        [quantile(1, high=Fraction(1, 3), bins=8, ends=(0, 5))],
    ],
    ids=["counts", "reals", "unbounded", "means", "quantiles", "intervals"],
)
def test_ratios_of_json_are_the_exact_rows_and_numbers_hold(answers: list[Any]) -> None:
    table = grouped(answers)
    read = json.loads(table.to_json())["rows"]
    for row, exact, answer in zip(read, table.rows(), answers, strict=True):
        ratios = read_exact(row)
        assert ratios == {name: exact[name] for name in ratios}
        assert row["value"] == (int(answer) if type(exact["value"]) is int else float(answer))
        for name, ratio in ratios.items():
            assert (row[name] is None) == (ratio is None)
            if type(exact[name]) is int:
                assert row[name] == ratio
            elif ratio is not None and name != "max_error":
                outward = -math.inf if "low" in name else math.inf
                near = float(ratio)
                assert row[name] in (near, math.nextafter(near, outward))
                if name.endswith(("low", "high")):
                    assert (Fraction(row[name]) - ratio) * (1 if outward > 0 else -1) >= 0
        most = ratios["max_error"]
        if most is not None:
            off = abs(Fraction(row["value"]) - answer.value)
            assert Fraction(row["max_error"]) >= most + off
        one = json.loads(answer.to_json())
        assert {name: one[name] for name in ratios} == {name: row[name] for name in ratios}
        assert one["exact"] == row["exact"]


def test_the_confidence_of_an_interval_is_that_of_its_query() -> None:
    wide = quantile(3, ends=(2, 7), confidence=Fraction(9, 10))
    assert wide.to_dict()["interval_confidence"] == "9/10"
    assert grouped([wide]).to_dict()["interval_confidence"] == "9/10"
    assert quantile(3).to_dict()["interval_confidence"] is None
    assert grouped([]).to_dict()["rows"] == []


def test_a_quantile_is_the_middle_of_its_bin_in_python() -> None:
    assert (float(quantile(3)), int(quantile(3)), round(quantile(3), 1)) == (4.375, 4, 4.4)
    integer = quantile(3, 0, 7, integer=True)
    assert (f"{integer:d}", round(integer, 1), type(round(integer, 1))) == ("3", 3, int)
    assert f"{quantile(3):.2f}" == "4.38"
    assert f"{quantile(3)}" == str(quantile(3))


def test_a_mean_of_no_rows_is_the_middle_of_its_bounds_in_python() -> None:
    for rows in (0, -4):
        assert (float(mean(rows, 5)), int(mean(rows, 5)), f"{mean(rows, 5):.1f}") == (2.0, 2, "2.0")


def test_keys_of_every_type_and_names_that_are_taken_are_written() -> None:
    table = grouped([Answer(1, COUNT)], [(date(2024, 2, 29), True)], names=("exact", "value"))
    found: Any = table.to_dict()
    (row,) = found["rows"]
    assert row["exact_key"] == "2024-02-29"
    assert row["value_key"] is True
    assert row["exact"]["value"] == "1"


# ------------------------------------------------------------------- numpy, Arrow, polars, DuckDB


def test_values_are_an_array_in_the_order_of_the_groups() -> None:
    counts: Any = np.asarray(grouped([Answer(i, COUNT) for i in (3, -2, 5)]))
    assert (counts.dtype, counts.shape, counts.tolist()) == (np.int64, (3,), [3, -2, 5])
    means: Any = np.asarray(grouped([mean(30, 12), mean(0, 5)]))
    assert (means.dtype, means.tolist()) == (np.float64, [2.4, 2.0])
    long: Any = np.asarray(grouped([Answer(2**70, WIDE)]))
    assert (long.dtype, long.tolist()) == (object, [2**70])
    assert np.asarray(grouped([Answer(3, COUNT)]), dtype=float).dtype == np.float64
    assert np.asarray(grouped([])).shape == (0,)
    with pytest.raises(ValueError, match=r"The values of answers are copied"):
        np.array(grouped([Answer(3, COUNT)]), copy=False)


TIMES = [
    datetime.fromisoformat(text) for text in ("2024-01-01T08:00", "9999-12-31T23:59:59.999999")
]
KEYS = [(date(2024, 1, 1), TIMES[0], "é"), (date(2024, 1, 2), TIMES[1], "b")]


@pytest.fixture
def table() -> GroupedAnswers[Any]:
    return grouped([Answer(5, COUNT), Answer(7, COUNT)], KEYS)


def test_pyarrow_and_polars_read_answers_directly(table: GroupedAnswers[Any]) -> None:
    wanted = table.to_arrow()
    assert pa.table(table).equals(wanted)
    assert pa.table(table).schema.metadata == wanted.schema.metadata
    assert pl.DataFrame(table).equals(table.to_polars())
    assert pl.DataFrame(table)["value"].to_list() == [5, 7]


def test_duckdb_reads_answers_directly(table: GroupedAnswers[Any]) -> None:
    with duckdb.connect() as connection:
        connection.register("answers", table)
        read = connection.execute("SELECT a, b, c, value, max_error FROM answers").fetchall()
    assert read == [(*key, value, 2) for key, value in zip(KEYS, (5, 7), strict=True)]


# ------------------------------------------------------------------- every class of answers


@pytest.fixture(scope="module")
def seeded() -> Iterator[ProtectedTable]:
    ledger = ln.testing.NotPrivateLedger(seed=7, limit=ln.Privacy(100, "1e-3"))
    with ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger) as people:
        yield people


def ask(people: Any, name: str) -> Any:
    """Ask a registered query with the arguments that it needs."""
    known = {"bounds": (0, 128), "bins": 16, "edges": [0, 20, 128], "q": "0.5"}
    query = QUERIES[name]
    needed = {part.name: known[part.name] for part in query.arguments if part.name in known}
    column = ["age"] if any(part.name == "column" for part in query.arguments) else []
    if name == "median":
        needed.pop("q", None)
    more = {"max_groups": 1} if name == "histogram" else {}
    return getattr(people, name)(*column, **needed, **more, privacy=ln.Privacy("0.5"))


@pytest.mark.parametrize("name", ["count", "sum", "mean", "median", "quantile", "histogram"])
def test_every_answer_is_a_number_json_and_stays_marked(seeded: Any, name: str) -> None:
    answer = ask(seeded, name)
    one = next(iter(answer))[1] if isinstance(answer, GroupedAnswers) else answer
    assert isinstance(one, TableValue)
    assert float(one) == float(one.value)
    assert int(one) == math.trunc(one.value)
    for marked in (answer, one):
        found = json.loads(marked.to_json())
        assert found["not_private"] is True
        assert found["title"].startswith("NOT PRIVATE (seeded noise): ")
        assert found["subject"]["quantity"].startswith("NOT PRIVATE (seeded noise): ")
        assert f"{marked}".startswith("NOT PRIVATE (seeded noise): ")
    if isinstance(answer, GroupedAnswers):
        assert set(pa.table(answer)["quantity"].to_pylist()) == {answer.rows()[0]["quantity"]}
        assert str(answer.rows()[0]["quantity"]).startswith("NOT PRIVATE")
        assert json.loads(pa.table(answer).schema.metadata[b"leastnoise"])["not_private"] is True


def test_every_class_with_a_layout_is_a_table_value() -> None:
    """A new class of answers gets numbers and JSON from its layout."""

    def subclasses(of: type) -> set[type]:
        children: list[type] = type.__subclasses__(of)
        return {of, *(each for child in children for each in subclasses(child))}

    with_layout = {
        each
        for each in subclasses(object)
        if str(each.__module__).startswith("leastnoise.")
        and isinstance(each.__dict__.get("layout"), Layout)
    }
    assert with_layout
    assert all(issubclass(each, TableValue) for each in with_layout)
