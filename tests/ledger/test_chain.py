"""The chain of a ledger: sums, damage, careless edits, older copies, other files; in SQLite."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastnoise.errors import (
    BudgetExceeded,
    InvalidParameter,
    LedgerDamaged,
    LedgerUnavailable,
    Unsupported,
)
from leastnoise.ledger.accounts import Accounts
from leastnoise.ledger.rows import ANSWER, BEGINNING, CHARGE, KINDS, Row
from tests.support.ledger_files import (
    FILES,
    Editor,
    Privacy,
    charged,
    child,
    copied,
    edit,
    kinds,
    line,
    ln,
    mechanism,
    quick_folder,
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as name:
        yield Path(name)


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "people.ledger"


# ------------------------------------------------------------------ exact sums

fractions = st.fractions(min_value=0, max_value=1, max_denominator=10**9).filter(
    lambda part: part < 1
)


def followed(amounts: list[Fraction]) -> Accounts:
    """Return what charges of these come to."""
    accounts = Accounts()
    for amount in amounts:
        content: dict[str, Any] = {"dataset": "d", "analyst": None, "mechanisms": [], "asked": {}}
        content |= {"epsilon": str(amount), "delta": str(amount)}
        accounts.follow(iter([Row.after(accounts.head, CHARGE, "k", content)]))
    return accounts


@given(st.lists(fractions, max_size=40))
def test_sums_of_unlike_fractions_are_exact(amounts: list[Fraction]) -> None:
    """Sums whose denominators stay below 2²⁰⁴⁸, which 40 of these do."""
    total = sum(amounts, Fraction(0))
    assert followed(amounts).spent.get(("d", None), (Fraction(0), Fraction(0))) == (total, total)


def primes() -> Iterator[int]:
    found: list[int] = []
    for number in count(2):
        if all(number % prime for prime in found):
            found.append(number)
            yield number


PRIMES = [next(every) for every in [primes()] for _ in range(500)]


@settings(max_examples=12)
@given(st.permutations(PRIMES), st.integers(1, 10**6))
def test_a_sum_that_grows_too_long_is_never_too_small(order: list[int], over: int) -> None:
    """The product of the first 500 primes has more than 5000 binary digits."""
    amounts = [Fraction(over % prime + 1, prime**2) for prime in order]
    total = sum(amounts, Fraction(0))
    spent, _ = followed(amounts).spent["d", None]
    assert total < spent < total + Fraction(500, 1 << 2048)
    assert total.denominator.bit_length() > 5000


@given(fractions.filter(bool).map(lambda part: part / 50), st.integers(1, 20))
def test_a_sum_that_just_fits_and_one_a_hair_above(amount: Fraction, times: int) -> None:
    accounts = followed([amount] * (times - 1))
    hair = Fraction(1, 10**300)
    guarantee = Privacy(amount, amount)
    for spare in (Fraction(0), hair):
        accounts.limits["d", None] = (amount * times + spare, amount * times + spare)
        accounts.check_limits("d", None, guarantee)
    for epsilon, delta in ((hair, 0), (0, hair), (hair, hair)):
        limit = amount * times - epsilon, amount * times - delta
        accounts.limits["d", None] = limit
        with pytest.raises(BudgetExceeded, match="Not enough budget in dataset 'd': this"):
            accounts.check_limits("d", None, guarantee)


@pytest.mark.parametrize("tiny", ["1e-18", "1e-160", "1e-300", 5e-324])
def test_the_smallest_promises_fit_where_they_are_equal(path: Path, tiny: Any) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1, tiny))
    charged(ledger, "0.5", tiny)
    assert ledger.remaining == Privacy("0.5", 0)
    with pytest.raises(BudgetExceeded, match="this release needs"):
        charged(ledger, "0.1", "1e-320")


# ------------------------------------------------------------------ the chain


def whole_ledger(at: Path) -> dict[str, Any]:
    """Make a ledger with every kind of row; return its answers."""
    answers: dict[str, Any] = {}
    with ln.Ledger(at, limit=Privacy(10), analyst="ada", analyst_limit=Privacy(5)) as ledger:
        for key in ("one", "two", "three"):
            answers[key] = mechanism().release(1, ledger=ledger, key=key)
        answers["many"] = line().release(np.zeros(9), ledger=ledger, key="many")
        ledger.set_limit(Privacy(6), analyst="ada")
        answers["four"] = mechanism("0.2").release(1, ledger=ledger, key="four")
    return answers


@pytest.fixture(scope="module")
def sound() -> Iterator[tuple[Path, dict[str, Any]]]:
    with quick_folder() as name:
        at = Path(name) / "sound.ledger"
        yield at, whole_ledger(at)


@contextmanager
def edited(source: Path) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """Open a copy to be edited by hand; the triggers that stand in the way are dropped."""
    with tempfile.TemporaryDirectory(dir=source.parent) as name:
        target = copied(source, Path(name) / "edited.ledger")
        connection = sqlite3.connect(target, factory=Editor)
        connection.execute("PRAGMA ignore_check_constraints = ON")
        yield target, connection
        connection.close()


def asked(at: Path, key: str) -> Any:
    """Open a ledger and release under a key."""
    with ln.Ledger(at, analyst="ada") as ledger:
        return mechanism().release(1, ledger=ledger, key=key)


FIELDS = ("seq", "version", "kind", "key", "at", "body", "payload", "hash")


def another(draw: Callable[[Any], Any], field: str, value: Any) -> Any:
    """Return something else than a field has, near to it or of another type."""
    if isinstance(value, int):
        others: Any = st.integers(-(2**63), 2**63 - 1) | st.integers(value - 2, value + 2)
    elif isinstance(value, bytes):
        others = st.binary(max_size=80) | st.just(value + b"\0") | st.just(value[1:])
    else:
        near = [value + " ", value[:-1], value.upper(), value.replace("1", "2", 1)]
        others = st.sampled_from([*near, *KINDS]) | st.text(max_size=9)
    if field != "seq":
        others |= st.sampled_from([0, 1.5, "", b"", b"\xff", "\x00"])
    return draw(others.filter(lambda other: (type(other), other) != (type(value), value)))


@given(st.data())
def test_an_edited_field_is_noticed(
    sound: tuple[Path, dict[str, Any]], data: st.DataObject
) -> None:
    with edited(sound[0]) as (at, connection):
        rows = connection.execute(f"SELECT {', '.join(FIELDS)} FROM rows ORDER BY seq").fetchall()
        row = data.draw(st.sampled_from(rows))
        field = data.draw(st.sampled_from(FIELDS))
        value = another(data.draw, field, row[FIELDS.index(field)])
        if field == "seq" and value in range(1, len(rows) + 1):
            return  # taken: see the swaps
        with connection:
            connection.execute(f"UPDATE rows SET {field} = ? WHERE seq = ?", (value, row[0]))
            changed = connection.execute("SELECT * FROM rows ORDER BY seq").fetchall()
        if changed == rows:
            return  # 1.0 in a column of integers is 1
        for key in ("one", "new"):
            with pytest.raises(LedgerDamaged, match="Nothing was released"):
                asked(at, key)


def test_an_edit_that_changes_nothing_is_none(sound: tuple[Path, dict[str, Any]]) -> None:
    """The control: what is noticed below is the edit, not the editor."""
    with edited(sound[0]) as (at, connection):
        with connection:
            connection.execute("UPDATE rows SET body = body")
        assert asked(at, "one").index == sound[1]["one"].index
        assert asked(at, "new").receipt.reused is False


@pytest.mark.parametrize(
    "change",
    [
        """body = replace(body, '"epsilon":"1/10"', '"epsilon":"1/11"')""",
        """body = replace(body, '"analyst":"ada"', '"analyst":"bob"')""",
        "at = '2026-01-01T00:00:00.000+00:00'",
        "key = 'twice'",
        "payload = x'00'",
        "kind = 'mechanism'",
        "hash = replace(hash, substr(hash, 1, 1), 'x')",
    ],
)
def test_an_edit_that_leaves_a_row_well_formed_is_noticed(
    sound: tuple[Path, dict[str, Any]], change: str
) -> None:
    """By its hash alone, since nothing else is wrong with it."""
    with edited(sound[0]) as (at, connection):
        charge = "(SELECT seq FROM rows WHERE kind = 'charge' AND key = 'two')"
        with connection:
            connection.execute(f"UPDATE rows SET {change} WHERE seq = {charge}")
        with ln.Ledger(at, analyst="ada") as ledger:
            for use in (ledger.verify, lambda: list(ledger.rows()), lambda: ledger.spent):
                with pytest.raises(LedgerDamaged, match="has the wrong hash"):
                    use()
        with pytest.raises(LedgerDamaged, match="has the wrong hash"):
            asked(at, "new")


@given(st.data())
def test_rows_taken_out_put_in_or_swapped_are_noticed(
    sound: tuple[Path, dict[str, Any]], data: st.DataObject
) -> None:
    with edited(sound[0]) as (at, connection), connection:
        last = connection.execute("SELECT max(seq) FROM rows").fetchone()[0]
        one, other = data.draw(st.permutations(range(1, last + 1)))[:2]
        how = data.draw(
            st.sampled_from(["delete", "delete, closing up", "insert", "append", "swap"])
        )
        if how.startswith("delete"):
            connection.execute("DELETE FROM rows WHERE seq = ?", (one,))
        if how == "delete, closing up":
            for seq in range(one + 1, last + 1):
                connection.execute("UPDATE rows SET seq = ? WHERE seq = ?", (seq - 1, seq))
            connection.execute("UPDATE head SET seq = ?", (last - 1,))
            if one == last:  # that is an older copy, which only a witness can tell
                connection.execute("UPDATE head SET hash = 'x'")
        fields = ", ".join(FIELDS[1:])
        if how == "insert":
            for seq in range(last, one - 1, -1):
                connection.execute("UPDATE rows SET seq = ? WHERE seq = ?", (seq + 1, seq))
            put = one + 1 if other == one else other + (other >= one)
            connection.execute(
                f"INSERT INTO rows SELECT ?, {fields} FROM rows WHERE seq = ?", (one, put)
            )
            connection.execute("UPDATE head SET seq = ?", (last + 1,))
        if how == "append":
            connection.execute(
                f"INSERT INTO rows SELECT ?, {fields} FROM rows WHERE seq = ?", (last + 1, one)
            )
            if data.draw(st.booleans()):
                connection.execute(
                    "UPDATE head SET (seq, hash) = (SELECT seq, hash FROM rows WHERE seq = ?)",
                    (last + 1,),
                )
        if how == "swap":
            for before, after in ((one, -1), (other, one), (-1, other)):
                connection.execute("UPDATE rows SET seq = ? WHERE seq = ?", (after, before))
        connection.commit()
        for key in ("one", "new"):
            with pytest.raises(LedgerDamaged, match="Nothing was released"):
                asked(at, key)


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE head SET seq = seq - 1",
        "UPDATE head SET seq = -9223372036854775808",
        "UPDATE head SET seq = 9223372036854775807",
        "UPDATE head SET seq = 'many'",
        "UPDATE head SET hash = 'x'",
        "UPDATE head SET hash = x'00'",
        "DELETE FROM head",
        "DROP TABLE head",
        "DROP TABLE rows",
        "DROP INDEX rows_by_key; CREATE INDEX rows_by_key ON rows (key) WHERE key = ''",
        "ALTER TABLE rows ADD COLUMN more",
        "ALTER TABLE rows RENAME COLUMN body TO words",
        "DELETE FROM rows",
        "UPDATE rows SET key = NULL WHERE seq = 1",
    ],
)
def test_an_edited_head_or_table_is_noticed(sound: tuple[Path, dict[str, Any]], edit: str) -> None:
    with edited(sound[0]) as (at, connection):
        try:
            connection.executescript(edit)
        except sqlite3.IntegrityError:  # NOT NULL still stands
            return
        connection.close()
        with pytest.raises(LedgerDamaged, match="Nothing was released"):
            asked(at, "new")


def test_triggers_stand_in_the_way_of_careless_edits(sound: tuple[Path, dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory(dir=sound[0].parent) as name:
        connection = sqlite3.connect(copied(sound[0], Path(name) / "l"))
        for edit in ("UPDATE rows SET body = ''", "DELETE FROM rows", "UPDATE rows SET seq = seq"):
            with pytest.raises(sqlite3.IntegrityError, match="rows of a ledger are never"):
                connection.execute(edit)
        connection.close()


def flip(sound: tuple[Path, dict[str, Any]], at: Path, place: int, bits: int) -> bool:
    """Change a byte of the file; return whether it was noticed, and check that else it is whole."""
    source, answers = sound
    content = bytearray(source.read_bytes())
    content[place % len(content)] ^= bits
    for end in FILES:
        Path(f"{at}{end}").unlink(missing_ok=True)
    at.write_bytes(content)
    try:
        with ln.Ledger(at, analyst="ada") as ledger:
            old = mechanism().release(1, ledger=ledger, key="one")
            new = mechanism().release(1, ledger=ledger, key="new")
            rows = list(ledger.rows())
    except (LedgerDamaged, LedgerUnavailable, InvalidParameter, Unsupported):
        return True
    with ln.Ledger(source, analyst="ada") as ledger:
        assert rows[: answers["four"].receipt.head.seq] == list(ledger.rows())
    assert old.index == answers["one"].index
    assert old.receipt.reused
    assert not new.receipt.reused
    return False


@given(st.integers(0, 1 << 30), st.integers(1, 255))
def test_a_changed_byte_of_the_file_is_noticed_or_does_nothing(
    sound: tuple[Path, dict[str, Any]], place: int, bits: int
) -> None:
    with tempfile.TemporaryDirectory(dir=sound[0].parent) as name:
        flip(sound, Path(name) / "l", place, bits)


@pytest.mark.long
def test_changed_bytes_all_over_the_file(sound: tuple[Path, dict[str, Any]]) -> None:
    """A byte in eleven, and all of the header and of the tables' descriptions."""
    size = sound[0].stat().st_size
    with tempfile.TemporaryDirectory(dir=sound[0].parent) as name:
        places = {*range(120), *range(3000, 4096), *range(0, size, 11)}
        noticed = [flip(sound, Path(name) / "l", place, 1 << place % 8) for place in sorted(places)]
    assert any(noticed)
    assert not all(noticed)


