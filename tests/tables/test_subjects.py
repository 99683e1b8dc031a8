"""Every answer from a table says what its number is about, and what it guarantees."""

import dataclasses
import html
import json
import pickle
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import leastnoise as ln
from leastnoise.core.privacy import format_guarantee
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import fact_lines, sentences
from leastnoise.tables import census

pd: Any = import_module("pandas")

PRIVACY = ln.Privacy("0.9", "1e-6")
PEOPLE = "id,region,age,income\n1,north,30,20\n1,north,31,25\n2,south,40,x\n,south,50,1\n3,,60,2\n"


@pytest.fixture
def people(tmp_path: Path) -> Any:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    with ln.protect(str(path), unit="id", max_rows=2, ledger=ln.UNRECORDED) as table:
        yield table


def by_region(**more: Any) -> dict[str, Any]:
    return {"by": "region", "groups": ["north", "south"], "max_groups": 3, **more}


def test_a_sum_says_that_values_were_clipped(people: Any) -> None:
    answer = people.sum("income", bounds=(0, 10), privacy=PRIVACY)
    subject = answer.subject
    assert subject.heading == "sum of income, clipped to [0, 10]"
    assert subject.bounds == (0, 10)
    assert (subject.unit, subject.max_rows, subject.max_groups) == ("id", 2, None)
    assert subject.contributions == "each id's total is clipped to 2 rows' worth, [0, 20]"
    assert subject.omitted == ("malformed CSV lines", "rows without id")
    assert "not numbers are treated as missing (NULL)" in subject.notes[0]


def test_a_grouped_answer_shares_one_subject(people: Any) -> None:
    table = people.count(privacy=PRIVACY, where="age >= 18", **by_region())
    assert table.subject.statistic == "count"
    assert table.subject.contributions == (
        "at most 2 rows per id per group, at most 3 groups per id"
    )
    assert table.subject.omitted == (
        "malformed CSV lines",
        "rows without id or region",
        "rows of other groups",
        "rows for which age >= 18 is not true",
    )
    assert {id(answer.subject) for answer in table.answers} == {id(table.subject)}


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        (ln.Mean("income", bounds=(0, 9)), "rows without income"),
        (ln.Quantile("income", "0.5", bounds=(0, 9)), "rows without income"),
        (
            ln.Histogram("age", edges=[0, 18, 65], max_groups=2),
            "rows whose age is missing or outside [0, 65]",
        ),
    ],
)
def test_rows_without_a_value_are_said_to_be_omitted(
    people: Any, question: Any, phrase: str
) -> None:
    (answer,) = people.ask([question], privacy=PRIVACY)
    assert phrase in answer.subject.omitted
    assert answer.subject.notes  # a CSV column is text


def test_discovered_groups_say_from_which_count_on_they_are_shown(people: Any) -> None:
    table = people.count(by="region", max_groups=1, privacy=PRIVACY)
    (mechanism,) = people.explain(
        ln.Count(by="region", max_groups=1), privacy=PRIVACY
    ).prepared.mechanisms
    assert table.subject.hidden_up_to == 2 + mechanism.discretized.radius


def test_answers_of_a_batch_report_their_own_share_and_the_total(people: Any) -> None:
    questions: list[Any] = [
        ln.Count(),
        ln.Sum("income", bounds=(0, 9)),
        ln.Count(**by_region()),
        ln.Quantile("age", "0.5", bounds=(0, 99), bins=8),
    ]
    answers = people.ask(questions, privacy=PRIVACY)
    total = answers[0].total_privacy
    assert total.epsilon <= PRIVACY.epsilon
    assert total.delta <= PRIVACY.delta
    for answer in answers:
        assert answer.total_privacy == total
        assert 0 < answer.privacy.epsilon < total.epsilon
    table = answers[2]
    for answer in table.answers:  # a unit counts in up to three groups
        assert answer.total_privacy == total
        assert 3 * answer.privacy.epsilon == table.privacy.epsilon


