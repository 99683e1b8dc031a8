"""Processes that race for the last of a limit, and what every race must leave behind."""

import random
import time
from collections import Counter
from fractions import Fraction
from typing import Any

from leastnoise.core.gaussian_cost import GaussianCost
from leastnoise.core.privacy import Privacy
from leastnoise.errors import BudgetExceeded
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.rows import ANSWER, CHARGES
from tests.support.ledger_files import PRICE, counting
from tests.support.processes import Outlet, forked, killed, waited

PATIENT = 120  # seconds: a race is not lost by waiting


def times(charges: int) -> Privacy:
    """The limit that so many charges use up."""
    return Privacy(charges * PRICE.epsilon)


class Race:
    """Where processes race: to the limit of a dataset, or to the caps of an allocation."""

    def __init__(self, allocation: bool) -> None:
        self.allocation = allocation

    def begin(self, place: str, charges: int) -> None:
        """Begin a ledger in which so many charges fit, and one more does not."""
        if not self.allocation:
            begun(place, charges)
            return
        cost = counting().gaussian_cost.square
        # ε at which so many releases together have this δ: the caps are a little larger.
        epsilon = GaussianCost(cost * (charges + Fraction(1, 2))).epsilon(DELTA)
        assert epsilon is not None
        with Ledger(place, limit=Privacy(2 * epsilon, 2 * DELTA)) as ledger:
            caps = ledger.allocate("many", Privacy(epsilon, DELTA), discovery=0).caps
        assert charges * cost <= caps.square < (charges + 1) * cost

    def open(self, place: str) -> Ledger:
        """Open what is charged."""
        ledger = Ledger(place, timeout=PATIENT)
        return ledger.allocation("many") if self.allocation else ledger


DELTA = Fraction(1, 10**6)


def begun(place: str, charges: int, **more: object) -> None:
    """Begin a ledger in which so many charges fit, and leave it."""
    counting()  # before any fork
    Ledger(place, limit=times(charges), **more).close()  # type: ignore[arg-type]


def spend(
    place: str,
    name: str,
    published: Outlet,
    analyst: str | None = None,
    race: Race | None = None,
) -> None:
    """Release and publish under fresh keys until nothing is left."""
    with race.open(place) if race else Ledger(place, analyst=analyst, timeout=PATIENT) as ledger:
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
            self.allocations = ledger.allocations
            rows = list(ledger.rows())
        charges = [row for row in rows if row.kind in CHARGES]
        self.squares = sum(
            (Fraction(str(row.content.get("square", 0))) for row in charges), Fraction(0)
        )
        self.charges = Counter(row.key for row in charges)
        self.priced = sum((Fraction(str(row.content["epsilon"])) for row in charges), Fraction(0))
        self.analysts = Counter(row.content["analyst"] for row in charges)
        stored: list[tuple[str, Any]] = [
            (row.key, row.content["answer"]) for row in rows if row.kind == ANSWER
        ]
        self.stored = [(key, int(answer["index"], 16)) for key, answer in stored]
        self.answers = dict(self.stored)

    def hold(self, published: Outlet, cap: int) -> None:
        """Check what every race must leave behind, with a limit that was spent to the last."""
        assert self.charges.total() == cap
        assert set(self.charges.values()) == {1}, "a fresh key was charged twice"
        assert self.priced == cap * PRICE.epsilon
        if self.allocations:
            (allocation,) = self.allocations
            assert self.spent == allocation.privacy
            assert self.squares == cap * counting().gaussian_cost.square
            assert allocation.spent.square == self.squares <= allocation.caps.square
        else:
            assert self.spent == times(cap)
        assert len(self.answers) == len(self.stored), "a charge has two answers"
        assert self.answers.keys() <= self.charges.keys()
        seen = [(key, int(value)) for key, value in published.lines()]
        assert len(seen) <= len(self.answers)
        for key, value in seen:
            assert self.answers[key] == value, "what left is not what is on record"


def killing(place: str, published: Outlet, *, kills: int, allocation: bool = False) -> None:
    """Have 16 processes spend, and kill and replace one of them at a time."""
    race = Race(allocation)
    # About as many as they can charge meanwhile: a server takes longer than a file for each.
    cap = 2 * kills if "://" in place else 6 * kills
    race.begin(place, cap)
    names = iter(range(10**9))

    def started() -> int:
        name = f"process{next(names)}"
        return forked(lambda: spend(place, name, published, race=race))

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
    with race.open(place) as ledger:
        late = {key: counting().release(7, ledger=ledger, key=key).value for key in left}
    again = Found(place)
    assert again.charges == found.charges
    assert again.answers == found.answers | late
    assert again.answers.keys() == again.charges.keys()
