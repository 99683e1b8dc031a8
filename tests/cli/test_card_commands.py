"""The commands of cards, and table commands with one: as a user types them, from end to end."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from leastnoise.cli import main
from leastnoise.tables import census

CARD = """\
source = "people.csv"
unit = "person_id"
max_rows = {default = 1, largest = 3}
max_groups = 1

[largest]
share = "1/10"

[ledger]
path = "people.ledger"
epsilon = 1
delta = 1e-6

[analysts.ann]

[columns.income]
bounds = [0, 150_000]

[columns.age]
edges = [0, 18, 65, 120]

[columns.region]
groups = ["north", "south"]

[columns.sex]
allowed = false
"""
ASK = ["--card", "people.toml", "--analyst", "ann", "--share", "1/50"]


def call(*words: str) -> Result:
    return CliRunner().invoke(main, words)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(census(), tmp_path / "people.csv")
    (tmp_path / "people.toml").write_text(CARD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def releases() -> list[dict[str, object]]:
    listed: list[dict[str, object]] = json.loads(
        call("ledger", "releases", "people.ledger", "--json").stdout
    )
    return listed


@pytest.mark.usefixtures("folder")
def test_queries_by_a_card_from_end_to_end() -> None:
    checked = call("card", "check", "people.toml")
    assert (checked.exit_code, checked.stderr) == (0, "")
    assert checked.stdout.startswith("people.toml fits its table.\n")
    assert "Column income    allowed, bounds [0, 150000]\n" in checked.stdout
    applied = call("card", "apply", "people.toml")
    assert (applied.exit_code, applied.stderr) == (0, "")
    assert "Dataset 'data'  ε = 1, δ = 1e-6\n" in applied.stdout

    for words in (["mean", "income"], ["count", "--by", "region"], ["histogram", "age"]):
        done = call(*words, *ASK)
        assert (done.exit_code, done.stderr) == (0, "")
        assert "(people.ledger)" in done.stdout
    quantile = call("quantile", "income", "--q", "0.9", *ASK, "--json")
    assert json.loads(quantile.stdout)["subject"]["bounds"] == ["0", "150000"]
    assert call("mean", "income", *ASK).stdout.count("nothing charged") == 1
    assert len(releases()) == 4
    assert call("ledger", "verify", "people.ledger").exit_code == 0
    shown = json.loads(call("card", "check", "people.toml", "--json").stdout)
    rows = call("ledger", "export", "people.ledger")
    assert rows.exit_code == 0
    assert len(shown["hash"]) == 64


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mean", "income", "--bounds", "0", "200000"], "people.toml, line 17 allows bounds of"),
        (["count", "--by", "sex"], "people.toml, line 26 does not allow it"),
        (["count", "--where", "hours > 2"], "people.toml lists other columns only"),
        (["count", "--by", "region", "--max-groups", "2"], "people.toml, line 4 allows max_groups"),
        (["count", "--max-rows", "4"], "people.toml, line 3 allows max_rows of at most 3, got 4"),
        (["histogram", "age", "--edges", "0,50"], "people.toml, line 20 lists the edges of 'age'"),
        (["count", "--unit", "age"], "people.toml, line 2 states the privacy unit"),
        (["count", "--row-is-unit"], "people.toml, line 2 states the privacy unit"),
        (["count", "--neighbors", "replace"], "people.toml states the neighbor relation"),
        (["count", "--ledger", "people.ledger"], "people.toml, line 9 states the ledger"),
        (["count", "--dataset", "data"], "--dataset needs a ledger"),
        (["count", "--table", "people"], "people.toml states the table"),
        (["count", "people.csv"], "SOURCE must be omitted with --card"),
        (["mean", "people.csv", "income"], "SOURCE must be omitted with --card"),
        (["histogram", "people.csv", "age"], "SOURCE must be omitted with --card"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_options_beyond_the_card_are_rejected(words: list[str], message: str) -> None:
    assert call("card", "apply", "people.toml").exit_code == 0
    done = call(*words, *ASK)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())
    assert releases() == []


@pytest.mark.usefixtures("folder")
def test_the_largest_share_and_the_analysts_hold() -> None:
    call("card", "apply", "people.toml")
    ask = ["count", "--card", "people.toml"]
    above = call(*ask, "--analyst", "ann", "--share", "1/5")
    assert above.exit_code == 2
    assert "people.toml, line 7 allows a share of at most 0.1" in above.stderr
    error = call(*ask, "--analyst", "ann", "--error", "2")
    assert error.exit_code == 3
    assert "people.toml, line 6 allows share 0.1" in " ".join(error.stderr.split())
    for who in ([], ["--analyst", "eve"]):
        other = call(*ask, *who, "--share", "1/50")
        assert other.exit_code == 2
        assert "people.toml, line 14 " in other.stderr
    assert releases() == []


@pytest.mark.usefixtures("folder")
def test_what_is_missing_beside_a_card() -> None:
    done = call("quantile", "--card", "people.toml")
    assert done.exit_code == 2
    assert "3 arguments and options are missing" in done.stderr
    assert all(name in done.stderr for name in ("COLUMN", "--q Q", "--epsilon E"))
    assert not any(name in done.stderr for name in ("--unit", "--bounds", "--ledger", "SOURCE"))
    assert "leastnoise quantile --card people.toml" in done.stderr


def test_an_option_in_place_of_what_the_card_lacks(folder: Path) -> None:
    text = 'source = "people.csv"\nunit = "person_id"\nmax_rows = 1\n'
    (folder / "people.toml").write_text(text)
    ask = ["mean", "income", "--card=people.toml", "--epsilon", "0.1"]
    assert "people.toml names no ledger" in call(*ask, "--bounds", "0", "9").stderr
    assert (
        "--bounds must be given for 'income', here or in a card"
        in call(*ask, "--unrecorded").stderr
    )
    assert call(*ask, "--bounds", "0", "9", "--unrecorded").exit_code == 0
    dry = call(*ask, "--bounds", "0", "9", "--dry-run")
    assert (dry.exit_code, dry.stderr) == (0, "")
    assert dry.stdout.startswith("Dry run: ")
    assert call("ledger", "create", "own.ledger", "--epsilon", "1").exit_code == 0
    assert call(*ask, "--bounds", "0", "9", "--ledger", "own.ledger").exit_code == 0


@pytest.mark.usefixtures("folder")
def test_a_wrong_card_ends_a_query_and_a_check() -> None:
    card = Path("people.toml")
    card.write_text(CARD.replace("bounds = [0,", "bound = [0,"))
    for words in (["card", "check", "people.toml"], ["mean", "income", *ASK]):
        done = call(*words)
        assert done.exit_code == 2
        assert "people.toml, line 17: A card has no field 'bound' here" in done.stderr
        assert "Did you mean bounds?" in done.stderr
    card.write_text(CARD.replace("[columns.age]", "[columns.aeg]"))
    done = call("card", "check", "people.toml")
    assert done.exit_code == 2
    assert "people.toml, line 19: No column 'aeg' in" in done.stderr


def test_new_writes_a_card_beside_the_data(folder: Path) -> None:
    (folder / "cards").mkdir()
    done = call("card", "new", "people.csv", "--out", "cards/new.toml")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "leastnoise card check cards/new.toml" in done.stdout
    text = (folder / "cards" / "new.toml").read_text()
    assert 'source = "../people.csv"' in text
    again = call("card", "new", "people.csv", "--out", "cards/new.toml")
    assert again.exit_code == 2
    assert "--out must name a new file" in again.stderr
    unit = text.replace("# unit =", "unit =").replace("# max_rows = 1", "max_rows = 1")
    (folder / "cards" / "new.toml").write_text(unit)
    assert call("card", "check", "cards/new.toml").exit_code == 0
    printed = call("card", "new", "people.csv").stdout
    assert printed == text.replace("../people.csv", "people.csv")
    header = (folder / "people.csv").read_text().split("\n", 1)[0]
    (folder / "people.csv").write_text(header + "\n")
    assert call("card", "new", "people.csv").stdout == printed  # no row is in it


def test_new_states_the_types_of_a_parquet_file(folder: Path) -> None:
    import pyarrow as pa

    pq.write_table(pa.table({"n": [1], "x": [0.5], "s": ["a"]}), folder / "p.parquet")
    printed = call("card", "new", "p.parquet").stdout
    for name, kind in (("n", "integer"), ("x", "real"), ("s", "text")):
        assert f'[columns.{name}]\ntype = "{kind}"\nallowed = false\n' in printed


def test_the_help_lists_the_commands_in_order() -> None:
    said = call("card", "--help").stdout
    places = [said.index(f"\n  {name} ") for name in ("new", "check", "apply")]
    assert places == sorted(places)
    assert "Exit codes: 0 success, 2 usage error, 4 verification failed" in said
    assert "--card FILE" in call("count", "--help").stdout


def test_a_skeleton_of_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    """The owner is told how to read it, and the skeleton repeats it."""
    (tmp_path / "a.csv").write_bytes("id;größe\n1;2,5\n".encode("cp1252"))
    done = CliRunner().invoke(main, ["card", "new", str(tmp_path / "a.csv")])
    assert done.exit_code == 2
    assert "state its encoding, as in --encoding cp1252" in " ".join(done.output.split())
    options = ["--delimiter", ";", "--encoding", "cp1252", "--decimal", ","]
    out = tmp_path / "a.toml"
    words = ["card", "new", str(tmp_path / "a.csv"), "--out", str(out), *options]
    assert CliRunner().invoke(main, words).exit_code == 0
    text = out.read_text(encoding="utf-8")
    assert 'delimiter = ";"\nencoding = "cp1252"\ndecimal = ","\n' in text
    assert '[columns."größe"]' in text
    filled = text.replace("# unit = ", "row_is_unit = true\n# unit = ")
    out.write_text(filled, encoding="utf-8")
    done = CliRunner().invoke(main, ["card", "check", str(out)])
    assert done.exit_code == 0, done.output
    out.write_text(filled.replace('"größe"', "größe"), encoding="utf-8")
    done = CliRunner().invoke(main, ["card", "check", str(out)])
    assert 'is in quotes: [columns."first name"].' in " ".join(done.output.split())


@pytest.mark.parametrize("named", [["--ledger", "other.ledger"], ["--unrecorded"]])
def test_a_card_fixes_the_ledger_before_another_is_looked_for(
    named: list[str], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    card = tmp_path / "a.toml"
    card.write_text(
        'source = "a.csv"\nrow_is_unit = true\n[ledger]\npath = "a.ledger"\n[analysts.ann]\n'
    )
    words = ["count", "--card", str(card), "--analyst", "ann", "--epsilon", "1", *named]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "a.toml, line 3 states the ledger, which is fixed" in done.output
