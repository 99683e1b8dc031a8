"""First contact: a notebook, a missing library, and connections that are really closed."""

import doctest
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.errors import InvalidParameter
from leastnoise.tables import census
from tests.support.screens import assert_readable

ROOT = Path(__file__).resolve().parents[2]
COUNT = ["--unit", "person_id", "--max-rows", "1", "--epsilon", "1", "--unrecorded"]


# ----------------------------------------------------------------------------- a Jupyter kernel


def first_example() -> list[doctest.Example]:
    """Return the statements of README's first section with Python in it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = next(part for part in readme.split("\n## ") if "```python" in part)
    return doctest.DocTestParser().get_examples(section)


def executed(
    cells: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[list[dict[str, Any]]]:
    """Run cells in a Jupyter kernel; return the outputs of each, and raise its errors."""
    import nbformat
    from nbclient import NotebookClient

    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(folder / variable))
    monkeypatch.chdir(folder)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(book, kernel_name="python3", timeout=120).execute()
    return [cell["outputs"] for cell in book["cells"]]


def shown_text(outputs: list[dict[str, Any]]) -> str:
    """Return what a cell prints or shows as text."""
    return "".join(out.get("text") or out["data"]["text/plain"] for out in outputs).strip()


def test_the_first_example_of_the_readme_runs_in_a_kernel_without_widgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = first_example()
    assert any("protect(" in one.source for one in examples)
    widgets = "__import__('importlib.util').util.find_spec('ipywidgets')"
    cells = [f"print({widgets})", *(one.source for one in examples)]
    figure = ["from leastnoise import plots", "regions", "plots.answer(regions)"]
    outputs = executed([*cells, *figure], tmp_path, monkeypatch)
    shown = [shown_text(each) for each in outputs[: len(cells)]]
    assert shown == ["None", *(one.want.strip() for one in examples)]
    (table,), (picture,) = outputs[-2:]
    assert "<caption>count by region</caption>" in table["data"]["text/html"]
    assert '"text": ["count by region"]' in picture["data"]["text/html"]


# --------------------------------------------------------------------------- a missing library

_WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""


def without(missing: str, program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a program in a Python where a library cannot be imported."""
    code = _WITHOUT.format(missing={missing}) + program
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("missing", "source", "extra"),
    [
        ("duckdb", [str(census())], "tables"),
        ("ibis", [str(census())], "tables"),
        ("psycopg", ["postgresql://nobody@nowhere.invalid/x", "--table", "people"], "postgres"),
        ("ibis", ["postgresql://nobody@nowhere.invalid/x", "--table", "people"], "postgres"),
    ],
)
def test_a_missing_library_is_one_sentence_with_its_extra(
    missing: str, source: list[str], extra: str
) -> None:
    done = without(missing, "from leastnoise.cli import main; main()", "count", *source, *COUNT)
    assert done.stdout == ""
    assert_readable(done.stderr)
    assert done.stderr.startswith("Error: ")
    assert done.stderr.endswith(f" pip install 'leastnoise[{extra}]'.\n")
    assert done.returncode == 2


@pytest.mark.parametrize("frame", ["pandas.DataFrame", "pyarrow.table"])
def test_a_missing_library_leaves_no_other_error_behind_it(frame: str) -> None:
    module = frame.partition(".")[0]
    program = f"""
import {module}
import leastnoise as ln
try:
    ln.protect({frame}({{"x": [1]}}), unit=None, ledger=ln.UNRECORDED)
except ln.errors.Unsupported as error:
    print(error.__context__, error.__cause__, error)
"""
    done = without("duckdb", program)
    assert done.stderr == ""
    assert done.stdout.startswith("None None ")
    assert done.stdout.endswith("pip install 'leastnoise[tables]'.\n")


# ------------------------------------------------------------------------------------- closing


