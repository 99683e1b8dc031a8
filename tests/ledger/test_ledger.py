"""The ledger, as it is used: what it charges, keeps, gives again and refuses; in SQLite."""

import json
import math
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest

from leastnoise.errors import (
    BudgetExceeded,
    InvalidParameter,
    LeastnoiseError,
    LedgerUnavailable,
    ReleaseFailed,
)
from leastnoise.ledger import Head
from leastnoise.ledger.accounts import Accounts
from leastnoise.ledger.rows import ANSWER, BEGINNING, CHARGE, LIMIT, Row, canonical
from tests.support.ledger_files import (
    WIDTH,
    Privacy,
    charged,
    edit,
    kinds,
    line,
    ln,
    mechanism,
    quick_folder,
)

release: Any = import_module("leastnoise.core.release")
calibrate_pair: Any = import_module("leastnoise.mechanism").calibrate_pair
pd: Any = import_module("pandas")
pl: Any = import_module("polars")
pa: Any = import_module("pyarrow")
CANARY = 918273645918273645


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as name:
        yield Path(name)


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "people.ledger"


# ------------------------------------------------------------------ the eight promises


def test_the_charge_is_on_disk_before_noise_is_drawn(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def look(_: int) -> None:
        with sqlite3.connect(path) as other:  # what another process would see
            seen.append([kind for (kind,) in other.execute("SELECT kind FROM rows")])

    reading_bits(look, monkeypatch)
    ledger = ln.Ledger(path, limit=Privacy(1))
    mechanism().release(1, ledger=ledger, key="k")
    assert seen == [["opened", "limit", "mechanism", "charge"]]


def test_the_answer_is_on_disk_before_it_leaves(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))
    answer = mechanism().release(1, ledger=ledger, key="k")
    with sqlite3.connect(path) as other:
        kind, key, body, hashed = other.execute(
            "SELECT kind, key, body, hash FROM rows ORDER BY seq DESC"
        ).fetchone()
    assert (kind, key) == (ANSWER, "k")
    assert int(json.loads(body)["answer"]["index"], 16) == answer.index
    assert answer.receipt.head.hash == hashed


def test_the_same_key_gives_the_same_answer_and_spends_nothing(path: Path) -> None:
    with ln.Ledger(path, limit=Privacy("0.1")) as ledger:
        first = mechanism().release(1, ledger=ledger, key="k")
        assert not first.receipt.reused
        assert ledger.remaining == Privacy(0, 0)
        rows = list(ledger.rows())
    for value in (1, -(10**30), 2.0, Fraction(7)):  # whatever it is now
        with ln.Ledger(path) as ledger:
            again = mechanism().release(value, ledger=ledger, key="k")
            assert again.receipt.reused
            assert again.index == first.index
            assert (again.value, again.max_error) == (first.value, first.max_error)
            assert again.interval(0.9) == first.interval(0.9)
            assert again.receipt.at == first.receipt.at
            assert again.receipt.head == first.receipt.head
            assert list(ledger.rows()) == rows


