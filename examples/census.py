"""Four answers about a table of people, under one limit: what an analyst does with leastnoise.

``python examples/census.py`` asks the invented census that comes with the package.
"""

import tempfile
import textwrap
from pathlib import Path

import leastnoise as ln
from leastnoise.tables import ProtectedTable, census

# What an income can be: known of the world, not looked up in the table.
INCOMES = (0, 150_000)


def main() -> None:
    """Ask, and show what may be published."""
    with tempfile.TemporaryDirectory() as folder:
        limit = ln.Privacy(1, "1e-6")
        with ln.Ledger(Path(folder) / "people.ledger", limit=limit) as ledger:
            print(f"Everyone in the table is promised {limit} of everything below together.")
            ask(ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger))
            print(f"\nLeft in the ledger: {ledger.remaining}.")


def ask(people: ProtectedTable) -> None:
    """Ask four questions."""
    say("How many persons live where? Regions are discovered: one of a single person stays hidden.")
    show(people.count(by="region", max_groups=1, privacy=ln.Privacy("0.2", "1e-7")))

    say("What do adults earn? The groups are given, and shown whatever the table holds.")
    adults = people.mean(
        "income",
        bounds=INCOMES,
        by="sex",
        max_groups=1,
        groups=["f", "m"],
        where="age >= 18",
        privacy=ln.Privacy("0.4"),
    )
    show(adults)

    say("How old are they?")
    show(
        people.histogram("age", edges=[0, 18, 40, 65, 120], max_groups=1, privacy=ln.Privacy("0.2"))
    )

    say("Half of those with an income have less than about:")
    show(people.median("income", bounds=INCOMES, bins=150, privacy=ln.Privacy("0.2")))


def say(text: str) -> None:
    """Print a paragraph."""
    print(f"\n{textwrap.fill(text, 96)}\n")


def show(answer: object) -> None:
    """Print an answer."""
    print(textwrap.indent(str(answer), "  "))


if __name__ == "__main__":
    main()