def test_the_share_of_a_single_answer_is_the_total(people: Any) -> None:
    for answer in (
        people.count(privacy=PRIVACY),
        people.mean("income", bounds=(0, 9), privacy=PRIVACY),
        people.median("income", bounds=(0, 9), privacy=PRIVACY),
    ):
        assert answer.privacy == answer.total_privacy
        assert answer.total_privacy.epsilon <= PRIVACY.epsilon


def test_bounds_are_written_exactly() -> None:
    answer = ln.Sum("x", bounds=(Fraction(-1, 3), "0.5"))
    assert answer.clipping_bounds == (Fraction(-1, 3), Fraction(1, 2))


def test_both_parts_of_a_mean_say_what_they_are(people: Any) -> None:
    answer = people.mean("income", bounds=(0, 100), privacy=PRIVACY)
    assert answer.count.subject.heading == "count of rows with income"
    assert answer.sum.subject.heading == "sum of income - 50, clipped to [-50, 50]"
    for part in (answer.count, answer.sum):
        assert part.privacy == part.mechanism.privacy
        assert part.total_privacy == answer.total_privacy
        assert part.subject.omitted == answer.subject.omitted
        assert str(part).startswith(f"{part.subject.heading}: ")


# ------------------------------------------------------------------- rows per unit

NEARLY_EXACT = ln.Privacy(200)  # noise of 1/1000 or more has a probability below 1e-20
# Person 1 has five rows, person 2 has one, and person 3 has two.
ROWS = {"id": [1, 1, 1, 1, 1, 2, 3, 3], "x": [9.0, 9, 9, 0, 0, 4, 5, 6], "g": ["a"] * 6 + ["b"] * 2}


def of_rows(max_rows: int = 2) -> Any:
    return ln.protect(pd.DataFrame(ROWS), unit="id", max_rows=max_rows, ledger=ln.UNRECORDED)


def by_group(**more: Any) -> dict[str, Any]:
    return {"by": "g", "groups": ["a", "b"], "max_groups": 2, **more}


@pytest.mark.parametrize(
    ("question", "sentence", "value"),
    [
        (ln.Count(), "at most 2 rows per id", 2 + 1 + 2),
        (
            ln.Sum("x", bounds=(0, 10)),
            "each id's total is clipped to 2 rows' worth, [0, 20]",
            20 + 4 + 11,  # person 1: 27 in all, and not two of the five rows
        ),
        (
            ln.Sum("x", bounds=(2, 8)),  # a row without a value adds 0, so 0 is the lower end
            "each id's total is clipped to 2 rows' worth, [0, 16]",
            16 + 4 + 11,
        ),
        (
            ln.Sum("x", bounds=(-3, -2)),
            "each id's total is clipped to 2 rows' worth, [-6, 0]",
            -6 - 2 - 4,
        ),
        (
            ln.Mean("x", bounds=(0, 10)),
            "at most 2 rows per id (average of its values)",
            Fraction(2 * Fraction(27, 5) + 4 + 11) / 5,
        ),
    ],
)
def test_the_sentence_is_what_becomes_of_a_unit_with_more_rows(
    question: Any, sentence: str, value: Any
) -> None:
    with of_rows() as table:
        (answer,) = table.ask([question], privacy=NEARLY_EXACT, allow_exact=True)
    assert answer.subject.contributions == sentence
    assert sentence in " ".join(str(answer).split())
    assert html.escape(sentence) in answer._repr_html_()
    assert answer.subject.to_dict()["contributions"] == sentence
    assert sentence in answer.subject.statement
    assert abs(answer.value - value) < Fraction(1, 1000)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (ln.Count(**by_group()), "at most 2 rows per id per group, at most 2 groups per id"),
        (
            ln.Sum("x", bounds=(0, 10), **by_group()),
            "each id's total per group is clipped to 2 rows' worth, [0, 20], at most 2 groups "
            "per id",
        ),
        (
            ln.Mean("x", bounds=(0, 10), **by_group()),
            "at most 2 rows per id per group (average of its values), at most 2 groups per id",
        ),
        (
            ln.Quantile("x", "0.5", bounds=(0, 10)),
            "at most 2 rows per id, with values in one bin, picked by hash",
        ),
        (
            ln.Quantile("x", "0.5", bounds=(0, 10), **by_group(max_groups=1)),
            "at most 2 rows per id, in one group, with values in one bin, picked by hash",
        ),
        (
            ln.Histogram("x", edges=[0, 5, 10], max_groups=1),
            "at most 2 rows per id per range, at most 1 range per id",
        ),
        (
            ln.Histogram("x", edges=[0, 5, 10], **by_group()),
            "at most 2 rows per id per group and range, at most 2 ranges per id in all groups "
            "together",
        ),
        (ln.Histogram("x", edges=[0, 10]), "at most 2 rows per id"),
    ],
)
def test_every_query_has_its_own_sentence(question: Any, sentence: str, tmp_path: Path) -> None:
    with of_rows() as table:
        (answer,) = table.ask([question], privacy=NEARLY_EXACT, allow_exact=True)
    assert answer.subject.contributions == sentence
    assert sentence in " ".join(str(answer).split())
    assert html.escape(sentence) in answer._repr_html_()
    if isinstance(answer, ln.tables.GroupedAnswers):
        assert sentence in str(answer.rows()[0]["quantity"])
        assert sentence in answer.to_csv(tmp_path / "a.csv").read_text()
        written = json.loads(answer.to_json(tmp_path / "a.json").read_text())
        assert written["subject"]["contributions"] == sentence