def test_a_charge_without_an_answer_is_answered_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a crash between the two."""
    ledger = ln.Ledger(path, limit=Privacy("0.1"))
    with monkeypatch.context() as broken:
        reading_bits(fail, broken)
        with pytest.raises(ReleaseFailed, match="A charge in a ledger stands"):
            mechanism().release(1, ledger=ledger, key="k")
    assert ledger.remaining == Privacy(0, 0)
    answer = mechanism().release(1, ledger=ledger, key="k")
    assert mechanism().release(2, ledger=ledger, key="k").index == answer.index
    assert kinds(ledger).count(CHARGE) == kinds(ledger).count(ANSWER) == 1


def reading_bits(done: Callable[[int], None], patch: pytest.MonkeyPatch) -> None:
    """Have this done before a release reads bits."""
    system = release.SYSTEM

    def word(bits: int) -> int:
        done(bits)
        return int(system.word(bits))

    def words(count: int) -> int:
        done(count)
        return int(system.words(count))

    patch.setattr(release, "SYSTEM", SimpleNamespace(word=word, words=words))


def fail(_: Any) -> NoReturn:
    raise ZeroDivisionError("nothing was drawn")


def test_a_key_stands_for_one_question(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1, "1e-3"), analyst="ada")
    mechanism().release(1, ledger=ledger, key="k")
    rows = list(ledger.rows())
    pair = calibrate_pair(Privacy("0.1"), sensitivity=WIDTH)
    others: list[Callable[[], Any]] = [
        lambda: mechanism("0.2").release(1, ledger=ledger, key="k"),
        lambda: mechanism("0.1", "1e-6").release(1, ledger=ledger, key="k"),
        lambda: mechanism("0.1", 0, WIDTH + 1).release(1, ledger=ledger, key="k"),
        lambda: mechanism().release(np.array([1]), ledger=ledger, key="k"),
        lambda: pair.release((1, 2), ledger=ledger, key="k"),
        lambda: mechanism("0.2").release(1, ledger=ledger, key="k", fresh=True),
    ]
    for other in others:
        with pytest.raises(InvalidParameter, match="The key 'k' was used with a different"):
            other()
    assert [row for row in ledger.rows() if row.kind != LIMIT] == [
        row for row in rows if row.kind != LIMIT
    ]


@pytest.mark.parametrize(
    ("mechanisms", "said"),
    [
        ((mechanism("0.2"),), "a different ε"),
        ((mechanism("0.1", 0, WIDTH + 1),), "a different noise"),
    ],
    ids=["promise", "mechanism"],
)
def test_a_refused_key_says_what_is_other(path: Path, mechanisms: tuple[Any], said: str) -> None:
    with ln.Ledger(path, limit=Privacy(1)) as ledger:
        mechanism().release(1, ledger=ledger, key="k")
        with pytest.raises(InvalidParameter, match=f"The key 'k' was used with {said}"):
            mechanisms[0].release(1, ledger=ledger, key="k")


def test_analysts_share_answers_and_data_sets_do_not_share_keys(path: Path) -> None:
    ada = ln.Ledger(path, limit=Privacy(1), analyst="ada")
    first = mechanism().release(1, ledger=ada, key="k")
    for other in (ln.Ledger(path, analyst="bob"), ln.Ledger(path)):
        again = mechanism().release(2, ledger=other, key="k")
        assert again.value == first.value
        assert again.receipt.reused
    assert ada.spent == ada.analyst_account.spent == Privacy("0.1")
    elsewhere = ln.Ledger(path, dataset="others", limit=Privacy(1), analyst="ada")
    assert not mechanism().release(1, ledger=elsewhere, key="k").receipt.reused
    assert elsewhere.spent == ada.spent == Privacy("0.1")


def test_a_ledger_is_opened_on_the_data_set_that_it_was_begun_with(path: Path) -> None:
    with ln.Ledger(path, limit=Privacy(1), dataset="people"):
        pass
    with ln.Ledger(path) as ledger, ln.Ledger(path, limit=Privacy(1)) as same:
        assert ledger.dataset == same.dataset == "people"
    said = r"has no dataset 'peple' \(its first is 'people'\)\. Check the name\."
    with pytest.raises(InvalidParameter, match=said):
        ln.Ledger(path, dataset="peple")


def test_what_is_left_to_an_analyst_is_the_lesser_of_two_limits(path: Path) -> None:
    ada = ln.Ledger(path, limit=Privacy(1), analyst="ada", analyst_limit=Privacy("0.5"))
    bob = ln.Ledger(path, analyst="bob")
    assert (
        ada.analyst_account.remaining,
        bob.analyst_account.remaining,
        bob.analyst_account.limit,
    ) == (Privacy("0.5"), Privacy(1), None)
    charged(bob, "0.7")
    assert (
        ada.analyst_account.remaining
        == bob.analyst_account.remaining
        == ada.remaining
        == Privacy("0.3")
    )
    charged(ada, "0.3")
    assert ada.analyst_account.remaining == bob.analyst_account.remaining == Privacy(0, 0)


def test_a_charge_that_stands_is_told_with_its_key(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))

    def store(*_: object) -> None:
        raise LedgerUnavailable("its disk is full.")

    monkeypatch.setattr(ledger, "store", store)
    with pytest.raises(LedgerUnavailable, match="The charge stands") as got:
        mechanism().release(1, ledger=ledger)
    (release,) = ledger.releases
    assert f"key={release.key!r}" in str(got.value)
    assert ledger.spent == Privacy("0.1")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+psycopg://ann:hunter2@host/db",
        "Postgresql://ann:hunter2@host/db",
        " postgresql://ann:hunter2@host/db",
        "mysql://ann:hunter2@host/db",
        "host=h user=ann password=hunter2",
    ],
)
def test_other_connection_strings_are_refused_without_their_passwords(
    address: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for options in ({}, {"limit": Privacy(1)}):
        with pytest.raises(InvalidParameter, match="a connection string of another kind") as got:
            ln.Ledger(address, **options)
        assert "hunter2" not in str(got.value)
    assert not list(folder.iterdir())


def test_a_key_of_arrays_stands_for_one_shape(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))
    line().release(np.zeros((2, 3)), ledger=ledger, key="k")
    for values, contributions in ((np.zeros(6), 1), (np.zeros((3, 2)), 1), (np.zeros((2, 3)), 2)):
        with pytest.raises(InvalidParameter, match=r"was used with a different (ε and )?query"):
            line().release(values, ledger=ledger, key="k", contributions=contributions)
    assert ledger.spent == Privacy("0.1")


def test_a_limit_is_never_passed_and_just_reached(path: Path) -> None:
    """Three times 0.1 fits in 0.3, which it does not in floats."""
    ledger = ln.Ledger(path, limit=Privacy("0.3"))
    for _ in range(3):
        mechanism().release(1, ledger=ledger)
    assert ledger.spent == ledger.limit == Privacy("0.3")
    with pytest.raises(BudgetExceeded, match=r"in dataset 'data': this release needs .* remain of"):
        mechanism("1e-18").release(1, ledger=ledger)
    assert ledger.spent == Privacy("0.3")


def test_an_error_after_the_charge_keeps_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))
    kinds = {
        KeyboardInterrupt: (KeyboardInterrupt, "while drawing"),
        SystemExit: (SystemExit, "while drawing"),
        MemoryError: (MemoryError, r"\A\Z"),
        ValueError: (ReleaseFailed, "unexpected error"),  # it could quote data
    }
    for nth, (error, (raised, words)) in enumerate(kinds.items(), start=1):

        def raising(_: Any, error: type[BaseException] = error) -> NoReturn:
            raise error("while drawing")

        reading_bits(raising, monkeypatch)
        with pytest.raises(raised, match=words):
            mechanism().release(1, ledger=ledger)
        assert ledger.spent == Privacy(Fraction(nth, 10))


def test_the_smallest_charges_add_up(path: Path) -> None:
    """10⁵ charges of 10⁻¹⁸ are 10⁻¹³, of which a float sum of 1 and them shows nothing."""
    body = canonical(
        {
            **{"analyst": "a", "asked": {}, "dataset": "d", "mechanisms": []},
            **{"delta": "0", "epsilon": "1/1000000000000000000"},
        }
    )
    first = Row.after(BEGINNING, LIMIT, "k", {})._replace(
        kind=CHARGE, body=body.replace("1/1000000000000000000", "1")
    )
    first = first._replace(hash=first.compute_hash(BEGINNING.hash))

    def rows() -> Iterator[Row]:
        last = first
        yield last
        for seq in range(2, 10**5 + 2):
            row = last._replace(seq=seq, body=body)
            last = row._replace(hash=row.compute_hash(last.hash))
            yield last

    accounts = Accounts()
    accounts.follow(rows())
    for analyst in (None, "a"):
        assert accounts.account("d", analyst).spent == Privacy(1 + Fraction(1, 10**13))
    assert accounts.charges == 10**5 + 1

    ledger = ln.Ledger(path, limit=Privacy(1, "1e-16"))
    charged(ledger, 1 - Fraction(100, 10**18))
    for _ in range(100):
        charged(ledger, "1e-18", "1e-18")
    assert ledger.spent == Privacy(1, "1e-16")
    with pytest.raises(BudgetExceeded, match=r"needs .* remain of"):
        charged(ledger, "1e-18")


def test_a_ledger_that_cannot_be_written_answers_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write what is read-only: SQLite is told to open it so."""
    with ln.Ledger(path, limit=Privacy(1)) as ledger:
        known = mechanism().release(1, ledger=ledger, key="k")
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda at, **how: connect(at.replace("mode=rw", "mode=ro"), **how)
    )
    reading_bits(fail, monkeypatch)
    with ln.Ledger(path) as ledger:
        for key in (None, "new"):
            with pytest.raises(LedgerUnavailable, match=r"read-only\. Nothing was released"):
                mechanism().release(1, ledger=ledger, key=key)
        assert ledger.spent == Privacy("0.1")
        # What was charged and stored may be given again: nothing is to be written for that.
        assert mechanism().release(1, ledger=ledger, key="k").index == known.index
        assert ledger.head == known.receipt.head


