"""Rows whose hashes are right and whose content is not: damage, or harmless, never a crash.

Anyone who can write to a ledger can compute hashes, because the chain is not keyed.
"""

import copy
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psycopg
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import leastnoise
from leastnoise.cli import main
from leastnoise.errors import BudgetExceeded, InvalidParameter, LedgerDamaged
from leastnoise.ledger.rows import BEGINNING, Row
from leastnoise.mechanism import calibrate_pair
from tests.support.ledger_files import counting, line
from tests.support.postgres_servers import Server

ln: Any = leastnoise
P = ln.Privacy
PAIR = calibrate_pair(P("0.1"), sensitivity=1)
PLAN = ln.plan(
    P("0.1"), [ln.NumericQuery(n, sensitivity=1, integer=True) for n in "ab"], solve=False
)
FRAME = pd.DataFrame({"v": [1, 2, 3] * 10, "g": ["north", "south", "north"] * 10})
# Errors that a changed, well-formed ledger may give: another question, no such data set, no budget.
WELL_FORMED = "a key stands for one|must have a limit|limit stays|no data set|was used for"
WELL_FORMED += "|have the neighbor relation"


@cache
def protected() -> Any:
    return ln.protect(FRAME, unit=None, ledger=ln.UNRECORDED, name="people")


def table(ledger: Any) -> Any:
    return replace(protected(), ledger=ledger)


ASKED: dict[str, Callable[[Any], object]] = {
    "one": lambda ledger: counting().release(7, ledger=ledger, key="one"),
    "many": lambda ledger: counting().release(np.arange(3), ledger=ledger, key="many"),
    "reals": lambda ledger: line().release(np.array([0.5, 1e300]), ledger=ledger, key="reals"),
    "pair": lambda ledger: PAIR.release((1, 2), ledger=ledger, key="pair"),
    "plan": lambda ledger: PLAN.release({"a": 1, "b": 2}, ledger=ledger, key="plan"),
    "count": lambda ledger: str(
        table(ledger).count(privacy=P("0.1"), by="g", keys=["north", "south"], key="count")
    ),
    "median": lambda ledger: str(
        table(ledger).median("v", bounds=(0, 10), privacy=P("0.1"), key="median")
    ),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Row]]:
    """A ledger of every kind of row and answer."""
    path = tmp_path_factory.mktemp("sound") / "people.ledger"
    options = {"analyst": "ann", "analyst_limit": P(4)}
    with ln.Ledger(path, limit=P(5, "1e-6"), dataset="people", **options) as ledger:
        for ask in ASKED.values():
            ask(ledger)
        return path, list(ledger.rows())


def chained(rows: list[Row]) -> list[Row]:
    """Return the rows with numbers and hashes that fit."""
    done: list[Row] = []
    head = BEGINNING
    for row in rows:
        fit = row._replace(seq=head.seq + 1)
        done.append(fit._replace(hash=fit.hashed(head.hash)))
        head = done[-1].head
    return done


_NUMBERS = count()


def forged(source: Path, folder: Path, rows: list[Row]) -> Path:
    """Write a copy of a ledger with other rows, whose hashes are right."""
    target = folder / f"{next(_NUMBERS)}.ledger"  # a process cannot use one name for several files
    shutil.copyfile(source, target)
    connection = sqlite3.connect(target, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    find = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
    triggers = connection.execute(find).fetchall()
    connection.execute("BEGIN")
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DELETE FROM rows")
    fit = chained(rows)
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)", fit)
    connection.execute("UPDATE head SET seq = ?, hash = ?", (fit[-1].seq, fit[-1].hash))
    for _, sql in triggers:
        connection.execute(sql)
    connection.execute("COMMIT")
    connection.close()
    return target


def uses(key: str | None) -> Iterator[tuple[str, Callable[[Any], object]]]:
    """Everything that reads a ledger; of the questions, that of a key, or all."""
    yield "accounts", lambda ledger: (ledger.accounts, ledger.analyst_account, str(ledger.limit))
    yield "verify", lambda ledger: ledger.verify()
    yield "rows", lambda ledger: [row.content for row in ledger.rows()]
    yield "releases", lambda ledger: ledger.releases
    yield "export", lambda ledger: json.dumps(ledger.export(unit="person"))
    yield from ((name, ask) for name, ask in ASKED.items() if key in (None, name))
    yield "new", lambda ledger: counting().release(7, ledger=ledger, key="new")
    yield "allow", lambda ledger: ledger.set_limit(P(4), analyst="ann")


