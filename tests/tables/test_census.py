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
from leastnoise.tables import census
from tests.docs.printed import shown
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


def counted() -> dict[str, int]:
    """Return how many persons there are in each region."""
    people = {row["person_id"]: row["region"] for row in rows()}
    return Counter(region for region in people.values() if region)


@pytest.mark.parametrize("document", ["README.md", "docs/first-report.md", "docs/tables.md"])
def test_the_printed_counts_are_possible(document: str) -> None:
    """For each region a count within the maximum error, in the middle of its interval."""
    printed = shown(document, "regions")
    true = counted()
    assert true.pop("rock") == 1
    lines = re.findall(r"(?m)^(\w+) +(\d+) +(\d+) to (\d+)$", printed)
    (most,) = re.findall(r"(?m)^Max error +(\d+) in every row$", printed)
    assert [line[0] for line in lines] == sorted(true)
    assert int(most) == 70
    for region, value, low, high in lines:
        assert abs(int(value) - true[region]) <= int(most)
        assert int(value) - int(low) == int(high) - int(value) == 15


def test_the_printed_count_of_the_front_page_is_possible() -> None:
    printed = shown("README.md", "commands")
    ((value,),) = [re.findall(r"(?m)^count: (\d+) ± 15 \(95% confidence\)$", printed)]
    assert abs(int(value) - 8_000) <= 70


def test_the_example_runs_and_shows_every_answer() -> None:
    command = [sys.executable, str(ROOT / "examples" / "census.py")]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    clipped = "mean of income by sex, clipped to [0, 150000]"
    for title in ("count by region", clipped, "histogram of age"):
        assert f"\n  {title}\n" in done.stdout
    assert "rock" not in done.stdout.partition("count by region")[2].partition("Max error")[0]
    assert done.stdout.endswith("Remaining budget: ε = 0, δ = 9e-7.\n")


# ------------------------------------------------------------------- what documents advise


def test_a_role_that_may_only_read_the_table_is_enough(postgres: Server) -> None:
    """As docs/sources.md writes it down."""
    text = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
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
