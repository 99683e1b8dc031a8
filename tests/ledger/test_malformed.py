"""Rows whose hashes are right and whose content is not: damage, or harmless, never a crash.

Anyone who can write to a ledger can compute hashes, because the chain is not keyed.
"""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
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
from leastnoise.core.exact import format_ratio
from leastnoise.errors import BudgetExceeded, InvalidParameter, LedgerDamaged
from leastnoise.ledger import Spending
from leastnoise.ledger.rows import Row, allocation_key, canonical, limit_key
from leastnoise.mechanism import calibrate_pair
from tests.support.forged_ledgers import chained, forged, says
from tests.support.ledger_files import counting, described, line
from tests.support.postgres_servers import Server

ln: Any = leastnoise
P = ln.Privacy
PAIR = calibrate_pair(P("0.1"), sensitivity=1)
PLAN = ln.plan(
    P("0.1"), [ln.NumericQuery(n, sensitivity=1, integer=True) for n in "ab"], solve=False
)
FRAME = pd.DataFrame({"v": [1, 2, 3] * 10, "g": ["north", "south", "north"] * 10})
# Errors that a changed, well-formed ledger may give: another question, no such dataset, no budget.
WELL_FORMED = "has no dataset|This ledger already exists|was used for|was used with"
WELL_FORMED += "|Allocation 'survey' exists|has the neighbor relation|has no allocation"


@cache
def protected() -> Any:
    return ln.protect(FRAME, unit=None, ledger=ln.UNRECORDED, name="people")


def survey(ledger: Any) -> Any:
    """Return the allocation of the sound ledger."""
    return ledger.allocation("survey")


def table(ledger: Any) -> Any:
    return replace(protected(), ledger=ledger)


ASKED: dict[str, Callable[[Any], object]] = {
    "one": lambda ledger: counting().release(7, ledger=ledger, key="one"),
    "many": lambda ledger: counting().release(np.arange(3), ledger=ledger, key="many"),
    "reals": lambda ledger: line().release(np.array([0.5, 1e300]), ledger=ledger, key="reals"),
    "pair": lambda ledger: PAIR.release((1, 2), ledger=ledger, key="pair"),
    "plan": lambda ledger: PLAN.release({"a": 1, "b": 2}, ledger=ledger, key="plan"),
    "count": lambda ledger: str(
        table(ledger).count(privacy=P("0.1"), by="g", groups=["north", "south"], key="count")
    ),
    "inside": lambda ledger: counting().release(7, ledger=survey(ledger), key="inside"),
    "counted inside": lambda ledger: str(
        table(survey(ledger)).count(
            privacy=P("0.01"), by="g", groups=["north", "south"], key="counted inside"
        )
    ),
    "median": lambda ledger: str(
        table(ledger).median("v", bounds=(0, 10), privacy=P("0.1"), key="median")
    ),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Row]]:
    """A ledger of every kind of row and answer."""
    path = tmp_path_factory.mktemp("sound") / "people.ledger"
    options = {"analyst": "ann", "analyst_limit": P(4, "2e-7")}  # δ for a second allocation
    with ln.Ledger(path, limit=P(5, "1e-6"), dataset="people", **options) as ledger:
        ledger.allocate("survey", P("0.8", "1e-7"))
        for ask in ASKED.values():
            ask(ledger)
        return path, list(ledger.rows())


def uses(key: str | None) -> Iterator[tuple[str, Callable[[Any], object]]]:
    """Everything that reads a ledger; of the questions, that of a key, or all."""
    yield "accounts", lambda ledger: (ledger.accounts, ledger.analyst_account, str(ledger.limit))
    yield "verify", lambda ledger: ledger.verify()
    yield "rows", lambda ledger: [row.content for row in ledger.rows()]
    yield "releases", lambda ledger: ledger.releases
    yield "allocations", lambda ledger: [str(one.remaining) for one in ledger.allocations]
    yield "allocate", lambda ledger: ledger.allocate("survey", P("0.8", "1e-7"))
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
    for kind in ("allocation", "spend"):
        yield row._replace(kind=kind, version=2)
    yield row._replace(version=3 - row.version)
    yield row._replace(version=3)
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
    assert len({row.kind for row in sound[1]}) == 7


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
    with (
        ln.Ledger(at) as ledger,
        pytest.raises(LedgerDamaged, match="has content that no ledger writes"),
    ):
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


def first(rows: list[Row], kind: str, key: str | None = None) -> int:
    """Return the place of the first row of a kind, and of a key."""
    return next(
        place for place, row in enumerate(rows) if row.kind == kind and key in (None, row.key)
    )


def contents(row: Row) -> dict[str, Any]:
    return row.content