def test_no_line_breaks_within_bounds() -> None:
    for before in range(1, 70):
        text = f"{'x' * before} is clipped to 2 rows' worth, [-20, 3.5], and so on"
        lines = [*fact_lines([("Counted", text)]), *sentences(text)]
        assert max(map(len, lines)) <= 80
        assert sum("[-20, 3.5]," in line for line in lines) == 2


def test_one_row_is_written_in_the_singular() -> None:
    with of_rows(1) as table:
        total = table.sum("x", bounds=(0, 10), privacy=NEARLY_EXACT, allow_exact=True)
        mean = table.mean("x", bounds=(0, 10), privacy=NEARLY_EXACT, allow_exact=True)
    assert total.subject.contributions == "each id's total is clipped to [0, 10]"
    assert mean.subject.contributions == ("at most 1 row per id (average of its values)")
    assert mean.count.subject.contributions == "at most 1 row per id"
    assert mean.sum.subject.contributions == mean.subject.contributions


def test_where_every_row_is_a_unit_nothing_is_bounded() -> None:
    with ln.protect(pd.DataFrame(ROWS), unit=None, ledger=ln.UNRECORDED) as table:
        answer = table.sum("x", bounds=(0, 10), privacy=NEARLY_EXACT, allow_exact=True)
    assert answer.subject.contributions == ""


# ------------------------------------------------------------------- which table


def test_answers_name_their_table_and_its_version(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    how: dict[str, Any] = {"unit": "id", "max_rows": 2, "ledger": ln.UNRECORDED}
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "people.csv"),
        ({"version": "2026-11"}, "people.csv, version 2026-11"),
        ({"name": "staff/all", "version": "3"}, "staff/all, version 3"),
    ]
    for more, expected in cases:
        with ln.protect(str(path), **how, **more) as people:
            one = people.sum("income", bounds=(0, 10), privacy=PRIVACY)
            grouped = people.count(privacy=PRIVACY, **by_region())
        for answer in (one, grouped):
            assert answer.subject.table_and_version == expected
            assert f">{expected}; omitted: " in answer._repr_html_()
            assert f"table: {expected}; " in answer.subject.statement
            assert str(tmp_path) not in answer.subject.statement
            data = answer.subject.to_dict()
            assert (data["table"], data["version"]) == (
                expected.partition(",")[0],
                more.get("version"),
            )
        assert f"table: {expected}; each id's" in " ".join(str(one).split())
        assert f"Table      {expected}; omitted: " in str(grouped)
        assert f"table: {expected}; " in grouped.rows()[0]["quantity"]
        written = json.loads(grouped.to_json(tmp_path / "a.json", overwrite=True).read_text())
        assert written["subject"]["version"] == more.get("version")


