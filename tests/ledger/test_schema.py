"""A ledger whose tables have more than they were created with is rejected, on both stores."""

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest

from leastnoise.core.privacy import Privacy
from leastnoise.errors import LedgerDamaged
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.rows import CHARGE
from leastnoise.ledger.stores import sqlite, sqlite_schema
from tests.support.ledger_files import counting
from tests.support.postgres_servers import Server

MESSAGE = "Nothing was released"
IGNORE = (
    "CREATE TRIGGER more BEFORE INSERT ON rows WHEN NEW.kind = 'charge' "
    "BEGIN SELECT RAISE(IGNORE); END"
)
REMOVE = (
    "CREATE TRIGGER more AFTER INSERT ON rows WHEN NEW.kind = 'answer' "
    "BEGIN UPDATE head SET seq = seq; END"
)
EDITS = [
    IGNORE,
    REMOVE,
    "CREATE TRIGGER more AFTER UPDATE ON head BEGIN SELECT 1; END",
    "CREATE VIEW more AS SELECT * FROM rows",
    "CREATE TABLE more (x)",
    "CREATE INDEX more ON rows (kind)",
    "CREATE UNIQUE INDEX more ON head (hash)",
    "ALTER TABLE rows ADD COLUMN more",
    "ALTER TABLE rows ADD COLUMN more AS (seq + 1)",
    "DROP TRIGGER rows_stay",
    "DROP TRIGGER rows_remain",
    "DROP INDEX rows_by_key",
    "ANALYZE",
    "ALTER TABLE rows RENAME TO under; CREATE VIEW rows AS SELECT * FROM under",
    "PRAGMA writable_schema = ON; "
    "UPDATE sqlite_schema SET sql = replace(sql, 'hash TEXT NOT NULL', 'hash TEXT')",
]


def begun(path: Any) -> None:
    with Ledger(path, limit=Privacy(1)) as ledger:
        counting().release(7, ledger=ledger, key="before")


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_with_another_schema_is_rejected(edit: str, tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    begun(path)
    with Ledger(path) as ledger:
        ledger.verify()
        other = sqlite3.connect(path)
        other.executescript(edit)
        other.close()
        with pytest.raises(LedgerDamaged, match=MESSAGE):
            ledger.verify()
    for limit in (None, Privacy(1)):
        with pytest.raises(LedgerDamaged, match=MESSAGE):
            Ledger(path, limit=limit)


def test_without_the_check_a_trigger_takes_a_charge_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the insert is ignored, and the ledger believes that it was charged."""
    path = tmp_path / "people.ledger"
    begun(path)
    other = sqlite3.connect(path)
    other.executescript(IGNORE)
    other.close()
    monkeypatch.setattr(sqlite, "check_schema", lambda _: None)
    with Ledger(path) as ledger:
        receipt = ledger.charge(counting().spending(), "swallowed")
        assert receipt.charge > 0
    rows = sqlite3.connect(path).execute("SELECT key FROM rows WHERE kind = ?", (CHARGE,))
    assert ("swallowed",) not in rows.fetchall()
    monkeypatch.undo()
    with pytest.raises(LedgerDamaged, match=MESSAGE):
        Ledger(path)


def test_the_schema_of_0_5_0_is_the_expected_one() -> None:
    path = Path(__file__).parents[1] / "golden" / "0.5.0.ledger"
    sqlite_schema.check_schema(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True))


FUNCTION = (
    "CREATE OR REPLACE FUNCTION more() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN RETURN NULL; END'; "
)
RULES = [
    "CREATE RULE more AS ON INSERT TO leastnoise.rows DO INSTEAD NOTHING",
    FUNCTION
    + "CREATE TRIGGER more BEFORE INSERT ON leastnoise.rows FOR EACH ROW EXECUTE FUNCTION more()",
    FUNCTION
    + "CREATE TRIGGER more BEFORE UPDATE ON leastnoise.head FOR EACH ROW EXECUTE FUNCTION more()",
    "ALTER TABLE leastnoise.rows ADD COLUMN more integer",
    "ALTER TABLE leastnoise.rows ADD COLUMN more bigint GENERATED ALWAYS AS (seq + 1) STORED",
    "ALTER TABLE leastnoise.rows ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE leastnoise.rows DISABLE TRIGGER rows_stay",
    "ALTER TABLE leastnoise.rows ALTER COLUMN hash DROP NOT NULL",
    "CREATE INDEX more ON leastnoise.rows (kind)",
    "CREATE TABLE leastnoise.more () INHERITS (leastnoise.rows)",
    "ALTER TABLE leastnoise.rows RENAME TO under; "
    "CREATE VIEW leastnoise.rows AS SELECT * FROM leastnoise.under",
]


@pytest.mark.parametrize("edit", RULES)
def test_a_database_with_other_tables_is_rejected(edit: str, quick_postgres: Server) -> None:
    place = quick_postgres.database()
    begun(place)
    with psycopg.connect(place) as other:
        other.execute(edit)
    with Ledger(place) as ledger:
        with pytest.raises(LedgerDamaged, match=MESSAGE):
            ledger.verify()
        with pytest.raises(LedgerDamaged, match=MESSAGE):
            counting().release(7, ledger=ledger, key="new")
    quick_postgres.clear(place)