def test_closing_closes_the_engine_of_files_and_frames(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    for source in (tmp_path / "a.csv", pa.table({"x": [1]})):
        with ln.protect(source, unit=None, ledger=ln.UNRECORDED) as table:
            engine: Any = table.source.table.get_backend()
            engine.con.execute("SELECT 1")
        with pytest.raises(duckdb.ConnectionException, match="closed"):
            engine.con.execute("SELECT 1")
        with pytest.raises(InvalidParameter, match="This protected table is closed"):
            table.count(privacy=ln.Privacy(1))
        table.close()  # a second time: nothing happens


def ours(address: str, *, wait_for: int) -> int:
    """Return how many connections of leastnoise a server has to this database."""
    counted = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'leastnoise'"
    )
    found = -1
    with psycopg.connect(address, autocommit=True) as connection:
        for _ in range(250):  # a backend takes a moment to leave the list
            ((found,),) = connection.execute(counted).fetchall()
            if found == wait_for:
                break
            connection.execute("SELECT pg_sleep(0.02)")
    return found


def test_closing_closes_a_connection_that_was_opened_by_its_address(pg_address: str) -> None:
    with psycopg.connect(pg_address, autocommit=True) as connection:
        connection.execute("CREATE TABLE people (x int)")
    table = ln.protect(pg_address, table="people", unit=None, ledger=ln.UNRECORDED)
    assert ours(pg_address, wait_for=1) == 1
    table.close()
    assert ours(pg_address, wait_for=0) == 0


def test_closing_leaves_a_connection_of_the_caller_open(duck: Any, pg: Any) -> None:
    for backend in (duck, pg):
        backend.raw_sql("CREATE TABLE people (x int)")
        ln.protect(backend.table("people"), unit=None, ledger=ln.UNRECORDED).close()
        assert backend.table("people").count().to_pyarrow().as_py() == 0


def test_na_in_a_csv_file_is_no_null_and_answers_say_so(tmp_path: Path) -> None:
    """The note is in the answer if a condition asks, and gone with the column converted."""
    path = tmp_path / "flights.csv"
    path.write_text("delay,day\n" + "NA,1\n" * 300 + ",1\n" * 50 + "7,\n" * 5)
    note = "A CSV field is null only if it is empty"
    for types, count in (({}, 50), ({"delay": int}, 350)):
        with ln.protect(path, unit=None, ledger=ln.UNRECORDED, types=types) as flights:
            answer = flights.count(where="not delay is not null", privacy=ln.Privacy(50))
            assert answer.value == count
            assert (note in str(answer)) is (not types)
            assert note not in str(flights.count(where="delay = 7", privacy=ln.Privacy(50)))
            mean = flights.mean("delay", bounds=(0, 9), where="day is null", privacy=ln.Privacy(50))
            assert note in str(mean)


def test_a_name_with_blanks_in_an_expression_needs_quotes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("HbA1c (%),Num Drugs\n7,2\n")
    with ln.protect(path, unit=None, ledger=ln.UNRECORDED) as table:
        message = (
            r"No column 'Num Drugs / 2' in .*\. If it is an expression, write \"Num Drugs\" in"
        )
        with pytest.raises(ln.errors.InvalidParameter, match=message):
            table.sum("Num Drugs / 2", bounds=(0, 9), privacy=ln.Privacy(1))
        answer = table.sum('"Num Drugs" / 2', bounds=(0, 9), privacy=ln.Privacy(1))
        assert answer.subject.title == 'sum of "Num Drugs" / 2'


def test_the_source_comes_before_the_column(tmp_path: Path, monkeypatch: Any) -> None:
    from click.testing import CliRunner

    from leastnoise.cli import main

    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("x\n1\n")
    words = ["mean", "x", "a.csv", "--bounds", "0", "9", "--row-is-unit", "--epsilon", "1"]
    done = CliRunner().invoke(main, [*words, "--unrecorded"])
    assert done.exit_code == 2
    assert "SOURCE must come before COLUMN, got 'x' before 'a.csv'" in done.output