# ------------------------------------------------------------------ limits


def test_limits_of_data_sets_and_analysts_hold_together(path: Path) -> None:
    ada = ln.Ledger(path, limit=Privacy(1, "1e-6"), analyst="ada", analyst_limit=Privacy("0.5"))
    bob = ln.Ledger(path, analyst="bob")
    nobody = ln.Ledger(path)
    other = ln.Ledger(path, dataset="other", limit=Privacy(2), analyst="ada")
    charged(ada, "0.4")
    with pytest.raises(
        BudgetExceeded, match="Not enough budget for analyst 'ada' in dataset 'data'"
    ):
        charged(ada, "0.2")
    charged(bob, "0.35")
    charged(nobody, "0.2")
    before = ada.accounts
    with pytest.raises(BudgetExceeded, match=r"in dataset 'data': this release needs .* remain of"):
        charged(ada, "0.1")  # of ada's limit it is left; of the dataset's it is not
    with pytest.raises(BudgetExceeded, match="Not enough budget in dataset 'data': this"):
        charged(bob, "0.1")
    assert ada.accounts == before  # a refusal charges neither
    charged(ada, "0.05")
    charged(other, 2)
    spent = {(account.dataset, account.analyst): account.spent for account in ada.accounts}
    assert spent == {
        ("data", None): Privacy(1),
        ("data", "ada"): Privacy("0.45"),
        ("data", "bob"): Privacy("0.35"),
        ("other", None): Privacy(2),
        ("other", "ada"): Privacy(2),
    }
    limits = {(account.dataset, account.analyst): account.limit for account in ada.accounts}
    assert limits["data", "ada"] == Privacy("0.5")
    assert limits["data", "bob"] is None


