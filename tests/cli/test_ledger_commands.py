"""``leastnoise ledger``, and ``leastnoise release`` with a ledger."""

import json
import re
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib import import_module
from io import StringIO
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result

import leastnoise as ln
from leastnoise import plots
from leastnoise.cli import main
from leastnoise.rendering import Progress
from tests.support.ledger_files import edit
from tests.support.postgres_servers import Server
from tests.support.screens import assert_readable, unwrapped

CANARY = "31337.4242"  # the value that nothing may repeat
ROOT = Path(__file__).resolve().parents[2]
LIMIT = ["--epsilon", "1", "--delta", "1e-6"]
FIFTH = ["--epsilon", "0.2", "--sensitivity", "1"]


def call(*arguments: str) -> Result:
    runner = CliRunner(env={"COLUMNS": "80"})
    return runner.invoke(main, arguments, prog_name="leastnoise")


def data(result: Result) -> Any:
    """Return printed JSON, which must be strict: NaN and Infinity are none."""
    assert result.exit_code == 0, result.output
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout, parse_constant=pytest.fail)


def exact(guarantee: dict[str, Any]) -> tuple[Fraction | int, ...]:
    return Fraction(guarantee["epsilon"]), Fraction(guarantee["delta"])


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = str(tmp_path / "people.ledger")
    assert call("ledger", "create", path, *LIMIT).exit_code == 0
    return path


def released(file: str, *more: str) -> Any:
    return data(call("release", "42", *FIFTH, "--ledger", file, "--json", *more))


def damage(file: str) -> None:
    """Change a letter of a key, as an editor of databases would."""
    edit(file, "UPDATE rows SET key = 'c' WHERE key = 'a'")


# ------------------------------------------------------------------- what it shows


def test_show_is_what_the_library_says(file: str) -> None:
    for key in "abc":
        released(file, "--key", key, *(["--analyst", "ann"] if key == "a" else []))
    found = data(call("ledger", "show", file, "--json"))
    whole, ann = found["accounts"]
    assert (whole["dataset"], whole["analyst"], ann["analyst"]) == ("data", None, "ann")
    assert exact(whole["limit"]) == (1, Fraction(1, 10**6))
    assert exact(whole["spent"]) == (Fraction(3, 5), 0)
    assert exact(whole["left"]) == (Fraction(2, 5), Fraction(1, 10**6))
    assert exact(ann["spent"]) == (Fraction(1, 5), 0)
    assert found["releases"] == 3
    assert [release["key"] for release in found["last"]] == list("abc")
    assert [release["analyst"] for release in found["last"]] == ["ann", None, None]
    with ln.Ledger(file) as ledger:
        assert found["head"] == str(ledger.head)