def test_a_pattern_is_named_from_its_first_wildcard_on(tmp_path: Path) -> None:
    for year in ("2025", "2026"):
        (tmp_path / year).mkdir()
        (tmp_path / year / "people.csv").write_text(PEOPLE)
    how: dict[str, Any] = {"unit": "id", "max_rows": 2, "ledger": ln.UNRECORDED}
    with ln.protect(str(tmp_path / "20*" / "people.csv"), **how) as people:
        assert people.count(privacy=PRIVACY).subject.table == "20*/people.csv"


def test_data_in_memory_is_named_by_its_kind() -> None:
    with of_rows() as table:
        assert table.count(privacy=PRIVACY).subject.table == "a pandas frame"


def test_a_stored_answer_names_its_table_under_the_key_that_it_had(tmp_path: Path) -> None:
    """Names are printed, and no key depends on how they are printed."""
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(3)) as ledger:
        for reused in (False, True):
            with ln.protect(str(path), unit="id", max_rows=2, ledger=ledger) as people:
                answer = people.count(privacy=ln.Privacy(1))
            assert answer.receipt is not None
            assert answer.receipt.reused is reused
            assert answer.subject.table == "people.csv"
    source = people.source
    assert source.words == {"of": str(path), "table": source._identity, "version": None}


def test_rows_that_an_ibis_filter_removes_are_said_to_be_omitted() -> None:
    ibis: Any = import_module("ibis")
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE people AS SELECT 1 AS id, 9.0::DOUBLE AS x")
    whole = connection.table("people")
    phrase = "rows that the filter of the Ibis table removes"
    for table, removed in ((whole, False), (whole.filter(whole.x > 3), True)):
        people = ln.protect(table, unit="id", max_rows=2, ledger=ln.UNRECORDED)
        answer = people.count(privacy=PRIVACY)
        assert answer.subject.table == "people"
        assert (phrase in answer.subject.omitted) is removed
        assert (phrase in " ".join(str(answer).split())) is removed


@pytest.mark.parametrize("question", [ln.Count(), ln.Sum("income", bounds=(0, 9))])
def test_a_csv_answer_says_that_a_line_is_a_row(people: Any, question: Any) -> None:
    (answer,) = people.ask([question], privacy=PRIVACY)
    note = (
        "Every line of a CSV file is read as one row. If a quoted field can contain a line "
        "break, convert the file to Parquet first."
    )
    assert note in answer.subject.notes
    assert note not in " ".join(str(answer).split())  # it is the same for every answer
    assert note in " ".join(answer.explain().split())
    explained = people.explain(question, privacy=PRIVACY)
    assert note in " ".join(str(explained).split())
    with of_rows() as table:
        assert table.count(privacy=PRIVACY).subject.notes == ()


# ------------------------------------------------------------------- discovered groups


def discovering(question: Any) -> Any:
    frame = {"id": range(4000), "x": [5.0] * 4000, "g": ["a", "b"] * 2000}
    people = ln.protect(pd.DataFrame(frame), unit="id", max_rows=1, ledger=ln.UNRECORDED)
    with people:
        (answer,) = people.ask([question], privacy=ln.Privacy(1, "1e-6"))
    return answer


