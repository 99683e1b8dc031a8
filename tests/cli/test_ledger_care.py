"""What ``leastnoise ledger`` takes care of: files, witnesses, terminals and pictures."""

import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import leastnoise as ln
from leastnoise.cli import main
from leastnoise.cli.output import print_json, print_words
from tests.support.screens import unwrapped

CANARY = "31337.4242"  # the value that nothing may repeat
LIMIT = ["--epsilon", "1", "--delta", "1e-6"]
FIFTH = ["--epsilon", "0.2", "--sensitivity", "1"]
FORMATS = [".png", ".svg", ".pdf", ".html", ".json"]


def call(*arguments: str) -> Result:
    runner = CliRunner(env={"COLUMNS": "80"})
    return runner.invoke(main, arguments, prog_name="leastnoise")


def fine(*arguments: str) -> Result:
    done = call(*arguments)
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = str(tmp_path / "people.ledger")
    fine("ledger", "create", path, *LIMIT)
    return path


def released(file: str, *more: str) -> Any:
    return json.loads(fine("release", "42", *FIFTH, "--ledger", file, "--json", *more).stdout)


def limit_and_spent(file: str) -> tuple[Any, Any]:
    with ln.Ledger(file) as ledger:
        ledger.verify()
        return ledger.limit, ledger.spent


# ------------------------------------------------------------------- what is not written over