def test_show_prints_aligned_tables_and_the_promise_in_words(file: str) -> None:
    for key in "abc":
        released(file, "--key", key)
    printed = call("ledger", "show", file).stdout
    accounts, releases, facts = printed.strip().split("\n\n")
    names, *rows = accounts.splitlines()
    starts = [match.start() for match in re.finditer(r"(?<!\S)\S+( \(ε, δ\))?", names)]
    cells = [
        [row[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
        for row in rows
    ]
    assert cells == [["data", "(all)", "1, 1e-6", "0.6, 0", "0.4, 1e-6"]]
    assert releases.splitlines()[0] == "3 releases"
    assert releases.splitlines()[1].split("  ")[-1] == "key"
    assert [line.split()[-1] for line in releases.splitlines()[2:]] == list("abc")
    with ln.Ledger(file) as ledger:
        head = str(ledger.head)
    assert unwrapped(facts) == (
        "Guarantee ε = 1, δ = 1e-6 for all releases from 'data' together "
        "Unit No charge declares a privacy unit: the total is a guarantee for a unit that changes "
        "each true answer by at most the sensitivity that was given for it. "
        f"Head {head} Meaning leastnoise explain --epsilon 1 --delta 1e-6"
    )
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.parametrize("action", [["show"], ["create", *LIMIT]])
def test_the_guarantee_is_explained_on_request(file: str, action: list[str]) -> None:
    meaning = unwrapped(ln.Privacy(1, "1e-6").explain()).split(". ")[0]
    plain = unwrapped(call("ledger", action[0], file, *action[1:]).stdout)
    assert meaning not in plain
    assert plain.endswith("Meaning leastnoise explain --epsilon 1 --delta 1e-6")
    words = unwrapped(call("ledger", action[0], file, *action[1:], "--explain").stdout)
    assert meaning in words
    assert words.endswith('"One person" stands for one privacy unit.')
    assert "add up" not in words
    assert "Meaning" not in words
    assert meaning in data(call("ledger", "show", file, "--json"))["means"]


def test_a_column_that_says_the_same_of_every_release_is_omitted(file: str) -> None:
    released(file, "--key", "a")
    assert "\nrow  time (UTC)        ε, δ    key\n" in call("ledger", "show", file).stdout
    with ln.Ledger(file, analyst="ann") as ledger:
        spending = ln.calibrate(ln.Privacy("0.1"), sensitivity=1).spending()
        ledger.charge(spending, "b")
    printed = call("ledger", "show", file).stdout
    titles = "\nrow  time (UTC)        analyst  ε, δ    answered  key\n"
    assert titles in printed
    assert [line.split()[-4:] for line in printed.split(titles)[1].splitlines()[:2]] == [
        ["0.2,", "0", "yes", "a"],
        ["0.1,", "0", "no", "b"],
    ]


@pytest.mark.parametrize("length", [30, 44, 45, 76, 999])
def test_no_key_makes_a_line_too_long(file: str, length: int) -> None:
    key = ("k" * length)[:-1] + "z"
    released(file, "--key", key)
    printed = call("ledger", "show", file).stdout
    assert max(map(len, printed.splitlines())) <= 80
    assert (key in printed) == (length <= 75)
    assert "kkkk…\n" in printed or length <= 75
    assert key in call("ledger", "releases", file).stdout


def test_releases_lists_all_of_them_or_those_of_a_dataset(file: str) -> None:
    assert call("ledger", "releases", file).stdout == "No releases\n"
    assert call("ledger", "create", file, "--dataset", "visits", *LIMIT).exit_code == 0
    mechanism = ln.calibrate(ln.Privacy("1/100"), sensitivity=1)
    with ln.Ledger(file) as ledger, ln.Ledger(file, dataset="visits") as other:
        for place in range(12):
            mechanism.release(1, ledger=ledger, key=f"question {place}")
        mechanism.release(1, ledger=other, key="visitors")
    printed = call("ledger", "releases", file).stdout
    assert printed.startswith("13 releases\nrow  time (UTC)        dataset  ε, δ ")
    assert re.findall(r"question (\d+)", printed) == [str(place) for place in range(12)]
    of_one = call("ledger", "releases", file, "--dataset", "visits").stdout
    assert of_one.startswith("1 release\n")
    assert "question" not in of_one
    found = data(call("ledger", "releases", file, "--json"))
    assert [one["key"] for one in found][-2:] == ["question 11", "visitors"]


def test_only_the_last_ten_releases_are_listed(file: str) -> None:
    with ln.Ledger(file) as ledger:
        mechanism = ln.calibrate(ln.Privacy("1/100"), sensitivity=1)
        for place in range(12):
            mechanism.release(1, ledger=ledger, key=f"question {place}")
    printed = call("ledger", "show", file).stdout
    assert "\n12 releases, the last 10\n" in printed
    assert re.findall(r"question (\d+)", printed) == [str(place) for place in range(2, 12)]


def test_long_sums_are_rounded_to_the_side_of_caution(file: str) -> None:
    """1/9 − 1/10 + … never less spent than was, never more left than is."""
    with ln.Ledger(file) as ledger:
        for part in ("1/1234567", "1/7654321"):
            ln.calibrate(ln.Privacy(part), sensitivity=1).release(1, ledger=ledger)
        spent, left = ledger.spent.epsilon, ledger.remaining.epsilon
    row = call("ledger", "show", file).stdout.splitlines()[1]
    shown = [Fraction(text[1:-1]) for text in row.split() if text.startswith("≈")]
    assert len(shown) == 2
    assert spent < shown[0] < spent * (1 + Fraction(1, 10**7))
    assert left * (1 - Fraction(1, 10**7)) < shown[1] < left


def test_what_somebody_put_into_the_file_cannot_steer_the_terminal(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leastnoise.ledger.ledger.check_name", lambda text, _: text)
    monkeypatch.setattr("leastnoise.ledger.rows.is_readable", lambda _: True)
    with ln.Ledger(file, limit=ln.Privacy(1), dataset="a\x1b[2J") as ledger:
        ln.calibrate(ln.Privacy("0.1"), sensitivity=1).release(1, ledger=ledger, fresh=True)
        printed = call("ledger", "show", file).stdout
    assert "a�[2J" in printed
    assert "\x1b" not in printed
    monkeypatch.undo()
    refused = call("ledger", "show", file)
    assert refused.exit_code == 4
    assert "\x1b" not in refused.output


# ------------------------------------------------------------------- new and allow


def test_create_may_be_repeated_and_says_what_exists(file: str) -> None:
    again = call("ledger", "create", file, *LIMIT)
    assert again.exit_code == 0
    said = "Dataset 'data' of people.ledger already exists with this limit.\n"
    assert again.stdout.startswith(said)
    first = call("ledger", "create", file, "--dataset", "visits", *LIMIT)
    assert first.stdout.startswith("Created: dataset 'visits' of people.ledger.\n")
    other = call("ledger", "create", file, "--epsilon", "2")
    assert other.exit_code == 2
    assert " ".join(other.stderr.split()) == (
        "Error: This ledger already exists, and the limit of dataset 'data' is ε = 1, δ = 1e-6, "
        "not ε = 2, δ = 0. Nothing was changed. To change the limit, use leastnoise ledger "
        "set-limit FILE."
    )
    unsaid = call("ledger", "create", file, "--dataset", "other")
    assert (unsaid.exit_code, unsaid.stdout) == (2, "")
    assert "A limit needs --epsilon, --delta or both." in unsaid.stderr


OLD_ORDER = {
    "": ([], "show", []),
    "show": (["show"], "show", ["--json"]),
    "new": (["new"], "create", LIMIT),
    "allow": (["allow"], "set-limit", LIMIT),
    "verify": (["verify"], "verify", []),
    "export": (["export"], "export", []),
}


@pytest.mark.parametrize("old", OLD_ORDER)
def test_the_old_order_works_and_warns(file: str, old: str) -> None:
    """Up to 0.5.0 the file came first; options may stand anywhere."""
    action, new, given = OLD_ORDER[old]
    runs = [
        call("ledger", file, *action, *given),
        call("ledger", *given, file, *action),
        call("ledger", "--dataset", "data", file, *given, *action),
    ]
    expected = call("ledger", new, file, *given)
    assert (expected.exit_code, expected.stderr) == (0, "")
    command = f"leastnoise ledger FILE {old}".rstrip()
    for done in runs:
        assert done.exit_code == 0
        assert done.stdout.splitlines()[0][:40] == expected.stdout.splitlines()[0][:40]
        assert max(map(len, done.stderr.splitlines())) <= 80
        assert unwrapped(done.stderr) == (
            f"Warning: `{command}` is deprecated; use `leastnoise ledger {new} FILE`. "
            "It will be removed in 0.7."
        )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["craete", "FILE"], "No such command 'craete'. Did you mean 'create'?"),
        (["shwo"], "No such command 'shwo'. Did you mean 'show'?"),
        (["FILE", "nwe"], "No such command "),
        (["show", "FILE", "--epsilon", "1"], "No such option '--epsilon'"),
        (["create", "FILE", *LIMIT, "--analyst", "a"], "No such option '--analyst'"),
        (["export", "FILE", "--json"], "No such option '--json'"),
        (["verify", "FILE", "--out", "a"], "No such option '--out'"),
        (["plot", "FILE"], "Missing option '--out'"),
        (["show"], "Missing argument 'FILE'"),
        (["show", "FILE", "FILE"], "Got unexpected extra argument"),
        (["allocate", "FILE", "a", "--epsilon", "0.1"], "An allocation needs δ > 0"),
        (["allocate", "FILE", "a", "--epsilon", "0.1"], "Add --delta 1e-6."),
    ],
)
def test_wrong_usage_is_told(file: str, words: list[str], message: str) -> None:
    done = call("ledger", *(file if word == "FILE" else word for word in words))
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in unwrapped(done.stderr)


