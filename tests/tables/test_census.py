"""The invented census: made by its script byte for byte, and what documents print of it is so."""

import csv
import importlib.util
import re
import subprocess
import sys
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path
from types import ModuleType

import psycopg
import pytest

import leastnoise as ln
from leastnoise.tables import ProtectedTable, census
from tests.support.postgres_servers import Server

ROOT = Path(__file__).resolve().parents[2]
HERMIT = "P08000"  # who lives on the rock


def script(name: str) -> ModuleType:
    """Return a script of the examples as a module: they are no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for their types
    spec.loader.exec_module(module)
    return module


@cache
def rows() -> list[dict[str, str]]:
    with census().open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ------------------------------------------------------------------- the table


def test_the_script_makes_the_file_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker, path = script("make_census"), tmp_path / "people.csv"
    monkeypatch.setattr(sys, "argv", ["make_census.py", str(path)])
    maker.main()
    assert path.read_bytes() == census().read_bytes()
    assert path.stat().st_size <= 1_000_000


def test_another_seed_makes_other_people(monkeypatch: pytest.MonkeyPatch) -> None:
    maker = script("make_census")
    monkeypatch.setattr(maker, "SEED", "another")
    assert maker.table().encode() != census().read_bytes()


def test_a_person_is_the_same_in_all_of_their_rows() -> None:
    own = ("region", "household", "age", "sex", "born")
    assert len({row["person_id"] for row in rows()}) == 8_000
    assert len({(row["person_id"], *(row[name] for name in own)) for row in rows()}) == 8_000
    jobs = Counter(row["person_id"] for row in rows())
    assert set(jobs.values()) == {1, 2, 3}


def test_days_of_birth_fit_ages() -> None:
    """On the first of January 2026: everyone has had the birthday of 2025, unless it is today."""
    for row in rows():
        if row["born"]:
            born, day = date.fromisoformat(row["born"]), date(2026, 1, 1)
            had = (born.month, born.day) <= (day.month, day.day)
            assert int(row["age"]) == day.year - born.year - (not had)


def test_some_fields_are_empty_and_the_rest_are_plausible() -> None:
    empty = Counter(name for row in rows() for name, value in row.items() if not value)
    assert set(empty) == {"region", "sex", "born", "income", "hours"}
    for row in rows():
        assert 0 <= int(row["age"]) <= 110
        assert 0 <= float(row["hours"] or 0) <= 60
        assert 0 <= int(row["income"] or 0) < 400_000
        if row["occupation"] in ("child", "pupil"):
            assert int(row["age"]) < 17
            assert not row["income"] + row["hours"]
    beyond = sum(int(row["income"] or 0) > 150_000 for row in rows())
    assert 0 < beyond < len(rows()) / 100  # the bounds of the documents hold for nearly all


def test_one_person_lives_on_the_rock() -> None:
    assert {row["person_id"] for row in rows() if row["region"] == "rock"} == {HERMIT}


# ------------------------------------------------------------------- what documents print

PRINTED = re.compile(r"(?s)<!-- printed: regions -->\n\n```text\n(.*?)```\n")


def counted() -> dict[str, int]:
    """Return how many persons there are in each region."""
    people = {row["person_id"]: row["region"] for row in rows()}
    return Counter(region for region in people.values() if region)


def masked(text: str) -> str:
    """Return a text without its digits and without the digest in a key."""
    return re.sub(r"\d", "#", re.sub(r"#[0-9a-f]{24}", "", text))


def regions(path: Path) -> ProtectedTable:
    ledger = ln.Ledger(path, limit=ln.Privacy(1, "1e-6"))
    return ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger)


@pytest.mark.parametrize("document", ["README.md", "docs/tables.md"])
def test_the_printed_answer_is_one_that_could_be_printed(document: str, tmp_path: Path) -> None:
    """The same words and numbers of as many digits; of each region, a count that is possible.

    The noise is at most 70 and no count is so near to a power of ten: what is compared does not
    depend on what is drawn.
    """
    text = (ROOT / document).read_text(encoding="utf-8")
    (printed,) = PRINTED.findall(text)
    people = regions(tmp_path / "people.ledger")
    answers = people.count(by="region", max_groups=1, privacy=ln.Privacy("0.2", "1e-7"))
    people.ledger.close()  # type: ignore[union-attr]
    assert masked(printed) == masked(f"{answers}\n")
    true = counted()
    assert true.pop("rock") == 1
    shown = re.findall(r"(?m)^(\w+) +(\d+) +(\d+) to (\d+)$", printed)
    (most,) = re.findall(r"(?m)^Max error +(\d+) in every row$", printed)
    assert [line[0] for line in shown] == sorted(true)
    for region, value, low, high in shown:
        assert int(most) == answers[region].max_error <= 70
        assert abs(int(value) - true[region]) <= int(most)
        usual = answers[region].interval()
        assert (int(low) + int(high)) / 2 == int(value)
        assert int(high) - int(low) == usual[1] - usual[0]


def test_the_printed_count_is_one_that_could_be_printed(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"(?s)<!-- printed: persons -->\n\n```text\n(.*?)```\n", text)
    people = regions(tmp_path / "people.ledger")
    answer = people.count(privacy=ln.Privacy("0.2", "1e-7"), key="persons")
    people.ledger.close()  # type: ignore[union-attr]
    ((value, always),) = re.findall(r"^count: (\d+) ± \d+ \(95% [a-z]+, max error (\d+)\)", printed)
    assert masked(printed) == masked(f"{answer}\n")
    assert abs(int(value) - 8_000) <= int(always) == answer.max_error


def test_the_example_runs_and_shows_every_answer() -> None:
    command = [sys.executable, str(ROOT / "examples" / "census.py")]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    clipped = "mean of income by sex, clipped to [0, 150000]"
    for title in ("count by region", clipped, "histogram of age"):
        assert f"\n  {title}\n" in done.stdout
    assert "rock" not in done.stdout.partition("count by region")[2].partition("Max error")[0]
    assert done.stdout.endswith("Left in the ledger: (ε, δ) = (0, 0.0000009).\n")


# ------------------------------------------------------------------- what documents advise


def test_a_role_that_may_only_read_the_table_is_enough(postgres: Server) -> None:
    """As docs/tables.md writes it down."""
    text = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    (advised,) = re.findall(r"(?ms)^```sql\n(.*?)^```$", text)
    place = postgres.database()
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("CREATE TABLE people (person_id int, region text, income float8)")
        connection.execute("INSERT INTO people SELECT i, 'north', i FROM generate_series(1, 500) i")
        connection.execute(advised)
    reader = place.replace("postgres@", "reader@")
    with (
        psycopg.connect(reader) as connection,
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction, match="read-only"),
    ):
        connection.execute("INSERT INTO people VALUES (501, 'north', 0)")
    people = ln.protect(reader, table="people", unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
    found = people.mean(
        "income", bounds=(0, 500), by="region", max_groups=1, privacy=ln.Privacy(1, "1e-6")
    )
    people.source.table.get_backend().disconnect()
    assert [key for key, _ in found] == ["north"]
    low, high = found["north"].interval(1)
    assert low <= 250.5 <= high