def test_a_delta_alone_can_pass_a_limit(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(10, "1e-6"))
    charged(ledger, "0.1", "1e-6")
    with pytest.raises(BudgetExceeded, match="Use a smaller δ, or raise the limit"):
        charged(ledger, "0.1", "1e-30")
    charged(ledger, "0.1")


def test_a_limit_can_be_raised_and_lowered(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy("0.1"), analyst="ada")
    elsewhere = ln.Ledger(path)
    charged(ledger, "0.1")
    ledger.set_limit(Privacy("0.2"))
    assert elsewhere.limit == Privacy("0.2")
    charged(elsewhere, "0.1")
    elsewhere.set_limit(Privacy("0.05"))
    assert ledger.remaining == Privacy(0, 0)
    assert ledger.spent == Privacy("0.2")
    with pytest.raises(BudgetExceeded, match="or raise the limit"):
        charged(ledger, "1e-9")
    ledger.set_limit(Privacy(1))
    ledger.set_limit(Privacy("0.1"), analyst="ada")
    with pytest.raises(BudgetExceeded, match="for analyst 'ada'"):
        charged(ledger, "1e-9")
    charged(elsewhere, "0.5")
    assert kinds(ledger).count(LIMIT) == 5  # the old ones stay on record


def test_a_limit_that_is_given_again_must_be_the_same(path: Path) -> None:
    ln.Ledger(path, limit=Privacy("0.1"), analyst="ada", analyst_limit=Privacy("0.05")).close()
    rows = path.read_bytes()
    ln.Ledger(path, limit=Privacy(0.1), analyst="ada", analyst_limit=Privacy("1/20")).close()
    assert path.read_bytes() == rows
    with pytest.raises(InvalidParameter, match=r"the limit of dataset 'data' is .*, not .*0.2"):
        ln.Ledger(path, limit=Privacy("0.2"))
    with pytest.raises(
        InvalidParameter, match=r"analyst 'ada' .*To change the limit, use set_limit"
    ):
        ln.Ledger(path, analyst="ada", analyst_limit=Privacy("0.2"))
    with pytest.raises(InvalidParameter, match="This ledger has no dataset"):
        ln.Ledger(path, dataset="unknown")
    with ln.Ledger(path, dataset="unknown", limit=Privacy(3)) as ledger:
        assert ledger.remaining == Privacy(3)
    with ln.Ledger(path) as ledger:
        assert ledger.remaining == Privacy("0.1")