def edits(kind: str, change: Callable[[Row], Row], key: str | None = None) -> Any:
    """Return what changes one row among others."""

    def edit(rows: list[Row]) -> list[Row]:
        place = first(rows, kind, key)
        return [*rows[:place], change(rows[place]), *rows[place + 1 :]]

    return edit


def repeats(kind: str, change: Callable[[Row], Row] = lambda row: row) -> Any:
    """Return what appends a row once more."""
    return lambda rows: [*rows, change(rows[first(rows, kind)])]


def answers(key: str, answer: Any, payload: bytes | None = None) -> Any:
    """Return what gives a charge another answer."""

    def change(row: Row) -> Row:
        return says(row, answer=answer)._replace(
            payload=row.payload if payload is None else payload
        )

    return edits("answer", change, key)


def limits(dataset: str) -> Any:
    body = {"dataset": dataset, "analyst": None, "epsilon": "1", "delta": "0"}
    key = limit_key(dataset, None)
    return repeats("limit", lambda limit: limit._replace(key=key, body=canonical(body)))


def swaps(rows: list[Row]) -> list[Row]:
    at = first(rows, "charge")
    return [*rows[:at], rows[at + 1], rows[at], *rows[at + 2 :]]


def allots(**fields: Any) -> Any:
    """Return what appends a further allocation, of the same amounts, with other fields."""

    def change(row: Row) -> Row:
        new = says(row, **{"name": "other", **fields})
        content = contents(new)
        return new._replace(key=allocation_key(content["dataset"], content["name"]))

    return repeats("allocation", change)


def spends(**fields: Any) -> Any:
    """Return what changes the first spend."""
    return edits("spend", lambda row: says(row, **fields))


def moves_spend(rows: list[Row]) -> list[Row]:
    """Put the first spend, and what it needs, before its allocation."""
    at, mechanism = first(rows, "spend"), first(rows, "mechanism")
    rest = [row for place, row in enumerate(rows) if place not in (at, mechanism)]
    before = first(rest, "allocation")
    return [*rest[:before], rows[mechanism], rows[at], *rest[before:]]


def cap(name: str, part: Fraction) -> Callable[[Row], Row]:
    """Return what changes a cap of an allocation by a part of it."""

    def change(row: Row) -> Row:
        return says(row, **{name: format_ratio(Fraction(str(row.content[name])) * part)})

    return change


def in_replace_relation(row: Row) -> Row:
    return says(row, asked={**contents(row)["asked"], "neighbours": "replace"})


LARGER = Fraction(10**9 + 1, 10**9)
NAN = b"\xff" * 16
COUNTED = b'[{"keys": [["north"], ["south"]], "numbers": [["1"], ["2"]]}]'


def chained_allocation(row: Row, number: int) -> Row:
    """Return a further allocation like another, under a name of its own."""
    name = f"other {number}"
    return says(row, name=name)._replace(key=allocation_key(contents(row)["dataset"], name))


