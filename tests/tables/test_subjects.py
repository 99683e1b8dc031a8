"""Every answer from a table says what its number is about, and what it guarantees."""

import dataclasses
import html
import pickle
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import leastnoise as ln
from leastnoise.core.privacy import format_guarantee
from leastnoise.errors import InvalidParameter

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
    return {"by": "region", "keys": ["north", "south"], "max_groups": 3, **more}


def test_a_sum_says_that_values_were_clipped(people: Any) -> None:
    answer = people.sum("income", bounds=(0, 10), privacy=PRIVACY)
    subject = answer.subject
    assert subject.heading == "sum of income, clipped to [0, 10]"
    assert subject.bounds == (0, 10)
    assert (subject.unit, subject.max_rows, subject.max_groups) == ("id", 2, None)
    assert subject.contributions == "at most 2 rows per id"
    assert subject.omitted == ("rows without id",)
    assert "not numbers are treated as missing (NULL)" in subject.notes[0]


def test_a_grouped_answer_shares_one_subject(people: Any) -> None:
    table = people.count(privacy=PRIVACY, where="age >= 18", **by_region())
    assert table.subject.statistic == "count"
    assert table.subject.contributions == (
        "at most 2 rows per id in each group, at most 3 groups per id"
    )
    assert table.subject.omitted == (
        "rows without id or region",
        "rows of other groups",
        "rows for which age >= 18 is not true",
    )
    assert {id(answer.subject) for answer in table.answers} == {id(table.subject)}


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        (ln.Mean("income", bounds=(0, 9)), "rows without income"),
        (ln.Quantile("income", bounds=(0, 9)), "rows without income"),
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
        ln.Quantile("age", bounds=(0, 99), cells=8),
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
        assert part.subject.omitted == ("rows without id", "rows without income")
        assert str(part).startswith(f"{part.subject.heading}: ")


# ------------------------------------------------------------------- groups per unit


@pytest.mark.parametrize(
    "question",
    [
        ln.Count(by="region"),
        ln.Count(by="region", keys=["north", "south"]),
        ln.Sum("age", bounds=(0, 99), by="region", keys=["north", "south"]),
        ln.Mean("age", bounds=(0, 99), by=["region"], keys=["north", "south"]),
        ln.Quantile("age", bounds=(0, 99), by="region", keys=["north", "south"]),
        ln.Histogram("age", edges=[0, 18, 65]),
        ln.Histogram("age", edges=[0, 65], by="region", keys=["north", "south"]),
    ],
)
def test_max_groups_must_be_given_where_a_unit_can_be_in_several_groups(
    people: Any, question: Any
) -> None:
    with pytest.raises(
        InvalidParameter, match=r"max_groups must be given.*Write max_groups=1 "
    ) as e:
        people.ask([question], privacy=PRIVACY)
    assert "--max-groups must be given" in e.value.command
    assert "Write --max-groups 1 " in e.value.command
    given = dataclasses.replace(question, max_groups=1)
    assert people.ask([given], privacy=PRIVACY)
    assert given.to_dict() == question.to_dict()  # as ledgers of 0.5.0 have it


def test_max_groups_is_not_needed_where_a_unit_is_in_one_group(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    rows = ln.protect(str(path), unit=None, ledger=ln.UNRECORDED)
    units = ln.protect(str(path), unit="id", max_rows=1, ledger=ln.UNRECORDED)
    with rows, units:
        assert rows.count(by="region", keys=["north", "south"], privacy=PRIVACY)
        assert rows.histogram("age", edges=[0, 18, 65], privacy=PRIVACY)
        for answer in (
            units.count(by="region", keys=["north"], privacy=PRIVACY),
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
                by="month", keys=months, max_groups=groups, privacy=ln.Privacy(200)
            )
            # At ε ≥ 66 each, noise other than 0 has a probability below 1e-27.
            assert sum(one.value for _, one in answer) == total
            assert f"at most {groups} group" in answer.subject.contributions


def test_the_groups_of_a_quantile_are_one(people: Any) -> None:
    with pytest.raises(InvalidParameter, match="max_groups must be 1 for a quantile, got 2"):
        people.median("age", bounds=(0, 99), by="region", max_groups=2, privacy=PRIVACY)


# ------------------------------------------------------------------- screens


def every_answer(people: Any) -> list[Any]:
    asked: list[Any] = [
        ln.Count(),
        ln.Sum("income", bounds=(0, 10), where="age >= 18 and region in ('north', 'south')"),
        ln.Mean("income", bounds=(0, 10)),
        ln.Quantile("income", bounds=(0, 10), cells=8),
        ln.Count(**by_region()),
        ln.Sum("age", bounds=(0, 99), **by_region()),
        ln.Mean("age", bounds=(0, 99), **by_region()),
        ln.Quantile("age", bounds=(0, 99), cells=8, **by_region(max_groups=1)),
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
        for phrase in (subject.contributions, *subject.omitted, *subject.notes):
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
            table.count(by=odd, keys=[1, 2], max_groups=1, privacy=PRIVACY),
        ):
            for shown in (str(answer), answer._repr_html_()):
                assert "\x1b" not in shown
                assert r"a\x1b[31m\n b" in " ".join(shown.split())
            assert "<b>" not in answer._repr_html_()


def test_answers_survive_pickling(people: Any) -> None:
    for answer in every_answer(people):
        assert str(pickle.loads(pickle.dumps(answer))) == str(answer)