# ------------------------------------------------------------------ keys


@pytest.mark.parametrize("key", ["", " \n", "a\x00b", "a\x1fb", "x" * 1001, "\ud800", 7, b"k", ()])
def test_keys_are_what_people_can_keep(path: Path, key: Any) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))
    with pytest.raises(InvalidParameter, match="key must be a string of 1 to 1000 printable"):
        mechanism().release(1, ledger=ledger, key=key)
    for name in ("dataset", "analyst"):
        if key != ():
            with pytest.raises(InvalidParameter, match="must be a string of 1 to 1000 printable"):
                ln.Ledger(path, limit=Privacy(1), **{name: key})
    assert ledger.spent == Privacy(0, 0)


@pytest.mark.parametrize("key", [" ", "x" * 1000, "Wie viele?", "ε ≤ 1", "'; --", "𝔸", "%s", "é"])
def test_any_printable_text_is_a_key(path: Path, key: str) -> None:
    with ln.Ledger(path, limit=Privacy(1), dataset=key, analyst=key) as ledger:
        first = mechanism().release(1, ledger=ledger, key=key)
        assert f"recorded as {key!r} on " in str(first).replace("\n    ", " ")
    with ln.Ledger(path, dataset=key, analyst=key) as ledger:
        assert mechanism().release(1, ledger=ledger, key=key).index == first.index
        ledger.verify(first.receipt.head)


def test_keys_that_look_alike_are_others(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))
    for key in ("k", "K", "k ", "\u00e9", "e\u0301", "1", "01", "1.0"):
        assert not mechanism().release(1, ledger=ledger, key=key).receipt.reused
    assert ledger.spent == Privacy("0.8")


def test_without_a_key_every_release_is_its_own_question(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))
    answers = [mechanism().release(1, ledger=ledger) for _ in range(5)]
    assert len({answer.receipt.key for answer in answers}) == 5
    assert len({answer.index for answer in answers}) == 5
    assert ledger.spent == Privacy("0.5")
    again = mechanism().release(1, ledger=ledger, key=answers[0].receipt.key)
    assert again.index == answers[0].index


