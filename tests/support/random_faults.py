"""Faults that a seed chooses in the midst of releases, and what must hold whatever it chooses."""

import json
import random
from collections.abc import Callable
from typing import Any

from leastnoise.errors import BudgetExceeded, InvalidParameter, LedgerDamaged, LedgerUnavailable
from leastnoise.ledger.rows import ANSWER, CHARGES
from tests.support.ledger_files import child, ln, mechanism
from tests.support.traced_ledgers import Alarm, Kept, charged_for, charged_times, die, drawing

MECHANISM = mechanism()


class Dice:
    """Faults that a seed chooses, and a model of what must hold whatever it chooses.

    What comes of it is said in words, as one in twenty seeds plays in a process that may be killed:
    ``fresh:key``, ``answer:key:index``, ``killed``, and ``!`` with what was wrong.
    """

    def __init__(self, kept: Kept, seed: int) -> None:
        self.kept = kept
        self.dice = random.Random(seed)
        self.rate = self.dice.choice([0.01, 0.03, 0.08])
        self.deadly = self.dice.random() < 0.05
        self.say: Callable[[bytes], object]
        self.key = ""

    def fault(self, _: str, __: str, connection: Any) -> None:
        if self.dice.random() >= self.rate:
            return
        chosen = self.dice.random()
        if chosen < 0.1:
            raise KeyboardInterrupt
        if chosen < 0.3:
            self.kept.lose(self.dice, connection)
        elif chosen < 0.6 and self.deadly:
            self.say(b"killed ")
            die()
        else:
            self.kept.fail(self.dice.choice([*self.kept.errors]), connection)

    def drawn(self) -> None:
        charged_for(self.kept, self.key)

    def play(self) -> None:
        """Release in the midst of faults, then look at what is there without any."""
        self.kept.again()
        if self.deadly:
            said = child(self.turns)[1]()
            assert said.endswith((b".", b"killed ")), "it ended otherwise"
        else:
            words: list[bytes] = []
            self.turns(words.append)
            said = b"".join(words)
        self.settle(said.decode().split(" "))

    def turns(self, say: Callable[[bytes], object]) -> None:
        self.say = say
        ledger = None
        try:
            with self.kept.telling(self.fault), drawing(self.drawn):
                for _ in range(self.dice.randrange(2, 7)):
                    ledger = self.turn(ledger)
        except (AssertionError, Alarm) as error:
            say(f"!{error}".replace(" ", "_").encode() + b" ")
        finally:
            if ledger is not None:
                ledger.close()

    def turn(self, ledger: Any) -> Any:
        """Release once, or fail; return the ledger to go on with."""
        self.key = f"k{self.dice.randrange(5)}"
        fresh = self.dice.random() < 0.1
        if fresh:
            self.say(f"fresh:{self.key} ".encode())
        try:
            if ledger is None:
                ledger = ln.Ledger(self.kept.where)
            index = MECHANISM.release(1, ledger=ledger, key=self.key, fresh=fresh).index
        except (LedgerUnavailable, LedgerDamaged, KeyboardInterrupt):
            if ledger is not None and self.dice.random() < 0.5:  # with the same, or another
                ledger.close()
                ledger = None
        except InvalidParameter:  # when it is opened: what is no database is no ledger
            assert ledger is None, "no ledger any more"
        except BudgetExceeded:
            pass
        except (AssertionError, Alarm):
            ledger.close()
            raise
        else:
            self.say(f"answer:{self.key}:{index} ".encode())
        return ledger

    def settle(self, said: list[str]) -> None:
        """Check the model."""
        wrong = [word for word in said if word.startswith("!")]
        assert not wrong, wrong[0].replace("_", " ")
        words = [word.split(":") for word in said]
        several = {word[1] for word in words if word[0] == "fresh"}
        answers = [(word[1], int(word[2])) for word in words if word[0] == "answer"]
        with ln.Ledger(self.kept.where) as ledger:
            ledger.verify()
            rows = self.kept.rows()
            charges = [key for kind, key, _ in rows if kind in CHARGES]
            stored = [
                (key, int(json.loads(body)["answer"]["index"], 16))
                for kind, key, body in rows
                if kind == ANSWER
            ]
            assert len(charges) <= 3, "overspent"
            assert len(stored) <= len(charges), "more answers than charges"
            for key, index in answers:
                assert (key, index) in stored, "not stored"
            once = [key for key, _ in stored if key not in several]
            assert len(once) == len(set(once)), "another answer under the same key"
            asked = [answer for answer in answers if answer[0] not in several]
            for key, index in asked[-1:]:  # of the others it follows
                again = MECHANISM.release(1, ledger=ledger, key=key)
                assert index == again.index, "another answer under the same key"
            assert charged_times(ledger) == len(charges)


def play(kept: Kept, seeds: range, **begin: Any) -> None:
    kept.begin(0, **begin)
    for seed in seeds:
        try:
            Dice(kept, seed).play()
        except AssertionError as error:
            raise AssertionError(f"with seed {seed}: {error}") from error
