"""``leastnoise sql``: the SELECT of ``people.sql`` on the command line."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import leastnoise as ln
from leastnoise.cli import main

# So much that no integer is moved: each with probability below 2e^-99.
SURE = ["--epsilon", "800", "--allow-exact"]
UNIT = ["--unit", "person", "--max-rows", "1"]


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with 90 people and a ledger, in which commands run."""
    rows = [f"p{i},{('n', 's', 'x,y')[i % 3]},{i},{i % 2}" for i in range(90)]
    lines = [row.replace("x,y", '"x,y"') for row in rows]
    text = "\n".join(["person,region,age,grp", *lines])
    (tmp_path / "people.csv").write_text(text + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(2000)).close()
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(main, ["sql", *arguments])


def spent(folder: Path) -> ln.Privacy:
    with ln.Ledger(folder / "a.ledger") as ledger:
        return ledger.spent


def test_a_select_prints_one_table_and_writes_one(people: Path) -> None:
    result = call(
        "people.csv",
        "SELECT COUNT(*) AS n, region, grp, SUM(age) AS s FROM people WHERE age < :most "
        "GROUP BY 2, 3",
        *("--param", "most:=60", "--bounds", "age", "0", "100", "--max-groups", "1"),
        *("--group", "n,0", "--group", '"x,y",1', *UNIT, *SURE),
        *("--ledger", "a.ledger", "--out", "out.csv"),
    )
    assert result.exit_code == 0, result.output
    head, first, second = [line.split() for line in result.stdout.splitlines()[:3]]
    assert head == ["n", "95%", "interval", "region", "grp", "s", "95%", "interval"]
    assert (first[0], first[4:6]) == ("10", ["n", "0"])
    assert (second[0], second[4:6]) == ("10", ["x,y", "1"])
    lines = [line for line in result.stdout.splitlines() if not line.startswith("Key")]
    assert max(map(len, lines)) <= 80
    with (people / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["n"], row["region"], row["grp"]) for row in rows] == [
        ("10", "n", "0"),
        ("10", "x,y", "1"),
    ]
    expected = [sum(i for i in range(60) if i % 6 == at) for at in (0, 5)]
    assert [float(row["s"]) for row in rows] == pytest.approx(expected, abs=1)
    assert spent(people) == ln.Privacy(800)


@pytest.mark.parametrize("out", ["out.json", "out.parquet"])
def test_a_select_is_written_in_every_format(people: Path, out: str) -> None:
    result = call("people.csv", "SELECT COUNT(*) FROM people", *UNIT, *SURE, "--unrecorded",
                  "--out", out)  # fmt: skip
    assert (result.exit_code, (people / out).exists()) == (0, True)


def test_json_has_each_aggregate_by_its_name(people: Path) -> None:
    text = "SELECT COUNT(*) AS n, MEDIAN(age) AS m FROM people"
    more = ["--bounds", "age", "0", "128", "--unrecorded", "--json"]
    result = call("people.csv", text, *UNIT, *SURE, *more)
    data = json.loads(result.stdout)
    assert (data["asked"], data["columns"], data["by"]) == (text, ["n", "m"], [])
    assert data["aggregates"]["n"]["value"] == "90"
    assert 43 <= data["aggregates"]["m"]["value_float"] <= 46


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["SELECT COUNT(*) FROM people ORDER BY 1"], "ORDER BY is not supported"),
        (["SELECT COUNT(*) FROM people JOIN r USING (region)"], "--lookup FILE:KEY or a card"),
        (["SELECT AVG(age) FROM people"], "--bounds must be given for 'age'"),
        (["SELECT COUNT(*) FROM persons"], "FROM must name the protected table, people"),
        (["SELECT COUNT(*) FROM people", "--param", "a=1"], "--param must be named in the SQL"),
        (["SELECT COUNT(*) FROM people WHERE age = :a"], "--param NAME=VALUE"),
        (["SELECT COUNT(*) FROM people", "--group", "n"], "--group needs GROUP BY"),
        (["SELECT COUNT(*) FROM people", "--by", "region"], "--by"),
        (
            ["SELECT AVG(age) FROM people", *["--bounds", "age", "0", "1"] * 2],
            "--bounds must be given once for each column",
        ),
    ],
)
def test_a_rejected_select_exits_with_2_and_charges_nothing(
    people: Path, arguments: list[str], message: str
) -> None:
    result = call("people.csv", *arguments, *UNIT, *SURE, "--ledger", "a.ledger")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert spent(people) == ln.Privacy(0)


def test_a_dry_run_charges_nothing(people: Path) -> None:
    result = call("people.csv", "SELECT COUNT(*) FROM people", *UNIT, *SURE, "--dry-run")
    assert result.exit_code == 0
    assert "Dry run: no row was read and nothing was charged" in result.stdout
    assert spent(people) == ln.Privacy(0)


def test_a_card_takes_the_place_of_the_source(people: Path) -> None:
    (people / "people.toml").write_text(
        'source = "people.csv"\nunit = "person"\nmax_rows = 1\nmax_groups = 1\n'
        '[columns.age]\nbounds = [0, 100]\ntype = "integer"\n[columns.region]\ngroups = ["n"]\n',
        encoding="utf-8",
    )
    text = "SELECT region, AVG(age) AS a FROM people GROUP BY region"
    result = call(text, "--card", "people.toml", *SURE, "--unrecorded")
    assert result.exit_code == 0, result.output
    (_, row) = [line.split() for line in result.stdout.splitlines()[:2]]
    assert row[0] == "n"
    assert float(row[1]) == pytest.approx(43.5, abs=0.01)


def test_what_is_missing_is_listed_with_an_example(people: Path) -> None:
    result = call()
    assert result.exit_code == 2
    for words in ("SQL", "a SELECT with aggregates", "'SELECT COUNT(*) FROM people'"):
        assert words in result.stderr


def test_the_help_of_no_command_loads_the_parser_of_sql() -> None:
    for command in ("sql", "count"):
        script = (
            "import sys; from leastnoise.cli import main\n"
            f"main(['{command}', '--help'], standalone_mode=False)\n"
            "print(sorted(name for name in sys.modules if name in ('sqlglot', 'ibis')))"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
        assert done.stdout.decode().splitlines()[-1] == "[]"