UNWRITTEN: dict[str, Callable[[list[Row]], list[Row]]] = {
    "an answer that is null": edits("answer", lambda row: row._replace(body="null")),
    "an answer that is no JSON": edits("answer", lambda row: row._replace(body="}{")),
    "an answer with a field twice": edits("answer", lambda row: row._replace(body='{"a":1,"a":2}')),
    "an answer with a further field": edits("answer", lambda row: says(row, more=1)),
    "an answer to no charge": edits("answer", lambda row: says(row, charge=999)),
    "an answer to a row that is no charge": edits("answer", lambda row: says(row, charge=1)),
    "an answer under another key": edits("answer", lambda row: row._replace(key="other")),
    "an answer before its charge": swaps,
    "two answers": repeats("answer"),
    "a number with a payload": edits("answer", lambda row: row._replace(payload=b"x"), "one"),
    "a number of no digits": answers("one", {"index": "01"}),
    "a number that is an array": answers("one", {"dtype": "<i8", "shape": [1]}, b"\0" * 8),
    "an array of another shape": answers("many", {"dtype": "<i8", "shape": [3, 1]}),
    "an array of another length": answers("many", {"dtype": "<i8", "shape": [3]}, b"\0" * 16),
    "integers that are floats": answers("many", {"dtype": "<f8", "shape": [3]}),
    "integers that are fractions": answers("many", {"dtype": "object", "shape": [3]}, b"1\n2\n1/2"),
    "floats that are integers": answers("reals", {"dtype": "<i8", "shape": [2]}, b"\0" * 16),
    "floats that are none": answers("reals", {"dtype": "<f8", "shape": [2]}, NAN),
    "floats that are infinite": answers(
        "reals", {"dtype": "<f8", "shape": [2]}, np.array([1, np.inf]).tobytes()
    ),
    "fractions that are not reduced": answers(
        "reals", {"dtype": "object", "shape": [2]}, b"1/2\n2/4"
    ),
    "a pair of three": answers("pair", {"indices": ["1", "2", "3"]}),
    "a plan of one": answers("plan", {"indices": ["1"]}),
    "a table of none": answers("count", {"tables": 0}, b"[]"),
    "a table of two": answers("count", {"tables": 2}),
    "a table that lacks a number": answers("count", {"tables": 1}, COUNTED.replace(b'"2"', b"")),
    "a table that lacks a group": answers(
        "count", {"tables": 1}, COUNTED.replace(b', ["south"]', b"")
    ),
    "a mechanism of nothing": edits("mechanism", lambda row: row._replace(body="{}")),
    "a mechanism under another digest": edits(
        "mechanism", lambda row: row._replace(key="\x1fmechanism\x1f00")
    ),
    "a mechanism that is another": edits("mechanism", lambda row: says(row, sensitivity="2")),
    "a mechanism with a payload": edits("mechanism", lambda row: row._replace(payload=b"x")),
    "a mechanism twice": repeats("mechanism"),
    "no mechanism": lambda rows: [row for row in rows if row.kind != "mechanism"],
    "no first row": lambda rows: rows[1:],
    "the first row twice": repeats("opened"),
    "a first row of garbage": edits("opened", lambda row: row._replace(body="garbage")),
    "a first row of another name": edits("opened", lambda row: says(row, id="people")),
    "a first row with a key": edits("opened", lambda row: row._replace(key="k")),
    "the first row alone": lambda rows: rows[:1],
    "a charge with a further field": edits("charge", lambda row: says(row, refund="1")),
    "a charge with a payload": edits("charge", lambda row: row._replace(payload=b"x")),
    "a key that clears the screen": repeats("charge", lambda row: row._replace(key="\x1b[2J")),
    "an empty key": repeats("charge", lambda row: row._replace(key="")),
    "a long key": repeats("charge", lambda row: row._replace(key="k" * 1001)),
    "a ratio that is not reduced": edits("charge", lambda row: says(row, epsilon="2/20")),
    "a ratio with leading zeros": edits("charge", lambda row: says(row, epsilon="00000/1")),
    "a charge of no mechanism": edits("charge", lambda row: says(row, mechanisms=[])),
    "a charge of a mechanism twice": edits(
        "charge", lambda row: says(row, mechanisms=[*contents(row)["mechanisms"]] * 2)
    ),
    "a charge for an unknown answer": edits("charge", lambda row: says(row, asked={"answer": "x"})),
    "a charge without a limit": repeats("charge", lambda row: says(row, dataset="ghost")),
    "a charge beyond the limit": repeats(
        "charge", lambda row: says(row, epsilon="9", analyst=None)
    ),
    "a charge beyond the analyst's": repeats(
        "charge", lambda row: says(row, epsilon="39/10", analyst="ann")
    ),
    "a charge before any limit": lambda rows: [
        rows[0],
        *rows[first(rows, "mechanism") : first(rows, "charge") + 1],
        *rows[1 : first(rows, "mechanism")],
    ],
    "a limit with a payload": edits("limit", lambda row: row._replace(payload=b"x")),
    "a limit with a further field": edits("limit", lambda row: says(row, more=1)),
    "caps that are a little too large": edits("allocation", cap("square", LARGER)),
    "a cap of γ that is a little too large": edits("allocation", cap("failure", LARGER)),
    "caps of a stronger guarantee": edits("allocation", lambda row: says(row, epsilon="79/100")),
    "caps of a smaller δ": edits("allocation", lambda row: says(row, delta="99/1000000000")),
    "caps of nothing": edits("allocation", lambda row: says(row, square="0")),
    "a cap of γ that is δ": edits("allocation", lambda row: says(row, failure="1/10000000")),
    "a cap that is not reduced": edits("allocation", lambda row: says(row, square="2/4")),
    "a cap of many digits": edits("allocation", lambda row: says(row, square="1/" + "7" * 2000)),
    "an allocation of a huge ε": edits("allocation", lambda row: says(row, epsilon="9" * 3000)),
    "an allocation with a payload": edits("allocation", lambda row: row._replace(payload=b"x")),
    "an allocation with a further field": edits("allocation", lambda row: says(row, more=1)),
    "an allocation without a name": edits("allocation", lambda row: says(row, name="")),
    "an allocation under another key": edits("allocation", lambda row: row._replace(key="survey")),
    "an allocation twice": repeats("allocation"),
    "an allocation beyond the limit": lambda rows: [
        *rows,
        *(chained_allocation(rows[first(rows, "allocation")], number) for number in range(10)),
    ],
    "an allocation without a limit": allots(dataset="ghost"),
    "an allocation beyond the analyst's limit": allots(epsilon="41/10"),
    "a whole limit that is a part": allots(name="default"),
    "no allocation": lambda rows: [row for row in rows if row.kind != "allocation"],
    "a spend before its allocation": moves_spend,
    "a spend from no allocation": spends(allocation="other"),
    "a spend from another dataset's": spends(dataset="ghost"),
    "a spend with a further field": spends(refund="1"),
    "a spend without a square": edits(
        "spend",
        lambda row: row._replace(
            body=canonical({k: v for k, v in row.content.items() if k != "square"})
        ),
    ),
    "a spend beyond the cap of μ²": spends(square="1"),
    "a spend beyond the cap of γ": spends(failure="1/10000000"),
    "a spend of less than nothing": spends(square="-1"),
    "a spend that is not reduced": spends(square="2/400"),
    "a spend of no mechanism": spends(mechanisms=[]),
    "a spend of an unknown mechanism": spends(mechanisms=["0" * 64]),
    "a spend for an unknown answer": spends(asked={"answer": "x"}),
    "spends that exceed the cap together": lambda rows: [*rows, *[rows[first(rows, "spend")]] * 9],
    "a spend under another neighbor relation": edits(
        "spend", in_replace_relation, "counted inside"
    ),
    "a number inside that is an array": answers(
        "inside", {"dtype": "<i8", "shape": [1]}, b"\0" * 8
    ),
    "a dataset of 1001 characters": limits("x" * 1001),
    "a dataset that looks like an analyst's": limits("people\x1fbob"),
}