def surprises(where: Any, key: str | None = None, *, commands: bool = False) -> list[str]:
    """Return what is neither an answer nor damage, among all uses of a ledger."""
    found: list[str] = []

    def attempt(name: str, use: Callable[[], Any]) -> Any:
        try:
            return use()
        except (LedgerDamaged, BudgetExceeded):
            pass
        except InvalidParameter as error:
            if not any(words in str(error) for words in WELL_FORMED.split("|")):
                found.append(f"{name}: {error!r}")
        except Exception as error:  # noqa: BLE001 -- that is what is looked for
            found.append(f"{name}: {error!r}")
        return None

    ledger = attempt("open", lambda: ln.Ledger(where, analyst="ann"))
    if ledger is not None:
        for name, use in uses(key):
            attempt(name, partial(use, ledger))
        ledger.close()
    for command in ("show", "releases", "verify", "export", "show --json") if commands else ():
        done = CliRunner().invoke(main, ["ledger", *command.split(), str(where)])
        if done.exit_code not in (0, 2, 4) or not isinstance(
            done.exception, SystemExit | None.__class__
        ):
            found.append(f"{command}: {done.exit_code} {done.exception!r}")
    return found


DEEP = "[" * 100_000 + "]" * 100_000
BODIES = [
    "",
    "null",
    "[]",
    "1",
    "{",
    "NaN",
    "{}",
    DEEP,
    '{"a":' * 50_000 + "1" + "}" * 50_000,
    "1" * 1_000_000,
    '{"a":' + "1" * 1_000_000 + "}",
    '{"dataset":"\\ud800"}',
    '{"a":1e400}',
]
VALUES: list[Any] = [
    *(None, True, -1, 0, 10**30, 1.5, float("1e300"), [], {}, [[]], {"a": 1}, ["x", None]),
    *("", "x", "-1", "0", "1/0", "0/0", "1/-1", "٣", "1e5", "0x10", "1_0", " 1", "2", "9" * 25_000),
    *("1/" + "9" * 19_000, "\x1f", "a" * 100_000, [1, "x"], "\ud7ff", "nan"),
]