def test_fresh_charges_and_draws_again(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy("0.3"))
    first = mechanism().release(1, ledger=ledger, key="k", fresh=True)
    second = mechanism().release(1, ledger=ledger, key="k", fresh=True)
    assert first.index != second.index
    assert not second.receipt.reused
    assert ledger.spent == Privacy("0.2")
    assert mechanism().release(1, ledger=ledger, key="k").index == second.index  # the last
    mechanism().release(1, ledger=ledger, key="k", fresh=True)
    with pytest.raises(BudgetExceeded, match="this release needs"):
        mechanism().release(1, ledger=ledger, key="k", fresh=True)
    assert kinds(ledger).count(ANSWER) == 3


# ------------------------------------------------------------------ every kind of answer


def arrays() -> list[Any]:
    return [
        np.array([1.0, -2.5, 1e300]),
        np.zeros((2, 3, 4), dtype=np.float32),
        np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
        np.arange(4, dtype=np.uint64),
        np.zeros(5)[::2],
        pd.Series([1.0, 2.0], index=["a", "b"], name="n"),
        pl.Series("n", [1, 2, 3]),
        pa.array([1.0, 2.0]),
    ]


@pytest.mark.parametrize("nth", range(len(arrays())))
@pytest.mark.parametrize("kind", ["line", "integers", "long"])
def test_arrays_and_columns_come_back_as_they_were(path: Path, nth: int, kind: str) -> None:
    values = arrays()[nth]
    given = {
        "line": line(),
        "integers": ln.calibrate(Privacy("0.1"), sensitivity=1, integer=True),
        "long": ln.calibrate(Privacy("1e-40"), sensitivity=1, integer=True, solve=False),
    }[kind]
    if kind != "line" and nth in (0, 1, 4, 5, 7):
        values = np.arange(12).reshape(3, 4)[:nth] if nth else np.arange(12)
    with ln.Ledger(path, limit=Privacy(1)) as ledger:
        first = given.release(values, ledger=ledger, key="k", contributions=2)
        assert ledger.spent == first.privacy == Privacy(2 * given.privacy.epsilon)
    with ln.Ledger(path) as ledger:
        again = given.release(values, ledger=ledger, key="k", contributions=2)
        ledger.verify(first.receipt.head)
    assert again.receipt.reused
    assert again.values.dtype == first.values.dtype
    assert again.values.shape == first.values.shape
    assert np.array_equal(again.values, first.values)
    assert type(again.column) is type(first.column)
    assert [type(value) for value in again.values.flat] == [type(v) for v in first.values.flat]
    assert again.max_error == first.max_error
    for ends in zip(again.interval(0.9), first.interval(0.9), strict=True):
        assert np.array_equal(*ends)
    again.values[...] = 0  # it can be written to, as the first can
    if kind == "long":
        assert first.values.dtype == object


def test_fractions_come_back(path: Path) -> None:
    """Beyond the largest float, released numbers are fractions."""
    beyond = ln.calibrate(Privacy(delta="1e-9"), sensitivity="1e300")
    with ln.Ledger(path, limit=Privacy(0, "1e-9")) as ledger:
        first = beyond.release(np.array([1e308, -1e308, 0.5]), ledger=ledger, key="k")
    with ln.Ledger(path) as ledger:
        again = beyond.release(np.array([1e308, -1e308, 0.5]), ledger=ledger, key="k")
    assert list(again.values) == list(first.values)
    assert again.values.dtype == first.values.dtype


def test_pairs_come_back(path: Path) -> None:
    pair = calibrate_pair(Privacy("0.1"), sensitivity=WIDTH)
    with ln.Ledger(path, limit=Privacy("0.1")) as ledger:
        first = pair.release((1, 2), ledger=ledger, key="k")
    with ln.Ledger(path) as ledger:
        again = pair.release((3, 4), ledger=ledger, key="k")
        with pytest.raises(BudgetExceeded, match="this release needs"):
            pair.release((1, 2), ledger=ledger)
    assert again.indices == first.indices
    assert again.interval(0.9) == first.interval(0.9)
    assert "\nStored answer of " in str(again)
    assert "recorded as 'k' on " in str(again)
    assert "nothing charged: stored answer of " in again._repr_html_()


