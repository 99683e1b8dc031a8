"""A new table query: one class and one entry, by the checklist of docs/architecture.md."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import leastnoise as ln
from leastnoise import tables
from leastnoise.cli import main
from leastnoise.core.exact import parse_count
from leastnoise.tables import (
    QUERIES,
    Argument,
    Count,
    ProtectedTable,
    Query,
    QueryMethods,
    Sum,
    TableQuery,
)
from leastnoise.tables.answers import Subject
from leastnoise.tables.bounding import Summed
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows, check_numeric
from leastnoise.tables.queries.query import make_title
from leastnoise.tables.released_number import ReleasedNumber
from leastnoise.tables.sources import Source
from leastnoise.tables.where import Comparison, Literal, truth
from tests.golden.cases import fixed_bits

# ------------------------------------------------------------------- the toy: all of it


@dataclass(frozen=True)
class UnitsFrom(Query):
    """How many units have a row with a column of at least some value."""

    column: Any
    least: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("least", parse_count(self.least, "least", least=0))

    @property
    def title(self) -> str:
        return make_title(f"units with {self.column} from {self.least}", self.by)

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"column": self.column, "least": self.least}

    def check(self, source: Source) -> None:
        super().check(source)
        check_numeric(source, self.column, booleans=False)

    def contributions(self, subject: Subject) -> str:
        return subject.rows_per_unit

    def plan(self, rows: Rows) -> PlannedQuery:
        condition = Comparison(self.column, ">=", (Literal("number", Decimal(self.least)),))
        kept = rows.filter(truth(condition, rows.source, rows.table))
        once = replace(kept, unit=replace(rows.unit, max_rows=1))
        return PlannedQuery(query=self, rows=once, numbers=(self.group_count(once.unit),))


ENTRY: dict[str, Any] = {
    "name": "units_from",
    "query_class": UnitsFrom,
    "doc": "Count units (:class:`UnitsFrom`).",
    "help": "Count the units with a COLUMN of at least some value (ProtectedTable.units_from).",
    "examples": ("people.csv income --least 5 --unit person --epsilon 1",),
    "arguments": (
        Argument("column", str, positional=True, metavar="COLUMN"),
        Argument("least", int, help="The least value."),
    ),
}


@pytest.fixture
def registered() -> Iterator[None]:
    tables.register(TableQuery(**ENTRY))
    yield
    del QUERIES["units_from"]
    del QueryMethods.units_from  # type: ignore[attr-defined]


# ------------------------------------------------------------------- what the entry gives it

# Each person has two rows; 90 of 100 have one with an income of at least 5.
PEOPLE = {
    "person": [person for person in range(100) for _ in range(2)],
    "region": ["north" if person < 40 else "south" for person in range(100) for _ in range(2)],
    "income": [
        value for person in range(100) for value in ((5, 6) if person % 10 else (0, 4))
    ],
}  # fmt: skip
NEARLY_EXACT = ln.Privacy(200)  # a count is moved with probability below 2e^−99


def protected(ledger: Any = ln.UNRECORDED) -> Any:
    return ln.protect(pa.table(PEOPLE), unit="person", max_rows=2, ledger=ledger, name="people")


@pytest.mark.usefixtures("registered")
def test_it_has_a_method_and_is_asked_with_others() -> None:
    people = protected()
    assert people.units_from("income", least=5, privacy=NEARLY_EXACT).value == 90
    root: Any = ln
    question = root.UnitsFrom("income", least=5)
    assert root.tables.UnitsFrom is UnitsFrom
    # A count of the same table counts two rows of a unit: the two must not share a query.
    both = people.ask([Count(), question], privacy=NEARLY_EXACT)
    assert [one.value for one in both] == [200, 90]


@pytest.mark.usefixtures("registered")
def test_its_method_is_as_good_as_one_written_by_hand() -> None:
    method = ProtectedTable.units_from  # type: ignore[attr-defined]
    assert method.__doc__ == ENTRY["doc"]
    assert "units_from" in dir(ProtectedTable)
    with pytest.raises(TypeError, match=r"ProtectedTable.units_from\(\) .*unexpected .*'most'"):
        protected().units_from("income", least=5, most=5, privacy=NEARLY_EXACT)
    with pytest.raises(TypeError, match=r"ProtectedTable.units_from\(\) missing .*'least'"):
        protected().units_from("income", privacy=NEARLY_EXACT)
    with pytest.raises(ln.errors.InvalidParameter, match="A column of numbers must hold"):
        protected().units_from("region", least=5, privacy=NEARLY_EXACT)


@pytest.mark.usefixtures("registered")
def test_one_unit_changes_each_of_its_numbers_by_one() -> None:
    people = protected()
    made: Any = UnitsFrom
    question = made("income", least=5, by="region", groups=["north", "south"], max_groups=2)
    (number,) = plan_query(question, people.source, people.unit).numbers
    assert [number.sensitivity, number.touched, number.step] == [1, 2, 1]
    assert "units with income from 5 by region" in str(people.explain(question, privacy=SMALL))


SMALL = ln.Privacy(1, "1e-6")


@pytest.mark.usefixtures("registered")
def test_it_is_charged_stored_and_reused(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(3)) as ledger:
        people = protected(ledger)
        first, again, other = (
            people.units_from("income", least=least, privacy=ln.Privacy(1)) for least in (5, 5, 6)
        )
        assert (first.index, again.receipt.reused, other.receipt.reused) == (
            again.index,
            True,
            False,
        )
        assert again.receipt.key.startswith("units with income from 5 #")
        assert ledger.spent == ln.Privacy(2)
        ledger.verify()


@pytest.mark.usefixtures("registered")
def test_it_discovers_groups_prints_and_exports(tmp_path: Path) -> None:
    answers = protected().units_from("income", least=5, by="region", max_groups=1, privacy=SMALL)
    truth = {"north": 36, "south": 54}
    assert all(abs(one.value - truth[key]) <= one.max_error <= 20 for key, one in answers)
    assert len(answers) == 2
    assert str(answers).startswith("units with income from 5 by region\n\nregion  value")
    with answers.to_csv(tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        assert [row["value"] for row in csv.DictReader(file)] == [
            str(one.value) for _, one in answers
        ]


@pytest.mark.usefixtures("registered")
def test_it_has_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(PEOPLE), "people.parquet")
    run = CliRunner(env={"COLUMNS": "100"})
    assert "Count the units with a COLUMN" in run.invoke(main, ["--help"]).stdout
    said = run.invoke(main, ["units-from", "--help"]).stdout
    assert "units-from [OPTIONS] SOURCE COLUMN" in said
    assert "--least" in said
    assert "leastnoise units-from people.csv income --least 5" in said
    words = ["units-from", "people.parquet", "income", "--unit", "person", "--max-rows", "2"]
    words += ["--epsilon", "200", "--unrecorded", "--json"]
    done = run.invoke(main, [*words, "--least", "5", "--out", "a.csv"])
    assert json.loads(done.stdout)["value"] == "90"
    assert "90" in Path("a.csv").read_text(encoding="utf-8")
    missing = run.invoke(main, words).stderr
    assert missing.startswith("Error: 1 option is missing.")
    assert "--least" in missing


def test_afterwards_nothing_of_it_is_left() -> None:
    assert "units_from" not in QUERIES
    assert not hasattr(ln, "UnitsFrom")
    assert not hasattr(ProtectedTable, "units_from")
    assert CliRunner().invoke(main, ["units-from"]).exit_code == 2


# ------------------------------------------------------------------- what is missing is named


@pytest.mark.parametrize("part", ["name", "query_class", "help", "examples"])
def test_an_entry_without_a_part_is_refused_by_its_name(part: str) -> None:
    with pytest.raises(TypeError, match=f"'{part}'"):
        TableQuery(**{name: value for name, value in ENTRY.items() if name != part})
    with pytest.raises(TypeError, match=f"lacks its {part}"):
        TableQuery(**ENTRY | {part: ()})


@pytest.mark.parametrize("part", ["title", "plan", "contributions"])
def test_a_class_without_a_part_is_refused_by_its_name(part: str) -> None:
    whole = {
        "title": UnitsFrom.title,
        "plan": UnitsFrom.plan,
        "contributions": UnitsFrom.contributions,
    }
    half = type("Half", (Query,), {name: whole[name] for name in whole if name != part})
    entry = ENTRY | {"query_class": half, "arguments": ()}
    with pytest.raises(TypeError, match=rf"'units_from' \(Half\) lacks {part}$"):
        TableQuery(**entry)


def test_an_argument_and_a_field_must_belong_together() -> None:
    with pytest.raises(TypeError, match="lacks an argument least"):
        TableQuery(**ENTRY | {"arguments": ENTRY["arguments"][:1]})
    with pytest.raises(TypeError, match="lacks a field most"):
        TableQuery(**ENTRY | {"arguments": (*ENTRY["arguments"], Argument("most", int))})
    with pytest.raises(TypeError, match="must be called with a dataclass"):
        TableQuery(**ENTRY | {"query_class": int})


@pytest.mark.parametrize("name", ["count", "ask", "close"])
def test_a_name_that_is_taken_is_refused(name: str) -> None:
    assert hasattr(ProtectedTable, name)
    with pytest.raises(TypeError, match=f"'{name}' lacks a name of its own"):
        tables.register(TableQuery(**ENTRY | {"name": name}))


def test_a_class_that_is_loaded_later_is_checked_then() -> None:
    entry = TableQuery(**ENTRY | {"query_class": "leastnoise.tables.queries.count:Count"})
    with pytest.raises(TypeError, match=r"\(Count\) lacks a field column, a field least"):
        entry.load()


@dataclass(frozen=True)
class Wrong(Count):
    """A count whose query does not fit the parts that it inherits."""

    lacks: str = field(kw_only=True)

    def plan(self, rows: Rows) -> PlannedQuery:
        number = self.group_count(rows.unit)
        if self.lacks == "add_noise":
            return PlannedQuery(query=self, rows=rows, numbers=(number, number))
        if self.lacks == "answers":
            summed = Summed(rows.table["income"], 0, 9)
            return PlannedQuery(query=self, rows=rows, numbers=(number, number), sums=(summed,))
        return PlannedQuery(query=self, rows=rows, numbers=(replace(number, shift=1),))


@pytest.mark.parametrize("lacks", ["add_noise", "answers", "deciding_count"])
def test_a_query_that_its_answer_does_not_fit_is_refused_before_it_is_charged(
    lacks: str, tmp_path: Path
) -> None:
    """Once an unknown question was answered by the last of its numbers."""
    wrong: Any = Wrong
    by = "region" if lacks == "deciding_count" else ()
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(3, "1e-6")) as ledger:
        with pytest.raises(TypeError, match=f"Wrong lacks {lacks}"):
            protected(ledger).ask([wrong(by=by, max_groups=1, lacks=lacks)], privacy=SMALL)
        assert ledger.spent == ln.Privacy(0)


@dataclass(frozen=True)
class Understated(Sum):
    """A sum that says less than the truth of what one unit changes."""

    fault: str = field(kw_only=True)

    def plan(self, rows: Rows) -> PlannedQuery:
        query = super().plan(rows)
        if self.fault == "unit":
            return replace(query, rows=replace(rows, unit=replace(rows.unit, column=None)))
        if self.fault == "bin":
            return replace(query, bin=rows.table["person"])
        fewer = {self.fault: getattr(query.numbers[-1], self.fault) - 1}
        return replace(query, numbers=(*query.numbers[:-1], replace(query.numbers[-1], **fewer)))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("shift", "Understated understates the sensitivity of sum"),
        ("touched", "Understated understates the sensitivity of sum"),
        ("unit", "Understated must plan for the privacy unit of its table"),
        ("bin", "Understated lacks groups_itself"),
    ],
)
def test_a_query_that_understates_its_sensitivity_is_refused(
    fault: str, message: str, tmp_path: Path
) -> None:
    """Such a query would get too little noise; the control is the same query without a fault."""
    grouped: dict[str, Any] = {"by": "region", "groups": ["north", "south"], "max_groups": 2}
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(3, "1e-6")) as ledger:
        people = protected(ledger)
        made: Any = Understated
        wrong = made("income", bounds=(0, 9), fault=fault, **grouped)
        with pytest.raises(TypeError, match=message):
            people.ask([wrong], privacy=SMALL)
        assert ledger.spent == ln.Privacy(0)
        people.ask([Sum("income", bounds=(0, 9), **grouped)], privacy=SMALL)
        assert ledger.spent == SMALL


def test_a_class_with_fields_but_without_words_for_them_is_refused() -> None:
    """Two questions that differ in such a field would have one answer in a ledger."""

    @dataclass(frozen=True)
    class Speechless(UnitsFrom):
        more: int = 0

    with pytest.raises(TypeError, match="lacks to_dict of its own, with its fields"):
        TableQuery(**ENTRY | {"query_class": Speechless})


# ------------------------------------------------------------------- the unit of a number


@dataclass(frozen=True)
class Named(Sum):
    """A sum that calls its number something else."""

    called: str = field(kw_only=True)

    def plan(self, rows: Rows) -> PlannedQuery:
        query = super().plan(rows)
        numbers = tuple(replace(number, name=self.called) for number in query.numbers)
        return replace(query, numbers=numbers)


@pytest.mark.parametrize("name", ["sum", "weight", "count", "comparison"])
def test_a_number_of_any_name_gets_noise_in_its_own_unit(name: str) -> None:
    """Once the step was found by the name "sum": another name got too little noise."""
    people = ln.protect(
        pa.table({"person": range(50), "x": [0.3] * 50}),
        unit="person",
        max_rows=1,
        ledger=ln.UNRECORDED,
    )
    drawn = []
    made: Any = Named
    for question in (Sum("x", bounds=(0, 1)), made("x", bounds=(0, 1), called=name)):
        (number,) = plan_query(question, people.source, people.unit).numbers
        assert [number.step, number.sensitivity] == [Fraction(1, 1 << 40), 1]
        with fixed_bits():
            (answer,) = people.ask([question], privacy=ln.Privacy(1))
        assert isinstance(answer, ln.Answer)
        assert answer.mechanism.sensitivity == 1
        drawn.append(answer.index)
    assert drawn[0] == drawn[1]


def test_the_unit_of_noise_and_of_sensitivity_cannot_differ() -> None:
    """Sensitivity is so many steps, and a step must be given."""
    given: dict[str, Any] = {"name": "weight", "shift": 3, "touched": 1}
    assert ReleasedNumber(**given, step=Fraction(1, 8)).sensitivity == Fraction(3, 8)
    with pytest.raises(TypeError, match="'step'"):
        ReleasedNumber(**given)
    with pytest.raises(ValueError, match="must be integers to have integer noise"):
        ReleasedNumber(**given, step=Fraction(1, 8), integer=True)