def test_a_note_on_discovered_groups_promises_a_max_error_only_if_there_is_one() -> None:
    how: dict[str, Any] = {"by": "g", "max_groups": 1}
    chance = "A small group can appear by chance: its 95% interval may then miss the true value"
    for question, bounded, selected in (
        (ln.Count(**how), True, True),
        (ln.Mean("x", bounds=(0, 9), **how), True, True),
        # One sample of joint noise is in the sum and in the count that decides.
        (ln.Sum("x", bounds=(0, 9), **how), True, True),
        # Another noise than that of the bin decides which groups are shown.
        (ln.Quantile("x", "0.5", bounds=(0, 9), bins=4, **how), False, False),
    ):
        answer = discovering(question)
        assert len(answer) == 2
        text = " ".join(str(answer).split())
        assert "Groups were discovered from the data. Groups with a noisy count of " in text
        assert "so the rows need not add up to the total." in text
        limit = answer.subject.hidden_up_to
        hidden = f"hidden: groups with a noisy count of {limit} or less"
        assert hidden in answer.rows()[0]["quantity"]
        assert ("Max error none" in text) is not bounded
        assert (chance in text) is selected
        for shown in (text, answer._repr_html_()):
            assert ("but the max error still holds" in shown) is (bounded and selected)


# ------------------------------------------------------------------- groups per unit


@pytest.mark.parametrize(
    "question",
    [
        ln.Count(by="region"),
        ln.Count(by="region", groups=["north", "south"]),
        ln.Sum("age", bounds=(0, 99), by="region", groups=["north", "south"]),
        ln.Mean("age", bounds=(0, 99), by=["region"], groups=["north", "south"]),
        ln.Quantile("age", "0.5", bounds=(0, 99), by="region", groups=["north", "south"]),
        ln.Histogram("age", edges=[0, 18, 65]),
        ln.Histogram("age", edges=[0, 65], by="region", groups=["north", "south"]),
    ],
)
def test_max_groups_must_be_given_where_a_unit_can_be_in_several_groups(
    people: Any, question: Any
) -> None:
    with pytest.raises(
        InvalidParameter, match=r"^Set max_groups, the maximum groups per \w+\. Use 1 "
    ) as e:
        people.ask([question], privacy=PRIVACY)
    assert e.value.headline.startswith("Set --max-groups, the maximum groups per ")
    given = dataclasses.replace(question, max_groups=1)
    assert people.ask([given], privacy=PRIVACY)
    assert given.to_dict() == question.to_dict()  # as ledgers of 0.5.0 have it