def test_a_data_set_need_not_be_named_where_the_first_is_meant(tmp_path: Path) -> None:
    path = str(tmp_path / "a.ledger")
    for name in ("visits", "data"):
        assert call("ledger", "create", path, "--dataset", name, *LIMIT).exit_code == 0
    released(path)
    released(path, "--dataset", "data")
    released(path, "--dataset", "data")
    accounts = data(call("ledger", "show", path, "--json", "--dataset", "data"))["accounts"]
    assert [account["dataset"] for account in accounts] == ["visits", "data"]  # as they were begun
    spent = {account["dataset"]: exact(account["spent"])[0] for account in accounts}
    assert spent == {"visits": Fraction(1, 5), "data": Fraction(2, 5)}
    missing = call("ledger", "show", path, "--dataset", "people")
    assert missing.exit_code == 2
    assert "This ledger has no dataset 'people' (its first is 'visits')." in unwrapped(
        missing.stderr
    )
    assert "use leastnoise ledger create FILE --dataset …" in unwrapped(missing.stderr)


def test_allow_sets_the_limits_of_a_data_set_and_of_an_analyst(file: str) -> None:
    assert call("ledger", "set-limit", file, "--epsilon", "1/3", "--analyst", "ann").exit_code == 0
    assert released(file, "--analyst", "ann")["recorded"]
    refused = call("release", CANARY, *FIFTH, "--ledger", file, "--analyst", "ann")
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "Not enough budget for analyst 'ann' in dataset 'data'." in unwrapped(refused.stderr)
    assert CANARY not in refused.stderr
    lowered = call("ledger", "set-limit", file, "--epsilon", "0.1")
    assert "Warning    Spending exceeds the current limit.\n" in lowered.stdout
    # What was spent, not the limit now; δ stayed as it was.
    assert "Guarantee  ε = 0.2, δ = 1e-6 for all releases from 'data'" in lowered.stdout


