"""The errors of many answers, and the groups found for units that are in many groups.

Many counts share one guarantee. E|error| of each count is compared for ε and δ that are split, for
Gaussian noise of which only the total is bounded, and for OpenDP's Gaussian noise in zCDP.

Groups are discovered in a generated table of the shape of nycflights13: 336,776 flights of 4,043
planes, which are the units, by destination and month. Plane u has a number of flights in proportion
to 1/(u + 200), so the number of groups per unit roughly follows Zipf's law. A flight goes to
destination d of 105 with probability proportional to e^(−d/11.3), in any of 12 months. OpenDP
gets the counts of the same table with the same number of groups per unit, chosen at random. Its
threshold uses half of δ, the best of six fractions that were tried.

The public groups are all destinations and months of the same table, with E|error| of each count.
"""

import math
import os
import random
import time
from bisect import bisect
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, product
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

import leastnoise as ln
from benchmarks import distributions, machine
from benchmarks.peers.process import Cannot, PeerProcess
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Row, short
from leastnoise.planning import errors_of_counts
from leastnoise.tables import ProtectedTable

GUARANTEE = ("1", "1e-6")
COUNTS = (1, 10, 100, 1000)
DISCOVERED, PUBLIC = (10, 30, 50, 100), (64, 65)
OPENDP = "opendp"
_ROWS, _UNITS, _PLACES, _MONTHS = 336_776, 4_043, 105, 12
_FLAT, _FALL, _SEED = 200, 11.3, 2013
_MOST_ROUNDS = 5
_RELEASES = 1000

Flight = tuple[int, int, int]


@dataclass(frozen=True)
class OpenDP:
    """OpenDP's process, if it is available, and the reasons for missing answers."""

    process: PeerProcess | None
    omitted: dict[str, str]

    def ask(self, do: str, **details: object) -> Row | None:
        """Return the answer to a request, or None."""
        if self.process is None:
            return None
        epsilon, delta = map(float, GUARANTEE)
        try:
            return self.process.ask(do, epsilon=epsilon, delta=delta, **details)
        except Cannot as reason:
            self.omitted[f"{OPENDP}, {do}"] = str(reason)
            return None

    def error(self, counts: int) -> float | None:
        """Return E|error| of each of this many counts that share the guarantee."""
        distribution = self.ask("share", counts=counts)
        return None if distribution is None else short(distributions.moments(distribution)[0])


def measure(plan: Plan, peers: Mapping[str, PeerProcess], missing: Mapping[str, str]) -> Row:
    """Return the errors of counts, the groups found, and the errors of public groups."""
    omitted = {} if OPENDP in peers else {OPENDP: missing[OPENDP]}
    opendp = OpenDP(peers.get(OPENDP), omitted)
    rounds = min(plan.rounds, _MOST_ROUNDS)
    say("many answers: counts under one guarantee")
    counts = [_compare_counts(number, opendp) for number in COUNTS]
    flights = make_flights()
    table = _protect(flights)
    discovered = []
    for most in DISCOVERED:
        say(f"many answers: groups discovered, max_groups = {most}")
        discovered.append(_discover(table, bounded_counts(flights, most), most, rounds, opendp))
    context = machine.describe()
    return {
        "date": context["date"],
        "load": short(os.getloadavg()[0]),
        "version": context["versions"]["leastnoise"],
        "run": plan.name,
        "guarantee": list(GUARANTEE),
        "counts": counts,
        "rows": len(flights),
        "units": len({flight[0] for flight in flights}),
        "groups": len({flight[1:] for flight in flights}),
        "repeated": rounds,
        "discovered": discovered,
        "public": [_query_public_groups(table, most, rounds, opendp) for most in PUBLIC],
        "allocated": _time_allocation(),
        "omitted": opendp.omitted,
    }


def make_flights() -> list[Flight]:
    """Return the rows of the table: plane, destination and month. They are always the same."""
    weights = list(accumulate(1 / (unit + _FLAT) for unit in range(_UNITS)))
    ends = [round(_ROWS * weight / weights[-1]) for weight in weights]
    places = list(accumulate(math.exp(-place / _FALL) for place in range(_PLACES)))
    chance = random.Random(_SEED).random  # noqa: S311 -- for a table, not for noise
    return [
        (unit, bisect(places, chance() * places[-1]), int(_MONTHS * chance()))
        for unit, (first, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True))
        for _ in range(first, end)
    ]


