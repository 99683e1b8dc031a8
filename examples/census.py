"""Release four answers about a table of people within one budget, as an analyst would.

``python examples/census.py`` queries the invented census that comes with the package.
"""

import tempfile
import textwrap
from pathlib import Path

import leastnoise as ln
from leastnoise.tables import ProtectedTable, census

# Bounds for incomes from public knowledge, not read from the table.
INCOMES = (0, 150_000)


def main() -> None:
    """Ask four queries, and print the answers, which may be published."""
    with tempfile.TemporaryDirectory() as folder:
        limit = ln.Privacy(1, "1e-6")
        with ln.Ledger(Path(folder) / "people.ledger", limit=limit) as ledger:
            print(f"Everything below together satisfies {limit} for each person in the table.")
            ask(ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger))
            print(f"\nRemaining budget: {ledger.remaining}.")


def ask(people: ProtectedTable) -> None:
    """Ask four queries."""
    say(
        "How many people live in each region? Regions are discovered: the region with a single "
        "person is hidden."
    )
    show(people.count(by="region", max_groups=1, privacy=ln.Privacy("0.2", "1e-7")))

    say("What do adults earn? These groups are public, so both are always shown.")
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

    say("What is the median income?")
    show(people.median("income", bounds=INCOMES, bins=150, privacy=ln.Privacy("0.2")))


def say(text: str) -> None:
    """Print a paragraph."""
    print(f"\n{textwrap.fill(text, 96)}\n")


def show(answer: object) -> None:
    """Print an answer."""
    print(textwrap.indent(str(answer), "  "))


if __name__ == "__main__":
    main()