def test_allow_keeps_what_is_not_given(file: str) -> None:
    """Of the account itself, and of the dataset for an analyst who had no limit."""
    steps = [
        (["--delta", "1e-7", "--analyst", "ann"], ("1", "1e-7")),
        (["--epsilon", "0.5"], ("0.5", "1e-6")),
        (["--epsilon", "0.3", "--analyst", "ann"], ("0.3", "1e-7")),
        (["--delta", "0"], ("0.5", "0")),
        (["--epsilon", "0", "--delta", "0"], ("0", "0")),
    ]
    for options, (epsilon, delta) in steps:
        found = data(call("ledger", "set-limit", file, *options, "--json"))["accounts"]
        mine = found["--analyst" in options]  # the dataset's is first
        assert exact(mine["limit"]) == (Fraction(epsilon), Fraction(delta))


# ------------------------------------------------------------------- verify


def test_verify_tells_the_head_and_takes_it(file: str) -> None:
    head = released(file, "--key", "a")["recorded"]["head"]
    released(file, "--key", "b")
    found = data(call("ledger", "verify", file, "--head", head, "--json"))
    with ln.Ledger(file) as ledger:
        assert found == {
            "whole": True,
            "rows": ledger.head.seq,
            "head": str(ledger.head),
            "checked": {"head": True, "witness": False},
            "mixed_neighbours": [],
        }
    assert (
        "Witness  the ledger contains the witnessed head\n"
        in call("ledger", "verify", file, "--head", head).stdout
    )
    told = unwrapped(call("ledger", "verify", file).stdout)
    assert f"Verified: the {found['rows']} rows are consistent and the chain is intact." in told
    assert "An older copy or a carefully rewritten ledger also passes." in told
    wrong = call("ledger", "verify", file, "--head", "1-00")
    assert wrong.exit_code == 2


@pytest.mark.parametrize("way", ["--head", "--witness"])
def test_an_older_copy_is_noticed_by_a_head(file: str, way: str) -> None:
    released(file, "--key", "a")
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    older = file + ".older"
    shutil.copy(file, older)
    head = released(file, "--key", "b")["recorded"]["head"]
    assert call("ledger", "verify", older).exit_code == 0  # nothing in it can tell
    done = call("ledger", "verify", older, way, head)
    assert (done.exit_code, done.stdout) == (4, "")
    assert "an older copy, or another ledger" in unwrapped(done.stderr)
    refused = call("release", CANARY, *FIFTH, "--ledger", older, "--witness", head)
    assert (refused.exit_code, refused.stdout) == (4, "")
    assert CANARY not in refused.stderr