def paths(content: Any, so_far: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Go through the places of a content, containers included."""
    if so_far:
        yield so_far
    if isinstance(content, dict):
        for key, part in content.items():
            yield from paths(part, (*so_far, key))
    elif isinstance(content, list):
        for place, part in enumerate(content[:3]):
            yield from paths(part, (*so_far, place))


def changed(content: Any, path: tuple[Any, ...], value: Any) -> str:
    """Return the content as JSON with another value at a place; without it for ``...``."""
    content = copy.deepcopy(content)
    inner = content
    for part in path[:-1]:
        inner = inner[part]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def mutations(row: Row) -> Iterator[Row]:
    """Go through rows in the place of one: every field with several wrong values."""
    content = row.content
    places = list(paths(content))
    places = places[:: max(1, len(places) // 12)]
    for nth, path in enumerate(places):
        for value in (..., *VALUES[nth % 3 :: 3]):
            yield row._replace(body=changed(content, path, value))
    for body in BODIES:
        yield row._replace(body=body)
    twice = row.body[:-1] + "," + row.body[1:]
    yield row._replace(body=twice)
    yield row._replace(body=row.body + " ")
    for at in ("", "yesterday", "2026-13-01T00:00:00.000+00:00", "2026-01-01", "\0" * 29):
        yield row._replace(at=at)
    for key in ("", "one", "many", "\x1flimit\x1fpeople", "\x1fmechanism\x1f", "x" * 10_000):
        yield row._replace(key=key)
    for kind in ("", "charge", "answer", "limit", "opened", "mechanism", "refund"):
        yield row._replace(kind=kind)
    yield row._replace(version=2)
    for payload in (b"", b"\xff", b"[]", b"{}", b"1", b"[{}]", b"null", DEEP.encode(), b"0" * 24,
                    b'[{"keys":[],"numbers":[]}]', b'[{"keys":[[null]],"numbers":[["1"],["z"]]}]',
                    b'[{"keys":[[]],"numbers":[["fffffffffffffffff"]]}]'):  # fmt: skip
        if row.kind == "answer":
            yield row._replace(payload=payload)


def test_the_sound_ledger_works(sound: tuple[Path, list[Row]], tmp_path: Path) -> None:
    """The control: a forged copy with nothing changed is used without an error."""
    path = forged(sound[0], tmp_path, sound[1])
    for _, use in uses(None):
        with ln.Ledger(path, analyst="ann") as ledger:
            use(ledger)
    assert not surprises(path, commands=True)
    assert len({row.kind for row in sound[1]}) == 5


def rows_to_change(rows: list[Row]) -> Iterator[tuple[int, Row]]:
    """Go through the rows that are unlike all before them, with their places."""
    seen: set[tuple[str, str]] = set()
    for place, row in enumerate(rows):
        told = row.kind, row.key if row.kind == "answer" else "".join(sorted(row.content))
        if told not in seen:
            seen.add(told)
            yield place, row


def change_every_field(path: Path, rows: list[Row], folder: Path, *, part: int) -> None:
    for place, row in rows_to_change(rows):
        for nth, wrong in enumerate(mutations(row)):
            if (nth + place) % part:
                continue
            at = forged(path, folder, [*rows[:place], wrong, *rows[place + 1 :]])
            found = surprises(at, row.key, commands=nth % 4 == 0)
            assert not found, f"row {row.seq} ({row.kind}), {wrong.body[:200]!r}: {found}"


def test_every_field_of_every_row(sound: tuple[Path, list[Row]], tmp_path: Path) -> None:
    change_every_field(*sound, tmp_path, part=11)


@pytest.mark.long
def test_every_field_of_every_row_with_every_value(
    sound: tuple[Path, list[Row]], tmp_path: Path
) -> None:
    change_every_field(*sound, tmp_path, part=1)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(VALUES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_content(sound: tuple[Path, list[Row]], tmp_path: Path, data: st.DataObject) -> None:
    path, rows = sound
    place = data.draw(st.integers(0, len(rows) - 1))
    content = copy.deepcopy(rows[place].content)
    for name in data.draw(st.sets(st.sampled_from(sorted(content)), min_size=1)):
        content[name] = data.draw(json_values)
    try:
        body = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        body.encode()
    except UnicodeEncodeError:  # half of a surrogate pair cannot be stored
        return
    wrong = rows[place]._replace(body=body)
    at = forged(path, tmp_path, [*rows[:place], wrong, *rows[place + 1 :]])
    assert not surprises(at, rows[place].key)


def test_answers_that_point_elsewhere(sound: tuple[Path, list[Row]], tmp_path: Path) -> None:
    path, rows = sound
    charges = [row.seq for row in rows if row.kind == "charge"]
    for place, row in enumerate(rows):
        if row.kind != "answer":
            continue
        for charge in (0, -1, 10**40, row.seq, row.seq + 1, *charges):
            wrong = row._replace(body=changed(row.content, ("charge",), charge))
            at = forged(path, tmp_path, [*rows[:place], wrong, *rows[place + 1 :]])
            assert not surprises(at, row.key)


def test_charges_beyond_any_guarantee(sound: tuple[Path, list[Row]], tmp_path: Path) -> None:
    path, rows = sound
    place = next(place for place, row in enumerate(rows) if row.kind == "charge")
    wrong = rows[place]._replace(body=changed(rows[place].content, ("delta",), "9/10"))
    at = forged(path, tmp_path, [*rows, wrong, wrong])
    assert not surprises(at, commands=True)
    with ln.Ledger(at) as ledger, pytest.raises(LedgerDamaged, match="says what no ledger writes"):
        _ = ledger.accounts


def test_malformed_rows_in_a_database(
    sound: tuple[Path, list[Row]], quick_postgres: Server
) -> None:
    """The same reading code: some of each kind."""
    place = quick_postgres.database()
    ln.Ledger(place, limit=P(1)).close()
    _, rows = sound
    for at, row in enumerate(rows):
        for wrong in list(mutations(row))[at % 7 :: 60]:
            if "\0" in wrong.at + wrong.body:  # which PostgreSQL does not store
                continue
            with psycopg.connect(place) as other:
                other.execute("ALTER TABLE leastnoise.rows DISABLE TRIGGER rows_stay")
                other.execute("DELETE FROM leastnoise.rows")
                fit = chained([*rows[:at], wrong, *rows[at + 1 :]])
                many = f"INSERT INTO leastnoise.rows ({', '.join(Row._fields)}) VALUES (" + (
                    ", ".join(["%s"] * 8) + ")"
                )
                other.cursor().executemany(many, fit)
                other.execute(
                    "UPDATE leastnoise.head SET seq = %s, hash = %s", (fit[-1].seq, fit[-1].hash)
                )
                other.execute("ALTER TABLE leastnoise.rows ENABLE ALWAYS TRIGGER rows_stay")
            assert not surprises(place, row.key)
    quick_postgres.clear(place)
