"""An ask by groups: what its queries share, which groups they show, and the one table."""

import csv
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.errors import InvalidParameter
from leastnoise.tables import (
    AnswerTable,
    ClippedShare,
    Count,
    Histogram,
    Mean,
    ProtectedTable,
    Quantile,
    Sum,
)
from leastnoise.tables.queries.common_arguments import CommonArguments, share_groups
from leastnoise.tables.queries.query import Query
from leastnoise.tables.release import PreparedRelease, prepare

PRIVACY = ln.Privacy(1, "1e-6")
ROWS = 3_000


def table() -> Any:
    """Return a table in which "few" has as many rows as the others, but few values."""
    group = ["ab"[i % 2] if i % 3 else "few" for i in range(ROWS)]
    return pa.table(
        {
            "u": list(range(ROWS)),
            "g": group,
            "x": [None if g == "few" and i % 100 else float(i % 7) for i, g in enumerate(group)],
            "h": [i % 4 for i in range(ROWS)],
        }
    )


def people(ledger: Any = ln.UNRECORDED) -> ProtectedTable:
    return ln.protect(table(), unit="u", max_rows=1, ledger=ledger, name="people")


QUERIES: list[Query] = [
    Count(),
    Mean("x", bounds=(0, 6)),
    Sum("h", bounds=(0, 3)),
    Quantile("x", "0.5", bounds=(0, 7), bins=7),
    ClippedShare("x", bounds=(1, 5)),
]


def make(queries: list[Query], **common: Any) -> PreparedRelease:
    given = CommonArguments.of(**common)
    queries = share_groups([given.complete(query) for query in queries], given.by)
    source = people()
    return prepare(queries, source.source, source.unit, PRIVACY)


# ------------------------------------------------------------------- common arguments


def test_a_query_without_an_argument_gets_that_of_the_ask_and_one_with_it_keeps_its_own() -> None:
    common = CommonArguments.of(
        by="g", groups=["a", "b"], where="h = :h", params={"h": 1}, max_groups=2, max_rows=3
    )
    query = common.complete(Count())
    assert query == Count(by="g", groups=["a", "b"], where="h = 1", max_groups=2, max_rows=3)
    own = Count(by="g", groups=["a"], where="h = 2", max_groups=1, max_rows=1)
    assert common.complete(own) == own
    # Groups belong to their columns.
    assert common.complete(Count(by="h")) == Count(by="h", where="h = 1", max_groups=2, max_rows=3)
    assert common.complete(Count(of="units")).max_rows is None


def test_bad_common_arguments_are_rejected() -> None:
    untyped: Any = people()
    with pytest.raises(InvalidParameter, match="groups of an ask needs by, got no column"):
        untyped.ask([Count()], groups=["a"], privacy=PRIVACY)
    with pytest.raises(InvalidParameter, match="by must name different columns"):
        people().ask([Count()], by=["g", "g"], privacy=PRIVACY)
    with pytest.raises(InvalidParameter, match="max_rows must be"):
        people().ask([Count()], max_rows=0, privacy=PRIVACY)


def test_common_arguments_without_by_return_a_list() -> None:
    answers = people().ask([Count(), Count(where="h < 2")], where="h = 0", privacy=ln.Privacy(2000))
    assert type(answers) is list
    assert [answer.value for answer in answers if isinstance(answer, ln.Answer)] == [750, 1500]


def test_public_groups_are_those_of_each_query_alone() -> None:
    groups: dict[str, Any] = {"by": "g", "groups": ["a", "b"], "max_groups": 1}
    together = make([Count(), Mean("x", bounds=(0, 6))], **groups)
    alone = make([Count(**groups), Mean("x", bounds=(0, 6), **groups)])
    assert together.key == alone.key
    assert together.leader is None


# ------------------------------------------------------------------- discovered groups


def test_all_queries_show_the_groups_that_the_first_one_discovers() -> None:
    """By themselves, the queries about x would hide "few", which has 10 values."""
    alone: Any = people().ask(
        [Count(by="g", max_groups=1), Mean("x", bounds=(0, 6), by="g", max_groups=1)],
        privacy=PRIVACY,
    )
    assert [each.keys for each in alone] == [(("a",), ("b",), ("few",)), (("a",), ("b",))]
    together = people().ask(QUERIES, by="g", max_groups=1, privacy=PRIVACY)
    assert len(together) == len(together.tables) == len(QUERIES)
    for each in together.tables:
        assert each.keys == (("a",), ("b",), ("few",))
        assert each.discovered
        assert each.subject.hidden_up_to == together.tables[0].subject.hidden_up_to
    # Only the count decides, so only its intervals depend on that.
    assert [each.subject.selected for each in together.tables] == [True, False, False, False, False]
    reverse = people().ask(QUERIES[::-1], by="g", max_groups=1, privacy=PRIVACY)
    assert {each.keys for each in reverse.tables} == {(("a",), ("b",))}