def test_a_row_that_is_damaged_while_the_ledger_is_open_gives_no_answer(path: Path) -> None:
    """The rows before were checked when it was opened; what is read of them is checked again."""
    ledger = ln.Ledger(path, limit=Privacy(1))
    mechanism().release(1, ledger=ledger, key="k")
    mechanism().release(1, ledger=ledger, key="other")
    edit(
        path,
        "UPDATE rows SET body = json_set(body, '$.answer.index', '7') "
        "WHERE key = 'k' AND kind = 'answer'",
    )
    with pytest.raises(LedgerDamaged, match="has the wrong hash"):
        mechanism().release(1, ledger=ledger, key="k")
    with pytest.raises(LedgerDamaged, match="has the wrong hash"):
        ledger.verify()
    with pytest.raises(LedgerDamaged, match="has the wrong hash"):
        list(ledger.rows())
    with pytest.raises(LedgerDamaged, match="has the wrong hash"):
        mechanism().release(1, ledger=ln.Ledger(path), key="new")


def test_rows_are_read_some_at_a_time_and_none_is_left_out(path: Path) -> None:
    """A thousand rows are read at once; others may write meanwhile."""
    ledger, other = ln.Ledger(path, limit=Privacy(1)), ln.Ledger(path)
    for _ in range(999 - len(kinds(ledger))):
        charged(ledger, "1e-9")
    for _ in range(3):
        rows = ledger.rows()
        first = next(rows)
        charged(other, "1e-9")
        seen = [first.seq, *(row.seq for row in rows)]
        assert seen == list(range(1, len(seen) + 1))
        assert len(seen) in (ledger.head.seq - 1, ledger.head.seq)
    assert ledger.head.seq == 1003


