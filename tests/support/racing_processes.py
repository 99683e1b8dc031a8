"""Processes that race for the last of a limit, and what every race must leave behind."""

import random
import time
from collections import Counter
from fractions import Fraction

from leastnoise.core.privacy import Privacy
from leastnoise.errors import BudgetExceeded
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.rows import ANSWER, CHARGE
from tests.support.ledger_files import PRICE, counting
from tests.support.processes import Outlet, forked, killed, waited

PATIENT = 120  # seconds: a race is not lost by waiting


def times(charges: int) -> Privacy:
    """The limit that so many charges use up."""
    return Privacy(charges * PRICE.epsilon)


def begun(place: str, charges: int, **more: object) -> None:
    """Begin a ledger in which so many charges fit, and leave it."""
    counting()  # before any fork
    Ledger(place, limit=times(charges), **more).close()  # type: ignore[arg-type]


def spend(place: str, name: str, published: Outlet, analyst: str | None = None) -> None:
    """Release and publish under fresh keys until nothing is left."""
    with Ledger(place, analyst=analyst, timeout=PATIENT) as ledger:
        for number in range(10**6):
            key = f"{name}-{number}"
            try:
                answer = counting().release(7, ledger=ledger, key=key)
            except BudgetExceeded:
                return
            published.say(key, answer.value)


class Found:
    """What is in a ledger, read from its rows alone."""

    def __init__(self, place: str) -> None:
        with Ledger(place, timeout=PATIENT) as ledger:
            ledger.verify()
            self.spent = ledger.spent
            rows = list(ledger.rows())
        charges = [row for row in rows if row.kind == CHARGE]
        self.charges = Counter(row.key for row in charges)
        self.priced = sum((Fraction(row.content["epsilon"]) for row in charges), Fraction(0))
        self.analysts = Counter(row.content["analyst"] for row in charges)
        self.stored = [
            (row.key, int(row.content["answer"]["index"], 16)) for row in rows if row.kind == ANSWER
        ]
        self.answers = dict(self.stored)

    def hold(self, published: Outlet, cap: int) -> None:
        """Check what every race must leave behind, with a limit that was spent to the last."""
        assert self.charges.total() == cap
        assert set(self.charges.values()) == {1}, "a fresh key was charged twice"
        assert self.spent == times(cap)
        assert self.priced == cap * PRICE.epsilon
        assert len(self.answers) == len(self.stored), "a charge has two answers"
        assert self.answers.keys() <= self.charges.keys()
        seen = [(key, int(value)) for key, value in published.lines()]
        assert len(seen) <= len(self.answers)
        for key, value in seen:
            assert self.answers[key] == value, "what left is not what is on record"


def killing(place: str, published: Outlet, *, kills: int) -> None:
    """Have 16 processes spend, and kill and replace one of them at a time."""
    # About as many as they can charge meanwhile: a server takes longer than a file for each.
    cap = 2 * kills if "://" in place else 6 * kills
    begun(place, cap)
    names = iter(range(10**9))

    def started() -> int:
        name = f"process{next(names)}"
        return forked(lambda: spend(place, name, published))

    chosen = random.Random(f"{kills} kills")
    children = [started() for _ in range(16)]
    done = 0
    while done < kills:
        time.sleep(chosen.uniform(0, 0.02))
        victim = chosen.randrange(len(children))
        done += killed(children[victim])
        children[victim] = started()
    assert waited(children) == [0] * len(children)

    found = Found(place)
    found.hold(published, cap)
    # Who was killed after the charge asks again: an answer, and nothing more is charged.
    left = sorted(found.charges.keys() - found.answers.keys())
    with Ledger(place, timeout=PATIENT) as ledger:
        late = {key: counting().release(7, ledger=ledger, key=key).value for key in left}
    again = Found(place)
    assert again.charges == found.charges
    assert again.answers == found.answers | late
    assert again.answers.keys() == again.charges.keys()
