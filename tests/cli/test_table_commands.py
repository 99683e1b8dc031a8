"""``leastnoise count``, ``sum``, ``mean``, ``median``, ``quantile`` and ``histogram``."""

import csv
import json
import math
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import leastnoise as ln
from leastnoise.cli import main
from leastnoise.tables import QUERIES, TableQuery, census
from tests.support.ledger_files import edit
from tests.support.screens import assert_readable, unwrapped

ROOT = Path(__file__).resolve().parents[2]

CANARY = "kestrel-31337"  # the region of one person, whom nothing may tell of
CANARY_NUMBER = 31337_4242
REGIONS = ("east", 'north, "upper"', "west")
PEOPLE = [
    {
        "person": f"p{place}",
        "region": REGIONS[place % 3],
        "level": place % 4 - 1,
        "member": place % 5 == 0,
        "born": date(2000, 1, 1) + timedelta(days=place % 2),
        "income": 100 * place,
    }
    for place in range(240)
] + [
    {
        "person": CANARY,
        "region": CANARY,
        "level": 99,
        "member": True,
        "born": date(1931, 3, 7),
        "income": CANARY_NUMBER,
    }
]
UNIT = ["--unit", "person", "--max-rows", "1"]
ONE = ["--max-groups", "1"]
# So much that none of the integers here is moved: each with probability below 2e^−99.
NEARLY_EXACT = ["--epsilon", "400"]


def call(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(main, arguments, prog_name="leastnoise")


def data(result: Result) -> Any:
    """Return printed JSON, which must be strict: NaN and Infinity are none."""
    assert result.exit_code == 0, result.output
    assert (result.stdout.count("\n"), result.stderr) == (1, "")
    return json.loads(result.stdout, parse_constant=pytest.fail)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same people in two files, and a ledger."""
    made = tmp_path_factory.mktemp("made")
    pq.write_table(people(), made / "people.parquet")
    with (made / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, PEOPLE[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(PEOPLE)
    ln.Ledger(made / "a.ledger", limit=ln.Privacy(2000, "1e-5")).close()
    return made


@pytest.fixture(autouse=True)
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which commands run in."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def people() -> pa.Table:
    return pa.table({name: [row[name] for row in PEOPLE] for name in PEOPLE[0]})


def asked(*arguments: str, epsilon: str = "400") -> Any:
    """Ask with hardly any noise, and without the one person of the canary."""
    where = ["--where", "income < 30000"]
    return data(call(*arguments, *UNIT, "--epsilon", epsilon, *where, *RECORDED, "--json"))


RECORDED = ["--ledger", "a.ledger"]


def spent() -> Fraction:
    with ln.Ledger("a.ledger") as ledger:
        return ledger.spent.epsilon


def damaged() -> str:
    """Write a Parquet file whose schema is whole and whose rows are not."""
    pq.write_table(
        people(),
        "damaged.parquet",
        compression="none",
        write_statistics=False,
        use_dictionary=False,
    )
    content = bytearray(Path("damaged.parquet").read_bytes())
    footer = int.from_bytes(content[-8:-4], "little") + 8
    assert CANARY.encode() in content[:-footer]
    assert CANARY.encode() not in content[-footer:]
    # The headers of pages go, and the canary stays for an engine to stumble over.
    for place in range(4, len(content) - footer):
        if not CANARY.encode().count(content[place]):
            content[place] = 0xFF
    Path("damaged.parquet").write_bytes(content)
    return "damaged.parquet"


# ------------------------------------------------------------------- answers


@pytest.mark.parametrize("source", ["people.csv", "people.parquet"])
def test_each_question_is_answered(source: str) -> None:
    count = asked("count", source)
    assert (count["asked"], count["value"], count["value_float"]) == ("count", "240", 240.0)
    low, high = map(Fraction, count["interval_95"])
    assert low <= 240 <= high
    assert count["privacy"] == {"epsilon": "400", "delta": "0"}
    assert set(count) == {
        *("asked", "value", "value_float", "interval_95", "bound", "privacy"),
        *("exact_probability", "recorded", "total_privacy", "subject", "reused"),
    }
    # Noise of ε goes beyond k times its sensitivity with probability below 2e^−kε. A mean of ε = 8
    # has at least 3 for each part, as it says when it explains itself.
    total = sum(100 * place for place in range(240))
    found = asked("sum", source, "income", "--bounds", "0", "30000", epsilon="22")
    assert abs(Fraction(found["value"]) - total) <= 60_000
    found = asked("mean", source, "income", "--bounds", "-30000", "30000", epsilon="8")
    assert found["middle"] == "0"
    assert abs(Fraction(found["count"]) - 240) <= 8
    assert abs(Fraction(found["sum_from_middle"]) - total) <= 240_000
    assert abs(Fraction(found["value"]) - Fraction(total, 240)) <= 1_500
    found = asked(
        "quantile", source, "income", "--q", "0.24", "--bounds", "0", "32000", "--bins", "16"
    )
    integer = source == "people.parquet"  # the values of a CSV file are strings
    # The 58th of 240 rows, 100 apart, is above 0.24 · 240 = 57.6 rows.
    assert found["cell"] == ["4000", "5999" if integer else "6000"]
    assert "rank_error_95" in found
    found = asked("median", source, "income", "--bounds", "0", "32000", "--bins", "10")
    assert found["asked"] == "median of income"
    # Half of the rows are below 12000.
    assert found["cell"] == ["9600", "12799" if integer else "12800"]
    more = ["--bounds", "0", "32000", "--bins", "10", "--interval", "0.9"]
    found = asked("median", source, "income", *more, epsilon="100")
    low, high = map(Fraction, found["interval"])
    assert low <= 9600
    assert high >= 12000
    found = asked("histogram", source, "income", "--edges", "0, 1000,10000,3e4", *ONE)
    assert [(one["key"], one["value"]) for one in found["groups"]] == [
        (["[0, 1000)"], "10"),
        (["[1000, 10000)"], "90"),
        (["[10000, 30000]"], "140"),
    ]
    assert spent() == 4 * 400 + 100 + 22 + 8
    assert found["recorded"]["left"]["epsilon"] == "270"


@pytest.fixture
def groups_file() -> str:
    Path("groups.txt").write_bytes('\ufeffnowhere\r\nnorth, "upper"\r\n'.encode())
    return "groups.txt"


def test_groups_are_given_by_options_and_by_a_file(groups_file: str) -> None:
    """Those that the table does not have are answered, those that are not given are not."""
    given = ["--by", "region", "--group", "west", "--groups-file", groups_file, *ONE]
    found = asked("count", "people.csv", *given)
    assert found["by"] == ["region"]
    assert {one["key"][0]: one["value"] for one in found["groups"]} == {
        "west": "80",
        "nowhere": "0",
        'north, "upper"': "80",
    }


def test_groups_are_read_as_their_column_has_them() -> None:
    given = [
        *("--by", "level", "--by", "member", "--by", "born", "--by", "region"),
        *("--group", "-1,TRUE,2000-01-01,east", "--group", '0,false,2000-01-02,"north, ""upper"""'),
        *ONE,
    ]
    found = asked("count", "people.parquet", *given)
    true = [
        sum((one["level"], one["member"], one["born"], one["region"]) == key for one in PEOPLE)
        for key in (
            (-1, True, date(2000, 1, 1), "east"),
            (0, False, date(2000, 1, 2), 'north, "upper"'),
        )
    ]
    assert min(true) > 0
    assert [(one["key"], int(one["value"])) for one in found["groups"]] == [
        ([-1, True, "2000-01-01", "east"], true[0]),
        ([0, False, "2000-01-02", 'north, "upper"'], true[1]),
    ]