def test_rows_that_end_early_are_not_all_rows(path: Path) -> None:
    with ln.Ledger(path, limit=Privacy(1)) as ledger:
        mechanism().release(1, ledger=ledger)
        edit(path, "DELETE FROM rows WHERE seq = (SELECT max(seq) FROM rows)")
        with pytest.raises(LedgerDamaged, match="is not the stored head"):
            list(ledger.rows())


# ------------------------------------------------------------------ older copies


def test_an_older_copy_is_told_by_a_head_or_a_log(path: Path, folder: Path) -> None:
    log = folder / "heads"
    with ln.Ledger(path, limit=Privacy("0.3"), witness=log) as ledger:
        first = mechanism().release(1, ledger=ledger, key="first")
    copied(path, folder / "copy")
    with ln.Ledger(path, witness=log) as ledger:
        second = mechanism().release(1, ledger=ledger, key="second")
        assert ledger.verify(first.receipt.head) == ledger.verify(str(second.receipt.head))
    copied(folder / "copy", path)

    with ln.Ledger(path) as ledger:  # nothing in it can tell
        assert ledger.verify(first.receipt.head) == first.receipt.head
        with pytest.raises(LedgerDamaged, match=r"the witnessed row 7: it is an older copy"):
            ledger.verify(second.receipt.head)
    for witness in (second.receipt.head, f" {second.receipt.head}\n", log, str(log)):
        with ln.Ledger(path, witness=witness) as ledger:
            questions: list[Callable[[], Any]] = [
                partial(mechanism().release, 1, ledger=ledger),
                partial(mechanism().release, 1, ledger=ledger, key="first"),
                partial(getattr, ledger, "spent"),
                ledger.verify,
                partial(ledger.set_limit, Privacy(9)),
            ]
            for ask in questions:
                with pytest.raises(
                    LedgerDamaged, match="The ledger does not contain the witnessed row"
                ):
                    ask()
    with ln.Ledger(path, witness=first.receipt.head) as ledger:
        assert mechanism().release(1, ledger=ledger, key="first").index == first.index