def contents(folder: Path) -> dict[str, bytes]:
    """What files hold, but for SQLite's index of its log, which readers change, too."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.name.endswith("-shm")
    }


@pytest.mark.parametrize("action", ["export", "plot"])
@pytest.mark.parametrize(
    "out",
    ["a.json", "b.json", "c.json", "a.json-wal", "a.json-shm", "w.json", "v.json", "sub/../a.json"],
)
def test_no_ledger_and_no_witness_is_written_over(tmp_path: Path, action: str, out: str) -> None:
    """Itself, by any name, what SQLite keeps beside it, another one, and witnesses."""
    (tmp_path / "sub").mkdir()
    (file, link), other = (str(tmp_path / name) for name in ("a.json", "b.json")), tmp_path / "c"
    os.symlink(file, link)
    fine("ledger", "create", file, *LIMIT, "--witness", str(tmp_path / "w.json"))
    fine("ledger", "create", f"{other}.json", *LIMIT, "--witness", str(tmp_path / "v.json"))
    with ln.Ledger(file):  # so that the two files beside it are there
        before = contents(tmp_path)
        for name in (file, link):
            target = tmp_path / out
            given = ["--witness", str(tmp_path / "w.json")]
            done = call("ledger", action, name, "--out", str(target), *given)
            assert (done.exit_code, done.stdout) == (2, "")
            assert "must not overwrite a ledger or a witness" in unwrapped(done.stderr)
            assert contents(tmp_path) == before


def test_what_is_yet_to_be_made_beside_a_ledger_is_kept_free(file: str) -> None:
    witness = f"{file}.heads"
    for out in (f"{file}-wal", f"{file}-journal", witness):
        done = call("ledger", "export", file, "--out", out, "--witness", witness)
        assert done.exit_code == 2
        assert "got one of this ledger's own files." in unwrapped(done.stderr)
        assert not Path(out).exists()


def test_any_database_is_kept_and_any_other_file_is_written_over(file: str, tmp_path: Path) -> None:
    base, text = tmp_path / "other.json", tmp_path / "old.json"
    with sqlite3.connect(base) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    before = base.read_bytes()
    assert "got a database of SQLite." in call("ledger", "plot", file, "--out", str(base)).stderr
    assert base.read_bytes() == before
    text.write_text("yesterday's")
    fine("ledger", "export", file, "--out", str(text))
    assert json.loads(text.read_text())["status"] == "Draft"


SAVE = ["calibrate", "--delta", "0.1", "--sensitivity", "1", "--save"]


@pytest.mark.parametrize(
    ("link", "end"),  # a hard link to -shm has no mark to be known by, and SQLite makes it again
    [
        (os.symlink, ""),
        (os.symlink, "-wal"),
        (os.symlink, "-shm"),
        (os.link, ""),
        (os.link, "-wal"),
    ],
)
def test_no_other_ledger_is_written_over_through_a_link(
    file: str, tmp_path: Path, link: Any, end: str
) -> None:
    """Charges may be in the log alone, if the process that made them has died."""
    other = str(tmp_path / "other.ledger")
    with ln.Ledger(other, limit=ln.Privacy(1)):
        out = str(tmp_path / "out.json")
        link(other + end, out)
        before = contents(tmp_path)
        for command in (SAVE, ["ledger", "export", file, "--unit", "person", "--out"]):
            done = call(*command, out)
            assert (done.exit_code, done.stdout) == (2, "")
            assert "got a database of SQLite." in done.stderr
        assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "12-ab\n" + text,
        lambda text: "\n" + text,
        lambda text: text[40:],
        lambda text: "\0" * 9000 + "\n" + text,
        lambda text: text + "\0" * 9000,
        lambda text: text.split(" ")[0] + "\n",
    ],
)
def test_a_damaged_witness_is_kept_as_long_as_an_end_of_it_holds_a_head(
    file: str, tmp_path: Path, damage: Any
) -> None:
    log = tmp_path / "heads.json"
    released(file, "--witness", str(log))
    log.write_text(damage(log.read_text()))
    before = log.read_bytes()
    done = call(*SAVE, str(log))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "got a witness." in done.stderr
    assert log.read_bytes() == before


def test_an_empty_witness_holds_nothing_and_is_no_witness_once_written_over(
    file: str, tmp_path: Path
) -> None:
    log = tmp_path / "heads.json"
    log.touch()
    fine(*SAVE, str(log))
    done = call("ledger", "verify", file, "--witness", str(log))
    assert (done.exit_code, done.stdout) == (4, "")
    assert "contains no readable heads" in unwrapped(done.stderr)


@pytest.mark.parametrize("name", ["noises.svg", "noises.png"])
@pytest.mark.parametrize("link", [os.symlink, os.rename])
def test_no_figure_is_written_over_a_ledger(tmp_path: Path, name: str, link: Any) -> None:
    file, folder = str(tmp_path / "a.ledger"), tmp_path / "figures"
    fine("ledger", "create", file, *LIMIT)
    folder.mkdir()
    link(file, folder / name)
    before = (folder / name).read_bytes()
    asked = ["--epsilon", "1", "--delta", "0.05", "--sensitivity", "1"]
    done = call("compare", *asked, "--plot", str(folder))
    assert done.exit_code == 2
    assert "a file must not overwrite a ledger or a witness" in done.stderr
    assert (folder / name).read_bytes() == before


@pytest.mark.long
def test_no_page_of_the_paper_is_written_over_a_ledger_or_a_witness(tmp_path: Path) -> None:
    file, log, folder = str(tmp_path / "a"), str(tmp_path / "heads"), tmp_path / "paper"
    fine("ledger", "create", file, *LIMIT, "--witness", log)
    folder.mkdir()
    for target in (file, log):
        os.symlink(target, folder / "table-1.csv")
        before = contents(tmp_path)
        done = call("paper", str(folder))
        assert done.exit_code == 2
        assert "a file must not overwrite a ledger or a witness" in done.stderr
        assert contents(tmp_path) == before
        (folder / "table-1.csv").unlink()


# ------------------------------------------------------------------- witnesses


@pytest.mark.parametrize("action", ["show", "releases", "verify", "export", "plot", "set-limit"])
@pytest.mark.parametrize("empty", [False, True])
def test_a_witness_that_has_nothing_to_tell_is_none(
    file: str, tmp_path: Path, action: str, empty: bool
) -> None:
    log = tmp_path / "elsewhere.heads"
    if empty:
        log.touch()
    more = {"plot": ["--out", f"{file}.json"], "set-limit": LIMIT}.get(action, [])
    done = call("ledger", action, file, "--witness", str(log), *more)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--witness must be a head, or a file that holds heads" in unwrapped(done.stderr)
    assert log.exists() == empty


def test_a_witness_begins_with_a_ledger_or_its_first_release(tmp_path: Path) -> None:
    for name, first in (("a", ["--witness"]), ("b", [])):
        file, log = str(tmp_path / name), str(tmp_path / f"{name}.heads")
        fine("ledger", "create", file, *LIMIT, *(first and [*first, log]))
        assert Path(log).exists() == bool(first)
        head = released(file, "--witness", log)["recorded"]["head"]
        assert Path(log).read_text().splitlines()[-1].split()[0] == head
        released(file, "--witness", log)
        assert (
            "the ledger contains the witnessed heads"
            in fine("ledger", "verify", file, "--witness", log).stdout
        )


def test_after_releases_a_witness_is_begun_aloud(file: str, tmp_path: Path) -> None:
    head = released(file)["recorded"]["head"]
    log = str(tmp_path / "elsewhere.heads")
    spent = limit_and_spent(file)
    refused = call("release", CANARY, *FIFTH, "--ledger", file, "--witness", log)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "leastnoise ledger create FILE --witness WITNESS" in unwrapped(refused.stderr)
    assert CANARY not in refused.stderr
    assert limit_and_spent(file) == spent
    begun = fine("ledger", "create", file, "--witness", log).stdout
    assert unwrapped(begun).startswith(
        "Dataset 'data' of people.ledger already exists. The witness starts with the current head."
    )
    assert Path(log).read_text().split()[0] == head
    again = fine("ledger", "create", file, *LIMIT, "--witness", log).stdout
    assert again.startswith("Dataset 'data' of people.ledger already exists with this limit.\n")
    assert len(Path(log).read_text().splitlines()) == 1
    released(file, "--witness", log)


def test_a_witness_is_not_begun_anew_for_an_older_copy(file: str, tmp_path: Path) -> None:
    older, log = f"{file}.older", str(tmp_path / "elsewhere.heads")
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    shutil.copy(file, older)
    released(file, "--witness", log)
    done = call("ledger", "create", older, *LIMIT, "--witness", log)
    assert (done.exit_code, done.stdout) == (4, "")
    assert "an older copy, or another ledger" in unwrapped(done.stderr)


def test_verify_says_what_it_was_checked_against(file: str, tmp_path: Path) -> None:
    log = str(tmp_path / "elsewhere.heads")
    head = released(file, "--witness", log)["recorded"]["head"]
    for given in ([], ["head"], ["witness"], ["head", "witness"]):
        said = {"head": ["--head", head], "witness": ["--witness", log]}
        options = [word for name in given for word in said[name]]
        found = json.loads(fine("ledger", "verify", file, *options, "--json").stdout)
        assert found["checked"] == {name: name in given for name in ("head", "witness")}
        told = fine("ledger", "verify", file, *options).stdout
        assert ("witnessed" in told) == bool(given)
        assert ("An older copy" in told) == (not given)


# ------------------------------------------------------------------- several datasets


def test_the_data_set_is_named_where_there_are_several(file: str) -> None:
    for name in ("(all)", "visits"):
        if name == "visits":
            fine("ledger", "create", file, "--dataset", name, *LIMIT)
        line = fine("release", "42", *FIFTH, "--ledger", file, "--analyst", "ann").stdout
        assert ("(people.ledger, dataset 'data')" in unwrapped(line)) == (name == "visits")
        titles = re.search(r"(?m)^row .*$", fine("ledger", "show", file).stdout)
        assert titles is not None
        assert "dataset" not in titles[0]  # all are of one
        assert "  analyst  " in titles[0]
    line = fine("release", "42", *FIFTH, "--ledger", file, "--dataset", "visits").stdout
    assert "(people.ledger, dataset 'visits')" in unwrapped(line)
    assert released(file, "--dataset", "visits")["recorded"]["dataset"] == "visits"
    printed = fine("ledger", "show", file, "--dataset", "visits").stdout
    rows = [line.split()[3:5] for line in printed.splitlines() if re.match(r"\d+ +2", line)]
    assert rows == [["data", "ann"], ["data", "ann"], ["visits", "-"], ["visits", "-"]]


def test_an_analyst_without_a_limit_is_shown_without_one(file: str) -> None:
    released(file, "--analyst", "ann")
    line = next(
        line for line in fine("ledger", "show", file).stdout.splitlines() if " ann " in line
    )
    assert line.split() == ["data", "ann", "-", "0.2,", "0", "0.8,", "1e-6"]


def test_plot_draws_the_data_set_that_is_named(file: str, tmp_path: Path) -> None:
    fine("ledger", "create", file, "--dataset", "visits", "--epsilon", "2")
    out = tmp_path / "budget.json"
    told = fine("ledger", "plot", file, "--dataset", "visits", "--out", str(out)).stdout
    assert told == f"Drew the spending of dataset 'visits' to {out}\n"
    assert json.loads(out.read_text())["title"]["text"] == "ε spent of 'visits'"
    fine("ledger", "plot", file, "--out", str(out))
    assert len(json.loads(out.read_text())["vconcat"]) == 3


# ------------------------------------------------------------------- terminals

WORDS = (
    "All that is released keeps (ε, δ) = (1, 0.000001), that is: at most 73.1% of the time, as "
    "by ε = 1.0000014 at δ = 0, and (in words, such as these) δ ≤ 0.1."
)
FORMULAS = ["(ε, δ) = (1, 0.000001)", "73.1%", "ε = 1.0000014", "δ = 0,", "δ ≤ 0.1."]


@pytest.mark.parametrize("width", [*range(24, 60), 80, 81, 88, 89, 200])
def test_words_fit_the_terminal_and_no_formula_is_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    print_words(WORDS)
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines) == WORDS  # also no other blanks than were there
    assert max(map(len, lines)) <= min(width, 88)
    for formula in FORMULAS:
        assert any(formula in line for line in lines)


def test_words_are_as_for_eighty_columns_where_none_are_known(file: str) -> None:
    bare = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    command = [sys.executable, "-m", "leastnoise", "ledger", "show", file, "--explain"]
    printed = subprocess.run(
        command, env=bare, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert printed.stdout.decode() == fine("ledger", "show", file, "--explain").stdout


@pytest.mark.parametrize("encoding", ["latin-1", "cp437", "ascii"])
def test_what_a_terminal_cannot_show_is_no_traceback(file: str, encoding: str) -> None:
    setting = {**os.environ, "PYTHONIOENCODING": encoding}
    show, create = ["show", file], ["create", file, "--epsilon", "0"]
    for words, code in (([*show, "--explain"], 0), ([*show, "--json"], 0), (create, 2)):
        command = [sys.executable, "-m", "leastnoise", "ledger", *words]
        done = subprocess.run(command, env=setting, capture_output=True, check=False)
        assert done.returncode == code
        assert b"Traceback" not in done.stderr
        if "--json" in words:
            found = json.loads(done.stdout.decode(encoding))
            assert found["means"].startswith("All releases from 'data' together: ε = 1, δ = 1e-6")


def test_json_is_spelled_out_only_where_it_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, wanted in (("utf-8", '"ε"\n'), ("latin-1", '"\\u03b5"\n')):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
        print_json("ε")
        sys.stdout.flush()
        assert raw.getvalue().decode(encoding) == wanted


# ------------------------------------------------------------------- help


def test_help_and_error_name_the_same_endings(file: str) -> None:
    told = " ".join(call("ledger", "plot", "--help").stdout.split())
    refused = call("ledger", "plot", file, "--out", "a.gif").stderr
    assert ", ".join(FORMATS) in told
    assert f"must end in {', '.join(FORMATS)}," in refused


def test_help_of_release_tells_its_exit_codes() -> None:
    told = " ".join(call("release", "--help").stdout.split())
    assert "2 usage error, 3 budget exceeded, 4 verification failed" in told


def test_allow_of_nothing_is_a_limit(file: str) -> None:
    fine("ledger", "set-limit", file, "--epsilon", "0", "--delta", "0")
    assert limit_and_spent(file)[0] == ln.Privacy(0, Fraction(0))
    refused = call("release", CANARY, *FIFTH, "--ledger", file)
    assert (refused.exit_code, refused.stdout) == (3, "")