@pytest.mark.parametrize(
    ("by", "group", "message"),
    [
        ("level", "1.0", "A group by a column of kind integer must be an integer"),
        ("level", "１", "A group by a column of kind integer must be an integer"),
        ("member", "1", "A group by a column of kind boolean must be true or false"),
        ("born", "2024-02-30", "A group by a column of kind date must be a date"),
        ("born", "20240229", "A group by a column of kind date must be a date"),
        ("level,region", "1", "A group must have 2 values separated by commas"),
        ("level,region", '1,"', "A group must have 2 values separated by commas"),
        ("regoin", "west", "No column 'regoin' in people.parquet. Did you mean 'region'?"),
    ],
)
def test_a_group_that_its_column_cannot_hold_is_refused(by: str, group: str, message: str) -> None:
    columns = [word for name in by.split(",") for word in ("--by", name)]
    done = call(
        "count", "people.parquet", *columns, "--group", group, *UNIT, *NEARLY_EXACT, *RECORDED
    )
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in unwrapped(done.stderr)
    assert spent() == 0


def test_discovered_groups_have_many_people() -> None:
    guarantee = ["--epsilon", "1", "--delta", "1e-6", "--by", "region", *ONE]
    done = call("count", "people.csv", *guarantee, *UNIT, *RECORDED)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("count by region\n\nregion ")
    table, _, facts = done.stdout.partition("\n\nMax error")
    assert table.count(" to ") == 3  # the noise is at most 14, of 80
    assert "Groups were discovered from the data" in facts
    assert CANARY not in done.stdout


def test_a_row_can_be_a_unit_and_neighbours_be_replaced() -> None:
    more = ["--row-is-unit", "--neighbors", "replace", "--epsilon", "1", "--dry-run", "--json"]
    found = data(call("sum", "people.parquet", "income", "--bounds", "-5", "20", *more))
    (number,) = found["questions"][0]["numbers"]
    assert number["sensitivity"] == "25"
    assert found["asked"]["neighbours"] == "replace"