def test_another_ledger_is_told_by_its_heads(path: Path, folder: Path) -> None:
    ledgers = [ln.Ledger(folder / name, limit=Privacy(1)) for name in ("a", "b")]
    heads = [mechanism().release(1, ledger=each, key="k").receipt.head for each in ledgers]
    assert heads[0].seq == heads[1].seq
    with pytest.raises(LedgerDamaged, match="an older copy, or another ledger"):
        ledgers[0].verify(heads[1])
    with pytest.raises(LedgerDamaged, match="an older copy, or another ledger"):
        mechanism().release(1, ledger=ln.Ledger(folder / "a", witness=heads[1]))
    # A ledger that was deleted, and one begun in its place.
    with pytest.raises(LedgerDamaged, match="an older copy, or another ledger"):
        ln.Ledger(path, limit=Privacy(1), witness=heads[0])


def test_a_lost_witness_begins_anew_and_garbage_is_refused(path: Path, folder: Path) -> None:
    log = folder / "heads"
    ledger = ln.Ledger(path, limit=Privacy(1), witness=log)
    mechanism().release(1, ledger=ledger)
    heads = [line.split(" ")[0] for line in log.read_text().splitlines()]
    assert heads[-1] == str(ledger.head)
    log.unlink()
    mechanism().release(1, ledger=ledger)
    assert log.read_text().splitlines()[-1].startswith(f"{ledger.head} ")

    noted = log.read_bytes()
    for cut in range(len(noted)):  # a line that was cut short says nothing, the others all
        log.write_bytes(noted[: len(noted) - cut])
        whole_heads = cut < len(noted) - 66
        with ln.Ledger(path, witness=log) as again:
            if whole_heads:
                charged(again, "1e-9", key="k")
                assert log.read_text().splitlines()[-1].startswith(f"{again.head} ")
            elif cut == 0:
                again.verify()
    for garbage in (b"\0" * 100, b"a,b\n1,2\n", bytes(range(256)), b"12-abc\n"):
        log.write_bytes(garbage)
        again = ln.Ledger(path, witness=log)
        with pytest.raises(LedgerDamaged, match="contains no readable heads"):
            mechanism().release(1, ledger=again)
        assert log.read_bytes() == garbage
    with pytest.raises(LedgerDamaged, match="contains no readable heads"):
        ln.Ledger(folder / "itself", limit=Privacy(1), witness=folder / "itself")