def test_max_groups_is_not_needed_where_a_unit_is_in_one_group(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    rows = ln.protect(str(path), unit=None, ledger=ln.UNRECORDED)
    units = ln.protect(str(path), unit="id", max_rows=1, ledger=ln.UNRECORDED)
    with rows, units:
        assert rows.count(by="region", groups=["north", "south"], privacy=PRIVACY)
        assert rows.histogram("age", edges=[0, 18, 65], privacy=PRIVACY)
        for answer in (
            units.count(by="region", groups=["north"], privacy=PRIVACY),
            units.histogram("age", edges=[0, 65], privacy=PRIVACY),
        ):
            assert answer.subject.max_groups is None  # one group: none had to be chosen


def test_a_unit_in_two_groups_counts_in_both_only_if_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "flights.csv"
    months = ["jan", "feb", "mar"]
    path.write_text("plane,month\n" + "".join(f"{i},{m}\n" for i in range(50) for m in months))
    with ln.protect(str(path), unit="plane", max_rows=1, ledger=ln.UNRECORDED) as flights:
        for groups, total in ((1, 50), (2, 100), (3, 150)):
            answer = flights.count(
                by="month", groups=months, max_groups=groups, privacy=ln.Privacy(200)
            )
            # At ε ≥ 66 each, noise other than 0 has a probability below 1e-27.
            assert sum(one.value for _, one in answer) == total
            assert f"at most {groups} group" in answer.subject.contributions


def test_the_share_of_a_quantile_must_be_given(people: Any) -> None:
    with pytest.raises(
        TypeError, match=r"quantile\(\) missing 1 required positional argument: 'q'"
    ):
        people.quantile("age", bounds=(0, 99), privacy=PRIVACY)


@pytest.mark.parametrize(
    ("max_rows", "counted"),
    [
        (1, "at most 1 row per person_id per group, at most 2 groups per person_id, chosen by a"),
        (3, "at most 2 groups per person_id with values in one bin, chosen by a hash"),
    ],
)
def test_a_quantile_counts_a_unit_in_several_groups(max_rows: int, counted: str) -> None:
    people = ln.protect(census(), unit="person_id", max_rows=max_rows, ledger=ln.UNRECORDED)
    found: Any = people.median("age", bounds=(0, 99), by="region", max_groups=2, privacy=PRIVACY)
    assert counted in found["north"].subject.contributions


# ------------------------------------------------------------------- screens


def every_answer(people: Any) -> list[Any]:
    asked: list[Any] = [
        ln.Count(),
        ln.Sum("income", bounds=(0, 10), where="age >= 18 and region in ('north', 'south')"),
        ln.Mean("income", bounds=(0, 10)),
        ln.Quantile("income", "0.5", bounds=(0, 10), bins=8),
        ln.Count(**by_region()),
        ln.Sum("age", bounds=(0, 99), **by_region()),
        ln.Mean("age", bounds=(0, 99), **by_region()),
        ln.Quantile("age", "0.5", bounds=(0, 99), bins=8, **by_region(max_groups=1)),
        ln.Histogram("age", edges=[0, 18, 65], max_groups=1),
    ]
    alone = [people.ask([question], privacy=PRIVACY)[0] for question in asked]
    return [*alone, *people.ask(asked, privacy=PRIVACY)]


def test_every_printed_answer_states_what_it_is_about(people: Any) -> None:
    for answer in every_answer(people):
        subject, text = answer.subject, str(answer)
        said = " ".join(text.split())
        assert text.startswith(subject.heading)
        assert max(map(len, text.splitlines())) <= 80
        named = f"table: {subject.table}" if "table: " in text else f"Table {subject.table}"
        assert named in said
        assert f">{subject.table}; omitted: " in answer._repr_html_()
        for phrase in (subject.contributions, *subject.omitted, *subject.query_notes):
            assert phrase
            assert phrase in said
            assert html.escape(phrase) in answer._repr_html_()
        assert f"{format_guarantee(answer.privacy)} per id" in said
        total = f"; {format_guarantee(answer.total_privacy)} for everything released together"
        assert (total in said) == (answer.total_privacy != answer.privacy)
        assert (total in answer._repr_html_()) == (answer.total_privacy != answer.privacy)
        assert "not recorded" in said
        if subject.bounds is not None:
            low, high = subject.bounds
            assert f", clipped to [{low}, {high}]" in text.splitlines()[0]


def test_a_name_of_a_column_neither_breaks_a_line_nor_is_markup(tmp_path: Path) -> None:
    path, odd = tmp_path / "odd.parquet", "<b>a\x1b[31m\n b"
    pd.DataFrame({odd: [1, 2], "id": [1, 2]}).to_parquet(path)
    with ln.protect(str(path), unit=odd, max_rows=1, ledger=ln.UNRECORDED) as table:
        for answer in (
            table.sum(odd, bounds=(0, 9), privacy=PRIVACY),
            table.mean(odd, bounds=(0, 9), privacy=PRIVACY),
            table.count(by=odd, groups=[1, 2], max_groups=1, privacy=PRIVACY),
        ):
            for shown in (str(answer), answer._repr_html_()):
                assert "\x1b" not in shown
                assert r"a\x1b[31m\n b" in " ".join(shown.split())
            assert "<b>" not in answer._repr_html_()


def test_answers_survive_pickling(people: Any) -> None:
    for answer in every_answer(people):
        assert str(pickle.loads(pickle.dumps(answer))) == str(answer)