@pytest.mark.parametrize("change", UNWRITTEN.values(), ids=UNWRITTEN)
def test_rows_that_no_ledger_writes_are_not_verified(
    sound: tuple[Path, list[Row]], tmp_path: Path, change: Callable[[list[Row]], list[Row]]
) -> None:
    """Nothing is released from them, and the command says that the ledger is damaged."""
    path, rows = sound
    at = forged(path, tmp_path, change(list(rows)))

    def verify() -> None:
        with ln.Ledger(at, limit=P(5, "1e-6"), dataset="people") as ledger:
            ledger.verify()

    with pytest.raises(LedgerDamaged, match=r"no ledger writes|unknown kind"):
        verify()
    done = CliRunner().invoke(main, ["ledger", "verify", str(at)])
    assert done.exit_code == 4
    assert not surprises(at, commands=True)


def test_an_analyst_s_limit_is_not_hidden_by_a_dataset_of_a_like_name(
    sound: tuple[Path, list[Row]], tmp_path: Path
) -> None:
    at = forged(sound[0], tmp_path, limits("people\x1fbob")(list(sound[1])))
    with pytest.raises(LedgerDamaged, match="has content that no ledger writes"):
        ln.Ledger(at, dataset="people", analyst="bob", analyst_limit=P("1/10"))


def test_what_could_not_be_verified_is_not_charged(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "people.ledger", limit=P(1)) as ledger:
        nothing: dict[str, Any] = {}
        for mechanisms in ({"digest": nothing}, {"digest": described().popitem()[1]}):
            with pytest.raises(InvalidParameter, match="must be described by its noise"):
                ledger.charge(Spending(P("0.1"), mechanisms, {}))
        assert ledger.spent == P(0)
        ledger.charge(Spending(P("0.1"), described(), {}))
        ledger.verify()


UNREADABLE: list[dict[str, Any]] = [
    {"answer": "one", "more": 1},
    {"answer": "tables"},
    {"answer": "own"},
    {"x": "\ud800"},
]


@pytest.mark.parametrize("asked", UNREADABLE)
def test_a_charge_that_could_not_be_read_again_is_rejected(
    tmp_path: Path, asked: dict[str, Any]
) -> None:
    own = ln.calibrate(ln.Privacy("0.1"), sensitivity=1).spending()
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(1)) as ledger:
        with pytest.raises(InvalidParameter, match=r"Nothing was charged|must be"):
            ledger.charge(Spending(own.privacy, own.mechanisms, asked))
        ledger.charge(Spending(own.privacy, own.mechanisms, {"query": "a program's own"}))
        ledger.verify()


def test_sums_that_are_rounded_up_reach_a_limit_and_are_verified(tmp_path: Path) -> None:
    """Charges with unlike denominators fill a limit: an audit that rounded up would reject them."""
    with ln.Ledger(tmp_path / "people.ledger", limit=P(1)) as ledger:
        for number in range(40):
            ledger.charge(Spending(P(Fraction(1, 2**61 + 2 * number + 1)), described(), {}))
        ledger.charge(Spending(ledger.remaining, described(), {}))
        assert not ledger.remaining.epsilon
        ledger.verify()


def test_a_lowered_limit_is_no_damage(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "people.ledger", limit=P(1)) as ledger:
        ledger.charge(Spending(P("0.9"), described(), {}))
        ledger.set_limit(P("0.1"))
        ledger.set_limit(P("0.1"), analyst="ann")
        ledger.verify()
        assert ledger.spent == P("0.9")