def bounded_counts(flights: list[Flight], most: int) -> list[int]:
    """Return the units per group, with at most ``most`` groups of each unit, chosen at random."""
    by_unit: dict[int, list[tuple[int, int]]] = {}
    for unit, place, month in sorted(set(flights)):
        by_unit.setdefault(unit, []).append((place, month))
    choose = random.Random(_SEED).sample  # noqa: S311 -- for contribution bounds, not for noise
    chosen: Counter[tuple[int, int]] = Counter()
    for groups in by_unit.values():
        chosen.update(choose(groups, min(most, len(groups))))
    return list(chosen.values())


def _compare_counts(number: int, opendp: OpenDP) -> Row:
    """Return E|error| of each of this many counts."""
    ours = errors_of_counts(ln.Privacy(*GUARANTEE), number)
    return {
        "counts": number,
        "basic": short(float(ours.basic)),
        "gaussian": short(float(ours.gaussian)),
        OPENDP: opendp.error(number),
    }


def _discover(
    table: ProtectedTable, counts: list[int], most: int, rounds: int, opendp: OpenDP
) -> Row:
    """Return the mean number of groups that are shown, and the times of the queries."""
    answers, times = _ask(table, rounds, max_groups=most)
    theirs = opendp.ask("discover", counts=counts, max_groups=most, times=rounds)
    return {
        "max_groups": most,
        "leastnoise": short(mean(len(answer) for answer in answers)),
        **times,
        OPENDP: None if theirs is None else short(mean(theirs["shown"])),
    }


def _query_public_groups(table: ProtectedTable, most: int, rounds: int, opendp: OpenDP) -> Row:
    """Return E|error| of each public group, and the times of the queries."""
    say(f"many answers: public groups, max_groups = {most}")
    groups = list(product(range(_PLACES), range(_MONTHS)))
    answers, times = _ask(table, rounds, max_groups=most, groups=groups)
    return {
        "max_groups": most,
        "leastnoise": short(float(answers[0].answers[0].mechanism.discretized.cost)),
        **times,
        OPENDP: opendp.error(most),
    }


def _time_allocation() -> Row:
    """Return the times of a release from an allocation and a plain recorded one, interleaved."""
    say("many answers: releases from an allocation")
    mechanism = ln.calibrate(
        ln.Privacy("0.05", "1e-9"), sensitivity=1, integer=True, family="gaussian"
    )
    limit = ln.Privacy(10**4, "0.4")
    with TemporaryDirectory() as folder:
        plain = ln.Ledger(f"{folder}/plain.ledger", limit=limit)
        squared = ln.Ledger(f"{folder}/squared.ledger", limit=limit, accounting="gaussian")
        seconds: dict[str, list[float]] = {"plain": [], "allocation": []}
        with plain, squared:
            for _ in range(_RELEASES):
                for name, ledger in (("plain", plain), ("allocation", squared)):
                    start = time.perf_counter()
                    mechanism.release(1, ledger=ledger)
                    seconds[name].append(time.perf_counter() - start)
    middles = {name: median(times[_RELEASES // 10 :]) for name, times in seconds.items()}
    ratio = short(middles["allocation"] / middles["plain"])
    return {"times_plain": ratio} | {name: short(middle) for name, middle in middles.items()}


def _protect(flights: list[Flight]) -> ProtectedTable:
    columns = zip(("plane", "place", "month"), zip(*flights, strict=True), strict=True)
    arrow = pa.table({name: list(column) for name, column in columns})
    return ln.protect(arrow, unit="plane", max_rows=1, ledger=ln.UNRECORDED)


def _ask(table: ProtectedTable, rounds: int, **details: Any) -> tuple[list[Any], Row]:
    """Return the answers, the time of the first query, which finds the noise, and the median."""
    answers, times = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        answers.append(
            table.count(by=["place", "month"], privacy=ln.Privacy(*GUARANTEE), **details)
        )
        times.append(time.perf_counter() - start)
    return answers, {"first": short(times[0]), "seconds": short(median(times))}