def test_what_the_noise_gives_away_must_be_allowed() -> None:
    often = ["--delta", "0.75", "--row-is-unit", "--unrecorded"]
    refused = call("sum", "people.csv", "income", "--bounds", "0", "1e6", *often)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--allow-exact" in unwrapped(refused.stderr)
    found = data(
        call(
            "sum", "people.csv", "income", "--bounds", "0", "1e6", *often, "--allow-exact", "--json"
        )
    )
    assert Fraction(found["exact_probability"]) > 0
    assert found["recorded"] is False


# ------------------------------------------------------------------- the ledger


def test_the_same_question_again_is_free() -> None:
    question = ["count", "people.csv", *UNIT, "--epsilon", "0.5", *RECORDED]
    first = data(call(*question, "--json"))
    again = data(call(*question, "--json"))
    assert again["value"] == first["value"]
    assert (first["recorded"]["again"], again["recorded"]["again"]) == (False, True)
    assert spent() == Fraction(1, 2)
    assert (first["reused"], again["reused"]) == (None, first["recorded"]["at"])
    printed = call(*question).stdout.splitlines()
    day = first["recorded"]["at"][:10]
    assert printed[0].startswith("count: ")
    assert "pass a new --version. To draw new noise, pass --fresh." in " ".join(
        " ".join(printed).split()
    )
    assert f"Budget     nothing charged: stored answer of {day} returned" in printed
    assert data(call(*question, "--fresh", "--json"))["recorded"]["again"] is False
    assert data(call(*question, "--key", "mine", "--json"))["recorded"]["key"] == "mine"
    assert spent() == Fraction(3, 2)


def test_of_several_data_sets_the_one_that_is_meant_is_charged_and_named() -> None:
    ln.Ledger("a.ledger", dataset="visits", limit=ln.Privacy(1)).close()
    question = ["people.csv", *UNIT, "--epsilon", "0.5", *RECORDED, "--dataset", "visits"]
    named = "(a.ledger, dataset 'visits')"
    assert named in call("count", *question).stdout
    edges = ["income", "--edges", "0,9"]
    more = ["--analyst", "ann", "--witness", "elsewhere.heads"]
    late = call("histogram", *question[:1], *edges, *question[1:], *more)
    assert late.exit_code == 2
    assert "--witness must be a head, or a file that holds heads" in late.stderr
    done = call("histogram", *question[:1], *edges, *question[1:], *more[:2])
    assert named in done.stdout
    assert spent() == 0


def test_the_budget_is_exit_code_3_and_a_damaged_ledger_4() -> None:
    question = ["count", "people.csv", *UNIT, *RECORDED, "--epsilon"]
    assert call(*question, "1").exit_code == 0
    refused = call(*question, "2000")
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert spent() == 1
    edit("a.ledger", "UPDATE rows SET at = '2020-01-01' WHERE seq = 2")
    for more in (["1"], ["2"]):
        done = call(*question, *more)
        assert (done.exit_code, done.stdout) == (4, "")
        assert_readable(done.stderr)


# ------------------------------------------------------------------- dry runs, engines that fail


def test_a_dry_run_reads_no_row_and_charges_nothing() -> None:
    """Where rows cannot be read, all of it can still be explained; with or without a ledger."""
    question = ["sum", damaged(), "income", "--bounds", "0", "150000", *UNIT, "--epsilon", "0.2"]
    before = Path("a.ledger").read_bytes()
    told = call(*question, "--dry-run", *RECORDED, "--out", "a.csv")
    assert (told.exit_code, told.stderr) == (0, "")
    lines = told.stdout.splitlines()
    assert lines[0] == "Dry run: no row was read and nothing was charged."
    name, error, noise = lines[3].partition("±")
    assert name.split() == ["sum", "of", "income", "sum"]
    assert (error, noise.split()[1:]) == ("±", ["150000", "0.2", "0", "staircase"])
    assert lines[8].startswith("Guarantee     ε = 0.2, δ = 0 per ")
    assert "clipped to [0, 150000]" in unwrapped(told.stdout)
    assert max(map(len, lines)) <= 80
    assert "SELECT" not in told.stdout
    assert "\nSELECT\n" in call(*question, "--dry-run", "--sql").stdout
    found = data(call(*question, "--dry-run", "--json"))
    assert found["price"] == {"epsilon": "1/5", "delta": "0"}
    assert found["questions"][0]["numbers"][0]["sensitivity"] == "150000"
    assert len(found["queries"]) == 1
    assert Path("a.ledger").read_bytes() == before
    assert not Path("a.csv").exists()


@pytest.mark.parametrize("epsilon", ["0.2", "1", "3"])
def test_a_dry_run_states_the_error_of_a_count(epsilon: str) -> None:
    """At δ = 0 the noise is geometric: P(|X| > k) = 2·r^(k+1)/(1 + r) with r = e^(−ε)."""
    ratio = math.exp(-float(epsilon))
    error = next(k for k in range(99) if 2 * ratio ** (k + 1) / (1 + ratio) <= 0.05)
    told = call("count", "people.csv", *UNIT, "--epsilon", epsilon, "--dry-run").stdout
    (line,) = (line for line in told.splitlines() if line.startswith("count  count"))
    assert line.split()[2:4] == ["±", f"{error}"]
    released = call("count", "people.csv", *UNIT, "--epsilon", epsilon, "--unrecorded").stdout
    assert f" ± {error} (95% confidence)" in released


