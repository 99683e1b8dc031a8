"""An analyst with a CSV file: from a file with odd types to a table that may be published.

``python examples/analyst.py`` writes the file first: semicolons, decimal commas, Windows-1252,
missing values, and several visits of each patient.
"""

import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import leastnoise as ln

CLINICS = ("Köln", "Bonn", "Aachen")
# From the price list and the opening hours, not from the data.
FEES = (0, 200)


def main() -> None:
    """Write the file, ask four queries within one budget, and export a table."""
    with tempfile.TemporaryDirectory() as folder:
        visits = write_visits(Path(folder) / "visits.csv")
        print(visits.read_text(encoding="cp1252")[:140] + "…\n")
        limit = ln.Privacy(1, "1e-6")
        with (
            ln.Ledger(Path(folder) / "visits.ledger", limit=limit) as ledger,
            ln.protect(
                visits,
                unit="patient no",
                max_rows=4,  # more visits of one patient to one clinic count as 4
                ledger=ledger,
                delimiter=";",
                decimal=",",
                encoding="cp1252",
                types={"fee": "decimal", "arrived": "timestamp", "age": int},
            ) as table,
        ):
            # Without groups=, clinics are discovered, and small ones are hidden.
            print(table.count(by="clinic", max_groups=2, share="1/4"), "\n")

            late = "arrived >= timestamp '2025-07-01 00:00' and hour(arrived) >= 17"
            print(table.count(where=late, share="1/4"), "\n")

            print(table.mean("fee", bounds=FEES, where="age < 18", share="1/4"), "\n")

            fees = table.mean(
                "fee", bounds=FEES, by="clinic", groups=CLINICS, max_groups=2, share="1/4"
            )
            print(fees, "\n")
            published = fees.to_csv(Path(folder) / "fees.csv")
            header = published.read_text(encoding="utf-8").splitlines()[0]
            print(f"Written to {published.name}, which may be published: {header}")
            print(f"Spent {ledger.spent}; remaining {ledger.remaining}.")


def write_visits(path: Path) -> Path:
    """Write 20,000 visits of 8,000 invented patients."""
    start = datetime(2025, 1, 1, 8)  # noqa: DTZ001 -- as the file has it
    lines = ["patient no;clinic;arrived;age;fee"]
    for visit in range(20_000):
        patient = visit * 7_919 % 8_000
        clinic = CLINICS[patient % 2 if patient % 3 else 2]
        arrived = start + timedelta(days=visit % 365, minutes=visit * 17 % 660)
        age = patient % 90 if visit % 3 else "unknown"
        fee = f"{20 + visit * 37 % 9_000 / 100:.2f}".replace(".", ",") if patient % 7 else ""
        lines.append(f"{patient};{clinic};{arrived:%Y-%m-%d %H:%M};{age};{fee}")
    path.write_text("\n".join(lines) + "\n", encoding="cp1252")
    return path


if __name__ == "__main__":
    main()