@pytest.mark.parametrize("action", ["show", "releases", "verify", "export", "plot", "set-limit"])
def test_of_a_damaged_ledger_nothing_is_told_and_nothing_released(file: str, action: str) -> None:
    for key in "ab":
        released(file, "--key", key)
    damage(file)
    more = {"plot": ["--out", f"{file}.svg"], "set-limit": LIMIT}.get(action, [])
    for done in (
        call("ledger", action, file, *more),
        call("release", CANARY, *FIFTH, "--ledger", file),
    ):
        assert (done.exit_code, done.stdout) == (4, "")
        assert re.search(r"^Error: The ledger is damaged: row", done.stderr)
        assert_readable(done.stderr)
        assert CANARY not in done.stderr


# ------------------------------------------------------------------- release


def test_under_a_key_the_stored_answer_comes_back(file: str) -> None:
    first = released(file, "--key", "members")
    again = data(call("release", "99999", *FIFTH, "--ledger", file, "--key", "members", "--json"))
    assert again["value"] == first["value"]
    assert (first["recorded"]["again"], again["recorded"]["again"]) == (False, True)
    assert exact(again["recorded"]["left"])[0] == Fraction(4, 5)
    printed = call("release", CANARY, *FIFTH, "--ledger", file, "--key", "members").stdout
    assert printed.startswith("release: ")
    assert "Budget     nothing charged: stored answer of " in printed
    assert "pass another --key. To draw new noise, pass --fresh." in " ".join(printed.split())
    assert (first["reused"], again["reused"]) == (None, first["recorded"]["at"])
    fresh = released(file, "--key", "members", "--fresh")["recorded"]
    assert fresh["row"] > first["recorded"]["row"]
    assert exact(fresh["left"])[0] == Fraction(3, 5)


def test_a_release_may_say_that_it_is_unrecorded(file: str) -> None:
    assert data(call("release", "5", *FIFTH, "--unrecorded", "--json"))["recorded"] is False
    done = call("release", "5", *FIFTH, "--unrecorded", "--ledger", file)
    assert done.exit_code == 2
    assert "--ledger and --unrecorded exclude each other" in unwrapped(done.stderr)


def test_the_true_value_is_not_in_the_file(file: str) -> None:
    for value in (CANARY, "5"):
        call("release", value, *FIFTH, "--ledger", file, "--key", value[:1])
    parts = [path.read_bytes() for path in Path(file).parent.iterdir()]
    assert all(CANARY.encode() not in part for part in parts)
    assert sum(b'"index"' in part for part in parts) >= 1


def test_a_witness_log_is_kept_by_releases(file: str, tmp_path: Path) -> None:
    log = tmp_path / "elsewhere.heads"
    recorded = released(file, "--witness", str(log))["recorded"]
    assert log.read_text().splitlines()[-1].split()[0] == recorded["head"]


MISUSED = [
    (["ledger", "plot", "FILE", "--out", "a.gif"], 2, "--out must end in .png, .svg"),
    (
        ["ledger", "export", "FILE", "--out", "no/where"],
        2,
        "The declaration was not written: No such",
    ),
    (["ledger", "export", "FILE", "--unit", ""], 2, "--unit must be a string of 1 to"),
    (["ledger", "set-limit", "FILE"], 2, "A limit needs --epsilon, --delta or both."),
    (
        ["ledger", "set-limit", "FILE", "--epsilon", "x"],
        2,
        "--epsilon must be a finite number, got 'x'.",
    ),
    (["ledger", "show", "FILE", "--witness", ""], 2, "--witness must be a head such as"),
    (
        ["ledger", "show", "nowhere.ledger"],
        2,
        "Only the budget owner creates ledgers: leastnoise ledger create FILE",
    ),
    (["ledger", "show", __file__], 2, "is not a leastnoise ledger"),
    (["ledger", "show", "mysql://x"], 2, "got an address that starts with mysql://."),
    (["ledger", "create", "FILE", "--epsilon", "0"], 2, "must be positive, got ε = 0, δ = 0."),
    (
        ["ledger", "create", "FILE", *LIMIT, "--epsilon", "2"],
        2,
        "--epsilon must be given once, got 2 values.",
    ),
    (
        ["ledger", "show", "FILE", "--dataset", "a", "--dataset", "a"],
        2,
        "--dataset must be given once, got 2 values.",
    ),
    (
        ["release", CANARY, *FIFTH, "--ledger", "FILE", "--epsilon", "1"],
        2,
        "--epsilon must be given once",
    ),
    (
        ["ledger", "verify", "FILE", "--witness", "nowhere"],
        2,
        "--witness must be a head, or a file that",
    ),
    (["ledger", "show", "FILE", "--witness", "nowhere"], 2, "got 'nowhere', which holds none."),
    (
        ["release", CANARY, *FIFTH, "--key", "a"],
        2,
        "--key and --fresh need a ledger. Add --ledger",
    ),
    (
        ["release", CANARY, *FIFTH, "--fresh"],
        2,
        "need a ledger. Add --ledger FILE, or remove both.",
    ),
    (["release", CANARY, *FIFTH, "--dataset", "a"], 2, "--dataset needs a ledger."),
    (["release", CANARY, *FIFTH, "--analyst", "a"], 2, "--analyst needs a ledger."),
    (
        ["release", CANARY, *FIFTH, "--ledger", "nowhere"],
        2,
        "Only the budget owner creates ledgers: leastnoise",
    ),
    (
        ["release", CANARY, *FIFTH, "--ledger", "FILE", "--key", "\n"],
        2,
        "--key must be a string of",
    ),
    (
        ["release", CANARY, *FIFTH[2:], "--epsilon", "2", "--ledger", "FILE"],
        3,
        "Not enough budget in dataset 'data'. Nothing was charged",
    ),
]