def test_a_dry_run_of_a_mean_states_its_error_and_how_text_is_read() -> None:
    question = ["mean", "people.csv", "region", "--bounds", "0", "100", *UNIT, "--epsilon", "1"]
    told = " ".join(call(*question, "--dry-run").stdout.split())
    assert re.search(r"95% error of the mean at most [\d.]+ for 100 rows, [\d.]+ for 1,000", told)
    note = "CSV values are text; values that are not numbers are treated as missing (NULL)."
    assert note in told
    answer = " ".join(call(*question, "--unrecorded").stdout.split())
    assert re.search(r"Rows about -?\d+ with a number ", answer)
    assert note in answer


def test_sql_is_for_dry_runs() -> None:
    done = call("count", "people.csv", *UNIT, "--epsilon", "1", "--sql", *RECORDED)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--sql needs --dry-run" in done.stderr
    assert spent() == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("--explain", "--dry-run", ["count", "people.csv", "--explain"]),
        (
            "--neighbours",
            "--neighbors",
            ["count", "people.csv", "--dry-run", "--neighbours=replace"],
        ),
        ("--share", "--q", ["quantile", "people.csv", "income", "--share", "0.9", "--dry-run"]),
        ("--cells", "--bins", ["median", "people.csv", "income", "--cells", "9", "--dry-run"]),
    ],
)
def test_an_old_option_is_the_new_one_and_warns(old: str, new: str, words: list[str]) -> None:
    bounds = [] if words[0] == "count" else ["--bounds", "0", "9"]
    rest = [*bounds, *UNIT, "--epsilon", "1", "--json"]
    done = call(*words, *rest)
    assert done.exit_code == 0
    warning = f"Warning: `{old}` is deprecated; use `{new}`. It will be removed in 0.7."
    assert max(map(len, done.stderr.splitlines())) <= 80
    assert unwrapped(done.stderr) == warning
    assert data(call(*[word.replace(old, new) for word in words], *rest)) == json.loads(done.stdout)
    # --share is an option again: a share of the limit.
    assert (old in call(words[0], "--help").stdout) is (old == "--share")


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_help_begins_with_an_example_and_groups_the_options(query: TableQuery) -> None:
    said = call(query.command, "--help").stdout
    assert max(map(len, said.splitlines())) <= 80
    parts = [
        said.index(f"\n{one}:\n") for one in ("Privacy", "Groups and rows", "Ledger", "Output")
    ]
    assert parts == sorted(parts)
    assert said.index(f"  leastnoise {query.command} people.csv") < said.index("  SOURCE is ")
    section = said[said.index("\nOutput:\n") :]
    assert all(option in section for option in ("--dry-run", "--sql", "--out", "--json", "--help"))
    for argument in query.arguments:
        if argument.help and (argument.required or argument.from_card):
            own = said[said.index(f"  --{argument.name} ") : parts[0]]
            assert re.search(r"\[required(, or\s+--card)?\]", own)
    assert f"{query.command} " in call("--help").stdout