def test_the_queries_that_follow_release_no_count_of_their_own_for_discovery() -> None:
    together = make(QUERIES, by="g", max_groups=1)
    assert together.places == ((0,), (1, 2), (3,), (4,), (1, 5))
    assert together.leader == 0
    families = [number.family for _, numbers in together.queries for number, _ in numbers]
    assert families[0] == "canonical"
    assert set(families[1:]) == {None}
    assert together.words["groups_of"] == 0
    named = make(list(QUERIES), by="g", max_groups=1)
    assert named.key == together.key
    apart = make([CommonArguments.of(by="g", max_groups=1).complete(query) for query in QUERIES])
    assert apart.key != together.key


def test_a_query_that_follows_can_share_the_count_that_decides() -> None:
    queries: list[Query] = [Count(where="x is not null"), Mean("x", bounds=(0, 6))]
    together = make(queries, by="g", max_groups=1)
    assert together.places == ((0,), (0, 1))
    for _ in range(3):
        answers: Any = people().ask(queries, by="g", max_groups=1, privacy=PRIVACY)
        assert answers[0].keys == answers[1].keys
        assert [mean.count.value for _, mean in answers[1]] == [one.value for _, one in answers[0]]
        assert answers[1].subject.selected


def test_a_group_of_one_unit_in_the_deciding_count_is_never_shown() -> None:
    """Whatever the other queries have there: "b" has 500 rows, one of them with h = 1."""
    rows = pa.table(
        {
            "u": list(range(1000)),
            "g": ["ab"[i % 2] for i in range(1000)],
            "h": [int(i % 2 == 0 or i == 1) for i in range(1000)],
        }
    )
    source = ln.protect(rows, unit="u", max_rows=1, ledger=ln.UNRECORDED)
    queries: list[Query] = [Count(where="h = 1"), Count(), Sum("h", bounds=(0, 3))]
    for _ in range(20):
        answers = source.ask(
            queries, by="g", max_groups=1, privacy=ln.Privacy(40, "0.4"), allow_exact=True
        )
        assert {each.keys for each in answers.tables} == {(("a",),)}


def test_groups_of_other_columns_are_discovered_by_themselves() -> None:
    queries: list[Query] = [Count(by="h", max_groups=1), Count(), Mean("x", bounds=(0, 6))]
    together = make(queries, by="g", max_groups=1)
    assert together.leader == 1
    answers = people().ask(queries, by="g", max_groups=1, privacy=PRIVACY)
    assert [each.keys for each in answers.tables] == [(("a",), ("b",), ("few",))] * 2
    assert len(answers.others) == 1


def test_a_stored_answer_table_comes_back(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(3, "1e-5")) as ledger:
        how: dict[str, Any] = {"by": "g", "max_groups": 1, "privacy": PRIVACY}
        first, again = (people(ledger).ask(QUERIES, **how) for _ in range(2))
        assert again.receipt is not None
        assert again.receipt.reused
        assert [row["count"] for row in again.rows()] == [row["count"] for row in first.rows()]
        assert len(ledger.releases) == 1
        ledger.verify()


def test_a_dry_run_says_whose_groups_are_shown() -> None:
    text = str(people().explain(*QUERIES, by="g", max_groups=1, privacy=PRIVACY))
    assert text.count("the groups are those of the count by g") == len(QUERIES) - 1
    assert text.count("groups are discovered; a noisy count of") == 1
    assert max(map(len, text.splitlines())) <= 80


# ------------------------------------------------------------------- the table


def ask_all() -> AnswerTable:
    return people().ask(QUERIES, by="g", max_groups=1, privacy=PRIVACY)


def test_it_is_a_sequence_of_the_answers() -> None:
    answers = ask_all()
    titles = [each.subject.title for each in answers]
    assert titles[:2] == ["count by g", "mean of x by g"]
    assert answers[1] is answers.results[1]
    assert answers[-1].subject.title == "share of x outside [1, 5] by g"
    assert len(answers[1:]) == 4
    assert repr(answers) == "<by g: 5 answers, ε = 1, δ = 1e-6>"


def test_it_prints_a_row_for_each_group_within_80_columns() -> None:
    answers = ask_all()
    text = str(answers)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    head = next(line.split() for line in lines if line.startswith("g  "))
    assert head[:5] == ["g", "count", "95%", "interval", "mean"]
    row = next(line.split() for line in lines if line.startswith("few"))
    low, high = answers.tables[0].answers[2].interval()
    assert row[1] == str(answers.tables[0].answers[2].value)
    assert row[2:5] == [str(math.floor(low)), "to", str(math.ceil(high))]
    assert "Guarantee  ε = 1, δ = 1e-6 per u, for the whole table" in text
    assert text.count("Groups were discovered from the data.") == 1
    assert "rows without x (mean, median, share)" in " ".join(text.split())