@pytest.mark.parametrize("more", [b"\0" * 70000, b"#" * 70000, b"x" * (1 << 16), b"junk\n" * 20000])
def test_a_witness_whose_end_holds_no_head_vouches_for_nothing(
    path: Path, folder: Path, more: bytes
) -> None:
    """As a file system leaves it after a loss of power: an older copy must not pass."""
    log, older = folder / "heads", folder / "older"
    with ln.Ledger(path, limit=Privacy(1), witness=log) as ledger:
        charged(ledger, "0.1", key="a")
    shutil.copy(path, older)
    with ln.Ledger(path, witness=log) as ledger:
        charged(ledger, "0.1", key="b")
    noted = log.read_bytes()
    with log.open("ab") as file:
        file.write(more)
    for each in (path, older):
        with (
            ln.Ledger(each, witness=log) as again,
            pytest.raises(LedgerDamaged, match="contains no readable heads"),
        ):
            charged(again, "0.1", key="c")
    assert log.read_bytes() == noted + more
    log.write_bytes(noted)
    with (
        ln.Ledger(older, witness=log) as again,
        pytest.raises(LedgerDamaged, match="an older copy"),
    ):
        charged(again, "0.1", key="c")


def test_a_witness_is_a_regular_file(path: Path, folder: Path) -> None:
    """A pipe is not waited for, and a device not read without end."""
    os.mkfifo(folder / "pipe")
    ln.Ledger(path, limit=Privacy(1)).close()
    for device in (folder / "pipe", Path("/dev/zero"), Path("/dev/null")):
        with (
            ln.Ledger(path, witness=device) as ledger,
            pytest.raises(LedgerUnavailable, match="its witness is not a regular file"),
        ):
            charged(ledger, "0.1", key="k")
    with ln.Ledger(path) as ledger:
        assert ledger.spent == Privacy(0)