@pytest.mark.parametrize(("arguments", "code", "message"), MISUSED)
def test_a_mistake_is_a_readable_error_and_changes_nothing(
    file: str, arguments: list[str], code: int, message: str
) -> None:
    before = call("ledger", "verify", file).stdout
    done = call(*(file if word == "FILE" else word for word in arguments))
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in unwrapped(done.stderr)
    assert_readable(done.stderr)
    assert CANARY not in done.stderr
    assert call("ledger", "verify", file).stdout == before


def test_a_key_is_for_one_promise(file: str) -> None:
    released(file, "--key", "a")
    other = ["--epsilon", "0.3", "--sensitivity", "1"]
    done = call("release", CANARY, *other, "--ledger", file, "--key", "a")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "The key 'a' was used with a different ε" in unwrapped(done.stderr)


# ------------------------------------------------------------------- export and plot


def test_export_is_the_declaration_of_the_library(file: str, tmp_path: Path) -> None:
    released(file, "--key", "a")
    found = data(call("ledger", "export", file, "--unit", "person"))
    out = tmp_path / "declaration.json"
    done = call("ledger", "export", file, "--unit", "person", "--out", str(out))
    assert done.stdout.startswith(f"Wrote the declaration of 'data' to {out}\n\nTo fill in  ")
    assert "intended_use" in done.stdout
    assert "privacy_unit" not in done.stdout
    with ln.Ledger(file) as ledger:
        assert found == ledger.export(unit="person") == json.loads(out.read_text())


@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_plot_writes_a_picture(file: str, tmp_path: Path, ending: str) -> None:
    released(file, "--key", "a")
    out = tmp_path / f"budget.{ending}"
    drawn = call("ledger", "plot", file, "--out", str(out)).stdout
    assert drawn == f"Drew the spending of every dataset to {out}\n"
    assert out.stat().st_size > 1000


# ------------------------------------------------------------------- help and documents


COMMANDS = ("create", "show", "set-limit", "allocate", "releases", "verify", "export", "plot")