def test_answers_say_where_they_are_recorded(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))
    answer = mechanism().release(1, ledger=ledger, key="how many")
    said = f"recorded as 'how many' on {answer.receipt.at[:10]}"
    assert str(answer).endswith(f"; {said}")
    assert "how many" in answer._repr_html_()
    again = mechanism().release(1, ledger=ledger, key="how many")
    stored = f"Stored answer of {answer.receipt.at[:10]}: nothing was charged. For another value"
    assert f"; {said}\n{stored}" in str(again)
    assert "Stored" not in str(answer)
    many = line().release(np.zeros(3), ledger=ledger, key="many")
    assert str(many).endswith(f"recorded as 'many' on {many.receipt.at[:10]}")
    for plain in (mechanism().release(1), mechanism().release(1, ledger=ln.UNRECORDED)):
        assert str(plain).endswith("; not recorded")
        assert plain.receipt is None
    assert repr(ln.UNRECORDED) == "UNRECORDED"
    assert answer.receipt.account.remaining == Privacy("0.9")


# ------------------------------------------------------------------ bad input spends nothing


def test_bad_input_is_refused_before_anything_is_spent(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))
    rows = list(ledger.rows())
    one, many = line(), mechanism()
    wrong: list[Callable[[], Any]] = [
        lambda: one.release(math.nan, ledger=ledger),
        lambda: one.release(math.inf, ledger=ledger),
        lambda: one.release("1", ledger=ledger),
        lambda: one.release(None, ledger=ledger),
        lambda: one.release(1j, ledger=ledger),
        lambda: one.release(Decimal("nan"), ledger=ledger),
        lambda: one.release(np.array([1.0, math.nan]), ledger=ledger),
        lambda: one.release(np.array([]), ledger=ledger),
        lambda: one.release(np.array(["a"]), ledger=ledger),
        lambda: one.release(np.zeros(3), ledger=ledger, contributions=0),
        lambda: one.release(1, ledger=ledger, contributions=2),
        lambda: one.release(1, ledger=ledger, fresh=1),
        lambda: one.release(1, ledger=ledger, allow_exact=1),
        lambda: many.release(0.5, ledger=ledger),
        lambda: many.release(np.array([0.5]), ledger=ledger),
        lambda: one.release(pd.Series([1.0, None]), ledger=ledger),
        lambda: one.release(1, ledger="people.ledger"),
        lambda: one.release(1, ledger=None),
        lambda: one.release(1, key="k"),
        lambda: one.release(1, fresh=True),
        lambda: calibrate_pair(Privacy(1), sensitivity=1).release((1,), ledger=ledger),
        lambda: calibrate_pair(Privacy(1), sensitivity=1).release((1, None), ledger=ledger),
        lambda: ledger.set_limit(1),
        lambda: ledger.set_limit(Privacy(1), analyst=""),
        lambda: ln.Ledger(path, limit=1),
        lambda: ln.Ledger(path, analyst_limit=Privacy(1)),
        lambda: ln.Ledger(path, timeout=0),
        lambda: ln.Ledger(path, timeout=math.nan),
        lambda: ln.Ledger(path, witness=7),
        lambda: ln.Ledger(path, witness=""),
        lambda: ln.Ledger(""),
        lambda: ln.Ledger(None),
        lambda: ln.Ledger(b"people.ledger"),
        lambda: ln.Ledger(f"{path}\0", limit=Privacy(1)),  # it would be the file before the zero
        lambda: ln.Ledger(path, witness="heads\0"),
        lambda: ln.Ledger(path.with_name("x" * 300)),
        lambda: ledger.verify("12-abc"),
        lambda: ledger.verify(7),
    ]
    for nth, ask in enumerate(wrong):
        with pytest.raises(InvalidParameter, match=r"\. .*\.$"):
            ask()
        assert list(ledger.rows()) == rows, nth
    needs = ln.calibrate(Privacy(delta="0.9"), sensitivity=1)
    assert needs.needs_allow_exact
    with pytest.raises(InvalidParameter, match="accept it with allow_exact=True"):
        needs.release(1, ledger=ledger)
    assert list(ledger.rows()) == rows