def test_what_cannot_be_witnessed_is_neither_charged_nor_released(path: Path, folder: Path) -> None:
    log = folder / "missing" / "heads"
    ledger = ln.Ledger(path, limit=Privacy(1))
    ledger = ln.Ledger(path, witness=log)
    for key in ("a", "a"):
        with pytest.raises(LedgerUnavailable, match="its witness cannot be read or written"):
            mechanism().release(1, ledger=ledger, key=key)
    assert ledger.spent == Privacy(0, 0)
    log.parent.mkdir()
    first = mechanism().release(1, ledger=ledger, key="a")
    assert ledger.spent == Privacy("0.1")
    assert str(first.receipt.head) in log.read_text()
    said = "its witness cannot be read or written", "its witness is not a regular file"
    for never, why in zip((log / "file", folder), said, strict=True):
        ledger = ln.Ledger(path, witness=never)
        with pytest.raises(LedgerUnavailable, match=why):
            mechanism().release(1, ledger=ledger, key="b")


def test_an_answer_that_was_stored_but_not_witnessed_is_witnessed_by_the_retry(
    path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = folder / "heads"
    ledger = ln.Ledger(path, limit=Privacy(1), witness=log)
    real, calls = os.fsync, count()

    def fsync(file: int) -> None:
        if next(calls):  # the head of the charge is noted, that of the answer is not
            log.write_bytes(noted)
            raise OSError("no room")
        real(file)

    noted = log.read_bytes()
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(LedgerUnavailable, match="its witness cannot be read or written"):
        mechanism().release(1, ledger=ledger, key="k")
    monkeypatch.undo()
    assert kinds(ledger)[-1] == ANSWER
    answer = mechanism().release(1, ledger=ledger, key="k")
    assert answer.receipt.reused
    assert str(answer.receipt.head) in log.read_text()


# ------------------------------------------------------------------ what is no ledger


@pytest.mark.parametrize("seq", [0, -1, 1 - (1 << 63)])
def test_rows_before_the_first_are_no_charges(path: Path, seq: int) -> None:
    """Hashes that fit the beginning of the chain make nobody a charge that was never summed up."""
    with ln.Ledger(path, limit=Privacy("0.1")) as ledger:
        mechanism().release(1, ledger=ledger, key="one")
        head, paid = ledger.head, next(row for row in ledger.rows() if row.kind == CHARGE)
    forged = paid._replace(seq=seq, key="two", hash="")
    forged = forged._replace(hash=forged.compute_hash(BEGINNING.hash))
    connection = sqlite3.connect(path)
    insert = "INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    with pytest.raises(sqlite3.IntegrityError, match="CHECK constraint failed"):
        connection.execute(insert, forged)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    watching = ln.Ledger(path)
    assert watching.verify(head) == head
    connection.execute(insert, forged)
    connection.commit()
    connection.close()
    for ledger in (watching, ln.Ledger(path)):
        with pytest.raises(
            LedgerDamaged, match=r"is outside the chain|this file is not as it was written"
        ):
            mechanism().release(1, ledger=ledger, key="two")
    with pytest.raises(LedgerDamaged, match=r"row 1 is missing|this file is not as it was written"):
        ln.Ledger(path).verify(head)
    with pytest.raises(LedgerDamaged, match="row 1 is missing"):
        list(ln.Ledger(path).rows())


def test_a_ledger_that_is_read_by_other_means_does_not_lose_charges(path: Path) -> None:
    """To close any descriptor of a file drops SQLite's locks, and others may delete its log."""
    ours = ln.Ledger(path, limit=Privacy("0.3"))
    mechanism().release(1, ledger=ours)
    path.open("rb").close()

    script = "import leastnoise as ln, sys; print(ln.Ledger(sys.argv[1]).spent.epsilon)"

    def others() -> str:
        """Return what another program sees spent, which then closes the ledger."""
        return subprocess.check_output([sys.executable, "-c", script, path], text=True).strip()

    assert others() == "1/10"
    said = "its files were replaced, or opened in this process by something other"
    for _ in range(2):
        with pytest.raises(LedgerUnavailable, match=said):
            mechanism().release(1, ledger=ours, key="two")
        with pytest.raises(LedgerUnavailable, match=said):
            ln.Ledger(path)
    assert others() == "1/10"


def test_a_witness_longer_than_is_read_is_no_damage(path: Path, folder: Path) -> None:
    """Wherever the part begins that is read, also in the middle of a row's number."""
    log = folder / "heads"
    with ln.Ledger(path, limit=Privacy(1), witness=log) as ledger:
        mechanism().release(1, ledger=ledger)
        head = ledger.head
    line = f"{head} 2026-01-01T00:00:00+00:00\n"
    wrong = "1" + line  # another row's number, unless it is cut off
    for cut in range(len(wrong)):
        log.write_text(wrong + line * ((1 << 16) // len(line)) + line[: -(cut + 1)] + "\n")
        text = log.read_bytes()
        log.write_bytes(text[-(1 << 16) - 1 :])
        ln.Ledger(path, witness=log).verify()


def test_what_is_no_ledger_is_refused(path: Path, folder: Path) -> None:
    limit = Privacy(1)
    with pytest.raises(InvalidParameter, match="No ledger"):
        ln.Ledger(path)
    assert not path.exists()
    path.write_bytes(b"")
    with pytest.raises(InvalidParameter, match="is not a leastnoise ledger"):
        ln.Ledger(path)
    with ln.Ledger(path, limit=limit) as ledger:  # an empty file holds nothing to lose
        assert ledger.remaining == limit
    text = folder / "notes.txt"
    text.write_text("hello " * 100)
    other = folder / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE rows (seq)")
    for options in ({}, {"limit": limit}):
        for foreign in (text, other):
            said = "is not a leastnoise ledger"
            with pytest.raises(InvalidParameter, match=said):
                ln.Ledger(foreign, **options)
        with pytest.raises(InvalidParameter, match=r"is a folder\. Pass the path of a file in it"):
            ln.Ledger(folder, **options)
    assert text.read_text() == "hello " * 100
    with pytest.raises(LedgerUnavailable, match="its file cannot be opened"):
        ln.Ledger(folder / "missing" / "ledger", limit=limit)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(Unsupported, match="reads ledgers of version 1, got one of version 2"):
        ln.Ledger(path)


@pytest.mark.parametrize("name", ["a b%20c?mode=memory#x", "ü'\"&;", ":memory:", "x" * 200, "-"])
def test_any_name_of_a_file_is_that_file(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with ln.Ledger(name, limit=Privacy(1)) as ledger:
        mechanism().release(1, ledger=ledger)
    assert [file.name for file in folder.iterdir()] == [name]
    with ln.Ledger(folder / name) as ledger:
        assert ledger.spent == Privacy("0.1")


def test_a_relative_path_stays_where_it_was_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder)
    ledger = ln.Ledger("l", limit=Privacy(1))
    monkeypatch.chdir(folder / "elsewhere")
    mechanism().release(1, ledger=ledger)
    assert child(lambda _: mechanism().release(1, ledger=ledger, key="child"))[1]() == b"."
    assert ledger.spent == Privacy("0.2")
    assert list((folder / "elsewhere").iterdir()) == []


def test_a_closed_ledger_answers_nothing(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))
    ledger.close()
    ledger.close()
    for ask in (
        lambda: mechanism().release(1, ledger=ledger),
        lambda: ledger.spent,
        ledger.verify,
        lambda: list(ledger.rows()),
        lambda: ledger.set_limit(Privacy(2)),
    ):
        with pytest.raises(LedgerUnavailable, match=r"it was closed\. Nothing was released"):
            ask()
    with ln.Ledger(path) as ledger:
        assert ledger.spent == Privacy(0, 0)
