"""Joint noise: the errors of k counts beside every peer's, and the time of sampling.

The counts are released at once under one guarantee. leastnoise has the option that its plan takes.
A peer has its cheapest noise for a part (ε/k, δ/k) of the guarantee for each count; OpenDP also
its Gaussian noise for all counts together, through zCDP. Errors are E|error|, by formula from the
scale that a peer chooses, or from samples.
"""

import os
from collections.abc import Mapping

import numpy as np

import leastnoise as ln
from benchmarks import distributions, machine
from benchmarks.accuracy import find_cheapest, find_distributions
from benchmarks.peers.process import Cannot, PeerProcess
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Row, each, interleaved, ratio, short, summary
from leastnoise.core.arrays import draw_joint
from leastnoise.core.sampling import SYSTEM, CipherTape
from leastnoise.mechanism import calibrate_joint

GUARANTEE = ("1", "1e-6")
COUNTS = (1, 2, 5, 10, 20, 50, 100, 1000)
NUMBERS, GROUP = 10, 3
_SHARING = "opendp"


def measure(plan: Plan, peers: Mapping[str, PeerProcess], missing: Mapping[str, str]) -> Row:
    """Return the errors of k counts of each library, and the times of joint samples."""
    omitted = dict(missing)
    errors = [_compare(number, plan, peers, omitted) for number in COUNTS]
    say("joint: samples")
    ten = calibrate_joint(ln.Privacy(1), sensitivity=[1] * NUMBERS, integer=True).noise.scheme
    three = calibrate_joint(ln.Privacy(1), sensitivity=[1] * GROUP, integer=True).noise.scheme
    groups = max(plan.size // 5, 1)
    random = np.random.default_rng()
    contestants = {
        "sample": each(lambda: [ten.draw(SYSTEM) for _ in range(plan.single)], plan.single),
        "bulk": each(lambda: draw_joint(three, groups, CipherTape()), 1),
        "numpy": each(lambda: [random.uniform(-5, 5, groups) for _ in range(GROUP)], 1),
    }
    series = {name: summary(s) for name, s in interleaved(contestants, plan.rounds).items()}
    return {
        "date": machine.describe()["date"],
        "load": short(os.getloadavg()[0]),
        "guarantee": list(GUARANTEE),
        "errors": errors,
        "groups": groups,
        **series,
        "times_numpy": ratio(series["bulk"], series["numpy"]),
        "omitted": omitted,
    }


def _compare(
    number: int, plan: Plan, peers: Mapping[str, PeerProcess], omitted: dict[str, str]
) -> Row:
    """Return E|error| of each of this many counts, for each library."""
    say(f"joint: errors of {number} counts")
    queries = [ln.NumericQuery(f"{i}", sensitivity=1, integer=True) for i in range(number)]
    chosen = ln.plan(ln.Privacy(*GUARANTEE), queries, solve=False).rows[0]
    epsilon, delta = (float(part) / number for part in GUARANTEE)
    theirs: dict[str, float | None] = {}
    for name, peer in peers.items():
        found = find_distributions(peer, epsilon, delta, True, plan.moment_seconds)
        cheapest = find_cheapest(found, 0, 1.0)
        known = [] if cheapest is None else [cheapest["cost"]]
        if name == _SHARING:
            known += _share(peer, number, omitted)
        theirs[name] = min(known, default=None)
    return {
        "counts": number,
        "leastnoise": short(float(chosen.costs[0])),
        "noise": chosen.how,
        "peers": theirs,
    }


def _share(peer: PeerProcess, number: int, omitted: dict[str, str]) -> list[float]:
    """Return the error of noise for all counts together, if the peer has it."""
    epsilon, delta = map(float, GUARANTEE)
    try:
        distribution = peer.ask("share", counts=number, epsilon=epsilon, delta=delta)
    except Cannot as reason:
        omitted[f"{_SHARING}, {number} counts together"] = str(reason)
        return []
    return [short(distributions.moments(distribution)[0])]