# ------------------------------------------------------------------ nothing of the data is told


class Spy:
    """A value of no kind that can be released, and that tells itself when it is printed."""

    def __repr__(self) -> str:
        return str(CANARY)


def test_no_message_row_or_repr_holds_a_true_value(
    path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{CANARY}", f"{CANARY:x}", f"{float(CANARY)!r}"]
    raw = [np.float64(CANARY).tobytes(), np.int64(CANARY).tobytes()]
    ledger = ln.Ledger(path, limit=Privacy(1, "1e-6"), witness=folder / "heads")
    said: list[str] = []

    def tell(ask: Callable[[], Any]) -> None:
        try:
            found = ask()
        except (LeastnoiseError, ZeroDivisionError) as error:
            said.extend(traceback.format_exception(error))
            said.append(repr(error.__context__))
        else:
            said.extend([repr(found), str(found), repr(found.receipt), found._repr_html_()])

    pair = calibrate_pair(Privacy("0.1"), sensitivity=WIDTH)
    wide_line = ln.calibrate(Privacy("0.1"), sensitivity=WIDTH)
    wide = ln.calibrate(Privacy("0.01"), sensitivity=10**12, integer=True, solve=False)
    bad: list[Any] = [Spy(), str(CANARY), [CANARY], np.array([Spy()]), CANARY * 1j]

    def everything() -> None:
        tell(lambda: mechanism().release(CANARY, ledger=ledger, key="k"))
        tell(lambda: mechanism("0.2").release(CANARY, ledger=ledger, key="k"))
        tell(lambda: line().release(float(CANARY), ledger=ledger))
        tell(lambda: mechanism("0.9").release(CANARY, ledger=ledger))
        tell(lambda: pair.release((CANARY, CANARY), ledger=ledger, key="pair"))
        tell(lambda: pair.release((CANARY, Spy()), ledger=ledger))
        tell(lambda: wide_line.release(np.full(3, float(CANARY)), ledger=ledger, key="many"))
        tell(lambda: wide.release(np.full(3, CANARY), ledger=ledger, key="whole"))
        for value in bad:
            tell(partial(mechanism().release, value, ledger=ledger))

    everything()
    with monkeypatch.context() as broken:
        reading_bits(fail, broken)
        tell(lambda: mechanism().release(CANARY, ledger=ledger))
    rows = list(ledger.rows())
    ledger.close()
    everything()
    edit(path, f"UPDATE rows SET body = '{CANARY}' WHERE seq = 2")

    def asked(key: str | None) -> Any:
        return mechanism().release(CANARY, ledger=ln.Ledger(path), key=key)

    for key in (None, "k"):
        tell(partial(asked, key))
    assert len(said) > 60
    told = "\n".join([*said, *(repr(row) for row in rows), (folder / "heads").read_text()])
    assert not [text for text in texts if text in told]
    assert not [part for part in raw for row in rows if part in row.payload]


def test_reprs_tell_no_password() -> None:
    ledger = object.__new__(ln.Ledger)
    ledger.where, ledger.dataset, ledger.analyst = "postgresql://ada:secret@host/db", "d", None
    assert repr(ledger) == "Ledger('postgresql://…', dataset='d')"


def test_heads_are_printed_as_they_are_read(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(1))
    head = mechanism().release(1, ledger=ledger).receipt.head
    assert head == ledger.head
    assert str(head) == f"{head.seq}-{head.hash}"
    assert ledger.verify(str(head)) == head
    assert head == Head(5, head.hash)