def test_help_lists_the_commands() -> None:
    told = call("ledger", "--help").stdout
    listed = re.findall(r"(?m)^  ([a-z-]+)  +[A-Z]", told.split("Commands:")[1])
    assert tuple(listed) == COMMANDS
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_an_example_that_runs_and_its_call(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = call("ledger", command, "--help").stdout
    assert max(map(len, told.splitlines())) <= 80
    examples = re.findall(r"(?m)^  (leastnoise .*)$", told)
    monkeypatch.chdir(tmp_path)
    with ln.Ledger("people.ledger", limit=ln.Privacy(1, "1e-6"), witness="people.heads") as ledger:
        ledger.verify()
        ln.calibrate(ln.Privacy("0.1"), sensitivity=1).release(1, ledger=ledger)
    assert examples
    for example in examples:
        words = shlex.split(example)
        assert words[:3] == ["leastnoise", "ledger", command]
        assert call(*words[1:]).exit_code == 0
    (path,) = re.findall(r"In Python: leastnoise\.(\S+)", told)
    home, _, name = path.partition(".")
    assert hasattr(plots if home == "plots" else ln.Ledger, name) or path == "Ledger"


# ------------------------------------------------------------------- waiting


class Terminal(StringIO):
    """An error stream that says when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.told = Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.told.set()
        return super().write(text)


def test_what_takes_long_is_told_on_a_terminal_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("leastnoise.rendering._PATIENCE", 0)
    with Progress("checking the ledger"):
        assert terminal.told.wait(60)
    said = terminal.getvalue()
    assert said.startswith("\rleastnoise: checking the ledger, 0 s")
    assert said.endswith("\r")
    assert not said.split("\r")[-2].strip()


def test_what_is_done_next_is_told_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shorter text leaves nothing of a longer one on the line."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("leastnoise.rendering._PATIENCE", 0)
    with Progress("checking the ledger") as now:
        assert terminal.told.wait(60)
        terminal.told.clear()
        now("drawing")
        assert terminal.told.wait(60)
    first, second, *_ = terminal.getvalue().strip("\r").split("\r")
    assert second.startswith("leastnoise: drawing, ")
    assert len(second) == len(first)


def test_plot_says_when_it_draws(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And prints only when the line is wiped."""
    told: list[str] = []

    @contextmanager
    def noting(doing: str) -> Iterator[Callable[[str], None]]:
        told.append(doing)
        yield told.append
        told.append("ended")

    monkeypatch.setattr(import_module("leastnoise.cli.ledger_command"), "Progress", noting)
    monkeypatch.setattr("click.echo", lambda *_, **__: told.append("printed"))
    assert call("ledger", "plot", file, "--out", str(tmp_path / "a.json")).exit_code == 0
    assert told == ["checking the ledger", "drawing the picture", "ended", "printed"]


def test_what_is_quick_or_not_seen_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (Terminal(), StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with Progress("checking the ledger"):
            pass
        assert stream.getvalue() == ""


# ------------------------------------------------------------------- either store


def test_on_either_store(place: str, tmp_path: Path) -> None:
    begun = call("ledger", "create", place, "--dataset", "visits", *LIMIT)
    assert begun.exit_code == 0, begun.output
    first = released(place, "--key", "a")
    assert released(place, "--key", "a")["value"] == first["value"]
    refused = call("release", CANARY, *FIFTH[2:], "--epsilon", "0.9", "--ledger", place)
    assert (refused.exit_code, refused.stdout) == (3, "")
    head = first["recorded"]["head"]
    assert data(call("ledger", "verify", place, "--head", head, "--json"))["head"] == head
    assert data(call("ledger", "export", place))["evidence"]["head"] == head
    assert exact(data(call("ledger", "show", place, "--json"))["accounts"][0]["spent"])[
        0
    ] == Fraction(1, 5)
    assert call("ledger", "plot", place, "--out", str(tmp_path / "a.json")).exit_code == 0


def test_an_account_of_the_database_that_may_only_append_can_release(postgres: Server) -> None:
    """As docs/team-budget.md advises; and it can neither change rows nor take the guard away."""
    place = postgres.database()
    assert call("ledger", "create", place, *LIMIT).exit_code == 0
    with psycopg.connect(place, autocommit=True) as connection:
        for statement in (
            "CREATE ROLE colleague LOGIN",
            "GRANT USAGE ON SCHEMA leastnoise TO colleague",
            "GRANT SELECT, INSERT ON leastnoise.rows TO colleague",
            "GRANT SELECT, UPDATE ON leastnoise.head TO colleague",
        ):
            connection.execute(statement)
    hers = place.replace("postgres@", "colleague@")
    assert exact(released(hers)["recorded"]["left"])[0] == Fraction(4, 5)
    assert call("ledger", "verify", hers).exit_code == 0
    for statement in (
        "UPDATE leastnoise.rows SET at = ''",
        "DELETE FROM leastnoise.rows",
        "ALTER TABLE leastnoise.rows DISABLE TRIGGER ALL",
    ):
        with (
            psycopg.connect(hers, autocommit=True) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege, match=r"permission denied|owner"),
        ):
            connection.execute(statement)
