"""Generate the invented census, the table of the documentation and the examples, from a seed.

``python examples/make_census.py FILE`` writes it; without FILE it writes the file of the package.
All people in it are invented. Every number is computed in integers from SHA-256 of a counter, so
the bytes are the same on every machine and with every version of Python.

A row is a job of a person. A person with two jobs has two rows. A person without a job has one row,
and the occupation gives the reason. Some fields are empty, as some questions of a census are not
answered. One region, the rock, has a single person, who is never shown among discovered groups.
"""

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import count
from pathlib import Path

from leastnoise.tables import census

SEED = "leastnoise census 1"
PERSONS = 8_000
DAY = date(2026, 1, 1)
COLUMNS = "person_id,region,household,age,sex,born,occupation,income,hours"

# Relative frequencies.
REGIONS = {"north": 33, "south": 27, "east": 21, "west": 16, "islands": 3}
HOUSEHOLDS = {"single": 34, "couple": 26, "family": 22, "one parent": 9, "shared": 9}
# The yearly pay of a full-time job; its relative frequency on land, and on islands.
JOBS = {
    "builder": (34_000, 9, 6),
    "clerk": (36_000, 20, 5),
    "cook": (25_000, 8, 12),
    "driver": (31_000, 9, 8),
    "engineer": (58_000, 13, 2),
    "farmer": (28_000, 5, 14),
    "fisher": (27_000, 1, 30),
    "nurse": (39_000, 12, 7),
    "physician": (94_000, 3, 2),
    "seller": (27_000, 13, 8),
    "teacher": (46_000, 7, 6),
}
# The deciles of the pay of a job, in percent of its usual pay, from the minimum to the maximum.
SPREAD = (38, 58, 70, 80, 90, 100, 111, 125, 145, 180, 310)
WEEKS = {"16": 8, "20": 14, "24": 6, "30": 10, "37.5": 22, "38": 14, "40": 20, "45": 6}


def main() -> None:
    """Write the table."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else census()
    path.write_bytes(table().encode())
    print(f"{path}: {path.stat().st_size} bytes")


def table() -> str:
    """Return the whole table as CSV."""
    chance = Chance(SEED)
    lines = [COLUMNS]
    for number, person in enumerate(persons(chance), start=1):
        who = (
            f"P{number:05}",
            chance.told(person.region, 996),
            str(person.household),
            str(person.age),
            chance.told(person.sex, 997),
            chance.told(born(person.age, chance).isoformat(), 994),
        )
        lines += [",".join((*who, *job)) for job in jobs(person, chance)]
    return "\n".join(lines) + "\n"


class Chance:
    """Pseudorandom numbers: SHA-256 of a seed and a counter."""

    def __init__(self, seed: str) -> None:
        self._seed, self._counter = seed, count(1)

    def below(self, end: int) -> int:
        """Return an integer from 0 to ``end`` − 1."""
        digest = hashlib.sha256(f"{self._seed} {next(self._counter)}".encode()).digest()
        return int.from_bytes(digest) % end

    def between(self, low: int, high: int) -> int:
        """Return an integer from low to high, more often near the middle."""
        return low + (self.below(high - low + 1) + self.below(high - low + 1)) // 2

    def one_of(self, weights: dict[str, int]) -> str:
        """Return a name with a probability in proportion to its weight."""
        names = [name for name, weight in weights.items() for _ in range(weight)]
        return names[self.below(len(names))]

    def happens(self, per_mille: int) -> bool:
        """Return True with this probability, in thousandths."""
        return self.below(1000) < per_mille

    def told(self, answer: str, per_mille: int) -> str:
        """Return an answer, or an empty string if the question was not answered."""
        return answer if self.happens(per_mille) else ""


@dataclass(frozen=True)
class Person:
    """A person of the census."""

    region: str
    household: int
    age: int
    sex: str


def persons(chance: Chance) -> Iterator[Person]:
    """Yield all people by household, and at the end the one who lives on the rock."""
    left = PERSONS - 1
    for household in count(1):
        if not left:
            yield Person("rock", household, 58, "m")
            return
        region, members = chance.one_of(REGIONS), home(chance)[:left]
        yield from (Person(region, household, age, sex) for age, sex in members)
        left -= len(members)


def home(chance: Chance) -> list[tuple[int, str]]:
    """Return the members of a household: their ages and sexes."""
    kind = chance.one_of(HOUSEHOLDS)
    if kind == "shared":
        return [(chance.between(18, 34), sex(chance)) for _ in range(2 + chance.below(3))]
    if kind in ("single", "couple"):
        first = chance.between(19, 58) if chance.happens(550) else chance.between(56, 97)
    else:
        first = chance.between(24, 56)
    members = [(first, sex(chance))]
    if kind in ("couple", "family"):
        other = "fm"[members[0][1] == "f"] if chance.happens(960) else members[0][1]
        members.append((max(18, first + chance.between(-8, 8)), other))
    if kind in ("family", "one parent"):
        oldest = min(22, first - 19)
        members += [(chance.below(oldest + 1), sex(chance)) for _ in range(chance.between(1, 4))]
    return members


def sex(chance: Chance) -> str:
    """Return f or m."""
    return "fm"[chance.below(2)]


def born(age: int, chance: Chance) -> date:
    """Return a date of birth for an age."""
    birthday = date(DAY.year - age, 1, 1)
    return birthday - timedelta(days=chance.below(365))


def jobs(person: Person, chance: Chance) -> list[tuple[str, str, str]]:
    """Return occupation, income and hours of each job, or of a person without one."""
    reason = without_work(person.age, chance)
    if reason is not None:
        return [(reason, other_income(reason, chance), "")]
    second = chance.happens(190)
    rows = [job(person, chance, WEEKS)]
    if second:
        rows.append(job(person, chance, {"4": 4, "6": 3, "8": 5, "12": 2}))
        if chance.happens(120):
            rows.append(job(person, chance, {"2": 1, "3": 2, "4": 1}))
    return rows


def without_work(age: int, chance: Chance) -> str | None:
    """Return the reason why a person has no job; None for a person with a job."""
    if age < 6:
        return "child"
    if age < 17:
        return "pupil"
    if age < 25 and chance.happens(520):
        return "student"
    if age > 67 - chance.below(6) and not chance.happens(60):
        return "retired"
    return "none" if chance.happens(110) else None


def other_income(reason: str, chance: Chance) -> str:
    """Return the yearly income of a person without a job; empty for children."""
    if reason in ("child", "pupil"):
        return ""
    low, high = {"student": (0, 14_000), "retired": (9_000, 42_000), "none": (0, 19_000)}[reason]
    return chance.told(str(chance.between(low, high) // 10 * 10), 955)


def job(person: Person, chance: Chance, weeks: dict[str, int]) -> tuple[str, str, str]:
    """Return a job: its occupation, its yearly pay and its weekly hours."""
    place = 2 if person.region in ("islands", "rock") else 1
    name = chance.one_of({name: facts[place] for name, facts in JOBS.items()})
    hours = chance.one_of(weeks)
    tenths, rest = divmod(chance.below(10_000), 1000)
    share = SPREAD[tenths] * 1000 + (SPREAD[tenths + 1] - SPREAD[tenths]) * rest
    # Pay rises with age up to 50, and with hours, which are multiples of 1/2.
    percent = 70 + min(person.age, 50) * 3 // 4
    pay = JOBS[name][0] * share * percent * int(float(hours) * 2) // (100_000 * 100 * 76)
    income = chance.told(str(pay // 10 * 10), 950)
    return name, income, chance.told(hours, 970)


if __name__ == "__main__":
    main()