@pytest.mark.parametrize("kind", ["count", "sum"])
def test_an_engine_that_fails_is_exit_code_1_and_the_charge_stands(
    kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """One constant line; what the engine itself writes is caught at the file descriptors."""
    column = ["income", "--bounds", "0", "9"] if kind == "sum" else []
    by = ["--by", "region", "--group", "west"]
    question = [kind, damaged(), *column, *by, *UNIT, "--epsilon", "0.5", *RECORDED]
    said = set()
    for charged in ("0.5", "0.5"):  # again, with the charge that stands
        done = call(*question)
        assert (done.exit_code, done.stdout) == (1, "")
        said.add(done.stderr)
        assert spent() == Fraction(charged)
    assert len(said) == 1
    assert said.pop().startswith("Error: The engine failed to run the query")
    assert capfd.readouterr() == ("", "")


# ------------------------------------------------------------------- files


@pytest.mark.parametrize("by", [[], ["--by", "region", "--group", "west"]])
def test_answers_are_written_to_files(by: list[str]) -> None:
    question = ["mean", "people.csv", "income", "--bounds", "0", "30000", *by, *UNIT]
    found = data(call(*question, "--epsilon", "1", *RECORDED, "--json"))
    one = found["groups"][0] if by else found
    value = one["value_float"]
    assert {"count", "sum_from_middle", "middle"} <= one.keys()
    assert "sum" not in one
    assert ("middle" in found) is not bool(by)  # each group has its own
    name, key = ("region", "west") if by else ("question", "mean of income")
    for ending in ("csv", "parquet", "json"):
        out = ["--out", f"out.{ending}"]
        done = call(*question, "--epsilon", "1", *RECORDED, *out)
        assert done.stdout.endswith(f"\n\nout.{ending}: the same, in full\n")
    (row,) = pq.read_table("out.parquet").to_pylist()
    assert (row[name], row["value"]) == (key, value)
    (row,) = json.loads(Path("out.json").read_text(encoding="utf-8"))["rows"]
    assert (row[name], row["value"]) == (key, value)
    with Path("out.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row[name], float(row["value"])) == (key, value)
    assert spent() == 1


def test_what_cannot_be_written_is_refused_before_it_is_charged(folder: Path) -> None:
    (folder / "there.csv").write_text("mine", encoding="utf-8")
    (folder / "folder.csv").mkdir()
    (folder / "people.csv").rename("people-1.csv")
    (folder / "a.csv").symlink_to("a.ledger")
    question = ["count", "people-*.csv", *UNIT, "--epsilon", "1", *RECORDED]
    for out, message in {
        "there.csv": "--out must name a new file",
        "folder.csv --overwrite": "--out must name a new file",
        "people-1.csv --overwrite": "--out must not overwrite a file that is read",
        "a.csv --overwrite": "--out must not overwrite a ledger or a witness",
        "a.txt": "--out must end in .csv, .parquet, .json, got 'a.txt'",
        "no/where.csv": "--out must be in a folder",
    }.items():
        done = call(*question, "--out", *out.split())
        assert (done.exit_code, done.stdout) == (2, "")
        assert message in unwrapped(done.stderr)
    assert spent() == 0
    assert data(call(*question, "--out", "there.csv", "--overwrite", "--json"))["recorded"]
    assert (folder / "there.csv").read_text(encoding="utf-8").startswith("question,value,")


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "html"])
def test_answers_are_drawn_to_files(ending: str) -> None:
    """A figure is drawn beside the printed answer, of a table and of one number."""
    question = ["count", "people.csv", *UNIT, "--epsilon", "0.5", *RECORDED]
    starts = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "html": b"<!DOCTYPE html>"}
    for name, by in (("one", []), ("groups", ["--by", "region", "--group", "west"])):
        done = call(*question, *by, "--plot", f"{name}.{ending}")
        assert done.stdout.endswith(f"\n\n{name}.{ending}: the figure\n"), done.stderr
        drawn = Path(f"{name}.{ending}").read_bytes()
        assert drawn.lstrip().startswith(starts[ending])


def test_a_figure_that_cannot_be_written_is_refused_before_it_is_charged(folder: Path) -> None:
    (folder / "there.svg").write_text("mine", encoding="utf-8")
    (folder / "a.svg").symlink_to("a.ledger")
    question = ["count", "people.csv", *UNIT, "--epsilon", "1", *RECORDED]
    for plot, message in {
        "there.svg": "--plot must name a new file",
        "a.svg --overwrite": "--plot must not overwrite a ledger or a witness",
        "a.json": "--plot must end in .png, .svg, .pdf, .html, got 'a.json'",
        "no/where.png": "--plot must be in a folder",
    }.items():
        done = call(*question, "--plot", *plot.split())
        assert (done.exit_code, done.stdout) == (2, "")
        assert message in unwrapped(done.stderr)
    for missing in ("altair", "vl_convert"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, missing, None)
            done = call(*question, "--plot", "new.svg")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "pip install 'leastnoise[plots]'" in unwrapped(done.stderr)
    assert spent() == 0
    assert data(call(*question, "--plot", "there.svg", "--overwrite", "--json"))["recorded"]
    assert "<svg" in (folder / "there.svg").read_text(encoding="utf-8")


