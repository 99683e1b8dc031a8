"""A service with 300 queries by three analysts: one card, one budget, Gaussian accounting.

``python examples/team.py`` plays all roles with the invented census of the package. The web service
examples/service.py takes such a card.
"""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import leastnoise as ln
from leastnoise.tables import ProtectedTable, census, create_ledger, read_card

CARD = """
source = "people.csv"
unit = "person_id"
max_rows = 1
max_groups = 1

[largest]  # of one query: a share of the budget
share = "1/100"
[ledger]
path = "people.ledger"
epsilon = 1
delta = 1e-6
accounting = "gaussian"  # errors grow with the square root of the number of queries

[analysts]  # without limits of their own
ann = {}
bob = {}
cyd = {}

[columns]
age = {}
income = {bounds = [0, 150_000]}
"""

CONDITIONS = {"ann": "age >= {}", "bob": "income < {}000", "cyd": "age = {}"}  # for 100 numbers


def main() -> None:
    """The owner writes the card; the analysts ask until the budget is spent."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(census(), Path(folder) / "people.csv")
        card = Path(folder) / "people.toml"
        card.write_text(CARD, encoding="utf-8")
        create_ledger(read_card(card))  # or: leastnoise card apply people.toml

        print("analyst  charged  rejected  an answer")
        for analyst, text in CONDITIONS.items():
            with ln.protect(card=card, analyst=analyst) as people:
                answers = [ask(people, where=text.format(n)) for n in range(100)]
            counts = Counter(answer.partition(":")[0] for answer in answers)
            print(f"{analyst:7}  {counts['charged']:7}  {counts['rejected']:8}  {answers[18]}")

        with ln.protect(card=card, analyst="bob") as people:
            print("\nA query of ann:    ", ask(people, where="age >= 18"))
            print("A new query:       ", ask(people, where="age = 99"))
            print("Wider bounds:      ", ask(people, "mean", column="income", bounds=(0, 1e6)))
            print("Another column:    ", ask(people, where="hours > 40"))
            print("Too large a share: ", ask(people, share="1/10"))
        with ln.Ledger(Path(folder) / "people.ledger") as ledger:
            print(f"\n{len(ledger.releases)} releases. Remaining: {ledger.remaining}")
            ledger.verify()


def ask(
    people: ProtectedTable, query: str = "count", *, share: str = "1/250", **arguments: object
) -> str:
    """Return what happens to a query, and its answer or the reason."""
    try:
        answer = getattr(people, query)(share=share, **arguments)
    except (ln.errors.BudgetExceeded, ln.errors.InvalidParameter) as error:
        return f"rejected: {error.problem}"
    return f"{'stored' if answer.receipt.reused else 'charged'}: {answer!r}"


if __name__ == "__main__":
    main()
