"""The cost of each library's best noise for a guarantee, and the proved lower bound.

At Δ = 1, for real answers and for counts, which stay integers. The best noise of a peer is the
cheapest of its mechanisms that satisfy the guarantee; one for (ε, 0) satisfies (ε, δ). Costs are
E|X| and E X², by formula from the scale that the peer itself chooses. Without a formula they are
estimated from samples, with their standard errors.
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
                name: _find_distributions(
                    peer, float(epsilon), float(delta), integer, plan.moment_seconds
                )
                for name, peer in peers.items()
            }
            for which, (name, cost) in enumerate(COSTS.items()):
                row: Row = {"promise": [epsilon, delta], "integer": integer, "cost": name}
                row |= _ours(ln.Privacy(epsilon, delta), cost, integer, plan.seconds)
                row["peers"] = {
                    peer: _best(of_peer, which, row["bound"]) for peer, of_peer in theirs.items()
                }
                row["refused"] = {peer: of_peer["refused"] for peer, of_peer in theirs.items()}
                rows.append(row)
    return {"rows": rows, "missing": dict(missing)}


def _ours(privacy: ln.Privacy, cost: ln.Cost, integer: bool, seconds: float) -> Row:
    """Return the proved bound, the certified noise and the best closed form."""
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


def _find_distributions(
    peer: PeerProcess, epsilon: float, delta: float, integer: bool, seconds: float
) -> Row:
    """Return the distributions of all mechanisms for the guarantee, and why others have none."""
    found, refused = {}, {}
    for name in peer.ask("introduce")["laws"]["whole" if integer else "real"]:
        try:
            found[name] = peer.ask(
                "law", name=name, epsilon=epsilon, delta=delta, integer=integer, seconds=seconds
            )
        except Cannot as reason:
            refused[name] = str(reason)
    return {"found": found, "refused": refused}


def _best(distributions_found: Row, which: int, bound: float) -> Row | None:
    """Return the cheapest mechanism of a peer; None if it has none."""
    costs = {
        name: distributions.moments(distribution)[which]
        for name, distribution in distributions_found["found"].items()
    }
    if not costs:
        return None
    name = min(costs, key=lambda mechanism: costs[mechanism])
    distribution = distributions_found["found"][name]
    return {
        "mechanism": name,
        "law": {
            key: part for key, part in distribution.items() if key not in ("moments", "errors")
        },
        "cost": short(costs[name]),
        "error": short(distributions.errors(distribution)[which]),
        "ratio": short(costs[name] / bound),
    }