def test_an_answer_is_printed_also_where_it_cannot_be_written() -> None:
    """A spreadsheet would run this group as a formula; what was paid for is still told."""
    by = ["--by", "region", "--group", "=1+1", "--epsilon", "1", *UNIT, *RECORDED]
    done = call("count", "people.csv", *by, "--out", "a.csv", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["groups"][0]["key"] == ["=1+1"]
    assert "Write Parquet or JSON." in unwrapped(done.stderr)


# ------------------------------------------------------------------- mistakes

HALF = ["--epsilon", "0.5"]
TINY = ["--delta", "1e-9"]
MISTAKES = [
    (
        ["count", "people.csv", *HALF, *RECORDED, *UNIT, "--row-is-unit"],
        "--unit and --row-is-unit exclude each other, got both.",
    ),
    (
        ["count", "people.csv", *HALF, *UNIT, *RECORDED, "--unrecorded"],
        "--ledger and --unrecorded exclude each other, got both.",
    ),
    (
        ["count", "people.csv", *HALF, "--row-is-unit", "--max-rows", "2", *RECORDED],
        "Add --unit, or omit it.",
    ),
    (
        ["count", "people.csv", *HALF, "--unit", "preson", *UNIT[2:], *RECORDED],
        "Did you mean 'pers",
    ),
    (
        ["count", "people.csv", *UNIT, *RECORDED, "--epsilon", "0"],
        "No noise satisfies ε = 0, δ = 0",
    ),
    (
        ["count", "people.csv", *UNIT, *RECORDED, "--epsilon", ""],
        "--epsilon must be a finite number",
    ),
    (
        ["count", "people.csv", *HALF, *UNIT, *RECORDED, *ONE, *TINY, "--by", "region,level"],
        "got 'region,level', which is none. Repeat --by for each column",
    ),
    (["count", "nowhere.csv", *HALF, *UNIT, *RECORDED], "Error: No file at 'nowhere.csv'."),
    (["count", "people.xlsx", *HALF, *UNIT, *RECORDED], "No file at 'people.xlsx'"),
    (["count", "mysql://a:sesame@b/c", *HALF, *UNIT, *RECORDED], "got a URL."),
    (
        ["count", "people.csv", *HALF, *UNIT, *RECORDED, "--table", "a"],
        "--table names a table of a database",
    ),
    (
        ["count", "people.csv", *HALF, *UNIT, *RECORDED, "--group", "west"],
        "got --group without --by",
    ),
    (
        ["count", "people.csv", *HALF, *UNIT, *RECORDED, "--by", "region", *ONE, "--delta", "0"],
        "Discovering groups requires δ > 0. Add --delta 1e-7",
    ),
    (
        [
            "count",
            "people.csv",
            "--by",
            "region",
            "--group",
            "a",
            "--group",
            "a",
            *ONE,
            *HALF,
            *UNIT,
            *RECORDED,
        ],
        "--group must not repeat, got a group twice.",
    ),
    (
        [
            "count",
            "people.csv",
            "--by",
            "region",
            "--groups-file",
            "a.ledger",
            *ONE,
            *HALF,
            *UNIT,
            *RECORDED,
        ],
        "--groups-file cannot be read: it must be a file in UTF-8",
    ),
    (
        ["count", "people.csv", *HALF, *UNIT, *RECORDED, "--max-groups", "2"],
        "--max-groups requires --by, got no column",
    ),
    (
        ["count", "people.csv", *HALF, *UNIT, *RECORDED, "--where", "len(a)"],
        "Functions and queries",
    ),
    (
        ["count", "people.csv", *HALF, *UNIT, *RECORDED, *HALF],
        "--epsilon must be given once, got 2 values.",
    ),
    (["count", "people.csv", *HALF, *UNIT, *RECORDED, "--overwrite"], "--overwrite needs --out"),
    (["count", "people.csv", *HALF, *UNIT, *RECORDED, "--where", "a = '\udcff'"], "bytes that are"),
    (
        ["count", "people.csv", *HALF, *UNIT, "--unrecorded", "--dataset", "a"],
        "--dataset needs a ledger.",
    ),
    (["count", "people.csv", *HALF, *UNIT, "--unrecorded", "--key", "a"], "Add --ledger FILE, or"),
    (
        ["sum", "people.csv", "income", "--bounds", "9", "-9", *HALF, *UNIT, *RECORDED],
        "The lower bound must be below the upper bound, got 9 and -9.",
    ),
    (
        ["sum", "people.parquet", "region", "--bounds", "0", "9", *HALF, *UNIT, *RECORDED],
        "got 'region', of kind text.",
    ),
    (
        ["mean", "people.csv", "incomes", "--bounds", "0", "9", *HALF, *UNIT, *RECORDED],
        "No column 'incomes' in people.csv. Did you mean 'income'?",
    ),
    (
        [
            "quantile",
            "people.csv",
            "income",
            "--bounds",
            "0",
            "9",
            "--q",
            "1",
            *HALF,
            *UNIT,
            *RECORDED,
        ],
        "--q must be above 0 and below 1, got '1'.",
    ),
    (
        ["histogram", "people.csv", "income", "--edges", "0", *HALF, *UNIT, *RECORDED],
        "Write, for example, --edges 0,18,65,120.",
    ),
    (
        ["histogram", "people.csv", "income", "--edges", "0 5 9", *HALF, *UNIT, *RECORDED],
        "edges must be two or more numbers separated by commas",
    ),
    (
        ["histogram", "people.csv", "income", "--edges", "0", "5", "9", *HALF, *UNIT, *RECORDED],
        "edges must be two or more numbers separated by commas",
    ),
    (
        ["quantile", "people.csv", "income", "0.5", *HALF, *UNIT, *RECORDED],
        "q is an option",
    ),
    (
        ["quantile", "people.csv", "income", "0.5", "--bounds", "0", "9", *HALF, *UNIT, *RECORDED],
        "Write, for example, --q 0.9.",
    ),
    (
        ["histogram", "people.csv", "income", "--edges", "0,,1", *ONE, *HALF, *UNIT, *RECORDED],
        "Each edge of --edges must be a finite number, got ''.",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_says_what_to_type_and_costs_nothing(arguments: list[str], message: str) -> None:
    done = call(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert message in unwrapped(done.stderr)
    assert_readable(done.stderr)
    for secret in (CANARY, str(CANARY_NUMBER), "sesame"):
        assert secret not in done.stderr
    assert not re.search(r"\b(by|keys|edges|unit|max_rows|table|overwrite)=", done.stderr)
    assert spent() == 0


def test_a_file_of_groups_is_not_repeated_for_it_might_be_the_table() -> None:
    for by in (["--by", "level"], ["--by", "level", "--by", "member"]):
        question = ["count", "people.parquet", *by, "--groups-file", "people.csv"]
        done = call(*question, *ONE, *HALF, *UNIT, *RECORDED)
        assert (done.exit_code, done.stdout) == (2, "")
        assert CANARY not in done.stderr
        assert "p1" not in done.stderr
    Path("groups.txt").write_text("west\n\neast\n", encoding="utf-8")
    done = call(
        "count", "people.csv", *by[2:], "--groups-file", "groups.txt", *ONE, *HALF, *UNIT, *RECORDED
    )
    assert "got an empty line" in unwrapped(done.stderr)


# ------------------------------------------------------------------- what is missing


def listed(stderr: str) -> tuple[list[str], list[list[str]]]:
    """Return what an error lists as missing, and the commands of its example."""
    assert max(map(len, stderr.splitlines())) <= 80
    above, _, below = stderr.partition("\n\n  Example:\n")
    names = re.findall(r"(?m)^  (--[a-z-]+|[A-Z]+)(?= )", above)
    lines = below.replace("\\\n", " ").splitlines()
    return names, [shlex.split(line)[1:] for line in lines if line]


@pytest.mark.usefixtures("census_here")
@pytest.mark.parametrize("given", [[], ["people.csv"], ["people.csv", "--by", "region"]])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_all_that_is_missing_is_said_at_once_with_an_example_that_runs(
    query: TableQuery, given: list[str]
) -> None:
    done = call(query.command, *given)
    assert (done.exit_code, done.stdout) == (2, "")
    names, (create, example) = listed(done.stderr)
    own = {f"--{one.name}" if one.help else "COLUMN": one for one in query.arguments}
    wanted = {name for name, one in own.items() if one.required or one.from_card}
    wanted |= {"--unit", "--max-rows", "--epsilon", "--ledger"}
    wanted |= set() if given else {"SOURCE"}
    if query.groups_itself:
        wanted |= {"--max-groups", *(["--group"] if "--by" in given else [])}
    elif "--by" in given:
        wanted |= {"--max-groups", "--delta"}
    assert set(names) == wanted
    assert len(names) == len(wanted)
    assert done.stderr.startswith(f"Error: {len(wanted)} ")
    assert example[1 : 1 + len(given)] == given
    assert call(*create).exit_code == 0
    answered = call(*example)
    assert (answered.exit_code, answered.stderr) == (0, "")


def test_the_share_of_a_quantile_must_be_given() -> None:
    question = ["people.csv", "income", "--bounds", "0", "150000", *UNIT, *HALF, "--unrecorded"]
    done = call("quantile", *question)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: 1 option is missing. Nothing was read or charged.\n")
    names, (example,) = listed(done.stderr)
    assert names == ["--q"]
    assert example[-2:] == ["--q", "0.9"]
    answered = call(*example)
    assert answered.exit_code == 0
    assert answered.stdout.startswith("0.9-quantile of income, ")
    assert call("median", *question).stdout.startswith("median of income, ")


def test_one_thing_that_is_missing_is_said_like_several() -> None:
    question = ["count", "people.csv", *HALF, *UNIT, *RECORDED]
    for option, words in (("--unit", 2), ("--max-rows", 2), ("--epsilon", 2), ("--ledger", 2)):
        place = question.index(option)
        done = call(*question[:place], *question[place + words :])
        assert done.exit_code == 2
        names, commands = listed(done.stderr)
        assert names == [option]
        assert done.stderr.startswith("Error: 1 option is missing. Nothing was read or charged.\n")
        assert option in commands[-1]
    assert call(*question[:-2], "--explain").exit_code == 0
    done = call("count", "people.csv", "--row-is-unit", "--by", "region", *TINY, "--unrecorded")
    assert done.exit_code == 0  # a row is in one group
    done = call(*question, "--by", "region", "--group", "west")
    assert done.exit_code == 0  # there is one group
    assert listed(call(*question, "--by", "region", *TINY).stderr)[0] == ["--max-groups"]


def test_an_address_is_not_repeated_because_it_can_hold_a_password() -> None:
    for address in ("postgresql://a:sesame@127.0.0.1:1/c", "postgresql://h/c?password=sesame"):
        done = call("count", address, *HALF, *UNIT)
        assert done.exit_code == 2
        assert "sesame" not in done.stderr
        assert listed(done.stderr)[0] == ["--table", "--ledger"]


def test_words_that_a_shell_would_read_otherwise_are_quoted() -> None:
    where = "region = 'north, \"upper\"' and level > 0"
    given = ["count", "people.csv", "--where", where, *HALF, *RECORDED]
    (command,) = listed(call(*given).stderr)[1]
    assert command == [*given, "--unit", "person_id", "--max-rows", "1"]


# ------------------------------------------------------------------- what documents say


@pytest.fixture
def census_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the census alone, which commands run in."""
    (folder / "page").mkdir()
    shutil.copy(census(), folder / "page" / "people.csv")
    monkeypatch.chdir(folder / "page")


@pytest.mark.parametrize(
    ("where", "read", "missing"),
    [
        (
            "x > -100",
            ["5", "-5.25", ".5", "+5", "1e3", "1_000", " 7 ", "inf"],
            ["1,000", "1 000", "1,5", "€5", "$5", "5%", "true", "false", "nan", "five", ""],
        ),
        ("x = true", ["true", "TRUE", "t", "Yes", "y", "1"], ["on", " true", "2", "1.0", "0", ""]),
        ("x = false", ["false", "False", "F", "no", "n", "0"], ["off", "no ", "0.0", "1", ""]),
        (
            "x = date '2024-02-03'",
            ["2024-02-03", "2024/02/03", "2024-02-03 10:00:00", "2024-02-03T10:00:00"],
            ["03.02.2024", "03/02/2024", "02/03/2024", "03-02-2024", "20240203", "2024.02.03", ""],
        ),
    ],
)
def test_what_a_text_of_a_csv_file_is_read_as(
    where: str, read: list[str], missing: list[str]
) -> None:
    """As docs/csv.md says it: every text that is read counts, and no other."""
    for texts, counted in ((read, len(read)), (missing, 0)):
        with Path("texts.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["x", "y"], *([text, "1"] for text in texts)])
        question = ["count", "texts.csv", "--row-is-unit", "--where", where, "--unrecorded"]
        assert data(call(*question, *NEARLY_EXACT, "--json"))["value"] == str(counted)


def test_lines_of_a_csv_file_that_are_cut_or_left_out_and_the_order_of_groups() -> None:
    lines = ["x,y", "9,a", "10,a,more,and more", "8", "J\xf6rg,a", "9,J\xf6rg", ""]
    Path("lines.csv").write_bytes("\n".join(lines).encode("latin-1"))
    for by, groups in (("x", {"10": "1", "9": "1"}), ("y", {"a": "2"})):
        more = ["--by", by, *(word for group in groups for word in ("--group", group))]
        question = ["count", "lines.csv", "--row-is-unit", *more, "--unrecorded", *NEARLY_EXACT]
        found = data(call(*question, "--json"))["groups"]
        assert {one["key"][0]: one["value"] for one in found} == groups
    Path("many.csv").write_text("x,y\n" + "9,a\n10,b\n" * 100, encoding="utf-8")
    question = [
        "count",
        "many.csv",
        "--row-is-unit",
        "--by",
        "x",
        "--unrecorded",
        "--delta",
        "1e-6",
    ]
    found = data(call(*question, "--epsilon", "1", "--json"))["groups"]
    assert [one["key"] for one in found] == [["10"], ["9"]]


# ------------------------------------------------------------------- waiting


def test_what_is_being_done_is_told_and_then_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    @contextmanager
    def noting(doing: str) -> Iterator[Callable[[str], None]]:
        told.append(doing)
        yield told.append
        told.append("ended")

    monkeypatch.setattr(import_module("leastnoise.cli.tables"), "Progress", noting)
    monkeypatch.setattr("click.echo", lambda *_, **__: told.append("printed"))
    assert call("count", "people.csv", *HALF, *UNIT, *RECORDED).exit_code == 0
    asking = ["opening the ledger", "opening the table", "asking the table", "ended", "printed"]
    assert told == asking


# ------------------------------------------------------------------- a database


@pytest.mark.long
def test_a_table_of_a_database_is_asked(pg_address: str) -> None:
    with psycopg.connect(pg_address, autocommit=True) as connection:
        connection.execute("CREATE TABLE people (person text, level int)")
        connection.execute("INSERT INTO people SELECT i, i % 2 FROM generate_series(1, 100) i")
        connection.execute("INSERT INTO people VALUES (%s, 9)", [CANARY])
    question = ["count", pg_address, "--table", "people", "--by", "level", "--group", "1"]
    found = data(call(*question, *UNIT, *NEARLY_EXACT, *RECORDED, "--json"))
    assert [(one["key"], one["value"]) for one in found["groups"]] == [([1], "50")]
    missing = call(*question[:3], "persons", *UNIT, *NEARLY_EXACT, *RECORDED)
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert pg_address not in missing.stderr
    with psycopg.connect(pg_address, autocommit=True) as connection:
        connection.execute("ALTER TABLE people RENAME COLUMN level TO old")
        connection.execute("ALTER TABLE people ADD level int")
        view = "SELECT person, (person::int / 0) AS level FROM moved"
        connection.execute("ALTER TABLE people RENAME TO moved")
        connection.execute(f"CREATE VIEW people AS {view}")
    failed = call(*question, *UNIT, "--epsilon", "1", *RECORDED)
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert CANARY not in failed.stderr
    assert spent() == 401