def test_two_queries_of_one_statistic_have_different_columns() -> None:
    means: list[Query] = [
        Mean("x", bounds=(0, 6)),
        Mean("h", bounds=(0, 3)),
        Mean("h", bounds=(0, 2)),
    ]
    answers = people().ask(means, by="g", groups=["a", "b"], max_groups=1, privacy=ln.Privacy(1))
    assert answers.labels == ("mean of x", "mean of h", "mean of h 2")
    assert list(answers.to_pandas().columns)[:3] == ["g", "mean_of_x", "mean_of_x_low"]


def test_it_exports_as_one_table(tmp_path: Path) -> None:
    answers = ask_all()
    frame, rows = answers.to_pandas(), answers.rows()
    assert list(frame["g"]) == [row["g"] for row in rows] == ["a", "b", "few"]
    for label, each in zip(answers.labels, answers.tables, strict=True):
        alone = each.to_pandas()
        assert list(frame[label]) == list(alone["value"])
        if "low" in alone:
            assert list(frame[f"{label}_low"]) == list(alone["low"])
        assert [row[label] for row in rows] == [row["value"] for row in each.rows()]
        assert all(isinstance(row[label], int | Fraction) for row in rows)
    assert list(frame.columns) == list(rows[0])
    assert frame["quantity"][0] == rows[0]["quantity"]
    assert "mean of x by g, clipped to [0, 6]" in frame["quantity"][0]
    assert answers.to_polars().columns == list(frame.columns)
    with answers.to_csv(tmp_path / "a.csv").open(newline="") as file:
        head, *lines = csv.reader(file)
    assert head == list(frame.columns)
    assert pl.DataFrame(pa.table(answers)).equals(answers.to_polars())
    assert pa.table(answers).column("count").to_pylist() == list(frame["count"])
    about = json.loads(answers.to_arrow().schema.metadata[b"leastnoise"])
    assert [one["title"] for one in about["answers"]] == [each.title for each in answers.tables]
    written = json.loads(answers.to_json(tmp_path / "a.json").read_text())
    assert written == json.loads(answers.to_json()) == answers.to_dict()
    documents: Any = answers.to_dict()["answers"]
    assert [one["rows"][0]["value"] for one in documents[:1]] == [rows[0]["count"]]
    assert len(documents) == len(QUERIES)
    assert [line[1] for line in lines] == [str(row["count"]) for row in rows]


def test_answers_with_other_groups_print_below_and_do_not_export() -> None:
    queries: list[Query] = [Count(), Histogram("h", edges=[0, 2, 4])]
    answers = people().ask(queries, by="g", groups=["a", "b"], max_groups=1, privacy=ln.Privacy(1))
    assert len(answers.others) == 1
    assert str(answers).index("count by g") < str(answers).index("histogram of h by g")
    with pytest.raises(InvalidParameter, match="Only answers with the same groups export"):
        answers.to_pandas()


def test_a_histogram_of_discovered_groups_is_rejected_and_charges_nothing(tmp_path: Path) -> None:
    ranges = Histogram("h", edges=[0, 2, 4])
    with ln.Ledger(tmp_path / "l", limit=ln.Privacy(2, "1e-5")) as ledger:
        for queries in ([Count(), ranges], [ranges, Count()]):
            with pytest.raises(InvalidParameter, match="A histogram by group requires public"):
                people(ledger).ask(queries, by="g", max_groups=1, privacy=PRIVACY)
        assert ledger.spent == ln.Privacy(0, 0)


def test_a_notebook_shows_all_columns_escaped() -> None:
    html = ask_all()._repr_html_()
    assert html.count("<th style='text-align:left;white-space:pre'>95% interval</th>") == 4
    assert "[1, 5]" in html


def test_no_group_is_a_table_too() -> None:
    few = ln.protect(pa.table({"u": [1], "g": ["a"]}), unit="u", max_rows=1, ledger=ln.UNRECORDED)
    answers = few.ask(
        [Count(), Count(of="units", where="g = 'a'")], by="g", max_groups=1, privacy=PRIVACY
    )
    assert "no group" in str(answers)
    assert len(answers.to_pandas()) == 0
    assert answers.rows() == []


def test_columns_keep_their_values_beside_errors_of_the_same_name() -> None:
    """The mean of ``x_low`` is called like the lower end of the mean of ``x``."""
    data = pa.table({"u": range(60), "g": ["a"] * 60, "x": [2.0] * 60, "x_low": [5.0] * 60})
    protected = ln.protect(data, unit="u", max_rows=1, ledger=ln.UNRECORDED)
    bounds: Any = (0, 8)
    answers = protected.ask(
        [Mean("x", bounds=bounds), Mean("x_low", bounds=bounds)],
        by="g",
        groups=["a"],
        max_groups=1,
        privacy=ln.Privacy(900),
        allow_exact=True,
    )
    row: Any = answers.rows()[0]
    found = [float(row[n]) for n in ("mean_of_x", "mean_of_x_low_", "mean_of_x_low")]
    assert found == pytest.approx([2, 2, 5], abs=0.1)
    frame = answers.to_polars()
    assert frame.columns == list(row)
    assert frame["mean_of_x_low"].to_list() == pytest.approx([5], abs=0.1)
