"""The cost of each library's best noise for a guarantee, and the proved lower bound.

The sensitivity is 1. Answers are real numbers, or counts, which stay integers. The best noise of a
peer is the cheapest of its mechanisms that satisfy the guarantee; a mechanism for (ε, 0) also
satisfies (ε, δ). Costs are E|X| and E X², by formula from the scale that the peer chooses. Costs
without a formula are estimated from samples, with their standard errors.
"""

from collections.abc import Mapping
from typing import Any

import leastnoise as ln
from benchmarks import distributions
from benchmarks.peers.process import Cannot, PeerProcess
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Row, short

COSTS = {"l1": ln.l1, "l2": ln.l2}


def measure(plan: Plan, peers: Mapping[str, PeerProcess], missing: Mapping[str, str]) -> Row:
    """Return a row for each guarantee, kind of answer and cost."""
    rows = []
    for epsilon, delta in plan.guarantees:
        for integer in (False, True):
            say(f"accuracy: (ε, δ) = ({epsilon}, {delta}), {'counts' if integer else 'real'}")
            theirs = {
                name: find_distributions(
                    peer, float(epsilon), float(delta), integer, plan.moment_seconds
                )
                for name, peer in peers.items()
            }
            for moment, (name, cost) in enumerate(COSTS.items()):
                row: Row = {"guarantee": [epsilon, delta], "integer": integer, "cost": name}
                row |= _measure_ours(ln.Privacy(epsilon, delta), cost, integer, plan.seconds)
                row["peers"] = {
                    peer: find_cheapest(of_peer, moment, row["bound"])
                    for peer, of_peer in theirs.items()
                }
                row["rejected"] = {peer: of_peer["rejected"] for peer, of_peer in theirs.items()}
                rows.append(row)
    return {"rows": rows, "missing": dict(missing)}


def _measure_ours(privacy: ln.Privacy, cost: ln.Cost, integer: bool, seconds: float) -> Row:
    """Return the lower bound, and the costs of the certified noise and the best closed form."""
    problem: dict[str, Any] = {"sensitivity": 1, "cost": cost, "integer": integer, "shape": "any"}
    mechanism = ln.calibrate(privacy, **problem, seconds=seconds)
    closed = ln.compare(privacy, **problem, solve=False).rows[0]
    bound, certified = float(mechanism.certificate.lower_bound), float(mechanism.cost)
    return {
        "bound": short(bound),
        "certified": {"cost": short(certified), "ratio": short(certified / bound)},
        "closed": {
            "cost": short(float(closed.cost)),
            "ratio": short(float(closed.cost) / bound),
            "family": closed.family,
        },
    }


def find_distributions(
    peer: PeerProcess, epsilon: float, delta: float, integer: bool, seconds: float
) -> Row:
    """Return the distribution of each mechanism for the guarantee, and the reasons of failures."""
    distributions_by_name, rejected = {}, {}
    for name in peer.ask("introduce")["distributions"]["integer" if integer else "real"]:
        try:
            distributions_by_name[name] = peer.ask(
                "distribution",
                name=name,
                epsilon=epsilon,
                delta=delta,
                integer=integer,
                seconds=seconds,
            )
        except Cannot as reason:
            rejected[name] = str(reason)
    return {"distributions": distributions_by_name, "rejected": rejected}


def find_cheapest(of_peer: Row, moment: int, bound: float) -> Row | None:
    """Return the cheapest mechanism of a peer, also relative to a bound; None if it has none."""
    costs = {
        name: distributions.moments(distribution)[moment]
        for name, distribution in of_peer["distributions"].items()
    }
    if not costs:
        return None
    name = min(costs, key=lambda mechanism: costs[mechanism])
    distribution = of_peer["distributions"][name]
    return {
        "mechanism": name,
        "distribution": {
            key: part for key, part in distribution.items() if key not in ("moments", "errors")
        },
        "cost": short(costs[name]),
        "error": short(distributions.errors(distribution)[moment]),
        "ratio": short(costs[name] / bound),
    }
